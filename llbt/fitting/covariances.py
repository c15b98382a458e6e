"""The covariance that a fit uses: for independent, overdispersed or clustered judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..base.table import Qualifying, format_number, named
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError, listed
from ..formulas.design import Design
from ..kernel.deviances import pearson_chi2
from ..kernel.jackknife import LeftOut, cr3, cr3_of_both, left_out
from ..kernel.likelihood import Problem
from ..kernel.robust import LOST, Covariance, Shares, cluster_sandwich, crossed, judgment_sandwich, two_way
from ..kernel.solvers import Fit
from .cluster_units import LEAST, choose_unit, object_rows
from .clusters import Way, kept_ways, way_of
from .existence import separated_without
from .specification import Specification

FEW_CLUSTERS = 30  # with fewer clusters CR1 is not reliable
_NAMED = 3  # clusters in a note
_TOLD = 10.0  # from this G* on more clusters would hardly shorten an interval


def settled(
    spec: Specification, c: Comparisons, problem: Problem, solution: Fit, names: Sequence[str], design: Design
) -> tuple[Specification, Covariance]:
    """Return the specification and the covariance; `cov_type="cautious"` chooses the clusters, or none."""
    if spec.cov_type != "cautious":
        return spec, covariance_of(spec, c, problem, solution, names)
    if not c.clusters:
        return replace(spec, cov_type="nonrobust"), Covariance(solution.inverse)
    chosen = choose_unit(problem, solution, object_rows(design, spec, c, names), kept_ways(c, c.clusters))
    if chosen.unit is None or chosen.unit.ratio <= 1:
        why = _too_few(c) if chosen.unit is None else chosen.if_clustered
        note = Qualifying(f"Judgments are taken as independent. {why}.")
        return replace(spec, cov_type="nonrobust"), Covariance(solution.inverse, notes=(note,))
    spec = replace(spec, cov_type="cluster", groups=chosen.unit.names)
    cov = covariance_of(spec, c, problem, solution, names)
    return spec, replace(cov, notes=(*cov.notes, Qualifying(f"{chosen.clustered}.")))


def _too_few(c: Comparisons) -> str:
    """Return why no clusters were chosen: too few of them, a model without worths, or too much work."""
    ways = kept_ways(c, c.clusters)
    sizes = " and ".join(way.size for way in ways)
    if all(way.effective < LEAST for way in ways):
        return f"Clustered standard errors need G* of {format_number(LEAST, 2)} or more, and the table has {sizes}"
    return f"Clusters ({sizes}) were not used: the model has no worths, or the computation would be too large"


def covariance_of(
    spec: Specification, c: Comparisons, problem: Problem, solution: Fit, names: Sequence[str]
) -> Covariance:
    """Return the covariance that `cov_type` and `groups` name; `names` are the names of the estimates."""
    if spec.groups:
        ways = [way_of(c, name, spec.groups) for name in spec.groups]
        return (
            by_clusters(problem, solution, ways, names)
            if spec.cov_type == "CR1"
            else jackknifed(problem, solution, ways, names, finite=spec.prior is not None)
        )
    if spec.cov_type == "HC0":
        note = "Standard errors: sandwich of single judgments (HC0)."
        return Covariance(judgment_sandwich(problem, solution), notes=(note,))
    if spec.cov_type == "quasi":
        return _dispersed(problem, solution)
    return Covariance(solution.inverse)


def by_clusters(problem: Problem, solution: Fit, ways: Sequence[Way], names: Sequence[str]) -> Covariance:
    """Return the CR1 covariance, for one-way or two-way clustering."""
    df = min(way.clusters.size for way in ways) - 1
    note = f"Standard errors: CR1 by {' and '.join(way.size for way in ways)}, t with {df} df."
    each = [way.clusters for way in ways]
    each += [crossed(*each)] if len(each) == 2 else []
    parts = [cluster_sandwich(problem, solution, clusters) for clusters in each]
    matrix, notes = _summed(parts)
    covariance = Covariance(matrix, df, (note, *notes), independent=solution.cov)
    return _described(covariance, _alike(covariance, ways, names))


def jackknifed(
    problem: Problem, solution: Fit, ways: Sequence[Way], names: Sequence[str], *, finite: bool = False
) -> Covariance:
    """Return the one-step CR3 covariance, one-way or two-way; `finite` states that no estimate can be infinite."""
    df = min(way.effective for way in ways) - 1
    note = f"Standard errors: CR3 by {' and '.join(way.size for way in ways)}, t with {format_number(df, 3)} df."
    by_way = [left_out(problem, solution, way.clusters) for way in ways]
    if not finite:
        by_way = [_with_infinite(problem, left, way) for left, way in zip(by_way, ways, strict=True)]
    parts = [cr3(solution, left, way.clusters.size) for left, way in zip(by_way, ways, strict=True)]
    if len(ways) == 2:
        parts.append(cr3_of_both(problem, solution, crossed(*(way.clusters for way in ways))))
    matrix, notes = _summed(parts)
    alone = [_alone(left, way, names) for left, way in zip(by_way, ways, strict=True) if len(left.lost)]
    lost = np.concatenate([left.lost for left in by_way])
    shares = tuple(Shares(problem, solution, way.clusters) for way in ways)
    whole = Covariance(matrix, df, (note, *notes), lost, shares, solution.cov)
    without, few = _from_few(whole, ways, names)
    whole = _described(whole, [*alone, *_alike(whole, ways, names), *without])
    return replace(whole, notes=(*whole.notes, *few))


def _described(cov: Covariance, missing: Sequence[str]) -> Covariance:
    """Return a covariance with notes on why standard errors are NA."""
    return replace(cov, notes=(*cov.notes, *missing), missing=tuple(missing))


def _with_infinite(problem: Problem, left: LeftOut, way: Way) -> LeftOut:
    """Add directions along which estimates are infinite without some cluster; one Newton step does not show them."""
    directions, clusters = separated_without(problem, way.clusters, left.clusters)
    return replace(
        left, lost=np.concatenate([left.lost, directions]), clusters=np.concatenate([left.clusters, clusters])
    )


def _summed(parts: Sequence[FloatArray]) -> tuple[FloatArray, list[str]]:
    """Return the one-way or the two-way covariance, with a note if negative eigenvalues were set to 0."""
    if len(parts) == 1:
        return parts[0], []
    matrix, cut = two_way(*parts)
    note = Qualifying("The two-way covariance was not positive semidefinite: its negative eigenvalues were set to 0.")
    return matrix, [note] if cut else []


def _alone(left: LeftOut, way: Way, names: Sequence[str]) -> str:
    """Return notes on parameters without a standard error because only one cluster informs them."""
    params_by_cluster: dict[Label, list[str]] = {}
    for cluster, direction in zip(left.clusters, left.lost, strict=True):
        here = params_by_cluster.setdefault(way.levels[cluster], [])
        here += [
            name for name, moved in zip(names, np.abs(direction) > LOST, strict=True) if moved and name not in here
        ]
    phrases = [
        f"{listed(here, 4)} without {way.name} {label!r}" for label, here in list(params_by_cluster.items())[:_NAMED]
    ]
    more = f", and so on for {len(params_by_cluster) - _NAMED} more" if len(params_by_cluster) > _NAMED else ""
    return Qualifying(
        f"Std. Error NA: no finite estimate of {'; of '.join(phrases)}{more}. One cluster alone determines these "
        "parameters. Leave them out of the formula, merge levels (Comparisons.pool), take another reference, or use "
        f"cov_type='nonrobust', which holds for these {way.name}s only."
    )


def _alike(cov: Covariance, ways: Sequence[Way], names: Sequence[str]) -> list[str]:
    """Return a note on parameters for which all clusters agree exactly."""
    gone = np.flatnonzero(cov.flat(np.eye(len(names)))).tolist()
    if not gone:
        return []
    which = "any parameter" if len(gone) == len(names) else listed([names[k] for k in gone], _NAMED)
    sizes = " and ".join(way.size for way in ways)
    return [
        Qualifying(
            f"Std. Error NA: the clusters of {sizes} all give the same value of {which}. Are they copies of each "
            "other? cov_type='nonrobust' takes the judgments as independent."
        )
    ]


def _from_few(cov: Covariance, ways: Sequence[Way], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return notes on parameters informed by fewer than two clusters, and on those informed by few clusters."""
    rows = np.eye(len(names))
    known = ~((np.abs(cov.moves_lost(rows)) > LOST).any(axis=1) | cov.flat(rows))
    own, df = cov.effective(rows), cov.df_of(rows)
    without = known & cov.unknown(rows)
    few = known & ~without & (df < cov.df) & (own < _TOLD)
    what = " and ".join(f"{way.name}s" for way in ways)

    def listing(which: npt.NDArray[np.bool_]) -> str:
        places = np.flatnonzero(which).tolist()
        return named([f"{names[k]} (G* = {format_number(own[k], 3)})" for k in places], _NAMED)

    missing: list[str] = []
    notes: list[str] = []
    if without.any():
        missing.append(
            Qualifying(
                f"Std. Error NA: the effective number of {what} is below 2 for {listing(without)}. Add {what}, leave "
                f"these parameters out of the formula, or use cov_type='nonrobust', which holds for these {what} only."
            )
        )
    if few.any():
        notes.append(
            Qualifying(
                f"These estimates rest on few {what}: {listing(few)}. Their t tests have G* − 1 df. "
                f"Add {what}, not judgments."
            )
        )
    return missing, notes


