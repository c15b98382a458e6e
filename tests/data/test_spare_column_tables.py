"""Tables with columns that their layout does not need: some change nothing, others change the counts (by hand)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.pasting import arguments

import llbt
from llbt.errors import JudgmentError

BASE = {
    "arena": {
        "model_a": list("ABACBC"),
        "model_b": list("BCCBAA"),
        "winner": ["model_a", "tie", "model_b", "model_a", "tie", "model_b"],
    },
    "wins": {"winner": list("ABACBC"), "loser": list("BCCBAA")},
    "counts": {"object_i": list("AAB"), "object_j": list("BCC"), "wins_i": [3, 2, 4], "wins_j": [1, 2, 2]},
}
PLAIN = {"arena": [6, 2], "wins": [6, 0], "counts": [14, 0]}  # judgments and ties
TABLES = json.loads((Path(__file__).parent / "spare_columns.json").read_text())
REFUSED = [table for table in TABLES if table.get("expected") == "refused"]


def name_of(table: dict[str, Any]) -> str:
    return str(table["name"])


def read(table: dict[str, Any], **options: Any) -> llbt.Comparisons:
    door = llbt.from_counts if table["layout"] == "counts" else llbt.from_judgments
    return door(pd.DataFrame({**BASE[table["layout"]], **table["beside"]}), **options)


def test_there_are_thirty_of_each_kind() -> None:
    assert min(sum(table["honest"] is kind for table in TABLES) for kind in (True, False)) >= 30


@pytest.mark.parametrize("table", [table for table in TABLES if table not in REFUSED], ids=name_of)
def test_tables_that_are_read(table: dict[str, Any]) -> None:
    c = read(table)
    assert [c.n_judgments, c.n_ties] == (PLAIN[table["layout"]] if table["honest"] else table["expected"])
    assert all(any(repr(name) in note for note in c.notes) for name in table["beside"]), c.notes


def answer(table: dict[str, Any], **options: Any) -> llbt.Comparisons | str:
    """Return the judgments, or the message that refuses them."""
    try:
        return read(table, **options)
    except JudgmentError as error:
        return str(error)


@pytest.mark.parametrize("table", REFUSED, ids=name_of)
def test_tables_that_are_refused_until_somebody_decides(table: dict[str, Any]) -> None:
    with pytest.raises(JudgmentError) as refused:
        read(table)
    ways = arguments(refused.value.remedy)
    assert ways
    for way in ways:
        c = answer(table, **way)
        assert c != str(refused.value)
        if not isinstance(c, str):
            same = [c.n_judgments, c.n_ties] == PLAIN[table["layout"]]
            assert same is ("ignore" in way), way
