"""Decisions of a metric and of humans on pairs of systems: the outcome of each pair, and counts by bins."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..base.arguments import checked, is_whole
from ..base.table import Field, Kind, Record, Table
from ..core.columns import FloatArray, IntArray
from ..errors import OptionError


@dataclass(frozen=True, repr=False, eq=False)
class DecisionTable(Record):
    """Decisions of a metric and of humans on P pairs of systems; made by `metrics.decisions`.

    Attributes
    ----------
    groups : tuple of label, length K
        Groups within which systems are paired; ``("",)`` without groups.
    group : ndarray of int, shape (P,)
        An index into `groups`.
    object_i, object_j : tuple of label, length P
    metric_difference, human_difference : ndarray, shape (P,)
        Mean score of i minus mean score of j.
    metric_p, human_p : ndarray, shape (P,)
        Two-sided p-values; NaN where a test is undefined.
    alpha : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.metrics.decisions(…)"

    groups: tuple[Hashable, ...]
    group: IntArray
    object_i: tuple[Hashable, ...]
    object_j: tuple[Hashable, ...]
    metric_difference: FloatArray
    human_difference: FloatArray
    metric_p: FloatArray
    human_p: FloatArray
    alpha: float
    notes: tuple[str, ...]

    @property
    def outcome(self) -> npt.NDArray[np.str_]:
        """The decision on each pair, shape (P,): one of `OUTCOMES`.

        ``both``: significant in the same direction; ``metric_only``; ``opposite``: both significant, in opposite
        directions; ``humans_only``; ``neither``; ``undefined``: no p-value.
        """
        metric, humans = self.metric_p < self.alpha, self.human_p < self.alpha
        same = np.sign(self.metric_difference) == np.sign(self.human_difference)
        cases = [np.isnan(self.metric_p) | np.isnan(self.human_p), metric & humans & same, metric & humans]
        names = ["undefined", "both", "opposite", "metric_only", "humans_only"]
        return np.select([*cases, metric, humans], names, "neither")

    @property
    def type_1(self) -> npt.NDArray[np.bool_]:
        """Type I errors, shape (P,): the metric's difference is significant; humans' is not, or is opposite."""
        return np.isin(self.outcome, ["metric_only", "opposite"])

    @property
    def type_2(self) -> npt.NDArray[np.bool_]:
        """Type II errors, shape (P,): humans' difference is significant, the metric's is not."""
        return np.asarray(self.outcome == "humans_only")

    def table(self) -> Table:
        """Return the table of `by_difference` with five bins."""
        return self.by_difference()

    @checked
    def by_difference(self, bins: int | Sequence[float] = 5) -> Table:
        """Return counts of decisions and of errors by the size of the metric's difference.

        Parameters
        ----------
        bins : int or sequence of float
            Bins of |metric difference|: their number, each with about the same number of pairs, or the edges between
            them.

        Returns
        -------
        Table
            Columns low, high, n, both, type_1, opposite (a part of type_1), type_2, neither; the last row has all
            pairs.
        """
        edges = _edges(np.abs(self.metric_difference), bins)
        low, high = np.append(edges, 0.0), np.append(edges[1:], [np.inf, np.inf])
        outcome = self.outcome
        counts = {
            "n": ("Pairs", outcome != "undefined"),
            "both": ("Both", outcome == "both"),
            "type_1": ("Type I", self.type_1),
            "opposite": ("(opposite)", outcome == "opposite"),
            "type_2": ("Type II", self.type_2),
            "neither": ("Neither", outcome == "neither"),
        }
        return Table(
            (
                Field("term", "", [*[f"bin {k + 1}" for k in range(len(edges))], "all"]),
                Field("low", "|Δ metric| from", low, "number"),
                Field("high", "below", high, "number"),
                *(
                    Field(name, columns, self._by_bin(pairs, edges), "count")
                    for name, (columns, pairs) in counts.items()
                ),
            ),
            title=f"Decisions of the metric and of humans, α = {self.alpha:g}",
            notes=(
                "Both: significant in the same direction.",
                "Type I: the metric's difference is significant; humans' is not, or is opposite.",
                "Type II: humans' difference is significant, the metric's is not.",
                "Types as in the introduction of Mathur et al. (2020); section 5 exchanges them.",
                *self.notes,
            ),
        )

    def pairs(self) -> Table:
        """Return one row per pair: group, objects, differences, p-values, outcome."""
        columns: list[tuple[str, str, Sequence[object] | FloatArray, Kind]] = [
            ("group", "Group", [self.groups[k] for k in self.group], "text"),
            ("object_i", "object_i", self.object_i, "text"),
            ("object_j", "object_j", self.object_j, "text"),
            ("metric_difference", "Metric i − j", self.metric_difference, "number"),
            ("human_difference", "Humans i − j", self.human_difference, "number"),
            ("metric_p", "p metric", self.metric_p, "p_value"),
            ("human_p", "p humans", self.human_p, "p_value"),
            ("outcome", "Outcome", self.outcome.tolist(), "text"),
        ]
        return Table(
            tuple(Field(*column) for column in columns),
            title="Decisions pair by pair",
            notes=self.notes,
        ).first(how=".pairs().to_frame()")

    def _by_bin(self, counted: npt.NDArray[np.bool_], edges: FloatArray) -> IntArray:
        """Return the number of chosen pairs in each bin and in total, shape (bins + 1,)."""
        where = np.searchsorted(edges, np.abs(self.metric_difference[counted]), side="right") - 1
        return np.append(np.bincount(where, minlength=len(edges)), counted.sum()).astype(np.int64)


def _edges(size: FloatArray, bins: int | Sequence[float]) -> FloatArray:
    """Return the lower edges of bins, 0 first."""
    if is_whole(bins) and bins >= 1:
        inner = np.quantile(size, np.arange(1, int(bins)) / int(bins)) if len(size) else np.empty(0)
        return np.unique(np.append(0.0, inner))
    try:
        edges = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        edges = np.array([np.nan])
    if edges.ndim != 1 or not np.isfinite(edges).all() or (edges < 0).any() or (np.diff(edges) <= 0).any():
        raise OptionError(
            f"bins={bins!r}", expected="a number of bins, or increasing edges of bins, all at least 0: [0.5, 1]"
        )
    return edges if len(edges) and edges[0] == 0 else np.append(0.0, edges)
