"""Ranks and ratings in blocks; a block holds the objects that were judged side by side."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..core.columns import MOST_COUNTED, FloatArray, IntArray, as_objects, groups, refuse_surrogates
from ..errors import JudgmentError, safe_repr
from .sources import Source


@dataclass(frozen=True)
class Scale:
    """The name of a block's values, whether the higher one wins, and which values stand for a missing one."""

    noun: str
    participle: str
    higher_wins: bool
    unranked: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Blocks:
    """Values of objects in blocks. N entries, J objects, B blocks.

    Attributes
    ----------
    labels : array of labels, shape (J,)
    block, item : ndarray of int, shape (N,)
        The block and the object of each entry.
    value : ndarray, shape (N,)
        Rank or rating; NaN where the object has none.
    row : ndarray of int, shape (N,)
        The row of the caller's frame.
    first : ndarray of int, shape (B,)
        The first row of each block.
    makers : tuple of str
        Columns that make a block; empty where every row is one.
    """

    labels: Any
    block: IntArray
    item: IntArray
    value: FloatArray
    row: IntArray
    first: IntArray
    makers: tuple[str, ...]

    def ranked(self) -> Blocks:
        """Return the entries that have a value, sorted by block and object."""
        return self._taken(np.flatnonzero(~np.isnan(self.value)))

    def sorted(self) -> Blocks:
        """Return all entries, sorted by block and object."""
        return self._taken(np.arange(len(self.value)))

    def _taken(self, order: IntArray) -> Blocks:
        order = order[np.lexsort((self.item[order], self.block[order]))]
        return replace(
            self, block=self.block[order], item=self.item[order], value=self.value[order], row=self.row[order]
        )

    def named(self, frame: pd.DataFrame, row: int) -> str:
        """Return the block of a row for a message: ``judge='J1', prompt=3``."""
        return ", ".join(f"{name}={safe_repr(_value(frame, name, row))}" for name in self.makers) or f"row {row}"

    def names(self, frame: pd.DataFrame) -> npt.NDArray[Any]:
        """Return one label per block, shape (B,), from its columns or else its row; the order of rows has no effect."""
        if not self.makers:
            return self.first
        columns = [frame[name].iloc[self.first].tolist() for name in self.makers]
        return as_objects(columns[0] if len(columns) == 1 else map(str, zip(*columns, strict=True)))


def as_values(values: Any) -> tuple[Any, ...]:
    """Return the values that a caller names, one or several."""
    return tuple(values) if isinstance(values, (list, tuple, set, frozenset, np.ndarray)) else (values,)


def as_pandas(source: Source, columns: Sequence[str]) -> pd.DataFrame:
    """Return some columns of a source as a new pandas frame, rows numbered from 0."""
    picked = source.pick({"columns": columns}).frame
    # column by column: polars needs pyarrow to become pandas as a whole
    values = {name: picked[name].to_numpy() for name in columns}
    try:
        return pd.DataFrame(values)
    except UnicodeEncodeError:  # pandas has no place for halves of characters
        for name, column in values.items():
            refuse_surrogates(f"column {name!r}", column)
        raise


def read_long(table: pd.DataFrame, values: Sequence[str], makers: Sequence[str], scale: Scale) -> Blocks:
    """Return the values of a long table: one row per object of a block."""
    name, value = values
    item, labels = factorized(table, name)
    first, block = groups([factorized(table, maker)[0] for maker in makers])
    rows = np.arange(len(table))
    return Blocks(labels, block, item, ranks_of(table, value, scale), rows, first, tuple(makers))


def read_wide(table: pd.DataFrame, values: Sequence[str], makers: Sequence[str], scale: Scale) -> Blocks:
    """Return the values of a wide table: one row per block, one column per object."""
    rows, size = np.arange(len(table)), len(values)
    value = np.column_stack([ranks_of(table, name, scale) for name in values]).ravel()
    block = np.repeat(rows, size)
    return Blocks(as_objects(values), block, np.tile(np.arange(size), len(rows)), value, block, rows, tuple(makers))


def factorized(table: pd.DataFrame, name: str) -> tuple[IntArray, Any]:
    """Return codes and distinct values of a column without missing values."""
    try:
        codes, labels = pd.factorize(table[name])
    except TypeError:  # lists and other values without a hash
        raise JudgmentError(f"column {name!r} holds values that cannot be told apart", expected="labels") from None
    _refuse(codes < 0, table, name, "missing value", "a value in every row: fill them, or leave the rows out")
    return codes.astype(np.int64), labels


