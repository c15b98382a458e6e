"""The bias of Laplace's approximation, from fits to judgments that are simulated at its estimates."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..base.table import Field, Table, counted
from ..core.columns import FloatArray, IntArray
from ..errors import DesignError
from ..kernel.crossed import Crossed
from ..kernel.laplace import NormalDensity
from ..kernel.laplace_fit import normal_maximum, simulated
from ..kernel.likelihood import Problem
from ..kernel.mixed import MixedFit
from ..kernel.threads import few_threads
from ..resampling import Resampler
from .mixed_estimates import MixedEstimates

_TABLES = {True: 50, False: 20}  # simulated tables if groupings are crossed, and if not
_LEVELS = 200  # most levels of a grouping in each table, if it is not crossed
_START = 0.1  # start for a σ that is 0


def laplace_bias(res: MixedEstimates, resampler: Resampler) -> Table:
    """Return the bias of the estimates of Laplace's approximation; see `MixedResults.laplace_bias`."""
    crossed, best, judges = res.judges.crossed, res.maximum, res.judges
    if crossed is None or not isinstance(best.rule, NormalDensity) or best.rule.method != "laplace":
        raise DesignError(
            "the effects are not integrated out by Laplace's approximation, or every σ is 0",
            "Only Laplace's approximation has this bias: fit(…, approximation='laplace').",
        )
    task = partial(_refitted, judges.problem, crossed, best, bool(judges.others))
    with few_threads(len(res.names)):
        drawn = np.stack(resampler.each([task] * _TABLES[bool(judges.others)]))
    known = ~np.isnan(drawn).any(axis=1)
    if known.sum() < 2:
        raise DesignError(
            f"{len(drawn) - known.sum()} of {len(drawn)} simulated tables have no finite estimates",
            "Collect more judgments.",
        )
    units = np.append(np.ones(len(best.params)), res.units)
    estimate = np.append(best.params, best.scales) / units
    bias = drawn[known].mean(axis=0) / units - estimate
    error = drawn[known].std(axis=0, ddof=1) / units / np.sqrt(known.sum())
    lost = len(drawn) - int(known.sum())
    notes = [f"from {counted(len(drawn), 'table')} simulated at the estimates; estimates are log-worths λ, γ, δ and σ"]
    if lost:
        notes.append(f"left out: {counted(lost, 'table')} without finite estimates")
    return Table(
        (
            Field("term", "term", [*res.names, *(f"σ {bracket}" for bracket in res.brackets)]),
            Field("estimate", "estimate", estimate, "estimate"),
            Field("bias", "bias", bias, "estimate"),
            Field("std_error", "std_error", error, "estimate"),
            Field("corrected", "corrected", estimate - bias, "estimate"),
        ),
        title="Bias of Laplace's approximation",
        notes=tuple(notes),
    )


def _refitted(
    problem: Problem, crossed: Crossed, best: MixedFit, everything: bool, rng: np.random.Generator
) -> FloatArray:
    """Return the estimates from one simulated table, (p + E,); NaN where they are not finite."""
    lines: IntArray = np.arange(len(crossed.rows))
    levels = int(crossed.group.max()) + 1
    if not everything and levels > _LEVELS:
        some = np.zeros(levels, dtype=np.bool_)
        some[rng.choice(levels, _LEVELS, replace=False)] = True
        lines = np.flatnonzero(some[crossed.group])
    drawn = simulated(problem, crossed, best, lines, rng)
    missing = np.full(len(best.params) + len(best.scales), np.nan)
    try:
        again = normal_maximum(problem, drawn, best.params, np.maximum(best.scales, _START), "laplace")
    except np.linalg.LinAlgError:
        return missing
    return missing if again.infinite else np.append(again.params, again.scales)
