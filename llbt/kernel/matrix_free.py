"""Fits of very many objects: Newton's method with steps by conjugate gradients or along a band.

In a model of plain log-worths the signed predictor is λᵢ − λⱼ plus a few columns: order, and covariates of the sides.
The log-worths have mean 0, and their information is the Laplacian of a graph (`conjugate`). So time and memory grow
with the comparisons, not with J². Far from the maximum, steps are solved roughly (inexact Newton methods: Dembo,
Eisenstat & Steihaug 1982, SIAM Journal on Numerical Analysis 19(2), 400-408).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..resampling import step_made
from .band import Band, Branches
from .conjugate import Bordered, Complement, Graph
from .indexed_rows import FloatArray, Gathered, IntArray
from .likelihood import Problem, row_sums, sparse_gram
from .newton import Step, newton
from .solver_choice import band_within, branches_of
from .solvers import independent_in_gram

_COST = 4.0  # a comparison costs as much as so many numbers evaluated elsewhere
_MOST_STEPS = 60
_DECREMENT = 1e-18  # the search ends at this squared distance to the maximum for each parameter, in standard errors
_ROUGH, _FINE, _TIGHT = 1e-2, 1e-6, 1e-9  # relative errors of solutions
_ITERATIONS = 50  # a factor along a band may cost as much as so many iterations of conjugate gradients for a step
_ALIASED = 1e-8  # a column is aliased if the others leave a smaller share of its information


@dataclass(frozen=True, eq=False)
class WorthProblem:
    """Log-worths of J objects, and q other parameters.

    Attributes
    ----------
    graph : Graph
        The distinct pairs.
    edge : ndarray of int, shape (S,)
        The pair of each comparison, whichever object comes first.
    pairs : ndarray of int, shape (S, 2)
    beside : Problem
        The predictors' parts from the q other parameters, with the counts (S, K); these include the counts of a prior.
    way : Band or Branches, optional
        The order in which steps are solved if the graph is narrow or has few cycles.
    """

    graph: Graph
    edge: IntArray
    pairs: IntArray
    beside: Problem
    way: Band | Branches | None = None

    @classmethod
    def of(cls, pairs: IntArray, size: int, beside: Problem) -> WorthProblem:
        """Return the problem of comparisons (S, 2) of `size` objects."""
        low, high = np.minimum(*pairs.T), np.maximum(*pairs.T)
        known, edge = np.unique(low * size + high, return_inverse=True)
        graph = Graph.of(known // size, known % size, size)
        return cls(graph, edge, pairs, beside, band_within(graph, _ITERATIONS) or branches_of(graph))

    def at(self, params: FloatArray) -> list[FloatArray]:
        """Return the predictors at log-worths and other parameters (J + q,), B arrays (S,)."""
        size = self.graph.size
        worths = params[:size]
        predictors = self.beside.at(params[size:])
        predictors[0] = predictors[0] + worths[self.pairs[:, 0]]
        predictors[0] -= worths[self.pairs[:, 1]]
        return predictors


@dataclass(frozen=True, eq=False)
class Summit:
    """The maximum of a likelihood.

    Attributes
    ----------
    worths : ndarray, shape (J,)
        Log-worths with mean 0.
    others : ndarray, shape (q,)
    information : Complement
    gradient : ndarray, shape (J + q,)
    objective : float
        Σ y log p, including the counts of a prior.
    n_iter : int
    converged : bool
    """

    worths: FloatArray
    others: FloatArray
    information: Complement
    gradient: FloatArray
    objective: float
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class _Point:
    params: FloatArray
    value: float
    gradient: FloatArray
    weights: FloatArray  # weights of the predictors, (B, B, S)


def climbed(problem: WorthProblem, start: FloatArray | None = None) -> Summit:
    """Return the maximum of the likelihood, or the end of the search, which begins at `start` (J + q,) or at 0."""
    size, q = problem.graph.size, problem.beside.signed.shape[1]
    ascent = _Rough(problem, np.zeros((size, q)))
    first = _evaluated(problem, np.zeros(size + q) if start is None else start)
    search = newton(ascent, first, enough=_DECREMENT * (size + q), rest=0.0, exact=0.0, most=_MOST_STEPS)
    if search.failure is not None:
        raise search.failure
    point = search.point
    system = Complement.of(information(problem, point.weights), start=ascent.along, tolerance=_TIGHT)
    return Summit(
        point.params[:size], point.params[size:], system, point.gradient, point.value, search.n_iter, search.converged
    )


@dataclass(eq=False)
class _Rough:
    """The likelihood and its Newton steps, which are solved more exactly near the maximum.

    Attributes
    ----------
    problem : WorthProblem
    along : ndarray, shape (J, q)
        Slopes of the log-worths in the other parameters at the last step; the next solution starts from these.
    """

    problem: WorthProblem
    along: FloatArray
    largest: float = 0.0
    last: float = np.inf

    def step(self, point: _Point) -> Step:
        """Return Newton's step."""
        step_made(_COST * len(self.problem.pairs))
        known = self.largest > 0
        rough = float(np.clip(np.sqrt(self.last / self.largest) / 10, _FINE, _ROUGH)) if known else _ROUGH
        system = Complement.of(information(self.problem, point.weights), start=self.along, tolerance=rough)
        values = system.solve(point.gradient, tolerance=rough).values
        decrement = float(point.gradient @ values)
        self.along, self.last, self.largest = system.inner, decrement, max(self.largest, decrement)
        return Step(values, decrement, self._reach(values))

    def moved(self, point: _Point, step: FloatArray) -> _Point:
        """Return the point that a step leads to."""
        return _evaluated(self.problem, point.params + step)

    def _reach(self, step: FloatArray) -> float:
        """Return how far a step moves the two worths of a pair apart; the two ends of a long graph may move further."""
        worths, (i, j) = step[: self.problem.graph.size], self.problem.pairs.T
        apart = float(np.abs(worths[i] - worths[j]).max(initial=0.0))
        return max(apart, float(np.abs(step[self.problem.graph.size :]).max(initial=0.0)))


