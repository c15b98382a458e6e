"""The frontier of cost and score: systems that no other system beats at the same cost or less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..base.table import Field, Record, Table, counted
from ..core.columns import FloatArray, Label
from ..core.statistics import ratio
from ..resampling import Resampler
from .grouped_tests import Units


@dataclass(frozen=True, repr=False, eq=False)
class CostFrontier(Record):
    """Mean score and mean cost of N systems, and which of them are on the frontier.

    Made by ``board.frontier()``.

    Attributes
    ----------
    systems : tuple, length N
        The cheapest first.
    score, cost : ndarray, shape (N,)
        Mean score over the items with a score, and mean cost over the items with a cost.
    on_frontier : ndarray of bool, shape (N,)
        False if another system costs no more and scores no less, and costs less or scores more.
    share : ndarray, shape (N,)
        The share of resamples of items in which the system is on the frontier.
    cost_unit : str
    n : int
        Number of resamples.
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "board.frontier()"

    systems: tuple[Label, ...]
    score: FloatArray
    cost: FloatArray
    on_frontier: npt.NDArray[np.bool_]
    share: FloatArray
    cost_unit: str
    n: int
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return object, cost, score, is_on_frontier and share (of resamples); the cheapest first."""
        unit = f" ({self.cost_unit})" if self.cost_unit else ""
        return Table(
            (
                Field("object", "System", list(self.systems)),
                Field("cost", f"Mean cost{unit}", self.cost, "number"),
                Field("score", "Mean score", self.score, "number"),
                Field(
                    "is_on_frontier",
                    "on frontier",
                    ["yes" if is_unbeaten else "no" for is_unbeaten in self.on_frontier],
                ),
                Field("share", "share of resamples", self.share, "statistic"),
            ),
            title="Frontier of cost and score",
            notes=self.notes,
        )


def cost_frontier(
    systems: tuple[Label, ...],
    values: FloatArray,
    cost: FloatArray,
    units: Units,
    draw: Resampler,
    n: int,
    *,
    higher_is_better: bool,
    cost_unit: str,
) -> CostFrontier:
    """Return the frontier of scores and costs (N, M), with shares of resamples of the groups of items."""
    sums = [units.sums(part) for part in (values, ~np.isnan(values), cost, ~np.isnan(cost))]
    score, price = _means(sums, np.ones((units.number, 1)))
    sign = 1.0 if higher_is_better else -1.0

    def counted_frontiers(size: int, rng: np.random.Generator) -> FloatArray:
        times = rng.multinomial(units.number, np.full(units.number, 1 / units.number), size=size).T
        scores, prices = _means(sums, times.astype(np.float64))
        counts: FloatArray = sum(on_frontier(sign * scores[:, k], prices[:, k]).astype(np.float64) for k in range(size))  # type: ignore[assignment]
        return counts

    total = np.sum(draw.blocks(counted_frontiers, n, max(units.number, len(systems))), axis=0)
    order = np.argsort(price[:, 0], kind="stable")
    note = f"shares of {counted(n, 'resample')} of {counted(units.number, 'item' if units.single else 'group')}"
    return CostFrontier(
        tuple(systems[k] for k in order),
        score[order, 0],
        price[order, 0],
        on_frontier(sign * score[:, 0], price[:, 0])[order],
        (total / n)[order],
        cost_unit,
        n,
        (note,),
    )


def _means(sums: list[FloatArray], times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean scores and costs, each (N, B), with groups weighted by `times` (G, B)."""
    score, scored, cost, priced = (part @ times for part in sums)
    return ratio(score, scored), ratio(cost, priced)


def on_frontier(score: FloatArray, cost: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which systems no other system beats, shape (N,).

    A system beats another one if it costs no more and scores no less, and costs less or scores more.
    """
    no_worse = (score[None, :] >= score[:, None]) & (cost[None, :] <= cost[:, None])
    strictly = (score[None, :] > score[:, None]) | (cost[None, :] < cost[:, None])
    known = ~(np.isnan(score) | np.isnan(cost))
    return np.asarray(known & ~(no_worse & strictly).any(axis=1))
