"""The report's section on judges: statistics of each judge, effects of judges, and discriminations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.table import Record, Table
from ..fitting.protocols import WithDiscriminations, WithEffects
from ..inference.anova import anova
from ..inference.judge_effects import judge_effects
from ..inference.level_tests import level_tests, levels_of
from ..inference.new_judge import new_judges
from ..inference.ranks import leaderboard
from ..inference.refit import with_equal_scales
from ..judges.summary import summary as summary_of_judges
from ..plot.discrimination import discrimination as discrimination_plot
from ..plot.judge_effects import judge_effects as judge_effects_plot
from ..plot.judges import judges as judges_plot
from ..plot.judges import ties as ties_plot
from .page_parts import complete, folded, or_why, paragraph, picture, table
from .report_inputs import Study

_MOST_DRAWN = 300  # judges, a row each


def has_judges(s: Study) -> bool:
    """Whether the table keeps more than one judge, or the fit has effects or discriminations of judges."""
    if not s.plain:
        return True
    columns = (*(column.name for column in s.table.columns), *s.table.clusters)
    return s.audit.judge in columns and len(levels_of(s.table, s.audit.judge)) > 1


@dataclass(frozen=True, eq=False)
class KindParts:
    """The parts of a page that depend on the kind of a fit to pairs.

    Attributes
    ----------
    judges : callable
        The section on judges: each judge's statistics, a test against the other judges, and how judges differ.
    test : callable or None
        The analysis of deviance below the model; None if differences of deviances are not valid tests.
    calls : str
        The calls of this kind of fit that other kinds do not have.
    heading : str
        The heading of the section on judges.
    boards : callable
        The section with the leaderboard of a new judge, for fits that have one.
    """

    judges: Callable[[], list[str]]
    test: Callable[[], Record] | None
    calls: str
    heading: str = "Judges"
    boards: Callable[[], list[str]] = list


@functools.singledispatch
def parts_of(res: Any, s: Study) -> KindParts:
    """Return the parts of a page for a kind of fit."""
    raise AssertionError(f"no page of {type(res).__name__}")


def plain_parts(res: Any, s: Study) -> KindParts:
    """Return the parts of a page for a fit with counts."""
    grades = "   llbt.grade_tests(res)" if s.table.response.grades else ""
    return KindParts(
        lambda: _each_judge(s),
        None if res.specification.reduces_bias else lambda: anova(res),
        f"llbt.anova(res)   llbt.goodness_of_fit(res){grades}",
    )


def parts_with_effects(res: WithEffects, s: Study) -> KindParts:
    """Return the sections of the report on a fit with random effects."""

    def of_a_new_judge() -> list[str]:
        boards = []
        for level, at in new_judges(res, s.at):
            drawn = leaderboard(res, at=at, population=True, confidence=s.confidence)
            whose = f"{res.judges.name} with {level}" if level else res.judges.name
            boards.append(folded(f"For a new {whose}, drawn from the population", table(drawn)))
        return boards

    return KindParts(
        lambda: _differing(res, s.confidence),
        lambda: anova(res.without, *with_equal_scales(res), res),
        "llbt.anova(res.without, res)   llbt.judge_effects(res)",
        "Judges" if res.has_judges else "Effects of objects",
        of_a_new_judge if res.has_judges else list,
    )


def parts_with_discriminations(res: WithDiscriminations, s: Study) -> KindParts:
    """Return the parts of a page for a fit with discriminations."""
    return KindParts(lambda: _discriminating(res, s.confidence), lambda: anova(res), "llbt.anova(res)   res.by_judge()")


def _each_judge(s: Study) -> list[str]:
    """Return statistics and a test of each judge against the others, and worths or ties by judge if modelled."""
    judge = s.audit.judge
    pictures = {
        "worth": ("Log-worths of the objects by judge, and of all judges", lambda: judges_plot(s.res)),
        "tie": ("Ties by judge", lambda: ties_plot(s.res)),
    }
    differ = {block for block, name in zip(s.res.design.blocks, s.res.names, strict=True) if f"{judge}[" in name}
    return [
        or_why(lambda: _known(summary_of_judges(s.table, judge=judge, model=s.res, confidence=s.confidence).table())),
        table(complete(level_tests(s.res, by=judge))),
        *(picture(f"judges-{block}", *pictures[block]) for block in pictures if block in differ),
    ]


def _known(whole: Table) -> Table:
    """Return all rows of a table without columns that are NA throughout."""
    fields = [f for f in whole.fields if f.kind == "text" or not np.isnan(np.asarray(f.values, dtype=float)).all()]
    return replace(complete(whole), fields=tuple(fields))


def _differing(res: WithEffects, confidence: float) -> list[str]:
    """Return how far judges differ from the average judge, and objects from the prediction by their covariates."""
    parts = []
    for name, levels in res.judges.groupings.items():
        effects = judge_effects(res, by=name, confidence=confidence)
        zero = "the prediction by the covariates" if name == "object" else f"the average {name}"
        caption = f"Effects of each {name}, the largest first; 0 is {zero}"
        if len(levels) <= _MOST_DRAWN:
            parts.append(picture(f"effects-{name}", caption, lambda effects=effects: judge_effects_plot(effects)))  # type: ignore[misc]
        parts.append(folded(f"Effects of each {name}", table(effects)))
    return parts


def _discriminating(res: WithDiscriminations, confidence: float) -> list[str]:
    """Return judges' discriminations, who is inverted or guesses, and tests of equality and proportional worths."""
    by_judge = complete(res.by_judge(confidence=confidence))
    readings = res.readings(confidence=confidence)
    named = [
        f"{word.capitalize()}: {', '.join(map(str, readings.index[readings == word]))}."
        for word in ("inverted", "guessing or inverted", "guessing")
        if (readings == word).any()
    ]
    caption = (
        "Discriminations of judges, the largest first; at 0 a judge guesses, below 0 the judge prefers what others do "
        "not"
    )
    few = len(res.judging.levels) <= _MOST_DRAWN
    return [
        *map(paragraph, named),
        picture("discriminations", caption, lambda: discrimination_plot(res, confidence=confidence)) if few else "",
        table(by_judge),
        table(res.equality_test()),
        or_why(res.proportionality_test),
    ]
