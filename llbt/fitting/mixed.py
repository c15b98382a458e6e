"""Add normal effects of judges, given by the brackets of a formula, to a fit without effects."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy import linalg

from ..base.table import Qualifying, counted, format_count, format_number
from ..core.columns import FloatArray, IntArray, groups
from ..errors import DesignError, OptionError, SeparationError, listed, near
from ..formulas.brackets import Bracket, are_propagated, quoted, written_formula
from ..formulas.design import codings_of
from ..formulas.grammar import compares_objects, parse, vocabulary
from ..formulas.grid import average_rows
from ..kernel.crossed import Crossed
from ..kernel.effect_groups import Grouped
from ..kernel.group_modes import Modes, modes
from ..kernel.laplace import METHOD_NAMES, NormalDensity
from ..kernel.laplace_fit import normal_maximum, predicted_effects
from ..kernel.likelihood import Problem
from ..kernel.mixed import LARGEST, MOST_EFFECTS, MixedFit, Predicted, maximize, restricted, scaled_inverse
from ..kernel.quadrature import Sampling
from ..kernel.restricted import Restricted, restricted_maximum
from ..kernel.robust import Clustered, Covariance, EffectDf, ObjectShares, Shares
from ..kernel.sampled import BUDGET, FIRST, numbers_of, sampled_maximum
from ..kernel.solvers import Fit
from ..kernel.threads import few_threads
from .clusters import Way, check_clusters, kept_way
from .effect_levels import FEW, LEAST, few_of_level, information_shares, with_levels
from .effect_lines import EffectLines, slope_columns, slope_units
from .fit_part import FitPart, part_of
from .mixed_clusters import clustered_covariance, of_parameters
from .mixed_estimates import OF_AVERAGE, JudgeTable
from .mixed_results import MixedResults
from .object_effects import object_effects
from .results import LLBTResults
from .specification import CovType

_START = 0.8  # start of σ
_WORK = 3e7  # most products of an evaluation for which effects of objects are integrated, some seconds in total
_ADDED = 4  # so many times the first points have to be possible, because the first points are seldom enough
_SAME = 1e-9  # two covariates are multiples of each other if they differ relatively by at most this
_SHARED = 6000  # most effects of crossed groupings, without those of the largest grouping
_KEPT = 2e7  # loadings of groups are kept for questions up to so many numbers
_NO_GROUPS = Grouped((), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), ())
_UNRESTRICTED = Qualifying(
    "The restricted likelihood has no maximum in σ. σ is the maximum likelihood estimate, which is too small with few "
    "judges or objects."
)


def with_effects(
    without: LLBTResults,
    brackets: Sequence[Bracket],
    cov_type: CovType = "nonrobust",
    groups: tuple[str, ...] = (),
) -> MixedResults:
    """Return the fit with normal effects of judges.

    Parameters
    ----------
    without : LLBTResults
        The fit of the formula without its brackets.
    brackets : sequence of Bracket
        The effects. Brackets with different groupings are crossed.
    cov_type, groups
        The kind of standard errors, as in `llbt.fit`; `without` takes the judgments as independent.

    Raises
    ------
    OptionError
        For options that fits with integrated effects lack.
    DesignError
        For effects that the table does not identify, and for effects that cannot be integrated.
    SeparationError
        If a standard deviation has no finite estimate.
    """
    _check_options(without, brackets, cov_type, groups)
    brackets, ways, judges, maximum = marginal_maximum(without, brackets)
    try:
        with _few_threads(without, judges.lines):
            reml = _restricted(without, brackets, judges, maximum)
            solution = _with_modes(_solution(maximum, reml), judges, brackets)
    except linalg.LinAlgError:
        raise _unidentified(brackets, ways) from None
    unrestricted = [_UNRESTRICTED] if reml is None else []
    notes = (
        *judges.notes,
        *unrestricted,
        *_few(ways),
        *few_of_level(without, brackets, ways),
        *_without_covariance(brackets),
    )
    judges = replace(judges, notes=notes)
    average = _average(without, brackets, judges, solution, reml, ways)
    if cov_type == "cluster" or cov_type == "CR1":
        joint = clustered_covariance(without, judges, solution, cov_type, groups)
        average = replace(average, covariance=of_parameters(joint, len(solution.params), average.covariance.notes))
        if solution.rule is not None:
            solution = replace(solution, covariance=joint.matrix)
    return MixedResults(average, without, brackets, judges, solution, maximum, cov_type, groups)


def marginal_maximum(
    without: LLBTResults, brackets: Sequence[Bracket]
) -> tuple[tuple[Bracket, ...], list[Way], JudgeTable, MixedFit]:
    """Return the brackets of each σ, the groupings, their judgments, and the maximum of the likelihood.

    Raises
    ------
    As `with_effects`.
    """
    for bracket in brackets:
        _check_effect(bracket, without, brackets)
    names = list(dict.fromkeys(bracket.grouping for bracket in brackets))
    others = tuple(name for name in names if name != "object")
    ways = [_way(without, name, others, brackets) for name in names]
    _check_partitions(without, brackets, ways)
    brackets = with_levels(brackets, without.comparisons, without.specification.formula)
    if without.specification.approximation == "ep":
        _check_propagated(brackets, names)
    table = EffectLines.of(without, brackets, ways)
    _check_levels(table, ways)
    _check_multiples(table)
    laplace = without.specification.approximation is not None or len(ways) > 1
    integrated = _of_objects if names == ["object"] else _integrated
    try:
        judges, maximum = (_approximated if laplace else integrated)(without, brackets, ways, table)
    except linalg.LinAlgError:
        raise _unidentified(brackets, ways) from None
    _check_maximum(maximum, brackets, slope_units(without.design, brackets), ways)
    return brackets, ways, judges, maximum


_Found = tuple[JudgeTable, MixedFit]


def _integrated(without: LLBTResults, brackets: Sequence[Bracket], ways: Sequence[Way], table: EffectLines) -> _Found:
    """Return the fit by quadrature, or by importance sampling."""
    way = ways[0]
    _check_size(way, without.response.width)
    by_group = table.grouped()
    solve = maximize if max(bundle.size for bundle in by_group.bundles) <= MOST_EFFECTS else sampled_maximum
    with _few_threads(without, None):
        maximum = solve(table.problem, by_group.bundles, without.solution.params, np.full(len(brackets), _START))
    return JudgeTable(way.name, way.levels, by_group, table.problem, _notes(way, without)), maximum


def _of_objects(without: LLBTResults, brackets: Sequence[Bracket], ways: Sequence[Way], table: EffectLines) -> _Found:
    """Return the fit with effects of objects alone: one group of all judgments, with J − 1 dimensions.

    It uses Laplace's approximation if integration takes too long or the samples do not converge.
    """
    way, by_group = ways[0], table.grouped()
    size = max(bundle.size for bundle in by_group.bundles)
    start, scales = without.solution.params, np.full(1, _START)
    budget = _WORK / size
    if size > MOST_EFFECTS and numbers_of(by_group.bundles) * _ADDED * FIRST > budget:
        return _approximated(without, brackets, ways, table)
    with _few_threads(without, None):
        if size <= MOST_EFFECTS:
            maximum = maximize(table.problem, by_group.bundles, start, scales)
        else:
            maximum = sampled_maximum(table.problem, by_group.bundles, start, scales, budget=budget)
    if not maximum.converged and not maximum.infinite:
        return _approximated(without, brackets, ways, table)
    objects = table.crossed()
    if maximum.rule is not None:
        maximum = replace(maximum, predicted=predicted_effects(table.problem, objects, maximum))
    maximum = replace(maximum, predicted=_by_object(brackets, maximum))
    return JudgeTable(way.name, way.levels, by_group, table.problem, _notes(way, without), objects=objects), maximum


def _approximated(without: LLBTResults, brackets: Sequence[Bracket], ways: Sequence[Way], table: EffectLines) -> _Found:
    """Return the fit by expectation propagation if that is possible, else by Laplace's approximation."""
    method = without.specification.approximation or ("ep" if are_propagated(brackets) else "laplace")
    names = [way.name for way in ways]
    lines = table.crossed()
    _check_shared(lines, ways, without.specification.formula)
    with _few_threads(without, lines):
        maximum = normal_maximum(table.problem, lines, without.solution.params, np.full(len(brackets), _START), method)
    by_group = _NO_GROUPS
    numbers = len(table.rows) * len(without.comparisons.objects) * without.response.width
    if len(ways) == 1 and names != ["object"] and numbers < _KEPT:
        by_group = table.grouped()
    notes = tuple(dict.fromkeys(note for way in ways for note in _notes(way, without)))
    others = {way.name: way.levels for way in ways[1:]}
    judges = JudgeTable(
        names[0],
        ways[0].levels,
        by_group,
        table.problem,
        notes,
        lines,
        others,
        method=method,
        sites=maximum.sites,
    )
    return judges, maximum


