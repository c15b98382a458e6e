"""Predict the held-out units of a fit with effects, such as judges or prompts, from the other units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from ..core.columns import FloatArray, IntArray, Label, summed_by
from ..errors import OptionError
from ..fitting.clusters import kept_ways
from ..fitting.effect_lines import EffectLines
from ..fitting.protocols import WithEffects
from ..kernel.laplace import Approximation, laplace
from ..kernel.laplace_fit import normal_maximum
from ..kernel.likelihood import probabilities
from ..kernel.marginal import group_values
from ..kernel.mixed import restricted
from ..kernel.propagation import extended, propagated
from .judge_units import climbed_again, judge_units, no_estimates, no_prior, plain_estimates, rule_of
from .unit_models import DependentUnits, UnitModel

_START = 0.3  # start for a σ that is 0 at the maximum


@dataclass(frozen=True, eq=False)
class EffectUnits:
    """A fit with effects in U units, such as prompts if judges have effects, or judges if prompts have effects too.

    Its parameters are the fixed ones, then σ, at the maximum of the likelihood.

    Attributes
    ----------
    fit : MixedResults
    unit : str
    labels : tuple
    lines : EffectLines
    codes : ndarray of int, shape (L,)
        The unit of each line.
    """

    fit: WithEffects
    unit: str
    labels: tuple[Label, ...]
    lines: EffectLines
    codes: IntArray

    @property
    def counts(self) -> FloatArray:
        """The number of copies of each unit: one, shape (U,)."""
        return np.ones(len(self.labels))

    @property
    def sizes(self) -> FloatArray:
        """The number of judgments of each unit, shape (U,)."""
        return summed_by(self.codes, self.lines.counts.sum(axis=1), len(self.labels))

    @property
    def each(self) -> str:
        """The noun for what `sizes` counts."""
        return "judgment"

    @property
    def _approximated(self) -> bool:
        return self.fit.judges.crossed is not None

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the maximum likelihood estimates from the units whose count is 1; other counts are 0."""
        rest, best = self.lines.take(np.flatnonzero(counts[self.codes] > 0)), self.fit.maximum
        plain = plain_estimates(rest.problem, best.params)
        scales = np.where(best.scales > 0, best.scales, _START)
        try:
            if not self._approximated:
                bundles = rest.grouped().bundles
                return climbed_again(rest.problem, bundles, best.params, scales, rule_of(self.fit), plain)
            maximum = normal_maximum(rest.problem, rest.crossed(), best.params, scales, self.fit.judges.method)
        except linalg.LinAlgError:
            raise no_estimates() from None
        if maximum.infinite:
            raise no_estimates()
        return np.concatenate([maximum.params if np.any(maximum.scales > 0) else plain, maximum.scales])

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Raise, because fits with effects of judges have no prior."""
        raise no_prior()

    def log_scores_given(self, params: FloatArray, known: FloatArray) -> FloatArray:
        """Return log Z(known and unit) − log Z(known) for each unit that is not known, (U,); NaN for known units.

        Z is the likelihood with effects integrated out, by the method of the fit.
        """
        size = len(self.fit.maximum.params)
        beta, sigma = params[:size], params[size:]
        scores = np.full(len(known), np.nan)
        of_unit = {int(u): np.flatnonzero(self.codes == u) for u in np.flatnonzero(known == 0)}
        rest = np.flatnonzero(known[self.codes] > 0)
        score = self._approximately if self._approximated else self._by_judge
        if not np.any(sigma > 0):
            logs = self._logs(beta)
            return np.where(known == 0, summed_by(self.codes, logs, len(known)), np.nan)
        for unit, value in score(beta, sigma, rest, of_unit).items():
            scores[unit] = value
        return scores

    def _logs(self, beta: FloatArray) -> FloatArray:
        """Return Σ n log p of each line without effects, (L,)."""
        p = probabilities(self.lines.problem, beta)[self.lines.rows]
        return np.asarray(special.xlogy(self.lines.counts, p).sum(axis=1))

    def _approximately(
        self, beta: FloatArray, sigma: FloatArray, rest: IntArray, of_unit: dict[int, IntArray]
    ) -> dict[int, float]:
        """Return the scores by expectation propagation or Laplace's approximation, for all lines at once."""
        problem, by_sites = self.lines.problem, self.fit.judges.method == "ep"
        some = self.lines.take(rest).crossed()
        base = (propagated if by_sites else laplace)(problem, some, beta, sigma)

        def with_unit(lines: IntArray) -> Approximation:
            both = self.lines.take(np.concatenate([rest, lines])).crossed()
            if by_sites:
                return propagated(problem, both, beta, sigma, extended(base.sites, len(lines)))
            return laplace(problem, both, beta, sigma)

        return {unit: with_unit(lines).value - base.value for unit, lines in of_unit.items()}

    def _by_judge(
        self, beta: FloatArray, sigma: FloatArray, rest: IntArray, of_unit: dict[int, IntArray]
    ) -> dict[int, float]:
        """Return the scores from the integrals of the judges who judged each unit."""
        codes = self.lines.codes[0]

        def value(lines: IntArray) -> float:
            if not len(lines):
                return 0.0
            active = np.flatnonzero(sigma > 0)
            bundles = self.lines.take(lines).grouped().bundles
            some = [restricted(groups, active.tolist()) for groups in bundles]
            values = group_values(self.lines.problem, some, beta, sigma[active], rule_of(self.fit))
            return sum(float(groups.repeats @ of) for groups, of in zip(some, values, strict=True))

        by_unit = {}
        for unit, lines in of_unit.items():
            before = rest[np.isin(codes[rest], codes[lines])]
            by_unit[unit] = value(np.concatenate([before, lines])) - value(before)
        return by_unit


def effect_units(res: WithEffects, by: str | None) -> UnitModel | DependentUnits:
    """Return a fit with effects as a model of units to hold out; the units are independent if `by` allows it.

    Raises
    ------
    OptionError
        Without `by` if several groupings have effects, for single judgments, and for columns that the table does not
        have.
    DesignError
        For effects of objects.
    """
    judges = res.judges
    groupings = tuple(judges.groupings)
    if "object" in groupings:
        return judge_units(res, by, "by")
    if by is None and len(groupings) > 1:
        raise OptionError(
            f"no by= for a fit with effects of {' and '.join(groupings)}",
            f"Name what is new: llbt.held_out(res, by={groupings[0]!r}), or by={groupings[1]!r}.",
        )
    by = by or groupings[0]
    if by == "judgment":
        raise OptionError(
            f"by='judgment' of a fit with effects of {' and '.join(groupings)}",
            f"Hold out levels of a column: llbt.held_out(res, by={groupings[0]!r}).",
            expected="a cluster or covariate of the table",
        )
    names = [*groupings, *([by] if res.comparisons.named(by) not in groupings else [])]
    ways = kept_ways(res.comparisons, names)
    way = next(one for one in ways if one.name == res.comparisons.named(by))
    if judges.crossed is None and _nested(ways[0].clusters.codes, way.clusters.codes):
        return judge_units(res, by, "by")
    lines = EffectLines.of(res.without, res.brackets, ways)
    return EffectUnits(res, way.name, way.levels, lines, way.clusters.codes)


def _nested(judge: IntArray, unit: IntArray) -> bool:
    """Whether each judge belongs to one unit."""
    return len(np.unique(np.stack([judge, unit]), axis=1).T) == len(np.unique(judge))
