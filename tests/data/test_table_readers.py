"""The doors: frames of counts, of judgments, and matrices."""

import datetime
import decimal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import llbt
from llbt.data.datasets import load_dataset
from llbt.data.matrices import from_matrix
from llbt.data.table_readers import from_counts, from_judgments
from llbt.errors import JudgmentError, OptionError

COUNTS = pd.DataFrame(
    {
        "object_i": ["A", "A", "B"],
        "object_j": ["B", "C", "C"],
        "wins_i": [7, 9, 5],
        "ties": [1, 0, 2],
        "wins_j": [3, 2, 4],
        "age": [20.5, 30.0, 20.5],
        "judge": [1, 2, 1],
    }
)
OBJECTS = pd.DataFrame({"object": ["C", "A", "B"], "price": [3.5, 1.0, 2.0], "origin": ["x", "y", "x"]})
JUDGMENTS = pd.DataFrame(
    {
        "model_a": ["x", "y", "x", "z"],
        "model_b": ["y", "x", "y", "x"],
        "winner": ["model_a", "tie", "model_b", "model_a"],
        "judge": ["J1", "J1", "J2", "J2"],
        "worker": [11, 12, 11, 12],
        "len_a": [10, 20, 10, 5],
        "len_b": [20, 10, 30, 10],
    }
)
UNUSED = "columns not used: 'age', 'judge'"  # of COUNTS
CHOICES = JUDGMENTS.rename(columns={"winner": "choice"}).assign(vote="?")  # two columns may say who won
MODELS = {"objects": ("model_a", "model_b"), "outcome": "winner"}


def rows(c):
    return c.to_frame().to_numpy().tolist()


class TestCounts:
    def test_plain(self):
        c = from_counts(COUNTS)
        assert rows(c) == [["A", "B", 7, 1, 3], ["A", "C", 9, 0, 2], ["B", "C", 5, 2, 4]]
        assert c.unkept == ("age", "judge")
        assert c.notes == (UNUSED,)

    def test_pairs_are_oriented_by_name(self):
        turned = COUNTS.rename(
            columns={"object_i": "object_j", "object_j": "object_i", "wins_i": "wins_j", "wins_j": "wins_i"}
        )
        assert from_counts(turned) == from_counts(COUNTS)

    def test_other_names_and_one_name_for_several(self):
        renamed = COUNTS.rename(columns={"object_i": "a", "object_j": "b", "wins_i": "w", "wins_j": "l", "ties": "t"})
        c = from_counts(renamed, objects=["a", "b"], wins=("w", "l"), ties_column="t", covariates="judge")
        assert c == from_counts(COUNTS, covariates=["judge"])

    def test_without_ties_there_are_two_cells(self):
        assert not from_counts(COUNTS.drop(columns="ties")).has_ties
        assert not from_counts(COUNTS.assign(ties=0)).has_ties
        assert not from_counts(COUNTS, ties_column=None).has_ties
        assert from_counts(COUNTS, ties_column=None).unkept == ("ties", "age", "judge")

    def test_two_kinds_of_ties_are_summed_with_a_note(self):
        c = from_counts(COUNTS.assign(bad=[1, 1, 1]), ties_column=("ties", "bad"))
        assert c.n_ties == 6
        assert c.notes == ("ties are the sum of ties (3) and bad (3)", UNUSED)

    def test_rows_that_repeat_are_summed_and_counted(self):
        c = from_counts(pd.concat([COUNTS, COUNTS.iloc[:1]]))
        assert rows(c)[0] == ["A", "B", 14, 2, 6]
        assert c.notes == ("1 row repeating a comparison: 4 rows were summed to 3", UNUSED)

    def test_rows_of_different_clusters_do_not_repeat(self):
        twice = pd.concat([COUNTS.assign(worker=1), COUNTS.assign(worker=2)])
        c = from_counts(twice, clusters="worker")
        assert c.notes == (UNUSED,)
        assert len(c.cluster_counts.rows) == 6
        assert rows(c)[0] == ["A", "B", 14, 2, 6]

    def test_integer_columns_are_labels_and_floats_numbers(self):
        c = from_counts(COUNTS, covariates=("age", "judge"))
        assert [(column.name, column.numeric) for column in c.columns] == [("age", True), ("judge", False)]
        numbers = from_counts(COUNTS, covariates=("age", "judge"), numeric="judge")
        assert [column.numeric for column in numbers.columns] == [True, True]

    def test_a_column_named_only_in_numeric_is_kept(self):
        c = from_counts(COUNTS, numeric="judge")
        assert (c.covariates, c.columns[0].numeric, c.unkept) == (("judge",), True, ("age",))

    def test_numbers_written_as_text_are_read(self):
        c = from_counts(COUNTS.assign(age=["1.5", "2", "1.5"]), numeric="age")
        assert c.columns[0].levels.tolist() == [1.5, 2.0]

    def test_the_frame_of_the_caller_is_left_alone(self):
        before = COUNTS.copy(deep=True)
        from_counts(COUNTS, covariates="judge", numeric="age", order=True)
        pd.testing.assert_frame_equal(COUNTS, before)

    def test_fractions(self):
        assert from_counts(COUNTS.assign(wins_i=[0.5, 1, 1])).n_judgments == 14.5

    def test_two_objects_are_enough(self):
        assert from_counts(COUNTS.iloc[:1]).objects == ("A", "B")


