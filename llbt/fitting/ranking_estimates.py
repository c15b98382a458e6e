"""The estimates of a fit to rankings or best-worst sets (lists), under statsmodels' names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.basis import Basis, of_rankings
from ..core.columns import FloatArray, IntArray
from ..core.rankings import Rankings
from ..errors import OptionError
from ..formulas.coding import Reference
from ..kernel.list_fit import fit_lists
from ..kernel.list_likelihood import Lists
from ..kernel.profile import Held
from .answer_clusters import ClusterCov
from .specification import Prior
from .worth_estimates import WorthEstimates


@dataclass(frozen=True)
class RankingSpecification:
    """Everything that defines a fit of rankings or best-worst sets, under the names of the arguments of `fit`."""

    formula: str
    reference: Reference = None
    cov_type: ClusterCov = "nonrobust"
    groups: str = ""
    prior: Prior = None
    best_worst: str = "joint"


def names_of_ties(orders: IntArray) -> tuple[str, ...]:
    """Return the names of log δ for numbers of objects in one place."""
    return ("tie",) if orders.tolist() == [2] else tuple(f"tie[{d}]" for d in orders.tolist())


@dataclass(frozen=True, repr=False, eq=False)
class RankingEstimates(WorthEstimates):
    """The estimates of a fit to lists, and what follows from them: `RankingResults` without tests and printout."""

    specification: RankingSpecification
    rankings: Rankings
    lists: Lists

    @property
    def names_beside(self) -> tuple[str, ...]:
        """Names of the parameters log δ: ``tie`` if at most two objects share a place, else ``tie[2]`` and so on."""
        return names_of_ties(self.lists.orders) if self.lists.held is None else ()

    def _held(self, k: int) -> Held:
        """Return the maximum of the likelihood of the lists with estimate k held."""
        spec = self.specification
        if spec.prior is not None or spec.groups:
            what, way = ("a prior", "prior=") if spec.prior is not None else ("clusters", "groups=")
            raise OptionError(
                f"method='profile' uses only the likelihood of independent lists, and the fit has {what}",
                f"Use Wald intervals: res.conf_int(); or fit without {way}.",
            )
        which = np.arange(len(self.places)) == k

        def held(start: FloatArray) -> tuple[FloatArray, FloatArray, float]:
            maximum = fit_lists(self.lists, start, which)
            return maximum.params, maximum.gradient, maximum.log_likelihood

        return held

    @property
    def n_judgments(self) -> float:
        """Number of rankings or best-worst sets."""
        return self.rankings.n_judgments

    @property
    def answers(self) -> Rankings:
        """The rankings or best-worst sets."""
        return self.rankings

    @property
    def basis(self) -> Basis:
        """The data of the log-likelihood; compare `llf`, `aic` and `bic` only between fits with the same basis."""
        return of_rankings(self.rankings)

    @property
    def effective_params(self) -> float:
        """The parameters that `aic` and `bic` count: all estimated ones, or tr[I (I + P)⁻¹] with a numeric prior.

        I and P are the information of the lists and of the prior at the estimates.
        """
        prior = self.specification.prior
        if prior is None or isinstance(prior, str):
            return float(self.n_params)
        plain = self.covariance.independent
        cov = self.covariance.matrix if plain is None else plain
        return float((self.lists.moments(self.solution.params).information * cov).sum())

    @property
    def probabilities(self) -> FloatArray:
        """The fitted probability of each list among all lists of its set, shape (L,)."""
        return self.lists.probabilities(self.solution.params)
