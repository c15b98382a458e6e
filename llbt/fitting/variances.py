"""What is known of the standard deviations of effects: tests, intervals, and the share of variance between judges."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from ..core.columns import FloatArray
from ..core.links import Link
from ..core.statistics import TestResult
from ..kernel.effects import Groups
from ..kernel.likelihood import Problem
from ..kernel.mixed import MixedFit
from ..kernel.mixed_profile import profile_scale
from ..table import format_number

_NOISE = 0.2  # of a χ², above which a test says so


def share_between(sigma: float, link: Link) -> float:
    """Return the share of the variance of a pair's latent log-odds that is between judges.

    The log-odds 2(λᵢ − λⱼ) of a judge vary by 8σ², a logistic judgment by π²/3, a normal one by 1.
    """
    between = 8 * sigma**2
    return between / (between + (1.0 if link == "probit" else math.pi**2 / 3))


def boundary_test(llf: float, without: float, name: str, noise: float) -> TestResult:
    """Return the likelihood ratio of one standard deviation against 0, on ½χ²₀ + ½χ²₁; `noise` is the error of llf."""
    statistic = max(0.0, 2 * (llf - without))
    p_value = 0.5 * float(stats.chi2.sf(statistic, 1)) if statistic > 0 else 1.0
    noisy = f"the statistic has a Monte Carlo error of {format_number(2 * noise, 2)}"
    notes = (noisy,) if 2 * noise > _NOISE else ()
    return TestResult(
        name=f"Likelihood-ratio test of effects {name}",
        null="σ = 0: judges do not differ",
        statistic=statistic,
        df=1,
        p_value=p_value,
        distribution="½χ²₀ + ½χ²₁",
        notes=notes,
    )


def scale_intervals(problem: Problem, bundles: Sequence[Groups], found: MixedFit, confidence: float) -> FloatArray:
    """Return where the profile likelihood of each standard deviation falls by half the χ²(1) quantile, shape (E, 2)."""
    drop = float(stats.chi2.isf(1 - confidence, 1)) / 2
    bounds = [profile_scale(problem, bundles, found, e, drop) for e in range(len(found.scales))]
    return np.array(bounds)
