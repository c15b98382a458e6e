"""Checks of the effects of judges in a formula: an error for each bracket that a table cannot have, with a remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..base.table import counted, format_count, format_number
from ..core.columns import FloatArray
from ..errors import DesignError, OptionError, SeparationError, listed, near
from ..formulas.brackets import Bracket, quoted, written_formula
from ..formulas.design import codings_of
from ..formulas.grammar import HEADS, compares_objects, parse, vocabulary
from ..formulas.grid import average_rows
from ..kernel.crossed import Crossed
from ..kernel.mixed import LARGEST, MixedFit
from ..kernel.robust import Clustered
from ..kernel.sampled import BUDGET, FIRST
from .clusters import Way, check_clusters, kept_way
from .effect_levels import LEAST
from .effect_lines import EffectLines, slope_columns
from .plain_estimates import PlainEstimates
from .specification import CovType

_SAME = 1e-9  # largest relative error with which one covariate counts as a multiple of another
_SHARED = 6000  # most effects of crossed groupings, not counting those of the largest grouping


def check_options(res: PlainEstimates, brackets: Sequence[Bracket], cov_type: CovType, groups: tuple[str, ...]) -> None:
    """Raise for a prior, and for standard errors that fits with effects do not have."""
    spec = res.specification
    check_clusters(cov_type, groups, " + ".join(map(str, brackets)))
    if spec.prior is not None:
        raise OptionError(
            f"prior={spec.prior!r} together with effects of judges",
            f"Leave prior out: llbt.fit({written_formula(spec.formula, brackets)!r}, c).",
        )


def check_effect(bracket: Bracket, res: PlainEstimates, brackets: Sequence[Bracket]) -> None:
    """Raise if a fit with this formula and link cannot have the effects of a bracket."""
    if bracket.effect == "1":
        _check_residual(bracket, res)
        return
    if bracket.is_slope:
        _check_slope(bracket, res, brackets)
    block = _block(bracket)
    if _lacks_average(bracket, res):
        raise DesignError(
            f"{bracket} are deviations from {bracket.effect}, which the formula {res.specification.formula!r} lacks",
            _with_averages(res, brackets),
        )
    _check_fixed(bracket, block, res)
    if bracket.effect in ("tie", "grade") and not res.log_linear:
        raise OptionError(
            f"{bracket} with link={res.specification.link!r}: normal effects put the cuts of some judges out of order",
            f"Leave {bracket} out, or use link='adjacent'.",
        )


def _block(bracket: Bracket) -> str:
    return "worth" if bracket.effect == "object" or bracket.is_slope else bracket.effect


def _lacks_average(bracket: Bracket, res: PlainEstimates) -> bool:
    """Whether the formula lacks the term that a bracket's effects deviate from."""
    if bracket.is_slope:
        return not slope_columns(res.design, bracket)
    return bracket.effect != "1" and _block(bracket) not in res.design.blocks


def _with_averages(res: PlainEstimates, brackets: Sequence[Bracket]) -> str:
    """Return what to type: the formula with the terms that the brackets deviate from."""
    lacking = [quoted(bracket.effect) for bracket in brackets if _lacks_average(bracket, res)]
    fixed = " + ".join(dict.fromkeys([res.specification.formula, *lacking]))
    return f"Add it: llbt.fit({written_formula(fixed, brackets)!r}, c)."


def _check_slope(bracket: Bracket, res: PlainEstimates, brackets: Sequence[Bracket]) -> None:
    """Raise if a slope's covariate is not numeric or does not differ by side, or if its average slope is missing."""
    formula, c, name = res.specification.formula, res.comparisons, bracket.effect
    columns = slope_columns(res.design, bracket)
    numeric = {column.name: column.numeric for column in (*c.sides, *c.object_columns)}
    if name not in numeric:
        same = name in (*c.covariates, *c.clusters)
        why = "is the same for both objects, so that its slope cancels" if same else "is not a covariate of this table"
        names = f"covariates that differ between objects: {listed(list(numeric)) if numeric else 'none'}"
        raise DesignError(
            f"{bracket}: {name!r}{near(name, (*numeric, *HEADS, 'object'))} {why} ({names})",
            "Name the columns of both sides when you make the table: from_judgments(…, side_covariates="
            f"{{{name!r}: ('column_i', 'column_j')}}).",
        )
    if not columns:
        raise DesignError(
            f"{bracket} are deviations from the average slope of {name}, which the formula {formula!r} lacks",
            _with_averages(res, brackets),
        )
    if len(columns) > 1 or not numeric[name]:
        raise DesignError(
            f"{bracket}: {name!r} has levels, and slopes need a number",
            f"Leave {bracket} out. Or, if its levels are numbers, make the table with numeric=[{name!r}].",
            expected="a numeric covariate that differs between the two objects",
        )


