"""Common parts of tables of pairs: objects, counts, and p-values adjusted for the number of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..base.table import Field, counted
from ..core.columns import FloatArray, Label
from ..core.statistics import AdjustP, adjust_p
from .pair_counts import PairCounts, as_whole

Adjust = AdjustP | None

_ADJUSTED: dict[AdjustP, str] = {
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "fdr_bh": "Benjamini–Hochberg (FDR)",
}


def adjusted_p(p_value: FloatArray, adjust: Adjust) -> FloatArray:
    """Return p-values adjusted for their number, shape (P,); unchanged for None."""
    return p_value if adjust is None else adjust_p(p_value, adjust)


def adjust_note(adjust: Adjust) -> str:
    """Return a line on how p-values were adjusted."""
    if adjust is None:
        return "p-values are not adjusted for the number of pairs"
    return f"adjusted p-values: {_ADJUSTED[adjust]}, over the pairs of the table"


def absent_pairs(pairs: PairCounts) -> tuple[str, ...]:
    """Return a note on the pairs that were never judged."""
    absent = math.comb(len(pairs.objects), 2) - len(pairs.pairs)
    return (f"{counted(absent, 'pair')} without a judgment: no row",) if absent else ()


def pair_fields(object_i: Sequence[Label], object_j: Sequence[Label], counts: FloatArray) -> tuple[Field, ...]:
    """Return the first columns: object_i, object_j, wins_i, ties, wins_j, from counts (P, 3)."""
    wins_i, ties, wins_j = as_whole(counts).T
    return (
        Field("object_i", "object_i", object_i),
        Field("object_j", "object_j", object_j),
        Field("wins_i", "wins_i", wins_i, "count"),
        Field("ties", "ties", ties, "count"),
        Field("wins_j", "wins_j", wins_j, "count"),
    )
