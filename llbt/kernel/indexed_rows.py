"""Rows of linear predictors, stored as few distinct rows and indices, without the full matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, dia_array, issparse

from .column_blocks import ColumnBlocks
from .product_rows import ProductRows

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_SMALL = 100_000  # distinct rows are dense up to so many entries
_MOST = 0.6  # share of non-zero entries from which a product is dense; two blocks have a half
_FULL = 8  # entries that a row adds to a product: a pair of objects, with their tie and order effects
_DISTINCT = 4  # with fewer rows for each distinct row, going through the distinct rows saves nothing
_DENSE = 4_000_000  # a table of pairs of rows is dense up to so many entries: 32 MB


@dataclass(frozen=True, eq=False)
class Part:
    """One term of a row: ± ``matrix[index]``.

    Attributes
    ----------
    matrix : csr_array or ndarray, shape (U, p)
        The distinct rows; dense where there are few, because few sparse rows cost more than they save.
    index : ndarray of int, shape (S,)
    sign : float
        1 or −1.
    """

    matrix: Any
    index: IntArray
    sign: float


@dataclass(frozen=True, eq=False)
class Gathered:
    """S rows of p columns, each the sum of one row of every part and of values in own columns.

    The S × p matrix is made only on request: products use the U distinct rows of the parts.

    Attributes
    ----------
    parts : tuple of Part
    shape : (int, int)
    chosen : ndarray of int, shape (q,)
        The own columns, whose values differ in nearly every row, such as a covariate of the sides; usually there are
        none.
    own : ndarray, shape (q, S)
        The values of these columns, one column after the other.
    """

    parts: tuple[Part, ...]
    shape: tuple[int, int]
    chosen: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    own: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(cls, rows: csr_array) -> Gathered:
        """Return rows that are all distinct."""
        return cls((Part(rows, np.arange(rows.shape[0]), 1.0),), rows.shape)

    def differences(self, i: IntArray, j: IntArray) -> Gathered:
        """Return rows i (S,) minus rows j."""
        return self._both(i, j, -1.0)

    def sums(self, i: IntArray, j: IntArray) -> Gathered:
        """Return rows i (S,) plus rows j."""
        return self._both(i, j, 1.0)

    def _both(self, i: IntArray, j: IntArray, second: float) -> Gathered:
        sides = ((np.ascontiguousarray(i), 1.0), (np.ascontiguousarray(j), second))
        parts = (
            Part(part.matrix, _picked(part, rows), sign * part.sign) for part in self.parts for rows, sign in sides
        )
        own = self.own[:, i] + second * self.own[:, j] if len(self.chosen) else self.own
        return Gathered(tuple(parts), (len(i), self.shape[1]), self.chosen, own)

    def __add__(self, other: Gathered) -> Gathered:
        """Return the sum of two sets of rows; no column may be an own column of both."""
        parts = (*self.parts, *other.parts)
        if not len(other.chosen):
            return replace(self, parts=parts)
        own = np.concatenate([self.own, other.own]) if len(self.chosen) else other.own
        return replace(self, parts=parts, chosen=np.concatenate([self.chosen, other.chosen]), own=own)

    def __matmul__(self, params: FloatArray) -> FloatArray:
        """Return the predictor, shape (S,); it is read-only if it is the same in all rows."""
        predictor: FloatArray | None = None
        for part in self.parts:
            values = part.sign * (part.matrix @ params)
            gathered = np.broadcast_to(values, self.shape[:1]) if len(values) == 1 else values[part.index]
            predictor = gathered if predictor is None else predictor + gathered
        if len(self.chosen):
            own = params[self.chosen] @ self.own
            predictor = own if predictor is None else predictor + own
        return np.zeros(self.shape[0]) if predictor is None else predictor

    @property
    def widest(self) -> int:
        """The largest number of distinct rows of a part."""
        return max((part.matrix.shape[0] for part in self.parts), default=0)

    def largest(self) -> FloatArray:
        """Return the largest absolute entry of each column in any part, shape (p,)."""
        largest = np.zeros(self.shape[1])
        for matrix in {id(part.matrix): part.matrix for part in self.parts}.values():
            entries = abs(matrix).max(axis=0)
            np.maximum(largest, entries if isinstance(entries, np.ndarray) else entries.toarray().ravel(), out=largest)
        if len(self.chosen):
            largest[self.chosen] = np.maximum(largest[self.chosen], np.abs(self.own).max(axis=1))
        return largest

    @cached_property
    def column_blocks(self) -> ColumnBlocks | None:
        """The rows of the parts in blocks, if nearly all rows are distinct; else None."""
        if _DISTINCT * self.widest < self.shape[0]:
            return None
        return ColumnBlocks.of(replace(self, chosen=self.chosen[:0], own=self.own[:0]).tocsr())

    @cached_property
    def products(self) -> dict[int, ProductRows]:
        """The parts that are differences of objects times numbers, by the ``id`` of their matrix."""
        products = {}
        for parts in self.families():
            differ = [part.sign for part in parts] == [1.0, -1.0]
            if differ and _DISTINCT * parts[0].matrix.shape[0] >= self.shape[0]:
                rows = ProductRows.of(parts[0].matrix, parts[0].index, parts[1].index)
                products.update({} if rows is None else {id(parts[0].matrix): rows})
        return products

    def families(self) -> list[list[Part]]:
        """Return the parts by their matrix; the parts of object i and object j share one."""
        families: dict[int, list[Part]] = {}
        for part in self.parts:
            families.setdefault(id(part.matrix), []).append(part)
        return list(families.values())

    def transposed(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the rows times weights (S,), shape (p,)."""
        total = np.zeros(self.shape[1])
        for part in self.parts:
            size = part.matrix.shape[0]
            sums = weights.sum(keepdims=True) if size == 1 else np.bincount(part.index, weights, size)
            total += part.sign * (part.matrix.T @ sums)
        total[self.chosen] += self.own @ weights if len(self.chosen) else 0.0
        return total

    def summed(self, weights: FloatArray, rows: IntArray, group: IntArray, size: int) -> FloatArray:
        """Return weights (R,) times rows (R,), summed within each of `size` groups (R,), shape (size, p)."""
        total = np.zeros((size, self.shape[1]))
        for part in self.parts:
            width = part.matrix.shape[0]
            key = group if width == 1 else group * width + part.index[rows]
            total += part.sign * (np.bincount(key, weights, size * width).reshape(size, width) @ part.matrix)
        for column, values in zip(self.chosen, self.own, strict=True):
            total[:, column] += np.bincount(group, weights * values[rows], size)
        return total

    def columns(self, chosen: IntArray) -> Gathered:
        """Return some of the columns; parts that are 0 in all of them are dropped."""
        every = np.array_equal(chosen, np.arange(self.shape[1]))
        matrices = {
            id(part.matrix): _small_as_dense(part.matrix if every else part.matrix[:, chosen]) for part in self.parts
        }
        parts = (Part(matrices[id(part.matrix)], part.index, part.sign) for part in self.parts)
        places = [np.flatnonzero(chosen == column) for column in self.chosen]
        own = self.own[[len(place) > 0 for place in places]] if places else self.own
        positions = np.concatenate(places) if places else self.chosen
        some = tuple(part for part in parts if abs(part.matrix).sum() > 0)
        return Gathered(some, (self.shape[0], len(chosen)), positions, own)

    def take(self, rows: Any) -> Gathered:
        """Return a selection of the rows."""
        parts = tuple(Part(part.matrix, _picked(part, rows), part.sign) for part in self.parts)
        size = len(range(self.shape[0])[rows]) if isinstance(rows, slice) else len(np.arange(self.shape[0])[rows])
        return Gathered(parts, (size, self.shape[1]), self.chosen, self.own[:, rows] if len(self.chosen) else self.own)

    def tocsr(self) -> csr_array:
        """Return the rows as one sparse matrix, shape (S, p)."""
        if math.prod(self.shape) <= _SMALL:  # several sparse matrices, one for each step, take ten times as long
            return csr_array(self.toarray())
        total = csr_array(self.shape)
        for part in self.parts:
            total = total + part.sign * csr_array(part.matrix)[part.index]
        if len(self.chosen):
            places = csr_array(
                (np.ones(len(self.chosen)), (range(len(self.chosen)), self.chosen)), (len(self.chosen), self.shape[1])
            )
            total = total + csr_array(self.own.T) @ places
        return csr_array(total)

    def toarray(self) -> FloatArray:
        """Return the rows as one dense matrix, shape (S, p)."""
        total = np.zeros(self.shape)
        for part in self.parts:
            rows = part.matrix[part.index]
            total += part.sign * (rows if isinstance(rows, np.ndarray) else rows.toarray())
        if len(self.chosen):
            total[:, self.chosen] += self.own.T
        return total


