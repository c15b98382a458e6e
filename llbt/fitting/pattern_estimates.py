"""The estimates of a fit to patterns, under statsmodels' names."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ..core.basis import Basis, of_patterns
from ..core.columns import FloatArray
from ..core.patterns import Patterns
from ..errors import OptionError
from ..formulas.coding import Reference
from ..kernel.profile import Held, held_in_pairs
from . import criteria
from .answer_clusters import ClusterCov
from .pattern_dependence import Dependence, dependence_names
from .pattern_likelihood import PatternLikelihood, likelihood_of
from .pattern_missingness import Missing, Missingness, NotAtRandom
from .pattern_search import fit_patterns_of
from .prediction import codings_of
from .worth_estimates import WorthEstimates


@dataclass(frozen=True)
class PatternSpecification:
    """The specification of a fit of patterns, under the names of the arguments of `fit`."""

    formula: str
    reference: Reference = None
    cov_type: ClusterCov = "nonrobust"
    groups: str = ""
    missing: Missing = "ignorable"
    not_at_random: NotAtRandom = None


@dataclass(frozen=True, repr=False, eq=False)
class PatternEstimates(WorthEstimates):
    """The estimates of a fit to patterns, and what follows from them: `PatternResults` without tests and printout."""

    specification: PatternSpecification
    patterns: Patterns
    dependence: Dependence
    likelihood: PatternLikelihood | None

    effective_params = criteria.effective_params

    @property
    def missingness(self) -> Missingness | None:
        """The model of missing answers; None if missing answers are not modelled."""
        return self.likelihood.missingness if self.likelihood else None

    @functools.cached_property
    def whole_likelihood(self) -> PatternLikelihood:
        """The likelihood of the patterns; fits of independent pairs have one too, although they do not use it."""
        return self.likelihood or likelihood_of(self.patterns, self.design, codings_of(self.average), self.free)

    @property
    def dependent(self) -> bool:
        """Whether the formula has `dependence` or `persistence`."""
        return bool(self.dependence)

    @property
    def answers_depend(self) -> bool:
        """Whether a judge's answers depend on each other; λᵢ − λⱼ is then conditional on all other answers."""
        return self.dependent or self.patterns.kind != "comparisons"

    @property
    def names_beside(self) -> tuple[str, ...]:
        """Names of the parameters of dependence, then of those for missing answers.

        Dependence has prefmod's names: ``I12.13`` for the object pairs 1:2 and 1:3. Differences by a covariate have its
        name and level behind: ``I12.13:sex[m]``. ``persistence[A:B]`` is the dependence at consecutive times.
        """
        dependence = dependence_names(self.patterns, self.dependence, self.specification.reference)
        return (*dependence, *(self.missingness.names if self.missingness else ()))

    def _held(self, k: int) -> Held:
        """Return the maximum of the likelihood of the patterns with estimate k held."""
        likelihood = self.likelihood
        if self.specification.groups:
            raise OptionError(
                "method='profile' takes judges as independent, and the fit has clusters",
                "Use Wald intervals: res.conf_int(); or fit without groups=.",
            )
        if likelihood is None:
            return held_in_pairs(self.average.problem(), k, None)
        if likelihood.missingness is not None:
            raise OptionError(
                "method='profile' with a model of missing answers: its likelihood may have several maxima",
                "Use Wald intervals: res.conf_int().",
            )
        which = np.arange(len(self.places)) == k

        def held(start: FloatArray) -> tuple[FloatArray, FloatArray, float]:
            maximum = fit_patterns_of(likelihood, start, which)
            return maximum.params, maximum.gradient, maximum.log_likelihood

        return held

    @property
    def n_judgments(self) -> float:
        """Number of judges."""
        return self.patterns.n_judges

    @property
    def answers(self) -> Patterns:
        """The patterns."""
        return self.patterns

    @property
    def basis(self) -> Basis:
        """The data of the log-likelihood; compare `llf`, `aic` and `bic` only between fits with the same basis."""
        return of_patterns(self.patterns, missing=self.missingness is not None)

    @property
    def log_probabilities(self) -> FloatArray:
        """The log-probability of each pattern, shape (N,): of its answers, and of missing ones if modelled."""
        return self.whole_likelihood.log_probabilities(self.solution.params)
