"""The report of a fit to patterns: answers by pair, how they depend on each other, the model and the patterns."""

from __future__ import annotations

import functools

import numpy as np

from ..base.table import Field, Table, counted, interval_fields
from ..core.patterns import Patterns
from ..core.statistics import critical_value
from ..fitting.pattern_estimates import PatternEstimates
from ..fitting.pattern_summary import pattern_summary
from ..formulas.grid import At
from ..inference.log_worths import worth_classes
from ..inference.pairwise import pairwise
from ..plot.pairs import probability_map
from .page_parts import complete, folded, paragraph, picture, table
from .pattern_shares import PatternShares, pattern_shares, shares_table
from .pattern_words import dependence_of, dependence_test, held_of, persistence_of
from .sections import MOST_PAIRS, Sections, at_text, pair_sentences

_MOST_DRAWN = 30  # objects of a heat map
_MOST_SHOWN = 12  # parameters of dependence that are not folded
_ALL_ROWS = 10_000
_OVER_ALL = "Probabilities are over all answers of a judge. The odds of the table below are those of two objects"


def default_formula_of_patterns(p: Patterns) -> str:
    """Return ``object``, with ``+ tie`` where answers can be undecided."""
    return "object + tie" if p.has_ties else "object"


def place_of_patterns(res: PatternEstimates) -> At:
    """Return the value of `at`: ``"average"`` if worths differ by covariates, otherwise None."""
    return "average" if len(worth_classes(res.average, None)[0]) > 1 else None


def pattern_sections(res: PatternEstimates, at: At, confidence: float) -> Sections:
    """Return the sections that only fits of patterns have."""
    shares = functools.cache(lambda: pattern_shares(res))
    return {
        "pairs": ("Pairs", lambda: _paired(res, shares(), at, confidence)),
        "answers": ("Answers by pair", lambda: _answered(res, shares(), confidence)),
        **({"dependence": ("Dependence of answers", lambda: _dependent(res, confidence))} if res.dependent else {}),
        "model": ("Model", lambda: [table(complete(_summary(res)))]),
        "patterns": ("Patterns", lambda: [folded("The patterns with the most judges", table(res.patterns))]),
    }


def calls_of_patterns(res: PatternEstimates, at: At) -> tuple[tuple[str, ...], str]:
    """Return the calls that made the tables, and the reference for the model."""
    spec = res.specification
    asked = {"reference": spec.reference, "missing": spec.missing, "not_at_random": spec.not_at_random}
    given = {name: value for name, value in asked.items() if value not in (None, "ignorable")}
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    calls = (
        f"res = llbt.fit({spec.formula!r}, patterns{options})",
        f"llbt.leaderboard(res{at_text(at)})   llbt.pairwise(res{at_text(at)})   llbt.interpret(res)",
    )
    source = (
        "The model: Hatzinger, R. & Dittrich, R. (2012). prefmod: an R package for modeling preferences based on "
        "paired comparisons, rankings, or ratings. Journal of Statistical Software 48(10)."
    )
    return calls, source


def _summary(res: PatternEstimates) -> Table:
    return pattern_summary(res, odds=True, max_rows=_ALL_ROWS, sort="name")


def _paired(res: PatternEstimates, shares: PatternShares, at: At, confidence: float) -> list[str]:
    objects = res.patterns.objects
    pairs = pairwise(res.average, at=at, confidence=confidence)
    order = pairs.ranking
    square = shares.square(len(objects))[np.ix_(order, order)]
    caption = "Probability that the row object is preferred to the column object, over all answers of a judge"
    names = [objects[k] for k in order]
    few = len(order) <= _MOST_DRAWN
    drawn = picture("probabilities", caption, lambda: probability_map(names, square, None, None)) if few else ""
    held = held_of(res).removesuffix(",")
    return [drawn, paragraph(f"{_OVER_ALL}{held}.", "quiet") if held else "", *pair_sentences(pairs, at)]


def _answered(res: PatternEstimates, shares: PatternShares, confidence: float) -> list[str]:
    shares_ = shares_table(res, shares, confidence, critical_value(confidence, res.df_inference))
    many = len(shares.pairs) > MOST_PAIRS
    return [folded(f"All {counted(len(shares.pairs), 'pair')}", table(shares_), long=True) if many else table(shares_)]


def _dependent(res: PatternEstimates, confidence: float) -> list[str]:
    names = dependence_of(res) | persistence_of(res)
    markup = table(dependence_table(res, confidence))
    rows = (
        folded(f"All {counted(len(names), 'parameter')} of dependence", markup) if len(names) > _MOST_SHOWN else markup
    )
    return [table(dependence_test(res)), rows]


def dependence_table(res: PatternEstimates, confidence: float) -> Table:
    """Return a row for each parameter of dependence, with the two preferences that it connects; the largest first."""
    preferences = dependence_of(res) | persistence_of(res)
    names = sorted(preferences, key=lambda name: -abs(float(res.params[name])))
    bounds = res.conf_int(1 - confidence).loc[names]
    differ = len(res.dependence.by) > 1
    return Table(
        (
            Field("term", "Parameter", names),
            Field("first", "Preferring", [preferences[name][0] for name in names]),
            Field("second", "and preferring", [preferences[name][1] for name in names]),
            Field("estimate", "θ", res.params[names].to_numpy(), "estimate"),
            Field("std_error", "Std. Error", res.bse[names].to_numpy(), "estimate"),
            *interval_fields(bounds["conf_low"].to_numpy(), bounds["conf_high"].to_numpy(), confidence),
            Field("p_value", "p", res.pvalues[names].to_numpy(), "p_value"),
        ),
        title="How the answers of a judge depend on each other",
        notes=(
            "above 0 both preferences occur together, below 0 one occurs with the opposite of the other",
            *(["with a covariate: the difference of θ from θ at the reference level"] if differ else []),
        ),
    )
