"""Probabilities of choices from a given set: one object, several tied objects, or a best and a worst.

For each place of a list, a set of objects is chosen from the objects that are left (Plackett-Luce; with ties after
Turner, van Etten, Firth & Kosmidis 2020, Computational Statistics 35). With values u = 2λ and at most D tied objects,

    P(C | A) ∝ δ_|C| exp(mean of u over C),    C ⊆ A, 1 ≤ |C| ≤ D, δ₁ = 1.

For a best and a worst, P(b, w | A) ∝ exp(λ_b − λ_w). All of these models are exponential families in (λ, log δ). So the
log-likelihood is concave, and its information is the covariance of the sufficient statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_FAR = 300.0  # if the values of a list differ by more, squares of their exponentials leave the range of doubles


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The likelihood of lists of one size at given values, for Q lists of m objects and T orders of ties.

    Attributes
    ----------
    value : ndarray, shape (Q,)
        Log-probabilities.
    score, ties : ndarray, shape (Q, m) and (Q, T)
        Derivatives in the log-worths and in log δ.
    information, between, of_ties : ndarray, shape (Q, m, m), (Q, m, T) and (Q, T, T)
        Minus the second derivatives.
    """

    value: FloatArray
    score: FloatArray
    ties: FloatArray
    information: FloatArray
    between: FloatArray
    of_ties: FloatArray


class Batch(Protocol):
    """Lists with equally many objects."""

    @property
    def rows(self) -> IntArray:
        """The row of the worth of each object, shape (Q, m)."""

    @property
    def of(self) -> IntArray:
        """The list that each row belongs to, shape (Q,)."""

    def evaluated(self, worths: FloatArray, deltas: FloatArray) -> Evaluated:
        """Return the log-probabilities and their derivatives at log-worths (Q, m) and log δ (T,)."""

    def part(self, some: slice) -> Batch:
        """Return a selection of the lists."""


@dataclass(frozen=True, eq=False)
class Orders:
    """Lists without ties: objects in order, the first `chosen` of them chosen one after another."""

    rows: IntArray
    of: IntArray
    chosen: IntArray

    def evaluated(self, worths: FloatArray, deltas: FloatArray) -> Evaluated:
        """Return the likelihood of the lists; see `Batch`."""
        size = worths.shape[1]
        made = np.arange(size) < np.minimum(self.chosen, size - 1)[:, None]
        values = 2 * worths
        stages = _stages if np.ptp(values, axis=1).max(initial=0.0) < _FAR else _stages_far_apart
        left, expected, both = stages(values, made)
        information = -4 * both
        information[:, np.arange(size), np.arange(size)] += 4 * expected
        return _without_ties(
            np.where(made, values - left, 0.0).sum(axis=1), 2 * (made - expected), information, len(deltas)
        )

    def part(self, some: slice) -> Orders:
        """Return a selection of the lists."""
        return Orders(self.rows[some], self.of[some], self.chosen[some])


