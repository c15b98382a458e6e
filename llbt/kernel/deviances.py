"""Distances of counts from fitted counts: deviances, Pearson's X², leverages."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..core.columns import FloatArray
from . import likelihood
from .likelihood import Problem
from .solvers import Fit

_BLOCK = 1 << 14  # comparisons whose deviances fit into the processor's cache


def cell_deviances(counts: FloatArray, means: FloatArray) -> FloatArray:
    """Return 2 (y log(y/m) − (y − m)), each cell's part of the Poisson deviance, shape (S, C)."""
    return np.asarray(2 * (special.xlogy(counts, counts / means) - (counts - means)))


def deviance(counts: FloatArray, means: FloatArray) -> float:
    """Return the Poisson deviance, summed over the cells; it is never below 0, not even by rounding."""
    blocks = (slice(start, start + _BLOCK) for start in range(0, len(counts), _BLOCK))
    return max(0.0, sum(float(cell_deviances(counts[rows], means[rows]).sum()) for rows in blocks))


def pearson_chi2(counts: FloatArray, means: FloatArray) -> float:
    """Return Σ (y − m)² / m."""
    return float(np.sum((counts - means) ** 2 / means))


def leverages(problem: Problem, solution: Fit) -> FloatArray:
    """Return the hat values of the full GLM, shape (S, C).

    With z the row of a cell and z̄ the fitted mean row of its comparison, h = m/total + m (z − z̄)ᵀ V (z − z̄).
    """
    probability = solution.means / problem.totals[:, None]
    return probability + solution.means * likelihood.distances(problem, probability, solution.cov)
