"""Which of the units that a table keeps (judges, prompts, blocks) makes a fit's standard errors largest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .clusters import Way, kept_way
from .comparisons import Comparisons
from .gathered import FloatArray, weighted_product
from .likelihood import Problem
from .robust import cluster_scores
from .solvers import Fit
from .table import format_number

_ENOUGH = 8.0  # clusters of equal size below which another unit is better to go by
_WORK = 1e9  # products that a unit may take; beyond it a unit is passed over


@dataclass(frozen=True)
class ClusterUnit:
    """What judgments are best taken as dependent within.

    Attributes
    ----------
    name : str
    clusters : int
        Their number G.
    effective : float
        How many of equal size they are worth, G*.
    ratio : float
        Standard errors of the log-odds by these clusters over those of independent judgments: the root of the ratio of
        the mean variances over the judgments of the table.
    """

    name: str
    clusters: int
    effective: float
    ratio: float

    @property
    def said(self) -> str:
        """One line."""
        return (
            f"by {self.name} (G = {self.clusters:,}, G* = {format_number(self.effective, 3)}) standard errors are "
            f"{format_number(self.ratio, 3)} times those of independent judgments"
        )


def cautious_unit(
    problem: Problem, fit: Fit, c: Comparisons, names: tuple[str, ...] | None = None
) -> ClusterUnit | None:
    """Return the unit with the largest standard errors among those with clusters enough, G* ≥ 8 where some have them.

    Parameters
    ----------
    problem : Problem
    fit : Fit
    c : Comparisons
        The table that was fitted.
    names : tuple of str, optional
        Clusters or covariates of the table to choose among; by default all clusters that it keeps.

    Returns
    -------
    ClusterUnit or None
        None where there is nothing to choose: no clusters, a single one, or a model without worths.
    """
    rows = problem.signed
    gram = weighted_product(rows, rows, problem.totals)
    gram = gram if isinstance(gram, np.ndarray) else np.asarray(gram.toarray())
    independent = float(np.sum(gram * fit.cov))
    if not independent > 0:
        return None
    chosen = c.clusters if names is None else names
    ways = [way for name in chosen if (way := kept_way(c, name, (name,))).clusters.size > 1]
    known = [
        ClusterUnit(way.name, way.clusters.size, way.effective, _ratio(problem, fit, way, gram, independent))
        for way in ways
        if way.clusters.size * gram.size <= _WORK
    ]
    enough = [unit for unit in known if unit.effective >= _ENOUGH]
    return max(enough or known, key=lambda unit: unit.ratio, default=None)


def _ratio(problem: Problem, fit: Fit, way: Way, gram: FloatArray, independent: float) -> float:
    moved = cluster_scores(problem, fit, way.clusters) @ fit.cov
    size = way.clusters.size
    return float(np.sqrt(size / (size - 1) * np.sum((moved @ gram) * moved) / independent))
