"""Rows of counts by group, where groups with equally many effects are bundled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .group_modes import Groups
from .indexed_rows import FloatArray, IntArray

_ZERO = 1e-9  # an eigenvalue of a graph's Laplacian below this counts as 0


@dataclass(frozen=True, eq=False)
class Entry:
    """How the normal effects of one scale enter the predictors of S comparisons.

    Attributes
    ----------
    objects : bool
        Whether a group has an effect for each object: added for object i and subtracted for j.
    predictors : tuple of int
        The predictors that the effects enter; without effects of objects, a group has one effect for each of them.
    values : ndarray, shape (S,) or (n, S), or None
        The factor of the effects, or of each of n effects, in each comparison; None for 1.
    where : ndarray of bool, shape (S,), or None
        Which comparisons the effects enter; None for all. The comparisons of a group are all of one kind: either the
        group has these effects, or it has none of them.
    """

    objects: bool
    predictors: tuple[int, ...]
    values: FloatArray | None = None
    where: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups of judgments in bundles, and the place of each group.

    Attributes
    ----------
    bundles : tuple of Groups
        Groups with exactly the same judgments are stored once, with the number of repeats.
    bundle, place : ndarray of int, shape (G,)
        The bundle of each group, and its place there.
    objects : tuple of ndarray, each (G, J, d) in the order of the bundles' groups
        What each effect adds to the log-worths of the objects, in units of σ; 0 for objects that a group did not judge.
    """

    bundles: tuple[Groups, ...]
    bundle: IntArray
    place: IntArray
    objects: tuple[FloatArray, ...]


def grouped(
    rows: IntArray,
    codes: IntArray,
    counts: FloatArray,
    pairs: IntArray,
    entries: Sequence[Entry],
    width: int,
) -> Grouped:
    """Return judgments by group.

    Parameters
    ----------
    rows : ndarray of int, shape (L,)
        The comparison of each line.
    codes : ndarray of int, shape (L,)
        The group of each line, 0 … G − 1.
    counts : ndarray, shape (L, K)
    pairs : ndarray of int, shape (S, 2)
        Objects of each comparison.
    entries : sequence of Entry
        The normal effects of a group; each entry has a scale, in this order.
    width : int
        How many predictors B the response has.

    Notes
    -----
    Only differences of a group's log-worths matter, and only of objects that its judgments connect. Let Q be the
    orthonormal eigenvectors, with eigenvalues above 0, of the Laplacian of the group's graph. For independent N(0, σ²)
    effects b, the effects Qᵀb are independent N(0, σ²) too, and they determine all differences.
    """
    size = int(codes.max()) + 1
    rows, codes, counts = _summed(rows, codes, counts)
    first = np.searchsorted(codes, np.arange(size))
    lines = np.diff(np.append(first, len(rows)))
    distinct, index = _distinct(rows, counts, first, lines)
    basis = _bases(pairs[rows], codes, distinct) if any(entry.objects for entry in entries) else None
    shape = _Shape(tuple(entries), width, pairs, int(pairs.max()) + 1)
    return _bundled(rows, counts, first, lines, distinct, index, basis, shape)


@dataclass(frozen=True)
class _Shape:
    entries: tuple[Entry, ...]
    width: int
    pairs: IntArray
    objects: int


def pair_loadings(
    entries: Sequence[Entry], width: int, pairs: IntArray, worths: FloatArray, some: IntArray
) -> FloatArray:
    """Return how a group's effects enter the predictors of a pair, for R groups and pairs, object i first, (B, R, d).

    Parameters
    ----------
    entries, width
        As in `grouped`; the comparisons are the R pairs.
    some : ndarray of int
        The entries that the groups have, in increasing order.
    pairs : ndarray of int, shape (R, 2)
    worths : ndarray, shape (R, J, d)
        Loadings of each effect on the log-worths, as in `Grouped`.
    """
    rows = np.arange(len(pairs))[:, None]
    shape = _Shape(tuple(entries), width, pairs, worths.shape[1])
    return _loadings(shape, worths, rows, np.ones(rows.shape), some)[0][:, :, 0]


