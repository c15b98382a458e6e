"""The maximum of Laplace's approximation or of expectation propagation, and judgments simulated there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..resampling import step_made
from .crossed import Crossed, components
from .indexed_rows import FloatArray, IntArray
from .laplace import Approximation, Method, NormalDensity, diagonal, information_beside, laplace
from .likelihood import Problem
from .marginal import Marginal, Rule
from .mixed import MixedFit, Predicted, State, climbed, fit_at, nothing, without_effects
from .propagation import propagated

_DECREMENT = 1e-10
_COST = 8.0  # a line of counts costs as much as so many numbers evaluated elsewhere
_STEP = 1e-4  # step of a parameter in the differences that give the information
# up to so many lines times parameters the information is exact
_EXACT: dict[Method, float] = {"laplace": 3e6, "ep": 1e5}
_APPROXIMATIONS = {"laplace": laplace, "ep": propagated}


class NormalLikelihood:
    """An approximation by a normal density, where some scales may be held at 0 and one at its value."""

    def __init__(self, problem: Problem, found: Crossed, method: Method, held: int | None = None) -> None:
        self.problem, self.found, self.method, self.held, self.n_iter = problem, found, method, held, 0
        self.size = problem.signed.shape[1]
        self.near: Approximation | None = None

    def few(self, kept: tuple[int, ...]) -> bool:
        """Whether points cost so little that the maximum is computed to the last digit."""
        return False

    def at(self, at: FloatArray, kept: tuple[int, ...], near: Approximation | None) -> Approximation:
        """Return the approximation at parameters and logarithms of the kept scales."""
        self.n_iter += 1
        step_made(_COST * len(self.found.rows))
        return _APPROXIMATIONS[self.method](self.problem, self.found, at[: self.size], self.scales(at, kept), near)

    def scales(self, at: FloatArray, kept: tuple[int, ...]) -> FloatArray:
        """Return all scales."""
        scales = np.zeros(len(self.found.levels))
        scales[list(kept)] = np.exp(at[self.size :])
        return scales

    def __call__(
        self, at: FloatArray, kept: tuple[int, ...], rule: Rule | NormalDensity, near: Marginal | None
    ) -> Marginal:
        """Return the likelihood at parameters and logarithms of the kept scales."""
        found = self.at(at, kept, self.near)
        self.near = found
        known = np.append(np.arange(self.size), self.size + np.array(kept, dtype=np.int64))
        score = found.score[known]
        assert isinstance(rule, NormalDensity)
        information = self.exact(at, kept, found) if rule.exact else self.beside(at, kept, found, scales=rule.scales)
        return Marginal(found.value, score, information, ())

    def beside(self, at: FloatArray, kept: tuple[int, ...], found: Approximation, *, scales: bool = True) -> FloatArray:
        """Return the information, that of the fixed parameters with weights held; without `scales` of these alone."""
        p = self.size
        information = np.zeros((len(at), len(at)))
        information[:p, :p] = information_beside(self.problem, self.found, at[:p], self.scales(at, kept), found)
        for k in range(p, len(at)) if scales else ():
            information[k] = information[:, k] = self._slope(at, kept, found, k, both=False)
        information[p:, p:] = (information[p:, p:] + information[p:, p:].T) / 2
        return information

    def exact(self, at: FloatArray, kept: tuple[int, ...], found: Approximation) -> FloatArray:
        """Return the information by differences of the score in every parameter."""
        slopes = np.stack([self._slope(at, kept, found, k, both=True) for k in range(len(at))])
        return (slopes + slopes.T) / 2

    def _slope(
        self, at: FloatArray, kept: tuple[int, ...], found: Approximation, which: int, *, both: bool
    ) -> FloatArray:
        """Return minus the derivatives of the score in one parameter, by differences on both sides or on one."""
        step = np.zeros(len(at))
        step[which] = _STEP
        known = np.append(np.arange(self.size), self.size + np.array(kept, dtype=np.int64))
        ahead = self.at(at + step, kept, found).score[known]
        behind = (self.at(at - step, kept, found) if both else found).score[known]
        return np.asarray((behind - ahead) / ((2 if both else 1) * _STEP))


def normal_maximum(problem: Problem, found: Crossed, start: FloatArray, scales: FloatArray, method: Method) -> MixedFit:
    """Return the maximum of Laplace's approximation, or of expectation propagation.

    Parameters
    ----------
    problem : Problem
    found : Crossed
    start : ndarray, shape (p,)
        The estimates without effects.
    scales : ndarray, shape (E,)
        Where to start the scales, above 0.
    method : {"laplace", "ep"}

    Notes
    -----
    Newton's method with the exact gradient. The last steps use the information at the maximum, from differences of the
    score in all parameters. In large tables the information of the fixed parameters holds the weights of the judgments;
    it leaves out the curvature of ½ log|H|, which is small beside it.
    """
    likelihood = NormalLikelihood(problem, found, method)
    kept = tuple(range(len(scales)))
    first = State(np.concatenate([start, np.log(scales)]), kept, nothing())
    state = climbed(likelihood, first, NormalDensity(exact=False, method=method), _DECREMENT)
    rule = NormalDensity(exact=len(found.rows) * len(state.at) <= _EXACT[method], method=method)
    if state.kept and rule.exact:
        state = climbed(likelihood, replace(state, found=nothing()), rule, _DECREMENT)
    if not state.kept:
        zero = tuple(Predicted(*of, np.zeros(len(of[0])), np.zeros(len(of[0]))) for of in found.levels)
        return replace(without_effects(problem, start, len(scales), likelihood.n_iter), predicted=zero)
    return fit_at(state, len(scales), rule, 0.0, likelihood)


def approximation_at(problem: Problem, found: Crossed, best: MixedFit) -> Approximation:
    """Return the approximation at the estimates, by the method of the fit."""
    method = best.rule.method if isinstance(best.rule, NormalDensity) else "laplace"
    return _APPROXIMATIONS[method](problem, found, best.params, best.scales)


def predicted_effects(problem: Problem, found: Crossed, best: MixedFit) -> tuple[Predicted, ...]:
    """Return the most probable effects of each scale at the estimates, with errors by the curvature there.

    For expectation propagation they are means and standard deviations.
    """
    at = approximation_at(problem, found, best)
    mode, variances = at.mode, diagonal(found, at.solved)
    parts = (mode.own[:-1], mode.shared[:-1])
    return tuple(_of_scale(found, e, sigma, parts, variances) for e, sigma in enumerate(best.scales.tolist()))


def _of_scale(
    found: Crossed, e: int, sigma: float, modes: tuple[FloatArray, FloatArray], variances: list[FloatArray]
) -> Predicted:
    own = int(bool((found.scales[1] == e).any()))
    mine = found.scales[own] == e
    variance = variances[own][mine]
    if len(found.touched[e]) == 2 and found.sign[found.scale == e][1] < 0:
        # less the variance of the mean, on which judgments give no information
        variance = variance - 1 / components(found, e)
    level, thing = found.levels[e]
    return Predicted(level, thing, sigma * modes[own][mine], sigma * np.sqrt(np.maximum(variance, 0)))


def simulated(problem: Problem, found: Crossed, best: MixedFit, lines: IntArray, rng: np.random.Generator) -> Crossed:
    """Return judgments simulated at the estimates on some of the lines: first effects, then outcomes."""
    predictors = np.stack(problem.at(best.params))[:, found.rows[lines]]
    for e, (levels, _) in enumerate(found.levels):
        effects = best.scales[e] * rng.standard_normal(len(levels))
        for place, touched in zip(np.flatnonzero(found.scale == e), found.touched[e], strict=True):
            predictors[found.predictor[place]] += found.sign[place] * effects[touched[lines]]
    p = np.maximum(problem.response.probabilities(predictors)[0].T, 0.0)
    totals = found.counts[:, lines].sum(axis=0).astype(np.int64)
    drawn = rng.multinomial(totals, p / p.sum(axis=1, keepdims=True)).astype(np.float64)
    return found.take(lines, drawn)
