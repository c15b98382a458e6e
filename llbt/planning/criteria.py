"""The precision of the contrasts of a goal, and the gain from one more judgment of a pair."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from scipy import special
from scipy.sparse import csr_array

from ..base.arguments import JUDGED_INSIDE
from ..core.columns import FloatArray, IntArray
from ..errors import DesignError, OptionError, safe_repr
from ..fitting.estimates import Estimates
from ..inference.contrasts import weights_of
from ..inference.log_worths import log_worths_at

Criterion = Literal["d", "a", "order"]
Goal = Annotated[Mapping[Any, float] | Literal["all", "top"], JUDGED_INSIDE]

CRITERIA: Mapping[Criterion, str] = {
    "d": "log determinant of the covariance",
    "a": "mean variance",
    "order": "expected number of pairs in the wrong order",
}


@dataclass(frozen=True, eq=False)
class Asked:
    """The contrasts of a goal, for J objects and p free parameters.

    Attributes
    ----------
    rows : ndarray, shape (J, p)
        The log-worths as combinations of the parameters.
    estimate : ndarray, shape (J,)
        Log-worths.
    cov : ndarray, shape (p, p)
        The covariance of the parameters before further judgments, the inverse of their information.
    contrasts : ndarray, shape (c, J)
        A basis of the contrasts.
    pairs : ndarray of int, shape (m, 2)
        The pairs of objects whose differences are the goal; none if the goal is one contrast.
    criterion : str
    words : str
        The goal.
    notes : tuple of str
    """

    rows: FloatArray
    estimate: FloatArray
    cov: FloatArray
    contrasts: FloatArray
    pairs: IntArray
    criterion: Criterion
    words: str
    notes: tuple[str, ...]

    def value(self, cov: FloatArray) -> float:
        """Return the criterion at a covariance (p, p) of the parameters; smaller is better."""
        if self.criterion == "d":
            return float(np.linalg.slogdet(self._contrast_rows @ cov @ self._contrast_rows.T)[1])
        if self.criterion == "a" and not len(self.pairs):
            return float((self._contrast_rows @ cov @ self._contrast_rows.T).item())
        variance = self._variances(cov)
        if self.criterion == "a":
            return float(variance.mean())
        return float(_wrong_order(self._differences, self._variances(self.cov), variance).sum())

    def target(self, cov: FloatArray) -> FloatArray:
        """Return M (p, p): to first order, a change −Δ of the covariance lowers the criterion by tr(M Δ)."""
        if self.criterion == "d":
            own = self._contrast_rows @ cov @ self._contrast_rows.T
            return np.asarray(self._contrast_rows.T @ np.linalg.solve(own, self._contrast_rows))
        if not len(self.pairs):
            return np.asarray(self._contrast_rows.T @ self._contrast_rows)
        weights = np.full(len(self.pairs), 1 / len(self.pairs))
        if self.criterion == "order":
            weights = _slopes(self._differences, self._variances(self.cov), self._variances(cov))
        size = len(self.rows)
        between = np.zeros((size, size))
        np.add.at(between, (self.pairs[:, 0], self.pairs[:, 1]), weights)
        between += between.T
        return np.asarray(self.rows.T @ (np.diag(between.sum(axis=1)) - between) @ self.rows)

    @property
    def _contrast_rows(self) -> FloatArray:
        return np.asarray(self.contrasts @ self.rows)

    @property
    def _differences(self) -> FloatArray:
        i, j = self.pairs.T
        return np.asarray(self.estimate[i] - self.estimate[j])

    def _variances(self, cov: FloatArray) -> FloatArray:
        """Return the variances of the differences of the pairs, shape (m,)."""
        own = self.rows @ cov @ self.rows.T
        (i, j), each = self.pairs.T, np.diag(own)
        return np.asarray(np.maximum(each[i] + each[j] - 2 * own[i, j], np.finfo(float).tiny))


def asked(res: Estimates, goal: Goal, k: int | None, criterion: Criterion) -> Asked:
    """Return the contrasts of a goal, after checks.

    Raises
    ------
    OptionError
        For an unknown goal, a `k` that the goal does not use, and criteria that do not suit the goal.
    DesignError
        For log-worths that the table does not determine.
    """
    log_worths, notes = log_worths_at(res, "average")
    if np.isnan(log_worths.estimate).any():
        raise DesignError(
            "the table does not determine all differences of log-worths",
            "Select objects that judgments connect: res.comparisons.select(objects=[…]).",
        )
    size = len(log_worths.estimate)
    if (k is not None) != (isinstance(goal, str) and goal == "top"):
        raise OptionError(
            f"goal={goal!r} with k={k!r}",
            expected="k, the number of objects at the top, with goal='top', and no k with another goal",
        )
    rows, against = log_worths.rows[:, res.free], np.eye(size)[:-1] - np.eye(size)[-1]
    pairs, words, contrasts = np.empty((0, 2), dtype=np.int64), "", against
    if isinstance(goal, Mapping):
        if criterion != "a":
            raise OptionError(
                f"criterion={criterion!r} with one contrast", "Pass criterion='a', the variance of the contrast."
            )
        contrasts, words = weights_of(res, "goal", goal)[None, :], "the contrast"
    elif isinstance(goal, str) and goal == "all":
        pairs, words = np.column_stack(np.triu_indices(size, 1)).astype(np.int64), "all differences"
    elif k is not None:
        pairs, words = _top(log_worths.estimate, k, criterion)
    else:
        raise OptionError(
            f"goal={safe_repr(goal)}", expected="'all', 'top' or the weights of a contrast: {'A': 1, 'B': -1}"
        )
    return Asked(rows, log_worths.estimate, res.solution.cov, contrasts, pairs, criterion, words, notes)


def _top(estimate: FloatArray, k: int, criterion: Criterion) -> tuple[IntArray, str]:
    """Return the pairs of the k best with the other objects, and the goal in words."""
    size = len(estimate)
    if k >= size:
        raise OptionError(f"k={k} of {size} objects", expected=f"fewer than {size}")
    if criterion == "d":
        raise OptionError(
            "criterion='d' with goal='top' would be the criterion of goal='all': the differences of the top from the "
            "rest span all contrasts",
            "Pass criterion='order' or criterion='a'.",
        )
    ranked = np.argsort(-estimate, kind="stable")
    top, rest = np.meshgrid(ranked[:k], ranked[k:], indexing="ij")
    pairs = np.column_stack([top.ravel(), rest.ravel()]).astype(np.int64)
    return pairs, f"differences of the top {k} from the rest" if k > 1 else "differences of the leader from the rest"


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a predictor with few entries each: R rows, at most m of p entries that are not 0.

    Attributes
    ----------
    columns : ndarray of int, shape (m, R)
    values : ndarray, shape (m, R)
        0 where a row has fewer.
    size : int
        p.
    """

    columns: IntArray
    values: FloatArray
    size: int

    @classmethod
    def of(cls, rows: csr_array) -> SparseRows:
        """Return the rows of a sparse matrix (R, p)."""
        lengths = np.diff(rows.indptr)
        line = np.repeat(np.arange(len(lengths)), lengths)
        place = np.arange(len(line)) - np.repeat(rows.indptr[:-1], lengths)
        shape = (int(lengths.max(initial=0)), len(lengths))
        columns, values = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        columns[place, line], values[place, line] = rows.indices, rows.data
        return cls(columns, values, rows.shape[1])

    def quadratic(self, other: SparseRows, matrix: FloatArray) -> FloatArray:
        """Return a M bᵀ of each row of both, shape (R,)."""
        total = np.zeros(self.values.shape[1])
        for column, value in zip(self.columns, self.values, strict=True):
            for column_b, value_b in zip(other.columns, other.values, strict=True):
                total += value * value_b * matrix[column, column_b]
        return total

    def row(self, one: int) -> FloatArray:
        """Return one row with all its entries, shape (p,)."""
        row = np.zeros(self.size)
        np.add.at(row, self.columns[:, one], self.values[:, one])
        return row


