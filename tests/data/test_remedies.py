"""Every remedy that a refusal prints is pasted: it answers or says something else, and loses no judgment in silence."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.pasting import arguments
from support.refusals import Refused, refusals

import llbt
from llbt.errors import LLBTError

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
