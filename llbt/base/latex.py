"""Columns of strings as LaTeX that fits a page: the largest letters that fit; else words are broken; else an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import OptionError, listed
from .latex_columns import HEADINGS
from .latex_text import (
    breakable,
    composed_latex,
    escape_latex,
    lines_needed,
    number_latex,
    raised_stars,
    unknown_letters,
    width,
)
from .layout import Column, Sheet, Size, check_label

_PAGE = (360.0, 595.0)  # \textwidth and \textheight of article (a4paper, 11pt), in pt
_MOST_ROWS = 60  # most rows of a table that floats
_NOTES: Size = "footnotesize"
_SOME = 20  # letters that a comment names
_STARS_WIDE = 0.42  # width of a raised star, in sizes of the letters around it
_LEGEND = "$^{*}\\,p<0.05$, $^{**}\\,p<0.01$, $^{***}\\,p<0.001$"


@dataclass(frozen=True)
class Paper:
    """The LaTeX options of a table.

    Attributes
    ----------
    label : str
    longtable : bool or None
    size : str or None
    """

    label: str
    longtable: bool | None
    size: Size | None


@dataclass(frozen=True)
class _Letters:
    """The letters of a LaTeX size: em and line in pt. Small letters are drawn wider, and so is their em."""

    size: Size
    em: float
    line: float


_LETTERS = (
    _Letters("normalsize", 10.95, 13.6),
    _Letters("small", 10.0, 12.0),
    _Letters("footnotesize", 9.25, 11.0),
    _Letters("scriptsize", 8.5, 9.5),
)
_OF_NOTES = next(letters for letters in _LETTERS if letters.size == _NOTES)


@dataclass(frozen=True)
class _Block:
    """A column with its stars: numbers as LaTeX, or texts that may be broken; widths in em."""

    heading: str
    cells: list[str]
    texts: list[str] | None
    left: bool
    wide: float


@dataclass(frozen=True)
class _Layout:
    """The width of each column (em; None for its natural width), the size of letters, and the columns' gap (pt)."""

    letters: _Letters
    room: float
    stacked: bool
    widths: tuple[float | None, ...]


def as_latex(sheet: Sheet, paper: Paper) -> str:
    """Return a table as LaTeX; a table without columns gives only its lines."""
    if not sheet.columns:
        text = "\n\n".join(breakable(line, 10.0) for line in (sheet.title, *sheet.head, *sheet.notes) if line)
        return rf"{{\sloppy {text}\par}}"  # rather wide gaps between words than words beyond the margin
    _check(paper)
    blocks = list(_blocks(sheet))
    layout = _layout(sheet, blocks, paper.size)
    if _is_long(sheet, blocks, layout, paper.longtable):
        return _over_pages(sheet, blocks, layout, paper)
    return _floating(sheet, blocks, layout, paper)


def _check(paper: Paper) -> None:
    check_label(paper.label)


# -- columns -------------------------------------------------------------------------------------------------


def _blocks(sheet: Sheet) -> Iterator[_Block]:
    """Return the columns, each with the stars of the next column."""
    columns = list(sheet.columns)
    for k, column in enumerate(columns):
        if column.kind == "stars" and k:
            continue
        after = columns[k + 1] if k + 1 < len(columns) and columns[k + 1].kind == "stars" else None
        yield _text(column) if column.kind == "text" else _numbers(column, after.cells if after else None)


def _text(column: Column) -> _Block:
    heading = _heading(column)
    wide = max([_plain_width(heading), *map(width, column.cells)])
    return _Block(heading, [], column.cells, True, wide)


def _numbers(column: Column, marks: list[str] | None) -> _Block:
    raised = [mark.strip(".") for mark in (marks or (column.cells if column.kind == "stars" else []))]
    room = max(map(len, raised), default=0)
    if column.kind == "stars":  # a column of stars without estimates before it
        return _Block("", [raised_stars(mark, room) for mark in raised], None, True, room * _STARS_WIDE)
    write = composed_latex if column.kind == "composed" else number_latex
    cells = [write(cell) for cell in column.cells]
    if room:
        cells = [cell + raised_stars(mark, room) for cell, mark in zip(cells, raised, strict=True)]
    wide = max(map(_number_width, column.cells), default=0.0) + room * _STARS_WIDE
    return _Block(_heading(column), cells, None, False, wide)


