"""Treatment coding of very many levels, without the matrix of levels × levels that patsy usually needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from patsy import ContrastMatrix
from scipy.sparse import csr_array

from ..core.columns import IntArray, Label


@dataclass(frozen=True)
class LevelMatrix:
    """The contrast matrix of K levels: an identity, without the column of the reference level if there is one.

    Attributes
    ----------
    size : int
        Number of levels K.
    reference : int or None
        The level whose row is 0.
    """

    size: int
    reference: int | None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape, levels × columns."""
        return self.size, self.size - (self.reference is not None)

    def __getitem__(self, at: tuple[IntArray, int]) -> npt.NDArray[np.float64]:
        """Return one column for the levels of some rows, shape (U,); patsy needs no more."""
        levels, column = at
        return np.asarray(self._columns(levels) == column, dtype=np.float64)

    def any(self, axis: int) -> npt.NDArray[np.bool_]:
        """Return which levels (``axis=1``) have a row that is not 0."""
        del axis
        return np.asarray(np.arange(self.size) != (-1 if self.reference is None else self.reference))

    def rows(self, levels: IntArray) -> csr_array:
        """Return the rows of some levels (U,), shape (U, columns)."""
        columns = self._columns(levels)
        there = columns >= 0
        ends = np.concatenate([[0], np.cumsum(there)])
        return csr_array((np.ones(int(ends[-1])), columns[there], ends), shape=(len(levels), self.shape[1]))

    def _columns(self, levels: IntArray) -> IntArray:
        """Return the column of each level, −1 for the reference."""
        if self.reference is None:
            return levels
        return np.where(levels == self.reference, -1, levels - (levels > self.reference))


class LevelContrast(ContrastMatrix):  # type: ignore[misc]  # patsy takes no other
    """A contrast in the form that patsy reads columns from."""

    def __init__(self, levels: Sequence[Label], reference: int | None) -> None:
        self.matrix = LevelMatrix(len(levels), reference)
        lead = "" if reference is None else "T."
        self.column_suffixes = [f"[{lead}{level}]" for k, level in enumerate(levels) if k != reference]


@dataclass(frozen=True)
class Levels:
    """Treatment coding with a reference level, with patsy's interface."""

    reference: Label

    def code_with_intercept(self, levels: Sequence[Label]) -> Any:
        """Return a column for each level."""
        return LevelContrast(levels, None)

    def code_without_intercept(self, levels: Sequence[Label]) -> Any:
        """Return a column for each level except the reference."""
        return LevelContrast(levels, list(levels).index(self.reference))
