"""How much oftener one object of a pair won than the model expects, over all comparisons of the pair."""

from __future__ import annotations

import numpy as np

from ..core.columns import FloatArray, groups
from ..core.statistics import ratio
from ..fitting.clusters import independence_note
from ..fitting.results import LLBTResults
from ..table import Field, Table

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
    residual = ratio(observed - fitted, error)
    order = np.argsort(-np.where(np.isnan(residual), -np.inf, np.abs(residual)), kind="stable")
    what = "scores" if c.response.grades else "wins"  # a larger grade counts more
    sides = [[c.objects[k] for k in ends[first[order], side]] for side in (0, 1)]
    return Table(
        (
            Field("object_i", "object_i", sides[0]),
            Field("object_j", "object_j", sides[1]),
            Field("judgments", "judgments", summed(c.totals)[order], "count"),
            Field("estimate", f"{what} i − j", observed[order], "count"),
            Field("fitted", "fitted", fitted[order], "number", 3),
            Field("residual", "residual", residual[order], "statistic"),
        ),
        title=f"Standardized residuals of pairs: {what} of i less {what} of j",
        notes=independence_note(res.specification.groups, "residuals take"),
    ).first(most, "smaller one", ".to_frame(), or most=", asked=True)
