"""The largest standardized difference between estimates in each draw, without computing all pairs.

With a_i > 0 for each estimate, (x_i − x_j)² ≤ (a_i² + a_j²) (x_i²/a_i² + x_j²/a_j²). If x_i and x_j have the same sign,
the larger of the two terms is enough. Standard errors of differences are near √(a_i² + a_j²), so in each draw only a
few estimates are extreme enough to belong to the largest difference. Many estimates may be extreme if similar estimates
move together. Then groups of estimates that cannot reach the largest difference are skipped (`nested_groups`), or all
pairs are computed. All methods use single precision with a bound of the rounding error. Pairs that may have the largest
difference are then computed in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .columns import FloatArray, IntArray
from .nested_groups import NestedGroups

SingleArray = npt.NDArray[np.float32]

_AT_A_TIME = 250_000  # values drawn at a time: 2 MB
_CACHED = 50_000  # values of matrices of all pairs at a time
_MOST_PAIRS = 1_000_000  # most pairs computed in these draws
_SPARSE = 60  # a single pair costs so many times as much as one of all pairs computed together
_MANY = 512  # draws for which all pairs are computed together
_FEW = 128  # draws for which groups are searched together
_RARELY = 0.05  # share of the draws whose largest difference is below the one that groups are searched for
_LESS = 0.85  # share of that difference; hardly any draw is below it
_NESTED = 64  # with so many estimates groups save time
_LEAST = 1e-3  # least squared scale of an estimate, as a share of the mean
_SLACK = 1e-5  # rounding of a squared bound
_UNIT = 2.0**-24  # rounding to single precision


class _Candidates(NamedTuple):
    """Pairs that may have the largest difference of a draw: (c,) each; draws are given by position."""

    draw: IntArray
    i: IntArray
    j: IntArray


@dataclass(frozen=True, eq=False)
class LargestDifference:
    """The largest |x_i − x_j|/s_ij of J estimates x = R·u in directions u.

    Attributes
    ----------
    root : ndarray, shape (J, r)
        R, less a weighted mean of its rows.
    inverse : ndarray, shape (J, J)
        1/s_ij; 0 if i and j are not a pair.
    scale : ndarray, shape (J,)
        a_i.
    scaled, single, reach, off
        In single precision: R/a (J, r), `inverse`, the smallest s_ij²/(a_i² + a_j²) of each i, and a bound of the error
        of x.
    """

    root: FloatArray
    inverse: FloatArray
    scale: SingleArray
    scaled: SingleArray
    single: SingleArray
    reach: SingleArray
    off: SingleArray

    @classmethod
    def of(cls, root: FloatArray, std_error: FloatArray) -> LargestDifference:
        """Return the differences of R·u; standard errors (J, J) are infinite for i and j that are not a pair."""
        paired = np.isfinite(std_error).any(axis=1)
        if not paired.all():
            root, std_error = root[paired], std_error[np.ix_(paired, paired)]
        squared = _squared_scales(std_error)
        root = root - (1 / squared) @ root / (1 / squared).sum()
        scale = np.sqrt(squared)
        inverse = 1 / std_error
        reach = [(std_error[some] ** 2 / (squared[some, None] + squared)).min(axis=1) for some in _blocks(len(root))]
        scaled = np.empty(root.shape, dtype=np.float32)
        np.divide(root, scale[:, None], out=scaled, casting="same_kind")
        return cls(
            root,
            inverse,
            scale.astype(np.float32),
            scaled,
            inverse.astype(np.float32),
            np.concatenate(reach).astype(np.float32),
            ((root.shape[1] + 16) * _UNIT * np.sqrt(np.einsum("ir,ir->i", root, root))).astype(np.float32),
        )

    def drawn(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the largest difference in each of `draws` random directions, shape (draws,)."""
        size, rank = self.root.shape
        largest = np.zeros(draws)
        groups, open_, left, number = _Groups(self), _Waiting(rank), _Waiting(rank), 0
        chunk = max(1, _AT_A_TIME // max(size, rank))
        for start in range(0, draws, chunk):
            directions = rng.standard_normal((min(chunk, draws - start), rank))
            directions /= np.sqrt(np.einsum("dr,dr->d", directions, directions))[:, None]
            if start >= _MANY and number >= (1 - _RARELY) * start:
                rest = np.arange(len(directions))  # bounds by single estimates did not help in the first directions
            else:
                largest[start : start + chunk], rest = self._by_bounds(directions)
            number += len(rest)
            open_.add(directions[rest], start + rest)
            last = start + chunk >= draws
            for some, places in open_.blocks(last):
                largest[places] = groups.largest(some)
                less = largest[places] < groups.least
                left.add(some[less], places[less])
            for some, places in left.blocks(last):
                largest[places] = self.by_all(some)
        return largest

    def _by_bounds(self, directions: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the largest difference in each direction (n,), and the directions with too many extreme estimates."""
        x = directions.astype(np.float32) @ self.scaled.T
        every = np.arange(len(x))
        high, low = x.argmax(axis=1), x.argmin(axis=1)
        least = self._difference(x, _Candidates(every, high, low), -1.0)
        np.maximum(least, 0, out=least)
        off = self.off / self.scale
        above, below = np.maximum(x + off, 0), np.maximum(off - x, 0)
        above *= above
        below *= below
        needed = np.multiply.outer((1 - _SLACK) * least**2, self.reach)
        upper = above >= needed - below.max(axis=1)[:, None]
        lower = below >= needed - above.max(axis=1)[:, None]
        pairs = upper.sum(axis=1) * lower.sum(axis=1)
        open_ = np.flatnonzero(pairs > min(len(self.scale) ** 2 / _SPARSE, _MOST_PAIRS / len(x)))
        upper[open_] = lower[open_] = False
        return self._exact(directions, self._reaching(x, _products(upper, lower), least)), open_

    def by_groups(self, directions: FloatArray, groups: NestedGroups, least: float) -> FloatArray | None:
        """Return the largest difference in each direction (n,), by groups; correct if it reaches `least`.

        None if too many groups may reach `least`.
        """
        x = directions.astype(np.float32) @ self.scaled.T
        values = np.ascontiguousarray((x * self.scale).T)
        most = min(len(x) * len(self.scale) ** 2 // _SPARSE, _MOST_PAIRS)
        candidates = groups.reaching(values, self.off, least, most)
        if candidates is None:
            return None
        wanted = np.full(len(x), (1 - _SLACK) * least, dtype=np.float32)
        return self._exact(directions, self._reaching(x, _Candidates(*candidates), wanted))

    def by_all(self, directions: FloatArray) -> FloatArray:
        """Return the largest difference in each direction, (n,), from all pairs."""
        size = len(self.scale)
        x = directions.astype(np.float32) @ self.scaled.T
        values = np.ascontiguousarray((x * self.scale).T)
        largest, apart = np.zeros((size, len(x)), dtype=np.float32), np.empty_like(values)
        for k in range(size - 1):
            rest = np.subtract(values[k + 1 :], values[k], out=apart[k + 1 :])
            np.abs(rest, out=rest)
            rest *= self.single[k, k + 1 :, None]
            largest[k] = rest.max(axis=0)
        off = (self.off + self.off.max()) * self.single.max(axis=1)  # error bound of any difference from i
        least = np.maximum((largest - off[:, None]).max(axis=0), 0)
        i, draw = np.nonzero(largest + off[:, None] >= least)
        result = np.zeros(len(x))
        block = max(1, _AT_A_TIME // size)
        for first in range(0, len(i), block):
            some = slice(first, first + block)
            rows = np.repeat(draw[some], size), np.repeat(i[some], size), np.tile(np.arange(size), len(i[some]))
            candidates = self._reaching(x, _Candidates(*rows), least)
            np.maximum(result, self._exact(directions, candidates), out=result)
        return result

    def _difference(self, x: SingleArray, pairs: _Candidates, sign: float) -> SingleArray:
        """Return |x_i − x_j|/s_ij with its error bound added or subtracted, shape (c,)."""
        draw, i, j = pairs
        apart = np.abs(x[draw, i] * self.scale[i] - x[draw, j] * self.scale[j])
        return np.asarray((apart + np.float32(sign) * (self.off[i] + self.off[j])) * self.single[i, j])

    def _reaching(self, x: SingleArray, pairs: _Candidates, least: SingleArray) -> _Candidates:
        """Return the pairs whose difference may be the largest of their draw, which is at least `least` (n,)."""
        least = least.copy()
        np.maximum.at(least, pairs.draw, self._difference(x, pairs, -1.0))
        may_be_largest = self._difference(x, pairs, 1.0) >= least[pairs.draw]
        return _Candidates(*(column[may_be_largest] for column in pairs))

    def _exact(self, directions: FloatArray, pairs: _Candidates) -> FloatArray:
        """Return the largest difference among each draw's pairs in double precision, shape (n,)."""
        largest = np.zeros(len(directions))
        block = max(1, _AT_A_TIME // max(1, self.root.shape[1]))
        for first in range(0, len(pairs.draw), block):
            draw, i, j = (column[first : first + block] for column in pairs)
            apart = np.einsum("cr,cr->c", self.root[i] - self.root[j], directions[draw])
            np.maximum.at(largest, draw, np.abs(apart) * self.inverse[i, j])
        return largest


class _Waiting:
    """Directions that wait until many can be computed at once, with their places among all directions."""

    def __init__(self, rank: int) -> None:
        self._directions = np.empty((0, rank))
        self._places = np.empty(0, dtype=np.int64)

    def add(self, directions: FloatArray, places: IntArray) -> None:
        self._directions = np.concatenate([self._directions, directions])
        self._places = np.append(self._places, places)

    def blocks(self, last: bool) -> Iterator[tuple[FloatArray, IntArray]]:
        """Yield as many directions as are computed at once, (n, r) and (n,); the last block may be smaller."""
        while len(self._places) >= (1 if last else _MANY):
            yield self._directions[:_MANY], self._places[:_MANY]
            self._directions, self._places = self._directions[_MANY:], self._places[_MANY:]


class _Groups:
    """The search by groups of estimates, used for as long as it saves work.

    Each direction is first searched for differences above a value that nearly all of the first directions reach. A
    direction without one is searched for differences above the smaller `least`. A result below `least` may not be the
    largest difference. `least` is infinite if the search by groups does not save work.
    """

    def __init__(self, differences: LargestDifference) -> None:
        self._differences = differences
        self.least = 0.0 if len(differences.root) >= _NESTED else np.inf

    @cached_property
    def _nested(self) -> NestedGroups:
        return NestedGroups.of(self._differences.root, self._differences.single)

    def largest(self, directions: FloatArray) -> FloatArray:
        """Return the largest difference in each direction, shape (n,), correct if it is at least `least`."""
        largest = np.zeros(len(directions))
        if np.isinf(self.least):
            return largest
        if self.least == 0:
            largest[:_FEW] = self._differences.by_all(directions[:_FEW])
            if len(directions) <= _FEW:
                return largest
            self.least = _LESS * float(np.quantile(largest[:_FEW], _RARELY))
        for wanted in (self.least / _LESS, self.least):
            open_ = np.flatnonzero(largest < wanted)
            for some in np.split(open_, range(_FEW, len(open_), _FEW)):
                part = self._differences.by_groups(directions[some], self._nested, wanted)
                if part is None:
                    self.least = np.inf
                    return largest
                largest[some] = np.where(part < wanted, 0.0, part)
        return largest


def _blocks(size: int) -> Iterator[slice]:
    """Yield rows of a matrix whose products stay in the processor's cache."""
    each = max(1, _CACHED // max(1, size))
    yield from (slice(start, start + each) for start in range(0, size, each))


def _squared_scales(std_error: FloatArray) -> FloatArray:
    """Return a² (J,) such that a_i² + a_j² is near the squared standard errors (J, J), by least squares."""
    size = len(std_error)
    mean = np.empty(size)
    for some in _blocks(size):
        finite = np.isfinite(std_error[some])
        mean[some] = np.square(std_error[some], where=finite, out=np.zeros(finite.shape)).sum(axis=1)
        mean[some] /= np.maximum(finite.sum(axis=1), 1)
    squares = ((size - 1) * mean - size * mean.mean() / 2) / max(size - 2, 1)
    return np.asarray(np.maximum(squares, _LEAST * mean.mean()))


def _products(upper: npt.NDArray[np.bool_], lower: npt.NDArray[np.bool_]) -> _Candidates:
    """Return all pairs of an upper and a lower estimate in one draw, from masks (n, J)."""
    _, i = np.divmod(np.flatnonzero(upper), upper.shape[1])
    _, j = np.divmod(np.flatnonzero(lower), lower.shape[1])
    uppers, lowers = upper.sum(axis=1), lower.sum(axis=1)
    pairs = uppers * lowers
    draw = np.repeat(np.arange(len(pairs)), pairs)
    place = np.arange(len(draw)) - (np.cumsum(pairs) - pairs)[draw]
    first, second = (np.cumsum(uppers) - uppers)[draw], (np.cumsum(lowers) - lowers)[draw]
    return _Candidates(draw, i[first + place // lowers[draw]], j[second + place % lowers[draw]])
