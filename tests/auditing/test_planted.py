"""The audit, measured: boards with one planted defect, and clean ones.

The table is simulations/planted_defects.json.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.folders import SIMULATIONS
from support.planted import CELLS, DEFECTS, board, cell, cries, drawn, names, names_it

from llbt.auditing.checks import CHECKS
from llbt.auditing.labels import near_duplicates

TABLE = SIMULATIONS / "planted_defects.json"


@pytest.mark.parametrize("name", DEFECTS)
@pytest.mark.slow
def test_the_strongest_defect_is_named(name: str) -> None:
    """On a board of 10 objects and 3,000 judgments."""
    defect = DEFECTS[name]
    assert set(defect.checks) <= set(CHECKS)
    frame = defect.plant(board(np.random.default_rng(2), 10, 3_000), defect.strengths[2])
    found = cries(frame)
    assert set(defect.checks) & set(found), found
    assert names_it(frame, defect.checks)


@pytest.mark.slow
def test_clean_boards_are_in_order() -> None:
    found = [cries(drawn(board(np.random.default_rng(seed), 10, 1_000))) for seed in range(20)]
    assert sum(map(bool, found)) <= 3  # expected is less than one; four have probability .02 at .05


def test_no_two_names_of_a_board_are_alike() -> None:
    assert len(set(names(130))) == 130
    assert near_duplicates(names(130).tolist()) == ([], "")


def committed() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def test_the_committed_table_is_that_of_these_defects() -> None:
    table = committed()
    assert table["defects"] == {
        name: {"strengths": list(defect.strengths), "what": defect.what, "checks": list(defect.checks)}
        for name, defect in DEFECTS.items()
    }
    clean = [found["clean"]["any"] - found["clean"].get("separation", 0.0) for found in table["cells"].values()]
    assert np.mean(clean) <= 0.05


@pytest.mark.exhaustive
@pytest.mark.parametrize(("objects", "n"), CELLS)
def test_the_committed_table_can_be_made_again(objects: int, n: int) -> None:
    expected = committed()["cells"][f"{objects} objects, {n} judgments"]
    found = cell(objects, n)
    assert found["clean"] == pytest.approx(expected["clean"], abs=1e-3)
    for name, shares in found["named"].items():
        assert shares == pytest.approx(expected["named"][name], abs=1e-3)
