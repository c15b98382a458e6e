"""Sums over runs of comparisons, for models with numeric side covariates that differ in every comparison.

Comparisons are sorted by their objects, so the comparisons of a run differ only in the numbers. The common part of a
run is gathered once. Numbers are taken in blocks of rows that fit into the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .indexed_rows import FloatArray, Gathered, IntArray, weighted_product

_SHORT = 8  # with fewer comparisons in an average run, runs save nothing
_BLOCK = 1 << 13  # rows of a block
_FAR = 300.0  # beyond this predictor exponentials may overflow


@dataclass(frozen=True, eq=False)
class RunTable:
    """Judgments of S comparisons in R runs.

    Attributes
    ----------
    signed, tie : Gathered, shape (R, p)
        The common part of the predictors of a run.
    chosen : ndarray of int, shape (q,)
        The columns that differ in every comparison, of the signed predictor alone.
    own : ndarray, shape (q, S)
    largest : ndarray, shape (q,)
        The largest absolute value of each of these columns.
    starts : ndarray of int, shape (R,)
        The first comparison of each run.
    totals : ndarray, shape (S,)
    has_ties : bool
    """

    signed: Gathered
    tie: Gathered
    chosen: IntArray
    own: FloatArray
    largest: FloatArray
    starts: IntArray
    totals: FloatArray
    has_ties: bool

    def moments(self, params: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """Return Σ n log(e^u + e^w + e^−u), its gradient (p,) and the information (p, p); None near an overflow."""
        if self.reach(params) >= _FAR:
            return None
        q = len(self.chosen)
        shared = np.zeros((5 + 2 * q, len(self.starts)))  # sums over the comparisons of each run
        room = np.empty((5 + 2 * q, _BLOCK))
        gradient, matrix, value = np.zeros(q), np.zeros((q, q)), 0.0
        for block in self._blocks(params):
            n, own = self.totals[block.rows], self.own[:, block.rows]
            value += float(n @ np.log(block.norm))
            sums = room[:, : len(n)]
            lead, tied, weight, cross, spread = sums[:5]
            np.multiply(n, block.mean, out=lead)
            np.multiply(n, block.share, out=tied)
            np.subtract(n - tied, lead * block.mean, out=weight)
            np.multiply(-lead, block.share, out=cross)
            np.subtract(tied, tied * block.share, out=spread)
            np.multiply(own, weight, out=sums[5 : 5 + q])
            np.multiply(own, cross, out=sums[5 + q :])
            gradient += own @ lead
            matrix += sums[5 : 5 + q] @ own.T
            shared[:, block.runs] += np.add.reduceat(sums, block.at, axis=1)
        total = self.signed.transposed(shared[0]) + self.tie.transposed(shared[1])
        total[self.chosen] += gradient
        return value, total, self._information(shared, matrix)

    def expected(self, params: FloatArray) -> FloatArray | None:
        """Return the gradient (p,) of Σ n log(e^u + e^w + e^−u) alone; None near an overflow."""
        if self.reach(params) >= _FAR:
            return None
        shared, gradient = np.zeros((2, len(self.starts))), np.zeros(len(self.chosen))
        for block in self._blocks(params):
            n = self.totals[block.rows]
            sums = np.stack([n * block.mean, n * block.share])
            gradient += self.own[:, block.rows] @ sums[0]
            shared[:, block.runs] += np.add.reduceat(sums, block.at, axis=1)
        total = self.signed.transposed(shared[0]) + self.tie.transposed(shared[1])
        total[self.chosen] += gradient
        return total

    def reach(self, step: FloatArray) -> float:
        """Return a bound on how far a step moves any predictor."""
        own = float(np.abs(step[self.chosen]) @ self.largest)
        return max(float(np.abs(self.signed @ step).max()) + own, float(np.abs(self.tie @ step).max()))

    def _blocks(self, params: FloatArray) -> Iterator[_Block]:
        """Yield the norms and means of blocks of comparisons at some parameters."""
        worth = self.signed @ params
        ties = np.exp(self.tie @ params) if self.has_ties else np.zeros(len(worth))
        slope = params[self.chosen]
        size = len(self.totals)
        for first in range(0, size, _BLOCK):
            last = min(first + _BLOCK, size)
            runs = slice(
                int(np.searchsorted(self.starts, first, side="right")) - 1, int(np.searchsorted(self.starts, last))
            )
            at = np.maximum(self.starts[runs] - first, 0)
            length = np.diff(at, append=last - first)
            u = np.repeat(worth[runs], length)
            u += slope @ self.own[:, first:last]
            win = np.exp(u)
            loss = 1 / win
            norm = win + loss
            tied = np.repeat(ties[runs], length)
            norm += tied
            win -= loss
            yield _Block(slice(first, last), runs, at, norm, np.divide(win, norm, out=win), np.divide(tied, norm))

    def _information(self, shared: FloatArray, matrix: FloatArray) -> FloatArray:
        q = len(self.chosen)
        mixed = weighted_product(self.signed, self.tie, shared[3])
        total = weighted_product(self.signed, self.signed, shared[2]) + mixed + mixed.T
        total = total + weighted_product(self.tie, self.tie, shared[4])
        information = total if isinstance(total, np.ndarray) else np.asarray(total.toarray())
        for k, column in enumerate(self.chosen):
            with_parts = self.signed.transposed(shared[5 + k]) + self.tie.transposed(shared[5 + q + k])
            information[column] += with_parts
            information[:, column] += with_parts
        information[np.ix_(self.chosen, self.chosen)] += matrix
        return information


@dataclass(frozen=True, eq=False)
class _Block:
    """Some comparisons, their runs, the runs' starts in the block, and norms and means of the predictors' cells."""

    rows: slice
    runs: slice
    at: IntArray
    norm: FloatArray
    mean: FloatArray
    share: FloatArray


def run_table(predictors: Sequence[Gathered], totals: FloatArray) -> RunTable | None:
    """Return the table of a model's comparisons; None without own columns, or if runs are short.

    Parameters
    ----------
    predictors : sequence of Gathered, each (S, p)
        The signed predictor and, for three outcomes, the tie's predictor.
    totals : ndarray, shape (S,)
    """
    signed, has_ties = predictors[0], len(predictors) > 1
    if not len(signed.chosen):
        return None
    new = np.zeros(len(totals), dtype=bool)
    new[0] = True
    for part in (part for rows in predictors for part in rows.parts):
        if part.matrix.shape[0] > 1:
            new[1:] |= part.index[1:] != part.index[:-1]
    starts = np.flatnonzero(new)
    if _SHORT * len(starts) > len(totals):
        return None
    parts = Gathered(signed.parts, signed.shape).take(starts)
    tie = predictors[1].take(starts) if has_ties else Gathered((), parts.shape)
    largest = np.abs(signed.own).max(axis=1)
    return RunTable(parts, tie, signed.chosen, signed.own, largest, starts, totals, has_ties)
