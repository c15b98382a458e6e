"""Probabilities of outcomes for a judge drawn from the population: averaged over the distribution of the effects."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.columns import FloatArray
from ..formulas.brackets import Bracket
from ..kernel.likelihood import Problem
from ..kernel.quadrature import gauss_hermite
from ..table import Table
from .mixed_estimates import MixedEstimates
from .prediction import comparisons_of, long_table, own_comparisons

_POINTS = 25  # of a rule in each of up to two dimensions: the signed predictor, and the tie


def population_predicted(res: MixedEstimates, frame: Any, confidence: float) -> Table:
    """Return outcome probabilities averaged over judges, as a long table; see `MixedResults.predict`."""
    average = res.average
    problem, shown = own_comparisons(average) if frame is None else comparisons_of(average, frame)
    estimate, error = _averaged(res, problem)
    note = f"of a {res.judges.name} drawn from the population: averaged over the distribution of the effects"
    return long_table(average, shown, (estimate, error, np.full(len(estimate), np.inf)), confidence, (note,))


def _averaged(res: MixedEstimates, problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Return probabilities and their delta-method standard errors, each (R, K)."""
    eta = np.stack(problem.at(np.asarray(res.params.fillna(0.0), dtype=float)))
    points = gauss_hermite(2, _POINTS)
    weights = np.exp(points.log_weight)
    spread, slopes = _spread(res.brackets, res.solution.scales)
    tie = res.comparisons.response.tie
    moves = np.zeros((len(eta), points.at.shape[1]))
    moves[0] = spread[0] * points.at[0]
    if tie is not None:
        moves[tie] = spread[1] * points.at[1]
    predictors = (eta[:, :, None] + moves[:, None]).reshape(len(eta), -1)
    p, _ = problem.response.probabilities(predictors)
    shape = (len(p), eta.shape[1], points.at.shape[1])
    bent = (p[:, None] * problem.response.slopes(p)).reshape(shape[0], len(eta), *shape[1:])  # (K, B, R, N)
    estimate = p.reshape(shape) @ weights
    rows = [predictor.columns(res.average.free).toarray() for predictor in problem.predictors]
    fixed = np.einsum("kbr,brp->krp", bent @ weights, np.stack(rows))
    signed = bent[:, 0] @ (weights * points.at[0])
    tied = bent[:, tie] @ (weights * points.at[1]) if tie is not None else np.zeros_like(signed)
    scaled = signed[..., None] * slopes[0] + tied[..., None] * slopes[1]
    jacobian = np.concatenate([fixed, scaled], axis=2)
    known = ~np.isnan(np.diag(res.solution.covariance))
    jacobian, cov = jacobian[..., known], res.solution.covariance[np.ix_(known, known)]
    if res.solution.rule is None:  # no effect is left: errors are those without effects
        jacobian, cov = fixed, res.average.covariance.matrix
    return estimate.T, np.sqrt(np.einsum("krp,pq,krq->rk", jacobian, cov, jacobian))


def _spread(brackets: tuple[Bracket, ...], scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations of the signed predictor and of the tie's, (2,), with derivatives in log σ, (2, E)."""
    share = {"object": (0, 2.0), "order": (0, 1.0), "tie": (1, 1.0)}  # two objects, each with an effect of its own
    variance = np.zeros((2, len(scales)))
    for e, bracket in enumerate(brackets):
        predictor, times = share[bracket.effect]
        variance[predictor, e] = times * scales[e] ** 2
    spread = np.sqrt(variance.sum(axis=1))
    return spread, variance / np.where(spread > 0, spread, 1.0)[:, None]
