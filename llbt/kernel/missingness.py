"""Test whether answers are missing because of what they would have been: logits a + b·y of a pair, y = −1, 0 or 1.

A judge's answers y have the weights of `kernel.patterns`. Given y, the answer to pair p is missing (r_p = 1) with
probability σ(a_p + b_p y_p), independently of other pairs. The logarithm of the probability of r given y is

    Σ_p r_p (a_p + b_p y_p) − c_p(y_p),    c_p(y) = log(1 + exp(a_p + b_p y)),

and any function of y = −1, 0, 1 is a combination of 1, y and [y = 0]. So r only changes η and γ of the patterns in the
sums, and its derivatives are linear in the patterns' counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from .patterns import FloatArray, Weights

_ANSWERS = np.array([[1.0], [0.0], [-1.0]])


@dataclass(frozen=True, eq=False)
class MissingLogits:
    """The log-odds a + b·y of each of P pairs that its answer y is missing.

    Attributes
    ----------
    level, slope : ndarray, shape (P,)
        a and b.
    """

    level: FloatArray
    slope: FloatArray

    @property
    def values(self) -> FloatArray:
        """The log-odds of being missing if the answer is 1, 0 and −1, shape (3, P)."""
        return np.asarray(self.level + self.slope * _ANSWERS)

    @property
    def shares(self) -> FloatArray:
        """The probabilities of being missing if the answer is 1, 0 and −1, shape (3, P)."""
        return np.asarray(special.expit(self.values))

    def beside(self, weights: Weights) -> tuple[float, Weights]:
        """Return the constant that −Σ c_p(y_p) adds to all log-weights, and weights that include its other parts."""
        mean, sign, tie = _parts(np.logaddexp(0.0, self.values))
        return -float(mean.sum()), Weights(weights.eta - sign, weights.gamma - tie, weights.theta)

    def scores(self, answered: FloatArray, missing: FloatArray, missed: FloatArray) -> FloatArray:
        """Return the derivatives by a and b, shape (2, P).

        Parameters
        ----------
        answered : ndarray, shape (3, P)
            The number of judges whose answer is, or is expected to be, 1, 0 and −1.
        missing, missed : ndarray, shape (P,)
            The number of judges whose answer is missing, and the sum of their expected signs.
        """
        each = answered * self.shares
        return np.stack([missing - each.sum(axis=0), missed - (each[0] - each[2])])

    def information(self, answered: FloatArray) -> FloatArray:
        """Return the information on a and b if the answers were known, shape (2, 2, P)."""
        each = answered * self.shares * (1 - self.shares)
        across = each[0] - each[2]
        return np.array([[each.sum(axis=0), across], [across, each[0] + each[2]]])

    def moved(self, counted: int) -> FloatArray:
        """Return the derivatives in a and b of the counts of patterns with a missing answer, shape (counted, 2P)."""
        size = len(self.level)
        by_level, by_slope = _parts(1 - self.shares), _parts(_ANSWERS * (1 - self.shares))
        derivatives, place = np.zeros((counted, 2 * size)), np.arange(size)
        for k, (_, sign, tie) in enumerate((by_level, by_slope)):
            derivatives[place, k * size + place] = sign
            derivatives[size + place, k * size + place] = tie
        return derivatives


def expected_answers(first: FloatArray, judges: float, pairs: int) -> FloatArray:
    """Return the expected number of judges who answer 1, 0 and −1 to each pair, (3, P), from sums (2P + Q,)."""
    signs, ties = first[:pairs], first[pairs : 2 * pairs]
    return np.stack([(judges - ties + signs) / 2, ties, (judges - ties - signs) / 2])


def _parts(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return m, s and t, so that values at y = 1, 0, −1, shape (3, P), are m + s·y + t·[y = 0]."""
    mean = (values[0] + values[2]) / 2
    return mean, (values[0] - values[2]) / 2, values[1] - mean
