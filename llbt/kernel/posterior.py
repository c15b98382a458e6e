"""A likelihood with a normal prior: its mode, its marginal likelihood by Laplace's method, and draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from scipy import linalg

from .hamiltonian import effective_draws, hamiltonian, r_hat
from .importance import effective_number, normalized, pareto_k, t_draws
from .indexed_rows import FloatArray, IntArray
from .newton import InParameters, moving, newton

Route = Literal["importance sampling", "Hamiltonian Monte Carlo"]
Shown = Callable[[range], Iterable[int]]

# bounds of k̂ and of the effective number of draws for weights that can be trusted
MOST_K, LEAST_EFFECTIVE = 0.5, 400.0
MOST_R_HAT = 1.02
CHAINS = 8
LEAST_DF = 5.0  # least df of the t distribution of the draws
_BLOCK = 250  # draws evaluated at a time
_NEAR = 1e-6  # squared distance to the mode before the last step, in standard errors; draws are weighted anyway
_HALVINGS = 8


class LikelihoodAt(Protocol):
    """A log-likelihood of p parameters."""

    def moments(self, params: FloatArray) -> tuple[float, FloatArray, Any]:
        """Return the log-likelihood at p parameters, its gradient (p,) and minus its second derivatives (p, p)."""

    def values(self, params: FloatArray) -> FloatArray:
        """Return the log-likelihood at n points (n, p), shape (n,)."""

    def slopes(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihood at n points (n, p), shape (n,), and its gradients (n, p)."""


