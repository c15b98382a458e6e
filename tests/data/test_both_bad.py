"""Both bad as an outcome of its own: from every door that knows it, and through what tables do."""

import duckdb
import pandas as pd
import polars
import pytest

import llbt
from llbt import Comparisons
from llbt.data import files
from llbt.errors import JudgmentError, OptionError

ROWS = [
    ("x", "y", "model_a", "J1"),
    ("y", "x", "tie (bothbad)", "J1"),
    ("x", "y", "tie", "J2"),
    ("x", "z", "tie (bothbad)", "J2"),
    ("y", "z", "model_b", "J1"),
]
ARENA = pd.DataFrame(ROWS, columns=["model_a", "model_b", "winner", "judge"])
COUNTS = pd.DataFrame(
    [["x", "y", 1, 1, 1, 0], ["x", "z", 0, 0, 1, 0], ["y", "z", 0, 0, 0, 1]],
    columns=["object_i", "object_j", "wins_i", "ties", "bad", "wins_j"],
)
APART = {"ties": "tie", "bad": "bad"}


def counted() -> Comparisons:
    return llbt.from_counts(COUNTS, ties_column=APART)


@pytest.mark.parametrize("asked", [{"tie (bothbad)": "bad"}, {"both_bad": "bad"}], ids=["label", "kind of tie"])
@pytest.mark.parametrize(
    "held",
    [
        ARENA,
        polars.from_pandas(ARENA),
        duckdb.from_df(ARENA),
        ARENA.to_dict("records"),
        llbt.read_judgments(ARENA),
        llbt.read_judgments(ARENA).to_frame(),
    ],
    ids=["pandas", "polars", "duckdb", "records", "judgments", "their frame"],
)
def test_judgments_count_both_bad_apart_where_asked(held: object, asked: dict[str, str]) -> None:
    found = llbt.from_judgments(held, outcomes=asked)
    pd.testing.assert_frame_equal(found.to_frame(), COUNTS)
    assert "2 judgments counted as both bad, apart from ties" in found.notes
    assert not any("counted as ties" in note for note in found.notes)
    assert llbt.from_judgments(held) == found.collapse()


def test_both_bad_is_counted_by_judgments_not_by_rows() -> None:
    weighted = ARENA.assign(times=[1, 2, 3, 4, 5])
    c = llbt.from_judgments(weighted, weights="times", outcomes={"tie (bothbad)": "bad"})
    assert c.n_bad == 6
    assert "6 judgments counted as both bad, apart from ties" in c.notes


