"""How the step of a fit with many objects is solved: dense, along a band, or by conjugate gradients.

The one place that chooses. What direct ways cost is known beforehand: a dense factorization from the number of
parameters, one along a band from the band that reverse Cuthill-McKee leaves of the graph (Cuthill & McKee 1969), which
is narrow where everybody meets his like. What conjugate gradients cost is not known, so they are tried for as long as
the cheaper direct way would take, which is taken from then on where they have not finished: whichever is best, a step
costs at most twice as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from ..budgets import memory
from .conjugate import Graph, bordered_gradients
from .gathered import FloatArray, IntArray
from .judgeblocks import JudgeBlocks
from .objectgraph import GraphInformation

Direct = Literal["dense", "band"]

_TOLERANCE = 1e-6  # of a step by conjugate gradients: what it misses the next one makes good
_LEAST = 12  # iterations that they need on any graph
_CALL = 3e-5  # seconds of an iteration whatever its size
_ENTRY = 1e-9  # seconds of an entry of a product
_DENSE = 2.5e-11  # seconds of an operation of a dense factorization
_BAND = 7e-11  # and of one along a band, with as many more entries
_MARGIN = 100
_SHARE = 0.25  # of the memory that a factor may take


@dataclass(frozen=True)
class Costs:
    """Estimated seconds.

    Attributes
    ----------
    dense, band : float
        Of a direct solution; infinite where the factor does not fit into memory.
    iteration : float
        Of an iteration of conjugate gradients.
    begin : float
        Of what they need before the first.
    """

    dense: float
    band: float
    iteration: float
    begin: float = 0.0

    @property
    def direct(self) -> Direct:
        """The cheaper of the direct ways."""
        return "dense" if self.dense <= self.band else "band"

    @property
    def most(self) -> int | None:
        """Iterations for which conjugate gradients are tried; 0 for not at all, None where there is no other way."""
        cost = min(self.dense, self.band)
        if not np.isfinite(cost):
            return None
        most = int((cost - self.begin) / self.iteration)
        return most if most >= _LEAST else 0


@dataclass(frozen=True, eq=False)
class Band:
    """The nodes of a graph but its last, ordered so that those of a pair stand near each other.

    Attributes
    ----------
    order : ndarray of int, shape (J − 1,)
        The node at each place.
    width : int
        The furthest that the two nodes of a pair are from each other.
    """

    order: IntArray
    width: int

    @classmethod
    def of(cls, graph: Graph) -> Band:
        """Return the order by reverse Cuthill-McKee."""
        inside = csr_array(graph.pattern[:-1, :-1])
        order = np.asarray(reverse_cuthill_mckee(inside, symmetric_mode=True), dtype=np.int64)
        place = _places(order)
        both = (graph.first < len(order)) & (graph.second < len(order))
        apart = np.abs(place[graph.first[both]] - place[graph.second[both]])
        return cls(order, int(apart.max(initial=0)))

    def solve(self, information: GraphInformation, right: FloatArray) -> FloatArray:
        """Return the solution of the Laplacian, shape (J, k), that of the last node 0."""
        system, size = information.system, len(self.order)
        place = _places(self.order)
        entries = np.zeros((self.width + 1, size))
        entries[0, place] = system.diagonal[:-1]
        first, second = system.graph.first, system.graph.second
        both = (first < size) & (second < size)
        a, b = place[first[both]], place[second[both]]
        entries[np.abs(a - b), np.minimum(a, b)] = -system.weights[both]
        factor = linalg.cholesky_banded(entries, lower=True, overwrite_ab=True, check_finite=False)
        found = np.zeros(right.shape)
        found[self.order] = linalg.cho_solve_banded((factor, True), right[self.order], check_finite=False)
        return found


def _places(order: IntArray) -> IntArray:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


def costs_of(graph: Graph, band: Band, q: int) -> Costs:
    """Return what a step with q parameters beside the worths costs in each way."""
    size = graph.size
    room = memory() * _SHARE / 8
    dense = _DENSE * size**3 / 3 + 2 * _ENTRY * size**2 if size**2 < room else np.inf
    wide = size * (band.width + 1.0)
    along = _CALL + _BAND * wide * (band.width + _MARGIN) + _ENTRY * wide if wide < room else np.inf
    groups = 0.0 if graph.groups is None else float(graph.groups.max()) + 1
    iteration = _CALL + _ENTRY * (2 * len(graph.first) + (8 + 2 * q) * size + groups**2)
    return Costs(dense, along, iteration, 2 * _DENSE * groups**3)


class Steps:
    """Solves for the steps of one fit; remembers which way is best."""

    def __init__(self) -> None:
        self._chooser: _Chooser | None = None
        self._blocks: JudgeBlocks | None = None

    def solve(self, matrix: Any, right: FloatArray) -> FloatArray:
        """Solve with a positive definite matrix, shape (p,).

        Raises
        ------
        LinAlgError
            Where it is not.
        """
        if not isinstance(matrix, GraphInformation):
            return self._sparse_solution(matrix, right) if issparse(matrix) else dense_solution(matrix, right)
        graph = matrix.system.graph
        if self._chooser is None or self._chooser.graph is not graph:
            self._chooser = _Chooser(graph, len(matrix.system.corner))
        return self._chooser.solve(matrix, right)

    def _sparse_solution(self, matrix: Any, right: FloatArray) -> FloatArray:
        known = None if self._blocks is None else self._blocks.partition
        self._blocks = JudgeBlocks.of(matrix, known)
        return _by_factor(matrix, right) if self._blocks is None else self._blocks.solve(right)


class _Chooser:
    """The ways through one graph."""

    def __init__(self, graph: Graph, q: int) -> None:
        self.graph = graph
        self._q = q
        self._given_up = False

    @cached_property
    def _band(self) -> Band:
        return Band.of(self.graph)

    @cached_property
    def _costs(self) -> Costs:
        return costs_of(self.graph, self._band, self._q)

    def solve(self, information: GraphInformation, right: FloatArray) -> FloatArray:
        most = 0 if self._given_up else self._costs.most
        if most != 0:
            system, wanted = information.system, information.with_ground(right)
            found = bordered_gradients(system, wanted, tolerance=_TOLERANCE, most=most)
            if found.finished:
                return information.from_ground(found.values)
            self._given_up = True
        if self._costs.direct == "dense":
            return dense_solution(information.toarray(), right)
        return _with_border(information, right, self._band.solve(information, _columns(information, right)))


def _columns(information: GraphInformation, right: FloatArray) -> FloatArray:
    """Return what the Laplacian is solved for: the border and the right-hand side, shape (J, q + 1)."""
    nodes = information.nodes
    return np.column_stack([information.system.border, information.with_ground(right)[: nodes + 1]])


def _with_border(information: GraphInformation, right: FloatArray, solved: FloatArray) -> FloatArray:
    """Return the solution of the whole system, (p,), from that of the Laplacian, (J, q + 1)."""
    system, nodes = information.system, information.nodes
    inner, worths = solved[:, :-1], solved[:, -1]
    schur = system.corner - system.border.T @ inner
    rest = linalg.solve((schur + schur.T) / 2, right[nodes:] - system.border.T @ worths, assume_a="pos")
    return information.from_ground(np.concatenate([worths - inner @ rest, rest]))


def _by_factor(matrix: Any, right: FloatArray) -> FloatArray:
    """Solve with a positive definite sparse matrix."""
    try:
        factor = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    except RuntimeError as error:  # exactly singular
        raise linalg.LinAlgError(str(error)) from None
    return np.asarray(factor.solve(right))


def dense_solution(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with a positive definite matrix, scaled to unit diagonal first."""
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    scaled = matrix * scale
    scaled *= scale[:, None]
    # the transpose of a symmetric matrix is laid out as LAPACK wants it, so that nothing is copied
    factor, minor = linalg.lapack.dpotrf(scaled.T, lower=True, clean=False, overwrite_a=True)
    if minor:
        raise linalg.LinAlgError(f"the leading minor of order {minor} is not positive definite")
    return np.asarray(scale * linalg.lapack.dpotrs(factor, scale * right, lower=True)[0])
