"""Columns of rows in memory, read into numpy: labels, numbers and counts.

Rows are counted from 0 in the order of the caller's frame, which is never changed. Rows that are equal in all columns
that are read may be stored once.
"""

from __future__ import annotations

import datetime
import decimal
import math
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import is_label
from ..base.table import counted, format_count, format_number
from ..core.columns import (
    MOST_COUNTED,
    Coded,
    FloatArray,
    IntArray,
    Label,
    arranged,
    as_objects,
    code,
    dense,
    own_numbers,
    refuse_surrogates,
)
from ..errors import JudgmentError, kind_of, listed, safe_repr
from .distinct_rows import Frame, Rows

_OTHER = (decimal.Decimal, datetime.timedelta, datetime.time, bytes)  # beside labels, values that have one text each
_CHUNK = 2**14  # rows looked at in one go
_DENSE = 2**20  # whole numbers in a range up to so long are their own codes
_WHOLE = 2.0**53  # beyond it floats skip whole numbers

FILL = "Fill them, or remove these rows first."  # what to do about missing values


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


def read_factor(frame: Frame, name: str) -> Factor:
    """Return a column as codes of plain labels; missing values (None, NaN, NaT, NA) have code −1."""
    series = frame[name]
    native = series.to_native()
    values: Any = native
    if not isinstance(native, pd.Series):
        values = _categorical(series) if _is_coded(series.dtype) else series.to_numpy()
    _refuse_type(name, series)
    try:
        codes, values_found = _codes(values)
    except (TypeError, ValueError, NotImplementedError):  # lists and other values without a hash
        raise _no_labels(name, series.dtype) from None
    labels = as_objects(plain(value) for value in values_found)
    # Different values may have one label (1 and Decimal('1')); a frame may tell NaN from missing.
    refuse_surrogates(f"column {name!r}", labels)
    again, distinct = pd.factorize(labels)
    if not np.array_equal(again, np.arange(len(again))):
        codes = np.append(again, -1)[codes]
    return Factor(list(distinct), codes)


def _categorical(series: Any) -> Any:
    """Return a column of codes as a categorical of pandas, which reads each text once; or return its texts.

    It returns texts if pyarrow is missing, which polars needs to pass its codes, or if a code has no text.
    """
    try:
        arrow = series.to_arrow()
    except ModuleNotFoundError:
        return series.cast(nw.String).to_numpy()
    texts = arrow.dictionary.to_pylist()
    if not all(isinstance(text, str) for text in texts) or len(set(texts)) < len(texts):
        return series.cast(nw.String).to_numpy()
    codes = arrow.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Series(pd.Categorical.from_codes(codes, texts))


def _refuse_type(name: str, series: Any) -> None:
    """Raise for columns of records, lists or complex numbers, and where True and 1 would become one label."""
    native = series.to_native()
    if series.dtype.is_nested():
        raise _no_labels(name, series.dtype)
    if not isinstance(native, pd.Series) or native.dtype.kind not in "cO":
        return
    if native.dtype.kind == "c":
        raise _no_labels(name, native.dtype)
    if pd.api.types.infer_dtype(native, skipna=True).startswith("mixed"):
        types = {type(value) for value in native}
        flags, rest = types & {bool, np.bool_}, types - {bool, np.bool_}
        if flags and any(
            issubclass(kind, (int, np.number, decimal.Decimal)) for kind in rest
        ):  # a float may be missing
            raise JudgmentError(
                f"column {name!r} holds numbers beside True and False, and 1 is equal to True",
                f"Make them text: frame[{name!r}] = frame[{name!r}].astype(str).",
                expected="one kind of values",
            )


def _no_labels(name: str, dtype: object) -> JudgmentError:
    return JudgmentError(
        f"column {name!r} holds values of type {dtype} that cannot be told apart", expected="labels or numbers"
    )


