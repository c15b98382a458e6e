"""The door for scores: each system against each other one on every instance."""

import math
import pickle
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.pasting import arguments

import llbt
from llbt.data.ratings import from_ratings
from llbt.data.scores import from_scores
from llbt.data.system_scores import SystemScores, as_scores, instance_columns
from llbt.errors import JudgmentError, OptionError
from llbt.fitting.fit import fit

WIDE = pd.DataFrame(
    {
        "C": [0.5, 0.2, np.nan, 0.0],
        "A": [0.9, 0.8, 0.3, np.nan],
        "B": [0.5, 0.7, 0.4, np.nan],
        "doc": ["d1", "d2", "d3", "d4"],
        "domain": ["news", "news", "talk", "talk"],
        "length": [1.5, 1.5, 2.5, 1.5],
    }
)
SYSTEMS = ["A", "B", "C"]
OF_SYSTEMS = SystemScores.from_wide(WIDE, SYSTEMS)
BY_DOC = SystemScores.from_wide(WIDE, SYSTEMS, instance="doc")
LONG = WIDE.melt(["doc", "domain", "length"], SYSTEMS, var_name="system", value_name="score")
INSTANCES = LONG.rename(columns={"doc": "instance"})
KEPT = {"covariates": ("domain", "length")}
PLAIN = [["A", "B", 2, 0, 1], ["A", "C", 2, 0, 0], ["B", "C", 1, 1, 0]]


def rows(c, **options):
    return c.to_frame(**options).to_numpy().tolist()


