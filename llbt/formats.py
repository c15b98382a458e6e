"""How files of judgments are written: `llbt.formats`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from .base.arguments import checked
from .core.columns import Label
from .core.judgments import OBJECTS
from .data.asked import Asked
from .data.formats import (
    Always,
    ByScores,
    Choice,
    Constant,
    Game,
    JudgmentFormat,
    Labelled,
    Labels,
    Lean,
    OneHot,
    Reworded,
    Share,
)
from .data.known_formats import JUDGMENT_FORMATS as known
from .data.known_formats import list_formats as table
from .data.outcomes import Outcomes
from .data.recognized import OWN_COLUMNS, overridden
from .data.sources import as_two_names
from .data.value_types import LabelType
from .errors import unknown_name

__all__ = [
    "Always",
    "ByScores",
    "Choice",
    "Constant",
    "Game",
    "JudgmentFormat",
    "Labelled",
    "Labels",
    "Lean",
    "OneHot",
    "Reworded",
    "Share",
    "columns",
    "known",
    "table",
]


@checked
def columns(
    objects: Sequence[str] = OBJECTS,
    outcome: str = "outcome",
    *,
    outcomes: Outcomes = None,
    judge: str | None = None,
    prompt: str | None = None,
    weights: str | None = None,
    defaults: Mapping[str, Label] | None = None,
    labels: LabelType | None = None,
) -> JudgmentFormat:
    """Return the format of a table with one judgment per row and its own column names.

    Parameters
    ----------
    objects : two str
        Columns of the two objects; the first column has the object shown first.
    outcome : str
        Column that says who won.
    outcomes : mapping, "names", "slots" or None
        The outcomes that its labels stand for, as in `from_judgments`. If labels stand for grades, `audit` reads the
        grades; `from_judgments` reads them with ``from_judgments(…, format=mine, strength="strength")``.
    judge, prompt : str, optional
        Columns of the judge and of the prompt; by default those with a usual name, if there are any.
    weights : str, optional
        Column with the number of judgments that a row stands for.
    defaults : mapping, optional
        Column → its value where the table lacks it.
    labels : "text", "number" or None
        The type of the labels of objects, as in `from_judgments`.

    Returns
    -------
    JudgmentFormat
        For ``format=`` of `audit`, `from_judgments` and `read_judgments`.

    Raises
    ------
    OptionError
        For `objects` that are not two names, invalid outcomes, and defaults of columns that are not named here. A
        column that a table lacks raises an error when the table is read.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> frame = pd.DataFrame({"left": ["x", "y"], "right": ["y", "z"], "winner": ["left", "right"]})
    >>> mine = llbt.formats.columns(("left", "right"), "winner")
    >>> llbt.audit(frame, format=mine).sizes[0]
    '3 objects, 2 of 3 pairs compared, 2 judgments (0 % ties)'
    """
    own, objects = known["judgments"], as_two_names(objects, "objects")
    named = overridden(own, Asked(objects, outcome, outcomes, judge, prompt))
    game = replace(named.games[0], weight=weights)
    marks = tuple(name for name in (*objects, outcome, judge, prompt, weights) if name is not None)
    mine = replace(named, name=OWN_COLUMNS, games=(game,), marks=marks, description="", labels=labels)
    return overridden(mine, Asked(defaults=defaults))


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name(__name__, name)
