"""The cluster of each judgment: the counts of a table by comparison and cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.table import Qualifying, format_count, format_number
from ..core.columns import Label, dense
from ..core.comparisons import Comparisons
from ..core.counts import counts_of_outcomes
from ..errors import DesignError, OptionError, listed, near
from ..kernel.robust import Clustered, effective_clusters

RATIOS = "Likelihood-ratio tests take"  # the text of `independence_note` for tests that take judgments as independent


def own_unit(groups: Sequence[str], option: str) -> str:
    """Return the units that a fit with these `groups` takes as independent: its clusters, or single judgments.

    Raises
    ------
    OptionError
        When the fit has two clusterings and `option` does not name one.
    """
    if len(groups) > 1:
        raise OptionError(
            f"the fit is clustered by {' and '.join(groups)}, but one unit is needed",
            f"Name one of them: {option}={groups[0]!r}.",
        )
    return groups[0] if groups else "judgment"


def independence_note(groups: Sequence[str], what: str) -> tuple[str, ...]:
    """Return a note that a result takes judgments as independent, if a fit with these `groups` does not."""
    if not groups:
        return ()
    return (Qualifying(f"{what} judgments as independent, and the fit is clustered by {' and '.join(groups)}."),)


def check_clusters(cov_type: str, groups: Sequence[str], beside: str) -> None:
    """Raise for standard errors that a model of differing judges does not have: all but those by clusters.

    Raises
    ------
    OptionError
    """
    if cov_type not in ("nonrobust", "cluster", "CR1"):
        raise OptionError(
            f"cov_type={cov_type!r} beside {beside}",
            "Leave it out: standard errors come from the information of all parameters; or allow for dependence within "
            "clusters.",
            expected="'nonrobust', or 'cluster' or 'CR1' with groups=",
        )
    if (cov_type == "nonrobust") != (not groups):
        raise OptionError(
            f"cov_type={cov_type!r} with groups={groups!r}",
            expected="cov_type='cluster' (or 'CR1') and groups= together: groups='prompt'",
        )


@dataclass(frozen=True, eq=False)
class Way:
    """One clustering of the judgments.

    Attributes
    ----------
    name : str
    clusters : Clustered
    levels : tuple
        The G labels of the clusters.
    """

    name: str
    clusters: Clustered
    levels: tuple[Label, ...]

    @property
    def effective(self) -> float:
        """The effective number of clusters G*: how many clusters of equal size these are worth."""
        return effective_clusters(self.clusters.judgments)[1]

    @property
    def size(self) -> str:
        """The number of clusters, in words."""
        return f"{self.name} (G = {format_count(self.clusters.size)}, G* = {format_number(self.effective, 3)})"


def way_of(c: Comparisons, name: str, groups: tuple[str, ...]) -> Way:
    """Return the clusters of one of the groups with their labels, on lines common to all groups.

    Raises
    ------
    OptionError, DesignError
        As in `clustered`.
    """
    way = kept_way(c, name, groups)
    if way.clusters.size < 2:
        raise DesignError(f"groups={name!r} has one cluster", expected="at least two, for a cluster-robust covariance")
    return way


def clustered(c: Comparisons, name: str, groups: tuple[str, ...]) -> Clustered:
    """Return the counts by comparison and cluster for one of the groups, on lines common to all groups.

    Raises
    ------
    OptionError
        If the table does not have the group.
    DesignError
        If there is only one cluster.
    """
    return way_of(c, name, groups).clusters


def kept_way(c: Comparisons, name: str, groups: tuple[str, ...]) -> Way:
    """Return one of the groups like `way_of`, even if it is a single cluster."""
    clusters, name, groups = c.cluster_counts, c.named(name), tuple(map(c.named, groups))
    columns = {column.name: column for column in c.columns}
    lines = clusters is not None and any(group in c.clusters for group in groups)
    rows = clusters.rows if clusters is not None and lines else np.arange(len(c))
    counts = clusters.counts if clusters is not None and lines else c.counts
    if name in columns:
        column, codes = columns[name], columns[name].codes[rows]
    elif clusters is not None and name in c.clusters:
        column = next(column for column in clusters.columns if column.name == name)
        codes = column.codes
    else:
        names = (*c.clusters, *(column.name for column in c.columns))
        has = listed(names) or "none"
        raise OptionError(
            f"groups={name!r}{near(name, names)} is not a column of this table (clusters and covariates: {has})",
            f"Keep it where the table is made: from_judgments(…, clusters={name!r}).",
        )
    counts = counts_of_outcomes(counts, c.response)
    judged = (counts > 0).any(axis=1)  # a cluster without judgments does not count
    if not judged.all():
        rows, counts, codes = rows[judged], counts[judged], codes[judged]
    codes, seen = dense(codes, int(codes.max(initial=0)) + 1)
    return Way(name, Clustered(rows, counts, codes), tuple(column.levels[seen].tolist()))


def kept_ways(c: Comparisons, names: Sequence[str]) -> list[Way]:
    """Return several of the groups like `kept_way`, on lines common to all of them."""
    return [kept_way(c, name, tuple(names)) for name in names]
