"""Which of many metrics agree with humans better than which? Every pair tested, errors controlled."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..arguments import Count, Jobs, Rng, Share, checked
from ..classical.pair_tables import Adjust, adjusted_p
from ..classical.sign_rules import Alternative
from ..core.columns import FloatArray
from ..errors import OptionError
from ..resampling import Resampler
from ..table import Field, Record, Table, counted, p_fields
from .compare import (
    SAYS,
    MetricComparison,
    TestMethod,
    check_constant,
    check_test,
    difference_p,
    run_test,
    shared_cells,
)
from .correlate import Level, correlation_of
from .kernels import NAMES, Coefficient, comparable
from .metric_scores import MetricScores
from .williams import williams_p

Family = Literal["row", "table"]


@dataclass(frozen=True, repr=False, eq=False)
class MetricComparisons(Record):
    """Tests of every ordered pair of K metrics whether that of the row correlates better than that of the column.

    Attributes
    ----------
    metrics : tuple of str, length K
    estimate : ndarray, shape (K,)
        Correlations with humans.
    difference : ndarray, shape (K, K)
        r(row, Z) − r(column, Z), over the cells that both have.
    p_value, p_adjusted : ndarray, shape (K, K)
        One-sided; NaN on the diagonal and where a test is undefined.
    level, coefficient, method, family : str
    adjust : str or None
        How `p_adjusted` are adjusted over each `family`; `adjusted` gives the same tests adjusted otherwise.
    notes : tuple of str
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

    @checked
    def better(self, alpha: Share = 0.05, *, adjusted: bool = True) -> npt.NDArray[np.bool_]:
        """Return whether the metric of the row is significantly better than that of the column, shape (K, K)."""
        return np.asarray((self.p_adjusted if adjusted else self.p_value) <= alpha)

    @checked
    def adjusted(self, adjust: Adjust, *, family: Family = "row") -> MetricComparisons:
        """Return the same tests with their p-values adjusted in another way; nothing is drawn again.

        Parameters
        ----------
        adjust : {"holm", "bonferroni", "fdr_bh"} or None
            Bonferroni's way is that of Deutsch et al. (2021).
        family : {"row", "table"}
            Over what: the K − 1 tests whether one metric beats the others, or all K(K − 1).
        """
        return replace(self, p_adjusted=_adjusted(self.p_value, adjust, family), adjust=adjust, family=family)

    def table(self) -> Table:
        """Return one row per ordered pair."""
        i, j = np.nonzero(~np.eye(len(self.metrics), dtype=np.bool_))
        family = "all pairs" if self.family == "table" else "the tests of a metric in object_i"
        rule = "p-values are not adjusted" if self.adjust is None else f"adjusted ({self.adjust}) over {family}"
        return Table(
            (
                Field("object_i", "Metric", [self.metrics[k] for k in i]),
                Field("object_j", "better than", [self.metrics[k] for k in j]),
                Field("estimate_i", "r", self.estimate[i], "estimate"),
                Field("estimate_j", "r", self.estimate[j], "estimate"),
                Field("difference", "Difference", self.difference[i, j], "estimate"),
                *p_fields(self.p_value[i, j], self.p_adjusted[i, j]),
            ),
            title=f"Comparison of metrics: {NAMES[self.coefficient]}, {self.level} level",
            head=(SAYS[self.method],),
            notes=(*self.notes, f"one-sided; {rule}"),
        ).first()


@checked
def compare_all(
    scores: MetricScores,
    *,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    method: TestMethod = "perm-both",
    n: Count = 1000,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> MetricComparisons:
    """Return one-sided tests of every ordered pair of metrics.

    Parameters
    ----------
    scores : MetricScores
        Of at least two metrics.
    level : {"system", "input", "global"}
    coefficient : {"pearson", "spearman", "kendall"}
    method : {"perm-both", "perm-systems", "perm-inputs", "boot", "williams"}
        As in `metrics.compare`.
    n : int
        Number of resamples of each pair. The smallest p-value is 1/(n + 1): adjusted for K − 1 tests it has to be a
        fraction of the level.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core.

    Returns
    -------
    MetricComparisons
        P-values are adjusted by Holm's way over the K − 1 tests whether one metric beats the others; ``adjusted(…)``
        adjusts them otherwise, or over all tests.

    Raises
    ------
    OptionError
        For fewer than two metrics, and options that do not go together.
    JudgmentError
        For a metric whose scores are all equal.

    Notes
    -----
    The two directions of a pair are read from the same resamples.

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
    >>> found = llbt.metrics.compare_all(llbt.metrics.MetricScores.from_matrices(metrics, human), n=500, rng=1)
    >>> found.better().sum(axis=1).tolist()
    [2, 1, 0]
    """
    check_test(level, method)
    if len(scores.metrics) < 2:
        raise OptionError(counted(len(scores.metrics), "metric"), expected="at least two to compare")
    draw = Resampler.of("metrics.compare_all", rng, n_jobs, progress)
    check_constant(dict(zip(scores.metrics, scores.values, strict=True)))
    values, human = [comparable(x) for x in scores.values], comparable(scores.human)
    size = len(scores.metrics)
    difference, found = np.full((2, size, size), math.nan)
    notes = list(scores.notes)
    pairs = list(itertools.combinations(range(size), 2))
    tests = [partial(_tested, values[i], values[j], human, level, coefficient, method, n) for i, j in pairs]
    for (i, j), (apart, p, reversed_p) in zip(pairs, draw.each(tests), strict=True):
        difference[i, j], difference[j, i] = apart, -apart
        found[i, j], found[j, i] = p, reversed_p
    undefined = int(np.isnan(found).sum()) - size
    if undefined:
        notes.append(f"{counted(undefined // 2, 'pair')} without a test: a correlation or Williams' t is undefined")
    if method != "williams":
        notes.append(f"{counted(n, 'resample')} of each pair")
    estimate = np.array([correlation_of(x, human, level, coefficient).estimate for x in values])
    holm = _adjusted(found, "holm", "row")
    options: tuple[Level, Coefficient, TestMethod, Adjust, Family] = (level, coefficient, method, "holm", "row")
    return MetricComparisons(scores.metrics, estimate, difference, found, holm, *options, tuple(notes))


def _tested(
    x: FloatArray,
    y: FloatArray,
    human: FloatArray,
    level: Level,
    coefficient: Coefficient,
    method: TestMethod,
    n: int,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """Return the difference of two metrics, and the p-values that the first and that the second is better."""
    alone = Resampler("", rng)
    test = run_test(*shared_cells(x, y), human, level, coefficient, method, "greater", n, alone)
    return test.difference, test.p_value, _reversed_p(test)


def _reversed_p(test: MetricComparison) -> float:
    """Return the p-value that the second metric is the better one, from the same resamples."""
    alternative: Alternative = "less"
    if test.method == "williams":
        return williams_p(test.statistic, test.df, alternative)
    return difference_p(test.replicates, test.difference, test.method, alternative)


def _adjusted(p_values: FloatArray, adjust: Adjust, family: Family) -> FloatArray:
    if family == "table":
        return adjusted_p(p_values.ravel(), adjust).reshape(p_values.shape)
    return np.stack([adjusted_p(row, adjust) for row in p_values])
