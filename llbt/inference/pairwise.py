"""Every pair of objects compared, with the error controlled over all of them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.sparse import csr_array

from ..arguments import as_generator, is_whole
from ..core import statistics
from ..core.columns import FloatArray, IntArray, Label
from ..core.statistics import MaxZ, adjust_p, critical_value, max_z, ratio, two_sided_p
from ..errors import DesignError
from ..fitting.results import LLBTResults, check_fit
from ..formulas.grid import At
from ..kernel.robust import LOST
from ..table import Field, Record, Table, format_number, interval_fields
from .objects import KNOWN, LogWorths, centred
from .scales import DIFFERENCES, Scale, check_scale, on_scale

Adjust = Literal["single-step", "holm", "bonferroni", "fdr_bh"]

_ADJUSTED = {
    "single-step": "single-step",
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "fdr_bh": "Benjamini and Hochberg's method (false discovery rate)",
    None: "not adjusted",
}
_SAME = 1e-9  # log-worths closer than that are equal


@dataclass(frozen=True, repr=False, eq=False)
class Pairwise(Record):
    """Every pair of objects compared. J objects, m = J(J − 1)/2 pairs.

    Made by `pairwise`; `compact_letters` and `significance_clusters` read it.

    Attributes
    ----------
    objects : tuple, length J
    pairs : ndarray of int, shape (m, 2)
        Positions of i and j.
    log_worths : ndarray, shape (J,)
        Log-worths λ with mean 0; NaN for objects that take no part.
    std_error : ndarray, shape (m,)
        Of the differences λ_i − λ_j.
    p_value, p_adjusted : ndarray, shape (m,)
    critical : float
        Quantile of max |z| over all pairs, for the simultaneous intervals.
    reach : ndarray, shape (m,)
        Standard errors that each interval reaches: `critical`, but more for pairs that are known from few clusters.
    df : float
        Degrees of freedom behind tests and intervals; infinite for the normal.
    scale : str
        Of the printed estimates.
    adjust : str or None
    confidence : float
    notes : tuple of str
    """

    objects: tuple[Label, ...]
    pairs: IntArray
    log_worths: FloatArray
    std_error: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    critical: float
    reach: FloatArray
    df: float
    scale: Scale
    adjust: Adjust | None
    confidence: float
    notes: tuple[str, ...]

    @property
    def difference(self) -> FloatArray:
        """Differences of log-worths λ_i − λ_j, shape (m,)."""
        i, j = self.pairs.T
        return np.asarray(self.log_worths[i] - self.log_worths[j])

    @property
    def statistic(self) -> FloatArray:
        """Differences over their standard errors, shape (m,); NaN where nothing was estimated."""
        return ratio(self.difference, self.std_error)

    @property
    def significant(self) -> npt.NDArray[np.bool_]:
        """Whether the adjusted p-value is below 1 − confidence, shape (m,)."""
        known = np.abs(self.difference) > _SAME  # where the model itself says it
        return np.where(self.std_error == 0, known, self.p_adjusted < 1 - self.confidence)

    @property
    def apart(self) -> npt.NDArray[np.bool_]:
        """Whether the simultaneous interval leaves out equality, shape (m,)."""
        half = np.where(self.std_error == 0, _SAME, self.reach * self.std_error)
        return np.abs(self.difference) > half

    @property
    def ranking(self) -> IntArray:
        """Positions of the objects that take part, the best first."""
        rounded = np.round(self.log_worths / _SAME)
        return np.argsort(-rounded, kind="stable")[: int(np.sum(~np.isnan(rounded)))]

    def better(self, which: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return whether the object of the row is the better one of such a pair (m,), shape (J, J)."""
        matrix = np.zeros((len(self.objects), len(self.objects)), dtype=np.bool_)
        for (i, j), ahead in ((self.pairs.T, self.difference > 0), (self.pairs.T[::-1], self.difference < 0)):
            matrix[i[which & ahead], j[which & ahead]] = True
        return matrix

    def table(self) -> Table:
        """Return object_i, object_j, estimate, std_error, statistic, p_value, p_adjusted, conf_low, conf_high."""
        estimate, error, low, high = on_scale(self.scale, self.difference, self.std_error, self.reach)
        letter = "z" if np.isinf(self.df) else "t"
        sides = [[self.objects[k] for k in column] for column in self.pairs.T]
        level = f"{100 * self.confidence:.4g} %"
        return Table(
            (
                Field("object_i", "object_i", sides[0]),
                Field("object_j", "object_j", sides[1]),
                Field("estimate", "Estimate", estimate, "estimate"),
                Field("std_error", "Std. Error", error, "estimate"),
                Field("statistic", f"{letter} value", self.statistic, "statistic"),
                Field("p_value", f"Pr(>|{letter}|)", self.p_value, "p_value"),
                Field("p_adjusted", "adjusted", self.p_adjusted, "p_value"),
                Field("", "", self.p_adjusted, "stars"),
                *interval_fields(low, high, self.confidence),
            ),
            title=f"Pairwise comparisons: {DIFFERENCES[self.scale]}",
            notes=(
                *self.notes,
                f"p-values: {_ADJUSTED[self.adjust]}; {level} intervals simultaneous, |{letter}| up to "
                + format_number(self.critical, 4),
            ),
        ).first()


