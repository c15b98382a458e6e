"""Values for every argument of every public function, ways to bend its data, and what came of each call."""

from __future__ import annotations

import contextlib
import copy
import datetime
import decimal
import fractions
import inspect
import io
import locale
import logging
import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from support.calls import CALLS, counts, fitted, mixed, rankings
from support.time_limits import TooLongError, time_limit

import llbt

ANSWERED, REFUSED, RAW, CHANGED, LONG = "answered", "refused", "raw error", "state changed", "long"
SECONDS = 5


class Nothing:
    """An object that is nothing that a function could ask about."""


class NoRepr:
    """An object that cannot say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class NoHash:
    """An object that can neither be hashed nor compared."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no ==")


class Text(str):
    """A text of a class of its own."""


def _round() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found


# Made anew for every call: a generator is empty the second time.
VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "a flag of numpy": lambda: np.True_,
    "0": lambda: 0,
    "1": lambda: 1,
    "2": lambda: 2,
    "-1": lambda: -1,
    "0.5": lambda: 0.5,
    "2.5": lambda: 2.5,
    "NaN": lambda: math.nan,
    "infinity": lambda: math.inf,
    "1e308": lambda: 1e308,
    "10^400": lambda: 10**400,
    "a complex number": lambda: 1j,
    "an int8": lambda: np.int8(100),
    "a uint8": lambda: np.uint8(200),
    "a float32": lambda: np.float32(0.5),
    "a decimal": lambda: decimal.Decimal("0.5"),
    "a fraction": lambda: fractions.Fraction(1, 2),
    "NA": lambda: pd.NA,
    "NaT": lambda: pd.NaT,
    "a masked cell": lambda: np.ma.masked,
    "a date": lambda: datetime.date(2020, 1, 1),
    "a date of numpy": lambda: np.datetime64("2020-01-01"),
    "empty text": lambda: "",
    "an object's label": lambda: "A",
    "a column": lambda: "judge",
    "other text": lambda: "no such thing",
    "text of its own class": lambda: Text("A"),
    "a zero byte": lambda: "a\0b",
    "a lone surrogate": lambda: "\ud800",
    "long text": lambda: "x" * 10_000,
    "bytes": lambda: b"A",
    "a path": lambda: Path("no", "such", "file"),
    "an empty list": list,
    "a list of None": lambda: [None],
    "a list of lists": lambda: [[]],
    "a list of dicts": lambda: [{}],
    "a list of a label": lambda: ["A"],
    "labels twice": lambda: ["A", "A"],
    "a list of columns": lambda: ["object_i", "object_j"],
    "a list of integers": lambda: [1, 2],
    "a list of NaN": lambda: [math.nan, math.nan],
    "a list that holds itself": _round,
    "an empty tuple": tuple,
    "a tuple of labels": lambda: ("A", "B"),
    "an empty dict": dict,
    "a dict of None": lambda: {"A": None},
    "a dict of numbers": lambda: {"A": 1, "B": -1},
    "a dict of dicts": lambda: {"A": {"B": 1}},
    "a dict with keys that are no text": lambda: {1: 2, None: None},
    "a set": lambda: {"A", "B"},
    "a frozen set": lambda: frozenset({"judge"}),
    "a range": lambda: range(3),
    "a generator": lambda: (k for k in ("A", "B")),
    "a function": lambda: len,
    "a function that fails": lambda: lambda *_: 1 / 0,
    "a class": lambda: dict,
    "an object": Nothing,
    "an object without repr": NoRepr,
    "an object without hash": NoHash,
    "an exception": lambda: ValueError("x"),
    "an array without dimensions": lambda: np.array(1.0),
    "an empty array": lambda: np.zeros((0, 0)),
    "an array": lambda: np.array([0.5, 2.0]),
    "an array of text": lambda: np.array(["A", "B"]),
    "complex numbers": lambda: np.full((3, 3), 1j),
    "masked numbers": lambda: np.ma.masked_all((3, 3)),
    "an empty frame": pd.DataFrame,
    "a frame": lambda: pd.DataFrame({"other": ["x"]}),
    "a series": lambda: pd.Series(["A", "B"]),
    "an index": lambda: pd.Index(["A", "B"]),
    "a generator of numpy": lambda: np.random.default_rng(1),
    "a fit": fitted,
    "a table": counts,
    "lists": rankings,
}


