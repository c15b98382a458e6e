"""Statistics on arrays, and the record that every test returns."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import interpolate, optimize, special, stats
from scipy.sparse import csr_array

from ..table import Field, Record, Table, format_percent

AdjustP = Literal["holm", "bonferroni", "fdr_bh"]

_SMALL_COUNT = 5.0  # Cochran's rule: at most a fifth of the expected counts below five
_SMALL_SHARE = 0.2
_MANY = 2000  # p-values, above which a curve through the tail is cheaper than each computed
_LEAST = 1e-290  # of a tail that has a logarithm
_DRAWS = 20_000  # directions: the simulated quantile of max |z| is right to about .005
_NODES = 500  # means of as many draws each stand for them: another 1e-4
_MOST_VALUES = 4_000_000  # simulated at a time: 32 MB


@dataclass(frozen=True, repr=False)
class TestResult(Record):
    """What a test found.

    Attributes
    ----------
    name : str
        The test.
    null : str
        The hypothesis that it tests.
    statistic : float
    df : float
        Degrees of freedom of the reference distribution (NaN where it has none).
    p_value : float
        NaN where the reference distribution does not hold; `notes` says why.
    distribution : str
        The reference distribution, ``"chi2"`` or ``"normal"``.
    notes : tuple of str
    """

    __test__ = False  # the name starts with Test: keep pytest from collecting it

    name: str
    null: str
    statistic: float
    df: float
    p_value: float
    distribution: str
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """Return the test as a one-row `Table`."""
        return Table(
            fields=(
                Field("statistic", "Statistic", (self.statistic,), "number", 5),
                Field("df", "Df", (self.df,), "count"),
                Field("p_value", "p", (self.p_value,), "p_value"),
            ),
            title=self.name,
            head=(f"Null hypothesis: {self.null}", f"Reference distribution: {self.distribution}"),
            notes=self.notes,
        )


def sign_p(successes: float, n: float) -> float:
    """Return the two-sided p-value of equal chances; by the normal approximation if counts are fractional."""
    if n <= 0:
        return math.nan
    if float(successes).is_integer() and float(n).is_integer():
        return float(stats.binomtest(int(successes), int(n)).pvalue)
    return float(2 * stats.norm.sf(abs(2 * successes - n) / math.sqrt(n)))


def chi2_p_value(statistic: float, df: float) -> float:
    """Return P(χ²(df) ≥ statistic); NaN for df ≤ 0 or an undefined statistic."""
    if df <= 0 or math.isnan(statistic):
        return math.nan
    return float(stats.chi2.sf(statistic, df))


def chi2_reservation(means: npt.NDArray[np.float64]) -> tuple[bool, str]:
    """Return whether deviance and X² of a table can be held against χ², and what to say of it.

    Parameters
    ----------
    means : ndarray, shape (S, C)
        Fitted counts.

    Returns
    -------
    possible : bool
        False where no comparison has more than one judgment: then the deviance is a function of the fit alone.
    note : str
        Empty where χ² is a fair approximation (Cochran 1954, Biometrics 10(4): at most a fifth of the expected counts
        below 5).
    """
    if np.all(means.sum(axis=1) <= 1 + 1e-9):
        return False, (
            "no comparison has more than one judgment, so deviance and X² do not measure fit and have no χ² "
            "distribution; pool covariates to test the fit"
        )
    small = float(np.mean(means < _SMALL_COUNT))
    if small > _SMALL_SHARE:
        return True, f"{format_percent(small)} of the fitted counts are below 5: the χ² p-value of fit is rough"
    return True, ""


def critical_value(confidence: float, df: float) -> float:
    """Return the quantile of |t(df)|, or of |z| for infinite df, of an interval of some confidence."""
    return float(stats.t.isf((1 - confidence) / 2, df))


def critical_values(confidence: float, df: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return `critical_value` for each of several degrees of freedom."""
    return np.asarray(stats.t.isf((1 - confidence) / 2, df))


