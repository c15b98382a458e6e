"""The results of a fit to rankings or best-worst sets (lists): tests, printout and predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..base.arguments import Confidence, Count, checked
from ..base.table import Record, Table
from ..core.columns import Label
from ..core.rankings import Rankings
from ..formulas.grid import At
from . import hypotheses
from .attributes import COMPLETED, missing_attribute
from .ranking_estimates import RankingEstimates
from .ranking_prediction import predicted_first, predicted_lists
from .ranking_summary import ranking_summary
from .summary_rows import MOST_ROWS, Sort
from .unsupported_questions import OF_LISTS


@dataclass(frozen=True, repr=False, eq=False)
class RankingResults(RankingEstimates, Record):
    """A fitted model of rankings or best-worst sets (lists). L lists, p parameters of the worths, T of ties.

    Made by `fit` of `Rankings`. Attributes have statsmodels' names. As for other fits, functions answer questions about
    worths: ``llbt.worth(res)``, ``llbt.leaderboard(res)``, ``llbt.pairwise(res)``.

    Attributes
    ----------
    specification : RankingSpecification
    rankings : Rankings
    design : Design
        The design of the worths, made on the comparisons that the lists imply.
    free : ndarray of int
        Which of the p parameters were estimated.
    lists : Lists
    solution : ListFit
        The result of Newton's method for these parameters, log δ last.
    covariance : Covariance
        The covariance of the estimates, log δ last.
    average : FitPart
        The worths on the comparisons that the lists imply, for `llbt.worth`, `llbt.pairwise` and other functions of
        worths. They are not a fit of their own: functions that need counts or a likelihood refuse them.

    Notes
    -----
    A list is a sequence of choices from the remaining objects. The objects C of the next place are chosen from the set
    A with probability proportional to ``δ_|C| exp(mean of 2λ over C)``, among all sets C of up to D objects, where D is
    the largest number in one place (Turner et al. 2020). δ₁ = 1, and δ is 0 for numbers that no list has. The term
    `tie` adds a log δ for each number of objects, two or more, in one place; without `tie` each δ is 1. Objects that
    were shown and not ranked are part of every set A, and no choice is made among them. Sets of two objects are the
    comparisons of `fit` with ``γ = log δ₂``. For best-worst sets both are named at once, P(b, w) ∝ exp(λ_b − λ_w), so a
    set of two is a comparison. With ``best_worst="sequential"`` the best is chosen first, by exp(2λ), and then the
    worst of the others, by exp(−2λ).

    Here a ranking of k objects is one judgment. `fit` on ``data.to_comparisons()`` takes it as k(k − 1)/2 independent
    judgments; that gives other estimates, and standard errors that are too small.

    A number as `prior` gives each object that many wins and losses, and no ties, against an object that nobody judged;
    if classes of covariates have their own worths, in each class. These wins and losses count in the standard errors.
    ``"jeffreys"`` is Firth's bias reduction, the penalty ½ log det I. Standard errors come from the information at the
    penalized maximum, and δ is finite too.

    References
    ----------
    Firth, D. (1993). Bias reduction of maximum likelihood estimates. Biometrika 80(1), 27-38.

    Plackett, R. L. (1975). The analysis of permutations. Applied Statistics 24(2), 193-202.

    Turner, H. L., van Etten, J., Firth, D. & Kosmidis, I. (2020). Modelling rankings in R: the PlackettLuce package.
    Computational Statistics 35, 1027-1057.

    Marley, A. A. J. & Louviere, J. J. (2005). Some probabilistic models of best, worst, and best-worst choices. Journal
    of Mathematical Psychology 49(6), 464-480.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> ranks = pd.DataFrame({"A": [1, 2, 1, 3, 1], "B": [2, 1, 1, 1, 3], "C": [3, 3, 2, 2, 2]})
    >>> res = llbt.fit("object + tie", llbt.from_rankings(ranks, objects=["A", "B", "C"]))
    >>> round(res.llf, 4), res.n_params
    (-10.3623, 3)
    """

    _made_by: ClassVar[str] = "llbt.fit(formula, rankings)"
    _unanswered: ClassVar[Mapping[str, tuple[str, str]]] = OF_LISTS

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test

    @checked
    def predict(self, data: Rankings | None = None, *, confidence: Confidence = 0.95) -> Table:
        """Return the probability of each list among all lists of its set.

        Parameters
        ----------
        data : Rankings, optional
            Other lists, of fitted objects and fitted levels of covariates; by default those of the fit. A list of only
            the best few has the probability that these come first in this order, whatever the order of the rest.
        confidence : float

        Returns
        -------
        Table
            ranking, covariates of the formula, estimate (probability), std_error (delta method), conf_low, conf_high
            (on the logit scale, so within 0 and 1); NaN if the fitted lists do not determine it.

        Raises
        ------
        OptionError
            For objects, covariates and levels that were not fitted, and lists of another kind.
        """
        return predicted_lists(self, data, confidence)

    @checked
    def first(self, objects: Sequence[Label] | None = None, *, at: At = None, confidence: Confidence = 0.95) -> Table:
        """Return the probability that each object is the first of a set, or is named the best.

        Parameters
        ----------
        objects : sequence of labels, optional
            The set that is shown, two to 200 objects; by default all.
        at : mapping, optional
            Values of covariates, such as ``{"judge": "J3", "age": [20, 40]}``. Labels that are not named take all their
            levels; numbers take their mean over the lists.
        confidence : float

        Returns
        -------
        Table
            covariates, object, estimate (probability), std_error (delta method), conf_low, conf_high (on the logit
            scale). With ties it is the probability of being first alone.

        Raises
        ------
        OptionError
            For objects that were not fitted or are given twice, and for names in `at` that worths do not depend on.
        """
        return predicted_first(self, objects, at, confidence)

    @checked
    def summary(self, *, odds: bool = True, max_rows: Count = MOST_ROWS, sort: Sort = "name") -> Table:
        """Return the printout: call, data, coefficients and fit, as R prints a model.

        Parameters
        ----------
        odds : bool
            Whether to add the column of odds: exp(2λ), and δ.
        max_rows : int
            The most rows to print. Rows with the lowest worths and the smallest |z| are left out first, and counted.
        sort : {"name", "estimate"}
            The order of the rows within each term: by label, or the largest estimate first.
        """
        return ranking_summary(self, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()

    to_frame = RankingEstimates.to_frame
