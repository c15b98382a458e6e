"""Exponents of time and memory: the slope on log scales over the larger half of a series of inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from .contestants import CONTESTANTS, Contestant
from .inputs import Input, growing
from .running import Measured, measure_all

FLOOR_MB = 1.0  # less is what the allocator rounds to
RUNS = {"judgments": "llbt-integers", "objects": "llbt-integers", "judges": "llbt-judges", "covariates": "llbt-sides"}


@dataclass(frozen=True)
class Series:
    dimension: str
    sizes: list[int]
    seconds: list[float]
    megabytes: list[float]
    reasons: list[str]

    @property
    def exponents(self) -> tuple[float, float]:
        """The exponents of time and of memory."""
        return _slope(self.sizes, self.seconds), _slope(self.sizes, [max(x, FLOOR_MB) for x in self.megabytes])


def _slope(sizes: list[int], values: list[float]) -> float:
    half = max(2, (len(sizes) + 1) // 2)
    points = [(math.log(size), math.log(value)) for size, value in zip(sizes, values, strict=True)][-half:]
    if len(points) < 2:
        return math.nan
    x0, y0 = (sum(column) / len(points) for column in zip(*points, strict=True))
    return sum((x - x0) * (y - y0) for x, y in points) / sum((x - x0) ** 2 for x, _ in points)


def measure(repeats: int, work: Path, peers: Path) -> list[Series]:
    series = growing()
    pairs = [(_unchecked(RUNS[name]), wanted) for name, inputs in series.items() for wanted in inputs]
    found = {m.input.name: m for m in measure_all(pairs, repeats, work, peers, calls=2)}
    return [_series(name, [found[wanted.name] for wanted in inputs]) for name, inputs in series.items()]


def _unchecked(name: str) -> Contestant:
    return replace(CONTESTANTS[name], rule=None)


def _series(dimension: str, found: list[Measured]) -> Series:
    ran = [m for m in found if m.ran]
    return Series(
        dimension,
        [size_of(m.input, dimension) for m in ran],
        [m.median("warm") for m in ran],
        [m.median("extra_mb") for m in ran],
        [f"{m.input.text}: {m.reason}" for m in found if not m.ran],
    )


def size_of(wanted: Input, dimension: str) -> int:
    values = {"objects": wanted.objects, "judgments": wanted.judgments, "judges": wanted.judges}
    return values.get(dimension, wanted.sides)