def pairwise(
    res: LLBTResults,
    *,
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    at: At = None,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Pairwise:
    """Compare every pair of objects: estimates, tests, adjusted p-values and simultaneous intervals.

    Parameters
    ----------
    res : LLBTResults
    scale : {"log_odds", "log_worth", "odds_ratio", "elo", "probability"}
        Of estimates and intervals: 2(λ_i − λ_j), λ_i − λ_j, the odds exp(2(λ_i − λ_j)), 400·log10 of the odds, or
        P(i beats j | decided) = 1/(1 + exp(−2(λ_i − λ_j))). Tests are the same on all of them.
    adjust : {"single-step", "holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the number of pairs: single-step, Holm and Bonferroni control the chance of any
        false finding, ``"fdr_bh"`` the expected share of false findings, None nothing.
    at : mapping or "average", optional
        Where the log-worths are taken when they differ by covariates: ``{"judge": "J3"}``.
    confidence : float
        Of all intervals together, whatever `adjust` says.
    rng : int or numpy.random.Generator
        For the simulated distribution of max |z|. The default seed makes printouts repeatable; other seeds move the
        intervals by about a thousandth of their width.

    Returns
    -------
    Pairwise
        object_i, object_j, estimate, std_error, statistic, p_value, p_adjusted, conf_low, conf_high; one row per pair.
        Intervals are made on the log-odds scale and transformed. NaN for objects whose log-worth the table does not
        determine: they were not compared with the others at `at`, and do not count as pairs.

    Raises
    ------
    DesignError
        For log-worths that differ between classes and no `at`, and for options that are not known.

    Notes
    -----
    Single-step: p-values and intervals come from the distribution of the largest |z| over all pairs, with the
    correlation that they have, so they agree with each other and are never wider than Bonferroni's. For equal
    variances and correlations this is Tukey's method.

    References
    ----------
    Hothorn, T., Bretz, F. & Westfall, P. (2008). Simultaneous inference in general parametric models. Biometrical
    Journal 50(3), 346-363.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> pairs = llbt.pairwise(res)
    >>> pairs.to_frame()[["object_i", "object_j", "estimate", "p_adjusted"]].round(3).values.tolist()[:3]
    [['A', 'B', 2.997, 0.0], ['A', 'C', 3.9, 0.0], ['A', 'D', 0.801, 0.0]]
    """
    check_fit("pairwise", res)
    check_scale("pairwise", scale)
    critical_value("pairwise", confidence, res.df_inference)
    if adjust is not None and adjust not in get_args(Adjust):
        known = ", ".join(map(repr, get_args(Adjust)))
        raise DesignError(f"pairwise: adjust={adjust!r} is not known; expected {known} or None.")
    as_generator(rng, "pairwise")
    found, notes = centred(res, at, "pairwise")
    return all_pairs(res, found, rng, scale=scale, adjust=adjust, confidence=confidence, notes=notes)


@dataclass(frozen=True, eq=False)
class _Tests:
    """The tests of all m pairs at one place, whatever their level and adjustment.

    Attributes
    ----------
    pairs : ndarray of int, shape (m, 2)
    std_error, p_value : ndarray, shape (m,)
    statistic : ndarray, shape (m,)
        On the degrees of freedom of the table, for pairs that are known from few clusters too.
    own : ndarray, shape (m,)
        Degrees of freedom of each.
    distribution : MaxZ
    """

    pairs: IntArray
    std_error: FloatArray
    p_value: FloatArray
    statistic: FloatArray
    own: FloatArray
    distribution: MaxZ

    @functools.cached_property
    def single_step(self) -> FloatArray:
        """The single-step adjusted p-values, (m,)."""
        found = self.distribution.p_value(self.statistic)
        found.flags.writeable = False
        return found

    def adjusted(self, adjust: Adjust | None) -> FloatArray:
        """Return adjusted p-values, (m,)."""
        if adjust is None:
            return self.p_value
        return self.single_step if adjust == "single-step" else adjust_p(self.p_value, adjust)


_TESTS: WeakKeyDictionary[LLBTResults, dict[tuple[int, bytes], _Tests]] = WeakKeyDictionary()


def all_pairs(
    res: LLBTResults,
    found: LogWorths,
    rng: int | np.random.Generator,
    *,
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    confidence: float = 0.95,
    notes: tuple[str, ...] = (),
) -> Pairwise:
    """Return every pair of objects compared, from the centred log-worths of one class."""
    df, tests = res.df_inference, _tests_of(res, found, rng)
    critical = tests.distribution.quantile(confidence)
    return Pairwise(
        res.comparisons.objects,
        tests.pairs,
        found.estimate,
        tests.std_error,
        tests.p_value,
        tests.adjusted(adjust),
        critical,
        np.where(tests.own < df, stats.t.isf(stats.t.sf(critical, df), tests.own), critical),
        df,
        scale,
        adjust,
        confidence,
        notes,
    )


def _tests_of(res: LLBTResults, found: LogWorths, rng: int | np.random.Generator) -> _Tests:
    """Return the tests of all pairs; of a seed they are made once, and kept as long as the results."""
    if not is_whole(rng):
        return _tested(res, found, as_generator(rng, "pairwise"))
    known = _TESTS.setdefault(res, {})
    key = int(rng), blake2b(found.rows.tobytes() + found.estimate.tobytes()).digest()
    if key not in known:
        known[key] = _tested(res, found, np.random.default_rng(int(rng)))
    return known[key]


def _tested(res: LLBTResults, found: LogWorths, rng: np.random.Generator) -> _Tests:
    df = res.df_inference
    i, j = np.triu_indices(len(res.comparisons.objects), 1)
    pairs = np.column_stack([i, j]).astype(np.int64)
    error, own = _pair_errors(found, pairs), res.df_of(found.rows[i] - found.rows[j])
    error[np.isnan(own)] = np.nan
    statistic = ratio(found.estimate[i] - found.estimate[j], error)
    p_value = two_sided_p(statistic, own)
    statistic = np.where(own < df, stats.t.isf(p_value / 2, df), statistic)  # of the tail that they have
    distribution = _largest(found, pairs, error, df, rng)
    for shared in (pairs, error, p_value):
        shared.flags.writeable = False
    return _Tests(pairs, error, p_value, statistic, own, distribution)


def _pair_errors(found: LogWorths, pairs: IntArray) -> FloatArray:
    """Return the standard errors of differences of log-worths; NaN where not determined or lost, 0 where known."""
    i, j = pairs.T
    variances = np.diag(found.cov)
    variance = variances[i] + variances[j] - 2 * found.cov[i, j]
    variance[variance <= KNOWN * variances.max(initial=0.0)] = 0.0
    apart = (np.abs(found.lost[i] - found.lost[j]) > LOST).any(axis=1)
    variance[np.isnan(found.estimate[i] - found.estimate[j]) | apart] = np.nan
    return np.asarray(np.sqrt(np.maximum(variance, 0)))


def _largest(found: LogWorths, pairs: IntArray, error: FloatArray, df: float, rng: np.random.Generator) -> MaxZ:
    """Return the distribution of the largest |z| over the pairs that were estimated."""
    rows = np.flatnonzero(error > 0)
    weights = np.column_stack([1 / error[rows], -1 / error[rows]]).ravel()
    where = (np.repeat(np.arange(len(rows)), 2), pairs[rows].ravel())
    return max_z(csr_array((weights, where), shape=(len(rows), len(found.cov))), found.cov, df, rng)


def compact_letters(pairs: Pairwise) -> Table:
    """Return letters such that two objects share one exactly when they do not differ significantly.

    Parameters
    ----------
    pairs : Pairwise
        Significant is an adjusted p-value below 1 − ``pairs.confidence``, adjusted as `pairwise` was asked to.

    Returns
    -------
    Table
        object, group; the best object first. Objects that take no part have no letter.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
    Computational and Graphical Statistics 13(2), 456-466.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> llbt.compact_letters(llbt.pairwise(res)).to_frame().values.tolist()
    [['A', 'a'], ['D', 'b'], ['B', 'c'], ['C', 'd']]
    """
    _check_pairwise(pairs, "compact_letters")
    letters = letters_of(pairs)
    order = best_first(pairs)
    return Table(
        (
            Field("object", "object", [pairs.objects[k] for k in order]),
            Field("group", "group", [letters[k] for k in order]),
        ),
        title="Compact letters: objects that share a letter do not differ significantly",
        notes=(*pairs.notes, _significance(pairs)),
    )


def significance_clusters(pairs: Pairwise) -> Table:
    """Return the ranking cut where every object above is significantly better than every object below.

    Parameters
    ----------
    pairs : Pairwise
        Significant is an adjusted p-value below 1 − ``pairs.confidence``, adjusted as `pairwise` was asked to; the
        WMT tables do not adjust (``adjust=None``).

    Returns
    -------
    Table
        object, significance_cluster (1, 2, …; NaN for objects that take no part); the best object first.

    References
    ----------
    Bojar, O. et al. (2013). Findings of the 2013 Workshop on Statistical Machine Translation. WMT, 1-44.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> llbt.significance_clusters(llbt.pairwise(res)).to_frame().values.tolist()
    [['A', 1], ['D', 2], ['B', 3], ['C', 4]]
    """
    _check_pairwise(pairs, "significance_clusters")
    number = np.array(statistics.significance_clusters(pairs.better(pairs.significant), pairs.ranking.tolist()))
    order = best_first(pairs)
    values = number if number.all() else np.where(number > 0, number, np.nan)
    return Table(
        (
            Field("object", "object", [pairs.objects[k] for k in order]),
            Field("significance_cluster", "cluster", values[order], "count"),
        ),
        title="Significance clusters: all objects above a break are significantly better than all below",
        notes=(*pairs.notes, _significance(pairs)),
    )


def letters_of(pairs: Pairwise) -> list[str]:
    """Return the letters of the J objects, empty for those that take no part."""
    better = pairs.better(pairs.significant)
    return statistics.compact_letters(better | better.T, pairs.ranking.tolist())


def best_first(pairs: Pairwise) -> IntArray:
    """Return the positions of all J objects, the best first and those that take no part last."""
    return np.append(pairs.ranking, np.flatnonzero(np.isnan(pairs.log_worths)))


def _check_pairwise(pairs: object, asker: str) -> None:
    if not isinstance(pairs, Pairwise):
        raise DesignError(
            f"{asker}: found a {type(pairs).__name__}; it takes what llbt.pairwise returns: "
            f"llbt.{asker}(llbt.pairwise(res))."
        )


def _significance(pairs: Pairwise) -> str:
    return f"significant: p < {1 - pairs.confidence:.4g}, p-values {_ADJUSTED[pairs.adjust]}"
