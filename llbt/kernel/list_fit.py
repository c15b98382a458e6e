"""The maximum of the likelihood of lists by Newton's method, or a direction along which it rises without end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..resampling import step_made
from .list_likelihood import Lists
from .newton import InParameters, Search, Step, moving, newton

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_COST = 40.0  # a list costs as much as so many numbers evaluated elsewhere
FURTHEST = 1.0  # the most that a step moves a log-worth from the mean of all; longer quadratic steps go astray
_MAX_ITERATIONS = 100
_SHORT = 1e-4  # a step shorter than this is near a maximum
_FLAT = 2e-13  # a longer step with a smaller decrement leads nowhere
_DECREMENT = 2e-9  # at this decrement a step is the last: the next would be rounding


@dataclass(frozen=True, eq=False)
class ListPoint:
    """The likelihood of rankings, with a penalty, and its derivatives at parameters (p + T,).

    Attributes
    ----------
    params : ndarray, shape (p + T,)
    information, gradient, log_likelihood
        The information, the gradient and the log-likelihood of the lists alone.
    value : float
        The log-likelihood plus the penalty.
    """

    params: FloatArray
    information: FloatArray
    gradient: FloatArray
    log_likelihood: float
    value: float

    @classmethod
    def of(cls, lists: Lists, params: FloatArray) -> ListPoint:
        """Return the point with the unpenalized likelihood."""
        moments = lists.moments(params)
        return cls(params, moments.information, moments.gradient, moments.value, moments.value)


@dataclass(frozen=True, eq=False)
class ListFit:
    """The maximum of the likelihood of lists.

    Attributes
    ----------
    params : ndarray, shape (p + T,)
    information : ndarray, shape (p + T, p + T)
    gradient : ndarray, shape (p + T,)
    log_likelihood : float
    converged : bool
    n_iter : int
    """

    params: FloatArray
    information: FloatArray
    gradient: FloatArray
    log_likelihood: float
    converged: bool
    n_iter: int

    @classmethod
    def of(cls, search: Search[ListPoint]) -> ListFit:
        """Return the result of Newton's method."""
        point = search.point
        return cls(
            point.params, point.information, point.gradient, point.log_likelihood, search.converged, search.n_iter
        )


class Unbounded(ArithmeticError):
    """The likelihood of lists has no maximum: it rises without end along a direction of the parameters (p + T,)."""

    def __init__(self, direction: FloatArray) -> None:
        super().__init__("the likelihood of the lists has no maximum")
        self.direction = direction


def fit_lists(lists: Lists, start: FloatArray | None = None, held: BoolArray | None = None) -> ListFit:
    """Maximize the likelihood of lists by Newton's method from equal worths, or `start`, with steps of bounded length.

    Parameters that are `held` (p + T,) stay where they start.

    Near a maximum, steps and their decrements become small together. If decrements vanish and steps do not, the
    likelihood rises towards infinity.

    Raises
    ------
    Unbounded
        Where there is no maximum.
    """
    ascent = InParameters(
        lambda params: ListPoint.of(lists, params),
        lambda point, free: _solved(lists, point, free),
        moving(lists.size, held),
        lambda step: moved(lists, step),
    )
    search = newton(
        ascent,
        ascent.evaluate(np.zeros(lists.size) if start is None else start),
        enough=_DECREMENT,
        short=_SHORT,
        longest=FURTHEST,
        most=_MAX_ITERATIONS,
        ends=_is_flat,
    )
    if search.ended == "stopped" and search.step is not None:
        raise Unbounded(search.step.values / np.abs(search.step.values).max())
    return ListFit.of(search)


def _is_flat(point: ListPoint, step: Step, n_iter: int) -> bool:
    """Whether a step is long and gains almost nothing, so that the likelihood rises towards infinity."""
    share = step.share(FURTHEST)
    return share * step.decrement < _FLAT and share * step.reach > _SHORT


def _solved(lists: Lists, point: ListPoint, free: IntArray) -> FloatArray:
    step_made(_COST * len(lists.counts))
    some = len(free) < len(point.params)
    information = point.information[np.ix_(free, free)] if some else point.information
    return newton_step(information, point.params[free], point.gradient[free])


def newton_step(information: FloatArray, params: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return Newton's step; raise `Unbounded` where the information is singular, because steps went to infinity."""
    scale = 1 / np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
    scaled = information * np.outer(scale, scale)
    try:
        return np.asarray(scale * linalg.cho_solve(linalg.cho_factor(scaled, lower=True), scale * gradient))
    except linalg.LinAlgError:
        direction = scale * linalg.eigh(scaled, subset_by_index=[0, 0])[1][:, 0]
        raise Unbounded(np.copysign(1.0, params @ direction) * direction / np.abs(direction).max()) from None


def moved(lists: Lists, step: FloatArray) -> float:
    """Return the most that a step moves a log-worth (relative to the mean of all) or a log δ."""
    p = lists.matrix.shape[1]
    worths = lists.matrix @ step[:p]
    return float(np.abs(np.append(worths - worths.mean(), step[p:])).max())
