"""Residuals of pairs: observed against expected wins, over all comparisons of a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.table import Field, Table, counted, format_count
from ..core.columns import FloatArray, IntArray, Label, groups
from ..core.comparisons import Comparisons
from ..core.statistics import ratio
from ..fitting.clusters import independence_note
from ..fitting.fitted import WithWorths
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.protocols import WithManyWorths
from ..kernel.likelihood import Problem
from ..resampling import Resampler
from .simulated_pairs import simulated_pairs

EXACTLY = 100  # with very many objects, number of comparisons and pairs whose residuals get exact errors
_EXACT = 1e-8  # a pair is fitted exactly below this share of its variance


def pair_residuals(res: PlainEstimates, most: int) -> Table:
    """Return one row per pair that was judged, the largest residual first; see `residuals`."""
    of = _Differences.of(res.comparisons, res.problem(), res.solution.means)
    left = of.variance - ((of.gradient @ res.solution.cov) * of.gradient).sum(axis=1)
    return of.table(left, most, independence_note(res.specification.groups, "residuals take"))


def pair_residuals_of_many(res: WithManyWorths, most: int) -> Table:
    """Return residuals whose errors ignore estimation, except for the largest residuals."""
    of = _Differences.of(res.comparisons, res.beside.problem(), res.cells.means)
    size = np.abs(ratio(of.observed - of.fitted, np.sqrt(of.variance)))
    some = np.argsort(-size, kind="stable")[:EXACTLY]
    every, rows = np.arange(len(some)), np.zeros((len(some), len(res.names)))
    rows[every, of.ends[some, 0]] = of.along[some]
    rows[every, of.ends[some, 1]] = -of.along[some]
    rows[:, len(res.worths) :] = of.gradient[some]
    left = of.variance.copy()
    left[some] -= np.diag(res.estimated.combined(rows))
    return of.table(left, most, exactly_note(len(some), len(size), "pairs"))


def exactly_note(some: int, of: int, what: str) -> tuple[str, ...]:
    """Return a note if only some residuals have exact errors."""
    if some == of:
        return ()
    return (
        f"the {format_count(some)} {what} of the largest residuals have exact standard errors; other residuals are a "
        "little too small, because their standard errors ignore estimation",
    )


@dataclass(frozen=True, eq=False)
class _Differences:
    """Wins of i minus wins of j for P pairs, with the model's expectation and multinomial variance.

    Attributes
    ----------
    comparisons : Comparisons
    ends : ndarray of int, shape (P, 2)
    judgments, observed, fitted, variance : ndarray, shape (P,)
    gradient : ndarray, shape (P, p)
        Derivatives of the expected values in the parameters of the problem.
    along : ndarray, shape (P,)
        Derivatives of the expected values in λᵢ − λⱼ.
    """

    comparisons: Comparisons
    ends: IntArray
    judgments: FloatArray
    observed: FloatArray
    fitted: FloatArray
    variance: FloatArray
    gradient: FloatArray
    along: FloatArray

    @classmethod
    def of(cls, c: Comparisons, problem: Problem, means: FloatArray) -> _Differences:
        """Return the differences of a table, given fitted counts (S, C)."""
        ends = np.sort(c.pairs, axis=1)
        sign = np.where(c.pairs[:, 0] < c.pairs[:, 1], 1.0, -1.0)
        first, pair = groups(list(ends.T))

        def summed(values: FloatArray) -> FloatArray:
            return np.asarray(np.bincount(pair, weights=values, minlength=len(first)), dtype=np.float64)

        totals = c.totals
        score, p = problem.response.loadings[:, 0], (means / totals[:, None]).T
        weight = problem.response.scores(p, score[:, None] * means.T)  # how predictors move the expected difference
        every = np.arange(len(c))
        parts = zip(problem.predictors, weight, strict=True)
        gradient = np.asarray(sum(rows.summed(sign * weights, every, pair, len(first)) for rows, weights in parts))
        variance = summed(totals * (score**2 @ p - (score @ p) ** 2))
        observed, fitted = (summed(sign * (y @ score)) for y in (c.outcome_counts, means))
        return cls(c, ends[first], summed(totals), observed, fitted, variance, gradient, summed(weight[0]))

    def table(self, left: FloatArray, most: int, notes: tuple[str, ...]) -> Table:
        """Return the residuals divided by the root of the remaining variance (P,)."""
        error = np.sqrt(np.where(left > _EXACT * self.variance, left, np.nan))
        residual = ratio(self.observed - self.fitted, error)
        what = "scores" if self.comparisons.response.grades else "wins"  # a larger grade counts more
        residuals = _Residuals(
            self.comparisons.objects, self.ends, self.judgments, self.observed, self.fitted, residual
        )
        return _table(residuals, what, most, notes)


def simulated_pair_residuals(res: WithWorths, most: int, n: int, draw: Resampler) -> Table:
    """Return one row per pair, with errors from tables that are drawn from a fit; see `residuals`."""
    pairs = simulated_pairs(res, n, draw)
    wins = pairs.off(np.array([1.0, 0.0, -1.0]))
    total = pairs.observed.sum(axis=1)
    rows = _Residuals(pairs.objects, pairs.ends, total, wins.off + wins.expected, wins.expected, wins.z)
    drawn = f"fitted and residual: from {counted(len(pairs.apart), 'table')} drawn from the fit"
    return _table(rows, "wins", most, (*pairs.notes, drawn))


@dataclass(frozen=True, eq=False)
class _Residuals:
    """Residuals of P pairs: objects `ends` (P, 2), judgments, wins of i minus wins of j, and their expectations."""

    objects: tuple[Label, ...]
    ends: IntArray
    judgments: FloatArray
    observed: FloatArray
    fitted: FloatArray
    residual: FloatArray


def _table(residuals: _Residuals, what: str, most: int, notes: tuple[str, ...]) -> Table:
    order = np.argsort(-np.where(np.isnan(residuals.residual), -np.inf, np.abs(residuals.residual)), kind="stable")
    sides = [[residuals.objects[k] for k in residuals.ends[order, side]] for side in (0, 1)]
    return Table(
        (
            Field("object_i", "object_i", sides[0]),
            Field("object_j", "object_j", sides[1]),
            Field("judgments", "judgments", residuals.judgments[order], "count"),
            Field("estimate", f"{what} i − j", residuals.observed[order], "count"),
            Field("fitted", "fitted", residuals.fitted[order], "number", 3),
            Field("residual", "residual", residuals.residual[order], "statistic"),
        ),
        title=f"Standardized residuals of pairs: {what} of i minus {what} of j",
        notes=notes,
    ).first(most, "smaller one", ".to_frame(), or most=", asked=True)
