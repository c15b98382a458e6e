"""The estimates of worths and of a few further parameters, under statsmodels' names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..formulas.design import Design
from ..kernel.list_fit import ListFit
from ..kernel.profile import Held, profile_bounds
from ..kernel.robust import Covariance
from . import attributes, criteria, wald
from .attributes import lacks
from .fit_part import FitPart
from .unsupported_questions import FIGURES_OF_ANSWERS
from .wald import Estimated, others_of


class AnswerModel(criteria.WithLikelihood, Protocol):
    """The attributes of fits to lists or patterns, besides `llf` and `n_params`."""

    @property
    def names_beside(self) -> tuple[str, ...]:
        """Names of the parameters that are not in the design."""

    def _held(self, k: int) -> Held:
        """Return the maximum of the likelihood with estimate k held."""


@lacks(FIGURES_OF_ANSWERS)
@dataclass(frozen=True, repr=False, eq=False)
class WorthEstimates(AnswerModel):
    """Estimates of a model of lists or patterns: worths as for comparisons, and further parameters.

    Attributes
    ----------
    design : Design
        The design of the p parameters that comparisons have, made on the comparisons that the answers imply.
    free : ndarray of int
        Which of the p parameters were estimated.
    solution : ListFit
        The result of Newton's method for these and for the further parameters, which come last.
    covariance : Covariance
        The covariance of the estimates.
    average : FitPart
        The worths on the comparisons that the answers imply, for `llbt.worth`, `llbt.pairwise` and similar functions.
    """

    design: Design
    free: IntArray
    solution: ListFit
    covariance: Covariance
    average: FitPart

    @property
    def comparisons(self) -> Comparisons:
        """The comparisons that the answers imply."""
        return self.average.comparisons

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all parameters: those of the design, then the others."""
        return (*self.design.names, *self.names_beside)

    @property
    def places(self) -> IntArray:
        """The places of the estimates among all parameters."""
        p = len(self.design.names)
        return np.append(self.free, np.arange(p, p + len(self.names_beside)))

    @property
    def estimated(self) -> Estimated:
        """Estimates (log-worth λ, log δ, dependence) with their covariance."""
        values = np.full(len(self.names), np.nan)
        values[self.places] = self.solution.params
        return Estimated(self.names, values, self.places, self.covariance, others=others_of(self.design))

    aliased = wald.aliased
    params = wald.params
    bse = wald.bse
    tvalues = wald.tvalues
    pvalues = wald.pvalues
    df_inference = wald.df_inference
    cov_params = wald.Methods.cov_params
    conf_int = wald.Methods.conf_int
    to_frame = wald.Methods.to_frame
    formula = attributes.formula
    objects = attributes.objects
    reference = attributes.reference

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters held at a value: there are none."""
        return {}

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Return where the profile likelihood of each parameter has fallen by `drop`, (p + T, 2); see `conf_int`."""
        bounds = np.full((len(self.names), 2), np.nan)
        top, cov = self.solution.log_likelihood, np.asarray(self.covariance.matrix)
        for place, k in enumerate(self.places):
            bounds[k] = profile_bounds(self._held(place), self.solution.params, cov, top, place, drop)
        return bounds

    # -- fit ---------------------------------------------------------------------------------------------

    @property
    def converged(self) -> bool:
        """Whether Newton's method reached its tolerance."""
        return self.solution.converged

    @property
    def n_iter(self) -> int:
        """Steps of Newton's method."""
        return self.solution.n_iter

    @property
    def n_params(self) -> int:
        """Number of estimated parameters."""
        return len(self.places)

    @property
    def gradient_norm(self) -> float:
        """Euclidean norm of the score at the estimates."""
        return float(np.linalg.norm(self.solution.gradient))

    @property
    def llf(self) -> float:
        """Log-likelihood of the answers, Σ n log p; a prior is not part of it."""
        return self.solution.log_likelihood

    nobs = criteria.nobs
    df_model = criteria.df_model
    aic = criteria.aic
    bic = criteria.bic
    bic_of = criteria.Methods.bic_of
    fit_statistics = criteria.Methods.fit_statistics
