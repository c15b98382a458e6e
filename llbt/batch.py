"""Many fits of one design to many tables at once: arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import linalg, special
from scipy.sparse import csr_array

from .solvers import FloatArray, Problem, eliminate, information, probabilities

_MAX_STEPS = 60
_MAX_CHORDS = 25
_SHRINKING = 0.3  # a chord step has to leave less than that of the squared distance
_DECREMENT = 1e-14  # a fit is done when its squared distance to the maximum, in standard errors, is below this
# Predictors that far from 0 have no finite maximum behind them: probabilities exp(−2u) and exp(w) of 1e-12 are none to
# estimate. Reached before the decrement, which falls with these probabilities, could end the iteration.
_FAR_SIGNED, _FAR_TIE = 14.0, 28.0
_ENTRIES = 2e7  # numbers held at once


@dataclass(frozen=True, eq=False)
class ManyFits:
    """Fits of B tables.

    Attributes
    ----------
    params : ndarray, shape (B, p)
        NaN where the fit is degenerate.
    deviance, pearson_chi2 : ndarray, shape (B,)
        At the supremum of the likelihood, also where that is at infinity.
    degenerate : ndarray of bool, shape (B,)
        Tables whose maximum likelihood estimate is not finite, or was not reached.
    """

    params: FloatArray
    deviance: FloatArray
    pearson_chi2: FloatArray
    degenerate: npt.NDArray[np.bool_]


def fit_many(problem: Problem, counts: FloatArray, start: FloatArray) -> ManyFits:
    """Fit the design of a problem to B tables by Newton's method, all at once.

    Parameters
    ----------
    problem : Problem
        The design; its own counts are not used.
    counts : ndarray, shape (B, S, C)
        The tables; comparisons may have total 0.
    start : ndarray, shape (p,)
        Where every fit starts.
    """
    p = len(start)
    large = problem.signed.shape[0] * p * p > _ENTRIES / 4
    block = max(1, int(_ENTRIES / max(1, counts[0].size * (4 if large else 1) + 2 * p * p)))
    fit = _ChordRows.of(problem, start).fit if large else _Rows.of(problem).fit
    parts = [fit(counts[k : k + block], start) for k in range(0, len(counts), block)]
    return ManyFits(
        np.concatenate([part.params for part in parts]),
        np.concatenate([part.deviance for part in parts]),
        np.concatenate([part.pearson_chi2 for part in parts]),
        np.concatenate([part.degenerate for part in parts]),
    )


def _fit_one(problem: Problem, counts: FloatArray, start: FloatArray) -> tuple[FloatArray, bool]:
    """Fit one table by itself; return its parameters and whether they are a finite maximum."""
    table = replace(problem, counts=counts)
    try:
        found = eliminate(table, start=start)
    except linalg.LinAlgError:
        return start, False
    far = np.abs(table.signed @ found.params).max() > _FAR_SIGNED
    far |= problem.has_ties and np.abs(table.tie @ found.params).max() > _FAR_TIE
    return found.params, bool(found.converged and not far)


@dataclass(frozen=True, eq=False)
class _ChordRows:
    """The sparse rows of a large design, and the information at the start, factored once for all tables."""

    problem: Problem
    signed: csr_array
    tie: csr_array
    factor: tuple[FloatArray, bool]

    @classmethod
    def of(cls, problem: Problem, start: FloatArray) -> _ChordRows:
        """Return the rows of a problem whose own counts are those that the start fits."""
        matrix = information(problem, probabilities(problem, start), problem.totals)
        return cls(problem, problem.signed.tocsr(), problem.tie.tocsr(), linalg.cho_factor(matrix, lower=True))

    def fit(self, counts: FloatArray, start: FloatArray) -> ManyFits:
        """Fit B tables (B, S, C) by chord steps: Newton's with the information at the start.

        The maxima of resamples are near, so that every step leaves a small share of the distance. A table for which
        it does not is fitted by itself.
        """
        cells = [np.ascontiguousarray(counts[:, :, k].T) for k in range(counts.shape[2])]
        totals = sum(cells[1:], cells[0])
        observed = self.signed.T @ (cells[0] - cells[-1])
        observed = observed + self.tie.T @ cells[1] if self.problem.has_ties else observed
        params = np.repeat(start[:, None], len(counts), axis=1)
        active, before = np.arange(len(counts)), np.full(len(counts), np.inf)
        slow = np.zeros(len(counts), dtype=bool)
        for _ in range(_MAX_CHORDS):
            gradient = observed[:, active] - self._expected(params[:, active], totals[:, active])
            step = linalg.cho_solve(self.factor, gradient)
            params[:, active] += step
            decrement = np.einsum("pb,pb->b", step, gradient)
            slow[active] = ~(decrement < _SHRINKING * before[active])
            before[active] = decrement
            active = active[(decrement >= _DECREMENT) & ~slow[active]]
            if not len(active):
                break
        done = ~slow
        done[active] = False
        for b in np.flatnonzero(~done):
            params[:, b], done[b] = _fit_one(self.problem, counts[b], start)
        means = np.stack([totals * cell for cell in self._probabilities(params)], axis=2).transpose(1, 0, 2)
        return _gathered(counts, means, params.T, done)

    def _probabilities(self, params: FloatArray) -> list[FloatArray]:
        """Return the probability of each cell, C arrays (S, B)."""
        u = self.signed @ params + self.problem.signed_offset[:, None]
        win = np.exp(u)
        loss = 1 / win
        if not self.problem.has_ties:
            return [win / (win + loss), loss / (win + loss)]
        # one tie effect for all comparisons is one row
        same = len(self.problem.tie.parts) == 1 and self.problem.tie.parts[0].matrix.shape[0] == 1
        rows = slice(0, 1) if same and not self.problem.tie_offset.any() else slice(None)
        tie = np.exp(self.tie[rows] @ params + self.problem.tie_offset[rows, None])
        scale = 1 / (win + tie + loss)
        return [win * scale, tie * scale, loss * scale]

    def _expected(self, params: FloatArray, totals: FloatArray) -> FloatArray:
        """Return the expected sufficient statistics, shape (p, B)."""
        found = self._probabilities(params)
        expected = self.signed.T @ (totals * (found[0] - found[-1]))
        return np.asarray(expected + self.tie.T @ (totals * found[1]) if self.problem.has_ties else expected)


def _gathered(counts: FloatArray, means: FloatArray, params: FloatArray, done: npt.NDArray[np.bool_]) -> ManyFits:
    means = np.maximum(means, 1e-300)  # cells without judgments, and of comparisons without any
    deviance = 2 * (special.xlogy(counts, counts / means)).sum(axis=(1, 2))
    pearson = ((counts - means) ** 2 / means).sum(axis=(1, 2))
    return ManyFits(np.where(done[:, None], params, np.nan), deviance, pearson, ~done)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The dense rows of a design and their products, shared by all tables."""

    problem: Problem
    signed: FloatArray
    tie: FloatArray
    signed_squares: FloatArray
    mixed_squares: FloatArray
    tie_squares: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> _Rows:
        """Return the rows of a problem; the squares have shape (S, p²)."""
        signed, tie = problem.signed.toarray(), problem.tie.toarray()
        mixed = signed[:, :, None] * tie[:, None, :]

        def flat(squares: FloatArray) -> FloatArray:
            return squares.reshape(len(signed), -1)

        return cls(
            problem,
            signed,
            tie,
            flat(signed[:, :, None] * signed[:, None, :]),
            flat(mixed + mixed.transpose(0, 2, 1)),
            flat(tie[:, :, None] * tie[:, None, :]),
        )

    def predictors(self, params: FloatArray) -> FloatArray:
        """Return the log weights of the cells, shape (B, S, C)."""
        u = params @ self.signed.T + self.problem.signed_offset
        if not self.problem.has_ties:
            return np.stack([u, -u], axis=2)
        return np.stack([u, params @ self.tie.T + self.problem.tie_offset, -u], axis=2)

    def probabilities(self, params: FloatArray) -> FloatArray:
        """Return the probability of each cell, shape (B, S, C)."""
        return np.asarray(special.softmax(self.predictors(params), axis=2))

    def fit(self, counts: FloatArray, start: FloatArray) -> ManyFits:
        """Fit B tables (B, S, C) by Newton's method."""
        params = np.repeat(start[None, :], len(counts), axis=0)
        totals = counts.sum(axis=2)
        done = np.full(len(counts), len(start) == 0)
        active = np.flatnonzero(~done)
        for _ in range(_MAX_STEPS):
            if not len(active):
                break
            step, decrement, solved = _newton_step(self, counts[active], totals[active], params[active])
            params[active] += step
            done[active[solved & (decrement < _DECREMENT)]] = True
            far = np.abs(params[active] @ self.signed.T).max(axis=1, initial=0) > _FAR_SIGNED
            far |= np.abs(params[active] @ self.tie.T).max(axis=1, initial=0) > _FAR_TIE
            active = active[solved & (decrement >= _DECREMENT) & ~far]
        return _gathered(counts, totals[:, :, None] * self.probabilities(params), params, done)


