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


def both_fits(c: Comparisons, formula: str = FORMULA, prior: float | None = 0.3) -> tuple[LargeResults, LLBTResults]:
    """Return the fit of a table as a very large one, and with the whole covariance."""
    with few_are_many():
        large = llbt.fit(formula, c, prior=prior)
    assert isinstance(large, LargeResults)
    return large, llbt.LLBT.from_formula(formula, c).fit(method="eliminate", prior=prior)
