"""Plain scipy for many objects: Newton's method by `scipy.sparse.linalg.cg` on the pairs judged, nothing checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from .inputs import Array

PRIOR = 0.1  # judgments of each pair, where very many objects would have infinite estimates


def pair_counts(i: Array, j: Array, outcome: Array, size: int) -> tuple[Array, Array, Array]:
    """Return the distinct pairs, shape (E,) each, and counts (E, 3): wins of the first, ties, wins of the second."""
    turned = i > j
    key = np.where(turned, j, i).astype(np.int64) * size + np.where(turned, i, j)
    pairs, edge = np.unique(key, return_inverse=True)
    said = np.where(turned, 2 - outcome, outcome)
    counts = np.bincount(edge * 3 + said, minlength=3 * len(pairs)).reshape(-1, 3).astype(float)
    return pairs // size, pairs % size, counts


def fit(
    i: Array, j: Array, outcome: Array, size: int, *, tolerance: float = 1e-6, prior: float = 0.0
) -> dict[str, Any]:
    """Return centred log-odds and γ of Davidson's ties, by steps solved to a share of their length.

    Each pair is given `prior` judgments, split equally over the outcomes.
    """
    first, second, counts = pair_counts(i, j, outcome, size)
    counts += prior / 3
    totals = counts.sum(axis=1)
    point = np.zeros(size + 1)
    for _ in range(50):
        score, worths, cross, spread = _moments(first, second, counts, totals, point)
        matrix = csr_array((np.r_[-worths, -worths], (np.r_[first, second], np.r_[second, first])), shape=(size, size))
        diagonal = np.bincount(first, worths, size) + np.bincount(second, worths, size)
        border = np.bincount(first, cross, size) - np.bincount(second, cross, size)

        def times(v: Array, parts: tuple[Any, ...] = (matrix, diagonal, border, spread)) -> Array:
            pairs, own, tied, corner = parts
            return np.r_[pairs @ v[:-1] + own * v[:-1] + tied * v[-1], tied @ v[:-1] + corner * v[-1]]

        inverse = 1 / np.r_[diagonal, spread]
        shape = (size + 1, size + 1)
        eased = LinearOperator(shape, matvec=lambda v, inverse=inverse: inverse * v)
        step, _ = cg(LinearOperator(shape, matvec=times), score, rtol=tolerance, M=eased)
        point += step
        if score @ step < 1e-18:
            break
    return {"log_odds": 2 * (point[:-1] - point[:-1].mean()), "tie": point[-1]}


def _moments(
    first: Array, second: Array, counts: Array, totals: Array, point: Array
) -> tuple[Array, Array, Array, float]:
    """Return the score and, of pairs, the information of the worths, that shared with γ, and that of γ."""
    size = len(point) - 1
    up = np.exp(point[first] - point[second])
    norm = up + 1 / up + np.exp(point[-1])
    mean, tied = (up - 1 / up) / norm, np.exp(point[-1]) / norm
    excess = counts[:, 0] - counts[:, 2] - totals * mean
    worths = np.bincount(first, excess, size) - np.bincount(second, excess, size)
    worths -= worths.mean()  # what rounding leaves of their sum no step takes away
    score = np.r_[worths, counts[:, 1].sum() - totals @ tied]
    return score, totals * (1 - tied - mean**2), -totals * mean * tied, float(totals @ (tied * (1 - tied)))
