"""Choose how the step of a fit with many objects is solved: dense, along a band, or by conjugate gradients.

Only this module chooses. The cost of direct solutions is known beforehand. A dense factorization's cost follows from
the number of parameters. The cost along a band follows from the band of the graph in reverse Cuthill-McKee order
(Cuthill & McKee 1969); the band is narrow if objects meet only similar objects. The cost of conjugate gradients is not
known. They are tried for as long as the cheaper direct solution would take. If they do not finish, the direct solution
is used from then on, so a step costs at most twice the best.
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

_TOLERANCE = 1e-6  # tolerance of a step by conjugate gradients; the next step corrects its error
_LEAST = 12  # iterations that any graph needs
_CALL = 3e-5  # seconds of an iteration, whatever its size
_ENTRY = 1e-9  # seconds for an entry of a product
_DENSE = 2.5e-11  # seconds for an operation of a dense factorization
_BAND = 7e-11  # the same along a band, for each entry
_MARGIN = 100
_CYCLES = 1000  # most cycles of a graph: a factor then fills up among at most twice as many objects
_FILLED = 0.05  # share of non-zero entries from which a sparse factor fills up and a dense one is faster
_BLOCKS = 4  # variances along a band cost so many times as much as a factor
_SHARE = 0.25  # share of the memory that a factor may take


@dataclass(frozen=True)
class Costs:
    """Estimated seconds.

    Attributes
    ----------
    dense, band : float
        Seconds of a direct solution; infinite if the factor does not fit into memory.
    iteration : float
        Seconds of an iteration of conjugate gradients.
    begin : float
        Seconds of the preparation before the first iteration.
    """

    dense: float
    band: float
    iteration: float
    begin: float = 0.0

    @property
    def direct(self) -> Direct:
        """The cost of the cheaper direct solution."""
        return "dense" if self.dense <= self.band else "band"

    @property
    def most(self) -> int | None:
        """The number of iterations to try conjugate gradients; 0 for none, None if there is no other way."""
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
    """Return the diagonal of the inverse, shape (p,), along the band of a narrow graph; None if that costs more.

    Worths are differences from the last node, whose value is 0 along the band too.
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
    """Return the elimination order of a connected graph with few cycles; None if a factor may fill up."""
    return Branches() if len(graph.first) - graph.size < _CYCLES else None


def band_within(graph: Graph, iterations: int) -> Band | None:
    """Return the graph's band if factoring costs at most `iterations` conjugate gradient steps, else None."""
    costs = costs_of(graph, 0)
    return graph.band if costs.band <= costs.begin + iterations * costs.iteration else None


class Steps:
    """Solves the steps of one fit, and remembers the best way to solve them."""

    def __init__(self) -> None:
        self._chooser: _Chooser | None = None
        self._blocks: JudgeBlocks | None = None

    def solve(self, matrix: Any, right: FloatArray) -> FloatArray:
        """Solve with a positive definite matrix, shape (p,).

        Raises
        ------
        LinAlgError
            If the matrix is not positive definite.
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
    """The ways to solve the system of one graph."""

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
            solution = bordered_gradients(system, wanted, tolerance=_TOLERANCE, most=most)
            if solution.finished:
                return information.from_ground(solution.values)
            self._given_up = True
        if self._costs.direct == "dense":
            return dense_solution(information.toarray(), right)
        factor = information.system.factored(self.graph.band)
        return _with_border(information, right, factor.solve(_columns(information, right)))


def _columns(information: GraphInformation, right: FloatArray) -> FloatArray:
    """Return the right-hand sides for the Laplacian: the border and the given right-hand side, shape (J, q + 1)."""
    nodes = information.nodes
    return np.column_stack([information.system.border, information.with_ground(right)[: nodes + 1]])


def _with_border(information: GraphInformation, right: FloatArray, solved: FloatArray) -> FloatArray:
    """Return the solution of the whole system, (p,), from the solutions for the Laplacian, (J, q + 1)."""
    system, nodes = information.system, information.nodes
    inner, worths = solved[:, :-1], solved[:, -1]
    schur = system.corner - system.border.T @ inner
    rest = linalg.solve((schur + schur.T) / 2, right[nodes:] - system.border.T @ worths, assume_a="pos")
    return information.from_ground(np.concatenate([worths - inner @ rest, rest]))


def _by_factor(matrix: Any, right: FloatArray) -> FloatArray:
    """Solve with a positive definite sparse matrix."""
    try:
        factor = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    except RuntimeError as error:  # the matrix is exactly singular
        raise linalg.LinAlgError(str(error)) from None
    return np.asarray(factor.solve(right))


def dense_solution(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with a positive definite matrix, scaled to unit diagonal first."""
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    scaled = matrix * scale
    scaled *= scale[:, None]
    # the transpose of a symmetric matrix has the layout that LAPACK needs, so nothing is copied
    factor, minor = linalg.lapack.dpotrf(scaled.T, lower=True, clean=False, overwrite_a=True)
    if minor:
        raise linalg.LinAlgError(f"the leading minor of order {minor} is not positive definite")
    return np.asarray(scale * linalg.lapack.dpotrs(factor, scale * right, lower=True)[0])
