"""The information of problems with worths of many objects and few other parameters: a graph with a border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from scipy.sparse import eye_array
from scipy.sparse.csgraph import connected_components

from .conjugate import Bordered, Complement, Graph
from .indexed_rows import FloatArray, Gathered, IntArray, Part, gram, weighted_product
from .pairtable import own_columns

_MANY = 300  # with fewer worths a graph is not worth its overhead
_ROUGH = 1e-7  # error of solutions whose error enters squared
_FEW = 32  # most parameters besides the worths


@dataclass(frozen=True, eq=False)
class ObjectGraph:
    """Which parameters are worths, and the graph of the pairs that are compared.

    Objects without a parameter (the reference object and held objects) share the last node.

    Attributes
    ----------
    graph : Graph
        The graph of W + 1 nodes; the first W parameters are the worths of the first W nodes.
    edge : ndarray of int, shape (S,)
        The pair of each comparison; E if neither object has a parameter.
    worths : Gathered, shape (S, W + 1)
    others : tuple of B Gathered, each (S, q)
        Rows of the predictors in the other parameters.
    """

    graph: Graph
    edge: IntArray
    worths: Gathered
    others: tuple[Gathered, ...]

    @property
    def nodes(self) -> int:
        """The number of worths W, which is also the position of the last node."""
        return self.graph.size - 1

    def information(self, weights: FloatArray) -> GraphInformation:
        """Return Σ_bc D_bᵀ W_bc D_c for rows D of the predictors and symmetric weights W (B, B, S)."""
        pairs = np.bincount(self.edge, weights[0, 0], len(self.graph.first) + 1)[:-1].astype(np.float64, copy=False)
        border: FloatArray = np.zeros((self.others[0].shape[1], self.graph.size))
        for rows, weight in zip(self.others, weights[0], strict=True):
            part = weighted_product(rows, self.worths, weight)
            border += part if isinstance(part, np.ndarray) else part.toarray()
        corner = gram(self.others, weights)
        return GraphInformation(
            Bordered(self.graph, pairs, border.T, corner if isinstance(corner, np.ndarray) else corner.toarray())
        )


@dataclass(frozen=True, eq=False)
class GraphInformation:
    """Information on p parameters, the first W of them worths: the system of W + 1 nodes without the last node."""

    system: Bordered

    __array_ufunc__ = None  # lets this class, not numpy, compute the sum of an array and itself

    @property
    def nodes(self) -> int:
        """The number of worths W."""
        return self.system.graph.size - 1

    @property
    def shape(self) -> tuple[int, int]:
        """The shape, parameters × parameters."""
        size = self.nodes + len(self.system.corner)
        return size, size

    def __add__(self, other: Any) -> Any:
        """Return the sum of two informations: a GraphInformation too, if both have the same comparisons."""
        if not isinstance(other, GraphInformation):
            return self.toarray() + other
        a, b = self.system, other.system
        return GraphInformation(
            replace(a, weights=a.weights + b.weights, border=a.border + b.border, corner=a.corner + b.corner)
        )

    __radd__ = __add__

    def toarray(self) -> FloatArray:
        """Return the information as one dense matrix, shape (p, p)."""
        system, nodes = self.system, self.nodes
        total = np.zeros(self.shape)
        i, j, w = system.graph.first, system.graph.second, system.weights
        inside = (i < nodes) & (j < nodes)
        total[i[inside], j[inside]] = total[j[inside], i[inside]] = -w[inside]
        total[np.arange(nodes), np.arange(nodes)] = system.diagonal[:nodes]
        total[:nodes, nodes:] = system.border[:nodes]
        total[nodes:, :nodes] = system.border[:nodes].T
        total[nodes:, nodes:] = system.corner
        return total

    def with_ground(self, right: FloatArray) -> FloatArray:
        """Return the right-hand side (p,) with an entry for the last node that makes the nodes sum to 0, (p + 1,)."""
        worths = right[: self.nodes]
        return np.concatenate([worths, [-worths.sum()], right[self.nodes :]])

    def from_ground(self, values: FloatArray) -> FloatArray:
        """Return a solution (p + 1,) as parameters (p,): worths minus the last node's worth."""
        return np.concatenate([values[: self.nodes] - values[self.nodes], values[self.nodes + 1 :]])

    def independent_worths(self) -> npt.NDArray[np.bool_]:
        """Return which worths are not explained by earlier ones, shape (W,).

        In a component of the graph that lacks the last node, the other worths explain the last one.
        """
        seen = self.system.adjacency.copy()
        seen.eliminate_zeros()
        _, part = connected_components(seen, directed=False)
        last = np.zeros(int(part.max()) + 1, dtype=np.int64)
        np.maximum.at(last, part, np.arange(len(part)))
        alone = last[part[:-1]] == np.arange(self.nodes)
        return np.asarray(~alone)

    def beside_worths(self) -> FloatArray:
        """Return the information on the other parameters, with the worths profiled out, shape (q, q)."""
        return Complement.of(self.system, tolerance=_ROUGH).schur


