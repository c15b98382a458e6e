"""Joint tests for judgments that depend on each other within clusters: Rao's score test with flipped signs."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg, stats

from ..base.table import format_count, format_number
from ..resampling import p_of_count
from .indexed_rows import FloatArray, IntArray
from .likelihood import Problem, information
from .robust import Clustered, cluster_scores
from .solvers import Fit

DRAWS = 9_999
_ENUMERATED = 13  # up to so many clusters all 2^(G − 1) = 4,096 flips are enumerated
# so many clusters are flipped one by one; the sum of the smaller ones is drawn from the normal distribution
_FLIPPED = 500
_FEWER = 999  # draws where one draw costs more than `_COSTLY` products
_COSTLY = 1e5
_AT_ONCE = 4_000_000  # numbers in memory at once: 32 MB
_MOST = 3e7  # numbers that a test of fit may hold in memory: 240 MB
_SLACK = 1e-7  # statistics that differ by less are taken as equal: rounding
_LEAST = 1e-9  # a score with a smaller share of its variance is 0 but for rounding


@dataclass(frozen=True)
class FlipTest:
    """A joint test by flipping the signs of clusters' scores.

    Attributes
    ----------
    statistic : float
        Rao's score statistic, computed as if judgments were independent.
    df : int
        The number of parameters that are tested together.
    p_value : float
    clusters : int
        The number G of clusters whose judgments inform the tested parameters.
    flips : int
        The number of sign flips in the reference distribution.
    every : bool
        Whether the flips are all possible ones, up to a common sign.
    """

    statistic: float
    df: int
    p_value: float
    clusters: int
    flips: int
    every: bool

    @property
    def least(self) -> float:
        """The smallest p-value that the test can have."""
        return 1 / self.flips if self.every else 1 / (self.flips + 1)

    def note(self, group: str, most: int = 0) -> str:
        """Return how the p-value was computed, for a note; `most` is the number of clusters of a second test."""
        many = f"all {format_count(self.flips)}" if self.every else f"{format_count(self.flips)} random"
        size = f"{self.clusters} to {most}" if most > self.clusters else f"{self.clusters}"
        return f"p-values by {many} sign flips of {size} {group}s' scores; none is below {format_number(self.least, 2)}"


@dataclass(frozen=True, eq=False)
class Scores:
    """Efficient scores of K clusters in r tested directions, scaled to variance 1 over all clusters.

    Attributes
    ----------
    own : ndarray, shape (K, r)
    shared : ndarray, shape (K, r, m)
        Covariance of a cluster's scores with the scores of the m untested parameters, which are scaled to variance 1.
    rest : ndarray, shape (L, r)
        Scores of further clusters, each too small to matter by itself.
    """

    own: FloatArray
    shared: FloatArray
    rest: FloatArray


def flip_test(
    problem: Problem, restricted: Fit, clusters: Clustered, contrasts: FloatArray, draws: int = DRAWS
) -> FlipTest:
    """Test linear hypotheses by Rao's score statistic; the reference distribution flips the signs of clusters' scores.

    Parameters
    ----------
    problem : Problem
        The larger model, p parameters.
    restricted : Fit
        The fit under the hypotheses, with its fitted means.
    clusters : Clustered
        Clusters are independent of each other; judgments within a cluster need not be.
    contrasts : ndarray, shape (q, p)
        The tested combinations of the parameters; the hypotheses give them the values that they have in `restricted`.
    draws : int
        The number of random flips, where there are too many to enumerate.

    Notes
    -----
    Let u_g be the score of cluster g at the restricted estimate, H the information and A = RH⁻¹ with the contrasts R.
    The statistic is eᵀV⁻¹e with e = Σ Au_g and V = RH⁻¹Rᵀ, as for independent judgments. If scores are distributed
    symmetrically about 0, signs s_g of ±1 do not change their distribution. This holds for any covariance of the
    judgments within a cluster. So e is compared with e_s = Σ s_g Au_g. The restricted estimate fits all judgments, not
    the flipped ones, so e_s varies less than e. Therefore e_s is standardized by V_s = V − S H_NN⁻¹ Sᵀ, its variance if
    judgments were independent. Here S = Σ s_g A I_gN, and I_gN are the columns of cluster g's information for the
    untested parameters N. With up to 13 clusters, all flips are enumerated; a common sign of all clusters changes
    nothing. With more clusters 9,999 flips are drawn (999 if a draw is costly), always from the same random stream.
    With more than 500 clusters, those with the largest scores are flipped, and the sum of the others is drawn from a
    normal distribution.

    References
    ----------
    Hemerik, J., Goeman, J. J. & Finos, L. (2020). Robust testing in generalized linear models by sign flipping score
    contributions. Journal of the Royal Statistical Society B 82(3), 841-864. De Santis, R., Goeman, J. J., Hemerik, J.,
    Davenport, S. & Finos, L. (2022). Inference in generalized linear models with robustness to misspecified variances.
    arXiv:2209.13918.
    """
    scores = _efficient(problem, restricted, clusters, contrasts)
    return flipped(scores, len(contrasts), draws)


def fit_flip_test(problem: Problem, means: FloatArray, clusters: Clustered) -> FlipTest | None:
    """Test by Pearson's X² whether a model fits; the reference distribution flips the signs of clusters' scores.

    Parameters
    ----------
    problem : Problem
        The table, and the rows of its model, p parameters.
    means : ndarray, shape (S, C)
        Fitted counts.
    clusters : Clustered

    Returns
    -------
    FlipTest or None
        None if every comparison was judged within one cluster: misfit then cannot be told from the tastes of that
        cluster. Also None if the flips do not fit into memory.

    Notes
    -----
    X² is Rao's statistic of the saturated model; see `flip_test`.
    """
    within = np.unique(np.column_stack([clusters.rows, clusters.codes]), axis=0)
    size, cells = min(clusters.size, _FLIPPED), means.size
    if len(within) == len(means) or size * cells * problem.signed.shape[1] > _MOST:
        return None
    return flipped(_residual_scores(problem, means, clusters), means.size - len(means) - problem.signed.shape[1])


def flipped(scores: Scores, df: int, draws: int = DRAWS) -> FlipTest:
    """Test efficient scores: the squared length of their sum is Rao's statistic; see `flip_test`."""
    statistic = float(np.sum((scores.own.sum(axis=0) + scores.rest.sum(axis=0)) ** 2))
    bound = statistic - _SLACK * max(statistic, _LEAST)
    single, r, m = scores.shared.shape
    if single <= _ENUMERATED:
        signs = all_signs(single)
        reached = int(np.sum(_enumerated(scores, signs) >= bound))
        return FlipTest(statistic, df, reached / len(signs), single, len(signs), True)
    draws = min(draws, _FEWER) if single * r * (1 + m) > _COSTLY else draws
    root = _root(scores.rest)
    rng = np.random.default_rng(0)
    block = max(1, int(_AT_ONCE / (r * (2 + m) + single)))
    reached = 0
    for start in range(0, draws, block):
        many = min(block, draws - start)
        signs = rng.integers(0, 2, (many, single)).astype(np.float64) * 2 - 1
        drawn = np.asarray(rng.standard_normal((many, len(root))) @ root) if len(root) else None
        reached += int(np.sum(_statistics(scores, signs, drawn) >= bound))
    return FlipTest(statistic, df, float(p_of_count(reached, draws)), single + len(scores.rest), draws, False)


