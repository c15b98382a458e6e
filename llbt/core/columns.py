"""Columns as codes into their distinct values, and lines of counts grouped by such codes."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import JudgmentError, OptionError, listed
from .response import THREE, TWO, Response

Label = str | int | float | bool
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MOST_COUNTED = 2.0**53  # from this number on floats skip whole numbers, and adding one judgment has no effect
_DENSE = 2**22  # up to so many possible keys, a table of all of them is made
_CHUNK = 2**18
_BLOCK = 2**15
# columns that name the judge or the item: their integers are names
_IDENTITY = re.compile(
    r"(judge|worker|annotator|rater|user|prompt|item|question|block|topic)([ ._-]?id)?", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class Coded:
    """A column kept as codes into its sorted distinct values.

    Attributes
    ----------
    name : str
    levels : ndarray
        Distinct values, sorted: labels (dtype object) or numbers (dtype float64); unsorted if every row has its own
        number (`own_numbers`).
    codes : ndarray of int
        Index into `levels`; shape (S,) for a covariate, (S, 2) for a side covariate, (J,) for an object
        covariate, (R,) for a cluster.
    integers : int
        For labels that were read from a column of integers: the number of distinct integers in the whole table, before
        any selection; else 0.
    """

    name: str
    levels: npt.NDArray[Any]
    codes: IntArray
    integers: int = 0

    @property
    def undecided(self) -> int:
        """The number of distinct integers, if they may be numbers; 0 for names of judges, which are labels."""
        return 0 if self.numeric or _IDENTITY.fullmatch(self.name) else self.integers

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers (else they are labels)."""
        return self.levels.dtype.kind == "f"

    @property
    def values(self) -> npt.NDArray[Any]:
        """The value in each row, shaped like `codes`."""
        return self.levels[self.codes]

    def take(self, rows: npt.NDArray[Any] | slice) -> Coded:
        """Return the column at some rows, without unused levels."""
        # a copy, so that no table shares memory with the caller's frame
        picked = self.codes[rows].copy() if isinstance(rows, slice) else self.codes[rows]
        codes, used = dense(picked, len(self.levels))
        return replace(self, levels=self.levels if len(used) == len(self.levels) else self.levels[used], codes=codes)

    def as_numbers(self) -> Coded:
        """Return labels that are integers as numbers."""
        return replace(self, levels=self.levels.astype(np.float64))

    def same_as(self, other: Coded) -> bool:
        """Whether name, kind and values are equal; integers may be numbers in one formula and labels in the other."""
        same_kind = self.numeric == other.numeric or bool(self.integers and other.integers)
        same_shape = self.codes.shape == other.codes.shape and same_kind
        return self.name == other.name and same_shape and bool(np.all(self.values == other.values))


@dataclass(frozen=True, eq=False)
class ClusterCounts:
    """Counts by comparison and cluster, stored beside the table.

    Attributes
    ----------
    rows : ndarray of int, shape (R,)
        The comparison that each line belongs to.
    columns : tuple of Coded, each (R,)
        The clusters.
    counts : ndarray, shape (R, 3)
        Wins of i, ties, wins of j; summed over the lines of a comparison they give its counts.
    """

    rows: IntArray
    columns: tuple[Coded, ...]
    counts: FloatArray


@dataclass(frozen=True, eq=False)
class Lines:
    """R lines of counts that are not yet summed by comparison, in any order; each field has shape (R, …)."""

    pairs: IntArray
    counts: FloatArray
    columns: tuple[Coded, ...] = ()
    sides: tuple[Coded, ...] = ()
    clusters: tuple[Coded, ...] = ()

    def take(self, rows: npt.NDArray[Any]) -> Lines:
        """Return a selection of the lines."""
        return Lines(
            self.pairs[rows],
            self.counts[rows],
            tuple(c.take(rows) for c in self.columns),
            tuple(c.take(rows) for c in self.sides),
            tuple(c.take(rows) for c in self.clusters),
        )

    def oriented(self, response: Response) -> Lines:
        """Return the lines with the smaller object first; counts and side covariates are swapped accordingly."""
        swap = (self.pairs[:, 0] > self.pairs[:, 1])[:, None]
        if not swap.any():
            return self
        return replace(
            self,
            pairs=np.where(swap, self.pairs[:, ::-1], self.pairs),
            counts=np.where(swap, self.counts[:, THREE.flip if response == TWO else response.flip], self.counts),
            sides=tuple(replace(c, codes=np.where(swap, c.codes[:, ::-1], c.codes)) for c in self.sides),
        )

    def keys(self) -> list[IntArray]:
        """Return the codes that distinguish comparisons: objects, covariates and side covariates, each (R,)."""
        sides = [c.codes[:, k] for c in self.sides for k in (0, 1)]
        return [*self.pairs.T, *(c.codes for c in self.columns), *sides]


