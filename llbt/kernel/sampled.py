"""Maximize a marginal likelihood by importance sampling, if its integrals have too many dimensions for rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .group_modes import Groups
from .indexed_rows import FloatArray
from .likelihood import Problem
from .mixed import MixedFit, MixedLikelihood, State, climbed, fit_at, infinite_at, nothing, without_effects
from .quadrature import Sampling

FIRST = 128  # points of each group at first
_MOST = 1 << 14
BUDGET = 3e8  # numbers in an array of an evaluation
_RANDOMIZATIONS = 8
_PILOTS = 4
_TAILS = (np.inf, 5.0)  # degrees of freedom of the proposals
_NOISE = 0.1  # allowed Monte Carlo error of an estimate, in standard errors
_VALUE_NOISE = 0.1  # allowed Monte Carlo error of the log-likelihood; a χ² is then exact to .2
_DECREMENT = 1e-4


def sampled_maximum(
    problem: Problem,
    bundles: Sequence[Groups],
    start: FloatArray,
    scales: FloatArray,
    seed: int = 0,
    budget: float = BUDGET,
) -> MixedFit:
    """Maximize the marginal likelihood by importance sampling at quasi-random points.

    Parameters
    ----------
    problem : Problem
    bundles : sequence of Groups
    start : ndarray, shape (p,)
        The estimates without effects.
    scales : ndarray, shape (E,)
        Where to start the scales, above 0.
    seed : int
    budget : float
        Points are added until an evaluation's largest array has this many numbers.

    Notes
    -----
    Proposals are normal or t(5) around each group's mode, with the curvature at the mode; a pilot chooses the one with
    the smaller error. At the maximum of one randomization, eight others each give the step that they would take. The
    mean of these steps is taken, and their spread is the Monte Carlo error. The number of points is multiplied by four
    until this error is below a tenth of every estimate's standard error, and below .1 for the log-likelihood, or until
    the budget is used up.
    """
    likelihood = MixedLikelihood(problem, bundles)
    active = tuple(range(len(scales)))
    state = State(np.concatenate([start, np.log(scales)]), active, nothing())
    rule = Sampling(FIRST, np.inf, seed)
    while True:
        state = climbed(likelihood, state, rule, _DECREMENT)
        if not state.active:
            return without_effects(problem, start, len(scales), likelihood.n_iter)
        tails = _tails(likelihood, state, rule)
        if tails != rule.df:
            rule = replace(rule, df=tails)
            state = climbed(likelihood, state, rule, _DECREMENT)
        spread = _spread(likelihood, state, rule)
        enough = spread.noise_in_errors < _NOISE and spread.value_noise < _VALUE_NOISE
        more = replace(rule, number=4 * rule.number)
        too_many = more.number > _MOST or numbers_of(bundles) * more.number > budget
        if enough or too_many or infinite_at(state, likelihood.size):
            return _maximum_of(state, len(scales), rule, spread, likelihood, enough)
        rule, state = more, State(state.at + spread.step, state.active, nothing())


def numbers_of(bundles: Sequence[Groups]) -> int:
    """Return the number of entries of an array with one entry for each predictor of each line."""
    return sum(len(bundle.loadings) * bundle.rows.size for bundle in bundles)


@dataclass(frozen=True, eq=False)
class _Spread:
    """The mean of several randomized Newton steps to the maximum (p + E,), and its Monte Carlo error.

    `value` is the mean log-likelihood, `value_noise` its error, `information` the mean information.
    """

    step: FloatArray
    noise: FloatArray
    value: float
    value_noise: float
    information: FloatArray

    @property
    def noise_in_errors(self) -> float:
        """The largest Monte Carlo error of the estimates, in standard errors; infinite where these have none."""
        variance = np.diag(np.linalg.inv(self.information))
        if not np.all(variance > 0):
            return np.inf
        return float(np.max(self.noise / np.sqrt(variance)))


def _tails(likelihood: MixedLikelihood, state: State, rule: Sampling) -> float:
    """Return the df of the proposals whose log-likelihood varies less between randomizations."""
    spreads = []
    for df in _TAILS:
        rules = [replace(rule, df=df, seed=rule.seed + 1 + k) for k in range(_PILOTS)]
        spreads.append(np.std([likelihood(state.at, state.active, one, state.marginal).value for one in rules]))
    return _TAILS[int(np.argmin(spreads))]


def _spread(likelihood: MixedLikelihood, state: State, rule: Sampling) -> _Spread:
    rules = [replace(rule, seed=rule.seed + 1 + k) for k in range(_RANDOMIZATIONS)]
    each = [likelihood(state.at, state.active, one, state.marginal) for one in rules]
    information = np.mean([one.information for one in each], axis=0)
    steps = np.linalg.solve(information, np.stack([one.score for one in each]).T).T
    values = np.array([one.value for one in each])
    root = np.sqrt(_RANDOMIZATIONS)
    return _Spread(
        step=steps.mean(axis=0),
        noise=steps.std(axis=0, ddof=1) / root,
        value=float(values.mean()),
        value_noise=float(values.std(ddof=1) / root),
        information=information,
    )


def _maximum_of(
    state: State, scales: int, rule: Sampling, spread: _Spread, likelihood: MixedLikelihood, enough: bool
) -> MixedFit:
    score = spread.information @ spread.step
    middle = replace(
        state.marginal, value=spread.value, score=score, information=spread.information
    )  # the mean information of all randomizations, by which the last step leads to the maximum
    middle_fit = fit_at(replace(state, marginal=middle), scales, rule, spread.value_noise, likelihood)
    p = likelihood.size
    noise = np.zeros(p + scales)
    noise[:p], noise[p + np.array(state.active)] = spread.noise[:p], spread.noise[p:]
    return replace(middle_fit, noise=noise, converged=enough)
