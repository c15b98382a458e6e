"""Judgments one by one, as what is asked about judges and blocks needs them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..core.columns import code
from ..core.comparisons import OUTCOMES, Comparisons
from ..core.judgments import OBJECTS, Judgments
from ..errors import JudgmentError
from .judgments import read_judgments
from .standard import JudgmentFrame


def read_judged(
    frame: object, asker: str, *, objects: Sequence[str] = OBJECTS, outcome: str = "outcome", judge: str | None = None
) -> Judgments:
    """Return judgments one by one, from whatever `read_judgments` reads.

    Parameters
    ----------
    frame : JudgmentFrame, frame, path or list of records
    asker : str
        The public function, for messages.
    objects, outcome, judge
        As in `read_judgments`; the defaults are the names of the standard frame.

    Raises
    ------
    JudgmentError
        For `Comparisons`, whose judgments are summed; for weights other than 1; for an object against itself; for no
        judgment.
    """
    if isinstance(frame, Judgments):
        return frame
    if isinstance(frame, Comparisons):
        raise JudgmentError(
            f"{asker}: a table of counts does not say which judgments belong together; expected the judgments, one row "
            "each. Pass what llbt.read_judgments(…) gives."
        )
    made = _standard(frame, tuple(objects), outcome, judge)
    if not len(made):
        raise JudgmentError(f"{asker}: there is no judgment.")
    if "weight" in made and not (made["weight"] == 1).all():
        odd = int((made["weight"] != 1).to_numpy().argmax())
        raise JudgmentError(
            f"{asker}: row {odd} has the weight {made['weight'].iloc[odd]!r}; expected single judgments, of weight 1."
        )
    sides = code("objects", made[list(OBJECTS)].to_numpy(dtype=object))
    pairs = np.asarray(sides.codes, dtype=np.int64)
    same = pairs[:, 0] == pairs[:, 1]
    if same.any():
        row = int(same.argmax())
        raise JudgmentError(
            f"{asker}: row {row} compares {sides.levels[pairs[row, 0]]!r} with itself ({same.sum():,} such rows); "
            "expected two objects. Leave these rows out."
        )
    said = np.asarray(pd.Categorical(made["outcome"], categories=list(OUTCOMES)).codes, dtype=np.int64)
    beside = pd.DataFrame(made).drop(columns=[*OBJECTS, "outcome"])
    return Judgments(
        tuple(sides.levels.tolist()), pairs, said, beside, shown=made.shown, dropped=made.dropped, notes=made.notes
    )


def _standard(frame: object, objects: tuple[str, ...], outcome: str, judge: str | None) -> JudgmentFrame:
    if isinstance(frame, JudgmentFrame) and objects == OBJECTS and outcome == "outcome":
        return frame
    named = objects != OBJECTS or outcome != "outcome"
    made = read_judgments(frame, objects=objects if named else None, outcome=outcome if named else None, judge=judge)
    if isinstance(made, JudgmentFrame):
        return made
    return JudgmentFrame(made.df())  # a DuckDB relation
