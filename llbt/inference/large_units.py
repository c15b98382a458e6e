"""Fits of very many objects as models of units (levels of a column); refits start from the fit's estimates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.columns import FloatArray
from ..fitting.large import estimates_again, worth_problem
from ..fitting.protocols import WithManyWorths
from ..fitting.specification import make_problem, prior_counts
from ..kernel.likelihood import pseudo_counts
from ..kernel.matrix_free import probabilities_at
from .pair_units import JUDGMENT, PairUnits, units_of_counts


@dataclass(frozen=True, eq=False)
class LargeCounts:
    """A fit of very many objects that can be repeated; its parameters are the J log-worths, then q others."""

    fit: WithManyWorths

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, the log-worths first."""
        return self.fit.names

    @property
    def estimates(self) -> FloatArray:
        """Log-worths with mean 0, then the other parameters."""
        return self.fit.estimates

    @cached_property
    def _own(self) -> FloatArray | float:
        """The counts of the fit's prior, (S, K)."""
        res = self.fit
        plain = make_problem(res.design, res.comparisons, np.arange(len(res.beside.names)), {})
        return prior_counts(plain, res.comparisons, res.specification)

    def estimated(self, counts: FloatArray) -> FloatArray | None:
        """Return the estimates for other counts; None if they are not finite."""
        return estimates_again(self.fit, counts, self._own)

    def shrunk(self, counts: FloatArray) -> FloatArray | None:
        """Return the estimates with a prior of one judgment for each pair of the whole table."""
        c = self.fit.comparisons
        weak = pseudo_counts(c.pairs, c.totals, self.fit.counts.shape[1], 1.0)
        return estimates_again(self.fit, counts, self._own + weak)

    def probabilities(self, params: FloatArray) -> FloatArray:
        """Return the probabilities of the outcomes, shape (S, K)."""
        return probabilities_at(worth_problem(self.fit, self.fit.counts), params)


def large_units(res: WithManyWorths, by: str | None, option: str) -> PairUnits:
    """Return a fit of very many objects as a model of judgments, or of the levels of a column."""
    return units_of_counts(res, by or JUDGMENT, LargeCounts(res))
