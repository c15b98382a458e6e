"""Correlations under resampling: bootstrap of systems and inputs, permutation of two metrics. Arrays only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..core.columns import FloatArray
from ..core.statistics import run_jobs
from .correlate import Level, cells, mean_rows, system_means
from .kernels import Coefficient, column_correlations, rounding, row_correlations

Resampled = Literal["systems", "inputs", "both"]
Task = Callable[[int, np.random.Generator], FloatArray]

_ENTRIES = 4_000_000  # numbers that a block of resamples holds: 32 MB
_MOST = 250  # resamples in a block: small enough to share among processes


def in_blocks(task: Task, n: int, entries: int, rng: np.random.Generator, n_jobs: int, progress: str) -> FloatArray:
    """Return what a task makes of n resamples, shape (…, n): the same for one generator, whatever `n_jobs`.

    Parameters
    ----------
    task : callable
        (number of resamples, generator) → array, shape (…, number).
    entries : int
        Numbers that one resample holds.
    n_jobs : int
        Processes; −1 for one per core.
    progress : str
        What the progress bar is called; empty for none.
    """
    most = max(1, min(_MOST, _ENTRIES // max(1, entries)))
    sizes = [min(most, n - start) for start in range(0, n, most)]
    seeds = rng.integers(2**63, size=len(sizes))
    jobs = [partial(_seeded, task, size, int(seed)) for size, seed in zip(sizes, seeds, strict=True)]
    found = run_jobs(jobs, n_jobs, progress)
    return np.concatenate(found, axis=-1)


def _seeded(task: Task, size: int, seed: int) -> FloatArray:
    return task(size, np.random.default_rng(seed))


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
    """Return the correlation of each metric in each resample, shape (metrics, B): the same resamples for all.

    Parameters
    ----------
    metrics : tuple of ndarray, each (N, M)
    human : ndarray, shape (N, M)
    level, coefficient : str
    resampled : {"systems", "inputs", "both"}
    paired_inputs : bool
        Whether metrics and humans are given the same inputs; else each side its own, at system level.
    size : int
        Number of resamples B.
    rng : numpy.random.Generator
    """
    systems = _draw(len(human), size, rng, resampled != "inputs")
    inputs = _draw(metrics[0].shape[1], size, rng, resampled != "systems")
    of_human = inputs if paired_inputs else _draw(human.shape[1], size, rng, resampled != "systems")
    found = [_of_resamples(x, human, level, coefficient, systems, (inputs, of_human)) for x in metrics]
    return np.stack([np.broadcast_to(values, size) for values in found])


def _draw(n: int, size: int, rng: np.random.Generator, resampled: bool) -> FloatArray:
    """Return how often each of n is drawn in each of n draws with replacement, shape (B, n); (1, n) of ones if not."""
    if not resampled:
        return np.ones((1, n))
    drawn = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


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


def averaged(found: FloatArray, inputs: FloatArray) -> FloatArray:
    """Return the mean of the correlations that are defined, (B, M), each as often as its input was drawn, (B,)."""
    weights = inputs * ~np.isnan(found)
    total = weights.sum(axis=1)
    mean = (np.where(np.isnan(found), 0.0, found) * weights).sum(axis=1) / np.where(total > 0, total, 1.0)
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
    swap = rng.integers(2, size=shape, dtype=np.bool_)
    return swapped_difference(x, y, human, level, coefficient, swap)


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
    a, b, weights, (_, tolerance) = mean_rows(x, human)
    there = ~np.isnan(x)
    step = np.where(there, y - x, 0.0) / np.maximum(there.sum(axis=1, keepdims=True), 1)
    if swap.shape[2] > 1:
        moved = a + np.einsum("bnm,nm->bn", np.broadcast_to(swap, (len(swap), *x.shape)).astype(np.float64), step)
    else:
        moved = a + swap[:, :, 0] * step.sum(axis=1)
    return row_correlations(moved, b, weights, coefficient, (max(rounding(x), rounding(y)), tolerance))
