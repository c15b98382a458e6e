"""The lines above a leaderboard: which objects may be the best, and how good the first object is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..base.arguments import Rng, as_generator
from ..base.notes import named
from ..base.table import Field, format_number
from ..core.columns import IntArray, Label
from ..core.statistics import critical_value
from .board_columns import MOST_GROUPED
from .log_worths import LogWorths
from .pairwise_record import Pairwise
from .scales import FACTORS, Scale
from .selection import winner

_UNITS: dict[Scale, str] = {"log_worth": "Log-worth", "log_odds": "Log-odds", "elo": "Elo", "odds_ratio": "Odds"}
_DIGITS = 3
# error of the critical value with the fewest draws, .017 as measured with 2,000 objects (`core.max_z`)
_OF_CRITICAL = 0.02
_LEAST = 0.1  # least correction, in standard errors, for which a line is printed


def ranked_first(ranks: Sequence[Field], order: IntArray) -> npt.NDArray[np.bool_]:
    """Return whether each object's rank range begins at 1, (J,)."""
    is_first = np.zeros(len(order), dtype=np.bool_)
    is_first[order] = np.asarray(ranks[1].values) == 1
    return is_first


def first_place(objects: Sequence[Label], order: IntArray, first: npt.NDArray[np.bool_], level: str) -> tuple[str, ...]:
    """Return a line that names the objects that may be the best."""
    labels = [str(objects[k]) for k in order if first[k]]
    if not labels:
        return ()
    if len(labels) == 1:
        return (f"First: {labels[0]} (with {level} confidence)",)
    return (f"First place is open between {len(labels):,} objects ({level} confidence): {named(labels)}",)


def simulated_note(pairs: Pairwise) -> tuple[str, ...]:
    """Return a note on the simulation error of the critical value of rank ranges, if there are many objects."""
    if len(pairs.objects) <= MOST_GROUPED:
        return ()
    return (f"critical value of rank ranges: {pairs.critical:.2f} by simulation, standard error about {_OF_CRITICAL}",)


def corrected_line(
    pairs: Pairwise, log_worths: LogWorths, scale: Scale, anchor: tuple[Label | None, float], rng: Rng
) -> tuple[str, ...]:
    """Return a line with the first object's estimate corrected for selection, if the correction matters.

    There is no line for predictions, if the first object is the anchor, if a standard error is missing, or if there are
    many objects.
    """
    ranking, (label, value) = pairs.ranking, anchor
    place = None if label is None else [pairs.objects[k] for k in ranking].index(label)
    if scale not in _UNITS or log_worths.predicted or place == 0 or not 2 <= len(ranking) <= MOST_GROUPED:
        return ()
    some = pairs.std_error[np.isin(pairs.pairs, ranking).all(axis=1)]
    if np.isnan(some).any() or not some.any():
        return ()
    wider = critical_value(pairs.confidence, pairs.df) / critical_value(pairs.confidence, np.inf)
    cov = wider**2 * log_worths.cov[np.ix_(ranking, ranking)]
    measured = np.eye(len(ranking)) - (1 / len(ranking) if place is None else np.eye(len(ranking))[place])
    of = winner(log_worths.estimate[ranking], cov, measured, pairs.confidence, as_generator(rng))

    def described(log_worth: float) -> str:
        on_scale = value + FACTORS[scale] * log_worth
        if scale == "elo":
            return f"{on_scale:.0f}"
        return format_number(np.exp(on_scale) if scale == "odds_ratio" else on_scale, _DIGITS)

    if of.estimate - of.corrected < _LEAST * of.std_error:
        return ()
    middle, low, high = map(described, (of.corrected, of.conf_low, of.conf_high))
    what = f"{_UNITS[scale]} of {pairs.objects[ranking[0]]}, corrected for having come first"
    return (f"{what}: {middle} ({100 * pairs.confidence:.4g} % CI {low} to {high})",)
