"""Which differences between estimates may be the largest: bounds for groups of estimates that move together.

Where objects were compared with similar ones, estimates are near those of their neighbours in every draw, while
standard errors grow with the distance. The extreme values of two groups, over the smallest standard error between them,
bound all differences between the groups. Pairs of groups whose bound is below the requested difference are skipped, and
the others are halved down to single estimates (branch and bound with nested groups, as in dual-tree algorithms: Gray &
Moore 2001).

References
----------
Gray, A. G. & Moore, A. W. (2001). 'N-body' problems in statistical learning. Advances in Neural Information Processing
Systems 13, 521-527.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .columns import FloatArray, IntArray

SingleArray = npt.NDArray[np.float32]

_GROUPS = 64  # at most, of which all pairs are gone through
_COLUMNS = 16  # directions in which estimates differ most, along which groups are parted
_SLACK = 1e-5  # of a bound: rounding


@dataclass(frozen=True, eq=False)
class NestedGroups:
    """J estimates in groups of groups.

    Attributes
    ----------
    order : ndarray of int, shape (N,)
        The estimate at each place, N at least J; the last stands at the places behind it, too.
    levels : tuple of ndarray, each (G, G)
        The greatest 1/s_ij between groups of a level, each of the same number of places that follow each other. Each
        group has two of the next level; those of the last level are places.
    """

    order: IntArray
    levels: tuple[SingleArray, ...]

    @classmethod
    def of(cls, root: FloatArray, inverse: SingleArray) -> NestedGroups:
        """Return groups of estimates whose rows of the root (J, r) of their covariance are near each other."""
        size = len(root)
        span = 1 << max(0, int(np.ceil(np.log2(size / _GROUPS))))  # places of a group of the first level
        number = -(-size // span)
        widest = np.argsort(-(root**2).sum(axis=0), kind="stable")[:_COLUMNS]
        order = np.empty(number * span, dtype=np.int64)
        order[:size] = _parted(root[:, widest], np.arange(size), number * span, span)
        order[size:] = order[size - 1]
        between = inverse[np.ix_(order, order)]
        between[size:] = between[:, size:] = 0  # counted already
        levels = [between]
        while len(levels[0]) > number:
            half = len(levels[0]) // 2
            levels.insert(0, levels[0].reshape(half, 2, half, 2).max(axis=(1, 3)))
        return cls(order, tuple(levels))

    def reaching(
        self, values: SingleArray, off: SingleArray, least: float, most: int
    ) -> tuple[IntArray, IntArray, IntArray] | None:
        """Return the pairs whose difference may be as large as `least` in a draw: draw, i and j, (c,) each.

        Parameters
        ----------
        values : ndarray, shape (J, n)
            Estimates in n draws.
        off : ndarray, shape (J,)
            Bounds of their error.
        least : float
        most : int
            Pairs of groups of one level that are looked at; None is returned where there are more.
        """
        bounds = _bounds(values[self.order], off[self.order][:, None], len(self.levels))
        low, high = bounds[0]
        a, b = np.triu_indices(len(high))
        upper = np.empty((len(a), values.shape[1]), dtype=np.float32)
        start = 0
        for k, above in enumerate(self.levels[0]):
            some = upper[start : start + len(above) - k]
            np.maximum(high[k] - low[k:], high[k:] - low[k], out=some)
            some *= above[k:, None]
            start += len(some)
        wanted = np.float32((1 - _SLACK) * least)
        kept, draw = np.nonzero(upper >= wanted)
        a, b = a[kept], b[kept]
        for level in range(1, len(self.levels)):
            if 4 * len(draw) > most:
                return None
            a, b, draw = _halved(a, b, draw)
            reached = self._upper(bounds, level, a, b, draw) >= wanted
            a, b, draw = a[reached], b[reached], draw[reached]
        return draw, self.order[a], self.order[b]

    def _upper(
        self, bounds: list[tuple[SingleArray, SingleArray]], level: int, a: IntArray, b: IntArray, draw: IntArray
    ) -> SingleArray:
        """Return what no difference between groups a and b of a level exceeds in a draw, (c,) each."""
        (low, high), between = bounds[level], self.levels[level]
        one, other = a * high.shape[1] + draw, b * high.shape[1] + draw  # taking by one index is faster than by two
        apart = np.maximum(high.take(one) - low.take(other), high.take(other) - low.take(one))
        return np.asarray(apart * between.take(a * len(between) + b))


def _parted(rows: FloatArray, members: IntArray, places: int, span: int) -> IntArray:
    """Return members in an order in which halves of so many places are apart in the direction that differs most."""
    if places == 1 or len(members) <= 1:
        return members
    inside = rows[members]
    column = int(((inside - inside.mean(axis=0)) ** 2).sum(axis=0).argmax())
    members = members[np.argsort(inside[:, column], kind="stable")]
    half = (places // span + 1) // 2 * span if places > span else places // 2
    return np.concatenate(
        [_parted(rows, members[:half], half, span), _parted(rows, members[half:], places - half, span)]
    )


def _bounds(values: SingleArray, off: SingleArray, levels: int) -> list[tuple[SingleArray, SingleArray]]:
    """Return the least and the greatest value of each group in each draw, (G, n), level by level."""
    found = [(values - off, values + off)]
    while len(found) < levels:
        low, high = found[0]
        found.insert(0, (np.minimum(low[::2], low[1::2]), np.maximum(high[::2], high[1::2])))
    return found


def _halved(a: IntArray, b: IntArray, draw: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the four pairs of halves of each pair of groups, (4 c,) each."""
    return (
        np.concatenate([2 * a, 2 * a, 2 * a + 1, 2 * a + 1]),
        np.concatenate([2 * b, 2 * b + 1, 2 * b, 2 * b + 1]),
        np.tile(draw, 4),
    )
