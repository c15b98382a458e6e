"""The influence of each judgment or cluster on the estimates of a bootstrap, for BCa intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError
from ..fitting.clusters import clustered
from ..fitting.fitted import WithWorths
from ..fitting.plain_estimates import PlainEstimates
from ..kernel.robust import cluster_scores
from .kinds import refit_data
from .simulated_counts import with_counts

Statistic = Callable[[Any], Any]  # a function of a fit

_MOST_LEFT_OUT = 5000  # most refits for the acceleration of a user's statistic


def resampled_scores(res: PlainEstimates, resample: str) -> tuple[FloatArray, FloatArray]:
    """Return the score of each resampled unit, (n, p), and how often each is in the data, (n,)."""
    problem = res.problem()
    if resample not in ("judgment", "parametric"):
        lines = clustered(res.comparisons, resample, (resample,))
        return cluster_scores(problem, res.solution, lines), np.ones(lines.size)
    p = res.solution.means / problem.totals[:, None]
    parts = [part.toarray() for part in problem.predictors]
    slopes = problem.response.slopes(p.T)
    rows = [sum(slope[:, None] * part for slope, part in zip(by, parts, strict=True)) for by in slopes]
    return np.stack(rows, axis=1).reshape(-1, len(res.free)), problem.counts.ravel()


def statistic_influences(
    res: PlainEstimates, statistic: Statistic, names: tuple[str, ...], estimate: FloatArray, resample: str
) -> tuple[FloatArray, FloatArray]:
    """Return the change of a statistic without each unit, (n, k), and the number of copies of each unit, (n,)."""
    left_out, weights = _left_out(res, resample)
    moved = np.zeros((len(left_out), len(names)))
    for k, table in enumerate(left_out):
        values = statistic_of(res, statistic, names, with_counts(res.comparisons, table), f"leave-one-out table {k}")
        moved[k] = estimate - values if values is not None else 0.0
    return moved, weights


def _left_out(res: PlainEstimates, resample: str) -> tuple[list[FloatArray], FloatArray]:
    """Return tables that each lack one judgment of one kind, or one cluster, and the number of each kind."""
    counts = res.counts
    if resample not in ("judgment", "parametric"):
        lines = clustered(res.comparisons, resample, (resample,))
        tables = []
        for g in range(lines.size):
            less = counts.copy()
            np.subtract.at(less, lines.rows[lines.codes == g], lines.counts[lines.codes == g])
            tables.append(np.maximum(less, 0.0))
        return tables, np.ones(lines.size)
    cells = np.argwhere(counts >= 1)
    if len(cells) > _MOST_LEFT_OUT:
        cells = cells[:0]  # without an acceleration, BCa corrects only for bias
    tables = []
    for s, cell in cells:
        less = counts.copy()
        less[s, cell] -= 1
        tables.append(less)
    return tables, np.array([counts[s, cell] for s, cell in cells])


def statistic_of(
    res: WithWorths, statistic: Statistic, names: tuple[str, ...], table: Comparisons, where: str
) -> FloatArray | None:
    """Return the named values of a resampled table; None if it has no finite estimate or lacks a value."""
    try:
        fitted = refit_data(res, table)
    except DesignError:
        return None
    return statistic_in(fitted, statistic, names, where)


def statistic_in(fitted: Any, statistic: Statistic, names: tuple[str, ...], where: str) -> FloatArray | None:
    """Return the named values of a fit to a resampled table; None if it lacks a value."""
    try:
        given, values = named_values(statistic(fitted))
    except Exception as error:
        raise OptionError(f"the statistic raised {type(error).__name__} in {where}: {error}") from error
    if given == names:
        return values
    place = {name: k for k, name in enumerate(given)}
    if not any(name in place for name in names) or any(name.startswith("statistic") for name in given):
        raise OptionError(
            f"the statistic has {len(given)} values in {where}", expected=f"{len(names)}, as in the fit itself"
        )
    return None if any(name not in place for name in names) else values[[place[name] for name in names]]


def values_at(res: Any, statistic: Statistic) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names and numbers that a statistic returns for a fit; raise for other values.

    Raises
    ------
    OptionError
    """
    values = statistic(res)
    try:
        return named_values(values)
    except (TypeError, ValueError):
        raise OptionError(
            f"statistic returns {values!r:.80}, of type {type(values).__name__}",
            "Pass statistic=lambda res: res.params.",
            expected="a number, a Series, a mapping or an array of numbers",
        ) from None


def named_values(result: Any) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names and numbers in the result of a statistic."""
    if isinstance(result, dict):
        result = pd.Series(result)
    if isinstance(result, pd.Series):
        return tuple(map(str, result.index)), result.to_numpy(dtype=np.float64)
    values = np.atleast_1d(np.asarray(result, dtype=np.float64)).ravel()
    return tuple(f"statistic[{k}]" for k in range(len(values))) if len(values) > 1 else ("statistic",), values


def bca_tails(
    values: FloatArray, estimate: float, influences: FloatArray, weights: FloatArray, tail: float
) -> tuple[float, float]:
    """Return the probabilities of BCa's quantiles (Efron & Tibshirani 1993, equation 14.10)."""
    finite = values[~np.isnan(values)]
    same = np.isclose(finite, estimate, rtol=1e-9, atol=1e-9)
    below = (np.sum((finite < estimate) & ~same) + np.sum(same) / 2) / max(1, len(finite))
    bias = float(stats.norm.ppf(np.clip(below, 0.5 / (len(values) + 1), 1 - 0.5 / (len(values) + 1))))
    away = influences - np.average(influences, weights=weights) if weights.sum() > 0 else influences
    squares = float(np.sum(weights * away**2))
    acceleration = float(np.sum(weights * away**3)) / (6 * squares**1.5) if squares > 0 else 0.0

    def shifted(z: float) -> float:
        return float(stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))))

    z = float(stats.norm.ppf(tail))
    return shifted(z), shifted(-z)
