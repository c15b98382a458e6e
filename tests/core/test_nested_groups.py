"""Pairs of estimates that groups leave, against all pairs."""

import numpy as np
import pytest

from llbt.core import largest_difference
from llbt.core.largest_difference import LargestDifference
from llbt.core.nested_groups import NestedGroups


def walk(size, seed=0):
    """A random walk in no order: near estimates move together. A root of its covariance, and 1/s_ij, 0 for no pair."""
    place = np.random.default_rng(seed).permutation(size)
    root = (np.arange(size)[:, None] >= np.arange(size)).astype(float)[place]
    apart = np.sqrt(np.abs(np.subtract.outer(place, place)) + 0.5)
    inverse = 1 / apart
    np.fill_diagonal(inverse, 0)
    return root, inverse.astype(np.float32)


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 200, 513])
def test_groups_are_halves_of_groups_and_hold_every_estimate(size):
    root, inverse = walk(size)
    found = NestedGroups.of(root, inverse)
    assert sorted(set(found.order)) == list(range(size))
    assert len(found.levels[-1]) == len(found.order) < size + 64
    assert len(found.levels[0]) <= 64
    for coarse, fine in zip(found.levels, found.levels[1:], strict=False):
        assert len(fine) == 2 * len(coarse)
        np.testing.assert_array_equal(coarse[0, -1], fine[:2, -2:].max())


@pytest.mark.parametrize("size", [40, 130, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("least", [0.5, 2.0, 3.0])
def test_no_pair_that_reaches_is_left(size, least):
    root, inverse = walk(size, seed=size)
    inverse[3] = inverse[:, 3] = 0
    values = (root @ np.random.default_rng(1).standard_normal((size, 20))).astype(np.float32)
    off = np.full(size, 1e-4, dtype=np.float32)
    draw, i, j = NestedGroups.of(root, inverse).reaching(values, off, least, 10**9)
    found = set(zip(draw, np.minimum(i, j), np.maximum(i, j), strict=True))
    apart = np.abs(values[:, None] - values) * inverse[:, :, None]
    expected = {(d, a, b) for a, b, d in zip(*np.nonzero(apart >= least), strict=True) if a < b}
    assert expected
    assert expected <= found
    assert NestedGroups.of(root, inverse).reaching(values, off, least, 3) is None or size <= 64


def test_little_is_left_where_neighbours_move_together():
    root, inverse = walk(1000)
    values = (root @ np.random.default_rng(1).standard_normal((1000, 20))).astype(np.float32)
    largest = (np.abs(values[:, None] - values) * inverse[:, :, None]).max(axis=(0, 1))
    off = np.zeros(1000, dtype=np.float32)
    draw, _, _ = NestedGroups.of(root, inverse).reaching(values, off, float(largest.min()), 10**9)
    assert len(draw) < 1e-3 * values.shape[1] * 1000**2 / 2


@pytest.mark.parametrize("number", [np.inf, 200])
def test_largest_differences_by_groups_are_those_of_all_pairs(number, monkeypatch):
    """Where groups help, and where they do not from some draw on."""
    root, inverse = walk(150)
    std_error = np.divide(1.0, inverse, out=np.full(inverse.shape, np.inf), where=inverse > 0, dtype=float)
    asked = []

    def counted(self, values, *rest):
        asked.append(values.shape[1])
        return reaching(self, values, *rest) if sum(asked) <= number else None

    reaching = NestedGroups.reaching
    monkeypatch.setattr(NestedGroups, "reaching", counted)
    monkeypatch.setattr(largest_difference, "_MOST_PAIRS", 10**9)
    monkeypatch.setattr(largest_difference, "_SPARSE", 1)
    found = LargestDifference.of(root, std_error)
    monkeypatch.setattr(LargestDifference, "_by_bounds", lambda self, u: (np.zeros(len(u)), np.arange(len(u))))
    directions = np.random.default_rng(1).standard_normal((1200, 150))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    expected = np.zeros(1200)
    for i in range(150):
        np.maximum(
            expected, (np.abs((root - root[i]) @ directions.T) / std_error[i][:, None]).max(axis=0), out=expected
        )
    np.testing.assert_allclose(found.drawn(1200, np.random.default_rng(1)), expected, rtol=1e-12)
    assert sum(asked) > min(number, 1000)
