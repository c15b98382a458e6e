"""What a fit with a discrimination of each judge knows of its estimates, under statsmodels' names."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from ..arguments import Confidence, Share, checked
from ..core import basis
from ..core.basis import Basis
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..core.statistics import critical_value
from ..formulas.design import Design
from ..kernel.discrimination import DiscriminationFit, Judged
from ..kernel.discrimination_profile import profile_discrimination
from .results import LLBTResults
from .specification import IntervalMethod, Specification


@dataclass(frozen=True, eq=False)
class Judging:
    """Who judged what.

    Attributes
    ----------
    name : str
        The covariate.
    levels : tuple
        Labels of the K judges.
    judged : Judged
        The comparisons of the table, with the judge of each.
    """

    name: str
    levels: tuple[Label, ...]
    judged: Judged


@dataclass(frozen=True, eq=False)
class Neighbour:
    """The model with worths of their own for every judge.

    Attributes
    ----------
    formula : str
    res : LLBTResults or None
    reason : str
        Why there is no fit; empty where there is one.
    """

    formula: str
    res: LLBTResults | None
    reason: str


@dataclass(frozen=True, repr=False, eq=False)
class DiscriminationEstimates:
    """The estimates of a fit with discriminations and what follows from them: all but tests, predictions, printout."""

    average: LLBTResults
    without: LLBTResults
    wider: Neighbour
    judging: Judging
    solution: DiscriminationFit

    @property
    def specification(self) -> Specification:
        """What was asked for."""
        return replace(self.without.specification, discrimination=self.judging.name)

    @property
    def comparisons(self) -> Comparisons:
        """The table that was fitted."""
        return self.without.comparisons

    @property
    def design(self) -> Design:
        """The design of the parameters beside the discriminations."""
        return self.without.design

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p parameters beside the discriminations."""
        return self.average.names

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters that were held, with their values."""
        return self.average.fixed

    @property
    def params(self) -> pd.Series[float]:
        """Estimates at discrimination 1 (log-worth λ, γ, δ), shape (p,)."""
        return self.average.params

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors by the joint information of worths and discriminations, on the norm, shape (p,)."""
        return self.average.bse

    @property
    def tvalues(self) -> pd.Series[float]:
        """Estimates over standard errors (z values), shape (p,)."""
        return self.average.tvalues

    @property
    def pvalues(self) -> pd.Series[float]:
        """Two-sided p-values of `tvalues`, shape (p,)."""
        return self.average.pvalues

    def cov_params(self) -> pd.DataFrame:
        """Return the covariance matrix of the estimates (p × p)."""
        return self.average.cov_params()

    @checked
    def conf_int(self, alpha: Share = 0.05, method: IntervalMethod = "wald") -> pd.DataFrame:
        """Return Wald's intervals of level 1 − alpha: columns conf_low, conf_high; a row per parameter."""
        return self.average.conf_int(alpha, method)

    # -- discriminations ---------------------------------------------------------------------------------

    @property
    def discriminations(self) -> pd.Series[float]:
        """Factors σ by which the log-worths of each judge are multiplied, shape (K,); the mean of σ² is 1."""
        return self._by_judge(self.solution.sigma, "sigma")

    @property
    def discrimination_errors(self) -> pd.Series[float]:
        """Standard errors of σ, shape (K,)."""
        variance = np.diag(self.solution.covariance)[len(self.solution.params) :]
        return self._by_judge(np.sqrt(variance), "std_error")

    @checked
    def discrimination_intervals(
        self, *, confidence: Confidence = 0.95, method: IntervalMethod = "wald"
    ) -> pd.DataFrame:
        """Return intervals of σ.

        Parameters
        ----------
        confidence : float
        method : {"wald", "profile"}
            σ ± z · standard error; or where the likelihood, maximized over all else on the norm, falls by half the
            χ²(1) quantile. A judge with the share w of the judgments has |σ| < 1/√w, which is the bound where it does
            not fall so far.

        Returns
        -------
        pandas.DataFrame
            Columns conf_low, conf_high; a row per judge.

        Notes
        -----
        By simulation (four judges with 30 judgments each of four objects, 150 tables;
        ``tests/simulations/discrimination_profile.json``) 95 % intervals of Wald cover .90 where judges are alike and
        .89 where they differ, those by the profile .93 and .93.

        Examples
        --------
        >>> import llbt
        >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"), discrimination="judge")
        >>> res.discrimination_intervals(method="profile").round(2).loc["J3"].tolist()
        [0.28, 0.53]
        """
        if method == "profile":
            return self._profiled(float(stats.chi2.isf(1 - confidence, 1)) / 2)
        half = critical_value(confidence, math.inf) * self.discrimination_errors
        return pd.DataFrame({"conf_low": self.discriminations - half, "conf_high": self.discriminations + half})

    def _profiled(self, drop: float) -> pd.DataFrame:
        judged, solution = self.judging.judged, self.solution
        bounds = [profile_discrimination(judged, solution, which, drop) for which in range(judged.size)]
        return pd.DataFrame(bounds, index=self._labels, columns=["conf_low", "conf_high"])

    @checked
    def readings(self, *, confidence: Confidence = 0.95, method: IntervalMethod = "wald") -> pd.Series[str]:
        """Return what the interval of σ says of each judge.

        Parameters
        ----------
        confidence : float
        method : {"wald", "profile"}
            Of the intervals, as in `discrimination_intervals`.

        Returns
        -------
        pandas.Series
            ``"inverted"``: σ and its interval are below 0, so the judge prefers what the others do not. ``"guessing"``:
            the interval holds 0 and not 1; ``"guessing or inverted"`` where also the estimate is below 0.
            ``"unclear"``: it holds both. Empty for all others.
        """
        bounds = self.discrimination_intervals(confidence=confidence, method=method)
        words = readings_of(bounds, self.solution.sigma)
        return pd.Series(words, index=self._labels, name="reading", dtype=object)

    # -- fit ---------------------------------------------------------------------------------------------

    @property
    def converged(self) -> bool:
        """Whether Newton's method reached its tolerance."""
        return self.solution.converged

    @property
    def n_iter(self) -> int:
        """Steps of Newton's method from the start that led to the maximum."""
        return self.solution.n_iter

    @functools.cached_property
    def means(self) -> FloatArray:
        """Fitted counts, shape (S, C)."""
        judged = self.judging.judged
        return judged.problem.totals[:, None] * judged.probabilities(self.solution.params, self.solution.sigma)

    @functools.cached_property
    def _cells(self) -> LLBTResults:
        """The fitted counts as those of a fit, for what depends on counts and fitted counts alone."""
        solution = replace(self.average.solution, means=self.means)
        return replace(self.average, solution=solution, stands_for=None)

    @property
    def n_params(self) -> int:
        """Estimated parameters beside the nuisance: p and K − 1, for the norm ties one discrimination to the others."""
        return len(self.without.free) + len(self.judging.levels) - 1

    @property
    def counts(self) -> FloatArray:
        """The counts that were fitted, shape (S, C)."""
        return self.without.counts

    @property
    def nobs(self) -> float:
        """Number of judgments, the sum of their weights: `n_judgments`."""
        return self.n_judgments

    @property
    def n_cells(self) -> int:
        """Number of cells n."""
        return self.without.n_cells

    @property
    def df_resid(self) -> int:
        """Cells − comparisons − estimated parameters."""
        return self.n_cells - len(self.comparisons) - self.n_params

    @property
    def df_model(self) -> int:
        """Number of estimated parameters beside the nuisance: `n_params`."""
        return self.n_params

    @property
    def deviance(self) -> float:
        """Residual deviance of the Poisson model."""
        return self._cells.deviance

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
        """Log-likelihood of the judgments one by one, Σ n log p."""
        return self._cells.llf

    @property
    def aic(self) -> float:
        """−2 `llf` + 2 · estimated parameters."""
        return basis.aic(self.llf, self.n_params)

    @property
    def bic(self) -> float:
        """−2 `llf` + log(judgments) · estimated parameters."""
        return basis.bic(self.llf, self.n_params, self.n_judgments)

    @checked
    def bic_of(self, unit: str) -> float:
        """Return BIC with another number of observations: the levels of a cluster or label, such as ``"judge"``."""
        return basis.bic(self.llf, self.n_params, basis.number_of(self.comparisons, unit))

    @property
    def bic_judges(self) -> float:
        """BIC that counts the judges: `bic_of` of their column."""
        return self.bic_of(self.judging.name)

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
        """−2 `llf_poisson` + 2 (comparisons + estimated parameters)."""
        return basis.aic(self.llf_poisson, len(self.comparisons) + self.n_params)

    @property
    def bic_poisson(self) -> float:
        """−2 `llf_poisson` + log(cells) (comparisons + estimated parameters)."""
        return basis.bic(self.llf_poisson, len(self.comparisons) + self.n_params, self.n_cells)

    @property
    def fittedvalues(self) -> pd.Series[float]:
        """Fitted counts by cell, shape (n,), indexed by comparison and outcome."""
        return self._cells.fittedvalues

    @property
    def resid_pearson(self) -> pd.Series[float]:
        """(Count − fitted) / √fitted, shape (n,)."""
        return self._cells.resid_pearson

    @property
    def resid_deviance(self) -> pd.Series[float]:
        """Signed square roots of each cell's part of the deviance, shape (n,)."""
        return self._cells.resid_deviance

    @property
    def _labels(self) -> pd.Index[str]:
        return pd.Index(list(self.judging.levels), name=self.judging.name)

    def _by_judge(self, values: FloatArray, name: str) -> pd.Series[float]:
        return pd.Series(values, index=self._labels, name=name, dtype=float)


def readings_of(bounds: pd.DataFrame, sigma: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """Return what the intervals of σ say, a word for each judge; see `DiscriminationEstimates.readings`."""
    low, high = bounds.to_numpy().T
    return np.select(
        [high < 0, (low <= 0) & (high < 1) & (sigma < 0), (low <= 0) & (high < 1), low <= 0],
        ["inverted", "guessing or inverted", "guessing", "unclear"],
        "",
    )
