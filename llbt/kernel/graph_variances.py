"""Variances of very many log-worths: exact where the graph is narrow, else approximate and compared with exact ones.

If the graph has a band, variances follow from the factor along it (`band`). Else let the precision of the log-worths x
be a Laplacian with degrees d and weights a. Then var xᵢ = (1 − 2/J)/dᵢ + var mᵢ, where mᵢ = Σⱼ aᵢⱼxⱼ/dᵢ is the mean of
the objects that object i met. The *series* takes these objects as independent, with variances 1/dⱼ. *Draws* of x
estimate var mᵢ, which is a small part of the whole (Sidén, Lindgren, Bolin & Villani 2018). In long graphs var mᵢ is
the large part. There the movement of whole groups of objects is computed exactly. It is independent of the rest, and
only the rest is drawn.

References
----------
Sidén, P., Lindgren, F., Bolin, D. & Villani, M. (2018). Efficient covariance approximations for large sparse precision
matrices. Journal of Computational and Graphical Statistics 27(4), 898-909.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array

from .band import Band, Factor
from .conjugate import Bordered, Complement, conjugate_gradients
from .graph_bands import Groups
from .indexed_rows import FloatArray, IntArray
from .solver_choice import band_within

SAMPLED = 200  # objects whose exact variances check the approximations
_EXACT = 1e-3  # error of solutions that give a variance; the variance's own error is about its square
_DRAWN = 1e-3
_TIGHT = 1e-8  # error of solutions for so few objects that a larger one saves nothing
_DRAWS = 64  # draws at first
_MOST_DRAWS = 512
_WIDTH = 4  # right-hand sides at a time; more do not fit into the processor's cache
_ROWS = 1 << 12
_ITERATIONS = 5_000  # exact variances along a band may cost as much as so many iterations of conjugate gradients
_CLOSE = 0.05  # error of standard errors that is close enough: no better approximation is tried

Way = Literal["exact", "series", "draws"]


@dataclass(frozen=True, eq=False)
class Variances:
    """Variances of J centred log-worths.

    Attributes
    ----------
    values : ndarray, shape (J,)
    way : {"exact", "series", "draws"}
        How the variances that are not exact were computed.
    draws : int
    median, high : float
        The relative error of standard errors: its median and 95th percentile over the objects with exact variances.
    exact : int
        How many of the first objects have exact variances, because the approximations are not close.
    """

    values: FloatArray
    way: Way
    draws: int
    median: float
    high: float
    exact: int = 0


def exact_covariances(information: Complement, objects: IntArray, tolerance: float = _EXACT) -> FloatArray:
    """Return columns of the covariance of centred log-worths and other parameters, for some objects, (J + q, m)."""
    size = information.system.graph.size
    right = np.zeros((information.system.shape[0], len(objects)))
    right[:size] = -1 / size
    right[objects, np.arange(len(objects))] += 1.0
    return information.solve(right, tolerance=tolerance).values


def exact_variances(information: Complement, objects: IntArray, tolerance: float = _EXACT) -> FloatArray:
    """Return the exact variances of the centred log-worths of some objects, shape (m,)."""
    parts = (objects[k : k + _WIDTH] for k in range(0, len(objects), _WIDTH))
    return np.concatenate(
        [exact_covariances(information, part, tolerance)[part, np.arange(len(part))] for part in parts]
    )


def variances(information: Complement, rng: np.random.Generator, first: IntArray) -> Variances:
    """Return the variances of all centred log-worths.

    Parameters
    ----------
    information : Complement
    rng : numpy.random.Generator
        It chooses the objects whose approximations are checked, and makes the draws.
    first : ndarray of int
        Objects that get exact variances if the approximations are not close.
    """
    system = information.system
    size = system.graph.size
    if size <= SAMPLED:
        return Variances(exact_variances(information, np.arange(size), _TIGHT), "exact", 0, 0.0, 0.0)
    shared = np.einsum("ip,pi->i", information.inner, linalg.solve(information.schur, information.inner.T))
    along = _along_band(system)
    if along is not None:
        return Variances(along + shared, "exact", 0, 0.0, 0.0)
    some = np.sort(rng.permutation(size)[:SAMPLED])
    exact = exact_variances(information, some)
    best = _held_against(_series(system) + shared, some, exact, "series", 0)
    sums, draws = np.zeros(size), 0
    while best.high > _CLOSE and draws < _MOST_DRAWS:
        for _ in range(max(_DRAWS, draws) // _WIDTH):
            sums += (_drawn_means(system, rng) ** 2).sum(axis=1)
            draws += _WIDTH
        values = (1 - 2 / size) / system.diagonal + _means_of_groups(system) + sums / draws + shared
        best = _held_against(values, some, exact, "draws", draws)
    if best.high <= _CLOSE:
        return best
    best.values[first] = exact_variances(information, first)
    return replace(best, exact=len(first))


def _along_band(system: Bordered) -> FloatArray | None:
    """Return the variances of centred log-worths along a band; None with other parameters or a wide graph."""
    known = isinstance(system.way, Band)
    factor = (system if known else replace(system, way=band_within(system.graph, _ITERATIONS))).factor
    if not isinstance(factor, Factor):
        return None
    size = system.graph.size
    sums = factor.solve(np.ones((size, 1)))[:, 0]
    return np.asarray(factor.variances() - 2 * sums / size + sums.sum() / size**2)


def _held_against(values: FloatArray, some: IntArray, exact: FloatArray, way: Way, draws: int) -> Variances:
    """Return approximate variances and their error, with exact variances put in where they are known."""
    median, high = np.quantile(np.abs(np.sqrt(values[some] / exact) - 1), [0.5, 0.95])
    values = values.copy()
    values[some] = exact
    return Variances(values, way, draws, float(median), float(high))


def _series(system: Bordered) -> FloatArray:
    """Return the series' variances, (1 + Σⱼ aᵢⱼ²/(dᵢdⱼ))/dᵢ."""
    near, degree = system.adjacency, system.diagonal
    squared = csr_array((near.data**2, near.indices, near.indptr), shape=near.shape)
    return np.asarray((1 + squared @ (1 / degree) / degree) / degree)


