"""The codings of outcomes: the possible meanings of the distinct labels of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..core.columns import Coded, IntArray, Label
from ..core.counts import OUTCOMES
from .distinct_rows import Rows
from .frames import Factor, as_number, read_factor

T = TypeVar("T")
Meaning = Literal["i", "j", "tie", "bad"] | None
# what says that something is so, or is not, in lower case; an empty cell says no
YES = frozenset(("true", "t", "yes", "y", "1", "1.0"))
NO = frozenset(("false", "f", "no", "n", "0", "0.0", ""))
_TIED = frozenset(("tie", "ties", "tied", "draw", "draws", "drawn", "equal", "equals"))
_DECIDED = frozenset(
    (
        *("win", "wins", "won", "winner", "loss", "lose", "loses", "lost", "decided", "decision", "decisive", "none"),
        *("no tie", "not tied", "untied", "no draw", "not equal", "unequal", "left", "right", "i", "j", "a", "b"),
    )
)  # what a column of ties says of other rows

WIN_I, TIE, WIN_J, LEFT_OUT, BAD, UNKNOWN = 0, 1, 2, 3, 4, -1  # columns of the counts, and three that are none
BOTH_BAD = "both_bad"  # the kind of a tie that says so
_MEANINGS: dict[Any, int] = {**{word: k for k, word in enumerate(OUTCOMES)}, "bad": BAD, None: LEFT_OUT}
_FEW = 64  # labels of a column of outcomes that names no objects
_WORDS = (("i", "j"), ("a", "b"), ("left", "right"))
_LETTERS = (("[[a]]", "[[b]]", "[[c]]"), ("answer a", "answer b", "answer c"), ("a", "b", "c"))  # of judges; c is a tie


def says_tie(label: Label) -> bool | None:
    """Return whether a label of a column of ties means a tie; None if it means neither yes nor no."""
    word = str(label).strip().casefold().replace("_", " ").replace("-", " ")
    return True if word in YES | _TIED else False if word in NO | _DECIDED else None


@dataclass(frozen=True, eq=False)
class Cases:
    """Distinct combinations of label, object i and object j; T of them among N rows.

    Attributes
    ----------
    column : str
        The column of the outcomes.
    sides : tuple of str
        The two columns of the objects.
    labels : list
        Distinct labels; index −1 stands for a missing outcome.
    label, i, j, first, rows : ndarray of int, shape (T,)
        Codes of the label and the objects, first row and number of rows of each case.
    objects : ndarray, shape (J,)
        Labels of the objects.
    ordered : bool
        Whether rows have an order; else `first` means nothing.
    """

    column: str
    sides: tuple[str, str]
    labels: list[Label]
    label: IntArray
    i: IntArray
    j: IntArray
    first: IntArray
    rows: IntArray
    objects: npt.NDArray[Any]
    ordered: bool

    def place(self, where: npt.NDArray[Any]) -> str:
        """Return where the first row of some cases is, for a message; empty where rows have no order."""
        return f"first at row {self.first[where].min()}" if self.ordered else ""


@dataclass(frozen=True)
class Reading:
    """One coding of labels: its name, its family, and the outcomes of the cases, (T,)."""

    name: str
    family: Literal["names", "slots"]
    expects: str
    outcomes: IntArray


def group_cases(
    rows: Rows, column: str, pairs: Coded, sides: tuple[str, str], mapping: Mapping[Any, Meaning]
) -> tuple[Cases, npt.NDArray[Any]]:
    """Return the distinct combinations of label and objects, and the combination of each row, shape (U,)."""
    factor = read_factor(rows.frame, column)
    names = {str(label) for label in pairs.levels}
    meanings = _meanings(factor.labels, mapping)
    by_object = [
        meaning == UNKNOWN and str(label) in names for label, meaning in zip(factor.labels, meanings, strict=True)
    ]
    if len(factor.labels) <= _FEW and not any(by_object):
        return _cases_by_label(rows, column, factor, pairs, sides)
    i, j = pairs.codes.T
    size = len(pairs.levels)
    key = (factor.codes.astype(np.int64) + 1) * size
    group, cases = pd.factorize((key + i) * size + j)
    some = np.full(len(cases), len(group), dtype=np.int64)
    np.minimum.at(some, group, np.arange(len(group)))
    first = np.full(len(cases), np.iinfo(np.int64).max)
    np.minimum.at(first, group, rows.numbers(np.arange(len(group))))
    times = np.zeros(len(cases), dtype=np.int64)
    np.add.at(times, group, rows.times)
    label = factor.codes[some]
    return Cases(column, sides, factor.labels, label, i[some], j[some], first, times, pairs.levels, rows.ordered), group


def _cases_by_label(
    rows: Rows, column: str, factor: Factor, pairs: Coded, sides: tuple[str, str]
) -> tuple[Cases, npt.NDArray[np.intp]]:
    """Return one case for each label, with the objects of its first row: no label names an object."""
    size = len(factor.labels)
    missing = bool((factor.codes < 0).any())
    label = np.array([*range(size), *([-1] if missing else [])], dtype=np.int64)
    first_rows = [(rows.start(here), rows.count(here)) for here in (factor.codes == k for k in label)]
    some, times = np.array(first_rows, dtype=np.int64).reshape(-1, 2).T
    group = np.where(factor.codes < 0, size, factor.codes) if missing else factor.codes
    i, j = pairs.codes[some].T
    return Cases(
        column, sides, factor.labels, label, i, j, rows.numbers(some), times, pairs.levels, rows.ordered
    ), group


def mapped(cases: Cases, mapping: Mapping[Any, Meaning]) -> IntArray:
    """Return the outcome of each case by the user's mapping; UNKNOWN if it has none."""
    missing = _MEANINGS[mapping[None]] if None in mapping else UNKNOWN
    return np.array([*_meanings(cases.labels, mapping), missing], dtype=np.int64)[cases.label]


