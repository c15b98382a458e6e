"""Answers behave as tables: rows, columns, frames, csv files, what completion lists."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.calls import JUDGMENTS, by_judge, fitted

import llbt
from llbt.base.table import Field


def test_an_answer_has_rows_and_columns() -> None:
    board = llbt.leaderboard(fitted())
    frame = board.to_frame()
    assert len(board) == len(frame) == 3
    assert [row["object"] for row in board] == frame["object"].tolist()
    pd.testing.assert_series_equal(board["estimate"], frame["estimate"])
    pd.testing.assert_frame_equal(board[["object", "rank"]], frame[["object", "rank"]])
    pd.testing.assert_frame_equal(pd.DataFrame(board), frame)


@pytest.mark.parametrize("ask", [llbt.worth, llbt.pairwise, llbt.residuals, llbt.quasi_variances, llbt.influence])
def test_pandas_makes_the_frame_of_an_answer(ask) -> None:
    answer = ask(fitted())
    pd.testing.assert_frame_equal(pd.DataFrame(answer), answer.to_frame())


def test_an_answer_is_written_as_csv(tmp_path: Path) -> None:
    board = llbt.worth(by_judge())
    board.to_csv(tmp_path / "board.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "board.csv"), board.to_frame(), check_exact=False)


def test_an_answer_without_rows_is_an_answer() -> None:
    empty = llbt.Table((), title="nothing")
    assert len(empty) == 0
    assert list(empty) == []
    assert empty


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="Did you mean 'object'"):
        llbt.worth(fitted())["objct"]


def test_completion_lists_few_names() -> None:
    res = fitted()
    assert set(dir(res)) >= {"params", "summary", "predict", "conf_int", "comparisons"}
    answers = [res, llbt.leaderboard(res), llbt.pairwise(res), llbt.bootstrap(res, n=3, rng=1), llbt.fragility(res)]
    for answer in answers:
        assert len(dir(answer)) <= 14
        assert set(dir(answer)) >= {"to_frame", "as_latex"}
        assert all(hasattr(answer, name) for name in dir(answer))


def test_an_answer_is_no_list_of_values() -> None:
    with pytest.raises(llbt.LLBTError, match="expected"):
        llbt.pairwise(fitted(), objects=llbt.leaderboard(fitted()))  # type: ignore[arg-type]


def test_one_hidden_row_is_printed_instead() -> None:
    frame = llbt.Table((Field("x", "x", list("abcd")),))
    assert frame.first(3).as_text().split("\n")[1:] == list("abcd")
    assert frame.first(2).as_text().split("\n")[-1] == "… 2 more rows: .to_frame()"


def test_decimals_stand_beside_digits() -> None:
    board = llbt.leaderboard(fitted())
    numbers = [line.split()[2] for line in board.as_text(decimals=1).split("\n\n")[1].split("\n")[1:]]
    assert all(len(number.partition(".")[2]) == 1 for number in numbers)
    assert "0.50" in llbt.Table((Field("x", "x", [0.5], "number"),)).as_markdown(decimals=2)
    with pytest.raises(llbt.LLBTError, match="one of the two"):
        board.as_text(digits=3, decimals=1)
    with pytest.raises(llbt.LLBTError, match="composed of numbers"):
        llbt.model_table([fitted()]).as_text(decimals=1)


def test_names_print_as_formulas_have_them() -> None:
    """In backticks, where a column is no Python name; the names of parameters in frames are those of hypotheses."""
    c = llbt.from_judgments(JUDGMENTS.rename(columns={"judge": "judge group"}), covariates="judge group")
    res = llbt.fit("object * `judge group` + tie", c)
    for answer in (res, llbt.anova(res), llbt.drop1(res), llbt.model_table([res])):
        assert ":`judge group`" in answer.as_text()
        assert "Q(" not in answer.as_text() + answer.as_html()
    assert any(':Q("judge group")' in name for name in res.params.index)


def test_long_fractions_of_covariates_print_short() -> None:
    """Four digits, or as many up to six as keep values apart; frames have all of them."""
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": [1, 2], "wins_j": [2, 1]})
    values = {"age": [0.123456789, 1 / 3], "near": [0.1234567, 0.1234599], "time": [1700000000.25, 1700000060.5]}
    c = llbt.from_counts(frame.assign(**values), covariates=list(values))
    lines = c.as_text().splitlines()
    assert lines[3].split()[2:5] == ["0.1235", "0.123457", "1700000000"]
    assert lines[4].split()[2:5] == ["0.3333", "0.12346", "1700000060"]
    assert c.to_frame()["age"].tolist() == values["age"]


def test_short_fractions_print_as_they_are() -> None:
    from llbt.base.table import Table

    column = Field("x", "x", [0.12345, 2.0, "a", 0.1])
    assert [line.strip() for line in Table((column,)).as_text().splitlines()[-4:]] == ["0.12345", "2.0", "a", "0.1"]
