"""Elo and TrueSkill: ratings updated game by game, over many random orders of the games at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import special

from ..base.arguments import BelowOne, Count, Finite, Positive, checked_record
from ..base.extras import need
from ..core.columns import FloatArray, IntArray
from ..errors import DesignError

Draws = Literal["draw", "drop"]
Skill = TypeVar("Skill", float, FloatArray)  # of one order, or of several at once

_ENTRIES = 4_000_000  # games held at once
_WINDOW = 16  # games per system that are sorted into steps together
_SQRT2, _SQRT2PI = math.sqrt(2), math.sqrt(2 * math.pi)
# exponent of the Chebyshev approximation of erfc with relative error below 1.2e-7 (Press et al., Numerical Recipes,
# section 6.2): the one that the trueskill package has in place of scipy
_ERFC = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)
_REVERSED = _ERFC[::-1]
_FEW = 10  # orders that are played number by number: more are faster side by side


@dataclass(frozen=True, eq=False)
class Games:
    """Games of N systems in U units, to be played in random orders.

    Attributes
    ----------
    size : int
        N.
    pairs : ndarray of int, shape (P, 2)
    slots : ndarray of int, shape (U, L)
        The games of each unit: 3 · pair + outcome (0 for i, 1 a draw, 2 for j), −1 where there is none.
    """

    size: int
    pairs: IntArray
    slots: IntArray

    def sequence(self, units: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
        """Return the games in the order of the units (B, U), those of a unit in random order.

        Yields slots in blocks of whole units, shape (T, B).
        """
        width = self.slots.shape[1]
        block = max(1, _ENTRIES // (len(units) * width))
        for start in range(0, units.shape[1], block):
            picked = self.slots[units[:, start : start + block]]
            games = rng.permuted(picked, axis=2) if width > 1 else picked
            yield games.reshape(len(units), -1).T

    def steps(self, units: IntArray, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Return the same games in steps. The games of a step share no system, so they can be rated at once.

        For the G games of a step, yields the places of i and of j in the flattened state (B, N) and the outcomes, shape
        (G,) each. In every order each system plays its games in sequence.
        """
        for games in self.sequence(units, rng):
            for window in range(0, len(games), _WINDOW * self.size):
                yield from self._layers(games[window : window + _WINDOW * self.size])

    def _layers(self, games: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        base = np.arange(games.shape[1]) * (self.size + 1)
        pair = np.where(games < 0, len(self.pairs), games // 3)
        ends = np.vstack([self.pairs, [self.size, self.size]])  # no game is one of a system that is not there
        i, j = (ends[pair, k] for k in (0, 1))
        depth = np.zeros(games.shape[1] * (self.size + 1), dtype=np.int64)
        layer = np.empty(games.shape, dtype=np.int16)  # sorted by radix
        for t in range(len(games)):
            a, b = i[t] + base, j[t] + base
            depth[a] = depth[b] = layer[t] = np.maximum(depth[a], depth[b]) + 1
        kept = np.flatnonzero(games >= 0)
        order = kept[np.argsort(layer.ravel()[kept], kind="stable")]
        column = order % games.shape[1] * self.size
        first, second, said = i.ravel()[order] + column, j.ravel()[order] + column, games.ravel()[order] % 3
        ends_at = np.cumsum(np.bincount(layer.ravel()[kept]))
        for low, high in pairwise(ends_at):
            yield first[low:high], second[low:high], said[low:high]

    def shuffled(self, orders: int, rng: np.random.Generator) -> IntArray:
        """Return random orders of the units, shape (orders, U)."""
        rows = np.tile(np.arange(len(self.slots)), (orders, 1))
        return np.asarray(rng.permuted(rows, axis=1))

    def redrawn(self, n: int, rng: np.random.Generator) -> IntArray:
        """Return units drawn with replacement, as many as there are, shape (n, U)."""
        return rng.integers(len(self.slots), size=(n, len(self.slots)))


@checked_record
@dataclass(frozen=True)
class Elo:
    """Options of Elo ratings: ``aggregate(scores, method=Elo(k=10))``.

    Attributes
    ----------
    k : float
        Points that one game can move at most.
    start : float
        The rating with which all systems begin.
    scale : float
        The difference in points at which the odds are ten to one.
    orders : int
        The number of random orders of the games. 1 gives the usual sequential rating.
    ties : {"draw", "drop"}
        The treatment of equal scores on an instance: half a win for either system, or left out.

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

    k: Positive = 20.0
    start: Finite = 1500.0
    scale: Positive = 400.0
    orders: Count = 100
    ties: Draws = "draw"


@checked_record
@dataclass(frozen=True)
class TrueSkill:
    """Options of TrueSkill, with the constants of the package `trueskill`; skills are normal, N(μ, σ²).

    Attributes
    ----------
    draw_probability : float, optional
        By default the share of ties in the data.
    orders : int
        The number of random orders of the games. 1 gives the usual sequential rating.
    ties : {"draw", "drop"}
        The treatment of equal scores on an instance: a draw, or left out.

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


def elo_ratings(rule: Elo, games: Games, units: IntArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the ratings after the games in each order of the units (B, U), shape (B, N), and NaN: Elo has no σ.

    r_i ← r_i + k(s − 1/(1 + 10^((r_j − r_i)/scale))) with s = 1, ½ or 0, and r_j loses what r_i gains.
    """
    state = np.full(len(units) * games.size, float(rule.start))
    for i, j, said in games.steps(units, rng):
        expected = 1 / (1 + 10 ** ((state[j] - state[i]) / rule.scale))
        gained = rule.k * (1 - said / 2 - expected)
        state[i] += gained
        state[j] -= gained
    ratings = state.reshape(len(units), -1)
    return ratings, np.full_like(ratings, np.nan)


def elo_probabilities(rule: Elo, rating: FloatArray) -> FloatArray:
    """Return the probability that the row beats the column, shape (N, N)."""
    return np.asarray(1 / (1 + 10 ** ((rating[None, :] - rating[:, None]) / rule.scale)))


def environment(draw_probability: float) -> Any:
    """Return the environment of the package `trueskill`."""
    need("trueskill", "ratings by TrueSkill", "trueskill")
    import trueskill

    return trueskill.TrueSkill(draw_probability=draw_probability)


def trueskill_ratings(
    draw_probability: float, games: Games, units: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return μ and σ after the games in each order of the units (B, U), shape (B, N) each.

    Many orders are updated together; few orders are played one after the other.
    """
    env = environment(draw_probability)
    margin = draw_margin(draw_probability, env)
    if len(units) <= _FEW:
        return _one_by_one(env, margin, games, units, rng)
    mu = np.full(len(units) * games.size, env.mu)
    variance = np.full(len(units) * games.size, env.sigma**2)
    for i, j, said in games.steps(units, rng):
        # the winner first, as the package has it; the order does not matter for a draw
        a, b = np.where(said == 2, j, i), np.where(said == 2, i, j)
        mu[a], mu[b], variance[a], variance[b] = after_game(
            (mu[a], mu[b]), (variance[a] + env.tau**2, variance[b] + env.tau**2), said == 1, env.beta, margin
        )
    return mu.reshape(len(units), -1), np.sqrt(variance).reshape(len(units), -1)


def _one_by_one(
    env: Any, margin: float, games: Games, units: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    ends, added = games.pairs.tolist(), env.tau**2
    mu = np.full((len(units), games.size), env.mu)
    variance = np.full((len(units), games.size), env.sigma**2)
    for block in games.sequence(units, rng):
        for order, slots in enumerate(block.T):
            m, v, played = mu[order].tolist(), variance[order].tolist(), slots[slots >= 0]
            for slot in played.tolist():
                pair, said = divmod(slot, 3)
                a, b = ends[pair] if said < 2 else reversed(ends[pair])
                m[a], m[b], v[a], v[b] = _after_one_game(
                    (m[a], m[b]), (v[a] + added, v[b] + added), said == 1, env.beta, margin
                )
            mu[order], variance[order] = m, v
    return mu, np.sqrt(variance)


def trueskill_probabilities(mu: FloatArray, sigma: FloatArray, beta: float) -> FloatArray:
    """Return the probability that the performance of the row is above that of the column, shape (N, N)."""
    variance = sigma[:, None] ** 2 + sigma[None, :] ** 2 + 2 * beta**2
    return np.asarray(special.ndtr((mu[:, None] - mu[None, :]) / np.sqrt(variance)))


def draw_margin(draw_probability: float, env: Any) -> float:
    """Return the largest difference of two performances that is a draw, as the package computes it for two players."""
    need("trueskill", "ratings by TrueSkill", "trueskill")
    import trueskill

    return float(trueskill.calc_draw_margin(draw_probability, 2, env))


def after_game(
    mu: tuple[FloatArray, FloatArray],
    variance: tuple[FloatArray, FloatArray],
    drawn: npt.NDArray[np.bool_],
    beta: float,
    margin: float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the skills after one game in each of B orders: means of winner and loser, then their variances.

    μ ← μ ± σ²/c · v, σ² ← σ²(1 − σ²/c² · w) with c² = 2β² + σ₁² + σ₂², and v and w of (μ₁ − μ₂)/c and margin/c
    (Herbrich, Minka & Graepel 2007). The variances include the τ² that a game adds.
    """
    c = np.sqrt(variance[0] + variance[1] + 2 * beta**2)
    apart, near = (mu[0] - mu[1]) / c, margin / c
    v, w = won(apart, near)
    if drawn.any():
        v[drawn], w[drawn] = tied(apart[drawn], near[drawn])
    return _moved(mu, variance, v, w, c)


def _after_one_game(
    mu: tuple[float, float], variance: tuple[float, float], drawn: bool, beta: float, margin: float
) -> tuple[float, float, float, float]:
    """Return the result of `after_game` for one game, without arrays, which would take twenty times as long."""
    c = math.sqrt(variance[0] + variance[1] + 2 * beta**2)
    v, w = _moments_of_draw((mu[0] - mu[1]) / c, margin / c) if drawn else _moments_of_win((mu[0] - mu[1] - margin) / c)
    return _moved(mu, variance, v, w, c)


def _moved(
    mu: tuple[Skill, Skill], variance: tuple[Skill, Skill], v: Skill, w: Skill, c: Skill
) -> tuple[Skill, Skill, Skill, Skill]:
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


def won(apart: FloatArray, near: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return v and w of a game that was won: moments of a normal truncated to above the margin."""
    x = apart - near
    below = cdf(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(below > 0, pdf(x) / below, -x)
    return v, v * (v + x)


def tied(apart: FloatArray, near: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return v and w of a drawn game: moments of a normal truncated to within the margin."""
    size = np.abs(apart)
    upper, lower = near - size, -near - size
    ends = np.stack([upper, lower])
    below, (at_upper, at_lower) = cdf(ends), pdf(ends)
    inside = below[0] - below[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(inside != 0, (at_lower - at_upper) / inside, upper)
        w = np.where(inside != 0, v**2 + (upper * at_upper - lower * at_lower) / inside, 1.0)
    return np.where(apart < 0, -v, v), w


def pdf(x: FloatArray) -> FloatArray:
    """Return the normal density."""
    return np.asarray(np.exp(-(x**2) / 2) / _SQRT2PI)


def cdf(x: FloatArray) -> FloatArray:
    """Return the normal distribution function to seven digits, also in the lower tail, as trueskill does."""
    z = np.abs(x) / _SQRT2
    t = 1 / (1 + z / 2)
    power = np.full_like(t, _ERFC[-1])
    for coefficient in _ERFC[-2::-1]:
        power = coefficient + t * power
    upper = t * np.exp(-z * z + power) / 2
    return np.where(x > 0, 1 - upper, upper)


def check_finite(ratings: FloatArray) -> None:
    """Raise if updates left the range of floats."""
    if not np.isfinite(ratings).all():
        raise DesignError(
            f"{int((~np.isfinite(ratings)).sum())} of {ratings.size} ratings left the range of numbers",
            "Pass a smaller k=, or another draw_probability=.",
            expected="finite ones",
        )
