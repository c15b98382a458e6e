"""The fewest units of a fit whose removal reverses a difference of log-worths, for any kind of fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..errors import DesignError
from .unit_models import UnitModel

_TURNED = 1e-9  # least difference of log-worths, after the reversal, that counts
_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class UnitSearch:
    """A fit whose units are left out; there are U kinds of units.

    Attributes
    ----------
    model : UnitModel
    worths : int
        The number of leading estimates that define the log-worths.
    """

    model: UnitModel
    worths: int

    @cached_property
    def moved(self) -> FloatArray:
        """The change of the estimates if a single unit is left out, (U, p); 0 if nothing is left to estimate."""
        model = self.model
        moves = np.zeros((len(model.counts), self.worths))
        for k in range(len(model.counts)):
            left = self.without(np.eye(1, len(model.counts), k, dtype=np.int64)[0])
            if left is not None:
                moves[k] = left - model.estimates[: self.worths]
        return moves

    def without(self, removed: IntArray) -> FloatArray | None:
        """Return the worths' estimates without given numbers of each unit (U,); None if not finite."""
        try:
            return self.model.estimated(self.model.counts - removed)[: self.worths]
        except DesignError:
            return None

    def turned(self, row: FloatArray, most: int) -> IntArray | None:
        """Return how many of each unit reverse the sign of a positive combination (p,); None if more than `most`.

        Units are left out in the order of their single effects: as many as should suffice by the sum of effects, and
        more if needed. Then the smallest number that suffices in this order is found.
        """
        effects = -self.moved @ row
        order = [k for k in np.argsort(-effects, kind="stable").tolist() if effects[k] > 0]
        each = np.repeat(order, self.model.counts[order].astype(np.int64))[:most]
        gap, gained = float(row @ self.model.estimates[: self.worths]), np.cumsum(effects[each])
        low, high = 0, int(np.searchsorted(gained, gap)) + 1
        for _ in range(_ROUNDS):
            if low == len(each):
                return None
            high = min(high, len(each))
            if self._turns(each[:high], row):
                break
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._turns(each[:middle], row) else (middle, high)
        return np.bincount(each[:high], minlength=len(effects)).astype(np.int64)

    def _turns(self, some: IntArray, row: FloatArray) -> bool:
        refitted = self.without(np.bincount(some, minlength=len(self.model.counts)).astype(np.int64))
        return refitted is not None and float(row @ refitted) < -_TURNED
