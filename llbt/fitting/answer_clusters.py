"""Standard errors of fits to lists that allow for dependence within judges or other clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray, IntArray, Label, dense
from ..core.rankings import Rankings
from ..errors import ClusterWarning, DesignError, OptionError, listed, near, warn_user
from ..kernel.list_fit import ListFit
from ..kernel.list_likelihood import Lists
from ..kernel.robust import Covariance, effective_clusters
from ..table import format_count, format_number
from .cluster_units import LEAST

_OPEN = 1e-7  # share of the information on a direction, left without a cluster, that counts as none


@dataclass(frozen=True, eq=False)
class Clustering:
    """The cluster of each list. G clusters.

    Attributes
    ----------
    name : str
    levels : tuple
        The G labels.
    codes : ndarray of int, shape (L,)
    judgments : ndarray, shape (G,)
        Lists of each cluster.
    """

    name: str
    levels: tuple[Label, ...]
    codes: IntArray
    judgments: FloatArray

    @property
    def effective(self) -> float:
        """How many clusters of equal size these are worth, G*."""
        return effective_clusters(self.judgments)[1]

    @property
    def size(self) -> str:
        """The clusters in words."""
        return f"{self.name} (G = {format_count(len(self.levels))}, G* = {format_number(self.effective, 3)})"


def clustering_of(r: Rankings, name: str) -> Clustering:
    """Return the clusters of lists by one of their clusters or covariates.

    Raises
    ------
    OptionError
        For a name that the rankings do not keep.
    DesignError
        For a single cluster.
    """
    columns = {column.name: column for column in (*r.cluster_columns, *r.columns)}
    if name not in columns:
        has = listed(tuple(columns)) or "none"
        raise OptionError(
            f"groups={name!r}{near(name, tuple(columns))} is not kept by these rankings (clusters and covariates: "
            f"{has})",
            f"Keep it where they are made: rankings_from(…, clusters={name!r}).",
        )
    column = columns[name]
    codes, used = dense(column.codes, len(column.levels))
    if len(used) < 2:
        raise DesignError(f"groups={name!r} has one cluster", expected="at least two, for a cluster-robust covariance")
    return Clustering(name, tuple(column.levels[used].tolist()), codes, np.bincount(codes, r.counts).astype(np.float64))


def covariance_by(clusters: Clustering, lists: Lists, found: ListFit, cov: FloatArray, cov_type: str) -> Covariance:
    """Return the covariance by clusters: leaving out each by one step (CR3), or the sandwich (CR1).

    Lists beyond those of the clusters, which a prior adds, belong to none.
    """
    number = len(clusters.levels)
    spare = np.full(len(lists.counts), number)
    spare[: len(clusters.codes)] = clusters.codes
    scores = lists.scores(found.params, spare, number + 1)[:number]
    if cov_type == "CR1":
        moved = scores @ cov
        matrix = number / (number - 1) * moved.T @ moved
        note = (
            f"standard errors allow for dependence within {clusters.size}, by the sandwich CR1; t with {number - 1} df"
        )
        return Covariance(matrix, number - 1, (note,), independent=cov)
    moved, lost = _left_out(lists, found, scores, spare)
    df = clusters.effective - 1
    if clusters.effective < LEAST:
        warn_user(
            f"{clusters.size}: with G* = (Σn)²/Σn² below {LEAST} all that is known of the dependence is how two "
            "clusters or little more differ, and intervals say next to nothing. More clusters help, or clusters of "
            "equal size.",
            ClusterWarning,
        )
    note = (
        f"standard errors allow for dependence within {clusters.size}, by leaving out each cluster (CR3); t with "
        f"{format_number(df, 3)} df"
    )
    missing = ("Std. Error NA: no finite estimate without some cluster, which alone tells of it",) if len(lost) else ()
    return Covariance(
        (number - 1) / number * moved.T @ moved, df, (note, *missing), lost, independent=cov, missing=missing
    )


def _left_out(lists: Lists, found: ListFit, scores: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return how estimates move without each cluster, by one step, (G, p), and the directions without information."""
    moved, lost = np.zeros_like(scores), [np.empty((0, scores.shape[1]))]
    scale = 1 / np.sqrt(np.diag(found.information))
    for g, score in enumerate(scores):
        own = lists.of_lists(codes == g).moments(found.params).information
        left = (found.information - own) * np.outer(scale, scale)
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
