"""Sign-flip tests of sums over independent units, with all signs or with random signs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

import numpy as np

from ..classical.sign_rules import normal_p
from ..core.columns import FloatArray, IntArray
from ..core.statistics import ratio
from ..resampling import Resampler, drawn_swaps, p_of_count
from .grouped_tests import Units
from .paired_tests import lengths

MOST_LISTED = 12  # units up to which the signs are listed, 2¹¹ of them, one of each two that mirror each other
MOST_EXACT = 24  # units up to which all signs are gone through: 2¹² sums of each half
_ENTRIES = 2**16  # numbers at a time: they stay in the processor's cache
_SAME = 1e-9  # relative to Σ|s|: sums that differ by less are equal


def flip_p(sums: FloatArray) -> FloatArray:
    """Return P(|Σ ± s| ≥ |Σ s|) over all signs of the sums (P, G) of units, (P,): exact or approximate.

    Units whose sum is 0 do not count. The p-value is exact up to `MOST_EXACT` units. With more units Σ s/√(Σ s²) is
    compared with the standard normal distribution.
    """
    if sums.shape[1] <= MOST_LISTED:
        return listed_flip_p(sums)
    p_value = normal_p(ratio(sums.sum(axis=1), lengths(sums)), "two-sided")
    for row in np.flatnonzero(np.count_nonzero(sums, axis=1) <= MOST_EXACT).tolist():
        p_value[row] = exact_flip_p(sums[row][sums[row] != 0])
    return p_value


def listed_flip_p(sums: FloatArray) -> FloatArray:
    """Return P(|Σ ± s| ≥ |Σ s|) of the sums (P, G) of few units, shape (P,), by enumeration of all signs."""
    number = sums.shape[1]
    signs = np.array([(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=number - 1)]).T
    p_values = np.empty(len(sums))
    for rows in _blocks(len(sums), signs.shape[1]):
        part = sums[rows]
        p_values[rows] = _as_far(part @ signs, np.abs(part.sum(axis=1)) - _SAME * np.abs(part).sum(axis=1))
    return np.asarray(p_values / signs.shape[1])


def exact_flip_p(sums: FloatArray) -> float:
    """Return P(|Σ ± s| ≥ |Σ s|) over all 2^U signs of sums (U,).

    The sums of one half of the units are looked up among the sorted sums of the other half, 2^(U/2) each.

    References
    ----------
    Horowitz, E. & Sahni, S. (1974). Computing partitions with applications to the knapsack problem. Journal of the ACM
    21(2), 277-292.
    """
    least = abs(sums.sum()) - _SAME * np.abs(sums).sum()
    if least <= 0:
        return 1.0
    half = len(sums) // 2
    one, other = _signed(sums[:half]), np.sort(_signed(sums[half:]))
    below = int(np.searchsorted(other, least - one, side="left").sum())
    return float(min(1.0, 2 * (len(one) * len(other) - below) / 2 ** len(sums)))


def _signed(sums: FloatArray) -> FloatArray:
    """Return Σ ± s for all signs, shape (2^U,)."""
    signed = np.zeros(1)
    for value in sums:
        signed = np.concatenate([signed + value, signed - value])
    return signed


def random_flip_p(x: FloatArray, units: Units, pairs: IntArray, n: int, draw: Resampler) -> FloatArray:
    """Return the two-sided p-values of permutation tests of the mean differences of rows of x, shape (P,).

    Parameters
    ----------
    x : ndarray, shape (N, M)
        NaN where there is no score: a pair is compared on the instances that both have.
    units : Units
        Instances whose scores are exchanged together.
    pairs : ndarray of int, shape (P, 2)
    n : int
        Number of random exchanges, the same for all pairs.

    Returns
    -------
    ndarray, shape (P,)
        p = (1 + #{|δ*| ≥ |δ|})/(n + 1).
    """
    least = _least(x, units, pairs)
    if np.isnan(x).any():
        task, entries = partial(_flipped_pairs, x, units, pairs, least), units.number
    else:  # the sums of a pair are those of either system, so that signs are multiplied with N rows, not with P
        sums = units.sums(x - x.mean(axis=0))
        task, entries = partial(_flipped_systems, sums, pairs, least), max(units.number, len(x))
    return p_of_count(np.sum(draw.blocks(task, n, entries), axis=0), n)


def _flipped_systems(
    sums: FloatArray, pairs: IntArray, least: FloatArray, size: int, rng: np.random.Generator
) -> FloatArray:
    """Return how many permuted |sums| are at least `least` (P,), computed from the systems' sums (N, G)."""
    moved = sums @ _signs(size, sums.shape[1], rng)
    counts = np.empty(len(pairs))
    for rows in _blocks(len(pairs), size):
        i, j = pairs[rows].T
        counts[rows] = _as_far(moved[i] - moved[j], least[rows])
    return counts


def _flipped_pairs(
    x: FloatArray, units: Units, pairs: IntArray, least: FloatArray, size: int, rng: np.random.Generator
) -> FloatArray:
    """Return how many permuted |sums| are at least `least` (P,), if scores are missing."""
    signs = _signs(size, units.number, rng)
    counts = np.empty(len(pairs))
    for rows in _blocks(len(pairs), max(size, x.shape[1])):
        i, j = pairs[rows].T
        counts[rows] = _as_far(units.sums(x[i] - x[j]) @ signs, least[rows])
    return counts


def _least(x: FloatArray, units: Units, pairs: IntArray) -> FloatArray:
    """Return the |sum| of each pair, minus a margin for rounding, shape (P,)."""
    least = np.empty(len(pairs))
    for rows in _blocks(len(pairs), x.shape[1]):
        i, j = pairs[rows].T
        sums = units.sums(x[i] - x[j])
        least[rows] = np.abs(sums.sum(axis=1)) - _SAME * np.abs(sums).sum(axis=1)
    return least


def _signs(size: int, number: int, rng: np.random.Generator) -> FloatArray:
    """Return random signs of the units, shape (G, size)."""
    return np.where(drawn_swaps((number, size), rng), -1.0, 1.0)


def _as_far(moved: FloatArray, least: FloatArray) -> FloatArray:
    """Return how many |sums| (P, size) are at least `least`, shape (P,)."""
    np.abs(moved, out=moved)
    return np.asarray(np.count_nonzero(moved >= least[:, None], axis=1), dtype=np.float64)


def _blocks(size: int, width: int) -> Iterator[slice]:
    """Return slices of rows such that each block stays small."""
    step = max(1, _ENTRIES // max(1, width))
    return (slice(start, min(size, start + step)) for start in range(0, size, step))