def _picked(part: Part, rows: Any) -> IntArray:
    """Return the index of some rows; if all rows are the same, it takes no memory."""
    index = part.index[rows]
    return np.broadcast_to(np.int64(0), index.shape) if part.matrix.shape[0] == 1 else index


def _small_as_dense(matrix: Any) -> Any:
    return matrix if isinstance(matrix, np.ndarray) or math.prod(matrix.shape) > _SMALL else matrix.toarray()


def weighted_product(a: Gathered, b: Gathered, weights: FloatArray) -> Any:
    """Return aᵀ W b with weights (S,), shape (p, p): sparse if most entries must be 0, else dense.

    Only a may have own columns, unless b is a.
    """
    products = a.products if a is b else {}
    sparse = _FULL * a.shape[0] < a.shape[1] * b.shape[1] and not len(a.chosen) and not products
    total: Any = None
    if a is b and not products and a.column_blocks is not None:
        total = a.column_blocks.gram(weights)
        return _with_own(total, a, b, weights) if len(a.chosen) else total
    for k, left in enumerate(a.families()):
        for m, right in enumerate(b.families()):
            if a is b and m < k:  # the transpose of a block that is already computed
                continue
            same = a is b and m == k
            if same and id(left[0].matrix) in products:
                product = products[id(left[0].matrix)].gram(weights)
            else:
                sums = _own_sums(left, weights, sparse) if same else _cross_sums(left, right, weights, sparse)
                product = _between(left[0].matrix, sums, right[0].matrix, sparse)
            product = product + product.T if a is b and m > k else product
            total = product if total is None else total + product
    if total is None:
        shape = (a.shape[1], b.shape[1])
        total = csr_array(shape) if sparse else np.zeros(shape)
    return _with_own(total, a, b, weights) if len(a.chosen) else total


