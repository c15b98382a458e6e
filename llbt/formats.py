"""How files of judgments are written: `llbt.formats`."""

from .data.formats import (
    Always,
    ByScores,
    Choice,
    Constant,
    Game,
    JudgmentFormat,
    Labels,
    Lean,
    OneHot,
    Reworded,
    Share,
)
from .data.known_formats import JUDGMENT_FORMATS as known
from .data.known_formats import list_formats as table

__all__ = [
    "Always",
    "ByScores",
    "Choice",
    "Constant",
    "Game",
    "JudgmentFormat",
    "Labels",
    "Lean",
    "OneHot",
    "Reworded",
    "Share",
    "known",
    "table",
]


def __dir__() -> list[str]:
    return sorted(__all__)
