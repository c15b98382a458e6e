"""How the step of a fit with many objects is solved: dense, along a band, or by conjugate gradients.

The one place that chooses. The cost of direct solutions is known beforehand: a dense factorization from the number of
parameters, one along a band from the band that reverse Cuthill-McKee leaves of the graph (Cuthill & McKee 1969), which
is narrow where objects meet similar ones only. The cost of conjugate gradients is not known. They are tried for as long
as the cheaper direct solution would take. If they do not finish, the direct one is used from then on, so a step costs
at most twice the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import linalg
from scipy.sparse import issparse
from scipy.sparse.linalg import splu

from ..base.budgets import memory
from .band import Band, Branches
from .conjugate import Graph, bordered_gradients
from .indexed_rows import FloatArray
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
_CYCLES = 1000  # of a graph beside a tree: a factor fills up among twice as many objects at most
_FILLED = 0.05  # of the entries of a sparse matrix, from which a factor fills up, and a dense one is faster
_BLOCKS = 4  # times as much variances along a band cost as a factor
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
        Seconds of the preparation before the first iteration.
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


def costs_of(graph: Graph, q: int) -> Costs:
    """Return the cost of a step with q parameters besides the worths, for each way to solve it."""
    size, band = graph.size, graph.band
    room = memory() * _SHARE / 8
    dense = _DENSE * size**3 / 3 + 2 * _ENTRY * size**2 if size**2 < room else np.inf
    wide = size * (band.width + 1.0)
    along = _CALL + _BAND * wide * (band.width + _MARGIN) + _ENTRY * wide if wide < room else np.inf
    groups = 0.0 if graph.groups is None else float(graph.groups.max()) + 1
    iteration = _CALL + _ENTRY * (2 * len(graph.first) + (8 + 2 * q) * size + groups**2)
    return Costs(dense, along, iteration, 2 * _DENSE * groups**3)


def variances_along(information: GraphInformation) -> FloatArray | None:
    """Return the diagonal of the inverse, shape (p,), along the band of a narrow graph; None where that costs more.

    Worths are measured from the last node, whose value is 0 along the band, too.
    """
    system, nodes = information.system, information.nodes
    costs = costs_of(system.graph, len(system.corner))
    if _BLOCKS * costs.band > costs.dense:
        return None
    factor = system.factored(system.graph.band)
    inner = factor.solve(system.border)
    schur = system.corner - system.border.T @ inner
    rest = linalg.inv((schur + schur.T) / 2) if len(schur) else schur
    worths = factor.variances() + np.einsum("jp,pq,jq->j", inner, rest, inner)
    return np.concatenate([worths[:nodes], np.diag(rest)])


def branches_of(graph: Graph) -> Branches | None:
    """Return the way of a connected graph that has few cycles; None where more may fill a factor up."""
    return Branches() if len(graph.first) - graph.size < _CYCLES else None


def band_within(graph: Graph, iterations: int) -> Band | None:
    """Return the band of a graph where a factor along it costs no more than so many conjugate gradients, else None."""
    costs = costs_of(graph, 0)
    return graph.band if costs.band <= costs.begin + iterations * costs.iteration else None


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
        if self._blocks is not None:
            return self._blocks.solve(right)
        if matrix.nnz > _FILLED * matrix.shape[0] * matrix.shape[1]:
            return dense_solution(matrix.toarray(), right)
        return _by_factor(matrix, right)


class _Chooser:
    """The ways through one graph."""

    def __init__(self, graph: Graph, q: int) -> None:
        self.graph = graph
        self._q = q
        self._given_up = False

    @cached_property
    def _costs(self) -> Costs:
        return costs_of(self.graph, self._q)

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
        factor = information.system.factored(self.graph.band)
        return _with_border(information, right, factor.solve(_columns(information, right)))


def _columns(information: GraphInformation, right: FloatArray) -> FloatArray:
    """Return the right-hand sides of the Laplacian: the border and the right-hand side, shape (J, q + 1)."""
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
