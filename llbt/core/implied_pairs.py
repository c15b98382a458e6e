"""The pairs of objects that a list implies: which object is preferred, and by how much if both were rated."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .columns import FloatArray, IntArray
from .grades import graded_outcomes
from .response import THREE, Response

ROUNDING = 1e-12  # relative rounding error; a mean of ratings or 0.3 − 0.2 is off by some 1e-16


def implied_pairs(
    items: IntArray,
    ranks: IntArray,
    placed: npt.NDArray[np.bool_],
    ratings: FloatArray | None,
    bounds: tuple[float, ...],
) -> tuple[IntArray, IntArray, npt.NDArray[np.int8], FloatArray, IntArray]:
    """Return the pairs that Q lists of one size imply, except pairs of two objects without a place.

    Parameters
    ----------
    items, ranks, placed : ndarray, each (Q, size)
        Objects, their ranks (the lowest is the best), and whether each object has a place.
    ratings : ndarray, shape (Q, size), or None
    bounds : tuple of float
        Differences of ratings beyond which a preference has the next grade, the smallest first. Without bounds only the
        ranks decide.

    Returns
    -------
    i, j : ndarray of int, each (R,)
        The two objects of each pair, i before j in the order of the objects.
    wins : ndarray of int8, shape (R,)
        1 if i is preferred, 0 for a tie, −1 if j is preferred.
    sizes : ndarray, shape (R,)
        The number of bounds that the difference of the ratings exceeds; empty without bounds.
    row : ndarray of int, shape (R,)
        The list, from 0.
    """
    k, m = np.triu_indices(items.shape[1], 1)
    better, worse = ranks[:, k] < ranks[:, m], ranks[:, k] > ranks[:, m]
    informative = (better | worse | placed[:, k]).ravel()
    row = np.repeat(np.arange(len(items)), len(k))
    first, second = items[:, k].ravel(), items[:, m].ravel()
    forward = np.where(first < second, np.int8(1), np.int8(-1))
    wins, sizes = forward * (better.ravel().view(np.int8) - worse.ravel().view(np.int8)), np.empty(0)
    if bounds and ratings is not None:
        sizes = _bounds_passed(ratings[:, k].ravel(), ratings[:, m].ravel(), bounds)
        wins = np.where(sizes > 0, wins, np.int8(0))
    i, j = np.minimum(first, second), np.maximum(first, second)
    if not informative.all():
        i, j, wins, row = i[informative], j[informative], wins[informative], row[informative]
        sizes = sizes[informative] if len(sizes) else sizes
    return i, j, wins, sizes, row


def _bounds_passed(first: FloatArray, second: FloatArray, bounds: tuple[float, ...]) -> FloatArray:
    """Return how many bounds the difference of two ratings exceeds by more than rounding error, shape (R,)."""
    apart, room = np.abs(first - second), ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.asarray(sum((apart > bound + room).astype(np.float64) for bound in bounds))


def outcomes_of_pairs(
    wins: npt.NDArray[np.int8], sizes: FloatArray, bounds: tuple[float, ...]
) -> tuple[npt.NDArray[Any], Response, list[str]]:
    """Return each pair's outcome (graded if there are several bounds), the response, and notes on grades."""
    if len(bounds) < 2:
        return np.int8(1) - wins, THREE, []
    return graded_outcomes(wins.astype(np.int64), sizes, (*([0] if bounds[0] else []), *range(1, len(bounds) + 1)))
