"""Rao and Kupper's likelihood summed over all pairs of objects at once, with one cut and one order effect.

With P = F(2(λᵢ − λⱼ + δ) − θ) and Q = F(−2(λᵢ − λⱼ + δ) − θ), where F is the logistic distribution function, a tie has
the probability P Q (exp(2θ) − 1). So the log-likelihood is the sum of log P over wins and ties, the sum of log Q over
losses and ties, and a function of θ alone. Only exponentials of the objects are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core.links import Cumulative
from .indexed_rows import FloatArray, Gathered
from .pairtable import FAR, PairTable, add_both, pair_table


@dataclass(frozen=True, eq=False)
class CutTable:
    """Judgments by the U distinct rows of object i and of object j.

    Attributes
    ----------
    pairs : PairTable
        The rows of the objects, and those of order and cut.
    not_lost, not_won : ndarray, shape (U, U)
        `not_lost` has the wins and ties of the row object where it is shown first, `not_won` its wins and ties where it
        is shown second. Without an order effect, `not_lost` has all of them, and `not_won` is None.
    ties : float
    """

    pairs: PairTable
    not_lost: FloatArray
    not_won: FloatArray | None
    ties: float

    def moments(self, params: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """Return Σ y log p, its gradient (p,) and minus its second derivatives (p, p); None near an overflow."""
        table = self.pairs
        worth, order, cut = table.rows @ params, float(table.order @ params), float(table.tie @ params)
        if 2 * (worth.max() - worth.min() + abs(order)) + abs(cut) >= FAR:
            return None
        value, first, second = _of_cut(cut, self.ties)
        size = len(worth)
        lead, cross = np.zeros(size), np.zeros(size)
        along_order = order_weight = order_cut = 0.0
        weights = np.zeros((size, size))
        up = np.exp(2 * worth)
        for sign, counts in ((1.0, self.not_lost), (-1.0, self.not_won)):
            if counts is None:
                continue
            odds = np.multiply.outer(math.exp(cut - 2 * sign * order) / up, up)  # (1 − P) / P
            value -= float(np.vdot(counts, np.log1p(odds)))
            share = 1 / (1 + odds)
            pull = np.multiply(counts, odds * share, out=odds)
            weight = np.multiply(pull, share, out=share)
            by_row, total = pull.sum(axis=1), float(pull.sum())
            lead += 2 * (by_row - pull.sum(axis=0))
            first -= total
            along_order += 2 * sign * total
            weights += weight
            rows, spread = weight.sum(axis=1) - weight.sum(axis=0), float(weight.sum())
            cross += sign * rows
            order_weight += spread
            order_cut += sign * spread
        gradient = table.rows.T @ lead + table.order * along_order + table.tie * first
        return value, np.asarray(gradient), self._information(weights, cross, order_weight, order_cut, second)

    def _information(
        self, weights: FloatArray, signed: FloatArray, spread: float, order_cut: float, of_cut: float
    ) -> FloatArray:
        """Return minus the second derivatives, from weights of η by pair.

        `signed` are row sums minus column sums of the weights; weights of the reverse order count negatively.
        """
        table = self.pairs
        rows = weights.sum(axis=1) - weights.sum(axis=0)
        pairs = -4 * (weights + weights.T)
        pairs.flat[:: len(pairs) + 1] += 4 * (weights.sum(axis=1) + weights.sum(axis=0))
        total = table.between_parameters(pairs)
        add_both(total, table.order, 4 * (table.rows.T @ signed) + table.order * (2 * spread))
        with_cut = -2 * (table.rows.T @ rows) - 2 * order_cut * table.order + table.tie * ((spread + of_cut) / 2)
        add_both(total, table.tie, with_cut)
        return total

    def reach(self, step: FloatArray) -> float:
        """Return a bound on how far a step moves any predictor."""
        return self.pairs.reach(step)


def cut_table(
    predictors: tuple[Gathered, ...], counts: FloatArray, response: Cumulative, totals: FloatArray
) -> CutTable | None:
    """Return the table of a model's comparisons; None if predictors depend on more than the two objects.

    Parameters
    ----------
    predictors : tuple of Gathered, each (S, p)
    counts : ndarray, shape (S, K)
    response : Cumulative
    totals : ndarray, shape (S,)
    """
    if response.link != "cumulative" or response.tie is None or response.width > 2:
        return None
    table = pair_table(predictors, totals)
    if table is None:
        return None
    size = len(table.totals)
    first, second = (part.index for part in predictors[0].parts if part.matrix.shape[0] > 1)
    won, ties, lost = counts.T
    not_lost: FloatArray = np.bincount(first * size + second, won + ties, size**2).reshape(size, size).astype(float)
    not_won: FloatArray = np.bincount(second * size + first, lost + ties, size**2).reshape(size, size).astype(float)
    if table.order.any():
        return CutTable(table, not_lost, not_won, float(ties.sum()))
    return CutTable(table, not_lost + not_won, None, float(ties.sum()))


def _of_cut(cut: float, ties: float) -> tuple[float, float, float]:
    """Return n log(exp(2θ) − 1) for n ties, its derivative, and minus its second derivative; −∞ where the cut is 0."""
    if not ties:
        return 0.0, 0.0, 0.0
    if cut <= 0:
        return -math.inf, 0.0, 0.0
    less = -math.expm1(-2 * cut)  # 1 − exp(−2θ)
    return ties * (2 * cut + math.log(less)), 2 * ties / less, 4 * ties * math.exp(-2 * cut) / less**2
