"""Fit a model of comparisons: from formula and table, through a solver, to results."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

import numpy as np
from scipy import linalg

from ..base.arguments import JUDGED_INSIDE, Rng, as_generator, checked, is_real
from ..base.budgets import refuse_parameters
from ..base.table import format_percent
from ..core.comparisons import Comparisons
from ..core.links import Cumulative, Link
from ..core.response import THREE
from ..errors import (
    ClusterWarning,
    ConvergenceWarning,
    DesignError,
    FormulaWarning,
    OptionError,
    SeparationError,
    SlowWarning,
    TiesWarning,
    listed,
    safe_repr,
    warn_user,
)
from ..formulas.brackets import Bracket, split_brackets
from ..formulas.coding import Reference
from ..formulas.design import Design, build_design
from ..formulas.grammar import HEADS, adds_objects, compares_objects, parse, vocabulary
from ..formulas.integers import decided
from ..kernel import explicit, solvers
from ..kernel.likelihood import Problem
from ..kernel.newton import check_convergence
from ..kernel.penalties import Penalize
from ..kernel.solvers import Fit, Maximum, Solver
from ..kernel.threads import few_threads
from ..resampling import steps_shown
from .covariances import check_options, few_clusters, settled
from .cut_checks import check_cuts_described, check_order_of_cuts
from .discrimination import check_beside, with_discrimination
from .discrimination_results import DiscriminationResults
from .existence import check_connected, check_existence, check_odd_cycles, is_settled
from .large import beside_objects, check_asked, is_large, large_fit
from .large_results import LargeResults
from .mixed import unsettled, with_effects
from .mixed_results import MixedResults
from .results import LLBTResults
from .ridge import Ridge, RidgePenalty, check_slopes, chosen_ridge, without_slopes
from .specification import Approximate, CovType, Method, Prior, Specification, make_problem, penalty_of, prior_counts

_WITHOUT_TIE = (
    "in a third of their judgments",
    "drop the ties, with c.drop_ties(); or count them as half wins, with c.split_ties()",
)
_WITHOUT_TIE_OF_MORE = (
    "as often as either of them is preferred by the first grade",
    "collapse the outcomes to wins, ties and losses with c.collapse(); the ties can then be dropped",
)
_NEAR = 4.0  # up to these held predictors statsmodels' fitted counts keep their digits
_FARTHEST = 30.0  # up to these held predictors elimination's fitted counts keep their digits
_AUTO_ENTRIES = 1e5  # up to so many entries statsmodels' explicit GLM is fast
_SOLVERS: Mapping[Solver, str] = {
    "glm": "statsmodels' GLM",
    "eliminate": "Newton's method",
    "eliminate, glm": "statsmodels' GLM, started at the estimates of Newton's method,",
}


@dataclass(frozen=True, eq=False)
class LLBT:
    """A log-linear Bradley-Terry model that has not been fitted yet.

    Attributes
    ----------
    formula : str
    comparisons : Comparisons
        The table, without comparisons that have no judgment.
    reference : label, mapping or None
    design : Design

    Examples
    --------
    >>> import llbt
    >>> model = llbt.LLBT.from_formula("object + tie", llbt.load_dataset("dras_modpref"))
    >>> model.design.names
    ('object[+]', 'tie')
    >>> round(model.fit().deviance, 6)
    0.0
    """

    formula: str
    comparisons: Comparisons
    reference: Reference
    design: Design

    @classmethod
    @checked
    def from_formula(cls, formula: str, data: Comparisons, *, reference: Reference = None) -> LLBT:
        """Return the model that a formula describes on a table.

        Parameters
        ----------
        formula : str
            The right-hand side, with ``object``, ``tie``, ``bad``, ``grade``, ``order``, ``pair`` and covariates.
        data : Comparisons
        reference : label or mapping, optional
            The object with λ = 0, by default the last; a mapping also sets reference levels of covariates, as in `fit`.

        Raises
        ------
        FormulaError
            For a formula that cannot be parsed, or that names something that the table does not have.
        DesignError
            If judgments do not connect the objects, and for constant covariates.
        OptionError
            For unknown references.
        """
        parsed = parse(formula, vocabulary(data))
        judged = decided(parsed, data).drop_empty()
        if compares_objects(parsed):
            check_connected(data)
        word = adds_objects(parsed)
        if word:
            check_odd_cycles(data, word)
        return cls(formula, judged, reference, build_design(formula, judged, reference=reference))

    @checked
    def fit(
        self,
        *,
        method: Method = "auto",
        fixed: Annotated[Mapping[str, float] | None, JUDGED_INSIDE] = None,
        cov_type: CovType = "nonrobust",
        groups: str | Sequence[str] = (),
        prior: Prior = None,
        penalty: RidgePenalty = None,
        link: Link = "adjacent",
        rng: Rng = 0,
    ) -> LLBTResults:
        """Fit by maximum likelihood, as `llbt.fit`.

        Parameters
        ----------
        method, fixed, cov_type, groups, prior, penalty, link, rng
            As in `llbt.fit`, with its errors and warnings.
        """
        held = _held(fixed, self.design)
        ways = tuple(groups) if isinstance(groups, (tuple, list)) else (groups,)
        spec = Specification(self.formula, self.reference, method, held, cov_type, ways, prior, link)
        check_options(spec)
        self._warn(spec)
        return self.solved(spec if penalty is None else _penalized(self, spec, penalty, as_generator(rng)))

    def solved(self, spec: Specification) -> LLBTResults:
        """Return the fit of a specification, without the warnings of `fit`; functions that refit models use it."""
        with few_threads(len(self.design.names)):
            return self._solved(spec)

    def _solved(self, spec: Specification) -> LLBTResults:
        held = spec.fixed
        free = np.array([k for k, name in enumerate(self.design.names) if name not in held], dtype=np.int64)
        problem = make_problem(self.design, self.comparisons, free, held, spec.link)
        if any(len(rows.chosen) for rows in problem.predictors):  # with numbers of the sides all matrices are dense
            refuse_parameters(len(free))
        _refuse_far(problem, held)
        check_cuts_described(problem, self.design)
        start = None
        if not is_settled(problem):
            independent = solvers.independent_columns(problem)
            if not independent.all():
                free = free[independent]
                problem = make_problem(self.design, self.comparisons, free, held, spec.link)
            if spec.prior is None:
                start = check_existence(self.design, free, problem, self.comparisons)
        if isinstance(spec.prior, Ridge):
            bare = without_slopes(self.design, self.comparisons, free)
            own = make_problem(self.design, self.comparisons, bare, held, spec.link)
            check_existence(self.design, bare, own, self.comparisons)
        names = tuple(self.design.names[k] for k in free)
        penalty = penalty_of(problem, self.comparisons, spec, self.design, free)
        solution = _solve(problem, self.comparisons, names, spec, start, penalty)
        check_order_of_cuts(problem, self.design, self.comparisons, solution.params)
        spec, covariance = settled(spec, self.comparisons, problem, solution, names, self.design)
        return LLBTResults(spec, self.comparisons, self.design, free, solution, covariance)

    def _warn(self, spec: Specification) -> None:
        few = few_clusters(spec, self.comparisons)
        if few:
            warn_user(few, ClusterWarning)
        for remark in self.design.remarks:
            warn_user(remark, FormulaWarning)
        if self.comparisons.has_ties and "tie" not in self.design.blocks and spec.link == "adjacent":
            share = format_percent(self.comparisons.n_ties / self.comparisons.n_judgments)
            equal, ways_out = _WITHOUT_TIE if self.comparisons.response == THREE else _WITHOUT_TIE_OF_MORE
            warn_user(
                f"{share} of the judgments are ties and the formula has no tie term: this is the model with γ = 0, in "
                f"which equal objects tie {equal}. Add + tie; or {ways_out}.",
                TiesWarning,
            )
        if self.comparisons.n_bad and "bad" not in self.design.blocks:
            share = format_percent(self.comparisons.n_bad / self.comparisons.n_judgments)
            warn_user(
                f"{share} of the judgments are 'both bad' and the formula has no bad term: this is the model "
                "with γ = 0, in which equal objects are as often both bad as either of them wins. Add + bad; or count "
                "both bad as ties, with c.collapse().",
                TiesWarning,
            )


def _penalized(model: LLBT, spec: Specification, penalty: float | str, rng: np.random.Generator) -> Specification:
    """Return the specification with a penalty; its strength is given, or chosen by held-out judgments."""
    if spec.prior is not None or spec.method == "glm":
        other = f"prior={spec.prior!r}" if spec.method != "glm" else "method='glm'"
        raise OptionError(f"penalty={penalty!r} together with {other}", "Leave one of the two out.")
    check_slopes(model.design, model.comparisons)
    if not isinstance(penalty, str):
        return replace(spec, prior=Ridge(penalty))
    free = np.array([k for k, name in enumerate(model.design.names) if name not in spec.fixed], dtype=np.int64)
    problem = make_problem(model.design, model.comparisons, free, spec.fixed, spec.link)
    independent = solvers.independent_columns(problem)
    if not independent.all():
        free = free[independent]
        problem = make_problem(model.design, model.comparisons, free, spec.fixed, spec.link)
    by = (*spec.groups, *model.comparisons.clusters, "judgment")[0]
    with few_threads(len(free)):
        return replace(spec, prior=chosen_ridge(model.design, model.comparisons, problem, free, by, rng))


ComparisonResults: TypeAlias = LLBTResults | MixedResults | DiscriminationResults | LargeResults

# a prior is refused together with effects of judges or discriminations
_WITH_JUDGES = "Leave these objects out, or fit all judges together: llbt.fit({!r}, c, prior=1)."


def fit_comparisons(
    formula: str,
    data: Comparisons,
    *,
    reference: Reference = None,
    method: Method = "auto",
    fixed: Mapping[str, float] | None = None,
    cov_type: CovType = "nonrobust",
    groups: str | Sequence[str] = (),
    prior: Prior = None,
    penalty: RidgePenalty = None,
    link: Link = "adjacent",
    discrimination: str | None = None,
    approximation: Approximate = None,
    rng: Rng = 0,
    progress: bool = False,
) -> ComparisonResults:
    """Fit comparisons, as `llbt.fit` does, with its parameters, errors and warnings."""
    text, brackets = split_brackets(formula)
    if discrimination is not None:
        check_beside(discrimination, brackets)
    if approximation is not None and not brackets:
        raise OptionError(
            f"approximation={approximation!r} for a formula without brackets, in which nothing is integrated",
            "Leave it out, or let judges differ: + (object | judge).",
        )
    _refuse_glm(method, brackets, discrimination)
    _refuse_penalty(penalty, brackets, discrimination)
    with steps_shown("fit", progress, functools.partial(_tell_slow, brackets, approximation)):
        if not brackets and is_large(text, data):
            if method == "glm":
                explicit.refuse_explicit(data.outcome_counts.size, len(data.objects) - 1 + len(data))
            ways = tuple(groups) if isinstance(groups, (tuple, list)) else (groups,)
            held = dict(fixed or {})
            return _large(
                data,
                Specification(
                    text, reference, method, held, cov_type, ways, prior, link, discrimination=discrimination
                ),
            )
        dependent = bool(brackets) or discrimination is not None  # by the model, judgments of one judge are dependent
        try:
            fitted = LLBT.from_formula(text, data, reference=reference).fit(
                method=method,
                fixed=fixed,
                cov_type="nonrobust" if dependent else cov_type,
                groups=() if dependent else groups,
                prior=prior,
                penalty=penalty,
                link=link,
                rng=rng,
            )
        except SeparationError as error:
            if dependent:
                error.remedy = _WITH_JUDGES.format(text)
            raise
        kind = "nonrobust" if cov_type == "cautious" else cov_type
        ways = tuple(name for name in ([groups] if isinstance(groups, str) else groups) if name)
        if discrimination is not None:
            return with_discrimination(fitted, discrimination, functools.partial(_refitted, fitted), kind, ways)
        if not brackets:
            return fitted
        spec = replace(fitted.specification, approximation=approximation)
        res = with_effects(replace(fitted, specification=spec), brackets, kind, ways)
        doubt = unsettled(res.maximum)
        if doubt:
            warn_user(doubt, ConvergenceWarning)
        return res


def _tell_slow(brackets: tuple[Bracket, ...], approximation: Approximate) -> None:
    """Warn during a fit that it takes long."""
    what = f"the integrals over {' + '.join(map(str, brackets))} take" if brackets else "the fit takes"
    groupings = {bracket.grouping for bracket in brackets}
    faster = "approximation='laplace' takes seconds, and res.laplace_bias() estimates its bias; "
    faster = faster if approximation is None and len(groupings) == 1 and groupings != {"object"} else ""
    warn_user(f"{what} long: {faster}progress=True shows the steps.", SlowWarning)


def _refuse_glm(method: Method, brackets: tuple[Bracket, ...], discrimination: str | None) -> None:
    """Raise if method="glm" is requested for a model that is not a Poisson GLM."""
    asked = " and ".join(map(str, brackets)) or (f"discrimination={discrimination!r}" if discrimination else "")
    if method == "glm" and asked:
        raise OptionError(
            f"method='glm' does not go with {asked}, which no Poisson GLM has", f"Leave out method= or {asked}."
        )


def _refuse_penalty(penalty: RidgePenalty, brackets: tuple[Bracket, ...], discrimination: str | None) -> None:
    """Raise if a penalty of slopes is requested together with effects or discriminations of judges."""
    beside = " and ".join(map(str, brackets)) or (f"discrimination={discrimination!r}" if discrimination else "")
    if penalty is not None and beside:
        raise OptionError(
            f"penalty={penalty!r} together with {beside}",
            f"Leave {beside} out: llbt.fit(…, penalty={penalty!r}, cov_type='cluster', groups='judge').",
        )


def _large(c: Comparisons, spec: Specification) -> LargeResults:
    """Return the fit of very many objects; only terms without objects have a design."""
    check_asked(spec, c)
    rest = beside_objects(spec.formula, c)
    judged = decided(parse(rest, vocabulary(c)), c).drop_empty()
    model = LLBT(rest, judged, spec.reference, build_design(rest, judged, reference=spec.reference))
    model._warn(spec)
    return large_fit(spec.formula, judged, model.design, spec)


def _refitted(res: LLBTResults, formula: str) -> LLBTResults:
    """Return the fit of another formula to the same table, with the options of a fit."""
    spec = replace(res.specification, formula=formula)
    return LLBT.from_formula(formula, res.comparisons, reference=spec.reference).solved(spec)


@checked
def default_formula(comparisons: Comparisons) -> str:
    """Return the default formula of a table, which the report and the command line use.

    Parameters
    ----------
    comparisons : Comparisons

    Returns
    -------
    str
        ``object``, with ``+ tie`` if there are ties, ``+ bad`` if some judgments are "both bad", ``+ grade`` if
        preferences have grades, and ``+ order`` if the table keeps the order (``order=True``).

    Examples
    --------
    >>> import llbt
    >>> llbt.default_formula(llbt.load_dataset("dras_table1"))
    'object + tie'
    """
    there = (comparisons.n_ties, comparisons.n_bad, comparisons.response.grades, comparisons.keeps_order)
    has_head = dict(zip(HEADS, there, strict=True))
    return " + ".join(["object", *(word for word, present in has_head.items() if present)])


def _held(fixed: Mapping[str, float] | None, design: Design) -> dict[str, float]:
    if fixed is not None and not isinstance(fixed, Mapping):
        raise OptionError(f"fixed={safe_repr(fixed)}", expected="a mapping of parameters to numbers: {'tie': -0.5}")
    held = dict(fixed or {})
    unknown = [name for name in held if name not in design.names]
    if unknown:
        lone = f"object[{design.reference}]"
        remedy = f"{lone!r} is the reference, which is always 0; reference= chooses another." if lone in unknown else ""
        raise OptionError(
            f"fixed: no parameter {listed(unknown)}", remedy, expected=f"names among {listed(design.names, 12)}"
        )
    bad = [name for name, value in held.items() if not is_real(value) or not math.isfinite(value)]
    if bad:
        raise OptionError(f"fixed: {bad[0]!r} is held at {held[bad[0]]!r}", expected="a finite number")
    return {name: float(held[name]) for name in design.names if name in held}


def _refuse_far(problem: Problem, held: Mapping[str, float]) -> None:
    """Raise if held parameters make the probability of an outcome 0 up to rounding."""
    if held and _held_apart(problem) > _FARTHEST:
        raise OptionError(
            f"fixed={dict(held)!r}: an outcome would have odds of e^{_held_apart(problem):.4g}, so computers round a "
            "probability to 0",
            f"Hold parameters at log-worths within ±{_FARTHEST:g} of each other.",
        )


def _held_apart(problem: Problem) -> float:
    """Return the largest predictor that the held parameters alone give.

    If there are no ties, γ may be held at any low value, which stands for −∞.
    """
    seen, offsets = problem.counts > 0, problem.offsets.copy()
    if isinstance(problem.response, Cumulative):
        return float(np.abs(offsets).max())
    for b, loaded in enumerate(problem.response.loadings.T > 0):
        if b:  # predictors of outcomes that both sides share
            offsets[b][(offsets[b] < 0) & ~seen[:, loaded].any(axis=1)] = 0.0
    return float(np.abs(offsets).max())


def _solve(
    problem: Problem,
    c: Comparisons,
    names: tuple[str, ...],
    spec: Specification,
    start: Maximum | None,
    penalty: Penalize | None,
) -> Fit:
    """Fit the counts with the penalty of a specification; `start` is the maximum without a penalty.

    Raises
    ------
    DesignError
        If columns of the formula are nearly collinear, so that no step can be computed.
    """
    try:
        solution = _solution(problem, c, names, spec, start, penalty)
    except linalg.LinAlgError as failure:
        raise DesignError(
            f"the columns of {spec.formula!r} are so nearly combinations of each other that their {len(names):,} "
            f"parameters cannot be estimated ({failure})",
            "Give splines fewer columns (df=4), center and scale powers of numbers, or leave terms out.",
        ) from None
    check_convergence(solution, _SOLVERS[solution.solver])
    return solution


def _solution(
    problem: Problem,
    c: Comparisons,
    names: tuple[str, ...],
    spec: Specification,
    start: Maximum | None,
    penalty: Penalize | None,
) -> Fit:
    """Return the result of the solver that suits the problem's size."""
    small = explicit.explicit_entries(problem) <= _AUTO_ENTRIES and (penalty is None or spec.adds_judgments)
    small = small and _held_apart(problem) <= _NEAR and not isinstance(problem.response, Cumulative)
    if spec.method == "glm":
        return explicit.glm(problem, names, prior_counts(problem, c, spec))
    if spec.method == "auto" and small:
        return explicit.checked_by_glm(problem, names, start, prior_counts(problem, c, spec))
    if start is not None:
        return start.fit(problem)
    return solvers.eliminate(problem, penalty=penalty)
