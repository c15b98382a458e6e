"""The bootstrap of fits of lists: lists or clusters of them drawn again, or new lists from the model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import linalg

from ..budgets import refuse_draws
from ..core.columns import FloatArray
from ..core.rankings import Rankings
from ..errors import DesignError
from ..fitting.ranking_model import solved_rankings
from ..fitting.ranking_results import RankingResults
from ..kernel.list_fit import Unbounded, fit_lists
from ..resampling import Resampler
from .bootstrap_record import Bootstrap
from .list_tables import MODEL, counted_again, drawn_counts_of_lists, drawn_rankings, unit_of
from .unit_influences import Statistic, statistic_in, values_at

_AT_ONCE = 20  # tables in a block: each is a fit of its own, so that the bar moves


def bootstrapped_lists(
    res: RankingResults, statistic: Statistic | None, resample: str | None, n: int, draw: Resampler
) -> Bootstrap:
    """Return the bootstrap of a fit of lists; see `bootstrap`."""
    unit = unit_of(res, resample)
    if statistic is None:
        names, estimate = res.names, np.asarray(res.params, dtype=np.float64)
    else:
        names, estimate = values_at(res, statistic)
    refuse_draws("the table of estimates of {n} resamples", n, 2.0 * len(estimate))
    task = partial(_values, res, statistic, unit, names)
    replicates = np.concatenate(draw.blocks(task, n, len(res.rankings.items), _AT_ONCE))
    return Bootstrap(res, tuple(names), estimate, replicates, unit, statistic)


def _values(
    res: RankingResults,
    statistic: Statistic | None,
    unit: str,
    names: tuple[str, ...],
    n: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the values of n resamples, shape (n, k); NaN where there is no finite estimate."""
    found = np.full((n, len(names)), np.nan)
    if unit != MODEL and statistic is None:
        for row, counts in zip(found, drawn_counts_of_lists(res.rankings, unit, n, rng), strict=True):
            row[:] = _refitted(res, counts)
        return found
    tables = (
        drawn_rankings(res, n, rng)
        if unit == MODEL
        else [counted_again(res.rankings, counts) for counts in drawn_counts_of_lists(res.rankings, unit, n, rng)]
    )
    for row, table in zip(found, tables, strict=True):
        again = _fitted(res, table)
        values = None if again is None else statistic_in(again, statistic or _params, names, "a resample")
        if values is not None:
            row[:] = values
    return found


def _params(res: RankingResults) -> pd.Series[float]:
    return res.params


def _refitted(res: RankingResults, counts: FloatArray) -> FloatArray:
    """Return the parameters of the lists with other counts (L,), NaN where they are aliased or not finite."""
    params = np.full(len(res.names), np.nan)
    try:
        again = fit_lists(replace(res.lists, counts=counts), res.solution.params)
    except (Unbounded, linalg.LinAlgError):
        return params
    if again.converged:
        params[res.places] = again.params
    return params


def _fitted(res: RankingResults, table: Rankings) -> RankingResults | None:
    try:
        return solved_rankings(replace(res.specification, cov_type="nonrobust", groups=""), table)
    except DesignError:  # an infinite estimate, an object that is not there
        return None
