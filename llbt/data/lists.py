"""From lists of objects in order to Rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..arguments import checked
from ..core.columns import IntArray
from ..core.rankings import Rankings, gathered_rankings
from ..errors import JudgmentError, OptionError
from ..table import counted
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
from .sources import Source, as_names, in_memory
from .tables import coded_pairs, kept_at, unused_note

Unranked = Literal["unknown", "below"]


@checked
def rankings_from(
    frame: object,
    *,
    objects: Sequence[str] | None = None,
    object: Names = "object",
    rank: Names = "rank",
    block: Names | None = None,
    unranked: Unranked = "unknown",
    missing: Any = (),
    covariates: Names = (),
    clusters: Names = (),
    object_covariates: object = None,
) -> Rankings:
    """Return rankings as they were given, each a list of the objects that were shown.

    Parameters
    ----------
    frame : frame, path or list of records
        As in `from_rankings`: wide, one row per ranking and one column per object; long, one row per ranked object; or
        one row per ranking with columns that name the objects and columns of their ranks, as files of the WMT have it.
        The path of a file of PrefLib, by its suffix ``.soc``, ``.soi``, ``.toc`` or ``.toi``, needs nothing else.
    objects : sequence of str, optional
        Wide form: the columns of ranks, one per object and named after it; or, where their cells are texts, the
        columns of the places, first to last, whose cells name the objects.
    object, rank : str or sequence of str
        Long form: the columns with the object and its rank, 1 for the best; only the order of the ranks counts, equal
        ranks are ties. Several columns each, one rank for each object: one row per ranking.
    block : str or sequence of str, optional
        Long form: the columns that make a ranking, such as ``("judge", "prompt")``. Without it and without `objects`
        the table is read where its columns have one meaning, and a note says which: a rank and an object called so, all
        other columns making a ranking; columns called after places; or columns that hold 1 to k in each row.
    unranked : {"unknown", "below"}
        What a missing rank says: nothing, so that the object is not in the list; or that the object was shown and
        stands below all that have a rank, as where judges name the best three.
    missing : value or sequence of values
        Ranks that mean "none", such as −1. A missing value always does, and in files of the WMT so does −1.
    covariates, clusters : str or sequence of str
        Columns that models may use, and that standard errors may allow for; one value per ranking.
    object_covariates : frame or path, optional
        A table with a column ``object`` and one row for each.

    Returns
    -------
    Rankings

    Raises
    ------
    JudgmentError
        For lines of PrefLib that are no order, and a file that is not what its head says; columns that are not there,
        ranks that are not finite numbers or below 0 beside others above it, objects that are missing or stand twice in
        a ranking, a covariate with several values in a ranking, and where no ranking says anything of two objects.
    OptionError
        For columns with two roles, and if nothing says what makes a ranking.

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
    >>> r = llbt.rankings_from(
    ...     rows, object=("one", "two", "three"), rank=("rank_one", "rank_two", "rank_three"), clusters="judge")
    >>> print(r)
    Rankings: 3 objects, 2 lists of 3, up to 2 tied in a place
    <BLANKLINE>
    ranking    count  judge
    A > B = C      1  J1
    A = C > B      1  J2
    """
    if isinstance(frame, (str, PathLike)) and suffix_of(str(frame)) in SUFFIXES:
        of_columns = {
            "objects": objects is not None,
            "block": block is not None,
            "covariates": bool(covariates),
            "clusters": bool(clusters),
            "object": object != "object",
            "rank": rank != "rank",
            "missing": np.size(missing) > 0,
        }
        asked = [f"{name}=" for name, given in of_columns.items() if given]
        if asked:
            raise OptionError(
                f"columns of {str(frame)!r}, a file of PrefLib, which has none", f"Leave {', '.join(asked)} out."
            )
        return _of_preflib(str(frame), unranked, object_covariates)
    kept = wanted(covariates, clusters, (), object_covariates, None)
    return _read_lists(open_source(frame), _Columns(objects, object, rank, block), as_values(missing), unranked, kept)


@dataclass(frozen=True)
class _Columns:
    """The columns that hold rankings, as the caller of `rankings_from` names them."""

    objects: Sequence[str] | None = None
    object: Names = "object"
    rank: Names = "rank"
    block: Names | None = None

    @property
    def unnamed(self) -> bool:
        """Whether the caller names none."""
        return self == _Columns()


def _read_lists(source: Source, said: _Columns, absent: tuple[Any, ...], unranked: Unranked, asked: Wanted) -> Rankings:
    """Return the rankings of a source, whichever form it has."""
    items, ranks = as_names(said.object, "object"), as_names(said.rank, "rank")
    wide = said.objects is not None
    placed = None if said.objects is None else _placed(source, columns_of_objects(said.objects)["objects"])
    if placed is not None:
        table, places, note = placed
        of_places = _Columns(object=tuple(places), rank=tuple(places.values()), block=said.block)
        read = _read_lists(open_source(table), of_places, (), unranked, asked)
        return replace(read, notes=(note, *read.notes))
    if said.unnamed and (layout := rankings_of(source)) is not None:
        read = _read_lists(open_source(in_memory(source)), _Columns(**layout.arguments), absent, unranked, asked)
        return replace(read, notes=(layout.note, *read.notes))
    known = ranking_format(source.names, ranks)
    scale = Scale("rank", "ranked", higher_wins=False, unranked=absent)
    if known is not None:
        form, verdict = known
        scale = replace(scale, higher_wins=verdict.higher_is_better, unranked=(*absent, *verdict.unranked))
    makers: Roles
    if said.objects is not None:
        values, makers = columns_of_objects(said.objects), block_makers({"block": said.block}, wide=True)
    elif isinstance(said.object, str) and isinstance(said.rank, str):
        values, makers = columns_of_rows({"object": said.object, "rank": said.rank}), _made_by(said.block)
    else:
        values, makers = _beside(items, ranks, said.block), {}
    roles: Roles = {**values, **makers, **roles_beside(asked, source.names, flat(makers))}
    check_roles(source.names, roles)
    table = as_pandas(source, flat(roles))
    made = _read(table, values, makers, scale, wide=wide)
    if known is not None:
        made = _as_written(made, form)
    refuse_negative(made.value, "missing")
    refuse_twice(made.sorted(), table, scale)
    if scale.higher_wins:
        made = replace(made, value=-made.value)
    collected = _collected(table, made, roles, asked, unranked)
    written = () if known is None else (f"read as {form.description}",)
    used = set(flat(roles))
    unused = unused_note([name for name in source.names if name not in used])
    return replace(collected, notes=(*written, *collected.notes, *unused))


def _placed(source: Source, columns: tuple[str, ...]) -> tuple[pd.DataFrame, dict[str, str], str] | None:
    """Return a table with a rank for each column of places whose cells name objects, these ranks, and a note."""
    if not set(columns) <= set(source.names):
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


def _as_written(made: Blocks, form: JudgmentFormat) -> Blocks:
    """Return blocks without the objects that a format leaves unnamed, and with those apart that it joins."""
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


def _made_by(block: Names | None) -> Roles:
    if block is None:
        raise OptionError(
            "nothing says which rows belong together",
            "Pass block= and the columns that make a ranking; or objects= for a frame with one column per object; or "
            "several columns as object= and as rank= for one row per ranking.",
        )
    return {"block": as_names(block, "block")}


def _beside(items: tuple[str, ...], ranks: tuple[str, ...], block: Names | None) -> Roles:
    """Return the columns of objects and of their ranks, where a row is a ranking."""
    if len(items) != len(ranks) or len(items) < 2:
        raise OptionError(
            f"{counted(len(items), 'column')} as object= and {len(ranks)} as rank=",
            expected="as many columns of ranks as of objects, two or more of each",
        )
    if block is not None:
        raise OptionError(
            f"block={block!r} where every row is a ranking", "Keep columns with clusters= or covariates=."
        )
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


def _collected(table: pd.DataFrame, made: Blocks, roles: Roles, asked: Wanted, unranked: Unranked) -> Rankings:
    """Return the blocks as lists, with what is kept of each."""
    blocks = len(made.first)
    columns, _, clusters = kept_at(kept_columns(table, made, roles, asked), asked, np.arange(blocks))
    without = np.isnan(made.value)
    taken = np.ones(len(without), dtype=bool) if unranked == "below" else ~without
    notes = _notes(int(without.sum()), unranked)
    if not taken.any():
        raise JudgmentError("all ranks are missing", expected="ranks, 1 for the best")
    items = coded_pairs(made.labels, made.item[taken][:, None])
    described, more = read_object_table(asked, tuple(items.levels))
    return gathered_rankings(
        tuple(items.levels),
        made.block[taken],
        items.codes[:, 0],
        _places(made.value[taken]),
        columns=columns,
        cluster_columns=clusters,
        object_columns=described,
        notes=(*notes, *more),
    )


def _places(ranks: Any) -> IntArray:
    """Return ranks as whole numbers from 1 on, 0 where there is none."""
    found = np.zeros(len(ranks), dtype=np.int64)
    there = ~np.isnan(ranks)
    found[there] = np.unique(ranks[there], return_inverse=True)[1] + 1
    return found


def _notes(missing: int, unranked: Unranked) -> list[str]:
    said = {
        "unknown": "nothing is said of these objects in these lists",
        "below": "these objects stand below all that have a rank",
    }
    return [f"{counted(missing, 'rank')} missing: {said[unranked]}"] if missing else []