def few_clusters(spec: Specification, c: Comparisons) -> str:
    """Return a warning if there are too few clusters to rely on clustered standard errors, else an empty text.

    Raises
    ------
    OptionError, DesignError
        As in `clustered`.
    """
    if not spec.groups:
        return ""
    ways = [way_of(c, name, spec.groups) for name in spec.groups]
    least = FEW_CLUSTERS if spec.cov_type == "CR1" else LEAST
    few = [way for way in ways if way.effective < least]
    if not few:
        return ""
    sizes = " and ".join(way.size for way in few)
    if spec.cov_type == "CR1":
        return (
            f"{sizes}: G* = (Σn)²/Σn² is below {FEW_CLUSTERS}, so the standard errors of cov_type='CR1' are mostly too "
            "small. cov_type='cluster' leaves out each cluster in turn, and its intervals keep their level."
        )
    return (
        f"{sizes}: G* = (Σn)²/Σn² is below {LEAST}, so intervals are hardly informative: little more than two "
        "clusters cannot show how much clusters differ. A standard error is NA if fewer than two clusters of equal "
        "weight inform its parameter; res.summary() names these parameters. Add clusters, or make them of equal size. "
        f"llbt.influence(res, by={few[0].name!r}) shows how each cluster influences the estimates."
    )


