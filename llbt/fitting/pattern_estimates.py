"""What a fit to patterns knows of its estimates, under statsmodels' names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.basis import Basis, of_patterns
from ..core.columns import FloatArray, IntArray
from ..core.patterns import Patterns
from ..errors import OptionError
from ..formulas.coding import Reference
from ..kernel.patterns import products_of
from ..kernel.profile import Held, held_in_pairs
from . import criteria
from .answer_clusters import ClusterCov
from .pattern_likelihood import PatternLikelihood
from .pattern_missingness import Missing, Missingness, NotAtRandom
from .pattern_search import fit_patterns_of
from .worth_estimates import WorthEstimates


@dataclass(frozen=True)
class PatternSpecification:
    """Everything that a fit of patterns was asked for, under the names of the arguments of `fit_patterns`."""

    formula: str
    reference: Reference = None
    cov_type: ClusterCov = "nonrobust"
    groups: str = ""
    missing: Missing = "ignorable"
    not_at_random: NotAtRandom = None


@dataclass(frozen=True, repr=False, eq=False)
class PatternEstimates(WorthEstimates):
    """The estimates of a fit to patterns and what follows from them: `PatternResults` but for tests and printout."""

    specification: PatternSpecification
    patterns: Patterns
    dependent: bool
    likelihood: PatternLikelihood | None

    effective_params = criteria.effective_params

    @property
    def missingness(self) -> Missingness | None:
        """What the model says of which answers are missing; None where it leaves that open."""
        return self.likelihood.missingness if self.likelihood else None

    @property
    def names_beside(self) -> tuple[str, ...]:
        """Names of the parameters of dependence, then of those of missing answers.

        Those of dependence are prefmod's: ``I12.13`` of the pairs 1:2 and 1:3 of the objects.
        """
        dependence = dependence_names(self.patterns) if self.dependent else ()
        return (*dependence, *(self.missingness.names if self.missingness else ()))

    def _held(self, k: int) -> Held:
        """Return the maximum of the likelihood of the patterns with estimate k held."""
        likelihood = self.likelihood
        if self.specification.groups:
            raise OptionError(
                "method='profile' of a fit with clusters: its intervals are not of the likelihood alone",
                "Take Wald's: res.conf_int(); or fit without groups=.",
            )
        if likelihood is None:
            return held_in_pairs(self.average.problem(), self.average.solution, k, None)
        if likelihood.missingness is not None:
            raise OptionError(
                "method='profile' of patterns with missing answers: their likelihood may have several maxima",
                "Take Wald's: res.conf_int().",
            )
        which = np.arange(len(self.places)) == k

        def held(start: FloatArray) -> tuple[FloatArray, FloatArray, float]:
            found = fit_patterns_of(likelihood, start, which)
            return found.params, found.gradient, found.log_likelihood

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
        """What the log-likelihood is of; `llf`, `aic` and `bic` of fits compare where it is the same."""
        return of_patterns(self.patterns, missing=self.missingness is not None)

    @property
    def log_probabilities(self) -> FloatArray:
        """The log-probability of each pattern, shape (N,): of the answers that it has, and of its gaps if modelled."""
        if self.likelihood is None:
            return _independent(self)
        return self.likelihood.log_probabilities(self.solution.params)


def dependence_names(p: Patterns) -> tuple[str, ...]:
    """Return the names of the products of answers to pairs that share an object."""
    label = [f"{i + 1}{j + 1}" if len(p.objects) < 10 else f"{i + 1}:{j + 1}" for i, j in p.pairs]
    return tuple(f"I{label[a]}.{label[b]}" for a, b in products_of(p.pairs))


def _independent(res: PatternEstimates) -> FloatArray:
    """Return log-probabilities where the answers to all pairs are independent of each other."""
    average, p = res.average, res.patterns
    pairs = average.comparisons
    outcomes = np.log(average.solution.means / average.solution.means.sum(axis=1, keepdims=True))
    return _summed(p, pairs.pairs, [c.codes for c in pairs.columns], outcomes, average.comparisons.has_ties)


def _summed(p: Patterns, pairs: IntArray, codes: list[IntArray], outcomes: FloatArray, ties: bool) -> FloatArray:
    """Return the sum over each pattern's answers of the log-probability of the outcome in its comparison."""
    comparison = {(int(i), int(j), *key): s for s, ((i, j), *key) in enumerate(zip(pairs, *codes, strict=True))}
    columns = [c.codes for c in p.columns]
    place = {1: 0, 0: 1, -1: 2 if ties else 1}
    found = np.zeros(len(p))
    for k, answers in enumerate(p.answers):
        key = tuple(int(c[k]) for c in columns)
        for (i, j), y in zip(p.pairs, answers, strict=True):
            if int(y) in place:
                sign = int(y) if i < j else -int(y)
                found[k] += outcomes[comparison[(min(i, j), max(i, j), *key)], place[sign]]
    return found
