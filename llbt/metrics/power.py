"""The power of tests of metrics, by simulation with degraded copies of the user's metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Count, Jobs, Rng, Share, checked
from ..base.table import Field, Record, Table, counted, interval_fields
from ..core.columns import FloatArray, IntArray
from ..errors import OptionError
from ..resampling import Resampler
from .compare import run_test
from .correlate import Level, score_matrices
from .coverage import TRIALS, several, wilson
from .kernels import NAMES, Coefficient
from .metric_tests import Measure, PairedScores, TestMethod, check_constant, check_same_inputs, check_test


@dataclass(frozen=True, repr=False, eq=False)
class MetricPower(Record):
    """How often tests find that a metric is better than a degraded copy of itself.

    Attributes
    ----------
    methods : tuple of str, length K
    degraded : ndarray, shape (D,)
        Share of the scores that were shuffled.
    rejections : ndarray of int, shape (K, D)
    loss : ndarray, shape (D,)
        Mean difference of the correlations of the metric and its copy.
    level, coefficient : str
    alpha : float
    n, n_trials : int
    """

    methods: tuple[TestMethod, ...]
    degraded: FloatArray
    rejections: IntArray
    loss: FloatArray
    level: Level
    coefficient: Coefficient
    alpha: float
    n: int
    n_trials: int

    @property
    def estimate(self) -> FloatArray:
        """Power, shape (K, D)."""
        return np.asarray(self.rejections / self.n_trials)

    def table(self) -> Table:
        """Return one row per method and share."""
        low, high = wilson(self.rejections.ravel(), np.full(self.rejections.size, self.n_trials))
        size = len(self.degraded)
        return Table(
            (
                Field("method", "Method", [method for method in self.methods for _ in range(size)]),
                Field("degraded", "Degraded", np.tile(self.degraded, len(self.methods)), "number"),
                Field("loss", "Loss", np.tile(self.loss, len(self.methods)), "number", 3),
                Field("estimate", "Power", self.estimate.ravel(), "estimate", 3),
                *interval_fields(low, high, digits=3),
            ),
            title=f"Power against degraded metrics: {NAMES[self.coefficient]}, {self.level} level",
            head=(f"One-sided tests at level {self.alpha:g}; {counted(self.n_trials, 'trial')} each",),
            notes=("95 % Wilson intervals of the simulation",),
        )


@checked
def power(
    metric: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    methods: TestMethod | Sequence[TestMethod] = ("perm-systems", "boot"),
    degraded: Sequence[float] = (0.05, 0.1, 0.2, 0.4, 0.8),
    alpha: Share = 0.05,
    n: Count = 1000,
    n_trials: Count = 200,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> MetricPower:
    """Return the power of tests that a metric is better than degraded copies of itself.

    Parameters
    ----------
    metric, human : array_like or DataFrame, shape (N, M)
        Scores of N systems on M inputs by the metric and by humans.
    level : {"system", "input", "global"}
    coefficient : {"pearson", "spearman", "kendall"}
    methods : sequence of {"perm-systems", "perm-both", "perm-inputs", "boot", "williams"}
        All methods test the same copies.
    degraded : sequence of float
        Shares of the scores that are shuffled in the copy, above 0 and up to 1. With 1 all scores are shuffled, so the
        copy agrees only by chance.
    alpha : float
        Level of the one-sided tests.
    n : int
        Number of resamples of a test.
    n_trials : int
        Number of copies at each share.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    MetricPower

    Raises
    ------
    JudgmentError
        For scores that are infinite or not numbers, and for shapes that do not match.
    OptionError
        For invalid options, and for shares that are not above 0 and at most 1.

    Notes
    -----
    The paper degrades ROUGE by leaving out a share of the words of a summary, which needs the texts. Shuffling needs
    only the scores, works for any metric, and keeps the distribution of the scores. A test that is undefined does not
    reject.

    References
    ----------
    Deutsch, D., Dror, R. & Roth, D. (2021). A statistical analysis of summarization evaluation metrics using resampling
    methods. Transactions of the ACL 9, 1132-1146 (Figure 3).

    Examples
    --------
    >>> import llbt
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 40))
    >>> metric = human + rng.normal(size=(12, 40))
    >>> power = llbt.metrics.power(metric, human, methods=["perm-both"], degraded=[0.1, 1], n=200, n_trials=20, rng=1)
    >>> bool(power.estimate[0, 0] < power.estimate[0, 1])
    True
    """
    chosen = several(methods)
    shares = np.atleast_1d(pd.to_numeric(np.atleast_1d(np.asarray(degraded)), errors="coerce")).astype(np.float64)
    for method in chosen:
        check_test(Measure("correlation", level, coefficient), method)
    draw = Resampler.of("metrics.power", rng, n_jobs, progress)
    if shares.size == 0 or not ((shares > 0) & (shares <= 1)).all():
        raise OptionError(f"degraded={degraded!r}", expected="shares of the scores, above 0 and up to 1")
    (x,), z = score_matrices((metric,), human, level)
    check_same_inputs(x, z)
    check_constant({"metric": x})
    task = partial(_power_trials, x, z, level, coefficient, chosen, shares, n)
    p_values = np.concatenate(draw.blocks(task, n_trials, 1, TRIALS), axis=2)
    rejections = (p_values[:-1] <= alpha).sum(axis=-1)
    loss = p_values[-1].mean(axis=-1)
    return MetricPower(chosen, shares, rejections, loss, level, coefficient, float(alpha), n, n_trials)


def _power_trials(
    x: FloatArray,
    z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    methods: tuple[TestMethod, ...],
    shares: FloatArray,
    n: int,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the p-values of each method at each share, and in the last row the losses; shape (K + 1, D, trials)."""
    p_values = np.empty((len(methods) + 1, len(shares), size))
    measure = Measure("correlation", level, coefficient)
    for trial in range(size):
        for d, share in enumerate(shares):
            y = _degraded(x, float(share), rng)
            for k, method in enumerate(methods):
                scores = PairedScores(x, y, z)
                test = run_test([scores], measure, method, "greater", n, Resampler("", rng))
                p_values[k, d, trial], p_values[-1, d, trial] = test.p_value, test.difference
    return p_values


def _degraded(x: FloatArray, share: float, rng: np.random.Generator) -> FloatArray:
    """Return the scores with a share of them shuffled among themselves."""
    there = np.flatnonzero(~np.isnan(x))
    chosen = rng.choice(there, size=max(2, round(share * len(there))), replace=False)
    worse = x.copy()
    worse.flat[chosen] = x.flat[rng.permutation(chosen)]
    return worse