def _cells(value: Any, every: bool = False) -> Callable[[Any], Any]:
    """A bend that replaces one cell of data, or all."""

    def bend(data: Any) -> Any:
        if isinstance(data, pd.DataFrame):
            found = data.astype(object)
            for place in np.ndindex(*found.shape):
                if every or place == (len(found) // 2, found.shape[1] - 1):
                    found.iat[place] = value
            return found
        if isinstance(data, dict):
            return {key: bend(one) if every or k == 0 else one for k, (key, one) in enumerate(data.items())}
        if isinstance(data, (list, tuple)):
            return type(data)(value if every or k == 0 else one for k, one in enumerate(data))
        if isinstance(data, np.ndarray):
            found = data.astype(object)
            for place in np.ndindex(*found.shape):
                if every or not any(place):
                    found[place] = value
            return found
        return value

    return bend


def _frame(bend: Callable[[pd.DataFrame], Any]) -> Callable[[Any], Any]:
    """A bend of frames; other data become frames first, where they can be."""
    return lambda data: bend(data if isinstance(data, pd.DataFrame) else _as_frame(data))


def _as_frame(data: Any) -> pd.DataFrame:
    if isinstance(data, np.ndarray) and data.ndim <= 2:
        return pd.DataFrame(data)
    if hasattr(data, "to_frame"):
        return pd.DataFrame(data.to_frame())
    return pd.DataFrame({"x": list(data)}) if isinstance(data, (list, tuple, dict)) else pd.DataFrame({"x": [1, 2]})


def _array(bend: Callable[[np.ndarray], Any]) -> Callable[[Any], Any]:
    """A bend of arrays; other data become arrays first."""

    def of(data: Any) -> Any:
        if isinstance(data, (list, tuple)):
            found = np.empty(len(data), dtype=object)
            found[:] = [None] * len(data)
            for k, one in enumerate(data):
                found[k] = one
            with contextlib.suppress(ValueError, TypeError):
                found = np.asarray(data)
            return bend(found)
        return bend(np.asarray(data.to_frame() if hasattr(data, "to_frame") else data))

    return of


def _masked(values: np.ndarray) -> np.ndarray:
    return np.ma.array(values, mask=[[k % 2 == 0] * values.shape[1] for k in range(len(values))])


BENDS: dict[str, Callable[[Any], Any]] = {
    # cells
    "a cell of None": _cells(None),
    "a cell of NaN": _cells(math.nan),
    "a cell of NA": _cells(pd.NA),
    "a masked cell": _cells(np.ma.masked),
    "an infinite cell": _cells(math.inf),
    "a cell below 0": _cells(-1),
    "a huge cell": _cells(1e308),
    "a cell of 10^400": _cells(10**400),
    "a complex cell": _cells(1j),
    "a decimal": _cells(decimal.Decimal("NaN")),
    "a cell of text": _cells("no such thing"),
    "empty text": _cells(""),
    "a zero byte": _cells("a\0b"),
    "a lone surrogate": _cells("\ud800"),
    "long text": _cells("x" * 10_000),
    "bytes": _cells(b"A"),
    "a list in a cell": _cells([1]),
    "a list that holds itself": _cells(_round()),
    "a dict in a cell": _cells({"a": 1}),
    "a set in a cell": _cells({1}),
    "an array in a cell": _cells(np.zeros(2)),
    "a frame in a cell": _cells(pd.DataFrame()),
    "a date": _cells(datetime.date(2020, 1, 1)),
    "a flag": _cells(True),
    "an object": _cells(Nothing()),
    "an object without repr": _cells(NoRepr()),
    "an object without hash": _cells(NoHash()),
    "a function": _cells(len),
    "only None": _cells(None, every=True),
    "only NaN": _cells(math.nan, every=True),
    "only one text": _cells("A", every=True),
    "only zeros": _cells(0, every=True),
    "only huge numbers": _cells(1e308, every=True),
    "only complex numbers": _cells(1j, every=True),
    "only lists": _cells([1], every=True),
    "only objects": _cells(Nothing(), every=True),
    # shape and type
    "no rows": _frame(lambda f: f.head(0)),
    "one row": _frame(lambda f: f.head(1)),
    "no columns": _frame(lambda f: f[[]]),
    "one column less": _frame(lambda f: f.iloc[:, :-1]),
    "every column twice": _frame(lambda f: pd.concat([f, f], axis=1)),
    "every row twice": _frame(lambda f: pd.concat([f, f])),
    "columns called by numbers": _frame(lambda f: f.set_axis(range(f.shape[1]), axis=1)),
    "a column called None": _frame(lambda f: f.set_axis([None, *f.columns[1:]], axis=1)),
    "a column that cannot be called": _frame(lambda f: f.set_axis(["\ud800", *f.columns[1:]], axis=1)),
    "columns of two names": _frame(lambda f: f.set_axis(pd.MultiIndex.from_product([["a"], f.columns]), axis=1)),
    "an index of two names": _frame(lambda f: f.set_axis(pd.MultiIndex.from_product([["a"], range(len(f))]))),
    "the same index everywhere": _frame(lambda f: f.set_axis([7] * len(f))),
    "turned on its side": _frame(lambda f: f.T),
    "text": _frame(lambda f: f.astype(str)),
    "categories": _frame(lambda f: f.astype("category")),
    "types that know missing values": _frame(lambda f: f.convert_dtypes()),
    "types of arrow": _frame(lambda f: f.convert_dtypes(dtype_backend="pyarrow")),
    "groups": _frame(lambda f: f.groupby(f.columns[0])),
    "one column alone": _frame(lambda f: f.iloc[:, 0]),
    "records": _frame(lambda f: f.to_dict("records")),
    "lists by column": _frame(lambda f: f.to_dict("list")),
    "structs of polars": _frame(lambda f: pl.from_pandas(f).select(pl.struct(pl.all()).alias("all"))),
    "a lazy frame": _frame(lambda f: pl.from_pandas(f).lazy()),
    "pyarrow": _frame(pa.Table.from_pandas),
    "an array of records": _frame(lambda f: f.to_records()),
    "a masked array": _frame(lambda f: _masked(f.to_numpy())),
    "its text": _frame(lambda f: f.to_csv()),
    "lists": _array(lambda a: a.tolist()),
    "nothing": _array(lambda a: a[:0]),
    "a dimension more": _array(lambda a: a[None]),
    "one more": _array(lambda a: np.concatenate([a, a[:1]])),
    "the other way round": _array(lambda a: a[::-1]),
    "cannot be written": _array(lambda a: _read_only(a)),
    "other bytes first": _array(lambda a: a.astype(a.dtype.newbyteorder()) if a.dtype.kind in "iuf" else a),
    "half the precision": _array(lambda a: a.astype(np.float16)),
    "bytes of text": _array(lambda a: a.astype("S")),
    "a generator": lambda data: (one for one in data),
    "a set": lambda data: set(data),
    "a tuple of it": lambda data: (data,),
    "a dict of it": lambda data: {"A": data},
    "a copy": copy.deepcopy,
    "another fit": lambda _: mixed(),
}


def _read_only(values: np.ndarray) -> np.ndarray:
    found = values.copy()
    found.flags.writeable = False
    return found


@dataclass(frozen=True)
class Case:
    """One call: which function, which argument, and what it is."""

    function: Callable[..., Any]
    parameter: str
    value: str
    bent: bool = False

    def __str__(self) -> str:
        return (
            f"{self.function.__module__.partition('.')[2]}.{self.function.__qualname__}({self.parameter}: {self.value})"
        )

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments, anew; bends that the right value cannot take raise what they raise."""
        given, named = CALLS[self.function]()
        parameters = inspect.signature(self.function).parameters
        place = list(parameters).index(self.parameter)
        kind = parameters[self.parameter].kind
        if self.bent:
            right = named[self.parameter] if self.parameter in named else given[place]
            value = BENDS[self.value](copy.deepcopy(right))
        else:
            value = VALUES[self.value]()
        if kind is inspect.Parameter.VAR_POSITIONAL:
            given = [*given[:place], value]
        elif self.parameter not in named and place < len(given):
            given = [*given[:place], value, *given[place + 1 :]]
        else:
            named = {**named, self.parameter: value}
        return given, named


def every_value() -> list[Case]:
    """Every parameter of every public function with every value."""
    return [
        Case(function, name, value)
        for function in CALLS
        for name in inspect.signature(function).parameters
        if name != "self"
        for value in VALUES
    ]


def every_bend() -> list[Case]:
    """Every data argument of every right call, bent every way that it takes."""
    found = []
    for function, call in CALLS.items():
        given, named = call()
        names = list(inspect.signature(function).parameters)
        for name, value in [*zip(names, given, strict=False), *named.items()]:
            if name == "self" or isinstance(value, (str, bool, int, float)):
                continue
            found += [Case(function, name, bend, bent=True) for bend in BENDS]
    return found


def state() -> dict[str, Any]:
    """What belongs to the whole process and no call may change."""
    return {
        "filters": list(warnings.filters),
        "settings of matplotlib": dict(mpl.rcParams),
        "figures": plt.get_fignums(),
        "errors of numpy": np.geterr(),
        "random numbers": np.random.get_state()[2:],  # noqa: NPY002
        "directory": os.getcwd(),
        "environment": {name: value for name, value in os.environ.items() if name != "KMP_INIT_AT_FORK"},
        "locale": locale.setlocale(locale.LC_ALL),
        "handlers": list(logging.getLogger().handlers),
    }


def written(value: Any) -> str:
    """What an argument holds, to see whether a call changed it."""
    if isinstance(value, pd.DataFrame):
        return f"{value.columns!r} {value.dtypes!r} {value.index!r} {[written(cell) for cell in value.to_numpy().flat]}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.flags.writeable} {written(value.tolist())}"
    if isinstance(value, dict):
        return f"{[(written(key), written(one)) for key, one in value.items()]}"
    if isinstance(value, (list, tuple)) and all(one is not value for one in value):
        return f"{type(value)} {[written(one) for one in value]}"
    if isinstance(
        value, (str, bytes, float, int, complex, set, frozenset, datetime.date, np.generic, pd.Series, pd.Index)
    ):
        return f"{type(value)} {value!r}"
    return f"{type(value)} {id(value)}"


def outcome(case: Case) -> tuple[str, str]:
    """Ask, and say what came of it: one of the outcomes above, and the message."""
    try:
        given, named = case.arguments()
    except Exception:
        return "", ""  # a bend that the value does not take
    before, held = state(), [written(value) for value in (*given, *named.values())]
    out = io.StringIO()
    try:
        with (
            time_limit(SECONDS),
            warnings.catch_warnings(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
        ):
            warnings.simplefilter("ignore")
            kind, text = _asked(case.function, given, named)
    except TooLongError:
        return LONG, f"more than {SECONDS} s of CPU time"
    finally:
        plt.close("all")
    after = state()
    changed = [what for what, value in before.items() if after[what] != value]
    changed += ["data"] if held != [written(value) for value in (*given, *named.values())] else []
    changed += ["output"] if out.getvalue() and named.get("progress") is None else []
    return (CHANGED, ", ".join(changed)) if changed else (kind, text)


def _asked(function: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> tuple[str, str]:
    try:
        function(*given, **named)
    except llbt.LLBTError as error:
        return REFUSED, str(error)
    except Exception as error:
        return RAW, f"{type(error).__name__}: {error}"
    return ANSWERED, ""
