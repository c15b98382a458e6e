"""Rankings as lists, and each object of a list against each other one."""

import itertools
import math

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llbt.data.rankings import from_rankings
from llbt.data.ratings import from_ratings
from llbt.data.table_readers import from_judgments
from llbt.errors import JudgmentError, OptionError
from llbt.fitting.fit import fit

WIDE = pd.DataFrame(
    {
        "A": [1, 2, 1, None, None],
        "B": [2, 1, 1, 1.5, None],
        "C": [3, 3, None, 7.25, None],
        "D": [4, None, None, None, 1],
        "judge": ["J1", "J1", "J2", "J2", "J3"],
        "prompt": [1, 2, 1, 2, 1],
        "age": [20.5, 20.5, 31.0, 31.0, 40.0],
    }
)
LABELS = list("ABCD")
LONG = WIDE.melt(["judge", "prompt", "age"], LABELS, var_name="object", value_name="rank")
BLOCK = {"judge": "judge", "prompt": "prompt"}
PLAIN = [
    ["A", "B", 1, 1, 1],
    ["A", "C", 2, 0, 0],
    ["A", "D", 1, 0, 0],
    ["B", "C", 3, 0, 0],
    ["B", "D", 1, 0, 0],
    ["C", "D", 1, 0, 0],
]


def pairs_of(frame, **options):
    """Read rankings and make comparisons of them."""
    return from_rankings(frame, **options).to_comparisons()


def rows(c, **options):
    return c.to_frame(**options).to_numpy().tolist()


class TestRankings:
    @pytest.mark.parametrize("frame", [LONG, LONG.dropna()], ids=["missing ranks", "no rows for them"])
    def test_long(self, frame):
        c = pairs_of(frame, **BLOCK)
        assert rows(c) == PLAIN
        assert (c.has_ties, c.keeps_order, c.unkept) == (True, False, ("age",))

    def test_wide(self):
        c = pairs_of(WIDE, objects=LABELS)
        assert rows(c) == PLAIN
        assert c.unkept == ("judge", "prompt", "age")

    def test_per_judge(self):
        c = pairs_of(LONG, **BLOCK, covariates="judge")
        assert rows(c) == [
            ["A", "B", "J1", 1, 0, 1],
            ["A", "B", "J2", 0, 1, 0],
            ["A", "C", "J1", 2, 0, 0],
            ["A", "D", "J1", 1, 0, 0],
            ["B", "C", "J1", 2, 0, 0],
            ["B", "C", "J2", 1, 0, 0],
            ["B", "D", "J1", 1, 0, 0],
            ["C", "D", "J1", 1, 0, 0],
        ]

    def test_long_and_wide_agree_with_all_that_is_kept(self):
        table = pd.DataFrame({"object": LABELS, "price": [1.0, 2.0, 3.0, 4.0]})
        kept = {"covariates": "age", "numeric": "prompt", "clusters": "judge", "object_covariates": table}
        long, wide = pairs_of(LONG, **BLOCK, **kept), pairs_of(WIDE, objects=LABELS, **kept)
        assert long == wide
        assert (long.covariates, long.clusters, long.object_covariates) == (("age", "prompt"), ("judge",), ("price",))
        assert [column.numeric for column in long.columns] == [True, True]
        assert long.notes[1:] == wide.notes[1:]

    def test_other_names_and_numeric_object_covariates(self):
        renamed = LONG.rename(columns={"object": "system", "rank": "place", "judge": "worker", "prompt": "item"})
        table = pd.DataFrame({"object": LABELS, "size": [1, 2, 3, 4]})
        c = pairs_of(
            renamed,
            object="system",
            rank="place",
            judge="worker",
            prompt="item",
            object_covariates=table,
            numeric="size",
        )
        assert rows(c) == PLAIN
        assert c.object_columns[0].numeric

    def test_only_the_order_of_the_ranks_counts(self):
        stretched = LONG.assign(rank=np.exp(5 * LONG["rank"]) - 100)
        assert pairs_of(stretched, **BLOCK) == pairs_of(LONG, **BLOCK)
        close = pd.DataFrame({"A": [1e15], "B": [1e15 + 1]})
        assert rows(pairs_of(close, objects=["A", "B"])) == [["A", "B", 1, 0, 0]]

    def test_what_makes_a_block(self):
        by_block = pairs_of(LONG, block=["prompt", "judge"])
        assert by_block == pairs_of(LONG, **BLOCK)
        numbered = LONG.assign(ranking=LONG["judge"] + LONG["prompt"].astype(str))
        assert pairs_of(numbered, block="ranking") == by_block
        one_prompt = LONG[LONG["prompt"] == 1]
        assert pairs_of(one_prompt, judge="judge") == pairs_of(one_prompt, **BLOCK)

    @pytest.mark.parametrize("unranked", [-1, [-1], (-1, 99), {-1}])
    def test_unranked(self, unranked):
        assert pairs_of(WIDE.fillna(-1), objects=LABELS, missing=unranked) == pairs_of(WIDE, objects=LABELS)
        assert pairs_of(LONG.fillna({"rank": -1}), **BLOCK, missing=unranked) == pairs_of(LONG, **BLOCK)

    def test_unranked_as_text(self):
        dashed = WIDE[LABELS].astype(object).where(WIDE[LABELS].notna(), "-")
        assert pairs_of(dashed, objects=LABELS, missing="-") == pairs_of(WIDE, objects=LABELS)

    def test_undeclared_negative_ranks_are_refused_and_the_remedy_works(self):
        with pytest.raises(JudgmentError, match="8 ranks below 0, such as -1, beside ranks above 0") as refused:
            pairs_of(WIDE.fillna(-1), objects=LABELS)
        assert "pass missing=-1." in str(refused.value)
        assert rows(pairs_of(WIDE.fillna(-1), objects=LABELS, missing=-1)) == PLAIN

    def test_whole_objects_of_any_type(self):
        frame = pd.DataFrame({"object": [10.0, 9.0, 2.0], "rank": [1, 2, 2], "judge": 1})
        assert rows(pairs_of(frame, judge="judge")) == [[2, 9, 0, 1, 0], [2, 10, 0, 0, 1], [9, 10, 0, 0, 1]]

    def test_objects_may_be_named_like_outcomes(self):
        frame = pd.DataFrame({"i": [2, 1], "j": [1, 1], "tie": [3, 3]})
        assert rows(pairs_of(frame, objects=["i", "j", "tie"])) == [
            ["i", "j", 0, 1, 1],
            ["i", "tie", 2, 0, 0],
            ["j", "tie", 2, 0, 0],
        ]


