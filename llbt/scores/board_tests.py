"""The tests behind a leaderboard of scores: every pair of its rows, arrays in and arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..core.columns import FloatArray, IntArray
from ..data.system_scores import FIRST, ROUNDING, SECOND, TieRule
from ..resampling import shown
from .board_counts import mcnemar_p, mean_difference, pair_counts
from .grouped_tests import Units, blocks, means, signed_ranks, t_p
from .paired_tests import largest, pair_up, signed_sum_p, wilcoxon_test
from .sign_flips import MOST_EXACT, MOST_LISTED, exact_flip_p, flip_p, listed_flip_p

BoardTest = Literal["wilcoxon", "t", "mcnemar", "permutation"]

_MOST_WHOLE = 2**15  # instances on which two systems differ, up to which the sums of groups have their own distribution


@dataclass(frozen=True, eq=False)
class BoardPairs:
    """The results for P pairs; each array has P rows.

    Attributes
    ----------
    n : ndarray of int
        Number of instances with both scores.
    counts : ndarray, shape (P, 3)
        Instances where i wins, ties, and instances where j wins, by the rule for ties.
    estimate : ndarray
        Means of the differences i − j, the higher the better for i.
    ahead : ndarray
        Which system is ahead by the statistic of the test: positive for i, negative for j, 0 for neither.
    statistic, p_value : ndarray
        Two-sided; NaN if the test is not defined, or if its signs are drawn later (`drawn`).
    units : ndarray of int
        The number of independent units, instances or groups, whose difference is not 0; they decide the test.
    drawn : ndarray of bool
        Whether the test has too many units to enumerate all signs.
    """

    n: IntArray
    counts: FloatArray
    estimate: FloatArray
    ahead: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    units: IntArray
    drawn: npt.NDArray[np.bool_]


def board_pairs(
    values: FloatArray, pairs: IntArray, rule: TieRule, units: Units, test: BoardTest, progress: bool = False
) -> BoardPairs:
    """Test pairs of rows of values (N, M), higher values being better, on the instances that both have."""
    if test == "mcnemar" and not (rule.threshold or units.parts) and (units.single or not np.isnan(values).any()):
        return _by_counts(values, pairs, units)
    parts = [pairs[rows] for rows in blocks(len(pairs), values.shape[1])]
    sizes = [len(part) for part in parts]
    tested = [
        _tested(values[i], values[j], rule, units, test)
        for i, j in (part.T for part in shown("scores.leaderboard", parts, progress, sizes))
    ]
    return BoardPairs(
        np.concatenate([block.n for block in tested]),
        np.concatenate([block.counts for block in tested]),
        np.concatenate([block.estimate for block in tested]),
        np.concatenate([block.ahead for block in tested]),
        np.concatenate([block.statistic for block in tested]),
        np.concatenate([block.p_value for block in tested]),
        np.concatenate([block.units for block in tested]),
        np.concatenate([block.drawn for block in tested]),
    )


def _by_counts(values: FloatArray, pairs: IntArray, units: Units) -> BoardPairs:
    """Test pairs of systems with two-valued scores (0 and 1, or 0 and −1) by how often only one of them is right.

    With groups of items no score may be missing: the difference in a group is the sum of i minus the sum of j.
    """
    counts = pair_counts(values, pairs)
    wins, fewer = counts[:, 0] - counts[:, 2], np.minimum(counts[:, 0], counts[:, 2])
    decided = (counts[:, 0] + counts[:, 2]).astype(np.int64)
    number, p_value = decided, mcnemar_p(counts) if units.single else np.empty(0)
    if not units.single:
        sums, number, p_value = units.sums(values), np.empty(len(pairs), dtype=np.int64), np.empty(len(pairs))
        for rows in blocks(len(pairs), units.number):
            apart = sums[pairs[rows, 0]] - sums[pairs[rows, 1]]
            number[rows], p_value[rows] = np.count_nonzero(apart, axis=1), _whole_p(apart)
        p_value[decided == 0] = np.nan
    return BoardPairs(
        counts.sum(axis=1).astype(np.int64),
        counts,
        mean_difference(counts),
        wins,
        np.where(decided > 0, fewer, np.nan),
        p_value,
        number,
        np.zeros(len(pairs), dtype=np.bool_),
    )


@dataclass(frozen=True, eq=False)
class _Differences:
    """Differences of P pairs on M instances.

    Attributes
    ----------
    values : ndarray, shape (P, M)
        NaN where i or j has no score.
    zero : ndarray of bool, shape (P, M)
        Whether a difference is only rounding error.
    scale : ndarray, shape (P,)
        The largest absolute score.
    """

    values: FloatArray
    zero: npt.NDArray[np.bool_]
    scale: FloatArray


@dataclass(frozen=True, eq=False)
class _Found:
    """The results of a test for P pairs; the attributes are those of `BoardPairs`."""

    ahead: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    units: IntArray


def _tested(i: FloatArray, j: FloatArray, rule: TieRule, units: Units, test: BoardTest) -> BoardPairs:
    """Test the difference between the scores of both sides of each pair; `i` and `j` have shape (P, M)."""
    scores = pair_up(i, j)
    larger, values = scores.larger, scores.i - scores.j
    d = _Differences(values, np.abs(values) <= ROUNDING * larger, largest(larger))
    n, outcomes = scores.n, rule.outcomes(scores.i, scores.j)
    wins_i, wins_j = (np.count_nonzero(outcomes == side, axis=1) for side in (FIRST, SECOND))
    counts = np.column_stack([wins_i, n - wins_i - wins_j, wins_j]).astype(np.float64)
    tested = _TESTS[test](d, units)
    drawn = (tested.units > MOST_EXACT) & (n > 0) & (test == "permutation")
    mean = means(d.values, units, d.scale).mean
    return BoardPairs(n, counts, mean, tested.ahead, tested.statistic, tested.p_value, tested.units, drawn)


def _t(d: _Differences, units: Units) -> _Found:
    mean_test = means(d.values, units, d.scale)
    statistic, p_value = t_p(mean_test)
    return _Found(
        np.nan_to_num(mean_test.mean), statistic, p_value, np.count_nonzero(units.sums(~np.isnan(d.values)), axis=1)
    )


def _wilcoxon(d: _Differences, units: Units) -> _Found:
    if units.single:
        test = wilcoxon_test(d.values, d.zero, d.scale, "two-sided")
        number = np.sum(~d.zero & ~np.isnan(d.values), axis=1)
        return _Found(np.nan_to_num(test.effect), test.statistic, test.p_value, number)
    ranks = signed_ranks(d.values, d.zero, d.scale)
    sums, some = units.sums(ranks), ranks.any(axis=1)
    positive = np.where(some, np.maximum(ranks, 0).sum(axis=1), np.nan)
    p_value = np.where(some, flip_p(sums), np.nan)
    return _Found(sums.sum(axis=1), positive, p_value, np.count_nonzero(sums, axis=1))


def _mcnemar(d: _Differences, units: Units) -> _Found:
    signs = np.sign(np.where(d.zero, 0.0, np.nan_to_num(d.values)))
    wins, losses = (signs > 0).sum(axis=1), (signs < 0).sum(axis=1)
    sums = units.sums(signs)
    some = wins + losses > 0
    fewer = np.where(some, np.minimum(wins, losses), np.nan)
    return _Found(sums.sum(axis=1), fewer, np.where(some, _whole_p(sums), np.nan), np.count_nonzero(sums, axis=1))


def _whole_p(sums: FloatArray) -> FloatArray:
    """Return P(|Σ ± s| ≥ |Σ s|) over all signs of integer sums (P, G), such as wins minus losses of groups."""
    if sums.shape[1] <= MOST_LISTED:
        return listed_flip_p(sums)
    return np.array([_whole_p_of(row[row != 0]) for row in sums])


def _whole_p_of(sums: FloatArray) -> float:
    sizes = np.sort(np.abs(sums)).astype(np.int64)
    if not len(sizes):
        return 1.0
    if sizes.sum() > _MOST_WHOLE:
        return float(flip_p(sums[None, :])[0])
    return signed_sum_p(sizes.tolist(), float(sums[sums > 0].sum()), "two-sided")


def _permutation(d: _Differences, units: Units) -> _Found:
    sums = units.sums(np.where(d.zero, 0.0, d.values * units.weights))
    number = np.count_nonzero(sums, axis=1)
    total, n = sums.sum(axis=1), np.sum(~np.isnan(d.values), axis=1)
    p_value = np.full(len(sums), np.nan)
    if sums.shape[1] <= MOST_LISTED:
        p_value = np.where(n > 0, listed_flip_p(sums), np.nan)
    for row in np.flatnonzero((number <= MOST_EXACT) & (n > 0) & np.isnan(p_value)).tolist():
        p_value[row] = exact_flip_p(sums[row][sums[row] != 0])
    mean = means(d.values, units, d.scale).mean
    return _Found(total, mean, p_value, number)


_TESTS = {"wilcoxon": _wilcoxon, "t": _t, "mcnemar": _mcnemar, "permutation": _permutation}


def least_p(units: Sequence[int], test: BoardTest) -> float:
    """Return the smallest possible p-value of a sign-flip test with these numbers of units; 0 for the t test."""
    return 0.0 if test == "t" else 2.0 ** (1 - max(units, default=0))
