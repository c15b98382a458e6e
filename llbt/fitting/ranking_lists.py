"""The arrays of a fit to rankings, made from the rankings and a design."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import block_diag, csr_array

from ..base.table import format_count
from ..core.columns import FloatArray, IntArray, groups
from ..core.comparisons import Comparisons
from ..core.rankings import Rankings
from ..errors import DesignError
from ..formulas.design import Design
from ..kernel.list_likelihood import Lists
from ..kernel.ranking_terms import Batch, Choices, Extremes, Orders

_MOST_SETS = 10**6  # most sets of objects that a choice is made from, including ties


def lists_of(
    r: Rankings, pairs: Comparisons, design: Design, free: IntArray, orders: IntArray, *, sequential: bool
) -> Lists:
    """Return the rankings in batches, with the design matrix of the worths in the free parameters.

    Parameters
    ----------
    pairs : Comparisons
        The comparisons that the lists imply; the design belongs to them.
    orders : ndarray of int, shape (T,)
        The numbers of objects, two or more, in one place.
    sequential : bool
        Whether the worst is chosen after the best.
    """
    batches = batches_of(r, rows_of(r, pairs, design), orders, sequential=sequential)
    return Lists(batches, r.counts, csr_array(design.worth.matrix.tocsr()[:, free]), orders)


def batches_of(r: Rankings, rows: IntArray, orders: IntArray, *, sequential: bool) -> tuple[Batch, ...]:
    """Return lists in batches, given the row of the worth of each entry, (N,)."""
    if r.kind == "best_worst":
        return tuple(
            Extremes(rows[r.entries_of(some, size)], some, sequential=sequential) for size, some in r.of_size()
        )
    if len(orders):
        return _tied(r, rows, orders)
    ranked = np.bincount(r.lists, r.places > 0).astype(np.int64)
    return tuple(Orders(rows[r.entries_of(some, size)], some, ranked[some]) for size, some in r.of_size())


def rows_of(r: Rankings, pairs: Comparisons, design: Design) -> IntArray:
    """Return the row of the worth of each entry, found by object and covariates in the implied comparisons."""
    size = len(r.objects)
    classes = [column.codes for column in r.columns]
    both = [np.concatenate([column.codes, other]) for column, other in zip(pairs.columns, classes, strict=True)]
    group = groups(both)[1] if both else np.zeros(len(pairs) + len(r), dtype=np.int64)
    of_pairs, of_lists = group[: len(pairs)], group[len(pairs) :]
    key = np.concatenate([of_pairs * size + pairs.pairs[:, side] for side in (0, 1)])
    row = np.concatenate([design.worth.index[:, side] for side in (0, 1)])
    known, first = np.unique(key, return_index=True)
    asked = of_lists[r.lists] * size + r.items
    return np.asarray(row[first][np.searchsorted(known, asked)])


def _tied(r: Rankings, rows: IntArray, orders: IntArray) -> tuple[Batch, ...]:
    """Return the single choices of the lists, grouped by the number of objects to choose from."""
    ranked = r.places > 0
    begin = np.flatnonzero(ranked & np.append(True, (np.diff(r.lists) != 0) | (np.diff(r.places) != 0)))
    of = r.lists[begin]
    chosen = np.bincount(np.searchsorted(begin, np.flatnonzero(ranked), side="right") - 1, minlength=len(begin))
    left = r.starts[of + 1] - begin
    _check_sets(int(left.max()), orders)
    batches: list[Batch] = []
    for size in np.unique(left[left > 1]):
        some = np.flatnonzero(left == size)
        batches.append(Choices(rows[begin[some][:, None] + np.arange(size)], of[some], chosen[some], orders))
    return tuple(batches)


def _check_sets(size: int, orders: IntArray) -> None:
    """Raise if a choice has so many possible sets of objects that sums over them lose too many digits.

    Raises
    ------
    DesignError
        It states the number of sets.
    """
    sets = sum(math.comb(size, d) for d in (1, *orders.tolist()))
    if sets > _MOST_SETS:
        raise DesignError(
            f"{format_count(sets)} sets of objects are possible for a place, because up to {int(orders.max())} of "
            f"{size} objects are tied",
            "Break the largest ties, or fit the comparisons: fit(…, rankings.to_comparisons()).",
            expected=f"at most {format_count(_MOST_SETS)}",
        )


@dataclass(frozen=True, eq=False)
class Ghost:
    """A prior: an object that nobody judged; each row of the worths has this number of wins and losses against it."""

    judgments: float

    def joined(self, lists: Lists) -> Lists:
        """Return the lists with the prior's lists added; the ghost object's log-worth is the last worth parameter."""
        rows = lists.matrix.shape[0]
        own, ghost = np.arange(rows), np.full(rows, rows)
        both = np.concatenate([np.column_stack([own, ghost]), np.column_stack([ghost, own])])
        number = len(lists.counts)
        more = Orders(both, number + np.arange(len(both)), np.ones(len(both), dtype=np.int64))
        return Lists(
            (*lists.batches, more),
            np.concatenate([lists.counts, np.full(len(both), self.judgments)]),
            csr_array(block_diag([lists.matrix, [[1.0]]], format="csr")),
            lists.orders,
            lists.held,
        )


def without_column(array: FloatArray, place: int) -> FloatArray:
    """Return a vector or a square matrix without a parameter."""
    others = np.delete(np.arange(len(array)), place)
    return array[others] if array.ndim == 1 else array[np.ix_(others, others)]
