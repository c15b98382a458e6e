"""Lists that are drawn come up as often as their probabilities say."""

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from llbt.kernel.list_draws import drawn_extremes, drawn_orders, drawn_tied, sets_of

WORTHS = np.array([0.4, -0.3, 0.1])
NUMBER = 20_000


def agrees(places, chance):
    """Whether lists come up with probabilities, places → probability, by χ² at 10⁻⁴."""
    found = {said: 0 for said in chance}
    for row in map(tuple, places.tolist()):
        found[row] += 1
    assert sum(chance.values()) == pytest.approx(1)
    assert chisquare(list(found.values()), [NUMBER * p for p in chance.values()]).pvalue > 1e-4


def many():
    return np.tile(WORTHS, (NUMBER, 1))


@pytest.mark.parametrize("taken", [1, 2, 3])
@pytest.mark.slow
def test_orders(taken):
    chance = {}
    x = np.exp(2 * WORTHS)
    for order in itertools.permutations(range(3)):
        places = [0, 0, 0]
        for place, k in enumerate(order[:taken], start=1):
            places[k] = place
        p = x[order[0]] / x.sum() * x[order[1]] / x[list(order[1:])].sum()
        chance[tuple(places)] = chance.get(tuple(places), 0) + p
    agrees(drawn_orders(many(), np.full(NUMBER, taken), np.random.default_rng(1)), chance)


def test_ties():
    deltas, orders = np.array([-0.2, -0.9]), np.array([2, 3])
    chance = {}

    def weight(c):
        return np.exp(2 * WORTHS[list(c)].mean() + (deltas[len(c) - 2] if len(c) > 1 else 0))

    def follow(left, places, place, p):
        if not left:
            chance[tuple(places)] = chance.get(tuple(places), 0) + p
            return
        sets = [c for d in (1, 2, 3) for c in itertools.combinations(sorted(left), d)]
        norm = sum(map(weight, sets))
        for c in sets:
            said = [place if k in c else at for k, at in enumerate(places)]
            follow(left - set(c), said, place + 1, p * weight(c) / norm)

    follow(frozenset(range(3)), [0, 0, 0], 1, 1.0)
    agrees(drawn_tied(many(), np.full(NUMBER, 3), deltas, orders, np.random.default_rng(2)), chance)
    assert len(sets_of(5, orders)) == 5 + 10 + 10


def test_ties_end_after_so_many_places():
    found = drawn_tied(many(), np.full(NUMBER, 1), np.array([-0.2]), np.array([2]), np.random.default_rng(3))
    assert set(np.unique(found)) == {0, 1}
    assert set(np.unique((found == 1).sum(axis=1))) == {1, 2}


@pytest.mark.parametrize("sequential", [False, True])
def test_extremes(sequential):
    chance = {}
    for b, w in itertools.permutations(range(3), 2):
        places = [0, 0, 0]
        places[b], places[w] = 1, 2
        rest = [k for k in range(3) if k != b]
        chance[tuple(places)] = (
            np.exp(2 * WORTHS[b] - 2 * WORTHS[w]) / np.exp(-2 * WORTHS[rest]).sum()
            if sequential
            else np.exp(WORTHS[b] - WORTHS[w])
        )
    total = np.exp(2 * WORTHS).sum() if sequential else sum(chance.values())
    chance = {said: p / total for said, p in chance.items()}
    agrees(drawn_extremes(many(), np.random.default_rng(4), sequential=sequential), chance)
