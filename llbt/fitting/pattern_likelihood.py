"""The likelihood of response patterns under a design."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..base.budgets import refuse_large
from ..base.table import format_count
from ..core.columns import FloatArray, IntArray, groups
from ..core.patterns import MISSING, Patterns, Signs
from ..errors import DesignError
from ..formulas.coding import Codings, Reference
from ..formulas.design import Design
from ..kernel.independent_pairs import IndependentPairs
from ..kernel.missingness import MissingLogits, expected_answers
from ..kernel.patterns import (
    Halves,
    Listed,
    Space,
    Weights,
    rankings_of,
    ratings_of,
    repeated_patterns,
    signs_of,
)
from .pattern_dependence import NONE, Dependence, dependence_loads, dependence_products
from .pattern_missingness import Missingness
from .pattern_predictors import pair_predictors

MOST_PATTERNS = 3.0**15
_MOST_LISTED = 400_000  # most orders that are listed one by one: those of 9 objects
_MOST_OPEN = 3**9  # most patterns that are possible for a judge with missing answers
_REMEDY = (
    "Another model lets judges differ by normal effects; its size depends on the judgments, not on the possible "
    "answers: fit('object + tie + (object | judge)', c)."
)


@dataclass(frozen=True, eq=False)
class PatternLikelihood:
    """The likelihood of patterns of judges in G classes. p parameters of worths and ties, Q products.

    Attributes
    ----------
    patterns : Patterns
    space : Space
        The possible patterns.
    products : ndarray of int, shape (Q, 2)
        The pairs whose answers depend on each other.
    group : ndarray of int, shape (N,)
        The class of each pattern.
    eta, gamma : ndarray, shape (G, P, p)
        The coefficients of the parameters in the sign and the tie of a pair, by class.
    loads : ndarray, shape (G, Q, D)
        The coefficients of the D parameters of dependence in the products, by class.
    missingness : Missingness or None
        The model of missing answers; its A + B parameters follow all others.
    """

    patterns: Patterns
    space: Space
    products: IntArray
    group: IntArray
    eta: FloatArray
    gamma: FloatArray
    loads: FloatArray
    missingness: Missingness | None = None

    @property
    def size(self) -> int:
        """The number of parameters."""
        beside = self.missingness.size if self.missingness else 0
        return self._own + beside

    @property
    def _own(self) -> int:
        """The number of parameters of the answers; the parameters of missing answers follow them."""
        return int(self.eta.shape[2] + self.loads.shape[2])

    def of_counts(self, counts: FloatArray) -> PatternLikelihood:
        """Return the likelihood with other counts (N,) of the patterns; patterns with count 0 are dropped."""
        some, p = np.flatnonzero(counts > 0), self.patterns
        left = replace(p, answers=p.answers[some], counts=counts[some], columns=tuple(c.take(some) for c in p.columns))
        return replace(self, patterns=left, group=self.group[some])

    def weights(self, g: int, params: FloatArray) -> Weights:
        """Return the parts of a pattern's weight in a class."""
        p = self.eta.shape[2]
        return Weights(self.eta[g] @ params[:p], self.gamma[g] @ params[:p], self.loads[g] @ params[p : self._own])

    def moments(self, params: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Return the log-likelihood, its gradient, the information, and the information of complete answers."""
        value, gradient = 0.0, np.zeros(self.size)
        seen, possible = np.zeros((self.size, self.size)), np.zeros((self.size, self.size))
        own = slice(0, self._own)
        for g in range(len(self.eta)):
            weights, moved = self.weights(g, params), self._moved(g)
            inside = np.flatnonzero(self.group == g)
            n = self.patterns.counts[inside]
            whole = self.space.moments(weights)
            moments = self._derivatives(inside, weights, params)
            value += moments.log - n.sum() * whole.log_norm
            gradient[own] += moved.T @ (moments.first - n.sum() * whole.mean)
            gradient[self._own :] += moments.gradient
            every = np.concatenate([moved, moments.moved], axis=1)
            seen += every.T @ moments.second @ every
            possible[own, own] += n.sum() * (moved.T @ whole.covariance @ moved)
            possible[self._own :, self._own :] += moments.information
        return float(value), gradient, possible - seen, possible

    def expected(self, g: int, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means of signs, ties and products in a class, (2P + Q,), and slopes in the answers' parameters.

        These are the means over all answers, missing or not. Parameters of missing answers have no slopes.
        """
        whole = self.space.moments(self.weights(g, params))
        return whole.mean, whole.covariance @ self._moved(g)

    def log_probabilities(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of each pattern's answers, shape (N,), including missing answers if modelled."""
        logs = np.empty(len(self.group))
        for g in range(len(self.eta)):
            inside = np.flatnonzero(self.group == g)
            logs[inside] = self._logs(g, self.patterns.answers[inside], params)
        return logs

    def silent(self, params: FloatArray) -> float:
        """Return the expected number of judges without any answer, if missing answers are modelled."""
        expected = 0.0
        for g in range(len(self.eta)) if self.missingness else ():
            logits = self._logits(params)
            weights = self.weights(g, params)
            constant, beside = logits.beside(weights)
            every = Weights(beside.eta + logits.slope, beside.gamma, beside.theta)
            log = self.space.moments(every).log_norm - self.space.moments(weights).log_norm
            share = np.exp(log + constant + logits.level.sum())
            expected += float(self.patterns.counts[self.group == g].sum() * share / (1 - share))
        return expected

    def _logs(self, g: int, answers: Signs, params: FloatArray) -> FloatArray:
        weights = self.weights(g, params)
        norm = self.space.moments(weights).log_norm
        if self.missingness is None:
            return self.space.logs(answers, weights, np.zeros(answers.shape[1])) - norm
        logits = self._logits(params)
        constant, beside = logits.beside(weights)
        logs = self.space.logs(answers, beside, logits.slope)
        return np.asarray(logs + (answers == MISSING) @ logits.level + constant - norm)

    def _logits(self, params: FloatArray) -> MissingLogits:
        assert self.missingness is not None
        return self.missingness.logits(params[self._own :])

    def _moved(self, g: int) -> FloatArray:
        """Return how the answers' parameters enter the patterns' statistics, shape (2P + Q, p + D)."""
        pairs, p = self.eta.shape[1:]
        moved = np.zeros((2 * pairs + len(self.products), self._own))
        moved[:pairs, :p], moved[pairs : 2 * pairs, :p] = self.eta[g], self.gamma[g]
        moved[2 * pairs :, p:] = self.loads[g]
        return moved

    def _derivatives(self, inside: IntArray, weights: Weights, params: FloatArray) -> _Derivatives:
        """Return a class's contributions from given and from missing answers."""
        answers, n = self.patterns.answers[inside], self.patterns.counts[inside]
        if self.missingness is None:
            seen = self.space.seen(answers, n, weights, np.zeros(answers.shape[1]))
            return _Derivatives(
                seen.log, seen.first, seen.second, np.zeros(0), np.zeros((0, 0)), np.zeros((len(seen.first), 0))
            )
        logits = self._logits(params)
        constant, beside = logits.beside(weights)
        seen = self.space.seen(answers, n, beside, logits.slope)
        gone = answers == MISSING
        missing, size = n @ gone, answers.shape[1]
        log = seen.log + n.sum() * constant + float(missing @ logits.level)
        expected = expected_answers(seen.first, n.sum(), size)
        scores = logits.scores(expected, missing, seen.first[:size] - n @ np.where(gone, 0, answers))
        by = self.missingness.moved  # (2P, A + B)
        pieces = logits.information(expected)
        information = np.block([[np.diag(piece) for piece in row] for row in pieces])
        return _Derivatives(
            log,
            seen.first,
            seen.second,
            by.T @ scores.ravel(),
            by.T @ information @ by,
            logits.moved(len(seen.first)) @ by,
        )


@dataclass(frozen=True, eq=False)
class _Derivatives:
    """Sums over judges at some parameters: log weights, statistics (2P + Q,), covariance over missing answers.

    For the parameters of missing answers: the gradient, the information if all answers were known, and how they change
    the statistics, (2P + Q, A + B).
    """

    log: float
    first: FloatArray
    second: FloatArray
    gradient: FloatArray
    information: FloatArray
    moved: FloatArray


def likelihood_of(
    p: Patterns,
    design: Design,
    codings: Codings,
    free: IntArray,
    dependence: Dependence = NONE,
    reference: Reference = None,
    missingness: Missingness | None = None,
) -> PatternLikelihood:
    """Return the likelihood of patterns, given a design on the comparisons in the patterns, and its codings.

    Raises
    ------
    DesignError
        If more patterns are possible than can be summed; it states the number. For pairs that the answers do not
        determine.
    """
    products = dependence_products(p, dependence)
    apart = p.kind == "comparisons" and not dependence
    space = IndependentPairs(len(p.pairs), p.has_ties) if apart else space_of(p, products)
    _refuse_open(p, space)
    codes = [column.codes for column in p.columns]
    first, group = groups(codes) if codes else (np.zeros(1, dtype=np.int64), np.zeros(len(p), dtype=np.int64))
    eta, gamma = pair_predictors(p, design, codings, free, first)
    loads = dependence_loads(p, dependence, reference, first)
    return PatternLikelihood(p, space, products, group, eta, gamma, loads, missingness)


def space_of(p: Patterns, products: IntArray) -> Space:
    """Return the set of patterns that the judges could have answered, at all times."""
    size, number, times = len(p.objects), p.answers.shape[1], p.n_times
    at = f" at {times} times" if times > 1 else ""
    if p.kind == "comparisons":
        values = (-1, 0, 1) if p.has_ties else (-1, 1)
        what = f"answers to the {len(p.distinct_pairs)} pairs of {size} objects{at}"
        _refuse_many(float(len(values)) ** number, what, MOST_PATTERNS)
        return Halves(number, values, products)
    if p.kind == "rankings":
        orders = float(np.prod(np.arange(1.0, size + 1)))
        _refuse_many(orders**times, f"orders of {size} objects{at}", _MOST_LISTED)
        values_of = rankings_of(size)
    else:
        levels = min(size, p.levels)
        what = f"ratings of {size} objects on {p.levels} levels"
        _refuse_many(float(levels) ** size, what, 10 * _MOST_LISTED)
        values_of = ratings_of(size, levels)
        _refuse_many(float(len(values_of)) ** times, f"{what}{at}", 10 * _MOST_LISTED)
    number_of = float(len(values_of)) ** times
    refuse_large("the table of all patterns", number_of * number / 8, _REMEDY)
    return Listed(repeated_patterns(signs_of(values_of, p.distinct_pairs), times), products)


def _refuse_many(number: float, what: str, most: float) -> None:
    if number > most:
        raise DesignError(
            f"there are {format_count(number)} possible {what}, more than the {format_count(most)} that can be summed "
            "over",
            _REMEDY,
        )


def _refuse_open(p: Patterns, space: Space) -> None:
    """Raise if too many patterns are possible for a judge with missing answers."""
    missing = (p.answers == MISSING).sum(axis=1)
    if isinstance(space, Halves) and missing.max() and float(len(space.values)) ** missing.max() > _MOST_OPEN:
        raise DesignError(
            f"a judge has {missing.max()} of {p.answers.shape[1]} answers missing, which leaves "
            f"{format_count(float(len(space.values)) ** int(missing.max()))} possible patterns",
            f"Leave out judges with few answers, or leave dependence out. {_REMEDY}",
        )
