"""Columns of strings as plain text, aligned by the width of letters in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from .column_fit import fitted, lines_of
from .layout import LEGEND, Sheet
from .notes import WIDTH, all_lines, describing, few_lines, qualifying, wrapped

_FURTHER = "  "  # indent of the continuation of a line above or below the columns


def as_text(sheet: Sheet, *, all_notes: bool = False) -> str:
    """Return a table as plain text: title, notes that qualify its numbers, columns, all other lines."""
    lines = _broken([sheet.title, *sheet.head])
    if above := qualifying(sheet.notes):
        lines += ["", *all_lines(above, WIDTH)]
    if sheet.columns:
        lines += [""] if any(lines) else []
        columns, left_out = (sheet.columns, []) if sheet.chosen else fitted(sheet.columns, sheet.least_needed)
        lines += lines_of(columns)
        lines += _broken([f"Columns not shown: {', '.join(left_out)}"]) if left_out else []
        lines += _broken([sheet.more]) if sheet.more else []
        lines += ["---", LEGEND] if sheet.has_stars else []
    if sheet.foot:
        lines += ["", *_broken(sheet.foot)]
    if below := describing(sheet.notes):
        lines += ["", *(all_lines(below, WIDTH) if all_notes else few_lines(below, WIDTH))]
    return "\n".join(lines).strip("\n")


def _broken(lines: Iterable[str]) -> list[str]:
    return [part for line in lines for part in wrapped(line, WIDTH, _FURTHER)]
