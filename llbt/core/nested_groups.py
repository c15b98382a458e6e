"""Find the differences between estimates that may be the largest, by bounds for groups that move together.

If objects were compared with similar objects, neighbouring estimates are close in every draw, and standard errors grow
with the distance. The extreme values of two groups, over the smallest standard error between them, bound all
differences between the groups. Pairs of groups whose bound is below the requested difference are skipped, and the
others are halved down to single estimates (branch and bound with nested groups, as in dual-tree algorithms: Gray &
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

_GROUPS = 64  # most groups of the first level, where all pairs are computed
_COLUMNS = 16  # directions in which estimates differ most; groups are split along these
_SLACK = 1e-5  # rounding of a bound


@dataclass(frozen=True, eq=False)
class NestedGroups:
    """J estimates in nested groups.

    Attributes
    ----------
    order : ndarray of int, shape (N,)
        The estimate at each place, N at least J; the last estimate also fills the remaining places.
    levels : tuple of ndarray, each (G, G)
        The largest 1/s_ij between the groups of each level. The groups of a level have equally many consecutive places.
        A group consists of two groups of the next level; the groups of the last level are single places.
    """

    order: IntArray
    levels: tuple[SingleArray, ...]

    @classmethod
    def of(cls, root: FloatArray, inverse: SingleArray) -> NestedGroups:
        """Return groups of estimates that have similar rows in the root (J, r) of their covariance."""
        size = len(root)
        span = 1 << max(0, int(np.ceil(np.log2(size / _GROUPS))))  # places in a group of the first level
        number = -(-size // span)
        widest = np.argsort(-(root**2).sum(axis=0), kind="stable")[:_COLUMNS]
        order = np.empty(number * span, dtype=np.int64)
        order[:size] = _parted(root[:, widest], np.arange(size), number * span, span)
        order[size:] = order[size - 1]
        between = inverse[np.ix_(order, order)]
        between[size:] = between[:, size:] = 0  # these pairs are counted already
        levels = [between]
        while len(levels[0]) > number:
            half = len(levels[0]) // 2
            levels.insert(0, levels[0].reshape(half, 2, half, 2).max(axis=(1, 3)))
        return cls(order, tuple(levels))

    def reaching(
        self, values: SingleArray, off: SingleArray, least: float, most: int
    ) -> tuple[IntArray, IntArray, IntArray] | None:
        """Return the pairs whose difference may reach `least` in a draw: draw, i and j, (c,) each.

        Parameters
        ----------
        values : ndarray, shape (J, n)
            Estimates in n draws.
        off : ndarray, shape (J,)
            Bounds of the values' errors.
        least : float
        most : int
            The most pairs of groups that are checked at a level; with more, the result is None.
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
        node, draw = np.nonzero(upper >= wanted)
        a, b = a[node], b[node]
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
        """Return an upper bound of the differences between groups a and b of a level in a draw, (c,) each."""
        (low, high), between = bounds[level], self.levels[level]
        one, other = a * high.shape[1] + draw, b * high.shape[1] + draw  # one index is faster than two
        apart = np.maximum(high.take(one) - low.take(other), high.take(other) - low.take(one))
        return np.asarray(apart * between.take(a * len(between) + b))


def _parted(rows: FloatArray, members: IntArray, places: int, span: int) -> IntArray:
    """Return members sorted into halves, again and again, along the column of `rows` that varies most."""
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
    """Return the smallest and largest value of each group in each draw, (G, n), level by level."""
    bounds = [(values - off, values + off)]
    while len(bounds) < levels:
        low, high = bounds[0]
        bounds.insert(0, (np.minimum(low[::2], low[1::2]), np.maximum(high[::2], high[1::2])))
    return bounds


def _halved(a: IntArray, b: IntArray, draw: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the four pairs of halves of each pair of groups, (4 c,) each."""
    return (
        np.concatenate([2 * a, 2 * a, 2 * a + 1, 2 * a + 1]),
        np.concatenate([2 * b, 2 * b + 1, 2 * b, 2 * b + 1]),
        np.tile(draw, 4),
    )
