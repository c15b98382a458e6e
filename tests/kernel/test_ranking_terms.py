"""Choices from sets against enumeration of every outcome, and their derivatives against finite differences."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.sparse import csr_array

from llbt.kernel.list_fit import fit_lists
from llbt.kernel.list_likelihood import Lists
from llbt.kernel.ranking_terms import Choices, Extremes, Orders, _of_order

ORDERS = np.array([2, 3])


def lists(batch, orders=(), counts=None, held=None):
    size = int(batch.rows.max()) + 1
    matrix = csr_array(np.eye(size)[:, :-1])  # the last row is the reference
    number = int(batch.of.max()) + 1
    counts = np.ones(number) if counts is None else counts
    return Lists((batch,), counts, matrix, np.array(orders, dtype=int), held)


def drawn_rows(rng, number=7, size=4, objects=5):
    return np.array([rng.permutation(objects)[:size] for _ in range(number)])


def every_set(size, most):
    return [set_ for d in range(1, most + 1) for set_ in itertools.combinations(range(size), d)]


def weight_of(set_, worths, deltas):
    d = len(set_)
    return np.exp(np.mean(2 * worths[list(set_)]) + (deltas[d] if d > 1 else 0.0))


# -- probabilities by enumeration ----------------------------------------------------------------------------


def test_an_order_is_a_product_of_choices():
    rng = np.random.default_rng(1)
    rows, worths = drawn_rows(rng), rng.normal(size=5)
    for chosen in (1, 2, 4):
        batch = Orders(rows, np.arange(7), np.full(7, chosen))
        found = batch.evaluated(worths[rows], np.empty(0)).value
        for k, row in enumerate(rows):
            x = np.exp(2 * worths[row])
            p = np.prod([x[r] / x[r:].sum() for r in range(min(chosen, 3))])
            assert found[k] == pytest.approx(np.log(p), abs=1e-12)


def test_choices_of_several_objects_are_as_likely_as_enumeration_says():
    rng = np.random.default_rng(2)
    rows, worths, logs = drawn_rows(rng, size=5), rng.normal(size=5), np.array([-0.4, -1.3])
    deltas = dict(zip([2, 3], logs, strict=True))
    total = np.zeros(7)
    for d in (1, 2, 3):
        for set_ in itertools.combinations(range(5), d):
            order = [*set_, *(k for k in range(5) if k not in set_)]
            batch = Choices(rows[:, order], np.arange(7), np.full(7, d), ORDERS)
            found = np.exp(batch.evaluated(worths[rows[:, order]], logs).value)
            norm = [sum(weight_of(s, worths[row], deltas) for s in every_set(5, 3)) for row in rows]
            expected = [weight_of(set_, worths[row], deltas) for row in rows] / np.array(norm)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            total += found
    np.testing.assert_allclose(total, 1, rtol=1e-12)


def test_a_gap_in_the_orders_has_no_probability():
    rng = np.random.default_rng(3)
    rows, worths, logs = drawn_rows(rng, size=4), rng.normal(size=5), np.array([-0.2])
    batch = Choices(rows, np.arange(7), np.full(7, 3), np.array([3]))
    norm = [sum(weight_of(s, worths[row], {3: logs[0]}) for s in every_set(4, 3) if len(s) != 2) for row in rows]
    expected = [np.log(weight_of((0, 1, 2), worths[row], {3: logs[0]}) / n) for row, n in zip(rows, norm, strict=True)]
    np.testing.assert_allclose(batch.evaluated(worths[rows], logs).value, expected, atol=1e-12)


@pytest.mark.parametrize("sequential", [False, True])
def test_extremes_by_enumeration(sequential):
    rng = np.random.default_rng(4)
    rows, worths = drawn_rows(rng), rng.normal(size=5)
    found = Extremes(rows, np.arange(7), sequential=sequential).evaluated(worths[rows], np.empty(0)).value
    for k, row in enumerate(rows):
        w = worths[row]
        if sequential:
            p = np.exp(2 * w[0]) / np.exp(2 * w).sum() * np.exp(-2 * w[1]) / np.exp(-2 * w[1:]).sum()
        else:
            p = np.exp(w[0] - w[1]) / sum(np.exp(w[b] - w[c]) for b, c in itertools.permutations(range(4), 2))
        assert found[k] == pytest.approx(np.log(p), abs=1e-12)


# -- derivatives ---------------------------------------------------------------------------------------------


def batches():
    rng = np.random.default_rng(5)
    rows, of, chosen = drawn_rows(rng, 12, 5), np.arange(12), rng.integers(1, 4, 12)
    return {
        "orders": (Orders(rows, of, chosen), ()),
        "choices": (Choices(rows, of, chosen, ORDERS), ORDERS),
        "pairs tied": (Choices(rows[:, :2], of, np.minimum(chosen, 2), np.array([2])), (2,)),
        "extremes": (Extremes(rows, of), ()),
        "in turn": (Extremes(rows, of, sequential=True), ()),
    }


@pytest.mark.parametrize("name", list(batches()))
def test_gradient_and_information_are_derivatives(name):
    batch, orders = batches()[name]
    rng = np.random.default_rng(6)
    one = lists(batch, orders, counts=rng.integers(1, 5, 12).astype(float))
    at = rng.normal(scale=0.7, size=one.size)
    found = one.moments(at)
    assert found.value == pytest.approx(one.log_likelihood(at), rel=1e-13)
    np.testing.assert_allclose(found.gradient, approx_fprime(at, one.log_likelihood, 1e-7), atol=2e-5)
    second = approx_fprime(at, lambda x: one.moments(x).gradient, 1e-6)
    np.testing.assert_allclose(found.information, -second, atol=2e-5)
    by_group = one.scores(at, np.arange(12) % 3, 3)
    np.testing.assert_allclose(by_group.sum(axis=0), found.gradient, atol=1e-12)
    np.testing.assert_allclose(one.of_lists(np.arange(12) % 3 == 1).moments(at).gradient, by_group[1], atol=1e-12)


def test_parts_that_fit_into_memory_change_nothing(monkeypatch):
    batch, orders = batches()["choices"]
    one, at = lists(batch, orders), np.linspace(-1, 1, 6)
    whole = one.moments(at)
    monkeypatch.setattr("llbt.kernel.list_likelihood._ENTRIES", 60)
    monkeypatch.setattr("llbt.kernel.list_likelihood._DENSE", 0)
    assert len(list(one.parts())) > 3
    parted = one.moments(at)
    np.testing.assert_allclose(parted.information, whole.information, atol=1e-12)
    np.testing.assert_allclose(parted.gradient, whole.gradient, atol=1e-12)


def test_values_far_apart_are_summed_in_another_way_to_the_same(monkeypatch):
    batch, _ = batches()["orders"]
    worths = np.random.default_rng(7).normal(scale=3, size=5)[batch.rows]
    one = batch.evaluated(worths, np.empty(0))
    monkeypatch.setattr("llbt.kernel.ranking_terms._FAR", 0.0)
    other = batch.evaluated(worths, np.empty(0))
    np.testing.assert_allclose(one.value, other.value, rtol=1e-12)
    np.testing.assert_allclose(one.score, other.score, atol=1e-12)
    np.testing.assert_allclose(one.information, other.information, atol=1e-12)


def test_values_far_apart_stay_finite():
    rows = np.array([[0, 1, 2], [2, 0, 1]])
    worths = np.array([900.0, 0.0, -900.0])
    for batch in (Orders(rows, np.arange(2), np.full(2, 3)), Choices(rows, np.arange(2), np.full(2, 1), ORDERS)):
        told = batch.evaluated(worths[rows], np.zeros(2 if isinstance(batch, Choices) else 0))
        assert np.isfinite(told.value).all()
        assert np.isfinite(told.information).all()


# -- the maximum ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(batches()))
def test_the_maximum_is_that_of_a_general_optimizer(name):
    batch, orders = batches()[name]
    rng = np.random.default_rng(8)
    rows = drawn_rows(rng, 60, batch.rows.shape[1])
    fields = {"rows": rows, "of": np.arange(60)}
    if hasattr(batch, "chosen"):
        fields["chosen"] = np.resize(batch.chosen, 60)
    batch = type(batch)(**{**vars(batch), **fields})
    one = lists(batch, orders)
    found = fit_lists(one)
    other = minimize(lambda x: -one.log_likelihood(x), np.zeros(one.size), method="BFGS", options={"gtol": 1e-8})
    assert found.converged
    np.testing.assert_allclose(found.params, other.x, atol=2e-5)
    assert found.log_likelihood >= -other.fun - 1e-9
    assert np.abs(found.gradient).max() < 1e-8


def test_held_ties_are_no_parameters():
    batch, orders = batches()["choices"]
    held = lists(batch, orders, held=np.array([-0.3, -0.9]))
    free = lists(batch, orders)
    at = np.array([0.2, -0.1, 0.4, 0.0])
    assert held.log_likelihood(at) == pytest.approx(free.log_likelihood(np.append(at, [-0.3, -0.9])), rel=1e-14)
    assert held.moments(at).gradient.shape == (4,)


def exact_order(weights, d):
    """The elementary symmetric polynomial of order d, in fractions."""
    found = [Fraction(1)] + [Fraction(0)] * d
    for weight in weights:
        for k in range(d, 0, -1):
            found[k] += weight * found[k - 1]
    return found[d]


@pytest.mark.parametrize(("size", "orders"), [(20, range(1, 11)), (12, range(1, 13)), (60, (2, 3))])
def test_sums_over_sets_keep_their_digits(size, orders):
    """By recursion, against fractions: sums over up to a million sets, of worths spread over odds of e¹⁰ and more."""
    worths = np.random.default_rng(9).normal(scale=2, size=size)
    for d in orders:
        weights = np.exp(2 * (worths - worths.max()) / d)
        x = [Fraction(weight) for weight in weights]
        total, found = exact_order(x, d), _of_order(weights[None], d)
        single = [float(x[i] * exact_order(x[:i] + x[i + 1 :], d - 1) / total) for i in range(size)]
        assert found.total[0] == pytest.approx(float(total), rel=1e-14)
        np.testing.assert_allclose(found.single[0] / float(total), single, atol=1e-9)
        if d > 1:
            both = x[0] * x[1] * exact_order(x[2:], d - 2) / total
            assert found.pairs[0, 0, 1] / float(total) == pytest.approx(float(both), abs=1e-9)


def test_a_bounded_step_does_not_go_astray():
    """From equal worths full steps towards very unequal ones overshoot; the first are bounded, and few are needed."""
    rng = np.random.default_rng(10)
    worths = np.linspace(-2.5, 2.5, 40)
    rows = np.array([rng.permutation(40)[:6] for _ in range(1500)])
    said = 2 * worths[rows] + rng.gumbel(size=rows.shape)
    ordered = np.take_along_axis(rows, np.argsort(-said, axis=1), axis=1)
    found = fit_lists(lists(Orders(ordered, np.arange(1500), np.full(1500, 6))))
    assert found.converged
    assert found.n_iter <= 12
    assert np.abs(found.gradient).max() < 1e-8
