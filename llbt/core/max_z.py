"""The distribution of the largest |z| over pairs of estimates: adjusted p-values and simultaneous intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import interpolate, optimize, special, stats

from .columns import FloatArray
from .largest_difference import LargestDifference
from .statistics import two_sided_p

_MANY = 2000  # p-values, above which a curve through the tail is cheaper than each computed
_LEAST = 1e-290  # of a tail that has a logarithm
_DRAWS = 20_000  # directions: the simulated quantile of max |z| is right to about .005
_NODES = 500  # means of as many draws each stand for them: another 1e-4


@dataclass(frozen=True, eq=False)
class MaxZ:
    """The distribution of max |z| over m contrasts, all of them 0.

    z is R·W·u: R the length of a normal (or t) vector of as many dimensions as the contrasts span, u its direction,
    uniform on the sphere. Only the directions are simulated; given max |W·u| the tail is exact, so that small
    probabilities are as smooth as large ones. Of more than 2,000 values it is read off a curve through 1,000.

    Attributes
    ----------
    nodes : ndarray, shape (K,)
        Equally likely values of max |W·u|, between 0 and 1.
    rank : int
        Dimensions of the contrasts.
    size : int
        Contrasts m.
    df : float
        Degrees of freedom of the common variance; infinite for the normal.
    """

    nodes: npt.NDArray[np.float64]
    rank: int
    size: int
    df: float

    def p_value(self, z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return P(max |z| ≥ |z|) for each statistic: the single-step adjusted p-values, NaN where z is.

        Held between the unadjusted and Bonferroni's p-value, where the exact one is.
        """
        found = self._tails(np.abs(z))
        alone = two_sided_p(z, self.df)
        return np.asarray(np.clip(found, alone, np.minimum(self.size * alone, 1.0)))

    def quantile(self, confidence: float) -> float:
        """Return the value that max |z| stays below with this probability."""
        if not len(self.nodes):
            return math.nan
        alone, bonferroni = stats.t.isf(np.array([1, 1 / self.size]) * (1 - confidence) / 2, self.df)
        found = optimize.brentq(lambda z: self._tail(z) - (1 - confidence), alone / 2, 2 * bonferroni)
        return float(np.clip(found, alone, bonferroni))

    def _tails(self, z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the tail at each of many values: of more than `_MANY` by a cubic through its logarithm on a grid."""
        top = float(np.nanmax(z, initial=0.0))
        if len(z) <= _MANY or not len(self.nodes) or not top:
            return np.array([self._tail(float(value)) for value in z])
        grid = np.linspace(0.0, top, _MANY // 2)
        tails = np.array([self._tail(float(value)) for value in grid])
        sure = tails > _LEAST
        cubic = interpolate.PchipInterpolator(grid[sure], np.log(tails[sure]), extrapolate=False)
        found = np.exp(cubic(z))
        beyond = np.isnan(found) & ~np.isnan(z)
        found[beyond] = 0.0  # raised to the unadjusted p-value by who asks
        return np.asarray(found)

    def _tail(self, z: float) -> float:
        if math.isnan(z) or not len(self.nodes):
            return math.nan
        squared = (z / self.nodes) ** 2
        if math.isfinite(self.df):
            return float(np.mean(special.fdtrc(self.rank, self.df, squared / self.rank)))
        return float(np.mean(special.chdtrc(self.rank, squared)))


def max_z(std_error: FloatArray, cov: FloatArray, df: float, rng: np.random.Generator) -> MaxZ:
    """Return the distribution of max |z| over differences of estimates, simulated from their correlation.

    Parameters
    ----------
    std_error : ndarray, shape (J, J)
        Standard errors of the differences of J estimates, symmetric; infinite where two are no pair.
    cov : ndarray, shape (J, J)
        Covariance of the estimates.
    df : float
        Degrees of freedom of a common variance estimate; infinite for the normal.
    rng : numpy.random.Generator

    Notes
    -----
    Memory stays below some 100 MB for 1,000 estimates.

    References
    ----------
    Hothorn, T., Bretz, F. & Westfall, P. (2008). Simultaneous inference in general parametric models. Biometrical
    Journal 50(3), 346-363. Somerville, P. N. (1998). Numerical computation of multivariate normal and multivariate-t
    probabilities over convex regions. Journal of Computational and Graphical Statistics 7(4), 529-544.
    """
    size = int(np.isfinite(std_error).sum()) // 2
    values, vectors = np.linalg.eigh(cov)
    kept = values > 1e-12 * values.max(initial=0.0)
    root = vectors[:, kept] * np.sqrt(values[kept])
    rank = root.shape[1]
    if not size or not rank:
        return MaxZ(np.empty(0), rank, size, df)
    drawn = np.sort(np.minimum(LargestDifference.of(root, std_error).drawn(_DRAWS, rng), 1.0))
    return MaxZ(drawn.reshape(_NODES, -1).mean(axis=1), rank, size, df)
