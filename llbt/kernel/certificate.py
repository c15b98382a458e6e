"""Prove that a likelihood has a maximum, from the point where Newton's method ends and without a linear program.

Along a direction of recession h no observed outcome becomes less likely. Let G be the most by which h favours an
observed outcome over another outcome of its comparison. H is the information at some point, g the gradient. Newton's
decrement is ν² = gᵀH⁻¹g. For choices among alternatives, minus the second derivative along h is a variance, and it is
at most G times the first derivative: hᵀHh ≤ G·gᵀh, so √(hᵀHh) ≤ G·ν. Let R be the length of the longest difference of
alternatives in the norm of H⁻¹; then G ≤ R·√(hᵀHh). So there is no such h, and the likelihood has a maximum, if ν·R <
1: the criterion of generalized self-concordance (Bach 2010, Electronic Journal of Statistics 4, 384-414), in the norm
of the information.

The length of a difference is bounded in two ways. The first uses only the information of its own comparison; it is
cheap, and enough where predictors are not far from 0. The second uses the inverse of H, which standard errors need in
any case.

With a cumulative link the second derivative is at most c·G times the first, where c follows from the densities at both
cuts of an outcome: an upper cut does not fall along h, and a lower cut does not rise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from ..core.links import Cumulative
from ..core.response import Response
from .indexed_rows import FloatArray, Gathered
from .likelihood import Problem
from .solvers import Maximum

_BELOW = 0.9  # ν·R has to be below this; 1 less what rounding may add
_LEAST = 1e-10  # less information than this, in a column scaled by its largest entry, may be rounding of H
_MOST = 5000  # the inverse is made for at most so many parameters
_ROUNDING = 1e-15  # rounding of H for each judgment, as judgments add up in H


def is_proven(problem: Problem, reached: Maximum) -> bool:
    """Whether the point that Newton's method reached proves that the likelihood has a maximum.

    Parameters
    ----------
    problem : Problem
    reached : Maximum
        The point where Newton's method stopped, and the decrement there.
    """
    if not reached.converged:
        return False
    response, predictors = problem.response, problem.at(reached.params)
    floor = max(_LEAST, _ROUNDING * float(problem.totals.sum()))
    decrement = max(reached.decrement, 0.0)
    if isinstance(response, Response) and _least_anywhere(problem, response, predictors) >= max(2 * decrement, floor):
        return True
    probability = response.probabilities(predictors)[0]
    if isinstance(response, Cumulative):
        steepness, least = _of_cuts(response, probability, problem.counts.T)
    else:
        steepness, least = 1.0, _of_choices(probability, problem.counts.T)
    decrement *= (steepness / _BELOW) ** 2
    if not np.isfinite(decrement):
        return False
    if (least >= max(decrement, floor)).all():
        return True
    information = reached.information
    if not isinstance(information, np.ndarray) or len(information) > _MOST:
        return False
    try:
        inverse = reached.inverse.matrix
    except linalg.LinAlgError:
        return False
    return decrement * _longest(problem, inverse, floor) < 1


def _least_anywhere(problem: Problem, response: Response, predictors: Sequence[FloatArray]) -> float:
    """Return a lower bound of `_of_choices` for all comparisons, from the largest predictors alone."""
    largest = np.array([np.abs(u).max() for u in predictors])
    spread = float(np.ptp(response.loadings, axis=0) @ largest)  # the largest difference of two outcomes' log weights
    return float(problem.totals.min() * np.exp(-spread) / (2 * len(response.outcomes)))


def _of_choices(probability: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the least information (S,) about moving an unseen outcome by 1 against the seen outcomes.

    With p the probability of all seen outcomes and q the probability of the unseen outcome, it is n·p·q/(p + q). It is
    infinite for a comparison without an unseen outcome.
    """
    seen = counts > 0
    together = np.where(seen, probability, 0.0).sum(axis=0)
    other = np.where(seen, np.inf, probability).min(axis=0)
    some = np.isfinite(other) & seen.any(axis=0)
    least = np.full(some.shape, np.inf)
    p, q = together[some], other[some]
    least[some] = counts.sum(axis=0)[some] * p * q / (p + q)
    return least


def _of_cuts(response: Cumulative, probability: FloatArray, counts: FloatArray) -> tuple[float, FloatArray]:
    """Return the largest c of observed outcomes, and the least information (S,) about moving one of their cuts by 1."""
    c, curvature = response.curvatures(probability)
    seen = counts > 0
    least = np.where(seen, counts * curvature, np.inf).min(axis=0)
    return float(np.where(seen, c, 1.0).max(initial=1.0)), np.asarray(least)


def _longest(problem: Problem, inverse: FloatArray, floor: float) -> float:
    """Return a bound of R², from the largest eigenvalue of H⁻¹; infinite where rounding has spoilt H.

    Columns are measured in units of their largest entry.
    """
    scale = np.max([rows.largest() for rows in problem.predictors], axis=0)
    norm = float((scale * (np.abs(inverse) @ scale)).max(initial=0.0))  # bounded by the largest sum of a row
    if not norm < 1 / floor:
        return np.inf
    factors = _reach(problem.response)
    lengths = sum(f * _lengths(rows, 1 / scale) for f, rows in zip(factors, problem.predictors, strict=True))
    return norm * float(np.max(lengths)) ** 2


def _reach(response: Response | Cumulative) -> FloatArray:
    """Return how far one unit of each predictor can move a cut, or the difference of two outcomes, (B,)."""
    if isinstance(response, Cumulative):
        return np.asarray(np.abs(response.cuts).max(axis=0))
    return np.asarray(np.ptp(response.loadings, axis=0))


def _lengths(rows: Gathered, scale: FloatArray) -> FloatArray:
    """Return a bound of the length of each row (S,) with columns scaled by `scale` (p,)."""
    lengths = np.zeros(rows.shape[0])
    for part in rows.parts:
        square = part.matrix.power(2) if not isinstance(part.matrix, np.ndarray) else part.matrix**2
        lengths += np.sqrt(square @ scale**2)[part.index]
    if len(rows.chosen):
        lengths += np.sqrt((scale[rows.chosen] ** 2) @ rows.own**2)
    return lengths
