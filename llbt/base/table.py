"""One Table record and its renderings: the only place where a number becomes a string."""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import OptionError, listed, printable
from . import latex, markup, text
from .arguments import Decimals, Digits, checked
from .column_fit import reader_heading, with_bounds_joined
from .foreign_names import unknown_attribute, unknown_column
from .frame_styles import FrameStyle, in_style
from .latex_columns import LEFT_OUT
from .layout import LEGEND as LEGEND
from .layout import Column, Sheet, Size
from .layout import Kind as Kind
from .notes import Qualifying as Qualifying
from .notes import about as about
from .notes import named as named
from .notes import reworded as reworded

Notes = Literal["few", "all"]

_ALIKE = 0.9  # similarity from which one name was meant as the other
_OF_INTERVAL = 4.0  # standard errors in a 95 % interval
_NO_ERROR = 1e-9  # smaller standard errors are rounding
_SMALLEST_P = 2.2e-16  # R's .Machine$double.eps: smaller p-values print as <2e-16
_BRACKETED = re.compile(r"\[([^\[\]]*)\]")  # the labels in the name of a parameter: object[A]:judge[J1]
_LONG_FRACTION = 7  # characters; 0.12345 is printed as it is
_QUOTED = re.compile(r'Q\("([^"\\`]+)"\)')  # how a parameter's name quotes a name in backticks


