"""How much oftener one object of a pair won than the model expects, over all comparisons of the pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.columns import FloatArray, IntArray, Label, groups
from ..core.statistics import ratio
from ..fitting.clusters import independence_note
from ..fitting.fitted import WithWorths
from ..fitting.results import LLBTResults
from ..resampling import Resampler
from ..table import Field, Table, counted
from .simulated_pairs import simulated_pairs

_EXACT = 1e-8  # of a pair's variance: below it the pair is fitted exactly


def pair_residuals(res: LLBTResults, most: int) -> Table:
    """Return a row per pair that was judged, the largest residual first; see `residuals`."""
    c = res.comparisons
    ends = np.sort(c.pairs, axis=1)
    sign = np.where(c.pairs[:, 0] < c.pairs[:, 1], 1.0, -1.0)
    first, pair = groups(list(ends.T))

    def summed(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(pair, weights=values, minlength=len(first)), dtype=np.float64)

    problem, totals, means = res.problem(), c.totals, res.solution.means
    score, p = problem.response.loadings[:, 0], (means / totals[:, None]).T
    weight = problem.response.scores(p, score[:, None] * means.T)  # what predictors move the expected difference by
    every = np.arange(len(c))
    parts = zip(problem.predictors, weight, strict=True)
    gradient = sum(rows.summed(sign * weights, every, pair, len(first)) for rows, weights in parts)
    variance = summed(totals * (score**2 @ p - (score @ p) ** 2))
    left = variance - ((gradient @ res.solution.cov) * gradient).sum(axis=1)
    error = np.sqrt(np.where(left > _EXACT * variance, left, np.nan))
    observed, fitted = (summed(sign * (y @ score)) for y in (res.counts, means))
    what = "scores" if c.response.grades else "wins"  # a larger grade counts more
    ends = np.column_stack([ends[first, side] for side in (0, 1)])
    found = _Residuals(c.objects, ends, summed(c.totals), observed, fitted, ratio(observed - fitted, error))
    return _table(found, what, most, independence_note(res.specification.groups, "residuals take"))


def simulated_pair_residuals(res: WithWorths, most: int, n: int, draw: Resampler) -> Table:
    """Return a row per pair, its error that of tables drawn from a fit and fitted again; see `residuals`."""
    found = simulated_pairs(res, n, draw)
    wins = found.off(np.array([1.0, 0.0, -1.0]))
    total = found.observed.sum(axis=1)
    rows = _Residuals(found.objects, found.ends, total, wins.off + wins.expected, wins.expected, wins.z)
    return _table(
        rows, "wins", most, (f"fitted and residual: of {counted(len(found.apart), 'table')} drawn from the fit",)
    )


@dataclass(frozen=True, eq=False)
class _Residuals:
    """Residuals of P pairs: objects at ends (P, 2), judgments, wins of i less wins of j, what is expected of these."""

    objects: tuple[Label, ...]
    ends: IntArray
    judgments: FloatArray
    observed: FloatArray
    fitted: FloatArray
    residual: FloatArray


def _table(found: _Residuals, what: str, most: int, notes: tuple[str, ...]) -> Table:
    order = np.argsort(-np.where(np.isnan(found.residual), -np.inf, np.abs(found.residual)), kind="stable")
    sides = [[found.objects[k] for k in found.ends[order, side]] for side in (0, 1)]
    return Table(
        (
            Field("object_i", "object_i", sides[0]),
            Field("object_j", "object_j", sides[1]),
            Field("judgments", "judgments", found.judgments[order], "count"),
            Field("estimate", f"{what} i − j", found.observed[order], "count"),
            Field("fitted", "fitted", found.fitted[order], "number", 3),
            Field("residual", "residual", found.residual[order], "statistic"),
        ),
        title=f"Standardized residuals of pairs: {what} of i less {what} of j",
        notes=notes,
    ).first(most, "smaller one", ".to_frame(), or most=", asked=True)
