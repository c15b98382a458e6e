"""Scores of systems on instances, read from wide or long frames into one matrix, and when one is the better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..arguments import NotNegative, checked
from ..core.columns import FloatArray, Label, sort_key
from ..errors import JudgmentError, listed
from ..table import Field, Record, Table, counted
from .files import open_source
from .frames import plain
from .score_columns import counters, is_score, labelled, of_flags, refuse_gone, refuse_missing, refuse_twice, scores_of
from .score_ties import TieRule
from .sources import as_names, in_memory
from .tables import unused_note


@dataclass(frozen=True, repr=False, eq=False)
class SystemScores(Record):
    """Scores of N systems on M instances, and when one of two is the better one.

    Made by ``SystemScores.from_wide(…)`` and ``SystemScores.from_long(…)``, and taken wherever scores are.

    Attributes
    ----------
    systems : tuple of label, length N
        Sorted, so that no result depends on the order of columns.
    instances : tuple of label, length M
        In the order of the frame.
    values : ndarray, shape (N, M)
        As in the frame; NaN where there is no score.
    instance : str
        What the column of the instances is called.
    columns : DataFrame, R rows
        The columns of the frame that hold no scores.
    place : ndarray of int, shape (R,)
        The instance of each row.
    unused : tuple of str
        Columns of a wide frame of which nothing is said.
    notes : tuple of str
    higher_is_better : bool
    rule : TieRule
        When two scores are tied.
    """

    _made_by: ClassVar[str] = "SystemScores.from_wide(…) or SystemScores.from_long(…)"

    systems: tuple[Label, ...]
    instances: tuple[Label, ...]
    values: FloatArray
    instance: str
    columns: pd.DataFrame
    place: npt.NDArray[np.intp]
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    higher_is_better: bool = True
    rule: TieRule = field(default_factory=TieRule)

    @classmethod
    @checked
    def from_wide(
        cls,
        frame: object,
        systems: str | Sequence[str] | None = None,
        *,
        instance: str | None = None,
        others: str | Sequence[str] = (),
        higher_is_better: bool = True,
        tie_threshold: NotNegative = 0.0,
        relative: bool = False,
    ) -> SystemScores:
        """Return the scores of a frame with one row per instance and one column per system.

        Parameters
        ----------
        frame : frame, path or list of records
        systems : sequence of str, optional
            The columns of scores; by default all columns of numbers, but for `instance`, `others`, and those that
            count the rows or are called id, index or …_id beside others, which are left out with a note.
        instance : str, optional
            The column with the instance; by default ``instance`` if there is one, else the number of the row.
        others : str or sequence of str
            Columns of numbers that are no systems.
        higher_is_better : bool
            Whether the higher score wins, or the lower.
        tie_threshold : float
            Two scores are tied if they differ by at most so much, give or take 1e-12 of the larger one.
        relative : bool
            Whether the threshold is a share of the larger of the two (by absolute value) rather than on the scale of
            the scores.

        Returns
        -------
        SystemScores

        Raises
        ------
        JudgmentError
            For columns that are not there or have two roles, fewer than two systems, scores that are no finite
            numbers, and an instance that stands there twice.

        Examples
        --------
        >>> import llbt
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"A": [1.0, 2.0, 3.0], "B": [2.0, 3.0, 1.0], "length": [10, 20, 30]})
        >>> llbt.scores.SystemScores.from_wide(frame, others="length").systems
        ('A', 'B')
        """
        said = None if systems is None else as_names(systems, "systems")
        scores = _wide(_table(frame), said, instance, as_names(others, "others"))
        return replace(scores, higher_is_better=higher_is_better, rule=TieRule(float(tie_threshold), relative))

    @classmethod
    @checked
    def from_long(
        cls,
        frame: object,
        *,
        system: str = "system",
        instance: str = "instance",
        score: str = "score",
        higher_is_better: bool = True,
        tie_threshold: NotNegative = 0.0,
        relative: bool = False,
    ) -> SystemScores:
        """Return the scores of a frame with one row per system and instance.

        Parameters
        ----------
        frame : frame, path or list of records
        system, instance, score : str
            The columns with the system, the instance and the score.
        higher_is_better, tie_threshold, relative
            As in `from_wide`.

        Returns
        -------
        SystemScores

        Raises
        ------
        JudgmentError
            For columns that are not there or have two roles, fewer than two systems, scores that are no finite
            numbers, and a system that is scored twice on an instance.

        Examples
        --------
        >>> import llbt
        >>> frame = [{"model": "a", "item": 1, "bleu": 31.0}, {"model": "b", "item": 1, "bleu": 28.0}]
        >>> scores = llbt.scores.SystemScores.from_long(frame, system="model", instance="item", score="bleu")
        >>> scores.systems, scores.values.tolist()
        (('a', 'b'), [[31.0], [28.0]])
        """
        scores = _long(_table(frame), (system, score), instance)
        return replace(scores, higher_is_better=higher_is_better, rule=TieRule(float(tie_threshold), relative))

    @property
    def better(self) -> FloatArray:
        """Scores of which the higher is the better one, shape (N, M)."""
        return self.values if self.higher_is_better else -self.values

    def table(self) -> Table:
        """Return mean, median, standard deviation and number of scores of each system."""
        scores = pd.DataFrame(self.values.T)
        return Table(
            (
                Field("object", "System", list(self.systems)),
                Field("mean", "Mean", scores.mean().to_numpy(), "number"),
                Field("median", "Median", scores.median().to_numpy(), "number"),
                Field("sd", "SD", scores.std().to_numpy(), "number"),
                Field("n", "Scores", scores.count().to_numpy(), "count"),
                Field("missing", "Missing", scores.isna().sum().to_numpy(), "count"),
            ),
            title="Scores of systems",
            head=(f"{counted(len(self.systems), 'system')}, {counted(len(self.instances), 'instance')}",),
            notes=self.notes_beside(),
        )

    def notes_beside(self, used: Sequence[str] = ()) -> tuple[str, ...]:
        """Return what is to be said of the frame where some columns are used beside the scores."""
        unused = [name for name in self.unused if name not in used]
        return (*unused_note(unused), *self.notes)


def as_scores(data: object, others: Sequence[str] = ()) -> SystemScores:
    """Return scores as they are, or those of a frame: long if it has the columns ``system`` and ``score``, else wide.

    Parameters
    ----------
    data : SystemScores, frame, path or list of records
    others : sequence of str
        Columns of a frame that are neither systems nor scores.
    """
    if isinstance(data, SystemScores):
        return data
    table = _table(data)
    if {"system", "score"} <= set(table.columns):
        _refuse_roles(("system", "score"), others)
        return _long(table, ("system", "score"), "instance")
    return _wide(table, None, None, others)


def instance_columns(scores: SystemScores, names: Sequence[str]) -> pd.DataFrame:
    """Return columns of the frame by instance, for which they have one value each, M rows."""
    _refuse_roles([str(label) for label in scores.systems], names)
    refuse_gone(scores.columns, names)
    first = np.empty(len(scores.instances), dtype=np.intp)
    first[scores.place[::-1]] = np.arange(len(scores.place))[::-1]
    for name in names:
        codes, _ = pd.factorize(scores.columns[name])
        odd = codes != codes[first][scores.place]
        if odd.any():
            row = int(odd.argmax())
            column = scores.columns[name]
            raise JudgmentError(
                f"covariate {name!r} is {column.iloc[row]!r} in row {row} and "
                f"{column.iloc[first[scores.place[row]]]!r} before for the same instance",
                expected="one value for each",
            )
    return scores.columns[list(names)].iloc[first].reset_index(drop=True)


def _table(data: object) -> pd.DataFrame:
    table = in_memory(open_source(data))
    refuse_twice(list(map(str, table.columns)), "the columns")
    return table


def _wide(
    table: pd.DataFrame, systems: tuple[str, ...] | None, instance: str | None, kept: Sequence[str]
) -> SystemScores:
    if instance is None:
        instance = "instance"
        table = table if instance in table else table.assign(instance=np.arange(len(table)))
    refuse_gone(table, [*(systems or ()), *kept, instance])
    _refuse_roles(systems or (), (instance, *kept))
    others = [name for name in table.columns if name not in (instance, *kept)]
    numbered = [name for name in others if is_score(table[name])]
    numbering = [] if systems is not None else counters(table, numbered)
    chosen = list(systems) if systems is not None else [name for name in numbered if name not in numbering]
    if len(chosen) < 2:
        raise JudgmentError(
            f"{counted(len(chosen), 'column')} of scores among {listed(others, 20)}",
            of_flags(table[name] for name in others),
            expected="a column of numbers per system, or a long frame with the columns system and score",
        )
    refuse_twice(chosen, "systems=")
    refuse_missing(table, instance)
    labels = [plain(value) for value in table[instance]]
    refuse_twice(labels, f"column {instance!r}: the instances", "one row each: select one metric first")
    order = sorted(chosen, key=sort_key)
    values = np.vstack([scores_of(table[name], str(name)) for name in order])
    which = f"column{'s' if len(numbering) > 1 else ''} {listed(numbering)} taken for numbers of rows, not for systems"
    return SystemScores(
        tuple(order),
        tuple(labels),
        values,
        instance,
        table[[name for name in table.columns if name not in chosen]],
        np.arange(len(table)),
        tuple(name for name in others if name not in (*chosen, *numbering)),
        (f"{which}; systems=[…] names systems",) if numbering else (),
    )


def _long(table: pd.DataFrame, columns: tuple[str, str], instance: str) -> SystemScores:
    refuse_gone(table, columns)
    _refuse_roles(columns, (instance,))
    if instance not in table:
        raise JudgmentError(
            f"a long frame needs a column that says which instance a score belongs to; it has "
            f"{listed(list(table.columns), 20)}",
            "Name it: llbt.scores.SystemScores.from_long(…, instance='…')",
        )
    system, score = columns
    refuse_missing(table, system, instance)
    rows, found = labelled(table[system])
    order = sorted(range(len(found)), key=lambda k: sort_key(found[k]))
    if len(order) < 2:
        raise JudgmentError(f"column {system!r} names {counted(len(order), 'system')}", expected="at least two")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    place, labels = labelled(table[instance])
    cell = rank[rows] * len(labels) + place
    again = pd.Series(cell).duplicated().to_numpy()
    if again.any():
        row = int(again.argmax())
        raise JudgmentError(
            f"row {row} scores {found[rows[row]]!r} on {labels[place[row]]!r} again "
            f"({counted(int(again.sum()), 'such row')})",
            expected="one score each: select one metric first",
        )
    values = np.full(len(order) * len(labels), np.nan)
    values[cell] = scores_of(table[score], score)
    systems = tuple(found[k] for k in order)
    rest = table[[name for name in table.columns if name not in columns]]
    return SystemScores(systems, tuple(labels), values.reshape(len(order), -1), instance, rest, place)


def _refuse_roles(scores: Sequence[str], others: Sequence[str]) -> None:
    several = [name for name in scores if name in others]
    if several:
        raise JudgmentError(
            f"column {several[0]!r} is one of scores or systems and is kept besides, as instance or with "
            "others=, covariates= or clusters=",
            expected="one role each",
        )
