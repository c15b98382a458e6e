"""What a fit to lists knows of its estimates, under statsmodels' names."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.columns import FloatArray, IntArray
from ..core.rankings import Rankings
from ..formulas.coding import Reference
from ..kernel.list_likelihood import Lists
from .specification import Prior
from .worth_estimates import WorthEstimates


@dataclass(frozen=True)
class RankingSpecification:
    """Everything that a fit of lists was asked for, under the names of the arguments of `fit_rankings`."""

    formula: str
    reference: Reference = None
    cov_type: str = "nonrobust"
    groups: str = ""
    prior: Prior = None
    best_worst: str = "joint"


def names_of_ties(orders: IntArray) -> tuple[str, ...]:
    """Return the names of log δ for numbers of objects in one place."""
    return ("tie",) if orders.tolist() == [2] else tuple(f"tie[{d}]" for d in orders.tolist())


@dataclass(frozen=True, repr=False, eq=False)
class RankingEstimates(WorthEstimates):
    """The estimates of a fit to lists and what follows from them: `RankingResults` but for tests and printout."""

    specification: RankingSpecification
    rankings: Rankings
    lists: Lists

    @property
    def names_beside(self) -> tuple[str, ...]:
        """Names of the parameters log δ: ``tie`` where at most two objects share a place, else ``tie[2]`` …."""
        return names_of_ties(self.lists.orders) if self.lists.held is None else ()

    @property
    def n_judgments(self) -> float:
        """Number of lists."""
        return self.rankings.n_judgments

    @property
    def probabilities(self) -> FloatArray:
        """The fitted probability of each list, of all that its set can come to, shape (L,)."""
        return self.lists.probabilities(self.solution.params)
