"""New counts, drawn from the probabilities of a fit, or resampled from its judgments or its clusters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special
from scipy.sparse import csr_array

from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.response import TWO
from ..errors import DesignError
from ..fitting.clusters import clustered
from ..fitting.plain_estimates import PlainEstimates
from ..resampling import Resampler, T, drawn_weights

_LISTED = 4  # outcomes of a comparison are listed up to so many for each drawn table
_BLOCK = 64  # comparisons in a block
_TABLES = 500  # tables drawn at once: enough for lists of outcomes, and to factor a design once for many
_SHORT = 25  # counts of drawn tables for each number in memory of other resamples: 200 MB of short integers


def with_counts(c: Comparisons, counts: FloatArray) -> Comparisons:
    """Return a table with other counts (S, C); it keeps its tie category, even if there are no ties."""
    whole = np.insert(counts, 1, 0, axis=1) if c.response == TWO else counts
    return replace(c, counts=whole.astype(np.float64), cluster_counts=None)


def draw_parametric(means: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Draw tables with the totals and probabilities of expected counts (S, C), shape (n, S, C)."""
    totals = means.sum(axis=1)
    nearest = np.round(totals)
    totals = np.where(np.isclose(totals, nearest, rtol=1e-9), nearest, totals)  # fitted counts add up only to rounding
    floor = np.floor(totals)
    if np.array_equal(floor, totals):  # usually true
        return _draw(totals, _normed(means), n, rng)
    drawn = floor + (rng.random((n, len(totals))) < totals - floor)
    return rng.multinomial(drawn.astype(np.int64), _normed(means))


def in_blocks(task: Callable[[int, np.random.Generator], T], n: int, c: FloatArray, draw: Resampler) -> list[T]:
    """Return the results of a task for n drawn tables, block by block."""
    return draw.blocks(task, n, c.size // _SHORT, _TABLES)


def draw_judgments(res: PlainEstimates, n: int, rng: np.random.Generator) -> IntArray:
    """Resample the judgments within each comparison, shape (n, S, C)."""
    counts = _whole_counts(res)
    return _draw(counts.sum(axis=1), _normed(counts), n, rng)


def draw_clusters(res: PlainEstimates, name: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Resample whole clusters, shape (n, S, C); a comparison has total 0 if none of its clusters is drawn."""
    _whole_counts(res)
    lines = clustered(res.comparisons, name, (name,))
    size, cells = res.counts.shape
    shape = (lines.size, size * cells)
    column = (lines.rows[:, None] * cells + np.arange(cells)).ravel()
    by_cluster = csr_array((lines.counts.ravel(), (np.repeat(lines.codes, cells), column)), shape=shape)
    weights = drawn_weights(lines.size, n, rng)
    return np.asarray((by_cluster.T @ weights.T).T).reshape(n, size, cells)


def _draw(totals: FloatArray, shares: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return n multinomial tables with whole totals (S,) and probabilities (S, C), shape (n, S, C).

    If a comparison has few possible outcomes for the number of tables, outcomes are drawn from a list of them. This is
    several times faster than drawing one binomial after another.
    """
    size, cells = shares.shape
    whole = totals.astype(np.int64).tolist()
    dtype = next(kind for kind in (np.int16, np.int32, np.int64) if max(whole, default=0) <= np.iinfo(kind).max)
    possible = {total: math.comb(total + cells - 1, total) for total in set(whole)}
    lists = {total: _Outcomes.of(total, cells, dtype) for total, many in possible.items() if many <= _LISTED * n}
    drawn = np.empty((n, size, cells), dtype=dtype)
    for start in range(0, size, _BLOCK):  # blocks fit into the processor's cache
        block = np.empty((n, min(_BLOCK, size - start), cells), dtype=dtype)
        for k in range(block.shape[1]):
            total, share = whole[start + k], shares[start + k]
            block[:, k] = lists[total].draw(share, n, rng) if total in lists else rng.multinomial(total, share, size=n)
        drawn[:, start : start + _BLOCK] = block
    return drawn


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """All E ways to split a total into C counts, (E, C), the same as C columns, and multinomial coefficients, (E,)."""

    total: int
    counts: IntArray
    cells: tuple[IntArray, ...]
    coefficients: FloatArray

    @classmethod
    def of(cls, total: int, cells: int, dtype: Any) -> _Outcomes:
        """Return the ways to split a total into C counts: C − 1 borders among total + C − 1 places."""
        places = total + cells - 1
        borders = np.array(list(itertools.combinations(range(places), cells - 1)), dtype=np.int64)
        splits = np.diff(borders, axis=1, prepend=-1, append=places) - 1
        logs = special.gammaln(total + 1) - special.gammaln(splits + 1).sum(axis=1)
        return cls(total, splits.astype(dtype), tuple(np.ascontiguousarray(splits.T)), np.exp(logs))

    def draw(self, shares: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return n draws with probabilities (C,), shape (n, C)."""
        chances = self.coefficients.copy()
        for share, count in zip(shares, self.cells, strict=True):
            chances *= (share ** np.arange(self.total + 1))[count]
        np.cumsum(chances, out=chances)
        chances /= chances[-1]
        uniform = rng.random(n)
        uniform.sort()  # sorted search and shuffling the result is faster than unsorted search
        return np.take(self.counts, rng.permuted(np.searchsorted(chances, uniform, side="right")), axis=0)


def _whole_counts(res: PlainEstimates) -> FloatArray:
    counts = res.counts
    if not np.all(counts == np.floor(counts)):
        raise DesignError(
            "the table has fractional counts, which cannot be resampled as judgments",
            "Use resample='parametric'.",
        )
    return counts


def _normed(weights: FloatArray) -> FloatArray:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
