"""Comparisons and decisions of the metrics of a study, in all its tasks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from ..base.arguments import Share, checked
from ..base.table import Field, Record, Table, counted, interval_fields, named
from ..core.columns import FloatArray
from .compare import SAYS, agreement_decimals, measured
from .compare_all import MetricComparisons
from .correlate import Correlation, Level
from .decision_errors import ErrorAgreement, error_agreement
from .decision_records import DecisionTable
from .interval import SAYS as INTERVALS
from .interval import IntervalMethod
from .kernels import NAMES, Coefficient
from .study_parts import StudyPart

ErrorConvention = Literal["usual", "exchanged"]

_DEFINED = ("both", "opposite", "metric_only", "humans_only", "neither")
_COUNTED = (
    ("n", _DEFINED),
    ("both", ("both",)),
    ("claimed", ("metric_only", "opposite")),
    ("opposite", ("opposite",)),
    ("missed", ("humans_only",)),
    ("neither", ("neither",)),
)


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
        """Return `clusters` at the level .05."""
        return self.clusters()

    @checked
    def clusters(self, alpha: Share = 0.05, *, adjusted: bool = False) -> Table:
        """Return the metrics with their estimates and significance clusters in every task, the best on average first.

        Parameters
        ----------
        alpha : float
            Level of the tests.
        adjusted : bool
            Whether to use adjusted p-values, as in each `MetricComparisons`. The tables of WMT's metrics task use
            unadjusted ones.

        Returns
        -------
        Table
            Columns metric, unbeaten, and the estimate and cluster of each task (names end in _1, _2, … if there are
            several tasks). unbeaten is the number of tasks in which no metric is significantly better; with one task,
            whether no metric is. NaN if a metric has no scores.
        """
        tasks, several = list(self.by_task), len(self.by_task) > 1
        metrics = list(dict.fromkeys(name for one in self.by_task.values() for name in one.metrics))
        columns: list[Field] = []
        unbeaten = np.zeros((len(tasks), len(metrics)), dtype=np.bool_)
        estimates = np.full((len(tasks), len(metrics)), np.nan)
        rows = []
        for k, one in enumerate(self.by_task.values()):
            places = [metrics.index(name) for name in one.metrics]
            estimates[k, places] = one.estimate
            unbeaten[k, places] = ~one.better(alpha, adjusted=adjusted).any(axis=0) & ~np.isnan(one.estimate)
            rows.append(_clusters(one, metrics, alpha, adjusted))
        order, decimals = _order(estimates), agreement_decimals(estimates)
        for k, task in enumerate(tasks):
            end, name = (f"_{k + 1}", str(task)) if several else ("", "Estimate")
            columns += [
                Field(f"estimate{end}", name, estimates[k][order], "estimate", decimals=decimals),
                Field(f"cluster{end}", "Cluster", rows[k][order], "count"),
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
                "A metric significantly worse than one in the cluster above begins a new cluster.",
                *(dict.fromkeys(note for one in self.by_task.values() for note in one.notes)),
            ),
        )


def _clusters(one: MetricComparisons, metrics: list[str], alpha: float, adjusted: bool) -> FloatArray:
    frame = one.clusters(alpha, adjusted=adjusted).to_frame().set_index("metric")["significance_cluster"]
    return np.asarray(frame.reindex(metrics).to_numpy(dtype=np.float64))


def _order(estimates: FloatArray) -> list[int]:
    """Return the metrics by their mean rank over the tasks, the best first."""
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
    convention : {"usual", "exchanged"}
        The names of the two types of error.
    """

    _made_by: ClassVar[str] = "Study.decisions(…)"

    by_metric: Mapping[str, DecisionTable]
    notes: tuple[str, ...]
    convention: ErrorConvention = "usual"

    def table(self) -> Table:
        """Return metric, n (pairs), both, type_1, type_2, neither; opposite follows the type that includes it."""
        tables = list(self.by_metric.values())
        outcomes = {name: [int(np.isin(one.outcome, list(which)).sum()) for one in tables] for name, which in _COUNTED}
        first, second = ("claimed", "missed") if self.convention == "usual" else ("missed", "claimed")
        opposite = Field("opposite", "(opposite)", outcomes["opposite"], "count")
        beside = {"claimed": (opposite,), "missed": ()}
        notes = dict.fromkeys(note for one in tables for note in one.notes)
        return Table(
            (
                Field("metric", "Metric", list(self.by_metric)),
                Field("n", "Pairs", outcomes["n"], "count"),
                Field("both", "Both", outcomes["both"], "count"),
                Field("type_1", "Type I", outcomes[first], "count"),
                *beside[first],
                Field("type_2", "Type II", outcomes[second], "count"),
                *beside[second],
                Field("neither", "Neither", outcomes["neither"], "count"),
            ),
            title=f"Decisions of metrics and of humans, α = {tables[0].alpha:g}",
            notes=(*_named(self.convention), *self.notes, *notes),
        )

    def errors(self) -> ErrorAgreement:
        """Return the errors of each metric that another metric does not make."""
        agreement = error_agreement(dict(self.by_metric))
        if self.convention == "usual":
            return agreement
        return replace(
            agreement,
            type_1=agreement.type_2,
            type_2=agreement.type_1,
            notes=(*_named(self.convention), *agreement.notes),
        )

    def shared_errors(self) -> Table:
        """Return the pairs of systems on which several metrics make the same type of error.

        Returns
        -------
        Table
            metrics (k, from 1 to all), type_1 and type_2: the pairs on which at least k metrics err. Pairs on which the
            test of some metric is undefined are left out.
        """
        tables = list(self.by_metric.values())
        defined = np.all([one.outcome != "undefined" for one in tables], axis=0)
        claimed = np.sum([one.type_1[defined] for one in tables], axis=0)
        missed = np.sum([one.type_2[defined] for one in tables], axis=0)
        first, second = (claimed, missed) if self.convention == "usual" else (missed, claimed)
        several = np.arange(1, len(tables) + 1)
        gone = int((~defined).sum())
        return Table(
            (
                Field("metrics", "Metrics, at least", several, "count"),
                Field("type_1", "Type I", [int((first >= k).sum()) for k in several], "count"),
                Field("type_2", "Type II", [int((second >= k).sum()) for k in several], "count"),
            ),
            title="Errors shared by several metrics",
            head=(f"{counted(int(defined.sum()), 'pair')} of systems, {counted(len(tables), 'metric')}",),
            notes=(
                *_named(self.convention),
                *([f"left out: {counted(gone, 'pair')} without a p-value"] if gone else []),
                *self.notes,
            ),
        )


