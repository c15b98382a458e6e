"""The Plackett-Luce model and models of best-worst sets, fitted by a formula."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from ..base.arguments import checked
from ..base.table import Qualifying, format_percent
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.rankings import Rankings
from ..errors import (
    DesignError,
    FormulaError,
    FormulaWarning,
    SeparationError,
    TiesWarning,
    warn_user,
)
from ..formulas.brackets import has_brackets
from ..formulas.coding import Reference
from ..formulas.design import Design
from ..formulas.grammar import Formula, compares_objects, parse, stray_messages, vocabulary
from ..formulas.integers import decided
from ..kernel.likelihood import inverse
from ..kernel.list_firth import fit_reduced
from ..kernel.list_fit import ListFit, Unbounded, fit_lists
from ..kernel.list_likelihood import Lists
from ..kernel.newton import check_convergence
from ..kernel.robust import Covariance
from ..resampling import steps_shown
from .answer_clusters import ClusterCov, Clustering, clustering_of, clusters_by, covariance_by, parts_of_lists
from .cluster_units import LEAST
from .existence import check_connected, check_existence
from .implied_pair_fit import independent_in, worths_on_pairs
from .model import LLBT
from .ranking_estimates import RankingSpecification, names_of_ties
from .ranking_lists import Ghost, lists_of, without_column
from .ranking_results import RankingResults
from .specification import Prior, make_problem

BestWorst = Literal["joint", "sequential"]
_GROWS = 0.05  # a parameter grows along a direction if it has at least this share of the largest entry
_FINITE = "For finite estimates use a prior: llbt.fit(…, prior='jeffreys') or llbt.fit(…, prior=1.0)."


@checked
def fit_rankings(
    formula: str,
    data: Rankings,
    *,
    reference: Reference = None,
    cov_type: ClusterCov = "nonrobust",
    groups: str = "",
    prior: Prior = None,
    best_worst: BestWorst = "joint",
    progress: bool = False,
) -> RankingResults:
    """Fit a model of rankings or best-worst sets, and issue its warnings; arguments as in `fit`."""
    with steps_shown("fit", progress):
        res = solved_rankings(RankingSpecification(formula, reference, cov_type, groups, prior, best_worst), data)
        _warn(res)
        return res


def default_formula_of_lists(data: Rankings) -> str:
    """Return the default formula: ``object``, with ``+ tie`` if objects share places."""
    return "object + tie" if data.largest_tie > 1 else "object"


def fit_cautiously(formula: str, data: Rankings, *, reference: Reference = None, prior: Prior = None) -> RankingResults:
    """Return the fit with the largest standard errors: for independent lists, or by one of the available clusters.

    Clusters of single lists have no information on dependence. With too few clusters the fit does not allow for
    dependence, and a note says so.
    """
    spec = RankingSpecification(formula, reference, "nonrobust", "", prior, "joint")
    ways = [clusters_by(data, name) for name in data.clusters if _several(data, name)]
    few = [way.size for way in ways if way.effective < LEAST]
    alone = solved_rankings(spec, data)
    others = [
        solved_rankings(replace(spec, cov_type="cluster", groups=way.name), data)
        for way in ways
        if way.effective >= LEAST
    ]
    res = max((alone, *others), key=lambda fit: float(np.nansum(fit.bse)))
    if res is alone and ways:
        why = f"Clustered standard errors need G* of {LEAST} or more, and the data have {' and '.join(few)}"
        note = Qualifying(
            f"Lists are taken as independent. {why if few else 'Clusters make no standard error larger'}."
        )
        res = replace(res, covariance=replace(res.covariance, notes=(*res.covariance.notes, note)))
    _warn(res)
    return res


def _several(data: Rankings, name: str) -> bool:
    """Whether there are several clusters, and at least one of them has several lists."""
    column = next(column for column in data.cluster_columns if column.name == name)
    lists = np.bincount(column.codes, data.counts)
    return bool((lists > 0).sum() > 1 and lists.max() > 1)


def solved_rankings(spec: RankingSpecification, data: Rankings) -> RankingResults:
    """Return the fit for the arguments of `fit`, without its warnings."""
    res = rankings_of_terms(spec, data)
    if "worth" not in res.design.blocks:
        raise DesignError(f"the formula {spec.formula!r} has no term for the worths", "Add object.")
    return res


def rankings_of_terms(spec: RankingSpecification, data: Rankings) -> RankingResults:
    """Return the fit of any terms; a formula without worths, such as ``"0"``, has equal worths."""
    clusters = clustering_of(data, spec.cov_type, spec.groups)
    implied = data.to_comparisons()
    parsed = _parsed(spec.formula, implied, data)
    pairs = decided(parsed, implied)
    orders = np.setdiff1d(data.tied, [1])  # numbers of objects in one place
    design, free = _design(parsed, pairs, spec)
    lists = lists_of(data, pairs, design, free, orders, sequential=spec.best_worst == "sequential")
    lists = lists if parsed.tie else replace(lists, held=np.zeros(len(orders)))
    try:
        maximum, cov = _solved(lists, spec, clusters)
    except Unbounded as error:
        raise _infinite(error.direction, [design.names[k] for k in free], names_of_ties(orders)) from None
    return RankingResults(
        design=design,
        free=free,
        solution=maximum,
        covariance=cov,
        average=worths_on_pairs(
            _worth_text(parsed), spec.reference, pairs, (design, free), maximum, cov, RankingResults
        ),
        specification=spec,
        rankings=data,
        lists=lists,
    )


def _parsed(formula: str, pairs: Comparisons, data: Rankings) -> Formula:
    """Return the parsed formula; refuse terms that lists do not inform."""
    if has_brackets(formula):
        raise FormulaError(
            f"{formula!r} has effects of judges in brackets, and the data are rankings",
            "Give all judges the same worths, or each judge separate worths (object:judge). Normal effects of judges "
            "can be fitted to best-worst sets, and to comparisons: fit(…, rankings.to_comparisons()).",
        )
    formula_ = parse(formula, vocabulary(pairs))
    if formula_.order:
        raise FormulaError(
            f"an order effect, in {formula!r}", "Leave order out: lists have no record of which object was shown first."
        )
    if formula_.bad or formula_.grade:
        raise FormulaError(
            f"{'bad' if formula_.bad else 'grade'}, in {formula!r}", "Leave it out: lists have no grades."
        )
    if any(term.factors for term in formula_.tie):
        raise FormulaError(
            f"covariates of ties, in {formula!r}", "Write only tie: lists have one δ for each number of tied objects."
        )
    if formula_.tie and data.kind == "best_worst":
        raise FormulaError(f"tie, in {formula!r}", "Leave it out: a best and a worst are never tied.")
    return formula_


def _design(formula: Formula, pairs: Comparisons, spec: RankingSpecification) -> tuple[Design, IntArray]:
    """Return the design of the worths and which parameters are estimated; raise if some worths are infinite.

    With every δ held, worths are finite exactly if they are finite for the implied comparisons with held ties. Both are
    true only if no direction puts the chosen objects above the remaining ones. With free δ this is still necessary, and
    `fit_lists` checks the rest.
    """
    text = _worth_text(formula)
    if compares_objects(formula):
        try:
            check_connected(pairs)
        except DesignError as error:
            error.remedy = "Fit each group separately, to lists of its own objects."
            raise
    design = LLBT.from_formula(text, pairs, reference=spec.reference).design
    free = independent_in(design, pairs)
    if spec.prior is None:
        try:
            check_existence(design, free, make_problem(design, pairs, free, {}), pairs)
        except SeparationError as error:
            error.remedy = f"Leave the objects out, or use a formula without the terms that separate. {_FINITE}"
            raise
    return design, free


def _worth_text(formula: Formula) -> str:
    return " + ".join(term.name for term in formula.worth) or "0"


def _warn(res: RankingResults) -> None:
    formula = parse(res.specification.formula, vocabulary(res.comparisons))
    for remark in stray_messages(formula):
        warn_user(remark, FormulaWarning)
    if len(res.lists.orders) and not formula.tie:
        share = format_percent(res.rankings.tied_share)
        warn_user(
            f"{share} of the places are taken by several objects and the formula has no tie term: this is the model "
            "with every δ = 1. Add + tie.",
            TiesWarning,
        )
    check_convergence(res.solution)


def _solved(lists: Lists, spec: RankingSpecification, clusters: Clustering | None) -> tuple[ListFit, Covariance]:
    """Return the maximum, and the covariance of worths and log δ, without the prior's ghost object."""
    counted = spec.prior if isinstance(spec.prior, float | int) else None  # not the prior of Firth
    whole = lists if counted is None else Ghost(counted).joined(lists)
    maximum = fit_reduced(whole) if spec.prior == "jeffreys" else fit_lists(whole)
    cov = inverse(maximum.information)
    covariance = Covariance(cov)
    if clusters is not None:
        covariance = covariance_by(clusters, parts_of_lists(whole, maximum, clusters), cov, spec.cov_type)
    if counted is None:
        return maximum, covariance
    ghost = lists.matrix.shape[1]
    params, information, gradient, matrix = (
        without_column(array, ghost)
        for array in (maximum.params, maximum.information, maximum.gradient, covariance.matrix)
    )
    lost = np.delete(covariance.lost, ghost, axis=1) if len(covariance.lost) else covariance.lost
    plain = None if covariance.independent is None else without_column(covariance.independent, ghost)
    own = ListFit(params, information, gradient, lists.log_likelihood(params), maximum.converged, maximum.n_iter)
    return own, replace(covariance, source=matrix, lost=lost, independent=plain)


def _infinite(direction: FloatArray, worths: list[str], ties: tuple[str, ...]) -> SeparationError:
    """Return the error that names the parameters that go to infinity along a direction."""
    steps = [*zip(worths, direction, strict=False), *zip(ties, direction[len(direction) - len(ties) :], strict=True)]
    directions = [f"{name} → {'+' if by > 0 else '−'}∞" for name, by in steps if abs(by) > _GROWS]
    finite = f" {_FINITE}" if np.any(np.abs(direction[: len(worths)]) > _GROWS) else ""
    return SeparationError(
        f"the likelihood of the lists rises without end along {', '.join(directions)}",
        "A tie effect needs lists with ties and lists with single choices of the same objects, in both orders. Leave "
        f"tie out, or add lists.{finite}",
    )
