"""Rows that are left out before a file is read as judgments: the remedies that an audit names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import typer

from ..base.table import counted
from ..data.asked import Asked
from ..data.countable import countable
from ..data.files import open_source
from ..data.sources import in_memory
from ..errors import listed, near
from .values import items, pairs, wrong

_KINDS = ("copies", "self")


def without_rows(source: Any, exclude: str | None, drop: str | None, options: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that stay, and write to standard error how many do not.

    Parameters
    ----------
    source : path or bytes
    exclude : str, optional
        Values of columns whose rows are left out, such as ``judge=J3,judge=J7``.
    drop : str, optional
        ``copies`` for copies of an earlier row, ``self`` for rows that compare an object with itself, or both.
    options : mapping
        The other options that the file is read with; they say which columns name the objects.
    """
    frame: pd.DataFrame = in_memory(open_source(source))
    kinds = [] if drop is None else items("drop", drop)
    unknown = [kind for kind in kinds if kind not in _KINDS]
    if unknown:
        raise wrong("drop", f"found {unknown[0]!r}; expected copies, self, or both separated by a comma.")
    for column, value in [] if exclude is None else pairs("exclude", exclude, "judge=J3,judge=J7"):
        frame = _less(frame, _equals(frame, column, value), f"with {column} = {value} (--exclude)")
    if "copies" in kinds:
        frame = _less(frame, _copies(frame), "equal to an earlier row (--drop copies)")
    if "self" in kinds:
        i, j = _sides(frame, options)
        frame = _less(
            frame, frame[i].astype(str) == frame[j].astype(str), "with one object on both sides (--drop self)"
        )
    return frame


def _equals(frame: pd.DataFrame, column: str, value: str) -> pd.Series[bool]:
    if column not in frame:
        raise wrong(
            "exclude", f"there is no column {column!r}{near(column, list(frame))}; found {listed(list(frame))}."
        )
    texts = frame[column].map(_text)
    same = texts == value
    if not same.any():
        known = texts[frame[column].notna()].unique()
        raise wrong("exclude", f"no row has {value!r} in {column!r}{near(value, list(known))}.")
    return same


def _text(value: object) -> str:
    """Return a value as it is typed: 3 for 3.0, because a column of whole numbers with a missing value holds 3.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _copies(frame: pd.DataFrame) -> pd.Series[bool]:
    try:
        return frame.duplicated()
    except TypeError:  # lists and records in cells
        return frame.map(repr).duplicated()


def _sides(frame: pd.DataFrame, options: Mapping[str, Any]) -> tuple[str, str]:
    """Return the columns of the objects: those that are named, or those of the recognized format."""
    if "objects" in options:
        return tuple(options["objects"])
    names = ("outcome", "outcomes", "winner", "loser", "scores", "defaults", "labels")
    asked = Asked(**{name: options[name] for name in names if name in options})
    return countable(frame, options.get("format"), asked, max_dropped=len(frame)).sides


def _less(frame: pd.DataFrame, gone: pd.Series[bool], why: str) -> pd.DataFrame:
    """Return the other rows, and write how many are gone to standard error."""
    typer.echo(f"note: left out: {counted(int(gone.sum()), 'row')} {why}", err=True)
    return frame[~gone].reset_index(drop=True)
