"""Elo and TrueSkill: game by game in explicit loops, and by the trueskill package."""

import itertools
import time

import numpy as np
import pandas as pd
import pytest
import trueskill
from scipy import stats
from support.draws import first_block
from support.mechanisms import mechanism

import llbt
from llbt.scores.aggregate import aggregate
from llbt.scores.games import Games
from llbt.scores.mechanisms import beyond_chance
from llbt.scores.ratings import (
    Elo,
    TrueSkill,
    _moments_of_draw,
    _moments_of_win,
    cdf,
    check_finite,
    elo_ratings,
    environment,
    moments,
    step_by_held_out_loss,
    trueskill_ratings,
)


def random_games(seed=0, systems=6, units=30, missing=0.1):
    """Round robins with wins, draws, losses and gaps."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(systems, 1))
    slots = 3 * np.arange(len(pairs)) + rng.integers(0, 3, size=(units, len(pairs)))
    slots[rng.random(slots.shape) < missing] = -1
    return Games(systems, pairs, slots)


def single_games(seed=0, systems=4, number=200):
    """Games one by one, as they come from a table of counts."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(systems, 1))
    return Games(systems, pairs, rng.integers(0, 3 * len(pairs), size=(number, 1)))


def played(games, units, rng):
    """The games of each order one after the other: (i, j, outcome)."""
    made = [[] for _ in units]
    for round_ in games.rounds(units, rng):
        for first, second, said in zip(round_.first, round_.second, round_.outcomes, strict=True):
            for order, systems, outcome in zip(made, round_.systems.T, said, strict=True):
                if outcome >= 0:
                    order.append((systems[first], systems[second], outcome))
    return made


def elo_by_loop(sequence, size, k=20.0, start=1500.0, scale=400.0):
    rating = [start] * size
    for i, j, said in sequence:
        expected = 1 / (1 + 10 ** ((rating[j] - rating[i]) / scale))
        score = {0: 1.0, 1: 0.5, 2: 0.0}[said]
        rating[i], rating[j] = rating[i] + k * (score - expected), rating[j] - k * (score - expected)
    return rating


def trueskill_by_package(sequence, size, draw_probability):
    env = trueskill.TrueSkill(draw_probability=draw_probability)
    rating = [env.create_rating() for _ in range(size)]
    for i, j, said in sequence:
        a, b = (j, i) if said == 2 else (i, j)
        rating[a], rating[b] = trueskill.rate_1vs1(rating[a], rating[b], drawn=said == 1, env=env)
    return [r.mu for r in rating], [r.sigma for r in rating]


