"""The likelihood of lists, its derivatives, and its parts by list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from .ranking_terms import Batch

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_ENTRIES = 400_000  # entries of products of pairs of objects that are made at once
_DENSE = 3_000  # up to so many rows of worths the information is dense


@dataclass(frozen=True, eq=False)
class Lists:
    """The data of a fit of rankings: batches, their counts, and the design matrix of the worths.

    There are U rows and p parameters.

    Attributes
    ----------
    batches : tuple of Batch
    counts : ndarray, shape (L,)
    matrix : csr_array, shape (U, p)
        The log-worth of a row is its product with the parameters.
    orders : ndarray of int, shape (T,)
        The numbers of tied objects whose log δ is a parameter; these parameters follow those of the worths.
    held : ndarray, shape (T,), or None
        Values of log δ if these are held, not estimated.
    """

    batches: tuple[Batch, ...]
    counts: FloatArray
    matrix: csr_array
    orders: IntArray
    held: FloatArray | None = None

    @property
    def size(self) -> int:
        """The number of parameters."""
        return int(self.matrix.shape[1]) + (len(self.orders) if self.held is None else 0)

    def parts(self) -> Iterator[Batch]:
        """Yield the batches in parts that fit into memory."""
        for batch in self.batches:
            number, size = batch.rows.shape
            most = max(1, _ENTRIES // (size * size))
            for begin in range(0, number, most):
                yield batch.part(slice(begin, begin + most))

    def split(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-worths of the rows (U,) and log δ (T,) at some parameters."""
        p = self.matrix.shape[1]
        return np.asarray(self.matrix @ params[:p]), params[p:] if self.held is None else self.held

    def log_likelihood(self, params: FloatArray) -> float:
        """Return Σ counts · log P."""
        worths, deltas = self.split(params)
        total = 0.0
        for batch in self.parts():
            total += float(self.counts[batch.of] @ batch.evaluated(worths[batch.rows], deltas).value)
        return total

    def probabilities(self, params: FloatArray) -> FloatArray:
        """Return the probability of each list, shape (L,)."""
        return np.exp(self.each(params)[0])

    def each(self, params: FloatArray) -> tuple[FloatArray, csr_array, FloatArray]:
        """Return log P of each list (L,), and its derivatives in the log-worths of the rows (L, U) and log δ (L, T)."""
        worths, deltas = self.split(params)
        number, rows = len(self.counts), self.matrix.shape[0]
        value, ties = np.zeros(number), np.zeros((number, len(deltas)))
        score = csr_array((number, rows))
        for batch in self.parts():
            derivatives = batch.evaluated(worths[batch.rows], deltas)
            np.add.at(value, batch.of, derivatives.value)
            np.add.at(ties, batch.of, derivatives.ties)
            at = (np.repeat(batch.of, batch.rows.shape[1]), batch.rows.ravel())
            score = csr_array(score + coo_array((derivatives.score.ravel(), at), shape=(number, rows)).tocsr())
        return value, score, ties if self.held is None else ties[:, :0]

    def moments(self, params: FloatArray) -> Moments:
        """Return the log-likelihood, its gradient and the information."""
        worths, deltas = self.split(params)
        rows, orders = self.matrix.shape[0], len(deltas)
        value, score, ties = 0.0, np.zeros(rows), np.zeros(orders)
        between, of_ties = np.zeros((rows, orders)), np.zeros((orders, orders))
        information = _Summed.over(rows)
        for batch in self.parts():
            derivatives, n = batch.evaluated(worths[batch.rows], deltas), self.counts[batch.of]
            value += float(n @ derivatives.value)
            score += np.bincount(batch.rows.ravel(), (n[:, None] * derivatives.score).ravel(), rows)
            ties += n @ derivatives.ties
            information.add(batch.rows, n[:, None, None] * derivatives.information)
            for t in range(orders):
                between[:, t] += np.bincount(
                    batch.rows.ravel(), (n[:, None] * derivatives.between[:, :, t]).ravel(), rows
                )
            of_ties += np.einsum("q,qst->st", n, derivatives.of_ties)
        n_orders = orders if self.held is None else 0
        moved = self.matrix.T @ between[:, :n_orders]
        inner = self.matrix.T @ (self.matrix.T @ information.matrix()).T
        whole = np.block([[_full(inner), moved], [moved.T, of_ties[:n_orders, :n_orders]]])
        return Moments(value, np.append(self.matrix.T @ score, ties[:n_orders]), (whole + whole.T) / 2)

    def scores(self, params: FloatArray, group: IntArray, groups: int) -> FloatArray:
        """Return the gradient of each group's lists, for groups (L,), shape (groups, p + T)."""
        worths, deltas = self.split(params)
        rows = self.matrix.shape[0]
        n_orders = len(deltas) if self.held is None else 0
        summed, ties = np.zeros(groups * rows), np.zeros((groups, n_orders))
        for batch in self.parts():
            derivatives, n = batch.evaluated(worths[batch.rows], deltas), self.counts[batch.of]
            of = group[batch.of]
            key = of[:, None] * rows + batch.rows
            summed += np.bincount(key.ravel(), (n[:, None] * derivatives.score).ravel(), groups * rows)
            np.add.at(ties, of, n[:, None] * derivatives.ties[:, :n_orders])
        return np.column_stack([(self.matrix.T @ summed.reshape(groups, rows).T).T, ties])

    def of_lists(self, some: npt.NDArray[np.bool_]) -> Lists:
        """Return the lists `some` (L,) alone: other lists get count 0, and their rows of batches are dropped."""
        batches = tuple(_chosen(batch, some[batch.of]) for batch in self.batches)
        return replace(self, batches=tuple(b for b in batches if len(b.of)), counts=np.where(some, self.counts, 0.0))


def _chosen(batch: Batch, some: npt.NDArray[np.bool_]) -> Batch:
    rows: Any = some
    return batch.part(rows)


@dataclass(frozen=True, eq=False)
class Moments:
    """Log-likelihood, gradient (p + T,) and information (p + T, p + T) at some parameters."""

    value: float
    gradient: FloatArray
    information: FloatArray


@dataclass(eq=False)
class _Summed:
    """A symmetric matrix to which blocks are added: dense for few rows, else sparse."""

    rows: int
    dense: FloatArray | None
    information: csr_array | None = None

    @classmethod
    def over(cls, rows: int) -> _Summed:
        return cls(rows, np.zeros(rows * rows) if rows <= _DENSE else None)

    def add(self, at: IntArray, blocks: FloatArray) -> None:
        """Add blocks (Q, m, m) at rows (Q, m)."""
        key = at[:, :, None] * self.rows + at[:, None, :]
        if self.dense is not None:
            self.dense += np.bincount(key.ravel(), blocks.ravel(), len(self.dense))
            return
        row, column = np.divmod(key.ravel(), self.rows)
        more = coo_array((blocks.ravel(), (row, column)), shape=(self.rows, self.rows)).tocsr()
        self.information = more if self.information is None else csr_array(self.information + more)

    def matrix(self) -> Any:
        if self.dense is not None:
            return self.dense.reshape(self.rows, self.rows)
        return csr_array((self.rows, self.rows)) if self.information is None else self.information


def _full(matrix: Any) -> FloatArray:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())
