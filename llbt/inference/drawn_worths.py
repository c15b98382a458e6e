"""Questions about weighted draws of log-worths: which object is first, which rank it has, whether it beats another."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..base.arguments import Count, NotNegative, checked
from ..base.table import Field, Table, counted, format_share, interval_fields, named
from ..core.columns import FloatArray, IntArray, Label
from ..errors import OptionError
from .claims import read_claim

_NAMED = 4  # most objects in the line above the table
_LEAST = 0.005  # least probability of an object that is named there
_MOST_ROWS = 60


class DrawnWorths(Protocol):
    """Draws of the log-worths of J objects."""

    @property
    def objects(self) -> tuple[Label, ...]:
        """The objects, length J."""

    @property
    def log_worths(self) -> FloatArray:
        """The log-worths, shape (n, J)."""

    @property
    def weights(self) -> FloatArray:
        """Weights of the draws, with sum 1, shape (n,)."""

    @property
    def confidence(self) -> float:
        """The level of intervals."""

    @property
    def share(self) -> str:
        """The name of a share of the draws: ``"probability"`` or ``"confidence"``."""


def drawn_ranks(log_worths: FloatArray) -> IntArray:
    """Return the rank of each object in each draw, 1 for the largest log-worth, shape (n, J)."""
    order = np.argsort(-log_worths, axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, log_worths.shape[1] + 1)[None], axis=1)
    return ranks


def weighted_quantiles(values: FloatArray, weights: FloatArray, shares: tuple[float, ...]) -> FloatArray:
    """Return weighted quantiles of each column (n, J) at these shares of the weights, (shares, J)."""
    order = np.argsort(values, axis=0, kind="stable")
    below = np.cumsum(weights[order], axis=0)
    rows = [np.minimum((below < share * below[-1] * (1 - 1e-12)).sum(axis=0), len(values) - 1) for share in shares]
    return np.array([np.take_along_axis(values, np.take_along_axis(order, row[None], 0), 0)[0] for row in rows])


@checked
def prob_best(self: DrawnWorths) -> Table:
    """Return object and probability of the largest log-worth, the most probable object first.

    Probabilities sum to 1.
    """
    shares = first_shares(self)
    order = np.argsort(-shares, kind="stable")
    return Table(
        (
            Field("object", "object", [self.objects[k] for k in order]),
            Field(self.share, self.share, shares[order], "number", 3, decimals=3),
        ),
        title=f"{self.share.capitalize()} of first place",
    ).first(_MOST_ROWS)


@checked
def prob_rank(self: DrawnWorths, k: Count) -> Table:
    """Return object, probability of rank k, and probability of rank k or better (at_most); the best first.

    Parameters
    ----------
    k : int
        The rank, from 1 (the best) to the number of objects.

    Raises
    ------
    OptionError
        For a rank below 1 or above the number of objects.
    """
    size = len(self.objects)
    if k > size:
        raise OptionError(f"k={k}", expected=f"a rank from 1 to {size}, the number of objects")
    ranks = drawn_ranks(self.log_worths)
    exactly, most = self.weights @ (ranks == k), self.weights @ (ranks <= k)
    order = np.lexsort([-exactly, -most])
    return Table(
        (
            Field("object", "object", [self.objects[at] for at in order]),
            Field(self.share, f"{self.share} of rank {k}", exactly[order], "number", 3, decimals=3),
            Field("at_most", f"of rank {k} or better", most[order], "number", 3, decimals=3),
        ),
        title=f"{self.share.capitalize()} of rank {k} of {size}",
    ).first(_MOST_ROWS)


@checked
def prob(self: DrawnWorths, claim: str, *, by: NotNegative = 0.0) -> float:
    """Return the probability of a claim about two objects.

    Parameters
    ----------
    claim : str
        ``"A > B"``, ``"A < B"`` or ``"A = B"``. Names are compared with the objects of the table; nothing is evaluated.
        A name with > < or = can stand in backticks.
    by : float
        The least difference that matters (log-worth; the odds of A over B are exp(2 · difference)). ``"A > B"``: A is
        better by more than this; ``"A = B"``: they differ by at most this, the region of practical equivalence.

    Raises
    ------
    OptionError
        For a claim that cannot be read, for unknown objects, and for ``"A = B"`` without `by`, which has probability 0.
    """
    read = read_claim(claim, self.objects)
    if read.sign == "=" and by == 0:
        raise OptionError(
            f"{claim!r} with by=0, but two log-worths are never exactly equal",
            f"State the largest difference that does not matter: .prob({claim!r}, by=0.1).",
        )
    lead = self.log_worths[:, read.first] - self.log_worths[:, read.second]
    holds = {">": lead > by, "<": lead < -by, "=": np.abs(lead) <= by}[read.sign]
    return min(1.0, float(self.weights @ holds))


def first_shares(self: DrawnWorths) -> FloatArray:
    """Return the share of the draws in which each object is first, shape (J,)."""
    return np.bincount(self.log_worths.argmax(axis=1), self.weights, len(self.objects)).astype(np.float64)


def worth_table(self: DrawnWorths, title: str, notes: tuple[str, ...]) -> Table:
    """Return object, first, rank_median, rank_low, rank_high, estimate, conf_low, conf_high, and a line of words."""
    tails = ((1 - self.confidence) / 2, (1 + self.confidence) / 2)
    ranks = drawn_ranks(self.log_worths).astype(np.float64)
    rank_low, median, rank_high = weighted_quantiles(ranks, self.weights, (tails[0], 0.5, tails[1])).astype(np.int64)
    low, high = weighted_quantiles(self.log_worths, self.weights, tails)
    first, mean = first_shares(self), self.weights @ self.log_worths
    order = np.lexsort([-mean, median])
    return Table(
        (
            Field("object", "object", [self.objects[k] for k in order]),
            Field("first", f"{_SHORT[self.share]}(first)", first[order], "number", 3, decimals=3),
            Field("rank_median", "median rank", median[order], "count"),
            Field("rank_low", "rank_low", rank_low[order], "count"),
            Field("rank_high", "rank_high", rank_high[order], "count"),
            Field("estimate", "estimate", mean[order], "estimate"),
            *interval_fields(low[order], high[order], self.confidence),
        ),
        title=title,
        head=(_answer(self.objects, first, self.share),),
        notes=notes,
    ).first(_MOST_ROWS)


_SHORT = {"probability": "P", "confidence": "Conf."}


def _answer(objects: tuple[Label, ...], first: FloatArray, share: str) -> str:
    """Return in words which objects may be first."""
    order = [k for k in np.argsort(-first, kind="stable") if first[k] >= _LEAST]
    phrases = [f"{objects[k]} {format_share(first[k])}" for k in order[:_NAMED]]
    rest = len(order) - len(phrases)
    more = f" and {counted(rest, 'more object')}" if rest else ""
    return f"{share.capitalize()} of first place: {named(phrases, _NAMED)}{more}"
