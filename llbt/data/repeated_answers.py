"""Answers of judges at several times, from one row for each judge and time into one row for each judge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..base.table import counted
from ..core.columns import Coded, IntArray, groups
from ..core.patterns import MISSING, Signs
from ..errors import JudgmentError, OptionError
from .column_roles import Names, wanted
from .tables import kept_at


def check_repeated(judge: str | None, time: str | None, weight: str | None) -> None:
    """Raise for `judge` or `time` without the other, and for weights beside them."""
    if (judge is None) != (time is None):
        given, lacks = ("judge", "time") if time is None else ("time", "judge")
        raise OptionError(
            f"{given}={(judge or time)!r} without {lacks}=",
            f"Without {given}=, each row is one judge.",
            expected="both, for judges who answer at several times",
        )
    if judge is not None and weight is not None:
        raise OptionError(
            f"weight={weight!r} with judge={judge!r}: a row is one judge at one time", "Leave weight= out."
        )


def spread_over_times(
    table: pd.DataFrame,
    named: tuple[str, str],
    answers: Signs,
    columns: tuple[Coded, ...],
    numeric: Names = (),
) -> tuple[Signs, tuple[Coded, ...], Coded]:
    """Return the answers of each judge at all times, (G, T · P), the judges' covariates, (G,), and the times, (T,).

    Parameters
    ----------
    table : DataFrame, R rows
    named : tuple of str
        The columns with the judge and the time.
    answers : ndarray of int8, shape (R, P)
    columns : tuple of Coded, each (R,)
        Covariates.
    numeric : str or sequence of str
        The column with the time, if its integers are numbers.

    Raises
    ------
    JudgmentError
        For a judge with two rows of one time, for a covariate with several values of one judge, and for one time.
    """
    (judge, time), _, _ = kept_at(table[list(named)], wanted(named, (), numeric, None, None), np.arange(len(table)))
    if len(time.levels) < 2:
        raise JudgmentError(
            f"column {time.name!r} has one value, {time.levels.tolist()[0]!r}",
            "Leave judge= and time= out: each row is then one judge.",
            expected="several times",
        )
    first, who = groups([judge.codes])
    _refuse_twice(judge, time)
    _refuse_changing(judge, columns, first, who)
    spread = np.full((len(first), len(time.levels), answers.shape[1]), MISSING, dtype=np.int8)
    spread[who, time.codes] = answers
    times = replace(time, codes=np.arange(len(time.levels)))
    return spread.reshape(len(first), -1), tuple(column.take(first) for column in columns), times


def _refuse_twice(judge: Coded, time: Coded) -> None:
    first, _ = groups([judge.codes, time.codes])
    twice = np.setdiff1d(np.arange(len(judge.codes)), first)
    if len(twice):
        who, when = judge.values[twice].tolist()[0], time.values[twice].tolist()[0]
        raise JudgmentError(
            f"{counted(len(twice), 'row')} of a judge and time that have another row, the first at row {twice[0]}: "
            f"{judge.name} {who!r}, {time.name} {when!r}",
            expected="one row for each judge and time",
        )


def _refuse_changing(judge: Coded, columns: tuple[Coded, ...], first: IntArray, who: IntArray) -> None:
    for column in columns:
        other = np.flatnonzero(column.codes != column.codes[first[who]])
        if len(other):
            name = judge.values[other].tolist()[0]
            raise JudgmentError(
                f"covariate {column.name!r} has several values for {judge.name} {name!r}",
                "Leave it out: in patterns only the time changes within a judge.",
                expected="one value for each judge",
            )