class TestNotes:
    lost = (
        "Judgments implied by one list are not independent: standard errors and tests of a plain fit are too "
        "optimistic. Fit the lists, llbt.fit(formula, rankings); or "
    )
    kept = "pass clusters={0!r} when you read the lists, and fit the comparisons with cov_type='cluster', groups={0!r}."

    def test_what_was_read_and_left_out(self):
        c = pairs_of(WIDE, objects=LABELS)
        assert c.notes == (
            "8 ranks missing: the ranks of these objects in these lists are unknown",
            "columns not used: 'judge', 'prompt', 'age'",
            "left out: 1 list of a single object",
            "11 judgments implied by 4 lists: higher beats lower, shared places are ties",
            self.lost + self.kept.format("block"),
        )

    def test_an_object_never_ranked_is_named(self):
        c = pairs_of(WIDE.assign(E=math.nan), objects=[*LABELS, "E"])
        assert c.objects == tuple(LABELS)
        assert "left out: 1 object without a rank ('E')" in c.notes
        only_alone = pairs_of(WIDE.iloc[1:], objects=LABELS)
        assert "1 object left without lists: 'D'" in only_alone.notes

    @pytest.mark.parametrize(
        ("options", "advice"),
        [
            (BLOCK, kept.format("judge")),
            ({**BLOCK, "clusters": "judge"}, "fit the comparisons with cov_type='cluster', groups='judge'."),
            ({**BLOCK, "covariates": "judge"}, "fit the comparisons with cov_type='cluster', groups='judge'."),
            ({**BLOCK, "clusters": "block"}, "fit the comparisons with cov_type='cluster', groups='block'."),
            ({"block": "ranking"}, kept.format("ranking")),
            ({"block": ["judge", "prompt"]}, kept.format("block")),
        ],
    )
    def test_the_advice_can_be_followed(self, options, advice):
        frame = LONG.assign(ranking=LONG["judge"] + LONG["prompt"].astype(str))
        assert self.lost + advice in pairs_of(frame, **options).notes

    def test_pairs_alone_are_independent(self):
        notes = pairs_of(WIDE.iloc[2:3], objects=["A", "B"]).notes
        unused = "columns not used: 'C', 'D', 'judge', 'prompt', 'age'"
        assert notes[0] == unused
        assert notes[1].startswith("1 judgment implied by 1 list: ")
        assert len(notes) == 2

    def test_notes_of_the_object_table_follow(self):
        table = pd.DataFrame({"object": [*LABELS, "Z"], "price": 1.0})
        notes = pairs_of(WIDE, objects=LABELS, object_covariates=table).notes
        assert "1 object of the object table not compared: 'Z'" in notes


