"""McNemar's test of every pair of systems by counts: scores of 0 and 1 multiplied, arrays in and arrays out."""

from __future__ import annotations

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..core.statistics import ratio
from .paired_tests import sign_test_of

_BLOCK = 2**13  # items multiplied at a time; whole numbers below 2^24 are exact in single precision


def has_gaps(values: FloatArray) -> bool:
    """Return whether a score is missing."""
    return bool(np.isnan(values.min()))  # the least of values with NaN is NaN


def are_right_or_wrong(values: FloatArray) -> bool:
    """Return whether all available scores are 0 or 1."""
    return all(bool(((row == 0) | (row == 1) | np.isnan(row)).all()) for row in np.atleast_2d(values))


def pair_counts(values: FloatArray, pairs: IntArray) -> FloatArray:
    """Return the numbers of items that only i gets right, that both or neither get right, and that only j does, (P, 3).

    Parameters
    ----------
    values : ndarray, shape (N, M)
        Scores with two values, such as 0 and 1, or 0 and −1; the higher value means right. NaN without a score. Items
        with only one score of a pair do not count.
    pairs : ndarray of int, shape (P, 2)
    """
    size, low, gaps = len(values), np.nanmin(values), has_gaps(values)
    wins, both = np.zeros((size, size)), np.zeros((size, size))
    for start in range(0, values.shape[1], _BLOCK):
        part = values[:, start : start + _BLOCK]
        right = (part > low).astype(np.float32)
        if gaps:
            wrong = (part == low).astype(np.float32)
            wins += right @ wrong.T
            both += (right + wrong) @ (right + wrong).T
        else:  # one product of a matrix with itself, which takes half of the time, tells all
            wins -= right @ right.T
    if not gaps:
        wins, both = wins - np.diag(wins)[:, None], np.full((size, size), float(values.shape[1]))
    i, j = pairs.T
    return np.column_stack([wins[i, j], both[i, j] - wins[i, j] - wins[j, i], wins[j, i]])


def mcnemar_p(counts: FloatArray) -> FloatArray:
    """Return exact p-values of counts (P, 3), two-sided; NaN for pairs that never differ."""
    distinct, where = np.unique(counts[:, [0, 2]], axis=0, return_inverse=True)
    table = np.column_stack([distinct[:, 0], 0 * distinct[:, 0], distinct[:, 1]])
    return np.asarray(sign_test_of(table, "two-sided").p_value[where.ravel()])


def mean_difference(counts: FloatArray) -> FloatArray:
    """Return the mean differences i − j of counts (P, 3), NaN for pairs without a common item."""
    return ratio(counts[:, 0] - counts[:, 2], counts.sum(axis=1))
