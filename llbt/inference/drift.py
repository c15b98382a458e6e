"""Drifting worths: every log-worth is a random walk over periods; marginal likelihood estimates its rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..base.arguments import Confidence, Count, NotNegative, checked, is_real
from ..base.budgets import refuse_large
from ..base.table import format_number
from ..core.columns import FloatArray, IntArray, Label, groups
from ..errors import DesignError, OptionError, SeparationError, listed, near
from ..fitting.clusters import kept_way
from ..fitting.estimates import Estimates
from ..fitting.fitted import PlainFit
from ..formulas.grammar import parse, vocabulary
from ..kernel.likelihood import Problem
from ..kernel.random_walk import LARGEST, Periods, Rate, Rates, rate, rate_bounds, walk
from ..kernel.robust import Clustered
from ..resampling import steps_shown
from .drift_record import Drift

_MOST_PERIODS = 10**6  # most numbers of periods; more cannot be distinguished
_FASTEST = 1e6  # largest step in log-worths between periods; beyond it rounding decides
_MATRICES = 24  # matrices of parameters × parameters of each period in memory at once


@checked
def drift(
    res: PlainFit,
    *,
    time: str,
    periods: Count | None = None,
    sigma: NotNegative | None = None,
    confidence: Confidence = 0.95,
    progress: bool = False,
) -> Drift:
    """Return drifting worths: how good each object was in each period, how fast worths change, and whether they change.

    Every log-worth is a random walk, λ_it − λ_i,t−1 ~ N(0, σ²). Ties, order and all other terms of the formula are
    common to the periods. σ is estimated, so the judgments decide how smooth the curves are. With σ = 0 the curves
    equal the fit of all periods together; with a large σ, they equal separate fits of the periods.

    Parameters
    ----------
    res : LLBTResults
        The fit without drift. Its table has to keep the time: ``from_judgments(…, clusters="day")``.
    time : str
        The column of the time, a cluster or covariate of the table. For numbers the differences count: over a gap of d
        a step has the variance d σ². Labels (such as dates as text) are steps of 1, in the order of the labels.
    periods : int, optional
        The number of periods of equal length into which numbers are put; periods without judgments are left out. None:
        each number is a period.
    sigma : float, optional
        A value at which σ is held. None: σ is estimated.
    confidence : float
    progress : bool
        Show a bar that counts the steps of the search; their number is not known beforehand.

    Returns
    -------
    Drift
        The period, object, estimate (log-worth minus the mean of all objects in the period), std_error, conf_low,
        conf_high, judgments. It also has ``sigma``, ``sigma_low`` and ``sigma_high``. ``test()`` tests whether worths
        change at all, by χ² or by simulated tables; ``change()`` has the change of each object; ``common()`` has ties
        and order.

    Raises
    ------
    OptionError
        For a `time` that is not in the table, for `periods` if labels are not numbers, and for fits with robust
        standard errors or a prior.
    DesignError
        For a single period, for formulas without `object` or with worths that depend on covariates, and if the paths do
        not fit into memory.
    SeparationError
        If σ is +∞: in each single period worths are infinite, in changing directions.

    Notes
    -----
    The paths are the mode of Σ_t ℓ_t(x_t) − Σ_t |λ_t − λ_t−1|²/(2σ²d_t). Newton's method finds this mode; each step is
    a Kalman filter and smoother in information form. λ_1 and the parameters common to all periods have flat priors. σ
    maximizes Laplace's approximation of the marginal likelihood, in which all paths are integrated out (restricted
    maximum likelihood, as in Wood 2011 for penalties). Its interval ends where the log-likelihood has fallen by half
    the χ²₁ quantile. Standard errors come from the curvature at the mode, averaged over σ with its likelihood as weight
    (a flat prior). So changes have a standard error even if σ̂ is 0. Simulations had five and ten days, four and five
    objects, and 90 and 80 judgments a day (200 tables each). If worths drift, 95 % intervals cover .94 of log-worths
    and .92 to .94 of changes. If they do not drift, intervals cover .98 of log-worths and all changes. A true σ = 0 is
    rejected in 3.5 to 5.5 % of tables at level 5 %.

    At a given σ the paths equal the curves of whole-history rating (Coulom 2008). Here σ is estimated, and the standard
    errors use the full information matrix. The alternative is a curve with few parameters, ``fit("object +
    object:bs(day, 5) + tie", c)``, whose degrees of freedom fix its smoothness. `scores.elo_history` uses only earlier
    judgments.

    References
    ----------
    Coulom, R. (2008). Whole-history rating: a Bayesian rating system for players of time-varying strength. Computers
    and Games, LNCS 5131, 113-124.

    Fahrmeir, L. & Tutz, G. (1994). Dynamic stochastic models for time-dependent ordered paired comparison systems.
    Journal of the American Statistical Association 89(428), 1438-1449.

    Wood, S. N. (2011). Fast stable restricted maximum likelihood and marginal likelihood estimation of semiparametric
    generalized linear models. Journal of the Royal Statistical Society B 73(1), 3-36.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> counts = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": [13, 14, 11, 7, 8, 5], "day": range(6)})
    >>> c = llbt.from_counts(counts.assign(wins_j=20 - counts["wins_i"]), clusters="day")
    >>> drifting = llbt.drift(llbt.fit("object", c), time="day")
    >>> round(drifting.sigma, 2), round(drifting.test().p_value, 3)
    (0.17, 0.006)
    >>> drifting.to_frame().query("object == 'A'")[["day", "estimate"]].round(2).values.tolist()
    [[0.0, 0.14], [1.0, 0.13], [2.0, 0.03], [3.0, -0.09], [4.0, -0.13], [5.0, -0.2]]
    """
    with steps_shown("drift", progress):
        labels, positions, numbers, lines = _timed(res, time, periods)  # the error names both options
        _check(res)
        columns, centred = _drifting(res)
        size = len(res.free)
        refuse_large(
            f"paths of {size:,} parameters in {len(labels):,} periods",
            _MATRICES * len(labels) * float(size) ** 2,
            "Use fewer periods=, or fewer objects: c.select(objects=[…]).",
        )
        spread = np.zeros((size, size))
        back = np.linalg.pinv(centred[:, columns])
        spread[np.ix_(columns, columns)] = back @ back.T
        walk_periods = Periods.of(_problem(res, lines), lines.period, np.diff(positions), spread)
        at, bounds = _rated(walk_periods, res.solution.params, sigma, confidence)
        _check_rate(at, time)
        rates = Rates.of(walk_periods, at) if sigma is None else Rates(at.best, (at.best,), np.ones(1))
        covariances = rates.covariances()
        return Drift(
            res=res,
            time=time,
            levels=labels,
            judgments=_judged(res, lines, len(labels)),
            estimate=at.best.path @ centred.T,
            std_error=np.sqrt(np.maximum(np.einsum("jp,tpq,jq->tj", centred, covariances, centred), 0.0)),
            sigma=at.best.sigma,
            sigma_low=bounds[0],
            sigma_high=bounds[1],
            numbers=numbers,
            periods=walk_periods,
            rates=rates,
            still=at.still,
            centred=centred,
            confidence=float(confidence),
        )


def _rated(
    periods: Periods, params: FloatArray, sigma: float | None, confidence: float
) -> tuple[Rate, tuple[float, float]]:
    """Return the walk at the estimated or fixed rate, and the interval of the rate."""
    if sigma is None:
        best = rate(periods, params)
        return best, rate_bounds(periods, best, float(stats.chi2.isf(1 - confidence, 1)) / 2)
    most = _FASTEST / math.sqrt(periods.gaps.max())
    if sigma > most:
        raise OptionError(f"sigma={sigma:g}", expected=f"at most {most:.3g} log-worths from one time to the next")
    still = walk(periods, 0.0, np.tile(params, (periods.size[0], 1)))
    return Rate(walk(periods, float(sigma), still.path), still, infinite=False), (np.nan, np.nan)


@dataclass(frozen=True, eq=False)
class _Lines:
    """Counts by period and comparison, one line each: the line's period (R,), comparison (R,) and counts (R, K)."""

    period: IntArray
    rows: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, clusters: Clustered, period: IntArray) -> _Lines:
        """Return one line for each period and comparison, with summed counts."""
        first, group = groups([period, clusters.rows])
        counts = np.zeros((len(first), clusters.counts.shape[1]))
        np.add.at(counts, group, clusters.counts)
        return cls(period[first], clusters.rows[first], counts)


