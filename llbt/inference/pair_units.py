"""Fits to comparisons as models of units: single judgments, or the levels of a cluster or covariate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray, Label, summed_by
from ..errors import DesignError, OptionError
from ..fitting.clusters import kept_way, own_unit
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.protocols import FitLike, WithDiscriminations
from ..fitting.specification import penalty_of, prior_counts
from ..kernel import discrimination
from ..kernel.batch import fit_one
from ..kernel.likelihood import Problem, information, probabilities, pseudo_counts
from ..kernel.robust import Clustered
from ..kernel.solvers import eliminate, independent_in_gram
from ..kernel.threads import few_threads
from .refit import refit_data
from .simulated_counts import with_counts

JUDGMENT = "judgment"
_FAR = 20.0  # a discrimination has gone to infinity if a predictor is larger than this
_NONE = "the remaining judgments have no finite estimates"


class CountModel(Protocol):
    """A model of the counts (S, K) of a table."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p estimated parameters."""

    @property
    def estimates(self) -> FloatArray:
        """The estimates, shape (p,)."""

    def estimated(self, counts: FloatArray) -> FloatArray | None:
        """Return the estimates for other counts; None if they are not finite."""

    def shrunk(self, counts: FloatArray) -> FloatArray | None:
        """Return the estimates with a prior of one judgment for each pair of the whole table."""

    def probabilities(self, params: FloatArray) -> FloatArray:
        """Return the probabilities of the outcomes, shape (S, K)."""


@dataclass(frozen=True, eq=False)
class PlainCounts:
    """A fit without effects of judges that can be repeated: its arrays, its estimates, the counts of its prior."""

    problem: Problem
    names: tuple[str, ...]
    estimates: FloatArray
    own: FloatArray | float
    weak: FloatArray
    fit: PlainEstimates

    @classmethod
    def of(cls, fit: PlainEstimates) -> PlainCounts:
        """Return the model of a fit; `weak` is a prior of one judgment for each pair of the whole table."""
        problem, c = fit.problem(), fit.comparisons
        weak = pseudo_counts(c.pairs, problem.totals, problem.counts.shape[1], 1.0)
        own = prior_counts(problem, c, fit.specification)
        names = tuple(fit.names[k] for k in fit.free)
        return cls(problem, names, fit.solution.params, own, weak, fit)

    def estimated(self, counts: FloatArray) -> FloatArray | None:
        """Return the estimates (p,) for other counts (S, K); None if they are infinite or not identified."""
        counts = counts + self.own
        known = information(self.problem, probabilities(self.problem, self.estimates), counts.sum(axis=1))
        if not independent_in_gram(known).all():
            return None
        fit, spec = self.fit, self.fit.specification
        if spec.prior is not None and not spec.adds_judgments:
            table = replace(self.problem, counts=counts)
            penalty = penalty_of(table, fit.comparisons, spec, fit.design, fit.free)
            return eliminate(table, start=self.estimates, penalty=penalty).params
        params, is_finite = fit_one(self.problem, counts, self.estimates)
        return params if is_finite else None

    def shrunk(self, counts: FloatArray) -> FloatArray | None:
        """Return the estimates with the weak prior; None if even these are not finite."""
        params, is_finite = fit_one(self.problem, counts + self.own + self.weak, self.estimates)
        return params if is_finite else None

    def probabilities(self, params: FloatArray) -> FloatArray:
        """Return the probabilities of the outcomes, shape (S, K)."""
        return probabilities(self.problem, params)


@dataclass(frozen=True, eq=False)
class JudgedCounts:
    """A fit with a discrimination of each judge; its parameters are first the worths', then the discriminations."""

    judged: discrimination.Judged
    names: tuple[str, ...]
    estimates: FloatArray
    pooled: FloatArray

    @classmethod
    def of(cls, fit: WithDiscriminations) -> JudgedCounts:
        """Return the model of a fit."""
        solution, judging = fit.solution, fit.judging
        names = tuple(fit.average.names[k] for k in fit.average.free)
        sigmas = tuple(f"sigma[{level}]" for level in judging.levels)
        estimates = np.concatenate([solution.params, solution.sigma])
        return cls(judging.judged, (*names, *sigmas), estimates, fit.without.solution.params)

    def estimated(self, counts: FloatArray) -> FloatArray | None:
        """Return the estimates (p + judges,) for other counts (S, K); None if they are infinite or not identified."""
        judged = replace(self.judged, problem=replace(self.judged.problem, counts=counts))
        try:
            with np.errstate(all="ignore"):
                size = len(self.pooled)
                maximum = discrimination.maximize(judged, self.pooled, (self.estimates[:size], self.estimates[size:]))
        except linalg.LinAlgError:
            return None
        if not maximum.converged or not np.all(maximum.furthest < _FAR):
            return None
        return np.concatenate([maximum.params, maximum.sigma])

    def shrunk(self, counts: FloatArray) -> FloatArray | None:
        """Return None: discriminations have no prior."""
        return None

    def probabilities(self, params: FloatArray) -> FloatArray:
        """Return the probabilities of the outcomes, shape (S, K)."""
        size = len(params) - self.judged.size
        return self.judged.probabilities(params[:size], params[size:])


