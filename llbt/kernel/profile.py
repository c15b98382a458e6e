"""Profile likelihood intervals for any likelihood that can be maximized with one parameter held."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import linalg

from .likelihood import Problem
from .penalties import Penalize
from .solvers import eliminate

FloatArray = npt.NDArray[np.float64]
# start (p,), with the held parameter at its value → the parameters and the gradient (p,) at the constrained maximum,
# and the log-likelihood at this maximum
Held = Callable[[FloatArray], tuple[FloatArray, FloatArray, float]]

_TOLERANCE = 1e-10
_MAX_STEPS = 50


def profile_bounds(
    held: Held, params: FloatArray, cov: FloatArray, top: float, k: int, drop: float, close: float = _TOLERANCE
) -> tuple[float, float]:
    """Return the values of parameter k, on both sides, at which its profile has fallen by `drop` below the maximum.

    The search is Newton's method on the profile; its derivative is the score of parameter k at the constrained maximum.
    A bound is infinite if the profile never falls so far.

    Parameters
    ----------
    held : callable
        A start → the maximum with parameter k held at its value in the start.
    params, cov : ndarray, shapes (p,) and (p, p)
        Estimates and covariance at the maximum.
    top : float
        The log-likelihood at the maximum.
    close : float
        Allowed error of the fall, as a share of `drop`.
    """
    low, high = (_bound(held, params, cov, top, k, drop, side, close) for side in (-1.0, 1.0))
    return low, high


def held_in_pairs(problem: Problem, k: int, penalty: Penalize | None) -> Held:
    """Return the maximum of the likelihood of pairs with parameter k held."""
    which = np.arange(problem.signed.shape[1]) == k

    def held(start: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        fitted = eliminate(problem, start=start, held=which, penalty=penalty)
        return fitted.params, fitted.gradient, fitted.objective

    return held


def _bound(
    held: Held, estimate: FloatArray, cov: FloatArray, top: float, k: int, drop: float, side: float, close: float
) -> float:
    # start from the likelihood's ridge: the other parameters as they move with k near the maximum
    params = estimate + side * np.sqrt(2 * drop) * cov[:, k] / np.sqrt(cov[k, k])
    last = estimate
    for _ in range(_MAX_STEPS):
        try:
            fitted, gradient, value = held(params)
        except (linalg.LinAlgError, ValueError, ArithmeticError):  # probabilities are 0 so far out: go halfway back
            params = (params + last) / 2
            continue
        gap = top - drop - value
        if abs(gap) < close * max(1.0, drop):
            break
        slope = float(gradient[k])
        if side * slope >= -1e-12:  # the profile is flat: no value is so unlikely
            return side * np.inf
        last, params = fitted, fitted.copy()
        # go at most twice as far from the estimate: far out the profile is nearly straight
        away = abs(last[k] - estimate[k])
        params[k] += np.clip(gap / slope, -away, away)
    return float(params[k])
