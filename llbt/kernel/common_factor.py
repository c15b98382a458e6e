"""Loadings of common factors of judges' effects on log-worths, by maximum likelihood with expectation propagation.

Judge g has the effects b_gi + Σ_r ℓ_ir f_gr on the log-worths, with independent b_gi ~ N(0, σ²) and f_gr ~ N(0, 1): the
covariance of a judge's effects is σ²I + LLᵀ, a factor-analytic structure of rank R. Only differences of loadings enter
comparisons, so each column of L is set to mean 0. The columns are orthogonal, the longest first; their signs are
arbitrary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy import linalg, optimize

from ..core.columns import FloatArray, IntArray
from .crossed import Bearing, Crossed, crossed
from .effect_groups import Entry
from .laplace import Approximation, NormalDensity, Sites
from .laplace_fit import NormalLikelihood, normal_maximum, simulated
from .likelihood import Problem
from .mixed import MixedFit, State, climbed, nothing, scaled_inverse
from .propagation import factor_slopes

_START = 0.4  # start of the factor's scale
_SMALLEST = 0.1  # start of a scale that was 0 at the previous loadings
_WIDE = 0.02  # step of a loading in the differences that give the information
_NEAR = 1e-7  # squared distance at which a search for a maximum ends, in standard errors
_FLAT = 0.02  # largest slope of the log-likelihood at the maximum, for loadings of length 1
_ITERATIONS = 50
_DIRECTIONS = 2  # directions that are tried as the start of the search


@dataclass(frozen=True, eq=False)
class FactorLines:
    """Lines of counts with effects, and the grouping whose levels have common factors.

    Attributes
    ----------
    problem : Problem
    effects : Crossed
        The effects without factors.
    grouping : int
        The number of this grouping among the groupings of `effects`.
    plain : ndarray, shape (p,)
        The estimates without effects.
    """

    problem: Problem
    effects: Crossed
    grouping: int
    plain: FloatArray

    @property
    def objects(self) -> int:
        """The number of objects J."""
        return int(self.effects.pairs.max()) + 1

    @property
    def codes(self) -> IntArray:
        """The level of each line in the grouping, (L,)."""
        return next(one.codes for one in self.effects.bearings if one.grouping == self.grouping)

    def alone(self) -> FactorFit:
        """Return the maximum without factors."""
        scales = np.full(len(self.effects.bearings), 2 * _START)
        none = np.zeros((self.objects, 0))
        return FactorFit(none, normal_maximum(self.problem, self.effects, self.plain, scales, "ep"))

    def beside(self, loadings: FloatArray) -> Crossed:
        """Return the lines with factors of given loadings (J, R)."""
        effects, pairs = self.effects, self.effects.pairs
        values = loadings[pairs[:, 0]] - loadings[pairs[:, 1]]
        factors = [Bearing(self.grouping, self.codes, Entry(False, (0,), one)) for one in values.T]
        return crossed(effects.rows, effects.counts.T, pairs, [*effects.bearings, *factors])

    def point(
        self, loadings: FloatArray, at: FloatArray, active: tuple[int, ...], sites: Sites | None
    ) -> tuple[Approximation, FloatArray]:
        """Return the approximation at loadings, parameters and log scales, and its slopes in the loadings (J, R)."""
        likelihood = NormalLikelihood(self.problem, self.beside(loadings), "ep", sites=sites)
        point = likelihood.at(at, active, None)
        lines, scales = likelihood.crossed, likelihood.scales(at, active)
        factors = np.arange(len(scales))[len(self.effects.bearings) :]
        slopes = [factor_slopes(self.problem, lines, at[: likelihood.size], scales, k, point) for k in factors.tolist()]
        return point, np.column_stack([self._by_object(of_lines) for of_lines in slopes])

    def drawn(self, fit: FactorFit, rng: np.random.Generator) -> FactorLines:
        """Return the lines with judgments drawn at a maximum, with the same `plain`."""
        lines = self.beside(fit.loadings)
        drawn = simulated(self.problem, lines, fit.best, np.arange(len(lines.rows)), rng)
        counts = np.zeros(self.problem.counts.shape)
        np.add.at(counts, drawn.rows, drawn.counts.T)
        effects = crossed(drawn.rows, drawn.counts.T, drawn.pairs, self.effects.bearings)
        return replace(self, problem=replace(self.problem, counts=counts), effects=effects)

    def directions(self, fit: FactorFit) -> FloatArray:
        """Return orthogonal directions of another factor, (J − 1, J): the likelihood rises most along the first."""
        contrasts, active = linalg.helmert(self.objects), np.flatnonzero(fit.best.scales > 0)
        logs = np.concatenate([np.log(fit.best.scales[active]), np.full(len(contrasts), np.log(_WIDE))])
        added = len(fit.best.scales) + np.arange(len(contrasts))
        at, scales = np.concatenate([fit.best.params, logs]), tuple(np.append(active, added).tolist())
        loadings = np.column_stack([fit.loadings, contrasts.T])
        slopes = self.point(loadings, at, scales, fit.best.sites)[1][:, fit.rank :]
        # small loadings L change the log-likelihood by ½ tr(LᵀML), whose slopes are M L
        bend = contrasts @ slopes
        return np.asarray(linalg.eigh(bend + bend.T)[1].T[::-1] @ contrasts)

    def _by_object(self, of_lines: FloatArray) -> FloatArray:
        first, second = self.effects.pairs[self.effects.rows].T
        sums = [np.bincount(side, of_lines, self.objects) for side in (first, second)]
        return np.asarray(sums[0] - sums[1], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class FactorFit:
    """The maximum over the loadings of R factors.

    Attributes
    ----------
    loadings : ndarray, shape (J, R)
        In log-worths, with mean 0; R is 0 if no factor increases the likelihood.
    best : MixedFit
        The maximum at the loadings; the last R scales are those of the factors and are 1.
    """

    loadings: FloatArray
    best: MixedFit

    @property
    def rank(self) -> int:
        """The number of factors R."""
        return int(self.loadings.shape[1])


def factor_maximum(lines: FactorLines, less: FactorFit) -> FactorFit:
    """Return the loadings that maximize the likelihood with one more factor than a known maximum.

    Parameters
    ----------
    lines : FactorLines
    less : FactorFit
        The maximum with one factor fewer. It is returned if another factor does not increase the likelihood.

    Notes
    -----
    The search maximizes the profile likelihood of the loadings by BFGS. It starts at the loadings of `less`. For the
    new factor, the two directions in which the likelihood rises most are tried, and the better one is taken. The slope
    of the profile is the slope of the likelihood at the maximum over the other parameters.
    """
    search, known = _Search(lines, less), _scaled(less.loadings)
    directions = lines.directions(less)[:_DIRECTIONS]
    tried = [search.at(np.column_stack([known, one])) for one in directions]
    start = max(tried, key=lambda one: one.value)
    if not start.has_factors:
        return less
    search_end = optimize.minimize(
        search.fall, start.loadings.ravel(), jac=True, method="BFGS", options={"gtol": _FLAT, "maxiter": _ITERATIONS}
    )
    direction, scales = _scaled(search_end.x.reshape(start.loadings.shape)), np.maximum(search.scales, _SMALLEST)
    best = normal_maximum(lines.problem, lines.beside(direction), lines.plain, scales, "ep")
    own = len(best.scales) - less.rank - 1
    loadings = _along_axes(direction * best.scales[own:])
    return FactorFit(loadings, replace(best, scales=np.append(best.scales[:own], np.ones(less.rank + 1))))


@dataclass(frozen=True, eq=False)
class _There:
    """The maximum at loadings of length 1: parameters and log scales, the scales above 0, the value and the sites."""

    loadings: FloatArray
    at: FloatArray
    active: tuple[int, ...]
    value: float
    sites: Sites | None
    has_factors: bool


class _Search:
    """The profile likelihood of the loadings; the search for each maximum starts at the best maximum so far."""

    def __init__(self, lines: FactorLines, less: FactorFit) -> None:
        self.lines, self.value, self.own = lines, -np.inf, len(lines.effects.bearings)
        lengths = linalg.norm(less.loadings, axis=0)
        self.params, self.sites = less.best.params, less.best.sites
        self.scales = np.concatenate([less.best.scales[: self.own], lengths, [_START]])

    def at(self, loadings: FloatArray) -> _There:
        """Return the maximum at some loadings."""
        likelihood = NormalLikelihood(self.lines.problem, self.lines.beside(loadings), "ep", sites=self.sites)
        logs, size = np.log(np.maximum(self.scales, _SMALLEST)), len(self.params)
        first = State(np.concatenate([self.params, logs]), tuple(range(len(logs))), nothing())
        state = climbed(likelihood, first, NormalDensity(exact=False, method="ep"), _NEAR)
        sites = None if likelihood.near is None else likelihood.near.sites
        has_factors = set(range(self.own, len(logs))) <= set(state.active)
        if state.marginal.value > self.value and has_factors:
            self.params, self.sites, self.value = state.at[:size], sites, state.marginal.value
            self.scales = np.zeros(len(logs))
            self.scales[list(state.active)] = np.exp(state.at[size:])
        return _There(loadings, state.at, state.active, state.marginal.value, sites, has_factors)

    def fall(self, raveled: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the log-likelihood at some loadings, and its slopes; the lengths of columns do not matter."""
        loadings = raveled.reshape(self.lines.objects, -1)
        there = self.at(_scaled(loadings))
        if not there.has_factors:
            return -there.value, np.zeros(len(raveled))
        slopes = self.lines.point(there.loadings, there.at, there.active, there.sites)[1]
        # with longer loadings the scale is smaller and the maximum the same
        slopes -= (slopes * there.loadings).sum(axis=0) * there.loadings
        return -there.value, (-slopes / linalg.norm(loadings - loadings.mean(axis=0), axis=0)).ravel()


