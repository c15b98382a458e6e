"""Frames of any library that narwhals knows, opened: their rows as they are, or counted by the engine that has them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from narwhals import Implementation
from narwhals.exceptions import DuplicateError

from ..core.columns import IntArray, Label, as_objects, inferred, refuse_surrogates
from ..errors import JudgmentError, OptionError, listed, repeated, safe_repr
from .column_proposals import proposed
from .dask_frames import DaskFrame, is_dask
from .distinct_rows import Frame, Rows
from .frames import read_factor
from .value_types import LabelType, typed_labels, typed_together

Roles = Mapping[str, Sequence[str]]  # parameter → the columns that it names

_TEXTS = "Make every name a text: frame.columns = [str(name) for name in frame.columns]."


@dataclass(frozen=True, eq=False)
class Source:
    """A caller's frame, opened but not read.

    Attributes
    ----------
    names : tuple of str
        Its columns.
    frame : narwhals frame, eager or lazy, or `DaskFrame`
    what : str
        How messages call it.
    is_text : bool
        Whether all columns are the text of a csv file, in which numbers are still to be found.
    labels : "text", "number" or None
        The type of the labels of objects, by the caller.
    unsure : frozenset of str
        Columns whose type in the engine differs from their type in memory: JSON of several types, whole numbers of any
        length.
    otherwise : callable or None
        A function that reads a file into memory instead.
    inner : mapping
        Column → how `frame` calls it, where the engine does not take its name.
    made : frozenset of str
        Columns that reading added or turned into judgments; the caller's frame does not have them.
    odd : mapping
        Columns that may occur but cannot be read → why, and the remedy.
    """

    names: tuple[str, ...]
    frame: Any
    what: str
    is_text: bool = False
    labels: LabelType | None = None
    unsure: frozenset[str] = frozenset()
    otherwise: Callable[[], Source] | None = None
    inner: Mapping[str, str] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    odd: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def pick(self, roles: Roles) -> Rows:
        """Return the columns that play a role, collected if the frame is lazy.

        Raises
        ------
        JudgmentError
            For a column that is not there, and for a frame without rows.
        OptionError
            For one that plays two roles.
        """
        if self.unsure & _named(roles) and self.otherwise is not None:
            return replace(self.otherwise(), labels=self.labels).pick(roles)
        picked: Frame = collected(self._chosen(roles))
        self._refuse_empty(picked)
        return Rows.each(self._typed(picked, roles))

    def tally(self, roles: Roles) -> Rows:
        """Return the distinct rows of the columns that play a role, counted in the engine that holds the frame.

        Rows in the memory of pandas are returned one by one: coding its columns is faster than grouping by them.

        Raises
        ------
        JudgmentError, OptionError
            As `pick`.
        """
        if self.frame.implementation.is_pandas_like() or self.unsure & _named(roles):
            return self.pick(roles)
        chosen = self._chosen(roles)
        schema = chosen.collect_schema()
        keys = schema.names()
        nested = [name for name in keys if schema[name].is_nested()]
        if nested:
            raise JudgmentError(
                f"column {nested[0]!r} holds values of type {schema[nested[0]]} that cannot be told apart",
                expected="labels or numbers",
            )
        times, first = _unused("rows", keys), _unused("first", keys)
        numbered = _numbered(chosen, first)
        ordered = numbered is not None
        groups = _tallied(numbered if ordered else chosen, keys, times, first if ordered else None)
        self._refuse_empty(groups)
        n = groups[times].to_numpy().astype(np.int64)
        at = groups[first].to_numpy().astype(np.int64) if ordered else np.arange(len(n))
        by_row = np.argsort(at)
        return Rows(self._typed(groups.select(keys)[by_row], roles), n[by_row], at[by_row], ordered=ordered)

    def renamed(self, names: Mapping[str, str]) -> Source:
        """Return the frame with some columns under other names (old → new)."""
        changed = {old: new for old, new in names.items() if old != new}
        if not changed:
            return self
        renamed = tuple(changed.get(name, name) for name in self.names)
        inner = {changed.get(name, name): self.inner.get(name, name) for name in self.names}
        if isinstance(self.frame, nw.DataFrame):
            return replace(self, names=renamed, frame=self.frame.rename(changed))
        unsure, otherwise = frozenset(changed.get(name, name) for name in self.unsure), self.otherwise
        again = None if otherwise is None else lambda: otherwise().renamed(names)
        return replace(self, names=renamed, inner=inner, unsure=unsure, otherwise=again)

    def keeping(self, name: str, wanted: Callable[[Label], bool]) -> Source:
        """Return the rows whose value of a column, as text, is requested; rows without a value are left out.

        Raises
        ------
        JudgmentError
            For a column that is not there or whose values cannot be told apart, and where no row is left.
        """
        values = replace(self, is_text=False, labels=None).tally({"where": (name,)})
        labels = [label for label in read_factor(values.frame, name).labels if wanted(label)]
        if not labels:
            raise JudgmentError(f"no row is left by column {name!r} (where=)", where=self.what)
        remaining = self._held().filter(nw.col(self.inner.get(name, name)).is_in(labels))
        again = self.otherwise
        return replace(
            self, frame=remaining, otherwise=None if again is None else lambda: again().keeping(name, wanted)
        )

    def complete(self, names: Sequence[str]) -> Source:
        """Return the rows that have a value in each of these columns, as R's ``na.omit`` does.

        Raises
        ------
        JudgmentError
            Where no row is left.
        """
        held = self._held()
        schema = held.collect_schema()
        inner = [self.inner.get(name, name) for name in dict.fromkeys(names)]
        missing = [nw.col(name).is_null() for name in inner]
        missing += [nw.col(name).is_nan() for name in inner if schema[name].is_float()]
        remaining = replace(self, frame=held.filter(*(~each for each in missing)))
        if remaining.n_rows() == 0:
            raise JudgmentError(f"no row has a value in each of {listed(names)}", where=self.what)
        again = self.otherwise
        return remaining if again is None else replace(remaining, otherwise=lambda: again().complete(names))

    def longer(self, names: Sequence[str], name: str, value: str) -> Source:
        """Return a row for each value of some columns: the column in `name`, its value in `value`, all else repeated.

        Raises
        ------
        JudgmentError
            For columns that are not there, or hold lists or structs.
        """
        refuse_absent(self, {value: names})
        nested = [column for column in names if not self.has_labels(column)]
        if nested:
            raise JudgmentError(f"columns {listed(nested)} hold lists or structs", expected="a label in each row")
        others = [column for column in self.names if column not in names]
        on, beside = ([self.inner.get(column, column) for column in part] for part in (names, others))
        frame = self._held()
        schema = frame.collect_schema()
        if len({schema[column] for column in on}) > 1 and not frame.implementation.is_pandas_like():
            frame = frame.with_columns(nw.col(*on).cast(nw.String))  # engines have one type in a column
        frame = frame.unpivot(on, index=beside, variable_name=name, value_name=value)
        outer = {self.inner.get(column, column): column for column in names}
        if self.inner:
            frame = frame.with_columns(nw.col(name).replace_strict(outer, return_dtype=nw.String))
        again = self.otherwise
        return replace(
            self,
            names=(*others, name, value),
            made=self.made | {name, value},
            frame=frame,
            inner={column: self.inner[column] for column in others if column in self.inner},
            otherwise=None if again is None else lambda: again().longer(names, name, value),
        )

    def _held(self) -> Any:
        """Return the frame as narwhals has it; a frame of Dask is loaded into memory."""
        return nw.from_native(self.frame.native.compute()) if isinstance(self.frame, DaskFrame) else self.frame

    def n_rows(self) -> int:
        """Return the number of rows, counted by the engine that holds them."""
        if isinstance(self.frame, (nw.DataFrame, DaskFrame)):
            return len(self.frame)
        return int(collected(self.frame.select(nw.len())).item())

    def _chosen(self, roles: Roles) -> Any:
        _check_roles(self, roles)
        names = dict.fromkeys(name for names in roles.values() for name in names)
        return self.frame.select([self.inner.get(name, name) for name in names])

    def _typed(self, frame: Frame, roles: Roles) -> Frame:
        """Return a frame under the caller's names, with typed texts of a file, and objects of the caller's type."""
        outer = {inner: name for name, inner in self.inner.items() if name != inner}
        renamed = {name: outer[name] for name in frame.columns if name in outer}
        frame = frame.rename(renamed) if renamed else frame
        objects = roles.get("objects", ())
        if not self.is_text and (self.labels is None or not objects):
            return frame
        columns = {name: _series(frame, name) for name in frame.columns}
        labels = self._labels(frame, objects, roles.get("outcome", ())) if objects else {}
        columns |= labels
        sides = roles.get("side_covariates", ())
        alone = ((name,) for name in columns if name not in sides and name not in labels)
        for names in (*zip(sides[::2], sides[1::2], strict=True), *alone) if self.is_text else ():
            columns |= typed_together({name: columns[name] for name in names})
        typed: Frame = nw.from_native(pd.DataFrame(columns), eager_only=True)
        return typed

    def _labels(self, frame: Frame, objects: Sequence[str], outcome: Sequence[str]) -> dict[str, pd.Series[Any]]:
        """Return the columns of objects and the columns of outcomes that name objects, typed together."""
        factors = [read_factor(frame, name) for name in objects]
        labels = [label for factor in factors for label in factor.labels]
        new = typed_labels(labels, self.labels)
        numbers = any(isinstance(label, (int, float)) for label in new)
        made, start = {}, 0
        for name, factor in zip(objects, factors, strict=True):
            made[name] = _column(new[start : start + len(factor.labels)], factor.codes)
            start += len(factor.labels)
        if numbers and self.labels is None:
            return made  # they are spelled as they were read
        called = {str(label): new_label for label, new_label in zip(labels, new, strict=True)}
        for name, factor in ((name, read_factor(frame, name)) for name in outcome if name not in made):
            if any(str(label) in called for label in factor.labels):
                made[name] = _column([called.get(str(label), label) for label in factor.labels], factor.codes)
        return made

    def _refuse_empty(self, frame: Frame) -> None:
        if len(frame) == 0:
            raise JudgmentError("no rows", where=self.what, expected="one for every comparison or judgment")

    def has_labels(self, name: str) -> bool:
        """Whether the column exists and does not hold lists or records."""
        inner = self.inner.get(name, name)
        return name in self.names and not self.frame.collect_schema()[inner].is_nested()

    def labels_of(self, name: str) -> list[Label]:
        """Return the distinct labels of a column."""
        return list(read_factor(self.tally({"values": (name,)}).frame, name).labels)

    def others(self, roles: Roles) -> tuple[str, ...]:
        """Return the names of the columns that play no role."""
        taken = {name for names in roles.values() for name in names}
        return tuple(str(name) for name in self.names if name not in taken)


def open_frame(frame: object, what: str = "the frame") -> Source:
    """Return a frame of any library that narwhals knows, opened."""
    odd: Mapping[str, tuple[str, str]] = {}
    if isinstance(frame, pd.DataFrame):
        frame, odd = _named_by_text(_in_native_order(frame))
    try:
        opened: Any = DaskFrame(frame) if is_dask(frame) else nw.from_native(frame)
        names = tuple(opened.collect_schema().names())
    except TypeError:
        library = type(frame).__name__
        raise JudgmentError(
            f"{what} is of type {library}",
            "Make one with pandas.DataFrame(…).",
            expected="a frame of pandas, polars, pyarrow or another library that narwhals knows",
        ) from None
    except DuplicateError:
        names = tuple(getattr(frame, "columns" if hasattr(frame, "iloc") else "column_names", ()))
        twice = repeated(names)
        raise JudgmentError(f"{what} has several columns named {listed(twice)}", "Rename all but one.") from None
    refuse_surrogates(f"the columns of {what}", names)
    if any("." in name for name in names) and opened.implementation in (Implementation.DUCKDB, Implementation.PYSPARK):
        return _without_dots(frame, names, what)
    return Source(names, opened, what, odd=odd)


def _named_by_text(frame: pd.DataFrame) -> tuple[pd.DataFrame, Mapping[str, tuple[str, str]]]:
    """Return a frame whose columns have different texts as names, and notes on odd names.

    Of several columns of one name the first stays, and it cannot be used.
    """
    names = [str(name) for name in frame.columns]
    times = Counter(names)
    odd = {
        str(name): (f"a column named {name!r}, of type {type(name).__name__}", _TEXTS)
        for name in frame.columns
        if not isinstance(name, str)
    }
    odd |= {name: (f"several columns named {name!r}", "Rename all but one.") for name in names if times[name] > 1}
    if not odd:
        return frame, odd
    # the first of each name is what a walk from the end writes last
    first = dict(zip(reversed(names), reversed(range(len(names))), strict=True)).values()
    return frame.iloc[:, sorted(first)].set_axis(list(dict.fromkeys(names)), axis=1), odd


def _in_native_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with numbers in this machine's byte order; files of big-endian machines have the other one."""
    kinds = [kind if isinstance(kind, np.dtype) else None for kind in frame.dtypes]
    if all(kind is None or kind.isnative for kind in kinds):
        return frame
    columns = [frame.iloc[:, k] for k in range(len(kinds))]
    native = [
        column if kind is None else column.astype(kind.newbyteorder("="))
        for column, kind in zip(columns, kinds, strict=True)
    ]
    return pd.concat(native, axis=1).set_axis(frame.columns, axis=1)


