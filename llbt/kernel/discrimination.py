"""The likelihood of worths times a discrimination for each judge, and its maximum.

The signed predictor of a comparison is σ_k d + o, where d = Dβ is the difference of the worths at discrimination 1 and
o is the order effect. The shared predictors, such as the tie's, have no factor. The data cannot distinguish (β, σ) from
(β/c, cσ), so the mean of σ², weighted by the judgments, is set to 1, and the weighted sum of σ is positive. This
constraint is called the *norm*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import eye_array, issparse

from ..resampling import step_made
from .indexed_rows import FloatArray, Gathered, IntArray, Part, weighted_product
from .likelihood import Problem, information, probabilities, row_sums, weighted_gram
from .newton import Search, Step, newton

SEED = 0  # seed of the random starts
RANDOM = 6  # number of random starts
_COST = 6.0  # a judge's comparison costs as much as so many numbers evaluated elsewhere
_MOST_STEPS = 200
_FAR = 40.0  # at a predictor this large the search is given up: probabilities are 0 up to rounding
_DAMPED = (0.0, 1e-6, 1e-3, 1.0, 1e3)  # shares of the diagonal added to it, tried in turn
_ROUNDING = 1e-12  # least squared pivot, as a share of its diagonal entry, in the search
_UNKNOWN = 1e-8  # the same in the covariance: below it, the counts say nothing of a direction, at any rounding
_SAME = 1e-6  # log-likelihoods that differ by less belong to the same maximum
_SHRUNK = 2.0  # a judge's own worths start from so many judgments with the pooled worths


@dataclass(frozen=True, eq=False)
class Judged:
    """Counts with a judge for each comparison. S comparisons, p parameters, K judges.

    Attributes
    ----------
    problem : Problem
        The problem if every discrimination is 1.
    scaled : ndarray of int
        Which of the p parameters describe worths; the discriminations scale these.
    judge : ndarray of int, shape (S,)
        The judge of each comparison, 0 … K − 1.
    size : int
        The number of judges K.
    """

    problem: Problem
    scaled: IntArray
    judge: IntArray
    size: int

    @property
    def others(self) -> IntArray:
        """The parameters that do not describe worths."""
        return np.setdiff1d(np.arange(self.problem.signed.shape[1]), self.scaled)

    @property
    def share(self) -> FloatArray:
        """Each judge's share of the judgments, shape (K,)."""
        totals = _by_judge(self, self.problem.totals)
        return np.asarray(totals / totals.sum())

    def predictors(self, params: FloatArray, sigma: FloatArray) -> list[FloatArray]:
        """Return the predictors at parameters (p,) and discriminations (K,), B arrays (S,)."""
        worth = np.zeros(len(params))
        worth[self.scaled] = params[self.scaled]
        predictors = self.problem.at(params - worth)
        predictors[0] = predictors[0] + sigma[self.judge] * (self.problem.signed @ worth)
        return predictors

    def probabilities(self, params: FloatArray, sigma: FloatArray) -> FloatArray:
        """Return the probability of each outcome, shape (S, C)."""
        return self.problem.response.probabilities(self.predictors(params, sigma))[0].T


@dataclass(frozen=True, eq=False)
class DiscriminationFit:
    """The maximum: worths and discriminations, scaled to the norm.

    Attributes
    ----------
    params : ndarray, shape (p,)
    sigma : ndarray, shape (K,)
    covariance : ndarray, shape (p + K, p + K)
        The covariance of both: the inverse of minus all second derivatives, on the norm.
    value : float
        Σ y log p.
    furthest : ndarray, shape (K,)
        The largest predictor of each judge's comparisons.
    converged : bool
    n_iter : int
    starts, agreed : int
        The number of starts, and how many of them reached this maximum.
    """

    params: FloatArray
    sigma: FloatArray
    covariance: FloatArray
    value: float
    furthest: FloatArray
    converged: bool
    n_iter: int
    starts: int
    agreed: int