class Record:
    """The protocol of every answer: a class defines ``table()``, and the rest follows from it.

    This is the one base class of the package; it carries no state. An answer has the rows and columns of its
    ``to_frame()``: ``len(board)`` counts rows, ``for row in board`` gives each row as a dict, ``board["object"]`` is a
    column, ``pandas.DataFrame(board)`` is the frame.
    """

    __slots__ = ()
    _completed: ClassVar[tuple[str, ...]] = ()  # what completion lists, for a class with very many names

    def table(self) -> Table:
        """Return the answer as a `Table`."""
        raise TypeError(f"{type(self).__name__} does not define table()")

    @checked
    def to_frame(self, style: FrameStyle = "llbt") -> pd.DataFrame:
        """Return the answer as a pandas DataFrame, unrounded.

        Parameters
        ----------
        style : {"llbt", "broom"}
            The names of the columns: ``std_error``, or ``std.error`` as in R's package broom.
        """
        return self.table().to_frame(style)

    @checked
    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows of ``to_frame()``, unrounded, to a csv file.

        Parameters
        ----------
        path : str or path
            The file; an existing file is replaced.

        Notes
        -----
        Labels are written as they are. A spreadsheet may take a label that begins with ``=`` for a formula.
        """
        self.to_frame().to_csv(path, index=False)

    def __len__(self) -> int:
        return len(self.to_frame())

    def __bool__(self) -> bool:
        return True  # an answer without rows is still true

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_frame().to_dict("records"))  # type: ignore[arg-type]  # columns have names

    def __getitem__(self, columns: Any) -> Any:
        frame = self.to_frame()
        for name in columns if isinstance(columns, list) else [columns]:
            if not isinstance(name, str) or name not in frame.columns:
                raise unknown_column(name, [str(known) for known in frame.columns])
        return frame[columns]

    def __dir__(self) -> list[str]:
        """Return the names offered on tab; the reference lists all attributes."""
        if self._completed:
            return sorted(set(self._completed) & set(object.__dir__(self)))
        own = {name for kind in type(self).__mro__[:-1] for name, value in vars(kind).items() if callable(value)}
        return sorted(name for name in own if not name.startswith("_"))

    if not TYPE_CHECKING:  # without this condition a type checker would not refuse unknown names

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(type(self), name)

    def _in_digits(self, digits: int) -> Record:
        """Return the record with this number of digits in text cells that contain numbers."""
        return self

    def _as_printed(self) -> Table:
        """Return the table that is printed when ``columns=`` is not given."""
        return self.table()

    @checked
    def as_text(
        self,
        *,
        columns: Sequence[str] | None = None,
        rename: Mapping[Any, str] | None = None,
        digits: Digits | None = None,
        decimals: Decimals | None = None,
        caption: str | None = None,
        notes: Notes = "few",
    ) -> str:
        """Return the answer as plain text, as it prints.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns to print, in this order: names as in ``to_frame()``, and ``"stars"``; by default all.
        rename : mapping, optional
            Replacements for labels and for names or headings of columns: ``{"gpt-4-0613": "GPT-4", "estimate":
            "Elo"}``. Labels are renamed in the rows, also within the name of a parameter (``object[gpt-4-0613]``), but
            not in the lines above and below. The mapping may also have labels of other tables.
        digits : int, optional
            Significant digits of the smallest standard error (of the smallest estimate if there is none) and of the
            smallest number; also the decimals of statistics. By default 3.
        decimals : int, optional
            Decimals of all estimates, statistics and numbers except counts and p-values, in place of `digits`.
        caption : str, optional
            A text in place of the title.
        notes : {"few", "all"}
            "few" prints at most five lines of notes below the columns, "all" prints every note in full. Notes that
            qualify a number stand above the columns, always in full.

        Raises
        ------
        OptionError
            For `digits` and `decimals` together, an unknown column, and a `rename` that matches nothing or has a key
            similar to a label of the table. For `decimals`, or other `digits`, if the cells of a `Table` are already
            text.

        Notes
        -----
        Text and Markdown have no ``label=`` and ``size=``, because they have no place for them. All formats except text
        have every note.
        """
        return text.as_text(sheet_of(self, columns, rename, (digits, decimals), caption), all_notes=notes == "all")

    @checked
    def as_markdown(
        self,
        *,
        columns: Sequence[str] | None = None,
        rename: Mapping[Any, str] | None = None,
        digits: Digits | None = None,
        decimals: Decimals | None = None,
        caption: str | None = None,
    ) -> str:
        """Return the answer as a Markdown table with its notes; parameters and errors are those of `as_text`."""
        return markup.as_markdown(sheet_of(self, columns, rename, (digits, decimals), caption))

    @checked
    def as_html(
        self,
        *,
        columns: Sequence[str] | None = None,
        rename: Mapping[Any, str] | None = None,
        digits: Digits | None = None,
        decimals: Decimals | None = None,
        caption: str | None = None,
        label: str | None = None,
        size: Size | None = None,
    ) -> str:
        """Return the answer as one HTML table.

        Parameters
        ----------
        columns, rename, digits, decimals, caption
            As in `as_text`.
        label : str, optional
            The id of the table, for links: ``"tab:leaderboard"``.
        size : {"normalsize", "small", "footnotesize", "scriptsize"}, optional
            The font size, relative to the surrounding text as in LaTeX; by default the size of the page's text.

        Raises
        ------
        OptionError
            As in `as_text`, and for a label with other characters than letters, digits, colons and hyphens.
        """
        return markup.as_html(sheet_of(self, columns, rename, (digits, decimals), caption), label or "", size)

    @checked
    def as_latex(
        self,
        *,
        columns: Sequence[str] | None = None,
        rename: Mapping[Any, str] | None = None,
        digits: Digits | None = None,
        decimals: Decimals | None = None,
        caption: str | None = None,
        label: str | None = None,
        longtable: bool | None = None,
        size: Size | None = None,
    ) -> str:
        r"""Return the answer as a LaTeX table that fits a page (article, A4, 11 pt), with all of its rows.

        Parameters
        ----------
        columns : sequence of str, optional
            As in `as_text`; by default the columns that fit a page (a comment in the first lines names the others).
            ``"stars"`` stand as superscripts of the column before them.
        rename, digits, decimals
            As in `as_text`.
        caption : str, optional
            A text, printed literally: LaTeX's special characters are escaped. By default the title.
        label : str, optional
            For ``\ref``: ``"tab:leaderboard"``.
        longtable : bool, optional
            Whether the table may run over several pages instead of floating; by default if it has more than 60 rows or
            is taller than a page.
        size : {"normalsize", "small", "footnotesize", "scriptsize"}, optional
            The font size; by default the largest of the first three at which the table is no wider than the page.

        Raises
        ------
        OptionError
            As in `as_text`, and for a table that is wider than a page, or taller with ``longtable=False``.

        Notes
        -----
        The first line names the required packages: booktabs, array, and longtable for a table over several pages.
        Labels and headings that are too long for one line are broken, preferably after hyphens and the like. Widths are
        those of Computer Modern. Letters that pdflatex does not know (漢字) need lualatex; a comment says so.
        """
        paper = latex.Paper(label or "", longtable, size)
        return latex.as_latex(sheet_of(self, columns, rename, (digits, decimals), caption, for_paper=True), paper)

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return markup.sortable(self.as_html())


@dataclass(frozen=True)
class Field:
    """One column of a `Table`.

    Attributes
    ----------
    name : str
        Column name in ``to_frame()``; empty for a column that is only printed.
    heading : str
        The heading of the column.
    values : sequence
        One value for each row; missing numbers are NaN and print as NA.
    kind : str
        How a value becomes a string. All ``estimate`` columns share their decimals, as in R; ``composed`` is text made
        of numbers, aligned to the right.
    digits : int
        Significant digits of the smallest value.
    typeset : str
        The heading in LaTeX, if it is not made from `heading`.
    decimals : int or None
        Decimals of all values, in place of `digits`, unless the caller asks for digits.
    frame_only : bool
        Whether the column is only in ``to_frame()``, csv and JSON; it is printed only if ``columns=`` names it.
    """

    name: str
    heading: str
    values: Sequence[Any] | npt.NDArray[Any]
    kind: Kind = "text"
    digits: int = 4
    typeset: str = ""
    decimals: int | None = None
    frame_only: bool = False

    @property
    def chosen_by(self) -> str:
        """The name of this column in ``columns=``."""
        return self.name or ("stars" if self.kind == "stars" else self.heading)


class _Lines(tuple[str, ...]):
    """Lines of a table. Calling them, like a data frame's ``head()``, raises an error with the call to type."""

    __slots__ = ()

    def __call__(self, n: int = 5) -> NoReturn:
        """Raise: here ``head`` is an attribute."""
        raise AttributeError(f".head holds the lines above the columns. The first rows: .to_frame().head({n}).")


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
        The notes: scales, omitted rows, reservations.
    shown : tuple of int or None
        The rows that are printed (None: all). ``to_frame()`` and LaTeX always have all of them.
    more : str
        The line with the number of hidden rows, and how to print them.
    asked : bool
        Whether the caller set the number of printed rows. LaTeX then has the same rows.
    answer : str
        The kind of table; `printing.latex_columns` uses it to choose the columns that fit a page.
    printed : Table or None
        A shorter table. Text, Markdown and HTML print it in place of this one when ``columns=`` is not given.
        ``to_frame()`` and LaTeX have the rows of this one.
    """

    fields: tuple[Field, ...]
    title: str = ""
    head: tuple[str, ...] = ()
    foot: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    shown: tuple[int, ...] | None = field(default=None)
    more: str = ""
    asked: bool = False
    answer: str = ""
    printed: Table | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", _Lines(self.head))

    def table(self) -> Table:
        """Return the table itself."""
        return self

    def first(self, most: int = 60, noun: str = "more row", how: str = ".to_frame()", *, asked: bool = False) -> Table:
        """Return a table that prints the first rows, and a line with the number of the other rows."""
        rest = len(self.fields[0].values) - most
        if rest <= 1:  # one row takes no more room than the line that would count it
            return self
        printed = self.printed and self.printed.first(most, noun, how, asked=asked)
        more = f"… {counted(rest, noun)}: {how}"
        return replace(self, shown=tuple(range(most)), more=more, asked=asked, printed=printed)

    @checked
    def to_frame(self, style: FrameStyle = "llbt") -> pd.DataFrame:
        """Return the columns as a pandas DataFrame, unrounded.

        Parameters
        ----------
        style : {"llbt", "broom"}
            The names of the columns: ``std_error``, or ``std.error`` as in R's package broom.
        """
        return in_style(pd.DataFrame({f.name: _frame_values(f.values) for f in self.fields if f.name}), style)


def printed_columns(table: Table) -> Table:
    """Return a table without the columns that only frames have."""
    return replace(table, fields=tuple(f for f in table.fields if not f.frame_only))


def stacked_field(fields: Sequence[Field]) -> Field:
    """Return the values of one column of several tables, one below another; printed if one table prints it."""
    values = [value for one in fields for value in one.values]
    return replace(fields[0], values=values, frame_only=all(one.frame_only for one in fields))


def in_order(table: Table, rows: Sequence[int] | npt.NDArray[np.int64]) -> Table:
    """Return a table with its rows in another order."""
    return replace(table, fields=tuple(replace(f, values=[f.values[row] for row in rows]) for f in table.fields))


def sheet_of(
    record: Record,
    columns: Sequence[str] | None,
    rename: Mapping[Any, str] | None,
    rounding: tuple[int | None, int | None],
    caption: str | None,
    for_paper: bool = False,
) -> Sheet:
    """Return the printed form of a record: the requested columns, renamed, as strings."""
    digits, decimals = rounding
    if digits is not None and decimals is not None:
        raise OptionError(f"digits={digits} and decimals={decimals}", expected="one of the two")
    record = record if digits is None else record._in_digits(int(digits))
    table = record._as_printed() if columns is None else record.table()
    if columns is None and not for_paper and table.printed is not None:
        table = table.printed
    if for_paper and not table.asked:
        table = replace(table, shown=None, more="")
    left_out: tuple[str, ...] = ()
    table = printed_columns(table) if columns is None else _with_columns(table, columns)
    if columns is None and for_paper:
        left_out = tuple(f.chosen_by for f in table.fields if f.chosen_by in LEFT_OUT.get(table.answer, ()))
        table = _on_paper(table, left_out)
    if decimals is not None:
        table = replace(table, fields=tuple(_to_decimals(f, decimals) for f in table.fields))
    headings, cells = printed_cells(_renamed(table, rename or {}), digits)
    head, foot = (tuple(map(printable, lines)) for lines in (table.head, table.foot))
    title = printable(table.title if caption is None else caption)
    printed = tuple(
        Column(f.chosen_by, heading, texts_of, f.kind, "" if {f.name, f.heading} & set(rename or ()) else f.typeset)
        for f, heading, texts_of in zip(table.fields, headings, cells, strict=True)
    )
    if not for_paper:
        printed = tuple(replace(column, heading=reader_heading(column.name, column.heading)) for column in printed)
    return Sheet(
        with_bounds_joined(printed) if columns is None and not for_paper else printed,
        title,
        head,
        foot,
        reworded(table.notes, printable),
        printable(table.more),
        left_out,
        LEFT_OUT.get(table.answer, ()),
        columns is not None,
    )


def _on_paper(table: Table, left_out: tuple[str, ...]) -> Table:
    """Return a table without some of its columns, with its stars directly after the estimates."""
    fields = [f for f in table.fields if f.chosen_by not in left_out]
    names = [f.chosen_by for f in fields]
    if "stars" in names and "estimate" in names:
        fields.insert(names.index("estimate") + 1, fields.pop(names.index("stars")))
    return replace(table, fields=tuple(fields))


def _with_columns(table: Table, columns: Sequence[str]) -> Table:
    """Return a table of the requested columns, in their order."""
    known = {f.chosen_by: f for f in table.fields}
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
        raise OptionError(f"columns={columns!r}", expected=f"a list of names, of {listed(list(known), 20)}")
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise OptionError(f"no column {listed(unknown)}", expected=f"names of {listed(list(known), 20)}")
    if len(set(columns)) < len(columns):
        raise OptionError(f"columns={list(columns)!r}", expected="every column once")
    return replace(table, fields=tuple(known[name] for name in columns))


def relabelled(value: object, names: Mapping[str, str]) -> str:
    """Return the new name of a label, or the name of a parameter with its labels renamed: A in ``object[A]``."""
    label = str(value)
    return names.get(label) or _BRACKETED.sub(lambda match: f"[{names.get(match[1], match[1])}]", label)


def _renamed(table: Table, rename: Mapping[Any, str]) -> Table:
    """Return a table with headings and labels renamed."""
    if not isinstance(rename, Mapping):
        raise OptionError(f"rename is of type {type(rename).__name__}", expected="a mapping: {'gpt-4-0613': 'GPT-4'}")
    if not rename:
        return table
    names = {str(label): str(new_name) for label, new_name in rename.items()}
    texts = [str(value) for f in table.fields if f.kind == "text" for value in f.values]
    check_renamed(names, [*(name for f in table.fields for name in (f.name, f.heading) if name), *texts])
    fields = []
    for f in table.fields:
        heading = names.get(f.name or f.heading, names.get(f.heading, f.heading))
        values = [relabelled(value, names) for value in f.values] if f.kind == "text" else f.values
        fields.append(replace(f, heading=heading, values=values))
    return replace(table, fields=tuple(fields))


def check_renamed(names: Mapping[str, str], texts: Iterable[str]) -> None:
    """Raise if no name of `rename` is in the table, or if a name is similar to a label.

    One mapping may serve several tables, so it may have labels that this table lacks.
    """
    known = dict.fromkeys(text for cell in texts for text in (cell, *_BRACKETED.findall(cell)))
    unknown = [name for name in names if name not in known]
    near = [(name, close[0]) for name in unknown if (close := difflib.get_close_matches(name, known, 1, _ALIKE))]
    near = [(name, close) for name, close in near if close not in names]
    if near:
        name, close = near[0]
        raise OptionError(f"rename= has {name!r}, which is not in the table", f"Did you mean {close!r}?")
    if names and len(unknown) == len(names):
        raise OptionError(
            f"rename= has {listed(unknown)}, but the table has none of them",
            expected=f"some of {listed(list(known), 20)}",
        )


def interval_fields(low: Any, high: Any, confidence: float = 0.95, digits: int = 4) -> tuple[Field, Field]:
    """Return conf_low and conf_high as columns; the heading of the first states the level."""
    return (
        Field(
            "conf_low",
            f"{100 * confidence:.4g} % low",
            low,
            "estimate",
            digits,
            typeset=rf"{100 * confidence:.4g}\,\% low",
        ),
        Field("conf_high", "high", high, "estimate", digits, typeset="High"),
    )


def p_fields(p_value: npt.NDArray[np.float64], p_adjusted: npt.NDArray[np.float64]) -> tuple[Field, ...]:
    """Return the last columns: p_value, p_adjusted, and the stars of p_adjusted."""
    return (
        Field("p_value", "p", p_value, "p_value"),
        Field("p_adjusted", "p adjusted", p_adjusted, "p_value"),
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


def _p_cell(p: float) -> str:
    """Return a p-value for a column, in nearly constant width: ``0.0354``, ``1.9e-05``, ``<2e-16``."""
    if math.isnan(p) or p < _SMALLEST_P:
        return format_p(p)
    return f"{p:.4f}" if p >= 1e-3 else f"{p:.5f}" if p >= 1e-4 else f"{p:.1e}"


def stars(p: float) -> str:
    """Return the significance code of a p-value, as R prints it."""
    if math.isnan(p):
        return ""
    return next((mark for bound, mark in ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, ".")) if p < bound), "")


def format_number(x: float, digits: int = 5) -> str:
    """Return a number with `digits` significant digits, in full up to 1e15."""
    if math.isnan(x):
        return "NA"
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else str(x)
    if abs(x) < 1e-4 or abs(x) >= 1e15:
        return f"{x:.{digits - 1}e}"
    return f"{x:.{max(0, digits - 1 - math.floor(math.log10(abs(x))))}f}"


def format_figure(x: float) -> str:
    """Return a log-likelihood, AIC or BIC, with two decimals from 100 on, so that differences can be read."""
    return "NA" if math.isnan(x) else f"{x:.2f}" if abs(x) >= 100 else format_number(x)


_FLOATS = 10**300  # integers that fit a float


def format_count(x: float) -> str:
    """Return a count: whole numbers with thousands separators, fractional numbers with six digits."""
    if isinstance(x, int) and abs(x) > _FLOATS:  # a requested number, never a real count
        return f"{Decimal(x):.3g}"
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:,.6g}"


def counted(number: float, noun: str) -> str:
    """Return a count with its noun: ``1 row``, ``1,200 rows``."""
    return f"{format_count(number)} {noun if number == 1 else noun + 's'}"


class Note(str):
    """A note that begins with a count: ``3 judgments left out: …``. Counts of equal notes are added up.

    Attributes
    ----------
    n : int
    noun : str
        The counted noun, in the singular.
    what : str
        The rest of the note.
    """

    n: int
    noun: str
    what: str

    def __new__(cls, n: int, noun: str, what: str) -> Note:
        """Return the note with its count, noun and text."""
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
    """Return numbers with the decimals that a column of estimates would have."""
    numbers = [float(value) for value in values]
    return _with_decimals(numbers, _decimals(numbers, digits))


def _places(value: float, digits: int, most: int = 6) -> int:
    """Return the decimals that show a number other than 0 with `digits` digits."""
    return min(max(0, digits - 1 - math.floor(math.log10(abs(value)))), most)


def _decimals(values: Iterable[float], digits: int, most: int = 6) -> int:
    """Return the decimals that show the smallest number with `digits` digits, as in R, and not more than needed."""
    needed = 0
    for value in values:
        if value == 0 or not math.isfinite(value):
            continue
        places = _places(value, digits, most)
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


def printed_cells(table: Table, digits: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Return headings and printed strings by column; `digits`, if given, replaces each column's digits."""
    rows = range(len(table.fields[0].values)) if table.fields and table.shown is None else table.shown or ()
    fields = table.fields if digits is None else tuple(_with_digits(f, digits) for f in table.fields)
    picked = [[f.values[row] for row in rows] for f in fields]
    estimates = [v for f, values in zip(fields, picked, strict=True) if f.kind == "estimate" for v in values]
    fewest = min((f.digits for f in fields if f.kind == "estimate"), default=4)
    errors = _errors({f.name: values for f, values in zip(fields, picked, strict=True) if f.kind == "estimate"})
    shared = _decimals(estimates, fewest)
    if errors:  # as in R's printCoefmat, the standard errors decide
        shared = min(shared, max(_places(error, fewest - 1 if digits is None else digits) for error in errors))
    decimals = 3 if digits is None else digits
    columns = [_column(f, values, shared, decimals) for f, values in zip(fields, picked, strict=True)]
    return [printable(f.heading) for f in fields], columns


