"""Tables of scores as they are handed in, opened; what holds no scores of systems is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..core.columns import refuse_surrogates
from ..core.comparisons import Comparisons
from ..core.judgments import Judgments
from ..core.rankings import Rankings
from ..errors import JudgmentError, kind_of, listed
from ..table import Record, counted
from .column_proposals import side_pairs
from .files import open_source
from .known_formats import has_known_format
from .score_columns import is_score, refuse_twice
from .score_words import ITEM_WORDS, SYSTEM_WORDS, is_called
from .sources import Source, in_memory

_NUMBER = re.compile(r"\s*[<>~≈]?\s*[-+−]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)
_APPRAISE = ("user", "system", "segment", "type", "source", "target", "score", "document", "complete")
_APPRAISE_END = ("spans", "start", "end")
_PAIRS = (("winner", "loser"), ("won", "lost"), ("chosen", "rejected"), ("better", "worse"), ("white", "black"))


def score_table(data: object) -> pd.DataFrame:
    """Return a frame, path or list of records as a frame in memory, for which it is certain that it may hold scores.

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


def refuse_bad_cells(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise for a column of text of which half of the cells or more are numbers: it holds scores, and other things."""
    for name in names:
        column = table[name]
        if is_score(column) or column.dtype.kind in "bcM":
            continue
        there = column.notna().to_numpy()
        cells = [str(cell) for cell in column[there]]
        like = [_NUMBER.fullmatch(cell) is not None for cell in cells]
        if not cells or 2 * sum(like) < len(cells):
            continue
        rows = np.flatnonzero(there)
        bad = [(row, cell) for row, cell in zip(rows, cells, strict=True) if not _is_float(cell)]
        row, cell = bad[0] if bad else (rows[0], cells[0])
        many = f"{counted(len(bad), 'cell')} of {len(cells)} no number" if bad else "numbers as text"
        raise JudgmentError(
            f"column {str(name)!r} holds {many}, the first {cell!r} in row {int(row)}",
            f"Pass ignore=[{name!r}] to leave the column out, or leave such cells empty: "
            f"frame[{name!r}] = pandas.to_numeric(frame[{name!r}], errors='coerce').",
            expected="numbers, or nothing where there is no score",
        )


def _is_float(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _text(name: object) -> object:
    return str(name) if isinstance(name, (int, np.integer)) and not isinstance(name, bool) else name


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose index is a column where it names rows; raise where it does so without a name of its own."""
    index = frame.index
    if index.nlevels > 1 or index.dtype.kind in "biufcM" or isinstance(index, pd.RangeIndex) or not len(frame):
        named = all(isinstance(name, str) and name not in frame.columns for name in index.names)
        said = named and all(is_called(name, (*SYSTEM_WORDS, *ITEM_WORDS)) for name in index.names)
        return frame.reset_index() if said else frame
    if isinstance(index.name, str):
        return frame if index.name in frame.columns else frame.reset_index()
    numbers = [name for name in frame if is_score(frame[name])]
    others = [name for name in frame if name not in numbers]
    if len(numbers) < 2 or others or not index.is_unique or is_called(frame.columns.name, SYSTEM_WORDS):
        return frame
    raise JudgmentError(
        f"the index has a label for each row ({listed(list(index), 3)}), but nothing says of what",
        "Name it: frame.rename_axis('system') where rows are systems, frame.rename_axis('item') where columns are.",
    )


def _refuse_others(data: object) -> None:
    """Raise for objects of llbt that are no scores."""
    remedies: list[tuple[type, str]] = [
        (Judgments, "Fit them with llbt.fit('object', llbt.from_judgments(judgments))."),
        (
            Comparisons,
            "Fit them with llbt.fit('object', comparisons).",
        ),
        (Rankings, "Fit them with llbt.fit_rankings('object', rankings)."),
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
    said = f"columns {pair[0]!r} and {pair[1]!r} name two objects a row" if pair else "the columns are a known format's"
    remedy = "Fit them with llbt.fit('object', llbt.from_judgments(frame))."
    wins = side_pairs([name for name in table if isinstance(name, str) and is_score(table[name])])
    if pair and wins and not has_known_format(source):
        remedy = f"Count them with llbt.from_counts(frame, objects={pair!r}, wins={wins[0]!r})."
    raise JudgmentError(f"the table holds judgments or counts, not scores of systems: {said}", remedy)


def _pair_of_objects(table: pd.DataFrame) -> tuple[str, str] | None:
    """Return two columns of text that hold the same objects by name and value."""
    texts = [name for name in table if isinstance(name, str) and table[name].dtype.kind not in "biufcM"]
    lowered = {name.casefold(): name for name in texts}
    named = [(lowered[i], lowered[j]) for i, j in _PAIRS if i in lowered and j in lowered]
    for i, j in (*named, *side_pairs(texts)):
        if set(map(str, table[i].dropna())) & set(map(str, table[j].dropna())):
            return i, j
    return None


def _refuse_headless(table: pd.DataFrame, what: str) -> None:
    """Raise for a table whose names look like a row of it: a text in its own column, and a number."""
    names = [name for name in table if isinstance(name, str)]
    numbers = [name for name in names if _is_float(name)]
    texts = [name for name in names if not _is_float(name)]
    own = [name for name in texts if table[name].dtype.kind not in "biufcM" and name in set(map(str, table[name]))]
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
