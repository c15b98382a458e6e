"""Clustered standard errors of fits with effects of judges, by judge or by groups of judges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError
from ..kernel.effect_groups import Grouped
from ..kernel.group_modes import Groups
from ..kernel.laplace import NormalDensity
from ..kernel.marginal import marginal
from ..kernel.mixed import MixedFit, restricted
from ..kernel.robust import Covariance
from .answer_clusters import ClusterCov, Clustering, Parts, covariance_by
from .clusters import Way, kept_ways, way_of
from .covariances import by_clusters, jackknifed
from .mixed_estimates import JudgeTable
from .plain_estimates import PlainEstimates


def clustered_covariance(
    without: PlainEstimates, judges: JudgeTable, maximum: MixedFit, cov_type: ClusterCov, groups: tuple[str, ...]
) -> Covariance:
    """Return the clustered covariance of parameters and log σ, (p + E, p + E); NaN for a σ of 0.

    Parameters
    ----------
    without : PlainEstimates
        The fit without effects. If every σ is 0, its clustered covariance (p, p) is returned.
    judges : JudgeTable
    maximum : MixedFit
        The estimates.
    cov_type, groups
        As in `llbt.fit`. `groups` is the judges themselves, or a column with one level for each judge.

    Raises
    ------
    OptionError
        If judges are not nested in the clusters, and for several clusterings.
    DesignError
        For effects of objects or of crossed groupings, for Laplace's approximation, and for a single cluster.

    Notes
    -----
    The score and the observed information of a cluster are those of its judges' integrals. The restricted likelihood
    adds a part to the score of log σ that belongs to no judge. This part is subtracted from all clusters' scores in
    equal shares.
    """
    cluster, of_judge = _clusters_of_judges(without.comparisons, judges, groups)
    rule = maximum.rule
    if rule is None or isinstance(rule, NormalDensity):
        way, names = way_of(without.comparisons, groups[0], groups), [without.names[k] for k in without.free]
        by = by_clusters if cov_type == "CR1" else jackknifed
        return by(without.problem(), without.solution, [way], names)
    active = np.flatnonzero(maximum.scales > 0)
    places = np.append(np.arange(len(maximum.params)), len(maximum.params) + active)
    parts = []
    for g in range(len(cluster.levels)):
        bundles = [restricted(groups_of, active.tolist()) for groups_of in _bundles(judges.grouped, of_judge == g)]
        there = marginal(judges.problem, bundles, maximum.params, maximum.scales[active], rule)
        parts.append((there.score, there.information))
    scores = np.array([score for score, _ in parts])
    scores -= scores.mean(axis=0)
    information = np.sum([own for _, own in parts], axis=0)
    each = Parts(information, scores, lambda g: parts[g][1])
    cov = covariance_by(cluster, each, np.asarray(linalg.inv(information)), cov_type)
    size = len(maximum.params) + len(maximum.scales)
    return replace(
        cov,
        source=_among(cov.matrix, places, size),
        lost=cov.lost @ np.eye(size)[places] if len(cov.lost) else cov.lost,
        independent=None if cov.independent is None else _among(cov.independent, places, size),
    )


def of_parameters(joint: Covariance, size: int, notes: tuple[str, ...]) -> Covariance:
    """Return the covariance of the fixed parameters, which are the first of all parameters."""
    return replace(
        joint,
        source=joint.matrix[:size, :size],
        notes=(*notes, *joint.notes),
        lost=joint.lost[:, :size] if len(joint.lost) else joint.lost,
        independent=None if joint.independent is None else joint.independent[:size, :size],
    )


def _clusters_of_judges(c: Comparisons, judges: JudgeTable, groups: tuple[str, ...]) -> tuple[Clustering, IntArray]:
    """Return the clusters, and each judge's cluster (G,)."""
    own = judges.name
    if len(groups) != 1:
        raise OptionError(
            f"groups={groups!r} together with effects of {own}", expected="one-way clustering: a single name"
        )
    if judges.crossed is not None or judges.objects is not None or len(judges.groupings) > 1:
        several = len(judges.groupings) > 1 or own == "object"
        raise DesignError(
            f"groups={groups[0]!r} together with effects of {' and '.join(judges.groupings)}"
            + (
                ": all judgments depend on each other"
                if several
                else " by Laplace's approximation, which does not separate judges"
            ),
            "Leave groups= out." if several else "Leave approximation= out.",
        )
    ways = kept_ways(c, [own, groups[0]])
    of_way, by = ways[0].clusters, ways[1].clusters
    of_judge = np.zeros(of_way.size, dtype=np.int64)
    of_judge[of_way.codes] = by.codes
    if not np.array_equal(of_judge[of_way.codes], by.codes):
        raise OptionError(
            f"groups={groups[0]!r} splits the judgments of one {own}, which depend on each other through the effects",
            expected=f"{own!r}, or a column with one level for each {own}",
        )
    if by.size < 2:
        raise DesignError(f"groups={groups[0]!r} has one cluster", expected="at least two")
    return _clustering(ways[1]), of_judge


def _clustering(way: Way) -> Clustering:
    return Clustering(way.name, way.levels, way.clusters.codes, way.clusters.judgments)


def _bundles(by_judge: Grouped, inside: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[Groups]:
    """Return the judgments of some of the judges."""
    bundles = []
    for k, groups in enumerate(by_judge.bundles):
        some, repeats = np.unique(by_judge.place[inside & (by_judge.bundle == k)], return_counts=True)
        if len(some):
            loadings, times = groups.loadings[:, some], repeats.astype(np.float64)
            mine = replace(groups, rows=groups.rows[some], counts=groups.counts[:, some], loadings=loadings)
            bundles.append(replace(mine, repeats=times))
    return bundles


def _among(matrix: FloatArray, places: IntArray, size: int) -> FloatArray:
    """Return a matrix with rows and columns of NaN for scales that are 0."""
    padded = np.full((size, size), np.nan)
    padded[np.ix_(places, places)] = matrix
    return padded
