"""The estimates of a fit of very many objects, under statsmodels' names."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arguments import checked
from ..base.table import format_percent
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..errors import DesignError
from ..formulas.design import Design
from ..kernel import graph_variances
from ..kernel.conjugate import Complement
from ..kernel.graph_variances import Variances
from ..kernel.solvers import Fit
from . import attributes, criteria, fitted_counts, wald
from .fit_part import FitPart
from .fitted_counts import Cells
from .specification import Specification
from .unsupported_questions import no_profile

_EXACT = 1e-8  # error of solutions for results on few objects
_AT_A_TIME = 4  # combinations that are solved at once
_SEED = 0
_FIRST = 1000  # objects with the highest worths, whose errors are made exact if the approximation is not close


@dataclass(frozen=True, repr=False, eq=False)
class LargeEstimates:
    """The estimates of very many objects: `LargeResults` without tests, predictions and printout."""

    specification: Specification
    beside: FitPart
    solution: Fit
    worths: FloatArray
    information: Complement
    remarks: tuple[str, ...] = ()

    # -- estimates ---------------------------------------------------------------------------------------

    @property
    def comparisons(self) -> Comparisons:
        """The table that was fitted: comparisons with at least one judgment."""
        return self.beside.comparisons

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the J + q parameters, the log-worths first."""
        return (*(f"object[{label}]" for label in self.comparisons.objects), *self.beside.names)

    @property
    def estimates(self) -> FloatArray:
        """Log-worths and the other parameters, shape (J + q,)."""
        return np.concatenate([self.worths, self.solution.params])

    @property
    def errors(self) -> FloatArray:
        """Standard errors of log-worths and of the other parameters, shape (J + q,)."""
        return np.asarray(np.sqrt(np.concatenate([self.variances.values, np.diag(self.solution.cov)])))

    @functools.cached_property
    def variances(self) -> Variances:
        """Variances of all log-worths, computed once; a fixed seed chooses objects and draws."""
        best = np.argsort(-self.worths, kind="stable")[:_FIRST]
        return graph_variances.variances(self.information, np.random.default_rng(_SEED), best)

    @property
    def error_note(self) -> str:
        """The accuracy of the standard errors of log-worths, compared with exact ones, in words."""
        variances = self.variances
        if variances.way == "exact":
            return "standard errors are exact"
        best = f"the {variances.exact:,} objects with the highest worths"
        first = f"; standard errors of {best} are exact" if variances.exact else ""
        way = "by a series of second order" if variances.way == "series" else f"from {variances.draws} draws"
        return (
            f"standard errors of log-worths are approximate, {way}: for {graph_variances.SAMPLED} objects with exact "
            f"standard errors, the median of their error is {format_percent(variances.median)} and the 95th percentile "
            f"{format_percent(variances.high)}{first}; exact ones: pairwise(res, objects=…), res.t_test"
        )

    @property
    def estimated(self) -> LargeEstimated:
        """The estimates. Covariances are computed on request."""
        return LargeEstimated(self)

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

    @property
    def reference(self) -> None:
        """No object: log-worths are differences from the mean of all."""
        return None

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters held at a value: there are none."""
        return {}

    @property
    def design(self) -> Design:
        """The design of the parameters that are not log-worths."""
        return self.beside.design

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Refuse profile intervals of so many parameters; see `conf_int`."""
        raise no_profile(type(self))

    @checked
    def covariances(self, objects: IntArray) -> FloatArray:
        """Return the covariances (J + q, m) of all estimates with the log-worths of some objects, given by position."""
        return graph_variances.exact_covariances(self.information, objects, _EXACT)

    # -- fit ---------------------------------------------------------------------------------------------

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.solution.converged

    @property
    def n_iter(self) -> int:
        """Steps of Newton's method."""
        return self.solution.n_iter

    @property
    def gradient_norm(self) -> float:
        """Euclidean norm of the score at the estimates."""
        return float(np.linalg.norm(self.solution.gradient))

    @property
    def cells(self) -> Cells:
        """The counts with the fitted counts."""
        return Cells(self.comparisons, self.solution.means, self.n_params)

    answers = attributes.answers
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
    n_judgments = attributes.n_judgments
    basis = attributes.basis
    nobs = criteria.nobs
    df_model = criteria.df_model
    aic = criteria.aic
    bic = criteria.bic
    bic_of = criteria.Methods.bic_of
    fit_statistics = criteria.Methods.fit_statistics

    @property
    def n_params(self) -> int:
        """Number of free parameters: J − 1 log-worths, and q others."""
        return len(self.worths) - 1 + len(self.beside.free)

    @property
    def effective_params(self) -> float:
        """The parameters that `aic` and `bic` count: all free parameters.

        Raises
        ------
        DesignError
            With a prior, because its effective parameters need all covariances; `llf` is available.
        """
        if self.specification.prior is not None:
            raise DesignError(
                "with a prior, AIC and BIC need the number of effective parameters, which is not computed for so many "
                "objects",
                "Use res.llf, or fit without a prior.",
            )
        return float(self.n_params)


