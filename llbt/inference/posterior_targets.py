"""What a posterior is of: the likelihood of a fit at many points, and the prior on its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..errors import OptionError
from ..fitting.estimates import Estimates
from ..fitting.merged_rows import distinct
from ..fitting.prediction import codings_of
from ..fitting.protocols import WithLists, WithPatterns
from ..formulas.effect_scales import largest_values, object_gram
from ..kernel.posterior import LikelihoodAt, NormalPrior, PointByPoint
from ..kernel.table_points import TablePoints

WIDE = 2.5  # the prior scale of what is no effect of objects: ties, order, grades, covariates


@dataclass(frozen=True, eq=False)
class Target:
    """The likelihood of a fit, as a posterior takes it. m estimated parameters.

    Attributes
    ----------
    likelihood : LikelihoodAt
    worths : Estimates
        The design, in which log-worths are read.
    names : tuple of str, length m
    places : ndarray of int, shape (m,)
        Where they stand among the parameters of the design, and those beside it behind these.
    start : ndarray, shape (m,)
        The estimates.
    """

    likelihood: LikelihoodAt
    worths: Estimates
    names: tuple[str, ...]
    places: IntArray
    start: FloatArray

    @property
    def held(self) -> FloatArray:
        """The values of the parameters of the design that are held, 0 for all others, shape (p,)."""
        names, fixed = self.worths.design.names, self.worths.fixed
        return np.array([fixed.get(name, 0.0) for name in names], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Scales:
    """The prior of a target, whatever its scale.

    Attributes
    ----------
    gram : ndarray, shape (q, q)
        Of the effects of all objects, see `object_gram`; of all q parameters.
    beside : ndarray, shape (q,)
        The prior precision of all others.
    held : ndarray, shape (q,)
    places : ndarray of int, shape (m,)
        The parameters that are not held.
    """

    gram: FloatArray
    beside: FloatArray
    held: FloatArray
    places: IntArray

    def prior(self, scale: float) -> NormalPrior:
        """Return the prior in which effects of objects have a scale (log-worth), given what is held."""
        whole: FloatArray = self.gram / scale**2 + np.diag(self.beside)
        rows = whole[self.places]
        precision = rows[:, self.places]
        return NormalPrior(np.asarray(-np.linalg.solve(precision, rows @ self.held)), np.asarray(precision))


def scales_of(target: Target) -> Scales:
    """Return what priors there are on the parameters of a target."""
    design = target.worths.design
    inside = len(design.names)
    size = max(inside, int(target.places.max(initial=0)) + 1)
    gram, largest, held = np.zeros((size, size)), np.ones(size), np.zeros(size)
    gram[:inside, :inside] = object_gram(codings_of(target.worths), design)
    largest[:inside], held[:inside] = largest_values(design), target.held
    return Scales(gram, np.where(np.diag(gram) > 0, 0.0, (largest / WIDE) ** 2), held, target.places)


@singledispatch
def target_of(res: Any) -> Target:
    """Return what a posterior is of; raise OptionError for a fit without a likelihood."""
    raise OptionError(
        f"a {type(res).__name__}, from whose likelihood no draws are made",
        "Ask for its confidence distribution: llbt.distribution(res).",
    )


def plain_target(res: Estimates) -> Target:
    """Return the likelihood of a fit of pairs whose judges are alike."""
    problem = distinct(res.design, res.problem())[0]
    names = tuple(res.names[k] for k in res.free)
    return Target(TablePoints.of(problem), res, names, res.free, res.solution.params)


def list_target(res: WithLists) -> Target:
    """Return the likelihood of a fit of rankings or best-worst sets."""

    def at(params: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        found = res.lists.moments(params)
        return found.value, found.gradient, found.information

    return _of_answers(res, PointByPoint(at))


def pattern_target(res: WithPatterns) -> Target:
    """Return the likelihood of a fit of patterns; refuse models of missing answers, which may have several maxima."""
    if res.missingness is not None:
        raise OptionError(
            "a model of missing answers, whose likelihood may have several maxima",
            "Ask for its confidence distribution: llbt.distribution(res).",
        )
    if res.patterns.kind == "comparisons" and not res.dependent:
        return plain_target(res.average)
    likelihood = res.whole_likelihood

    def at(params: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return likelihood.moments(params)[:3]

    return _of_answers(res, PointByPoint(at))


def _of_answers(res: WithLists | WithPatterns, likelihood: PointByPoint) -> Target:
    names = tuple(res.names[k] for k in res.places)
    return Target(likelihood, res.average, names, res.places, res.solution.params)
