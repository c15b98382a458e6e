"""Does one metric agree with humans better than another? Permutation, bootstrap and Williams' tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..arguments import Count, Jobs, Rng, checked
from ..classical.sign_rules import Alternative
from ..core.columns import FloatArray
from ..errors import JudgmentError, OptionError
from ..resampling import Resampler, p_value
from ..table import Field, Record, Table, counted
from .correlate import Level, correlation_of, score_matrices
from .interval import bootstrap_task, entries
from .kernels import NAMES, Coefficient
from .resampled import Resampled, permuted_differences
from .williams import williams_of

TestMethod = Literal["perm-systems", "perm-inputs", "perm-both", "boot", "williams"]

SWAPPED: dict[str, Resampled] = {"perm-systems": "systems", "perm-inputs": "inputs", "perm-both": "both"}
SAYS = {
    "perm-systems": "Permutation test, scores of the metrics swapped by system",
    "perm-inputs": "Permutation test, scores of the metrics swapped by input",
    "perm-both": "Permutation test, scores of the metrics swapped by cell",
    "boot": "Bootstrap test, systems and inputs drawn with replacement",
    "williams": "Williams' test of dependent correlations",
}
SIGNS = {"two-sided": "≠", "greater": ">", "less": "<"}


@dataclass(frozen=True, repr=False, eq=False)
class MetricComparison(Record):
    """A test whether two metrics correlate with humans equally well.

    Attributes
    ----------
    estimate_x, estimate_y : float
        Correlations r(metric, human) and r(other, human).
    statistic : float
        Their difference, or Williams' t.
    df : float
        Degrees of freedom of Williams' t; NaN for the others.
    p_value : float
        NaN where the test is undefined; a note says why.
    level, coefficient, method, alternative : str
    replicates : ndarray, shape (B,)
        The differences in the resamples; empty for Williams' test.
    notes : tuple of str
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

    @property
    def difference(self) -> float:
        """r(metric, human) − r(other, human)."""
        return self.estimate_x - self.estimate_y

    def table(self) -> Table:
        """Return a table of one row."""
        return Table(
            (
                Field("estimate_x", "r(metric, human)", [self.estimate_x], "estimate"),
                Field("estimate_y", "r(other, human)", [self.estimate_y], "estimate"),
                Field("difference", "Difference", [self.difference], "estimate"),
                Field("statistic", "Statistic", [self.statistic], "statistic"),
                Field("df", "Df", [self.df], "count"),
                Field("p_value", "p", [self.p_value], "p_value"),
            ),
            title=f"Comparison of two metrics: {NAMES[self.coefficient]}, {self.level} level",
            head=(f"{SAYS[self.method]}", f"Alternative: r(metric, human) {SIGNS[self.alternative]} r(other, human)"),
            notes=self.notes,
        )


