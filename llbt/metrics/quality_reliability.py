"""Whether metrics agree with humans less on the best systems, at equal human difference."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import optimize
from scipy.sparse import csr_array

from ..base.budgets import refuse_large
from ..base.notes import Qualifying
from ..base.table import Field, Record, Table, counted, format_number, format_p, interval_fields
from ..core.columns import FloatArray, IntArray
from ..errors import JudgmentError, listed
from .agreement_regression import AgreementRegression, Mask, logistic_regression
from .correlate import system_means
from .kernels import comparable, rounding
from .metric_scores import MetricScores
from .system_scores import all_pairs

PairClusters = Literal["system", "task"]

_MANY = 10  # tasks from which errors are clustered by task: `tests/metrics/test_quality_reliability.py`
_RELIABLE = 0.9  # share of variance of human scores below which their errors are named
_RANK = 1e-9  # of the largest singular value
_WIDE = 10.0  # odds ratios: an interval that goes beyond both this and its inverse tells nothing
_SLOPES = ("|human difference|", "mean quality")


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs of systems of one task, scored by several metrics; R rows, without pairs of equal human scores.

    Attributes
    ----------
    task, metric : ndarray of int, shape (R,)
        Indices into the names of tasks and metrics.
    i, j : ndarray of int, shape (R,)
        Systems; each system of each task has its own number.
    difference, quality : ndarray, shape (R,)
        `difference` is |human difference| minus its mean in the task; `quality` is the mean human score of both systems
        minus the mean of the task's systems. Both are in standard deviations of the human scores of the task's systems.
    agree : ndarray of bool, shape (R,)
    """

    task: IntArray
    metric: IntArray
    i: IntArray
    j: IntArray
    difference: FloatArray
    quality: FloatArray
    agree: Mask

    def rows(self, some: Mask) -> ScoredPairs:
        """Return the chosen rows."""
        return ScoredPairs(*(value[some] for value in vars(self).values()))


