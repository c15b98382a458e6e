"""Traps of real files: each was a wrong table, a false alarm or a raw exception before it was a test."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.tables import file_frame

import llbt
from llbt import audit, from_judgments, from_rankings, read_judgments

WIDE = pd.DataFrame({"id": [1, 2, 3], "V1": [0, 2, 1], "V2": [0, 0, 2], "V3": [2, 1, 0]})
PREFMOD = {"object_names": ["A", "B", "C"], "pairs": "prefmod"}


def said(frame):
    return frame.to_frame()[["object_i", "object_j", "outcome"]].apply("".join, axis=1).tolist()


def test_the_judge_of_a_wide_table_is_no_pair():
    """V1 is A:B, V2 is A:C, V3 is B:C; 0 is for the first, 1 undecided, 2 for the second."""
    frame = read_judgments(WIDE, judge="id", **PREFMOD)
    assert said(frame) == ["ABi", "ACi", "BCj", "ABj", "ACi", "BCtie", "ABtie", "ACj", "BCi"]
    assert frame.to_frame()["judge"].tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert "columns read as pairs: V1 is A:B, V2 is A:C, V3 is B:C" in frame.notes


@pytest.mark.parametrize("entries", [[0, 1], [1, 1], [0, 0], [2, 3], [0, 9]])
def test_half_a_scale_is_not_guessed(entries):
    """0 and 1 are two sides, or one side and undecided of -1/0/1 as well as of 0/1/2."""
    frame = pd.DataFrame({"A:B": entries, "A:C": entries, "B:C": entries})
    with pytest.raises(llbt.errors.JudgmentError, match="outcomes="):
        read_judgments(frame, format="prefmod")
    meanings = {0: "i", 1: "tie", 2: "j", 3: "j", 9: None}
    assert len(read_judgments(frame, format="prefmod", outcomes=meanings).to_frame()) == 3 * (2 - entries.count(9))


def test_prefmods_one_and_two():
    """The smallest is for the first object, the largest for the second; nothing is undecided."""
    frame = pd.DataFrame({"V1": [1, 2], "V2": [1, 1], "V3": [2, 1]})
    made = read_judgments(frame, **PREFMOD)
    assert said(made) == ["ABi", "ACi", "BCj", "ABj", "ACi", "BCi"]
    assert "entries read as in prefmod: 1 is i, 2 is j" in made.notes


def test_objects_keep_the_order_in_which_they_are_named():
    """The reference is the last, as in prefmod; the estimates are those of the sorted table with this reference."""
    names = {"object_names": ["C", "A", "B"], "pairs": "prefmod"}  # V1 is C:A, V2 is C:B, V3 is A:B
    wide = pd.DataFrame({"V1": [0, 2, 1, 0, 2], "V2": [0, 0, 2, 0, 1], "V3": [2, 1, 0, 0, 2]})
    made = read_judgments(wide, **names)
    c = from_judgments(made.take(made.to_frame()["judge"] >= 0), covariates="judge").pool("judge")
    assert made.objects == c.objects == ("C", "A", "B")
    assert c.to_frame().to_numpy().tolist() == [["C", "A", 2, 1, 2], ["C", "B", 3, 1, 1], ["A", "B", 2, 1, 2]]
    assert c.select(objects=["A", "C"]).objects == ("C", "A")
    fitted = llbt.fit("object + tie", c)
    in_code_order = llbt.fit("object + tie", from_judgments(made.to_frame()))
    assert list(fitted.params.index) == ["object[C]", "object[A]", "tie"]
    assert list(in_code_order.params.index) == ["object[A]", "object[B]", "tie"]
    same = llbt.fit("object + tie", from_judgments(made.to_frame()), reference="B")
    assert fitted.params[["object[A]", "object[C]", "tie"]].to_numpy() == pytest.approx(same.params.to_numpy())
    assert fitted.deviance == pytest.approx(same.deviance)


@pytest.mark.parametrize("labels", [["E1", "e5"], ["E", "e"], [".", "-"], ["1e", "2e"]])
def test_labels_that_look_a_little_like_numbers(labels, tmp_path):
    pd.DataFrame({"object_i": labels[0], "object_j": labels[1], "outcome": ["i", "j"]}).to_csv(
        tmp_path / "t.csv", index=False
    )
    assert set(from_judgments(tmp_path / "t.csv").objects) == set(labels)


def test_zero_has_two_spellings(tmp_path):
    (tmp_path / "t.csv").write_text("object_i,object_j,outcome,x\na,b,i,-0.0\na,b,j,0.0\na,b,i,1.5\n")
    c = from_judgments(tmp_path / "t.csv", covariates="x")
    assert (c.columns[0].numeric, c.columns[0].levels.tolist()) == (True, [0.0, 1.5])


WINNERS = [("a", "b")] * 20 + [("b", "a")] * 8 + [("b", "c")] * 6 + [("c", "a")] * 6


def test_no_order_is_made_of_winners_that_come_first():
    with pytest.raises(llbt.errors.OptionError, match="does not record which object was shown first"):
        from_judgments(WINNERS, order=True)
    c = from_judgments(WINNERS)
    assert not any("order=True" in note for note in c.notes)
    assert any("order of presentation is not known" in note for note in c.notes)
    found = audit(WINNERS)
    assert [found.finding(name).level for name in ("position", "swapped", "order_separation")] == ["unchecked"] * 3


def test_an_audit_knows_what_the_reader_left_out():
    records = [{"generator_1": "a", "generator_2": "b", "preference": x} for x in (1, 2, 9)]
    finding = audit(records).finding("outcomes")
    assert (finding.level, finding.found) == ("error", "1 judgment with an outcome that the format does not define")


def test_what_could_not_be_checked_fails_where_it_is_asked_for():
    frame = pd.DataFrame({"object_i": ["a", "b"], "object_j": ["b", "a"], "outcome": ["dunno", "who knows"]})
    assert [finding.check for finding in audit(frame).failed("separation")] == ["separation"]


def test_an_audit_of_counts():
    counts = pd.DataFrame(
        {"player1": ["a", "a", "b"], "player2": ["b", "c", "c"], "win1": [3, 9, 4], "win2": [2, 0, 5]}
    )
    assert audit(counts, format="bradleyterry2").sizes == audit(from_judgments(counts, format="bradleyterry2")).sizes
    with pytest.raises(llbt.errors.OptionError, match="table of counts"):
        audit(from_judgments(counts, format="bradleyterry2"), format="bradleyterry2")


def test_dots_in_names_of_columns(tmp_path):
    frame = pd.DataFrame(
        {"home.team": ["a", "b", "a"], "away.team": ["b", "a", "b"], "who": ["home.team", "tie", "tie"]}
    )
    with duckdb.connect() as connection:
        relation = connection.from_df(frame)
        mine = llbt.formats.columns(("home.team", "away.team"), "who")
        assert audit(relation, format=mine).sizes == audit(frame, format=mine).sizes
        ranks = connection.from_df(
            pd.DataFrame({"block.id": [1, 1, 2, 2], "object": list("abab"), "rank": [1, 2, 2, 2]})
        )
        assert from_rankings(ranks, block="block.id").to_comparisons().counts.tolist() == [[1, 1, 0]]


def test_rankings_in_files(tmp_path):
    for k, part in enumerate(("1,a,1\n1,b,2\n", "2,a,2\n2,b,1\n2,c,3\n")):
        (tmp_path / f"part{k}.csv").write_text("block,object,rank\n" + part)
    (tmp_path / "objects.csv").write_text("object,size\na,1.5\nb,2.5\nc,3.5\n")
    c = from_rankings(
        f"{tmp_path}/part*.csv", block="block", object_covariates=tmp_path / "objects.csv"
    ).to_comparisons()
    assert (c.n_judgments, c.object_covariates) == (4, ("size",))


def test_outputs_that_were_identical_are_not_compared():
    row = {"srclang": "cs", "trglang": "en", "srcIndex": 1, "judgeID": "j", "rankingID": 3}
    row |= {"system1Id": "a+b", "system1rank": 1, "system2Id": "b+c", "system2rank": 2}
    frame = read_judgments([row])
    assert said(frame) == ["abi", "aci", "bci"]
    assert "1 judgment left out: an output compared with one identical to it" in frame.notes


def test_a_part_of_a_prompt_that_is_missing():
    records = [{"object_i": "a", "object_j": "b", "outcome": "i", "x": x, "y": 2} for x in (1, None)]
    frame = read_judgments(records, prompt="x+y")
    assert frame.to_frame()["prompt"].tolist() == ["1:2", None]


def test_a_relation_says_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.setattr("llbt.data.files.LARGE", dict.fromkeys(("csv", "json", "parquet"), 0))
    (tmp_path / "t.csv").write_text('model_a,model_b,winner,"say ""hi"""\na,b,model_a,1\na,b,skipped,2\n')
    held = read_judgments(tmp_path / "t.csv", outcomes={"skipped": None})
    assert "1 row with outcome 'skipped' left out (outcomes=)" in held.notes
    assert len(held.to_frame()) == held.n_judgments == 1
    with pytest.raises(
        llbt.errors.JudgmentError, match=r"stay in a database engine.*read_judgments\(judgments.to_frame\(\)\)"
    ):
        held.take([0])
    (tmp_path / "t.csv").write_text("model_a,model_b,winner,Judge,judge\na,b,model_a,x,y\n")
    assert read_judgments(tmp_path / "t.csv").names[-1] == "Judge"  # DuckDB cannot tell them apart, memory can


