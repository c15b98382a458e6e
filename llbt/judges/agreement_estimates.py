"""Coefficients of agreement of groups of judgments, with intervals from resampled units and judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..base.arguments import is_real
from ..base.budgets import refuse_draws
from ..base.notes import named
from ..base.table import about, counted
from ..core.columns import Coded, FloatArray, IntArray, as_objects
from ..data.standard_columns import free_name
from ..errors import OptionError, listed
from ..resampling import Resampler, degenerate_notes, drawn_weights, percentiles
from .coefficients import Labelled, Sums, corrected, crossed, observed_and_expected, summed, unit_features
from .labelled_units import Among, LabelledUnits
from .resampled_judges import JudgedUnits

ResampledAgreement = Literal["units", "judges", "both"]
_Draw = Callable[[int, np.random.Generator], Sums]


@dataclass(frozen=True, eq=False)
class Plan:
    """Which coefficients and intervals to compute for each group.

    Attributes
    ----------
    names, withheld : tuple of str
        The coefficients, and the coefficients that the judgments do not allow.
    among : {"inter", "intra"}
    chance : ndarray, shape (K,), or None
        Label shares for Scott's π; None: the label shares of the group.
    n : int
        Resamples.
    resample : {"units", "judges", "both"}
        The resampled units.
    confidence : float
    draw : Resampler
    """

    names: tuple[str, ...]
    withheld: tuple[str, ...]
    among: Among
    chance: FloatArray | None
    n: int
    resample: ResampledAgreement
    confidence: float
    draw: Resampler


def measure(read: LabelledUnits, plan: Plan, by: str | None, bins: int | None) -> tuple[list[pd.DataFrame], list[str]]:
    """Return the result frame of each group and of all judgments, and notes."""
    if by is None:
        frame, notes_there = _measured(read.data, plan)
        return [frame], notes_there
    column = read.column(by, "by") if bins is None else in_bins(read.column(by, "by"), by, bins)
    levels = column.levels.tolist()
    frames: list[pd.DataFrame] = []
    notes: dict[str, list[object]] = {}
    for k, name in enumerate(levels):
        frame, notes_there = _measured(read.data.take(np.flatnonzero(column.codes == k)), plan)
        frames.append(frame.assign(**{by: name}))
        for note in notes_there:
            notes.setdefault(note, []).append(name)
    frame, notes_there = _measured(read.data, plan)
    total = free_name("all", [str(level) for level in levels])
    frames.append(frame.assign(**{by: total}))
    within = sum(int(part["pairs"].iloc[0]) for part in frames[:-1])
    if within < frames[-1]["pairs"].iloc[0]:
        notes_there = [*notes_there, f"pairs of judgments with different {by} count only in the row {total!r}"]
    return [part[[by, *frame.columns]] for part in frames], [
        *(about(f"{by} {listed(names, 2)}", note) for note, names in notes.items()),
        *notes_there,
    ]


def in_bins(column: Coded, name: str, bins: int) -> Coded:
    """Return a column of numbers as intervals with about as many judgments each; equal numbers stay together."""
    levels = column.levels.tolist()
    odd = [level for level in levels if not is_real(level)]
    if odd:
        raise OptionError(
            f"bins={bins} with by={name!r}, which holds {listed(odd, 3)}",
            f"Leave bins= out: the result then has one row for each value of {name!r}.",
            expected="a column of numbers",
        )
    values = np.array(levels, dtype=np.float64)
    there = column.codes >= 0
    edges = np.unique(np.quantile(values[column.codes[there]], np.arange(1, bins) / bins))
    place = np.searchsorted(edges, values, side="right")
    used, where = np.unique(place, return_inverse=True)
    ends = [(values[where == k].min(), values[where == k].max()) for k in range(len(used))]
    labels = [f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in ends]
    return Coded(name, as_objects(labels), np.where(there, where[column.codes], -1))


def _measured(data: Labelled, plan: Plan) -> tuple[pd.DataFrame, list[str]]:
    """Return the result frame of some judgments, and notes on undefined coefficients."""
    features = unit_features(data, plan.among)
    kappa = any(name.startswith("cohen") and name not in plan.withheld for name in plan.names)
    met = crossed(data).unit_margins(data.units, len(data.flip)) if kappa else None
    sums = _sums(features, met, np.ones((1, data.units)))
    agreement = observed_and_expected(sums, data.flip, plan.chance)
    enough = sums.paired[0] >= 2
    rows = np.full((len(plan.names), 3), np.nan)
    for k, name in enumerate(plan.names):
        if name not in plan.withheld and enough:
            rows[k] = [corrected(name, *agreement[name])[0], agreement[name][0][0], agreement[name][1][0]]
    frame = pd.DataFrame({"term": plan.names, "estimate": rows[:, 0]})
    notes = _undefined(rows, plan, int(sums.paired[0]))
    if plan.n:
        frame["conf_low"], frame["conf_high"], more = _intervals(data, plan, features, met, rows[:, 0])
        notes += more
    frame["observed"], frame["expected"] = rows[:, 1], rows[:, 2]
    for name, value in (("agreements", sums.agree), ("pairs", sums.pairs), ("units", sums.paired)):
        frame[name] = round(float(value[0]))
    return frame, notes


def _sums(features: FloatArray, met: Any, weights: FloatArray) -> Sums:
    if met is None:
        return summed(features, weights)
    k = round((features.shape[1] - 5) ** 0.5) - 1
    return summed(features, weights, (weights @ met).reshape(len(weights), -1, 2, k))


def _undefined(rows: FloatArray, plan: Plan, paired: int) -> list[str]:
    if paired < 2:
        how = "by two judges" if plan.among == "inter" else "twice by a judge"
        return [f"{counted(paired, 'unit')} judged {how}: agreement is undefined"]
    gone = [n for n, row in zip(plan.names, rows, strict=True) if np.isnan(row[0]) and n not in plan.withheld]
    return [f"{named(gone, 2)} undefined: only one label occurs, so chance agreement is 1"] if gone else []


def _intervals(
    data: Labelled, plan: Plan, features: FloatArray, met: Any, estimates: FloatArray
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return bounds of each coefficient, (C,) each, from resamples, and a note on resamples without a coefficient."""
    defined = ~np.isnan(estimates)
    refuse_draws("keeping the coefficients of {n} resamples", plan.n, len(estimates))
    replicates = np.full((plan.n, len(estimates)), np.nan)
    if plan.resample == "units":
        draw: _Draw = partial(_of_units, features, met)
        entries = max(data.units, met.shape[1] if met is not None else 0)
    else:
        _, judge = np.unique(data.judge, return_inverse=True)
        tables = JudgedUnits.of(replace(data, judge=judge.astype(np.int64)), met is not None)
        draw, entries = partial(_of_judges, tables, plan.resample == "both", plan.among), tables.entries
    if defined.any():
        names = [name for name, is_defined in zip(plan.names, defined, strict=True) if is_defined]
        task = partial(_coefficients, draw, names, data.flip, plan.chance)
        replicates[:, defined] = np.concatenate(plan.draw.blocks(task, plan.n, entries))
    low, high = percentiles(replicates, plan.confidence, estimates)
    return low, high, degenerate_notes(replicates[:, defined], "with an undefined coefficient")


def _coefficients(
    draw: _Draw, names: list[str], flip: IntArray, chance: FloatArray | None, size: int, rng: np.random.Generator
) -> FloatArray:
    """Return coefficients in resamples, shape (size, C)."""
    agreement = observed_and_expected(draw(size, rng), flip, chance)
    return np.column_stack([corrected(name, *agreement[name]) for name in names])


def _of_units(features: FloatArray, met: Any, size: int, rng: np.random.Generator) -> Sums:
    return _sums(features, met, drawn_weights(len(features), size, rng))


def _of_judges(tables: JudgedUnits, both: bool, among: Among, size: int, rng: np.random.Generator) -> Sums:
    judges = drawn_weights(tables.counts.shape[1], size, rng)
    units = drawn_weights(tables.units, size, rng) if both else np.ones((size, tables.units))
    return tables.sums(judges, units, among)
