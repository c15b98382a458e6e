"""The audit of grades, measured: boards with one planted defect, and clean ones.

The table is simulations/planted_grades.json.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.folders import SIMULATIONS
from support.planted import board
from support.planted_grades import CELLS, CHECKS, DEFECTS, FORMAT, cell, drawn, names_it

import llbt

TABLE = SIMULATIONS / "planted_grades.json"


def committed() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", [name for name in DEFECTS if name != "judge with the sizes turned"])
@pytest.mark.slow
def test_the_strongest_defect_is_named(name: str) -> None:
    """On a board of 10 objects and 6,000 judgments."""
    defect = DEFECTS[name]
    frame = defect.plant(board(np.random.default_rng(2), 10, 6_000), defect.strengths[2])
    found = [finding.check for finding in llbt.audit(frame, format=FORMAT).findings if finding.is_failure]
    assert set(defect.checks) & set(found), found
    assert names_it(frame, defect.checks) == [True]


def test_clean_boards_are_in_order() -> None:
    found = [names_it(drawn(board(np.random.default_rng(seed), 10, 1_000)), CHECKS) for seed in range(20)]
    assert np.sum(found) <= 2  # each has the level .005: three of forty have probability .001


def test_the_committed_table_is_that_of_these_defects_and_holds_its_level() -> None:
    table = committed()
    assert table["defects"] == {
        name: {"strengths": list(defect.strengths), "what": defect.what, "checks": list(defect.checks)}
        for name, defect in DEFECTS.items()
    }
    boards = table["clean boards"] * len(table["cells"])
    for check in CHECKS:
        for kind in ("clean", "equal"):
            share = np.mean([found[kind][check] for found in table["cells"].values()])
            assert share <= 0.005 + 2 * np.sqrt(0.005 * 0.995 / boards), (check, kind)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("objects", "n"), CELLS)
def test_the_committed_table_can_be_made_again(objects: int, n: int) -> None:
    expected = committed()["cells"][f"{objects} objects, {n} judgments"]
    found = cell(objects, n)
    for kind in ("clean", "equal"):
        assert found[kind] == pytest.approx(expected[kind], abs=1e-3)
    for name, shares in found["named"].items():
        assert shares == pytest.approx(expected["named"][name], abs=1e-3)
