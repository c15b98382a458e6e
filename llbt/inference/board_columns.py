"""The columns of a leaderboard: names, order, shares, tiers and letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial.chebyshev import Chebyshev
from scipy import special

from ..base.table import Field, interval_fields
from ..core.columns import FloatArray, IntArray, Label, matching
from ..core.comparisons import Comparisons
from ..formulas.grid import At, labels_at
from .log_worths import LogWorths
from .pairwise_record import Pairwise, takes_many_letters

COLUMNS = (
    *("rank", "rank_low", "rank_high", "object", "estimate", "std_error", "conf_low", "conf_high"),
    *("win_share", "win_probability", "judgments", "wins", "ties", "bad", "losses", "may_be_best", "tier", "group"),
)
MOST_GROUPED = 300  # most objects that get letters
_COUNTS = ("judgments", "wins", "ties", "bad", "losses")
_EXACT = 500  # up to so many objects, every pair is computed
_NODES = 256  # with more objects, degree of the polynomial instead; its error is below 1e-9


@dataclass(frozen=True, eq=False)
class BoardColumns:
    """The columns of a leaderboard of J objects, in the order of the table except for the ranks.

    Attributes
    ----------
    objects : sequence of labels, length J
    order : ndarray of int, shape (J,)
        Positions of the objects, the best first.
    ranks : sequence of Field
        rank, rank_low and rank_high, the best first.
    levels : tuple of four ndarrays, shape (J,) each
        Estimate, standard error and interval, on the scale.
    counts : dict of str to ndarray, shape (J,)
        judgments, wins, ties, bad and losses.
    chances : ndarray, shape (J,)
        The mean probability to win a decided judgment against another object.
    first : ndarray of bool, shape (J,)
        Whether the object may be the best.
    """

    objects: Sequence[Label]
    order: IntArray
    ranks: Sequence[Field]
    levels: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
    counts: Mapping[str, npt.NDArray[Any]]
    chances: FloatArray
    first: npt.NDArray[np.bool_]

    def fields(
        self,
        confidence: float,
        *,
        letters: Field | None = None,
        typeset: str = "",
        bad: bool = False,
        mix: bool = False,
    ) -> tuple[Field, ...]:
        """Return the columns `COLUMNS`; columns without information in this table are not printed.

        Parameters
        ----------
        confidence : float
        letters : Field or None
            Letters of groups, the best object first.
        typeset : str
            The heading of the estimate in LaTeX.
        bad : bool
            Whether "both bad" was a possible judgment.
        mix : bool
            Whether estimates are means over contexts; the mean probability is then no function of the mean log-odds.
        """
        estimate, error, low, high = (column[self.order] for column in self.levels)
        parts = tiers(self.ranks[1].values, self.ranks[2].values)
        if letters is None:
            letters = Field("group", "group", [""] * len(self.order), frame_only=True)
        number = len(set(parts[~np.isnan(parts)].tolist()))
        apart = 1 < number < len(parts) and letters.frame_only
        return (
            *self.ranks,
            Field("object", "object", [self.objects[k] for k in self.order]),
            Field("estimate", "estimate", estimate, "estimate", typeset=typeset),
            Field("std_error", "std_error", error, "estimate", frame_only=True),
            *interval_fields(low, high, confidence),
            Field("win_share", "Win %", win_shares(self.counts)[self.order], "percent", typeset=r"Win\,\%"),
            Field("win_probability", "Model %", self.chances[self.order], "percent", frame_only=not mix),
            *(
                Field(name, name, self.counts[name][self.order], "count", frame_only=name == "bad" and not bad)
                for name in _COUNTS
            ),
            Field("may_be_best", "may be best", self.first[self.order], frame_only=True),
            Field("tier", "tier", _whole(parts), "count", frame_only=not apart),
            letters,
        )


def letters_of(pairs: Pairwise) -> Field | None:
    """Return the letters of the objects, the best first; None if there are none.

    Objects that share a letter do not differ significantly. Letters are printed unless all objects share one. There are
    no letters if there would be too many to read, and for predictions, because predictions are not tested.
    """
    if pairs.rank_ranges is not None or len(pairs.objects) > MOST_GROUPED or takes_many_letters(pairs):
        return None
    letters = pairs.letters().fields[1]
    return replace(letters, frame_only=len(set("".join(letters.values))) <= 1)


def tiers(low: Any, high: Any) -> FloatArray:
    """Return the tiers 1, 2, … of objects, the best first, from their rank ranges; NaN without a range.

    No rank range reaches from one tier into another. The ranges are simultaneous, and so are the tiers.
    """
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    known = ~np.isnan(low) & ~np.isnan(high)
    tier = np.full(len(low), np.nan)
    reached = np.maximum.accumulate(high[known])
    ahead = np.minimum.accumulate(low[known][::-1])[::-1]
    tier[known] = 1 + np.cumsum(np.append(0, ahead[1:] > reached[:-1])[: len(reached)])
    return tier


def win_shares(counts: Mapping[str, npt.NDArray[Any]]) -> FloatArray:
    """Return the share of judgments that each object won (J,), with ties and "both bad" as half; NaN without any."""
    won = counts["wins"] + (counts["ties"] + counts["bad"]) / 2
    shares = np.full(len(won), np.nan)
    np.divide(won, counts["judgments"], out=shares, where=counts["judgments"] > 0)
    return shares


def mean_chances(worths: FloatArray) -> FloatArray:
    """Return each object's mean probability of winning a decided judgment against another object, (J,)."""
    known = worths[~np.isnan(worths)]
    if len(known) < 2:
        return np.full(len(worths), np.nan)

    def won(at: FloatArray) -> FloatArray:
        return np.array([special.expit(2 * (worth - known)).sum() for worth in at])

    if len(known) <= _EXACT:
        total = won(worths)
    else:  # the sum over all other objects is a smooth function of the worth
        total = Chebyshev.interpolate(won, _NODES, domain=[known.min() - 1, known.max() + 1])(worths)
    return np.asarray((total - 0.5) / (len(known) - 1))