def maximize(
    judged: Judged, pooled: FloatArray, start: tuple[FloatArray, FloatArray] | None = None
) -> DiscriminationFit:
    """Return the highest maximum that Newton's method reaches from several starts.

    Parameters
    ----------
    judged : Judged
    pooled : ndarray, shape (p,)
        The maximum with discriminations of 1.
    start : parameters (p,) and discriminations (K,), optional
        The only start, for counts that have changed little.

    Raises
    ------
    LinAlgError
        Where the information is singular: the counts do not identify worths and discriminations.
    """
    views = Views.of(judged)
    starts = _starts(views, pooled) if start is None else [start]
    maxima = [_climbed(views, *one) for one in starts]
    # or the likelihood rises to infinity
    best = max(maxima, key=lambda peak: peak.point.value + (_SAME if peak.converged else 0.0))
    point = _normed(views, best.point)
    return DiscriminationFit(
        params=point.params,
        sigma=point.sigma,
        covariance=_covariance(views, point) if best.converged else np.full(2 * (len(pooled) + judged.size,), np.nan),
        value=point.value,
        furthest=_furthest(judged, point),
        converged=best.converged,
        n_iter=best.n_iter,
        starts=len(maxima),
        agreed=sum(peak.converged and abs(peak.point.value - point.value) < _SAME for peak in maxima),
    )


# -- the likelihood ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Views:
    """The predictors by part: rows of the worths (S, w), of all other parameters (S, r), and of the judges (S, K)."""

    judged: Judged
    worth: Gathered
    rest: Problem
    judges: Gathered
    share: FloatArray

    @classmethod
    def of(cls, judged: Judged) -> Views:
        """Return the parts of a problem's predictors."""
        problem, others = judged.problem, judged.others
        rest = replace(problem, predictors=tuple(rows.columns(others) for rows in problem.predictors))
        judges = Gathered(
            (Part(eye_array(judged.size, format="csr"), judged.judge, 1.0),), (len(judged.judge), judged.size)
        )
        return cls(judged, problem.signed.columns(judged.scaled), rest, judges, judged.share)


@dataclass(frozen=True, eq=False)
class Point:
    """A point of the search: parameters, likelihood, derivatives in the predictors, and worth differences (S,)."""

    params: FloatArray
    sigma: FloatArray
    value: float
    scores: FloatArray
    weight: FloatArray
    worth: FloatArray


def point_at(views: Views, params: FloatArray, sigma: FloatArray) -> Point:
    """Return the likelihood and its derivatives at parameters (p,) and discriminations (K,)."""
    judged = views.judged
    values, scores, weight = judged.problem.response.contributions(
        judged.predictors(params, sigma), judged.problem.counts.T
    )
    worth = np.asarray(views.worth @ params[judged.scaled])
    return Point(params, sigma, float(values.sum()), scores, weight, worth)


def gradient_at(views: Views, point: Point) -> tuple[FloatArray, FloatArray]:
    """Return the gradient in the parameters (p,) and in the discriminations (K,)."""
    judged = views.judged
    gradient = np.empty(len(point.params))
    gradient[judged.scaled] = views.worth.transposed(point.sigma[judged.judge] * point.scores[0])
    gradient[judged.others] = row_sums(views.rest, point.scores)
    return gradient, _by_judge(judged, point.scores[0] * point.worth)


@dataclass(frozen=True, eq=False)
class Information:
    """Minus the second derivatives: (p, p) in the parameters, (K, p) mixed, (K,) in each discrimination."""

    params: FloatArray
    mixed: FloatArray
    sigma: FloatArray


def information_at(views: Views, point: Point, *, observed: bool) -> Information:
    """Return the observed information, or the expected information, which is positive semidefinite."""
    judged, weight, worth = views.judged, point.weight, point.worth
    w, o, size = judged.scaled, judged.others, len(point.params)
    factor = point.sigma[judged.judge]
    params, mixed = np.zeros((size, size)), np.zeros((judged.size, size))
    params[np.ix_(w, w)] = _dense(weighted_product(views.worth, views.worth, factor**2 * weight[0, 0]))
    bent = factor * weight[0, 0] * worth - (point.scores[0] if observed else 0.0)
    mixed[:, w] = _dense(weighted_product(views.worth, views.judges, bent)).T
    if len(o):
        params[np.ix_(o, o)] = weighted_gram(views.rest, weight)
        for rows, along in zip(views.rest.predictors, weight[0], strict=True):
            params[np.ix_(w, o)] += _dense(weighted_product(views.worth, rows, factor * along))
            mixed[:, o] += _dense(weighted_product(rows, views.judges, along * worth)).T
        params[np.ix_(o, w)] = params[np.ix_(w, o)].T
    return Information(params, mixed, _by_judge(judged, weight[0, 0] * worth**2))


