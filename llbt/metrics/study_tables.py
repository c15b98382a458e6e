"""Tables of scores of metrics and humans, in any layout or as tools write them, with a column for each metric."""

from __future__ import annotations

import io
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from ..base.table import counted
from ..data.board_files import ScoreFile, score_files
from ..data.board_formats import TABLE, format_of
from ..data.column_values import spelled
from ..data.score_columns import ITEM_WORDS, SCORE_WORDS, SYSTEM_WORDS, called, is_beside, is_score, refuse_gone
from ..data.score_tables import score_table
from ..errors import JudgmentError, OptionError, listed, within

_TASK_WORDS = ("task", "lp", "languagepair", "langpair", "dataset", "testset")
_METRIC_WORDS = ("metric",)
_WMT = "LP SYSTEM HUMAN "  # how files of system scores of WMT's metrics task begin
_SUFFIXES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".pq", ".gz")


@dataclass(frozen=True)
class StudyRoles:
    """The columns that the caller names; None for one to be recognized by its name. `scores`: of humans and metrics."""

    task: str | None = None
    system: str | None = None
    input: str | None = None
    metric: str | None = None
    score: str | None = None
    rater: str | None = None
    ignore: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class StudyTable:
    """A row for each system and input, a column for each metric and human.

    Attributes
    ----------
    frame : DataFrame
    roles : StudyRoles
        `task` and `input` are None where there is no column.
    names : tuple of str
        The columns of scores.
    notes : tuple of str
    """

    frame: pd.DataFrame
    roles: StudyRoles
    names: tuple[str, ...]
    notes: tuple[str, ...]


def study_tables(source: object, format: str, roles: StudyRoles) -> list[StudyTable]:
    """Return the tables of a source: a mapping of task to tables, the files of a tool, files of tables, or a table."""
    if isinstance(source, Mapping):
        return [table for name, one in source.items() for table in _of_task(name, one, roles)]
    if not isinstance(source, (str, os.PathLike)):
        if format not in ("auto", TABLE):
            raise OptionError(f"format={format!r} with data in memory", expected="'auto' or 'table'")
        return [wide_by_metric(score_table(source), roles)]
    files = score_files(source)
    tables = [file for file in files if file.name.endswith(_SUFFIXES) and not _has_format(file)]
    if format == TABLE or (format == "auto" and len(tables) == len(files)):
        return [_of_file(file, roles) for file in files]
    known, own = format_of(files, format)
    if known is None:
        return [_of_file(file, roles) for file in own]
    rows = known.rows(own)
    present = [name for name in ("task", "system", "item", "metric", "score", "rater") if name in rows.frame]
    if "metric" not in present:
        raise JudgmentError(f"results of {known.tool} have one score", expected="scores of metrics and humans")
    columns = StudyRoles(
        task="task" if "task" in present else None,
        system="system",
        input="item",
        metric="metric",
        score="score",
        rater="rater" if "rater" in present else roles.rater,
        ignore=roles.ignore,
    )
    made = wide_by_metric(rows.frame[present], columns)
    notes = tuple(note.replace("without= leaves", ".without(…) leaves") for note in rows.notes)
    return [StudyTable(made.frame, made.roles, made.names, (*notes, *made.notes))]


def _has_format(file: ScoreFile) -> bool:
    try:
        return format_of((file,), "auto")[0] is not None
    except JudgmentError:
        return False


def _of_task(name: Hashable, one: object, roles: StudyRoles) -> list[StudyTable]:
    with within(f"task {name!r}"):
        made = wide_by_metric(score_table(one), roles, labelled=False)
    task = _own_name(made.frame, "task")
    frame = made.frame.copy()
    frame[task] = pd.Series([name] * len(frame), index=frame.index, dtype=object)
    used = StudyRoles(task, made.roles.system, made.roles.input, rater=made.roles.rater, ignore=made.roles.ignore)
    return [StudyTable(frame, used, made.names, made.notes)]


def _own_name(frame: pd.DataFrame, name: str) -> str:
    return name if name not in frame else _own_name(frame, f"{name} ")


