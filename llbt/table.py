"""One Table record and its renderings: the only place where a number becomes a string."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from .errors import printable

Kind = Literal["text", "composed", "estimate", "number", "statistic", "count", "p_value", "stars"]

LEGEND = "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"
_LEFT: tuple[Kind, ...] = ("text", "stars")
_SMALLEST_P = 2.2e-16  # R's .Machine$double.eps: below it a p-value is printed as <2e-16


class Record:
    """The protocol of every answer: a class defines ``table()``, the rest follows from it.

    This is the one base class of the package; it carries no state.
    """

    __slots__ = ()

    def table(self) -> Table:
        """Return the answer as a `Table`."""
        raise TypeError(f"{type(self).__name__} does not define table()")

    def to_frame(self) -> pd.DataFrame:
        """Return the answer as a pandas DataFrame, unrounded."""
        return self.table().to_frame()

    def as_text(self) -> str:
        """Return the answer as plain text, as it prints."""
        return _text(_flattened(self.table()))

    def as_markdown(self) -> str:
        """Return the answer as a Markdown table with its notes."""
        return _markdown(_flattened(self.table()))

    def as_html(self) -> str:
        """Return the answer as one HTML table."""
        return _html(_flattened(self.table()))

    def as_latex(self) -> str:
        """Return the answer as a LaTeX table (package booktabs)."""
        return _latex(_flattened(self.table()))

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()


@dataclass(frozen=True)
class Field:
    """One column of a `Table`.

    Attributes
    ----------
    name : str
        Column name in ``to_frame()``; empty for a column that is only printed.
    heading : str
        What is printed above it.
    values : sequence
        One value a row; missing numbers are NaN and print as NA.
    kind : str
        How a value becomes a string. All ``estimate`` columns share their decimals, as in R; ``composed`` is text of
        numbers that stands to the right.
    digits : int
        Significant digits of the smallest value.
    """

    name: str
    heading: str
    values: Sequence[Any] | npt.NDArray[Any]
    kind: Kind = "text"
    digits: int = 4


@dataclass(frozen=True, repr=False)
class Table(Record):
    """Columns with a title, lines above and below, and notes.

    Attributes
    ----------
    fields : tuple of Field
    title : str
    head, foot : tuple of str
        Lines above and below the columns.
    notes : tuple of str
        What a reader must know: scales, rows left out, reservations.
    shown : tuple of int or None
        The rows that are printed (None: all). ``to_frame()`` always has all of them.
    more : str
        The line that says how many rows are not printed and how to get them.
    """

    fields: tuple[Field, ...]
    title: str = ""
    head: tuple[str, ...] = ()
    foot: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    shown: tuple[int, ...] | None = field(default=None)
    more: str = ""

    def table(self) -> Table:
        """Return the table itself."""
        return self

    def first(self, most: int = 60, noun: str = "more row", how: str = ".to_frame()") -> Table:
        """Return the table of which the first rows are printed, and a line that counts the others."""
        rest = len(self.fields[0].values) - most
        if rest <= 0:
            return self
        return replace(self, shown=tuple(range(most)), more=f"… {counted(rest, noun)}: {how}")

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas DataFrame, unrounded."""
        return pd.DataFrame({f.name: _frame_values(f.values) for f in self.fields if f.name})


def interval_fields(low: Any, high: Any, confidence: float = 0.95, digits: int = 4) -> tuple[Field, Field]:
    """Return conf_low and conf_high as columns; the first is headed by its level."""
    return (
        Field("conf_low", f"{100 * confidence:.4g} % low", low, "estimate", digits),
        Field("conf_high", "high", high, "estimate", digits),
    )


def p_fields(p_value: npt.NDArray[np.float64], p_adjusted: npt.NDArray[np.float64]) -> tuple[Field, ...]:
    """Return the last columns: p_value, p_adjusted, and the stars of the latter."""
    return (
        Field("p_value", "p", p_value, "p_value"),
        Field("p_adjusted", "adjusted", p_adjusted, "p_value"),
        Field("", "", p_adjusted, "stars"),
    )


def format_p(p: float) -> str:
    """Return a p-value as R prints it: three digits, ``<2e-16`` below machine precision."""
    if math.isnan(p):
        return "NA"
    if p < _SMALLEST_P:
        return "<2e-16"
    if p >= 0.1:
        return f"{p:.3f}"
    return f"{p:#.3g}" if p >= 1e-4 else f"{p:.2e}"


def stars(p: float) -> str:
    """Return the significance code of a p-value, as R prints it."""
    if math.isnan(p):
        return ""
    return next((mark for bound, mark in ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, ".")) if p < bound), "")


def format_number(x: float, digits: int = 5) -> str:
    """Return a number with so many significant digits, in full up to 1e15."""
    if math.isnan(x):
        return "NA"
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else str(x)
    if abs(x) < 1e-4 or abs(x) >= 1e15:
        return f"{x:.{digits - 1}e}"
    return f"{x:.{max(0, digits - 1 - math.floor(math.log10(abs(x))))}f}"


