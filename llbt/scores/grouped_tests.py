"""Means and signed ranks of instances that depend on each other within groups, arrays in and arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..core.columns import FloatArray, IntArray
from ..core.statistics import ratio
from .paired_tests import cleaned, lengths, rounded_sizes

_MOST_VALUES = 2**18  # values at a time: they stay in the processor's cache
_COLUMNS = 2**12  # instances multiplied at a time
_FEWEST = 2 - 1e-9  # groups of equal size below which nothing is known of how groups differ


@dataclass(frozen=True, eq=False)
class Units:
    """M instances in G independent groups; without groups, each instance is its own group.

    Attributes
    ----------
    order : ndarray of int, shape (M,)
        The instances, group by group.
    start : ndarray of int, shape (G,)
        Where each group begins in `order`.
    parts : tuple of (ndarray of int, Units)
        The instances of each domain and their groups, if means are averages of domain means; otherwise empty.
    """

    order: IntArray
    start: IntArray
    parts: tuple[tuple[IntArray, Units], ...] = ()

    @classmethod
    def of(cls, codes: IntArray) -> Units:
        """Return the groups of instances with codes 0 … G − 1, shape (M,)."""
        order = np.argsort(codes, kind="stable").astype(np.int64)
        sizes = np.bincount(codes)
        return cls(order, (np.cumsum(sizes) - sizes).astype(np.int64))

    def macro(self, domains: IntArray) -> Units:
        """Return the same groups, with means that weight domains equally; `domains` holds codes of instances, (M,)."""
        groups = np.empty(len(self.order), dtype=np.int64)
        groups[self.order] = np.repeat(np.arange(self.number), self.sizes.astype(np.int64))
        parts = []
        for code in range(domains.max() + 1):
            inside = np.flatnonzero(domains == code)
            parts.append((inside, Units.of(np.unique(groups[inside], return_inverse=True)[1])))
        return replace(self, parts=tuple(parts))

    @property
    def weights(self) -> FloatArray:
        """The weight of each instance in a mean of domain means, relative to a plain mean, shape (M,)."""
        weights = np.ones(len(self.order))
        for inside, _ in self.parts:
            weights[inside] = len(weights) / (len(self.parts) * len(inside))
        return weights

    @property
    def number(self) -> int:
        """Number of groups, G."""
        return len(self.start)

    @property
    def single(self) -> bool:
        """Whether each group is one instance."""
        return len(self.start) == len(self.order)

    @property
    def sizes(self) -> FloatArray:
        """Number of instances in each group, shape (G,)."""
        return np.diff(self.start, append=len(self.order)).astype(np.float64)

    def sums(self, values: npt.ArrayLike) -> FloatArray:
        """Return the sums over the groups of values (P, M), shape (P, G); NaN counts as 0."""
        known = np.asarray(values, dtype=np.float64)
        if self.single:
            return without_nan(known)
        sums = np.empty((len(known), self.number))
        for rows in blocks(*known.shape):
            sums[rows] = np.add.reduceat(without_nan(known[rows])[:, self.order], self.start, axis=1)
        return sums


@dataclass(frozen=True, eq=False)
class Means:
    """Means of rows of values with their standard errors, each array of shape (P,).

    Attributes
    ----------
    mean, std_error : ndarray
        The standard error is NaN if the effective number of groups is below two, and 0 if values vary only by rounding.
    effective : ndarray
        G* = n²/Σ n_g², the effective number of groups with a value.
    """

    mean: FloatArray
    std_error: FloatArray
    effective: FloatArray

    @property
    def df(self) -> FloatArray:
        """Degrees of freedom of t, G* − 1, shape (P,); NaN without a standard error."""
        return np.where(self.effective >= _FEWEST, np.maximum(self.effective, 2.0) - 1, np.nan)


def means(values: FloatArray, units: Units, scale: FloatArray) -> Means:
    """Return means of values (P, M) with standard errors by groups, each group left out in turn (CR3).

    The variance is (G − 1)/G Σ_g (s_g/(1 − n_g/n))²/n² with s_g = Σ_(m in g) (x_m − x̄), over the G groups with n_g > 0
    values. It is s²/n if every group is one instance, and the usual clustered variance if all groups have the same
    size.

    Parameters
    ----------
    values : ndarray, shape (P, M)
        NaN where there is none.
    units : Units
    scale : ndarray, shape (P,)
        The magnitude of the numbers from which the values were computed; values below their rounding error count as 0.

    References
    ----------
    Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
    samples. Survey Methodology 28(2), 169-181. Miller, E. (2024). Adding error bars to evals: a statistical approach to
    language model evaluations. arXiv:2411.00640.
    """
    if units.parts:
        return over_domains([means(values[:, inside], part, scale) for inside, part in units.parts])
    mean, std_error, effective = np.empty((3, len(values)))
    for rows in blocks(*values.shape):
        n, plain, effective[rows], root = _parts_of_means(values[rows], units)
        spread = cleaned(lengths(root) * np.sqrt(n), scale[rows])
        mean[rows], std_error[rows] = cleaned(plain, scale[rows]), ratio(spread, np.sqrt(n))
    return Means(mean, std_error, effective)


def _parts_of_means(values: FloatArray, units: Units) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the numbers of values, means and G*, each (P,), and each group's contribution to the error, (P, G)."""
    there = ~np.isnan(values)
    n = there.sum(axis=1).astype(np.float64)
    mean = ratio(without_nan(values).sum(axis=1), n)
    apart = values - mean[:, None]
    if units.single:  # the same as below, in a third of the time
        return n, mean, n, without_nan(apart) * _single_weights(n)[:, None]
    each = units.sums(there)
    effective = ratio(n**2, (each**2).sum(axis=1))
    few = ~(effective >= _FEWEST)
    rest = np.where(few[:, None], np.nan, n[:, None] - each)
    number = np.count_nonzero(each, axis=1).astype(np.float64)
    root = units.sums(apart) / rest * np.sqrt(ratio(number - 1, number))[:, None]
    return n, mean, effective, root


