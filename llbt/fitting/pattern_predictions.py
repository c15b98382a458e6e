"""Probabilities of the answers to each pair under a pattern model, averaged over the answers to other pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.table import Table
from ..core.columns import FloatArray
from .pattern_estimates import PatternEstimates
from .prediction import long_table

_MARGINAL = "of the answers to a pair, averaged over the answers to all others"


def predicted_answers(res: PatternEstimates, confidence: float) -> Table:
    """Return the probability of each outcome of every pair; see `PatternResults.predict`."""
    p, likelihood = res.patterns, res.whole_likelihood
    names = [column.name for column in (*p.columns, *((p.times,) if p.times else ()))]
    shown: dict[str, list[Any]] = {"object_i": [], "object_j": [], **{name: [] for name in names}}
    chances, errors = [], []
    for g in range(len(likelihood.eta)):
        first = np.flatnonzero(likelihood.group == g)[:1]
        if not len(first):  # a class of comparisons without any pattern
            continue
        estimate, error = _outcomes(res, g)
        chances.append(estimate)
        errors.append(error)
        shown["object_i"] += [p.objects[i] for i, _ in p.pairs]
        shown["object_j"] += [p.objects[j] for _, j in p.pairs]
        for column in p.columns:
            shown[column.name] += [column.values[first].tolist()[0]] * len(p.pairs)
        if p.times is not None:
            shown[p.times.name] += p.times.values[p.time_of].tolist()
    estimate, error = np.concatenate(chances), np.concatenate(errors)
    df = np.full(len(estimate), res.df_inference)
    return long_table(res.average, shown, (estimate, error, df), confidence, (_MARGINAL,))


def _outcomes(res: PatternEstimates, g: int) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities (P, C) in a class, and their errors by the delta method.

    With y the mean of a pair's sign and t the probability of a tie, P(i) = (1 − t + y)/2 and P(j) = (1 − t − y)/2; the
    derivatives of y and t are covariances of the patterns' statistics.
    """
    likelihood, pairs = res.whole_likelihood, res.patterns.answers.shape[1]
    mean, slopes = likelihood.expected(g, res.solution.params)  # (2P + Q,), (2P + Q, m)
    y, t = mean[:pairs], mean[pairs : 2 * pairs]
    dy, dt = slopes[:pairs], slopes[pairs : 2 * pairs]
    outcomes = [((1 - t + y) / 2, (dy - dt) / 2), (t, dt), ((1 - t - y) / 2, -(dy + dt) / 2)]
    if not res.average.comparisons.has_ties:
        del outcomes[1]
    own = slopes.shape[1]
    cov = np.asarray(res.covariance.matrix)[:own, :own]
    estimate = np.stack([value for value, _ in outcomes], axis=1)
    errors = [np.sqrt(np.einsum("kp,pq,kq->k", slope, cov, slope)) for _, slope in outcomes]
    unknown = [res.covariance.unknown(_padded(slope, len(res.places))) for _, slope in outcomes]
    return estimate, np.where(np.stack(unknown, axis=1), np.nan, np.stack(errors, axis=1))


def _padded(rows: FloatArray, size: int) -> FloatArray:
    """Return combinations of the first parameters as combinations of all parameters."""
    return np.concatenate([rows, np.zeros((len(rows), size - rows.shape[1]))], axis=1)
