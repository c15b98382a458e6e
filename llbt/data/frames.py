"""Columns of any frame that narwhals knows, read into numpy: labels, numbers and counts.

Rows are counted from 0 in the order of the caller's frame, which is never changed. Rows that are alike in all columns
that are read may stand there once, counted by the engine that holds the frame.
"""

from __future__ import annotations

import datetime
import decimal
import difflib
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from narwhals import Implementation
from narwhals.exceptions import DuplicateError

from ..columns import Coded, FloatArray, IntArray, Label, arranged, as_objects, code
from ..errors import JudgmentError, listed
from ..table import counted, format_count

Frame = nw.DataFrame[Any]
Roles = Mapping[str, Sequence[str]]  # parameter → the columns that it names

# Endings by which frames tell the two sides of a comparison apart.
_ENDINGS = (
    *(("_i", "_j"), ("_a", "_b"), ("_1", "_2"), ("_x", "_y"), ("_left", "_right"), ("left", "right")),
    *(("1", "2"), ("_home", "_away"), ("a", "b"), ("A", "B"), ("i", "j")),
)
_OUTCOME_WORDS = ("outcome", "winner", "result", "preference", "judgment", "choice", "label", "vote")
NO_NUMBER = frozenset({"NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A"})
_WHOLE_NUMBER = re.compile(r"-?(0|[1-9]\d{0,29})")
_NUMBER = re.compile(rf"({_WHOLE_NUMBER.pattern}(\.\d+)?|-?\.\d+)([eE][+-]?\d+)?|-?inf")
_CHUNK = 2**18  # rows looked at in one go
_DENSE = 2**20  # whole numbers in a range up to so long are their own codes
_WHOLE = 2.0**53  # beyond it floats skip whole numbers


