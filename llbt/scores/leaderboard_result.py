"""The result of a leaderboard of scores: its systems, the best first, and the tests of every pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..base.arguments import Rng, as_generator, checked
from ..base.table import Field, Qualifying, Record, Table, counted, p_fields
from ..classical.pair_counts import as_whole
from ..classical.pair_tables import Adjust
from ..core.columns import FloatArray, IntArray, Label
from ..core.statistics import compact_letters, letters_exceed, ratio, significance_clusters
from ..errors import DesignError
from .best_systems import BestSystems, best_systems
from .board_tests import BoardTest

Grouping = Literal["clusters", "letters", "leader"]

TESTS: dict[BoardTest, str] = {
    "wilcoxon": "Wilcoxon's signed-rank test",
    "t": "paired t test",
    "mcnemar": "McNemar's exact test",
    "permutation": "permutation test of the mean difference",
}
_COLUMNS: dict[Grouping, tuple[str, str]] = {
    "clusters": ("significance_cluster", "cluster"),
    "letters": ("group", "group"),
    "leader": ("leader", "leader"),
}
_UNEQUAL = Qualifying("Borda ranks are by win share, as systems with missing scores have fewer comparisons")
_SAYS: dict[Grouping, str] = {
    "clusters": "clusters: every system above a break is significantly better than all below",
    "letters": "groups: systems that share a letter do not differ significantly",
    "leader": "leader: the best remaining system, with every remaining system that it does not beat significantly",
}
_ONE_CLUSTER = "one cluster: no break where all above are significantly better than all below"
_LAST_LETTER = 52  # a…z and A…Z: beyond them letters are words
EQUAL = 1e-9  # relative to the largest mean: means that differ by less share their rank


@dataclass(frozen=True, repr=False, eq=False)
class ScoreLeaderboard(Record):
    """N systems, the best first, and the tests of the P = N(N − 1)/2 pairs of them.

    Attributes
    ----------
    systems : tuple, length N
    estimate, std_error : ndarray, shape (N,)
        Mean scores, on the scale of the scores, and their standard errors, clustered by groups if there are groups. If
        scores are missing, means are adjusted for the difficulty of the missing instances.
    rank : ndarray of int, shape (N,)
        Rank of the mean, 1 for the best; equal means share the better rank.
    n, missing : ndarray of int, shape (N,)
        Numbers of instances with and without a score of the system.
    pairs : ndarray of int, shape (P, 2)
        Positions of i and j among `systems`; i stands above j.
    pair_n : ndarray of int, shape (P,)
        Number of instances with a score of both systems.
    counts : ndarray, shape (P, 3)
        Instances where i wins, ties, and instances where j wins.
    difference : ndarray, shape (P,)
        Means of the differences i − j on the instances of both systems, positive where i is better.
    ahead : ndarray, shape (P,)
        Which system is ahead by the test: positive for i, negative for j.
    statistic, p_value, p_adjusted : ndarray, shape (P,)
    test, groups : str
    adjust : str or None
    confidence : float
    notes : tuple of str
    plain_mean : ndarray, shape (N,)
        The mean over the instances with a score of the system.
    covariance : ndarray, shape (N, N)
        Covariance of the estimates, clustered like `std_error`.
    df : float
        Degrees of freedom of the covariance.
    higher_is_better : bool
    head : tuple of str
        The lines above the table.
    """

    _made_by: ClassVar[str] = "llbt.scores.leaderboard(…) or board.leaderboard()"

    systems: tuple[Label, ...]
    estimate: FloatArray
    std_error: FloatArray
    rank: IntArray
    n: IntArray
    missing: IntArray
    pairs: IntArray
    pair_n: IntArray
    counts: FloatArray
    difference: FloatArray
    ahead: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    test: BoardTest
    groups: Grouping
    adjust: Adjust
    confidence: float
    notes: tuple[str, ...]
    plain_mean: FloatArray
    covariance: FloatArray
    df: float
    higher_is_better: bool = True
    head: tuple[str, ...] = ()

    @property
    def better(self) -> npt.NDArray[np.bool_]:
        """Whether the system of the row is significantly better than the system of the column, shape (N, N)."""
        significant = self.p_adjusted < 1 - self.confidence  # NaN is not
        matrix = np.zeros((len(self.systems), len(self.systems)), dtype=np.bool_)
        for (i, j), above in ((self.pairs.T, self.ahead > 0), (self.pairs.T[::-1], self.ahead < 0)):
            matrix[i[significant & above], j[significant & above]] = True
        return matrix

    @property
    def rank_low(self) -> IntArray:
        """1 + the number of systems that are significantly better, shape (N,)."""
        return np.asarray(1 + self.better.sum(axis=0), dtype=np.int64)

    @property
    def rank_high(self) -> IntArray:
        """N − the number of systems that are significantly worse, shape (N,)."""
        return np.asarray(len(self.systems) - self.better.sum(axis=1), dtype=np.int64)

    @property
    def record(self) -> FloatArray:
        """Wins, ties and losses of each system against all others, summed over the instances, shape (N, 3)."""
        record = np.zeros((len(self.systems), 3))
        np.add.at(record, self.pairs[:, 0], self.counts)
        np.add.at(record, self.pairs[:, 1], self.counts[:, ::-1])
        return record

    @property
    def borda(self) -> FloatArray:
        """Borda points, shape (N,): one for each system beaten on each instance, half a point for a tie."""
        return np.asarray(self.record @ [1.0, 0.5, 0.0])

    @property
    def win_share(self) -> FloatArray:
        """Borda points per comparison, shape (N,): the share of comparisons won, with half of the ties."""
        total = self.record.sum(axis=1)
        return ratio(self.borda, total)

    @property
    def borda_rank(self) -> IntArray:
        """The rank by Borda points per comparison, shape (N,): systems without some scores have fewer comparisons."""
        share = np.nan_to_num(self.win_share, nan=-1.0)
        return np.asarray(1 + (share[None, :] > share[:, None]).sum(axis=1), dtype=np.int64)

    def table(self) -> Table:
        """Return rank, rank_low, rank_high, object, estimate, std_error, the column of `groups`, wins … plain_mean."""
        wins, ties, losses = as_whole(self.record).T
        unequal = np.ptp(self.record.sum(axis=1)) > 0
        whole = not self.missing.any()  # then two columns say nothing: none is missing, and means are plain means
        grouped = self._grouped()
        meaning = _ONE_CLUSTER if grouped.frame_only else _SAYS[self.groups]
        return Table(
            (
                Field("rank", "rank", self.rank, "count"),
                Field("rank_low", "rank_low", self.rank_low, "count"),
                Field("rank_high", "rank_high", self.rank_high, "count"),
                Field("object", "System", list(self.systems)),
                Field("estimate", "Mean", self.estimate, "estimate"),
                Field("std_error", "Std. Error", self.std_error, "estimate"),
                grouped,
                Field("wins", "wins", wins, "count"),
                Field("ties", "ties", ties, "count"),
                Field("losses", "losses", losses, "count"),
                Field("win_share", "win share", self.win_share, "statistic"),
                Field("borda", "Borda", self.borda, "number"),
                Field("borda_rank", "Borda rank", self.borda_rank, "count"),
                Field("n", "n", self.n, "count"),
                Field("missing", "missing", self.missing, "count", frame_only=whole),
                Field("plain_mean", "plain mean", self.plain_mean, "estimate", frame_only=whole),
            ),
            title=f"Leaderboard of scores: {TESTS[self.test]} of every pair",
            head=self.head,
            notes=(*self.notes, *([_UNEQUAL] if unequal else []), meaning),
            answer="leaderboard of scores",
        )

    @checked
    def best(self, *, rng: Rng = 0) -> BestSystems:
        """Return the systems that may be the best, and the score of the first, corrected for selection.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            For the simulated distribution of the largest difference.

        Returns
        -------
        BestSystems
            object, estimate, p_value (that it is the best), is_candidate. ``candidates`` is the set of the best.
            ``score`` and ``lead`` are about the first system; each has ``corrected``, ``conf_low`` and ``conf_high``.

        Raises
        ------
        DesignError
            Without standard errors: fewer than two groups, or systems that no shared instances connect.

        Notes
        -----
        A system is a candidate unless another system is significantly better by the test of the leaderboard. This test
        is adjusted for the N − 1 comparisons with the system, by the joint normal distribution of the estimates. There
        is no correction over systems, because only the test of the true best can reject wrongly (`llbt.best`). The
        score of the first system is median-unbiased given that it came first; its interval is the hybrid interval of
        Andrews, Kitagawa & McCloskey (2024).

        Examples
        --------
        >>> import llbt
        >>> import pandas as pd
        >>> right = pd.DataFrame({"A": [1] * 30 + [0] * 10, "B": [1] * 28 + [0] * 12, "C": [1] * 12 + [0] * 28})
        >>> board = llbt.scores.leaderboard(right, test="mcnemar").best()
        >>> board.candidates
        ('A', 'B')
        >>> round(board.lead.estimate, 3), round(board.lead.corrected, 3)
        (0.05, 0.045)
        """
        return best_systems(
            self.systems,
            self.estimate,
            self.covariance,
            self.pairs,
            self.ahead,
            self.p_value,
            self.df,
            self.confidence,
            as_generator(rng),
            higher_is_better=self.higher_is_better,
        )

    def by_pair(self) -> Table:
        """Return one row per pair: object_i (above), object_j, n, estimate (mean difference), wins, test and p-values.

        Statistics: the sum of the ranks of positive differences (``"wilcoxon"``), t, the smaller number of instances
        that only one system gets right (``"mcnemar"``), the mean difference (``"permutation"``).
        """
        i, j = ([self.systems[k] for k in column] for column in self.pairs.T)
        wins_i, ties, wins_j = as_whole(self.counts).T
        return Table(
            (
                Field("object_i", "object_i", i),
                Field("object_j", "object_j", j),
                Field("n", "n", self.pair_n, "count"),
                Field("estimate", "mean i − j", self.difference, "estimate"),
                Field("wins_i", "wins_i", wins_i, "count"),
                Field("ties", "ties", ties, "count"),
                Field("wins_j", "wins_j", wins_j, "count"),
                Field("statistic", "statistic", self.statistic, "number"),
                *p_fields(self.p_value, self.p_adjusted),
            ),
            title=f"Pairs of the leaderboard: {TESTS[self.test]}, two-sided",
            notes=self.notes,
        ).first()

    def _grouped(self) -> Field:
        name, heading = _COLUMNS[self.groups]
        order = range(len(self.systems))
        if self.groups == "clusters":
            clusters = np.array(significance_clusters(self.better, order))
            return Field(name, heading, clusters, "count", frame_only=clusters.max() == 1)
        if self.groups == "letters":
            return Field(name, heading, compact_letters(self.better | self.better.T, order))
        return Field(name, heading, [self.systems[k] for k in _leaders(self.better)])


def refuse_many_letters(board: ScoreLeaderboard) -> None:
    """Raise if more letters would be needed than the alphabet has."""
    better = board.better
    if letters_exceed(better | better.T, range(len(board.systems)), _LAST_LETTER):
        raise DesignError(
            f"letters of {counted(len(board.systems), 'system')} would need more than {_LAST_LETTER} letters",
            "Ask for groups='clusters' or groups='leader', which are shorter.",
        )


def _leaders(better: npt.NDArray[np.bool_]) -> list[int]:
    """Return the leader of each system: the best remaining one leads all others that it does not beat significantly."""
    leader = np.full(len(better), -1)
    for k in range(len(better)):
        if leader[k] < 0:
            led = (leader < 0) & ~better[k]
            led[:k] = False
            leader[led] = k
    return [int(k) for k in leader]