_SIDES: WeakKeyDictionary[Gathered, tuple[Graph, IntArray, Gathered] | None] = WeakKeyDictionary()


def object_graph(predictors: Sequence[Gathered]) -> ObjectGraph | None:
    """Return the graph of a model's comparisons; None unless parameters are worths of many objects and few others.

    Parameters
    ----------
    predictors : sequence of B Gathered, each (S, p)
        The signed one first.
    """
    signed = predictors[0]
    if signed.shape[1] < _MANY:
        return None
    if signed not in _SIDES:
        _SIDES[signed] = _sides(signed)
    sides = _SIDES[signed]
    if sides is None:
        return None
    graph, edge, worths = sides
    nodes = graph.size - 1
    rest = np.arange(nodes, signed.shape[1])
    without = replace(signed, parts=tuple(part for part in signed.parts if not _has_worths(part, nodes)))
    if any(_has_worths(part, nodes) for rows in predictors[1:] for part in rows.parts):
        return None
    return ObjectGraph(graph, edge, worths, tuple(rows.columns(rest) for rows in (without, *predictors[1:])))


def _sides(signed: Gathered) -> tuple[Graph, IntArray, Gathered] | None:
    """Return the graph, each comparison's pair and difference of nodes; None if rows are not differences of nodes."""
    families = [parts for parts in signed.families() if parts[0].matrix.shape[0] > 1 and len(parts) == 2]
    for one, other in families:
        columns = own_columns(one.matrix) if (one.sign, other.sign) == (1.0, -1.0) else None
        if columns is None:
            continue
        nodes = int(columns.max()) + 1
        alone = all(not _has_worths(part, nodes) for part in signed.parts if part.matrix is not one.matrix)
        few = signed.shape[1] - nodes <= _FEW and np.all(signed.chosen >= nodes)
        if nodes < _MANY or not few or not alone:
            continue
        node = np.where(columns >= 0, columns, nodes)
        return _graph(node[one.index], node[other.index], nodes + 1)
    return None


def _has_worths(part: Part, nodes: int) -> bool:
    """Whether a part has entries in the first `nodes` parameters."""
    return bool(abs(part.matrix[:, :nodes]).sum() > 0)


def _graph(i: IntArray, j: IntArray, size: int) -> tuple[Graph, IntArray, Gathered]:
    key = np.minimum(i, j) * size + np.maximum(i, j)
    pairs, edge = np.unique(key, return_inverse=True)
    first, second = np.divmod(pairs, size)
    same = first == second  # neither object has a parameter: these are the last pair, if there are any
    if same.any():
        first, second = first[:-1], second[:-1]
    every = eye_array(size, format="csr")
    worths = Gathered((Part(every, i, 1.0), Part(every, j, -1.0)), (len(i), size))
    return Graph.of(first, second, size), edge.ravel(), worths
