"""Averages over tasks that count alike: against means and variances of each task by hand, and enumerated signs."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import OptionError
from llbt.scores.board import Board


def frame(missing: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    task = np.repeat(["t1", "t2", "t3"], [30, 10, 5])
    scores = rng.normal(size=(45, 3)) + np.array([0.4, 0.2, 0.0]) + (task == "t3")[:, None] * np.array([0, 1, 0])
    table = pd.DataFrame(scores, columns=list("ABC")).mask(rng.random((45, 3)) < missing)
    return table.assign(task=task, doc=[f"{t}-{k // 2}" for k, t in enumerate(task)])


def board_of(table: pd.DataFrame) -> Board:
    return llbt.scores.read_board(table)


def test_means_and_t_tests_of_fixed_tasks_by_hand() -> None:
    table = frame()
    found = board_of(table).leaderboard(by="item", macro="task")
    means = table.groupby("task")[["A", "B", "C"]].mean().mean()
    row = found.to_frame().set_index("object")
    np.testing.assert_allclose(row["estimate"][["A", "B", "C"]], means)
    assert any("averages over 3 values of task" in note for note in found.notes)
    for i, j, estimate, p_value in found.by_pair().to_frame()[["object_i", "object_j", "estimate", "p_value"]].values:
        parts = [(part[i] - part[j]).agg(["mean", "var", "size"]).tolist() for _, part in table.groupby("task")]
        variance = sum(var / n for _, var, n in parts) / 9
        df = variance**2 / sum((var / n / 9) ** 2 / (n - 1) for _, var, n in parts)
        difference = np.mean([mean for mean, _, _ in parts])
        assert estimate == pytest.approx(difference)
        assert p_value == pytest.approx(2 * stats.t.sf(abs(difference) / np.sqrt(variance), df))


def test_tasks_as_instances_are_a_paired_t_test_over_tasks() -> None:
    table = frame()
    found = board_of(table).leaderboard(by="task", macro="task").by_pair().to_frame()
    means = table.groupby("task")[["A", "B", "C"]].mean()
    for i, j, p_value in found[["object_i", "object_j", "p_value"]].values:
        assert p_value == pytest.approx(stats.ttest_rel(means[i], means[j]).pvalue)


def test_permutations_exchange_documents_with_the_weights_of_the_average() -> None:
    table = frame()
    small = table[table["doc"].isin(["t1-0", "t1-1", "t1-2", "t2-15", "t2-16", "t3-20", "t3-21"])]
    found = board_of(small).leaderboard(by="doc", macro="task", test="permutation").by_pair().to_frame()
    for i, j, estimate, p_value in found[["object_i", "object_j", "estimate", "p_value"]].values:
        share = (small[i] - small[j]) / small.groupby("task")["A"].transform("size") / 3
        sums = share.groupby(small["doc"]).sum().to_numpy()
        assert estimate == pytest.approx(sums.sum())
        reached = [abs(np.dot(s, sums)) >= abs(sums.sum()) - 1e-9 for s in itertools.product((1, -1), repeat=len(sums))]
        assert p_value == pytest.approx(np.mean(reached))


def test_signed_ranks_count_all_segments_alike_as_in_wmt() -> None:
    table = frame()
    plain = llbt.scores.leaderboard(table, test="wilcoxon", adjust=None).by_pair().to_frame()
    macro = llbt.scores.leaderboard(table, test="wilcoxon", adjust=None, macro="task")
    key = ["object_i", "object_j"]
    same = {frozenset(row[:2]): row[2] for row in plain[[*key, "p_value"]].values.tolist()}
    for i, j, p_value in macro.by_pair().to_frame()[[*key, "p_value"]].values.tolist():
        assert p_value == pytest.approx(same[frozenset((i, j))])
    assert any("the test weights all instances equally" in note for note in macro.notes)


def test_means_of_tasks_are_adjusted_where_scores_are_missing() -> None:
    table = frame(missing=0.2)
    found = board_of(table).leaderboard(by="item", macro="task").to_frame().set_index("object")
    parts = [
        llbt.scores.leaderboard(part[["A", "B", "C"]], test="t").to_frame().set_index("object")
        for _, part in table.groupby("task")
    ]
    for label in "ABC":
        assert found["estimate"][label] == pytest.approx(np.mean([part["estimate"][label] for part in parts]))
        error = np.sqrt(sum(part["std_error"][label] ** 2 for part in parts)) / 3
        assert found["std_error"][label] == pytest.approx(error)


def test_groups_within_several_tasks_are_refused() -> None:
    table = frame().assign(doc=[f"d{k % 4}" for k in range(45)])
    with pytest.raises(OptionError, match="by='task'"):
        board_of(table).leaderboard(by="doc", macro="task")
    with pytest.raises(OptionError, match="a fact about the items"):
        board_of(table).leaderboard(macro="topic")
