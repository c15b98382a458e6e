"""What a fit knows, under statsmodels' names."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import special, stats

from ..arguments import check_flag, check_share
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.statistics import TestResult
from ..errors import DesignError
from ..formulas.design import Design
from ..formulas.grid import At
from ..kernel import explicit, likelihood
from ..kernel.likelihood import Problem
from ..kernel.profile import profile_bounds
from ..kernel.robust import Covariance
from ..kernel.solvers import Fit
from ..table import Record, Table
from .hypotheses import Hypothesis, wald_test, z_tests
from .prediction import predicted
from .specification import Specification, make_problem, penalty_of
from .summary import summary_table

_BLOCK = 1 << 14  # comparisons whose deviances stay in the processor's cache


@dataclass(frozen=True, repr=False, eq=False)
class LLBTResults(Record):
    """A fitted log-linear Bradley-Terry model. S comparisons, n cells, p parameters.

    Made by `fit`. Attributes have statsmodels' names and the values of the full Poisson GLM, whichever solver
    ran: parameters that are aliased are NaN, those that were held have no standard error.

    Attributes
    ----------
    specification : Specification
    comparisons : Comparisons
        The table that was fitted: comparisons with at least one judgment.
    design : Design
    free : ndarray of int
        Which of the p parameters were estimated.
    solution : Fit
        What the solver found for them.
    covariance : Covariance
        Of the estimates, as `cov_type`, `groups` and `scale` ask for it.

    Notes
    -----
    Questions to a fit are functions: ``llbt.worth(res)``, ``llbt.anova(m0, m1)``, ``llbt.goodness_of_fit(res)``.

    References
    ----------
    Dras, M. (2015). Evaluating human pairwise preference judgments. Computational Linguistics 41(2), 337-345.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    >>> res.params.round(4).to_dict()
    {'object[+]': 0.2778, 'tie': -0.6551}
    >>> res.pvalues.round(4).to_dict()
    {'object[+]': 0.0088, 'tie': 0.0044}
    """

    specification: Specification
    comparisons: Comparisons
    design: Design
    free: IntArray
    solution: Fit
    covariance: Covariance

    def __getattr__(self, name: str) -> Any:
        package = sys.modules.get("llbt")
        if name in getattr(package, "__all__", ()) and callable(getattr(package, name)):
            raise AttributeError(f"{name} is a function: llbt.{name}(res)")
        raise AttributeError(f"LLBTResults has no attribute {name!r}")

    # -- estimates ---------------------------------------------------------------------------------------

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
        """Estimates (log-worth λ, γ, δ), shape (p,); NaN where aliased."""
        values = np.full(len(self.names), np.nan)
        values[self.free] = self.solution.params
        series = pd.Series(values, index=list(self.names), name="estimate", dtype=float)
        for name, value in self.specification.fixed.items():
            series[name] = value
        return series

    def cov_params(self) -> pd.DataFrame:
        """Return the covariance matrix of the estimates (p × p): NaN where aliased or unknown, 0 where held."""
        matrix = np.full((len(self.names), len(self.names)), np.nan)
        known = ~self.covariance.unknown(np.eye(len(self.free)))
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
        known = ~self.covariance.unknown(np.eye(len(self.free)))
        errors[self.free[known]] = np.sqrt(np.diag(self.covariance.matrix)[known])
        return pd.Series(errors, index=list(self.names), name="std_error", dtype=float)

    @property
    def tvalues(self) -> pd.Series[float]:
        """Estimates over standard errors (z values, or t where `df_inference` is finite), shape (p,)."""
        return (self.params / self.bse).rename("statistic")

    @property
    def pvalues(self) -> pd.Series[float]:
        """Two-sided p-values of `tvalues`, shape (p,)."""
        p = 2 * stats.t.sf(np.abs(self.tvalues), self.df_of(np.eye(len(self.names))))
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

    def combined_cov(self, rows: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations (k, p) of the parameters, shape (k, k).

        Aliased and held parameters add nothing. NaN for combinations of which a single cluster says all that is known.
        """
        free = rows[:, self.free]
        found = np.asarray(free @ self.covariance.matrix @ free.T)
        unknown = self.covariance.unknown(free)
        found[unknown], found[:, unknown] = np.nan, np.nan
        return found

    def conf_int(self, alpha: float = 0.05, method: Literal["wald", "profile"] = "wald") -> pd.DataFrame:
        """Return confidence intervals of level 1 − alpha on the scale of the estimates.

        Parameters
        ----------
        alpha : float
        method : {"wald", "profile"}
            Estimate ± z (or t) · standard error; or where the profile likelihood falls by half the χ²(1) quantile,
            which takes the judgments as independent; with `bias_reduction` or `prior` it is the penalized one.

        Returns
        -------
        pandas.DataFrame
            Columns conf_low, conf_high; a row per parameter.
        """
        if method not in ("wald", "profile"):
            raise DesignError(f"conf_int: method={method!r} is not known; expected 'wald' or 'profile'.")
        check_share("conf_int", "alpha", alpha)
        if method == "profile":
            return self._profile_intervals(alpha)
        half = stats.t.isf(alpha / 2, self.df_of(np.eye(len(self.names)))) * self.bse
        return pd.DataFrame({"conf_low": self.params - half, "conf_high": self.params + half})

    def _profile_intervals(self, alpha: float) -> pd.DataFrame:
        bounds = np.full((len(self.names), 2), np.nan)
        problem = self.problem()
        penalty = penalty_of(problem, self.comparisons, self.specification)
        drop = float(stats.chi2.isf(alpha, 1)) / 2
        for place, k in enumerate(self.free):
            bounds[k] = profile_bounds(problem, self.solution, place, drop, penalty)
        return pd.DataFrame(bounds, index=list(self.names), columns=["conf_low", "conf_high"])

    # -- fit ---------------------------------------------------------------------------------------------

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.solution.converged

    @property
    def n_iter(self) -> int:
        """Fisher scoring iterations."""
        return self.solution.n_iter

    @property
    def gradient_norm(self) -> float:
        """Euclidean norm of the score at the estimates."""
        return float(np.linalg.norm(self.solution.gradient))

    @property
    def nobs(self) -> int:
        """Number of cells n."""
        return int(self.counts.size)

    @property
    def df_resid(self) -> int:
        """Cells − comparisons − estimated parameters."""
        return self.nobs - len(self.comparisons) - len(self.free)

    @property
    def df_null(self) -> int:
        """Cells − comparisons."""
        return self.nobs - len(self.comparisons)

    @property
    def df_model(self) -> int:
        """Columns of the explicit model but one, as statsmodels counts them."""
        return len(self.comparisons) + len(self.free) - 1

    @property
    def counts(self) -> FloatArray:
        """The counts that were fitted, shape (S, C): wins of i, (ties,) wins of j."""
        return self.comparisons.outcome_counts

    @property
    def deviance(self) -> float:
        """Residual deviance of the Poisson model."""
        return deviance(self.counts, self.solution.means)

    @property
    def null_deviance(self) -> float:
        """Deviance of the nuisance parameters alone: λ = γ = δ = 0."""
        counts = self.counts
        return deviance(counts, np.broadcast_to(counts.mean(axis=1, keepdims=True), counts.shape))

    @property
    def pearson_chi2(self) -> float:
        """Pearson's X²."""
        return pearson_chi2(self.counts, self.solution.means)

    @property
    def llf(self) -> float:
        """Poisson log-likelihood at the estimates."""
        y, m = self.counts, self.solution.means
        return float(np.sum(special.xlogy(y, m) - m - special.gammaln(y + 1)))

    @property
    def llf_multinomial(self) -> float:
        """Multinomial log-likelihood given the totals: `llf` less a constant of the totals."""
        n = self.counts.sum(axis=1)
        return self.llf - float(np.sum(special.xlogy(n, n) - n - special.gammaln(n + 1)))

    @property
    def aic(self) -> float:
        """−2 llf + 2 (comparisons + estimated parameters), as R's AIC of the full model."""
        return -2 * self.llf + 2 * (self.df_model + 1)

    @property
    def bic(self) -> float:
        """−2 `llf_multinomial` + log(judgments) · estimated parameters.

        Notes
        -----
        The observations are the N judgments (the sum of their weights), the parameters those of worths, ties and order;
        the nuisance parameters are as many in every model of a table. R's BIC of the full model, on cells, is
        ``to_glm().bic_llf``: there a covariate which splits the table and is in no model changes the difference of two.

        References
        ----------
        Schwarz, G. (1978). Estimating the dimension of a model. Annals of Statistics 6(2), 461-464.
        """
        return -2 * self.llf_multinomial + math.log(self.comparisons.n_judgments) * len(self.free)

    # -- cells -------------------------------------------------------------------------------------------

    @property
    def fittedvalues(self) -> pd.Series[float]:
        """Fitted counts by cell, shape (n,), indexed by comparison and outcome."""
        return self._by_cell(self.solution.means, "fitted")

    @property
    def resid_response(self) -> pd.Series[float]:
        """Counts − fitted counts, shape (n,)."""
        return self._by_cell(self.counts - self.solution.means, "resid_response")

    @property
    def resid_pearson(self) -> pd.Series[float]:
        """(Count − fitted) / √fitted, shape (n,)."""
        means = self.solution.means
        return self._by_cell((self.counts - means) / np.sqrt(means), "resid_pearson")

    @property
    def resid_deviance(self) -> pd.Series[float]:
        """Signed square roots of each cell's part of the deviance, shape (n,)."""
        y, m = self.counts, self.solution.means
        return self._by_cell(np.sign(y - m) * np.sqrt(np.maximum(cell_deviances(y, m), 0)), "resid_deviance")

    @property
    def hat_diag(self) -> pd.Series[float]:
        """Leverages of the full GLM, shape (n,); they sum to comparisons + estimated parameters."""
        return self._by_cell(leverages(self.problem(), self.solution), "hat_diag")

    def _by_cell(self, values: FloatArray, name: str) -> pd.Series[float]:
        frame = self.comparisons.to_frame().drop(columns=list(self.comparisons.count_columns))
        outcomes = self.comparisons.response.outcomes
        repeated = frame.loc[np.repeat(frame.index, len(outcomes))].assign(outcome=list(outcomes) * len(frame))
        return pd.Series(values.ravel(), index=pd.MultiIndex.from_frame(repeated), name=name)

    # -- tests -------------------------------------------------------------------------------------------

    def t_test(self, hypothesis: Hypothesis, *, confidence: float = 0.95) -> Table:
        """Estimate linear combinations of the parameters and test each.

        Parameters
        ----------
        hypothesis : str, list of str, or array of shape (k, p)
            Such as ``"object[A] = object[B]"`` or ``"object[A] - 2 * tie = 1"``, several separated by commas; the
            reference may be named and counts as 0. An array holds coefficients of the parameters.
        confidence : float
            Level of the intervals.

        Returns
        -------
        Table
            term, estimate (left − right side), std_error, statistic (z), p_value, conf_low, conf_high.

        Raises
        ------
        DesignError
            For unknown names, and combinations of aliased parameters.
        """
        return z_tests(self, hypothesis, confidence)

    def wald_test(self, hypothesis: Hypothesis) -> TestResult:
        """Test linear hypotheses jointly; they are written as in `t_test`.

        Returns
        -------
        TestResult
            Wald's χ², its degrees of freedom (the number of hypotheses) and p; F where the fit has finite degrees of
            freedom. With ``cov_type="cluster"``: one hypothesis by t² of its coefficient; several by Rao's score with
            the clusters' scores flipped in sign, as ``llbt.anova(…, test="cluster")``, or for two ways of clustering by
            Hotelling's form of Wald's test.

        Raises
        ------
        DesignError
            As in `t_test`, for hypotheses that say the same, and for more hypotheses than Hotelling's form has clusters
            for.
        """
        return wald_test(self, hypothesis)

    # -- further -----------------------------------------------------------------------------------------

    def predict(self, frame: Any = None, *, at: At = None, confidence: float = 0.95) -> Table:
        """Return the probability of each outcome.

        Parameters
        ----------
        frame : data frame, optional
            Comparisons to predict: ``object_i, object_j`` and the covariates of the formula (a side covariate
            ``x`` as ``x_i, x_j``). By default the comparisons of the table.
        at : mapping, optional
            Instead of a frame: all pairs of objects at these covariate values, such as
            ``{"judge": "J3", "age": [20, 40]}``; labels that are not named take all their levels, numbers their
            mean over the judgments.
        confidence : float

        Returns
        -------
        Table
            object_i, object_j, covariates, outcome (``"i"``, ``"tie"``, ``"j"``), estimate (probability), std_error
            (delta method), conf_low, conf_high (on the logit scale, so within 0 and 1); long, NaN where the table
            does not determine it.
        """
        return predicted(self, frame, at, confidence)

    def problem(self) -> Problem:
        """Return the arrays that were fitted; see `llbt.kernel.solvers`."""
        return make_problem(self.design, self.comparisons, self.free, self.fixed)

    def to_glm(self) -> Any:
        """Return statsmodels' fitted `GLMResults` of the explicit Poisson model, one dummy per comparison.

        Raises
        ------
        DesignError
            Where the explicit matrix would be too large.
        """
        return explicit.explicit_glm(self.problem(), tuple(self.names[k] for k in self.free))

    def to_frame(self) -> pd.DataFrame:
        """Return term, estimate, std_error, statistic, p_value, conf_low, conf_high; a row per parameter."""
        columns = (self.params, self.bse, self.tvalues, self.pvalues)
        frame = pd.DataFrame({str(column.name): column for column in columns}).join(self.conf_int())
        return frame.rename_axis("term").reset_index()

    def summary(self, *, odds: bool = True) -> Table:
        """Return the printout: call, data, coefficients and fit, as R prints a model.

        Parameters
        ----------
        odds : bool
            Whether to add the column of odds: exp(2λ), exp(2δ), exp(γ).
        """
        check_flag("summary", "odds", odds)
        return summary_table(self, odds=odds)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()

    def _repr_html_(self) -> str:
        return f"{self.as_html()}<p>next: worth · pairwise · anova · goodness_of_fit</p>"


