"""Two leaderboards of the same objects in one table: ranks and estimates of both, and the ranks gained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.notes import named
from ..base.table import Field, Table, counted

# columns that are taken from both leaderboards
TAKEN = ("rank", "rank_low", "rank_high", "estimate", "conf_low", "conf_high")
_PRINTED = (*TAKEN, "object", "")


def two_boards(board: Table, other: Table, prefix: str, heading: str) -> Table:
    """Return a leaderboard with the rank, range, estimate and interval of another leaderboard in further columns.

    Parameters
    ----------
    board, other : Table
        Objects that only the first board has are NaN in the columns of the other. A note names objects that only the
        other has.
    prefix : str
        The prefix of the names of the other's columns: ``other_rank`` and so on.
    heading : str
        The heading above the other's ranks.
    """
    objects = board.to_frame()["object"]
    others = other.to_frame().set_index("object")
    alone = [label for label in others.index if label not in set(objects)]
    both = others.reindex(objects)
    of = {f.name: f for f in other.fields}
    beside = [
        replace(of[name], name=f"{prefix}_{name}", heading=f"{prefix} {name}", values=both[name].to_numpy(), typeset="")
        for name in TAKEN
    ]
    change = (both["rank"].to_numpy() - board.to_frame()["rank"].to_numpy()).astype(float)
    gained = np.where(np.isnan(change), np.nan, change) if np.isnan(change).any() else change.astype(np.int64)
    spans = _spans(*both[["rank_low", "rank_high"]].to_numpy().T)
    shown = (
        *(f for f in (board.printed or board).fields if f.name in _PRINTED and not f.frame_only),
        Field(f"{prefix}_rank_low", f"{heading}: ranks", spans, "composed"),
        replace(beside[TAKEN.index("estimate")], heading="estimate"),
        Field("rank_change", "change", ["" if np.isnan(x) or not x else f"{x:+.0f}" for x in change], "composed"),
    )
    missing = (
        (f"left out, {counted(len(alone), 'object')} that only the other fit has: {named(alone)}",) if alone else ()
    )
    whole = replace(
        board,
        fields=(*board.fields, *beside, Field("rank_change", "change", gained, "count")),
        notes=(*missing, *board.notes),
        printed=None,
        answer="",
    )
    return replace(whole, printed=replace(whole, fields=shown))


def _spans(low: Sequence[float], high: Sequence[float]) -> list[str]:
    return [
        "NA" if np.isnan(a) else f"{a:.0f}" if a == b else f"{a:.0f}–{b:.0f}" for a, b in zip(low, high, strict=True)
    ]
