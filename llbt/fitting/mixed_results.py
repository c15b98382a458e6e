"""Results of a fit with effects of judges, under statsmodels' names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from .equal_scales import equal_scales_test
from .judge_predictions import known_predicted
from .laplace_bias import laplace_bias
from .mixed_estimates import MixedEstimates
from .mixed_summary import mixed_summary
from .population_predictions import check_population, population_predicted
from .prediction import place_of, predicted
from .summary_rows import MOST_ROWS, Sort
from .unsupported_questions import FIGURES_OF_EFFECTS, OF_EFFECTS


@lacks(FIGURES_OF_EFFECTS)
@dataclass(frozen=True, repr=False, eq=False)
class MixedResults(MixedEstimates, Record):
    """A fitted model in which judges differ by normal effects. p fixed parameters, E standard deviations, G judges.

    Made by `fit` for a formula with brackets. Estimates are those of the average judge, whose effects are 0. Attributes
    have statsmodels' names.

    Attributes
    ----------
    average : FitPart
        The average judge's estimates with their covariance, as questions about worths take them. They are not a fit of
        their own: what needs counts or a likelihood refuses them.
    without : LLBTResults
        The fit of the formula without its brackets, which takes all judgments as independent.
    brackets : tuple of Bracket
        The E effects.
    judges : JudgeTable
    solution : MixedFit
        The estimates, at the σ of the restricted likelihood.
    maximum : MixedFit
        The maximum of the likelihood; `llf`, `aic`, `bic`, likelihood-ratio tests and intervals of σ belong to it.

    Notes
    -----
    Judge g has the log-worths λᵢ + b_gi with independent b_gi ~ N(0, σ²); ``(tie | judge)`` and ``(order | judge)`` are
    one normal effect each, independent of the others. Up to four independent effects of a judge (contrasts of the
    objects judged, tie, order) are integrated out by adaptive Gauss-Hermite quadrature, with points added until the
    log-likelihood moves by less than .01 (up to two by less than 1e-8). More are by importance sampling at quasi-random
    points around each judge's mode, normal or t(5), whichever varies less, with points added until the Monte Carlo
    error of every estimate, from eight randomizations, is below a tenth of its standard error and that of the
    log-likelihood below .1; the seed is 0. Effects of objects, ``(1 | object)``, are those of one group.
    ``(object | …)`` and ``(order | …)`` of two crossed groupings are fitted by expectation propagation (Minka 2001;
    `llbt.kernel.propagation`), whose log-likelihood may be .2 too low. On a table of 40 × 25 cells, a quarter of
    them judged, its σ are within 2 % of the maximum by a Gibbs sampler, and Laplace's 20 % too small. The effects of
    the smaller grouping, its levels times the objects judged, are at most 6,000. Other crossed groupings,
    ``approximation="laplace"``, and objects whose samples do not settle within some seconds are fitted by Laplace's
    approximation, with its exact gradient. It may be far from the maximum where there are few judgments of a judge or
    object: `scale_intervals`.

    σ maximizes the restricted likelihood ℓ(β̂(σ), σ) − ½ log det J(σ), J the information of the
    parameters, less the logarithm of the factor by which worths stretch with σ (`llbt.kernel.restricted`). The σ of the
    largest likelihood is too small with few judges: with four, .38 on average if σ = .5. Intervals and p-values are by
    t with Satterthwaite's degrees of freedom, 2v²/var v for a variance v, at least max(G* − 1, 1), where G* is the
    effective number of judges (for covariates with effects of objects, the number of objects that they leave). At σ = 0
    they are max(G* − 1, 2). Of simulated studies of 4 to 30 judges 95 % intervals of log-worths hold the truth in 94 to
    98 %; by the largest likelihood and z in 87 to 93 %. ``conf_int(method="profile")`` is of the likelihood: around its
    maximum, where σ is smaller, and by χ².

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
        """Test whether judges differ as much on one object as on another: one σ for all against one for each.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            For the judges that are drawn; the default seed makes printouts repeatable.

        Returns
        -------
        TestResult
            Rao's score statistic, on as many df as there are contrasts of the objects' log σ, and its p-value.

        Raises
        ------
        DesignError
            Without ``(object | …)``; for two objects, where only the sum of the variances is identified; for σ = 0; and
            for Laplace's approximation.

        Notes
        -----
        The score of a judge in log σᵢ is σ² times the posterior mean of sᵢ² − Wᵢᵢ, with s and W the score and
        information of the judge's judgments in the effects on the log-worths. Such scores are skewed, so χ² does not
        hold for few judges: judges are drawn from the fit, at least 2,000 in all, who judge what the judges of the
        table did. The covariance of their scores makes the tested scores orthogonal to those of the worths, γ, δ and
        the common σ. The statistic is compared with sums of these judges' scores.
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
        """Return the probability of each outcome, for the average judge, one of the table, or one not seen yet.

        Parameters
        ----------
        frame : data frame, optional
            Comparisons to predict, as `LLBTResults.predict` reads them. A column of judges, under the name that they
            have in the brackets, asks for the judge of each row. By default the comparisons of the table, for the
            average judge.
        at : mapping or "average", optional
            Instead of a frame: all pairs of objects at these covariate values, as in `LLBTResults.predict`;
            ``{"judge": "J7"}`` asks for a judge of the table, ``{"judge": ["J7", "J8"]}`` for several.
        by : str or sequence of str, optional
            Instead of a frame: all pairs for each level of these covariates, or for each value that `at` lists.
        weights : data frame, optional
            A target mix: covariate values and a column ``weight`` of sum 1, over which probabilities are averaged; the
            weights are taken as known.
        hypothesis : "pairwise", optional
            With `by`: differences of probabilities between the groups, the first less the second.
        population : bool
            Whether to average over the distribution of the effects, for a new judge. Probabilities are then nearer to
            ½. A column of judges in a frame is then not asked.
        object_covariates : frame or path, optional
            Covariates of the objects in `frame` that were never compared, as `from_judgments` reads them: with
            ``(1 | object)``, or without parameters of each object, they have predictions, too.
        confidence : float

        Returns
        -------
        Table
            object_i, object_j, covariates, outcome, estimate (probability), std_error (delta method, including the
            error of σ), conf_low, conf_high (on the logit scale).

        Raises
        ------
        DesignError
            For judges of crossed groupings, whose effects `judge_effects` has, and for new objects beside parameters
            of each object.
        OptionError
            For judges that the table does not have, a judge of the table beside ``population=True``, a population of
            a fit without effects of judges, and as `LLBTResults.predict`.

        Notes
        -----
        A judge of the table has the most probable effects given the judgments, as in `judge_effects`. They are shrunk
        towards 0, more so with few judgments. For objects that the judge did not compare they are 0. The errors are
        those of the effects, of objects not judged their standard deviation, and of the estimates that they are found
        with (Kass & Steffey 1989). Where judges have no effects (σ = 0) all are the average judge. So it is with
        effects of objects, ``(1 | object)``; a new object has the effect 0, with σ in the error.

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
                "Pass them: res.predict(pd.DataFrame({'object_i': …, 'object_j': …}), object_covariates=…).",
            )
        place = at if isinstance(at, Mapping) else None
        groupings = [name for name in self.judges.groupings if name != "object"]
        named = [name for name in groupings if name in (place or ())]
        if hypothesis is not None and (population or named):
            raise OptionError(
                "hypothesis='pairwise' of probabilities that are averaged over judges, or of one judge",
                "Ask for the average judge: leave out population= and at= of judges.",
            )
        if population and named:
            raise OptionError(
                f"at= names a {named[0]} of the table, and population=True asks for one drawn from the population",
                "Leave one of them out.",
            )
        if population:
            check_population(self)
            where = at if is_average(at) else place
            return population_predicted(self, frame, where, confidence, object_covariates)
        kept = open_frame(frame).names if frame is not None else ()
        if named or any(name in kept for name in groupings):
            return known_predicted(self, frame, place, confidence)
        return predicted(
            self.average, frame, asked, confidence, object_covariates, by=by, weights=weights, hypothesis=hypothesis
        )

    @checked
    def laplace_bias(self, *, rng: Rng = None, progress: bool = False) -> Table:
        """Return the bias of Laplace's approximation if its own estimates were the truth.

        Judgments are drawn at the estimates, effects first, and fitted again as these were: 20 times with at most 200
        levels each, drawn anew, or 50 times with all of them where groupings are crossed. It takes as long as it says.

        Parameters
        ----------
        rng : int or numpy.random.Generator, optional
        progress : bool
            Whether to show a bar.

        Returns
        -------
        Table
            term, estimate, bias (mean of the simulated estimates less it), std_error (Monte Carlo, of the bias),
            corrected (estimate less bias); a row for each fixed parameter and for the σ of each bracket.

        Raises
        ------
        DesignError
            For a fit by quadrature or sampling, which have no such bias, and where no judgments drawn can be fitted.

        Notes
        -----
        The bias is estimated by simulation at the estimates, and includes the bias of maximum likelihood with few
        levels. The correction is of first order: the corrected σ is still too small if judges make few judgments. Fit
        without ``approximation`` where this is possible.
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
            Of more rows, those with the lowest worths and the smallest |z| are not printed, and counted.
        sort : {"name", "estimate"}
            The order of the rows of each term: as the labels are, or the largest estimate first.
        """
        return mixed_summary(self, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()
