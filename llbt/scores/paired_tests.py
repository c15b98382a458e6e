"""Tests of paired scores, arrays in and arrays out: one row per pair of systems, one column per instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..classical.sign_rules import Alternative, binomial_p, count_wins, normal_p
from ..core.columns import FloatArray, IntArray
from ..core.statistics import ratio
from ..data.system_scores import ROUNDING

EXACT = 50  # differences up to which the signed ranks have their own distribution, as in scipy

_LAST = np.iinfo(np.int64).max  # sorts after every difference


@dataclass(frozen=True, eq=False)
class PairedTest:
    """The result of one test for P pairs, each array of shape (P,); NaN if the test is not defined.

    Attributes
    ----------
    statistic, df, p_value : ndarray
        df is NaN for tests without degrees of freedom.
    effect : ndarray
        The effect size that belongs to the test.
    """

    statistic: FloatArray
    df: FloatArray
    p_value: FloatArray
    effect: FloatArray


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of P pairs of systems on M instances, NaN on both sides where one has no score.

    Attributes
    ----------
    i, j : ndarray, shape (P, M)
    """

    i: FloatArray
    j: FloatArray

    @property
    def larger(self) -> FloatArray:
        """The larger of the absolute values of both scores, shape (P, M)."""
        return np.asarray(np.maximum(np.abs(self.i), np.abs(self.j)))

    @property
    def n(self) -> IntArray:
        """Number of instances with both scores, shape (P,)."""
        return np.asarray(np.sum(~np.isnan(self.i), axis=1), dtype=np.int64)


def pair_up(i: FloatArray, j: FloatArray) -> PairedScores:
    """Return the scores (P, M) of either side, on the instances that have both."""
    missing = np.isnan(i) | np.isnan(j)
    return (
        PairedScores(np.where(missing, np.nan, i), np.where(missing, np.nan, j))
        if missing.any()
        else PairedScores(i, j)
    )


def largest(larger: FloatArray) -> FloatArray:
    """Return the largest absolute score of each pair, shape (P,); 0 without a score."""
    return np.asarray(np.fmax.reduce(larger, axis=1, initial=0.0))


def cleaned(values: FloatArray, scale: FloatArray) -> FloatArray:
    """Return values, with 0 for those that are only rounding error at this scale."""
    return np.where(np.abs(values) <= ROUNDING * scale, 0.0, values)


def lengths(rows: FloatArray) -> FloatArray:
    """Return √Σ x² of each row (P, M), shape (P,), in units of its largest value, so that no square underflows."""
    unit = np.ldexp(1.0, np.frexp(np.abs(rows).max(axis=1, initial=0.0))[1])
    return np.asarray(unit * np.sqrt(((rows / unit[:, None]) ** 2).sum(axis=1)))


