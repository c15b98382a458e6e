"""Evidence (e-values) about objects from judgments that arrive one after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..base.arguments import checked
from ..base.table import Field, Record, Table, counted, format_number
from ..core.columns import FloatArray, IntArray, Label, Lines, groups
from ..core.comparisons import Comparisons, lines_of
from ..core.counts import counts_of_outcomes
from ..core.statistics import TestResult
from ..errors import JudgmentError, OptionError, listed
from .betting_evidence import log_e_values, log_leads, log_two_sided, of_counts, of_scores

_MOST_ROWS = 60
_UNEVEN = 3.3  # standard errors of a fair lot, p = .001
_NAMED = 5  # pairs that a note names
_MOST = 700.0  # the log of the most evidence that is told apart


@dataclass(frozen=True)
class Look:
    """The state after an update.

    Attributes
    ----------
    judgments : float
        The number of judgments so far.
    leader : label
        The object with the most evidence that it leads.
    e_value : float
        The evidence that it leads.
    """

    judgments: float
    leader: Label
    e_value: float


@dataclass(frozen=True, repr=False, eq=False)
class Sequential(Record):
    """Evidence on J objects, from judgments that arrive one after another.

    Made by `sequential`, and by `update` with more judgments.

    Attributes
    ----------
    objects : tuple of J labels
    by : str or None
        Column of the judges, if each judge gives one score.
    alpha : float
    wins, undecided : ndarray, shape (J, J)
        Judgments so far: wins of the row's object over the column's, and undecided judgments of the pair.
    shown_first : ndarray, shape (J, J)
        Judgments in which the object of the row was shown first, from tables that keep the order.
    log_wealth : ndarray, shape (J, J, G)
        Log wealth of each of G bets that the object of the row is better than the object of the column.
    peak : ndarray, shape (J, J)
        The largest log e-value so far of each hypothesis that the object of the row is not better than the object of
        the column.
    peak_alike : ndarray, shape (J, J)
        The same for the hypotheses that two objects are equal.
    peak_leads : ndarray, shape (J,)
        The same for the hypotheses that another object is as good as this one.
    units : frozenset of labels
        The judges so far.
    looks : tuple of Look
        One for each update.
    """

    _made_by: ClassVar[str] = "llbt.planning.sequential(…)"

    objects: tuple[Label, ...]
    by: str | None
    alpha: float
    wins: FloatArray
    undecided: FloatArray
    shown_first: FloatArray
    log_wealth: FloatArray
    peak: FloatArray
    peak_alike: FloatArray
    peak_leads: FloatArray
    units: frozenset[Label]
    looks: tuple[Look, ...]

    @checked
    def update(self, comparisons: Comparisons) -> Sequential:
        """Return the evidence after more judgments: pass only judgments since the last update.

        Parameters
        ----------
        comparisons : Comparisons
            Judgments of these objects or some of them. With `by`, the table needs this column as a covariate or
            cluster.

        Raises
        ------
        JudgmentError
            For objects that were not named at the start, counts that are not whole, and judges who already have a
            score.
        OptionError
            For a table without the column `by`.
        """
        places = self._places(comparisons)
        lines = lines_of(comparisons)
        counts = comparisons.response.tally(counts_of_outcomes(lines.counts, comparisons.response))
        if (counts % 1 != 0).any():
            raise JudgmentError("fractional counts", expected="whole numbers of judgments")
        pairs = places[lines.pairs]
        wins, undecided = self._counted(pairs, counts)
        if self.by is None:
            gained, units = of_counts(wins, wins.T), self.units
        else:
            judge, names = _judges(lines, self.by)
            before = set(map(str, self.units))  # judge 1 of a csv may be judge "1" of the next
            again = sorted((name for name in names if str(name) in before), key=str)
            if again:
                raise JudgmentError(
                    f"judges with a score from an earlier update: {listed(again)}",
                    expected="all judgments of a judge in one update",
                )
            gained, units = self._scored(pairs, counts, judge), self.units.union(names)
        updated = replace(
            self,
            wins=self.wins + wins,
            undecided=self.undecided + undecided,
            shown_first=self.shown_first + self._first(comparisons.keeps_order, pairs, counts),
            log_wealth=self.log_wealth + gained,
            units=units,
        )
        return updated._looked_at()

    @property
    def e_values(self) -> FloatArray:
        """Current evidence that the row's object is better than the column's, shape (J, J); 1 at the start."""
        return np.asarray(np.exp(np.minimum(log_e_values(self.log_wealth), _MOST)))

    @property
    def leads(self) -> bool:
        """Whether some object is known to be the best: its evidence has reached J/alpha."""
        return bool(self.peak_leads.max() >= math.log(len(self.objects) / self.alpha))

    @property
    def leader(self) -> Label:
        """The object whose evidence of leading was largest at some time. `leads` says whether the evidence suffices."""
        return self.objects[int(self.peak_leads.argmax())]

    @property
    def next_pair(self) -> tuple[Label, Label]:
        """The current leader and its strongest competitor: the pair whose judgments tell most about the lead."""
        evidence = np.where(np.eye(len(self.objects), dtype=bool), np.inf, log_e_values(self.log_wealth))
        least = evidence.min(axis=1)
        first = int(least.argmax())
        return self.objects[first], self.objects[int(evidence[first].argmin())]

    @property
    def p_value(self) -> float:
        """p-value of the hypothesis that the leader, chosen from the judgments, does not lead; valid at any time."""
        return float(min(1.0, len(self.objects) * math.exp(-self.peak_leads.max())))

    @checked
    def test(
        self, object_i: Label, object_j: Label, *, alternative: Literal["two-sided", "greater", "less"] = "two-sided"
    ) -> TestResult:
        """Test one pair that you named before the study; the p-value is valid at any time.

        Parameters
        ----------
        object_i, object_j : label
        alternative : {"two-sided", "greater", "less"}
            ``"greater"``: λ_i − λ_j > 0.

        Returns
        -------
        TestResult
            The statistic is the largest e-value so far; the p-value is 1 divided by it.

        Raises
        ------
        OptionError
            For unknown objects, and an object against itself.
        """
        unknown = [label for label in (object_i, object_j) if label not in self.objects]
        if unknown or object_i == object_j:
            raise OptionError(
                f"the pair {object_i!r}, {object_j!r}", expected=f"two of the objects {listed(self.objects, 20)}"
            )
        i, j = self.objects.index(object_i), self.objects.index(object_j)
        sign, peak = {
            "two-sided": ("=", self.peak_alike[i, j]),
            "greater": ("≤", self.peak[i, j]),
            "less": ("≥", self.peak[j, i]),
        }[alternative]
        return TestResult(
            name="Evidence at any time",
            null=f"λ[{object_i}] {sign} λ[{object_j}]",
            statistic=math.exp(min(float(peak), _MOST)),
            df=math.nan,
            p_value=float(min(1.0, math.exp(-peak))),
            distribution="none: the statistic is an e-value; a true null lets it reach 1/p with probability at most p",
        )

    def table(self) -> Table:
        """Return one row per pair: the evidence for either object, and the p-value, which is valid at any time."""
        i, j = np.triu_indices(len(self.objects), 1)
        evidence, alike = self.e_values, self.peak_alike[i, j]
        better = np.where(self.peak[i, j] >= self.peak[j, i], i, j)
        ahead = [
            self.objects[k] if known else "" for k, known in zip(better, alike >= -math.log(self.alpha), strict=True)
        ]
        return Table(
            (
                Field("object_i", "object_i", [self.objects[k] for k in i]),
                Field("object_j", "object_j", [self.objects[k] for k in j]),
                Field("wins_i", "Wins i", self.wins[i, j], "count"),
                Field("undecided", "Undecided", self.undecided[i, j], "count"),
                Field("wins_j", "Wins j", self.wins[j, i], "count"),
                Field("e_i", "E-value i", evidence[i, j], "number"),
                Field("e_j", "E-value j", evidence[j, i], "number"),
                Field("p_value", "p", np.minimum(1.0, np.exp(-alike)), "p_value"),
                Field("ahead", "Ahead", ahead),
            ),
            title="Evidence at any time",
            head=(f"{counted(self._judgments, 'judgment')} in {counted(len(self.looks), 'update')}",),
            foot=(self._text(),),
            notes=(
                f"p of each pair by itself, two-sided; ahead: p ≤ {self.alpha:g} at some time",
                f"by {self.by}: each judge gives one score"
                if self.by is not None
                else "judgments are assumed independent; if judges differ, use by=",
                *self._unequal_orders(),
            ),
        ).first(_MOST_ROWS)

    def path(self) -> Table:
        """Return one row per update: judgments so far, the leader, the evidence that it leads, and the threshold."""
        return Table(
            (
                Field("judgments", "Judgments", [look.judgments for look in self.looks], "count"),
                Field("leader", "Leader", [look.leader for look in self.looks]),
                Field("e_value", "E-value", [look.e_value for look in self.looks], "number"),
                Field("threshold", "Threshold", [len(self.objects) / self.alpha] * len(self.looks), "number"),
            ),
            title="Evidence that the leader leads",
        ).first(_MOST_ROWS)

    @property
    def _judgments(self) -> float:
        return float(self.wins.sum() + self.undecided.sum() / 2)

    def _text(self) -> str:
        threshold = format_number(len(self.objects) / self.alpha, 4)
        largest = format_number(math.exp(min(self.peak_leads.max(), _MOST)), 4)
        if self.leads:
            return f"{self.leader} leads: its evidence reached {largest}, and {threshold} is needed"
        return f"No object leads yet: the most evidence is {largest} ({self.leader}), and {threshold} is needed"

    def _places(self, comparisons: Comparisons) -> IntArray:
        """Return the place of each object of a table among the objects of the record."""
        unknown = [label for label in comparisons.objects if label not in self.objects]
        if unknown:
            raise JudgmentError(
                f"the table has objects that were not named at the start: {listed(unknown)}",
                expected=f"judgments of {listed(self.objects, 20)}",
            )
        return np.array([self.objects.index(label) for label in comparisons.objects], dtype=np.int64)

    def _counted(self, pairs: IntArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return wins and undecided judgments of lines of pairs (R, 2) with counts (R, 3), each (J, J)."""
        wins, undecided, (i, j) = np.zeros_like(self.wins), np.zeros_like(self.wins), pairs.T
        np.add.at(wins, (i, j), counts[:, 0])
        np.add.at(wins, (j, i), counts[:, 2])
        np.add.at(undecided, (i, j), counts[:, 1])
        return wins, undecided + undecided.T

    def _scored(self, pairs: IntArray, counts: FloatArray, judge: IntArray) -> FloatArray:
        """Return the log-wealth that judges' scores add, shape (J, J, G): one score for each judge and pair."""
        swap = pairs[:, 0] > pairs[:, 1]
        low, high = np.sort(pairs, axis=1).T
        first, group = groups([judge, low, high])
        won = np.bincount(group, weights=np.where(swap, counts[:, 2], counts[:, 0]) + counts[:, 1] / 2)
        total = np.bincount(group, weights=counts.sum(axis=1))
        judged = total > 0
        score, i, j = won[judged] / total[judged], low[first][judged], high[first][judged]
        gained = np.zeros_like(self.log_wealth)
        np.add.at(gained, (i, j), of_scores(score))
        np.add.at(gained, (j, i), of_scores(1 - score))
        return gained

    def _first(self, keeps_order: bool, pairs: IntArray, counts: FloatArray) -> FloatArray:
        """Return the judgments of lines in which the row's object was shown first, (J, J); 0 if this is unknown."""
        first = np.zeros_like(self.wins)
        if keeps_order:
            np.add.at(first, tuple(pairs.T), counts.sum(axis=1))
        return first

    def _looked_at(self) -> Sequential:
        """Return the record with its current evidence added to `looks`."""
        evidence = log_e_values(self.log_wealth)
        leads = log_leads(evidence)
        first = int(leads.argmax())
        look = Look(self._judgments, self.objects[first], math.exp(min(float(leads[first]), _MOST)))
        return replace(
            self,
            peak=np.maximum(self.peak, evidence),
            peak_alike=np.maximum(self.peak_alike, log_two_sided(evidence)),
            peak_leads=np.maximum(self.peak_leads, leads),
            looks=(*self.looks, look),
        )

    def _unequal_orders(self) -> tuple[str, ...]:
        """Return a note on pairs in which one object was shown first more often than random order would give."""
        i, j = np.triu_indices(len(self.objects), 1)
        first, second = self.shown_first[i, j], self.shown_first[j, i]
        uneven = np.flatnonzero(np.abs(first - second) > _UNEVEN * np.sqrt(first + second))
        if not len(uneven):
            return ()
        pairs = [f"{self.objects[i[k]]}:{self.objects[j[k]]} {first[k]:.0f}:{second[k]:.0f}" for k in uneven]
        more = f" and {len(pairs) - _NAMED} more" if len(pairs) > _NAMED else ""
        return (
            f"shown first unequally often: {', '.join(pairs[:_NAMED])}{more}; an order effect would count as evidence",
        )


def _judges(lines: Lines, by: str) -> tuple[IntArray, frozenset[Label]]:
    """Return the judge of each line, shape (R,), and the labels of the judges with judgments."""
    column = next((column for column in (*lines.columns, *lines.clusters) if column.name == by), None)
    if column is None:
        has = [column.name for column in (*lines.columns, *lines.clusters)]
        raise OptionError(
            f"the table has no column {by!r} (by=)",
            f"Keep it when the table is made: from_judgments(…, clusters={by!r}).",
            expected=f"one of {listed(has) or 'none'}",
        )
    judged: npt.NDArray[np.bool_] = lines.counts.sum(axis=1) > 0
    values = column.values
    return column.codes, frozenset(values[judged].tolist())
