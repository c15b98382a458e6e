"""Sums over all pairs of objects at once, for models with the same tie and order effects in every comparison.

A comparison then depends on its two objects alone: no row is gathered, and only exponentials of the objects are needed.
Comparisons of one pair that covariates split are added up. So the cost of a step grows with the square of the number of
objects, not with the number of comparisons. The table of all pairs is computed in blocks that fit into the processor's
cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .indexed_rows import FloatArray, Gathered, IntArray, Part

_EMPTY = 4  # with more pairs for each comparison, the table of all pairs is not used
_BLOCK = 1 << 14  # pairs in a block
FAR = 300.0  # beyond this predictor exponentials may overflow


@dataclass(frozen=True, eq=False)
class PairTable:
    """Judgments by the U distinct rows of object i and of object j.

    Attributes
    ----------
    rows : csr_array or ndarray, shape (U, p)
        The signed predictor of a comparison is ``rows[i] − rows[j] + order``.
    order, tie : ndarray, shape (p,)
    totals : ndarray, shape (U, U)
    has_ties : bool
    columns : ndarray of int or None, shape (U,)
        The column of each row's single 1; −1 for a row of zeros. None if rows have another form.
    """

    rows: Any
    order: FloatArray
    tie: FloatArray
    totals: FloatArray
    has_ties: bool
    columns: IntArray | None

    def moments(self, params: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """Return Σ n log(e^u + e^w + e^−u), its gradient (p,) and the information (p, p); None near an overflow."""
        weights = self._weights(params)
        if weights is None:
            return None
        sums = _summed(self.totals, *weights)
        gradient = self.rows.T @ sums.lead + self.order * sums.lead_first + self.tie * sums.tied
        return sums.value, np.asarray(gradient), self._information(sums)

    def expected(self, params: FloatArray) -> FloatArray | None:
        """Return the gradient (p,) of Σ n log(e^u + e^w + e^−u) alone; None near an overflow."""
        weights = self._weights(params)
        if weights is None:
            return None
        lead, first, tied = _summed_leads(self.totals, *weights)
        return np.asarray(self.rows.T @ lead + self.order * first + self.tie * tied)

    def reach(self, step: FloatArray) -> float:
        """Return a bound on how far a step moves any predictor."""
        worth = self.rows @ step
        return max(float(worth.max() - worth.min()) + abs(float(self.order @ step)), abs(float(self.tie @ step)))

    def _weights(self, params: FloatArray) -> tuple[FloatArray, FloatArray, float] | None:
        """Return exponentials for object i, (U,), object j, (U,), and the tie; None near an overflow."""
        worth, order, tie = self.rows @ params, float(self.order @ params), float(self.tie @ params)
        if max(worth.max() - worth.min() + abs(order), tie) >= FAR:
            return None
        return np.exp(worth + order), np.exp(-worth), math.exp(tie) if self.has_ties else 0.0

    def _information(self, sums: _Sums) -> FloatArray:
        first, second = sums.weight.sum(axis=1), sums.weight.sum(axis=0)
        pairs = sums.weight + sums.weight.T
        np.negative(pairs, out=pairs)
        pairs.flat[:: len(pairs) + 1] += first + second
        total = self.between_parameters(pairs)
        add_both(total, self.order, self.rows.T @ (first - second) + self.order * (first.sum() / 2))
        shared = self.order * sums.cross_first + self.tie * (sums.spread / 2)
        add_both(total, self.tie, self.rows.T @ sums.cross + shared)
        return total

    def between_parameters(self, pairs: FloatArray) -> FloatArray:
        """Return rows' @ pairs @ rows, shape (p, p)."""
        if self.columns is None:
            return np.asarray(self.rows.T @ pairs @ self.rows)
        total = np.zeros((len(self.order), len(self.order)))
        there = np.flatnonzero(self.columns >= 0)
        total[np.ix_(self.columns[there], self.columns[there])] = pairs[np.ix_(there, there)]
        return total


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over comparisons of n times moments of two predictors: (1, 0, −1) and (0, 1, 0) for i, tie and j."""

    value: float  # the log norm
    lead: FloatArray  # mean of the first predictor, added for object i and subtracted for object j, (U,)
    lead_first: float  # the same mean over all comparisons
    tied: float  # mean of the second predictor
    weight: FloatArray  # variance of the first predictor, (U, U)
    cross: FloatArray  # covariance of both, by object as `lead`
    cross_first: float
    spread: float  # variance of the second predictor


def pair_table(predictors: Sequence[Gathered], totals: FloatArray) -> PairTable | None:
    """Return the table of a model's comparisons; None if predictors depend on more than the two objects.

    Parameters
    ----------
    predictors : sequence of Gathered, each (S, p)
        The signed predictor and, for three outcomes, the tie's predictor.
    totals : ndarray, shape (S,)
    """
    signed, ties = predictors[0], [part for rows in predictors[1:] for part in rows.parts]
    sides = [part for part in signed.parts if part.matrix.shape[0] > 1]
    shared = [part for part in signed.parts if part.matrix.shape[0] == 1]
    if len(sides) != 2 or sides[0].matrix is not sides[1].matrix or (sides[0].sign, sides[1].sign) != (1.0, -1.0):
        return None
    if len(signed.chosen) or any(part.matrix.shape[0] > 1 for part in ties):
        return None
    rows, size = sides[0].matrix, sides[0].matrix.shape[0]
    if size**2 > _EMPTY * len(totals):
        return None
    judged = np.asarray(np.bincount(sides[0].index * size + sides[1].index, totals, size**2), dtype=np.float64)
    width = signed.shape[1]
    return PairTable(
        rows,
        _single(shared, width),
        _single(ties, width),
        judged.reshape(size, size),
        len(predictors) > 1,
        own_columns(rows),
    )


def _single(parts: Sequence[Part], width: int) -> FloatArray:
    """Return the sum of parts that are the same in every comparison, shape (p,)."""
    total = np.zeros(width)
    for part in parts:
        row = part.matrix if isinstance(part.matrix, np.ndarray) else part.matrix.toarray()
        total += part.sign * row[0]
    return total


def own_columns(rows: Any) -> IntArray | None:
    """Return the column of each row's single 1 (−1 for a row of zeros); None if rows have another form."""
    i, columns = rows.nonzero()
    if any(len(at) and np.bincount(at).max() > 1 for at in (i, columns)) or np.any(rows[i, columns] != 1):
        return None
    column_of = np.full(rows.shape[0], -1, dtype=np.int64)
    column_of[i] = columns
    return column_of


