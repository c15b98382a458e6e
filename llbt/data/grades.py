"""Grades of preference: whole numbers, positive for object i, the same on both sides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np

from ..base.arguments import JUDGED_INSIDE, is_real
from ..base.table import counted, format_count
from ..core.columns import FloatArray, IntArray
from ..core.counts import whole
from ..core.response import Response, graded
from ..errors import JudgmentError, OptionError, listed, safe_repr
from .distinct_rows import Rows
from .frames import as_number
from .sources import as_names

Grades = Annotated[Sequence[str] | Mapping[str, int], JUDGED_INSIDE]

_ROUNDING = 1e-12  # relative; 0.8 - 0.7 is off by some 1e-16
MOST_GRADES = 20  # grades to either side; what has more is a score
_MOST_LISTED = 8  # strengths in a note
_EXPECTED = "whole numbers such as 2, 1, 0, -1, -2, positive for object i"


def grade_columns(grades: Grades) -> tuple[tuple[str, ...], Response]:
    """Return the columns of counts, ordered from strongest preference for i to strongest for j, and their meaning."""
    names = tuple(grades) if isinstance(grades, Mapping) else as_names(grades, "grades")
    if isinstance(grades, Mapping):
        refuse_uneven(list(grades.values()), f"grades={safe_repr(grades)}")
        names = tuple(sorted(names, key=lambda name: -grades[name]))
        if len(set(grades.values())) < len(names):
            raise OptionError(
                f"grades={safe_repr(grades)}: several columns have one grade", "Add up the columns first."
            )
    if len(names) < 2:
        raise OptionError(
            f"grades={safe_repr(grades)}", expected="a column for each grade, as many for object i as for j"
        )
    return names, graded(len(names) // 2, middle=len(names) % 2 == 1)


def refuse_uneven(grades: Collection[Any], where: str) -> None:
    """Raise for grades that are not whole numbers, or not 1, 2, … up to the same number on both sides."""
    broken = [grade for grade in grades if not is_real(grade) or not float(grade).is_integer()]
    if broken:
        raise OptionError(f"the grade {broken[0]!r}", where=where, expected=_EXPECTED)
    there = {int(grade) for grade in grades} - {0}
    steps = max(map(abs, there), default=1)
    _refuse_many(steps, where)
    lacking = [grade for size in range(1, steps + 1) for grade in (size, -size) if grade not in there]
    if lacking:
        fault = f"the grades {sorted({int(grade) for grade in grades}, reverse=True)} lack {lacking}"
        raise OptionError(
            fault,
            where=where,
            expected="the same grades on both sides: 1, 2, … for object i, -1, -2, … for object j",
        )


def _refuse_many(steps: float, where: str) -> None:
    if steps > MOST_GRADES:
        raise JudgmentError(
            f"a grade of {steps:.6g}", "Cut scores into grades first.", where=where, expected=f"at most {MOST_GRADES}"
        )


def cut_sizes(sizes: FloatArray, cuts: Sequence[float]) -> FloatArray:
    """Return the grades of preferences by their sizes: 1 plus the number of cuts below; other values stay."""
    grade = 1.0 + sum((sizes > cut + _ROUNDING * sizes).astype(np.float64) for cut in cuts)
    return np.where(sizes > 0, grade, sizes)


def side(grade: float) -> Literal["i", "tie", "j"]:
    """Return the side that a grade is for."""
    return "i" if grade > 0 else "j" if grade < 0 else "tie"


def refuse_unsigned(numbers: Mapping[Any, float], where: str, *, fractions: bool) -> None:
    """Raise if labels of a column are not signed grades.

    Parameters
    ----------
    numbers : mapping
        Label → the number that it is.
    where : str
    fractions : bool
        Whether they may be fractions, which will be cut into grades.

    Raises
    ------
    JudgmentError
        For fractions, and for grades that are all for one side: these are sizes, or counted from one end of a scale.
    """
    broken = [label for label, number in numbers.items() if not number.is_integer()]
    if broken and not fractions:
        remedy = "Cut fractions into grades with cuts=."
        raise JudgmentError(f"the grade {broken[0]!r}", remedy, where=where, expected=_EXPECTED)
    grades = set(numbers.values())
    if any(grades) and (min(grades) >= 0 or max(grades) <= 0):
        raise JudgmentError(
            f"the grades {listed(tuple(map(whole, sorted(grades, reverse=True))))} are all for one side",
            "Sizes need outcome=, the column that says which object is preferred; numbers from one end of a scale to "
            "the other need a mapping such as outcomes={1: 2, 2: 1, 3: 0, 4: -1, 5: -2}.",
            where=where,
            expected=_EXPECTED,
        )


def refuse_sizes(rows: Rows, wins: IntArray, sizes: FloatArray, group: IntArray, where: str) -> None:
    """Raise for a preference without a size, sizes that are not whole numbers of at least 1, and ties with any but 0.

    Parameters
    ----------
    rows : Rows
    wins, sizes : ndarray, each (G,)
        As in `graded_outcomes`, for groups of equal rows.
    group : ndarray of int, shape (U,)
        The group of each row.
    where : str
        The columns that state the sizes, for messages.
    """
    decided, tied = np.abs(wins) == 1, wins == 0
    bad = decided & ~((sizes >= 1) & (sizes == np.floor(sizes))) | (tied & ~np.isnan(sizes) & (sizes != 0))
    if bad.any():
        wrong = bad[group]
        start = group[rows.start(wrong)]
        size = "no size" if np.isnan(sizes[start]) else f"the size {sizes[start]:g}"
        what = "tie" if tied[start] else "preference"
        fault = f"{counted(rows.count(wrong), 'row')} whose size does not fit{rows.place(wrong)}: a {what} of {size}"
        signed = " A signed grade is the outcome itself: pass its column as outcome=, too." if sizes[start] < 0 else ""
        raise JudgmentError(
            fault,
            f"Remove these rows first, map labels to grades (outcomes=) or cut sizes into grades (cuts=).{signed}",
            where=where,
            expected="sizes 1, 2, … of preferences, 0 or nothing of ties",
        )
    _refuse_many(sizes[decided].max(initial=1), where)


def merged_note(strengths: Collection[tuple[Any, float]]) -> list[str]:
    """Return a note if preferences of several strengths count equally: the strengths, and how to keep them.

    Parameters
    ----------
    strengths : collection of (strength, number of judgments)
    """
    numbers: dict[float, float] = {}
    for strength, n in strengths:
        number = as_number(strength)
        if number is not None and not np.isnan(number):
            numbers[number] = numbers.get(number, 0.0) + n
    if len(numbers) < 2:
        return []
    judged = counted(sum(numbers.values()), "preference")
    if len(numbers) > _MOST_LISTED or not all(size.is_integer() for size in numbers):
        what = f"{judged} of strengths from {min(numbers):.4g} to {max(numbers):.4g}"
        how = "strength='strength' with cuts= keeps them as grades"
    else:
        grades = ", ".join(f"{size:g} ({format_count(n)})" for size, n in sorted(numbers.items()))
        what, how = f"{judged} of the grades {grades}", "strength='strength' keeps them"
    return [f"{what} count equally: {how}"]
