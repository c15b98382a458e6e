"""The order of least feedback: every permutation, dynamic programming over subsets, and the certificate."""

import importlib
import itertools
import math

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.classical.feedback_order import least_feedback, majorities
from llbt.classical.ranking_scores import ranking_scores

FRACTIONAL = (57, 132)  # seeds whose linear relaxation is not whole at 12 objects: the integer program has to decide


def random_wins(seed, size, most=3):
    wins = np.random.default_rng(seed).integers(0, most, (size, size)).astype(float)
    np.fill_diagonal(wins, 0)
    return wins


def violated_by(wins, order):
    """Weight of majorities against an order, pair by pair."""
    return sum(max(0.0, wins[b, a] - wins[a, b]) for a, b in itertools.combinations(order, 2))


def by_subsets(wins):
    """Least weight by dynamic programming (Held & Karp): the least of each set of objects standing first."""
    size, weights = len(wins), majorities(wins)
    least = np.full(2**size, math.inf)
    least[0] = 0.0
    for first in range(2**size):
        members = [k for k in range(size) if first >> k & 1]
        for nxt in set(range(size)) - set(members):
            both = first | 1 << nxt
            least[both] = min(least[both], least[first] + weights[nxt, members].sum())
    return least[-1]


def table_of(wins):
    return llbt.from_matrix(wins, names=[f"s{k:02d}" for k in range(len(wins))])


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("seed", range(6))
def test_no_permutation_contradicts_less(seed, size):
    wins = random_wins(seed, size, 5)
    order, bound = least_feedback(wins, 60.0)
    least = min(violated_by(wins, candidate) for candidate in itertools.permutations(range(size)))
    assert sorted(order) == list(range(size))
    assert violated_by(wins, order) == pytest.approx(least, abs=1e-9)
    assert bound == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("seed", [1, *FRACTIONAL])
def test_twelve_objects_by_dynamic_programming(seed):
    wins = random_wins(seed, 12)
    order, bound = least_feedback(wins, 60.0)
    assert violated_by(wins, order) == pytest.approx(by_subsets(wins), abs=1e-9)
    assert bound == pytest.approx(by_subsets(wins), abs=1e-6)


@pytest.mark.parametrize(("seed", "programs"), [(1, {False}), *((seed, {False, True}) for seed in FRACTIONAL)])
def test_the_integer_program_runs_only_where_the_relaxation_is_not_whole(seed, programs, monkeypatch):
    module = importlib.import_module("llbt.classical.feedback_order")
    solved, asked = module._solved, set()

    def noting(cost, triangles, size, whole, seconds):
        asked.add(whole)
        return solved(cost, triangles, size, whole, seconds)

    monkeypatch.setattr(module, "_solved", noting)
    least_feedback(random_wins(seed, 12), 60.0)
    assert asked == programs


def test_the_same_orders_contradict_the_fewest_judgments():
    """Weights w_ij in place of max(0, w_ij − w_ji) add Σ min(w_ij, w_ji), by every permutation."""
    wins = random_wins(3, 6, 9)
    candidates = list(itertools.permutations(range(6)))
    judgments = [sum(wins[b, a] for a, b in itertools.combinations(order, 2)) for order in candidates]
    shared = np.minimum(wins, wins.T)[np.triu_indices(6, 1)].sum()
    assert llbt.classical.feedback_order(table_of(wins)).violated + shared == min(judgments)


@pytest.mark.parametrize("seed", range(3))
def test_what_the_record_says_of_the_order(seed):
    wins = random_wins(seed, 8, 6)
    found = llbt.classical.feedback_order(table_of(wins))
    order = [int(label[1:]) for label in found.objects]
    against = [(a, b) for a, b in itertools.combinations(order, 2) if wins[b, a] > wins[a, b]]
    assert found.optimal
    assert found.bound == found.violated == violated_by(wins, order)
    assert (found.wins == wins[np.ix_(order, order)]).all()
    listed = found.violations().to_frame()
    assert {(int(a[1:]), int(b[1:])) for a, b in zip(listed["object_i"], listed["object_j"], strict=True)} == set(
        against
    )
    assert (listed["weight"] == listed["wins_j"] - listed["wins_i"]).all()
    assert listed["weight"].is_monotonic_decreasing
    of_objects = [sum(wins[b, a] - wins[a, b] for a, b in against if k in (a, b)) for k in order]
    frame = found.to_frame()
    assert frame["violated"].tolist() == of_objects
    assert frame["rank"].tolist() == list(range(1, 9))


