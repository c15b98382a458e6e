"""Score equations of prediction-powered inference: many counts from one source, corrected by few from a better one.

Counts that are differences can be below 0, so the maximized sum Σ y log p is not a likelihood. It is concave if no
comparison has a total below 0. Let u be the predictors of a direction v. Far out along v the sum changes by Σ_s (Σ_k
y_sk L_k·u_s − n_s max_k L_k·u_s) for each unit; there is a maximum if this is below 0 for every v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize
from scipy.sparse import csr_array, hstack, vstack

from ..core.response import Response
from ..resampling import step_made
from .newton import InParameters, newton

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_MAX_ITERATIONS = 100
_DECREMENT = 2e-12  # squared length of the last step, in its own information per judgment
_BELOW = -1e-9
_LOST = 1e-7  # a finite estimate keeps far more than this share of the information at 0


@dataclass(frozen=True, eq=False)
class _Sum:
    """Σ y log p at some parameters (p,), and its gradient (p,)."""

    params: FloatArray
    value: float
    gradient: FloatArray


@dataclass(frozen=True, eq=False)
class Scores:
    """Score equations of S comparisons in p parameters, with B predictors and K outcomes.

    Attributes
    ----------
    response : Response
    rows : ndarray, shape (B, S, p)
        The predictors' rows.
    """

    response: Response
    rows: FloatArray

    def probabilities(self, params: FloatArray) -> FloatArray:
        """Return the probability of each outcome, shape (K, S)."""
        return np.asarray(self.response.probabilities(self.rows @ params)[0])

    def gradient(self, params: FloatArray, counts: FloatArray) -> FloatArray:
        """Return the derivative of Σ y log p for counts (S, K), shape (p,)."""
        scores = self.response.scores(self.probabilities(params), counts.T)
        return np.asarray(np.einsum("bs,bsp->p", scores, self.rows))

    def information(self, params: FloatArray, totals: FloatArray) -> FloatArray:
        """Return minus the second derivative for totals (S,), shape (p, p)."""
        weight = self.response.weight(self.probabilities(params), totals)
        return np.asarray(np.einsum("bsp,bcs,csq->pq", self.rows, weight, self.rows, optimize=True))

    def of_judgments(self, params: FloatArray, comparison: IntArray, outcomes: IntArray) -> FloatArray:
        """Return the score of single judgments of comparisons (R,) with outcomes `outcomes` (R,), shape (R, p)."""
        away = self.response.slopes(self.probabilities(params))[outcomes, :, comparison]
        return np.asarray(np.einsum("rb,brp->rp", away, self.rows[:, comparison]))

    def root(self, counts: FloatArray, start: FloatArray) -> FloatArray | None:
        """Return the root of the gradient for counts (S, K); None if Newton's method does not reach it."""
        totals = counts.sum(axis=1)
        ascent = InParameters(
            lambda params: _Sum(params, self._value(params, counts), self.gradient(params, counts)),
            lambda point, _: self._step(point, totals),
            np.arange(len(start)),
        )
        enough = _DECREMENT * max(1.0, float(np.abs(totals).sum()))
        search = newton(ascent, ascent.evaluate(start), enough=enough, most=_MAX_ITERATIONS)
        if not search.converged or not self._is_finite(search.point.params, totals):
            return None
        return search.point.params

    def _step(self, point: _Sum, totals: FloatArray) -> FloatArray:
        step_made(totals.size * len(self.response.loadings))
        lower = linalg.cho_factor(self.information(point.params, totals), lower=True, check_finite=False)
        return np.asarray(linalg.cho_solve(lower, point.gradient, check_finite=False))

    def _is_finite(self, params: FloatArray, totals: FloatArray) -> bool:
        """Whether a search has ended at a maximum; a search on its way to infinity has lost all information."""
        there, at_rest = (self.information(x, totals) for x in (params, np.zeros(len(params))))
        return bool(linalg.eigh(there, at_rest, eigvals_only=True)[0] > _LOST)

    def _value(self, params: FloatArray, counts: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.sum(counts.T * np.log(self.probabilities(params))))

    def recession(self, counts: FloatArray) -> FloatArray | None:
        """Return a direction along which Σ y log p does not fall far out, shape (p,); None if there is none.

        A linear program minimizes Σ n t − Σ y L·u over |v| ≤ 1, where t_s ≥ L_k·u_s for every outcome.
        """
        loadings, (size, p) = self.response.loadings, self.rows.shape[1:]
        totals = counts.sum(axis=1)
        linear = np.einsum("sk,kb,bsp->p", counts, loadings, self.rows)
        above = [csr_array(np.einsum("b,bsp->sp", row, self.rows)) for row in loadings]
        minus = csr_array((-np.ones(size), (np.arange(size), np.arange(size))), shape=(size, size))
        program = optimize.linprog(
            np.concatenate([-linear, totals]),
            A_ub=vstack([hstack([rows, minus]) for rows in above], format="csr"),
            b_ub=np.zeros(size * len(loadings)),
            bounds=[(-1, 1)] * p + [(None, None)] * size,
            method="highs",
        )
        if program.status != 0 or program.fun < _BELOW * max(1.0, float(totals.sum())):
            return np.asarray(program.x[:p]) if program.x is not None else np.zeros(p)
        return None
