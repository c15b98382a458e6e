"""The model of patterns, and the dependence, ties and missingness of answers, in sentences."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from ..auditing.finding import p_text
from ..base.table import counted, format_count, format_number, format_percent
from ..core.patterns import MISSING
from ..core.statistics import TestResult, chi2_p_value
from ..fitting.pattern_estimates import PatternEstimates
from ..fitting.prediction import codings_of
from ..kernel.patterns import products_of
from .pattern_shares import pattern_shares
from .preference_words import Decisions, Sentence, interval_text, odds_text

_ASKED = {
    "comparisons": "the answers of {} to {}",
    "rankings": "the rankings of {}, taken as answers to {}",
    "ratings": "the ratings of {}, taken as answers to {}",
}
_WITHOUT = ", apart from their dependence on other answers,"
_HELD = ", with all other answers of the judge held fixed,"
_COMPARED = " The worths at one time are conditional on the answers at other times. Compare times by res.predict()."
_ADJACENT = ", where they stand next to each other,"


def pattern_model(res: PatternEstimates) -> Sentence:
    """State the fitted model and its data."""
    p = res.patterns
    judges = float(p.n_judges)
    what = _ASKED[p.kind].format(counted(judges, "judge"), counted(len(p.distinct_pairs), "pair"))
    objects = f"{format_count(len(p.objects))} objects"
    objects += f" at {format_count(p.n_times)} times ({p.times.name})" if p.times is not None else ""
    text = f"A pattern model ({res.specification.formula}), in which all answers of a judge are one observation, "
    text += f"was fitted to {what} of {objects}."
    figures = {"judges": judges, "pairs of objects": float(len(p.distinct_pairs)), "objects": float(len(p.objects))}
    return text, figures | ({"times": float(p.n_times)} if p.times is not None else {})


def pattern_decisions(res: PatternEstimates) -> Decisions:
    """Return the condition of the odds, and the share of decisions summed over all possible answers."""
    return Decisions(pattern_shares(res).share, held_of(res))


def held_of(res: PatternEstimates) -> str:
    """Return which other answers the odds of one answer leave out or hold fixed; empty for independent answers.

    With dependence the log-odds of an answer are 2(λ_i − λ_j) + 2 Σ θ y over the answers y that it depends on.
    """
    if res.dependent:
        return _WITHOUT
    return {"comparisons": "", "rankings": _ADJACENT, "ratings": _HELD}[res.patterns.kind]


def pattern_ties(res: PatternEstimates, confidence: float) -> Sentence:
    """State how many answers are ties, and the odds of a tie between equal objects."""
    p = res.patterns
    if not p.has_ties:
        return "", {}
    given = p.counts @ (p.answers != MISSING)
    share = float((p.counts @ (p.answers == 0)).sum() / given.sum())
    text, numbers = f"{format_percent(share)} of the answers are ties", {"share of ties": share}
    if "tie" not in res.design.blocks:
        return f"{text}, which the model does not describe (γ = 0): add + tie.", numbers
    if "tie" not in res.names or np.isnan(res.params["tie"]):
        return f"{text}.", numbers
    odds, low, high = _odds(res, "tie", confidence)
    numbers |= {"odds of a tie": odds, "low of a tie": low, "high of a tie": high}
    where = "" if res.design.terms.count("tie") == res.design.blocks.count("tie") else " at the reference levels"
    sentence = f"between equally good objects{where}{held_of(res)} the odds of a tie against a win of either"
    return f"{text}; {sentence} are {odds_text(odds)} ({interval_text(low, high, confidence)}).", numbers


def pattern_dependence(res: PatternEstimates, confidence: float) -> Sentence:
    """State whether answers to pairs that share an object depend on each other, and which two depend most."""
    if not res.dependence.by:
        independent = res.patterns.kind == "comparisons"
        at = " at a time" if res.patterns.times is not None else ""
        text = f"The answers of a judge{at} are taken as independent. Add + dependence if they are not."
        return (text if independent else ""), {}
    names = dependence_of(res)
    test = _wald(res, list(names), "answers to pairs that share an object are independent of each other")
    text, numbers = _independence(test, "pairs that share an object", "dependence", confidence)
    if not text:
        return "", numbers
    shared = list(names)[: len(products_of(res.patterns.distinct_pairs))]
    strongest = max(shared, key=lambda name: abs(float(res.params[name])))
    theta = float(res.params[strongest])
    low, high = _bounds(res, strongest, confidence)
    one, other = names[strongest]
    numbers |= {"largest theta": theta, "low of largest theta": low, "high of largest theta": high}
    differences = list(names)[len(shared) :]
    if test.p_value < 1 - confidence:
        together = f"preferring {one} goes with {'preferring' if theta > 0 else 'not preferring'} {other}"
        where = " at the reference levels" if differences else ""
        text += f"; most of all{where} {together} (θ {format_number(theta, 3)}, {interval_text(low, high, confidence)})"
    if not differences:
        return f"{text}.", numbers
    by = " and ".join(res.dependence.by[1:])
    apart = _wald(res, differences, f"dependence is the same by {by}")
    numbers |= {"chi2 by covariates": apart.statistic, "p by covariates": apart.p_value}
    differ = "differs" if apart.p_value < 1 - confidence else "does not differ significantly"
    return f"{text}. The dependence {differ} by {by} ({_figures(apart)}).", numbers


def pattern_persistence(res: PatternEstimates, confidence: float) -> Sentence:
    """State whether judges repeat their answers from time to time, and for which pair most."""
    if res.patterns.times is None:
        return "", {}
    if not res.dependence.persistence:
        return (
            "The answers of a judge at different times are taken as independent. Add + persistence if they are not.",
            {},
        )
    names = persistence_of(res)
    test = _wald(res, list(names), "answers to a pair at consecutive times are independent of each other")
    text, numbers = _independence(test, "the same pair at consecutive times", "persistence", confidence)
    if not text:
        return "", numbers
    by_time = res.patterns.times.name in codings_of(res.average).blocks["worth"].variables
    compared = _COMPARED if by_time else ""
    if test.p_value >= 1 - confidence:
        return f"{text}.{compared}", numbers
    strongest = max(names, key=lambda name: abs(float(res.params[name])))
    theta = float(res.params[strongest])
    low, high = _bounds(res, strongest, confidence)
    numbers |= {"largest persistence": theta, "low of persistence": low, "high of persistence": high}
    repeated = "repeat" if theta > 0 else "reverse"
    text += f"; most of all judges {repeated} whether they prefer {names[strongest][0]} (θ {format_number(theta, 3)}, "
    return f"{text}{interval_text(low, high, confidence)}).{compared}", numbers


def pattern_missing(res: PatternEstimates, confidence: float) -> Sentence:
    """Describe how many answers are missing, and whether missingness depends on the answer."""
    p = res.patterns
    if p.complete:
        return "", {}
    share = float((p.counts @ (p.answers == MISSING)).sum() / (p.counts.sum() * p.answers.shape[1]))
    text, numbers = f"{format_percent(share)} of the answers are missing", {"share of missing answers": share}
    if res.missingness is None:
        return f"{text}, which is taken as independent of what they would be.", numbers
    slopes = [name for name in res.missingness.names if name.startswith("missing:preferred")]
    if not slopes:
        return f"{text}, which is modelled as independent of what they would be.", numbers
    test = _wald(res, slopes, "missing answers do not depend on what they would be")
    numbers |= {"chi2 of missing": test.statistic, "df of missing": test.df, "p of missing": test.p_value}
    if np.isnan(test.p_value):
        return f"{text}.", numbers
    depends = "it depends" if test.p_value < 1 - confidence else "there is no sign that it depends"
    return f"{text}; {depends} on what they would be ({_figures(test)}), if the model is right.", numbers


def dependence_of(res: PatternEstimates) -> dict[str, tuple[str, str]]:
    """Return the two preferences that each parameter of dependence connects: ``A to B`` and ``A to C``.

    Parameters that all judges share stand first, then differences by covariates.
    """
    products, preferences = products_of(res.patterns.distinct_pairs), _preferences(res)
    names, _ = _theta_names(res)
    return {name: (preferences[a], preferences[b]) for name, (a, b) in zip(names, cycle(products), strict=False)}


def persistence_of(res: PatternEstimates) -> dict[str, tuple[str, str]]:
    """Return the two preferences that each parameter of persistence connects: ``A to B`` at a time and at the next."""
    _, names = _theta_names(res)
    return {name: (text, f"{text} at the next time") for name, text in zip(names, _preferences(res), strict=False)}


def _theta_names(res: PatternEstimates) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the parameters of dependence, and of persistence."""
    names = res.names_beside if res.missingness is None else res.names_beside[: -res.missingness.size]
    cut = len(names) - (len(res.patterns.distinct_pairs) if res.dependence.persistence else 0)
    return names[:cut], names[cut:]


