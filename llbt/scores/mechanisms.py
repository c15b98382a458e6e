"""The mechanisms of aggregation: scores of N systems in sorted order, with intervals and probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Literal, get_args

import numpy as np
from scipy import special

from ..base.arguments import Kind
from ..base.table import counted, format_count
from ..core.columns import FloatArray, IntArray
from ..core.statistics import critical_value
from ..errors import DesignError, OptionError, alternatives
from ..resampling import Resampler, degenerate_notes, drawn_weights, percentiles
from .bradley_terry import BradleyTerry, bradley_terry, resampled_log_odds, without_ties
from .games import Games
from .outcomes import Outcomes, check_whole
from .ratings import (
    Elo,
    TrueSkill,
    check_finite,
    elo_probabilities,
    elo_ratings,
    environment,
    step_by_held_out_loss,
    trueskill_probabilities,
    trueskill_ratings,
)

Mechanism = Literal["mean", "median", "bt", "llbt", "elo", "trueskill"]
Options = BradleyTerry | Elo | TrueSkill
NAMED: dict[str, Options] = {
    "bt": BradleyTerry(),
    "llbt": BradleyTerry(wald=True),
    "elo": Elo(),
    "trueskill": TrueSkill(),
}
_KNOWN = get_args(Mechanism)
Method = Annotated[
    Mechanism | Options,
    Kind(
        lambda method: isinstance(method, Options) or (isinstance(method, str) and method in _KNOWN),
        f"{alternatives(_KNOWN)}, or a record llbt.scores.BradleyTerry(…), Elo(…) or TrueSkill(…)",
    ),
]
Bounds = tuple[FloatArray, FloatArray]
Rate = Callable[[Games, IntArray, np.random.Generator | None], tuple[FloatArray, FloatArray]]

_LIMIT = 1e4  # log-odds under a vanishing prior are the same within 1e-5
_ERRORS = 3.0  # Monte Carlo errors between ratings from which their order is no chance
_FEWEST_UNITS = 5  # five folds, and each needs a unit
_SIDE_BY_SIDE = 6000  # systems in the orders of a block: enough to rate at once, few enough for a bar to move
_NO_INTERVAL = "no intervals: n=1000 resamples instances"


@dataclass(frozen=True, eq=False)
class Scored:
    """The result of a mechanism for N systems.

    Attributes
    ----------
    estimate : ndarray, shape (N,)
    probabilities : ndarray, shape (N, N)
        The probability that the row is above the column, given a decision.
    bounds : two ndarray, shape (N,) each
    notes : tuple of str
    extra : mapping of str to ndarray, each (N,)
    unit : float
        The magnitude of the scores, for rounding.
    standing : ndarray, shape (N,), or None
        Values to rank by, the higher the better, if ranks do not follow the scores.
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
    """The number of resamples, how they are drawn, and the level of intervals."""

    n: int
    confidence: float
    draw: Resampler

    def gathered(self, task: Callable[[int, np.random.Generator], FloatArray], entries: int) -> FloatArray:
        """Return the scores of the resamples, (n, N), which a task computes in blocks."""
        return np.concatenate(self.draw.blocks(task, self.n, entries))


def named(method: Method) -> Mechanism:
    """Return the name of a mechanism."""
    if isinstance(method, BradleyTerry):
        return "llbt" if method.wald else "bt"
    return "elo" if isinstance(method, Elo) else "trueskill" if isinstance(method, TrueSkill) else method


def scored(outcomes: Outcomes, method: Method, asked: Asked) -> Scored:
    """Return the scores of a mechanism."""
    options = NAMED.get(method) if isinstance(method, str) else method
    if options is None:
        return centre(outcomes, method == "median", asked)
    return paired(outcomes, options, asked) if isinstance(options, BradleyTerry) else rated(outcomes, options, asked)


def centre(outcomes: Outcomes, median: bool, asked: Asked) -> Scored:
    """Return the mean or median of each system over the instances on which it has a score."""
    scores = outcomes.scores
    assert scores is not None
    flipped = -1.0 if outcomes.negated else 1.0
    estimate = flipped * (np.nanmedian(scores, axis=1) if median else np.nanmean(scores, axis=1))
    notes = ["Probabilities are shares of wins among instances with a winner, without a model."]
    bounds = _nothing(len(scores))
    if asked.n:
        drawn = flipped * asked.gathered(partial(_centres, scores, median), scores.shape[1])
        bounds, interval_notes = _percentiles(drawn, asked, "instances")
        notes += interval_notes
    else:
        notes.append(_NO_INTERVAL)
    unit = float(np.nanmax(np.abs(scores)))
    return Scored(estimate, _observed(outcomes), bounds, tuple(notes), unit=unit)


