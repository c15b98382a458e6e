"""Variance components of scores: how much sums of scores vary beyond those of independent judgments.

Suppose that the judgments of a cluster d (a judge, a prompt, a block) share an effect with variance τ² in some
direction. Then the product of two of their scores has the mean τ²vv′, where v is a judgment's information on the
direction. The variance of a single score stays v, because a single judgment has no other variance. The sum over a unit
g has the variance Σ v + Σ_w τ_w² Σ_d ((Σ v)² − Σ v²) over the judgments in both g and d, where w are the clusterings.
All τ_w² are estimated together by the method of moments, from the products of different judgments in a cluster; none is
below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import optimize, stats

from ..core.columns import groups
from .indexed_rows import FloatArray, IntArray

_CUT = 0.2  # this share of the units, the most unusual ones, does not count for the variance between units
_EFFICIENCY = 0.6  # least efficiency of the variance estimated without these units, whatever the degrees of freedom
_ENDLESS = 1e12


@dataclass(frozen=True, eq=False)
class Components:
    """Variances τ² of effects that lines of a cluster share, for K clusterings of N lines.

    Attributes
    ----------
    codes : tuple of ndarray of int, each (N,)
        The cluster of each line.
    info : ndarray, shape (N,)
        The sum of the information v over each line's judgments.
    single : ndarray, shape (N,)
        The sum of v² over each line's judgments.
    variance : ndarray, shape (K,)
        τ².
    df : ndarray, shape (K,)
        The degrees of freedom of each estimate.
    """

    codes: tuple[IntArray, ...]
    info: FloatArray
    single: FloatArray
    variance: FloatArray
    df: FloatArray

    @classmethod
    def of(
        cls, codes: Sequence[IntArray], score: FloatArray, square: FloatArray, times: FloatArray, v: FloatArray
    ) -> Self:
        """Return the components for lines with the sums of their judgments' scores and squared scores, (N,) each.

        A line stands for `times` (N,) judgments, each with information v (N,).
        """
        ways = tuple(codes)
        info, single = times * v, times * v**2
        sums = [_binned(way, score) for way in ways]
        infos = [_binned(way, info) for way in ways]
        excess = np.array([float(s @ s) for s in sums]) - square.sum()
        expected = np.diag([float(i @ i) for i in infos])
        for a in range(len(ways)):
            for b in range(a):
                shared = _binned(groups([ways[a], ways[b]])[1], info)
                expected[a, b] = expected[b, a] = float(shared @ shared)
        expected -= single.sum()
        fourths = np.array([float((i**2) @ (i**2)) for i in infos])
        df = np.maximum(np.diag(expected).clip(0.0) ** 2 / np.maximum(fourths, 1e-300) - 1, 1.0)
        scale = 1 / np.sqrt(np.maximum(np.diag(expected), 1e-300))
        components = optimize.nnls(expected * scale[:, None], excess * scale)[0] if len(ways) else np.zeros(0)
        return cls(ways, info, single, np.asarray(components), df)

    def beyond(self, units: IntArray, size: int, weights: FloatArray | None = None) -> Spread:
        """Return how much sums over units (N,) vary beyond those of independent lines; lines may have weights (N,)."""
        info = self.info if weights is None else self.info * weights
        single = _binned(units, self.single if weights is None else self.single * weights**2, size)
        each = np.zeros((len(self.codes), size))
        for k, way in enumerate(self.codes):
            if self.variance[k] > 0:
                first, both = groups([units, way])
                each[k] = self.variance[k] * (_binned(units[first], _binned(both, info) ** 2, size) - single)
        each = np.maximum(each, 0.0)
        return Spread(each.sum(axis=0), np.asarray((each**2 / self.df[:, None]).sum(axis=0)))


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance of G units beyond that of independent judgments.

    Attributes
    ----------
    variance : ndarray, shape (G,)
    squares : ndarray, shape (G,)
        The sum of the squared parts of the variance, each divided by its degrees of freedom.
    """

    variance: FloatArray
    squares: FloatArray

    def plus(self, other: Spread) -> Spread:
        """Return the sum of both variances."""
        return Spread(self.variance + other.variance, self.squares + other.squares)

    def df(self, whole: FloatArray) -> FloatArray:
        """Return Satterthwaite's degrees of freedom of a variance with these parts, (G,); infinite without parts."""
        return np.asarray(np.divide(whole**2, self.squares, out=np.full(len(whole), np.inf), where=self.squares > 0))


def of_most(score: FloatArray, variance: FloatArray, spread: FloatArray, unit: IntArray, size: int) -> Spread:
    """Return the variance that differences between most units add to each score, (k,).

    The effects of units have one variance ω², so a score has the variance v + ω²v² (plus the part from dependence). ω²
    ≥ 0 is chosen so that the smallest four fifths of the squared z have the mean of a χ² that is truncated there. So a
    few unusual units do not hide each other.

    Parameters
    ----------
    score, variance, spread : ndarray, each (k,)
        Scores, their variance for independent judgments, and the variance that dependence within units adds.
    unit : ndarray of int, shape (k,)
        The unit of each score.
    size : int
        Number of units G.
    """
    usable = np.isfinite(score) & (variance > 0)
    number = np.bincount(unit[usable], minlength=size)
    there = np.flatnonzero(number)
    n_smallest = len(there) - max(1, int(_CUT * len(there)))
    if n_smallest < 1:
        return Spread(np.zeros(len(score)), np.zeros(len(score)))
    each = float(number[there].mean())
    expected = stats.chi2.cdf(stats.chi2.ppf(n_smallest / len(there), each), each + 2) * len(there) / n_smallest
    v, before, squared, of = variance[usable], spread[usable], score[usable] ** 2, unit[usable]

    def excess(effect: float) -> float:
        sums = np.bincount(of, squared / (v + before + effect * v**2), size)[there]
        least = np.argsort(sums / number[there], kind="stable")[:n_smallest]
        return float(sums[least].sum() / number[there][least].sum() - expected)

    largest = 1.0 / float(v.mean())
    while excess(largest) > 0 and largest < _ENDLESS:
        largest *= 4
    effect = 0.0 if excess(0.0) <= 0 else optimize.brentq(excess, 0.0, largest, xtol=1e-6 * largest)
    added = np.where(usable, effect * variance**2, 0.0)
    return Spread(added, added**2 / max(_EFFICIENCY * each * n_smallest, 1.0))


def _binned(codes: IntArray, weights: FloatArray, size: int = 0) -> FloatArray:
    return np.asarray(np.bincount(codes, weights, size), dtype=np.float64)