def _by_judge(judged: Judged, values: FloatArray) -> FloatArray:
    """Return the sums over each judge's comparisons, shape (K,)."""
    return np.asarray(np.bincount(judged.judge, values, judged.size), dtype=np.float64)


def _dense(matrix: Any) -> FloatArray:
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)


# -- the search --------------------------------------------------------------------------------------------------------


def _climbed(views: Views, params: FloatArray, sigma: FloatArray) -> Search[Point]:
    """Return the point that Newton's method reaches from a start."""
    ascent = _OnNorm(views)
    start = _normed(views, point_at(views, params, sigma))
    search = newton(ascent, start, most=_MOST_STEPS, ends=lambda point, step, n_iter: ascent.is_far(point))
    if search.failure is not None and not ascent.is_far(search.point):
        raise search.failure
    return search


@dataclass(frozen=True, eq=False)
class _OnNorm:
    """The likelihood on the norm of the discriminations; a step moves parameters and discriminations, (p + K,)."""

    views: Views

    def step(self, point: Point) -> Step:
        """Return Newton's step; it uses the expected information where the observed one is not positive definite."""
        judged = self.views.judged
        step_made(_COST * len(judged.judge))
        gradient = gradient_at(self.views, point)
        params, sigma = _step(self.views, point, *gradient)
        before = judged.predictors(point.params, point.sigma)
        after = judged.predictors(point.params + params, point.sigma + sigma)
        reach = max(float(np.abs(a - b).max()) for a, b in zip(after, before, strict=True))
        return Step(np.append(params, sigma), float(gradient[0] @ params + gradient[1] @ sigma), reach)

    def moved(self, point: Point, step: FloatArray) -> Point:
        """Return the point that a step leads to."""
        p = len(point.params)
        return _normed(self.views, point_at(self.views, point.params + step[:p], point.sigma + step[p:]))

    def is_far(self, point: Point) -> bool:
        """Whether predictors are so large that the search should be given up."""
        return bool(_furthest(self.views.judged, point).max() > _FAR)


