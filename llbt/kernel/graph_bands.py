"""Long and narrow graphs of comparisons: split into groups of neighbours, and solved between the groups.

Each step of conjugate gradients reaches only neighbouring objects, so the number of steps grows with the length of the
graph. The Laplacian between groups of neighbours is small. If it is solved in every step (a two-level method:
Nicolaides 1987, SIAM Journal on Numerical Analysis 24(2), 355-365), the steps only have to find the differences inside
the groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from .indexed_rows import FloatArray, IntArray

_NARROW = 25  # a graph is narrow if it takes so many steps from one end to the other
_GROUPS = 2000  # most groups of a narrow graph
_OBJECTS = 20  # objects of a group, as a rule
_CHEAP = 300  # so many groups cost nothing, even if each has fewer objects
_FEWEST = 5  # fewest objects of a group
_BESIDE = 4  # pieces of a stretch, side by side, that are allowed for
_LEVELS = 3  # steps from one end of a stretch to the other


def cut_across(pattern: csr_array) -> IntArray | None:
    """Return the group of each object, (J,), from a graph's symmetric pattern; None where groups would not help.

    The graph is cut into stretches from one end to the other; groups are parts of a stretch's connected pieces. There
    are no groups if the graph is wide, is not connected, or has too many arms.
    """
    end = 0
    for _ in range(3):  # the farthest object from the farthest object is at an end, or near it
        order, before = breadth_first_order(pattern, end)
        end = int(order[-1])
    if len(order) < pattern.shape[0]:
        return None
    steps, at = 0, end
    while before[at] >= 0:
        steps, at = steps + 1, before[at]
    if steps < _NARROW:
        return None
    place = np.zeros(pattern.shape[0], dtype=np.int64)
    place[order] = np.arange(len(order))
    number = _number(len(place))
    stretches = max(1, min(steps // _LEVELS, number // _BESIDE))
    piece = _pieces(pattern, place * stretches // len(place))
    return None if piece.max() >= 2 * number else _parts(piece, place, number)


def _number(size: int) -> int:
    """Return a number of groups for which the inverse is worth its cost; the cost grows with the cube of the number."""
    return min(_GROUPS, max(size // _OBJECTS, min(size // _FEWEST, _CHEAP)))


def _pieces(pattern: csr_array, stretch: IntArray) -> IntArray:
    """Return the connected piece of each object's stretch, shape (J,). Small pieces of a stretch are joined."""
    row = np.repeat(np.arange(len(stretch)), np.diff(pattern.indptr))
    inside = stretch[row] == stretch[pattern.indices]
    within = csr_array((np.ones(inside.sum()), (row[inside], pattern.indices[inside])), shape=pattern.shape)
    number, piece = connected_components(within, directed=False)
    small = np.bincount(piece, minlength=number)[piece] < _FEWEST
    return np.asarray(np.unique(np.where(small, number + stretch, piece), return_inverse=True)[1], dtype=np.int64)


def _parts(piece: IntArray, place: IntArray, number: int) -> IntArray:
    """Split the pieces into about `number` parts of neighbouring places; return each object's part, (J,)."""
    sizes = np.bincount(piece)
    parts = np.maximum(1, np.round(sizes * (number / len(piece)))).astype(np.int64)
    order = np.lexsort((place, piece))
    of = piece[order]
    rank = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[of]
    part_of = np.empty(len(order), dtype=np.int64)
    part_of[order] = (np.cumsum(parts) - parts)[of] + rank * parts[of] // sizes[of]
    return part_of


@dataclass(frozen=True, eq=False)
class Groups:
    """The inverse Laplacian between G groups of objects.

    Attributes
    ----------
    of : ndarray of int, shape (J,)
        The group of each object.
    inverse : ndarray, shape (G, G)
        The inverse of the Laplacian plus a constant that makes it regular.
    """

    of: IntArray
    inverse: FloatArray

    @classmethod
    def between(cls, of: IntArray, first: IntArray, second: IntArray, weights: FloatArray) -> Groups:
        """Return the groups of a graph with weighted pairs (E,)."""
        size = int(of.max()) + 1
        sums = np.bincount(of[first] * size + of[second], weights, size**2).reshape(size, size)
        sums = -sums - sums.T
        np.fill_diagonal(sums, 0.0)
        np.fill_diagonal(sums, -sums.sum(axis=1))
        sums += np.trace(sums) / size**2
        return cls(of, linalg.inv(sums, overwrite_a=True))

    def solved(self, right: FloatArray) -> FloatArray:
        """Return the part of the solution that is constant within groups, shape (J, k), for right-hand sides (J, k)."""
        sums = np.stack([np.bincount(self.of, column, len(self.inverse)) for column in right.T], axis=1)
        return np.asarray((self.inverse @ sums)[self.of])