class TestJudgments:
    def test_plain(self):
        c = from_judgments(JUDGMENTS, **MODELS)
        assert rows(c) == [["x", "y", 1, 1, 1], ["x", "z", 0, 0, 1]]
        assert c.unkept == ("judge", "worker", "len_a", "len_b")

    def test_presentations_are_merged_with_a_note(self):
        c = from_judgments(JUDGMENTS, **MODELS)
        assert c.notes == (
            "columns not used: 'judge', 'worker', 'len_a', 'len_b'",
            "3 judgments of 1 pair shown in both orders were merged; keep: order=True",
            "of pairs shown in both orders, object_i won 50 % of decisions (p = 1.000)",
        )

    def test_the_note_has_an_exact_p_value(self):
        frame = pd.DataFrame({"object_i": ["A", "B"], "object_j": ["B", "A"], "wins_i": [9, 8], "wins_j": [1, 2]})
        # R: binom.test(17, 20)$p.value = 0.002577
        assert from_counts(frame).notes == (
            "20 judgments of 1 pair shown in both orders were merged; keep: order=True",
            "of pairs shown in both orders, object_i won 85 % of decisions (p = 0.00258)",
        )
        halves = from_counts(frame.assign(wins_i=[9, 8.5])).notes[1]  # 2 * pnorm(-14.5 / sqrt(20.5))
        assert "(p = 0.00136)" in halves
        ties = frame.assign(wins_i=0, wins_j=0, ties=5)
        assert "all judgments of pairs shown in both orders are ties" in from_counts(ties).notes

    def test_order_is_kept_on_request(self):
        c = from_judgments(JUDGMENTS, **MODELS, order=True)
        assert rows(c) == [["x", "y", 1, 0, 1], ["y", "x", 0, 1, 0], ["z", "x", 1, 0, 0]]
        assert c.keeps_order
        assert c.notes == ("columns not used: 'judge', 'worker', 'len_a', 'len_b'",)

    def test_weights(self):
        c = from_judgments(JUDGMENTS.assign(n=[2, 3, 0.5, 1]), **MODELS, weights="n")
        assert rows(c) == [["x", "y", 2.0, 3.0, 0.5], ["x", "z", 0.0, 0.0, 1.0]]

    def test_covariates_clusters_and_sides(self):
        c = from_judgments(
            JUDGMENTS,
            **MODELS,
            covariates="judge",
            clusters="worker",
            numeric="length",
            side_covariates={"length": ("len_a", "len_b")},
        )
        assert (c.covariates, c.clusters, c.unkept) == (("judge", "length"), ("worker",), ())
        assert rows(c) == [
            ["x", "y", "J1", 10.0, 20.0, 1, 1, 0],  # the second row, turned round, has the same lengths
            ["x", "y", "J2", 10.0, 30.0, 0, 0, 1],
            ["x", "z", "J2", 10.0, 5.0, 0, 0, 1],
        ]
        assert c.cluster_counts.counts.sum() == 4

    def test_objects_of_left_out_rows_go_with_a_note(self):
        c = from_judgments(JUDGMENTS.replace("model_a", "skip"), **MODELS, outcomes={"skip": None})
        assert c.objects == ("x", "y")
        assert c.notes[-1] == "1 object left without comparisons: 'z'"


class TestObjectTable:
    def test_follows_the_objects(self):
        c = from_counts(COUNTS, object_covariates=OBJECTS)
        values = {column.name: (column.numeric, column.values.tolist()) for column in c.object_columns}
        assert values == {"price": (True, [1.0, 2.0, 3.5]), "origin": (False, ["y", "x", "x"])}

    @pytest.mark.parametrize(
        "table",
        [
            OBJECTS.rename(columns={"object": "name"}),
            OBJECTS.set_index("object"),
            OBJECTS.set_index("object").rename_axis(None),
            OBJECTS[["price", "object", "origin"]],
            pl.from_pandas(OBJECTS),
            OBJECTS[OBJECTS["price"] > 0].iloc[::-1],
        ],
    )
    def test_finds_the_names_of_the_objects(self, table):
        assert from_counts(COUNTS, object_covariates=table) == from_counts(COUNTS, object_covariates=OBJECTS)

    def test_objects_not_compared_are_noted(self):
        more = pd.concat([OBJECTS, pd.DataFrame({"object": ["Z"], "price": [None], "origin": ["x"]})])
        c = from_counts(COUNTS, object_covariates=more)
        assert c.notes == (UNUSED, "1 object of the object table not compared: 'Z'")
        assert c == from_counts(COUNTS, object_covariates=OBJECTS)

    def test_round_trip_with_all_kinds_of_columns(self):
        c = load_dataset("cems")
        table = pd.DataFrame({"object": c.objects, **{column.name: column.values for column in c.object_columns}})
        assert from_counts(c.to_frame(), covariates=c.covariates, object_covariates=table) == c