def _scaled(loadings: FloatArray) -> FloatArray:
    """Return loadings (J, R) with columns of mean 0 and length 1."""
    centred = loadings - loadings.mean(axis=0)
    return np.asarray(centred / linalg.norm(centred, axis=0))


def _along_axes(loadings: FloatArray) -> FloatArray:
    """Return loadings (J, R) with the same LLᵀ and orthogonal columns; the entry farthest from 0 is positive."""
    axes, lengths, _ = linalg.svd(loadings, full_matrices=False)
    return np.asarray(axes * lengths * np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(axes.shape[1])]))


def loading_errors(lines: FactorLines, fit: FactorFit) -> FloatArray:
    """Return the standard errors of the loadings (J, R), by the information of all parameters."""
    loadings, best = fit.loadings, fit.best
    if not fit.rank:
        return np.zeros(loadings.shape)
    active, (size, rank) = tuple(np.flatnonzero(best.scales > 0).tolist()), loadings.shape
    at = np.concatenate([best.params, np.log(best.scales[list(active)])])
    contrasts = linalg.helmert(size)  # loadings have mean 0
    others = np.arange(len(at) - rank)
    known = np.append(np.arange(len(best.params)), len(best.params) + np.array(active[:-rank], dtype=np.int64))

    def slopes(step: FloatArray) -> FloatArray:
        point, of_loadings = lines.point(loadings + _WIDE * step, at, active, best.sites)
        return np.concatenate([point.score[known], (contrasts @ of_loadings).T.ravel()])

    here = NormalLikelihood(lines.problem, lines.beside(loadings), "ep", sites=best.sites)
    own = here.exact(at, active, here.at(at, active, None))[np.ix_(others, others)]
    steps = [np.outer(one, unit) for unit in np.eye(rank) for one in contrasts]
    bent = np.stack([(slopes(-one) - slopes(one)) / (2 * _WIDE) for one in steps])
    across, among = bent[:, : len(others)], bent[:, len(others) :]
    free = _rotations_apart(contrasts @ loadings)
    information = np.block([[own, across.T @ free], [free.T @ across, free.T @ (among + among.T) @ free / 2]])
    inverse = free @ scaled_inverse(information)[len(others) :, len(others) :] @ free.T
    blocks = inverse.reshape(rank, size - 1, rank, size - 1)
    variances = [np.diag(contrasts.T @ blocks[r, :, r] @ contrasts) for r in range(rank)]
    return np.asarray(np.sqrt(np.maximum(np.column_stack(variances), 0)))


def _rotations_apart(loadings: FloatArray) -> FloatArray:
    """Return a basis of the changes of loadings (m, R), column after column, that keep the columns orthogonal."""
    rank = loadings.shape[1]
    moves = []
    for r, s in combinations(range(rank), 2):
        product = np.zeros(loadings.shape)  # the slope of the product of two columns
        product[:, r], product[:, s] = loadings[:, s], loadings[:, r]
        moves.append(product.T.ravel())
    return np.eye(loadings.size) if not moves else np.asarray(linalg.null_space(np.array(moves)))