def _number_width(cell: str) -> float:
    return width(cell.replace("-", "−"))


def _heading(column: Column) -> str:
    """Return the heading as LaTeX: typeset if known, else with a capital letter."""
    if column.typeset:
        return column.typeset
    if column.heading in HEADINGS:
        return HEADINGS[column.heading]
    if column.heading != column.name or column.kind == "composed":
        return escape_latex(column.heading)
    text = column.heading.replace("_", " ")
    return escape_latex(text[:1].upper() + text[1:])


def _plain_width(source: str) -> float:
    """Return the width of a LaTeX heading, where a command counts as one letter."""
    letters = re.sub(r"\\mathrm|\\hat|\\[,;]|[{}$^_]|\\(?=[%#&_ ])", "", source)
    return width(re.sub(r"\\[a-zA-Z]{2,}", "m", letters))


def _parts(block: _Block) -> list[str]:
    """Return a heading as the lines into which it can be split."""
    return [part for part in re.split(r"\\? ", block.heading) if part]


def _heading_width(block: _Block, stacked: bool) -> float:
    parts = _parts(block) if stacked else [block.heading]
    return max(map(_plain_width, parts), default=0.0)


# -- layout --------------------------------------------------------------------------------------------------


def _layout(sheet: Sheet, blocks: Sequence[_Block], size: Size | None) -> _Layout:
    """Return the first layout that fits a page; large letters are tried first, and words are broken last."""
    sizes = [letters for letters in _LETTERS[:3] if size is None] or [e for e in _LETTERS if e.size == size]
    for letters in sizes:
        for room, stacked, least in ((6.0, False, None), (6.0, True, None), (4.0, True, None), (4.0, True, _gently)):
            widths = _widths(blocks, letters, room, stacked, least)
            if widths is not None:
                return _Layout(letters, room, stacked, widths)
    last = [sizes[-1], *([_LETTERS[-1]] if size is None else [])]
    for letters in last:
        widths = _widths(blocks, letters, 4.0, True, _anyhow)
        if widths is not None:
            return _Layout(letters, 4.0, True, widths)
    raise _too_wide(sheet, blocks, last[-1])


def _gently(block: _Block) -> float:
    """Return the least widths of texts if words stay whole and a line is split into at most four."""
    words = [word for text in block.texts or () for word in text.split(" ")]
    whole = max(map(width, words), default=0.0)
    return min(block.wide, max(_anyhow(block), whole if whole < 11 else max(7.0, whole / 2), block.wide / 4, 5.0))


def _anyhow(block: _Block) -> float:
    """Return the least possible widths of texts."""
    return min(block.wide, max(4.5, 1.05 * _heading_width(block, stacked=True)))


def _widths(
    blocks: Sequence[_Block],
    letters: _Letters,
    room: float,
    stacked: bool,
    least: Callable[[_Block], float] | None,
) -> tuple[float | None, ...] | None:
    """Return the widths of broken columns (None: not broken) that fit the page; None if they do not fit."""
    left = (_PAGE[0] - 2 * room * (len(blocks) - 1)) / letters.em - 0.3
    natural = [
        block.wide if block.texts is not None else max(block.wide, _heading_width(block, stacked)) for block in blocks
    ]
    if sum(natural) <= left:
        return (None,) * len(blocks)
    texts = [k for k, block in enumerate(blocks) if block.texts is not None]
    if least is None or not texts:
        return None
    left -= sum(wide for k, wide in enumerate(natural) if k not in texts)
    smallest = {k: least(blocks[k]) for k in texts}
    if sum(smallest.values()) > left:
        return None
    given = _shared_out({k: natural[k] for k in texts}, smallest, left)
    return tuple(given[k] if k in texts and given[k] < natural[k] else None for k in range(len(blocks)))


