"""Problem in, `Fit` out: Fisher scoring with the nuisance eliminated, in the notation of `likelihood`."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.sparse import issparse
from scipy.sparse.linalg import splu
from threadpoolctl import ThreadpoolController

from ..core.response import THREE, TWO
from .gathered import FloatArray, IntArray
from .likelihood import Problem, distances, information, probabilities, row_sums, rows_of, score, sparse_gram
from .pairtable import PairTable, pair_table
from .runtable import RunTable, run_table

BoolArray = npt.NDArray[np.bool_]
Solver = Literal["glm", "eliminate"]

_MAX_ITERATIONS = 100
_DECREMENT = 1e-18  # squared distance to the maximum, in standard errors: the step taken at this point ends the search
_REST = 1e-19  # where not even this step is worth its cost
_LONGEST_STEP = 3.0
_FIRST_STEPS = 4  # taken without the columns that cost most
_THREADED = 1500  # parameters from which several threads are worth their cost
_BLOCK = 1 << 16  # comparisons whose fitted counts are made at a time
_ALIASED = 1e-10  # share of a column's squared length that earlier columns leave unexplained


@dataclass(frozen=True, eq=False)
class Fit:
    """What a solver found.

    Attributes
    ----------
    params : ndarray, shape (p,)
        Maximum likelihood estimates.
    cov : ndarray, shape (p, p)
        Inverse Fisher information.
    means : ndarray, shape (S, K)
        Fitted counts.
    converged : bool
    n_iter : int
    gradient : ndarray, shape (p,)
        The score at the estimates; the modified score where bias is reduced.
    objective : float
        What was maximized: Σ y log p, plus ½ log|information| where bias is reduced.
    solver : str
        ``"glm"`` or ``"eliminate"``.
    """

    params: FloatArray
    cov: FloatArray
    means: FloatArray
    converged: bool
    n_iter: int
    gradient: FloatArray
    objective: float
    solver: Solver


def independent_columns(problem: Problem) -> BoolArray:
    """Return which parameters are not aliased with earlier ones, as R decides it, shape (p,).

    A parameter is aliased when its column lies in the span of the nuisance columns and of the columns
    before it. The information at equal probabilities and unit totals has the rank of that design.
    """
    size, outcomes = problem.counts.shape
    table = _table(problem, np.ones(size))
    found = None if table is None else table.moments(np.zeros(problem.signed.shape[1]))
    gram = information(problem, np.full((size, outcomes), 1 / outcomes), np.ones(size)) if found is None else found[2]
    return independent_in_gram(gram)


def independent_in_gram(gram: FloatArray) -> BoolArray:
    """Return which columns are independent of those before them, given their Gram matrix (p, p)."""
    length = np.sqrt(np.diag(gram))
    present = length > 0
    scaled = gram[np.ix_(present, present)] / np.outer(length[present], length[present])
    kept = present.copy()
    kept[present] = _kept_by_cholesky(scaled)
    return kept


def _kept_by_cholesky(gram: FloatArray) -> BoolArray:
    """Cholesky by columns of a Gram matrix of unit vectors, leaving out those that earlier ones explain."""
    size = len(gram)
    try:
        if np.all(np.diag(linalg.cholesky(gram, lower=True)) ** 2 > _ALIASED):
            return np.ones(size, dtype=np.bool_)
    except linalg.LinAlgError:
        pass
    kept: list[int] = []
    lower = np.zeros((size, size))
    for k in range(size):
        rest = gram[k:, k] - lower[k:, : len(kept)] @ lower[k, : len(kept)]
        if rest[0] > _ALIASED:
            lower[k:, len(kept)] = rest / np.sqrt(rest[0])
            kept.append(k)
    return np.isin(np.arange(size), kept)


def eliminate(
    problem: Problem,
    *,
    start: FloatArray | None = None,
    held: BoolArray | None = None,
    bias_reduction: bool = False,
) -> Fit:
    """Fit by Fisher scoring on the parameters of interest, the nuisance parameters profiled out.

    Each step is halved until the objective does not fall; the last one starts from a point whose decrement says
    that the maximum is 1e-9 standard errors away.

    Parameters
    ----------
    problem : Problem
    start : ndarray, shape (p,), optional
        Where to start; by default near the maximum without columns of their own, at 0 where there are none.
    held : ndarray of bool, shape (p,), optional
        Parameters to leave where they start, for profile likelihoods.
    bias_reduction : bool
        Maximize Σ y log p + ½ log|information| (Firth 1993, Biometrika 80(1)): its gradient is the score of the
        counts y + ½ m (z − z̄)ᵀ V (z − z̄), with m the fitted counts.
    """
    p = problem.signed.shape[1]
    moving = np.arange(p) if held is None else np.flatnonzero(~held)
    observed = _observed(problem, bias_reduction)
    if start is None:
        start = _without_own(problem, observed) if held is None else np.zeros(p)
    point, converged, n_iter = _climbed(problem, observed, start, moving, _MAX_ITERATIONS)
    return Fit(
        params=point.params,
        cov=_inverse(point.information),
        means=_means(problem, observed.totals, point.params),
        converged=converged,
        n_iter=n_iter,
        gradient=point.gradient,
        objective=point.objective,
        solver="eliminate",
    )


@dataclass(frozen=True, eq=False)
class Maximum:
    """Parameters (p,) that scoring stops at, and the number of steps that it took."""

    params: FloatArray
    n_iter: int


def maximum(problem: Problem) -> Maximum | None:
    """Return the maximum, without all else that a fit has; None where scoring does not stop."""
    observed = _observed(problem, bias_reduction=False)
    start = _without_own(problem, observed)
    try:
        point, converged, n_iter = _climbed(problem, observed, start, np.arange(len(start)), _MAX_ITERATIONS)
    except linalg.LinAlgError:
        return None
    return Maximum(point.params, n_iter) if converged else None


def _climbed(
    problem: Problem, observed: _Observed, start: FloatArray, moving: IntArray, most: int
) -> tuple[_Point, bool, int]:
    """Return the point that at most so many steps reach, whether it is the maximum, and the number of steps."""
    point = _evaluate(problem, observed, start.copy())
    if not len(moving):
        return point, True, 0
    for n_iter in range(most):
        step = np.zeros(len(start))
        curvature = point.curvature if len(moving) == len(start) else point.curvature[np.ix_(moving, moving)]
        step[moving] = _solved(curvature, point.gradient[moving])
        decrement = float(point.gradient @ step)
        if decrement < _REST:
            return point, True, n_iter
        point = _line_search(problem, observed, point, _shortened(problem, observed, step))
        if decrement < _DECREMENT:
            return point, True, n_iter + 1
    return point, False, most


def _without_own(problem: Problem, observed: _Observed) -> FloatArray:
    """Return where to start: a few steps up the model without the columns that cost most, shape (p,)."""
    start = np.zeros(problem.signed.shape[1])
    rest = np.setdiff1d(np.arange(len(start)), problem.signed.chosen)
    if observed.table is None or len(rest) == len(start) or not len(rest):
        return start
    few = replace(problem, predictors=tuple(rows.columns(rest) for rows in problem.predictors))
    point, _, _ = _climbed(few, _observed(few, bias_reduction=False), start[rest], np.arange(len(rest)), _FIRST_STEPS)
    start[rest] = point.params
    return start


@dataclass(frozen=True, eq=False)
class _Point:
    """Everything that an iteration needs to know at some parameters."""

    params: FloatArray
    information: Any  # dense or sparse
    curvature: Any  # about minus the derivative of the gradient
    gradient: FloatArray
    objective: float


@dataclass(frozen=True, eq=False)
class _Observed:
    """What does not depend on the parameters."""

    totals: FloatArray  # (S,)
    statistics: FloatArray  # (p,), sufficient ones
    offset: float  # what offsets add to the log-likelihood
    table: PairTable | RunTable | None  # what stands for the comparisons, if anything does
    bias_reduction: bool


def _observed(problem: Problem, bias_reduction: bool) -> _Observed:
    sums = problem.response.sums(problem.counts.T)
    totals = problem.totals
    table = None if bias_reduction or problem.offsets.any() else _table(problem, totals)
    return _Observed(totals, row_sums(problem, sums), float(np.sum(sums * problem.offsets)), table, bias_reduction)


def _table(problem: Problem, totals: FloatArray) -> PairTable | RunTable | None:
    """Return what is faster than going through comparisons: for two outcomes, and for three."""
    if problem.response not in (TWO, THREE):
        return None
    return (run_table if len(problem.signed.chosen) else pair_table)(problem.predictors, totals)


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a table says, ready for its score at many parameters."""

    problem: Problem
    observed: _Observed

    @classmethod
    def of(cls, problem: Problem) -> Expectation:
        """Return the sufficient statistics of a table, and the table of its pairs where it has one."""
        return cls(problem, _observed(problem, bias_reduction=False))

    def score(self, params: FloatArray) -> FloatArray:
        """Return the gradient of the log-likelihood, shape (p,)."""
        table = self.observed.table
        found = None if table is None else table.expected(params)
        if found is None:
            response = self.problem.response
            mean = response.sums(response.probabilities(self.problem.at(params))[0])
            found = row_sums(self.problem, self.observed.totals * mean)
        return self.observed.statistics - found


