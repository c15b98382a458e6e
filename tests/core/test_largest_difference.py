"""The largest standardized difference of every draw, against all pairs of the same draws."""

import tracemalloc

import numpy as np
import pytest

from llbt.core import largest_difference
from llbt.core.largest_difference import LargestDifference


def graph(kind, size, rng):
    """Judgments (J, J): everybody with everybody, a few with most of them, only with the next five, or two worlds."""
    if kind == "random":
        weights = rng.poisson(3.0, (size, size))
    elif kind == "popular":
        share = 1 / np.arange(1, size + 1)
        weights = rng.poisson(4 * size * np.outer(share, share)) + (rng.random((size, size)) < 0.05)
    elif kind == "matched":
        apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        weights = rng.poisson(5.0, (size, size)) * (apart <= 5)
    else:
        side = np.arange(size) % 2
        weights = rng.poisson(np.where(side[:, None] == side, 5.0, 0.0))
    weights = np.triu(weights, 1) + np.diag(np.ones(size - 1), 1)
    return weights + weights.T


def drawn_from(kind, size):
    """A root of the covariance of centred worths, and the standard errors of differences, infinite on the diagonal."""
    weights = graph(kind, size, np.random.default_rng(size))
    cov = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights, rcond=1e-12, hermitian=True)
    values, vectors = np.linalg.eigh(cov)
    variance = np.diag(cov)[:, None] + np.diag(cov) - 2 * cov
    np.fill_diagonal(variance, np.inf)
    return (vectors * np.sqrt(np.maximum(values, 0)))[:, 1:], np.sqrt(variance)


def by_all_pairs(root, std_error, draws, seed):
    directions = np.random.default_rng(seed).standard_normal((draws, root.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    i, j = np.nonzero(np.isfinite(std_error))
    return np.abs((root[i] - root[j]) @ directions.T / std_error[i, j][:, None]).max(axis=0)


@pytest.mark.parametrize("kind", ["random", "popular", "matched", "two worlds"])
@pytest.mark.parametrize("size", [2, 3, 7, 80])
def test_largest_difference_of_each_draw_is_that_of_all_pairs(kind, size):
    root, std_error = drawn_from(kind, size)
    found = LargestDifference.of(root, std_error).drawn(700, np.random.default_rng(1))
    np.testing.assert_allclose(found, by_all_pairs(root, std_error, 700, 1), rtol=1e-12)


def test_what_is_no_pair_and_who_is_in_none_do_not_count():
    root, std_error = drawn_from("popular", 60)
    out = np.random.default_rng(0).random((60, 60)) < 0.6
    std_error[out | out.T] = np.inf
    std_error[7] = std_error[:, 7] = np.inf
    found = LargestDifference.of(root, std_error).drawn(500, np.random.default_rng(2))
    np.testing.assert_allclose(found, by_all_pairs(root, std_error, 500, 2), rtol=1e-12)


@pytest.mark.parametrize(("sparse", "most"), [(np.inf, 1_000_000), (1e-9, np.inf)])
def test_both_ways_find_the_same(monkeypatch, sparse, most):
    """All draws through all pairs, and all through the bounds."""
    monkeypatch.setattr(largest_difference, "_SPARSE", sparse)
    monkeypatch.setattr(largest_difference, "_MOST_PAIRS", most)
    root, std_error = drawn_from("popular", 40)
    found = LargestDifference.of(root, std_error).drawn(600, np.random.default_rng(3))
    np.testing.assert_allclose(found, by_all_pairs(root, std_error, 600, 3), rtol=1e-12)


def test_draws_do_not_depend_on_how_many_are_made_at_once(monkeypatch):
    root, std_error = drawn_from("matched", 30)
    once = LargestDifference.of(root, std_error).drawn(900, np.random.default_rng(4))
    monkeypatch.setattr(largest_difference, "_AT_A_TIME", 200)
    np.testing.assert_allclose(LargestDifference.of(root, std_error).drawn(900, np.random.default_rng(4)), once, 1e-12)


@pytest.mark.parametrize("kind", ["random", pytest.param("matched", marks=pytest.mark.slow)])
def test_memory_is_that_of_few_draws(kind):
    root, std_error = drawn_from(kind, 400)
    tracemalloc.start()
    LargestDifference.of(root, std_error).drawn(1500, np.random.default_rng(5))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80e6
