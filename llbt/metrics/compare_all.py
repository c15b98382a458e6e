"""Tests of every pair of metrics: which agree with humans better than which others, with adjusted p-values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..base.arguments import JUDGED_INSIDE, Count, Jobs, Rng, Share, checked
from ..base.table import Field, Qualifying, Record, Table, about, counted, format_number, p_fields
from ..classical.pair_tables import Adjust, adjusted_p
from ..classical.sign_rules import Alternative
from ..core.columns import FloatArray, Label
from ..errors import OptionError, listed
from ..resampling import Resampler
from .compare import SAYS, MetricComparison, agreement_decimals, difference_p, measure_of, measured, run_test
from .correlate import Level
from .kernels import Coefficient
from .metric_scores import MetricScores
from .metric_tests import (
    OF_RESULTS,
    SYMBOLS,
    Measure,
    PairedScores,
    Statistic,
    TestMethod,
    check_constant,
    check_test,
    estimate_of,
    shared_cells,
)
from .null_hypotheses import floor_note, null_hypothesis, smallest_p
from .task_scores import TaskScores, metric_tasks, within_task
from .williams import williams_p

Family = Literal["row", "table"]
_USUAL, _EACH = 1000, 120  # resamples of a pair, and for each test of a family: adjusted p-values then reach 1/120
_LEVEL = 0.05  # that a note on the smallest adjusted p-value is about


@dataclass(frozen=True, repr=False, eq=False)
class MetricComparisons(Record):
    """Tests of every ordered pair of K metrics: whether the row's metric agrees better than the column's.

    Attributes
    ----------
    metrics : tuple of str, length K
    estimate : ndarray, shape (K,)
        Correlations with humans, or accuracies; means over tasks.
    difference : ndarray, shape (K, K)
        Statistic of the row minus statistic of the column, over the cells that both have.
    p_value, p_adjusted : ndarray, shape (K, K)
        One-sided; NaN on the diagonal and where a test is undefined.
    level, coefficient, method, family : str
    adjust : str or None
        How the p-values of each `family` are adjusted. The method `adjusted` adjusts the same tests in another way.
    notes : tuple of str
    measure : str
        The compared statistic: the argument `statistic`.
    tasks : tuple of label, length T
        ``("",)`` without tasks.
    task_estimate : ndarray, shape (T, K)
    task_p_value : ndarray, shape (T, K, K)
        `estimate` and `p_value` in each task.
    n : int
        Number of resamples of each pair.
    null : str
        The null hypothesis, and the systems to which it applies.
    floors : ndarray, shape (1 + T,)
        The smallest possible p-values: first of the test of means over tasks, then of the test in each task.
    """

    _made_by: ClassVar[str] = "llbt.metrics.compare_all(…)"

    metrics: tuple[str, ...]
    estimate: FloatArray
    difference: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    level: Level
    coefficient: Coefficient
    method: TestMethod
    adjust: Adjust
    family: Family
    notes: tuple[str, ...]
    measure: Statistic
    tasks: tuple[Hashable, ...]
    task_estimate: FloatArray
    task_p_value: FloatArray
    n: int
    null: str
    floors: FloatArray

    @checked
    def better(self, alpha: Share = 0.05, *, adjusted: bool = True) -> npt.NDArray[np.bool_]:
        """Return whether the metric of the row is significantly better than the metric of the column, shape (K, K)."""
        return np.asarray((self.p_adjusted if adjusted else self.p_value) <= alpha)

    @checked
    def adjusted(self, adjust: Adjust, *, family: Family = "row") -> MetricComparisons:
        """Return the same tests with p-values adjusted in another way, without new resamples.

        Parameters
        ----------
        adjust : {"holm", "bonferroni", "fdr_bh"} or None
            Deutsch et al. (2021) use Bonferroni's method.
        family : {"row", "table"}
            The tests that are adjusted together: the K − 1 tests of one metric against the others, or all K(K − 1)
            tests.
        """
        return replace(self, p_adjusted=_adjusted(self.p_value, adjust, family), adjust=adjust, family=family)

    @checked
    def clusters(self, alpha: Share = 0.05, *, task: Hashable | None = None, adjusted: bool = False) -> Table:
        """Return the metrics, the best first, in clusters, as in WMT24's tables [1]_.

        A metric begins a new cluster if a metric of the current cluster is significantly better. Within a cluster no
        metric is significantly better than a later one. Two metrics of different clusters need not differ
        significantly.

        Parameters
        ----------
        alpha : float
            Level of the tests.
        task : label, optional
            The task of the estimates and tests; by default means over all tasks.
        adjusted : bool
            Whether to use p-values adjusted by `adjust` over `family`. WMT24 uses unadjusted p-values.

        Returns
        -------
        Table
            metric, significance_cluster (1, 2, …; NaN for a metric without an estimate), estimate. With several tasks
            also estimate_1, estimate_2, …, one for each task.

        Raises
        ------
        OptionError
            For an unknown task, and a level that is not between 0 and 1.

        References
        ----------
        .. [1] Freitag, M. et al. (2024). Are LLMs breaking MT metrics? Results of the WMT24 metrics shared task. WMT,
           47-81.

        Examples
        --------
        >>> import llbt
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 50))
        >>> metrics = {f"noise {sd}": human + sd * rng.normal(size=(12, 50)) for sd in (8, 1, 1.5)}
        >>> scores = llbt.metrics.MetricScores.from_matrices(metrics, human)
        >>> comparison = llbt.metrics.compare_all(scores, statistic="soft_pairwise_accuracy", n=200, rng=1)
        >>> comparison.clusters().to_frame()[["metric", "significance_cluster"]].values.tolist()
        [['noise 1', 1.0], ['noise 1.5', 1.0], ['noise 8', 2.0]]
        """
        estimate, p, several = self.estimate, self.p_value, len(self.tasks) > 1
        if task is not None:
            if task not in self.tasks:
                raise OptionError(f"no task {task!r}", expected=f"one of {listed(self.tasks, 30)}")
            k = self.tasks.index(task)
            estimate, p, several = self.task_estimate[k], self.task_p_value[k], False
        rule = "p-values are not adjusted"
        if adjusted:
            p, rule = _adjusted(p, self.adjust, self.family), self._rule()
        order = np.argsort(-estimate, kind="stable")
        number = clustered(p <= alpha, order, estimate)
        symbol, whose = SYMBOLS[self.measure], "" if task is None else f", task {task!r}"
        decimals = agreement_decimals(np.vstack([estimate, self.task_estimate]) if several else estimate)
        columns = [
            Field(f"estimate_{k + 1}", str(name), row[order], "estimate", decimals=decimals)
            for k, (name, row) in enumerate(zip(self.tasks, self.task_estimate, strict=True))
        ]
        return Table(
            (
                Field("metric", "Metric", [self.metrics[k] for k in order]),
                Field("significance_cluster", "Cluster", number, "count"),
                Field("estimate", "Mean" if several else symbol, estimate[order], "estimate", decimals=decimals),
                *(columns if several else ()),
            ),
            title=f"Clusters of metrics: {self._title()}{whose}",
            head=(SAYS[self.method], self.null),
            notes=(
                *self.notes,
                "A metric significantly worse than one in the cluster above begins a new cluster "
                f"(one-sided p ≤ {alpha:g}).",
                rule,
            ),
        ).first(how=".clusters().to_frame()")

    def _title(self) -> str:
        return measured(self.measure, self.level, self.coefficient, self.tasks)

    def _adjusted_floor(self) -> tuple[str, ...]:
        """Return a note on the smallest possible adjusted p-value, for Holm's and Bonferroni's methods."""
        smallest, size = float(self.floors[0]), len(self.metrics)
        if self.adjust not in ("holm", "bonferroni") or not smallest:
            return ()
        tests = _tests(size, self.family)
        note = f"No adjusted p-value can be below {format_number(min(1.0, tests * smallest), 3)}"
        if tests * smallest < _LEVEL:
            return (f"{note}.",)
        enough = math.ceil(tests / _LEVEL)
        few = smallest > 1 / (self.n + 1)
        cure = "there are too few systems or inputs to swap" if few else f"n={enough} or more would be enough"
        return (Qualifying(f"{note}, so none can be significant at {_LEVEL:g}: {cure}."),)

    def _rule(self) -> str:
        family = "all pairs" if self.family == "table" else "the tests of one metric against the others"
        return "p-values are not adjusted" if self.adjust is None else f"adjusted ({self.adjust}) over {family}"

    def table(self) -> Table:
        """Return one row per ordered pair."""
        i, j = np.nonzero(~np.eye(len(self.metrics), dtype=np.bool_))
        symbol, difference = SYMBOLS[self.measure], self.difference[i, j]
        decimals = agreement_decimals(np.concatenate([self.estimate, difference]))
        return Table(
            (
                Field("object_i", "Metric", [self.metrics[k] for k in i]),
                Field("object_j", "better than", [self.metrics[k] for k in j]),
                Field("estimate_i", symbol, self.estimate[i], "estimate", decimals=decimals),
                Field("estimate_j", symbol, self.estimate[j], "estimate", decimals=decimals),
                Field("difference", "Difference", difference, "estimate", decimals=decimals),
                *p_fields(self.p_value[i, j], self.p_adjusted[i, j]),
            ),
            title=f"Comparison of metrics: {self._title()}",
            head=(SAYS[self.method], self.null),
            notes=(*self.notes, f"one-sided; {self._rule()}", *self._adjusted_floor()),
        ).first()


def clustered(better: npt.NDArray[np.bool_], order: npt.NDArray[np.intp], estimate: FloatArray) -> FloatArray:
    """Return the numbers 1, 2, … of the clusters of ordered metrics, shape (K,); NaN where there is no estimate.

    Parameters
    ----------
    better : ndarray of bool, shape (K, K)
        Whether the metric of the row is significantly better than the metric of the column.
    order : ndarray of int, shape (K,)
        The metrics, the best first.
    estimate : ndarray, shape (K,)
    """
    number, start = 1, 0
    clusters = np.full(len(order), math.nan)
    for place, k in enumerate(order):
        if math.isnan(estimate[k]):
            continue
        if better[order[start:place], k].any():
            number, start = number + 1, place
        clusters[place] = number
    return clusters


@checked
def compare_all(
    scores: Annotated[MetricScores | Mapping[Hashable, MetricScores], JUDGED_INSIDE],
    *,
    statistic: Statistic = "correlation",
    tasks: Sequence[Hashable] | Mapping[Label, Hashable] | None = None,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    method: TestMethod = "perm-systems",
    adjust: Adjust = "holm",
    family: Family = "row",
    n: Count | None = None,
    draws: Count = 1000,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> MetricComparisons:
    """Return one-sided tests of every ordered pair of metrics.

    Parameters
    ----------
    scores : MetricScores, or mapping of task to MetricScores
        Scores of at least two metrics, the same metrics in all tasks.
    statistic : {"correlation", "pairwise_accuracy", "soft_pairwise_accuracy", "tie_calibrated_accuracy"}
        The measure of agreement, as in `metrics.compare`.
    tasks : sequence of label, length M, or mapping of input to label, optional
        The task of each input, in place of a mapping of scores.
    level : {"system", "input", "global"}
    coefficient : {"pearson", "spearman", "kendall"}
    method : {"perm-systems", "perm-both", "perm-inputs", "perm-pairs", "boot", "williams"}
        As in `metrics.compare`.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the number of tests. Deutsch et al. (2021) use Bonferroni's method.
    family : {"row", "table"}
        The tests that are adjusted together: the K − 1 tests of one metric against the others, or all K(K − 1) tests.
    n : int, optional
        Number of resamples of each pair. The default is 1,000, or 120 times the number of tests of a family if this is
        more, so that the smallest adjusted p-value is below .01. A note states the smallest possible p-value.
    draws : int
        Permutations for each p-value of two systems in soft pairwise accuracy.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core.

    Returns
    -------
    MetricComparisons
        ``adjusted(…)`` adjusts the same p-values in another way. `clusters` ranks the metrics.

    Raises
    ------
    OptionError
        For fewer than two metrics, and options that do not go together.
    JudgmentError
        For a metric whose scores are all equal, and metrics that differ from task to task.

    Notes
    -----
    Both directions of a pair use the same resamples, and so do the tests in each task and the test of means over tasks.

    References
    ----------
    Deutsch, D., Dror, R. & Roth, D. (2021). A statistical analysis of summarization evaluation metrics using resampling
    methods. Transactions of the ACL 9, 1132-1146 (Figure 5).

    Examples
    --------
    >>> import llbt
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 50))
    >>> metrics = {f"noise {sd}": human + sd * rng.normal(size=(12, 50)) for sd in (0.5, 1, 8)}
    >>> comparison = llbt.metrics.compare_all(llbt.metrics.MetricScores.from_matrices(metrics, human), n=500, rng=1)
    >>> comparison.better().sum(axis=1).tolist()
    [2, 1, 0]
    """
    metrics, tasks_read, notes = metric_tasks(scores, tasks)
    check_test(Measure(statistic, level, coefficient), method, len(tasks_read))
    if len(metrics) < 2:
        raise OptionError(counted(len(metrics), "metric"), expected="at least two to compare")
    draw = Resampler.of("metrics.compare_all", rng, n_jobs, progress)
    measure = measure_of(statistic, level, coefficient, draws, draw)
    for task in tasks_read:
        with within_task(task.name):
            check_constant(dict(zip(metrics, task.values, strict=True)))
    size, names = len(metrics), tuple(task.name for task in tasks_read)
    n = _enough(size, adjust, family) if n is None else n
    difference = np.full((size, size), math.nan)
    p = np.full((1 + len(tasks_read), size, size), math.nan)
    pairs = list(itertools.combinations(range(size), 2))
    tests = [partial(_tested, tasks_read, i, j, measure, method, n) for i, j in pairs]
    for (i, j), (apart, forth, back) in zip(pairs, draw.each(tests), strict=True):
        difference[i, j], difference[j, i] = apart, -apart
        p[:, i, j], p[:, j, i] = forth, back
    floors = smallest_p(method, [(task.values.shape[1], task.values.shape[2]) for task in tasks_read], n, "greater")
    all_notes = [*notes, *_floor_notes(p[0], measure, method, n, floors[0])]
    by_task = np.array(
        [[estimate_of(x, task.human, measure, k) for x in task.values] for k, task in enumerate(tasks_read)]
    )
    options: tuple[Level, Coefficient, TestMethod, Adjust, Family] = (level, coefficient, method, adjust, family)
    estimates, adjusted = by_task.mean(axis=0), _adjusted(p[0], adjust, family)
    null = null_hypothesis(method, [len(task.human) for task in tasks_read])
    whole = (statistic, names, by_task, p[1:])
    return MetricComparisons(
        metrics,
        estimates,
        difference,
        p[0],
        adjusted,
        *options,
        tuple(all_notes),
        *whole,
        n=n,
        null=null,
        floors=floors,
    )


def _tests(size: int, family: Family) -> int:
    """Return how many tests of K metrics a family has."""
    return size - 1 if family == "row" else size * (size - 1)


def _enough(size: int, adjust: Adjust, family: Family) -> int:
    """Return the number of resamples with which a family of tests can be significant after adjustment."""
    return _USUAL if adjust is None else max(_USUAL, _EACH * _tests(size, family))


def _floor_notes(p: FloatArray, measure: Measure, method: TestMethod, n: int, smallest: float) -> list[str]:
    """Return notes on how pairs of metrics were tested, and on the number of pairs without a test."""
    notes = []
    undefined = int(np.isnan(p).sum()) - len(p)
    if undefined:
        why = "a correlation or Williams' t" if measure.statistic == "correlation" else SYMBOLS[measure.statistic]
        notes.append(f"{counted(undefined // 2, 'pair')} without a test: {why} is undefined")
    if method != "williams":
        notes.append(about(f"{counted(n, 'resample')} of each pair", floor_note(smallest, n)))
    if measure.statistic == "soft_pairwise_accuracy":
        notes.append(f"{counted(measure.draws, 'permutation')} for each p-value of two systems")
    if method == "perm-pairs":
        notes.append(OF_RESULTS)
    return notes


def _tested(
    tasks: Sequence[TaskScores],
    i: int,
    j: int,
    measure: Measure,
    method: TestMethod,
    n: int,
    rng: np.random.Generator,
) -> tuple[float, FloatArray, FloatArray]:
    """Return the difference of two metrics, and the p-values of the tests that the first or the second is better.

    Each array of p-values has shape (1 + T,): first for the means over tasks, then for each task.
    """
    scores = [PairedScores(*shared_cells(task.values[i], task.values[j]), task.human) for task in tasks]
    test = run_test(scores, measure, method, "greater", n, Resampler("", rng), tuple(task.name for task in tasks))
    forth, back = (_p_values(test, alternative) for alternative in ("greater", "less"))
    return test.difference, forth, back


def _p_values(test: MetricComparison, alternative: Alternative) -> FloatArray:
    """Return the p-values of one alternative, all from the same resamples."""
    if test.method == "williams":
        return np.full(2, williams_p(test.statistic, test.df, alternative))
    apart = np.array([test.difference, *(test.task_estimates[0] - test.task_estimates[1])])
    replicates = np.vstack([test.replicates, test.task_replicates])
    return np.array(
        [difference_p(row, d, test.method, alternative) for row, d in zip(replicates, apart.tolist(), strict=True)]
    )


def _adjusted(p_values: FloatArray, adjust: Adjust, family: Family) -> FloatArray:
    if family == "table":
        return adjusted_p(p_values.ravel(), adjust).reshape(p_values.shape)
    return np.stack([adjusted_p(row, adjust) for row in p_values])
