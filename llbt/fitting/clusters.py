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
    """Return a note that a result takes judgments as independent, if the fit is clustered; else an empty tuple."""
    if not groups:
        return ()
    return (Qualifying(f"{what} judgments as independent, and the fit is clustered by {' and '.join(groups)}."),)


def check_clusters(cov_type: str, groups: Sequence[str], beside: str) -> None:
    """Raise for a `cov_type` that models of differing judges lack: they have nonrobust and clustered errors only.

    Raises
    ------
    OptionError
    """
    if cov_type not in ("nonrobust", "cluster", "CR1"):
        raise OptionError(
            f"cov_type={cov_type!r} together with {beside}",
            "Pass cov_type='nonrobust' for standard errors from the information of all parameters, or use clustered "
            "standard errors.",
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
        """The effective number of clusters G* = (Σn)²/Σn²; it equals G if all clusters have the same size."""
        return effective_clusters(self.clusters.judgments)[1]

    @property
    def size(self) -> str:
        """The number of clusters, in words."""
        return f"{self.name} (G = {format_count(self.clusters.size)}, G* = {format_number(self.effective, 3)})"


def way_of(c: Comparisons, name: str, groups: tuple[str, ...]) -> Way:
    """Return the clustering by the column `name` with its labels, on lines that all `groups` share.

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
    """Return the counts by comparison and cluster for the column `name`, on lines that all `groups` share.

    Raises
    ------
    OptionError
        If the table has no column of this name.
    DesignError
        If there is only one cluster.
    """
    return way_of(c, name, groups).clusters


def kept_way(c: Comparisons, name: str, groups: tuple[str, ...]) -> Way:
    """Return the clustering by the column `name` as `way_of` does, even if there is only one cluster."""
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
            f"{name!r}{near(name, names)} is not a column of this table (clusters and covariates: {has})",
            f"Keep the column when you make the table: from_judgments(…, clusters={name!r}).",
        )
    counts = counts_of_outcomes(counts, c.response)
    judged = (counts > 0).any(axis=1)  # a cluster without judgments does not count
    if not judged.all():
        rows, counts, codes = rows[judged], counts[judged], codes[judged]
    codes, seen = dense(codes, int(codes.max(initial=0)) + 1)
    return Way(name, Clustered(rows, counts, codes), tuple(column.levels[seen].tolist()))


def kept_ways(c: Comparisons, names: Sequence[str]) -> list[Way]:
    """Return the clusterings by several columns as `kept_way` does, on lines that they all share."""
    return [kept_way(c, name, tuple(names)) for name in names]