def _few_threads(without: LLBTResults, lines: Crossed | None) -> AbstractContextManager[None]:
    """Limit threads by the size of the largest matrix: of the parameters, or of effects that groups share."""
    return few_threads(max(len(without.names), 0 if lines is None else len(lines.scales[1])))


def _solution(maximum: MixedFit, reml: Restricted | None) -> MixedFit:
    """Return the estimates with σ by restricted likelihood; without a restricted maximum, by maximum likelihood."""
    if reml is None:
        return maximum
    gone = not np.any(reml.scales > 0)
    return replace(
        maximum,
        params=reml.params,
        scales=reml.scales,
        covariance=np.full(maximum.covariance.shape, np.nan) if gone else reml.covariance(),
        rule=None if gone else reml.rule if maximum.rule is None else maximum.rule,
        modes=(),
    )


def _with_modes(maximum: MixedFit, judges: JudgeTable, brackets: Sequence[Bracket]) -> MixedFit:
    """Return the estimates with their most probable effects; the levels of ``(1 | object)`` are the objects."""
    if maximum.rule is None:
        return maximum
    if judges.grouped.bundles:
        maximum = replace(maximum, modes=_modes(judges.grouped, judges.problem, maximum))
    if judges.lines is None:
        return maximum
    maximum = replace(maximum, predicted=predicted_effects(judges.problem, judges.lines, maximum))
    return replace(maximum, predicted=_by_object(brackets, maximum))