@dataclass(frozen=True, eq=False)
class Source:
    """A caller's frame, opened but not read.

    Attributes
    ----------
    names : tuple of str
        Its columns.
    frame : narwhals frame, eager or lazy
    what : str
        How messages call it.
    is_text : bool
        Whether all columns are the text of a csv file, in which numbers are still to be found.
    inner : mapping
        Column → how `frame` calls it, where the engine does not take its name.
    """

    names: tuple[str, ...]
    frame: Any
    what: str
    is_text: bool = False
    inner: Mapping[str, str] = field(default_factory=dict)

    def pick(self, roles: Roles) -> Rows:
        """Return the columns that play a role, collected if the frame is lazy.

        Raises
        ------
        JudgmentError
            For a column that is not there or plays two roles, and for a frame without rows.
        """
        picked: Frame = collected(self._chosen(roles))
        self._refuse_empty(picked)
        return Rows.each(self._typed(picked))

    def tally(self, roles: Roles) -> Rows:
        """Return the distinct rows of the columns that play a role, counted in the engine that holds the frame.

        Rows in the memory of pandas are returned one by one: coding its columns is faster than grouping by them.

        Raises
        ------
        JudgmentError
            As `pick`.
        """
        if self.frame.implementation.is_pandas_like():
            return self.pick(roles)
        chosen = self._chosen(roles)
        schema = chosen.collect_schema()
        keys = schema.names()
        nested = [name for name in keys if schema[name].is_nested()]
        if nested:
            raise JudgmentError(
                f"column {nested[0]!r} holds values of type {schema[nested[0]]} that cannot be told apart; expected "
                "labels or numbers."
            )
        times, first = _unused("rows", keys), _unused("first", keys)
        numbered = _numbered(chosen, first)
        ordered = numbered is not None
        found = [nw.len().alias(times), *([nw.col(first).min()] if ordered else [])]
        groups: Frame = collected((numbered if ordered else chosen).group_by(keys).agg(*found))
        self._refuse_empty(groups)
        n = groups[times].to_numpy().astype(np.int64)
        at = groups[first].to_numpy().astype(np.int64) if ordered else np.arange(len(n))
        by_row = np.argsort(at)
        return Rows(self._typed(groups.select(keys)[by_row]), n[by_row], at[by_row], ordered=ordered)

    def renamed(self, names: Mapping[str, str]) -> Source:
        """Return the frame with some columns under other names (old → new)."""
        changed = {old: new for old, new in names.items() if old != new}
        if not changed:
            return self
        renamed = tuple(changed.get(name, name) for name in self.names)
        inner = {changed.get(name, name): self.inner.get(name, name) for name in self.names}
        if isinstance(self.frame, nw.DataFrame):
            return replace(self, names=renamed, frame=self.frame.rename(changed))
        return replace(self, names=renamed, inner=inner)

    def _chosen(self, roles: Roles) -> Any:
        _check_roles(self, roles)
        names = dict.fromkeys(name for names in roles.values() for name in names)
        return self.frame.select([self.inner.get(name, name) for name in names])

    def _typed(self, frame: Frame) -> Frame:
        """Return a frame under the caller's names, with numbers where all of a column's texts are."""
        outer = {inner: name for name, inner in self.inner.items()}
        frame = frame.rename({name: outer[name] for name in frame.columns if name in outer})
        if not self.is_text:
            return frame
        columns = {name: as_numbers(pd.Series(frame[name].to_list(), dtype=object)) for name in frame.columns}
        typed: Frame = nw.from_native(pd.DataFrame(columns), eager_only=True)
        return typed

    def _refuse_empty(self, frame: Frame) -> None:
        if len(frame) == 0:
            raise JudgmentError(f"{self.what} has no rows; expected one for every comparison or judgment.")

    def others(self, roles: Roles) -> tuple[str, ...]:
        """Return the names of the columns that play no role."""
        taken = {name for names in roles.values() for name in names}
        return tuple(str(name) for name in self.names if name not in taken)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a frame in memory; U of them, each for one row or for several that are alike.

    Attributes
    ----------
    frame : narwhals frame, eager
    times : ndarray of int, shape (U,)
        How many rows of the caller's frame each stands for.
    first : ndarray of int or None, shape (U,)
        The first of them; None where every row stands for itself.
    ordered : bool
        Whether the engine that holds the caller's frame keeps its rows in order; else `first` means nothing.
    """

    frame: Frame
    times: IntArray
    first: IntArray | None
    ordered: bool

    @classmethod
    def each(cls, frame: Frame) -> Rows:
        """Return every row of a frame as itself."""
        return cls(frame, np.broadcast_to(np.int64(1), len(frame)), None, ordered=True)

    @property
    def single(self) -> bool:
        """Whether every row stands for itself alone."""
        return self.first is None

    def numbers(self, rows: IntArray) -> IntArray:
        """Return the first of the caller's rows that some rows stand for."""
        return rows if self.first is None else self.first[rows]

    @property
    def weights(self) -> FloatArray | None:
        """What each row counts, shape (U,); None where that is 1."""
        return None if self.single else self.times.astype(np.float64)

    def count(self, where: npt.NDArray[np.bool_]) -> int:
        """Return how many rows of the caller's frame a condition holds for; it has shape (U,)."""
        return int(self.times[where].sum())

    def start(self, where: npt.NDArray[np.bool_]) -> int:
        """Return the row of `frame` with the first of the caller's rows that a condition holds for."""
        if self.first is None:
            return int(np.argmax(where))
        rows = np.flatnonzero(where)
        return int(rows[np.argmin(self.first[rows])])

    def place(self, where: npt.NDArray[np.bool_]) -> str:
        """Return where the first of these rows is, for a message; empty where rows have no order."""
        return f", the first at row {self.numbers(np.flatnonzero(where)).min()}" if self.ordered else ""


@dataclass(frozen=True, eq=False)
class Factor:
    """A column of labels as codes, in order of appearance.

    Attributes
    ----------
    labels : list of labels
        Distinct values as plain Python labels.
    codes : ndarray of int, shape (N,)
        Index into `labels`; −1 where the value is missing.
    """

    labels: list[Label]
    codes: IntArray


def open_frame(frame: object, what: str = "the frame") -> Source:
    """Return a frame of any library that narwhals knows, opened."""
    try:
        opened: Any = nw.from_native(frame)
        names = tuple(opened.collect_schema().names())
    except TypeError:
        found = type(frame).__name__
        raise JudgmentError(
            f"{what} is of type {found}; expected a frame of pandas, polars, pyarrow or another library that "
            "narwhals knows. Make one with pandas.DataFrame(…)."
        ) from None
    except DuplicateError:
        names = tuple(getattr(frame, "columns" if hasattr(frame, "iloc") else "column_names", ()))
        twice = tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
        raise JudgmentError(f"{what} has several columns named {listed(twice)}; rename all but one.") from None
    if any("." in name for name in names) and opened.implementation in (Implementation.DUCKDB, Implementation.PYSPARK):
        return _without_dots(frame, names, what)
    return Source(names, opened, what)


