"""Tests of all pairs of objects in one class: p-values, simultaneous intervals, and claims against a margin."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from hashlib import blake2b
from weakref import WeakKeyDictionary

import numpy as np
from scipy import stats

from ..base.arguments import Rng, as_generator, is_whole
from ..core.columns import FloatArray, IntArray, Label
from ..core.max_z import MaxZ
from ..core.statistics import adjust_p, ratio, two_sided_p
from ..fitting.estimates import Estimates
from .log_worths import LogWorths
from .margins import Adjust, together_against
from .pairwise_record import Decided, Pairwise
from .scales import Scale
from .simultaneous import largest, pair_errors, refuse_pairs

_DRAWS = 10_000  # draws of predicted log-worths for their ranks


@dataclass(frozen=True, eq=False)
class _Tests:
    """The tests of all m pairs in one class, for any level and adjustment.

    Attributes
    ----------
    pairs : ndarray of int, shape (m, 2)
    std_error : ndarray, shape (m,)
    own_statistic : ndarray, shape (m,)
        The statistic with the pair's own degrees of freedom.
    statistic : ndarray, shape (m,)
        The statistic converted to the degrees of freedom of the table, also for pairs that few clusters inform.
    own : ndarray, shape (m,)
        The degrees of freedom of each pair.
    distribution : MaxZ
    """

    pairs: IntArray
    std_error: FloatArray
    own_statistic: FloatArray
    statistic: FloatArray
    own: FloatArray
    distribution: MaxZ

    @functools.cached_property
    def p_value(self) -> FloatArray:
        """The p-values of each pair alone, (m,)."""
        p_values = two_sided_p(self.own_statistic, self.own)
        p_values.flags.writeable = False
        return p_values

    @functools.cached_property
    def single_step(self) -> FloatArray:
        """The single-step adjusted p-values, (m,)."""
        p_values = self.distribution.p_value(self.statistic)
        p_values.flags.writeable = False
        return p_values

    def adjusted(self, adjust: Adjust | None) -> FloatArray:
        """Return adjusted p-values, (m,)."""
        if adjust is None:
            return self.p_value
        return self.single_step if adjust == "single-step" else adjust_p(self.p_value, adjust)


_TESTS: WeakKeyDictionary[Estimates, dict[tuple[int, bytes], _Tests]] = WeakKeyDictionary()


def all_pairs(
    res: Estimates,
    log_worths: LogWorths,
    rng: Rng,
    *,
    objects: tuple[Label, ...] = (),
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    margin: float | None = None,
    confidence: float = 0.95,
    notes: tuple[str, ...] = (),
    tested: bool = True,
    adjusted: bool = True,
    shared: MaxZ | None = None,
) -> Pairwise:
    """Return every pair of objects compared, by default all of the table, from the log-worths of one class.

    p-values are NaN unless `tested`: ranks do not need them, and for many pairs they take long. Adjusted p-values take
    longest and are NaN unless `adjusted`: the intervals show which pairs are significant. Intervals and p-values are
    simultaneous over the pairs of the `shared` distribution of max |z|, by default over the pairs of the class.
    """
    df, tests = res.worth_df_inference, _tests_of(res, log_worths, rng)
    if shared is not None:
        tests = replace(tests, distribution=shared)
    none = np.full(len(tests.pairs), np.nan)
    with_p = tested and not log_worths.predicted  # predictions are not tested
    critical = tests.distribution.quantile(confidence)
    apart = log_worths.estimate[tests.pairs[:, 0]] - log_worths.estimate[tests.pairs[:, 1]]
    notes = (*notes, *res.covariance.missing_notes(apart, tests.std_error))
    decided = _decided(log_worths, tests.pairs, tests.std_error, scale)
    against = None
    if margin is not None:
        odds = (
            (apart, tests.std_error)
            if decided is None or scale == "log_worth"
            else (decided.difference, decided.std_error)
        )
        against = together_against(margin, scale, *odds, tests.own, confidence, tests.distribution, adjust)
    return Pairwise(
        objects or res.comparisons.objects,
        tests.pairs,
        log_worths.estimate,
        tests.std_error,
        tests.p_value if with_p else none,
        tests.adjusted(adjust) if with_p and adjusted else none,
        critical,
        _on_own_df(critical, df, tests.own),
        df,
        scale,
        adjust,
        confidence,
        notes,
        decided,
        _rank_ranges(res, log_worths, as_generator(rng), confidence),
        against,
    )


def _rank_ranges(
    res: Estimates, log_worths: LogWorths, rng: np.random.Generator, confidence: float
) -> FloatArray | None:
    """Return the rank range of each object in draws of predicted log-worths, (J, 2); NaN without effects."""
    if res.object_effects is None:
        return None
    ranges = np.full((len(log_worths.estimate), 2), np.nan)
    inside = np.flatnonzero(~np.isnan(log_worths.estimate))
    if not res.object_effects.sigma > 0 or not len(inside):
        return ranges
    value, vector = np.linalg.eigh(log_worths.cov[np.ix_(inside, inside)])
    spread = vector * np.sqrt(np.maximum(value, 0.0))
    drawn = log_worths.estimate[inside] + rng.standard_normal((_DRAWS, len(inside))) @ spread.T
    ranks = stats.rankdata(-drawn, axis=1)
    tail = (1 - confidence) / 2
    ranges[inside] = np.quantile(ranks, (tail, 1 - tail), axis=0, method="inverted_cdf").T
    return ranges


def _decided(log_worths: LogWorths, pairs: IntArray, error: FloatArray, scale: Scale) -> Decided | None:
    """Return the log-odds of being preferred if they are not 2(λᵢ − λⱼ): for grades, and for mean probabilities."""
    if log_worths.beside is not None:
        (i, j), cross = pairs.T, log_worths.beside.cross
        of_pairs = log_worths.beside.log_odds(
            log_worths.estimate[i] - log_worths.estimate[j], error, cross[i] - cross[j]
        )
        level, _ = log_worths.beside.log_odds(log_worths.estimate, np.zeros(len(cross)), cross)
        return Decided(*of_pairs, level)
    if log_worths.contexts is None or scale != "probability":
        return None
    mean, spread = log_worths.contexts.pair_log_odds(pairs)
    return Decided(mean, np.where(np.isnan(error), np.nan, spread), log_worths.contexts.levels())


def _tests_of(res: Estimates, log_worths: LogWorths, rng: Rng) -> _Tests:
    """Return the tests of all pairs; for an integer seed they are computed once and stored with the results."""
    if not is_whole(rng):
        return _tested(res, log_worths, as_generator(rng))
    known = _TESTS.setdefault(res, {})
    digest = blake2b(np.ascontiguousarray(log_worths.rows).data)
    digest.update(np.ascontiguousarray(log_worths.estimate).data)
    key = int(rng), digest.digest()
    if key not in known:
        known[key] = _tested(res, log_worths, np.random.default_rng(int(rng)))
    return known[key]


def _tested(res: Estimates, log_worths: LogWorths, rng: np.random.Generator) -> _Tests:
    df, size = res.worth_df_inference, len(log_worths.estimate)
    refuse_pairs(size)
    i, j = np.triu_indices(size, 1)
    pairs = np.array([i, j], dtype=np.int64).T  # contiguous columns
    error, own = pair_errors(log_worths, pairs), np.full(len(pairs), df)
    if res.object_effects is None and res.covariance.differs:
        own = res.covariance.df_of_differences(log_worths.rows[:, res.free], i, j)
    error[np.isnan(own)] = np.nan
    statistic = ratio(log_worths.estimate[i] - log_worths.estimate[j], error)
    distribution = largest(log_worths, pairs, error, df, rng)
    for shared in (pairs, error):
        shared.flags.writeable = False
    tests = _Tests(pairs, error, statistic, statistic, own, distribution)
    if (own == df).all():
        return tests
    # statistics with the same tail probability
    alike = np.where(own != df, stats.t.isf(tests.p_value / 2, df), statistic)
    return replace(tests, statistic=alike)


def _on_own_df(critical: float, df: float, own: FloatArray) -> FloatArray:
    """Return the critical values of pairs for their own degrees of freedom, with the same tail probability, (m,)."""
    if (own == df).all():
        return np.full(len(own), critical)
    return np.where(own != df, stats.t.isf(stats.t.sf(critical, df), own), critical)
