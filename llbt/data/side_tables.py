"""Tables beside the judgments, one row for each object or judge: opened, and joined by their labels."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..base.table import counted
from ..core.columns import Coded, IntArray, Label, arranged, as_objects, code
from ..errors import JudgmentError, listed
from .distinct_rows import Frame
from .files import open_source
from .frames import Factor, as_number, is_integers, is_number, read_factor


@dataclass(frozen=True, eq=False)
class Described:
    """A table with one row for each object or judge.

    Attributes
    ----------
    noun : {"object", "judge"}
    frame : narwhals frame
    key : str
        The column that names the objects or judges.
    """

    noun: Literal["object", "judge"]
    frame: Frame
    key: str

    @property
    def what(self) -> str:
        """The name of the table in messages."""
        return _what(self.noun)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that describe an object or judge."""
        return tuple(name for name in self.frame.columns if name != self.key)

    def keyed(self, names: Sequence[str], judge: str, called: str) -> Described:
        """Return the table whose column of judges has the same name as in the judgments.

        Parameters
        ----------
        names : sequence of str
            The columns of the judgments.
        judge : str
            The column among them that names the judge, if it is there.
        called : str
            The name by which the reader knows this column.
        """
        key = judge if judge in self.frame.columns else self.key
        if judge not in names or (key in names and key != judge):
            return self
        return replace(self, frame=self.frame.rename({key: called}), key=called)

    def joined(self, labels: Sequence[Label], numeric: Collection[str]) -> tuple[tuple[Coded, ...], tuple[str, ...]]:
        """Return the covariates in the order of some labels, shape (J,), and a note on rows of other labels.

        Parameters
        ----------
        labels : sequence
            The objects or judges of the judgments.
        numeric : collection of str
            Covariates that are numbers whatever their type.

        Raises
        ------
        JudgmentError
            For labels that the table lacks or has twice, and missing values.
        """
        named = read_factor(self.frame, self.key)
        where = _rows_of(named, labels)
        missing = tuple(label for label in labels if not where[label])
        if missing:
            raise JudgmentError(
                f"{self.what} has no row for {counted(len(missing), self.noun)}: {listed(missing)}",
                expected=f"one row per {self.noun}, named in column {self.key!r}",
            )
        repeated = tuple(label for label in labels if len(where[label]) > 1)
        if repeated:
            raise JudgmentError(
                f"{self.what} has several rows for {listed(repeated)}", expected=f"one row per {self.noun}"
            )
        rows = np.array([where[label][0] for label in labels], dtype=np.int64)
        known = set(named.codes[rows])
        others = tuple(label for k, label in enumerate(named.labels) if k not in known)
        does = "compared" if self.noun == "object" else "among those who judged"
        note = f"{counted(len(others), self.noun)} of the {self.noun} table not {does}: {listed(others)}"
        return tuple(self._column(name, rows, labels, numeric) for name in self.names), (note,) if others else ()

    def _column(self, name: str, rows: IntArray, labels: Sequence[Label], numeric: Collection[str]) -> Coded:
        """Return one covariate: floats, `numeric` and integers of objects are numbers; integers of judges may be."""
        factor = read_factor(self.frame, name)
        codes = factor.codes[rows]
        missing = tuple(as_objects(labels)[codes < 0])
        if missing:
            raise JudgmentError(
                f"{self.what}, column {name!r}: {counted(len(missing), 'missing value')}, for {listed(missing)}",
                expected=f"a value for every {self.noun}",
            )
        whole = is_integers(self.frame, name)
        if not (name in numeric or is_number(self.frame, name) or (whole and self.noun == "object")):
            labelled = arranged(name, as_objects(factor.labels), factor.codes).take(rows)
            return replace(labelled, integers=len(factor.labels)) if whole else labelled
        values = [as_number(factor.labels[k]) for k in codes]
        wrong = [k for k, value in enumerate(values) if value is None or not math.isfinite(value)]
        if wrong:
            raise JudgmentError(
                f"{self.what}, column {name!r}: {counted(len(wrong), 'value')} not a finite number, the first "
                f"{factor.labels[codes[wrong[0]]]!r} of {labels[wrong[0]]!r}",
                expected="numbers",
            )
        return code(name, np.array(values, dtype=np.float64), numeric=True)


def _what(noun: str) -> str:
    return f"the frame of {noun}_covariates="


def described(frame: object, noun: Literal["object", "judge"]) -> Described | None:
    """Return the table that a reader was given, opened if necessary; None if there is none.

    Raises
    ------
    JudgmentError
        For a table that matches no object, judge or prompt of the judgments.
    """
    if frame is None or isinstance(frame, Described):
        return frame
    if isinstance(frame, pd.DataFrame) and noun not in frame.columns and _names_rows(frame.index):
        key = str(frame.index.name) if frame.index.name is not None and noun == "judge" else noun
        frame = frame.rename_axis(key).reset_index()
    source = replace(open_source(frame, what=_what(noun)), what=_what(noun))
    if len(source.names) < 2:
        raise JudgmentError(
            f"{source.what} has the columns {listed(source.names)}",
            expected=f"a column {noun!r} and one for each {noun} covariate",
        )
    key = noun if noun in source.names else source.names[0]
    written = replace(source, labels="text") if source.is_text else source  # the objects say what they are
    others = tuple(name for name in source.names if name != key)
    roles = {"objects": (key,), f"{noun}_covariates": others}
    return Described(noun, written.pick(roles).frame.select(source.names), key)


def _names_rows(index: Any) -> bool:
    """Whether a pandas index names objects or judges rather than counting rows."""
    named = isinstance(index.name, str) and not isinstance(index, pd.MultiIndex)
    return named or not pd.api.types.is_numeric_dtype(index.dtype)


def _rows_of(named: Factor, labels: Sequence[Label]) -> dict[Label, list[int]]:
    """Return the rows that name each object or judge, by value or by text."""
    where: dict[Label, list[int]] = {label: [] for label in labels}
    spelled: dict[object, Label] = {as_number(label): label for label in labels if not isinstance(label, str)}
    spelled |= {str(label): label for label in labels}
    called = [
        label if label in where else spelled.get(str(label), spelled.get(as_number(label))) for label in named.labels
    ]
    for row, k in enumerate(named.codes):
        if k >= 0 and called[k] is not None:
            where[called[k]].append(row)
    return where