def format_count(x: float) -> str:
    """Return a count: whole numbers with thousands separated, fractional ones to six digits."""
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:,.6g}"


def counted(number: float, noun: str) -> str:
    """Return a count with its noun: ``1 row``, ``1,200 rows``."""
    return f"{format_count(number)} {noun if number == 1 else noun + 's'}"


class Note(str):
    """A note that begins with a count and knows it, so that equal ones are added up: ``3 judgments left out: …``.

    Attributes
    ----------
    n : int
    noun : str
        What was counted, in the singular.
    what : str
        What became of it.
    """

    n: int
    noun: str
    what: str

    def __new__(cls, n: int, noun: str, what: str) -> Note:
        """Return the text, with what it is made of."""
        note = super().__new__(cls, f"{counted(n, noun)} {what}")
        note.n, note.noun, note.what = n, noun, what
        return note

    def __getnewargs__(self) -> tuple[int, str, str]:  # type: ignore[override]  # what pickle makes it of again
        return self.n, self.noun, self.what


def format_percent(share: float) -> str:
    """Return a share as a percentage with at most one decimal: ``36 %``."""
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def format_share(x: float) -> str:
    """Return a probability with three decimals and no leading zero: ``.658``."""
    text = f"{x:.3f}"
    return text.removeprefix("0") if text.startswith("0") else text


def format_estimates(values: Iterable[float], digits: int = 4) -> list[str]:
    """Return numbers with the decimals that a column of estimates prints them with."""
    numbers = [float(value) for value in values]
    return _with_decimals(numbers, _decimals(numbers, digits))


def _decimals(values: Iterable[float], digits: int, most: int = 6) -> int:
    """Return the decimals that show the smallest number with so many digits, as R does, and no more than needed."""
    needed = 0
    for value in values:
        if value == 0 or not math.isfinite(value):
            continue
        places = min(max(0, digits - 1 - math.floor(math.log10(abs(value)))), most)
        needed = max(needed, len(f"{value:.{places}f}".rstrip("0").partition(".")[2]))
    return needed


def _with_decimals(values: Iterable[float], decimals: int) -> list[str]:
    return [_one_number(float(value), decimals) for value in values]


def _one_number(value: float, decimals: int) -> str:
    if math.isnan(value):
        return "NA"
    if not math.isfinite(value):
        return "Inf" if value > 0 else "-Inf"
    if abs(value) >= 1e7:
        return f"{value:.3e}"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _frame_values(values: Sequence[Any] | npt.NDArray[Any]) -> Any:
    return values if isinstance(values, np.ndarray) else list(values)