def chances_of(pairs: Pairwise, log_worths: LogWorths) -> FloatArray:
    """Return each object's mean probability of winning, (J,), also for means over contexts and graded judgments."""
    none = np.full(len(pairs.objects), np.nan)
    if log_worths.contexts is not None:
        return none if log_worths.beside is not None else log_worths.contexts.win_shares()
    if pairs.decided is None:
        return mean_chances(pairs.log_worths)
    (i, j), chance = pairs.pairs.T, special.expit(2 * pairs.decided.difference)
    known = ~np.isnan(chance)
    won, times = np.zeros((2, len(none)))
    for side, share in ((i, chance), (j, 1 - chance)):
        np.add.at(won, side[known], share[known])
        np.add.at(times, side[known], 1)
    np.divide(won, times, out=none, where=times > 0)
    return none


def object_counts(c: Comparisons, at: At) -> tuple[dict[str, npt.NDArray[Any]], tuple[str, ...]]:
    """Return judgments, wins, ties and losses of the objects (J,) in the comparisons with the labels in `at`."""
    keep = np.ones(len(c), dtype=np.bool_)
    over: list[str] = []
    labels = {column.name for column in c.columns if not column.numeric}
    for name, values in labels_at(at).items():
        if name in labels:
            keep &= matching(name, values, c.columns)
        elif name in {column.name for column in c.columns}:  # sides have different values in every judgment
            over.append(name)
    counts = np.column_stack([c.wins_i, c.ties, c.bad, c.wins_j])[keep]
    summed = np.zeros((len(c.objects), 4))
    np.add.at(summed, c.pairs[keep, 0], counts)
    np.add.at(summed, c.pairs[keep, 1], counts[:, [3, 1, 2, 0]])
    notes = (f"judgments, wins, ties and losses are counted at all values of {', '.join(over)}",) if over else ()
    columns = dict(zip(_COUNTS, [summed.sum(axis=1), *summed.T], strict=True))
    return {name: _whole(column) for name, column in columns.items()}, notes


def _whole(counts: FloatArray) -> npt.NDArray[Any]:
    return counts.astype(np.int64) if np.all(counts == np.floor(counts)) else counts