def sort_key(label: Any) -> tuple[int, Any]:
    """Return the sort key of a label: numbers by value, then text by code point."""
    return (0, label) if isinstance(label, (bool, int, float)) else (1, str(label))


def as_objects(labels: Iterable[Any]) -> npt.NDArray[Any]:
    """Return labels as a vector that keeps their Python types, shape (n,)."""
    values = list(labels)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def unmasked(values: Any) -> npt.NDArray[Any]:
    """Return values as an array, with NaN for masked values."""
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    if values.dtype.kind not in "biuf":
        return np.where(np.ma.getmaskarray(values), np.nan, values.data.astype(object))
    return np.where(np.ma.getmaskarray(values), np.nan, values.data.astype(np.float64))


def refuse_surrogates(where: str, labels: Iterable[Any]) -> None:
    """Raise for text that cannot be written to a file: lone surrogates, which JSON or careless readers leave."""
    for label in labels:
        if isinstance(label, str) and not label.isascii() and any("\ud800" <= c <= "\udfff" for c in label):
            raise JudgmentError(
                f"{where}: the label {label!r} has half a character (a lone surrogate), which no file can hold. Read "
                "its source as UTF-8, or replace it: label.encode('utf-8', 'replace').decode()."
            )


def real_array(values: Any) -> FloatArray:
    """Return values as an array of floats, with NaN for masked values.

    Raises
    ------
    TypeError, ValueError
        If values are not an array of real numbers; complex numbers are refused, because they would lose a part.
    """
    array = unmasked(values)
    if array.dtype.kind in "cUSmM":
        raise TypeError(f"no real numbers: {array.dtype}")
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise ValueError("integers too large for floats") from None


def code(name: str, values: npt.NDArray[Any], *, numeric: bool = False) -> Coded:
    """Return a column as codes into its sorted distinct values.

    Parameters
    ----------
    name : str
    values : ndarray
        Labels, or numbers if `numeric`; without missing values.
    numeric : bool
        Whether the values are numbers.
    """
    if numeric:
        levels, numbers = ranked(np.asarray(values, dtype=np.float64).ravel())
        return Coded(name, levels, numbers.reshape(values.shape))
    codes, distinct = pd.factorize(values.ravel())
    labels = as_objects(label.item() if isinstance(label, np.generic) else label for label in distinct)
    return arranged(name, labels, codes.reshape(values.shape))


def own_numbers(name: str, values: FloatArray) -> Coded | None:
    """Return a column in which every row has its own code and number; None if two numbers are equal.

    The levels are not sorted, because sorting them takes several times as long.
    """
    if not pd.Index(values.ravel()).is_unique:  # by hashing, in half the time of sorting
        return None
    return Coded(name, values.ravel(), np.arange(values.size).reshape(values.shape))


def arranged(name: str, distinct: npt.NDArray[Any], codes: IntArray) -> Coded:
    """Return codes into unsorted distinct labels as a column with sorted levels."""
    order = np.array(sorted(range(len(distinct)), key=lambda k: sort_key(distinct[k])), dtype=np.int64)
    if np.array_equal(order, np.arange(len(order))):
        return Coded(name, distinct, codes)
    rank = np.empty(len(order), dtype=codes.dtype)
    rank[order] = np.arange(len(order))
    return Coded(name, distinct[order], rank[codes])


