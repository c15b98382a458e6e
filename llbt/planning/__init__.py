"""How many judgments a study needs, which pairs to judge next, and when to stop: `llbt.planning`."""

from typing import NoReturn

from ..errors import unknown_name
from .needed import needed
from .next_pairs import next_pairs
from .sequential import sequential

__all__ = ["needed", "next_pairs", "sequential"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name(__name__, name)
