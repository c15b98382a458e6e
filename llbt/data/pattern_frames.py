"""The reader of frames with one row per judge into Patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import checked, is_real
from ..base.table import counted
from ..core.columns import FloatArray
from ..core.patterns import MISSING, PatternKind, Patterns, Signs, gathered_patterns, pairs_of
from ..errors import JudgmentError, OptionError, listed, repeated
from .blocks import Scale, as_pandas, ranks_of
from .column_roles import Names, read_object_table, wanted
from .files import open_source
from .repeated_answers import check_repeated, spread_over_times
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
    numeric: Names = (),
    object_covariates: object = None,
    judge: str | None = None,
    time: str | None = None,
    weight: str | None = None,
) -> Patterns:
    """Return complete response patterns: the answers of each judge to all pairs, from one row per judge.

    If judges answer at several times, there is one row per judge and time, and a pattern has the answers at all times.

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
    numeric : str or sequence of str
        Columns of integers that are numbers: covariates, which need not be in `covariates`, or `time`.
    object_covariates : frame or path, optional
        Covariates of the objects: a table with a column ``object`` and a column for each covariate.
    judge, time : str, optional
        The columns with the judge and the time, if judges answer at several times. The order of the times is that of
        the sorted values. Covariates have one value per judge.
    weight : str, optional
        A column with the number of judges in a row.

    Returns
    -------
    Patterns
        If judges left out pairs, ranks or ratings, these pairs have no answer. For rankings, an object without a rank
        is below all ranked objects. Judges and objects without any answer are left out; notes state it. At a time
        without a row a judge has no answers.

    Raises
    ------
    JudgmentError
        For missing columns, answers without a code, ranks and ratings that are not finite numbers, equal ranks, and a
        frame without answers; with `time`, for two rows of a judge at one time, and covariates that change.
    OptionError
        For fewer than two objects, if the number of columns is not the number of pairs, and for `judge` without `time`.

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

    Two judges at two times:

    >>> rows = rows.assign(who=["K", "K", "L", "L"], week=[1, 2, 1, 2])
    >>> p = llbt.from_patterns(
    ...     rows, "comparisons", objects=["A", "B", "C"], columns=["AB", "AC", "BC"], judge="who", time="week")
    >>> p.n_judges, p.n_times, p.answers.shape
    (2, 2, (2, 6))
    """
    labels = as_names(objects, "objects")
    if len(labels) < 2:
        raise OptionError(f"objects={objects!r}", expected="two objects or more")
    twice = sorted(repeated(labels))
    if twice:
        raise OptionError(f"{listed(twice)} occurs twice in objects=", expected="each object once")
    pairs = as_names(columns, "columns")
    values = _columns(kind, labels, pairs)
    numbers = as_names(numeric, "numeric")
    asked = wanted(covariates, (), tuple(name for name in numbers if name != time), object_covariates, None)
    beside = (*asked.roles()["covariates"], *asked.roles()["numeric"])
    source = open_source(frame)
    roles = {"objects" if kind != "comparisons" else "columns": values, "covariates": beside}
    check_repeated(judge, time, weight)
    weights = () if weight is None else (weight,)
    repeated_by = () if judge is None or time is None else (judge, time)
    _check(source.names, {**roles, "judge": repeated_by[:1], "time": repeated_by[1:], "weight": weights})
    table = as_pandas(source, (*values, *beside, *repeated_by, *weights))
    counts = None if weight is None else _counts(table, weight)
    beside_columns, _, _ = kept_at(table[list(beside)], asked, np.arange(len(table)))
    answers, levels, notes = _read(kind, table, values, coded, higher_is_better, counts)
    times = None
    if len(repeated_by) == 2:
        answers, beside_columns, times = spread_over_times(
            table, repeated_by, answers, beside_columns, tuple(name for name in numbers if name == time)
        )
    read = gathered_patterns(
        labels, answers, kind, levels=levels, columns=beside_columns, times=times, counts=counts, notes=notes
    )
    object_columns, more = read_object_table(asked, read.objects)
    return replace(read, object_columns=object_columns, notes=(*read.notes, *more))


def _columns(kind: PatternKind, labels: tuple[str, ...], pairs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of answers: a column for each pair, or for each object."""
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
    names: tuple[str, ...],
    coded: Sequence[float],
    higher_is_better: bool,
    counts: FloatArray | None,
) -> tuple[Signs, int, tuple[str, ...]]:
    """Return the signs of all pairs in each row, (R, P), the number of levels of ratings, and notes."""
    noun = {"comparisons": "answer", "rankings": "rank", "ratings": "rating"}[kind]
    scale = Scale(noun, f"{noun}ed", higher_wins=True)
    values = np.column_stack([ranks_of(table, name, scale) for name in names])
    if kind == "comparisons":
        return _answers(table, names, values, coded), 0, ()
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
    return signs, levels, notes


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
