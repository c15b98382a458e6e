"""Scores of units (judges, prompts) at a fit of lists: units that differ from the rest, and dependence of lists.

These are the tests of `unit_scores`, for lists in place of pairs. At the estimates the score of a list has mean 0, and
its variance is the information of the list. Notation: U rows of worths, L lists, G units, T orders of ties.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.sparse import csr_array, eye_array

from ..core.statistics import two_sided_p
from .list_likelihood import Lists
from .ranking_terms import Batch, Choices
from .unit_scores import UnitScores, UnitTests, combined

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_LEAST = 10  # fewest choices of a unit that is tested; a place counts if it was given while two objects were left
_ENOUGH = 2.5  # least Σ p(1 − p) of a unit's choices that involve an object: ten choices between two
_STEP = 1e-3  # step in differences, as a share of the largest log-worth
_ENTRIES = 2e7  # products of choices of tied lists in memory at once


@dataclass(frozen=True, eq=False)
class ListUnits:
    """Lists by unit, at the estimates of a fit.

    Attributes
    ----------
    lists : Lists
        The lists, with the log-worths of the rows as parameters.
    params : ndarray, shape (U + T,)
        Log-worths and log δ.
    spread : ndarray, shape (U + T, U + T)
        The covariance of `params`.
    codes : ndarray of int, shape (L,)
    size : int
        The number of units G.
    """

    lists: Lists
    params: FloatArray
    spread: FloatArray
    codes: IntArray
    size: int

    @classmethod
    def of(cls, lists: Lists, params: FloatArray, cov: FloatArray, codes: IntArray, size: int) -> ListUnits:
        """Return the units of lists at the estimates `params` (p + T,) with their covariance `cov`."""
        worths, deltas = lists.split(params)
        rows, p = lists.matrix.shape
        beside = cov.shape[0] - p
        to_rows = np.zeros((rows + beside, p + beside))
        to_rows[:rows, :p], to_rows[rows:, p:] = lists.matrix.toarray(), np.eye(beside)
        plain = replace(lists, matrix=csr_array(eye_array(rows)))
        params = np.append(worths, deltas if lists.held is None else deltas[:0])
        return cls(plain, params, to_rows @ cov @ to_rows.T, codes, size)

    @property
    def rows(self) -> int:
        """The number of rows of worths U."""
        return int(self.lists.matrix.shape[0])

    def parts(self) -> Iterator[Unit]:
        """Yield each unit that has lists."""
        sorted_batches = []
        for batch in self.lists.batches:
            unit = self.codes[batch.of]
            order = np.argsort(unit, kind="stable")
            sorted_batches.append((_taken(batch, order), np.searchsorted(unit[order], np.arange(self.size + 1))))
        beside = np.arange(self.rows, len(self.params))
        for g in range(self.size):
            own = [_taken(b, np.arange(ends[g], ends[g + 1])) for b, ends in sorted_batches if ends[g + 1] > ends[g]]
            if not own:
                continue
            touched = np.unique(np.concatenate([batch.rows.ravel() for batch in own]))
            small = tuple(replace(b, rows=np.searchsorted(touched, b.rows)) for b in own)  # type: ignore[type-var]
            lists = replace(self.lists, batches=small, matrix=csr_array(eye_array(len(touched))))
            yield Unit(g, lists, self.params, np.append(touched, beside))


@dataclass(frozen=True, eq=False)
class Unit:
    """The lists of one unit.

    Attributes
    ----------
    place : int
    lists : Lists
        The unit's lists, over the k rows of worths that they involve.
    params : ndarray, shape (U + T,)
        The parameters of all lists.
    at : ndarray of int, shape (k + T,)
        The places of the unit's own parameters among these.
    """

    place: int
    lists: Lists
    params: FloatArray
    at: IntArray

    @property
    def own(self) -> IntArray:
        """The rows of worths that the unit's lists involve, shape (k,)."""
        return self.at[: self.lists.matrix.shape[0]]

    def information(self) -> FloatArray:
        """Return the information of the unit's lists, shape (k + T, k + T)."""
        return self.lists.moments(self.params[self.at]).information

    def third(self, along: FloatArray) -> float:
        """Return the third central moment of the score along a direction (k + T,), summed over choices from sets.

        A choice follows an exponential family, so the third moment is the slope of the variance.
        """
        step = _STEP / max(float(np.abs(along).max()), 1e-300)
        high, low = (self.lists.moments(self.params[self.at] + way * step * along).information for way in (1, -1))
        return float(along @ (high - low) @ along / (2 * step))


def _taken(batch: Batch, some: IntArray) -> Batch:
    rows: slice = some  # type: ignore[assignment]
    return batch.part(rows)


