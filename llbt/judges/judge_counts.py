"""Counts of each judge: outcomes, and repeats of a unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..base.table import counted, format_count
from ..core.columns import Coded, FloatArray, IntArray, groups, tally
from ..core.comparisons import Comparisons, check_three
from ..core.judgments import Judgments
from ..data.sources import as_names
from ..errors import OptionError, listed


@dataclass(frozen=True, eq=False)
class JudgeLines:
    """R lines of judgments by one judge each.

    Attributes
    ----------
    judge : Coded, shape (R,)
    counts : ndarray, shape (R, 3)
    frame : DataFrame
        Objects and covariates of the comparisons.
    at : ndarray of int, shape (R,)
        The row of `frame` that a line belongs to.
    shown : bool
        Whether the data record which object was shown first.
    """

    judge: Coded
    counts: FloatArray
    frame: pd.DataFrame
    at: IntArray
    shown: bool

    def summed(self, values: FloatArray) -> FloatArray:
        """Return values (R,) summed by judge, shape (K,)."""
        return np.asarray(np.bincount(self.judge.codes, values, len(self.judge.levels)), dtype=np.float64)


def lines_of_judgments(judgments: Judgments, judge: str) -> JudgeLines:
    """Return a line per judgment."""
    rows = np.arange(len(judgments.outcomes))
    column = judgments.column(judge, "judge")
    return JudgeLines(column, judgments.tally(rows, len(rows)), judgments.to_frame(), rows, judgments.shown)


def lines_of_counts(c: Comparisons, judge: str) -> JudgeLines:
    """Return a line per comparison and judge; the judge is a covariate or a cluster of the table."""
    check_three(c)
    judge = c.named(judge)
    frame, by_cluster = c.to_frame(), c.cluster_counts
    column = next((own for own in c.columns if own.name == judge), None)
    if column is not None and not column.numeric:
        return JudgeLines(column, c.counts, frame, np.arange(len(c)), c.keeps_order)
    column = next((own for own in by_cluster.columns if own.name == judge), None) if by_cluster else None
    if column is None or by_cluster is None:
        labels = [own.name for own in (*c.columns, *(by_cluster.columns if by_cluster else ())) if not own.numeric]
        instead = f"Name the judge column, such as judge={labels[0]!r}, or keep it" if labels else "Keep it"
        raise OptionError(
            f"the table has no cluster or labelled covariate {judge!r} (judge=); it keeps {listed(labels) or 'none'}",
            f"{instead} when the table is made: from_judgments(…, clusters={judge!r}).",
        )
    return JudgeLines(column, by_cluster.counts, frame, by_cluster.rows, c.keeps_order)


@dataclass(frozen=True, eq=False)
class Repeats:
    """Agreement, swapped pairs and flips in the same unit, each (K,), and notes."""

    agreed: FloatArray
    pairs: FloatArray
    swapped: FloatArray
    flips: FloatArray
    notes: tuple[str, ...]


def unknown_repeats(judges: int) -> Repeats:
    """Return NA for all figures about repeats, because a table of counts does not record repeats."""
    unknown = np.full(judges, np.nan)
    note = "Counts have no units, so agreement, swapped and flips are NA. Pass the judgments."
    return Repeats(unknown, unknown, unknown, unknown, (note,))


def count_repeats(judgments: Judgments, judge: Coded, unit: str | Sequence[str] | None) -> Repeats:
    """Count pairs of judgments of the same unit: by a judge and others, and by one judge in both display orders."""
    names, note = _unit(judgments, unit)
    among, _ = judgments.grouped(names, "unit")
    size, oriented = len(judge.levels), judgments.oriented()
    _, units = groups([*oriented.pairs.T, among])
    first, line = groups([units, np.asarray(judge.codes, dtype=np.int64)])
    own, everyone = oriented.tally(line), oriented.tally(units)[units[first]]
    others = everyone - own

    def by_judge(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(judge.codes[first], values, size), dtype=np.float64)

    agreed = by_judge((own * others).sum(axis=1))
    pairs = by_judge(own.sum(axis=1) * others.sum(axis=1))
    notes = (note,)
    if not judgments.shown:
        unknown = np.full(size, np.nan)
        return Repeats(agreed, pairs, unknown, unknown, notes)
    turned = judgments.pairs[:, 0] > judgments.pairs[:, 1]
    one, other = (tally(line[way], judgments.outcomes[way], size=len(first)) for way in (~turned, turned))
    swapped = by_judge(one.sum(axis=1) * other.sum(axis=1))
    return Repeats(agreed, pairs, swapped, by_judge(one[:, 0] * other[:, 0] + one[:, 2] * other[:, 2]), notes)


def _unit(judgments: Judgments, unit: str | Sequence[str] | None) -> tuple[tuple[str, ...], str]:
    """Return the columns that identify a unit together with the objects (by default the prompt), and a note."""
    if unit is not None:
        names = as_names(unit, "unit")
        return (
            names,
            f"units are the two objects and {', '.join(names)}" if names else "units are the two objects alone",
        )
    gaps = int(judgments.values("prompt").isna().sum()) if "prompt" in judgments.names else len(judgments.outcomes)
    if not gaps:
        return ("prompt",), "units are the two objects and the prompt; unit=[] leaves the prompt out"
    some = gaps < len(judgments.outcomes)
    why = f": prompt has no value in {format_count(gaps)} of {counted(len(judgments.outcomes), 'row')}" if some else ""
    return (), f"units are the two objects alone{why}"
