"""Correlations of a metric with humans at system, input and global level."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Positive, checked
from ..base.table import Field, Record, Table, counted, format_number
from ..core.columns import FloatArray
from ..errors import JudgmentError, OptionError, listed
from .kernels import (
    NAMES,
    Coefficient,
    column_correlations,
    comparable,
    rounding,
    row_correlations,
)
from .outliers import NO_SPREAD, far_systems
from .system_scores import refuse_other_labels, score_matrix

Level = Literal["system", "input", "global"]
Outliers = Literal["keep", "drop"]


@dataclass(frozen=True, repr=False)
class Correlation(Record):
    """The correlation of a metric with humans.

    Attributes
    ----------
    estimate : float
        NaN where it is undefined; a note says why.
    level, coefficient : str
    n : int
        Number of points of a coefficient: systems with both scores, or cells at global level.
    defined, undefined : int
        Numbers of averaged and of undefined coefficients. There is one per input at input level, otherwise one in
        total.
    notes : tuple of str
    left_out : tuple of label
        Outlying systems, if they were dropped.
    """

    estimate: float
    level: Level
    coefficient: Coefficient
    n: int
    defined: int
    undefined: int
    notes: tuple[str, ...]
    left_out: tuple[Hashable, ...] = ()

    def __float__(self) -> float:
        return self.estimate

    def table(self) -> Table:
        """Return a table of one row."""
        return Table(
            (
                Field("level", "Level", [self.level]),
                Field("coefficient", "Coefficient", [self.coefficient]),
                Field("estimate", "Estimate", [self.estimate], "estimate"),
                Field("n", "n", [self.n], "count"),
            ),
            title=f"Correlation with humans: {NAMES[self.coefficient]}, {self.level} level",
            notes=self.notes,
        )


@checked
def correlate(
    metric: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    outliers: Outliers = "keep",
    cutoff: Positive = 2.5,
) -> Correlation:
    """Return the correlation of a metric's scores with human scores.

    Parameters
    ----------
    metric, human : array_like or DataFrame, shape (N, M)
        Scores of N systems on M inputs by the metric and by humans, or one score per system, shape (N,). NaN, or
        masked, where a score is missing. At system level `human` may have other inputs than `metric`.
    level : {"system", "input", "global"}
        The correlation of the systems' mean scores; the mean over inputs of the correlation over systems; or the
        correlation of all cells.
    coefficient : {"pearson", "spearman", "kendall"}
        Kendall's is τ-b.
    outliers : {"keep", "drop"}
        Whether to keep systems whose human score is an outlier. A single outlier can cause a correlation, so [2]_
        advises ``"drop"``. The default keeps them, as most published correlations do, and a note names them.
    cutoff : float
        The cutoff for outliers, as in `llbt.metrics.outliers`.

    Returns
    -------
    Correlation

    Raises
    ------
    JudgmentError
        For scores that are infinite, not numbers, or of different shapes.
    OptionError
        For invalid options.

    Notes
    -----
    A system's mean is over its available scores. At input and global level a cell counts if it has both scores. A
    correlation is undefined if fewer than two systems have both scores, or one side is constant. At input level a note
    counts the inputs without a correlation, and the mean is over the others. Scores or means are tied if they differ
    only by rounding: by at most 1e-12 times the larger one, and at most 1e-12 times the spread of all.

    References
    ----------
    .. [1] Deutsch, D., Dror, R. & Roth, D. (2021). A statistical analysis of summarization evaluation metrics using
       resampling methods. Transactions of the ACL 9, 1132-1146.
    .. [2] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997.

    Examples
    --------
    >>> import llbt
    >>> metric = [[0.1, 0.4], [0.3, 0.5], [0.2, 0.9]]
    >>> human = [[1, 2], [2, 3], [3, 3]]
    >>> round(llbt.metrics.correlate(metric, human, level="input", coefficient="kendall").estimate, 4)
    0.5749
    >>> without = llbt.metrics.correlate([30, 28, 29, 27, 10], [0.2, 0.1, 0.0, -0.1, -1.4], outliers="drop")
    >>> round(without.estimate, 3), without.left_out
    (0.8, (4,))
    """
    if outliers == "drop" and level != "system":
        raise OptionError(
            f"outliers='drop' with level={level!r}; outliers are found among the systems' mean human scores",
            expected="level='system'",
        )
    x, z = score_matrices((metric,), human, level)
    if level != "system":
        return correlation_of(x[0], z, level, coefficient)
    far, note = _outlying(z, cutoff)
    named = next((scores.index for scores in (metric, human) if isinstance(scores, (pd.Series, pd.DataFrame))), None)
    left_out = tuple(np.flatnonzero(far).tolist() if named is None else named[far].tolist())
    estimate = correlation_of(x[0][~far], z[~far], level, coefficient)
    if outliers == "keep":
        whole = correlation_of(x[0], z, level, coefficient)
        outlier_notes = (
            f"systems with outlying human scores are included: {listed(left_out, 3)}",
            f"without them (outliers='drop', Mathur et al. 2020): {format_number(estimate.estimate)}",
        )
        return replace(whole, notes=(*whole.notes, *outlier_notes)) if left_out else whole
    note_on_outliers = f"outliers left out: {listed(left_out, 20)}" if left_out else note or "no outliers"
    return replace(estimate, left_out=left_out, notes=(note_on_outliers, *estimate.notes))


def _outlying(z: FloatArray, cutoff: float) -> tuple[npt.NDArray[np.bool_], str]:
    """Return which systems have outlying human scores, shape (N,), and a reason if no system can have one."""
    means, there = system_means(z, np.ones((1, z.shape[1])))
    far = np.zeros(len(z), dtype=np.bool_)
    far[there[0]], spread = far_systems(means[0, there[0]], cutoff)
    return far, "" if spread else NO_SPREAD


def correlation_of(x: FloatArray, z: FloatArray, level: Level, coefficient: Coefficient) -> Correlation:
    """Return the correlation of checked matrices."""
    if level == "input":
        correlations = column_correlations(x, z, np.ones((1, len(x))), coefficient)[0]
    elif level == "system":
        a, b, weights, tolerance = mean_rows(x, z)
        correlations = row_correlations(a, b, weights, coefficient, tolerance)
    else:
        correlations = row_correlations(*cells(x, z), coefficient, (0.0, 0.0))
    defined = ~np.isnan(correlations)
    estimate = float(correlations[defined].mean()) if defined.any() else float("nan")
    n = _points(x, z, level)
    notes = _notes(x, z, level, int((~defined).sum()), len(correlations))
    return Correlation(estimate, level, coefficient, n, int(defined.sum()), int((~defined).sum()), notes)


def _points(x: FloatArray, z: FloatArray, level: Level) -> int:
    """Return the number of systems with both means (or a complete cell), or of complete cells at global level."""
    if level == "system":
        return int(((~np.isnan(x)).any(axis=1) & (~np.isnan(z)).any(axis=1)).sum())
    there = ~np.isnan(x + z)
    return int(there.sum() if level == "global" else there.any(axis=1).sum())


def mean_rows(x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, tuple[float, float]]:
    """Return the systems' means of x and z and whether both exist, each (1, N), and the tolerances for equal means."""
    (a, there), (b, also) = (system_means(side, np.ones((1, side.shape[1]))) for side in (x, z))
    return a, b, (there & also).astype(np.float64), (rounding(x), rounding(z))