@dataclass(frozen=True, eq=False)
class Candidates:
    """R candidate judgments, at the parameters of a fit, p of them free.

    Attributes
    ----------
    predictors : tuple of B SparseRows
        Rows of each predictor, columns of the free parameters alone.
    weights : ndarray, shape (R, B, B)
        The information of one judgment on its B predictors.
    """

    predictors: tuple[SparseRows, ...]
    weights: FloatArray

    def gains(self, cov: FloatArray, asked: Asked) -> FloatArray:
        """Return by how much one more judgment of each candidate would lower the criterion, shape (R,).

        With D the B rows of a candidate and W its information, the covariance V falls by V Dᵀ K D V, K = W (I + D V Dᵀ
        W)⁻¹ (Woodbury); for the determinant the gain is −log |I − K D V M V Dᵀ|, for a trace tr(K D V M V Dᵀ).
        """
        change = self._quadratics(cov @ asked.target(cov) @ cov)
        lowered = np.matmul(_kernel(self._quadratics(cov), self.weights), change)
        if asked.criterion == "d":
            return np.asarray(-np.linalg.slogdet(np.eye(lowered.shape[-1]) - lowered)[1])
        return np.asarray(np.trace(lowered, axis1=1, axis2=2))

    def updated(self, cov: FloatArray, one: int) -> FloatArray:
        """Return the covariance after one more judgment of one candidate, shape (p, p)."""
        rows = np.stack([part.row(one) for part in self.predictors])
        moved = rows @ cov
        kernel = _kernel((moved @ rows.T)[None], self.weights[[one]])[0]
        updated = cov - moved.T @ kernel @ moved
        return np.asarray((updated + updated.T) / 2)

    def _quadratics(self, matrix: FloatArray) -> FloatArray:
        """Return D M Dᵀ of each candidate, shape (R, B, B)."""
        products = np.empty(self.weights.shape)
        for b, left in enumerate(self.predictors):
            for c, right in enumerate(self.predictors[: b + 1]):
                products[:, b, c] = products[:, c, b] = left.quadratic(right, matrix)
        return products


