"""The posterior of parameters and standard deviations σ of normal effects: draws around the modes on a grid of σ."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import interpolate, special

from .importance import effective_number, normalized, pareto_k, t_draws
from .indexed_rows import FloatArray
from .laplace import NormalDensity
from .marginal import Rule
from .mixed import MarginalLikelihood
from .posterior import LEAST_DF, Density, Draws, LikelihoodAt, Mode, NormalPrior, PointByPoint, Shown

SCALE_PRIOR = 1.0  # the scale of the half-normal prior on σ
_RANGE = (0.005, 4.0)  # range of σ: below it effects vanish; above it the prior has almost no mass
_POINTS = {1: 12, 2: 8}  # grid points in each dimension, by the number of σ
_ROUNDS = 4  # most rounds in which the grid is narrowed
_DROP = 9.0  # points are dropped if their log-density is so far below the largest
_NARROWER = 0.7  # a grid is narrowed only to less than this share of its range
_CELLS = 8  # cells into which each step of the grid is divided; within a cell log σ is drawn uniformly
MOST_SCALES = max(_POINTS)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Grid points (K, E) of log σ, with the mode of the parameters and the log weight (K,) of each.

    `axes` has the values of each log σ, shape (E, points).
    """

    axes: FloatArray
    points: FloatArray
    modes: tuple[Mode, ...]
    logs: FloatArray

    @property
    def cell(self) -> float:
        """The volume that each point stands for."""
        return float(np.prod(self.axes[:, 1] - self.axes[:, 0]))

    def drawn(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return n draws of log σ (n, E) by the interpolated weights, and their log-density up to a constant (n,)."""
        edges = [np.linspace(axis[0], axis[-1], _CELLS * (len(axis) - 1) + 1) for axis in self.axes]
        width = np.array([edge[1] - edge[0] for edge in edges])
        cells = np.array(list(itertools.product(*(edge[:-1] for edge in edges))))
        shares = normalized(self.between(self.logs, cells + width / 2))
        at = np.repeat(np.arange(len(cells)), rng.multinomial(n, shares))
        return cells[at] + width * rng.random((n, len(width))), np.log(shares[at])

    def between(self, values: FloatArray, points: FloatArray) -> FloatArray:
        """Return values of the grid's points (K, …) at other points (n, E), by linear interpolation."""
        shape = (*(len(axis) for axis in self.axes), *values.shape[1:])
        return np.asarray(interpolate.RegularGridInterpolator(tuple(self.axes), values.reshape(shape))(points))


@dataclass(frozen=True, eq=False)
class ScaledDensity:
    """The unnormalized posterior density of p parameters and E standard deviations with half-normal priors.

    Attributes
    ----------
    likelihood_at : callable
        log σ (E,) → the likelihood of the parameters at this σ.
    n_scales : int
        The number of standard deviations E.
    prior : NormalPrior
        The prior of the parameters.
    """

    likelihood_at: Callable[[FloatArray], LikelihoodAt]
    n_scales: int
    prior: NormalPrior

    def at(self, log_scales: FloatArray) -> Density:
        """Return the density of the parameters at some log σ (E,)."""
        return Density(self.likelihood_at(log_scales), self.prior)

    def log_evidence(self, start: FloatArray) -> float:
        """Return the log marginal likelihood, by Laplace's method at each point of the grid."""
        grid = self._grid(start)
        return float(special.logsumexp(grid.logs) + np.log(grid.cell))

    def draws(self, start: FloatArray, n: int, rng: np.random.Generator, shown: Shown) -> Draws:
        """Return weighted draws of parameters and σ, shape (n, p + E): σ between grid points, parameters by a t.

        Laplace's method at the points of the grid decides only where draws are made; the weights correct for it.
        """
        grid = self._grid(start)
        size = len(start)
        df = max(LEAST_DF, float(size))
        log_scales, log_density = grid.drawn(n, rng)
        drawn, density = t_draws(n, size, df, rng)
        centres = grid.between(np.array([mode.params for mode in grid.modes]), log_scales)
        roots = grid.between(np.array([mode.root for mode in grid.modes]), log_scales)
        params = centres + np.einsum("npq,nq->np", roots, drawn)
        proposed = density + log_density - np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        values = np.empty(n)
        for k in shown(range(n)):
            values[k] = self.at(log_scales[k]).values(params[k : k + 1])[0] + _log_prior(log_scales[k])
        log_weights = np.where(np.isnan(values), -np.inf, values) - proposed
        weights = normalized(log_weights)
        both = np.column_stack([params, np.exp(log_scales)])
        k_hat, ess = pareto_k(log_weights), effective_number(weights)
        return Draws(both, weights, "importance sampling", df, k_hat, ess, float("nan"), 1)

    def _grid(self, start: FloatArray) -> _Grid:
        """Return a grid that has been narrowed to the region with most of the density."""
        low, high = (np.full(self.n_scales, bound) for bound in np.log(_RANGE))
        for _ in range(_ROUNDS):
            grid = self._over(low, high, start)
            inside = grid.points[grid.logs > grid.logs.max() - _DROP]
            step = (high - low) / (_POINTS[self.n_scales] - 1)
            narrow = np.maximum(inside.min(axis=0) - step, low), np.minimum(inside.max(axis=0) + step, high)
            if np.all(narrow[1] - narrow[0] > _NARROWER * (high - low)):
                break
            low, high = narrow
        return grid

    def _over(self, low: FloatArray, high: FloatArray, start: FloatArray) -> _Grid:
        axes = np.linspace(low, high, _POINTS[self.n_scales]).T
        points = np.array(list(itertools.product(*axes)))
        modes = tuple(self.at(point).mode(start) for point in points)
        logs = np.array([mode.log_evidence + _log_prior(point) for mode, point in zip(modes, points, strict=True)])
        return _Grid(axes, points, modes, logs)


def _log_prior(log_scales: FloatArray) -> float:
    """Return the log-density of log σ (E,) if σ are half-normal."""
    over = np.exp(log_scales) / SCALE_PRIOR
    return float(np.sum(np.log(2 * over / np.sqrt(2 * np.pi)) - over**2 / 2))


def at_scales(likelihood: MarginalLikelihood, log_scales: FloatArray, rule: Rule | NormalDensity) -> PointByPoint:
    """Return the marginal likelihood of the parameters at given log σ (E,)."""
    size, active = likelihood.size, tuple(range(len(log_scales)))

    def at(params: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        marginal = likelihood(np.append(params, log_scales), active, rule, None)
        return marginal.value, marginal.score[:size], marginal.information[:size, :size]

    return PointByPoint(at)
