"""Hamiltonian Monte Carlo with few tuning constants and many chains side by side, and checks of its draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .indexed_rows import FloatArray

Slopes = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # (n, p) → log-densities (n,), gradients (n, p)

_WARM = 100  # steps that tune the step size; their draws are dropped
_PATH = 1.5  # length of a path in standard deviations: a quarter of a turn is π/2
_ACCEPTED = 0.8  # share of accepted proposals that the step size is tuned to
_FEWEST = 2  # fewest leaps of a path
_JITTER = 0.2  # random change of the step size, so that paths do not return to their start


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws of several chains.

    Attributes
    ----------
    draws : ndarray, shape (C, n, p)
    accepted : float
        Share of the proposals that were accepted.
    """

    draws: FloatArray
    accepted: float


def hamiltonian(
    slopes: Slopes, starts: FloatArray, n: int, rng: np.random.Generator, shown: Callable[[range], Iterable[int]]
) -> Chains:
    """Return n draws from each of C chains, of a density that is about standard normal in p coordinates.

    Parameters
    ----------
    slopes : callable
        Coordinates (C, p) → log-densities (C,) and their gradients (C, p).
    starts : ndarray, shape (C, p)
        Where the chains start. A chain that starts where the density falls steeply may never leave its start.
    n : int
    rng : numpy.random.Generator
    shown : callable
        Takes a range of steps and yields the steps, while a progress bar or a forecast of the time is shown.

    References
    ----------
    Neal, R. M. (2011). MCMC using Hamiltonian dynamics. In Handbook of Markov Chain Monte Carlo, chapter 5.
    """
    (chains, size), at = starts.shape, starts
    value, slope = slopes(at)
    step = 0.9 * size**-0.25
    draws, accepted = np.empty((chains, n, size)), 0.0
    for k in shown(range(_WARM + n)):
        momentum = rng.standard_normal(at.shape)
        before = value - 0.5 * (momentum**2).sum(axis=1)
        size_now = step * rng.uniform(1 - _JITTER, 1 + _JITTER)
        new, new_slope = at, slope
        for _ in range(max(_FEWEST, math.ceil(_PATH / step))):
            momentum = momentum + 0.5 * size_now * new_slope
            new = new + size_now * momentum
            new_value, new_slope = slopes(new)
            momentum = momentum + 0.5 * size_now * new_slope
        after = new_value - 0.5 * (momentum**2).sum(axis=1)
        taken = np.log(rng.random(chains)) < np.where(np.isnan(after), -np.inf, after) - before
        at, slope = np.where(taken[:, None], new, at), np.where(taken[:, None], new_slope, slope)
        value = np.where(taken, new_value, value)
        if k < _WARM:
            step *= math.exp(0.1 * (taken.mean() - _ACCEPTED))
        else:
            draws[:, k - _WARM] = at
            accepted += taken.mean() / n
    return Chains(draws, accepted)


def r_hat(draws: FloatArray) -> FloatArray:
    """Return R̂ of each coordinate, shape (p,), from chains (C, n, p), each split in two.

    References
    ----------
    Gelman, A. et al. (2013). Bayesian Data Analysis, 3rd edition, section 11.4.
    """
    half = draws.shape[1] // 2
    split = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    within = split.var(axis=1, ddof=1).mean(axis=0)
    between = split.mean(axis=1).var(axis=0, ddof=1)
    return np.asarray(np.sqrt((within * (half - 1) / half + between) / within))


def effective_draws(draws: FloatArray) -> FloatArray:
    """Return the effective number of draws of each coordinate, shape (p,), from chains (C, n, p).

    The autocorrelations of all chains together are summed in pairs until a pair is not positive (Geyer 1992).
    Differences between chains enter as in Gelman et al. (2013), section 11.5. The result is at most the number of
    draws.
    """
    chains, n, _ = draws.shape
    away = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(away, 2 * n, axis=1)
    covariance = np.fft.irfft((spectrum * spectrum.conj()).real, 2 * n, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    total = within * (n - 1) / n + draws.mean(axis=1).var(axis=0, ddof=1)
    correlation = 1 - (within - covariance * n / (n - 1)) / total
    even = n // 2 * 2
    pairs = correlation[:even].reshape(-1, 2, correlation.shape[1]).sum(axis=1)
    pairs = np.where(np.minimum.accumulate(pairs > 0, axis=0), pairs, 0.0)
    return np.asarray(chains * n / np.maximum(2 * pairs.sum(axis=0) - 1, 1.0))
