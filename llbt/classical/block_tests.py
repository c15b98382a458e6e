"""Tests of differences between objects that are ranked in blocks: Friedman, Durbin, Skillings and Mack, and Page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg, stats

from ..base.arguments import checked
from ..base.table import counted
from ..core.statistics import TestResult, chi2_p_value
from ..errors import listed
from .block_ranks import Ranked, places, read_ranks, refuse_incomplete, refuse_unbalanced

_FEW_BLOCKS = 10
_NULL = "in every block all orders of its objects are equally likely"


@checked
def friedman_test(
    frame: object,
    *,
    objects: Sequence[str] | None = None,
    object: str = "object",
    rank: str = "rank",
    block: str | Sequence[str] | None = None,
) -> TestResult:
    """Test whether objects differ, if every block ranks all of them (Friedman's test).

    Parameters
    ----------
    frame : frame, path or list of records
        A frame of any library that narwhals knows, or the path of a file. Long, one row per ranked object, or
        wide, one row per block.
    objects : sequence of str, optional
        Wide form: the columns of ranks, one per object; each row is a block.
    object, rank : str
        Long form: the columns with the object and its rank. Only the order within a block counts, so ratings can be
        used, too. Equal values are tied and get their mean rank.
    block : str or sequence of str, optional
        Long form: the columns that make a block, such as ``"judge"`` or ``["judge", "prompt"]``.

    Returns
    -------
    TestResult
        χ² with t − 1 degrees of freedom for t objects; NaN with a note for a single block, and if all ranks are tied.

    Raises
    ------
    JudgmentError
        For missing columns, ranks that are not finite numbers, and an object ranked twice in a block.
    DesignError
        For blocks that have only some of the objects.

    Notes
    -----
    In b blocks, let D_j be the sum of the deviations of object j's ranks from (t + 1)/2, and S the sum of all squared
    deviations. Then χ² = (t − 1) Σ D_j² / S, which allows for ties (Conover 1999, eq. 5.8.5).

    References
    ----------
    .. [1] Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in the analysis of
       variance. Journal of the American Statistical Association 32(200), 675-701.
    .. [2] Conover, W. J. (1999). Practical Nonparametric Statistics, 3rd ed. Wiley.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"A": [1, 1, 2, 1], "B": [2, 3, 1, 2], "C": [3, 2, 3, 3]})
    >>> test = llbt.classical.friedman_test(ranks, objects=["A", "B", "C"])
    >>> test.statistic, test.df
    (4.5, 2.0)
    """
    ranked = read_ranks(frame, objects, object, rank, block)
    refuse_incomplete(ranked)
    return _quadratic("Friedman's test", ranked)


@checked
def durbin_test(
    frame: object,
    *,
    objects: Sequence[str] | None = None,
    object: str = "object",
    rank: str = "rank",
    block: str | Sequence[str] | None = None,
) -> TestResult:
    """Test whether objects ranked in balanced incomplete blocks differ (Durbin's test).

    Parameters
    ----------
    frame, objects, object, rank, block
        As in `friedman_test`; a missing rank means that the block does not have the object.

    Returns
    -------
    TestResult
        χ² with t − 1 degrees of freedom for t objects; NaN with a note for a single block, and if all ranks are tied.

    Raises
    ------
    JudgmentError
        As in `friedman_test`.
    DesignError
        For a design that is not balanced: blocks must have one size, every object must be in equally many blocks, and
        so must every pair.

    Notes
    -----
    The statistic is like Friedman's, with deviations from (k + 1)/2 in blocks of k objects, and allows for ties
    (Conover 1999, eq. 5.9.3).

    References
    ----------
    .. [1] Durbin, J. (1951). Incomplete blocks in ranking experiments. British Journal of Psychology 4(2), 85-90.
    .. [2] Conover, W. J. (1999). Practical Nonparametric Statistics, 3rd ed. Wiley.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"A": [1, 1, None], "B": [2, None, 1], "C": [None, 2, 2]})
    >>> test = llbt.classical.durbin_test(ranks, objects=["A", "B", "C"])
    >>> round(test.statistic, 4), test.df
    (2.6667, 2.0)
    """
    ranked = read_ranks(frame, objects, object, rank, block)
    refuse_unbalanced(ranked)
    return _quadratic("Durbin's test", ranked)


@checked
def skillings_mack_test(
    frame: object,
    *,
    objects: Sequence[str] | None = None,
    object: str = "object",
    rank: str = "rank",
    block: str | Sequence[str] | None = None,
) -> TestResult:
    """Test whether objects ranked in arbitrary blocks differ (the test of Skillings and Mack).

    Parameters
    ----------
    frame, objects, object, rank, block
        As in `friedman_test`; a missing rank means that the block does not have the object. Blocks with fewer than
        two objects are left out, with a note.

    Returns
    -------
    TestResult
        χ² with t − 1 degrees of freedom, minus one for each further group of objects if blocks do not connect all
        objects.

    Raises
    ------
    JudgmentError
        As in `friedman_test`, and for an object that no block ranks with another.

    Notes
    -----
    Deviations of ranks from (k + 1)/2, weighted by √(12/(k + 1)) in blocks of k objects, are summed by object to A; the
    statistic is AᵀV⁻A, where V⁻ is a generalized inverse of the covariance V of A over all orders within blocks. V is
    computed for the observed midranks, so the test allows for ties. The published test does not; without ties both are
    the same. On complete blocks the test equals Friedman's test with its correction for ties, on balanced incomplete
    blocks without ties Durbin's test.

    References
    ----------
    Skillings, J. H. & Mack, G. A. (1981). On the use of a Friedman-type statistic in balanced and unbalanced block
    designs. Technometrics 23(2), 171-177.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"A": [1, 1, None, 1], "B": [2, 3, 1, 2], "C": [3, 2, 2, None]})
    >>> test = llbt.classical.skillings_mack_test(ranks, objects=["A", "B", "C"])
    >>> round(test.statistic, 4), test.df
    (4.1989, 2.0)
    """
    ranked = read_ranks(frame, objects, object, rank, block)
    name = "Skillings and Mack's test"
    reason = _degenerate(ranked)
    if reason:
        return _undefined(name, _NULL, ranked, reason, "chi2")
    weight = np.sqrt(12 / (ranked.size + 1))
    sums = ranked.summed(weight[ranked.block] * ranked.deviation)
    # over all orders of a block: variance S/k of a rank, covariance −S/(k(k − 1)) of two
    common = weight**2 * ranked.spread / (ranked.size * (ranked.size - 1))
    there = ranked.incidence()
    covariance = np.diag(there.T @ (common * ranked.size)) - there.T @ (common[:, None] * there)
    inverse, df = linalg.pinvh(covariance, return_rank=True)
    statistic = float(sums @ inverse @ sums)
    notes = (*ranked.notes, *_rough(ranked))
    return TestResult(name, _NULL, statistic, float(df), chi2_p_value(statistic, df), "chi2", notes)


@checked
def page_test(
    frame: object,
    *,
    order: Sequence[Any],
    objects: Sequence[str] | None = None,
    object: str = "object",
    rank: str = "rank",
    block: str | Sequence[str] | None = None,
) -> TestResult:
    """Test whether objects ranked in blocks follow an order stated beforehand (Page's one-sided test).

    Parameters
    ----------
    frame, objects, object, rank, block
        As in `friedman_test`, but blocks may lack objects, and 1 is the best rank.
    order : sequence
        All objects, with the one expected to be best first.

    Returns
    -------
    TestResult
        The standardized statistic, which is large if the ranks follow `order`, with a one-sided p-value. If blocks are
        complete, the notes give Page's L.

    Raises
    ------
    JudgmentError
        As in `friedman_test`, and for an object that no block ranks with another.
    OptionError
        If `order` is not the objects, each once.

    Notes
    -----
    L = Σ_j j R_j, where R_j is the rank sum of the object in place j of `order`. Mean and variance are over all orders
    of the observed midranks, so the test allows for ties. In a block of k of the t objects, deviations of ranks have
    the weight (t + 1)/(k + 1) (Alvo & Cabilio 1995).

    References
    ----------
    .. [1] Page, E. B. (1963). Ordered hypotheses for multiple treatments: a significance test for linear ranks.
       Journal of the American Statistical Association 58(301), 216-230.
    .. [2] Alvo, M. & Cabilio, P. (1995). Testing ordered alternatives in the presence of incomplete data. Journal of
       the American Statistical Association 90(431), 1015-1024.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"A": [1, 1, 2, 1], "B": [2, 3, 1, 2], "C": [3, 2, 3, 3]})
    >>> test = llbt.classical.page_test(ranks, objects=["A", "B", "C"], order=["A", "B", "C"])
    >>> round(test.statistic, 4), test.notes[0]
    (2.1213, 'L = 54')
    """
    ranked = read_ranks(frame, objects, object, rank, block)
    place = places(order, ranked.objects)[ranked.item]
    name, null = "Page's test", f"{_NULL}; alternative: better ranks in the order {listed(tuple(order))}"
    reason = "all ranks are tied, so there is nothing to test" if not ranked.spread.any() else ""
    if reason:
        return _undefined(name, null, ranked, reason, "normal")
    b, t = len(ranked.size), len(ranked.objects)
    weight = (t + 1) / (ranked.size + 1)
    centred = place - (np.bincount(ranked.block, place, b) / ranked.size)[ranked.block]
    above = float(np.sum(weight[ranked.block] * centred * ranked.deviation))
    stated = np.bincount(ranked.block, centred**2, b)
    variance = float(np.sum(weight**2 * stated * ranked.spread / (ranked.size - 1)))
    z = above / variance**0.5
    complete = np.all(ranked.size == t)
    notes = ((f"L = {np.sum(place * ranked.rank):.10g}",) if complete else ()) + ranked.notes + _rough(ranked)
    return TestResult(name, null, z, np.nan, float(stats.norm.sf(z)), "normal", notes)


# -- tests ------------------------------------------------------------------------------------------------------


def _quadratic(name: str, ranked: Ranked) -> TestResult:
    """Return the test of rank sums for blocks of one size that contain every pair of objects equally often."""
    reason = _degenerate(ranked)
    if reason:
        return _undefined(name, _NULL, ranked, reason, "chi2")
    df = len(ranked.objects) - 1
    statistic = float(df * np.sum(ranked.summed(ranked.deviation) ** 2) / ranked.spread.sum())
    notes = (*ranked.notes, *_rough(ranked))
    return TestResult(name, _NULL, statistic, float(df), chi2_p_value(statistic, df), "chi2", notes)


def _degenerate(ranked: Ranked) -> str:
    """Return the reason if there is nothing to test; otherwise an empty text."""
    if not ranked.spread.any():
        return "all ranks are tied, so there is nothing to test"
    if np.bincount(ranked.item).max() < 2:
        return "no object is in more than one block, so the statistic is the same whatever the ranks"
    return ""


def _undefined(name: str, null: str, ranked: Ranked, reason: str, distribution: str) -> TestResult:
    df = float(len(ranked.objects) - 1) if distribution == "chi2" else np.nan
    return TestResult(name, null, np.nan, df, np.nan, distribution, (*ranked.notes, reason))


def _rough(ranked: Ranked) -> tuple[str, ...]:
    b = len(ranked.size)
    return (f"only {counted(b, 'block')}: the p-value is rough",) if b < _FEW_BLOCKS else ()