def _summed(rows: IntArray, codes: IntArray, counts: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the lines summed by group and comparison, and sorted by both."""
    key = codes * (int(rows.max()) + 1) + rows
    unique, inverse = np.unique(key, return_inverse=True)
    total = np.zeros((len(unique), counts.shape[1]))
    np.add.at(total, inverse, counts)
    codes, rows = np.divmod(unique, int(rows.max()) + 1)
    return rows, codes, total


def _padded(lines: IntArray, first: IntArray, most: int) -> tuple[IntArray, FloatArray]:
    """Return the positions of each group's lines, (G, most), and which positions are not padding."""
    steps = np.arange(most)
    own = steps < lines[:, None]
    return np.where(own, first[:, None] + steps, 0), own.astype(np.float64)


def _distinct(rows: IntArray, counts: FloatArray, first: IntArray, lines: IntArray) -> tuple[IntArray, IntArray]:
    """Return the groups with distinct judgments, and which of these each group equals."""
    index = np.empty(len(first), dtype=np.int64)
    distinct: list[IntArray] = []
    n_distinct = 0
    for number in np.unique(lines):
        some = np.flatnonzero(lines == number)
        at = first[some][:, None] + np.arange(number)
        key = np.concatenate([rows[at][..., None], counts[at]], axis=2).reshape(len(some), -1)
        _, start, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
        index[some] = n_distinct + inverse.ravel()
        distinct.append(some[start])
        n_distinct += len(start)
    return np.concatenate(distinct), index


def _bases(pairs: IntArray, codes: IntArray, distinct: IntArray) -> dict[int, tuple[IntArray, FloatArray]]:
    """Return the objects of each kept group, (m,), and the orthonormal contrasts that its judgments inform, (m, d)."""
    number = int(pairs.max()) + 1
    bases: dict[int, tuple[IntArray, FloatArray]] = {}
    first = np.searchsorted(codes, distinct)
    last = np.searchsorted(codes, distinct, side="right")
    known: dict[bytes, tuple[IntArray, FloatArray]] = {}
    for group, start, stop in zip(distinct.tolist(), first.tolist(), last.tolist(), strict=True):
        edges = pairs[start:stop]
        key = np.unique(edges[:, 0] * number + edges[:, 1]).tobytes()
        if key not in known:
            known[key] = _basis(edges)
        bases[group] = known[key]
    return bases


def _basis(edges: IntArray) -> tuple[IntArray, FloatArray]:
    objects, local = np.unique(edges, return_inverse=True)
    incidence = np.zeros((len(edges), len(objects)))
    local = local.reshape(edges.shape)
    incidence[np.arange(len(edges)), local[:, 0]] = 1.0
    incidence[np.arange(len(edges)), local[:, 1]] = -1.0
    value, vector = np.linalg.eigh(incidence.T @ incidence)
    return objects, vector[:, value > _ZERO * max(1.0, value[-1])]


def _bundled(
    rows: IntArray,
    counts: FloatArray,
    first: IntArray,
    lines: IntArray,
    distinct: IntArray,
    index: IntArray,
    basis: dict[int, tuple[IntArray, FloatArray]] | None,
    shape: _Shape,
) -> Grouped:
    contrasts = np.array([0 if basis is None else basis[g][1].shape[1] for g in distinct.tolist()])
    present = _present(shape.entries, rows[first[distinct]])
    classes = np.column_stack([contrasts, np.ceil(np.log2(lines[distinct])), present])
    kinds, kind = np.unique(classes, axis=0, return_inverse=True)
    kind = kind.ravel()
    repeats = np.bincount(index, minlength=len(distinct)).astype(np.float64)
    bundles, objects = [], []
    place = np.empty(len(distinct), dtype=np.int64)
    for k in range(len(kinds)):
        some = np.flatnonzero(kind == k)
        place[some] = np.arange(len(some))
        groups = distinct[some]
        at, own = _padded(lines[groups], first[groups], int(lines[groups].max()))
        worths = np.zeros((len(some), shape.objects, int(kinds[k, 0])))
        for n, group in enumerate(groups.tolist() if basis is not None else ()):
            worths[n, basis[group][0]] = basis[group][1]  # type: ignore[index]
        loadings, scale = _loadings(shape, worths, rows[at], own, np.flatnonzero(present[some[0]]))
        counts_by_outcome = np.moveaxis(counts[at] * own[:, :, None], 2, 0)
        bundles.append(Groups(rows[at], np.ascontiguousarray(counts_by_outcome), loadings, scale, repeats[some]))
        objects.append(worths)
    return Grouped(tuple(bundles), kind[index], place[index], tuple(objects))


def _present(entries: Sequence[Entry], rows: IntArray) -> npt.NDArray[np.bool_]:
    """Return which entries groups have, (G, E), given a comparison of each group, (G,)."""
    every = np.ones(len(rows), dtype=np.bool_)
    return np.column_stack([every if entry.where is None else entry.where[rows] for entry in entries])


def _loadings(
    shape: _Shape, worths: FloatArray, rows: IntArray, own: FloatArray, some: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return how the effects of some entries enter the predictors of lines, (B, G, R, d), and their scales, (d,)."""
    width = shape.width
    group = np.arange(len(rows))[:, None]
    parts, scale = [np.zeros((width, *rows.shape, 0))], []
    for e in some.tolist():
        entry = shape.entries[e]
        factor = own if entry.values is None else own * entry.values[rows]
        if entry.objects:
            i, j = shape.pairs[rows, 0], shape.pairs[rows, 1]
            part = np.zeros((width, *rows.shape, worths.shape[2]))
            part[0] = (worths[group, i] - worths[group, j]) * factor[:, :, None]
        else:
            part = np.zeros((width, *rows.shape, len(entry.predictors)))
            for k, b in enumerate(entry.predictors):
                part[b, :, :, k] = factor
        parts.append(part)
        scale += [e] * part.shape[3]
    return np.concatenate(parts, axis=3), np.array(scale, dtype=np.int64)
