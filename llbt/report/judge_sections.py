"""The report's section on judges: what each does, how far each differs, how each discriminates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.mixed_results import MixedResults
from ..fitting.results import LLBTResults
from ..inference.judge_effects import judge_effects
from ..inference.level_tests import level_tests, levels_of
from ..judges.summary import summary as summary_of_judges
from ..plot.discrimination import discrimination as discrimination_plot
from ..plot.judge_effects import judge_effects as judge_effects_plot
from ..plot.judges import judges as judges_plot
from ..plot.judges import ties as ties_plot
from ..table import Table
from .page_parts import complete, folded, or_why, paragraph, picture, table
from .study import Study

_MOST_DRAWN = 300  # judges, a row each


def has_judges(s: Study) -> bool:
    """Whether the table keeps more than one judge, or the fit has effects or discriminations of judges."""
    if not isinstance(s.asked, LLBTResults):
        return True
    kept = (*(column.name for column in s.table.columns), *s.table.clusters)
    return s.found.judge in kept and len(levels_of(s.table, s.found.judge)) > 1


def judges_section(s: Study) -> list[str]:
    """Return what each judge does, each against the rest, and what a judge's own worths or ties are, if they differ."""
    if isinstance(s.asked, MixedResults):
        return _differing(s.asked, s.confidence)
    if isinstance(s.asked, DiscriminationResults):
        return _discriminating(s.asked, s.confidence)
    judge = s.found.judge
    pictures = {
        "worth": ("Log-worths of the objects by judge, beside those of all", lambda: judges_plot(s.res)),
        "tie": ("Ties by judge", lambda: ties_plot(s.res)),
    }
    differ = {block for block, name in zip(s.res.design.blocks, s.res.names, strict=True) if f"{judge}[" in name}
    return [
        or_why(lambda: _known(summary_of_judges(s.table, judge=judge, model=s.res, confidence=s.confidence).table())),
        table(complete(level_tests(s.res, by=judge))),
        *(picture(f"judges-{block}", *pictures[block]) for block in pictures if block in differ),
    ]


def _known(whole: Table) -> Table:
    """Return all rows of a table without columns of which nothing is known."""
    kept = [f for f in whole.fields if f.kind == "text" or not np.isnan(np.asarray(f.values, dtype=float)).all()]
    return replace(complete(whole), fields=tuple(kept))


def differing(s: Study) -> str:
    """Return the heading of the section."""
    return "Judges" if not isinstance(s.asked, MixedResults) or s.asked.has_judges else "Effects of objects"


def _differing(res: MixedResults, confidence: float) -> list[str]:
    """Return how far each judge differs from the average one, and objects from what their covariates say."""
    parts = []
    for name, levels in res.judges.groupings.items():
        effects = judge_effects(res, by=name, confidence=confidence)
        zero = "what the covariates say" if name == "object" else f"the average {name}"
        caption = f"Effects of each {name}, the largest first; 0 is {zero}"
        if len(levels) <= _MOST_DRAWN:
            parts.append(picture(f"effects-{name}", caption, lambda effects=effects: judge_effects_plot(effects)))  # type: ignore[misc]
        parts.append(folded(f"Effects of each {name}", table(effects)))
    return parts


def _discriminating(res: DiscriminationResults, confidence: float) -> list[str]:
    """Return how each judge discriminates, who is inverted or guesses, and the tests against both neighbours."""
    found = complete(res.by_judge(confidence=confidence))
    readings = res.readings(confidence=confidence)
    named = [
        f"{word.capitalize()}: {', '.join(map(str, readings.index[readings == word]))}."
        for word in ("inverted", "guessing or inverted", "guessing")
        if (readings == word).any()
    ]
    caption = (
        "Discriminations of judges, the largest first; at 0 a judge guesses, below it he prefers what others do not"
    )
    few = len(res.judging.levels) <= _MOST_DRAWN
    return [
        *map(paragraph, named),
        picture("discriminations", caption, lambda: discrimination_plot(res, confidence=confidence)) if few else "",
        table(found),
        table(res.equality_test()),
        or_why(res.proportionality_test),
    ]
