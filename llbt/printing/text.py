"""Columns of strings as plain text, aligned by the width of letters in a terminal."""

from __future__ import annotations

import textwrap

from .column_fit import WIDTH, fitted, lines_of
from .layout import LEGEND, Sheet


def as_text(sheet: Sheet) -> str:
    """Return a table as plain text: the title, columns with one space between, and notes."""
    lines = [sheet.title, *sheet.head]
    if sheet.columns:
        lines += [""] if any(lines) else []
        columns, left_out = (sheet.columns, []) if sheet.chosen else fitted(sheet.columns, sheet.least_needed)
        lines += lines_of(columns)
        lines += textwrap.wrap(f"Columns not shown: {', '.join(left_out)}", WIDTH) if left_out else []
        lines += [sheet.more] if sheet.more else []
        lines += ["---", LEGEND] if sheet.has_stars else []
    if sheet.foot:
        lines += ["", *sheet.foot]
    if sheet.notes:
        lines += ["", *[f"Note: {note}" for note in sheet.notes]]
    return "\n".join(lines).strip("\n")
