"""From a fit without effects of judges, and the brackets of a formula, to the fit with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import linalg

from ..core.columns import groups
from ..errors import DesignError, OptionError, SeparationError
from ..formulas.brackets import Bracket
from ..kernel import solvers
from ..kernel.grouped import grouped
from ..kernel.mixed import LARGEST, MOST_EFFECTS, MixedFit, maximize
from ..kernel.quadrature import Sampling
from ..kernel.robust import Covariance
from ..kernel.sampled import BUDGET, FIRST, sampled_maximum
from ..kernel.solvers import Fit
from ..table import counted, format_count, format_number
from .clusters import Way, kept_way
from .distinct import distinct
from .mixed_estimates import JudgeTable
from .mixed_results import MixedResults
from .results import LLBTResults

_LEAST = 3  # judges
_START = 0.8  # of σ
_OF_AVERAGE = "of the average judge, whose effects are 0"


def with_effects(without: LLBTResults, brackets: Sequence[Bracket]) -> MixedResults:
    """Return the fit with normal effects of judges.

    Parameters
    ----------
    without : LLBTResults
        The fit of the formula without its brackets.
    brackets : sequence of Bracket
        Of one grouping.

    Raises
    ------
    OptionError
        For options of a fit that integrates nothing over effects.
    DesignError
        For effects that the table does not identify, and for what is not integrated.
    SeparationError
        Where a standard deviation has no finite estimate.
    """
    _check_options(without)
    grouping = _one_grouping(brackets)
    for bracket in brackets:
        _check_effect(bracket, without)
    c = without.comparisons
    problem, _, merged = distinct(without.design, without.problem(), list(c.pairs.T))
    way = _way(without, grouping)
    pairs = np.empty((int(merged.max()) + 1, 2), dtype=np.int64)
    pairs[merged] = c.pairs
    _check_size(way, without.response.width)
    lines, effects = way.clusters, [bracket.effect for bracket in brackets]
    predictors = (without.response.width, c.response.tie)
    by_group = grouped(merged[lines.rows], lines.codes, lines.counts, pairs, effects, predictors)
    solve = maximize if max(bundle.size for bundle in by_group.bundles) <= MOST_EFFECTS else sampled_maximum
    try:
        with solvers.few_threads(len(without.names)):
            found = solve(problem, by_group.bundles, without.solution.params, np.full(len(brackets), _START))
    except linalg.LinAlgError:
        raise _unidentified(brackets, way) from None
    _check_found(found, brackets, way)
    judges = JudgeTable(grouping, way.levels, by_group, problem, _notes(way, without))
    return MixedResults(_average(without, found), without, tuple(brackets), judges, found)


def _check_options(res: LLBTResults) -> None:
    spec = res.specification
    if spec.cov_type != "nonrobust" or spec.groups:
        raise OptionError(
            f"cov_type={spec.cov_type!r} beside effects of judges",
            "Take cov_type='nonrobust' and no groups: by the effects judgments of a judge depend on each other.",
        )
    if spec.prior is not None:
        raise OptionError(f"prior={spec.prior!r} beside effects of judges", "Leave prior out.")


def _one_grouping(brackets: Sequence[Bracket]) -> str:
    names = list(dict.fromkeys(bracket.grouping for bracket in brackets))
    if len(names) > 1:
        raise DesignError(
            f"effects of {' and of '.join(map(repr, names))}, which are crossed",
            f"Keep one grouping in the brackets, and the other in standard errors: fit without brackets and with "
            f"cov_type='cluster', groups={tuple(names)!r}.",
            expected="brackets of one grouping",
        )
    return names[0]


def _check_effect(bracket: Bracket, res: LLBTResults) -> None:
    """Raise where the formula has no term that the effects deviate from, or the table has no such outcomes."""
    block = "worth" if bracket.effect == "object" else bracket.effect
    if block not in res.design.blocks:
        raise DesignError(
            f"{bracket} are deviations from {bracket.effect}, which the formula {res.specification.formula!r} lacks",
            f"Add it: {res.specification.formula} + {bracket.effect} + {bracket}.",
        )
    if bracket.effect == "tie" and not res.log_linear:
        raise OptionError(
            f"{bracket} with link={res.specification.link!r}: by normal effects some judges have cuts out of order",
            f"Leave {bracket} out, or take link='adjacent'.",
        )


def _way(res: LLBTResults, grouping: str) -> Way:
    """Return who judged what."""
    c = res.comparisons
    if grouping not in (*c.clusters, *(column.name for column in c.columns)):
        kept = ", ".join(map(repr, (*c.clusters, *(column.name for column in c.columns)))) or "none"
        raise DesignError(
            f"{grouping!r} is not kept by this table (clusters and covariates: {kept})",
            f"Keep it where the table is made: from_judgments(…, clusters={grouping!r}).",
        )
    way = kept_way(c, grouping, (grouping,))
    if way.clusters.size < _LEAST:
        raise DesignError(
            f"{grouping!r} has {counted(way.clusters.size, 'level')}, of which no standard deviation can be estimated",
            f"Take it as a covariate: object * {grouping}.",
            expected=f"at least {_LEAST} judges",
        )
    if (way.clusters.judgments <= 1).all():
        raise DesignError(
            f"every level of {grouping!r} made one judgment, so what differs between judges and what differs between "
            "judgments of one judge cannot be told apart",
            "Fit without the bracket.",
        )
    return way


def _check_size(way: Way, width: int) -> None:
    lines = len(way.clusters.rows)
    if lines * width * FIRST > BUDGET:
        raise DesignError(
            f"{format_count(lines)} different comparisons of {way.name!r}, too many to integrate over effects",
            f"Fit without brackets and with cov_type='cluster', groups={way.name!r}; or a sample of the judges.",
            expected=f"at most {format_count(BUDGET // (width * FIRST))}",
        )


def _unidentified(brackets: Sequence[Bracket], way: Way) -> DesignError:
    effects = " + ".join(map(str, brackets))
    return DesignError(
        f"the table does not identify {effects}: the information of the estimates is singular ({way.size})",
        "Leave a bracket out.",
    )


def _check_found(found: MixedFit, brackets: Sequence[Bracket], way: Way) -> None:
    if found.infinite:
        bracket = brackets[found.infinite[0]]
        raise SeparationError(
            f"the standard deviation of {bracket} is +∞: the likelihood still rises at {format_number(LARGEST, 3)}, "
            f"for every {way.name} is next to consistent ({way.size})",
            "Take the answers of a judge as dependent: without the bracket and with cov_type='cluster', "
            f"groups={way.name!r}; "
            "or collect more judgments of the same pairs by the same judges.",
        )
    variances = np.diag(found.covariance)
    if not np.all(variances[~np.isnan(variances)] > 0):
        raise _unidentified(brackets, way)


def unsettled(found: MixedFit) -> str:
    """Say by how much estimates may be off; nothing where they are settled."""
    if found.converged:
        return ""
    if isinstance(found.rule, Sampling):
        worst = float(np.nanmax(found.noise / np.sqrt(np.diag(found.covariance))))
        return (
            f"with {format_count(found.rule.number)} points for each judge some estimate has a Monte Carlo error of "
            f"{worst:.2g} of its standard error, and more points are beyond the budget; the estimates may be off."
        )
    points = found.rule.number if found.rule is not None else 0
    return (
        f"the log-likelihood still moved by {found.moved:.2g} with {points} points a dimension, "
        f"{found.decrement**0.5:.2g} standard errors from its maximum; the estimates may be off."
    )


def _average(without: LLBTResults, found: MixedFit) -> LLBTResults:
    """Return what the average judge's fit is: estimates and their covariance, of σ above 0 its uncertainty in it."""
    size = len(found.params)
    problem = without.problem()
    solution = without.solution
    if found.rule is not None:
        probability = problem.response.probabilities(problem.at(found.params))[0].T
        solution = Fit(
            params=found.params,
            cov=found.covariance[:size, :size],
            means=problem.totals[:, None] * probability,
            converged=found.converged,
            n_iter=found.n_iter,
            gradient=np.zeros(size),
            objective=found.value,
            solver="eliminate",
        )
    return replace(without, solution=solution, covariance=Covariance(solution.cov, notes=(_OF_AVERAGE,)))


def _notes(way: Way, res: LLBTResults) -> tuple[str, ...]:
    """Say what of the table makes little known of the effects."""
    notes = []
    single = int((way.clusters.judgments <= 1).sum())
    if single:
        share = f"{format_count(single)} of {format_count(way.clusters.size)}"
        notes.append(f"{share} levels of {way.name} made one judgment, which says nothing of σ by itself")
    _, pair = groups(list(np.sort(res.comparisons.pairs, axis=1).T))
    where = np.unique(np.stack([pair[way.clusters.rows], way.clusters.codes]), axis=1)[0]
    if len(where) == len(np.unique(where)):
        notes.append(
            f"every pair was judged by one level of {way.name} alone: what is told as effects of {way.name} may be of "
            "the pairs"
        )
    return tuple(notes)
