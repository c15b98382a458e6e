"""Cumulative links: outcomes as intervals between cuts, on a logistic or a normal scale.

Order the outcomes from the largest preference for i to the largest for j. The first m + 1 outcomes together have the
probability F(η_m), where η_m = 2(λᵢ − λⱼ + δ) − θ_m. With the logistic curve this is Rao and Kupper's model for three
outcomes, and Agresti's for more. With the normal curve it is Thurstone's case V, Glenn and David's model and its
extensions. Cuts θ are antisymmetric about the middle of the scale. Arrays as in `response`: K outcomes, B predictors, S
comparisons.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from ..errors import OptionError, listed
from .response import TWO, FloatArray, Response, graded

Link = Literal["adjacent", "cumulative", "probit"]

_BLOCK = 1 << 14  # comparisons computed at a time
_ROOT = 1 / np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Cumulative:
    """The outcomes of a response as intervals between cuts, shifted by the signed predictor.

    Attributes
    ----------
    response : Response
        The outcomes and their predictors. The tie's predictor is the first cut θ₁ on either side of the middle. The
        predictor of a larger grade is the distance of its cut from the cut before.
    link : {"cumulative", "probit"}
        "cumulative" is the logistic curve, "probit" the normal curve.

    Examples
    --------
    >>> from llbt.core.response import THREE
    >>> rao_kupper = Cumulative(THREE, "cumulative")
    >>> rao_kupper.probabilities(np.array([[0.0], [np.log(2)]]))[0].ravel().round(4).tolist()  # 1/(1 + 2) each side
    [0.3333, 0.3333, 0.3333]
    """

    response: Response
    link: Link

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Names of the K outcomes."""
        return self.response.outcomes

    @property
    def tie(self) -> int | None:
        """The predictor of the first cut θ₁; None if the scale has no middle."""
        return self.response.tie

    @property
    def has_ties(self) -> bool:
        """Whether a judgment can be a tie."""
        return self.response.has_ties

    @property
    def loadings(self) -> FloatArray:
        """The loadings of the predictors on the outcomes, (K, B); used for names, not for probabilities."""
        return self.response.loadings

    @property
    def width(self) -> int:
        """Number of predictors B."""
        return self.response.width

    @property
    def grades(self) -> dict[str, int]:
        """The predictors of the larger grades, by the suffix of their outcomes' names."""
        return self.response.grades

    def tally(self, counts: FloatArray) -> FloatArray:
        """Return wins of i, ties and wins of j, of any grade, shape (…, 3), from counts of outcomes (…, K)."""
        return self.response.tally(counts)

    def room(self, predictors: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """Return the distance of the two nearest cuts, shape (S,); 0 or less if they are out of order."""
        apart = [np.full(np.shape(predictors[0]), np.inf)]
        apart += [predictors[b] for b in (self.tie, *self.grades.values()) if b is not None]
        return np.asarray(np.min(np.broadcast_arrays(*apart), axis=0))

    @functools.cached_property
    def cuts(self) -> FloatArray:
        """How the predictors move η at each cut, from the top of the scale down, shape (K − 1, B)."""
        size, width = len(self.outcomes), self.width
        cuts = np.zeros((size - 1, width))
        cuts[:, 0] = 2.0
        beyond = np.zeros(width)
        levels = [b for b in (self.response.tie, *self.response.grades.values()) if b is not None]
        places = range((size - 3) // 2, -1, -1)  # from the middle up; without a middle the central cut stays at 0
        for place, b in zip(places, levels, strict=True):
            beyond[b] = 1.0
            cuts[place, 1:] = -beyond[1:]
            cuts[size - 2 - place, 1:] = beyond[1:]
        return cuts

    @functools.cached_property
    def _products(self) -> FloatArray:
        """Factors (B², 2K − 3) from curvatures at cuts, and between neighbours, to curvatures in the predictors."""
        own = np.einsum("mb,mc->bcm", self.cuts, self.cuts)
        mixed = np.einsum("mb,mc->bcm", self.cuts[:-1], self.cuts[1:])
        return np.concatenate([own, mixed + mixed.transpose(1, 0, 2)], axis=2).reshape(self.width**2, -1)

    def probabilities(self, predictors: Sequence[FloatArray] | FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities of the outcomes (K, S), and the log of their scale, which is 0, (S,).

        If cuts are out of order, some probabilities are not positive.
        """
        shape = np.broadcast_shapes(*(np.shape(u) for u in predictors))
        at = [_combined(row, predictors) for row in self.cuts]
        below, above = ([self._curve(sign * eta) for eta in at] for sign in (1.0, -1.0))
        probability = np.empty((len(self.outcomes), *shape))
        probability[0], probability[-1] = below[0], above[-1]
        for k in range(1, len(at)):  # differences of the smaller tails, which lose no digits
            upper = at[k - 1] + at[k] > 0
            probability[k] = np.where(upper, above[k - 1] - above[k], below[k] - below[k - 1])
        return probability, np.zeros(shape)

    def _curve(self, x: FloatArray) -> FloatArray:
        return np.asarray(special.expit(x) if self.link == "cumulative" else special.ndtr(x))

    def _densities(self, probability: Sequence[FloatArray] | FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the curve's first and second derivatives at each cut, (K − 1, S) each, from the probabilities."""
        tail = list(probability)
        top = np.stack(list(itertools.accumulate(tail[:-1])))
        bottom = np.stack(list(itertools.accumulate(tail[:0:-1]))[::-1])
        if self.link == "cumulative":
            first = top * bottom
            return first, first * (bottom - top)
        at = np.where(top < bottom, special.ndtri(np.minimum(top, 0.5)), -special.ndtri(np.minimum(bottom, 0.5)))
        first = _ROOT * np.exp(-(at**2) / 2)
        return first, -np.where(first > 0, at, 0.0) * first

    def curvatures(self, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds of the curvature of −log p if an outcome's upper cut rises by v ≥ 0, its lower falls by w ≥ 0.

        Returns
        -------
        ratio : ndarray, shape (K, S)
            c: minus the second derivative of log p is at most c·max(v, w) times the first.
        least : ndarray, shape (K, S)
            Minus the second derivative is at least this times max(v, w)².
        """
        density, second = self._densities(probability)
        none = np.zeros((1, *density.shape[1:]))
        upper, lower = np.concatenate([density, none]), np.concatenate([none, density])
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = np.divide(second, density, out=np.zeros(density.shape), where=density > 0)  # at 0 neither counts
            rising, falling = np.concatenate([-bend, none]), np.concatenate([none, bend])
            pull, push = upper / probability, lower / probability
            ratio = pull + push + np.maximum(0.0, np.maximum(rising, falling))
            own, other = pull * (pull + rising), push * (push + falling)
            spread = np.hypot((own - other) / 2, pull * push)
            least = np.maximum((own + other) / 2 - spread, 0.0)
        least[0], least[-1] = own[0], other[-1]
        return np.nan_to_num(ratio, nan=np.inf), np.nan_to_num(least, nan=0.0, posinf=0.0)

    def slopes(self, probability: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """Return the derivatives of the outcomes' log probabilities in the predictors, shape (K, B, S)."""
        density, _ = self._densities(probability)
        p = np.asarray(probability)
        moved = np.zeros((len(p) + 1, self.width, *density.shape[1:]))  # the ends of the scale do not move
        moved[1:-1] = np.einsum("ms,mb->mbs", density, self.cuts)
        return np.asarray(np.diff(moved, axis=0) / p[:, None])

    def scores(
        self, probability: Sequence[FloatArray] | FloatArray, counts: Sequence[FloatArray] | FloatArray
    ) -> FloatArray:
        """Return the gradient of Σ y log p in the predictors for counts (K, S), shape (B, S)."""
        return self._derivatives(np.asarray(probability), np.asarray(counts))[0]

    def information(
        self, probability: Sequence[FloatArray] | FloatArray, counts: Sequence[FloatArray] | FloatArray
    ) -> FloatArray:
        """Return minus the second derivatives of Σ y log p in the predictors for counts (K, S), shape (B, B, S).

        This is the observed information. It differs from the expected information if the link is not log-linear.
        """
        return self._derivatives(np.asarray(probability), np.asarray(counts))[1]

    def _derivatives(self, probability: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient, (B, S), and minus the second derivatives, (B, B, S), of Σ y log p."""
        density, second = self._densities(probability)
        # 0 for outcomes that were not seen
        share = np.divide(counts, probability, out=np.zeros(probability.shape), where=counts != 0)
        square = np.divide(share, probability, out=np.zeros(probability.shape), where=counts != 0)
        pull = share[:-1] - share[1:]
        cuts = density * density
        cuts *= square[:-1] + square[1:]
        cuts -= second * pull
        between = density[:-1] * density[1:] * square[1:-1]
        matrix = self._products @ np.concatenate([cuts, -between])
        return self.cuts.T @ (density * pull), np.asarray(matrix).reshape(self.width, self.width, -1)

    def weight(self, probability: Sequence[FloatArray] | FloatArray, n: FloatArray | float) -> FloatArray:
        """Return the expected information of n judgments (S,) on the predictors, shape (B, B, S)."""
        p = np.asarray(probability)
        return self.information(p, n * p)

    def contributions(
        self, predictors: Sequence[FloatArray] | FloatArray, counts: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return Σ y log p of comparisons, (…,), its gradient, (B, …), and minus its second derivatives, (B, B, …).

        Parameters
        ----------
        predictors : ndarray, shape (B, …)
        counts : ndarray, shape (K, …)
            If an observed outcome has probability 0, Σ y log p is −∞.
        """
        shape = counts.shape[1:]
        flat = [np.broadcast_to(u, shape).reshape(-1) for u in predictors]
        y = counts.reshape(len(counts), -1)
        size = y.shape[1]
        value, score = np.empty(size), np.empty((self.width, size))
        information = np.empty((self.width, self.width, size))
        for start in range(0, size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            p, _ = self.probabilities([u[rows] for u in flat])
            some = y[:, rows]
            # if cuts are out of order there are no logarithms, and the value shows this
            with np.errstate(all="ignore"):
                value[rows] = special.xlogy(some, np.maximum(p, 0)).sum(axis=0)
                score[:, rows], information[:, :, rows] = self._derivatives(p, some)
        width = self.width
        return value.reshape(shape), score.reshape(width, *shape), information.reshape(width, width, *shape)

    @property
    def plain_odds(self) -> bool:
        """Whether exp(2u), with u the signed predictor, is the odds that i is preferred, given a decision."""
        return self.link == "cumulative" and self.tie is None

    @property
    def levels(self) -> dict[str, int]:
        """The predictors, besides the signed one, on which P(i preferred | decided) depends: the first cut."""
        return {} if self.response.tie is None else {"tie": self.response.tie}

    def preference(self, difference: FloatArray, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log P(i preferred)/P(j preferred), (m,), and its slopes in the difference, (m,), and levels, (m, G).

        Parameters
        ----------
        difference : ndarray, shape (m,)
            The signed predictor.
        levels : ndarray, shape (G,) or (m, G)
            The first cut θ₁; none if the scale has no middle.
        """
        cut = levels.sum(axis=-1)
        up, up_slope = self._log_curve(2 * difference - cut)
        down, down_slope = self._log_curve(-2 * difference - cut)
        slopes = np.repeat((down_slope - up_slope)[:, None], levels.shape[-1], axis=1)
        return up - down, 2 * (up_slope + down_slope), slopes

    def _log_curve(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log F and its slope."""
        if self.link == "cumulative":
            return np.asarray(special.log_expit(x)), np.asarray(special.expit(-x))
        log = np.asarray(special.log_ndtr(x))
        return log, np.asarray(_ROOT * np.exp(-(x**2) / 2 - log))


AnyResponse = Response | Cumulative


def linked(response: Response, link: Link) -> AnyResponse:
    """Return a response under a link. Adjacent categories, and a logit link with two outcomes, leave it unchanged.

    Raises
    ------
    OptionError
        When the outcomes are not ordered.
    """
    if link == "adjacent" or (response == TWO and link == "cumulative"):
        return response
    if response != graded(len(response.grades) + 1, response.has_ties):
        raise OptionError(
            f"link={link!r} needs outcomes that are ordered from i to j; these are {listed(response.outcomes)}. Use "
            "link='adjacent'."
        )
    return Cumulative(response, link)


def _combined(row: FloatArray, predictors: Sequence[FloatArray] | FloatArray) -> FloatArray:
    parts = [factor * predictors[b] for b, factor in enumerate(row) if factor]
    return np.asarray(sum(parts[1:], parts[0]))
