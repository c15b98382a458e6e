"""Sums over all patterns of answers that a judge could give, with weights that depend on products of answers.

An answer pattern y has a value −1, 0 or 1 for each of P pairs. Its weight is the exponential of

    Σ_p (y_p η_p + [y_p = 0] γ_p) + Σ_q θ_q y_a(q) y_b(q),

so its sufficient statistics t(y) are P signs, P ties and Q products. The mean and covariance of t over all patterns are
the derivatives of log Z, where Z is the sum of the weights.

If every pattern is possible, the pairs are split into two halves. The weights of all patterns are then a matrix of the
first half against the second, and products with it give all moments. No array has a row for each pattern.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Signs = npt.NDArray[np.int8]

MISSING = 2  # the code of a missing answer, beside −1, 0 and 1
_BLOCK = 1 << 20  # entries of patterns that are computed at once


@dataclass(frozen=True, eq=False)
class Weights:
    """The parts of a pattern's weight: η and γ of each pair (P,), θ of each product (Q,)."""

    eta: FloatArray
    gamma: FloatArray
    theta: FloatArray


@dataclass(frozen=True, eq=False)
class PatternMoments:
    """log Z, and mean (2P + Q,) and covariance (2P + Q, 2P + Q) of signs, ties and products."""

    log_norm: float
    mean: FloatArray
    covariance: FloatArray


@dataclass(frozen=True, eq=False)
class Seen:
    """Sums over judges, given their answers: log weights, and mean (2P + Q,) and covariance over missing answers."""

    log: float
    first: FloatArray
    second: FloatArray


class Space(Protocol):
    """The set of all possible patterns."""

    @property
    def number(self) -> int:
        """The number of patterns."""

    def moments(self, weights: Weights) -> PatternMoments:
        """Return the moments over all patterns."""

    def seen(self, answers: Signs, counts: FloatArray, weights: Weights, added: FloatArray) -> Seen:
        """Return the sums over judges with answers (N, P); for missing answers `added` (P,) is added to η."""

    def logs(self, answers: Signs, weights: Weights, added: FloatArray) -> FloatArray:
        """Return the log of the summed weights of the patterns possible for each row of answers (N, P), shape (N,)."""

    def drawn(self, weights: Weights, number: int, rng: np.random.Generator) -> Signs:
        """Return complete patterns drawn by their weights, shape (number, P)."""


class Enumerated(Protocol):
    """A set of patterns where only the missing answers are enumerated."""

    @property
    def products(self) -> IntArray:
        """The pairs whose answers are multiplied, shape (Q, 2)."""

    def compatible(self, answers: Signs) -> Signs:
        """Return all patterns that are possible given answers (P,), some of them missing, shape (C, P)."""


def counted(patterns: Signs, products: IntArray) -> FloatArray:
    """Return the statistics of patterns (C, P): signs, ties and products (Q, 2) of pairs, shape (C, 2P + Q)."""
    y = patterns.astype(np.float64)
    return np.concatenate([y, y == 0, y[:, products[:, 0]] * y[:, products[:, 1]]], axis=1)


def moments_of(patterns: Signs, products: IntArray, weights: Weights) -> PatternMoments:
    """Return the moments over listed patterns, shape (C, P)."""
    parameters = np.concatenate([weights.eta, weights.gamma, weights.theta])
    size = len(parameters)
    top, norm = -np.inf, 0.0
    first, second = np.zeros(size), np.zeros((size, size))
    for t in _in_blocks(patterns, products, size):
        logs = t @ parameters
        highest = max(top, float(logs.max()))
        scale = math.exp(top - highest) if np.isfinite(top) else 0.0
        w = np.exp(logs - highest)
        norm, first, second = norm * scale + w.sum(), first * scale + w @ t, second * scale + (t * w[:, None]).T @ t
        top = highest
    mean = first / norm
    return PatternMoments(top + math.log(norm), mean, second / norm - np.outer(mean, mean))


def seen_in(space: Enumerated, answers: Signs, counts: FloatArray, weights: Weights, added: FloatArray) -> Seen:
    """Return sums over judges, taking judges with missing answers in blocks; see `Space.seen`."""
    complete = (answers != MISSING).all(axis=1)
    t = counted(answers[complete], space.products)
    log = float(counts[complete] @ (t @ np.concatenate([weights.eta, weights.gamma, weights.theta])))
    first, second = counts[complete] @ t, np.zeros((t.shape[1], t.shape[1]))
    n, done = counts[~complete], 0
    for block in _open_blocks(space, answers[~complete]):
        sums = block.seen(n[done : done + len(block.starts)], weights, added)
        log, first, second = log + sums.log, first + sums.first, second + sums.second
        done += len(block.starts)
    return Seen(log, first, second)


