"""Means over contexts (such as 30 % German and 70 % English prompts) of nonlinear functions of log-worths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special
from scipy.sparse import csr_array

from ..core.columns import FloatArray, IntArray
from ..errors import OptionError

MEANS = {
    "log_worth": "mean log-worth",
    "log_odds": "mean log-odds",
    "odds_ratio": "geometric mean of the odds",
    "elo": "mean Elo",
}
_SHARES, _FEWEST = 10**7, 10  # most probabilities for win shares; fewest objects that get a win share


@dataclass(frozen=True, eq=False)
class Contexts:
    """Log-worths of J objects in each of K contexts, up to a constant for each, and the contexts' weights.

    Attributes
    ----------
    names : tuple of str
        The covariates that are mixed.
    text : str
        The contexts with their weights in words: "language 30 % de, 70 % en".
    weights : ndarray, shape (K,)
        Weights that sum to 1.
    estimate : ndarray, shape (K, J)
        Log-worths λ minus the reference's; NaN if not determined.
    rows : csr_array, shape (K·J, q)
        The log-worths as linear combinations of the estimates with covariance `cov`, context by context.
    cov : ndarray, shape (q, q)
    """

    names: tuple[str, ...]
    text: str
    weights: FloatArray
    estimate: FloatArray
    rows: csr_array
    cov: FloatArray

    def some(self, chosen: IntArray) -> Contexts:
        """Return a selection of the objects."""
        size = self.estimate.shape[1]
        place = (np.arange(len(self.weights))[:, None] * size + chosen).ravel()
        return replace(self, estimate=self.estimate[:, chosen], rows=csr_array(self.rows[place]))

    def log_odds(self, contrasts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return half the log-odds of the mean of 1/(1 + exp(−2c)) over contexts, and its standard error, (R,) each.

        The c are contrasts (R, J). Log-odds are halved so that they can replace differences of log-worths. Standard
        errors are by the delta method.
        """
        used = np.flatnonzero(contrasts.any(axis=0))
        unknown = contrasts[:, np.isnan(self.estimate).any(axis=0)].any(axis=1)
        chance = special.expit(2 * np.nan_to_num(self.estimate[:, used]) @ contrasts[:, used].T)
        slope = self.weights[:, None] * 2 * chance * (1 - chance)
        gradient = np.zeros((len(contrasts), len(self.cov)))
        for j in used.tolist():
            some = np.flatnonzero(contrasts[:, j])
            gradient[some] += contrasts[some, j, None] * (slope[:, some].T @ self._rows_of(j))
        mean = np.where(unknown, np.nan, self.weights @ chance)
        with np.errstate(divide="ignore", invalid="ignore"):
            return special.logit(mean) / 2, self._error(gradient) / (2 * mean * (1 - mean))

    def levels(self) -> FloatArray:
        """Return half the log-odds of each object's mean probability against an object of mean log-worth, (J,)."""
        apart = self.estimate - np.nanmean(self.estimate, axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(special.logit(self.weights @ special.expit(2 * apart)) / 2)

    def pair_log_odds(self, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return `log_odds` for pairs of objects (m, 2), for one first object at a time to save memory."""
        odds, each = np.empty((2, len(pairs))), np.eye(self.estimate.shape[1])
        for i in np.unique(pairs[:, 0]):
            some = np.flatnonzero(pairs[:, 0] == i)
            odds[:, some] = self.log_odds(each[i] - each[pairs[some, 1]])
        return odds[0], odds[1]

    def worths(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean worths Σ w_k π_k with delta-method standard errors, each (J,)."""
        outside = np.isnan(self.estimate)
        share = special.softmax(np.where(outside, -np.inf, 2 * self.estimate), axis=1)
        slope = 2 * self.weights[:, None] * share
        gradient = np.zeros((share.shape[1], len(self.cov)))
        for j, (own, other) in enumerate(zip(slope.T, share.T, strict=True)):
            rows = self._rows_of(j)
            gradient[j] += own @ rows
            gradient -= (slope * other[:, None]).T @ rows
        return self.weights @ share, self._error(gradient)

    def win_shares(self) -> FloatArray:
        """Return each object's mean probability of winning a decided comparison with another object, (J,).

        With very many objects and contexts, only objects with the largest mean log-worths have one; the others have
        NaN.
        """
        inside = np.flatnonzero(~np.isnan(self.estimate).any(axis=0))
        shares = np.full(self.estimate.shape[1], np.nan)
        best = inside[np.argsort(-(self.weights @ self.estimate[:, inside]), kind="stable")]
        for i in best[: max(_FEWEST, _SHARES // max(1, self.estimate.size))]:
            others = inside[inside != i]
            apart = self.estimate[:, [i]] - self.estimate[:, others]
            shares[i] = (self.weights @ special.expit(2 * apart)).mean() if len(others) else np.nan
        return shares

    def _rows_of(self, j: int) -> csr_array:
        """Return the rows of one object in every context, (K, q)."""
        return csr_array(self.rows[j :: self.estimate.shape[1]])

    def _error(self, gradient: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(np.maximum(np.einsum("rq,rq->r", gradient @ self.cov, gradient), 0)))


def check_mean(contexts: Contexts | None, graded: bool, scale: str) -> None:
    """Raise for a mean over contexts of odds or probabilities that depend on more than the log-worths."""
    if contexts is not None and graded and scale != "log_worth":
        raise OptionError(
            f"scale={scale!r} over {contexts.text}: odds depend on ties or grades as well as on log-worths, so they "
            "have no mean here",
            "Use scale='log_worth', or probabilities, res.predict(at=…); leave population=True out of both.",
        )


def mean_note(contexts: Contexts | None, scale: str, probability: str = "mean probability") -> tuple[str, ...]:
    """Return notes on what is averaged over which contexts and, for worths, on the meaning of a probability."""
    mean = probability if scale == "probability" else MEANS[scale]
    return () if contexts is None else (f"{mean} over {contexts.text}",)
