"""Fits to lists as models of units: single lists, or the levels of a cluster or covariate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray, IntArray, Label, summed_by
from ..core.rankings import list_text
from ..errors import DesignError
from ..fitting.protocols import WithLists
from ..fitting.ranking_lists import Ghost, without_column
from ..kernel.list_fit import Unbounded, fit_lists
from .list_tables import LISTS, counted_again, levels_of_lists
from .refit import refit_data

_WEAK = 1.0  # wins and losses of each object against an object that nobody judged


@dataclass(frozen=True, eq=False)
class ListUnits:
    """A fit to L lists in units; `codes` is the unit of each list, shape (L,)."""

    fit: WithLists
    unit: str
    labels: tuple[Label, ...] | None
    counts: FloatArray
    sizes: FloatArray
    codes: IntArray

    @property
    def parts(self) -> FloatArray:
        """The number of lists in each unit, shape (U,)."""
        return self.sizes

    @property
    def part(self) -> str:
        """The noun for what `parts` counts."""
        return LISTS

    @property
    def each(self) -> str:
        """The noun for what `sizes` counts."""
        return LISTS

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the estimated parameters, including the parameters of ties."""
        return tuple(self.fit.names[k] for k in self.fit.places)

    @property
    def estimates(self) -> FloatArray:
        """The estimates."""
        return self.fit.solution.params

    def of_lists(self, counts: FloatArray) -> FloatArray:
        """Return the count of each list (L,), given the number of each unit (U,)."""
        return counts if self.labels is None else counts[self.codes] * self.fit.rankings.counts

    def titles(self) -> list[str]:
        """Return the name of each unit."""
        if self.labels is None:
            return [list_text(self.fit.rankings, k) for k in range(len(self.counts))]
        return [str(label) for label in self.labels]

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the estimates with other counts of the units, with the fit's prior."""
        lists, own = replace(self.fit.lists, counts=self.of_lists(counts)), self.fit.specification.prior
        if isinstance(own, (int, float)):
            return self._by_prior(counts, float(own))
        try:
            again = fit_lists(lists, self.estimates)
        except (Unbounded, linalg.LinAlgError):
            again = None
        if again is None or not again.converged:
            raise DesignError("the remaining lists have no finite estimates", "Use more folds, or other units.")
        return again.params

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Return the estimates with a win and a loss of each object against an object that nobody judged."""
        return self._by_prior(counts, _WEAK)

    def _by_prior(self, counts: FloatArray, judgments: float) -> FloatArray:
        joined = Ghost(judgments).joined(replace(self.fit.lists, counts=self.of_lists(counts)))
        try:
            return without_column(fit_lists(joined).params, self.fit.lists.matrix.shape[1])
        except (Unbounded, linalg.LinAlgError):  # a prior of worths has no information on ties
            raise DesignError("a fold has no finite estimate of ties, even with a prior", "Use more folds.") from None

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of each unit: the sum over its lists."""
        each = self.fit.lists.each(params)[0]
        if self.labels is None:
            return each
        return summed_by(self.codes, each * self.fit.rankings.counts, len(self.counts))

    def refitted(self, counts: FloatArray) -> WithLists:
        """Return the fit with other counts of the units, with standard errors of independent lists."""
        again: WithLists = refit_data(self.fit, counted_again(self.fit.rankings, self.of_lists(counts)))
        return again


def list_units(res: WithLists, by: str | None, option: str) -> ListUnits:
    """Return a fit to lists as a model of lists, or of the levels of a column."""
    r = res.rankings
    by = by or res.specification.groups or LISTS
    if by == LISTS:
        return ListUnits(res, by, None, r.counts, np.ones(len(r)), np.arange(len(r)))
    codes = levels_of_lists(r, by, option)
    sizes = summed_by(codes, r.counts)
    column = next(c for c in (*r.columns, *r.cluster_columns) if c.name == by)
    labels = tuple(column.levels[np.unique(column.codes)].tolist())
    return ListUnits(res, by, labels, np.ones(len(sizes)), sizes, codes)
