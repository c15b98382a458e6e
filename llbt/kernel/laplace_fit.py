"""The maximum of Laplace's approximation or of expectation propagation, and judgments simulated there."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..resampling import step_made
from .crossed import Crossed, components
from .indexed_rows import FloatArray, IntArray
from .laplace import Approximation, Method, NormalDensity, Sites, diagonal, information_beside, laplace
from .likelihood import Problem
from .marginal import Marginal, Rule
from .mixed import MixedFit, Predicted, State, climbed, fit_at, nothing, without_effects
from .propagation import propagated

_DECREMENT = {False: 1e-10, True: 1e-5}  # squared distance to the maximum, in standard errors: few lines, many
# cost of a line of counts, and of a product of the shared effects' matrix, in the numbers that `step_made` counts
_COST: dict[Method, tuple[float, float]] = {"laplace": (150.0, 0.004), "ep": (400.0, 0.02)}
_STEP = {False: 1e-4, True: 1e-3}  # step of a parameter in the differences that give the information
# up to so many lines times parameters the information is exact
_EXACT: dict[Method, float] = {"laplace": 3e6, "ep": 1e5}


class NormalLikelihood:
    """An approximation by a normal density; some scales may be held at 0, and one at its current value.

    `sites` are where expectation propagation starts.
    """

    def __init__(
        self,
        problem: Problem,
        crossed: Crossed,
        method: Method,
        held: int | None = None,
        sites: Sites | None = None,
    ) -> None:
        self.problem, self.method, self.held, self.n_iter = problem, method, held, 0
        self.crossed, self.many = crossed.contrasted(), crossed.many
        self.size = problem.signed.shape[1]
        self.sites = sites
        self.near: Approximation | None = None

    @cached_property
    def _reach(self) -> FloatArray:
        """How far a step of 1 in each fixed parameter moves the predictors that it enters, (p,): 1 for objects."""
        rows = [predictor.toarray() for predictor in self.problem.predictors]
        squares, entered = sum((row**2).sum(axis=0) for row in rows), sum((row != 0).sum(axis=0) for row in rows)
        return np.asarray(np.sqrt(np.maximum(squares, 1e-300) / np.maximum(entered, 1)))

    def few(self, active: tuple[int, ...]) -> bool:
        """Whether points cost so little that the maximum is computed to the last digit."""
        return False

    def at(self, at: FloatArray, active: tuple[int, ...], near: Approximation | None) -> Approximation:
        """Return the approximation at parameters and logarithms of the active scales."""
        self.n_iter += 1
        of_line, of_product = _COST[self.method]
        step_made(of_line * len(self.crossed.rows) + of_product * len(self.crossed.scales[1]) ** 3)
        params, scales = at[: self.size], self.scales(at, active)
        if self.method == "laplace":
            return laplace(self.problem, self.crossed, params, scales, near)
        return propagated(self.problem, self.crossed, params, scales, self.sites if near is None else near.sites)

    def scales(self, at: FloatArray, active: tuple[int, ...]) -> FloatArray:
        """Return all scales."""
        scales = np.zeros(len(self.crossed.levels))
        scales[list(active)] = np.exp(at[self.size :])
        return scales

    def __call__(
        self, at: FloatArray, active: tuple[int, ...], rule: Rule | NormalDensity, near: Marginal | None
    ) -> Marginal:
        """Return the likelihood at parameters and logarithms of the active scales."""
        point = self.at(at, active, self.near)
        self.near = point
        known = np.append(np.arange(self.size), self.size + np.array(active, dtype=np.int64))
        score = point.score[known]
        assert isinstance(rule, NormalDensity)
        information = (
            self.exact(at, active, point) if rule.exact else self.beside(at, active, point, scales=rule.scales)
        )
        return Marginal(point.value, score, information, ())

    def beside(
        self, at: FloatArray, active: tuple[int, ...], point: Approximation, *, scales: bool = True
    ) -> FloatArray:
        """Return the information of fixed parameters, with weights held, and of scales, which is 0 without `scales`."""
        p = self.size
        information = np.zeros((len(at), len(at)))
        information[:p, :p] = information_beside(self.problem, self.crossed, at[:p], self.scales(at, active), point)
        for k in range(p, len(at)) if scales else ():
            information[k] = information[:, k] = self._slope(at, active, point, k, both=False)
        information[p:, p:] = (information[p:, p:] + information[p:, p:].T) / 2
        return information

    def exact(self, at: FloatArray, active: tuple[int, ...], point: Approximation) -> FloatArray:
        """Return the information, computed from differences of the score in every parameter."""
        slopes = np.stack([self._slope(at, active, point, k, both=True) for k in range(len(at))])
        return (slopes + slopes.T) / 2

    def _slope(
        self, at: FloatArray, active: tuple[int, ...], point: Approximation, which: int, *, both: bool
    ) -> FloatArray:
        """Return minus the derivatives of the score in one parameter, by differences on both sides or on one."""
        size = _STEP[self.many] / (self._reach[which] if which < self.size else 1.0)
        step = np.zeros(len(at))
        step[which] = size
        known = np.append(np.arange(self.size), self.size + np.array(active, dtype=np.int64))
        ahead = self.at(at + step, active, point).score[known]
        behind = (self.at(at - step, active, point) if both else point).score[known]
        return np.asarray((behind - ahead) / ((2 if both else 1) * size))


def normal_maximum(
    problem: Problem, crossed: Crossed, start: FloatArray, scales: FloatArray, method: Method
) -> MixedFit:
    """Return the maximum of Laplace's approximation, or of expectation propagation.

    Parameters
    ----------
    problem : Problem
    crossed : Crossed
    start : ndarray, shape (p,)
        The estimates without effects.
    scales : ndarray, shape (E,)
        Where to start the scales, above 0.
    method : {"laplace", "ep"}

    Notes
    -----
    The search is Newton's method with the exact gradient. Its last steps use the information at the maximum, from
    differences of the score in all parameters. In large tables the information of the fixed parameters is computed with
    the weights of the judgments held. It leaves out the curvature of ½ log|H|, which is small in comparison.
    """
    likelihood = NormalLikelihood(problem, crossed, method)
    enough = _DECREMENT[likelihood.many]
    active = tuple(range(len(scales)))
    first = State(np.concatenate([start, np.log(scales)]), active, nothing())
    state = climbed(likelihood, first, NormalDensity(exact=False, method=method), enough)
    rule = NormalDensity(exact=len(crossed.rows) * len(state.at) <= _EXACT[method], method=method)
    if state.active and rule.exact:
        state = climbed(likelihood, replace(state, marginal=nothing()), rule, enough)
    if not state.active:
        zero = tuple(Predicted(*of, np.zeros(len(of[0])), np.zeros(len(of[0]))) for of in crossed.levels)
        return replace(without_effects(problem, start, len(scales), likelihood.n_iter), predicted=zero)
    best = fit_at(state, len(scales), rule, 0.0, likelihood)
    assert likelihood.near is not None
    return replace(best, sites=likelihood.near.sites) if method == "ep" else best


def approximation_at(problem: Problem, crossed: Crossed, best: MixedFit) -> Approximation:
    """Return the approximation at the estimates, by the method of the fit."""
    if isinstance(best.rule, NormalDensity) and best.rule.method == "ep":
        return propagated(problem, crossed, best.params, best.scales, best.sites)
    return laplace(problem, crossed, best.params, best.scales)


def predicted_effects(problem: Problem, crossed: Crossed, best: MixedFit) -> tuple[Predicted, ...]:
    """Return the most probable effects of each scale at the estimates, with errors by the curvature there.

    For expectation propagation they are means and standard deviations.
    """
    at = approximation_at(problem, crossed, best)
    mode, variances = at.mode, diagonal(crossed, at.solved)
    parts = (mode.own[:-1], mode.shared[:-1])
    return tuple(_of_scale(crossed, e, sigma, parts, variances) for e, sigma in enumerate(best.scales.tolist()))


def _of_scale(
    crossed: Crossed, e: int, sigma: float, modes: tuple[FloatArray, FloatArray], variances: list[FloatArray]
) -> Predicted:
    own = int(bool((crossed.scales[1] == e).any()))
    mine = crossed.scales[own] == e
    variance = variances[own][mine]
    if crossed.bearings[e].entry.objects:
        # less the variance of the mean, on which judgments give no information
        variance = variance - 1 / components(crossed, e)
    level, thing = crossed.levels[e]
    return Predicted(level, thing, sigma * modes[own][mine], sigma * np.sqrt(np.maximum(variance, 0)))


def simulated(problem: Problem, crossed: Crossed, best: MixedFit, lines: IntArray, rng: np.random.Generator) -> Crossed:
    """Return judgments simulated at the estimates on some of the lines: first effects, then outcomes.

    A fractional total is rounded up with the probability of its fraction.
    """
    predictors = np.stack(problem.at(best.params))[:, crossed.rows[lines]]
    for e, (levels, _) in enumerate(crossed.levels):
        effects = best.scales[e] * rng.standard_normal(len(levels))
        for place, touched in zip(np.flatnonzero(crossed.scale == e), crossed.touched[e], strict=True):
            factor = np.broadcast_to(crossed.factor[place], len(crossed.rows))[lines]
            predictors[crossed.predictor[place]] += factor * effects[touched[lines]]
    p = np.maximum(problem.response.probabilities(predictors)[0].T, 0.0)
    totals = crossed.counts[:, lines].sum(axis=0)
    fractions = totals % 1
    totals = np.floor(totals) + (rng.random(len(totals)) < fractions if fractions.any() else 0)
    drawn = rng.multinomial(totals.astype(np.int64), p / p.sum(axis=1, keepdims=True)).astype(np.float64)
    return crossed.take(lines, drawn)
