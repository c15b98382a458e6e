"""Components of variance of scores: how much sums of scores vary beyond those of independent judgments.

Judgments of a cluster d (a judge, a prompt, a block) that share an effect with variance τ² in some direction have
scores whose products have the mean τ²vv′, v their information on it. The variance of each score alone stays v, because
a single judgment has no other variance. A sum over a unit g then has the variance Σ v + Σ_w τ_w² Σ_d ((Σ v)² − Σ v²)
over the judgments in g and d, w the ways of clustering. The τ_w² are found by the method of moments, from the products
of different judgments of each way's clusters, of all ways at once, none below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import optimize, stats

from ..core.columns import groups
from .indexed_rows import FloatArray, IntArray

_CUT = 0.2  # share of the units, those most unlike the rest, that do not count for how much units differ
_EFFICIENCY = 0.6  # of the others' variance against that of all, at least, whatever the degrees of freedom
_ENDLESS = 1e12


@dataclass(frozen=True, eq=False)
class Components:
    """Variances τ² of the effects that the lines of clusters share, K ways of clustering N lines.

    Attributes
    ----------
    codes : tuple of ndarray of int, each (N,)
        The cluster of each line.
    info : ndarray, shape (N,)
        Information v on each line, and the sum of its squares over the line's judgments.
    single : ndarray, shape (N,)
    variance : ndarray, shape (K,)
        τ².
    df : ndarray, shape (K,)
        Degrees of freedom that each is estimated on.
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
        """Return the components of lines: the sums of their judgments' scores and of their squares, (N,) each.

        A line stands for so many judgments, `times` (N,), with an information v (N,) each.
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
        found = optimize.nnls(expected * scale[:, None], excess * scale)[0] if len(ways) else np.zeros(0)
        return cls(ways, info, single, np.asarray(found), df)

    def beyond(self, units: IntArray, size: int, weights: FloatArray | None = None) -> Spread:
        """Return the variance of sums over units (N,) beyond that of independent lines; lines may have weights (N,)."""
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
    """Variances of G units beyond that of independent judgments.

    Attributes
    ----------
    variance : ndarray, shape (G,)
    squares : ndarray, shape (G,)
        Of each part, its square over its degrees of freedom, added up.
    """

    variance: FloatArray
    squares: FloatArray

    def plus(self, other: Spread) -> Spread:
        """Return both together."""
        return Spread(self.variance + other.variance, self.squares + other.squares)

    def df(self, whole: FloatArray) -> FloatArray:
        """Return the degrees of freedom of a variance with these parts (Satterthwaite), infinite without any, (G,)."""
        return np.asarray(np.divide(whole**2, self.squares, out=np.full(len(whole), np.inf), where=self.squares > 0))


def of_most(score: FloatArray, variance: FloatArray, spread: FloatArray, unit: IntArray, size: int) -> Spread:
    """Return how much units differ, as most of them do: the variance that this adds to each score, (k,).

    Effects of units have one variance ω², so that a score has the variance v + ω²v² (and what dependence adds to it).
    ω² ≥ 0 is chosen so that the smallest four fifths of the squared z have the mean of a χ² that is cut off there. So a
    few unusual units do not hide each other.

    Parameters
    ----------
    score, variance, spread : ndarray, each (k,)
        Scores with their variance of independent judgments and what dependence within units adds to it.
    unit : ndarray of int, shape (k,)
        The unit of each score.
    size : int
        Number of units G.
    """
    usable = np.isfinite(score) & (variance > 0)
    number = np.bincount(unit[usable], minlength=size)
    there = np.flatnonzero(number)
    kept = len(there) - max(1, int(_CUT * len(there)))
    if kept < 1:
        return Spread(np.zeros(len(score)), np.zeros(len(score)))
    each = float(number[there].mean())
    expected = stats.chi2.cdf(stats.chi2.ppf(kept / len(there), each), each + 2) * len(there) / kept
    v, before, squared, of = variance[usable], spread[usable], score[usable] ** 2, unit[usable]

    def excess(effect: float) -> float:
        sums = np.bincount(of, squared / (v + before + effect * v**2), size)[there]
        least = np.argsort(sums / number[there], kind="stable")[:kept]
        return float(sums[least].sum() / number[there][least].sum() - expected)

    largest = 1.0 / float(v.mean())
    while excess(largest) > 0 and largest < _ENDLESS:
        largest *= 4
    effect = 0.0 if excess(0.0) <= 0 else optimize.brentq(excess, 0.0, largest, xtol=1e-6 * largest)
    added = np.where(usable, effect * variance**2, 0.0)
    return Spread(added, added**2 / max(_EFFICIENCY * each * kept, 1.0))


def _binned(codes: IntArray, weights: FloatArray, size: int = 0) -> FloatArray:
    return np.asarray(np.bincount(codes, weights, size), dtype=np.float64)
