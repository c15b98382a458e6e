"""Profile likelihood intervals of discriminations and of parameters, on the norm of the discriminations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .discrimination import DiscriminationFit, Judged, Point, Views, gradient_at, information_at, point_at
from .indexed_rows import FloatArray
from .newton import Step, newton
from .profile import profile_bounds

_STEPS = 60
_DECREMENT = 1e-8  # a constrained maximum is reached at this squared distance, in standard errors
_SEARCHES = 25
_CLOSE = 1e-4  # error of an interval's bound, as a share of its distance from the estimate
_CLOSE_FALL = 1e-7  # error of the fall of the log-likelihood, as a share of the requested fall
_LONGEST = 0.25  # the most that a discrimination moves at once, as a share of the way to its extreme
_EDGE = 1e-3  # the last place tried, as a share before the extreme, at which all other judges guess


def profile_discrimination(judged: Judged, maximum: DiscriminationFit, which: int, drop: float) -> tuple[float, float]:
    """Return the discriminations on both sides at which the profile log-likelihood has fallen by `drop`.

    Parameters
    ----------
    judged : Judged
    maximum : DiscriminationFit
        The maximum.
    which : int
        The judge.
    drop : float
        Half a quantile of χ² on 1 df.

    Notes
    -----
    On the norm, the mean of σ² is 1, so a judge with the share w of the judgments has |σ| < 1/√w. The interval ends
    there if the likelihood does not fall so far. Newton's method moves along the surface on which σ is fixed and the
    norm is 1. It uses the curvature of the surface (of the Lagrangian). The root of twice the fall is about linear in
    σ.
    """
    views = Views.of(judged)
    low, high = (_bound(views, maximum, which, drop, side) for side in (-1, 1))
    return low, high


def profile_parameter(judged: Judged, maximum: DiscriminationFit, which: int, drop: float) -> tuple[float, float]:
    """Return the values of a parameter on both sides at which the profile log-likelihood has fallen by `drop`.

    Parameters
    ----------
    judged : Judged
    maximum : DiscriminationFit
        The maximum.
    which : int
        The parameter, at discrimination 1.
    drop : float
        Half a quantile of χ² on 1 df.
    """
    views, p = Views.of(judged), len(maximum.params)

    def held(start: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        point = _constrained(views, point_at(views, start[:p], start[p:]), which, float(start[which]))
        slope = np.zeros(len(start))
        slope[which] = _multipliers(views, point, which)[0]
        return np.concatenate([point.params, point.sigma]), slope, point.value

    best = np.concatenate([maximum.params, maximum.sigma])
    return profile_bounds(held, best, maximum.covariance, maximum.value, which, drop, _CLOSE_FALL)


def _bound(views: Views, maximum: DiscriminationFit, which: int, drop: float, side: int) -> float:
    best, p = float(maximum.sigma[which]), len(maximum.params)
    extreme = side / float(np.sqrt(views.share[which]))
    last = best + (1 - _EDGE) * (extreme - best)
    here = point_at(views, maximum.params, maximum.sigma)
    error = float(np.sqrt(maximum.covariance[p + which, p + which]))
    # discriminations on both sides of the bound, each with the root of its fall as a share of `drop`
    inner, outer = (best, 0.0), None
    tried = best + side * float(np.sqrt(2 * drop)) * error
    for _ in range(_SEARCHES):
        tried = side * min(side * tried, side * last, side * here.sigma[which] + _LONGEST * abs(extreme - best))
        here = _constrained(views, here, p + which, tried)
        share = float(np.sqrt(max(maximum.value - here.value, 0.0) / drop))
        if abs(share - 1) < _CLOSE:
            break
        if share < 1 and tried == last:
            return extreme
        inner, outer = ((tried, share), outer) if share < 1 else (inner, (tried, share))
        if outer is None:
            tried = best + (tried - best) / max(share, 0.1)
        else:
            tried = inner[0] + (outer[0] - inner[0]) * (1 - inner[1]) / (outer[1] - inner[1])
    return float(tried)


def _constrained(views: Views, start: Point, place: int, value: float) -> Point:
    """Return the highest point on the norm, from a start, with one of p parameters or K discriminations held."""
    start = _moved(views, start.params, start.sigma, place, value)
    return newton(_Surface(views, place, value), start, rest=_DECREMENT, most=_STEPS).point


@dataclass(frozen=True, eq=False)
class _Surface:
    """The likelihood on the norm with one parameter or discrimination held; a step moves all of them, (p + K,)."""

    views: Views
    place: int
    value: float

    def step(self, point: Point) -> Step:
        """Return a step along the surface."""
        return Step(*_step(self.views, point, self.place))

    def moved(self, point: Point, step: FloatArray) -> Point:
        """Return the point on the surface that a step leads to."""
        p = len(point.params)
        return _moved(self.views, point.params + step[:p], point.sigma + step[p:], self.place, self.value)


def _moved(views: Views, params: FloatArray, sigma: FloatArray, place: int, value: float) -> Point:
    """Return a point on the norm with this value of a parameter or discrimination; other judges keep their ratios."""
    if place < len(params):
        size = float(np.sqrt(views.share @ sigma**2))
        scaled = params.copy()
        scaled[views.judged.scaled] *= size
        scaled[place] = value
        return point_at(views, scaled, sigma / size)
    others = np.arange(len(sigma)) != place - len(params)
    left = 1 - views.share[~others][0] * value**2
    size = float(np.sqrt(views.share[others] @ sigma[others] ** 2))
    return point_at(views, params, np.where(others, sigma * np.sqrt(left) / size, value))


def _normals(views: Views, point: Point, place: int) -> FloatArray:
    """Return the directions in which the held value and the norm change, shape (p + K, 2)."""
    p = len(point.params)
    normals = np.zeros((p + len(point.sigma), 2))
    normals[place, 0] = 1.0
    normals[p:, 1] = 2 * views.share * point.sigma
    return normals


def _multipliers(views: Views, point: Point, place: int) -> FloatArray:
    """Return the gradient along these directions, shape (2,); the first entry is the slope of the profile."""
    gradient = np.concatenate(gradient_at(views, point))
    return np.asarray(np.linalg.lstsq(_normals(views, point, place), gradient, rcond=None)[0])


def _step(views: Views, point: Point, place: int) -> tuple[FloatArray, float]:
    """Return a step along the surface, and its squared length in standard errors."""
    gradient = np.concatenate(gradient_at(views, point))
    p, size = len(point.params), len(gradient)
    factors = _multipliers(views, point, place)
    tangent = np.linalg.qr(_normals(views, point, place), mode="complete")[0][:, 2:]
    slope = tangent.T @ gradient
    for observed in (True, False):
        here = information_at(views, point, observed=observed)
        whole = np.block(
            [
                [here.params, here.mixed.T],
                [here.mixed, np.diag(here.sigma)],
            ]
        )
        if observed:
            whole[range(p, size), range(p, size)] += 2 * factors[1] * views.share
        try:
            solved = linalg.cho_solve(linalg.cho_factor(tangent.T @ whole @ tangent), slope)
        except linalg.LinAlgError:
            continue
        return tangent @ solved, float(slope @ solved)
    return tangent @ slope / max(1.0, float(np.abs(slope).max())), float(slope @ slope)
