"""Scores of units (judges, blocks, stretches of a file) at a fit of all judgments: arrays in, arrays out.

The score of a judgment is its outcome minus the model's expectation; at the estimates it has mean 0. Its sum over the
judgments of a unit tells in which direction the unit differs from the rest, without another fit. Notation as in
`likelihood`; R lines of counts, G units, J objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..core.links import AnyResponse
from ..core.statistics import adjust_p, two_sided_p
from .indexed_rows import FloatArray, IntArray
from .likelihood import Problem
from .robust import Clustered, summed_by_cluster
from .score_components import Components, Spread, of_most
from .solvers import Fit

_LEAST = 10  # fewest judgments of a unit that is tested
_EXPECTED = 5.0  # fewest expected wins, and losses, of a unit's judgments of an object: Cochran's rule


@dataclass(frozen=True, eq=False)
class UnitScores:
    """Scores of units in one direction.

    Attributes
    ----------
    score : ndarray, shape (G,)
    variance : ndarray, shape (G,)
        Variance of the score, given that all judgments estimate the parameters; 0 if nothing is left to test.
    third : ndarray, shape (G,)
        Third central moment.
    spread : Spread or None
        The part of the variance from dependence of judgments; None where they are independent.
    """

    score: FloatArray
    variance: FloatArray
    third: FloatArray
    spread: Spread | None = None

    @property
    def whole(self) -> FloatArray:
        """The variance, including the part from dependence, shape (G,)."""
        return self.variance if self.spread is None else self.variance + self.spread.variance

    @property
    def z(self) -> FloatArray:
        """The score divided by its standard error, shape (G,); NaN if there is nothing to test."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self.variance > 0, self.score / np.sqrt(self.whole), np.nan))

    def p_values(self) -> FloatArray:
        """Return two-sided p-values by Pearson's type III distribution with the same three moments, shape (G,).

        If dependence adds to the variance, they are at least the p-values of t with the variance's degrees of freedom.
        """
        z = self.z
        with np.errstate(divide="ignore", invalid="ignore"):
            # without a variance, z is NaN and so is the p-value
            skew = np.nan_to_num(self.third / self.whole**1.5)
        lower, upper = stats.pearson3.cdf(z, skew), stats.pearson3.sf(z, skew)
        p = np.where(np.isnan(z), np.nan, np.minimum(2 * np.minimum(lower, upper), 1.0))
        if self.spread is None:
            return np.asarray(p)
        return np.asarray(np.where(self.spread.variance > 0, np.fmax(p, two_sided_p(z, self.spread.df(self.whole))), p))


def unit_scores(
    problem: Problem,
    fit: Fit,
    probability: FloatArray,
    units: Clustered,
    b: int,
    values: FloatArray,
    beside: Sequence[IntArray] = (),
) -> UnitScores:
    """Return the scores of units for a parameter of each unit's own, which adds values (S,) to predictor b.

    This is Rao's test of one more parameter. The variance of a unit's score is i − cᵀVc, where i is the unit's
    information and c its score's covariance with the score of the model's parameters. Lines of one cluster of `beside`,
    codes (R,) each, may depend on each other.
    """
    away, second, third = _moments(probability, values[:, None] * problem.response.slopes(probability.T)[:, b].T)
    rows, codes, size = units.rows, units.codes, units.size
    n = units.counts.sum(axis=1)
    of_lines = (units.counts * away[rows]).sum(axis=1)
    score = _binned(codes, of_lines, size)
    variance = _binned(codes, n * second[rows], size)
    cross = summed_by_cluster(
        problem, n * problem.response.scores(probability.T, (probability * away).T)[:, rows], units
    )
    left = variance - np.einsum("gp,gp->g", cross @ fit.cov, cross)
    left[left < 1e-9 * variance] = 0.0
    known = Components.of(beside, of_lines, (units.counts * away[rows] ** 2).sum(axis=1), n, second[rows])
    spread = known.beyond(codes, size) if beside else None
    return UnitScores(score, left, _binned(codes, n * third[rows], size), spread)


