"""Columns of strings as plain text, aligned by the width of letters in a terminal."""

from __future__ import annotations

import unicodedata

from .layout import LEGEND, Sheet


def as_text(sheet: Sheet) -> str:
    """Return a table as plain text: the title, columns with one space between, and notes."""
    lines = [sheet.title, *sheet.head]
    if sheet.columns:
        lines += [""] if any(lines) else []
        lines += _columns(sheet)
        lines += [sheet.more] if sheet.more else []
        lines += ["---", LEGEND] if sheet.has_stars else []
    if sheet.foot:
        lines += ["", *sheet.foot]
    if sheet.notes:
        lines += ["", *[f"Note: {note}" for note in sheet.notes]]
    return "\n".join(lines).strip("\n")


def _columns(sheet: Sheet) -> list[str]:
    widths = [max(map(_width, [column.heading, *column.cells])) for column in sheet.columns]
    left = [column.left for column in sheet.columns]
    rows = [tuple(column.heading for column in sheet.columns), *sheet.rows()]
    return [" ".join(map(_padded, row, widths, left)).rstrip() for row in rows]


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)


def _padded(text: str, width: int, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text
