"""Rows in memory, each for one row of the caller's frame or for several equal rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from ..core.columns import FloatArray, IntArray

Frame = nw.DataFrame[Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """U rows of a frame in memory, each for one row or for several equal rows.

    Attributes
    ----------
    frame : narwhals frame, eager
    times : ndarray of int, shape (U,)
        How many rows of the caller's frame each stands for.
    first : ndarray of int or None, shape (U,)
        The first of them; None where every row stands for itself.
    ordered : bool
        Whether the engine that holds the caller's frame keeps its rows in order; else `first` means nothing.
    """

    frame: Frame
    times: IntArray
    first: IntArray | None
    ordered: bool

    @classmethod
    def each(cls, frame: Frame) -> Rows:
        """Return a frame in which every row stands for itself."""
        return cls(frame, np.broadcast_to(np.int64(1), len(frame)), None, ordered=True)

    def take(self, where: npt.NDArray[np.bool_]) -> Rows:
        """Return the rows for which a condition of shape (U,) holds."""
        rows: Frame = self.frame.filter(where.tolist())
        return Rows(rows, self.times[where], self.numbers(np.flatnonzero(where)), self.ordered)

    @property
    def single(self) -> bool:
        """Whether every row stands for itself alone."""
        return self.first is None

    def numbers(self, rows: IntArray) -> IntArray:
        """Return the first of the caller's rows that some rows stand for."""
        return rows if self.first is None else self.first[rows]

    @property
    def weights(self) -> FloatArray | None:
        """The counts of each row, shape (U,); None if all are 1."""
        return None if self.single else self.times.astype(np.float64)

    def count(self, where: npt.NDArray[np.bool_]) -> int:
        """Return how many rows of the caller's frame a condition holds for; it has shape (U,)."""
        return int(np.count_nonzero(where) if self.single else self.times[where].sum())

    def start(self, where: npt.NDArray[np.bool_]) -> int:
        """Return the row of `frame` that holds the caller's first row for which a condition is true."""
        if self.first is None:
            return int(np.argmax(where))
        rows = np.flatnonzero(where)
        return int(rows[np.argmin(self.first[rows])])

    def place(self, where: npt.NDArray[np.bool_]) -> str:
        """Return the position of the first of these rows, for a message; empty if rows have no order."""
        return f", the first at row {self.numbers(np.flatnonzero(where)).min()}" if self.ordered else ""
