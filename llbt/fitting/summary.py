"""The printout of a fit, as R prints a model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..base.table import (
    Field,
    Qualifying,
    Table,
    counted,
    format_count,
    format_figure,
    format_number,
    format_p,
    format_percent,
    format_share,
    named,
)
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..core.statistics import chi2_p_value, chi2_reservation
from ..formulas.grammar import parse, vocabulary
from ..formulas.integers import INTEGERS, levels_note
from .cluster_units import unit_of
from .estimates import Estimates
from .fractional_counts import fractional_notes
from .plain_estimates import PlainEstimates
from .ridge import Ridge
from .summary_rows import MOST_ROWS, CoefficientRows, Sort, coefficient_rows

NOT_CONVERGED = Qualifying("The solver did not converge. The estimates may be off.")

_MOST_WORTHS = 10
_MOST_TRACED = 1000
_UNITS = ("judge", "prompt", "block")  # clusters within which judgments may depend on each other
_BEST = 5  # with more objects than this, only the best are listed

_ODDS = {"worth": "exp(2λ)", "order": "exp(2δ) of order"}
_SHARED = {"tie": "ties", "bad": "both bad", "grade": "grades"}  # parameters γ whose odds are exp(γ)
_CUTS = {
    "tie": "tie is θ₁, the first cut on either side of the middle",
    "grade": "grade is θ_h − θ_(h−1), the distance to the next cut",
}
_LINKS = {
    "cumulative": "cumulative, P(at least grade h) = 1/(1 + exp(θ_h − 2(λᵢ − λⱼ)))",
    "probit": "probit, P(at least grade h) = Φ(2(λᵢ − λⱼ) − θ_h)",
}


def summary_table(res: PlainEstimates, *, odds: bool, max_rows: int, sort: Sort) -> Table:
    """Return the summary of a fit; see `LLBTResults.summary`."""
    table = coefficient_table(res, odds=odds, max_rows=max_rows, sort=sort)
    return replace(table, title=model_title(res), head=head_lines(res), foot=_foot(res), notes=_notes(res, odds))


def part_summary(res: Estimates, whole: type, *, odds: bool, max_rows: int, sort: Sort) -> Table:
    """Return the printout of estimates that are part of a larger fit; see `FitPart.summary`."""
    table = coefficient_table(res, odds=odds, max_rows=max_rows, sort=sort)
    title = f"{model_title(res)}: only the worths of a {whole.__name__}"
    notes = [*_estimate_notes(res, odds), *_prior_notes(res), *res.covariance.notes]
    notes.append(Qualifying("Not a fit of its own: no likelihood, deviance or test of fit."))
    return replace(table, title=title, head=head_lines(res), notes=(*notes, *res.comparisons.notes))


def coefficient_table(res: Estimates, *, odds: bool, max_rows: int = MOST_ROWS, sort: Sort = "name") -> Table:
    """Return the coefficient table alone; references of main effects are shown as 0."""
    odds = odds and res.specification.link != "probit"
    return coefficient_table_of(coefficient_rows(res), res.df_inference, odds=odds, max_rows=max_rows, sort=sort)


def coefficient_table_of(rows: CoefficientRows, df: float, *, odds: bool, max_rows: int, sort: Sort) -> Table:
    """Return rows of coefficients as a table, with t on finite df."""
    rows = rows.sorted() if sort == "estimate" else rows
    fields = coefficient_fields(rows.names, rows.estimate, rows.error, rows.statistic, rows.p_value, df)
    if odds:
        factor = np.where(np.isin(rows.blocks, ("tie", "bad", "grade", "missing")), 1.0, 2.0)
        # these are no odds of an object: they belong to two answers, or to effects
        factor[np.isin(rows.blocks, ("dependence", "effects"))] = np.nan
        fields = with_odds(fields, factor)
    defined = np.flatnonzero(~np.isnan(rows.estimate)).tolist()
    shown = rows.most_informative(max_rows, defined)
    if len(shown) == len(rows.names):
        return Table(fields)
    hidden = len(defined) - len(shown)
    more = (
        f"… {counted(hidden, 'row')} hidden (lowest worths, smallest |z|): max_rows=, or res.to_frame()"
        if hidden
        else ""
    )
    return Table(fields, shown=shown, more=more, asked=max_rows != MOST_ROWS)


def with_odds(fields: tuple[Field, ...], factor: FloatArray) -> tuple[Field, ...]:
    """Return the columns of coefficients with odds beside the estimates: exp(factor × estimate)."""
    with np.errstate(over="ignore"):
        odds = Field("odds", "Odds", np.exp(factor * np.asarray(fields[1].values)), "number", 3)
    return (*fields[:2], odds, *fields[2:])


def model_title(res: Estimates) -> str:
    """Return the name of the model for the title of the summary."""
    if res.log_linear:
        return "Log-linear Bradley-Terry model"
    if res.specification.link == "probit":
        return "Thurstone model" + (" with cuts" if res.response.width > 1 else "")
    return "Cumulative Bradley-Terry model"


def coefficient_fields(
    names: Sequence[str],
    estimate: FloatArray,
    error: FloatArray,
    statistic: FloatArray,
    p_value: FloatArray,
    df: float,
) -> tuple[Field, ...]:
    """Return the columns of a coefficient table with R's headings, for z or for t with finite df."""
    letter = "z" if np.isinf(df) else "t"
    return (
        Field("term", "", list(names)),
        Field("estimate", "Estimate", estimate, "estimate"),
        Field("std_error", "Std. Error", error, "estimate"),
        Field("statistic", f"{letter} value", statistic, "statistic"),
        Field("p_value", f"Pr(>|{letter}|)", p_value, "p_value"),
        Field("", "", p_value, "stars"),
    )


