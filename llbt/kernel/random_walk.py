"""Random walks of parameters over periods: the most probable path, and the rate.

Notation: T periods, p parameters; x_t are the parameters of period t, ℓ_t is the log-likelihood of its judgments, I_t
their information. Steps are x_t − x_{t−1} ~ N(0, Q_t) with Q_t = σ² d_t K, where d_t is the time between the periods
and K (p, p) has rank r. x_1 has a flat prior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize
from scipy.sparse import csr_array

from ..core.links import AnyResponse
from ..resampling import step_made
from .group_modes import contributions
from .indexed_rows import FloatArray, IntArray
from .likelihood import Problem
from .newton import Step, newton
from .threads import few_threads

LARGEST = 10.0  # log-worth per period; if the likelihood still rises there, the rate is +∞

_COST = 0.2  # an operation of a sweep costs as much as so many numbers evaluated elsewhere
_ITERATIONS = 100
_NEAR = 1e-12  # at this squared distance to the mode, in standard deviations, a step is the last
_RANK = 1e-10  # eigenvalues of K below this share of the largest count as 0
_SLACK = 1e-10  # rounding may lower a log-likelihood by this share
_UNSEEN = 0.02  # movement over all periods, in standard errors, that is too small to be seen
_GRID = 9  # rates at which the likelihood is evaluated first
_FALLEN = 4.0  # rates whose log-likelihood has fallen further are dropped: about 1 in 200
_POINTS = 9  # rates over which paths are averaged
_CLOSE = 1e-5  # error of the logarithm of the rate


@dataclass(frozen=True, eq=False)
class Periods:
    """The judgments of T periods in R lines of counts, and how parameters may change between periods.

    Attributes
    ----------
    response : Response or Cumulative
    counts : ndarray, shape (K, R)
    offsets : ndarray, shape (B, R)
    rows : tuple of B csr arrays, each (R, T p)
        Predictors by line, in the columns of the line's period.
    products : tuple of (int, int, csr array (T p², R))
        The map from weights of lines to the information, for predictors b ≤ c.
    gaps : ndarray, shape (T − 1,)
        d_t, above 0.
    spread : ndarray, shape (p, p)
        K.
    root : ndarray, shape (r, p)
        R with |R s|² = sᵀK⁺s.
    """

    response: AnyResponse
    counts: FloatArray
    offsets: FloatArray
    rows: tuple[csr_array, ...]
    products: tuple[tuple[int, int, csr_array], ...]
    gaps: FloatArray
    spread: FloatArray
    root: FloatArray

    @classmethod
    def of(cls, problem: Problem, period: IntArray, gaps: FloatArray, spread: FloatArray) -> Periods:
        """Return the periods of a problem whose comparisons are the lines, each in one period (R,)."""
        values, vectors = linalg.eigh(spread)
        informed = values > _RANK * values[-1]
        root = vectors[:, informed].T / np.sqrt(values[informed])[:, None]
        predictors = [predictor.tocsr() for predictor in problem.predictors]
        size = len(gaps) + 1
        products = tuple(
            (b, c, _products(predictors[b], predictors[c], period, size, b != c))
            for b in range(len(predictors))
            for c in range(b, len(predictors))
        )
        rows = tuple(_in_columns_of(predictor, period, size) for predictor in predictors)
        return cls(problem.response, problem.counts.T, problem.offsets, rows, products, gaps, spread, root)

    @property
    def size(self) -> tuple[int, int]:
        """The number of periods T and of parameters p."""
        return len(self.gaps) + 1, len(self.spread)

    def predictors(self, path: FloatArray) -> FloatArray:
        """Return the predictors of the lines at a path (T, p), shape (B, R)."""
        return np.stack([rows @ path.ravel() for rows in self.rows]) + self.offsets

    def moments(self, path: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return Σ ℓ_t at a path (T, p), the scores (T, p), and the informations (T, p, p)."""
        value, score, weight = contributions(self.response, self.predictors(path), self.counts)
        periods, width = self.size
        scores = sum(rows.T @ one for rows, one in zip(self.rows, score, strict=True))
        whole = sum(product @ weight[b, c] for b, c, product in self.products)
        return float(value.sum()), scores.reshape(path.shape), whole.reshape(periods, width, width)

    def cost(self, path: FloatArray, sigma: float) -> float:
        """Return Σ (x_t − x_{t−1})ᵀ Q_t⁺ (x_t − x_{t−1})/2; 0 at σ = 0, where paths do not move."""
        if sigma == 0:
            return 0.0
        steps = np.diff(path, axis=0) @ self.root.T
        return float(((steps**2).sum(axis=1) / self.gaps).sum() / (2 * sigma**2))