def _drawn_means(system: Bordered, rng: np.random.Generator) -> FloatArray:
    """Return drawn means mᵢ of each object's opponents, (J, draws), without the part that is computed exactly."""
    graph, root = system.graph, np.sqrt(system.weights)
    right = np.empty((graph.size, _WIDTH))
    for column in right.T:
        drawn = root * rng.standard_normal(len(root))
        column[:] = np.bincount(graph.first, drawn, graph.size) - np.bincount(graph.second, drawn, graph.size)
    worths = conjugate_gradients(system, right, tolerance=_DRAWN).values
    if system.between is not None:
        moved = system.between.solved(right)
        worths -= moved - moved.mean(axis=0)
    return np.asarray((system.adjacency @ worths) / system.diagonal[:, None])


def _means_of_groups(system: Bordered) -> FloatArray:
    """Return the exact variance of the groups' part of the means mᵢ; 0 where there are no groups."""
    groups: Groups | None = system.between
    if groups is None:
        return np.zeros(system.graph.size)
    size, objects = len(groups.inverse), len(groups.of)
    share = np.bincount(groups.of, minlength=size) / objects
    level = groups.inverse @ share
    met = system.adjacency @ csr_array((np.ones(objects), (np.arange(objects), groups.of)), shape=(objects, size))
    met.data /= np.repeat(system.diagonal, np.diff(met.indptr))
    variances_of_means = share @ level - 2 * (met @ level)
    for start in range(0, objects, _ROWS):
        rows = met[start : start + _ROWS]
        variances_of_means[start : start + _ROWS] += rows.multiply(rows @ groups.inverse).sum(axis=1)
    return np.asarray(variances_of_means)