def ratio(estimate: npt.NDArray[np.float64], error: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return estimates over standard errors; NaN where nothing was estimated."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 0, estimate / error, np.nan)


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


def max_z(
    contrasts: csr_array,
    cov: npt.NDArray[np.float64],
    df: float,
    rng: np.random.Generator,
) -> MaxZ:
    """Return the distribution of max |z| over contrasts, simulated from their correlation.

    Parameters
    ----------
    contrasts : csr_array, shape (m, J)
        Contrasts of J estimates, each divided by its standard error.
    cov : ndarray, shape (J, J)
        Covariance of the estimates.
    df : float
        Degrees of freedom of a common variance estimate; infinite for the normal.
    rng : numpy.random.Generator

    Notes
    -----
    Memory stays below some 100 MB however many contrasts there are.

    References
    ----------
    Hothorn, T., Bretz, F. & Westfall, P. (2008). Simultaneous inference in general parametric models. Biometrical
    Journal 50(3), 346-363. Somerville, P. N. (1998). Numerical computation of multivariate normal and multivariate-t
    probabilities over convex regions. Journal of Computational and Graphical Statistics 7(4), 529-544.
    """
    size = contrasts.shape[0]
    values, vectors = np.linalg.eigh(cov)
    kept = values > 1e-12 * values.max(initial=0.0)
    root = vectors[:, kept] * np.sqrt(values[kept])
    rank = root.shape[1]
    if not size or not rank:
        return MaxZ(np.empty(0), rank, size, df)
    chunk = max(1, _MOST_VALUES // size)
    maxima = []
    for start in range(0, _DRAWS, chunk):
        direction = rng.standard_normal((min(chunk, _DRAWS - start), rank))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        z = contrasts @ (root @ direction.T)
        maxima.append(np.maximum(z.max(axis=0), -z.min(axis=0)))
    drawn = np.sort(np.minimum(np.concatenate(maxima), 1.0))
    return MaxZ(drawn.reshape(_NODES, -1).mean(axis=1), rank, size, df)


def two_sided_p(z: npt.NDArray[np.float64], df: float | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the two-sided p-values of z (or t) statistics."""
    return np.asarray(2 * stats.t.sf(np.abs(z), df))


def adjust_p(p_values: npt.NDArray[np.float64], method: AdjustP) -> npt.NDArray[np.float64]:
    """Return adjusted p-values, shape (m,); those that are NaN stay so and do not count.

    Parameters
    ----------
    p_values : ndarray, shape (m,)
    method : {"holm", "bonferroni", "fdr_bh"}
        Holm's step-down and Bonferroni's for the familywise error, Benjamini and Hochberg's for the false discovery
        rate.

    References
    ----------
    Holm, S. (1979). Scandinavian Journal of Statistics 6(2), 65-70. Benjamini, Y. & Hochberg, Y. (1995). Journal of
    the Royal Statistical Society B 57(1), 289-300.
    """
    order = np.argsort(p_values, kind="stable")[: int(np.sum(~np.isnan(p_values)))]
    p, m = p_values[order], len(order)
    place = np.arange(m)
    if method == "bonferroni":
        raised = m * p
    elif method == "holm":
        raised = np.maximum.accumulate((m - place) * p)
    else:
        raised = np.minimum.accumulate((p * m / (place + 1))[::-1])[::-1]
    adjusted = np.full(len(p_values), math.nan)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def compact_letters(significant: npt.NDArray[np.bool_], order: Sequence[int]) -> list[str]:
    """Return letters such that two objects share one exactly when they do not differ significantly.

    Parameters
    ----------
    significant : ndarray of bool, shape (J, J)
        Symmetric: whether two objects differ.
    order : sequence of int
        The objects that take part, the best first; ``a`` goes to the first of them.

    Returns
    -------
    list of str, length J
        Empty for objects that take no part. After a…z and A…Z come .a…z, ..a…z and so on, as in R's multcomp.

    Notes
    -----
    Insert and absorb: each significant pair splits every letter that it shares in two, and a letter whose objects
    all share another one goes.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
    Computational and Graphical Statistics 13(2), 456-466.
    """
    apart = significant[np.ix_(order, order)]
    columns = [(1 << len(order)) - 1]  # a letter is the set of its objects: bit k is the k-th best
    for a, b in np.argwhere(np.triu(apart, 1)).tolist():
        pair = (1 << a) | (1 << b)
        split = [column for column in columns if column & pair == pair]
        columns = [column for column in columns if column & pair != pair]
        for piece in [column & ~(1 << k) for column in split for k in (a, b)]:
            if not any(piece | column == column for column in columns):
                columns = [column for column in columns if column | piece != piece]
                columns.append(piece)
    members = sorted([k for k in range(len(order)) if column >> k & 1] for column in columns)
    letters = [""] * len(significant)
    for letter, ranks in zip(_letters(), members, strict=False):
        for k in ranks:
            letters[order[k]] += letter
    return letters


def letters_exceed(significant: npt.NDArray[np.bool_], order: Sequence[int], most: int) -> bool:
    """Return whether `compact_letters` would need more than so many letters.

    Letters are the largest sets of objects that do not differ; among the first objects there are never more of them
    than among all, so that the search ends as soon as they are too many.
    """
    same = ~significant[np.ix_(order, order)]
    sets: list[int] = []
    for k in range(len(order)):
        like = sum(1 << int(j) for j in np.flatnonzero(same[k, :k]))
        joined = {column & like for column in sets} or {0}
        largest = [a for a in joined if not any(a != b and a | b == b for b in joined)]
        sets = [column for column in sets if column & ~like] + [column | 1 << k for column in largest]
        if len(sets) > most:
            return True
    return False


def _letters() -> itertools.chain[str]:
    names = string.ascii_letters
    return itertools.chain(names, ("." * (1 + n // len(names)) + names[n % len(names)] for n in itertools.count()))


def significance_clusters(better: npt.NDArray[np.bool_], order: Sequence[int]) -> list[int]:
    """Return the numbers of the clusters that a ranking falls into, 1 for the best.

    A cluster ends where every object above is significantly better than every object below, as in the result tables
    of the Conference on Machine Translation (WMT).

    Parameters
    ----------
    better : ndarray of bool, shape (J, J)
        Whether the object of the row is significantly better than that of the column.
    order : sequence of int
        The objects that take part, the best first.

    Returns
    -------
    list of int, length J
        0 for objects that take no part.

    References
    ----------
    Bojar, O. et al. (2013). Findings of the 2013 Workshop on Statistical Machine Translation. WMT, 1-44.
    """
    ranked = better[np.ix_(order, order)]
    numbers, number = [0] * len(better), 1
    for place, k in enumerate(order):
        number += bool(place and ranked[:place, place:].all())
        numbers[k] = number
    return numbers
