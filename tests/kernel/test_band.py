"""Factors along a band, and of trees, against the dense inverse and resistances in series."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from support.graphs import KINDS, Kind, judged_graph

from llbt.kernel.band import Band, Branches
from llbt.kernel.conjugate import Bordered, Graph, conjugate_gradients
from llbt.kernel.solver_choice import branches_of


def laplacian(kind: Kind, size: int, reach: int, seed: int = 0) -> tuple[Bordered, np.ndarray]:
    """Return a weighted graph, and its Laplacian without the last object."""
    frame = judged_graph(kind, size, 6 * size, reach=reach, seed=seed)
    i, j = frame["object_i"].to_numpy(), frame["object_j"].to_numpy()
    first, second = np.divmod(np.unique(np.minimum(i, j) * size + np.maximum(i, j)), size)
    weights = np.random.default_rng(seed).gamma(2.0, size=len(first))
    found = Bordered(Graph.of(first, second, size), weights, np.zeros((size, 0)), np.zeros((0, 0)))
    return found, (np.diag(found.diagonal) - found.adjacency.toarray())[:-1, :-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "reach"), [(40, 2), (65, 3), (129, 3), (300, 8), (300, 120), (701, 5)])
def test_solutions_and_variances_are_those_of_the_dense_inverse(kind: Kind, size: int, reach: int) -> None:
    """Blocks that are full, begun and alone; bands within a block, as wide as one, and wider."""
    system, dense = laplacian(kind, size, reach)
    factor, inverse = system.factored(system.graph.band), np.linalg.inv(dense)
    right = np.random.default_rng(2).normal(size=(size, 3))
    found = factor.solve(right)
    assert not found[-1].any()
    np.testing.assert_allclose(found[:-1], inverse @ right[:-1], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(factor.variances(), np.append(np.diag(inverse), 0.0), rtol=1e-9)


def test_a_chain_in_any_order_has_a_band_of_one() -> None:
    place = np.random.default_rng(1).permutation(500)
    graph = Graph.of(place[:-1], place[1:], 500)
    band = Band.of(graph.pattern)
    assert (band.width, len(band.order)) == (1, 499)
    system = Bordered(graph, np.full(499, 2.0), np.zeros((500, 0)), np.zeros((0, 0)))
    away = np.abs(np.argsort(place) - np.flatnonzero(place == 499)[0])  # resistances in series
    np.testing.assert_allclose(system.factored(band).variances(), away / 2)


def test_a_graph_that_falls_apart_has_no_factor() -> None:
    graph = Graph.of(np.array([0, 2]), np.array([1, 3]), 4)
    system = Bordered(graph, np.ones(2), np.zeros((4, 0)), np.zeros((0, 0)), way=graph.band)
    assert system.factor is None


@pytest.mark.parametrize("cycles", [0, 40])
@pytest.mark.slow
def test_a_graph_of_few_cycles_has_a_sparse_factor(cycles: int) -> None:
    """A knockout of 1,000 objects, which is wide, with some more pairs; it can be pickled."""
    rng, below = np.random.default_rng(1), np.arange(1, 1000)
    more = rng.integers(0, 1000, (2, cycles))
    low, high = np.sort(np.column_stack([[below, (below - 1) // 2], more]), axis=0)
    key = np.unique((low * 1000 + high)[low < high])
    graph = Graph.of(*np.divmod(key, 1000), 1000)
    assert isinstance(branches_of(graph), Branches)
    weights = rng.gamma(2.0, size=len(key))
    system = Bordered(graph, weights, np.zeros((1000, 0)), np.zeros((0, 0)), way=Branches())
    right = rng.normal(size=(1000, 3))
    right -= right.mean(axis=0)
    inverse = np.linalg.pinv(np.diag(system.diagonal) - system.adjacency.toarray(), rcond=1e-12)
    for asked in (system, pickle.loads(pickle.dumps(system))):
        found = conjugate_gradients(asked, right)
        assert found.iterations <= 2
        np.testing.assert_allclose(found.values, inverse @ right, atol=1e-9)
    apart = Bordered(Graph.of(np.array([0, 2]), np.array([1, 3]), 4), np.ones(2), right[:4, :0], np.zeros((0, 0)))
    assert replace(apart, way=Branches()).factor is None


def test_a_graph_of_many_cycles_has_none() -> None:
    system, _ = laplacian("random", 700, 5)
    assert branches_of(system.graph) is None
