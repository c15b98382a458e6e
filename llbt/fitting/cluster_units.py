"""Which of the units that a table keeps (judges, prompts, blocks) makes a fit's standard errors largest."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.comparisons import Comparisons
from ..kernel.likelihood import Problem
from ..kernel.robust import cluster_sandwich, error_ratio
from ..kernel.solvers import Fit
from ..table import format_number
from .clusters import kept_way

LEAST = 3.0  # clusters of equal size below which their differences say next to nothing
_ENOUGH = 8.0  # below which another unit is better to go by
_WORK = 3e10  # products that a unit may take; beyond it a unit is passed over


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
    """Return the unit with the largest standard errors among those with clusters enough.

    These are the units with G* ≥ 8 or, where none has so many, with G* ≥ 3.

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
        None where there is nothing to choose: no clusters, too few, or a model without worths.
    """
    ways = [kept_way(c, name, (name,)) for name in (c.clusters if names is None else names)]
    known = [
        ClusterUnit(
            way.name,
            way.clusters.size,
            way.effective,
            error_ratio(problem, cluster_sandwich(problem, fit, way.clusters), fit.cov),
        )
        for way in ways
        if way.effective >= LEAST and way.clusters.size * len(fit.params) ** 2 <= _WORK
    ]
    known = [unit for unit in known if unit.ratio > 0]
    enough = [unit for unit in known if unit.effective >= _ENOUGH]
    return max(enough or known, key=lambda unit: unit.ratio, default=None)
