"""Clustered standard errors of fits with discriminations, for dependence within prompts or other clusters."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..errors import OptionError
from ..kernel.discrimination import DiscriminationFit, Judged, Views, gradient_at, information_at, point_at
from ..kernel.likelihood import rows_of
from ..kernel.robust import Covariance
from .answer_clusters import ClusterCov, Clustering, Parts, covariance_by
from .clusters import way_of


def clustered_covariance(
    c: Comparisons,
    judged: Judged,
    maximum: DiscriminationFit,
    judge: str,
    cov_type: ClusterCov,
    groups: tuple[str, ...],
) -> Covariance:
    """Return the clustered covariance of parameters and discriminations, given that σ² has mean 1, (p + K, p + K).

    Parameters
    ----------
    c : Comparisons
    judged : Judged
        The comparisons of `c`, with the judge of each.
    maximum : DiscriminationFit
    judge : str
        The column of judges.
    cov_type, groups
        As in `llbt.fit`, for one-way clustering.

    Raises
    ------
    OptionError
        For clustering by the judges, for two-way clustering, and for columns that are not in the table.
    DesignError
        If there is only one cluster.

    Notes
    -----
    The norm "σ² has mean 1" is a constraint: estimates can move only along its tangents T. Along T the information of
    all judgments is TᵀHT, a cluster's score is Tᵀs, and its information is TᵀH_gT. All else is as for other fits.
    """
    if len(groups) != 1:
        raise OptionError(
            f"groups={groups!r} together with discrimination={judge!r}", expected="one-way clustering: a single name"
        )
    if c.named(groups[0]) == c.named(judge):
        raise OptionError(
            f"groups={groups[0]!r} together with discrimination={judge!r}: only one cluster informs each "
            "discrimination, so it has no clustered standard error",
            f"Cluster by another column. Or leave discrimination= out and keep cov_type={cov_type!r}, "
            f"groups={groups[0]!r}.",
        )
    way = way_of(c, groups[0], groups)
    lines = way.clusters
    tangents = _tangents(judged, maximum)

    def part(rows: np.ndarray[tuple[int], np.dtype[np.int64]], counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        problem = replace(rows_of(judged.problem, rows), counts=counts)
        views = Views.of(Judged(problem, judged.scaled, judged.judge[rows], judged.size))
        point = point_at(views, maximum.params, maximum.sigma)
        known = information_at(views, point, observed=True)
        whole = np.block([[known.params, known.mixed.T], [known.mixed, np.diag(known.sigma)]])
        return tangents.T @ np.concatenate(gradient_at(views, point)), tangents.T @ whole @ tangents

    order = np.argsort(lines.codes, kind="stable")
    ends = np.searchsorted(lines.codes[order], np.arange(lines.size + 1))
    inside = [order[begin:end] for begin, end in itertools.pairwise(ends)]
    each = [part(lines.rows[some], lines.counts[some]) for some in inside]
    information = np.sum([own for _, own in each], axis=0)
    parts = Parts(information, np.array([score for score, _ in each]), lambda g: each[g][1])
    cov = np.asarray(linalg.inv(information))
    clusters = Clustering(way.name, way.levels, lines.codes, lines.judgments)
    return _from_tangents(covariance_by(clusters, parts, cov, cov_type), tangents)


def _tangents(judged: Judged, maximum: DiscriminationFit) -> FloatArray:
    """Return orthonormal directions along which the mean of σ² does not change, shape (p + K, p + K − 1)."""
    normal = np.concatenate([np.zeros(len(maximum.params)), judged.share * maximum.sigma])
    return np.asarray(np.linalg.qr(normal[:, None], mode="complete")[0][:, 1:])


def _from_tangents(cov: Covariance, tangents: FloatArray) -> Covariance:
    """Return the covariance of the estimates, given the covariance of movements along tangents."""
    independent = None if cov.independent is None else tangents @ cov.independent @ tangents.T
    lost = cov.lost @ tangents.T if len(cov.lost) else cov.lost
    return replace(cov, source=tangents @ cov.matrix @ tangents.T, lost=lost, independent=independent)
