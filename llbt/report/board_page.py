"""A leaderboard as one page that can be sent: it loads nothing, its columns sort, and its rows are filtered by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..base.layout import Column, Sheet, Size, check_label
from ..base.markup import SIZES
from ..base.notes import describing, qualifying
from ..base.table import Table, sheet_of
from .page_parts import complete, escaped, folded, page, paragraph

_NUMBER = re.compile(r"[-−]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def board_page(
    board: Table,
    *,
    columns: Sequence[str] | None = None,
    rename: Mapping[Any, str] | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    caption: str | None = None,
    label: str | None = None,
    size: Size | None = None,
) -> str:
    """Return a leaderboard with all of its rows as an HTML page; the options are those of `Record.as_html`."""
    check_label(label or "")
    sheet = sheet_of(complete(board), columns, rename, (digits, decimals), caption)
    notes = [paragraph(note) for note in (*describing(sheet.notes), *sheet.foot)]
    parts = [
        f'<p class="lead">{"<br>".join(map(escaped, sheet.head))}</p>' if sheet.head else "",
        *(paragraph(note, "notice") for note in qualifying(sheet.notes)),
        _table(sheet, label or "", size),
        folded("How to read this", "\n".join(notes)) if notes else "",
    ]
    return page(sheet.title or "Leaderboard", "\n".join(filter(None, parts)))


def _table(sheet: Sheet, label: str, size: Size | None) -> str:
    names = [column.name for column in sheet.columns]
    named = names.index("object") if "object" in names else next((k for k, c in enumerate(sheet.columns) if c.left), -1)
    head = "".join(map(_heading, sheet.columns))
    rows = "\n".join(
        "<tr>" + "".join(_cell(c, text, k == named) for k, (c, text) in enumerate(zip(sheet.columns, row, strict=True)))
        + "</tr>"
        for row in sheet.rows()
    )  # fmt: skip
    attributes = (f' id="{label}"' if label else "") + (f' style="font-size:{SIZES[size]}"' if size else "")
    return (
        f'<div class="scroll" role="region" aria-label="{escaped(sheet.title)}" tabindex="0"><table{attributes}>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _heading(column: Column) -> str:
    kind = "" if column.left else ' class="number" data-kind="number"'
    return f'<th scope="col"{kind}><button type="button">{escaped(column.heading)}</button></th>'


def _cell(column: Column, text: str, names_row: bool) -> str:
    """Return one cell; a number carries the value to sort by, an interval its lower bound."""
    if column.left:
        tag = 'th scope="row"' if names_row else "td"
        return f"<{tag}><bdi>{escaped(text)}</bdi></{tag.partition(' ')[0]}>"
    number = _NUMBER.search(text)
    value = "" if number is None else number[0].replace(",", "").replace("−", "-")
    return f'<td class="number" data-value="{value}">{escaped(text)}</td>'
