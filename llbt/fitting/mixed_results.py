"""Results of a fit with effects of judges, under statsmodels' names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..base.arguments import Confidence, Count, Rng, as_generator, checked
from ..base.table import Record, Table
from ..core.statistics import TestResult
from ..data.sources import open_frame
from ..errors import OptionError
from ..formulas.grid import At, is_average
from ..resampling import Resampler
from . import hypotheses
from .asked_groups import By, GroupHypothesis, Weights
from .attributes import COMPLETED, lacks, missing_attribute
from .crossed_predictions import crossed_predicted
from .equal_scales import equal_scales_test
from .judge_predictions import known_predicted
from .laplace_bias import laplace_bias
from .mixed_estimates import MixedEstimates
from .mixed_summary import mixed_summary
from .population_predictions import check_population, population_predicted
from .prediction import place_of, predicted
from .summary_rows import MOST_ROWS, Sort
from .unsupported_questions import FIGURES_OF_EFFECTS, OF_EFFECTS

_PREDICTED = "of the average judge; for a new judge: res.predict(population=True)"


@lacks(FIGURES_OF_EFFECTS)
@dataclass(frozen=True, repr=False, eq=False)
class MixedResults(MixedEstimates, Record):
    """A fitted model with normal effects of judges. p fixed parameters, E standard deviations, G judges.

    Made by `fit` for a formula with brackets. Estimates are those of the average judge, whose effects are 0. Attributes
    have statsmodels' names.

    Attributes
    ----------
    average : FitPart
        The average judge's estimates with their covariance, for `llbt.worth`, `llbt.pairwise` and other functions of
        worths. They are not a fit of their own: functions that need counts or a likelihood refuse them.
    without : LLBTResults
        The fit of the formula without its brackets, which takes all judgments as independent.
    brackets : tuple of Bracket
        The E effects.
    judges : JudgeTable
    solution : MixedFit
        The estimates at the restricted likelihood's σ.
    maximum : MixedFit
        The maximum of the likelihood; `llf`, `aic`, `bic`, likelihood-ratio tests and intervals of σ use it.

    Notes
    -----
    Judge g has the log-worths λᵢ + b_gi with independent b_gi ~ N(0, σ²); ``(tie | judge)`` and ``(order | judge)`` are
    one normal effect each, independent of the others. ``(length | judge)`` is a normal effect times the difference of
    the objects' lengths: the judge's slope less the average slope. ``(object | gr(judge, by=expert))`` has one σ for
    each level of a covariate of judges, named ``(object | judge), expert=yes`` and so on. If a judge has up to four
    independent effects (contrasts of the judged objects, tie, order), adaptive Gauss-Hermite quadrature integrates them
    out. Points are added until the log-likelihood changes by less than .01, or 1e-8 with up to two effects. More
    effects are integrated by importance sampling at quasi-random points around each judge's mode, normal or t(5),
    whichever varies less. Points are added until the Monte Carlo error, from eight randomizations with seed 0, is
    small: below a tenth of the standard error for every estimate, and below .1 for the log-likelihood. Effects of
    objects, ``(1 | object)``, are the effects of one group. ``(object | …)``, ``(order | …)`` and slopes of two crossed
    groupings are fitted by expectation propagation (Minka 2001; `llbt.kernel.propagation`), whose log-likelihood may be
    .2 too low. On a table of 40 × 25 cells, a quarter of them judged, its σ are within 2 % of the maximum by a Gibbs
    sampler; Laplace's σ are 20 % too small. The smaller grouping may have at most 6,000 effects (its levels times the
    judged objects). Laplace's approximation, with its exact gradient, is used for other crossed groupings, for
    ``approximation="laplace"``, and for objects if sampling does not converge within some seconds. It may be far from
    the maximum if a judge or object has few judgments: see `scale_intervals`.

    σ maximizes the restricted likelihood ℓ(β̂(σ), σ) − ½ log det J(σ), where J is the information of the parameters,
    minus the logarithm of the factor by which worths grow with σ (`llbt.kernel.restricted`). With few judges the
    maximum likelihood estimate of σ is too small: with four judges and σ = .5 it is .38 on average. Intervals and
    p-values use t with Satterthwaite's degrees of freedom, 2v²/var v for a variance v. These are at least max(G* − 1,
    1), where G* is the effective number of judges (for covariates with effects of objects, the number of objects minus
    the number of their contrasts that the covariates explain). At σ = 0 they are max(G* − 1, 2). In simulated studies
    of 4 to 30 judges, 95 % intervals of log-worths cover the truth in 94 to 98 %; by maximum likelihood and z in 87 to
    93 %. ``conf_int(method="profile")`` uses the likelihood and χ²; its intervals lie around the maximum of the
    likelihood, where σ is smaller.

    References
    ----------
    Cox, D. R. & Reid, N. (1987). Parameter orthogonality and approximate conditional inference. Journal of the Royal
    Statistical Society B 49(1), 1-39.

    Minka, T. P. (2001). Expectation propagation for approximate Bayesian inference. Proceedings of the 17th Conference
    on Uncertainty in Artificial Intelligence, 362-369.

    Pinheiro, J. C. & Bates, D. M. (1995). Approximations to the log-likelihood function in the nonlinear mixed-effects
    model. Journal of Computational and Graphical Statistics 4(1), 12-35.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> wins = [5, 1, 4, 0, 6, 3, 5, 2]
    >>> frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "judge": range(8)})
    >>> c = llbt.from_counts(frame.assign(wins_j=6 - frame["wins_i"]), clusters="judge")
    >>> res = llbt.fit("object + (object | judge)", c)
    >>> res.params.round(3).to_dict(), res.scales.round(3).to_dict()
    ({'object[A]': 0.118}, {'(object | judge)': 0.682})
    """

    _made_by: ClassVar[str] = "llbt.fit(…) for a formula with brackets"
    _unanswered: ClassVar[Mapping[str, tuple[str, str]]] = OF_EFFECTS

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test

    @checked
    def equal_scales_test(self, *, rng: Rng = 0) -> TestResult:
        """Test whether judges differ equally on all objects: one σ for all objects against one σ for each.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            Used to draw judges; the default seed makes printouts repeatable.

        Returns
        -------
        TestResult
            Rao's score statistic, with one df for each contrast of the objects' log σ, and its p-value.

        Raises
        ------
        DesignError
            Without ``(object | …)``; for two objects, because only the sum of their variances is identified; for σ = 0;
            and for Laplace's approximation.

        Notes
        -----
        The score of a judge in log σᵢ is σ² times the posterior mean of sᵢ² − Wᵢᵢ, with s and W the score and
        information of the judge's judgments in the effects on the log-worths. These scores are skewed, so with few
        judges the statistic is not χ². Therefore at least 2,000 judges are simulated from the fit; they judge the
        comparisons that the judges of the table judged. The covariance of their scores makes the tested scores
        orthogonal to those of the worths, γ, δ and the common σ. The reference distribution consists of sums of the
        drawn judges' scores.
        """
        return equal_scales_test(self, as_generator(rng))

    @checked
    def predict(
        self,
        frame: Any = None,
        *,
        at: At = None,
        by: By | None = None,
        weights: Weights = None,
        hypothesis: GroupHypothesis | None = None,
        population: bool = False,
        object_covariates: Any = None,
        confidence: Confidence = 0.95,
    ) -> Table:
        """Return the probability of each outcome, for the average judge, a judge of the table, or a new judge.

        Parameters
        ----------
        frame : data frame, optional
            Comparisons to predict, as for `LLBTResults.predict`. If the frame has the brackets' column of judges, each
            row is predicted for its judge. By default the comparisons of the table, for the average judge.
        at : mapping or "average", optional
            Instead of a frame: all pairs of objects at these covariate values, as in `LLBTResults.predict`. ``{"judge":
            "J7"}`` predicts for a judge of the table, ``{"judge": ["J7", "J8"]}`` for several. With two crossed
            groupings name both, ``{"judge": "J7", "prompt": 3}``, or one; the other is then at its average.
        by : str or sequence of str, optional
            Instead of a frame: all pairs for each level of these covariates, or for each value that `at` lists.
        weights : data frame, optional
            A target mix: covariate values and a column ``weight`` of sum 1, over which probabilities are averaged; the
            weights are taken as known.
        hypothesis : "pairwise", optional
            With `by`: differences of probabilities between the groups, the first minus the second.
        population : bool
            Whether to average over the distribution of the effects, as for a new judge. Probabilities are then nearer
            to ½, and a column of judges in the frame is ignored. If σ differs by a covariate, ``gr(judge, by=expert)``,
            the frame has this column, or `at` names its level.
        object_covariates : frame or path, optional
            Covariates of objects in `frame` that were never compared, as for `from_judgments`. Such objects have
            predictions if the formula has ``(1 | object)`` or no parameter for each object.
        confidence : float

        Returns
        -------
        Table
            object_i, object_j, covariates, outcome, estimate (probability), std_error (delta method, includes the error
            of σ), conf_low, conf_high (on the logit scale).

        Raises
        ------
        DesignError
            For judges if the formula has ``(1 | object)`` (use `judge_effects` for their effects), and for new objects
            if the formula has a parameter for each object.
        OptionError
            For judges that are not in the table, or are asked at a level that they do not have there. For a judge of
            the table with ``population=True``, a population if the fit has no effects of judges or if the level of a
            new judge is not named, and as in `LLBTResults.predict`.

        Notes
        -----
        A judge of the table has the most probable effects given the judgments, as in `judge_effects`; with expectation
        propagation, their means. Effects are shrunk towards 0, more so with few judgments. For objects that the judge
        did not compare they are 0, with the standard deviation σ. Errors allow for the uncertainty of the effects and
        of the estimates that they depend on (Kass & Steffey 1989). If σ = 0, every judge is the average judge. Effects
        of objects, ``(1 | object)``, work in the same way; a new object has the effect 0, with σ in the error.

        References
        ----------
        Kass, R. E. & Steffey, D. (1989). Approximate Bayesian inference in conditionally independent hierarchical
        models. Journal of the American Statistical Association 84(407), 717-726.
        """
        asked = at
        at = place_of(self.average, frame, at, by, weights)
        if object_covariates is not None and frame is None:
            raise OptionError(
                "object_covariates= without comparisons of the new objects",
                "Pass comparisons: res.predict(pd.DataFrame({'object_i': …, 'object_j': …}), object_covariates=…).",
            )
        place = at if isinstance(at, Mapping) else None
        groupings = [name for name in self.judges.groupings if name != "object"]
        named = [name for name in groupings if name in (place or ())]
        if hypothesis is not None and (population or named):
            raise OptionError(
                "hypothesis='pairwise' together with population=True or judges in at=",
                "Ask for the average judge: leave out population= and the judges in at=.",
            )
        if population and named:
            raise OptionError(
                f"at= names a {named[0]} of the table, and population=True asks for one drawn from the population",
                f"Leave out population=True, or the {named[0]} in at=.",
            )
        if population:
            check_population(self)
            where = at if is_average(at) else place
            return population_predicted(self, frame, where, confidence, object_covariates)
        columns = open_frame(frame).names if frame is not None else ()
        named = named or [name for name in groupings if name in columns]
        if named and (len(self.judges.groupings) > 1 or self._in_lines):
            return crossed_predicted(self, named, frame, place, confidence)
        if named:
            return known_predicted(self, frame, place, confidence)
        table = predicted(
            self.average, frame, asked, confidence, object_covariates, by=by, weights=weights, hypothesis=hypothesis
        )
        return replace(table, notes=(*table.notes, _PREDICTED)) if groupings else table

    @property
    def _in_lines(self) -> bool:
        """Whether effects are kept only by line, because lines are too many to be grouped by judge."""
        return self.solution.rule is not None and not self.judges.grouped.bundles

    @checked
    def laplace_bias(self, *, rng: Rng = None, progress: bool = False) -> Table:
        """Return the bias of Laplace's approximation if its own estimates were the truth.

        Judgments are simulated at the estimates, effects first, and fitted again in the same way: 20 times with at most
        200 levels, drawn anew each time, or 50 times with all levels if groupings are crossed. A message tells how long
        it takes.

        Parameters
        ----------
        rng : int or numpy.random.Generator, optional
        progress : bool
            Whether to show a bar.

        Returns
        -------
        Table
            term, estimate, bias (mean of the simulated estimates minus the estimate), std_error (Monte Carlo error of
            the bias), corrected (estimate minus bias); a row for each fixed parameter and for the σ of each bracket.

        Raises
        ------
        DesignError
            For a fit by quadrature or sampling, which has no such bias, and if no simulated judgments can be fitted.

        Notes
        -----
        The bias is simulated at the estimates, and includes the bias of maximum likelihood with few levels. The
        correction is of first order: the corrected σ is still too small if judges make few judgments. If possible, fit
        without ``approximation``.
        """
        return laplace_bias(self, Resampler.of("laplace_bias", rng, progress=progress))

    @checked
    def summary(self, *, odds: bool = True, max_rows: Count = MOST_ROWS, sort: Sort = "name") -> Table:
        """Return the printout: call, data, coefficients of the average judge, and the effects of judges.

        Parameters
        ----------
        odds : bool
            Whether to add the column of odds: exp(2λ), exp(2δ), exp(γ).
        max_rows : int
            The most rows to print. Rows with the lowest worths and the smallest |z| are left out first, and counted.
        sort : {"name", "estimate"}
            The order of the rows within each term: by label, or the largest estimate first.
        """
        return mixed_summary(self, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()