def compare_list_units(units: ListUnits, choices: FloatArray, objects: IntArray) -> UnitTests:
    """Test each unit against the rest: whether it agrees with the worths of all, and whether it favours an object.

    This is Rao's test of one more parameter for the unit: a factor of all worths, or the worth of one object. The
    variance of its score is i − cᵀVc, with c its covariance with the scores of the model. A p-value of agreement is the
    larger of two: the normal p-value, and the p-value by Pearson's distribution of type III with the choices' third
    moment. That moment ignores dependence within a list.

    Parameters
    ----------
    choices : ndarray, shape (G,)
        How many choices each unit made.
    objects : ndarray of int, shape (U,)
        The object of each row.
    """
    score = units.lists.scores(units.params, units.codes, units.size)
    agreed, variance, third = np.zeros((3, units.size))
    by_part: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
    for unit in units.parts():
        g, own = unit.place, unit.own
        info, k = unit.information(), len(own)
        left = info - info @ units.spread[np.ix_(unit.at, unit.at)] @ info
        along = np.zeros(len(unit.at))
        along[:k] = units.params[own] - units.params[own].mean()
        agreed[g], variance[g], whole = score[g, own] @ along[:k], along @ left @ along, along @ info @ along
        variance[g] = variance[g] if variance[g] > 1e-9 * whole else 0.0
        third[g] = unit.third(along) * (variance[g] / whole) ** 1.5 if variance[g] else 0.0
        before, after = np.diag(info)[:k], np.diag(left)[:k]
        enough = (before / 4 >= _ENOUGH) & (after > 1e-9 * before)
        by_part.append((np.full(enough.sum(), g), objects[own[enough]], score[g, own[enough]], after[enough]))
    few = choices < _LEAST
    agreement = UnitScores(agreed, np.where(few, 0.0, variance), third)
    cautious = np.fmax(agreement.p_values(), two_sided_p(agreement.z, np.inf))
    place, item, of_item, spread = (np.concatenate(parts) for parts in zip(*by_part, strict=True))
    scores = UnitScores(of_item, spread, np.zeros(len(place)))
    return combined({"agreement": agreement.z}, cautious[None, :], place, item, scores)


def list_dependence(units: ListUnits) -> tuple[float, float]:
    """Test whether lists of one unit are independent, against worths that vary between units: statistic and p-value.

    This is `unit_scores.dependence` for lists. The statistic is Σ (S² − Q)/I over units and rows, where S is the sum of
    the scores of a unit's lists, Q the sum of their squares, and I the information on a row. Only products of different
    lists of one unit are left. Their mean is 0, except for a part lost by estimating the worths. Their variance is 2 Σ
    tr(D I_l D I_m) over pairs of lists l ≠ m, with D = 1/I. The skewness is computed as for a quadratic form of normal
    scores. Results are NaN if no unit has two lists, or if there are too many lists with ties.
    """
    rows, lists = units.rows, units.lists
    n = lists.counts
    whole = np.zeros(rows)
    twice = cubed = 0.0
    units_informed = [(unit.own, unit.information()) for unit in units.parts()]
    for own, info in units_informed:
        whole[own] += np.diag(info)[: len(own)]
    scale = 1 / np.maximum(whole, np.finfo(float).tiny)
    for own, info in units_informed:
        both = info[: len(own), : len(own)] * scale[own]
        square = both @ both
        twice += float(np.trace(square))
        cubed += float(np.sum(square * both.T))
    variance = 2 * (twice - _of_single_lists(units, scale))
    if not variance > 1e-12 * twice:
        return np.nan, np.nan
    score = lists.scores(units.params, units.codes, units.size)[:, :rows]
    _, of_lists, _ = lists.each(units.params)
    value = float(((score**2).sum(axis=0) - (of_lists.power(2).T @ n)) @ scale)
    z = (value + variance / 2) / np.sqrt(variance)
    return float(z), float(stats.pearson3.sf(z, 8 * cubed / variance**1.5))


def _of_single_lists(units: ListUnits, scale: FloatArray) -> float:
    """Return Σ n tr(D I_l D I_l) over lists; NaN if they have ties and too many choices."""
    lists, rows = units.lists, units.rows
    worths, deltas = units.params[:rows], lists.split(units.params)[1]
    if sum(b.rows.size * b.rows.shape[1] for b in lists.batches if isinstance(b, Choices)) > _ENTRIES:
        return np.nan
    total, keys, values = 0.0, [], []
    for batch in lists.parts():
        info = batch.evaluated(worths[batch.rows], deltas).information
        if not isinstance(batch, Choices):
            root = np.sqrt(scale[batch.rows])
            total += float(
                lists.counts[batch.of] @ ((info * root[:, :, None] * root[:, None, :]) ** 2).sum(axis=(1, 2))
            )
            continue
        keys.append(((batch.of[:, None, None] * rows + batch.rows[:, :, None]) * rows + batch.rows[:, None, :]).ravel())
        values.append(info.ravel())
    if keys:  # the choices of a single list
        key, place = np.unique(np.concatenate(keys), return_inverse=True)
        summed = np.bincount(place, np.concatenate(values))
        of, pair = np.divmod(key, rows * rows)
        a, b = np.divmod(pair, rows)
        total += float(lists.counts[of] @ (summed**2 * scale[a] * scale[b]))
    return total
