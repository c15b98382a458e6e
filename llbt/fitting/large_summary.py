"""Outcome probabilities and the printout of a fit of very many objects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special, stats

from ..base.table import Field, Table, counted, format_count, format_figure, format_number, interval_fields
from ..core.columns import FloatArray, IntArray
from ..core.statistics import ratio
from ..formulas.grid import codes_of
from ..kernel.band import Band
from ..kernel.graph_variances import exact_variances
from ..kernel.likelihood import Problem, probabilities, rows_of
from .large_estimates import LargeEstimates
from .prediction import comparisons_of, own_comparisons
from .protocols import WithManyWorths
from .summary import NOT_CONVERGED, coefficient_fields, head_lines, likelihood_lines, prior_note, scale_notes, with_odds
from .summary_rows import Sort

_WITH_ERRORS = 100  # most comparisons whose probabilities get standard errors
_AT_A_TIME = 4
_TOLERANCE = 1e-8


def large_predictions(res: LargeEstimates, frame: Any, confidence: float) -> Table:
    """Return the probability of each outcome; see `LargeResults.predict`."""
    problem, shown = own_comparisons(res.beside) if frame is None else comparisons_of(res.beside, frame)
    objects = res.comparisons.objects
    pairs = np.column_stack([codes_of(objects, shown[f"object_{side}"], "object") for side in "ij"])
    offsets = problem.offsets.copy()
    offsets[0] += res.worths[pairs[:, 0]] - res.worths[pairs[:, 1]]
    problem = replace(problem, offsets=offsets)
    chance = probabilities(problem, res.solution.params)
    outcomes = res.comparisons.response.outcomes
    fields = [Field(name, name, [v for v in column for _ in outcomes]) for name, column in shown.items()]
    fields += [
        Field("outcome", "outcome", list(outcomes) * len(chance)),
        Field("estimate", "estimate", chance.ravel(), "estimate", 3),
    ]
    if len(pairs) > _WITH_ERRORS:
        more = f"For standard errors, predict up to {format_count(_WITH_ERRORS)} comparisons: predict(frame)."
        return Table(tuple(fields), title="Outcome probabilities", notes=(more,)).first()
    error = _chance_errors(res, problem, pairs, chance).ravel()
    center, half = special.logit(chance.ravel()), stats.norm.isf((1 - confidence) / 2) * error
    half = half / (chance.ravel() * (1 - chance.ravel()))
    fields += [
        Field("std_error", "std_error", error, "estimate", 3),
        *interval_fields(special.expit(center - half), special.expit(center + half), confidence, 3),
    ]
    return Table(tuple(fields), title="Outcome probabilities", notes=(f"{100 * confidence:.4g} % intervals",))


def chance_errors(res: WithManyWorths, rows: IntArray) -> FloatArray:
    """Return exact standard errors of the probabilities of some comparisons of the table, (R, K)."""
    c = res.comparisons
    chance = res.cells.means[rows] / c.totals[rows, None]
    return _chance_errors(res, rows_of(res.beside.problem(), rows), c.pairs[rows], chance)


def _chance_errors(res: WithManyWorths, problem: Problem, pairs: IntArray, chance: FloatArray) -> FloatArray:
    """Return delta-method standard errors of probabilities, (R, K): p_k √(gᵀVg), where g is the slope of log p_k."""
    size, width = len(res.worths), len(problem.predictors)
    slopes = problem.response.slopes(chance.T)  # (K, B, R)
    rows = [predictor.toarray() for predictor in problem.predictors]
    errors = np.empty(chance.shape)
    for start in range(0, len(pairs), _AT_A_TIME):
        some = np.arange(start, min(start + _AT_A_TIME, len(pairs)))
        basis = np.zeros((len(some), width, size + rows[0].shape[1]))  # each predictor as combinations of the estimates
        basis[:, :, size:] = np.stack([part[some] for part in rows], axis=1)
        basis[np.arange(len(some)), 0, pairs[some, 0]] += 1.0
        basis[np.arange(len(some)), 0, pairs[some, 1]] -= 1.0
        solved = res.information.solve(basis.reshape(-1, basis.shape[2]).T, tolerance=_TOLERANCE).values
        cov = np.einsum("rbp,prc->rbc", basis, solved.reshape(-1, len(some), width))
        slope = slopes[:, :, some]
        errors[some] = np.sqrt(np.maximum(np.einsum("kbr,rbc,kcr->rk", slope, cov, slope), 0))
    return errors * chance


def large_summary(res: LargeEstimates, *, odds: bool, max_rows: int, sort: Sort) -> Table:
    """Return the printout; see `LargeResults.summary`."""
    others = len(res.beside.names)
    best = np.argsort(-res.worths, kind="stable")[: max(1, max_rows - others)]
    shown = best if sort == "estimate" else np.sort(best)
    variance = exact_variances(res.information, shown, _TOLERANCE)
    error = np.sqrt(np.concatenate([variance, np.diag(res.solution.cov)]))
    estimate = np.concatenate([res.worths[shown], res.solution.params])
    names = [f"object[{res.comparisons.objects[k]}]" for k in shown] + list(res.beside.names)
    z = ratio(estimate, error)
    fields = coefficient_fields(names, estimate, error, z, 2 * stats.norm.sf(np.abs(z)), np.inf)
    if odds:
        shared = [block in ("tie", "bad", "grade") for block in res.beside.design.blocks]
        factor = np.where([*(False for _ in shown), *shared], 1.0, 2.0)
        fields = with_odds(fields, factor)
    rest = len(res.worths) - len(shown)
    return Table(
        fields,
        title="Log-linear Bradley-Terry model",
        head=(f"Formula: {res.specification.formula}", *head_lines(res.beside)[1:]),
        foot=_foot(res),
        notes=_notes(res, odds, rest),
    )


def _foot(res: LargeEstimates) -> tuple[str, ...]:
    null, residual = format_number(res.null_deviance), format_number(res.deviance)
    route = res.information.system.way
    way = (
        "by conjugate gradients"
        if route is None
        else "along a band"
        if isinstance(route, Band)
        else "by a sparse factor"
    )
    width, digits = max(len(null), len(residual)), len(str(res.df_null))
    return (
        f"    Null deviance: {null:>{width}}  on {res.df_null:>{digits}}  degrees of freedom",
        f"Residual deviance: {residual:>{width}}  on {res.df_resid:>{digits}}  degrees of freedom",
        f"Pearson X²: {format_number(res.pearson_chi2)}",
        *_likelihood(res),
        f"Newton's method: {counted(res.n_iter, 'step')}, solved {way}",
    )


def _likelihood(res: LargeEstimates) -> tuple[str, ...]:
    if res.specification.prior is not None:
        return (f"Log-likelihood of the judgments: {format_figure(res.llf)} (no AIC and BIC with a prior)",)
    return likelihood_lines(res.llf, res.aic, res.bic, (res.llf_poisson, res.aic_poisson))


def _notes(res: LargeEstimates, odds: bool, rest: int) -> tuple[str, ...]:
    notes = [*scale_notes(res.beside, odds), "Log-worths are measured from the mean of all objects."]
    if rest:
        notes.append(f"{format_count(rest)} rows with the lowest worths are hidden: use max_rows= or res.to_frame().")
    prior = res.specification.prior
    if isinstance(prior, float | int):
        notes.append(prior_note(float(prior)))
    if not res.converged:
        notes.append(NOT_CONVERGED)
    return (*notes, *res.remarks, *res.comparisons.notes)