def system_means(x: FloatArray, inputs: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return the mean of each system over the inputs of each resample, and whether the mean exists; each (B, N).

    Parameters
    ----------
    x : ndarray, shape (N, M)
    inputs : ndarray, shape (B, M)
        How often each resample has each input.
    """
    there = ~np.isnan(x)
    size = inputs @ there.T
    return inputs @ np.where(there, x, 0.0).T / np.maximum(size, 1), size > 0


def cells(x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the cells of x and z, each as one row, and 1 where both have a score; each (1, N·M)."""
    there = ~np.isnan(x + z)
    rows = (np.where(there, x, 0.0), np.where(there, z, 0.0), there.astype(np.float64))
    return rows[0].reshape(1, -1), rows[1].reshape(1, -1), rows[2].reshape(1, -1)


def score_matrices(
    metrics: Sequence[npt.ArrayLike], human: npt.ArrayLike, level: Level
) -> tuple[list[FloatArray], FloatArray]:
    """Return the score matrices of metrics and humans, each (N, M), after a check that their shapes agree."""
    names = ["metric", "other"][: len(metrics)]
    x = [score_matrix(name, values) for name, values in zip(names, metrics, strict=True)]
    z = score_matrix("human", human)
    for name, values in zip([*names[1:], "human"], [*x[1:], z], strict=True):
        free = name == "human" and level == "system"
        if len(values) != len(x[0]) or (not free and values.shape != x[0].shape):
            raise JudgmentError(
                f"metric has shape {x[0].shape}, {name} {values.shape}",
                expected="as many systems (rows)" if free else "the same systems (rows) and inputs (columns)",
            )
    for name, labelled in zip([*names[1:], "human"], [*metrics[1:], human], strict=True):
        same = z.shape == x[0].shape and z.shape[1] > 1
        refuse_other_labels(("metric", name), (metrics[0], labelled), inputs=same)
    if len(z) < 2:
        raise JudgmentError(counted(len(z), "system"), expected="at least 2 (rows of metric) for a correlation")
    return [comparable(side) for side in x], comparable(z)


def _notes(x: FloatArray, z: FloatArray, level: Level, undefined: int, total: int) -> tuple[str, ...]:
    notes = []
    missing = int(np.isnan(x).sum()) + int(np.isnan(z).sum())
    if missing:
        means = level == "system"
        rule = "a system's mean is over its available scores" if means else "a cell counts if both scores are present"
        notes.append(f"{counted(missing, 'score')} missing: {rule}")
    if undefined:
        reason = "one side is constant, or fewer than two systems have both scores"
        where = f"{undefined:,} of {counted(total, 'input')}" if level == "input" else "the correlation"
        notes.append(f"undefined for {where}: {reason}" if level == "input" else f"{where} is undefined: {reason}")
    return tuple(notes)