def _summed(totals: FloatArray, up: FloatArray, down: FloatArray, tie: float) -> _Sums:
    """Return the sums at signed predictors log up[i] + log down[j] and the tie's predictor log tie."""
    size = len(up)
    lead, cross, weight = np.zeros(size), np.zeros(size), np.empty((size, size))
    value = lead_first = tied = cross_first = spread = 0.0
    step = max(1, _BLOCK // size)
    for start in range(0, size, step):
        rows = slice(start, start + step)
        n = totals[rows]
        win = np.multiply.outer(up[rows], down)
        loss = 1 / win
        norm = win + loss
        norm += tie
        value += float(np.vdot(n, np.log(norm)))
        mean = np.divide(np.subtract(win, loss, out=win), norm, out=win)
        share = np.divide(tie, norm, out=norm)
        signed = np.multiply(n, mean, out=loss)
        lead_first += _spread(lead, rows, signed)
        variance = np.multiply(mean, mean, out=mean)
        variance += share
        np.multiply(n, np.subtract(1.0, variance, out=variance), out=weight[rows])
        if tie:
            signed *= share
            cross_first -= _spread(cross, rows, signed)
            tied += float(np.vdot(n, share))
            spread -= float(np.vdot(n, np.multiply(share, share, out=share)))
    return _Sums(value, lead, lead_first, tied, weight, -cross, cross_first, spread + tied)


def _summed_leads(totals: FloatArray, up: FloatArray, down: FloatArray, tie: float) -> tuple[FloatArray, float, float]:
    """Return only `lead`, `lead_first` and `tied` of `_Sums`."""
    lead, lead_first, tied = np.zeros(len(up)), 0.0, 0.0
    step = max(1, _BLOCK // len(up))
    for start in range(0, len(up), step):
        rows = slice(start, start + step)
        win = np.multiply.outer(up[rows], down)
        loss = 1 / win
        norm = win + loss
        norm += tie
        share = np.divide(totals[rows], norm, out=norm)
        tied += tie * float(share.sum())
        win -= loss
        win *= share
        lead_first += _spread(lead, rows, win)
    return lead, lead_first, tied


def _spread(sums: FloatArray, rows: slice, values: FloatArray) -> float:
    """Add values of pairs to object i and subtract them from object j; return their sum."""
    by_first = values.sum(axis=1)
    sums[rows] += by_first
    sums -= values.sum(axis=0)
    return float(by_first.sum())


def add_both(matrix: FloatArray, column: FloatArray, values: FloatArray) -> None:
    """Add column ⊗ values and its transpose; most entries of the column are 0."""
    for k in np.flatnonzero(column):
        matrix[k] += column[k] * values
        matrix[:, k] += column[k] * values
