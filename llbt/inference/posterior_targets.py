"""The parts of a posterior: the likelihood of a fit at many points, and the prior on its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..errors import OptionError
from ..fitting.estimates import Estimates
from ..fitting.merged_rows import distinct
from ..fitting.prediction import codings_of
from ..fitting.protocols import WithEffects, WithLists, WithPatterns
from ..formulas.effect_scales import largest_values, object_gram
from ..kernel.laplace import NormalDensity
from ..kernel.posterior import Density, LikelihoodAt, NormalPrior, PointByPoint
from ..kernel.quadrature import Quadrature
from ..kernel.scale_grid import MOST_SCALES, ScaledDensity, at_scales
from ..kernel.table_points import TablePoints

_FEW_POINTS = 7  # quadrature points in each dimension, if the fit has no effects left to integrate over
WIDE = 2.5  # prior scale of parameters that are not effects of objects: ties, order, grades, covariates


@dataclass(frozen=True, eq=False)
class Target:
    """The likelihood of a fit in the form that a posterior needs. m estimated parameters.

    Attributes
    ----------
    likelihood_at : callable
        log σ of normal effects (E,) → the likelihood of all other parameters at this σ.
    worths : Estimates
        The estimates whose design defines the log-worths.
    names : tuple of str, length m
    places : ndarray of int, shape (m,)
        The positions of the estimates among the parameters of the design; further parameters follow these.
    start : ndarray, shape (m,)
        The estimates.
    brackets : tuple of str, length E
        The brackets, each with a σ; empty without normal effects.
    units : tuple of float, length E
        The unit of each σ: the root mean square of a slope's covariate, 1 for other effects.
    """

    likelihood_at: Callable[[FloatArray], LikelihoodAt]
    worths: Estimates
    names: tuple[str, ...]
    places: IntArray
    start: FloatArray
    brackets: tuple[str, ...] = ()
    units: tuple[float, ...] = ()

    def density(self, prior: NormalPrior) -> Density | ScaledDensity:
        """Return the posterior density under a prior of the parameters."""
        if self.brackets:
            return ScaledDensity(self.likelihood_at, len(self.brackets), prior)
        return Density(self.likelihood_at(np.empty(0)), prior)

    @property
    def held(self) -> FloatArray:
        """The values of held parameters of the design, 0 for all others, shape (p,)."""
        names, fixed = self.worths.design.names, self.worths.fixed
        return np.array([fixed.get(name, 0.0) for name in names], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Scales:
    """The prior of a target, for any scale.

    Attributes
    ----------
    gram : ndarray, shape (q, q)
        The Gram matrix of the effects of all objects (see `object_gram`), in all q parameters.
    beside : ndarray, shape (q,)
        The prior precision of all other parameters.
    held : ndarray, shape (q,)
    places : ndarray of int, shape (m,)
        The parameters that are not held.
    """

    gram: FloatArray
    beside: FloatArray
    held: FloatArray
    places: IntArray

    def prior(self, scale: float) -> NormalPrior:
        """Return the prior in which effects of objects have this scale (log-worth), given the held parameters."""
        whole: FloatArray = self.gram / scale**2 + np.diag(self.beside)
        rows = whole[self.places]
        precision = rows[:, self.places]
        return NormalPrior(np.asarray(-np.linalg.solve(precision, rows @ self.held)), np.asarray(precision))


def scales_of(target: Target) -> Scales:
    """Return the priors for the parameters of a target."""
    design = target.worths.design
    inside = len(design.names)
    size = max(inside, int(target.places.max(initial=0)) + 1)
    gram, largest, held = np.zeros((size, size)), np.ones(size), np.zeros(size)
    gram[:inside, :inside] = object_gram(codings_of(target.worths), design)
    largest[:inside], held[:inside] = largest_values(design), target.held
    return Scales(gram, np.where(np.diag(gram) > 0, 0.0, (largest / WIDE) ** 2), held, target.places)


@singledispatch
def target_of(res: Any) -> Target:
    """Return the target for the posterior of a fit; raise OptionError for a fit without a likelihood."""
    raise OptionError(
        f"no posterior draws are made for a {type(res).__name__}",
        "Use its confidence distribution: llbt.distribution(res).",
    )


def plain_target(res: Estimates) -> Target:
    """Return the likelihood of a fit of pairs in which all judges are alike."""
    problem = distinct(res.design, res.problem())[0]
    names = tuple(res.names[k] for k in res.free)
    points = TablePoints.of(problem)
    return Target(lambda _: points, res, names, res.free, res.solution.params)


def list_target(res: WithLists) -> Target:
    """Return the likelihood of a fit of rankings or best-worst sets."""

    def at(params: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        moments = res.lists.moments(params)
        return moments.value, moments.gradient, moments.information

    return _of_answers(res, PointByPoint(at))


def pattern_target(res: WithPatterns) -> Target:
    """Return the likelihood of a fit of patterns; raise for models of missing answers: several maxima are possible."""
    if res.missingness is not None:
        raise OptionError(
            "a model of missing answers, whose likelihood may have several maxima",
            "Use its confidence distribution: llbt.distribution(res).",
        )
    if res.patterns.kind == "comparisons" and not res.dependent:
        return plain_target(res.average)
    likelihood = res.whole_likelihood

    def at(params: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return likelihood.moments(params)[:3]

    return _of_answers(res, PointByPoint(at))


def _of_answers(res: WithLists | WithPatterns, likelihood: PointByPoint) -> Target:
    names = tuple(res.names[k] for k in res.places)
    return Target(lambda _: likelihood, res.average, names, res.places, res.solution.params)


def effects_target(res: WithEffects) -> Target:
    """Return the likelihood of a fit with normal effects, for the average judge's parameters at each σ."""
    why = ""
    if any(bracket.effect == "1" for bracket in res.brackets):
        why = "effects of objects, (1 | object), already have a prior, their normal distribution"
    elif len(res.brackets) > MOST_SCALES:
        why = f"the fit has {len(res.brackets)} standard deviations, and a grid is made for at most {MOST_SCALES}"
    if why:
        raise OptionError(why, "Use its confidence distribution: llbt.distribution(res).")
    judges, rule = res.judges, res.maximum.rule
    if judges.crossed is not None:  # only the value of each draw is needed, and a curvature that draws follow roughly
        rule = NormalDensity(exact=False, method=judges.method, scales=False)
    elif rule is None:
        rule = Quadrature(_FEW_POINTS)
    likelihood, worths = judges.likelihood(), res.average
    names = tuple(worths.names[k] for k in worths.free)
    brackets = tuple(map(str, res.brackets))
    return Target(
        lambda log_scales: at_scales(likelihood, log_scales, rule),
        worths,
        names,
        worths.free,
        res.maximum.params,
        brackets,
        tuple(res.units.tolist()),
    )
