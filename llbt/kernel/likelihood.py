"""The multinomial likelihood of a table: the nuisance parameters are conditioned out.

Notation: S comparisons, K outcomes per comparison, B predictors, p parameters. The log means of a comparison are
μ + Σ_b L[k, b] · u_b with the predictors u and the loadings L of the response; given its total the counts are
multinomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import issparse

from ..base.budgets import refuse_parameters
from ..core.links import AnyResponse
from ..core.response import THREE, TWO, Response
from .cuttable import CutTable, cut_table
from .indexed_rows import FloatArray, Gathered, IntArray, gram, quadratic
from .judgeblocks import JudgeBlocks
from .objectgraph import GraphInformation, ObjectGraph, object_graph
from .pairtable import PairTable, pair_table
from .runtable import RunTable, run_table
from .solver_choice import variances_along
from .threads import few_threads

_WIDE = 4  # with fewer distinct rows for each parameter, all products of two rows are made
_LARGE = 1000  # with so many parameters, variances are made without the covariance, which may never be needed
_MIRRORED = 256  # rows at a time, which stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Problem:
    """The data that a solver needs: linear predictors and counts.

    Attributes
    ----------
    predictors : tuple of B Gathered, each (S, p)
        Rows of each predictor of the response, the signed one first.
    counts : ndarray, shape (S, K)
        Counts of the outcomes; every row has a positive total.
    offsets : ndarray, shape (B, S)
        Offsets from parameters that are held at fixed values.
    response : Response or Cumulative
    """

    predictors: tuple[Gathered, ...]
    counts: FloatArray
    offsets: FloatArray
    response: AnyResponse

    @property
    def signed(self) -> Gathered:
        """Rows of the signed predictor, shape (S, p)."""
        return self.predictors[0]

    @property
    def totals(self) -> FloatArray:
        """Judgments per comparison, shape (S,)."""
        return np.asarray(sum(self.counts.T[1:], self.counts[:, 0]))

    @cached_property
    def table(self) -> PairTable | RunTable | None:
        """A faster table in place of single comparisons, for two or three outcomes; None where there is none."""
        return None if self.offsets.any() else table_of(self, self.totals)

    def at(self, params: FloatArray) -> list[FloatArray]:
        """Return the predictors at some parameters, B arrays (S,)."""
        return [rows @ params + offset for rows, offset in zip(self.predictors, self.offsets, strict=True)]


def probabilities(problem: Problem, params: FloatArray) -> FloatArray:
    """Return the probability of each outcome given the comparison's total, shape (S, K)."""
    return problem.response.probabilities(problem.at(params))[0].T


def log_likelihood(problem: Problem, probability: FloatArray) -> float:
    """Return Σ y log p, the multinomial log-likelihood without its constant."""
    seen = problem.counts > 0
    return float(np.sum(problem.counts[seen] * np.log(np.maximum(probability[seen], np.finfo(float).tiny))))


def score(problem: Problem, probability: FloatArray) -> FloatArray:
    """Return the gradient of the log-likelihood, shape (p,)."""
    return row_sums(problem, problem.response.scores(probability.T, problem.counts.T))


def row_sums(problem: Problem, weights: FloatArray) -> FloatArray:
    """Return the rows of the predictors times weights (B, S), summed over comparisons, shape (p,)."""
    return np.asarray(sum(rows.transposed(w) for rows, w in zip(problem.predictors, weights, strict=True)))