def _without_dots(frame: Any, names: tuple[str, ...], what: str) -> Source:
    """Return a frame of an engine that takes a dot for a path, its columns numbered inside."""
    inner = {name: f"column_{k}" for k, name in enumerate(names)}
    if hasattr(frame, "toDF"):  # PySpark
        return Source(names, nw.from_native(frame.toDF(*inner.values())), what, inner=inner)
    chosen = ", ".join(f"{quoted(name)} AS {safe}" for name, safe in inner.items())
    return Source(names, nw.from_native(frame.project(chosen)), what, inner=inner)


def in_memory(source: Source, objects: Sequence[str] = (), outcome: Sequence[str] = ()) -> pd.DataFrame:
    """Return a source as a pandas frame; columns of objects and of outcomes, if there, are typed together."""
    roles = {"objects": [name for name in source.names if name in objects]}
    roles["outcome"] = [name for name in source.names if name in outcome and name not in objects]
    roles["records"] = [name for name in source.names if name not in (*objects, *outcome)]
    frame = source.pick(roles).frame
    native = frame.to_native()
    if isinstance(native, pd.DataFrame):
        return native[list(source.names)]
    columns = {name: frame[name] for name in source.names}
    return pd.DataFrame({n: c.to_list() if c.dtype.is_nested() else c.to_numpy() for n, c in columns.items()})