def _observed(outcomes: Outcomes) -> FloatArray:
    """Return the share of instances that the row wins against the column, among instances with a winner, (N, N)."""
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
    """Return means of N systems (N, M) with weights (B, M) of the instances, shape (B, N)."""
    there = ~np.isnan(scores)
    with np.errstate(invalid="ignore"):
        return np.asarray(weights @ np.where(there, scores, 0.0).T / (weights @ there.T.astype(np.float64)))


def weighted_medians(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return medians of N systems (N, M) with weights (B, M) of the instances, shape (B, N)."""
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


def paired(outcomes: Outcomes, options: BradleyTerry, asked: Asked) -> Scored:
    """Return Bradley-Terry scores, with Wald intervals if requested and nothing is resampled."""
    scores = bradley_terry(outcomes, options)
    notes, extra = list(scores.notes), {"worth": scores.worth}
    bounds = _nothing(len(scores.worth))
    if options.wald:
        extra["std_error"] = scores.std_error
        notes += (
            ["with ties split, standard errors are conservative"] if options.ties == "half" and scores.has_ties else []
        )
    if scores.standing is not None:
        notes.append("no intervals: scores are not finite")
    elif asked.n:
        _whole_if_counts(outcomes)
        task = partial(resampled_log_odds, scores, without_ties(scores, outcomes, options), outcomes, options)
        bounds, interval_notes = _percentiles(asked.gathered(task, outcomes.entries), asked, _unit(outcomes))
        notes += interval_notes
    elif options.wald:
        z = critical_value(asked.confidence, math.inf)
        bounds = scores.log_odds - z * scores.std_error, scores.log_odds + z * scores.std_error
        notes.append(
            f"{100 * asked.confidence:.4g} % Wald intervals, which assume independent comparisons"
            + ("; those on one instance are not: n=1000 resamples instances" if outcomes.scores is not None else "")
        )
    else:
        notes.append(_NO_INTERVAL)
    standing = scores.log_odds if scores.standing is None else scores.standing
    with np.errstate(invalid="ignore"):
        probabilities = special.expit(standing[:, None] - standing[None, :])
    unit = 1.0 if scores.standing is None else _LIMIT
    return Scored(scores.log_odds, probabilities, bounds, tuple(notes), extra, unit, scores.standing)


def rated(outcomes: Outcomes, options: Elo | TrueSkill, asked: Asked) -> Scored:
    """Return Elo or TrueSkill ratings averaged over random orders of the games."""
    _whole_if_counts(outcomes)
    given = options.order == "given"
    if given:
        _check_given(outcomes, asked)
    slots = outcomes.slots()
    slots_played = np.where(slots % 3 == 1, -1, slots) if options.ties == "drop" else slots
    games = Games(len(outcomes.systems), outcomes.pairs, slots_played)
    interval_notes: list[str] = []
    if isinstance(options, Elo) and options.k == "held-out":
        options, note = _with_chosen_step(options, games, asked)
        interval_notes.append(note)
    draws = 0.0 if isinstance(options, Elo) else _draw_probability(outcomes, options)
    rate = partial(elo_ratings, options) if isinstance(options, Elo) else partial(trueskill_ratings, draws)
    if given:
        ratings, sigma = rate(games, np.arange(len(games.slots))[None], None)
        check_finite(ratings)
    else:
        ratings, sigma = _played(rate, games, options.orders, False, asked)
    estimate, spread = ratings.mean(axis=0), np.full(ratings.shape[1], np.nan)
    bounds, notes = _nothing(len(estimate)), [_rating_note(options, draws), *interval_notes]
    standing = beyond_chance(ratings)
    if len(set(standing.tolist())) < len(np.unique(estimate)):
        notes.append(f"ratings within {_ERRORS:g} Monte Carlo errors share a rank; more orders may separate them")
    if len(ratings) > 1:
        spread = ratings.std(axis=0, ddof=1)
    if asked.n:
        drawn, _ = _played(rate, games, asked.n, True, asked)
        bounds, interval_notes = _percentiles(drawn, asked, f"{_unit(outcomes)}, each played in one random order")
        notes += interval_notes
    elif given:
        notes.append("instances are played once, in the order of the rows; order='random' shows its effect")
    elif options.orders > 1:
        bounds = percentiles(ratings, asked.confidence)
        notes.append(
            f"mean of {format_count(options.orders)} random orders; spread and {100 * asked.confidence:.4g} % "
            "intervals are over orders only (n=1000: over instances)"
        )
    else:
        notes.append("one random order of the games; orders=100 shows how much ratings depend on the order")
    extra = {"spread": spread}
    if isinstance(options, Elo):
        unit = max(1.0, abs(options.start))
        return Scored(estimate, elo_probabilities(options, estimate), bounds, tuple(notes), extra, unit, standing)
    extra["sigma"] = sigma.mean(axis=0)
    chances = trueskill_probabilities(estimate, extra["sigma"], environment(draws).beta)
    return Scored(estimate, chances, bounds, tuple(notes), extra, standing=standing)


def _check_given(outcomes: Outcomes, asked: Asked) -> None:
    """Raise if the data have no order of rows, or if resamples are requested, which have none."""
    if outcomes.scores is None:
        raise DesignError(
            "order='given' with a table of counts, which has no order",
            "Pass order='random', or the judgments to llbt.scores.elo_history(…).",
            expected="scores of instances",
        )
    if asked.n:
        raise OptionError(
            f"n={asked.n} with order='given'", "Leave out n=, or pass order='random'.", expected="rows in their order"
        )


def _with_chosen_step(options: Elo, games: Games, asked: Asked) -> tuple[Elo, str]:
    """Return options with the k that predicts held-out units best, and a note on it."""
    if len(games.slots) < _FEWEST_UNITS:
        raise DesignError(
            f"k='held-out' with {counted(len(games.slots), 'instance')}", "Pass k=20.", expected="five or more"
        )
    task = partial(step_by_held_out_loss, options, games)
    best, steps, loss = asked.draw.each([task])[0]
    place = int(np.argmin(loss))
    end = " (an end of the range)" if place in (0, len(loss) - 1) else ""
    return replace(options, k=best), (
        f"k = {best:g}{end} of {steps[0]:g} to {steps[-1]:g}: least log-loss of held-out games, {loss[place]:.4f}"
    )


def beyond_chance(ratings: FloatArray) -> FloatArray:
    """Return the values to rank by, (N,), the higher the better; ratings within Monte Carlo error (B orders) are equal.

    A single order has no Monte Carlo error, so its ratings are unchanged.
    """
    mean, number = ratings.mean(axis=0), len(ratings)
    if number < 2:
        return np.asarray(mean)
    order = np.argsort(-mean, kind="stable")
    standing, first = np.empty(len(mean)), order[0]
    for place, k in enumerate(order):
        apart = ratings[:, first] - ratings[:, k]
        if apart.mean() > _ERRORS * apart.std(ddof=1) / math.sqrt(number):
            first = k
        standing[k] = standing[first] if k != first else -float(place)
    return standing


def _draw_probability(outcomes: Outcomes, options: TrueSkill) -> float:
    """Return TrueSkill's probability of a draw: the requested one, or the share of ties."""
    drawn, games = float(outcomes.counts[:, 1].sum()), outcomes.n_games
    if options.ties == "drop":
        drawn, games = 0.0, games - drawn
    if options.draw_probability is None:
        return drawn / max(1.0, games)
    if not options.draw_probability and drawn:
        raise DesignError(
            f"draw_probability=0, but {counted(drawn, 'comparison')} of {format_count(games)} are ties",
            "Leave it out, or pass ties='drop'.",
            expected="a positive probability",
        )
    return float(options.draw_probability)


def _played(rate: Rate, games: Games, number: int, redrawn: bool, asked: Asked) -> tuple[FloatArray, FloatArray]:
    """Return ratings and, for TrueSkill, their σ in each of B random orders or resamples, shape (B, N) each."""
    task, most = partial(_rated, rate, games, redrawn), max(1, _SIDE_BY_SIDE // games.size)
    ratings, sigma = np.concatenate(asked.draw.blocks(task, number, len(games.slots), most), axis=1)
    check_finite(ratings)
    return ratings, sigma


def _rated(rate: Rate, games: Games, redrawn: bool, size: int, rng: np.random.Generator) -> FloatArray:
    """Return ratings and their σ in `size` orders or resamples, shape (2, size, N)."""
    units = games.redrawn(size, rng) if redrawn else games.shuffled(size, rng)
    return np.stack(rate(games, units, rng))


def _rating_note(options: Elo | TrueSkill, draws: float) -> str:
    if isinstance(options, Elo):
        return f"Elo with k = {options.k:g}, start {options.start:g}, scale {options.scale:g}; a tie is a draw (½)"
    return f"TrueSkill with the package's constants and a draw probability of {draws:.4g}"


def _whole_if_counts(outcomes: Outcomes) -> None:
    check_whole(outcomes, "Pass whole counts, or method='bt' with n=0.")


def _unit(outcomes: Outcomes) -> str:
    return "judgments, taken as independent" if outcomes.scores is None else "instances"


def _nothing(size: int) -> Bounds:
    return np.full(size, np.nan), np.full(size, np.nan)


def _percentiles(drawn: FloatArray, asked: Asked, unit: str) -> tuple[Bounds, list[str]]:
    """Return percentile intervals of resamples (B, N), and notes on them."""
    note = f"{100 * asked.confidence:.4g} % percentile intervals: {counted(asked.n, 'resample')} of the {unit}"
    return percentiles(drawn, asked.confidence), [note, *degenerate_notes(drawn, "without finite scores")]
