"""The meaning of a column of outcomes: one coding must explain every label.

Readings look at distinct combinations of label and objects, never at single rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from ..base.arguments import JUDGED_INSIDE, is_real
from ..base.table import Note, counted, format_count
from ..core.columns import Coded, IntArray
from ..core.counts import OUTCOMES
from ..errors import JudgmentError, OptionError, listed, safe_repr
from .distinct_rows import Rows
from .frames import as_number, is_missing, plain
from .grades import refuse_uneven, side
from .outcome_codings import LEFT_OUT, UNKNOWN, Cases, Meaning, Reading, all_readings, group_cases, is_tie, mapped
from .outcome_proposals import MOST_LABELS, Proposal, arrows_meaning, numbers_meaning, pasted, word_meaning

Outcomes = Annotated[Mapping[Any, Meaning | int] | Literal["names", "slots"] | None, JUDGED_INSIDE]

_MOST = 8  # labels in a message
_MEANINGS = "'i', 'j', 'tie' or None (leaves rows out, counted)"


def read_outcomes(
    rows: Rows,
    column: str,
    pairs: Coded,
    sides: tuple[str, str],
    outcomes: Outcomes,
    max_dropped: int = 0,
    *,
    may_be_empty: bool = False,
    written: Mapping[Any, Meaning | int] | None = None,
) -> tuple[npt.NDArray[Any], tuple[Note, ...], int]:
    """Return the outcome of each row, and notes on rows left out.

    Parameters
    ----------
    rows : Rows
    column : str
        Name of the column of outcomes.
    pairs : Coded, (U, 2)
        The objects compared.
    sides : tuple of str
        The columns of the objects.
    outcomes : mapping, "names", "slots" or None
        How to read the labels; see `from_judgments`.
    max_dropped : int
        How many rows with missing or unknown labels may be left out.
    may_be_empty : bool
        Whether all rows may be left out, as in one of several games.
    written : mapping, optional
        The part of `outcomes` that a message repeats, with grades as grades; by default all.

    Returns
    -------
    outcomes : ndarray of int, shape (U,)
        0: i won, 1: a tie, 2: j won, 3: left out, 4: both are bad.
    notes : tuple of str
    dropped : int
        How many rows are left out because `max_dropped` allows it.

    Raises
    ------
    JudgmentError
        For labels that no reading explains, that several explain differently, and missing outcomes.
    """
    mapping = checked_outcomes(outcomes)
    cases, group = group_cases(rows, column, pairs, sides, mapping)
    given = mapped(cases, mapping)
    family = outcomes if isinstance(outcomes, str) else None
    readings = [r for r in all_readings(cases) if family in (None, r.family)]
    open_cases = given == UNKNOWN
    dropped = _droppable(cases, open_cases, readings, max_dropped)
    open_cases &= ~dropped
    _refuse_numbers(cases, open_cases, family, mapping)
    explaining = [r for r in readings if (r.outcomes[open_cases] != UNKNOWN).all()]
    if not explaining:
        raise _unknown(cases, open_cases, readings, mapping if written is None else written)
    _refuse_ambiguous(cases, open_cases, explaining)
    codes = np.where(open_cases, explaining[0].outcomes, np.where(dropped, LEFT_OUT, given))
    return (
        np.take(codes.astype(np.int8), group),
        _left_out(cases, codes, dropped, may_be_empty),
        int(cases.rows[dropped].sum()),
    )


def _droppable(
    cases: Cases, open_cases: npt.NDArray[np.bool_], readings: list[Reading], most: int
) -> npt.NDArray[np.bool_]:
    """Return the cases that the best reading does not explain, if the caller allows to leave out their rows."""
    bad = open_cases & (_best(cases, open_cases, readings).outcomes == UNKNOWN)
    return bad if 0 < cases.rows[bad].sum() <= most else np.zeros_like(bad)


def _best(cases: Cases, open_cases: npt.NDArray[np.bool_], readings: list[Reading]) -> Reading:
    """Return the reading that explains most rows."""
    return max(readings, key=lambda r: int(cases.rows[open_cases & (r.outcomes != UNKNOWN)].sum()))


def checked_outcomes(outcomes: Outcomes) -> dict[Any, Meaning]:
    """Return the side that each label of the user's mapping is for, with None for any kind of missing label.

    Raises
    ------
    OptionError
        For a value that is no mapping, and grades that are not symmetric.
    """
    if outcomes is None or (isinstance(outcomes, str) and outcomes in ("names", "slots")):
        return {}
    if not isinstance(outcomes, Mapping):
        raise OptionError(
            f"outcomes={safe_repr(outcomes)}",
            expected="\"names\", \"slots\" or a mapping such as {'left': 'i', 'right': 'j', 'equal': 'tie', "
            "'skipped': None}",
        )
    grades = [meaning for meaning in outcomes.values() if is_real(meaning)]
    words = ("tie", None) if grades else ("i", "j", "tie", "bad", None)
    wrong = {label: meaning for label, meaning in outcomes.items() if meaning not in words and not is_real(meaning)}
    if wrong:
        raise OptionError(
            f"outcomes={safe_repr(wrong)}",
            expected=f"{'a grade, ' if grades else ''}{', '.join(map(repr, words[:-1]))} or None (leaves the rows "
            "out) for every label",
        )
    if grades:
        refuse_uneven(grades, "outcomes=")
    return {_key(label): _side(meaning) for label, meaning in outcomes.items()}


def _side(meaning: Meaning | int) -> Meaning:
    return meaning if meaning is None or isinstance(meaning, str) else side(meaning)


def sizes_of(outcomes: Outcomes) -> dict[Any, float]:
    """Return the sizes of the grades in the user's mapping, empty where it has none."""
    if not isinstance(outcomes, Mapping) or not any(map(is_real, outcomes.values())):
        return {}
    sizes = {_key(label): 0 if grade == "tie" else grade for label, grade in outcomes.items()}
    return {label: abs(float(grade)) for label, grade in sizes.items() if is_real(grade)}


