"""The answers to each pair under a pattern model: probabilities with standard errors, and observed shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.table import Field, Table, interval_fields
from ..core.columns import FloatArray, IntArray
from ..core.patterns import MISSING
from ..fitting.pattern_estimates import PatternEstimates
from ..fitting.pattern_likelihood import PatternLikelihood


@dataclass(frozen=True, eq=False)
class PatternShares:
    """The answers to each of P pairs, averaged over the judges.

    Attributes
    ----------
    pairs : ndarray of int, shape (P, 2)
    first, tie : ndarray, shape (P,)
        Probability that the first object is preferred, and that neither is.
    preferred, std_error : ndarray, shape (P,)
        Probability that the first object is preferred, given a decision, and its standard error (delta method).
    observed, observed_ties : ndarray, shape (P,)
        The shares of decisions for the first object, and of ties, among the answers; NaN where there are none.
    answers : ndarray, shape (P,)
        How many judges answered.
    """

    pairs: IntArray
    first: FloatArray
    tie: FloatArray
    preferred: FloatArray
    std_error: FloatArray
    observed: FloatArray
    observed_ties: FloatArray
    answers: FloatArray

    def share(self, i: int, j: int) -> float:
        """Return the probability that object i is preferred to j, given a decision."""
        row = int(np.flatnonzero((self.pairs == sorted((i, j))).all(axis=1))[0])
        return float(self.preferred[row] if i < j else 1 - self.preferred[row])

    def square(self, objects: int) -> FloatArray:
        """Return the probability that the row is preferred to the column, shape (J, J); NaN on the diagonal."""
        square = np.full((objects, objects), np.nan)
        i, j = self.pairs.T
        square[i, j], square[j, i] = self.preferred, 1 - self.preferred
        return square


def pattern_shares(res: PatternEstimates) -> PatternShares:
    """Return the probabilities of the answers to each pair under a pattern model, summed over all other answers.

    If judges answer at several times, they are means over the times.

    With dependence, and for rankings and ratings, they do not follow from the log-worths of the two objects alone. If
    missing answers are modelled, they count with their probabilities under the model.
    """
    p = res.patterns
    mean, slopes = _independent(res) if res.likelihood is None else _averaged(res.likelihood, res.solution.params)
    size = len(p.distinct_pairs)
    signs, tie = np.split(mean, 2)
    decided = 1 - tie
    first = (decided + signs) / 2
    preferred = first / decided
    by_sign, by_tie = np.split(slopes, 2)  # of Σ y and of ties, (P, q)
    slope = by_sign / (2 * decided)[:, None] + (signs / (2 * decided**2))[:, None] * by_tie
    variance = np.einsum("pq,qr,pr->p", slope, np.asarray(res.covariance.matrix), slope)
    won, tied, lost = ((p.counts @ (p.answers == answer)).reshape(-1, size).sum(axis=0) for answer in (1, 0, -1))
    with np.errstate(invalid="ignore"):
        observed, ties = won / (won + lost), tied / (won + tied + lost)
    error = np.sqrt(np.maximum(variance, 0.0))
    answers = (p.counts @ (p.answers != MISSING)).reshape(-1, size).sum(axis=0)
    return PatternShares(p.distinct_pairs, first, tie, preferred, error, observed, ties, np.asarray(answers))


def _averaged(likelihood: PatternLikelihood, params: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means of signs and ties of the pairs, (2P,), and their derivatives, (2P, q), over the judges."""
    p = likelihood.patterns
    pairs, width = likelihood.eta.shape[1:]
    mean, slopes = np.zeros(2 * pairs), np.zeros((2 * pairs, likelihood.size))
    for g in range(len(likelihood.eta)):
        share = p.counts[likelihood.group == g].sum() / p.counts.sum()
        moments = likelihood.space.moments(likelihood.weights(g, params))
        cov = moments.covariance[: 2 * pairs]
        mean += share * moments.mean[: 2 * pairs]
        slopes[:, :width] += share * (
            cov[:, :pairs] @ likelihood.eta[g] + cov[:, pairs : 2 * pairs] @ likelihood.gamma[g]
        )
        depends = slice(width, width + likelihood.loads.shape[2])
        slopes[:, depends] += share * cov[:, 2 * pairs :] @ likelihood.loads[g]
    times = (2, p.n_times, len(p.distinct_pairs))
    return mean.reshape(times).mean(axis=1).ravel(), slopes.reshape(*times, -1).mean(axis=1).reshape(
        -1, likelihood.size
    )


def _independent(res: PatternEstimates) -> tuple[FloatArray, FloatArray]:
    """Return means of signs and ties and their derivatives for independent pairs, from fitted comparisons by class."""
    problem, table = res.average.problem(), res.comparisons
    chances, _ = problem.response.probabilities(problem.at(res.average.solution.params))  # (C, S)
    along = problem.response.slopes(chances)  # (C, B, S)
    rows = [predictor.toarray() for predictor in problem.predictors]
    moved = chances[:, :, None] * sum(along[:, b, :, None] * rows[b] for b in range(len(rows)))  # (C, S, q)
    ties = table.has_ties
    mean = np.concatenate([chances[0] - chances[-1], chances[1] if ties else np.zeros(len(table))])
    slopes = np.concatenate([moved[0] - moved[-1], moved[1] if ties else np.zeros_like(moved[0])])
    place = {(int(i), int(j)): k for k, (i, j) in enumerate(res.patterns.distinct_pairs)}
    pair = np.array([place[int(i), int(j)] for i, j in table.pairs])
    size = len(place)
    weight = table.totals / np.bincount(pair, table.totals, size)[pair]
    spread = np.zeros((2 * size, 2 * len(table)))
    lines = np.arange(len(table))
    spread[pair, lines] = weight
    spread[size + pair, len(table) + lines] = weight
    return spread @ mean, spread @ slopes


def shares_table(res: PatternEstimates, shares: PatternShares, confidence: float, critical: float) -> Table:
    """Return a row for each pair: probabilities by the model, with intervals, and the observed shares."""
    objects, (i, j) = res.patterns.objects, shares.pairs.T
    logit = np.log(shares.preferred) - np.log1p(-shares.preferred)
    half = critical * shares.std_error / (shares.preferred * (1 - shares.preferred))
    low, high = (1 / (1 + np.exp(-(logit + sign * half))) for sign in (-1, 1))
    ties = (
        Field("tie", "Ties", shares.tie, "number", digits=3),
        Field("observed_tie", "obs.", shares.observed_ties, "number", digits=3),
    )
    return Table(
        (
            Field("object_i", "Object", [objects[k] for k in i]),
            Field("object_j", "Against", [objects[k] for k in j]),
            Field("estimate", "P", shares.preferred, "estimate"),
            Field("std_error", "Std. Error", shares.std_error, "estimate"),
            *interval_fields(low, high, confidence),
            Field("observed", "obs.", shares.observed, "number", digits=3),
            *(ties if res.patterns.has_ties else ()),
            Field("answers", "Answers", shares.answers, "count"),
        ),
        title="Preferences by pair: by the model, over all answers of a judge, and observed",
        notes=(
            "P: the probability that the object is preferred to the other, given a decision; obs.: observed shares",
        ),
    )
