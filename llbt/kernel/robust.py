"""Covariances of estimates from dependent or overdispersed judgments: arrays in, a `Covariance` out."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ..base.notes import Qualifying
from .indexed_rows import FloatArray
from .likelihood import Inverse, Problem, weighted_gram
from .solvers import Fit

IntArray = npt.NDArray[np.int64]

_ENTRIES = 2e7  # scores of clusters in memory at once
_PAIR = 2.0  # with a smaller effective number of clusters, an estimate has no standard error by clusters
_ROUNDING = 1e-9
_FLAT = 1e-12  # a variance by clusters below this share of the variance of independent judgments is rounding
_COMBINED = Qualifying(
    "Std. Error NA: one cluster alone determines the figure, or the effective number of clusters is below 2. "
    "cov_type='nonrobust' has standard errors that hold for these clusters alone."
)
# combinations are made sparse from so many on, if at most this share of their entries is not 0
_MANY, _SPARSE = 100, 0.05
_NEAR = 0.8  # a combination with more than this share of G* counts as informed by about all clusters
LOST = 1e-6  # movement along a direction of length 1 that is more than rounding


@dataclass(frozen=True, eq=False)
class Clustered:
    """Counts by comparison and cluster.

    Attributes
    ----------
    rows : ndarray of int, shape (R,)
        The comparison of each line.
    counts : ndarray, shape (R, K)
    codes : ndarray of int, shape (R,)
        The cluster of each line, 0 … G − 1.
    """

    rows: IntArray
    counts: FloatArray
    codes: IntArray

    @property
    def size(self) -> int:
        """Number of clusters G."""
        return int(self.codes.max()) + 1

    @property
    def judgments(self) -> FloatArray:
        """Judgments of each cluster n, shape (G,)."""
        return np.asarray(np.bincount(self.codes, self.counts.sum(axis=1), self.size), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Shares:
    """The contribution of each cluster to the information, under the model.

    Attributes
    ----------
    problem : Problem
    fit : Fit
    clusters : Clustered
    """

    problem: Problem
    fit: Fit
    clusters: Clustered

    def effective(self, rows: FloatArray) -> FloatArray:
        """Return the effective number of clusters G*ₖ of linear combinations (k, p), shape (k,).

        v = rᵀV H_g V r is the contribution of cluster g to the variance rᵀVr of independent judgments. The effective
        number is (Σv)²/Σv²; if all judgments are equally informative on the combination, it is G* = (Σn)²/Σn².
        """
        lines = csr_array(
            (self.clusters.counts.sum(axis=1), (self.clusters.codes, self.clusters.rows)),
            shape=(self.clusters.size, len(self.problem.counts)),
        )
        effective = np.empty(len(rows))
        each = max(1, int(_ENTRIES // max(lines.shape)))
        predictors = [rows.tocsr() for rows in self.problem.predictors]
        weight = self.problem.response.weight((self.fit.means / self.problem.totals[:, None]).T, 1.0)
        for begin in range(0, len(rows), each):
            moved = self.fit.cov @ rows[begin : begin + each].T
            along = [rows @ moved for rows in predictors]  # B arrays (S, k)
            v = lines @ sum(weight[b, c][:, None] * x * y for b, x in enumerate(along) for c, y in enumerate(along))
            below = np.sum(v**2, axis=0)
            whole = np.sum(v, axis=0) ** 2
            effective[begin : begin + each] = np.divide(whole, below, out=np.full(len(whole), np.inf), where=below > 0)
        return effective


@dataclass(frozen=True, eq=False)
class ObjectShares:
    """The information that objects with random effects give on the parameters of object covariates.

    Attributes
    ----------
    worths : ndarray, shape (w,)
        Which of the parameters belong to object covariates.
    number : int
        The number of objects less the number of their contrasts that covariates use.
    """

    worths: IntArray
    number: int

    def effective(self, rows: FloatArray) -> FloatArray:
        """Return how many objects inform each linear combination (k, p), (k,); infinite for ties and order."""
        return np.where(rows[:, self.worths].any(axis=1), float(self.number), np.inf)


@dataclass(frozen=True, eq=False)
class EffectDf:
    """Degrees of freedom of t if scales of normal effects are estimated with the p parameters.

    Attributes
    ----------
    cov : ndarray, shape (p, p)
        J⁻¹, the covariance of the parameters with the scales held.
    bends : ndarray, shape (k, p, p)
        Derivatives of J in the logarithms of the k scales above 0.
    scale_covariance : ndarray, shape (k, k)
        The covariance of these logarithms.
    zero : bool
        Whether some scale is 0: its uncertainty is then unknown.
    shares : tuple of Shares or ObjectShares
        The contribution of each judge, for each grouping of judges, and the information of objects with effects.
    """

    cov: FloatArray
    bends: FloatArray
    scale_covariance: FloatArray
    zero: bool
    shares: tuple[Shares | ObjectShares, ...]

    def of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of linear combinations (r, p), shape (r,); infinite if no scale is estimated.

        They are Satterthwaite's 2v²/var v with v = cᵀJ⁻¹c, but at least max(G* − 1, 1), where G* is the combination's
        effective number of judges. If a scale is 0, they are at most max(G* − 1, 2).
        """
        moved = rows @ self.cov
        v = np.einsum("rp,rp->r", moved, rows)
        slopes = -np.einsum("rp,kpq,rq->rk", moved, self.bends, moved, optimize=True)
        variance = np.einsum("rk,kl,rl->r", slopes, self.scale_covariance, slopes)
        df = np.divide(2 * v**2, variance, out=np.full(len(v), np.inf), where=variance > 0)
        least = np.ones(len(v))
        if self.shares:
            judges = np.min([way.effective(rows) for way in self.shares], axis=0)
            df = np.minimum(df, np.maximum(judges - 1, 2)) if self.zero else df
            least = np.maximum(judges - 1, 1)
        return np.where(v > 0, np.maximum(df, least), np.inf)


