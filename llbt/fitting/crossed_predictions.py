"""Outcome probabilities for judges and prompts of the table, if both have effects."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.table import Table
from ..core.columns import FloatArray, IntArray
from ..errors import DesignError, OptionError
from ..formulas.brackets import Bracket
from ..formulas.grid import codes_of
from ..kernel.effect_contrasts import Touch, added_effects
from ..kernel.laplace_fit import approximation_at
from ..kernel.likelihood import Problem, rows_of
from .effect_levels import members, of_own_level
from .effect_lines import slope_values
from .mixed_estimates import MixedEstimates
from .prediction import (
    AskedPairs,
    chance_df,
    codings_of,
    comparisons_of,
    free_columns,
    long_table,
    pairs_at,
    plain_chances,
    undetermined_comparisons,
)

_SAID = "predicted effects; their errors are included"


def crossed_predicted(
    res: MixedEstimates, names: Sequence[str], frame: Any, at: Mapping[str, Any] | None, confidence: float
) -> Table:
    """Return outcome probabilities for the levels of one grouping or several; see `MixedResults.predict`.

    Parameters
    ----------
    names : sequence of str
        The groupings that a frame or `at` names; effects of the others are 0.
    """
    if any(bracket.effect == "1" for bracket in res.brackets):
        raise DesignError(
            f"probabilities of each {names[0]} are not predicted if the formula has (1 | object)",
            "Add the effects in judge_effects(res, by=…) to the log-worths in worth(res, scale='log_worth').",
        )
    notes: tuple[str, ...] = ()
    if at is not None:
        problem, shown, notes = _asked(res, names, at)
    else:
        problem, shown = comparisons_of(res.average, frame, tuple(names))
    levels = {name: codes_of(res.judges.groupings[name], shown[name], repr(name)) for name in names}
    own = of_own_level(res.brackets, res.comparisons, shown, shown if at is None else at)
    problem, levels = rows_of(problem, own), {name: codes[own] for name, codes in levels.items()}
    shown = {key: [column[k] for k in own.tolist()] for key, column in shown.items()}
    objects = res.comparisons.objects
    pairs = np.stack([codes_of(objects, shown[f"object_{side}"], "object") for side in "ij"], axis=1)
    estimate, error = _chances(res, problem, pairs, levels)
    estimate[undetermined_comparisons(res.average, problem)] = np.nan
    chances = (estimate, error, chance_df(res.average, free_columns(res.average, problem), error))
    others = [name for name in res.judges.groupings if name not in names]
    whose = f"of each {' and '.join(names)}" + "".join(f", of the average {name}" for name in others)
    return long_table(res.average, shown, chances, confidence, (*notes, f"{whose}: {_SAID}"))


def _asked(
    res: MixedEstimates, names: Sequence[str], at: Mapping[str, Any]
) -> tuple[Problem, dict[str, list[Any]], tuple[str, ...]]:
    """Return all pairs at some covariate values for each combination of the named levels."""
    known = {name for coding in codings_of(res.average).blocks.values() for name in coding.variables}
    outside = [name for name in names if name not in known]
    asked = pairs_at(res.average, {key: value for key, value in at.items() if key not in outside})
    asked = asked.unmixed(f"probabilities of each {' and '.join(names)}")
    return *repeated_pairs(asked, {name: at[name] for name in outside}), asked.notes


def repeated_pairs(asked: AskedPairs, levels: Mapping[str, Any]) -> tuple[Problem, dict[str, list[Any]]]:
    """Return pairs once for each combination of the named levels, with a column for each name."""
    combined = list(itertools.product(*(several_levels(wanted, name) for name, wanted in levels.items())))
    size = len(asked.shown["object_i"])
    shown = {key: column * len(combined) for key, column in asked.shown.items()}
    for k, name in enumerate(levels):
        shown[name] = [one[k] for one in combined for _ in range(size)]
    return rows_of(asked.problem, np.tile(np.arange(size), len(combined))), shown


def several_levels(wanted: Any, name: str) -> list[Any]:
    """Return the levels that `at` names, one or several."""
    if isinstance(wanted, Mapping):
        raise OptionError(
            f"at= averages over values of {name!r}, but probabilities for each {name} cannot be averaged",
            f"Ask for them one by one, or for a {name} drawn from the population: res.predict(population=True).",
        )
    several = list(wanted) if isinstance(wanted, (list, tuple, set, range, np.ndarray)) else [wanted]
    if not several:
        raise OptionError(f"at: no value is given for {name!r}", f"Name at least one value, or leave {name!r} out.")
    return several


def _chances(
    res: MixedEstimates, problem: Problem, pairs: IntArray, levels: Mapping[str, IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Return probabilities and their standard errors, each (R, K)."""
    best, lines, free = res.solution, res.judges.crossed, res.average.free
    if best.rule is None or lines is None:  # no effect is left: every judge is the average judge
        return plain_chances(res.average, problem)[:2]
    values = slope_values(res.design, problem.signed, res.brackets)
    touches = [
        touch
        for e, (bracket, value) in enumerate(zip(res.brackets, values, strict=True))
        if bracket.grouping in levels
        for touch in _touches(res, e, bracket, value, pairs, levels[bracket.grouping])
    ]
    at = approximation_at(res.judges.problem, lines, best)
    moved, cov, slopes = added_effects(res.judges.problem, lines, at, best.params, best.scales, touches)
    eta = np.stack(problem.at(np.asarray(res.params.fillna(0.0), dtype=float))) + moved
    slopes[..., : len(free)] += np.stack([predictor.columns(free).toarray() for predictor in problem.predictors])
    known = np.concatenate([np.arange(len(free)), len(free) + np.flatnonzero(best.scales > 0)])
    cov += np.einsum(
        "brp,pq,crq->bcr", slopes[..., known], best.covariance[np.ix_(known, known)], slopes[..., known], optimize=True
    )
    p, _ = problem.response.probabilities(eta)
    turned = p[:, None] * problem.response.slopes(p)
    variance = np.einsum("kbr,bcr,kcr->rk", turned, cov, turned)
    return p.T, np.sqrt(np.maximum(variance, 0))


def _touches(
    res: MixedEstimates, e: int, bracket: Bracket, value: FloatArray | None, pairs: IntArray, level: IntArray
) -> list[Touch]:
    """Return the effects of a bracket, with their factors (R,), in the judgments of R pairs by R levels."""
    assert res.judges.crossed is not None
    levels, things = res.judges.crossed.levels[e]
    place = {key: k for k, key in enumerate(zip(levels.tolist(), things.tolist(), strict=True))}

    def index(thing: IntArray) -> IntArray:
        keys = zip(level.tolist(), thing.tolist(), strict=True)
        return np.array([place.get(key, -1) for key in keys], dtype=np.int64)

    labels = res.judges.groupings[bracket.grouping]
    ones = members(bracket, res.comparisons, labels)[level].astype(np.float64)
    if bracket.of_objects:
        return [Touch(e, index(pairs[:, k]), 0, sign * ones) for k, sign in enumerate((1.0, -1.0))]
    predictors = bracket.predictors(res.comparisons.response)
    factor = ones if value is None else ones * value
    return [Touch(e, index(np.full(len(pairs), k)), b, factor) for k, b in enumerate(predictors)]
