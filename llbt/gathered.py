"""Rows of linear predictors, gathered from few distinct ones: what makes a fit cost counts, not columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, dia_array

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_DENSE = 4_000_000  # entries of a table of pairs of rows that is kept dense: 32 MB


@dataclass(frozen=True, eq=False)
class Part:
    """One of the terms of a row: ± ``matrix[index]``.

    Attributes
    ----------
    matrix : csr_array, shape (U, p)
        Distinct rows.
    index : ndarray of int, shape (S,)
    sign : float
        1 or −1.
    """

    matrix: csr_array
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
        kept: dict[int, csr_array] = {id(part.matrix): csr_array(part.matrix[:, chosen]) for part in self.parts}
        parts = (Part(kept[id(part.matrix)], part.index, part.sign) for part in self.parts)
        return Gathered(tuple(part for part in parts if part.matrix.nnz), (self.shape[0], len(chosen)))

    def take(self, rows: Any) -> Gathered:
        """Return some of the rows."""
        parts = tuple(Part(part.matrix, part.index[rows], part.sign) for part in self.parts)
        size = len(np.arange(self.shape[0])[rows])
        return Gathered(parts, (size, self.shape[1]))

    def tocsr(self) -> csr_array:
        """Return the rows as one sparse matrix, shape (S, p)."""
        total = csr_array(self.shape)
        for part in self.parts:
            total = total + part.sign * part.matrix[part.index]
        return csr_array(total)

    def toarray(self) -> FloatArray:
        """Return the rows as one dense matrix, shape (S, p)."""
        return np.asarray(self.tocsr().toarray())


def weighted_product(a: Gathered, b: Gathered, weights: FloatArray) -> Any:
    """Return aᵀ W b with weights (S,), shape (p, p): dense where there are few distinct rows, else sparse."""
    total: Any = None
    for k, left in enumerate(a.families()):
        for m, right in enumerate(b.families()):
            if a is b and m < k:  # the transpose of what is there
                continue
            sums = _own_sums(left, weights) if a is b and m == k else _cross_sums(left, right, weights)
            found = left[0].matrix.T @ sums @ right[0].matrix
            found = found + found.T if a is b and m > k else found
            total = found if total is None else total + found
    return csr_array((a.shape[1], b.shape[1])) if total is None else total


def _own_sums(parts: list[Part], weights: FloatArray) -> Any:
    """Return the weights summed by the rows of parts with one matrix, both ways, shape (U, U)."""
    total: Any = sum(_sums(x, x, weights) for x in parts)
    for x, y in combinations(parts, 2):
        mixed = x.sign * y.sign * _sums(x, y, weights)
        total = total + mixed + mixed.T
    return total


def _cross_sums(left: list[Part], right: list[Part], weights: FloatArray) -> Any:
    return sum(x.sign * y.sign * _sums(x, y, weights) for x, y in product(left, right))


def _sums(x: Part, y: Part, weights: FloatArray) -> Any:
    """Return the weights summed by the rows of two parts, shape (U, V)."""
    u, v = x.matrix.shape[0], y.matrix.shape[0]
    if u * v == 1:
        return np.full((1, 1), weights.sum())
    if x.index is y.index and u == v:
        diagonal = np.bincount(x.index, weights, u)
        return dia_array((diagonal[None], [0]), shape=(u, u))
    if u * v <= max(_DENSE, 2 * len(weights)):
        key = x.index if v == 1 else y.index if u == 1 else x.index * v + y.index
        return np.bincount(key, weights, u * v).reshape(u, v)
    return coo_array((weights, (x.index, y.index)), shape=(u, v)).tocsr()
