"""Test whether a model of lists fits: outcomes of pairs or triples, compared with lists drawn from the fit."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.budgets import refuse_large
from ..base.table import format_count
from ..core.columns import FloatArray, IntArray, Label
from ..core.rankings import Rankings, ranks_in_lists
from ..errors import DesignError
from ..fitting.protocols import WithLists
from ..fitting.ranking_lists import batches_of, rows_of
from ..kernel.list_draws import drawn_extremes, drawn_orders, drawn_tied, sets_of
from ..kernel.list_likelihood import Lists
from ..resampling import Resampler
from .simulated_goodness import Apart, SimulatedGoodness, tested

Of = Literal["pairs", "triples"]

_SIZES = {"pairs": 2, "triples": 3}
_MOST_CELLS = 50_000_000  # largest number of cells in all drawn tables together
_MOST_SETS = 5_000  # most sets that one place can be given to


def lists_goodness(res: WithLists, of: Of, n: int, draw: Resampler) -> SimulatedGoodness:
    """Test whether a model of lists fits, by lists drawn from it; see `goodness_of_fit`."""
    check_drawn(res)
    drawing = ListDrawing.of(res, _SIZES[of])
    if not drawing.number:
        raise DesignError(f"no list has {of} of objects", "Use of='pairs'.", expected="lists of three objects or more")
    if (n + 1) * drawing.number > _MOST_CELLS:
        raise DesignError(
            f"{format_count(drawing.number)} cells of {of} in {format_count(n)} tables",
            "Use a smaller n=, of='pairs', or fewer objects.",
            expected=f"at most {format_count(_MOST_CELLS)} numbers in all",
        )
    drawn = draw.blocks(partial(_drawn, drawing), n, drawing.number + len(res.rankings.items))
    counts, scores = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    return _compared(res, of, drawing, counts, scores)


def check_drawn(res: WithLists) -> None:
    """Raise for a fit from which no lists can be drawn."""
    r = res.rankings
    if res.specification.prior is not None:
        raise DesignError("lists can be drawn only from maximum likelihood estimates", "Fit without prior=.")
    if np.any(r.counts % 1 > 0):
        raise DesignError("some counts of lists are not whole numbers", "Give whole counts.")
    if r.kind == "ranking" and len(res.lists.orders):
        sets = len(sets_of(int(r.sizes.max()), res.lists.orders)) if int(r.sizes.max()) < 25 else np.inf
        if sets > _MOST_SETS:
            raise DesignError(
                "lists are too long to be drawn with ties: too many sets could share a place",
                "Compare formulas instead: llbt.anova(smaller, larger).",
                expected=f"at most {format_count(_MOST_SETS)} sets",
            )


@dataclass(frozen=True, eq=False)
class ListDrawing:
    """The data to simulate Q rankings with their counts, and to count the K cells of each simulated table.

    Attributes
    ----------
    rankings : Rankings
        The lists, each repeated by its count.
    rows : ndarray of int, shape (N,)
        The row of the worth of each entry.
    lists : Lists
        The lists of the fit.
    params : ndarray, shape (p + T,)
    sequential : bool
    groups : tuple of (entries, cells)
        For each length of lists, the entries (Q, m), with objects in order, and the first cell of each of their pairs
        or triples (Q, number).
    cells : ndarray of int, shape (K / outcomes, 2 or 3)
        The objects of these pairs or triples.
    """

    rankings: Rankings
    rows: IntArray
    lists: Lists
    params: FloatArray
    sequential: bool
    groups: tuple[tuple[IntArray, IntArray], ...]
    cells: IntArray

    @classmethod
    def of(cls, res: WithLists, size: int) -> ListDrawing:
        """Return the data to simulate lists from a fit, and to count their pairs or triples."""
        r = res.rankings
        times = r.counts.astype(np.int64)
        every_one = float(r.sizes @ r.counts)
        refuse_large(f"drawing {format_count(r.counts.sum())} lists one by one", 8 * every_one, "Fit fewer lists.")
        entries = np.concatenate(
            [np.tile(np.arange(lo, hi), n) for lo, hi, n in zip(r.starts[:-1], r.starts[1:], times, strict=True)]
        )
        starts = np.append(0, np.cumsum(np.repeat(r.sizes, times)))
        whole = Rankings(r.objects, r.items[entries], r.places[entries], starts, np.ones(len(starts) - 1), r.kind)
        drawings, keys = [], []
        for m, some in whole.of_size():
            at = whole.entries_of(some, m)
            at = np.take_along_axis(at, np.argsort(whole.items[at], axis=1), axis=1)
            subsets = np.array(list(itertools.combinations(range(m), size)), dtype=np.int64).reshape(-1, size)
            drawings.append(at)
            keys.append(_key(whole.items[at][:, subsets], len(r.objects)))
        every, code = np.unique(np.concatenate([key.ravel() for key in keys]), return_inverse=True)
        parts = np.split(code, np.cumsum([key.size for key in keys])[:-1])
        groups = tuple(
            (at, part.reshape(key.shape) * 3 ** _comparisons(size))
            for at, part, key in zip(drawings, parts, keys, strict=True)
        )
        rows = rows_of(r, res.comparisons, res.design)[entries]
        sequential = res.specification.best_worst == "sequential"
        objects = np.column_stack(np.unravel_index(every, (len(r.objects),) * size)).astype(np.int64)
        return cls(whole, rows, res.lists, res.solution.params, sequential, groups, objects)

    @property
    def outcomes(self) -> int:
        """The number of outcomes of each pair or triple, including contradictory ones."""
        return int(3 ** _comparisons(self.cells.shape[1]))

    @property
    def number(self) -> int:
        """The number of cells K."""
        return len(self.cells) * self.outcomes

    def counted(self, places: IntArray) -> FloatArray:
        """Return the counts of the cells (K,), for places (N,)."""
        counts, size = np.zeros(self.number), self.cells.shape[1]
        for at, first in self.groups:
            rank = ranks_in_lists(places[at], self.rankings.kind)
            subsets = np.array(list(itertools.combinations(range(at.shape[1]), size)), dtype=np.int64).reshape(-1, size)
            code = np.zeros(first.shape, dtype=np.int64)
            for i, j in itertools.combinations(range(size), 2):
                code = 3 * code + 1 + np.sign(rank[:, subsets[:, i]] - rank[:, subsets[:, j]])
            counts += np.bincount((first + code).ravel(), minlength=self.number)
        return counts

    def places(self, rng: np.random.Generator) -> IntArray:
        """Draw lists: places (N,)."""
        worths, deltas = self.lists.split(self.params)
        r, places = self.rankings, np.empty(len(self.rows), dtype=np.int64)
        for at, _ in self.groups:
            lam, taken = worths[self.rows[at]], r.places[at].max(axis=1)
            if r.kind == "best_worst":
                places[at] = drawn_extremes(lam, rng, sequential=self.sequential)
            elif len(self.lists.orders):
                places[at] = drawn_tied(lam, taken, deltas, self.lists.orders, rng)
            else:
                places[at] = drawn_orders(lam, taken, rng)
        return places

    def score(self, places: IntArray) -> FloatArray:
        """Return the gradient of the log-likelihood of drawn lists at the fit, (p + T,)."""
        r = self.rankings
        order = np.lexsort((np.where(places == 0, np.iinfo(np.int64).max, places), r.lists))
        drawn = replace(r, items=r.items[order], places=places[order])
        batches = batches_of(drawn, self.rows[order], self.lists.orders, sequential=self.sequential)
        lists = replace(self.lists, batches=batches, counts=r.counts)
        return np.asarray(lists.scores(self.params, np.zeros(len(r), dtype=np.int64), 1)[0])


def _comparisons(size: int) -> int:
    return size * (size - 1) // 2


def _key(items: IntArray, objects: int) -> IntArray:
    """Return a distinct number for each set of objects (…, size)."""
    return np.asarray(np.ravel_multi_index(np.moveaxis(items, -1, 0), (objects,) * items.shape[-1]))


def _drawn(drawing: ListDrawing, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the cells (n, K) and scores (n, p + T) of tables drawn from a fit."""
    tables = [drawing.places(rng) for _ in range(n)]
    return np.array([drawing.counted(p) for p in tables]), np.array([drawing.score(p) for p in tables])


