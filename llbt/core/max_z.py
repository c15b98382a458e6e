"""The distribution of the largest |z| over pairs of estimates: adjusted p-values and simultaneous intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import interpolate, linalg, optimize, special, stats

from .columns import FloatArray
from .largest_difference import LargestDifference
from .statistics import two_sided_p

_MANY = 2000  # with more p-values, a curve through the tail is cheaper than computing each
_LEAST = 1e-290  # smallest tail probability whose logarithm is used
_DRAWS = 20_000  # random directions: the simulated quantile of max |z| is exact to about .005
_FEW = 300  # with more estimates, draws times estimates stay constant
_LEAST_DRAWS = 4_000  # least draws, exact to about .017 (2,000 estimates, eight seeds)
_SINGULAR = 1e-10  # a variance given the others is 0 below this share of it
_SCALES, _REMOTE = 200, 1e-16  # number of scales at which t is normal, and the probability of the scales left out
_NODES = 500  # each node is the mean of equally many draws, which adds an error of 1e-4
_CELLS = 5_000_000  # contrasts × draws in memory at once


@dataclass(frozen=True, eq=False)
class MaxZ:
    """The distribution of max |z| over m contrasts that are all 0.

    z is R·W·u. The rows of W are the contrasts, scaled to variance 1. R is the length of a normal (or t) vector with as
    many dimensions as the contrasts span, and u is its direction, uniform on the sphere. Only the directions are
    simulated; given max |W·u| the tail probability is exact.

    In the far tail, hardly any simulated direction is near the direction of a contrast. The simulated tail probability
    is then too small: several times too small with 30 or more estimates. There Bonferroni's bound b = m·p is nearly
    exact. So the tail probability is at least b/(1 + 2b^⅓ + 100b), which is below .01 for any b; for t, this bound is
    averaged over the estimated variance. For more than 2,000 values, both are interpolated from 1,000 values.

    Attributes
    ----------
    nodes : ndarray, shape (K,)
        Equally likely values of max |W·u|, between 0 and 1.
    rank : int
        The number of dimensions that the contrasts span.
    size : int
        The number of contrasts m.
    df : float
        Degrees of freedom of the common variance; infinite for the normal.
    """

    nodes: npt.NDArray[np.float64]
    rank: int
    size: int
    df: float

    def p_value(self, z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return P(max |z| ≥ |z|) for each statistic: single-step adjusted p-values; NaN if z is NaN.

        The value is kept between the unadjusted and Bonferroni's p-value, because the exact p-value lies there.
        """
        alone = two_sided_p(z, self.df)
        bonferroni = self.size * alone
        p_values = np.maximum(self._each(self._tail, np.abs(z)), self._each(self._far_out, np.abs(z)))
        return np.asarray(np.clip(p_values, alone, np.minimum(bonferroni, 1.0)))

    def quantile(self, confidence: float) -> float:
        """Return the value that max |z| does not exceed with this probability."""
        if not len(self.nodes):
            return math.nan
        alone, bonferroni = stats.t.isf(np.array([1, 1 / self.size]) * (1 - confidence) / 2, self.df)
        quantile = optimize.brentq(
            lambda z: float(self.p_value(np.array([z]))[0]) - (1 - confidence), alone / 2, 2 * bonferroni
        )
        return float(np.clip(quantile, alone, bonferroni))

    def _each(self, tail: Callable[[float], float], z: FloatArray) -> FloatArray:
        """Return a tail probability at each value; for many values, a cubic interpolates its logarithm on a grid."""
        top = float(np.nanmax(z, initial=0.0))
        if len(z) <= _MANY or not len(self.nodes) or not top:
            return np.array([tail(float(value)) for value in z])
        grid = np.linspace(0.0, top, _MANY // 2)
        tails = np.array([tail(float(value)) for value in grid])
        sure = tails > _LEAST
        cubic = interpolate.PchipInterpolator(grid[sure], np.log(tails[sure]), extrapolate=False)
        values = np.exp(cubic(z))
        beyond = np.isnan(values) & ~np.isnan(z)
        values[beyond] = 0.0  # the caller raises it to the unadjusted p-value
        return np.asarray(values)

    def _tail(self, z: float) -> float:
        if math.isnan(z) or not len(self.nodes):
            return math.nan
        squared = (z / self.nodes) ** 2
        if math.isfinite(self.df):
            return float(np.mean(special.fdtrc(self.rank, self.df, squared / self.rank)))
        return float(np.mean(special.chdtrc(self.rank, squared)))

    def _far_out(self, z: float) -> float:
        """Return a lower bound of the tail probability, near Bonferroni's bound if that is small.

        The constants suit all pairs of 3 to 1,000 estimates of equal variance. The bound rises with the number of
        contrasts, so more contrasts never have a smaller p-value.
        """
        scale, weight = self._scales
        b = self.size * 2 * special.ndtr(-z * scale)
        return float(weight @ (b / (1 + 2 * np.cbrt(b) + 100 * b)))

    @cached_property
    def _scales(self) -> tuple[FloatArray, FloatArray]:
        """Ratios of estimated to true standard deviation, with probabilities; given the ratio, t is normal."""
        if not math.isfinite(self.df):
            return np.ones(1), np.ones(1)
        chi = stats.chi(self.df, scale=1 / math.sqrt(self.df))
        scale = np.linspace(chi.ppf(_REMOTE), chi.isf(_REMOTE), _SCALES)
        weight = chi.pdf(scale)
        return scale, weight / weight.sum()


def max_z(std_error: FloatArray, cov: FloatArray, df: float, rng: np.random.Generator) -> MaxZ:
    """Return the distribution of max |z| over differences of estimates, simulated from their correlation.

    Parameters
    ----------
    std_error : ndarray, shape (J, J)
        Standard errors of the differences of J estimates, symmetric; infinite if two estimates are not a pair.
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
    root = _root_of_many(std_error, cov) if len(cov) > _FEW else None
    root = _root(cov) if root is None else root
    rank = root.shape[1]
    if not size or not rank:
        return MaxZ(np.empty(0), rank, size, df)
    drawn = np.sort(np.minimum(LargestDifference.of(root, std_error).drawn(draws_of(len(cov)), rng), 1.0))
    return MaxZ(drawn.reshape(_NODES, -1).mean(axis=1), rank, size, df)


def draws_of(size: int) -> int:
    """Return the number of directions that are drawn for the pairs of `size` estimates, a multiple of the nodes."""
    if size <= _FEW:
        return _DRAWS
    return max(_LEAST_DRAWS, _FEW * _DRAWS // size) // _NODES * _NODES


def _root(cov: FloatArray) -> FloatArray:
    """Return R with RRᵀ equal to the covariance, shape (J, rank), by its eigenvalues."""
    values, vectors = np.linalg.eigh(cov)
    positive = values > 1e-12 * values.max(initial=0.0)
    return np.asarray(vectors[:, positive] * np.sqrt(values[positive]))


def _root_of_many(std_error: FloatArray, cov: FloatArray) -> FloatArray | None:
    """Return R with RRᵀ equal to the covariance of the estimates minus one of them.

    It uses Cholesky's factor, which takes a fifth of the time of eigenvalues. None if some differences have (almost) no
    variance.
    """
    paired = np.flatnonzero(np.isfinite(std_error).any(axis=1))
    if len(paired) < 2:
        return None
    some = cov if len(paired) == len(cov) else cov[np.ix_(paired, paired)]
    root = np.empty((len(paired), len(paired) - 1))
    root[-1] = 0.0
    against = root[:-1]  # changed in place; the transpose has the layout that LAPACK needs
    np.subtract(some[:-1, :-1], (some[:-1, -1] - some[-1, -1])[:, None], out=against)
    against -= some[-1, :-1]
    variance = np.diag(against).copy()
    try:
        against[...] = linalg.cholesky(against.T, lower=False, overwrite_a=True, check_finite=False).T
    except linalg.LinAlgError:
        return None
    if (np.diag(against) ** 2 <= _SINGULAR * variance).any():
        return None
    if len(paired) == len(cov):
        return root
    whole = np.zeros((len(cov), len(paired) - 1))
    whole[paired] = root
    return whole


def max_z_of(root: FloatArray, df: float, rng: np.random.Generator) -> MaxZ:
    """Return the distribution of max |z| over any m contrasts, simulated from their joint distribution.

    Parameters
    ----------
    root : ndarray, shape (m, d)
        Contrasts with variance 1 are root·z, where z is standard normal. Rows with another variance are scaled to 1;
        rows of zeros or NaN are left out.
    df : float
        Degrees of freedom of a common variance estimate; infinite for the normal.
    rng : numpy.random.Generator
    """
    lengths = np.linalg.norm(root, axis=1)
    nonzero = np.flatnonzero(lengths > 0)  # False for NaN
    if not nonzero.size:
        return MaxZ(np.empty(0), 0, 0, df)
    _, singular, directions = np.linalg.svd(root[nonzero] / lengths[nonzero, None], full_matrices=False)
    rank = int((singular > 1e-9 * singular[0]).sum())
    unit = (root[nonzero] / lengths[nonzero, None]) @ directions[:rank].T
    drawn = np.empty(_DRAWS)
    block = max(1, _CELLS // len(nonzero))
    for start in range(0, _DRAWS, block):
        normal = rng.standard_normal((rank, min(block, _DRAWS - start)))
        normal /= np.linalg.norm(normal, axis=0)
        drawn[start : start + normal.shape[1]] = np.abs(unit @ normal).max(axis=0)
    drawn = np.sort(np.minimum(drawn, 1.0))
    return MaxZ(drawn.reshape(_NODES, -1).mean(axis=1), rank, len(nonzero), df)
