"""The command that compares two files: what it prints, and the exit codes that stop a release."""

import json

import numpy as np
import pandas as pd
import pytest
from support.shell import refused, run

import llbt

NAMES = [f"m{k}" for k in range(6)]


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
    """Two files of 1,500 battles; m2 lost .6 in log-worth in the second."""
    folder, rng = tmp_path_factory.mktemp("weeks"), np.random.default_rng(3)
    worths = rng.normal(0, 0.5, len(NAMES))
    for week in (1, 2):
        lost = worths - 0.6 * (np.arange(len(NAMES)) == 2) * (week == 2)
        i = rng.integers(len(NAMES), size=1500)
        j = (i + rng.integers(1, len(NAMES), size=1500)) % len(NAMES)
        apart = 2 * (lost[i] - lost[j])
        won = np.where(rng.random(1500) < 1 / (1 + np.exp(-apart)), "model_a", "model_b")
        frame = pd.DataFrame({"model_a": np.array(NAMES)[i], "model_b": np.array(NAMES)[j], "winner": won})
        frame.assign(prompt=rng.integers(100, size=1500)).to_csv(folder / f"week{week}.csv", index=False)
    return folder / "week1.csv", folder / "week2.csv"


def test_the_table_is_that_of_python(weeks) -> None:
    result = run("compare", *weeks, "--format", "json")
    assert result.exit_code == 0, result.output
    frame = pd.DataFrame(json.loads(result.stdout)["rows"])
    a, b = (llbt.from_judgments(week, units=["prompt"]) for week in weeks)
    expected = llbt.compare(a, b, scale="elo").to_frame()
    np.testing.assert_allclose(frame["estimate"].astype(float), expected["estimate"])
    np.testing.assert_allclose(frame["std_error"].astype(float), expected["std_error"])


@pytest.mark.parametrize(
    ("gate", "code", "line"),
    [
        (["m2"], 1, "Worse: 'm2'"),
        (["m3"], 0, "None got worse: 'm3'"),
        (["m2,m3"], 1, "Worse: 'm2'"),
        (["any"], 1, "Worse: 'm2'"),
        (["m2", "--by", "2000"], 0, "None got worse by more than 2000"),
    ],
)
def test_the_gate_decides_the_exit_code(weeks, gate, code, line) -> None:
    result = run("compare", *weeks, "--fail-if-worse", *gate)
    assert result.exit_code == code
    assert line in result.stderr
    assert "Decided by" in result.stderr
    assert result.stdout.startswith("Changes from week1 to week2: Elo")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--fail-if-worse", "m9"], "'m9' is not an object of both files"),
        (["--anchor", "m9"], "'m9' is not an object of both files"),
        (["--by", "5"], "it is for --fail-if-worse"),
        (["--common", "order"], "--common order; expected none: 'object' has no other terms"),
    ],
)
def test_what_makes_no_sense_is_refused(weeks, asked, message) -> None:
    assert message in " ".join(refused("compare", *weeks, *asked).split())


def test_a_gate_without_a_verdict_is_refused(weeks, tmp_path) -> None:
    """Half of the objects moved: exit code 2."""
    frame = pd.read_csv(weeks[0])
    moved = {name: k < 3 for k, name in enumerate(NAMES)}
    a_lost, b_lost = frame["model_a"].map(moved), frame["model_b"].map(moved)
    frame.loc[a_lost & ~b_lost, "winner"] = np.where(np.arange((a_lost & ~b_lost).sum()) % 10, "model_b", "model_a")
    frame.loc[b_lost & ~a_lost, "winner"] = np.where(np.arange((b_lost & ~a_lost).sum()) % 10, "model_a", "model_b")
    frame.to_csv(tmp_path / "half.csv", index=False)
    result = run("compare", weeks[0], tmp_path / "half.csv", "--fail-if-worse", "m0")
    assert result.exit_code == 2
    assert "no verdict: 3 objects changed relative to the other 3" in result.stderr


def test_anchors_and_groups_are_passed_on(weeks) -> None:
    result = run("compare", *weeks, "--anchor", "m4,m5", "--groups", "prompt", "--format", "json")
    rows = pd.DataFrame(json.loads(result.stdout)["rows"]).set_index("object")
    assert rows.index[rows["is_anchor"] == "yes"].tolist() == ["m4", "m5"]
