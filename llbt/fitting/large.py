"""Fits of very many objects: the formulas that they allow, checks that estimates exist, and the fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from ..base.table import Qualifying, counted, format_count
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..core.graphs import components_of, ordered_components
from ..errors import DesignError, FormulaError, OptionError, SeparationError, listed
from ..formulas.coding import references
from ..formulas.design import Design
from ..formulas.grammar import HEADS, Formula, Term, compares_objects, has_object, parse, vocabulary
from ..kernel.likelihood import Problem, rows_of
from ..kernel.matrix_free import Summit, WorthProblem, climbed, probabilities_at, undetermined
from ..kernel.newton import check_convergence
from ..kernel.robust import Covariance
from ..kernel.solvers import Fit
from .fit_part import FitPart
from .large_results import LargeResults
from .protocols import WithManyWorths
from .separation import describe_no_ties
from .specification import Specification, make_problem, prior_counts

MOST_DENSE = 10_000  # with at most so many objects the covariance of all estimates is computed
_MOST_BESIDE = 100  # most parameters that are not log-worths
_NEAR = 12.0  # at a predictor this large a maximum may be an effect of rounding
_NOTHING = "0"  # the formula without terms


def is_large(formula: str, c: Comparisons) -> bool:
    """Whether a formula has a worth for each object, and the objects are too many for one covariance matrix."""
    return len(c.objects) > MOST_DENSE and compares_objects(parse(formula, vocabulary(c)))


def beside_objects(formula: str, c: Comparisons) -> str:
    """Return the formula without the term `object`.

    Raises
    ------
    FormulaError
        If the formula has other terms of the objects.
    """
    parsed = parse(formula, vocabulary(c))
    more = [name for name, term in _written(parsed) if has_object(term) and name != "object"]
    if more:
        raise FormulaError(
            f"{listed(more)} with {_of(c)}: with so many objects, object is the only term of the worths",
            _FEWER,
            expected="object, and terms without it",
        )
    return " + ".join(name for name, _ in _written(parsed) if name != "object") or _NOTHING


def _written(formula: Formula) -> list[tuple[str, Term]]:
    """Return the terms of a formula in formula notation."""
    terms = [(term.name, term) for term in formula.worth]
    terms += [(":".join([head, *filter(None, [term.name])]), term) for head in HEADS for term in formula.of(head)]
    return terms


def check_asked(spec: Specification, c: Comparisons) -> None:
    """Raise for options that a fit of very many objects does not have.

    Raises
    ------
    OptionError
    """
    refused = {
        f"cov_type={spec.cov_type!r}": spec.cov_type not in ("nonrobust", "cautious"),
        f"fixed={dict(spec.fixed)!r}": bool(spec.fixed),
        "prior='jeffreys'": spec.reduces_bias,
        f"link={spec.link!r}": spec.link != "adjacent",
        f"discrimination={spec.discrimination!r}": spec.discrimination is not None,
        f"reference={spec.reference!r}": "object" in references(spec.reference),
    }
    for option, wrong in refused.items():
        if wrong:
            raise OptionError(
                f"{option} with {_of(c)}",
                f"Leave it out: log-worths are measured from their mean here, and prior= may be a number. {_FEWER}",
            )


_FEWER = f"Or take up to {format_count(MOST_DENSE)} objects: c.select(objects=[…])."


def _of(c: Comparisons) -> str:
    return f"{counted(len(c.objects), 'object')}, more than {format_count(MOST_DENSE)}"


def large_fit(formula: str, c: Comparisons, design: Design, spec: Specification) -> LargeResults:
    """Return the fit of the log-worths of all objects and the other parameters of a design.

    Parameters
    ----------
    formula : str
        The whole formula.
    c : Comparisons
        The table, without comparisons that have no judgment.
    design : Design
        The design of the formula that `beside_objects` returns.
    spec : Specification

    Raises
    ------
    DesignError
        If objects are not connected, or the table does not determine a parameter that is not a log-worth.
    SeparationError
        If some estimate is infinite.
    """
    _check_groups(c, spec, ties="tie" in design.blocks)
    size, q = len(c.objects), len(design.names)
    if q > _MOST_BESIDE:
        raise DesignError(
            f"{counted(q, 'parameter')} in addition to the log-worths of {_of(c)}",
            "Leave terms out, or pool levels of covariates.",
            expected=f"up to {_MOST_BESIDE}",
        )
    plain = make_problem(design, c, np.arange(q), {})
    added = replace(plain, counts=plain.counts + prior_counts(plain, c, spec))
    problem = WorthProblem.of(c.pairs, size, added)
    open_ = undetermined(problem)
    if len(open_):
        raise DesignError(
            f"the table does not determine {listed([design.names[k] for k in open_])} in addition to the log-worths of "
            "all objects",
            "Leave it out of the formula.",
        )
    maximum = climbed(problem)
    _check_finite(problem, maximum, spec)
    spec, remarks = replace(spec, cov_type="nonrobust"), _prior_notes(spec, c)
    others = replace(spec, formula=beside_objects(formula, c))
    solution = _solution(problem, maximum, plain)
    beside = FitPart(others, c, design, np.arange(q), solution, Covariance(solution.cov), whole=LargeResults)
    return LargeResults(spec, beside, solution, maximum.worths, maximum.information, remarks)


def worth_problem(res: WithManyWorths, counts: FloatArray) -> WorthProblem:
    """Return the problem of a fit with other counts (S, K), without comparisons that have no judgments."""
    c, q = res.comparisons, len(res.beside.names)
    rows = np.flatnonzero(counts.sum(axis=1) > 0)
    plain = make_problem(res.design, c, np.arange(q), {})
    return WorthProblem.of(c.pairs[rows], len(c.objects), rows_of(replace(plain, counts=counts), rows))


def estimates_again(res: WithManyWorths, counts: FloatArray, prior: FloatArray | float) -> FloatArray | None:
    """Return the estimates (J + q,) with other counts (S, K) and a prior's counts; None if they are not finite."""
    c, size = res.comparisons, len(res.worths)
    rows = np.flatnonzero((counts + prior).sum(axis=1) > 0)
    tallies = c.response.tally(counts[rows])
    if np.any(prior):
        groups = components_of(size, c.pairs[rows])[0]
    else:
        groups = int(ordered_components(size, c.pairs[rows], tallies).max()) + 1
    no_ties = "tie" in res.design.blocks and not np.any(prior) and not tallies[:, 1].any()
    if groups > 1 or no_ties:
        return None
    problem = worth_problem(res, counts + prior)
    if len(undetermined(problem)):
        return None
    maximum = climbed(problem, res.estimates)
    params = np.concatenate([maximum.worths, maximum.others])
    far = max(float(np.abs(predictor).max()) for predictor in problem.at(params)) >= _NEAR
    return None if not maximum.converged or (far and not np.any(prior)) else params


