"""Conjugate gradients on bordered Laplacians, against dense solves and scipy's own conjugate gradients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import cg

from llbt.kernel.conjugate import Bordered, Complement, Graph, bordered_gradients, conjugate_gradients


def connected(size: int, pairs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct pairs of a connected graph: a cycle and chords."""
    first = np.concatenate([np.arange(size), rng.integers(0, size, pairs)])
    second = np.concatenate([np.roll(np.arange(size), -1), rng.integers(0, size, pairs)])
    low, high = np.minimum(first, second), np.maximum(first, second)
    key = np.unique(low[low < high] * size + high[low < high])
    return np.divmod(key, size)


def system(size: int, q: int, *, ridge: bool = False, seed: int = 0) -> tuple[Bordered, np.ndarray]:
    """Return a bordered Laplacian as sums over pairs of w (D, Z)ᵀ(D, Z), and the same as a dense matrix."""
    rng = np.random.default_rng(seed)
    i, j = connected(size, 3 * size, rng)
    w, z = rng.gamma(1.0, size=len(i)), rng.normal(size=(len(i), q))
    incidence = np.zeros((len(i), size))
    incidence[np.arange(len(i)), i], incidence[np.arange(len(i)), j] = 1.0, -1.0
    added = rng.uniform(0.01, 0.1, size) if ridge else None
    found = Bordered(Graph.of(i, j, size), w, incidence.T @ (w[:, None] * z), z.T @ (w[:, None] * z), added)
    rows = np.hstack([incidence, z])
    dense = rows.T @ (w[:, None] * rows)
    dense[np.arange(size), np.arange(size)] += 0.0 if added is None else added
    return found, dense


def right_sides(size: int, q: int, k: int, centred: bool) -> np.ndarray:
    found = np.random.default_rng(5).normal(size=(size + q, k))
    if centred:
        found[:size] -= found[:size].mean(axis=0)
    return found


@pytest.mark.parametrize("ridge", [False, True])
@pytest.mark.parametrize("q", [0, 1, 4])
def test_solves_what_dense_algebra_solves(q: int, ridge: bool) -> None:
    found, dense = system(60, q, ridge=ridge)
    right = right_sides(60, q, 3, not ridge)
    solved = Complement.of(found).solve(right)
    assert solved.finished
    expected = np.linalg.solve(dense, right) if ridge else np.linalg.pinv(dense, rcond=1e-12) @ right
    if not ridge:  # the one solution whose worths sum to 0
        expected[:60] -= expected[:60].mean(axis=0)
    np.testing.assert_allclose(solved.values, expected, atol=1e-9 * np.abs(expected).max())
    for k in range(3):
        whole = bordered_gradients(found, right[:, k])
        assert whole.finished
        np.testing.assert_allclose(whole.values, expected[:, k], atol=1e-9 * np.abs(expected).max())


def test_products_are_those_of_the_dense_matrix() -> None:
    found, dense = system(40, 2, ridge=True)
    vector = np.random.default_rng(1).normal(size=42)
    np.testing.assert_allclose(found @ vector, dense @ vector, rtol=1e-12)
    assert found.shape == dense.shape


def test_agrees_with_scipy() -> None:
    found, _ = system(500, 0)
    right = right_sides(500, 0, 1, True)[:, 0]
    laplacian = diags_array(found.diagonal) - found.adjacency
    expected, failed = cg(laplacian, right, rtol=1e-13, M=diags_array(1 / found.diagonal))
    assert not failed
    solved = conjugate_gradients(found, right)
    np.testing.assert_allclose(solved.values, expected - expected.mean(), atol=1e-9 * np.abs(expected).max())
    assert abs(solved.values.sum()) < 1e-9


def test_several_right_sides_are_solved_as_each_alone() -> None:
    found, _ = system(80, 0)
    right = right_sides(80, 0, 4, True) * [1.0, 1e-9, 1e9, 0.0]
    together = conjugate_gradients(found, right)
    assert together.finished
    assert not together.values[:, 3].any()
    for k in range(3):
        alone = conjugate_gradients(found, right[:, k]).values
        np.testing.assert_allclose(together.values[:, k], alone, atol=1e-10 * np.abs(alone).max())


def test_starts_where_it_is_told() -> None:
    found, _ = system(300, 2)
    first = Complement.of(found)
    again = Complement.of(found, start=first.inner, tolerance=1e-10)
    assert again.iterations <= 1 < first.iterations
    np.testing.assert_allclose(again.schur, first.schur, rtol=1e-8)


def test_says_that_it_did_not_finish() -> None:
    found, _ = system(300, 0)
    right = right_sides(300, 0, 1, True)[:, 0]
    few = conjugate_gradients(found, right, most=3)
    assert few.iterations == 3
    assert not few.finished


def test_a_column_that_worths_explain_has_no_information_left() -> None:
    i, j = connected(30, 90, np.random.default_rng(3))
    worth = np.random.default_rng(4).normal(size=30)
    z = (worth[i] - worth[j])[:, None]
    graph = Graph.of(i, j, 30)
    incidence = coo_array((np.ones(len(i)), (np.arange(len(i)), i)), shape=(len(i), 30)).toarray()
    incidence[np.arange(len(i)), j] = -1.0
    complement = Complement.of(Bordered(graph, np.ones(len(i)), incidence.T @ z, z.T @ z))
    assert abs(complement.schur[0, 0]) < 1e-9 * (z.T @ z)[0, 0]
