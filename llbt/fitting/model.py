"""Formula + comparisons → solver → results."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from scipy import linalg

from ..arguments import JUDGED_INSIDE, checked, is_real
from ..budgets import refuse_parameters
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
    warn_user,
)
from ..formulas.brackets import Bracket, split_brackets
from ..formulas.coding import Reference
from ..formulas.design import Design, build_design
from ..formulas.grammar import HEADS, adds_objects, compares_objects, parse, vocabulary
from ..formulas.integers import decided
from ..kernel import explicit, solvers
from ..kernel.likelihood import Problem
from ..kernel.solvers import Fit, Maximum, Solver
from ..kernel.threads import few_threads
from ..resampling import steps_shown
from ..table import format_percent
from .covariances import check_options, few_clusters, settled
from .cuts import check_cuts_described, check_order_of_cuts
from .discrimination import check_beside, with_discrimination
from .discrimination_results import DiscriminationResults
from .existence import check_connected, check_existence, check_odd_cycles, is_settled
from .large import beside_objects, check_asked, is_large, large_fit
from .large_results import LargeResults
from .mixed import unsettled, with_effects
from .mixed_results import MixedResults
from .results import LLBTResults
from .specification import Approximate, CovType, Method, Prior, Specification, make_problem, penalty_of, prior_counts

_WITHOUT_TIE = (
    "in a third of their judgments",
    "take the ties out of the table, with c.drop_ties() or c.split_ties()",
)
_WITHOUT_TIE_OF_MORE = (
    "as often as either of them is preferred by the first grade",
    "make wins, ties and losses of the outcomes, with c.collapse(), of which the ties can be taken out",
)
_NEAR = 4.0  # held predictors up to which the fitted counts of statsmodels keep their digits
_FARTHEST = 30.0  # and those up to which elimination does
_AUTO_ENTRIES = 1e5  # up to here the literal GLM of statsmodels answers at once
_SOLVERS: Mapping[Solver, str] = {
    "glm": "statsmodels' GLM",
    "eliminate": "Newton's method",
    "eliminate, glm": "statsmodels' GLM, from the estimates of elimination,",
}


@dataclass(frozen=True, eq=False)
class LLBT:
    """A log-linear Bradley-Terry model that is not fitted yet.

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
            Right-hand side over ``object``, ``tie``, ``bad``, ``grade``, ``order``, ``pair`` and covariates.
        data : Comparisons
        reference : label or mapping, optional
            The object with λ = 0, by default the last; or that and levels of covariates, as `fit` says.

        Raises
        ------
        FormulaError
            For a formula that cannot be read, or names something that the table does not have.
        DesignError
            For objects that are not connected by judgments, and constant covariates.
        OptionError
            For unknown references.
        """
        parsed = parse(formula, vocabulary(data))
        if compares_objects(parsed):
            check_connected(data)
        word = adds_objects(parsed)
        if word:
            check_odd_cycles(data, word)
        judged = decided(parsed, data).drop_empty()
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
        link: Link = "adjacent",
    ) -> LLBTResults:
        """Fit by maximum likelihood, as `llbt.fit`.

        Parameters
        ----------
        method, fixed, cov_type, groups, prior, link
            As in `llbt.fit`, with its errors and warnings.
        """
        held = _held(fixed, self.design)
        ways = tuple(groups) if isinstance(groups, (tuple, list)) else (groups,)
        spec = Specification(self.formula, self.reference, method, held, cov_type, ways, prior, link)
        check_options(spec)
        self._warn(spec)
        return self.solved(spec)

    def solved(self, spec: Specification) -> LLBTResults:
        """Return the fit that a specification asks for, without the warnings of `fit`: what a question refits with."""
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
        names = tuple(self.design.names[k] for k in free)
        solution = _solve(problem, self.comparisons, names, spec, start)
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
                f"{share} of the judgments are that both are bad and the formula has no bad term: this is the model "
                "with γ = 0, in which equal objects are as often both bad as either of them wins. Add + bad; or count "
                "both bad as ties, with c.collapse().",
                TiesWarning,
            )


# a prior is refused beside effects of judges and discriminations
_WITH_JUDGES = "Leave these objects out, or take the judges as alike: fit({!r}, c, prior=…)."


@checked
def fit(
    formula: str,
    data: Comparisons,
    *,
    reference: Reference = None,
    method: Method = "auto",
    fixed: Annotated[Mapping[str, float] | None, JUDGED_INSIDE] = None,
    cov_type: CovType = "nonrobust",
    groups: str | Sequence[str] = (),
    prior: Prior = None,
    link: Link = "adjacent",
    discrimination: str | None = None,
    approximation: Approximate = None,
    progress: bool = False,
) -> LLBTResults | MixedResults | DiscriminationResults | LargeResults:
    """Fit a log-linear Bradley-Terry model by maximum likelihood.

    Parameters
    ----------
    formula : str
        Right-hand side over ``object`` (log-worths λ), ``tie`` (γ), ``bad`` (γ of both bad), ``grade`` (γ of the larger
        grades of preference), ``order`` (δ), ``pair`` and the table's covariates, such as ``"object + tie"`` or
        ``"object * judge + tie"``. Brackets let judges differ by normal effects: ``"object + tie + (object | judge)"``,
        ``(tie | judge)``, ``(bad | judge)``, ``(grade | judge)``, ``(order | judge)``, judge being a cluster or
        covariate of the table; brackets of several groupings are crossed. ``"price + (1 | object)"`` lets objects
        differ by more than their covariates say.
    data : Comparisons
        J objects, S comparisons.
    reference : label or mapping, optional
        The object with λ = 0; by default the last. ``{"judge": "J2"}`` makes J2 the reference level of the labels of
        judge wherever the formula has them, by default the first; both: ``{"object": "B", "judge": "J2"}``. A column of
        0 and 1 of rows or judges is labels, too; in ``numeric=`` where the table is made it is a number, as in R.
    method : {"auto", "glm", "eliminate"}
        What maximizes the likelihood; the results agree, and the printout says what ran. ``"glm"``: statsmodels'
        Poisson GLM with one dummy per comparison, from its own start; not beside effects, discriminations, other links
        and Jeffreys' prior. ``"eliminate"``: Newton's method with these nuisance parameters profiled out, without
        statsmodels. ``"auto"``: eliminated, and where the GLM's matrix is small (10⁵ entries) checked by it, which goes
        on from the estimates.
    fixed : mapping of str to float, optional
        Parameters to hold at a value, by name: ``{"tie": -0.5}``.
    cov_type : {"nonrobust", "quasi", "HC0", "cluster", "CR1", "cautious"}
        Standard errors of independent judgments; times √(X²/df), the dispersion, with t on the residual df (R's
        ``quasipoisson``); by the sandwich of single judgments; or allowing for dependence
        within `groups`: by the leave-one-out jackknife (CR3) with t on G* − 1 df, or by the plain sandwich (CR1) with
        the factor G/(G − 1) and t on G − 1 df, whose intervals are too short for few or unequal clusters.
        ``"cautious"``: ``"cluster"`` by those clusters of the table that make the standard errors of differences of
        objects largest, among those with G* of 8 or more (of 3, where none has so many, or where dependence within
        so few is plain: such errors come by chance in 1 % of tables). Two units that both make them
        1.05 times as large are taken two-way unless one is nested in the other. Nonrobust where there are none. A note
        says which, and by how much. `write_report` and the command line take it by default. With brackets it is
        ``"nonrobust"``, the only one that goes with them.
    groups : str or two str
        Clusters or covariates of the table, for ``cov_type="cluster"`` and ``"CR1"``; two give V₁ + V₂ − V₁₂.
    prior : float or "jeffreys", optional
        What makes estimates finite wherever the objects are connected. A number: judgments that each pair is given,
        split equally over the outcomes and over its comparisons as its own are; it draws worths together by as much as
        you choose, and its judgments count in the standard errors. ``"jeffreys"``: Firth's bias reduction, the penalty
        ½ log|information| of Jeffreys' prior on the multinomial likelihood (Firth 1993), which takes the bias of first
        order away and matters less the more judgments there are. Take it where estimates are infinite or judgments
        few, a number where worths are to be drawn together. Where a pair has next to nothing but ties the likelihood
        with Jeffreys' prior can have more than one maximum.
    link : {"adjacent", "cumulative", "probit"}
        What makes probabilities of log-worths. ``"adjacent"``: the log-linear model. ``"cumulative"``: outcomes are
        stretches of a logistic scale between cuts, Rao & Kupper's model for three outcomes and Agresti's for graded
        ones; ``"probit"``: of a normal scale, Thurstone's case V, Glenn & David's model for three outcomes. Not with
        ``prior="jeffreys"``.
    discrimination : str, optional
        A covariate of the table, such as ``"judge"``: the log-worths of each of its levels are those of all times a
        factor σ, between ``object`` and ``object * judge``. With ``cov_type="nonrobust"``, and without brackets, a
        prior and other links.
    approximation : {None, "laplace"}
        How effects in brackets are integrated out. By default as `MixedResults` says, with an error that is known.
        ``"laplace"``: by Laplace's approximation, which takes seconds where the integrals take minutes and is the only
        one for crossed groupings, which take it by themselves; its σ is too small where judges make few judgments, by
        as much as ``res.laplace_bias()`` finds.
    progress : bool
        Show a bar that counts the steps of the search: of likelihoods that are integrated, of very many objects, and of
        discriminations there are some that take minutes. How many there will be is not known.

    Returns
    -------
    LLBTResults, MixedResults, DiscriminationResults or LargeResults
        The second for a formula with brackets, the third with `discrimination`, the last for more than 10,000 objects.

    Raises
    ------
    FormulaError
        For a formula that cannot be read, or names something that the table does not have.
    DesignError
        For objects that are not connected by judgments, constant covariates, and a GLM beyond 5·10⁷ matrix entries.
    OptionError
        For options that are not known or contradict each other, and unknown names in `reference`, `groups` or `fixed`.
    SeparationError
        Where some estimate is infinite; the objects, levels or parameters are named. With brackets also where each
        judge is so consistent that the standard deviation of the effects is, with `discrimination` where a judge
        follows the order of the worths, or its reverse, without exception.

    Warns
    -----
    ClusterWarning
        Where intervals by clusters as few or unequal as these hold less often than they say.
    TiesWarning
        Where the table has ties and the formula has no term for them.
    FormulaWarning
        For terms that cancel.
    SlowWarning
        Where a large linear program has to decide whether estimates are finite, and where effects in brackets take long
        to integrate and no bar is shown.

    Notes
    -----
    A side covariate such as ``length`` enters as the difference of its values, ``np.log(length)`` as that of their
    logarithms. A feature of both sides that is no difference stands in ``sides(…)``, where ``length_i`` is the value of
    object i and ``length_j`` that of its opponent: ``object + tie + sides((length_i - length_j) / (length_i +
    length_j))``, or ``sides(np.tanh((length_i - length_j) / 200))`` for one that saturates. It is added to λᵢ − λⱼ, so
    its log-odds are 2β times it, and it has to change its sign when the sides change places.

    The counts of comparison s between i and j are Poisson with log means μ + λᵢ − λⱼ + δ, μ + γ and
    μ − λᵢ + λⱼ − δ: Dras (2015), equations (1) and (2). The odds of i over j are exp(2(λᵢ − λⱼ)).

    Where judgments are graded (``comparisons.response``), an outcome with the score h, from H for the largest grade of
    i to −H, has the log mean μ + h(λᵢ − λⱼ + δ) + γ_|h|: the adjacent-categories model of Agresti (1992). ``tie`` is
    γ₀, ``grade`` γ₂ … γ_H, whose parameters are named after the outcomes: ``grade[+]``. γ₁ is 0, and without the word
    all γ of grades are. Without a middle the scores are odd, ±1, ±3, ….

    Both bad, where judges could say so, has the log mean μ + γ_bad. With ``bad:object`` and ``tie:object`` objects have
    effects of their own on these: γ + βᵢ + βⱼ in place of γ, with Σβ = 0 over the objects, so that γ is that of the
    average pair. They are known where every component of the graph of pairs has a cycle of odd length.

    With a cumulative link an outcome at least as good for i as the grade h has probability F(2(λᵢ − λⱼ + δ) − θ_h), F
    the logistic or the normal curve. Cuts θ are antisymmetric about the middle of the scale, and 0 there without a tie.
    ``tie`` is θ₁, Rao & Kupper's θ being exp(θ₁), ``grade`` θ_h − θ_(h−1) for each larger grade; both are above 0.
    Two outcomes with the logistic curve are the log-linear model. Standard errors are those of the observed information
    (minus the second derivatives), as R's ``ordinal::clm`` has them. `llf`, `aic` and `bic` are of the
    judgments, Σ n log p, as of every model, so links are compared by them.

    With brackets judge g has the log-worths λᵢ + b_gi, b_gi ~ N(0, σ²) independent with one σ, equal for all objects;
    ties, both bad and order have one normal effect each, grades one for each grade beyond the first with one σ,
    independent of the others. Estimates are those of the average judge, at
    effects of 0; `MixedResults` says how effects are integrated out. A judge drawn from the population prefers with
    probabilities nearer to ½ on average. Standard errors are those of the observed information.

    More than 10,000 objects have plain log-worths beside ties, order and covariates, and no covariance of all
    estimates, whose memory would go with the square of the objects; `LargeResults` says how they are fitted, and what
    is answered. Where each has few judgments some have infinite estimates as a rule: take a number as `prior`, or the
    objects of ``c.largest_component()``.

    With `discrimination` judge k has the log-worths σ_k λᵢ, while ties and order have no factor. The mean of σ²,
    weighted by the judgments, is 1, so that estimates are those of a judge of discrimination 1; a judge with σ = 0
    guesses, one below 0 prefers what the others do not. `DiscriminationResults` says how the maximum is found.

    CR3 is (G − 1)/G Σ (θ₍₋g₎ − θ̂)(θ₍₋g₎ − θ̂)ᵀ over the G clusters, θ₍₋g₎ by one step: θ̂ − (H − H_g)⁻¹s_g, with H and
    H_g the information of all judgments and of the cluster and s_g its score (Bell & McCaffrey 2002). G* = (Σn)²/Σn²,
    n the judgments of a cluster, is G where clusters are of equal size. What is known from markedly fewer of them has t
    on its own G* − 1 df: for a combination r of the parameters (Σv)²/Σv² with v = rᵀV H_g V r, what each cluster
    contributes to its variance under the model, where that is below four fifths of G*. Below two, and where the
    judgments without some cluster say nothing of it or make it infinite, there is no cluster-robust standard error: NA.

    References
    ----------
    Agresti, A. (1992). Analysis of ordinal paired comparison data. Applied Statistics 41(2), 287-297.

    Glenn, W. A. & David, H. A. (1960). Ties in paired-comparison experiments using a modified Thurstone-Mosteller
    model. Biometrics 16(1), 86-109.

    Rao, P. V. & Kupper, L. L. (1967). Ties in paired-comparison experiments: a generalization of the Bradley-Terry
    model. Journal of the American Statistical Association 62(317), 194-204.

    Dras, M. (2015). Evaluating human pairwise preference judgments. Computational Linguistics 41(2), 337-345.

    Dittrich, R., Hatzinger, R. & Katzenbeisser, W. (1998). Modelling the effect of subject-specific covariates in
    paired comparison studies with an application to university rankings. Applied Statistics 47(4), 511-525.

    Firth, D. (1993). Bias reduction of maximum likelihood estimates. Biometrika 80(1), 27-38.

    Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
    samples. Survey Methodology 28(2), 169-181.

    Cameron, A. C., Gelbach, J. B. & Miller, D. L. (2011). Robust inference with multiway clustering. Journal of
    Business & Economic Statistics 29(2), 238-249.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> round(res.deviance, 4), res.df_resid
    (30.4554, 8)
    """
    text, brackets = split_brackets(formula)
    if discrimination is not None:
        check_beside(discrimination, brackets)
    if approximation is not None and not brackets:
        raise OptionError(
            f"approximation={approximation!r} for a formula without brackets, in which nothing is integrated",
            "Leave it out, or let judges differ: + (object | judge).",
        )
    _refuse_glm(method, brackets, discrimination)
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
        dependent = bool(brackets) or discrimination is not None  # judgments of a judge are, by the model
        try:
            found = LLBT.from_formula(text, data, reference=reference).fit(
                method=method,
                fixed=fixed,
                cov_type="nonrobust" if dependent and cov_type == "cautious" else cov_type,
                groups=groups,
                prior=prior,
                link=link,
            )
        except SeparationError as error:
            if dependent:
                error.remedy = _WITH_JUDGES.format(text)
            raise
        if discrimination is not None:
            return with_discrimination(found, discrimination, functools.partial(_refitted, found))
        if not brackets:
            return found
        spec = replace(found.specification, approximation=approximation)
        res = with_effects(replace(found, specification=spec), brackets)
        doubt = unsettled(res.maximum)
        if doubt:
            warn_user(doubt, ConvergenceWarning)
        return res


def _tell_slow(brackets: tuple[Bracket, ...], approximation: Approximate) -> None:
    """Warn that a fit takes long, in the middle of it."""
    what = f"the integrals over {' + '.join(map(str, brackets))} take" if brackets else "the fit takes"
    groupings = {bracket.grouping for bracket in brackets}
    faster = "approximation='laplace' takes seconds, and res.laplace_bias() says what it costs; "
    faster = faster if approximation is None and len(groupings) == 1 and groupings != {"object"} else ""
    warn_user(f"{what} long: {faster}progress=True shows the steps.", SlowWarning)


def _refuse_glm(method: Method, brackets: tuple[Bracket, ...], discrimination: str | None) -> None:
    """Raise where a Poisson GLM is asked for that is none."""
    asked = " and ".join(map(str, brackets)) or (f"discrimination={discrimination!r}" if discrimination else "")
    if method == "glm" and asked:
        raise OptionError(
            f"method='glm' does not go with {asked}, which no Poisson GLM has", "Leave method out, or take it out."
        )


def _large(c: Comparisons, spec: Specification) -> LargeResults:
    """Return the fit of very many objects, of whose formula only what stands beside them has a design."""
    check_asked(spec, c)
    rest = beside_objects(spec.formula, c)
    judged = decided(parse(rest, vocabulary(c)), c).drop_empty()
    model = LLBT(rest, judged, spec.reference, build_design(rest, judged, reference=spec.reference))
    model._warn(spec)
    return large_fit(spec.formula, judged, model.design, spec)


def _refitted(res: LLBTResults, formula: str) -> LLBTResults:
    """Return the fit of another formula to the same table, its options those of a fit."""
    spec = replace(res.specification, formula=formula)
    return LLBT.from_formula(formula, res.comparisons, reference=spec.reference).solved(spec)


@checked
def default_formula(comparisons: Comparisons) -> str:
    """Return the formula that a table asks for by itself: that of the report, and of the command line.

    Parameters
    ----------
    comparisons : Comparisons

    Returns
    -------
    str
        ``object``, with ``+ tie`` where there are ties, ``+ bad`` where some judgments are that both are bad,
        ``+ grade`` where they say how much one is preferred, and ``+ order`` where the order was kept (``order=True``).

    Examples
    --------
    >>> import llbt
    >>> llbt.default_formula(llbt.load_dataset("dras_table1"))
    'object + tie'
    """
    there = (comparisons.n_ties, comparisons.n_bad, comparisons.response.grades, comparisons.keeps_order)
    said = dict(zip(HEADS, there, strict=True))
    return " + ".join(["object", *(word for word, present in said.items() if present)])


def _held(fixed: Mapping[str, float] | None, design: Design) -> dict[str, float]:
    if fixed is not None and not isinstance(fixed, Mapping):
        raise OptionError(f"fixed={fixed!r}", expected="a mapping of parameters to numbers: {'tie': -0.5}")
    held = dict(fixed or {})
    unknown = [name for name in held if name not in design.names]
    if unknown:
        lone = f"object[{design.reference}]"
        remedy = f"{lone!r} is the reference's, which is 0; reference= chooses another." if lone in unknown else ""
        raise OptionError(
            f"fixed: no parameter {listed(unknown)}", remedy, expected=f"names among {listed(design.names, 12)}"
        )
    bad = [name for name, value in held.items() if not is_real(value) or not math.isfinite(value)]
    if bad:
        raise OptionError(f"fixed: {bad[0]!r} is held at {held[bad[0]]!r}", expected="a finite number")
    return {name: float(held[name]) for name in design.names if name in held}


def _refuse_far(problem: Problem, held: Mapping[str, float]) -> None:
    """Raise where held parameters leave an outcome no probability that a computer can tell from 0."""
    if held and _held_apart(problem) > _FARTHEST:
        raise OptionError(
            f"fixed={dict(held)!r}: an outcome would have odds of e^{_held_apart(problem):.4g}, whose probability "
            "is 0 to a computer",
            f"Hold parameters at log-worths within ±{_FARTHEST:g} of each other.",
        )


def _held_apart(problem: Problem) -> float:
    """Return the largest predictor that held parameters make by themselves.

    Ties of which there are none may be held as far away as anybody likes: that is what their −∞ is held for.
    """
    seen, offsets = problem.counts > 0, problem.offsets.copy()
    if isinstance(problem.response, Cumulative):
        return float(np.abs(offsets).max())
    for b, loaded in enumerate(problem.response.loadings.T > 0):
        if b:  # of outcomes that the two sides share
            offsets[b][(offsets[b] < 0) & ~seen[:, loaded].any(axis=1)] = 0.0
    return float(np.abs(offsets).max())


def _solve(problem: Problem, c: Comparisons, names: tuple[str, ...], spec: Specification, start: Maximum | None) -> Fit:
    """Fit the counts and what a specification adds to their likelihood; `start` is the maximum of bare counts.

    Raises
    ------
    DesignError
        Where columns of the formula are so nearly combinations of each other that no step can be made.
    """
    try:
        solution = _solution(problem, c, names, spec, start)
    except linalg.LinAlgError as failure:
        raise DesignError(
            f"the columns of {spec.formula!r} are so nearly combinations of each other that their {len(names):,} "
            f"parameters cannot be estimated ({failure})",
            "Give splines fewer columns (df=4), center and scale powers of numbers, or leave terms out.",
        ) from None
    if not solution.converged:
        warn_user(
            f"{_SOLVERS[solution.solver]} stopped after {solution.n_iter} iterations with a gradient of norm "
            f"{np.linalg.norm(solution.gradient):.2g}; the estimates may be off.",
            ConvergenceWarning,
        )
    return solution


def _solution(
    problem: Problem, c: Comparisons, names: tuple[str, ...], spec: Specification, start: Maximum | None
) -> Fit:
    """Return what the solver that fits the problem's size finds."""
    small = explicit.explicit_entries(problem) <= _AUTO_ENTRIES and not spec.reduces_bias
    small = small and _held_apart(problem) <= _NEAR and not isinstance(problem.response, Cumulative)
    if spec.method == "glm":
        return explicit.glm(problem, names, prior_counts(problem, c, spec))
    if spec.method == "auto" and small:
        return explicit.checked_by_glm(problem, names, start, prior_counts(problem, c, spec))
    if start is not None:
        return start.fit(problem)
    return solvers.eliminate(problem, penalty=penalty_of(problem, c, spec))
