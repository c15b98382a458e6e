"""Importance sampling about a mode: draws of a t distribution, their weights, and Pareto's k̂ of the weights."""

from __future__ import annotations

import numpy as np

from .indexed_rows import FloatArray

_TAIL, _ROOTS = 0.2, 3.0  # the tail has at most this share of n weights, and at most this many √n
_LEAST_TAIL = 5  # with fewer weights in the tail, k̂ is not computed
_PRIOR_K, _PRIOR_WEIGHT = 0.5, 10.0  # the weakly informative prior on k, and the number of weights that it counts as


def t_draws(n: int, size: int, df: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return n draws (n, p) of a standard multivariate t, and their log-density up to a constant (n,)."""
    normal = rng.standard_normal((n, size))
    if np.isfinite(df):
        drawn = normal * np.sqrt(df / rng.chisquare(df, n))[:, None]
        return drawn, -0.5 * (df + size) * np.log1p((drawn**2).sum(axis=1) / df)
    return normal, -0.5 * (normal**2).sum(axis=1)


def normalized(log_weights: FloatArray) -> FloatArray:
    """Return weights that sum to 1, shape (n,)."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def effective_number(weights: FloatArray) -> float:
    """Return the effective number of weighted draws, 1/Σw² (Kish)."""
    return float(1 / (weights**2).sum())


def pareto_k(log_weights: FloatArray) -> float:
    """Return k̂, the shape of a generalized Pareto distribution fitted to the largest weights.

    Below .5 the weights have a finite variance, below 1 a finite mean. If all weights are equal, k̂ is −∞.

    References
    ----------
    Vehtari, A., Simpson, D., Gelman, A., Yao, Y. & Gabry, J. (2024). Pareto smoothed importance sampling. Journal of
    Machine Learning Research 25(72), 1-58.
    """
    ordered = np.sort(log_weights)
    size = int(min(_TAIL * len(ordered), _ROOTS * np.sqrt(len(ordered))))
    if size < _LEAST_TAIL:
        return float("inf")
    tail = np.exp(ordered[-size:] - ordered[-1]) - np.exp(ordered[-size - 1] - ordered[-1])
    k = pareto_shape(tail) if tail[-1] > 0 else -np.inf
    return float((size * k + _PRIOR_WEIGHT * _PRIOR_K) / (size + _PRIOR_WEIGHT))


def pareto_shape(excesses: FloatArray) -> float:
    """Return the shape of a generalized Pareto distribution of excesses (n,) over its threshold, in rising order.

    The estimate is the posterior mean over a grid of −k/σ, under the prior of the reference.

    References
    ----------
    Zhang, J. & Stephens, M. A. (2009). A new and efficient estimation method for the generalized Pareto distribution.
    Technometrics 51(3), 316-325.
    """
    n = len(excesses)
    points = 30 + int(np.sqrt(n))
    quartile = max(excesses[int(n / 4 + 0.5) - 1], np.finfo(float).tiny)
    steps = 1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    grid = 1 / excesses[-1] + steps / (3 * quartile)
    shapes = np.log1p(-grid[:, None] * excesses).mean(axis=1)
    profile = n * (np.log(-grid / shapes) - shapes - 1)
    weights = normalized(profile)
    return float(np.log1p(-(weights @ grid) * excesses).mean())
