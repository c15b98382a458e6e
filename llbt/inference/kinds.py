"""The functions for each kind of fit: its units, its refits, answers drawn from it, and its place in tests of models.

Questions import from here the functions that work for any fit. A new kind of fit has a line in each table below, or
registers its functions in its own module, as `llbt.judges` does.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..errors import OptionError
from ..fitting.best_worst_effects import BestWorstEffects, drawn_sets, judged_units
from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.effect_lines import slope_units
from ..fitting.large_results import LargeResults
from ..fitting.mixed import marginal_maximum
from ..fitting.mixed_results import MixedResults
from ..fitting.pattern_results import PatternResults
from ..fitting.ranking_results import RankingResults
from ..fitting.results import LLBTResults
from .discrimination_units import units_of_discriminations
from .effect_scores import effect_scores
from .effect_units import effect_units
from .judge_units import judge_units
from .large_units import large_units
from .list_tables import drawn_rankings
from .list_units import list_units
from .pair_units import JudgedCounts, PlainCounts, discrimination_units, finite, pair_units
from .pattern_tables import drawn_patterns
from .pattern_units import pattern_units
from .posterior_targets import effects_target, list_target, pattern_target, plain_target, target_of
from .refit import refit_data, refit_differing, refit_patterns, refit_rankings, refit_sets, refit_table
from .tested_models import (
    model_of_lists,
    model_of_many,
    model_of_patterns,
    model_of_sets,
    model_with_discriminations,
    model_with_effects,
    plain_model,
    tested,
)
from .unit_models import estimates_of, own_estimates, own_summary, summary_of, unit_model, units_to_predict

__all__ = [
    "drawn_answers",
    "estimates_of",
    "own_estimates",
    "own_summary",
    "refit_data",
    "summary_of",
    "target_of",
    "tested",
    "unit_model",
    "units_to_predict",
]

unit_model.register(LLBTResults)(pair_units)
unit_model.register(DiscriminationResults)(discrimination_units)
unit_model.register(LargeResults)(large_units)
unit_model.register(MixedResults)(judge_units)
unit_model.register(RankingResults)(list_units)
unit_model.register(PatternResults)(pattern_units)
unit_model.register(BestWorstEffects)(judged_units)

units_to_predict.register(MixedResults)(effect_units)
units_to_predict.register(DiscriminationResults)(units_of_discriminations)

refit_data.register(LLBTResults)(refit_table)
refit_data.register(MixedResults)(refit_differing)
refit_data.register(DiscriminationResults)(refit_differing)
refit_data.register(RankingResults)(refit_rankings)
refit_data.register(BestWorstEffects)(refit_sets)
refit_data.register(PatternResults)(refit_patterns)

target_of.register(LLBTResults)(plain_target)
target_of.register(MixedResults)(effects_target)
target_of.register(RankingResults)(list_target)
target_of.register(PatternResults)(pattern_target)

tested.register(LLBTResults)(plain_model)
tested.register(MixedResults)(model_with_effects)
tested.register(DiscriminationResults)(model_with_discriminations)
tested.register(LargeResults)(model_of_many)
tested.register(RankingResults)(model_of_lists)
tested.register(BestWorstEffects)(model_of_sets)
tested.register(PatternResults)(model_of_patterns)


@own_estimates.register
def _(res: MixedResults) -> FloatArray:
    return np.concatenate([res.maximum.params, res.maximum.scales / res.units])  # crossed groupings have no units


@estimates_of.register
def _(res: MixedResults, data: Comparisons) -> FloatArray:
    without = refit_table(res.without, data)
    maximum = marginal_maximum(without, res.brackets)[-1]
    return np.concatenate([maximum.params, maximum.scales / slope_units(without.design, res.brackets)])


@own_summary.register
def _(res: MixedResults) -> FloatArray:
    return effect_scores(res, res.comparisons) if np.any(res.solution.scales > 0) else own_estimates(res)


@summary_of.register
def _(res: MixedResults, data: Comparisons) -> FloatArray:
    return effect_scores(res, data) if np.any(res.solution.scales > 0) else estimates_of(res, data)


@estimates_of.register
def _(res: LLBTResults, data: Comparisons) -> FloatArray:
    return finite(PlainCounts.of(res).estimated(data.outcome_counts))


@estimates_of.register
def _(res: DiscriminationResults, data: Comparisons) -> FloatArray:
    return finite(JudgedCounts.of(res).estimated(data.outcome_counts))  # start from the estimates, not from many starts


@singledispatch
def drawn_answers(res: Any, n: int, rng: np.random.Generator) -> tuple[Rankings, ...] | tuple[Patterns, ...]:
    """Return new rankings, sets or patterns drawn from a fit, n times as many as the data have."""
    raise OptionError(f"a {type(res).__name__} draws no answers", expected="a fit of rankings, sets or patterns")


drawn_answers.register(RankingResults)(drawn_rankings)
drawn_answers.register(PatternResults)(drawn_patterns)


@drawn_answers.register
def _(res: BestWorstEffects, n: int, rng: np.random.Generator) -> tuple[Rankings, ...]:
    return tuple(drawn_sets(res, rng) for _ in range(n))
