"""Pattern models: all answers of a judge are one observation, fitted by a formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..base.arguments import checked
from ..base.table import format_percent
from ..core.columns import FloatArray
from ..core.patterns import Patterns
from ..errors import DesignError, SeparationError, TiesWarning, listed, warn_user
from ..formulas.coding import Reference
from ..formulas.design import codings_of
from ..formulas.grammar import parse, vocabulary
from ..formulas.integers import decided
from ..kernel.likelihood import inverse
from ..kernel.list_fit import ListFit
from ..kernel.newton import check_convergence
from ..kernel.robust import Covariance
from ..resampling import steps_shown
from .answer_clusters import ClusterCov, clustering_of, covariance_by, parts_of_patterns
from .implied_pair_fit import independent_in, worths_on_pairs
from .model import LLBT
from .pattern_dependence import check_dependence, dependence_names, split_dependence
from .pattern_estimates import PatternSpecification
from .pattern_likelihood import PatternLikelihood, likelihood_of
from .pattern_missingness import Missing, NotAtRandom, missingness_of, named_objects
from .pattern_results import PatternResults
from .pattern_search import fit_patterns_of, fit_with_missing
from .results import LLBTResults
from .specification import Specification

_NOTHING = 1e-5  # information; a single judge with other answers adds about 1
_MOVED = 1e-3  # a larger share of a direction is not rounding
_FAR = 9.0  # at this log-odds in a flat direction a parameter is going to infinity
_REMEDY = "Leave out objects, or dependence, or use a formula without the terms that separate."
_WITHOUT_SLOPES = "Leave not_at_random= out, or use fewer α: missing='common'."


@checked
def fit_patterns(
    formula: str,
    data: Patterns,
    *,
    reference: Reference = None,
    cov_type: ClusterCov = "nonrobust",
    groups: str = "",
    missing: Missing = "ignorable",
    not_at_random: NotAtRandom = None,
    progress: bool = False,
) -> PatternResults:
    """Fit a pattern model, and issue its warnings; arguments as in `fit`."""
    with steps_shown("fit", progress):
        if not isinstance(missing, str):
            missing = named_objects(data, "missing", missing)
        if not (not_at_random is None or isinstance(not_at_random, str)):
            not_at_random = named_objects(data, "not_at_random", not_at_random)
        res = solved_patterns(PatternSpecification(formula, reference, cov_type, groups, missing, not_at_random), data)
        if "worth" not in res.design.blocks:
            raise DesignError(f"the formula {formula!r} has no term for the worths", "Add object.")
        _warn(res)
        return res


def solved_patterns(spec: PatternSpecification, data: Patterns) -> PatternResults:
    """Return the fit for the arguments of `fit`, without warnings; terms need not include worths."""
    clusters = clustering_of(data, spec.cov_type, spec.groups)
    text, dependence = split_dependence(spec.formula)
    check_dependence(data, text, dependence, spec.reference)
    pairs = data.to_comparisons()
    pairs = decided(parse(text, vocabulary(pairs)), pairs)
    if data.has_ties and not pairs.has_ties:
        raise DesignError("ratings without a single tie", "Read them as rankings: from_patterns(…, 'rankings').")
    model = LLBT.from_formula(text, pairs, reference=spec.reference)
    free = independent_in(model.design, pairs)
    codings = codings_of(model.design, text, pairs, spec.reference)
    missingness = missingness_of(data, spec.missing, spec.not_at_random, model.design.reference)
    likelihood, start = None, np.zeros(len(free))
    if data.kind == "comparisons" and not dependence:
        res = model.solved(Specification(text, spec.reference))
        solution, cov = _as_patterns(res), res.covariance
        start = solution.params
    if missingness or dependence or data.kind != "comparisons":
        likelihood = likelihood_of(data, model.design, codings, free, dependence, spec.reference, missingness)
        beside = [*dependence_names(data, dependence, spec.reference), *(missingness.names if missingness else ())]
        start = np.append(start, np.zeros(likelihood.loads.shape[2]))
        solution = _solved(likelihood, [*(model.design.names[k] for k in free), *beside], start)
        cov = Covariance(inverse(solution.information))
    if clusters is not None:
        whole = likelihood or likelihood_of(data, model.design, codings, free)
        parts = parts_of_patterns(whole, solution, clusters)
        cov = covariance_by(clusters, parts, np.asarray(cov.matrix), spec.cov_type)
    average = worths_on_pairs(text, spec.reference, pairs, (model.design, free), solution, cov, PatternResults)
    return PatternResults(
        design=model.design,
        free=free,
        solution=solution,
        covariance=cov,
        average=replace(average, answers_depend=bool(dependence) or data.kind != "comparisons"),
        specification=spec,
        patterns=data,
        dependence=dependence,
        likelihood=likelihood,
    )


def _warn(res: PatternResults) -> None:
    pairs = res.comparisons
    if pairs.has_ties and "tie" not in res.design.blocks:
        share = format_percent(pairs.n_ties / pairs.n_judgments)
        warn_user(
            f"{share} of the answers are undecided and the formula has no tie term: this is the model with γ = 0. "
            "Add + tie.",
            TiesWarning,
        )
    check_convergence(res.solution)


def _as_patterns(res: LLBTResults) -> ListFit:
    """Return the fit of comparisons in the form of a fit of patterns."""
    fit = res.solution
    return ListFit(fit.params, inverse(fit.cov), fit.gradient, res.llf, fit.converged, fit.n_iter)


def _solved(likelihood: PatternLikelihood, names: list[str], start: FloatArray) -> ListFit:
    """Return the maximum; raise if the search goes to infinity, or if the maximum is not a single point."""
    try:
        maximum = (fit_with_missing if likelihood.missingness else fit_patterns_of)(likelihood, start)
    except linalg.LinAlgError:
        raise SeparationError(_infinite(names), _REMEDY) from None
    values, vectors = linalg.eigh(maximum.information)
    flat = vectors[:, values < _NOTHING]
    gone = np.abs(flat).max(axis=1, initial=0.0) > _MOVED
    if gone.any():
        raise _without_estimates(
            likelihood, maximum, [name for name, out in zip(names, gone, strict=True) if out], gone
        )
    return maximum


def _without_estimates(
    likelihood: PatternLikelihood, maximum: ListFit, names: list[str], gone: npt.NDArray[np.bool_]
) -> DesignError:
    """Return the error for parameters that are infinite, or that the answers do not determine."""
    if likelihood.missingness is None:
        return SeparationError(_infinite(names), _REMEDY)
    if np.abs(maximum.params[gone]).max() > _FAR:
        return SeparationError(
            f"the likelihood of the missing answers has no maximum: it rises as {listed(names)} grow beyond all bounds",
            _WITHOUT_SLOPES,
        )
    return DesignError(
        f"the answers, given and missing, do not determine {listed(names)}: other values have the same likelihood",
        _WITHOUT_SLOPES,
    )


def _infinite(names: list[str]) -> str:
    return (
        f"the likelihood of the patterns has no maximum: it rises as {listed(names)} grow beyond all bounds, "
        "because some answers never occur together"
    )