def check_fit(asker: str, res: object) -> None:
    """Raise for anything but a fit."""
    if not isinstance(res, LLBTResults):
        raise DesignError(
            f"{asker}: found a {type(res).__name__}; it takes a fit, what llbt.fit returns: llbt.{asker}(llbt.fit(…))."
        )


def bic_reservation(fits: Sequence[LLBTResults]) -> tuple[str, ...]:
    """Return notes on what BIC takes the judgments for, where they may be something else."""
    notes = []
    if any(fit.specification.groups for fit in fits):
        notes.append("AIC and BIC take the judgments as independent, whatever the standard errors allow for")
    if any(np.any(fit.counts % 1 > 0) for fit in fits):
        notes.append("BIC takes the sum of the weights as the number of judgments, but these weights are no counts")
    return tuple(notes)


def cell_deviances(counts: FloatArray, means: FloatArray) -> FloatArray:
    """Return 2 (y log(y/m) − (y − m)), each cell's part of the Poisson deviance, shape (S, C)."""
    return np.asarray(2 * (special.xlogy(counts, counts / means) - (counts - means)))


def deviance(counts: FloatArray, means: FloatArray) -> float:
    """Return the Poisson deviance, summed over the cells; rounding leaves a saturated one at 0, not below."""
    blocks = (slice(start, start + _BLOCK) for start in range(0, len(counts), _BLOCK))
    return max(0.0, sum(float(cell_deviances(counts[rows], means[rows]).sum()) for rows in blocks))


def pearson_chi2(counts: FloatArray, means: FloatArray) -> float:
    """Return Σ (y − m)² / m."""
    return float(np.sum((counts - means) ** 2 / means))


def leverages(problem: Problem, solution: Fit) -> FloatArray:
    """Return the hat values of the full GLM, shape (S, C).

    With z the row of a cell and z̄ the fitted mean row of its comparison, h = m/total + m (z − z̄)ᵀ V (z − z̄).
    """
    probability = solution.means / problem.totals[:, None]
    return probability + solution.means * likelihood.distances(problem, probability, solution.cov)