@dataclass(frozen=True, repr=False, eq=False)
class QualityReliability(Record):
    """The agreement of metrics with humans on pairs of systems, by the quality of the pair.

    Made by ``Study.reliability_by_quality``.

    Attributes
    ----------
    tasks, metrics : tuple of label
    systems : tuple of label
        The label of each system of each task, in the numbering of `scored`.
    scored : ScoredPairs
        The pairs of the regression.
    regression : AgreementRegression
    cluster : {"system", "task"}
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "Study.reliability_by_quality(…)"

    tasks: tuple[Hashable, ...]
    metrics: tuple[str, ...]
    systems: tuple[Hashable, ...]
    scored: ScoredPairs
    regression: AgreementRegression
    cluster: PairClusters
    confidence: float
    notes: tuple[str, ...]

    @property
    def params(self) -> FloatArray:
        """The log-odds of agreement, shape (K + 2,).

        First the log-odds of each metric at the average human difference and average quality; then their change per
        standard deviation of human difference, and per standard deviation of quality.
        """
        return self.regression.params

    @property
    def cov(self) -> FloatArray:
        """The covariance of `params` by clusters, shape (K + 2, K + 2)."""
        return self.regression.cov

    @property
    def answer(self) -> str:
        """The answer in one sentence."""
        numbers = self._numbers(np.eye(len(self.params))[-1:])[0]
        ratio, low, high = np.exp(numbers[[0, 2, 3]])
        if np.isnan(numbers[4]) or (low < 1 / _WIDE and high > _WIDE):
            return "The pairs are too few to tell whether agreement changes with quality at equal human difference."
        interval_text = (
            f"odds × {format_number(ratio, 3)} per SD of quality "
            f"({100 * self.confidence:.4g} % {format_number(low, 3)} to {format_number(high, 3)}, "
            f"p {_equals(numbers[4])})"
        )
        if low <= 1 <= high:
            return f"At equal human difference, no change of agreement with quality was shown: {interval_text}."
        return (
            f"At equal human difference, agreement {'falls' if ratio < 1 else 'rises'} with quality: {interval_text}."
        )

    def table(self) -> Table:
        """Return term, estimate (log-odds), std_error, conf_low, conf_high, p_value, agree (share) and n (pairs).

        The two slopes come first, then the metrics, at the average human difference and average quality.
        """
        size = len(self.metrics)
        numbers = self._numbers(np.roll(np.eye(size + 2), 2, axis=0))
        n = np.bincount(self.scored.metric, minlength=size)
        agree = np.bincount(self.scored.metric, self.scored.agree, size) / np.maximum(n, 1)
        none = np.full(2, np.nan)
        return Table(
            (
                Field("term", "", [*_SLOPES, *self.metrics]),
                Field("estimate", "Log-odds", numbers[:, 0], "estimate"),
                Field("std_error", "Std. Error", numbers[:, 1], "estimate"),
                *interval_fields(numbers[:, 2], numbers[:, 3], self.confidence),
                Field("p_value", "p", np.append(numbers[:2, 4], np.full(size, np.nan)), "p_value"),
                Field("agree", "Agree", np.append(none, agree), "percent"),
                Field("n", "Pairs", [len(self.scored.agree)] * 2 + n.tolist(), "count"),
            ),
            title="Agreement of metrics with humans on pairs of systems, by quality",
            head=(self.answer,),
            notes=self.notes,
        )

    def by_metric(self) -> Table:
        """Return the slope of quality of each metric, from its own pairs alone.

        Returns
        -------
        Table
            metric, estimate (log-odds per standard deviation of quality), std_error, conf_low, conf_high, p_value and
            n (pairs). NaN where the pairs of a metric do not determine it.
        """
        regressions = [self._alone(k) for k in range(len(self.metrics))]
        numbers = np.array([one for one, _ in regressions])
        return Table(
            (
                Field("metric", "Metric", self.metrics),
                Field("estimate", "Log-odds", numbers[:, 0], "estimate"),
                Field("std_error", "Std. Error", numbers[:, 1], "estimate"),
                *interval_fields(numbers[:, 2], numbers[:, 3], self.confidence),
                Field("p_value", "p", numbers[:, 4], "p_value"),
                Field("n", "Pairs", np.bincount(self.scored.metric, minlength=len(regressions)), "count"),
            ),
            title="Change of agreement with quality at equal human difference, metric by metric",
            notes=(*self.notes, *_undefined(self.metrics, [why for _, why in regressions])),
        )

    def pairs(self) -> Table:
        """Return task, metric, object_i, object_j, difference, quality and agree, one row per pair and metric."""
        s = self.scored
        return Table(
            (
                Field("task", "Task", [self.tasks[k] for k in s.task], frame_only=len(self.tasks) < 2),
                Field("metric", "Metric", [self.metrics[k] for k in s.metric]),
                Field("object_i", "object_i", [self.systems[k] for k in s.i]),
                Field("object_j", "object_j", [self.systems[k] for k in s.j]),
                Field("difference", "Difference", s.difference, "number"),
                Field("quality", "Quality", s.quality, "number"),
                Field("agree", "Agree", s.agree.astype(int), "count"),
            ),
            title="Pairs of systems",
            head=("Difference: |human difference| minus its mean in the task; quality: minus its mean; both in SD.",),
        ).first(how=".pairs().to_frame()")

    def _numbers(self, rows: FloatArray) -> FloatArray:
        return _inference(self.regression, rows, self.confidence)

    def _alone(self, k: int) -> tuple[FloatArray, str]:
        one = self.scored.rows(self.scored.metric == k)
        why = undetermined(one)
        if why:
            return np.full(5, np.nan), why
        regression = regression_of(one, self.cluster)
        return _inference(regression, np.eye(3)[-1:], self.confidence)[0], ""


def _equals(p: float) -> str:
    text = format_p(p)
    return text if text.startswith("<") else f"= {text}"


def _inference(regression: AgreementRegression, rows: FloatArray, confidence: float) -> FloatArray:
    """Return estimate, standard error, both ends of the interval and p of linear combinations (m, p), shape (m, 5)."""
    estimate, error = rows @ regression.params, regression.errors(rows)
    half = regression.critical(rows, confidence) * error
    p = regression.p_values(rows)
    return np.column_stack([estimate, np.where(np.isnan(p), np.nan, error), estimate - half, estimate + half, p])


def _undefined(metrics: Sequence[str], reasons: Sequence[str]) -> list[str]:
    return [f"undefined for {name!r}: {why}" for name, why in zip(metrics, reasons, strict=True) if why]


def quality_reliability(
    tasks: Mapping[Hashable, MetricScores], cluster: PairClusters | None, confidence: float, notes: Sequence[str]
) -> QualityReliability:
    """Return the regression of all metrics and tasks; by default many tasks are the clusters, otherwise systems are."""
    metrics = tuple(dict.fromkeys(name for one in tasks.values() for name in one.metrics))
    pairs = sum(len(one.metrics) * len(one.systems) * (len(one.systems) - 1) / 2 for one in tasks.values())
    refuse_large(
        f"the regression of {counted(pairs, 'pair')} on {counted(len(metrics), 'metric')}",
        4 * pairs * (len(metrics) + 2),
        "Read fewer metrics: read_study(…, metrics=[…]).",
    )
    scored, systems, pair_notes = scored_pairs(tasks, metrics)
    by: PairClusters = cluster or ("task" if len(tasks) >= _MANY else "system")
    if by == "task" and len(tasks) < 2:
        raise JudgmentError("cluster='task' with one task", "Pass cluster='system'.")
    scored, metrics, left = _decided_by_some(scored, metrics)
    why = undetermined(scored)
    if why:
        raise JudgmentError(why, expected="more pairs of systems, or more tasks")
    if all(one.human.shape[1] == 1 for one in tasks.values()):
        left = [
            *left,
            "Each system has one human score, so its error is unknown. That error alone can make agreement fall.",
        ]
    unit = "pairs of one system are dependent" if by == "system" else "pairs of one task are dependent"
    return QualityReliability(
        tuple(tasks),
        metrics,
        systems,
        scored,
        regression_of(scored, by),
        by,
        confidence,
        (
            *pair_notes,
            *left,
            f"Std. errors are clustered by {by} (CR3, t): {unit}.",
            "SD: standard deviation of the human scores of a task's systems.",
            "A pair agrees if the metric orders it as humans do; figures are at the average difference and quality.",
            *notes,
        ),
    )


def scored_pairs(
    tasks: Mapping[Hashable, MetricScores], metrics: Sequence[str]
) -> tuple[ScoredPairs, tuple[Hashable, ...], list[str]]:
    """Return the pairs of all tasks and metrics, the labels of the numbered systems, and notes."""
    made: list[tuple[npt.NDArray[np.generic], ...]] = []
    systems: list[Hashable] = []
    tied, equal, unsure = 0, 0, []
    for place, (task, scores) in enumerate(tasks.items()):
        human, tolerance = _means(scores.human)
        spread = float(np.std(human, ddof=1))
        i, j = all_pairs(len(human))
        apart = np.abs(human[i] - human[j])
        apart_enough = apart > tolerance
        tied += int((~apart_enough).sum())
        if not apart_enough.any():
            continue
        difference = (apart - apart.mean()) / spread
        quality = ((human[i] + human[j]) / 2 - human.mean()) / spread
        unsure += _doubtful(task, scores.human, spread)
        for name, values in zip(scores.metrics, scores.values, strict=True):
            x, near = _means(values)
            ahead = x[i] - x[j]
            there = apart_enough & ~np.isnan(ahead)
            equal += int((np.abs(ahead[there]) <= near).sum())
            agree = (np.sign(ahead) == np.sign(human[i] - human[j])) & (np.abs(ahead) > near)
            index = np.full(len(i), place), np.full(len(i), metrics.index(name))
            columns = (*index, i + len(systems), j + len(systems), difference, quality, agree)
            made.append(tuple(column[there] for column in columns))
        systems += scores.systems
    if not made:
        raise JudgmentError("humans score all systems alike", expected="systems with different human scores")
    notes = [f"left out: {counted(tied, 'pair')} with equal human scores"] if tied else []
    notes += [f"{counted(equal, 'pair')} tied by a metric: not ordered as humans order them"] if equal else []
    return ScoredPairs(*map(np.concatenate, zip(*made, strict=True))), tuple(systems), [*unsure, *notes]


def _means(x: FloatArray) -> tuple[FloatArray, float]:
    """Return the mean score of each system, (N,), or NaN, and the distance within which two means are equal."""
    scores = comparable(x)
    means, there = system_means(scores, np.ones((1, x.shape[1])))
    return np.where(there[0], means[0], np.nan), rounding(scores)


def _doubtful(task: Hashable, human: FloatArray, spread: float) -> list[str]:
    """Return a note if the human scores of systems have errors that matter, estimated from the scores of inputs."""
    reliability = human_reliability(human, spread)
    if not reliability < _RELIABLE:
        return []
    where = f" of {task}" if task != "" else ""
    return [
        Qualifying(
            f"Human scores{where} have a reliability of {reliability:.2f}. Errors of human scores alone make agreement "
            "fall where systems are close to each other."
        )
    ]


def human_reliability(human: FloatArray, spread: float) -> float:
    """Return the reliability of mean human scores: 1 − (error variance of the mean)/(variance); NaN if unknown.

    Residuals of systems and inputs estimate the error, as in an analysis of variance without replications.
    """
    there = ~np.isnan(human)
    several = there.sum(axis=0) > 1
    x, there = human[:, several], there[:, several]
    if x.shape[1] < 2 or not there.any(axis=1).all():
        return float("nan")
    left = x - np.nanmean(x, axis=0)
    left = left - np.nanmean(left, axis=1, keepdims=True)
    free = there.sum() - x.shape[0] - x.shape[1] + 1
    error = np.nansum(left**2) / max(1, free) * np.mean(1 / (~np.isnan(human)).sum(axis=1))
    return float(max(0.0, 1 - error / spread**2))


def _decided_by_some(scored: ScoredPairs, metrics: tuple[str, ...]) -> tuple[ScoredPairs, tuple[str, ...], list[str]]:
    """Return the pairs of the metrics that agree with humans on some pairs but not all; these metrics; a note."""
    n = np.bincount(scored.metric, minlength=len(metrics))
    agree = np.bincount(scored.metric, scored.agree, len(metrics))
    mixed = (agree > 0) & (agree < n)
    if not mixed.any():
        reason = "every metric orders all pairs as humans do" if agree.any() else "no metric orders a pair as humans do"
        if agree.any() and (agree < n).any():
            reason = "each metric orders all pairs as humans do, or none"
        raise JudgmentError(reason, expected="a metric that agrees with humans on some pairs only")
    gone = [name for name, held in zip(metrics, mixed, strict=True) if not held]
    note = [f"left out, as they order all pairs (or none) as humans do: {listed(gone, 3)}"] if gone else []
    some = scored.rows(mixed[scored.metric])
    place = np.cumsum(mixed) - 1
    left = ScoredPairs(**{**vars(some), "metric": place[some.metric]})
    return left, tuple(name for name, held in zip(metrics, mixed, strict=True) if held), note


def design_of(scored: ScoredPairs) -> FloatArray:
    """Return the columns of the regression, (R, K + 2): a 1 for each metric, difference, quality."""
    _, metric = np.unique(scored.metric, return_inverse=True)
    return np.column_stack([np.eye(metric.max() + 1)[metric], scored.difference, scored.quality])


def undetermined(scored: ScoredPairs) -> str:
    """Return why the regression has no finite estimate, or an empty text."""
    if not len(scored.agree):
        return "there is no pair of systems"
    rows = design_of(scored)
    if scored.agree.all() or not scored.agree.any():
        return f"{'all' if scored.agree.all() else 'no'} pairs are ordered as humans order them"
    values = np.linalg.svd(rows, compute_uv=False)
    if values[-1] <= _RANK * values[0]:
        return "human differences and quality do not vary enough between the pairs"
    separated = "difference and quality predict without error whether a pair agrees (separation)"
    return separated if _separated(rows, scored.agree) else ""


def _separated(rows: FloatArray, agree: Mask) -> bool:
    """Return whether some b separates agreement: xᵀb ≥ 0 for rows that agree, ≤ 0 for the others, not 0 for all.

    The linear program maximizes Σ ±xᵀb over these b in a box (Albert & Anderson 1984, Biometrika 71(1)).
    """
    signed = np.where(agree, 1.0, -1.0)[:, None] * rows / np.abs(rows).max(axis=0)
    signed = np.unique(signed, axis=0)
    program = optimize.linprog(
        -signed.mean(axis=0), A_ub=csr_array(-signed), b_ub=np.zeros(len(signed)), bounds=(-1, 1), method="highs"
    )
    return bool(-program.fun > _RANK)


def regression_of(scored: ScoredPairs, cluster: PairClusters) -> AgreementRegression:
    """Return the logistic regression; its standard errors leave out each task, or the pairs of each system, in turn."""
    if cluster == "task":
        groups = [scored.task == k for k in np.unique(scored.task)]
    else:
        groups = [(scored.i == k) | (scored.j == k) for k in np.unique(np.append(scored.i, scored.j))]
    return logistic_regression(design_of(scored), scored.agree, groups)
