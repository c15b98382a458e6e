"""Printouts of predictions: a row for each requested comparison, or a matrix of the objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.table import Field, Table, counted, interval_fields
from ..core.columns import FloatArray, Label

_SIDES = ("object_i", "object_j")
_ROWS = 20  # up to so many comparisons print as rows; more print as a matrix
_MOST_PAIRS = 100_000  # with more pairs no matrix is made
_COLUMNS = 15  # most objects of a matrix that fits a line
_HEADINGS = {"i": "P(i wins)", "tie": "P(tie)", "j": "P(j wins)"}


def printed_predictions(
    whole: Table,
    shown: Mapping[str, Sequence[Any]],
    outcomes: Sequence[str],
    estimate: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    confidence: float,
) -> Table:
    """Return the printout of predictions of R comparisons.

    Parameters
    ----------
    whole : Table
        All predictions, a row for each comparison and outcome.
    shown : mapping
        The columns that name the comparisons, each of length R.
    outcomes : sequence of str, length C
    estimate : ndarray, shape (R, C)
    bounds : tuple of two ndarrays, shape (R, C)
    confidence : float
    """
    objects = list(dict.fromkeys([*shown[_SIDES[0]], *shown[_SIDES[1]]]))
    pairs: list[tuple[Label, Label]] = list(zip(*(shown[side] for side in _SIDES), strict=True))
    square = (
        len(pairs) <= _MOST_PAIRS
        and tuple(shown) == _SIDES
        and len(set(pairs)) == len(pairs)
        and {"i", "j"} <= set(outcomes)
    )
    if len(pairs) > _ROWS and square:
        return _matrix(whole, objects, pairs, estimate[:, outcomes.index("i")], estimate[:, outcomes.index("j")])
    first = outcomes[0]
    fields = [Field(name, name, list(column)) for name, column in shown.items()]
    for k, outcome in enumerate(outcomes):
        fields.append(Field(f"p_{outcome}", _HEADINGS.get(outcome, f"P({outcome})"), estimate[:, k], "estimate", 3))
        if outcome == first:
            fields += interval_fields(bounds[0][:, k], bounds[1][:, k], confidence, 3)
    return replace(whole, fields=tuple(fields)).first(_ROWS, "more comparison")


def _matrix(
    whole: Table, objects: Sequence[Label], pairs: Sequence[tuple[Label, Label]], wins_i: FloatArray, wins_j: FloatArray
) -> Table:
    """Return the probabilities, in percent, that the row's object beats the column's object, best objects first."""
    place = {label: k for k, label in enumerate(objects)}
    i, j = np.array([[place[a], place[b]] for a, b in pairs], dtype=np.int64).T
    won = np.full((len(objects), len(objects)), np.nan)
    won[j, i], won[i, j] = wins_j, wins_i  # if both orders are predicted, the row's object is shown first
    strength = np.array([np.nanmean(row) if np.isfinite(row).any() else -np.inf for row in won - won.T])
    order = np.argsort(-strength, kind="stable")[:_COLUMNS]
    rows = [
        Field("object", "", [f"{k + 1:>{len(str(len(order)))}} {objects[o]}" for k, o in enumerate(order)]),
        *(Field(f"{k + 1}", f"{k + 1}", won[order, o], "percent") for k, o in enumerate(order)),
    ]
    both = len(set(map(frozenset, pairs))) < len(pairs)
    left = len(objects) - len(order)
    return replace(
        whole,
        fields=tuple(rows),
        title=f"{whole.title}: % wins of the row's object against the column's object"
        + (", the row's object shown first" if both else ""),
        shown=None,
        more=f"… {counted(left, 'more object')}: .to_frame() has all pairs, with intervals" if left else "",
    )
