"""Elo and TrueSkill: ratings updated game by game, over many random orders of the games at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from ..base.arguments import BelowOne, Count, Finite, Positive, checked_record
from ..base.extras import need
from ..core.columns import FloatArray, IntArray
from ..errors import DesignError
from .games import Games

Draws = Literal["draw", "drop"]
Order = Literal["random", "given"]


_FOLDS, _STEPS, _ORDERS = 5, 9, 20  # folds, values of k, and orders of each
_SQRT2, _SQRT2PI = math.sqrt(2), math.sqrt(2 * math.pi)
# exponent of the Chebyshev approximation of erfc with relative error below 1.2e-7 (Press et al., Numerical Recipes,
# section 6.2): the one that the trueskill package has in place of scipy
_ERFC = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)
_REVERSED = _ERFC[::-1]
_FEW = 10  # orders that are played number by number: more are faster side by side


@checked_record
@dataclass(frozen=True)
class Elo:
    """Options of Elo ratings: ``aggregate(scores, method=Elo(k=10))``.

    Attributes
    ----------
    k : float or "held-out"
        The largest number of points by which one game can change a rating. ``"held-out"`` chooses among 1, 2, 4, …, 256
        (for a scale of 400): the k with the least log-loss of held-out instances, over five folds.
    start : float
        The rating with which all systems begin.
    scale : float
        The difference in points at which the odds are ten to one.
    orders : int
        The number of random orders of the games. 1 gives the usual sequential rating.
    ties : {"draw", "drop"}
        The treatment of equal scores on an instance: half a win for either system, or left out.
    order : {"random", "given"}
        ``"given"`` plays the instances once, in the order of the rows, and on each instance the pairs of systems in
        sorted order, as the usual sequential tools do. Ratings then depend on this order.

    Raises
    ------
    OptionError
        For unknown options.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"A": [3.0, 2.0, 4.0], "B": [2.0, 1.0, 3.0]})
    >>> llbt.scores.aggregate(scores, method=llbt.scores.Elo(k=10, start=0), rng=1).estimate.round(2).tolist()
    [14.57, -14.57]
    """

    k: Positive | Literal["held-out"] = 20.0
    start: Finite = 1500.0
    scale: Positive = 400.0
    orders: Count = 100
    ties: Draws = "draw"
    order: Order = "random"


@checked_record
@dataclass(frozen=True)
class TrueSkill:
    """Options of TrueSkill, with the constants of the package `trueskill`; skills are normal, N(μ, σ²).

    Attributes
    ----------
    draw_probability : float, optional
        The probability of a draw; by default the share of ties in the data.
    orders : int
        The number of random orders of the games. 1 gives the usual sequential rating.
    ties : {"draw", "drop"}
        The treatment of equal scores on an instance: a draw, or left out.
    order : {"random", "given"}
        ``"given"`` plays the instances once, in the order of the rows, and on each instance the pairs of systems in
        sorted order, as the usual sequential tools do. Ratings then depend on this order.

    Raises
    ------
    OptionError
        For unknown options.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"A": [3.0, 2.0, 4.0], "B": [2.0, 1.0, 3.0]})
    >>> llbt.scores.aggregate(scores, method=llbt.scores.TrueSkill(orders=1), rng=1).estimate.round(2).tolist()
    [31.99, 18.01]
    """

    draw_probability: BelowOne | None = None
    orders: Count = 100
    ties: Draws = "draw"
    order: Order = "random"


def elo_ratings(
    rule: Elo, games: Games, units: IntArray, rng: np.random.Generator | None, k: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the ratings after the games in each order of the units (B, U), shape (B, N), and NaN: Elo has no σ.

    r_i ← r_i + k(s − 1/(1 + 10^((r_j − r_i)/scale))) with s = 1, ½ or 0, and r_j loses what r_i gains. k is the same in
    all orders, or an array with one k per order, shape (B,).
    """
    state = np.full((games.size, len(units)), float(rule.start))
    column, base = np.arange(len(units)), math.log(10) / rule.scale
    most = np.full(len(units), float(rule.k)) if k is None else k
    for played in games.rounds(units, rng):
        at = played.systems, column
        rating, points = state[at], 1 - played.outcomes / 2
        moves = np.where(played.outcomes >= 0, most, 0.0)
        for step in played.steps:
            i, j = played.first[step], played.second[step]
            gained = rating[j] - rating[i]
            gained *= base
            with np.errstate(over="ignore"):
                np.exp(gained, out=gained)
            gained += 1
            np.reciprocal(gained, out=gained)
            np.subtract(points[step], gained, out=gained)
            gained *= moves[step]
            rating[i] += gained
            rating[j] -= gained
        state[at] = rating
    ratings = np.ascontiguousarray(state.T)
    return ratings, np.full_like(ratings, np.nan)


