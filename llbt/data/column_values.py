"""Columns of a source by their names, and the distinct values that they hold."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.columns import FloatArray, Label
from ..errors import JudgmentError
from .frames import as_number, read_factor
from .outcome_codings import NO, YES, says_tie
from .sources import Source


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column, and how many rows have each; `missing` rows have none."""

    labels: list[Label]
    times: npt.NDArray[np.int64]
    missing: int

    def numbers(self) -> FloatArray | None:
        """Return the values as numbers, including numbers written as text; None where a value is not a number."""
        numbers = [None if isinstance(label, bool) else as_number(label) for label in self.labels]
        return np.array(numbers, dtype=np.float64) if numbers and None not in numbers else None

    @property
    def as_text(self) -> bool:
        """Whether a value is text."""
        return any(isinstance(label, str) for label in self.labels)

    def marks(self) -> dict[Label, bool] | None:
        """Return the value for yes, or None if some value is neither yes nor no."""
        words = {label: str(label).strip().casefold() for label in self.labels}
        if not self.labels or not all(word in YES | NO for word in words.values()):
            return None
        return {label: word in YES for label, word in words.items()}

    def ties(self) -> dict[Label, bool] | None:
        """Return the value that marks a tie, or None if some value means neither yes nor no."""
        words = {label: tied for label in self.labels if (tied := says_tie(label)) is not None}
        return words if words and len(words) == len(self.labels) else None

    def yes(self, marks: dict[Label, bool]) -> int:
        """Return how many rows say yes."""
        return int(sum(n for label, n in zip(self.labels, self.times, strict=True) if marks[label]))


def columns_called(source: Source, names: Collection[str], taken: Collection[str]) -> list[str]:
    """Return the free columns of labels that have one of some names, whatever its case and separators."""
    return [name for name in source.names if name not in taken and spelled(name) in names and source.has_labels(name)]


def spelled(name: object) -> str:
    """Return a name in lower case without blanks and punctuation: ``Model ID`` and ``model_id`` become equal."""
    return re.sub(r"[\s_.-]", "", str(name)).casefold()


def values_of(source: Source, name: str) -> Values:
    """Return the distinct values of a column; none of a column whose values cannot be told apart, such as records."""
    rows = source.tally({"values": (name,)})
    try:
        factor = read_factor(rows.frame, name)
    except JudgmentError:
        return Values([], np.empty(0, dtype=np.int64), source.n_rows())
    times = np.bincount(factor.codes + 1, rows.times, len(factor.labels) + 1).astype(np.int64)
    return Values(factor.labels, times[1:], int(times[0]))
