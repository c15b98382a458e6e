"""The results of a fit of comparisons, with statsmodels' names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..base.arguments import Confidence, Count, checked
from ..base.table import Qualifying, Record, Table
from ..core.statistics import TestResult
from ..formulas.constraints import Hypothesis
from ..formulas.grid import At
from . import hypotheses
from .asked_groups import By, GroupHypothesis, Weights
from .attributes import COMPLETED, missing_attribute
from .estimates import Estimates
from .fractional_counts import FRACTIONAL
from .hypotheses import wald_test
from .plain_estimates import PlainEstimates
from .prediction import predicted
from .summary import summary_table
from .summary_rows import MOST_ROWS, Sort


@dataclass(frozen=True, repr=False, eq=False)
class LLBTResults(PlainEstimates, Record):
    """A fitted log-linear Bradley-Terry model. S comparisons, n cells, p parameters.

    Made by `fit`. Attributes have statsmodels' names and the values of the full Poisson GLM, whichever solver
    ran. The exceptions are `llf`, `aic` and `bic`: they describe the judgments, and the GLM's are `llf_poisson`,
    `aic_poisson` and `bic_poisson`. Aliased parameters are NaN. Parameters held at a value have no standard error.

    Attributes
    ----------
    specification : Specification
    comparisons : Comparisons
        The table that was fitted: comparisons with at least one judgment.
    design : Design
    free : ndarray of int
        Which of the p parameters were estimated.
    solution : Fit
        The result of the solver for these parameters.
    covariance : Covariance
        The covariance of the estimates, by `cov_type` and `groups`.

    Notes
    -----
    Functions answer questions about a fit: ``llbt.worth(res)``, ``llbt.anova(m0, m1)``, ``llbt.goodness_of_fit(res)``.

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

    _made_by: ClassVar[str] = "llbt.fit(…) without brackets and discriminations"

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    # -- tests -------------------------------------------------------------------------------------------

    t_test = hypotheses.Methods.t_test

    @checked
    def wald_test(self, hypothesis: Hypothesis) -> TestResult:
        """Test linear hypotheses jointly; they are written as in `t_test`.

        Returns
        -------
        TestResult
            Wald's χ², its degrees of freedom (the number of hypotheses) and p-value; F if the fit has finite degrees of
            freedom. With ``cov_type="cluster"`` one hypothesis is tested by t². Several are tested by Rao's score with
            sign flips of the clusters' scores, as in ``llbt.anova(…, test="cluster")``; for two-way clustering, by
            Hotelling's form of Wald's test.

        Raises
        ------
        DesignError
            As in `t_test`, and if there are too few clusters for Hotelling's form with so many hypotheses.
        OptionError
            As in `t_test`, and for redundant hypotheses.
        """
        return wald_test(self, hypothesis)

    # -- further -----------------------------------------------------------------------------------------

    @checked
    def predict(
        self,
        frame: Any = None,
        *,
        at: At = None,
        by: By | None = None,
        weights: Weights = None,
        hypothesis: GroupHypothesis | None = None,
        confidence: Confidence = 0.95,
    ) -> Table:
        """Return the probability of each outcome.

        Parameters
        ----------
        frame : data frame, optional
            Comparisons to predict: ``object_i, object_j`` and the covariates of the formula (a side covariate
            ``x`` as ``x_i, x_j``). By default the comparisons of the table.
        at : mapping or "average", optional
            Instead of a frame: all pairs of objects at these covariate values, such as
            ``{"judge": "J3", "age": [20, 40]}``. Labels that are not named take all their levels; numbers take their
            mean over the judgments. ``{"language": {"de": 0.3, "en": 0.7}}`` averages probabilities over values, with
            weights that sum to 1: what to expect of a random judgment from this mix. ``"average"`` weights the judged
            values by their share of the judgments; with `by`, of the group's judgments.
        by : str or sequence of str, optional
            Instead of a frame: all pairs for each level of these covariates, or for each value that `at` lists.
        weights : data frame, optional
            A target mix: covariate values and a column ``weight`` of sum 1, over which probabilities are averaged; the
            weights are taken as known.
        hypothesis : "pairwise", optional
            With `by`: differences of probabilities between the groups, the first minus the second.
        confidence : float

        Returns
        -------
        Table
            object_i, object_j, covariates, outcome (``"i"``, ``"tie"``, ``"j"``; every grade), estimate (probability),
            std_error (delta method), conf_low, conf_high (on the logit scale, so within 0 and 1). There is one row for
            each outcome; values are NaN if the table does not determine them.
        """
        return predicted(self, frame, at, confidence, by=by, weights=weights, hypothesis=hypothesis)

    @checked
    def summary(self, *, odds: bool = True, max_rows: Count = MOST_ROWS, sort: Sort = "name") -> Table:
        """Return the printout: call, data, coefficients and fit, as R prints a model.

        Parameters
        ----------
        odds : bool
            Whether to add the column of odds: exp(2λ), exp(2δ), exp(γ).
        max_rows : int
            The most rows to print. Rows with the lowest worths and the smallest |z| are left out first, and counted.
        sort : {"name", "estimate"}
            The order of the rows within each term: by label, or the largest estimate first.
        """
        return summary_table(self, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}<p>next: worth · pairwise · anova · goodness_of_fit</p>"


def bic_reservation(fits: Sequence[Estimates]) -> tuple[str, ...]:
    """Return notes if AIC and BIC assume more than the fit does, such as independent judgments."""
    notes = []
    if any(fit.specification.groups for fit in fits):
        notes.append(Qualifying("AIC and BIC ignore clustering."))
    if any(np.any(fit.counts % 1 > 0) for fit in fits):
        notes.append(FRACTIONAL)
    return tuple(notes)