def step_by_held_out_loss(rule: Elo, games: Games, rng: np.random.Generator) -> tuple[float, FloatArray, FloatArray]:
    """Return the k with the least log-loss on held-out units, all k, and their losses.

    Units are split into five random folds. A fold is predicted by ratings from the other four, averaged over random
    orders as in `rated`; the orders are the same for all k. The loss of a game is −s log p − (1 − s) log(1 − p); the
    loss of k is the mean over all games.
    """
    steps = 2.0 ** np.arange(_STEPS) * rule.scale / 400
    fold = rng.permutation(len(games.slots)) % _FOLDS
    orders = min(rule.orders, _ORDERS)
    loss, number = np.zeros(len(steps)), 0.0
    for part in range(_FOLDS):
        inside, held = np.flatnonzero(fold != part), games.slots[fold == part]
        some = Games(games.size, games.pairs, games.slots[inside])
        units = np.tile(some.shuffled(orders, rng), (len(steps), 1))
        ratings = elo_ratings(rule, some, units, rng, np.repeat(steps, orders))[0]
        mean = ratings.reshape(len(steps), orders, -1).mean(axis=1)
        counts = np.bincount(held[held >= 0], minlength=3 * len(games.pairs)).reshape(-1, 3)
        i, j = games.pairs.T
        apart = (mean[:, i] - mean[:, j]) * math.log(10) / rule.scale
        won, lost = counts[:, 0] + counts[:, 1] / 2, counts[:, 2] + counts[:, 1] / 2
        loss -= special.log_expit(apart) @ won + special.log_expit(-apart) @ lost
        number += counts.sum()
    return float(steps[np.argmin(loss)]), steps, loss / max(1.0, number)


def elo_probabilities(rule: Elo, rating: FloatArray) -> FloatArray:
    """Return the probability that the row beats the column, shape (N, N)."""
    return np.asarray(1 / (1 + 10 ** ((rating[None, :] - rating[:, None]) / rule.scale)))


def environment(draw_probability: float) -> Any:
    """Return the environment of the package `trueskill`."""
    need("trueskill", "ratings by TrueSkill", "trueskill")
    import trueskill

    return trueskill.TrueSkill(draw_probability=draw_probability)


def trueskill_ratings(
    draw_probability: float, games: Games, units: IntArray, rng: np.random.Generator | None
) -> tuple[FloatArray, FloatArray]:
    """Return μ and σ after the games in each order of the units (B, U), shape (B, N) each.

    Many orders are updated together; few orders are played one after the other.
    """
    env = environment(draw_probability)
    margin = draw_margin(draw_probability, env)
    if len(units) <= _FEW:
        return _one_by_one(env, margin, games, units, rng)
    mu = np.full((games.size, len(units)), env.mu)
    variance = np.full((games.size, len(units)), env.sigma**2)
    column = np.arange(len(units))
    for played in games.rounds(units, rng):
        at = played.systems, column
        m, v, outcomes = mu[at], variance[at], RoundOutcomes.of(played.outcomes)
        for step in played.steps:
            after_games(m, v, (played.first[step], played.second[step]), outcomes.of_step(step), env, margin)
        mu[at], variance[at] = m, v
    return np.ascontiguousarray(mu.T), np.sqrt(variance.T)