def _restricted(
    without: LLBTResults, brackets: Sequence[Bracket], judges: JudgeTable, maximum: MixedFit
) -> Restricted | None:
    worths, start = _worths(without), without.solution.params
    return restricted_maximum(
        judges.likelihood(), maximum, start, worths, information_shares(without, brackets, worths)
    )


def _by_object(brackets: Sequence[Bracket], maximum: MixedFit) -> tuple[Predicted, ...]:
    """Return the predicted effects; the levels of ``(1 | object)`` are the objects."""
    return tuple(
        replace(one, level=one.thing, thing=np.zeros_like(one.thing)) if bracket.effect == "1" else one
        for bracket, one in zip(brackets if maximum.predicted else (), maximum.predicted, strict=True)
    )


def _modes(by_group: Grouped, problem: Problem, maximum: MixedFit) -> tuple[Modes, ...]:
    """Return the modes of groups at the estimates, for effects whose scale is above 0."""
    eta = np.stack(problem.at(maximum.params))
    active = tuple(np.flatnonzero(maximum.scales).tolist())
    bundles = [restricted(bundle, active) for bundle in by_group.bundles]
    scales = maximum.scales[list(active)]
    return tuple(
        modes(
            problem.response, groups, eta[:, groups.rows], groups.loadings * scales[groups.scale],
            np.zeros((len(groups.rows), groups.size)),
        )
        for groups in bundles
    )  # fmt: skip


def _check_partitions(without: LLBTResults, brackets: Sequence[Bracket], ways: Sequence[Way]) -> None:
    """Raise if two groupings are the same under two names."""
    for k, way in enumerate(ways):
        for other in ways[:k]:
            both = np.unique(np.stack([way.clusters.codes, other.clusters.codes]), axis=1).shape[1]
            if both == way.clusters.size == other.clusters.size:
                others = [bracket for bracket in brackets if bracket.grouping != way.name]
                formula = written_formula(without.specification.formula, others)
                raise DesignError(
                    f"{other.name!r} and {way.name!r} divide the judgments in the same {both} ways, so their "
                    "effects cannot be separated",
                    f"Leave out the brackets of {way.name!r}: llbt.fit({formula!r}, c).",
                )


