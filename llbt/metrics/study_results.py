"""Comparisons and decisions of the metrics of a study, in all its tasks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.arguments import Share, checked
from ..base.table import Field, Record, Table
from ..core.columns import FloatArray
from .compare import SAYS, agreement_decimals, measured
from .compare_all import MetricComparisons
from .decision_errors import ErrorAgreement, error_agreement
from .decision_records import DecisionTable


@dataclass(frozen=True, repr=False, eq=False)
class StudyComparisons(Record):
    """Tests of all pairs of metrics in every task; made by ``Study.compare``.

    Attributes
    ----------
    by_task : dict of task to MetricComparisons
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "Study.compare(…)"

    by_task: Mapping[Hashable, MetricComparisons]
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return what `clusters` does at the level .05."""
        return self.clusters()

    @checked
    def clusters(self, alpha: Share = 0.05, *, adjusted: bool = False) -> Table:
        """Return the metrics with their estimates and significance clusters in every task, the best on average first.

        Parameters
        ----------
        alpha : float
            Level of the tests.
        adjusted : bool
            Whether p-values are adjusted, as each `MetricComparisons` says; tables of WMT's metrics task do not.

        Returns
        -------
        Table
            metric, unbeaten (of several tasks: in how many no metric is significantly better; of one: whether), and of
            each task estimate and cluster, with _1, _2, … where there are several. NaN where a metric has no scores.
        """
        tasks, several = list(self.by_task), len(self.by_task) > 1
        metrics = list(dict.fromkeys(name for one in self.by_task.values() for name in one.metrics))
        columns: list[Field] = []
        unbeaten = np.zeros((len(tasks), len(metrics)), dtype=np.bool_)
        estimates = np.full((len(tasks), len(metrics)), np.nan)
        found = []
        for k, one in enumerate(self.by_task.values()):
            places = [metrics.index(name) for name in one.metrics]
            estimates[k, places] = one.estimate
            unbeaten[k, places] = ~one.better(alpha, adjusted=adjusted).any(axis=0) & ~np.isnan(one.estimate)
            found.append(_clusters(one, metrics, alpha, adjusted))
        order, decimals = _order(estimates), agreement_decimals(estimates)
        for k, task in enumerate(tasks):
            end, name = (f"_{k + 1}", str(task)) if several else ("", "Estimate")
            columns += [
                Field(f"estimate{end}", name, estimates[k][order], "estimate", decimals=decimals),
                Field(f"cluster{end}", "Cluster", found[k][order], "count"),
            ]
        won = unbeaten.sum(axis=0)[order].tolist() if several else unbeaten[0][order].tolist()
        first = next(iter(self.by_task.values()))
        nulls = dict.fromkeys(one.null for one in self.by_task.values())
        return Table(
            (
                Field("metric", "Metric", [metrics[k] for k in order]),
                Field("unbeaten", "Unbeaten", won, "count" if several else "text"),
                *columns,
            ),
            title=f"Clusters of metrics: {measured(first.measure, first.level, first.coefficient, ('',))}",
            head=(SAYS[first.method], *nulls),
            notes=(
                *self.notes,
                f"Unbeaten: no metric is significantly better, one-sided p ≤ {alpha:g}.",
                "A cluster ends where a metric of it is better than the next.",
                *(dict.fromkeys(note for one in self.by_task.values() for note in one.notes)),
            ),
        )


def _clusters(one: MetricComparisons, metrics: list[str], alpha: float, adjusted: bool) -> FloatArray:
    frame = one.clusters(alpha, adjusted=adjusted).to_frame().set_index("metric")["significance_cluster"]
    return np.asarray(frame.reindex(metrics).to_numpy(dtype=np.float64))


def _order(estimates: FloatArray) -> list[int]:
    """Return the metrics by the mean of their ranks among those of each task, the best first."""
    ranks = [
        np.where(np.isnan(row), np.nan, [(row > x).sum() / max(1, (~np.isnan(row)).sum()) for x in row])
        for row in estimates
    ]
    held = ~np.isnan(ranks)
    means = np.where(held, ranks, 0).sum(axis=0) / np.maximum(1, held.sum(axis=0))
    return np.lexsort((np.arange(len(means)), np.where(held.any(axis=0), means, np.inf))).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True, repr=False, eq=False)
class StudyDecisions(Record):
    """Decisions of metrics and of humans on the same pairs of systems; made by ``Study.decisions``.

    Attributes
    ----------
    by_metric : dict of metric to DecisionTable
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "Study.decisions(…)"

    by_metric: Mapping[str, DecisionTable]
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return metric, n (pairs), both, type_1, opposite (of these), type_2, neither."""
        names = ("n", "both", "type_1", "opposite", "type_2", "neither")
        words = ("Pairs", "Both", "Type I", "(opposite)", "Type II", "Neither")
        tables = [one.by_difference() for one in self.by_metric.values()]
        totals = [one.to_frame().iloc[-1] for one in tables]
        said = dict.fromkeys(note for one in tables for note in one.notes)
        return Table(
            (
                Field("metric", "Metric", list(self.by_metric)),
                *(
                    Field(name, word, [int(row[name]) for row in totals], "count")
                    for name, word in zip(names, words, strict=True)
                ),
            ),
            title=f"Decisions of metrics against those of humans, α = {next(iter(self.by_metric.values())).alpha:g}",
            notes=(*self.notes, *said),
        )

    def errors(self) -> ErrorAgreement:
        """Return the errors that each metric makes and each other one does not."""
        return error_agreement(dict(self.by_metric))
