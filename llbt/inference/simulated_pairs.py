"""Counts of pairs of objects in tables that are drawn from a fit, with the estimates or scores of these tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..base.budgets import refuse_large
from ..base.notes import Qualifying
from ..base.table import format_count
from ..core.columns import FloatArray, IntArray, Label
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError
from ..fitting.fitted import WithWorths
from ..resampling import Resampler
from .kinds import own_summary, summary_of
from .simulated_goodness import Apart, SimulatedGoodness, tested
from .simulation import simulate

_AT_ONCE = 5  # tables drawn in a block; each is fitted again, so that the progress bar moves
_TIMES = 3  # least tables for each parameter, because a table's estimates explain some of its cells


@dataclass(frozen=True, eq=False)
class Pairs:
    """The outcomes of pairs of objects, summed over everything else: i preferred, a tie, j preferred.

    Attributes
    ----------
    objects : tuple
    observed : ndarray, shape (P, 3)
    ends : ndarray of int, shape (P, 2)
    expected : ndarray, shape (P, 3)
        The expected counts in drawn tables whose estimates or scores equal those of the data.
    apart : ndarray, shape (n, P, 3)
    notes : tuple of str
        A note on drawn tables that were left out.
    """

    objects: tuple[Label, ...]
    ends: IntArray
    observed: FloatArray
    expected: FloatArray
    apart: FloatArray
    notes: tuple[str, ...]

    def off(self, weights: FloatArray) -> Apart:
        """Return sums of the outcomes of each pair with weights (3,)."""
        return Apart((self.observed - self.expected) @ weights, self.expected @ weights, self.apart @ weights)


def simulated_goodness(res: WithWorths, n: int, draw: Resampler) -> SimulatedGoodness:
    """Return the test of fit by the outcomes of pairs; see `goodness_of_fit`."""
    pairs = simulated_pairs(res, n, draw)
    place, outcome = np.nonzero(pairs.expected > 0)
    names = np.array(["i", "tie", "j"])
    cells = pd.DataFrame(
        {
            "object_i": [pairs.objects[k] for k in pairs.ends[place, 0]],
            "object_j": [pairs.objects[k] for k in pairs.ends[place, 1]],
            "outcome": names[outcome].tolist(),
        }
    )
    counted = Apart(
        (pairs.observed - pairs.expected)[place, outcome],
        pairs.expected[place, outcome],
        pairs.apart[:, place, outcome],
    )
    null = f"the model {res.specification.formula!r} gives the probabilities of the outcomes of pairs"
    return tested("Goodness of fit, by pairs", null, cells, counted, pairs.notes)


def simulated_pairs(res: WithWorths, n: int, draw: Resampler) -> Pairs:
    """Return the counts of pairs' outcomes in the data and in n tables that are drawn from a fit.

    The counts allow, to first order, for the fact that a fit follows its data: cells of drawn tables are regressed on
    the tables' estimates, or on their scores at the fit (Pierce 1982; see `summary_of`). Expected counts are the
    regression's values at the estimates or scores of the data. Residuals of drawn tables are those of the regression.
    """
    at = own_summary(res)
    params = len(at)
    if n < _TIMES * params:
        raise OptionError(
            f"n={n} tables drawn for {params} estimates", expected=f"at least {_TIMES * params}, three for each"
        )
    objects = res.comparisons.objects
    refuse_large(f"the pairs of {format_count(n)} tables", 24.0 * n * len(objects) ** 2, "Draw fewer tables.")
    drawn = draw.blocks(partial(_drawn, res, objects, params), n, len(objects) ** 2, _AT_ONCE)
    counts, summaries = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    known = np.isfinite(summaries).all(axis=1)
    if known.sum() < _TIMES * params:
        raise DesignError(
            f"{int((~known).sum())} of {n} drawn tables have no finite estimates",
            "The fit is too imprecise for a simulated test.",
        )
    seen = pair_counts(res.comparisons, objects)
    ends = np.argwhere(seen.sum(axis=2) > 0)
    i, j = ends.T
    counts, observed = counts[known][:, i, j], seen[i, j]
    flat = counts.reshape(len(counts), -1)
    moved = np.column_stack([np.ones(len(flat)), summaries[known] - at])
    weights = np.linalg.pinv(moved)
    slope = weights @ flat
    expected = slope[0].reshape(observed.shape)  # for a table whose summary equals that of the data
    # the regression fits noise of the drawn tables, so their residuals are too small; it predicts the data with error
    lost = np.sqrt(len(flat) / (len(flat) - 1 - params) * (1 + (weights[0] ** 2).sum()))
    gone = int((~known).sum())
    notes = (Qualifying(f"{gone} of {n} drawn tables left out: no finite estimates."),) if gone else ()
    return Pairs(objects, ends, observed, expected, lost * (flat - moved @ slope).reshape(counts.shape), notes)


def _drawn(
    res: WithWorths, objects: tuple[Label, ...], params: int, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the outcomes of pairs in n drawn tables, (n, J, J, 3), and their summaries (n, p), NaN if not finite."""
    summaries = np.full((n, params), np.nan)
    counts = np.empty((n, len(objects), len(objects), 3))
    tables: tuple[Any, ...] = simulate(res, n, rng=rng)
    for k, data in enumerate(tables):
        counts[k] = pair_counts(data if isinstance(data, Comparisons) else data.to_comparisons(), objects)
        try:
            summary = summary_of(res, data)
        except DesignError:
            continue
        if len(summary) == params:
            summaries[k] = summary
    return counts, summaries


def pair_counts(c: Comparisons, objects: tuple[Label, ...]) -> FloatArray:
    """Return the outcomes of each pair, (J, J, 3): the earlier object preferred, a tie, or the later object."""
    place = {label: k for k, label in enumerate(objects)}
    at = np.array([place[label] for label in c.objects])
    first, second = at[c.pairs].T
    by_outcome = c.response.tally(c.outcome_counts)
    turned = first > second
    by_outcome = np.where(turned[:, None], by_outcome[:, ::-1], by_outcome)
    counts = np.zeros((len(objects), len(objects), 3))
    np.add.at(counts, (np.minimum(first, second), np.maximum(first, second)), by_outcome)
    return counts
