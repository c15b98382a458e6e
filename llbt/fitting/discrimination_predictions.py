"""Outcome probabilities for judges with their own discriminations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..base.table import Table
from ..core.columns import FloatArray
from ..data.frames import read_covariate
from ..data.sources import open_frame
from ..formulas.grid import codes_of
from ..kernel.discrimination import Judged
from .discrimination_estimates import DiscriminationEstimates
from .prediction import comparisons_of, long_table, predicted, undetermined

_BLOCK = 4096  # rows computed at once


def predicted_by_judge(res: DiscriminationEstimates, frame: Any, confidence: float) -> Table:
    """Return outcome probabilities of judges as a long table; see `DiscriminationResults.predict`."""
    if frame is None:
        judged = res.judging.judged
        table = res.comparisons.to_frame().drop(columns=list(res.comparisons.count_columns))
        shown = {str(name): table[name].tolist() for name in table}
    elif res.judging.name not in open_frame(frame).names:
        return predicted(res.average, frame, None, confidence)
    else:
        judged, shown = _read(res, frame)
    estimate, error = _probabilities(res, judged)
    return long_table(res.average, shown, (estimate, error, np.full(len(estimate), res.covariance.df)), confidence, ())


def _read(res: DiscriminationEstimates, frame: Any) -> tuple[Judged, dict[str, list[Any]]]:
    """Return new comparisons with their judges, and the columns that were read."""
    average, judging = res.average, res.judging
    problem, shown = comparisons_of(average, frame)
    column = read_covariate(open_frame(frame).pick({"covariates": (judging.name,)}), judging.name, numeric=False)
    judges = column.values.tolist()
    codes = codes_of(list(judging.levels), judges, f"covariate {judging.name!r}")
    known = ~np.any([undetermined(average, rows) for rows in problem.predictors], axis=0)
    free = replace(problem, predictors=tuple(rows.columns(average.free) for rows in problem.predictors))
    offsets = np.stack(problem.at(_held(res)))
    offsets[:, ~known] = np.nan
    judged = Judged(replace(free, offsets=offsets), judging.judged.scaled, codes, judging.judged.size)
    return judged, {**shown, judging.name: judges}


def _held(res: DiscriminationEstimates) -> FloatArray:
    """Return the values of held parameters, 0 for all others."""
    held = np.zeros(len(res.names))
    for name, value in res.fixed.items():
        held[res.names.index(name)] = value
    return held


def _probabilities(res: DiscriminationEstimates, judged: Judged) -> tuple[FloatArray, FloatArray]:
    """Return probabilities and their delta-method standard errors, each (R, C)."""
    params, sigma, cov = res.solution.params, res.solution.sigma, res.covariance.matrix
    p = len(params)
    predictors = judged.predictors(params, sigma)
    probability = judged.problem.response.probabilities(predictors)[0]
    slopes = probability[:, None] * judged.problem.response.slopes(probability)  # (C, B, R)
    worth = np.zeros(p)
    worth[judged.scaled] = params[judged.scaled]
    difference = judged.problem.signed @ worth
    error = np.empty(probability.shape)
    for start in range(0, probability.shape[1], _BLOCK):  # blocks of rows bound the memory
        rows = slice(start, start + _BLOCK)
        parts = np.stack([predictor.take(rows).toarray() for predictor in judged.problem.predictors])
        parts[0][:, judged.scaled] *= sigma[judged.judge[rows], None]
        who = p + judged.judge[rows]
        along = np.einsum("cbr,brp->crp", slopes[:, :, rows], parts)
        by_sigma = slopes[:, 0, rows] * difference[rows]
        variance = np.einsum("crp,pq,crq->cr", along, cov[:p, :p], along)
        variance += 2 * by_sigma * np.einsum("crp,rp->cr", along, cov[who, :p]) + by_sigma**2 * cov[who, who]
        error[:, rows] = np.sqrt(np.maximum(variance, 0.0))
    return probability.T, error.T
