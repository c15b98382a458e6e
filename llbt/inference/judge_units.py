"""Fits with normal effects of judges as models of units: judges, or levels of a column in which judges are nested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.columns import FloatArray, IntArray, Label, dense, summed_by
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError
from ..fitting.clusters import kept_ways
from ..fitting.protocols import WithEffects
from ..kernel.batch import fit_one
from ..kernel.group_modes import Groups
from ..kernel.likelihood import Problem, information, probabilities
from ..kernel.marginal import Rule, group_values
from ..kernel.mixed import (
    DECREMENT,
    MOST_EFFECTS,
    MixedLikelihood,
    State,
    climbed,
    dimensions_of,
    infinite_at,
    nothing,
    restricted,
)
from ..kernel.quadrature import Quadrature, Sampling
from ..kernel.solvers import independent_in_gram
from .mixed_tables import judges_again
from .refit import refit_data

_POINTS = 9  # points in each dimension, if the fit has none because its σ is 0
_SAMPLED = 512  # points of a sample, if it has many effects
_START = 0.3  # start for such a σ


@dataclass(frozen=True, eq=False)
class JudgeUnits:
    """A fit with effects of G judges in units; `codes` is the unit of each judge, shape (G,).

    Its parameters are the fixed ones, then σ, at the maximum of the likelihood.
    """

    fit: WithEffects
    unit: str
    labels: tuple[Label, ...]
    counts: FloatArray
    sizes: FloatArray
    codes: IntArray

    @property
    def parts(self) -> FloatArray:
        """The number of judges in each unit, shape (U,)."""
        return summed_by(self.codes, np.ones(len(self.codes)), len(self.counts))

    @property
    def part(self) -> str:
        """The noun for what `parts` counts."""
        return self.fit.judges.name

    @property
    def each(self) -> str:
        """The noun for what `sizes` counts."""
        return "judgment"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fixed parameters, then the brackets for σ."""
        plain = self.fit.without
        return (*(plain.names[k] for k in plain.free), *map(str, self.fit.brackets))

    @property
    def estimates(self) -> FloatArray:
        """The maximum of the likelihood: fixed parameters, then σ."""
        return np.concatenate([self.fit.maximum.params, self.fit.maximum.scales])

    def titles(self) -> list[str]:
        """Return the name of each unit."""
        return [str(label) for label in self.labels]

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the maximum of the likelihood with given numbers of each unit."""
        problem, bundles = self._weighted(counts)
        start = self.fit.maximum
        plain = plain_estimates(problem, start.params)
        scales = np.where(start.scales > 0, start.scales, _START)
        return climbed_again(problem, bundles, start.params, scales, rule_of(self.fit), plain)

    def _weighted(self, counts: FloatArray) -> tuple[Problem, tuple[Groups, ...]]:
        """Return the comparisons and the groups of judges, counted as often as their units."""
        grouped, problem = self.fit.judges.grouped, self.fit.judges.problem
        bundles, summed = [], np.zeros(problem.counts.shape)
        for k, groups in enumerate(grouped.bundles):
            mine = grouped.bundle == k
            repeats = summed_by(grouped.place[mine], counts[self.codes[mine]], len(groups.rows))
            bundles.append(replace(groups, repeats=repeats))
            answers = np.moveaxis(groups.counts * repeats[:, None], 0, 2)
            np.add.at(summed, groups.rows.ravel(), answers.reshape(-1, answers.shape[2]))
        return replace(problem, counts=summed), tuple(bundles)

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Raise, because fits with effects of judges have no prior."""
        raise no_prior()

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of all judgments by each unit's judges, with effects integrated out."""
        judges, size = self.fit.judges, len(self.fit.maximum.params)
        beta, sigma = params[:size], params[size:]
        active = np.flatnonzero(sigma > 0)
        if len(active):
            some = [restricted(groups, active.tolist()) for groups in judges.grouped.bundles]
            values = group_values(judges.problem, some, beta, sigma[active], rule_of(self.fit))
        else:
            logs = np.log(probabilities(judges.problem, beta))
            values = [np.einsum("kgr,grk->g", g.counts, logs[g.rows]) for g in judges.grouped.bundles]
        scores = np.empty(len(self.codes))
        for k, value in enumerate(values):
            mine = judges.grouped.bundle == k
            scores[mine] = value[judges.grouped.place[mine]]
        return summed_by(self.codes, scores, len(self.counts))

    def refitted(self, counts: FloatArray) -> WithEffects:
        """Return the fit with given numbers of each unit, each copy of a judge as a separate judge."""
        name = self.fit.judges.name
        times = counts[self.codes].astype(np.int64)
        again: WithEffects = refit_data(
            self.fit, judges_again(self.fit.comparisons, name, np.repeat(np.arange(len(times)), times))
        )
        return again