def _between(left: Any, sums: Any, right: Any, sparse: bool) -> Any:
    """Return leftᵀ · sums · right; sparse if there are many columns, even if few rows make the parts dense."""
    if sparse and left.shape[1] * right.shape[1] > _SMALL:
        return csr_array(left).T @ csr_array(sums) @ csr_array(right)
    return left.T @ sums @ right


def gram(predictors: Sequence[Gathered], weights: FloatArray) -> Any:
    """Return Σ_bc D_bᵀ W_bc D_c for the rows D of predictors and symmetric weights (B, B, S), by `weighted_product`.

    The result is also dense if most entries turn out not to be 0, for example if the objects' worths are coded to sum
    to 0.
    """
    total: Any = None
    for b, rows in enumerate(predictors):
        for c, others in enumerate(predictors[: b + 1]):
            part = weighted_product(others, rows, weights[b, c])
            part = part if b == c else part + part.T
            total = part if total is None else total + part
    full = issparse(total) and total.nnz > _MOST * total.shape[0] * total.shape[1]
    return total.toarray() if full else total


def quadratic(a: Gathered, b: Gathered, matrix: FloatArray) -> FloatArray:
    """Return a_s M b_sᵀ for each row s of both, where M (p, p) is symmetric, shape (S,)."""
    total = np.zeros(a.shape[0])
    for left, right in product(a.families(), b.families()):
        between = left[0].matrix @ np.asarray(right[0].matrix @ matrix).T
        for x, y in product(left, right):
            total += x.sign * y.sign * between[x.index, y.index]
    without = [replace(rows, chosen=rows.chosen[:0]) for rows in (a, b)]
    for own, column in zip(a.own, a.chosen, strict=False):
        total += own * (without[1] @ matrix[column])
    for own, column in zip(b.own, b.chosen, strict=False):
        total += own * (without[0] @ matrix[column])
    if len(a.chosen) and len(b.chosen):
        total += np.einsum("qs,qr,rs->s", a.own, matrix[np.ix_(a.chosen, b.chosen)], b.own, optimize=True)
    return total


def _with_own(total: Any, a: Gathered, b: Gathered, weights: FloatArray) -> FloatArray:
    """Return a product of parts, plus the part from a's own columns."""
    parts_sum = total if isinstance(total, np.ndarray) else np.asarray(total.toarray())
    weighted = a.own * weights
    if a is not b:
        parts_sum[a.chosen] += np.array([b.transposed(column) for column in weighted])
        return parts_sum
    parts = replace(a, chosen=a.chosen[:0])
    for column, values in zip(a.chosen, weighted, strict=True):
        mixed = parts.transposed(values)
        parts_sum[column] += mixed
        parts_sum[:, column] += mixed
    parts_sum[np.ix_(a.chosen, a.chosen)] += weighted @ a.own.T
    return parts_sum


def _own_sums(parts: list[Part], weights: FloatArray, sparse: bool) -> Any:
    """Return the weights summed by the rows of parts that share a matrix, in both orders, shape (U, U)."""
    total: Any = sum(_sums(x, x, weights, sparse) for x in parts)
    for x, y in combinations(parts, 2):
        mixed = _sums(x, y, weights, sparse)
        if isinstance(total, np.ndarray) and isinstance(mixed, np.ndarray):
            _add_both(total, mixed, x.sign * y.sign)
        else:
            total = total + x.sign * y.sign * (mixed + mixed.T)
    return total


def _add_both(total: FloatArray, mixed: FloatArray, sign: float) -> None:
    """Add the transpose of a matrix to it in place; a new large matrix would take most of the time."""
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