def _shared_out(natural: dict[int, float], smallest: dict[int, float], left: float) -> dict[int, float]:
    """Return widths within the remaining room: narrow columns get what they need, the widest get equal widths."""
    low, high = 0.0, left
    for _ in range(60):  # search the width below which columns get all that they need
        level = (low + high) / 2
        total = sum(max(smallest[k], min(natural[k], level)) for k in natural)
        low, high = (level, high) if total <= left else (low, level)
    return {k: max(smallest[k], min(natural[k], low)) for k in natural}


def _too_wide(sheet: Sheet, blocks: Sequence[_Block], letters: _Letters) -> OptionError:
    needed = sum(_anyhow(b) if b.texts is not None else max(b.wide, _heading_width(b, True)) for b in blocks)
    over = needed * letters.em + 6 * (len(blocks) - 1) - _PAGE[0]
    names = [column.name for column in sheet.columns]
    remedy = "Choose fewer of them with columns=, or shorter names with rename=."
    if len(names) > 12:
        remedy = "Choose some with columns=, print a long table of pairs (.to_frame().melt(…)), or draw a picture."
    return OptionError(
        f"{len(names)} columns are {math.ceil(max(over, 1))} pt wider than a page at \\{letters.size}: "
        f"{listed(names, 15)}",
        remedy,
    )


# -- height --------------------------------------------------------------------------------------------------


def _is_long(sheet: Sheet, blocks: Sequence[_Block], layout: _Layout, asked: bool | None) -> bool:
    """Return whether a table runs over several pages: as requested, else if it has too many rows for one page."""
    rows = len(sheet.columns[0].cells)
    height = _height(sheet, blocks, layout)
    if asked is False and height > _PAGE[1]:
        raise OptionError(
            f"longtable=False of {rows} rows that are {math.ceil(height - _PAGE[1])} pt taller than a page",
            "Leave longtable= out.",
        )
    return (rows > _MOST_ROWS or height > _PAGE[1]) if asked is None else asked


def _height(sheet: Sheet, blocks: Sequence[_Block], layout: _Layout) -> float:
    lines = [1] * len(sheet.columns[0].cells)
    for block, wide in zip(blocks, layout.widths, strict=True):
        if wide is not None and block.texts is not None:
            lines = [max(n, lines_needed(text, wide)) for n, text in zip(lines, block.texts, strict=True)]
    room = _PAGE[0] / _OF_NOTES.em
    notes = sum(lines_needed(line, room) for line in _note_lines(sheet))
    headings = max((len(_parts(block)) if layout.stacked else 1) for block in blocks)
    caption = lines_needed(sheet.title, _PAGE[0] / _LETTERS[0].em)
    above = 13.6 * caption + 30 + (headings + 1) * layout.letters.line
    return above + sum(lines) * layout.letters.line + notes * _OF_NOTES.line + 20


# -- lines ---------------------------------------------------------------------------------------------------


def _floating(sheet: Sheet, blocks: Sequence[_Block], layout: _Layout, paper: Paper) -> str:
    lines = [*_first_lines(sheet, layout, ["booktabs"]), r"\begin{table}[htbp]", r"\centering"]
    lines += [caption] if (caption := _caption(sheet, paper)) else []
    lines += _settings(layout)
    lines += [rf"\begin{{tabular}}{{{_specification(blocks, layout)}}}", r"\toprule", _heading_row(blocks, layout)]
    lines += [r"\midrule", *_rows(blocks, layout), r"\bottomrule", r"\end{tabular}"]
    below = _notes(sheet)
    if below:
        lines += [r"\par\smallskip", r"\begin{minipage}{\linewidth}", rf"\{_NOTES}\raggedright", *below]
        lines += [r"\end{minipage}"]
    return "\n".join([*lines, r"\end{table}"])


