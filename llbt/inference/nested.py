"""Tests of two nested models: this module alone chooses the reference distribution of a statistic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import linalg, stats

from ..base.table import format_number
from ..core.columns import FloatArray
from ..core.statistics import chi2_p_value
from ..errors import DesignError, OptionError
from ..fitting.clusters import clustered
from ..fitting.estimates import Estimates
from ..fitting.hypotheses import few_for_hotelling
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.variance_components import NOISE, likelihood_ratio, mixture_p_value, mixture_text
from ..kernel.cluster_tests import FlipTest, flip_test, hotelling_p
from ..kernel.likelihood import information, probabilities, score, weighted_gram
from ..resampling import Resampler, p_value
from .mixed_tables import drawn_table
from .nesting import side_by_side
from .refit import refit_data
from .tested_models import TestedModel

Test = Literal["chi2", "F", "wald", "score", "cluster"]

FEW = 15  # with fewer judgments per parameter the likelihood ratio is too far from χ²
_SAME = 1e-6  # accuracy of a log-likelihood at which searches end
_REFITS = 10  # tables drawn in one block, so that the progress bar moves


@dataclass(frozen=True)
class Compared:
    """A test of the smaller of two nested models against the larger.

    Attributes
    ----------
    df : int
    statistic : float
        The statistic; NaN, like the p-value, if the larger model has no more parameters.
    p_value : float
    df_denom : float
        Denominator df of an F statistic; NaN for χ².
    flips : FlipTest or None
        The test by flips of clusters' scores, if it was used.
    notes : tuple of str
        Notes on the reference distribution, and notes that qualify the statistic.
    """

    df: int
    statistic: float = math.nan
    p_value: float = math.nan
    df_denom: float = math.nan
    flips: FlipTest | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Reference:
    """The test to make, and the number of tables that are drawn from the smaller model.

    `scaled_by` is the fit with the dispersion of F and with the clusters to flip; by default the larger fit.
    """

    test: Test
    n: int = 0
    draw: Resampler | None = None
    scaled_by: PlainEstimates | None = None


def nested(small: TestedModel, large: TestedModel, by: Reference) -> Compared:
    """Test a model against a larger one in which it is nested.

    The likelihood ratio is compared with χ². With one additional standard deviation, which cannot be below 0, the
    distribution is a mixture of two χ². With several the distribution is unknown, and tables drawn from the smaller
    model simulate it. The other tests need models of comparisons without effects; Wald's test also works for models
    without a likelihood.
    """
    df = large.n_params - small.n_params
    scaled_by = by.scaled_by or large.base
    if df == 0:
        return Compared(df)
    if by.test == "F":
        return _f_test(df, (small.deviance - large.deviance) / df / dispersion(scaled_by), scaled_by.df_resid)
    if by.test == "cluster":
        return _flipped(small.base, large.base, scaled_by)
    if by.test == "wald":
        return _wald(small.base, large)
    if by.test == "score":
        return _score(small.base, large.base)
    ratio = _ratio(small, large)
    if by.n and by.draw is not None:
        return Compared(df, ratio, _simulated(small.fit, large.fit, ratio, by.n, by.draw), notes=_noise(small, large))
    return _likelihood_ratio(small, large, ratio)


def _ratio(small: TestedModel, large: TestedModel) -> float:
    """Return the decrease of the deviance or, for models without one, twice the difference of log-likelihoods."""
    fall = small.deviance - large.deviance
    return likelihood_ratio(large.fit.llf, small.fit.llf) if math.isnan(fall) else fall


def _likelihood_ratio(small: TestedModel, large: TestedModel, ratio: float) -> Compared:
    """Compare the ratio with χ², or with a mixture for a standard deviation that is 0 in the smaller model."""
    df, (scales, equal) = large.n_params - small.n_params, large.scales_beside(small)
    if not scales:
        p = chi2_p_value(ratio, df)
        note = f"{large.formula}: all levels have the same σ in the smaller fit" if equal else ""
    elif scales > 1:
        p = math.nan
        note = (
            f"NA: {large.formula}: the mixture of χ² for {scales} standard deviations at once is not known; "
            "anova(…, n=199) draws tables from the smaller fit"
        )
    else:
        p = mixture_p_value(ratio, df - scales, boundary=scales)
        note = f"{large.formula}: p from {mixture_text(df - scales)}, because σ cannot be below 0"
    notes = [*_noise(small, large), *([note] if note else [])]
    if small.at_zero and (scales or equal):
        notes.append(f"{large.formula}: p-value too large (σ = 0 in the smaller fit); n=199 simulates tables")
    return Compared(df, ratio, p, notes=tuple(notes))


def _noise(small: TestedModel, large: TestedModel) -> tuple[str, ...]:
    """Return a note on how far the statistic may be off, by chance or because a maximum was not found."""
    notes, noise = [], 2 * math.hypot(small.noise, large.noise)
    if noise > NOISE:
        notes.append(f"{large.formula}: the statistic has a Monte Carlo error of {format_number(noise, 2)}")
    elif not large.shrunk and large.fit.llf < small.fit.llf - _SAME * max(1.0, abs(small.fit.llf)):
        notes.append(
            f"{large.formula} is less likely than its special case {small.formula}: its maximum was not found, so the "
            "statistic is not valid"
        )
    return tuple(notes)


# -- tables drawn from the smaller fit -----------------------------------------------------------------------


def _simulated(small: Any, large: Any, ratio: float, n: int, draw: Resampler) -> float:
    ratios = draw.blocks(partial(_ratios, small, large), n, small.comparisons.counts.size, _REFITS)
    return p_value(np.concatenate(ratios), ratio)


def _ratios(small: Any, large: Any, n: int, rng: np.random.Generator) -> FloatArray:
    """Return the likelihood ratios of n tables drawn from the smaller fit; NaN if a fit has no maximum."""
    ratios = np.full(n, np.nan)
    for b in range(n):
        table = drawn_table(small, rng)
        try:
            ratios[b] = likelihood_ratio(refit_data(large, table).llf, refit_data(small, table).llf)
        except DesignError:
            continue
    return ratios


# -- tests of fits of comparisons ----------------------------------------------------------------------------


def chosen_test(test: Test | None, res: Estimates) -> Test:
    """Return the requested test of nested fits, by default the one that suits the covariance of a fit.

    Raises
    ------
    OptionError
        For flips of clusters if the fit has no clusters, or two-way clustering.
    """
    spec = res.specification
    if test is None:
        return default_test(res)
    if test == "cluster" and len(spec.groups) != 1:
        dependence = f"clusters by {' and '.join(spec.groups)}" if spec.groups else "judgments that are independent"
        raise OptionError(
            f"test='cluster', but {spec.formula!r} was fitted with {dependence}",
            expected="one way of clustering: fit(…, cov_type='cluster', groups='judge')",
        )
    return test


def default_test(res: Estimates) -> Test:
    """Return the test that suits the covariance of a fit."""
    spec = res.specification
    if spec.groups:
        return "cluster" if len(spec.groups) == 1 else "wald"
    if spec.cov_type == "HC0":
        return "wald"
    if spec.cov_type == "quasi":
        return "F"
    return "score" if few_judgments(res) else "chi2"


def few_judgments(res: Estimates) -> bool:
    """Return whether a fit has so few judgments per parameter that only the score test keeps its level."""
    return too_few(res.comparisons.n_judgments, len(res.free))


def too_few(judgments: float, parameters: int) -> bool:
    """Return whether there are too few judgments for the likelihood ratio of so many parameters."""
    return bool(judgments < FEW * parameters)


def dispersion(res: PlainEstimates) -> float:
    """Return Pearson's X² divided by the residual df.

    Raises
    ------
    DesignError
        For a saturated model.
    """
    if res.df_resid == 0:
        raise DesignError(
            f"test='F': {res.specification.formula!r} is saturated, so there is no dispersion to estimate",
            "Use test='chi2'.",
        )
    return res.pearson_chi2 / res.df_resid


def _f_test(df: int, statistic: float, df_denom: float) -> Compared:
    return Compared(df, statistic, float(stats.f.sf(statistic, df, df_denom)), df_denom)


def _wald(small: Estimates, model: TestedModel) -> Compared:
    large = model.base
    contrasts, point = _reduction(small, large)
    cov = contrasts @ large.covariance.matrix @ contrasts.T
    df, rank = len(cov), int(np.linalg.matrix_rank(cov))
    if rank < df or (model.clustered and not large.df_inference + 1 > df):
        raise few_for_hotelling(df, large.df_inference + 1, large.specification.groups)
    if large.covariance.unknown(contrasts).any():  # a single cluster informs some of the contrasts
        return Compared(df)
    statistic = _squared_length(contrasts @ (large.solution.params - point), cov)
    if math.isinf(large.df_inference):
        return Compared(df, statistic, chi2_p_value(statistic, df))
    if not model.clustered:
        return _f_test(df, statistic / df, large.df_inference)
    value, df_denom, p_value = hotelling_p(statistic, df, large.df_inference)
    return Compared(df, value, p_value, df_denom)


def _flipped(small: PlainEstimates, large: PlainEstimates, scaled_by: PlainEstimates) -> Compared:
    contrasts, point = _reduction(small, large)
    if large.covariance.unknown(contrasts).any():
        return Compared(len(contrasts))
    problem = large.problem()
    restricted = replace(large.solution, params=point, means=problem.totals[:, None] * probabilities(problem, point))
    (name,) = scaled_by.specification.groups
    flips = flip_test(problem, restricted, clustered(scaled_by.comparisons, name, (name,)), contrasts)
    return Compared(flips.df, flips.statistic, flips.p_value, flips=flips)


def _score(small: PlainEstimates, large: PlainEstimates) -> Compared:
    contrasts, point = _reduction(small, large)
    problem = large.problem()
    probability = probabilities(problem, point)
    factor = linalg.cho_factor(information(problem, probability, problem.totals))
    step, spread = linalg.cho_solve(factor, score(problem, probability)), linalg.cho_solve(factor, contrasts.T)
    statistic = _squared_length(contrasts @ step, contrasts @ spread)
    return Compared(len(contrasts), statistic, chi2_p_value(statistic, len(contrasts)))


def _squared_length(difference: FloatArray, cov: FloatArray) -> float:
    return float(difference @ linalg.solve(cov, difference, assume_a="pos"))


def _reduction(small: Estimates, large: Estimates) -> tuple[FloatArray, FloatArray]:
    """Return how a model reduces to a smaller one: R (q, p) and β₀ (p,) of the hypothesis R(β − β₀) = 0.

    β₀ are the smaller fit's estimates, expressed in the parameters of the larger model. The larger model's predictors
    span those of the smaller model and the offsets of held parameters, so the projection loses nothing.
    """
    both = side_by_side(large.problem(), small.problem())
    p, width = len(large.free), both.response.width
    gram = weighted_gram(both, np.broadcast_to(np.eye(width)[:, :, None], (width, *both.offsets.shape)))
    length = np.sqrt(np.diag(gram))
    length[length == 0] = 1
    gram = gram / np.outer(length, length)
    basis = linalg.solve(gram[:p, :p], gram[:p, p:], assume_a="pos")
    point = basis @ (length[p:] * np.append(small.solution.params, 1.0)) / length[:p]
    complement = np.linalg.qr(basis[:, :-1], mode="complete")[0][:, len(small.free) :]
    return complement.T * length[:p], point
