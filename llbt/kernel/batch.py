"""Fit one design to many tables at once. Arrays go in, arrays come out.

Resampling and simulated tests fit thousands of tables that differ in their counts alone. All tables then share the
rows, the pairs and the information matrix at the start. Most fits end after a few chord steps, which keep that matrix.
Each fit is tested where it ends. A table whose fit is not at its maximum is fitted again by Newton's method.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

from ..core.links import Cumulative
from .cuts import room
from .indexed_rows import FloatArray
from .likelihood import Likelihood, Problem, information, probabilities
from .solvers import eliminate

_MAX_STEPS = 60
_MAX_CHORDS = 25
_SHRINKING = 0.3  # a chord step has to leave less than this share of the squared distance
_DECREMENT = 1e-14  # a fit is done when its squared distance to the maximum, in standard errors, is below this
# Predictors as large as these show that there is no finite maximum: probabilities exp(−2u) and exp(w) of 1e-12 cannot
# be estimated. The decrement falls with these probabilities, so predictors are tested first.
_FAR = 14.0, 28.0  # bounds of the signed predictor, of the others
_ENTRIES = 2e7  # numbers in memory at once
_SHORT = 0.9  # a step may go this share of the way to the point where two cuts meet
_MEET = 1e-7  # cuts nearer than this leave no outcome between them


@dataclass(frozen=True, eq=False)
class ManyFits:
    """Fits of B tables.

    Attributes
    ----------
    params : ndarray, shape (B, p)
        NaN where the fit is degenerate.
    deviance, pearson_chi2 : ndarray, shape (B,)
        At the supremum of the likelihood, even if that is at infinity.
    degenerate : ndarray of bool, shape (B,)
        Tables whose maximum likelihood estimate is not finite, or was not reached.
    """

    params: FloatArray
    deviance: FloatArray
    pearson_chi2: FloatArray
    degenerate: npt.NDArray[np.bool_]


def fit_many(problem: Problem, counts: npt.NDArray[Any], start: FloatArray) -> ManyFits:
    """Fit the design of a problem to B tables, and test each fit.

    Parameters
    ----------
    problem : Problem
        The design, and the table that the start fits.
    counts : ndarray, shape (B, S, C)
        The tables; comparisons may have total 0.
    start : ndarray, shape (p,)
        Where every fit starts.
    """
    params, done = _solved(problem, counts, start)
    deviance, pearson = np.empty(len(counts)), np.empty(len(counts))
    block = max(1, int(_ENTRIES / max(1, counts[0].size)))
    for k in range(0, len(counts), block):
        part = slice(k, k + block)
        deviance[part], pearson[part] = _distances(problem, counts[part].astype(np.float64), params[part])
    return ManyFits(np.where(done[:, None], params, np.nan), deviance, pearson, ~done)


def params_of_many(problem: Problem, counts: npt.NDArray[Any], start: FloatArray) -> FloatArray:
    """Return the estimates of B tables (B, S, C) by `fit_many`, shape (B, p); NaN where a table is degenerate."""
    params, done = _solved(problem, counts, start)
    return np.where(done[:, None], params, np.nan)


def _solved(problem: Problem, counts: npt.NDArray[Any], start: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return the parameters (B, p), and which of them are a finite maximum (B,)."""
    p = len(start)
    large = problem.signed.shape[0] * p * p > _ENTRIES / 4
    block = max(1, int(_ENTRIES / max(1, counts[0].size * (4 if large else 1) + 2 * p * p)))
    solve = _Chords.of(problem, start).solve if large else _Rows.of(problem).solve
    parts = [solve(counts[k : k + block].astype(np.float64), start) for k in range(0, len(counts), block)]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _distances(problem: Problem, counts: FloatArray, params: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return deviance and X² of tables (B, S, C) with fits (B, p), each (B,)."""
    parts = zip(problem.predictors, problem.offsets, strict=True)
    probability, _ = problem.response.probabilities([(rows.tocsr() @ params.T).T + offset for rows, offset in parts])
    means = counts.sum(axis=2)[:, :, None] * np.moveaxis(probability, 0, 2)
    means = np.maximum(means, 1e-300)  # avoids 0/0 in cells without judgments and in comparisons without any
    deviance = 2 * (special.xlogy(counts, counts / means)).sum(axis=(1, 2))
    return deviance, ((counts - means) ** 2 / means).sum(axis=(1, 2))


def fit_one(problem: Problem, counts: FloatArray, start: FloatArray) -> tuple[FloatArray, bool]:
    """Fit one table by itself. Return its parameters, and whether they are a finite maximum."""
    table = replace(problem, counts=counts)
    try:
        fitted = eliminate(table, start=start)
    except linalg.LinAlgError:
        return start, False
    far = any(np.abs(rows @ fitted.params).max() > _FAR[b > 0] for b, rows in enumerate(table.predictors))
    far = far or bool(room(table, fitted.params).min() < _MEET)
    return fitted.params, fitted.converged and not far


@dataclass(frozen=True, eq=False)
class _Chords:
    """A large design with its information at the start, which is factored once for all tables."""

    problem: Problem
    factor: tuple[FloatArray, bool]

    @classmethod
    def of(cls, problem: Problem, start: FloatArray) -> _Chords:
        """Return the factored information of a problem at the start, which fits the problem's own counts."""
        return cls(problem, linalg.cho_factor(information(problem, probabilities(problem, start), problem.totals)))

    def solve(self, counts: FloatArray, start: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Fit B tables (B, S, C) one by one, each in the processor's cache, by chord steps.

        A chord step is a Newton step with the information at the start. The maxima of resamples are near the start, so
        every step leaves a small share of the distance. If a step leaves more, the table is fitted by itself.
        """
        params, done = np.empty((len(counts), len(start))), np.empty(len(counts), dtype=np.bool_)
        for b, table in enumerate(counts):
            fitted = self._by_chords(Likelihood.of(replace(self.problem, counts=table)), start)
            params[b], done[b] = fit_one(self.problem, table, start) if fitted is None else (fitted, True)
        return params, done

    def _by_chords(self, table: Likelihood, start: FloatArray) -> FloatArray | None:
        params, before = start.copy(), math.inf
        for _ in range(_MAX_CHORDS):
            gradient = table.score(params)
            step = linalg.cho_solve(self.factor, gradient, check_finite=False)
            decrement = float(step @ gradient)
            if not decrement < _SHRINKING * before:
                return None
            params += step
            if decrement < _DECREMENT:
                return params
            before = decrement
        return None


@dataclass(frozen=True, eq=False)
class _Rows:
    """The dense rows of a design and their products, shared by all tables."""

    problem: Problem
    rows: tuple[FloatArray, ...]
    squares: dict[tuple[int, int], FloatArray]

    @classmethod
    def of(cls, problem: Problem) -> _Rows:
        """Return the rows of each predictor, (S, p), and the products of each pair of predictors' rows, (S, p²)."""
        rows = tuple(part.toarray() for part in problem.predictors)
        squares = {}
        for b, c in itertools.combinations_with_replacement(range(len(rows)), 2):
            product = rows[b][:, :, None] * rows[c][:, None, :]
            product = product if b == c else product + product.transpose(0, 2, 1)
            squares[b, c] = product.reshape(len(product), -1)
        return cls(problem, rows, squares)

    def at(self, params: FloatArray) -> list[FloatArray]:
        """Return the predictors at parameters (T, p) of T tables, each (T, S)."""
        return [params @ rows.T + offset for rows, offset in zip(self.rows, self.problem.offsets, strict=True)]

    def solve(self, counts: FloatArray, start: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Fit B tables (B, S, C) by Newton's method."""
        params = np.repeat(start[None, :], len(counts), axis=0)
        done = np.full(len(counts), len(start) == 0)
        active = np.flatnonzero(~done)
        for _ in range(_MAX_STEPS):
            if not len(active):
                break
            step, decrement, solved = _newton_step(self, counts[active], params[active])
            params[active] += step
            done[active[solved & (decrement < _DECREMENT)]] = True
            moved = enumerate(_reach(self, params[active]))
            far = np.any([reach > _FAR[b > 0] for b, reach in moved], axis=0)
            far |= _at_edge(self.problem, self.at(params[active]))
            active = active[solved & (decrement >= _DECREMENT) & ~far]
        return params, done


def _newton_step(
    rows: _Rows, counts: FloatArray, params: FloatArray
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Return damped Newton steps (B, p), their decrements (B,), and the tables with a solution (B,)."""
    p_size, response, at = params.shape[1], rows.problem.response, rows.at(params)
    _, excess, weight = response.contributions(at, np.moveaxis(counts, 2, 0))
    gradient = np.sum([part @ own for part, own in zip(excess, rows.rows, strict=True)], axis=0)
    information = np.sum([weight[at] @ squares for at, squares in rows.squares.items()], axis=0)
    information = information.reshape(-1, p_size, p_size)
    scale = 1 / np.sqrt(np.maximum(np.einsum("bpp->bp", information), 1e-300))
    scaled = information * scale[:, :, None] * scale[:, None, :]
    solved = np.linalg.eigvalsh(scaled)[:, 0] > 1e-11
    scaled[~solved] = np.eye(p_size)
    step = scale * np.linalg.solve(scaled, (scale * gradient)[:, :, None])[:, :, 0]
    decrement = np.einsum("bp,bp->b", step, gradient)
    # a step longer than 2 in some predictor is shortened: the start is near, so only a far maximum asks for one
    moved = np.max(_reach(rows, step), axis=0)
    step = step * np.minimum(_room(rows, at, step), 2.0 / np.maximum(moved, 1e-300))[:, None]
    return step, decrement, solved


def _room(rows: _Rows, at: list[FloatArray], step: FloatArray) -> FloatArray:
    """Return the share, at most 1, of each step (T, p) that leaves the cuts of a cumulative link in order, (T,)."""
    shares = np.ones(len(step))
    if isinstance(rows.problem.response, Cumulative):
        for here, part in zip(at[1:], rows.rows[1:], strict=True):
            falls = np.minimum(step @ part.T, -1e-300)
            shares = np.minimum(shares, (_SHORT * here / -falls).min(axis=1))
    return shares


def _at_edge(problem: Problem, predictors: list[FloatArray]) -> npt.NDArray[np.bool_]:
    """Return which tables have cuts that have met, (T,): these have no maximum with cuts in order."""
    if not isinstance(problem.response, Cumulative):
        return np.zeros(len(predictors[0]), dtype=np.bool_)
    return np.asarray(problem.response.room(predictors).min(axis=1) < _MEET)


def _reach(rows: _Rows, params: FloatArray) -> list[FloatArray]:
    """Return the largest absolute value of each predictor for parameters (T, p), each (T,)."""
    return [np.abs(params @ part.T).max(axis=1, initial=0) for part in rows.rows]
