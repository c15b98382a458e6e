"""Bets against the hypothesis that one object is no better than another: their wealth is evidence at any time."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..core.columns import FloatArray

# log-odds of being preferred that bets are on, each with an equal part of the wealth: small and large differences
_LOG_ODDS = np.geomspace(0.05, 4.0, 32)
N_BETS = len(_LOG_ODDS)
_STAKES = 2 * special.expit(_LOG_ODDS) - 1  # the wealth gained or lost by a judgment, as a share


def of_counts(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """Return the log-wealth that judgments add to each bet, shape (…, G), for wins and losses (…)."""
    return np.asarray(wins[..., None] * np.log1p(_STAKES) + losses[..., None] * np.log1p(-_STAKES))


def of_scores(scores: FloatArray) -> FloatArray:
    """Return the log-wealth that scores between 0 and 1 add to each bet, shape (…, G): 1 a win, 0 a loss, ½ neither."""
    return np.asarray(np.log1p((2 * scores[..., None] - 1) * _STAKES))


def log_e_values(log_wealth: FloatArray) -> FloatArray:
    """Return the log of the mean wealth of the bets (…, G), an e-value, shape (…)."""
    return np.asarray(special.logsumexp(log_wealth, axis=-1) - np.log(N_BETS))


def log_two_sided(log_e: FloatArray) -> FloatArray:
    """Return the log e-values of the hypothesis that two objects are equal: the mean of both sides, shape (…, J, J)."""
    return np.asarray(np.logaddexp(log_e, np.swapaxes(log_e, -1, -2)) - np.log(2))


def log_leads(log_e: FloatArray) -> FloatArray:
    """Return for each object the log e-value of the hypothesis that another object is as good, shape (…, J).

    This hypothesis is the union of the hypotheses on J − 1 pairs (…, J, J), so the smallest of their e-values is valid
    for it.
    """
    own = np.eye(log_e.shape[-1], dtype=bool)
    return np.asarray(np.where(own, np.inf, log_e).min(axis=-1))
