"""The maximum of the likelihood of patterns, by Newton's method from one start or several."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..core.columns import FloatArray, IntArray
from ..kernel.independent_pairs import IndependentPairs
from ..kernel.list_fit import ListFit
from ..kernel.newton import InParameters, moving, newton
from ..resampling import step_made
from .pattern_likelihood import PatternLikelihood

BoolArray = npt.NDArray[np.bool_]

_MAX_ITERATIONS = 100
_DECREMENT = 2e-9
# share of the complete answers' information that is added to the information of the seen answers
_DAMPED = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)
_SLOPES = (0.0, 1.0, -1.0, 3.0, -3.0)  # starts of β, as multiples of the worths
_ALONE = 2.0  # a start with a single β other than 0, up or down, if this is fast
_MOST_ALONE = 20


def fit_patterns_of(likelihood: PatternLikelihood, start: FloatArray, held: BoolArray | None = None) -> ListFit:
    """Maximize the likelihood of patterns by Newton's method; steps that do not gain are halved.

    Parameters that are `held` stay where they start.

    With missing answers the likelihood need not be concave. Where it is not concave, information of complete answers is
    added until the sum is positive definite.

    Raises
    ------
    LinAlgError
        Where the information is singular.
    """
    ascent = InParameters(lambda params: _Point(params, *likelihood.moments(params)), _step, moving(len(start), held))
    search = newton(ascent, ascent.evaluate(start), enough=_DECREMENT, most=_MAX_ITERATIONS)
    if search.failure is not None:
        raise search.failure
    at = search.point
    return ListFit(at.params, at.information, at.gradient, at.value, search.converged, search.n_iter)


@dataclass(frozen=True, eq=False)
class _Point:
    """Parameters (p,), the likelihood with its derivatives, and the information of complete answers (p, p)."""

    params: FloatArray
    value: float
    gradient: FloatArray
    information: FloatArray
    possible: FloatArray


def fit_with_missing(likelihood: PatternLikelihood, start: FloatArray) -> ListFit:
    """Maximize the likelihood of patterns and of their missing answers.

    If missingness depends on the answers, the likelihood may have several maxima. The search starts from the estimates
    without this dependence and from several β, and the highest maximum is taken.

    Raises
    ------
    LinAlgError
        Where the information is singular.
    """
    missingness = likelihood.missingness
    assert missingness is not None
    plain = replace(likelihood, missingness=missingness.without_slopes())
    level = np.linalg.lstsq(missingness.level, np.full(len(missingness.level), missingness.usual), rcond=None)[0]
    maximum = fit_patterns_of(plain, np.append(start, level))
    if not missingness.slope.shape[1]:
        return maximum
    slopes = _slopes(likelihood, missingness.slope, likelihood.weights(0, maximum.params).eta)
    tried = (fit_patterns_of(likelihood, np.append(maximum.params, beta)) for beta in slopes)
    return max(tried, key=lambda fit: fit.log_likelihood)


def _slopes(likelihood: PatternLikelihood, slope: FloatArray, worths: FloatArray) -> FloatArray:
    """Return starting values of β, one set in each row, given η of each pair (P,)."""
    size = slope.shape[1]
    starts = np.outer(_SLOPES, np.linalg.lstsq(slope, worths, rcond=None)[0])
    if not isinstance(likelihood.space, IndependentPairs) or size > _MOST_ALONE:
        return starts
    return np.concatenate([starts, _ALONE * np.eye(size), -_ALONE * np.eye(size)])


def _step(point: _Point, free: IntArray) -> FloatArray:
    """Return Newton's step in the parameters that are not held."""
    step_made()
    square = np.ix_(free, free)
    information, possible, gradient = point.information[square], point.possible[square], point.gradient[free]
    for damping in _DAMPED:
        try:
            factor = linalg.cho_factor(information + damping * possible)
        except linalg.LinAlgError:
            continue
        return np.asarray(linalg.cho_solve(factor, gradient))
    return np.asarray(linalg.cho_solve(linalg.cho_factor(possible), gradient))