def drawn(seed, n_systems=5, n_instances=40, missing=0.2):
    """Scores on a grid of 0.1, so that many differences are thresholds but for rounding; some are missing."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=(n_instances, n_systems)), 1) * 0.1
    scores[rng.random(scores.shape) < missing] = np.nan
    frame = pd.DataFrame(scores, columns=[f"s{k}" for k in range(n_systems)])
    kept = {"domain": rng.choice(["x", "y", "z"], n_instances), "length": rng.choice([1.0, 2.5], n_instances)}
    return frame.assign(instance=[f"i{k}" for k in range(n_instances)], **kept)


def melted(frame):
    long = frame.melt(["instance", "domain", "length"], var_name="system", value_name="score")
    return long.sample(frac=1, random_state=1)


def said(a, b, threshold, relative, higher):
    larger = max(abs(a), abs(b))
    if abs(a - b) <= threshold * (larger if relative else 1) + 1e-12 * larger:
        return 1
    return 0 if (a > b) == higher else 2


def looped(frame, threshold, relative, higher):
    """Count by explicit loops over pairs and instances."""
    names = sorted(name for name in frame if name.startswith("s"))
    found = []
    for k, one in enumerate(names):
        for other in names[k + 1 :]:
            counts = [0, 0, 0]
            for a, b in zip(frame[one], frame[other], strict=True):
                if not (math.isnan(a) or math.isnan(b)):
                    counts[said(a, b, threshold, relative, higher)] += 1
            found.append([one, other, *counts])
    return [row for row in found if sum(row[2:])]


class TestCounts:
    def test_wide(self):
        c = from_scores(OF_SYSTEMS)
        assert rows(c) == PLAIN
        assert (c.objects, c.has_ties, c.keeps_order) == (("A", "B", "C"), True, False)
        assert c.unkept == ("doc", "domain", "length")

    def test_all_columns_of_numbers_are_systems_unless_they_have_another_role(self):
        assert from_scores(WIDE, **KEPT) == from_scores(OF_SYSTEMS, **KEPT)
        assert from_scores(WIDE.assign(D=1.0)).objects == ("A", "B", "C", "D")  # a length is no system

    @pytest.mark.parametrize("frame", [LONG, LONG.dropna(), LONG[::-1]], ids=["missing", "no rows for them", "turned"])
    def test_long_is_wide(self, frame):
        long = SystemScores.from_long(frame, instance="doc")
        assert from_scores(long, **KEPT, clusters="doc") == from_scores(BY_DOC, **KEPT, clusters="doc")

    def test_any_frame_and_records(self, tmp_path):
        WIDE.to_csv(tmp_path / "scores.csv", index=False)
        sources = (pl.from_pandas(WIDE), tmp_path / "scores.csv", WIDE.to_dict("records"))
        assert all(from_scores(source, **KEPT) == from_scores(WIDE, **KEPT) for source in sources)

    def test_other_names(self):
        renamed = LONG.rename(columns={"system": "model", "score": "bleu"})
        scores = SystemScores.from_long(renamed, system="model", score="bleu", instance="doc")
        assert from_scores(scores, **KEPT) == from_scores(INSTANCES, **KEPT)

    def test_systems_called_by_numbers_are_sorted_as_numbers(self):
        long = pd.DataFrame({"system": [10, 9, 2] * 2, "score": [1, 2, 3, 4, 5, 5], "instance": [1] * 3 + [2] * 3})
        c = from_scores(long)
        assert c.objects == (2, 9, 10)
        assert rows(c) == [[2, 9, 1, 1, 0], [2, 10, 2, 0, 0], [9, 10, 2, 0, 0]]

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
    @pytest.mark.parametrize("threshold", [0, 0.01, 0.02, 0.5])
    @pytest.mark.parametrize("higher", [True, False], ids=["higher", "lower"])
    def test_explicit_loops(self, seed, relative, threshold, higher):
        frame = drawn(seed)
        scores = SystemScores.from_wide(
            frame, others="length", tie_threshold=threshold, relative=relative, higher_is_better=higher
        )
        c = from_scores(scores)
        assert rows(c) == looped(frame, threshold, relative, higher)

    @pytest.mark.parametrize("threshold", [0, 0.01, 0.03])
    @pytest.mark.parametrize(
        "kept",
        [
            {},
            {"covariates": "domain"},
            {"covariates": ("domain", "length"), "clusters": "instance"},
            {"clusters": ("instance", "domain"), "covariates": "length"},
        ],
        ids=["plain", "covariate", "covariates and cluster", "clusters"],
    )
    def test_ratings_in_blocks_are_the_same_table(self, threshold, kept):
        frame = drawn(7)
        rated = from_ratings(melted(frame), object="system", rating="score", block="instance", **kept)
        by_ratings = rated.to_comparisons(tie_threshold=threshold)
        long = SystemScores.from_long(melted(frame), tie_threshold=threshold)
        wide = SystemScores.from_wide(frame, others="length", tie_threshold=threshold)
        assert from_scores(long, **kept) == from_scores(wide, **kept) == by_ratings

    def test_many_instances_are_counted_in_parts(self, monkeypatch):
        frame = drawn(3)
        whole = from_scores(frame, covariates=("domain", "length"))
        monkeypatch.setattr("llbt.data.system_scores._ENTRIES", 50)  # one other system at a time
        assert from_scores(frame, covariates=("domain", "length")) == whole

    def test_order_of_rows_and_columns_does_not_matter(self):
        frame = drawn(5)
        turned = frame[frame.columns[::-1]].sample(frac=1, random_state=2)
        kept = {"covariates": ("domain", "length"), "clusters": "instance"}
        assert from_scores(turned, **kept) == from_scores(frame, **kept)

    def test_the_callers_frame_is_left_alone(self):
        before = WIDE.copy()
        from_scores(SystemScores.from_wide(WIDE, SYSTEMS), clusters="instance")
        pd.testing.assert_frame_equal(WIDE, before)


class TestTies:
    @pytest.mark.parametrize(
        ("a", "b", "options", "expected"),
        [
            (0.8, 0.7, {"tie_threshold": 0.1}, [0, 1, 0]),  # 0.8 − 0.7 > 0.1 in floats
            (0.8, 0.7, {"tie_threshold": 0.0999}, [1, 0, 0]),
            (0.1 + 0.2, 0.3, {}, [0, 1, 0]),
            (1e-20, 2e-20, {}, [0, 0, 1]),
            (100.0, 90.0, {"tie_threshold": 0.1, "relative": True}, [0, 1, 0]),
            (100.0, 89.9, {"tie_threshold": 0.1, "relative": True}, [1, 0, 0]),
            (-100.0, -90.0, {"tie_threshold": 0.1, "relative": True}, [0, 1, 0]),
            (-1.0, 1.0, {"tie_threshold": 1.9, "relative": True}, [0, 0, 1]),
            (0.0, 0.0, {"relative": True}, [0, 1, 0]),
            (1e308, -1e308, {}, [1, 0, 0]),
            (2.0, 1.0, {"higher_is_better": False}, [0, 0, 1]),
        ],
    )
    def test_threshold(self, a, b, options, expected):
        scores = SystemScores.from_wide(pd.DataFrame({"A": [a], "B": [b]}), **options)
        assert rows(from_scores(scores)) == [["A", "B", *expected]]

    def test_no_ties_no_tie_category(self):
        assert not from_scores(pd.DataFrame({"A": [1.0, 2.0], "B": [2.0, 1.0]})).has_ties


class TestKept:
    def test_counts_by_combination_of_levels(self):
        c = from_scores(OF_SYSTEMS, covariates=("domain", "length"))
        assert rows(c) == [
            ["A", "B", "news", 1.5, 2, 0, 0],
            ["A", "B", "talk", 2.5, 0, 0, 1],
            ["A", "C", "news", 1.5, 2, 0, 0],
            ["B", "C", "news", 1.5, 1, 1, 0],
        ]
        assert [column.numeric for column in c.columns] == [False, True]

    def test_whole_numbers_are_labels_unless_numeric(self):
        frame = WIDE.assign(size=[1, 2, 2, 1])[[*SYSTEMS, "size"]]
        assert not from_scores(frame, covariates="size").columns[0].numeric
        by_number = from_scores(frame, numeric="size")
        assert by_number.columns[0].numeric
        assert by_number == from_scores(frame, covariates="size", numeric="size")

    def test_the_instance_as_cluster(self):
        by_row = from_scores(OF_SYSTEMS, clusters="instance")
        by_name = from_scores(BY_DOC, clusters="doc")
        assert rows(by_row) == rows(by_name) == PLAIN
        assert by_row.to_frame(clusters=True)["instance"].tolist() == [0, 1, 2, 0, 1, 0, 1]
        assert by_name.to_frame(clusters=True)["doc"].tolist() == ["d1", "d2", "d3", "d1", "d2", "d1", "d2"]

    def test_object_covariates(self):
        table = pd.DataFrame({"object": SYSTEMS, "size": [1, 2, 3], "kind": list("xyx")})
        c = from_scores(OF_SYSTEMS, object_covariates=table, numeric="size")
        assert c.object_covariates == ("size", "kind")
        assert c.object_columns[0].numeric
        assert c.covariates == ()

    def test_a_model_by_domain_is_one_model_for_each_domain(self):
        frame = drawn(11, n_instances=200, missing=0.0).drop(columns="length")
        c = from_scores(frame, covariates="domain").drop_ties()
        apart = [
            fit("object", from_scores(part.drop(columns="domain")).drop_ties()) for _, part in frame.groupby("domain")
        ]
        together = fit("object + object:domain", c)
        assert together.deviance == pytest.approx(sum(res.deviance for res in apart), rel=1e-9)
        assert together.params["object[s0]"] == pytest.approx(apart[0].params["object[s0]"], rel=1e-8)

    def test_cluster_errors_see_that_instances_that_stand_there_twice_are_no_new_ones(self):
        frame = drawn(13, missing=0.0).drop(columns=["domain", "length"])
        twice = pd.concat([frame, frame.assign(instance=frame["instance"] + "'")], ignore_index=True)
        same = twice.assign(source=[*frame["instance"]] * 2)
        once = fit("object + tie", from_scores(frame, clusters="instance"), cov_type="cluster", groups="instance")
        again = fit("object + tie", from_scores(same, clusters="source"), cov_type="cluster", groups="source")
        np.testing.assert_allclose(again.bse, once.bse, rtol=1e-8)
        np.testing.assert_allclose(again.params, once.params, rtol=1e-8)


class TestNotes:
    share = (
        "Judgments on one instance share their scores and are not independent: standard errors and tests of a plain "
        "fit are not right. "
    )

    def test_what_was_read_and_missing(self):
        c = from_scores(BY_DOC)
        assert c.notes == (
            "7 judgments implied by the scores of 3 systems on 3 instances",
            "left out: 1 instance with fewer than two scores",
            "3 scores missing: 3 pairs of 3 without some of the 4 instances (how many: 'A and C: 2', 'B and C: 2', "
            "'A and B: 1')",
            self.share + "Keep clusters='doc' and fit with cov_type='cluster', groups='doc'.",
            "columns not used: 'domain', 'length'",
        )

    def test_the_advice_can_be_followed(self):
        c = from_scores(WIDE[SYSTEMS], clusters="instance")
        assert c.notes[-1] == self.share + "Fit with cov_type='cluster', groups='instance'."

    def test_two_systems_are_one_judgment_an_instance(self):
        notes = from_scores(WIDE[["A", "B"]].dropna()).notes
        assert notes == ("3 judgments implied by the scores of 2 systems on 3 instances",)

    def test_a_system_that_meets_no_other_is_named(self):
        frame = pd.DataFrame({"A": [1.0, 2.0, np.nan], "B": [2.0, 1.0, np.nan], "C": [np.nan, np.nan, 1.0]})
        c = from_scores(frame)
        assert c.objects == ("A", "B")
        assert any("'A and C: 3', 'B and C: 3', 'A and B: 1'" in note for note in c.notes)

    def test_notes_of_the_object_table_follow(self):
        table = pd.DataFrame({"object": [*SYSTEMS, "Z"], "price": 1.0})
        notes = from_scores(WIDE[SYSTEMS], object_covariates=table).notes
        assert notes[-1] == "1 object of the object table not compared: 'Z'"


class TestReader:
    def test_long_and_wide_are_one_matrix(self):
        wide = SystemScores.from_wide(WIDE, instance="doc", others=("domain", "length"))
        long = SystemScores.from_long(LONG, instance="doc")
        assert wide.systems == long.systems == ("A", "B", "C")
        assert wide.instances == long.instances == ("d1", "d2", "d3", "d4")
        np.testing.assert_array_equal(wide.values, long.values)
        np.testing.assert_array_equal(wide.values, WIDE[SYSTEMS].to_numpy().T)
        kept = [instance_columns(scores, ("domain", "length")) for scores in (wide, long)]
        pd.testing.assert_frame_equal(*kept)
        pd.testing.assert_frame_equal(kept[0], WIDE[["domain", "length"]])

    def test_covariates_of_a_long_frame_are_those_of_the_first_row_of_each_instance(self):
        shuffled = LONG.sample(frac=1, random_state=3)
        known = SystemScores.from_long(shuffled, instance="doc")
        expected = WIDE.set_index("doc")["domain"].loc[list(known.instances)]
        assert instance_columns(known, ("domain",))["domain"].tolist() == expected.tolist()

    def test_labels_are_plain(self):
        long = pd.DataFrame({"system": [2.0, 10.0], "score": [1, 2], "instance": np.array([7, 7])})
        known = as_scores(long)
        assert (known.systems, known.instances) == ((2, 10), (7,))
        assert {type(label) for label in (*known.systems, *known.instances)} == {int}

    def test_the_row_is_the_instance_where_no_column_says(self):
        assert as_scores(WIDE[SYSTEMS]).instances == (0, 1, 2, 3)
        assert instance_columns(as_scores(WIDE[SYSTEMS]), ("instance",))["instance"].tolist() == [0, 1, 2, 3]

    def test_a_column_is_unused_until_something_is_asked_of_it(self):
        assert OF_SYSTEMS.notes_beside() == ("columns not used: 'doc', 'domain', 'length'",)
        assert from_scores(OF_SYSTEMS, covariates=("doc", "domain")).notes[-1] == "columns not used: 'length'"
        assert from_scores(OF_SYSTEMS, covariates="domain").unkept == ("doc", "length")

    def test_a_change_of_the_callers_frame_afterwards_changes_nothing(self):
        frame = WIDE.copy()
        scores = SystemScores.from_wide(frame, SYSTEMS)
        before = from_scores(scores, covariates="domain")
        frame[["A", "domain"]] = [0.0, "none"]
        assert from_scores(scores, covariates="domain") == before

    def test_the_record_tells_of_each_system(self):
        found = OF_SYSTEMS.to_frame().set_index("object")
        expected = WIDE[SYSTEMS].agg(["mean", "median", "std", "count"]).T
        np.testing.assert_allclose(found[["mean", "median", "sd", "n"]], expected, rtol=1e-12)
        assert found["missing"].tolist() == [1, 1, 1]
        again = pickle.loads(pickle.dumps(OF_SYSTEMS))
        assert (again.as_text(), from_scores(again)) == (OF_SYSTEMS.as_text(), from_scores(OF_SYSTEMS))


def with_value(frame, row, name, value):
    changed = frame.copy()
    if value is None or isinstance(value, str):
        changed[name] = changed[name].astype(object)
    changed.loc[row, name] = value
    return changed


BAD = [
    (WIDE.iloc[:0], {}, JudgmentError, "the frame: no rows"),
    (WIDE.to_dict(), {}, JudgmentError, "the frame is of type dict"),
    (
        WIDE[["A", "domain"]],
        {},
        JudgmentError,
        "1 column of scores ('A') among 'A', 'domain': one system, and nothing to compare it with; expected a column",
    ),
    (INSTANCES, {"covariates": "score"}, JudgmentError, "column 'score' holds scores or systems"),
    (OF_SYSTEMS, {"covariates": "A"}, JudgmentError, "column 'A' holds scores or systems and is also named"),
    (WIDE, {"covariates": "judge"}, JudgmentError, "no column 'judge'"),
    (OF_SYSTEMS, {"clusters": "judge"}, JudgmentError, "no column 'judge'"),
    (WIDE, {"covariates": 3}, OptionError, "covariates=3; expected the name of a column"),
    (
        WIDE,
        {"covariates": "domain", "clusters": "domain"},
        JudgmentError,
        "column 'domain' is named twice in covariates=, numeric= and clusters=; expected each column once, as a ",
    ),
    (WIDE, {"covariates": ("domain", "domain")}, JudgmentError, "column 'domain' is named twice in covariates="),
    (
        WIDE.rename(columns={"domain": "tie"}),
        {"covariates": "tie"},
        JudgmentError,
        "column 'tie' (covariates=) has a name that llbt",
    ),
    (
        with_value(WIDE, 2, "A", math.inf),
        {},
        JudgmentError,
        "column 'A': 1 infinite score, the first at row 2; expected finite numbers",
    ),
    (
        with_value(WIDE, 1, "domain", None),
        {"covariates": "domain"},
        JudgmentError,
        "1 value missing, the first for instance 1; expected a value",
    ),
    (
        with_value(INSTANCES, slice(None), "length", math.inf),
        {"covariates": "length"},
        JudgmentError,
        "4 values not a finite number",
    ),
    (
        WIDE,
        {"covariates": "domain", "numeric": "domain"},
        JudgmentError,
        "4 values not a finite number, the first for instance 0",
    ),
    (LONG.drop(columns=["doc", "domain", "length"]), {}, JudgmentError, "no column says which item a score is of"),
    (
        with_value(INSTANCES, 11, "domain", "web"),
        {"covariates": "domain"},
        JudgmentError,
        "covariate 'domain' is 'web' in row 11 and 'talk' before for the same instance; expected one value for each",
    ),
    (
        pd.DataFrame({"A": [1.0, np.nan], "B": [np.nan, 1.0]}),
        {},
        JudgmentError,
        "from_scores: no instance has two scores: 2 scores of 2 systems on 2 instances; a comparison needs two",
    ),
    (
        OF_SYSTEMS,
        {"object_covariates": pd.DataFrame({"object": ["A"], "x": [1]})},
        JudgmentError,
        "has no row for 2 objects: 'B', 'C'",
    ),
]


@pytest.mark.parametrize(("frame", "options", "error", "fragment"), BAD, ids=range(len(BAD)))
def test_bad_input(frame, options, error, fragment):
    with pytest.raises(error) as caught:
        from_scores(frame, **options)
    assert fragment in str(caught.value)


DOC = {"instance": "doc"}
BAD_WIDE = [
    (WIDE, {"tie_threshold": -1}, OptionError, "from_wide: tie_threshold=-1; expected a finite number, at least 0"),
    (WIDE, {"tie_threshold": math.nan}, OptionError, "tie_threshold=nan"),
    (WIDE, {"tie_threshold": "0.1"}, OptionError, "tie_threshold='0.1'"),
    (WIDE, {"relative": 1}, OptionError, "relative=1"),
    (WIDE, {"higher_is_better": "no"}, OptionError, "higher_is_better='no'"),
    (WIDE, {"systems": []}, JudgmentError, "0 columns of scores"),
    (WIDE, {"systems": ["A"]}, JudgmentError, "1 column of scores"),
    (WIDE, {"systems": "A"}, JudgmentError, "1 column of scores"),
    (WIDE, {"systems": ["A", "D"]}, JudgmentError, "SystemScores.from_wide: no column 'D'; expected some of"),
    (WIDE, {"systems": ["A", "A"]}, JudgmentError, "systems=: 'A' occurs twice (1 repeat); expected each once"),
    (WIDE, {"systems": ["A", "domain"]}, JudgmentError, "column 'domain'"),
    (
        WIDE,
        {"systems": ["A", "B"], "others": "A"},
        JudgmentError,
        "column 'A' holds scores or systems and is also named",
    ),
    (WIDE, {"systems": ["A", "B"], "instance": "A"}, JudgmentError, "column 'A' holds scores or systems"),
    (WIDE, {"instance": "seg"}, JudgmentError, "no column 'seg'"),
    (WIDE, {"others": 3}, OptionError, "others=3; expected a text, one name, or a list of names"),
    (
        pd.concat([WIDE, WIDE]),
        DOC,
        JudgmentError,
        "'d1' occurs twice (4 repeats); expected one row each: select one metric first",
    ),
    (with_value(WIDE, 1, "doc", None), DOC, JudgmentError, "column 'doc': 1 missing value, the first at row 1"),
]
BAD_LONG = [
    (LONG, {**DOC, "system": "model"}, JudgmentError, "SystemScores.from_long: no column 'model'"),
    (LONG, {**DOC, "score": "bleu"}, JudgmentError, "no column 'bleu'"),
    (
        LONG,
        {},
        JudgmentError,
        "which instance a score belongs to; it has 'doc', 'domain', 'length', 'system', 'score'. Name it",
    ),
    (LONG, {"instance": "score"}, JudgmentError, "column 'score' holds scores or systems"),
    (LONG[LONG["system"] == "A"], DOC, JudgmentError, "column 'system' names 1 system; expected at least two"),
    (with_value(LONG, 3, "system", None), DOC, JudgmentError, "column 'system': 1 missing value, the first at row 3"),
    (with_value(LONG, 2, "doc", None), DOC, JudgmentError, "column 'doc': 1 missing value, the first at row 2"),
    (
        with_value(LONG, 4, "score", "high"),
        DOC,
        JudgmentError,
        "column 'score' (object) holds no numbers; expected scores",
    ),
    (LONG.assign(score="high"), DOC, JudgmentError, "holds no numbers; expected scores"),
    (
        with_value(LONG, 5, "score", -math.inf),
        DOC,
        JudgmentError,
        "column 'score': 1 infinite score, the first at row 5",
    ),
    (
        pd.concat([LONG, LONG.iloc[[2]]], ignore_index=True),
        DOC,
        JudgmentError,
        "row 12 scores 'A' on 'd3' again (1 repeated row)",
    ),
    (pd.concat([LONG, LONG.iloc[[8]]], ignore_index=True), DOC, JudgmentError, "row 12 scores 'C' on 'd1' again"),
]
LAYOUTS = [
    *((SystemScores.from_wide, *case) for case in BAD_WIDE),
    *((SystemScores.from_long, *case) for case in BAD_LONG),
]


@pytest.mark.parametrize(("made", "frame", "options", "error", "fragment"), LAYOUTS, ids=range(len(LAYOUTS)))
def test_bad_layouts(made, frame, options, error, fragment):
    with pytest.raises(error) as caught:
        made(frame, **options)
    assert fragment in str(caught.value)


@pytest.mark.slow
def test_sixty_systems_on_ten_thousand_instances_take_seconds_at_most():
    """0.3 s on two cores; the bound leaves room for slower and busy machines."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(10_000, 60)), columns=[f"s{k:02}" for k in range(60)])
    start = time.perf_counter()
    c = from_scores(SystemScores.from_wide(frame, tie_threshold=0.1))
    assert time.perf_counter() - start < 4
    assert c.n_judgments == 60 * 59 / 2 * 10_000


