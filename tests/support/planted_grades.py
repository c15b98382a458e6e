"""Boards of graded judgments with one planted defect, and what the audit says of them.

A clean board: that of `support.planted`, judged in five grades, i+, i, tie, j, j+, with γ of the tie .2 and of the
larger grade −.6. A defect has three strengths.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pandas as pd
from support.planted import Board, Defect, board, largest_judge, names

import llbt
from llbt.auditing.checks import run
from llbt.auditing.evidence import Evidence, Named, from_source
from llbt.core.response import graded
from llbt.data.asked import Asked
from llbt.data.countable import countable

FIVE, TIE, LARGER = graded(2, middle=True), 0.2, -0.6
FORMAT = llbt.formats.columns(outcome="grade", outcomes={2: 2, 1: 1, 0: 0, -1: -1, -2: -2})
CHECKS = ("grades", "turned_scale")


def drawn(b: Board) -> pd.DataFrame:
    """Return the judgments of a board as a frame, in the order in which they were made."""
    p, _ = FIVE.probabilities(np.array([b.lead, np.full(b.size, TIE), np.full(b.size, LARGER)]))
    edges = p.T.cumsum(axis=1)[:, :-1]
    said = (b.rng.random(b.size)[:, None] > edges).sum(axis=1)
    label = names(len(b.worth))
    columns = {"object_i": label[b.pairs[:, 0]], "object_j": label[b.pairs[:, 1]], "grade": 2 - said}
    return pd.DataFrame(columns | {"judge": b.judge, "prompt": b.prompt, "language": b.task})


def _some(b: Board, share: float, whole: bool = False) -> np.ndarray:
    return (whole | (b.judge == largest_judge(b))) & (b.rng.random(b.size) < share)


def only_ends(b: Board, share: float) -> pd.DataFrame:
    frame, rows = drawn(b), _some(b, share)
    return frame.assign(grade=np.where(rows, 2 * np.sign(frame["grade"]), frame["grade"]))


def never_ends(b: Board, share: float) -> pd.DataFrame:
    frame, rows = drawn(b), _some(b, share)
    return frame.assign(grade=np.where(rows, np.sign(frame["grade"]), frame["grade"]))


def turned(b: Board, share: float) -> pd.DataFrame:
    frame, rows = drawn(b), _some(b, share)
    return frame.assign(grade=np.where(rows, -frame["grade"], frame["grade"]))


def sizes_turned(b: Board, share: float, whole: bool = False) -> pd.DataFrame:
    frame, rows = drawn(b), _some(b, share, whole)
    return frame.assign(grade=np.where(rows, 3 * np.sign(frame["grade"]) - frame["grade"], frame["grade"]))


def all_sizes_turned(b: Board, share: float) -> pd.DataFrame:
    return sizes_turned(b, share, whole=True)


DEFECTS = {
    "judge with the ends alone": Defect(only_ends, (0.2, 0.5, 1.0), "share of preferences", ("grades",)),
    "judge who never uses the ends": Defect(never_ends, (0.2, 0.5, 1.0), "share of preferences", ("grades",)),
    "judge with the scale turned": Defect(turned, (0.5, 0.8, 1.0), "share of answers", ("turned_scale",)),
    "judge with the sizes turned": Defect(sizes_turned, (0.5, 0.8, 1.0), "share of answers", ("turned_scale",)),
    "file with the sizes turned": Defect(all_sizes_turned, (0.6, 0.8, 1.0), "share of answers", ("turned_scale",)),
}


def _without_worths(b: Board) -> Board:
    """Return a board on which all objects are equal: where grades run along with nothing, and nearly against."""
    b.lead[:] = 0
    return b


def evidence(frame: pd.DataFrame) -> Evidence:
    return from_source(countable(frame, FORMAT, Asked(), 0), Named())


def names_it(frame: pd.DataFrame, checks: tuple[str, ...]) -> list[bool]:
    """Return whether each check of an audit finds something, without running the others."""
    return [finding.is_failure for finding in run(evidence(frame), checks)]


CELLS = tuple((objects, n) for n in (1_000, 20_000) for objects in (10, 60, 130))
BOARDS, CLEAN, SEED = 4, 100, 18


def cell(objects: int, n: int) -> dict[str, Any]:
    """Return the shares of one size of board in which a check finds something: clean ones, and by defect."""
    rng = np.random.default_rng(SEED)
    clean = np.mean([names_it(drawn(board(rng, objects, n)), CHECKS) for _ in range(CLEAN)], axis=0)
    equal = np.mean([names_it(drawn(_without_worths(board(rng, objects, n))), CHECKS) for _ in range(CLEAN)], axis=0)
    named: dict[str, list[float]] = {}
    for name, defect in DEFECTS.items():
        boards = ((defect.plant(board(rng, objects, n), s) for _ in range(BOARDS)) for s in defect.strengths)
        named[name] = [float(np.mean([names_it(frame, defect.checks)[0] for frame in some])) for some in boards]
    shares = {
        what: dict(zip(CHECKS, found.tolist(), strict=True)) for what, found in (("clean", clean), ("equal", equal))
    }
    return {**shares, "named": named}


if __name__ == "__main__":
    chosen = [(int(sys.argv[1]), int(sys.argv[2]))] if len(sys.argv) > 2 else list(CELLS)
    print(json.dumps({f"{objects} objects, {n} judgments": cell(objects, n) for objects, n in chosen}, indent=1))
