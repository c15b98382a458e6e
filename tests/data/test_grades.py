"""Graded judgments through the doors: counts by hand, what tables keep of them, and scales that are refused."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.format_cases import CASES

import llbt
from llbt.core.response import THREE, TWO, graded
from llbt.errors import JudgmentError, OptionError

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
        assert any("object_i won 47.4 % of decisions" in note for note in c.notes)  # 7 + 2 of 13 + 6
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
            llbt.classical.sign_test(five())
        assert llbt.classical.sign_test(five().collapse())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"grades": {"++": 2, "+": 1, "=": 0, "-": -1}}, OptionError, r"the grades \[2, 1, 0, -1\] lack \[-2\]"),
        ({"grades": {"++": 3, "+": 1, "-": -1, "--": -3}}, OptionError, r"lack \[2, -2\]"),
        ({"grades": {"++": 2, "+": 1, "=": 0}}, OptionError, r"lack \[-1, -2\]"),
        ({"grades": {"+": 0.5, "-": -0.5}}, OptionError, "the grade 0.5; expected whole numbers"),
        ({"grades": {"+": True, "-": -1}}, OptionError, "the grade True; expected whole numbers"),
        ({"grades": {"+": "much", "-": -1}}, OptionError, "the grade 'much'; expected whole numbers"),
        ({"grades": {"++": 1, "+": 1, "-": -1}}, OptionError, "several columns have one grade"),
        ({"grades": ["++"]}, OptionError, "expected a column for each grade"),
        ({"grades": ("+", "-"), "wins": ("++", "--")}, OptionError, "grades= replaces wins="),
        ({"grades": ("+", "-"), "ties_column": "="}, OptionError, "grades= replaces wins="),
        ({"grades": ("+", "none")}, JudgmentError, r"no column 'none' \(grades=\)"),
        ({"grades": ("+", "+")}, OptionError, r"named in grades=, twice"),
    ],
)
def test_columns_that_are_no_scale_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        llbt.from_counts(COUNTS, **options)


def test_a_covariate_has_another_name_than_a_grade():
    with pytest.raises(JudgmentError, match="'i' is a word that llbt uses itself"):
        llbt.from_counts(COUNTS.rename(columns={"judge": "i"}), grades=COLUMNS, covariates="i")
    assert llbt.from_counts(COUNTS.rename(columns={"judge": "i"}), wins=("+", "-"), covariates="i").covariates == ("i",)


# three judges, two pairs, both orders: what the judge said, who won, how much, and the signed grade
ROWS = [
    ("A", "B", "A>>B", "i", 2, 2, "x"),
    ("A", "B", "A>>B", "i", 2, 2, "y"),
    ("A", "B", "A<B", "j", 1, -1, "y"),
    ("B", "A", "A>B", "i", 1, 1, "x"),
    ("B", "A", "A=B", "tie", 0, 0, "z"),
    ("A", "C", "A<<B", "j", 2, -2, "z"),
    ("A", "C", "A<<B", "j", 2, -2, "x"),
    ("C", "A", "A<<B", "j", 2, -2, "x"),
]
JUDGED = pd.DataFrame(ROWS, columns=["object_i", "object_j", "label", "outcome", "strength", "grade", "judge"])
BY_HAND = [[2, 0, 1, 2, 0], [1, 0, 0, 0, 2]]  # A : B and A : C
MAPPING = {"A>>B": 2, "A>B": 1, "A=B": 0, "A<B": -1, "A<<B": -2}
BESIDE = ["object_i", "object_j", "judge"]


def engines(frame):
    """The same rows in pandas, polars and DuckDB."""
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    return frame, polars.DataFrame(frame.to_dict("list")), duckdb.from_df(frame)


class TestJudgments:
    @pytest.mark.parametrize(
        ("columns", "options"),
        [
            (["outcome", "strength"], {"strength": "strength"}),
            (["grade"], {"strength": "grade"}),
            (["grade", "outcome"], {"strength": "grade", "outcome": "grade"}),
            (["label"], {"outcome": "label", "outcomes": MAPPING}),
            (["label"], {"outcome": "label", "outcomes": {**MAPPING, "A=B": "tie"}}),
            (["grade"], {"outcome": "grade", "outcomes": {2: 2, 1: 1, 0: 0, -1: -1, -2: -2}}),
        ],
    )
    def test_all_ways_to_say_a_grade(self, columns, options):
        for frame in engines(JUDGED[[*BESIDE, *columns]]):
            c = llbt.from_judgments(frame, clusters="judge", **options)
            assert c.response == graded(2, middle=True)
            assert c.counts.tolist() == BY_HAND
            plain = llbt.from_judgments(JUDGED[[*BESIDE, "outcome"]], clusters="judge")
            assert c.collapse() == plain

    def test_rows_are_counted_where_they_are(self, tmp_path):
        """Many rows alike are one row with its count, in every engine; weights multiply."""
        many = pd.concat([JUDGED[[*BESIDE, "outcome", "strength"]]] * 50, ignore_index=True)
        for frame in engines(many):
            c = llbt.from_judgments(frame, strength="strength", order=True)
            assert (c.counts.sum(axis=0) / 50).tolist() == [2, 1, 1, 1, 3]
        weighted = JUDGED.assign(times=50.0)
        heavy = llbt.from_judgments(weighted, strength="strength", weights="times", order=True)
        assert heavy == c
        path = tmp_path / "judged.csv"
        many.to_csv(path, index=False)
        assert llbt.from_judgments(path, strength="strength", order=True) == c
        many.assign(grade=list(JUDGED["grade"]) * 50).drop(columns=["outcome", "strength"]).to_csv(path, index=False)
        signed = {"objects": ("object_i", "object_j"), "outcome": "grade", "strength": "grade"}
        assert llbt.from_judgments(path, order=True, **signed) == c

    @pytest.mark.parametrize("column", ["label", "number"])
    def test_large_files_stay_in_duckdb(self, column, tmp_path, monkeypatch):
        pytest.importorskip("duckdb")
        monkeypatch.setattr(llbt.data.files, "LARGE", dict.fromkeys(llbt.data.files.LARGE, 0))
        path = tmp_path / "judged.csv"
        JUDGED.assign(number=3 - JUDGED["grade"])[[*BESIDE, column]].to_csv(path, index=False)
        mapping = MAPPING if column == "label" else {1: 2, 2: 1, 3: 0, 4: -1, 5: -2}
        named = {"objects": ("object_i", "object_j"), "outcome": column, "outcomes": mapping}
        held = llbt.read_judgments(path, **named)
        assert held.query is not None
        assert held.to_frame()["strength"].tolist() == JUDGED["strength"].tolist()
        for c in (
            llbt.from_judgments(held, strength="strength", clusters="judge"),
            llbt.from_judgments(path, clusters="judge", **named),
        ):
            assert c.counts.tolist() == BY_HAND
            assert c == llbt.from_judgments(JUDGED, strength="strength", clusters="judge")

    def test_grades_turn_round_with_the_pair(self):
        shown = llbt.from_judgments(JUDGED, strength="strength", order=True)
        assert shown.to_frame()[["i+", "i", "tie", "j", "j+"]].values.tolist() == [
            [2, 0, 0, 1, 0],
            [0, 0, 0, 0, 2],
            [0, 1, 1, 0, 0],
            [0, 0, 0, 0, 1],
        ]

    def test_a_scale_without_a_middle(self):
        rows = JUDGED[JUDGED["outcome"] != "tie"]
        c = llbt.from_judgments(rows, strength="strength")
        assert c.response == graded(2, middle=False)
        assert c.counts.tolist() == [[2, 0, 2, 0], [1, 0, 0, 2]]
        assert "no judgment is a tie: the grades have no middle" in c.notes
        mapped = llbt.from_judgments(rows, outcome="label", outcomes=MAPPING)
        assert mapped.response == graded(2, middle=True)
        assert not any("no middle" in note for note in mapped.notes)
        signed = llbt.from_judgments(rows.drop(columns="outcome"), strength="grade")
        remedy = {2: 2, 1: 1, 0: 0, -1: -1, -2: -2}
        assert f"no judgment is a tie: the grades have no middle; outcomes={remedy} gives them one" in signed.notes
        assert llbt.from_judgments(rows, outcome="grade", outcomes=remedy) == mapped

    def test_one_grade_is_todays_table(self):
        rows = JUDGED.assign(strength=(JUDGED["outcome"] != "tie").astype(float))
        assert llbt.from_judgments(rows, strength="strength") == llbt.from_judgments(rows)
        decided = rows[rows["outcome"] != "tie"]
        assert llbt.from_judgments(decided, strength="strength") == llbt.from_judgments(decided)

    def test_ties_need_no_strength_and_rows_may_be_left_out(self):
        rows = JUDGED.assign(strength=JUDGED["strength"].where(JUDGED["outcome"] != "tie"))
        assert llbt.from_judgments(rows, strength="strength").counts.tolist() == BY_HAND
        out = llbt.from_judgments(JUDGED, outcome="label", outcomes={**MAPPING, "A=B": None, "B=A": 0})
        assert out.n_judgments == 7
        assert any("outcome 'A=B' left out" in note for note in out.notes)

    def test_grades_that_nobody_used_are_told(self):
        wide = {**MAPPING, "A>>>B": 3, "A<<<B": -3}
        c = llbt.from_judgments(JUDGED, outcome="label", outcomes=wide)
        assert c.response == graded(3, middle=True)
        assert "no judgment has the grade 3 on either side" in c.notes
        assert not any("no judgment has" in note for note in llbt.from_judgments(JUDGED, strength="strength").notes)

    def test_the_mapping_says_sides_to_everyone_else(self):
        named = {"objects": ("object_i", "object_j"), "outcome": "label"}
        read = llbt.read_judgments(JUDGED[[*BESIDE, "label"]], outcomes=MAPPING, **named)
        assert read.to_frame()["outcome"].tolist() == JUDGED["outcome"].tolist()
        assert read.to_frame()["strength"].tolist() == JUDGED["strength"].tolist()
        assert llbt.from_judgments(read, strength="strength").counts.tolist() == BY_HAND
        assert llbt.from_judgments(read).counts.tolist() == [[2, 1, 2], [1, 0, 2]]
        words = {label: "i" if grade > 0 else "j" if grade < 0 else "tie" for label, grade in MAPPING.items()}
        plain = JUDGED[[*BESIDE, "label"]]
        mine = [llbt.formats.columns(outcome="label", outcomes=said) for said in (MAPPING, words)]
        found = [llbt.audit(plain, format=said) for said in mine]
        told = [audit.finding("separation").found for audit in found]
        assert told == [f"estimates of {formula} are finite" for formula in ("object + tie + grade", "object + tie")]
        assert found[0].sizes[0] == found[1].sizes[0]
        told = [audit.finding("order_separation").found for audit in found]
        for formula, said in zip(("object + tie + grade + order", "object + tie + order"), told, strict=True):
            assert formula in said
        flips = [audit.finding("swapped").found.partition(", ")[0] for audit in found]
        assert flips[0] == flips[1]  # how many are expected goes by the fit, which has grades or has not
        assert '"object + tie + grade + order"' in found[0].finding("swapped").remedy
        for name in ("missing", "outcomes", "ties", "sparse", "duplicates", "judges", "disconnected"):
            assert found[0].finding(name) == found[1].finding(name)


class TestGradesThatNobodyAskedFor:
    """Grades that a reader knows and a table of three outcomes merges are told, with how to keep them."""

    NOTE = "7 preferences of the grades 1 (2), 2 (5) count equally: strength='strength' keeps them"

    @pytest.mark.parametrize("kind", ["judgments", "their frame", "labels", "polars", "duckdb"])
    def test_each_way_to_them(self, kind):
        mine = llbt.formats.columns(outcome="label", outcomes=MAPPING)
        read = llbt.read_judgments(JUDGED[[*BESIDE, "label"]], format=mine)
        frame = read.to_frame()
        found = {
            "judgments": lambda **how: llbt.from_judgments(read, **how),
            "their frame": lambda **how: llbt.from_judgments(frame, **how),
            "labels": lambda **how: llbt.from_judgments(frame, format="judgments", **how),
            "polars": lambda **how: llbt.from_judgments(engines(frame)[1], **how),
            "duckdb": lambda **how: llbt.from_judgments(engines(frame)[2], **how),
        }[kind]
        c = found()
        assert [note for note in c.notes if "count equally" in note] == [self.NOTE]
        assert c == llbt.from_judgments(JUDGED[[*BESIDE, "outcome"]])
        kept = found(strength="strength")
        assert kept.counts.tolist() == BY_HAND
        assert not any("count equally" in note for note in kept.notes)

    def test_strengths_that_are_no_grades_need_cuts(self):
        fine = llbt.read_judgments(JUDGED).to_frame().assign(strength=JUDGED["strength"] / 4)
        c = llbt.from_judgments(fine)
        told = "7 preferences of strengths from 0.25 to 0.5 count equally: strength='strength' with cuts="
        assert [note for note in c.notes if note.startswith(told)]
        assert llbt.from_judgments(fine, strength="strength", cuts=(0.3,)).counts.tolist() == BY_HAND

    def test_one_strength_merges_nothing(self):
        frame = llbt.read_judgments(JUDGED).to_frame()
        for same in (frame.assign(strength=1.0), frame.assign(strength=None)):
            assert not any("count equally" in note for note in llbt.from_judgments(same).notes)
        with_words = frame.assign(strength=["much", "little"] * 4)
        assert not any("count equally" in note for note in llbt.from_judgments(with_words).notes)

    def test_weights_count(self):
        frame = llbt.read_judgments(JUDGED).to_frame().assign(weight=10.0, strength=JUDGED["strength"])
        assert self.NOTE.replace("7 ", "70 ").replace("(2)", "(20)").replace("(5)", "(50)") in (
            llbt.from_judgments(frame).notes
        )


@pytest.mark.parametrize("name", ["arena_hard", "helpsteer2", "helpsteer3", "multipref", "opencompass", "potato"])
def test_formats_that_keep_strengths(name):
    """The grades of a format, straight from its records and from what was read of them, against its table by hand."""
    case = next(case for case in CASES if case.id == name)
    labels = ["object_i", "object_j", "outcome", *case.also.split()]
    table = pd.DataFrame(case.table, columns=labels)
    sizes = table["strength"].astype(float)
    grades = table["outcome"].map({"i": 1, "tie": 0, "j": -1}) * sizes.fillna(0)
    assert not sizes[table["outcome"] != "tie"].isna().any()
    options = {"format": case.name, **case.options}
    for source, given in ((case.source, options), (llbt.read_judgments(case.source, **options), {})):
        merged = grades[grades != 0].abs().nunique() > 1
        assert any("count equally" in note for note in llbt.from_judgments(source, **given).notes) == merged
        c = llbt.from_judgments(source, strength="strength", **given)
        steps = len(c.response.outcomes) // 2
        assert steps == grades.abs().max()
        scale = [grade for grade in range(steps, -steps - 1, -1) if grade or c.has_ties]
        for (i, j), counts in zip(c.pairs, c.counts, strict=True):
            ours = (table["object_i"] == c.objects[i]) & (table["object_j"] == c.objects[j])
            turned = (table["object_i"] == c.objects[j]) & (table["object_j"] == c.objects[i])
            found = grades[ours].tolist() + (-grades[turned]).tolist()
            assert counts.tolist() == [found.count(grade) for grade in scale]


@pytest.mark.parametrize(
    ("changed", "options", "error", "message"),
    [
        (
            {"strength": 1.5},
            {"strength": "strength"},
            JudgmentError,
            r"column 'strength': 1 row whose size.*row 0: a preference of the size 1.5",
        ),
        (
            {"strength": 0},
            {"strength": "strength"},
            JudgmentError,
            "a preference of the size 0; expected sizes 1, 2, … of preferences",
        ),
        ({"strength": np.nan}, {"strength": "strength"}, JudgmentError, "a preference of no size"),
        ({"strength": -2}, {"strength": "strength"}, JudgmentError, "the size -2.*pass its column as outcome=, too"),
        ({"outcome": "tie"}, {"strength": "strength"}, JudgmentError, "a tie of the size 2"),
        ({"strength": 300}, {"strength": "strength"}, JudgmentError, "a grade of 300; expected at most 20. Cut scores"),
        ({"strength": np.inf}, {"strength": "strength"}, JudgmentError, "a grade of inf; expected at most 20"),
        (
            {"grade": 0.5},
            {"strength": "grade", "outcome": "grade"},
            JudgmentError,
            "the grade 0.5; expected whole numbers",
        ),
        ({"grade": np.nan}, {"strength": "grade", "outcome": "grade"}, JudgmentError, "1 missing outcome"),
        (
            {},
            {"outcome": "label", "outcomes": {"A>>B": 2, "A>B": 1, "A=B": 0, "A<B": -1}},
            OptionError,
            r"\[2, 1, 0, -1\] lack \[-2\]",
        ),
        ({"label": "A~B"}, {"outcome": "label", "outcomes": MAPPING}, JudgmentError, "1 unknown outcome: 'A~B'"),
        ({}, {"outcome": "label", "outcomes": {**MAPPING, "A>B": "i"}}, OptionError, "expected a grade, 'tie' or None"),
        (
            {},
            {"outcome": "label", "outcomes": {**MAPPING, "A>B": 0.5}},
            OptionError,
            "the grade 0.5; expected whole numbers",
        ),
        (
            {},
            {"strength": "strength", "outcome": "label", "outcomes": MAPPING},
            OptionError,
            "both set the strength. Pass either",
        ),
        ({}, {"strength": "grade", "outcome": "winnr"}, JudgmentError, r"no column 'winnr' \(outcome=\)"),
        ({}, {"strength": "object_i"}, OptionError, "named in objects= and strength="),
        ({}, {"strength": "much"}, JudgmentError, r"no column 'much' \(strength=\)"),
        ({}, {"strength": "judge"}, JudgmentError, "column 'judge' .* not a number"),
    ],
)
def test_judgments_that_are_no_grades_are_refused(changed, options, error, message):
    rows = JUDGED.astype({"strength": float, "grade": float})
    for name, value in changed.items():
        rows.loc[0, name] = value
    with pytest.raises(error, match=message):
        llbt.from_judgments(rows, **options)


def test_a_scale_seen_from_one_side_is_refused():
    sizes = JUDGED.assign(grade=JUDGED["grade"].abs())
    with pytest.raises(JudgmentError, match=r"the grades 2, 1, 0 are all for one side.*Sizes need outcome="):
        llbt.from_judgments(sizes[[*BESIDE, "grade"]], strength="grade")
    likert = JUDGED.assign(grade=3 - JUDGED["grade"])
    with pytest.raises(JudgmentError, match=r"outcomes=\{1: 2, 2: 1, 3: 0, 4: -1, 5: -2\}"):
        llbt.from_judgments(likert[[*BESIDE, "grade"]], strength="grade")
    mapping = {1: 2, 2: 1, 3: 0, 4: -1, 5: -2}
    c = llbt.from_judgments(likert[[*BESIDE, "grade"]], strength="grade", outcomes=mapping)
    assert c.counts.tolist() == BY_HAND
    counts = [{"object_i": "a", "object_j": "b", "wins_i": 3, "wins_j": 2}]
    with pytest.raises(OptionError, match=r"a table of counts has none. Use grades= of from_counts"):
        llbt.from_judgments(counts, format="counts", strength="strength")


class TestCuts:
    """Strengths finer than grades."""

    @pytest.mark.parametrize("signed", [False, True])
    def test_sizes_are_cut(self, signed):
        grades = JUDGED["grade"] * 0.2  # .2 and .4, so that a cut of .2 parts them
        rows = JUDGED.assign(grade=grades, strength=grades.abs())
        options = {"strength": "grade"} if signed else {"strength": "strength"}
        for frame in engines(rows[[*BESIDE, "grade"] if signed else [*BESIDE, "outcome", "strength"]]):
            c = llbt.from_judgments(frame, cuts=[0.2], **options)
            assert c.counts.tolist() == BY_HAND
            finer = llbt.from_judgments(frame, cuts=[0.1, 0.3, 0.9], **options)
            assert finer.response == graded(4, middle=True)
            assert finer.counts[:, [1, 2, 4, 6, 7]].tolist() == BY_HAND
            assert "no judgment has the grade 1, 4 on either side" in finer.notes
            with pytest.raises(JudgmentError, match=r"with cuts=|\(cuts=\)"):
                llbt.from_judgments(frame, **options)

    def test_preferences_of_alpaca_eval(self):
        said = [1.0, 1.1, 1.3, 1.5, 1.6, 2.0]  # 1 is all for the first, 2 for the second
        records = [
            {"instruction": f"p{k}", "output_1": "r", "generator_1": "ref", "output_2": "s", "generator_2": "new",
             "annotator": "w", "preference": x}
            for k, x in enumerate(said)
        ]  # fmt: skip
        c = llbt.from_judgments(records, format="alpaca_eval", strength="strength", cuts=(0.25,))
        assert c.objects == ("new", "ref")
        assert c.to_frame().to_numpy().tolist() == [["new", "ref", 1, 1, 1, 1, 2]]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"cuts": (1,)}, "cuts= cuts the numbers of a column into grades. Pass strength="),
            ({"cuts": (1,), "outcome": "label", "outcomes": MAPPING}, "cuts= cuts the numbers"),
            ({"cuts": (0, 1), "strength": "strength"}, "rising numbers .* larger than no preference=0"),
            ({"cuts": 1, "strength": "strength"}, "cuts=1; expected rising numbers"),
        ],
    )
    def test_cuts_out_of_place_are_refused(self, options, message):
        with pytest.raises(OptionError, match=message):
            llbt.from_judgments(JUDGED, **options)


# -- ratings -------------------------------------------------------------------------------------------------------

RATED = pd.DataFrame(
    [("x", "A", 7), ("x", "B", 4), ("x", "C", 4), ("y", "A", 5), ("y", "B", 6), ("z", "B", 0.8), ("z", "C", 0.1)],
    columns=["judge", "object", "rating"],
)


class TestRatings:
    def test_differences_as_grades_with_a_cut(self):
        c = llbt.from_ratings(RATED, clusters="judge").to_comparisons(cuts=(2,))
        assert c.response == graded(2, middle=True)
        assert c.to_frame()[["object_i", "object_j", "i+", "i", "tie", "j", "j+"]].values.tolist() == [
            ["A", "B", 1, 0, 0, 1, 0],
            ["A", "C", 1, 0, 0, 0, 0],
            ["B", "C", 0, 1, 1, 0, 0],
        ]
        assert c.collapse() == llbt.from_ratings(RATED, clusters="judge").to_comparisons()
        turned = llbt.from_ratings(RATED, clusters="judge", higher_is_better=False).to_comparisons(cuts=(2,))
        assert turned.counts.tolist() == c.counts[:, ::-1].tolist()

    def test_several_cuts_a_threshold_and_the_rounding_of_floats(self):
        # 0.8 − 0.1 is .7000000000000001 as a float
        c = llbt.from_ratings(RATED).to_comparisons(cuts=[1, 3, 5], tie_threshold=0.7)
        assert c.response == graded(4, middle=True)
        assert c.counts[:, c.response.outcomes.index("tie")].tolist() == [0, 0, 2]
        assert c.counts[0].tolist() == [0, 0, 1, 0, 0, 1, 0, 0, 0]  # 3 is not more than 3, and 1 not more than 1
        assert "no judgment has the grade 3, 4 on either side" in c.notes
        two = llbt.from_ratings(RATED[:2])
        assert two.to_comparisons(cuts=[1]).response == graded(2, middle=False)
        assert two.to_comparisons(cuts=[1], tie_threshold=0.5).response == graded(2, middle=True)

    def test_the_same_as_grades_beside_the_outcome(self):
        """The same study judged pair by pair: differences made with pandas, cut with pandas."""
        rng = np.random.default_rng(5)
        judges, objects = range(30), list("ABCD")
        wide = pd.DataFrame(rng.integers(1, 8, size=(30, 4)), columns=objects)
        pairs = [(j, a, b, wide.loc[j, a] - wide.loc[j, b]) for j in judges for a in objects for b in objects if a < b]
        rows = pd.DataFrame(pairs, columns=["judge", "object_i", "object_j", "apart"])
        rows["size"] = pd.cut(rows["apart"].abs(), [-1, 0, 1, 3, 9], labels=False)
        rows["grade"] = np.sign(rows["apart"]) * rows["size"]
        by_hand = llbt.from_judgments(rows, strength="grade")
        assert llbt.from_ratings(wide, objects=objects).to_comparisons(cuts=(1, 3)) == by_hand
        assert by_hand.response == graded(3, middle=True)

    @pytest.mark.parametrize(
        ("options", "group"),
        [
            ({}, "pass clusters='judge' when you read the lists, and fit the comparisons with cov_type='cluster'"),
            ({"clusters": "judge"}, "fit(formula, rankings); or fit the comparisons with cov_type='cluster', groups="),
            ({"prompt": "p"}, "pass clusters='judge' when you read the lists, and fit the comparisons with cov_type="),
            ({"judge": None, "block": ["judge", "p"]}, "pass clusters='block'"),
        ],
    )
    def test_dependence_is_always_said(self, options, group):
        two = RATED.assign(p=1)[3:5]  # a single pair of objects
        notes = llbt.from_ratings(two, **options).to_comparisons(cuts=(0.5,)).notes
        assert sum("Differences of one judge's ratings are not independent" in n and group in n for n in notes) == 1
        assert not any("not independent" in note for note in llbt.from_ratings(two, **options).to_comparisons().notes)

    @pytest.mark.parametrize("cuts", [(0,), (2, 2), (3, 1), 2, ("a",), (np.nan,), (np.inf,), (True,), "12"])
    def test_cuts_that_are_none_are_refused(self, cuts):
        with pytest.raises(OptionError, match=r"cuts=.*expected rising numbers such as .*tie_threshold=0"):
            llbt.from_ratings(RATED).to_comparisons(cuts=cuts)


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


def test_a_column_of_grades_that_is_not_there_is_asked_for_as_it_was_named():
    frame = pd.DataFrame({"i": ["x", "y"], "j": ["y", "x"], "degree": [2, -1]})
    with pytest.raises(JudgmentError, match=r"no column 'degrees' \(strength=\).*Did you mean 'degree'\?"):
        llbt.from_judgments(frame, objects=("i", "j"), strength="degrees")
