"""Information matrices that fall into blocks of parameters, such as one block for each judge.

In `object * judge` no judgment depends on the parameters of two judges, and the parameters that all judges share are
few. With blocks A_k, their borders B_k and the corner C, the Schur complement C − Σ B_kᵀ A_k⁻¹ B_k is only as large as
the border. Everything else is computed block by block, for all blocks at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .indexed_rows import FloatArray, IntArray

_WIDE = 2  # a parameter with so many times the neighbours of its neighbours belongs to the border
_SHARE = 0.25  # largest share of the parameters that the border may have
_PADDED = 4  # most entries of the padded array, as a multiple of the blocks' entries


@dataclass(frozen=True, eq=False)
class Partition:
    """The parameters of the border, and those of each of K blocks with at most m parameters.

    Attributes
    ----------
    border : ndarray of int, shape (q,)
    label, place : ndarray of int, shape (p,)
        Block of a parameter, −1 for the border, and its position there.
    shape : (int, int)
        K and m.
    """

    border: IntArray
    label: IntArray
    place: IntArray
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: csr_array) -> Partition | None:
        """Return the partition of a symmetric sparse matrix (p, p); None where it has no such blocks."""
        degree = np.diff(matrix.indptr)
        pattern = csr_array((np.ones(len(matrix.indices)), matrix.indices, matrix.indptr), shape=matrix.shape)
        wide = degree**2 > _WIDE * (pattern @ degree)
        inside, border = np.flatnonzero(~wide), np.flatnonzero(wide)
        if len(border) > _SHARE * len(degree):
            return None
        number, component = connected_components(matrix[inside][:, inside], directed=False)
        sizes = np.bincount(component, minlength=number)
        if number < 2 or number * float(sizes.max()) ** 2 > _PADDED * float((sizes.astype(float) ** 2).sum()):
            return None
        label, place = np.full(len(degree), -1), np.empty(len(degree), dtype=np.int64)
        label[inside] = component
        place[border] = np.arange(len(border))
        order = np.argsort(component, kind="stable")
        place[inside[order]] = np.arange(len(inside)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cls(border, label, place, (number, int(sizes.max())))

    @property
    def inside(self) -> IntArray:
        """The parameters of blocks, in their order."""
        return np.flatnonzero(self.label >= 0)

    def in_blocks(self, values: FloatArray) -> FloatArray:
        """Return values (p, …) by block, shape (K, m, …), padded with 0."""
        blocks = np.zeros((*self.shape, *values.shape[1:]))
        blocks[self.label[self.inside], self.place[self.inside]] = values[self.inside]
        return blocks

    def of_blocks(self, values: FloatArray) -> FloatArray:
        """Return values (K, m, …) for the blocks' parameters in their own order, shape (p − q, …)."""
        return np.asarray(values[self.label[self.inside], self.place[self.inside]])


