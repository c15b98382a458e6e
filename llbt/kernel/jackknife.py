"""The leave-one-cluster-out jackknife, with one Newton step for each cluster: arrays in, adjusted scores out.

With H the information of all judgments, V its inverse, and s and H_g the score and the information of a cluster at the
estimates, one step of Newton's method without the cluster leads to θ̂ − (H − H_g)⁻¹ s = θ̂ − V u, where u solves (I −
H_g V) u = s. H_g is 0 except in the parameters that the cluster's judgments depend on, so only these rows of u differ
from s. The cost of a cluster depends on its own parameters, not on the whole model.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.sparse import csr_array, dia_array, issparse
from scipy.sparse.linalg import splu

from ..core.response import Response
from .indexed_rows import FloatArray, Gathered
from .likelihood import Problem, row_sums, rows_of, sparse_gram
from .robust import Clustered, cluster_sandwich
from .solvers import Fit

IntArray = npt.NDArray[np.int64]

_ENTRIES = 1 << 20  # entries of clusters' matrices that are made at a time
_MOST_TOGETHER = 1 << 16  # most clusters that are computed together
_ALONE = 200_000  # average entries of a cluster from which clusters are summed one by one
_LIGHT = 0.5  # trace of H_g V below which I − H_g V is far from singular; at most 2p clusters have a larger one
_LARGE = 400  # parameters of a cluster from which the information is factored again without the cluster
_SMALL_PIVOT = 1e-6
_NOTHING = 1e-7  # share of the information on a direction that counts as none, if left without a cluster


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The outer products of the adjusted scores, and the directions that lose their estimate.

    Attributes
    ----------
    meat : ndarray, shape (p, p)
        Σ u uᵀ over the clusters, so that V (Σ u uᵀ) V is Σ (θ₍₋g₎ − θ̂)(θ₍₋g₎ − θ̂)ᵀ.
    lost : ndarray, shape (d, p)
        Directions of the parameters, of length 1, on which all information comes from a single cluster.
    clusters : ndarray of int, shape (d,)
        The cluster of each direction.
    """

    meat: FloatArray
    lost: FloatArray
    clusters: IntArray


@dataclass(frozen=True, eq=False)
class _Lines:
    """The counts by comparison and cluster, sorted by cluster, and the rows of the comparisons.

    Attributes
    ----------
    rows : ndarray of int, shape (R,)
    start : ndarray of int, shape (G + 1,)
        Where each cluster's lines start.
    cluster : ndarray of int, shape (G,)
        The number of each cluster; clusters with few lines come first.
    excess : ndarray, shape (B, R)
        The gradient of the lines' log-likelihoods in the predictors: counts minus expected counts.
    judgments : ndarray, shape (R,)
    weights : ndarray, shape (B, B, U)
        Information on the predictors from one judgment of a comparison; from one judgment of a line if it depends on
        the outcome.
    kind : ndarray of int, shape (R,)
        The column of `weights` that belongs to a line, to be multiplied by the line's judgments.
    whole : ndarray, shape (B, B, S)
        Information from all judgments of each comparison.
    """

    rows: IntArray
    start: IntArray
    cluster: IntArray
    excess: FloatArray
    judgments: FloatArray
    weights: FloatArray
    kind: IntArray
    whole: FloatArray

    def information(self, inside: slice) -> FloatArray:
        """Return the information of some lines on the predictors, (B, B, …)."""
        return np.asarray(self.judgments[inside] * self.weights[:, :, self.kind[inside]])


def left_out(problem: Problem, fit: Fit, clusters: Clustered) -> LeftOut:
    """Return the effect of leaving out each cluster in turn, by one Newton step."""
    lines = _sorted_lines(problem, fit, clusters)
    padded = _Padded.of(problem)
    p = len(fit.params)
    each = padded.columns.shape[1] ** 2 * len(lines.rows) / max(clusters.size, 1) > _ALONE
    meat, lost, by = np.zeros((p, p)), [np.empty((0, p))], [np.empty(0, dtype=np.int64)]
    solve = _Solver(problem, lines, fit.cov)
    for group in _alone(problem, lines) if each else _together(padded, lines, p):
        adjusted, gone, where = _adjusted(group, solve)
        meat += _outer(adjusted, group.params, p)
        lost.append(gone)
        by.append(lines.cluster[group.first + where])
    return LeftOut(meat, np.concatenate(lost), np.concatenate(by))


