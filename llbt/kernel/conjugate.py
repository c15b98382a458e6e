"""Conjugate gradients for the information of many objects: a graph's Laplacian with a border of a few dense columns.

If every object has a worth of its own, the information on the worths is the weighted Laplacian L of the graph of judged
pairs. Ties, order and covariates add a border of a few columns:

    [ L + diag(ridge)   B ]
    [ Bᵀ                C ]

No array of objects × objects is ever made. A constant added to all worths changes nothing, so without a ridge the null
space of L is the constants. Right-hand sides then have to sum to 0 over the objects, as scores and differences do, and
solutions are centred. This is better conditioned than leaving an object out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg
from scipy.sparse import coo_array, csr_array

from .band import Band, Branches, Factor, SparseFactor
from .graph_bands import Groups, cut_across
from .indexed_rows import FloatArray, IntArray

_FLAT = 1e-15  # share of a direction's curvature by the diagonal alone, below which the curvature is rounding
TIGHT = 1e-12  # share of the right-hand side's length that may be left, in the norm of the preconditioner


@dataclass(frozen=True, eq=False)
class Graph:
    """The graph of judged pairs: each pair once, whichever object comes first.

    Attributes
    ----------
    size : int
        Number of objects J.
    first, second : ndarray of int, shape (E,)
        The two objects of each pair.
    pattern : csr_array, shape (J, J)
        The pair of each entry of the adjacency matrix, counted from 1.
    """

    size: int
    first: IntArray
    second: IntArray
    pattern: csr_array

    @classmethod
    def of(cls, first: IntArray, second: IntArray, size: int) -> Graph:
        """Return the graph of distinct pairs of distinct objects 0 … size − 1."""
        small = np.int32 if 2 * len(first) < np.iinfo(np.int32).max else np.int64  # takes half the memory
        number = np.arange(1, len(first) + 1, dtype=small)
        rows, columns = (np.concatenate(sides).astype(small) for sides in ([first, second], [second, first]))
        pattern = coo_array((np.concatenate([number, number]), (rows, columns)), shape=(size, size)).tocsr()
        return cls(size, first, second, pattern)

    @cached_property
    def groups(self) -> IntArray | None:
        """The group of each object, shape (J,), in a long and narrow graph; None for other graphs."""
        return cut_across(self.pattern)

    @cached_property
    def band(self) -> Band:
        """An order of the objects in which the two objects of a pair are near each other."""
        return Band.of(self.pattern)

    def adjacency(self, weights: FloatArray) -> csr_array:
        """Return the symmetric matrix of the pairs' weights (E,), shape (J, J)."""
        entries = weights[self.pattern.data - 1]
        return csr_array((entries, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape)

    def degrees(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the weights (E,) of each object's pairs, shape (J,)."""
        both = np.bincount(self.first, weights, self.size) + np.bincount(self.second, weights, self.size)
        return np.asarray(both, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Bordered:
    """A graph's Laplacian bordered by q dense columns, symmetric and positive (semi)definite.

    Attributes
    ----------
    graph : Graph
    weights : ndarray, shape (E,)
        The weights of the pairs, none below 0.
    border : ndarray, shape (J, q)
        Without a ridge its columns sum to 0.
    corner : ndarray, shape (q, q)
    ridge : ndarray, shape (J,), or None
        Added to the diagonal of the Laplacian. With a ridge, solutions are not centred.
    way : Band or Branches, optional
        The order in which the Laplacian is factored, so that conjugate gradients have little left to do.
    """

    graph: Graph
    weights: FloatArray
    border: FloatArray
    corner: FloatArray
    ridge: FloatArray | None = None
    way: Band | Branches | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the system: objects and bordering columns, twice."""
        size = self.graph.size + len(self.corner)
        return size, size

    @cached_property
    def adjacency(self) -> csr_array:
        """The weights as a symmetric matrix, shape (J, J)."""
        return self.graph.adjacency(self.weights)

    @cached_property
    def diagonal(self) -> FloatArray:
        """Diagonal of the Laplacian and the ridge, shape (J,)."""
        diagonal = self.graph.degrees(self.weights)
        return diagonal if self.ridge is None else diagonal + self.ridge

    @cached_property
    def between(self) -> Groups | None:
        """The weights between the groups of a long and narrow graph; None with a ridge."""
        graph = self.graph
        if self.ridge is not None or graph.groups is None:
            return None
        return Groups.between(graph.groups, graph.first, graph.second, self.weights)

    def factored(self, band: Band) -> Factor:
        """Return the factor, along a band, of the Laplacian without its last object; LinAlgError where it has none."""
        return band.factored(self.graph.first, self.graph.second, self.weights, self.diagonal)

    @cached_property
    def factor(self) -> Factor | SparseFactor | None:
        """The factor along `way`; None without a `way`, with a ridge, and where rounding leaves no factor."""
        if self.way is None or self.ridge is not None:
            return None
        try:
            return self.way.factored(self.graph.first, self.graph.second, self.weights, self.diagonal)
        except linalg.LinAlgError:
            return None

    def eased(self, right: FloatArray) -> FloatArray:
        """Solve L + diag(ridge) approximately, shape (J, k): along a band, or by the diagonal and between groups."""
        if self.factor is not None:
            solution = self.factor.solve(right)
            return np.asarray(solution - solution.mean(axis=0))
        diagonal = np.where(self.diagonal > 0, self.diagonal, np.inf)[:, None]  # objects without pairs are unknown
        solution = right / diagonal
        if self.between is not None:
            solution += self.between.solved(right)
        return solution

    def laplacian_times(self, vectors: FloatArray) -> FloatArray:
        """Return (L + diag(ridge)) @ vectors of shape (J, k)."""
        product = self.diagonal[:, None] * vectors
        product -= self.adjacency @ vectors
        return product

    def __matmul__(self, vector: FloatArray) -> FloatArray:
        """Return the product with a vector, shape (J + q,)."""
        worths, rest = vector[: self.graph.size], vector[self.graph.size :]
        above = self.laplacian_times(worths[:, None])[:, 0] + self.border @ rest
        return np.concatenate([above, self.border.T @ worths + self.corner @ rest])


@dataclass(frozen=True, eq=False)
class Solved:
    """The solution by conjugate gradients.

    Attributes
    ----------
    values : ndarray, of the shape of the right-hand sides
    iterations : int
    finished : bool
        Whether the residuals of all right-hand sides are within the tolerance.
    """

    values: FloatArray
    iterations: int
    finished: bool


def conjugate_gradients(
    system: Bordered,
    right: FloatArray,
    *,
    start: FloatArray | None = None,
    tolerance: float = TIGHT,
    most: int | None = None,
) -> Solved:
    """Solve (L + diag(ridge)) x = right, without the border. `Bordered.eased` is the preconditioner.

    Parameters
    ----------
    system : Bordered
    right : ndarray, shape (J,) or (J, k)
        Several right-hand sides are solved together, each with steps of its own. Without a ridge each has to sum to 0.
    start : ndarray, of the same shape, optional
        A guess of the solution; 0 by default.
    tolerance : float
        The residual at the end as a share of the right-hand side, both in the norm of the preconditioner.
    most : int, optional
        The maximum number of iterations; by default ten times the number of objects.

    Returns
    -------
    Solved
        Without a ridge solutions are centred: the values of each right-hand side sum to 0.

    References
    ----------
    Hestenes, M. R. & Stiefel, E. (1952). Methods of conjugate gradients for solving linear systems. Journal of Research
    of the National Bureau of Standards 49(6), 409-436.
    """
    columns = right.reshape(len(right), -1)
    begin = None if start is None else start.reshape(columns.shape)
    solution = _gradients(
        system.laplacian_times, system.eased, system.diagonal, _centred(system, columns), begin, tolerance, most
    )
    values = solution.values if system.ridge is not None else solution.values - solution.values.mean(axis=0)
    return replace(solution, values=values.reshape(right.shape))


def bordered_gradients(
    system: Bordered, right: FloatArray, *, tolerance: float = TIGHT, most: int | None = None
) -> Solved:
    """Solve the whole system for one right-hand side (J + q,); `Bordered.eased` and the corner precondition it.

    This solves one column. `Complement` would solve q + 1 columns, which costs too much for a single step.

    Raises
    ------
    LinAlgError
        Where the corner is not positive definite.
    """
    size = system.graph.size
    corner = linalg.cho_factor(system.corner) if len(system.corner) else None

    def times(vectors: FloatArray) -> FloatArray:
        return (system @ vectors[:, 0])[:, None]

    def eased(vectors: FloatArray) -> FloatArray:
        above = system.eased(vectors[:size])
        return above if corner is None else np.concatenate([above, linalg.cho_solve(corner, vectors[size:])])

    columns = right[:, None].copy()
    columns[:size] = _centred(system, columns[:size])
    diagonal = np.concatenate([system.diagonal, np.diag(system.corner)])
    solution = _gradients(times, eased, diagonal, columns, None, tolerance, most)
    values = solution.values[:, 0]
    if system.ridge is None:
        values[:size] -= values[:size].mean()
    return replace(solution, values=values)


def _centred(system: Bordered, columns: FloatArray) -> FloatArray:
    """Return right-hand sides that sum to exactly 0.

    A sum left by rounding would leave the system without a solution, and hide small values.
    """
    return columns if system.ridge is not None else columns - columns.mean(axis=0)


def _gradients(
    times: Callable[[FloatArray], FloatArray],
    eased: Callable[[FloatArray], FloatArray],
    diagonal: FloatArray,
    columns: FloatArray,
    start: FloatArray | None,
    tolerance: float,
    most: int | None,
) -> Solved:
    """Solve for right-hand sides (n, k) by products with the matrix and with its approximate inverse."""
    values = np.zeros(columns.shape) if start is None else start.copy()
    residual = columns - times(values) if start is not None else columns.copy()
    target = tolerance**2 * _dots(columns, eased(columns))
    direction = eased(residual)
    length = _dots(residual, direction)
    left = 10 * len(columns) if most is None else most
    iterations = 0
    while iterations < left and np.any(length > target):
        along = times(direction)
        curved = _dots(direction, along)
        # where a graph falls apart, what is left is rounding along constants, and the iteration would never end
        floor = _FLAT * _dots(direction, diagonal[:, None] * direction)
        moving = (length > target) & (curved > floor)
        if not moving.any():
            break
        step = np.divide(length, curved, out=np.zeros(len(length)), where=moving)
        values += step * direction
        residual -= step * along
        preconditioned = eased(residual)
        fresh = np.where(moving, _dots(residual, preconditioned), length)
        direction *= np.divide(fresh, length, out=np.zeros(len(length)), where=moving)
        direction += preconditioned
        length = fresh
        iterations += 1
    return Solved(values, iterations, bool(np.all(length <= target)))


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the inner products of columns, shape (k,)."""
    return np.asarray(np.einsum("jk,jk->k", a, b))


@dataclass(frozen=True, eq=False)
class Complement:
    """A bordered system with the objects eliminated.

    Attributes
    ----------
    system : Bordered
    inner : ndarray, shape (J, q)
        (L + diag(ridge))⁻¹ B.
    schur : ndarray, shape (q, q)
        C − Bᵀ inner: the information on the bordering parameters with the worths profiled out.
    iterations : int
    finished : bool
    """

    system: Bordered
    inner: FloatArray
    schur: FloatArray
    iterations: int
    finished: bool

    @classmethod
    def of(
        cls,
        system: Bordered,
        *,
        start: FloatArray | None = None,
        tolerance: float = TIGHT,
        most: int | None = None,
    ) -> Complement:
        """Eliminate the objects by conjugate gradients; `start` is the `inner` of a similar system."""
        if not len(system.corner):
            return cls(system, np.zeros(system.border.shape), np.zeros((0, 0)), 0, True)
        inner = conjugate_gradients(system, system.border, start=start, tolerance=tolerance, most=most)
        schur = system.corner - system.border.T @ inner.values
        return cls(system, inner.values, (schur + schur.T) / 2, inner.iterations, inner.finished)

    def solve(self, right: FloatArray, *, tolerance: float = TIGHT, most: int | None = None) -> Solved:
        """Solve the whole system for right-hand sides (J + q,) or (J + q, k).

        Raises
        ------
        LinAlgError
            Where the data do not determine the bordering parameters separately from the worths.
        """
        size = self.system.graph.size
        inner = conjugate_gradients(self.system, right[:size], tolerance=tolerance, most=most)
        if not len(self.schur):
            return inner
        rest = linalg.solve(self.schur, right[size:] - self.inner.T @ right[:size], assume_a="pos")
        values = np.concatenate([inner.values - self.inner @ rest, rest])
        return Solved(values, inner.iterations, inner.finished)
