"""Judgments one by one, as what is asked about judges and blocks needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..columns import Coded, IntArray, code, groups
from ..comparisons import OUTCOMES, Comparisons
from ..data.judgments import read_judgments
from ..data.sources import as_names
from ..data.standard import OBJECTS, STANDARD, JudgmentFrame
from ..errors import JudgmentError, listed
from ..table import counted


@dataclass(frozen=True, eq=False)
class Judged:
    """R judgments, one row each.

    Attributes
    ----------
    objects : ndarray, shape (J,)
        Sorted labels.
    pairs : ndarray of int, shape (R, 2)
        Objects i and j; i is the one shown first where `shown`.
    said : ndarray of int, shape (R,)
        0 where i was preferred, 1 for a tie, 2 where j was.
    frame : DataFrame, R rows
        The standard judgments frame that they come from.
    shown : bool
        Whether the source says which object was shown first.
    notes : tuple of str
        What was read and what was left out.
    """

    objects: npt.NDArray[Any]
    pairs: IntArray
    said: IntArray
    frame: pd.DataFrame
    shown: bool
    notes: tuple[str, ...]

    def column(self, name: str, asker: str, parameter: str) -> Coded:
        """Return a column as codes into its sorted labels.

        Raises
        ------
        JudgmentError
            For a column that is not there, or has no value in some row.
        """
        if name not in self.frame:
            raise JudgmentError(
                f"{asker}: the judgments have no column {name!r} ({parameter}=); they have {listed(list(self.frame))}."
            )
        values = self.frame[name]
        missing = values.isna().to_numpy()
        if missing.all() and len(missing):
            others = [f"{parameter}={str(x)!r}" for x in self.frame if x not in STANDARD and x != name]
            instead = f"Name another column: {', '.join(others[:5])}." if others else "The judgments do not record it."
            raise JudgmentError(
                f"{asker}: column {name!r} ({parameter}=) has no value in any of {len(values):,} rows; expected one "
                f"for each judgment. {instead}"
            )
        if missing.any():
            raise JudgmentError(
                f"{asker}: column {name!r} ({parameter}=) has no value in {missing.sum():,} of {len(values):,} rows, "
                f"first at row {int(missing.argmax())}; expected one for each judgment. Leave these rows out, or name "
                "another column."
            )
        return code(name, values.to_numpy(dtype=object))

    def grouped(self, names: str | Sequence[str], asker: str, parameter: str) -> tuple[IntArray, pd.DataFrame]:
        """Return the number of each row's combination of some columns, (R,), and the combinations, one row each."""
        columns = [self.column(name, asker, parameter) for name in as_names(names, parameter)]
        if not columns:
            return np.zeros(len(self.said), dtype=np.int64), pd.DataFrame(index=range(1))
        first, group = groups([np.asarray(column.codes, dtype=np.int64) for column in columns])
        return group, pd.DataFrame({column.name: column.values[first] for column in columns})

    def once(self) -> tuple[Judged, IntArray, tuple[str, ...]]:
        """Return one judgment of each record where records of several objects were taken apart, its row, and a note.

        That of the smallest pair: the same for all judges of the same outputs.
        """
        if "record" not in self.frame:
            return self, np.arange(len(self.said)), ()
        low, high = np.sort(self.pairs, axis=1).T
        record, _ = pd.factorize(self.frame["record"])
        order = np.lexsort((high, low, record))
        order = order[record[order] >= 0]
        first = np.sort(order[np.diff(record[order], prepend=-1) > 0])
        more = len(self.said) - len(first)
        note = f"{counted(more, 'judgment')} not counted: of a record of identical outputs (a+b) one judgment is"
        return self.take(first), first, (note,) if more else ()

    def take(self, rows: npt.NDArray[Any]) -> Judged:
        """Return some of the judgments; all objects stay."""
        frame = self.frame.iloc[np.arange(len(self.said))[rows]].reset_index(drop=True)
        return Judged(self.objects, self.pairs[rows], self.said[rows], frame, self.shown, self.notes)


def read_judged(
    frame: object, asker: str, *, objects: Sequence[str] = OBJECTS, outcome: str = "outcome", judge: str | None = None
) -> Judged:
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
    return Judged(sides.levels, pairs, said, pd.DataFrame(made), made.shown, tuple(made.notes))


def _standard(frame: object, objects: tuple[str, ...], outcome: str, judge: str | None) -> JudgmentFrame:
    if isinstance(frame, JudgmentFrame) and objects == OBJECTS and outcome == "outcome":
        return frame
    named = objects != OBJECTS or outcome != "outcome"
    made = read_judgments(frame, objects=objects if named else None, outcome=outcome if named else None, judge=judge)
    if isinstance(made, JudgmentFrame):
        return made
    return JudgmentFrame(made.df())  # a DuckDB relation
