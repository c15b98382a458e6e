"""Penalties of a log-likelihood: the judgments of a prior, and Firth's bias reduction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .indexed_rows import FloatArray
from .likelihood import Likelihood, Problem, distances, information, inverse, probabilities, score


@dataclass(frozen=True, eq=False)
class Penalty:
    """The value and derivatives of a penalty at some parameters.

    Attributes
    ----------
    value : float
        The amount added to the log-likelihood.
    gradient : ndarray, shape (p,)
        The vector added to the score.
    curvature : ndarray or sparse array, shape (p, p)
        What the penalty adds to minus the derivative of the score, approximately.
    informs : bool
        Whether the curvature is information on the parameters, as for a prior; it then enters their covariance.
    """

    value: float
    gradient: FloatArray
    curvature: Any
    informs: bool = True


Penalize = Callable[[FloatArray], Penalty]  # parameters (p,) → the penalty at these


def judgments_added(problem: Problem, counts: FloatArray) -> Penalize:
    """Return the log-likelihood of additional counts (S, K) of the same comparisons: a conjugate prior."""
    likelihood = Likelihood.of(replace(problem, counts=counts))
    return lambda params: Penalty(*likelihood.moments(params))


def firth(problem: Problem) -> Penalize:
    """Return ½ log|information|, which removes the first-order bias.

    Its gradient is the score of the counts ½ m (z − z̄)ᵀ V (z − z̄), with m the fitted counts.

    References
    ----------
    Firth, D. (1993). Bias reduction of maximum likelihood estimates. Biometrika 80(1), 27-38.
    """
    totals = problem.totals

    def at(params: FloatArray) -> Penalty:
        probability = probabilities(problem, params)
        whole = information(problem, probability, totals)
        counts = totals[:, None] * probability * distances(problem, probability, inverse(whole)) / 2
        added = replace(problem, counts=counts)
        curvature = information(problem, probability, added.totals)
        return Penalty(float(np.linalg.slogdet(whole)[1]) / 2, score(added, probability), curvature, informs=False)

    return at


def ridge(matrix: FloatArray) -> Penalize:
    """Return −½ βᵀ P β, with P (p, p): the logarithm of a normal prior around 0."""

    def at(params: FloatArray) -> Penalty:
        along = matrix @ params
        return Penalty(-float(params @ along) / 2, -along, matrix)

    return at
