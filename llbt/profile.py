"""Profile likelihood intervals: arrays in, bounds out."""

from __future__ import annotations

import numpy as np

from .solvers import Fit, Problem, eliminate

_TOLERANCE = 1e-10
_MAX_STEPS = 50


def profile_bounds(problem: Problem, fit: Fit, k: int, drop: float, bias_reduction: bool) -> tuple[float, float]:
    """Return where the profile of parameter k has fallen by `drop` below its maximum, on either side.

    Newton's method on the profile, whose derivative is the score of parameter k at the constrained maximum; infinite
    where the profile never falls that far.
    """
    return _bound(problem, fit, k, drop, bias_reduction, -1.0), _bound(problem, fit, k, drop, bias_reduction, 1.0)


def _bound(problem: Problem, fit: Fit, k: int, drop: float, bias_reduction: bool, side: float) -> float:
    held = np.arange(len(fit.params)) == k
    # along the likelihood's ridge: how the other parameters move with k near the maximum
    direction = fit.cov[:, k] / np.sqrt(fit.cov[k, k])
    params = fit.params + side * np.sqrt(2 * drop) * direction
    for _ in range(_MAX_STEPS):
        found = eliminate(problem, start=params, held=held, bias_reduction=bias_reduction)
        gap = fit.objective - drop - found.objective
        if abs(gap) < _TOLERANCE * max(1.0, drop):
            return float(found.params[k])
        slope = float(found.gradient[k])
        if side * slope >= -1e-12:  # flat: no value is that unlikely
            return side * np.inf
        params = found.params.copy()
        params[k] += gap / slope
    return float(found.params[k])
