"""Choices among profiles (conjoint): a row for each profile, attributes in columns, one profile chosen in each task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..core.rankings import Rankings
from ..errors import JudgmentError, listed
from .column_values import spelled
from .list_layouts import ListLayout, judge_of
from .outcome_codings import NO, YES
from .score_columns import numbers_rows
from .sources import Source, in_memory
from .standard_columns import free_name

_CHOSEN = re.compile(r"(?:chosen|choosen|chose|choice|selected|select|picked|preferred)(?!id)\w*")
_RESPONDENT = ("id", "caseid", "case", "respid", "resp", "responseid", "respondentid", "pid", "personid", "individual")
_TASK = (
    *("task", "taskno", "taskid", "contest", "contestno", "question", "questionno", "q", "qid", "choiceset", "set"),
    *("scenario", "round", "trial", "choicetask", "pair", "obsid", "obs", "chid", "situation", "screen", "card"),
)
_PROFILE = (
    *("profile", "profileno", "profileid", "alt", "altid", "alternative", "altno", "option", "choiceid", "concept"),
    *("position", "row", "candidate"),
)
_OBJECT = "object"
_AFTERWARDS = ("rating", "ratings", "score", "utility", "u", "prob", "predprob", "probability", "weight", "weights")


@dataclass(frozen=True)
class _Choices:
    """The columns of a table of profiles.

    Attributes
    ----------
    chosen : str
        The column of the chosen profile.
    task : list of str
        The columns that make a set of profiles.
    attributes : list of str
        The attributes of the profiles.
    """

    chosen: str
    task: list[str]
    attributes: list[str]


def profiles_of(
    source: Source, *, outcome: str | None = None, respondent: str | None = None, task: Sequence[str] = ()
) -> ListLayout | None:
    """Return how profiles and choices are read: who chose, the task, the attributes; None if unclear.

    In each task at most one profile is chosen, by a column of 0 and 1 or one that names the profile. Columns that are
    not named are found by their names.
    """
    if any(source.frame.collect_schema()[name].is_nested() for name in source.inner.values() or source.names):
        return None
    table = in_memory(source)
    by_name = judge_of(source.names) or next((name for name in source.names if spelled(name) in _RESPONDENT), None)
    respondent = respondent or by_name
    tasks = [list(task)] if task else [[name] for name in source.names if spelled(name) in _TASK]
    chosen = [outcome] if outcome else [name for name in source.names if _CHOSEN.fullmatch(spelled(name))]
    makers = [[*([] if respondent is None else [respondent]), *names] for names in tasks if names != [respondent]]
    for name in chosen:
        for maker in makers:
            choices = _choices(table, name, maker)
            if choices is not None:
                where = " and ".join(map(repr, maker))
                note = (
                    f"read as choices, in {name!r}, among profiles of {listed(choices.attributes, 12)}, one by {where}"
                )
                arguments = {"chosen": name, "block": maker, "attributes": choices.attributes}
                return ListLayout("profiles", arguments, note, respondent)
    return None


def _choices(table: pd.DataFrame, chosen: str, task: list[str]) -> _Choices | None:
    if table[task].isna().any(axis=None):
        return None
    sets = table.groupby(task, sort=False)
    marks = _marks(table, chosen, task)
    if marks is None or (sets.size() < 2).any():
        return None
    taken = marks.groupby([table[name] for name in task], sort=False).sum()
    if (taken > 1).any() or 2 * int((taken == 1).sum()) < len(taken):
        return None
    free = [str(name) for name in table if name not in (chosen, *task) and not numbers_rows(name)]
    varying = [name for name in free if (sets[name].nunique(dropna=False) > 1).any()]
    attributes = [name for name in varying if spelled(name) not in (*_PROFILE, *_AFTERWARDS)]
    if _OBJECT in attributes and len(attributes) > 1:
        return None
    if not attributes:
        attributes = [name for name in varying if spelled(name) in _PROFILE and _names_objects(table[name])]
    return _Choices(chosen, task, attributes) if attributes else None


def _names_objects(column: pd.Series) -> bool:
    """Whether the labels of a column name alternatives, and are not the letters or numbers of places."""
    labels = {str(label).casefold() for label in column.dropna().unique()}
    return not all(len(label) < 2 or label in ("left", "right") or label.isdigit() for label in labels)


def _marks(table: pd.DataFrame, chosen: str, task: Sequence[str]) -> pd.Series | None:
    """Return which profiles were chosen; None if the column does not show it."""
    words = table[chosen].map(lambda value: "" if pd.isna(value) else str(value).strip().casefold())
    if words.isin([*YES, *NO]).all() and not words.isin([*NO]).all():
        marks = words.isin([*YES])
        if (marks.groupby([table[name] for name in task], sort=False).nunique() > 1).any():
            return marks
    for name in (name for name in table if spelled(name) in _PROFILE):  # the profile that was chosen, in every row
        label = table[name].astype(str).str.strip().str.casefold()
        once = table.groupby(list(task), sort=False)[chosen].nunique().le(1).all()
        if once and set(words) - {""} <= set(label) and len(set(label)) > 1:
            return label.eq(words)
    return None


@dataclass(frozen=True, eq=False)
class ProfileSets:
    """A row for each task, as `from_choices` takes it.

    Attributes
    ----------
    table : DataFrame
        The columns of objects and of the best, and those that have one value in each task.
    objects : list of str
    best : str
    described : DataFrame or None
        The attributes of each object; None where one attribute names the objects.
    notes : tuple of str
    """

    table: pd.DataFrame
    objects: list[str]
    best: str
    described: pd.DataFrame | None
    notes: tuple[str, ...]


def sets_of_profiles(table: pd.DataFrame, chosen: str, block: list[str], attributes: list[str]) -> ProfileSets:
    """Return the tasks of a table of profiles.

    Objects are the combinations of attributes; a profile that occurs twice in a task gets a number.

    Raises
    ------
    JudgmentError
        For missing attributes.
    """
    for name in attributes:
        if gone := int(table[name].isna().sum()):
            raise JudgmentError(f"column {name!r} is empty in {counted(gone, 'row')}", expected="a value in every row")
    marks = _marks(table, chosen, block)
    assert marks is not None  # as `profiles_of` saw
    taken = marks.to_numpy(dtype=bool)
    task = table.groupby(block, sort=False).ngroup().to_numpy(dtype=np.intp)
    labels, alone = _labels(table, task, attributes)
    place = pd.Series(task).groupby(task).cumcount().to_numpy()
    shown = np.full((task.max() + 1, place.max() + 1), None, dtype=object)
    shown[task, place] = labels
    best = np.full(len(shown), None, dtype=object)
    best[task[taken]] = labels[taken]
    columns = [free_name(f"profile {k + 1}", list(map(str, table))) for k in range(shown.shape[1])]
    of_task = [name for name in table if table[name].groupby(task).nunique(dropna=False).le(1).all()]
    first = np.unique(task, return_index=True)[1]
    wide = table[of_task].iloc[first].reset_index(drop=True)
    name_of_best = free_name("best", list(map(str, table)))
    wide = wide.assign(**dict(zip(columns, shown.T, strict=True)), **{name_of_best: best})
    tasks = wide[wide[name_of_best].notna()].reset_index(drop=True)
    gone = len(wide) - len(tasks)
    notes = (f"left out: {counted(gone, 'task')} without a choice",) if gone else ()
    used = pd.unique(tasks[columns].to_numpy(dtype=object).ravel())
    described = table[attributes].assign(**{_OBJECT: labels}).drop_duplicates(_OBJECT)
    described = described[described[_OBJECT].isin(used)]
    return ProfileSets(tasks, columns, name_of_best, None if alone else described, notes)


def _labels(
    table: pd.DataFrame, task: npt.NDArray[np.integer[Any]], attributes: Sequence[str]
) -> tuple[npt.NDArray[np.object_], bool]:
    """Return the object of each row, its attributes, and whether one attribute alone names objects."""
    columns = [[_text(value) for value in table[name].tolist()] for name in attributes]
    texts = pd.Series(map(", ".join, zip(*columns, strict=True)), dtype=object)
    again = texts.groupby([task, texts.to_numpy()]).cumcount().to_numpy()
    alone = len(attributes) == 1 and not again.any() and table[attributes[0]].dtype.kind not in "iuf"
    labels = [f"{text} ({k + 1})" if k else text for text, k in zip(texts, again, strict=True)]
    return np.array(labels, dtype=object), alone


def _text(value: object) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return repr(float(value)).removesuffix(".0") if number else str(value)  # type: ignore[arg-type]


def attributes_of(data: Rankings) -> tuple[str, ...]:
    """Return the attributes of lists of profiles: the object covariates whose values name the objects."""
    if not data.object_columns:
        return ()
    columns = [map(_text, column.values.tolist()) for column in data.object_columns]
    names = map(", ".join, zip(*columns, strict=True))
    called = all(re.sub(r" \(\d+\)$", "", str(label)) == name for label, name in zip(data.objects, names, strict=True))
    return data.object_covariates if called else ()
