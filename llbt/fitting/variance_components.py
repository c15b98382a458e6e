"""Standard deviations of random effects: tests, intervals, and the share of variance between judges."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from ..base.table import format_number
from ..core.columns import FloatArray
from ..core.links import Link
from ..core.statistics import TestResult
from ..kernel.mixed import MarginalLikelihood, MixedFit
from ..kernel.mixed_profile import profile_scale

NOISE = 0.2  # Monte Carlo error of a χ² from which a note mentions it
_ROUNDING = 1e-10  # relative rounding error of a log-likelihood


def share_between(sigma: float, others: float, link: Link) -> float:
    """Return the share of the variance of a pair's latent log-odds that is between judges.

    The log-odds 2(λᵢ − λⱼ) have the variance 8σ² between judges; `others` is the sum of σ² of crossed groupings, such
    as prompts. A logistic judgment has the variance π²/3, a normal judgment 1.
    """
    between = 8 * sigma**2
    return between / (between + 8 * others + (1.0 if link == "probit" else math.pi**2 / 3))


def effect_df(variance: FloatArray, sigma: float, log_variance: float) -> FloatArray:
    """Return the degrees of freedom of t for predicted effects with these variances, in the same shape.

    They follow Satterthwaite's formula. A judge's variance is the inverse of σ⁻² plus the judge's own information, and
    its derivative enters the formula. The more judgments a judge makes, the less σ matters for that judge's estimate.

    Parameters
    ----------
    variance : ndarray
    sigma : float
    log_variance : float
        The variance of log σ.
    """
    below = 2 * (variance / sigma**2 if sigma > 0 else np.zeros_like(variance)) ** 2 * log_variance
    return np.asarray(np.maximum(np.divide(1.0, below, out=np.full(variance.shape, np.inf), where=below > 0), 1.0))


def boundary_test(llf: float, without: float, name: str, noise: float, *, others_at_zero: bool = False) -> TestResult:
    """Test one standard deviation against 0 by the likelihood ratio, on ½χ²₀ + ½χ²₁; `noise` is the error of llf."""
    statistic = likelihood_ratio(llf, without)
    p_value = mixture_p_value(statistic, 0, boundary=1)
    noisy = f"the statistic has a Monte Carlo error of {format_number(2 * noise, 2)}"
    notes = (
        *((noisy,) if 2 * noise > NOISE else ()),
        *(("another σ is 0, which makes the p-value too large",) if others_at_zero else ()),
    )
    return TestResult(
        name=f"Likelihood-ratio test of effects {name}",
        null="σ = 0: judges do not differ",
        statistic=statistic,
        df=1,
        p_value=p_value,
        distribution=mixture_text(0),
        notes=notes,
    )


def likelihood_ratio(large: float, small: float) -> float:
    """Return 2(large − small), or 0 if the log-likelihoods differ only by rounding, as at σ = 0."""
    ratio = 2 * (large - small)
    return ratio if ratio > _ROUNDING * (1 + abs(small)) else 0.0


def mixture_p_value(statistic: float, further: int, *, boundary: int) -> float:
    """Return the p-value of a likelihood ratio with `further` parameters and 0 or 1 at the `boundary`.

    With one parameter at the boundary the distribution is ½χ²_q + ½χ²_{q+1}; χ²₀ is 0.
    """

    def tail(df: int) -> float:
        return float(stats.chi2.sf(statistic, df)) if df else float(statistic <= 0)

    return (tail(further) + tail(further + boundary)) / 2


def mixture_text(further: int) -> str:
    """Return in words the distribution of a likelihood ratio with `further` parameters and one standard deviation."""
    digits = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return " + ".join("½χ²" + str(df).translate(digits) for df in (further, further + 1))


def scale_intervals(
    likelihood_of: Callable[[int | None], MarginalLikelihood], maximum: MixedFit, confidence: float
) -> FloatArray:
    """Return where each σ's profile likelihood has fallen by half the χ²(1) quantile, shape (E, 2)."""
    drop = float(stats.chi2.isf(1 - confidence, 1)) / 2
    bounds = [profile_scale(likelihood_of, maximum, e, drop) for e in range(len(maximum.scales))]
    return np.array(bounds)
