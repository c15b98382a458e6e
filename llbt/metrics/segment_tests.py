"""Tests of pairs of systems on scores of segments: arrays in, p-values out, never 0."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import stats

from ..core.columns import FloatArray, IntArray
from ..resampling import Resampler, drawn_swaps, drawn_weights, p_of_count

_ENTRIES = 4_000_000  # resampled differences held at once: 32 MB
_SMALLEST = float(np.finfo(np.float64).tiny)  # what is too small for a float is reported as this
_EQUAL = 1e-9  # relative to Σ|d|: resampled sums that differ by less are equal


def paired_t(x: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
    """Return the two-sided p-values of paired t-tests of rows i and j, shape (P,).

    Parameters
    ----------
    x : ndarray, shape (N, M)
    i, j : ndarray of int, shape (P,)

    Returns
    -------
    ndarray, shape (P,)
        1 if all differences are 0; NaN if they are all equal but not 0, and for fewer than two segments.
    """
    m = x.shape[1]
    p_values = np.full(len(i), np.nan)
    for rows in _blocks(len(i), m):
        d = x[i[rows]] - x[j[rows]]
        mean, largest = d.mean(axis=1), np.abs(d).max(axis=1)
        error = d.std(axis=1, ddof=1) / np.sqrt(m) if m > 1 else np.zeros(len(d))
        varies = error > 1e-14 * largest
        t = np.divide(mean, error, out=np.full(len(d), np.nan), where=varies)
        p = np.maximum(2 * stats.t.sf(np.abs(t), max(m - 1, 1)), _SMALLEST)
        p_values[rows] = np.where(largest == 0, 1.0 if m > 1 else np.nan, p)
    return p_values


def bootstrap(x: FloatArray, i: IntArray, j: IntArray, n: int, draw: Resampler) -> FloatArray:
    """Return the two-sided p-values of paired bootstrap tests of rows i and j (N, M), shape (P,); 1 for equal rows.

    Segments are drawn with replacement, the same for all pairs: p = 2(1 + min(#{δ* ≤ 0}, #{δ* ≥ 0}))/(n + 1), at most
    1, with δ* the mean difference of a resample.
    """
    counts = draw.blocks(partial(_bootstrapped, x, i, j), n, max(x.shape[1], len(i)))
    return np.asarray(np.minimum(1.0, 2 * p_of_count(np.sum(counts, axis=0).min(axis=0), n)))


def _bootstrapped(x: FloatArray, i: IntArray, j: IntArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return how many mean differences of resamples are at most 0, and how many are at least 0, shape (2, P)."""
    counts = np.zeros((2, len(i)))
    weights = drawn_weights(x.shape[1], size, rng)
    for rows in _blocks(len(i), x.shape[1]):
        d = x[i[rows]] - x[j[rows]]
        moved = weights @ d.T
        slack = _EQUAL * np.abs(d).sum(axis=1)
        counts[:, rows] = (moved <= slack).sum(axis=0), (moved >= -slack).sum(axis=0)
    return counts


def sign_flips(x: FloatArray, i: IntArray, j: IntArray, n: int, draw: Resampler) -> FloatArray:
    """Return the one-sided p-values of paired permutation tests that row i is better than row j, shape (P,).

    Parameters
    ----------
    x : ndarray, shape (N, M)
        NaN where there is no score: a pair is compared on the segments that both have.
    i, j : ndarray of int, shape (P,)
    n : int
        Number of random exchanges of the two scores of each segment, the same for all pairs.

    Returns
    -------
    ndarray, shape (P,)
        p = (1/2 + #{δ* > δ} + #{δ* = δ}/2)/(n + 1): mid-p-values, with p(i, j) + p(j, i) = 1 even where permuted
        differences equal the observed one, so the order of systems does not matter. NaN without a common segment.
    """
    reached = np.sum(draw.blocks(partial(_flipped, x, i, j), n, max(x.shape[1], len(i))), axis=0)
    there = ~np.isnan(x)
    common = there.astype(np.float64) @ there.T.astype(np.float64)
    return np.where(common[i, j] > 0, p_of_count(reached - 0.5, n), np.nan)


def _flipped(x: FloatArray, i: IntArray, j: IntArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return how many permuted differences exceed the observed one, shape (P,); equal differences count half."""
    reached = np.zeros(len(i))
    signs = np.where(drawn_swaps((size, x.shape[1]), rng), -1.0, 1.0)
    for rows in _blocks(len(i), x.shape[1]):
        d = np.nan_to_num(x[i[rows]] - x[j[rows]])  # an input that one of them lacks adds nothing to either sum
        excess = signs @ d.T - d.sum(axis=1)
        slack = _EQUAL * np.abs(d).sum(axis=1)
        reached[rows] = (excess > slack).sum(axis=0) + (np.abs(excess) <= slack).sum(axis=0) / 2
    return reached


def rank_sum(z: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
    """Return the two-sided p-values of Wilcoxon's rank-sum tests of rows i and j, shape (P,).

    Parameters
    ----------
    z : ndarray, shape (N, K)
        NaN where there is no score; rows are compared as independent samples.
    i, j : ndarray of int, shape (P,)

    Returns
    -------
    ndarray, shape (P,)
        By the normal approximation with the correction for ties and for continuity; 1 where all scores are equal.
    """
    samples = [row[~np.isnan(row)] for row in z]

    def tested(first: FloatArray, second: FloatArray) -> float:
        if np.ptp(np.concatenate([first, second])) == 0:
            return 1.0
        return float(stats.mannwhitneyu(first, second, method="asymptotic").pvalue)

    p = np.array([tested(samples[a], samples[b]) for a, b in zip(i, j, strict=True)], dtype=np.float64)
    return np.maximum(p, _SMALLEST)


def _blocks(size: int, width: int) -> Iterator[slice]:
    """Return slices of rows of a given width; each slice is small enough for memory."""
    step = max(1, _ENTRIES // max(1, width))
    return (slice(start, min(size, start + step)) for start in range(0, size, step))
