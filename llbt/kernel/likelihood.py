"""What a table says of a model's parameters: its multinomial likelihood, the nuisance parameters conditioned out.

Notation: S comparisons, C cells per comparison (2, or 3 with ties, in the order i, tie, j), p parameters. The
log means of a comparison are μ + u, μ + w and μ − u with the signed predictor u and the tie predictor w; given
its total the counts are multinomial with probabilities ∝ exp(u), exp(w), exp(−u).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .gathered import FloatArray, Gathered, IntArray, weighted_product

_FAR = 300.0  # a predictor beyond which exponentials are shifted, lest they overflow


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
        total = self.counts[:, 0] + self.counts[:, -1]
        return total + self.counts[:, 1] if self.has_ties else total

    @property
    def has_ties(self) -> bool:
        """Whether a comparison has three cells."""
        return bool(self.counts.shape[1] == 3)


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
    return row_sums(problem, excess[:, 0] - excess[:, -1], excess[:, 1])


def row_sums(problem: Problem, signed: FloatArray, tie: FloatArray) -> FloatArray:
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
    found = sparse_gram(problem, signed, cross, tie)
    return found if isinstance(found, np.ndarray) else np.asarray(found.toarray())


def sparse_gram(problem: Problem, signed: FloatArray, cross: FloatArray, tie: FloatArray) -> Any:
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


def rows_of(problem: Problem, rows: Any) -> Problem:
    """Return some of the comparisons of a problem."""
    return Problem(
        *(problem.signed.take(rows), problem.tie.take(rows), problem.counts[rows]),
        *(problem.signed_offset[rows], problem.tie_offset[rows]),
    )


def cell_probabilities(problem: Problem, params: FloatArray) -> tuple[list[FloatArray], FloatArray]:
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


def pseudo_counts(pairs: IntArray, totals: FloatArray, cells: int, prior: float) -> FloatArray:
    """Return the counts that a prior adds, shape (S, C).

    Each pair (S, 2) is given `prior` judgments, spread over its comparisons as its own judgments are and equally over
    the cells: conjugate to the multinomial likelihood, and the same however finely the table is split.
    """
    _, pair = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    share = totals / np.bincount(pair.ravel(), weights=totals)[pair.ravel()]
    return np.repeat(prior * share[:, None] / cells, cells, axis=1)
