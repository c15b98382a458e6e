"""Choose the clusters of a table (judges, prompts, blocks) that give the largest standard errors of a fit.

Fits, the report, the command line and the audit all use this choice. It compares the standard errors of contrasts of
objects with and without clustering. Ties, order and other terms do not matter.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats
from scipy.sparse import csr_array

from ..base.table import format_number
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..formulas.design import Design, codings_of
from ..formulas.grid import average_rows
from ..kernel.jackknife import cr3, cr3_of_both, left_out
from ..kernel.likelihood import Problem
from ..kernel.robust import cluster_sandwich, crossed, error_ratios, two_way
from ..kernel.solvers import Fit
from .clusters import Way, kept_ways
from .plain_estimates import PlainEstimates
from .specification import Specification

LEAST = 2.5  # with fewer effective clusters (three of about equal size) their differences tell almost nothing
_ENOUGH = 8.0  # below this effective number another unit is preferred
_MATTERS = 1.05  # a second unit is added if its ratio of standard errors is larger than this
_WORK = 3e10  # most products of a unit by CR1; a unit that needs more is skipped
_JACKKNIFE_WORK = 3e9  # most products of a unit by CR3

Estimator = Literal["CR3", "CR1"]


@dataclass(frozen=True)
class DependenceUnit:
    """Clusters, and their effect on the standard errors of the objects.

    Attributes
    ----------
    names : tuple of str
        The name of one unit, or of two units for two-way clustering.
    clusters : int
        The number of clusters G; the smaller one for two-way clustering.
    effective : float
        The effective number of clusters G*; the smaller one for two-way clustering.
    ratio : float
        Clustered standard errors of the objects over those of independent judgments, with equal weight for all pairs.
    lowest, highest : float
        The smallest and the largest ratio among the objects; each is for an object's differences from all others.
    estimator : {"CR3", "CR1"}
        CR1 if leaving out each cluster takes too much work, or if only one cluster informs some parameter.
    """

    names: tuple[str, ...]
    clusters: int
    effective: float
    ratio: float
    lowest: float
    highest: float
    estimator: Estimator

    @property
    def name(self) -> str:
        """The names of the units in words."""
        return " and ".join(self.names)

    @property
    def factor(self) -> str:
        """The ratio in words, with its range if objects differ."""
        low, high = f"{self.lowest:.2f}", f"{self.highest:.2f}"
        beside = [f"{low} to {high} by object"] if low != high else []
        beside += ["CR1"] if self.estimator == "CR1" else []
        return f"{self.ratio:.2f} × unclustered" + (f" ({', '.join(beside)})" if beside else "")

    @property
    def groups(self) -> str | list[str]:
        """The `groups=` that a fit needs."""
        return self.names[0] if len(self.names) == 1 else list(self.names)


@dataclass(frozen=True)
class UnitChoice:
    """The unit within which judgments should be taken as dependent, and the other candidates.

    Attributes
    ----------
    unit : DependenceUnit or None
        None if there is nothing to choose: too few clusters, too much work, or a model without worths.
    measured : tuple of DependenceUnit
        Every single unit that has enough clusters, the largest ratio first.
    few : tuple of str
        Units with too few clusters.
    """

    unit: DependenceUnit | None
    measured: tuple[DependenceUnit, ...]
    few: tuple[str, ...] = ()

    @property
    def clustered(self) -> str:
        """A note on the effect that the clusters of a fit have."""
        assert self.unit is not None
        return f"Clustered by {self.unit.name}: standard errors {self.unit.factor}{self._others}"

    @property
    def if_clustered(self) -> str:
        """A note on the effect that clustering would have, for a fit that takes judgments as independent."""
        assert self.unit is not None
        return f"Clustered by {self.unit.name}, standard errors would be {self.unit.factor}{self._others}"

    @property
    def _others(self) -> str:
        assert self.unit is not None
        others = [unit for unit in self.measured if unit.names != self.unit.names]
        few = self.unit.effective >= _ENOUGH
        passed = [f"; not by {name}: too few clusters" for name in self.few]
        return "".join(
            f"; by {unit.name} {unit.ratio:.2f} ×"
            + (f" (G* = {format_number(unit.effective, 3)}: few)" if few and unit.effective < _ENOUGH else "")
            for unit in others
        ) + "".join(passed)


def object_rows(design: Design, spec: Specification, c: Comparisons, names: Sequence[str]) -> csr_array:
    """Return the log-worths of the objects as combinations (J, p) of the estimates with these names.

    Covariates are averaged over the judgments of the table.
    """
    free = [design.names.index(name) for name in names]
    return csr_array(average_rows(codings_of(design, spec.formula, c, spec.reference))[:, free])


def unit_of(res: PlainEstimates, names: Sequence[str] | None = None) -> UnitChoice:
    """Return the unit of dependence of a fit, chosen among columns of its table, by default among all clusters."""
    c, spec = res.comparisons, res.specification
    free = [res.names[k] for k in res.free]
    ways = kept_ways(c, c.clusters if names is None else names)
    return choose_unit(res.problem(), res.solution, object_rows(res.design, spec, c, free), ways)


def choose_unit(problem: Problem, fit: Fit, worths: csr_array, ways: Sequence[Way]) -> UnitChoice:
    """Return the unit of dependence among several clusterings of the same lines.

    It is the unit with the largest standard errors of the objects among units with G* ≥ 8. A unit with 2.5 ≤ G* < 8 is
    a candidate if no other unit has G* ≥ 8, or if its standard errors are larger than in 99 of 100 tables of
    independent judgments. Two-way clustering, V₁ + V₂ − V₁₂, is used if both units make standard errors at least 1.05
    times as large, neither is nested in the other, and both together make them larger still.

    Parameters
    ----------
    problem : Problem
    fit : Fit
    worths : csr_array, shape (J, p)
        The log-worths of the objects as combinations of the parameters.
    ways : sequence of Way
    """
    size = len(fit.params) ** 2
    usable = [way for way in ways if way.effective >= LEAST and way.clusters.size * size <= _WORK]
    known = [_Measured.of(problem, fit, worths, way) for way in usable]
    # the sort is stable: the first of equal units comes first
    known = sorted((m for m in known if m.unit.ratio > 0), key=lambda m: -m.unit.ratio)
    enough = [m for m in known if m.unit.effective >= _ENOUGH]
    enough = [m for m in known if m in enough or not enough or _beyond_chance(m.unit, len(fit.params))]
    units = [m.unit for m in enough]
    for one, other in itertools.combinations([m for m in enough if m.unit.ratio > _MATTERS], 2):
        if not _nested(one.way, other.way) and not _nested(other.way, one.way):
            units.append(_together(problem, fit, worths, one, other))
    chosen = max(units, key=lambda unit: unit.ratio, default=None)
    few = tuple(way.name for way in ways if way.effective < LEAST)
    return UnitChoice(chosen, tuple(m.unit for m in known), few)


@dataclass(frozen=True, eq=False)
class _Measured:
    """A clustering with its covariance (p, p)."""

    way: Way
    unit: DependenceUnit
    matrix: FloatArray

    @classmethod
    def of(cls, problem: Problem, fit: Fit, worths: csr_array, way: Way) -> _Measured:
        matrix, estimator = clustered_covariance(problem, fit, way)
        return cls(way, _unit((way,), matrix, fit, worths, estimator), matrix)


def clustered_covariance(problem: Problem, fit: Fit, way: Way) -> tuple[FloatArray, Estimator]:
    """Return the clustered covariance (p, p) of the estimates, and its kind: CR1 if CR3 is too costly or NA."""
    clusters = way.clusters
    if clusters.size * len(fit.params) ** 2 <= _JACKKNIFE_WORK:
        left = left_out(problem, fit, clusters)
        if not len(left.lost):
            return cr3(fit, left, clusters.size), "CR3"
    return cluster_sandwich(problem, fit, clusters), "CR1"


def _unit(ways: Sequence[Way], matrix: FloatArray, fit: Fit, worths: csr_array, estimator: Estimator) -> DependenceUnit:
    ratio, each = error_ratios(matrix, fit.cov, worths)
    each = each[~np.isnan(each)] if np.isfinite(each).any() else np.array([np.nan])
    return DependenceUnit(
        tuple(way.name for way in ways),
        min(way.clusters.size for way in ways),
        min(way.effective for way in ways),
        ratio,
        float(each.min()),
        float(each.max()),
        estimator,
    )


def _together(problem: Problem, fit: Fit, worths: csr_array, one: _Measured, other: _Measured) -> DependenceUnit:
    """Return two-way clustering by two units."""
    both = crossed(one.way.clusters, other.way.clusters)
    by_one_step = one.unit.estimator == other.unit.estimator == "CR3"
    v12 = cr3_of_both(problem, fit, both) if by_one_step else cluster_sandwich(problem, fit, both)
    matrix, _ = two_way(one.matrix, other.matrix, v12)
    return _unit((one.way, other.way), matrix, fit, worths, "CR3" if by_one_step else "CR1")


def _beyond_chance(unit: DependenceUnit, contrasts: int) -> bool:
    """Whether few clusters make standard errors larger than independent judgments would, at the 1 % level.

    The squared ratio by CR3 is approximately χ²/df with df = (G − 1)·(contrasts), times G/(G − 1).
    """
    df = (unit.effective - 1) * contrasts
    return bool(unit.ratio**2 > stats.chi2.isf(0.01, df) / df * unit.effective / (unit.effective - 1))


def _nested(inner: Way, outer: Way) -> bool:
    """Whether every cluster of `inner` lies within one cluster of `outer`."""
    return crossed(inner.clusters, outer.clusters).size == inner.clusters.size