def quoted(name: str) -> str:
    """Return a column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def collected(frame: Any) -> Any:
    """Return a narwhals frame in memory; engines without a memory of their own hand over to pyarrow.

    Raises
    ------
    JudgmentError
        If DuckDB detects while reading that a file is damaged.
    """
    if isinstance(frame, DaskFrame):
        return frame.collect()
    if not isinstance(frame, nw.LazyFrame):
        return frame
    engine_error = getattr(sys.modules.get("duckdb"), "Error", ())
    # rows of a lazy frame of polars go through memory in batches, and what is counted of them stays
    options: dict[str, Any] = {"engine": "streaming"} if frame.implementation.is_polars() else {}
    try:
        return frame.collect(**options)
    except engine_error as error:
        raise JudgmentError(f"DuckDB cannot read the file: {str(error).strip().splitlines()[0]}") from None


def _tallied(frame: Any, keys: Sequence[str], times: str, number: str | None) -> Frame:
    """Return the distinct rows, how often each occurs and, if rows are numbered, its smallest number."""
    if isinstance(frame, DaskFrame):
        return frame.tally(times)
    totals = [nw.len().alias(times), *([] if number is None else [nw.col(number).min()])]
    groups: Frame = collected(frame.group_by(keys).agg(*totals))
    return groups


def _named(roles: Roles) -> set[str]:
    return {name for names in roles.values() for name in names}


def _numbered(frame: Any, name: str) -> Any:
    """Return a narwhals frame with numbered rows, or None where the engine keeps them in no order."""
    if frame.implementation.is_polars():  # also a lazy one, which narwhals does not number without a key to sort by
        return nw.from_native(frame.to_native().with_row_index(name))
    return frame.with_row_index(name) if isinstance(frame, nw.DataFrame) else None


def _unused(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _unused(f"{name}_", taken)


def _series(frame: Frame, name: str) -> pd.Series[Any]:
    """Return a column as pandas has it."""
    native = frame[name].to_native()
    if isinstance(native, pd.Series):
        return native.reset_index(drop=True)
    return inferred(pd.Series(frame[name].to_list(), dtype=object))


def _column(labels: Sequence[Any], codes: IntArray) -> pd.Series[Any]:
    """Return labels by their codes (−1: missing) as a column."""
    return inferred(pd.Series(as_objects([*labels, None])[codes]))


def as_names(names: object, parameter: str) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    if isinstance(names, str):
        return (names,)
    ordered = isinstance(names, Iterable) and not isinstance(names, (Set, Mapping)) and getattr(names, "ndim", 1) > 0
    several: tuple[Any, ...] = tuple(names) if ordered else (None,)  # type: ignore[arg-type]
    if not all(isinstance(name, str) for name in several):
        raise OptionError(f"{parameter}={safe_repr(names)}", expected="the name of a column or several names")
    return several


def as_two_names(names: object, parameter: str) -> tuple[str, str]:
    """Return the names of the columns of side i and side j."""
    several = as_names(names, parameter)
    if isinstance(names, str) or len(several) != 2:
        raise OptionError(
            f"{parameter}={safe_repr(names)}", expected="the names of two columns, the column of side i first"
        )
    return several[0], several[1]


def refuse_absent(source: Source, roles: Roles) -> None:
    """Raise for columns that are not there, with the columns that are probably meant."""
    for name in sorted(_named(roles) & source.odd.keys()):
        why, remedy = source.odd[name]
        raise JudgmentError(f"{source.what} has {why}", remedy)
    for parameter, names in roles.items():
        gone = tuple(name for name in names if name not in source.names)
        if gone:
            raise _no_column(source, parameter, gone, roles)


def _check_roles(source: Source, roles: Roles) -> None:
    refuse_absent(source, roles)
    played: dict[str, str] = {}
    for parameter, names in roles.items():
        for name in names:
            if name in played:
                both = dict.fromkeys((f"{played[name]}=", f"{parameter}="))
                where = " and ".join(both) if len(both) == 2 else f"{parameter}=, twice"
                raise OptionError(f"column {name!r} is named in {where}", expected="one role for each column")
            played[name] = parameter


def _no_column(source: Source, parameter: str, gone: tuple[str, ...], roles: Roles) -> JudgmentError:
    plural = "column" if len(gone) == 1 else "columns"
    has = listed(source.names, 20) if source.names else "no columns"
    advice = proposed(source, parameter, gone, roles)
    if parameter == "judge_covariates":  # the caller's table of judges has it: it is the judgments that do not
        advice = (
            "This column names the judges in their table: give it the name that it has in the judgments."
            f"{advice and ' '}{advice}"
        )
    if parameter == "side_covariates":
        advice = "For each covariate name two columns of the table, side i first."
    return JudgmentError(f"no {plural} {listed(gone)} ({parameter}=); it has {has}", advice, where=source.what)
