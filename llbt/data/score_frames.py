"""Scores of systems on instances, read from wide or long frames into one matrix."""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..core.columns import FloatArray, Label, sort_key
from ..errors import JudgmentError, listed
from ..table import counted
from .files import open_source
from .frames import plain
from .sources import as_names, in_memory

_NUMBERING = re.compile(r"(^|[_\s.-])(id|idx|index)$|^unnamed: \d+$", re.IGNORECASE)
_RUN = 8  # so many whole numbers without a gap or a repeat are hardly scores


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of N systems on M instances.

    Attributes
    ----------
    systems : tuple of label, length N
        Sorted, so that no result depends on the order of columns.
    instances : tuple of label, length M
        In the order of the frame.
    values : ndarray, shape (N, M)
        As in the frame; NaN where there is no score.
    covariates : DataFrame, M rows
        What else was kept of the instances.
    notes : tuple of str
    unkept : tuple of str
        The columns of the frame without a role.
    """

    systems: tuple[Label, ...]
    instances: tuple[Label, ...]
    values: FloatArray
    covariates: pd.DataFrame
    notes: tuple[str, ...]
    unkept: tuple[str, ...] = ()


def read_scores(
    frame: object,
    *,
    systems: Sequence[str] | None = None,
    system: str = "system",
    instance: str | None = None,
    score: str = "score",
    covariates: str | Sequence[str] = (),
) -> ScoreMatrix:
    """Return the scores of a frame: long if it has the columns `system` and `score`, else wide.

    Parameters
    ----------
    frame : frame, path or list of records
        Long: one row per score. Wide: one row per instance and one column per system.
    asker : str
        The public function, for messages.
    systems : sequence of str, optional
        Wide: the columns of scores; by default all columns of numbers but `instance` and `covariates`.
    system, score : str
        Long: the columns with the system and its score.
    instance : str, optional
        The column with the instance; by default ``instance`` if there is one, else, in a wide frame, the row.
    covariates : str or sequence of str
        Columns of instances to keep.

    Raises
    ------
    JudgmentError
        For columns that are not there, no or one system, scores that are not finite numbers, an instance (of a system)
        that stands there twice, and a covariate with several values for an instance.
    """
    table = in_memory(open_source(frame))
    _refuse_twice(list(map(str, table.columns)), "the columns")
    kept = as_names(covariates, "covariates")
    said = None if systems is None else as_names(systems, "systems")
    is_long = said is None and ((system, score) != ("system", "score") or {"system", "score"} <= set(table.columns))
    if instance is None and "instance" not in table and not is_long:
        table = table.assign(instance=np.arange(len(table)))
    named = "instance" if instance is None else instance
    values = (system, score) if is_long else said or ()
    _refuse_gone(table, [*values, *kept, *([] if instance is None else [instance])])
    several = [name for name in values if name in (named, *kept)]
    if several:
        raise JudgmentError(
            f"column {several[0]!r} is one of scores or systems and is kept besides, as instance or with "
            "covariates= or clusters=; expected one role each."
        )
    if is_long:
        return _long(table, (system, score), named, kept)
    return _wide(table, said, named, kept)


def _wide(table: pd.DataFrame, systems: Sequence[str] | None, instance: str, kept: tuple[str, ...]) -> ScoreMatrix:
    others = [name for name in table.columns if name not in (instance, *kept)]
    numbered = [name for name in others if _is_number(table[name])]
    counters = [] if systems is not None else _counters(table, numbered)
    chosen = list(systems) if systems is not None else [name for name in numbered if name not in counters]
    if len(chosen) < 2:
        raise JudgmentError(
            f"{counted(len(chosen), 'column')} of scores among {listed(others, 20)}; expected a "
            "column of numbers per system, or a long frame with the columns system and score."
        )
    _refuse_twice(chosen, "systems=")
    _refuse_missing(table, instance)
    labels = [plain(value) for value in table[instance]]
    _refuse_twice(labels, f"column {instance!r}: the instances", "one row each: select one metric first")
    order = sorted(chosen, key=sort_key)
    values = np.vstack([_numbers(table[name], str(name)) for name in order])
    left = [name for name in others if name not in chosen]
    others = [name for name in left if name not in counters]
    notes = [f"columns not used: {listed(others)}"] if others else []
    if counters:
        which = "column" if len(counters) == 1 else "columns"
        notes.append(
            f"{which} {listed(counters)} taken for numbers of rows, not for systems; systems=[…] names systems"
        )
    covariates = table[list(kept)].reset_index(drop=True)
    return ScoreMatrix(tuple(order), tuple(labels), values, covariates, tuple(notes), tuple(map(str, left)))


def _long(table: pd.DataFrame, columns: tuple[str, str], instance: str, kept: tuple[str, ...]) -> ScoreMatrix:
    if instance not in table:
        raise JudgmentError(
            f"a long frame needs a column that says which instance a score belongs to; it has "
            f"{listed(list(table.columns), 20)}. Pass instance=…"
        )
    system, score = columns
    _refuse_missing(table, system, instance)
    rows, found = _labelled(table[system])
    order = sorted(range(len(found)), key=lambda k: sort_key(found[k]))
    if len(order) < 2:
        raise JudgmentError(f"column {system!r} names {counted(len(order), 'system')}; expected at least two.")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    columns_, labels = _labelled(table[instance])
    cell = rank[rows] * len(labels) + columns_
    again = pd.Series(cell).duplicated().to_numpy()
    if again.any():
        row = int(again.argmax())
        raise JudgmentError(
            f"row {row} scores {found[rows[row]]!r} on {labels[columns_[row]]!r} again "
            f"({counted(int(again.sum()), 'such row')}); expected one score each: select one metric first."
        )
    values = np.full(len(order) * len(labels), np.nan)
    values[cell] = _numbers(table[score], score)
    covariates = _per_instance(table, kept, columns_, len(labels))
    systems = tuple(found[k] for k in order)
    left = tuple(str(name) for name in table.columns if name not in (*columns, instance, *kept))
    return ScoreMatrix(systems, tuple(labels), values.reshape(len(order), -1), covariates, (), left)


def _labelled(column: pd.Series) -> tuple[npt.NDArray[np.intp], list[Label]]:
    """Return a column as codes into its distinct plain labels, in order of appearance."""
    try:
        pd.factorize(column)
    except TypeError:  # lists and other values without a hash
        raise JudgmentError(
            f"column {column.name!r} holds values that cannot be told apart; expected labels: text, numbers or dates."
        ) from None
    codes, found = pd.factorize(column.map(plain))
    return codes, [plain(label) for label in found]


def _per_instance(
    table: pd.DataFrame, kept: tuple[str, ...], instance: npt.NDArray[np.intp], size: int
) -> pd.DataFrame:
    """Return the covariates of the instances, which have one value each."""
    first = np.empty(size, dtype=np.int64)
    first[instance[::-1]] = np.arange(len(instance))[::-1]
    for name in kept:
        codes, _ = pd.factorize(table[name])
        odd = codes != codes[first][instance]
        if odd.any():
            row = int(odd.argmax())
            raise JudgmentError(
                f"covariate {name!r} is {table[name].iloc[row]!r} in row {row} and "
                f"{table[name].iloc[first[instance[row]]]!r} before for the same instance; expected one value for each."
            )
    return table[list(kept)].iloc[first].reset_index(drop=True)


def _counters(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the columns of whole numbers that number rows: by their name, or 0, 1, 2, … in any order.

    None where fewer than two columns would be left.
    """
    found = []
    for name in names:
        column = table[name]
        whole = pd.api.types.is_integer_dtype(column) and not column.isna().any()
        values = column.to_numpy() if whole else np.empty(0)
        runs = len(values) >= _RUN and len(set(values.tolist())) == len(values) == values.max() - values.min() + 1
        if whole and (runs or _NUMBERING.search(str(name))):
            found.append(name)
    return found if len(names) - len(found) >= 2 else []