def _check_levels(table: EffectLines, ways: Sequence[Way]) -> None:
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


def _check_multiples(table: EffectLines) -> None:
    """Raise if two slopes by the same grouping are of covariates whose differences are multiples of each other."""
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


def _check_propagated(brackets: Sequence[Bracket], names: Sequence[str]) -> None:
    """Raise if expectation propagation is requested for effects other than those of two crossed groupings."""
    if len(names) != 2 or "object" in names:
        raise OptionError(
            f"approximation='ep' with effects of {' and '.join(map(repr, names))}",
            "Leave approximation out.",
            expected="effects of two crossed groupings: (object | judge) + (object | prompt)",
        )
    for bracket in brackets:
        if not bracket.enters_differences:
            raise OptionError(
                f"approximation='ep' with {bracket}",
                f"Leave {bracket.written} out, or take approximation='laplace'.",
                expected="(object | …), (order | …) and slopes",
            )


def _check_shared(lines: Crossed, ways: Sequence[Way], formula: str) -> None:
    """Raise if the effects of the smaller groupings are too many for one matrix."""
    shared = len(lines.scales[1])
    if shared > _SHARED:
        raise DesignError(
            f"the groupings {' and '.join(repr(way.name) for way in ways)}, without the largest, have "
            f"{format_count(shared)} effects (levels times objects judged), too many for one matrix",
            f"Cluster standard errors instead: llbt.fit({formula!r}, c, cov_type='cluster', "
            f"groups={tuple(way.name for way in ways[:2])!r}).",
            expected=f"at most {format_count(_SHARED)}",
        )


def _check_options(res: LLBTResults, brackets: Sequence[Bracket], cov_type: CovType, groups: tuple[str, ...]) -> None:
    spec = res.specification
    check_clusters(cov_type, groups, " + ".join(map(str, brackets)))
    if spec.prior is not None:
        raise OptionError(
            f"prior={spec.prior!r} together with effects of judges",
            f"Leave prior out: llbt.fit({written_formula(spec.formula, brackets)!r}, c).",
        )


def _check_effect(bracket: Bracket, res: LLBTResults, brackets: Sequence[Bracket]) -> None:
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
            f"{bracket} with link={res.specification.link!r}: normal effects put cuts of some judges out of order",
            f"Leave {bracket} out, or use link='adjacent'.",
        )


def _block(bracket: Bracket) -> str:
    return "worth" if bracket.effect == "object" or bracket.is_slope else bracket.effect


def _lacks_average(bracket: Bracket, res: LLBTResults) -> bool:
    """Whether the formula lacks the term that a bracket's effects deviate from."""
    if bracket.is_slope:
        return not slope_columns(res.design, bracket)
    return bracket.effect != "1" and _block(bracket) not in res.design.blocks


def _with_averages(res: LLBTResults, brackets: Sequence[Bracket]) -> str:
    """Return what to type: the formula with the terms that the brackets deviate from."""
    lacking = [quoted(bracket.effect) for bracket in brackets if _lacks_average(bracket, res)]
    fixed = " + ".join(dict.fromkeys([res.specification.formula, *lacking]))
    return f"Add it: llbt.fit({written_formula(fixed, brackets)!r}, c)."


def _check_slope(bracket: Bracket, res: LLBTResults, brackets: Sequence[Bracket]) -> None:
    """Raise if a slope's covariate is no number that differs by side, or if the formula lacks its average slope."""
    formula, c, name = res.specification.formula, res.comparisons, bracket.effect
    columns = slope_columns(res.design, bracket)
    numeric = {column.name: column.numeric for column in (*c.sides, *c.object_columns)}
    if name not in numeric:
        same = name in (*c.covariates, *c.clusters)
        why = "is the same for both objects, so that its slope cancels" if same else "is not a covariate of this table"
        names = f"covariates that differ between objects: {listed(list(numeric)) if numeric else 'none'}"
        raise DesignError(
            f"{bracket}: {name!r}{near(name, tuple(numeric))} {why} ({names})",
            "Name the columns of both sides when the table is made: from_judgments(…, side_covariates="
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
            f"Leave {bracket} out; or, if they are numbers, name them when the table is made: numeric=[{name!r}].",
            expected="a numeric covariate that differs between the two objects",
        )


