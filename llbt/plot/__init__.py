"""Pictures with matplotlib; each function draws in an Axes and returns it: `llbt.plot`."""

from typing import NoReturn

from ..errors import unknown_name
from .calibration import calibration
from .changes import changes
from .classes import classes, posteriors
from .decisions import decisions, difference_curve, subset_correlations
from .differences import differences, paired
from .discrimination import discrimination
from .fits import anova, residuals
from .forest import forest
from .fragility import fragility
from .frontier import frontier
from .intervals import intervals, ranks
from .judge_effects import judge_effects
from .judges import judges, ties
from .network import network
from .over_time import over_time
from .pairs import outcomes, probabilities
from .power import power
from .ranks_by_method import ranks_by_method
from .scatter import scatter
from .significance import significance
from .tree import tree
from .win_probabilities import win_probabilities
from .worth import worth

__all__ = [
    "anova",
    "calibration",
    "changes",
    "classes",
    "decisions",
    "difference_curve",
    "differences",
    "discrimination",
    "forest",
    "fragility",
    "frontier",
    "intervals",
    "judge_effects",
    "judges",
    "network",
    "outcomes",
    "over_time",
    "paired",
    "posteriors",
    "power",
    "probabilities",
    "ranks",
    "ranks_by_method",
    "residuals",
    "scatter",
    "significance",
    "subset_correlations",
    "ties",
    "tree",
    "win_probabilities",
    "worth",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name(__name__, name)
