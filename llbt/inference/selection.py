"""Correct for selecting the largest of several estimates: which objects may be the best, and how good the first is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from ..core.columns import FloatArray, IntArray
from ..core.max_z import MaxZ, max_z, max_z_of
from .log_worths import KNOWN
from .simultaneous import root_of

_DRAWS = 20_000  # draws; the simulated p-value of .05 is exact to about .0015
MOST_SIMULATED = 300  # up to so many objects get all draws
_CELLS, _LEAST_DRAWS = 6_000_000, 4_000  # with more objects: draws × objects, and least draws
_BLOCK = 256  # draws at a time, which fit into the processor's cache
_SURELY_NOT = 1e-3  # below this p-value by Bonferroni's bound, nothing is simulated
_TIED = 0.25  # estimates closer than so many standard errors are treated as that far apart
_FLAT = 1e-12  # a smaller slope is rounding
_SHARE = 0.1  # share of α that the hybrid interval spends on the simultaneous one (Andrews, Kitagawa & McCloskey 2024)


@dataclass(frozen=True)
class Corrected:
    """An estimate that was selected as the largest, with and without the correction (log-worth).

    Attributes
    ----------
    estimate, std_error : float
        The uncorrected estimate, which is too large on average, and its standard error.
    corrected : float
        The corrected, median-unbiased estimate.
    conf_low, conf_high : float
    """

    estimate: float
    std_error: float
    corrected: float
    conf_low: float
    conf_high: float


def candidate_p(
    z: FloatArray, error: FloatArray, df: float, root: FloatArray, rng: np.random.Generator, of: IntArray
) -> FloatArray:
    """Return for each object in `of` the p-value of the hypothesis that it is the best, (J,); 0 for other objects.

    The p-values are adjusted for the comparisons with all other objects.

    Parameters
    ----------
    z : ndarray, shape (J, J)
        The statistic of j over i in row i and column j; −∞ if there is none.
    error : ndarray, shape (J, J)
        Standard errors of the differences; ∞ if there is none.
    df : float
        Degrees of freedom of all statistics.
    root : ndarray, shape (J, K)
        Rows whose products are the covariance of the estimates.
    rng : numpy.random.Generator
    of : ndarray of int
        The objects whose p-values are computed.
    """
    size, largest = len(root), z.max(axis=1)
    draws = _DRAWS if size <= MOST_SIMULATED else max(_LEAST_DRAWS, _CELLS // size)
    drawn = root @ rng.standard_normal((root.shape[1], draws))
    if np.isfinite(df):
        drawn /= np.sqrt(rng.chisquare(df, draws) / df)
    alone = stats.t.sf(largest, df)
    bound = np.minimum(1.0, (size - 1) * alone)
    p_values = np.zeros(size)
    p_values[of] = np.where(np.isfinite(largest[of]), bound[of], 1.0)
    asked = of[np.isfinite(largest[of]) & (bound[of] >= _SURELY_NOT)]
    reached, inverse = np.zeros(size), 1 / error
    for start in range(0, draws, _BLOCK):
        part = np.ascontiguousarray(drawn[:, start : start + _BLOCK])
        for k in asked:  # over objects, each against all draws of a block
            reached[k] += np.count_nonzero(((part - part[k]) * inverse[k, :, None]).max(axis=0) >= largest[k])
    p_values[asked] = np.clip(reached[asked] / draws, alone[asked], bound[asked])
    return p_values


def winner(
    estimate: FloatArray, cov: FloatArray, centre: FloatArray, confidence: float, rng: np.random.Generator
) -> Corrected:
    """Return the largest of J estimates, corrected for selection, with the hybrid interval. Estimates must be sorted.

    Parameters
    ----------
    estimate, cov : ndarray, shapes (J,) and (J, J)
    centre : ndarray, shape (J, J)
        The combinations of the estimates to return: the identity, or the identity minus 1/J for centred estimates.
    confidence : float
    rng : numpy.random.Generator
    """
    size = len(estimate)
    order = np.arange(1, size)
    ahead = np.zeros((size - 1, size))
    ahead[order - 1, order], ahead[:, 0] = 1.0, -1.0
    return _hybrid(
        _conditional(estimate, cov, centre[0], ahead), max_z_of(centre @ root_of(cov), np.inf, rng), confidence
    )


def lead(estimate: FloatArray, cov: FloatArray, confidence: float, rng: np.random.Generator) -> Corrected:
    """Return the lead of the largest of J sorted estimates over the second largest, corrected as in `winner`.

    Parameters
    ----------
    estimate, cov : ndarray, shapes (J,) and (J, J)
    confidence : float
    rng : numpy.random.Generator
    """
    size, variance = len(estimate), np.diag(cov)
    of = np.zeros(size)
    of[:2] = 1.0, -1.0
    ahead = np.zeros((size - 1, size))  # the second is behind the first, and all others are behind the second
    ahead[0, :2] = -1.0, 1.0
    ahead[np.arange(1, size - 1), np.arange(2, size)], ahead[1:, 1] = 1.0, -1.0
    squared = variance[:, None] + variance - 2 * cov
    error = np.sqrt(np.where(squared > KNOWN * variance.max(), squared, np.inf))
    return _hybrid(_conditional(estimate, cov, of, ahead), max_z(error, cov, np.inf, rng), confidence)


def _hybrid(selection: _Conditional, largest: MaxZ, confidence: float) -> Corrected:
    """Return the hybrid estimate and interval of a selected contrast.

    `largest` is the distribution of max |z| over the contrasts from which it was selected.
    """
    alpha = 1 - confidence
    reach = largest.quantile(1 - _SHARE * alpha) * selection.error
    level = (1 - _SHARE) * alpha / (1 - _SHARE * alpha)
    low, middle, high = (selection.mean_at(share, reach) for share in (1 - level / 2, 0.5, level / 2))
    return Corrected(selection.at, selection.error, middle, low, high)


@dataclass(frozen=True)
class _Conditional:
    """A normal estimate that was selected: it lies between two bounds (Lee, Sun, Sun & Taylor 2016)."""

    at: float
    error: float
    low: float
    high: float

    def mean_at(self, share: float, reach: float) -> float:
        """Return the mean for which the estimate is the quantile `share`, at most `reach` away from the estimate."""

        def apart(mean: float) -> float:
            bounds = max(self.low, mean - reach), min(self.high, mean + reach)
            return _share_below(self.at, mean, self.error, *bounds) - share

        ends = self.at - reach, self.at + reach
        if apart(ends[0]) <= 0:
            return ends[0]
        if apart(ends[1]) >= 0:
            return ends[1]
        return float(optimize.brentq(apart, *ends, xtol=1e-7 * self.error))


def _conditional(estimate: FloatArray, cov: FloatArray, of: FloatArray, ahead: FloatArray) -> _Conditional:
    """Return the combination `of` of estimates, given that the combinations `ahead` of them are at most 0.

    The bounds are at least a quarter of a standard error away. Nearer bounds, which nearly equal estimates have, would
    make the interval narrow or a single point, so it would cover too rarely (see `best`).
    """
    variance = float(of @ cov @ of)
    at, along = float(of @ estimate), cov @ of / variance
    slope, rest = ahead @ along, ahead @ (estimate - along * at)
    low = max((-rest[slope < -_FLAT] / slope[slope < -_FLAT]).tolist(), default=-np.inf)
    high = min((-rest[slope > _FLAT] / slope[slope > _FLAT]).tolist(), default=np.inf)
    tied = _TIED * variance**0.5
    return _Conditional(at, variance**0.5, min(low, at - tied), max(high, at + tied))


def _share_below(x: float, mean: float, error: float, low: float, high: float) -> float:
    """Return P(X ≤ x) of a normal variable between two bounds; far tails are computed as logarithms."""
    a, b, c = ((value - mean) / error for value in (low, x, high))
    if a > 0:  # from the other side, where tails are small
        a, b, c = -c, -b, -a
        return 1 - _between(a, b, c)
    return _between(a, b, c)


def _between(a: float, b: float, c: float) -> float:
    """Return (Φ(b) − Φ(a))/(Φ(c) − Φ(a)) for a ≤ b ≤ c."""
    if b <= a or c <= a:
        return 0.0 if b <= a < c else 1.0
    log_a, log_b, log_c = special.log_ndtr([a, b, c])
    with np.errstate(divide="ignore"):
        above, whole = log_b + np.log1p(-np.exp(log_a - log_b)), log_c + np.log1p(-np.exp(log_a - log_c))
    return float(np.exp(above - whole)) if np.isfinite(whole) else (b - a) / (c - a)