class TestMatrix:
    wins = pd.DataFrame([[0, 7, 9], [3, 0, 5], [2, 4, 0]], index=list("ABC"), columns=list("ABC"))
    ties = pd.DataFrame([[0, 1, 0], [1, 0, 2], [0, 2, 0]], index=list("ABC"), columns=list("ABC"))

    def test_ties_are_counted_once(self):
        assert from_matrix(self.wins, self.ties) == from_counts(COUNTS)
        assert not from_matrix(self.wins).has_ties
        assert not from_matrix(self.wins, 0 * self.ties).has_ties

    def test_labels_decide_not_positions(self):
        turned = self.wins.loc[list("CAB"), list("BCA")]
        assert from_matrix(turned, self.ties.loc[list("BAC")]) == from_matrix(self.wins, self.ties)

    @pytest.mark.parametrize(
        "matrix",
        [
            wins.to_numpy(),
            wins.to_numpy().tolist(),
            pd.DataFrame(wins.to_numpy()),
            wins,
            wins[["B", "A", "C"]].reset_index(drop=True),
            pl.DataFrame(wins),
            pl.DataFrame(wins).to_arrow(),
        ],
    )
    def test_names(self, matrix):
        assert from_matrix(matrix, names=["A", "B", "C"]) == from_matrix(self.wins)

    def test_first_column_of_a_frame_without_index(self):
        with_labels = self.wins.rename_axis("who").reset_index()
        assert from_matrix(with_labels) == from_matrix(self.wins)
        assert from_matrix(pl.from_pandas(with_labels)) == from_matrix(self.wins)

    def test_a_diagonal_may_be_left_out_and_is_counted(self):
        """Citations of journals by themselves: BradleyTerry2's countsToBinomial leaves them out, too."""
        wins = self.wins + np.diag([4.0, 0.0, 2.0])
        c = from_matrix(wins, diagonal="ignore")
        assert c == replace(from_matrix(self.wins), notes=c.notes)
        assert c.notes == ("6 counts on the diagonal of wins left out (2 objects)",)
        assert from_matrix(wins[list("BCA")], diagonal="ignore") == c
        with pytest.raises(JudgmentError, match="Leave these counts out with diagonal='ignore'"):
            from_matrix(wins)
        with pytest.raises(OptionError, match="expected 'refuse' or 'ignore'"):
            from_matrix(wins, diagonal="zero")

    def test_a_missing_diagonal_is_fine(self):
        assert from_matrix(self.wins.where(~np.eye(3, dtype=bool))) == from_matrix(self.wins)
        assert from_matrix([[None, 1], [2, None]], names=["a", "b"]).n_judgments == 3

    def test_pairs_without_judgments_are_no_comparisons(self):
        c = from_matrix([[0, 1, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], names=[10, 9, 2, 1])
        assert c.objects == (2, 9, 10)
        assert len(c) == 2
        assert c.notes == ("1 object left without comparisons: 1",)


def with_value(column, row, value):
    frame = COUNTS.copy()
    frame[column] = frame[column].astype(object)
    frame.loc[row, column] = value
    return frame


def eye(*values):
    return np.array(values, dtype=float).reshape(2, 2)


BAD_COUNTS = [
    (COUNTS.iloc[:0], {}, JudgmentError, "the frame: no rows"),
    (COUNTS.to_dict(), {}, JudgmentError, "the frame is of type dict; expected a frame of pandas, polars"),
    (COUNTS["wins_i"], {}, JudgmentError, "the frame is of type Series"),
    (COUNTS[["object_i", "object_i", "wins_i"]], {}, JudgmentError, "several columns named 'object_i'"),
    (pa.table([[1], [2]], names=["a", "a"]), {}, JudgmentError, "several columns named 'a'"),
    (COUNTS.drop(columns="wins_j"), {}, JudgmentError, "no column 'wins_j' (wins=); it has 'object_i'"),
    (COUNTS, {"objects": ("model_a", "model_b")}, JudgmentError, 'Pass objects=("object_i", "object_j").'),
    (COUNTS, {"wins": ("win_a", "win_b")}, JudgmentError, 'Pass wins=("wins_i", "wins_j").'),
    (COUNTS, {"ties_column": "tied"}, JudgmentError, "no column 'tied' (ties_column=)"),
    (COUNTS, {"covariates": "jugde"}, JudgmentError, "no column 'jugde' (covariates=); it has"),
    (COUNTS, {"covariates": "jugde"}, JudgmentError, "Did you mean 'judge'?"),
    (COUNTS, {"numeric": "ages"}, JudgmentError, "no column 'ages' (numeric=)"),
    (COUNTS, {"clusters": "worker"}, JudgmentError, "no column 'worker' (clusters=)"),
    (COUNTS, {"side_covariates": {"length": ("age", "x")}}, JudgmentError, "no column 'x' (side_covariates=)"),
    (
        COUNTS,
        {"covariates": "judge", "clusters": "judge"},
        OptionError,
        "column 'judge' is named in covariates= and clusters=",
    ),
    (
        COUNTS,
        {"numeric": "judge", "clusters": "judge"},
        OptionError,
        "column 'judge' is named in numeric= and clusters=",
    ),
    (COUNTS, {"covariates": ("age", "age")}, OptionError, "column 'age' is named in covariates=, twice"),
    (COUNTS, {"objects": ("object_i", "object_i")}, OptionError, "column 'object_i' is named in objects=, twice"),
    (COUNTS, {"covariates": "ties"}, JudgmentError, "column 'ties' (covariates=) has a name that llbt uses itself"),
    (COUNTS.assign(tie=1), {"covariates": "tie"}, JudgmentError, "Rename it, for instance to 'tie_'"),
    (
        COUNTS,
        {"side_covariates": {"order": ("age", "judge")}},
        JudgmentError,
        "column 'order' (side_covariates=) has a name",
    ),
    (
        COUNTS,
        {"side_covariates": {"wins": ("age", "judge")}},
        JudgmentError,
        "column 'wins_i' (side_covariates=) has a name",
    ),
    (COUNTS, {"covariates": "age", "object_covariates": OBJECTS.assign(age=1)}, JudgmentError, "'age' is named twice"),
    (COUNTS, {"covariates": 3}, OptionError, "covariates=3; expected the name of a column or several names"),
    (COUNTS, {"objects": "object_i"}, OptionError, "objects='object_i'; expected the names of two columns"),
    (COUNTS, {"wins": ("wins_i",)}, OptionError, "wins=('wins_i',); expected the names of two columns"),
    (COUNTS, {"side_covariates": ("age", "judge")}, JudgmentError, "no columns 'age_a', 'age_b'"),
    (
        COUNTS,
        {"side_covariates": {"x": "age"}},
        OptionError,
        "side_covariates['x']='age'; expected the names of two columns",
    ),
    (with_value("object_j", 1, None), {}, JudgmentError, "column 'object_j': 1 missing value, the first at row 1"),
    (
        with_value("judge", 2, None),
        {"covariates": "judge"},
        JudgmentError,
        "column 'judge': 1 missing value, the first at row 2",
    ),
    (
        with_value("judge", 2, pd.NA),
        {"clusters": "judge"},
        JudgmentError,
        "column 'judge': 1 missing value, the first at row 2",
    ),
    (
        with_value("age", 1, np.nan),
        {"numeric": "age"},
        JudgmentError,
        "column 'age': 1 missing value, the first at row 1",
    ),
    (
        COUNTS.assign(age=[1, np.nan, pd.NaT]),
        {"covariates": "age"},
        JudgmentError,
        "2 missing values, the first at row 1",
    ),
    (COUNTS.assign(wins_i=[1, None, 3]), {}, JudgmentError, "column 'wins_i': 1 missing value, the first at row 1"),
    (
        COUNTS.assign(ties=[0, -1, -2.5]),
        {},
        JudgmentError,
        "column 'ties': 2 values negative or infinite, the first at row 1 (-1)",
    ),
    (
        COUNTS.assign(wins_j=[0, 1, np.inf]),
        {},
        JudgmentError,
        "column 'wins_j': 1 value negative or infinite, the first at row 2 (inf)",
    ),
    (COUNTS.assign(wins_j=["1", "2", "3"]), {}, JudgmentError, "3 values not a number, the first at row 0: '1'"),
    (
        COUNTS.assign(age=["1", "old", "old"]),
        {"numeric": "age"},
        JudgmentError,
        "2 values not a number, the first at row 1: 'old'",
    ),
    (
        COUNTS.assign(age=["1", "nan", "1_0"]),
        {"numeric": "age"},
        JudgmentError,
        "2 values not a number, the first at row 1: 'nan'",
    ),
    (COUNTS.assign(age=[1, 2, np.inf]), {"covariates": "age"}, JudgmentError, "1 infinite value, the first at row 2"),
    (COUNTS.assign(age=[[1], [2], [3]]), {"covariates": "age"}, JudgmentError, "column 'age' holds values of type"),
    (
        COUNTS.assign(object_j=["B", "A", "B"]),
        {},
        JudgmentError,
        "2 rows with an object compared with itself, the first at row 1: 'A'",
    ),
    (COUNTS.assign(wins_i=0, wins_j=0, ties=0), {}, JudgmentError, "there is no judgment"),
    (COUNTS, {"object_covariates": OBJECTS.iloc[:2]}, JudgmentError, "has no row for 1 object: 'B'"),
    (COUNTS, {"object_covariates": pd.concat([OBJECTS, OBJECTS.iloc[:1]])}, JudgmentError, "has several rows for 'C'"),
    (
        COUNTS,
        {"object_covariates": OBJECTS.assign(price=[1, None, 2])},
        JudgmentError,
        "column 'price': 1 missing value, for 'A'",
    ),
    (
        COUNTS,
        {"object_covariates": OBJECTS, "numeric": "origin"},
        JudgmentError,
        "column 'origin': 3 values not a finite number",
    ),
    (
        COUNTS,
        {"object_covariates": OBJECTS[["object"]]},
        JudgmentError,
        "has the columns 'object'; expected a column 'object' and",
    ),
    (
        COUNTS,
        {"object_covariates": OBJECTS.assign(pair=1)},
        JudgmentError,
        "column 'pair' (object_covariates=) has a name",
    ),
    (COUNTS, {"object_covariates": {"A": 1}}, JudgmentError, "the frame of object_covariates= is of type dict"),
]

BAD_JUDGMENTS = [
    (CHOICES, {"outcome": "choice"}, JudgmentError, "no columns 'object_i', 'object_j' (objects=); it has 'model_a'"),
    (CHOICES, {"outcome": "choice"}, JudgmentError, 'Pass objects=("model_a", "model_b").'),
    (CHOICES, {"objects": ("model_a", "model_b")}, JudgmentError, 'Pass outcome="choice".'),
    (JUDGMENTS, {**MODELS, "outcome": ("winner", "judge")}, JudgmentError, "unknown outcomes"),
    (JUDGMENTS, {**MODELS, "outcome": ()}, OptionError, "outcome=(); expected a column, or one for each judge"),
    (JUDGMENTS, {**MODELS, "weights": 3}, OptionError, "weights=3; expected a text, one name"),
    (JUDGMENTS, {**MODELS, "weights": "n"}, JudgmentError, "no column 'n' (weights=)"),
    (
        JUDGMENTS.assign(n=[1, 1, -2, 1]),
        {**MODELS, "weights": "n"},
        JudgmentError,
        "column 'n': 1 value negative or infinite, the first at row 2",
    ),
    (
        JUDGMENTS.assign(n=[1, 1, None, 1]),
        {**MODELS, "weights": "n"},
        JudgmentError,
        "column 'n': 1 missing value, the first at row 2",
    ),
    (
        JUDGMENTS,
        {**MODELS, "covariates": "winner"},
        OptionError,
        "column 'winner' is named in outcome= and covariates=",
    ),
    (
        JUDGMENTS.assign(model_b=["y", "x", "y", "z"]),
        MODELS,
        JudgmentError,
        "1 row with an object compared with itself, the first at row 3: 'z'",
    ),
    (JUDGMENTS.assign(winner=["model_a", "?", "tie", "tie"]), MODELS, JudgmentError, "1 unknown outcome: '?'"),
]

BAD_MATRICES = [
    (eye(0, 1, 2, 0), None, None, "the rows of wins= have no labels; pairs are named, never positional"),
    (pl.DataFrame({"a": [0, 1], "b": [2, 0]}), None, None, "the rows of wins= have no labels"),
    (np.zeros((2, 3)), None, ["a", "b"], "wins= is 2 × 3, not square"),
    ([[0, 1], [2]], None, ["a", "b"], "rows of different lengths"),
    ("wins", None, ["a", "b"], "wins= is of type str"),
    (eye(0, 1, 2, 0), None, ["a", "b", "c"], "names= has 3 labels, but wins= is 2 × 2"),
    (eye(0, 1, 2, 0), None, ["a", "a"], "names= have 'a' twice"),
    (eye(0, 1, 2, 0), None, ["a", None], "names= has missing labels"),
    (
        pd.DataFrame(eye(0, 1, 2, 0), ["a", "b"], ["a", "c"]),
        None,
        None,
        "only in the rows of wins: 'b'; only in the columns of wins: 'c'",
    ),
    (pd.DataFrame(eye(0, 1, 2, 0), ["a", "b"], ["a", "b"]), None, ["a", "c"], "only in the names: 'c'"),
    (
        eye(0, 1, 2, 0),
        pd.DataFrame(eye(0, 1, 1, 0), ["a", "c"], ["a", "c"]),
        ["a", "b"],
        "only in the rows of tie_counts: 'c'",
    ),
    (TestMatrix.wins, pd.DataFrame(eye(0, 1, 1, 0), ["A", "B"], ["A", "B"]), None, "only in the wins: 'C'"),
    (eye(0, 1, 2, 0), eye(0, 1, 3, 0), ["a", "b"], "not symmetric: 1 for 'a' against 'b', but 3 the other way round"),
    (eye(5, 1, 2, 0), None, ["a", "b"], "has 5 on its diagonal for 'a'"),
    (eye(0, -1, 2, 0), None, ["a", "b"], "the first in row 'a', column 'b' (-1)"),
    (eye(0, 1, np.nan, 0), None, ["a", "b"], "the first in row 'b', column 'a' (missing)"),
    (eye(0, 0, 0, 0), None, ["a", "b"], "no judgment"),
    ([[0, "x"], [1, 0]], None, ["a", "b"], "such as '0' that are not numbers"),
    (eye(1, 1, 1, 1)[:1, :1] * 0, None, ["a"], "expected two or more"),
]


@pytest.mark.parametrize(("frame", "options", "error", "fragment"), BAD_COUNTS)
def test_bad_counts(frame, options, error, fragment):
    with pytest.raises(error) as caught:
        from_counts(frame, **options)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(("frame", "options", "error", "fragment"), BAD_JUDGMENTS)
def test_bad_judgments(frame, options, error, fragment):
    with pytest.raises(error) as caught:
        from_judgments(frame, **options)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(("wins", "ties", "names", "fragment"), BAD_MATRICES)
def test_bad_matrices(wins, ties, names, fragment):
    with pytest.raises(JudgmentError) as caught:
        from_matrix(wins, ties, names)
    assert fragment in str(caught.value)


LIBRARIES = {
    "pandas": lambda frame: frame,
    "pandas, arrow types": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, nullable types": lambda frame: frame.convert_dtypes(),
    "pandas, objects": lambda frame: frame.astype(object),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": pa.Table.from_pandas,
    "narwhals": nw.from_native,
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_frame_library_does_not_matter(library):
    options = {
        **MODELS,
        "covariates": ("judge", "age", "new", "day"),
        "clusters": "worker",
        "weights": "n",
        "side_covariates": {"length": ("len_a", "len_b")},
    }
    frame = JUDGMENTS.assign(
        age=[1.5, 2.0, 1.5, 2.0], new=[True, False, True, False], n=[1, 2, 3, 4], day=pd.Timestamp("2020-02-01")
    )
    expected = from_judgments(frame, **options)
    assert [column.numeric for column in expected.columns] == [False, True, False, False]
    assert expected.columns[3].levels.tolist() == ["2020-02-01"]
    assert from_judgments(LIBRARIES[library](frame), **options) == expected


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_missing_is_missing_in_every_library(missing, library):
    frame = JUDGMENTS.assign(judge=[1, 2, None, 3]).astype({"judge": "Int64"})
    frame["winner"] = pd.Series(["model_a", missing, "tie", "tie"], dtype=object)
    if library != "pandas":
        frame["winner"] = frame["winner"].where(frame["winner"].notna(), None)
    with pytest.raises(JudgmentError, match="1 missing outcome"):
        from_judgments(LIBRARIES[library](frame), **MODELS)
    with pytest.raises(JudgmentError, match="column 'judge': 1 missing value, the first at row 2"):
        from_judgments(LIBRARIES[library](frame), **MODELS, outcomes={None: "tie"}, covariates="judge")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["b", "a", "c"], ("a", "b", "c")),
        ([10, 9, 2], (2, 9, 10)),
        ([10.0, 9.0, 2.0], (2, 9, 10)),
        ([1.5, 1.0, 0.5], (0.5, 1, 1.5)),
        (["x", 2, 10], (2, 10, "x")),
        (pd.Categorical(["b", "a", "c"], categories=["c", "b", "a", "d"], ordered=True), ("a", "b", "c")),
        (pd.Categorical([3, 1, 2], categories=[3, 1, 2]), (1, 2, 3)),
        (
            pd.to_datetime(["2021-01-01", "2020-01-01", "2020-01-01 12:00"], format="ISO8601"),
            ("2020-01-01", "2020-01-01 12:00:00", "2021-01-01"),
        ),
        ([datetime.date(2021, 1, 1), datetime.date(2020, 1, 1), "x"], ("2020-01-01", "2021-01-01", "x")),
        ([decimal.Decimal("2"), decimal.Decimal("10"), 3], (2, 3, 10)),
        (["a b", "[x]", "=ü"], ("=ü", "[x]", "a b")),
    ],
)
def test_labels_of_any_type_are_sorted(labels, expected):
    column = pd.Series(labels)
    first, second = column.iloc[[0, 0, 1]], column.iloc[[1, 2, 2]]
    c = from_counts(COUNTS.assign(object_i=first.to_numpy(), object_j=second.to_numpy()))
    assert c.objects == expected
    assert all(type(a) is type(b) for a, b in zip(c.objects, expected, strict=True))
    assert c.n_judgments == from_counts(COUNTS).n_judgments
    polars = pl.DataFrame(
        {"a": ["b", "a"], "b": ["a", "c"], "w": [1, 2], "l": [3, 4]}, schema_overrides={"a": pl.Enum(["c", "b", "a"])}
    )
    assert from_counts(polars, objects=("a", "b"), wins=("w", "l")).objects == ("a", "b", "c")