def object_scores(
    pairs: IntArray,
    size: int,
    response: AnyResponse,
    probability: FloatArray,
    units: Clustered,
    beside: Sequence[IntArray] = (),
) -> tuple[IntArray, IntArray, UnitScores]:
    """Return unit, object and score for each unit's judgments of an object, if there are enough to test.

    The tested direction is a log-worth of the unit's own for the object. The variance of the score is i (1 − i / I),
    with I the information of all units. This takes the other parameters as known, so the variance is slightly too
    large.

    Parameters
    ----------
    pairs : ndarray of int, shape (S, 2)
    size : int
        The number of objects J.
    response : Response or Cumulative
    probability : ndarray, shape (S, K)
    units : Clustered
    beside : sequence of ndarray of int, each (R,)
        Clusters of the lines that may depend on each other.
    """
    away, second, third = _moments(probability, response.slopes(probability.T)[:, 0].T)
    n = units.counts.sum(axis=1)
    rows = np.concatenate([units.rows, units.rows])
    sides = pairs[units.rows].T.ravel()
    sign = np.repeat([1.0, -1.0], len(n))
    n = np.concatenate([n, n])
    keys, group = np.unique(np.concatenate([units.codes, units.codes]) * size + sides, return_inverse=True)
    score = sign * np.concatenate([(units.counts * away[units.rows]).sum(axis=1)] * 2)
    sums = [_binned(group, x, len(keys)) for x in (score, n * second[rows], sign * n * third[rows])]
    first, _, last = response.tally(probability[rows]).T
    won, lost = np.where(sign > 0, first, last), np.where(sign > 0, last, first)
    enough = np.minimum(*(_binned(group, n * p, len(keys)) for p in (won, lost))) >= _EXPECTED
    unit, item = keys // size, keys % size
    whole = _binned(item, sums[1], size)[item]
    left = sums[1] * (1 - sums[1] / whole)
    enough &= left > 1e-9 * sums[1]
    square = (units.counts * away[units.rows] ** 2).sum(axis=1)
    known = _of_objects(beside, sides, size, score, square, n[: len(square)], second[units.rows])
    spread = known.beyond(group, len(keys)) if beside else None
    some = spread and Spread(spread.variance[enough], spread.squares[enough])
    scores = UnitScores(sums[0][enough], left[enough], sums[2][enough], some)
    return np.asarray(unit[enough]), np.asarray(item[enough]), scores


def _of_objects(
    beside: Sequence[IntArray],
    sides: IntArray,
    size: int,
    score: FloatArray,
    square: FloatArray,
    times: FloatArray,
    v: FloatArray,
) -> Components:
    """Return the components of objects' scores: each cluster has worths of its own, all with one variance.

    Sides and scores are those of object i of all lines, then those of object j. Squares, numbers of judgments and
    information are those of the lines.
    """
    codes = [np.concatenate([codes] * 2) * size + sides for codes in beside]
    return Components.of(codes, score, *(np.concatenate([part] * 2) for part in (square, times, v)))


def trend_scores(
    pairs: IntArray,
    size: int,
    response: AnyResponse,
    probability: FloatArray,
    counts: FloatArray,
    moment: FloatArray,
    beside: Sequence[IntArray] = (),
) -> UnitScores:
    """Return the scores of a linear trend of every object's log-worth, shape (J,); the arrays have N lines.

    The trend of an object is centred at the mean moment, weighted by the information on the object. So the score of its
    estimated worth has no part in the trend.
    """
    away, second, third = _moments(probability, response.slopes(probability.T)[:, 0].T)
    n = counts.sum(axis=1)
    sides, sign, when = pairs.T.ravel(), np.repeat([1.0, -1.0], len(n)), np.concatenate([moment, moment])
    info = np.concatenate([n * second] * 2)
    whole = np.maximum(_binned(sides, info, size), np.finfo(float).tiny)
    apart = when - (_binned(sides, info * when, size) / whole)[sides]
    of_lines = sign * np.concatenate([(counts * away).sum(axis=1)] * 2)
    third = sign * np.concatenate([n * third] * 2) * apart**3
    known = _of_objects(beside, sides, size, of_lines, (counts * away**2).sum(axis=1), n, second)
    spread = known.beyond(sides, size, apart) if beside else None
    parts = (of_lines * apart, info * apart**2, third)
    scored, variance, moment3 = (_binned(sides, part, size) for part in parts)
    return UnitScores(scored, variance, moment3, spread)


