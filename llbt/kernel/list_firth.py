"""Firth's bias reduction for lists: maximize the likelihood times the root of the information's determinant.

All models of lists are exponential families in their parameters, so the penalty is Jeffreys' prior (Firth 1993,
Biometrika 80(1)). The information of a list depends on its own log-worths alone. So the slope of the penalty is
computed by differences of fourth order: the first object of every list is moved, then the second, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..base.budgets import refuse_large
from .list_fit import FURTHEST, ListFit, ListPoint, moved, newton_step
from .list_likelihood import Lists
from .newton import SLOW, Step, newton
from .ranking_terms import Batch, Evaluated

FloatArray = npt.NDArray[np.float64]

_MAX_ITERATIONS = 200
_APART = 1e-3  # distance of the four points of a difference
_POINTS = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))


def fit_reduced(lists: Lists) -> ListFit:
    """Maximize the penalized likelihood of lists by Newton's method, with the information of the likelihood alone.

    Raises
    ------
    Unbounded
        Where a parameter has no information.
    """
    rows = lists.matrix.shape[0]
    refuse_large(f"the covariance of {rows:,} worths", float(rows) ** 2, "Pass prior= a number instead.")
    ascent = _Reduced(lists)
    start = ascent.at(np.zeros(lists.size))
    return ListFit.of(newton(ascent, start, exact=SLOW, longest=FURTHEST, most=_MAX_ITERATIONS))


@dataclass(frozen=True, eq=False)
class _Reduced:
    """The penalized likelihood of lists. Its slope is computed only where a step is taken."""

    lists: Lists

    def at(self, params: FloatArray) -> ListPoint:
        """Return the penalized likelihood at some parameters."""
        plain = ListPoint.of(self.lists, params)
        sign, value = np.linalg.slogdet(plain.information)
        return replace(plain, value=plain.value + value / 2 if sign > 0 else -np.inf)

    def step(self, point: ListPoint) -> Step:
        """Return Newton's step."""
        gradient = point.gradient + _slope(self.lists, point)
        values = newton_step(point.information, point.params, gradient)
        return Step(values, float(gradient @ values), moved(self.lists, values))

    def moved(self, point: ListPoint, step: FloatArray) -> ListPoint:
        """Return the point that a step leads to."""
        return self.at(point.params + step)


@dataclass(frozen=True, eq=False)
class _Spread:
    """The inverse information: of the rows' worths (U, U), of worths and log δ (U, T), and of log δ (T, T)."""

    worths: FloatArray
    between: FloatArray
    of_ties: FloatArray

    def trace(self, batch: Batch, contributions: Evaluated) -> FloatArray:
        """Return the trace of the inverse information times the information of each list, shape (Q,)."""
        rows = batch.rows
        own = (self.worths[rows[:, :, None], rows[:, None, :]] * contributions.information).sum(axis=(1, 2))
        across = 2 * (self.between[rows] * contributions.between).sum(axis=(1, 2))
        return np.asarray(own + across + (self.of_ties * contributions.of_ties).sum(axis=(1, 2)))


def _slope(lists: Lists, point: ListPoint) -> FloatArray:
    """Return the derivative of half the log determinant of the information, (p + T,)."""
    p, rows = lists.matrix.shape[1], lists.matrix.shape[0]
    worths, deltas = lists.split(point.params)
    n_orders = len(point.params) - p
    inverse = linalg.inv(point.information)
    between, of_ties = np.zeros((rows, len(deltas))), np.zeros((len(deltas), len(deltas)))
    between[:, :n_orders], of_ties[:n_orders, :n_orders] = lists.matrix @ inverse[:p, p:], inverse[p:, p:]
    spread = _Spread(np.asarray(lists.matrix @ (lists.matrix @ inverse[:p, :p]).T), between, of_ties)
    by_row, by_tie = np.zeros(rows), np.zeros(n_orders)
    for batch in lists.parts():
        n, own = lists.counts[batch.of], worths[batch.rows]
        for place in range(own.shape[1]):
            by_row += np.bincount(batch.rows[:, place], n * _moved_object(spread, batch, own, deltas, place), rows)
        for t in range(n_orders):
            by_tie[t] += float(n @ _moved_tie(spread, batch, own, deltas, t))
    return np.append(lists.matrix.T @ by_row, by_tie) / 2


def _moved_object(spread: _Spread, batch: Batch, own: FloatArray, deltas: FloatArray, place: int) -> FloatArray:
    """Return the slope of each list's trace in the log-worth of one of its objects."""
    at = np.zeros(own.shape[1])
    at[place] = _APART
    points = (weight * spread.trace(batch, batch.evaluated(own + k * at, deltas)) for k, weight in _POINTS)
    return np.asarray(sum(points)) / _APART


def _moved_tie(spread: _Spread, batch: Batch, own: FloatArray, deltas: FloatArray, t: int) -> FloatArray:
    """Return the slope of each list's trace in one log δ."""
    at = np.zeros(len(deltas))
    at[t] = _APART
    points = (weight * spread.trace(batch, batch.evaluated(own, deltas + k * at)) for k, weight in _POINTS)
    return np.asarray(sum(points)) / _APART