def _dispersed(problem: Problem, solution: Fit) -> Covariance:
    df = problem.counts.size - len(problem.counts) - len(solution.params)
    if df == 0:
        raise DesignError("cov_type='quasi': the model is saturated, so there is no dispersion to estimate.")
    scale = pearson_chi2(problem.counts, solution.means) / df
    note = f"Standard errors are multiplied by √{format_number(scale, 4)} (dispersion X²/df); t with {df} df."
    return Covariance(solution.cov * scale, df, (note,))


def check_options(spec: Specification) -> None:
    """Raise if the options of a fit contradict each other."""
    if not all(isinstance(name, str) for name in spec.groups) or len(set(spec.groups)) < len(spec.groups):
        raise OptionError(f"groups={spec.groups!r}", expected="the name of one cluster or covariate, or of two")
    if (spec.cov_type in ("cluster", "CR1")) != bool(spec.groups) or len(spec.groups) > 2:
        raise OptionError(
            f"cov_type={spec.cov_type!r} with groups={spec.groups!r}",
            expected="cov_type='cluster' (or 'CR1') and groups= together: groups='judge', or two names",
        )
    if spec.link != "adjacent" and spec.method == "glm":
        raise OptionError(f"link={spec.link!r} does not go with method='glm'", "Use method='eliminate'.")
    if spec.link != "adjacent" and spec.reduces_bias:
        raise OptionError(
            f"link={spec.link!r} does not go with prior='jeffreys'",
            "If estimates are infinite, use prior=1: one judgment is added to each pair.",
        )
    if spec.reduces_bias and spec.method == "glm":
        raise OptionError("prior='jeffreys' does not go with method='glm'", "Use method='eliminate'.")
