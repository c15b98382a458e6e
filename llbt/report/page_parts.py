"""Parts of the report page: text, tables, pictures and the page around them, as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from ..base.extras import is_installed
from ..base.notes import describing, qualifying
from ..base.table import LEGEND, Field, Record, Table, printed_cells, printed_columns
from ..errors import LLBTError, printable
from ..plot.style import on_page
from .page_script import SCRIPT
from .page_style import IN_PICTURES, content_policy, stylesheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SVG = "http://www.w3.org/2000/svg"
_LABELS = ("text", "stars")
_LEVELS = ("error", "warning")
_DIGITS = 3
_ROUNDED = ("estimate", "number")
_LONG, _NAME = 18, 60  # letters of a name that gets a wide column; what is longer is a sentence
_HEX = re.compile("|".join(IN_PICTURES))


def escaped(text: object) -> str:
    """Return text escaped for HTML and its attributes; invisible characters are escaped, line breaks become spaces."""
    return html.escape(printable(re.sub(r"[\t\n\r]+", " ", str(text))))


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text; its kind is a class of the stylesheet."""
    return f"<p{_class(kind)}>{escaped(text)}</p>"


def monospaced(lines: Iterable[str]) -> str:
    """Return preformatted lines, with all of their spaces."""
    return "".join(f'<div class="foot">{escaped(line)}</div>' for line in lines if line)


def section(name: str, heading: str, blocks: Iterable[str]) -> str:
    """Return a section of the page with its heading."""
    return f'<section id="{name}">\n<h2>{escaped(heading)}</h2>\n' + "\n".join(filter(None, blocks)) + "\n</section>"


def folded(summary: str, block: str, *, long: bool = False) -> str:
    """Return a folded block, which opens on a click; a long block is printed only if it is open."""
    return f"<details{_class('unprinted' if long else '')}><summary>{escaped(summary)}</summary>\n{block}\n</details>"


