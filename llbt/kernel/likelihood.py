"""What a table says of a model's parameters: its multinomial likelihood, the nuisance parameters conditioned out.

Notation: S comparisons, K outcomes per comparison, B predictors, p parameters. The log means of a comparison are
μ + Σ_b L[k, b] · u_b with the predictors u and the loadings L of the response; given its total the counts are
multinomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.response import Response
from .gathered import FloatArray, Gathered, IntArray, weighted_product


@dataclass(frozen=True, eq=False)
class Problem:
    """What a solver needs: linear predictors and counts.

    Attributes
    ----------
    predictors : tuple of B Gathered, each (S, p)
        Rows of each predictor of the response, the signed one first.
    counts : ndarray, shape (S, K)
        Counts of the outcomes; every row has a positive total.
    offsets : ndarray, shape (B, S)
        What parameters held at fixed values add to the predictors.
    response : Response
    """

    predictors: tuple[Gathered, ...]
    counts: FloatArray
    offsets: FloatArray
    response: Response

    @property
    def signed(self) -> Gathered:
        """Rows of the signed predictor, shape (S, p)."""
        return self.predictors[0]

    @property
    def totals(self) -> FloatArray:
        """Judgments per comparison, shape (S,)."""
        return np.asarray(sum(self.counts.T[1:], self.counts[:, 0]))

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
    return row_sums(problem, problem.response.sums((problem.counts - problem.totals[:, None] * probability).T))


def row_sums(problem: Problem, weights: FloatArray) -> FloatArray:
    """Return the rows of the predictors times weights (B, S), summed, shape (p,)."""
    return np.asarray(sum(rows.transposed(w) for rows, w in zip(problem.predictors, weights, strict=True)))


def information(problem: Problem, probability: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the Fisher information of the parameters, nuisance eliminated, shape (p, p)."""
    return weighted_gram(problem, problem.response.weight(probability.T, totals))


def weighted_gram(problem: Problem, weights: FloatArray) -> FloatArray:
    """Return Σ_bc D_bᵀ W_bc D_c of the rows D of the predictors, symmetric weights (B, B, S), shape (p, p)."""
    found = sparse_gram(problem, weights)
    return found if isinstance(found, np.ndarray) else np.asarray(found.toarray())


def sparse_gram(problem: Problem, weights: FloatArray) -> Any:
    """Return what `weighted_gram` does, sparse where most of its entries are 0."""
    found: Any = None
    for b, rows in enumerate(problem.predictors):
        for c, others in enumerate(problem.predictors[: b + 1]):
            part = weighted_product(others, rows, weights[b, c])
            part = part if b == c else part + part.T
            found = part if found is None else found + part
    return found


def distances(problem: Problem, probability: FloatArray, cov: FloatArray) -> FloatArray:
    """Return (z − z̄)ᵀ V (z − z̄) of each outcome, z̄ the fitted mean row of its comparison, shape (S, K)."""
    found = np.empty(problem.counts.shape)
    mean = problem.response.sums(probability.T)
    block = max(1, int(2e6) // max(1, problem.signed.shape[1]))
    for start in range(0, len(found), block):  # blocks of rows bound the memory
        rows = slice(start, start + block)
        parts = [predictor.take(rows).toarray() for predictor in problem.predictors]
        center = sum(m[rows, None] * part for m, part in zip(mean, parts, strict=True))
        for k, row in enumerate(problem.response.log_weights(parts)):
            away = row - center
            found[rows, k] = np.einsum("sp,sp->s", away @ cov, away)
    return found


def rows_of(problem: Problem, rows: Any) -> Problem:
    """Return some of the comparisons of a problem."""
    some = tuple(predictor.take(rows) for predictor in problem.predictors)
    return Problem(some, problem.counts[rows], problem.offsets[:, rows], problem.response)


def pseudo_counts(pairs: IntArray, totals: FloatArray, cells: int, prior: float) -> FloatArray:
    """Return the counts that a prior adds, shape (S, K).

    Each pair (S, 2) is given `prior` judgments, spread over its comparisons as its own judgments are and equally over
    the outcomes: conjugate to the multinomial likelihood, and the same however finely the table is split.
    """
    _, pair = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    share = totals / np.bincount(pair.ravel(), weights=totals)[pair.ravel()]
    return np.repeat(prior * share[:, None] / cells, cells, axis=1)