def _is_number(column: pd.Series) -> bool:
    if column.dtype == object:  # records with a missing score are read so
        return bool(column.notna().any()) and _as_floats(column) is not None
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def _as_floats(column: pd.Series) -> FloatArray | None:
    """Return objects as floats, NaN where there is none, or None if some are no numbers."""
    try:
        there = column.notna().to_numpy()
        values = column.to_numpy(dtype=object)
        if not all(isinstance(v, (numbers.Real, Decimal)) and not isinstance(v, bool) for v in values[there]):
            return None
        return np.where(there, values, np.nan).astype(np.float64)
    except ArithmeticError:  # integers beyond all floats, and the signalling NaN of decimals
        return None


def _numbers(column: pd.Series, name: str) -> FloatArray:
    if column.dtype == object:
        found = _as_floats(column)
    elif column.dtype.kind == "c":  # they count as numbers, lest such a column is passed over
        found = None
    else:
        found = column.to_numpy(dtype=np.float64, na_value=np.nan) if _is_number(column) else None
    if found is None:
        raise JudgmentError(f"column {name!r} ({column.dtype}) holds no numbers; expected scores.")
    values: FloatArray = found
    infinite = np.isinf(values)
    if infinite.any():
        raise JudgmentError(
            f"column {name!r}: {counted(int(infinite.sum()), 'infinite score')}, the first at row "
            f"{int(infinite.argmax())}; expected finite numbers, or nothing where there is no score."
        )
    return values


def _refuse_missing(table: pd.DataFrame, *names: str) -> None:
    for name in names:
        missing = table[name].isna().to_numpy()
        if missing.any():
            raise JudgmentError(
                f"column {name!r}: {counted(int(missing.sum()), 'missing value')}, the first at row "
                f"{int(missing.argmax())}; expected a value in every row."
            )


def _refuse_gone(table: pd.DataFrame, names: Sequence[str]) -> None:
    gone = [name for name in names if name not in table]
    if gone:
        raise JudgmentError(f"no column {listed(gone)}; the frame has {listed(list(table.columns), 20)}.")


def _refuse_twice(labels: Sequence[object], where: str, expected: str = "each once") -> None:
    seen = pd.Series(list(labels), dtype=object).duplicated().to_numpy()
    if seen.any():
        label = labels[int(seen.argmax())]
        raise JudgmentError(f"{where}: {label!r} stands there twice ({int(seen.sum())} repeats); expected {expected}.")