def page(title: str, body: str, sections: Sequence[tuple[str, str]] = ()) -> str:
    """Return the whole page; sections are (id, heading) for its table of contents, if there is one."""
    links = "".join(f'<li><a href="#{name}">{escaped(heading)}</a></li>' for name, heading in sections)
    contents = f'<aside aria-label="Contents and search"><nav aria-label="Contents"><ul>{links}</ul></nav></aside>\n'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(content_policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{stylesheet()}</style>\n</head>\n"
        f"<body{_class('' if sections else 'single')}>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f"<header><h1>{escaped(title)}</h1></header>\n{contents if sections else ''}"
        f'<main id="content" tabindex="-1">\n{body}\n</main>\n'
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


# -- tables ----------------------------------------------------------------------------------------------------


def complete(record: Record) -> Table:
    """Return the table of a result with all of its rows; the page folds long tables."""
    whole = record.table()
    return replace(whole, shown=None, more="", printed=whole.printed and complete(whole.printed))


def table(record: Record, *, title: str | None = None, notes: bool = True) -> str:
    """Return a table whose columns sort, with its lines above and below."""
    sheet = printed_columns(record.table())
    headings, columns = printed_cells(_brief(sheet))
    rows = range(len(sheet.fields[0].values)) if sheet.shown is None else sheet.shown
    caption = escaped(sheet.title if title is None else title)
    head = "".join(_heading(f, heading) for f, heading in zip(sheet.fields, headings, strict=True))
    named = next((f for f in sheet.fields if f.kind in _LABELS), None)
    body = "\n".join(
        "<tr>" + "".join(_cell(f, f is named, row, text) for f, text in zip(sheet.fields, cells, strict=True)) + "</tr>"
        for row, cells in zip(rows, zip(*columns, strict=True), strict=True)
    )
    caveats = "".join(paragraph(note, "notice") for note in qualifying(sheet.notes)) if notes else ""
    return (
        f'{_lines(sheet.head, "quiet")}{caveats}<div class="scroll" role="region" aria-label="{caption}" tabindex="0">'
        f"<table><caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
        + _below(sheet, notes)
    )


def or_why(ask: Callable[[], Record]) -> str:
    """Return a table, or the reason why there is none."""
    try:
        answer = ask()
    except LLBTError as error:
        return paragraph(str(error), "quiet")
    return table(answer)


def _brief(whole: Table) -> Table:
    """Return a table with numbers rounded to three digits of their median size: estimates together, others by column.

    R takes the decimals from the smallest number: one estimate near 0 would give six decimals to all of them.
    """
    estimates = [v for f in whole.fields if f.kind == "estimate" for v in f.values]
    together = _brief_decimals(estimates)

    def brief(f: Field) -> Field:
        if f.kind not in _ROUNDED:
            return f
        decimals = together if f.kind == "estimate" else _brief_decimals(f.values)
        return replace(f, values=np.round(np.asarray(f.values, dtype=float), decimals) + 0.0)  # no −0

    return replace(whole, fields=tuple(map(brief, whole.fields)))


def _brief_decimals(values: Iterable[Any]) -> int:
    sizes = np.abs(np.array(list(values), dtype=float))
    known = sizes[np.isfinite(sizes) & (sizes > 0)]
    return max(0, _DIGITS - 1 - int(np.floor(np.log10(np.median(known))))) if len(known) else 0


def _heading(f: Field, heading: str) -> str:
    number = f.kind not in _LABELS
    if not heading and not f.name:
        return "<td></td>"
    named = heading or f.name
    kind = ' data-kind="number"' if number else ""
    breaking = escaped(named).replace("_", "_<wbr>")  # so that numbers do not stand as wide apart as their headings
    button = f'<button type="button">{breaking}</button>'
    return f'<th scope="col"{_class("number" if number else "")}{kind}>{button}</th>'


def _cell(f: Field, names_row: bool, row: int, text: str) -> str:
    """Return one cell: the first label of a row is its heading, and a number carries its value to sort by."""
    if f.kind in _LABELS:
        tag, rest = ("th", ' scope="row"') if names_row else ("td", "")
        level = (
            f"level-{text}" if f.name == "level" and text in _LEVELS else "long" if _LONG < len(text) <= _NAME else ""
        )
        return f"<{tag}{rest}{_class(level)}><bdi>{escaped(text)}</bdi></{tag}>"
    value = "" if f.kind == "composed" else f' data-value="{_sort_value(f.values[row])}"'
    return f'<td class="number"{value}>{escaped(text)}</td>'


def _sort_value(value: Any) -> str:
    number = float(value)
    if np.isnan(number):
        return ""
    return repr(number) if np.isfinite(number) else ("Infinity" if number > 0 else "-Infinity")


def _below(whole: Table, notes: bool) -> str:
    """Return the part below the rows: foot, count of hidden rows, legend, and describing notes in a folded block."""
    legend = (LEGEND,) if any(f.kind == "stars" for f in whole.fields) else ()
    lines, notes_below = (*((whole.more,) if whole.more else ()), *legend), describing(whole.notes) if notes else ()
    return (
        monospaced(whole.foot)
        + _lines(lines, "quiet")
        + (folded("Notes", _lines(notes_below, "quiet")) if notes_below else "")
    )


def _lines(lines: Sequence[str], kind: str) -> str:
    return f"<p{_class(kind)}>" + "<br>".join(map(escaped, lines)) + "</p>" if lines else ""


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


# -- pictures --------------------------------------------------------------------------------------------------


def picture(name: str, caption: str, draw: Callable[[], Axes]) -> str:
    """Return a picture as inline SVG, or the reason why it cannot be drawn; nothing without matplotlib.

    Parameters
    ----------
    name : str
        The prefix of its ids, so that no two pictures share one.
    caption : str
    draw : callable
        A function that draws the picture in a new figure.
    """
    if not is_installed("matplotlib"):
        return ""
    try:
        svg = _drawn(draw)
    except LLBTError as error:
        return paragraph(f"{caption}: not drawn. {error}", "quiet")
    label = f'role="img" aria-label="{escaped(caption)}"'
    return (
        f"<figure>{_inline(svg, name).replace('<svg ', f'<svg {label} ', 1)}"
        f"<figcaption>{escaped(caption)}</figcaption></figure>"
    )


def _drawn(draw: Callable[[], Axes]) -> bytes:
    """Return a picture as SVG with its letters as text."""
    from ..plot.svg import page_svg

    with on_page():
        figure = draw().get_figure(root=True)
    assert figure is not None
    return page_svg(figure)


def _inline(svg: bytes, name: str) -> str:
    """Return SVG to put inside a page: without its own style and metadata, and with ids that no other picture has."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style")]:
            parent.remove(child)
    # matplotlib draws ids by lot
    ids = dict.fromkeys(element.get("id", "") for element in root.iter())
    own = {old: f"{name}-{k}" for k, old in enumerate(filter(None, ids))}
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            element.set(key, _with_own_ids(key, value, own))
    return _serialized(root)


def _with_own_ids(key: str, value: str, own: dict[str, str]) -> str:
    if key == "id":
        return own[value]
    if key.split("}")[-1] == "href" and value.startswith("#"):
        return f"#{own[value[1:]]}"
    if key in ("clip-path", "style", "fill", "filter", "mask"):
        value = _HEX.sub(lambda match: IN_PICTURES[match[0]], value)
        return re.sub(r"url\(#([^)]*)\)", lambda match: f"url(#{own[match[1]]})", value)
    return value


def _serialized(root: ElementTree.Element) -> str:
    """Return elements as HTML writes SVG inside a page: without namespaces, every element closed."""
    for element in root.iter():
        element.tag = element.tag.split("}")[-1]
        for key in [key for key in element.attrib if key.startswith("{")]:
            element.set(key.split("}")[-1], element.attrib.pop(key))
    root.attrib.pop("version", None)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
