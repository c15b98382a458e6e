"""A fit in plain words: one paragraph for a results section."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ..auditing.finding import p_text
from ..base.arguments import Confidence, checked
from ..base.table import (
    Field,
    Record,
    Table,
    counted,
    format_count,
    format_number,
    format_percent,
)
from ..core.statistics import TestResult
from ..errors import DesignError, printable
from ..fitting.best_worst_effects import BestWorstEffects
from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.estimates import Estimates
from ..fitting.fitted import ClassSource, OneSource, WithWorths, plain_of
from ..fitting.hypotheses import score_test, wald_test
from ..fitting.mixed_results import MixedResults
from ..fitting.pattern_results import PatternResults
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.ranking_results import RankingResults
from ..fitting.results import LLBTResults
from ..fitting.ridge import Ridge
from ..fitting.summary import model_title
from ..formulas.grammar import parse, vocabulary
from ..inference.goodness import GoodnessOfFit, goodness_of_fit
from ..inference.nested import few_judgments
from ..judges.calibrate import Calibration
from ..judges.class_fit import LatentClasses
from .calibration_words import calibration_topics
from .class_words import class_topics
from .judge_words import discrimination_sentence, judge_sentence
from .pattern_words import (
    pattern_decisions,
    pattern_dependence,
    pattern_missing,
    pattern_model,
    pattern_persistence,
    pattern_ties,
)
from .preference_words import Sentence, interval_text, odds_text, worth_sentences
from .ranking_words import ranking_model, ranking_ties

_SIMULATED = 199  # tables drawn from the model where χ² does not hold
_SMALL = "Too many fitted counts are below 5 to test the fit with χ²"
_SIMULATED_CELLS = 20_000  # cells of a table up to which this takes no more than some seconds


@dataclass(frozen=True, repr=False, eq=False)
class Interpretation(Record):
    """A fit in plain words.

    Made by `interpret`.

    Attributes
    ----------
    sentences : mapping of str to str
        The sentences on each topic: model, preference, differences, ties, bad, grades, order, covariates, judges, fit;
        for patterns dependence, persistence and missing answers; for latent classes each class and all judges; for
        calibrated worths machines, correction and checks. Empty topics are left out.
    figures : mapping of str to float
        The numbers behind the words, unrounded.
    """

    sentences: Mapping[str, str]
    figures: Mapping[str, float]

    @property
    def text(self) -> str:
        """The paragraph, in one line."""
        return printable(" ".join(self.sentences.values()))

    def table(self) -> Table:
        """Return one row per topic: topic, sentence."""
        return Table(
            (
                Field("topic", "Topic", list(self.sentences)),
                Field("sentence", "In words", list(self.sentences.values())),
            )
        )

    def _as_printed(self) -> Table:
        """Return the paragraph."""
        return Table((), head=(self.text,))


@checked
def interpret(res: WithWorths | OneSource | ClassSource, *, confidence: Confidence = 0.95) -> Interpretation:
    """Return a paragraph for a results section: the preferred object, the size of the differences, and their certainty.

    Parameters
    ----------
    res : a fit of any kind, except for very many objects; Calibration or LatentClasses
        With effects of judges, the sentences are about the average judge, then about differences between judges and the
        preference of a new judge. With effects of objects, worths are predictions, and no pair is tested. With
        discriminations, the sentences are about a judge of discrimination 1, then about differences between judges. For
        lists, odds are for one object being ranked before another. For patterns, odds leave out the dependence on other
        answers; shares of decisions are summed over all answers. For latent classes, the sentences are about each
        class, then about a judge of unknown class. For calibrated worths, the sentences are about the corrected
        estimates, then about the gain from the machines.
    confidence : float
        The confidence of the intervals; 1 − confidence is the level of significance.

    Returns
    -------
    Interpretation
        ``print(…)`` and ``str(…)`` give the paragraph, ``.sentences`` its parts, ``.figures`` the numbers.

    Notes
    -----
    Worths that differ by covariates are averaged over the judgments of the table: log-odds for the odds, and
    probabilities for the share of decisions, as a count of decisions would estimate it. Two objects are compared by
    Wald's test. With more objects, all pairs are compared, with p-values and intervals adjusted for all pairs
    (single-step), as in `pairwise`. Whether worths or ties differ by a covariate is tested jointly by
    ``res.wald_test``: by Wald's test with the covariance of the fit or, with clusters, by the score test that flips the
    signs of the clusters' scores. With fewer than 15 judgments per parameter, where Wald's test rejects too rarely,
    Rao's score test is used.

    The deviance tests the fit against χ². If more than a fifth of the fitted counts are below 5, X² is compared with
    199 tables drawn from the model instead. With these sparse tables, χ² would reject a true model at the 5 % level
    between never and almost always by the deviance, and in 2 to 15 % by X² (six designs of four to ten objects, 400
    tables each).

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    >>> print(llbt.interpret(res).sentences["differences"])
    The odds of + over - are 1.74 (95 % interval 1.15 to 2.64, p = 0.00880), so + is preferred in 63.5 % of decisions.

    A pattern model of rankings:

    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"A": [1, 2, 1, 1, 3], "B": [2, 1, 3, 2, 1], "C": [3, 3, 2, 3, 2]})
    >>> res = llbt.fit("object", llbt.from_patterns(ranks, "rankings", objects=["A", "B", "C"]))
    >>> print(llbt.interpret(res).sentences["preference"])
    The order of preference is A (.477) > B (.377) > C (.146) (worths, which sum to 1).
    """
    return _paragraph(_topics(res, confidence))


@functools.singledispatch
def _topics(res: Any, confidence: float) -> Mapping[str, Sentence]:
    """Return the sentences on a fit, by topic; each kind has its function below."""
    raise AssertionError(f"no words for {type(res).__name__}")


@_topics.register(LLBTResults)
def _of_plain(res: PlainEstimates, confidence: float) -> Mapping[str, Sentence]:
    return _with_fit(res, confidence, goodness_of_fit(res) if res.converged else None)


@_topics.register(MixedResults)
def _of_effects(res: MixedResults, confidence: float) -> Mapping[str, Sentence]:
    topics = _sentences(res.average, _with_judges(res), confidence) | {"judges": judge_sentence(res)}
    topics["covariates"] = _covariates(
        res.average, confidence, {name for bracket in res.brackets for name in (bracket.grouping, bracket.by)}
    )
    return topics


@_topics.register(DiscriminationResults)
def _of_discriminations(res: DiscriminationResults, confidence: float) -> Mapping[str, Sentence]:
    topics = _sentences(res.average, _with_discriminations(res), confidence)
    topics["judges"] = discrimination_sentence(res, confidence)
    topics["covariates"] = _covariates(res.average, confidence, {res.judging.name})
    return topics


@_topics.register(RankingResults)
def _of_rankings(res: RankingResults, confidence: float) -> Mapping[str, Sentence]:
    topics = {"model": ranking_model(res)} | worth_sentences(res.average, confidence)
    topics["ties"] = ranking_ties(res, confidence)
    topics["covariates"] = _covariates(res.average, confidence, {"list"})
    return topics


@_topics.register(BestWorstEffects)
def _of_sets_with_effects(res: BestWorstEffects, confidence: float) -> Mapping[str, Sentence]:
    topics = {"model": ranking_model(res)} | worth_sentences(res.average, confidence)
    low, high = (float(x) for x in res.conf_int(1 - confidence).iloc[-1])
    spread = f"{res.scale:.2f} ({interval_text(max(low, 0.0), high, confidence)})"
    topics["judges"] = f"Log-worths differ by {res.judge} with a standard deviation of {spread}.", {"σ": res.scale}
    topics["covariates"] = _covariates(res.average, confidence, {"list"})
    return topics


@_topics.register(PatternResults)
def _of_patterns(res: PatternResults, confidence: float) -> Mapping[str, Sentence]:
    topics = {"model": pattern_model(res)} | worth_sentences(res.average, confidence, pattern_decisions(res))
    topics["ties"] = pattern_ties(res, confidence)
    topics["dependence"] = pattern_dependence(res, confidence)
    topics["persistence"] = pattern_persistence(res, confidence)
    topics["missing"] = pattern_missing(res, confidence)
    topics["covariates"] = _covariates(res.average, confidence, {"pattern", *res.dependence.by})
    return topics


@_topics.register(LatentClasses)
def _of_classes(classes: LatentClasses, confidence: float) -> Mapping[str, Sentence]:
    return class_topics(classes, confidence)


@_topics.register(Calibration)
def _of_calibrated(calibration: Calibration, confidence: float) -> Mapping[str, Sentence]:
    return calibration_topics(calibration, confidence) | {"order": _order(calibration.worth_source(), confidence)}


def interpreted(res: PlainEstimates, confidence: float, fit: GoodnessOfFit | None) -> Interpretation:
    """Return the paragraph of a fit whose test of fit is known; see `interpret`."""
    return _paragraph(_with_fit(res, confidence, fit))


def _with_fit(res: PlainEstimates, confidence: float, fit: GoodnessOfFit | None) -> Mapping[str, Sentence]:
    topics = _sentences(res, _model(res), confidence)
    topics["covariates"] = _covariates(res, confidence)
    topics["fit"] = _fit(res, confidence, fit)
    return topics


def _paragraph(sentences: Mapping[str, Sentence]) -> Interpretation:
    figures = {name: value for _, numbers in sentences.values() for name, value in numbers.items()}
    return Interpretation({topic: text for topic, (text, _) in sentences.items() if text}, figures)


def _sentences(res: Estimates, model: Sentence, confidence: float) -> dict[str, Sentence]:
    """Return the sentences on worths, ties, grades and order."""
    topics = {"model": model}
    if "worth" in res.design.blocks:
        topics |= worth_sentences(res, confidence)
    else:
        topics["preference"] = ("The model has no worths: it takes all objects as equally good.", {})
    topics["ties"] = _ties(res, confidence)
    topics["bad"] = _bad(res, confidence)
    topics["grades"] = _grades(res, confidence)
    topics["order"] = _order(res, confidence)
    return topics


# -- what was fitted -------------------------------------------------------------------------------------------


def _model(res: Estimates) -> Sentence:
    c = res.comparisons
    table = f"{counted(c.n_judgments, 'judgment')} of {format_count(len(c.objects))} objects"
    what = model_title(res).replace("Log", "log").replace("Cumul", "cumul")
    text = f"A {what} ({res.specification.formula}) was fitted to {table}"
    spec = res.specification
    if isinstance(spec.prior, str):
        text += ", with Firth's bias reduction"
    elif isinstance(spec.prior, Ridge):
        text += ", with slopes that are shrunk toward their mean"
    elif spec.prior is not None:
        text += f", with a prior of {format_number(spec.prior, 3)} judgments per pair"
    if spec.groups:
        text += f"; standard errors allow for dependence within {' and '.join(spec.groups)}"
    elif spec.cov_type == "HC0":
        text += "; standard errors are robust"
    elif spec.cov_type == "quasi":
        text += "; standard errors are scaled by the dispersion X²/df"
    held = [f"{name} at {format_number(value, 3)}" for name, value in res.fixed.items()]
    text += f"; held: {', '.join(held)}" if held else ""
    return text + ".", {"judgments": c.n_judgments, "objects": len(c.objects)}


def _with_discriminations(res: DiscriminationResults) -> Sentence:
    text, numbers = _model(res.average)
    return text[:-1] + f", with a discrimination of each {res.judging.name}.", numbers


def _with_judges(res: MixedResults) -> Sentence:
    """State the model and the data of a fit with effects of judges."""
    text, numbers = _model(res.average)
    plain = f"({res.without.specification.formula})"
    names = " and ".join(res.judges.groupings)
    return text.replace(plain, f"with normal effects of {names} ({res.specification.formula})", 1), numbers


# -- ties, order, covariates -----------------------------------------------------------------------------------


def _ties(res: Estimates, confidence: float) -> Sentence:
    c = res.comparisons
    if not c.has_ties:
        return "The table has no tie category.", {}
    share = c.n_ties / c.n_judgments
    text, numbers = f"{format_percent(share)} of the judgments are ties", {"share of ties": share}
    if "tie" not in res.design.blocks:
        return f"{text}, which the model does not describe (γ = 0): add + tie.", numbers
    parameter = _parameter(res, "tie", 1.0, confidence)
    if parameter is None:
        return f"{text}.", numbers
    if not res.log_linear:
        return _between_cuts(res, parameter, text, numbers, confidence)
    odds, low, high, _ = parameter
    numbers |= {"odds of a tie": odds, "low of a tie": low, "high of a tie": high}
    where = _where(res, "tie")
    graded = bool(c.response.grades)
    win = "the smallest preference for" if graded else "a win of"
    sentence = f"between equally good objects{where} the odds of a tie against {win} either are {odds_text(odds)}"
    sentence += _reach(res, "tie", low, high, confidence)
    if "order" not in res.design.blocks and not where and not graded and not c.response.has_bad:
        numbers["probability of a tie"] = odds / (2 + odds)
        sentence += f", a tie in {format_percent(odds / (2 + odds))} of their judgments"
    return f"{text}; {sentence}.", numbers


def _bad(res: Estimates, confidence: float) -> Sentence:
    c = res.comparisons
    if not c.response.has_bad:
        return "", {}
    share = c.n_bad / c.n_judgments
    text, numbers = f"{format_percent(share)} of the judgments are 'both bad'", {"share of both bad": share}
    if "bad" not in res.design.blocks:
        return f"{text}, which the model does not describe (γ = 0): add + bad.", numbers
    parameter = _parameter(res, "bad", 1.0, confidence)
    if parameter is None:
        return f"{text}.", numbers
    odds, low, high, _ = parameter
    numbers |= {"odds of both bad": odds, "low of both bad": low, "high of both bad": high}
    sentence = (
        f"between equally good objects{_where(res, 'bad')} its odds against a win of either are {odds_text(odds)}"
    )
    sentence += _reach(res, "bad", low, high, confidence)
    return f"{text}; {sentence}.", numbers


def _grades(res: Estimates, confidence: float) -> Sentence:
    """State how often judges give more than the smallest grade, overall and between equal objects."""
    response = res.comparisons.response
    if not response.grades:
        return "", {}
    given, size = res.counts.sum(axis=0), np.abs(response.loadings[:, 0])
    share = float(given[size > size[size > 0].min()].sum() / given[size > 0].sum())
    text, numbers = f"{format_percent(share)} of the preferences are beyond the first grade", {"share of grades": share}
    if "grade" not in res.design.blocks:
        return f"{text}, which the model does not describe (γ = 0): add + grade.", numbers
    sentences = []
    for level in sorted(response.grades, key=len) if res.log_linear else ():
        parameter = _parameter(res, f"grade[{level}]", 1.0, confidence)
        if parameter is not None:
            odds, low, high, _ = parameter
            numbers |= {f"odds of {level}": odds, f"low of {level}": low, f"high of {level}": high}
            about = _reach(res, f"grade[{level}]", low, high, confidence)
            sentences.append(f"of {level} {odds_text(odds)}{about}")
    if not sentences:
        return f"{text}.", numbers
    where = _where(res, "grade")
    return (
        f"{text}; between equally good objects{where} the odds against the first grade are {', '.join(sentences)}.",
        numbers,
    )


def _where(res: Estimates, word: str) -> str:
    """Return for which pair or levels the odds of ties or both bad hold, if they differ by objects or covariates."""
    design = res.design
    summed = {k for _, _, columns in design.sums for k in columns}
    others = [k for k, block in enumerate(design.blocks) if block == word and design.terms[k] != word]
    average = " of the average pair" if summed & set(others) else ""
    return average + (" at the reference levels" if set(others) - summed else "")


def _reach(res: Estimates, name: str, low: float, high: float, confidence: float) -> str:
    """Return the interval of a parameter in parentheses, or why it has none."""
    if np.isfinite(low):
        return f" ({interval_text(low, high, confidence)})"
    return " (held)" if name in res.fixed else " (no standard error by clusters)"


def _order(res: Estimates, confidence: float) -> Sentence:
    if "order" not in res.design.blocks:
        unasked = "Which object was shown first is known, but the model has no order effect: add + order."
        return (unasked if res.comparisons.keeps_order else ""), {}
    parameter = _parameter(res, "order", 2.0, confidence)
    if parameter is None:
        return "", {}
    odds, low, high, p = parameter
    numbers = {"odds of order": odds, "low of order": low, "high of order": high, "p of order": p}
    if res.specification.link == "probit":
        return _shift(res, parameter, confidence)
    which = "the odds within the first grade" if res.comparisons.response.grades else "the odds"
    which = which if res.log_linear else "the odds of every outcome above a cut"
    text = f"Being shown first multiplies {which} by {odds_text(odds)}"
    if np.isnan(p):
        return f"{text}{_reach(res, 'order', low, high, confidence)}.", numbers
    matters = "an order effect" if p < 1 - confidence else "no significant order effect"
    return f"{text} ({interval_text(low, high, confidence)}, {p_text(p)}): {matters}.", numbers


def _between_cuts(
    res: Estimates,
    parameter: tuple[float, float, float, float],
    text: str,
    numbers: dict[str, float],
    confidence: float,
) -> Sentence:
    """State how often equal objects tie, for links where a tie lies between two cuts: 2F(θ₁) − 1."""
    cuts = np.log(parameter[:3])
    curve = special.ndtr if res.specification.link == "probit" else special.expit
    share, low, high = (float(2 * curve(cut) - 1) for cut in cuts)
    numbers |= {"probability of a tie": share, "low of a tie": low, "high of a tie": high}
    where = "" if res.design.terms.count("tie") == res.design.blocks.count("tie") else " at the reference levels"
    sentence = f"equally good objects{where} tie in {format_percent(share)} of their judgments"
    sentence += _reach(res, "tie", low, high, confidence)
    return f"{text}; {sentence}.", numbers


def _shift(res: Estimates, parameter: tuple[float, float, float, float], confidence: float) -> Sentence:
    """State the effect of being shown first in standard deviations of a judgment (probit link)."""
    shift, low, high = (float(value) for value in np.log(parameter[:3]))
    numbers = {"shift of order": shift, "low of order": low, "high of order": high, "p of order": parameter[3]}
    text = f"Being shown first is worth {format_number(shift, 3)} standard deviations of a judgment"
    if np.isnan(parameter[3]):
        return f"{text}{_reach(res, 'order', low, high, confidence)}.", numbers
    matters = "an order effect" if parameter[3] < 1 - confidence else "no significant order effect"
    return f"{text} ({interval_text(low, high, confidence)}, {p_text(parameter[3])}): {matters}.", numbers


def _parameter(res: Estimates, name: str, factor: float, confidence: float) -> tuple[float, float, float, float] | None:
    """Return the odds of a parameter with their interval and p; None if the fit has no estimate of it."""
    if name not in res.names or np.isnan(res.params[name]):
        return None
    low, high = res.conf_int(1 - confidence).loc[name]
    with np.errstate(over="ignore"):
        odds = np.exp(factor * np.array([res.params[name], low, high]))
    return float(odds[0]), float(odds[1]), float(odds[2]), float(res.pvalues[name])


def _covariates(res: Estimates, confidence: float, drawn: Collection[str] = ()) -> Sentence:
    """Say whether worths, ties and the order effect differ by judge or any other covariate of the comparisons.

    Covariates whose levels have random effects (`drawn`) count as modelled.
    """
    names = res.comparisons.covariates
    parsed = parse(res.specification.formula, vocabulary(res.comparisons))
    what = {"worth": "The worths", "tie": "Ties", "bad": "Judgments of both bad", "grade": "Grades"}
    what |= {"order": "The order effect"}
    parts: list[str] = []
    numbers: dict[str, float] = {}
    for block, subject in what.items():
        for name in names:
            test = _joint_test(res, block, name)
            if test is not None:
                numbers |= {f"{block} by {name}": test.statistic, f"p of {block} by {name}": test.p_value}
                parts.append(f"{subject} {_differ(block, test, confidence)} by {name} ({_tested(test)}).")
    unused = [name for name in names if name not in parsed.variables and name not in drawn]
    if unused:
        parts.append(f"Whether judgments differ by {' or '.join(unused)} was not modelled.")
    return " ".join(parts), numbers


def _differ(block: str, test: TestResult, confidence: float) -> str:
    verb = "differs" if block == "order" else "differ"
    return verb if test.p_value < 1 - confidence else f"{'does' if block == 'order' else 'do'} not differ significantly"


def _joint_test(res: Estimates, block: str, name: str) -> TestResult | None:
    """Return the test that no parameter of a block depends on a covariate; None without parameters or a p-value."""
    columns = [
        k
        for k, (term, its_block) in enumerate(zip(res.design.terms, res.design.blocks, strict=True))
        if its_block == block and _mentions(res, term, name) and k in set(res.free.tolist())
    ]
    if not columns:
        return None
    matrix = np.zeros((len(columns), len(res.names)))
    matrix[range(len(columns)), columns] = 1.0
    plain = plain_of(res)
    if plain is not None and few_judgments(plain) and plain.specification.cov_type == "nonrobust":
        return score_test(plain, matrix)
    try:
        test = wald_test(res, matrix)
    except DesignError:  # fewer clusters than parameters
        return None
    return None if np.isnan(test.p_value) else test  # a single cluster says all that is known


def _mentions(res: Estimates, term: str, name: str) -> bool:
    """Return whether a term of the formula depends on a covariate."""
    return name in parse(term, vocabulary(res.comparisons)).variables


# -- fit -------------------------------------------------------------------------------------------------------


def _fit(res: PlainEstimates, confidence: float, goodness: GoodnessOfFit | None) -> Sentence:
    if goodness is None:
        return "The solver did not converge, so do not use these results.", {}
    if res.specification.groups:
        return _fit_of_clusters(goodness, confidence)
    tests = [goodness.deviance] + ([goodness.pooled_deviance] if goodness.pooled_deviance is not None else [])
    test = next((test for test in tests if not np.isnan(test.p_value)), None)
    if res.df_resid == 0 and test is None:
        return "The model is saturated: it reproduces the counts, so its fit cannot be tested.", {}
    if test is None:
        return "The table is too sparse to test the fit with χ².", {}
    where = "" if test is goodness.deviance else f", on {goodness.tables[1]}"
    if goodness.sparse[tests.index(test)]:
        return _simulated_fit(res, confidence) if test is goodness.deviance else (f"{_SMALL}.", {})
    text = f"deviance {format_number(test.statistic, 4)} on {format_count(test.df)} df{where}, {p_text(test.p_value)}"
    numbers = {"deviance": test.statistic, "df": float(test.df), "p of fit": test.p_value}
    misfit = test.p_value < 1 - confidence
    if misfit and np.isfinite(goodness.dispersion):
        numbers["dispersion"] = goodness.dispersion
        text += f"; dispersion X²/df {format_number(goodness.dispersion, 3)}"
    return f"{_verdict(misfit)} ({text}).", numbers


def _fit_of_clusters(goodness: GoodnessOfFit, confidence: float) -> Sentence:
    """State the test of X² that flips the signs of clusters' scores; empty if there is no such test."""
    for test, table in zip((goodness.pearson, goodness.pooled_pearson), goodness.tables, strict=False):
        if test is not None and not np.isnan(test.p_value):
            numbers = {"pearson chi2": test.statistic, "df": float(test.df), "p of fit": test.p_value}
            text = f"X² {format_number(test.statistic, 4)} on {format_count(test.df)} df, {p_text(test.p_value)}"
            where = f"on {table}, by {test.distribution}"
            return f"{_verdict(test.p_value < 1 - confidence)} ({text}, {where}).", numbers
    return "", {}