@checked
def compare(
    metric: npt.ArrayLike,
    other: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    method: TestMethod = "perm-both",
    alternative: Alternative = "two-sided",
    n: Count = 1000,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> MetricComparison:
    """Return a test whether two metrics correlate equally well with human scores.

    Parameters
    ----------
    metric, other, human : array_like or DataFrame, shape (N, M)
        Scores of N systems on M inputs by two metrics and by humans; NaN where a score is missing.
    level : {"system", "input", "global"}
    coefficient : {"pearson", "spearman", "kendall"}
    method : {"perm-both", "perm-systems", "perm-inputs", "boot", "williams"}
        Scores swapped between the metrics in single cells, for whole systems or for whole inputs; systems and inputs
        drawn with replacement; Williams' test (system level).
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: `metric` correlates better than `other`.
    n : int
        Number of resamples.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    MetricComparison

    Raises
    ------
    JudgmentError
        For scores that are infinite, no numbers, or of shapes that do not belong together.
    OptionError
        For options that are none of what they may be, and Williams' test at another level.

    Notes
    -----
    Permutation: both metrics are standardized by the mean and the standard deviation of all their cells, then swapped
    by coin tosses; with δ = r(metric, human) − r(other, human) and δ* after swapping, p = (1 + #{δ* ≥ δ}) / (n + 1), of
    |δ| two-sided,
    so that it is never 0. Bootstrap: p = (1 + #{δ* ≤ 0}) / (n + 1), two-sided twice the smaller one-sided p. A
    resample without a correlation counts as evidence against a difference. A cell that one of the metrics lacks is left
    out of both.

    Permutation by cell (``"perm-both"``, ``"perm-inputs"`` likewise) tests that the scores which the two metrics give
    these very systems and inputs are exchangeable. Metrics that are equally good over all systems, but each kind to
    other systems, are not: for a claim about further systems ask for ``"perm-systems"``, ``"boot"`` or ``"williams"``.

    Williams' test takes the correlations with their signs: a metric where less is better has to be turned round. Its
    t has N − 3 degrees of freedom and holds for Pearson's r of normal system scores.

    References
    ----------
    Deutsch, D., Dror, R. & Roth, D. (2021). A statistical analysis of summarization evaluation metrics using resampling
    methods. Transactions of the ACL 9, 1132-1146. Williams, E. J. (1959). The comparison of regression variables.
    Journal of the Royal Statistical Society B 21(2), 396-399. Phipson, B. & Smyth, G. K. (2010). Permutation p-values
    should never be zero. Statistical Applications in Genetics and Molecular Biology 9(1).

    Examples
    --------
    >>> import llbt
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 50))
    >>> good, poor = human + rng.normal(size=(12, 50)), rng.normal(size=(12, 50))
    >>> found = llbt.metrics.compare(good, poor, human, alternative="greater", n=999, rng=1)
    >>> found.p_value
    0.001
    """
    check_test(level, method)
    draw = Resampler.of("metrics.compare", rng, n_jobs, progress)
    metrics, z = score_matrices((metric, other), human, level)
    check_same_inputs(metrics[0], z)
    x, y, notes = _paired(metrics[0], metrics[1])
    check_constant({"metric": x, "other": y})
    return run_test(x, y, z, level, coefficient, method, alternative, n, draw, notes)


def run_test(
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    method: TestMethod,
    alternative: Alternative,
    n: int,
    draw: Resampler,
    notes: tuple[str, ...] = (),
) -> MetricComparison:
    """Return the test of checked matrices that lack the same cells."""
    of_x, of_y = (correlation_of(side, z, level, coefficient) for side in (x, y))
    delta, df, replicates = of_x.estimate - of_y.estimate, math.nan, np.empty(0)
    said = list(dict.fromkeys((*notes, *of_x.notes, *of_y.notes)))
    statistic = delta
    if method == "williams":
        statistic, df, p, reason = williams_of(x, y, of_x, of_y, coefficient, alternative)
        said += [reason] if reason else []
    else:
        task = _task(x, y, z, level, coefficient, method)
        replicates = np.concatenate(draw.blocks(task, n, 4 * entries(x, level) + 2 * x.size))
        p = difference_p(replicates, delta, method, alternative)
        said += _said(replicates)
    settings = (level, coefficient, method, alternative)
    return MetricComparison(of_x.estimate, of_y.estimate, statistic, df, p, *settings, replicates, tuple(said))


def difference_p(replicates: FloatArray, delta: float, method: TestMethod, alternative: Alternative) -> float:
    """Return the p-value of a difference from differences in resamples; NaN where the difference is."""
    if math.isnan(delta):
        return math.nan
    if alternative == "less":
        replicates, delta = -replicates, -delta
    if method == "boot":
        below, above = p_value(-replicates, 0.0), p_value(replicates, 0.0)
        return min(1.0, 2 * min(below, above)) if alternative == "two-sided" else below
    return p_value(np.abs(replicates), abs(delta)) if alternative == "two-sided" else p_value(replicates, delta)


def check_test(level: Level, method: TestMethod) -> None:
    """Raise for a test that does not go with a level."""
    if method == "williams" and level != "system":
        raise OptionError(
            f"method='williams' with level={level!r}; Williams' test takes one pair of scores per system",
            "Pass level='system', or method='perm-both'.",
        )


def check_same_inputs(x: FloatArray, z: FloatArray) -> None:
    """Raise where metrics and humans have other numbers of inputs: resamples pair them."""
    if x.shape != z.shape:
        raise JudgmentError(
            f"metric has shape {x.shape}, human {z.shape}",
            "Give humans' scores for these inputs, or mean scores, one per system, for all.",
            expected="the same systems (rows) and inputs (columns)",
        )


def check_constant(metrics: dict[str, FloatArray]) -> None:
    """Raise for a metric without two different scores: it cannot be standardized."""
    for name, x in metrics.items():
        if len(np.unique(x[~np.isnan(x)])) < 2:
            raise JudgmentError(f"all scores of {name} are equal or missing, so it has no correlation", "Leave it out.")


def standardized(x: FloatArray) -> FloatArray:
    """Return scores less the mean of all, over the standard deviation of all."""
    return np.asarray((x - np.nanmean(x)) / np.nanstd(x))


def shared_cells(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both matrices without the cells that one of them lacks."""
    missing = np.isnan(x) | np.isnan(y)
    return np.where(missing, np.nan, x), np.where(missing, np.nan, y)


def _paired(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    left = int((np.isnan(x) ^ np.isnan(y)).sum())
    notes = (f"{counted(left, 'cell')} left out: one of the metrics has no score there",) if left else ()
    return *shared_cells(x, y), notes


def _task(
    x: FloatArray, y: FloatArray, z: FloatArray, level: Level, coefficient: Coefficient, method: TestMethod
) -> partial[FloatArray]:
    if method == "boot":
        return partial(_boot_differences, x, y, z, level, coefficient)
    return partial(permuted_differences, standardized(x), standardized(y), z, level, coefficient, SWAPPED[method])


def _boot_differences(
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    of_x, of_y = bootstrap_task((x, y), z, level, coefficient, "boot-both", True, size, rng)
    return np.asarray(of_x - of_y)


def _said(replicates: FloatArray) -> list[str]:
    undefined = int(np.isnan(replicates).sum())
    notes = [counted(len(replicates), "resample")]
    if undefined:
        notes.append(
            f"{counted(undefined, 'resample')} without a correlation: counted as evidence against a difference"
        )
    return notes
