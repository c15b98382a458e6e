"""Counts of outcomes as stored in a table: their columns, reserved names, and checks."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from ..errors import JudgmentError, listed
from .columns import MOST_COUNTED, FloatArray, Label
from .response import THREE, TWO, Response

OUTCOMES = ("i", "tie", "j")
COUNT_COLUMNS = ("wins_i", "ties", "wins_j")
_COLUMN_NAMES = {"i": "wins_i", "tie": "ties", "bad": "bad", "j": "wins_j"}
RESERVED = frozenset(
    {"object", "tie", "bad", "grade", "order", "pair", "object_i", "object_j", *COUNT_COLUMNS}
    | {"outcome", "estimate", "std_error", "conf_low", "conf_high"}
)


def count_columns(response: Response) -> tuple[str, ...]:
    """Return the names of the columns of counts in a frame."""
    if response.has_bad:
        return tuple(_COLUMN_NAMES[outcome] for outcome in response.outcomes)
    return COUNT_COLUMNS if response in (TWO, THREE) else response.outcomes


def n_columns(response: Response) -> int:
    """Return the number of columns of a table's counts; two outcomes are stored in three columns, with 0 ties."""
    return max(len(THREE.outcomes), len(response.outcomes))


def counts_of_outcomes(counts: FloatArray, response: Response) -> FloatArray:
    """Return the columns of a table's counts that belong to outcomes, (S, K); with two outcomes, without the ties."""
    return counts if response != TWO else counts[:, [0, 2]]


def counts_of_cells(counts: FloatArray, response: Response) -> FloatArray:
    """Return counts of outcomes (S, K) as a table stores them: two outcomes in three columns, with 0 ties."""
    return counts if response != TWO else np.insert(counts, 1, 0.0, axis=1)


def whole(x: float) -> float:
    """Return a number, as an int if it is whole."""
    return int(x) if math.isfinite(x) and x.is_integer() else x


def check_names(names: Sequence[str], sides: Sequence[str], reserved: Collection[str]) -> None:
    """Raise for reserved names and for names used twice; a side covariate also has a column for each side."""
    taken = [*names, *(f"{name}_{side}" for name in sides for side in "ij")]
    words = tuple(name for name in dict.fromkeys(taken) if name in RESERVED.union(reserved))
    if words:
        raise JudgmentError(f"{listed(words)} is a word that llbt uses itself", "Rename the column.")
    twice = tuple(sorted({name for name in taken if taken.count(name) > 1}))
    if twice:
        kinds = "clusters, object covariates and side covariates" if sides else "clusters and object covariates"
        fault = f"{listed(twice)} is named twice among covariates, {kinds}"
        raise JudgmentError(fault, expected="one role for each column")


def check_alike(what: str, labels: tuple[Label, ...]) -> None:
    """Raise for two labels that print alike, such as 1 and '1': they would give one parameter name."""
    if len({str(label) for label in labels}) < len(labels):
        seen: dict[str, Label] = {}
        for label in labels:
            if str(label) in seen:
                raise JudgmentError(
                    f"{what}: the labels {seen[str(label)]!r} and {label!r} read alike", "Rename one of them."
                )
            seen[str(label)] = label


def check_counts(counts: FloatArray, response: Response) -> None:
    """Raise for counts that are negative or not finite, a wrong number of columns, and a table without judgments."""
    if counts.shape[1:] != (n_columns(response),):
        raise JudgmentError(
            f"counts of shape {counts.shape} for the outcomes {listed(response.outcomes)}",
            expected="one column for each outcome (two outcomes have three columns, 0 in the middle)",
        )
    if counts.size and counts.min() >= 0 and 0 < counts.sum() < MOST_COUNTED:  # False if there is a NaN
        return
    bad = np.flatnonzero(~np.isfinite(counts).all(axis=1) | (counts < 0).any(axis=1))
    if bad.size:
        values, names = counts[bad[0]].tolist(), COUNT_COLUMNS if response in (TWO, THREE) else response.outcomes
        raise JudgmentError(
            f"{bad.size} comparisons have counts that are negative or not finite, the first {values} "
            f"({', '.join(names)})",
            expected="finite counts, at least 0",
        )
    total = counts.sum() if counts.size else math.nan
    if total >= MOST_COUNTED:
        raise JudgmentError(
            f"the counts add up to {total:.4g}",
            "Check the weights, or divide all counts by one number.",
            expected=f"fewer than 2**53 ({MOST_COUNTED:.4g}) judgments; beyond that, single ones are lost",
        )
    if counts.size and not total > 0:
        raise JudgmentError("all counts are 0: there is no judgment.")
