"""Tables of scores, opened and read as one matrix of systems and items; other data are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import Record, counted
from ..core.columns import FloatArray, Label, arranged, as_objects, refuse_surrogates, sort_key
from ..core.comparisons import Comparisons
from ..core.judgments import Judgments
from ..core.rankings import Rankings
from ..errors import JudgmentError, kind_of, listed, safe_str
from .column_proposals import side_pairs
from .files import open_source
from .frames import plain
from .known_formats import has_known_format
from .score_columns import (
    ITEM_WORDS,
    SYSTEM_WORDS,
    is_called,
    is_float,
    is_score,
    labelled,
    refuse_missing,
    refuse_twice,
    scores_of,
)
from .score_layouts import NamedColumns, ScoreLayout, layout_of
from .sources import Source, in_memory

Places = npt.NDArray[np.intp]
_ROW = "instance"  # how the number of a row is called where no column names items
_APPRAISE = ("user", "system", "segment", "type", "source", "target", "score", "document", "complete")
_APPRAISE_END = ("spans", "start", "end")
_PAIRS = (("winner", "loser"), ("won", "lost"), ("chosen", "rejected"), ("better", "worse"), ("white", "black"))


def score_table(data: object) -> pd.DataFrame:
    """Return a frame, path or list of records as a frame in memory; data that cannot be scores are refused.

    Columns that are called by whole numbers keep these names, and a named index is a column.

    Raises
    ------
    JudgmentError
        For judgments, counts, rankings and fits, and for a table whose first line is no header.
    """
    _refuse_others(data)
    if not isinstance(data, pd.DataFrame):
        source = open_source(data)
        table = in_memory(source)
    else:
        frame = _with_index(data)
        names = list(frame.columns)
        refuse_surrogates("the columns of the frame", names)
        source = open_source(frame.set_axis(list(map(_text, names)), axis=1))
        table = in_memory(source)
        if not all(isinstance(name, str) for name in names):
            table.columns = pd.Index(names, dtype=object)
    refuse_twice(list(map(str, table.columns)), "the columns")
    _refuse_judgments(table, source)
    _refuse_headless(table, source.what)
    return table


def _text(name: object) -> object:
    return str(name) if isinstance(name, (int, np.integer)) and not isinstance(name, bool) else name


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose index is a column where it names rows; raise where it does so without a name of its own."""
    index = frame.index
    if index.nlevels > 1 or index.dtype.kind in "biufcM" or isinstance(index, pd.RangeIndex) or not len(frame):
        named = all(isinstance(name, str) and name not in frame.columns for name in index.names)
        is_named = named and all(is_called(name, (*SYSTEM_WORDS, *ITEM_WORDS)) for name in index.names)
        return frame.reset_index() if is_named else frame
    if isinstance(index.name, str):
        return frame if index.name in frame.columns else frame.reset_index()
    numbers = [name for name in frame if is_score(frame[name])]
    others = [name for name in frame if name not in numbers]
    if len(numbers) < 2 or others or not index.is_unique or is_called(frame.columns.name, SYSTEM_WORDS):
        return frame
    raise JudgmentError(
        f"the index has a label for each row ({listed(list(index), 3)}), but nothing says what they name",
        "Name it: frame.rename_axis('system') where rows are systems, frame.rename_axis('item') where columns are.",
    )


def _refuse_others(data: object) -> None:
    """Raise for objects of llbt that are not scores."""
    remedies: list[tuple[type, str]] = [
        (Judgments, "Fit them with llbt.fit('object', llbt.from_judgments(judgments))."),
        (
            Comparisons,
            "Fit them with llbt.fit('object', comparisons).",
        ),
        (Rankings, "Fit them with llbt.fit('object', rankings)."),
    ]
    for kind, remedy in remedies:
        if isinstance(data, kind):
            raise JudgmentError(f"the data are {kind.__name__}, not scores of systems", remedy)
    if isinstance(data, Record):
        raise JudgmentError(
            f"the data are {kind_of(data)}, not scores of systems", expected="a frame, path or list of records"
        )


