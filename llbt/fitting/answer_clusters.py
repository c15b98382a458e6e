"""Standard errors of fits to rankings and patterns that allow for dependence within judges or other clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg

from ..base.table import Qualifying, format_count, format_number
from ..core.columns import FloatArray, IntArray, Label, dense
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..errors import ClusterWarning, DesignError, OptionError, listed, near, warn_user
from ..kernel.list_fit import ListFit
from ..kernel.list_likelihood import Lists
from ..kernel.robust import Covariance, effective_clusters
from .cluster_units import LEAST
from .pattern_likelihood import PatternLikelihood

ClusterCov = Literal["nonrobust", "cluster", "CR1"]

_ALONE = Qualifying("Std. Error NA: one cluster alone determines the estimate; without this cluster it is not finite.")
_OPEN = 1e-7  # share of the information on a direction that counts as none, if left without a cluster


@dataclass(frozen=True, eq=False)
class Clustering:
    """The cluster of each ranking or pattern, for G clusters.

    Attributes
    ----------
    name : str
    levels : tuple
        The G labels.
    codes : ndarray of int, shape (L,)
    judgments : ndarray, shape (G,)
        The number of rankings or patterns of each cluster.
    """

    name: str
    levels: tuple[Label, ...]
    codes: IntArray
    judgments: FloatArray

    @property
    def effective(self) -> float:
        """The effective number of clusters G* = (Σn)²/Σn²; it equals G if all clusters have the same size."""
        return effective_clusters(self.judgments)[1]

    @property
    def size(self) -> str:
        """The number of clusters, in words."""
        return f"{self.name} (G = {format_count(len(self.levels))}, G* = {format_number(self.effective, 3)})"


def clustering_of(data: Rankings | Patterns, cov_type: ClusterCov, name: str) -> Clustering | None:
    """Return the clusters of rankings or patterns by a cluster or covariate, for ``cov_type=`` and ``groups=``.

    Raises
    ------
    OptionError
        If one option is given without the other, or the data do not have the name.
    DesignError
        If there is only one cluster.
    """
    if (cov_type == "nonrobust") != (not name):
        raise OptionError(
            f"cov_type={cov_type!r} with groups={name!r}",
            expected="cov_type='cluster' (or 'CR1') and groups= together: groups='judge'",
        )
    return clusters_by(data, name) if name else None


def clusters_by(data: Rankings | Patterns, name: str) -> Clustering:
    """Return the clusters of rankings or patterns by one of their clusters or covariates.

    Raises
    ------
    OptionError
        If the data do not have the name.
    DesignError
        If there is only one cluster.
    """
    of_lists = isinstance(data, Rankings)
    beside = data.cluster_columns if isinstance(data, Rankings) else ()
    columns = {column.name: column for column in (*beside, *data.columns)}
    if name not in columns:
        has = listed(tuple(columns)) or "none"
        what, kinds, reader = (
            ("rankings", "clusters and covariates", f"from_rankings(…, clusters={name!r})")
            if of_lists
            else ("patterns", "covariates", f"from_patterns(…, covariates={name!r})")
        )
        raise OptionError(
            f"groups={name!r}{near(name, tuple(columns))} is not a column of these {what} ({kinds}: {has})",
            f"Keep the column when you read the {what}: {reader}.",
        )
    column = columns[name]
    codes, used = dense(column.codes, len(column.levels))
    if len(used) < 2:
        raise DesignError(f"groups={name!r} has one cluster", expected="at least two, for a cluster-robust covariance")
    return Clustering(
        name, tuple(column.levels[used].tolist()), codes, np.bincount(codes, data.counts).astype(np.float64)
    )


@dataclass(frozen=True, eq=False)
class Parts:
    """The contribution of each of G clusters to the score and the information of p estimates.

    Attributes
    ----------
    information : ndarray, shape (p, p)
        The information of all data.
    scores : ndarray, shape (G, p)
    of_cluster : function
        Takes a cluster and returns its own information, (p, p).
    """

    information: FloatArray
    scores: FloatArray
    of_cluster: Callable[[int], FloatArray]


def parts_of_lists(lists: Lists, res: ListFit, clusters: Clustering) -> Parts:
    """Return the clusters' contributions for rankings; lists that a prior adds belong to no cluster."""
    number = len(clusters.levels)
    spare = np.full(len(lists.counts), number)
    spare[: len(clusters.codes)] = clusters.codes
    return Parts(
        res.information,
        lists.scores(res.params, spare, number + 1)[:number],
        lambda g: lists.of_lists(spare == g).moments(res.params).information,
    )


def parts_of_patterns(likelihood: PatternLikelihood, res: ListFit, clusters: Clustering) -> Parts:
    """Return the clusters' contributions for patterns."""
    counts, size = likelihood.patterns.counts, len(clusters.levels)
    each = [likelihood.of_counts(counts * (clusters.codes == g)).moments(res.params) for g in range(size)]
    scores = np.array([gradient for _, gradient, _, _ in each])
    return Parts(res.information, scores, lambda g: each[g][2])


def covariance_by(clusters: Clustering, parts: Parts, cov: FloatArray, cov_type: ClusterCov) -> Covariance:
    """Return the clustered covariance: CR3 leaves out each cluster in turn by one Newton step, CR1 is the sandwich.

    `cov` is the covariance of independent rankings or patterns, (p, p).
    """
    number = len(clusters.levels)
    if cov_type == "CR1":
        moved = parts.scores @ cov
        matrix = number / (number - 1) * moved.T @ moved
        note = f"Standard errors: CR1 by {clusters.size}, t with {number - 1} df."
        return Covariance(matrix, number - 1, (note,), independent=cov)
    moved, lost = _left_out(parts)
    df = clusters.effective - 1
    if clusters.effective < LEAST:
        warn_user(
            f"{clusters.size}: G* = (Σn)²/Σn² is below {LEAST}, so intervals are hardly informative: little more than "
            "two clusters cannot show how much clusters differ. Add clusters, or make them of equal size.",
            ClusterWarning,
        )
    note = f"Standard errors: CR3 by {clusters.size}, t with {format_number(df, 3)} df."
    missing = (_ALONE,) if len(lost) else ()
    return Covariance(
        (number - 1) / number * moved.T @ moved, df, (note, *missing), lost, independent=cov, missing=missing
    )


def _left_out(parts: Parts) -> tuple[FloatArray, FloatArray]:
    """Return how the estimates change without each cluster, by one Newton step, (G, p), and undetermined directions."""
    moved, lost = np.zeros_like(parts.scores), [np.empty((0, parts.scores.shape[1]))]
    scale = 1 / np.sqrt(np.diag(parts.information))
    for g, score in enumerate(parts.scores):
        left = (parts.information - parts.of_cluster(g)) * np.outer(scale, scale)
        try:
            if linalg.eigh(left, eigvals_only=True, subset_by_index=[0, 0])[0] < _OPEN:
                raise linalg.LinAlgError
            moved[g] = scale * linalg.solve(left, scale * score, assume_a="pos")
        except linalg.LinAlgError:
            values, vectors = linalg.eigh(left)
            known = values >= _OPEN
            moved[g] = scale * (vectors[:, known] @ ((vectors[:, known].T @ (scale * score)) / values[known]))
            gone = scale[:, None] * vectors[:, ~known]
            lost.append((gone / np.linalg.norm(gone, axis=0)).T)
    return moved, np.concatenate(lost)