def _one_by_one(
    env: Any, margin: float, games: Games, units: IntArray, rng: np.random.Generator | None
) -> tuple[FloatArray, FloatArray]:
    added = env.tau**2
    mu = [[float(env.mu)] * games.size for _ in units]
    variance = [[float(env.sigma**2)] * games.size for _ in units]
    for played in games.rounds(units, rng):
        ends = played.systems[played.first], played.systems[played.second]
        for order, (m, v) in enumerate(zip(mu, variance, strict=True)):
            for i, j, outcome in zip(*(side[:, order].tolist() for side in (*ends, played.outcomes)), strict=True):
                if outcome >= 0:
                    a, b = (i, j) if outcome < 2 else (j, i)
                    m[a], m[b], v[a], v[b] = _after_one_game(
                        (m[a], m[b]), (v[a] + added, v[b] + added), outcome == 1, env.beta, margin
                    )
    return np.array(mu), np.sqrt(variance)


def trueskill_probabilities(mu: FloatArray, sigma: FloatArray, beta: float) -> FloatArray:
    """Return the probability that the row performs better than the column, shape (N, N)."""
    variance = sigma[:, None] ** 2 + sigma[None, :] ** 2 + 2 * beta**2
    return np.asarray(special.ndtr((mu[:, None] - mu[None, :]) / np.sqrt(variance)))


def draw_margin(draw_probability: float, env: Any) -> float:
    """Return the largest difference of performances that counts as a draw, by the package's formula for two players."""
    need("trueskill", "ratings by TrueSkill", "trueskill")
    import trueskill

    return float(trueskill.calc_draw_margin(draw_probability, 2, env))


@dataclass(frozen=True, eq=False)
class RoundOutcomes:
    """The outcomes of games in B orders, each shape (P, B).

    Attributes
    ----------
    sign : ndarray
        −1 where the second system has won, else 1, because a draw is the same from either side.
    drawn, none : ndarray of bool
        Draws, and places in the order without a game.
    """

    sign: FloatArray
    drawn: npt.NDArray[np.bool_]
    none: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, outcomes: npt.NDArray[np.int8]) -> RoundOutcomes:
        """Return the outcomes of a round."""
        return cls(np.where(outcomes == 2, -1.0, 1.0), outcomes == 1, outcomes < 0)

    def of_step(self, step: slice) -> RoundOutcomes:
        """Return the outcomes of some games."""
        return RoundOutcomes(self.sign[step], self.drawn[step], self.none[step])


def after_games(
    mu: FloatArray,
    variance: FloatArray,
    ends: tuple[IntArray, IntArray],
    outcomes: RoundOutcomes,
    env: Any,
    margin: float,
) -> None:
    """Change the skills (Q, B) by one game each of G pairs of places, in each of B orders.

    μ ← μ ± σ²/c · v, σ² ← σ²(1 − σ²/c² · w) with c² = 2β² + σ₁² + σ₂², where v and w depend on (μ₁ − μ₂)/c and
    margin/c, and 1 is the winner (Herbrich, Minka & Graepel 2007). Before each update, τ² is added to both variances.

    Parameters
    ----------
    mu, variance : ndarray, shape (Q, B)
    ends : two ndarray of int, shape (G,) each
        Different places.
    outcomes : RoundOutcomes of (G, B) games
    """
    i, j = ends
    before = variance[i], variance[j]
    one, other = before[0] + env.tau**2, before[1] + env.tau**2
    squared = one + other + 2 * env.beta**2
    c = np.sqrt(squared)
    apart = mu[i]
    apart -= mu[j]
    apart *= outcomes.sign
    apart /= c
    v, w = moments(apart, margin / c, outcomes.drawn)
    v *= outcomes.sign
    v /= c
    w /= squared
    changed = one * (1 - one * w), other * (1 - other * w)
    if outcomes.none.any():
        v[outcomes.none] = 0.0
        changed = np.where(outcomes.none, before[0], changed[0]), np.where(outcomes.none, before[1], changed[1])
    mu[i] += one * v
    mu[j] -= other * v
    variance[i], variance[j] = changed


def _after_one_game(
    mu: tuple[float, float], variance: tuple[float, float], drawn: bool, beta: float, margin: float
) -> tuple[float, float, float, float]:
    """Return means of winner and loser, then variances; plain floats are twenty times as fast here as arrays."""
    c = math.sqrt(variance[0] + variance[1] + 2 * beta**2)
    v, w = _moments_of_draw((mu[0] - mu[1]) / c, margin / c) if drawn else _moments_of_win((mu[0] - mu[1] - margin) / c)
    shares = variance[0] / c**2, variance[1] / c**2
    return (
        mu[0] + variance[0] / c * v,
        mu[1] - variance[1] / c * v,
        variance[0] * (1 - shares[0] * w),
        variance[1] * (1 - shares[1] * w),
    )


