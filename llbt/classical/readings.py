"""Scores of systems from wins, ties and losses, by several definitions: arithmetic on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import rankdata

from ..core.columns import FloatArray, IntArray, groups
from ..core.statistics import ratio
from ..resampling import drawn_counts, drawn_weights

Reading = Literal["ge_others", "gt_others", "ignore_ties", "ge_all_in_block", "expected_wins", "net_wins"]

READINGS: dict[Reading, str] = {
    "ge_others": "share of judgments won or tied (≥ others)",
    "gt_others": "share of judgments won (> others)",
    "ignore_ties": "share of decided judgments won (ties ignored)",
    "ge_all_in_block": "share of blocks in which no other object was better (≥ all in block)",
    "expected_wins": "mean over opponents of the share of decided judgments won (expected wins)",
    "net_wins": "share of judgments won minus share lost (net wins)",
}


@dataclass(frozen=True, eq=False)
class Sums:
    """The F sums from which the scores of J objects are computed, in total and by unit (U units).

    Attributes
    ----------
    reading : str
    size : int
        Number of objects J.
    pairs : ndarray of int, shape (P, 2)
        Positions of i and j; ``"ge_all_in_block"`` does not use them.
    total : ndarray, shape (F,)
        Wins of i, ties and wins of j, pair by pair (F = 3P); for ``"ge_all_in_block"`` the blocks of each object, then
        those in which it is best (F = 2J).
    units : csr_array or None, shape (U, F)
        The contribution of each block to `total`; None without blocks.
    """

    reading: Reading
    size: int
    pairs: IntArray
    total: FloatArray
    units: csr_array | None

    @property
    def number(self) -> float:
        """Number of blocks, or of judgments if there are no blocks."""
        return float(self.total.sum()) if self.units is None else float(self.units.shape[0])

    def scores(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the scores of B sets of sums (B, F), and the judgments or blocks behind them, each (B, J)."""
        if self.reading == "ge_all_in_block":
            shown, best = sums[:, : self.size], sums[:, self.size :]
            return ratio(best, shown), shown
        return pair_scores(self.reading, self.pairs, sums.reshape(len(sums), -1, 3), self.size)

    @property
    def entries(self) -> int:
        """How many numbers one resample holds in memory."""
        return max(len(self.total), 0 if self.units is None else int(self.units.shape[0]))

    def resampled(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the scores of resamples, (size, J), of units or, without units, of judgments."""
        if self.units is None:
            return self.scores(drawn_counts(self.total, size, rng))[0]
        weights = drawn_weights(self.units.shape[0], size, rng)
        return self.scores(np.asarray((self.units.T @ weights.T).T))[0]


def pair_sums(
    reading: Reading, pairs: IntArray, counts: FloatArray, size: int, cells: IntArray, block: IntArray | None
) -> Sums:
    """Return the sums of a reading of judgments pair by pair.

    Parameters
    ----------
    reading : str
        Not ``"ge_all_in_block"``.
    pairs, counts : ndarray, shapes (P, 2) and (P, 3)
    size : int
        Number of objects J.
    cells : ndarray of int, shape (R,)
        The place of each judgment in ``counts.ravel()``.
    block : ndarray of int or None, shape (R,)
        The block of each judgment, numbered from 0 without gaps.
    """
    units = None
    if block is not None:
        units = csr_array((np.ones(len(cells)), (block, cells)), shape=(int(block.max()) + 1, counts.size))
    return Sums(reading, size, pairs, counts.ravel(), units)


def block_sums(pairs: IntArray, outcomes: IntArray, block: IntArray, size: int) -> Sums:
    """Return the sums of ``"ge_all_in_block"``: an object is best in a block where it lost no judgment.

    Parameters
    ----------
    pairs : ndarray of int, shape (R, 2)
    outcomes : ndarray of int, shape (R,)
        0 where i was preferred, 1 for a tie, 2 where j was.
    block : ndarray of int, shape (R,)
    size : int
        Number of objects J.
    """
    where, what = np.repeat(block, 2), pairs.ravel()
    lost = np.column_stack([outcomes == 2, outcomes == 0]).ravel()
    first, group = groups([where, what])
    best = np.bincount(group, weights=lost, minlength=len(first)) == 0
    row, column = where[first], what[first]
    entries = (np.concatenate([row, row[best]]), np.concatenate([column, size + column[best]]))
    units = csr_array((np.ones(len(entries[0])), entries), shape=(int(block.max()) + 1, 2 * size))
    return Sums("ge_all_in_block", size, np.empty((0, 2), dtype=np.int64), np.asarray(units.sum(axis=0)), units)


def object_sums(pairs: IntArray, counts: FloatArray, size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return wins, ties and losses of each object, each (B, J), from counts of pairs (B, P, 3)."""
    at_i, at_j = _sides(pairs, size)
    wins_i, ties, wins_j = (counts[:, :, k] for k in range(3))
    return wins_i @ at_i + wins_j @ at_j, ties @ (at_i + at_j), wins_j @ at_i + wins_i @ at_j


def pair_scores(reading: Reading, pairs: IntArray, counts: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return scores and the number of judgments behind them, each (B, J), from counts of pairs (B, P, 3).

    NaN where an object has no judgment that the reading counts.
    """
    wins, ties, losses = object_sums(pairs, counts, size)
    judgments, decided = wins + ties + losses, wins + losses
    if reading == "expected_wins":
        return _expected_wins(pairs, counts, size), decided
    if reading == "ignore_ties":
        return ratio(wins, decided), decided
    counted = {"ge_others": wins + ties, "gt_others": wins, "net_wins": wins - losses}[reading]
    return ratio(counted, judgments), judgments


def _expected_wins(pairs: IntArray, counts: FloatArray, size: int) -> FloatArray:
    """Return the mean share of decided judgments won, over the opponents with decided judgments."""
    at_i, at_j = _sides(pairs, size)
    decided = counts[:, :, 0] + counts[:, :, 2]
    known = (decided > 0).astype(np.float64)
    share = np.where(decided > 0, ratio(counts[:, :, 0], decided), 0.0)
    return ratio(share @ at_i + (known - share) @ at_j, known @ (at_i + at_j))


def _sides(pairs: IntArray, size: int) -> tuple[csr_array, csr_array]:
    """Return which object is i, and which j, of each pair; each (P, J)."""
    rows, shape = np.arange(len(pairs)), (len(pairs), size)
    i, j = (csr_array((np.ones(len(pairs)), (rows, side)), shape=shape) for side in pairs.T)
    return i, j


def ranked(scores: FloatArray) -> FloatArray:
    """Return ranks, 1 for the best, of scores (B, J); equal scores share the better rank; NaN has no rank."""
    lowest = np.where(np.isnan(scores), np.inf, -np.round(scores, 12))  # means of shares: equal up to rounding
    return np.where(np.isnan(scores), np.nan, rankdata(lowest, method="min", axis=1))
