"""Intervals of a judge's discrimination, by the profile of the likelihood on the norm of the discriminations."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .discrimination import DiscriminationFit, Judged, Point, Views, gradient_at, information_at, point_at
from .gathered import FloatArray

_STEPS = 60
_HALVINGS = 30
_DECREMENT = 1e-8  # squared distance to the constrained maximum, in standard errors
_SEARCHES = 25
_CLOSE = 1e-4  # how near the bound of an interval is found, in shares of its distance
_LONGEST = 0.25  # how far the discrimination moves at once, of the way to its extreme
_EDGE = 1e-3  # how near the extreme, at which all others guess, is looked at


def profile_discrimination(judged: Judged, found: DiscriminationFit, which: int, drop: float) -> tuple[float, float]:
    """Return where the likelihood, maximized over all else, has fallen by `drop` to either side of a discrimination.

    Parameters
    ----------
    judged : Judged
    found : DiscriminationFit
        The maximum.
    which : int
        The judge.
    drop : float
        Half a quantile of χ² on 1 df.

    Notes
    -----
    On the norm, a mean of σ² of 1, a judge with the share w of the judgments has |σ| < 1/√w. The bound is that where
    the likelihood does not fall so far. From each place Newton's method goes along the surface on which σ is held and
    the norm is kept, with the curvature of the surface (the Lagrangian's); the root of twice the fall is about linear
    in σ.
    """
    views = Views.of(judged)
    low, high = (_bound(views, found, which, drop, side) for side in (-1, 1))
    return low, high


def _bound(views: Views, found: DiscriminationFit, which: int, drop: float, side: int) -> float:
    best, p = float(found.sigma[which]), len(found.params)
    extreme = side / float(np.sqrt(views.share[which]))
    last = best + (1 - _EDGE) * (extreme - best)
    here = point_at(views, found.params, found.sigma)
    error = float(np.sqrt(found.covariance[p + which, p + which]))
    inner, outer = (best, 0.0), None  # discriminations to either side of the bound, each with its share of the way
    tried = best + side * float(np.sqrt(2 * drop)) * error
    for _ in range(_SEARCHES):
        tried = side * min(side * tried, side * last, side * here.sigma[which] + _LONGEST * abs(extreme - best))
        here = _constrained(views, here, which, tried)
        share = float(np.sqrt(max(found.value - here.value, 0.0) / drop))
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


def _constrained(views: Views, start: Point, which: int, value: float) -> Point:
    """Return the highest point with that discrimination of one judge, on the norm, that is reached from a start."""
    point = _moved(views, start.params, start.sigma, which, value)
    for _ in range(_STEPS):
        step, decrement = _step(views, point, which)
        if decrement < _DECREMENT:
            break
        length, p = 1.0, len(point.params)
        for _ in range(_HALVINGS):
            reached = _moved(views, point.params + length * step[:p], point.sigma + length * step[p:], which, value)
            if reached.value >= point.value - 1e-12 * abs(point.value):
                break
            length /= 2
        else:
            break
        point = reached
    return point


def _moved(views: Views, params: FloatArray, sigma: FloatArray, which: int, value: float) -> Point:
    """Return the point on the norm with that discrimination of one judge; those of the others keep their ratios."""
    others = np.arange(len(sigma)) != which
    left = 1 - views.share[which] * value**2
    size = float(np.sqrt(views.share[others] @ sigma[others] ** 2))
    return point_at(views, params, np.where(others, sigma * np.sqrt(left) / size, value))


def _step(views: Views, point: Point, which: int) -> tuple[FloatArray, float]:
    """Return a step along the surface, and how far it leads, squared, in standard errors."""
    gradient = np.concatenate(gradient_at(views, point))
    p, size = len(point.params), len(gradient)
    normals = np.zeros((size, 2))
    normals[p + which, 0] = 1.0
    normals[p:, 1] = 2 * views.share * point.sigma
    factors = np.linalg.lstsq(normals, gradient, rcond=None)[0]
    tangent = np.linalg.qr(normals, mode="complete")[0][:, 2:]
    slope = tangent.T @ gradient
    for observed in (True, False):
        found = information_at(views, point, observed=observed)
        whole = np.block([[found.params, found.mixed.T], [found.mixed, np.diag(found.sigma)]])
        if observed:
            whole[range(p, size), range(p, size)] += 2 * factors[1] * views.share
        try:
            solved = linalg.cho_solve(linalg.cho_factor(tangent.T @ whole @ tangent), slope)
        except linalg.LinAlgError:
            continue
        return tangent @ solved, float(slope @ solved)
    return tangent @ slope / max(1.0, float(np.abs(slope).max())), float(slope @ slope)