def test_labels_of_ones_own_and_clusters() -> None:
    named = {"winner": ["A", "B", "neither", "same"], "a": list("xyxx"), "b": list("yzyz"), "judge": list("1122")}
    said = {"objects": ("a", "b"), "outcome": "winner", "clusters": "judge"}
    outcomes = {"A": "i", "B": "j", "neither": "bad", "same": "tie"}
    c = llbt.from_judgments(pd.DataFrame(named), outcomes=outcomes, **said)
    assert c.counts.tolist() == [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    assert c.select(where={"judge": "2"}).counts.sum(axis=0).tolist() == [0, 1, 1, 0]
    read = llbt.read_judgments(pd.DataFrame(named), objects=("a", "b"), outcome="winner", outcomes=outcomes).to_frame()
    assert read[["outcome", "tie_kind"]].iloc[2:].to_numpy().tolist() == [["tie", "both_bad"], ["tie", None]]
    # without a tie among the judgments there is no tie category
    some = llbt.from_judgments(pd.DataFrame(named).iloc[:3], outcomes=outcomes, **said)
    assert some.response.outcomes == ("i", "bad", "j")
    assert (some.has_ties, some.n_bad, some.collapse().n_ties) == (False, 1, 1)


def test_a_file_of_which_rows_stay_in_duckdb(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "arena.parquet"
    ARENA.to_parquet(path)
    monkeypatch.setattr(files, "LARGE", dict.fromkeys(files.LARGE, 0))
    held = llbt.read_judgments(str(path), outcomes={"tie": "bad"})
    assert held.query is not None
    assert held.to_frame()["tie_kind"].tolist().count("both_bad") == 3
    found = llbt.from_judgments(str(path), outcomes={"both_bad": "bad"})
    pd.testing.assert_frame_equal(found.to_frame(), COUNTS)
    pd.testing.assert_frame_equal(llbt.from_judgments(held, outcomes={"both_bad": "bad"}).to_frame(), COUNTS.assign(
        bad=COUNTS["ties"] + COUNTS["bad"]
    ).drop(columns="ties"))  # fmt: skip


def test_counts_come_back_and_columns_of_one_outcome_are_summed() -> None:
    c = counted()
    assert (c.n_judgments, c.n_ties, c.n_bad) == (5, 1, 2)
    assert c.bad.tolist() == [1, 1, 0]
    assert llbt.from_counts(c.to_frame(), ties_column=APART) == c
    assert "5 judgments (20 % ties, 40 % both bad)" in str(c)
    more = COUNTS.assign(worse=[1, 0, 2])
    summed = llbt.from_counts(more, ties_column={**APART, "worse": "bad"})
    assert summed.bad.tolist() == [2, 1, 2]
    assert "both bad is the sum of bad (2) and worse (3)" in summed.notes
    assert llbt.from_counts(COUNTS, ties_column={"bad": "bad"}).response.outcomes == ("i", "bad", "j")
    assert llbt.from_counts(COUNTS, ties_column={"ties": "tie"}) == llbt.from_counts(COUNTS)


def test_selected_pooled_and_collapsed() -> None:
    c = counted()
    assert c.select(objects=["x", "y"]).counts.tolist() == [[1, 1, 1, 0]]
    split = llbt.from_counts(COUNTS.assign(sex=list("fmf")), ties_column=APART, covariates="sex")
    assert split.pool() == c
    collapsed = c.collapse()
    assert collapsed == llbt.from_counts(COUNTS.assign(ties=COUNTS["ties"] + COUNTS["bad"]))
    assert collapsed.notes[-1] == "undecided outcomes were merged (collapse): 'i' | 'tie', 'bad' | 'j'"


def test_an_audit_takes_both_bad_as_ties() -> None:
    found, collapsed = llbt.audit(counted()), llbt.audit(counted().collapse())
    assert found.to_frame().equals(collapsed.to_frame())
    assert found.notes == collapsed.notes
    assert any("were merged (collapse): 'i' | 'tie', 'bad' | 'j'" in note for note in found.notes)


@pytest.mark.parametrize(
    ("ask", "fragment"),
    [
        (lambda: counted().drop_ties(), "counts both bad as a tie"),
        (lambda: counted().split_ties(), r"c\.collapse\(\) counts both bad as a tie"),
        (lambda: llbt.classical.sign_test(counted()), "counts both bad as a tie"),
        (lambda: llbt.from_counts(COUNTS, covariates="bad"), r"'bad' \(covariates=\) has a name that llbt uses"),
    ],
)
def test_refusals_name_what_to_do(ask, fragment: str) -> None:
    with pytest.raises(JudgmentError, match=fragment):
        ask()


@pytest.mark.parametrize(
    ("ask", "fragment"),
    [
        (lambda: llbt.from_counts(COUNTS, ties_column={"bad": "worse"}), "expected columns with 'tie' or 'bad'"),
        (lambda: llbt.from_judgments(ARENA, outcomes={"tie": "bad", "A": 2, "B": -2}), "expected a grade, 'tie' or"),
        (lambda: llbt.from_judgments(ARENA, outcomes={"tie": "bad"}, strength="x"), "Pass either"),
    ],
)
def test_options_that_do_not_go_together_are_refused(ask, fragment: str) -> None:
    with pytest.raises(OptionError, match=fragment):
        ask()