def logs_in(space: Enumerated, answers: Signs, weights: Weights, added: FloatArray) -> FloatArray:
    """Return the log of the summed weights of the patterns possible for each row of answers (N, P), shape (N,)."""
    return np.concatenate([np.zeros(0), *(block.logs(weights, added) for block in _open_blocks(space, answers))])


def drawn_in(space: Enumerated, weights: Weights, number: int, rng: np.random.Generator) -> Signs:
    """Return complete patterns drawn one by one from all possible ones, shape (number, P)."""
    patterns = space.compatible(np.full(len(weights.eta), MISSING, dtype=np.int8))
    logs = counted(patterns, space.products) @ np.concatenate([weights.eta, weights.gamma, weights.theta])
    p = np.exp(logs - logs.max())
    return np.asarray(patterns[rng.choice(len(patterns), size=number, p=p / p.sum())])


@dataclass(frozen=True, eq=False)
class _OpenBlock:
    """The possible patterns (C, P) of K judges with missing answers, each judge's first row, and a mask (K, P).

    A judge who alone fills a block may have more patterns than fit into it; these patterns are taken in parts.
    """

    patterns: Signs
    starts: IntArray
    missing: npt.NDArray[np.bool_]
    products: IntArray

    def seen(self, counts: FloatArray, weights: Weights, added: FloatArray) -> Seen:
        """Return the sums over the judges."""
        if len(self.starts) == 1:
            sums, n = self._alone(weights, added), float(counts[0])
            return Seen(n * sums.log_norm, n * sums.mean, n * sums.covariance)
        t, logs, shares = self._weighed(weights, added)
        mean = np.add.reduceat(shares[:, None] * t, self.starts, axis=0)
        second = (t * (shares * self._each(counts))[:, None]).T @ t - (mean * counts[:, None]).T @ mean
        return Seen(float(counts @ logs), counts @ mean, second)

    def logs(self, weights: Weights, added: FloatArray) -> FloatArray:
        """Return the log of the summed weights of each judge, shape (K,)."""
        alone = len(self.starts) == 1
        return np.array([self._alone(weights, added).log_norm]) if alone else self._weighed(weights, added)[1]

    def _alone(self, weights: Weights, added: FloatArray) -> PatternMoments:
        own = Weights(weights.eta + self.missing[0] * added, weights.gamma, weights.theta)
        return moments_of(self.patterns, self.products, own)

    def _each(self, values: FloatArray) -> FloatArray:
        """Return values of judges, (K, …), repeated for each of the judge's patterns."""
        return np.repeat(values, np.diff(np.append(self.starts, len(self.patterns))), axis=0)

    def _weighed(self, weights: Weights, added: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the patterns' statistics, the log of each judge's summed weights, and each pattern's share of them."""
        t = counted(self.patterns, self.products)
        logs = t @ np.concatenate([weights.eta, weights.gamma, weights.theta])
        logs += (self.patterns * self._each(self.missing * added)).sum(axis=1)
        top = np.maximum.reduceat(logs, self.starts)
        shares = np.exp(logs - self._each(top))
        norm = np.add.reduceat(shares, self.starts)
        return t, top + np.log(norm), shares / self._each(norm)


def _open_blocks(space: Enumerated, answers: Signs) -> Iterator[_OpenBlock]:
    """Yield the possible patterns of judges with answers (N, P), as many judges at once as fit into a block."""
    most = max(1, _BLOCK // (2 * answers.shape[1] + len(space.products)))
    begin, held = 0, 0
    waiting: list[Signs] = []
    for k, row in enumerate(answers):
        compatible = space.compatible(row)
        if waiting and held + len(compatible) > most:
            yield _open_block(space, waiting, answers[begin:k])
            begin, held, waiting = k, 0, []
        waiting.append(compatible)
        held += len(compatible)
    if waiting:
        yield _open_block(space, waiting, answers[begin:])


def _open_block(space: Enumerated, patterns: list[Signs], answers: Signs) -> _OpenBlock:
    starts = np.cumsum([0, *map(len, patterns[:-1])])
    return _OpenBlock(np.concatenate(patterns), starts, answers == MISSING, space.products)


def _in_blocks(patterns: Signs, products: IntArray, size: int) -> Iterator[FloatArray]:
    each = max(1, _BLOCK // size)
    for begin in range(0, len(patterns), each):
        yield counted(patterns[begin : begin + each], products)


@dataclass(frozen=True, eq=False)
class Listed:
    """Possible patterns, listed one by one, shape (C, P), as for rankings or ratings."""

    patterns: Signs
    products: IntArray

    @property
    def number(self) -> int:
        """How many patterns there are."""
        return len(self.patterns)

    def moments(self, weights: Weights) -> PatternMoments:
        """Return the moments over all patterns."""
        return moments_of(self.patterns, self.products, weights)

    def compatible(self, answers: Signs) -> Signs:
        """Return the patterns that are possible given the answers."""
        answered = answers != MISSING
        return np.asarray(self.patterns[(self.patterns[:, answered] == answers[answered]).all(axis=1)])

    def seen(self, answers: Signs, counts: FloatArray, weights: Weights, added: FloatArray) -> Seen:
        """Return the sums over judges; see `Space.seen`."""
        return seen_in(self, answers, counts, weights, added)

    def logs(self, answers: Signs, weights: Weights, added: FloatArray) -> FloatArray:
        """Return the log of the summed weights of each judge's possible complete patterns."""
        return logs_in(self, answers, weights, added)

    def drawn(self, weights: Weights, number: int, rng: np.random.Generator) -> Signs:
        """Return complete patterns drawn by their weights; see `Space.drawn`."""
        return drawn_in(self, weights, number, rng)


@dataclass(frozen=True, eq=False)
class Halves:
    """All patterns of P pairs, with or without ties, built from the patterns of two halves of the pairs.

    Attributes
    ----------
    pairs : int
    values : tuple of int
        The values that an answer can have: −1, 0 and 1, or −1 and 1.
    products : ndarray of int, shape (Q, 2)
    """

    pairs: int
    values: tuple[int, ...]
    products: IntArray

    @property
    def number(self) -> int:
        """How many patterns there are."""
        return int(len(self.values) ** self.pairs)

    @property
    def cut(self) -> int:
        """The number of pairs in the first half."""
        return self.pairs // 2

    @cached_property
    def _halves(self) -> tuple[FloatArray, FloatArray]:
        one, other = (_every(self.values, size) for size in (self.cut, self.pairs - self.cut))
        return one.astype(np.float64), other.astype(np.float64)

    @cached_property
    def _inside(self) -> tuple[IntArray, IntArray, IntArray]:
        """The products within the first half, within the second half, and across both."""
        first = self.products < self.cut
        both, none = first.all(axis=1), ~first.any(axis=1)
        return np.flatnonzero(both), np.flatnonzero(none), np.flatnonzero(~both & ~none)

    def compatible(self, answers: Signs) -> Signs:
        """Return the patterns that are possible given the answers."""
        open_ = np.flatnonzero(answers == MISSING)
        filled = _every(self.values, len(open_))
        patterns = np.broadcast_to(answers, (len(filled), len(answers))).copy()
        patterns[:, open_] = filled
        return patterns

    def seen(self, answers: Signs, counts: FloatArray, weights: Weights, added: FloatArray) -> Seen:
        """Return the sums over judges; see `Space.seen`."""
        return seen_in(self, answers, counts, weights, added)

    def logs(self, answers: Signs, weights: Weights, added: FloatArray) -> FloatArray:
        """Return the log of the summed weights of each judge's possible complete patterns."""
        return logs_in(self, answers, weights, added)

    def drawn(self, weights: Weights, number: int, rng: np.random.Generator) -> Signs:
        """Return complete patterns drawn by their weights; see `Space.drawn`."""
        return drawn_in(self, weights, number, rng)

    def moments(self, weights: Weights) -> PatternMoments:
        """Return the moments over all patterns, by products of the two halves."""
        cut, size = self.cut, self.pairs
        own, other, across = self._inside
        a, b = self._halves
        one, two = self._counted(a, own, 0), self._counted(b, other, cut)
        middle = np.zeros((cut, size - cut))
        low, high = np.sort(self.products[across], axis=1).T
        middle[low, high - cut] = weights.theta[across]
        w = (a @ middle) @ b.T
        w += (one @ self._chosen(weights, own, slice(0, cut)))[:, None]
        w += (two @ self._chosen(weights, other, slice(cut, size)))[None, :]
        top = float(w.max())
        np.exp(np.subtract(w, top, out=w), out=w)
        moments = _Moments.of(w, one, two, a[:, low], b[:, high - cut])
        place = self._places(own, other, across)
        mean, second = np.zeros(len(place)), np.zeros((len(place), len(place)))
        mean[place] = moments.first
        second[np.ix_(place, place)] = moments.second
        return PatternMoments(top + math.log(moments.norm), mean, second - np.outer(mean, mean))

    def _counted(self, half: FloatArray, inside: IntArray, begin: int) -> FloatArray:
        return np.concatenate(
            [half, half == 0, half[:, self.products[inside, 0] - begin] * half[:, self.products[inside, 1] - begin]],
            axis=1,
        )

    def _chosen(self, weights: Weights, inside: IntArray, pairs: slice) -> FloatArray:
        return np.concatenate([weights.eta[pairs], weights.gamma[pairs], weights.theta[inside]])

    def _places(self, own: IntArray, other: IntArray, across: IntArray) -> IntArray:
        """Return the places of the halves' statistics, and of the products across, among all statistics."""
        cut, size = self.cut, self.pairs
        first, second = np.arange(cut), np.arange(cut, size)
        q = 2 * size
        return np.concatenate([first, size + first, q + own, second, size + second, q + other, q + across])


@dataclass(frozen=True, eq=False)
class _Moments:
    """The sum of a matrix of weights, and first and second moments of statistics of rows, columns, and both."""

    norm: float
    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, w: FloatArray, one: FloatArray, two: FloatArray, a: FloatArray, b: FloatArray) -> _Moments:
        """Return moments of ``one`` (A, m) for rows, ``two`` (B, n) for columns, and a·b (A, c) × (B, c) for both."""
        norm = float(w.sum())
        of_rows, of_columns = w.sum(axis=1) / norm, w.sum(axis=0) / norm
        right = (w @ np.concatenate([two, b], axis=1)) / norm  # sums over the columns, for each row
        of_two, of_b = right[:, : two.shape[1]], right[:, two.shape[1] :]
        across = (a * of_b).sum(axis=0)
        first = np.concatenate([of_rows @ one, of_columns @ two, across])
        m, n = one.shape[1], two.shape[1]
        second = np.zeros((len(first), len(first)))
        second[:m, :m] = one.T @ (of_rows[:, None] * one)
        second[m : m + n, m : m + n] = two.T @ (of_columns[:, None] * two)
        second[:m, m : m + n] = one.T @ of_two
        second[:m, m + n :] = one.T @ (a * of_b)
        left = (w.T @ a) / norm  # sums over the rows, for each column
        second[m : m + n, m + n :] = two.T @ (b * left)
        kinds, which = np.unique(b, axis=1, return_inverse=True)
        pairs = [(x, y) for x in range(kinds.shape[1]) for y in range(x, kinds.shape[1])]
        if pairs:
            both = (w @ np.column_stack([kinds[:, x] * kinds[:, y] for x, y in pairs])) / norm
            number = {pair: k for k, pair in enumerate(pairs)}
            which = which.ravel()
            for x in range(a.shape[1]):
                columns = [number[tuple(sorted((which[x], which[y])))] for y in range(a.shape[1])]
                second[m + n + x, m + n :] = a[:, x] @ (a * both[:, columns])
        second = np.triu(second)
        return cls(norm, first, second + np.triu(second, 1).T)


def _every(values: tuple[int, ...], size: int) -> Signs:
    """Return all sequences of `size` values, shape (len(values)^size, size)."""
    if not size:
        return np.zeros((1, 0), dtype=np.int8)
    grid = np.meshgrid(*[np.array(values, dtype=np.int8)] * size, indexing="ij")
    return np.stack([axis.ravel() for axis in grid], axis=1)


def products_of(pairs: IntArray) -> IntArray:
    """Return the two pairs of each product; the pairs share an object, shape (Q, 2)."""
    objects = [set(pair) for pair in pairs.tolist()]
    products = [(p, q) for p, q in itertools.combinations(range(len(pairs)), 2) if objects[p] & objects[q]]
    return np.array(products, dtype=np.int64).reshape(-1, 2)


def signs_of(values: FloatArray, pairs: IntArray) -> Signs:
    """Return the patterns of values (C, J), where the larger value is preferred and NaN is missing, shape (C, P)."""
    first, second = values[:, pairs[:, 0]], values[:, pairs[:, 1]]
    signs = np.where(np.isnan(first) | np.isnan(second), MISSING, np.sign(first - second))
    return np.asarray(signs, dtype=np.int8)


def repeated_patterns(patterns: Signs, times: int) -> Signs:
    """Return all sequences of `times` patterns from (C, P), one after another in a row, shape (C^times, times · P)."""
    which = np.indices((len(patterns),) * times).reshape(times, -1)
    return np.concatenate([patterns[rows] for rows in which], axis=1)


def rankings_of(objects: int) -> FloatArray:
    """Return all orders of `objects` objects as values, the largest for the best, shape (J!, J)."""
    return np.array(list(itertools.permutations(range(objects))), dtype=np.float64)


def ratings_of(objects: int, levels: int) -> FloatArray:
    """Return ratings of `objects` objects on `levels` levels, one for each possible order with ties."""
    ratings = {tuple(np.unique(row, return_inverse=True)[1].tolist()) for row in _weak(objects, levels)}
    return np.array(sorted(ratings), dtype=np.float64)


def _weak(objects: int, levels: int) -> Iterator[tuple[int, ...]]:
    """Yield every order with ties in at most `levels` levels, without gaps between levels."""
    for row in itertools.product(range(min(objects, levels)), repeat=objects):
        if len(set(row)) == max(row) + 1:
            yield row
