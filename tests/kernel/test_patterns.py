"""Sums over all patterns: halves against enumeration, moments against finite differences."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from llbt.core.patterns import pairs_of
from llbt.kernel.patterns import (
    MISSING,
    Halves,
    Listed,
    Weights,
    counted,
    moments_of,
    products_of,
    rankings_of,
    ratings_of,
    signs_of,
)


def drawn(rng, pairs, products):
    return Weights(*(rng.normal(scale=s, size=n) for s, n in ((0.5, pairs), (0.5, pairs), (0.3, len(products)))))


def brute(patterns, products, w):
    logs = np.array(
        [
            sum(y * e for y, e in zip(row, w.eta, strict=True))
            + sum(g for y, g in zip(row, w.gamma, strict=True) if y == 0)
            + sum(t * row[a] * row[b] for t, (a, b) in zip(w.theta, products, strict=True))
            for row in patterns.astype(float)
        ]
    )
    return np.log(np.exp(logs).sum())


def test_pairs_and_products_are_those_of_the_field():
    assert pairs_of(4).tolist() == [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
    assert len(products_of(pairs_of(6))) == 60
    sharing = [set(a) & set(b) for a, b in pairs_of(4)[products_of(pairs_of(4))].tolist()]
    assert all(len(common) == 1 for common in sharing)


@pytest.mark.parametrize("values", [(-1, 1), (-1, 0, 1)])
@pytest.mark.parametrize("objects", [2, 3, 4])
def test_halves_are_all_patterns(values, objects):
    pairs = pairs_of(objects)
    products = products_of(pairs)
    w = drawn(np.random.default_rng(1), len(pairs), products)
    space = Halves(len(pairs), values, products)
    every = np.array(list(itertools.product(values, repeat=len(pairs))), dtype=np.int8)
    assert space.number == len(every)
    opened = space.compatible(np.full(len(pairs), MISSING, dtype=np.int8))
    assert {tuple(row) for row in opened.tolist()} == {tuple(row) for row in every.tolist()}
    found, listed = space.moments(w), moments_of(every, products, w)
    assert found.log_norm == pytest.approx(brute(every, products, w), abs=1e-12)
    np.testing.assert_allclose(found.mean, listed.mean, atol=1e-13)
    np.testing.assert_allclose(found.covariance, listed.covariance, atol=1e-13)


@pytest.mark.parametrize("kind", ["comparisons", "rankings", "ratings"])
def test_moments_are_derivatives_of_the_log_sum(kind):
    pairs = pairs_of(3)
    products = products_of(pairs)
    listed = {"rankings": signs_of(rankings_of(3), pairs), "ratings": signs_of(ratings_of(3, 3), pairs)}
    space = Halves(3, (-1, 0, 1), products) if kind == "comparisons" else Listed(listed[kind], products)
    x = np.random.default_rng(2).normal(scale=0.4, size=9)

    def split(x):
        return Weights(x[:3], x[3:6], x[6:])

    found = space.moments(split(x))
    np.testing.assert_allclose(
        found.mean, approx_fprime(x, lambda x: space.moments(split(x)).log_norm, 1e-7), atol=1e-6
    )
    np.testing.assert_allclose(
        found.covariance, approx_fprime(x, lambda x: space.moments(split(x)).mean, 1e-6), atol=1e-5
    )


def test_blocks_of_patterns_change_nothing(monkeypatch):
    pairs = pairs_of(4)
    products = products_of(pairs)
    w = drawn(np.random.default_rng(3), 6, products)
    patterns = signs_of(ratings_of(4, 4), pairs)
    whole = moments_of(patterns, products, w)
    monkeypatch.setattr("llbt.kernel.patterns._BLOCK", 100)
    parted = moments_of(patterns, products, w)
    assert parted.log_norm == pytest.approx(whole.log_norm, abs=1e-12)
    np.testing.assert_allclose(parted.covariance, whole.covariance, atol=1e-13)


def test_orders_with_and_without_ties():
    assert len(rankings_of(4)) == 24
    assert [len(ratings_of(j, 9)) for j in (2, 3, 4, 5)] == [3, 13, 75, 541]  # Fubini numbers
    assert len(ratings_of(4, 2)) == 15  # two levels: 2^4 − 2 splits, and one level
    assert len(np.unique(signs_of(ratings_of(4, 4), pairs_of(4)), axis=0)) == 75


def test_answers_leave_open_what_they_do_not_say():
    pairs = pairs_of(3)
    orders = Listed(signs_of(rankings_of(3), pairs), products_of(pairs))
    assert len(orders.compatible(np.array([1, 1, MISSING], dtype=np.int8))) == 2
    assert len(orders.compatible(np.array([1, -1, 1], dtype=np.int8))) == 0
    every = Halves(3, (-1, 0, 1), products_of(pairs))
    assert every.compatible(np.array([1, MISSING, 0], dtype=np.int8)).tolist() == [[1, -1, 0], [1, 0, 0], [1, 1, 0]]


def test_what_is_counted():
    t = counted(np.array([[1, 0, -1]], dtype=np.int8), np.array([[0, 1], [0, 2]]))
    assert t.tolist() == [[1, 0, -1, 0, 1, 0, 0, -1]]