def roots(values: FloatArray, units: Units) -> FloatArray:
    """Return each group's contribution to the error of means of rows (P, M), shape (P, G); NaN without an error.

    Products of rows are the covariances of the means.
    """
    if units.parts:
        return np.concatenate([roots(values[:, inside], part) for inside, part in units.parts], axis=1) / len(
            units.parts
        )
    contributions = np.empty((len(values), units.number))
    for rows in blocks(*values.shape):
        contributions[rows] = _parts_of_means(values[rows], units)[-1]
    return contributions


def covariance(values: FloatArray, units: Units) -> FloatArray:
    """Return the covariances of means of rows of values (P, M), shape (P, P); NaN without an error.

    If each group is one instance, sums run over blocks of instances, so that memory does not grow with M.
    """
    if units.parts:
        parts = [covariance(values[:, inside], part) for inside, part in units.parts]
        return np.asarray(sum(parts) / len(parts) ** 2)
    if not units.single:
        root = roots(values, units)
        return np.asarray(root @ root.T)
    size = len(values)
    n, mean = np.empty((2, size))
    for rows in blocks(*values.shape):
        n[rows] = np.count_nonzero(~np.isnan(values[rows]), axis=1)
        mean[rows] = ratio(without_nan(values[rows]).sum(axis=1), n[rows])
    weight = _single_weights(n)
    covariance_ = np.zeros((size, size))
    for start in range(0, values.shape[1], _COLUMNS):
        part = without_nan(values[:, start : start + _COLUMNS] - mean[:, None]) * weight[:, None]
        covariance_ += part @ part.T
    return covariance_


def _single_weights(n: FloatArray) -> FloatArray:
    """Return 1/√(n (n − 1)), the weight of a deviation in the error of a mean of n values; NaN for one value."""
    return ratio(np.ones(len(n)), np.sqrt(n * np.maximum(n - 1, 0.0)))


def without_nan(values: FloatArray) -> FloatArray:
    """Return values with 0 in place of NaN."""
    return np.where(np.isnan(values), 0.0, values)


def blocks(rows: int, columns: int) -> list[slice]:
    """Return slices of the rows of a matrix, each small enough for the processor's cache."""
    size = max(1, _MOST_VALUES // max(1, columns))
    return [slice(start, start + size) for start in range(0, rows, size)]


def over_domains(means: Sequence[Means]) -> Means:
    """Return the averages of means of D domains, NaN where one is missing, with Satterthwaite's degrees of freedom."""
    size = len(means)
    variances = np.array([part.std_error**2 for part in means]) / size**2
    total = variances.sum(axis=0)
    df = ratio(total**2, (variances**2 / np.array([part.df for part in means])).sum(axis=0))
    df = np.where(total == 0, sum(part.df for part in means), df)
    return Means(np.mean([part.mean for part in means], axis=0), np.sqrt(total), df + 1)


def t_p(test: Means) -> tuple[FloatArray, FloatArray]:
    """Return t and its two-sided p-value, each (P,); NaN without a standard error, and for values that do not vary."""
    statistic = ratio(test.mean, test.std_error)
    return statistic, np.asarray(2 * stats.t.sf(np.abs(statistic), test.df))


def signed_ranks(difference: FloatArray, zero: npt.NDArray[np.bool_], scale: FloatArray) -> FloatArray:
    """Return the ranks of absolute differences (P, M) with the signs of the differences, 0 for `zero` or NaN.

    Equal differences have their average rank.
    """
    sizes = rounded_sizes(difference, zero, scale)
    ranks = stats.rankdata(np.where(sizes > 0, sizes, np.nan), axis=1, nan_policy="omit")
    return np.asarray(np.nan_to_num(ranks) * np.sign(np.nan_to_num(difference)))
