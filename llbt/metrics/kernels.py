"""Correlations of many resamples at once: arrays in, arrays out.

N systems, M inputs, B resamples. A resample is a vector of weights: how often each system was drawn. Every coefficient
is computed from the weights, so that no resample is ever written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..core.columns import FloatArray

Coefficient = Literal["pearson", "spearman", "kendall"]

NAMES: dict[Coefficient, str] = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "kendall": "Kendall's τ-b"}
LEAST = 3  # of two systems every coefficient is ±1, whatever the metric
_ROUNDING = 1e-12  # relative, as for scores elsewhere
_ENTRIES = 4_000_000  # numbers held at once: 32 MB
_MOST_PAIRED = 200  # values in a row up to which Kendall's τ compares all pairs


def settled(x: FloatArray) -> FloatArray:
    """Return scores in which values that differ only by rounding are set equal.

    Scores are sorted. A score is equal to the one before it if they differ by at most 1e-12 times the larger one, and
    by at most 1e-12 times the spread of all scores.

    Parameters
    ----------
    x : ndarray, any shape
        NaN where a score is missing.
    """
    there = ~np.isnan(x)
    if not there.any():
        return x
    distinct, place = np.unique(x[there], return_inverse=True)
    first = np.maximum.accumulate(np.where(np.append(True, apart(distinct)), np.arange(len(distinct)), 0))
    made = x.copy()
    made[there] = distinct[first][place.ravel()]
    return made


def apart(ordered: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether each sorted number differs from the one before it by more than rounding, shape (n − 1,)."""
    size = np.abs(ordered)
    with np.errstate(over="ignore"):  # 1e308 − (−1e308)
        near = _ROUNDING * np.minimum(np.maximum(size[1:], size[:-1]), ordered[-1] - ordered[0])
        return np.asarray(np.diff(ordered) > near)


def comparable(x: FloatArray) -> FloatArray:
    """Return `settled` scores, minus the score nearest to 0 if all scores are far from 0 compared with their spread.

    If scores differ by at most a factor of 2, the subtraction is exact (Sterbenz), so means are accurate to the last
    digits of the spread. Correlations do not change.
    """
    made = settled(x)
    there = made[~np.isnan(made)]
    if not there.size or (there.min() <= 0 <= there.max()):
        return made
    least = there[np.abs(there).argmin()]
    return made - least if np.abs(there).max() / 2 <= abs(least) else made


def rounding(x: FloatArray) -> float:
    """Return the largest difference that rounding alone can cause between means of `comparable` scores (N, M)."""
    there = x[~np.isnan(x)]
    return _ROUNDING * float(np.ptp(there)) if there.size and x.shape[1] > 1 else 0.0


def column_correlations(x: FloatArray, z: FloatArray, weights: FloatArray, coefficient: Coefficient) -> FloatArray:
    """Return the correlation of every column in every resample, shape (B, M); NaN where it is undefined.

    Parameters
    ----------
    x, z : ndarray, shape (N, M)
        NaN for missing cells.
    weights : ndarray, shape (B, N) or (M, B, N)
        How often each resample has each system: the same for all columns, or for each column.
    coefficient : {"pearson", "spearman", "kendall"}
    """
    kernel = {"pearson": _columns_pearson, "spearman": _columns_spearman, "kendall": _columns_kendall}[coefficient]
    correlations = np.empty((weights.shape[-2], x.shape[1]))
    for columns in _chunks(x.shape[1], max(correlations.shape[0], len(x)) * len(x)):
        there = ~np.isnan(x[:, columns] + z[:, columns]).T
        sides = [np.where(there, side[:, columns].T, 0.0) for side in (x, z)]
        chosen = weights[columns] if weights.ndim == 3 else weights
        correlations[:, columns] = kernel(sides[0], sides[1], there, chosen).T
    return correlations