def moments(difference: FloatArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means of differences (P, M) and their standard deviations with n − 1, each (P,).

    The standard deviation is NaN for one difference, and 0 if differences vary only by rounding.
    """
    n = np.sum(~np.isnan(difference), axis=1)
    mean = ratio(np.nansum(difference, axis=1), n.astype(np.float64))
    apart = np.nan_to_num(difference - mean[:, None])
    return cleaned(mean, scale), cleaned(ratio(lengths(apart), np.sqrt(np.maximum(n - 1.0, 0.0))), scale)


def row_medians(values: FloatArray) -> FloatArray:
    """Return the medians of the rows without NaN, shape (P,)."""
    n = np.sum(~np.isnan(values), axis=1)
    ordered = np.sort(values, axis=1)  # NaN goes last
    middle = np.column_stack([np.maximum(n - 1, 0) // 2, np.minimum(n // 2, values.shape[1] - 1)])
    return np.asarray(np.take_along_axis(ordered, middle, axis=1).mean(axis=1))


def t_test(mean: FloatArray, deviation: FloatArray, n: IntArray, alternative: Alternative) -> PairedTest:
    """Return the paired t test, with Cohen's d_z = mean / standard deviation; NaN for constant differences."""
    effect, df = ratio(mean, deviation), n - 1.0
    statistic = effect * np.sqrt(n)
    known = np.where(df > 0, df, np.nan)
    tail = {"greater": statistic, "less": -statistic, "two-sided": np.abs(statistic)}[alternative]
    p_value = stats.t.sf(tail, known) * (2 if alternative == "two-sided" else 1)
    return PairedTest(statistic, known, np.asarray(p_value), effect)


def median_test(scores: PairedScores, alternative: Alternative) -> PairedTest:
    """Return Mood's median test, χ² with Yates' correction, of either side's scores above the common median.

    The effect is the share of i's scores above the common median minus the share of j's. NaN if no score is above it.
    """
    common = row_medians(np.concatenate([scores.i, scores.j], axis=1))[:, None]
    above = common + ROUNDING * np.abs(common)
    over_i, over_j = (np.sum(side > above, axis=1).astype(np.float64) for side in (scores.i, scores.j))
    n, expected = scores.n.astype(np.float64), (over_i + over_j) / 2  # both sides have n scores
    apart = np.maximum(np.abs(over_i - over_j) / 2 - 0.5, 0.0)
    both = np.where(expected > 0, expected * (n - expected), np.nan)
    chi2 = 2 * n * ratio(apart**2, both)
    p_value = normal_p(np.sign(over_i - over_j) * np.sqrt(chi2), alternative)
    return PairedTest(chi2, np.where(np.isnan(chi2), np.nan, 1.0), p_value, ratio(over_i - over_j, n))


def sign_test_of(counts: FloatArray, alternative: Alternative) -> PairedTest:
    """Return the exact sign test of counts (P, 3), ties left out, with the win odds (ties half to either side)."""
    i, ties, j = counts.T
    p_value = binomial_p(count_wins("drop", counts, whole=True), alternative)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = (i + ties / 2) / (j + ties / 2)  # ∞ where i wins everything
    return PairedTest(i, np.full(len(i), np.nan), p_value, odds)


def wilcoxon_test(
    difference: FloatArray, zero: npt.NDArray[np.bool_], scale: FloatArray, alternative: Alternative
) -> PairedTest:
    """Return Wilcoxon's signed-rank test of differences (P, M), without those that are `zero`.

    The statistic is the sum R₊ of the ranks of positive differences, the effect the matched-pairs rank-biserial
    correlation (R₊ − R₋)/(R₊ + R₋). Up to `EXACT` differences, p-values come from all signs of the observed ranks,
    including average ranks of equal differences. With more differences, they come from the normal distribution, with
    the variance corrected for equal differences.
    """
    ranks = _signed_ranks(difference, zero, scale)
    total = ranks.n * (ranks.n + 1) / 2
    variance = total * (2 * ranks.n + 1) / 12 - ranks.excess / 48
    p_value = normal_p(ratio(ranks.positive - total / 2, np.sqrt(variance)), alternative)
    for row in np.flatnonzero((ranks.n > 0) & (ranks.n <= EXACT)).tolist():
        p_value[row] = signed_sum_p(ranks.doubled(row), 2 * ranks.positive[row], alternative)
    statistic = np.where(ranks.n > 0, ranks.positive, np.nan)
    return PairedTest(statistic, np.full(len(total), np.nan), p_value, ratio(2 * ranks.positive - total, total))


@dataclass(frozen=True, eq=False)
class _SignedRanks:
    """Ranks of the absolute differences of P pairs, in runs of equal ones.

    Attributes
    ----------
    n, positive, excess : ndarray, shape (P,)
        Number of ranked differences, sum of the ranks of positive differences, and Σ(t³ − t) over runs of length t.
    first : ndarray of int, shape (P + 1,)
        Where the runs of each pair begin.
    rank, size : ndarray
        Average rank and length t of each run.
    """

    n: IntArray
    positive: FloatArray
    excess: FloatArray
    first: IntArray
    rank: FloatArray
    size: IntArray

    def doubled(self, row: int) -> tuple[int, ...]:
        """Return twice the ranks of a pair, which are whole numbers even if average ranks end in ½."""
        runs = slice(self.first[row], self.first[row + 1])
        return tuple(np.repeat(np.rint(2 * self.rank[runs]), self.size[runs]).astype(int).tolist())


def rounded_sizes(difference: FloatArray, out: npt.NDArray[np.bool_], scale: FloatArray) -> FloatArray:
    """Return absolute differences (P, M) as whole numbers of rounding steps; 0 for excluded differences and NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.rint(np.abs(difference) / (ROUNDING * scale)[:, None])
    return np.where(out | np.isnan(difference), 0.0, steps)


def _signed_ranks(difference: FloatArray, zero: npt.NDArray[np.bool_], scale: FloatArray) -> _SignedRanks:
    """Rank absolute differences by one sort of whole numbers whose last bit is the sign."""
    rows, out = len(difference), zero | np.isnan(difference)
    steps = rounded_sizes(difference, out, scale)
    keys = np.where(out, _LAST, 2 * steps.astype(np.int64) + (difference > 0))
    keys.sort(axis=1)
    n = keys.shape[1] - out.sum(axis=1)
    keys = keys[np.arange(keys.shape[1]) < n[:, None]]
    row, size_before = np.repeat(np.arange(rows), n), np.cumsum(n) - n
    begins = np.ones(len(keys), dtype=np.bool_)
    begins[1:] = (keys[1:] >> 1 != keys[:-1] >> 1) | (row[1:] != row[:-1])
    start = np.flatnonzero(begins)
    size, of_row = np.diff(np.append(start, len(keys))), row[start]
    rank = start - size_before[of_row] + (size + 1) / 2
    above = np.add.reduceat(keys & 1, start) if len(start) else np.empty(0)
    return _SignedRanks(
        n,
        np.asarray(np.bincount(of_row, above * rank, minlength=rows), dtype=np.float64),
        np.asarray(np.bincount(of_row, size.astype(np.float64) ** 3 - size, minlength=rows), dtype=np.float64),
        np.searchsorted(of_row, np.arange(rows + 1)),
        rank,
        size,
    )


def signed_sum_p(sizes: Sequence[int], positive: float, alternative: Alternative) -> float:
    """Return the p-value of a sum of positive ranks over all signs; `sizes` are whole numbers such as doubled ranks."""
    chances, at = _sum_chances(tuple(sizes)), round(positive)
    greater, less = float(chances[at:].sum()), float(chances[: at + 1].sum())
    chosen = {"greater": greater, "less": less, "two-sided": 2 * min(greater, less)}[alternative]
    return min(chosen, 1.0)


@lru_cache(maxsize=256)
def _sum_chances(sizes: tuple[int, ...]) -> FloatArray:
    """Return P(sum = 0, 1, …) if each of some whole numbers above 0 is added with probability 1/2."""
    chances = np.zeros(sum(sizes) + 1)
    chances[0] = 1.0
    for size in sizes:
        chances /= 2
        chances[size:] += chances[:-size].copy()
    return chances
