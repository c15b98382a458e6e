"""Text of csv files, as frames of text; an error names the line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence
from typing import Literal

import pandas as pd

from ..base.table import counted
from ..errors import JudgmentError, listed, repeated
from .paths import first_line

_SEPARATORS = (",", "\t", ";", "|")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_PLAIN = re.compile(r"[\w .-]{1,60}")


def csv_fields(text: str, what: str, early: Collection[tuple[str, ...]] = ()) -> pd.DataFrame:
    """Return a csv file with its fields as text."""
    text = text.lstrip("\r\n")
    separator, names = headings(re.split(r"[\r\n]", text, maxsplit=1)[0], what)  # old Macs end lines with \r alone
    may_end = any(set(head) <= set(names) for head in early)
    # such files of tabs are written without quoting, and the sentences in them have quotation marks
    quoting: Literal[0, 3] = csv.QUOTE_NONE if may_end and separator == "\t" else csv.QUOTE_MINIMAL
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=r"\s+" if separator == " " else separator,
            keep_default_na=False,
            na_values=[""],
            dtype=object,
            quoting=quoting,
        )
    except (ValueError, pd.errors.ParserError) as error:
        if "EOF inside string" not in str(error):
            _refuse_ragged(text, separator, quoting, len(names), what, may_end)  # knows the line
        raise JudgmentError(f"{what!r} cannot be read as csv: {first_line(error)}") from None
    if separator == " " and not isinstance(frame.index, pd.RangeIndex):  # R writes the names of rows without a heading
        frame = frame.reset_index(names="row.names")
        names = ["row.names", *names]
    if not isinstance(frame.index, pd.RangeIndex) or (len(frame) and frame[frame.columns[-1]].isna().any()):
        # in silence, pandas fills short lines and takes an index from long ones
        _refuse_ragged(text, separator, quoting, len(names), what, may_end)
    return frame


def headings(head: str, what: str) -> tuple[str, list[str]]:
    """Return the separator of a csv file and the names of its columns, by its first line."""
    separator = max(_SEPARATORS, key=lambda sign: (head.count(sign), -_SEPARATORS.index(sign)))
    separator = " " if separator not in head and " " in head.strip() else separator
    try:
        names = next(
            csv.reader(
                [head.strip() if separator == " " else head.rstrip("\r\n")],
                delimiter=separator,
                skipinitialspace=separator == " ",
            ),
            [],
        )
    except csv.Error as error:
        raise JudgmentError(f"{what!r}, line 1: not csv ({error}).") from None
    if not any(names):
        raise JudgmentError(f"{what!r} has no first line with the names of the columns.")
    if _CONTROL.search(head) or (len(names) == 1 and not _PLAIN.fullmatch(names[0])):
        # not shown: it may be anything, of a file that somebody else named
        raise JudgmentError(
            f"{what!r}: the first line names no columns", expected="names separated by commas, tabs, semicolons or bars"
        )
    _refuse_twice(names, what)
    return separator, names


def headless_fields(text: str, header: tuple[str, ...], what: str) -> pd.DataFrame:
    """Return a text file without names of columns: separated by commas or tabs, else by blanks."""
    separator = next((sign for sign in (",", "\t") if sign in text.split("\n", 1)[0]), None)
    rows = (
        list(csv.reader(io.StringIO(text), delimiter=separator))
        if separator
        else [x.split() for x in text.splitlines()]
    )
    long = next((k for k, fields in enumerate(rows) if len(fields) > len(header)), None)
    if long is not None:
        raise JudgmentError(
            f"{what!r}, line {long + 1}: {counted(len(rows[long]), 'field')}",
            expected=f"at most {len(header)}: {', '.join(header)}",
        )
    full = [[*fields, *[None] * (len(header) - len(fields))] for fields in rows if fields]
    return pd.DataFrame(full, columns=list(header))


def _refuse_twice(names: Sequence[str], what: str) -> None:
    twice = repeated(names)
    if twice:
        raise JudgmentError(f"{what!r} has several columns named {listed(twice)}", "Rename all but one.")


def _refuse_ragged(text: str, separator: str, quoting: Literal[0, 3], width: int, what: str, may_end: bool) -> None:
    blank = separator == " "
    text = "\n".join(map(str.strip, text.splitlines())) if blank else text
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting, skipinitialspace=blank)
    before = csv.field_size_limit(max(len(text), 1))  # answers of a language model are longer than csv expects
    try:
        for fields in reader:
            if any(fields) and (len(fields) > width or (len(fields) < width and not may_end)):
                raise JudgmentError(
                    f"{what!r}, line {reader.line_num}: {counted(len(fields), 'field')}, but the first line names "
                    f"{width}; the line is cut off or damaged",
                    "Complete it, or remove it first.",
                )
    except csv.Error as error:
        raise JudgmentError(f"{what!r}, line {reader.line_num}: not csv ({error}).") from None
    finally:
        csv.field_size_limit(before)


def refuse_other_columns(path: str, own: Sequence[str], first: str, names: Sequence[str]) -> None:
    """Raise if a file does not have the columns of the first file."""
    if set(own) != set(names):
        raise JudgmentError(
            f"{path!r} has the columns {listed(own, 20)}", expected=f"those of {first!r}: {listed(names, 20)}"
        )