def information(problem: Problem, probability: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the Fisher information of the parameters, shape (p, p), with the nuisance parameters eliminated."""
    return weighted_gram(problem, problem.response.weight(probability.T, totals))


def weighted_gram(problem: Problem, weights: FloatArray) -> FloatArray:
    """Return Σ_bc D_bᵀ W_bc D_c for rows D of the predictors and symmetric weights W (B, B, S), shape (p, p)."""
    total = sparse_gram(problem, weights)
    return total if isinstance(total, np.ndarray) else np.asarray(total.toarray())


def sparse_gram(problem: Problem, weights: FloatArray) -> Any:
    """Return the sum that `weighted_gram` returns, as a sparse array if most of its entries are 0."""
    return gram(problem.predictors, weights)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The log-likelihood of a table, prepared for evaluation at many parameters.

    Attributes
    ----------
    problem : Problem
    totals : ndarray, shape (S,)
    statistics : ndarray, shape (p,)
        The sufficient statistics, if the response is log-linear.
    offset : float
        The part of the log-likelihood from offsets, without the norms.
    table : PairTable, RunTable, CutTable or None
        A faster table in place of the comparisons, if there is one.
    graph : ObjectGraph or None
        The graph of the objects' pairs, if there is no faster table and the parameters are worths of many objects and
        few others.
    """

    problem: Problem
    totals: FloatArray
    statistics: FloatArray
    offset: float
    table: PairTable | RunTable | CutTable | None
    graph: ObjectGraph | None

    @classmethod
    def of(cls, problem: Problem) -> Likelihood:
        """Return the log-likelihood of a problem's counts."""
        totals = problem.totals
        if not isinstance(problem.response, Response):
            table = None
            if not problem.offsets.any():
                table = cut_table(problem.predictors, problem.counts, problem.response, totals)
            return cls(problem, totals, np.empty(0), 0.0, table, _graph_beside(problem, table))
        sums = problem.response.sums(problem.counts.T)
        offset = float(np.sum(sums * problem.offsets))
        graph = _graph_beside(problem, problem.table)
        return cls(problem, totals, row_sums(problem, sums), offset, problem.table, graph)

    def score(self, params: FloatArray) -> FloatArray:
        """Return the gradient, shape (p,), without the other results of `moments`."""
        response = self.problem.response
        if not isinstance(response, Response):
            return score(self.problem, probabilities(self.problem, params))
        gradient = None if self.table is None or isinstance(self.table, CutTable) else self.table.expected(params)
        if gradient is None:
            mean = response.sums(response.probabilities(self.problem.at(params))[0])
            gradient = row_sums(self.problem, self.totals * mean)
        return self.statistics - gradient

    def moments(self, params: FloatArray) -> tuple[float, FloatArray, Any]:
        """Return Σ y log p, its gradient (p,), and the information (p, p): sparse where most of it is 0, or a graph.

        The information is minus the second derivatives: the observed information. For log-linear responses it equals
        the expected information.
        """
        response = self.problem.response
        if not isinstance(response, Response):
            whole = None if self.table is None else self.table.moments(params)
            if whole is not None:
                return whole
            values, scores, weight = response.contributions(self.problem.at(params), self.problem.counts.T)
            return float(values.sum()), row_sums(self.problem, scores), self._information(weight)
        value = float(self.statistics @ params) + self.offset
        moments = None if self.table is None else self.table.moments(params)
        if moments is not None:
            return value - moments[0], self.statistics - moments[1], moments[2]
        norms, mean, weight = response.moments(self.problem.at(params), self.totals)
        gradient = self.statistics - row_sums(self.problem, self.totals * mean)
        return value - float(self.totals @ norms), gradient, self._information(weight)

    def _information(self, weights: FloatArray) -> Any:
        return sparse_gram(self.problem, weights) if self.graph is None else self.graph.information(weights)

    def reach(self, step: FloatArray) -> float:
        """Return a bound on how far a step moves any predictor."""
        if self.table is not None:
            return self.table.reach(step)
        return float(max(np.abs(rows @ step).max() for rows in self.problem.predictors))


def _graph_beside(problem: Problem, table: PairTable | RunTable | CutTable | None) -> ObjectGraph | None:
    return object_graph(problem.predictors) if table is None else None


def table_of(problem: Problem, totals: FloatArray) -> PairTable | RunTable | None:
    """Return a faster table in place of the comparisons, for two or three outcomes; None where there is none."""
    if problem.response not in (TWO, THREE):
        return None
    return (run_table if len(problem.signed.chosen) else pair_table)(problem.predictors, totals)


def distances(problem: Problem, probability: FloatArray, cov: FloatArray) -> FloatArray:
    """Return (z − z̄)ᵀ V (z − z̄) for each outcome, with z̄ the fitted mean row of its comparison, shape (S, K)."""
    slopes = problem.response.slopes(probability.T)
    if all(rows.widest <= _WIDE * max(len(cov), 1) for rows in problem.predictors):
        return _gathered_distances(problem, slopes, cov)
    distances_ = np.empty(problem.counts.shape)
    block = max(1, int(2e6) // max(1, problem.signed.shape[1]))
    for start in range(0, len(distances_), block):  # blocks of rows bound the memory
        rows = slice(start, start + block)
        parts = [predictor.take(rows).toarray() for predictor in problem.predictors]
        for k, slope in enumerate(slopes):
            away = sum(m[rows, None] * part for m, part in zip(slope, parts, strict=True))
            distances_[rows, k] = np.einsum("sp,sp->s", away @ cov, away)
    return distances_


def _gathered_distances(problem: Problem, slopes: Any, cov: FloatArray) -> FloatArray:
    """Return the result of `distances`, by products of distinct rows."""
    distances_ = np.zeros(problem.counts.shape)
    for b, rows in enumerate(problem.predictors):
        for c, others in enumerate(problem.predictors[: b + 1]):
            along = quadratic(rows, others, cov) * (1.0 if b == c else 2.0)
            for k, slope in enumerate(slopes):
                distances_[:, k] += slope[b] * slope[c] * along
    return np.maximum(distances_, 0.0)


def rows_of(problem: Problem, rows: Any) -> Problem:
    """Return a selection of the comparisons of a problem."""
    some = tuple(predictor.take(rows) for predictor in problem.predictors)
    return Problem(some, problem.counts[rows], problem.offsets[:, rows], problem.response)


@dataclass(frozen=True, eq=False)
class Inverse:
    """The inverse of an information matrix, computed at the first access.

    Attributes
    ----------
    information : ndarray, sparse array or GraphInformation, shape (p, p)
    """

    information: Any

    @cached_property
    def matrix(self) -> FloatArray:
        """The inverse, shape (p, p); DesignError where it does not fit into memory."""
        refuse_parameters(self.information.shape[0])
        with few_threads(self.information.shape[0]):
            return inverse(self.information) if self._blocks is None else self._blocks.inverse()

    @property
    def in_blocks(self) -> bool:
        """Whether the information falls into blocks, so that much can be computed without the whole inverse."""
        return self._blocks is not None

    def combined(self, rows: FloatArray) -> FloatArray:
        """Return R V Rᵀ for combinations R (k, p), shape (k, k); with blocks, without the whole inverse."""
        if self._blocks is None:
            return np.asarray(rows @ self.matrix @ rows.T)
        return np.asarray(rows @ self._blocks.solve(rows.T))

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of the inverse, shape (p,), without the whole inverse, unless that was computed already."""
        if self._blocks is not None:
            return self._blocks.inverse_diagonal()
        made = "matrix" in self.__dict__ or self.information.shape[0] < _LARGE
        return np.diag(self.matrix) if made else self._diagonal

    @cached_property
    def _diagonal(self) -> FloatArray:
        along = variances_along(self.information) if isinstance(self.information, GraphInformation) else None
        if along is not None:
            return along
        refuse_parameters(self.information.shape[0])
        with few_threads(self.information.shape[0]):
            return inverse_diagonal(self.information)

    @cached_property
    def _blocks(self) -> JudgeBlocks | None:
        return JudgeBlocks.of(self.information) if issparse(self.information) else None


def inverse(matrix: Any) -> FloatArray:
    """Return the inverse of a positive definite matrix, dense, sparse or of a graph, shape (p, p)."""
    if not matrix.shape[0]:
        return np.zeros(matrix.shape)
    factor, scale = _factor(matrix)
    inverted, _ = linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    for start in range(0, len(inverted), _MIRRORED):  # its upper triangle was 0
        stop = start + _MIRRORED
        corner = inverted[start:stop, start:stop]
        corner += np.tril(corner, -1).T
        inverted[start:stop, stop:] = inverted[stop:, start:stop].T
    inverted *= scale
    inverted *= scale[:, None]
    return np.asarray(inverted)


def inverse_diagonal(matrix: Any) -> FloatArray:
    """Return the diagonal of the inverse, shape (p,); for large matrices in half the time of `inverse`."""
    if not matrix.shape[0]:
        return np.zeros(0)
    factor, scale = _factor(matrix)
    root, _ = linalg.lapack.dtrtri(factor, lower=True, overwrite_c=True)
    return np.asarray(np.einsum("ij,ij->j", root, root) * scale**2)


def _factor(matrix: Any) -> tuple[FloatArray, FloatArray]:
    """Return the Cholesky factor of a matrix scaled to unit diagonal, and the scale (p,)."""
    scaled = matrix.toarray() if issparse(matrix) or isinstance(matrix, GraphInformation) else matrix.copy()
    scale = 1 / np.sqrt(np.diag(scaled))
    scaled *= scale
    scaled *= scale[:, None]
    # large matrices are changed in place; the transpose has the layout that LAPACK needs
    factor, minor = linalg.lapack.dpotrf(scaled.T, lower=True, clean=True, overwrite_a=True)
    if minor:
        raise linalg.LinAlgError(f"the leading minor of order {minor} is not positive definite")
    return factor, scale


def pseudo_counts(pairs: IntArray, totals: FloatArray, cells: int, prior: float) -> FloatArray:
    """Return the counts that a prior adds, shape (S, K).

    Each pair (S, 2) gets `prior` judgments, spread over its comparisons like its own judgments, and equally over the
    outcomes. The prior is conjugate to the multinomial likelihood, and it does not depend on how finely the table is
    split.
    """
    low, high = np.minimum(*pairs.T), np.maximum(*pairs.T)
    _, pair = np.unique(low * (pairs.max() + 1) + high, return_inverse=True)
    share = totals / np.bincount(pair, weights=totals)[pair]
    return np.repeat(prior * share[:, None] / cells, cells, axis=1)
