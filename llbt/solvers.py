"""Arrays in, `Fit` out: the explicit Poisson GLM, and Fisher scoring with the nuisance eliminated.

Notation: S comparisons, C cells per comparison (2, or 3 with ties, in the order i, tie, j), p parameters. The
log means of a comparison are μ + u, μ + w and μ − u with the signed predictor u and the tie predictor w; given
its total the counts are multinomial with probabilities ∝ exp(u), exp(w), exp(−u).
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import linalg
from scipy.sparse import issparse
from scipy.sparse.linalg import splu
from threadpoolctl import ThreadpoolController

from .errors import DesignError
from .gathered import Gathered, weighted_product

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Solver = Literal["glm", "eliminate"]

MAX_EXPLICIT_ENTRIES = 5e7
_MAX_ITERATIONS = 100
_DECREMENT = 1e-18  # squared distance to the maximum in standard errors: the step taken at this point ends it
_LONGEST_STEP = 3.0
_THREADED = 1500  # parameters from which several threads are worth their cost
_FAR = 300.0  # a predictor beyond which exponentials are shifted, lest they overflow
_ALIASED = 1e-10  # share of a column's squared length that earlier columns leave unexplained


@dataclass(frozen=True, eq=False)
class Problem:
    """What a solver needs: linear predictors and counts.

    Attributes
    ----------
    signed, tie : Gathered, shape (S, p)
        Rows of the signed and of the tie predictor.
    counts : ndarray, shape (S, C)
        Wins of i, (ties,) wins of j; every row has a positive total.
    signed_offset, tie_offset : ndarray, shape (S,)
        What parameters held at fixed values add to the predictors.
    """

    signed: Gathered
    tie: Gathered
    counts: FloatArray
    signed_offset: FloatArray
    tie_offset: FloatArray

    @property
    def totals(self) -> FloatArray:
        """Judgments per comparison, shape (S,)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def has_ties(self) -> bool:
        """Whether a comparison has three cells."""
        return bool(self.counts.shape[1] == 3)


@dataclass(frozen=True, eq=False)
class Fit:
    """What a solver found.

    Attributes
    ----------
    params : ndarray, shape (p,)
        Maximum likelihood estimates.
    cov : ndarray, shape (p, p)
        Inverse Fisher information.
    means : ndarray, shape (S, C)
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


def probabilities(problem: Problem, params: FloatArray) -> FloatArray:
    """Return the probability of each cell given the comparison's total, shape (S, C)."""
    u = problem.signed @ params + problem.signed_offset
    if problem.has_ties:
        predictor = np.column_stack([u, problem.tie @ params + problem.tie_offset, -u])
    else:
        predictor = np.column_stack([u, -u])
    predictor -= predictor.max(axis=1, keepdims=True)
    weights = np.exp(predictor)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def log_likelihood(problem: Problem, probability: FloatArray) -> float:
    """Return Σ y log p, the multinomial log-likelihood without its constant."""
    seen = problem.counts > 0
    return float(np.sum(problem.counts[seen] * np.log(np.maximum(probability[seen], np.finfo(float).tiny))))


def score(problem: Problem, probability: FloatArray) -> FloatArray:
    """Return the gradient of the log-likelihood, shape (p,)."""
    excess = problem.counts - problem.totals[:, None] * probability
    return _gradient(problem, excess[:, 0] - excess[:, -1], excess[:, 1])


def _gradient(problem: Problem, signed: FloatArray, tie: FloatArray) -> FloatArray:
    """Return the rows of both predictors times weights (S,), shape (p,); the second only counts with ties."""
    gradient = problem.signed.transposed(signed)
    return gradient + problem.tie.transposed(tie) if problem.has_ties else gradient


