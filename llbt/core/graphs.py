"""Which objects the judgments connect: directly or through others, in one direction or in both."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .columns import FloatArray, IntArray


def components_of(size: int, pairs: IntArray) -> tuple[int, IntArray]:
    """Return the number of groups that pairs (S, 2) connect, and the group of each object, shape (size,)."""
    number, group = connected_components(_graph(size, *pairs.T), directed=False)
    return int(number), np.asarray(group, dtype=np.int64)


def strong_components(size: int, edges: list[tuple[IntArray, IntArray, npt.NDArray[np.bool_]]]) -> IntArray:
    """Return the strong component of each node, shape (size,), of a directed graph.

    Parameters
    ----------
    edges : list of (ndarray, ndarray, ndarray of bool), each (S,)
        Start nodes, end nodes, and whether each edge exists.
    """
    start = np.concatenate([a[is_edge] for a, _, is_edge in edges])
    end = np.concatenate([b[is_edge] for _, b, is_edge in edges])
    return np.asarray(connected_components(_graph(size, start, end), connection="strong")[1], dtype=np.int64)


def ordered_components(size: int, pairs: IntArray, tallies: FloatArray) -> IntArray:
    """Return the strong component of each object (size,); edges lead from winners to losers, for ties both ways.

    Parameters
    ----------
    pairs : ndarray of int, shape (S, 2)
    tallies : ndarray, shape (S, 3)
        Wins of i, undecided judgments, wins of j.
    """
    (i, j), (wins, ties, losses) = pairs.T, (tallies > 0).T
    return strong_components(size, [(i, j, wins | ties), (j, i, losses | ties)])


def _graph(size: int, start: IntArray, end: IntArray) -> coo_array:
    return coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(size, size))
