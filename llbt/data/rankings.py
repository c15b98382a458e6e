"""Readers of rankings of several objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Annotated, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, checked
from ..base.table import counted
from ..core.columns import FloatArray, IntArray, sort_key
from ..core.implied_pairs import ROUNDING
from ..core.rankings import Rankings, gathered_rankings
from ..errors import JudgmentError, OptionError, listed, safe_repr
from .block_columns import (
    Roles,
    block_makers,
    check_roles,
    columns_of_objects,
    columns_of_rows,
    flat,
    kept_columns,
    roles_beside,
)
from .blocks import (
    Blocks,
    Scale,
    as_pandas,
    as_values,
    factorized,
    ranks_of,
    read_long,
    read_wide,
    refuse_negative,
    refuse_twice,
)
from .column_roles import Names, Wanted, read_object_table, wanted
from .files import open_source
from .formats import JudgmentFormat
from .frames import as_number
from .known_formats import ranking_format
from .list_layouts import rankings_of
from .preflib import SUFFIXES, read_preflib, suffix_of
from .sources import Source, as_names, in_memory, open_frame
from .tables import coded_pairs, kept_at, unused_note

Unranked = Literal["unknown", "below"]

_FIRST_ROWS = 20


@checked
def from_rankings(
    frame: object,
    *,
    objects: Sequence[str] | None = None,
    object: Names = "object",
    rank: Names = "rank",
    judge: str | None = None,
    prompt: str | None = None,
    block: Names | None = None,
    unranked: Annotated[Unranked, JUDGED_INSIDE] = "unknown",
    missing: Any = (),
    covariates: Names = (),
    clusters: Names = (),
    numeric: Names = (),
    object_covariates: object = None,
    judge_covariates: object = None,
) -> Rankings:
    """Return rankings: lists of objects that were ranked side by side.

    ``fit(formula, rankings)`` takes each list as one judgment; `Rankings.to_comparisons` returns the pairs that the
    lists imply.

    Parameters
    ----------
    frame : frame, path or list of records
        A frame of any library that narwhals knows, or the path of a file. Wide, one row per ranking and one column per
        object; long, one row per ranked object; or one row per ranking with columns that name the objects and columns
        of their ranks, as in files of the WMT. A path of a PrefLib file, with the suffix ``.soc``, ``.soi``, ``.toc``
        or ``.toi``, needs no other argument.
    objects : sequence of str, optional
        Wide form: the columns of ranks, one per object and named after it; or, if their cells are texts, the columns of
        the places, first to last, whose cells name the objects.
    object, rank : str or sequence of str
        Long form: the columns with the object and its rank, 1 for the best; only the order of the ranks counts, and
        equal ranks are ties. For one row per ranking, name several columns of each, with a rank for each object.
    judge, prompt : str, optional
        Long form: columns that together identify a ranking, that is, objects ranked side by side.
    block : str or sequence of str, optional
        Long form: the columns that identify a ranking, in place of `judge` and `prompt`. Without these and without
        `objects`, the table is read if its columns have only one possible meaning, and a note states it. They may be
        columns ``rank`` and ``object``, where all other columns identify a ranking; columns named after places; or
        columns that hold 1 to k in each row.
    unranked : {"unknown", "below"}
        The meaning of a missing rank. ``"unknown"``: the object is not in the list. ``"below"``: the object was shown
        and is below all ranked objects, for example if judges name only the best three.
    missing : value or sequence of values
        Ranks that mean "none", such as −1. A missing value always means none, and so does −1 in files of the WMT.
    covariates, clusters, numeric, object_covariates, judge_covariates
        As in `from_judgments`; these columns have one value per ranking. ``clusters="block"`` keeps the ranking itself
        as a cluster: the label of its column or columns, or the number of the row.

    Returns
    -------
    Rankings

    Raises
    ------
    JudgmentError
        For lines of PrefLib that are not an order, and a file that contradicts its head; missing columns, ranks that
        are not finite numbers or that are below 0 while others are above, objects that are missing or occur twice in a
        ranking, a covariate with several values in a ranking, and if no ranking has two objects.
    OptionError
        For columns with two roles, and if no column identifies a ranking.

    References
    ----------
    Mattei, N. & Walsh, T. (2013). PrefLib: a library for preferences. In Algorithmic Decision Theory, 259-270. The
    format is that of https://preflib.github.io/PrefLib-Jekyll/format as of 2022.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> rows = pd.DataFrame(
    ...     {"judge": ["J1", "J2"], "one": ["A", "C"], "two": ["B", "A"], "three": ["C", "B"],
    ...      "rank_one": [1, 1], "rank_two": [2, 1], "rank_three": [2, 3]})
    >>> r = llbt.from_rankings(
    ...     rows, object=("one", "two", "three"), rank=("rank_one", "rank_two", "rank_three"), clusters="judge")
    >>> print(r)
    Rankings: 3 objects, 2 lists of 3, up to 2 tied in a place
    <BLANKLINE>
    Ranking   Count Judge
    A > B = C     1 J1
    A = C > B     1 J2
    """
    if not isinstance(unranked, str) or unranked not in ("unknown", "below"):
        raise OptionError(
            f"unranked={safe_repr(unranked)}",
            f"For ranks that stand for a missing one, pass missing={safe_repr(unranked)}.",
            expected="'unknown' or 'below'",
        )
    columns = _Columns(objects, object, rank, judge, prompt, block)
    wanted_columns = wanted(covariates, clusters, numeric, object_covariates, None, (), judge_covariates)
    if isinstance(frame, (str, PathLike)) and suffix_of(str(frame)) in SUFFIXES:
        _refuse_columns(str(frame), columns, as_values(missing), wanted_columns)
        return _of_preflib(str(frame), unranked, object_covariates)
    return _read_lists(open_source(frame), columns, as_values(missing), unranked, wanted_columns)


@dataclass(frozen=True)
class _Columns:
    """The columns that hold rankings, as the caller of `from_rankings` names them."""

    objects: Sequence[str] | None = None
    object: Names = "object"
    rank: Names = "rank"
    judge: str | None = None
    prompt: str | None = None
    block: Names | None = None

    @property
    def unnamed(self) -> bool:
        """Whether the caller names none."""
        return self == _Columns()

    @property
    def makers(self) -> Mapping[str, Names | None]:
        """What makes a ranking, by parameter."""
        return {"judge": self.judge, "prompt": self.prompt, "block": self.block}


def _refuse_columns(path: str, columns: _Columns, absent: tuple[Any, ...], asked: Wanted) -> None:
    """Raise for options about columns beside a file of PrefLib."""
    default = _Columns()
    named = [field.name for field in fields(columns) if getattr(columns, field.name) != getattr(default, field.name)]
    named += [name for name in ("covariates", "clusters", "numeric") if getattr(asked, name)]
    named += ["missing"] if absent else []
    named += ["judge_covariates"] if asked.judges is not None else []
    if named:
        left = ", ".join(f"{name}=" for name in named)
        raise OptionError(f"columns of {path!r}, a file of PrefLib, which has none", f"Leave {left} out.")


def _read_lists(
    source: Source, columns: _Columns, absent: tuple[Any, ...], unranked: Unranked, asked: Wanted
) -> Rankings:
    """Return the rankings of a source, whichever form it has."""
    items, ranks = as_names(columns.object, "object"), as_names(columns.rank, "rank")
    wide = columns.objects is not None
    placed = None if columns.objects is None else _placed(source, columns_of_objects(columns.objects)["objects"])
    if placed is not None:
        table, places, note = placed
        of_places = replace(columns, objects=None, object=tuple(places), rank=tuple(places.values()))
        read = _read_lists(open_source(table), of_places, (), unranked, asked)
        return replace(read, notes=(note, *read.notes))
    if columns.unnamed and (layout := rankings_of(source)) is not None:
        read = _read_lists(open_source(in_memory(source)), _Columns(**layout.arguments), absent, unranked, asked)
        return replace(read, notes=(layout.note, *read.notes))
    known = ranking_format(source.names, ranks)
    scale = Scale("rank", "ranked", higher_wins=False, unranked=absent)
    if known is not None:
        form, verdict = known
        scale = replace(scale, higher_wins=verdict.higher_is_better, unranked=(*absent, *verdict.unranked))
    makers: Roles
    if columns.objects is not None:
        values, makers = columns_of_objects(columns.objects), block_makers(columns.makers, wide=True)
    elif isinstance(columns.object, str) and isinstance(columns.rank, str):
        values, makers = columns_of_rows({"object": columns.object, "rank": columns.rank}), _made_by(columns.makers)
    else:
        values, makers = _beside(items, ranks, columns.makers), {}
    asked = asked.of_blocks(source.names, makers.get("judge", ()))
    roles: Roles = {**values, **makers, **roles_beside(asked, source.names, flat(makers))}
    check_roles(source.names, roles)
    table = as_pandas(source, flat(roles))
    made = _read(table, values, makers, scale, wide=wide)
    if known is not None:
        made = _as_written(made, form)
    refuse_negative(made.value)
    refuse_twice(made.sorted() if unranked == "below" else made.ranked(), table)
    if scale.higher_wins:
        made = replace(made, value=-made.value)
    written = () if known is None else (f"read as {form.description}",)
    return rankings_of_blocks(table, made, scale, roles, asked, source.names, unranked=unranked, notes=written)


def _placed(source: Source, columns: tuple[str, ...]) -> tuple[pd.DataFrame, dict[str, str], str] | None:
    """Return a table with a column of ranks for each column of places with names of objects; their names; a note."""
    if not set(columns) <= set(source.names) or _begins_with_a_number(source, columns):
        return None
    table = in_memory(source)
    cells = [value for name in columns for value in table[name].dropna()]
    if not cells or not all(isinstance(value, str) and as_number(value) is None for value in cells):
        return None
    places = {name: f"place of {name}" for name in columns}
    ranks = {rank: table[name].notna().map({True: float(k)}) for k, (name, rank) in enumerate(places.items(), 1)}
    return (
        table.assign(**ranks),
        places,
        f"cells name objects: {columns[0]!r} to {columns[-1]!r} are places, best first",
    )


def _begins_with_a_number(source: Source, columns: Sequence[str]) -> bool:
    """Whether the first rows of some columns of a frame in memory hold a number, so that not all rows are read."""
    if not isinstance(source.frame, nw.DataFrame):
        return False
    cells = [cell for name in columns for cell in source.frame[name].head(_FIRST_ROWS).to_list()]
    return any(not pd.isna(number) for cell in cells if (number := as_number(cell)) is not None)


def _as_written(made: Blocks, form: JudgmentFormat) -> Blocks:
    """Return blocks without the objects that a format leaves unnamed; objects that it joins are separated."""
    of_label = [
        [] if label in form.unnamed else str(label).split(form.joined) if form.joined else [label]
        for label in made.labels.tolist()
    ]
    entry = np.repeat(np.arange(len(made.item)), [len(of_label[item]) for item in made.item])
    named = pd.Series([label for item in made.item for label in of_label[item]], dtype=object)
    codes, labels = pd.factorize(named)
    return replace(
        made, labels=labels, item=codes, block=made.block[entry], value=made.value[entry], row=made.row[entry]
    )


def _of_preflib(path: str, unranked: Unranked, object_covariates: object) -> Rankings:
    """Return the orders of a file of PrefLib."""
    labels, lists, codes, places, counts = read_preflib(path)
    asked = wanted((), (), (), object_covariates, None)
    notes: list[str] = []
    if unranked == "below":
        every = np.ones((len(counts), len(labels)), dtype=bool)
        every[lists, codes] = False
        of, without = np.nonzero(every)
        lists, codes = np.concatenate([lists, of]), np.concatenate([codes, without])
        places = np.concatenate([places, np.zeros(len(of), dtype=np.int64)])
        notes = _notes(len(of), unranked)
    items = coded_pairs(labels, codes[:, None])
    described, more = read_object_table(asked, tuple(items.levels))
    return gathered_rankings(
        tuple(items.levels),
        lists,
        items.codes[:, 0],
        places,
        object_columns=described,
        counts=counts,
        notes=(*notes, *more),
    )


def _made_by(makers: Mapping[str, Names | None]) -> Roles:
    if all(names is None for names in makers.values()):
        raise OptionError(
            "no column says which rows belong together",
            "Pass judge= and prompt= (objects that one judge ranked on one prompt), or block= (any columns); or "
            "objects= for a frame with one column per object; or several columns as object= and as rank= for one row "
            "per ranking.",
        )
    return block_makers(makers, wide=False)


def _beside(items: tuple[str, ...], ranks: tuple[str, ...], makers: Mapping[str, Names | None]) -> Roles:
    """Return the columns of objects and of their ranks, where a row is a ranking."""
    if len(items) != len(ranks) or len(items) < 2:
        raise OptionError(
            f"{counted(len(items), 'column')} as object= and {len(ranks)} as rank=",
            expected="as many columns of ranks as of objects, two or more of each",
        )
    given = [f"{parameter}={names!r}" for parameter, names in makers.items() if names is not None]
    if given:
        raise OptionError(f"{given[0]} where every row is a ranking", "Keep columns with clusters= or covariates=.")
    return {"object": items, "rank": ranks}


def _read(table: pd.DataFrame, values: Roles, makers: Roles, scale: Scale, *, wide: bool) -> Blocks:
    """Return the ranks in blocks, whichever form they have."""
    if wide:
        return read_wide(table, flat(values), (), scale)
    if makers:
        return read_long(table, flat(values), flat(makers), scale)
    items, ranks = values["object"], values["rank"]
    rows = np.repeat(np.arange(len(table)), len(items))
    stacked = pd.DataFrame({"object": table[list(items)].to_numpy(dtype="O").ravel()})
    rank = np.column_stack([ranks_of(table, name, scale) for name in ranks]).ravel()
    named = ~pd.isna(stacked["object"]).to_numpy()
    if not named.all() and not np.isnan(rank[~named]).all():
        wrong = np.flatnonzero(~named & ~np.isnan(rank))[0]
        raise JudgmentError(
            f"row {rows[wrong]}: a rank in column {ranks[wrong % len(items)]!r} and no object in "
            f"{items[wrong % len(items)]!r}",
            expected="an object for each rank",
        )
    codes, labels = factorized(stacked[named], "object")
    block = rows[named]
    return Blocks(labels, block, codes, rank[named], block, np.arange(len(table)), ())


def rankings_of_blocks(
    table: pd.DataFrame,
    made: Blocks,
    scale: Scale,
    roles: Roles,
    asked: Wanted,
    names: Sequence[str],
    *,
    unranked: Unranked = "unknown",
    notes: Sequence[str] = (),
    ratings: FloatArray | None = None,
) -> Rankings:
    """Return ranks in blocks as lists, with the kept columns of each, and notes on the others.

    Parameters
    ----------
    table : DataFrame
        The columns that have a role.
    made : Blocks
        The lowest value is the best.
    scale : Scale
        The name of the values.
    roles : mapping
    asked : Wanted
    names : sequence of str
        All columns of the caller's frame.
    unranked : {"unknown", "below"}
    notes : sequence of str
        Notes that come first.
    ratings : ndarray, shape (N,), optional
        The ratings that the values come from.

    Raises
    ------
    JudgmentError
        Where no block has two objects.
    """
    block_values = kept_columns(table, made, roles, asked)
    columns, _, clusters = kept_at(block_values, asked, np.arange(len(made.first)))
    of_judges = [] if asked.judges is None else asked.labelled(open_frame(block_values).pick(asked.roles()))[1]
    without = np.isnan(made.value)
    taken = np.ones(len(without), dtype=bool) if unranked == "below" else ~without
    if without.all():
        raise JudgmentError(f"all {scale.noun}s are missing", expected=f"{scale.noun}s of two objects or more")
    if np.bincount(made.block[taken]).max() < 2:
        makers = [name for name in ("judge", "prompt", "block", "objects") if name in roles] or ["object"]
        raise JudgmentError(
            f"no list has two {scale.participle} objects: {counted(int(taken.sum()), scale.noun)} in "
            f"{counted(len(made.first), 'list')}",
            f"Check what makes a list ({', '.join(f'{name}=' for name in makers)}).",
            expected="two objects in a list",
        )
    missing = _notes(int(without.sum()), unranked, scale.noun)
    gone = made.labels[np.setdiff1d(np.arange(len(made.labels)), made.item[taken])].tolist()
    if gone:
        labels = listed(sorted(gone, key=sort_key))
        missing.append(f"left out: {counted(len(gone), 'object')} without a {scale.noun} ({labels})")
    items = coded_pairs(made.labels, made.item[taken][:, None])
    described, of_objects = read_object_table(asked, tuple(items.levels))
    used = set(flat(roles))
    unkept = tuple(name for name in names if name not in used)
    return gathered_rankings(
        tuple(items.levels),
        made.block[taken],
        items.codes[:, 0],
        _places(made.value[taken], 0.0 if ratings is None else ROUNDING),
        columns=columns,
        cluster_columns=clusters,
        object_columns=described,
        notes=(*notes, *missing, *of_objects, *of_judges, *unused_note(unkept)),
        ratings=None if ratings is None else ratings[taken],
        unkept=unkept,
        unit=(*roles.get("judge", ()), *(made.makers if len(made.makers) == 1 else ()), "block")[0],
    )


def _places(values: FloatArray, rounding: float) -> IntArray:
    """Return values as places from 1 on, the lowest first; 0 where there is none.

    Values that differ by no more than the `rounding` times the larger one have one place.
    """
    places = np.zeros(len(values), dtype=np.int64)
    there = ~np.isnan(values)
    levels, code = np.unique(values[there], return_inverse=True)
    apart = np.diff(levels) > rounding * np.maximum(np.abs(levels[1:]), np.abs(levels[:-1]))
    places[there] = np.append(1, 1 + np.cumsum(apart))[code]
    return places


def _notes(missing: int, unranked: Unranked, noun: str = "rank") -> list[str]:
    meaning = {
        "unknown": "the ranks of these objects in these lists are unknown",
        "below": "these objects are below all that have a rank",
    }
    return [f"{counted(missing, noun)} missing: {meaning[unranked]}"] if missing else []
