"""Agreement, biases, dimensions, latent classes and trees of judges, and calibrated machine judges: `llbt.judges`."""

from typing import NoReturn

from ..errors import unknown_name
from .agreement import agreement
from .calibrate import calibrate
from .classes import classes
from .dimension import dimension
from .group_comparison import compare_groups
from .judge_report import report
from .summary import summary
from .tree import tree

__all__ = ["agreement", "calibrate", "classes", "compare_groups", "dimension", "report", "summary", "tree"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name(__name__, name)
