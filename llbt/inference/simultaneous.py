"""Simultaneous tests and intervals: of all differences of log-worths, and of any contrasts of estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..base.budgets import refuse_large
from ..core.columns import FloatArray, IntArray
from ..core.max_z import MaxZ, max_z, max_z_of
from ..core.statistics import two_sided_p
from ..fitting.estimates import Estimates
from ..kernel.robust import LOST, Covariance
from .log_worths import KNOWN, LogWorths

_MATRICES = 24  # matrices of objects × objects in memory at once; 22.5 were measured at 600 objects


def refuse_pairs(size: int) -> None:
    """Raise for more objects than can be compared in pairs."""
    refuse_large(
        f"comparing all pairs of {size:,} objects",
        _MATRICES * float(size) ** 2,
        "Name some: pairwise(res, objects=[…]); or use fewer objects: Comparisons.select(objects=[…]).",
    )


def pair_errors(log_worths: LogWorths, pairs: IntArray) -> FloatArray:
    """Return standard errors of differences of log-worths; NaN if unknown or informed by one cluster, 0 if held."""
    i, j = pairs.T
    variances = np.diag(log_worths.cov)
    variance = variances[i] + variances[j] - 2 * log_worths.cov[i, j]
    variance[variance <= KNOWN * variances.max(initial=0.0)] = 0.0
    apart = (np.abs(log_worths.lost[i] - log_worths.lost[j]) > LOST).any(axis=1)
    variance[np.isnan(log_worths.estimate[i] - log_worths.estimate[j]) | apart] = np.nan
    return np.asarray(np.sqrt(np.maximum(variance, 0)))


def largest(log_worths: LogWorths, pairs: IntArray, error: FloatArray, df: float, rng: np.random.Generator) -> MaxZ:
    """Return the distribution of the largest |z| over the pairs that were estimated."""
    i, j = pairs.T
    errors = np.full(log_worths.cov.shape, np.inf)
    errors[i, j] = errors[j, i] = np.where(error > 0, error, np.inf)
    cov = log_worths.cov
    if np.isnan(cov).any():  # a class with infinite estimates, whose differences have no errors
        cov = np.nan_to_num(cov)
    return max_z(errors, cov, df, rng)


def pairs_of_classes(res: Estimates, log_worths: Sequence[LogWorths], rng: np.random.Generator) -> MaxZ | None:
    """Return the distribution of max |z| over all classes' pairs; None for one class, and for predictions.

    Tests and rank ranges that use it are simultaneous over all classes.
    """
    if len(log_worths) < 2 or res.object_effects is not None:
        return None
    size, rows = len(log_worths[0].estimate), np.concatenate([one.rows for one in log_worths])
    refuse_pairs(len(rows))
    estimate, lost = (np.concatenate([getattr(one, name) for one in log_worths]) for name in ("estimate", "lost"))
    cov = res.covariance.combined(rows[:, res.free])
    starts, each = size * np.arange(len(log_worths)), np.column_stack(np.triu_indices(size, 1))
    pairs = (starts[:, None, None] + each).reshape(-1, 2).astype(np.int64)
    joint = LogWorths(rows, estimate, cov, lost)
    return largest(joint, pairs, pair_errors(joint, pairs), res.worth_df_inference, rng)


@dataclass(frozen=True, eq=False)
class Simultaneous:
    """m contrasts of estimates with simultaneous tests and intervals.

    Attributes
    ----------
    estimate, std_error : ndarray, shape (m,)
        Estimates and standard errors; NaN if not determined.
    statistic, p_value, p_adjusted : ndarray, shape (m,)
        The statistic and p-value of each contrast alone, and the p-value by the distribution of the largest |z|.
    conf_low, conf_high : ndarray, shape (m,)
        Simultaneous intervals: with the given confidence all of them cover.
    df : ndarray, shape (m,)
        The degrees of freedom of t for each contrast; infinite for the normal.
    distribution : MaxZ
        The distribution of the largest |z|.
    """

    estimate: FloatArray
    std_error: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    df: FloatArray
    distribution: MaxZ


def simultaneous(
    weights: FloatArray,
    estimate: FloatArray,
    covariance: Covariance,
    rows: FloatArray,
    confidence: float,
    rng: np.random.Generator,
) -> Simultaneous:
    """Return simultaneous intervals and adjusted p-values of contrasts, by the largest |z| (Hothorn et al. 2008).

    Parameters
    ----------
    weights : ndarray, shape (m, k)
        The contrasts of k estimates.
    estimate : ndarray, shape (k,)
    covariance : Covariance
        Covariance of the p estimated parameters.
    rows : ndarray, shape (k, p)
        The estimates as linear combinations of the parameters.
    confidence : float
    rng : numpy.random.Generator
    """
    combined = weights @ rows
    cov = covariance.combined(rows)
    variance = np.einsum("mk,mk->m", weights @ cov, weights)
    known = variance > KNOWN * np.diag(cov).max(initial=0.0)
    error = np.sqrt(np.where(known, variance, np.nan))
    error[covariance.unknown(combined)] = np.nan
    estimates = weights @ estimate
    df, own = covariance.df, covariance.df_of(combined)
    statistic = estimates / error
    p_value = two_sided_p(statistic, own)
    # statistics with the same tail probability as each one
    alike = np.where(own != df, np.sign(statistic) * stats.t.isf(p_value / 2, df), statistic)
    root = weights @ root_of(cov)
    root[np.isnan(error)] = 0.0
    largest_z = max_z_of(root, df, rng)
    critical = largest_z.quantile(confidence)
    half = np.where(own != df, stats.t.isf(stats.t.sf(critical, df), own), critical) * error
    adjusted = largest_z.p_value(alike)
    return Simultaneous(
        estimates, error, statistic, p_value, adjusted, estimates - half, estimates + half, own, largest_z
    )


def root_of(cov: FloatArray) -> FloatArray:
    """Return L with LLᵀ equal to the nearest covariance without negative eigenvalues, shape (k, k)."""
    values, vectors = np.linalg.eigh(cov)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
