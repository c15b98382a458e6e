"""What a fit knows of worths and of a few parameters beside them, under statsmodels' names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from ..arguments import Share, checked
from ..core import basis
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..formulas.design import Design
from ..kernel.list_fit import ListFit
from ..kernel.profile import Held, profile_bounds
from ..kernel.robust import Covariance
from .results import LLBTResults
from .specification import IntervalMethod


@dataclass(frozen=True, repr=False, eq=False)
class WorthEstimates:
    """Estimates of a model of whole answers (lists, patterns): worths as comparisons have them, others beside them.

    Attributes
    ----------
    design : Design
        Of the p parameters that comparisons have, made on those that the answers imply.
    free : ndarray of int
        Which of the p parameters were estimated.
    solution : ListFit
        What Newton's method found for them, and for the parameters beside them, which stand last.
    covariance : Covariance
        Of the estimates.
    average : LLBTResults
        The worths beside the comparisons that the answers imply, as questions about worths take them.
    """

    design: Design
    free: IntArray
    solution: ListFit
    covariance: Covariance
    average: LLBTResults

    @property
    def names_beside(self) -> tuple[str, ...]:
        """Names of the parameters beside those of the design."""
        raise NotImplementedError

    @property
    def n_judgments(self) -> float:
        """Number of answers."""
        raise NotImplementedError

    def _held(self, k: int) -> Held:
        """Return the maximum of the likelihood with estimate k held."""
        raise NotImplementedError

    @property
    def comparisons(self) -> Comparisons:
        """The comparisons that the answers imply."""
        return self.average.comparisons

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all parameters: those of the design, then those beside it."""
        return (*self.design.names, *self.names_beside)

    @property
    def aliased(self) -> tuple[str, ...]:
        """Parameters that the answers do not determine beside those before them; NA."""
        return self.average.aliased

    @property
    def places(self) -> IntArray:
        """Where the estimates stand among all parameters."""
        p = len(self.design.names)
        return np.append(self.free, np.arange(p, p + len(self.names_beside)))

    @property
    def params(self) -> pd.Series[float]:
        """Estimates (log-worth λ, log δ), shape (p + T,); NaN where aliased."""
        return self._series(self.solution.params, "estimate")

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors, shape (p + T,)."""
        known = ~self.covariance.unknown_each(len(self.places))
        errors = np.where(known, np.sqrt(self.covariance.diagonal), np.nan)
        return self._series(errors, "std_error")

    @property
    def tvalues(self) -> pd.Series[float]:
        """Estimates over standard errors (z values, or t where `df_inference` is finite), shape (p + T,)."""
        return (self.params / self.bse).rename("statistic")

    @property
    def pvalues(self) -> pd.Series[float]:
        """Two-sided p-values of `tvalues`, shape (p + T,)."""
        return pd.Series(
            2 * stats.t.sf(np.abs(self.tvalues), self.df_inference), index=list(self.names), name="p_value"
        )

    @property
    def df_inference(self) -> float:
        """Degrees of freedom of the t distribution behind tests and intervals; infinite for the normal."""
        return self.covariance.df

    def cov_params(self) -> pd.DataFrame:
        """Return the covariance matrix of the estimates (p + T × p + T); NaN where aliased or unknown."""
        matrix = np.full((len(self.names), len(self.names)), np.nan)
        known = ~self.covariance.unknown_each(len(self.places))
        matrix[np.ix_(self.places[known], self.places[known])] = self.covariance.matrix[np.ix_(known, known)]
        return pd.DataFrame(matrix, index=list(self.names), columns=list(self.names))

    @checked
    def conf_int(self, alpha: Share = 0.05, method: IntervalMethod = "wald") -> pd.DataFrame:
        """Return intervals of level 1 − alpha: columns conf_low, conf_high; a row per parameter.

        Parameters
        ----------
        alpha : float
        method : {"wald", "profile"}
            Estimate ± t quantile × standard error; or where the profile likelihood falls by half the χ² quantile, of
            independent answers.

        Raises
        ------
        OptionError
            For profiles beside clusters or a prior, and of patterns with missing answers.
        """
        if method == "profile":
            bounds = np.full((len(self.names), 2), np.nan)
            drop, top = float(stats.chi2.isf(alpha, 1)) / 2, self.solution.log_likelihood
            cov = np.asarray(self.covariance.matrix)
            for place, k in enumerate(self.places):
                bounds[k] = profile_bounds(self._held(place), self.solution.params, cov, top, place, drop)
            return pd.DataFrame(bounds, index=list(self.names), columns=["conf_low", "conf_high"])
        half = stats.t.isf(alpha / 2, self.df_inference) * self.bse
        return pd.DataFrame({"conf_low": self.params - half, "conf_high": self.params + half})

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
    def df_model(self) -> int:
        """Number of estimated parameters: `n_params`."""
        return self.n_params

    @property
    def nobs(self) -> float:
        """Number of answers: `n_judgments`."""
        return self.n_judgments

    @property
    def effective_params(self) -> float:
        """The parameters that `aic` and `bic` count."""
        return float(self.n_params)

    @property
    def answers(self) -> Rankings | Patterns:
        """What was fitted."""
        raise NotImplementedError

    @property
    def llf(self) -> float:
        """Log-likelihood of the answers, Σ n log p; a prior is no part of it."""
        return self.solution.log_likelihood

    @property
    def aic(self) -> float:
        """−2 `llf` + 2 · `effective_params`."""
        return basis.aic(self.llf, self.effective_params)

    @property
    def bic(self) -> float:
        """−2 `llf` + log(answers) · `effective_params`."""
        return basis.bic(self.llf, self.effective_params, self.n_judgments)

    @checked
    def bic_of(self, unit: str) -> float:
        """Return BIC with another number of observations: the levels of a cluster or label, such as ``"judge"``."""
        return basis.bic(self.llf, self.effective_params, basis.number_of(self.answers, unit))

    def to_frame(self) -> pd.DataFrame:
        """Return term, estimate, std_error, statistic, p_value, conf_low, conf_high; a row per parameter."""
        columns = (self.params, self.bse, self.tvalues, self.pvalues)
        frame = pd.DataFrame({str(column.name): column for column in columns}).join(self.conf_int())
        return frame.rename_axis("term").reset_index()

    def _series(self, values: FloatArray, name: str) -> pd.Series[float]:
        every = np.full(len(self.names), np.nan)
        every[self.places] = values
        return pd.Series(every, index=list(self.names), name=name, dtype=float)
