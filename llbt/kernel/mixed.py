"""The maximum of the marginal likelihood over fixed parameters and scales of normal effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..resampling import step_made
from .group_modes import Groups, Modes
from .indexed_rows import FloatArray, IntArray
from .laplace import NormalDensity, Sites
from .likelihood import Problem, log_likelihood, probabilities
from .marginal import Marginal, Rule, marginal
from .newton import Step, newton
from .quadrature import Quadrature

MOST_EFFECTS = 4  # most effects of a group that products of rules integrate over
LARGEST = 10.0  # beyond this scale judges are practically consistent
SMALLEST = 0.02  # a smaller scale is held at 0, if the likelihood falls with it
_FIRST = 3  # points in each dimension at first
_MOST_POINTS = 4e5
_MOST = 127  # most points in each dimension; the weights of more leave the range of a float
FEW_EFFECTS = 2  # with so few effects of a group, points cost nothing
# change of the log-likelihood with more points that is small enough: few effects, many
_ENOUGH = {True: 1e-8, False: 1e-2}
DECREMENT = {True: 1e-14, False: 1e-4}  # squared distance to the maximum, in standard errors, before the last step
_NEAR = {True: 1e-14, False: 1e-2}  # the same if more points follow; with many effects these cost the most
_ITERATIONS = 60
_HALVINGS = 8
_LONGEST = 3.0  # the most that a step moves a predictor
_LONGEST_SCALE = 1.0  # the most that a step moves the logarithm of a scale


@dataclass(frozen=True, eq=False)
class Predicted:
    """The most probable effects of one scale, with their standard errors, for m effects.

    Attributes
    ----------
    level : ndarray of int, shape (m,)
    thing : ndarray of int, shape (m,)
        The object, or the number of the predictor that the effect enters.
    effect : ndarray, shape (m,)
    error : ndarray, shape (m,)
        The standard errors. For objects, they are the errors of an effect less the mean effect of the objects that the
        level's judgments connect.
    """

    level: IntArray
    thing: IntArray
    effect: FloatArray
    error: FloatArray


@dataclass(frozen=True, eq=False)
class MixedFit:
    """The maximum marginal likelihood fit.

    Attributes
    ----------
    params : ndarray, shape (p,)
    scales : ndarray, shape (E,)
        Standard deviations σ of the effects.
    value : float
        Log-likelihood Σ_g log ∫ Π p^y dΦ.
    covariance : ndarray, shape (p + E, p + E)
        Inverse observed information of the parameters and of log σ; NaN for scales that are 0.
    decrement : float
        Squared distance to the maximum before the last step, in standard errors.
    rule : Quadrature or Sampling or NormalDensity or None
        How the effects were integrated out; None if no effect is left.
    moved : float
        The change of the log-likelihood with the last added points; for a sample, its standard error.
    noise : ndarray, shape (p + E,)
        Monte Carlo errors of the parameters and of log σ; 0 without sampling.
    modes : tuple of Modes
        The modes of each bundle, for the effects whose scale is above 0.
    predicted : tuple of Predicted
        The predicted effects of each scale, by Laplace's approximation.
    infinite : tuple of int
        Scales for which the likelihood still rises at the bound `LARGEST`.
    converged : bool
    n_iter : int
    sites : (ndarray, ndarray) or None
        The sites of expectation propagation near the maximum.
    """

    params: FloatArray
    scales: FloatArray
    value: float
    covariance: FloatArray
    decrement: float
    rule: Rule | NormalDensity | None
    moved: float
    noise: FloatArray
    modes: tuple[Modes, ...]
    infinite: tuple[int, ...]
    converged: bool
    n_iter: int
    predicted: tuple[Predicted, ...] = ()
    sites: Sites | None = None


@dataclass(frozen=True, eq=False)
class State:
    """Parameters and the logarithms of the scales that are not held at 0, with the likelihood at these values."""

    at: FloatArray
    active: tuple[int, ...]
    marginal: Marginal
    decrement: float = np.inf


class MarginalLikelihood(Protocol):
    """A likelihood of fixed parameters and scales.

    It has p, the held scale, whether the last digits cost too much for so many lines, and the number of evaluations.
    """

    problem: Problem
    size: int
    held: int | None
    many: bool
    n_iter: int

    def __call__(
        self, at: FloatArray, active: tuple[int, ...], rule: Rule | NormalDensity, near: Marginal | None
    ) -> Marginal:
        """Return the likelihood at parameters and logarithms of the active scales."""

    def few(self, active: tuple[int, ...]) -> bool:
        """Whether points cost so little that the maximum is computed to the last digit."""


class MixedLikelihood:
    """The marginal likelihood, where some scales may be held at 0, and one at its current value."""

    many = False

    def __init__(self, problem: Problem, bundles: Sequence[Groups], held: int | None = None) -> None:
        self.problem, self.bundles, self.held, self.n_iter = problem, bundles, held, 0
        self.size = problem.signed.shape[1]

    def few(self, active: tuple[int, ...]) -> bool:
        """Whether points cost so little that the maximum is computed to the last digit."""
        return dimensions_of(self.bundles, active) <= FEW_EFFECTS

    def __call__(
        self, at: FloatArray, active: tuple[int, ...], rule: Rule | NormalDensity, near: Marginal | None
    ) -> Marginal:
        """Return the likelihood at parameters and logarithms of the active scales."""
        assert not isinstance(rule, NormalDensity)
        some = [restricted(groups, active) for groups in self.bundles]
        start = near.modes if near is not None and _fits(near.modes, some) else None
        self.n_iter += 1
        step_made(sum(len(g.loadings) * g.rows.size * len(rule(g.size).log_weight) for g in some))
        params, scales = at[: self.size], np.exp(at[self.size :])
        return marginal(self.problem, some, params, scales, rule, start)


def _fits(modes: Sequence[Modes], bundles: Sequence[Groups]) -> bool:
    sizes = [mode.at.shape[1] for mode in modes]
    return sizes == [groups.size for groups in bundles]


def restricted(groups: Groups, active: Sequence[int]) -> Groups:
    """Return groups with the effects of some of the scales only."""
    dims = np.flatnonzero(np.isin(groups.scale, active))
    renumbered = np.searchsorted(np.array(active, dtype=np.int64), groups.scale[dims])
    return replace(groups, loadings=np.ascontiguousarray(groups.loadings[..., dims]), scale=renumbered)


def maximize(problem: Problem, bundles: Sequence[Groups], start: FloatArray, scales: FloatArray) -> MixedFit:
    """Maximize the marginal likelihood by Newton's method, with more and more points until it no longer changes.

    Parameters
    ----------
    problem : Problem
        The comparisons; their counts are those of the groups.
    bundles : sequence of Groups
    start : ndarray, shape (p,)
        The estimates without effects.
    scales : ndarray, shape (E,)
        Where to start the scales, above 0.
    """
    likelihood = MixedLikelihood(problem, bundles)
    active = tuple(range(len(scales)))
    number, moved, before = _FIRST, np.inf, -np.inf
    state = State(np.concatenate([start, np.log(scales)]), active, nothing())
    while True:
        few = likelihood.few(state.active)
        state = climbed(likelihood, state, Quadrature(number), _NEAR[few])
        if not state.active:
            return without_effects(problem, start, len(scales), likelihood.n_iter)
        height = state.marginal.value + state.decrement / 2
        moved, before = abs(height - before), height
        if moved < _ENOUGH[few] and state.decrement >= DECREMENT[few]:
            state = climbed(likelihood, _stepped(likelihood, state), Quadrature(number), DECREMENT[few])
            if not state.active:
                return without_effects(problem, start, len(scales), likelihood.n_iter)
        dimensions = dimensions_of(bundles, state.active)
        following = number + 2 if dimensions > FEW_EFFECTS else 2 * number + 1
        settled = moved < _ENOUGH[few] and state.decrement < DECREMENT[few]
        infinite = number > _FIRST + 2 and infinite_at(state, likelihood.size)
        if settled or infinite or following > _MOST or float(following) ** dimensions > _MOST_POINTS:
            return fit_at(state, len(scales), Quadrature(number), moved, likelihood)
        number, state = following, _stepped(likelihood, state)


def _stepped(likelihood: MarginalLikelihood, state: State) -> State:
    """Return the point after one more step, with the likelihood before it."""
    return replace(state, at=state.at + newton_step(likelihood, state.at, state.active, state.marginal)[0])


def dimensions_of(bundles: Sequence[Groups], active: tuple[int, ...]) -> int:
    """Return the largest number of effects, among these scales, that a group has."""
    return max(int(np.isin(groups.scale, active).sum()) for groups in bundles)


def climbed(likelihood: MarginalLikelihood, state: State, rule: Rule | NormalDensity, enough: float) -> State:
    """Return the point where Newton's method ends with the points of a rule; scales that vanish are held at 0."""
    at, active = state.at, state.active
    near: Marginal | None = state.marginal
    while True:
        ascent = _AtPoints(likelihood, active, rule)
        search = newton(
            ascent,
            _Place(at, likelihood(at, active, rule, near)),
            enough=0.0,
            rest=enough,
            exact=0.0,
            most=_ITERATIONS,
            halvings=_HALVINGS,
            accepts=_nearer,
            ends=ascent.ends,
        )
        if search.failure is not None:
            raise search.failure
        at, marginal = search.point.at, search.point.marginal
        gone = np.flatnonzero(ascent.vanishing(search.point))
        if not len(gone):
            return State(at, active, marginal, np.inf if search.step is None else search.step.decrement)
        at, active = np.delete(at, likelihood.size + gone), tuple(np.delete(np.array(active), gone).tolist())
        if not active:
            return State(at, active, marginal)
        near = None


