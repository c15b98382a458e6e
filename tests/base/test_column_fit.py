"""Columns in a line of a terminal: bounds in one column, columns left out, labels broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import llbt
from llbt.base.column_fit import WIDTH, broken, fitted, lines_of, reader_heading, text_width, with_bounds_joined
from llbt.base.layout import Column
from llbt.base.table import Field, Table, interval_fields

LONG = [f"Llama-3.1-Nemotron-{k}B-Instruct-2024-09-final" for k in (8, 70, 405)]


def test_bounds_stand_in_one_column() -> None:
    fields = (
        *(Field(name, name, values, "count") for name, values in {"rank": [1, 2], "rank_low": [1, 2]}.items()),
        Field("rank_high", "rank_high", [1, 3], "count"),
        Field("object", "object", ["A", "B"]),
        *interval_fields([-0.5, 1.25], [0.5, 11.0], 0.9),
    )
    text = Table(fields).as_text().split("\n")
    assert text[0].startswith("Rank range Object")
    assert text[0].endswith("90 % CI")
    assert [line.split()[:2] for line in text[1:]] == [["1", "A"], ["2–3", "B"]]
    assert [[float(x) for x in line.partition("[")[2].strip("]").split(",")] for line in text[1:]] == [
        [-0.5, 0.5],
        [1.25, 11.0],
    ]
    chosen = Table(fields).as_text(columns=["object", "conf_low", "conf_high", "rank"])
    assert chosen.split("\n")[0].split() == ["Object", "90", "%", "low", "High", "Rank"]


def test_bounds_are_joined_in_markdown_and_html_and_apart_in_latex() -> None:
    board = llbt.leaderboard(llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool()))
    assert "| Rank range | Object |" in board.as_markdown()
    assert ">95 % CI</th>" in board.as_html()
    assert r"95\,\% low" in board.as_latex()


def test_what_is_needed_least_is_left_out() -> None:
    columns = [Column("object_i", "Object i", LONG, "text"), Column("object_j", "Object j", LONG, "text")]
    columns += [Column(name, name, ["0.12345"] * 3, "estimate") for name in ("estimate", "std_error", "statistic")]
    columns += [Column(name, name, ["0.1234"] * 3, "p_value") for name in ("p_value", "p_adjusted")]
    kept, left_out = fitted(columns, ("estimate",), 70)
    assert left_out == ["estimate", "statistic", "p_value"]
    assert [c.name for c in kept] == ["object_i", "object_j", "std_error", "p_adjusted"]
    assert fitted(columns[:3], ()) == (columns[:3], [])
    assert "p_value" not in fitted(columns[:-1], (), 60)[1]  # the only p-value stays


def test_lines_are_no_wider_than_a_terminal() -> None:
    res = llbt.fit("object", llbt.from_matrix([[0, 7, 4], [3, 0, 5], [2, 6, 0]], names=LONG))
    for answer in (llbt.pairwise(res), llbt.leaderboard(res), llbt.worth(res), res.predict(), llbt.influence(res)):
        rows = answer.as_text().split("\n\n")[1].split("\n")
        assert max(map(text_width, rows)) <= WIDTH
        assert all(name in "".join(answer.as_html()) for name in LONG)


@given(st.text(max_size=80), st.integers(min_value=2, max_value=30))
def test_a_broken_label_keeps_its_letters(text: str, width: int) -> None:
    lines = broken(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(text_width(line) <= width for line in lines)


def test_a_label_is_broken_behind_its_hyphens() -> None:
    assert broken("gpt-4-turbo-2024", 12) == ["gpt-4-turbo-", "2024"]
    assert broken("a very long name", 9) == ["a very", "long name"]
    assert broken("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert broken("漢字漢字", 4) == ["漢字", "漢字"]


def test_rows_with_a_broken_label_have_their_numbers_once() -> None:
    columns = [Column("object", "Object", ["x" * 100, "y"], "text"), Column("n", "n", ["1", "2"], "count")]
    lines = lines_of(columns, 20)
    assert [line.split()[-1] for line in lines if not line.strip("x")] != ["1"]
    assert sum(line.endswith(" 1") for line in lines) == 1
    assert max(map(len, lines)) <= 20


@pytest.mark.parametrize(
    ("name", "heading", "expected"),
    [
        ("object_i", "object_i", "Object i"),
        ("std_error", "std_error", "Std. Error"),
        ("p_adjusted", "adjusted", "p adjusted"),
        ("win_share", "win share", "Win share"),
        ("p_value", "p", "p"),
        ("", "d_z", "d_z"),
    ],
)
def test_headings_are_the_readers(name: str, heading: str, expected: str) -> None:
    assert reader_heading(name, heading) == expected


def test_a_rank_without_a_range_stays() -> None:
    columns = [Column("rank", "Rank", ["1"], "count"), Column("rank_low", "Rank from", ["NA"], "count")]
    assert [c.name for c in with_bounds_joined(columns)] == ["rank", "rank_low"]


def test_columns_that_fit_no_line_stand_in_blocks() -> None:
    """Each block repeats the first label, and a column whose heading occurs again stays with the one before it."""
    metric = Column("metric", "Metric", ["a metric with a long name", "BLEU"], "text")
    pairs = [
        column
        for k in range(9)
        for column in (
            Column(f"e{k}", f"lang{k}-en", ["0.9985", "0.1234"], "number"),
            Column(f"c{k}", "Cluster", ["1", "2"], "count"),
        )
    ]
    lines = lines_of([metric, *pairs])
    assert max(map(len, lines)) <= 88
    headings = [line for line in lines if line.startswith("Metric")]
    assert len(headings) > 1
    assert [word for line in headings for word in line.split() if word != "Metric"] == [
        word for k in range(9) for word in (f"lang{k}-en", "Cluster")
    ]
    assert all(line.rstrip().endswith("Cluster") for line in headings)
    assert sum(line.startswith("BLEU") for line in lines) == len(headings)


def test_a_long_heading_of_numbers_is_broken() -> None:
    label = Column("metric", "Metric", ["a metric with a long name, version 2020"], "text")
    number = Column("e", "English-German newstest-2019 (reference B)", ["0.9985"], "number")
    more = Column("x", "Chinese-English", ["0.1"], "number")
    lines = lines_of([label, number, more], 60)
    assert max(map(len, lines)) <= 60
    assert "0.9985" in "".join(lines)
    assert len(lines) > 3  # the heading and the label need several lines


def test_columns_that_fit_a_line_stay_together() -> None:
    """Short labels need less than the least width of a broken label."""
    row = [Column(f"n{k}", f"N {k}", ["123456789"], "count") for k in range(8)]
    group = Column("group", "G", ["a"], "text")
    assert len(lines_of([Column("object", "Object", ["agate"], "text"), *row, group])) == 2