def _evaluate(problem: Problem, observed: _Observed, params: FloatArray) -> _Point:
    found = None if observed.table is None else observed.table.moments(params)
    if found is not None:
        norm, gradient, matrix = found
        value = float(observed.statistics @ params) - norm
        return _Point(params, matrix, matrix, observed.statistics - gradient, value)
    n = observed.totals
    norms, mean, weight = problem.response.moments(problem.at(params), n)
    value = float(observed.statistics @ params) + observed.offset - float(n @ norms)
    matrix = sparse_gram(problem, weight)
    point = _Point(params, matrix, matrix, observed.statistics - row_sums(problem, n * mean), value)
    return _penalized(problem, point) if observed.bias_reduction else point


def _penalized(problem: Problem, point: _Point) -> _Point:
    """Return a point with Firth's penalty."""
    found = probabilities(problem, point.params)
    whole = point.information.toarray() if issparse(point.information) else point.information
    value = point.objective + np.linalg.slogdet(whole)[1] / 2
    extra = problem.totals[:, None] * found * distances(problem, found, _inverse(whole)) / 2
    counts = replace(problem, counts=problem.counts + extra)
    curvature = information(problem, found, counts.totals)
    return _Point(point.params, whole, curvature, score(counts, found), value)


def _means(problem: Problem, totals: FloatArray, params: FloatArray) -> FloatArray:
    """Return the fitted counts, shape (S, C)."""
    means = np.empty(problem.counts.shape)
    for start in range(0, len(means), _BLOCK):
        rows = slice(start, start + _BLOCK)
        np.multiply(totals[rows, None], probabilities(rows_of(problem, rows), params), out=means[rows])
    return means


