"""Profile likelihood intervals of any likelihood that is maximized with a parameter held: arrays in, bounds out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import linalg

from .likelihood import Problem
from .penalties import Penalize
from .solvers import eliminate

FloatArray = npt.NDArray[np.float64]
# start (p,) with the parameter at its value → the parameters and the gradient (p,) at the maximum given it, and the
# log-likelihood there
Held = Callable[[FloatArray], tuple[FloatArray, FloatArray, float]]

_TOLERANCE = 1e-10
_MAX_STEPS = 50


def profile_bounds(
    held: Held, params: FloatArray, cov: FloatArray, top: float, k: int, drop: float, close: float = _TOLERANCE
) -> tuple[float, float]:
    """Return where the profile of parameter k has fallen by `drop` below its maximum, on either side.

    Newton's method on the profile, whose derivative is the score of parameter k at the constrained maximum; infinite
    where the profile never falls that far.

    Parameters
    ----------
    held : callable
        The maximum with parameter k held where a start has it.
    params, cov : ndarray, shapes (p,) and (p, p)
        At the maximum.
    top : float
        The log-likelihood there.
    close : float
        How near the fall is to `drop`, as a share of it.
    """
    low, high = (_bound(held, params, cov, top, k, drop, side, close) for side in (-1.0, 1.0))
    return low, high


def held_in_pairs(problem: Problem, k: int, penalty: Penalize | None) -> Held:
    """Return the maximum of the likelihood of pairs with parameter k held."""
    which = np.arange(problem.signed.shape[1]) == k

    def held(start: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        found = eliminate(problem, start=start, held=which, penalty=penalty)
        return found.params, found.gradient, found.objective

    return held


def _bound(
    held: Held, estimate: FloatArray, cov: FloatArray, top: float, k: int, drop: float, side: float, close: float
) -> float:
    # along the likelihood's ridge: how the other parameters move with k near the maximum
    params = estimate + side * np.sqrt(2 * drop) * cov[:, k] / np.sqrt(cov[k, k])
    last = estimate
    for _ in range(_MAX_STEPS):
        try:
            found, gradient, value = held(params)
        except (linalg.LinAlgError, ValueError, ArithmeticError):  # so far out that probabilities are 0: halfway back
            params = (params + last) / 2
            continue
        gap = top - drop - value
        if abs(gap) < close * max(1.0, drop):
            break
        slope = float(gradient[k])
        if side * slope >= -1e-12:  # flat: no value is that unlikely
            return side * np.inf
        last, params = found, found.copy()
        # no further than twice as far from the estimate: far out the profile is nearly straight
        away = abs(last[k] - estimate[k])
        params[k] += np.clip(gap / slope, -away, away)
    return float(params[k])
