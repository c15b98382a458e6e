"""Scores of systems on instances, read from wide or long frames into one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..columns import FloatArray, Label, sort_key
from ..errors import JudgmentError, listed
from ..table import counted
from .files import open_source
from .frames import plain
from .sources import as_names
from .standard import in_memory


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
    """

    systems: tuple[Label, ...]
    instances: tuple[Label, ...]
    values: FloatArray
    covariates: pd.DataFrame
    notes: tuple[str, ...]


def read_scores(
    frame: object,
    asker: str,
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
    _refuse_twice(list(map(str, table.columns)), f"{asker}: the columns")
    kept = as_names(covariates, "covariates")
    named = instance if instance is not None else ("instance" if "instance" in table else None)
    _refuse_gone(asker, table, [*kept, *([] if named is None else [named]), *(systems or ())])
    if systems is None and system in table and score in table:
        return _long(table, asker, (system, score), named, kept)
    return _wide(table, asker, systems, named, kept)


def _wide(
    table: pd.DataFrame, asker: str, systems: Sequence[str] | None, instance: str | None, kept: tuple[str, ...]
) -> ScoreMatrix:
    others = [name for name in table.columns if name not in (instance, *kept)]
    chosen = list(systems) if systems is not None else [name for name in others if _is_number(table[name])]
    if len(chosen) < 2:
        raise JudgmentError(
            f"{asker}: {counted(len(chosen), 'column')} of scores among {listed(list(table.columns), 20)}; expected a "
            "column of numbers per system, or a long frame with the columns system and score."
        )
    _refuse_twice(chosen, f"{asker}: systems=")
    labels = [plain(value) for value in (table[instance] if instance is not None else range(len(table)))]
    _refuse_twice(labels, f"{asker}: column {instance!r}: the instances", "one row each: select one metric first")
    order = sorted(chosen, key=sort_key)
    values = np.vstack([_numbers(table[name], asker, str(name)) for name in order])
    left = [name for name in others if name not in chosen]
    notes = (f"columns that are no scores: {listed(left, 20)}",) if left else ()
    return ScoreMatrix(tuple(order), tuple(labels), values, table[list(kept)].reset_index(drop=True), notes)


def _long(
    table: pd.DataFrame, asker: str, columns: tuple[str, str], instance: str | None, kept: tuple[str, ...]
) -> ScoreMatrix:
    if instance is None:
        raise JudgmentError(
            f"{asker}: a long frame needs a column that says which instance a score belongs to; it has "
            f"{listed(list(table.columns), 20)}. Pass instance=…"
        )
    system, score = columns
    for name in (system, instance):
        missing = table[name].isna().to_numpy()
        if missing.any():
            raise JudgmentError(
                f"{asker}: column {name!r}: {counted(int(missing.sum()), 'missing value')}, the first at row "
                f"{int(missing.argmax())}; expected a value in every row."
            )
    rows, found = pd.factorize(table[system].map(plain))
    order = sorted(range(len(found)), key=lambda k: sort_key(found[k]))
    if len(order) < 2:
        raise JudgmentError(f"{asker}: column {system!r} names {counted(len(order), 'system')}; expected at least two.")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    columns_, labels = pd.factorize(table[instance].map(plain))
    cell = rank[rows] * len(labels) + columns_
    again = pd.Series(cell).duplicated().to_numpy()
    if again.any():
        row = int(again.argmax())
        raise JudgmentError(
            f"{asker}: row {row} scores {found[rows[row]]!r} on {plain(labels[columns_[row]])!r} again "
            f"({counted(int(again.sum()), 'such row')}); expected one score each: select one metric first."
        )
    values = np.full(len(order) * len(labels), np.nan)
    values[cell] = _numbers(table[score], asker, score)
    covariates = _per_instance(table, kept, columns_, len(labels), asker)
    systems = tuple(found[k] for k in order)
    return ScoreMatrix(systems, tuple(labels), values.reshape(len(order), -1), covariates, ())


def _per_instance(
    table: pd.DataFrame, kept: tuple[str, ...], instance: npt.NDArray[np.intp], size: int, asker: str
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
                f"{asker}: covariate {name!r} is {table[name].iloc[row]!r} in row {row} and "
                f"{table[name].iloc[first[instance[row]]]!r} before for the same instance; expected one value for each."
            )
    return table[list(kept)].iloc[first].reset_index(drop=True)


def _is_number(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def _numbers(column: pd.Series, asker: str, name: str) -> FloatArray:
    if not _is_number(column):
        raise JudgmentError(f"{asker}: column {name!r} ({column.dtype}) holds no numbers; expected scores.")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    infinite = np.isinf(values)
    if infinite.any():
        raise JudgmentError(
            f"{asker}: column {name!r}: {counted(int(infinite.sum()), 'infinite score')}, the first at row "
            f"{int(infinite.argmax())}; expected finite numbers, or nothing where there is no score."
        )
    return values


def _refuse_gone(asker: str, table: pd.DataFrame, names: Sequence[str]) -> None:
    gone = [name for name in names if name not in table]
    if gone:
        raise JudgmentError(f"{asker}: no column {listed(gone)}; the frame has {listed(list(table.columns), 20)}.")


def _refuse_twice(labels: Sequence[object], where: str, expected: str = "each once") -> None:
    seen = pd.Series(list(labels), dtype=object).duplicated().to_numpy()
    if seen.any():
        label = labels[int(seen.argmax())]
        raise JudgmentError(f"{where}: {label!r} stands there twice ({int(seen.sum())} repeats); expected {expected}.")
