"""The verdict of each record of a format: outcome, kind of tie, and strength."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import Note, counted, format_count
from ..core.columns import FloatArray, IntArray, Label, as_objects
from ..errors import JudgmentError, listed
from .distinct_rows import Rows
from .formats import Always, ByScores, Choice, Constant, Labels, Lean, OneHot, Share, Verdict
from .frames import as_number, is_missing, plain, read_counts, read_factor, read_label_pair
from .outcome_codings import BAD, BOTH_BAD, LEFT_OUT, TIE, WIN_I, WIN_J, by_label, says_tie
from .outcomes import read_outcomes

BoolArray = npt.NDArray[np.bool_]
_CONTAINERS = (dict, list, tuple, np.ndarray)
_CLOSE = 1e-9  # relative to the scale: numbers that differ by less are equal


@dataclass(frozen=True, eq=False)
class Records:
    """Records of a file, n of them, with their numbers in the file.

    Attributes
    ----------
    frame : pandas.DataFrame
    number, row : ndarray of int, shape (n,)
        The record of the file, and the row of the frame of all judged records.
    what : str
        The name of the file in messages.
    """

    frame: pd.DataFrame
    number: IntArray
    row: IntArray
    what: str

    def take(self, where: npt.NDArray[Any]) -> Records:
        """Return some of the records."""
        return Records(self.frame.iloc[np.flatnonzero(where)], self.number[where], self.row[where], self.what)

    def has(self, path: str) -> bool:
        """Whether there is such a field; inside nested records it may be missing."""
        if path in self.frame or "." not in path:
            return path in self.frame
        head = path.split(".", 1)[0]
        return head in self.frame and any(isinstance(value, _CONTAINERS) for value in self.frame[head])

    def says(self, path: str) -> bool:
        """Whether there is such a field and, inside nested records, some record that has it."""
        return path in self.frame or (self.has(path) and any(value is not None for value in self.values(path)))

    def values(self, path: str | Constant) -> npt.NDArray[Any]:
        """Return a field, shape (n,); None where a nested record does not have it."""
        if isinstance(path, Constant):
            return as_objects([path.value] * len(self.frame))
        if path in self.frame:
            return self.frame[path].to_numpy(dtype=object, copy=True)
        head, *rest = path.split(".")
        return as_objects(_inside(value, rest) for value in self.frame[head])

    def first_of(self, bad: BoolArray, content: Callable[[int], str]) -> str:
        """Return the place and content of the first of some records; empty without any."""
        rows = np.flatnonzero(bad)
        return f"record {self.number[rows[0]]}: {content(int(rows[0]))}" if rows.size else ""

    def rows(self, columns: dict[str, npt.NDArray[Any]]) -> Rows:
        """Return values as rows that messages can place in the file."""
        frame = pd.DataFrame({name: pd.Series(list(values), dtype=object) for name, values in columns.items()})
        return Rows(nw.from_native(frame), np.ones(len(frame), dtype=np.int64), self.number, ordered=True)

    def numbers(self, path: str, none: Sequence[Label] = ()) -> FloatArray:
        """Return a field of numbers, shape (n,); NaN where it is missing, or a label for missing values.

        Raises
        ------
        JudgmentError
            For values that are not numbers.
        """
        factor = read_factor(self.rows({path: self.values(path)}).frame, path)
        numbers = [np.nan if label in none else as_number(label) for label in factor.labels]
        wrong = np.array([number is None for number in numbers] + [False])[factor.codes]
        if wrong.any():
            labels = listed([label for label, number in zip(factor.labels, numbers, strict=True) if number is None])
            where = f"the first in record {self.number[wrong][0]}"
            raise JudgmentError(
                f"field {path!r}: {counted(int(wrong.sum()), 'record')} with {labels}, {where}", expected="numbers"
            )
        return np.append(np.array(numbers, dtype=np.float64), np.nan)[factor.codes]


def _inside(value: Any, path: Sequence[str]) -> Any:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, (list, tuple, np.ndarray)) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


@dataclass(frozen=True, eq=False)
class Compared:
    """Records with the two objects that each of them compares, two arrays (n,), and the fields of these."""

    records: Records
    objects: tuple[npt.NDArray[Any], npt.NDArray[Any]]
    sides: tuple[str, str]

    def take(self, where: BoolArray) -> Compared:
        """Return some of the records."""
        return Compared(self.records.take(where), (self.objects[0][where], self.objects[1][where]), self.sides)


@dataclass(frozen=True, eq=False)
class Decision:
    """The outcomes of n records.

    Attributes
    ----------
    outcomes : ndarray of int, shape (n,)
        0: i won, 1: a tie, 2: j won, 3: left out.
    strength : ndarray, shape (n,)
        NaN if the record has no strength.
    kinds : ndarray of str or None, shape (n,)
    notes : tuple of str
        On records left out.
    dropped : int
        How many of them are unknown to the format, so that the caller has to allow it.
    unknown : str
        The place of the first of these, and its content.
    """

    outcomes: IntArray
    strength: FloatArray
    kinds: npt.NDArray[Any]
    notes: tuple[Note, ...] = ()
    dropped: int = 0
    unknown: str = ""


def decide(verdict: Verdict, compared: Compared, max_dropped: int) -> Decision:
    """Return the outcomes of n records by their format; up to `max_dropped` with unknown labels may be left out.

    Raises
    ------
    JudgmentError
        For more unknown labels than that, and for texts instead of numbers.
    """
    records = compared.records
    match verdict:
        case Always():
            outcome = {"i": WIN_I, "tie": TIE, "j": WIN_J}.get(verdict.outcome or "", LEFT_OUT)
            return _plain(np.full(len(records.number), outcome))
        case Labels() if verdict.tie:
            return _by_flag_or_label(verdict, compared, max_dropped)
        case Labels():
            return _by_label(verdict, compared, max_dropped)
        case Lean():
            return _by_lean(verdict, records)
        case ByScores():
            return _by_scores(verdict, records)
        case OneHot():
            return _by_columns(verdict, records)
        case Choice():
            return _by_choice(verdict, records)


def _plain(outcomes: IntArray) -> Decision:
    return Decision(outcomes, np.full(len(outcomes), np.nan), as_objects([None] * len(outcomes)))


def _by_label(verdict: Labels, compared: Compared, max_dropped: int) -> Decision:
    records, objects = compared.records, compared.objects
    if not len(records.number):
        return _plain(np.zeros(0, dtype=np.int64))
    codes, labels = label_codes(_labels_of(verdict, records))
    name = verdict.field if verdict.field not in ("object_i", "object_j") else f"{verdict.field} "
    rows = records.rows({"object_i": objects[0], "object_j": objects[1], name: as_objects([*labels, None])[codes]})
    pairs = read_label_pair(rows, "objects", ("object_i", "object_j"))
    outcomes, notes, dropped = read_outcomes(
        rows, name, pairs, compared.sides, verdict.outcomes, max_dropped, may_be_empty=True
    )
    kinds = as_objects([*map(verdict.tie_kinds.get, labels), None])[codes]
    outcomes, kinds = (
        np.where(outcomes == BAD, TIE, outcomes),
        np.where(outcomes == BAD, np.array(BOTH_BAD, dtype=object), kinds),
    )
    strengths = np.array([*by_label(labels, verdict.strengths, np.nan), np.nan], dtype=np.float64)
    return Decision(
        outcomes, strengths[codes], as_objects(np.where(outcomes == TIE, kinds, np.array(None))), notes, dropped
    )


def _by_flag_or_label(verdict: Labels, compared: Compared, max_dropped: int) -> Decision:
    """Return ties by the field of ties, and the labels' outcomes elsewhere."""
    codes, labels = label_codes(compared.records.values(verdict.tie))
    open_rows = ~np.array([*(says_tie(label) is True for label in labels), False])[codes]
    by_label = _by_label(replace(verdict, tie=""), compared.take(open_rows), max_dropped)
    whole = _plain(np.full(len(open_rows), TIE))
    for to, values in (
        (whole.outcomes, by_label.outcomes),
        (whole.strength, by_label.strength),
        (whole.kinds, by_label.kinds),
    ):
        to[open_rows] = values
    return replace(by_label, outcomes=whole.outcomes, strength=whole.strength, kinds=whole.kinds)