def _refuse_judgments(table: pd.DataFrame, source: Source) -> None:
    """Raise for a table of judgments or counts."""
    pair = _pair_of_objects(table)
    only_numbers = all(column.dtype.kind in "biufcM" for _, column in table.items())
    if pair is None and (only_numbers or not has_known_format(source)):
        return  # numbers alone name no objects
    fault = (
        f"columns {pair[0]!r} and {pair[1]!r} name two objects a row" if pair else "the columns are a known format's"
    )
    remedy = "Fit them with llbt.fit('object', llbt.from_judgments(frame))."
    wins = side_pairs([name for name in table if isinstance(name, str) and is_score(table[name])])
    if pair and wins and not has_known_format(source):
        remedy = f"Count them with llbt.from_counts(frame, objects={pair!r}, wins={wins[0]!r})."
    raise JudgmentError(f"the table holds judgments or counts, not scores of systems: {fault}", remedy)


def _pair_of_objects(table: pd.DataFrame) -> tuple[str, str] | None:
    """Return two columns of text that hold the same objects by name and value."""
    texts = [name for name in table if isinstance(name, str) and table[name].dtype.kind not in "biufcM"]
    lowered = {name.casefold(): name for name in texts}
    named = [(lowered[i], lowered[j]) for i, j in _PAIRS if i in lowered and j in lowered]
    for i, j in (*named, *side_pairs(texts)):
        if set(map(safe_str, table[i].dropna())) & set(map(safe_str, table[j].dropna())):
            return i, j
    return None


def _refuse_headless(table: pd.DataFrame, what: str) -> None:
    """Raise for a table whose names look like a row of it: a text in its own column, and a number."""
    names = [name for name in table if isinstance(name, str)]
    numbers = [name for name in names if is_float(name)]
    texts = [name for name in names if not is_float(name)]
    own = [name for name in texts if table[name].dtype.kind not in "biufcM" and name in set(map(safe_str, table[name]))]
    shares = [name for name in numbers if "." in name and is_score(table[name]) and _is_fractional(table[name])]
    if not numbers or not (own or (shares and len(numbers) == len(names))):
        return
    width = len(table.columns)
    appraise = {"TGT", "BAD", "CHK", "REF"}
    if 9 <= width <= 12 and set(map(str, (table.columns[3], *table.iloc[:, 3].unique()))) <= appraise:
        given = [*_APPRAISE, *_APPRAISE_END][:width]
        remedy = (
            f"It looks like an export of Appraise: frame = pandas.read_csv({what!r}, header=None, names={given!r}); "
            "frame = frame[frame['type'] != 'BAD']; then pass system='system', item=['document', 'segment'], "
            "score='score'."
        )
    else:
        remedy = f"Name its columns: frame = pandas.read_csv({what!r}, header=None, names=[…]), {width} names."
    raise JudgmentError(
        f"the table has no header: columns {listed(names, 12)}", remedy, expected="names in the first line"
    )


def _is_fractional(column: pd.Series) -> bool:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = values[np.isfinite(values)]
    return bool(len(values) and (values != np.floor(values)).any())


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
    """Return the scores of a table in the layout that its columns show."""
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
            f"column {layout.system!r}: {systems[rows[at]]!r} occurs in several rows, again in row {at}",
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
    """Return the system of each row, as a place among the sorted systems, and the sorted systems."""
    refuse_missing(table, str(layout.system), *layout.item)
    codes, labels = labelled(table[layout.system])
    column = arranged(str(layout.system), as_objects(labels), codes)
    return column.codes, tuple(column.levels.tolist())


def _keys(item: Sequence[str], rater: str | None) -> tuple[str, ...]:
    return (*item, *([rater] if rater else []))


def _instances(table: pd.DataFrame, keys: Sequence[str]) -> tuple[str, pd.DataFrame, Places, tuple[Label, ...]]:
    """Return the name of the instance column, the columns with it, the instance of each row, and their labels."""
    if not keys:
        rows = np.arange(len(table))
        return _ROW, table.assign(**{_ROW: rows}), rows, tuple(rows.tolist())
    refuse_missing(table, *keys)
    columns = with_items(table, keys)
    name = " / ".join(keys)
    place, labels = labelled(columns[name])
    return name, columns, place, tuple(labels)


def with_items(columns: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return columns; if several name items together, a further column joins these."""
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
        f"row {row} scores {system!r} on {item!r} again ({counted(many, 'repeated row')})",
        remedy,
        expected="one score each: select one metric first",
    )
