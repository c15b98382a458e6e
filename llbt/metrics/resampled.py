"""Correlations under resampling: bootstrap of systems and inputs, permutation of two metrics. Arrays only."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from ..core.columns import FloatArray
from ..resampling import drawn_swaps, drawn_weights
from .correlate import Level, cells, mean_rows, system_means
from .kernels import Coefficient, column_correlations, rounding, row_correlations

Resampled = Literal["systems", "inputs", "both"]
# -- bootstrap -------------------------------------------------------------------------------------------------------


def bootstrap_correlations(
    metrics: tuple[FloatArray, ...],
    human: FloatArray,
    level: Level,
    coefficient: Coefficient,
    resampled: Resampled,
    paired_inputs: bool,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the correlation of each metric in each resample, shape (metrics, B); all metrics share the resamples.

    Parameters
    ----------
    metrics : tuple of ndarray, each (N, M)
    human : ndarray, shape (N, M)
    level, coefficient : str
    resampled : {"systems", "inputs", "both"}
    paired_inputs : bool
        Whether metrics and humans have the same drawn inputs; otherwise, at system level, each side has its own.
    size : int
        Number of resamples B.
    rng : numpy.random.Generator
    """
    by_system, by_input = resampled != "inputs", resampled != "systems"
    systems = drawn_weights(len(human), size, rng) if by_system else np.ones((1, len(human)))
    inputs, of_human = (
        drawn_weights(x.shape[1], size, rng) if by_input else np.ones((1, x.shape[1])) for x in (metrics[0], human)
    )
    of_human = inputs if paired_inputs else of_human
    correlations = [_of_resamples(x, human, level, coefficient, systems, (inputs, of_human)) for x in metrics]
    return np.stack([np.broadcast_to(values, size) for values in correlations])


def _of_resamples(
    x: FloatArray,
    z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    systems: FloatArray,
    inputs: tuple[FloatArray, FloatArray],
) -> FloatArray:
    if level == "input":
        return averaged(column_correlations(x, z, systems, coefficient), inputs[0])
    if level == "system":
        (a, there), (b, also) = (system_means(side, drawn) for side, drawn in zip((x, z), inputs, strict=True))
        return row_correlations(a, b, systems * (there & also), coefficient, (rounding(x), rounding(z)))
    a, b, present = cells(x, z)
    weights = (systems[:, :, None] * inputs[0][:, None, :]).reshape(-1, x.size) * present
    return row_correlations(a, b, weights, coefficient, (0.0, 0.0))


def averaged(correlations: FloatArray, inputs: FloatArray) -> FloatArray:
    """Return the mean of the defined correlations (B, M), weighted by how often each input was drawn, shape (B,)."""
    weights = inputs * ~np.isnan(correlations)
    total = weights.sum(axis=1)
    mean = (np.where(np.isnan(correlations), 0.0, correlations) * weights).sum(axis=1) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, np.nan)


# -- permutation -----------------------------------------------------------------------------------------------------


def permuted_differences(
    x: FloatArray,
    y: FloatArray,
    human: FloatArray,
    level: Level,
    coefficient: Coefficient,
    swapped: Resampled,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return r(X*, Z) − r(Y*, Z) where X* and Y* are X and Y with cells swapped by coin tosses, shape (B,).

    Parameters
    ----------
    x, y : ndarray, shape (N, M)
        Standardized scores of two metrics, missing in the same cells.
    human : ndarray, shape (N, M)
    level, coefficient : str
    swapped : {"systems", "inputs", "both"}
        Whole rows, whole columns or single cells.
    size : int
    rng : numpy.random.Generator
    """
    shape = (size, 1 if swapped == "inputs" else len(x), 1 if swapped == "systems" else x.shape[1])
    return swapped_difference(x, y, human, level, coefficient, drawn_swaps(shape, rng))


def swapped_difference(
    x: FloatArray,
    y: FloatArray,
    human: FloatArray,
    level: Level,
    coefficient: Coefficient,
    swap: npt.NDArray[np.bool_],
) -> FloatArray:
    """Return r(X*, Z) − r(Y*, Z), (B,), for swaps of shape (B, N or 1, M or 1)."""
    if level == "input":
        return _swapped_columns(x, y, human, coefficient, swap)
    one, other = (_swapped_rows(first, second, human, level, coefficient, swap) for first, second in ((x, y), (y, x)))
    return np.asarray(one - other)


def _swapped_columns(
    x: FloatArray, y: FloatArray, human: FloatArray, coefficient: Coefficient, swap: npt.NDArray[np.bool_]
) -> FloatArray:
    """Return the differences at input level: a swapped column is a choice among the 2N scores of both metrics."""
    chosen = np.broadcast_to(swap, (len(swap), *(x.shape if swap.shape[2] > 1 else (len(x), 1)))).astype(np.float64)
    weights = np.concatenate([1 - chosen, chosen], axis=1).transpose(2, 0, 1)
    weights = weights if swap.shape[2] > 1 else weights[0]
    stacked, humans = np.concatenate([x, y]), np.concatenate([human, human])
    every = np.ones((1, x.shape[1]))
    one, other = (averaged(column_correlations(stacked, humans, w, coefficient), every) for w in (weights, 1 - weights))
    return np.asarray(one - other)


def _swapped_rows(
    x: FloatArray,
    y: FloatArray,
    human: FloatArray,
    level: Level,
    coefficient: Coefficient,
    swap: npt.NDArray[np.bool_],
) -> FloatArray:
    if level == "global":
        a, b, present = cells(x, human)
        moved = np.where(np.broadcast_to(swap, (len(swap), *x.shape)).reshape(len(swap), -1), cells(y, human)[0], a)
        return row_correlations(moved, b, present, coefficient, (0.0, 0.0))
    _, b, weights, (_, tolerance) = mean_rows(x, human)
    moved = swapped_means(x, y, swap)
    return row_correlations(moved, b, weights, coefficient, (max(rounding(x), rounding(y)), tolerance))


def swapped_means(x: FloatArray, y: FloatArray, swap: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the systems' means of X*, (B, N), for swaps of shape (B, N or 1, M or 1); 0 where there is no score."""
    means, there = system_means(x, np.ones((1, x.shape[1])))[0], ~np.isnan(x)
    step = np.where(there, y - x, 0.0) / np.maximum(there.sum(axis=1, keepdims=True), 1)
    if swap.shape[2] > 1:
        return np.asarray(
            means + np.einsum("bnm,nm->bn", np.broadcast_to(swap, (len(swap), *x.shape)).astype(np.float64), step)
        )
    return np.asarray(means + swap[:, :, 0] * step.sum(axis=1))