GAMES = {"round robins": random_games(), "single games": single_games(), "two systems": random_games(3, 2, 40)}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("constants", [(20.0, 1500.0, 400.0), (32.0, 1000.0, 200.0)])
def test_elo_is_that_of_an_explicit_loop_in_every_order(name, constants):
    games = GAMES[name]
    units = games.shuffled(12, np.random.default_rng(1))
    found, _ = elo_ratings(Elo(*constants), games, units, np.random.default_rng(2))
    expected = [
        elo_by_loop(sequence, games.size, *constants) for sequence in played(games, units, np.random.default_rng(2))
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("draw_probability", [0.05, 0.4])
@pytest.mark.parametrize("orders", [1, 4, 12])
def test_trueskill_is_that_of_the_package_in_every_order(name, draw_probability, orders):
    """Few orders are played number by number, many side by side."""
    games = GAMES[name]
    units = games.shuffled(orders, np.random.default_rng(1))
    mu, sigma = trueskill_ratings(draw_probability, games, units, np.random.default_rng(2))
    for b, sequence in enumerate(played(games, units, np.random.default_rng(2))):
        expected = trueskill_by_package(sequence, games.size, draw_probability)
        np.testing.assert_allclose(mu[b], expected[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(sigma[b], expected[1], rtol=0, atol=1e-9)


def test_one_order_costs_less_than_a_hundred(monkeypatch):
    """3 to 11 times as much, when it went through the package."""
    monkeypatch.setattr(trueskill, "rate_1vs1", None)
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(150, 8)))
    seconds = {}
    for orders in (1, 100):
        start = time.perf_counter()
        aggregate(frame.rename(columns=str), method=TrueSkill(orders=orders), rng=1)
        seconds[orders] = time.perf_counter() - start
    assert seconds[1] < seconds[100]


def test_defaults_are_those_of_the_package():
    env = environment(0.1)
    assert (env.mu, env.sigma, env.beta, env.tau) == pytest.approx((25, 25 / 3, 25 / 6, 25 / 300))


def test_tails_are_those_of_the_package():
    """v and w of wins far against expectation and of draws far from even, where the distribution function is 0."""
    env = trueskill.TrueSkill()
    apart, near = (x.ravel() for x in np.meshgrid(np.linspace(-30, 30, 121), [0.01, 0.5, 2.0]))
    (v, w), (v_tied, w_tied) = (moments(apart, near, np.full(apart.shape, drawn)) for drawn in (False, True))
    for k, (t, e) in enumerate(zip(apart, near, strict=True)):
        assert v[k] == pytest.approx(env.v_win(t, e), rel=1e-9)
        if 0 < v[k] * (v[k] + t - e) < 1:
            assert w[k] == pytest.approx(env.w_win(t, e), rel=1e-9, abs=1e-12)
        assert v_tied[k] == pytest.approx(env.v_draw(t, e), rel=1e-9)
        assert w_tied[k] == pytest.approx(env.w_draw(t, e), rel=1e-7)
    singly = np.array([_moments_of_win(t - e) for t, e in zip(apart, near, strict=True)])
    np.testing.assert_allclose(singly, np.column_stack([v, w]), rtol=1e-9, atol=1e-12)
    singly = np.array([_moments_of_draw(t, e) for t, e in zip(apart, near, strict=True)])
    np.testing.assert_allclose(singly, np.column_stack([v_tied, w_tied]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        moments(np.array([-50.0]), np.array([0.5]), np.array([False]))[0], [50.5]
    )  # the package's own remedy


def test_the_distribution_function_has_seven_digits_in_the_tail():
    x = np.linspace(-35, 8, 500)
    np.testing.assert_allclose(cdf(x), stats.norm.cdf(x), rtol=2e-7)


def test_every_order_plays_every_game_once_and_instances_whole():
    games = random_games(missing=0.0)
    units = games.shuffled(5, np.random.default_rng(1))
    orders = played(games, units, np.random.default_rng(2))
    pairs, width = games.pairs.tolist(), games.slots.shape[1]
    for unit, order in zip(units, orders, strict=True):
        for place, k in enumerate(unit):
            some = order[place * width : (place + 1) * width]
            slots = [3 * pairs.index(sorted([i, j])) + (said if i < j else 2 - said) for i, j, said in some]
            assert sorted(slots) == sorted(games.slots[k])
        assert sorted(unit) == list(range(30))
    assert len({tuple(row) for row in units}) == 5
    given = [tuple(games.pairs[slot // 3]) for slot in games.slots[units[0, 0]]]
    assert any(tuple(sorted(game[:2])) != pair for game, pair in zip(orders[0], given, strict=False))


def test_every_order_of_the_pairs_is_equally_frequent_in_each_order():
    """Three systems, one instance: the first game and the last in 3,000 random orders of two kinds of draws."""
    pairs = np.column_stack(np.triu_indices(3, 1))
    games = Games(3, pairs, np.arange(0, 9, 3)[None].repeat(1, axis=0))
    counts = np.zeros((3, 3))
    for seed in range(60):
        for order in played(games, np.zeros((50, 1), dtype=int), np.random.default_rng(seed)):
            names = [pairs.tolist().index(sorted(game[:2])) for game in order]
            counts[names[0], names[2]] += 1
    expected = np.where(np.eye(3, dtype=bool), 0, 500)
    assert counts.sum() == 3000
    assert np.abs(counts - expected).max() < 4 * np.sqrt(500)


def test_in_a_given_order_rows_and_pairs_are_played_as_they_stand():
    games = random_games()
    orders = played(games, np.arange(len(games.slots))[None], None)
    slots = games.slots[games.slots >= 0]
    expected = [(*games.pairs[s // 3].tolist(), s % 3) for s in slots]
    found = {}
    for i, j, said in orders[0]:
        for system in (i, j):
            found.setdefault(system, []).append((i, j, said))
    for system, some in found.items():
        assert some == [game for game in expected if system in game[:2]]


def test_the_games_of_one_step_share_no_place():
    games = random_games()
    units = games.shuffled(3, np.random.default_rng(1))
    number = 0
    for round_ in games.rounds(units, np.random.default_rng(2)):
        for step in round_.steps:
            both = np.concatenate([round_.first[step], round_.second[step]])
            assert len(set(both.tolist())) == len(both)
        assert set(round_.outcomes.ravel().tolist()) <= {-1, 0, 1, 2}
        number += (round_.outcomes >= 0).sum()
    assert number == 3 * (games.slots >= 0).sum()


# -- through aggregate -----------------------------------------------------------------------------------

SCORES = pd.DataFrame(np.random.default_rng(5).integers(0, 6, size=(25, 4)), columns=list("DBCA"))


@pytest.mark.parametrize("method", ["elo", "trueskill"])
def test_ratings_are_means_over_orders_with_their_spread(method):
    """The orders are drawn as the record says; each is replayed from the frame."""
    found = (
        aggregate(SCORES, method=mechanism(method, orders=6), rng=9, confidence=0.8)
        .to_frame()
        .set_index("object")
        .sort_index()
    )
    names, rng = sorted(SCORES), first_block(9)
    pairs = list(itertools.combinations(range(4), 2))
    values = SCORES[names].to_numpy()
    said = np.array([[1 - np.sign(row[i] - row[j]) for i, j in pairs] for row in values])
    games = Games(4, np.array(pairs), (3 * np.arange(6) + said).astype(np.int64))
    runs = played(games, games.shuffled(6, rng), rng)
    if method == "elo":
        ratings = np.array([elo_by_loop(run, 4) for run in runs])
    else:
        both = [trueskill_by_package(run, 4, (said == 1).mean()) for run in runs]
        ratings = np.array([mu for mu, _ in both])
        np.testing.assert_allclose(found["sigma"], np.mean([sigma for _, sigma in both], axis=0), atol=1e-9)
    np.testing.assert_allclose(found["estimate"], ratings.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(found["spread"], ratings.std(axis=0, ddof=1), atol=1e-9)
    np.testing.assert_allclose(found["conf_low"], np.quantile(ratings, 0.1, axis=0), atol=1e-9)
    np.testing.assert_allclose(found["conf_high"], np.quantile(ratings, 0.9, axis=0), atol=1e-9)


@pytest.mark.parametrize("method", ["elo", "trueskill"])
def test_one_order_has_no_spread_and_another_differs(method):
    one, other = (aggregate(SCORES, method=mechanism(method, orders=1), rng=seed).to_frame() for seed in (1, 2))
    assert one[["spread", "conf_low", "conf_high"]].isna().all(axis=None)
    first, second = (frame.set_index("object")["estimate"].sort_index() for frame in (one, other))
    assert not np.allclose(first, second)


def test_probabilities_are_those_of_the_ratings():
    elo = aggregate(SCORES, method="elo", rng=1)
    points = elo.to_frame().set_index("object")["estimate"]
    assert elo.probabilities.loc["A", "D"] == pytest.approx(1 / (1 + 10 ** ((points["D"] - points["A"]) / 400)))
    skill = aggregate(SCORES, method="trueskill", rng=1)
    row = skill.to_frame().set_index("object")
    beta = trueskill.BETA
    apart = (row["estimate"]["A"] - row["estimate"]["D"]) / np.hypot(
        np.sqrt(2) * beta, np.hypot(row["sigma"]["A"], row["sigma"]["D"])
    )
    assert skill.probabilities.loc["A", "D"] == pytest.approx(stats.norm.cdf(apart), abs=1e-12)
    for found in (elo, skill):
        total = found.probabilities + found.probabilities.T
        np.testing.assert_allclose(total.to_numpy()[~np.eye(4, dtype=bool)], 1, rtol=1e-12)


@pytest.mark.parametrize("method", ["elo", "trueskill"])
def test_dropped_ties_are_not_played(method):
    decided = pd.DataFrame({"A": [2.0, 0.0, 3.0], "B": [1.0, 1.0, 1.0]})
    padded = pd.concat([decided, pd.DataFrame({"A": [1.0], "B": [1.0]})], ignore_index=True)
    found = aggregate(padded, method=mechanism(method, ties="drop", orders=400), rng=1).to_frame()
    alone = aggregate(decided, method=mechanism(method, orders=400), rng=1).to_frame()
    same = aggregate(padded, method=mechanism(method, orders=400), rng=1).to_frame()
    width = 4 * found["spread"].max() / np.sqrt(200)
    np.testing.assert_allclose(found["estimate"], alone["estimate"], atol=width)
    assert found["spread"].notna().all()
    assert not np.allclose(same["estimate"], found["estimate"], rtol=1e-9, atol=0)


def test_the_draw_probability_is_the_share_of_ties_unless_given():
    notes = {
        p: " ".join(aggregate(SCORES, method=TrueSkill(draw_probability=p, orders=2), rng=1).notes) for p in (None, 0.3)
    }
    values = SCORES.to_numpy()
    share = np.mean([values[:, i] == values[:, j] for i, j in itertools.combinations(range(4), 2)])
    assert f"draw probability of {share:.4g}" in notes[None]
    assert "draw probability of 0.3" in notes[0.3]


def test_a_table_of_counts_is_played_game_by_game():
    """A, beaten never, rises by what a loop over 30 games gives whatever their order."""
    c = llbt.from_counts(pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "wins_i": [30], "wins_j": [0]}))
    found = aggregate(c, method=Elo(orders=3), rng=1).to_frame().set_index("object")
    expected = elo_by_loop([(0, 1, 0)] * 30, 2)
    np.testing.assert_allclose(found.loc[["A", "B"], "estimate"], expected, atol=1e-9)
    np.testing.assert_allclose(found["spread"], 0, atol=1e-9)


def test_ratings_beyond_numbers_are_refused():
    with pytest.raises(llbt.errors.DesignError, match="1 of 2 ratings left the range"):
        check_finite(np.array([1.0, np.inf]))


def test_systems_that_never_win_have_finite_ratings():
    frame = pd.DataFrame({"A": [1, 2, 3], "B": [2, 3, 1], "C": [0, 0, 0]})
    for method in ("elo", "trueskill"):
        found = aggregate(frame, method=method, rng=1)
        assert found.objects[-1] == "C"
        assert np.isfinite(found.estimate).all()


@pytest.mark.parametrize("method", ["elo", "trueskill"])
@pytest.mark.parametrize("seed", range(4))
def test_systems_with_identical_scores_share_their_rank(method, seed):
    """A and B are one system under two names; C is a little, D much worse."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=30)
    frame = pd.DataFrame({"A": a, "B": a, "C": a + rng.normal(size=30) - 0.8, "D": a - 2})
    found = llbt.scores.aggregate(frame, method=method, rng=seed)
    assert dict(zip(found.objects, found.rank.tolist(), strict=True)) == {"A": 1, "B": 1, "C": 3, "D": 4}
    assert any("Monte Carlo errors" in note for note in found.notes)


def test_ranks_within_monte_carlo_error_by_hand():
    """Means 10, 9.9 and 5 over four orders; the first two differ by .1 with an error of .1, the third by far more."""
    ratings = np.array([[10.1, 9.8, 5.0], [9.9, 10.0, 5.1], [10.2, 9.9, 4.9], [9.8, 9.9, 5.0]])
    standing = beyond_chance(ratings)
    assert standing[0] == standing[1] > standing[2]
    assert beyond_chance(ratings[:1]).tolist() == ratings[0].tolist()


# -- a given order, and k by held-out games ----------------------------------------------------------------


@pytest.mark.parametrize("method", ["elo", "trueskill"])
def test_a_given_order_is_that_of_the_rows(method):
    found = aggregate(SCORES, method=mechanism(method, order="given"))
    names = sorted(SCORES)
    pairs = list(itertools.combinations(range(4), 2))
    values = SCORES[names].to_numpy()
    games = [(i, j, int(1 - np.sign(row[i] - row[j]))) for row in values for i, j in pairs]
    if method == "elo":
        expected = elo_by_loop(games, 4)
    else:
        share = np.mean([said == 1 for *_, said in games])
        expected, sigma = trueskill_by_package(games, 4, share)
        np.testing.assert_allclose(found.to_frame().set_index("object").loc[names, "sigma"], sigma, atol=1e-9)
    table = found.to_frame().set_index("object")
    np.testing.assert_allclose(table.loc[names, "estimate"], expected, rtol=0, atol=1e-9)
    assert table[["spread", "conf_low", "conf_high"]].isna().all(axis=None)
    assert any("in the order of the rows" in note for note in found.notes)
    turned = aggregate(SCORES[::-1], method=mechanism(method, order="given")).to_frame().set_index("object")
    assert not np.allclose(turned.loc[names, "estimate"], expected)


def test_an_order_that_is_not_there_is_refused():
    c = llbt.from_counts(pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "wins_i": [3], "wins_j": [1]}))
    with pytest.raises(llbt.errors.DesignError, match="elo_history"):
        aggregate(c, method=Elo(order="given"))
    with pytest.raises(llbt.errors.OptionError, match="n=50 with order='given'"):
        aggregate(SCORES, method=TrueSkill(order="given"), n=50)
    with pytest.raises(llbt.errors.DesignError, match="k='held-out' with 3 instances"):
        aggregate(SCORES.head(3), method=Elo(k="held-out"))
    with pytest.raises(llbt.errors.OptionError, match="k="):
        Elo(k="best")


def test_k_has_the_least_loss_of_held_out_games_by_loops():
    rng = np.random.default_rng(8)
    games = random_games(4, systems=4, units=20)
    rule = Elo(orders=3, scale=200)
    best, steps, loss = step_by_held_out_loss(rule, games, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    fold = rng.permutation(20) % 5
    expected, number = np.zeros(9), 0
    for part in range(5):
        some = Games(4, games.pairs, games.slots[fold != part])
        units = np.tile(some.shuffled(3, rng), (9, 1))
        runs = played(some, units, rng)
        for at, k in enumerate(2.0 ** np.arange(9) / 2):
            mean = np.mean([elo_by_loop(run, 4, k, 1500, 200) for run in runs[3 * at : 3 * at + 3]], axis=0)
            for slot in games.slots[fold == part].ravel():
                if slot >= 0:
                    i, j = games.pairs[slot // 3]
                    p = 1 / (1 + 10 ** ((mean[j] - mean[i]) / 200))
                    s = 1 - (slot % 3) / 2
                    expected[at] -= s * np.log(p) + (1 - s) * np.log(1 - p)
                    number += at == 0
    np.testing.assert_allclose(loss, expected / number, rtol=1e-9)
    assert best == steps[np.argmin(loss)] == 2.0 ** np.argmin(expected) / 2


def test_a_small_k_predicts_equal_systems_and_a_large_one_few_games_of_unequal_ones():
    rng = np.random.default_rng(3)
    equal = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("ABCD"))
    apart = pd.DataFrame(rng.normal(size=(10, 4)) + 3 * np.arange(4), columns=list("ABCD"))
    notes = [
        next(note for note in aggregate(frame, method=Elo(k="held-out"), rng=1).notes if note.startswith("k = "))
        for frame in (equal, apart)
    ]
    assert "k = 1 (an end of the range) of 1 to 256" in notes[0]
    assert float(notes[1].split()[2]) >= 64
