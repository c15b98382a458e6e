"""Intervals of a correlation with humans, by bootstrap and by Fisher's transformation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..base.arguments import Confidence, Count, Jobs, Rng, checked
from ..base.table import Field, Record, Table, counted, interval_fields
from ..core.columns import FloatArray
from ..errors import OptionError
from ..resampling import Resampler, degenerate_notes, percentiles
from .correlate import Correlation, Level, correlation_of, score_matrices
from .kernels import NAMES, Coefficient
from .resampled import Resampled, bootstrap_correlations

IntervalMethod = Literal["boot-systems", "boot-inputs", "boot-both", "fisher"]

RESAMPLED: dict[str, Resampled] = {"boot-systems": "systems", "boot-inputs": "inputs", "boot-both": "both"}
_PERFECT = 1e-12  # a correlation that is closer to 1 is 1
SAYS = {
    "boot-systems": "bootstrap of systems",
    "boot-inputs": "bootstrap of inputs",
    "boot-both": "bootstrap of systems and inputs",
    "fisher": "Fisher's transformation",
}


@dataclass(frozen=True, repr=False, eq=False)
class CorrelationInterval(Record):
    """A correlation with humans and its interval.

    Attributes
    ----------
    correlation : Correlation
        The correlation of the scores themselves.
    conf_low, conf_high : float
    method : str
    confidence : float
    replicates : ndarray, shape (B,)
        The correlation in each resample, NaN where it is undefined; empty for Fisher's transformation.
    notes : tuple of str
    """

    correlation: Correlation
    conf_low: float
    conf_high: float
    method: IntervalMethod
    confidence: float
    replicates: FloatArray
    notes: tuple[str, ...]

    @property
    def estimate(self) -> float:
        """The correlation of the scores themselves."""
        return self.correlation.estimate

    def table(self) -> Table:
        """Return a table of one row."""
        correlation = self.correlation
        return Table(
            (
                Field("level", "Level", [correlation.level]),
                Field("coefficient", "Coefficient", [correlation.coefficient]),
                Field("method", "Method", [self.method]),
                Field("estimate", "Estimate", [correlation.estimate], "estimate"),
                *interval_fields([self.conf_low], [self.conf_high], self.confidence),
            ),
            title=f"Correlation with humans: {NAMES[correlation.coefficient]}, {correlation.level} level",
            head=(f"Interval: {SAYS[self.method]}",),
            notes=self.notes,
        )


@checked
def interval(
    metric: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    method: IntervalMethod = "boot-both",
    confidence: Confidence = 0.95,
    n: Count = 1000,
    paired_inputs: bool = True,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> CorrelationInterval:
    """Return the interval of a metric's correlation with human scores.

    Parameters
    ----------
    metric, human : array_like or DataFrame, shape (N, M)
        Scores of N systems on M inputs by the metric and by humans; NaN where a score is missing.
    level : {"system", "input", "global"}
    coefficient : {"pearson", "spearman", "kendall"}
    method : {"boot-systems", "boot-inputs", "boot-both", "fisher"}
        A bootstrap that draws systems, inputs or both with replacement (both: for new systems on new inputs); or
        Fisher's transformation.
    confidence : float
    n : int
        Number of resamples.
    paired_inputs : bool
        True if metric and humans have the same inputs, which are drawn together. False, only at system level, if humans
        scored other inputs, which are drawn separately.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    CorrelationInterval

    Raises
    ------
    JudgmentError
        For scores that are infinite or not numbers, and for shapes that do not match.
    OptionError
        For invalid options, and for combinations that do not exist.

    Notes
    -----
    Bootstrap intervals are percentile intervals. A resample without a correlation counts as −∞ for the lower and as +∞
    for the upper bound, so it widens the interval. A note counts these resamples.

    Fisher's interval is tanh(atanh r ± z·c/√(n − b)) with (b, c) = (3, 1) for Pearson's, (3, √(1 + r²/2)) for
    Spearman's and (4, √.437) for Kendall's coefficient. n is the number of systems, also at input level, where r is the
    mean. At global level n is the number of cells, which are not independent, so the interval is too narrow.

    References
    ----------
    Deutsch, D., Dror, R. & Roth, D. (2021). A statistical analysis of summarization evaluation metrics using resampling
    methods. Transactions of the ACL 9, 1132-1146. Bonett, D. G. & Wright, T. A. (2000). Sample size requirements for
    estimating Pearson, Kendall and Spearman correlations. Psychometrika 65(1), 23-28.

    Examples
    --------
    >>> import llbt
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 50))
    >>> metric = human + rng.normal(size=(12, 50))
    >>> interval = llbt.metrics.interval(metric, human, level="input", n=500, rng=1)
    >>> bool(interval.conf_low < interval.estimate < interval.conf_high)
    True
    """
    draw = Resampler.of("metrics.interval", rng, n_jobs, progress)
    (x,), z = score_matrices((metric,), human, level)
    _check_pairing(x, z, level, paired_inputs)
    if method == "fisher":
        return fisher_interval(x, z, level, coefficient, confidence)
    task = partial(bootstrap_task, (x,), z, level, coefficient, method, paired_inputs)
    (replicates,) = np.concatenate(draw.blocks(task, n, entries(x, level)), axis=1)
    correlation = correlation_of(x, z, level, coefficient)
    low, high = percentiles(replicates, confidence, correlation.estimate)
    notes = (*correlation.notes, counted(n, "resample"), *degenerate_notes(replicates, "without a correlation"))
    return CorrelationInterval(correlation, float(low), float(high), method, confidence, replicates, notes)


def bootstrap_task(
    metrics: tuple[FloatArray, ...],
    human: FloatArray,
    level: Level,
    coefficient: Coefficient,
    method: IntervalMethod,
    paired_inputs: bool,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return correlations of the metrics in resamples of a method, shape (metrics, B)."""
    how = RESAMPLED[method]
    return bootstrap_correlations(metrics, human, level, coefficient, how, paired_inputs, size, rng)


