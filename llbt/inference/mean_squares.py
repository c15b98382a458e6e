"""Infit and outfit: mean squares of the residuals of groups of judgments, such as the judgments of one judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..core.columns import FloatArray, IntArray, summed_by
from ..core.statistics import adjust_p, ratio
from ..fitting.plain_estimates import PlainEstimates

MISFIT = 0.05  # groups are named up to this adjusted p-value
_FLAT = 1e-9  # the spread of an infit whose judgments all have the same square


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """Mean squares of G groups of judgments; about 1 if the model holds. All arrays have shape (G,).

    Attributes
    ----------
    judgments : ndarray
    infit : ndarray
        Σ(x − e)²/Σv over the judgments, with the score x of the outcome (1, 0 or −1), and its expectation e and
        variance v in the model.
    outfit : ndarray
        Mean of (x − e)²/v. A few nearly impossible judgments make it large.
    statistic : ndarray
        Infit as a standard normal variable; NaN if all judgments have the same square, whatever the outcome.
    p_value : ndarray
        P-value that infit is larger than the model expects, adjusted by Holm's method over the groups.
    """

    judgments: FloatArray
    infit: FloatArray
    outfit: FloatArray
    statistic: FloatArray
    p_value: FloatArray

    @classmethod
    def tested(cls, judgments: FloatArray, infit: FloatArray, outfit: FloatArray, q: FloatArray) -> MeanSquares:
        """Return mean squares with their tests; q is the standard deviation of infit under the model."""
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(q > _FLAT, (np.cbrt(infit) - 1) * 3 / q + q / 3, np.nan)
        return cls(judgments, infit, outfit, statistic, adjust_p(stats.norm.sf(statistic), "holm"))

    @property
    def misfits(self) -> list[bool]:
        """Which groups are less predictable than the model implies."""
        return [bool(p <= MISFIT) for p in self.p_value]


def mean_squares(res: PlainEstimates, rows: IntArray, counts: FloatArray, codes: IntArray, groups: int) -> MeanSquares:
    """Return the mean squares of groups of judgments.

    Parameters
    ----------
    res : LLBTResults
    rows : ndarray of int, shape (R,)
        The comparison of each line.
    counts : ndarray, shape (R, K)
        Counts of the outcomes.
    codes : ndarray of int, shape (R,)
        The group of each line.
    groups : int
    """
    cells = res.cells
    p = cells.means / cells.means.sum(axis=1, keepdims=True)
    score = res.comparisons.response.loadings[:, 0]
    square = (score - (p @ score)[:, None]) ** 2  # (S, K): for each outcome
    variance = (p * square).sum(axis=1)
    spread = (p * square**2).sum(axis=1) - variance**2  # variance of the square
    n = counts.sum(axis=1)
    away = (counts * square[rows]).sum(axis=1)

    def total(values: FloatArray) -> FloatArray:
        return summed_by(codes, values, groups)

    infit = ratio(total(away), total(n * variance[rows]))
    outfit = ratio(total(ratio(away, variance[rows])), total(n))
    q = ratio(np.sqrt(total(n * np.maximum(spread[rows], 0.0))), total(n * variance[rows]))
    return MeanSquares.tested(total(n), infit, outfit, q)