def _meanings(labels: Sequence[Label], mapping: Mapping[Any, Meaning]) -> list[int]:
    """Return the outcome of each label by a mapping; UNKNOWN if it has none."""
    return by_label(labels, {label: _MEANINGS[meaning] for label, meaning in mapping.items()}, UNKNOWN)


def by_label(labels: Sequence[Label], mapping: Mapping[Any, T], default: T) -> list[T]:
    """Return the value of each label; 1 in the mapping is '1' in a column of text, and the other way round."""
    spelled = {as_number(label): value for label, value in mapping.items() if as_number(label) is not None}
    return [mapping.get(label, spelled.get(as_number(label), default)) for label in labels]


def all_readings(cases: Cases) -> list[Reading]:
    """Return every coding of the labels, with its outcomes of the cases."""
    i, j = cases.sides
    expects = "the name of one of the row's two objects, or 'tie'"
    named = _named(cases)
    tied = np.array([*map(is_tie, cases.labels), False])[cases.label]
    return [
        Reading("names of the winner", "names", expects, np.where(tied & (named == UNKNOWN), TIE, named)),
        # differs only where an object is called tie
        Reading("names of the winner or a tie", "names", expects, np.where(tied, TIE, named)),
        _slots(cases, f"columns {i!r} and {j!r}", {i: WIN_I, j: WIN_J}),
        *(_slots(cases, f"{i!r} and {j!r}", {i: WIN_I, j: WIN_J}, fold=True) for i, j in _WORDS),
        _slots(cases, "'>' and '<'", {">": WIN_I, "=": TIE, "<": WIN_J}),
        # where C is an object, A and B are as well
        *(
            _slots(cases, f"{a!r}, {b!r} and {c!r} of a verdict", {a: WIN_I, b: WIN_J, c: TIE}, fold=True)
            for a, b, c in (_LETTERS if (named == UNKNOWN).all() else ())
        ),
    ]


def _named(cases: Cases) -> IntArray:
    """Return who won if labels are the names of the winners."""
    exact: dict[Any, int] = {label: k for k, label in enumerate(cases.objects)}
    spelled = {str(label): k for k, label in enumerate(cases.objects)}  # '1' where the objects are 1, 2, …
    winners = [exact.get(label, spelled.get(str(label), -1)) for label in cases.labels]
    winner = np.array([*winners, -1], dtype=np.int64)[cases.label]
    return np.where(winner == cases.i, WIN_I, np.where(winner == cases.j, WIN_J, UNKNOWN))


def _slots(cases: Cases, name: str, meanings: dict[str, int], *, fold: bool = False) -> Reading:
    """Return the reading of labels that mean the same in every row; with `fold`, case does not matter."""
    expects = ", ".join(repr(word) for word in meanings) + " or 'tie'"
    words = [label.lower() if fold and isinstance(label, str) else label for label in cases.labels]
    known: dict[Label, int] = dict(meanings.items())
    slots = [TIE if is_tie(word) else known.get(word, UNKNOWN) for word in words]
    return Reading(name, "slots", expects, np.array([*slots, UNKNOWN], dtype=np.int64)[cases.label])


def is_tie(label: object) -> bool:
    """Whether a label is the word "tie", in capital or small letters."""
    return isinstance(label, str) and label.lower() == "tie"
