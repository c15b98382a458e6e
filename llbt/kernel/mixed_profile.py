"""Profile likelihood intervals of scales of normal effects and of fixed parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize

from .indexed_rows import FloatArray
from .laplace import NormalDensity
from .laplace_fit import NormalLikelihood
from .likelihood import Problem, information, probabilities, score
from .marginal import Rule
from .mixed import (
    DECREMENT,
    LARGEST,
    MOST_EFFECTS,
    MarginalLikelihood,
    MixedFit,
    MixedLikelihood,
    State,
    climbed,
    dimensions_of,
    nothing,
)
from .profile import profile_bounds
from .quadrature import Quadrature, Sampling
from .solvers import eliminate

_PROFILED = {True: 31, False: 7}  # points in each dimension of a profile: few effects, many
_SAMPLED = 1024  # points of a sample, if the maximum used none
_SEARCHES = 12
_CLOSE = 0.005  # error of an interval's bound, as a share of its distance from the estimate
_FALL = {True: 1e-7, False: 1e-3}  # error of the fall of the log-likelihood, as a share: few effects, many
_NEAR_ZERO = 0.1  # the first scale to try, if the estimate is 0

Fallen = Callable[[float, FloatArray], tuple[float, FloatArray]]


def profile_scale(
    likelihood_of: Callable[[int | None], MarginalLikelihood], maximum: MixedFit, which: int, drop: float
) -> tuple[float, float]:
    """Return the scales on both sides at which the profile log-likelihood has fallen by `drop`.

    The profile uses fewer points than the maximum, because their error hardly depends on the scale. The lower bound is
    0 if the likelihood does not fall so far at 0. The upper bound is infinite if the likelihood does not fall so far up
    to 10, or has no maximum there. `likelihood_of` returns the likelihood with one scale held, or none.
    """
    of = _Profile.of(likelihood_of, maximum, which)
    if maximum.scales[which] == 0:
        return 0.0, _above_zero(of.fallen, of.at_zero(of.best), of.best, drop)
    top, best = of.fallen(of.best[of.place], of.best)
    bounds = []
    for side in (-1, 1):
        if side < 0 and top - of.at_zero(best) <= drop:
            bounds.append(0.0)
            continue
        p = len(maximum.params)
        log = best[of.place] + side * np.sqrt(2 * drop * maximum.covariance[p + which, p + which])
        bounds.append(_bound(of.fallen, top, best, of.place, log, drop))
    return bounds[0], bounds[1]


def fall_at_zero(
    likelihood_of: Callable[[int | None], MarginalLikelihood], maximum: MixedFit, which: int
) -> tuple[float, bool]:
    """Return the fall of the profile log-likelihood if a scale is 0, and whether another scale is 0 there.

    Arguments are as in `profile_scale`.
    """
    of = _Profile.of(likelihood_of, maximum, which)
    others = len(maximum.scales) - 1
    if maximum.scales[which] == 0:
        return 0.0, int(np.count_nonzero(maximum.scales)) < others
    top, best = of.fallen(of.best[of.place], of.best)
    state = of.state_at_zero(best)
    return max(top - state.marginal.value - state.decrement / 2, 0.0), len(state.active) < others


@dataclass(frozen=True, eq=False)
class _Profile:
    """The profile of one of the scales: all other scales above 0 and the parameters maximize the likelihood.

    Attributes
    ----------
    held, free : MarginalLikelihood
        The likelihood with the scale held, and with no scale held.
    active : tuple of int
        The scales above 0, and the profiled one.
    which : int
    rule : Rule or NormalDensity
    few : bool
    best : ndarray, shape (p + k,)
        The parameters and the logarithms of the k active scales, at the maximum.
    place : int
        The place of the profiled scale in `best`.
    """

    held: MarginalLikelihood
    free: MarginalLikelihood
    active: tuple[int, ...]
    which: int
    rule: Rule | NormalDensity
    few: bool
    best: FloatArray
    place: int

    @classmethod
    def of(cls, likelihood_of: Callable[[int | None], MarginalLikelihood], maximum: MixedFit, which: int) -> _Profile:
        """Return the profile of a scale."""
        active = tuple(np.flatnonzero((maximum.scales > 0) | (np.arange(len(maximum.scales)) == which)).tolist())
        held = likelihood_of(which)
        few = held.few(active)
        rule = _rule(maximum, held, active, few, zero=maximum.scales[which] == 0)
        scales = np.where(maximum.scales > 0, maximum.scales, _NEAR_ZERO)
        best = np.concatenate([maximum.params, np.log(scales[list(active)])])
        place = len(maximum.params) + active.index(which)
        return cls(held, likelihood_of(None), active, which, rule, few, best, place)

    def fallen(self, log: float, near: FloatArray) -> tuple[float, FloatArray]:
        """Return the likelihood at a logarithm of the scale, and where it is reached, from a point nearby."""
        at = near.copy()
        at[self.place] = log
        state = climbed(self.held, State(at, self.active, nothing()), self.rule, DECREMENT[self.few])
        return state.marginal.value + state.decrement / 2, state.at if len(state.at) == len(at) else at

    def at_zero(self, best: FloatArray) -> float:
        """Return the maximum of the likelihood with the scale at 0."""
        return self.state_at_zero(best).marginal.value

    def state_at_zero(self, best: FloatArray) -> State:
        """Return where the likelihood is largest with the scale at 0."""
        others = tuple(e for e in self.active if e != self.which)
        start = State(np.delete(best, self.place), others, nothing())
        state = climbed(self.free, start, self.rule, DECREMENT[self.few]) if others else start
        if state.active:
            return state
        plain = eliminate(self.free.problem, start=best[: self.free.size])
        return State(plain.params, (), replace(nothing(), value=float(plain.objective)), 0.0)


def profile_fixed(
    likelihood_of: Callable[[Problem], MarginalLikelihood], problem: Problem, maximum: MixedFit, which: int, drop: float
) -> tuple[float, float]:
    """Return the values of a fixed parameter on both sides at which the profile log-likelihood has fallen by `drop`.

    The profile uses fewer points than the maximum, as in `profile_scale`.

    Parameters
    ----------
    likelihood_of : callable
        Takes a problem, in which the parameter may be held, and returns its likelihood.
    problem : Problem
    maximum : MixedFit
        The maximum.
    which : int
    drop : float
        Half a quantile of χ² on 1 df.
    """
    p, active = len(maximum.params), tuple(range(len(maximum.scales)))
    free = likelihood_of(problem)
    few = free.few(active)
    rule = _rule(maximum, free, active, few, zero=not maximum.scales.all())
    scales = np.where(maximum.scales > 0, maximum.scales, _NEAR_ZERO)

    def climb(likelihood: MarginalLikelihood, start: FloatArray) -> tuple[State, float]:
        state = climbed(likelihood, State(start, active, nothing()), rule, DECREMENT[few])
        if state.active:
            return state, state.marginal.value + state.decrement / 2
        fit = eliminate(likelihood.problem, start=state.at)
        return replace(state, at=fit.params), float(fit.objective)

    def held(start: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        value = float(start[which])
        state, height = climb(likelihood_of(_held_at(problem, which, value)), np.delete(start, which))
        at = np.insert(state.at, which, value)
        slope = np.zeros(len(start))
        slope[which] = (
            free(at, state.active, rule, None).score[which]
            if state.active
            else score(problem, probabilities(problem, at))[which]
        )
        return _with_all(at, state.active, len(start), p), slope, height

    state, highest = climb(free, np.concatenate([maximum.params, np.log(scales)]))
    best = _with_all(state.at, state.active, p + len(scales), p)
    cov = np.nan_to_num(maximum.covariance)
    if not state.active:
        cov[:p, :p] = np.linalg.inv(information(problem, probabilities(problem, state.at), problem.totals))
    return profile_bounds(held, best, cov, highest, which, drop, _FALL[few])


def _with_all(at: FloatArray, active: tuple[int, ...], size: int, p: int) -> FloatArray:
    """Return parameters and logarithms of all scales; scales that are 0 start again from `_NEAR_ZERO`."""
    values = np.full(size, np.log(_NEAR_ZERO))
    values[:p] = at[:p]
    values[p + np.array(active, dtype=np.int64)] = at[p:]
    return values


def _held_at(problem: Problem, which: int, value: float) -> Problem:
    """Return a problem with a parameter held at a value."""
    others = np.delete(np.arange(problem.signed.shape[1]), which)
    some = tuple(rows.columns(others) for rows in problem.predictors)
    added = np.stack([rows @ (value * np.eye(problem.signed.shape[1])[which]) for rows in problem.predictors])
    return replace(problem, predictors=some, offsets=problem.offsets + added)


def _rule(
    maximum: MixedFit, likelihood: MarginalLikelihood, active: tuple[int, ...], few: bool, zero: bool
) -> Rule | NormalDensity:
    """Return the points of a profile: those of the maximum; fewer if it has many or a scale is 0."""
    rule = maximum.rule
    if isinstance(likelihood, NormalLikelihood):
        return NormalDensity(exact=False, method=likelihood.method)
    assert isinstance(likelihood, MixedLikelihood)
    assert not isinstance(rule, NormalDensity)
    if isinstance(rule, Sampling):
        return rule
    if rule is None and dimensions_of(likelihood.bundles, active) > MOST_EFFECTS:
        return Sampling(_SAMPLED, np.inf, 0)
    if rule is not None and few and not zero:
        return rule
    return Quadrature(_PROFILED[few] if rule is None else min(rule.number, _PROFILED[few]))


def _bound(fallen: Fallen, top: float, best: FloatArray, place: int, log: float, drop: float) -> float:
    """Return the scale at which the likelihood has fallen by `drop`; the root of the fall is about linear in log σ."""
    near = best
    for _ in range(_SEARCHES):
        try:
            value, near = fallen(log, near)
        except np.linalg.LinAlgError:
            if log < best[place]:
                raise
            return np.inf  # judges are nearly consistent there, and Newton's method finds no maximum
        share = np.sqrt(max(top - value, 1e-8 * drop) / drop)
        if abs(share - 1) < _CLOSE:
            break
        if log >= np.log(LARGEST) and share < 1:
            return np.inf
        log = min(best[place] + (log - best[place]) * min(1 / share, 3.0), np.log(LARGEST))
    return float(np.exp(log))


def _above_zero(fallen: Fallen, top: float, best: FloatArray, drop: float) -> float:
    """Return the scale at which the likelihood has fallen by `drop`, if its maximum is at 0."""
    known: dict[float, tuple[float, FloatArray]] = {}

    def left(log: float) -> float:
        nearest = min(known, key=lambda other: abs(other - log), default=None)
        known[log] = fallen(log, best if nearest is None else known[nearest][1])
        return known[log][0] - top + drop

    low, high = -np.inf, float(np.log(_NEAR_ZERO))
    while left(high) > 0:
        if high >= np.log(LARGEST):
            return np.inf
        low, high = high, min(high + 0.7, float(np.log(LARGEST)))
    while not np.isfinite(low):
        tried = high - 0.7
        low, high = (tried, high) if left(tried) > 0 else (low, tried)
    return float(np.exp(optimize.brentq(left, low, high, xtol=_CLOSE)))
