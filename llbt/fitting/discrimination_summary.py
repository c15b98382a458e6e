"""The printout of a fit with a discrimination of each judge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.column_fit import interval_texts
from ..base.table import Table, format_estimates, format_number, format_p
from ..core.statistics import TestResult
from ..errors import listed
from ..kernel.discrimination import SEED
from .clusters import RATIOS, independence_note
from .discrimination_estimates import DiscriminationEstimates
from .discrimination_tests import alike_notes, equality_test, proportionality_test
from .fractional_counts import fractional_notes
from .summary import (
    NOT_CONVERGED,
    aliased_notes,
    as_clusters,
    coefficient_table,
    head_lines,
    held_notes,
    likelihood_lines,
    model_title,
    scale_notes,
)
from .summary_rows import Sort

_SHOWN = 12  # most judges in the printout


def discrimination_summary(res: DiscriminationEstimates, *, odds: bool, max_rows: int, sort: Sort) -> Table:
    """Return the summary of a fit with discriminations; see `DiscriminationResults.summary`."""
    elsewhere = as_clusters(res.groups) | {res.judging.name: "each with a discrimination"}
    table = coefficient_table(res.average, odds=odds, max_rows=max_rows, sort=sort)
    return replace(
        table,
        title=f"{model_title(res.average)} with a discrimination of each {res.judging.name}",
        head=head_lines(res.average, elsewhere),
        foot=(*_discriminations(res), *_fit(res)),
        notes=_notes(res, odds),
    )


def _discriminations(res: DiscriminationEstimates) -> tuple[str, ...]:
    """Return the block of discriminations; with many judges only the largest and the smallest."""
    levels, sigma = res.judging.levels, res.solution.sigma
    order = np.argsort(-sigma, kind="stable")
    half = _SHOWN // 2
    left_out = len(levels) - _SHOWN
    shown = order if left_out <= 1 else np.concatenate([order[:half], order[-half:]])
    bounds = res.discrimination_intervals().to_numpy()[shown]
    columns = [format_estimates(column) for column in (sigma[shown], res.discrimination_errors.to_numpy()[shown])]
    cells = [
        [f"{res.judging.name} {levels[k]}" for k in shown],
        *columns,
        interval_texts(*(format_estimates(column) for column in bounds.T)),
        res.readings().iloc[shown].tolist(),
    ]
    heads = ["", "σ", "Std. Error", "95 % CI", ""]
    widths = [max(map(len, [head, *column])) for head, column in zip(heads, cells, strict=True)]
    rows = [heads, *zip(*cells, strict=True)]
    lines = [
        "  ".join(
            [f"{row[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:4], widths[1:4], strict=True)), row[4]]
        )
        for row in rows
    ]
    if left_out > 1:
        lines.insert(1 + half, f"… {left_out} between them: res.by_judge()")
    head = f"Discriminations of {len(levels)} levels of {res.judging.name}:"
    return (head, *(f"  {line}".rstrip() for line in lines), *_named(res))


def _named(res: DiscriminationEstimates) -> list[str]:
    """Return notes on inverted judges, and on judges who guess."""
    readings = res.readings()
    lines = []
    for word, meaning in (("inverted", "σ < 0: prefers what the others do not"), ("guessing", "σ ≈ 0")):
        judges = readings.index[[word in reading for reading in readings]].tolist()
        if judges:
            lines.append(f"  {word.capitalize()} ({meaning}): {listed(judges)}")
    return lines


def _fit(res: DiscriminationEstimates) -> tuple[str, ...]:
    """Return the deviances with the tests against both neighbouring models, and how the maximum was found."""
    best = res.solution
    without, wider = res.without, res.wider
    lines = [
        f"Deviance: {format_number(without.deviance, 7)} on {without.df_resid} with equal discriminations, "
        f"{format_number(res.deviance, 7)} on {res.df_resid} here: {_described(equality_test(res))}"
    ]
    if wider.res is None:
        lines.append(f"  against {wider.formula}: {wider.reason}")
    else:
        lines.append(
            f"  against {format_number(wider.res.deviance, 7)} on {wider.res.df_resid} of {wider.formula}: "
            f"{_described(proportionality_test(res))}"
        )
    lines += [
        f"Pearson X²: {format_number(res.pearson_chi2)}",
        *likelihood_lines(res.llf, res.aic, res.bic, (res.llf_poisson, res.aic_poisson)),
        f"Newton's method: {best.n_iter} steps; {best.agreed} of {best.starts} starts reached this maximum (seed "
        f"{SEED})",
    ]
    return tuple(lines)


def _described(test: TestResult) -> str:
    p = format_p(test.p_value)
    return (
        f"χ² {format_number(test.statistic, 5)} on {test.df:g} df, p {p}"
        if p.startswith("<")
        else (f"χ² {format_number(test.statistic, 5)} on {test.df:g} df, p = {p}")
    )


def _notes(res: DiscriminationEstimates, odds: bool) -> tuple[str, ...]:
    notes = scale_notes(res.average, odds)
    notes.append(f"Estimates are of a {res.judging.name} with σ = 1. σ multiplies log-worths; mean of σ²: 1.")
    notes += [*alike_notes(res.without), *aliased_notes(res.average.aliased), *held_notes(res.fixed)]
    notes += fractional_notes(res.average.counts, res.groups, res.average.comparisons.clusters)
    notes += [*res.covariance.notes, *independence_note(res.groups, RATIOS)]
    if not res.converged:
        notes.append(NOT_CONVERGED)
    return (*notes, *res.comparisons.notes)
