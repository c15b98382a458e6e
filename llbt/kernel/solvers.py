"""Newton's method with the nuisance parameters eliminated: a problem in, a `Fit` out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.sparse import issparse

from ..base.budgets import refuse_parameters
from ..core.links import Cumulative
from ..resampling import step_made
from .cuts import ordered_start
from .indexed_rows import FloatArray, IntArray
from .judgeblocks import JudgeBlocks
from .likelihood import Inverse, Likelihood, Problem, probabilities, rows_of, sparse_gram, table_of
from .newton import SLOW, UNSEEN, InParameters, Search, Step, moving, newton
from .objectgraph import GraphInformation, object_graph
from .penalties import Penalize
from .solver_choice import Steps

BoolArray = npt.NDArray[np.bool_]
Solver = Literal["glm", "eliminate", "eliminate, glm"]
Ends = Callable[[FloatArray, FloatArray], bool]

_MAX_ITERATIONS = 100
_EARLY = 7  # most maxima are reached within so many steps
_LESS = 100.0  # the question whether to stop is asked again when the decrement is so many times smaller
_FIRST_STEPS = 4  # the first steps, taken without the columns that cost most
_BLOCK = 1 << 16  # comparisons whose fitted counts are computed at a time
_ALIASED = 1e-10  # a column is aliased if earlier columns leave a smaller share of its squared length unexplained
_ROUNDED = 1e-12  # a column whose square is a smaller share of the largest may be 0 up to rounding


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a solver.

    Attributes
    ----------
    params : ndarray, shape (p,)
        Maximum likelihood estimates.
    inverse : Inverse or ndarray, shape (p, p)
        The inverse of the Fisher information.
    means : ndarray, shape (S, K)
        Fitted counts.
    converged : bool
    n_iter : int
        The number of steps: of elimination, or of statsmodels' GLM from its own start.
    gradient : ndarray, shape (p,)
        The score at the estimates, including the penalty's.
    objective : float
        The maximized objective: Σ y log p, plus the penalty.
    solver : str
        ``"glm"``, ``"eliminate"``, or ``"eliminate, glm"``; the last means elimination, checked by statsmodels' GLM.
    explicit : statsmodels' GLMResults, optional
        The fit of the explicit GLM, if there is one.
    """

    params: FloatArray
    inverse: Inverse | FloatArray
    means: FloatArray
    converged: bool
    n_iter: int
    gradient: FloatArray
    objective: float
    solver: Solver
    explicit: Any = None

    @property
    def cov(self) -> FloatArray:
        """Inverse Fisher information, shape (p, p); computed at the first access."""
        return self.inverse.matrix if isinstance(self.inverse, Inverse) else self.inverse


def independent_columns(problem: Problem) -> BoolArray:
    """Return which parameters are not aliased with earlier ones, by R's rule, shape (p,).

    A parameter is aliased when its column lies in the span of the nuisance columns and of the columns
    before it. The information at equal probabilities and unit totals has the rank of that design.
    """
    size, outcomes = problem.counts.shape
    table = table_of(problem, np.ones(size))
    moments = None if table is None else table.moments(np.zeros(problem.signed.shape[1]))
    if moments is not None:
        return independent_in_gram(_without_rounding(problem, moments[2]))
    return independent_with(problem, problem.response.weight(np.full((outcomes, size), 1 / outcomes), np.ones(size)))


def independent_with(problem: Problem, weights: FloatArray) -> BoolArray:
    """Return which columns are independent of earlier ones, with predictors weighted by (B, B, S), shape (p,)."""
    graph = object_graph(problem.predictors)
    if graph is None:
        gram = sparse_gram(problem, weights)
        if not issparse(gram):
            return independent_in_gram(_without_rounding(problem, gram))
        if _independent_in_blocks(gram):
            return np.ones(gram.shape[0], dtype=np.bool_)
        refuse_parameters(gram.shape[0])
        return independent_in_gram(gram.toarray())
    information = graph.information(weights)
    length = np.sqrt(np.maximum(np.diag(information.system.corner), np.finfo(float).tiny))
    return np.concatenate(
        [
            information.independent_worths(),
            _independent_by_cholesky(information.beside_worths() / np.outer(length, length)),
        ]
    )


