"""The reader of frames with one row per judge into Patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import checked, is_real
from ..base.table import counted
from ..core.columns import Coded, FloatArray
from ..core.patterns import MISSING, PatternKind, Patterns, Signs, gathered_patterns, pairs_of
from ..errors import JudgmentError, OptionError, listed, repeated
from .blocks import Scale, as_pandas, ranks_of
from .column_roles import Names, read_object_table, wanted
from .files import open_source
from .sources import as_names
from .tables import kept_at


@checked
def from_patterns(
    frame: object,
    kind: PatternKind,
    *,
    objects: Sequence[str],
    columns: Sequence[str] = (),
    coded: Sequence[float] = (1, 0, -1),
    higher_is_better: bool = True,
    covariates: Names = (),
    object_covariates: object = None,
    weight: str | None = None,
) -> Patterns:
    """Return complete response patterns: the answers of each judge to all pairs, from one row per judge.

    Parameters
    ----------
    frame : frame, path or list of records
        A frame of any library that narwhals knows, or the path of a file.
    kind : {"comparisons", "rankings", "ratings"}
        The content of the columns: an answer to each pair; the rank of each object, 1 for the best; or its rating, of
        which only the order counts.
    objects : sequence of str
        The J objects. For rankings and ratings they are columns.
    columns : sequence of str
        For comparisons: the P = J(J − 1)/2 columns of the pairs 12, 13, 23, 14, 24, 34, …, in this order.
    coded : sequence of three numbers
        For comparisons: the codes for the first object being preferred, a tie, and the second object being preferred. A
        missing value is a missing answer.
    higher_is_better : bool
        For ratings: whether the higher rating is preferred.
    covariates : str or sequence of str
        Covariates of the judges.
    object_covariates : frame or path, optional
        Covariates of the objects: a table with a column ``object`` and a column for each covariate.
    weight : str, optional
        A column with the number of judges in a row.

    Returns
    -------
    Patterns
        If judges left out pairs, ranks or ratings, these pairs have no answer. For rankings, an object without a rank
        is below all ranked objects. Judges and objects without any answer are left out; notes state it.

    Raises
    ------
    JudgmentError
        For missing columns, answers without a code, ranks and ratings that are not finite numbers, equal ranks, and a
        frame without answers.
    OptionError
        For fewer than two objects, and if the number of columns is not the number of pairs.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> rows = pd.DataFrame({"AB": [1, 1, -1, 0], "AC": [1, -1, 1, 1], "BC": [1, None, -1, 0]})
    >>> p = llbt.from_patterns(rows, "comparisons", objects=["A", "B", "C"], columns=["AB", "AC", "BC"])
    >>> p.to_frame()
        A:B  A:C   B:C  count
    0    -1    1    -1      1
    1     0    1     0      1
    2     1   -1  <NA>      1
    3     1    1     1      1
    """
    labels = as_names(objects, "objects")
    if len(labels) < 2:
        raise OptionError(f"objects={objects!r}", expected="two objects or more")
    twice = sorted(repeated(labels))
    if twice:
        raise OptionError(f"{listed(twice)} stands twice in objects=", expected="each object once")
    pairs = as_names(columns, "columns")
    values = _columns(kind, labels, pairs)
    beside = as_names(covariates, "covariates")
    source = open_source(frame)
    roles = {"objects" if kind != "comparisons" else "columns": values, "covariates": beside}
    weights = () if weight is None else (weight,)
    _check(source.names, {**roles, "weight": weights})
    table = as_pandas(source, (*values, *beside, *weights))
    counts = None if weight is None else _counts(table, weight)
    asked = wanted(beside, (), (), object_covariates, None)
    beside_columns, _, _ = kept_at(table[list(beside)], asked, np.arange(len(table)))
    read = _read(kind, table, (labels, values), coded, higher_is_better, beside_columns, counts)
    object_columns, more = read_object_table(asked, read.objects)
    return replace(read, object_columns=object_columns, notes=(*read.notes, *more))


def _columns(kind: PatternKind, labels: tuple[str, ...], pairs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of answers: those of the pairs, or of the objects."""
    number = len(labels) * (len(labels) - 1) // 2
    if kind != "comparisons":
        if pairs:
            raise OptionError(f"columns={list(pairs)!r} for {kind}", "Leave it out: the columns are objects=.")
        return labels
    if len(pairs) != number:
        raise OptionError(
            f"{counted(len(pairs), 'column')} for the pairs of {len(labels)} objects",
            expected=f"columns= with {number} of them, for the pairs 12, 13, 23, 14, 24, 34, …",
        )
    return pairs


