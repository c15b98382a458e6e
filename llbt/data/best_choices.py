"""Readers of sets with a best, or a best and a worst object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..base.arguments import checked
from ..base.table import counted
from ..core.columns import IntArray
from ..core.rankings import Rankings, gathered_rankings
from ..errors import JudgmentError, OptionError, listed, safe_repr, safe_str
from .block_columns import Roles, check_roles, flat, kept_columns, roles_beside
from .blocks import Blocks, as_pandas, factorized, refuse_twice
from .column_roles import Names, Wanted, read_object_table, wanted
from .conjoint import profiles_of, sets_of_profiles
from .files import open_source
from .list_layouts import ListLayout, sets_of
from .sources import Source, as_names, in_memory
from .tables import coded_pairs, kept_at, unused_note


@checked
def from_choices(
    frame: object,
    *,
    objects: Sequence[str] | None = None,
    best: Names = "best",
    worst: Names | None = None,
    design: object = None,
    covariates: Names = (),
    clusters: Names = (),
    object_covariates: object = None,
) -> Rankings:
    """Return sets of objects with the best object, or with the best and the worst object.

    Parameters
    ----------
    frame : frame, path or list of records
        One row per set; with a `design` one row per judge. A conjoint study has one row per profile: columns of
        respondent and task, columns of attributes, and a column of 0 and 1 called ``chosen``, ``selected`` or
        ``choice``. A note states how the table was read. Profiles are objects, and their attributes are covariates of
        objects: ``fit("price + colour", …)``.
    objects : sequence of str
        The columns that name the objects of a set, with missing values if the set has fewer objects. With a design they
        are columns of the design, by default all. Without a design they are found where three or more names differ by a
        letter or a number at their end, such as ``variety_a``, ``variety_b``, ``variety_c``, next to a column ``best``
        or ``overall_best``. A column ``worst`` is read with them, and a note says so.
    best, worst : str or sequence of str
        The columns of the best and, if recorded, the worst object. A cell has its name, its place in the set (1, 2, …),
        or the letter or name of its column (``A`` of ``item_A``). With a `design`, name one column for each of its
        sets.
    design : frame, path or list of records, optional
        The sets that every judge was shown, one row per set, with one column per place.
    covariates, clusters : str or sequence of str
        Columns that models may use, and that standard errors may allow for.
    object_covariates : frame or path, optional
        A table with a column ``object`` and one row for each object.

    Returns
    -------
    Rankings
        With a worst object, rankings of the kind ``"best_worst"``; otherwise lists with only the best object ranked.

    Raises
    ------
    JudgmentError
        For missing columns, a best or worst object that is not in the set, one object as both, and an object twice in a
        set. The error names the row.
    OptionError
        For columns with two roles.

    References
    ----------
    Kiritchenko, S. & Mohammad, S. M. (2017). Best-worst scaling more reliable than rating scales: a case study on
    sentiment intensity annotation. In Proceedings of ACL 2017, vol. 2, 465-470.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> sets = pd.DataFrame(
    ...     {"one": ["A", "B"], "two": ["B", "C"], "three": ["C", "D"], "best": ["B", "B"], "worst": ["A", "D"]})
    >>> print(llbt.from_choices(sets, objects=("one", "two", "three"), worst="worst"))
    Rankings: 4 objects, 2 sets with a best and a worst of 3
    <BLANKLINE>
    Ranking     Count
    B > (C) > A     1
    B > (C) > D     1
    >>> design = sets[["one", "two", "three"]]
    >>> places = pd.DataFrame({"B1": [2], "W1": [1], "B2": [1], "W2": [3]})
    >>> llbt.from_choices(places, design=design, best=("B1", "B2"), worst=("W1", "W2")).n_judgments
    2
    """
    asked = wanted(covariates, clusters, (), object_covariates, None)
    if design is not None:
        return _of_design(frame, design, objects, best, worst, asked)
    source = open_source(frame)
    if objects is not None:
        return _of_sets(source, objects, best, worst, asked)
    layout = (sets_of(source) or profiles_of(source)) if (best, worst) == ("best", None) else None
    if layout is None:
        raise OptionError("no column says which objects a set shows", "Pass objects= and their columns, or design=.")
    if layout.kind == "profiles":
        return _of_profiles(source, layout, asked)
    read = _of_sets(open_source(in_memory(source)), asked=asked, **layout.arguments)
    return replace(read, notes=(layout.note, *read.notes))


def _of_sets(source: Source, objects: Sequence[str], best: Names, worst: Names | None, asked: Wanted) -> Rankings:
    """Return the sets of a table with one row per set."""
    for parameter, column in (("best", best), ("worst", worst)):
        if not isinstance(column, str) and column is not None:
            raise OptionError(f"{parameter}={column!r} without a design", expected="the name of one column")
    shown = as_names(objects, "objects")
    if len(shown) < 2:
        raise OptionError(f"objects={objects!r}", expected="two columns or more")
    named: Roles = {"best": as_names(best, "best"), **({} if worst is None else {"worst": as_names(worst, "worst")})}
    roles: Roles = {"objects": shown, **named, **roles_beside(asked, source.names, ())}
    check_roles(source.names, roles)
    table = as_pandas(source, flat(roles))
    made = _sets(table, shown, [name for (name,) in named.values()])
    columns, _, remaining = kept_at(kept_columns(table, made, roles, asked), asked, np.arange(len(table)))
    used = set(flat(roles))
    unkept = tuple(name for name in source.names if name not in used)
    items = coded_pairs(made.labels, made.item[:, None])
    described, notes = read_object_table(asked, tuple(items.levels))
    return gathered_rankings(
        tuple(items.levels),
        made.block,
        items.codes[:, 0],
        made.value.astype(np.int64),
        kind="ranking" if worst is None else "best_worst",
        columns=columns,
        cluster_columns=remaining,
        object_columns=described,
        notes=(*notes, *unused_note(unkept)),
        unkept=unkept,
        unit="block",
    )


def _sets(table: pd.DataFrame, shown: tuple[str, ...], named: list[str]) -> Blocks:
    """Return the objects of each set, the best in place 1, the worst in 2, the others in 0."""
    rows = np.repeat(np.arange(len(table)), len(shown))
    stacked = pd.Series(table[list(shown)].to_numpy(dtype="O").ravel())
    there = ~pd.isna(stacked).to_numpy()
    codes, labels = factorized(pd.DataFrame({"object": stacked[there]}), "object")
    block, places = rows[there], np.zeros(int(there.sum()))
    for place, name in enumerate(named, 1):
        entries = _chosen(table, name, (labels, codes, block), shown)
        again = np.flatnonzero(places[entries])
        if len(again):
            row = int(block[entries[again[0]]])
            label = table[name].iloc[[row]].tolist()[0]
            raise JudgmentError(f"row {row}: {label!r} is both the best and the worst", expected="two objects")
        places[entries] = place
    made = Blocks(labels, block, codes, places, block, np.arange(len(table)), ())
    refuse_twice(made.sorted(), table)
    return made


def _of_design(
    frame: object,
    design: object,
    objects: Sequence[str] | None,
    best: Names,
    worst: Names | None,
    asked: Wanted,
) -> Rankings:
    """Return the sets of a design that every judge was shown, with the choices of each judge."""
    sets, judges = in_memory(open_source(design, what="the frame of design=")), in_memory(open_source(frame))
    places = list(sets.columns) if objects is None else list(as_names(objects, "objects"))
    chosen = {"best": as_names(best, "best"), **({} if worst is None else {"worst": as_names(worst, "worst")})}
    for parameter, names in chosen.items():
        gone = [name for name in names if name not in judges]
        if gone:
            raise JudgmentError(
                f"the frame has no column {listed(gone)} ({parameter}=); it has {listed(list(judges), 20)}"
            )
        if len(names) != len(sets):
            fault = (
                f"{parameter}= names {counted(len(names), 'column')}, and the design has {counted(len(sets), 'set')}"
            )
            raise OptionError(fault, expected="a column for each set, in the order of the design")
    gone = [place for place in places if place not in sets]
    if gone:
        raise JudgmentError(f"design= has no column {listed(gone)} (objects=); it has {listed(list(sets), 20)}")
    taken = {name for names in chosen.values() for name in names}
    beside = judges[[name for name in judges.columns if name not in taken]]
    rows = [
        beside.assign(**{str(place): sets[place].iloc[[k] * len(judges)].to_numpy() for place in places}).assign(
            **{parameter: judges[names[k]].to_numpy() for parameter, names in chosen.items()}
        )
        for k in range(len(sets))
    ]
    shown = open_source(pd.concat(rows, ignore_index=True))
    return _of_sets(shown, [str(place) for place in places], "best", None if worst is None else "worst", asked)


def _of_profiles(source: Source, layout: ListLayout, asked: Wanted) -> Rankings:
    """Return the tasks of a table with a row for each profile, with the attributes as covariates of objects."""
    sets = sets_of_profiles(in_memory(source), **layout.arguments)
    if sets.described is not None and asked.objects is not None:
        raise OptionError(
            "object_covariates= with profiles, whose attributes are the covariates already", "Leave it out."
        )
    if sets.described is not None:
        asked = wanted(asked.covariates, asked.clusters, (), sets.described, None)
    read = _of_sets(open_source(sets.table), sets.objects, sets.best, None, asked)
    used = {*layout.arguments["block"], layout.arguments["chosen"], *layout.arguments["attributes"]}
    unused = unused_note([name for name in source.names if name not in {*used, *asked.covariates, *asked.clusters}])
    notes = [note for note in read.notes if not note.startswith("columns not used")]
    return replace(read, notes=(layout.note, *sets.notes, *notes, *unused))


def _by_place(table: pd.DataFrame, name: str, shown: Sequence[str], labels: Any) -> Any:
    """Return the objects that a column names: by their labels, by places in the set, or by names of columns."""
    values = table[name]
    names_given: set[str] = set(map(safe_str, values.dropna()))
    if names_given & set(map(str, labels)):
        return values
    places = {f"{k}{end}": column for k, column in enumerate(shown, 1) for end in ("", ".0")}
    letters = {re.split(r"[\W_]", column)[-1].casefold(): column for column in shown}
    for of_text, folded in ((places, False), ({column: column for column in shown}, False), (letters, True)):
        column_of = {text: of_text.get(text.casefold() if folded else text) for text in names_given}
        if names_given and len(set(of_text.values())) == len(shown) and None not in column_of.values():
            chosen = [None if pd.isna(value) else column_of[str(value)] for value in values]
            cells = [None if column is None else table[column].iloc[k] for k, column in enumerate(chosen)]
            return pd.Series(cells, dtype=object)
    return values


def _chosen(
    table: pd.DataFrame, name: str, shown: tuple[Any, IntArray, IntArray], shown_columns: Sequence[str]
) -> IntArray:
    """Return the entry of the object that a column names in each row; the object must be one of those shown."""
    labels, codes, block = shown
    factorized(table[table[name].notna()], name)  # refuses what no label can be
    code = pd.Index(labels).get_indexer(_by_place(table, name, shown_columns, labels))
    entries = np.flatnonzero(codes == code[block])
    without = np.setdiff1d(np.arange(len(table)), block[entries])
    if len(without):
        row = int(without[0])
        known = [str(label) for label in labels[codes[block == row]]]
        raise JudgmentError(
            f"column {name!r}: {counted(len(without), 'row')} that name no object of the set, the first row {row} "
            f"({safe_repr(table[name].iloc[[row]].tolist()[0])})",
            expected=f"one of the objects of this set: {', '.join(known)}",
        )
    return entries
