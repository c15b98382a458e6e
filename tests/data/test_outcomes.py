"""The readings of outcomes: what is understood, what is refused, and what the refusals say."""

import ast
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llbt.data.table_readers import from_judgments
from llbt.errors import JudgmentError, OptionError

FIRST, SECOND = ["gpt", "llama", "gpt", "gpt"], ["llama", "gpt", "llama", "llama"]


def judge(outcome, outcomes=None, first=FIRST, second=SECOND, sides=("model_a", "model_b")):
    """Read four judgments, of which the second shows the pair the other way round, with order kept."""
    frame = pd.DataFrame({sides[0]: first, sides[1]: second})
    frame["winner"] = pd.Series(outcome, dtype=object if None in list(outcome) else None)
    return from_judgments(frame, objects=sides, outcome="winner", outcomes=outcomes, order=True)


def message(*args, **options):
    with pytest.raises(JudgmentError) as caught:
        judge(*args, **options)
    return str(caught.value)


def counts(c):
    return c.counts.tolist()


# Three judgments of gpt against llama: i wins, j wins, a tie; one of llama against gpt: i wins.
SAID = [[1, 1, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    "outcome",
    [
        ["gpt", "llama", "llama", "tie"],
        ["model_a", "model_a", "model_b", "tie"],
        ["i", "i", "j", "tie"],
        ["a", "a", "b", "tie"],
        ["A", "A", "B", "Tie"],
        ["left", "left", "right", "tie"],
        ["Left", "Left", "Right", "TIE"],
        [">", ">", "<", "="],
        [">", ">", "<", "tie"],
        pd.Categorical(["a", "a", "b", "tie"], categories=["tie", "b", "unused", "a"]),
    ],
)
def test_readings(outcome):
    c = judge(outcome)
    assert counts(c) == SAID
    assert c.has_ties


@pytest.mark.parametrize(
    ("outcome", "outcomes"),
    [
        ([1, 1, 0, 0.5], {1: "i", 0: "j", 0.5: "tie"}),
        ([1, 1, 2, 3], {1: "i", 2: "j", 3: "tie"}),
        ([1, 1, -1, 0], {1: "i", 0: "tie", -1: "j"}),
        (["1", "1", "2", "3"], {1: "i", 2: "j", 3: "tie"}),
        ([1, 1, 2, 3], {"1": "i", "2": "j", "3": "tie"}),
        ([1, 1, 2, 3], {np.int64(1): "i", np.float32(2): "j", 3: "tie"}),
        (["a", "a", "b", "same"], {"same": "tie"}),
        (["gpt", "llama", "llama", "both"], {"both": "tie"}),
        (["a", "a", "b", None], {None: "tie"}),
        (["a", "a", "b", None], {float("nan"): "tie"}),
        (["b", "b", "a", "tie"], {"a": "j", "b": "i"}),  # a mapping goes before the defaults
        (["gpt", "llama", "llama", "tie"], "names"),
        (["a", "a", "b", "tie"], "slots"),
    ],
)
def test_mappings_and_forced_readings(outcome, outcomes):
    assert counts(judge(outcome, outcomes)) == SAID


def test_true_and_false_need_a_mapping_too():
    assert counts(judge([True, True, False, False], {True: "i", False: "j"})) == [[1, 0, 2], [1, 0, 0]]


def test_without_a_tie_there_is_no_tie_category():
    assert not judge(["a", "a", "b", "b"]).has_ties


@pytest.mark.parametrize("text", [False, True])
def test_numbers_that_name_the_winners(text):
    first, second, winner = [1, 2, 1, 1], [2, 1, 2, 2], [1, 2, 2, 2]
    winner = [str(label) for label in winner] if text else winner
    said = message(winner, first=first, second=second)
    assert 'outcomes="names" if they name the winning objects' in said
    assert counts(judge(winner, "names", first, second)) == [[1, 0, 2], [1, 0, 0]]


def test_integers_with_the_word_tie_name_winners():
    winner = ["1", "2", "2", "tie"]  # what a CSV file makes of integers beside a word
    assert counts(judge(winner, "names", [1, 2, 1, 1], [2, 1, 2, 2])) == SAID


def test_a_mapping_of_arrows_is_offered_as_it_is_to_be_passed():
    winner = ["A>>B", "B<A", "A=B", "B>A", "A<<B"]
    offered = {"A>>B": 2, "B<A": 1, "A=B": 0, "B>A": -1, "A<<B": -2}
    sides = {"first": ["x"] * 5, "second": ["y"] * 5}
    assert f"Pass outcomes={offered} " in message(winner, **sides)
    assert judge(winner, offered, **sides).counts.tolist() == [[1, 1, 1, 1, 1]]


def test_grades_stay_grades_in_the_mapping_that_is_offered():
    grades = {"A>>B": 2, "A>B": 1, "A=B": 0, "A<B": -1, "A<<B": -2}
    sides = {"first": ["x"] * 6, "second": ["y"] * 6}
    offered = {"?": None, **grades}
    assert f"Pass outcomes={offered} " in message([*grades, "?"], grades, **sides)
    assert judge([*grades, "?"], offered, **sides).counts.tolist() == [[1, 1, 1, 1, 1]]
    assert "Pass outcomes={'L': None, 'A>>B': 2" in message([*grades, "L"], grades, **sides)
    signed = pd.DataFrame({"object_i": sides["first"], "object_j": sides["second"], "grade": [2, 1, 0, -1, -2, None]})
    with pytest.raises(JudgmentError, match=r"1 missing outcome .* Pass outcomes=\{None: None\} \(None"):
        from_judgments(signed, strength="grade")
    assert from_judgments(signed, strength="grade", outcomes={None: None}).counts.tolist() == [[1, 1, 1, 1, 1]]


def test_none_leaves_out_and_counts():
    c = judge(["a", "broken", None, "b"], {"broken": None, None: None})
    assert counts(c) == [[1, 0, 1]]
    assert c.notes == (
        "1 row with a missing outcome left out (outcomes=)",
        "1 row with outcome 'broken' left out (outcomes=)",
    )


@pytest.mark.parametrize(
    ("outcome", "outcomes", "fragments"),
    [
        (
            ["model_a", "left", "na", "L"],
            None,
            (
                "column 'winner': 3 unknown outcomes: 'left' (1 row, first at row 1), 'na' (1), 'L' (1); "
                "expected one of 'model_a', 'model_b' or 'tie'. "
                "Pass outcomes={'left': 'i', 'na': None, 'L': 'i'} (None leaves rows out, counted).",
            ),
        ),
        (["A>B", "A=B", "b < a", "B>A"], None, ("{'A>B': 'i', 'A=B': 'tie', 'b < a': 'i', 'B>A': 'j'}",)),
        (["A>>B", "B>A", "A=B", "B>>A"], None, ("'A=B': 0, 'B>>A': -2, 'A>B': 1}",)),  # the same grades to both sides
        ([">>", ">", "<", "<<"], None, ("2 unknown outcomes", "Pass outcomes={'>>': 2, '<<': -2, '>': 1, '<': -1}")),
        (["x", "y", "z", "z"], None, ("3 unknown outcomes: 'z' (2 rows, first at row 2)", "'left', 'right'", "'>'")),
        (["a", "b", None, None], None, ("2 missing outcomes (first at row 2)", "{None: None}")),
        (["a", "draw", None, "b"], None, ("1 missing outcome (first at row 2) and 1 unknown", "'draw': 'tie'")),
        (["gpt", "gpt", "claude", "tie"], None, ("1 unknown outcome: 'claude'", "the row's two objects")),
        (["gpt", "gpt", "llama", "left"], None, ("1 unknown outcome: 'left'", "{'left': 'i'}")),
        (["gpt", "gpt", "llama", "tie"], "slots", ("unknown outcomes: 'gpt' (2 rows, first at row 0)",)),
        (["a", "b", "a", "tie"], "names", ("unknown outcomes: 'a' (2 rows, first at row 0), 'b' (1)",)),
        (["a", "b", "meh", "x"], {"meh": None}, ("1 unknown outcome: 'x'", "{'x': None, 'meh': None}")),
        ([1, 0, 0.5, 1], None, ("numbers: 1 (2 rows, first at row 0), 0 (1), 0.5 (1)", "numbers need a mapping")),
        ([1, 2, 2, 1], {1: "i"}, ("numbers: 2 (2 rows, first at row 1)", "{1: 'i', 2: 'j'}")),
        ([1, 2, 2, 1], "slots", ("numbers need a mapping",)),
        ([1.0, 2.0, None, 1.0], None, ("and 1 missing outcome", "{1: 'i', 2: 'j', None: None}")),
        (["a", "a", "a", "a"], {"a": None}, ("leaves out every row",)),
    ],
)
def test_refusals(outcome, outcomes, fragments):
    said = message(outcome, outcomes)
    for fragment in fragments:
        assert fragment in said


@pytest.mark.parametrize(
    ("outcomes", "fragment"),
    [
        ("winners", 'outcomes=\'winners\'; expected "names", "slots" or a mapping'),
        ({"a": "left"}, "outcomes={'a': 'left'}; expected 'i', 'j', 'tie', 'bad' or None"),
    ],
)
def test_what_is_no_reading_is_refused(outcomes, fragment):
    with pytest.raises(OptionError) as caught:
        judge(["a", "b", "a", "b"], outcomes)
    assert fragment in str(caught.value)


def test_an_object_that_is_not_in_its_row():
    said = message(
        ["gpt", "opt", "opt", "opt"], first=["gpt", "gpt", "opt", "opt"], second=["opt", "llama", "gpt", "gpt"]
    )
    assert "'opt' is an object, but row 1 compares 'gpt' with 'llama'" in said


def test_at_most_eight_labels_are_listed():
    labels = [f"x{k:02}" for k in range(20)]
    said = message(labels, first=["A"] * 20, second=["B"] * 20)
    assert "'x07' (1) and 12 more;" in said
    assert "Pass outcomes= with what each label means: 'i', 'j', 'tie' or None" in said  # None of all drops all rows


class TestTwoReadings:
    """Objects called A and B, shown both ways: the outcome A may be a name or a slot."""

    first, second, outcome = ["A", "B"], ["B", "A"], ["A", "A"]

    def test_are_refused_where_they_differ(self):
        said = message(self.outcome, first=self.first, second=self.second)
        assert "row 1 has the objects 'B', 'A' and the outcome 'A', which is 'j' read as names of the winner" in said
        assert "Pass outcomes=\"names\", outcomes=\"slots\" or outcomes={'A': 'i'}" in said

    @pytest.mark.parametrize(
        ("outcomes", "expected"),
        [("names", [[1, 0, 0], [0, 0, 1]]), ("slots", [[1, 0, 0], [1, 0, 0]]), ({"A": "j"}, [[0, 0, 1], [0, 0, 1]])],
    )
    def test_are_told_apart_by_the_caller(self, outcomes, expected):
        assert counts(judge(self.outcome, outcomes, self.first, self.second)) == expected

    def test_are_fine_where_they_agree(self):
        assert counts(judge(["A", "B"], first=["A", "A"], second=["B", "B"])) == [[1, 0, 1]]

    def test_of_one_family_need_a_mapping(self):
        said = message(["left", "right"], first=["x", "y"], second=["y", "x"], sides=("right", "left"))
        assert 'outcomes="slots"' not in said
        assert "Pass outcomes={'left': " in said

    def test_an_object_called_tie(self):
        two = {"first": ["tie", "x"], "second": ["x", "tie"]}
        assert "'i' read as names of the winner, 'tie' read as names of the winner or a tie" in message(
            ["tie", "x"], **two
        )
        assert counts(judge(["tie", "x"], {"tie": "tie"}, **two)) == [[0, 1, 0], [1, 0, 0]]
        assert counts(judge(["tie", "x"], {"tie": "i"}, **two)) == [[1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    "outcome",
    [
        [1, 0, 0.5, 1],
        [1, 2, 2, 1],
        [-1, 0, 1, 1],
        [True, False, True, True],
        ["1", "0", "0.5", "1"],
        ["left", "gpt", "x", None],
    ],
)
def test_the_mapping_of_a_message_can_be_pasted(outcome):
    said = message(outcome)
    pasted = ast.literal_eval(re.search(r"outcomes=(\{.*?\})", said)[1])
    assert judge(outcome, {**pasted, "gpt": "j"} if "gpt" in outcome else pasted).n_judgments > 0


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2), st.sampled_from("ijt")), min_size=1, max_size=12))
@pytest.mark.slow
def test_every_reading_says_the_same(rows):
    objects = ["red", "green", "blue"]
    first = [objects[i] for i, _, _ in rows]
    second = [objects[(i + step) % 3] for i, step, _ in rows]
    words = {
        "columns": {"i": "x_a", "j": "x_b", "t": "tie"},
        "slots": {"i": "i", "j": "j", "t": "tie"},
        "signs": {"i": ">", "j": "<", "t": "="},
    }
    frame = pl.DataFrame(
        {
            "x_a": first,
            "x_b": second,
            "names": [
                {"i": a, "j": b, "t": "tie"}[said] for a, b, (_, _, said) in zip(first, second, rows, strict=True)
            ],
            "numbers": [{"i": 1.0, "j": 0.0, "t": 0.5}[said] for _, _, said in rows],
            **{name: [meaning[said] for _, _, said in rows] for name, meaning in words.items()},
        }
    )
    numbers = {1: "i", 0: "j", 0.5: "tie"}
    tables = [
        from_judgments(frame, objects=("x_a", "x_b"), outcome=name, outcomes=numbers if name == "numbers" else None)
        for name in ("names", "numbers", *words)
    ]
    assert all(table == tables[0] for table in tables)
    assert tables[0].n_ties == sum(said == "t" for _, _, said in rows)


