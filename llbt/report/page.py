"""The report: the usual analyses of judgments, in one HTML file."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..auditing.audit import Audit
from ..base.arguments import Confidence, checked
from ..base.extras import is_installed
from ..base.table import format_count
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..data.paths import held
from ..errors import LLBTWarning, warn_user
from ..fitting.best_worst_effects import BestWorstEffects
from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.large_results import LargeResults
from ..fitting.mixed_results import MixedResults
from ..fitting.pattern_model import fit_patterns
from ..fitting.pattern_results import PatternResults
from ..fitting.ranking_results import RankingResults
from ..fitting.results import LLBTResults
from ..formulas.grid import At
from ..inference.fragility import fragility
from ..inference.grade_tests import grade_tests
from ..inference.level_tests import levels_of
from ..inference.log_worths import worth_classes
from ..inference.pairwise import pairwise
from ..inference.residuals import residuals as residuals_of
from ..inference.sensitivity import sensitivity
from ..judges.calibrate import Calibration
from ..judges.class_fit import LatentClasses
from ..judges.classes import ClassModels
from ..judges.judge_report_record import JudgeReport
from ..judges.judge_table import JudgeData
from ..judges.tree import JudgeTree
from ..plot.fits import residuals as residuals_plot
from ..plot.network import network as network_plot
from ..plot.pairs import outcomes as outcomes_plot
from ..plot.pairs import probabilities as probabilities_plot
from ..resampling import shown
from .calibration_sections import calibration_sections, calls_of_calibration
from .grades import expected_grades
from .groups import call_of, groups_of
from .interpret import interpret, interpreted
from .judge_report_sections import judge_report_sections
from .judge_sections import has_judges, parts_of, parts_with_discriminations, parts_with_effects, plain_parts
from .list_sections import calls_of_sets, list_study_of, sections_of_lists, studied_lists
from .page_parts import complete, folded, or_why, page, paragraph, picture, section, table
from .pattern_sections import (
    calls_of_patterns,
    default_formula_of_patterns,
    pattern_sections,
    place_of_patterns,
)
from .report_inputs import Study, of_all, studied, study_of, too_many
from .safe_write import checked_target, write_whole
from .sections import MOST_PAIRS, Sections, at_text, audited, made_by, pair_sentences, ranked, refuse_formula

_OF_PAIRS, _OF_LISTS = "Preference judgments", "Preferences in lists"
_MOST_FOLDED = 2000  # rows on the page: a megabyte
_MOST_DRAWN = 30  # objects of a heat map
_MOST_REFITTED = 60  # objects, for seconds of refits
_NO_PICTURES = "Pictures are left out, because matplotlib is not installed: pip install 'llbt[plot]'"


@checked
def write_report(
    data: object,
    path: str | os.PathLike[str] = "report.html",
    *,
    formula: str | None = None,
    title: str | None = None,
    audit: Audit | None = None,
    confidence: Confidence = 0.95,
    progress: bool = False,
) -> Path:
    """Write one self-contained HTML page on judgments, from leaderboard to audit, model and fit; return its path.

    Parameters
    ----------
    data : a fit, Calibration, JudgeReport, ClassModels, LatentClasses, JudgeTree, a table, Judgments, frame, path …
        A fit of any kind except for very many objects; calibrated worths (`llbt.judges.calibrate`); or the report on a
        machine judge (`llbt.judges.report`). Groups of judges (`llbt.judges.classes`, `llbt.judges.tree`) get a section
        in addition to the report on the fit of all judges. Other data are fitted for the report: a table of counts, or
        judgments in a known format that `from_judgments` reads without further names. If your columns have other names,
        pass the result of `from_judgments` or `fit`. Lists (`Rankings`) are fitted as lists, and `Patterns` as
        patterns.
    path : path
        The file to write; an existing file is replaced.
    formula : str, optional
        The model for data; by default the result of `default_formula`: ``object``, with ``+ tie`` where there are ties
        and ``+ order`` where the order was kept.
    title : str, optional
    audit : Audit, optional
        The result of `audit`; by default the audit of `data`, or of the table of a fit. Patterns and calibrated worths
        have this section only if you pass an audit.
    confidence : float
        The confidence of all intervals.
    progress : bool
        Show a progress bar of the sections.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    JudgmentError
        For data that cannot be read.
    OptionError
        For a formula with a fit, a missing folder, and a path that is one of the inputs.
    DesignError
        For objects that were never compared with each other, and for more than 10,000 objects.
    OSError
        If the page cannot be written; an existing page stays unchanged.

    Notes
    -----
    The page contains its styles, script and pictures, and its content security policy forbids all other sources. A
    click on a heading sorts a table. Long tables are folded and can be filtered by name; one field searches all tables.
    Without JavaScript all rows are shown. In print, tables of more than 300 rows are left out. If there are more than
    2,000 pairs or counts, the page names the call that returns the rest. Pages and pictures are dark if the reader
    prefers it. Estimates have three digits; the page names the calls that return them.
    Data are fitted with ``cov_type="cautious"``: standard errors are clustered by the recorded clusters (judge, prompt,
    block or others) that give the largest ones. If no clusters are recorded, or too few, standard errors assume
    independent judgments. The page says which. If an estimate is infinite, the model is fitted with Firth's bias
    reduction, and the page says so first.

    Examples
    --------
    >>> import tempfile
    >>> import llbt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = llbt.write_report(llbt.load_dataset("dras_modpref"), f"{folder}/report.html")
    ...     report.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target, data = checked_target(path, (data,)), held(data)
    sections, heading = _asked(data, formula, audit, confidence)
    write_whole(target, _page(sections, title or heading, progress))
    return target


