"""How much oftener one object of a pair won than the model expects, over all comparisons of the pair."""

from __future__ import annotations

import numpy as np

from ..core.columns import FloatArray, groups
from ..core.statistics import ratio
from ..fitting.results import LLBTResults, check_fit
from ..table import Field, Table

_EXACT = 1e-8  # of a pair's variance: below it the pair is fitted exactly


def pair_residuals(res: LLBTResults) -> Table:
    """Return one standardized residual per pair of objects: positive where i wins more often than the model expects.

    Parameters
    ----------
    res : LLBTResults

    Returns
    -------
    Table
        object_i, object_j, judgments, estimate (wins of i less wins of j), fitted (what the model expects of it),
        residual; the pairs that were judged, summed over covariates and both orders. About standard normal where the
        model holds; NaN for a pair that is fitted exactly.

    Raises
    ------
    DesignError
        For anything but a fit.

    Notes
    -----
    With d the difference of wins summed over the comparisons of a pair, the residual is (d − fitted d) / √v, where
    v = Σ [m_i + m_j − (m_i − m_j)²/n] − gᵀVg: its multinomial variance less what estimation takes, with g the gradient
    of the fitted d and V the covariance of the estimates as the likelihood has it. For a pair with one comparison and
    no ties it is the standardized Pearson residual of `residual_table`.

    References
    ----------
    Agresti, A. (2002). Categorical Data Analysis, 2nd ed., section 4.5.5 (standardized residuals). Wiley.

    Examples
    --------
    >>> import llbt
    >>> found = llbt.pair_residuals(llbt.fit("object", llbt.load_dataset("citations").pool())).to_frame()
    >>> found.loc[0, ["object_i", "object_j"]].tolist(), found["residual"].round(2).tolist()[:3]
    (['Biometrika', 'Comm Statist'], [1.05, -0.97, 0.33])
    """
    check_fit("pair_residuals", res)
    c = res.comparisons
    ends = np.sort(c.pairs, axis=1)
    sign = np.where(c.pairs[:, 0] < c.pairs[:, 1], 1.0, -1.0)
    first, pair = groups(list(ends.T))

    def summed(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(pair, weights=values, minlength=len(first)), dtype=np.float64)

    problem, totals, means = res.problem(), c.totals, res.solution.means
    weight = problem.response.weight((means / totals[:, None]).T, totals)[0]  # of the signed predictor with each
    every = np.arange(len(c))
    parts = zip(problem.predictors, weight, strict=True)
    gradient = sum(rows.summed(sign * weights, every, pair, len(first)) for rows, weights in parts)
    variance = summed(weight[0])
    left = variance - np.einsum("ij,jk,ik->i", gradient, res.solution.cov, gradient)
    error = np.sqrt(np.where(left > _EXACT * variance, left, np.nan))
    observed, fitted = (summed(sign * problem.response.sums(y.T)[0]) for y in (res.counts, means))
    sides = [[c.objects[k] for k in ends[first, side]] for side in (0, 1)]
    return Table(
        (
            Field("object_i", "object_i", sides[0]),
            Field("object_j", "object_j", sides[1]),
            Field("judgments", "judgments", summed(c.totals), "count"),
            Field("estimate", "wins i − j", observed, "count"),
            Field("fitted", "fitted", fitted, "number", 3),
            Field("residual", "residual", ratio(observed - fitted, error), "statistic"),
        ),
        title="Standardized residuals of pairs: wins of i less wins of j",
    )
