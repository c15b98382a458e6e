"""Checks of judgments that belong together: blocks taken as independent, tasks pooled into one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.columns import dense
from ..data.frames import Factor
from ..kernel.robust import cluster_sandwich, error_ratio
from ..kernel.unit_scores import dependence
from ..table import counted
from .evidence import Evidence, units_of
from .finding import NAMED, SIGNIFICANT, Finding, p_text

_ENTRIES = 2e7  # scores of units held at once; beyond it the ratio of standard errors is not worked out
_ENOUGH = 8  # clusters below which another unit is better to go by
_COMMON = 0.8  # share of all objects that the largest task holds where tasks share their objects


_AS_LISTS = "; rankings as the lists that they are: llbt.fit_rankings(…, llbt.rankings_from(…))"


@dataclass(frozen=True)
class _Unit:
    """What judgments of one unit, such as one judge, have in common; ratio: NaN where that costs too much."""

    name: str
    size: int
    p_value: float
    ratio: float

    @property
    def significant(self) -> bool:
        return self.p_value < SIGNIFICANT


def check_blocks(e: Evidence) -> Finding:
    """Return whether judgments made together (in a block, by a judge, on a prompt) are alike."""
    units = [unit for name, factor in units_of(e).items() if (unit := _unit(e, name, factor)) is not None]
    if not units:
        return Finding("blocks", "ok", "no two judgments belong together")
    figures = {f"p_{unit.name}": unit.p_value for unit in units} | {f"ratio_{u.name}": u.ratio for u in units}
    tests = "; ".join(
        f"{unit.name} ({counted(unit.size, 'cluster')}): {p_text(unit.p_value)}"
        + ("" if np.isnan(unit.ratio) else f", standard errors × {unit.ratio:.2f}")
        for unit in units
    )
    made = next((unit for unit in units if unit.name == e.beside[0]), None)
    alike = [unit for unit in units if unit.significant]
    if not alike and made is None:
        return Finding("blocks", "ok", f"judgments that belong together are not alike: {tests}", figures=figures)
    worst = _most_cautious(alike or [made] if made else alike)
    said = [] if made is None else [f"judgments were made together, in {counted(made.size, 'block')}"]
    said += [f"judgments of one {' or '.join(unit.name for unit in alike)} are alike"] if alike else []
    return Finding(
        "blocks",
        "warning" if alike else "note",
        f"{', and '.join(said)} (score test of worths that vary; standard errors of independent clusters to those of "
        f"independent judgments): {tests}",
        "judgments taken as independent make standard errors too small and p-values too good",
        call_by(worst.name) + (_AS_LISTS if made is not None else ""),
        figures,
    )


def _unit(e: Evidence, name: str, factor: Factor) -> _Unit | None:
    """Return what judgments of a unit have in common; None where no unit has two judgments that share an object."""
    x = e.expected
    codes = dense(factor.codes[factor.codes >= 0], len(factor.labels))[0]
    whole = np.full(len(factor.codes), -1, dtype=np.int64)
    whole[factor.codes >= 0] = codes
    units = x.units(whole)
    _, p = dependence(x.pairs, len(e.judgments.objects), x.problem.response, x.probability, units)
    if np.isnan(p):
        return None
    cheap = units.size * len(x.fit.params) <= _ENTRIES
    ratio = error_ratio(x.problem, cluster_sandwich(x.problem, x.fit, units), x.fit.cov) if cheap else np.nan
    return _Unit(name, units.size, p, ratio)


def _most_cautious(units: list[_Unit]) -> _Unit:
    """Return the unit with the largest standard errors among those with clusters enough."""
    enough = [unit for unit in units if unit.size >= _ENOUGH]
    return max(enough or units, key=lambda unit: -1.0 if np.isnan(unit.ratio) else unit.ratio)


def call_by(name: str) -> str:
    """Return the calls that take the judgments of a unit as dependent."""
    return f'from_judgments(…, clusters="{name}"), then llbt.fit(…, cov_type="cluster", groups="{name}")'


def clustered(e: Evidence) -> str:
    """Return the calls that take repeats as dependent: by judge, or by prompt where one judge made all judgments."""
    units = [name for name in units_of(e) if name in e.names]
    return call_by(units[0]) if units else "one judge and one prompt: nothing tells how judgments vary between them"


def check_tasks(e: Evidence) -> Finding:
    """Return whether several tasks whose labels recur were pooled."""
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
    told = f"{number} tasks ({name}: {shown})"
    if not recur:
        return Finding("tasks", "ok", f"{told} share no object")
    unit = _unit(e, name, e.task)
    p = np.nan if unit is None else unit.p_value
    apart = largest < _COMMON * len(e.judgments.objects)
    figures = {"tasks": float(number), "recur": float(recur), "largest": float(largest), "p_value": p}
    common = f"{recur} of {counted(len(e.judgments.objects), 'object')} are in more than one, {largest} in the largest"
    tested = "" if np.isnan(p) else f"; one worth for all tasks: {p_text(p)}"
    if not apart and not p < SIGNIFICANT:
        return Finding("tasks", "ok", f"{told}, {common}{tested}", figures=figures)
    columns = name.split("+")
    by = repr(columns[0]) if len(columns) == 1 else repr(columns)
    return Finding(
        "tasks",
        "warning",
        f"{told} are pooled: {common}{tested}",
        "a label has one worth for all tasks, though it may stand for different systems, or be better at one of them",
        f"fit the tasks apart: for task, part in frame.groupby({by}): llbt.fit(…, llbt.from_judgments(part, …))",
        figures,
    )