def row_correlations(
    x: FloatArray, z: FloatArray, weights: FloatArray, coefficient: Coefficient, tolerance: tuple[float, float]
) -> FloatArray:
    """Return the correlation of every row, shape (B,); NaN where it is undefined.

    Parameters
    ----------
    x, z : ndarray, shape (B, T) or (1, T)
        T values per row, all finite; a value with weight 0 has no effect.
    weights : ndarray, shape (B, T) or (1, T)
        How often each value counts; 0 where it is missing.
    coefficient : {"pearson", "spearman", "kendall"}
    tolerance : tuple of float
        Values of x (and of z) that differ by no more than this are equal.
    """
    if coefficient == "kendall":
        return _rows_kendall(x, z, weights, tolerance)
    center = _centred if coefficient == "pearson" else _centred_ranks
    a, b = (center(side, weights, tol) for side, tol in zip((x, z), tolerance, strict=True))
    return _quotient((weights * a * b).sum(axis=-1), (weights * a * a).sum(axis=-1), (weights * b * b).sum(axis=-1))


def plain_correlations(x: FloatArray, z: FloatArray, coefficient: Coefficient) -> FloatArray:
    """Return the correlation of each row of x with the same row of z, both (B, n) and complete, shape (B,).

    NaN for rows that are constant in x or z, and where n < `LEAST`.
    """
    if x.shape[1] < LEAST:
        return np.full(len(x), np.nan)
    return row_correlations(x, z, np.ones((1, x.shape[1])), coefficient, (0.0, 0.0))


