"""Which columns of a table are rankings, best-worst sets or ratings, by their names and then by their values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..errors import JudgmentError, listed
from .column_values import spelled
from .score_columns import ITEM_WORDS, RATER_WORDS, SYSTEM_WORDS, called, is_beside, is_called
from .sources import Source, in_memory
from .spare_columns import numbers_of_rows

_BEST = ("best", "overallbest", "bestoverall", "mostpreferred", "mostimportant", "most")
_WORST = ("worst", "overallworst", "worstoverall", "leastpreferred", "leastimportant", "least")
_OBJECT = ("object", "item", "option", "alternative", "candidate", "variety", "system", "model", "stimulus", "product")
_NAMED_OBJECT = ("movie", "film", "brand", "image", "picture", "video", "wine", "food", "dish", "essay")  # if none is
_BEST_AND_WORST = ("(?:b|best)", "(?:w|worst)")  # and the number of the set
_RANK = ("rank", "ranking", "place", "position")
_RATING = ("rating", "ratings", "stars", "likert", "opinion", "liking", "hedonic")
_SCORE = ("score", "scores", "points", "grade", "value")  # ratings where somebody is named who gave them
_PERSON = ("person", "respondent", "participant", "subject", "observer", "student", "voter", "panelist", "consumer")
_BLOCK = ("block", "list", "ballot", "set", "trial", "trait")
_OF_PERSONS = (
    *("age", "sex", "gender", "female", "male", "education", "edu", "income", "urban", "region", "country"),
    *("experience", "condition", "group", "wave", "session", "weight", "height", "married", "religion", "party"),
)
_NUMBERED = re.compile(r"[a-z]{0,12}[\s_-]?\d+(?:\.0)?", re.IGNORECASE)  # what persons are called: P1, 17
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_PLACE = re.compile(r"(?:rank|place|position|choice|pref|preference|pos)?(\d+)(?:st|nd|rd|th)?")
_STEM = re.compile(r"(.*?)[\s_.-]*([a-z]|\d+|one|two|three|four|five|six|seven)", re.IGNORECASE)


@dataclass(frozen=True)
class ListLayout:
    """How a table of lists is read.

    Attributes
    ----------
    kind : {"sets", "profiles", "long", "ranks", "places", "ratings"}
        Best-worst sets; choices among profiles; rankings with a row for each object, with a column of ranks for each
        object, or with a column for each place; ratings.
    arguments : mapping
        Of `from_choices` for sets, of `sets_of_profiles` for profiles, of `from_ratings` for ratings, else of
        `from_rankings`.
    note : str
        What the columns were read as.
    judge : str or None
        For profiles, the column of the people who chose.
    """

    kind: Literal["sets", "profiles", "long", "ranks", "places", "ratings"]
    arguments: Mapping[str, Any]
    note: str
    judge: str | None = None


def list_layout(source: Source) -> ListLayout | None:
    """Return the layout of a table of rankings or best-worst sets; None if the columns fit neither."""
    return sets_of(source) or rankings_of(source)


def sets_of(source: Source) -> ListLayout | None:
    """Return the columns of best-worst sets: best, worst, and three or more columns whose names share a stem."""
    best, worst = (_called(source.names, words) for words in (_BEST, _WORST))
    if best is None:
        return None
    shown = _of_one_stem([name for name in source.names if name not in (best, worst)])
    if len(shown) < 3:
        return None
    _refuse_weights(source)
    beside = "" if worst is None else f", the worst in {worst!r}"
    note = f"read as sets of the objects in {listed(shown, 12)}, the best in {best!r}{beside}"
    return ListLayout("sets", {"objects": shown, "best": best, "worst": worst}, note)


def rankings_of(source: Source) -> ListLayout | None:
    """Return the columns of rankings: a rank and an object in each row, ranks of all objects, or objects by place.

    Raises
    ------
    JudgmentError
        For a column that may say how often each list was given.
    """
    if any(source.frame.collect_schema()[name].is_nested() for name in source.inner.values() or source.names):
        return None
    try:
        layout = _long(source) or _places(source) or _ranks(source)
    except TypeError:  # cells of Python without a hash or an order
        return None
    if layout is not None:
        _refuse_weights(source)
    return layout


def _refuse_weights(source: Source) -> None:
    named = numbers_of_rows(source, ())
    if named:
        raise JudgmentError(
            f"column {named[0]!r} may say how often each list was given, and lists have no weights",
            "Write each list as often as it was given; or name the columns of the lists, and this one is not used.",
            where=source.what,
        )


def _long(source: Source) -> ListLayout | None:
    rank, item = _called(source.names, _RANK), _object_of(source.names)
    makers = None if rank is None or item is None else makers_of(source, item, (rank,))
    if rank is None or item is None or makers is None:
        return None
    note = f"read as rankings of {item!r} by {rank!r}, one for each {' and '.join(map(repr, makers))}"
    return ListLayout("long", {"object": item, "rank": rank, "block": makers}, note)


def makers_of(source: Source, item: str, values: Sequence[str]) -> list[str] | None:
    """Return the columns that make a list or block of a table with a row for each object; None if there are none.

    These are all other columns, or those with usual names of judges, items and blocks, if every block then has several
    objects, each once. The other columns have one value in each block, or hold times, lengths or numbers of rows.
    """
    weights = numbers_of_rows(source, ())
    others = [name for name in source.names if name not in (item, *values, *weights)]
    units = [name for name in others if is_called(name, (*RATER_WORDS, *_PERSON, *ITEM_WORDS, *_BLOCK))]
    table = in_memory(source)
    for makers in (others, units):
        if makers:
            sizes = table.groupby(makers, dropna=False, sort=False)[item].agg(["size", "nunique"])
            once = sizes["size"].gt(1).all() and sizes["size"].eq(sizes["nunique"]).all()
            rest = [name for name in others if name not in makers and not is_beside(name)]
            if once and table.groupby(makers, dropna=False, sort=False)[rest].nunique().le(1).all(axis=None):
                return makers
    return None


def judge_of(names: Sequence[str]) -> str | None:
    """Return the column with a usual name of judges."""
    return next(iter(called(names, (*RATER_WORDS, *_PERSON))), None)


def _object_of(names: Sequence[str]) -> str | None:
    """Return the only column with a usual name of objects; an item column beside it is the prompt."""
    candidates = [name for name in names if spelled(name) in _OBJECT]
    candidates = candidates or [name for name in names if spelled(name) in _NAMED_OBJECT]
    several = len(candidates) > 1
    candidates = [name for name in candidates if not (several and spelled(name) == "item")]
    return candidates[0] if len(candidates) == 1 else None


def _places(source: Source) -> ListLayout | None:
    numbers = {name: _place(name) for name in source.names}
    columns = sorted((name for name in source.names if numbers[name]), key=lambda name: numbers[name] or 0)
    if len(columns) < 3 or [numbers[name] for name in columns] != list(range(1, len(columns) + 1)):
        return None
    cells = in_memory(source)[columns].to_numpy(dtype=object)
    codes, labels = pd.factorize(cells.ravel())
    ordered = np.sort(codes.reshape(cells.shape), axis=1)  # missing ones, −1, first
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if not all(isinstance(label, str) for label in labels) or twice.any():
        return None
    return ListLayout("places", {"objects": columns}, f"read as rankings by place, in {listed(columns, 12)}")


def _ranks(source: Source) -> ListLayout | None:
    """Return columns that hold 1 to k in each row, each number once, of at least three objects and two rows."""
    frame = in_memory(source)
    if any(is_called(name, SYSTEM_WORDS) for name in frame):  # a system in each row: its ranks in tasks, or scores
        return None
    numbers = frame[[name for name in frame if not is_beside(name)]].select_dtypes("number")
    columns = [name for name in numbers if numbers[name].max() <= numbers.shape[1] and _place(str(name)) is None]
    if len(columns) < 3 or len(frame) < 2:
        return None
    values = np.sort(numbers[columns].to_numpy(dtype=float), axis=1)  # missing ones last
    k = np.arange(1.0, len(columns) + 1)
    whole = np.isnan(values) | (values == k)
    if not whole.all() or np.isnan(values[:, 1]).any():
        return None
    names = [str(name) for name in columns]
    return ListLayout("ranks", {"objects": names}, f"read as rankings, 1 for the best, of {listed(names, 12)}")


def ratings_of(source: Source) -> ListLayout | None:
    """Return the columns of ratings: a rating and an object in each row, or a row for each person.

    Raises
    ------
    JudgmentError
        For a column that may say how often each row was given, and for numbers that may be ranks with ties.
    """
    if any(source.frame.collect_schema()[name].is_nested() for name in source.inner.values() or source.names):
        return None
    try:
        layout = _long_ratings(source) or _wide_ratings(source)
    except TypeError:  # cells of Python without a hash or an order
        return None
    if layout is not None:
        _refuse_weights(source)
    return layout


def _long_ratings(source: Source) -> ListLayout | None:
    named = judge_of(source.names) is not None
    rating, item = _called(source.names, (*_RATING, *(_SCORE if named else ()))), _object_of(source.names)
    if rating is None or item is None or in_memory(source)[rating].dtype.kind not in "iuf":
        return None
    makers = makers_of(source, item, (rating,))
    if makers is None:
        return None
    note = f"read as ratings of {item!r} by {rating!r}, the highest is best, within {' and '.join(map(repr, makers))}"
    return ListLayout("ratings", {"object": item, "rating": rating, "block": makers}, note)


def _wide_ratings(source: Source) -> ListLayout | None:
    """Return whole and half numbers on one scale, of at least three objects, beside the column of who gave them."""
    frame = in_memory(source)
    judge = judge_of(source.names) or next((name for name in source.names if spelled(name) == "id"), None)
    if judge is None or len(frame) < 2 or not frame[judge].is_unique:
        return None
    numbered = all(_NUMBERED.fullmatch(str(label)) for label in frame[judge])
    if (is_called(judge, SYSTEM_WORDS) or spelled(judge) == "id") and not numbered:
        return None
    beside = [name for name in frame if is_beside(name) or spelled(name) in _OF_PERSONS or name == judge]
    columns = [name for name in frame.drop(columns=beside).select_dtypes("number") if _place(str(name)) is None]
    values = frame[columns].to_numpy(dtype=float)
    if len(columns) < 3 or np.isnan(values).all(axis=0).any() or (values % 0.5 > 0).any():
        return None
    names = [str(name) for name in columns]
    _refuse_places_in_sets(names, source.what)
    if np.nanmin(values) >= 1 and np.nanmax(values) <= len(columns):
        raise JudgmentError(
            f"columns {listed(names, 12)} hold whole numbers from 1 to {len(columns)}, and may be ranks or ratings",
            f"Pass rankings={names!r} if 1 is the best, or ratings={names!r} if the highest is.",
            where=source.what,
        )
    if not _on_one_scale(values) or (spelled(judge) == "id" and np.nanmax(values) > 10):
        return None
    return ListLayout("ratings", {"objects": names}, f"read as ratings, the highest is best, of {listed(names, 12)}")


def _refuse_places_in_sets(names: Sequence[str], what: str) -> None:
    """Raise an error for columns of several sets, such as B1, W1, B2, W2: they need a design."""
    best, worst = ([name for name in names if re.fullmatch(rf"{word}\d+", spelled(name))] for word in _BEST_AND_WORST)
    if best and len(best) + len(worst) == len(names) and len(worst) in (0, len(best)):
        worsts = f", worst={worst!r}" if worst else ""
        raise JudgmentError(
            f"columns {listed(list(names), 12)} are named like the best and worst of several sets",
            f"The design lists the objects of each set: pass it as design=, with best={best!r}{worsts}.",
            where=what,
        )


def _on_one_scale(values: Any) -> bool:
    """Whether the columns (rows, J) may be of one scale, up to 10 or up to 100, and none of them a code."""
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    top = high.max()
    codes = (high - low == 1) & (low >= 0) & (high <= 2)  # 0 and 1, or 1 and 2: a sex, a condition
    return bool((top <= 10 or (top <= 100 and high.min() > 10)) and (top <= 2 or not codes.any()))


def _called(names: Sequence[str], words: Sequence[str]) -> str | None:
    """Return the first column that is called by one of some words, in the order of the words."""
    spelt = {spelled(name): name for name in reversed(names)}
    return next((spelt[word] for word in words if word in spelt), None)


def _of_one_stem(names: Sequence[str]) -> list[str]:
    """Return the most columns that differ by a letter or number at their end: variety_a, variety_b, variety_c."""
    stems = pd.Series([match[1] if (match := _STEM.fullmatch(name)) else None for name in names], index=list(names))
    stems = stems[stems.notna() & stems.ne("")]
    return [] if stems.empty else list(stems.index[stems == stems.value_counts().index[0]])


def _place(name: str) -> int | None:
    """Return the place in the name of a column: first, 2nd, rank_3."""
    name_words = spelled(name)
    if name_words in _PLACES:
        return _PLACES.index(name_words) + 1
    match = _PLACE.fullmatch(name_words)
    return int(match[1]) if match and len(match[1]) < 3 else None
