"""The estimates, counts and likelihood of a fit of pairs, under statsmodels' names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..base.arguments import checked
from ..core.columns import FloatArray
from ..errors import OptionError
from ..kernel import explicit
from ..kernel.deviances import leverages
from ..kernel.profile import held_in_pairs, profile_bounds
from ..kernel.solvers import Fit
from . import attributes, criteria, fitted_counts
from .estimates import Estimates
from .fitted_counts import Cells
from .specification import penalty_of


@dataclass(frozen=True, repr=False, eq=False)
class PlainEstimates(Estimates):
    """The estimates of a fit and what follows from them: `LLBTResults` without tests, predictions and printout."""

    solution: Fit

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Return where the profile likelihood of each parameter has fallen by `drop`, shape (p, 2); see `conf_int`."""
        kind = self.specification.cov_type
        if self.specification.groups or kind == "quasi":
            raise OptionError(
                f"method='profile' takes judgments as independent, and the fit has cov_type={kind!r}",
                "Take method='wald', or fit with cov_type='nonrobust'.",
            )
        bounds = np.full((len(self.names), 2), np.nan)
        problem, fit = self.problem(), self.solution
        penalty = penalty_of(problem, self.comparisons, self.specification, self.design, self.free)
        for place, k in enumerate(self.free):
            held = held_in_pairs(problem, place, penalty)
            bounds[k] = profile_bounds(held, fit.params, fit.cov, fit.objective, place, drop)
        return bounds

    # -- fit ---------------------------------------------------------------------------------------------

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.solution.converged

    @property
    def n_iter(self) -> int:
        """Steps of elimination; with ``method="glm"``, Fisher scoring iterations of statsmodels' GLM."""
        return self.solution.n_iter

    @property
    def gradient_norm(self) -> float:
        """Euclidean norm of the score at the estimates."""
        return float(np.linalg.norm(self.solution.gradient))

    @property
    def cells(self) -> Cells:
        """The counts with the fitted counts."""
        link = self.specification.link
        return Cells(self.comparisons, self.solution.means, len(self.free), link, self.log_linear)

    n_cells = attributes.n_cells
    df_null = fitted_counts.df_null
    df_resid = fitted_counts.df_resid
    deviance = fitted_counts.deviance
    null_deviance = fitted_counts.null_deviance
    pearson_chi2 = fitted_counts.pearson_chi2
    llf = fitted_counts.llf
    llf_poisson = fitted_counts.llf_poisson
    llf_multinomial = fitted_counts.llf_multinomial
    aic_poisson = fitted_counts.aic_poisson
    bic_poisson = fitted_counts.bic_poisson
    fittedvalues = fitted_counts.fittedvalues
    resid_response = fitted_counts.resid_response
    resid_pearson = fitted_counts.resid_pearson
    resid_deviance = fitted_counts.resid_deviance
    n_judgments = attributes.n_judgments
    basis = attributes.basis
    nobs = criteria.nobs
    df_model = criteria.df_model
    aic = criteria.aic
    bic = criteria.bic
    bic_of = criteria.Methods.bic_of
    fit_statistics = criteria.Methods.fit_statistics

    @property
    def effective_params(self) -> float:
        """The parameters that `aic` and `bic` count: all, or tr[I (I + P)⁻¹] with a numeric prior or a penalty.

        I and P are the information of the judgments and of the prior at the estimates.
        """
        problem = self.problem()
        prior = penalty_of(problem, self.comparisons, self.specification, self.design, self.free)
        if prior is None or self.specification.reduces_bias:
            return float(self.n_params)
        curvature = prior(self.solution.params).curvature
        whole = curvature if isinstance(curvature, np.ndarray) else curvature.toarray()
        return self.n_params - float(np.sum(whole * self.solution.cov))

    @property
    def hat_diag(self) -> pd.Series[float]:
        """Leverages of the full GLM, shape (n,); they sum to comparisons + estimated parameters."""
        return self.cells.by_cell(leverages(self.problem(), self.solution), "hat_diag")

    @checked
    def to_glm(self) -> Any:
        """Return statsmodels' fitted `GLMResults` of the explicit Poisson model, one dummy per comparison.

        It has the covariance of the fit: clustered, scaled by the dispersion, or for independent judgments. If
        parameters have different degrees of freedom, statsmodels uses `df_inference` for all.

        Raises
        ------
        DesignError
            If the explicit matrix would be too large.
        OptionError
            For a link that is not log-linear, because this is no GLM of the counts; and with a `prior`, because a GLM
            has none.
        """
        spec, problem = self.specification, self.problem()
        if spec.prior is not None:
            raise OptionError(
                f"prior={spec.prior!r}, and a GLM has no prior",
                "If estimates without a prior are finite, fit without it: "
                f"llbt.fit({spec.formula!r}, res.comparisons).to_glm().",
            )
        glm = self.solution.explicit
        if glm is None:
            glm = explicit.explicit_glm(problem, tuple(self.names[k] for k in self.free))
        if spec.cov_type == "nonrobust":
            return glm
        dispersion = self.pearson_chi2 / self.df_resid if spec.cov_type == "quasi" else 1.0
        return explicit.with_covariance(glm, problem, self.covariance, spec.cov_type, dispersion)