judgments = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(1, 3), st.sampled_from("ijt"), st.sampled_from([1, 2]), st.sampled_from("uvw")
    ),
    min_size=1,
    max_size=15,
)


def frame_of(rows, names="ABCD"):
    return pd.DataFrame(
        {
            "a": [names[i] for i, *_ in rows],
            "b": [names[(i + step) % 4] for i, step, *_ in rows],
            "outcome": [{"t": "tie"}.get(said, said) for _, _, said, _, _ in rows],
            "judge": [judge for *_, judge, _ in rows],
            "worker": [worker for *_, worker in rows],
        }
    )


def read(frame, order=False):
    return from_judgments(frame, objects=("a", "b"), covariates="judge", clusters="worker", order=order)


@given(judgments, st.randoms(use_true_random=False), st.booleans())
@pytest.mark.slow
def test_the_order_of_the_rows_does_not_matter(rows, random, order):
    shuffled = random.sample(rows, len(rows))
    assert read(frame_of(shuffled), order) == read(frame_of(rows), order)


@given(judgments, st.sets(st.integers(0, 14)))
@pytest.mark.slow
def test_swapping_the_sides_does_not_matter(rows, swapped):
    turned = [
        ((i + step) % 4, 4 - step, {"i": "j", "j": "i", "t": "t"}[said], *rest)
        if k in swapped
        else (i, step, said, *rest)
        for k, (i, step, said, *rest) in enumerate(rows)
    ]
    assert read(frame_of(turned)) == read(frame_of(rows))


