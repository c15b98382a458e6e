"""Test whether parameters change with a covariate of judges: cumulated scores, and their p-values.

At the common estimate the scores s of n judges add up to zero. They are made orthonormal by the root of Σss′ and
cumulated in the order of a numeric covariate. If all judges have the same parameters, this process is a Brownian bridge
(Zeileis & Hornik 2007, Statistica Neerlandica 61(4); Zeileis, Hothorn & Hornik 2008, Journal of Computational and
Graphical Statistics 17(2)).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg, special, stats

from .indexed_rows import FloatArray, IntArray

_ZERO = 1e-10  # below this share of the largest eigenvalue scores have no information on a direction
_TRIMMED = 0.1  # share of the judges at either end at whom the maximum is not taken
_NODES = 3  # nodes of the integral over the bridge's norm per standard deviation of a step; at least 100
_FINEST = 2000  # with more positions the bridge is treated as if evaluated everywhere


def orthonormal_scores(scores: FloatArray) -> FloatArray:
    """Return scores of n judges (n, p) made orthonormal, (n, rank); their outer products sum to the identity."""
    value, vector = linalg.eigh(scores.T @ scores)
    informed = value > _ZERO * max(float(value[-1]) if len(value) else 0.0, 1e-300)
    return np.asarray(scores @ (vector[:, informed] / np.sqrt(value[informed])))


def fluctuation(scores: FloatArray, values: FloatArray, least: int) -> tuple[float, float]:
    """Return the supLM statistic for a numeric covariate, with its p-value; NaN with too few judges or equal values.

    Parameters
    ----------
    scores : ndarray, shape (n, p)
        As `orthonormal_scores` returns.
    values : ndarray, shape (n,)
        Values of the covariate; judges with equal values keep their order, as in R's psychotree.
    least : int
        The least number of judges on either side; it is at least a tenth of all judges.
    """
    n, p = scores.shape
    trim = max(math.ceil(_TRIMMED * n), least)
    if n < 2 * trim or not p or (values == values[0]).all():
        return math.nan, math.nan
    ends = np.arange(trim, n - trim + 1)
    t = ends / n
    walked = np.cumsum(scores[np.argsort(values, kind="stable")], axis=0)[ends - 1]
    statistic = float(np.max(np.sum(walked**2, axis=1) / (t * (1 - t))))
    return statistic, supremum_p(statistic, p, trim / n, len(ends))


def contingency(scores: FloatArray, codes: IntArray) -> tuple[float, float]:
    """Return Σ ‖Σs‖²·n/n_label over labels, and its p-value by χ² with p(L − 1) degrees of freedom."""
    n, p = scores.shape
    size = np.bincount(codes)
    levels = int((size > 0).sum())
    if levels < 2 or not p:
        return math.nan, math.nan
    sums = np.stack([np.bincount(codes, column, len(size)) for column in scores.T], axis=1)
    statistic = float(np.sum(sums[size > 0] ** 2 * (n / size[size > 0])[:, None]))
    return statistic, float(stats.chi2.sf(statistic, p * (levels - 1)))


def supremum_p(statistic: float, p: int, trimmed: float, positions: int) -> float:
    """Return the probability that ‖B(t)‖²/(t(1 − t)) exceeds a bound, for a Brownian bridge of p dimensions.

    Parameters
    ----------
    statistic : float
        The bound.
    p : int
    trimmed : float
        The bridge is evaluated from t = trimmed to 1 − trimmed.
    positions : int
        The number of places, evenly spaced in log(t/(1 − t)).

    Notes
    -----
    On this scale of time the bridge over √(t(1 − t)) is a stationary Ornstein-Uhlenbeck process, and its norm r is a
    Markov chain. After a step r²/(1 − ρ²) is noncentral χ² with noncentrality ρ²r²/(1 − ρ²) (DeLong 1981,
    Communications in Statistics A 10(21)). The chain is integrated below the bound by Gauss-Legendre quadrature.
    """
    positions = min(positions, _FINEST)
    if positions < 2:
        return float(stats.chi2.sf(statistic, p))
    bound = math.sqrt(statistic)
    step = 2 * math.log((1 - trimmed) / trimmed) / (positions - 1)
    node, weight = special.roots_legendre(max(100, math.ceil(_NODES * bound / math.sqrt(-math.expm1(-step)))))
    node, weight = bound * (node + 1) / 2, bound * weight / 2
    stay = _steps(node, p, math.exp(-step / 2)) * weight
    inside = 2 * node * stats.chi2.pdf(node**2, p)
    for _ in range(positions - 1):
        inside = stay @ inside
    return float(np.clip(1 - inside @ weight, 0.0, 1.0))


def _steps(node: FloatArray, p: int, correlation: float) -> FloatArray:
    """Return the density of the norm after a step, (after, before)."""
    variance, order = 1 - correlation**2, p / 2 - 1
    after, before = node[:, None], correlation * node[None, :]
    product = after * before / variance
    log = np.log(after / variance) + order * np.log(after / before) - (after - before) ** 2 / (2 * variance)
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(log + np.log(special.ive(order, product))))


def adjusted_p(p: float, tests: int) -> float:
    """Return the adjusted smallest of m p-values: m·p if p ≤ .001, else 1 − (1 − p)^m, as R's partykit does."""
    return tests * p if p <= 0.001 else 1 - (1 - p) ** tests
