"""How often a metric orders two systems as humans do: pair by pair, by group and pooled."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..base.arguments import checked
from ..base.table import Field, Record, Table
from ..core.columns import FloatArray, IntArray
from .system_scores import all_pairs, grouped_systems

Ties = Literal["strict", "drop", "half"]

_RULES: dict[str, str] = {
    "strict": "a tie agrees with a tie and with nothing else",
    "drop": "pairs tied by metric or humans are left out",
    "half": "a tie of only one side counts half, a tie of both counts as agreement",
}


@dataclass(frozen=True, repr=False, eq=False)
class PairwiseAccuracy(Record):
    """Agreement of a metric with humans on the order of pairs of systems. P pairs in K groups.

    Attributes
    ----------
    groups : tuple of label, length K
        Groups within which systems are paired, such as language pairs; ``("",)`` without groups.
    group : ndarray of int, shape (P,)
        The group of each pair, an index into `groups`.
    object_i, object_j : tuple of label, length P
    metric_difference, human_difference : ndarray, shape (P,)
        Score of i minus score of j.
    agree : ndarray, shape (P,)
        1 if metric and humans agree, 0 if not, ½ for a half agreement (``ties="half"``), NaN if the pair is left out.
    ties : {"strict", "drop", "half"}
    """

    groups: tuple[Hashable, ...]
    group: IntArray
    object_i: tuple[Hashable, ...]
    object_j: tuple[Hashable, ...]
    metric_difference: FloatArray
    human_difference: FloatArray
    agree: FloatArray
    ties: Ties

    @property
    def n(self) -> int:
        """Number of pairs that are counted."""
        return int((~np.isnan(self.agree)).sum())

    @property
    def agreements(self) -> float:
        """Number of pairs on which metric and humans agree."""
        return float(np.nansum(self.agree))

    @property
    def estimate(self) -> float:
        """Share of pairs on which metric and humans agree, over all groups; NaN without a pair."""
        return self.agreements / self.n if self.n else float("nan")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes: the rule for ties, the number of ties, and warnings."""
        by_metric, by_humans = int((self.metric_difference == 0).sum()), int((self.human_difference == 0).sum())
        notes = [
            f"ties={self.ties!r}: {_RULES[self.ties]}",
            f"ties: {by_metric:,} of the metric, {by_humans:,} of humans",
        ]
        if not self.n:
            notes.append("no pair of systems counts, so the accuracy is NaN")
        elif np.sum(np.sign(self.metric_difference) * np.sign(self.human_difference)) < 0:
            notes.append("Most pairs are in the opposite order. If lower scores are better, pass −metric.")
        return tuple(notes)

    def table(self) -> Table:
        """Return term (the group), agreements, n and estimate; with several groups, the last row pools all pairs."""
        rows = [self.group == k for k in range(len(self.groups))]
        terms: list[Hashable] = list(self.groups)
        if len(rows) > 1:
            rows, terms = [*rows, np.ones(len(self.agree), dtype=bool)], [*terms, "all"]
        counts = np.array([self._counted(row) for row in rows])
        with np.errstate(invalid="ignore", divide="ignore"):
            share = counts[:, 0] / counts[:, 1]
        return Table(
            (
                Field("term", "", terms),
                Field("agreements", "Agree", counts[:, 0], "count"),
                Field("n", "Pairs", counts[:, 1], "count"),
                Field("estimate", "Accuracy", share, "estimate"),
            ),
            title="Pairwise accuracy",
            notes=self.notes,
        )

    def pairs(self) -> Table:
        """Return group, object_i, object_j, metric_difference, human_difference, agree; one row per pair."""
        return Table(
            (
                Field("group", "Group", [self.groups[k] for k in self.group]),
                Field("object_i", "object_i", self.object_i),
                Field("object_j", "object_j", self.object_j),
                Field("metric_difference", "Metric i − j", self.metric_difference, "number"),
                Field("human_difference", "Humans i − j", self.human_difference, "number"),
                Field("agree", "Agree", self.agree, "count"),
            ),
            title="Pairs of systems",
            notes=self.notes,
        ).first(how=".pairs().to_frame()")

    def _counted(self, rows: npt.NDArray[np.bool_]) -> tuple[float, int]:
        agree = self.agree[rows]
        return float(np.nansum(agree)), int((~np.isnan(agree)).sum())


@checked
def pairwise_accuracy(
    metric: object, human: object, *, by: object | None = None, ties: Ties = "strict"
) -> PairwiseAccuracy:
    """Return the share of pairs of systems that a metric orders as humans do.

    Parameters
    ----------
    metric, human : array or Series, shape (N,), or mapping of group to either
        Scores of N systems, higher is better; two Series are matched by label. Mappings have the same keys, such as
        language pairs; only systems of one group are paired, and the counts of groups are pooled.
    by : sequence, length N, optional
        The group of each system, in place of mappings.
    ties : {"strict", "drop", "half"}
        The treatment of pairs with equal scores. ``"strict"``, as in [1]_: metric and humans agree if their differences
        have the same sign, so a tie agrees only with a tie. ``"drop"`` leaves out pairs that the metric or humans tie.
        ``"half"`` counts a pair that only one side ties as half an agreement, so a metric without information has an
        accuracy of about 1/2.

    Returns
    -------
    PairwiseAccuracy
        One row per group, and one for all. `difference_curve` takes its differences and agreements.

    Raises
    ------
    JudgmentError
        For scores that are not finite numbers or do not match.
    OptionError
        For invalid options.

    Notes
    -----
    Scores tie if they are equal or differ only by rounding. There is no interval: pairs that share a system are not
    independent.

    References
    ----------
    .. [1] Kocmi, T., Federmann, C., Grundkiewicz, R., Junczys-Dowmunt, M., Matsushita, H. & Menezes, A. (2021). To ship
       or not to ship: an extensive evaluation of automatic metrics for machine translation. WMT, 478-494.

    Examples
    --------
    >>> import llbt
    >>> metric, human = {"de-en": [31, 28, 30], "en-de": [25, 27]}, {"de-en": [2, 0, 1], "en-de": [1, 0]}
    >>> accuracy = llbt.metrics.pairwise_accuracy(metric, human)
    >>> accuracy.to_frame().values.tolist()
    [['de-en', 3.0, 3.0, 1.0], ['en-de', 0.0, 1.0, 0.0], ['all', 3.0, 4.0, 0.75]]
    """
    groups, scores = grouped_systems(metric, human, by)
    indices = [all_pairs(len(part.systems)) for part in scores]
    d = np.concatenate([part.metric[i] - part.metric[j] for part, (i, j) in zip(scores, indices, strict=True)])
    h = np.concatenate([part.human[i] - part.human[j] for part, (i, j) in zip(scores, indices, strict=True)])
    sides = [
        tuple(part.systems[k] for part, pair in zip(scores, indices, strict=True) for k in pair[side])
        for side in (0, 1)
    ]
    group = np.repeat(np.arange(len(groups)), [len(i) for i, _ in indices])
    return PairwiseAccuracy(groups, group, sides[0], sides[1], d, h, _agreements(d, h, ties), ties)


def _agreements(d: FloatArray, h: FloatArray, ties: Ties) -> FloatArray:
    """Return the agreement on each pair of systems: 1, 0, 1/2 or NaN, by the rule for ties."""
    agree = np.asarray(np.sign(d) == np.sign(h), dtype=np.float64)
    if ties == "half":
        agree[(d == 0) ^ (h == 0)] = 0.5
    elif ties == "drop":
        agree[(d == 0) | (h == 0)] = np.nan
    return agree
