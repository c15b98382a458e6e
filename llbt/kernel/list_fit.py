"""The maximum of the likelihood of lists by Newton's method, or the direction along which there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..resampling import step_made
from .list_likelihood import Lists, Moments

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_COST = 40.0  # numbers evaluated elsewhere that a list costs as much as
_MAX_ITERATIONS = 100
_FURTHEST = 1.0  # that a step moves a log-worth from the mean of all; farther off, quadratic steps go astray
_SHORT = 1e-4  # a step near a maximum
_FLAT = 1e-13  # a decrement with which longer steps than that end nowhere
_DECREMENT = 1e-9  # half the squared length of a step, in its own information, after which the next is rounding


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


class Unbounded(ArithmeticError):
    """The likelihood of lists has no maximum: it rises along a direction of the parameters (p + T,), without end."""

    def __init__(self, direction: FloatArray) -> None:
        super().__init__("the likelihood of the lists has no maximum")
        self.direction = direction


def fit_lists(lists: Lists, start: FloatArray | None = None, held: BoolArray | None = None) -> ListFit:
    """Maximize the likelihood of lists by Newton's method from equal worths, or `start`, with steps of bounded length.

    Parameters that are `held` (p + T,) stay where they start.

    Near a maximum steps become short as fast as their decrements. Where these vanish and steps do not, the likelihood
    rises towards infinity.

    Raises
    ------
    Unbounded
        Where there is no maximum.
    """
    params = np.zeros(lists.size) if start is None else start
    moving = np.arange(lists.size) if held is None else np.flatnonzero(~held)
    found = lists.moments(params)
    for n_iter in range(_MAX_ITERATIONS):
        step_made(_COST * len(lists.counts))
        step = np.zeros(lists.size)
        step[moving] = newton_step(found.of(moving), params[moving], found.gradient[moving])
        step = bounded(lists, step)
        decrement = float(found.gradient @ step) / 2
        if decrement < _FLAT and moved(lists, step) > _SHORT:
            raise Unbounded(step / np.abs(step).max())
        params, found = _searched(lists, params, found, step)
        if decrement < _DECREMENT and moved(lists, step) < _SHORT:
            return _ended(params, found, True, n_iter + 1)
    return _ended(params, found, False, _MAX_ITERATIONS)


def newton_step(found: Moments, params: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return Newton's step; raise where the information is singular: steps have gone that way since they began."""
    scale = 1 / np.sqrt(np.maximum(np.diag(found.information), np.finfo(float).tiny))
    scaled = found.information * np.outer(scale, scale)
    try:
        return np.asarray(scale * linalg.cho_solve(linalg.cho_factor(scaled, lower=True), scale * gradient))
    except linalg.LinAlgError:
        direction = scale * linalg.eigh(scaled, subset_by_index=[0, 0])[1][:, 0]
        raise Unbounded(np.copysign(1.0, params @ direction) * direction / np.abs(direction).max()) from None


def moved(lists: Lists, step: FloatArray) -> float:
    """Return how far a step moves a log-worth from the mean of all, or a log δ."""
    p = lists.matrix.shape[1]
    worths = lists.matrix @ step[:p]
    return float(np.abs(np.append(worths - worths.mean(), step[p:])).max())


def bounded(lists: Lists, step: FloatArray) -> FloatArray:
    """Return a step, or the part of it that moves no log-worth or log δ too far."""
    return step * min(1.0, _FURTHEST / max(moved(lists, step), np.finfo(float).tiny))


def _searched(lists: Lists, params: FloatArray, found: Moments, step: FloatArray) -> tuple[FloatArray, Moments]:
    """Return the point that a step reaches, or half of it, and so on: the likelihood does not fall but by rounding."""
    room = 1e-12 * abs(found.value)
    for _ in range(40):
        after = lists.moments(params + step)
        if np.isfinite(after.value) and after.value >= found.value - room:
            break
        step = step / 2
    return params + step, after


def _ended(params: FloatArray, found: Moments, converged: bool, n_iter: int) -> ListFit:
    return ListFit(params, found.information, found.gradient, found.value, converged, n_iter)
