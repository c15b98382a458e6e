"""Checks of dependent judgments: blocks taken as independent, and pooled tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ..base.table import counted
from ..core.columns import IntArray, Label, dense
from ..data.frames import Factor
from ..fitting.cluster_units import LEAST, choose_unit, clustered_covariance
from ..fitting.clusters import Way
from ..kernel.robust import Clustered
from ..kernel.unit_scores import dependence
from .baseline_fit import words
from .evidence import Evidence, complete, dependent_within, units_of
from .finding import NAMED, SIGNIFICANT, Finding, leaving_out, p_text

_LISTED = 50  # judges of a table that are named one by one where others are left out
_COMMON = 0.8  # share of all objects that the largest task holds where tasks share their objects


_AS_LISTS = "; fit rankings as rankings: llbt.fit(…, llbt.from_rankings(…))"


@dataclass(frozen=True)
class _Unit:
    """The dependence of judgments within a unit, such as a judge."""

    name: str
    size: int
    p_value: float

    @property
    def significant(self) -> bool:
        return self.p_value < SIGNIFICANT


def check_blocks(e: Evidence) -> Finding:
    """Check whether judgments in the same block, by the same judge or on the same prompt are correlated."""
    factors = units_of(e)
    units = [unit for name, factor in factors.items() if (unit := _unit(e, name, factor)) is not None]
    if not units:
        return Finding("blocks", "ok", "no two judgments share a unit")
    x = e.expected
    unit_chosen = choose_unit(
        x.problem, x.fit, csr_array(x.worths), [_way(e, unit.name, factors[unit.name]) for unit in units]
    )
    figures = {f"p_{unit.name}": unit.p_value for unit in units}
    figures |= {f"ratio_{unit.name}": unit.ratio for unit in unit_chosen.measured}
    figures |= {} if unit_chosen.unit is None else {"ratio": unit_chosen.unit.ratio}
    tests = "; ".join(f"{unit.name} ({counted(unit.size, 'cluster')}): {p_text(unit.p_value)}" for unit in units)
    tests += "" if unit_chosen.unit is None else f". {unit_chosen.clustered}"
    made = next((unit for unit in units if unit.name == e.beside[0]), None)
    alike = [unit for unit in units if unit.significant]
    if not alike and made is None:
        return Finding("blocks", "ok", f"judgments in the same unit are not correlated: {tests}", figures=figures)
    findings = [] if made is None else [f"judgments were made together, in {counted(made.size, 'block')}"]
    findings += [f"judgments with the same {' or '.join(unit.name for unit in alike)} are correlated"] if alike else []
    closest = min(units, key=lambda unit: unit.p_value)
    by = (
        unit_chosen.unit.groups
        if unit_chosen.unit is not None and unit_chosen.unit.ratio > 1
        else (made or closest).name
    )
    return Finding(
        "blocks",
        "warning" if alike else "note",
        f"{', and '.join(findings)} (score test of varying worths): {tests}",
        "ignoring this makes standard errors and p-values too small",
        call_by(by) + (_AS_LISTS if made is not None else ""),
        figures,
    )


def _unit(e: Evidence, name: str, factor: Factor, beside: Sequence[IntArray] = ()) -> _Unit | None:
    """Return the dependence of judgments within a unit, beyond dependence within other clusters `beside`, (N,) each.

    None if no unit has two judgments that share an object.
    """
    x = e.expected
    units, there = x.units(_dense(factor)), factor.codes >= 0
    beside = [codes[there] for codes in beside]
    _, p = dependence(x.pairs, len(e.judgments.objects), x.problem.response, x.probability, units, beside)
    return None if np.isnan(p) else _Unit(name, units.size, p)


def _dense(factor: Factor) -> IntArray:
    """Return codes without unused labels, −1 if the label is missing."""
    whole = np.full(len(factor.codes), -1, dtype=np.int64)
    whole[factor.codes >= 0] = dense(factor.codes[factor.codes >= 0], len(factor.labels))[0]
    return whole


def _way(e: Evidence, name: str, factor: Factor) -> Way:
    """Return a unit as a way of clustering; judgments without a label are clusters of their own."""
    return Way(name, Clustered(e.expected.rows, e.expected.counts, complete(factor)), tuple(factor.labels))


def order_effect(e: Evidence) -> tuple[float, float]:
    """Return the clustered variance of the order effect divided by the unclustered one (at least 1), and its df.

    The unit with the largest ratio is used; it has G* − 1 degrees of freedom.
    """
    x, largest = e.expected, (1.0, np.inf)
    k = x.blocks.index("order")
    for way in (_way(e, name, factor) for name, factor in units_of(e).items()):
        if way.effective >= LEAST:
            matrix, _ = clustered_covariance(x.problem, x.fit, way)
            largest = max(largest, (float(matrix[k, k] / x.fit.cov[k, k]), way.effective - 1))
    return largest


def call_by(groups: str | list[str]) -> str:
    """Return the calls that allow for dependence within one or two units."""
    by = json.dumps(groups, ensure_ascii=False)
    return f'from_judgments(…, clusters={by}), then llbt.fit(…, cov_type="cluster", groups={by})'


def clustered(e: Evidence) -> str:
    """Return the calls that allow for dependent repeats: by judge, or by prompt if there is only one judge."""
    units = [name for name in units_of(e) if name in e.names]
    return (
        call_by(units[0])
        if units
        else "one judge and one prompt: variation between judges or prompts cannot be estimated"
    )


def without(e: Evidence, judges: Sequence[Label]) -> str:
    """Return how to leave out judges: code for rows or for a table of few judges, words for a table of many."""
    assert e.judge is not None  # asked of judges alone
    others = [label for label in e.judge.labels if label not in judges]
    if e.single and others:
        return leaving_out(e.names[0], judges)
    if others and len(others) <= _LISTED:
        return f"c.select(where={{{e.names[0]!r}: {others!r}}})"
    return "make the table without their rows" if others else "ask other judges, too"


def check_tasks(e: Evidence) -> Finding:
    """Check whether tasks that share labels of objects were pooled."""
    assert e.task is not None  # the check needs it
    name, known = e.beside[1], e.task.codes >= 0
    number = len(e.task.labels)
    if number < 2:
        return Finding("tasks", "ok", f"one {name}: {e.task.labels[0]!r}")
    holds = np.zeros((number, len(e.judgments.objects)), dtype=np.bool_)
    for side in e.judgments.pairs.T:
        holds[e.task.codes[known], side[known]] = True
    recur, largest = int((holds.sum(axis=0) > 1).sum()), int(holds.sum(axis=1).max())
    shown = ", ".join(map(str, e.task.labels[:NAMED])) + (", …" if number > NAMED else "")
    text = f"{number} tasks ({name}: {shown})"
    if not recur:
        return Finding("tasks", "ok", f"{text} share no object")
    unit = _unit(e, name, e.task, dependent_within(e))
    p = np.nan if unit is None else unit.p_value
    apart = largest < _COMMON * len(e.judgments.objects)
    figures = {"tasks": float(number), "recur": float(recur), "largest": float(largest), "p_value": p}
    common = (
        f"{recur} of {counted(len(e.judgments.objects), 'object')} are in two or more tasks, the largest has {largest}"
    )
    tested = "" if np.isnan(p) else f"; test of one worth for all tasks: {p_text(p)}"
    if not apart and not p < SIGNIFICANT:
        return Finding("tasks", "ok", f"{text}, {common}{tested}", figures=figures)
    return Finding(
        "tasks",
        "warning",
        f"{text} are pooled: {common}{tested}",
        "each label gets one worth for all tasks, but it may be a different system, or better at one task",
        f"fit each task by itself: {_apart(e, e.task)}",
        figures,
    )


def _apart(e: Evidence, task: Factor) -> str:
    """Return the call that fits each task, from rows or from a table."""
    columns, formula = e.beside[1].split("+"), " + ".join(("object", *words(e.response)))
    by = columns[0] if len(columns) == 1 else columns
    if e.single:
        return f"[llbt.fit({formula!r}, llbt.from_judgments(part, …)) for task, part in frame.groupby({by!r})]"
    return f"[llbt.fit({formula!r}, c.select(where={{{by!r}: task}})) for task in {task.labels}]"