def _without_rounding(problem: Problem, gram: FloatArray) -> FloatArray:
    """Return a Gram matrix with exact zeros for columns that are 0, such as a covariate that is equal on both sides.

    Sums of squares of the two sides differ by rounding, so a diagonal entry may be below 0 and have no root.
    """
    squares = np.diag(gram)
    tiny = np.flatnonzero(squares < _ROUNDED * squares.max(initial=0.0))
    zero = [k for k in tiny.tolist() if not any(np.any(rows @ _unit(k, len(gram))) for rows in problem.predictors)]
    if not zero:
        return gram
    gram = gram.copy()
    gram[zero], gram[:, zero] = 0.0, 0.0
    return gram


def _unit(k: int, size: int) -> FloatArray:
    unit = np.zeros(size)
    unit[k] = 1.0
    return unit


def all_independent_with(problem: Problem, weights: FloatArray) -> bool:
    """Whether `independent_with` holds for all columns; with blocks this needs no dense matrix."""
    gram = sparse_gram(problem, weights) if object_graph(problem.predictors) is None else None
    blocks = _independent_in_blocks(gram) if issparse(gram) else None
    return bool(independent_with(problem, weights).all()) if blocks is None else blocks


def _independent_in_blocks(gram: Any) -> bool | None:
    """Whether all columns of a sparse Gram matrix are independent; None where it has no blocks."""
    blocks = JudgeBlocks.of(gram)
    return None if blocks is None else blocks.all_independent(_ALIASED)


def independent_in_gram(gram: FloatArray) -> BoolArray:
    """Return which columns are independent of earlier ones, given their Gram matrix (p, p)."""
    length = np.sqrt(np.diag(gram))
    present = length > 0
    scaled = gram[np.ix_(present, present)] / np.outer(length[present], length[present])
    independent = present.copy()
    independent[present] = _independent_by_cholesky(scaled)
    return independent


def _independent_by_cholesky(gram: FloatArray) -> BoolArray:
    """Factor a Gram matrix of unit vectors by columns, without the columns that earlier ones explain."""
    size = len(gram)
    try:
        if np.all(np.diag(linalg.cholesky(gram, lower=True)) ** 2 > _ALIASED):
            return np.ones(size, dtype=np.bool_)
    except linalg.LinAlgError:
        pass
    independent: list[int] = []
    lower = np.zeros((size, size))
    for k in range(size):
        rest = gram[k:, k] - lower[k:, : len(independent)] @ lower[k, : len(independent)]
        if rest[0] > _ALIASED:
            lower[k:, len(independent)] = rest / np.sqrt(rest[0])
            independent.append(k)
    return np.isin(np.arange(size), independent)


def eliminate(
    problem: Problem,
    *,
    start: FloatArray | None = None,
    held: BoolArray | None = None,
    penalty: Penalize | None = None,
) -> Fit:
    """Fit the parameters of interest by Fisher scoring, with the nuisance parameters profiled out.

    It uses Newton's method (`newton`) with Fisher's steps.

    Parameters
    ----------
    problem : Problem
    start : ndarray, shape (p,), optional
        Where to start; by default near the maximum without own columns, or at 0 if there are no own columns.
    held : ndarray of bool, shape (p,), optional
        Parameters that stay at their start, for profile likelihoods.
    penalty : function, optional
        The penalty of the log-likelihood, from `penalties`; it changes neither counts nor fitted counts.
    """
    likelihood = Likelihood.of(problem)
    if start is None:
        start = _start(likelihood) if held is None and penalty is None else _nowhere(problem)
    reached = _climbed(likelihood, start, penalty=penalty, held=held, most=_MAX_ITERATIONS)
    if reached.failure is not None:
        raise reached.failure
    return Maximum(reached).fit(problem)


@dataclass(frozen=True, eq=False)
class Maximum:
    """The point where scoring stops.

    Attributes
    ----------
    search : Search
        The search, with Newton's last step.
    """

    search: Search[_Point]

    @property
    def params(self) -> FloatArray:
        """Parameters, shape (p,)."""
        return self.search.point.params

    @property
    def information(self) -> Any:
        """The information at the point: dense, sparse or of a graph, shape (p, p)."""
        return self.search.point.information

    @property
    def converged(self) -> bool:
        """Whether the point is a maximum; it may also be on the way to infinity."""
        return self.search.converged

    @property
    def decrement(self) -> float:
        """The squared length of Newton's last step, by the information where the step begins."""
        return 0.0 if self.search.step is None else self.search.step.decrement

    @cached_property
    def inverse(self) -> Inverse:
        """The inverse of the information."""
        return Inverse(self.information)

    def fit(self, problem: Problem) -> Fit:
        """Return the result of `eliminate` for a problem with this likelihood; its comparisons may differ."""
        return Fit(
            params=self.params,
            inverse=self.inverse,
            means=_means(problem, self.params),
            converged=self.converged,
            n_iter=self.search.n_iter,
            gradient=self.search.point.gradient,
            objective=self.search.point.value,
            solver="eliminate",
        )


