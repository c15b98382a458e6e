"""Which system is better, by scores: `llbt.scores`."""

from typing import NoReturn

from ..data.system_scores import SystemScores
from ..errors import unknown_name
from .aggregate import aggregate
from .bradley_terry import BradleyTerry
from .compare import compare
from .elo_history import elo_history
from .item_difficulty import difficulty
from .leaderboard import leaderboard
from .pairwise import pairwise
from .ratings import Elo, TrueSkill
from .read_board import read_board
from .setups import aggregate_methods, aggregate_setups, compare_tests
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
    "compare_tests",
    "difficulty",
    "elo_history",
    "leaderboard",
    "pairwise",
    "read_board",
    "simulate",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name(__name__, name)
