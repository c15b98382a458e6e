"""The confidence distribution of log-worths: draws from the normal distribution of the estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.arguments import Confidence, Rng, as_generator, checked
from ..base.table import Record, Table, format_count, format_number
from ..core.columns import FloatArray, Label
from ..errors import DesignError
from ..fitting.fitted import OneSource, WithWorths
from ..formulas.grid import At
from ..kernel.importance import t_draws
from . import drawn_worths
from .log_worths import centred
from .new_judge import asked_of
from .posterior import DrawCount
from .simultaneous import root_of


@dataclass(frozen=True, repr=False, eq=False)
class ConfidenceDistribution(Record):
    """Draws of the log-worths of J objects from the distribution of their estimates.

    Made by `distribution`. A share of these draws is a confidence, not a probability, because there is no prior.

    Attributes
    ----------
    objects : tuple of labels, length J
        The objects that the table compares.
    log_worths : ndarray, shape (n, J)
        Log-worths minus their mean, one row for each draw.
    df : float
        Degrees of freedom of the t distribution; infinite for the normal one.
    confidence : float
        The level of the intervals.
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.distribution(res)"

    objects: tuple[Label, ...]
    log_worths: FloatArray
    df: float
    confidence: float
    notes: tuple[str, ...]

    prob_best = drawn_worths.prob_best
    prob_rank = drawn_worths.prob_rank
    prob = drawn_worths.prob

    @property
    def weights(self) -> FloatArray:
        """The weights of the draws, all equal, shape (n,)."""
        return np.full(len(self.log_worths), 1 / len(self.log_worths))

    @property
    def share(self) -> str:
        """The name of a share of the draws."""
        return "confidence"

    def table(self) -> Table:
        """Return object, first, rank_median, rank_low, rank_high, estimate, conf_low, conf_high.

        first is the confidence that the object has the largest log-worth; the other columns are as in
        `Posterior.table`.
        """
        title = "Confidence distribution of the log-worths λ, minus the mean of all objects"
        return drawn_worths.worth_table(self, title, self.notes)


@checked
def distribution(
    res: WithWorths | OneSource,
    *,
    at: At = None,
    confidence: Confidence = 0.95,
    draws: DrawCount = 4000,
    rng: Rng = 0,
) -> ConfidenceDistribution:
    """Return how certain first places and ranks are, without a prior: draws from the distribution of the estimates.

    The draws use the covariance of the fit, so they allow for clusters. `posterior` does not allow for them, because
    clustered standard errors have no likelihood.

    Parameters
    ----------
    res : a fit with worths
        For a fit with effects of judges, answers are for the average judge.
    at : mapping or "average", optional
        Covariate values at which log-worths are taken, if they differ by covariates: ``{"judge": "J3"}``.
    confidence : float
        The level of each object's interval.
    draws : int
        The number of draws, at least 1,000.
    rng : int or numpy.random.Generator
        The default seed makes printouts repeatable.

    Returns
    -------
    ConfidenceDistribution
        A row per object, and ``prob_best()``, ``prob_rank(k)``, ``prob("A > B")``, as `posterior` returns them.

    Raises
    ------
    OptionError
        If log-worths differ between classes and `at` is missing.
    DesignError
        If the table compares fewer than two objects, and for log-worths without a standard error.

    Notes
    -----
    The draws are normal around the estimates, with their covariance; with few clusters they have a t distribution with
    the degrees of freedom of the fit. With many independent judgments, the shares are close to the probabilities of
    `posterior` with a wide prior.

    References
    ----------
    Xie, M. & Singh, K. (2013). Confidence distribution, the frequentist distribution estimator of a parameter.
    International Statistical Review 81(1), 3-39.

    Examples
    --------
    >>> import llbt
    >>> c = llbt.load_dataset("dras_table1")
    >>> draws = llbt.distribution(llbt.fit("object + tie", c.pool()))
    >>> draws.to_frame()[["object", "rank_median"]].values.tolist()
    [['A', 1], ['D', 2], ['B', 3], ['C', 4]]
    """
    worths, _, _ = asked_of(res, at, False, "log_worth")
    log_worths, notes = centred(worths, at)
    inside = np.flatnonzero(~np.isnan(log_worths.estimate))
    if len(inside) < 2:
        raise DesignError(f"the table compares {len(inside)} objects", expected="two or more")
    log_worths = log_worths.some(inside)
    if log_worths.unknown.any() or np.isnan(log_worths.cov).any():
        raise DesignError(
            "some log-worths have no standard error, because only one cluster has information on them",
            "Use a fit of independent judgments: llbt.posterior(llbt.fit("
            f"{worths.specification.formula!r}, res.comparisons)).",
        )
    df = worths.worth_df_inference
    drawn, _ = t_draws(draws, len(inside), df, as_generator(rng))
    kind = "normal" if np.isinf(df) else f"t with {format_number(df, 3)} df"
    return ConfidenceDistribution(
        tuple(worths.comparisons.objects[k] for k in inside),
        log_worths.estimate + drawn @ root_of(log_worths.cov).T,
        df,
        confidence,
        (
            *notes,
            *worths.covariance.notes,
            f"confidence, not probability: {format_count(draws)} draws ({kind}) with the covariance of the fit",
        ),
    )
