"""One common factor of judges' effects on log-worths: its loadings, by the maximum of expectation propagation.

Judge g has the effects b_gi + ℓᵢ f_g on the log-worths, with b_gi ~ N(0, σ²) and f_g ~ N(0, 1), all independent: the
covariance of a judge's effects is σ²I + ℓℓᵀ, a factor-analytic structure of rank 1. Only differences of loadings enter
comparisons, so their mean is 0. Their common sign is arbitrary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, optimize

from ..core.columns import FloatArray, IntArray
from .crossed import Bearing, Crossed, crossed
from .effect_groups import Entry
from .laplace import Approximation, NormalDensity, Sites
from .laplace_fit import NormalLikelihood, normal_maximum
from .likelihood import Problem
from .mixed import MixedFit, State, climbed, nothing, scaled_inverse
from .propagation import factor_slopes

_START = 0.4  # start of the factor's scale
_SMALLEST = 0.1  # start of a scale that was 0 at the loadings before
_STEP = 1e-3  # step of a predictor in the differences that give residuals
_WIDE = 0.02  # step of a loading in the differences that give the information
_NEAR = 1e-7  # squared distance to each maximum, in standard errors
_FLAT = 0.02  # largest slope at the maximum, in log-likelihood for loadings of length 1
_ITERATIONS = 50
_DIRECTIONS = 2  # so many directions are tried before the search


@dataclass(frozen=True, eq=False)
class FactorLines:
    """Lines of counts with effects, and the grouping whose levels have a common factor.

    Attributes
    ----------
    problem : Problem
    effects : Crossed
        The effects without the factor.
    grouping : int
        The number of the grouping in the bearings of the effects.
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

    def alone(self) -> MixedFit:
        """Return the maximum without the factor."""
        scales = np.full(len(self.effects.bearings), 2 * _START)
        return normal_maximum(self.problem, self.effects, self.plain, scales, "ep")

    def beside(self, loadings: FloatArray) -> Crossed:
        """Return the lines with a factor of given loadings (J,)."""
        effects, pairs = self.effects, self.effects.pairs
        values = loadings[pairs[:, 0]] - loadings[pairs[:, 1]]
        factor = Bearing(self.grouping, self.codes, Entry(False, (0,), values))
        return crossed(effects.rows, effects.counts.T, pairs, [*effects.bearings, factor])

    def point(
        self, loadings: FloatArray, at: FloatArray, active: tuple[int, ...], sites: Sites | None
    ) -> tuple[Approximation, FloatArray]:
        """Return the approximation at loadings, parameters and log scales, and its slopes in the loadings (J,)."""
        likelihood = NormalLikelihood(self.problem, self.beside(loadings), "ep", sites=sites)
        point = likelihood.at(at, active, None)
        lines, scales = likelihood.crossed, likelihood.scales(at, active)
        of_lines = factor_slopes(self.problem, lines, at[: likelihood.size], scales, len(scales) - 1, point)
        return point, self._by_object(of_lines)

    def directions(self) -> FloatArray:
        """Return orthogonal directions of the judges' residuals, (≤ J, J): along the first they differ most."""
        eta, step = np.stack(self.problem.at(self.plain)), _STEP * np.eye(len(self.problem.offsets))[0][:, None]
        ahead, behind = (self.problem.response.probabilities(eta + side)[0] for side in (step, -step))
        slopes = (np.log(ahead) - np.log(behind)).T / (2 * _STEP)
        of_lines = (self.effects.counts.T * slopes[self.effects.rows]).sum(axis=1)
        residuals = np.zeros((int(self.codes.max()) + 1, self.objects))
        for side, sign in ((0, 1), (1, -1)):
            np.add.at(residuals, (self.codes, self.effects.pairs[self.effects.rows, side]), sign * of_lines)
        return np.asarray(linalg.svd(residuals, full_matrices=False)[2])

    def _by_object(self, of_lines: FloatArray) -> FloatArray:
        first, second = self.effects.pairs[self.effects.rows].T
        sums = [np.bincount(side, of_lines, self.objects) for side in (first, second)]
        return np.asarray(sums[0] - sums[1], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class FactorFit:
    """The maximum over the loadings.

    Attributes
    ----------
    loadings : ndarray, shape (J,)
        In log-worths, of mean 0; all 0 if no factor increases the likelihood.
    covariance : ndarray, shape (J, J)
        Of the loadings, by the observed information; NaN without a factor.
    best : MixedFit
        The maximum at the loadings; the last scale is that of the factor, 1.
    """

    loadings: FloatArray
    covariance: FloatArray
    best: MixedFit


def factor_maximum(lines: FactorLines, alone: MixedFit, *, errors: bool = True) -> FactorFit:
    """Return the loadings that maximize the likelihood, given the maximum without a factor.

    Parameters
    ----------
    lines : FactorLines
    alone : MixedFit
    errors : bool
        Whether the covariance of the loadings is computed; else it is NaN.

    Notes
    -----
    The search climbs the likelihood's profile by BFGS from the direction along which the judges' residuals differ most.
    Its slope is the slope of the likelihood at the other parameters' maximum.
    """
    search = _Search(lines, alone)
    start = max((search.at(_scaled(one)) for one in lines.directions()[:_DIRECTIONS]), key=lambda one: one.value)
    unknown = np.full((lines.objects,) * 2, np.nan)
    if not start.has_factor:
        return FactorFit(np.zeros(lines.objects), unknown, alone)
    search_end = optimize.minimize(
        search.fall, start.loadings, jac=True, method="BFGS", options={"gtol": _FLAT, "maxiter": _ITERATIONS}
    )
    direction, scales = _scaled(search_end.x), np.maximum(search.scales, _SMALLEST)
    best = normal_maximum(lines.problem, lines.beside(direction), lines.plain, scales, "ep")
    loadings = direction * best.scales[-1] * np.sign(direction[np.argmax(np.abs(direction))])
    best = replace(best, scales=np.append(best.scales[:-1], 1.0))
    return FactorFit(loadings, _covariance(lines, loadings, best) if errors else unknown, best)


@dataclass(frozen=True, eq=False)
class _There:
    """The maximum at loadings of length 1: parameters with log scales, which scales are above 0, value and sites."""

    loadings: FloatArray
    at: FloatArray
    active: tuple[int, ...]
    value: float
    sites: Sites | None
    has_factor: bool


class _Search:
    """The profile over the loadings; each maximum starts from the best one so far."""

    def __init__(self, lines: FactorLines, alone: MixedFit) -> None:
        self.lines, self.value = lines, -np.inf
        self.params, self.scales, self.sites = alone.params, np.append(alone.scales, _START), alone.sites

    def at(self, loadings: FloatArray) -> _There:
        """Return the maximum at some loadings."""
        likelihood = NormalLikelihood(self.lines.problem, self.lines.beside(loadings), "ep", sites=self.sites)
        logs, size = np.log(np.maximum(self.scales, _SMALLEST)), len(self.params)
        first = State(np.concatenate([self.params, logs]), tuple(range(len(logs))), nothing())
        state = climbed(likelihood, first, NormalDensity(exact=False, method="ep"), _NEAR)
        sites = None if likelihood.near is None else likelihood.near.sites
        has_factor = len(logs) - 1 in state.active
        if state.marginal.value > self.value and has_factor:
            self.params, self.sites, self.value = state.at[:size], sites, state.marginal.value
            self.scales = np.zeros(len(logs))
            self.scales[list(state.active)] = np.exp(state.at[size:])
        return _There(loadings, state.at, state.active, state.marginal.value, sites, has_factor)

    def fall(self, loadings: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the log-likelihood at some loadings, and its slopes; their length does not matter."""
        there = self.at(_scaled(loadings))
        if not there.has_factor:
            return -there.value, np.zeros(len(loadings))
        return -there.value, -self._slopes(there) / float(linalg.norm(loadings - loadings.mean()))

    def _slopes(self, there: _There) -> FloatArray:
        slopes = self.lines.point(there.loadings, there.at, there.active, there.sites)[1]
        # longer loadings have the same maximum, with a smaller scale
        return np.asarray(slopes - (slopes @ there.loadings) * there.loadings)


def _scaled(loadings: FloatArray) -> FloatArray:
    """Return loadings of mean 0 and length 1."""
    centred = loadings - loadings.mean()
    return np.asarray(centred / linalg.norm(centred))


def _covariance(lines: FactorLines, loadings: FloatArray, best: MixedFit) -> FloatArray:
    """Return the covariance of the loadings, (J, J), by the information of all parameters; the factor has scale 1."""
    active, size = tuple(np.flatnonzero(best.scales > 0).tolist()), lines.objects
    at = np.concatenate([best.params, np.log(best.scales[list(active)])])
    contrasts = linalg.helmert(size)  # loadings have mean 0
    others = np.arange(len(at) - 1)
    known = np.append(np.arange(len(best.params)), len(best.params) + np.array(active[:-1], dtype=np.int64))

    def slopes(step: FloatArray) -> FloatArray:
        point, of_loadings = lines.point(loadings + _WIDE * step, at, active, best.sites)
        return np.concatenate([point.score[known], contrasts @ of_loadings])

    here = NormalLikelihood(lines.problem, lines.beside(loadings), "ep", sites=best.sites)
    own = here.exact(at, active, here.at(at, active, None))[np.ix_(others, others)]
    bent = np.stack([(slopes(-one) - slopes(one)) / (2 * _WIDE) for one in contrasts])
    across, among = bent[:, : len(others)], bent[:, len(others) :]
    information = np.block([[own, across.T], [across, (among + among.T) / 2]])
    inverse = scaled_inverse(information)[len(others) :, len(others) :]
    return np.asarray(contrasts.T @ inverse @ contrasts)