def _stages(values: FloatArray, made: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log Σ exp of remaining objects by stage (Q, m), and sums of shares and products over `made` choices.

    An object's share at a stage is exp(its value) / (sum at the stage). Only sums over the stages up to an object's own
    are needed, (Q, m), and for products of two objects sums up to the first of both, (Q, m, m).
    """
    size = values.shape[1]
    top = values.max(axis=1, keepdims=True)
    weights = np.exp(values - top)
    left = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    once = made / left
    until = np.cumsum(once / left, axis=1)
    both = until[:, np.minimum(np.arange(size)[:, None], np.arange(size))]
    both *= weights[:, :, None]
    both *= weights[:, None, :]
    return np.log(left) + top, weights * np.cumsum(once, axis=1), both


def _stages_far_apart(values: FloatArray, made: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the result of `_stages` for values so far apart that their exponentials would be 0 or infinite."""
    stage = np.arange(values.shape[1])
    left = np.logaddexp.accumulate(values[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(under="ignore"):
        shares = np.exp(np.minimum(values[:, None, :] - left[:, :, None], 0.0))
    shares *= made[:, :, None] & (stage >= stage[:, None])
    return left, shares.sum(axis=1), shares.transpose(0, 2, 1) @ shares


@dataclass(frozen=True, eq=False)
class Choices:
    """Single choices of one or several tied objects (the first `chosen`) from all objects of a row.

    `orders` (T,) are the numbers of tied objects that have a δ of their own.
    """

    rows: IntArray
    of: IntArray
    chosen: IntArray
    orders: IntArray

    def evaluated(self, worths: FloatArray, deltas: FloatArray) -> Evaluated:
        """Return the likelihood of the lists; see `Batch`."""
        number, size = worths.shape
        orders = [1, *self.orders[self.orders <= size].tolist()]  # no set is larger than the number of objects
        top = worths.max(axis=1, keepdims=True)
        parts = [_of_order(np.exp(2 * (worths - top) / d), d) for d in orders]
        weights = np.exp(np.append(0.0, deltas))[: len(orders)]
        norm = np.asarray(sum(w * part.total for w, part in zip(weights, parts, strict=True)))
        of_order, between = np.zeros((number, len(deltas))), np.zeros((number, size, len(deltas)))
        expected, diagonal = np.zeros(worths.shape), np.zeros(worths.shape)
        information = np.zeros((number, size, size))
        for t, (d, w, part) in enumerate(zip(orders, weights, parts, strict=True), start=-1):
            single = part.single * (2 / d * w / norm)[:, None]
            expected += single
            diagonal += 2 / d * single
            if d > 1:
                information += part.pairs * ((2 / d) ** 2 * w / norm)[:, None, None]
                of_order[:, t], between[:, :, t] = part.total * (w / norm), single
        information -= expected[:, :, None] * expected[:, None, :]
        information[:, np.arange(size), np.arange(size)] += diagonal
        between -= expected[:, :, None] * of_order[:, None, :]
        of_ties = -of_order[:, :, None] * of_order[:, None, :]
        of_ties[:, np.arange(len(deltas)), np.arange(len(deltas))] += of_order
        counted = (np.arange(size) < self.chosen[:, None]) * (2 / self.chosen[:, None])
        is_chosen = self.chosen[:, None] == self.orders
        return Evaluated(
            value=(counted * (worths - top)).sum(axis=1) + is_chosen @ deltas - np.log(norm),
            score=counted - expected,
            ties=is_chosen - of_order,
            information=information,
            between=between,
            of_ties=of_ties,
        )

    def part(self, some: slice) -> Choices:
        """Return a selection of the choices."""
        return Choices(self.rows[some], self.of[some], self.chosen[some], self.orders)


@dataclass(frozen=True, eq=False)
class Extremes:
    """Sets with a best object, which comes first, and a worst object, which comes second.

    If `sequential`, the best is chosen by exp 2λ, then the worst of the others by exp −2λ. Else both are chosen at
    once.
    """

    rows: IntArray
    of: IntArray
    sequential: bool = False

    def evaluated(self, worths: FloatArray, deltas: FloatArray) -> Evaluated:
        """Return the likelihood of the lists; see `Batch`."""
        likelihood = _in_turn(worths) if self.sequential else _at_once(worths)
        return _without_ties(*likelihood, len(deltas))

    def part(self, some: slice) -> Extremes:
        """Return a selection of the sets."""
        return Extremes(self.rows[some], self.of[some], self.sequential)


def _at_once(worths: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    size = worths.shape[1]
    apart = worths[:, :, None] - worths[:, None, :]
    apart[:, np.arange(size), np.arange(size)] = -np.inf
    norm = special.logsumexp(apart, axis=(1, 2))
    share = np.exp(apart - norm[:, None, None])
    best, worst = share.sum(axis=2), share.sum(axis=1)
    expected = best - worst
    information = -share - share.transpose(0, 2, 1) - expected[:, :, None] * expected[:, None, :]
    information[:, np.arange(size), np.arange(size)] += best + worst
    seen = (np.arange(size) == 0) * 1.0 - (np.arange(size) == 1)
    return apart[:, 0, 1] - norm, seen - expected, information


def _in_turn(worths: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    size = worths.shape[1]
    best = special.softmax(2 * worths, axis=1)
    rest = -2 * worths[:, 1:]
    worst = np.pad(special.softmax(rest, axis=1), ((0, 0), (1, 0)))
    information = -4 * (best[:, :, None] * best[:, None, :] + worst[:, :, None] * worst[:, None, :])
    information[:, np.arange(size), np.arange(size)] += 4 * (best + worst)
    value = 2 * worths[:, 0] - special.logsumexp(2 * worths, axis=1) + rest[:, 0] - special.logsumexp(rest, axis=1)
    seen = (np.arange(size) == 0) * 1.0 - (np.arange(size) == 1)
    return value, 2 * (seen - best + worst), information


def _without_ties(value: FloatArray, score: FloatArray, information: FloatArray, orders: int) -> Evaluated:
    """Return the terms of rankings whose probability does not depend on the tie parameters."""
    number, size = score.shape
    return Evaluated(
        value,
        score,
        np.zeros((number, orders)),
        information,
        np.zeros((number, size, orders)),
        np.zeros((number, orders, orders)),
    )


@dataclass(frozen=True, eq=False)
class _Order:
    """Sums of products of weights over sets of d objects: over all sets, sets with an object, sets with two objects.

    Sets of one object have no two objects: `pairs` then has no rows.
    """

    total: FloatArray
    single: FloatArray
    pairs: FloatArray


def _of_order(weights: FloatArray, d: int) -> _Order:
    """Return the elementary symmetric polynomials of order d of weights (Q, m), without enumerating the sets."""
    number, size = weights.shape
    whole = np.zeros((d + 1, number))
    whole[0] = 1.0
    for column in weights.T:
        whole[1:] += column * whole[:-1]
    without = np.ones((number, size))  # polynomials of order k of all objects but one, then of all but two
    steps = [without]
    for k in range(1, d):
        without = np.maximum(whole[k][:, None] - weights * without, 0.0)
        steps.append(without)
    if d == 1:
        return _Order(whole[d], weights * steps[-1], np.zeros((0, size, size)))
    pairs = np.ones((number, size, size))
    for k in range(1, d - 1):
        pairs *= weights[:, None, :]
        np.subtract(steps[k][:, :, None], pairs, out=pairs)
        np.maximum(pairs, 0.0, out=pairs)
    pairs *= weights[:, :, None]
    pairs *= weights[:, None, :]
    pairs[:, np.arange(size), np.arange(size)] = 0.0
    return _Order(whole[d], weights * steps[-1], pairs)