def ranked(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Return the sorted distinct values of numbers (n,) and the rank of each; np.unique takes twice as long."""
    order = np.argsort(values)
    levels = values[order]
    new = levels[1:] != levels[:-1]
    codes = np.empty(len(values), dtype=np.int64)
    if new.all():
        codes[order] = np.arange(len(values))
        return levels, codes
    new = np.append(True, new)
    codes[order] = np.cumsum(new) - 1
    return levels[new], codes


def dense(codes: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return codes without gaps and, for each new code, the old one; no sorting, so fast for many rows."""
    seen = np.zeros(size, dtype=bool)
    seen[codes] = True
    if seen.all():
        return np.asarray(codes, dtype=np.int64), np.arange(size)
    return (np.cumsum(seen) - 1)[codes], np.flatnonzero(seen)


def groups(keys: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return the first line of each distinct combination, sorted by the keys, and the combination of each line.

    Parameters
    ----------
    keys : sequence of ndarray of int, each (R,)

    Returns
    -------
    first : ndarray of int, shape (G,)
    group : ndarray of int, shape (R,)
    """
    key = np.asarray(keys[0], dtype=np.int64)
    size = int(key.max(initial=0)) + 1
    for codes in keys[1:]:
        width = int(codes.max(initial=0)) + 1
        if size > 2**62 // width:  # the product would overflow: number the combinations so far
            if _increasing(key):
                break
            there_codes, key = ranked(key)
            size = len(there_codes)
            if size == len(key):  # all lines are distinct already, so further keys change nothing
                break
        key = key * width + codes
        size *= width
    if _increasing(key):  # lines are sorted and distinct already
        return np.arange(len(key)), np.arange(len(key))
    if size <= max(_DENSE, 4 * len(key)):  # few possible keys: mark those that occur
        there = np.zeros(size, dtype=bool)
        there[key] = True
        there_codes = np.flatnonzero(there)
        group = key if len(there_codes) == size else (np.cumsum(there) - 1)[key]
    else:
        group, there_codes = pd.factorize(key)  # hashing: many rows, few combinations
        order = np.argsort(there_codes)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        group = rank[group]
    first = np.empty(len(there_codes), dtype=np.int64)
    first[group[::-1]] = np.arange(len(key) - 1, -1, -1)  # the value written last is that of the first row
    return first, group


def _increasing(key: IntArray) -> bool:
    return bool(np.all(key[1:] > key[:-1]))


def tallied(
    keys: Sequence[npt.NDArray[Any]], outcome_of: npt.NDArray[Any], weights: FloatArray | None, outcomes: int = 3
) -> tuple[list[IntArray], FloatArray]:
    """Return the distinct combinations of codes, with the counts of each outcome.

    Parameters
    ----------
    keys : sequence of ndarray of int, each (R,), or (R, 2) of both sides
        Codes from 0.
    outcome_of : ndarray of int, shape (R,)
        The outcome, from 0; values of `outcomes` and above are not counted.
    weights : ndarray or None, shape (R,)
        The weight of each row; None means 1.
    outcomes : int
        The number of outcomes, at least 3.

    Returns
    -------
    codes : list of ndarray of int, each (U,), or (U, 2) of both sides
        The combinations that have an outcome, sorted.
    counts : ndarray, shape (U, outcomes)
    """
    columns = [codes for key in keys for codes in (key.T if key.ndim > 1 else key[None])]
    sizes = [int(codes.max(initial=0)) + 1 for codes in columns]
    if 4 * math.prod(sizes) > max(_DENSE, 4 * len(outcome_of)):
        first, group = groups([np.asarray(codes, dtype=np.int64) for codes in columns])
        n, judged = _by_outcome([group], outcome_of, weights, [len(first)], outcomes)
        cells = np.flatnonzero(judged)
        rows = first[cells]
        return [np.take(key, rows, axis=0).astype(np.int64, copy=False) for key in keys], n[cells]
    n, judged = _by_outcome(columns, outcome_of, weights, sizes, outcomes)
    nonempty = np.flatnonzero(judged)
    codes = iter(np.unravel_index(nonempty, sizes))
    return [np.stack([next(codes) for _ in key.T], axis=1) if key.ndim > 1 else next(codes) for key in keys], n[
        nonempty
    ]


def _by_outcome(
    keys: Sequence[npt.NDArray[Any]],
    codes: npt.NDArray[Any],
    weights: FloatArray | None,
    sizes: Sequence[int],
    outcomes: int,
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return counts of outcomes in all possible combinations, (G, K), and which occur, even if with weight 0."""
    size, cells = math.prod(sizes), 1 + max(outcomes - 1, int(codes.max(initial=0)))
    judged = np.zeros(cells * size, dtype=np.int64)
    sums = np.zeros(len(judged) if weights is not None else 0)
    for start, key in _cell_numbers((*keys, codes), (*sizes, cells), max(_CHUNK, len(judged))):
        judged += np.bincount(key, minlength=len(judged))
        if weights is not None:
            sums += np.bincount(key, weights[start : start + len(key)], len(judged))
    table = judged.reshape(size, cells)[:, :outcomes]
    seen = functools.reduce(np.bitwise_or, table.T) > 0
    return np.asarray(table if weights is None else sums.reshape(size, cells)[:, :outcomes], dtype=np.float64), seen


def _cell_numbers(
    columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int], chunk: int
) -> Iterator[tuple[int, IntArray]]:
    """Yield the start of each chunk of rows, and the number of the cell of each row.

    A bincount costs a pass over all cells, so chunks have as many rows as there are cells. Cell numbers are computed in
    shorter blocks, which fit into the processor's cache.
    """
    keys = np.empty(min(chunk, len(columns[0])), dtype=np.int64)
    for start in range(0, len(columns[0]), chunk):
        stop = min(start + chunk, len(columns[0]))
        for first in range(start, stop, _BLOCK):
            rows = slice(first, min(first + _BLOCK, stop))
            block = keys[first - start : rows.stop - start]
            block[:] = columns[0][rows]
            for codes, size in zip(columns[1:], sizes[1:], strict=True):
                block *= size
                block += codes[rows]
        yield start, keys[: stop - start]


def summed(counts: FloatArray, group: IntArray, size: int) -> FloatArray:
    """Return counts (R, K) summed by group, shape (size, K)."""
    return np.column_stack([np.bincount(group, weights=column, minlength=size) for column in counts.T])


def summed_by(group: IntArray, values: FloatArray, size: int | None = None) -> FloatArray:
    """Return values (R,) summed by group, shape (size,); by default up to the largest group number."""
    return np.asarray(np.bincount(group, values, 0 if size is None else size), dtype=np.float64)


def tally(
    by: IntArray, codes: IntArray, weights: FloatArray | None = None, size: int | None = None, outcomes: int = 3
) -> FloatArray:
    """Return the counts of each outcome in each group, shape (size, outcomes).

    Parameters
    ----------
    by, codes : ndarray of int, each (R,)
        Group and outcome, both from 0; rows with a negative group are not counted.
    weights : ndarray, shape (R,), optional
        The weight of each row; by default 1.
    size, outcomes : int
        The number of groups (by default up to the largest group number), and of outcomes.
    """
    size = int(by.max(initial=-1)) + 1 if size is None else size
    there = by >= 0
    if not there.all():
        by, codes, weights = by[there], codes[there], None if weights is None else weights[there]
    sums = np.bincount(outcomes * np.asarray(by, dtype=np.int64) + codes, weights, outcomes * size)
    return sums.reshape(size, outcomes).astype(np.float64)


def same_columns(a: tuple[Coded, ...], b: tuple[Coded, ...]) -> bool:
    """Whether columns are equal in names, kinds and values."""
    return len(a) == len(b) and all(x.same_as(y) for x, y in zip(a, b, strict=True))


def same_clusters(a: ClusterCounts | None, b: ClusterCounts | None) -> bool:
    """Whether clusters and their counts are equal."""
    if a is None or b is None:
        return a is b
    same_rows = np.array_equal(a.rows, b.rows) and np.allclose(a.counts, b.counts, rtol=1e-12, atol=0)
    return same_rows and same_columns(a.columns, b.columns)


def inferred(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return Python values in their common type. Integers with missing values stay integers.

    As floats, two long integers could become equal.
    """
    try:
        return values if values.isna().any() else values.infer_objects()
    except UnicodeEncodeError:  # half a character (surrogate), which is refused where the column is read
        return values


def inferable(values: npt.NDArray[Any]) -> Any:
    """Return labels as a list, from which pandas infers the type; numbers are returned unchanged."""
    return values.tolist() if values.dtype == object else values


def matching(name: str, values: Sequence[Label] | Label, columns: tuple[Coded, ...]) -> npt.NDArray[np.bool_]:
    """Whether each row has one of these values of a column; for `Comparisons.select`."""
    column = next((c for c in columns if c.name == name), None)
    if column is None:
        has = listed(tuple(c.name for c in columns)) or "none"
        raise OptionError(f"no covariate or cluster {name!r}", expected=f"one of {has}")
    wanted = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    levels = column.levels.tolist()
    chosen = [levels.index(v) for v in known(wanted, levels, name)]
    return np.isin(column.codes, chosen)


def is_among(value: object, there: Collection[Any]) -> bool:
    """Whether a value is in a set or among the keys of a mapping; False for lists, arrays and the like."""
    try:
        return value in there
    except TypeError:  # a value without a hash cannot be in a set
        return False


def known(wanted: Sequence[Any], has: Sequence[Any], what: str) -> Sequence[Any]:
    """Return the requested columns; raise if one is missing."""
    if not isinstance(wanted, Iterable):
        raise OptionError(f"{what}={wanted!r}", expected=f"a list of some of {listed(list(has))}")
    there = set(has)
    missing = [w for w in wanted if not is_among(w, there)]
    if missing:
        raise OptionError(f"{what} has no {listed(missing)}", expected=f"some of {listed(list(has))}")
    return wanted
