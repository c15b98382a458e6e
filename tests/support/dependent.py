"""Boards without a defect whose judgments depend on each other, and what the audit says of them.

As the clean boards of `support.planted`, but judgments of one prompt, or by one judge, share worths of their own, are
repeated in the other order, or are the pairs of one ranking; and rows stand in the order of prompts or judges. Nothing
is wrong with them but that: `blocks` says so rightly, `swapped` notes that verdicts flip, estimates of a judge alone
may be infinite, and nothing else is to be found.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import llbt

from .planted import Board, board, drawn, names

RIGHTLY = ("blocks", "judge_separation")


def prompts_differ(b: Board, spread: float = 0.35) -> Board:
    own = b.rng.normal(0, spread, (int(b.prompt.max()) + 1, len(b.worth)))
    b.lead += own[b.prompt, b.pairs[:, 0]] - own[b.prompt, b.pairs[:, 1]]
    return b


def judges_differ(b: Board, spread: float = 0.25) -> Board:
    own = b.rng.normal(0, spread, (int(b.judge.max()) + 1, len(b.worth)))
    b.lead += own[b.judge, b.pairs[:, 0]] - own[b.judge, b.pairs[:, 1]]
    return b


def halved(b: Board) -> Board:
    """Return the first half of a board, so that in both orders it has as many judgments as the others."""
    some = slice(0, b.size // 2)
    return Board(
        b.rng, b.worth, b.pairs[some], b.judge[some], b.prompt[some], b.task[some], b.lead[some], b.gamma[some]
    )


def both_orders(b: Board, agree: float, bias: float = 0.0) -> pd.DataFrame:
    """Return every judgment in both orders: the same verdict with this probability, else another draw."""
    own = b.rng.normal(0, bias, int(b.judge.max()) + 1)[b.judge]
    b.lead += own
    one = drawn(b)
    b.lead -= 2 * own
    other = drawn(b)
    same = b.rng.random(b.size) < agree
    other["outcome"] = np.where(same, one["outcome"], other["outcome"])
    said = other["outcome"].map({"i": "j", "j": "i", "tie": "tie"})
    other = other.assign(object_i=other["object_j"], object_j=other["object_i"], outcome=said)
    return pd.concat([one, other], ignore_index=True)


def by_rankings(b: Board) -> pd.DataFrame:
    """Return the pairs of rankings of four objects, one after the other, a block each."""
    blocks, label = b.size // 6, names(len(b.worth))
    rows = []
    for block in range(blocks):
        chosen = b.rng.permutation(len(b.worth))[:4]
        placed = chosen[np.argsort(-(2 * b.worth[chosen] + b.rng.gumbel(size=4)))]
        place = {k: n for n, k in enumerate(placed.tolist())}
        for n, i in enumerate(chosen.tolist()):
            rows += [(label[i], label[j], "i" if place[i] < place[j] else "j", block) for j in chosen[n + 1 :].tolist()]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "block"])
    turned = b.rng.random(len(frame)) < 0.5
    swapped = frame.assign(
        object_i=frame["object_j"], object_j=frame["object_i"], outcome=frame["outcome"].map({"i": "j", "j": "i"})
    )
    mixed = pd.concat([frame[~turned], swapped[turned]]).sort_index()
    return mixed.assign(judge=b.judge[mixed["block"]], prompt=mixed["block"])


def by(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    return frame.sort_values(list(columns), kind="stable").reset_index(drop=True)


KINDS: dict[str, Callable[[Board], pd.DataFrame]] = {
    "prompts differ": lambda b: drawn(prompts_differ(b)),
    "prompts differ, sorted by prompt": lambda b: by(drawn(prompts_differ(b)), "prompt"),
    "judges differ": lambda b: drawn(judges_differ(b)),
    "judges differ, sorted by judge": lambda b: by(drawn(judges_differ(b)), "judge"),
    "both differ, sorted by prompt": lambda b: by(drawn(judges_differ(prompts_differ(b))), "prompt"),
    "both orders, sorted by prompt": lambda b: by(both_orders(halved(b), 0.8), "prompt"),
    "both orders, sorted by judge": lambda b: by(both_orders(halved(b), 0.8), "judge"),
    "both orders, prompts differ, sorted by prompt": lambda b: by(
        both_orders(prompts_differ(halved(b)), 0.8), "prompt"
    ),
    "both orders, independent": lambda b: both_orders(halved(b), 0.0),
    "both orders, judges with position bias": lambda b: both_orders(halved(b), 0.3, bias=0.25),
    "rankings of four": by_rankings,
}
BOARDS, SEED = 30, 5
SIZES = ((10, 1_000), (10, 4_000))


def accusers(kind: str, frame: pd.DataFrame) -> list[str]:
    """Return the checks that find what is not so; verdicts that flip are noted, and of biased judges they do."""
    findings = [finding for finding in llbt.audit(frame).findings if finding.is_failure]
    flips = [f.check for f in findings if f.check == "swapped" and (f.level == "note" or "bias" in kind)]
    return [finding.check for finding in findings if finding.check not in (*RIGHTLY, *flips)]


def accused(kind: str, objects: int, n: int, boards: int, seed: int) -> dict[str, float]:
    """Return the share of boards in which each check finds something that is not so, and any of them."""
    rng = np.random.default_rng(seed)
    found = [accusers(kind, KINDS[kind](board(rng, objects, n))) for _ in range(boards)]
    every = sorted({check for checks in found for check in checks})
    shares = {check: round(float(np.mean([check in checks for checks in found])), 4) for check in every}
    return {"any": round(float(np.mean([bool(checks) for checks in found])), 4)} | shares


def table(boards: int = BOARDS) -> dict[str, Any]:
    return {
        f"{objects} objects, {n} judgments": {kind: accused(kind, objects, n, boards, SEED) for kind in KINDS}
        for objects, n in SIZES
    }


if __name__ == "__main__":
    print(json.dumps(table(int(sys.argv[1]) if len(sys.argv) > 1 else BOARDS), indent=1))
