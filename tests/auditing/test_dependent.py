"""The audit, measured on boards without a defect whose judgments depend on each other.

The table is simulations/dependent_boards.json.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.dependent import BOARDS, KINDS, SEED, SIZES, accused, accusers
from support.folders import SIMULATIONS
from support.planted import board

import llbt


def committed() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SIMULATIONS / "dependent_boards.json").read_text(encoding="utf-8"))
    return found


def test_all_checks_together_accuse_one_board_in_twenty_at_most() -> None:
    cells = committed()["cells"]
    assert list(cells) == [f"{objects} objects, {n} judgments" for objects, n in SIZES]
    for kinds in cells.values():
        assert list(kinds) == list(KINDS)
        assert np.mean([found["any"] for found in kinds.values()]) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_dependence_is_no_defect(kind: str) -> None:
    """Of four boards one at most is accused; without allowing for dependence nearly all in both orders were."""
    rng = np.random.default_rng(8)
    assert sum(bool(accusers(kind, KINDS[kind](board(rng, 10, 1_000)))) for _ in range(4)) <= 1


def test_sorted_rows_do_not_drift() -> None:
    """Rows in the order of prompts, each judged in both orders: 60 of 60 such studies were said to drift."""
    rng = np.random.default_rng(9)
    frame = KINDS["both orders, prompts differ, sorted by prompt"](board(rng, 8, 1_000))
    finding = llbt.audit(frame).finding("drift")
    assert finding.level == "ok"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("objects", "n"), SIZES)
def test_the_committed_table_can_be_made_again(objects: int, n: int) -> None:
    expected = committed()["cells"][f"{objects} objects, {n} judgments"]
    assert {kind: accused(kind, objects, n, BOARDS, SEED) for kind in KINDS} == expected
