"""Rows with the same non-zero columns but different numbers, such as one pair's rows if worths depend on numbers.

Products of these rows are computed from small dense matrices, one for each set of columns, not row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_LEAST = 4096  # with fewer rows, blocks save nothing
_MEAN = 8  # least average number of rows of a block
_MOST = 5000  # most columns for which products are dense
_FILLED = 0.6  # share of non-zero entries from which a product is dense


@dataclass(frozen=True, eq=False)
class ColumnBlocks:
    """S rows of p columns in blocks of rows with the same columns.

    Attributes
    ----------
    size : int
        Number of columns p.
    blocks : tuple of (rows, columns, values)
        Positions of the rows (n,), of the columns that are not 0 (m,), and the numbers there (n, m).
    """

    size: int
    blocks: tuple[tuple[IntArray, IntArray, FloatArray], ...]

    @classmethod
    def of(cls, rows: Any) -> ColumnBlocks | None:
        """Return sparse rows in blocks; None if few rows share their columns, or if products are sparse."""
        sparse_rows = csr_array(rows)
        if sparse_rows.shape[0] < _LEAST or sparse_rows.shape[1] > _MOST:
            return None
        sparse_rows.sum_duplicates()  # this also sorts the columns of each row
        mark = np.random.default_rng(0).integers(1, 2**63, sparse_rows.shape[1], dtype=np.uint64)
        # sums are modulo 2⁶⁴, and so are their differences
        total = np.append(np.uint64(0), np.cumsum(mark[sparse_rows.indices]))
        code = total[sparse_rows.indptr[1:]] - total[sparse_rows.indptr[:-1]]
        order = np.argsort(code, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(code[order]) != 0))
        if _MEAN * len(starts) > len(order):
            return None
        blocks = []
        for some in np.split(order, starts[1:]):
            width = sparse_rows.indptr[some[0] + 1] - sparse_rows.indptr[some[0]]
            at = sparse_rows.indptr[some][:, None] + np.arange(width)
            columns = sparse_rows.indices[at]
            if not (columns == columns[0]).all():  # two sets of columns have the same code
                return None
            if width:
                blocks.append((some, columns[0].astype(np.int64), sparse_rows.data[at]))
        filled = np.zeros((sparse_rows.shape[1], sparse_rows.shape[1]), dtype=np.bool_)
        for _, columns, _ in blocks:
            filled[columns[:, None], columns] = True
        return cls(sparse_rows.shape[1], tuple(blocks)) if np.count_nonzero(filled) > _FILLED * filled.size else None

    def gram(self, weights: FloatArray) -> FloatArray:
        """Return Xᵀ W X of the rows X with weights (S,), shape (p, p)."""
        gram = np.zeros((self.size, self.size))
        for rows, columns, values in self.blocks:
            gram[columns[:, None], columns] += (values * weights[rows][:, None]).T @ values
        return gram