@dataclass(frozen=True, eq=False)
class Covariance:
    """The covariance of the estimates, and the distribution of estimates divided by their standard errors.

    Attributes
    ----------
    source : ndarray, shape (p, p), or Inverse
    df : float
        Degrees of freedom of t; infinite for the normal.
    notes : tuple of str
        Sentences on what the covariance allows for.
    lost : ndarray, shape (d, p)
        Directions of the estimates that only one cluster informs; an estimate that moves along one has no standard
        error. Usually there are none, shape (0, 0).
    shares : tuple of Shares
        For the jackknife: the contribution of each cluster, for each clustering.
    independent : ndarray, shape (p, p), or None
        For clusters: the covariance of independent judgments. If all clusters agree exactly on an estimate, its
        variance by clusters is 0 but not here; the estimate then has no standard error.
    missing : tuple of str
        The notes that say why a standard error is NA.
    effects : EffectDf or None
        With normal effects of judges: the degrees of freedom of each combination.
    """

    source: FloatArray | Inverse
    df: float = np.inf
    notes: tuple[str, ...] = ()
    lost: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    shares: tuple[Shares, ...] = ()
    independent: FloatArray | None = None
    missing: tuple[str, ...] = ()
    effects: EffectDf | None = None

    @property
    def matrix(self) -> FloatArray:
        """The covariance, shape (p, p); for independent judgments it is computed at the first access."""
        return self.source.matrix if isinstance(self.source, Inverse) else self.source

    @property
    def diagonal(self) -> FloatArray:
        """The variances of the estimates, shape (p,); with blocks of judges this needs no whole covariance."""
        return self.source.diagonal if isinstance(self.source, Inverse) else np.diag(self.source)

    def missing_notes(self, estimate: FloatArray, error: FloatArray) -> tuple[str, ...]:
        """Return why some estimates have no standard error by clusters; empty if all have one."""
        gone = np.isnan(error) & ~np.isnan(estimate)
        return (self.missing or (_COMBINED,)) if self.independent is not None and gone.any() else ()

    def flat(self, rows: FloatArray) -> npt.NDArray[np.bool_]:
        """Return the linear combinations (k, p) on which all clusters agree exactly, shape (k,)."""
        if self.independent is None:
            return np.zeros(len(rows), dtype=np.bool_)
        variances, independent = (_variances(matrix, rows) for matrix in (self.matrix, self.independent))
        return np.asarray((independent > 0) & (variances <= _FLAT * independent))

    def moves_lost(self, rows: FloatArray) -> FloatArray:
        """Return how far linear combinations (k, p) of the estimates move along each lost direction, shape (k, d)."""
        return np.asarray(rows @ self.lost.T) if len(self.lost) else np.zeros((len(rows), 0))

    def unknown(self, rows: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which linear combinations (k, p) of the estimates have no standard error, shape (k,).

        These are combinations that only one cluster informs, combinations with an effective number of clusters below
        two, and combinations on which all clusters agree exactly.
        """
        lost = (np.abs(self.moves_lost(rows)) > LOST).any(axis=1)
        return np.asarray(lost | self.flat(rows) | (self.effective(rows) < _PAIR - _ROUNDING))

    def combined(self, rows: FloatArray) -> FloatArray:
        """Return the covariance (k, k) of linear combinations (k, p) of the estimates; if sparse, the cost is k²."""
        if isinstance(self.source, Inverse) and self.source.in_blocks:
            return self.source.combined(rows)
        if len(rows) < _MANY or np.count_nonzero(rows) > _SPARSE * rows.size:
            return np.asarray(rows @ self.matrix @ rows.T)
        some = csr_array(rows)
        entries = np.diff(some.indptr)
        if some.nnz and entries.max() == 1 and (some.data == 1).all():  # single estimates, and zeros
            place = np.zeros(len(rows), dtype=np.int64)
            place[entries > 0] = some.indices
            combined = self.matrix[np.ix_(place, place)]
            combined[entries == 0] = combined[:, entries == 0] = 0.0
            return combined
        return np.asarray((some @ (some @ self.matrix).T).T)

    def unknown_each(self, size: int) -> npt.NDArray[np.bool_]:
        """Return which of the `size` estimates have no standard error, shape (p,)."""
        return self.unknown(np.eye(size)) if self.differs else np.zeros(size, dtype=np.bool_)

    @property
    def differs(self) -> bool:
        """Whether combinations may differ in their degrees of freedom, or in whether they have a standard error."""
        of_clusters = len(self.lost) > 0 or len(self.shares) > 0 or self.independent is not None
        return of_clusters or self.effects is not None

    def effective(self, rows: FloatArray) -> FloatArray:
        """Return the effective number of clusters of combinations (k, p), (k,); infinite without clusters."""
        if not self.shares:
            return np.full(len(rows), np.inf)
        if _is_identity(rows):
            return self._effective
        return np.asarray(np.min([way.effective(rows) for way in self.shares], axis=0))

    @functools.cached_property
    def _effective(self) -> FloatArray:
        """The effective number of clusters of each estimate, shape (p,)."""
        return np.asarray(np.min([way.effective(np.eye(len(self.matrix))) for way in self.shares], axis=0))

    def df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of t for linear combinations (k, p), shape (k,).

        They are `df`, but G*ₖ − 1 for combinations with a markedly smaller effective number of clusters. They are NaN
        for fewer than two clusters, and where all clusters agree exactly. With normal effects they are those of
        `EffectDf`.
        """
        if self.effects is not None:
            return self.effects.of(rows)
        flat = self.flat(rows)
        if not self.shares:
            return np.where(flat, np.nan, self.df)
        own = self.effective(rows)
        few = np.where(own < _PAIR - _ROUNDING, np.nan, np.maximum(own, _PAIR) - 1)
        return np.where(flat, np.nan, np.where(own < _NEAR * (self.df + 1), few, self.df))

    def df_of_differences(self, rows: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        """Return the degrees of freedom of t for rows i (k,) minus rows j of linear combinations (m, p), shape (k,)."""
        if not self.differs:
            return np.full(len(i), self.df)
        each = max(1, int(_ENTRIES // max(1, rows.shape[1])))
        blocks = (slice(begin, begin + each) for begin in range(0, len(i), each))
        return np.concatenate([np.empty(0), *(self.df_of(rows[i[some]] - rows[j[some]]) for some in blocks)])

    def df_each(self, positions: IntArray, size: int) -> FloatArray:
        """Return the degrees of freedom of `size` parameters, (size,); the estimates are those at `positions`."""
        if not self.differs:
            return np.full(size, self.df)
        return self.df_of(np.eye(size)[:, positions])


def _is_identity(rows: FloatArray) -> bool:
    return rows.shape[0] == rows.shape[1] and np.array_equal(rows, np.eye(len(rows)))


def _variances(matrix: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the variances of linear combinations (k, p) of the estimates, shape (k,)."""
    return np.diag(matrix) if _is_identity(rows) else np.einsum("kp,kp->k", rows @ matrix, rows)


def effective_clusters(judgments: FloatArray) -> tuple[int, float]:
    """Return the number of clusters G, and their effective number G* = (Σn)²/Σn².

    Parameters
    ----------
    judgments : ndarray, shape (G,)
        Judgments of each cluster n, as in `Clustered.judgments`; clusters without any are not counted.

    Notes
    -----
    G* = G if all clusters have equally many judgments. It comes near 1 if one cluster has nearly all judgments (Kish
    1965).

    Examples
    --------
    >>> effective_clusters(np.array([10.0, 10.0, 10.0])), effective_clusters(np.array([28.0, 1.0, 1.0]))
    ((3, 3.0), (3, 1.14...))
    """
    n = np.asarray(judgments, dtype=float)
    return int(np.count_nonzero(n)), float(n.sum() ** 2 / (n @ n))


def judgment_sandwich(problem: Problem, fit: Fit) -> FloatArray:
    """Return V M V, where M is the meat from single judgments, shape (p, p).

    The score of a judgment with outcome k of comparison s is z − z̄, so M = Σ y (z − z̄)(z − z̄)ᵀ over outcomes:
    splitting or aggregating the rows of the table changes nothing.
    """
    away = problem.response.slopes((fit.means / problem.totals[:, None]).T)  # (K, B, S): z − z̄ in the predictors
    meat = weighted_gram(problem, np.einsum("sk,kbs,kcs->bcs", problem.counts, away, away))
    return np.asarray(fit.cov @ meat @ fit.cov)


def cluster_scores(problem: Problem, fit: Fit, clusters: Clustered) -> FloatArray:
    """Return the score of each cluster's judgments, Σ y z − n z̄, shape (G, p); at the estimate they sum to 0."""
    probability = (fit.means / problem.totals[:, None])[clusters.rows].T
    excess = problem.response.scores(probability, clusters.counts.T)
    return summed_by_cluster(problem, excess, clusters)


def summed_by_cluster(problem: Problem, weights: FloatArray, clusters: Clustered) -> FloatArray:
    """Return the predictors' rows times weights of the lines (B, R), summed by cluster, shape (G, p)."""
    lines = clusters.rows, clusters.codes, clusters.size
    parts = zip(problem.predictors, weights, strict=True)
    return np.asarray(sum(rows.summed(weight, *lines) for rows, weight in parts))


def cluster_sandwich(problem: Problem, fit: Fit, clusters: Clustered) -> FloatArray:
    """Return G/(G − 1) · V M V, where M is the meat from clusters (CR1), (p, p); the factor ignores p."""
    p = len(fit.params)
    meat = np.zeros((p, p))
    for some in _in_turn(clusters, max(1, int(_ENTRIES // max(p, 1)))):
        scores = cluster_scores(problem, fit, some)
        meat += scores.T @ scores
    return np.asarray(clusters.size / (clusters.size - 1) * fit.cov @ meat @ fit.cov)


def _in_turn(clusters: Clustered, most: int) -> Iterator[Clustered]:
    """Yield the clusters, at most `most` at a time."""
    if clusters.size <= most:
        yield clusters
        return
    order = np.argsort(clusters.codes, kind="stable")
    starts = np.searchsorted(clusters.codes[order], np.arange(0, clusters.size + most, most))
    for k, (begin, end) in enumerate(itertools.pairwise(starts)):
        inside = order[begin:end]
        yield Clustered(clusters.rows[inside], clusters.counts[inside], clusters.codes[inside] - k * most)


def crossed(one: Clustered, other: Clustered) -> Clustered:
    """Return the clustering by the intersections of two clusterings of the same lines."""
    _, codes = np.unique(one.codes * other.size + other.codes, return_inverse=True)
    return Clustered(one.rows, one.counts, codes)


def two_way(one: FloatArray, other: FloatArray, both: FloatArray) -> tuple[FloatArray, bool]:
    """Return V₁ + V₂ − V₁₂, and whether negative eigenvalues were set to 0 (Cameron, Gelbach & Miller 2011)."""
    values, vectors = np.linalg.eigh(one + other - both)
    matrix = np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)
    return matrix, bool(values.min(initial=0) < -1e-12 * values.max(initial=0))


def error_ratios(cov: FloatArray, independent: FloatArray, worths: csr_array) -> tuple[float, FloatArray]:
    """Return ratios of the standard errors of objects' differences, by one covariance (p, p) over another.

    The first result is the root of the ratio of the variances, summed over all pairs: √(tr(A V Aᵀ)/tr(A V₀ Aᵀ)), where
    A are the log-worths less their mean. Ties and order have no part in it. The second result has the same ratio for
    the differences of each object from all others, shape (J,). Without worths both are NaN.

    Parameters
    ----------
    worths : csr_array, shape (J, p)
        The log-worths as combinations of the parameters.
    """
    above, below = (_summed_over_pairs(matrix, worths) for matrix in (cov, independent))
    known = below > _FLAT * below.max(initial=0.0)
    each = np.sqrt(np.divide(np.maximum(above, 0.0), below, out=np.full(len(below), np.nan), where=known))
    return (float(np.sqrt(above.sum() / below.sum())) if known.any() else np.nan), each


def _summed_over_pairs(matrix: FloatArray, worths: csr_array) -> FloatArray:
    """Return, for each object, the summed variances of its differences from the other objects, shape (J,)."""
    cov = np.asarray((worths @ (worths @ matrix).T).T)
    own = np.diag(cov)
    return np.asarray(len(own) * own + own.sum() - 2 * cov.sum(axis=0))
