"""The role of each column of a table of scores: system, item, score, rater or run, by name and then by values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..base.table import counted
from ..core.columns import FloatArray
from ..errors import JudgmentError, listed
from .score_columns import (
    ITEM_WORDS,
    RATER_WORDS,
    RUN_WORDS,
    SCORE_WORDS,
    SYSTEM_WORDS,
    TOTAL_WORDS,
    called,
    counters,
    is_beside,
    is_called,
    is_score,
    labelled,
    numbers_rows,
    refuse_bad_cells,
    refuse_gone,
)

_LONG_TEXT = 40  # characters from which a text is an input or an output, no name


@dataclass(frozen=True)
class NamedColumns:
    """The columns of a table of scores that a caller names.

    Attributes
    ----------
    system : str or None
    item, score : tuple of str
    rater : str or None
    ignore : tuple of str
    others : tuple of str
        Columns that are kept with the scores: covariates, clusters.
    """

    system: str | None = None
    item: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    rater: str | None = None
    ignore: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoreLayout:
    """How a table holds scores.

    Attributes
    ----------
    system : str or None
        The column of systems; None where each system has a column.
    item : tuple of str
        The columns that name items together; empty where each row, or each column of scores, is an item.
    scores : tuple of str
        One column if each row is a score; else a column for each system or, with systems in rows, for each item.
    averaged : tuple of str
        Raters and runs over which scores are averaged.
    numbering : tuple of str
        Columns that only number the rows of a wide table.
    notes : tuple of str
    """

    system: str | None
    item: tuple[str, ...]
    scores: tuple[str, ...]
    averaged: tuple[str, ...] = ()
    numbering: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def layout_of(table: pd.DataFrame, asked: NamedColumns) -> ScoreLayout:
    """Return how a table holds scores.

    Columns that the caller names are not examined. For other columns, names decide first, then values.

    Raises
    ------
    JudgmentError
        For columns that are missing, ambiguous, or hold numbers and other values; and for fewer than two systems.
    """
    roles = [*filter(None, (asked.system, asked.rater)), *asked.item, *asked.score]
    beside = [name for name in asked.others if name != "instance"]  # the number of the row, where there is none
    refuse_gone(table, [*roles, *asked.ignore, *beside])
    _refuse_two_roles(table, asked, roles)
    table = _of_labels(table, roles)
    free = [name for name in table.columns if name not in (*roles, *asked.ignore, *asked.others)]
    refuse_bad_cells(table, [name for name in free if not is_beside(name) and not is_called(name, SYSTEM_WORDS)])
    system = asked.system or _system_by_name(table, free, asked)
    if system is None:
        return _without_system(table, free, asked)
    return _with_system(table, [name for name in free if name != system], replace(asked, system=system))


def wide_layout(table: pd.DataFrame, asked: NamedColumns) -> ScoreLayout:
    """Return the layout of a table that, by the caller's arguments, has a column for each system."""
    beside = [name for name in asked.others if name != "instance"]
    refuse_gone(table, [*asked.score, *asked.item, *beside])
    free = [name for name in table.columns if name not in (*asked.score, *asked.item, *asked.ignore, *asked.others)]
    if not asked.score:
        refuse_bad_cells(table, [name for name in free if not is_beside(name) and not is_called(name, SYSTEM_WORDS)])
    numbers = [name for name in free if is_score(table[name])]
    return _wide(table, free, numbers, [name for name in numbers if not is_beside(name)], asked)


