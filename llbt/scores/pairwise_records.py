"""Comparisons of systems on the same instances: one row per pair of systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import pandas as pd

from ..base.arguments import Share, checked
from ..base.table import Field, Record, Table, counted, format_count, interval_fields, p_fields
from ..classical.pair_tables import Adjust, adjust_note
from ..classical.sign_rules import Alternative
from ..core.columns import FloatArray, IntArray, Label
from .paired_tests import PairedTest

ScoreTest = Literal["t", "median", "sign", "wilcoxon"]
Mechanism = Literal["wins", "bt", "mean", "median"]

TESTS: tuple[ScoreTest, ...] = get_args(ScoreTest)

_EFFECTS: dict[ScoreTest, str] = {
    "t": "d_z",
    "median": "share above",
    "sign": "win odds",
    "wilcoxon": "rank-biserial",
}


@dataclass(frozen=True, repr=False, eq=False)
class PairwiseScores(Record):
    """Comparisons of every pair of N systems on their common instances. P = N(N − 1)/2 pairs.

    Made by `scores.pairwise`.

    Attributes
    ----------
    systems : tuple, length N
        Sorted.
    pairs : ndarray of int, shape (P, 2)
        Positions of i and j.
    n : ndarray, shape (P,)
        Number of instances with scores of both systems.
    counts : ndarray, shape (P, 3)
        Instances where i wins, ties, and instances where j wins.
    mean_difference, conf_low, conf_high : ndarray, shape (P,)
        Mean of the differences, which equals the difference of the means, with the two-sided interval of the paired t
        test.
    median_difference : ndarray, shape (P,)
        Median of the differences.
    difference_of_medians : ndarray, shape (P,)
        Difference of the medians, by which the mechanism ``"median"`` compares systems.
    bt_probability : ndarray, shape (P,)
        P(i > j) in the Bradley-Terry model of all systems.
    tests : dict of str to PairedTest
        ``"t"``, ``"median"``, ``"sign"`` and ``"wilcoxon"``: statistic, df, p_value (not adjusted) and effect.
    p_adjusted : dict of str to ndarray
        The p-values of each test, adjusted by `adjust`.
    alternative : str
    adjust : str or None
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.scores.pairwise(…)"

    systems: tuple[Label, ...]
    pairs: IntArray
    n: IntArray
    counts: FloatArray
    mean_difference: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    median_difference: FloatArray
    difference_of_medians: FloatArray
    bt_probability: FloatArray
    tests: dict[ScoreTest, PairedTest]
    p_adjusted: dict[ScoreTest, FloatArray]
    alternative: Alternative
    adjust: Adjust
    confidence: float
    notes: tuple[str, ...]

    @property
    def win_share(self) -> FloatArray:
        """Share of the instances that i wins, with half of the ties, shape (P,); NaN without an instance."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self.counts[:, 0] + self.counts[:, 1] / 2) / self.counts.sum(axis=1))

    def table(self) -> Table:
        """Return one row per pair: instances, differences, wins, effect sizes, and the p-value of each test."""
        wins_i, ties, wins_j = self.counts.T
        return Table(
            (
                *self._sides(),
                Field("n", "n", self.n, "count"),
                Field("mean_difference", "mean", self.mean_difference, "estimate"),
                *interval_fields(self.conf_low, self.conf_high, self.confidence),
                Field("median_difference", "median", self.median_difference, "estimate"),
                Field("difference_of_medians", "of medians", self.difference_of_medians, "estimate"),
                Field("wins_i", "wins_i", wins_i, "count"),
                Field("ties", "ties", ties, "count"),
                Field("wins_j", "wins_j", wins_j, "count"),
                Field("win_share", "share of i", self.win_share, "statistic"),
                Field("bt_probability", "BT", self.bt_probability, "statistic"),
                Field("cohen_dz", "d_z", self.tests["t"].effect, "statistic"),
                Field("win_odds", "win odds", self.tests["sign"].effect, "statistic"),
                Field("rank_biserial", "r_rb", self.tests["wilcoxon"].effect, "statistic"),
                *(Field(f"p_{test}", f"p {test}", self.p_adjusted[test], "p_value") for test in TESTS),
            ),
            title="Pairs of systems: differences of scores i − j",
            head=(
                "mean, median: of the differences; of medians: difference of the medians",
                _alternative_line(self.alternative),
            ),
            notes=self.notes,
            answer="pairs of scores",
        ).first()

    def test_table(self) -> Table:
        """Return one row per pair and test: effect (its name), estimate (its size), statistic, df, p_value, p_adjusted.

        Statistics: t; Mood's χ²; wins of i; the sum of the ranks of positive differences.
        """
        tests, repeats = [self.tests[test] for test in TESTS], len(TESTS)
        rows = len(self.pairs)

        def by_pair(columns: Sequence[FloatArray]) -> FloatArray:
            return np.asarray(np.column_stack(columns).ravel())

        return Table(
            (
                *(Field(f.name, f.heading, [v for v in f.values for _ in TESTS]) for f in self._sides()),
                Field("test", "test", list(TESTS) * rows),
                Field("effect", "effect", [_EFFECTS[test] for test in TESTS] * rows),
                Field("estimate", "size", by_pair([test.effect for test in tests]), "statistic"),
                Field("statistic", "statistic", by_pair([test.statistic for test in tests]), "statistic"),
                Field("df", "Df", by_pair([test.df for test in tests]), "count"),
                *p_fields(
                    by_pair([test.p_value for test in tests]), by_pair([self.p_adjusted[test] for test in TESTS])
                ),
            ),
            title=f"{counted(repeats, 'test')} of each pair of systems",
            head=(_alternative_line(self.alternative),),
            notes=self.notes,
        ).first()

    @checked
    def significance(self, alpha: Share = 0.05) -> Table:
        """Return how many pairs are significant by each test, and the share of them that each other test confirms.

        Parameters
        ----------
        alpha : float
            The largest adjusted p-value that counts as significant. A pair without a defined test is not significant.

        Returns
        -------
        Table
            test, significant (pairs), share (of all pairs), and a column for each test: P(column | row), the share of
            the pairs found by the row's test that the column's test finds, too. NaN where the row's test finds none.

        References
        ----------
        Peyrard, M., Zhao, W., Eger, S. & West, R. (2021). Better than average: paired evaluation of NLP systems. ACL,
        2301-2315, figure 6.
        """
        return significance_table([self], alpha)

    @checked
    def probabilities(self, mechanism: Mechanism = "wins") -> pd.DataFrame:
        """Return P(row > column), systems × systems; NaN on the diagonal.

        Parameters
        ----------
        mechanism : {"wins", "bt", "mean", "median"}
            ``"wins"``: the share of instances won, with half of the ties. ``"bt"``: the Bradley-Terry model of all
            systems. ``"mean"`` and ``"median"`` only put two systems in order: 1 for the one whose mean or median is
            larger, ½ for both where they are equal.
        """
        order = {"mean": self.mean_difference, "median": self.difference_of_medians}
        shares = {"wins": self.win_share, "bt": self.bt_probability}
        chances = shares[mechanism] if mechanism in shares else (1 + np.sign(order[mechanism])) / 2
        matrix = np.full((len(self.systems), len(self.systems)), np.nan)
        i, j = self.pairs.T
        matrix[i, j], matrix[j, i] = chances, 1 - chances
        return pd.DataFrame(matrix, list(self.systems), list(self.systems))

    def _sides(self) -> tuple[Field, Field]:
        i, j = ([self.systems[k] for k in column] for column in self.pairs.T)
        return Field("object_i", "object_i", i), Field("object_j", "object_j", j)


def significance_table(of: Sequence[PairwiseScores], alpha: float, notes: tuple[str, ...] = ()) -> Table:
    """Return the table of `PairwiseScores.significance` for the pairs of several setups together."""
    significant = np.vstack([np.column_stack([one.p_adjusted[test] <= alpha for test in TESTS]) for one in of])
    both = significant.T.astype(np.float64) @ significant
    number = np.diag(both)
    shares = both / np.where(number > 0, number, np.nan)[:, None]
    return Table(
        (
            Field("test", "test", list(TESTS)),
            Field("significant", "pairs", number, "count"),
            Field("share", "share", number / len(significant), "percent", frame_only=True),
            *(Field(test, f"also {test}", shares[:, k], "statistic") for k, test in enumerate(TESTS)),
        ),
        title=f"Significant pairs of {format_count(len(significant))} at {alpha:g}, and the share others confirm",
        notes=(*notes, adjust_line(of[0].adjust)),
    )


def adjust_line(adjust: Adjust) -> str:
    """Return a line on how p-values were adjusted for the number of pairs."""
    return adjust_note(adjust) + ("" if adjust is None else ", for each test")


def missing_notes(instances: int, n: IntArray) -> tuple[str, ...]:
    """Return notes on the number of pairs with missing scores."""
    short = int(np.sum(n < instances))
    if not short:
        return ()
    least, most = format_count(instances - n.max(where=n < instances, initial=0)), format_count(instances - n.min())
    how_many = most if least == most else f"{least} to {most}"
    note = f"missing scores: {how_many} of {counted(instances, 'instance')} left out in {counted(short, 'pair')}"
    bare = int(np.sum(n == 0))
    return (note, f"{counted(bare, 'pair')} without a common instance: nothing is defined") if bare else (note,)


def _alternative_line(alternative: Alternative) -> str:
    says = {"two-sided": "i and j differ", "greater": "i is better", "less": "j is better"}
    return f"Alternative of the tests: {says[alternative]}"
