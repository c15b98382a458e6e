"""Factors of a graph's Laplacian: along a band (in reverse Cuthill-McKee order) for a narrow graph, sparse for a tree.

If objects are compared only with similar objects, they can be ordered so that the two objects of a pair are near each
other (Cuthill & McKee 1969). The Cholesky factor then has no entry beyond the furthest pair. Variances of all nodes
follow from the factor block by block, from the last to the first, without the rest of the inverse (Takahashi, Fagan &
Chin 1973; Erisman & Tinney 1975).

References
----------
Cuthill, E. & McKee, J. (1969). Reducing the bandwidth of sparse symmetric matrices. Proceedings of the 24th National
Conference of the ACM, 157-172.

Erisman, A. M. & Tinney, W. F. (1975). On computing certain elements of the inverse of a sparse matrix. Communications
of the ACM 18(3), 177-179.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from .indexed_rows import FloatArray, IntArray

_BLOCK = 64  # a block has at least so many nodes, so that there are few blocks


@dataclass(frozen=True, eq=False)
class Band:
    """All nodes of a graph but the last, ordered so that the two nodes of a pair are near each other.

    Attributes
    ----------
    order : ndarray of int, shape (J − 1,)
        The node at each place.
    width : int
        The largest distance, in places, between the two nodes of a pair.
    """

    order: IntArray
    width: int

    @classmethod
    def of(cls, pattern: csr_array) -> Band:
        """Return the reverse Cuthill-McKee order of the nodes of a graph with this symmetric pattern, shape (J, J)."""
        inside = csr_array(pattern[:-1, :-1])
        order = np.asarray(reverse_cuthill_mckee(inside, symmetric_mode=True), dtype=np.int64)
        place = _places(order)
        row = np.repeat(place, np.diff(inside.indptr))
        return cls(order, int(np.abs(row - place[inside.indices]).max(initial=0)))

    def factored(self, first: IntArray, second: IntArray, weights: FloatArray, diagonal: FloatArray) -> Factor:
        """Return the Cholesky factor of a Laplacian without its last node.

        Parameters
        ----------
        first, second : ndarray of int, shape (E,)
            The two nodes of each pair.
        weights : ndarray, shape (E,)
        diagonal : ndarray, shape (J,)

        Raises
        ------
        LinAlgError
            Where the Laplacian without its last node is not positive definite.
        """
        size, place = len(self.order), _places(self.order)
        entries = np.zeros((self.width + 1, size), order="F")
        entries[0, place] = diagonal[:-1]
        both = (first < size) & (second < size)
        a, b = place[first[both]], place[second[both]]
        entries[np.abs(a - b), np.minimum(a, b)] = -weights[both]
        lower = linalg.cholesky_banded(entries, lower=True, overwrite_ab=True, check_finite=False)
        return Factor(self, np.asfortranarray(lower))


@dataclass(frozen=True, eq=False)
class Factor:
    """The Cholesky factor L of a Laplacian without its last node, whose value is 0.

    Attributes
    ----------
    band : Band
    lower : ndarray, shape (width + 1, J − 1), by columns
        The diagonals of L in the order of the band, as LAPACK keeps them.
    """

    band: Band
    lower: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution, shape (J, k), for right-hand sides (J, k)."""
        solution = np.zeros(right.shape)
        order = self.band.order
        columns = np.asfortranarray(right[order])
        solution[order] = linalg.cho_solve_banded((self.lower, True), columns, overwrite_b=True, check_finite=False)
        return solution

    def variances(self) -> FloatArray:
        """Return the diagonal of the inverse, shape (J,), 0 for the last node.

        With blocks of at least `width` nodes, a block's part of the inverse depends only on the next block's part: Z_k
        = L_k⁻ᵀ (1 + Mᵀ Z_(k+1) M) L_k⁻¹, where M has the entries of L from block k to the next.
        """
        size, width = self.lower.shape[1], self.band.width
        block = max(width, _BLOCK)
        inverse_diagonal = np.empty(size)
        after = np.zeros((0, 0))
        for start in range((size - 1) // block * block, -1, -block):
            stop = min(start + block, size)
            own, below = self._columns(start, stop, len(after))
            inverse = linalg.lapack.dtrtri(own, lower=True)[0]
            moved = below @ inverse
            after = inverse.T @ inverse + moved.T @ (after @ moved)
            inverse_diagonal[start:stop] = np.diag(after)
        values = np.zeros(size + 1)
        values[self.band.order] = inverse_diagonal
        return values

    def _columns(self, start: int, stop: int, more: int) -> tuple[FloatArray, FloatArray]:
        """Return columns of L: their own rows and, below these, the next `more` rows."""
        number = stop - start
        down = np.arange(number + more)[:, None] - np.arange(number)
        inside = (down >= 0) & (down < len(self.lower))
        at = np.where(inside, down, 0) + np.arange(start, stop) * len(self.lower)
        dense = np.where(inside, self.lower.ravel(order="F")[at], 0.0)
        return dense[:number], dense[number:]


@dataclass(frozen=True, eq=False)
class Branches:
    """The elimination order of a graph with few cycles, such as a knockout: from the ends inwards, without fill-in."""

    def factored(self, first: IntArray, second: IntArray, weights: FloatArray, diagonal: FloatArray) -> SparseFactor:
        """Return the factor of a Laplacian without its last node, as `Band.factored` does."""
        size = len(diagonal) - 1
        both = (first < size) & (second < size)
        a, b, inside = first[both], second[both], np.arange(size)
        entries = np.concatenate([-weights[both], -weights[both], diagonal[:-1]])
        at = np.concatenate([a, b, inside]), np.concatenate([b, a, inside])
        matrix = coo_array((entries, at), shape=(size, size)).tocsc()
        factor = SparseFactor(matrix)
        try:
            factor.solve(np.zeros((size + 1, 1)))
        except RuntimeError as error:  # the matrix is exactly singular
            raise linalg.LinAlgError(str(error)) from None
        return factor


@dataclass(frozen=True, eq=False)
class SparseFactor:
    """A sparse factor of a Laplacian without its last node, whose value is 0.

    Attributes
    ----------
    matrix : csc_array, shape (J − 1, J − 1)
    """

    matrix: csc_array

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution, shape (J, k), for right-hand sides (J, k)."""
        solution = np.zeros(right.shape)
        solution[:-1] = self._factor.solve(right[:-1])
        return solution

    @cached_property
    def _factor(self) -> Any:
        way = {"SymmetricMode": True}
        return splu(self.matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=way)

    def __getstate__(self) -> dict[str, Any]:
        return {"matrix": self.matrix}  # SuperLU's factors cannot be pickled


def _places(order: IntArray) -> IntArray:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place
