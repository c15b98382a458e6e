"""The arithmetic of the sign test: ties under each rule, and p-values, on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from ..core.columns import FloatArray, IntArray
from ..core.statistics import ratio

Ties = Literal["drop", "split", "proportional", "two-thirds", "asymptotic-ump", "median", "trinomial"]
Alternative = Literal["two-sided", "greater", "less"]
Interval = Literal["wilson", "clopper-pearson"]


@dataclass(frozen=True)
class Rule:
    """The treatment of ties under a rule.

    Attributes
    ----------
    says : str
        The treatment of ties, in words.
    null : str
        The hypothesis of the two-sided test, in the probabilities of a win of i, of j and of a tie.
    null_greater : str
        The hypothesis of the one-sided test that object {i} is preferred to object {j}.
    remark : str
        A caution about size and interval.
    counts_ties : bool
        Whether a pair with nothing but ties still has a p-value.
    """

    says: str
    null: str
    null_greater: str
    remark: str
    counts_ties: bool

    def tested(self, alternative: Alternative) -> str:
        """Return the null hypothesis."""
        if alternative == "two-sided":
            return self.null
        i, j = ("i", "j") if alternative == "greater" else ("j", "i")
        return f"{self.null_greater.format(i=i, j=j)} (alternative: object_{i} is preferred)"


_EQUAL = "P(i) = P(j), whatever P(tie)"
_NO_MORE = "P({i}) ≤ P({j}), whatever P(tie)"
_AS_DECIDED = ", if every tie were a decision that went like the others"

RULES: dict[Ties, Rule] = {
    "drop": Rule(
        "ties left out", _EQUAL, _NO_MORE, "the test is conditional on the number of decided judgments", False
    ),
    "split": Rule(
        "half of the ties to either side",
        _EQUAL,
        _NO_MORE,
        "conservative: a tie adds no variance, but is counted as a decision, in the test and in the interval",
        True,
    ),
    "proportional": Rule(
        "ties divided in proportion to the wins",
        _EQUAL + _AS_DECIDED,
        _NO_MORE + _AS_DECIDED,
        "p-values too small and intervals too short where there are ties: they are counted as decisions",
        False,
    ),
    "two-thirds": Rule(
        "two thirds of the ties to the side that is worse under the alternative",
        "P(i) + P(tie)/3 ≤ 1/2 and P(j) + P(tie)/3 ≤ 1/2; it does not test P(i) = P(j), but |P(i) − P(j)| ≤ P(tie)/3",
        "P({i}) + P(tie)/3 ≤ 1/2; it does not test P({i}) ≤ P({j}), but P({i}) − P({j}) ≤ P(tie)/3",
        "conservative where P(i) = P(j); estimate 1/2 where neither side has half of the counted judgments",
        True,
    ),
    "asymptotic-ump": Rule(
        "ties left out, (n_i − n_j)/√(n_i + n_j) against the normal",
        _EQUAL,
        _NO_MORE,
        "estimate and interval are those of the decided judgments",
        False,
    ),
    "median": Rule(
        "median test, all ties to the side that is worse under the alternative",
        "P(i) ≤ 1/2 and P(j) ≤ 1/2; it does not test P(i) = P(j), but whether an object wins more than half of all "
        "judgments",
        "P({i}) ≤ 1/2; it does not test P({i}) ≤ P({j})",
        "conservative where P(i) = P(j); estimate 1/2 where neither side has half of all judgments",
        True,
    ),
    "trinomial": Rule(
        "ties kept as a third outcome",
        _EQUAL,
        _NO_MORE,
        "P(tie) is assumed to be the observed share of ties; estimate and interval are those of the decided judgments",
        True,
    ),
}

_AGAINST = {"two-thirds": 3, "median": 0}  # one tie in so many counts for the side tested to be better; 0: none


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts under a rule, each array of shape (S,) for S pairs.

    Attributes
    ----------
    low, high : ndarray
        Wins of i if ties count against i, and if they count against j; equal for most rules.
    n : ndarray
        Number of judgments that the rule counts.
    """

    low: FloatArray
    high: FloatArray
    n: FloatArray

    def wins(self, alternative: Alternative) -> FloatArray:
        """Return the wins of i for an alternative; for the two-sided one, the wins nearest to half."""
        if alternative == "greater":
            return self.low
        return self.high if alternative == "less" else np.clip(self.n / 2, self.low, self.high)


