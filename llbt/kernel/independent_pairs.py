"""Patterns whose pairs are answered independently of each other: sums over all patterns without a row for each.

The weights are those of `kernel.patterns` without products. So every sum over patterns is a product over pairs, and the
judges' answers are summed once, by pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .patterns import MISSING, FloatArray, PatternMoments, Seen, Signs, Weights


@dataclass(frozen=True, eq=False)
class IndependentPairs:
    """All patterns of P pairs, with or without ties, under weights without products.

    Attributes
    ----------
    pairs : int
    ties : bool
        Whether an answer can be 0.
    """

    pairs: int
    ties: bool

    @property
    def number(self) -> int:
        """How many patterns there are."""
        return int((3 if self.ties else 2) ** self.pairs)

    def moments(self, weights: Weights) -> PatternMoments:
        """Return the moments over all patterns."""
        logs, shares = self._shares(weights, 0.0)
        mean = np.concatenate([shares[0] - shares[2], shares[1]])
        return PatternMoments(float(logs.sum()), mean, _covariance(shares, np.ones(self.pairs)))

    def seen(self, answers: Signs, counts: FloatArray, weights: Weights, added: FloatArray) -> Seen:
        """Return the sums over judges; see `Space.seen`."""
        wins, ties, losses, missing = (counts @ (answers == y) for y in (1, 0, -1, MISSING))
        logs, shares = self._shares(weights, added)
        log = (wins - losses) @ weights.eta + ties @ weights.gamma + missing @ logs
        signs = wins - losses + missing * (shares[0] - shares[2])
        return Seen(
            float(log), np.concatenate([signs, ties + missing * shares[1]]), _covariance(shares, np.asarray(missing))
        )

    def logs(self, answers: Signs, weights: Weights, added: FloatArray) -> FloatArray:
        """Return the log of the summed weights of each judge's possible complete patterns."""
        logs, _ = self._shares(weights, added)
        log_weights = (answers == MISSING) @ logs + (answers == 0) @ weights.gamma
        return np.asarray(log_weights + np.where(answers == MISSING, 0, answers) @ weights.eta)

    def drawn(self, weights: Weights, number: int, rng: np.random.Generator) -> Signs:
        """Return complete patterns, drawn pair by pair; see `Space.drawn`."""
        _, shares = self._shares(weights, 0.0)
        u = rng.random((number, self.pairs))
        return np.where(u < shares[0], 1, np.where(u < shares[0] + shares[1], 0, -1)).astype(np.int8)

    def _shares(self, weights: Weights, added: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return log Z of each pair, (P,), and the probabilities of its answers 1, 0 and −1, (3, P)."""
        eta = weights.eta + added
        each = np.stack([eta, weights.gamma if self.ties else np.full(self.pairs, -np.inf), -eta])
        logs = np.logaddexp.reduce(each, axis=0)
        return logs, np.exp(each - logs)


def _covariance(shares: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the covariance of signs and ties, (2P, 2P), for `counts` independent answers to each pair."""
    size = shares.shape[1]
    sign, tie = shares[0] - shares[2], shares[1]
    covariance = np.zeros((2 * size, 2 * size))
    one, other = np.arange(size), np.arange(size, 2 * size)
    covariance[one, one] = counts * (shares[0] + shares[2] - sign**2)
    covariance[other, other] = counts * tie * (1 - tie)
    covariance[one, other] = covariance[other, one] = -counts * sign * tie
    return covariance