@dataclass(frozen=True, eq=False)
class Walk:
    """The most probable path at a given rate.

    Attributes
    ----------
    sigma : float
    value : float
        Laplace's approximation of the log-likelihood of σ: all x_t are integrated out, x_1 with a flat prior.
    path : ndarray, shape (T, p)
        The mode.
    links : ndarray, shape (T − 1, p, p)
        (I + Q_t M_{t−1})⁻¹, where M_{t−1} is the information of all judgments up to t − 1: the slopes of x_{t−1} in
        x_t.
    steps : ndarray, shape (T − 1, p, p)
        Q_t.
    last : ndarray, shape (p, p)
        The covariance of x_T.
    converged : bool
    """

    sigma: float
    value: float
    path: FloatArray
    links: FloatArray
    steps: FloatArray
    last: FloatArray
    converged: bool

    def covariances(self) -> FloatArray:
        """Return the covariance of each x_t given all judgments and σ, shape (T, p, p).

        Given x_t, x_{t−1} has the covariance G Q_t and depends on x_t through the link G.
        """
        covariances = [self.last]
        for link, step in zip(self.links[::-1], self.steps[::-1], strict=True):
            one = link @ covariances[-1] @ link.T + link @ step
            covariances.append((one + one.T) / 2)
        return np.stack(covariances[::-1])

    def covariance_with(self, first: int, later: int, of_later: FloatArray) -> FloatArray:
        """Return the covariance (p, p) of x_first with x_later, first ≤ later, given the covariance of x_later."""
        covariance = of_later
        for link in self.links[first:later][::-1]:
            covariance = link @ covariance
        return covariance


def _in_columns_of(rows: csr_array, period: IntArray, size: int) -> csr_array:
    """Return rows (R, p) in the columns of their periods, (R, T p)."""
    number, width = rows.shape
    columns = rows.indices + width * np.repeat(period, np.diff(rows.indptr))
    return csr_array((rows.data, columns, rows.indptr), shape=(number, size * width))


def _products(x: csr_array, y: csr_array, period: IntArray, size: int, both: bool) -> csr_array:
    """Return a map (T p², R) from lines to their period's entries: it adds w xᵀy and, if `both`, its transpose."""
    number, width = x.shape
    first, second = np.diff(x.indptr), np.diff(y.indptr)
    line = np.repeat(np.arange(number), first * second)
    within = np.arange(len(line)) - np.repeat(np.cumsum(first * second) - first * second, first * second)
    left, right = x.indptr[line] + within // second[line], y.indptr[line] + within % second[line]
    start, value = period[line] * width**2, x.data[left] * y.data[right]
    places = [start + x.indices[left] * width + y.indices[right]]
    if both:
        places.append(start + y.indices[right] * width + x.indices[left])
    times = len(places)
    return csr_array(
        (np.tile(value, times), (np.concatenate(places), np.tile(line, times))), shape=(size * width**2, number)
    )


def walk(periods: Periods, sigma: float, near: FloatArray) -> Walk:
    """Return the most probable path at a rate, with Laplace's approximation of the rate's likelihood.

    The search is Newton's method. Each step is a forward pass that collects information and a backward pass (the Kalman
    filter in information form, and the smoother). Nothing is divided by σ, so results are exact down to σ = 0.

    Parameters
    ----------
    periods : Periods
    sigma : float
        The rate, at least 0.
    near : ndarray, shape (T, p)
        Where to start: a path whose steps are in the span of K; at σ = 0, a path without steps.
    """
    steps = sigma**2 * periods.gaps[:, None, None] * periods.spread
    ascent = _Paths(periods, sigma, steps)
    with few_threads(near.shape[1]):
        search = newton(ascent, ascent.at(near), enough=_NEAR, most=_ITERATIONS)
        point = search.point
        swept = ascent.swept(point)
        last = linalg.inv(swept.information)
    value = point.value - swept.log_determinant / 2
    return Walk(sigma, value, point.path, swept.links, steps, last, search.converged)