def bad_of(outcomes: Outcomes) -> tuple[Any, ...]:
    """Return what the user's mapping takes for both bad: labels, or kinds of ties."""
    return (
        tuple(_key(k) for k, meaning in outcomes.items() if meaning == "bad") if isinstance(outcomes, Mapping) else ()
    )


def _key(label: Any) -> Any:
    return None if is_missing(label) else plain(label)


def _refuse_numbers(
    cases: Cases, open_cases: npt.NDArray[np.bool_], family: str | None, mapping: dict[Any, Meaning]
) -> None:
    """Raise if the unexplained labels are numbers, because the side of 1 is unknown."""
    if family == "names":
        return
    labels = [cases.labels[k] for k in np.unique(cases.label[open_cases]) if k >= 0]
    numbers = [label for label in labels if as_number(label) is not None]
    if not numbers or any(not is_tie(label) and label != "=" for label in labels if label not in numbers):
        return
    number_labels = sorted((label for label in cases.labels if as_number(label) is not None), key=_number)
    names = all(str(label) in set(map(str, cases.objects)) for label in numbers)
    missing = open_cases & (cases.label < 0)
    beside: Proposal = {None: None} if missing.any() else {}
    ways = [
        f"outcomes={pasted({**mapping, **{x: meaning for x, meaning in way.items() if x in numbers}, **beside})} {why}"
        for way, why in numbers_meaning(number_labels, cases.sides)
    ]
    ways += ['outcomes="names" if they name the winning objects'] if names and not missing.any() else []
    found_too = f" and {counted(int(cases.rows[missing].sum()), 'missing outcome')}" if missing.any() else ""
    raise JudgmentError(
        f"column {cases.column!r}: the outcomes are numbers: {_counts(cases, open_cases & ~missing)}{found_too}; "
        "numbers need a mapping",
        f"Pass {', or '.join(ways)}." if ways else f"Pass outcomes= with what each number means: {_MEANINGS}.",
    )


def _number(label: object) -> float:
    number = as_number(label)
    return 0.0 if number is None else number


def _unknown(
    cases: Cases, open_cases: npt.NDArray[np.bool_], readings: list[Reading], written: Mapping[Any, Meaning | int]
) -> JudgmentError:
    """Return the error for labels that are missing or that the best reading does not explain."""
    best = _best(cases, open_cases, readings)
    bad = open_cases & (best.outcomes == UNKNOWN)
    missing = bad & (cases.label < 0)
    unknown = np.unique(cases.label[bad & ~missing])
    parts = []
    if missing.any():
        rows = counted(int(cases.rows[missing].sum()), "missing outcome")
        parts.append(rows + (f" ({cases.place(missing)})" if cases.ordered else ""))
    if unknown.size:
        parts.append(f"{counted(unknown.size, 'unknown outcome')}: {_counts(cases, bad & ~missing)}")
    return JudgmentError(
        f"column {cases.column!r}: {' and '.join(parts)}",
        f"{_advice(cases, bad, missing, unknown, written)}{_strangers(cases, bad & ~missing)}",
        expected=_expected(cases, open_cases, best, readings),
    )


def _advice(
    cases: Cases,
    bad: npt.NDArray[np.bool_],
    missing: npt.NDArray[np.bool_],
    unknown: IntArray,
    written: Mapping[Any, Meaning | int],
) -> str:
    """Return what to do about labels that are missing or unknown: a mapping if it keeps most rows.

    A label may name an object, but neither object of its row. It has a meaning in other rows, so only its wrong rows
    can be left out.
    """
    labels: list[Any] = [cases.labels[k] for k in unknown]
    graded = any(map(is_real, written.values()))
    arrows = {} if written else arrows_meaning(cases.labels)
    guesses: dict[Any, Meaning | int] = {
        x: arrows.get(x, None if graded or arrows else word_meaning(x, cases.sides)) for x in labels
    }
    guesses |= {None: None} if missing.any() else {}
    lost = [k for k in unknown if guesses[cases.labels[k]] is None]
    n_lost = int(cases.rows[bad & np.isin(cases.label, lost)].sum())
    if set(labels) & set(cases.objects):
        return f"Leave these rows out (counted) with max_dropped={int(cases.rows[bad].sum())}."
    if len(labels) > MOST_LABELS or 2 * n_lost > int(cases.rows.sum()):
        return f"Pass outcomes= with what each label means: {_MEANINGS}."
    guesses |= {x: meaning for x, meaning in (arrows or written).items() if x not in guesses}
    return f"Pass outcomes={pasted(guesses)} (None leaves rows out, counted)."


