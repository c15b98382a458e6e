"""Which system is better, by scores: `llbt.scores`."""

from ..data.score_frames import SystemScores
from .aggregate import aggregate
from .bradley_terry import BradleyTerry
from .compare import compare
from .pairwise import pairwise
from .ratings import Elo, TrueSkill
from .setups import aggregate_methods, aggregate_setups
from .simulate import simulate

__all__ = [
    "BradleyTerry",
    "Elo",
    "SystemScores",
    "TrueSkill",
    "aggregate",
    "aggregate_methods",
    "aggregate_setups",
    "compare",
    "pairwise",
    "simulate",
]


def __dir__() -> list[str]:
    return sorted(__all__)