class TestNumbers:
    """A mapping is offered for numbers that have one meaning, or two that can be told apart; for others none."""

    first, second = ["x", "y", "x", "y"], ["y", "x", "y", "x"]

    @pytest.mark.parametrize(
        ("numbers", "offered"),
        [
            ([0, 1, 0.5, 1], ["{0: 'j', 0.5: 'tie', 1: 'i'}"]),
            ([1, 2, 2, 1], ["{1: 'i', 2: 'j'}"]),
            ([-1, 1, 0, 1], ["{-1: 'j', 0: 'tie', 1: 'i'}"]),
            ([-2, 2, 1, -1], ["{-2: -2, -1: -1, 1: 1, 2: 2}"]),
            ([0, 1, 1, 0], ["{0: 'j', 1: 'i'}", "{0: 'i', 1: 'j'}"]),
            ([0, 1, 2, 3], []),  # goals
            ([0, 1, 2, 2], []),  # points of object i, or places with 0 for a tie
            ([1, 2, 3, 1], []),
            ([-3, 1, 2, 4], []),
            ([3.5, 2, 1, 4], []),
        ],
    )
    def test_what_is_offered_is_read(self, numbers, offered):
        said = message(numbers, first=self.first, second=self.second)
        assert re.findall(r"outcomes=(\{.*?\})", said) == offered
        for text in offered:
            mapping = ast.literal_eval(text)
            c = judge(numbers, mapping, self.first, self.second)
            assert c.n_judgments == 4
            assert c.n_ties == sum(mapping[number] in ("tie", 0) for number in numbers)


def test_rows_with_the_name_of_another_object_are_left_out_by_what_is_offered():
    winner, first, second = ["gpt", "opt", "opt", "llama"], ["gpt", "gpt", "opt", "gpt"], ["opt", "llama", "gpt", "opt"]
    said = message(winner, first=first, second=second)
    assert "Leave these rows out (counted) with max_dropped=2." in said
    frame = pd.DataFrame({"object_i": first, "object_j": second, "outcome": winner})
    assert from_judgments(frame, max_dropped=2).n_judgments == 2
