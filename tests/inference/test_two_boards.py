"""Two leaderboards in one table: the columns are those of each alone, the change is the difference of their ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import llbt
from llbt.errors import OptionError
from llbt.inference.board_columns import COLUMNS
from llbt.inference.two_boards import TAKEN

TABLE = llbt.load_dataset("dras_table1")
ONE = llbt.fit("object + tie", TABLE.select(where={"judge": ["J1", "J2"]}).pool())
TWO = llbt.fit("object + tie", TABLE.select(where={"judge": "J3"}).pool())


@pytest.mark.parametrize("scale", ["log_odds", "elo"])
def test_columns_are_those_of_each_board(scale: Any) -> None:
    both = llbt.leaderboard(ONE, scale=scale, beside=TWO).to_frame()
    one, two = (llbt.leaderboard(res, scale=scale).to_frame() for res in (ONE, TWO))
    assert list(both) == [*COLUMNS, *(f"other_{name}" for name in TAKEN), "rank_change"]
    assert both[list(COLUMNS)].equals(one)
    ranks = dict(zip(two["object"], two["rank"], strict=True))
    for row in both.to_dict("records"):
        assert row["rank_change"] == ranks[row["object"]] - row["rank"]
    for name in TAKEN:
        again = two.set_index("object").loc[both["object"], name].to_numpy()
        np.testing.assert_array_equal(both[f"other_{name}"], again)


def test_text_has_both_ranks_and_the_change() -> None:
    text = llbt.leaderboard(ONE, beside=TWO).as_text()
    assert "Other fit: ranks" in text
    assert "other fit: object + tie; change: ranks that the object gains here" in text
    row = next(line.split() for line in text.split("\n") if " D " in f" {line} ")
    assert row[-1] == "-1"


def test_objects_of_one_fit_alone_are_named() -> None:
    few = llbt.fit("object + tie", TABLE.select(where={"judge": "J3"}, objects=["A", "B", "D"]).pool())
    board = llbt.leaderboard(ONE, beside=few)
    assert board.to_frame().set_index("object").loc["C", ["other_rank", "rank_change"]].isna().all()
    assert "1 objects" not in board.as_text()
    other = llbt.leaderboard(few, beside=ONE)
    assert len(other) == 3
    assert "that only the other fit has: C" in other.as_text()


def test_several_boards_have_no_other_beside_them() -> None:
    res = llbt.fit("object * judge + tie", TABLE)
    with pytest.raises(OptionError, match="several leaderboards"):
        llbt.leaderboard(res, by="judge", beside=ONE)