@dataclass(frozen=True, eq=False)
class _Path:
    """A path (T, p), its log-likelihood less its cost, the scores (T, p) and the informations (T, p, p)."""

    path: FloatArray
    value: float
    scores: FloatArray
    informations: FloatArray


@dataclass(frozen=True, eq=False)
class _Paths:
    """The posterior of paths at a rate, not normalized, given the covariances of steps (T − 1, p, p)."""

    periods: Periods
    sigma: float
    steps: FloatArray

    def at(self, path: FloatArray) -> _Path:
        """Return the height of a path."""
        value, scores, informations = self.periods.moments(path)
        return _Path(path, value - self.periods.cost(path, self.sigma), scores, informations)

    def swept(self, point: _Path) -> _Swept:
        """Return the path that maximizes the quadratic approximation at another path."""
        vectors = point.scores + np.einsum("tpq,tq->tp", point.informations, point.path)
        return _swept(self.steps, point.informations, vectors)

    def step(self, point: _Path) -> Step:
        """Return Newton's step, and its squared length by the curvature of the whole path."""
        step_made(_COST * point.path.size * point.path.shape[1] ** 2)
        step = self.swept(point).path - point.path
        length = float(np.einsum("tp,tpq,tq->", step, point.informations, step))
        return Step(step, length + 2 * self.periods.cost(step, self.sigma))

    def moved(self, point: _Path, step: FloatArray) -> _Path:
        """Return the path that a step leads to."""
        return self.at(point.path + step)


@dataclass(frozen=True, eq=False)
class _Swept:
    """The result of both passes: the path (T, p), links (T − 1, p, p), the information of x_T, and log|H|."""

    path: FloatArray
    links: FloatArray
    information: FloatArray
    log_determinant: float


def _swept(steps: FloatArray, informations: FloatArray, vectors: FloatArray) -> _Swept:
    """Return the path that maximizes Σ vᵀx − xᵀIx/2 less the cost of its steps; H is the whole Hessian.

    log|H| leaves out the covariances of the steps, so at σ = 0 it is the log determinant for the common x.
    """
    size = vectors.shape[1]
    links, pulls = np.empty_like(steps), np.empty((len(steps), size))
    information, vector, matrices = informations[0], vectors[0], np.empty_like(steps)
    one = np.eye(size)
    for t, step in enumerate(steps):
        matrices[t] = one + step @ information
        links[t] = np.linalg.inv(matrices[t])
        pulls[t] = links[t] @ (step @ vector)
        before = links[t].T @ information
        information = (before + before.T) / 2 + informations[t + 1]
        vector = links[t].T @ vector + vectors[t + 1]
    path = np.empty_like(vectors)
    path[-1] = np.linalg.solve(information, vector)
    for t in range(len(steps))[::-1]:
        path[t] = links[t] @ path[t + 1] + pulls[t]
    log_determinant = np.linalg.slogdet(matrices)[1].sum() + np.linalg.slogdet(information)[1]
    return _Swept(path, links, information, float(log_determinant))


@dataclass(frozen=True, eq=False)
class Rate:
    """The rate that maximizes the likelihood.

    Attributes
    ----------
    best, still : Walk
        The walk at this rate, and the walk at σ = 0.
    infinite : bool
        Whether the likelihood still rises at the largest rate that is tried.
    """

    best: Walk
    still: Walk
    infinite: bool