@dataclass(frozen=True, eq=False)
class PointByPoint:
    """A log-likelihood given by a function of one point; several points are evaluated one by one.

    Attributes
    ----------
    at : callable
        Parameters (p,) → the log-likelihood, its gradient (p,) and minus its second derivatives (p, p).
    """

    at: Callable[[FloatArray], tuple[float, FloatArray, Any]]

    def moments(self, params: FloatArray) -> tuple[float, FloatArray, Any]:
        """Return the log-likelihood at p parameters, its gradient (p,) and minus its second derivatives (p, p)."""
        return self.at(params)

    def values(self, params: FloatArray) -> FloatArray:
        """Return the log-likelihood at n points (n, p), shape (n,)."""
        return np.array([self.at(one)[0] for one in params])

    def slopes(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihood at n points (n, p), shape (n,), and its gradients (n, p)."""
        points = [self.at(one)[:2] for one in params]
        return np.array([value for value, _ in points]), np.array([slope for _, slope in points])


@dataclass(frozen=True, eq=False)
class NormalPrior:
    """A normal prior on p parameters.

    Attributes
    ----------
    mean : ndarray, shape (p,)
    precision : ndarray, shape (p, p)
        Positive definite.
    """

    mean: FloatArray
    precision: FloatArray

    @cached_property
    def _constant(self) -> float:
        return float(np.linalg.slogdet(self.precision / (2 * np.pi))[1] / 2)

    def slopes(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-density at n points (n, p), shape (n,), and its gradients (n, p)."""
        away = params - self.mean
        slope = -away @ self.precision
        return self._constant + 0.5 * (away * slope).sum(axis=1), slope


@dataclass(frozen=True, eq=False)
class _Point:
    params: FloatArray
    value: float
    gradient: FloatArray
    information: FloatArray


@dataclass(frozen=True, eq=False)
class Mode:
    """The mode of a posterior.

    Attributes
    ----------
    params : ndarray, shape (p,)
    value : float
        The log-likelihood plus the log-density of the prior.
    root : ndarray, shape (p, p)
        L, where LLᵀ is the inverse of minus the second derivatives at the mode.
    converged : bool
    """

    params: FloatArray
    value: float
    root: FloatArray
    converged: bool

    @property
    def log_volume(self) -> float:
        """The log determinant of the root."""
        return float(np.log(np.diag(self.root)).sum())

    @property
    def log_evidence(self) -> float:
        """The log marginal likelihood, by Laplace's method."""
        return float(self.value + len(self.params) / 2 * np.log(2 * np.pi) + self.log_volume)


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of p parameters from a posterior.

    Attributes
    ----------
    params : ndarray, shape (n, p)
        The draws; with chains, one chain after another.
    weights : ndarray, shape (n,)
        Weights that sum to 1.
    route : {"importance sampling", "Hamiltonian Monte Carlo"}
    df : float
        Degrees of freedom of the t distribution that was tried first.
    k_hat : float
        Pareto's k̂ of the weights of the t distribution's draws.
    ess : float
        Effective number of draws; with chains, the smallest effective number of all coordinates.
    r_hat : float
        The largest R̂ of all coordinates; NaN without chains.
    chains : int
    """

    params: FloatArray
    weights: FloatArray
    route: Route
    df: float
    k_hat: float
    ess: float
    r_hat: float
    chains: int

    @property
    def trusted(self) -> bool:
        """Whether the weights can be trusted, or the chains agree."""
        if self.chains == 1:
            return self.k_hat <= MOST_K and self.ess >= LEAST_EFFECTIVE
        return self.r_hat <= MOST_R_HAT


@dataclass(frozen=True, eq=False)
class Density:
    """The unnormalized posterior density of p parameters."""

    likelihood: LikelihoodAt
    prior: NormalPrior

    def mode(self, start: FloatArray) -> Mode:
        """Return the mode by Newton's method; raise LinAlgError where the density has none."""

        def evaluate(params: FloatArray) -> _Point:
            value, gradient, information = self.likelihood.moments(params)
            more, slope = self.prior.slopes(params[None])
            whole = (
                information if isinstance(information, np.ndarray) else information.toarray()
            ) + self.prior.precision
            return _Point(params, value + float(more[0]), gradient + slope[0], whole)

        def solve(point: _Point, free: IntArray) -> FloatArray:
            del free  # all parameters are free
            return np.asarray(linalg.solve(point.information, point.gradient, assume_a="pos"))

        ascent = InParameters(evaluate, solve, moving(len(start), None))
        search = newton(ascent, evaluate(start), enough=_NEAR, halvings=_HALVINGS)
        if search.failure is not None:
            raise search.failure
        point = search.point
        root = linalg.solve_triangular(np.linalg.cholesky(point.information), np.eye(len(start)), lower=True).T
        return Mode(point.params, point.value, root, search.converged)

    def values(self, params: FloatArray) -> FloatArray:
        """Return the log-density at n points (n, p), shape (n,)."""
        return self.likelihood.values(params) + self.prior.slopes(params)[0]

    def slopes(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-density at n points (n, p), shape (n,), and its gradients (n, p)."""
        (value, slope), (more, other) = self.likelihood.slopes(params), self.prior.slopes(params)
        return value + more, slope + other

    def log_evidence(self, start: FloatArray) -> float:
        """Return the log marginal likelihood, by Laplace's method at the mode."""
        return self.mode(start).log_evidence

    def draws(self, start: FloatArray, n: int, rng: np.random.Generator, shown: Shown) -> Draws:
        """Return weighted draws around the mode if their weights can be trusted, else draws of chains.

        Parameters
        ----------
        start : ndarray, shape (p,)
            Where the search for the mode starts.
        n : int
            The number of draws; with chains it is rounded up to a multiple of eight. Chains start at eight of the
            draws of the t distribution, drawn by their weights.
        rng : numpy.random.Generator
        shown : callable
            Takes a range of steps and yields the steps, while a progress bar or a forecast of the time is shown.
        """
        mode, size = self.mode(start), len(start)
        df = max(LEAST_DF, float(size))
        drawn, density = t_draws(n, size, df, rng)
        params = mode.params + drawn @ mode.root.T
        starts = range(0, n, _BLOCK)
        values = np.concatenate([self.values(params[start : start + _BLOCK]) for start in shown(starts)])
        log_weights = np.where(np.isnan(values), -np.inf, values) - density
        weights, k_hat = normalized(log_weights), pareto_k(log_weights)
        ess = effective_number(weights)
        weighted = Draws(params, weights, "importance sampling", df, k_hat, ess, float("nan"), 1)
        if weighted.trusted:
            return weighted

        def whitened(at: FloatArray) -> tuple[FloatArray, FloatArray]:
            value, slope = self.slopes(mode.params + at @ mode.root.T)
            return value, slope @ mode.root

        # drawn by weight without replacement (Gumbel's method): no chain starts where the density is almost 0
        first = np.argsort(-(log_weights + rng.gumbel(size=n)))[:CHAINS]
        draws = hamiltonian(whitened, drawn[first], -(-n // CHAINS), rng, shown).draws
        total = draws.shape[0] * draws.shape[1]
        return Draws(
            mode.params + draws.reshape(total, size) @ mode.root.T,
            np.full(total, 1 / total),
            "Hamiltonian Monte Carlo",
            df,
            k_hat,
            float(effective_draws(draws).min()),
            float(r_hat(draws).max()),
            CHAINS,
        )