class TestClusters:
    def test_the_block_of_a_wide_frame_is_its_row(self):
        c = pairs_of(WIDE, objects=LABELS, clusters=("block", "judge"))
        kept = c.to_frame(clusters=True)
        assert sorted(set(zip(kept["block"], kept["judge"], strict=True))) == [
            (0, "J1"),
            (1, "J1"),
            (2, "J2"),
            (3, "J2"),
        ]
        assert kept.groupby("block")[["wins_i", "ties", "wins_j"]].sum().sum(axis=1).to_dict() == {
            0: 6,
            1: 3,
            2: 1,
            3: 1,
        }

    def test_the_block_of_a_long_frame_is_its_label(self):
        kept = pairs_of(LONG, **BLOCK, clusters="block").to_frame(clusters=True)
        assert set(kept["block"]) == {"('J1', 1)", "('J1', 2)", "('J2', 1)", "('J2', 2)"}
        one = pairs_of(LONG[LONG["prompt"] == 2], judge="judge", clusters="block").to_frame(clusters=True)
        assert set(one["block"]) == {"J1", "J2"}
        named = pairs_of(LONG.assign(block=LONG["prompt"] * 10).query("judge == 'J1'"), block="block", clusters="block")
        assert set(named.to_frame(clusters=True)["block"]) == {10, 20}

    def test_a_covariate_may_be_called_block_where_it_means_itself(self):
        c = pairs_of(WIDE.assign(block="x"), objects=LABELS, covariates="block")
        assert c.columns[0].levels.tolist() == ["x"]

    @pytest.mark.filterwarnings("ignore::llbt.errors.ClusterWarning")
    @pytest.mark.parametrize("k", [3, 4])
    def test_cluster_errors_see_that_a_ranking_is_one_judgment(self, k):
        # All k! rankings: worths are equal, and the variance of a rank, (k² − 1)/12, is (k + 1)/3 times the
        # (k − 1)/4 of as many independent judgments; llbt's factor for few clusters is G/(G − 1).
        labels = LABELS[:k]
        frame = pd.DataFrame(list(itertools.permutations(range(1, k + 1))), columns=labels)
        c = pairs_of(frame, objects=labels, clusters="block")
        plain, robust = fit("object", c), fit("object", c, cov_type="cluster", groups="block")
        size = math.factorial(k)
        np.testing.assert_allclose(plain.params, 0, atol=1e-12)
        np.testing.assert_allclose((robust.bse / plain.bse) ** 2, (k + 1) / 3 * size / (size - 1), rtol=1e-9)


def twice(frame, row):
    return pd.concat([frame, frame.iloc[[row]]], ignore_index=True)


