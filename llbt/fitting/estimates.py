"""What a fit knows of its estimates, under statsmodels' names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy import special, stats

from ..arguments import Share, checked
from ..budgets import refuse_parameters
from ..core import basis
from ..core.basis import Basis
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.links import AnyResponse, linked
from ..core.response import Response
from ..errors import DesignError, OptionError
from ..formulas.design import Design
from ..kernel import explicit
from ..kernel.deviances import cell_deviances, deviance, leverages, pearson_chi2
from ..kernel.likelihood import Problem
from ..kernel.profile import held_in_pairs, profile_bounds
from ..kernel.robust import Covariance
from ..kernel.solvers import Fit
from .object_effects import ObjectEffects
from .specification import IntervalMethod, Specification, make_problem, penalty_of
from .unanswered import check_interval_method

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
    if hasattr(whole, name):
        return AttributeError(f"{name} is of the whole {whole.__name__}, and this has its worths alone")
    if hasattr(whole, "__getattr__"):
        try:
            whole.__getattr__(worths, name)
        except AttributeError as error:
            return error
    return AttributeError(f"{whole.__name__} has no attribute {name!r}")


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

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p parameters."""
        return self.design.names

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters that were held, with their values."""
        return dict(self.specification.fixed)

    @property
    def aliased(self) -> tuple[str, ...]:
        """Parameters that the table does not determine beside those before them; NA, as in R."""
        free = set(self.free.tolist())
        return tuple(n for k, n in enumerate(self.names) if k not in free and n not in self.fixed)

    @property
    def params(self) -> pd.Series[float]:
        """Estimates (log-worth λ, γ, δ), shape (p,); NaN where aliased.

        The reference has no parameter, so there is no ``params["object[D]"]`` where D is it: its λ is 0, and
        ``llbt.worth(res, scale="log_worth")`` has it beside the others.
        """
        values = np.full(len(self.names), np.nan)
        values[self.free] = self.solution.params
        series = pd.Series(values, index=list(self.names), name="estimate", dtype=float)
        for name, value in self.specification.fixed.items():
            series[name] = value
        return series

    def cov_params(self) -> pd.DataFrame:
        """Return the covariance matrix of the estimates (p × p): NaN where aliased or unknown, 0 where held.

        Raises
        ------
        DesignError
            For so many that it does not fit into memory; `bse` and tests need less.
        """
        refuse_parameters(len(self.names))
        matrix = np.full((len(self.names), len(self.names)), np.nan)
        known = ~self.covariance.unknown_each(len(self.free))
        matrix[np.ix_(self.free[known], self.free[known])] = self.covariance.matrix[np.ix_(known, known)]
        for name in self.fixed:
            k = self.names.index(name)
            estimated = np.append(self.free, [self.names.index(other) for other in self.fixed])
            matrix[k, estimated] = matrix[estimated, k] = 0.0
        return pd.DataFrame(matrix, index=list(self.names), columns=list(self.names))

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors, shape (p,); NaN where aliased or held, and where a single cluster says all that is known."""
        errors = np.full(len(self.names), np.nan)
        known = ~self.covariance.unknown_each(len(self.free))
        errors[self.free[known]] = np.sqrt(self.covariance.diagonal[known])
        return pd.Series(errors, index=list(self.names), name="std_error", dtype=float)

    @property
    def tvalues(self) -> pd.Series[float]:
        """Estimates over standard errors (z values, or t where `df_inference` is finite), shape (p,)."""
        return (self.params / self.bse).rename("statistic")

    @property
    def pvalues(self) -> pd.Series[float]:
        """Two-sided p-values of `tvalues`, shape (p,)."""
        p = 2 * stats.t.sf(np.abs(self.tvalues), self.covariance.df_each(self.free, len(self.names)))
        return pd.Series(p, index=list(self.names), name="p_value")

    @property
    def df_inference(self) -> float:
        """Degrees of freedom of the t distribution behind tests and intervals; infinite for the normal."""
        return self.covariance.df

    def df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of t for linear combinations (k, p) of the parameters, shape (k,).

        `df_inference`, but fewer for combinations that are known from few of the clusters.
        """
        return self.covariance.df_of(rows[:, self.free])

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
        free = rows[:, self.free]
        found = self.covariance.combined(free)
        unknown = self.covariance.unknown(free)
        found[unknown], found[:, unknown] = np.nan, np.nan
        return found

    @checked
    def conf_int(self, alpha: Share = 0.05, method: IntervalMethod = "wald") -> pd.DataFrame:
        """Return confidence intervals of level 1 − alpha on the scale of the estimates.

        Parameters
        ----------
        alpha : float
        method : {"wald", "profile"}
            Estimate ± z (or t) · standard error; or where the profile likelihood falls by half the χ²(1) quantile,
            for independent judgments; with a `prior` it is the penalized one.

        Returns
        -------
        pandas.DataFrame
            Columns conf_low, conf_high; a row per parameter.

        Raises
        ------
        OptionError
            For ``"profile"`` of a fit with clusters or an estimated dispersion, and of worths that stand for another
            kind of answer.
        """
        if self.stands_for is not None:
            check_interval_method(self.stands_for, method)
        kind = self.specification.cov_type
        if method == "profile" and (self.specification.groups or kind == "quasi"):
            raise OptionError(
                f"method='profile' takes judgments as independent, and the fit has cov_type={kind!r}",
                "Take method='wald', or fit with cov_type='nonrobust'.",
            )
        if method == "profile":
            return self._profile_intervals(alpha)
        half = stats.t.isf(alpha / 2, self.covariance.df_each(self.free, len(self.names))) * self.bse
        return pd.DataFrame({"conf_low": self.params - half, "conf_high": self.params + half})

    def _profile_intervals(self, alpha: float) -> pd.DataFrame:
        bounds = np.full((len(self.names), 2), np.nan)
        problem = self.problem()
        penalty = penalty_of(problem, self.comparisons, self.specification)
        drop = float(stats.chi2.isf(alpha, 1)) / 2
        for place, k in enumerate(self.free):
            held, fit = held_in_pairs(problem, self.solution, place, penalty), self.solution
            bounds[k] = profile_bounds(held, fit.params, fit.cov, fit.objective, place, drop)
        return pd.DataFrame(bounds, index=list(self.names), columns=["conf_low", "conf_high"])

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
    def nobs(self) -> float:
        """Number of judgments, the sum of their weights: `n_judgments`."""
        return self.n_judgments

    @property
    @of_own_fit
    def n_cells(self) -> int:
        """Number of cells n, the observations of the explicit Poisson model."""
        return int(self.counts.size)

    @property
    @of_own_fit
    def df_resid(self) -> int:
        """Cells − comparisons − estimated parameters."""
        return self.n_cells - len(self.comparisons) - len(self.free)

    @property
    @of_own_fit
    def df_null(self) -> int:
        """Cells − comparisons."""
        return self.n_cells - len(self.comparisons)

    @property
    @of_own_fit
    def df_model(self) -> int:
        """Number of estimated parameters beside the nuisance: `n_params`."""
        return self.n_params

    @property
    def counts(self) -> FloatArray:
        """The counts that were fitted, shape (S, C): wins of i, (ties,) wins of j."""
        return self.comparisons.outcome_counts

    @property
    @of_own_fit
    def deviance(self) -> float:
        """Residual deviance of the Poisson model."""
        return deviance(self.counts, self.solution.means)

    @property
    @of_own_fit
    def null_deviance(self) -> float:
        """Deviance of the nuisance parameters alone: λ = γ = δ = 0."""
        counts = self.counts
        return deviance(counts, np.broadcast_to(counts.mean(axis=1, keepdims=True), counts.shape))

    @property
    @of_own_fit
    def pearson_chi2(self) -> float:
        """Pearson's X²."""
        return pearson_chi2(self.counts, self.solution.means)

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
    def llf(self) -> float:
        """Log-likelihood of the judgments one by one, Σ n log p, of whatever link; a prior is no part of it."""
        y, n = self.counts, self.counts.sum(axis=1, keepdims=True)
        return float(np.sum(special.xlogy(y, self.solution.means / n)))

    @property
    @of_own_fit
    def aic(self) -> float:
        """−2 `llf` + 2 · `effective_params`."""
        return basis.aic(self.llf, self.effective_params)

    @property
    @of_own_fit
    def bic(self) -> float:
        """−2 `llf` + log(judgments) · `effective_params`.

        References
        ----------
        Schwarz, G. (1978). Estimating the dimension of a model. Annals of Statistics 6(2), 461-464.
        """
        return basis.bic(self.llf, self.effective_params, self.n_judgments)

    @checked
    def bic_of(self, unit: str) -> float:
        """Return BIC with another number of observations: the levels of a cluster or label, such as ``"judge"``.

        Raises
        ------
        OptionError
            For a unit that the table does not keep.
        """
        return basis.bic(self.llf, self.effective_params, basis.number_of(self.comparisons, unit))

    @property
    @of_own_fit
    def llf_poisson(self) -> float:
        """Log-likelihood of the Poisson counts, as R's `glm` has it; it depends on how the table is split.

        Raises
        ------
        DesignError
            For a link that is not log-linear, as for `aic_poisson`, `bic_poisson` and `llf_multinomial`.
        """
        if not self.log_linear:
            raise DesignError(
                f"link={self.specification.link!r} is not log-linear, so there is no Poisson likelihood",
                "Use llf, aic and bic, which are those of the judgments.",
            )
        y, m = self.counts, self.solution.means
        return float(np.sum(special.xlogy(y, m) - m - special.gammaln(y + 1)))

    @property
    @of_own_fit
    def llf_multinomial(self) -> float:
        """Multinomial log-likelihood given the totals: `llf` and a constant of the table."""
        n = self.counts.sum(axis=1)
        return self.llf_poisson - float(np.sum(special.xlogy(n, n) - n - special.gammaln(n + 1)))

    @property
    @of_own_fit
    def aic_poisson(self) -> float:
        """−2 `llf_poisson` + 2 (comparisons + estimated parameters), R's AIC of the full model."""
        return basis.aic(self.llf_poisson, len(self.comparisons) + self.effective_params)

    @property
    @of_own_fit
    def bic_poisson(self) -> float:
        """−2 `llf_poisson` + log(cells) (comparisons + estimated parameters), R's BIC of the full model.

        A covariate which splits the table and is in no model changes the difference of two.
        """
        return basis.bic(self.llf_poisson, len(self.comparisons) + self.effective_params, self.n_cells)

    # -- cells -------------------------------------------------------------------------------------------

    @property
    @of_own_fit
    def fittedvalues(self) -> pd.Series[float]:
        """Fitted counts by cell, shape (n,), indexed by comparison and outcome."""
        return self._by_cell(self.solution.means, "fitted")

    @property
    @of_own_fit
    def resid_response(self) -> pd.Series[float]:
        """Counts − fitted counts, shape (n,)."""
        return self._by_cell(self.counts - self.solution.means, "resid_response")

    @property
    @of_own_fit
    def resid_pearson(self) -> pd.Series[float]:
        """(Count − fitted) / √fitted, shape (n,)."""
        means = self.solution.means
        return self._by_cell((self.counts - means) / np.sqrt(means), "resid_pearson")

    @property
    @of_own_fit
    def resid_deviance(self) -> pd.Series[float]:
        """Signed square roots of each cell's part of the deviance, shape (n,)."""
        y, m = self.counts, self.solution.means
        return self._by_cell(np.sign(y - m) * np.sqrt(np.maximum(cell_deviances(y, m), 0)), "resid_deviance")

    @property
    @of_own_fit
    def hat_diag(self) -> pd.Series[float]:
        """Leverages of the full GLM, shape (n,); they sum to comparisons + estimated parameters."""
        return self._by_cell(leverages(self.problem(), self.solution), "hat_diag")

    def _by_cell(self, values: FloatArray, name: str) -> pd.Series[float]:
        frame = self.comparisons.to_frame().drop(columns=list(self.comparisons.count_columns))
        outcomes = self.comparisons.response.outcomes
        repeated = frame.loc[np.repeat(frame.index, len(outcomes))].assign(outcome=list(outcomes) * len(frame))
        return pd.Series(values.ravel(), index=pd.MultiIndex.from_frame(repeated), name=name)

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

    def to_frame(self) -> pd.DataFrame:
        """Return term, estimate, std_error, statistic, p_value, conf_low, conf_high; a row per parameter."""
        columns = (self.params, self.bse, self.tvalues, self.pvalues)
        frame = pd.DataFrame({str(column.name): column for column in columns}).join(self.conf_int())
        return frame.rename_axis("term").reset_index()
