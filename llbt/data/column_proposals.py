"""Proposals of arguments to paste, if a reader does not find its columns."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Protocol

from ..core.columns import Label
from ..core.judgments import OBJECTS
from ..errors import JudgmentError
from .outcome_codings import NO, YES

# endings by which frames tell the two sides of a comparison apart
_ENDINGS = (
    *(("_i", "_j"), ("_a", "_b"), ("_1", "_2"), ("_x", "_y"), ("_left", "_right"), ("left", "right")),
    *(("1", "2"), ("_home", "_away"), ("a", "b"), ("A", "B"), ("i", "j")),
)
_THREE = ("123", "abc", "ABC")  # endings of three columns or more, which are not two sides
_OUTCOME_WORDS = (
    *("outcome", "winner", "result", "preference", "judgment", "choice", "label", "vote", "verdict", "selected"),
    *("pick", "preferred", "decision"),
)
_VERDICTS = frozenset(("i", "j", "a", "b", "left", "right", "tie", ">", "<", "="))
_SEARCHED = 30  # columns whose labels are compared


class Columns(Protocol):
    """A table whose columns can be looked at."""

    @property
    def names(self) -> Sequence[str]:
        """The columns."""

    def labels_of(self, name: str) -> list[Label]:
        """Return the distinct labels of a column.

        Raises
        ------
        JudgmentError
            Where they cannot be told apart.
        """


def proposed(table: Columns, parameter: str, gone: Sequence[str], roles: Mapping[str, Sequence[str]]) -> str:
    """Return what to pass if columns are missing: the likely call, or else the columns that it must name.

    Parameters
    ----------
    table : Columns
    parameter : str
        The argument that names missing columns.
    gone : sequence of str
        These columns.
    roles : mapping
        Argument → columns; columns of other arguments are not proposed.
    """
    taken = {name for role, names in roles.items() if role != parameter for name in names}
    free = [name for name in table.names if name not in taken]
    if parameter in ("objects", "wins"):
        sides = sides_of(table, free, of_wins=parameter == "wins")
        if sides == OBJECTS and not taken <= set(table.names):  # a format that is not this table's asks for others, too
            return "Leave format= out."
        if sides:
            judges = () if parameter == "wins" or outcome_of(free, by_name=True) else judges_of(table, free, sides)
            beside = f", outcome={list(judges)!r}" if judges else ""
            return f'Pass {parameter}=("{sides[0]}", "{sides[1]}"){beside}.'
        what = "with the objects, side i first" if parameter == "objects" else "with the wins of the two sides"
        return f"Pass {parameter}= and the names of the two columns {what}."
    if parameter == "outcome":
        outcome, objects = outcome_of(free), roles.get("objects", ())
        if not outcome and (judges := judges_of(table, free, objects)):
            return f"Pass outcome={list(judges)!r}, a column for each judge."
        return (
            f'Pass outcome="{outcome}".' if outcome else "Pass outcome= and the name of the column that says who won."
        )
    close = difflib.get_close_matches(gone[0], table.names, 1)
    return f"Did you mean {close[0]!r}?" if close else ""


def proposed_layout(table: Columns) -> str:
    """Return the arguments that name both objects and the outcome, ready to paste; empty if they are unclear."""
    sides = sides_of(table, table.names)
    if not sides:
        return ""
    free = [name for name in table.names if name not in sides]
    objects, outcome = f'objects=("{sides[0]}", "{sides[1]}")', outcome_of(free, by_name=True)
    judges = () if outcome else judges_of(table, free, sides)
    outcome = outcome or outcome_of(free)
    argument = f"outcome={list(judges)!r}" if judges else f'outcome="{outcome}"' if outcome else ""
    return f"{objects}, {argument}" if argument else ""


def judges_of(table: Columns, free: Sequence[str], sides: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of verdicts of a table with one column per judge, if there are two or more."""
    words = _VERDICTS | {str(label).casefold() for side in sides for label in _texts(table, side)}
    words |= {side.casefold() for side in sides}
    others = [name for name in free if name not in sides][:_SEARCHED]
    texts = {name: {label.casefold() for label in _texts(table, name)} for name in others}
    judges = tuple(name for name, labels in texts.items() if labels and labels <= words)
    return judges if len(judges) > 1 else ()


def sides_of(table: Columns, free: Sequence[str], *, of_wins: bool = False) -> tuple[str, str] | tuple[()]:
    """Return the two columns of the sides: by their endings, else two columns of text that share labels."""
    sided = [pair for pair in side_pairs(free) if ("win" in pair[0].lower()) == of_wins]
    if sided or of_wins:
        return sided[0] if sided else ()
    texts = {name: labels for name in free[:_SEARCHED] if len(labels := _texts(table, name)) > 1}
    names = [name for name in texts if name.lower() not in _OUTCOME_WORDS and not _has_a_third(name, table.names)]
    for k, i in enumerate(names):
        for j in names[k + 1 :]:
            if 2 * len(texts[i] & texts[j]) >= min(len(texts[i]), len(texts[j])):
                return i, j
    return ()


def side_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of columns that differ by the ending of a side, such as model_a and model_b."""
    pairs = ((name, name[: len(name) - len(i)] + j) for i, j in _ENDINGS for name in names if name.endswith(i))
    return [(first, second) for first, second in pairs if second in names and not _has_a_third(second, names)]


def _has_a_third(name: str, names: Sequence[str]) -> bool:
    """Whether a column is one of three or more that are numbered or lettered: places, or objects of a set."""
    return any(name[-1:] in ends and all(name[:-1] + end in names for end in ends) for ends in _THREE)


def _texts(table: Columns, name: str) -> frozenset[str]:
    """Return the labels of a text column; none for other columns, and for columns of yes and no."""
    try:
        labels = table.labels_of(name)
    except JudgmentError:
        return frozenset()
    texts = frozenset(label for label in labels if isinstance(label, str))
    return texts if len(texts) == len(labels) and not {x.casefold() for x in texts} <= YES | NO else frozenset()


def outcome_of(free: Sequence[str], *, by_name: bool = False) -> str:
    """Return the column of outcomes: by its name, or the only remaining column; empty if it is unknown."""
    words = [name for name in free if name.lower() in _OUTCOME_WORDS]
    return words[0] if words else free[0] if len(free) == 1 and not by_name else ""