def _check_fixed(bracket: Bracket, block: str, res: LLBTResults) -> None:
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


def _check_residual(bracket: Bracket, res: LLBTResults) -> None:
    """Raise if the formula has no covariates beside effects of objects, or if they leave nothing to explain."""
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
    if _contrasts(res) == len(c.objects) - 1:
        raise DesignError(
            f"{bracket} together with {formula!r}, which already explains all differences between the "
            f"{len(c.objects)} objects, so nothing is left for the effects",
            f"Leave the effects out: llbt.fit({formula!r}, c).",
        )


def _way(res: LLBTResults, grouping: str, groupings: tuple[str, ...], brackets: Sequence[Bracket]) -> Way:
    """Return the grouping of the judgments, on lines common to all groupings; objects form one single group."""
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


def _check_size(way: Way, width: int) -> None:
    lines = len(way.clusters.rows)
    if lines * width * FIRST > BUDGET:
        raise DesignError(
            f"{format_count(lines)} combinations of a comparison and a level of {way.name!r} are too many to integrate "
            "effects out",
            "Use approximation='laplace', whose bias res.laplace_bias() estimates. Or leave the brackets out and "
            f"cluster: cov_type='cluster', groups={way.name!r}.",
            expected=f"at most {format_count(BUDGET // (width * FIRST))}",
        )


def _unidentified(brackets: Sequence[Bracket], ways: Sequence[Way]) -> DesignError:
    effects = " + ".join(map(str, brackets))
    size = ", ".join(way.size for way in ways)
    return DesignError(
        f"the table does not identify {effects}: the information of the estimates is singular ({size})",
        "Leave a bracket out.",
    )


def _check_maximum(maximum: MixedFit, brackets: Sequence[Bracket], units: FloatArray, ways: Sequence[Way]) -> None:
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
                "Fit worths of each object with a prior: fit('object', c, prior=1); or collect more judgments.",
            )
        raise SeparationError(
            f"{endless}, because the judgments of every {way.name} are nearly consistent ({way.size})",
            f"Leave the bracket out and cluster: cov_type='cluster', groups={way.name!r}. Or collect more judgments of "
            f"the same pairs by the same levels of {way.name}.",
        )
    if bent:
        raise _unidentified(brackets, ways)


def unsettled(maximum: MixedFit) -> str:
    """Return a warning on how far the estimates may be from the maximum; an empty text if they reached it."""
    if maximum.converged:
        return ""
    if isinstance(maximum.rule, Sampling):
        worst = float(np.nanmax(maximum.noise / np.sqrt(np.diag(maximum.covariance))))
        return (
            f"with {format_count(maximum.rule.number)} points for each judge, the Monte Carlo error of some estimate "
            f"is {worst:.2g} of its standard error, and more points would take too long; the estimates may be off. "
            "approximation='laplace' has no Monte Carlo error, but a bias, which res.laplace_bias() estimates."
        )
    if isinstance(maximum.rule, NormalDensity):
        far = f"{maximum.decrement**0.5:.2g} standard errors from its maximum"
        return f"{METHOD_NAMES[maximum.rule.method]} ended {far}; the estimates may be off."
    points = maximum.rule.number if maximum.rule is not None else 0
    return (
        f"with {points} points per dimension the log-likelihood still changed by {maximum.moved:.2g}, and the search "
        f"ended {maximum.decrement**0.5:.2g} standard errors from the maximum; the estimates may be off."
    )


