"""Rows of counts with random effects of one or several groupings: the effects that enter each row.

Notation: L lines (each a comparison judged by one combination of levels), T effects that enter each line, E scales. The
grouping with the most effects forms the groups, one level each, and its effects are the groups' own effects. The
effects of all other groupings are shared by the groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph

from .effect_groups import Entry
from .indexed_rows import FloatArray, IntArray

_NUMBERS = 3e6  # numbers in the matrices of a block of groups
_MANY = 3e4  # with so many lines, approximations are computed to six digits, not to eight
_CONTRASTED = 3  # with more objects, contrasts of the objects would enter a line more often than objects do


@dataclass(frozen=True, eq=False)
class Bearing:
    """Normal random effects of one grouping's levels, with a common scale.

    Attributes
    ----------
    grouping : int
        The number of the grouping, 0, 1, …; bearings with the same number have the same codes.
    codes : ndarray of int, shape (L,)
        The level of each line.
    entry : Entry
        How the effects of a level enter the comparisons.
    """

    grouping: int
    codes: IntArray
    entry: Entry


@dataclass(frozen=True, eq=False)
class Block:
    """G groups that are computed together, with n own effects and r shared effects each, padded with unused effects.

    Attributes
    ----------
    lines : ndarray of int, shape (L,)
    group : ndarray of int, shape (L,)
    place : ndarray of int, shape (T, L)
        The place of each effect of a line among the n + r effects of its group.
    own : ndarray of int, shape (G, n)
        The numbers of the groups' own effects; padding has the number after the last.
    shared : ndarray of int, shape (G, r)
        The numbers of the groups' shared effects, padded in the same way.
    """

    lines: IntArray
    group: IntArray
    place: IntArray
    own: IntArray
    shared: IntArray

    @property
    def size(self) -> tuple[int, int, int]:
        """The number of groups G, of own effects n, and of all effects of a group, n + r."""
        groups, own = self.own.shape
        return groups, own, own + self.shared.shape[1]


@dataclass(frozen=True, eq=False)
class Crossed:
    """Lines of counts, and the effects that enter them.

    Attributes
    ----------
    rows : ndarray of int, shape (L,)
        The comparison of each line.
    counts : ndarray, shape (K, L)
    predictor : ndarray of int, shape (T,)
        The predictor that each effect of a line enters.
    factor : ndarray, shape (T, L), or (T, 1) if no factor depends on the line
        The factor of each effect of a line.
    scale : ndarray of int, shape (T,)
    blocks : tuple of Block
    scales : (ndarray of int, ndarray of int)
        The scale of each own and of each shared effect.
    levels : tuple of (ndarray of int, ndarray of int), one for each scale
        The level, and the object or predictor, of each of its effects.
    touched : tuple of ndarray of int, each (T_e, L)
        Which effects of each scale enter each line.
    group : ndarray of int, shape (L,)
        The group of each line.
    pairs : ndarray of int, shape (S, 2)
    bearings : tuple of E Bearing
    """

    rows: IntArray
    counts: FloatArray
    predictor: IntArray
    factor: FloatArray
    scale: IntArray
    blocks: tuple[Block, ...]
    scales: tuple[IntArray, IntArray]
    levels: tuple[tuple[IntArray, IntArray], ...]
    touched: tuple[IntArray, ...]
    group: IntArray
    pairs: IntArray
    bearings: tuple[Bearing, ...]

    @property
    def many(self) -> bool:
        """Whether the lines are so many that the last digits of an approximation cost too much."""
        return len(self.rows) > _MANY

    def take(self, lines: IntArray, counts: FloatArray) -> Crossed:
        """Return some of the lines, with other counts (L, K)."""
        bearings = [replace(one, codes=one.codes[lines]) for one in self.bearings]
        return crossed(self.rows[lines], counts, self.pairs, bearings)

    def contrasted(self) -> Crossed:
        """Return the same likelihood with fewer effects: for up to three objects, orthonormal contrasts of effects.

        Contrasts of independent N(0, σ²) effects are independent N(0, σ²) too, and a level's mean effect enters no
        comparison.
        """
        objects = int(self.pairs.max()) + 1
        if objects > _CONTRASTED:
            return self
        basis = linalg.helmert(objects)
        bearings = [replace(one, entry=_contrasts(one.entry, basis, self.pairs)) for one in self.bearings]
        return crossed(self.rows, self.counts.T, self.pairs, bearings)


@dataclass(frozen=True, eq=False)
class _Touching:
    """The effects of one scale that enter the lines: their keys (T, L), level-major, and their loadings."""

    keys: IntArray
    predictor: tuple[int, ...]
    factor: FloatArray  # (T, L) or (T, 1)
    within: int  # the number of keys that a level has


def crossed(rows: IntArray, counts: FloatArray, pairs: IntArray, bearings: Sequence[Bearing]) -> Crossed:
    """Return lines of counts with the effects that enter them.

    Parameters
    ----------
    rows : ndarray of int, shape (L,)
        The comparison of each line.
    counts : ndarray, shape (L, K)
    pairs : ndarray of int, shape (S, 2)
        Objects of each comparison.
    bearings : sequence of E Bearing
    """
    touching = [_touching(one, rows, pairs) for one in bearings]
    groupings = sorted({one.grouping for one in bearings})
    sizes = [sum(len(np.unique(t.keys)) for t, one in zip(touching, bearings, strict=True) if one.grouping == g)
             for g in groupings]  # fmt: skip
    first = groupings[int(np.argmax(sizes))]
    members = tuple(one.grouping == first for one in bearings)
    group = np.unique(next(one.codes for one in bearings if one.grouping == first), return_inverse=True)[1].ravel()
    own = _numbered(touching, [e for e, own in enumerate(members) if own])
    shared = _numbered(touching, [e for e, own in enumerate(members) if not own])
    order = [*own.order, *shared.order]
    place = [order.index(e) for e in range(len(bearings))]
    keys = [*own.keys, *shared.keys]
    touched = [*own.touched, *shared.touched]
    return Crossed(
        rows=rows,
        counts=np.ascontiguousarray(counts.T),
        predictor=np.array([b for e in order for b in touching[e].predictor], dtype=np.int64),
        factor=_stacked([touching[e].factor for e in order]),
        scale=np.array([e for e in order for _ in touching[e].predictor], dtype=np.int64),
        blocks=tuple(_blocks(group, own, shared)),
        scales=(own.scale, shared.scale),
        levels=tuple(np.divmod(keys[k], touching[e].within) for e, k in enumerate(place)),
        touched=tuple(touched[k] for k in place),
        group=group,
        pairs=pairs,
        bearings=tuple(bearings),
    )


def _touching(one: Bearing, rows: IntArray, pairs: IntArray) -> _Touching:
    """Return the effects that enter the lines; a level without effects has one that enters no line."""
    entry, codes = one.entry, one.codes.astype(np.int64)
    values = np.ones(1) if entry.values is None else entry.values[..., rows]
    within = int(pairs.max()) + 1 if entry.objects else len(entry.predictors)
    things = pairs[rows].T if entry.objects else np.arange(within)[:, None]
    if entry.where is not None:
        values, things = values * entry.where[rows], things * entry.where[rows]
    if entry.objects:
        return _Touching(codes * within + things, (0, 0), np.stack([values, -values]), within)
    factor = np.broadcast_to(values, (within, values.shape[-1]))
    return _Touching(codes * within + things, entry.predictors, factor, within)


def _contrasts(entry: Entry, basis: FloatArray, pairs: IntArray) -> Entry:
    """Return effects of objects as effects of contrasts, each with a factor in each comparison; else unchanged."""
    if not entry.objects:
        return entry
    values = (basis[:, pairs[:, 0]] - basis[:, pairs[:, 1]]) * (1.0 if entry.values is None else entry.values)
    return replace(entry, objects=False, predictors=entry.predictors * len(basis), values=values)


def _stacked(factors: Sequence[FloatArray]) -> FloatArray:
    """Return factors of several scales as one array, (T, L) or (T, 1)."""
    widest = max(one.shape[1] for one in factors)
    return np.concatenate([np.broadcast_to(one, (len(one), widest)) for one in factors])


@dataclass(frozen=True, eq=False)
class _Numbered:
    """Numbered effects of some scales: the effects of each line (T, L), the scale of each, and the keys by scale."""

    order: list[int]
    index: IntArray
    scale: IntArray
    keys: list[IntArray]
    touched: list[IntArray]


def _numbered(touching: Sequence[_Touching], some: list[int]) -> _Numbered:
    touched, scale, keys = [], [], []
    for e in some:
        distinct, inverse = np.unique(touching[e].keys, return_inverse=True)
        touched.append(inverse.reshape(touching[e].keys.shape))
        scale.append(np.full(len(distinct), e))
        keys.append(distinct)
    if not some:
        return _Numbered([], np.empty((0, 0), dtype=np.int64), np.empty(0, dtype=np.int64), [], [])
    before = np.cumsum([0, *map(len, keys[:-1])])
    index = np.concatenate([one + start for one, start in zip(touched, before, strict=True)])
    return _Numbered(some, index, np.concatenate(scale), keys, touched)


def _local(group: IntArray, index: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return each line's effects as places within its group (T, L), how many effects a group has, and which they are.

    The last array lists the effects group by group, sorted.
    """
    number = int(group.max()) + 1
    if not index.size:
        return np.empty((0, len(group)), dtype=np.int64), np.zeros(number, dtype=np.int64), np.empty(0, dtype=np.int64)
    most = int(index.max()) + 1
    keys, inverse = np.unique(group * most + index, return_inverse=True)
    size = np.bincount(keys // most, minlength=number)
    first = np.cumsum(size) - size
    return inverse.reshape(index.shape) - first[group], size, keys % most


def _blocks(group: IntArray, own: _Numbered, shared: _Numbered) -> list[Block]:
    place, size, which = _local(group, own.index)
    place_shared, size_shared, which_shared = _local(group, shared.index)
    first, first_shared = np.cumsum(size) - size, np.cumsum(size_shared) - size_shared
    order = np.lexsort([size_shared, size])
    by_group = np.argsort(group, kind="stable")
    start = np.searchsorted(group[by_group], np.arange(len(size) + 1))
    blocks = []
    for some in _chunks(size[order], size_shared[order]):
        groups = order[some]
        lines = np.concatenate([by_group[start[g] : start[g + 1]] for g in groups.tolist()])
        local = np.repeat(np.arange(len(groups)), start[groups + 1] - start[groups])
        filled = _filled(size[groups], first[groups], which, len(own.scale))
        filled_shared = _filled(size_shared[groups], first_shared[groups], which_shared, len(shared.scale))
        at = np.concatenate([place[:, lines], filled.shape[1] + place_shared[:, lines]])
        blocks.append(Block(lines, local, at, filled, filled_shared))
    return blocks


def _chunks(size: IntArray, shared: IntArray) -> list[slice]:
    """Split the groups, sorted by size, into runs of groups of about equal size; each run fits into memory."""
    runs, start = [], 0
    for k in range(len(size) + 1):
        last = k == len(size)
        if last or _apart(size[start], size[k]) or _apart(shared[start], shared[k]) or (
            (k - start + 1) * float(size[k] + shared[k]) ** 2 > _NUMBERS
        ):  # fmt: skip
            if k > start:
                runs.append(slice(start, k))
            start = k
    return runs


def _apart(a: int, b: int) -> bool:
    return abs(int(a) - int(b)) > max(4, min(int(a), int(b)) // 4)


def _filled(size: IntArray, first: IntArray, which: IntArray, last: int) -> IntArray:
    """Return the effects of some groups, (G, n), padded with the number after the last effect."""
    steps = np.arange(int(size.max(initial=0)))
    inside = steps < size[:, None]
    padded = np.append(which, last)
    return padded[np.where(inside, first[:, None] + steps, len(which))]


def components(effects: Crossed, which: int) -> IntArray:
    """Return the size of each object effect's component: the objects that the judgments of its level connect."""
    size = len(effects.levels[which][0])
    ends = effects.touched[which]
    graph = sparse.coo_matrix((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(size, size))
    _, label = csgraph.connected_components(graph, directed=False)
    return np.asarray(np.bincount(label)[label])
