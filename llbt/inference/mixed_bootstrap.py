"""The bootstrap of a fit with effects of judges: its draws and its parameters."""

from __future__ import annotations

import pandas as pd

from ..errors import DesignError, OptionError, listed
from ..fitting.protocols import WithEffects
from ..formulas.grammar import parse, vocabulary


def parameters_of(res: WithEffects) -> pd.Series[float]:
    """Return the fixed parameters, and σ under the names of the brackets."""
    return pd.concat([res.params, res.scales])


def judge_unit(res: WithEffects, resample: str | None) -> str:
    """Return the resampled unit of a fit with effects: its judges, or new judges; see `bootstrap`."""
    groupings = tuple(dict.fromkeys(bracket.grouping for bracket in res.brackets if bracket.effect != "1"))
    plain = res.without
    variables = parse(plain.specification.formula, vocabulary(plain.comparisons)).variables
    if resample is None:
        alone = len(res.judges.groupings) == 1 and groupings and groupings[0] not in variables
        resample = groupings[0] if alone else "parametric"
    if resample not in ("parametric", *groupings):
        raise OptionError(
            f"resample={resample!r}, but judgments of one {(groupings or ('object',))[0]} depend on each other "
            "through the effects",
            expected=f"'parametric'{', or ' if groupings else ''}{listed(groupings)}",
        )
    if resample in variables:
        raise DesignError(
            f"{resample!r} is also a covariate of {plain.specification.formula!r}, so its levels cannot be resampled",
            "Use resample='parametric'.",
        )
    return resample
