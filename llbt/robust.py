"""Covariances of estimates from dependent or overdispersed judgments: arrays in, `Covariance` out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .gathered import FloatArray, weighted_product
from .likelihood import Problem, weighted_gram
from .solvers import Fit

IntArray = npt.NDArray[np.int64]

_ENTRIES = 2e7  # scores of clusters held at a time
LOST = 1e-6  # movement along a direction of length 1 that is more than rounding


@dataclass(frozen=True, eq=False)
class Covariance:
    """The covariance of the estimates, and the distribution of what is divided by its roots.

    Attributes
    ----------
    matrix : ndarray, shape (p, p)
    df : float
        Degrees of freedom of t; infinite for the normal.
    notes : tuple of str
        What it allows for.
    lost : ndarray, shape (d, p)
        Directions of the estimates of which a single cluster says all that is known: what moves along one has no
        standard error. None as a rule, shape (0, 0).
    """

    matrix: FloatArray
    df: float = np.inf
    notes: tuple[str, ...] = ()
    lost: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def moves_lost(self, rows: FloatArray) -> FloatArray:
        """Return how far linear combinations (k, p) of the estimates move along each lost direction, shape (k, d)."""
        return np.asarray(rows @ self.lost.T) if len(self.lost) else np.zeros((len(rows), 0))

    def unknown(self, rows: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which linear combinations (k, p) of the estimates have no standard error, shape (k,)."""
        return np.asarray((np.abs(self.moves_lost(rows)) > LOST).any(axis=1))


@dataclass(frozen=True, eq=False)
class Clustered:
    """Counts by comparison and cluster.

    Attributes
    ----------
    rows : ndarray of int, shape (R,)
        The comparison of each line.
    counts : ndarray, shape (R, C)
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


def effective_clusters(judgments: FloatArray) -> tuple[int, float]:
    """Return the number of clusters G, and how many of equal size they are worth, G* = (Σn)²/Σn².

    Parameters
    ----------
    judgments : ndarray, shape (G,)
        Judgments of each cluster n, as in `Clustered.judgments`; clusters without any are not counted.

    Notes
    -----
    G* = G where all clusters have as many judgments, and comes near 1 where one has nearly all (Kish 1965).

    Examples
    --------
    >>> effective_clusters(np.array([10.0, 10.0, 10.0])), effective_clusters(np.array([28.0, 1.0, 1.0]))
    ((3, 3.0), (3, 1.14...))
    """
    n = np.asarray(judgments, dtype=float)
    return int(np.count_nonzero(n)), float(n.sum() ** 2 / (n @ n))


def judgment_sandwich(problem: Problem, fit: Fit) -> FloatArray:
    """Return V M V with the meat of single judgments, shape (p, p).

    The score of a judgment in cell c of comparison s is z − z̄, so M = Σ y (z − z̄)(z − z̄)ᵀ over cells: splitting or
    aggregating the rows of the table changes nothing.
    """
    p = fit.means / problem.totals[:, None]
    lead, ties = p[:, :1] - p[:, -1:], p[:, 1:2] if problem.has_ties else np.zeros((len(p), 1))
    own_signed = np.array([[1.0, 0.0, -1.0] if problem.has_ties else [1.0, -1.0]])
    signed = own_signed - lead  # z − z̄ = signed · D + tie · T
    tie = (own_signed == 0) - ties
    y = problem.counts
    meat = weighted_gram(problem, (y * signed**2).sum(axis=1), (y * signed * tie).sum(axis=1), (y * tie**2).sum(axis=1))
    return np.asarray(fit.cov @ meat @ fit.cov)


def cluster_scores(problem: Problem, fit: Fit, clusters: Clustered) -> FloatArray:
    """Return the score of each cluster's judgments, Σ y z − n z̄, shape (G, p); they sum to 0 at the estimate."""
    p = fit.means / problem.totals[:, None]
    y = clusters.counts
    n = y[:, 0] + y[:, -1] + (y[:, 1] if problem.has_ties else 0.0)
    lead = y[:, 0] - y[:, -1] - n * (p[:, 0] - p[:, -1])[clusters.rows]
    found = problem.signed.summed(lead, clusters.rows, clusters.codes, clusters.size)
    if problem.has_ties:
        tied = y[:, 1] - n * p[:, 1][clusters.rows]
        found += problem.tie.summed(tied, clusters.rows, clusters.codes, clusters.size)
    return found


def cluster_sandwich(problem: Problem, fit: Fit, clusters: Clustered) -> FloatArray:
    """Return G/(G − 1) · V M V with the meat of clusters (CR1), (p, p); nuisance parameters do not count."""
    p = len(fit.params)
    meat = np.zeros((p, p))
    for some in _in_turn(clusters, max(1, int(_ENTRIES // max(p, 1)))):
        scores = cluster_scores(problem, fit, some)
        meat += scores.T @ scores
    return np.asarray(clusters.size / (clusters.size - 1) * fit.cov @ meat @ fit.cov)


def _in_turn(clusters: Clustered, most: int) -> Iterator[Clustered]:
    """Return the clusters, so many at a time."""
    if clusters.size <= most:
        yield clusters
        return
    order = np.argsort(clusters.codes, kind="stable")
    starts = np.searchsorted(clusters.codes[order], np.arange(0, clusters.size + most, most))
    for k, (begin, end) in enumerate(itertools.pairwise(starts)):
        inside = order[begin:end]
        yield Clustered(clusters.rows[inside], clusters.counts[inside], clusters.codes[inside] - k * most)


def error_ratio(problem: Problem, cov: FloatArray, independent: FloatArray) -> float:
    """Return standard errors of the judgments' log-odds by one covariance over those by another, both (p, p).

    The root of the ratio of the mean variances over the judgments of the table; NaN without worths.
    """
    gram = weighted_product(problem.signed, problem.signed, problem.totals)
    gram = gram if isinstance(gram, np.ndarray) else np.asarray(gram.toarray())
    below = float(np.sum(gram * independent))
    return float(np.sqrt(np.sum(gram * cov) / below)) if below > 0 else np.nan