def _moments_of_win(x: float) -> tuple[float, float]:
    below = _cdf(x)
    v = _pdf(x) / below if below > 0 else -x
    return v, v * (v + x)


def _moments_of_draw(apart: float, near: float) -> tuple[float, float]:
    upper, lower = near - abs(apart), -near - abs(apart)
    inside, at_upper, at_lower = _cdf(upper) - _cdf(lower), _pdf(upper), _pdf(lower)
    v, w = upper, 1.0
    if inside != 0:
        v = (at_lower - at_upper) / inside
        w = v**2 + (upper * at_upper - lower * at_lower) / inside
    return (-v if apart < 0 else v), w


def _pdf(x: float) -> float:
    return math.exp(-(x**2) / 2) / _SQRT2PI


def _cdf(x: float) -> float:
    z = abs(x) / _SQRT2
    t = 1 / (1 + z / 2)
    power = 0.0
    for coefficient in _REVERSED:
        power = coefficient + t * power
    upper = t * math.exp(-z * z + power) / 2
    return 1 - upper if x > 0 else upper


def moments(apart: FloatArray, near: FloatArray, drawn: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Return v and w of games that were won, or drawn where `drawn` says so, shape (G, B).

    They come from the mean and variance of a normal distribution truncated to a win or to a draw.
    """
    x = apart - near
    places = np.flatnonzero(drawn)
    if not len(places):
        return _of_wins(x, cdf(x), pdf(x))
    size, margin, wins = np.abs(apart.take(places)), near.take(places), x.size
    every = np.concatenate([x.ravel(), margin - size, -margin - size])  # one pass for all
    below, density = cdf(every), pdf(every)
    v, w = _of_wins(every[:wins], below[:wins], density[:wins])
    v_drawn, w_drawn = _of_draws(*(y[wins:].reshape(2, -1) for y in (every, below, density)))
    v[places] = np.where(apart.take(places) < 0, -v_drawn, v_drawn)
    w[places] = w_drawn
    return v.reshape(x.shape), w.reshape(x.shape)


def _of_wins(x: FloatArray, below: FloatArray, density: FloatArray) -> tuple[FloatArray, FloatArray]:
    if below.all():
        v = density / below
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            v = np.where(below > 0, density / below, -x)
    w = v + x
    w *= v
    return v, w


def _of_draws(ends: FloatArray, below: FloatArray, density: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return v and w of drawn games for a first player who is ahead, from both ends (2, n) of the interval of draws."""
    inside, (upper, lower) = below[0] - below[1], ends
    if inside.all():
        v = (density[1] - density[0]) / inside
        return v, v * v + (upper * density[0] - lower * density[1]) / inside
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(inside != 0, (density[1] - density[0]) / inside, upper)
        return v, np.where(inside != 0, v**2 + (upper * density[0] - lower * density[1]) / inside, 1.0)


def pdf(x: FloatArray) -> FloatArray:
    """Return the normal density."""
    power = x * x
    power /= -2
    density = np.exp(power, out=power)
    density /= _SQRT2PI
    return density


def cdf(x: FloatArray) -> FloatArray:
    """Return the normal distribution function to seven digits, also in the lower tail, as trueskill does."""
    z = np.abs(x)
    z /= _SQRT2
    t = 1 / (1 + z / 2)
    power = np.full_like(t, _ERFC[-1])
    for coefficient in _ERFC[-2::-1]:
        power *= t
        power += coefficient
    z *= z
    power -= z
    upper = np.exp(power, out=power)
    upper *= t
    upper /= 2
    return np.where(x > 0, 1 - upper, upper)


def check_finite(ratings: FloatArray) -> None:
    """Raise if updates left the range of floats."""
    if not np.isfinite(ratings).all():
        raise DesignError(
            f"{int((~np.isfinite(ratings)).sum())} of {ratings.size} ratings left the range of numbers",
            "Pass a smaller k=, or another draw_probability=.",
            expected="finite ones",
        )
