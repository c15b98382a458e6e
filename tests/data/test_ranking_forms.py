"""Doors to lists: wide, long, and rows that name objects and their ranks."""

import numpy as np
import pandas as pd
import pytest

import llbt

WIDE = pd.DataFrame({"A": [1, 2, 1], "B": [2, 1, 3], "C": [3, 3, 2]})
LONG = WIDE.assign(judge=["x", "y", "z"]).melt("judge", var_name="object", value_name="rank")
BESIDE = pd.DataFrame(
    {"one": ["A", "B", "C"], "two": ["B", "C", "A"], "three": ["C", "A", "B"]}
    | {"rank_one": [1, 1, 2], "rank_two": [2, 3, 1], "rank_three": [3, 2, 3], "judge": ["x", "y", "z"]}
)
COLUMNS = {"object": ("one", "two", "three"), "rank": ("rank_one", "rank_two", "rank_three")}


def said(r):
    return r.items.tolist(), r.places.tolist(), r.counts.tolist()


def test_all_forms_say_the_same():
    wide = llbt.from_rankings(WIDE, objects=list("ABC"))
    assert said(llbt.from_rankings(LONG, block="judge")) == said(wide)
    assert said(llbt.from_rankings(BESIDE, **COLUMNS)) == said(wide)


def test_a_file_is_read_as_the_frame(tmp_path):
    BESIDE.to_csv(tmp_path / "lists.csv", index=False)
    r = llbt.from_rankings(tmp_path / "lists.csv", **COLUMNS, clusters="judge")
    assert said(r) == said(llbt.from_rankings(BESIDE, **COLUMNS, clusters="judge"))
    assert r.clusters == ("judge",)


def test_the_frame_is_left_as_it_is():
    before = BESIDE.copy()
    llbt.from_rankings(BESIDE, **COLUMNS)
    pd.testing.assert_frame_equal(BESIDE, before)


def test_a_missing_rank_is_unknown_or_below():
    wide = WIDE.astype(float)
    wide.loc[0, "C"] = np.nan
    unknown = llbt.from_rankings(wide, objects=list("ABC"))
    assert unknown.sizes.tolist() == [2, 3, 3]
    assert unknown.notes[0] == "1 rank missing: the ranks of these objects in these lists are unknown"
    below = llbt.from_rankings(wide, objects=list("ABC"), unranked="below")
    assert below.sizes.tolist() == [3, 3, 3]
    assert below.places.tolist()[:3] == [1, 2, 0]
    assert "below all that have a rank" in below.notes[0]


def test_ranks_that_mean_none():
    r = llbt.from_rankings(WIDE.replace(3, -1), objects=list("ABC"), missing=-1)
    assert r.sizes.tolist() == [2, 2, 2]
    with pytest.raises(llbt.errors.JudgmentError, match="pass missing=-1"):
        llbt.from_rankings(WIDE.replace(3, -1), objects=list("ABC"))
    all_negative = llbt.from_rankings(WIDE - 10, objects=list("ABC"))
    assert all_negative.places.tolist() == llbt.from_rankings(WIDE, objects=list("ABC")).places.tolist()


WMT = pd.DataFrame(
    {
        "srclang": "de",
        "trglang": "en",
        "judgeId": ["j1", "j2"],
        "system1Id": ["A", "blank"],
        "system2Id": ["B+C", "B"],
        "system3Id": ["D", "C"],
        "system1rank": [1, 1],
        "system2rank": [2, 2],
        "system3rank": [-1, 1],
    }
)
OF_WMT = {"object": [f"system{k}Id" for k in (1, 2, 3)], "rank": [f"system{k}rank" for k in (1, 2, 3)]}


def test_files_of_the_wmt_are_read_as_their_authors_do():
    """-1 is "not ranked", "blank" no system, "B+C" two systems with one output: the pairs are those of the reader."""
    r = llbt.from_rankings(WMT, **OF_WMT)
    assert r.notes[0] == "read as WMT rankings of 3 systems"
    pairs = r.to_comparisons().to_frame().set_index(["object_i", "object_j"])
    assert pairs.loc[("A", "B")].tolist() == [1, 0, 0]
    assert pairs.loc[("A", "C")].tolist() == [1, 0, 0]
    assert pairs.loc[("B", "C")].tolist() == [0, 1, 1]
    assert ("A", "D") not in pairs.index
    read = llbt.from_judgments(WMT.assign(srcIndex=[1, 2])).to_frame().set_index(["object_i", "object_j"])
    assert read.loc[("A", "B")].tolist() == [1, 0, 0]
    assert read.loc[("B", "C")].tolist() == [0, 0, 1]  # of B+C with itself the reader of pairs has no record


