"""The maximum of the likelihood of patterns, by Newton's method from one start or several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..core.columns import FloatArray
from ..kernel.independent_pairs import IndependentPairs
from ..kernel.list_fit import ListFit
from ..resampling import step_made
from .pattern_likelihood import PatternLikelihood

BoolArray = npt.NDArray[np.bool_]

_MAX_ITERATIONS = 100
_DECREMENT = 1e-9
_DAMPED = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)  # of the information of complete answers, added to that of what was seen
_SLOPES = (0.0, 1.0, -1.0, 3.0, -3.0)  # β from which it is looked for, as multiples of the worths
_ALONE = 2.0  # and one β alone, up or down, the others 0, where that takes no time
_MOST_ALONE = 20


def fit_patterns_of(likelihood: PatternLikelihood, start: FloatArray, held: BoolArray | None = None) -> ListFit:
    """Maximize the likelihood of patterns by Newton's method; steps that lose are halved.

    Parameters that are `held` stay where they start.

    With missing answers the likelihood need not be concave: where it is not, information of complete answers is added
    until it is.

    Raises
    ------
    LinAlgError
        Where the information is singular.
    """
    params = start
    moving = np.arange(len(start)) if held is None else np.flatnonzero(~held)
    square = np.ix_(moving, moving)
    found = likelihood.moments(params)
    for n_iter in range(_MAX_ITERATIONS):
        step_made()
        value, gradient, information, possible = found
        step = np.zeros(len(start))
        step[moving] = _step(gradient[moving], information[square], possible[square])
        decrement = float(gradient @ step) / 2
        for _ in range(40):
            found = likelihood.moments(params + step)
            if np.isfinite(found[0]) and found[0] >= value - 1e-12 * abs(value):
                break
            step = step / 2
        params = params + step
        if decrement < _DECREMENT:
            return ListFit(params, found[2], found[1], found[0], True, n_iter + 1)
    return ListFit(params, found[2], found[1], found[0], False, _MAX_ITERATIONS)


def fit_with_missing(likelihood: PatternLikelihood, start: FloatArray) -> ListFit:
    """Maximize the likelihood of patterns and of which of their answers are missing.

    Where that depends on the answers the likelihood may have several maxima: it is looked for from the estimates
    without it and several β, and the highest is taken.

    Raises
    ------
    LinAlgError
        Where the information is singular.
    """
    missingness = likelihood.missingness
    assert missingness is not None
    plain = replace(likelihood, missingness=missingness.without_slopes())
    level = np.linalg.lstsq(missingness.level, np.full(len(missingness.level), missingness.usual), rcond=None)[0]
    found = fit_patterns_of(plain, np.append(start, level))
    if not missingness.slope.shape[1]:
        return found
    slopes = _slopes(likelihood, missingness.slope, likelihood.weights(0, found.params).eta)
    tried = (fit_patterns_of(likelihood, np.append(found.params, beta)) for beta in slopes)
    return max(tried, key=lambda fit: fit.log_likelihood)


def _slopes(likelihood: PatternLikelihood, slope: FloatArray, worths: FloatArray) -> FloatArray:
    """Return the β to start from, one in each row, given η of each pair (P,)."""
    size = slope.shape[1]
    found = np.outer(_SLOPES, np.linalg.lstsq(slope, worths, rcond=None)[0])
    if not isinstance(likelihood.space, IndependentPairs) or size > _MOST_ALONE:
        return found
    return np.concatenate([found, _ALONE * np.eye(size), -_ALONE * np.eye(size)])


def _step(gradient: FloatArray, information: FloatArray, possible: FloatArray) -> FloatArray:
    for damping in _DAMPED:
        try:
            return np.asarray(linalg.solve(information + damping * possible, gradient, assume_a="pos"))
        except linalg.LinAlgError:
            continue
    return np.asarray(linalg.solve(possible, gradient, assume_a="pos"))
