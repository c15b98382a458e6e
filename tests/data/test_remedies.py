"""Every remedy that a refusal prints is pasted: it answers or says something else, and loses no judgment in silence."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.pasting import after, arguments, statements
from support.refusals import BATTLES, JUDGED, LONG, METRICS, RANKS, WIDE, Refused, refusals

import llbt
from llbt.errors import LLBTError
from llbt.metrics import MetricScores

CASES = refusals()
_OTHERS = ("left out", "kept by where=", "merged")  # what notes on fewer judgments say


def refusal(case: Refused, **beside: Any) -> LLBTError | None:
    """Return what a door says of a table; none where it answers."""
    try:
        found = case.door(case.frame.copy(), **{**case.said, **beside})
    except LLBTError as error:
        return error
    n = getattr(found, "n_judgments", None)
    if n is not None and "wins_i" not in case.frame and case.door in (llbt.from_judgments, llbt.read_judgments):
        assert n >= len(case.frame) or any(word in note for note in found.notes for word in _OTHERS), found.notes
    return None


def pasted(case: Refused) -> int:
    """Paste every remedy of a refusal and return how many there were."""
    error = refusal(case)
    if error is None:
        return 0
    assert "=…" not in error.remedy, str(error)
    assert ": …" not in error.remedy, str(error)
    ways = arguments(f"{error.expected} {error.remedy}" if "Pass" in error.expected else error.remedy)
    for way in ways:
        again = refusal(case, **way)
        assert again is None or str(again) != str(error), f"{way} leads to the same message: {error}"
    return len(ways)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_refusal_proposes_works_when_it_is_pasted(case: Refused) -> None:
    pasted(case)


@pytest.mark.slow
def test_there_are_remedies_to_paste() -> None:
    assert sum(refusal(case) is not None for case in CASES) > 150
    assert sum(len(arguments(error.remedy)) for case in CASES if (error := refusal(case)) is not None) > 90


@pytest.mark.shared
@pytest.mark.slow
def test_remedies_of_the_tables_of_layouts_work(shared: Path) -> None:
    tables = json.loads((shared / "layouts" / "tables.json").read_text())
    done = 0
    for table, door in itertools.product(tables, (llbt.from_judgments, llbt.read_judgments, llbt.audit)):
        done += pasted(Refused(table["name"], door, pd.DataFrame(table["columns"])))
    assert done > 40


def test_arguments_are_taken_as_they_stand() -> None:
    said = 'Pass weights="a b" (2) or ignore=["a b", "c"]; or objects=("x", "y"), outcome="z"; fit(…, prior=1.0).'
    assert arguments(said) == [
        {"weights": "a b"},
        {"ignore": ["a b", "c"]},
        {"objects": ("x", "y"), "outcome": "z"},
        {"prior": 1.0},
    ]
    assert arguments("Pass outcomes= with what each label means; see c.prior=1.") == []


# -- what is typed in pandas ------------------------------------------------------------------------------------------

_ROW = ["engdeu01", "SysA", 12, "TGT", "eng", "deu", 78, "doc1", False, "[]", 1.0, 2.0]
_MORE_ROWS = [[_ROW[0], f"Sys{s}", segment, *_ROW[3:]] for s in "BC" for segment in (12, 13)]
RAW = pd.DataFrame([_ROW, [*_ROW[:3], "BAD", *_ROW[4:]], *_MORE_ROWS])  # an export of Appraise, which has no header
LANGUAGES = pd.concat([LONG.assign(language="en"), LONG.assign(language="de")])
FLAGS = JUDGED.assign(flag=[True, 2, 3, 4, 5, 6])
PANDAS = (  # table, door and options whose remedy is a call of pandas
    Refused("bad cell", llbt.scores.leaderboard, WIDE.assign(a=["0.5", "-", "0.1"])),
    Refused("a metric twice", MetricScores.from_frame, pd.concat([METRICS, METRICS.iloc[:1]])),
    Refused("another language", llbt.scores.leaderboard, LANGUAGES),
    Refused("numbers and flags", llbt.from_judgments, FLAGS, {"covariates": "flag"}),
)
AUDITED = {  # table of judgments or lists → the check whose finding has a call of pandas
    "missing": JUDGED.assign(outcome=["i", None, "j", "i", "j", "i"]),
    "missing judge": (JUDGED.assign(judge=["g", None, "g", "h", "h", "h"]), "missing"),
    "missing object": (JUDGED.assign(object_i=["A", None, "A", "C", "B", "C"]), "missing"),
    "self_comparisons": JUDGED.assign(object_j=["A", "C", "C", "B", "A", "A"]),
    "labels": JUDGED.assign(object_i=["A", "B", "a ", "C", "B", "C"]),
    "labels of judges": (JUDGED.assign(judge=["g", "g", "G", "h", "h", "h"]), "labels"),
    "duplicates": pd.concat([BATTLES.assign(judge=[*"gghhkk"], prompt=1)] * 2, ignore_index=True),
}


def told(door: Any, frame: pd.DataFrame, **said: Any) -> LLBTError:
    with pytest.raises(LLBTError) as refused:
        door(frame, **said)
    return refused.value


@pytest.mark.parametrize("case", PANDAS, ids=lambda case: case.name)
def test_calls_of_pandas_work_when_they_are_pasted(case: Refused) -> None:
    error = told(case.door, case.frame.copy(), **case.said)
    ways = statements(error.remedy)
    assert ways, error
    for lines in ways:
        changed = Refused(case.name, case.door, after(case.frame, lines), case.said)
        again = refusal(changed)
        assert again is None or str(again) != str(error), lines


def test_the_columns_of_an_export_of_appraise_are_named_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    RAW.to_csv(path, index=False, header=False)
    error = told(llbt.scores.leaderboard, str(path))
    ((*lines,),) = statements(error.remedy)
    frame = after(pd.DataFrame(), lines)
    assert len(lines) == 2
    assert len(frame) == len(RAW) - 1
    (way,) = arguments(error.remedy.rpartition("then pass ")[2])
    assert llbt.scores.leaderboard(frame, **way).to_frame()["object"].nunique() == 3


@pytest.mark.parametrize("name", AUDITED)
def test_calls_of_pandas_of_an_audit_mend_what_was_found(name: str) -> None:
    found = AUDITED[name]
    frame, check = found if isinstance(found, tuple) else (found, name)
    (finding,) = [finding for finding in llbt.audit(frame).findings if finding.check == check]
    ways = statements(finding.remedy)
    assert ways, finding
    for lines in ways:
        again = [other for other in llbt.audit(after(frame, lines)).findings if other.check == check]
        assert [other.found for other in again] != [finding.found], lines


def test_calls_of_pandas_of_an_audit_of_lists_mend_what_was_found() -> None:
    odd = RANKS.assign(object=["A", "B", "C", "a ", "B", "C"], judge="g")
    twice = pd.concat([RANKS, RANKS.assign(list=RANKS["list"] + 2)]).assign(judge="g")
    for frame, check in ((odd, "labels"), (twice, "duplicates")):
        r = llbt.from_rankings(frame, block="list", clusters="judge")
        (finding,) = [finding for finding in llbt.audit(r).findings if finding.check == check]
        (lines,) = statements(finding.remedy)
        assert sorted(after(frame, lines)["object"].unique()) == ["A", "B", "C"]


def test_statements_are_taken_as_they_stand() -> None:
    said = (
        "Leave them out: frame = pandas.read_csv('x'); frame = frame[frame['a'] != 1]; or frame.dropna(subset=['a'])."
    )
    assert statements(said) == [
        ["frame = pandas.read_csv('x')", "frame = frame[frame['a'] != 1]"],
        ["frame.dropna(subset=['a'])"],
    ]