def _average(
    without: LLBTResults,
    brackets: Sequence[Bracket],
    judges: JudgeTable,
    maximum: MixedFit,
    reml: Restricted | None,
    ways: Sequence[Way],
) -> FitPart:
    """Return the average judge's estimates, their covariance (it allows for the error of σ), and degrees of freedom."""
    size = len(maximum.params)
    problem = without.problem()
    solution = without.solution
    if maximum.rule is not None:
        probability = problem.response.probabilities(problem.at(maximum.params))[0].T
        solution = Fit(
            params=maximum.params,
            inverse=maximum.covariance[:size, :size],
            means=problem.totals[:, None] * probability,
            converged=maximum.converged,
            n_iter=maximum.n_iter,
            gradient=np.zeros(size),
            objective=maximum.value,
            solver="eliminate",
        )
    objects, plain = len(without.comparisons.objects), without.covariance.matrix
    effects = object_effects(judges.problem, judges.lines, brackets, maximum, objects, plain)
    notes = (OF_AVERAGE,) if any(bracket.effect != "1" for bracket in brackets) else ()
    degrees = _effect_df(without, problem, solution, reml, ways)
    df = float(degrees.of(np.eye(size)[_worths(without)]).max(initial=1.0))
    covariance = Covariance(solution.inverse, df, notes, effects=degrees)
    return part_of(MixedResults, without, solution, covariance, effects)


def _contrasts(res: LLBTResults) -> int:
    """Return the number of contrasts of objects that covariates explain, averaged over the judgments."""
    spec = res.specification
    rows = average_rows(codings_of(res.design, spec.formula, res.comparisons, spec.reference)).toarray()
    return int(np.linalg.matrix_rank(rows - rows.mean(axis=0)))


def _worths(without: LLBTResults) -> IntArray:
    """Return which of the estimates describe worths."""
    return np.flatnonzero(np.array(without.design.blocks)[without.free] == "worth")


def _effect_df(
    without: LLBTResults, problem: Problem, solution: Fit, reml: Restricted | None, ways: Sequence[Way]
) -> EffectDf:
    """Return the parameters' degrees of freedom; without a restricted maximum they follow from G*."""
    shares = tuple(
        ObjectShares(_worths(without), len(without.comparisons.objects) - _contrasts(without))
        if way.name == "object"
        else Shares(problem, solution, way.clusters)
        for way in ways
    )
    p = len(solution.params)
    if reml is None:
        return EffectDf(solution.cov, np.zeros((0, p, p)), np.zeros((0, 0)), True, shares)
    above = reml.scales > 0
    cov = scaled_inverse(reml.information) if above.any() else solution.cov
    return EffectDf(cov, reml.bends, reml.scale_covariance, not above.all(), shares)


def _few(ways: Sequence[Way]) -> list[str]:
    """Return notes that estimates rest on few judges."""
    return [
        Qualifying(
            f"These estimates rest on few {way.name}s ({format_count(way.clusters.size)}, effective number "
            f"{format_number(way.effective, 3)}). Add {way.name}s, not judgments."
        )
        for way in ways
        if way.name != "object" and way.effective < FEW
    ]


def _without_covariance(brackets: Sequence[Bracket]) -> list[str]:
    """Return notes on brackets of two effects whose covariance enters no comparison."""
    apart = {bracket.joint: [one.written for one in brackets if one.joint == bracket.joint] for bracket in brackets}
    return [
        f"{joint} has the likelihood of {' + '.join(dict.fromkeys(several))}: the covariance cancels from every "
        "comparison."
        for joint, several in apart.items()
        if joint
    ]


def _notes(way: Way, res: LLBTResults) -> tuple[str, ...]:
    """Return notes on properties of the table that leave the effects uncertain."""
    if way.name == "object":
        return ("Effects of objects beyond their covariates: judge_effects(res, by='object').",)
    notes = []
    single = int((way.clusters.judgments <= 1).sum())
    if single:
        share = f"{format_count(single)} of {format_count(way.clusters.size)}"
        notes.append(f"{share} levels of {way.name} made one judgment each, which does not inform σ.")
    _, pair = groups(list(np.sort(res.comparisons.pairs, axis=1).T))
    where = np.unique(np.stack([pair[way.clusters.rows], way.clusters.codes]), axis=1)[0]
    if len(where) == len(np.unique(where)):
        notes.append(
            Qualifying(
                f"Every pair was judged by a single level of {way.name}, so effects of {way.name} may be effects of "
                "pairs."
            )
        )
    return tuple(notes)