def rule_of(res: WithEffects) -> Rule:
    """Return the rule by which effects are integrated out.

    If the maximum has all σ at 0, it is a product rule for few effects and a sample for many.
    """
    rule = res.maximum.rule
    if rule is not None:
        return rule  # type: ignore[return-value]
    most = dimensions_of(res.judges.grouped.bundles, tuple(range(len(res.maximum.scales))))
    return Quadrature(_POINTS) if most <= MOST_EFFECTS else Sampling(_SAMPLED, np.inf, 0)


def plain_estimates(problem: Problem, start: FloatArray) -> FloatArray:
    """Return the estimates (p,) without effects; DesignError if they are not finite or not identified."""
    known = information(problem, probabilities(problem, start), problem.totals)
    if not independent_in_gram(known).all():
        raise no_estimates()
    plain, is_finite = fit_one(problem, problem.counts, start)
    if not is_finite:
        raise no_estimates()
    return plain


def climbed_again(
    problem: Problem, bundles: Sequence[Groups], start: FloatArray, scales: FloatArray, rule: Rule, plain: FloatArray
) -> FloatArray:
    """Return the maximum of the likelihood (p + E,) from a start; `plain` are the estimates if every σ is 0."""
    likelihood = MixedLikelihood(problem, bundles)
    active = tuple(range(len(scales)))
    state = State(np.concatenate([start, np.log(scales)]), active, nothing())
    state = climbed(likelihood, state, rule, DECREMENT[likelihood.few(active)])
    if not state.active:
        return np.concatenate([plain, np.zeros(len(active))])
    if infinite_at(state, likelihood.size):
        raise no_estimates()
    sigma = np.zeros(len(active))
    sigma[list(state.active)] = np.exp(state.at[likelihood.size :])
    return np.concatenate([state.at[: likelihood.size], sigma])


def no_estimates() -> DesignError:
    """Return the error that the remaining judges have no finite estimates."""
    return DesignError("the remaining judges have no finite estimates", "Use more folds, or other units.")


def no_prior() -> DesignError:
    """Return the error that a fold would need a prior."""
    return DesignError(
        "a fold has no finite estimates, and a fit with effects of judges has no prior", "Use more folds."
    )


def judge_units(res: WithEffects, by: str | None, option: str) -> JudgeUnits:
    """Return a fit with effects of judges as a model of judges, or of levels in which judges are nested."""
    judges = res.judges
    if judges.crossed is not None or judges.objects is not None or len(judges.groupings) > 1:
        why = (
            f"have effects of {' and '.join(judges.groupings)}, so all of them depend on each other"
            if len(judges.groupings) > 1 or judges.name == "object"
            else "are integrated by Laplace's approximation over all judges at once"
        )
        raise DesignError(
            f"judgments of {res.specification.formula!r} {why}",
            "Draw new judgments from the fit: llbt.bootstrap(res, resample='parametric').",
            expected="effects of one grouping, by quadrature or sampling",
        )
    name, labels, codes, sizes = units_of_judges(res.comparisons, judges.name, by, option, "through the effects")
    return JudgeUnits(res, name, labels, np.ones(len(labels)), sizes, codes)


def units_of_judges(
    c: Comparisons, own: str, by: str | None, option: str, why: str
) -> tuple[str, tuple[Label, ...], IntArray, FloatArray]:
    """Return the units' name and labels, each judge's unit, and the sizes; units are judges or groups of judges.

    Parameters
    ----------
    own : str
        The column whose levels are the judges.
    by : str or None
        The column whose levels are the units; None for the judges.
    option : str
        The name of the argument that `by` comes from.
    why : str
        Why judgments of one judge depend on each other, for the error.

    Raises
    ------
    OptionError
        If a column has several levels for one judge.
    """
    by = by or own
    ways = kept_ways(c, [own, by])
    of_judge, of_unit = (way.clusters for way in ways)
    codes = np.zeros(of_judge.size, dtype=np.int64)
    codes[of_judge.codes] = of_unit.codes
    if not np.array_equal(codes[of_judge.codes], of_unit.codes):
        raise OptionError(
            f"{option}={by!r}, but judgments of one {own} depend on each other {why}",
            f"Leave it out: the units are the {own}s.",
            expected=f"{own!r}, or a column with one level for each {own}",
        )
    codes, seen = dense(codes, of_unit.size)
    labels = tuple(ways[1].levels[k] for k in seen.tolist())
    return ways[1].name, labels, codes, summed_by(codes, of_judge.judgments)