@pytest.mark.parametrize("door", [llbt.from_scores, llbt.scores.pairwise, llbt.scores.aggregate])
def test_complex_scores_are_refused(door):
    """Their imaginary part was lost, under a warning of numpy's."""
    wide = pd.DataFrame({"A": [1 + 1j, 2, 3], "B": [2.0, 1, 1], "C": [1.0, 2, 3]})
    with pytest.raises(JudgmentError, match=r"column 'A' \(complex128\) holds no numbers; expected scores"):
        door(wide)
    long = pd.DataFrame({"system": list("aabb"), "instance": [1, 2, 1, 2], "score": [1j, 2, 3, 4]})
    with pytest.raises(JudgmentError, match="holds no numbers"):
        door(long)
    metric = long.rename(columns={"instance": "input", "score": "bleu"}).assign(human=1.0)
    with pytest.raises(JudgmentError, match="values of type complex128, not numbers"):
        llbt.metrics.MetricScores.from_frame(metric)


@pytest.mark.parametrize(("name", "column"), [("length", [0.3, 0.2, 0.1]), ("C", [0.3, "x", 0.1])])
def test_what_from_wide_proposes_are_its_own_arguments(name, column):
    frame = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.2, 0.1, 0.4], name: column})
    with pytest.raises(JudgmentError) as refused:
        SystemScores.from_wide(frame)
    ways = arguments(refused.value.remedy)
    assert ways[0] == {"others": [name]}
    for way in ways:
        assert SystemScores.from_wide(frame, **way).systems == tuple(way.get("systems", "AB"))