@given(judgments, st.permutations(range(4)))
@pytest.mark.slow
def test_new_labels_are_only_labels(rows, permutation):
    c = read(frame_of(rows))
    names = [f"o{k}" for k in permutation]
    d = read(frame_of(rows, names))
    assert set(d.objects) == {names["ABCD".index(label)] for label in c.objects}
    old, new = c.win_matrix(), d.win_matrix()
    for a in c.objects:
        for b in c.objects:
            assert old.loc[a, b] == new.loc[names["ABCD".index(a)], names["ABCD".index(b)]]
    assert d.n_ties == c.n_ties


@pytest.mark.slow
@given(judgments, st.booleans())
def test_judgments_counts_and_split_rows_agree(rows, order):
    frame = frame_of(rows)
    c = read(frame, order)
    doubled = pd.concat([frame, frame]).assign(n=0.5)
    options = {"covariates": "judge", "clusters": "worker", "order": order}
    assert from_judgments(doubled, objects=("a", "b"), weights="n", **options) == c
    indicator = frame.assign(
        wins_i=frame["outcome"] == "i", ties=frame["outcome"] == "tie", wins_j=frame["outcome"] == "j"
    )
    assert from_counts(indicator, objects=("a", "b"), **options) == c


@pytest.mark.slow
@given(judgments, st.sampled_from(sorted(LIBRARIES)), st.permutations("ABCD"))
def test_library_and_categorical_order_do_not_matter(rows, library, categories):
    frame = frame_of(rows)
    c = read(frame)
    assert read(LIBRARIES[library](frame)) == c
    as_category = pd.CategoricalDtype(list(categories), ordered=True)
    assert read(frame.astype({"a": as_category, "b": as_category, "worker": "category"})) == c