@pytest.mark.parametrize("objects", [5, ["a"]])
def test_objects_that_are_no_names(objects):
    with pytest.raises(llbt.errors.OptionError):
        from_judgments(pd.DataFrame({"a": ["x"], "b": ["y"], "outcome": ["i"]}), objects=objects)


BATTLES = [
    dict(model_a="x", model_b="y", winner="model_a", judge="J1"),
    dict(model_a="y", model_b="x", winner="both_bad", judge="J2"),
]


@pytest.mark.parametrize("engine", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, lambda records: records])
def test_a_frame_in_a_known_format_is_recognized_as_a_file_is(engine):
    frame = engine(BATTLES)
    c = from_judgments(frame, covariates="judge", order=True)
    assert c.to_frame().to_numpy().tolist() == [["x", "y", "J1", 1, 0, 0], ["y", "x", "J2", 0, 1, 0]]
    assert "2 rows read as 'arena'" in c.notes
    assert audit(frame).finding("outcomes").level == "ok"


def test_a_frame_under_the_names_that_are_asked_for_is_not_taken_for_another():
    """Where the columns that are named, or meant by default, are there, they are read."""
    both = pd.DataFrame(BATTLES).assign(object_i=["p", "p"], object_j=["q", "q"], outcome=["i", "j"])
    assert from_judgments(both.assign(wins_i=3, wins_j=4)).objects == ("p", "q")
    assert (
        from_judgments(both, objects=("model_a", "model_b"), outcome="winner", outcomes={"both_bad": "tie"}).n_ties == 1
    )
    with pytest.raises(llbt.errors.JudgmentError, match="no columns 'object_i', 'object_j'"):
        from_judgments(pd.DataFrame({"a": ["x"], "b": ["y"], "who": ["a"]}))


