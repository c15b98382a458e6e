"""The tests whose power is simulated: p-values from the counts of many tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import special, stats

from ..core.columns import FloatArray
from ..kernel.batch import fit_many
from ..kernel.cluster_tests import Scores, flipped
from ..kernel.likelihood import Problem
from .power_truth import PowerTest, Truth

_FLIPS = 999  # random flips of a table, where not all are gone through


def p_values(test: PowerTest, counts: FloatArray, truth: Truth) -> FloatArray:
    """Return the p-value of each table, shape (B,); 1 for a table without information on the difference.

    Parameters
    ----------
    test : str
        One of `TESTS`.
    counts : ndarray, shape (B, K, P, C)
        Tables by judge.
    truth : Truth
        The model from which the tables were simulated.
    """
    by_test: dict[PowerTest, Callable[[FloatArray, Truth], FloatArray]] = {
        "llbt": _likelihood_ratio,
        "llbt_cluster": _cluster_flips,
        "sign": _sign_drop,
        "sign_split": _sign_split,
    }
    return by_test[test](counts, truth)


def _sign_drop(counts: FloatArray, truth: Truth) -> FloatArray:
    wins, _, losses = truth.response.tally(counts[:, :, truth.extreme].sum(axis=1)).T
    return exact_sign_p(wins, losses)


def _sign_split(counts: FloatArray, truth: Truth) -> FloatArray:
    wins, ties, losses = truth.response.tally(counts[:, :, truth.extreme].sum(axis=1)).T
    return exact_sign_p(wins + ties // 2, losses + ties // 2)


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
    """Return the design with the mean counts, at which large designs are factored, and starting values."""
    problem, start = truth.model()
    return replace(problem, counts=pooled.mean(axis=0)), start


def _cluster_flips(counts: FloatArray, truth: Truth) -> FloatArray:
    """Return the p-values of the score test of equal worths with judges' scores flipped in sign.

    With equal worths a win is as probable as a loss, so the score of the tie effect is independent of the scores of the
    worths. A judge's scores are wins minus losses, whatever the share of ties.
    """
    counts = counts[:, counts.sum(axis=(0, 2, 3)) > 0]
    i, j = truth.pairs.T
    size = len(truth.log_worth)
    rows = (np.eye(size)[i] - np.eye(size)[j])[:, :-1]
    totals = counts.sum(axis=(1, 3)).mean(axis=0)
    root = np.linalg.cholesky(np.linalg.inv(rows.T @ (totals[:, None] * rows)))
    wins, _, losses = np.moveaxis(truth.response.tally(counts), -1, 0)
    scores = (wins - losses) @ (rows @ root)
    decided = (wins + losses).sum(axis=(1, 2)) / counts.sum(axis=(1, 2, 3))
    scores /= np.sqrt(np.maximum(decided, 1e-300))[:, None, None]
    nothing = np.empty((scores.shape[1], size - 1, 0)), np.empty((0, size - 1))
    return np.array([flipped(Scores(own, *nothing), size - 1, _FLIPS).p_value for own in scores])