def test_only_the_columns_that_play_a_role_are_read():
    lazy = pl.from_pandas(JUDGMENTS).lazy().with_columns(broken=pl.col("winner").str.to_integer(strict=True))
    with pytest.raises(pl.exceptions.PolarsError):
        lazy.collect()
    assert from_judgments(lazy, **MODELS) == from_judgments(JUDGMENTS, **MODELS)


def test_a_table_shares_no_memory_with_the_frame():
    frame = pd.DataFrame(
        {"object_i": [0, 0, 1], "object_j": [1, 2, 2], "wins_i": [7.0, 9, 5], "wins_j": [3.0, 2, 4], "judge": [0, 1, 1]}
    )
    c = from_counts(frame, covariates="judge", order=True)
    for column in frame:
        for held in (c.pairs, c.counts, c.columns[0].codes, c.columns[0].levels):
            assert not np.shares_memory(held, frame[column].to_numpy())


# -- a column of verdicts for each judge, and missing values ------------------------------------------------------

ANNOTATED = pd.DataFrame(
    {
        "item": [1, 2, 3, 4],
        "model_a": list("xyxx"),
        "model_b": list("yzzy"),
        "ann1": ["model_a", "model_b", "model_a", "model_b"],
        "ann2": ["model_a", None, "model_b", "tie"],
        "ann3": ["tie", "model_a", "model_a", "model_a"],
    }
)
ANNOTATORS = ["ann1", "ann2", "ann3"]


