"""The judge of a question: all judges alike, the average judge, or a judge drawn from the population."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from typing import Any

from ..core.columns import Label
from ..errors import OptionError
from ..fitting.estimates import Estimates
from ..fitting.fit_part import FitPart
from ..fitting.fitted import WithWorths, WorthSource, average_of
from ..fitting.population_predictions import Population, check_population, level_at, levels_by
from ..fitting.prediction import codings_of
from ..fitting.protocols import WithEffects, has_discriminations, has_effects
from ..formulas.grid import At, Difference, Judged
from .scales import Scale


def asked_of(
    res: WithWorths | FitPart | WorthSource, at: At, population: bool, scale: Scale
) -> tuple[Estimates, At, Population | None]:
    """Return the fit with the requested log-worths, their `at`, and the population for averaged probabilities.

    Levels of a new judge, on which only σ depends, are left out of `at`.

    Raises
    ------
    OptionError
        For a population if the fit has none, for log-worths of a population, and for a judge whose worths are not
        parameters.
    """
    _check_judge(res, at)
    check_difference(average_of(res), at, population, scale)
    if not has_effects(res):
        if population:
            check_population(None)
        return average_of(res), at, None
    if population:
        check_population(res)
    if population and scale == "log_worth":
        raise OptionError(
            "population=True with scale='log_worth': the mean log-worths of the judges are those of the average judge",
            "Leave population= out, or use another scale: scale='log_odds'.",
        )
    if not population:
        return res.average, at, None
    levels = level_at(res, at)
    return res.average, _of_worths(res, at, levels), Population.of(res, ordered=False, levels=levels)


def _of_worths(res: WithEffects, at: At, levels: Collection[str]) -> At:
    """Return `at` without the covariates in `levels` that the formula without brackets does not use."""
    used = _variables(res)

    def rest(named: Mapping[Any, Any]) -> dict[Any, Any]:
        return {name: value for name, value in named.items() if name in used or name not in levels}

    if isinstance(at, Judged):
        return Judged(rest(at.within)) if rest(at.within) else "average"
    return rest(at) or None if isinstance(at, Mapping) else at


def new_judges(res: WithEffects, at: At) -> list[tuple[str, At]]:
    """Return a new judge of each level of the covariates that σ depends on: the level in words, and where to ask.

    Without such covariates there is one, with an empty text.
    """
    levels = levels_by(res.brackets)
    if not levels:
        return [("", at)]
    combined = [dict(zip(levels, one, strict=True)) for one in itertools.product(*levels.values())]
    return [(", ".join(f"{name}={level}" for name, level in one.items()), _with(at, one)) for one in combined]


def _with(at: At, levels: Mapping[str, Label]) -> At:
    """Return `at` with levels of a new judge."""
    if isinstance(at, Judged) or at == "average":
        return Judged({**(at.within if isinstance(at, Judged) else {}), **levels})
    return {**at, **levels} if isinstance(at, Mapping) else dict(levels)


def check_difference(res: Estimates, at: At, population: bool, scale: Scale) -> None:
    """Raise for differences between groups that are not sums of log-worths."""
    if not isinstance(at, Difference) or scale == "log_worth":
        return
    if scale == "probability":
        raise OptionError(
            "scale='probability' of differences between groups",
            "Use scale='log_odds', or differences of probabilities: res.predict(by='language', hypothesis='pairwise').",
        )
    if population or not res.response.plain_odds:
        raise OptionError(
            f"scale={scale!r} of differences between groups: odds depend on more than the log-worths",
            "Use scale='log_worth'.",
        )


def _check_judge(res: WithWorths | FitPart | WorthSource, at: At) -> None:
    """Raise for single judges of the table, because other functions return their log-worths and probabilities."""
    if has_effects(res):
        names = [bracket.grouping for bracket in res.brackets]
        has = ".worths() has their log-worths" if res.design.plain else " has their effects"
        other = f"llbt.judge_effects(res, by={{0!r}}){has}, and res.predict(at={{{{{{0!r}}: …}}}}) has"
    elif has_discriminations(res):
        names = [res.judging.name]
        other = "res.by_judge() has the σ that multiplies a judge's log-worths, and res.predict() has"
    else:
        return
    used = _variables(res)
    for name in names:
        if isinstance(at, Mapping) and name in at and name not in used:
            raise OptionError(
                f"at={{{name!r}: …}}, but the worth has no parameters of each {name}",
                f"Leave it out: {other.format(name)} probabilities.",
            )


def _variables(res: WithWorths | FitPart | WorthSource) -> set[str]:
    return {name for block in codings_of(average_of(res)).blocks.values() for name in block.variables}


def population_notes(population: Population | None) -> tuple[str, ...]:
    """Return the note that answers are for a judge drawn from the population."""
    return () if population is None else (population.text,)
