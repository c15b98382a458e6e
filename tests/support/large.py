"""Tables that are taken for very large ones, fitted as these and with the whole covariance."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

import llbt
from llbt import Comparisons, LargeResults, LLBTResults

FORMULA = "object + tie + order"


@contextmanager
def few_are_many(most: int = 100) -> Iterator[None]:
    """Let fits of more than so many objects be those of very many."""
    room = importlib.import_module("llbt.fitting.large")
    before = room.MOST_DENSE
    room.MOST_DENSE = most
    try:
        yield
    finally:
        room.MOST_DENSE = before


@contextmanager
def without_bands() -> Iterator[None]:
    """Let graphs be too wide for a factor along a band, as those of many objects mostly are."""
    rooms = [importlib.import_module(f"llbt.kernel.{name}") for name in ("matrix_free", "graph_variances")]
    before = [room.band_within for room in rooms]
    for room in rooms:
        room.band_within = lambda *_: None
    try:
        yield
    finally:
        for room, found in zip(rooms, before, strict=True):
            room.band_within = found


def both_fits(c: Comparisons, formula: str = FORMULA, prior: float | None = 0.3) -> tuple[LargeResults, LLBTResults]:
    """Return the fit of a table as a very large one, and with the whole covariance."""
    with few_are_many():
        large = llbt.fit(formula, c, prior=prior)
    assert isinstance(large, LargeResults)
    return large, llbt.LLBT.from_formula(formula, c).fit(method="eliminate", prior=prior)