@dataclass(frozen=True, eq=False)
class JudgeBlocks:
    """A symmetric matrix in blocks with a border.

    Attributes
    ----------
    partition : Partition
    blocks : ndarray, shape (K, m, m)
        Filled up with ones on the diagonal.
    sides : ndarray, shape (K, m, q)
        The blocks' rows of the border.
    corner : ndarray, shape (q, q)
    """

    partition: Partition
    blocks: FloatArray
    sides: FloatArray
    corner: FloatArray

    @classmethod
    def of(cls, matrix: Any, partition: Partition | None = None) -> JudgeBlocks | None:
        """Return a symmetric sparse matrix (p, p) in the blocks of a partition; None where it does not have them."""
        blocks = None if partition is None else cls._parted(matrix, partition)
        fresh = Partition.of(csr_array(matrix)) if blocks is None else None
        return blocks if fresh is None else cls._parted(matrix, fresh)

    @classmethod
    def _parted(cls, matrix: Any, partition: Partition) -> JudgeBlocks | None:
        entries = matrix.tocoo()
        row, column = entries.coords
        value = entries.data
        (size, most), q = partition.shape, len(partition.border)
        one, other = partition.label[row], partition.label[column]
        both = (one >= 0) & (other >= 0)
        if (one[both] != other[both]).any():
            return None
        at, across = partition.place[row], partition.place[column]
        blocks, sides, corner = np.zeros((size, most, most)), np.zeros((size, most, q)), np.zeros((q, q))
        blocks[one[both], at[both], across[both]] = value[both]
        some = (one >= 0) & (other < 0)
        sides[one[some], at[some], across[some]] = value[some]
        some = (one < 0) & (other < 0)
        corner[at[some], across[some]] = value[some]
        filled = np.arange(most) >= np.bincount(partition.label[partition.inside], minlength=size)[:, None]
        blocks[:, np.arange(most), np.arange(most)] += filled
        return cls(partition, blocks, sides, corner)

    @cached_property
    def _scale(self) -> FloatArray:
        diagonal = np.einsum("kii->ki", self.blocks)
        return np.asarray(1 / np.sqrt(np.maximum(diagonal, np.finfo(float).tiny)))

    @cached_property
    def _inverses(self) -> FloatArray:
        """The inverses of the blocks, shape (K, m, m), by Cholesky factors of blocks scaled to unit diagonal."""
        scale = self._scale
        factor = np.linalg.cholesky(self.blocks * scale[:, :, None] * scale[:, None, :])
        root = np.linalg.solve(factor, np.broadcast_to(np.eye(factor.shape[1]), factor.shape)) * scale[:, None, :]
        return np.asarray(root.transpose(0, 2, 1) @ root)

    @cached_property
    def _inner(self) -> FloatArray:
        """The inverses of the blocks times their rows of the border, shape (K, m, q)."""
        return np.asarray(self._inverses @ self.sides)

    @cached_property
    def _schur(self) -> FloatArray:
        """The Schur complement of the blocks, shape (q, q)."""
        schur = self.corner - np.einsum("kmq,kmr->qr", self.sides, self._inner, optimize=True)
        return np.asarray(schur + schur.T) / 2

    @cached_property
    def _rest(self) -> FloatArray:
        """The inverse of the Schur complement of the blocks, shape (q, q)."""
        factor = np.linalg.cholesky(self._schur)
        root = np.linalg.solve(factor, np.eye(len(factor)))
        return np.asarray(root.T @ root)

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution for right-hand sides (p, …); LinAlgError where the matrix is not positive definite."""
        part, columns = self.partition, right.reshape(len(right), -1)
        within = self._inverses @ part.in_blocks(columns)
        rest = self._rest @ (columns[part.border] - np.tensordot(self.sides, within, axes=((0, 1), (0, 1))))
        solution = np.empty(columns.shape)
        solution[part.border] = rest
        solution[part.inside] = part.of_blocks(within - self._inner @ rest)
        return solution.reshape(right.shape)

    def inverse_diagonal(self) -> FloatArray:
        """Return the diagonal of the inverse, shape (p,)."""
        part = self.partition
        more = np.einsum("kmq,kmq->km", self._inner @ self._rest, self._inner)
        diagonal = np.empty(len(part.label))
        diagonal[part.border] = np.diag(self._rest)
        diagonal[part.inside] = part.of_blocks(np.einsum("kmm->km", self._inverses) + more)
        return diagonal

    def inverse(self) -> FloatArray:
        """Return the inverse, shape (p, p)."""
        part = self.partition
        inverse = np.empty((len(part.label), len(part.label)))
        inner = part.of_blocks(self._inner)
        across = inner @ self._rest
        inverse[np.ix_(part.inside, part.inside)] = across @ inner.T
        inverse[np.ix_(part.inside, part.border)] = -across
        inverse[np.ix_(part.border, part.inside)] = -across.T
        inverse[np.ix_(part.border, part.border)] = self._rest
        order = np.argsort(part.label, kind="stable")[len(part.border) :]
        sizes = np.bincount(part.label[part.inside])
        for k, own in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
            inverse[np.ix_(own, own)] += self._inverses[k, : len(own), : len(own)]
        return inverse

    def all_independent(self, aliased: float) -> bool:
        """Whether other columns leave a share above `aliased` of each Gram column's squared length unexplained."""
        scale = self._scale
        try:
            factor = np.linalg.cholesky(self.blocks * scale[:, :, None] * scale[:, None, :])
            length = 1 / np.sqrt(np.maximum(np.diag(self.corner), np.finfo(float).tiny))
            last = np.linalg.cholesky(self._schur * np.outer(length, length))
        except np.linalg.LinAlgError:
            return False
        return bool((np.append(np.einsum("kmm->km", factor), np.diag(last)) ** 2 > aliased).all())
