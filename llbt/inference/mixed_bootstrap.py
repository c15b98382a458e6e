"""Bootstrap of a fit with effects of judges: judges resampled whole, or new ones drawn, and refitted."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd

from ..core.columns import FloatArray
from ..errors import DesignError, OptionError, listed
from ..fitting.mixed_results import MixedResults
from ..formulas.grammar import parse, vocabulary
from ..resampling import Resampler
from .bootstrap_record import Bootstrap
from .mixed_tables import drawn_table, resampled_judges
from .unit_influences import Statistic, statistic_of, values_at

_REFITS = 10  # tables drawn in one block: the bar moves


def parameters_of(res: MixedResults) -> pd.Series[float]:
    """Return the fixed parameters, and σ under the brackets' names."""
    return pd.concat([res.params, res.scales])


def bootstrapped(
    res: MixedResults, statistic: Statistic | None, resample: str | None, n: int, draw: Resampler
) -> Bootstrap:
    """Return the bootstrap distribution of a statistic, by default of parameters and σ; see `bootstrap`."""
    groupings = tuple(dict.fromkeys(bracket.grouping for bracket in res.brackets if bracket.effect != "1"))
    plain = res.without
    variables = parse(plain.specification.formula, vocabulary(plain.comparisons)).variables
    if resample is None:
        alone = len(res.judges.groupings) == 1 and groupings and groupings[0] not in variables
        resample = groupings[0] if alone else "parametric"
    if resample not in ("parametric", *groupings):
        raise OptionError(
            f"resample={resample!r}, but judgments of one {(groupings or ('object',))[0]} depend on each other by "
            "the effects",
            expected=f"'parametric'{', or ' if groupings else ''}{listed(groupings)}",
        )
    if resample in variables:
        raise DesignError(
            f"{resample!r} is a covariate of {plain.specification.formula!r}, too, whose levels cannot be resampled",
            "Use resample='parametric'.",
        )
    asked = statistic or parameters_of
    names, estimate = values_at(res, asked)
    task = functools.partial(_statistics_of, res, asked, names, resample)
    replicates = np.concatenate(draw.blocks(task, n, res.comparisons.counts.size, _REFITS))
    return Bootstrap(res, names, estimate, replicates, resample, statistic)


def _statistics_of(
    res: MixedResults, statistic: Any, names: tuple[str, ...], resample: str, n: int, rng: np.random.Generator
) -> FloatArray:
    """Return the values of n resamples, shape (n, k); NaN in degenerate ones."""
    replicates = np.full((n, len(names)), np.nan)
    for b in range(n):
        try:
            table = drawn_table(res, rng) if resample == "parametric" else resampled_judges(res, resample, rng)
        except DesignError:
            continue
        found = statistic_of(res, statistic, names, table, "a resample")
        if found is not None:
            replicates[b] = found
    return replicates
