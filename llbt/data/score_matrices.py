"""Scores of a table in a known layout as one matrix of systems and items; raters and runs averaged within items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..core.columns import FloatArray, Label, sort_key
from ..errors import JudgmentError
from ..table import counted
from .frames import plain
from .score_columns import labelled, refuse_missing, refuse_twice, scores_of
from .score_layouts import NamedColumns, ScoreLayout, layout_of

Places = npt.NDArray[np.intp]
_ROW = "instance"  # how the number of a row is called where no column names items


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of N systems on M instances; the attributes are those of `SystemScores`."""

    systems: tuple[Label, ...]
    instances: tuple[Label, ...]
    values: FloatArray
    instance: str
    columns: pd.DataFrame
    place: Places
    unused: tuple[str, ...]
    notes: tuple[str, ...]
    rater: str
    items: tuple[str, ...]


def read_matrix(table: pd.DataFrame, asked: NamedColumns) -> ScoreMatrix:
    """Return the scores of a table in the layout that its columns say."""
    layout = layout_of(table, asked)
    if layout.system is None:
        return wide_matrix(table, layout, asked)
    return _long(table, layout, asked) if len(layout.scores) == 1 else _systems_in_rows(table, layout, asked)


def wide_matrix(table: pd.DataFrame, layout: ScoreLayout, asked: NamedColumns) -> ScoreMatrix:
    """Return the scores of a table with a column for each system."""
    keys = _keys(layout.item, asked.rater if layout.item else None)
    name, columns, place, labels = _instances(table, keys)
    if len(labels) < len(table) and not layout.averaged:
        refuse_twice(
            [labels[k] for k in place], f"column {name!r}: the instances", "one row each: select one metric first"
        )
    order = sorted(layout.scores, key=sort_key)
    values = np.vstack([scores_of(table[column], str(column)) for column in order])
    if len(labels) < len(table):
        values = pd.DataFrame(values.T).groupby(place, sort=True).mean().to_numpy().T
    return ScoreMatrix(
        tuple(plain(column) for column in order),
        labels,
        values,
        name,
        columns[[column for column in columns if column not in layout.scores]],
        place,
        _unused(table, asked, (*layout.scores, *layout.numbering, *keys, *layout.averaged)),
        (*layout.notes, *_average_note(table, layout)),
        asked.rater or "",
        layout.item or (name,),
    )


def _long(table: pd.DataFrame, layout: ScoreLayout, asked: NamedColumns) -> ScoreMatrix:
    """Return the scores of a table with a row for each system and item, and perhaps rater or run."""
    (score,) = layout.scores
    rows, systems = _sorted_systems(table, layout)
    keys = _keys(layout.item, asked.rater)
    name, columns, place, labels = _instances(table, keys)
    cell = rows * len(labels) + place
    again = pd.Series(cell).duplicated().to_numpy()
    if again.any() and not layout.averaged:
        at = int(again.argmax())
        _refuse_again(table, layout, at, int(again.sum()), systems[rows[at]], labels[place[at]])
    scored = scores_of(table[score], score)
    there = ~np.isnan(scored)
    values = np.full(len(systems) * len(labels), np.nan)
    if again.any():
        n = np.bincount(cell[there], minlength=len(values))
        values[n > 0] = np.bincount(cell[there], scored[there], len(values))[n > 0] / n[n > 0]
    else:
        values[cell] = scored
    return ScoreMatrix(
        systems,
        labels,
        values.reshape(len(systems), -1),
        name,
        columns[[column for column in columns if column not in (layout.system, score)]],
        place,
        _unused(table, asked, (str(layout.system), score, *keys, *layout.averaged)),
        (*layout.notes, *_average_note(table, layout)),
        asked.rater or "",
        layout.item,
    )


