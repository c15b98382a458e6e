"""The estimates of a fit with a discrimination of each judge, under statsmodels' names."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from ..base.arguments import Confidence, checked
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..core.statistics import critical_value
from ..errors import OptionError
from ..formulas.design import Design
from ..kernel.discrimination import DiscriminationFit, Judged, Views, gradient_at, point_at
from ..kernel.discrimination_profile import profile_discrimination, profile_parameter
from ..kernel.robust import Covariance
from . import attributes, criteria, fitted_counts, wald
from .fit_part import FitPart
from .fitted_counts import Cells
from .plain_estimates import PlainEstimates
from .specification import CovType, IntervalMethod, Specification
from .wald import Estimated


@dataclass(frozen=True, eq=False)
class Judging:
    """The judges, and the comparisons of each judge.

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
    """The model with separate worths for every judge.

    Attributes
    ----------
    formula : str
    res : LLBTResults or None
    reason : str
        Why there is no fit, or an empty text.
    """

    formula: str
    res: PlainEstimates | None
    reason: str


@dataclass(frozen=True, repr=False, eq=False)
class DiscriminationEstimates:
    """Estimates of a fit with discriminations and what follows from them, without tests, predictions and printout."""

    average: FitPart
    without: PlainEstimates
    wider: Neighbour
    judging: Judging
    solution: DiscriminationFit
    covariance: Covariance
    cov_type: CovType = "nonrobust"
    groups: tuple[str, ...] = ()

    @property
    def specification(self) -> Specification:
        """The specification of the fit."""
        spec = self.without.specification
        return replace(spec, discrimination=self.judging.name, cov_type=self.cov_type, groups=self.groups)

    @property
    def comparisons(self) -> Comparisons:
        """The table that was fitted."""
        return self.without.comparisons

    @property
    def design(self) -> Design:
        """The design of the parameters that are not discriminations."""
        return self.without.design

    @property
    def estimated(self) -> Estimated:
        """Estimates at discrimination 1 (log-worth λ, γ, δ), with their covariance.

        Errors come from the joint information of worths and discriminations, given that σ² has mean 1.
        """
        return self.average.estimated

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p parameters that are not discriminations."""
        return self.design.names

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

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Return where the profile likelihood has fallen by `drop`, if σ² has mean 1, (p, 2); see `conf_int`."""
        self._refuse_clusters()
        bounds = np.full((len(self.names), 2), np.nan)
        for place, k in enumerate(self.without.free):
            bounds[k] = profile_parameter(self.judging.judged, self.solution, place, drop)
        return bounds

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters held at a value, with these values."""
        return self.average.fixed

    # -- discriminations ---------------------------------------------------------------------------------

    @property
    def discriminations(self) -> pd.Series[float]:
        """Factors σ by which the log-worths of each judge are multiplied, shape (K,); the mean of σ² is 1."""
        return self._by_judge(self.solution.sigma, "sigma")

    @property
    def discrimination_errors(self) -> pd.Series[float]:
        """Standard errors of σ, shape (K,)."""
        known = ~self.covariance.unknown_each(len(self.covariance.matrix))
        errors = np.where(known, np.sqrt(np.diag(self.covariance.matrix)), np.nan)
        return self._by_judge(errors[len(self.solution.params) :], "std_error")

    @checked
    def discrimination_intervals(
        self, *, confidence: Confidence = 0.95, method: IntervalMethod = "wald"
    ) -> pd.DataFrame:
        """Return intervals of σ.

        Parameters
        ----------
        confidence : float
        method : {"wald", "profile"}
            "wald" is σ ± z · standard error, with t in place of z for clusters. "profile" ends where the profile
            likelihood has fallen by half the χ²(1) quantile. A judge with the share w of the judgments has |σ| < 1/√w;
            the interval ends there if the likelihood does not fall so far.

        Returns
        -------
        pandas.DataFrame
            Columns conf_low, conf_high; a row per judge.

        Notes
        -----
        In simulations of four judges with 30 judgments each of four objects (150 tables;
        ``tests/simulations/discrimination_profile.json``), 95 % Wald intervals cover .90 if judges are alike and .89 if
        they differ. Profile intervals cover .93 in both cases.

        Examples
        --------
        >>> import llbt
        >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"), discrimination="judge")
        >>> res.discrimination_intervals(method="profile").round(2).loc["J3"].tolist()
        [0.28, 0.53]
        """
        if method == "profile":
            return self._profiled(float(stats.chi2.isf(1 - confidence, 1)) / 2)
        half = critical_value(confidence, self.covariance.df) * self.discrimination_errors
        return pd.DataFrame({"conf_low": self.discriminations - half, "conf_high": self.discriminations + half})

    def _refuse_clusters(self) -> None:
        if self.groups:
            raise OptionError(
                f"method='profile' takes judgments as independent, and the fit has cov_type={self.cov_type!r}",
                "Take method='wald', or fit with cov_type='nonrobust'.",
            )

    def _profiled(self, drop: float) -> pd.DataFrame:
        self._refuse_clusters()
        judged, solution = self.judging.judged, self.solution
        bounds = [profile_discrimination(judged, solution, which, drop) for which in range(judged.size)]
        return pd.DataFrame(bounds, index=self._labels, columns=["conf_low", "conf_high"])

    @checked
    def readings(self, *, confidence: Confidence = 0.95, method: IntervalMethod = "wald") -> pd.Series[str]:
        """Return for each judge what the interval of σ shows.

        Parameters
        ----------
        confidence : float
        method : {"wald", "profile"}
            The kind of the intervals, as in `discrimination_intervals`.

        Returns
        -------
        pandas.Series
            ``"inverted"``: the interval is below 0, so the judge prefers what the others do not. ``"guessing"``: the
            interval contains 0 but not 1; ``"guessing or inverted"`` if the estimate is also below 0. ``"unclear"``:
            the interval contains both 0 and 1. Other judges have an empty text.
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
        """The number of Newton steps from the start that led to the maximum."""
        return self.solution.n_iter

    @functools.cached_property
    def means(self) -> FloatArray:
        """Fitted counts, shape (S, C)."""
        judged = self.judging.judged
        return judged.problem.totals[:, None] * judged.probabilities(self.solution.params, self.solution.sigma)

    @property
    def gradient_norm(self) -> float:
        """Euclidean norm of the score of the parameters and of the discriminations at the estimates."""
        views = Views.of(self.judging.judged)
        score = gradient_at(views, point_at(views, self.solution.params, self.solution.sigma))
        return float(np.linalg.norm(np.concatenate(score)))

    @functools.cached_property
    def cells(self) -> Cells:
        """The counts with the fitted counts."""
        return Cells(self.comparisons, self.means, self.n_params)

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
    effective_params = criteria.effective_params
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
        """Estimated parameters, without nuisance parameters: p and K − 1 discriminations, as the mean of σ² is 1."""
        return len(self.without.free) + len(self.judging.levels) - 1

    @property
    def bic_judges(self) -> float:
        """BIC with the number of judges as observations: `bic_of` of their column."""
        return self.bic_of(self.judging.name)

    @property
    def _labels(self) -> pd.Index[str]:
        return pd.Index(list(self.judging.levels), name=self.judging.name)

    def _by_judge(self, values: FloatArray, name: str) -> pd.Series[float]:
        return pd.Series(values, index=self._labels, name=name, dtype=float)


def readings_of(bounds: pd.DataFrame, sigma: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """Return what the intervals of σ show, as a word for each judge; see `DiscriminationEstimates.readings`."""
    low, high = bounds.to_numpy().T
    return np.select(
        [high < 0, (low <= 0) & (high < 1) & (sigma < 0), (low <= 0) & (high < 1), low <= 0],
        ["inverted", "guessing or inverted", "guessing", "unclear"],
        "",
    )