def _check_fixed(bracket: Bracket, block: str, res: PlainEstimates) -> None:
    """Raise if each level of the grouping already has its own parameter for these effects."""
    formula = parse(res.specification.formula, vocabulary(res.comparisons))
    own = {bracket.effect, bracket.grouping} if block == "worth" else {bracket.grouping}
    numeric = {column.name for column in res.comparisons.columns if column.numeric}
    terms = [] if bracket.grouping in numeric else getattr(formula, block)
    for term in terms:
        if {name for factor in term.factors for name in factor.variables} == own:
            name = ":".join((*([] if block == "worth" else [block]), term.name))
            raise DesignError(
                f"{bracket} together with {name}, which already gives each {bracket.grouping} its own parameter, so "
                "nothing is left for the effects",
                f"Leave out {name} or {bracket}.",
            )


def _check_residual(bracket: Bracket, res: PlainEstimates) -> None:
    """Raise for effects of objects without covariates in the formula, or with covariates that explain all worths."""
    formula, c = res.specification.formula, res.comparisons
    if compares_objects(parse(formula, vocabulary(c))):
        raise DesignError(
            f"{bracket} together with object, which already gives each object its own worth",
            "Replace object by covariates of the objects: price + (1 | object).",
        )
    if "worth" not in res.design.blocks:
        raise DesignError(
            f"{bracket} is the part of the worths that covariates do not explain, but the formula {formula!r} has no "
            "covariates",
            f"Add one: price + {bracket}.",
        )
    if len(c.objects) < LEAST:
        raise DesignError(
            f"{len(c.objects)} objects are too few to estimate a standard deviation",
            f"Leave {bracket} out.",
            expected=f"at least {LEAST} objects",
        )
    if contrasts_explained(res) == len(c.objects) - 1:
        raise DesignError(
            f"{bracket} together with {formula!r}, which already explains all differences between the "
            f"{len(c.objects)} objects, so nothing is left for the effects",
            f"Leave the effects out: llbt.fit({formula!r}, c).",
        )


def contrasts_explained(res: PlainEstimates) -> int:
    """Return the number of contrasts of objects that covariates explain, averaged over the judgments."""
    spec = res.specification
    rows = average_rows(codings_of(res.design, spec.formula, res.comparisons, spec.reference)).toarray()
    return int(np.linalg.matrix_rank(rows - rows.mean(axis=0)))


def way_of(res: PlainEstimates, grouping: str, groupings: tuple[str, ...], brackets: Sequence[Bracket]) -> Way:
    """Return the judgments in groups, on lines common to all groupings; the objects form one single group."""
    c = res.comparisons
    if grouping == "object":
        if groupings:
            lines = kept_way(c, groupings[0], groupings).clusters
        else:
            lines = Clustered(np.arange(len(c)), c.outcome_counts, np.zeros(len(c), dtype=np.int64))
        return Way(grouping, replace(lines, codes=np.zeros_like(lines.codes)), c.objects)
    if c.named(grouping) not in (*c.clusters, *(column.name for column in c.columns)):
        names = (*c.clusters, *(column.name for column in c.columns))
        reading = ", ".join(map(repr, names)) or "none"
        raise DesignError(
            f"{grouping!r}{near(grouping, names)} is not a column of this table (clusters and covariates: {reading})",
            f"Keep the column when you make the table: from_judgments(…, clusters={grouping!r}).",
        )
    way, formula = kept_way(c, grouping, groupings), res.specification.formula
    others = [other for other in brackets if other.grouping != grouping]
    if way.clusters.size < LEAST:
        reading = "" if grouping in c.covariates else f"from_judgments(…, covariates={grouping!r}), then "
        covariate = f"{formula} + {quoted(next(b.effect for b in brackets if b.grouping == grouping))}:{grouping}"
        raise DesignError(
            f"{grouping!r} has {counted(way.clusters.size, 'level')}, too few to estimate a standard deviation",
            f"Use it as a covariate: {reading}llbt.fit({written_formula(covariate, others)!r}, c)."
            if way.clusters.size > 1
            else f"Leave its brackets out: llbt.fit({written_formula(formula, others)!r}, c).",
            expected=f"at least {LEAST} levels",
        )
    if (way.clusters.judgments <= 1).all():
        raise DesignError(
            f"every level of {grouping!r} made one judgment, so differences between judges cannot be separated "
            "from differences between judgments of one judge",
            f"Fit without the bracket: llbt.fit({written_formula(formula, others)!r}, c).",
        )
    return way


def check_partitions(without: PlainEstimates, brackets: Sequence[Bracket], ways: Sequence[Way]) -> None:
    """Raise if two groupings are the same under two names."""
    for k, way in enumerate(ways):
        for other in ways[:k]:
            both = np.unique(np.stack([way.clusters.codes, other.clusters.codes]), axis=1).shape[1]
            if both == way.clusters.size == other.clusters.size:
                others = [bracket for bracket in brackets if bracket.grouping != way.name]
                formula = written_formula(without.specification.formula, others)
                raise DesignError(
                    f"{other.name!r} and {way.name!r} divide the judgments into the same {both} groups, so "
                    "their effects cannot be separated",
                    f"Leave out the brackets of {way.name!r}: llbt.fit({formula!r}, c).",
                )