parts_of.register(LLBTResults)(plain_parts)
parts_of.register(MixedResults)(parts_with_effects)
parts_of.register(DiscriminationResults)(parts_with_discriminations)


@functools.singledispatch
def _asked(data: Any, formula: str | None, audit_given: Audit | None, confidence: float) -> tuple[Sections, str]:
    """Return the sections and the heading of a page on judgments of pairs; other kinds have their functions below."""
    return _sections(studied(data, formula, audit_given, confidence)), _OF_PAIRS


@_asked.register(LLBTResults)
@_asked.register(MixedResults)
@_asked.register(DiscriminationResults)
def _of_pair_fit(
    res: LLBTResults | MixedResults | DiscriminationResults,
    formula: str | None,
    audit_given: Audit | None,
    confidence: float,
) -> tuple[Sections, str]:
    refuse_formula(formula)
    return _sections(study_of(res, audit_given, confidence)), _OF_PAIRS


@_asked.register(LargeResults)
def _of_very_many(
    res: LargeResults, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    raise too_many(len(res.comparisons.objects))


@_asked.register(Rankings)
def _of_rankings(
    data: Rankings, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    return sections_of_lists(studied_lists(data, formula, audit_given, confidence)), _OF_LISTS


@_asked.register(RankingResults)
def _of_ranking_fit(
    res: RankingResults, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    refuse_formula(formula)
    return sections_of_lists(list_study_of(res, audit_given, confidence)), _OF_LISTS


@_asked.register(ClassModels)
@_asked.register(LatentClasses)
def _of_groups(
    data: ClassModels | LatentClasses | JudgeTree, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    refuse_formula(formula)
    return _sections(study_of(of_all(data), audit_given, confidence, data)), _OF_PAIRS


@_asked.register(JudgeTree)
def _of_tree(
    data: JudgeTree, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    if isinstance(data.data, JudgeData):
        return _of_groups(data, formula, audit_given, confidence)
    refuse_formula(formula)
    return sections_of_lists(list_study_of(data.nodes[0].results, audit_given, confidence, tree=data)), _OF_LISTS


@_asked.register(Patterns)
def _of_patterns(
    data: Patterns, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    return _of_pattern_fit(
        fit_patterns(formula or default_formula_of_patterns(data), data), None, audit_given, confidence
    )


@_asked.register(PatternResults)
def _of_pattern_fit(
    res: PatternResults, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    refuse_formula(formula)
    at = place_of_patterns(res)
    return {
        "words": ("In words", lambda: [paragraph(interpret(res, confidence=confidence).text, "lead")]),
        **_audit_given(audit_given),
        "leaderboard": ("Leaderboard", lambda: ranked(res, at, confidence)),
        **pattern_sections(res, at, confidence),
        "made": ("How this was made", lambda: made_by(*calls_of_patterns(res, at))),
    }, "Preferences in patterns of answers"


@_asked.register(BestWorstEffects)
def _of_sets_with_effects(
    res: BestWorstEffects, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    refuse_formula(formula)
    at: At = "average" if len(worth_classes(res.average, None)[0]) > 1 else None
    return {
        "words": ("In words", lambda: [paragraph(interpret(res, confidence=confidence).text, "lead")]),
        **_audit_given(audit_given),
        "leaderboard": ("Leaderboard", lambda: ranked(res, at, confidence)),
        "pairs": ("Pairs", lambda: pair_sentences(pairwise(res, at=at, confidence=confidence), at)),
        "model": ("Model", lambda: [table(complete(res.summary()))]),
        "made": ("How this was made", lambda: made_by(*calls_of_sets(res, at))),
    }, "Preferences in best-worst sets"


@_asked.register(Calibration)
def _of_calibration(
    res: Calibration, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    refuse_formula(formula)
    return {
        "words": ("In words", lambda: [paragraph(interpret(res, confidence=confidence).text, "lead")]),
        **_audit_given(audit_given),
        **calibration_sections(res, confidence),
        "made": ("How this was made", lambda: made_by(*calls_of_calibration(res))),
    }, "Preferences by people and machines"


@_asked.register(JudgeReport)
def _of_judge_report(
    data: JudgeReport, formula: str | None, audit_given: Audit | None, confidence: float
) -> tuple[Sections, str]:
    refuse_formula(formula)
    return {**_audit_given(audit_given), **judge_report_sections(data)}, "Is this judge usable?"


def _audit_given(audit_made: Audit | None) -> Sections:
    """Return the section of an audit, for kinds of data that have it only if an audit is passed."""
    return {} if audit_made is None else {"audit": ("Are the judgments in order?", lambda: audited(audit_made))}


# -- out -------------------------------------------------------------------------------------------------------


def _page(asked: Sections, title: str, progress: bool) -> str:
    if "leaderboard" in asked:  # what most readers open the page for
        asked = {"leaderboard": asked["leaderboard"], **asked}
    body = "\n".join(section(name, asked[name][0], asked[name][1]()) for name in shown("write_report", asked, progress))
    if not is_installed("matplotlib"):
        warn_user(f"{_NO_PICTURES}.", LLBTWarning)
        body = f"{paragraph(_NO_PICTURES, 'notice')}\n{body}"
    return page(title, body, [(name, heading) for name, (heading, _) in asked.items()])


def _sections(s: Study) -> Sections:
    kind = parts_of(s.asked, s)
    asked: dict[str, tuple[str, Callable[[Study], list[str]]]] = {
        "words": ("In words", _words),
        "audit": ("Are the judgments in order?", lambda s: audited(s.audit)),
        "leaderboard": ("Leaderboard", _ranked),
        "pairs": ("Pairs", _paired),
        **groups_of(s),
        **({"judges": (kind.heading, lambda s: kind.judges())} if has_judges(s) else {}),
        "model": ("Model", _modelled),
        **_fitting(s),
        **_hanging(s),
        "counts": ("Counts", _counted),
        "made": ("How this was made", _made),
    }
    return {name: (heading, partial(tell, s)) for name, (heading, tell) in asked.items()}


def _words(s: Study) -> list[str]:
    if s.plain:
        paragraphs = interpreted(s.res, s.confidence, s.fit if s.res.converged else None)
    else:
        paragraphs = interpret(s.asked, confidence=s.confidence)
    return [paragraph(paragraphs.text, "lead")]


def _ranked(s: Study) -> list[str]:
    return [*ranked(s.asked, s.at, s.confidence, s.notices), *parts_of(s.asked, s).boards()]


def _paired(s: Study) -> list[str]:
    pairs = pairwise(s.res, at=s.at, confidence=s.confidence)
    few = len(s.table.objects) <= _MOST_DRAWN
    caption = "Probability that the object of the row beats the object of the column"
    drawn = picture("probabilities", caption, lambda: probabilities_plot(s.res, at=s.at)) if few else ""
    network = picture(
        "network",
        "Pairs compared: the width of a line is its number of judgments, its colour the residual of the model",
        lambda: network_plot(s.res),
    )
    if not s.plain:  # counts fitted to one judge, to whom those of all judges are no match
        network = ""
    return [drawn, *pair_sentences(pairs, s.at), network]


def _modelled(s: Study) -> list[str]:
    test = parts_of(s.asked, s).test
    return [table(complete(s.asked.summary())), "" if test is None else or_why(test)]


def _fitting(s: Study) -> dict[str, tuple[str, Callable[[Study], list[str]]]]:
    """Return the sections on the fit of the model; none for models with effects or discriminations of judges."""
    if not s.plain:
        return {}
    grades: dict[str, tuple[str, Callable[[Study], list[str]]]] = {"grades": ("Grades", _graded)}
    return {"fit": ("Does the model fit?", _fitted), **(grades if s.table.response.grades else {})}


def _fitted(s: Study) -> list[str]:
    residuals = picture(
        "residuals", "The largest standardized residuals; beyond ±2 is unusual", lambda: residuals_plot(s.res)
    )
    if s.res.df_resid == 0:
        return [paragraph("The model is saturated: it reproduces the counts, and there is nothing to test.")]
    return [table(s.fit), residuals, folded("Largest residuals", table(residuals_of(s.res)))]


def _hanging(s: Study) -> dict[str, tuple[str, Callable[[Study], list[str]]]]:
    """Return the section on the stability of the ranking, for fits that can be refitted quickly."""
    few = s.plain and len(s.table.objects) <= _MOST_REFITTED
    return {"choices": ("How does the ranking depend on choices of the analysis?", _sensitive)} if few else {}


def _sensitive(s: Study) -> list[str]:
    """Return the effect of other analysis choices, and how few judgments or units to leave out for another leader."""
    at: At = "average" if s.at is None else s.at
    units = ("judgment", *(name for name in s.table.clusters if len(levels_of(s.table, name)) > 1))
    return [
        or_why(lambda: sensitivity(s.res, at=at, confidence=s.confidence)),
        *(or_why(lambda unit=unit: fragility(s.res, unit=unit, at=at)) for unit in units),  # type: ignore[misc]
    ]


def _graded(s: Study) -> list[str]:
    """Return tests of a linear scale and of distinct grades, and the expected and observed shares of grades."""
    return [or_why(lambda: grade_tests(s.res)), table(expected_grades(s.res))]


def _counted(s: Study) -> list[str]:
    caption = "Wins, ties and losses" + (", darker the larger the grade" if s.table.response.grades else "")
    outcomes = picture("outcomes", caption, lambda: outcomes_plot(s.table, rows="object", most=60))
    whole = s.table.table()
    rows = min(len(s.table), _MOST_FOLDED)
    rest = len(s.table) - rows
    more = f"… {format_count(rest)} more; all: comparisons.to_frame()" if rest else ""
    html = table(replace(whole, shown=tuple(range(rows)), more=more))
    return [outcomes, folded("Counts" if rest else "All counts", html, long=rows > MOST_PAIRS)]


def _made(s: Study) -> list[str]:
    spec = s.asked.specification
    asked = {
        name: getattr(spec, name)
        for name in ("reference", "fixed", "cov_type", "groups", "prior", "link", "discrimination")
    }
    given = {name: value for name, value in asked.items() if value not in (None, {}, "nonrobust", (), "adjacent")}
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    at = at_text(s.at)
    calls = (
        f"res = llbt.fit({spec.formula!r}, comparisons{options})",
        f"llbt.leaderboard(res{at})   llbt.pairwise(res{at})   {parts_of(s.asked, s).calls}",
        *call_of(s),
    )
    source = (
        "The model: Dras, M. (2015). Evaluating human pairwise preference judgments. Computational Linguistics 41(2), "
        "337-345."
    )
    return made_by(calls, source)