def test_a_ranking_is_found_and_contradicts_nothing():
    wins = np.triu(np.ones((6, 6)), 1)
    shuffled = np.random.default_rng(0).permutation(6)
    found = llbt.classical.feedback_order(table_of(wins[np.ix_(shuffled, shuffled)]))
    assert [int(shuffled[int(label[1:])]) for label in found.objects] == list(range(6))
    assert (found.violated, found.optimal) == (0.0, True)
    assert found.violations().to_frame().empty


def test_the_circle_of_three_breaks_at_its_lightest_majority():
    found = llbt.classical.feedback_order(table_of([[0, 5, 1], [1, 0, 4], [3, 0, 0]]))
    assert found.objects == ("s00", "s01", "s02")  # A over B by 4, B over C by 4, C over A by 2
    assert "Contradicted weight 2 of 10 (20 %), in 1 of the 3 pairwise majorities: certified minimum" in found.as_text()


def test_ties_alone_are_an_order_of_weight_zero():
    frame = pd.DataFrame({"object_i": ["A", "B"], "object_j": ["B", "C"], "outcome": ["tie", "tie"]})
    found = llbt.classical.feedback_order(frame)
    assert (found.violated, found.optimal, sorted(found.objects)) == (0.0, True, ["A", "B", "C"])
    assert "no pair has a majority, so no order can be preferred" in found.notes


def test_the_order_does_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(4)
    names = [f"s{k}" for k in range(9)]
    sides = np.array([rng.choice(names, 2, replace=False) for _ in range(200)])
    frame = pd.DataFrame(
        {"object_i": sides[:, 0], "object_j": sides[:, 1], "outcome": rng.choice(["i", "j", "tie"], 200)}
    )
    found = [llbt.classical.feedback_order(frame.iloc[rng.permutation(200)]).objects for _ in range(3)]
    assert found == [llbt.classical.feedback_order(llbt.from_judgments(frame)).objects] * 3


def test_excluded_objects_are_left_out():
    wins = random_wins(2, 6, 9)
    found = llbt.classical.feedback_order(table_of(wins), exclude="s05")
    assert found.objects == llbt.classical.feedback_order(table_of(wins[:5, :5])).objects
    judgments = wins[5].sum() + wins[:, 5].sum()
    assert f"{judgments:.0f} judgments of 's05' left out" in found.notes


def test_out_of_time_it_gives_a_bound_and_no_certificate():
    wins = random_wins(0, 30, 20)
    found = llbt.classical.feedback_order(table_of(wins), time_limit=0.3)
    assert not found.optimal
    assert found.bound < found.violated
    assert "not certified" in " ".join(found.as_text().split())
    by_net_wins = np.argsort(wins.sum(axis=0) - wins.sum(axis=1), kind="stable")
    assert found.violated <= violated_by(wins, by_net_wins)


def test_a_bound_of_a_search_cut_short_is_below_the_minimum():
    wins = random_wins(FRACTIONAL[0], 12)
    _, bound = least_feedback(wins, 1e-9)
    assert bound <= by_subsets(wins)


@pytest.mark.parametrize(
    ("options", "error", "fragment"),
    [
        ({"time_limit": 0}, llbt.errors.OptionError, "time_limit=0; expected a number of seconds above 0"),
        ({"time_limit": math.nan}, llbt.errors.OptionError, "time_limit=nan"),
        ({"time_limit": "long"}, llbt.errors.OptionError, "time_limit='long'"),
        (
            {"exclude": "Z"},
            llbt.errors.OptionError,
            "exclude names 'Z', which the judgments do not have. The objects are 's00'",
        ),
        ({"exclude": ["s00", "s01"]}, llbt.errors.JudgmentError, "no judgment is left"),
    ],
    ids=["no time", "nan", "text", "unknown", "everything"],
)
def test_bad_input(options, error, fragment):
    with pytest.raises(error, match=r"classical\.feedback_order") as caught:
        llbt.classical.feedback_order(table_of(random_wins(0, 3) + 1 - np.eye(3)), **options)
    assert fragment in str(caught.value)


@pytest.fixture(scope="module")
def wmt10(shared):
    return llbt.read_judgments(shared / "data" / "wmt10_expert_RNK.csv.gz")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("source", "target", "size"), [("English", "Czech", 18), ("German", "English", 26), ("French", "English", 25)]
)
def test_wmt10_is_certified(wmt10, source, target, size):
    """No published weights to hold against: certified, and at least as good as the official scores' order."""
    frame = wmt10.take((wmt10.columns["srclang"] == source) & (wmt10.columns["trglang"] == target))
    found = llbt.classical.feedback_order(frame)
    assert (len(found.objects), found.optimal, found.objects[0]) == (size, True, "_ref")
    wins = llbt.from_judgments(frame).win_matrix()
    official = list(ranking_scores(frame).objects)
    assert found.violated <= violated_by(wins.loc[official, official].to_numpy(), range(size))