def check_levels(table: EffectLines, ways: Sequence[Way]) -> None:
    """Raise if a slope's covariate differs between objects for too few levels to estimate a standard deviation."""
    for bracket, entry in zip(table.brackets, table.entries, strict=True):
        if entry.values is None:
            continue
        differs = (entry.values != 0) & (True if entry.where is None else entry.where)
        codes = table.codes[table.groupings.index(bracket.grouping)][differs[table.rows]]
        levels = len(np.unique(codes))
        if levels < LEAST:
            raise DesignError(
                f"{bracket}: {bracket.effect!r} differs between the objects for {counted(levels, 'level')} of "
                f"{bracket.grouping!r}, too few to estimate a standard deviation",
                f"Leave {bracket.written} out.",
                expected=f"at least {LEAST} levels",
            )


def check_multiples(table: EffectLines) -> None:
    """Raise if two slopes of one grouping belong to covariates whose differences are multiples of each other."""
    slopes = [(bracket, entry.values) for bracket, entry in zip(table.brackets, table.entries, strict=True)]
    for (one, x), (other, y) in combinations(slopes, 2):
        if x is None or y is None or one.grouping != other.grouping or one.effect == other.effect:
            continue
        ratio = (x @ y) / (x @ x)
        if np.abs(y - ratio * x).max() <= _SAME * np.abs(y).max():
            raise DesignError(
                f"{one} and {other}: the difference in {other.effect!r} is always the same multiple of the difference "
                f"in {one.effect!r}, so their standard deviations cannot be separated",
                f"Leave {other} out.",
            )


def check_propagated(brackets: Sequence[Bracket], names: Sequence[str]) -> None:
    """Raise if expectation propagation is requested for effects that it does not support."""
    if len(names) != 2 or "object" in names:
        raise OptionError(
            f"approximation='ep' with effects of {' and '.join(map(repr, names))}",
            "Leave approximation= out.",
            expected="effects of two crossed groupings: (object | judge) + (object | prompt)",
        )
    for bracket in brackets:
        if not bracket.enters_differences:
            raise OptionError(
                f"approximation='ep' with {bracket}",
                f"Leave {bracket.written} out, or use approximation='laplace'.",
                expected="(object | …), (order | …) and slopes",
            )


def check_size(way: Way, width: int) -> None:
    """Raise if the combinations of a comparison and a level are too many to integrate effects out."""
    lines = len(way.clusters.rows)
    if lines * width * FIRST > BUDGET:
        raise DesignError(
            f"{format_count(lines)} combinations of a comparison and a level of {way.name!r} are too many to integrate "
            "effects out",
            "Use approximation='laplace', whose bias res.laplace_bias() estimates. Or leave the brackets out and "
            f"cluster: cov_type='cluster', groups={way.name!r}.",
            expected=f"at most {format_count(BUDGET // (width * FIRST))}",
        )


def check_shared(lines: Crossed, ways: Sequence[Way], formula: str) -> None:
    """Raise if all groupings but the largest have too many effects for one matrix."""
    shared = len(lines.scales[1])
    if shared > _SHARED:
        raise DesignError(
            f"the groupings {' and '.join(repr(way.name) for way in ways)} have {format_count(shared)} effects (levels "
            "times objects judged) without those of the largest grouping, too many for one matrix",
            f"Cluster standard errors instead: llbt.fit({formula!r}, c, cov_type='cluster', "
            f"groups={tuple(way.name for way in ways[:2])!r}).",
            expected=f"at most {format_count(_SHARED)}",
        )


def check_maximum(maximum: MixedFit, brackets: Sequence[Bracket], units: FloatArray, ways: Sequence[Way]) -> None:
    """Raise if a standard deviation has no finite estimate, or if the information is singular at the maximum."""
    variances = np.diag(maximum.covariance)
    bent = not np.all(variances[~np.isnan(variances)] > 0)
    infinite = maximum.infinite or (np.flatnonzero(maximum.scales > LARGEST / 2).tolist() if bent else ())
    if infinite:
        bracket, largest = brackets[infinite[0]], LARGEST / float(units[infinite[0]])
        way = next(way for way in ways if way.name == bracket.grouping)
        bound = format_number(largest, 3)
        endless = f"the standard deviation of {bracket} is +∞: the likelihood has no maximum below {bound}"
        if bracket.effect == "1":
            raise SeparationError(
                endless,
                "Fit a worth of each object with a prior: llbt.fit('object', c, prior=1). Or collect more judgments.",
            )
        raise SeparationError(
            f"{endless}, because the judgments of every {way.name} are nearly consistent ({way.size})",
            f"Leave the bracket out and cluster: cov_type='cluster', groups={way.name!r}. Or collect more judgments of "
            f"the same pairs by the same levels of {way.name}.",
        )
    if bent:
        raise unidentified(brackets, ways)


def unidentified(brackets: Sequence[Bracket], ways: Sequence[Way]) -> DesignError:
    """Return the error for a table that does not identify the effects."""
    effects = " + ".join(map(str, brackets))
    size = ", ".join(way.size for way in ways)
    return DesignError(
        f"the table does not identify {effects}: the information of the estimates is singular ({size})",
        "Leave a bracket out.",
    )
