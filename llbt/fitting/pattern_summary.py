"""The printout of a fit to patterns, as R prints a model."""

from __future__ import annotations

from dataclasses import replace

from ..base.table import Qualifying, Table, format_count, format_number, format_percent
from ..core.patterns import MISSING
from ..errors import listed
from ..kernel.independent_pairs import IndependentPairs
from .extra_rows import data_lines, fit_lines, rows_beside
from .pattern_estimates import PatternEstimates
from .summary import NOT_CONVERGED, aliased_notes, coefficient_table_of, scale_notes, worths_in_order
from .summary_rows import Sort

_POSSIBLE = {
    "comparisons": "every sequence of answers",
    "rankings": "the orders of the objects",
    "ratings": "the orders of the objects, with ties",
}
_LEVELS = {
    "common": "equally likely for every pair (α)",
    "object": "by object (αᵢ + αⱼ)",
    "comparison": "by pair (α of each)",
}
_SLOPES = {
    "object": "by which object is preferred (βᵢ − βⱼ)",
    "comparison": "by which object of a pair is preferred (β of each)",
}
_ALPHA = {
    "common": "missing is α, the log-odds that an answer is missing",
    "object": "missing[A] is αᵢ: a pair's answer is missing with log-odds αᵢ + αⱼ",
    "comparison": "missing[A:B] is α of a pair, the log-odds that its answer is missing",
    "named": "missing is α, the log-odds that an answer is missing; missing[A] is αᵢ, which pairs with A add to it",
}
_BETA = {
    "object": "missing:preferred[A] is βᵢ: these log-odds rise by βᵢ − βⱼ where i is preferred.",
    "comparison": "missing:preferred[A:B] is β: these log-odds rise by β where A is preferred.",
    "named": "missing:preferred[A] is βᵢ: these log-odds rise by βᵢ − βⱼ where i is preferred; other β are 0.",
}


def pattern_summary(res: PatternEstimates, *, odds: bool, max_rows: int, sort: Sort) -> Table:
    """Return the summary of a fit to patterns; see `PatternResults.summary`."""
    table = coefficient_table_of(
        rows_beside(res, _terms(res)), res.df_inference, odds=odds, max_rows=max_rows, sort=sort
    )
    foot = fit_lines(res, "patterns and their missing answers" if res.missingness else "patterns")
    notes = (*_notes(res, odds), *res.patterns.notes)
    return replace(table, title="Pattern model", head=_head(res), foot=foot, notes=notes)


def _terms(res: PatternEstimates) -> list[str]:
    """Return the term of each parameter that is not in the design."""
    missing = res.missingness.size if res.missingness else 0
    return ["dependence"] * (len(res.names_beside) - missing) + ["missing"] * missing


def _head(res: PatternEstimates) -> tuple[str, ...]:
    p, pairs = res.patterns, res.comparisons
    lines = data_lines(res, res.formula, p.size_texts())
    if pairs.has_ties:
        modelled = "" if "tie" in res.design.blocks else ", not modelled (γ = 0); add + tie"
        lines.append(f"Ties: {format_percent(pairs.n_ties / pairs.n_judgments)}{modelled}")
    if not p.complete:
        share = p.counts @ (p.answers == MISSING).mean(axis=1) / p.counts.sum()
        lines.append(f"Missing answers: {format_percent(share)}, {_missing_text(res)}")
    at = f" at {p.n_times} times" if p.times is not None else ""
    lines.append(f"Possible patterns: {_POSSIBLE[p.kind]}{at}{_number(res)}")
    worths = worths_in_order(res.average)
    return (*lines, f"Worth: {worths}") if worths else tuple(lines)


def _missing_text(res: PatternEstimates) -> str:
    missing, answers = res.specification.missing, res.specification.not_at_random
    if res.missingness is None:
        return "summed over as missing at random"
    by = _LEVELS[missing] if isinstance(missing, str) else f"the same (α), and more for {listed(missing)} (αᵢ)"
    if answers is None:
        return by
    preferred = (
        _SLOPES[answers] if isinstance(answers, str) else f"by whether one of {listed(answers)} is preferred (βᵢ)"
    )
    return f"{by}, and {preferred}"


def _number(res: PatternEstimates) -> str:
    if res.likelihood is None or isinstance(res.likelihood.space, IndependentPairs):
        return "; without dependence no sum over them is needed"
    return f", {format_count(res.likelihood.space.number)}"


def _notes(res: PatternEstimates, odds: bool) -> tuple[str, ...]:
    notes = scale_notes(res.average, odds)
    if res.dependence.by:
        notes.append("I12.13 is θ of the pairs 1:2 and 1:3. If θ is above 0, their answers go together.")
    if len(res.dependence.by) > 1:
        notes.append("I12.13:… is how much θ differs from θ at the covariate's reference level.")
    if res.dependence.persistence:
        notes.append("persistence[A:B] is θ of a pair at consecutive times. If it is above 0, judges repeat answers.")
        notes.append(
            Qualifying("Worths of a time are conditional on answers at other times. Compare times: res.predict().")
        )
    if res.dependent:
        notes.append("λ is half the log-odds of a preference with all other answers held.")
    notes += aliased_notes(res.aliased)
    notes += [*_missing_notes(res, odds), *res.covariance.notes]
    if not res.converged:
        notes.append(NOT_CONVERGED)
    return tuple(notes)


def _missing_notes(res: PatternEstimates, odds: bool) -> list[str]:
    """Return notes on the parameters of missing answers, and on what the data do not show."""
    if res.missingness is None or res.likelihood is None:
        return []
    missing, answers = res.specification.missing, res.specification.not_at_random
    alpha = _ALPHA[missing if isinstance(missing, str) else "named"]
    notes = [f"{alpha}{' (Odds: of being missing)' if odds else ''}."]
    if answers is not None:
        beta = _BETA[answers if isinstance(answers, str) else "named"]
        notes += [beta, "Worths describe all answers, including the missing ones."]
        notes.append(Qualifying("Missing answers were not observed: β rests on the form of the model, too."))
    silent = res.likelihood.silent(res.solution.params)
    notes.append(
        Qualifying(
            "Judges without any answer are not in the data, and the model does not allow for them: it expects "
            f"{format_number(silent, 2)} of them in addition to these {format_count(res.n_judgments)} judges."
        )
    )
    return notes
