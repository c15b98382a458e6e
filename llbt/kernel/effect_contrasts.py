"""The contribution of levels' effects to predictors of new comparisons, with errors; groupings may be crossed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .crossed import Crossed
from .indexed_rows import FloatArray, IntArray
from .laplace import Approximation, Effects, LineSums, products_by_scale
from .likelihood import Problem, row_sums


@dataclass(frozen=True, eq=False)
class Touch:
    """Effects of one scale that enter R new comparisons, one effect for each.

    Attributes
    ----------
    scale : int
    index : ndarray of int, shape (R,)
        The number of each effect in the order of `Crossed.levels`; −1 for an effect without judgments.
    predictor : int
    factor : ndarray, shape (R,)
    """

    scale: int
    index: IntArray
    predictor: int
    factor: FloatArray


def added_effects(
    problem: Problem,
    effects: Crossed,
    at: Approximation,
    params: FloatArray,
    scales: FloatArray,
    touches: Sequence[Touch],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return effects' contributions to predictors, their covariance at known parameters, and their derivatives.

    Parameters
    ----------
    problem : Problem
        The problem of the judgments.
    effects : Crossed
    at : Approximation
        The approximation at these parameters (p,) and scales (E,).
    touches : sequence of Touch
        The effects that enter; an effect without judgments is 0, with variance σ².

    Returns
    -------
    tuple of ndarray, (B, R), (B, B, R) and (B, R, p + E)
        The last array has the derivatives in the parameters and log σ, with the weights of the judgments held.
    """
    work = LineSums.of(problem, effects, params, scales)
    width, size = len(work.eta), len(touches[0].index)
    moved, cov = np.zeros((width, size)), np.zeros((width, width, size))
    slopes = np.zeros((width, size, len(params) + len(scales)))
    for r in range(size):
        loads = [_loads(effects, scales, [t for t in touches if t.predictor == b], r) for b in range(width)]
        for b in {t.predictor for t in touches}:
            solved = work.solve(at.solved, loads[b])
            moved[b, r] = _product(loads[b], at.mode)
            cov[b, :, r] = [_product(solved, load) for load in loads]
            weighted = [work.weighted(block, w, solved) for block, w in zip(effects.blocks, at.weights, strict=True)]
            by_scale = 2 * products_by_scale(effects, solved, at.mode)
            slopes[b, r] = np.concatenate([-row_sums(problem, work.scattered(weighted)), by_scale])
    for t in touches:
        cov[t.predictor, t.predictor] += np.where(t.index < 0, (t.factor * scales[t.scale]) ** 2, 0.0)
    return moved, cov, slopes


def _loads(effects: Crossed, scales: FloatArray, touches: Sequence[Touch], r: int) -> Effects:
    """Return the loadings of all effects on one predictor of a comparison."""
    total = Effects.none(effects)
    for t in touches:
        if t.index[r] >= 0:
            shared = int(bool((effects.scales[1] == t.scale).any()))
            place = np.flatnonzero(effects.scales[shared] == t.scale)[t.index[r]]
            (total.shared if shared else total.own)[place] += t.factor[r] * scales[t.scale]
    return total


def _product(one: Effects, other: Effects) -> float:
    return float(one.own @ other.own + one.shared @ other.shared)