def ranks_of(table: pd.DataFrame, name: str, scale: Scale) -> FloatArray:
    """Return ranks or ratings, NaN where there is none, shape (N,)."""
    values = table[name].to_numpy(dtype=object)
    try:
        values = np.where(pd.isna(values) | table[name].isin(scale.unranked).to_numpy(), np.nan, values)
        strange = np.array([not isinstance(value, numbers.Real | Decimal) for value in values])
        _refuse(strange, table, name, "value", f"{scale.noun}s that are numbers", " not a number")
        ranks = values.astype(np.float64)
    except ArithmeticError:  # integers beyond all floats, and the signalling NaN of decimals
        raise JudgmentError(
            f"column {name!r} has a value that no float can hold", expected=f"finite {scale.noun}s"
        ) from None
    _refuse(np.isinf(ranks), table, name, "infinite value", f"finite {scale.noun}s")
    large = np.abs(ranks) >= MOST_COUNTED
    large[large] = [isinstance(value, numbers.Integral) for value in values[large]]
    _refuse(large, table, name, "value", "whole numbers below 2**53", " too large for floats to hold exactly")
    return ranks


def refuse_negative(ranks: FloatArray) -> None:
    """Raise if some ranks (N,) are below 0 and others above: a rank below 0 is a code, and would count as the best."""
    below = ranks[ranks < 0]
    if below.size and (ranks > 0).any():
        code = f"{below[0]:g}"
        raise JudgmentError(
            f"{counted(below.size, 'rank')} below 0, such as {code}, beside ranks above 0",
            f"If {code} says not ranked, pass missing={code}. If all values are scores, use from_ratings(…).",
            expected="ranks from 1, the best",
        )


def _refuse(
    wrong: npt.NDArray[np.bool_], table: pd.DataFrame, name: str, noun: str, expected: str, what: str = ""
) -> None:
    """Raise if something is wrong with some rows of a column."""
    rows = np.flatnonzero(wrong)
    if rows.size:
        fault = (
            f"{counted(rows.size, noun)}{what}, the first at row {rows[0]} ({safe_repr(_value(table, name, rows[0]))})"
        )
        raise JudgmentError(f"column {name!r}: {fault}", expected=expected)


def _value(table: pd.DataFrame, name: str, row: int) -> Any:
    """Return one value as Python has it, for a message."""
    return table[name].iloc[[row]].tolist()[0]


def refuse_twice(ranked: Blocks, table: pd.DataFrame) -> None:
    """Raise if an object has several values in a block; entries are sorted by block and object."""
    same = np.flatnonzero((np.diff(ranked.block) == 0) & (np.diff(ranked.item) == 0))
    if same.size:
        k = same[np.argmin(ranked.row[same + 1])]
        row, again = ranked.row[k], ranked.row[k + 1]
        label = ranked.labels[[ranked.item[k]]].tolist()[0]
        remedy = "Pass block= with the columns that identify a block."
        raise JudgmentError(
            f"{counted(same.size, 'object')} repeated within a block, the first at row {again}: {label!r} in "
            f"{ranked.named(table, row)}, as at row {row}",
            remedy if ranked.makers else "Correct these rows, or leave them out.",
            expected="every object once per block",
        )


def refuse_infinite(table: pd.DataFrame, name: str, *, numeric: bool) -> None:
    """Raise for a covariate that is not a finite number here, where the row is known."""
    if numeric or table[name].dtype.kind == "f":
        numbers = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=np.float64)
        _refuse(~np.isfinite(numbers), table, name, "value", "numbers", " not a finite number")


def refuse_several(codes: IntArray, table: pd.DataFrame, name: str, parameter: str, made: Blocks) -> None:
    """Raise if a column has several values in a block."""
    before = made.first[made.block]
    other = np.flatnonzero(codes != codes[before])
    if other.size:
        row, start = other[0], before[other[0]]
        blocks = np.unique(made.block[other]).size
        raise JudgmentError(
            f"column {name!r} ({parameter}=): several values in {counted(blocks, 'block')}, the first "
            f"{made.named(table, start)} ({_value(table, name, start)!r} at row {start}, "
            f"{_value(table, name, row)!r} at row {row})",
            "Covariates of objects belong in object_covariates=.",
            expected="one value per block",
        )
