"""Which judgments belong to which cluster: the counts of a table by comparison and cluster."""

from __future__ import annotations

import numpy as np

from .columns import dense
from .comparisons import Comparisons
from .errors import DesignError, listed
from .robust import Clustered


def clustered(c: Comparisons, name: str, groups: tuple[str, ...]) -> Clustered:
    """Return the counts by comparison and cluster for one of the groups, on lines common to all of them.

    Raises
    ------
    DesignError
        For groups that the table does not keep, and for a single cluster.
    """
    kept = c.cluster_counts
    columns = {column.name: column for column in c.columns}
    lines = kept is not None and any(group in c.clusters for group in groups)
    rows = kept.rows if kept is not None and lines else np.arange(len(c))
    counts = kept.counts if kept is not None and lines else c.counts
    if name in columns:
        codes = columns[name].codes[rows]
    elif kept is not None and name in c.clusters:
        codes = next(column.codes for column in kept.columns if column.name == name)
    else:
        has = listed((*c.clusters, *(column.name for column in c.columns))) or "none"
        raise DesignError(
            f"groups={name!r} is not kept by this table (clusters and covariates: {has}); keep it where the table is "
            f"made: from_judgments(…, clusters={name!r})."
        )
    counts = counts if c.has_ties else counts[:, [0, 2]]
    judged = (counts[:, 0] > 0) | (counts[:, 1] > 0) | (counts[:, -1] > 0)  # a cluster without judgments is none
    if not judged.all():
        rows, counts, codes = rows[judged], counts[judged], codes[judged]
    found = Clustered(rows, counts, dense(codes, int(codes.max(initial=0)) + 1)[0])
    if found.size < 2:
        raise DesignError(f"groups={name!r} has one cluster; a cluster-robust covariance needs at least two.")
    return found