def _timed(res: Estimates, time: str, periods: int | None) -> tuple[tuple[Label, ...], FloatArray, bool, _Lines]:
    """Return the periods in order, their times, whether these are numbers, and the counts by period."""
    c = res.comparisons
    names = (*c.clusters, *(column.name for column in c.columns))
    if time not in names:
        raise OptionError(
            f"time={time!r}{near(time, names)} is not a column of this table (clusters and covariates: "
            f"{listed(names) or 'none'})",
            f"Keep it when the table is made: from_judgments(…, clusters={time!r}). Then fit without clustered "
            "errors: fit(…, cov_type='nonrobust').",
        )
    way = kept_way(c, time, (time,))
    labels, period = way.levels, way.clusters.codes
    numbers = all(is_real(label) for label in labels)
    if periods is not None and not numbers:
        text = next(label for label in labels if not is_real(label))
        raise OptionError(
            f"periods={periods} of {time!r}: {text!r} is not a number",
            "Before you make the table, convert the times to numbers, such as the number of the month or week.",
        )
    positions = np.array(labels, dtype=np.float64) if numbers else np.arange(float(len(labels)))
    if numbers and not np.any(positions % 1):  # in the form that clusters have
        labels = tuple(positions.astype(np.int64).tolist())
    if periods is not None:
        labels, positions, period = _stretches(positions, period, periods)
    if len(labels) < 2:
        raise DesignError(
            f"{time!r} has one period, {labels[0]!r}, in which nothing can change", expected="two periods or more"
        )
    return labels, positions, numbers, _Lines.of(way.clusters, period)


