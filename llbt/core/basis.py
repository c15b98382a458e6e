"""The basis of a log-likelihood: its judgments, their outcomes, and the unit in which they are counted."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import OptionError, listed, near
from .columns import Coded, FloatArray, IntArray, Label
from .comparisons import Comparisons
from .patterns import Patterns
from .rankings import Rankings

Unit = Literal["judgment", "ranking", "pattern"]

_DIGITS = 30  # binary digits of a sum of weights that do not depend on the order of adding


@dataclass(frozen=True)
class Basis:
    """The data of a log-likelihood. The log-likelihoods of two fits are comparable if their bases are equal.

    Attributes
    ----------
    unit : {"judgment", "ranking", "pattern"}
        The independent unit, and the sample size of BIC.
    outcomes : tuple of str
        The possible outcomes of a unit.
    digest : str
        A text that is equal for the same judgments, however covariates split the table.
    """

    unit: Unit
    outcomes: tuple[str, ...]
    digest: str

    def difference(self, other: Basis) -> str:
        """Return why likelihoods on two bases cannot be compared; empty if they can."""
        if self.unit != other.unit:
            return f"one is of {self.unit}s, the other of {other.unit}s" + (
                ", and the pairs of one ranking are not independent judgments"
                if {self.unit, other.unit} == {"judgment", "ranking"}
                else ""
            )
        if self.outcomes != other.outcomes:
            return f"the outcomes are {', '.join(self.outcomes)} in one and {', '.join(other.outcomes)} in the other"
        return "" if self.digest == other.digest else f"they are not of the same {self.unit}s"


def aic(llf: float, n_params: float) -> float:
    """Return AIC, −2 llf + 2 · parameters."""
    return -2 * llf + 2 * n_params


def bic(llf: float, n_params: float, n: float) -> float:
    """Return BIC, −2 llf + log n · parameters."""
    return -2 * llf + math.log(n) * n_params


def number_of(data: Comparisons | Rankings | Patterns, unit: str) -> float:
    """Return the number of judgments, rankings or patterns, or of levels of a cluster or covariate.

    Raises
    ------
    OptionError
        If the data do not have the unit.
    """
    own, total = _counted(data)
    if unit == own:
        return total
    levels = _levels(data)
    if unit not in levels:
        raise OptionError(
            f"unit={unit!r}{near(unit, tuple(levels))}, which the data do not have (clusters and labels: "
            f"{listed(tuple(levels)) or 'none'})",
            f"When you read the data, pass clusters={unit!r}.",
            expected=f"{own!r}, or one of the clusters and labels",
        )
    return float(len(np.unique(levels[unit])))


def _counted(data: Comparisons | Rankings | Patterns) -> tuple[Unit, float]:
    if isinstance(data, Patterns):
        return "pattern", data.n_judges
    return ("ranking" if isinstance(data, Rankings) else "judgment"), data.n_judgments


def _levels(data: Comparisons | Rankings | Patterns) -> dict[str, IntArray]:
    """Return the codes of clusters and of label covariates, in the rows that have judgments."""
    columns: tuple[Coded, ...] = data.columns
    by_name = {column.name: column.codes for column in columns if not column.numeric}
    if isinstance(data, Rankings):
        return by_name | {column.name: column.codes for column in data.cluster_columns}
    if isinstance(data, Patterns):
        return by_name
    judged = data.totals > 0
    by_name = {name: codes[judged] for name, codes in by_name.items()}
    clusters = data.cluster_counts
    if clusters is None:
        return by_name
    return by_name | {column.name: column.codes[clusters.counts.any(axis=1)] for column in clusters.columns}


def of_comparisons(c: Comparisons) -> Basis:
    """Return the basis of a table: its judgments by pair and outcome, however covariates split it."""
    order = _in_order(c.objects)
    place = np.argsort(order)
    i, j = place[c.pairs].T
    counts = c.outcome_counts
    counts = np.where((i > j)[:, None], counts[:, list(c.response.flip)], counts)
    pairs, where = np.unique(np.minimum(i, j) * len(order) + np.maximum(i, j), return_inverse=True)
    sums = np.zeros((len(pairs), counts.shape[1]))
    np.add.at(sums, where, counts)
    judged = sums.any(axis=1)
    low, high = np.divmod(pairs[judged], len(order))
    used, codes = np.unique(np.concatenate([low, high]), return_inverse=True)
    parts = [*(str(c.objects[order[k]]).encode() for k in used), codes.tobytes(), *_rounded(sums[judged])]
    return Basis("judgment", c.response.outcomes, _digest(parts))


def of_rankings(r: Rankings) -> Basis:
    """Return the basis of lists."""
    label = _ranks(r.objects)
    orders: Counter[tuple[tuple[int, int], ...]] = Counter()
    bounds = zip(r.starts[:-1].tolist(), r.starts[1:].tolist(), r.counts.tolist(), strict=True)
    items, places = [label[k] for k in r.items.tolist()], r.places.tolist()
    for start, end, count in bounds:
        last = max(places[start:end]) + 1  # the place of objects without one
        orders[tuple(sorted((places[k] or last, items[k]) for k in range(start, end)))] += count
    return Basis("ranking", (r.kind,), _digest_of(r.objects, orders))


def of_patterns(p: Patterns, *, missing: bool) -> Basis:
    """Return the basis of patterns.

    Complete patterns that hold the same answers as judgments, or as rankings, have the same basis as these data.

    Parameters
    ----------
    missing : bool
        Whether the model also describes which answers are missing.
    """
    if p.kind == "comparisons" and p.complete and not missing and p.times is None:
        return of_comparisons(p.to_comparisons())
    judgments: Counter[tuple[tuple[int, int], ...]] = Counter()
    label = _ranks(p.objects)
    if p.kind == "rankings" and p.complete and not missing and p.times is None:
        wins = np.stack(
            [((p.answers > 0) & (p.pairs[:, 0] == k)).sum(axis=1) + ((p.answers < 0) & (p.pairs[:, 1] == k)).sum(axis=1)
             for k in range(len(p.objects))], axis=1)  # fmt: skip
        for row, count in zip((len(p.objects) - wins).tolist(), p.counts.tolist(), strict=True):
            judgments[tuple(sorted(zip(row, label, strict=True)))] += count
        return Basis("ranking", ("ranking",), _digest_of(p.objects, judgments))
    signed = np.where(np.array([label[i] > label[j] for i, j in p.pairs]) & (np.abs(p.answers) == 1), -1, 1)
    keys = [min(label[i], label[j]) * len(label) + max(label[i], label[j]) for i, j in p.pairs.tolist()]
    keys = [key + len(label) ** 2 * int(time) for key, time in zip(keys, p.time_of, strict=True)]
    for row, count in zip((signed * p.answers).tolist(), p.counts.tolist(), strict=True):
        judgments[tuple(sorted(zip(keys, row, strict=True)))] += count
    levels = (f"{p.levels} levels",) if p.levels else ()
    outcomes = (p.kind, *levels, *(("answers that are missing",) if missing else ()))
    return Basis("pattern", outcomes, _digest_of(p.objects, judgments))


def _in_order(objects: tuple[Label, ...]) -> IntArray:
    """Return the objects in an order that does not depend on the table."""
    return np.array(sorted(range(len(objects)), key=lambda k: str(objects[k])))


def _ranks(objects: tuple[Label, ...]) -> list[int]:
    """Return the place of each object in an order that all tables share."""
    return [int(k) for k in np.argsort(_in_order(objects))]


def _digest_of(objects: tuple[Label, ...], parts: Counter[tuple[tuple[int, int], ...]]) -> str:
    keys = sorted(parts)
    labels = [str(objects[k]).encode() for k in _in_order(objects)]
    return _digest([*labels, repr(keys).encode(), *_rounded(np.array([parts[key] for key in keys], dtype=np.float64))])


def _rounded(sums: FloatArray) -> list[bytes]:
    """Return sums rounded to the digits that do not depend on the order of addition."""
    mantissa, exponent = np.frexp(sums)
    return [np.round(mantissa * 2.0**_DIGITS).tobytes(), exponent.tobytes()]


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
        digest.update(b"\0")
    return digest.hexdigest()[:16]
