"""Rows of linear predictors, gathered from few distinct ones: what makes a fit cost counts, not columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, dia_array

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_SMALL = 100_000  # entries up to which distinct rows are kept dense
_FULL = 8  # entries of a product that a row can make: a pair of objects, and their tie and order effects
_DENSE = 4_000_000  # entries of a table of pairs of rows that is kept dense: 32 MB


@dataclass(frozen=True, eq=False)
class Part:
    """One of the terms of a row: ± ``matrix[index]``.

    Attributes
    ----------
    matrix : csr_array or ndarray, shape (U, p)
        Distinct rows; dense where there are few, for then sparse ones cost more to handle than they save.
    index : ndarray of int, shape (S,)
    sign : float
        1 or −1.
    """

    matrix: Any
    index: IntArray
    sign: float


@dataclass(frozen=True, eq=False)
class Gathered:
    """S rows of p columns, each the sum of a row of every part.

    The S × p matrix is never made but on request: products go through the U distinct rows of the parts.
    """

    parts: tuple[Part, ...]
    shape: tuple[int, int]

    @classmethod
    def of(cls, rows: csr_array) -> Gathered:
        """Return rows that are all distinct."""
        return cls((Part(rows, np.arange(rows.shape[0]), 1.0),), rows.shape)

    def __matmul__(self, params: FloatArray) -> FloatArray:
        """Return the predictor, shape (S,); read-only where it is the same in all rows."""
        found: FloatArray | None = None
        for part in self.parts:
            values = part.sign * (part.matrix @ params)
            gathered = np.broadcast_to(values, self.shape[:1]) if len(values) == 1 else values[part.index]
            found = gathered if found is None else found + gathered
        return np.zeros(self.shape[0]) if found is None else found

    def families(self) -> list[list[Part]]:
        """Return the parts by their matrix: those of object i and object j have one."""
        found: dict[int, list[Part]] = {}
        for part in self.parts:
            found.setdefault(id(part.matrix), []).append(part)
        return list(found.values())

    def transposed(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the rows times weights (S,), shape (p,)."""
        total = np.zeros(self.shape[1])
        for part in self.parts:
            size = part.matrix.shape[0]
            sums = weights.sum(keepdims=True) if size == 1 else np.bincount(part.index, weights, size)
            total += part.sign * (part.matrix.T @ sums)
        return total

    def columns(self, chosen: IntArray) -> Gathered:
        """Return some of the columns; parts that are 0 in all of them go."""
        kept = {id(part.matrix): _small_as_dense(part.matrix[:, chosen]) for part in self.parts}
        parts = (Part(kept[id(part.matrix)], part.index, part.sign) for part in self.parts)
        return Gathered(tuple(part for part in parts if abs(part.matrix).sum() > 0), (self.shape[0], len(chosen)))

    def take(self, rows: Any) -> Gathered:
        """Return some of the rows."""
        parts = tuple(Part(part.matrix, part.index[rows], part.sign) for part in self.parts)
        size = len(np.arange(self.shape[0])[rows])
        return Gathered(parts, (size, self.shape[1]))

    def tocsr(self) -> csr_array:
        """Return the rows as one sparse matrix, shape (S, p)."""
        total = csr_array(self.shape)
        for part in self.parts:
            total = total + part.sign * csr_array(part.matrix)[part.index]
        return csr_array(total)

    def toarray(self) -> FloatArray:
        """Return the rows as one dense matrix, shape (S, p)."""
        return np.asarray(self.tocsr().toarray())


def _small_as_dense(matrix: Any) -> Any:
    return matrix if isinstance(matrix, np.ndarray) or math.prod(matrix.shape) > _SMALL else matrix.toarray()


def weighted_product(a: Gathered, b: Gathered, weights: FloatArray) -> Any:
    """Return aᵀ W b with weights (S,), shape (p, p): sparse where most entries have to be 0, else dense."""
    sparse = _FULL * a.shape[0] < a.shape[1] * b.shape[1]
    total: Any = None
    for k, left in enumerate(a.families()):
        for m, right in enumerate(b.families()):
            if a is b and m < k:  # the transpose of what is there
                continue
            sums = _own_sums(left, weights, sparse) if a is b and m == k else _cross_sums(left, right, weights, sparse)
            found = left[0].matrix.T @ sums @ right[0].matrix
            found = found + found.T if a is b and m > k else found
            total = found if total is None else total + found
    return np.zeros((a.shape[1], b.shape[1])) if total is None else total


def _own_sums(parts: list[Part], weights: FloatArray, sparse: bool) -> Any:
    """Return the weights summed by the rows of parts with one matrix, both ways, shape (U, U)."""
    total: Any = sum(_sums(x, x, weights, sparse) for x in parts)
    for x, y in combinations(parts, 2):
        mixed = _sums(x, y, weights, sparse)
        if isinstance(total, np.ndarray) and isinstance(mixed, np.ndarray):
            _add_both(total, mixed, x.sign * y.sign)
        else:
            total = total + x.sign * y.sign * (mixed + mixed.T)
    return total


def _add_both(total: FloatArray, mixed: FloatArray, sign: float) -> None:
    """Add a matrix and its transpose, in place: large ones cost most to make."""
    operation = np.add if sign > 0 else np.subtract
    operation(total, mixed, out=total)
    operation(total, mixed.T, out=total)


def _cross_sums(left: list[Part], right: list[Part], weights: FloatArray, sparse: bool) -> Any:
    return sum(x.sign * y.sign * _sums(x, y, weights, sparse) for x, y in product(left, right))


def _sums(x: Part, y: Part, weights: FloatArray, sparse: bool) -> Any:
    """Return the weights summed by the rows of two parts, shape (U, V)."""
    u, v = x.matrix.shape[0], y.matrix.shape[0]
    dense = isinstance(x.matrix, np.ndarray) and isinstance(y.matrix, np.ndarray)
    if u * v == 1:
        return np.full((1, 1), weights.sum()) if dense else csr_array([[weights.sum()]])
    if x.index is y.index and u == v:
        diagonal = np.bincount(x.index, weights, u)
        return np.diag(diagonal) if dense else dia_array((diagonal[None], [0]), shape=(u, u))
    if dense or (not sparse and u * v <= max(_DENSE, 2 * len(weights))):
        key = x.index if v == 1 else y.index if u == 1 else x.index * v + y.index
        return np.bincount(key, weights, u * v).reshape(u, v)
    return coo_array((weights, (x.index, y.index)), shape=(u, v)).tocsr()