@dataclass(frozen=True, eq=False)
class _Place:
    """Parameters and logarithms of scales, and the likelihood there."""

    at: FloatArray
    marginal: Marginal

    @property
    def value(self) -> float:
        """The log-likelihood."""
        return self.marginal.value


@dataclass(frozen=True, eq=False)
class _AtPoints:
    """The likelihood of some of the scales, with a fixed number of points in each dimension."""

    likelihood: MarginalLikelihood
    active: tuple[int, ...]
    rule: Rule | NormalDensity

    def step(self, place: _Place) -> Step:
        """Return Newton's step, within bounds."""
        return Step(*newton_step(self.likelihood, place.at, self.active, place.marginal))

    def moved(self, place: _Place, step: FloatArray) -> _Place:
        """Return where a step leads."""
        at = place.at + step
        return _Place(at, self.likelihood(at, self.active, self.rule, place.marginal))

    def ends(self, place: _Place, step: Step, n_iter: int) -> bool:
        """Whether some scales should be dropped before the search goes on."""
        return bool(self.vanishing(place).any())

    def vanishing(self, place: _Place) -> npt.NDArray[np.bool_]:
        """Return which scales are so small, and still falling, that they are held at 0 from here on."""
        p, score = self.likelihood.size, place.marginal.score
        small = (place.at[p:] < np.log(SMALLEST)) & (score[p:] <= 0)
        return np.asarray(small & (np.array(self.active) != self.likelihood.held))