def count_wins(rule: Ties, counts: FloatArray, *, whole: bool) -> Counted:
    """Return the counts under a rule from counts (S, 3): wins of i, ties, wins of j.

    With `whole` both sides get the integer part of their share: a tie that cannot be shared is left out (split,
    proportional), or goes to the side tested to be worse (two-thirds).
    """
    i, ties, j = counts.T
    decided, n = i + j, i + ties + j
    part = np.floor if whole else np.asarray
    if rule in ("drop", "asymptotic-ump", "trinomial"):
        return Counted(i, i, decided)
    if rule in _AGAINST:
        share = part(ties / _AGAINST[rule]) if _AGAINST[rule] else 0.0 * ties
        return Counted(i + share, n - (j + share), n)
    if rule == "split":
        of_i = of_j = part(ties / 2)
    else:  # whole numbers below 2**53 are divided exactly by //, not by a rounded quotient
        known = np.where(decided > 0, decided, np.nan)
        of_i, of_j = ((ties * wins) // known if whole else ties * wins / known for wins in (i, j))
    return Counted(i + of_i, i + of_i, decided + of_i + of_j)


def binomial_p(wins: Counted, alternative: Alternative) -> FloatArray:
    """Return exact p-values of equal chances, shape (S,); NaN where nothing is counted."""
    greater = stats.binom.sf(wins.low - 1, wins.n, 0.5)
    less = stats.binom.cdf(wins.high, wins.n, 0.5)
    chosen = {"greater": greater, "less": less, "two-sided": np.minimum(2 * np.minimum(greater, less), 1.0)}
    return np.where(wins.n > 0, chosen[alternative], np.nan)


def trinomial_p(counts: FloatArray, alternative: Alternative) -> FloatArray:
    """Return p-values of the trinomial test for whole counts, shape (S,)."""
    i, ties, j = counts.astype(np.int64).T
    difference = {"greater": i - j, "less": j - i, "two-sided": np.abs(i - j)}[alternative]
    tables = np.column_stack([difference, i + ties + j, i + j])
    distinct, where = np.unique(tables, axis=0, return_inverse=True)
    tail = trinomial_tail(*distinct.T)[where.ravel()]
    return np.minimum(2 * tail if alternative == "two-sided" else tail, 1.0)


def trinomial_tail(difference: IntArray, n: IntArray, decided: IntArray) -> FloatArray:
    """Return P(D ≥ difference) for n judgments with probabilities q, 1 − 2q, q of 1, 0, −1, where 2q = decided/n.

    D is summed over the number m of judgments that are not 0: m ~ Bin(n, 2q) and D = 2·Bin(m, 1/2) − m.
    """
    sizes = n + 1
    first = np.cumsum(sizes) - sizes
    table = np.repeat(np.arange(len(n)), sizes)
    m = np.arange(len(table)) - first[table]
    least = -((-m - difference[table]) // 2)  # ceiling of (m + d)/2
    terms = stats.binom.pmf(m, n[table], (decided / n)[table]) * stats.binom.sf(least - 1, m, 0.5)
    return np.asarray(np.add.reduceat(terms, first))


def z_values(rule: Ties, wins: Counted, alternative: Alternative) -> FloatArray:
    """Return normal statistics, shape (S,); NaN where the variance is 0.

    z = (wins − n/2)/(√n/2) of a rule's counts, without a continuity correction. The trinomial test without a decided
    judgment has the statistic 0.
    """
    z = ratio(2 * wins.wins(alternative) - wins.n, np.sqrt(wins.n))
    return np.where(wins.n > 0, z, 0.0) if rule == "trinomial" else z


def normal_p(z: FloatArray, alternative: Alternative) -> FloatArray:
    """Return p-values of normal statistics, shape (S,)."""
    tail = {"greater": z, "less": -z, "two-sided": np.abs(z)}[alternative]
    return np.asarray(stats.norm.sf(tail) * (2 if alternative == "two-sided" else 1))


def mid_p(wins: FloatArray, losses: FloatArray, alternative: Alternative) -> FloatArray:
    """Return mid-p-values of equal chances: the binomial tail, with half the probability of the counts, shape (S,).

    References
    ----------
    Lancaster, H. O. (1961). Significance tests in discrete distributions. Journal of the American Statistical
    Association 56(294), 223-234.
    """
    n = wins + losses
    above = stats.binom.sf(wins, n, 0.5) + stats.binom.pmf(wins, n, 0.5) / 2
    p_values = {"greater": above, "less": 1 - above, "two-sided": 2 * np.minimum(above, 1 - above)}[alternative]
    return np.asarray(np.where(n > 0, p_values, np.nan))


def share_interval(
    wins: FloatArray, n: FloatArray, interval: Interval, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return a two-sided interval of a share, each end shaped like `wins` and `n`; NaN where n is 0.

    References
    ----------
    Wilson, E. B. (1927). Journal of the American Statistical Association 22(158), 209-212. Clopper, C. J. & Pearson,
    E. S. (1934). Biometrika 26(4), 404-413.
    """
    tail = (1 - confidence) / 2
    known = np.where(n > 0, n, np.nan)
    if interval == "wilson":
        z = stats.norm.isf(tail)
        middle = (wins + z**2 / 2) / (known + z**2)
        half = z / (known + z**2) * np.sqrt(wins * (known - wins) / known + z**2 / 4)
        return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
    low = stats.beta.ppf(tail, wins, known - wins + 1)
    high = stats.beta.isf(tail, wins + 1, known - wins)
    return np.where(wins == 0, known * 0, low), np.where(wins == known, 1.0, high)
