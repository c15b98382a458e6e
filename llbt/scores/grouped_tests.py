"""Means and signed ranks of instances that depend on each other within groups, arrays in and arrays out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..core.columns import FloatArray, IntArray
from ..core.statistics import ratio
from .paired_tests import cleaned, rounded_sizes


@dataclass(frozen=True, eq=False)
class Units:
    """M instances in G groups, independent of each other; without groups each instance is one.

    Attributes
    ----------
    order : ndarray of int, shape (M,)
        The instances, group by group.
    start : ndarray of int, shape (G,)
        Where each group begins in `order`.
    """

    order: IntArray
    start: IntArray

    @classmethod
    def of(cls, codes: IntArray) -> Units:
        """Return the groups of instances with codes 0 … G − 1, shape (M,)."""
        order = np.argsort(codes, kind="stable").astype(np.int64)
        sizes = np.bincount(codes)
        return cls(order, (np.cumsum(sizes) - sizes).astype(np.int64))

    @property
    def number(self) -> int:
        """How many groups there are, G."""
        return len(self.start)

    @property
    def single(self) -> bool:
        """Whether each group is one instance."""
        return len(self.start) == len(self.order)

    def sums(self, values: npt.ArrayLike) -> FloatArray:
        """Return the sums over the groups of values (P, M), shape (P, G); what is NaN counts for nothing."""
        known = np.nan_to_num(np.asarray(values, dtype=np.float64))
        return known if self.single else np.add.reduceat(known[:, self.order], self.start, axis=1)


@dataclass(frozen=True, eq=False)
class Means:
    """Means of rows of values and how sure they are, each array of shape (P,).

    Attributes
    ----------
    mean, std_error : ndarray
        The error is NaN for fewer than two groups, and 0 where values vary by no more than rounding.
    df : ndarray
        Groups with a value, less 1.
    """

    mean: FloatArray
    std_error: FloatArray
    df: FloatArray


def means(values: FloatArray, units: Units, scale: FloatArray) -> Means:
    """Return means of values (P, M) with standard errors by groups.

    The error is √(G/(G − 1) Σ_g (Σ_(m in g) (x_m − x̄))²)/n, with the G groups that have a value: s/√n where every group
    is one instance.

    Parameters
    ----------
    values : ndarray, shape (P, M)
        NaN where there is none.
    units : Units
    scale : ndarray, shape (P,)
        The size of the numbers that the values were made of: what is below their rounding is 0.

    References
    ----------
    Miller, E. (2024). Adding error bars to evals: a statistical approach to language model evaluations.
    arXiv:2411.00640.
    """
    there = ~np.isnan(values)
    n = there.sum(axis=1).astype(np.float64)
    mean = ratio(np.nansum(values, axis=1), n)
    squares = (units.sums(values - mean[:, None]) ** 2).sum(axis=1)
    number = np.count_nonzero(units.sums(there), axis=1).astype(np.float64)
    spread = cleaned(np.sqrt(ratio(squares, n) * ratio(number, number - 1)), scale)
    return Means(cleaned(mean, scale), ratio(spread, np.sqrt(n)), number - 1)


def t_p(found: Means) -> tuple[FloatArray, FloatArray]:
    """Return t and its two-sided p-value, each (P,); NaN for values that do not vary, and for fewer than two groups."""
    statistic = ratio(found.mean, found.std_error)
    p_value = 2 * stats.t.sf(np.abs(statistic), np.where(found.df > 0, found.df, np.nan))
    return statistic, np.asarray(p_value)


def signed_ranks(difference: FloatArray, zero: npt.NDArray[np.bool_], scale: FloatArray) -> FloatArray:
    """Return the ranks of absolute differences (P, M) with the signs of these, 0 for those that are `zero` or NaN.

    Equal ones have their average rank.
    """
    sizes = rounded_sizes(difference, zero, scale)
    ranks = stats.rankdata(np.where(sizes > 0, sizes, np.nan), axis=1, nan_policy="omit")
    return np.asarray(np.nan_to_num(ranks) * np.sign(np.nan_to_num(difference)))