def maximum(problem: Problem, ends: Ends | None = None) -> Maximum | None:
    """Return the point where scoring stops, without the other results of a fit; None if scoring cannot begin.

    `ends` takes the parameters and the step, and returns whether to stop. It is called whenever the decrement
    has become 100 times smaller.
    """
    likelihood = Likelihood.of(problem)
    try:
        start, asked = _start(likelihood), None if ends is None else _asked(ends)
        return Maximum(_climbed(likelihood, start, most=_MAX_ITERATIONS, ends=asked))
    except linalg.LinAlgError:
        return None


def _asked(ends: Ends) -> Callable[[_Point, Step, int], bool]:
    """Return a function that asks `ends` whether to stop, whenever the decrement has become 100 times smaller."""
    mark = 1.0

    def asked(point: _Point, step: Step, n_iter: int) -> bool:
        nonlocal mark
        if n_iter < _EARLY or step.decrement >= mark:
            return False
        mark = step.decrement / _LESS
        return ends(point.params, step.values)

    return asked


def _climbed(
    likelihood: Likelihood,
    start: FloatArray,
    *,
    penalty: Penalize | None = None,
    held: BoolArray | None = None,
    most: int,
    ends: Callable[[_Point, Step, int], bool] | None = None,
) -> Search[_Point]:
    """Return where Newton's method ends, after at most `most` steps."""
    point = _evaluate(likelihood, penalty, start.copy())
    if not np.isfinite(point.value):
        raise linalg.LinAlgError("an observed outcome has probability 0 where the search starts")
    free = moving(len(start), held)
    if not len(free):
        return Search(point, "maximum", 0)
    steps = Steps()

    def solve(at: _Point, free: IntArray) -> FloatArray:
        step_made()
        return steps.solve(_of_moving(at.curvature, free), at.gradient[free])

    ascent = InParameters(lambda params: _evaluate(likelihood, penalty, params), solve, free, likelihood.reach)
    return newton(ascent, point, exact=UNSEEN if penalty is None else SLOW, most=most, ends=ends)


def _of_moving(curvature: Any, free: IntArray) -> Any:
    """Return the curvature in the parameters that are not held."""
    if len(free) == curvature.shape[0]:
        return curvature
    whole = curvature.toarray() if isinstance(curvature, GraphInformation) else curvature
    return whole[np.ix_(free, free)]


def _nowhere(problem: Problem) -> FloatArray:
    """Return parameters to start from without information, shape (p,): 0 or, with a cumulative link, cuts in order."""
    if isinstance(problem.response, Cumulative):
        return ordered_start(problem, problem.response)
    return np.zeros(problem.signed.shape[1])


def _start(likelihood: Likelihood) -> FloatArray:
    """Return where to start, shape (p,): a few steps towards the maximum without the columns that cost most."""
    problem = likelihood.problem
    start = _nowhere(problem)
    rest = np.setdiff1d(np.arange(len(start)), problem.signed.chosen)
    if likelihood.table is None or len(rest) == len(start) or not len(rest):
        return start
    few = replace(problem, predictors=tuple(rows.columns(rest) for rows in problem.predictors))
    reached = _climbed(Likelihood.of(few), start[rest], most=_FIRST_STEPS)
    if reached.failure is not None:
        raise reached.failure
    start[rest] = reached.point.params
    return start


@dataclass(frozen=True, eq=False)
class _Point:
    """The values that an iteration needs at a point."""

    params: FloatArray
    information: Any  # dense, sparse or of a graph
    curvature: Any  # approximately minus the derivative of the gradient
    gradient: FloatArray
    value: float


def _evaluate(likelihood: Likelihood, penalty: Penalize | None, params: FloatArray) -> _Point:
    value, gradient, matrix = likelihood.moments(params)
    if penalty is None:
        return _Point(params, matrix, matrix, gradient, value)
    more = penalty(params)
    curvature = matrix + more.curvature
    information = curvature if more.informs else matrix
    return _Point(params, information, curvature, gradient + more.gradient, value + more.value)


def _means(problem: Problem, params: FloatArray) -> FloatArray:
    """Return the fitted counts, shape (S, K)."""
    means, totals = np.empty(problem.counts.shape), problem.totals
    for start in range(0, len(means), _BLOCK):
        rows = slice(start, start + _BLOCK)
        np.multiply(totals[rows, None], probabilities(rows_of(problem, rows), params), out=means[rows])
    return means