def _check(names: Sequence[str], roles: dict[str, tuple[str, ...]]) -> None:
    for parameter, asked in roles.items():
        gone = tuple(name for name in asked if name not in names)
        if gone:
            raise JudgmentError(
                f"the frame has no column {listed(gone)} ({parameter}=); it has {listed(tuple(names))}",
                f"Pass {parameter}=…",
            )
    every = [name for asked in roles.values() for name in asked]
    twice = sorted(repeated(every))
    if twice:
        raise OptionError(f"column {listed(twice)} is named twice", expected="one role for each column")


def _read(
    kind: PatternKind,
    table: pd.DataFrame,
    named: tuple[tuple[str, ...], tuple[str, ...]],
    coded: Sequence[float],
    higher_is_better: bool,
    columns: tuple[Coded, ...],
    counts: FloatArray | None,
) -> Patterns:
    """Return the patterns of each kind of answers."""
    labels, names = named
    noun = {"comparisons": "answer", "rankings": "rank", "ratings": "rating"}[kind]
    scale = Scale(noun, f"{noun}ed", higher_wins=True)
    values = np.column_stack([ranks_of(table, name, scale) for name in names])
    if kind == "comparisons":
        return gathered_patterns(labels, _answers(table, names, values, coded), kind, columns=columns, counts=counts)
    better = values if kind == "ratings" and higher_is_better else -values
    notes: tuple[str, ...] = ()
    if kind == "rankings":
        _refuse_equal(values)
        missing = np.isnan(values)
        better = np.where(missing, -np.inf, better)
        partial = int((missing.any(axis=1) & ~missing.all(axis=1)).sum())
        better[missing.all(axis=1)] = np.nan
        notes = (
            (f"{counted(partial, 'judge')} ranked only some objects; the others are placed below these",)
            if partial
            else ()
        )
    signs = _signs(better)
    used = (signs != MISSING).any(axis=1) & (True if counts is None else counts > 0)
    given = values[used]  # judges of no weight, and those who rated one object alone, say nothing of the scale either
    levels = 0 if kind == "rankings" else len(np.unique(given[~np.isnan(given)]))
    return gathered_patterns(labels, signs, kind, levels=levels, columns=columns, counts=counts, notes=notes)


def _signs(better: FloatArray) -> Signs:
    """Return the signs of all pairs of values (R, J); two objects that are both below all others have no answer."""
    first, second = pairs_of(better.shape[1]).T
    one, other = better[:, first], better[:, second]
    unknown = np.isnan(one) | np.isnan(other) | (np.isneginf(one) & np.isneginf(other))
    with np.errstate(invalid="ignore"):
        return np.where(unknown, MISSING, np.sign(np.subtract(one, other))).astype(np.int8)


def _answers(table: pd.DataFrame, names: tuple[str, ...], values: FloatArray, coded: Sequence[float]) -> Signs:
    """Return answers as signs."""
    three = isinstance(coded, (list, tuple)) and len(coded) == 3 and all(is_real(code) for code in coded)
    if not three or len(set(coded)) != 3 or not np.isfinite(np.asarray(coded, dtype=np.float64)).all():
        raise OptionError(f"coded={coded!r}", expected="three different numbers, such as (1, 0, -1)")
    answers = np.full(values.shape, 9, dtype=np.int8)
    for code, sign in zip(coded, (1, 0, -1), strict=True):
        answers[values == code] = sign
    answers[np.isnan(values)] = MISSING
    row, column = np.nonzero(answers == 9)
    if len(row):
        raise JudgmentError(
            f"column {names[column[0]]!r}: {counted(len(row), 'answer')} that are none of {tuple(coded)}, the first at "
            f"row {row[0]} ({table[names[column[0]]].iloc[[row[0]]].tolist()[0]!r})",
            "Pass coded= with the codes of the answers: first preferred, undecided, second preferred.",
        )
    return answers


def _refuse_equal(values: FloatArray) -> None:
    ordered = np.sort(values, axis=1)
    equal = np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1))
    if len(equal):
        raise JudgmentError(
            f"{counted(len(equal), 'judge')} with equal ranks, the first at row {equal[0]}",
            "Orders with ties are patterns of ratings: kind='ratings', higher_is_better=False.",
            expected="a rank of its own for each object",
        )


def _counts(table: pd.DataFrame, name: str) -> FloatArray:
    """Return how many judges each row stands for."""
    values = ranks_of(table, name, Scale("weight", "weighted", higher_wins=True))
    wrong: npt.NDArray[np.int64] = np.flatnonzero(~(values >= 0))
    if len(wrong):
        raise JudgmentError(
            f"column {name!r}: {counted(len(wrong), 'value')} missing or negative, the first at row {wrong[0]}",
            expected="numbers of judges, at least 0",
        )
    return values