def _shortened(problem: Problem, observed: _Observed, step: FloatArray) -> FloatArray:
    """Return a step that moves no predictor further than a few units, lest probabilities become 0 to rounding."""
    if observed.table is None:
        moved = max(np.abs(rows @ step).max() for rows in problem.predictors)
    else:
        moved = observed.table.reach(step)
    return np.asarray(step * min(1.0, _LONGEST_STEP / max(moved, np.finfo(float).tiny)))


def _line_search(problem: Problem, observed: _Observed, point: _Point, step: FloatArray) -> _Point:
    """Halve the step until the objective does not fall by more than rounding."""
    slack = 1e-12 * abs(point.objective)
    for _ in range(30):
        reached = _evaluate(problem, observed, point.params + step)
        if reached.objective >= point.objective - slack:
            break
        step = step / 2
    return reached


def _solved(matrix: Any, right: FloatArray) -> FloatArray:
    """Solve with a positive definite matrix, scaled to unit diagonal first where it is dense."""
    if issparse(matrix):
        try:
            factor = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        except RuntimeError as error:  # exactly singular
            raise linalg.LinAlgError(str(error)) from None
        return np.asarray(factor.solve(right))
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    scaled = matrix * scale
    scaled *= scale[:, None]
    # the transpose of a symmetric matrix is laid out as LAPACK wants it, so that nothing is copied
    factor, minor = linalg.lapack.dpotrf(scaled.T, lower=True, clean=False, overwrite_a=True)
    if minor:
        raise linalg.LinAlgError(f"the leading minor of order {minor} is not positive definite")
    return np.asarray(scale * linalg.lapack.dpotrs(factor, scale * right, lower=True)[0])


def _inverse(matrix: Any) -> FloatArray:
    matrix = matrix.toarray() if issparse(matrix) else matrix
    if not len(matrix):
        return np.asarray(matrix)
    scale = 1 / np.sqrt(np.diag(matrix))
    factor = linalg.cholesky(matrix * np.outer(scale, scale), lower=True, overwrite_a=True)
    inverse, _ = linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    diagonal = np.diag(inverse).copy()
    inverse += inverse.T  # its upper triangle was 0
    np.fill_diagonal(inverse, diagonal)
    return np.asarray(inverse * np.outer(scale, scale))


@contextlib.contextmanager
def few_threads(size: int) -> Iterator[None]:
    """Let linear algebra of matrices of that size use one thread: small ones cost more to share than to do.

    The number of threads belongs to the process, so fits in several threads set it once and restore it once.
    """
    if size >= _THREADED:
        yield
        return
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


class _Limit:
    """One thread for linear algebra while anybody asks for it, and what was before when the last has left."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if not self._users:
                self._limiter = _threads().limit(limits=1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limiter.restore_original_limits()


_LIMIT = _Limit()


@functools.cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()