def cr3(fit: Fit, left: LeftOut, size: int) -> FloatArray:
    """Return (G − 1)/G Σ (θ₍₋g₎ − θ̂)(θ₍₋g₎ − θ̂)ᵀ over G clusters, shape (p, p)."""
    return np.asarray((size - 1) / size * (fit.cov @ left.meat @ fit.cov))


def cr3_of_both(problem: Problem, fit: Fit, both: Clustered) -> FloatArray:
    """Return V₁₂, by the intersections of two clusterings: by one step, or CR1 if no intersection has two judgments."""
    if both.judgments.max() <= 1:
        return cluster_sandwich(problem, fit, both)
    return cr3(fit, left_out(problem, fit, both), both.size)


def _sorted_lines(problem: Problem, fit: Fit, clusters: Clustered) -> _Lines:
    probability, response = (fit.means / problem.totals[:, None]).T, problem.response
    number = np.bincount(clusters.codes, minlength=clusters.size)
    cluster = np.argsort(number, kind="stable")
    place = np.empty_like(cluster)
    place[cluster] = np.arange(len(cluster))
    order = np.argsort(place[clusters.codes], kind="stable")
    rows, y = clusters.rows[order], clusters.counts[order]
    excess = response.scores(probability[:, rows], y.T)
    start = np.append(0, np.cumsum(number[cluster]))
    if isinstance(response, Response):
        each = response.weight(probability, 1.0)
        return _Lines(rows, start, cluster, excess, y.sum(axis=1), each, rows, problem.totals * each)
    own = response.information(probability[:, rows], y.T)
    whole = response.information(probability, problem.counts.T)
    return _Lines(rows, start, cluster, excess, np.ones(len(rows)), own, np.arange(len(rows)), whole)


@dataclass(frozen=True, eq=False)
class _Padded:
    """The entries of the rows of all predictors, side by side.

    Attributes
    ----------
    columns : ndarray of int, shape (S, m)
    values : ndarray, shape (S, m)
        0 where a row has fewer than m entries.
    predictor : ndarray of int, shape (m,)
        The predictor of each row, 0 … B − 1.
    """

    columns: IntArray
    values: FloatArray
    predictor: IntArray

    @classmethod
    def of(cls, problem: Problem) -> _Padded:
        """Return the entries of a problem's rows."""
        columns, values = zip(*(_entries(rows) for rows in problem.predictors), strict=True)
        predictor = np.repeat(np.arange(len(columns)), [part.shape[1] for part in columns])
        return cls(np.hstack(columns), np.hstack(values), predictor)


def _entries(rows: Gathered) -> tuple[IntArray, FloatArray]:
    """Return columns and values of the entries of each row, (S, m)."""
    sparse_rows = rows.tocsr()
    number = np.diff(sparse_rows.indptr)
    row = np.repeat(np.arange(len(number)), number)
    place = np.arange(sparse_rows.nnz) - sparse_rows.indptr[row]
    columns = np.zeros((len(number), int(number.max(initial=0))), dtype=np.int64)
    values = np.zeros(columns.shape)
    columns[row, place], values[row, place] = sparse_rows.indices, sparse_rows.data
    return columns, values


@dataclass(frozen=True, eq=False)
class _Group:
    """Some clusters with their own parameters: n clusters, each of at most q parameters.

    Attributes
    ----------
    first : int
        The place of the first cluster.
    params : ndarray of int, shape (n, q)
    information : ndarray, shape (n, q, q)
        H_g in these parameters; 0 in the padding.
    scores : ndarray, shape (n, q)
    """

    first: int
    params: IntArray
    information: FloatArray
    scores: FloatArray


def _together(padded: _Padded, lines: _Lines, p: int) -> Iterator[_Group]:
    """Return the clusters in groups, as many at a time as about fit into the processor's cache."""
    size, m = len(lines.cluster), padded.columns.shape[1]
    number = np.diff(lines.start)
    width = np.minimum(p, m * number)  # the most parameters that a cluster can have; it never falls
    begin = 0
    while begin < size:
        window = slice(begin, begin + _MOST_TOGETHER)
        each = np.maximum(width[window] ** 2, m**2 * number[window])
        entries = each * np.arange(1, len(each) + 1)
        end = begin + max(1, int(np.searchsorted(entries, _ENTRIES, side="right")))
        yield _group(padded, lines, begin, end, p)
        begin = end


