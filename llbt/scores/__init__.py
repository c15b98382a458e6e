"""Which system is better, by scores: `llbt.scores`."""

from .aggregate import aggregate
from .compare import compare
from .pairwise import pairwise
from .setups import aggregate_methods, aggregate_setups
from .simulate import simulate

__all__ = ["aggregate", "aggregate_methods", "aggregate_setups", "compare", "pairwise", "simulate"]


def __dir__() -> list[str]:
    return sorted(__all__)