def _kernel(inner: FloatArray, weights: FloatArray) -> FloatArray:
    """Return W (I + G W)⁻¹ = (I + W G)⁻¹ W for G = D V Dᵀ, shape (R, B, B)."""
    if weights.shape[-1] == 1:
        return weights / (1 + weights * inner)
    return np.asarray(np.linalg.solve(np.eye(weights.shape[-1]) + weights @ inner, weights))


# -- the order of pairs --------------------------------------------------------------------------------------------


def _wrong_order(difference: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return the probability that estimates with the variance `after` have each pair in the wrong order, shape (m,).

    This is E Φ(−|d|/√after) over d ~ N(difference, before), the probability that d and its estimate have different
    signs. It equals twice Owen's T at difference/√(before + after) and √(after/before) (Owen 1956).
    """
    return np.asarray(2 * special.owens_t(difference / np.sqrt(before + after), np.sqrt(after / before)))


def _slopes(difference: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return the derivatives of `_wrong_order` in the variances `after`, shape (m,).

    This is E |d| φ(d/√after) / (2 after^{3/2}). The product of the two normal densities is a normal density with mean μ
    and variance s², up to a factor, under which the mean of |d| is taken.
    """
    both = before + after
    density = np.exp(-(difference**2) / (2 * both)) / np.sqrt(2 * math.pi * both)
    mean, scale = difference * after / both, np.sqrt(before * after / both)
    absolute = scale * np.sqrt(2 / math.pi) * np.exp(-((mean / scale) ** 2) / 2)
    absolute += mean * (1 - 2 * special.ndtr(-mean / scale))
    return np.asarray(density * absolute / (2 * after))
