"""What a fit of very many objects knows of its estimates, under statsmodels' names."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from ..arguments import Share, checked
from ..core import basis
from ..core.basis import Basis
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..errors import DesignError
from ..kernel import graph_variances
from ..kernel.conjugate import Complement
from ..kernel.graph_variances import Variances
from ..table import format_percent
from .results import LLBTResults
from .specification import IntervalMethod, Specification
from .unanswered import check_interval_method

_EXACT = 1e-8  # error of solutions for what is asked of few objects
_SEED = 0
_FIRST = 1000  # objects of the highest worths, with exact errors where those of all are not close


@dataclass(frozen=True, repr=False, eq=False)
class LargeEstimates:
    """The estimates of very many objects and what follows from them: `LargeResults` but for questions and printout."""

    specification: Specification
    beside: LLBTResults
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
        return np.concatenate([self.worths, self.beside.solution.params])

    @property
    def params(self) -> pd.Series[float]:
        """Estimates (log-worth λ less the mean of all, γ, δ), shape (J + q,)."""
        return self._series(self.estimates, "estimate")

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors, shape (J + q,): those of log-worths as `error_note` says."""
        return self._series(self.errors, "std_error")

    @property
    def errors(self) -> FloatArray:
        """Standard errors of log-worths and of the other parameters, shape (J + q,)."""
        return np.asarray(np.sqrt(np.concatenate([self.variances.values, np.diag(self.beside.solution.cov)])))

    @functools.cached_property
    def variances(self) -> Variances:
        """Variances of all log-worths, found once; objects and draws are chosen by a fixed seed."""
        best = np.argsort(-self.worths, kind="stable")[:_FIRST]
        return graph_variances.variances(self.information, np.random.default_rng(_SEED), best)

    @property
    def error_note(self) -> str:
        """How far the standard errors of log-worths are from exact ones."""
        found = self.variances
        if found.way == "exact":
            return "standard errors are exact"
        first = f"; those of the {found.exact:,} objects of the highest worths are exact" if found.exact else ""
        way = "by a series of second order" if found.way == "series" else f"from {found.draws} draws"
        return (
            f"standard errors of log-worths are approximate, {way}: against the exact ones of "
            f"{graph_variances.SAMPLED} objects their error is {format_percent(found.median)} in the median and "
            f"{format_percent(found.high)} at the 95th percentile{first}; exact ones: pairwise(res, objects=…), "
            "res.t_test"
        )

    @property
    def tvalues(self) -> pd.Series[float]:
        """Estimates over standard errors (z values), shape (J + q,)."""
        return (self.params / self.bse).rename("statistic")

    @property
    def pvalues(self) -> pd.Series[float]:
        """Two-sided p-values of `tvalues`, shape (J + q,)."""
        return self._series(2 * stats.norm.sf(np.abs(self.estimates / self.errors)), "p_value")

    @checked
    def conf_int(self, alpha: Share = 0.05, method: IntervalMethod = "wald") -> pd.DataFrame:
        """Return Wald's confidence intervals of level 1 − alpha: columns conf_low, conf_high; a row per parameter."""
        check_interval_method(type(self), method)
        half = stats.norm.isf(alpha / 2) * self.errors
        found = {"conf_low": self.estimates - half, "conf_high": self.estimates + half}
        return pd.DataFrame(found, index=list(self.names))

    def cov_params(self) -> pd.DataFrame:
        """Refuse the covariance matrix of all estimates, which is not made.

        Raises
        ------
        DesignError
            With its size, and what to ask in its place.
        """
        size = len(self.names)
        raise DesignError(
            f"the covariance of {size:,} parameters takes {8 * float(size) ** 2 / 2**30:,.1f} GiB, and is not made",
            "Ask for what is needed: llbt.pairwise(res, objects=[…]) and res.t_test(…) solve for it exactly.",
        )

    @checked
    def covariances(self, objects: IntArray) -> FloatArray:
        """Return the covariances of all estimates with the log-worths of some objects, by position, (J + q, m)."""
        return graph_variances.exact_covariances(self.information, objects, _EXACT)

    def _series(self, values: FloatArray, name: str) -> pd.Series[float]:
        return pd.Series(values, index=list(self.names), name=name, dtype=float)

    # -- fit ---------------------------------------------------------------------------------------------

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.beside.converged

    @property
    def n_iter(self) -> int:
        """Steps of Newton's method."""
        return self.beside.n_iter

    @property
    def gradient_norm(self) -> float:
        """Euclidean norm of the score at the estimates."""
        return self._cells.gradient_norm

    @functools.cached_property
    def _cells(self) -> LLBTResults:
        """The fitted counts as those of a fit, for what depends on counts and fitted counts alone."""
        return replace(self.beside, stands_for=None)

    @property
    def n_params(self) -> int:
        """Number of free parameters: J − 1 log-worths, and q others."""
        return len(self.worths) - 1 + len(self.beside.free)

    @property
    def counts(self) -> FloatArray:
        """The counts that were fitted, shape (S, C): wins of i, (ties,) wins of j."""
        return self.beside.counts

    @property
    def nobs(self) -> float:
        """Number of judgments, the sum of their weights: `n_judgments`."""
        return self.n_judgments

    @property
    def n_cells(self) -> int:
        """Number of cells n."""
        return self._cells.n_cells

    @property
    def df_resid(self) -> int:
        """Cells − comparisons − free parameters."""
        return self.df_null - self.n_params

    @property
    def df_null(self) -> int:
        """Cells − comparisons."""
        return self._cells.df_null

    @property
    def df_model(self) -> int:
        """Number of free parameters beside the nuisance: `n_params`."""
        return self.n_params

    @property
    def deviance(self) -> float:
        """Residual deviance of the Poisson model."""
        return self._cells.deviance

    @property
    def null_deviance(self) -> float:
        """Deviance of the nuisance parameters alone: λ = γ = δ = 0."""
        return self._cells.null_deviance

    @property
    def pearson_chi2(self) -> float:
        """Pearson's X²."""
        return self._cells.pearson_chi2

    @property
    def n_judgments(self) -> float:
        """Number of judgments, the sum of their weights."""
        return self.comparisons.n_judgments

    @property
    def basis(self) -> Basis:
        """What the log-likelihood is of; `llf`, `aic` and `bic` of fits compare where it is the same."""
        return basis.of_comparisons(self.comparisons)

    @property
    def llf(self) -> float:
        """Log-likelihood of the judgments one by one, Σ n log p; a prior is no part of it."""
        return self._cells.llf

    @property
    def effective_params(self) -> float:
        """The parameters that `aic` and `bic` count: all free ones.

        Raises
        ------
        DesignError
            With a prior, whose effective parameters need all covariances; `llf` is known.
        """
        if self.specification.prior is not None:
            raise DesignError(
                "AIC and BIC with a prior count effective parameters, whose trace of so many objects is not made",
                "Ask for llf, or fit without a prior.",
            )
        return float(self.n_params)

    @property
    def aic(self) -> float:
        """−2 `llf` + 2 · free parameters; refused with a prior, as `effective_params` says."""
        return basis.aic(self.llf, self.effective_params)

    @property
    def bic(self) -> float:
        """−2 `llf` + log(judgments) · free parameters; refused with a prior, as `effective_params` says."""
        return basis.bic(self.llf, self.effective_params, self.n_judgments)

    @checked
    def bic_of(self, unit: str) -> float:
        """Return BIC with another number of observations: the levels of a cluster or label, such as ``"judge"``."""
        return basis.bic(self.llf, self.effective_params, basis.number_of(self.comparisons, unit))

    @property
    def llf_poisson(self) -> float:
        """Log-likelihood of the Poisson counts, which depends on how the table is split."""
        return self._cells.llf_poisson

    @property
    def llf_multinomial(self) -> float:
        """Multinomial log-likelihood given the totals: `llf` and a constant of the table."""
        return self._cells.llf_multinomial

    @property
    def aic_poisson(self) -> float:
        """−2 `llf_poisson` + 2 (comparisons + free parameters), as R's AIC of the full model."""
        return basis.aic(self.llf_poisson, len(self.comparisons) + self.effective_params)

    @property
    def bic_poisson(self) -> float:
        """−2 `llf_poisson` + log(cells) (comparisons + free parameters), as R's BIC of the full model."""
        return basis.bic(self.llf_poisson, len(self.comparisons) + self.effective_params, self.n_cells)

    @property
    def fittedvalues(self) -> pd.Series[float]:
        """Fitted counts by cell, shape (n,), indexed by comparison and outcome."""
        return self._cells.fittedvalues
