"""Newton's method to maximize any function: bounded steps, halving, and rules for when a search has ended.

Each likelihood gives its own step at a point (dense, sparse or along a graph), how far the step moves a predictor, and
the point that it leads to. Everything else is in this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..base.table import counted
from ..errors import ConvergenceWarning, warn_user

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

ENOUGH = 1e-18  # the search ends with the step at this squared distance to the maximum, in standard errors
_REST = 1e-19  # the search ends without a step at this squared distance
UNSEEN = 1e-16  # a gain below this share of a log-likelihood is lost in rounding
SLOW = 1e-19  # the same share if the curvature is not exact, so that steps do not shrink quadratically
_SLACK = 1e-12  # rounding may lower a log-likelihood by this share
_LEAST = 1e-4  # a step has to gain at least this share of what the slope promises
_LONGEST = 3.0  # the most log-odds that a step moves a predictor; steps do not come back from probabilities of 0
_STEPS = 100
_HALVINGS = 30

Ended = Literal["maximum", "singular", "no ascent", "stopped", "steps"]


class Valued(Protocol):
    """A point with the value of the objective function."""

    @property
    def value(self) -> float:
        """The value that is maximized."""


class Evaluated(Valued, Protocol):
    """A point of p parameters, with the gradient."""

    @property
    def params(self) -> FloatArray:
        """The parameters, shape (p,)."""

    @property
    def gradient(self) -> FloatArray:
        """The gradient, shape (p,)."""


P = TypeVar("P", bound=Valued)
E = TypeVar("E", bound=Evaluated)


@dataclass(frozen=True, eq=False)
class Step:
    """Newton's step at a point.

    Attributes
    ----------
    values : ndarray, shape (p,)
    decrement : float
        The step's product with the gradient: its squared length, in standard errors.
    reach : float
        How far the step moves a predictor; 0 if steps of any length are allowed.
    """

    values: FloatArray
    decrement: float
    reach: float = 0.0

    def share(self, longest: float) -> float:
        """Return the share of the step, at most 1, that moves no predictor further than `longest`."""
        return min(1.0, longest / max(self.reach, np.finfo(float).tiny))


class Ascent(Protocol[P]):
    """An objective function to maximize, with its steps from point to point."""

    def step(self, point: P) -> Step:
        """Return Newton's step; raise LinAlgError where there is none."""

    def moved(self, point: P, step: FloatArray) -> P:
        """Return the point that a step leads to."""


@dataclass(frozen=True, eq=False)
class InParameters(Generic[E]):
    """An objective function of p parameters, some of which may be held.

    Attributes
    ----------
    evaluate : callable
        Parameters (p,) → the point there.
    solve : callable
        A point, and the parameters that move → Newton's step in these parameters.
    moving : ndarray of int
        The parameters that are not held.
    reach : callable
        A step (p,) → how far it moves a predictor.
    """

    evaluate: Callable[[FloatArray], E]
    solve: Callable[[E, IntArray], FloatArray]
    moving: IntArray
    reach: Callable[[FloatArray], float] = lambda step: 0.0

    def step(self, point: E) -> Step:
        """Return Newton's step; 0 in the parameters that are held."""
        values = np.zeros(len(point.params))
        values[self.moving] = self.solve(point, self.moving)
        return Step(values, float(point.gradient @ values), self.reach(values))

    def moved(self, point: E, step: FloatArray) -> E:
        """Return the point that a step leads to."""
        return self.evaluate(point.params + step)


def moving(size: int, held: BoolArray | None) -> IntArray:
    """Return which of `size` parameters are not held."""
    return np.arange(size) if held is None else np.flatnonzero(~held)


@dataclass(frozen=True, eq=False)
class Search(Generic[P]):
    """The end of a search by Newton's method.

    Attributes
    ----------
    point : point
    ended : {"maximum", "singular", "no ascent", "stopped", "steps"}
        Why it ended: the maximum was found; there was no step; no part of the step increased the value; the caller
        stopped it; the maximum number of steps was reached.
    n_iter : int
        The number of steps that were taken.
    step : Step or None
        The last step, whether it was taken or not.
    failure : LinAlgError or None
        Why there was no step.
    """

    point: P
    ended: Ended
    n_iter: int
    step: Step | None = None
    failure: linalg.LinAlgError | None = None

    @property
    def converged(self) -> bool:
        """Whether the point is a maximum; it may also be on the way to infinity."""
        return self.ended == "maximum"