def by_hand() -> pd.DataFrame:
    """The same judgments, a row each."""
    rows = ANNOTATED.melt(["item", "model_a", "model_b"], ANNOTATORS, var_name="judge", value_name="winner")
    return rows.dropna(subset="winner")


@pytest.mark.parametrize("as_what", ["pandas", "polars", "csv"])
def test_each_column_of_outcomes_is_a_judge(as_what: str, tmp_path: Path) -> None:
    frame: Any = ANNOTATED
    if as_what == "polars":
        frame = pl.from_pandas(ANNOTATED)
    if as_what == "csv":
        frame = tmp_path / "wide.csv"
        ANNOTATED.to_csv(frame, index=False)
    found = llbt.from_judgments(frame, outcome=ANNOTATORS, covariates="judge")
    expected = llbt.from_judgments(by_hand(), objects=("model_a", "model_b"), outcome="winner", covariates="judge")
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    assert "3 columns of outcome= read as judges, 11 verdicts" in found.notes
    assert "columns not used: 'item'" in found.notes


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, lambda rows: duckdb.from_df(pd.DataFrame(rows))])
def test_judges_columns_may_be_of_different_types(made: Callable[[Any], Any]) -> None:
    """A judge who said nothing, or whose verdicts are numbers: no engine's own error."""
    sides = {"object_i": ["a", "b"], "object_j": ["b", "a"], "r1": ["i", "j"]}
    frame = made({**sides, "r2": [1.0, None]})
    with pytest.raises(JudgmentError, match="1 unknown outcome"):
        llbt.from_judgments(frame, outcome=["r1", "r2"])
    silent = made({**sides, "r2": [None, None]})
    assert llbt.from_judgments(silent, outcome=["r1", "r2"]).n_judgments == 2
    nested = pl.DataFrame({**sides, "r2": [{"x": 1}, {"x": 2}]})
    with pytest.raises(JudgmentError, match="columns 'r2' hold lists or structs"):
        llbt.from_judgments(nested, outcome=["r1", "r2"])


