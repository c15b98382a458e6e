"""The best system of a leaderboard of scores: the set of the best, and the first score corrected for selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import stats

from ..base.table import Field, Record, Table, format_number
from ..core.columns import FloatArray, IntArray, Label
from ..core.statistics import critical_value
from ..errors import DesignError, listed
from ..inference.selection import Corrected, candidate_p, lead, winner
from ..inference.simultaneous import root_of

_MOST_ROWS = 60


@dataclass(frozen=True, repr=False, eq=False)
class BestSystems(Record):
    """The systems that may be the best, and the score and lead of the first system. N systems.

    Made by ``board.leaderboard().best()``.

    Attributes
    ----------
    systems : tuple, length N
        The best estimate first.
    estimate : ndarray, shape (N,)
        Mean scores, as on the leaderboard.
    p_value : ndarray, shape (N,)
        P-values of the hypothesis that the system is the best, adjusted for its comparisons with all others.
    score, lead : Corrected
        The mean score of the first system, and how far it is ahead of the second, corrected for selection.
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "board.leaderboard().best()"

    systems: tuple[Label, ...]
    estimate: FloatArray
    p_value: FloatArray
    score: Corrected
    lead: Corrected
    confidence: float
    notes: tuple[str, ...]

    @property
    def candidates(self) -> tuple[Label, ...]:
        """The set of the best: systems that may be the best, the first estimate first."""
        inside = self.p_value > 1 - self.confidence
        return tuple(label for label, is_inside in zip(self.systems, inside, strict=True) if is_inside)

    @property
    def head(self) -> tuple[str, ...]:
        """The answer in words."""
        level, first, candidates = f"{100 * self.confidence:.4g} %", self.systems[0], self.candidates
        if len(candidates) == 1:
            claim = f"{first!r} is the best, with {level} confidence"
        else:
            claim = f"One of {len(candidates)} systems is the best, with {level} confidence: {listed(candidates)}"
        return (
            claim,
            f"Score of {first!r}: {_described(self.score)}",
            f"Lead of {first!r} over {self.systems[1]!r}: {_described(self.lead)}",
        )

    def table(self) -> Table:
        """Return object, estimate, p_value (that it is the best) and is_candidate; the best first."""
        inside = self.p_value > 1 - self.confidence
        return Table(
            (
                Field("object", "System", list(self.systems)),
                Field("estimate", "Mean", self.estimate, "estimate"),
                Field("p_value", "p-value: is best", self.p_value, "p_value"),
                Field(
                    "is_candidate", "may be the best", ["yes" if is_inside else "no" for is_inside in inside.tolist()]
                ),
            ),
            title="The best system",
            head=self.head,
            notes=self.notes,
        ).first(_MOST_ROWS)


def _described(of: Corrected) -> str:
    if np.isnan(of.conf_low):
        return f"{format_number(of.estimate, 3)}; nothing varies, so there is no interval"
    corrected, low, high, plain = (
        format_number(value, 3) for value in (of.corrected, of.conf_low, of.conf_high, of.estimate)
    )
    return f"{corrected} ({low} to {high}), corrected for selection; {plain} before"


_SIMULTANEOUS = "p tests that no other system is better, adjusted for comparisons with all others"


def best_systems(
    systems: tuple[Label, ...],
    estimate: FloatArray,
    covariance: FloatArray,
    pairs: IntArray,
    ahead: FloatArray,
    p_value: FloatArray,
    df: float,
    confidence: float,
    rng: np.random.Generator,
    *,
    higher_is_better: bool,
) -> BestSystems:
    """Return the set of the best of N systems, the best first, and the corrected score of the first.

    Parameters
    ----------
    systems, estimate, covariance : tuple and arrays, shapes (N,) and (N, N)
    pairs, ahead, p_value : ndarray, P rows
        The unadjusted tests of the pairs. These tests decide which systems may be the best; their joint distribution
        comes from `estimate` and `covariance`.
    df : float
        Degrees of freedom of the covariance.
    confidence, rng, higher_is_better
    """
    size = len(systems)
    if not np.isfinite(covariance).all():
        raise DesignError(
            "standard errors are missing: there are fewer than two groups, or no shared items connect the systems",
            "Ask for board.leaderboard(by='item'), which takes items as independent.",
        )
    sign = 1.0 if higher_is_better else -1.0
    variance = np.diag(covariance)
    squared = np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0)
    error = np.where(squared > 0, np.sqrt(squared), np.inf)
    tails = np.copysign(stats.norm.isf(p_value / 2), ahead)  # of i over j
    known = np.isfinite(tails)
    i, j = pairs[known].T
    z = np.full((size, size), -np.inf)  # of the column over the row
    z[j, i], z[i, j] = tails[known], -tails[known]
    p_values = candidate_p(z, error, np.inf, root_of(covariance), rng, np.arange(size))
    wider = critical_value(confidence, df) / critical_value(confidence, np.inf)
    cov = wider**2 * covariance
    score, ahead_by = _exactly(float(estimate[0])), _exactly(float(abs(estimate[0] - estimate[1])))
    if variance[0] > 0:
        score = _signed(winner(sign * estimate, cov, np.eye(size), confidence, rng), sign)
    if squared[0, 1] > 0:
        ahead_by = lead(sign * estimate, cov, confidence, rng)
    return BestSystems(systems, estimate, p_values, score, ahead_by, confidence, (_SIMULTANEOUS,))


def _exactly(value: float) -> Corrected:
    """Return a score without sampling variation, such as the score of a system with every item right; no interval."""
    return Corrected(value, 0.0, value, np.nan, np.nan)


def _signed(of: Corrected, sign: float) -> Corrected:
    low, high = sorted((sign * of.conf_low, sign * of.conf_high))
    return Corrected(sign * of.estimate, of.std_error, sign * of.corrected, low, high)
