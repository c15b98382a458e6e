"""Tests whether one metric agrees with humans better than another: permutation, bootstrap, Williams."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arguments import Count, Jobs, Rng, checked
from ..base.table import Field, Record, Table, about, counted, format_estimates
from ..classical.sign_rules import Alternative
from ..core.columns import FloatArray
from ..resampling import Resampler, p_value
from .correlate import Level, correlation_of
from .kernels import Coefficient
from .metric_tests import (
    SYMBOLS,
    Measure,
    PairedScores,
    Statistic,
    TestMethod,
    check_constant,
    check_test,
    prepared_test,
    shared_cells,
)
from .null_hypotheses import floor_note, null_hypothesis, smallest_p
from .task_scores import Scores, TaskScores, compared_scores, within_task
from .williams import williams_of

SAYS = {
    "perm-systems": "Permutation test, scores of the metrics swapped by system",
    "perm-inputs": "Permutation test, scores of the metrics swapped by input",
    "perm-both": "Permutation test, scores of the metrics swapped by cell",
    "perm-pairs": "Permutation test, results of the metrics swapped by pair of systems",
    "boot": "Bootstrap test, systems and inputs drawn with replacement",
    "williams": "Williams' test of dependent correlations",
}
SIGNS = {"two-sided": "≠", "greater": ">", "less": "<"}
_MOST_DECIMALS = 4  # three digits of a standard error of 0.01, that of a correlation over 10,000 systems or inputs


def agreement_decimals(estimates: FloatArray) -> int:
    """Return the decimals of a column of correlations or accuracies: at most four, even if a value is near 0."""
    printed = format_estimates(estimates.ravel())
    return min(_MOST_DECIMALS, max((len(text.partition(".")[2]) for text in printed), default=0))


@dataclass(frozen=True, repr=False, eq=False)
class MetricComparison(Record):
    """A test of whether two metrics agree with humans equally well.

    Attributes
    ----------
    estimate_x, estimate_y : float
        The statistics of `metric` and of `other`: correlations or accuracies, averaged over tasks.
    statistic : float
        The difference of the two statistics, or Williams' t.
    df : float
        Degrees of freedom of Williams' t; NaN for the others.
    p_value : float
        NaN where the test is undefined; a note says why.
    level, coefficient, method, alternative : str
    replicates : ndarray, shape (B,)
        The differences in the resamples; empty for Williams' test.
    notes : tuple of str
    measure : str
        The compared statistic: the argument `statistic`.
    tasks : tuple of label, length T
        ``("",)`` without tasks.
    task_estimates : ndarray, shape (2, T)
        The statistics of `metric` and of `other` in each task.
    task_replicates : ndarray, shape (T, B)
        The differences in the resamples of each task; `replicates` holds their means over tasks.
    null : str
        The null hypothesis, and the systems to which it applies.
    floors : ndarray, shape (1 + T,)
        The smallest possible p-values: first of the test of means over tasks, then of the test in each task.
    """

    estimate_x: float
    estimate_y: float
    statistic: float
    df: float
    p_value: float
    level: Level
    coefficient: Coefficient
    method: TestMethod
    alternative: Alternative
    replicates: FloatArray
    notes: tuple[str, ...]
    measure: Statistic
    tasks: tuple[Hashable, ...]
    task_estimates: FloatArray
    task_replicates: FloatArray
    null: str
    floors: FloatArray

    @property
    def difference(self) -> float:
        """The statistic of `metric` minus the statistic of `other`."""
        return self.estimate_x - self.estimate_y

    def table(self) -> Table:
        """Return a table of one row."""
        first, second = self._headings()
        return Table(
            (
                Field("estimate_x", first, [self.estimate_x], "estimate"),
                Field("estimate_y", second, [self.estimate_y], "estimate"),
                Field("difference", "Difference", [self.difference], "estimate"),
                Field("statistic", "Statistic", [self.statistic], "statistic"),
                Field("df", "Df", [self.df], "count"),
                Field("p_value", "p", [self.p_value], "p_value"),
            ),
            title=f"Comparison of two metrics: {self._title()}",
            head=self._head(),
            notes=self.notes,
        )

    def by_task(self) -> Table:
        """Return task, estimate_x, estimate_y, difference, p_value; one row per task.

        Examples
        --------
        >>> import llbt
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> human = {task: rng.normal(size=(6, 20)) for task in ("en-de", "en-es")}
        >>> good = {task: z + rng.normal(size=z.shape) for task, z in human.items()}
        >>> poor = {task: z + 9 * rng.normal(size=z.shape) for task, z in human.items()}
        >>> changes = llbt.metrics.compare(good, poor, human, statistic="tie_calibrated_accuracy", n=99, rng=1)
        >>> changes.by_task().to_frame()["task"].tolist()
        ['en-de', 'en-es']
        """
        first, second = self._headings()
        x, y = self.task_estimates
        p = (
            [difference_p(*row, self.method, self.alternative) for row in zip(self.task_replicates, x - y, strict=True)]
            if len(self.replicates)
            else [self.p_value]
        )
        return Table(
            (
                Field("task", "Task", self.tasks),
                Field("estimate_x", first, x, "estimate"),
                Field("estimate_y", second, y, "estimate"),
                Field("difference", "Difference", x - y, "estimate"),
                Field("p_value", "p", p, "p_value"),
            ),
            title=f"Comparison of two metrics by task: {self._title()}",
            head=self._head(),
            notes=(*self.notes, *self._floor_by_task()),
        ).first(how=".by_task().to_frame()")

    def _head(self) -> tuple[str, ...]:
        first, second = self._headings()
        return SAYS[self.method], self.null, f"Alternative: {first} {SIGNS[self.alternative]} {second}"

    def _floor_by_task(self) -> tuple[str, ...]:
        largest = float(self.floors[1:].max())
        return (about("in a task", floor_note(largest, len(self.replicates))),) if largest > self.floors[0] else ()

    def _headings(self) -> tuple[str, str]:
        symbol = SYMBOLS[self.measure]
        return f"{symbol}(metric, human)", f"{symbol}(other, human)"

    def _title(self) -> str:
        return measured(self.measure, self.level, self.coefficient, self.tasks)


def measured(statistic: Statistic, level: Level, coefficient: Coefficient, tasks: Sequence[Hashable]) -> str:
    """Return the name of the statistic for titles, with the number of tasks that it is averaged over."""
    title = Measure(statistic, level, coefficient).title
    return title if len(tasks) < 2 else f"{title}, mean of {counted(len(tasks), 'task')}"


@checked
def compare(
    metric: Scores,
    other: Scores,
    human: Scores,
    *,
    statistic: Statistic = "correlation",
    tasks: Sequence[Hashable] | None = None,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    method: TestMethod = "perm-systems",
    alternative: Alternative = "two-sided",
    n: Count = 1000,
    draws: Count = 1000,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> MetricComparison:
    """Return a test of whether two metrics agree equally well with human scores.

    Parameters
    ----------
    metric, other, human : array_like or DataFrame, shape (N, M), or mapping of task to matrices
        Scores of N systems on M inputs by two metrics and by humans; NaN where a score is missing. Mappings have the
        same keys, such as language pairs; systems and inputs may differ from task to task.
    statistic : {"correlation", "pairwise_accuracy", "soft_pairwise_accuracy", "tie_calibrated_accuracy"}
        The measure of agreement: a correlation; the share of pairs of systems that the metric orders as humans do [2]_;
        soft pairwise accuracy (SPA), which compares the p-values of metric and humans [3]_; or acc_eq, the share of
        pairs of systems on the same input that the metric orders or ties as humans do [4]_.
    tasks : sequence of label, length M, optional
        The task of each input, in place of mappings. A system without scores in a task takes no part in it.
    level : {"system", "input", "global"}
        The level of a correlation.
    coefficient : {"pearson", "spearman", "kendall"}
    method : {"perm-systems", "perm-both", "perm-inputs", "perm-pairs", "boot", "williams"}
        ``"perm-…"`` swaps scores between the metrics: of whole systems, of single cells, or of whole inputs; for acc_eq
        ``"perm-pairs"`` swaps the results of single pairs. ``"boot"`` draws systems and inputs with replacement.
        ``"williams"`` is Williams' test (system level). The last two are for correlations only. ``"perm-systems"``,
        ``"boot"`` and ``"williams"`` draw conclusions about systems like these, the other methods about these systems
        alone.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: `metric` agrees better than `other`.
    n : int
        Number of resamples.
    draws : int
        Permutations for each p-value of two systems in soft pairwise accuracy.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    MetricComparison
        `by_task` has the tests of each task.

    Raises
    ------
    JudgmentError
        For scores that are infinite, not numbers, or of different shapes.
    OptionError
        For invalid options, and for combinations that do not exist, such as Williams' test at input level.
    DesignError
        For an accuracy with ties that has more pairs than fit into memory.

    Notes
    -----
    Permutation: both metrics are standardized by the mean and the standard deviation of all their cells, then swapped
    at random. Let δ be the difference of the two statistics, and δ* the difference after swapping: p = (1 + #{δ* ≥ δ})
    / (n + 1), which is never 0. Two-sided tests use |δ|. Bootstrap: p = (1 + #{δ* ≤ 0}) / (n + 1); two-sided tests
    double the smaller one-sided p. A resample without a correlation counts as evidence against a difference. If one
    metric lacks a cell, the cell is left out of both. With tasks, δ and δ* are means over tasks. Metrics are
    standardized and swapped within each task, and all tasks have equal weight, as in WMT24 [5]_.

    Permutation by system, the default, tests the hypothesis that the two scores of a system are exchangeable: over
    systems like these, both metrics are equally good, even if each favours some systems. The claim "this metric is
    better" needs this test. Permutation by cell (``"perm-both"``, and similarly ``"perm-inputs"``), as in [1]_ and
    WMT24 [5]_, tests the hypothesis that the scores of the two metrics are exchangeable for these particular systems
    and inputs. It detects smaller differences, but a bias for single systems also counts as a difference between
    metrics. The table shows the share of 400 simulated comparisons (8 systems on 40 inputs) with p ≤ .05. The metrics
    are equally good for these systems, or only for systems like these: then each metric favours systems by N(0, .4²),
    and the systems' differences are N(0, .3²).

    ========================  ============  ==================  ============  ==================
    swapped                   by system     by system           by cell       by cell
    equally good for          these         systems like these  these         systems like these
    ========================  ============  ==================  ============  ==================
    Pearson's r               .037          .068                .045          .552
    pairwise accuracy         .010          .018                .020          .297
    SPA                       .068          .052                .055          .487
    acc_eq                    .043          .040                .048          .050
    ========================  ============  ==================  ============  ==================

    With N systems, summed over tasks, there are 2ᴺ swaps by system. With five or fewer systems no two-sided p-value is
    below .05, and a note says so.

    Soft pairwise accuracy is computed again after every swap. The p-values of pairs of systems are computed as in
    `soft_pairwise_accuracy`, with one matrix of random signs for humans, both metrics and all swaps. After a swap, one
    product with this matrix gives the sums of signed scores of one metric. The sums of the other metric follow, because
    the sum of both does not change.

    For acc_eq each metric has its best tie threshold, which is searched again after every swap. WMT24 keeps the
    thresholds and swaps the results of single pairs (``"perm-pairs"``). This is fast, but pairs that share a score are
    not independent: for equally good metrics, tests at 5 % rejected in 13 % of 1,000 simulations with 8 systems, and in
    21 % with 14. Swapping scores rejected in 5 to 6 %; for soft pairwise accuracy in 5 to 7 %, and for pairwise
    accuracy in 5 %, or in 2 % with few systems.

    The code of WMT's shared tasks (mt-metrics-eval) swaps standardized scores of single cells for soft pairwise
    accuracy (``"perm-both"``). For pairwise accuracy it swaps standardized means of systems, which is
    ``"perm-systems"`` with one score per system.

    Williams' test takes the correlations with their signs, so negate a metric for which lower scores are better. Its
    t has N − 3 degrees of freedom and holds for Pearson's r of normal system scores.

    References
    ----------
    .. [1] Deutsch, D., Dror, R. & Roth, D. (2021). A statistical analysis of summarization evaluation metrics using
       resampling methods. Transactions of the ACL 9, 1132-1146. Williams, E. J. (1959). The comparison of regression
       variables. Journal of the Royal Statistical Society B 21(2), 396-399. Phipson, B. & Smyth, G. K. (2010).
       Permutation p-values should never be zero. Statistical Applications in Genetics and Molecular Biology 9(1).
    .. [2] Kocmi, T., Federmann, C., Grundkiewicz, R., Junczys-Dowmunt, M., Matsushita, H. & Menezes, A. (2021). To ship
       or not to ship: an extensive evaluation of automatic metrics for machine translation. WMT, 478-494.
    .. [3] Thompson, B., Mathur, N., Deutsch, D. & Khayrallah, H. (2024). Improving statistical significance in human
       evaluation of automatic metrics via soft pairwise accuracy. WMT, 1222-1234.
    .. [4] Deutsch, D., Foster, G. & Freitag, M. (2023). Ties matter: meta-evaluating modern metrics with pairwise
       accuracy and tie calibration. EMNLP, 12914-12929.
    .. [5] Freitag, M., Mathur, N., Deutsch, D., Lo, C., Avramidis, E., Rei, R., Thompson, B., Blain, F., Kocmi, T.,
       Wang, J., Adelani, D. I., Buchicchio, M., Zerva, C. & Lavie, A. (2024). Are LLMs breaking MT metrics? Results of
       the WMT24 metrics shared task. WMT, 47-81.

    Examples
    --------
    >>> import llbt
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 50))
    >>> good, poor = human + rng.normal(size=(12, 50)), rng.normal(size=(12, 50))
    >>> changes = llbt.metrics.compare(good, poor, human, alternative="greater", n=999, rng=1)
    >>> changes.p_value
    0.005
    >>> tasks = ["en-de"] * 25 + ["en-es"] * 25
    >>> llbt.metrics.compare(good, poor, human, statistic="soft_pairwise_accuracy", tasks=tasks, n=199, rng=1).p_value
    0.005
    """
    compared = compared_scores(metric, other, human, level, tasks)
    check_test(Measure(statistic, level, coefficient), method, len(compared))
    draw = Resampler.of("metrics.compare", rng, n_jobs, progress)
    measure = measure_of(statistic, level, coefficient, draws, draw)
    notes: list[str] = []
    pairs = []
    for task in compared:
        with within_task(task.name):
            scores, part_notes = _paired(task)
            check_constant({"metric": scores.x, "other": scores.y})
        pairs.append(scores)
        notes += [about(task.name, note) if task.name != "" else note for note in part_notes]
    return run_test(pairs, measure, method, alternative, n, draw, tuple(task.name for task in compared), tuple(notes))


def measure_of(statistic: Statistic, level: Level, coefficient: Coefficient, draws: int, draw: Resampler) -> Measure:
    """Return the measure of agreement. The exchanges in soft pairwise accuracy are drawn from one seed."""
    soft = statistic == "soft_pairwise_accuracy"
    return Measure(statistic, level, coefficient, draws, int(draw.rng.integers(2**63)) if soft else 0)


def run_test(
    scores: Sequence[PairedScores],
    measure: Measure,
    method: TestMethod,
    alternative: Alternative,
    n: int,
    draw: Resampler,
    tasks: tuple[Hashable, ...] = ("",),
    notes: tuple[str, ...] = (),
) -> MetricComparison:
    """Return the test of checked scores, one for each task."""
    if method == "williams":
        return _williams(scores[0], measure, alternative, tasks, notes)
    tests = []
    for k, (name, one) in enumerate(zip(tasks, scores, strict=True)):
        with within_task(name):
            tests.append(prepared_test(one, measure, method, k))
    estimates = np.array([test.estimates for test in tests]).T
    made = draw.several([(test.differences, test.entries) for test in tests], n)
    by_task = np.stack([np.concatenate(blocks) for blocks in made])
    of_x, of_y = estimates.mean(axis=1).tolist()
    replicates, delta = by_task.mean(axis=0), of_x - of_y
    p = difference_p(replicates, delta, method, alternative)
    notes_of_tasks = [
        about(name, note) if name != "" else note
        for name, test in zip(tasks, tests, strict=True)
        for note in test.notes
    ]
    shapes = [(one.x.shape[0], one.x.shape[1]) for one in scores]
    floors, null = smallest_p(method, shapes, n, alternative), null_hypothesis(method, [size for size, _ in shapes])
    notes_of_tasks = list(dict.fromkeys((*notes, *notes_of_tasks, *_floor_notes(replicates, floors[0]))))
    settings = (measure.level, measure.coefficient, method, alternative)
    whole = (measure.statistic, tasks, estimates, by_task)
    return MetricComparison(
        of_x, of_y, delta, math.nan, p, *settings, replicates, tuple(notes_of_tasks), *whole, null=null, floors=floors
    )


def _williams(
    scores: PairedScores,
    measure: Measure,
    alternative: Alternative,
    tasks: tuple[Hashable, ...],
    notes: tuple[str, ...],
) -> MetricComparison:
    x, y = scores.x, scores.y
    of_x, of_y = (correlation_of(side, scores.human, measure.level, measure.coefficient) for side in (x, y))
    t, df, p, reason = williams_of(x, y, of_x, of_y, measure.coefficient, alternative)
    all_notes = tuple(dict.fromkeys((*notes, *of_x.notes, *of_y.notes, *([reason] if reason else []))))
    estimates = np.array([[of_x.estimate], [of_y.estimate]])
    return MetricComparison(
        of_x.estimate,
        of_y.estimate,
        t,
        df,
        p,
        measure.level,
        measure.coefficient,
        "williams",
        alternative,
        np.empty(0),
        all_notes,
        measure.statistic,
        tasks,
        estimates,
        np.empty((1, 0)),
        null_hypothesis("williams", [len(x)]),
        smallest_p("williams", [(len(x), x.shape[1])], 0, alternative),
    )


def difference_p(replicates: FloatArray, delta: float, method: TestMethod, alternative: Alternative) -> float:
    """Return the p-value of a difference from differences in resamples; NaN if the difference is NaN."""
    if math.isnan(delta):
        return math.nan
    if alternative == "less":
        replicates, delta = -replicates, -delta
    if method == "boot":
        below, above = p_value(-replicates, 0.0), p_value(replicates, 0.0)
        return min(1.0, 2 * min(below, above)) if alternative == "two-sided" else below
    return p_value(np.abs(replicates), abs(delta)) if alternative == "two-sided" else p_value(replicates, delta)


def _paired(task: TaskScores) -> tuple[PairedScores, tuple[str, ...]]:
    """Return the scores of two metrics without the cells that one of them lacks, and a note with their number."""
    x, y = task.values
    left = int((np.isnan(x) ^ np.isnan(y)).sum())
    notes = (f"{counted(left, 'cell')} left out: one of the metrics has no score there",) if left else ()
    return PairedScores(*shared_cells(x, y), task.human), notes


def _floor_notes(replicates: FloatArray, smallest: float) -> list[str]:
    undefined = int(np.isnan(replicates).sum())
    notes = [about(counted(len(replicates), "resample"), floor_note(smallest, len(replicates)))]
    if undefined:
        notes.append(
            f"{counted(undefined, 'resample')} without a correlation: counted as evidence against a difference"
        )
    return notes
