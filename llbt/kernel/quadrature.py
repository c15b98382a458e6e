"""Points and weights for integrals over independent standard normal variables."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from .gathered import FloatArray

_LIGHTEST = 1e-12  # of the heaviest: the weight below which a point of a product is left out
_ALL = 2  # dimensions up to which none is


@dataclass(frozen=True, eq=False)
class Points:
    """Points z (d, N) and logarithms of weights (N,): Σ weight · f(z) is the integral of f times the normal density."""

    at: FloatArray
    log_weight: FloatArray


@functools.cache
def gauss_hermite(size: int, number: int) -> Points:
    """Return the product of Gauss-Hermite rules with so many points in each of `size` dimensions.

    Beyond two dimensions points of next to no weight are left out.
    """
    node, weight = np.polynomial.hermite_e.hermegauss(number)
    log = np.log(weight) - 0.5 * np.log(2 * np.pi)
    at, total = np.zeros((0, 1)), np.zeros(1)
    for _ in range(size):
        at = np.concatenate([np.repeat(at, number, axis=1), np.tile(node, at.shape[1])[None]])
        total = (total[:, None] + log).ravel()
    kept = total > (total.max() + np.log(_LIGHTEST) if size > _ALL else -np.inf)
    return Points(np.ascontiguousarray(at[:, kept]), total[kept])
