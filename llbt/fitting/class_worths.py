"""Log-worths of several classes of judges, in the form that `llbt.worth` and `llbt.pairwise` use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base.table import Field, Table, stacked_field
from ..core.columns import FloatArray
from .estimates import Estimates
from .fit_part import FitPart

MOST_ROWS = 60


@dataclass(frozen=True, eq=False)
class ClassWorths:
    """Log-worths of K classes of judges with their joint covariance.

    Attributes
    ----------
    judges : str
        The column whose levels are the judges.
    shares : ndarray, shape (K,)
        The share of the judges in each class.
    each : tuple of FitPart, length K
        The worths of each class, p parameters each.
    pooled : Estimates
        The fit with the same worths for all judges.
    covariance : ndarray, shape (K·p + K − 1, K·p + K − 1)
        The covariance of the parameters, class by class, and of the log ratios of the shares to the first share; NaN
        where a class has infinite estimates.
    notes : tuple of str
        Which classes have infinite estimates.
    """

    judges: str
    shares: FloatArray
    each: tuple[FitPart, ...]
    pooled: Estimates
    covariance: FloatArray
    notes: tuple[str, ...]

    @property
    def share_slopes(self) -> FloatArray:
        """The derivatives of the shares in their log ratios, shape (K, K − 1)."""
        return np.asarray((np.diag(self.shares) - np.outer(self.shares, self.shares))[:, 1:])

    def stacked(self, answer: Callable[[FitPart], Table]) -> Table:
        """Return the answers of all classes one below another, with the columns class and share in front."""
        tables = [answer(one) for one in self.each]
        sizes = [len(one.fields[0].values) for one in tables]
        labels = list(range(1, len(sizes) + 1))
        names = list(dict.fromkeys(field.name for one in tables for field in one.fields))
        columns = [{field.name: field for field in one.fields} for one in tables]
        shared = [[column[name] for column in columns] for name in names if all(name in column for column in columns)]
        fields = (
            Field("class", "class", np.repeat(labels, sizes), "count"),
            Field("share", "share", np.repeat(self.shares, sizes), "number", 3),
            *map(stacked_field, shared),
        )
        notes = dict.fromkeys(note for one in tables for note in one.notes)
        return Table(fields, title=f"{tables[0].title}, by class of {self.judges}", notes=(*notes, *self.notes)).first(
            MOST_ROWS
        )
