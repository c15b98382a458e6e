"""Boards of judgments with one planted defect, and what the audit says of them.

A clean board: objects with worths from N(0, .35²) (log-worth), every pair equally likely and shown in either order,
ties with γ = −.7; judges of unequal size; each prompt judged ten times, by ten judges, no judgment twice; a column of
languages that says nothing. All judgments are independent. A defect has three strengths.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import llbt
from llbt.auditing.checks import run
from llbt.auditing.evidence import Named, from_source
from llbt.data.asked import Asked
from llbt.data.countable import countable

OUTCOMES = np.array(["i", "tie", "j"])
SPREAD, GAMMA, PER_PROMPT = 0.35, -0.7, 10
SYLLABLES = ("ba", "do", "fe", "gu", "ki", "lo", "mu", "ne", "po", "ra", "si", "tu", "ve", "wo", "xa", "zi")


@dataclass
class Board:
    """What judgments are drawn from; a defect changes some of it before they are drawn, or the frame after."""

    rng: np.random.Generator
    worth: np.ndarray
    pairs: np.ndarray
    judge: np.ndarray
    prompt: np.ndarray
    task: np.ndarray
    lead: np.ndarray  # log-worth of i less that of j, with what else favours i
    gamma: np.ndarray

    @property
    def size(self) -> int:
        return len(self.pairs)


def names(number: int) -> np.ndarray:
    """Return made names, no two of them alike: three syllables, all different in two."""
    found = [
        a + b + c
        for k, a in enumerate(SYLLABLES)
        for m, b in enumerate(SYLLABLES)
        for c in [SYLLABLES[(k + 3 * m) % len(SYLLABLES)]]
    ]
    return np.array(found[:number], dtype=object)


def board(rng: np.random.Generator, objects: int, n: int) -> Board:
    """Return a clean board before its outcomes are drawn."""
    worth = rng.normal(0, SPREAD, objects)
    worth = np.clip(worth, -2 * SPREAD, 2 * SPREAD)
    deck = np.concatenate([rng.permutation(objects) for _ in range(2 * n // objects + 3)])  # objects equally often
    pairs = deck[: 2 * n].reshape(n, 2).copy()
    same = pairs[:, 0] == pairs[:, 1]
    pairs[same, 1] = (pairs[same, 0] + 1) % objects
    flip = rng.random(n) < 0.5
    pairs[flip] = pairs[flip, ::-1]
    judges = max(12, n // 400)
    share = rng.dirichlet(np.full(judges, 8.0))
    keys = np.log(share) + rng.gumbel(size=(-(-n // PER_PROMPT), judges))  # ten judges of a prompt, without replacement
    judge = np.argsort(-keys, axis=1)[:, :PER_PROMPT].ravel()[:n]
    prompt = np.repeat(np.arange(len(keys)), PER_PROMPT)[:n]
    shuffled = rng.permutation(n)
    judge, prompt = judge[shuffled], prompt[shuffled]
    lead = worth[pairs[:, 0]] - worth[pairs[:, 1]]
    return Board(rng, worth, pairs, judge, prompt, rng.integers(0, 3, n), lead, np.full(n, GAMMA))


def drawn(b: Board) -> pd.DataFrame:
    """Return the judgments of a board as a frame, in the order in which they were made."""
    weights = np.exp(np.column_stack([b.lead, b.gamma, -b.lead]))
    edges = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    said = np.minimum((b.rng.random(b.size)[:, None] > edges).sum(axis=1), 2)
    label = names(len(b.worth))
    return pd.DataFrame(
        {
            "object_i": label[b.pairs[:, 0]],
            "object_j": label[b.pairs[:, 1]],
            "outcome": OUTCOMES[said],
            "judge": b.judge,
            "prompt": b.prompt,
            "language": np.array(["de", "en", "fr"])[b.task],
        }
    )


def exchanged(frame: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """Return the judgments with wins of i as wins of j in some rows."""
    said = frame["outcome"].map({"i": "j", "j": "i", "tie": "tie"})
    return frame.assign(outcome=np.where(rows, said, frame["outcome"]))


def largest_judge(b: Board) -> int:
    """Return the judge in the middle of the judges by size."""
    return int(np.argsort(np.bincount(b.judge))[len(np.unique(b.judge)) // 2])


# -- the fourteen defects: a board and a strength → a frame -------------------------------------------------------


def duplicated(b: Board, share: float) -> pd.DataFrame:
    frame = drawn(b)
    copies = frame.iloc[b.rng.choice(b.size, max(1, round(share * b.size)), replace=False)]
    return pd.concat([frame, copies], ignore_index=True)


def one_voter(b: Board, share: float) -> pd.DataFrame:
    rows = b.rng.random(b.size) < share
    b.judge[rows] = b.judge.max() + 1
    b.prompt[rows] = b.prompt.max() + 1 + np.arange(int(rows.sum()))
    return drawn(b)


def colluding(b: Board, share: float) -> pd.DataFrame:
    """Voters of their own, three, who vote for one object wherever they meet it, which is in half of their votes."""
    target = int(np.argsort(b.worth)[len(b.worth) // 2])
    rows = np.flatnonzero(b.rng.random(b.size) < share)
    b.judge[rows] = b.judge.max() + 1 + np.arange(len(rows)) % 3
    b.prompt[rows] = b.prompt.max() + 1 + np.arange(len(rows))
    meets = rows[: len(rows) // 2]
    side = b.rng.integers(0, 2, len(meets))
    other = (target + b.rng.integers(1, len(b.worth), len(meets))) % len(b.worth)
    b.pairs[meets, side], b.pairs[meets, 1 - side] = target, other
    b.lead[meets] = np.where(side == 0, 8.0, -8.0)
    return drawn(b)


def careless(b: Board, share: float) -> pd.DataFrame:
    rows = (b.judge == largest_judge(b)) & (b.rng.random(b.size) < share)
    b.lead[rows] = 0.0
    return drawn(b)


def sides_swapped(b: Board, share: float) -> pd.DataFrame:
    frame = drawn(b)
    return exchanged(frame, (b.judge == largest_judge(b)) & (b.rng.random(b.size) < share))


def position_bias(b: Board, delta: float) -> pd.DataFrame:
    b.lead += delta
    return drawn(b)


def spelled_twice(b: Board, share: float) -> pd.DataFrame:
    frame = drawn(b)
    name = str(names(len(b.worth))[0])
    spellings = (name.upper(), f" {name}", name[:-1] + "y", name[:2] + "-" + name[2:])
    other = spellings[int(b.rng.integers(len(spellings)))]
    for side in ("object_i", "object_j"):
        rows = (frame[side] == name) & (b.rng.random(b.size) < share)
        frame[side] = frame[side].where(~rows, other)
    return frame


def labels_exchanged(b: Board, share: float) -> pd.DataFrame:
    """A part of the file, in one piece, has the outcomes exchanged, as where two files are joined."""
    start = b.rng.integers(0, round((1 - share) * b.size) + 1)
    place = np.arange(b.size)
    return exchanged(drawn(b), (place >= start) & (place < start + share * b.size))


def nearly_apart(b: Board, bridges: float) -> pd.DataFrame:
    """A third of the objects meets the others in so many judgments only."""
    part = np.arange(len(b.worth)) < len(b.worth) // 3
    frame = drawn(b)
    across = np.flatnonzero(part[b.pairs[:, 0]] != part[b.pairs[:, 1]])
    return frame.drop(index=across[int(bridges) :]).reset_index(drop=True)


def baseline(b: Board, share: float) -> pd.DataFrame:
    rows = np.flatnonzero((b.rng.random(b.size) < share) & (b.pairs != 0).all(axis=1))
    side = b.rng.integers(0, 2, len(rows))
    b.pairs[rows, side] = 0
    b.lead = b.worth[b.pairs[:, 0]] - b.worth[b.pairs[:, 1]]
    return drawn(b)


def drifting(b: Board, change: float) -> pd.DataFrame:
    moment = np.linspace(-0.5, 0.5, b.size)
    b.lead += change * moment * ((b.pairs[:, 0] == 0).astype(float) - (b.pairs[:, 1] == 0))
    return drawn(b)


def no_ties(b: Board, share: float) -> pd.DataFrame:
    """All judges have this share of ties between equals, but one, who has none."""
    b.gamma[:] = np.log(2 * share / (1 - share))
    b.gamma[b.judge == largest_judge(b)] = -30.0
    return drawn(b)


def blocks(b: Board, spread: float) -> pd.DataFrame:
    """Each prompt is judged on three objects, whose worths differ between prompts."""
    objects = len(b.worth)
    prompts = int(b.prompt.max()) + 1
    shown = np.argsort(b.rng.random((prompts, objects)), axis=1)[:, :3]
    pick = b.rng.permuted(np.tile([0, 1, 2], (b.size, 1)), axis=1)[:, :2]
    own = spread * b.rng.normal(size=(prompts, 3))
    b.pairs = shown[b.prompt[:, None], pick]
    lead = b.worth[b.pairs] + own[b.prompt[:, None], pick]
    b.lead = lead[:, 0] - lead[:, 1]
    return drawn(b)


def two_tasks(b: Board, correlation: float) -> pd.DataFrame:
    """In one of three languages objects have other worths, which correlate with those in the others."""
    other = correlation * b.worth + np.sqrt(1 - correlation**2) * b.rng.normal(0, SPREAD, len(b.worth))
    rows = b.task == 0
    b.lead[rows] = other[b.pairs[rows, 0]] - other[b.pairs[rows, 1]]
    return drawn(b)


@dataclass(frozen=True)
class Defect:
    """A defect, what plants it, its strengths from weak to strong, what these are, and the checks that name it."""

    plant: Callable[[Board, float], pd.DataFrame]
    strengths: tuple[float, float, float]
    what: str
    checks: tuple[str, ...]


DEFECTS = {
    "duplicated votes": Defect(duplicated, (0.001, 0.01, 0.1), "share of rows copied", ("duplicates",)),
    "one voter a thousand times": Defect(
        one_voter, (0.05, 0.2, 0.5), "the voter's share of all votes", ("dominant_judge",)
    ),
    "colluding voters": Defect(
        colluding, (0.03, 0.06, 0.12), "share of three voters' votes", ("outlying_judges", "judges")
    ),
    "careless judge": Defect(careless, (0.5, 0.8, 1.0), "share of answers by lot", ("outlying_judges", "judges")),
    "judge with the sides swapped": Defect(sides_swapped, (0.5, 0.8, 1.0), "share of answers", ("outlying_judges",)),
    "position bias": Defect(position_bias, (0.05, 0.1, 0.2), "delta, log-worth", ("position",)),
    "label spelled two ways": Defect(
        spelled_twice, (0.05, 0.2, 0.5), "share under the other name", ("labels", "similar_labels")
    ),
    "outcome labels swapped": Defect(
        labels_exchanged, (0.05, 0.15, 0.4), "share of the file, in one piece", ("drift",)
    ),
    "part nearly apart": Defect(nearly_apart, (6, 2, 0), "judgments across", ("disconnected", "bridges", "separation")),
    "baseline design": Defect(baseline, (0.9, 0.97, 1.0), "share with the baseline", ("baseline",)),
    "drift of one object": Defect(drifting, (0.35, 0.7, 1.4), "change of log-worth over the file", ("drift",)),
    "ties one judge never uses": Defect(no_ties, (0.1, 0.2, 0.3), "share of ties of the others", ("ties",)),
    "blocks taken as independent": Defect(blocks, (0.25, 0.5, 1.0), "sd of log-worths between prompts", ("blocks",)),
    "two tasks pooled": Defect(two_tasks, (0.8, 0.4, 0.0), "correlation of their worths", ("tasks",)),
}


def cries(frame: pd.DataFrame) -> list[str]:
    """Return the checks that find something, whatever the level."""
    return [finding.check for finding in llbt.audit(frame).findings if finding.is_failure]


def names_it(frame: pd.DataFrame, checks: tuple[str, ...]) -> bool:
    """Return whether one of some checks of an audit finds something, without running the others."""
    evidence = from_source(countable(frame, None, Asked(), 0), Named())
    return any(finding.is_failure for finding in run(evidence, checks))


def share_named(defect: Defect, strength: float, objects: int, n: int, boards: int, seed: int) -> float:
    """Return the share of boards with a defect in which the audit names it."""
    rng = np.random.default_rng(seed)
    boards_of_it = (defect.plant(board(rng, objects, n), strength) for _ in range(boards))
    return float(np.mean([names_it(frame, defect.checks) for frame in boards_of_it]))


def share_crying(objects: int, n: int, boards: int, seed: int) -> dict[str, Any]:
    """Return the share of clean boards in which each check finds something, and any of them."""
    rng = np.random.default_rng(seed)
    found = [cries(drawn(board(rng, objects, n))) for _ in range(boards)]
    every = sorted({check for checks in found for check in checks})
    shares = {check: float(np.mean([check in checks for checks in found])) for check in every}
    return {"any": float(np.mean([bool(checks) for checks in found]))} | shares


# -- the table ----------------------------------------------------------------------------------------------------

CELLS = tuple((objects, n) for n in (1_000, 20_000) for objects in (10, 60, 130))
BOARDS, CLEAN, SEED = 4, 20, 15


def cell(objects: int, n: int) -> dict[str, Any]:
    """Return the shares of one size of board: clean ones, and by defect those of its three strengths."""
    planted = {
        name: [
            share_named(defect, strength, objects, n, BOARDS, SEED + 100 * k + m)
            for m, strength in enumerate(defect.strengths)
        ]
        for k, (name, defect) in enumerate(DEFECTS.items())
    }
    return {"clean": share_crying(objects, n, CLEAN, SEED), "named": planted}


if __name__ == "__main__":
    chosen = [(int(sys.argv[1]), int(sys.argv[2]))] if len(sys.argv) > 2 else list(CELLS)
    print(json.dumps({f"{objects} objects, {n} judgments": cell(objects, n) for objects, n in chosen}, indent=1))
