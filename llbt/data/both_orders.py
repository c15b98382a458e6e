"""Pairs that a judge saw in both orders on one prompt: one judgment each, a tie if the verdicts differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..base.table import counted
from ..core.columns import IntArray, groups
from ..core.counts import OUTCOMES
from ..core.judgments import Judgments
from ..errors import JudgmentError
from .outcome_codings import TIE

Orders = Literal["agree"] | None
BoolArray = npt.NDArray[np.bool_]


def once_per_prompt(made: Judgments) -> Judgments:
    """Return judgments in which each pair that a judge saw in both orders on one prompt counts once.

    The one judgment of a pair has the verdict of the first row if all verdicts agree on the winner; else it is a tie.
    Pairs that were judged in one order only stay unchanged.

    Raises
    ------
    JudgmentError
        For judgments without prompts, rows that stand for several judgments, and judgments that an engine holds.
    """
    if made.columns["prompt"].isna().all():
        raise JudgmentError(
            "orders='agree' needs the prompt of each judgment, and none is recorded",
            "Name the column: read_judgments(…, prompt=…, orders='agree').",
        )
    if made.weights is not None:
        raise JudgmentError(
            "orders='agree' is for single judgments, but these rows stand for several each", "Leave orders= out."
        )
    names = ["prompt", *(["judge"] if made.columns["judge"].notna().any() else [])]
    unit, _ = made.grouped(names, "orders")
    turned = made.pairs[:, 0] > made.pairs[:, 1]
    first, group = groups([unit, *np.sort(made.pairs, axis=1).T])
    n = np.bincount(group, minlength=len(first))
    n_turned = np.bincount(group, turned, len(first))
    both = (n_turned > 0) & (n_turned < n)
    outcomes = np.where(turned, len(OUTCOMES) - 1 - made.outcomes, made.outcomes)  # of the smaller position
    lowest, highest = np.full(len(first), len(OUTCOMES)), np.full(len(first), -1)
    np.minimum.at(lowest, group, outcomes)
    np.maximum.at(highest, group, outcomes)
    agreed = np.where(lowest == highest, lowest, TIE)
    rows = np.arange(len(made.outcomes))
    start = np.full(len(first), len(rows))
    np.minimum.at(start, group, rows)
    remaining = ~both[group] | (rows == start[group])
    verdict = np.where(turned, len(OUTCOMES) - 1 - agreed[group], agreed[group])
    merged = replace(made, outcomes=np.where(both[group], verdict, made.outcomes)).take(remaining)
    return replace(merged, shown=False, notes=(*made.notes, *_notes(n, both, both & (lowest != highest))))


def _notes(n: IntArray, both: BoolArray, differing: BoolArray) -> list[str]:
    """Return notes on pairs judged in both orders on one prompt, in one order, and more than twice."""
    alone, more, ties = int((~both).sum()), int((both & (n > 2)).sum()), int(differing.sum())
    what = f"{counted(int(both.sum()), 'pair')} judged in both orders on a prompt"
    notes = [f"{what}: one judgment each, {counted(ties, 'tie')} because verdicts differ (orders=)"]
    notes += [f"{counted(alone, 'pair')} judged in one order alone: every judgment counts"] if alone else []
    notes += (
        [f"{counted(more, 'pair')} judged more than twice; turns are prompts: prompt='question_id+turn'"]
        if more
        else []
    )
    return notes
