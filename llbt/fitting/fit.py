"""Fit the model that belongs to the type of the data; options that this model lacks are refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, overload

from ..base.arguments import JUDGED_INSIDE, Rng, checked
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
from .ridge import RidgePenalty
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
    penalty: RidgePenalty = None,
    link: Link = "adjacent",
    discrimination: str | None = None,
    approximation: Approximate = None,
    rng: Rng = 0,
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
    penalty: RidgePenalty = None,
    link: Link = "adjacent",
    discrimination: str | None = None,
    approximation: Approximate = None,
    best_worst: BestWorst = "joint",
    missing: Missing = "ignorable",
    not_at_random: NotAtRandom = None,
    rng: Rng = 0,
    progress: bool = False,
) -> FitResults:
    """Fit the model of the data by maximum likelihood: comparisons, rankings, best-worst sets or response patterns.

    The page "Options of fit" of the site has each option in full, the equations and the references.

    Parameters
    ----------
    formula : str
        Terms ``object``, ``tie``, ``order``, ``grade``, ``bad``, covariates, ``(object | judge)``: "object * judge".
    data : Comparisons, Rankings or Patterns
        The judgments. Their type decides the model.
    reference, fixed : label or mapping; mapping of str to float
        Object with λ = 0, by default the last, or ``{"judge": "J2"}``; parameters held at values, ``{"tie": -0.5}``.
    method : {"auto", "glm", "eliminate"}
        "glm" is statsmodels'; "eliminate" profiles the nuisance parameters out; "auto" tries both in small tables.
    cov_type, groups : {"nonrobust", "quasi", "HC0", "cluster", "CR1", "cautious"}; str or two str
        Standard errors. "cluster" (CR3) and "CR1" are clustered by `groups`; "cautious" chooses the clusters.
    prior : float or "jeffreys", optional
        Makes estimates finite: judgments added to each pair, or Firth's bias reduction.
    penalty, rng : float or "ridge", optional; int or numpy.random.Generator
        Shrinks slopes ``object:x`` toward their mean; "ridge" chooses how strongly by folds that `rng` draws.
    link : {"adjacent", "cumulative", "probit"}
        "adjacent" is log-linear; "cumulative" is Rao & Kupper's and Agresti's; "probit" Thurstone's, Glenn & David's.
    discrimination : str, optional
        A covariate such as "judge": each of its levels has a factor on all log-worths.
    approximation : {None, "laplace", "ep"}
        How random effects are integrated out; None chooses. "laplace": fast, σ too small; "ep": for crossed groupings.
    best_worst : {"joint", "sequential"}
        Best-worst sets: both are named at once, or the best first.
    missing, not_at_random : {"ignorable", "common", "object", "comparison"}; {None, "object", "comparison"}; or names
        Patterns: what the log-odds of a missing answer depend on, and whether on the answer itself; names are objects.
    progress : bool
        Show a bar that counts the steps.

    Returns
    -------
    LLBTResults, MixedResults, DiscriminationResults, LargeResults, RankingResults, BestWorstEffects or PatternResults

    Raises
    ------
    FormulaError, DesignError, OptionError, SeparationError

    Examples
    --------
    >>> import llbt
    >>> c = llbt.load_dataset("dras_table1")
    >>> round(llbt.fit("object + tie", c.pool()).deviance, 4)
    30.4554
    >>> float(llbt.fit("object + tie", c, cov_type="cluster", groups="judge").bse["tie"].round(4))
    0.1511
    """
    options = {
        "reference": reference,
        "method": method,
        "fixed": fixed,
        "cov_type": cov_type,
        "groups": groups,
        "prior": prior,
        "penalty": penalty,
        "link": link,
        "discrimination": discrimination,
        "approximation": approximation,
        "best_worst": best_worst,
        "missing": missing,
        "not_at_random": not_at_random,
        "rng": rng,
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
    """A type of data, the function that fits it, and why options of other types do not apply."""

    data: type
    fit: Callable[..., FitResults]
    lacks: Mapping[str, str]


_OF_SETS = "only best-worst sets have this choice, and they are Rankings"
_OF_PATTERNS = "only Patterns record which answers of a judge are missing"
_NOT_PAIRS = {
    "method": "only comparisons can be fitted as a Poisson GLM",
    "fixed": "only parameters of comparisons can be held at a value",
    "penalty": "only log-worths of comparisons have slopes that are shrunk",
    "rng": "only penalty='ridge' draws random folds, and only comparisons have a penalty",
    "link": "only comparisons have a choice of link",
    "discrimination": "discriminations are fitted to comparisons only",
    "approximation": "only effects in brackets have an approximation, and they need comparisons",
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

_NO_CLUSTERS = "with effects of judges, the judges are the independent units"
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
    """Raise for the first option that does not apply to a type of data; the message has a call without these options.

    If the options apply to comparisons, a call that fits the pairs with them follows.
    """
    foreign = [name for name in chosen if name in kind.lacks]
    if foreign:
        options = "".join(f", {name}={value!r}" for name, value in chosen.items() if name not in kind.lacks)
        remedy = f"Leave it out: llbt.fit({formula!r}, data{options})."
        if kind.data is not Comparisons and set(foreign) <= set(_NOT_PAIRS):
            every = "".join(f", {name}={value!r}" for name, value in chosen.items())
            remedy += f" Or fit the pairs: llbt.fit({formula!r}, data.to_comparisons(){every})."
        raise OptionError(
            f"{foreign[0]}={chosen[foreign[0]]!r} is not an option for {kind.data.__name__}: {kind.lacks[foreign[0]]}",
            remedy,
        )
