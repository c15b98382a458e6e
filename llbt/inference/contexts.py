"""Means over contexts, such as 30 % German and 70 % English prompts, of what is not linear in the log-worths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from ..core.columns import FloatArray, IntArray
from ..errors import OptionError

MEANS = {
    "log_worth": "mean log-worth",
    "log_odds": "mean log-odds",
    "odds_ratio": "geometric mean of the odds",
    "elo": "mean Elo",
}


@dataclass(frozen=True, eq=False)
class Contexts:
    """Linear combinations of log-worths in each of K contexts, R of them, and the weights of the contexts.

    Attributes
    ----------
    names : tuple of str
        The covariates that are mixed.
    said : str
        The contexts with their weights: "language 30 % de, 70 % en".
    weights : ndarray, shape (K,)
        Of sum 1.
    estimate : ndarray, shape (K, R)
        Log-worths λ less the reference's.
    rows : ndarray, shape (K, R, q)
        The linear combinations of what has the covariance `cov`.
    cov : ndarray, shape (q, q)
    """

    names: tuple[str, ...]
    said: str
    weights: FloatArray
    estimate: FloatArray
    rows: FloatArray
    cov: FloatArray

    def some(self, kept: IntArray) -> Contexts:
        """Return some of the combinations."""
        return replace(self, estimate=self.estimate[:, kept], rows=self.rows[:, kept])

    def combined(self, weights: FloatArray, unknown: npt.NDArray[np.bool_]) -> Contexts:
        """Return linear combinations (S, R) of these in every context; NaN for those that are not known, (S,)."""
        estimate = np.nan_to_num(self.estimate) @ weights.T  # what is not determined has no weight in the others
        return replace(self, estimate=np.where(unknown, np.nan, estimate), rows=weights @ self.rows)

    def differences(self, i: IntArray, j: IntArray) -> Contexts:
        """Return the differences of i and j (m,), in every context."""
        return replace(self, estimate=self.estimate[:, i] - self.estimate[:, j], rows=self.rows[:, i] - self.rows[:, j])

    def chances(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean probability Σ w_k/(1 + exp(−2λ_k)) with its standard error by the delta method, each (R,)."""
        chance = special.expit(2 * self.estimate)
        slope = self.weights[:, None] * 2 * chance * (1 - chance)
        return self.weights @ chance, self._error(np.einsum("kr,krq->rq", slope, self.rows))

    def log_odds(self) -> tuple[FloatArray, FloatArray]:
        """Return half the log-odds of the mean probability with their standard error, each (R,).

        Half, so that they stand where the difference of log-worths stands.
        """
        chance, error = self.chances()
        with np.errstate(divide="ignore", invalid="ignore"):
            return special.logit(chance) / 2, error / (2 * chance * (1 - chance))

    def pair_log_odds(self, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return `log_odds` of pairs of objects (m, 2), one first object after the other to save memory."""
        found = np.empty((2, len(pairs)))
        for i in np.unique(pairs[:, 0]):
            some = np.flatnonzero(pairs[:, 0] == i)
            found[:, some] = self.differences(pairs[some, 0], pairs[some, 1]).log_odds()
        return found[0], found[1]

    def worths(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean worths Σ w_k π_k with their standard errors by the delta method, each (R,)."""
        outside = np.isnan(self.estimate)
        share = special.softmax(np.where(outside, -np.inf, 2 * self.estimate), axis=1)
        centred = self.rows - np.einsum("kr,krq->kq", share, self.rows)[:, None]
        gradient = np.einsum("kr,krq->rq", 2 * self.weights[:, None] * share, centred)
        return self.weights @ share, self._error(gradient)

    def win_shares(self) -> FloatArray:
        """Return the mean probability of each object to win a decided comparison with another one, (R,)."""
        inside = np.flatnonzero(~np.isnan(self.estimate).any(axis=0))
        found = np.full(self.estimate.shape[1], np.nan)
        for i in inside:
            others = inside[inside != i]
            apart = self.estimate[:, [i]] - self.estimate[:, others]
            found[i] = (self.weights @ special.expit(2 * apart)).mean() if len(others) else np.nan
        return found

    def _error(self, gradient: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(np.maximum(np.einsum("rq,rq->r", gradient @ self.cov, gradient), 0)))


def check_mean(contexts: Contexts | None, graded: bool, scale: str) -> None:
    """Raise for a mean over contexts of odds or probabilities that are no function of the log-worths alone."""
    if contexts is not None and graded and scale != "log_worth":
        raise OptionError(
            f"scale={scale!r} over {contexts.said}: odds depend on ties or grades as well as on log-worths, so they "
            "have no mean here",
            "Ask for scale='log_worth' or for probabilities, res.predict(at=…), both without population=True.",
        )


def mean_note(contexts: Contexts | None, scale: str, probability: str = "mean probability") -> tuple[str, ...]:
    """Say what is averaged, over which contexts; of worths what a `probability` is."""
    mean = probability if scale == "probability" else MEANS[scale]
    return () if contexts is None else (f"{mean} over {contexts.said}",)