def information(problem: Problem, probability: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the Fisher information of the parameters, nuisance eliminated, shape (p, p)."""
    lead = probability[:, 0] - probability[:, -1]
    decided = probability[:, 0] + probability[:, -1]
    ties = probability[:, 1] if problem.has_ties else np.zeros_like(lead)
    return weighted_gram(problem, totals * (decided - lead**2), -totals * lead * ties, totals * ties * (1 - ties))


def weighted_gram(problem: Problem, signed: FloatArray, cross: FloatArray, tie: FloatArray) -> FloatArray:
    """Return DᵀW₁D + DᵀW₂T + TᵀW₂D + TᵀW₃T of the rows D and T of the two predictors, weights (S,), shape (p, p)."""
    found = _gram(problem, signed, cross, tie)
    return found if isinstance(found, np.ndarray) else np.asarray(found.toarray())


def _gram(problem: Problem, signed: FloatArray, cross: FloatArray, tie: FloatArray) -> Any:
    """Return what `weighted_gram` does, sparse where most of its entries are 0."""
    found = weighted_product(problem.signed, problem.signed, signed)
    if problem.has_ties:
        mixed = weighted_product(problem.signed, problem.tie, cross)
        found = found + mixed + mixed.T + weighted_product(problem.tie, problem.tie, tie)
    return found


def distances(problem: Problem, probability: FloatArray, cov: FloatArray) -> FloatArray:
    """Return (z − z̄)ᵀ V (z − z̄) of each cell, z̄ the fitted mean row of its comparison, shape (S, C)."""
    size, cells = problem.counts.shape
    lead = (probability[:, 0] - probability[:, -1])[:, None]
    found = np.empty((size, cells))
    block = max(1, int(2e6) // max(1, problem.signed.shape[1]))
    for start in range(0, size, block):  # blocks of rows bound the memory
        rows = slice(start, start + block)
        signed, tie = problem.signed.take(rows).toarray(), problem.tie.take(rows).toarray()
        center = lead[rows] * signed + (probability[rows, 1][:, None] * tie if problem.has_ties else 0.0)
        for k, row in enumerate([signed, tie, -signed] if problem.has_ties else [signed, -signed]):
            away = row - center
            found[rows, k] = np.einsum("sp,sp->s", away @ cov, away)
    return found


def independent_columns(problem: Problem) -> BoolArray:
    """Return which parameters are not aliased with earlier ones, as R decides it, shape (p,).

    A parameter is aliased when its column lies in the span of the nuisance columns and of the columns
    before it. The information at equal probabilities and unit totals has the rank of that design.
    """
    cells = problem.counts.shape[1]
    size = problem.signed.shape[0]
    gram = information(problem, np.full((size, cells), 1 / cells), np.ones(size))
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
        Where to start; by default at 0.
    held : ndarray of bool, shape (p,), optional
        Parameters to leave where they start, for profile likelihoods.
    bias_reduction : bool
        Maximize Σ y log p + ½ log|information| (Firth 1993, Biometrika 80(1)): its gradient is the score of the
        counts y + ½ m (z − z̄)ᵀ V (z − z̄), with m the fitted counts.
    """
    p = problem.signed.shape[1]
    moving = np.arange(p) if held is None else np.flatnonzero(~held)
    observed = _observed(problem)
    point = _evaluate(problem, observed, np.zeros(p) if start is None else start.copy(), bias_reduction)
    converged = len(moving) == 0
    n_iter = 0
    while not converged and n_iter < _MAX_ITERATIONS:
        step = np.zeros(p)
        curvature = point.curvature if held is None else point.curvature[np.ix_(moving, moving)]
        step[moving] = _solved(curvature, point.gradient[moving])
        converged = float(point.gradient @ step) < _DECREMENT
        point = _line_search(problem, observed, point, _shortened(problem, step), bias_reduction)
        n_iter += 1
    return Fit(
        params=point.params,
        cov=_inverse(point.information),
        means=np.column_stack([observed.totals * cell for cell in point.cells]),
        converged=converged,
        n_iter=n_iter,
        gradient=point.gradient,
        objective=point.objective,
        solver="eliminate",
    )


@dataclass(frozen=True, eq=False)
class _Point:
    """Everything that an iteration needs to know at some parameters."""

    params: FloatArray
    cells: list[FloatArray]  # the probability of each, C arrays (S,)
    information: Any  # dense or sparse
    curvature: Any  # about minus the derivative of the gradient
    gradient: FloatArray
    objective: float


@dataclass(frozen=True, eq=False)
class _Observed:
    """What the counts say, whatever the parameters: totals (S,), sufficient statistics (p,), the part of offsets."""

    totals: FloatArray
    statistics: FloatArray
    offset: float


def _observed(problem: Problem) -> _Observed:
    lead, ties = problem.counts[:, 0] - problem.counts[:, -1], problem.counts[:, 1]
    offset = float(lead @ problem.signed_offset) + (float(ties @ problem.tie_offset) if problem.has_ties else 0.0)
    return _Observed(problem.totals, _gradient(problem, lead, ties), offset)


def _evaluate(problem: Problem, observed: _Observed, params: FloatArray, bias_reduction: bool) -> _Point:
    cells, norm = _cells(problem, params)
    n, lead = observed.totals, cells[0] - cells[-1]
    ties = cells[1] if problem.has_ties else np.zeros_like(lead)
    value = float(observed.statistics @ params) + observed.offset - float(n @ norm)
    matrix = _gram(problem, n * (cells[0] + cells[-1] - lead**2), -n * lead * ties, n * ties * (1 - ties))
    gradient = observed.statistics - _gradient(problem, n * lead, n * ties)
    if not bias_reduction:
        return _Point(params, cells, matrix, matrix, gradient, value)
    found = np.column_stack(cells)
    whole = weighted_gram(problem, n * (cells[0] + cells[-1] - lead**2), -n * lead * ties, n * ties * (1 - ties))
    value += np.linalg.slogdet(whole)[1] / 2
    extra = n[:, None] * found * distances(problem, found, _inverse(whole)) / 2
    counts = replace(problem, counts=problem.counts + extra)
    return _Point(params, cells, whole, information(problem, found, counts.totals), score(counts, found), value)


def _cells(problem: Problem, params: FloatArray) -> tuple[list[FloatArray], FloatArray]:
    """Return the probability of each cell, C arrays (S,), and the log of what they are scaled by, (S,)."""
    u = problem.signed @ params + problem.signed_offset
    w = problem.tie @ params + problem.tie_offset if problem.has_ties else np.full(1, -np.inf)
    if max(np.abs(u).max(initial=0), w.max(initial=0)) < _FAR:  # as a rule: no exponential is near an overflow
        win, shift = np.exp(u), np.zeros(1)
        tie, loss = np.exp(w), 1 / win
    else:
        shift = np.maximum(np.abs(u), w)
        win, tie, loss = np.exp(u - shift), np.exp(w - shift), np.exp(-u - shift)
    total = win + loss + tie
    found = [win / total, tie / total, loss / total] if problem.has_ties else [win / total, loss / total]
    return found, np.log(total) + shift


def _shortened(problem: Problem, step: FloatArray) -> FloatArray:
    """Return a step that moves no predictor further than a few units, lest probabilities become 0 to rounding."""
    moved = max(np.abs(problem.signed @ step).max(), np.abs(problem.tie @ step).max())
    return np.asarray(step * min(1.0, _LONGEST_STEP / max(moved, np.finfo(float).tiny)))


def _line_search(
    problem: Problem, observed: _Observed, point: _Point, step: FloatArray, bias_reduction: bool
) -> _Point:
    """Halve the step until the objective does not fall by more than rounding."""
    slack = 1e-12 * abs(point.objective)
    for _ in range(30):
        reached = _evaluate(problem, observed, point.params + step, bias_reduction)
        if reached.objective >= point.objective - slack:
            break
        step = step / 2
    return reached


def pseudo_counts(pairs: npt.NDArray[np.int64], totals: FloatArray, cells: int, prior: float) -> FloatArray:
    """Return the counts that a prior adds, shape (S, C).

    Each pair (S, 2) is given `prior` judgments, spread over its comparisons as its own judgments are and equally over
    the cells: conjugate to the multinomial likelihood, and the same however finely the table is split.
    """
    _, pair = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    share = totals / np.bincount(pair.ravel(), weights=totals)[pair.ravel()]
    return np.repeat(prior * share[:, None] / cells, cells, axis=1)


def _solved(matrix: Any, right: FloatArray) -> FloatArray:
    """Solve with a positive definite matrix, scaled to unit diagonal first where it is dense."""
    if issparse(matrix):
        try:
            factor = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        except RuntimeError as error:  # exactly singular
            raise linalg.LinAlgError(str(error)) from None
        return np.asarray(factor.solve(right))
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    factor = linalg.cho_factor(matrix * np.outer(scale, scale), lower=True)
    return np.asarray(scale * linalg.cho_solve(factor, scale * right))


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
    """Let linear algebra of matrices of that size use one thread: small ones cost more to share than to do."""
    if size >= _THREADED:
        yield
        return
    with _threads().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def explicit_entries(problem: Problem) -> float:
    """Return the number of entries of the explicit model matrix: cells × (p + S)."""
    size, p = problem.signed.shape
    return float(problem.counts.size * (p + size))


def explicit_matrix(problem: Problem) -> FloatArray:
    """Return the explicit model matrix, shape (S·C, p + S): parameters, then one nuisance dummy per comparison."""
    size, p = problem.signed.shape
    cells = problem.counts.shape[1]
    matrix = np.zeros((size, cells, p + size))
    signed = problem.signed.toarray()
    matrix[:, 0, :p] = signed
    matrix[:, -1, :p] = -signed
    if problem.has_ties:
        matrix[:, 1, :p] = problem.tie.toarray()
    matrix[np.arange(size), :, p + np.arange(size)] = 1
    return matrix.reshape(size * cells, p + size)


def explicit_glm(problem: Problem, names: tuple[str, ...]) -> Any:
    """Return statsmodels' fitted `GLMResults` of the explicit Poisson model.

    Raises
    ------
    DesignError
        Where the explicit matrix would have more than 5·10⁷ entries.
    """
    entries = explicit_entries(problem)
    if entries > MAX_EXPLICIT_ENTRIES:
        raise DesignError(
            f"the explicit GLM needs a matrix of {problem.counts.size:,} cells × {sum(problem.signed.shape):,} columns "
            f"({entries * 8 / 2**30:.1f} GiB), more than {MAX_EXPLICIT_ENTRIES:.0e} entries. Use method='eliminate', "
            "which gives the same estimates, standard errors and deviance."
        )
    from statsmodels.genmod.families import Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    size = len(problem.counts)
    columns = [*names, *(f"mu[{s}]" for s in range(size))]
    zero = np.zeros(size)
    middle = [problem.tie_offset] if problem.has_ties else []
    offset = np.column_stack([problem.signed_offset + zero, *middle, -problem.signed_offset]).ravel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters of them is in the record: convergence, saturation
        model = GLM(
            pd.Series(problem.counts.ravel(), name="count"),
            pd.DataFrame(explicit_matrix(problem), columns=columns),
            family=Poisson(),
            offset=offset,
        )
        return model.fit(maxiter=_MAX_ITERATIONS, tol=1e-10, tol_criterion="params")


def glm(problem: Problem, names: tuple[str, ...]) -> Fit:
    """Fit the literal model: a Poisson GLM with one dummy per comparison, through statsmodels."""
    results = explicit_glm(problem, names)
    p = problem.signed.shape[1]
    params = np.asarray(results.params)[:p]
    found = probabilities(problem, params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cov = np.asarray(results.cov_params())[:p, :p]
    return Fit(
        params=params,
        cov=cov,
        means=problem.totals[:, None] * found,
        converged=bool(results.converged),
        n_iter=int(results.fit_history["iteration"]),
        gradient=score(problem, found),
        objective=log_likelihood(problem, found),
        solver="glm",
    )
