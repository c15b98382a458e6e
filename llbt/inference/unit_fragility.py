"""How few units of a fit have to be left out for a difference of log-worths to turn, whatever the kind of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..errors import DesignError
from .unit_models import UnitModel

_TURNED = 1e-9  # by how much a difference of log-worths has to turn
_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class UnitSearch:
    """A fit whose units are left out, with the numbers of units of U kinds.

    Attributes
    ----------
    model : UnitModel
    worths : int
        How many of the first estimates are those that log-worths are made of.
    """

    model: UnitModel
    worths: int

    @cached_property
    def moved(self) -> FloatArray:
        """The change of the estimates when each unit is left out alone, (U, p); 0 where nothing is left to estimate."""
        model = self.model
        found = np.zeros((len(model.counts), self.worths))
        for k in range(len(model.counts)):
            left = self.without(np.eye(1, len(model.counts), k, dtype=np.int64)[0])
            if left is not None:
                found[k] = left - model.estimates[: self.worths]
        return found

    def without(self, removed: IntArray) -> FloatArray | None:
        """Return the estimates of the worths without given numbers of each unit (U,); None if not finite."""
        try:
            return self.model.estimated(self.model.counts - removed)[: self.worths]
        except DesignError:
            return None

    def turned(self, row: FloatArray, most: int) -> IntArray | None:
        """Return how many of each unit turn the sign of a positive combination (p,); None up to so many.

        Units are left out in the order of their single effects: as many as should suffice by the sum, and more if they
        do not; then as few as suffice in that order.
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
        found = self.without(np.bincount(some, minlength=len(self.model.counts)).astype(np.int64))
        return found is not None and float(row @ found) < -_TURNED
