"""Columns keep the names that the user gave them: in tables, printouts, options and messages."""

import re

import numpy as np
import pandas as pd
import pytest
from support import shell

import llbt

UNITS = ("judge", "prompt", "block")


def battles(n=240):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"model_a": rng.choice(list("ABC"), n), "worker": np.arange(n) % 12})
    frame["model_b"] = frame["model_a"].map({"A": "B", "B": "C", "C": "A"})
    return frame.assign(winner=rng.choice(["model_a", "model_b"], n), question_id=np.arange(n) // 12)


BATTLES = battles()
READ = llbt.read_judgments(BATTLES)
ABOUT = pd.DataFrame({"worker": range(12), "age": [20.5, 31.5, 44.5] * 4})
MERGED = llbt.from_judgments(BATTLES.merge(ABOUT, on="worker"), covariates="age")


@pytest.fixture(params=["frame", "file", "judgments"])
def source(request, tmp_path):
    path = tmp_path / "votes.csv"
    BATTLES.to_csv(path, index=False)
    return {"frame": BATTLES, "file": path, "judgments": llbt.read_judgments(BATTLES)}[request.param]


def test_units_are_called_as_in_the_source(source):
    c = llbt.from_judgments(source, units=UNITS)
    assert c.clusters == ("worker", "question_id")
    res = llbt.fit("object", c, cov_type="cautious")
    said = str(res.summary())
    assert "worker" in said
    assert "judge" not in said
    assert "prompt" not in said


def test_either_name_is_understood_where_one_is_asked_for(source):
    c = llbt.from_judgments(source, units=UNITS)
    for name in ("judge", "worker"):
        assert "by worker (G = 12" in str(llbt.fit("object", c, cov_type="cluster", groups=name).summary())
        assert len(llbt.level_tests(llbt.fit("object", c), by=name).to_frame()) == 12
        assert llbt.audit(source, judge=name).judge == llbt.audit(c, judge=name).judge == "worker"
        assert len(llbt.judges.summary(source, judge=name).to_frame()) == 12
        assert len(llbt.judges.summary(c, judge=name).to_frame()) == 12
        assert c.pool(name).clusters == c.pool([name]).clusters == ("question_id",)
    assert len(llbt.level_tests(llbt.fit("object", c)).to_frame()) == 12
    assert llbt.audit(c).judge == "worker"


@pytest.mark.parametrize("name", ["judge", "worker"])
def test_clusters_have_the_name_that_was_asked_for(source, name):
    assert llbt.from_judgments(source, clusters=name).clusters == (name,)
    assert llbt.from_judgments(source, clusters=name, units=UNITS).clusters == (name, "question_id")


def test_what_was_not_kept_is_named_as_in_the_source(source):
    said = str(llbt.fit("object", llbt.from_judgments(source)).summary())
    said = " ".join(said.split())
    pattern = r"and (.+?) were not kept\. To cluster: from_judgments\(…, clusters=\['worker', 'question_id'"
    named = re.search(pattern, said)
    assert named is not None, said
    c = llbt.from_judgments(source, clusters=["worker", "question_id"])
    assert c.clusters == ("worker", "question_id")


def test_units_of_agreement_have_the_names_of_the_source(source):
    agreed = [
        llbt.judges.agreement(source, unit=u, judge=j) for u, j in (("question_id", "worker"), ("prompt", "judge"))
    ]
    assert agreed[0].to_frame().equals(agreed[1].to_frame())


def test_judgments_print_the_names_of_the_source_and_keep_their_columns():
    judgments = llbt.read_judgments(BATTLES)
    assert {"judge", "prompt"} <= set(judgments.to_frame())
    assert "Outcome Worker question_id" in " ".join(str(judgments).split())
    with pytest.raises(llbt.LLBTError, match="'worker'"):
        llbt.judges.summary(judgments, judge="rater")


JUDGES = {
    "column": ABOUT,
    "last column": ABOUT[["age", "worker"]],
    "index": ABOUT.set_index("worker"),
    "text": ABOUT.astype({"worker": str}),
    "text index": ABOUT.astype({"worker": str}).set_index("worker"),
    "column judge": ABOUT.rename(columns={"worker": "judge"}),
    "index judge": ABOUT.rename(columns={"worker": "judge"}).set_index("judge"),
    "another name": ABOUT.rename(columns={"worker": "who"}),
}


@pytest.mark.parametrize("kind", JUDGES)
@pytest.mark.parametrize("clusters", [(), "worker", "judge"])
def test_a_table_of_judges_joins_by_index_or_column_and_keys_of_any_type(kind, clusters):
    """Against a column of the judgments themselves, merged by pandas."""
    c = llbt.from_judgments(READ if clusters else BATTLES, clusters=clusters, judge_covariates=JUDGES[kind])
    assert c.covariates == ("age",)
    assert c.same_counts(MERGED)


@pytest.mark.parametrize("kind", JUDGES)
def test_ratings_join_a_table_of_judges_alike(kind):
    rows = [(w, o, (w * k) % 5) for w in range(12) for k, o in enumerate("ABC", start=1)]
    ratings = pd.DataFrame(rows, columns=["worker", "object", "rating"])
    joined = llbt.from_ratings(ratings, judge="worker", judge_covariates=JUDGES[kind]).to_comparisons()
    merged = llbt.from_ratings(ratings.merge(ABOUT, on="worker"), judge="worker", covariates="age")
    assert joined.same_counts(merged.to_comparisons())


def test_the_command_line_takes_the_names_of_the_file(tmp_path):
    path = tmp_path / "votes.csv"
    BATTLES.to_csv(path, index=False)

    def said(*options):
        found = shell.run("fit", str(path), *options)
        assert found.exit_code == 0, found.output
        return found.output

    assert "judge" not in said()
    for name in ("worker", "judge"):
        assert f"by {name} (G = 12" in said("--clusters", name, "--cov-type", "cluster", "--groups", name)
        assert f"by {name} (G = 12" in said("--cov-type", "cluster", "--groups", name)
