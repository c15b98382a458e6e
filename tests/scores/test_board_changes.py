"""Changes between boards: against paired t tests of each system, simulated maxima and clustered errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import DesignError, OptionError
from llbt.scores.board import Board


def week(seed: int, worse: float = 0.0, items: int = 50, **facts: list[str]) -> Board:
    """Four systems on the same items, of which the last one has lost something."""
    difficulty = np.random.default_rng(1).normal(size=(items, 1))
    scores = difficulty + np.random.default_rng(seed).normal(size=(items, 4)) - worse * np.array([0, 0, 0, 1])
    return llbt.scores.read_board(pd.DataFrame(scores, columns=list("ABCD")).assign(item=range(items), **facts))


def test_each_change_is_a_paired_difference_and_all_hold_together() -> None:
    before, after = week(2), week(3, worse=2.0)
    found = before.compare(after, by="item", names=["monday", "friday"])
    d = after.scores.values - before.scores.values
    np.testing.assert_allclose(found.estimate, d.mean(axis=1))
    np.testing.assert_allclose(found.std_error, stats.sem(d, axis=1))
    assert found.worse == ("D",)
    assert found.better == ()
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(4), np.corrcoef(d), size=200_000)
    drawn /= np.sqrt(np.random.default_rng(1).chisquare(49, 200_000) / 49)[:, None]
    quantile = np.quantile(np.abs(drawn).max(axis=1), 0.95)
    np.testing.assert_allclose((found.conf_high - found.conf_low) / 2, quantile * found.std_error, rtol=0.01)
    for k in range(4):
        share = np.mean(np.abs(drawn).max(axis=1) >= abs(found.estimate[k] / found.std_error[k]))
        assert found.p_adjusted[k] == pytest.approx(share, abs=0.006)
    assert found.to_frame()["object"].tolist()[-1] == "D"
    assert "Got worse: 'D'" in found.as_text()


def test_groups_of_items_change_together() -> None:
    documents = [f"d{k // 5}" for k in range(50)]
    before, after = week(2, doc=documents), week(3, doc=documents)
    d = pd.DataFrame((after.scores.values - before.scores.values).T).groupby(documents).mean()
    np.testing.assert_allclose(before.compare(after).std_error, stats.sem(d.to_numpy(), axis=0))


def test_what_one_board_alone_has_is_said() -> None:
    before, after = week(2), week(3, items=40).without("A")
    found = before.compare(after)
    assert found.systems == ("B", "C", "D")
    assert found.n.tolist() == [40] * 3
    assert any("only in a: 'A'" in note for note in found.notes)
    assert any("10 items that only one board has" in note for note in found.notes)


def test_boards_without_changes_or_common_items() -> None:
    same = week(2).compare(week(2))
    assert same.estimate.tolist() == [0] * 4
    assert same.worse == same.better == ()
    other = llbt.scores.read_board([{"system": s, "item": f"x{k}", "score": k * 1.0} for s in "AB" for k in range(3)])
    with pytest.raises(DesignError, match="share 2 systems and 0 items"):
        week(2).compare(other)
    with pytest.raises(OptionError, match="two different names"):
        week(2).compare(week(3), names=["a", "a"])
