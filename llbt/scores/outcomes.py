"""Games for the paired mechanisms: which system scored higher on which instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..base.budgets import refuse_square
from ..base.table import counted
from ..classical.pair_counts import pair_counts
from ..core.columns import FloatArray, IntArray, Label, Lines
from ..core.comparisons import Comparisons, tabulate
from ..core.response import THREE, TWO
from ..data.system_scores import NO_GAME, SystemScores, TieRule
from ..errors import JudgmentError, listed
from ..resampling import drawn_counts, drawn_weights


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Games between N systems (P pairs of systems), on M instances or as single games.

    Attributes
    ----------
    systems : tuple, length N
        Sorted.
    pairs : ndarray of int, shape (P, 2)
        Positions of i and j, i before j.
    counts : ndarray, shape (P, 3)
        Wins of i, ties, wins of j.
    scores : ndarray, shape (N, M), or None
        The higher, the better; None where a table of counts was given.
    rule : TieRule
    negated : bool
        Whether `scores` are the negated scores of the data, because lower scores are better.
    """

    systems: tuple[Label, ...]
    pairs: IntArray
    counts: FloatArray
    scores: FloatArray | None = None
    rule: TieRule = field(default_factory=TieRule)
    negated: bool = False

    @property
    def n_games(self) -> float:
        """Number of games."""
        return float(self.counts.sum())

    def comparisons(self, counts: FloatArray) -> Comparisons:
        """Return a table with these counts of the pairs: (P, 3), or (P, 2) without ties."""
        ties = counts[:, 1] if counts.shape[1] == 3 else np.zeros(len(counts))
        response = THREE if ties.any() else TWO
        like = Comparisons(self.systems, self.pairs, np.column_stack([counts[:, 0], ties, counts[:, -1]]), response)
        return tabulate(Lines(like.pairs, like.counts), like)

    @property
    def entries(self) -> int:
        """How many numbers one resample holds in memory."""
        return max(self.counts.size, 0 if self.scores is None else self.scores.shape[1])

    def resampled(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the counts of resamples (B, P, 3): of instances, or of games if there are no instances."""
        if self.scores is None:
            return drawn_counts(self.counts, size, rng)
        return self._weighted(drawn_weights(self.scores.shape[1], size, rng))

    def _weighted(self, weights: FloatArray) -> FloatArray:
        """Return the counts with weights (B, M) of the instances, shape (B, P, 3)."""
        assert self.scores is not None
        made = np.empty((len(weights), *self.counts.shape))
        light = weights.astype(np.float32)  # whole numbers, exact up to 2^24
        first = 0
        for outcomes in self.rule.outcomes_by_pair(self.scores):
            last = first + len(outcomes)
            for k in range(3):
                made[:, first:last, k] = light @ (outcomes == k).T.astype(np.float32)
            first = last
        return made

    def slots(self) -> IntArray:
        """Return the games by unit, shape (U, L): 3 · pair + outcome, or −1 where there is none.

        Units are the instances, with a place for each pair; without instances, they are single games.
        """
        if self.scores is None:
            return np.repeat(np.arange(self.counts.size), self.counts.ravel().astype(np.int64)).reshape(-1, 1)
        outcomes = np.vstack(list(self.rule.outcomes_by_pair(self.scores)))
        games = np.where(outcomes == NO_GAME, NO_GAME, 3 * np.arange(len(outcomes))[:, None] + outcomes)
        return np.ascontiguousarray(games.T)


def outcomes_of_scores(scores: SystemScores) -> Outcomes:
    """Return who scored higher, pair by pair."""
    refuse_square("the table of all pairs", len(scores.systems))
    blocks = scores.rule.outcomes_by_pair(scores.better)
    counts = np.vstack([np.stack([(outcomes == k).sum(axis=1) for k in range(3)], axis=1) for outcomes in blocks])
    pairs = np.column_stack(np.triu_indices(len(scores.systems), 1)).astype(np.int64)
    lower = not scores.higher_is_better
    return Outcomes(scores.systems, pairs, counts.astype(np.float64), scores.better, scores.rule, lower)


def outcomes_of_table(c: Comparisons) -> tuple[Outcomes, tuple[str, ...]]:
    """Return the games of a table of counts, and its notes."""
    games = pair_counts(c)
    return Outcomes(games.objects, games.pairs, games.counts), games.notes


def check_whole(outcomes: Outcomes, remedy: str) -> None:
    """Raise for fractional counts, which cannot be resampled or ordered as games."""
    odd = outcomes.counts != np.floor(outcomes.counts)
    if odd.any():
        raise JudgmentError(
            f"the table has {counted(int(odd.sum()), 'fractional count')}, the first {outcomes.counts[odd][0]}",
            remedy,
            expected="whole numbers of judgments",
        )


def without_scores(systems: Sequence[Label], values: FloatArray) -> list[Label]:
    """Return the systems that have no score at all."""
    return [label for label, row in zip(systems, values, strict=True) if np.isnan(row).all()]


def refuse_without_scores(systems: Sequence[Label], values: FloatArray, instances: int) -> None:
    """Raise for systems that have no score at all."""
    bare = without_scores(systems, values)
    if bare:
        left = [label for label in systems if label not in bare]
        raise JudgmentError(
            f"{listed(bare)} {'has' if len(bare) == 1 else 'have'} no score on any of {counted(instances, 'instance')}",
            f"Leave {'it' if len(bare) == 1 else 'them'} out: llbt.scores.SystemScores.from_wide(…, "
            f"systems={left[:8]!r}{'…' if len(left) > 8 else ''}).",
            expected="some for each system",
        )