def _root(rest: FloatArray) -> FloatArray:
    """Return as few rows as possible with the same sums of squares and products RᵀR as the rows R."""
    if len(rest) <= rest.shape[1]:
        return rest
    values, vectors = np.linalg.eigh(rest.T @ rest)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))).T)


@functools.cache
def all_signs(size: int) -> FloatArray:
    """Return all sign vectors of `size` clusters, the first sign always +, shape (2^(size − 1), size)."""
    numbers = np.arange(2 ** max(size - 1, 0))
    bits = (numbers[:, None] >> np.arange(size)) & 1
    return np.asarray(1.0 - 2.0 * np.roll(bits, 1, axis=1))


def _enumerated(scores: Scores, signs: FloatArray) -> FloatArray:
    """Return the statistic under each flip (F, G) of few clusters, shape (F,).

    The sum over r directions in `_statistics` is a quadratic form of the signs. Its G² parts are summed once.
    """
    size, r, m = scores.shared.shape
    if not m or m >= r or size**2 >= r:
        return _statistics(scores, signs, None)
    across = np.swapaxes(scores.shared, 1, 2).reshape(size * m, r)
    grams = (across @ across.T).reshape(size, m, size, m).swapaxes(1, 2).reshape(size**2, m * m)
    within = (scores.own @ across.T).reshape(size**2, m)
    squares = np.sum((signs @ scores.own) ** 2, axis=1)
    statistics = []
    for part in np.array_split(signs, max(1, int(len(signs) * m * m / _AT_ONCE))):
        both = (part[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        statistics.append(_inverse_squares((both @ grams).reshape(-1, m, m), both @ within))
    return np.asarray(squares + np.concatenate(statistics))


def _statistics(scores: Scores, signs: FloatArray, drawn: FloatArray | None) -> FloatArray:
    """Return the statistic under each flip (F, G), shape (F,); the drawn parts of small clusters (F, r) are added."""
    size, r, m = scores.shared.shape
    total = np.asarray(signs @ scores.own if drawn is None else signs @ scores.own + drawn)
    plain: FloatArray = np.sum(total**2, axis=1)
    if not m:
        return plain
    shared = (signs @ scores.shared.reshape(size, r * m)).reshape(-1, r, m)
    # (I − SSᵀ)⁻¹ = I + S(I − SᵀS)⁻¹Sᵀ: the smaller of the two matrices is solved
    if m < r:
        gram = np.swapaxes(shared, 1, 2) @ shared
        within = np.einsum("fr,frm->fm", total, shared)
        return plain + _inverse_squares(gram, within)
    return _inverse_squares(shared @ np.swapaxes(shared, 1, 2), total)


def _inverse_squares(lost: FloatArray, total: FloatArray) -> FloatArray:
    """Return tᵀ(I − lost)⁻¹t of F symmetric matrices (F, k, k) and vectors (F, k), shape (F,)."""
    remaining = np.eye(lost.shape[1]) * (1 + _LEAST) - lost
    return np.asarray(np.einsum("fk,fk->f", total, np.linalg.solve(remaining, total[:, :, None])[:, :, 0]))


def _efficient(problem: Problem, restricted: Fit, clusters: Clustered, contrasts: FloatArray) -> Scores:
    """Return the scores of the clusters whose judgments inform the tested parameters."""
    probability = restricted.means / problem.totals[:, None]
    own, other = directions(information(problem, probability, problem.totals), contrasts)
    scores = cluster_scores(problem, restricted, clusters) @ own
    order = np.argsort(-np.sum(scores**2, axis=1), kind="stable")
    single, rest = np.sort(order[:_FLIPPED]), order[_FLIPPED:]
    shared = _covariances(problem, probability, clusters, single, own, other)
    speaking = np.abs(np.concatenate([scores[single, :, None], shared], axis=2)).max(axis=(1, 2)) > _LEAST
    return Scores(scores[single][speaking], shared[speaking], scores[rest])


def directions(matrix: FloatArray, contrasts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return combinations of scores with variance 1: efficient scores of the contrasts, and scores of the rest.

    Parameters
    ----------
    matrix : ndarray, shape (p, p)
        The information H.
    contrasts : ndarray, shape (q, p)

    Returns
    -------
    own : ndarray, shape (p, q)
        H⁻¹Rᵀ times a root of (RH⁻¹Rᵀ)⁻¹.
    other : ndarray, shape (p, p − q)
        Directions that do not change the contrasts, times a root of the inverse of their information.
    """
    unit = 1 / np.sqrt(np.diag(matrix))
    scaled = matrix * np.outer(unit, unit)
    basis = np.linalg.qr((contrasts * unit).T, mode="complete")[0]
    tested, others = basis[:, : len(contrasts)], basis[:, len(contrasts) :]
    moved = linalg.solve(scaled, tested, assume_a="pos")
    own = _whitened(moved, tested.T @ moved)
    other = _whitened(others, others.T @ scaled @ others)
    return unit[:, None] * own, unit[:, None] * other


def _whitened(columns: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return columns scaled so that values with this covariance become uncorrelated with variance 1."""
    if not columns.shape[1]:
        return columns
    return np.asarray(linalg.solve_triangular(linalg.cholesky(covariance, lower=True), columns.T, lower=True).T)


def _covariances(
    problem: Problem, probability: FloatArray, clusters: Clustered, chosen: IntArray, own: FloatArray, other: FloatArray
) -> FloatArray:
    """Return ownᵀ I_g other for some clusters, where I_g is the information of cluster g, shape (K, r, m)."""
    covariances = np.zeros((len(chosen), own.shape[1], other.shape[1]))
    if not covariances.size:
        return covariances
    weight, n = problem.response.weight(probability.T, 1.0), clusters.counts.sum(axis=1)
    order = np.argsort(clusters.codes, kind="stable")
    bounds = np.searchsorted(clusters.codes[order], np.column_stack([chosen, chosen + 1]))
    predictors = [part.tocsr() for part in problem.predictors]
    for k, (first, last) in enumerate(bounds):
        lines = order[first:last]
        rows = clusters.rows[lines]
        right = [part[rows] @ other for part in predictors]
        for b, part in enumerate(predictors):
            weighted = sum((n[lines] * weight[b, c][rows])[:, None] * along for c, along in enumerate(right))
            covariances[k] += (part[rows] @ own).T @ weighted
    return covariances


def _residual_scores(problem: Problem, means: FloatArray, clusters: Clustered) -> Scores:
    """Return clusters' Pearson residuals without the part that the model's parameters explain, in S·K directions.

    In each cell, a cluster's residual is (y_g − n_g p)/√m. If the cluster's judgments were independent, the covariance
    of this residual with the cluster's score would be n_g p (z − z̄)/√m, with z the rows of the cells.
    """
    n = clusters.counts.sum(axis=1)
    p = means / problem.totals[:, None]
    excess = (clusters.counts - n[:, None] * p[clusters.rows]) / np.sqrt(means[clusters.rows])
    own, judged = np.zeros((clusters.size, *means.shape)), np.zeros((clusters.size, len(means)))
    np.add.at(own, (clusters.codes, clusters.rows), excess)
    np.add.at(judged, (clusters.codes, clusters.rows), n)
    _, other = directions(information(problem, p, problem.totals), np.empty((0, problem.signed.shape[1])))
    parts = [part.tocsr() @ other for part in problem.predictors]
    slopes = problem.response.slopes(p.T)
    rows = np.stack(
        [sum(slope[:, None] * part for slope, part in zip(by, parts, strict=True)) for by in slopes], axis=1
    )
    rows = rows * np.sqrt(p)[..., None]  # (S, K, m), for one judgment
    model = (rows * np.sqrt(problem.totals)[:, None, None]).reshape(means.size, -1)  # orthonormal columns
    flat = own.reshape(clusters.size, -1)
    flat = flat - (flat @ model) @ model.T
    order = np.argsort(-np.sum(flat**2, axis=1), kind="stable")
    single, rest = np.sort(order[:_FLIPPED]), order[_FLIPPED:]
    share = judged[single] / np.sqrt(problem.totals)
    shared = (share[:, :, None, None] * rows).reshape(len(single), means.size, -1)
    shared = shared - model @ (model.T @ shared)
    return Scores(flat[single], shared, flat[rest])


def hotelling_p(statistic: float, q: int, df: float) -> tuple[float, float, float]:
    """Return Wald's statistic of q parameters in Hotelling's form, with its denominator df and p-value.

    Parameters
    ----------
    statistic : float
        Wald's W with a covariance by clusters.
    q : int
    df : float
        Degrees of freedom of one parameter's t, G* − 1 for G* clusters.

    Notes
    -----
    T² of q means from G observations is (G − 1)q/(G − q) times F(q, G − q) (Hotelling 1931); for q = 1, F is t². The
    p-value is NaN if q is G* or more.
    """
    rest = df + 1 - q
    if rest <= 0:
        return math.nan, math.nan, math.nan
    value = statistic * rest / (df * q)
    return value, rest, float(stats.f.sf(value, q, rest))
