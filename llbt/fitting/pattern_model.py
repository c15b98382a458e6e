"""Formula + patterns → the fit of whole answers."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..arguments import checked
from ..core.columns import FloatArray
from ..core.patterns import Patterns
from ..errors import DesignError, FormulaError, SeparationError, TiesWarning, listed, warn_user
from ..formulas.brackets import has_brackets
from ..formulas.coding import Reference
from ..formulas.grammar import parse, vocabulary
from ..formulas.integers import decided
from ..kernel.likelihood import inverse
from ..kernel.list_fit import ListFit
from ..kernel.newton import check_convergence
from ..kernel.robust import Covariance
from ..resampling import steps_shown
from ..table import format_percent
from .answer_clusters import ClusterCov, clustering_of, covariance_by, parts_of_patterns
from .model import LLBT
from .pattern_estimates import PatternSpecification, dependence_names
from .pattern_likelihood import PatternLikelihood, likelihood_of
from .pattern_missingness import Missing, NotAtRandom, missingness_of
from .pattern_results import PatternResults
from .pattern_search import fit_patterns_of, fit_with_missing
from .results import LLBTResults
from .specification import Specification
from .worths_on_pairs import independent_in, worths_on_pairs

_NOTHING = 1e-5  # information, where a single judge who answers otherwise leaves about 1
_MOVED = 1e-3  # share of a direction that is more than rounding
_FAR = 9.0  # a log-odds, in a flat direction, that has left for infinity
_REMEDY = "Leave out objects, or dependence, or use a formula without the terms that separate."
_WITHOUT_SLOPES = "Leave not_at_random out, or take fewer α: missing='common'."


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
    """Fit a pattern model, in which all answers of a judge are one observation, by maximum likelihood.

    Parameters
    ----------
    formula : str
        Right-hand side over ``object`` (log-worths λ), ``tie`` (γ), covariates of the judges (``object * sex``), and
        ``dependence``: a parameter θ for each two pairs that share an object, of how their answers go together.
    data : Patterns
        N patterns of J objects.
    reference : label or mapping, optional
        The object with λ = 0, by default the last, and levels of covariates, as in `fit`.
    cov_type : {"nonrobust", "cluster", "CR1"}
        Standard errors of independent patterns, or allowing for dependence within `groups`, as in `fit`: by leaving out
        each cluster (CR3), or by the sandwich.
    groups : str, optional
        The covariate of the judges, such as a school, for ``cov_type="cluster"`` and ``"CR1"``.
    missing : {"ignorable", "common", "object", "comparison"}
        What the log-odds depend on that the answer to a pair is missing: they are left open; α, the same of every pair;
        αᵢ + αⱼ; α of each pair. Of comparisons alone.
    not_at_random : {"object", "comparison"}, optional
        Whether they depend on the answer as well, seen or not: they are higher by βᵢ − βⱼ where i is preferred to j and
        lower by it where j is, with β = 0 of the reference; or by β of each pair.
    progress : bool
        Show a bar that counts the steps of the search, whose number is not known.

    Returns
    -------
    PatternResults

    Raises
    ------
    FormulaError
        For a formula that cannot be read, and covariates of the dependence.
    OptionError
        For `cov_type` and `groups` without each other, a covariate that the patterns do not keep, and `not_at_random`
        beside ``missing="ignorable"``.
    DesignError
        Where more patterns are possible than are summed over (3¹⁵ of comparisons), with their number; where missing
        answers are to be modelled and there are none; where the answers do not determine some α or β.
    SeparationError
        Where some estimate is infinite; parameters are named.

    Warns
    -----
    TiesWarning
        Where patterns have undecided answers and the formula has no `tie`.
    ConvergenceWarning
        Where Newton's method does not stop.

    Notes
    -----
    The log-probability of a pattern y is Σ_p y_p(λᵢ − λⱼ) + γ #(y_p = 0) + Σ θ y_p y_q − log Z, Z the sum over all
    patterns that are possible: all sequences of answers; those that an order of the objects makes, for rankings; those
    that an order with ties makes, for ratings. Comparisons without `dependence` are the model of `fit`, and fitted as
    such, for Z is a product over the pairs. With dependence λ is half the log-odds of a preference with all other
    answers held.

    Missing answers are summed over. By themselves they are taken as missing at random. With `missing` it is part of the
    likelihood which are, r_p = 1, as a selection model: P(y, r) = P(y) Π_p P(r_p | y_p), in logits α (prefmod's
    ``MIScommon``, ``MISmodel="obj"`` and ``"comp"``) + y_p β (``MISbeta``). That is the sample selection approach of
    Dittrich et al. (2012; by its abstract), with the Bradley-Terry model for the answers and another one for the
    indicators of what is missing. Without β answers are missing completely at random (MCAR), and worths are those of
    ``missing="ignorable"``. With β they are not missing at random (MNAR), and λ is that of all answers, given or not.
    prefmod 0.8 has one sum over all y and r in the place of Z, so that with β its λ is that of the answers given;
    without β the two models are the same. With β the likelihood may have several maxima, of which the highest from many
    starts is taken, or rise without end, and tests of β can reject too often.

    Models of missing answers can be compared with each other (`anova`), and not with ``"ignorable"``, whose likelihood
    is of the answers alone. Judges without any answer are not among the patterns, and not allowed for.

    References
    ----------
    Dittrich, R., Hatzinger, R. & Katzenbeisser, W. (2002). Modelling dependencies in paired comparison data: a
    log-linear approach. Computational Statistics & Data Analysis 40(1), 39-57.

    Dittrich, R., Francis, B., Hatzinger, R. & Katzenbeisser, W. (2007). A paired comparison approach for the analysis
    of sets of Likert-scale responses. Statistical Modelling 7(1), 3-28.

    Dittrich, R., Francis, B., Hatzinger, R. & Katzenbeisser, W. (2012). Missing observations in paired comparison data.
    Statistical Modelling 12(2), 117-143.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> ranks = pd.DataFrame({"A": [1, 2, 1, 1, 3], "B": [2, 1, 3, 2, 1], "C": [3, 3, 2, 3, 2]})
    >>> res = llbt.fit_patterns("object", llbt.patterns_from(ranks, "rankings", objects=["A", "B", "C"]))
    >>> res.params.round(4).to_dict(), round(res.llf, 4)
    ({'object[A]': 0.5925, 'object[B]': 0.4746}, -7.4413)

    Five of 18 answers are missing: log-odds of log(5/13), beside the worths that they have without them.

    >>> ac, bc = [1, None, 1, -1, None, 1], [1, -1, None, 1, None, None]
    >>> said = pd.DataFrame({"AB": [1, 1, -1, 1, 1, -1], "AC": ac, "BC": bc})
    >>> p = llbt.patterns_from(said, "comparisons", objects=["A", "B", "C"], columns=["AB", "AC", "BC"])
    >>> res = llbt.fit_patterns("object", p, missing="common")
    >>> res.params.round(4).to_dict()
    {'object[A]': 0.6043, 'object[B]': 0.2875, 'missing': -0.9555}
    """
    with steps_shown("fit_patterns", progress):
        res = solved_patterns(PatternSpecification(formula, reference, cov_type, groups, missing, not_at_random), data)
        if "worth" not in res.design.blocks:
            raise DesignError(f"the formula {formula!r} has no term for the worths", "Add object.")
        _warn(res)
        return res


def solved_patterns(spec: PatternSpecification, data: Patterns) -> PatternResults:
    """Return the fit of what `fit_patterns` was asked for, without its warnings, or of terms without worths."""
    clusters = clustering_of(data, spec.cov_type, spec.groups)
    text, dependent = split_dependence(spec.formula)
    pairs = data.to_comparisons()
    pairs = decided(parse(text, vocabulary(pairs)), pairs)
    if data.has_ties and not pairs.has_ties:
        raise DesignError("ratings without a single tie", "Take them as rankings: patterns_from(…, 'rankings').")
    model = LLBT.from_formula(text, pairs, reference=spec.reference)
    free = independent_in(model.design, pairs)
    missingness = missingness_of(data, spec.missing, spec.not_at_random, model.design.reference)
    likelihood, start = None, np.zeros(len(free))
    if data.kind == "comparisons" and not dependent:
        res = model.solved(Specification(text, spec.reference))
        found, cov = _as_patterns(res), res.covariance
        start = found.params
    if missingness or dependent or data.kind != "comparisons":
        likelihood = likelihood_of(data, pairs, model.design, free, dependent=dependent, missingness=missingness)
        beside = [*(dependence_names(data) if dependent else ()), *(missingness.names if missingness else ())]
        start = np.append(start, np.zeros(len(likelihood.products)))
        found = _solved(likelihood, [*(model.design.names[k] for k in free), *beside], start)
        cov = Covariance(inverse(found.information))
    if clusters is not None:
        whole = likelihood or likelihood_of(data, pairs, model.design, free, dependent=False)
        parts = parts_of_patterns(whole, found, clusters)
        cov = covariance_by(clusters, parts, np.asarray(cov.matrix), spec.cov_type)
    return PatternResults(
        design=model.design,
        free=free,
        solution=found,
        covariance=cov,
        average=worths_on_pairs(text, spec.reference, pairs, (model.design, free), found, cov, PatternResults),
        specification=spec,
        patterns=data,
        dependent=dependent,
        likelihood=likelihood,
    )


def split_dependence(formula: str) -> tuple[str, bool]:
    """Return the formula without `dependence`, ``"0"`` if nothing is left, and whether it had the word."""
    if has_brackets(formula):
        raise FormulaError(
            f"effects of judges in brackets, in {formula!r}",
            "Let judges differ in comparisons, fit(formula, patterns.to_comparisons()), or write dependence.",
        )
    terms = formula.split("+")
    kept = [term for term in terms if term.strip() != "dependence"]
    text = "+".join(kept).strip() or "0"
    if re.search(r"\bdependence\b", text):
        raise FormulaError(
            f"dependence with something else, in {formula!r}", "Write it as a term of its own: object + dependence."
        )
    return text, len(kept) < len(terms)


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
    """Return a fit of comparisons as that of the patterns they make."""
    fit = res.solution
    return ListFit(fit.params, inverse(fit.cov), fit.gradient, res.llf, fit.converged, fit.n_iter)


def _solved(likelihood: PatternLikelihood, names: list[str], start: FloatArray) -> ListFit:
    """Return the maximum; raise where the search leaves for infinity, or where it is not one point."""
    try:
        found = (fit_with_missing if likelihood.missingness else fit_patterns_of)(likelihood, start)
    except linalg.LinAlgError:
        raise SeparationError(_infinite(names), _REMEDY) from None
    values, vectors = linalg.eigh(found.information)
    flat = vectors[:, values < _NOTHING]
    gone = np.abs(flat).max(axis=1, initial=0.0) > _MOVED
    if gone.any():
        raise _without_estimates(likelihood, found, [name for name, out in zip(names, gone, strict=True) if out], gone)
    return found


def _without_estimates(
    likelihood: PatternLikelihood, found: ListFit, names: list[str], gone: npt.NDArray[np.bool_]
) -> DesignError:
    """Return the error for parameters that are infinite, or that the answers do not determine."""
    if likelihood.missingness is None:
        return SeparationError(_infinite(names), _REMEDY)
    if np.abs(found.params[gone]).max() > _FAR:
        return SeparationError(
            f"the likelihood of what is missing has no maximum: it rises as {listed(names)} grow beyond all bounds",
            _WITHOUT_SLOPES,
        )
    return DesignError(
        f"the answers, and which are missing, do not determine {listed(names)}: others have the same likelihood",
        _WITHOUT_SLOPES,
    )


def _infinite(names: list[str]) -> str:
    return (
        f"the likelihood of the patterns has no maximum: it rises as {listed(names)} grow beyond all bounds, "
        "because some answers never occur together"
    )
