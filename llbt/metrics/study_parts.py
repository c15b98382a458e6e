"""The scores of one task of a study of metrics, with their correlations, tests and decisions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..classical.pair_tables import Adjust
from ..errors import JudgmentError, listed
from .compare_all import Family, MetricComparisons, compare_all
from .correlate import Correlation, Level, correlate
from .decision_records import DecisionTable
from .decisions import MetricTest, decisions
from .interval import IntervalMethod, interval
from .kernels import Coefficient
from .metric_scores import MetricScores, shapiro
from .metric_tests import Statistic, TestMethod
from .task_scores import within_task

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StudyPart:
    """The scores of metrics and of one kind of human scores on one task.

    Attributes
    ----------
    task : label
        ``""`` without tasks.
    human : str
        The name of the human scores.
    scores : MetricScores
    """

    task: Hashable
    human: str
    scores: MetricScores

    @property
    def name(self) -> str:
        """The task and the human scores, for a note."""
        return f"{self.task} ({self.human})" if self.task != "" else self.human


def taken(scores: MetricScores, systems: Mask, inputs: Mask) -> MetricScores:
    """Return the scores of chosen systems and inputs, without metrics that have no scores there."""
    if systems.sum() < 2:
        labels = [label for label, held in zip(scores.systems, systems, strict=True) if held]
        raise JudgmentError(
            f"{counted(len(labels), 'system')} with human scores: {listed(labels)}", expected="at least 2"
        )
    values = scores.values[:, systems][:, :, inputs]
    there = np.flatnonzero(~np.isnan(values).all(axis=(1, 2)))
    return replace(
        scores,
        systems=tuple(np.array(scores.systems, dtype=object)[systems]),
        inputs=tuple(np.array(scores.inputs, dtype=object)[inputs]),
        metrics=tuple(scores.metrics[k] for k in there),
        values=values[there],
        human=scores.human[systems][:, inputs],
    )


def judged(part: StudyPart) -> tuple[StudyPart, str]:
    """Return the scores of systems and inputs that have a human score, and a note on the others."""
    scores = part.scores
    held = ~np.isnan(scores.human)
    systems, inputs = np.asarray(held.any(axis=1)), np.asarray(held.any(axis=0))
    made = taken(scores, systems, inputs)
    if not made.metrics:
        raise JudgmentError("no metric has a score where humans have one", expected="scores of the same inputs")
    notes = []
    if not inputs.all():
        notes.append(f"{int(inputs.sum()):,} of {counted(len(inputs), 'input')} have human scores; others are left out")
    if not systems.all():
        gone = [label for label, there in zip(scores.systems, systems, strict=True) if not there]
        notes.append(f"left out: systems without human scores ({listed(gone, 3)})")
    return replace(part, scores=replace(made, notes=())), "; ".join(notes)


def correlated(
    part: StudyPart,
    metric: str,
    level: Level,
    coefficient: Coefficient,
    cutoff: float,
    method: IntervalMethod | None,
    confidence: float,
    n: int,
    rng: np.random.Generator,
) -> tuple[Correlation, Correlation, tuple[float, float]]:
    """Return the correlation of a metric, the one without outliers (at system level), and its interval."""
    x, z = part.scores.matrix(metric), part.scores.human_matrix()
    with within_task(part.task):
        whole = correlate(x, z, level=level, coefficient=coefficient)
        without = replace(whole, estimate=np.nan)
        if level == "system":
            without = correlate(x, z, coefficient=coefficient, outliers="drop", cutoff=cutoff)
        if method is None:
            return whole, without, (np.nan, np.nan)
        interval_found = interval(
            x, z, level=level, coefficient=coefficient, method=method, confidence=confidence, n=n, rng=rng
        )
    return whole, without, (interval_found.conf_low, interval_found.conf_high)


def normality_rows(part: StudyPart, alpha: float) -> list[tuple[str, float, float, int, float]]:
    """Return name, W, p, the number of inputs with a test and the share of rejections, for metrics and humans."""
    made = []
    for name, x in zip((*part.scores.metrics, part.human), (*part.scores.values, part.scores.human), strict=True):
        p = np.array([shapiro(column[:, None])[1] for column in x.T])
        held = ~np.isnan(p)
        made.append((name, *shapiro(x), int(held.sum()), float((p[held] <= alpha).mean()) if held.any() else np.nan))
    return made


def decided(
    metric: Mapping[Hashable, pd.DataFrame],
    human: Mapping[Hashable, pd.DataFrame],
    metric_test: MetricTest,
    alpha: float,
    n: int,
    rng: np.random.Generator,
) -> DecisionTable:
    """Return the decisions of one metric in all tasks."""
    return decisions(metric, human, metric_test=metric_test, alpha=alpha, n=n, rng=rng)


def compared(
    task: Hashable,
    scores: MetricScores,
    statistic: Statistic,
    level: Level,
    coefficient: Coefficient,
    method: TestMethod,
    adjust: Adjust,
    family: Family,
    n: int | None,
    draws: int,
    rng: np.random.Generator,
) -> MetricComparisons:
    """Return the tests of all pairs of metrics in one task."""
    with within_task(task):
        return compare_all(
            scores,
            statistic=statistic,
            level=level,
            coefficient=coefficient,
            method=method,
            adjust=adjust,
            family=family,
            n=n,
            draws=draws,
            rng=rng,
        )


def metrics_with_all_scores(tasks: Mapping[Hashable, MetricScores]) -> tuple[list[str], list[str]]:
    """Return the metrics that have all scores of all tasks, and the other metrics.

    Raises
    ------
    JudgmentError
        If no metric has all scores.
    """
    complete: list[str] = []
    gone: list[str] = []
    for metric in dict.fromkeys(name for one in tasks.values() for name in one.metrics):
        held = [metric in one.metrics and not one.matrix(metric).isna().any(axis=None) for one in tasks.values()]
        (complete if all(held) else gone).append(metric)
    if not complete:
        raise JudgmentError(
            f"no metric has all scores of all tasks: {listed(gone)}",
            expected="a metric without missing scores; inputs without human scores are left out already",
        )
    return complete, gone