def test_the_best_rank_of_wmt07_is_five():
    rows = [["WMT07 Europarl", "RANK", 1, "ann", 5, "A", 5, 0, "B", 1, 0, "C", -1, 0, "", "", "", "", "", ""]]
    head = ["TASK", "TYPE", "ITEM_ID", "ANNOTATOR_ID", "TIME"]
    head += [name for k in range(5) for name in (f"SYSTEM_{k}", f"SCORE_{k}_A", f"SCORE_{k}_B")]
    frame = pd.DataFrame(rows, columns=head)
    r = llbt.from_rankings(frame, object=["SYSTEM_0", "SYSTEM_1"], rank=["SCORE_0_A", "SCORE_1_A"])
    assert r.to_comparisons().to_frame().to_numpy().tolist() == [["A", "B", 1, 0, 0]]


def test_rows_may_have_fewer_objects():
    frame = BESIDE.astype({"rank_three": float})
    frame.loc[0, ["three", "rank_three"]] = [None, np.nan]
    assert llbt.from_rankings(frame, **COLUMNS).sizes.tolist() == [2, 3, 3]
    frame.loc[0, "rank_three"] = 3
    with pytest.raises(
        llbt.errors.JudgmentError, match="row 0: a rank in column 'rank_three' and no object in 'three'"
    ):
        llbt.from_rankings(frame, **COLUMNS)


def test_object_covariates_are_kept():
    described = pd.DataFrame({"object": list("ABC"), "price": [1.0, 2.0, 3.0]})
    assert llbt.from_rankings(WIDE, objects=list("ABC"), object_covariates=described).object_covariates == ("price",)


@pytest.mark.parametrize(
    ("frame", "keywords", "error", "match"),
    [
        (LONG.drop(columns="judge").assign(time=range(9)), {}, llbt.errors.OptionError, "which rows belong together"),
        (WIDE, {"objects": list("ABX")}, llbt.errors.JudgmentError, "no column 'X'"),
        (WIDE, {"objects": list("ABC"), "block": "A"}, llbt.errors.OptionError, "every row is a block"),
        (BESIDE, COLUMNS | {"block": "judge"}, llbt.errors.OptionError, "every row is a ranking"),
        (BESIDE, COLUMNS | {"rank": ("rank_one",)}, llbt.errors.OptionError, "3 columns as object= and 1 as rank="),
        (pd.concat([LONG, LONG]), {"block": "judge"}, llbt.errors.JudgmentError, "repeated within a block"),
        (LONG.assign(sex=list("fmfmfmfmf")), {"block": "judge", "covariates": "sex"}, llbt.errors.JudgmentError, "sex"),
        (WIDE.assign(A=["x", "y", "z"]), {"objects": list("ABC")}, llbt.errors.JudgmentError, "not a number"),
        (WIDE.assign(A=np.inf), {"objects": list("ABC")}, llbt.errors.JudgmentError, "infinite"),
        (WIDE * np.nan, {"objects": list("ABC")}, llbt.errors.JudgmentError, "all ranks are missing"),
        (WIDE, {"objects": list("ABC"), "unranked": "last"}, llbt.errors.OptionError, "'unknown' or 'below'"),
        (BESIDE.assign(two="A"), COLUMNS, llbt.errors.JudgmentError, "repeated within a block"),
    ],
)
def test_what_cannot_be_read_is_refused(frame, keywords, error, match):
    with pytest.raises(error, match=match):
        llbt.from_rankings(frame, **keywords)


@pytest.mark.shared
def test_wmt_files_are_lists_of_five(shared):
    five = range(1, 6)
    r = llbt.from_rankings(
        shared / "data" / "wmt10_expert_RNK.csv.gz",
        object=[f"system{k}Id" for k in five],
        rank=[f"system{k}rank" for k in five],
        covariates=["srclang", "trglang"],
        clusters="judgeId",
    )
    assert r.sizes.max() == 5
    pairs = r.to_comparisons()
    assert r.largest_tie == 5
    assert pairs.n_judgments > 5 * r.n_judgments
