"""Covariates of judges from a table of their own: the same as columns that were joined by hand, and who is missing."""

import duckdb
import pandas as pd
import polars
import pytest

import llbt
from llbt.errors import JudgmentError, OptionError

ROWS = [
    ("A", "B", "i", "ann"),
    ("B", "A", "i", "bob"),
    ("A", "C", "j", "bob"),
    ("B", "C", "tie", "cat"),
    ("A", "B", "i", "cat"),
    ("C", "A", "i", "ann"),
]
JUDGMENTS = pd.DataFrame(ROWS, columns=["object_i", "object_j", "outcome", "judge"])
JUDGES = pd.DataFrame({"judge": ["cat", "bob", "ann"], "age": [31.5, 54.0, 22.0], "school": ["x", "y", "x"]})
BY_HAND = llbt.from_judgments(JUDGMENTS.merge(JUDGES, on="judge"), covariates=["age", "school"], clusters="judge")


@pytest.mark.parametrize("engine", [lambda f: f, polars.from_pandas, duckdb.from_df, lambda f: f.to_dict("records")])
@pytest.mark.parametrize(
    "table",
    [JUDGES, JUDGES.set_index("judge"), JUDGES.set_index("judge").rename_axis(None), polars.from_pandas(JUDGES)],
    ids=["column", "index", "unnamed index", "polars"],
)
def test_a_table_of_judges_is_joined(engine, table) -> None:
    c = llbt.from_judgments(engine(JUDGMENTS), judge_covariates=table, clusters="judge")
    assert c == BY_HAND
    assert c.covariates == ("age", "school")
    assert [column.numeric for column in c.columns] == [True, False]


def test_files_formats_counts_and_other_names(tmp_path) -> None:
    JUDGES.to_csv(tmp_path / "judges.csv", index=False)
    c = llbt.from_judgments(JUDGMENTS, judge_covariates=tmp_path / "judges.csv", clusters="judge")
    assert c == BY_HAND
    arena = JUDGMENTS.rename(columns={"object_i": "model_a", "object_j": "model_b", "outcome": "winner"})
    arena["winner"] = arena["winner"].map({"i": "model_a", "j": "model_b", "tie": "tie"})
    arena.to_json(tmp_path / "arena.jsonl", orient="records", lines=True)
    assert llbt.from_judgments(tmp_path / "arena.jsonl", judge_covariates=JUDGES, clusters="judge") == BY_HAND
    read = llbt.read_judgments(tmp_path / "arena.jsonl")
    assert llbt.from_judgments(read, judge_covariates=JUDGES, units=["judge", "prompt"]) == BY_HAND
    workers = JUDGMENTS.rename(columns={"judge": "worker"})
    plain = llbt.from_judgments(workers, judge_covariates=JUDGES.rename(columns={"judge": "worker"}))
    assert plain == llbt.from_judgments(JUDGMENTS.merge(JUDGES, on="judge"), covariates=["age", "school"])
    counts = BY_HAND.to_frame(clusters=True).drop(columns=["age", "school"])
    assert llbt.from_counts(counts, judge_covariates=JUDGES, clusters="judge") == BY_HAND
    by_judge = llbt.from_counts(counts, judge_covariates=JUDGES, covariates="judge")
    assert by_judge.covariates == ("judge", "age", "school")


def test_judges_are_labels_as_they_are_written() -> None:
    """Numbers of a csv are the judges 1, 2, 3 of a frame; covariates of any kind may be numbers."""
    numbered = JUDGMENTS.assign(judge=JUDGMENTS["judge"].map({"ann": 1, "bob": 2, "cat": 3}))
    table = pd.DataFrame({"judge": ["1", "2", "3"], "age": [22, 54, 31]})
    c = llbt.from_judgments(numbered, judge_covariates=table, numeric="age")
    assert [column.numeric for column in c.columns] == [True]
    assert sorted(set(c.to_frame()["age"])) == [22, 31, 54]


def test_a_fit_uses_them() -> None:
    many = pd.concat(
        [JUDGMENTS, JUDGMENTS.assign(outcome=JUDGMENTS["outcome"].map({"i": "j", "j": "i", "tie": "tie"}))]
    )
    res = llbt.fit("object + object:school + tie", llbt.from_judgments(many, judge_covariates=JUDGES))
    assert "object[A]:school[y]" in res.names