def rate(periods: Periods, params: FloatArray, close: float = _CLOSE) -> Rate:
    """Return the rate that maximizes Laplace's approximation of the marginal likelihood.

    The smallest rate that is tried moves parameters, over all periods, by far less than their standard errors at σ = 0.
    The largest is `LARGEST` per period. The search uses a grid, then Brent's method around the best point. If σ = 0 is
    as likely, the result is 0.

    Parameters
    ----------
    periods : Periods
    params : ndarray, shape (p,)
        Parameters near the estimates at σ = 0.
    close : float
        Allowed error of the logarithm of the rate.
    """
    still = walk(periods, 0.0, np.tile(params, (periods.size[0], 1)))
    low, high = _range(periods, still)
    values = {-np.inf: still}

    def at(log: float) -> float:
        near = values[min(values, key=lambda known: abs(max(known, np.log(low)) - log))]
        values[log] = walk(periods, float(np.exp(log)), near.path)
        return -values[log].value

    grid = np.linspace(np.log(low), np.log(high), _GRID)
    k = int(np.argmin([at(log) for log in grid]))
    between = grid[max(k - 1, 0)], grid[min(k + 1, _GRID - 1)]
    optimize.minimize_scalar(at, bounds=between, method="bounded", options={"xatol": close})
    log, best = max(values.items(), key=lambda pair: pair[1].value)
    if best.value <= still.value + _SLACK * (1 + abs(still.value)):
        return Rate(still, still, False)
    return Rate(best, still, bool(log >= grid[-1] - 2 * close))


def _range(periods: Periods, still: Walk) -> tuple[float, float]:
    errors = periods.root @ still.last @ periods.root.T
    error = np.sqrt(np.trace(errors) / len(errors))
    high = LARGEST / np.sqrt(periods.gaps.mean())
    return min(_UNSEEN * float(error) / np.sqrt(periods.gaps.sum()), high / 1e3), high


def rate_bounds(periods: Periods, at_best: Rate, drop: float) -> tuple[float, float]:
    """Return the rates on both sides at which the marginal likelihood of σ has fallen by `drop`.

    The lower bound is 0 if it has not fallen so far at 0. The upper bound is infinite if it has not fallen so far at
    the largest rate.
    """
    top = at_best.best.value - drop
    low, high = _range(periods, at_best.still)

    def above(log: float) -> float:
        return walk(periods, float(np.exp(log)), at_best.best.path).value - top

    best = np.log(max(at_best.best.sigma, low))
    lower = 0.0
    if at_best.best.sigma > 0 and at_best.still.value < top and above(np.log(low)) < 0:
        lower = _crossing(above, np.log(low), best)
    return lower, _crossing(above, best, np.log(high)) if above(np.log(high)) < 0 else np.inf


@dataclass(frozen=True, eq=False)
class Rates:
    """Walks at several rates with weights: the distribution of the paths if σ is estimated.

    Attributes
    ----------
    best : Walk
        The walk at the estimate of σ.
    walks : tuple of K Walk
    weights : ndarray, shape (K,)
        Weights that sum to 1.
    """

    best: Walk
    walks: tuple[Walk, ...]
    weights: FloatArray

    @classmethod
    def of(cls, periods: Periods, best: Rate) -> Rates:
        """Return rates by Gauss-Legendre quadrature over the likely range of σ, weighted by their likelihood."""
        low, high = rate_bounds(periods, best, _FALLEN)
        high = min(high, _range(periods, best.still)[1])
        points, lengths = np.polynomial.legendre.leggauss(_POINTS)
        sigmas = low + (points + 1) / 2 * (high - low)
        walks = tuple(walk(periods, float(sigma), best.best.path) for sigma in sigmas)
        values = np.array([one.value for one in walks])
        weights = lengths * np.exp(values - values.max())
        return cls(best.best, walks, weights / weights.sum())

    def covariances(self) -> FloatArray:
        """Return the covariance of each x_t around its best estimate, with σ integrated out, shape (T, p, p)."""
        total = np.zeros((*self.best.path.shape, self.best.path.shape[1]))
        for one, weight in zip(self.walks, self.weights, strict=True):
            away = one.path - self.best.path
            total += weight * (one.covariances() + away[:, :, None] * away[:, None, :])
        return total

    def covariance_of_step(self, first: int, later: int) -> FloatArray:
        """Return the covariance of x_later − x_first around its best estimate, with σ integrated out, shape (p, p)."""
        total = np.zeros_like(self.best.last)
        for one, weight in zip(self.walks, self.weights, strict=True):
            every = one.covariances()
            shared = one.covariance_with(first, later, every[later])
            away = (one.path[later] - one.path[first]) - (self.best.path[later] - self.best.path[first])
            total += weight * (every[first] + every[later] - shared - shared.T + np.outer(away, away))
        return total


def _crossing(above: Callable[[float], float], low: float, high: float) -> float:
    return float(np.exp(optimize.brentq(above, low, high, xtol=1e-4)))