def _of_labels(table: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
    """Return a table without columns of lists and records; raise where one has a role."""
    nested = []
    for name in (name for name in table.columns if table[name].dtype.kind == "O"):
        try:
            pd.factorize(table[name])
        except TypeError:
            nested.append(name)
            if name in roles or is_called(name, (*SYSTEM_WORDS, *ITEM_WORDS)):
                labelled(table[name])
    return table.drop(columns=nested)


def _refuse_two_roles(table: pd.DataFrame, asked: NamedColumns, roles: Sequence[str]) -> None:
    if {"system", "score"} <= set(table.columns) and not asked.system and not asked.score:
        roles = [*roles, "system", "score"]
    beside = (*asked.ignore, *(name for name in asked.others if name not in (*asked.item, asked.rater)))
    several = [name for name in roles if roles.count(name) > 1 or name in beside]
    if several:
        raise JudgmentError(
            f"column {several[0]!r} holds scores or systems and is also named as instance or with "
            "others=, covariates= or clusters=",
            expected="one role for each column",
        )


# -- a column of systems -------------------------------------------------------------------------------------


def _system_by_name(table: pd.DataFrame, free: Sequence[str], asked: NamedColumns) -> str | None:
    """Return the column of labels with a usual name of systems, if there is one."""
    numbers = [name for name in free if is_score(table[name]) and not is_beside(name)]
    candidates = []
    for name in called(free, SYSTEM_WORDS):
        column = table[name]
        if not is_score(column) and column.dtype.kind not in "bM":
            candidates.append(name)
        elif is_score(column) and not is_called(name, RUN_WORDS) and _is_whole(column):
            items = asked.item or called([str(n) for n in table if n != name], ITEM_WORDS)
            if set(numbers) - {name} and any(_is_crossed(table, name, item) for item in items):
                candidates.append(name)
    if len(candidates) > 1:
        items = [name for name in called(map(str, table.columns), ITEM_WORDS) if name not in candidates]
        candidates = [name for name in candidates if _is_unique(table, [name, *items])] or candidates
    if len(candidates) > 1 and not _is_one_to_one(table, candidates[0], candidates[1]):
        calls = " or ".join(f"system={name!r}" for name in candidates[:2])
        raise JudgmentError(f"columns {listed(candidates)} may each name the systems", f"Pass {calls}.")
    return candidates[0] if candidates else None


def _with_system(table: pd.DataFrame, free: Sequence[str], asked: NamedColumns) -> ScoreLayout:
    """Return the layout of a table with a column of systems: a score a row, or a system a row."""
    system = str(asked.system)
    texts = [name for name in table.columns if name not in (system, *asked.score, *asked.ignore)]
    named_items = [name for name in called(texts, ITEM_WORDS) if not is_called(name, RUN_WORDS)]
    runs = [name for name in called(free, RUN_WORDS) if name != system]
    raters = [asked.rater] if asked.rater else called(free, RATER_WORDS)
    scores = list(asked.score) or _score_candidates(table, free)
    _refuse_one_system(table[system], f"column {system!r} names")
    if not asked.item and (len(asked.score) > 1 or (len(scores) > 1 and _is_unique(table, [system]))):
        return _systems_in_rows(table, system, scores, (), bool(asked.score))
    if not asked.item and not named_items and len(scores) > 1 and runs and _is_unique(table, [system, *runs]):
        return _systems_in_rows(table, system, scores, runs, bool(asked.score))
    item = list(asked.item) or _items(table, system, named_items, (*raters, *runs), free, scores, asked)
    scores = [name for name in scores if name not in item]
    score = _the_score(table, system, item, scores, free)
    layout = ScoreLayout(system, tuple(item), (score,), _averaged(table, (system, *item), raters, runs, asked))
    usual = (system, tuple(item), score) == ("system", ("instance",), "score")
    reading = f"systems by column {system!r}, items by {' and '.join(map(repr, item))}, scores by {score!r}"
    given = asked.item and asked.score
    flags = (f"True and False in {score!r} read as 1 and 0",) if table[score].dtype.kind == "b" else ()
    return replace(layout, notes=(*(() if usual or given else (reading,)), *flags))


def _score_candidates(table: pd.DataFrame, free: Sequence[str]) -> list[str]:
    """Return the columns of numbers that may be scores; only those with usual names of scores, if there are any.

    If there are no numbers, True and False are scores in a column with a usual name, such as ``correct``.
    """
    numbers = [name for name in free if is_score(table[name]) and not is_beside(name)]
    best = [name for name in numbers if str(name).casefold() == "score"]
    return best or numbers or called([name for name in free if table[name].dtype.kind == "b"], SCORE_WORDS)


def _items(
    table: pd.DataFrame,
    system: str,
    named: Sequence[str],
    beside: Sequence[str],
    free: Sequence[str],
    scores: Sequence[str],
    asked: NamedColumns,
) -> list[str]:
    """Return the columns that tell apart what a system was scored on: one or two by name, else one by its values."""
    if "instance" in named:
        return ["instance"]
    crossed = [name for name in named if _is_crossed(table, system, name)]
    for keys in ((), beside):
        single = [name for name in crossed if _is_unique(table, [system, name, *keys])]
        if single and all(_is_one_to_one(table, single[0], other) for other in single[1:]):
            return single[:1]
        if single:
            calls = " or ".join(f"item={name!r}" for name in single[:2])
            raise JudgmentError(f"columns {listed(single)} may each name the items", f"Pass {calls}.")
        if len(crossed) > 1 and _is_unique(table, [system, *crossed, *keys]):
            return crossed
    if crossed:
        return crossed
    items = _items_by_value(table, system, [name for name in free if name not in beside], scores)
    if len(items) == 1:
        return items
    what = f"columns {listed(items)} may each name the items" if items else "no column says which item a score is of"
    calls = " or ".join(f"item={name!r}" for name in items[:2])
    raise JudgmentError(
        f"{what} beside the systems of {system!r}; the table has {listed(list(table.columns), 20)}",
        f"Pass {calls}." if items else "Pass item=… with the column of questions, documents or segments.",
        expected="a row for each system and item",
    )


def _items_by_value(table: pd.DataFrame, system: str, free: Sequence[str], scores: Sequence[str]) -> list[str]:
    labels = [name for name in free if not is_score(table[name]) or _is_whole(table[name])]
    enough = [name for name in labels if len(scores) > 1 or name not in scores]
    return [name for name in enough if _is_crossed(table, system, name) and _is_unique(table, [system, name])]


def _the_score(
    table: pd.DataFrame, system: str, item: Sequence[str], scores: Sequence[str], free: Sequence[str]
) -> str:
    if len(scores) == 1:
        return scores[0]
    if len(scores) > 1:
        named = called(scores, SCORE_WORDS)
        if len(named) == 1:
            return named[0]
        calls = " or ".join(f"score={name!r}" for name in (named or scores)[:2])
        raise JudgmentError(f"columns {listed(scores)} are all numbers that may be scores", f"Pass {calls}.")
    flags = [name for name in free if table[name].dtype.kind == "b"]
    raise JudgmentError(
        f"no column of scores beside {system!r} and {listed(item)}; the table has {listed(list(table.columns), 20)}",
        f"Pass score={flags[0]!r} to read True as 1 and False as 0." if flags else "",
        expected="a column of numbers",
    )


def _averaged(
    table: pd.DataFrame, keys: Sequence[str], raters: Sequence[str], runs: Sequence[str], asked: NamedColumns
) -> tuple[str, ...]:
    """Return the columns of raters and runs that tell rows of one system and item apart."""
    beside = [*(name for name in raters if name != asked.rater), *runs]
    own = [*keys, *([asked.rater] if asked.rater else [])]
    if _is_unique(table, own):
        return ()
    return tuple(beside) if _is_unique(table, [*own, *beside]) else ()


def _systems_in_rows(
    table: pd.DataFrame, system: str, scores: Sequence[str], runs: Sequence[str], given: bool
) -> ScoreLayout:
    totals = [name for name in scores if is_called(name, TOTAL_WORDS) and not given]
    single = [name for name in scores if name not in totals]
    single, totals = (single, totals) if len(single) > 1 else (list(scores), [])
    for name in single:
        rest = [other for other in single if other != name]
        if len(rest) > 1 and not given and not _overlaps(table, name, rest):
            raise JudgmentError(
                f"column {system!r} has a system in each row, but {name!r} is on another scale than {listed(rest)}",
                f"Pass system={system!r}, ignore=[{name!r}], or system={system!r}, score={list(single)!r}.",
            )
    notes = [f"a system in each row, by column {system!r}: items are the columns {listed(single, 12)}"]
    notes += [f"column {listed(totals)} left out: it is a mean or rank of the other columns"] if totals else []
    return ScoreLayout(system, (), tuple(single), tuple(runs), tuple(totals), tuple(notes))


# -- a column for each system --------------------------------------------------------------------------------


def _without_system(table: pd.DataFrame, free: Sequence[str], asked: NamedColumns) -> ScoreLayout:
    numbers = [name for name in free if is_score(table[name])]
    plain = [name for name in numbers if not is_beside(name)]
    if not asked.score:
        guessed = _system_by_value(table, free, plain, asked)
        if guessed is not None:
            return _with_system(table, [name for name in free if name != guessed], replace(asked, system=guessed))
        _refuse_unnamed_rows(table, free, plain, asked)
    return _wide(table, free, numbers, plain, asked)


def _system_by_value(table: pd.DataFrame, free: Sequence[str], plain: Sequence[str], asked: NamedColumns) -> str | None:
    """Return the only column of repeated labels that is crossed with items; None unless one of numbers is left."""
    if len(plain) != 1 or len(table) < 2:
        return None
    items = list(asked.item) or called(table.columns, ITEM_WORDS)
    texts = [name for name in free if _is_label(table[name]) and not table[name].is_unique and not is_beside(name)]
    candidates = [
        name
        for name in texts
        if table[name].nunique() > 1
        and any(_is_crossed(table, name, item) and _is_unique(table, [name, item]) for item in items)
    ]
    return candidates[0] if len(candidates) == 1 else None


def _refuse_unnamed_rows(table: pd.DataFrame, free: Sequence[str], plain: Sequence[str], asked: NamedColumns) -> None:
    """Raise for a column of unique labels beside several columns of numbers: they may be systems or items."""
    if len(plain) < 2 or asked.item or any(is_called(name, ITEM_WORDS) for name in table.columns):
        return
    labels = [name for name in free if _is_label(table[name]) and table[name].is_unique and not is_beside(name)]
    if len(labels) != 1 or len(table) < 2:
        return
    name = labels[0]
    raise JudgmentError(
        f"column {name!r} has another label in each row beside {counted(len(plain), 'column')} of numbers: systems or "
        "items",
        f"Pass system={name!r} (a system in each row) or item={name!r} (a system in each column).",
    )


def _wide(
    table: pd.DataFrame, free: Sequence[str], numbers: Sequence[str], plain: Sequence[str], asked: NamedColumns
) -> ScoreLayout:
    numbering = counters(table, plain) if not asked.score else []
    chosen = list(asked.score) or _systems_by_column(table, numbers, [n for n in plain if n not in numbering])
    beside = [name for name in numbers if name not in chosen]
    _refuse_few(table, free, chosen)
    item = asked.item or (("instance",) if "instance" in table else ())
    runs = called(free, RUN_WORDS)
    raters = [asked.rater] if asked.rater else called(free, RATER_WORDS)
    averaged: list[str] = []
    items = list(item) or [name for name in called(table.columns, ITEM_WORDS) if name not in chosen]
    choices = [items] if item else [*([name] for name in items), items]
    for keys in choices if runs or raters else ():
        if keys and not averaged and not _is_unique(table, keys) and _is_unique(table, [*keys, *raters, *runs]):
            item, averaged = tuple(keys), [name for name in (*raters, *runs) if name != asked.rater]
    rows = [name for name in beside if name in numbering or numbers_rows(name)]
    rows = [name for name in rows if name not in (*item, *averaged)]
    which = f"column{'s' if len(rows) > 1 else ''} {listed(rows)} taken for row numbers, not for systems"
    return ScoreLayout(None, tuple(item), tuple(chosen), tuple(averaged), tuple(rows), (which,) if rows else ())


def _systems_by_column(table: pd.DataFrame, numbers: Sequence[str], plain: Sequence[str]) -> list[str]:
    """Return the columns of numbers, except those that look like items, raters, runs, lengths or times."""
    for name in numbers:
        if name in plain or not is_beside(name) or not plain or not _looks_like(table, name, plain):
            continue
        raise JudgmentError(
            f"column {name!r} may be a system or not: its values are like those of {listed(plain)}",
            f"Pass ignore=[{name!r}] ({counted(len(plain), 'system')}) or score={[*plain, name]!r} "
            f"({counted(len(plain) + 1, 'system')}).",
        )
    return list(plain)


def _refuse_few(table: pd.DataFrame, free: Sequence[str], chosen: Sequence[str]) -> None:
    if len(chosen) >= 2:
        return
    alone = f" ({chosen[0]!r})" if len(chosen) == 1 else ""
    flags = [name for name in free if table[name].dtype.kind == "b"]
    nothing = ": one system, and nothing to compare it with" if len(chosen) == 1 and not flags else ""
    make = f"Pass score={flags!r} to read True as 1 and False as 0." if len(flags) > 1 else ""
    raise JudgmentError(
        f"{counted(len(chosen), 'column')} of scores{alone} among {listed(list(free), 20)}{nothing}",
        make,
        expected="a column of numbers per system, or a long frame with the columns system and score",
    )


def _refuse_one_system(column: pd.Series, what: str) -> None:
    if column.nunique() < 2:
        raise JudgmentError(
            f"{what} {counted(int(column.nunique()), 'system')}",
            expected="at least two: one has nothing to compare with",
        )


# -- values --------------------------------------------------------------------------------------------------


def _is_whole(column: pd.Series) -> bool:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = values[np.isfinite(values)]
    return bool(len(values)) and bool((values == np.floor(values)).all())


def _is_label(column: pd.Series) -> bool:
    """Whether a column holds short texts in every row."""
    if column.dtype.kind in "biufcM" or column.isna().any() or is_score(column):
        return False
    texts = column.astype(str)
    return bool(texts.str.len().max() <= _LONG_TEXT)


def _is_unique(table: pd.DataFrame, names: Sequence[str]) -> bool:
    return not table[list(dict.fromkeys(names))].duplicated().any()


def _is_crossed(table: pd.DataFrame, system: str, item: str) -> bool:
    """Whether some item belongs to several systems."""
    return bool((table.groupby(item, observed=True)[system].nunique() > 1).any())


def _is_one_to_one(table: pd.DataFrame, one: str, other: str) -> bool:
    pairs = table[[one, other]].drop_duplicates()
    return bool(pairs[one].is_unique and pairs[other].is_unique)


def _pooled(table: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    values: FloatArray = np.concatenate([table[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in names])
    return np.asarray(values[np.isfinite(values)])


def _looks_like(table: pd.DataFrame, name: str, others: Sequence[str]) -> bool:
    """Whether a column has the kind and range of others, and its values are neither all equal nor all different."""
    values, rest = _pooled(table, [name]), _pooled(table, others)
    if len(values) < 2 or not len(rest) or np.ptp(values) == 0:
        return False
    same_kind = bool((values == np.floor(values)).all()) == bool((rest == np.floor(rest)).all())
    if (numbers_rows(name) or is_called(name, ITEM_WORDS)) and len(set(values)) == len(values) and len(values) > 2:
        return False
    return same_kind and rest.min() <= values.min() and values.max() <= rest.max()


def _overlaps(table: pd.DataFrame, name: str, others: Sequence[str]) -> bool:
    """Whether the range of a column overlaps the ranges of others."""
    values, rest = _pooled(table, [name]), _pooled(table, others)
    if not len(values) or not len(rest):
        return True
    return bool(values.min() <= rest.max() and rest.min() <= values.max())