def printed_cells(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return headings and the printed strings column by column."""
    rows = range(len(table.fields[0].values)) if table.shown is None else table.shown
    picked = [[f.values[row] for row in rows] for f in table.fields]
    estimates = [v for f, values in zip(table.fields, picked, strict=True) if f.kind == "estimate" for v in values]
    digits = min((f.digits for f in table.fields if f.kind == "estimate"), default=4)
    shared = _decimals(estimates, digits)
    columns = [_column(f, values, shared) for f, values in zip(table.fields, picked, strict=True)]
    return [printable(f.heading) for f in table.fields], columns


def _column(f: Field, values: list[Any], shared: int) -> list[str]:
    if f.kind in ("text", "composed"):
        return [printable(value) for value in values]
    if f.kind == "stars":
        return [stars(value) for value in values]
    if f.kind == "p_value":
        return [format_p(value) for value in values]
    if f.kind == "count":
        return ["NA" if math.isnan(value) else format_count(value) for value in values]
    if f.kind == "statistic":
        return _with_decimals(values, 3)
    return _with_decimals(values, shared if f.kind == "estimate" else _decimals(values, f.digits))


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)


def _pad(text: str, width: int, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


def _flattened(table: Table) -> Table:
    """Return the table with each of its lines on one line, whatever the labels in it hold."""
    head, foot, notes = (tuple(map(printable, lines)) for lines in (table.head, table.foot, table.notes))
    return replace(table, title=printable(table.title), head=head, foot=foot, notes=notes, more=printable(table.more))


def _text(table: Table) -> str:
    lines = [table.title, *table.head]
    if table.fields:
        headings, columns = printed_cells(table)
        lines += [""] if any(lines) else []
        lines += _text_columns(table.fields, headings, columns)
        lines += [table.more] if table.more else []
        if any(f.kind == "stars" for f in table.fields):
            lines += ["---", LEGEND]
    if table.foot:
        lines += ["", *table.foot]
    if table.notes:
        lines += ["", *[f"Note: {note}" for note in table.notes]]
    return "\n".join(lines).strip("\n")


def _text_columns(fields: tuple[Field, ...], headings: list[str], columns: list[list[str]]) -> list[str]:
    widths = [max(map(_width, [head, *column])) for head, column in zip(headings, columns, strict=True)]
    lines = []
    for row in [headings, *map(list, zip(*columns, strict=True))]:
        cells = [_pad(cell, w, f.kind in _LEFT) for cell, w, f in zip(row, widths, fields, strict=True)]
        lines.append(" ".join(cells).rstrip())
    return lines


def _closing_lines(table: Table) -> list[str]:
    legend = [LEGEND] if any(f.kind == "stars" for f in table.fields) else []
    return [*legend, *table.foot, *[f"Note: {note}" for note in table.notes]]


def _markdown(table: Table) -> str:
    headings, columns = printed_cells(table)
    lines = [f"**{escape_markdown(table.title)}**", ""] if table.title else []
    for line in table.head:
        lines += [escape_markdown(line) + "  "]
    lines += [""] if table.head else []
    rows = [headings, *map(list, zip(*columns, strict=True))]
    rules = [":--" if f.kind in _LEFT else "--:" for f in table.fields]
    rendered = ["| " + " | ".join(map(escape_markdown, row)) + " |" for row in rows]
    lines += [rendered[0], "| " + " | ".join(rules) + " |", *rendered[1:]]
    after = ([table.more] if table.more else []) + _closing_lines(table)
    for line in after:
        lines += ["", escape_markdown(line.strip())]  # four leading spaces would make it code
    return "\n".join(lines)


def escape_markdown(text: str) -> str:
    """Return text without markup, for Markdown."""
    escaped = "".join("\\" + c if c in "\\`*_{}[]#|~$" else c for c in text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _html(table: Table) -> str:
    headings, columns = printed_cells(table)
    align = ["left" if f.kind in _LEFT else "right" for f in table.fields]

    def row(cells: Sequence[str], tag: str) -> str:
        pairs = zip(cells, align, strict=True)
        return "<tr>" + "".join(f'<{tag} style="text-align:{a}">{html.escape(c)}</{tag}>' for c, a in pairs) + "</tr>"

    def spanning(lines: Iterable[str]) -> str:
        cell = f'<td colspan="{len(headings)}" style="text-align:left;white-space:pre-wrap">'
        return "".join(f"<tr>{cell}{html.escape(line)}</td></tr>" for line in lines)

    caption = "<br>".join(html.escape(line) for line in (table.title, *table.head) if line)
    body = "".join(row(cells, "td") for cells in zip(*columns, strict=True))
    after = ([table.more] if table.more else []) + [line for line in _closing_lines(table) if line]
    return (
        '<table class="llbt">'
        + (f'<caption style="caption-side:top;text-align:left">{caption}</caption>' if caption else "")
        + f"<thead>{row(headings, 'th')}</thead><tbody>{body}</tbody>"
        + (f"<tfoot>{spanning(after)}</tfoot>" if after else "")
        + "</table>"
    )


def _latex(table: Table) -> str:
    headings, columns = printed_cells(table)
    spec = "".join("l" if f.kind in _LEFT else "r" for f in table.fields)
    rows = [headings, *map(list, zip(*columns, strict=True))]
    rendered = [" & ".join(map(escape_latex, row)) + r" \\" for row in rows]
    lines = [r"\begin{table}[htbp]", r"\centering"]
    lines += [rf"\caption{{{escape_latex(table.title)}}}"] if table.title else []
    lines += [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", rendered[0], r"\midrule", *rendered[1:]]
    if table.more:
        lines.append(rf"\multicolumn{{{len(headings)}}}{{l}}{{{escape_latex(table.more)}}} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    below = [line for line in [*table.head, *_closing_lines(table)] if line]
    if below:
        lines += [r"\par\smallskip", r"\begin{minipage}{\linewidth}", r"\footnotesize"]
        lines += [escape_latex(line) + r"\\" for line in below[:-1]] + [escape_latex(below[-1]), r"\end{minipage}"]
    return "\n".join([*lines, r"\end{table}"])


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # a bracket right after \\ would be read as its optional argument
    "]": "{]}",
    "*": "{*}",  # and so would a star
    "λ": r"$\lambda$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "π": r"$\pi$",
    "χ": r"$\chi$",
    "²": r"$^2$",
    "−": r"$-$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "∝": r"$\propto$",
    "∞": r"$\infty$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "…": r"\dots{}",
    "ᵢ": r"$_i$",
    "ⱼ": r"$_j$",
}


# a negative number gets a minus sign, not a hyphen: at the start, in brackets, in a list
_NEGATIVE = re.compile(r"(?:^|(?<=\()|(?<=\{\[\})|(?<=, ))-(?=\d)")


def escape_latex(text: str) -> str:
    """Return text without markup, for LaTeX."""
    escaped = "".join(_LATEX.get(c, c) for c in text)
    return _NEGATIVE.sub("$-$", escaped)
