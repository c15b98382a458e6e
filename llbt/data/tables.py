"""The last step of every reader: from rows of judgments to a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted, format_p, format_percent
from ..core.columns import Coded, FloatArray, IntArray, Label, Lines, dense, tallied
from ..core.comparisons import Comparisons, tabulate
from ..core.counts import counts_of_outcomes, n_columns
from ..core.response import THREE, TWO, Response
from ..core.statistics import sign_p
from ..errors import listed
from .column_roles import Wanted, read_object_table
from .distinct_rows import Rows
from .frames import read_labels
from .sources import open_frame


def coded_pairs(labels: Sequence[Label] | npt.NDArray[Any], pairs: IntArray) -> Coded:
    """Return pairs of positions among labels as codes into the sorted labels that occur in a pair, shape (R, 2)."""
    frame = nw.from_native(pd.DataFrame({"objects": pd.Series(list(labels), dtype=object)}), eager_only=True)
    named = read_labels(Rows.each(frame), "objects")
    codes, used = dense(named.codes[pairs], len(named.levels))
    return Coded("objects", named.levels[used], codes)


def kept_at(
    frame: pd.DataFrame, asked: Wanted, rows: IntArray
) -> tuple[tuple[Coded, ...], tuple[Coded, ...], tuple[Coded, ...]]:
    """Return covariates, side covariates and clusters of a frame, read once, at some of its rows (R,)."""
    roles = asked.roles()
    if not any(roles.values()):
        return (), (), ()
    columns, sides, clusters = (
        tuple(replace(column, codes=column.codes[rows]) for column in group)
        for group in asked.read(open_frame(frame).pick(roles))
    )
    return columns, sides, clusters


def condensed(
    pairs: Coded,
    outcomes: npt.NDArray[Any],
    weights: FloatArray | None,
    columns: tuple[Coded, ...],
    sides: tuple[Coded, ...],
    clusters: tuple[Coded, ...],
    response: Response = THREE,
) -> Lines:
    """Return one line for each combination of objects, covariates and clusters that has a judgment."""
    columns_kept = (*sides, *columns, *clusters)
    (pair_codes, *rest), counts = tallied(
        [pairs.codes, *(c.codes for c in columns_kept)], outcomes, weights, n_columns(response)
    )
    coded = tuple(replace(c, codes=codes) for c, codes in zip(columns_kept, rest, strict=True))
    own = len(sides) + len(columns)
    return Lines(pair_codes, counts, coded[len(sides) : own], coded[: len(sides)], coded[own:])


def _order_note(lines: Lines, response: Response, size: int) -> list[str]:
    """Return notes if judgments of pairs that were shown in both orders are about to be merged."""
    pairs, counts = lines.pairs, lines.counts
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    group, keys = pd.factorize(low * size + high)
    judged = counts.sum(axis=1) > 0
    forward = pairs[:, 0] < pairs[:, 1]
    ways = [np.bincount(group[judged & way], minlength=len(keys)) > 0 for way in (forward, ~forward)]
    both = ways[0] & ways[1]
    if not both.any():
        return []
    first, _, second = response.tally(counts_of_outcomes(counts[both[group]], response).sum(axis=0))
    merged = counted(float(counts[both[group]].sum()), "judgment")
    note = f"{merged} of {counted(int(both.sum()), 'pair')} shown in both orders were merged; keep: order=True"
    if first + second == 0:
        return [note, "all judgments of pairs shown in both orders are ties"]
    share = format_percent(first / (first + second))
    p = format_p(sign_p(first, first + second))
    p = f"p {p}" if p.startswith("<") else f"p = {p}"
    return [note, f"of pairs shown in both orders, object_i won {share} of decisions ({p})"]


def unused_note(names: Sequence[str]) -> tuple[str, ...]:
    """Return the note on columns that a reader did not use; none where it used all."""
    return (f"columns not used: {listed(names, len(names))}",) if names else ()


def assembled(
    lines: Lines,
    pairs: Coded,
    asked: Wanted,
    notes: Sequence[str],
    *,
    unkept: tuple[str, ...],
    order: bool,
    shown: bool = True,
    response: Response | None = None,
) -> Comparisons:
    """Return the table of the lines, with the object table and all notes.

    Without a `response` judgments have three outcomes, or two if none is a tie.
    """
    response = response or (THREE if lines.counts[:, 1].sum() > 0 else TWO)
    objects: tuple[Any, ...] = tuple(pairs.levels)
    table, table_notes = read_object_table(asked, objects)
    merged = [] if order or not shown else _order_note(lines, response, len(objects))
    return tabulate(
        lines,
        Comparisons(
            objects,
            lines.pairs,
            lines.counts,
            response=response,
            keeps_order=bool(order),
            object_columns=table,
            notes=(*notes, *merged, *table_notes),
            unkept=unkept,
        ),
    )