def _over_pages(sheet: Sheet, blocks: Sequence[_Block], layout: _Layout, paper: Paper) -> str:
    lines = [*_first_lines(sheet, layout, ["booktabs", "longtable"]), r"\begingroup", *_settings(layout)]
    lines += [r"\setlength{\LTcapwidth}{\linewidth}"]
    lines += [rf"\begin{{longtable}}{{{_specification(blocks, layout)}}}"]
    lines += [caption + r" \\"] if (caption := _caption(sheet, paper)) else []
    heading = [r"\toprule", _heading_row(blocks, layout), r"\midrule"]
    lines += [*heading, r"\endfirsthead", *heading, r"\endhead", r"\bottomrule", r"\endlastfoot"]
    lines += [*_rows(blocks, layout), r"\end{longtable}"]
    below = _notes(sheet)
    lines += [rf"\{_NOTES}\raggedright", *(rf"\noindent {line}" for line in below)] if below else []
    return "\n".join([*lines, r"\endgroup"])


def _first_lines(sheet: Sheet, layout: _Layout, packages: list[str]) -> list[str]:
    """Return comments: the packages, what letters of other scripts need, and the columns that do not fit."""
    packages = [*packages, *(["array"] if any(wide is not None for wide in layout.widths) else [])]
    lines = [rf"% \usepackage{{{','.join(packages)}}}"]
    texts = [text for column in sheet.columns for text in (column.heading, *column.cells)]
    unknown = unknown_letters("".join([sheet.title, *texts, *_note_lines(sheet)]))
    if unknown:
        lines.append(
            rf"% {unknown[:_SOME]}: lualatex or xelatex, with \usepackage{{fontspec}} and a font that has them"
        )
    return [*lines, *([f"% columns= has also: {', '.join(sheet.left_out)}"] if sheet.left_out else [])]


def _settings(layout: _Layout) -> list[str]:
    size = [] if layout.letters.size == "normalsize" else [rf"\{layout.letters.size}"]
    return [*size, *([] if layout.room == 6 else [rf"\setlength{{\tabcolsep}}{{{layout.room:g}pt}}"])]


def _specification(blocks: Sequence[_Block], layout: _Layout) -> str:
    def one(block: _Block, wide: float | None) -> str:
        if wide is None:
            return "l" if block.left else "r"
        return rf">{{\raggedright\arraybackslash}}p{{{math.floor(wide * layout.letters.em)}pt}}"

    return "@{}" + "".join(map(one, blocks, layout.widths)) + "@{}"


def _heading_row(blocks: Sequence[_Block], layout: _Layout) -> str:
    def one(block: _Block) -> str:
        parts = _parts(block)
        narrow = _heading_width(block, stacked=False) > block.wide
        if block.texts is None and layout.stacked and narrow and len(parts) > 1:
            return r"\shortstack[r]{" + r"\\".join(parts) + "}"
        return block.heading

    return " & ".join(map(one, blocks)) + r" \\"


def _rows(blocks: Sequence[_Block], layout: _Layout) -> list[str]:
    def cells(block: _Block, wide: float | None) -> list[str]:
        if block.texts is None:
            return block.cells
        return [escape_latex(text) if wide is None else breakable(text, wide * 0.88) for text in block.texts]

    columns = map(cells, blocks, layout.widths)
    return [" & ".join(row) + r" \\" for row in zip(*columns, strict=True)]


def _caption(sheet: Sheet, paper: Paper) -> str:
    title = breakable(sheet.title, _PAGE[0] / 2 / _LETTERS[0].em)
    label = rf"\label{{{paper.label}}}" if paper.label else ""
    return rf"\caption{{{title}}}{label}" if title else label


def _note_lines(sheet: Sheet) -> list[str]:
    """Return the lines below the columns: those that other formats print above, then the foot and the notes."""
    return [line for line in (*sheet.head, sheet.more, *sheet.foot, *sheet.notes) if line]


def _notes(sheet: Sheet) -> list[str]:
    lines = [breakable(line.strip(), 10.0) for line in _note_lines(sheet)]
    return [line + r"\par" for line in [*([_LEGEND] if sheet.has_stars else []), *lines]]
