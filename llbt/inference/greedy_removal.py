"""Find the fewest judgments or clusters whose removal reverses two objects: by influence, then by refits.

To first order, removing a unit with score s moves estimates by −I⁻¹s. Units are removed in the order of their effect on
a difference of log-worths. The model is refitted and more units are removed until the difference has changed its sign.
Then units are put back as long as the sign stays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, special
from scipy.sparse import csr_array

from ..core.columns import FloatArray, IntArray
from ..kernel.likelihood import Problem, information, probabilities
from ..kernel.penalties import Penalize
from ..kernel.robust import Clustered
from ..kernel.solvers import eliminate

_TURNED = 1e-9  # least difference of log-worths, after the reversal, that counts
_ENUMERATED = 2_000  # most refits of a search through all smaller removals
_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class Units:
    """Kinds of units that can be removed, each with the counts of one unit and the number of such units.

    Attributes
    ----------
    taken : csr_array, shape (n, cells)
        The counts of one unit of each kind, by cell (flattened).
    number : ndarray of int, shape (n,)
    """

    taken: csr_array
    number: IntArray

    @classmethod
    def of_judgments(cls, counts: FloatArray) -> Units:
        """Return the judgments of each non-empty cell as a kind of units."""
        cells = np.flatnonzero(counts.ravel() >= 1)
        places = (np.arange(len(cells)), cells)
        taken = csr_array((np.ones(len(cells)), places), shape=(len(cells), counts.size))
        return cls(taken, np.floor(counts.ravel()[cells]).astype(np.int64))

    @classmethod
    def of_clusters(cls, clusters: Clustered, shape: tuple[int, ...]) -> Units:
        """Return the clusters of a table of counts, whose shape is `shape`; each cluster is a kind with one unit."""
        rows, outcomes = shape
        cells = clusters.rows[:, None] * outcomes + np.arange(outcomes)
        places = (np.repeat(clusters.codes, outcomes), cells.ravel())
        taken = csr_array((clusters.counts.ravel(), places), shape=(clusters.size, rows * outcomes))
        return cls(taken, np.ones(clusters.size, dtype=np.int64))

    def left(self, counts: FloatArray, removed: IntArray) -> FloatArray:
        """Return the counts after `removed` units of each kind, shape (n,), are removed."""
        return np.asarray(np.maximum(counts - (removed @ self.taken).reshape(counts.shape), 0.0))


@dataclass(frozen=True, eq=False)
class Search:
    """A fitted model, from which units are removed.

    Attributes
    ----------
    problem : Problem
    penalty : Penalize or None
    params : ndarray, shape (p,)
    units : Units
    most : int
        The most units that may be removed.
    """

    problem: Problem
    penalty: Penalize | None
    params: FloatArray
    units: Units
    most: int

    def fitted(self, removed: IntArray, start: FloatArray) -> FloatArray | None:
        """Return the estimates without some units; None if nothing is left to fit."""
        left = self.units.left(self.problem.counts, removed)
        if not left.any():
            return None
        try:
            return eliminate(replace(self.problem, counts=left), start=start, penalty=self.penalty).params
        except linalg.LinAlgError:
            return None

    def effects(self, removed: IntArray, params: FloatArray, rows: FloatArray) -> Iterator[FloatArray]:
        """Yield how much, to first order, one more removed unit of each kind lowers each combination (m, p), (n,)."""
        left = replace(self.problem, counts=self.units.left(self.problem.counts, removed))
        p = probabilities(left, params)
        inside = np.asarray(_full(information(left, p, left.totals)))
        slopes = left.response.slopes(p.T).transpose(1, 2, 0)  # by predictor, comparison and outcome
        for moved in linalg.lstsq(inside, rows.T)[0].T:
            along = sum(slope * (part @ moved)[:, None] for slope, part in zip(slopes, left.predictors, strict=True))
            yield np.asarray(self.units.taken @ np.asarray(along).ravel())

    def turned(self, row: FloatArray) -> IntArray | None:
        """Return how many units of each kind reverse a positive combination (p,); None if more than `most`."""
        removed: IntArray = np.zeros(len(self.units.number), dtype=np.int64)
        params, there = self.params, self.units.number.copy()
        for _ in range(_ROUNDS):
            before = removed
            removed = self._further(removed, params, row, there)
            if (removed == before).all():
                return None
            refitted = self.fitted(removed, params)
            while refitted is None:  # an estimate may depend on the last unit of a kind: this unit stays
                removed, kind = self._last_with_fit(before, removed, params, row)
                there[kind] = removed[kind]
                refitted = params if (removed == before).all() else self.fitted(removed, params)
            if row @ refitted < -_TURNED:
                return self._put_back(before, removed, params, row)
            params = refitted
        return None

    def _last_with_fit(
        self, before: IntArray, after: IntArray, params: FloatArray, row: FloatArray
    ) -> tuple[IntArray, int]:
        """Return the largest fittable removal between two others, in order of effects, and the next unit's kind."""
        order = self._in_order(before, after, params, row)
        low, high = 0, len(order)
        while high - low > 1:
            middle = (low + high) // 2
            if self.fitted(self._with(before, order[:middle]), params) is None:
                high = middle
            else:
                low = middle
        return self._with(before, order[:low]), int(order[low])

    def _further(self, removed: IntArray, params: FloatArray, row: FloatArray, there: IntArray) -> IntArray:
        """Return a removal with as many units as first-order effects require, at most `most` or all that exist."""
        gap, (effects,) = float(row @ params), self.effects(removed, params, row[None])
        more, room = removed.copy(), self.most - int(removed.sum())
        for k in np.argsort(-effects, kind="stable"):
            if effects[k] <= 0 or gap < 0 or room <= 0:
                break
            number = min(int(there[k] - removed[k]), math.floor(gap / effects[k]) + 1, room)
            more[k] += number
            gap -= number * effects[k]
            room -= number
        return more

    def _put_back(self, before: IntArray, after: IntArray, params: FloatArray, row: FloatArray) -> IntArray:
        """Return the smallest removal between two others, in order of effects, that reverses the combination."""
        order = self._in_order(before, after, params, row)
        low, high = 0, len(order)
        while high - low > 1:
            middle = (low + high) // 2
            refitted = self.fitted(self._with(before, order[:middle]), params)
            if refitted is not None and row @ refitted < -_TURNED:
                high = middle
            else:
                low = middle
        return self._with(before, order[:high])

    def _in_order(self, before: IntArray, after: IntArray, params: FloatArray, row: FloatArray) -> IntArray:
        """Return the kind of each unit that only the larger removal has, the units with the largest effect first."""
        (effects,) = self.effects(before, params, row[None])
        most_first = np.argsort(-effects, kind="stable")
        return np.asarray(np.repeat(most_first, (after - before)[most_first]))

    def _with(self, removed: IntArray, more: IntArray) -> IntArray:
        return removed + np.bincount(more, minlength=len(removed))

    def fewest(self, removal: IntArray, is_changed: Callable[[FloatArray], bool]) -> tuple[IntArray, bool]:
        """Return the smallest removal that was found, and whether all smaller removals were tried."""
        size = int(removal.sum())
        if self._ways(size) > _ENUMERATED:
            return removal, False
        for k in range(1, size):
            for removed in self._removals(k):
                params = self.fitted(removed, self.params)
                if params is not None and is_changed(params):
                    return removed, True
        return removal, True

    def _ways(self, size: int) -> float:
        """Return the number of removals with fewer units, or an upper bound, because a kind may have too few units."""
        return float(special.binom(len(self.units.number) + size - 1, size - 1)) - 1

    def _removals(self, k: int) -> Iterator[IntArray]:
        for some in itertools.combinations_with_replacement(range(len(self.units.number)), k):
            removed = np.bincount(some, minlength=len(self.units.number))
            if (removed <= self.units.number).all():
                yield removed


def _full(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix
