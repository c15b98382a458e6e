"""Columns of scores, read into numpy: labels, numbers, and columns that only number the rows."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..core.columns import FloatArray, Label, refuse_surrogates
from ..errors import JudgmentError, listed
from ..table import counted
from .frames import plain

_RUN = 8  # so many whole numbers without a gap or a repeat are hardly scores


def labelled(column: pd.Series) -> tuple[npt.NDArray[np.intp], list[Label]]:
    """Return a column as codes into its distinct plain labels, in order of appearance."""
    try:
        distinct = pd.factorize(column)[1]
    except TypeError:  # lists and other values without a hash
        raise JudgmentError(
            f"column {column.name!r} holds values that cannot be told apart",
            expected="labels: text, numbers or dates",
        ) from None
    refuse_surrogates(f"column {column.name!r}", distinct)
    codes, found = pd.factorize(column.map(plain))
    return codes, [plain(label) for label in found]


def counters(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the columns of whole numbers that number rows: 0, 1, 2, … in any order.

    None where fewer than two columns would be left.
    """
    found = []
    for name in names:
        column = table[name]
        if len(column) < _RUN or not pd.api.types.is_integer_dtype(column) or column.isna().any():
            continue
        values = column.to_numpy()
        if len(set(values.tolist())) == len(values) == values.max() - values.min() + 1:
            found.append(name)
    return found if len(names) - len(found) >= 2 else []


def is_score(column: pd.Series) -> bool:
    """Whether a column holds numbers, True and False being none."""
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


def scores_of(column: pd.Series, name: str) -> FloatArray:
    """Return a column as floats, NaN where there is none; raise for what is no finite number."""
    if column.dtype == object:
        found = _as_floats(column)
    elif column.dtype.kind == "c":  # they count as numbers, lest such a column is passed over
        found = None
    else:
        flags = pd.api.types.is_bool_dtype(column)  # of a column that was asked for, or is called a score
        found = column.to_numpy(dtype=np.float64, na_value=np.nan) if is_score(column) or flags else None
    if found is None:
        raise JudgmentError(f"column {name!r} ({column.dtype}) holds no numbers", expected="scores")
    values: FloatArray = found
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
    """Raise for columns that are not there."""
    gone = [name for name in names if name not in table]
    if gone:
        raise JudgmentError(f"no column {listed(gone)}", expected=f"some of {listed(list(table.columns), 20)}")


def refuse_twice(labels: Sequence[object], where: str, expected: str = "each once") -> None:
    """Raise for labels that stand there twice."""
    seen = pd.Series(list(labels), dtype=object).duplicated().to_numpy()
    if seen.any():
        label = labels[int(seen.argmax())]
        raise JudgmentError(f"{where}: {label!r} stands there twice ({int(seen.sum())} repeats)", expected=expected)