def _labels_of(verdict: Labels, records: Records) -> npt.NDArray[Any]:
    """Return the labels of a field, shape (n,), or those that a pattern finds in its text."""
    values = records.values(verdict.field)
    if not verdict.pattern:
        return values
    texts = [re.search(verdict.pattern, value) if isinstance(value, str) else None for value in values]
    return as_objects(match[1] if match else None for match in texts)


def label_codes(values: npt.NDArray[Any]) -> tuple[IntArray, list[Any]]:
    """Return values as codes into plain labels; −1 where they are missing."""
    try:
        codes, distinct = pd.factorize(values)
    except TypeError:  # lists and mappings, by their parts
        codes, distinct = pd.factorize(as_objects(map(flat_label, values)))
    return codes, [flat_label(value) for value in distinct]


def flat_label(value: Any) -> Any:
    """Return a value as one label: a list by its parts, so that ["gpt-4", "pair-v2"] is 'gpt-4/pair-v2'."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return None if np.ma.is_masked(value) else flat_label(value.item())
    if isinstance(value, (list, tuple, np.ndarray)):
        return "/".join(str(flat_label(part)) for part in value) or None
    if isinstance(value, dict):
        return "/".join(f"{key}={flat_label(part)}" for key, part in value.items()) or None
    return None if is_missing(value) else plain(value)


def _by_lean(verdict: Lean, records: Records) -> Decision:
    x = records.numbers(verdict.field)
    out = np.isnan(x) | np.isin(x, verdict.failed)
    low, high = sorted((verdict.i, verdict.j))
    x = np.where(np.isin(x, verdict.tie_values), (low + high) / 2, x)
    bad = ~out & ((x < low) | (x > high))
    expected = f"from {format_count(low)} to {format_count(high)}"
    unknown = records.first_of(bad, lambda k: f"field {verdict.field!r} is {x[k]:g}, not {expected}")
    toward_j = (x - (low + high) / 2) * np.sign(verdict.j - verdict.i)
    within = verdict.tie_within + _CLOSE * (high - low)
    outcomes = np.where(np.abs(toward_j) <= within, TIE, np.where(toward_j > 0, WIN_J, WIN_I))
    return _decided(outcomes, np.abs(toward_j), (out, f"{verdict.field!r} missing or failed"), bad, unknown)


def _by_scores(verdict: ByScores, records: Records) -> Decision:
    a, b = (records.numbers(name, verdict.unranked) for name in verdict.fields)
    none = [number for number in map(as_number, verdict.unranked) if number is not None]
    out = np.isnan(a) | np.isnan(b) | np.isin(a, none) | np.isin(b, none)
    low, high = verdict.bounds or (-np.inf, np.inf)
    bad = ~out & ((np.minimum(a, b) < low) | (np.maximum(a, b) > high))
    both = " and ".join(map(repr, verdict.fields))
    expected = f"from {low:g} to {high:g}"
    unknown = records.first_of(bad, lambda k: f"{both} are {a[k]:g} and {b[k]:g}, not {expected}")
    better = (a - b) * (1 if verdict.higher_is_better else -1)
    tied = np.abs(better) <= _CLOSE * np.maximum(np.abs(a), np.abs(b))
    outcomes = np.where(tied, TIE, np.where(better > 0, WIN_I, WIN_J))
    strength = np.abs(better) if verdict.strength else np.full(len(a), np.nan)
    decision = _decided(
        outcomes, strength, (out, "no result" if verdict.points else "an object not ranked"), bad, unknown
    )
    draws = int((decision.outcomes == TIE).sum()) if verdict.points else 0
    return replace(decision, notes=(*decision.notes, Note(draws, "draw", f"by {both}"))) if draws else decision


def _by_columns(verdict: OneHot, records: Records) -> Decision:
    names = (verdict.i, verdict.tie, verdict.j)
    marks = np.column_stack([records.numbers(name) for name in names])
    bad = ~(np.isin(marks, (0, 1)).all(axis=1) & (marks.sum(axis=1) == 1))
    unknown = records.first_of(bad, lambda k: f"{listed(names)} are {marks[k].tolist()}, not one 1 and two 0")
    nothing = np.zeros(len(marks), dtype=bool)
    return _decided((marks == 1).argmax(axis=1), np.full(len(marks), np.nan), (nothing, ""), bad, unknown)


def _by_choice(verdict: Choice, records: Records) -> Decision:
    chosen = records.values(verdict.chosen)
    i, j = (np.asarray(records.values(field) == chosen, dtype=bool) for field in verdict.fields)
    unknown = (i == j, "neither object was chosen, or both were")
    return _decided(np.where(i, WIN_I, WIN_J), np.full(len(i), np.nan), unknown, np.zeros(len(i), dtype=bool), "")


def _decided(
    outcomes: IntArray, strength: FloatArray, out: tuple[BoolArray, str], bad: BoolArray, unknown: str
) -> Decision:
    """Return a decision without the records that are `out` for a stated reason, or `bad`: unknown to the format."""
    gone, why = out
    left = ((gone, why), (bad, "unknown to the format (max_dropped=)"))
    notes = [Note(int(rows.sum()), "judgment", f"left out: {reason}") for rows, reason in left if rows.any()]
    counted = ~(gone | bad)
    return replace(
        _plain(np.where(counted, outcomes, LEFT_OUT)),
        strength=np.where(counted, strength, np.nan),
        notes=tuple(notes),
        dropped=int(bad.sum()),
        unknown=unknown,
    )


def weigh(weight: str | Share | None, records: Records) -> tuple[FloatArray | None, BoolArray, BoolArray, str]:
    """Return weights, and whether records have no weight or an invalid one, each (n,); and the first invalid record."""
    none = np.zeros(len(records.number), dtype=bool)
    if weight is None:
        return None, none, none, ""
    if isinstance(weight, str):
        return read_counts(records.rows({weight: records.numbers(weight)}), weight), none, none, ""
    x = records.numbers(weight.field)
    out = np.isnan(x) | np.isin(x, weight.failed)
    share = np.where(np.isin(x, weight.halves), 0.5, (x - weight.zero) / (weight.one - weight.zero))
    bad = ~out & ~((share >= 0) & (share <= 1))
    low, high = sorted((weight.zero, weight.one))
    unknown = records.first_of(bad, lambda k: f"field {weight.field!r} is {x[k]:g}, not from {low:g} to {high:g}")
    return share, out, bad, unknown
