"""Accuracies of two metrics whose scores are exchanged at random: orders, p-values and tie thresholds. Arrays only.

N systems, M inputs, P pairs, B resamples. Exchanges are an array of shape (B, N or 1, M or 1), True where the two
metrics exchange their scores of a system on an input. Scores are standardized, and missing in the same cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..core.columns import FloatArray, IntArray
from ..errors import DesignError
from ..resampling import drawn_swaps
from .kernels import settled
from .resampled import swapped_means
from .system_scores import all_pairs
from .tie_calibration import best_threshold, compared_pairs, last_of_size

Swaps = npt.NDArray[np.bool_]

_ENTRIES = 4_000_000  # random signs held at once: 32 MB
_ROUNDING = 1e-12  # of the spread of scores: means that are closer are equal
_EQUAL = 1e-10  # of the sum of |scores|: sums with random signs that differ by less are equal
_MOST_PAIRS = 10_000_000  # of systems on inputs: 1 GB with what the search for a threshold needs of each


# -- pairwise accuracy -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MeanOrders:
    """Pairwise accuracy: whether two metrics order the means of systems as humans do.

    Attributes
    ----------
    x, y : ndarray, shape (N, M)
    i, j : ndarray of int, shape (P,)
        The pairs that are counted: both systems have scores of the metrics and of humans.
    sign : ndarray, shape (P,)
        −1, 0 or 1: the sign of the human difference.
    tolerance : float
        Means that differ by no more than this are equal.
    """

    x: FloatArray
    y: FloatArray
    i: IntArray
    j: IntArray
    sign: FloatArray
    tolerance: float

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, human: FloatArray) -> MeanOrders:
        """Return the pairs of systems of two metrics and of humans."""
        i, j = all_pairs(len(x))
        there: npt.NDArray[np.bool_] = np.logical_and((~np.isnan(x)).any(axis=1), (~np.isnan(human)).any(axis=1))
        both = there[i] & there[j]
        i, j = i[both], j[both]
        nobody = np.zeros((1, 1, 1), dtype=np.bool_)
        means = swapped_means(human, human, nobody)[0]
        sign = _signs(means[i] - means[j], _ROUNDING * _spread(human))
        return cls(x, y, i, j, sign, _ROUNDING * max(_spread(x), _spread(y)))

    @property
    def pairs(self) -> int:
        """Number of pairs that are counted."""
        return len(self.i)

    @property
    def entries(self) -> int:
        """How many numbers one resample holds in memory."""
        return self.x.size + 2 * len(self.i)

    def values(self, swap: Swaps) -> FloatArray:
        """Return the share of pairs that each metric orders or ties as humans do, shape (2, B); NaN without a pair."""
        if not len(self.i):
            return np.full((2, len(swap)), np.nan)
        sides = (swapped_means(self.x, self.y, swap), swapped_means(self.y, self.x, swap))
        same = [_signs(side[:, self.i] - side[:, self.j], self.tolerance) == self.sign for side in sides]
        return np.stack([side.mean(axis=1) for side in same])


def _spread(x: FloatArray) -> float:
    there = x[~np.isnan(x)]
    return float(np.ptp(there)) if there.size else 0.0


def _signs(difference: FloatArray, tolerance: float) -> FloatArray:
    return np.where(np.abs(difference) <= tolerance, 0.0, np.sign(difference))


# -- soft pairwise accuracy ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SignedSums:
    """Paired permutation tests of all pairs of systems, from sums of scores with random signs.

    Exchanging the two scores of an input changes the sign of their difference. So each system needs one sum per
    permutation: its scores times a row of random signs, which is the same for all systems, metrics and humans. The
    permuted difference of two systems is the difference of their sums.

    Attributes
    ----------
    draws : int
        Number R of rows of signs.
    seed : tuple of int
        The seed from which the signs are drawn again wherever they are needed, some columns at a time.
    """

    draws: int
    seed: tuple[int, ...]

    def of(self, rows: FloatArray) -> FloatArray:
        """Return Σ_m s_rm · x_m of each row (K, M), shape (K, R)."""
        sums = np.zeros((len(rows), self.draws))
        step = max(1, _ENTRIES // self.draws)
        for start in range(0, rows.shape[1], step):
            columns = rows[:, start : start + step]
            rng = np.random.default_rng([*self.seed, start])
            sums += columns @ np.where(drawn_swaps((columns.shape[1], self.draws), rng), -1.0, 1.0)
        return sums


@dataclass(frozen=True, eq=False)
class _Lines:
    """The L rows of numbers from which differences of systems are computed: scores of systems, or differences of pairs.

    Attributes
    ----------
    i, j : ndarray of int, shape (P,)
    pairs : ndarray of bool, shape (P, M), or None
        The inputs that both systems of a pair have; None if all systems have all inputs.
    slack : ndarray, shape (P,)
        Sums that differ by no more than this are equal.
    """

    i: IntArray
    j: IntArray
    pairs: npt.NDArray[np.bool_] | None
    slack: FloatArray

    @classmethod
    def of(cls, *sides: FloatArray) -> _Lines:
        """Return the rows for scores (N, M) that are missing in the same cells."""
        i, j = all_pairs(len(sides[0]))
        there = ~np.isnan(sides[0])
        size = np.sum([np.nansum(np.abs(side), axis=1) for side in sides], axis=0)
        return cls(i, j, None if there.all() else there[i] & there[j], _EQUAL * (size[i] + size[j]))

    def from_scores(self, scores: FloatArray) -> FloatArray:
        """Return rows (…, L, M) of scores (…, N, M): the scores, or differences of pairs if some scores are missing."""
        if self.pairs is None:
            return scores
        return np.where(self.pairs, scores[..., self.i, :] - scores[..., self.j, :], 0.0)

    def p_values(self, moved: FloatArray, seen: FloatArray) -> FloatArray:
        """Return the mid-p-values (B, P) of sums with random signs (B, L, R), given the sums themselves (B, L).

        p = (1/2 + #{δ* > δ} + #{δ* = δ}/2)/(R + 1), as in `segment_tests.sign_flips`.
        """
        counts = np.empty((len(moved), len(self.i)))
        for each, sums, total in zip(counts, moved, seen, strict=True):
            if self.pairs is None:
                delta, observed = sums[self.i], total[self.i] - total[self.j]
                delta -= sums[self.j]
            else:
                delta, observed = sums, total
            above, not_below = observed + self.slack, observed - self.slack
            each[:] = np.count_nonzero(delta > above[:, None], axis=1)
            each += np.count_nonzero(delta >= not_below[:, None], axis=1)
        return np.asarray((1 + counts) / (2 * (moved.shape[-1] + 1)))


@dataclass(frozen=True, eq=False)
class SoftOrders:
    """Soft pairwise accuracy: p-values by two metrics and by humans that one system is better than another.

    Attributes
    ----------
    x, y : ndarray, shape (N, M)
    signs : SignedSums
    lines : _Lines
    human_p : ndarray, shape (P,)
    counted : ndarray of bool, shape (P,)
        Pairs of systems with a common input scored by the metrics, and one scored by humans.
    moved, seen : ndarray, shape (L, R) and (L,)
        Sums of the scores of both metrics together, with random signs and without.
    """

    x: FloatArray
    y: FloatArray
    signs: SignedSums
    lines: _Lines
    human_p: FloatArray
    counted: npt.NDArray[np.bool_]
    moved: FloatArray
    seen: FloatArray

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, human: FloatArray, signs: SignedSums) -> SoftOrders:
        """Return the permutation tests of two metrics and of humans."""
        of_human, lines = _Lines.of(human), _Lines.of(x, y)
        rows = of_human.from_scores(human)
        human_p = of_human.p_values(signs.of(rows)[None], rows.sum(axis=1)[None])[0]
        both = lines.from_scores(x + y)
        counted = np.ones(len(human_p), dtype=np.bool_)
        for side in (of_human, lines):
            counted &= True if side.pairs is None else side.pairs.any(axis=1)
        return cls(x, y, signs, lines, human_p, counted, signs.of(both), both.sum(axis=1))

    @property
    def pairs(self) -> int:
        """Number of pairs that are counted."""
        return int(self.counted.sum())

    @property
    def entries(self) -> int:
        """How many numbers one resample holds in memory."""
        return int(max(1, len(self.seen)) * max(self.x.shape[1], self.signs.draws))

    def values(self, swap: Swaps) -> FloatArray:
        """Return 1 − mean |p_human − p_metric| of both metrics, shape (2, B); NaN without a pair."""
        if not self.counted.any():
            return np.full((2, len(swap)), np.nan)
        if swap.shape[-1] == 1 < self.x.shape[1] and self.lines.pairs is None:
            return self._of_systems(np.broadcast_to(swap[..., 0], (len(swap), len(self.x))))
        rows = self.lines.from_scores(np.where(swap, self.y, self.x))
        seen = rows.sum(axis=-1)
        moved = self.signs.of(rows.reshape(-1, rows.shape[-1])).reshape(*seen.shape, -1)
        first = self.lines.p_values(moved, seen)
        second = self.lines.p_values(np.subtract(self.moved, moved, out=moved), self.seen - seen)  # what is left
        return self._agreement(first, second)

    @cached_property
    def _of_scores(self) -> FloatArray:
        """The p-values of pairs, shape (2, 2, P): system i scored by x or y, and system j scored by x or y."""
        sums = [np.concatenate([of(self.x), of(self.y)])[None] for of in (self.signs.of, lambda x: x.sum(axis=1))]
        made = np.empty((2, 2, len(self.human_p)))
        for a, b in np.ndindex(2, 2):
            ends = self.lines.i + a * len(self.x), self.lines.j + b * len(self.x)
            made[a, b] = replace(self.lines, i=ends[0], j=ends[1]).p_values(*sums)[0]
        return made

    def _of_systems(self, swap: npt.NDArray[np.bool_]) -> FloatArray:
        """Return `values` if whole systems are exchanged (B, N): each resample gives a pair one of four p-values."""
        i, j = (swap[:, side].astype(np.intp) for side in (self.lines.i, self.lines.j))
        pair = np.arange(len(self.human_p))
        return self._agreement(self._of_scores[i, j, pair], self._of_scores[1 - i, 1 - j, pair])

    def _agreement(self, first: FloatArray, second: FloatArray) -> FloatArray:
        gaps = (np.abs(p - self.human_p)[:, self.counted] for p in (first, second))
        return np.stack([1 - each.mean(axis=1) for each in gaps])


# -- accuracy with ties ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TiedOrders:
    """Accuracy with ties: whether two metrics order or tie systems on an input as humans do, at their best thresholds.

    After an exchange, each of the two scores of a pair comes from either metric, so a pair has one of four differences.
    The four differences of all pairs are sorted once, so no resample needs sorting.

    Attributes
    ----------
    rows, columns : ndarray of int, shape (2, P) and (P,)
        Systems i and j, and the input, of each pair that has two human scores.
    pair, kind : ndarray of int, shape (4 P,)
        The pair of each difference, sorted by size, and its scores: 0 for x and x, 1 for x and y, 2 for y and x, 3 for
        y and y.
    same, gain : ndarray, shape (4 P,)
        Weight of the pair if the difference has the sign of the human one, else 0; and the gain in accuracy if the
        difference counts as a tie.
    last : ndarray of int
        Index of the last difference of each size.
    least : float
        A lower bound of the gain: 0 at a threshold of 0 where no difference is 0, else unknown.
    """

    rows: IntArray
    columns: IntArray
    pair: IntArray
    kind: npt.NDArray[np.int8]
    same: FloatArray
    gain: FloatArray
    last: IntArray
    least: float

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, human: FloatArray) -> TiedOrders:
        """Return the pairs of systems of two metrics and of humans.

        Raises
        ------
        DesignError
            For more pairs than memory holds.
        """
        first, second = all_pairs(len(x))
        if len(first) * x.shape[1] > _MOST_PAIRS:
            raise DesignError(
                f"{len(first) * x.shape[1]:,} pairs of systems on inputs",
                "Take fewer inputs, for example a random sample, or method='perm-pairs', which exchanges results "
                "of pairs.",
                expected=f"up to {_MOST_PAIRS:,}",
            )
        z = np.where(np.isnan(x), np.nan, settled(human))
        signs = np.sign(z[first] - z[second])
        among, columns = np.nonzero(~np.isnan(signs))
        i, j, sign = first[among], second[among], signs[among, columns]
        each = np.bincount(columns, minlength=x.shape[1])
        weight = 1 / (each[columns] * int(np.count_nonzero(each)))  # inputs have the same weight, and sum to 1
        d = np.concatenate([a[i, columns] - b[j, columns] for a in (x, y) for b in (x, y)])
        d[np.abs(d) <= _ROUNDING * max(_spread(x), _spread(y))] = 0.0
        order = np.argsort(np.abs(d), kind="stable")
        size, pair, kind = np.abs(d)[order], order % max(1, len(i)), (order // max(1, len(i))).astype(np.int8)
        same = np.where((np.sign(d[order]) == sign[pair]) & (size > 0), weight[pair], 0.0)
        gain = np.where(sign[pair] == 0, weight[pair], 0.0) - same
        last = np.flatnonzero(last_of_size(size)) if len(size) else np.empty(0, dtype=np.int64)
        least = -np.inf if len(size) and size[0] == 0 else 0.0
        return cls(np.stack([i, j]), columns, pair, kind, same, gain, last, least)

    @property
    def pairs(self) -> int:
        """Number of pairs that are counted."""
        return len(self.columns)

    @property
    def entries(self) -> int:
        """How many numbers one resample holds in memory."""
        return max(1, self.pair.size)

    def values(self, swap: Swaps) -> FloatArray:
        """Return the accuracies of both metrics, each at its best threshold, shape (2, B); NaN without a pair."""
        accuracies = np.full((2, len(swap)), np.nan)
        if not len(self.columns):
            return accuracies
        i, j = self.rows if swap.shape[1] > 1 else np.zeros_like(self.rows)
        columns = self.columns if swap.shape[2] > 1 else np.zeros_like(self.columns)
        for b, exchanged in enumerate(swap.astype(np.int8)):
            kind = (2 * exchanged[i, columns] + exchanged[j, columns])[self.pair]
            accuracies[:, b] = [self._best(self.kind == side) for side in (kind, 3 - kind)]
        return accuracies

    def _best(self, chosen: npt.NDArray[np.bool_]) -> float:
        """Return the accuracy at the best threshold, given one difference of each pair."""
        gained = np.cumsum(self.gain * chosen)[self.last]
        return float(self.same @ chosen + max(self.least, gained.max()))


@dataclass(frozen=True, eq=False)
class PairResults:
    """Whether two metrics are right on each pair of systems on an input, each metric at its own threshold.

    Attributes
    ----------
    estimates : tuple of float
        Accuracies of both metrics.
    unlike : ndarray, shape (Q,)
        Weights of the pairs on which only one metric is right: positive for the first metric, negative for the second.
    """

    estimates: tuple[float, float]
    unlike: FloatArray

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, human: FloatArray) -> PairResults:
        """Return the results of two metrics on all pairs."""
        right = []
        for side in (x, y):
            pairs = compared_pairs(side, np.where(np.isnan(x), np.nan, settled(human)))
            if not len(pairs.size):
                return cls((np.nan, np.nan), np.empty(0))
            right.append(pairs.weight / pairs.weight.sum() * pairs.results(best_threshold(pairs)))
        unlike = right[0] - right[1]
        return cls((float(right[0].sum()), float(right[1].sum())), unlike[unlike != 0])

    @property
    def entries(self) -> int:
        """How many numbers one resample holds in memory."""
        return max(1, len(self.unlike))

    def differences(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return differences of the accuracies after results are exchanged pair by pair, shape (B,)."""
        exchanged = drawn_swaps((size, len(self.unlike)), rng)
        return np.asarray(self.unlike.sum() - 2 * (exchanged @ self.unlike))
