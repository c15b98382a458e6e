"""Boards: systems scored on items, with what is known of the items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from ..base.arguments import Confidence, Count, Jobs, Rng, checked
from ..base.table import Field, Record, Table, counted, named
from ..classical.pair_tables import Adjust
from ..core.columns import FloatArray, Label
from ..data.system_scores import SystemScores
from ..errors import OptionError, listed
from .board_tests import BoardTest
from .leaderboard import leaderboard
from .leaderboard_result import Grouping, ScoreLeaderboard

_GROUPS = ("repository", "repo", "document", "doc", "passage", "story", "subject")  # their items are alike
_AUTO, _ITEM = "auto", "item"


@dataclass(frozen=True, repr=False, eq=False)
class Board(Record):
    """Scores of N systems on M items, with what is known of the items.

    Made by `llbt.scores.read_board`.

    Attributes
    ----------
    scores : SystemScores
        The scores; also what other functions of `llbt.scores` take.
    facts : DataFrame, M rows
        What is known of each item: task, subject, repository, document, language.
    source : str
        The format that was read: ``"table"``, ``"lm_eval"``, …
    cost : ndarray, shape (N, M), or None
        What each answer cost, in units of `cost_unit`; NaN where it is not known.
    cost_unit : str
        Dollars, tokens.
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
        """The fact by which items are alike, such as their repository or document; empty where none is known."""
        known = [name for name in _GROUPS if name in self.facts and self._is_grouping(name)]
        return known[0] if known else ""

    def table(self) -> Table:
        """Return object, mean, n (items with a score), missing, and mean_cost where costs are known."""
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
                *([f"Known of the items: {', '.join(facts)}"] if facts else []),
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
        """Return the systems in tiers: means, rank ranges and clusters by tests of all pairs.

        Parameters
        ----------
        test : {"wilcoxon", "t", "mcnemar", "permutation"}, optional
            By default McNemar's exact test of scores that are all 0 or 1, else, and of
            macro-averages, the t test.
        by : str
            Items of one group may depend on each other, and are left out or change sides together. ``"auto"``: the
            groups that the board knows (`group`); a column of `facts`; ``"item"``: items are independent.
        macro : str, optional
            A column of `facts`, such as the task or domain, whose values count alike: means are averages of the means
            of its values. With ``by=`` the same column, tests are over its values.
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
        chosen = self._by(by)
        if macro is not None and macro not in self.facts:
            raise OptionError(
                f"macro={macro!r}", expected=f"what is known of the items: {listed(list(self.facts), 20)}"
            )
        found = leaderboard(
            self.scores,
            test=test or ("mcnemar" if macro is None and _is_right_or_wrong(self.scores.values) else "t"),
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
        free = f"groups by {chosen}: by='item' takes items as independent"
        known = not np.isnan(found.covariance).any()
        head = found.best().head if known else ()
        return replace(found, head=head, notes=(*found.notes, *([free] if by == _AUTO and chosen else [])))

    def _by(self, by: str) -> str | None:
        if by == _AUTO:
            return self.group or None
        if by == _ITEM:
            return None
        if by not in self.facts:
            known = listed(list(self.facts), 20)
            raise OptionError(
                f"by={by!r}",
                "Pass by='item' to take items as independent.",
                expected=f"'auto', 'item' or what is known of the items: {known}",
            )
        return by

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
        kept = [k for k, label in enumerate(self.systems) if label not in systems]
        if gone or len(kept) < 2:
            left = f"without {listed(gone)}" if gone else f"without {len(self.systems) - len(kept)} systems"
            raise OptionError(
                f"{left} of {listed(self.systems, 20)}", expected="systems of the board, two of them left"
            )
        scores = replace(self.scores, systems=tuple(self.systems[k] for k in kept), values=self.scores.values[kept])
        note = f"left out: {named(systems)}"
        cost = None if self.cost is None else self.cost[kept]
        return replace(self, scores=scores, cost=cost, notes=(*self.notes, note))


def _is_right_or_wrong(values: FloatArray) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).sum() == (~np.isnan(values)).sum())