def test_what_a_file_lacks_is_said_by_the_caller(tmp_path):
    """Also where the field is not an object, and not in place of what the file says."""
    wins = [dict(object_i=name) for name in "xxz"]
    given = {"object_j": "y", "outcome": "i", "judge": "J"}
    frame = read_judgments(wins, defaults=given)
    assert said(frame) == ["xyi", "xyi", "zyi"]
    assert set(frame.to_frame()["judge"]) == {"J"}
    assert from_judgments(wins, defaults=given, covariates="judge").counts.tolist() == [[2, 0, 0], [0, 0, 1]]
    assert from_judgments(pd.DataFrame(wins), defaults=given).n_judgments == 3
    assert said(read_judgments(BATTLES, defaults={"judge": "J9"})) == said(read_judgments(BATTLES))
    assert read_judgments(BATTLES, defaults={"judge": "J9"}).to_frame()["judge"].tolist() == ["J1", "J2"]
    with pytest.raises(llbt.errors.OptionError, match=r"'arena' reads no field 'jugde'; expected some of 'model_a'"):
        read_judgments(BATTLES, defaults={"jugde": "J9"})


def test_comparisons_of_an_object_with_itself_are_left_out_where_that_is_allowed(tmp_path, monkeypatch):
    rows = [("x", "y", "i"), ("y", "y", "j"), ("x", "y", "who knows"), ("x", "x", "tie"), ("y", "x", "i")]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = from_judgments(frame.iloc[[0, 4]])
    for source in (frame, pl.from_pandas(frame), tmp_path / "t.csv"):
        for few in (0, 1, 2):
            with pytest.raises(llbt.errors.JudgmentError):
                from_judgments(source, max_dropped=few)
        c = from_judgments(source, max_dropped=3)
        assert c == expected
        assert "2 judgments of an object with itself left out (max_dropped=)" in c.notes
        made = read_judgments(source, max_dropped=3)
        assert from_judgments(made) == expected
        assert "2 judgments of an object with itself left out (max_dropped=)" in made.notes
        with pytest.raises(llbt.errors.JudgmentError):
            read_judgments(source, max_dropped=2)
    alike = frame.iloc[[0, 1, 3, 4]]
    assert len(read_judgments(alike).to_frame()) == 4  # for an audit to name them
    with pytest.raises(
        llbt.errors.JudgmentError, match=r"2 judgments of an object with itself, and 0 unknown.*max_dropped=2"
    ):
        read_judgments(alike, max_dropped=1)
    with pytest.raises(llbt.errors.JudgmentError, match="max_dropped=2"):
        from_judgments(alike)
    with pytest.raises(llbt.errors.JudgmentError, match="itself"):
        from_judgments(frame.iloc[[1, 3]], max_dropped=9)
    monkeypatch.setattr("llbt.data.files.LARGE", dict.fromkeys(("csv", "json", "parquet"), 0))
    held = read_judgments(tmp_path / "t.csv", max_dropped=3)
    assert "2 judgments of an object with itself left out (max_dropped=)" in held.notes
    assert sorted(held.to_frame().iloc[:, :3].itertuples(index=False, name=None)) == [("x", "y", "i"), ("y", "x", "i")]
    assert held.tabulate() == expected


