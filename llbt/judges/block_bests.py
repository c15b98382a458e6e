"""Whether an object was among the best of its block, as labels that judges may agree on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..base.table import counted
from ..core.columns import IntArray, groups
from ..core.judgments import Judgments
from ..errors import JudgmentError, listed

BEST_OF_BLOCK = "best_of_block"


def best_of_blocks(judgments: Judgments) -> tuple[Judgments, IntArray, tuple[str, ...]]:
    """Return a row for each object of each block with its label, the row of one judgment of the object, and a note.

    Object j of a row stands for all objects of the block: blocks with the same objects are the same unit.

    Raises
    ------
    JudgmentError
        For judgments without blocks, and a block that compares a pair twice.
    """
    beside = [name for name in ("judge", "prompt") if name in judgments.names and judgments.values(name).notna().all()]
    block, _ = judgments.grouped(["block", *beside], "label")
    _refuse_twice(judgments, block)
    member, of = judgments.pairs.T.ravel(), np.tile(block, 2)
    first, entry = groups([of, member])
    lost = np.bincount(entry, np.concatenate([judgments.outcomes == 2, judgments.outcomes == 0]))
    of, member, rows = of[first], member[first], first % len(block)
    order = np.lexsort((member, of))
    ends = np.flatnonzero(np.diff(of[order])) + 1
    shown = [tuple(one.tolist()) for one in np.split(member[order], ends)]  # by block
    number = {objects: k for k, objects in enumerate(dict.fromkeys(shown), len(judgments.objects))}
    names = [listed([judgments.objects[k] for k in objects], 10) for objects in number]
    taken = judgments.take(rows)
    made = replace(
        taken,
        objects=(*judgments.objects, *names),
        pairs=np.column_stack([member, np.array([number[objects] for objects in shown])[of]]),
        outcomes=np.ones_like(member),
        columns={**taken.columns, BEST_OF_BLOCK: pd.Series(np.where(lost == 0, "best", "rest"))},
    )
    note = "best: no object of the block was preferred to it; all others are the rest"
    return made, rows, (f"labels of {counted(len(member), 'object')} in {counted(len(shown), 'block')}, {note}",)


def _refuse_twice(judgments: Judgments, block: IntArray) -> None:
    first, pair = groups([block, *np.sort(judgments.pairs, axis=1).T])
    again = np.flatnonzero(first[pair] != np.arange(len(block)))
    if again.size:
        i, j = (judgments.objects[k] for k in judgments.pairs[again[0]])
        raise JudgmentError(
            f"row {again[0]} compares {i!r} and {j!r} again in block {judgments.values('block')[again[0]]!r}",
            "Give each list of objects its own value of block.",
            expected="each pair once in a block",
        )
