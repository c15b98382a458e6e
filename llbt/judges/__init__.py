"""What judges do, and whether they agree: `llbt.judges`."""

from .agreement import agreement
from .summary import summary

__all__ = ["agreement", "summary"]


def __dir__() -> list[str]:
    return sorted(__all__)