@dataclass(frozen=True, eq=False)
class LargeEstimated:
    """The estimates of very many objects with the interface of `Wald`, but without a covariance matrix."""

    res: LargeEstimates

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the J + q parameters, the log-worths first."""
        return self.res.names

    @property
    def values(self) -> FloatArray:
        """Log-worths and the other estimates, shape (J + q,)."""
        return self.res.estimates

    @property
    def errors(self) -> FloatArray:
        """Standard errors, shape (J + q,); `error_note` states the accuracy of those of log-worths."""
        return self.res.errors

    @property
    def matrix(self) -> FloatArray:
        """Refuse the covariance matrix of all estimates, which is not computed.

        Raises
        ------
        DesignError
            It states the size of the matrix, and what to use instead.
        """
        size = len(self.names)
        raise DesignError(
            f"the covariance of {size:,} parameters takes {8 * float(size) ** 2 / 2**30:,.1f} GiB, and is not computed",
            "Ask for single results: llbt.pairwise(res, objects=[…]) and res.t_test(…) are exact.",
        )

    @property
    def df(self) -> float:
        """Degrees of freedom of t: infinite, as for the normal distribution."""
        return np.inf

    @property
    def df_each(self) -> FloatArray:
        """Degrees of freedom of each parameter, shape (J + q,)."""
        return np.full(len(self.names), np.inf)

    @property
    def aliased(self) -> tuple[str, ...]:
        """The parameters without an estimate: none."""
        return ()

    @property
    def others(self) -> dict[str, Sequence[int]]:
        """Names without a parameter: none, because every object has one."""
        return {}

    @property
    def clustered(self) -> bool:
        """Whether the covariance is by clusters: never, because judgments are taken as independent."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of every test of combinations."""
        return ("Log-worths are measured from the mean of all.",)

    def df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of linear combinations (k, J + q), shape (k,)."""
        return np.full(len(rows), np.inf)

    def combined(self, rows: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations (k, J + q) of the estimates, exactly, shape (k, k)."""
        right, combined = self._centred(rows), np.empty((len(rows), len(rows)))
        for start in range(0, len(rows), _AT_A_TIME):
            some = slice(start, start + _AT_A_TIME)
            combined[:, some] = right @ self.res.information.solve(right[some].T, tolerance=_EXACT).values
        return (combined + combined.T) / 2

    def rank(self, rows: FloatArray) -> int:
        """Return the number of linear combinations (k, J + q) that are independent of each other."""
        return int(np.linalg.matrix_rank(self._centred(rows)))

    def missing_notes(self, estimate: FloatArray, error: FloatArray) -> tuple[str, ...]:
        """Return why combinations have no standard error: an empty tuple, because all have one."""
        return ()

    def _centred(self, rows: FloatArray) -> FloatArray:
        """Return the combinations for log-worths that are measured from the mean of all."""
        size, centred = len(self.res.worths), rows.copy()
        centred[:, :size] -= centred[:, :size].mean(axis=1, keepdims=True)
        return centred
