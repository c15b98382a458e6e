"""Columns of scores, by their names and their values: labels, numbers, and columns that only number the rows."""

from __future__ import annotations

import numbers
import re
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..core.columns import FloatArray, Label, refuse_surrogates
from ..errors import JudgmentError, listed, safe_str
from .column_values import spelled
from .frames import plain

SYSTEM_WORDS = (
    *("system", "model", "agent", "method", "submission", "approach", "participant", "team", "sys", "summarizer"),
    *("llm", "checkpoint", "chatbot", "assistant", "engine", "run"),
)
ITEM_WORDS = (
    *("instance", "item", "question", "prompt", "doc", "document", "qid", "sample", "example", "task", "problem"),
    *("segment", "seg", "sentence", "query", "input", "case", "idx", "index", "id", "uid", "passage", "topic"),
)
RATER_WORDS = (
    *("rater", "annotator", "judge", "worker", "assessor", "evaluator", "grader", "coder", "scorer", "reviewer"),
    *("labeler", "user"),
)
RUN_WORDS = ("seed", "epoch", "run", "trial", "rep", "repeat", "repetition", "replicate", "fold", "attempt")
SCORE_WORDS = ("score", "accuracy", "acc", "rating", "correct", "iscorrect", "exactmatch", "value", "reward", "grade")
TOTAL_WORDS = ("average", "avg", "mean", "overall", "total", "macroavg", "microavg", "rank", "place")
_BESIDE_WORDS = (
    *("turn", "round", "length", "len", "ntokens", "numtokens", "tokens", "time", "timestamp", "tstamp", "date"),
    *("duration", "cost", "price", "temperature", "params", "nparams", "parameters", "year", "order", "position"),
)
_BESIDE = re.compile(r"^latency|_ms$", re.IGNORECASE)
_ROW_NUMBER = re.compile(r"(^|[_\s.-])(id|idx|index)$|^unnamed: \d+$", re.IGNORECASE)
_SUFFIXES = ("", "id", "idx", "name", "no", "number", "nr", "hash", "key")
_RUN = 8  # so many whole numbers without a gap or a repeat are hardly scores
_NUMBER = re.compile(r"\s*[<>~≈]?\s*[-+−]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)


def is_called(name: object, words: Collection[str]) -> bool:
    """Whether the name of a column is one of the words, alone or with id or name."""
    return _goes_by(spelled(name), words)


def _goes_by(name_words: str, words: Collection[str]) -> bool:
    return any(name_words.startswith(word) and name_words[len(word) :] in _SUFFIXES for word in words)


def called(names: Iterable[str], words: Collection[str]) -> list[str]:
    """Return the columns that are called by one of the words, in the order of the words."""
    known = [(name, spelled(name)) for name in names]
    columns = [name for word in words for name, words_of_name in known if _goes_by(words_of_name, (word,))]
    return list(dict.fromkeys(columns))


def is_beside(name: object) -> bool:
    """Whether a column has a usual name of an item, a rater, a run, a length or a time."""
    words = (*ITEM_WORDS, *RATER_WORDS, *RUN_WORDS, *_BESIDE_WORDS)
    return is_called(name, words) or bool(_BESIDE.search(str(name))) or numbers_rows(name)


def numbers_rows(name: object) -> bool:
    """Whether a column has a usual name of row numbers: id, idx, index, …_id."""
    return bool(_ROW_NUMBER.search(str(name)))


def labelled(column: pd.Series) -> tuple[npt.NDArray[np.intp], list[Label]]:
    """Return a column as codes into its distinct plain labels, in order of appearance."""
    try:
        codes, distinct = pd.factorize(column)
    except TypeError:  # lists and other values without a hash
        raise JudgmentError(
            f"column {column.name!r} holds values that cannot be told apart",
            expected="labels: text, numbers or dates",
        ) from None
    refuse_surrogates(f"column {column.name!r}", distinct)
    places, labels = pd.factorize(pd.Series([plain(value) for value in distinct], dtype=object))
    return np.where(codes < 0, -1, places[codes]) if len(places) else codes, [plain(label) for label in labels]


def counters(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the columns of whole numbers that number rows: 0, 1, 2, … in any order.

    None where fewer than two columns would be left.
    """
    counters_ = []
    for name in names:
        column = table[name]
        if len(column) < _RUN or not pd.api.types.is_integer_dtype(column) or column.isna().any():
            continue
        values = column.to_numpy()
        if len(set(values.tolist())) == len(values) == values.max() - values.min() + 1:
            counters_.append(name)
    return counters_ if len(names) - len(counters_) >= 2 else []


def is_score(column: pd.Series) -> bool:
    """Whether a column holds numbers; True and False are not numbers."""
    if column.dtype == object:  # records with a missing score are read so
        return bool(column.notna().any()) and _as_floats(column) is not None
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def _as_floats(column: pd.Series) -> FloatArray | None:
    """Return objects as floats, NaN for missing ones, or None if some are not numbers."""
    try:
        there = column.notna().to_numpy()
        values = column.to_numpy(dtype=object)
        if not all(isinstance(v, (numbers.Real, Decimal)) and not isinstance(v, bool) for v in values[there]):
            return None
        return np.where(there, values, np.nan).astype(np.float64)
    except ArithmeticError:  # integers beyond all floats, and the signalling NaN of decimals
        return None


def scores_of(column: pd.Series, name: str) -> FloatArray:
    """Return a column as floats, NaN for missing values; raise for values that are not finite numbers."""
    if column.dtype == object:
        scores = _as_floats(column)
    elif column.dtype.kind == "c":  # they count as numbers, lest such a column is passed over
        scores = None
    else:
        flags = pd.api.types.is_bool_dtype(column)  # of a column that was asked for, or is called a score
        scores = column.to_numpy(dtype=np.float64, na_value=np.nan) if is_score(column) or flags else None
    if scores is None:
        raise JudgmentError(f"column {name!r} ({column.dtype}) holds no numbers", expected="scores")
    values: FloatArray = scores
    infinite = np.isinf(values)
    if infinite.any():
        raise JudgmentError(
            f"column {name!r}: {counted(int(infinite.sum()), 'infinite score')}, the first at row "
            f"{int(infinite.argmax())}",
            expected="finite numbers, or nothing where there is no score",
        )
    return values


def refuse_missing(table: pd.DataFrame, *names: str) -> None:
    """Raise for columns without a value in some row."""
    for name in names:
        missing = table[name].isna().to_numpy()
        if missing.any():
            raise JudgmentError(
                f"column {name!r}: {counted(int(missing.sum()), 'missing value')}, the first at row "
                f"{int(missing.argmax())}",
                expected="a value in every row",
            )


def refuse_gone(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise for missing columns."""
    gone = [name for name in names if name not in table]
    if gone:
        raise JudgmentError(f"no column {listed(gone)}", expected=f"some of {listed(list(table.columns), 20)}")


def refuse_twice(labels: Sequence[object], where: str, expected: str = "each once") -> None:
    """Raise for labels that occur twice."""
    seen = pd.Series(list(labels), dtype=object).duplicated().to_numpy()
    if seen.any():
        label = labels[int(seen.argmax())]
        raise JudgmentError(
            f"{where}: {label!r} occurs twice ({counted(int(seen.sum()), 'repeat')})", expected=expected
        )


def refuse_bad_cells(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise for a column of text if half of its cells or more are numbers: it holds scores and other values."""
    for name in names:
        column = table[name]
        if is_score(column) or column.dtype.kind in "bcM":
            continue
        there = column.notna().to_numpy()
        cells = [safe_str(cell) for cell in column[there]]
        like = [_NUMBER.fullmatch(cell) is not None for cell in cells]
        if not cells or 2 * sum(like) < len(cells):
            continue
        rows = np.flatnonzero(there)
        bad = [(row, cell) for row, cell in zip(rows, cells, strict=True) if not is_float(cell)]
        row, cell = bad[0] if bad else (rows[0], cells[0])
        many = f"{counted(len(bad), 'cell')} of {len(cells)} no number" if bad else "numbers as text"
        raise JudgmentError(
            f"column {str(name)!r} holds {many}, the first {cell!r} in row {int(row)}",
            f"Pass ignore=[{name!r}] to leave the column out, or leave these cells empty: "
            f"frame[{name!r}] = pandas.to_numeric(frame[{name!r}], errors='coerce').",
            expected="numbers, or nothing where there is no score",
        )


def is_float(cell: str) -> bool:
    """Whether a text spells a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
