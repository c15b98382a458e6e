"""Rows that are a difference of two objects times numbers, such as worths that depend on features of a prompt.

The row of comparison s is (e_i − e_j) ⊗ z_s. Its product with itself is z_s z_sᵀ at four places, so XᵀWX needs only one
Q × Q product for each pair of objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_LEAST = 4096  # with fewer rows this structure is not looked for
_MOST = 5000  # most columns for which products are dense


@dataclass(frozen=True, eq=False)
class ProductRows:
    """S rows (e_i − e_j) ⊗ z, sorted by the pair of i and j; rows with i = j are 0 and left out.

    Attributes
    ----------
    size : int
        Number of columns p of the whole matrix.
    columns : ndarray of int, shape (A, Q)
        The column of each object and feature; −1 for an aliased column. Object A is the reference and has no columns.
    order : ndarray of int, shape (R,)
        Positions of the sorted rows.
    numbers : ndarray, shape (R, Q)
        Features z, in this order.
    ends : ndarray of int, shape (K + 1,)
        Where each pair begins, and where the last pair ends.
    pairs : ndarray of int, shape (K, 2)
        The objects of each pair, the smaller one first.
    """

    size: int
    columns: IntArray
    order: IntArray
    numbers: FloatArray
    ends: IntArray
    pairs: IntArray

    @classmethod
    def of(cls, matrix: Any, i: IntArray, j: IntArray) -> ProductRows | None:
        """Return rows i (S,) minus rows j of a sparse matrix (U, p) in this form; None if that is impossible."""
        if not issparse(matrix) or len(i) < _LEAST or matrix.shape[1] > _MOST:
            return None
        blocks = _objects(matrix)
        if blocks is None:
            return None
        columns, owner, numbers = blocks
        first, second = owner[i], owner[j]
        there = np.vstack([columns >= 0, np.zeros(columns.shape[1], dtype=np.bool_)])  # object A has no columns
        both = there[first] & there[second]
        if not np.array_equal(numbers[i] * both, numbers[j] * both):
            return None
        low, high = np.minimum(first, second), np.maximum(first, second)
        key = low * (len(columns) + 1) + high
        order = np.argsort(key, kind="stable")
        order = order[low[order] != high[order]]
        starts = np.flatnonzero(np.append(True, np.diff(key[order]) != 0)) if len(order) else np.empty(0, dtype=np.intp)
        pairs = np.column_stack([low[order[starts]], high[order[starts]]])
        known = np.where(there[first], numbers[i], numbers[j])[order]
        return cls(matrix.shape[1], columns, order, known, np.append(starts, len(order)), pairs)

    def gram(self, weights: FloatArray) -> FloatArray:
        """Return Xᵀ W X of the rows X with weights (S,), shape (p, p)."""
        count, width = self.columns.shape
        cells = np.zeros((count + 1, count + 1, width, width))
        weighted = self.numbers * weights[self.order][:, None]
        ends = self.ends.tolist()
        for k, (low, high) in enumerate(self.pairs.tolist()):
            rows = slice(ends[k], ends[k + 1])
            np.dot(self.numbers[rows].T, weighted[rows], out=cells[low, high])
        own = (cells.sum(axis=0) + cells.sum(axis=1))[:-1]
        between = cells[:-1, :-1]
        between = -(between + between.swapaxes(0, 1))  # each pair stands at one of two places
        between[np.arange(count), np.arange(count)] = own
        dense = between.swapaxes(1, 2).reshape(count * width, count * width)
        gram = np.zeros((self.size, self.size))
        places = self.columns.ravel()
        some = np.flatnonzero(places >= 0)
        gram[places[some, None], places[some]] = dense if len(some) == len(places) else dense[np.ix_(some, some)]
        return gram


def _objects(matrix: Any) -> tuple[IntArray, IntArray, FloatArray] | None:
    """Return columns by object (A, Q), each row's object (U,) and numbers (U, Q); None if there are no objects.

    Objects are sets of columns without a common row; a row without entries belongs to object A. An object may lack
    aliased columns that other objects have; it then has column −1 and number 0.
    """
    length = np.diff(matrix.indptr)
    some = length > 0
    row = np.repeat(np.arange(len(length)), length)
    first = matrix.indices[matrix.indptr[:-1][some]]
    links = csr_array((np.ones(len(row)), (np.repeat(first, length[some]), matrix.indices)), (matrix.shape[1],) * 2)
    _, label = connected_components(links, directed=False)
    places = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    used, owner_of_column, width = np.unique(label[places], return_inverse=True, return_counts=True)
    if not len(used):
        return None
    by_owner = np.argsort(owner_of_column, kind="stable")
    ends = np.cumsum(width)
    # the columns of an object that lacks none
    whole = places[by_owner[ends[np.argmax(width)] - width.max() : ends[np.argmax(width)]]]
    before = places[by_owner[ends - width]] < whole[0]  # objects have the same order in all features
    slot = np.searchsorted(whole, places, side="right") - np.where(before[owner_of_column], 0, 1)
    slot = np.clip(slot, 0, width.max() - 1)
    columns = np.full((len(used), width.max()), -1, dtype=np.int64)
    columns[owner_of_column, slot] = places
    if (columns >= 0).sum() < len(places):  # two columns have one place: these are no features of objects
        return None
    owner = np.full(matrix.shape[1], len(used), dtype=np.int64)
    at = np.zeros(matrix.shape[1], dtype=np.int64)
    owner[places], at[places] = owner_of_column, slot
    numbers = np.zeros((len(length), columns.shape[1]))
    numbers[row, at[matrix.indices]] = matrix.data
    of_rows = np.full(len(length), len(used), dtype=np.int64)
    of_rows[some] = owner[first]
    return columns, of_rows, numbers
