"""Proposals of mappings to paste for outcome labels, only if the labels have one clear meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.columns import Label
from .frames import as_number
from .outcome_codings import Meaning

Proposal = Mapping[Any, Meaning | int]

MOST_LABELS = 40  # of a mapping that is printed whole
_ARROW = re.compile(r"([ab]?)(>+|<+|=)([ab]?)")
_LARGEST = 3  # signed number that is taken for a grade


def pasted(mapping: Proposal) -> str:
    """Return a mapping ready to paste."""
    return "{" + ", ".join(f"{label!r}: {meaning!r}" for label, meaning in mapping.items()) + "}"


def numbers_meaning(labels: Sequence[Label], sides: tuple[str, str]) -> list[tuple[Proposal, str]]:
    """Return the possible meanings of numbers: mappings, each with the condition for it; empty if there are too many.

    Numbers with one meaning: scores of object i (0, .5, 1, with .5), places (1, 2) and signed numbers (−1, 0, 1; grades
    −2, …, 2). 0 and 1 have two meanings. The meaning of other numbers is unknown: 0, 1, 2 may be points, goals, or
    places with 0 for a tie.
    """
    values = {label: as_number(label) for label in labels}
    numbers = {value for value in values.values() if value is not None}

    def by(meaning: Mapping[float, Meaning | int]) -> Proposal:
        return {label: meaning[value] for label, value in values.items() if value is not None}

    if numbers <= {0, 0.5, 1} and 0.5 in numbers:
        return [(by({0: "j", 0.5: "tie", 1: "i"}), "if that is what they mean")]
    if numbers in ({1, 2}, {1}):
        return [(by({1: "i", 2: "j"}), "if that is what they mean")]
    if numbers == {0, 1}:
        won = "if 1 says that {} won"
        return [(by({0: "j", 1: "i"}), won.format(sides[0])), (by({0: "i", 1: "j"}), won.format(sides[1]))]
    if min(numbers, default=0) >= 0:
        return []
    if numbers <= {-1, 0, 1}:
        return [(by({-1: "j", 0: "tie", 1: "i"}), "if that is what they mean")]
    largest = int(max(map(abs, numbers)))
    if largest <= _LARGEST and numbers | {0} == set(range(-largest, largest + 1)):
        return [(by({grade: grade for grade in range(-largest, largest + 1)}), "if that is what they mean")]
    return []


def word_meaning(label: object, sides: tuple[str, str]) -> Meaning:
    """Return the probable meaning of a label; None if it is unclear."""
    if not isinstance(label, str):
        return None
    word = label.lower().strip()
    if word in ("=", "draw", "equal", "same", "both") or word.startswith("tie"):
        return "tie"
    if label == sides[0] or word in ("i", "a", "l", "left", ">", "first", "1", "win"):
        return "i"
    return "j" if label == sides[1] or word in ("j", "b", "r", "right", "<", "second", "2", "loss") else None


def arrows_meaning(labels: Sequence[Label]) -> Proposal:
    """Return the meanings of labels such as A>>B, as grades if strengths differ; nothing for other labels.

    Grades are the same on both sides, so a grade with a label on one side only is given to the opposite arrow, too.
    """
    grades: dict[Any, int] = {}
    for label in labels:
        match = _ARROW.fullmatch(label.lower().replace(" ", "")) if isinstance(label, str) else None
        if match is None or (match[1] and match[1] == match[3]):
            continue
        turned = match[1] == "b" or match[3] == "a"
        size = len(match[2].strip("="))
        grades[label] = -size if ("<" in match[2]) != turned else size
    largest = max(map(abs, grades.values()), default=0)
    if largest <= 1:
        words: tuple[Meaning, ...] = ("tie", "i", "j")
        return {label: words[size] for label, size in grades.items()}
    for size in range(1, largest + 1):
        for grade, sign in ((size, ">"), (-size, "<")):
            if grade not in grades.values():
                grades[f"A{sign * size}B"] = grade
    return grades