def _nearer(before: _Place, after: _Place, step: Step, share: float) -> bool:
    """Whether a step raises the value or lowers the slope; the slope holds the points fixed, the value does not."""
    along = float(np.abs(before.marginal.score @ step.values)) * share
    slack = 1e-3 * along + 1e-10 * abs(before.value)
    return after.value >= before.value - slack or float(np.abs(after.marginal.score @ step.values)) * share < along


def newton_step(
    likelihood: MarginalLikelihood, at: FloatArray, active: tuple[int, ...], marginal: Marginal
) -> tuple[FloatArray, float]:
    """Return Newton's step, within bounds, and its decrement; scales at their bound do not rise further."""
    p = likelihood.size
    moving = np.ones(len(at), dtype=np.bool_)
    moving[p:] = ((at[p:] < np.log(LARGEST)) | (marginal.score[p:] < 0)) & (np.array(active) != likelihood.held)
    information = marginal.information[np.ix_(moving, moving)]
    unit = unit_scale(information)  # a covariate in small units is no flat direction
    value, vector = np.linalg.eigh(unit[:, None] * information * unit)
    # where the likelihood is not concave, the step still leads up
    value = np.maximum(np.abs(value), 1e-8 * np.abs(value).max())
    gradient = vector.T @ (unit * marginal.score[moving])
    step = np.zeros(len(at))
    step[moving] = unit * (vector @ (gradient / value))
    reach = max(float(np.abs(rows @ step[:p]).max()) for rows in likelihood.problem.predictors)
    longest = max(reach / _LONGEST, float(np.abs(step[p:]).max()) / _LONGEST_SCALE, 1.0)
    step /= longest
    step[p:] = np.where(moving[p:], np.minimum(step[p:], np.log(LARGEST) - at[p:]), 0.0)
    return step, float(gradient**2 @ (1 / value))


