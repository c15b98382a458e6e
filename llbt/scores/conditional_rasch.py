"""The Rasch model by conditional likelihood: effects of systems on 0/1 scores, given how many solved each item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from ..core.columns import FloatArray, IntArray
from ..kernel.newton import InParameters, Search, newton

_HALVINGS = 60  # of an interval that holds a difficulty

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Items:
    """Q kinds of items: items of one kind have scores of the same systems, and the same number of them solved the item.

    Attributes
    ----------
    there : ndarray of bool, shape (N, Q)
        Whether a system has a score on items of this kind.
    totals : ndarray of int, shape (Q,)
        How many systems solved the item: at least 1, and fewer than have a score.
    times : ndarray, shape (Q,)
        Number of items of each kind.
    """

    there: BoolArray
    totals: IntArray
    times: FloatArray


@dataclass(frozen=True, eq=False)
class Point:
    """The conditional log-likelihood at effects of N systems.

    Attributes
    ----------
    params : ndarray, shape (N,)
        Log-odds.
    value : float
    gradient : ndarray, shape (N,)
    information : ndarray, shape (N, N)
    probability : ndarray, shape (N, Q)
        The probability that a system solves an item, given the total of the item; 0 without a score.
    spread : ndarray, shape (Q,)
        Variance of the sum of squared residuals of an item, given its total.
    """

    params: FloatArray
    value: float
    gradient: FloatArray
    information: FloatArray
    probability: FloatArray
    spread: FloatArray


def kinds_of_items(values: FloatArray) -> tuple[Items, IntArray]:
    """Return the kinds of items of scores (N, M), and the kind of each item, shape (M,)."""
    there = ~np.isnan(values)
    totals = np.nansum(values, axis=0).astype(np.int64)
    keys = np.vstack([totals, np.packbits(there, axis=0)])
    _, first, kind, times = np.unique(keys, axis=1, return_index=True, return_inverse=True, return_counts=True)
    return Items(there[:, first], totals[first], times.astype(np.float64)), kind.ravel()


def item_difficulties(systems: FloatArray, there: BoolArray, totals: IntArray) -> FloatArray:
    """Return the difficulties at which the expected totals of items (Q,) equal the observed ones.

    The search bisects an interval. Its ends are the difficulties if all systems were as weak as the weakest, or as
    strong as the strongest.
    """
    shift = special.logit(totals / there.sum(axis=0))
    low, high = systems.min() - shift, systems.max() - shift
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        easy = (special.expit(systems[:, None] - middle) * there).sum(axis=0) > totals
        low, high = np.where(easy, middle, low), np.where(easy, high, middle)
    return np.asarray((low + high) / 2)


def conditional_likelihood(systems: FloatArray, solved: FloatArray, items: Items) -> Point:
    """Return the conditional likelihood at effects `systems` (N,), given how many items each system `solved` (N,).

    The probability of a total is a coefficient of Π(1 − p_s + p_s z), where p_s is the probability that system s solves
    an item of the difficulty with this expected total. The coefficient is computed from the values of the product at
    odd roots of 1. No factor is 0 there, so each factor can be divided out. Nothing cancels and nothing overflows.
    """
    difficulty = item_difficulties(systems, items.there, items.totals)
    number, kinds = items.there.shape
    probability, spread = np.zeros((number, kinds)), np.zeros(kinds)
    information = np.zeros((number, number))
    value = float(solved @ systems)
    for k in range(kinds):
        inside = np.flatnonzero(items.there[:, k])
        away = systems[inside] - difficulty[k]
        log_total, given, joint = _given_total(special.expit(away), int(items.totals[k]))
        covariance = joint - np.outer(given, given)
        slope = 1 - 2 * given  # a squared residual is that of a 0, plus this if the score is 1
        probability[inside, k], spread[k] = given, slope @ covariance @ slope
        information[np.ix_(inside, inside)] += items.times[k] * covariance
        weights = items.totals[k] * difficulty[k] + np.logaddexp(0, away).sum() + log_total
        value -= items.times[k] * float(weights)
    return Point(systems, value, solved - probability @ items.times, information, probability, spread)


def _given_total(p: FloatArray, total: int) -> tuple[float, FloatArray, FloatArray]:
    """Return the log-probability of a total; given it, the probabilities that one (n,) or two (n, n) systems solve."""
    nodes = len(p) + 1 + len(p) % 2  # odd, so that −1 is none of them
    angle = 2 * np.pi * np.arange(nodes // 2 + 1) / nodes
    root = np.exp(1j * angle)  # the other half are their conjugates
    factors = (1 - p)[:, None] + p[:, None] * root
    product = factors.prod(axis=0) * np.exp(-1j * total * angle) * np.where(angle > 0, 2, 1) / nodes
    chance = float(product.real.sum())
    ones = p[:, None] * root / factors
    weighted = ones * (product / chance)
    given = weighted.real.sum(axis=1)
    joint = weighted.real @ ones.real.T - weighted.imag @ ones.imag.T
    np.fill_diagonal(joint, given)
    return float(np.log(chance)), given, joint


def fit_conditionally(values: FloatArray, items: Items) -> Search[Point]:
    """Return the maximum of the conditional likelihood of scores (N, M); effects sum to 0."""
    solved = np.nansum(values, axis=1)
    ascent = InParameters(
        lambda params: conditional_likelihood(params, solved, items),
        lambda point, moving: inverse_of_contrasts(point.information) @ point.gradient,
        np.arange(len(solved)),
        lambda moved: float(np.abs(moved).max()),
    )
    return newton(ascent, ascent.evaluate(np.zeros(len(solved))))


def inverse_of_contrasts(matrix: FloatArray) -> FloatArray:
    """Return the pseudoinverse of a matrix (N, N) whose rows sum to 0, and whose null space is the constant vectors."""
    number = len(matrix)
    size = np.trace(matrix) / number**2
    return np.asarray(np.linalg.inv(matrix + size) - 1 / (size * number**2))
