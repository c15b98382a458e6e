"""Grades of preference: whole numbers, positive for object i, as many for either side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..arguments import is_real
from ..core.comparisons import OUTCOMES
from ..core.response import Response, graded
from ..errors import JudgmentError
from .sources import as_names

Grades = Sequence[str] | Mapping[str, int]


def grade_columns(grades: Grades) -> tuple[tuple[str, ...], Response]:
    """Return columns of counts from the most preferred object i to the most preferred j, and what they are."""
    names = tuple(grades) if isinstance(grades, Mapping) else as_names(grades, "grades")
    if isinstance(grades, Mapping):
        refuse_uneven(list(grades.values()), f"grades={grades!r}")
        names = tuple(sorted(names, key=lambda name: -grades[name]))
        if len(set(grades.values())) < len(names):
            raise JudgmentError(f"grades={grades!r}: several columns have one grade; add them up before.")
    if len(names) < len(OUTCOMES) - 1:
        raise JudgmentError(f"grades={grades!r}: expected a column for each grade, as many for object i as for j.")
    return names, graded(len(names) // 2, middle=len(names) % 2 == 1)


def refuse_uneven(grades: Collection[Any], where: str) -> None:
    """Raise for grades that are not whole numbers, or not 1, 2, … up to the same one to both sides."""
    broken = [grade for grade in grades if not is_real(grade) or not float(grade).is_integer()]
    if broken:
        said = f"the grade {broken[0]!r}"
        raise JudgmentError(said, where=where, expected="whole numbers such as 2, 1, 0, -1, -2, positive for object i")
    there = {int(grade) for grade in grades} - {0}
    steps = max(map(abs, there), default=0)
    lacking = [grade for size in range(1, steps + 1) for grade in (size, -size) if grade not in there]
    if lacking or not there:
        said = f"the grades {sorted(map(int, grades), reverse=True)} lack {lacking or [1, -1]}"
        raise JudgmentError(
            said, where=where, expected="the same grades to both sides, 1 to the largest for object i, -1 to it for j"
        )
