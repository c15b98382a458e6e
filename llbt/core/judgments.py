"""Judgments one by one: the record that every reader of judgments gives, and that tables are counted from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import JudgmentError, listed
from ..table import counted
from .columns import Coded, FloatArray, IntArray, Label, Lines, as_objects, code, dense, groups, inferred, tally
from .comparisons import OUTCOMES, Comparisons, tabulate
from .response import THREE, TWO

OBJECTS = ("object_i", "object_j")
STANDARD = (*OBJECTS, "outcome", "judge", "prompt", "tie_kind", "strength", "weight", "block", "record")


@dataclass(frozen=True, eq=False)
class Judgments:
    """R judgments of J objects, one row each.

    Attributes
    ----------
    objects : tuple of labels, length J
    pairs : ndarray of int, shape (R, 2)
        Positions of objects i and j; i is the one shown first where `shown`.
    said : ndarray of int, shape (R,)
        The outcome: 0 where i was preferred, 1 for a tie, 2 where j was.
    columns : DataFrame, R rows
        What else is known of each judgment: judge, prompt and all other columns.
    weights : ndarray of shape (R,), or None
        How many judgments each row stands for; None: one.
    shown : bool
        Whether the source says which object was shown first.
    dropped : int
        How many judgments were left out because nobody knows what they say.
    notes : tuple of str
        What was read and what was left out.
    """

    objects: tuple[Label, ...]
    pairs: IntArray
    said: IntArray
    columns: pd.DataFrame
    weights: FloatArray | None = None
    shown: bool = True
    dropped: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.said)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the frame of these judgments."""
        weight = () if self.weights is None else ("weight",)
        beside = (*self.columns, *weight)
        standard = (name for name in STANDARD if name in (*OBJECTS, "outcome") or name in beside)
        return (*standard, *(name for name in beside if name not in STANDARD))

    def values(self, name: str) -> pd.Series[Any]:
        """Return one of the columns `names`."""
        if name in OBJECTS:
            return inferred(pd.Series(as_objects(self.objects)[self.pairs[:, OBJECTS.index(name)]]))
        if name == "outcome":
            return pd.Series(as_objects(OUTCOMES)[self.said])
        if name == "weight" and self.weights is not None:
            return pd.Series(self.weights)
        return self.columns[name]

    def to_frame(self) -> pd.DataFrame:
        """Return the judgments as a frame that `from_judgments` reads with no further names."""
        return pd.DataFrame({name: self.values(name) for name in self.names})

    def take(self, rows: npt.NDArray[Any]) -> Judgments:
        """Return some of the judgments, by number or by condition; all objects stay."""
        at = np.arange(len(self))[rows]
        columns = self.columns.iloc[at].reset_index(drop=True)
        weights = None if self.weights is None else self.weights[at]
        return replace(self, pairs=self.pairs[at], said=self.said[at], columns=columns, weights=weights)

    def among_judged(self) -> Judgments:
        """Return the judgments without objects that none of them names."""
        pairs, used = dense(self.pairs, len(self.objects))
        return replace(self, objects=tuple(self.objects[k] for k in used), pairs=pairs)

    def turned(self, rows: npt.NDArray[np.bool_] | None = None) -> Judgments:
        """Return the judgments with objects i and j exchanged: all, or those that a condition (R,) holds for."""
        rows = np.ones(len(self), dtype=np.bool_) if rows is None else rows
        pairs = np.where(rows[:, None], self.pairs[:, ::-1], self.pairs)
        return replace(self, pairs=pairs, said=np.where(rows, len(OUTCOMES) - 1 - self.said, self.said))

    def oriented(self) -> Judgments:
        """Return the judgments with the smaller position first, whichever object was shown first."""
        return self.turned(self.pairs[:, 0] > self.pairs[:, 1])

    def tally(self, by: IntArray, size: int | None = None) -> FloatArray:
        """Return wins of i, ties and wins of j by group, shape (size, 3).

        Parameters
        ----------
        by : ndarray of int, shape (R,)
            The group of each judgment.
        size : int, optional
            How many groups there are.
        """
        return tally(by, self.said, self.weights, size, len(OUTCOMES))

    def tabulate(self, *, order: bool = False) -> Comparisons:
        """Return the judgments as a table of counts by pair; `order`: by pair and order of presentation."""
        first, group = groups([*self.pairs.T])
        counts = self.tally(group, len(first))
        response = THREE if counts[:, 1].any() else TWO
        like = Comparisons(self.objects, self.pairs[first], counts, response, keeps_order=order, notes=self.notes)
        return tabulate(Lines(like.pairs, like.counts), like)

    def column(self, name: str, asker: str, parameter: str) -> Coded:
        """Return a column as codes into its sorted labels.

        Raises
        ------
        JudgmentError
            For a column that is not there, or has no value in some row.
        """
        if name not in self.names:
            raise JudgmentError(
                f"{asker}: the judgments have no column {name!r} ({parameter}=); they have {listed(self.names)}."
            )
        values = self.values(name)
        missing = values.isna().to_numpy()
        if missing.all() and len(missing):
            others = [f"{parameter}={str(x)!r}" for x in self.names if x not in STANDARD and x != name]
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

    def grouped(self, names: Sequence[str], asker: str, parameter: str) -> tuple[IntArray, pd.DataFrame]:
        """Return the number of each row's combination of some columns, (R,), and the combinations, one row each."""
        columns = [self.column(name, asker, parameter) for name in names]
        if not columns:
            return np.zeros(len(self), dtype=np.int64), pd.DataFrame(index=range(1))
        first, group = groups([np.asarray(column.codes, dtype=np.int64) for column in columns])
        return group, pd.DataFrame({column.name: column.values[first] for column in columns})

    def once(self) -> tuple[Judgments, IntArray, tuple[str, ...]]:
        """Return one judgment of each record where records of several objects were taken apart, its row, and a note.

        That of the smallest pair: the same for all judges of the same outputs.
        """
        if "record" not in self.columns:
            return self, np.arange(len(self)), ()
        low, high = np.sort(self.pairs, axis=1).T
        record, _ = pd.factorize(self.columns["record"])
        order = np.lexsort((high, low, record))
        order = order[record[order] >= 0]
        first = np.sort(order[np.diff(record[order], prepend=-1) > 0])
        more = len(self) - len(first)
        note = f"{counted(more, 'judgment')} not counted: of a record of identical outputs (a+b) one judgment is"
        return self.take(first), first, (note,) if more else ()
