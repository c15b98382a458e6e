"""The reader of matrices of wins into Comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, checked, is_list
from ..base.table import counted, format_count
from ..core.columns import FloatArray, Label, Lines, arranged, as_objects, refuse_surrogates, unmasked
from ..core.comparisons import Comparisons, tabulate
from ..core.response import THREE, TWO
from ..errors import JudgmentError, OptionError, kind_of, listed
from .frames import is_missing, plain, read_factor
from .sources import open_frame

Diagonal = Literal["refuse", "ignore"]


@dataclass(frozen=True, eq=False)
class _Matrix:
    """Values and labels of a matrix, (J, J); labels are None where it has none."""

    values: Any
    rows: tuple[Label, ...] | None
    columns: tuple[Label, ...] | None


@checked
def from_matrix(
    wins: object,
    tie_counts: object = None,
    names: Annotated[Sequence[Label] | None, JUDGED_INSIDE] = None,
    *,
    diagonal: Diagonal = "refuse",
) -> Comparisons:
    """Return comparisons from a square matrix of wins, row over column.

    Parameters
    ----------
    wins : frame or array_like, shape (J, J)
        ``wins[a, b]``: how often a won against b; the diagonal is 0 or missing. A pandas frame is labelled
        by index and columns; a frame without an index has the labels of its rows in the first column.
    tie_counts : frame or array_like, shape (J, J), optional
        ``tie_counts[a, b] == tie_counts[b, a]``: ties between a and b, each counted once.
    names : sequence of labels, optional
        Labels of the rows (and columns) of a matrix without labels.
    diagonal : {"refuse", "ignore"}
        What to do with counts of an object against itself, as a matrix of citations has them: refuse the matrix, or
        leave them out and count them in a note (as ``countsToBinomial`` of R's BradleyTerry2 leaves them out).

    Returns
    -------
    Comparisons

    Raises
    ------
    JudgmentError
        For a matrix that is not square, not labelled, or labelled differently in rows and columns (or in
        `wins` and `tie_counts`); for asymmetric ties, a diagonal that is not 0, and counts that are missing,
        negative or infinite.

    Notes
    -----
    Pairs without judgments are left out. Rows and columns may have different orders: labels decide, not positions.

    Examples
    --------
    >>> import llbt
    >>> c = llbt.from_matrix([[0, 7], [3, 0]], names=["A", "B"])
    >>> c.to_frame()
      object_i object_j  wins_i  ties  wins_j
    0        A        B       7     0       3
    """
    given = None if names is None else _checked_names(names)
    labels, won, notes = _read(wins, "wins", given, diagonal)
    tied = np.zeros_like(won)
    if tie_counts is not None:
        others, tied, more = _read(tie_counts, "tie_counts", given, diagonal)
        notes += more
        _refuse_unlike("tie_counts", others, "wins", labels)
        place = [others.index(label) for label in labels]
        tied = tied[np.ix_(place, place)]
        _refuse_asymmetric(tied, labels)
    objects = arranged("objects", as_objects(labels), np.arange(len(labels)))
    order = np.argsort(objects.codes)
    won, tied = won[np.ix_(order, order)], tied[np.ix_(order, order)]
    i, j = np.triu_indices(len(labels), 1)
    lines = Lines(np.column_stack([i, j]), np.column_stack([won[i, j], tied[i, j], won[j, i]]))
    response = THREE if tied.sum() > 0 else TWO
    whole = Comparisons(tuple(objects.levels), lines.pairs, lines.counts, response, notes=notes)
    return tabulate(lines.take(lines.counts.sum(axis=1) > 0), whole)


def _checked_names(names: Sequence[Label]) -> tuple[Label, ...]:
    if not isinstance(names, str) and not is_list(names):
        raise OptionError(f"names= is {kind_of(names)}", expected="a list of labels, one per object")
    given = tuple(plain(name) for name in ([names] if isinstance(names, str) else names))
    if any(is_missing(name) for name in given):
        raise JudgmentError(f"names= has missing labels: {listed(given)}", expected="one label per object")
    refuse_surrogates("names=", given)
    _refuse_twice("names=", given)
    return given


def _read(
    matrix: object, parameter: str, names: tuple[Label, ...] | None, diagonal: Diagonal
) -> tuple[tuple[Label, ...], FloatArray, tuple[str, ...]]:
    """Return labels (J), counts (J, J), rows and columns in the order of the labels, and what was left out."""
    opened = _opened(matrix, parameter)
    shape = opened.values.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " × ".join(map(str, shape))
        raise JudgmentError(f"{parameter}= is {size}, not square", expected="one row and one column per object")
    if names is not None and len(names) != shape[0]:
        raise JudgmentError(
            f"names= has {len(names)} labels, but {parameter}= is {shape[0]} × {shape[1]}",
            expected="a label for each row",
        )
    rows = opened.rows if opened.rows is not None else names
    if rows is None:
        raise JudgmentError(
            f"the rows of {parameter}= have no labels; pairs are named, never positional",
            "Pass names=[…] in the order of the rows, or a pandas frame with the labels as index and columns.",
        )
    if names is not None:
        _refuse_unlike("names", names, f"rows of {parameter}", rows)
    columns = opened.columns if opened.columns is not None else rows
    _refuse_twice(f"the rows of {parameter}=", rows)
    _refuse_twice(f"the columns of {parameter}=", columns)
    _refuse_unlike(f"rows of {parameter}", rows, f"columns of {parameter}", columns)
    counts = _counts(opened.values, parameter)
    counts = counts[:, [columns.index(label) for label in rows]]
    notes = _without_diagonal(counts, parameter, rows, diagonal)
    _check_counts(counts, parameter, rows)
    return rows, counts, notes


def _opened(matrix: object, parameter: str) -> _Matrix:
    if isinstance(matrix, pd.DataFrame):
        return _labelled(matrix)
    if isinstance(matrix, (np.ndarray, list, tuple)):
        try:
            return _Matrix(unmasked(matrix), None, None)
        except ValueError:  # rows of different lengths
            raise JudgmentError(f"{parameter}= has rows of different lengths", expected="a square matrix") from None
    source = open_frame(matrix, f"{parameter}=")
    frame = source.pick({parameter: source.names}).frame
    nested = [name for name in source.names if frame[name].dtype.is_nested()]
    if nested:
        raise JudgmentError(f"{parameter}= has lists or structs in {listed(nested)}", expected="columns of numbers")
    columns = {name: frame[name].to_numpy() for name in source.names}
    first = source.names[0]
    if len(columns) == len(frame) + 1:  # the labels of the rows come first
        factor = read_factor(frame, first)
        columns[first] = as_objects([*factor.labels, None])[factor.codes]
    return _labelled(pd.DataFrame(columns))


def _labelled(frame: pd.DataFrame) -> _Matrix:
    """Return a pandas frame as a matrix; a plain row number is not a label."""
    if isinstance(frame.index, pd.RangeIndex) and frame.shape[1] == len(frame) + 1:
        frame = frame.set_index(frame.columns[0])
    numbered = isinstance(frame.index, pd.RangeIndex)
    unnamed = numbered and isinstance(frame.columns, pd.RangeIndex)
    return _Matrix(
        frame.to_numpy(),
        None if numbered else tuple(plain(label) for label in frame.index),
        None if unnamed else tuple(plain(label) for label in frame.columns),
    )


def _refuse_twice(what: str, labels: Sequence[Label]) -> None:
    twice = tuple(dict.fromkeys(label for label in labels if labels.count(label) > 1))
    if twice:
        raise JudgmentError(f"{what} have {listed(twice)} twice", expected="every object once")


def _refuse_unlike(first: str, a: Sequence[Label], second: str, b: Sequence[Label]) -> None:
    if set(a) != set(b):
        only = [
            f"only in the {name}: {listed(rest)}"
            for name, rest in ((first, _rest(a, b)), (second, _rest(b, a)))
            if rest
        ]
        raise JudgmentError(
            f"the {first} and the {second} have different labels; {'; '.join(only)}", expected="the same objects"
        )


def _rest(a: Sequence[Label], b: Sequence[Label]) -> tuple[Label, ...]:
    return tuple(label for label in a if label not in b)


def _counts(values: Any, parameter: str) -> FloatArray:
    try:
        if values.dtype.kind == "S":  # Python would read numbers out of bytes
            raise TypeError
        return np.where(pd.isna(values), np.nan, values.astype(object)).astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        texts = [value for value in as_objects(np.ravel(values)) if isinstance(value, str)]
        shown = f" such as {str(texts[0])!r}" if texts else ""
        raise JudgmentError(f"{parameter}= holds values{shown} that are not numbers", expected="counts") from None


def _without_diagonal(
    counts: FloatArray, parameter: str, labels: Sequence[Label], diagonal: Diagonal
) -> tuple[str, ...]:
    """Set the diagonal to 0, and return a note on the counts that it had."""
    own = np.where(np.isnan(np.diag(counts)), 0.0, np.diag(counts))
    np.fill_diagonal(counts, 0)
    if not own.any():
        return ()
    k = int(np.flatnonzero(own)[0])
    if diagonal == "refuse":
        raise JudgmentError(
            f"{parameter}= has {format_count(own[k])} on its diagonal for {labels[k]!r}",
            "Leave these counts out with diagonal='ignore'.",
            expected="0 or missing there, because no object is compared with itself",
        )
    objects = counted(int(np.count_nonzero(own)), "object")
    return (f"{counted(float(own.sum()), 'count')} on the diagonal of {parameter} left out ({objects})",)


def _check_counts(counts: FloatArray, parameter: str, labels: Sequence[Label]) -> None:
    bad = np.argwhere(~np.isfinite(counts) | (counts < 0))
    if len(bad):
        a, b = bad[0]
        value = "missing" if np.isnan(counts[a, b]) else format_count(counts[a, b])
        raise JudgmentError(
            f"{parameter}=: {counted(len(bad), 'count')} missing, negative or infinite, the first in row "
            f"{labels[a]!r}, column {labels[b]!r} ({value})",
            expected="finite counts, at least 0",
        )


def _refuse_asymmetric(tied: FloatArray, labels: Sequence[Label]) -> None:
    unlike = np.argwhere(~np.isclose(tied, tied.T, rtol=1e-9, atol=0))
    if len(unlike):
        a, b = unlike[0]
        raise JudgmentError(
            f"tie_counts= is not symmetric: {format_count(tied[a, b])} for {labels[a]!r} against {labels[b]!r}, but "
            f"{format_count(tied[b, a])} the other way round",
            "Pass t + t.T if each side has its own.",
            expected="tie_counts[a, b] equal to tie_counts[b, a], because a tie is one judgment of the pair",
        )