def _verdict(misfit: bool) -> str:
    return "The model does not fit" if misfit else "There is no sign of misfit"


def _simulated_fit(res: PlainEstimates, confidence: float) -> Sentence:
    """Compare X² with tables drawn from the model: with small fitted counts χ² misleads, the deviance most of all."""
    if res.specification.prior is not None:
        return f"{_SMALL}.", {}
    if res.n_cells > _SIMULATED_CELLS:
        return f"{_SMALL}; goodness_of_fit(res, 999) tests it against tables drawn from the model.", {}
    simulated = goodness_of_fit(res, _SIMULATED, rng=0)
    p = simulated.p_bootstrap[1] if simulated.p_bootstrap else np.nan
    numbers = {"pearson chi2": res.pearson_chi2, "dispersion": simulated.dispersion, "p of fit": p}
    text = f"X² {format_number(res.pearson_chi2, 4)} on {format_count(res.df_resid)} df, {p_text(p)} by simulation"
    return f"{_verdict(p < 1 - confidence)} ({text}, as many fitted counts are below 5).", numbers


def _tested(test: TestResult) -> str:
    """Return a test, to be put in parentheses: Wald's χ² or F, or Rao's score, with degrees of freedom and p."""
    symbol = "score" if test.name == "Score test" else "Wald χ²" if test.distribution == "chi2" else "Wald F"
    return f"{symbol} = {format_number(test.statistic, 3)} on {format_count(test.df)} df, {p_text(test.p_value)}"
