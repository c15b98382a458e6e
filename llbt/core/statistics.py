"""Statistics of arrays, and the record that every test returns."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from ..base.table import Field, Record, Table, format_percent

AdjustP = Literal["holm", "bonferroni", "fdr_bh"]

_SMALL_COUNT = 5.0  # Cochran's rule: at most a fifth of the expected counts is below five
_SMALL_SHARE = 0.2


@dataclass(frozen=True, repr=False)
class TestResult(Record):
    """The result of a hypothesis test.

    Attributes
    ----------
    name : str
        The name of the test.
    null : str
        The tested hypothesis.
    statistic : float
    df : float
        Degrees of freedom of the reference distribution (NaN if it has none).
    p_value : float
        The p-value; NaN if the reference distribution does not hold (`notes` says why).
    distribution : str
        The reference distribution, ``"chi2"`` or ``"normal"``.
    notes : tuple of str
    """

    __test__ = False  # the class name starts with Test: this keeps pytest from collecting it

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
    """Return the two-sided p-value of a sign test of equal chances; fractional counts use the normal approximation."""
    if n <= 0:
        return math.nan
    if float(successes).is_integer() and float(n).is_integer():
        fewer = min(successes, n - successes)  # the distribution is symmetric, so the p-value is twice one tail
        return 1.0 if 2 * fewer == n else min(1.0, float(2 * special.bdtr(fewer, int(n), 0.5)))
    return float(2 * stats.norm.sf(abs(2 * successes - n) / math.sqrt(n)))


def chi2_p_value(statistic: float, df: float) -> float:
    """Return P(χ²(df) ≥ statistic); NaN for df ≤ 0 or an undefined statistic."""
    if df <= 0 or math.isnan(statistic):
        return math.nan
    return float(stats.chi2.sf(statistic, df))


def chi2_reservation(means: npt.NDArray[np.float64]) -> tuple[bool, str]:
    """Return whether deviance and X² of a table can be compared with χ², and a note.

    Parameters
    ----------
    means : ndarray, shape (S, C)
        Fitted counts.

    Returns
    -------
    possible : bool
        False if no comparison has more than one judgment: the deviance then depends on the fit alone.
    note : str
        Empty if χ² is a fair approximation (Cochran 1954, Biometrics 10(4): at most a fifth of the expected counts is
        below 5).
    """
    if np.all(means.sum(axis=1) <= 1 + 1e-9):
        return False, "No test of fit: no comparison has more than one judgment. Pool covariates to get a test."
    small = float(np.mean(means < _SMALL_COUNT))
    if small > _SMALL_SHARE:
        return True, f"{format_percent(small)} of fitted counts are below 5: the χ² p-value is rough."
    return True, ""


def critical_value(confidence: float, df: float) -> float:
    """Return the critical value of |t(df)|, or of |z| for infinite df, for an interval with this confidence."""
    return float(stats.t.isf((1 - confidence) / 2, df))


def critical_values(confidence: float, df: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return `critical_value` for each of several degrees of freedom."""
    return np.asarray(stats.t.isf((1 - confidence) / 2, df))


def ratio(estimate: npt.NDArray[np.float64], error: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return estimates divided by standard errors; NaN for parameters without an estimate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 0, estimate / error, np.nan)


def two_sided_p(z: npt.NDArray[np.float64], df: float | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the two-sided p-values of z (or t) statistics."""
    return np.asarray(2 * special.stdtr(df, -np.abs(z)))  # the call inside stats.t.sf, without its checks of arguments


def adjust_p(p_values: npt.NDArray[np.float64], method: AdjustP) -> npt.NDArray[np.float64]:
    """Return adjusted p-values, shape (m,); NaN stays NaN and does not count.

    Parameters
    ----------
    p_values : ndarray, shape (m,)
    method : {"holm", "bonferroni", "fdr_bh"}
        Holm's step-down method and Bonferroni's method control the familywise error, Benjamini and Hochberg's method
        the false discovery rate.

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
    """Return letters for objects: two objects share a letter exactly when they do not differ significantly.

    Parameters
    ----------
    significant : ndarray of bool, shape (J, J)
        Whether two objects differ significantly; symmetric.
    order : sequence of int
        The objects that take part, the best first; the first gets ``a``.

    Returns
    -------
    list of str, length J
        The letters of each object; empty for objects that take no part. After a…z and A…Z come .a…z, ..a…z and so on,
        as in R's multcomp.

    Notes
    -----
    The method is insert and absorb: each significant pair splits every letter that it shares into two; a letter is
    dropped if all its objects share another letter.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
    Computational and Graphical Statistics 13(2), 456-466.
    """
    apart = significant[np.ix_(order, order)]
    columns = [(1 << len(order)) - 1]  # a letter is the set of its objects: bit k stands for the k-th best
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
    """Return whether `compact_letters` would need more than `most` letters.

    Letters are the largest sets of objects that do not differ. The first objects never have more letters than all
    objects, so the search ends as soon as there are too many.
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
    """Return the number of each object's cluster in a ranking, 1 for the best cluster.

    A cluster ends where every object above is significantly better than every object below, as in the result tables
    of the Conference on Machine Translation (WMT).

    Parameters
    ----------
    better : ndarray of bool, shape (J, J)
        Whether the row's object is significantly better than the column's object.
    order : sequence of int
        The objects that take part, the best first.

    Returns
    -------
    list of int, length J
        The clusters; 0 for objects that take no part.

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