def _without_dots(frame: Any, names: tuple[str, ...], what: str) -> Source:
    """Return a frame of an engine that takes a dot for a path, its columns numbered inside."""
    inner = {name: f"column_{k}" for k, name in enumerate(names)}
    if hasattr(frame, "toDF"):  # PySpark
        return Source(names, nw.from_native(frame.toDF(*inner.values())), what, inner=inner)
    chosen = ", ".join(f"{quoted(name)} AS {safe}" for name, safe in inner.items())
    return Source(names, nw.from_native(frame.project(chosen)), what, inner=inner)


def quoted(name: str) -> str:
    """Return a column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def collected(frame: Any) -> Any:
    """Return a narwhals frame in memory; engines without a memory of their own hand over to pyarrow.

    Raises
    ------
    JudgmentError
        Where DuckDB finds out on the way that a file is damaged.
    """
    if not isinstance(frame, nw.LazyFrame):
        return frame
    engine_error = getattr(sys.modules.get("duckdb"), "Error", ())
    try:
        return frame.collect()
    except engine_error as error:
        raise JudgmentError(f"DuckDB cannot read the file: {str(error).strip().splitlines()[0]}") from None


def _numbered(frame: Any, name: str) -> Any:
    """Return a narwhals frame with numbered rows, or None where the engine keeps them in no order."""
    if frame.implementation.is_polars():  # also a lazy one, which narwhals does not number without a key to sort by
        return nw.from_native(frame.to_native().with_row_index(name))
    return frame.with_row_index(name) if isinstance(frame, nw.DataFrame) else None


def _unused(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _unused(f"{name}_", taken)


def as_numbers(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of texts as numbers if all of them spell one in the usual way ("007" does not).

    Words such as NA are missing among numbers, and labels among labels.
    """
    found = [text for text in texts.dropna().unique() if text not in NO_NUMBER]
    if not found or not all(_NUMBER.fullmatch(text) for text in found):
        return texts
    whole = all(_WHOLE_NUMBER.fullmatch(text) for text in found)
    values: dict[str, float] = {text: int(text) if whole else float(text) for text in found}
    if len(set(values.values())) < len({text for text in found if float(text) != 0}) + any(
        v == 0 for v in values.values()
    ):
        return texts  # 1.1 and 1.10 may be two versions; 0 and -0 are one number
    numbers = texts.map(values)
    if not whole:
        return numbers.astype(np.float64)
    fits = max(map(len, found)) < 19 and texts.isin(found).all()
    return numbers.astype(np.int64) if fits else pd.Series(list(map(values.get, texts)), texts.index, object)


