"""What a fit knows of its estimates, under statsmodels' names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..arguments import checked
from ..core import basis
from ..core.basis import Basis
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.links import AnyResponse, linked
from ..core.response import Response
from ..errors import OptionError
from ..formulas.design import Design
from ..kernel import explicit
from ..kernel.deviances import leverages
from ..kernel.likelihood import Problem
from ..kernel.profile import held_in_pairs, profile_bounds
from ..kernel.robust import Covariance
from ..kernel.solvers import Fit
from . import attributes, criteria, fitted_counts, wald
from .attributes import Lacking, missing_attribute
from .fitted_counts import Cells
from .object_effects import ObjectEffects
from .specification import Specification, make_problem, penalty_of
from .unsupported_questions import no_profile
from .wald import Estimated, others_of

E = TypeVar("E", bound="Estimates")
R = TypeVar("R")


def of_own_fit(function: Callable[[E], R]) -> Callable[[E], R]:
    """Return an attribute that worths lack which stand for another kind of answer: it is of counts or likelihood."""

    @functools.wraps(function)
    def asked(self: E) -> R:
        if self.stands_for is not None:
            raise lacking(self.stands_for, self, function.__name__)
        return function(self)

    return asked


def lacking(whole: type, worths: object, name: str) -> AttributeError:
    """Return that worths which stand for another kind of answer lack an attribute, in the words of that kind."""
    given = inspect.getattr_static(whole, name, None)
    if given is None or isinstance(given, Lacking):
        return missing_attribute(worths, name, whole)
    return AttributeError(f"{name} is of the whole {whole.__name__}, and this has its worths alone")


@dataclass(frozen=True, repr=False, eq=False)
class Estimates:
    """The estimates of a fit and what follows from them: `LLBTResults` but for tests, predictions and printout.

    `stands_for` is the kind of answer that worths are a part of, where they are no fit of their own: they have an
    estimate and a covariance, and no counts, no likelihood and no test of fit.
    """

    specification: Specification
    comparisons: Comparisons
    design: Design
    free: IntArray
    solution: Fit
    covariance: Covariance
    stands_for: type | None = None
    object_effects: ObjectEffects | None = None

    aliased = wald.aliased
    bse = wald.bse
    tvalues = wald.tvalues
    pvalues = wald.pvalues
    df_inference = wald.df_inference
    cov_params = wald.Methods.cov_params
    to_frame = wald.Methods.to_frame
    conf_int = wald.Methods.conf_int
    formula = attributes.formula
    objects = attributes.objects
    reference = attributes.reference

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p parameters."""
        return self.design.names

    @property
    def estimated(self) -> Estimated:
        """The estimates with their covariance, for tests of their linear combinations."""
        names = self.design.names
        values = np.full(len(names), np.nan)
        values[self.free] = self.solution.params
        held = tuple(names.index(name) for name in self.fixed)
        values[list(held)] = list(self.fixed.values())
        return Estimated(names, values, self.free, self.covariance, held, others_of(self.design))

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters that were held, with their values."""
        return dict(self.specification.fixed)

    @property
    def params(self) -> pd.Series[float]:
        """Estimates (log-worth λ, γ, δ), shape (p,); NaN where aliased.

        The reference has no parameter, so there is no ``params["object[D]"]`` where D is it: its λ is 0, and
        ``llbt.worth(res, scale="log_worth")`` has it beside the others.
        """
        return pd.Series(self.estimated.values, index=list(self.names), name="estimate", dtype=float)

    def df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of t for linear combinations (k, p) of the parameters, shape (k,).

        `df_inference`, but fewer for combinations that are known from few of the clusters.
        """
        return self.estimated.df_of(rows)

    @property
    def worth_df_inference(self) -> float:
        """`df_inference` for log-worths: infinite with effects of objects, as in `worth_df_of`."""
        return self.df_inference if self.object_effects is None else np.inf

    def worth_df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of log-worths, as combinations (k, p) of the parameters, shape (k,).

        `df_of`, but infinite with effects of objects: predictions, whose errors allow for σ.
        """
        return np.full(len(rows), np.inf) if self.object_effects is not None else self.df_of(rows)

    def combined_cov(self, rows: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations (k, p) of the parameters, shape (k, k).

        Aliased and held parameters add nothing. NaN for combinations of which a single cluster says all that is known.
        """
        return self.estimated.combined(rows)

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Return where the profile likelihood of each parameter falls by so much, shape (p, 2); see `conf_int`."""
        if self.stands_for is not None:
            raise no_profile(self.stands_for, "the worths alone of ")
        kind = self.specification.cov_type
        if self.specification.groups or kind == "quasi":
            raise OptionError(
                f"method='profile' takes judgments as independent, and the fit has cov_type={kind!r}",
                "Take method='wald', or fit with cov_type='nonrobust'.",
            )
        bounds = np.full((len(self.names), 2), np.nan)
        problem, fit = self.problem(), self.solution
        penalty = penalty_of(problem, self.comparisons, self.specification)
        for place, k in enumerate(self.free):
            held = held_in_pairs(problem, fit, place, penalty)
            bounds[k] = profile_bounds(held, fit.params, fit.cov, fit.objective, place, drop)
        return bounds

    # -- fit ---------------------------------------------------------------------------------------------

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.solution.converged

    @property
    def n_iter(self) -> int:
        """Steps of elimination; Fisher scoring iterations of statsmodels' GLM where ``method="glm"`` asked for it."""
        return self.solution.n_iter

    @property
    @of_own_fit
    def gradient_norm(self) -> float:
        """Euclidean norm of the score at the estimates."""
        return float(np.linalg.norm(self.solution.gradient))

    @property
    @of_own_fit
    def cells(self) -> Cells:
        """The counts with the fitted counts."""
        link = self.specification.link
        return Cells(self.comparisons, self.solution.means, len(self.free), link, self.log_linear)

    @property
    def answers(self) -> Comparisons:
        """What was fitted: the table."""
        return self.comparisons

    counts = attributes.counts
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
    nobs = criteria.nobs
    df_model = criteria.df_model
    aic = criteria.aic
    bic = criteria.bic
    bic_of = criteria.Methods.bic_of

    @property
    def log_linear(self) -> bool:
        """Whether the model is a Poisson GLM: the link is ``"adjacent"``, or logistic for two outcomes."""
        return isinstance(self.response, Response)

    @property
    def response(self) -> AnyResponse:
        """The outcomes and what makes probabilities of them."""
        return linked(self.comparisons.response, self.specification.link)

    @property
    @of_own_fit
    def n_params(self) -> int:
        """Number of estimated parameters of worths, ties, both bad, grades and order: neither held nor aliased ones."""
        return len(self.free)

    @property
    @of_own_fit
    def effective_params(self) -> float:
        """The parameters that `aic` and `bic` count: with a prior of so many judgments fewer, tr[I (I + P)⁻¹].

        I and P are the information of the judgments and of the prior's at the estimates.
        """
        problem = self.problem()
        prior = penalty_of(problem, self.comparisons, self.specification)
        if prior is None or self.specification.reduces_bias:
            return float(self.n_params)
        curvature = prior(self.solution.params).curvature
        whole = curvature if isinstance(curvature, np.ndarray) else curvature.toarray()
        return self.n_params - float(np.sum(whole * self.solution.cov))

    @property
    @of_own_fit
    def n_judgments(self) -> float:
        """Number of judgments, the sum of their weights."""
        return self.comparisons.n_judgments

    @property
    @of_own_fit
    def basis(self) -> Basis:
        """What the log-likelihood is of; `llf`, `aic` and `bic` of fits compare where it is the same."""
        return basis.of_comparisons(self.comparisons)

    @property
    @of_own_fit
    def hat_diag(self) -> pd.Series[float]:
        """Leverages of the full GLM, shape (n,); they sum to comparisons + estimated parameters."""
        return self.cells.by_cell(leverages(self.problem(), self.solution), "hat_diag")

    def problem(self) -> Problem:
        """Return the arrays that were fitted; see `llbt.kernel.solvers`."""
        return make_problem(self.design, self.comparisons, self.free, self.fixed, self.specification.link)

    @checked
    @of_own_fit
    def to_glm(self) -> Any:
        """Return statsmodels' fitted `GLMResults` of the explicit Poisson model, one dummy per comparison.

        Its covariance is that of the fit: clustered, scaled by the dispersion, or of independent judgments. Where
        parameters are known from different numbers of clusters, statsmodels has one df for all, `df_inference`.

        Raises
        ------
        DesignError
            Where the explicit matrix would be too large.
        OptionError
            For a link that is not log-linear, which is no GLM of the counts; and with a `prior`, for a GLM has none.
        """
        spec, problem = self.specification, self.problem()
        if spec.prior is not None:
            raise OptionError(
                f"prior={spec.prior!r}, which draws the estimates from those of a GLM",
                "Where the estimates without it are finite, ask a fit without it: "
                f"llbt.fit({spec.formula!r}, res.comparisons).to_glm().",
            )
        found = self.solution.explicit
        if found is None:
            found = explicit.explicit_glm(problem, tuple(self.names[k] for k in self.free))
        if spec.cov_type == "nonrobust":
            return found
        dispersion = self.pearson_chi2 / self.df_resid if spec.cov_type == "quasi" else 1.0
        return explicit.with_covariance(found, problem, self.covariance, spec.cov_type, dispersion)
