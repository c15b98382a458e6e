"""Tiers of boards: against exact binomial tests, enumeration by groups, and the leaderboard of the same table."""

import itertools
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.board_files import swe_lists

import llbt
from llbt.base.table import Qualifying
from llbt.errors import OptionError
from llbt.scores.board import Board


def solved(systems: int = 4, items: int = 60, seed: int = 3) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    ids = [f"r{k % 7}__x-{k}" for k in range(items)]
    return {f"2024010{s}_s{s}": [i for i in ids if rng.random() < 0.2 + 0.2 * s] for s in range(systems)}


def board_of(tmp_path: Path) -> Board:
    return llbt.scores.read_board(swe_lists(tmp_path / "runs", solved()), items="listed")


def test_lists_of_solved_items_by_an_exact_test(tmp_path: Path) -> None:
    """P-values of pairs from the lists themselves: 2 P(X ≤ min(b, c)), X ~ Bin(b + c, 1/2), and Holm's steps."""
    lists = solved()
    found = board_of(tmp_path).leaderboard(by="item").by_pair().to_frame()
    expected = []
    for one, other in zip(found["object_i"], found["object_j"], strict=True):
        b, c = len(set(lists[one]) - set(lists[other])), len(set(lists[other]) - set(lists[one]))
        tail = sum(comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)
        expected.append(min(1.0, 2 * tail))
    np.testing.assert_allclose(found["p_value"], expected, rtol=1e-12)
    order = np.argsort(expected)
    holm = np.maximum.accumulate(np.minimum(1, np.array(expected)[order] * np.arange(len(expected), 0, -1)))
    np.testing.assert_allclose(found["p_adjusted"].to_numpy()[order], holm, rtol=1e-12)


def test_repositories_change_sides_together_by_default(tmp_path: Path) -> None:
    """Every sign of the seven repositories and one more (of the unsolved item), gone through one by one."""
    board, lists = board_of(tmp_path), solved()
    assert board.group == "repository"
    found = board.leaderboard()
    assert any("groups of repository" in note for note in found.notes)
    printed = found.as_text()
    assert "more note" not in printed
    assert "…" not in printed
    for one, other, p_value in found.by_pair().to_frame()[["object_i", "object_j", "p_value"]].values.tolist():
        sums = [
            sum(i in lists[one] for i in ids) - sum(i in lists[other] for i in ids)
            for ids in ([i for i in board.items if str(i).startswith(f"r{r}__")] for r in range(7))
        ]
        reached = [abs(np.dot(signs, sums)) >= abs(sum(sums)) for signs in itertools.product((1, -1), repeat=7)]
        assert p_value == pytest.approx(np.mean(reached))


def test_few_groups_without_a_difference_are_said_above_the_table(tmp_path: Path) -> None:
    ids = solved()["20240103_s3"]
    alike = {f"s{k}": [i for i in ids if int(i.split("-")[1]) % 5 != k] for k in range(3)}
    board = llbt.scores.read_board(swe_lists(tmp_path / "alike", alike), items="listed")
    assert any(isinstance(note, Qualifying) and "8 groups of repository" in note for note in board.leaderboard().notes)
    assert not any(isinstance(note, Qualifying) and "groups" in note for note in board.leaderboard(by="item").notes)


def test_graded_scores_have_the_t_test_of_the_leaderboard() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc")).assign(doc=[f"d{k % 8}" for k in range(40)])
    board = llbt.scores.read_board(frame)
    whole = llbt.scores.leaderboard(frame, test="t", by="doc").by_pair().to_frame()
    pd.testing.assert_frame_equal(board.leaderboard().by_pair().to_frame(), whole)
    with pytest.raises(OptionError, match="by='item'"):
        board.leaderboard(by="repo")


def test_systems_can_be_left_out(tmp_path: Path) -> None:
    board = board_of(tmp_path)
    assert board.without(board.systems[0]).systems == board.systems[1:]
    with pytest.raises(OptionError, match="two or more remain"):
        board.without(*board.systems[:3])


def test_every_answer_names_the_facts_that_it_does_not_use() -> None:
    rng = np.random.default_rng(4)
    rows = [
        {"system": s, "item": k, "score": rng.random(), "usd": rng.random(), "family": "ab"[k % 2], "task": k % 3}
        for s in "xyz"
        for k in range(30)
    ]
    board = llbt.scores.read_board(rows, system="system", item="item", score="score", cost="usd")
    known = "known about the items, but not used: "
    for answer in (
        board.leaderboard,
        board.frontier,
        lambda: board.compare(board),
        lambda: llbt.scores.difficulty(board),
    ):
        assert f"{known}'family', 'task'" in answer().notes
    assert f"{known}'task'" in board.leaderboard(by="family").notes
    assert f"{known}'family'" in board.leaderboard(by="item", macro="task").notes
