"""A printed table: columns of strings with a title, lines above and below, and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..errors import OptionError
from .notes import describing, qualifying

Kind = Literal["text", "composed", "estimate", "number", "statistic", "count", "p_value", "percent", "stars"]

Size = Literal["normalsize", "small", "footnotesize", "scriptsize"]

LEGEND = "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"


_NO_LABEL = re.compile(r"[\\{}%#~\s]")


def check_label(label: str) -> None:
    r"""Refuse a label that LaTeX's ``\ref`` and links in HTML cannot use."""
    if _NO_LABEL.search(label):
        raise OptionError(f"label={label!r}", expected="letters, digits, colons and hyphens: 'tab:leaderboard'")


@dataclass(frozen=True)
class Column:
    """One printed column.

    Attributes
    ----------
    name : str
        The name for `columns=`, as in ``to_frame()``; ``stars`` for the stars of p-values.
    heading : str
    cells : list of str
    kind : str
        The kind of the cells, as in `Field`.
    typeset : str
        The heading in LaTeX; if empty, it is made from `heading`.
    """

    name: str
    heading: str
    cells: list[str]
    kind: Kind
    typeset: str = ""

    @property
    def left(self) -> bool:
        """Whether cells are aligned to the left."""
        return self.kind in ("text", "stars")


@dataclass(frozen=True)
class Sheet:
    """A table whose numbers are strings, from which every format is made.

    Attributes
    ----------
    columns : tuple of Column
    title : str
    head, foot, notes : tuple of str
        Lines above and below the columns, and the notes.
    more : str
        The line with the number of hidden rows.
    left_out : tuple of str
        Names of columns that would not fit a page.
    least_needed : tuple of str
        Names of columns that text leaves out first if it is too wide.
    chosen : bool
        Whether the caller chose the columns, so that all of them are printed.
    """

    columns: tuple[Column, ...]
    title: str = ""
    head: tuple[str, ...] = ()
    foot: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    more: str = ""
    left_out: tuple[str, ...] = ()
    least_needed: tuple[str, ...] = ()
    chosen: bool = False

    @property
    def has_stars(self) -> bool:
        """Whether a legend of the stars is needed."""
        return any(column.kind == "stars" for column in self.columns)

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Return the cells row by row."""
        return zip(*(column.cells for column in self.columns), strict=True)

    def opening_notes(self) -> list[str]:
        """Return the notes above the columns, which qualify a number."""
        return [f"Note: {note}" for note in qualifying(self.notes)]

    def closing_lines(self) -> list[str]:
        """Return the lines below the columns, for formats that do not separate them further."""
        return [
            *([LEGEND] if self.has_stars else []),
            *self.foot,
            *[f"Note: {note}" for note in describing(self.notes)],
        ]
