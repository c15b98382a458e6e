"""The tests whose power is simulated: counts of many tables in, p-values out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import special, stats

from ..batch import fit_many
from ..columns import FloatArray
from ..likelihood import Problem
from .power_truth import PowerTest, Truth

_RANK = 1e-10  # smallest eigenvalue of a correlation matrix that counts as of full rank


def p_values(test: PowerTest, counts: FloatArray, truth: Truth) -> FloatArray:
    """Return the p-value of each table, shape (B,); 1 where a test finds nothing to decide on.

    Parameters
    ----------
    test : str
        One of `TESTS`.
    counts : ndarray, shape (B, K, P, C)
        Tables by judge.
    truth : Truth
        What they were drawn from.
    """
    by_test: dict[PowerTest, Callable[[FloatArray, Truth], FloatArray]] = {
        "llbt": _likelihood_ratio,
        "llbt_cluster": _cluster_wald,
        "sign": _sign_drop,
        "sign_split": _sign_split,
    }
    return by_test[test](counts, truth)


def _sign_drop(counts: FloatArray, truth: Truth) -> FloatArray:
    best = counts[:, :, truth.extreme].sum(axis=1)
    return exact_sign_p(best[:, 0], best[:, -1])


def _sign_split(counts: FloatArray, truth: Truth) -> FloatArray:
    best = counts[:, :, truth.extreme].sum(axis=1)
    half = best[:, 1] // 2 if truth.has_ties else np.zeros(len(best))
    return exact_sign_p(best[:, 0] + half, best[:, -1] + half)


def exact_sign_p(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """Return the two-sided p-values of the exact binomial test of equal chances, each (B,); 1 without a judgment."""
    n = wins + losses
    return np.asarray(np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(wins, losses), n, 0.5)))


def _likelihood_ratio(counts: FloatArray, truth: Truth) -> FloatArray:
    pooled = counts.sum(axis=1)
    if len(truth.log_worth) == 2:
        statistic = pair_statistic(pooled[:, 0, 0], pooled[:, 0, -1])
    else:
        problem, start = _model_for(truth, pooled)
        statistic = null_deviance(pooled) - fit_many(problem, pooled, start).deviance
    return np.asarray(special.chdtrc(len(truth.log_worth) - 1, np.maximum(statistic, 0.0)))


def pair_statistic(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """Return the likelihood-ratio statistic of λ_i = λ_j for one pair with its own tie effect, each (B,).

    Ties have a parameter of their own, so their counts cancel: 2[w log(2w/(w + l)) + l log(2l/(w + l))].
    """
    half = np.maximum(wins + losses, 1.0) / 2
    return np.asarray(2 * (special.xlogy(wins, wins / half) + special.xlogy(losses, losses / half)))


def null_deviance(counts: FloatArray) -> FloatArray:
    """Return the deviances of tables (B, P, C) under equal worths and one tie effect, shape (B,)."""
    totals = counts.sum(axis=2, keepdims=True)
    cells = counts.sum(axis=1, keepdims=True)
    outer = (cells[..., :1] + cells[..., -1:]) / 2
    share = np.concatenate([outer, cells[..., 1:-1], outer], axis=2) / cells.sum(axis=2, keepdims=True)
    means = np.maximum(totals * share, 1e-300)
    return np.asarray(2 * special.xlogy(counts, counts / means).sum(axis=(1, 2)))


def _model_for(truth: Truth, pooled: FloatArray) -> tuple[Problem, FloatArray]:
    """Return the design with counts that the start fits on the whole, which large designs are factored at."""
    problem, start = truth.model()
    return replace(problem, counts=pooled.mean(axis=0)), start


def _cluster_wald(counts: FloatArray, truth: Truth) -> FloatArray:
    """Return the p-values of the Wald test of equal worths, F with as many denominator df as judges less one."""
    found = np.ones(len(counts))
    judged = counts.sum(axis=(0, 2, 3)) > 0
    df, judges = len(truth.log_worth) - 1, int(judged.sum())
    if judges - 1 < df:
        return found
    pooled = counts.sum(axis=1)
    problem, start = _model_for(truth, pooled)
    fits = fit_many(problem, pooled, start)
    finite = ~fits.degenerate
    cov = cluster_covariances(problem, fits.params[finite], counts[finite][:, judged])[:, :df, :df]
    worth = fits.params[finite][:, :df]
    scale = 1 / np.sqrt(np.maximum(np.einsum("bpp->bp", cov), 1e-300))
    scaled = cov * scale[:, :, None] * scale[:, None, :]
    ranked = np.linalg.eigvalsh(scaled)[:, 0] > _RANK
    z = (worth * scale)[ranked]
    statistic = np.einsum("bp,bp->b", z, np.linalg.solve(scaled[ranked], z[:, :, None])[:, :, 0])
    found[np.flatnonzero(finite)[ranked]] = stats.f.sf(statistic / df, df, judges - 1)
    return found


def cluster_covariances(problem: Problem, params: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the cluster-robust covariances K/(K − 1) · V M V of B fits, shape (B, p, p).

    Parameters
    ----------
    problem : Problem
    params : ndarray, shape (B, p)
    counts : ndarray, shape (B, K, P, C)
    """
    signed, tie = problem.signed.toarray(), problem.tie.toarray()
    lead, ties = params @ signed.T, params @ tie.T
    cells = [lead, ties, -lead] if problem.has_ties else [lead, -lead]
    p = special.softmax(np.stack(cells, axis=-1), axis=-1)
    excess = counts - counts.sum(axis=3, keepdims=True) * p[:, None]
    scores = (excess[..., 0] - excess[..., -1]) @ signed
    scores = scores + excess[..., 1] @ tie if problem.has_ties else scores
    information = _informations(signed, tie, p, counts.sum(axis=(1, 3)))
    moved = np.linalg.solve(information, scores.transpose(0, 2, 1))
    judges = counts.shape[1]
    return np.asarray(judges / (judges - 1) * (moved @ moved.transpose(0, 2, 1)))


def _informations(signed: FloatArray, tie: FloatArray, p: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the Fisher informations of B fits with probabilities (B, P, C) and totals (B, P), shape (B, p, p)."""
    lead, decided = p[..., 0] - p[..., -1], p[..., 0] + p[..., -1]
    ties = 1 - decided

    def product(left: FloatArray, weights: FloatArray, right: FloatArray) -> FloatArray:
        return np.asarray(left.T @ (weights[:, :, None] * right))

    found = product(signed, totals * (decided - lead**2), signed) + product(tie, totals * ties * decided, tie)
    mixed = product(signed, totals * lead * ties, tie)
    return np.asarray(found - mixed - mixed.transpose(0, 2, 1))