WITHOUT = LONG.drop(columns=["judge"])
BAD_RANKINGS = [
    (LONG.iloc[:0], BLOCK, JudgmentError, "the frame: no rows"),
    (LONG.to_dict(), BLOCK, JudgmentError, "the frame is of type dict; expected a frame of pandas, polars"),
    (LONG, {"object": "object", "rank": "age"}, OptionError, "no column says which rows belong together. Pass judge="),
    (LONG, {"block": ()}, OptionError, "no column says which rows belong together"),
    (
        LONG,
        {**BLOCK, "block": "age"},
        OptionError,
        "judge= and prompt= and block=: block= replaces judge= and prompt=",
    ),
    (
        WIDE,
        {"objects": LABELS, "judge": "judge"},
        OptionError,
        "judge= beside objects=: in the wide form every row is a block",
    ),
    (
        LONG,
        {**BLOCK, "rank": "place"},
        JudgmentError,
        "the frame has no column 'place' (rank=); it has 'judge', 'prompt'",
    ),
    (WIDE, {"objects": [*LABELS, "E"]}, JudgmentError, "the frame has no column 'E' (objects=)"),
    (WITHOUT, BLOCK, JudgmentError, "the frame has no column 'judge' (judge=)"),
    (LONG, {**BLOCK, "covariates": "size"}, JudgmentError, "the frame has no column 'size' (covariates=)"),
    (LONG, {**BLOCK, "numeric": "size"}, JudgmentError, "the frame has no column 'size' (numeric=)"),
    (LONG, {**BLOCK, "clusters": "worker"}, JudgmentError, "the frame has no column 'worker' (clusters=)"),
    (LONG, {**BLOCK, "rank": None}, OptionError, "rank=None; expected the name of a column or several names"),
    (LONG, {**BLOCK, "covariates": 3}, OptionError, "covariates=3; expected the name of a column"),
    (LONG, {**BLOCK, "rank": "object"}, OptionError, "column 'object' is named in object= and rank="),
    (LONG, {**BLOCK, "covariates": "rank"}, OptionError, "column 'rank' is named in rank= and covariates="),
    (LONG, {"judge": "judge", "prompt": "judge"}, OptionError, "column 'judge' is named in judge= and prompt="),
    (LONG, {"block": ("judge", "judge")}, OptionError, "column 'judge' is named in block=, twice"),
    (
        LONG,
        {**BLOCK, "covariates": "judge", "clusters": "judge"},
        OptionError,
        "'judge' is named in covariates= and clusters=",
    ),
    (
        WIDE,
        {"objects": ["A"]},
        OptionError,
        "objects=['A']; expected at least two columns, each named after its object",
    ),
    (WIDE, {"objects": []}, OptionError, "objects=[]; expected at least two columns"),
    (WIDE, {"objects": ["A", "A"]}, OptionError, "column 'A' is named in objects=, twice"),
    (WIDE, {"objects": LABELS, "clusters": "A"}, OptionError, "column 'A' is named in objects= and clusters="),
    (
        WIDE.assign(tie=1),
        {"objects": LABELS, "covariates": "tie"},
        JudgmentError,
        "column 'tie' (covariates=) has a name that llbt",
    ),
    (
        WIDE.assign(block=1),
        {"objects": LABELS, "clusters": "block"},
        JudgmentError,
        "clusters='block' keeps the block as a cluster, but the frame has another column 'block'",
    ),
    (
        twice(LONG, 2),
        BLOCK,
        JudgmentError,
        "1 object repeated within a block, the first at row 20: 'A' in judge='J2', prompt=1, as "
        "at row 2; expected every object once per block. Pass block=",
    ),
    (
        LONG,
        {"judge": "judge"},
        JudgmentError,
        "4 objects repeated within a block, the first at row 1: 'A' in",
    ),
    (
        LONG.assign(object=LONG["object"].where(LONG.index != 7)),
        BLOCK,
        JudgmentError,
        "column 'object': 1 missing value, the first at row 7",
    ),
    (
        LONG.assign(judge=LONG["judge"].where(LONG.index < 9)),
        BLOCK,
        JudgmentError,
        "column 'judge': 11 missing values, the first at row 9",
    ),
    (
        LONG.assign(rank="1.0"),
        BLOCK,
        JudgmentError,
        "column 'rank': 20 values not a number, the first at row 0 ('1.0')",
    ),
    (LONG.assign(rank=[[1]] * 20), BLOCK, JudgmentError, "column 'rank': 20 values not a number"),
    (LONG.assign(rank=pd.Timestamp("2020-01-01")), BLOCK, JudgmentError, "column 'rank': 20 values not a number"),
    (LONG.assign(judge=[[1]] * 20), BLOCK, JudgmentError, "column 'judge' holds values that cannot be told apart"),
    (
        LONG.assign(rank=[math.inf] * 2 + [1] * 18),
        BLOCK,
        JudgmentError,
        "column 'rank': 2 infinite values, the first at row 0 (inf)",
    ),
    (
        WIDE.assign(B=[1, 2, 3, math.inf, 5]),
        {"objects": LABELS},
        JudgmentError,
        "column 'B': 1 infinite value, the first at row 3",
    ),
    (
        LONG.assign(age=range(20)),
        {**BLOCK, "covariates": "age"},
        JudgmentError,
        "column 'age' (covariates=): several values in 5 blocks, the first judge='J1', prompt=1 (0 at row 0, 5 at row "
        "5); expected one value per block. Covariates of objects belong in object_covariates=.",
    ),
    (
        LONG.assign(day=range(20)),
        {**BLOCK, "clusters": "day"},
        JudgmentError,
        "column 'day' (clusters=): several values in 5 blocks",
    ),
    (
        WIDE.assign(age=[1, 2, None, 4, 5]),
        {"objects": LABELS, "covariates": "age"},
        JudgmentError,
        "column 'age': 1 missing value, the first at row 2",
    ),
    (
        WIDE.assign(age=["1", "2", "3", "old", "5"]),
        {"objects": LABELS, "numeric": "age"},
        JudgmentError,
        "column 'age': 1 value not a finite number, the first at row 3 ('old')",
    ),
    (LONG, {"block": ["judge", "prompt", "object"]}, OptionError, "column 'object' is named in object= and block="),
    (
        LONG[LONG["object"] == "A"],
        BLOCK,
        JudgmentError,
        "no list has two ranked objects: 3 ranks in 5 lists; expected two objects in a list. Check what makes a list "
        "(judge=, prompt=).",
    ),
    (
        WIDE.assign(B=-1),
        {"objects": ["B", "D"], "missing": -1},
        JudgmentError,
        "no list has two ranked objects: 2 ranks in 5 lists",
    ),
]


