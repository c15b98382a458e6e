"""Profile likelihood intervals: arrays in, bounds out."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .likelihood import Problem
from .penalties import Penalize
from .solvers import Fit, eliminate

_TOLERANCE = 1e-10
_MAX_STEPS = 50


def profile_bounds(problem: Problem, fit: Fit, k: int, drop: float, penalty: Penalize | None) -> tuple[float, float]:
    """Return where the profile of parameter k has fallen by `drop` below its maximum, on either side.

    Newton's method on the profile, whose derivative is the score of parameter k at the constrained maximum; infinite
    where the profile never falls that far.
    """
    return _bound(problem, fit, k, drop, penalty, -1.0), _bound(problem, fit, k, drop, penalty, 1.0)


def _bound(problem: Problem, fit: Fit, k: int, drop: float, penalty: Penalize | None, side: float) -> float:
    held = np.arange(len(fit.params)) == k
    # along the likelihood's ridge: how the other parameters move with k near the maximum
    params = fit.params + side * np.sqrt(2 * drop) * fit.cov[:, k] / np.sqrt(fit.cov[k, k])
    last = fit.params
    for _ in range(_MAX_STEPS):
        try:
            found = eliminate(problem, start=params, held=held, penalty=penalty)
        except (linalg.LinAlgError, ValueError):  # so far out that probabilities are 0 to rounding: halfway back
            params = (params + last) / 2
            continue
        gap = fit.objective - drop - found.objective
        if abs(gap) < _TOLERANCE * max(1.0, drop):
            break
        slope = float(found.gradient[k])
        if side * slope >= -1e-12:  # flat: no value is that unlikely
            return side * np.inf
        last, params = found.params, found.params.copy()
        # no further than twice as far from the estimate: far out the profile is nearly straight
        away = abs(last[k] - fit.params[k])
        params[k] += np.clip(gap / slope, -away, away)
    return float(params[k])
