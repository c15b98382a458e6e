"""Which objects are preferred, by how much, and how certain this is, in sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special

from ..auditing.finding import p_text
from ..base.table import counted, format_count, format_number, format_percent, format_share
from ..core.columns import FloatArray, Label
from ..fitting.estimates import Estimates
from ..inference.log_worths import averaged_share, worth_classes
from ..inference.pairwise import pairwise
from ..inference.pairwise_record import Pairwise
from ..inference.worth import worth_table

Sentence = tuple[str, dict[str, float]]  # a sentence and the numbers in it

_RANKED = 6  # objects that are named in their order; of more, the first three and the last
_EQUAL = 1e-9
_SURE = 0.9995  # a probability that is printed as above .999


@dataclass(frozen=True)
class Decisions:
    """The decisions between two objects under a model.

    Attributes
    ----------
    share : callable
        A function of the positions of two objects: the probability that the first is preferred, given a decision.
    held : str
        The condition of the odds exp(2(λ_i − λ_j)); empty if they are the odds of `share`.
    """

    share: Callable[[int, int], float]
    held: str = ""


def worth_sentences(res: Estimates, confidence: float, decisions: Decisions | None = None) -> dict[str, Sentence]:
    """Return sentences on what is preferred and by how much; by default decisions follow from the log-worths alone."""
    classes, _, _ = worth_classes(res, None)
    pairs = pairwise(res, at="average", confidence=confidence)
    if len(pairs.ranking) < 2:
        return {"preference": ("The table does not determine which object is better.", {})}
    differs = "Averaged over the judgments, " if len(classes) > 1 else ""
    decisions = decisions or Decisions(partial(averaged_share, res))
    return {"preference": _preference(res, pairs, differs), "differences": _differences(decisions, pairs)}


def _preference(res: Estimates, pairs: Pairwise, averaged: str) -> Sentence:
    frame = worth_table(res, "average", "probability", pairs.confidence).to_frame()
    value = dict(zip(frame["object"], frame["estimate"], strict=True))
    ranked = [pairs.objects[k] for k in pairs.ranking]
    text = order_text([valued(label, value[label]) for label in ranked], pairs.log_worths[pairs.ranking])
    text = averaged + text if averaged or len(ranked) > _RANKED else text[0].upper() + text[1:]
    if not res.response.plain_odds:
        text += f" (the probability of being preferred to {res.design.reference}, given a decision)"
    else:
        text += " (mean worths, which sum to 1)" if averaged else " (worths, which sum to 1)"
    left_out = len(pairs.objects) - len(ranked)
    text += f"; {counted(left_out, 'object')} cannot be compared with them" if left_out else ""
    return f"{text}.", {f"worth of {label}": float(value[label]) for label in ranked}


def order_text(names: Sequence[str], log_worths: FloatArray) -> str:
    """Return the order of objects, the best first, with their names as they are to be printed."""
    if len(names) > _RANKED:
        return f"{names[0]} is preferred most, then {names[1]} and {names[2]}; {names[-1]} is preferred least"
    text = names[0]
    for (before, after), name in zip(itertools.pairwise(log_worths), names[1:], strict=True):
        text += (" = " if before - after < _EQUAL else " > ") + name
    return f"the order of preference is {text}"


def valued(label: Label, value: float) -> str:
    """Return an object with its worth in parentheses, if it has one."""
    return str(label) if np.isnan(value) else f"{label} ({format_share(value)})"


def _differences(decisions: Decisions, pairs: Pairwise) -> Sentence:
    """State differences: of two objects, or of the first two and of first and last, and how many pairs differ."""
    ranked = pairs.ranking
    first, numbers = _one_pair(decisions, pairs, ranked[0], ranked[1], "first")
    if pairs.rank_ranges is not None:
        last, more = _one_pair(decisions, pairs, ranked[0], ranked[-1], "ends") if len(ranked) > 2 else ("", {})
        intervals = "Intervals hold for all pairs together, on average over objects and not for each object."
        return f"{first}. {last}{'. ' if last else ''}{intervals}", numbers | more
    if len(ranked) == 2:
        return first + ".", numbers
    last, more = _one_pair(decisions, pairs, ranked[0], ranked[-1], "ends")
    known = ~np.isnan(pairs.difference)
    apart = int(np.sum(pairs.significant & known))
    level = f"{1 - pairs.confidence:.4g}"
    many = f"{format_count(apart)} of {counted(int(known.sum()), 'pair')} {'differs' if apart == 1 else 'differ'}"
    text = f"{first}. {last}. {many} significantly (p < {level}; p-values and intervals adjusted for all pairs)."
    numbers |= more | {"pairs": float(known.sum()), "pairs that differ": float(apart)}
    together = _not_apart(pairs)
    if together:
        text += f" Not significantly worse than {pairs.objects[ranked[0]]}: {together}."
    return text, numbers


def _not_apart(pairs: Pairwise) -> str:
    """Return the objects that are not significantly worse than the first."""
    differ = pairs.better(pairs.significant)
    first = pairs.ranking[0]
    names = [str(pairs.objects[k]) for k in pairs.ranking[1:] if not differ[first, k]]
    return ", ".join(names) if len(names) <= _RANKED else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _one_pair(decisions: Decisions, pairs: Pairwise, i: int, j: int, which: str) -> Sentence:
    """State the odds of one object over another, and the share of decisions that they imply."""
    row = int(np.flatnonzero((pairs.pairs == sorted((i, j))).all(axis=1))[0])
    difference = abs(float(pairs.log_odds[0][row]))
    half = float(pairs.reach[row] * pairs.log_odds[1][row])
    with np.errstate(over="ignore"):
        odds, low, high = (float(x) for x in np.exp([difference, difference - half, difference + half]))
    a, b = pairs.objects[i], pairs.objects[j]
    share = decisions.share(i, j)
    numbers = {f"odds {which}": odds, f"low {which}": low, f"high {which}": high}
    p = float(pairs.p_adjusted[row])
    if pairs.rank_ranges is None:
        numbers |= {f"p {which}": p, f"share {which}": share}
    else:
        return _predicted_pair(pairs, row, (a, b), numbers | {f"share {which}": share}, which)
    sentence = f"The odds of {a} over {b}{decisions.held} are {odds_text(odds)}"
    if np.isnan(pairs.std_error[row]):
        return f"{sentence}, without a standard error by clusters", numbers
    if not pairs.std_error[row] > 0:
        return f"{sentence}, by the model itself", numbers
    averaged = (
        decisions.held or abs(share - special.expit(difference)) > _EQUAL
    )  # not so where the share is not determined
    text = f"{sentence} ({interval_text(low, high, pairs.confidence)}, {p_text(p)})"
    if not pairs.significant[row]:
        return f"{text}, not a significant difference", numbers
    if np.isnan(share):
        return text, numbers
    if averaged:
        return f"{text}; over all judgments {a} is preferred in {format_percent(share)} of decisions", numbers
    return f"{text}, so {a} is preferred in {format_percent(share)} of decisions", numbers


def _predicted_pair(
    pairs: Pairwise, row: int, names: tuple[Label, Label], numbers: dict[str, float], which: str
) -> Sentence:
    """State the odds of one object over another, and the probability that it is better, from predicted worths."""
    greater = float(pairs.probability_greater[row])
    ahead = greater if pairs.difference[row] > 0 else 1 - greater
    odds, low, high, share = (numbers[f"{name} {which}"] for name in ("odds", "low", "high", "share"))
    about = interval_text(low, high, pairs.confidence).replace("interval", "prediction interval")
    text = f"The odds of {names[0]} over {names[1]} are {odds_text(odds)} ({about})"
    text += "" if np.isnan(share) else f", so {names[0]} is preferred in {format_percent(share)} of decisions"
    chance = "above .999" if ahead > _SURE else format_share(ahead)
    better = f"{names[0]} is the better one with probability {chance}"
    return f"{text}; {better}", numbers | {f"probability {which}": ahead}


def odds_text(value: float) -> str:
    """Return odds for a sentence."""
    return format_number(value, 3)


def interval_text(low: float, high: float, confidence: float) -> str:
    """Return an interval of odds, to be put in parentheses."""
    return f"{100 * confidence:.4g} % interval {odds_text(low)} to {odds_text(high)}"
