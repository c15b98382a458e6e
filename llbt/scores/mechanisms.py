"""The mechanisms of aggregation: scores of N systems in sorted order, with intervals and probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
from scipy import special

from ..core.columns import FloatArray
from ..core.statistics import critical_value
from ..resampling import Resampler, degenerate_notes, drawn_weights, percentiles
from ..table import counted, format_count
from .bradley_terry import Fitting, bradley_terry, resampled_log_odds, without_ties
from .outcomes import Outcomes, check_whole
from .ratings import Elo, Games, TrueSkill, check_finite

Mechanism = Literal["mean", "median", "bt", "llbt", "elo", "trueskill"]
Bounds = tuple[FloatArray, FloatArray]

_ASKER = "aggregate"
_LIMIT = 1e4  # log-odds under a vanishing prior are the same within 1e-5
_SIDE_BY_SIDE = 2000  # systems in the orders of a block: enough to rate at once, few enough for a bar to move
_NO_INTERVAL = "no intervals: n=1000 resamples instances"


@dataclass(frozen=True, eq=False)
class Scored:
    """What a mechanism gives for N systems.

    Attributes
    ----------
    estimate : ndarray, shape (N,)
    probabilities : ndarray, shape (N, N)
        That the row is above the column, given a decision.
    bounds : two ndarray, shape (N,) each
    notes : tuple of str
    extra : mapping of str to ndarray, each (N,)
    unit : float
        Of what size scores are, for rounding.
    standing : ndarray, shape (N,), or None
        What ranks go by, the higher the better, where the scores do not say it.
    """

    estimate: FloatArray
    probabilities: FloatArray
    bounds: Bounds
    notes: tuple[str, ...]
    extra: dict[str, FloatArray] = field(default_factory=dict)
    unit: float = 1.0
    standing: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Asked:
    """How many resamples and orders, how they are drawn, and the level of intervals."""

    n: int
    orders: int
    confidence: float
    draw: Resampler

    def gathered(self, task: Callable[[int, np.random.Generator], FloatArray], entries: int) -> FloatArray:
        """Return the scores of the resamples, (n, N), that a task makes of so many at a time."""
        return np.concatenate(self.draw.blocks(task, self.n, entries))


def centre(outcomes: Outcomes, median: bool, asked: Asked) -> Scored:
    """Return means or medians over the instances that each system has a score on."""
    scores = outcomes.scores
    assert scores is not None
    flipped = -1.0 if outcomes.negated else 1.0
    estimate = flipped * (np.nanmedian(scores, axis=1) if median else np.nanmean(scores, axis=1))
    notes = ["probabilities are observed shares of the instances on which one is higher, without a model"]
    bounds = _nothing(len(scores))
    if asked.n:
        drawn = flipped * asked.gathered(partial(_centres, scores, median), scores.shape[1])
        bounds, said = _percentiles(drawn, asked, "instances")
        notes += said
    else:
        notes.append(_NO_INTERVAL)
    unit = float(np.nanmax(np.abs(scores)))
    return Scored(estimate, _observed(outcomes), bounds, tuple(notes), unit=unit)


def _observed(outcomes: Outcomes) -> FloatArray:
    """Return the share of the instances won by the row against the column, of those with a winner, (N, N)."""
    i, j = outcomes.pairs.T
    made = np.full((len(outcomes.systems), len(outcomes.systems)), np.nan)
    wins, losses = outcomes.counts[:, 0], outcomes.counts[:, 2]
    with np.errstate(invalid="ignore"):
        made[i, j], made[j, i] = wins / (wins + losses), losses / (wins + losses)
    return made


def _centres(scores: FloatArray, median: bool, size: int, rng: np.random.Generator) -> FloatArray:
    """Return the means or medians of resamples of the instances, shape (B, N)."""
    weights = drawn_weights(scores.shape[1], size, rng)
    return weighted_medians(scores, weights) if median else weighted_means(scores, weights)


def weighted_means(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return means of N systems (N, M) where instances count as often as the weights (B, M) say, shape (B, N)."""
    there = ~np.isnan(scores)
    with np.errstate(invalid="ignore"):
        return np.asarray(weights @ np.where(there, scores, 0.0).T / (weights @ there.T.astype(np.float64)))