def _errors(estimates: Mapping[str, list[Any]]) -> list[float]:
    """Return the standard errors above 0, or approximate ones from 95 % intervals, if there are both bounds."""
    errors = estimates.get("std_error") or [
        (high - low) / _OF_INTERVAL
        for low, high in zip(estimates.get("conf_low", ()), estimates.get("conf_high", ()), strict=False)
    ]
    return [float(error) for error in errors if math.isfinite(error) and error > _NO_ERROR]


def _with_digits(f: Field, digits: int) -> Field:
    if f.kind == "composed" and f.digits != digits:
        raise OptionError(
            f"digits={digits} of a table whose cells are composed of numbers with {f.digits}",
            "Set the digits in the original result: model_table(…).as_text(digits=…).",
        )
    return replace(f, digits=digits, decimals=None)


def _to_decimals(f: Field, decimals: int) -> Field:
    if f.kind == "composed":
        raise OptionError(
            f"decimals={decimals} of a table whose cells are composed of numbers",
            "Type digits=3 in place of decimals=.",
        )
    return replace(f, decimals=decimals)


def short_fractions(values: list[Any]) -> list[Any]:
    """Return values of a covariate with long fractions as texts of four to six digits, as few as keep them distinct."""
    long = [isinstance(value, float) and len(str(value)) > _LONG_FRACTION for value in values]
    if not any(long):
        return values
    apart = len(set(values))
    for digits in (4, 5, 6):
        short = [_in_digits(x, digits) if is_long else x for x, is_long in zip(values, long, strict=True)]
        if len(set(short)) == apart:
            break
    return short


def _in_digits(x: float, digits: int) -> str:
    return f"{x:.0f}" if abs(x) >= 10**digits else f"{x:.{digits}g}"


def _column(f: Field, values: list[Any], shared: int, decimals: int) -> list[str]:
    if f.kind in ("text", "composed"):
        values = short_fractions(values)
        values = ["" if value is None else value for value in values]
        return [printable(_QUOTED.sub(r"`\1`", str(value)) if f.name == "term" else value) for value in values]
    if f.kind == "stars":
        return [stars(value) for value in values]
    if f.kind == "p_value":
        return [_p_cell(value) for value in values]
    if f.kind == "percent":
        return ["" if math.isnan(value) else f"{100 * value:.0f}" for value in values]
    if f.kind == "count":
        return ["NA" if math.isnan(value) else format_count(value) for value in values]
    if f.decimals is not None:
        return _with_decimals(values, f.decimals)
    if f.kind == "statistic":
        return _with_decimals(values, decimals)
    return _with_decimals(values, shared if f.kind == "estimate" else _decimals(values, f.digits))