@pytest.mark.parametrize(("frame", "options", "error", "fragment"), BAD_RANKINGS)
def test_bad_rankings(frame, options, error, fragment):
    with pytest.raises(error) as caught:
        pairs_of(frame, **options)
    assert fragment in str(caught.value)


LIBRARIES = {
    "pandas": lambda frame: frame,
    "pandas, arrow types": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, nullable types": lambda frame: frame.convert_dtypes(),
    "pandas, objects": lambda frame: frame.astype(object),
    "pandas, another index": lambda frame: frame.set_index(pd.Index([7] * len(frame))),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "narwhals": nw.from_native,
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_frame_library_does_not_matter(library):
    extra = {"new": [True, False, True, False, True], "day": pd.Timestamp("2020-02-01"), "n": [1, 2, 3, 4, 5]}
    wide = WIDE.assign(**extra, D=pd.array([4, None, None, None, 1], dtype="Int64"))
    long = wide.melt(["judge", "prompt", "age", *extra], LABELS, var_name="object", value_name="rank")
    kept = {"covariates": ("age", "prompt", "new", "day"), "numeric": "n", "clusters": "judge"}
    expected = pairs_of(wide, objects=LABELS, **kept)
    assert [(column.name, column.numeric) for column in expected.columns] == [
        ("age", True), ("prompt", False), ("new", False), ("day", False), ("n", True)
    ]  # fmt: skip
    assert expected.columns[2].levels.tolist() == [False, True]
    assert expected.columns[3].levels.tolist() == ["2020-02-01"]
    assert pairs_of(LIBRARIES[library](wide), objects=LABELS, **kept) == expected
    assert pairs_of(LIBRARIES[library](long), **BLOCK, **kept) == expected


def test_the_frame_of_the_caller_is_left_alone():
    for frame, options in ((WIDE, {"objects": LABELS}), (LONG, BLOCK)):
        before = frame.copy(deep=True)
        pairs_of(frame, **options, covariates="age", clusters="block", missing=1)
        pd.testing.assert_frame_equal(frame, before)


# Up to five rankings of some of five objects with ties, with a judge each.
rankings = st.lists(
    st.tuples(st.lists(st.sampled_from([None, 1, 2, 3, 4]), min_size=5, max_size=5), st.sampled_from("uv")),
    min_size=1,
    max_size=5,
).filter(lambda some: any(sum(rank is not None for rank in ranks) > 1 for ranks, _ in some))


def wide_of(some, names="ABCDE"):
    frame = pd.DataFrame([ranks for ranks, _ in some], columns=list(names), dtype=float)
    return frame.assign(judge=[judge for _, judge in some], row=range(len(some)))


def long_of(wide):
    return wide.melt(["judge", "row"], list("ABCDE"), var_name="object", value_name="rank")


def one_by_one(wide, names, wins, **options):
    """Read a wide frame pair by pair, in plain Python."""
    said = []
    for record in wide.to_dict("records"):
        for a, b in itertools.combinations(names, 2):
            if not (math.isnan(record[a]) or math.isnan(record[b])):
                outcome = "i" if wins(record[a], record[b]) else "j" if wins(record[b], record[a]) else "tie"
                said.append({"object_i": a, "object_j": b, "outcome": outcome, **record})
    return from_judgments(pd.DataFrame(said), outcomes="slots", **options)


@pytest.mark.slow
@settings(max_examples=40)
@given(rankings, st.sampled_from([{}, {"covariates": "judge"}, {"clusters": "row"}]))
def test_a_plain_loop_finds_the_same(some, kept):
    wide = wide_of(some)
    expected = one_by_one(wide, "ABCDE", lambda a, b: a < b, **kept)
    assert pairs_of(wide, objects=list("ABCDE"), **kept) == expected
    assert pairs_of(long_of(wide), block="row", **kept) == expected
    by_threshold = one_by_one(wide, "ABCDE", lambda a, b: a - b > 1.5, **kept)
    rated = from_ratings(wide, objects=list("ABCDE"), **kept)
    assert rated.to_comparisons(tie_threshold=1.5) == by_threshold


def test_a_plain_loop_finds_the_same_in_large_blocks():
    rng = np.random.default_rng(1)
    names = [f"s{k}" for k in range(12)]
    ranks = rng.integers(1, 8, size=(60, 12)).astype(float)
    ranks[rng.random(ranks.shape) < 0.3] = math.nan
    wide = pd.DataFrame(ranks, columns=names).assign(judge=rng.integers(0, 5, 60))
    c = pairs_of(wide, objects=names, covariates="judge")
    assert c == one_by_one(wide, names, lambda a, b: a < b, covariates="judge")
    assert c.n_judgments == sum(math.comb(n, 2) for n in (~np.isnan(ranks)).sum(axis=1))


@settings(max_examples=40)
@given(rankings, st.randoms(use_true_random=False), st.permutations("ABCDE"))
@pytest.mark.slow
def test_order_of_rows_and_columns_does_not_matter(some, random, columns):
    wide = wide_of(some)
    long = long_of(wide)
    shuffled = long.loc[random.sample(list(long.index), len(long))]
    by_row = {"block": ["row", "judge"], "clusters": "block", "covariates": "judge"}
    c, d = pairs_of(long, **by_row), pairs_of(shuffled[["rank", "row", "judge", "object"]], **by_row)
    assert c == d
    assert c.notes == d.notes
    turned = pairs_of(wide[[*columns, "judge", "row"]], objects=columns)
    assert turned == pairs_of(wide, objects=list("ABCDE"))


@settings(max_examples=40)
@given(rankings)
@pytest.mark.slow
def test_turning_all_ranks_round_turns_all_wins_round(some):
    wide = wide_of(some)
    c = pairs_of(wide, objects=list("ABCDE"))
    d = pairs_of(wide.assign(**{name: -wide[name] for name in "ABCDE"}), objects=list("ABCDE"))
    assert d.counts.tolist() == c.counts[:, ::-1].tolist()


@pytest.mark.shared
def test_the_rankings_of_wmt10(shared):
    frame = pd.read_csv(shared / "data" / "wmt10_expert_RNK.csv.gz")
    frame = frame[(frame["srclang"] == "Spanish") & (frame["trglang"] == "English")].reset_index(drop=True)
    long = pd.concat(
        pd.DataFrame({"row": frame.index, "system": frame[f"system{k}Id"], "rank": frame[f"system{k}rank"]})
        for k in range(1, 6)
    )
    long = long[long["system"] != "blank"]
    c = pairs_of(long, object="system", block="row", missing=-1)
    wins = dict.fromkeys(itertools.product(c.objects, repeat=2), 0)
    for record in frame.to_dict("records"):
        shown = [(record[f"system{k}Id"], record[f"system{k}rank"]) for k in range(1, 6)]
        ranked = [(system, rank) for system, rank in shown if system != "blank" and rank != -1]
        for (a, first), (b, second) in itertools.permutations(ranked, 2):
            wins[a, b] += first < second
    matrix = c.win_matrix()
    assert {(a, b): int(matrix.loc[a, b]) for a, b in wins} == wins
    assert c.n_judgments > 1000


def test_ranks_that_floats_do_not_tell_apart_are_refused():
    """Nanoseconds as ranks: as floats all three are the same."""
    rows = pd.DataFrame({k: [1_700_000_000_000_000_001 + n] for n, k in enumerate("ABC")})
    with pytest.raises(JudgmentError, match=r"1700000000000000001.*whole numbers below 2\*\*53"):
        pairs_of(rows, objects=list("ABC"))