def _preferences(res: PatternEstimates) -> list[str]:
    """Return the preference for the first object of each pair: ``A to B``."""
    p = res.patterns
    return [f"{p.objects[i]} to {p.objects[j]}" for i, j in p.distinct_pairs]


def dependence_test(res: PatternEstimates) -> TestResult:
    """Test by Wald's statistic that no answers depend on each other."""
    names = [*dependence_of(res), *persistence_of(res)]
    return _wald(res, names, "the answers of a judge are independent of each other (all θ = 0)")


def _wald(res: PatternEstimates, names: list[str], null: str) -> TestResult:
    estimate, cov = res.params[names].to_numpy(), res.cov_params().loc[names, names].to_numpy()
    if not (np.isfinite(estimate).all() and np.isfinite(cov).all()):
        return TestResult("Wald test", null, np.nan, len(names), np.nan, "chi2")
    statistic = float(estimate @ np.linalg.solve(cov, estimate))
    return TestResult("Wald test", null, statistic, len(names), chi2_p_value(statistic, len(names)), "chi2")


def _independence(test: TestResult, pairs: str, what: str, confidence: float) -> Sentence:
    """State whether answers to these pairs depend on each other, without a full stop; empty if p is NaN."""
    numbers = {f"chi2 of {what}": test.statistic, f"df of {what}": test.df, f"p of {what}": test.p_value}
    if np.isnan(test.p_value):
        return "", numbers
    depend = "depend" if test.p_value < 1 - confidence else "do not depend significantly"
    return f"The answers of a judge to {pairs} {depend} on each other ({_figures(test)})", numbers


def _figures(test: TestResult) -> str:
    return f"Wald χ² = {format_number(test.statistic, 3)} on {format_count(test.df)} df, {p_text(test.p_value)}"


def _odds(res: PatternEstimates, name: str, confidence: float) -> tuple[float, float, float]:
    """Return the exponential of a parameter with its interval."""
    low, high = _bounds(res, name, confidence)
    with np.errstate(over="ignore"):
        return float(np.exp(float(res.params[name]))), float(np.exp(low)), float(np.exp(high))


def _bounds(res: PatternEstimates, name: str, confidence: float) -> tuple[float, float]:
    low, high = res.conf_int(1 - confidence).to_numpy()[res.names.index(name)]
    return float(low), float(high)
