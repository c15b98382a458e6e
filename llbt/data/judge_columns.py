"""Columns of judges, prompts and blocks, for questions about judges."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.table import counted
from ..core.comparisons import Comparisons
from ..core.judgments import OBJECTS, Judgments
from ..core.rankings import Rankings
from ..errors import JudgmentError
from .judgments import read_judgments


def refuse_lists(data: object) -> None:
    """Raise for rankings in place of comparisons or judgments, with the call that converts them."""
    if isinstance(data, Rankings):
        raise JudgmentError(
            "the data are Rankings",
            "Pass rankings.to_comparisons(), the pairs that the lists imply.",
            expected="Comparisons, or judgments of pairs",
        )


def read_judged(
    frame: object, *, objects: Sequence[str] = OBJECTS, outcome: str = "outcome", judge: str | None = None
) -> Judgments:
    """Return single judgments from any source that `read_judgments` reads.

    Parameters
    ----------
    frame : Judgments, frame, path or list of records
    objects, outcome, judge
        As in `read_judgments`; the defaults are the names of the standard frame.

    Raises
    ------
    JudgmentError
        For `Comparisons`, whose judgments are summed; for `Rankings`; for weights other than 1; for an object against
        itself; for data without judgments.
    """
    if isinstance(frame, Comparisons):
        raise JudgmentError(
            "a table of counts does not say which judgments belong together",
            "Pass the result of llbt.read_judgments(…).",
            expected="the judgments, one row each",
        )
    if isinstance(frame, Rankings):
        raise JudgmentError("the data are Rankings", expected="judgments of pairs, one row each")
    named = tuple(objects) != OBJECTS or outcome != "outcome"
    if named or not isinstance(frame, Judgments):
        frame = read_judgments(
            frame, objects=objects if named else None, outcome=outcome if named else None, judge=judge
        )
    made = frame if frame.query is None else read_judgments(frame.to_frame())
    if not len(made.outcomes):
        raise JudgmentError("there is no judgment", expected="one at least")
    if made.weights is not None and not (made.weights == 1).all():
        odd = int((made.weights != 1).argmax())
        raise JudgmentError(
            f"row {odd} has the weight {made.weights[odd]:.6g}", expected="single judgments, of weight 1"
        )
    same = made.pairs[:, 0] == made.pairs[:, 1]
    if same.any():
        row = int(same.argmax())
        raise JudgmentError(
            f"row {row} compares {made.objects[made.pairs[row, 0]]!r} with itself ({counted(int(same.sum()), 'row')})",
            f"Leave them out (counted) with llbt.read_judgments(…, max_dropped={int(same.sum())}).",
            expected="two objects",
        )
    return made
