"""Newton's method for any function that is maximized: bounded steps, halving, and when a search has ended.

Each likelihood gives its own step at a point (dense, sparse or along a graph), how far it moves a predictor, and the
point that it leads to. All else is here, once.
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

ENOUGH = 1e-18  # squared distance to the maximum, in standard errors: the step taken at this point ends the search
_REST = 1e-19  # the same where not even this step is worth its cost
UNSEEN = 1e-16  # of a log-likelihood: what a step adds to it is lost in rounding
SLOW = 1e-19  # the share where the curvature is not exact, so that steps do not shrink quadratically
_SLACK = 1e-12  # of a log-likelihood, by which rounding may let it fall
_LEAST = 1e-4  # of what the slope promises, that a step has to gain
_LONGEST = 3.0  # log-odds that a step moves any predictor: probabilities of 0 are not left any more
_STEPS = 100
_HALVINGS = 30

Ended = Literal["maximum", "singular", "no ascent", "stopped", "steps"]


class Valued(Protocol):
    """A point with the value of the objective."""

    @property
    def value(self) -> float:
        """What is maximized."""


class Evaluated(Valued, Protocol):
    """A point of p parameters."""

    @property
    def params(self) -> FloatArray:
        """Shape (p,)."""

    @property
    def gradient(self) -> FloatArray:
        """Shape (p,)."""


P = TypeVar("P", bound=Valued)
E = TypeVar("E", bound=Evaluated)


@dataclass(frozen=True, eq=False)
class Step:
    """Newton's step at a point.

    Attributes
    ----------
    values : ndarray, shape (p,)
    decrement : float
        Its product with the gradient: the square of its length, in standard errors.
    reach : float
        How far it moves a predictor; 0 where steps of any length are taken.
    """

    values: FloatArray
    decrement: float
    reach: float = 0.0

    def share(self, longest: float) -> float:
        """Return which part of it moves no predictor further than so."""
        return min(1.0, longest / max(self.reach, np.finfo(float).tiny))


class Ascent(Protocol[P]):
    """An objective to maximize, from point to point."""

    def step(self, point: P) -> Step:
        """Return Newton's step; raise LinAlgError where there is none."""

    def moved(self, point: P, step: FloatArray) -> P:
        """Return the point that a step leads to."""


@dataclass(frozen=True, eq=False)
class InParameters(Generic[E]):
    """An ascent in p parameters, of which some may be held.

    Attributes
    ----------
    evaluate : callable
        Parameters (p,) → the point there.
    solve : callable
        A point, and which parameters move → Newton's step in these.
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
    """Return which of so many parameters are not held."""
    return np.arange(size) if held is None else np.flatnonzero(~held)


@dataclass(frozen=True, eq=False)
class Search(Generic[P]):
    """Where Newton's method ended.

    Attributes
    ----------
    point : point
    ended : {"maximum", "singular", "no ascent", "stopped", "steps"}
        Why: the maximum was found; there was no step; none of its parts led upwards; the caller wanted no more; there
        were as many steps as are made at most.
    n_iter : int
        The number of steps that were taken.
    step : Step or None
        The last one, whether it was taken or not.
    failure : LinAlgError or None
        Why there was none.
    """

    point: P
    ended: Ended
    n_iter: int
    step: Step | None = None
    failure: linalg.LinAlgError | None = None

    @property
    def converged(self) -> bool:
        """Whether the point is the maximum, unless the likelihood rises without end."""
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
    """Return where Newton's method ends.

    Each step is bounded, then halved until it is accepted; where none of its parts is, the search ends at the point
    before. The step at a point whose decrement is small, beside the log-likelihood or as such, is the last.

    Parameters
    ----------
    ascent : Ascent
    start : point
    enough : float
        The decrement at which the step is the last.
    rest : float
        The decrement at which not even that step is taken.
    exact : float
        The decrement, as a share of the log-likelihood, at which the step is the last; `SLOW` where the curvature is
        not exact.
    short : float
        The reach that the last step is below: on the way to infinity decrements vanish and steps do not.
    longest : float
        How far a step moves a predictor at most.
    most : int
        Steps at most.
    halvings : int
        Parts of a step that are tried at most.
    accepts : callable
        The points before and after, the step, the part of it that was taken → whether that is accepted.
    ends : callable, optional
        The point, the step there, the number of steps taken → whether to stop.
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
    """Return the point that the largest part of a step leads to that is accepted; None where none is."""
    share = step.share(longest)
    for _ in range(halvings):
        reached = ascent.moved(point, share * step.values)
        if accepts(point, reached, step, share):
            return reached
        share /= 2
    return None


class Ending(Protocol):
    """How the search for a maximum ended."""

    @property
    def converged(self) -> bool:
        """Whether it was found."""

    @property
    def n_iter(self) -> int:
        """Steps."""

    @property
    def gradient(self) -> FloatArray:
        """The score where the search ended, shape (p,)."""


def check_convergence(found: Ending, method: str = "Newton's method") -> None:
    """Warn where a search ended before the maximum."""
    if not found.converged:
        warn_user(
            f"{method} stopped after {counted(found.n_iter, 'step')} with a gradient of norm "
            f"{np.linalg.norm(found.gradient):.2g}; the estimates may be off.",
            ConvergenceWarning,
        )
