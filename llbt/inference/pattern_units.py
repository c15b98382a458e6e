"""Fits to response patterns as models of units: single patterns, or the levels of a covariate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray, IntArray, Label, summed_by
from ..core.patterns import pattern_text
from ..errors import DesignError, OptionError, listed
from ..fitting.pattern_likelihood import PatternLikelihood
from ..fitting.pattern_search import fit_patterns_of
from ..fitting.protocols import WithPatterns
from .refit import refit_data

PATTERN = "pattern"
_NOTHING = 1e-5  # information; a single judge with other answers adds about 1
_FAR = 15.0  # a parameter this large has gone to infinity


@dataclass(frozen=True, eq=False)
class PatternUnits:
    """A fit to N patterns in units; `codes` is the unit of each pattern, shape (N,)."""

    fit: WithPatterns
    likelihood: PatternLikelihood
    unit: str
    labels: tuple[Label, ...] | None
    counts: FloatArray
    sizes: FloatArray
    codes: IntArray

    @property
    def parts(self) -> FloatArray:
        """The number of patterns in each unit, shape (U,)."""
        return self.sizes

    @property
    def part(self) -> str:
        """The noun for what `parts` counts."""
        return PATTERN

    @property
    def each(self) -> str:
        """The noun for what `sizes` counts."""
        return PATTERN

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the estimated parameters, including the parameters of dependence and of missing answers."""
        return tuple(self.fit.names[k] for k in self.fit.places)

    @property
    def estimates(self) -> FloatArray:
        """The estimates."""
        return self.fit.solution.params

    def of_patterns(self, counts: FloatArray) -> FloatArray:
        """Return the count of each pattern (N,), given the number of each unit (U,)."""
        return counts if self.labels is None else counts[self.codes] * self.fit.patterns.counts

    def titles(self) -> list[str]:
        """Return the name of each unit."""
        if self.labels is None:
            return [pattern_text(row, self.fit.patterns.n_times) for row in self.fit.patterns.answers]
        return [str(label) for label in self.labels]

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the estimates with other counts of the units."""
        likelihood = self.likelihood.of_counts(self.of_patterns(counts))
        try:
            maximum = fit_patterns_of(likelihood, self.estimates)
            known = maximum.converged and linalg.eigvalsh(maximum.information).min(initial=np.inf) > _NOTHING
        except linalg.LinAlgError:
            known = False
        if not known or np.abs(maximum.params).max() > _FAR:
            raise DesignError("the remaining patterns have no finite estimates", "Use more folds, or other units.")
        return maximum.params

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Raise, because patterns have no prior."""
        raise DesignError(
            "a fold has no finite estimates, and pattern models are fitted without a prior", "Use more folds."
        )

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of each unit: the sum over its patterns."""
        each = self.likelihood.log_probabilities(params)
        if self.labels is None:
            return each
        return summed_by(self.codes, each * self.fit.patterns.counts, len(self.counts))

    def refitted(self, counts: FloatArray) -> WithPatterns:
        """Return the fit with other counts of the units."""
        left = self.likelihood.of_counts(self.of_patterns(counts)).patterns
        again: WithPatterns = refit_data(self.fit, left)
        return again


def pattern_units(res: WithPatterns, by: str | None, option: str) -> PatternUnits:
    """Return a fit to patterns as a model of patterns, or of the levels of a covariate."""
    p, likelihood = res.patterns, res.whole_likelihood
    if by in (None, PATTERN):
        return PatternUnits(res, likelihood, PATTERN, None, p.counts, np.ones(len(p)), np.arange(len(p)))
    if p.times is not None and by == p.times.name:
        raise OptionError(
            f"{option}={by!r}, and the answers of a judge at different times are one pattern",
            "Leave it out: patterns are the units.",
        )
    column = next((c for c in p.columns if c.name == by), None)
    if column is None:
        raise OptionError(
            f"{option}={by!r}",
            f"Keep it where the patterns are read: from_patterns(…, covariates={by!r}).",
            expected=f"'pattern', or a covariate of the patterns ({listed(p.covariates) or 'none'})",
        )
    present, codes = np.unique(column.codes, return_inverse=True)
    sizes = summed_by(codes, p.counts)
    labels = tuple(column.levels[present].tolist())
    return PatternUnits(res, likelihood, column.name, labels, np.ones(len(sizes)), sizes, codes)
