"""The frontier of cost and score: against loops over systems and over resamples."""

import numpy as np
import pytest

import llbt
from llbt.errors import DesignError
from llbt.scores.board import Board
from llbt.scores.cost_frontier import on_frontier


def board() -> Board:
    rng = np.random.default_rng(6)
    systems = (("a", 0.9, 5.0), ("b", 0.85, 2.0), ("c", 0.6, 1.0), ("d", 0.5, 3.0))
    rows = [
        {"model": name, "id": k, "score": float(rng.random() < right), "usd": usd * rng.uniform(0.5, 1.5)}
        for name, right, usd in systems
        for k in range(40)
    ]
    return llbt.scores.read_board(rows, system="model", item="id", score="score", cost="usd")


def dominated(score: np.ndarray, cost: np.ndarray, k: int) -> bool:
    return any(
        score[j] >= score[k] and cost[j] <= cost[k] and (score[j] > score[k] or cost[j] < cost[k])
        for j in range(len(score))
    )


def test_the_frontier_and_its_shares_by_loops() -> None:
    given = board()
    assert given.cost is not None
    found = given.frontier(n=2000, rng=1).to_frame().set_index("object")
    score, cost = given.scores.values.mean(axis=1), given.cost.mean(axis=1)
    for k, label in enumerate(given.systems):
        assert found["is_on_frontier"][label] == ("no" if dominated(score, cost, k) else "yes")
    rng = np.random.default_rng(9)
    kept = np.zeros(4)
    for _ in range(1000):
        items = rng.integers(40, size=40)
        score, cost = given.scores.values[:, items].mean(axis=1), given.cost[:, items].mean(axis=1)
        kept += [not dominated(score, cost, k) for k in range(4)]
    np.testing.assert_allclose(found["share"][list(given.systems)], kept / 1000, atol=0.05)
    assert found.index.tolist() == ["c", "b", "d", "a"]


def test_equals_are_both_on_the_frontier_and_unknown_costs_are_not() -> None:
    assert on_frontier(np.array([1.0, 1.0, 0.5]), np.array([2.0, 2.0, np.nan])).tolist() == [True, True, False]


def test_a_board_without_costs_has_no_frontier() -> None:
    rows = [{"system": s, "item": k, "score": float(k)} for s in "ab" for k in range(3)]
    with pytest.raises(DesignError, match="cost='usd'"):
        llbt.scores.read_board(rows).frontier()
