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

_FEWEST = 2 - 1e-9  # groups of equal size below which nothing is known of how groups differ


@dataclass(frozen=True, eq=False)
class Units:
    """M instances in G groups, independent of each other; without groups each instance is one.

    Attributes
    ----------
    order : ndarray of int, shape (M,)
        The instances, group by group.
    start : ndarray of int, shape (G,)
        Where each group begins in `order`.
    parts : tuple of (ndarray of int, Units)
        The instances of each domain and their groups, if means are averages of the means of domains; otherwise empty.
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
        """Return the same groups, with means that count domains alike; `domains` are the codes of instances, (M,)."""
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
        found = np.ones(len(self.order))
        for inside, _ in self.parts:
            found[inside] = len(found) / (len(self.parts) * len(inside))
        return found

    @property
    def number(self) -> int:
        """How many groups there are, G."""
        return len(self.start)

    @property
    def single(self) -> bool:
        """Whether each group is one instance."""
        return len(self.start) == len(self.order)

    @property
    def sizes(self) -> FloatArray:
        """Instances of each group, shape (G,)."""
        return np.diff(self.start, append=len(self.order)).astype(np.float64)

    def sums(self, values: npt.ArrayLike) -> FloatArray:
        """Return the sums over the groups of values (P, M), shape (P, G); NaN counts as 0."""
        known = np.nan_to_num(np.asarray(values, dtype=np.float64))
        return known if self.single else np.add.reduceat(known[:, self.order], self.start, axis=1)


@dataclass(frozen=True, eq=False)
class Means:
    """Means of rows of values with their standard errors, each array of shape (P,).

    Attributes
    ----------
    mean, std_error : ndarray
        The error is NaN for an effective number of groups below two, and 0 if values vary only by rounding.
    effective : ndarray
        G* = n²/Σ n_g², the effective number of groups with a value.
    root : ndarray, shape (P, G)
        The contribution of each group. Products of rows are the covariances of the means; NaN without an error.
    """

    mean: FloatArray
    std_error: FloatArray
    effective: FloatArray
    root: FloatArray

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
        The size of the numbers from which the values were made; values below their rounding error are 0.

    References
    ----------
    Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
    samples. Survey Methodology 28(2), 169-181. Miller, E. (2024). Adding error bars to evals: a statistical approach to
    language model evaluations. arXiv:2411.00640.
    """
    if units.parts:
        return over_domains([means(values[:, inside], part, scale) for inside, part in units.parts])
    there = ~np.isnan(values)
    n = there.sum(axis=1).astype(np.float64)
    mean = ratio(np.nansum(values, axis=1), n)
    each = units.sums(there)
    effective = ratio(n**2, (each**2).sum(axis=1))
    few = ~(effective >= _FEWEST)
    rest = np.where(few[:, None], np.nan, n[:, None] - each)
    number = np.count_nonzero(each, axis=1).astype(np.float64)
    root = units.sums(values - mean[:, None]) / rest * np.sqrt(ratio(number - 1, number))[:, None]
    spread = cleaned(lengths(root) * np.sqrt(n), scale)
    return Means(cleaned(mean, scale), ratio(spread, np.sqrt(n)), effective, root)


def over_domains(found: Sequence[Means]) -> Means:
    """Return the averages of means of D domains, NaN where one is missing, with Satterthwaite's degrees of freedom."""
    size = len(found)
    variances = np.array([part.std_error**2 for part in found]) / size**2
    total = variances.sum(axis=0)
    df = ratio(total**2, (variances**2 / np.array([part.df for part in found])).sum(axis=0))
    df = np.where(total == 0, sum(part.df for part in found), df)
    return Means(
        np.mean([part.mean for part in found], axis=0),
        np.sqrt(total),
        df + 1,
        np.concatenate([part.root for part in found], axis=1) / size,
    )


def t_p(found: Means) -> tuple[FloatArray, FloatArray]:
    """Return t and its two-sided p-value, each (P,); NaN without a standard error, and for values that do not vary."""
    statistic = ratio(found.mean, found.std_error)
    return statistic, np.asarray(2 * stats.t.sf(np.abs(statistic), found.df))


def signed_ranks(difference: FloatArray, zero: npt.NDArray[np.bool_], scale: FloatArray) -> FloatArray:
    """Return the ranks of absolute differences (P, M) with the signs of the differences, 0 for `zero` or NaN.

    Equal differences have their average rank.
    """
    sizes = rounded_sizes(difference, zero, scale)
    ranks = stats.rankdata(np.where(sizes > 0, sizes, np.nan), axis=1, nan_policy="omit")
    return np.asarray(np.nan_to_num(ranks) * np.sign(np.nan_to_num(difference)))
