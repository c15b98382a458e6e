"""Intervals of the scale of normal effects, by the profile of the marginal likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize

from .gathered import FloatArray
from .laplace import Laplace
from .marginal import Rule
from .mixed import (
    DECREMENT,
    MOST_EFFECTS,
    MarginalLikelihood,
    MixedFit,
    MixedLikelihood,
    State,
    climbed,
    dimensions_of,
    nothing,
)
from .quadrature import Quadrature, Sampling
from .solvers import eliminate

_PROFILED = {True: 31, False: 7}  # points a dimension of a profile: few effects, many
_SAMPLED = 1024  # points of a sample, where there is none of the maximum
_SEARCHES = 12
_CLOSE = 0.005  # how near the bound of an interval is found, in shares of its distance
_FARTHEST = 30.0  # where bounds are looked for
_NEAR_ZERO = 0.1  # where they are looked for first, if the estimate is 0

Fallen = Callable[[float, FloatArray], tuple[float, FloatArray]]


def profile_scale(
    likelihood_of: Callable[[int | None], MarginalLikelihood], found: MixedFit, which: int, drop: float
) -> tuple[float, float]:
    """Return where the likelihood, maximized over all else, has fallen by `drop` to either side of a scale.

    With fewer points than the maximum was found with: what they miss hardly depends on the scale. The lower bound is 0
    where the likelihood does not fall that far down to 0, the upper one infinite where it does not up to 30, or where
    it has no maximum that far out.
    `likelihood_of` makes the likelihood in which one of the scales, or none, is held.
    """
    kept = tuple(np.flatnonzero((found.scales > 0) | (np.arange(len(found.scales)) == which)).tolist())
    likelihood, p = likelihood_of(which), len(found.params)
    few = likelihood.few(kept)
    rule = _rule(found, likelihood, kept, few, zero=found.scales[which] == 0)
    free = likelihood_of(None)
    scales = np.where(found.scales > 0, found.scales, _NEAR_ZERO)
    best = np.concatenate([found.params, np.log(scales[list(kept)])])
    place = p + kept.index(which)

    def fallen(log: float, near: FloatArray) -> tuple[float, FloatArray]:
        at = near.copy()
        at[place] = log
        state = climbed(likelihood, State(at, kept, nothing()), rule, DECREMENT[few])
        return state.found.value + state.decrement / 2, state.at if len(state.at) == len(at) else at

    if found.scales[which] == 0:
        return 0.0, _above_zero(fallen, _at_zero(free, kept, which, best, rule, few), best, drop)
    top, best = fallen(best[place], best)
    bounds = []
    for side in (-1, 1):
        if side < 0 and top - _at_zero(free, kept, which, best, rule, few) <= drop:
            bounds.append(0.0)
            continue
        log = best[place] + side * np.sqrt(2 * drop * found.covariance[p + which, p + which])
        bounds.append(_bound(fallen, top, best, place, log, drop))
    return bounds[0], bounds[1]


def _rule(
    found: MixedFit, likelihood: MarginalLikelihood, kept: tuple[int, ...], few: bool, zero: bool
) -> Rule | Laplace:
    """Return the points of a profile: those of the maximum, or fewer where these are many, or have a dimension less."""
    rule = found.rule
    if not isinstance(likelihood, MixedLikelihood) or isinstance(rule, Laplace):
        return Laplace(exact=False)
    if isinstance(rule, Sampling):
        return rule
    if rule is None and dimensions_of(likelihood.bundles, kept) > MOST_EFFECTS:
        return Sampling(_SAMPLED, np.inf, 0)
    if rule is not None and few and not zero:
        return rule
    return Quadrature(_PROFILED[few] if rule is None else min(rule.number, _PROFILED[few]))


def _bound(fallen: Fallen, top: float, best: FloatArray, place: int, log: float, drop: float) -> float:
    """Return the scale at which the likelihood has fallen by `drop`: its root is about linear in log σ."""
    near = best
    for _ in range(_SEARCHES):
        try:
            value, near = fallen(log, near)
        except np.linalg.LinAlgError:
            if log < best[place]:
                raise
            return np.inf  # judges that are next to consistent: nothing is found so far out
        share = np.sqrt(max(top - value, 1e-8 * drop) / drop)
        if abs(share - 1) < _CLOSE:
            break
        if log >= np.log(_FARTHEST) and share < 1:
            return np.inf
        log = min(best[place] + (log - best[place]) * min(1 / share, 3.0), np.log(_FARTHEST))
    return float(np.exp(log))


def _above_zero(fallen: Fallen, top: float, best: FloatArray, drop: float) -> float:
    """Return the scale at which the likelihood has fallen by `drop` from where it is 0, its maximum."""
    known: dict[float, tuple[float, FloatArray]] = {}

    def left(log: float) -> float:
        nearest = min(known, key=lambda other: abs(other - log), default=None)
        known[log] = fallen(log, best if nearest is None else known[nearest][1])
        return known[log][0] - top + drop

    low, high = -np.inf, float(np.log(_NEAR_ZERO))
    while left(high) > 0:
        if high >= np.log(_FARTHEST):
            return np.inf
        low, high = high, min(high + 0.7, float(np.log(_FARTHEST)))
    while not np.isfinite(low):
        tried = high - 0.7
        low, high = (tried, high) if left(tried) > 0 else (low, tried)
    return float(np.exp(optimize.brentq(left, low, high, xtol=_CLOSE)))


def _at_zero(
    free: MarginalLikelihood, kept: tuple[int, ...], which: int, best: FloatArray, rule: Rule | Laplace, few: bool
) -> float:
    """Return the maximum of the likelihood where one of the scales is 0."""
    others, p = tuple(e for e in kept if e != which), free.size
    rest = np.delete(best, p + kept.index(which))
    if not others:
        return float(eliminate(free.problem, start=best[:p]).objective)
    return climbed(free, State(rest, others, nothing()), rule, DECREMENT[few]).found.value
