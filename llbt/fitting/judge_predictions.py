"""Outcome probabilities for judges of the table, at their most probable effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.table import Table
from ..core.columns import FloatArray, IntArray
from ..formulas.grid import codes_of
from ..kernel.effect_groups import pair_loadings
from ..kernel.group_modes import gram
from ..kernel.likelihood import Problem, rows_of
from ..kernel.mixed import restricted
from .crossed_predictions import several_levels
from .effect_levels import of_own_level
from .effect_lines import entries_of, slope_values
from .mixed_estimates import MixedEstimates
from .prediction import (
    chance_df,
    codings_of,
    comparisons_of,
    free_columns,
    long_table,
    pairs_at,
    plain_chances,
    undetermined_comparisons,
)

_ERRORS = "standard errors allow for the uncertainty of effects and estimates"


def known_predicted(res: MixedEstimates, frame: Any, at: Mapping[str, Any] | None, confidence: float) -> Table:
    """Return outcome probabilities for the judges named in a frame or in `at`; see `MixedResults.predict`."""
    name = res.judges.name
    notes: tuple[str, ...] = ()
    if at is not None:
        problem, shown, notes = _asked(res, at)
    else:
        problem, shown = comparisons_of(res.average, frame, (name,))
    judges = codes_of(res.judges.levels, shown[name], f"{name!r} (population=True predicts a new one)")
    own = of_own_level(res.brackets, res.comparisons, shown, shown if at is None else at)
    problem, judges = rows_of(problem, own), judges[own]
    shown = {key: [column[k] for k in own.tolist()] for key, column in shown.items()}
    objects = res.comparisons.objects
    pairs = np.stack([codes_of(objects, shown[f"object_{side}"], "object") for side in "ij"], axis=1)
    estimate, error = _chances(res, problem, pairs, judges)
    estimate[undetermined_comparisons(res.average, problem)] = np.nan
    chances = (estimate, error, chance_df(res.average, free_columns(res.average, problem), error))
    notes = (*notes, f"at the most probable effects of each {name}", _ERRORS)
    return long_table(res.average, shown, chances, confidence, notes)


def _asked(res: MixedEstimates, at: Mapping[str, Any]) -> tuple[Problem, dict[str, list[Any]], tuple[str, ...]]:
    """Return all pairs at some covariate values for each named judge."""
    name = res.judges.name
    if any(name in coding.variables for coding in codings_of(res.average).blocks.values()):
        asked = pairs_at(res.average, at).unmixed(f"probabilities of each {name}")
        return asked.problem, asked.shown, asked.notes
    several = several_levels(at[name], name)
    asked = pairs_at(res.average, {key: value for key, value in at.items() if key != name})
    asked = asked.unmixed(f"probabilities of each {name}")
    size = len(asked.shown["object_i"])
    repeated = {key: column * len(several) for key, column in asked.shown.items()}
    repeated[name] = [level for level in several for _ in range(size)]
    return rows_of(asked.problem, np.tile(np.arange(size), len(several))), repeated, asked.notes


def _chances(res: MixedEstimates, problem: Problem, pairs: IntArray, judges: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return probabilities and their standard errors, each (R, K).

    Errors follow Kass & Steffey (1989): the covariance of the effects given the estimates, plus a part for the
    estimation error of the parameters that the modes depend on.
    """
    if res.solution.rule is None:  # no effect is left: every judge is the average judge
        return plain_chances(res.average, problem)[:2]
    eta = np.stack(problem.at(np.asarray(res.params.fillna(0.0), dtype=float)))
    cov = np.zeros((len(eta), len(eta), eta.shape[1]))
    grouped = res.judges.grouped
    for k in range(len(grouped.bundles)):
        some = np.flatnonzero(grouped.bundle[judges] == k)
        if len(some):
            moved, cov[:, :, some] = _moved(res, k, rows_of(problem, some), pairs[some], grouped.place[judges[some]])
            eta[:, some] += moved
    p, _ = problem.response.probabilities(eta)
    slopes = p[:, None] * problem.response.slopes(p)
    variance = np.einsum("kbr,bcr,kcr->rk", slopes, cov, slopes)
    return p.T, np.sqrt(np.maximum(variance, 0))