def weighted_medians(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return medians of N systems (N, M) where instances count as often as the weights (B, M) say, shape (B, N)."""
    made = np.full((len(weights), len(scores)), np.nan)
    for k, row in enumerate(scores):
        order = np.argsort(row)[: int((~np.isnan(row)).sum())]
        below = np.cumsum(weights[:, order], axis=1)
        half = below[:, -1:] / 2
        last = len(order) - 1
        low = np.minimum((below < half).sum(axis=1), last)
        high = np.minimum((below <= half).sum(axis=1), last)
        ordered = row[order]
        made[:, k] = np.where(half[:, 0] > 0, (ordered[low] + ordered[high]) / 2, np.nan)
    return made


def paired(outcomes: Outcomes, wald: bool, fitting: Fitting, asked: Asked) -> Scored:
    """Return Bradley-Terry scores, with Wald intervals where they are asked for and nothing is resampled."""
    found = bradley_terry(outcomes, fitting, _ASKER)
    notes, extra = list(found.notes), {"worth": found.worth}
    bounds = _nothing(len(found.worth))
    if wald:
        extra["std_error"] = found.std_error
        notes += (
            ["with ties split, standard errors are conservative"] if fitting.ties == "half" and found.has_ties else []
        )
    if found.standing is not None:
        notes.append("no intervals: scores are not finite")
    elif asked.n:
        _whole_if_counts(outcomes)
        task = partial(resampled_log_odds, found, without_ties(found, outcomes, fitting), outcomes, fitting)
        bounds, said = _percentiles(asked.gathered(task, outcomes.entries), asked, _unit(outcomes))
        notes += said
    elif wald:
        z = critical_value(asked.confidence, math.inf)
        bounds = found.log_odds - z * found.std_error, found.log_odds + z * found.std_error
        notes.append(
            f"{100 * asked.confidence:.4g} % Wald intervals, which take all comparisons as independent"
            + ("; those on one instance are not: n=1000 resamples instances" if outcomes.scores is not None else "")
        )
    else:
        notes.append(_NO_INTERVAL)
    standing = found.log_odds if found.standing is None else found.standing
    with np.errstate(invalid="ignore"):
        probabilities = special.expit(standing[:, None] - standing[None, :])
    unit = 1.0 if found.standing is None else _LIMIT
    return Scored(found.log_odds, probabilities, bounds, tuple(notes), extra, unit, found.standing)


def rated(outcomes: Outcomes, rater: Elo | TrueSkill, drop: bool, asked: Asked) -> Scored:
    """Return Elo or TrueSkill ratings averaged over random orders of the games."""
    _whole_if_counts(outcomes)
    games = Games(len(outcomes.systems), outcomes.pairs, _kept(outcomes.slots(), drop))
    ratings, sigma = _played(rater, games, asked.orders, False, asked)
    estimate, spread = ratings.mean(axis=0), np.full(ratings.shape[1], np.nan)
    bounds, notes = _nothing(len(estimate)), [_rating_note(rater)]
    if asked.orders > 1:
        spread = ratings.std(axis=0, ddof=1)
    if asked.n:
        drawn, _ = _played(rater, games, asked.n, True, asked)
        bounds, said = _percentiles(drawn, asked, f"{_unit(outcomes)}, each played in one random order")
        notes += said
    elif asked.orders > 1:
        bounds = percentiles(ratings, asked.confidence)
        notes.append(
            f"mean of {format_count(asked.orders)} random orders; spread and {100 * asked.confidence:.4g} % "
            "percentiles over orders say what the order does, nothing of the instances (n=1000 resamples them)"
        )
    else:
        notes.append("one random order of the games: another gives other ratings (orders=100 shows how far off)")
    extra = {"spread": spread}
    if isinstance(rater, TrueSkill):
        extra["sigma"] = sigma.mean(axis=0)
        return Scored(estimate, rater.probabilities(estimate, extra["sigma"]), bounds, tuple(notes), extra)
    return Scored(estimate, rater.probabilities(estimate), bounds, tuple(notes), extra, unit=max(1.0, abs(rater.start)))


def _kept(slots: np.ndarray, drop: bool) -> np.ndarray:
    """Return the games without those that are ties."""
    return np.where(slots % 3 == 1, -1, slots) if drop else slots


def _played(
    rater: Elo | TrueSkill, games: Games, number: int, redrawn: bool, asked: Asked
) -> tuple[FloatArray, FloatArray]:
    """Return ratings and, for TrueSkill, their σ in each of B random orders or resamples, shape (B, N) each."""
    task, most = partial(_rated, rater, games, redrawn), max(1, _SIDE_BY_SIDE // games.size)
    ratings, sigma = np.concatenate(asked.draw.blocks(task, number, len(games.slots), most), axis=1)
    check_finite(ratings)
    return ratings, sigma


def _rated(rater: Elo | TrueSkill, games: Games, redrawn: bool, size: int, rng: np.random.Generator) -> FloatArray:
    """Return ratings and their σ in so many orders or resamples, shape (2, size, N)."""
    units = games.redrawn(size, rng) if redrawn else games.shuffled(size, rng)
    return np.stack(rater.rate(games, units, rng))


def _rating_note(rater: Elo | TrueSkill) -> str:
    if isinstance(rater, Elo):
        return f"Elo with k = {rater.k:g}, start {rater.start:g}, scale {rater.scale:g}; a tie is a draw (½)"
    return f"TrueSkill with the package's constants and a draw probability of {rater.draw_probability:.4g}"


def _whole_if_counts(outcomes: Outcomes) -> None:
    check_whole(outcomes, "Pass whole counts, or method='bt' with n=0.")


def _unit(outcomes: Outcomes) -> str:
    return "judgments, taken as independent" if outcomes.scores is None else "instances"


def _nothing(size: int) -> Bounds:
    return np.full(size, np.nan), np.full(size, np.nan)


def _percentiles(drawn: FloatArray, asked: Asked, unit: str) -> tuple[Bounds, list[str]]:
    """Return percentile intervals of resamples (B, N), and notes on them."""
    said = f"{100 * asked.confidence:.4g} % percentile intervals: {counted(asked.n, 'resample')} of the {unit}"
    return percentiles(drawn, asked.confidence), [said, *degenerate_notes(drawn, "without finite scores")]