@dataclass(frozen=True, eq=False)
class PairUnits:
    """A model of counts in units. R lines of counts belong to U units.

    Attributes
    ----------
    fit : a fit of pairs
    unit : str
    labels : tuple or None
    counts : ndarray, shape (U,)
    lines : Clustered
        The comparison of each line, the counts of one copy of its unit, and the unit.
    model : CountModel
    """

    fit: FitLike
    unit: str
    labels: tuple[Label, ...] | None
    counts: FloatArray
    lines: Clustered
    model: CountModel

    @property
    def sizes(self) -> FloatArray:
        """The number of judgments in each unit, shape (U,)."""
        return summed_by(self.lines.codes, self.lines.counts.sum(axis=1), len(self.counts))

    @property
    def parts(self) -> FloatArray:
        """The number of judgments in each unit, shape (U,)."""
        return self.sizes

    @property
    def part(self) -> str:
        """The noun for what `parts` counts."""
        return JUDGMENT

    @property
    def each(self) -> str:
        """The noun for what `sizes` counts."""
        return JUDGMENT

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the estimated parameters."""
        return self.model.names

    @property
    def estimates(self) -> FloatArray:
        """The estimates."""
        return self.model.estimates

    def titles(self) -> list[str]:
        """Return the name of each unit."""
        if self.labels is not None:
            return [str(label) for label in self.labels]
        c, rows = self.fit.comparisons, self.lines.rows
        pairs = [f"{c.objects[i]}–{c.objects[j]}" for i, j in c.pairs[rows].tolist()]
        outcomes = [c.response.outcomes[k] for k in self.lines.counts.argmax(axis=1).tolist()]
        beside = list(zip(*(column.values[rows].tolist() for column in c.columns), strict=True)) or [()] * len(rows)
        where = [f" ({' '.join(map(str, values))})" if values else "" for values in beside]
        return [f"{pair} {outcome}{at}" for pair, outcome, at in zip(pairs, outcomes, where, strict=True)]

    def table(self, counts: FloatArray) -> FloatArray:
        """Return the counts of the comparisons (S, K), given the number of each unit (U,)."""
        by_line = np.zeros((len(self.fit.comparisons), self.lines.counts.shape[1]))
        np.add.at(by_line, self.lines.rows, self.lines.counts * counts[self.lines.codes, None])
        return by_line

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the estimates with other counts of the units."""
        with few_threads(len(self.estimates)):
            return finite(self.model.estimated(self.table(counts)))

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Return the estimates with a prior of one judgment for each pair."""
        with few_threads(len(self.estimates)):
            return finite(self.model.shrunk(self.table(counts)))

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of each unit, Σ n log p of its judgments."""
        p = self.model.probabilities(params)[self.lines.rows]
        is_judged = self.lines.counts > 0
        logs = np.where(is_judged, self.lines.counts * np.log(np.where(is_judged, p, 1.0)), 0.0)
        return summed_by(self.lines.codes, logs.sum(axis=1), len(self.counts))

    def refitted(self, counts: FloatArray) -> Any:
        """Return the fit with other counts of the units."""
        return refit_data(self.fit, with_counts(self.fit.comparisons, self.table(counts)))


def finite(estimates: FloatArray | None) -> FloatArray:
    """Return the estimates; raise if there are none."""
    if estimates is None:
        raise DesignError(_NONE, "Use more folds, or other units.")
    return estimates


def pair_units(res: PlainEstimates, by: str | None, option: str) -> PairUnits:
    """Return a fit without effects of judges as a model of judgments, or of the levels of a column."""
    by = by or own_unit(res.specification.groups, option)

    return units_of_counts(res, by, PlainCounts.of(res))


def discrimination_units(res: WithDiscriminations, by: str | None, option: str) -> PairUnits:
    """Return a fit with discriminations as a model of judgments, or of the levels of a column."""
    by = by or JUDGMENT
    if by == res.judging.name:
        raise OptionError(
            f"{option}={by!r}, but each {by} has its own discrimination, which other {by}s do not predict",
            f"Leave it out, or name a column whose levels share {by}s.",
        )

    return units_of_counts(res, by, JudgedCounts.of(res))


def units_of_counts(res: FitLike, by: str, model: CountModel) -> PairUnits:
    """Return a model of the counts of a fit's table in units: judgments, or levels of one of its columns."""
    c = res.comparisons
    if by != JUDGMENT:
        way = kept_way(c, by, (by,))
        return PairUnits(res, by, way.levels, np.ones(way.clusters.size), way.clusters, model)
    counts = c.outcome_counts
    rows, outcomes = np.nonzero(counts)
    lines = Clustered(rows, np.eye(counts.shape[1])[outcomes], np.arange(len(rows)))
    return PairUnits(res, by, None, counts[rows, outcomes], lines, model)