def head_lines(res: Estimates, elsewhere: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the lines on formula, data and outcomes.

    `elsewhere` maps a covariate that is not in the formula of `res` to a phrase that states how the fit uses it.
    """
    lines = [
        f"Formula: {res.specification.formula}",
        f"Data: {'; '.join(_data(res, elsewhere or {}))}",
        _ties(res),
        *_bad(res),
        *_grades(res),
    ]
    lines += [] if res.specification.link == "adjacent" else [f"Link: {_LINKS[res.specification.link]}"]
    worths = worths_in_order(res)
    return (*lines, f"Worth: {worths}") if worths else tuple(lines)


def _data(res: Estimates, elsewhere: Mapping[str, str]) -> list[str]:
    c = res.comparisons
    reference = f" (reference {res.design.reference})" if res.design.reference_rows else ""
    sizes = (
        f"{format_count(len(c.objects))} objects{reference}, {counted(len(c), 'comparison')}, "
        f"{counted(c.n_judgments, 'judgment')}"
    )
    order = ["object_i shown first"] if c.keeps_order else []
    return [sizes, *order, *_covariates(res, elsewhere)]


def as_clusters(groups: Sequence[str]) -> dict[str, str]:
    """Return `elsewhere` of `head_lines` for covariates that a fit uses only as clusters."""
    return dict.fromkeys(groups, "only as clusters")


def _covariates(res: Estimates, elsewhere: Mapping[str, str]) -> list[str]:
    """Return for each covariate whether it has numbers or labels, and its reference level if the formula uses it."""
    c = res.comparisons
    used = as_clusters(res.specification.groups) | dict(elsewhere)
    formula = parse(res.specification.formula, vocabulary(c))
    phrases = []
    for column in (*c.columns, *c.sides, *c.object_columns):
        kind = "numeric" if column.numeric else f"{len(column.levels)} levels"
        if column.name in formula.variables:
            phrases.append(f"{column.name}: {kind}{levels_note(column, formula)}{_reference_level(res, column.name)}")
        elif column.name in c.covariates:
            phrases.append(f"{column.name}: {kind}, {used.get(column.name, 'not in the formula')}")
    return phrases


def integer_levels(res: Estimates) -> str:
    """Return notes on integer covariates that the formula took as labels."""
    return "".join(f"; {phrase}" for phrase in _covariates(res, {}) if INTEGERS in phrase)


def _reference_level(res: Estimates, name: str) -> str:
    """Return which level of a covariate is 0, by term if they differ; empty for other codings and for numbers."""
    terms_by_level: dict[object, list[str]] = {}
    for variable, term, level in res.design.levels:
        if variable == name:
            terms_by_level.setdefault(level, []).append(term)
    where = len(terms_by_level) > 1
    levels = [
        ("no reference" if level is None else f"reference {level}") + (f" in {', '.join(terms)}" if where else "")
        for level, terms in terms_by_level.items()
    ]
    return "".join(f", {text}" for text in levels)


def _ties(res: Estimates) -> str:
    c = res.comparisons
    if not c.has_ties:
        return "Ties: no tie category"
    share = format_percent(c.n_ties / c.n_judgments)
    return f"Ties: {share}" if "tie" in res.design.blocks else f"Ties: {share}, not modelled (γ = 0); add + tie"


def _bad(res: Estimates) -> list[str]:
    """Return how many judgments are "both bad", if judges could say so."""
    c = res.comparisons
    if not c.response.has_bad:
        return []
    modelled = "" if "bad" in res.design.blocks else ", not modelled (γ = 0); add + bad"
    return [f"Both bad: {format_percent(c.n_bad / c.n_judgments)}{modelled}"]


def _grades(res: Estimates) -> list[str]:
    """Return for graded judgments the grades, and how many judgments have a grade beyond the first."""
    c = res.comparisons
    if not c.response.grades:
        return []
    beyond = c.response.loadings[:, list(c.response.grades.values())].any(axis=1)
    share = format_percent(float(c.outcome_counts[:, beyond].sum()) / c.n_judgments)
    modelled = "" if "grade" in res.design.blocks else ", not modelled (γ = 0); add + grade"
    return [f"Grades: {' > '.join(c.response.outcomes)}, {share} beyond the first{modelled}"]


def worths_in_order(res: Estimates) -> str:
    """Return the worths in order, only the best of many; without a single order, the reason and what to use instead.

    For graded judgments and cumulative links the probability of being preferred is used instead; no worths are
    proportional to it.
    """
    c, units = res.comparisons, list(res.design.worth.units)
    if "worth" not in res.design.blocks:
        return ""
    if res.aliased:
        return "not determined for all objects: llbt.worth(res)"
    if units != ["object"]:
        return f"by {' and '.join(name for name in units if name != 'object')}, llbt.worth(res)"
    if not res.response.plain_odds:
        return "as the probability of being preferred, given a decision, llbt.worth(res)"
    worth = np.empty(len(c.objects))
    estimates = np.asarray(res.params, dtype=np.float64)
    worth[res.design.worth.units["object"]] = np.exp(2 * (res.design.worth.matrix @ estimates))
    worth /= worth.sum()
    ranked = np.argsort(-np.round(np.log(worth), 9), kind="stable")  # equal worths keep the order of the objects
    text = f"{c.objects[ranked[0]]} {format_share(worth[ranked[0]])}"
    shown = ranked if len(ranked) <= _MOST_WORTHS else ranked[:_BEST]
    for before, k in itertools.pairwise(shown):
        relation = "=" if np.isclose(worth[before], worth[k], rtol=1e-9) else ">"
        text += f" {relation} {c.objects[k]} {format_share(worth[k])}"
    rest = len(ranked) - len(shown)
    return f"{text} > … ({format_count(rest)} more: llbt.worth(res))" if rest else text


def _foot(res: PlainEstimates) -> tuple[str, ...]:
    null, residual = format_number(res.null_deviance), format_number(res.deviance if res.df_resid else 0.0)
    width, digits = max(len(null), len(residual)), len(str(res.df_null))
    return (
        f"    Null deviance: {null:>{width}}  on {res.df_null:>{digits}}  degrees of freedom",
        f"Residual deviance: {residual:>{width}}  on {res.df_resid:>{digits}}  degrees of freedom{_fit(res)}",
        f"Pearson X²: {format_number(res.pearson_chi2) if res.df_resid else '0'}",
        *_likelihood(res),
        solver_line(res),
    )


def _likelihood(res: PlainEstimates) -> tuple[str, ...]:
    if _traced(res):
        poisson = (res.llf_poisson, res.aic_poisson) if res.log_linear else None
        return likelihood_lines(res.llf, res.aic, res.bic, poisson)
    return (f"Log-likelihood of the judgments: {format_figure(res.llf)} (AIC and BIC by res.aic and res.bic)",)


def _traced(res: PlainEstimates) -> bool:
    """Whether effective parameters are cheap to compute; with a prior they need the covariance of all estimates."""
    return res.specification.prior is None or res.specification.reduces_bias or len(res.free) <= _MOST_TRACED


def likelihood_lines(llf: float, aic: float, bic: float, poisson: tuple[float, float] | None = None) -> tuple[str, ...]:
    """Return the criteria of the judgments, and log-likelihood and AIC of the Poisson counts, as R has them."""
    lines = (
        f"Log-likelihood of the judgments: {format_figure(llf)}   AIC: {format_figure(aic)}   "
        f"BIC: {format_figure(bic)}",
    )
    if poisson is None:
        return lines
    counts, of_counts = map(format_figure, poisson)
    return (*lines, f"Log-likelihood of the counts (Poisson, R's glm): {counts}   AIC: {of_counts}")


def solver_line(res: PlainEstimates) -> str:
    """Return how the likelihood was maximized."""
    if res.solution.solver == "glm":
        return f"statsmodels GLM: {counted(res.n_iter, 'Fisher scoring iteration')}"
    eliminated = "Newton, nuisance parameters eliminated" if res.log_linear else "Newton"
    checked = "; checked by statsmodels GLM" if res.solution.solver == "eliminate, glm" else ""
    return f"{eliminated}: {counted(res.n_iter, 'step')}{checked}"


def _fit(res: PlainEstimates) -> str:
    if res.df_resid == 0:
        return " (saturated)"
    if res.specification.groups:  # χ² would be that of independent judgments; goodness_of_fit uses the clusters
        return " (no χ² test of fit: clustered)"
    possible, _ = chi2_reservation(res.solution.means)
    if not possible:
        return " (no χ² test of fit)"
    p = format_p(chi2_p_value(res.deviance, res.df_resid))
    p = f"p {p}" if p.startswith("<") else f"p = {p}"
    return f" (χ² test of fit: {p})"


def _estimate_notes(res: Estimates, odds: bool) -> list[str]:
    """Return notes on the meaning of the estimates, and on parameters that are not determined or were held."""
    notes = [*scale_notes(res, odds)]
    if res.design.sums:
        words = dict.fromkeys(res.design.blocks[columns[0]] for _, _, columns in res.design.sums)
        terms = " and ".join(f"{word}:object" for word in words)
        notes.append(f"{terms}: effects of both objects are added; over all objects they sum to 0.")
    return [*notes, *aliased_notes(res.aliased), *held_notes(res.fixed)]


def _prior_notes(res: Estimates, more: str = "") -> list[str]:
    """Return a note on the prior of the estimates, if there is one."""
    prior = res.specification.prior
    if isinstance(prior, str):
        return [
            Qualifying(
                "Estimates use Firth's bias reduction. Deviance, likelihood, AIC and BIC are computed at these "
                "estimates, below the maximum."
            )
        ]
    if isinstance(prior, Ridge):
        return [Qualifying(prior.text)]
    return [] if prior is None else [prior_note(float(prior), more)]


def _effective_params(res: PlainEstimates) -> str:
    """Return the number of effective parameters under a prior, if it is cheap to compute."""
    if res.specification.prior is None or res.specification.reduces_bias or not _traced(res):
        return ""
    effective = format_number(res.effective_params, 4)
    return f", which is not in the likelihood. AIC and BIC count {effective} effective parameters"


def _notes(res: PlainEstimates, odds: bool) -> tuple[str, ...]:
    notes = [*_estimate_notes(res, odds), *_prior_notes(res, _effective_params(res)), *res.covariance.notes]
    notes += fractional_notes(res.counts, res.specification.groups, res.comparisons.clusters)
    notes += _kept_clusters(res)
    if not res.converged:
        notes.append(NOT_CONVERGED)
    tested = res.df_resid and not res.specification.groups
    reservation = chi2_reservation(res.solution.means)[1] if tested else ""
    return (*notes, *([reservation] if reservation else []), *res.comparisons.notes)


def aliased_notes(aliased: Sequence[str]) -> tuple[str, ...]:
    """Return a note on parameters that are not determined, counted as in R."""
    if not aliased:
        return ()
    return (Qualifying(f"{len(aliased)} not defined because of singularities (NA): {named(aliased)}."),)


def held_notes(fixed: Mapping[str, float]) -> tuple[str, ...]:
    """Return a note on parameters held at a value, with these values."""
    values = [f"{name} = {format_number(value, 4)}" for name, value in fixed.items()]
    return (f"Held, not estimated: {named(values)}.",) if values else ()


def prior_note(prior: float, more: str = "") -> Qualifying:
    """Return the note on a prior."""
    return Qualifying(
        f"Estimates use a prior of {prior:.4g} {'judgment' if prior == 1 else 'judgments'} per pair{more}."
    )


def scale_notes(res: Estimates, odds: bool) -> list[str]:
    """Return notes on the meaning of the estimates and of their odds."""
    return _log_linear_notes(res, odds) if res.log_linear else _notes_of_link(res, odds)


def _log_linear_notes(res: Estimates, odds: bool) -> list[str]:
    """Return notes on the meaning of a log-linear model's estimates and of their odds."""
    if res.comparisons.response.grades:
        notes = [
            "Estimates are log-worths λ: odds of the first grade are exp(2(λᵢ − λⱼ)).",
            "The log mean of score h is μ + h(λᵢ − λⱼ) + γ; llbt.pairwise has all odds.",
        ]
    else:
        notes = ["Estimates are log-worths λ: the odds of i over j are exp(2(λᵢ − λⱼ))."]
    used = [_ODDS[block] for block in _ODDS if block in res.design.blocks]
    shared = [_SHARED[block] for block in _SHARED if block in res.design.blocks]
    used += [f"exp(γ) of {', '.join(shared)}"] if shared else []
    return [*notes, f"Odds: {', '.join(used)}; interactions multiply."] if odds and used else notes


def _notes_of_link(res: Estimates, odds: bool) -> list[str]:
    """Return notes on the meaning of a cumulative link's estimates."""
    cuts = [_CUTS[word] for word in _CUTS if word in res.design.blocks]
    if res.specification.link == "probit":
        notes = ["Estimates are log-worths λ: 2(λᵢ − λⱼ) is in standard deviations of a judgment."]
    else:
        notes = ["Estimates are log-worths λ: exp(2(λᵢ − λⱼ)) multiplies the odds above a cut."]
    notes.append("llbt.pairwise has the odds of being preferred, given a decision.")
    notes += [f"Cuts: {'; '.join(cuts)}."] if cuts else []
    if odds and res.specification.link == "cumulative":
        notes.append("Odds: exp(2λ), exp(2δ), and exp(θ) of cuts (Rao & Kupper's θ); interactions multiply.")
    return notes


def _kept_clusters(res: PlainEstimates) -> tuple[str, ...]:
    """Return how clusters of the table would change standard errors, if a fit takes judgments as independent."""
    spec = res.specification
    if spec.cov_type != "nonrobust" or res.covariance.notes:
        return ()
    if not res.comparisons.clusters:
        return _unkept_units(res.comparisons)
    unit = unit_of(res)
    if unit.unit is None:
        return ()
    call = f"cov_type='cluster', groups={unit.unit.groups!r}"
    return (Qualifying(f"Judgments are taken as independent. {unit.if_clustered}. To cluster: {call}."),)


def _unkept_units(c: Comparisons) -> tuple[str, ...]:
    """Return a note on columns that the table does not keep, within which judgments may depend on each other."""
    names = [name for name in (c.called.get(unit, unit) for unit in _UNITS) if name in c.unkept]
    if not names:
        return ()
    subject, asked = (f"{names[0]} was", names[0]) if len(names) == 1 else (f"{' and '.join(names)} were", names)
    return (
        Qualifying(
            f"Judgments are taken as independent, and {subject} not kept. To cluster: "
            f"from_judgments(…, clusters={asked!r}), fit(…, cov_type='cautious')."
        ),
    )