def _named(convention: ErrorConvention) -> tuple[str, str, str]:
    """Return the definitions of the two types of error."""
    names = ("I", "II") if convention == "usual" else ("II", "I")
    return (
        "Both: significant in the same direction.",
        f"Type {names[0]}: the metric's difference is significant, humans' is not or is opposite.",
        f"Type {names[1]}: humans' difference is significant, the metric's is not.",
    )


def correlation_table(
    keys: tuple[Field, ...],
    cases: Sequence[tuple[StudyPart, str, Level, Coefficient]],
    results: Sequence[tuple[Correlation, Correlation, tuple[float, float]]],
    method: IntervalMethod | None,
    confidence: float,
    notes: Sequence[str],
) -> Table:
    """Return a table of correlations, one row per case: with all systems, without outliers, and the interval."""
    whole, without, bounds = zip(*results, strict=True)
    low, high = np.array(bounds).T
    kinds = list(dict.fromkeys((one.level, one.coefficient) for one in whole))
    title = f": {NAMES[kinds[0][1]]}, {kinds[0][0]} level" if len(kinds) == 1 else ""
    low_high = () if method is None else interval_fields(low, high, confidence)
    return Table(
        (
            *keys,
            Field("metric", "Metric", [case[1] for case in cases]),
            Field("level", "Level", [one.level for one in whole], frame_only=len({k[0] for k in kinds}) == 1),
            Field(
                "coefficient",
                "Coefficient",
                [one.coefficient for one in whole],
                frame_only=len({k[1] for k in kinds}) == 1,
            ),
            Field("estimate", "Estimate", [one.estimate for one in whole], "estimate"),
            *low_high,
            Field("n", "n", [one.n for one in whole], "count"),
            Field("without_outliers", "Without outliers", [one.estimate for one in without], "estimate"),
            Field("outliers", "Outliers", [len(one.left_out) for one in without], "count"),
        ),
        title=f"Correlations of metrics with humans{title}",
        head=() if method is None else (f"Interval: {INTERVALS[method]}",),
        notes=(*notes, *_undefined(cases, whole)),
    ).first(how=".correlations().to_frame()")


def _undefined(cases: Sequence[tuple[StudyPart, str, Level, Coefficient]], results: Sequence[Correlation]) -> list[str]:
    gone = [f"{case[1]}, {case[0].name}" for case, one in zip(cases, results, strict=True) if np.isnan(one.estimate)]
    why = "one side is constant, or fewer than two systems have both scores"
    return [f"undefined for {named(gone)}: {why}"] if gone else []
