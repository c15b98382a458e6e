"""Columns of strings as Markdown and as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from .layout import Sheet, Size, check_label

# HTML equivalents of LaTeX's font sizes in an article of 11 pt, relative to its text.
SIZES: dict[Size, str] = {"normalsize": "100%", "small": "91%", "footnotesize": "82%", "scriptsize": "73%"}


def as_markdown(sheet: Sheet) -> str:
    """Return a table as Markdown, with its lines above and below; a table without columns gives only its lines."""
    lines = [f"**{escape_markdown(sheet.title)}**", ""] if sheet.title else []
    above = [*sheet.head, *sheet.opening_notes()]
    lines += [escape_markdown(line) + ("  " if sheet.columns else "") for line in above]
    if sheet.columns:
        lines += [""] if above else []
        rules = [":--" if column.left else "--:" for column in sheet.columns]
        heading, *rows = ("| " + " | ".join(map(escape_markdown, row)) + " |" for row in _all_rows(sheet))
        lines += [heading, "| " + " | ".join(rules) + " |", *rows]
    for line in ([sheet.more] if sheet.more else []) + sheet.closing_lines():
        lines += ["", escape_markdown(line.strip())]  # four leading spaces would make the line code
    return "\n".join(lines)


def escape_markdown(text: str) -> str:
    """Return text for Markdown with its markup escaped."""
    escaped = "".join("\\" + c if c in "\\`*_{}[]#|~$" else c for c in text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Sorts the rows of a table by the column whose heading is clicked; a second click reverses the order. Numbers sort by
# the first number of a cell, texts by their letters. The script contains nothing of the table.
_SORT = (
    "const h=event.target.closest('th');if(h){const b=this.parentNode.tBodies[0],k=h.cellIndex,"
    "u=this.dataset.by===k+'u'?-1:1;this.dataset.by=k+(u>0?'u':'d');"
    "const v=r=>{const t=r.cells[k].textContent,m=t.replace(/,(?=\\d{3})/g,'').match(/-?\\d+\\.?\\d*(e-?\\d+)?/);"
    "return /^(NA$|[\\[<\\-\\d.])/.test(t)?(m?parseFloat(m[0]):Infinity):t};"
    "[...b.rows].sort((p,q)=>{const x=v(p),y=v(q);"
    "return u*(typeof x==='number'&&typeof y==='number'?x-y:String(x).localeCompare(String(y)))})"
    ".forEach(r=>b.append(r))}"
)


def sortable(text: str) -> str:
    """Return an HTML table that is sorted by a click on a heading, for notebooks; a paragraph is returned unchanged."""
    clicked = f'<thead style="cursor:pointer" title="sort" onclick="{html.escape(_SORT)}">'
    return text.replace("<thead>", clicked, 1)


def as_html(sheet: Sheet, label: str = "", size: Size | None = None) -> str:
    """Return a table as one HTML table; a table without columns gives a paragraph."""
    check_label(label)
    named = (f' id="{html.escape(label)}"' if label else "") + (f' style="font-size:{SIZES[size]}"' if size else "")
    if not sheet.columns:
        lines = [sheet.title, *sheet.head, *sheet.opening_notes(), *sheet.closing_lines()]
        return f"<p{named}>{'<br>'.join(html.escape(line) for line in lines if line)}</p>"
    caption = "<br>".join(html.escape(line) for line in (sheet.title, *sheet.head, *sheet.opening_notes()) if line)
    heading, *rows = _all_rows(sheet)
    body = "".join(_row(sheet, cells, "td") for cells in rows)
    after = [line for line in [sheet.more, *sheet.closing_lines()] if line]
    return (
        f'<table class="llbt"{named}>'
        + (f'<caption style="caption-side:top;text-align:left">{caption}</caption>' if caption else "")
        + f"<thead>{_row(sheet, heading, 'th')}</thead><tbody>{body}</tbody>"
        + (f"<tfoot>{_spanning(sheet, after)}</tfoot>" if after else "")
        + "</table>"
    )


def _all_rows(sheet: Sheet) -> list[tuple[str, ...]]:
    return [tuple(column.heading for column in sheet.columns), *sheet.rows()]


def _row(sheet: Sheet, cells: Sequence[str], tag: str) -> str:
    align = ["left" if column.left else "right" for column in sheet.columns]
    pairs = zip(cells, align, strict=True)
    return "<tr>" + "".join(f'<{tag} style="text-align:{a}">{html.escape(c)}</{tag}>' for c, a in pairs) + "</tr>"


def _spanning(sheet: Sheet, lines: Iterable[str]) -> str:
    cell = f'<td colspan="{len(sheet.columns)}" style="text-align:left;white-space:pre-wrap">'
    return "".join(f"<tr>{cell}{html.escape(line)}</td></tr>" for line in lines)