def test_mt_benchs_inconsistent_is_a_tie_and_error_no_judgment():
    records = [BATTLES[0] | {"winner": label} for label in ("inconsistent", "tie (inconsistent)", "error", "model_b")]
    frame = read_judgments(records)
    assert said(frame) == ["xytie", "xytie", "xyj"]
    assert frame.to_frame()["tie_kind"].tolist()[:2] == ["inconsistent"] * 2
    assert "1 row with outcome 'error' left out (outcomes=)" in frame.notes
    assert from_judgments(records).n_judgments == 3


def test_tables_separated_by_blanks(tmp_path):
    """As R's write.table writes them: the names of the rows have no heading."""
    (tmp_path / "t.txt").write_text('"V1" "V2"  "V3"\n"1" 0 2 1\n"2" 2 0 NA\n')
    frame = file_frame(tmp_path / "t.txt")
    assert list(frame) == ["row.names", "V1", "V2", "V3"]
    assert frame["V3"].tolist()[0] == 1
    made = read_judgments(tmp_path / "t.txt", judge="row.names", outcomes={0: "i", 1: "tie", 2: "j"}, **PREFMOD)
    assert said(made) == ["ABi", "ACj", "BCtie", "ABj", "ACi"]
    (tmp_path / "b.csv").write_text('object_i   object_j outcome\nA  B i \n "C d" B   j\n')
    assert from_judgments(tmp_path / "b.csv").objects == ("A", "B", "C d")
    (tmp_path / "cut.csv").write_text("object_i object_j outcome\nA B i\nA B\n")
    with pytest.raises(llbt.errors.JudgmentError, match="line 3: 2 fields"):
        file_frame(tmp_path / "cut.csv")
