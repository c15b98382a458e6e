"""Results of a fit with a discrimination of each judge, under statsmodels' names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..base.arguments import Confidence, Count, checked
from ..base.table import Field, Record, Table, interval_fields
from ..core.statistics import TestResult
from . import hypotheses
from .attributes import COMPLETED, lacks, missing_attribute
from .discrimination_estimates import DiscriminationEstimates, readings_of
from .discrimination_predictions import predicted_by_judge
from .discrimination_summary import discrimination_summary
from .discrimination_tests import equality_test, proportionality_test
from .specification import IntervalMethod
from .summary_rows import MOST_ROWS, Sort
from .unsupported_questions import FIGURES_OF_DISCRIMINATION


@lacks(FIGURES_OF_DISCRIMINATION)
@dataclass(frozen=True, repr=False, eq=False)
class DiscriminationResults(DiscriminationEstimates, Record):
    """A fitted model in which each judge has a discrimination. p parameters, K discriminations.

    Made by `fit` with ``discrimination=``. Attributes have statsmodels' names.

    Attributes
    ----------
    average : FitPart
        The estimates for a judge of discrimination 1, with their covariance.
    without : LLBTResults
        The fit in which all discriminations are 1.
    wider : Neighbour
        The fit with separate worths for every judge, or why there is none.
    judging : Judging
    solution : DiscriminationFit
    covariance : Covariance
        The covariance of the p parameters and the K discriminations, given that σ² has mean 1.
    cov_type : str
    groups : tuple of str
        The clusters, as given to `llbt.fit`.

    Notes
    -----
    An outcome with score h (1, 0 or −1 for three outcomes) has the log mean ``μ + h(σ_k(λᵢ − λⱼ) + δ) + γ_|h|``: judge
    k's log-worths are the common ones times σ_k. Ties and order have no factor. The data cannot distinguish (λ, σ) from
    (λ/c, cσ), so the mean of σ², weighted by the judgments, is set to 1, and the weighted sum of σ is positive. A judge
    with σ = 0 guesses; a judge with σ < 0 prefers what the others do not.

    The likelihood can have more than one maximum. Newton's method starts from the pooled worths with discriminations of
    1; from the leading singular vectors of the judges' separate worths, each approximated by one Newton step from the
    pooled worths; and from six random sets of discriminations with seed 0. The highest maximum is kept. Covariances
    come from the joint observed information of all parameters, given that σ² has mean 1. In simulations 95 % intervals
    of σ cover .93 to .95 with 120 judgments per judge, and .86 to .91 with 30; `discrimination_intervals` also has
    profile intervals.

    `bootstrap` does not resample this fit. The σ are parameters of these judges, so judges cannot be drawn. In a
    resample of a judge's few judgments, the judge often agrees with the order without exception; σ is then infinite.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"), discrimination="judge")
    >>> res.discriminations.round(3).to_dict()
    {'J1': 1.098, 'J2': 1.214, 'J3': 0.398, 'J4': 1.077}
    >>> round(res.deviance, 4), res.df_resid
    (224.5933, 41)
    """

    _made_by: ClassVar[str] = "llbt.fit(…, discrimination=…)"

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test

    def equality_test(self) -> TestResult:
        """Test that all discriminations are 1 against this model, by the likelihood ratio on K − 1 df.

        If worths are equal, discriminations are not identified, and the ratio has no χ² distribution. A note says so if
        Wald's χ² of the pooled worths is below 10 per df. In simulations with four objects (400 tables) and differing
        worths, the test at level 5 % rejects 5 to 7 % of true models with 120 judgments per judge. It rejects 9 % with
        four judges of 30 judgments each, and 9 to 25 % if worths are nearly equal.
        """
        return equality_test(self)

    def proportionality_test(self) -> TestResult:
        """Test this model against separate worths for every judge (`wider`), by the likelihood ratio.

        Raises
        ------
        DesignError
            If the wider model was not fitted; `wider` has the reason.
        """
        return proportionality_test(self)

    @checked
    def by_judge(self, *, confidence: Confidence = 0.95, method: IntervalMethod = "wald") -> Table:
        """Return the discrimination of each judge.

        Parameters
        ----------
        confidence : float
        method : {"wald", "profile"}
            The kind of the intervals, as in `discrimination_intervals`; the readings use them.

        Returns
        -------
        Table
            judge, judgments, estimate (σ), std_error, conf_low, conf_high, and reading (see `readings`), in the order
            of the table.
        """
        bounds = self.discrimination_intervals(confidence=confidence, method=method)
        judged = self.judging.judged
        totals = np.bincount(judged.judge, judged.problem.totals, judged.size)
        name = self.judging.name
        return Table(
            (
                Field(name, name, list(self.judging.levels)),
                Field("judgments", "judgments", totals, "count"),
                Field("estimate", "estimate", self.solution.sigma, "estimate"),
                Field("std_error", "std_error", self.discrimination_errors.to_numpy(), "estimate"),
                *interval_fields(bounds["conf_low"].to_numpy(), bounds["conf_high"].to_numpy(), confidence),
                Field("reading", "reading", readings_of(bounds, self.solution.sigma).tolist()),
            ),
            title=f"Discriminations σ by {name}",
            notes=(
                "σ multiplies the log-worths of a judge; σ² has the mean 1 over judgments",
                f"{100 * confidence:.4g} % intervals{' by profile likelihood' if method == 'profile' else ''}",
            ),
        )

    @checked
    def predict(self, frame: Any = None, *, confidence: Confidence = 0.95) -> Table:
        """Return the probability of each outcome for the named judges.

        Parameters
        ----------
        frame : data frame, optional
            Comparisons to predict, as for `LLBTResults.predict`, with the column of judges. Without that column,
            predictions are for a judge of discrimination 1. By default the comparisons of the table.
        confidence : float

        Returns
        -------
        Table
            object_i, object_j, covariates, judge, outcome, estimate (probability), std_error (delta method), conf_low,
            conf_high (on the logit scale).
        """
        return predicted_by_judge(self, frame, confidence)

    @checked
    def summary(self, *, odds: bool = True, max_rows: Count = MOST_ROWS, sort: Sort = "name") -> Table:
        """Return the printout: call, data, coefficients at discrimination 1, discriminations, and fit.

        Parameters
        ----------
        odds : bool
            Whether to add the column of odds: exp(2λ), exp(2δ), exp(γ).
        max_rows : int
            The most rows to print. Rows with the lowest worths and the smallest |z| are left out first, and counted.
        sort : {"name", "estimate"}
            The order of the rows within each term: by label, or the largest estimate first.
        """
        return discrimination_summary(self, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()
