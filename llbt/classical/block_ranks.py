"""Ranks of objects in blocks, and checks of the designs that the tests need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..base.arguments import is_label
from ..base.table import counted
from ..core.columns import FloatArray, IntArray, sort_key
from ..data.blocks import Blocks, Scale, as_pandas, read_long, read_wide, refuse_twice
from ..data.files import open_source
from ..data.sources import as_names
from ..errors import DesignError, JudgmentError, OptionError, listed, safe_repr


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ranks of t objects in b blocks, N in all.

    Attributes
    ----------
    objects : tuple, length t
    block, item : ndarray of int, shape (N,)
        Numbered from 0, sorted by block.
    rank : ndarray, shape (N,)
        Rank within the block, from 1; midranks for ties.
    size : ndarray of int, shape (b,)
        Number of objects in each block.
    names : list of str, length b
        The blocks, for messages.
    notes : tuple of str
    """

    objects: tuple[Any, ...]
    block: IntArray
    item: IntArray
    rank: FloatArray
    size: IntArray
    names: list[str]
    notes: tuple[str, ...]

    @property
    def deviation(self) -> FloatArray:
        """Ranks minus the mean rank of their block, shape (N,)."""
        return np.asarray(self.rank - (self.size[self.block] + 1) / 2)

    @property
    def spread(self) -> FloatArray:
        """Sum of squared deviations by block, shape (b,); k(k² − 1)/12 without ties."""
        return np.asarray(np.bincount(self.block, self.deviation**2, len(self.size)), dtype=np.float64)

    def summed(self, values: FloatArray) -> FloatArray:
        """Return values (N,) summed by object, shape (t,)."""
        return np.asarray(np.bincount(self.item, values, len(self.objects)), dtype=np.float64)

    def incidence(self) -> FloatArray:
        """Return 1 where a block has an object, shape (b, t)."""
        made = np.zeros((len(self.size), len(self.objects)))
        made[self.block, self.item] = 1.0
        return made


def read_ranks(
    frame: object,
    objects: Sequence[str] | None,
    item: str,
    rank: str,
    block: str | Sequence[str] | None,
) -> Ranked:
    """Return the ranks within blocks that have at least two objects."""
    source = open_source(frame)
    makers = () if block is None else as_names(block, "block")
    if (objects is None) == (not makers):
        given = "neither" if objects is None else "both"
        raise JudgmentError(
            f"found {given}",
            expected="either objects=[…], one column of ranks per object and one row per block, or block=, the column "
            "that says which rows belong together",
        )
    values = (item, rank) if objects is None else as_names(objects, "objects")
    columns = (*values, *makers)
    gone = tuple(name for name in columns if name not in source.names)
    if gone:
        raise JudgmentError(f"the frame has no column {listed(gone)}", expected=f"columns among {listed(source.names)}")
    if len(set(columns)) < len(columns):
        raise JudgmentError(f"{listed(columns)}: a column is named twice", expected="one role for each column")
    table = as_pandas(source, columns)
    scale = Scale("rank", "ranked", higher_wins=False)
    made = (read_long if objects is None else read_wide)(table, values, makers, scale)
    entries = made.ranked()
    refuse_twice(entries, table)
    return _ranked(made, entries, table)


def _ranked(made: Blocks, entries: Blocks, table: pd.DataFrame) -> Ranked:
    """Return midranks; blocks with fewer than two objects are left out, with a note."""
    sizes = np.bincount(entries.block, minlength=len(made.first))
    several = sizes > 1
    rows = several[entries.block]
    labels = made.labels.tolist()
    order = sorted(range(len(labels)), key=lambda k: sort_key(labels[k]))
    if len(order) < 2:
        raise JudgmentError(f"found {counted(len(order), 'object')}", expected="ranks of two or more")
    beside = np.bincount(entries.item[rows], minlength=len(labels))
    alone = [labels[k] for k in order if not beside[k]]
    if alone:
        raise JudgmentError(
            f"{counted(len(alone), 'object')} never ranked together with another: {listed(alone)}",
            "Leave them out.",
            expected="each in a block of two or more",
        )
    position = np.argsort(order)
    block = (np.cumsum(several) - 1)[entries.block[rows]]
    rank = np.asarray(pd.Series(entries.value[rows]).groupby(block).rank(method="average"), dtype=np.float64)
    small = int((~several).sum())
    notes = (f"left out: {counted(small, 'block')} with fewer than two ranked objects",) if small else ()
    names = [made.named(table, row) for row in made.first[several].tolist()]
    item = np.asarray(position[entries.item[rows]], dtype=np.int64)
    return Ranked(tuple(labels[k] for k in order), block, item, rank, sizes[several], names, notes)


def refuse_incomplete(ranked: Ranked) -> None:
    """Raise if a block lacks an object."""
    t = len(ranked.objects)
    short = np.flatnonzero(ranked.size < t)
    if short.size:
        k = int(short[0])
        raise DesignError(
            f"{counted(short.size, 'block')} of {len(ranked.size):,} without some of the {t} objects, the "
            f"first {ranked.names[k]} with {ranked.size[k]}",
            "Use skillings_mack_test, or leave these blocks out.",
            expected="complete blocks",
        )


def refuse_unbalanced(ranked: Ranked) -> None:
    """Raise unless all blocks have one size, and all objects and all pairs of objects are equally frequent."""
    there = ranked.incidence()
    together = there.T @ there
    times, pairs = np.diag(together), together[np.triu_indices(len(together), 1)]
    for what, numbers in (
        ("blocks have", ranked.size),
        ("numbers of blocks by object are", times),
        ("numbers of blocks by pair are", pairs),
    ):
        if numbers.min() < numbers.max():
            unit = " objects" if what == "blocks have" else ""
            raise DesignError(
                f"{what} {numbers.min():.0f} to {numbers.max():.0f}{unit}",
                "Use skillings_mack_test.",
                expected="a balanced incomplete block design: blocks of one size, every object equally often, and "
                "every pair",
            )


def places(order: Sequence[Any], objects: tuple[Any, ...]) -> FloatArray:
    """Return the place of each object in a stated order, from 1, shape (t,)."""
    stated = list(order)
    strange = [o for o in stated if not is_label(o)]  # such as have no == of their own
    wrong = strange or [o for o in stated if o not in objects] + [o for o in objects if stated.count(o) != 1]
    if wrong:
        raise OptionError(
            f"order={safe_repr(stated)} does not name each of the {len(objects)} objects once: check {listed(wrong)}",
            expected=f"{listed(objects)} in the hypothesized order, the best first",
        )
    return np.array([stated.index(o) + 1.0 for o in objects])
