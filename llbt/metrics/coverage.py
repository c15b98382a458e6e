"""The coverage of intervals of correlations, by simulation on halves of the user's scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arguments import Confidence, Count, Jobs, Rng, checked
from ..base.table import Field, Record, Table, counted, interval_fields
from ..core.columns import FloatArray, IntArray
from ..errors import JudgmentError, OptionError
from ..resampling import Resampler, percentiles
from .correlate import Level, correlation_of, score_matrices
from .interval import IntervalMethod, bootstrap_task, entries, fisher_interval
from .kernels import NAMES, Coefficient
from .metric_tests import check_same_inputs

_FEWEST = 4  # systems and inputs that can be halved
TRIALS = 10  # in a block


@dataclass(frozen=True, repr=False, eq=False)
class IntervalCoverage(Record):
    """How often intervals from one half of systems and inputs contain the correlation in the other half.

    Attributes
    ----------
    methods : tuple of str, length K
    below, covered, above : ndarray of int, shape (K,)
        Trials in which the correlation of the other half is below, in and above the interval.
    undefined : ndarray of int, shape (K,)
        Trials without a correlation or an interval; all shares leave them out.
    level, coefficient : str
    confidence : float
    n, n_trials : int
    """

    methods: tuple[IntervalMethod, ...]
    below: IntArray
    covered: IntArray
    above: IntArray
    undefined: IntArray
    level: Level
    coefficient: Coefficient
    confidence: float
    n: int
    n_trials: int

    @property
    def estimate(self) -> FloatArray:
        """Coverage, shape (K,); NaN where no trial is defined."""
        total = self.below + self.covered + self.above
        return np.where(total > 0, self.covered / np.maximum(total, 1), np.nan)

    def table(self) -> Table:
        """Return one row per method."""
        total = self.below + self.covered + self.above
        low, high = wilson(self.covered, total)
        notes = ["95 % Wilson intervals of the simulation"]
        if self.undefined.any():
            notes.append(f"{counted(int(self.undefined.max()), 'trial')} without a correlation or an interval")
        return Table(
            (
                Field("method", "Method", list(self.methods)),
                Field("estimate", "Coverage", self.estimate, "estimate", 3),
                *interval_fields(low, high, digits=3),
                Field("below", "Below", self.below, "count"),
                Field("above", "Above", self.above, "count"),
            ),
            title=f"Coverage of {100 * self.confidence:.4g} % intervals: {NAMES[self.coefficient]}, {self.level} level",
            head=(f"{counted(self.n_trials, 'trial')}, {counted(self.n, 'resample')} each",),
            notes=tuple(notes),
        )


@checked
def coverage(
    metric: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    methods: IntervalMethod | Sequence[IntervalMethod] = ("fisher", "boot-systems", "boot-inputs", "boot-both"),
    confidence: Confidence = 0.95,
    n: Count = 1000,
    n_trials: Count = 1000,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> IntervalCoverage:
    """Return how often an interval from half of the systems and inputs contains the correlation of the other half.

    Parameters
    ----------
    metric, human : array_like or DataFrame, shape (N, M)
        Scores of N systems on M inputs by the metric and by humans; at least four of each.
    level : {"system", "input", "global"}
    coefficient : {"pearson", "spearman", "kendall"}
    methods : sequence of {"fisher", "boot-systems", "boot-inputs", "boot-both"}
        All methods use the same halves.
    confidence : float
    n : int
        Number of resamples of an interval.
    n_trials : int
        Number of random halves.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    IntervalCoverage

    Raises
    ------
    JudgmentError
        For scores that cannot be halved.
    OptionError
        For invalid options.

    Notes
    -----
    The halves share neither a system nor an input. The correlation of the other half is an estimate too: an interval
    that covers the truth in 95 % of the samples covers this estimate less often.

    References
    ----------
    Deutsch, D., Dror, R. & Roth, D. (2021). A statistical analysis of summarization evaluation metrics using resampling
    methods. Transactions of the ACL 9, 1132-1146 (Table 1).

    Examples
    --------
    >>> import llbt
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 40))
    >>> metric = human + rng.normal(size=(12, 40))
    >>> coverage = llbt.metrics.coverage(metric, human, methods=["boot-inputs", "boot-both"], n=200, n_trials=50, rng=1)
    >>> bool(coverage.estimate[0] < coverage.estimate[1])
    True
    """
    chosen = several(methods)
    draw = Resampler.of("metrics.coverage", rng, n_jobs, progress)
    (x,), z = score_matrices((metric,), human, level)
    check_same_inputs(x, z)
    if min(x.shape) < _FEWEST:
        raise JudgmentError(
            f"{x.shape[0]} systems and {x.shape[1]} inputs",
            expected=f"at least {_FEWEST} of each, to be halved",
        )
    task = partial(_coverage_trials, x, z, level, coefficient, chosen, confidence, n)
    trials = np.concatenate(draw.blocks(task, n_trials, 1, TRIALS), axis=1)
    below, covered, above = (np.sum(trials == side, axis=1) for side in (-1, 0, 1))
    sides = (below, covered, above, np.isnan(trials).sum(axis=1))
    return IntervalCoverage(chosen, *sides, level, coefficient, float(confidence), n, n_trials)


def several(methods: Sequence[Any]) -> tuple[Any, ...]:
    """Return methods as a tuple, even a single one; raise if there is none."""
    chosen = (methods,) if isinstance(methods, str) else tuple(methods) if isinstance(methods, Sequence) else ()
    if not chosen or len(set(chosen)) < len(chosen):
        raise OptionError(f"methods={methods!r}", expected="one or more distinct values")
    return chosen


def wilson(count: IntArray, total: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return 95 % intervals of shares of trials; NaN where there are none."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(count, np.maximum(total, 1), method="wilson")
    return np.where(total > 0, low, np.nan), np.where(total > 0, high, np.nan)


def _coverage_trials(
    x: FloatArray,
    z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    methods: tuple[IntervalMethod, ...],
    confidence: float,
    n: int,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return −1 below, 0 in, 1 above the interval, NaN without an interval; shape (K, trials)."""
    side = np.full((len(methods), size), np.nan)
    for trial in range(size):
        (a, of_a), (b, of_b) = _halves(x, z, rng)
        truth = correlation_of(b, of_b, level, coefficient).estimate
        for k, method in enumerate(methods):
            low, high = _bounds(a, of_a, level, coefficient, method, confidence, n, rng)
            if not any(map(math.isnan, (truth, low, high))):
                side[k, trial] = (truth > high) - (truth < low)
    return side


def _halves(
    x: FloatArray, z: FloatArray, rng: np.random.Generator
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return two parts of the scores that share neither a system nor an input."""
    rows, columns = (rng.permutation(size) for size in x.shape)
    half = len(rows) // 2, len(columns) // 2
    one, other = (
        np.ix_(rows[k * half[0] : (k + 1) * half[0]], columns[k * half[1] : (k + 1) * half[1]]) for k in (0, 1)
    )
    return (x[one], z[one]), (x[other], z[other])


def _bounds(
    x: FloatArray,
    z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    method: IntervalMethod,
    confidence: float,
    n: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    if method == "fisher":
        interval = fisher_interval(x, z, level, coefficient, confidence)
        return interval.conf_low, interval.conf_high
    task = partial(bootstrap_task, (x,), z, level, coefficient, method, True)
    (replicates,) = np.concatenate(Resampler("", rng).blocks(task, n, entries(x, level)), axis=1)
    low, high = percentiles(replicates, confidence)
    return float(low), float(high)