def _solution(problem: WorthProblem, maximum: Summit, plain: Problem) -> Fit:
    """Return the parameters that are not log-worths, with the fitted counts of the whole model."""
    means = probabilities_at(problem, np.concatenate([maximum.worths, maximum.others]))
    means *= plain.totals[:, None]
    return Fit(
        params=maximum.others,
        inverse=_inverse(maximum.information.schur),
        means=means,
        converged=maximum.converged,
        n_iter=maximum.n_iter,
        gradient=maximum.gradient,
        objective=maximum.objective,
        solver="eliminate",
    )


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.asarray(linalg.inv(matrix)) if len(matrix) else matrix


def _prior_notes(spec: Specification, c: Comparisons) -> tuple[str, ...]:
    if spec.cov_type == "cautious" and c.clusters:
        return (
            Qualifying(
                f"Judgments are taken as independent. Clustered standard errors (by {' and '.join(c.clusters)}) need "
                f"the covariance of all estimates, which is computed for up to {format_count(MOST_DENSE)} objects."
            ),
        )
    return ()


def _check_groups(c: Comparisons, spec: Specification, *, ties: bool) -> None:
    """Raise if objects are not connected, or if, without a prior, they are not connected in both directions."""
    size = len(c.objects)
    number, group = components_of(size, c.pairs)
    if number > 1:
        raise DesignError(
            f"the objects fall into {counted(number, 'group')} never compared with each other (the largest has "
            f"{counted(int(np.bincount(group).max()), 'object')}); their worths have no common scale",
            "Fit the largest group: c.select(objects=max(c.components(), key=len)), or c.largest_component() for the "
            "group in which estimates are finite without a prior.",
        )
    if spec.prior is not None:
        return
    group = ordered_components(size, c.pairs, c.response.tally(c.outcome_counts))
    sizes = np.bincount(group)
    if len(sizes) > 1:
        raise SeparationError(
            f"the objects fall into {format_count(len(sizes))} groups (the largest has "
            f"{counted(int(sizes.max()), 'object')}) that wins and ties do not connect in both directions: objects "
            "that win all, or lose all, comparisons with other groups have infinite estimates",
            "Fit with a prior, fit(…, prior=0.1), or the largest group: fit(…, c.largest_component()).",
        )
    if ties and not c.n_ties:
        fault, remedy = describe_no_ties(float(c.counts.sum()))
        raise SeparationError(fault, f"{remedy} For finite estimates use a prior: fit(…, prior=0.1).")


def _check_finite(problem: WorthProblem, maximum: Summit, spec: Specification) -> None:
    """Raise if a fit without a prior has infinite estimates. Warn if the search did not converge."""
    params = np.concatenate([maximum.worths, maximum.others])
    furthest = max(float(np.abs(predictor).max()) for predictor in problem.at(params))
    if spec.prior is None and (furthest >= _NEAR or not maximum.converged):
        raise SeparationError(
            f"the likelihood still rises where log-worths are {furthest:.3g} apart in a comparison: some estimates are "
            "infinite",
            "Fit with a prior: fit(…, prior=0.1).",
        )
    check_convergence(maximum)
