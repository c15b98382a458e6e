"""Filters of rows: those that the caller asks for, and other columns that may be filters."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ..base.table import counted, format_count
from ..core.columns import Label
from ..errors import JudgmentError, OptionError
from .column_values import columns_called, spelled, values_of, words
from .frames import FILL
from .outcome_codings import NO, YES
from .sources import Source

Where = str | Mapping[str, Label] | None  # of the rows that are read
Missing = Literal["drop"] | None  # what becomes of rows with a missing value

_FILTERS = words(
    """
    anony deduptag wascancelled cancelled attentioncheck valid isvalid invalid skipped rejected status
    """
)
_FILTERS_OUT = words(
    """
    wascancelled cancelled invalid skipped rejected
    """
)  # of the filters, those that say which rows do not count
_SHOWN = 3  # values of a column in a note


def restricted(source: Source, where: Where) -> tuple[Source, tuple[str, ...]]:
    """Return the requested rows of a source, and a note on their number.

    Parameters
    ----------
    source : Source
    where : str, mapping or None
        A column of yes and no, whose yes rows are kept; or columns with the value of each that is kept, True and False
        for yes and no.
    """
    if where is None:
        return source, ()
    if not isinstance(where, (str, Mapping)) or not all(isinstance(name, str) for name in where):
        raise OptionError(
            f"where={where!r}",
            expected="a column that says yes, or columns and a value of each: {'language': 'English'}",
        )
    asked: Mapping[str, Label] = {where: True} if isinstance(where, str) else where
    total, remaining = source.n_rows(), source
    for name, value in asked.items():
        remaining = remaining.keeping(name, partial(_says, value))
    condition = ", ".join(name if value is True else f"{name} = {value}" for name, value in asked.items())
    return remaining, (f"{format_count(remaining.n_rows())} of {counted(total, 'row')} kept by where= ({condition})",)


def without_missing(source: Source, names: Collection[str]) -> tuple[Source, tuple[str, ...]]:
    """Return the rows of a source without a missing value in these columns, and a note on the other rows."""
    there = [name for name in dict.fromkeys(names) if name in source.names]
    remaining = source.complete(there)
    gone = source.n_rows() - remaining.n_rows()
    return remaining, (f"{counted(gone, 'row')} with a missing value left out (missing='drop')",) if gone else ()


@contextlib.contextmanager
def may_drop() -> Iterator[None]:
    """Add the remedy ``missing='drop'`` to an error about missing values."""
    try:
        yield
    except JudgmentError as error:
        if error.remedy == FILL:
            error.remedy = "Pass missing='drop' to leave these rows out; a note counts them."
        raise


def _says(value: Label, label: Label) -> bool:
    word = str(label).strip().casefold()
    if isinstance(value, bool):
        return word in (YES if value else NO)
    return str(label) == str(value)


@dataclass(frozen=True)
class Filter:
    """A column that may be a filter of rows: its values, most frequent first, and the rows that it would keep.

    Attributes
    ----------
    name : str
    counts : tuple of (label, rows)
        None stands for rows without a value.
    where : str or mapping
        The argument that keeps the rows to count: those that say yes (no, of a column such as ``"skipped"``), or
        that have the most frequent text.
    n_rows : int
        The number of rows that it keeps.
    """

    name: str
    counts: tuple[tuple[Label | None, int], ...]
    where: str | dict[str, Label]
    n_rows: int

    @property
    def text(self) -> str:
        """The most frequent values in words: ``True in 3 rows, False in 2 rows``."""
        shown = [f"{'empty' if x is None else x} in {counted(n, 'row')}" for x, n in self.counts[:_SHOWN]]
        rest = len(self.counts) - _SHOWN
        return ", ".join([*shown, *([f"{rest} more values"] if rest > 0 else [])])

    @property
    def note(self) -> str:
        """The note on the column."""
        return f"column {self.name!r} may say which rows count ({self.text}); all rows are counted"


def filters_of(source: Source, taken: Collection[str]) -> list[Filter]:
    """Return the columns that may be filters of rows, if their values differ."""
    filters = []
    for name in columns_called(source, _FILTERS, taken):
        values = values_of(source, name)
        if not values.labels or len(values.labels) + bool(values.missing) < 2:
            continue
        pairs = [*zip(values.labels, values.times.tolist(), strict=True)]
        empty = [(None, values.missing)] if values.missing else []
        counts = tuple(sorted([*pairs, *empty], key=lambda pair: -pair[1]))
        marks = values.marks()
        if marks is None:
            label, n_kept = max(pairs, key=lambda pair: pair[1])
            filters.append(Filter(name, counts, {name: label}, n_kept))
            continue
        wanted = spelled(name) not in _FILTERS_OUT and any(marks.values())
        n_kept = sum(n for label, n in pairs if marks[label] == wanted)
        filters.append(Filter(name, counts, name if wanted else {name: False}, n_kept))
    return filters


def filter_notes(source: Source, taken: Collection[str]) -> tuple[str, ...]:
    """Return notes on columns that may be filters of rows."""
    return tuple(row_filter.note for row_filter in filters_of(source, taken))