def _compared(
    res: WithLists, of: Of, drawing: ListDrawing, counts: FloatArray, scores: FloatArray
) -> SimulatedGoodness:
    n = len(counts)
    seen = drawing.counted(drawing.rankings.places)
    expected = (counts.sum(axis=0) + seen) / (n + 1)
    some = expected > 0
    counts, seen, expected = counts[:, some], seen[some], expected[some]
    apart = counts - expected
    slope = np.linalg.solve(res.solution.information, scores.T @ apart / n)
    apart -= scores @ slope
    notes = ("lists are drawn independently, even if standard errors are clustered",) * bool(res.specification.groups)
    return tested(
        f"Goodness of fit of lists, by {of}",
        f"the model {res.specification.formula!r} gives the probabilities of the outcomes of {of}",
        pd.DataFrame(_cells(drawing, np.flatnonzero(some), of)),
        Apart(seen - expected, expected, apart),
        notes,
    )


def _cells(
    drawing: ListDrawing, some: IntArray, of: Of
) -> dict[str, list[Label] | npt.NDArray[np.float64] | list[str]]:
    """Return the objects and the outcome of some cells."""
    labels = drawing.rankings.objects
    subset, code = np.divmod(some, drawing.outcomes)
    objects = drawing.cells[subset]
    columns: dict[str, list[Label] | npt.NDArray[np.float64] | list[str]] = {
        f"object_{letter}": [labels[k] for k in objects[:, n]]
        for n, letter in zip(range(objects.shape[1]), "ijk", strict=False)
    }
    words = {c: _outcome(c) for c in range(27)} if of == "triples" else dict(enumerate(("i", "tie", "j")))
    return columns | {"outcome": [words[c] for c in code.tolist()]}


def _outcome(code: int) -> str:
    """Return the order of i, j, k that their three comparisons imply, such as ``i > j = k``."""
    ij, ik, jk = (code // 9 - 1, code // 3 % 3 - 1, code % 3 - 1)
    rank = {"i": ij + ik, "j": jk - ij, "k": -ik - jk}
    ordered = sorted(rank, key=lambda letter: rank[letter])
    text = ordered[0]
    for before, after in itertools.pairwise(ordered):
        text += f" {'=' if rank[before] == rank[after] else '>'} {after}"
    return text