def _newton_step(
    rows: _Rows, counts: FloatArray, totals: FloatArray, params: FloatArray
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Return damped Newton steps (B, p), their decrements (B,), and which could be solved for (B,)."""
    p_size = params.shape[1]
    p = rows.probabilities(params)
    lead, decided = p[..., 0] - p[..., -1], p[..., 0] + p[..., -1]
    gradient = (counts[..., 0] - counts[..., -1] - totals * lead) @ rows.signed
    information = (totals * (decided - lead**2)) @ rows.signed_squares
    if rows.problem.has_ties:
        ties = p[..., 1]
        gradient = gradient + (counts[..., 1] - totals * ties) @ rows.tie
        information = information - (totals * lead * ties) @ rows.mixed_squares
        information = information + (totals * ties * (1 - ties)) @ rows.tie_squares
    information = information.reshape(-1, p_size, p_size)
    scale = 1 / np.sqrt(np.maximum(np.einsum("bpp->bp", information), 1e-300))
    scaled = information * scale[:, :, None] * scale[:, None, :]
    solved = np.linalg.eigvalsh(scaled)[:, 0] > 1e-11
    scaled[~solved] = np.eye(p_size)
    step = scale * np.linalg.solve(scaled, (scale * gradient)[:, :, None])[:, :, 0]
    decrement = np.einsum("bp,bp->b", step, gradient)
    # a step longer than 2 in some predictor is shortened: from a near start, only a far maximum asks for one
    moved = np.abs(step @ rows.signed.T).max(axis=1, initial=0)
    moved = np.maximum(moved, np.abs(step @ rows.tie.T).max(axis=1, initial=0))
    step = step * np.minimum(1.0, 2.0 / np.maximum(moved, 1e-300))[:, None]
    return step, decrement, solved