def probabilities_at(problem: WorthProblem, params: FloatArray) -> FloatArray:
    """Return the probabilities of the outcomes of the comparisons, shape (S, K)."""
    return problem.beside.response.probabilities(problem.at(params))[0].T


def undetermined(problem: WorthProblem) -> IntArray:
    """Return which of the q other parameters the table does not determine, given log-worths and earlier parameters."""
    q = problem.beside.signed.shape[1]
    if not q:
        return np.empty(0, dtype=np.int64)
    size, outcomes = problem.beside.counts.shape
    even = np.full((outcomes, size), 1 / outcomes)
    system = information(problem, problem.beside.response.weight(even, np.ones(size)))
    left = Complement.of(system, tolerance=_TIGHT).schur
    present = np.flatnonzero(np.diag(left) > _ALIASED * np.diag(system.corner))
    return np.setdiff1d(np.arange(q), present[independent_in_gram(left[np.ix_(present, present)])])


def _evaluated(problem: WorthProblem, params: FloatArray) -> _Point:
    counts = problem.beside.counts.T
    value, scores, weights = problem.beside.response.contributions(problem.at(params), counts)
    size = problem.graph.size
    i, j = problem.pairs.T
    worths = np.bincount(i, scores[0], size) - np.bincount(j, scores[0], size)
    gradient = np.concatenate([worths, row_sums(problem.beside, scores)])
    return _Point(params, float(value.sum()), gradient, weights)


def information(problem: WorthProblem, weights: FloatArray) -> Bordered:
    """Return the information for weights (B, B, S) of the predictors."""
    graph, beside = problem.graph, problem.beside
    q = beside.signed.shape[1]
    border = np.zeros((graph.size, q))
    i, j = problem.pairs.T
    for rows, weight in zip(beside.predictors, weights[0], strict=True):
        border += _by_object(rows, weight, i, graph.size) - _by_object(rows, weight, j, graph.size)
    of_pairs = np.asarray(np.bincount(problem.edge, weights[0, 0], len(graph.first)), dtype=np.float64)
    corner = np.asarray(sparse_gram(beside, weights), dtype=np.float64) if q else np.zeros((0, 0))
    return Bordered(graph, of_pairs, border, corner, way=problem.way)


def _by_object(rows: Gathered, weight: FloatArray, objects: IntArray, size: int) -> FloatArray:
    return rows.summed(weight, np.arange(len(objects)), objects, size)