def _moved(
    res: MixedEstimates, k: int, problem: Problem, pairs: IntArray, place: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the effects that judges of a bundle add to the predictors, (B, R), and their covariance, (B, B, R)."""
    scales, free = res.solution.scales, res.average.free
    active, scale = np.flatnonzero(scales > 0), res.judges.grouped.bundles[k].scale
    some: IntArray = np.unique(scale)
    own = np.flatnonzero(np.isin(scale, active))
    each, index = np.unique(place, return_inverse=True)
    at = res.solution.modes[k].at[each]
    inverse = np.asarray(np.linalg.inv(res.solution.modes[k].information[each]), dtype=np.float64)
    worths = res.judges.grouped.objects[k][place]
    values = slope_values(res.design, problem.signed, res.brackets)
    entries = entries_of(res.brackets, res.comparisons.response, values)
    loadings = pair_loadings(entries, res.average.response.width, pairs, worths, some)[..., own] * scales[scale[own]]
    moved = loadings * at[index]  # (B, R, d)
    added = [moved[..., scale[own] == e].sum(axis=2) for e in active]  # derivatives in log σ
    jacobian = np.einsum("brd,rdq->brq", loadings, _turned(res, k, each, inverse)[index])
    jacobian[..., : len(free)] += np.stack([predictor.columns(free).toarray() for predictor in problem.predictors])
    jacobian[..., len(free) :] += np.stack(added, axis=2)
    known = np.concatenate([np.arange(len(free)), len(free) + active])
    cov = np.einsum("brp,pq,crq->bcr", jacobian, res.solution.covariance[np.ix_(known, known)], jacobian)
    cov += np.einsum("brd,rde,cre->bcr", loadings, inverse[index], loadings)
    cov[0, 0] += _unseen(res, some, pairs, worths)
    return moved.sum(axis=2), cov


def _turned(res: MixedEstimates, k: int, each: IntArray, inverse: FloatArray) -> FloatArray:
    """Return the derivatives of the modes in the fixed parameters and log σ, (G, d, p + E), by implicit functions."""
    scales, mode = res.solution.scales, res.solution.modes[k]
    active = np.flatnonzero(scales > 0)
    groups = restricted(res.judges.grouped.bundles[k], tuple(active.tolist()))
    loadings = groups.loadings[:, each] * scales[active][groups.scale]  # A, (B, G, R, d)
    score, weight = mode.score[:, each], mode.weight[:, :, each]
    rows = np.stack([predictor.toarray()[groups.rows[each]] for predictor in res.judges.problem.predictors])
    bent = np.einsum("bgrd,bcgr->cgrd", loadings, weight)
    pull, among = np.einsum("bgrd,bgr->gd", loadings, score), gram(loadings, weight)
    steps = [-np.einsum("cgrd,cgrp->gdp", bent, rows)]
    for e in range(len(active)):
        mine = groups.scale == e
        steps.append((pull * mine - np.einsum("gde,ge->gd", among, mode.at[each] * mine))[:, :, None])
    return np.asarray(inverse @ np.concatenate(steps, axis=2))


def _unseen(res: MixedEstimates, some: IntArray, pairs: IntArray, worths: FloatArray) -> FloatArray:
    """Return the variance of differences of log-worths that a judge's judgments do not inform, shape (R,).

    `some` are the brackets that the judges have.
    """
    of_objects = [e for e in some.tolist() if res.brackets[e].of_objects]
    if not of_objects:
        return np.zeros(len(pairs))
    place = np.arange(len(pairs))
    seen = worths[place, pairs[:, 0]] - worths[place, pairs[:, 1]]
    return np.asarray(res.solution.scales[of_objects[0]] ** 2 * np.maximum(2 - (seen**2).sum(axis=1), 0))