def _step(views: Views, point: Point, gradient: FloatArray, sigmas: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a step upwards in the parameters and the discriminations."""
    basis = _basis(views.judged, point.params)
    for observed, damping in ((True, 0.0), *((False, some) for some in _DAMPED)):
        observed_or_expected = information_at(views, point, observed=observed)
        try:
            reduced = _reduced(observed_or_expected, basis, damping)
        except linalg.LinAlgError:
            continue
        right = basis.T @ (gradient - reduced.slopes.T @ sigmas)
        moved = basis @ linalg.cho_solve(reduced.factor, right)
        return moved, sigmas / reduced.sigma - reduced.slopes @ moved
    raise linalg.LinAlgError("neither the observed nor the expected information is positive definite")


@dataclass(frozen=True, eq=False)
class _Reduced:
    """The factored information with discriminations profiled out, and their slopes in the parameters, (K, p)."""

    factor: tuple[FloatArray, bool]
    slopes: FloatArray
    sigma: FloatArray


def _reduced(whole: Information, basis: FloatArray, damping: float, least: float = _ROUNDING) -> _Reduced:
    """Return the information with each discrimination profiled out.

    Raises
    ------
    LinAlgError
        Where it is not positive definite.
    """
    largest = float(whole.sigma.max())
    sigma = whole.sigma * (1 + damping) + damping * 1e-3 * largest
    if not sigma.min() > 1e-14 * largest:
        raise linalg.LinAlgError("the data have no information on a discrimination")
    slopes = whole.mixed / sigma[:, None]
    inner = basis.T @ (whole.params - whole.mixed.T @ slopes) @ basis
    inner += damping * np.diag(np.diag(basis.T @ whole.params @ basis))
    return _Reduced((_cholesky(inner, least), True), slopes, sigma)


def _cholesky(matrix: FloatArray, least: float) -> FloatArray:
    """Return the lower factor of a matrix.

    Raises
    ------
    LinAlgError
        Where a squared pivot is at most `least` of its diagonal entry.
    """
    factor = np.asarray(linalg.cholesky(matrix, lower=True))
    if len(matrix) and not np.all(np.diag(factor) ** 2 > least * np.diag(matrix)):
        raise linalg.LinAlgError("the data have almost no information on a direction")
    return factor


def _basis(judged: Judged, params: FloatArray) -> FloatArray:
    """Return orthonormal directions of the parameters that keep the size of the worths, shape (p, p − 1)."""
    size = len(params)
    along = np.zeros(size)
    along[judged.scaled] = params[judged.scaled]
    return np.asarray(np.linalg.qr(along[:, None], mode="complete")[0][:, 1:])


def _normed(views: Views, point: Point) -> Point:
    """Return the same point on the norm: the weighted mean of σ² is 1, and the weighted sum of σ is positive."""
    size = float(np.sqrt(views.share @ point.sigma**2))
    size = -size if views.share @ point.sigma < 0 else size
    params = point.params.copy()
    params[views.judged.scaled] *= size
    return replace(point, params=params, sigma=point.sigma / size, worth=point.worth * size)


def _furthest(judged: Judged, point: Point) -> FloatArray:
    """Return the largest predictor of each judge's comparisons, shape (K,)."""
    furthest = np.zeros(judged.size)
    reach = np.max(np.abs(np.broadcast_arrays(*judged.predictors(point.params, point.sigma))), axis=0)
    np.maximum.at(furthest, judged.judge, reach)
    return furthest


# -- starts ------------------------------------------------------------------------------------------------------------


def _starts(views: Views, pooled: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield parameters and discriminations to start from.

    The starts are the pooled worths; the leading singular vectors of the judges' own worths, each one step from the
    pooled worths; and random discriminations with the worths that fit them best.
    """
    yield pooled, np.ones(views.judged.size)
    worths, share = _own_worths(views, pooled), views.share
    weighted = np.sqrt(share)[:, None] * worths
    leading = np.linalg.svd(weighted, full_matrices=False)[0][:, 0] / np.sqrt(share)
    rng = np.random.default_rng(SEED)
    for sigma in (leading, *rng.normal(size=(RANDOM, views.judged.size))):
        params = pooled.copy()
        params[views.judged.scaled] = (share * sigma) @ worths / (share @ sigma**2)
        yield params, sigma


def _own_worths(views: Views, pooled: FloatArray) -> FloatArray:
    """Return worth parameters for each judge, (K, w), shrunk to the pooled worths if the judge made few judgments."""
    judged, problem = views.judged, views.judged.problem
    probability = probabilities(problem, pooled)
    whole = information(problem, probability, problem.totals)
    scores = problem.response.scores(probability.T, problem.counts.T)[0]
    by_judge = _dense(weighted_product(views.worth, views.judges, scores)).T
    judgments = problem.totals.sum()
    own = whole[np.ix_(judged.scaled, judged.scaled)] / judgments
    more = linalg.solve(own, by_judge.T, assume_a="pos").T / (judgments * views.share + _SHRUNK)[:, None]
    return np.asarray(pooled[judged.scaled] + more)


# -- errors ------------------------------------------------------------------------------------------------------------


def _covariance(views: Views, point: Point) -> FloatArray:
    """Return the covariance of parameters and discriminations on the norm, shape (p + K, p + K).

    The information is inverted with the size of the worths held fixed. The delta method then gives the covariance on
    the norm.
    """
    whole = information_at(views, point, observed=True)
    basis = _basis(views.judged, point.params)
    reduced = _reduced(whole, basis, 0.0, _UNKNOWN)
    inner = basis @ linalg.cho_solve(reduced.factor, basis.T)
    mixed = -reduced.slopes @ inner
    outer = np.diag(1 / reduced.sigma) - mixed @ reduced.slopes.T
    cov = np.block([[inner, mixed.T], [mixed, outer]])
    size = len(point.params)
    scale, norm = np.zeros(len(cov)), np.zeros(len(cov))
    scale[views.judged.scaled], scale[size:] = point.params[views.judged.scaled], -point.sigma
    norm[size:] = views.share * point.sigma
    onto = np.eye(len(cov)) - np.outer(scale, norm) / float(norm @ scale)
    return np.asarray(onto @ cov @ onto.T)
