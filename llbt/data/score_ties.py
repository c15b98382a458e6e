"""Which of two scores is the higher one, and when they are tied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.columns import FloatArray

Said = npt.NDArray[np.int8]

FIRST, TIE, SECOND, NO_GAME = 0, 1, 2, -1
ROUNDING = 1e-12  # relative, as for ratings: 0.8 − 0.7 is off by some 1e-16
_ENTRIES = 2**21  # scores compared at a time: 16 MB


@dataclass(frozen=True)
class TieRule:
    """When two scores are tied: they differ by at most a threshold, give or take 1e-12 of the larger.

    Attributes
    ----------
    threshold : float
        On the scale of the scores, or a share of the larger of the two by absolute value.
    relative : bool
        Which of these.
    """

    threshold: float = 0.0
    relative: bool = False

    def margin(self, larger: FloatArray) -> FloatArray:
        """Return how far two scores may be apart and tie, the larger of which has that absolute value."""
        if self.relative:
            return np.asarray((self.threshold + ROUNDING) * larger)
        return np.asarray(self.threshold + ROUNDING * larger)

    def said(self, one: FloatArray, other: FloatArray) -> Said:
        """Return for each two scores 0 where the first is higher, 1 for a tie, 2 for the second, −1 without both."""
        with np.errstate(over="ignore"):  # 1e308 − (−1e308)
            lead = one - other
            margin = self.margin(np.maximum(np.abs(one), np.abs(other)))
        said = TIE - (lead > margin).astype(np.int8) + (lead < -margin)
        said[np.isnan(lead)] = NO_GAME
        return np.asarray(said, dtype=np.int8)

    def said_by_pair(self, scores: FloatArray) -> Iterator[Said]:
        """Return what the scores (N, M) say of all N(N − 1)/2 pairs, in the order of `numpy.triu_indices`.

        Yields blocks of pairs, shape (K, M).
        """
        step = max(1, _ENTRIES // max(1, scores.shape[1]))
        for i in range(len(scores) - 1):
            for low in range(i + 1, len(scores), step):
                yield self.said(scores[i], scores[low : low + step])
