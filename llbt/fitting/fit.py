"""Formula + data → the fit of the model that belongs to the type of the data; the one place that decides by it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, overload

from ..arguments import JUDGED_INSIDE, checked
from ..core.comparisons import Comparisons
from ..core.links import Link
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..errors import OptionError
from ..formulas.brackets import has_brackets
from ..formulas.coding import Reference
from .answer_clusters import ClusterCov
from .best_worst_effects import BestWorstEffects, fit_best_worst_effects
from .model import ComparisonResults, fit_comparisons
from .pattern_missingness import Missing, NotAtRandom
from .pattern_model import fit_patterns
from .pattern_results import PatternResults
from .ranking_model import BestWorst, fit_rankings
from .ranking_results import RankingResults
from .specification import Approximate, CovType, Method, Prior

FitResults: TypeAlias = ComparisonResults | RankingResults | PatternResults | BestWorstEffects


@overload
def fit(
    formula: str,
    data: Comparisons,
    *,
    reference: Reference = None,
    method: Method = "auto",
    fixed: Mapping[str, float] | None = None,
    cov_type: CovType = "nonrobust",
    groups: str | Sequence[str] = (),
    prior: Prior = None,
    link: Link = "adjacent",
    discrimination: str | None = None,
    approximation: Approximate = None,
    progress: bool = False,
) -> ComparisonResults: ...
@overload
def fit(
    formula: str,
    data: Rankings,
    *,
    reference: Reference = None,
    cov_type: ClusterCov = "nonrobust",
    groups: str = "",
    prior: Prior = None,
    best_worst: BestWorst = "joint",
    progress: bool = False,
) -> RankingResults | BestWorstEffects: ...
@overload
def fit(
    formula: str,
    data: Patterns,
    *,
    reference: Reference = None,
    cov_type: ClusterCov = "nonrobust",
    groups: str = "",
    missing: Missing = "ignorable",
    not_at_random: NotAtRandom = None,
    progress: bool = False,
) -> PatternResults: ...


@checked
def fit(
    formula: str,
    data: Comparisons | Rankings | Patterns,
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
    best_worst: BestWorst = "joint",
    missing: Missing = "ignorable",
    not_at_random: NotAtRandom = None,
    progress: bool = False,
) -> FitResults:
    """Fit the model of the data by maximum likelihood: of comparisons, rankings, best-worst sets or response patterns.

    Comparisons get a log-linear Bradley-Terry model, rankings the Plackett-Luce model, best-worst sets the maximum
    difference model, and patterns a model in which all answers of a judge are one observation.

    Parameters
    ----------
    formula : str
        Right-hand side over ``object`` (log-worths λ), ``tie`` (γ), ``bad`` (γ of both bad), ``grade`` (γ of the larger
        grades of preference), ``order`` (δ), ``pair`` and the table's covariates, such as ``"object + tie"`` or
        ``"object * judge + tie"``. Brackets let judges differ by normal effects: ``"object + tie + (object | judge)"``,
        ``(tie | judge)``, ``(bad | judge)``, ``(grade | judge)``, ``(order | judge)``, judge being a cluster or
        covariate of the table; brackets of several groupings are crossed. ``"price + (1 | object)"`` lets objects
        differ by more than their covariates say. Rankings have ``object``, ``tie`` and covariates, best-worst sets
        also ``(object | judge)`` with up to six objects; patterns also ``dependence``.
    data : Comparisons, Rankings or Patterns
        The type decides the model. Options that the model lacks are refused by name.
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
        ``"nonrobust"``; beside it they have ``"cluster"`` and ``"CR1"`` by clusters of judges.
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
        factor σ, between ``object`` and ``object * judge``. Standard errors of independent judgments, or by clusters
        that are not the judges; without brackets, a prior and other links.
    approximation : {None, "laplace"}
        How effects in brackets are integrated out. By default as `MixedResults` says, with an error that is known.
        ``"laplace"``: by Laplace's approximation, which takes seconds where the integrals take minutes and is the only
        one for crossed groupings, which take it by themselves; its σ is too small where judges make few judgments, by
        as much as ``res.laplace_bias()`` finds.
    best_worst : {"joint", "sequential"}
        Of rankings that are best-worst sets: both named at once, P(b, w) ∝ exp(λ_b − λ_w), or first the best, by
        exp(2λ), and then the worst of the others, by exp(−2λ).
    missing : {"ignorable", "common", "object", "comparison"}
        Of patterns of comparisons: what the log-odds of a missing answer depend on. They are left open; α, the same of
        every pair; αᵢ + αⱼ; α of each pair.
    not_at_random : {"object", "comparison"}, optional
        Of patterns, beside `missing`: whether these log-odds depend on the answer as well, seen or not, by βᵢ − βⱼ or
        by β of each pair.
    progress : bool
        Show a bar that counts the steps of the search: of likelihoods that are integrated, of very many objects, and of
        discriminations there are some that take minutes. How many there will be is not known.

    Returns
    -------
    LLBTResults, MixedResults, DiscriminationResults, LargeResults, RankingResults or PatternResults
        Of comparisons the second for a formula with brackets, the third with `discrimination`, the fourth for more than
        10,000 objects. The last two of rankings and of patterns; each of them says what its model is.

    Raises
    ------
    FormulaError
        For a formula that cannot be read, or names something that the table does not have.
    DesignError
        For objects that are not connected by judgments, constant covariates, and a GLM beyond 5·10⁷ matrix entries.
    OptionError
        For options that are not known, contradict each other or belong to another type of data, and unknown names in
        `reference`, `groups` or `fixed`.
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

    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"A": [1, 2, 1, 3, 1], "B": [2, 1, 1, 1, 3], "C": [3, 3, 2, 2, 2]})
    >>> res = llbt.fit("object + tie", llbt.rankings_from(ranks, objects=["A", "B", "C"]))
    >>> res.params.round(4).to_dict()
    {'object[A]': 0.5015, 'object[B]': 0.5015, 'tie': -1.7321}
    """
    options = {
        "reference": reference,
        "method": method,
        "fixed": fixed,
        "cov_type": cov_type,
        "groups": groups,
        "prior": prior,
        "link": link,
        "discrimination": discrimination,
        "approximation": approximation,
        "best_worst": best_worst,
        "missing": missing,
        "not_at_random": not_at_random,
        "progress": progress,
    }
    default = inspect.signature(fit).parameters
    chosen = {name: value for name, value in options.items() if not _is(value, default[name].default)}
    kind = next(kind for kind in _KINDS if isinstance(data, kind.data))
    if isinstance(data, Rankings) and data.kind == "best_worst" and has_brackets(formula):
        kind = _WITH_EFFECTS
    _refuse_foreign(kind, formula, chosen)
    return kind.fit(formula, data, **chosen)


@dataclass(frozen=True)
class _Kind:
    """A type of data, the function that fits it, and why it lacks the options of the others."""

    data: type
    fit: Callable[..., FitResults]
    lacks: Mapping[str, str]


_OF_SETS = "only sets with a best and a worst have this choice, and they are Rankings"
_OF_PATTERNS = "only Patterns record which answers of a judge are missing"
_NOT_PAIRS = {
    "method": "only comparisons can be fitted as a Poisson GLM",
    "fixed": "only parameters of comparisons can be held at a value",
    "link": "only the outcome of a comparison has other links",
    "discrimination": "discriminations are fitted to comparisons only",
    "approximation": "only effects in brackets are integrated out, and only comparisons have them",
}
_KINDS = (
    _Kind(
        Comparisons,
        fit_comparisons,
        {"best_worst": _OF_SETS, "missing": _OF_PATTERNS, "not_at_random": _OF_PATTERNS},
    ),
    _Kind(Rankings, fit_rankings, _NOT_PAIRS | {"missing": _OF_PATTERNS, "not_at_random": _OF_PATTERNS}),
    _Kind(
        Patterns,
        fit_patterns,
        _NOT_PAIRS
        | {
            "best_worst": _OF_SETS,
            "prior": "pattern models are fitted by maximum likelihood only",
        },
    ),
)

_NO_CLUSTERS = "with effects of judges the judges are what is independent"
_WITH_EFFECTS = _Kind(
    Rankings,
    fit_best_worst_effects,
    dict(_KINDS[1].lacks)
    | {
        "cov_type": _NO_CLUSTERS,
        "groups": _NO_CLUSTERS,
        "prior": "sets with effects of judges are fitted by maximum likelihood only",
    },
)


def _is(value: object, default: object) -> bool:
    """Whether an option has its default; a value of another type, such as a series, is not compared."""
    return value is default or (isinstance(value, type(default)) and bool(value == default))


def _refuse_foreign(kind: _Kind, formula: str, chosen: Mapping[str, Any]) -> None:
    """Raise for the first option that a type of data lacks, with the call that leaves all of them out."""
    foreign = [name for name in chosen if name in kind.lacks]
    if foreign:
        kept = "".join(f", {name}={value!r}" for name, value in chosen.items() if name not in kind.lacks)
        raise OptionError(
            f"{foreign[0]}={chosen[foreign[0]]!r} is no option for {kind.data.__name__}: {kind.lacks[foreign[0]]}",
            f"Leave it out: llbt.fit({formula!r}, data{kept}).",
        )
