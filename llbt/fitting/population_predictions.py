"""Outcome probabilities for a judge drawn from the population: averaged over the distribution of the effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.table import Table
from ..core.columns import FloatArray, IntArray, Label
from ..core.links import AnyResponse
from ..core.response import Response
from ..errors import OptionError, listed
from ..formulas.brackets import Bracket
from ..formulas.grid import Average, Judged, codes_of
from ..kernel.likelihood import Problem
from ..kernel.quadrature import Points, gauss_hermite, product, trapezoid
from .crossed_predictions import repeated_pairs
from .effect_lines import slope_values
from .prediction import (
    chance_df,
    codings_of,
    comparisons_of,
    estimates_for,
    free_columns,
    long_table,
    own_comparisons,
    pairs_at,
    undetermined_comparisons,
)
from .protocols import WithEffects

_POINTS = (1, 25, 13)  # points in each dimension besides the signed predictor: none, the tie, and one more
_FEW_POINTS = 7  # points in each dimension if there are more
_BLOCK = 10**7  # numbers of the comparisons that are averaged at once


def population_predicted(
    res: WithEffects, frame: Any, at: Mapping[str, Any] | Average | None, confidence: float, object_covariates: object
) -> Table:
    """Return outcome probabilities averaged over judges, as a long table; see `MixedResults.predict`."""
    average = res.average
    notes: tuple[str, ...] = ()
    if at is not None:
        problem, shown, notes = _asked(res, at)
    else:
        problem, shown = own_comparisons(average)
        if frame is not None:
            problem, shown = comparisons_of(average, frame, tuple(levels_by(res.brackets)), object_covariates)
    estimates, free, covariance = estimates_for(average, problem)
    eta = np.stack(problem.at(estimates))
    population = Population.of(res, ordered=True)
    if average.object_effects is None:
        covariance = population.covariance
    else:  # the last columns are log σ of all scales above 0
        place = len(free) + np.searchsorted(average.object_effects.scales, population.place)
        known = np.append(np.arange(len(free)), place)
        covariance = covariance[np.ix_(known, known)]
    brackets = [res.brackets[e] for e in population.place]
    slopes = slope_values(res.design, problem.signed, brackets)
    chances = population.averaged(eta, slopes, _entered(res, brackets, shown))
    rows = np.stack([predictor.columns(free).toarray() for predictor in problem.predictors])
    jacobian = np.concatenate([np.einsum("kbr,brp->krp", chances.slopes, rows), chances.scale_slopes], axis=2)
    error = np.sqrt(np.maximum(np.einsum("krp,pq,krq->rk", jacobian, covariance, jacobian), 0))
    estimate = chances.probability.T
    estimate[undetermined_comparisons(average, problem)] = np.nan
    whole = (estimate, error, chance_df(average, free_columns(average, problem), error))
    predicted = () if average.object_effects is None else average.object_effects.notes
    return long_table(average, shown, whole, confidence, (*notes, population.text, *predicted))


def _asked(res: WithEffects, at: Mapping[str, Any] | Average) -> tuple[Problem, dict[str, list[Any]], tuple[str, ...]]:
    """Return all pairs at some covariate values, for each level of the covariates that only σ depends on."""
    what = "probabilities of judges drawn from a population"
    known = {name for coding in codings_of(res.average).blocks.values() for name in coding.variables}
    named = _named(at)
    outside = {name: named[name] for name in levels_by(res.brackets) if name in named and name not in known}
    if not outside:
        asked = pairs_at(res.average, at).unmixed(what)
        return asked.problem, asked.shown, asked.notes
    assert isinstance(at, Mapping)
    asked = pairs_at(res.average, {name: value for name, value in at.items() if name not in outside}).unmixed(what)
    return *repeated_pairs(asked, outside), asked.notes


def _entered(
    res: WithEffects, brackets: Sequence[Bracket], shown: Mapping[str, Sequence[Any]]
) -> list[npt.NDArray[np.bool_] | None]:
    """Return which comparisons the effects of each bracket enter, (R,), given their columns; None for all."""
    levels = levels_by(res.brackets)
    codes = {}
    for name, known in levels.items():
        if name not in shown:
            raise unnamed_level(name, known, {})
        codes[name] = codes_of(known, shown[name], repr(name))
    return [None if b.level is None else np.equal(codes[b.by], levels[b.by].index(b.level)) for b in brackets]


def _named(at: object) -> Mapping[Any, Any]:
    if isinstance(at, Judged):
        return at.within
    return at if isinstance(at, Mapping) else {}


def levels_by(brackets: Sequence[Bracket]) -> dict[str, list[Label]]:
    """Return the covariates of judges that σ depends on, with their levels."""
    levels: dict[str, list[Label]] = {}
    for bracket in brackets:
        if bracket.level is not None and bracket.level not in levels.setdefault(bracket.by, []):
            levels[bracket.by].append(bracket.level)
    return levels


def level_at(res: WithEffects, at: object) -> dict[str, Label]:
    """Return the level of a new judge in each covariate that σ depends on.

    Raises
    ------
    OptionError
        Unless `at` names one level of each.
    """
    named = _named(at)
    levels = levels_by(res.brackets)
    for name, known in levels.items():
        if not any(type(named.get(name)) is type(level) and named[name] == level for level in known):
            raise unnamed_level(name, known, named)
    return {name: named[name] for name in levels}


def unnamed_level(name: str, known: Sequence[Label], at: Mapping[Any, Any]) -> OptionError:
    """Return the error that the level of a new judge is not named."""
    instead = f"at= has {name}={at[name]!r}" if name in at else f"at= has no {name!r}"
    return OptionError(
        f"population=True, where σ differs by {name!r}, but {instead}",
        f"Name the level of the new judge: at={dict(at) | {name: known[0]}!r}.",
        expected=f"one of {listed(list(known))}",
    )


def check_population(res: WithEffects | None) -> None:
    """Raise if a fit has no judges who are drawn from a population."""
    if res is None or not res.has_judges:
        raise OptionError(
            "population=True, but this fit has no judges drawn from a population",
            "Add normal effects of judges, fit('object + tie + (object | judge)', c), or leave population= out.",
        )


@dataclass(frozen=True, eq=False)
class Averaged:
    """Probabilities of R comparisons, averaged over the effects, with their derivatives.

    Attributes
    ----------
    probability : ndarray, shape (K, R)
    slopes : ndarray, shape (K, B, R)
        Derivatives in the predictors of the average judge.
    scale_slopes : ndarray, shape (K, R, E)
        Derivatives in the logarithms of the scales that are above 0.
    """

    probability: FloatArray
    slopes: FloatArray
    scale_slopes: FloatArray


@dataclass(frozen=True, eq=False)
class Population:
    """Judges (and prompts, if groupings are crossed) whose effects are drawn from their distribution.

    Attributes
    ----------
    response : Response or Cumulative
    share : ndarray, shape (B, E)
        The factor of each σ² above 0 in the variance of each predictor.
    scales : ndarray, shape (E,)
        The scales above 0.
    place : ndarray of int, shape (E,)
        The bracket of each scale.
    covariance : ndarray, shape (p + E, p + E)
        The covariance of the fixed parameters and of log σ.
    text : str
        The kind of the answers, for a note.
    """

    response: AnyResponse
    share: FloatArray
    scales: FloatArray
    place: IntArray
    covariance: FloatArray
    text: str

    @classmethod
    def of(cls, res: WithEffects, *, ordered: bool, levels: Mapping[str, Label] | None = None) -> Population:
        """Return the population of a fit; effects of order count if it is known which object is shown first.

        With `levels` it has only judges of these levels of the covariates that σ depends on.
        """
        named = levels or {}
        of_judges = np.array([b.effect != "1" and named.get(b.by, b.level) == b.level for b in res.brackets])
        place = np.flatnonzero((res.solution.scales > 0) & of_judges)
        size = len(res.average.free)
        known = np.concatenate([np.arange(size), size + place])
        covariance = res.solution.covariance[np.ix_(known, known)]
        if not len(place):  # no effect is left: errors are those without effects
            covariance = res.average.covariance.matrix
        names = " and ".join(name for name in res.judges.groupings if name != "object")
        where = f" with {', '.join(f'{name}={level}' for name, level in named.items())}" if named else ""
        return cls(
            res.average.response,
            _shares([res.brackets[e] for e in place], ordered, res.comparisons.response),
            res.solution.scales[place],
            place,
            covariance,
            f"of a {names}{where} drawn from the population: averaged over the distribution of the effects",
        )

    def averaged(
        self,
        eta: FloatArray,
        slopes: Sequence[FloatArray | None] = (),
        where: Sequence[npt.NDArray[np.bool_] | None] = (),
    ) -> Averaged:
        """Return probabilities averaged over the effects, given predictors (B, R) of the average judge.

        Parameters
        ----------
        eta : ndarray, shape (B, R)
        slopes : sequence of E ndarrays (R,) or None
            The covariate of each slope; without them, both objects have the same values.
        where : sequence of E ndarrays of bool (R,) or None
            The comparisons that the effects of each scale enter; None for all.
        """
        variance = np.repeat((self.share * self.scales**2)[..., None], eta.shape[1], axis=2)  # (B, E, R)
        for e, values in enumerate(slopes):
            if values is not None:
                variance[0, e] = (values * self.scales[e]) ** 2
        for e, some in enumerate(where):
            if some is not None:
                variance[:, e] *= some
        spread = np.sqrt(variance.sum(axis=1))
        points = _points(spread.max(axis=1, initial=0.0), float(np.ptp(self.response.loadings[:, 0])))
        by_scale = variance / np.where(spread > 0, spread, 1.0)[:, None]  # d spread / d log σ, (B, E, R)
        rows = max(1, _BLOCK // (self.response.loadings.size * len(points.log_weight)))
        parts = [
            self._averaged(eta[:, some], spread[:, some], points, by_scale[..., some])
            for start in range(0, max(1, eta.shape[1]), rows)
            for some in [slice(start, start + rows)]
        ]
        return Averaged(
            np.concatenate([part.probability for part in parts], axis=1),
            np.concatenate([part.slopes for part in parts], axis=2),
            np.concatenate([part.scale_slopes for part in parts], axis=1),
        )

    def _averaged(self, eta: FloatArray, spread: FloatArray, points: Points, by_scale: FloatArray) -> Averaged:
        weights = np.exp(points.log_weight)
        moves = spread[:, :, None] * points.at[:, None]  # (B, R, N)
        p, _ = self.response.probabilities((eta[:, :, None] + moves).reshape(len(eta), -1))
        shape = (len(p), eta.shape[1], len(weights))
        bent = (p[:, None] * self.response.slopes(p)).reshape(shape[0], len(eta), *shape[1:])  # (K, B, R, N)
        widened = np.einsum("kbrn,bn->bkr", bent, weights * points.at)
        return Averaged(p.reshape(shape) @ weights, bent @ weights, np.einsum("bkr,ber->kre", widened, by_scale))

    def preference(self, difference: FloatArray, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log P(i preferred)/P(j preferred) of a new judge, (m,), and its slopes; see `Response.preference`.

        Parameters
        ----------
        difference : ndarray, shape (m,)
            The signed predictor of the average judge.
        levels : ndarray, shape (B − 1 + E,)
            The other predictors, in their order, and log σ.
        """
        width = self.response.width
        eta = np.concatenate([difference[None], np.tile(levels[: width - 1, None], len(difference))])
        unknown = np.isnan(eta).any(axis=0)
        averaged = self.averaged(np.where(unknown, 0.0, eta))
        score = self.response.loadings[:, 0]
        win, loss = (averaged.probability[sign * score > 0].sum(axis=0) for sign in (1, -1))

        slopes = np.concatenate([averaged.slopes.swapaxes(1, 2), averaged.scale_slopes], axis=2)
        up, down = (slopes[sign * score > 0].sum(axis=0) for sign in (1, -1))
        of_odds = up / win[:, None] - down / loss[:, None]
        value = np.where(unknown, np.nan, np.log(win) - np.log(loss))
        return value, of_odds[:, 0], of_odds[:, 1:]


def _shares(brackets: Sequence[Bracket], ordered: bool, response: Response) -> FloatArray:
    """Return the factor of each bracket's σ² in the variance of each predictor, (B, E).

    A slope's factor is 0, as for two objects with the same values of the covariate.
    """
    share = np.zeros((response.width, len(brackets)))
    for e, bracket in enumerate(brackets):
        # two objects, each with its own effect
        times = 2.0 if bracket.of_objects else float(ordered or bracket.effect != "order")
        share[list(bracket.predictors(response)), e] = 0.0 if bracket.is_slope else times
    return share


def _points(spread: FloatArray, scores: float) -> Points:
    """Return points with a dimension for each predictor; a predictor that does not vary has only 0.

    Probabilities are steepest in the signed predictor; the number of its points depends on how steep they are. `scores`
    is the distance of the largest score from the smallest.
    """
    others = 1 + np.flatnonzero(spread[1:] > 0)
    number = _POINTS[len(others)] if len(others) < len(_POINTS) else _FEW_POINTS
    rule = product(trapezoid(scores * float(spread[0])), gauss_hermite(len(others), number))
    at = np.zeros((len(spread), rule.at.shape[1]))
    at[[0, *others]] = rule.at
    return Points(at, rule.log_weight)
