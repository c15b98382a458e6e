"""Contestants that became slower or need more memory than in an earlier run, beyond the scatter of the repeats."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from .running import Measured

Repeats = Mapping[str, Sequence[float]]  # "warm" (s) and "extra_mb" → a value for each repeat
LEAST = {"warm": 0.1, "extra_mb": 0.1}  # log ratio below which nothing is said
ROUNDED = {"warm": 1e-3, "extra_mb": 5.0}  # seconds and MB below which a difference is the clock's or the allocator's
WIDE = 3.0  # standard errors


def kept(found: Sequence[Measured]) -> dict[str, Repeats]:
    """Return the repeats of everything that ran, by contestant@input."""
    return {
        f"{m.contestant.name}@{m.input.name}": {"warm": m.warm or m.cold, "extra_mb": m.extra_mb}
        for m in found
        if m.ran
    }


def read(results: Path) -> dict[str, Repeats]:
    """Return the repeats in results.json, in the folder of the named RESULTS.md."""
    found: dict[str, Repeats] = json.loads(results.with_name("results.json").read_text())
    return found


def worse(then: Mapping[str, Repeats], now: Mapping[str, Repeats]) -> list[str]:
    """Return a line for every figure of llbt in both runs that grew by more than noise."""
    names = [name for name in now if name in then and name.startswith("llbt")]
    return [line for name in names for what in ROUNDED if (line := _grown(name, what, then, now, names))]


def _grown(name: str, what: str, then: Mapping[str, Repeats], now: Mapping[str, Repeats], names: Sequence[str]) -> str:
    before, after = statistics.median(then[name][what]), statistics.median(now[name][what])
    # few repeats of one row say little of its scatter: no row is taken to scatter less than the middle one does
    typical = statistics.median(_scatter(run[other][what]) for run in (then, now) for other in names)
    error = math.hypot(*(max(_scatter(run[name][what]), typical) / len(run[name][what]) ** 0.5 for run in (then, now)))
    grown = math.log(max(after, 1e-9) / max(before, 1e-9))
    if after - before <= ROUNDED[what] or grown <= max(LEAST[what], WIDE * error):
        return ""
    unit = "s" if what == "warm" else "MB"
    return f"{name}: {before:.3g} → {after:.3g} {unit} ({math.exp(grown):.2f}×)"


def _scatter(values: Sequence[float]) -> float:
    """Return the standard deviation of the logarithms; 0 of a single value."""
    logs = [math.log(max(value, 1e-9)) for value in values]
    return statistics.stdev(logs) if len(logs) > 1 else 0.0
