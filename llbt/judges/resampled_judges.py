"""Sums for the coefficients of agreement in resamples of judges; pairs of copies of a judge are left out.

U units, J judges, K labels, B resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ..core.columns import FloatArray, IntArray, groups
from .coefficients import Crossed, Labelled, Sums, crossed, nearness


@dataclass(frozen=True, eq=False)
class JudgedUnits:
    """Judgments as sparse tables, to be multiplied with weights of judges.

    Attributes
    ----------
    counts : csr_array, shape (U·K, J)
        Judgments by unit, label and judge.
    squares : csr_array, shape (U·K, J)
        The squares of `counts`.
    own : csr_array, shape (U, J)
        Squares of the judgments of a unit by a judge.
    own_pairs, own_agree : csr_array, shape (U, J)
        The number of pairs of judgments of a unit by the same judge, and the number of these pairs that agree.
    met : Crossed or None
        Pairs of judges; None if no coefficient needs them.
    units, labels : int
    """

    counts: csr_array
    squares: csr_array
    own: csr_array
    own_pairs: csr_array
    own_agree: csr_array
    met: Crossed | None
    units: int
    labels: int

    @classmethod
    def of(cls, data: Labelled, by_pair: bool) -> JudgedUnits:
        """Return the tables of some judgments; `by_pair` adds the pairs of judges."""
        u, k, j = data.units, len(data.flip), int(data.judge.max()) + 1
        first, cell = groups([data.unit, data.label, data.judge])
        n = np.bincount(cell).astype(np.float64)
        row, judge, unit = (data.unit * k + data.label)[first], data.judge[first], data.unit[first]
        whole = csr_array((n, (unit, judge)), shape=(u, j))
        whole.sum_duplicates()
        return cls(
            counts=csr_array((n, (row, judge)), shape=(u * k, j)),
            squares=csr_array((n**2, (row, judge)), shape=(u * k, j)),
            own=whole.power(2),
            own_pairs=(whole.power(2) - whole) / 2,
            own_agree=csr_array((n * (n - 1) / 2, (unit, judge)), shape=(u, j)),
            met=crossed(data) if by_pair else None,
            units=u,
            labels=k,
        )

    @property
    def entries(self) -> int:
        """How many numbers a resample holds."""
        met = 0 if self.met is None else len(self.met.unit)
        return max(self.units * (self.labels + 1) ** 2, 2 * self.labels * met)

    def sums(self, judges: FloatArray, units: FloatArray, among: str) -> Sums:
        """Return the sums of B resamples.

        Parameters
        ----------
        judges : ndarray, shape (B, J)
            How often each judge was drawn; the pairs of judgments of two copies of a judge are left out.
        units : ndarray, shape (B, U)
            How often each unit was drawn.
        among : {"inter", "intra"}
        """
        size, k = len(judges), self.labels
        counts = (self.counts @ judges.T).T.reshape(size, -1, k)  # (B, U, K)
        total = counts.sum(axis=2)
        if among == "inter":
            itself = (self.own @ (judges**2).T).T
            alike = (self.squares @ (judges**2).T).T.reshape(size, -1, k).sum(axis=2)
            pairs, agree = (total**2 - itself) / 2, ((counts**2).sum(axis=2) - alike) / 2
        else:
            itself = alike = total
            pairs, agree = (self.own_pairs @ judges.T).T, (self.own_agree @ judges.T).T
        each = (self.squares @ (judges**2).T).T.reshape(size, -1, k)
        coincident = counts[:, :, :, None] * counts[:, :, None, :] - each[:, :, :, None] * np.eye(k)
        ordered = coincident.sum(axis=(2, 3))
        there = pairs > 0
        coincident *= (units * np.divide(total, ordered, out=np.zeros_like(total), where=ordered > 0))[:, :, None, None]
        near = [((counts @ weights * counts).sum(axis=2) - itself) / 2 for weights in nearness(k)[1:]]
        share = np.divide(agree, pairs, out=np.zeros_like(pairs), where=there)
        shares = np.divide(counts, total[:, :, None], out=np.zeros_like(counts), where=total[:, :, None] > 0)
        return Sums(
            pairs=(units * pairs).sum(axis=1),
            agree=(units * agree).sum(axis=1),
            near=np.column_stack([(units * weighted).sum(axis=1) for weighted in near]),
            counts=np.einsum("bu,buk->bk", units, counts),
            units=(units * (total > 0)).sum(axis=1),
            paired=(units * there).sum(axis=1),
            unit_agree=(units * share).sum(axis=1),
            unit_shares=np.einsum("bu,buk->bk", units, shares),
            coincidences=coincident.sum(axis=1),
            margins=self._margins(judges, units),
        )

    def _margins(self, judges: FloatArray, units: FloatArray) -> FloatArray | None:
        """Return the labels of both judges of each pair on their common units, times how often both were drawn."""
        if self.met is None:
            return None
        met, k = self.met, self.labels
        of_pair = judges[:, met.judges].prod(axis=2)[:, met.between]  # (B, M)
        weights = of_pair * units[:, met.unit]
        columns: IntArray = (met.between[:, None] * 2 + np.arange(2)) * k + met.labels
        width = len(met.judges) * 2 * k
        onto = csr_array(
            (np.ones(columns.size), (np.repeat(np.arange(len(met.unit)), 2), columns.ravel())),
            shape=(len(met.unit), width),
        )
        return np.asarray((onto.T @ weights.T).T).reshape(len(judges), -1, 2, k)