def test_judges_who_judged_nothing_are_told() -> None:
    more = pd.concat([JUDGES, pd.DataFrame({"judge": ["dan"], "age": [40.0], "school": ["y"]})])
    c = llbt.from_judgments(JUDGMENTS, judge_covariates=more, clusters="judge")
    assert c == BY_HAND
    assert "1 judge of the judge table not among those who judged: 'dan'" in c.notes


@pytest.mark.parametrize(
    ("table", "options", "error", "fragment"),
    [
        (
            JUDGES.iloc[1:],
            {},
            JudgmentError,
            "has no row for 1 judge: 'cat'; expected one row per judge",
        ),
        (pd.concat([JUDGES, JUDGES.iloc[:1]]), {}, JudgmentError, "has several rows for 'cat'"),
        (JUDGES.assign(age=[None, 1.0, 2.0]), {}, JudgmentError, "column 'age': 1 missing value, for 'cat'"),
        (JUDGES, {"numeric": "school"}, JudgmentError, "column 'school': 3 values not a finite number"),
        (JUDGES[["judge"]], {}, JudgmentError, "expected a column 'judge' and one for each judge covariate"),
        (
            JUDGES.rename(columns={"age": "tie"}),
            {},
            JudgmentError,
            r"'tie' \(judge_covariates=\) has a name that",
        ),
        (JUDGES, {"clusters": "age"}, OptionError, "'age' is a column of judge_covariates= and named in clusters="),
        (
            JUDGES,
            {"object_covariates": pd.DataFrame({"object": list("ABC"), "age": [1.0, 2.0, 3.0]})},
            OptionError,
            "'age' is a column of judge_covariates= and named in object_covariates=",
        ),
    ],
)
def test_who_is_missing_is_said(table, options, error, fragment) -> None:
    with pytest.raises(error, match=fragment):
        llbt.from_judgments(JUDGMENTS, judge_covariates=table, **options)


def test_the_first_column_of_the_table_names_the_judges_whatever_it_is_called() -> None:
    table = JUDGES.rename(columns={"judge": "who"})
    assert llbt.from_judgments(JUDGMENTS, judge_covariates=table, clusters="judge") == BY_HAND
    fragment = r"no column 'who' \(judge_covariates=\); it has .* This column names the judges"
    with pytest.raises(JudgmentError, match=fragment):
        llbt.from_judgments(JUDGMENTS.drop(columns="judge"), judge_covariates=table)


def test_judgments_without_a_judge_are_counted() -> None:
    with pytest.raises(JudgmentError, match="column 'judge': 1 missing value, the first at row 2"):
        llbt.from_judgments(JUDGMENTS.assign(judge=["a", "b", None, "c", "a", "b"]), judge_covariates=JUDGES)


RATINGS = pd.DataFrame(
    [
        ("ann", "A", 3),
        ("ann", "B", 2),
        ("ann", "C", 2),
        ("bob", "A", 1),
        ("bob", "B", 2),
        ("cat", "B", 1),
        ("cat", "C", 2),
    ],
    columns=["judge", "object", "value"],
)


@pytest.mark.parametrize(
    ("door", "named"),
    [(llbt.from_ratings, {"rating": "value"}), (llbt.from_rankings, {"rank": "value", "judge": "judge"})],
)
@pytest.mark.parametrize("clusters", [(), "judge"])
def test_ratings_and_rankings_in_long_form(door, named, clusters) -> None:
    more = pd.concat([JUDGES, pd.DataFrame({"judge": ["dan"], "age": [40.0], "school": ["y"]})])
    c = door(RATINGS, **named, judge_covariates=more, clusters=clusters).to_comparisons()
    by_hand = door(RATINGS.merge(JUDGES, on="judge"), **named, covariates=["age", "school"], clusters=clusters)
    assert c == by_hand.to_comparisons()
    assert "1 judge of the judge table not among those who judged: 'dan'" in c.notes
    assert "age" in door(RATINGS, **named, judge_covariates=JUDGES, numeric="age").covariates
    with pytest.raises(JudgmentError, match="has no row for 1 judge: 'cat'"):
        door(RATINGS, **named, judge_covariates=JUDGES.iloc[1:])


def test_ratings_in_wide_form() -> None:
    wide = RATINGS.pivot(index="judge", columns="object", values="value").reset_index()
    c = llbt.from_ratings(wide, objects=list("ABC"), judge_covariates=JUDGES).to_comparisons()
    merged = wide.merge(JUDGES, on="judge")
    assert c == llbt.from_ratings(merged, objects=list("ABC"), covariates=["age", "school"]).to_comparisons()
    assert c == llbt.from_ratings(RATINGS, rating="value", judge_covariates=JUDGES).to_comparisons()