def _stretches(positions: FloatArray, period: IntArray, number: int) -> tuple[tuple[Label, ...], FloatArray, IntArray]:
    """Return the periods of equal length with judgments: middles as labels and as numbers, and each line's period."""
    if number > _MOST_PERIODS:
        raise OptionError(f"periods={number}", expected=f"at most {_MOST_PERIODS:,} periods")
    low, length = positions[0], (positions[-1] - positions[0]) / number or 1.0
    place = np.minimum(((positions - low) / length).astype(np.int64), number - 1)
    used, stretch = np.unique(place, return_inverse=True)
    middles = low + (used + 0.5) * length
    return tuple(middles.tolist()), middles, stretch[period]


def _drifting(res: Estimates) -> tuple[IntArray, FloatArray]:
    """Return which estimated parameters belong to objects, and centred log-worths by parameter, (J, p)."""
    formula, c, design = res.specification.formula, res.comparisons, res.design
    terms = [t for t in parse(formula, vocabulary(c)).worth if any("object" in f.variables for f in t.factors)]
    plain = [term for term in terms if len(term.factors) == 1 and term.factors[0].variables == {"object"}]
    if not plain:
        raise DesignError(f"the formula {formula!r} has no worths that could drift", "Add object to it.")
    if len(terms) > 1:
        beside = next(term for term in terms if term is not plain[0])
        raise DesignError(
            f"worths of {formula!r} depend on covariates ({beside.name}), so each class would need its own path",
            "Leave that term out, or fit each class by itself: c.select(where={…}).",
        )
    named = [k for k, (term, block) in enumerate(zip(design.terms, design.blocks, strict=True))
             if block == "worth" and term == plain[0].name]  # fmt: skip
    unknown = [design.names[k] for k in named if k not in res.free]
    if unknown:
        raise DesignError(
            f"{listed(unknown)} was held or is not determined, so it has no path",
            "Fit without fixed= of objects.",
        )
    _, first = np.unique(design.worth.units["object"], return_index=True)
    rows = design.worth.matrix.toarray()[np.ix_(first, res.free)]
    columns = np.flatnonzero(np.isin(res.free, named))
    centred = np.zeros_like(rows)
    centred[:, columns] = rows[:, columns] - rows[:, columns].mean(axis=0)
    return columns, centred


def _problem(res: Estimates, lines: _Lines) -> Problem:
    """Return the fitted problem, with separate rows for the counts of each period."""
    whole = res.problem()
    some = tuple(predictor.take(lines.rows) for predictor in whole.predictors)
    return Problem(some, lines.counts, whole.offsets[:, lines.rows], whole.response)


def _judged(res: Estimates, lines: _Lines, size: int) -> FloatArray:
    """Return the number of judgments of each object in each period, (T, J)."""
    judgments = np.zeros((size, len(res.comparisons.objects)))
    for side in (0, 1):
        np.add.at(judgments, (lines.period, res.comparisons.pairs[lines.rows, side]), lines.counts.sum(axis=1))
    return judgments


def _check(res: Estimates) -> None:
    spec = res.specification
    if spec.cov_type != "nonrobust" or spec.groups:
        raise OptionError(
            f"a fit with cov_type={spec.cov_type!r}: paths take the judgments of a period as independent",
            "Fit with cov_type='nonrobust' and no groups.",
        )
    if spec.prior is not None:
        raise OptionError(
            f"a fit with prior={spec.prior!r}, but paths already have a prior, the random walk", "Fit without prior=."
        )


def _check_rate(at: Rate, time: str) -> None:
    if at.infinite:
        raise SeparationError(
            f"σ is +∞: its likelihood still rises at steps of {format_number(LARGEST, 3)} log-worths between periods "
            f"of {time!r}. Some objects win everything in one period and lose everything in another",
            "Use fewer periods=, or hold sigma=.",
        )