def _systems_in_rows(table: pd.DataFrame, layout: ScoreLayout, asked: NamedColumns) -> ScoreMatrix:
    """Return the scores of a table with a row for each system and a column for each item."""
    rows, systems = _sorted_systems(table, layout)
    if len(systems) < len(table) and not layout.averaged:
        at = int(pd.Series(rows).duplicated().argmax())
        raise JudgmentError(
            f"column {layout.system!r}: {systems[rows[at]]!r} stands in several rows, again in row {at}",
            expected="a row for each system",
        )
    values = np.vstack([scores_of(table[column], str(column)) for column in layout.scores]).T
    means = pd.DataFrame(values).groupby(rows, sort=True).mean().to_numpy()
    labels = tuple(plain(column) for column in layout.scores)
    used = (str(layout.system), *layout.scores, *layout.numbering, *layout.averaged)
    return ScoreMatrix(
        systems,
        labels,
        means,
        _ROW,
        pd.DataFrame({_ROW: labels}),
        np.arange(len(labels)),
        _unused(table, asked, used),
        (*layout.notes, *_average_note(table, layout)),
        "",
        (_ROW,),
    )


def _sorted_systems(table: pd.DataFrame, layout: ScoreLayout) -> tuple[Places, tuple[Label, ...]]:
    """Return the system of each row, as a place among the sorted systems, and these."""
    refuse_missing(table, str(layout.system), *layout.item)
    codes, found = labelled(table[layout.system])
    order = sorted(range(len(found)), key=lambda k: sort_key(found[k]))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank[codes], tuple(found[k] for k in order)


def _keys(item: Sequence[str], rater: str | None) -> tuple[str, ...]:
    return (*item, *([rater] if rater else []))


def _instances(table: pd.DataFrame, keys: Sequence[str]) -> tuple[str, pd.DataFrame, Places, tuple[Label, ...]]:
    """Return what instances are called, the columns with it, the instance of each row, and their labels."""
    if not keys:
        rows = np.arange(len(table))
        return _ROW, table.assign(**{_ROW: rows}), rows, tuple(rows.tolist())
    refuse_missing(table, *keys)
    columns = with_items(table, keys)
    name = " / ".join(keys)
    place, labels = labelled(columns[name])
    return name, columns, place, tuple(labels)


def with_items(columns: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return columns with one more that joins those that name items together, where there are several."""
    if len(keys) == 1:
        return columns
    labels = [item_label(row) for row in columns[list(keys)].itertuples(index=False)]
    return columns.assign(**{" / ".join(keys): labels})


def item_label(values: Sequence[Any]) -> Label:
    """Return the label of an item that several columns name together."""
    parts = [plain(value) for value in values]
    return parts[0] if len(parts) == 1 else " / ".join(str(part).replace("/", "//") for part in parts)


def _unused(table: pd.DataFrame, asked: NamedColumns, used: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(name) for name in table.columns if name not in (*used, *asked.ignore, *asked.others))


def _average_note(table: pd.DataFrame, layout: ScoreLayout) -> tuple[str, ...]:
    """Return what was averaged: several rows of one system and item, by rater or run."""
    if not layout.averaged:
        return ()
    which = " and ".join(f"{name!r} ({table[name].nunique():,})" for name in layout.averaged)
    return (f"{counted(len(table), 'row')} averaged over {which} within system and item",)


def _refuse_again(table: pd.DataFrame, layout: ScoreLayout, row: int, many: int, system: Label, item: Label) -> None:
    """Raise for a system that is scored twice on an item, with the column that tells the rows apart, if one does."""
    keys = [str(layout.system), *layout.item]
    rest = [name for name in table.columns if name not in (*keys, *layout.scores)]
    apart = [name for name in rest if not table[[*keys, name]].duplicated().any() and not table[name].is_unique]
    remedy = ""
    if apart:
        name, value = apart[0], plain(table[apart[0]].iloc[row])
        remedy = (
            f"Column {name!r} tells them apart: select one of its values, frame = frame[frame[{name!r}] == {value!r}], "
            f"or pass item={[*layout.item, name]!r}."
        )
    raise JudgmentError(
        f"row {row} scores {system!r} on {item!r} again ({counted(many, 'such row')})",
        remedy,
        expected="one score each: select one metric first",
    )
