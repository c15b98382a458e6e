"""From sets with a best, or a best and a worst, to Rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..arguments import checked
from ..core.columns import IntArray
from ..core.rankings import Rankings, gathered_rankings
from ..errors import JudgmentError, OptionError
from ..table import counted
from .block_columns import Roles, check_roles, flat, keep_of, kept_columns
from .blocks import Blocks, Scale, as_pandas, factorized, refuse_twice
from .files import open_source
from .kept import Names, read_object_table, wanted
from .sources import as_names
from .tables import coded_pairs, kept_at


@checked
def choices_from(
    frame: object,
    *,
    objects: Sequence[str],
    best: str = "best",
    worst: str | None = None,
    covariates: Names = (),
    clusters: Names = (),
    object_covariates: object = None,
) -> Rankings:
    """Return sets of objects of which the best was named, or the best and the worst.

    Parameters
    ----------
    frame : frame, path or list of records
        One row per set that was shown.
    objects : sequence of str
        The columns that name the objects of a set; missing values where it had fewer.
    best, worst : str
        The columns that name the best and, where it was asked for, the worst of them.
    covariates, clusters : str or sequence of str
        Columns that models may use, and that standard errors may allow for.
    object_covariates : frame or path, optional
        A table with a column ``object`` and one row for each.

    Returns
    -------
    Rankings
        With a worst of the kind ``"best_worst"``; else lists whose first place is the best and who rank no other.

    Raises
    ------
    JudgmentError
        For columns that are not there, a best or worst that the set does not have, one object as both, and an object
        twice in a set; the row is named.
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
    >>> print(llbt.choices_from(sets, objects=("one", "two", "three"), worst="worst"))
    Rankings: 4 objects, 2 sets with a best and a worst of 3
    <BLANKLINE>
    ranking      count
    B > (C) > A      1
    B > (C) > D      1
    """
    shown = as_names(objects, "objects")
    if len(shown) < 2:
        raise OptionError(f"objects={objects!r}", expected="two columns or more")
    named = {"best": (best,), **({} if worst is None else {"worst": (worst,)})}
    keep = keep_of(covariates, clusters, (), object_covariates, None)
    source = open_source(frame)
    roles: Roles = {"objects": shown, **named, **keep.roles(source.names, ())}
    check_roles(source.names, roles)
    table = as_pandas(source, flat(roles))
    made = _sets(table, shown, [name for (name,) in named.values()])
    asked = wanted(keep.covariates, keep.clusters, (), keep.object_covariates, None)
    columns, _, kept = kept_at(kept_columns(table, made, roles, keep), asked, np.arange(len(table)))
    items = coded_pairs(made.labels, made.item[:, None])
    described, notes = read_object_table(asked, tuple(items.levels))
    return gathered_rankings(
        tuple(items.levels),
        made.block,
        items.codes[:, 0],
        made.value.astype(np.int64),
        kind="ranking" if worst is None else "best_worst",
        columns=columns,
        cluster_columns=kept,
        object_columns=described,
        notes=notes,
    )


def _sets(table: pd.DataFrame, shown: tuple[str, ...], named: list[str]) -> Blocks:
    """Return the objects of each set, the best in place 1, the worst in 2, the others in 0."""
    rows = np.repeat(np.arange(len(table)), len(shown))
    stacked = pd.Series(table[list(shown)].to_numpy(dtype="O").ravel())
    there = ~pd.isna(stacked).to_numpy()
    codes, labels = factorized(pd.DataFrame({"object": stacked[there]}), "object")
    block, places = rows[there], np.zeros(int(there.sum()))
    for place, name in enumerate(named, 1):
        entries = _chosen(table, name, (labels, codes, block))
        again = np.flatnonzero(places[entries])
        if len(again):
            row = int(block[entries[again[0]]])
            label = table[name].iloc[[row]].tolist()[0]
            raise JudgmentError(f"row {row}: {label!r} is both the best and the worst", expected="two objects")
        places[entries] = place
    made = Blocks(labels, block, codes, places, block, np.arange(len(table)), ())
    refuse_twice(made.sorted(), table, Scale("object", "shown", higher_wins=False))
    return made


def _chosen(table: pd.DataFrame, name: str, shown: tuple[Any, IntArray, IntArray]) -> IntArray:
    """Return the entry of the object that a column names in each row; it has to be one of those shown."""
    labels, codes, block = shown
    code = pd.Index(labels).get_indexer(table[name])
    entries = np.flatnonzero(codes == code[block])
    without = np.setdiff1d(np.arange(len(table)), block[entries])
    if len(without):
        row = int(without[0])
        known = [str(label) for label in labels[codes[block == row]]]
        raise JudgmentError(
            f"column {name!r}: {counted(len(without), 'row')} that name no object of the set, the first row {row} "
            f"({table[name].iloc[[row]].tolist()[0]!r})",
            expected=f"one of those shown, there {', '.join(known)}",
        )
    return entries
