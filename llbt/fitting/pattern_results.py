"""The results of a fit to patterns: tests, printout and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..base.arguments import Confidence, Count, checked
from ..base.table import Record, Table
from . import hypotheses
from .attributes import COMPLETED, missing_attribute
from .pattern_estimates import PatternEstimates
from .pattern_predictions import predicted_answers
from .pattern_summary import pattern_summary
from .summary_rows import MOST_ROWS, Sort


@dataclass(frozen=True, repr=False, eq=False)
class PatternResults(PatternEstimates, Record):
    """A fitted pattern model: all answers of a judge are one observation. N patterns, p parameters, Q of dependence.

    Made by `fit` of `Patterns`. Attributes have statsmodels' names. As for other fits, functions answer questions about
    worths: ``llbt.worth(res)``, ``llbt.leaderboard(res)``, ``llbt.pairwise(res)``.

    Attributes
    ----------
    design : Design
        The design of worths and ties, made on the comparisons in the patterns.
    free : ndarray of int
        Which of the p parameters were estimated.
    solution : ListFit
        The result of Newton's method for these parameters, θ last.
    covariance : Covariance
        The covariance of the estimates, θ last.
    average : FitPart
        The worths on the comparisons, for `llbt.worth`, `llbt.pairwise` and other functions of worths. They are not a
        fit of their own: functions that need counts or a likelihood refuse them.
    specification : PatternSpecification
    patterns : Patterns
    dependence : Dependence
        ``by``: what the dependence of answers varies by, ``""`` for all judges, then covariates; ``persistence``:
        whether answers to a pair depend on each other at consecutive times.
    likelihood : PatternLikelihood or None
        None for comparisons without dependence, because these have the model of `fit`.

    Notes
    -----
    The log-probability of a pattern y is Σ_p y_p(λᵢ − λⱼ) + γ #(y_p = 0) + Σ θ y_p y_q − log Z, where Z is the sum over
    all possible patterns. For comparisons these are all sequences of answers; for rankings, those that agree with an
    order of the objects; for ratings, those that agree with an order with ties. For comparisons without `dependence`, Z
    is a product over the pairs, so they have the model of `fit` and are fitted by it. With dependence, λ is half the
    log-odds of a preference with all other answers held. Log-worths λ are free (``object``), or a linear function of
    covariates of the objects (``price + weight``); both may differ by covariates of the judges (``price * sex``).

    If judges answer at several times, y has the answers at all times. `persistence` adds θ y_pt y_p,t+1 for the answers
    to a pair at consecutive times, with one θ for each pair; `dependence` then connects answers at the same time.
    prefmod has dependence between successive times for ratings and rankings (``iaT``; by its help pages). With
    persistence, λ of a time is conditional on the answers at other times. So compare times by `predict`, not by
    differences of λ.

    Missing answers are summed over. By default they are taken as missing at random. With `missing`, the likelihood
    includes which answers are missing (r_p = 1), as a selection model: P(y, r) = P(y) Π_p P(r_p | y_p). The logits are
    α (prefmod's ``MIScommon``, ``MISmodel="obj"`` and ``"comp"``) + y_p β (``MISbeta``). Objects that `missing` names
    have αᵢ beside a common α; β of objects that `not_at_random` does not name is 0. This is the sample selection
    approach of Dittrich et al. (2012; we have read only the abstract), with the Bradley-Terry model for the answers and
    another model for the indicators of missing answers. Without β, answers are missing completely at random (MCAR), and
    worths are those of ``missing="ignorable"``. With β, they are not missing at random (MNAR), and λ describes all
    answers, given or not. prefmod 0.8 has a sum over all y and r in place of Z, so with β its λ describes the given
    answers. Without β, the two models are the same. With β, the likelihood may rise without end, or have several
    maxima; the highest maximum from many starts is taken. Tests of β can reject too often.

    Models of missing answers can be compared with each other (`anova`), but not with ``"ignorable"``, whose likelihood
    covers only the answers. Judges without any answer are not among the patterns, and the model does not allow for
    them.

    References
    ----------
    Dittrich, R., Hatzinger, R. & Katzenbeisser, W. (2002). Modelling dependencies in paired comparison data: a
    log-linear approach. Computational Statistics & Data Analysis 40(1), 39-57.

    Dittrich, R., Francis, B., Hatzinger, R. & Katzenbeisser, W. (2007). A paired comparison approach for the analysis
    of sets of Likert-scale responses. Statistical Modelling 7(1), 3-28.

    Dittrich, R., Francis, B., Hatzinger, R. & Katzenbeisser, W. (2012). Missing observations in paired comparison data.
    Statistical Modelling 12(2), 117-143.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> ranks = pd.DataFrame({"A": [1, 2, 1, 1, 3], "B": [2, 1, 3, 2, 1], "C": [3, 3, 2, 3, 2]})
    >>> res = llbt.fit("object", llbt.from_patterns(ranks, "rankings", objects=["A", "B", "C"]))
    >>> res.n_params, res.converged
    (2, True)

    A covariate in place of free worths: one slope.

    >>> table = pd.DataFrame({"object": ["A", "B", "C"], "price": [1.0, 2.0, 4.0]})
    >>> p = llbt.from_patterns(ranks, "rankings", objects=["A", "B", "C"], object_covariates=table)
    >>> llbt.fit("price", p).params.round(4).to_dict()
    {'price': -0.2021}

    Five of 18 answers are missing, so their log-odds are log(5/13); the worths are those without a model of missing
    answers.

    >>> ac, bc = [1, None, 1, -1, None, 1], [1, -1, None, 1, None, None]
    >>> answers = pd.DataFrame({"AB": [1, 1, -1, 1, 1, -1], "AC": ac, "BC": bc})
    >>> p = llbt.from_patterns(answers, "comparisons", objects=["A", "B", "C"], columns=["AB", "AC", "BC"])
    >>> res = llbt.fit("object", p, missing="common")
    >>> res.params.round(4).to_dict()
    {'object[A]': 0.6043, 'object[B]': 0.2875, 'missing': -0.9555}
    """

    _made_by: ClassVar[str] = "llbt.fit(formula, patterns)"

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

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
            object_i, object_j, covariates of the judges, the time if judges answer at several times, outcome, estimate
            (probability), std_error (delta method), conf_low, conf_high (on the logit scale, so within 0 and 1); one
            row for each outcome. If answers may be missing, probabilities are those of all answers, given or not.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> ranks = pd.DataFrame({"A": [1, 2, 1, 1, 3], "B": [2, 1, 3, 2, 1], "C": [3, 3, 2, 3, 2]})
        >>> res = llbt.fit("object", llbt.from_patterns(ranks, "rankings", objects=["A", "B", "C"]))
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
            The most rows to print. Rows with the lowest worths and the smallest |z| are left out first, and counted.
        sort : {"name", "estimate"}
            The order of the rows within each term: by label, or the largest estimate first.
        """
        return pattern_summary(self, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()

    to_frame = PatternEstimates.to_frame
