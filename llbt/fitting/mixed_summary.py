"""The printout of a fit with effects of judges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.table import Qualifying, Table, counted, format_count, format_figure, format_number, format_p, format_share
from ..formulas.brackets import are_propagated
from ..kernel.laplace import METHOD_NAMES, NormalDensity
from ..kernel.quadrature import Quadrature, Sampling
from .clusters import RATIOS, independence_note
from .effect_levels import members
from .fractional_counts import effect_notes
from .mixed_estimates import OF_AVERAGE, MixedEstimates
from .summary import (
    aliased_notes,
    as_clusters,
    coefficient_table,
    head_lines,
    held_notes,
    likelihood_lines,
    model_title,
    scale_notes,
)
from .summary_rows import Sort
from .variance_components import likelihood_ratio

_LAPLACE = Qualifying(
    "Laplace's approximation may be far off if levels have few judgments: see res.scale_intervals() and "
    "res.laplace_bias()."
)
_LAPLACE_CROSSED = Qualifying(
    "With crossed groupings, σ by Laplace's approximation may be up to a third too small in sparse tables, and about "
    "2 % in full ones. Leave approximation= out."
)
_FEW = 12  # with fewer judges the upper bound of σ is too low too often


def mixed_summary(res: MixedEstimates, *, odds: bool, max_rows: int, sort: Sort) -> Table:
    """Return the summary of a fit with effects of judges; see `MixedResults.summary`."""
    table = coefficient_table(res.average, odds=odds, max_rows=max_rows, sort=sort)
    return replace(
        table,
        title=f"{model_title(res.average)} with normal effects of {' and of '.join(res.judges.groupings)}",
        head=_head(res),
        foot=(*_effects(res), *_likelihood(res)),
        notes=_notes(res, odds),
    )


def _head(res: MixedEstimates) -> tuple[str, ...]:
    columns = {name for bracket in res.brackets for name in (bracket.grouping, bracket.by)}
    elsewhere = as_clusters(res.specification.groups) | dict.fromkeys(columns, "only in brackets")
    lines = [line for line in head_lines(res.average, elsewhere) if not line.startswith("Formula: ")]
    return (f"Formula: {res.specification.formula}", *lines)


def _effects(res: MixedEstimates) -> tuple[str, ...]:
    """Return the block of standard deviations, as R's "Random effects"."""
    sizes = [f"{counted(len(levels), 'level')} of {name}" for name, levels in res.judges.groupings.items()]
    size = f"Effects of {' and of '.join(sizes)}"
    distinct = sum(len(bundle.rows) for bundle in res.judges.grouped.bundles)
    alike = 0 < distinct < len(res.judges.levels) and res.has_judges
    size += f", {distinct} with different answers" if alike else ""
    names = list(res.scales.index)
    width = max(len(name) for name in names)
    lines = [
        f"  {name:<{width}}  σ {_number(sigma)}  (std. error {_number(error)}{_profile(res, name)})"
        for name, sigma, error in zip(names, res.scales, res.scale_errors, strict=True)
    ]
    return (size, *_sizes_of_levels(res), *lines, _largest(res), *_asked(res), *_shares(res), *_tested(res))


def _sizes_of_levels(res: MixedEstimates) -> tuple[str, ...]:
    """Return how many judges each level of a covariate has, if σ depends on it."""
    sizes: dict[tuple[str, str], dict[str, int]] = {}
    for bracket, size in zip(res.brackets, _sizes(res), strict=True):
        if bracket.by:
            sizes.setdefault((bracket.grouping, bracket.by), {})[str(bracket.level)] = size
    return tuple(
        f"  {grouping} by {by}: {', '.join(f'{format_count(size)} {level}' for level, size in of.items())}"
        for (grouping, by), of in sizes.items()
    )


def _sizes(res: MixedEstimates) -> list[int]:
    """Return the number of judges that have the effects of each bracket."""
    return [
        int(members(bracket, res.comparisons, res.judges.groupings[bracket.grouping]).sum()) for bracket in res.brackets
    ]


def _shares(res: MixedEstimates) -> tuple[str, ...]:
    shares: dict[str, list[str]] = {}
    for (grouping, condition), share in res.shares_between.items():
        level = f" ({condition})" if condition else ""
        shares.setdefault(grouping, []).append(f"{format_share(share)}{level}")
    between = "; ".join(f"between {grouping}s: {', '.join(those)}" for grouping, those in shares.items())
    return (f"  share of the variance of a pair's log-odds {between}",) if shares else ()


def _largest(res: MixedEstimates) -> str:
    """Return the maximum likelihood σ; the estimates are those of the restricted likelihood."""
    if np.any(res.solution.scales > 0) and np.array_equal(res.solution.scales, res.maximum.scales):
        return "  at the maximum of the likelihood"
    largest = ", ".join(_number(float(sigma)) for sigma in res.maximum.scales / res.units)
    return f"  by restricted likelihood; at the maximum of the likelihood σ = {largest}"


