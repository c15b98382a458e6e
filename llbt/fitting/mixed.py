"""Add normal effects of judges, given by the brackets of a formula, to a fit without effects."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np
from scipy import linalg

from ..base.table import Qualifying, format_count, format_number
from ..core.columns import FloatArray, IntArray, groups
from ..formulas.brackets import Bracket, are_propagated
from ..kernel.crossed import Crossed
from ..kernel.effect_groups import Grouped
from ..kernel.group_modes import Modes, modes
from ..kernel.laplace import METHOD_NAMES, NormalDensity
from ..kernel.laplace_fit import normal_maximum, predicted_effects
from ..kernel.likelihood import Problem
from ..kernel.mixed import MOST_EFFECTS, MixedFit, Predicted, maximize, restricted, scaled_inverse
from ..kernel.quadrature import Sampling
from ..kernel.restricted import Restricted, restricted_maximum
from ..kernel.robust import Covariance, EffectDf, ObjectShares, Shares
from ..kernel.sampled import FIRST, numbers_of, sampled_maximum
from ..kernel.solvers import Fit
from ..kernel.threads import few_threads
from .clusters import Way
from .effect_checks import (
    check_effect,
    check_levels,
    check_maximum,
    check_multiples,
    check_options,
    check_partitions,
    check_propagated,
    check_shared,
    check_size,
    contrasts_explained,
    unidentified,
    way_of,
)
from .effect_levels import FEW, few_of_level, information_shares, with_levels
from .effect_lines import EffectLines, slope_units
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
_UNCERTAIN = 0.5  # a note is printed if the standard error of σ is larger than this and than σ
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
    check_options(without, brackets, cov_type, groups)
    brackets, ways, judges, maximum = marginal_maximum(without, brackets)
    try:
        with _few_threads(without, judges.lines):
            reml = _restricted(without, brackets, judges, maximum)
            solution = _with_modes(_solution(maximum, reml), judges, brackets)
    except linalg.LinAlgError:
        raise unidentified(brackets, ways) from None
    unrestricted = [_UNRESTRICTED] if reml is None else []
    notes = (
        *judges.notes,
        *unrestricted,
        *_few(ways),
        *few_of_level(without, brackets, ways),
        *_uncertain(brackets, slope_units(without.design, brackets), solution),
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
        check_effect(bracket, without, brackets)
    names = list(dict.fromkeys(bracket.grouping for bracket in brackets))
    others = tuple(name for name in names if name != "object")
    ways = [way_of(without, name, others, brackets) for name in names]
    check_partitions(without, brackets, ways)
    brackets = with_levels(brackets, without.comparisons, without.specification.formula)
    if without.specification.approximation == "ep":
        check_propagated(brackets, names)
    table = EffectLines.of(without, brackets, ways)
    check_levels(table, ways)
    check_multiples(table)
    laplace = without.specification.approximation is not None or len(ways) > 1
    integrated = _of_objects if names == ["object"] else _integrated
    try:
        judges, maximum = (_approximated if laplace else integrated)(without, brackets, ways, table)
    except linalg.LinAlgError:
        raise unidentified(brackets, ways) from None
    check_maximum(maximum, brackets, slope_units(without.design, brackets), ways)
    return brackets, ways, judges, maximum


_Found = tuple[JudgeTable, MixedFit]


def _integrated(without: LLBTResults, brackets: Sequence[Bracket], ways: Sequence[Way], table: EffectLines) -> _Found:
    """Return the fit by quadrature, or by importance sampling."""
    way = ways[0]
    check_size(way, without.response.width)
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
    check_shared(lines, ways, without.specification.formula)
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


def _worths(without: LLBTResults) -> IntArray:
    """Return which of the estimates describe worths."""
    return np.flatnonzero(np.array(without.design.blocks)[without.free] == "worth")


def _effect_df(
    without: LLBTResults, problem: Problem, solution: Fit, reml: Restricted | None, ways: Sequence[Way]
) -> EffectDf:
    """Return the parameters' degrees of freedom; without a restricted maximum they follow from G*."""
    shares = tuple(
        ObjectShares(_worths(without), len(without.comparisons.objects) - contrasts_explained(without))
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


def _uncertain(brackets: Sequence[Bracket], units: FloatArray, solution: MixedFit) -> list[str]:
    """Return notes on each σ with a large standard error, because σ is often too large in sparse tables."""
    shares = np.sqrt(np.diag(solution.covariance)[len(solution.params) :])  # standard errors of log σ
    return [
        Qualifying(
            f"σ of {bracket} is very uncertain: {format_number(sigma / unit, 3)}, standard error "
            f"{format_number(share * sigma / unit, 3)}. Its interval: res.scale_intervals()."
        )
        for bracket, sigma, share, unit in zip(brackets, solution.scales, shares, units.tolist(), strict=True)
        if share > 1 and share * sigma > _UNCERTAIN
    ]


def _without_covariance(brackets: Sequence[Bracket]) -> list[str]:
    """Return notes on brackets that name two effects whose covariance enters no comparison."""
    apart = {bracket.joint: [one.written for one in brackets if one.joint == bracket.joint] for bracket in brackets}
    return [
        f"{joint} has the same likelihood as {' + '.join(dict.fromkeys(several))}: the covariance of the two effects "
        "cancels from every comparison."
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
