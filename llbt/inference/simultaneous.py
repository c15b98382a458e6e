"""Standard errors of all differences of log-worths, and the distribution of the largest |z| of them."""

from __future__ import annotations

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..core.max_z import MaxZ, max_z
from ..kernel.robust import LOST
from .log_worths import KNOWN, LogWorths


def pair_errors(found: LogWorths, pairs: IntArray) -> FloatArray:
    """Return the standard errors of differences of log-worths; NaN where not determined or lost, 0 where known."""
    i, j = pairs.T
    variances = np.diag(found.cov)
    variance = variances[i] + variances[j] - 2 * found.cov[i, j]
    variance[variance <= KNOWN * variances.max(initial=0.0)] = 0.0
    apart = (np.abs(found.lost[i] - found.lost[j]) > LOST).any(axis=1)
    variance[np.isnan(found.estimate[i] - found.estimate[j]) | apart] = np.nan
    return np.asarray(np.sqrt(np.maximum(variance, 0)))


def largest(found: LogWorths, pairs: IntArray, error: FloatArray, df: float, rng: np.random.Generator) -> MaxZ:
    """Return the distribution of the largest |z| over the pairs that were estimated."""
    i, j = pairs.T
    errors = np.full(found.cov.shape, np.inf)
    errors[i, j] = errors[j, i] = np.where(error > 0, error, np.inf)
    cov = np.where(np.isnan(found.cov), 0.0, found.cov)  # of a class at infinity, whose differences have no errors
    return max_z(errors, cov, df, rng)
