"""Worths that are part of a larger fit: estimates with their covariance, but without counts or a likelihood."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from ..base.arguments import Count, checked
from ..base.table import Record, Table
from ..core.columns import FloatArray
from ..kernel.robust import Covariance
from . import hypotheses
from .attributes import Lacking, missing_attribute
from .estimates import Estimates, Solution
from .object_effects import ObjectEffects
from .summary import part_summary
from .summary_rows import MOST_ROWS, Sort
from .unsupported_questions import no_profile


@dataclass(frozen=True, repr=False, eq=False)
class FitPart(Estimates, Record):
    """A part of a larger fit: estimates of the average judge, of a class, or of the parameters that are not worths.

    Functions that need only log-worths accept it: `worth`, `leaderboard`, `pairwise`, `contrasts`, `quasi_variances`
    and the pictures of worths. Functions that need counts or a likelihood need the whole result.

    Attributes
    ----------
    whole : type
        The type of the whole result, such as `MixedResults`.
    answers_depend : bool
        Whether answers of a judge depend on each other; λᵢ − λⱼ then gives no probability of a single answer.
    """

    whole: type = object
    answers_depend: bool = False

    def __getattr__(self, name: str) -> Any:
        given = inspect.getattr_static(self.whole, name, None)
        if isinstance(given, Lacking):
            raise given.error(self, self.whole)
        if given is not None and name[0] != "_":
            raise AttributeError(f"{name} belongs to the whole {self.whole.__name__}; this part has only its worths")
        raise missing_attribute(self, name)

    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test

    @property
    def remedy(self) -> str:
        """What to pass to functions that need more than worths."""
        return f"Pass the whole result, as {getattr(self.whole, '_made_by', self.whole.__name__)} returned it."

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Refuse profile intervals: a part has no likelihood."""
        raise no_profile(self.whole, "the worths of ")

    @checked
    def summary(self, *, odds: bool = True, max_rows: Count = MOST_ROWS, sort: Sort = "name") -> Table:
        """Return the printout: call, data and coefficients; arguments as in `LLBTResults.summary`."""
        return part_summary(self, self.whole, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()


def part_of(
    whole: type, base: Estimates, solution: Solution, covariance: Covariance, effects: ObjectEffects | None = None
) -> FitPart:
    """Return new estimates of the parameters of a fit, in the form of a part of a larger fit."""
    return FitPart(base.specification, base.comparisons, base.design, base.free, solution, covariance, effects, whole)