def rises(before: P, after: P, step: Step, share: float) -> bool:
    """Whether a part of a step gains enough of the predicted gain, up to rounding."""
    least = _LEAST * share * min(step.decrement, 1.0) - _SLACK * abs(before.value)
    return bool(np.isfinite(after.value) and after.value >= before.value + least)


def newton(
    ascent: Ascent[P],
    start: P,
    *,
    enough: float = ENOUGH,
    rest: float = _REST,
    exact: float = UNSEEN,
    short: float = np.inf,
    longest: float = _LONGEST,
    most: int = _STEPS,
    halvings: int = _HALVINGS,
    accepts: Callable[[P, P, Step, float], bool] = rises,
    ends: Callable[[P, Step, int], bool] | None = None,
) -> Search[P]:
    """Maximize by Newton's method, and return where the search ended.

    Each step is bounded, then halved until it is accepted. If no part is accepted, the search ends at the point before
    the step. A step is the last if its decrement is small, either absolutely or relative to the log-likelihood.

    Parameters
    ----------
    ascent : Ascent
    start : point
    enough : float
        The decrement at which a step is the last.
    rest : float
        The decrement at which the search ends without a step.
    exact : float
        The decrement, as a share of the log-likelihood, at which a step is the last; `SLOW` if the curvature is not
        exact.
    short : float
        The last step has to reach less than this. On the way to infinity decrements vanish, but steps do not.
    longest : float
        The most that a step moves a predictor.
    most : int
        The maximum number of steps.
    halvings : int
        The maximum number of halvings of a step.
    accepts : callable
        The points before and after, the step, and the part of it that was taken → whether the part is accepted.
    ends : callable, optional
        The point, the step at the point, and the number of steps taken → whether to stop.
    """
    point, step = start, None
    for n_iter in range(most):
        try:
            step = ascent.step(point)
        except linalg.LinAlgError as failure:
            return Search(point, "singular", n_iter, step, failure)
        near = step.reach < short
        if near and step.decrement < rest:
            return Search(point, "maximum", n_iter, step)
        if ends is not None and ends(point, step, n_iter):
            return Search(point, "stopped", n_iter, step)
        last = near and step.decrement < max(enough, exact * abs(point.value))
        reached = _part(ascent, point, step, longest, halvings, accepts)
        if reached is None:
            return Search(point, "maximum" if last else "no ascent", n_iter, step)
        point = reached
        if last:
            return Search(point, "maximum", n_iter + 1, step)
    return Search(point, "steps", most, step)


def _part(
    ascent: Ascent[P],
    point: P,
    step: Step,
    longest: float,
    halvings: int,
    accepts: Callable[[P, P, Step, float], bool],
) -> P | None:
    """Return the point after the largest part of a step that is accepted; None if no part is."""
    share = step.share(longest)
    for _ in range(halvings):
        reached = ascent.moved(point, share * step.values)
        if accepts(point, reached, step, share):
            return reached
        share /= 2
    return None


class Ending(Protocol):
    """The result of a search for a maximum."""

    @property
    def converged(self) -> bool:
        """Whether the maximum was found."""

    @property
    def n_iter(self) -> int:
        """The number of steps."""

    @property
    def gradient(self) -> FloatArray:
        """The score where the search ended, shape (p,)."""


def check_convergence(search: Ending, method: str = "Newton's method") -> None:
    """Warn where a search ended before the maximum."""
    if not search.converged:
        warn_user(
            f"{method} stopped after {counted(search.n_iter, 'step')} with a gradient of norm "
            f"{np.linalg.norm(search.gradient):.2g}; the estimates may be off.",
            ConvergenceWarning,
        )