def _chunks(size: int, each: int) -> Iterator[slice]:
    step = max(1, _ENTRIES // max(1, each))
    return (slice(start, start + step) for start in range(0, size, step))


def _quotient(shared: FloatArray, of_x: FloatArray, of_z: FloatArray) -> FloatArray:
    """Return shared / √(of_x · of_z), limited to −1 and 1; NaN where of_x or of_z is 0."""
    defined = (of_x > 0) & (of_z > 0)
    root = np.sqrt(np.where(defined, of_x * of_z, 1.0))
    return np.where(defined, np.clip(shared / root, -1.0, 1.0), np.nan)


# -- columns: x, z, there are (M, N), weights (B, N) or (M, B, N); what comes back is (M, B) -------------------------


def _columns_pearson(x: FloatArray, z: FloatArray, there: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    a, b, codes = _scaled(x, there), _scaled(z, there), [_codes(side, there) for side in (x, z)]
    features = np.stack([there, a, b, a * a, b * b, a * b, *codes, *(code**2 for code in codes)], axis=-1)
    n, s_a, s_b, s_aa, s_bb, s_ab, c_x, c_z, c_xx, c_zz = np.moveaxis(weights @ features, -1, 0)
    varies = (n * c_xx > c_x**2) & (n * c_zz > c_z**2)  # whole numbers: exact, as n·s_aa − s_a² is not
    of_x, of_z = (np.where(varies, n * s - t**2, 0.0) for s, t in ((s_aa, s_a), (s_bb, s_b)))
    return _quotient(n * s_ab - s_a * s_b, of_x, of_z)


def _columns_spearman(x: FloatArray, z: FloatArray, there: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    a, b = (weights @ -_column_signs(side, there) for side in (x, z))  # centred midranks, twice
    present = weights * there[:, None, :]

    def summed(left: FloatArray, right: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("mbn,mbn,mbn->mb", present, left, right))

    return _quotient(summed(a, b), summed(a, a), summed(b, b))


def _columns_kendall(x: FloatArray, z: FloatArray, there: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    a, b = (_column_signs(side, there) for side in (x, z))

    each = "mbn,mbn->mb" if weights.ndim == 3 else "mbn,bn->mb"

    def summed(pairs: FloatArray) -> FloatArray:
        return np.asarray(np.einsum(each, weights @ pairs, weights))

    return _quotient(summed(a * b), summed(np.abs(a)), summed(np.abs(b)))


def _column_signs(x: FloatArray, there: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the signs of the differences in each column, shape (M, N, N); 0 where one of the two is missing."""
    return np.sign(x[:, :, None] - x[:, None, :]) * (there[:, :, None] & there[:, None, :])


def _scaled(x: FloatArray, there: npt.NDArray[np.bool_]) -> FloatArray:
    """Return columns centred at 0 and scaled to a largest absolute value of 1; 0 where a score is missing."""
    centred = np.where(there, x - x.sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1), 0.0)
    largest = np.abs(centred).max(axis=1, keepdims=True)
    return np.asarray(centred / np.where(largest > 0, largest, 1.0))


def _codes(x: FloatArray, there: npt.NDArray[np.bool_]) -> FloatArray:
    """Return integer codes for the values of each column: equal values have equal codes, missing values have 0."""
    order = np.argsort(x, axis=1)
    codes = np.zeros(x.shape)
    steps = np.cumsum(np.diff(np.take_along_axis(x, order, axis=1), axis=1) > 0, axis=1)
    np.put_along_axis(codes, order[:, 1:], steps.astype(np.float64), axis=1)
    return np.where(there, codes, 0.0)


# -- rows ------------------------------------------------------------------------------------------------------------


def _centred(x: FloatArray, weights: FloatArray, tolerance: float) -> FloatArray:
    """Return rows minus their weighted means, divided by their range; exactly 0 where a row is constant."""
    x, weights = np.broadcast_arrays(x, weights)
    present = weights > 0
    low = np.min(x, axis=-1, keepdims=True, initial=np.inf, where=present)
    high = np.max(x, axis=-1, keepdims=True, initial=-np.inf, where=present)
    total = np.maximum(weights.sum(axis=-1, keepdims=True), 1)
    deviation = np.where(present, x - (weights * x).sum(axis=-1, keepdims=True) / total, 0.0)
    varies = high - low > tolerance
    return np.where(varies, deviation / np.where(varies, high - low, 1.0), 0.0)


def _centred_ranks(x: FloatArray, weights: FloatArray, tolerance: float) -> FloatArray:
    """Return midranks minus their mean, where each value counts as often as its weight says."""
    x, weights = np.broadcast_arrays(x, weights)
    present = np.where(weights > 0, x, np.inf)  # what is missing stands last and counts 0 times
    order = np.argsort(present, axis=-1, kind="stable")
    ordered, counted = (np.take_along_axis(values, order, axis=-1) for values in (present, weights))
    with np.errstate(invalid="ignore"):
        gap = ~(np.diff(ordered, axis=-1) <= tolerance)
    edge = np.ones((*gap.shape[:-1], 1), dtype=np.bool_)
    upto = np.cumsum(counted, axis=-1)
    below = np.maximum.accumulate(np.where(np.concatenate([edge, gap], axis=-1), upto - counted, 0.0), axis=-1)
    last = np.where(np.concatenate([gap, edge], axis=-1), upto, np.inf)
    through = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    centred = np.empty(x.shape)
    np.put_along_axis(centred, order, (below + through - upto[..., -1:]) / 2, axis=-1)
    return centred


def _rows_kendall(x: FloatArray, z: FloatArray, weights: FloatArray, tolerance: tuple[float, float]) -> FloatArray:
    if x.shape[-1] > _MOST_PAIRED:
        return _rows_kendall_sorted(x, z, weights, tolerance)
    i, k = np.triu_indices(x.shape[-1], 1)
    both = weights[:, i] * weights[:, k]
    a, b = (_signs(side[:, i] - side[:, k], tol) for side, tol in zip((x, z), tolerance, strict=True))

    def summed(pairs: FloatArray) -> FloatArray:
        return np.asarray((pairs * both).sum(axis=-1))

    return _quotient(summed(a * b), summed(np.abs(a)), summed(np.abs(b)))


def _signs(difference: FloatArray, tolerance: float) -> FloatArray:
    return np.where(np.abs(difference) <= tolerance, 0.0, np.sign(difference))


def _rows_kendall_sorted(
    x: FloatArray, z: FloatArray, weights: FloatArray, tolerance: tuple[float, float]
) -> FloatArray:
    """Return Kendall's τ of each row of T values, in T·log T steps."""
    size = max(len(x), len(z), len(weights))
    ranks = [_centred_ranks(side, weights, tol) for side, tol in zip((x, z), tolerance, strict=True)]
    rows = [np.broadcast_to(array, (size, x.shape[-1])) for array in (*ranks, weights)]
    tau = np.full(size, np.nan)
    for b, (a, c, counted) in enumerate(zip(*rows, strict=True)):
        drawn = np.repeat(np.arange(len(a)), counted.astype(np.int64))
        if len(drawn) > 1 and np.ptp(a[drawn]) > 0 and np.ptp(c[drawn]) > 0:
            tau[b] = stats.kendalltau(a[drawn], c[drawn], method="asymptotic").statistic
    return tau