def _of_file(file: ScoreFile, roles: StudyRoles) -> StudyTable:
    with within(f"{str(file.path)!r}"):
        if not file.head().startswith(_WMT):
            return wide_by_metric(score_table(str(file.path)), roles)
        frame = pd.read_csv(io.StringIO(file.text()), sep=" ")
    again = [name for name in frame if str(name).startswith("LP.")]
    made = wide_by_metric(frame, roles)
    return replace(made, notes=(*made.notes, f"the metric LP is called {listed(again)}")) if again else made


def wide_by_metric(table: pd.DataFrame, roles: StudyRoles, *, labelled: bool = True) -> StudyTable:
    """Return a table with a column for each metric, whatever its layout.

    Parameters
    ----------
    table : DataFrame
        A column for each metric; or a column that names metrics, and one of scores or one for each system.
    roles : StudyRoles
    labelled : bool
        Whether a column may name tasks.
    """
    names = [str(name) for name in table.columns if name not in roles.ignore]
    asked = [roles.task, roles.system, roles.input, roles.metric, roles.score, roles.rater, *roles.ignore]
    refuse_gone(table, [name for name in asked if name is not None])
    task = roles.task or (_first(names, _TASK_WORDS) if labelled else None)
    metric = roles.metric or _first(names, _METRIC_WORDS)
    rest = [name for name in names if name not in (task, metric, roles.rater)]
    item = roles.input or _first([name for name in rest if name != roles.system], ITEM_WORDS)
    rest = [name for name in rest if name != item]
    score = roles.score or (_first(rest, SCORE_WORDS) if metric else None)
    system = roles.system or _first(rest, SYSTEM_WORDS)
    notes: tuple[str, ...] = ()
    if metric is not None and score is None:
        table, notes = _systems_below(table, [n for n in (task, metric, item) if n], rest)
        system, score = "system", "score"
    if system is None:
        raise JudgmentError(
            f"no column of systems among {listed(names, 20)}", "Pass system= and the name of the column."
        )
    roles_found = StudyRoles(task, system, item, rater=roles.rater, ignore=roles.ignore)
    keys = [name for name in (task, system, item, roles.rater) if name is not None]
    if metric is not None and score is not None:
        table = _metrics_beside(table, keys, metric, score)
    scores = [str(name) for name in table.columns if name not in (*keys, *roles.ignore) and is_score(table[name])]
    # a column of lengths or times may be no metric; one that a column of metrics names is
    beside = [] if metric is not None else [name for name in scores if is_beside(name) and name not in roles.scores]
    if beside:
        scores = [name for name in scores if name not in beside]
        notes = (*notes, f"not read as scores: {listed(beside, 3)}; metrics= takes their names")
    words = {"tasks": task, "systems": system, "inputs": item, "metrics": metric}
    roles_text = ", ".join(f"{what} by {name!r}" for what, name in words.items() if name is not None)
    return StudyTable(table, roles_found, tuple(scores), (roles_text, *notes))


def _first(names: Sequence[str], words: Sequence[str]) -> str | None:
    """Return the column whose name is one of the words; if there is none, a column whose name ends in one of them."""
    exact = [name for word in words for name in names if spelled(name) == word]
    return next(iter([*exact, *called(names, words)]), None)


def _systems_below(
    table: pd.DataFrame, keys: Sequence[str], names: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a table with a row for each system, made from a table with a column for each."""
    systems = [name for name in names if is_score(table[name])]
    if len(systems) < 2:
        raise JudgmentError(
            f"{counted(len(systems), 'column')} of scores beside a column of metrics",
            "Pass score= and the name of the column of scores.",
            expected="one of scores, or one for each system",
        )
    melted = table.melt(list(keys), systems, "system", "score")
    return melted, (f"a column for each of {counted(len(systems), 'system')}",)


def _metrics_beside(table: pd.DataFrame, keys: Sequence[str], metric: str, score: str) -> pd.DataFrame:
    again = table.duplicated([*keys, metric]).to_numpy()
    if again.any():
        raise JudgmentError(
            f"{counted(int(again.sum()), 'row')} with the {', '.join(keys)} and metric of an earlier one, first at row "
            f"{int(again.argmax())}",
            "Name the column that tells them apart: rater=, input= or task=.",
            expected="one row each",
        )
    wide = table.pivot(index=list(keys), columns=metric, values=score)
    wide.columns = pd.Index([str(name) for name in wide.columns])
    return wide.reset_index()
