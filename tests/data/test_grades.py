"""Graded judgments through the doors: counts by hand, what tables keep of them, and scales that are refused."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

import llbt
from llbt.core.response import THREE, TWO, graded
from llbt.errors import JudgmentError

COLUMNS = ("++", "+", "=", "-", "--")
COUNTS = pd.DataFrame(
    [("A", "B", "x", 4, 3, 2, 5, 1), ("B", "A", "x", 2, 0, 1, 1, 3), ("A", "C", "y", 1, 2, 2, 6, 4)],
    columns=["object_i", "object_j", "judge", *COLUMNS],
)


def five() -> llbt.Comparisons:
    return llbt.from_counts(COUNTS, grades=COLUMNS, clusters="judge")


class TestCounts:
    def test_a_column_for_each_grade(self):
        c = five()
        assert c.response == graded(2, middle=True)
        # the second row is turned: its grades for B are grades against A
        assert c.counts.tolist() == [[4 + 3, 3 + 1, 2 + 1, 5 + 0, 1 + 2], [1, 2, 2, 6, 4]]
        assert any("object_i won 47.4 % of the decided judgments" in note for note in c.notes)  # 7 + 2 of 13 + 6
        assert c.has_ties

    def test_a_mapping_says_the_same_in_any_order(self):
        mapping = {"-": -1, "++": 2, "--": -2, "=": 0, "+": 1}
        assert llbt.from_counts(COUNTS, grades=mapping, clusters="judge") == five()

    def test_without_a_middle(self):
        names = ["++", "+", "-", "--"]
        c = llbt.from_counts(COUNTS.drop(columns="="), grades=names)
        assert c.response == graded(2, middle=False)
        assert c.counts.tolist() == [[7, 4, 5, 3], [1, 2, 6, 4]]
        assert c.collapse() == llbt.from_counts(
            pd.DataFrame({"object_i": ["A", "A"], "object_j": ["B", "C"], "wins_i": [11, 3], "wins_j": [8, 10]})
        )

    @pytest.mark.parametrize(("names", "response"), [(("+", "=", "-"), THREE), (("+", "-"), TWO)])
    def test_scales_of_one_grade_are_todays_tables(self, names, response):
        c = llbt.from_counts(COUNTS, grades=names)
        ties = "=" if "=" in names else None
        assert c.response == response
        assert c == llbt.from_counts(COUNTS, wins=("+", "-"), ties_column=ties)

    @pytest.mark.parametrize("clusters", [False, True])
    def test_frames_read_back(self, clusters):
        c = five() if clusters else five().pool("judge")
        frame = c.to_frame(clusters=clusters)
        assert llbt.from_counts(frame, grades=c.response.outcomes, clusters="judge" if clusters else ()) == c


class TestTables:
    def test_collapsed_to_wins_ties_and_losses(self):
        c = five().collapse()
        both = COUNTS.assign(wins_i=COUNTS["++"] + COUNTS["+"], ties=COUNTS["="], wins_j=COUNTS["-"] + COUNTS["--"])
        assert c == llbt.from_counts(both, clusters="judge")
        assert c.notes[-1] == "grades were merged (collapse): 'i+', 'i' | 'tie' | 'j', 'j+'"
        assert c.collapse() is c

    def test_select_pool_and_clusters_keep_grades(self):
        c = llbt.from_counts(COUNTS, grades=COLUMNS, covariates="judge")
        assert c.pool().counts.tolist() == c.counts.tolist()
        for part in (five().select(where={"judge": "y"}), c.select(where={"judge": "y"})):
            assert part.response == c.response
            assert part.counts.tolist() == [[1, 2, 2, 6, 4]]
        assert five().pool("judge").counts.tolist() == five().counts.tolist()
        assert five().select(objects=["A", "B"]).to_frame(clusters=True)[["i+", "j+"]].values.tolist() == [[7, 3]]

    def test_functions_of_three_outcomes_name_the_grades_and_the_call(self):
        with pytest.raises(JudgmentError, match=r"'i\+', 'i', 'tie', 'j', 'j\+'.*c\.collapse\(\) merges the grades"):
            llbt.audit(five())
        assert llbt.audit(five().collapse())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grades": {"++": 2, "+": 1, "=": 0, "-": -1}}, r"the grades \[2, 1, 0, -1\] lack \[-2\]"),
        ({"grades": {"++": 3, "+": 1, "-": -1, "--": -3}}, r"lack \[2, -2\]"),
        ({"grades": {"++": 2, "+": 1, "=": 0}}, r"lack \[-1, -2\]"),
        ({"grades": {"+": 0.5, "-": -0.5}}, "the grade 0.5; expected whole numbers"),
        ({"grades": {"+": True, "-": -1}}, "the grade True; expected whole numbers"),
        ({"grades": {"+": "much", "-": -1}}, "the grade 'much'; expected whole numbers"),
        ({"grades": {"++": 1, "+": 1, "-": -1}}, "several columns have one grade"),
        ({"grades": ["++"]}, "expected a column for each grade"),
        ({"grades": ("+", "-"), "wins": ("++", "--")}, "grades= stands in place of wins="),
        ({"grades": ("+", "-"), "ties_column": "="}, "grades= stands in place of wins="),
        ({"grades": ("+", "none")}, r"no column 'none' \(grades=\)"),
        ({"grades": ("+", "+")}, r"named in grades=, twice"),
    ],
)
def test_columns_that_are_no_scale_are_refused(options, message):
    with pytest.raises(JudgmentError, match=message):
        llbt.from_counts(COUNTS, **options)


def test_a_covariate_has_another_name_than_a_grade():
    with pytest.raises(JudgmentError, match="'i' is a word that llbt uses itself"):
        llbt.from_counts(COUNTS.rename(columns={"judge": "i"}), grades=COLUMNS, covariates="i")
    assert llbt.from_counts(COUNTS.rename(columns={"judge": "i"}), wins=("+", "-"), covariates="i").covariates == ("i",)


@pytest.mark.shared
def test_the_collapsed_table_of_music_has_the_fit_that_r_gave():
    folder = Path(os.environ["LLBT_SHARED"]) / "reference/models"
    rows = pd.read_csv(folder / "music_graded.csv")
    wide = rows.pivot(index=["object_i", "object_j", "sex"], columns="grade", values="count").reset_index()
    wide.columns = [str(name) for name in wide.columns]
    c = llbt.from_counts(wide, grades=("2", "1", "0", "-1", "-2"), covariates="sex")
    assert c.n_judgments == rows["count"].sum() == 14210
    res = llbt.fit("object + tie", c.collapse())
    known = json.loads((folder / "music_graded_reference.json").read_text())["three"]
    assert res.deviance == pytest.approx(known["deviance"], abs=1e-6)
    assert res.df_resid == known["df_residual"]
    for name, value in known["coefficients"].items():
        found = res.params[name if name == "tie" else f"object[{name}]"]
        assert found == pytest.approx(value, abs=1e-7)