def _asked(res: MixedEstimates) -> tuple[str, ...]:
    """Return the call that gives intervals of judges' σ; see `MixedEstimates.scale_intervals`."""
    if not res.has_judges:
        return ()
    size = min(len(res.judges.levels), *_sizes(res))
    method = ", by profile likelihood" if size >= _FEW else f" (with {size} levels, upper ends are too low)"
    return (f"  95 % intervals of σ{method}: res.scale_intervals()",)


def _profile(res: MixedEstimates, name: str) -> str:
    """Return the interval of the σ of objects' effects, because its standard error is not informative."""
    if res.has_judges:
        return ""
    low, high = map(float, res.profile.loc[name])
    return f"; 95 % {_number(low)} to {'∞' if np.isinf(high) else _number(high)} by profile likelihood"


def _number(x: float) -> str:
    return "NA" if np.isnan(x) else format_number(float(x), 4)


def _tested(res: MixedEstimates) -> list[str]:
    gain = likelihood_ratio(res.llf, res.without.llf)
    line = f"  against no effects: likelihood ratio {format_number(gain, 5)}"
    if any(bracket.by for bracket in res.brackets):
        common = " + ".join(dict.fromkeys([res.without.specification.formula, *(b.common for b in res.brackets)]))
        return [
            line,
            f"  σ = 0: res.boundary_test({str(res.brackets[0])!r})",
            f"  equal σ: llbt.anova(llbt.fit({common!r}, res.comparisons), res)",
        ]
    if len(res.brackets) > 1:
        return [f"{line} (a mixture of χ²: llbt.anova(res.without, res, n=199))"]
    p = format_p(res.boundary_test().p_value)
    return [f"{line}, {'p ' + p if p.startswith('<') else 'p = ' + p} (½χ²₀ + ½χ²₁)"]


def _likelihood(res: MixedEstimates) -> tuple[str, ...]:
    best = res.solution
    lines = [
        *likelihood_lines(res.llf, res.aic, res.bic),
        f"  without effects: {format_figure(res.without.llf)}   AIC: {format_figure(res.without.aic)}   "
        f"BIC: {format_figure(res.without.bic)}",
    ]
    size = max((mode.at.shape[1] for mode in best.modes), default=0)
    dimensions = f"{'up to ' if len(best.modes) > 1 else ''}{counted(size, 'dimension')}"
    if isinstance(best.rule, Quadrature):
        lines.append(
            f"Adaptive Gauss-Hermite quadrature: {best.rule.number} points in each of {dimensions}"
            + (
                f"; fewer points changed the log-likelihood by {format_number(best.moved, 1)}"
                if res.maximum.rule
                else ""
            )
        )
    elif isinstance(best.rule, NormalDensity):
        lines.append(METHOD_NAMES[best.rule.method])
    elif isinstance(best.rule, Sampling):
        kind = "normal" if np.isinf(best.rule.df) else f"t({best.rule.df:g})"
        worst = float(np.nanmax(best.noise / np.sqrt(np.diag(best.covariance))))
        lines.append(
            f"Importance sampling: {format_count(best.rule.number)} quasi-random points in {dimensions}, {kind}, seed "
            f"{best.rule.seed}; Monte Carlo error {format_number(best.moved, 2)} of the log-likelihood, at most "
            f"{format_number(worst, 2)} standard errors of estimates"
        )
    return tuple(lines)


def _notes(res: MixedEstimates, odds: bool) -> tuple[str, ...]:
    notes = [*scale_notes(res.average, odds), *effect_notes(res.average.counts, res.brackets[0].grouping)]
    if res.has_judges:
        notes.append("Estimates are of the average judge. Averaged over judges, chances are nearer to ½.")
    if isinstance(res.solution.rule, NormalDensity) and res.solution.rule.method == "laplace":
        notes.append(_LAPLACE_CROSSED if are_propagated(res.brackets) else _LAPLACE)
    if not np.all(res.solution.scales > 0):
        gone = [bracket for bracket, sigma in zip(res.brackets, res.solution.scales, strict=True) if sigma == 0]
        levels = " and of ".join(dict.fromkeys(bracket.grouping for bracket in gone))
        notes.append(f"σ = 0 for {' and '.join(map(str, gone))}: {levels}s differ no more than by chance.")
    of_covariance = [note for note in res.average.covariance.notes if note != OF_AVERAGE]
    notes += aliased_notes(res.aliased)
    notes += [*res.judges.notes, *of_covariance, *independence_note(res.groups, RATIOS), *held_notes(res.fixed)]
    if not res.converged:
        notes.append(Qualifying("More points would still change the log-likelihood: the estimates may be off."))
    return (*notes, *res.comparisons.notes)
