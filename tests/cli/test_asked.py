"""Commands made from functions of the library: the answers of Python, the options of its signatures."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.shell import answered, refused

import llbt
from llbt.cli.asked import _NEEDED, _read

HOMES = [
    "inference.drift.drift",
    "inference.sensitivity.sensitivity",
    "inference.fragility.fragility",
    "inference.held_out.held_out",
    "inference.influence.influence",
    "inference.level_tests.level_tests",
    "report.interpret.interpret",
    "planning.next_pairs.next_pairs",
    "planning.simulated_power.power",
    "planning.scenarios.Scenario",
    "judges.calibrate.calibrate",
]


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    rng = np.random.default_rng(3)
    i = rng.integers(3, size=180)
    j = (i + rng.integers(1, 3, size=180)) % 3
    won = np.where(rng.random(180) < 0.2, "tie", np.where(rng.random(180) < 1 / (1 + np.exp(i - j)), "i", "j"))
    names = np.array(list("xyz"))
    frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "outcome": won})
    frame = frame.assign(prompt=rng.integers(40, size=180), day=rng.integers(1, 4, size=180))
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    frame.to_csv(path, index=False)
    return path


def fit_of(path: Any, cov_type: Any = "cautious") -> Any:
    c = llbt.from_judgments(pd.read_csv(path), clusters=["prompt", "day"])
    return llbt.fit("object + tie", c, cov_type=cov_type)


def same(printed: str, expected: pd.DataFrame) -> None:
    assert printed == expected.to_csv(index=False, lineterminator="\n")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["drift", "--time", "day", "--cov-type", "nonrobust"], lambda res: llbt.drift(res, time="day")),
        (["fragility", "--change", "top", "--k", "2"], lambda res: llbt.fragility(res, change="top", k=2)),
        (
            ["next-pairs", "--n", "2", "--goal", "top", "--k", "1"],
            lambda res: llbt.planning.next_pairs(res, 2, goal="top", k=1),
        ),
        (["influence", "--by", "day"], lambda res: llbt.influence(res, by="day")),
        (["level-tests", "--by", "day"], lambda res: llbt.level_tests(res, by="day")),
        (
            [
                "held-out",
                "--formula",
                "object + tie",
                "--formula",
                "tie",
                "--by",
                "prompt",
                "--folds",
                "3",
                "--rng",
                "1",
            ],
            lambda res: llbt.held_out(
                [res, llbt.fit("tie", res.comparisons, cov_type="cautious")], by="prompt", folds=3, rng=1
            ),
        ),
        pytest.param(
            ["sensitivity", "--leave-out", "object,day"],
            lambda res: llbt.sensitivity(res, leave_out=["object", "day"]),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_rows_are_those_of_python(asked: list[str], expected: Any, votes: Any) -> None:
    name, *options = asked
    printed = answered(name, votes, *options, "--clusters", "prompt,day", "--format", "csv")
    same(printed, expected(fit_of(votes, "nonrobust" if name == "drift" else "cautious")).to_frame())


def test_the_paragraph_is_that_of_python(votes: Any) -> None:
    printed = answered("interpret", votes, "--clusters", "prompt,day", "--confidence", ".9")
    assert " ".join(printed.split()) == " ".join(str(llbt.interpret(fit_of(votes), confidence=0.9)).split())


def test_power_reads_no_file() -> None:
    printed = answered("power", "--odds", "3", "--judgments", "10,20", "--n", "20", "--rng", "1", "--format", "csv")
    expected = llbt.power(llbt.Scenario(odds=3), judgments=[10, 20], n=20, rng=1)
    same(printed, expected.to_frame())
    assert "expected whole numbers" in refused("power", "--judgments", "10,many")
    assert "--judge-sd 1" in refused("power", "--judge-sd", "1")


@pytest.mark.slow
def test_people_and_machines_are_two_files(votes: Any, tmp_path: Any) -> None:
    frame = pd.read_csv(votes)
    few = frame[frame.prompt < 20].assign(outcome=frame.outcome.where(frame.day > 1, "i"))
    few.to_csv(tmp_path / "people.csv", index=False)
    printed = answered("calibrate", tmp_path / "people.csv", votes, "--omega", ".5", "--format", "csv")
    same(printed, llbt.judges.calibrate(few, frame.assign(judge="m"), omega=0.5).to_frame())


@pytest.mark.parametrize("home", HOMES)
def test_source_and_signature_say_the_same(home: str) -> None:
    module, _, name = home.rpartition(".")
    said, parameters = _read(module, name)
    function = getattr(importlib.import_module(f"llbt.{module}"), name)
    defaults = {one.name: one.default for one in inspect.signature(function).parameters.values()}
    assert {one.name: one.default for one in parameters} == defaults
    assert inspect.Parameter.empty is _NEEDED
    first = inspect.getdoc(function).splitlines()[0]  # type: ignore[union-attr]
    assert said.removeprefix("Print ").startswith(first.removeprefix("Return "))


def test_words_of_a_refusal_are_options(votes: Any) -> None:
    both = "Keep it when the table is made: --clusters day. Then fit without clustered errors: --cov-type nonrobust."
    assert both in refused("drift", votes, "--time", "day")
    assert "expected 'leader', 'top' or 'adjacent'" in refused("fragility", votes, "--change", "any")