def test_the_refusal_of_such_a_table_names_the_call() -> None:
    with pytest.raises(JudgmentError) as caught:
        llbt.from_judgments(ANNOTATED)
    call = caught.value.remedy.removeprefix("Pass ").removesuffix(".")
    assert llbt.from_judgments(ANNOTATED, **eval(f"dict({call})")).n_judgments == 11
    with pytest.raises(OptionError, match="each column of outcome= is named after its judge"):
        llbt.read_judgments(ANNOTATED, outcome=ANNOTATORS, judge="item")


def test_rows_with_missing_values_are_left_out_and_counted(tmp_path: Path) -> None:
    """Of the columns that are read alone, as R's na.omit of these columns."""
    frame = pd.DataFrame(
        {"object_i": ["A", "A", None, "A"], "object_j": list("BBCC"), "outcome": ["i", None, "j", "j"],
         "judge": ["J1", "J1", "J2", None], "age": [30.0, 30, 40, 50], "other": [None] * 4}
    )  # fmt: skip
    path = tmp_path / "missing.csv"
    frame.to_csv(path, index=False)
    for data in (frame, path, pl.from_pandas(frame)):
        for beside, left in (({}, 2), ({"clusters": "judge"}, 3), ({"covariates": "age"}, 2)):
            found = llbt.from_judgments(data, missing="drop", **beside)
            kept = frame.dropna(subset=["object_i", "object_j", "outcome", *beside.values()])
            assert found.n_judgments == len(kept) == 4 - left
            assert f"{left} rows with a missing value left out (missing='drop')" in found.notes
        assert llbt.read_judgments(data, missing="drop").n_judgments == 2
    found = llbt.from_judgments(frame, missing="drop", outcomes={None: "tie"})  # what no outcome means is said
    assert (found.n_judgments, found.n_ties) == (3, 1)
    with pytest.raises(OptionError, match="outcome= names 'outcome' twice"):
        llbt.from_judgments(frame, outcome=["outcome", "outcome"])
    with pytest.raises(JudgmentError, match="no row has a value in each of"):
        llbt.from_judgments(frame, missing="drop", covariates="other")


def test_counts_with_missing_values_are_left_out_and_counted() -> None:
    frame = pd.DataFrame(
        {"object_i": list("AAB"), "object_j": list("BCC"), "wins_i": [3, None, 1], "wins_j": [2, 2, 4]}
    )
    with pytest.raises(JudgmentError, match="missing='drop'"):
        llbt.from_counts(frame)
    found = llbt.from_counts(frame, missing="drop")
    assert found.n_judgments == 10
    assert "1 row with a missing value left out (missing='drop')" in found.notes
    assert "1 row with a missing value left out (missing='drop')" in llbt.audit(frame, missing="drop").notes


def test_notes_name_no_column_that_the_frame_does_not_have() -> None:
    matches = pd.DataFrame({"Winner": list("aba"), "Loser": list("bac"), "venue": list("xyz")})
    assert "columns not used: 'venue'" in llbt.from_judgments(matches).notes
