"""Boards: systems scored on items, with the known facts about the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from ..base.arguments import Confidence, Count, Jobs, Rng, as_generator, checked
from ..base.table import Field, Qualifying, Record, Table, counted, named
from ..classical.pair_tables import Adjust
from ..core.columns import FloatArray, Label
from ..data.system_scores import SystemScores
from ..errors import DesignError, OptionError, kind_of, listed
from ..resampling import Resampler
from .board_changes import BoardChanges, board_changes
from .board_counts import are_right_or_wrong
from .board_tests import BoardTest
from .cost_frontier import CostFrontier, cost_frontier
from .grouped_tests import Units
from .leaderboard import leaderboard
from .leaderboard_result import Grouping, ScoreLeaderboard

_GROUPS = ("repository", "repo", "document", "doc", "passage", "story", "subject")  # their items are alike
_AUTO, _ITEM = "auto", "item"
_FEW_GROUPS = 20  # below which tests by group may find nothing for want of groups


@dataclass(frozen=True, repr=False, eq=False)
class Board(Record):
    """Scores of N systems on M items, with the known facts about the items.

    Made by `llbt.scores.read_board`.

    Attributes
    ----------
    scores : SystemScores
        The scores, which other functions of `llbt.scores` take, too.
    facts : DataFrame, M rows
        The known facts about each item: task, subject, repository, document, language.
    source : str
        The format that was read: ``"table"``, ``"lm_eval"``, …
    cost : ndarray, shape (N, M), or None
        The cost of each answer, in units of `cost_unit`; NaN if it is unknown.
    cost_unit : str
        For example dollars or tokens.
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.scores.read_board(…)"

    scores: SystemScores
    facts: pd.DataFrame
    source: str
    cost: FloatArray | None = None
    cost_unit: str = ""
    notes: tuple[str, ...] = ()

    @property
    def systems(self) -> tuple[Label, ...]:
        """The N systems, sorted."""
        return self.scores.systems

    @property
    def items(self) -> tuple[Label, ...]:
        """The M items, in the order of the results."""
        return self.scores.instances

    @property
    def group(self) -> str:
        """The fact by which items may depend on each other, such as repository or document; empty if none is known."""
        known = [name for name in _GROUPS if name in self.facts and self._is_grouping(name)]
        return known[0] if known else ""

    def table(self) -> Table:
        """Return object, mean, n (items with a score), missing, and mean_cost if costs are known."""
        there = ~np.isnan(self.scores.values)
        n = there.sum(axis=1)
        facts = [f"{name} ({self.facts[name].nunique():,})" for name in self.facts]
        return Table(
            (
                Field("object", "System", list(self.systems)),
                Field("mean", "Mean", np.nanmean(self.scores.values, axis=1), "number"),
                Field("n", "Items", n, "count"),
                Field("missing", "Missing", there.shape[1] - n, "count"),
                *(() if self.cost is None else (self._mean_cost(),)),
            ),
            title=f"Board of scores ({self.source})",
            head=(
                f"{counted(len(self.systems), 'system')}, {counted(len(self.items), 'item')}",
                *([f"Known about the items: {', '.join(facts)}"] if facts else []),
            ),
            notes=self.notes,
        )

    def _mean_cost(self) -> Field:
        values = pd.DataFrame(self.cost).mean(axis=1).to_numpy()
        return Field("mean_cost", f"Mean cost ({self.cost_unit})" if self.cost_unit else "Mean cost", values, "number")

    def _is_grouping(self, name: str) -> bool:
        column = self.facts[name]
        return bool(column.notna().all()) and 1 < column.nunique() < len(column)

    @checked
    def leaderboard(
        self,
        *,
        test: BoardTest | None = None,
        by: str = _AUTO,
        macro: str | None = None,
        groups: Grouping = "clusters",
        adjust: Adjust = "holm",
        confidence: Confidence = 0.95,
        n: Count | None = None,
        rng: Rng = None,
        progress: bool = False,
        n_jobs: Jobs = 1,
    ) -> ScoreLeaderboard:
        """Return the leaderboard: means, rank ranges and significance clusters of systems, by tests of all pairs.

        Parameters
        ----------
        test : {"wilcoxon", "t", "mcnemar", "permutation"}, optional
            By default McNemar's exact test if all scores are 0 or 1; otherwise, and for macro-averages, the t test.
        by : str
            The groups of items that may depend on each other; a group is left out, or changes sides, as a whole.
            ``"auto"``: the groups that the board knows (`group`). A column of `facts`: its groups. ``"item"``: items
            are independent.
        macro : str, optional
            A column of `facts`, such as the task or domain, whose values count equally: the mean of a system is the
            average of its means within each value. If ``by=`` names the same column, its values are the units of the
            tests.
        groups, adjust, confidence, n, rng, progress, n_jobs
            As in `llbt.scores.leaderboard`.

        Returns
        -------
        ScoreLeaderboard

        Raises
        ------
        OptionError
            For groups that the board does not know.

        Examples
        --------
        >>> import llbt
        >>> rows = [{"system": s, "item": k, "repository": f"r{k % 6}", "score": float(k % 7 < solved)}
        ...         for s, solved in (("a", 6), ("b", 2)) for k in range(60)]
        >>> board = llbt.scores.read_board(rows)
        >>> board.group
        'repository'
        >>> board.leaderboard(by="item").to_frame()[["object", "rank_low", "rank_high"]].values.tolist()
        [['a', 1, 1], ['b', 2, 2]]
        """
        chosen = group_of(self, by)
        if macro is not None and macro not in self.facts:
            raise OptionError(f"macro={macro!r}", expected=f"a fact about the items: {listed(list(self.facts), 20)}")
        ranked = leaderboard(
            self.scores,
            test=test or ("mcnemar" if macro is None and are_right_or_wrong(self.scores.values) else "t"),
            by=chosen,
            macro=macro,
            groups=groups,
            adjust=adjust,
            confidence=confidence,
            n=n,
            rng=rng,
            progress=progress,
            n_jobs=n_jobs,
        )
        known = np.isfinite(ranked.covariance).all()
        head = ranked.best().head if known else ()
        grouped = () if by != _AUTO or chosen is None else self._grouping_note(chosen, ranked)
        return replace(ranked, head=head, notes=(*ranked.notes, *grouped, *unused_facts(self, chosen, macro)))

    def _grouping_note(self, by: str, ranked: ScoreLeaderboard) -> tuple[str, ...]:
        """Return a note that names by='item' if groups are few and no pair differs."""
        number = self.facts[by].nunique()
        if ranked.better.any() or number >= _FEW_GROUPS:
            return ()
        return (
            Qualifying(
                f"No pair differs when the {number} groups of {by} are the independent units. Pass by='item' to take "
                "items as independent: then results hold for these groups alone."
            ),
        )

    @checked
    def compare(
        self,
        other: object,
        *,
        names: Sequence[str] = ("a", "b"),
        by: str = _AUTO,
        confidence: Confidence = 0.95,
        rng: Rng = 0,
    ) -> BoardChanges:
        """Return how the mean score of each system changed from this board to another one, on the items of both.

        Scores of both boards have the same zero, so no anchor object is needed. (`llbt.compare` needs one for
        log-worths.)

        Parameters
        ----------
        other : Board
            The other board, for example of a later week, another release or another prompt.
        names : two str
            The names of the boards.
        by : str
            As in `leaderboard`: items of one group may depend on each other.
        confidence : float
            The confidence of all intervals together.
        rng : int or numpy.random.Generator
            For the simulated distribution of the largest |t|.

        Returns
        -------
        BoardChanges
            A row for each system of both boards: object, estimate (other minus this), std_error, conf_low, conf_high,
            p_adjusted, n. ``better`` and ``worse`` name the systems that changed.

        Raises
        ------
        DesignError
            For boards without a common system, or with fewer than two common items.
        OptionError
            For groups that the board does not know, and if lower scores are better on only one of the boards.

        Notes
        -----
        The differences of each system on the common items have means and clustered standard errors as in `leaderboard`.
        Intervals and p-values use the distribution of the largest |t| of all systems, from the covariance of these
        means.

        Examples
        --------
        >>> import llbt
        >>> def week(lost):
        ...     return llbt.scores.read_board([{"system": s, "item": k, "score": float(k % 5 > (s == "b") * lost)}
        ...                                    for s in "ab" for k in range(60)])
        >>> week(0).compare(week(2), names=["monday", "friday"]).worse
        ('b',)
        """
        if not isinstance(other, Board):
            raise OptionError(f"other= is {kind_of(other)}", expected="a board, as llbt.scores.read_board returns it")
        if len(names) != 2 or names[0] == names[1]:
            raise OptionError(f"names={list(names)!r}", expected="two different names, such as ['monday', 'friday']")
        if self.scores.higher_is_better != other.scores.higher_is_better:
            raise OptionError("lower scores are better on only one of the boards", expected="the same on both")
        chosen = group_of(self, by)
        groups = None if chosen is None else self.facts[chosen]
        of = (names[0], names[1])
        changes = board_changes(self.scores, other.scores, groups, of, confidence, as_generator(rng))
        return replace(changes, notes=(*changes.notes, *unused_facts(self, chosen)))

    @checked
    def frontier(self, *, by: str = _AUTO, n: Count = 1000, rng: Rng = 0) -> CostFrontier:
        """Return the systems that no other system beats in score at the same cost or less, and how certain this is.

        Parameters
        ----------
        by : str
            As in `leaderboard`: groups of items are resampled together.
        n : int
            Number of resamples of items.
        rng : int or numpy.random.Generator

        Returns
        -------
        CostFrontier
            object, cost and score (means), is_on_frontier, share (of resamples with the system on the frontier); the
            cheapest first.

        Raises
        ------
        DesignError
            For a board without costs.

        Examples
        --------
        >>> import llbt
        >>> rows = [{"system": s, "item": k, "score": float(k % 9 < right), "usd": usd}
        ...         for s, right, usd in (("a", 7, 3.0), ("b", 4, 1.0), ("c", 4, 2.0)) for k in range(45)]
        >>> board = llbt.scores.read_board(rows, system="system", item="item", score="score", cost="usd")
        >>> board.frontier().to_frame()[["object", "is_on_frontier"]].values.tolist()
        [['b', 'yes'], ['c', 'no'], ['a', 'yes']]
        """
        if self.cost is None:
            raise DesignError(
                "the board has no costs",
                "Name the columns: read_board(frame, system='system', item='item', score='score', cost='usd').",
            )
        chosen = group_of(self, by)
        codes = np.arange(len(self.items)) if chosen is None else pd.factorize(self.facts[chosen])[0]
        frontier = cost_frontier(
            self.systems,
            self.scores.values,
            self.cost,
            Units.of(codes.astype(np.int64)),
            Resampler.of("scores.read_board", rng),
            n,
            higher_is_better=self.scores.higher_is_better,
            cost_unit=self.cost_unit,
        )
        return replace(frontier, notes=(*frontier.notes, *unused_facts(self, chosen)))

    @checked
    def without(self, *systems: Label) -> Board:
        """Return the board without some systems, such as reference translations.

        Parameters
        ----------
        *systems : label

        Raises
        ------
        OptionError
            For systems that are not on the board, and fewer than two others.

        Examples
        --------
        >>> import llbt
        >>> rows = [{"system": s, "item": k, "score": float(k)} for s in ("a", "b", "refA") for k in range(3)]
        >>> llbt.scores.read_board(rows).without("refA").systems
        ('a', 'b')
        """
        gone = [label for label in systems if label not in self.systems]
        others = [k for k, label in enumerate(self.systems) if label not in systems]
        if gone or len(others) < 2:
            left = f"without {listed(gone)}" if gone else f"without {len(self.systems) - len(others)} systems"
            raise OptionError(
                f"{left} of {listed(self.systems, 20)}", expected="systems of the board, so that two or more remain"
            )
        scores = replace(self.scores, systems=tuple(self.systems[k] for k in others), values=self.scores.values[others])
        note = f"left out: {named(systems)}"
        cost = None if self.cost is None else self.cost[others]
        return replace(self, scores=scores, cost=cost, notes=(*self.notes, note))


def unused_facts(board: Board, *used: str | None) -> tuple[str, ...]:
    """Return a note on the facts about the items that a result does not use."""
    unused = [name for name in board.facts if name not in used]
    return (f"known about the items, but not used: {listed(unused, len(unused))}",) if unused else ()


def group_of(board: Board, by: str) -> str | None:
    """Return the fact that ``by=`` names (for ``"auto"`` the board's `group`); None if items are independent."""
    if by == _AUTO:
        return board.group or None
    if by == _ITEM:
        return None
    if by not in board.facts:
        known = listed(list(board.facts), 20)
        raise OptionError(
            f"by={by!r}",
            "Pass by='item' to take items as independent.",
            expected=f"'auto', 'item' or a fact about the items: {known}",
        )
    return by