def _binned(codes: IntArray, weights: FloatArray, size: int) -> FloatArray:
    return np.asarray(np.bincount(codes, weights, size), dtype=np.float64)


def _moments(probability: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return values of outcomes (K,) or (S, K) less their mean, with second and third central moments (S,)."""
    away = values - (probability * values).sum(axis=1, keepdims=True)
    return away, (probability * away**2).sum(axis=1), (probability * away**3).sum(axis=1)


def dependence(
    pairs: IntArray,
    size: int,
    response: AnyResponse,
    probability: FloatArray,
    units: Clustered,
    beside: Sequence[IntArray] = (),
) -> tuple[float, float]:
    """Test independence within units against worths that vary between units: standardized statistic and p-value.

    The statistic is Σ (S² − Q) / I over units and objects, where S is the sum of the scores of a unit's judgments of an
    object, Q the sum of their squares, and I the information on the object. Only products of different judgments of one
    unit are left. Their mean is 0, except for a part lost by estimating the worths, and their variance is known. This
    is the one-sided score test of a variance component (Liang 1987, Biometrika 74(2), 259-264), with the independent
    worths in place of all parameters. Its skewness is taken as for a sum of as many χ² variables as there are units and
    objects. The part of S² that clusters of `beside` (codes (R,) each) explain is subtracted, so units are tested
    beyond these.
    """
    away, second, _ = _moments(probability, response.slopes(probability.T)[:, 0].T)
    rows, y = units.rows, units.counts
    n, v = y.sum(axis=1), second[rows]
    score, square = (y * away[rows]).sum(axis=1), (y * away[rows] ** 2).sum(axis=1)
    codes, sides = np.concatenate([units.codes] * 2), pairs[rows].T.ravel()
    keys, group = np.unique(codes * size + sides, return_inverse=True)

    def summed(first: FloatArray, second: FloatArray) -> FloatArray:
        return _binned(group, np.concatenate([first, second]), len(keys))

    info = _binned(sides, np.concatenate([n * v] * 2), size)
    scale = np.maximum(info, np.finfo(float).tiny)[keys % size]
    value = float(((summed(score, -score) ** 2 - summed(square, square)) / scale).sum())
    alone = summed(n * v, n * v)
    apart = np.maximum(alone**2 - summed(n * v**2, n * v**2), 0.0) / scale**2
    before, uncertain = float(apart.sum()), 0.0
    if beside:
        known = _of_objects(beside, sides, size, np.concatenate([score, -score]), square, n, v)
        spread = known.beyond(group, len(keys))
        value -= float((spread.variance / scale).sum())
        apart *= (1 + spread.variance / np.maximum(alone, 1e-300)) ** 2
        uncertain = 2 * float(np.sqrt(spread.squares) @ (1 / scale)) ** 2
    low, high = pairs.min(axis=1)[rows], pairs.max(axis=1)[rows]
    _, both = np.unique((units.codes * size + low) * size + high, return_inverse=True)
    shared = np.bincount(both, n * v) ** 2 - np.bincount(both, n * v**2)
    weight = np.zeros(len(shared))
    weight[both] = info[low] * info[high]
    inflated = float(apart.sum()) / before if before else 1.0
    twice = float(np.maximum(shared, 0.0) @ (1 / np.maximum(weight, 1e-300)))
    variance = 2 * float(apart.sum()) + 4 * inflated * twice
    # the part of the products' mean lost by estimating the worths, D · V²/I² for each
    taken = variance / (2 * np.sqrt(inflated))
    variance += uncertain
    if variance <= 1e-12:
        return np.nan, np.nan
    z = (value + taken) / np.sqrt(variance)
    skew = 8 * float((apart**1.5).sum()) / variance**1.5
    return float(z), float(stats.pearson3.sf(z, skew))


@dataclass(frozen=True, eq=False)
class UnitTests:
    """Statistics of how units differ from the rest.

    Attributes
    ----------
    statistics : dict of str to ndarray, each (G,)
        The standardized score of every direction; NaN where a unit has too few judgments to tell.
    item : ndarray of int, shape (G,)
        The object on which a unit differs most from the rest; −1 if it has too few judgments of every object.
    item_statistic : ndarray, shape (G,)
    reason : ndarray of str, shape (G,)
        The direction with the smallest p-value, ``"object"`` for the object; empty where nothing was tested.
    p_values : ndarray, shape (G,)
        A unit's smallest p-value over directions and objects, times the number of its tests.
    p_adjusted : ndarray, shape (G,)
        P-values adjusted by Holm's method over all units.
    """

    statistics: dict[str, FloatArray]
    item: IntArray
    item_statistic: FloatArray
    reason: npt.NDArray[np.str_]
    p_values: FloatArray
    p_adjusted: FloatArray


def compare_units(
    problem: Problem,
    fit: Fit,
    probability: FloatArray,
    units: Clustered,
    pairs: IntArray,
    directions: Mapping[str, tuple[int, FloatArray]],
    beside: Sequence[IntArray] = (),
    *,
    differ: bool = False,
) -> UnitTests:
    """Test each unit against the rest in each direction (a predictor and the values added to it, (S,)), and by object.

    Lines of one cluster of `beside`, codes (R,) each, may depend on each other. If `differ`, each unit is compared with
    the variation between most units.
    """
    size, items = units.size, int(pairs.max()) + 1
    few = units.judgments < _LEAST
    tests = {name: unit_scores(problem, fit, probability, units, *parts, beside) for name, parts in directions.items()}
    unit, item, of_item = object_scores(pairs, items, problem.response, probability, units, beside)
    if differ:
        tests = {name: of_differing(test, np.arange(size), size) for name, test in tests.items()}
        of_item = of_differing(of_item, unit, size)
    p = np.array([np.where(few, np.nan, test.p_values()) for test in tests.values()]).reshape(-1, size)
    return combined({name: np.where(few, np.nan, test.z) for name, test in tests.items()}, p, unit, item, of_item)


def of_differing(scores: UnitScores, unit: IntArray, size: int) -> UnitScores:
    """Return the scores (k,) of units (k,), allowing for the variation between most units."""
    before = scores.spread or Spread(np.zeros(len(unit)), np.zeros(len(unit)))
    added = of_most(scores.score, scores.variance, before.variance, unit, size)
    return replace(scores, spread=before.plus(added))


def combined(
    statistics: Mapping[str, FloatArray], p: FloatArray, unit: IntArray, item: IntArray, scores: UnitScores
) -> UnitTests:
    """Return the tests of units: the smallest p-value of each, times the number of its tests.

    Parameters
    ----------
    statistics : dict of str to ndarray, each (G,)
        The standardized score of every direction.
    p : ndarray, shape (directions, G)
        Their p-values; NaN where a unit has too few judgments to tell.
    unit, item, scores
        As `object_scores` returns them.
    """
    size = p.shape[1]
    by_item, z = scores.p_values(), scores.z
    best = np.lexsort([by_item, unit])
    first = best[np.unique(unit[best], return_index=True)[1]]
    favoured, favoured_z, favoured_p = np.full(size, -1), np.full(size, np.nan), np.full(size, np.nan)
    favoured[unit[first]], favoured_z[unit[first]] = item[first], z[first]
    favoured_p[unit[first]] = by_item[first]
    p = np.vstack([p, favoured_p])
    number = (~np.isnan(p[:-1])).sum(axis=0) + np.bincount(unit, minlength=size)
    smallest = np.where(np.isnan(p), np.inf, p)
    which, none = smallest.argmin(axis=0), number == 0
    whole = np.where(none, np.nan, np.minimum(smallest.min(axis=0) * np.maximum(number, 1), 1.0))
    return UnitTests(
        dict(statistics),
        favoured,
        favoured_z,
        np.where(none, "", np.array([*statistics, "object"])[which]),
        whole,
        adjust_p(whole, "holm"),
    )