def unit_scale(matrix: FloatArray) -> FloatArray:
    """Return the factors of rows and columns that make a matrix's diagonal ±1, (p,); 1 where it is 0."""
    size = np.abs(np.diag(matrix))
    return np.asarray(1 / np.sqrt(np.where(size > 0, size, 1.0)))


def scaled_inverse(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric matrix, scaled to a diagonal of ±1; it need not be positive definite."""
    unit = unit_scale(matrix)
    return np.asarray(unit[:, None] * np.linalg.inv(unit[:, None] * matrix * unit) * unit)


def infinite_at(state: State, p: int) -> tuple[int, ...]:
    """Return the scales at their bound for which the likelihood still rises."""
    bound = np.log(LARGEST) - 1e-9
    return tuple(e for k, e in enumerate(state.active) if state.at[p + k] >= bound and state.marginal.score[p + k] > 0)


def fit_at(
    state: State, scales: int, rule: Rule | NormalDensity, moved: float, likelihood: MarginalLikelihood
) -> MixedFit:
    """Return the result after one more step; the step is so short that nothing is computed again."""
    p, active = likelihood.size, list(state.active)
    step, decrement = newton_step(likelihood, state.at, state.active, state.marginal)
    at = state.at + step
    sigma = np.zeros(scales)
    sigma[active] = np.exp(at[p:])
    places = np.concatenate([np.arange(p), p + np.array(active, dtype=np.int64)])
    covariance = np.full((p + scales, p + scales), np.nan)
    covariance[np.ix_(places, places)] = scaled_inverse(state.marginal.information)
    return MixedFit(
        params=at[:p],
        scales=sigma,
        value=state.marginal.value + decrement / 2,
        covariance=covariance,
        decrement=decrement,
        rule=rule,
        moved=moved,
        noise=np.zeros(p + scales),
        modes=state.marginal.modes,
        infinite=infinite_at(state, p),
        converged=decrement < DECREMENT[False] and np.isfinite(moved) and moved < _ENOUGH[False],
        n_iter=likelihood.n_iter,
    )


def without_effects(problem: Problem, start: FloatArray, scales: int, n_iter: int) -> MixedFit:
    """Return the fit without effects, where every scale is 0."""
    p = len(start)
    return MixedFit(
        params=start,
        scales=np.zeros(scales),
        value=log_likelihood(problem, probabilities(problem, start)),
        covariance=np.full((p + scales, p + scales), np.nan),
        decrement=0.0,
        rule=None,
        moved=0.0,
        noise=np.zeros(p + scales),
        modes=(),
        infinite=(),
        converged=True,
        n_iter=n_iter,
    )


def nothing() -> Marginal:
    """Return the start, before any evaluation."""
    return Marginal(-np.inf, np.empty(0), np.empty((0, 0)), ())