def _group(padded: _Padded, lines: _Lines, begin: int, end: int, p: int) -> _Group:
    inside = slice(lines.start[begin], lines.start[end])
    rows, n = lines.rows[inside], end - begin
    cluster = np.repeat(np.arange(n), np.diff(lines.start[begin : end + 1]))
    columns, values = padded.columns[rows], padded.values[rows]
    key = cluster[:, None] * p + columns
    present = np.zeros(n * p, dtype=np.bool_)
    present[key] = True
    nonzero = np.flatnonzero(present)
    number = np.bincount(nonzero // p, minlength=n)
    first = np.append(0, np.cumsum(number))
    q = int(number.max(initial=0))
    slot = np.cumsum(present) - 1
    place = slot[key] - first[cluster][:, None]
    params = np.zeros((n, q), dtype=np.int64)
    params[nonzero // p, np.arange(len(nonzero)) - first[nonzero // p]] = nonzero % p
    weights = lines.information(inside)[np.ix_(padded.predictor, padded.predictor)]
    entries = np.einsum("abr,ra,rb->rab", weights, values, values)
    at = ((cluster[:, None] * q + place)[:, :, None] * q + place[:, None, :]).ravel()
    information: FloatArray = np.bincount(at, entries.ravel(), n * q * q).reshape(n, q, q).astype(np.float64)
    residual = lines.excess[:, inside].T[:, padded.predictor]
    where = (cluster[:, None] * q + place).ravel()
    scores: FloatArray = np.bincount(where, (values * residual).ravel(), n * q).reshape(n, q).astype(np.float64)
    return _Group(begin, params, information, scores)


def _alone(problem: Problem, lines: _Lines) -> Iterator[_Group]:
    """Return the clusters one by one, each summed like a table; for few clusters with many judgments."""
    for g in range(len(lines.cluster)):
        inside = slice(lines.start[g], lines.start[g + 1])
        rows = lines.rows[inside]
        own = rows_of(problem, rows)
        sums = sparse_gram(own, lines.information(inside))
        params = np.flatnonzero(sums.diagonal() > 0)
        scores = row_sums(own, lines.excess[:, inside])
        block = _dense(sums[params][:, params])
        yield _Group(g, params[None], block[None], scores[params][None])


def _dense(matrix: Any) -> FloatArray:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def _adjusted(group: _Group, solve: _Solver) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return u of each cluster (n, q), the lost directions (d, p), and the cluster's place for each direction."""
    own = solve.cov[group.params[:, :, None], group.params[:, None, :]]
    share = np.einsum("nij,nij->n", group.information, own)  # the trace of H_g V; its sum over the clusters is p
    light, heavy = np.flatnonzero(share < _LIGHT), np.flatnonzero(share >= _LIGHT)
    adjusted = np.zeros(group.scores.shape)
    if len(light):
        matrix = np.eye(own.shape[1]) - group.information[light] @ own[light]
        adjusted[light] = np.linalg.solve(matrix, group.scores[light, :, None])[:, :, 0]
    lost, where = [np.empty((0, len(solve.cov)))], [np.empty(0, dtype=np.int64)]
    for g in heavy:
        informed = np.flatnonzero(np.diagonal(group.information[g]) > 0)
        params, block = group.params[g, informed], group.information[g][np.ix_(informed, informed)]
        adjusted[g, informed], gone = solve.heavy(params, block, group.scores[g, informed])
        lost.append(gone)
        where.append(np.full(len(gone), g, dtype=np.int64))
    return adjusted, np.concatenate(lost), np.concatenate(where)


@dataclass(frozen=True, eq=False)
class _Solver:
    """Solve (I − H_g V) u = s for clusters with a large share of the information.

    Attributes
    ----------
    problem : Problem
    lines : _Lines
    cov : ndarray, shape (p, p)
    """

    problem: Problem
    lines: _Lines
    cov: FloatArray

    @functools.cached_property
    def information(self) -> Any:
        """The information of all judgments, (p, p), sparse or dense; None where a prior adds to it."""
        gram = sparse_gram(self.problem, self.lines.whole)
        probe = np.sin(np.arange(1.0, len(self.cov) + 1))
        return gram if np.allclose(gram @ (self.cov @ probe), probe, atol=1e-6) else None

    def heavy(self, params: IntArray, information: FloatArray, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return u of a cluster, (q,), and the directions that only this cluster informs, (d, p)."""
        if len(params) > _LARGE and self.information is not None:
            solved = _factored(self.information, params, information, score)
            if solved is not None:
                return solved, np.empty((0, len(self.cov)))
        return _spectral(params, information, score, self.cov)


def _factored(whole: Any, params: IntArray, information: FloatArray, score: FloatArray) -> FloatArray | None:
    """Return u = H (H − H_g)⁻¹ s in the cluster's parameters, (q,); None where H − H_g is nearly singular."""
    p = whole.shape[0]
    own = csr_array(information).tocoo()
    rest = whole - csr_array((own.data, (params[own.row], params[own.col])), shape=(p, p))
    diagonal = np.maximum(rest.diagonal() if issparse(rest) else np.diagonal(rest), 0)
    if np.any(diagonal <= _NOTHING * whole.diagonal()):
        return None
    scale = 1 / np.sqrt(diagonal)
    right = np.zeros(p)
    right[params] = score * scale[params]
    if issparse(rest):
        scaled = (dia_array((scale[None], [0]), shape=(p, p)) @ rest) @ dia_array((scale[None], [0]), shape=(p, p))
        factor = splu(
            scaled.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        if np.abs(factor.U.diagonal()).min() < _SMALL_PIVOT:
            return None
        solved = factor.solve(right)
    else:
        lower, minor = linalg.lapack.dpotrf(np.asarray(rest) * np.outer(scale, scale), lower=True)
        if minor or np.diagonal(lower).min() ** 2 < _SMALL_PIVOT:
            return None
        solved = linalg.lapack.dpotrs(lower, right, lower=True)[0]
    return np.asarray((whole @ (scale * solved))[params])


def _spectral(
    params: IntArray, information: FloatArray, score: FloatArray, cov: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return u of a cluster, (q,), and the directions that only this cluster informs, (d, p).

    With V = CCᵀ in its parameters, u = C⁻ᵀ (I − CᵀH_gC)⁻¹ Cᵀ s; the eigenvalues of CᵀH_gC are the cluster's shares of
    the information. If a share is 1, the other judgments give no information on that direction. All that the other
    judgments do determine is the same for any generalized inverse.
    """
    root = linalg.cholesky(cov[np.ix_(params, params)], lower=True)
    shares = root.T @ information @ root
    lower, minor = linalg.lapack.dpotrf(np.eye(len(root)) - shares, lower=True)
    # true as a rule; eigenvalues cost several times as much
    if not minor and np.diagonal(lower).min() ** 2 > _SMALL_PIVOT:
        solved = linalg.lapack.dpotrs(lower, root.T @ score, lower=True)[0]
        back = linalg.solve_triangular(root, solved, lower=True, trans="T")
        return back, np.empty((0, len(cov)))
    share, axes = linalg.eigh(shares)
    gone = share > 1 - _NOTHING
    inside = axes[:, ~gone]
    solved = inside @ ((inside.T @ (root.T @ score)) / (1 - share[~gone]))
    back = linalg.solve_triangular(root, np.column_stack([solved, axes[:, gone]]), lower=True, trans="T")
    lost = (cov[:, params] @ back[:, 1:]).T
    return back[:, 0], lost / np.linalg.norm(lost, axis=1, keepdims=True)


def _outer(adjusted: FloatArray, params: IntArray, p: int) -> FloatArray:
    """Return Σ u uᵀ of some clusters, shape (p, p)."""
    n, q = params.shape
    cluster = np.repeat(np.arange(n), q)
    whole = csr_array((adjusted.ravel(), (cluster, params.ravel())), shape=(n, p))
    if 4 * q < p:
        return np.asarray((whole.T @ whole).toarray())
    full = whole.toarray()
    return np.asarray(full.T @ full)