def entries(x: FloatArray, level: Level) -> int:
    """Return how many numbers one resample holds."""
    held = {"system": sum(x.shape) + len(x) ** 2 // 2, "input": x.shape[1], "global": 8 * x.size}
    return int(held[level])


def fisher_interval(
    x: FloatArray, z: FloatArray, level: Level, coefficient: Coefficient, confidence: float
) -> CorrelationInterval:
    """Return the interval by Fisher's transformation; NaN with a note if there is none."""
    correlation = correlation_of(x, z, level, coefficient)
    r, n = correlation.estimate, correlation.n
    lost, spread = {"pearson": (3, 1.0), "spearman": (3, math.sqrt(1 + r**2 / 2)), "kendall": (4, math.sqrt(0.437))}[
        coefficient
    ]
    notes = list(correlation.notes)
    low = high = math.nan
    if n <= lost:
        notes.append(f"no interval: Fisher's transformation needs more than {lost} points, found {n}")
    elif abs(r) > 1 - _PERFECT:
        notes.append(f"no interval: the transformation of a correlation of {r:g} is infinite")
    elif not math.isnan(r):
        half = float(stats.norm.isf((1 - confidence) / 2)) * spread / math.sqrt(n - lost)
        low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
    if level == "global":
        notes.append("cells of one system or one input are not independent: this interval is too narrow")
    return CorrelationInterval(correlation, low, high, "fisher", confidence, np.empty(0), tuple(notes))


def _check_pairing(x: FloatArray, z: FloatArray, level: Level, paired_inputs: bool) -> None:
    if not paired_inputs and level != "system":
        raise OptionError(
            f"paired_inputs=False with level={level!r}, where every score needs the human score of its cell",
            "Pass level='system'.",
        )
    if paired_inputs and x.shape != z.shape:
        raise OptionError(
            f"metric has {x.shape[1]} inputs, human {z.shape[1]}: they cannot be drawn together",
            "Pass paired_inputs=False.",
        )