def inferred(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return Python values as the type they all have; whole numbers with a gap stay what they are.

    As floats, long ones would become alike.
    """
    return values if values.isna().any() else values.infer_objects()


def as_names(names: object, parameter: str) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    if isinstance(names, str):
        return (names,)
    ordered = isinstance(names, Iterable) and not isinstance(names, (Set, Mapping))
    several: tuple[Any, ...] = tuple(names) if ordered else (None,)  # type: ignore[arg-type]
    if not all(isinstance(name, str) for name in several):
        raise JudgmentError(f"{parameter}={names!r}: expected the name of a column or several names.")
    return several


def as_two_names(names: object, parameter: str) -> tuple[str, str]:
    """Return the names of the columns of side i and side j."""
    several = as_names(names, parameter)
    if isinstance(names, str) or len(several) != 2:
        raise JudgmentError(f"{parameter}={names!r}: expected the names of two columns, that of side i first.")
    return several[0], several[1]


def _check_roles(source: Source, roles: Roles) -> None:
    for parameter, names in roles.items():
        gone = tuple(name for name in names if name not in source.names)
        if gone:
            raise JudgmentError(_no_column(source, parameter, gone))
    played: dict[str, str] = {}
    for parameter, names in roles.items():
        for name in names:
            if name in played:
                both = dict.fromkeys((f"{played[name]}=", f"{parameter}="))
                where = " and ".join(both) if len(both) == 2 else f"{parameter}=, twice"
                raise JudgmentError(f"column {name!r} is named in {where}; each column has one role.")
            played[name] = parameter


def _no_column(source: Source, parameter: str, gone: tuple[str, ...]) -> str:
    plural = "column" if len(gone) == 1 else "columns"
    has = listed(source.names, 20) if source.names else "no columns"
    advice = _suggestion(source, parameter, gone)
    return f"{source.what} has no {plural} {listed(gone)} ({parameter}=); it has {has}." + advice


def _suggestion(source: Source, parameter: str, gone: tuple[str, ...]) -> str:
    names = [name for name in source.names if isinstance(name, str)]
    if parameter in ("objects", "wins"):
        found = [pair for pair in _sided(names) if ("win" in pair[0].lower()) == (parameter == "wins")]
        return f' Pass {parameter}=("{found[0][0]}", "{found[0][1]}").' if found else f" Pass {parameter}=(…, …)."
    if parameter == "outcome":
        words = [name for name in names if name.lower() in _OUTCOME_WORDS]
        return f' Pass outcome="{words[0]}".' if words else " Pass outcome=…, the column that says who won."
    close = difflib.get_close_matches(gone[0], names, 1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _sided(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of columns that differ by the ending of a side, such as model_a and model_b."""
    pairs = ((name, name[: len(name) - len(i)] + j) for i, j in _ENDINGS for name in names if name.endswith(i))
    return [(first, second) for first, second in pairs if second in names]


def read_factor(frame: Frame, name: str) -> Factor:
    """Return a column as codes of plain labels; missing values (None, NaN, NaT, NA) have code −1."""
    series = frame[name]
    native = series.to_native()
    # a dictionary of pyarrow loses its missing values on the way to numpy
    series = series if isinstance(native, pd.Series) or not _is_coded(series.dtype) else series.cast(nw.String)
    values: Any = native if isinstance(native, pd.Series) else series.to_numpy()
    try:
        codes, found = _codes(values)
    except (TypeError, ValueError, NotImplementedError):  # lists and other values without a hash
        raise JudgmentError(
            f"column {name!r} holds values of type {series.dtype} that cannot be told apart; "
            "expected labels or numbers."
        ) from None
    labels = as_objects(plain(value) for value in found)
    # Different values may have one label (1 and Decimal('1')); a frame may tell NaN from missing.
    again, distinct = pd.factorize(labels)
    if not np.array_equal(again, np.arange(len(again))):
        codes = np.append(again, -1)[codes]
    return Factor(list(distinct), codes)


def _codes(values: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return codes (−1: missing) and distinct values; without a hash where the values are codes already."""
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.CategoricalDtype):
        codes = values.cat.codes.to_numpy()
        return _used(codes, np.asarray(values.cat.categories, dtype=object))
    array = values.to_numpy() if isinstance(values, pd.Series) and isinstance(values.dtype, np.dtype) else values
    if isinstance(array, np.ndarray) and array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low < _DENSE:
            return _used(array if low == 0 else array - low, np.arange(low, high + 1))
    codes, found = pd.factorize(values)
    return codes, np.asarray(found, dtype=object)


def _used(codes: npt.NDArray[Any], values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return codes without those of values that are not there."""
    there = np.zeros(len(values), dtype=bool)
    for start in range(0, len(codes), _CHUNK):  # as a rule the first rows have all values
        part = codes[start : start + _CHUNK]
        there[part[part >= 0]] = True
        if there.all():
            return codes, values
    found = np.flatnonzero(there)
    return np.append(np.cumsum(there) - 1, -1)[codes], values[found]


def _is_coded(dtype: Any) -> bool:
    return bool(dtype == nw.Categorical or dtype == nw.Enum)


def plain(value: Any) -> Any:
    """Return a value as a label: text, int, float or bool; whole floats as ints, dates as ISO text."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        value = pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT or isinstance(value, bool):
        return value
    if isinstance(value, (float, decimal.Decimal)):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) <= _WHOLE else number
    if isinstance(value, int):
        return int(value)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def is_number(frame: Frame, name: str) -> bool:
    """Whether a column is read as numbers by default: floats and decimals, whatever the frame calls them."""
    dtype = frame[name].dtype
    if dtype == nw.Object:  # pandas columns of mixed origin: floats among numbers, no text
        found = {type(value) for value in frame[name].to_list() if not is_missing(value)}
        floats = (float, np.floating, decimal.Decimal)
        numbers = all(issubclass(kind, (int, np.integer, *floats)) for kind in found)
        return numbers and any(issubclass(kind, floats) for kind in found)
    return bool(dtype.is_float() or dtype.is_decimal())


def read_labels(rows: Rows, name: str) -> Coded:
    """Return a column of labels without missing values, shape (U,)."""
    factor = read_factor(rows.frame, name)
    _refuse_missing(rows, name, factor.codes < 0)
    return arranged(name, as_objects(factor.labels), factor.codes)


def read_label_pair(rows: Rows, name: str, columns: tuple[str, str]) -> Coded:
    """Return two columns of labels with common levels, shape (U, 2)."""
    i, j = (read_factor(rows.frame, column) for column in columns)
    for column, factor in zip(columns, (i, j), strict=True):
        _refuse_missing(rows, column, factor.codes < 0)
    again, found = pd.factorize(as_objects([*i.labels, *j.labels]))
    small = np.min_scalar_type(-len(found))  # of ten million rows, the codes of a thousand objects are 40 MB, not 160
    two = (i.codes, j.codes)
    if i.labels != j.labels:
        two = again[: len(i.labels)].astype(small)[i.codes], again[len(i.labels) :].astype(small)[j.codes]
    return arranged(name, found, np.stack(two, dtype=small, casting="unsafe").T)


def read_covariate(rows: Rows, name: str, *, numeric: bool = False) -> Coded:
    """Return a covariate, shape (U,): numbers if it is of floats or `numeric`, else labels."""
    if numeric or is_number(rows.frame, name):
        return code(name, read_numbers(rows, name), numeric=True)
    return read_labels(rows, name)


def read_covariate_pair(rows: Rows, name: str, columns: tuple[str, str], *, numeric: bool = False) -> Coded:
    """Return a side covariate, shape (U, 2): numbers if a side is of floats or `numeric`, else labels."""
    if numeric or any(is_number(rows.frame, column) for column in columns):
        values = np.column_stack([read_numbers(rows, column) for column in columns])
        return code(name, values, numeric=True)
    return read_label_pair(rows, name, columns)


def read_numbers(rows: Rows, name: str) -> FloatArray:
    """Return a column of finite numbers, shape (U,); numbers written as text are read."""
    values = _as_floats(rows, name, text=True)
    _refuse_missing(rows, name, np.isnan(values))
    bad = np.isinf(values)
    if bad.any():
        raise JudgmentError(
            f"column {name!r}: {counted(rows.count(bad), 'infinite value')}{rows.place(bad)}; expected finite numbers."
        )
    return values


def read_counts(rows: Rows, name: str) -> FloatArray:
    """Return a column of counts or weights, shape (U,): finite and at least 0, whole or fractional."""
    values = _as_floats(rows, name, text=False)
    _refuse_missing(rows, name, np.isnan(values))
    bad = np.isinf(values) | (values < 0)
    if bad.any():
        raise JudgmentError(
            f"column {name!r}: {counted(rows.count(bad), 'value')} negative or infinite{rows.place(bad)} "
            f"({format_count(values[rows.start(bad)])}); counts and weights are finite and at least 0."
        )
    return values


def _refuse_missing(rows: Rows, name: str, missing: npt.NDArray[np.bool_]) -> None:
    """Raise if a column has missing values."""
    if missing.any():
        raise JudgmentError(
            f"column {name!r}: {counted(rows.count(missing), 'missing value')}{rows.place(missing)}; expected "
            "a value in every row. Fill them, or leave these rows out before."
        )


def as_number(label: object) -> float | None:
    """Return the number that a label is or, as text, spells; None for any other label."""
    if isinstance(label, (bool, int, float)):
        return float(label) if abs(label) < 1e300 or isinstance(label, float) else None
    if not isinstance(label, str) or "_" in label:  # Python reads 1_000, no table means it
        return None
    try:
        number = float(label)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None  # 'nan' and 'inf' are words


def _as_floats(rows: Rows, name: str, *, text: bool) -> FloatArray:
    """Return a column as floats, NaN where it is missing."""
    series = rows.frame[name]
    values = series.to_numpy()
    if values.dtype.kind in "iufb":
        return values.astype(np.float64)
    factor = read_factor(rows.frame, name)
    numbers = [as_number(label) if text or not isinstance(label, str) else None for label in factor.labels]
    wrong = [k for k, number in enumerate(numbers) if number is None]
    if wrong:
        bad = np.isin(factor.codes, wrong)
        labels = listed([factor.labels[k] for k in wrong])
        raise JudgmentError(
            f"column {name!r} ({series.dtype}): {counted(rows.count(bad), 'value')} not a number"
            f"{rows.place(bad)}: {labels}; expected numbers."
        )
    return np.append(np.array(numbers, dtype=np.float64), np.nan)[factor.codes]


def is_missing(value: Any) -> bool:
    """Whether a value is one of the ways to say that there is none."""
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))