def _codes(values: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return codes (−1: missing) and distinct values; values that are codes already are not hashed."""
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.CategoricalDtype):
        codes = values.cat.codes.to_numpy()
        return _used(codes, np.asarray(values.cat.categories, dtype=object))
    array = values.to_numpy() if isinstance(values, pd.Series) and isinstance(values.dtype, np.dtype) else values
    if isinstance(array, np.ndarray) and array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low < _DENSE:
            return _used(array if low == 0 else array - low, np.arange(low, high + 1))
    codes, distinct = pd.factorize(values)
    return codes, np.asarray(distinct, dtype=object)


def _used(codes: npt.NDArray[Any], values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return codes and values without unused values."""
    there = np.zeros(len(values), dtype=bool)
    start, stop = 0, _CHUNK
    while start < len(codes):  # as a rule the first rows have all values
        part = codes[start:stop]
        there[part[part >= 0]] = True
        if there.all():
            return codes, values
        start, stop = stop, 2 * stop
    used = np.flatnonzero(there)
    return np.append(np.cumsum(there) - 1, -1)[codes], values[used]


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
    if isinstance(value, datetime.date):
        return _iso(value)
    if isinstance(value, bytes):
        return _text_of(value)
    if callable(value) or not _has_text(value):
        raise JudgmentError(
            f"{safe_repr(value)} is of type {type(value).__name__}", expected="labels: text, numbers or dates"
        )
    return str(value)


def _has_text(value: object) -> bool:
    """Whether a value has a meaningful text: neither an address in memory nor an error."""
    try:
        str(value)
        return repr(value) != object.__repr__(value)
    except Exception:  # whatever a class of the caller's raises
        return False


def _iso(value: datetime.date) -> str:
    """Return a date, with its time unless that is midnight, as ISO text."""
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    midnight = value.time() == datetime.time() and value.tzinfo is None
    return value.date().isoformat() if midnight else value.isoformat(sep=" ")


def _text_of(raw: bytes) -> str:
    """Return bytes as text; parquet may hold text that is not declared as text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise JudgmentError(f"{raw!r:.80} is not UTF-8", expected="labels: text, numbers or dates") from None


def is_number(frame: Frame, name: str) -> bool:
    """Whether a column is read as numbers by default: floats and decimals, whatever the frame calls them."""
    dtype = frame[name].dtype
    if dtype == nw.Object:  # pandas columns of mixed origin: floats among numbers, no text
        types = {type(value) for value in frame[name].to_list() if not is_missing(value)}
        floats = (float, np.floating, decimal.Decimal)
        numbers = all(issubclass(kind, (int, np.integer, *floats)) for kind in types)
        return numbers and any(issubclass(kind, floats) for kind in types)
    return bool(dtype.is_float() or dtype.is_decimal())


def is_integers(frame: Frame, name: str) -> bool:
    """Whether a column holds integers, and neither Booleans nor categories."""
    dtype = frame[name].dtype
    if dtype == nw.Object:
        types = {type(value) for value in frame[name].to_list() if not is_missing(value)}
        return bool(types) and all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in types)
    return bool(dtype.is_integer())


def read_labels(rows: Rows, name: str) -> Coded:
    """Return a column of labels without missing values, shape (U,)."""
    factor = read_factor(rows.frame, name)
    _refuse_missing(rows, name, factor.codes < 0)
    _refuse_infinite(rows, name, factor)
    return arranged(name, as_objects(factor.labels), factor.codes)


def read_label_pair(rows: Rows, name: str, columns: tuple[str, str]) -> Coded:
    """Return two columns of labels with common levels, shape (U, 2)."""
    i, j = (read_factor(rows.frame, column) for column in columns)
    for column, factor in zip(columns, (i, j), strict=True):
        _refuse_missing(rows, column, factor.codes < 0)
        _refuse_infinite(rows, column, factor)
    again, distinct = pd.factorize(as_objects([*i.labels, *j.labels]))
    ordered = arranged(name, distinct, np.arange(len(distinct)))
    small = np.min_scalar_type(
        -len(distinct)
    )  # of ten million rows, the codes of a thousand objects are 40 MB, not 160
    rank = ordered.codes[again].astype(small)
    new = (rank[: len(i.labels)], rank[len(i.labels) :])
    two = [
        factor.codes if np.array_equal(ranks, np.arange(len(ranks))) else ranks[factor.codes]
        for ranks, factor in zip(new, (i, j), strict=True)
    ]
    return Coded(name, ordered.levels, np.stack(two, dtype=small, casting="unsafe").T)


def read_covariate(rows: Rows, name: str, *, numeric: bool = False) -> Coded:
    """Return a covariate, shape (U,): numbers if it is of floats or `numeric`, else labels, which may be integers."""
    if numeric or is_number(rows.frame, name):
        return code(name, read_numbers(rows, name), numeric=True)
    labels = read_labels(rows, name)
    return replace(labels, integers=len(labels.levels)) if is_integers(rows.frame, name) else labels


def read_covariate_pair(
    rows: Rows, name: str, columns: tuple[str, str], *, numeric: bool = False, apart: bool = False
) -> Coded:
    """Return a side covariate, shape (U, 2): numbers if a side holds numbers or it is `numeric`, else labels.

    With `apart`, another column tells the rows apart, so the codes of numbers may be in any order.
    """
    whole = [is_integers(rows.frame, column) for column in columns]
    if numeric or any(whole) or any(is_number(rows.frame, column) for column in columns):
        values = np.column_stack([read_numbers(rows, column) for column in columns])
        if all(whole) and values.size and np.ptp(values) < _DENSE:
            return _near_integers(name, values)
        own = own_numbers(name, values) if apart else None
        return code(name, values, numeric=True) if own is None else own
    return read_label_pair(rows, name, columns)


def _near_integers(name: str, values: FloatArray) -> Coded:
    """Return integers in a small range as codes; counting them is faster than sorting."""
    low = values.min()
    codes, there = dense((values - low).astype(np.int64), int(np.ptp(values)) + 1)
    return Coded(name, there + low, codes)


def read_numbers(rows: Rows, name: str) -> FloatArray:
    """Return a column of finite numbers, shape (U,); numbers written as text are read."""
    values = _as_floats(rows, name, text=True)
    _refuse_missing(rows, name, np.isnan(values))
    bad = np.isinf(values)
    if bad.any():
        raise JudgmentError(
            f"column {name!r}: {counted(rows.count(bad), 'infinite value')}{rows.place(bad)}", expected="finite numbers"
        )
    return values


def read_counts(rows: Rows, name: str) -> FloatArray:
    """Return a column of counts or weights, shape (U,): finite and at least 0, whole or fractional."""
    values = _as_floats(rows, name, text=False)
    _refuse_missing(rows, name, np.isnan(values))
    large = np.isfinite(values) & (values >= MOST_COUNTED)
    if large.any():
        raise JudgmentError(
            f"column {name!r}: {counted(rows.count(large), 'value')} of 2**53 or more{rows.place(large)} "
            f"({values[rows.start(large)]:.6g}), where floats skip whole numbers",
            "Check the column, or divide all counts by one number.",
            expected="counts below",
        )
    bad = np.isinf(values) | (values < 0)
    if bad.any():
        raise JudgmentError(
            f"column {name!r}: {counted(rows.count(bad), 'value')} negative or infinite{rows.place(bad)} "
            f"({format_count(values[rows.start(bad)])})",
            expected="finite counts and weights, at least 0",
        )
    return values


def weight_notes(weights: FloatArray, rows: Rows, name: str) -> tuple[str, ...]:
    """Return a note on the effective number of rows, (Σw)²/Σw² (Kish 1965), unless weights are whole numbers."""
    if not np.any(weights % 1 > 0):
        return ()
    total, squares = float(weights @ rows.times), float(weights**2 @ rows.times)
    size = counted(int(rows.times.sum()), "row")
    low, high = (format_number(value, 3) for value in (weights.min(), weights.max()))
    return (f"weights {name!r} from {low} to {high}: {size} are worth {total**2 / squares:.4g} of equal weight",)


def read_sizes(rows: Rows, name: str) -> FloatArray:
    """Return a column of sizes of preferences, shape (U,), NaN where there is none."""
    return _as_floats(rows, name, text=True)


def _refuse_missing(rows: Rows, name: str, missing: npt.NDArray[np.bool_]) -> None:
    """Raise if a column has missing values."""
    if missing.any():
        raise JudgmentError(
            f"column {name!r}: {counted(rows.count(missing), 'missing value')}{rows.place(missing)}",
            FILL,
            expected="a value in every row",
        )


def _refuse_infinite(rows: Rows, name: str, factor: Factor) -> None:
    """Raise for infinite numbers among labels, such as JSON's Infinity and 1e999."""
    infinite = [k for k, label in enumerate(factor.labels) if isinstance(label, float) and math.isinf(label)]
    if infinite:
        raise JudgmentError(
            f"column {name!r} holds an infinite number{rows.place(np.isin(factor.codes, infinite))}",
            "Leave these rows out, or write the label as text.",
            expected="labels or finite numbers",
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
    _refuse_type(name, series)
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
            f"column {name!r} ({series.dtype}): {counted(rows.count(bad), 'value')} not a number{rows.place(bad)}: "
            f"{labels}",
            expected="numbers",
        )
    return np.append(np.array(numbers, dtype=np.float64), np.nan)[factor.codes]


def is_missing(value: Any) -> bool:
    """Whether a value means "missing"."""
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def refuse_odd_cells(table: pd.DataFrame) -> None:
    """Raise for cells that hold no word, number, date or gap, such as lists, and for text that no file can hold."""
    for name in (name for name in table if pd.api.types.is_object_dtype(table[name])):
        for value in table[name]:
            if not (is_label(value) or is_missing(value) or isinstance(value, _OTHER)):
                raise JudgmentError(
                    f"column {name!r} holds {kind_of(value)}",
                    f"Make them text: frame[{name!r}] = frame[{name!r}].map(str). Or drop a column that is not needed.",
                    expected="one word or number in each cell",
                )
        refuse_surrogates(f"column {name!r}", table[name])
