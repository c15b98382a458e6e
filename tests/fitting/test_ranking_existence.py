"""Where fits to lists have no maximum: a linear program over all sets that could have been chosen, beside the fit."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import llbt
from llbt.core.rankings import gathered_rankings


def lists_of(rows, objects="ABC"):
    """Rankings from lists of places."""
    entries = [(k, objects.index(label), place) for k, row in enumerate(rows) for label, place in row.items()]
    lists, items, places = (np.array(column) for column in zip(*entries, strict=True))
    return gathered_rankings(tuple(objects), lists, items, places)


def every_inequality(r, orders):
    """Rows a with a·(2λ, log δ) ≥ 0 along a direction of recession: the chosen set before each that could have been."""
    J, rows = len(r.objects), []

    def value(chosen):
        row = np.zeros(J + len(orders))
        row[list(chosen)] = 1 / len(chosen)
        if len(chosen) > 1:
            row[J + orders.index(len(chosen))] = 1
        return row

    for lo, hi in zip(r.starts[:-1], r.starts[1:], strict=True):
        items, places = r.items[lo:hi], r.places[lo:hi]
        for place in range(1, int(places.max()) + 1):
            left, chosen = items[(places >= place) | (places == 0)], items[places == place]
            if len(left) > 1:
                others = [c for d in (1, *orders) for c in itertools.combinations(left, d)]
                rows += [value(chosen) - value(c) for c in others]
    return np.array(rows)


def has_maximum(r):
    """Whether no direction of (2λ, log δ), the last object held, raises one inequality and lowers none."""
    orders = np.setdiff1d(r.tied, [1]).tolist()
    rows = np.delete(every_inequality(r, orders), len(r.objects) - 1, axis=1)
    if np.linalg.matrix_rank(rows) < rows.shape[1]:
        return False
    found = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs")
    return bool(-found.fun < 1e-7)


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.slow
def test_a_fit_ends_where_a_linear_program_finds_no_direction(size):
    rng = np.random.default_rng(size)
    seen = []
    for _ in range(60):
        number = rng.integers(1, 5)
        places = np.array(
            [np.unique(rng.integers(1, size + 1, size), return_inverse=True)[1] + 1 for _ in range(number)]
        )
        lists, items = np.divmod(np.arange(number * size), size)
        r = gathered_rankings(tuple("ABCD"[:size]), lists, items, places.ravel())
        if len(r.tied) == 0 or r.largest_tie == 1:
            continue
        try:
            llbt.fit("object + tie", r)
            ended = True
        except llbt.errors.SeparationError:
            ended = False
        assert ended == has_maximum(r), str(r)
        seen.append(ended)
    assert min(seen.count(True), seen.count(False)) >= 15


def test_ties_that_could_be_ever_more_frequent_are_named():
    rows = [{"A": 1, "B": 1, "C": 2}, {"A": 1, "B": 2, "C": 1}, {"A": 2, "B": 1, "C": 1}]
    with pytest.raises(llbt.errors.SeparationError, match=r"without end along tie → \+∞"):
        llbt.fit("object + tie", lists_of(rows))
    with pytest.warns(llbt.errors.TiesWarning):
        assert llbt.fit("object", lists_of(rows)).converged


def test_an_object_that_rises_with_ties_is_named():
    rows = [{"A": 1, "B": 2}] * 5 + [{"A": 1, "B": 1}] * 3
    with pytest.raises(llbt.errors.SeparationError) as caught:
        llbt.fit("object + tie", lists_of(rows))
    assert "object[A] → +∞, tie → +∞" in str(caught.value)
    assert "prior" in str(caught.value)
    assert llbt.fit("object + tie", lists_of(rows), prior=0.5).converged


def test_more_sets_than_sums_can_hold_are_refused_with_their_number():
    rng = np.random.default_rng(1)
    size, rows = 24, []
    for _ in range(30):
        order = rng.permutation(size)
        rows.append({k: max(int(p) - 11, 1) for k, p in enumerate(order)})
    lists, items = np.divmod(np.arange(30 * size), size)
    places = np.array([[row[k] for k in range(size)] for row in rows]).ravel()
    r = gathered_rankings(tuple(range(size)), lists, items, places)
    with pytest.raises(llbt.errors.DesignError, match="2,496,168 sets of objects are possible"):
        llbt.fit("object + tie", r)


# -- Firth's bias reduction ----------------------------------------------------------------------------------


def two_at_a_time(table):
    """The counts of a table as lists of two."""
    rows, counts = [], []
    for line in table.to_frame().to_dict("records"):
        for places, column in (((1, 2), "wins_i"), ((1, 1), "ties"), ((2, 1), "wins_j")):
            if line[column]:
                rows.append({line["object_i"]: places[0], line["object_j"]: places[1]})
                counts.append(float(line[column]))
    objects = list(table.objects)
    entries = [(k, objects.index(label), place) for k, row in enumerate(rows) for label, place in row.items()]
    lists, items, places = (np.array(column) for column in zip(*entries, strict=True))
    return gathered_rankings(tuple(objects), lists, items, places, counts=np.array(counts))


def test_bias_reduction_of_lists_of_two_is_that_of_fit():
    """Two derivatives of the penalty: by differences here, exact in `fit`."""
    table = llbt.load_dataset("dras_table1").pool()
    res = llbt.fit("object + tie", two_at_a_time(table), prior="jeffreys")
    plain = llbt.fit("object + tie", table, prior="jeffreys")
    np.testing.assert_allclose(res.params, plain.params, atol=1e-8)
    np.testing.assert_allclose(res.bse, plain.bse, atol=1e-8)
    assert "Firth's bias reduction" in str(res)
    assert "Firth's bias reduction" in llbt.interpret(res).sentences["model"]


@pytest.mark.parametrize("ties", [True, False])
def test_bias_reduction_is_the_maximum_of_the_penalized_likelihood(ties):
    rng = np.random.default_rng(3)
    said = np.array([0.8, 0.2, -0.2, -0.6]) + rng.gumbel(size=(25, 4))
    places = np.argsort(np.argsort(-said, axis=1), axis=1) + 1
    places = np.minimum(places, 3) if ties else places
    lists, items = np.divmod(np.arange(100), 4)
    r = gathered_rankings(tuple("ABCD"), lists, items, places.ravel())
    res = llbt.fit("object + tie" if ties else "object", r, prior="jeffreys")

    def minus(x):
        found = res.lists.moments(x)
        return -found.value - np.linalg.slogdet(found.information)[1] / 2

    other = minimize(minus, np.zeros(len(res.params)), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(res.params, other.x, atol=2e-5)
    assert -minus(res.params.to_numpy()) >= -other.fun - 1e-10


def test_bias_reduction_is_finite_where_the_likelihood_has_no_maximum():
    rows = [{"A": 1, "B": 1, "C": 2}, {"A": 1, "B": 2, "C": 1}, {"A": 2, "B": 1, "C": 1}]
    res = llbt.fit("object + tie", lists_of(rows), prior="jeffreys")
    assert res.converged
    assert np.isfinite(res.bse).all()
    first = lists_of([{"A": 1, "B": 2, "C": 3}, {"A": 1, "C": 2, "B": 3}])
    assert llbt.fit("object", first, prior="jeffreys").params["object[A]"] > 0


@pytest.mark.exhaustive
def test_bias_reduction_takes_bias_away():
    rng = np.random.default_rng(4)
    worths = np.array([0.8, 0.0, -0.8])
    plain, reduced = [], []
    for _ in range(600):
        said = 2 * worths + rng.gumbel(size=(25, 3))
        places = np.argsort(np.argsort(-said, axis=1), axis=1) + 1
        lists, items = np.divmod(np.arange(75), 3)
        r = gathered_rankings(tuple("ABC"), lists, items, places.ravel())
        try:
            plain.append(llbt.fit("object", r).params["object[A]"])
        except llbt.errors.SeparationError:
            continue
        reduced.append(llbt.fit("object", r, prior="jeffreys").params["object[A]"])
    error = np.std(reduced) / np.sqrt(len(reduced))
    assert np.mean(plain) - 1.6 > 3 * error
    assert abs(np.mean(reduced) - 1.6) < 3 * error