def _expected(cases: Cases, open_cases: npt.NDArray[np.bool_], best: Reading, readings: list[Reading]) -> str:
    """Return what was expected: the labels of the best reading, or all readings if none explains anything."""
    if (best.outcomes[open_cases & (cases.label >= 0)] != UNKNOWN).any():
        return f"{'' if best.family == 'names' else 'one of '}{best.expects}"
    return "; ".join(dict.fromkeys(r.expects.replace(" or 'tie'", "").rstrip(",") for r in readings)) + "; or 'tie'"


def _strangers(cases: Cases, bad: npt.NDArray[np.bool_]) -> str:
    """Return a sentence on labels that name an object, but neither object of their row."""
    names = set(cases.objects)
    rows = [t for t in np.flatnonzero(bad) if cases.labels[cases.label[t]] in names]
    if not rows:
        return ""
    t = min(rows, key=lambda case: int(cases.first[case]))
    i, j = cases.objects[cases.i[t]], cases.objects[cases.j[t]]
    return f" {cases.labels[cases.label[t]]!r} is an object, but {_row(cases, t)} compares {i!r} with {j!r}."


def _row(cases: Cases, case: Any) -> str:
    return f"row {cases.first[case]}" if cases.ordered else "a row"


def _refuse_ambiguous(cases: Cases, open_cases: npt.NDArray[np.bool_], explaining: list[Reading]) -> None:
    """Raise if two readings explain every label and differ in some row."""
    base = explaining[0]
    for other in explaining[1:]:
        differing = np.flatnonzero(open_cases & (base.outcomes != other.outcomes))
        if not differing.size:
            continue
        t = differing[np.argmin(cases.first[differing])]
        i, j, label = cases.objects[cases.i[t]], cases.objects[cases.j[t]], cases.labels[cases.label[t]]
        readings = [OUTCOMES[r.outcomes[t]] for r in (base, other)]
        guess = {
            cases.labels[k]: word_meaning(cases.labels[k], cases.sides) for k in np.unique(cases.label[open_cases])
        }
        ways = ['outcomes="names"', 'outcomes="slots"'] if base.family != other.family else []
        ways += [f"outcomes={pasted(guess)}"] if all(guess.values()) else []
        raise JudgmentError(
            f"column {cases.column!r}: two readings explain every outcome and differ: {_row(cases, t)} has the "
            f"objects {i!r}, {j!r} and the outcome {label!r}, which is {readings[0]!r} read as "
            f"{base.name}, {readings[1]!r} read as {other.name}",
            f"Pass {' or '.join([', '.join(ways[:-1]), *ways[-1:]] if len(ways) > 1 else ways)}."
            if ways
            else f"Pass outcomes= with what each label means: {_MEANINGS}.",
        )


def _counts(cases: Cases, chosen: npt.NDArray[np.bool_]) -> str:
    """Return labels with rows, most frequent first: ``'x' (12 rows, first at row 0), 'y' (2)``."""
    labels = cases.label[chosen]
    rows = np.bincount(labels, weights=cases.rows[chosen], minlength=len(cases.labels))
    order = [int(k) for k in np.argsort(-rows, kind="stable") if rows[k]]
    texts = [f"{cases.labels[k]!r} ({format_count(rows[k])})" for k in order[:_MOST]]
    place = cases.place(chosen & (cases.label == order[0]))
    texts[0] = f"{cases.labels[order[0]]!r} ({counted(rows[order[0]], 'row')}{f', {place}' if place else ''})"
    more = f" and {len(order) - _MOST} more" if len(order) > _MOST else ""
    return ", ".join(texts) + more


def _left_out(cases: Cases, outcomes: IntArray, dropped: npt.NDArray[np.bool_], may_be_empty: bool) -> tuple[Note, ...]:
    """Return notes on the rows that the mapping leaves out, or that `max_dropped` leaves out."""
    notes = []
    for why, out in (("outcomes=", (outcomes == LEFT_OUT) & ~dropped), ("max_dropped=", dropped)):
        for k in np.unique(cases.label[out]):
            what = "a missing outcome" if k < 0 else f"outcome {cases.labels[k]!r}"
            rows = int(cases.rows[out & (cases.label == k)].sum())
            notes.append(Note(rows, "row", f"with {what} left out ({why})"))
    if (outcomes == LEFT_OUT).all() and not may_be_empty:
        what = "max_dropped=" if dropped.any() else "outcomes="
        raise JudgmentError(f"column {cases.column!r}: {what} leaves out every row: {listed(tuple(notes))}.")
    return tuple(notes)
