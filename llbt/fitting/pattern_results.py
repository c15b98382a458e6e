"""A fit to patterns: tests, printout, and what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..arguments import Confidence, Count, checked
from ..table import Record, Table
from . import hypotheses
from .attributes import missing_attribute
from .pattern_estimates import PatternEstimates
from .pattern_predictions import predicted_answers
from .pattern_summary import pattern_summary
from .summary_rows import MOST_ROWS, Sort
from .unanswered import OF_PATTERNS


@dataclass(frozen=True, repr=False, eq=False)
class PatternResults(PatternEstimates, Record):
    """A pattern model: all answers of a judge are one observation. N patterns, p parameters, Q of dependence.

    Made by `fit_patterns`. Attributes have statsmodels' names. Questions about worths are functions, as of other fits:
    ``llbt.worth(res)``, ``llbt.leaderboard(res)``, ``llbt.pairwise(res)``.

    Attributes
    ----------
    design : Design
        Of worths and ties, made on the comparisons that the patterns consist of.
    free : ndarray of int
        Which of the p parameters were estimated.
    solution : ListFit
        What Newton's method found for them, θ last.
    covariance : Covariance
        Of the estimates, θ last.
    average : LLBTResults
        The worths beside the comparisons, as questions about worths take them. They are no fit of their own: what needs
        counts or a likelihood refuses them.
    specification : PatternSpecification
    patterns : Patterns
    dependent : bool
        Whether the formula has `dependence`.
    likelihood : PatternLikelihood or None
        None for comparisons without dependence, which are the model of `fit`.

    Examples
    --------
    >>> import pandas as pd
     >>> import llbt
    >>> ranks = pd.DataFrame({"A": [1, 2, 1, 1, 3], "B": [2, 1, 3, 2, 1], "C": [3, 3, 2, 3, 2]})
    >>> res = llbt.fit_patterns("object", llbt.patterns_from(ranks, "rankings", objects=["A", "B", "C"]))
    >>> res.n_params, res.converged
    (2, True)
    """

    _made_by: ClassVar[str] = "llbt.fit_patterns(…)"
    _unanswered: ClassVar[Mapping[str, tuple[str, str]]] = OF_PATTERNS

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test

    @checked
    def predict(self, *, confidence: Confidence = 0.95) -> Table:
        """Return the probability of each answer to every pair, averaged over the answers to all other pairs.

        Parameters
        ----------
        confidence : float

        Returns
        -------
        Table
            object_i, object_j, covariates of the judges, outcome, estimate (probability), std_error (delta method),
            conf_low, conf_high (on the logit scale, so within 0 and 1); long. Of answers that may be missing it is that
            of all answers, given or not.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> ranks = pd.DataFrame({"A": [1, 2, 1, 1, 3], "B": [2, 1, 3, 2, 1], "C": [3, 3, 2, 3, 2]})
        >>> res = llbt.fit("object", llbt.patterns_from(ranks, "rankings", objects=["A", "B", "C"]))
        >>> res.predict().to_frame()["estimate"].round(2).tolist()
        [0.57, 0.43, 0.83, 0.17, 0.77, 0.23]
        """
        return predicted_answers(self, confidence)

    @checked
    def summary(self, *, odds: bool = True, max_rows: Count = MOST_ROWS, sort: Sort = "name") -> Table:
        """Return the printout: call, data, coefficients and fit, as R prints a model.

        Parameters
        ----------
        odds : bool
            Whether to add the column of odds: exp(2λ), and δ.
        max_rows : int
            Of more rows, those with the lowest worths and the smallest |z| are not printed, and counted.
        sort : {"name", "estimate"}
            The order of the rows of each term: as the labels are, or the largest estimate first.
        """
        return pattern_summary(self, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()

    to_frame = PatternEstimates.to_frame
