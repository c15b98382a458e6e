"""Rankings by judge, with the covariates of the judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.columns import Coded, IntArray, Label, dense
from ..core.rankings import Rankings, gathered_rankings
from .judge_table import AboutJudges, about_judges, taken, within_judges

_MADE = "from_rankings(…, clusters='judge', covariates=['age', 'gender'])"


@dataclass(frozen=True, eq=False)
class JudgeLists:
    """Rankings that keep the judges as their only cluster, with the covariates of the judges.

    Attributes
    ----------
    rankings : Rankings
        With the columns that a formula needs.
    by : str
        The column whose levels are the judges.
    levels : tuple of G labels
    about : mapping of str to Coded, each (G,)
        Covariates of each judge.
    """

    rankings: Rankings
    by: str
    levels: tuple[Label, ...]
    about: AboutJudges

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on data that were left out."""
        return self.rankings.notes

    @property
    def size(self) -> int:
        """The number of objects in all lists, from which the memory of trees is estimated."""
        return len(self.rankings.items)

    @property
    def codes(self) -> IntArray:
        """The judge of each list as a place in `levels`, shape (L,)."""
        column = self.rankings.cluster_columns[0]
        place = {level: g for g, level in enumerate(self.levels)}
        return np.array([place[level] for level in column.levels.tolist()], dtype=np.int64)[column.codes]

    def of(self, judges: IntArray) -> JudgeLists:
        """Return the lists of some judges."""
        r = self.rankings
        some = np.isin(self.codes, judges)
        entries = some[r.lists]
        part = gathered_rankings(
            r.objects,
            dense(r.lists[entries], len(r))[0],
            r.items[entries],
            r.places[entries],
            kind=r.kind,
            columns=tuple(column.take(some) for column in r.columns),
            cluster_columns=tuple(column.take(some) for column in r.cluster_columns),
            object_columns=r.object_columns,
            counts=r.counts[some],
        )
        # objects that these judges did not judge are no news
        about = {name: taken(column, judges) for name, column in self.about.items()}
        return JudgeLists(replace(part, notes=r.notes), self.by, tuple(self.levels[g] for g in judges.tolist()), about)


def judge_lists(r: Rankings, by: str, split: Sequence[str] | None, covariates: Sequence[str]) -> JudgeLists:
    """Return the lists by judge; see `judge_data`.

    Raises
    ------
    OptionError
        For columns that the rankings do not have.
    DesignError
        For covariates that differ between lists of a judge, and if no covariate remains.
    """
    judge, about, within = about_judges((*r.columns, *r.cluster_columns), by, split, covariates, _MADE)
    columns = tuple(column for column in r.columns if column.name in covariates)
    judges = Coded(by, judge.levels, judge.codes)
    lists = replace(
        r, columns=columns, cluster_columns=(judges,), notes=(*r.notes, *within_judges(within, r.columns, by))
    )
    return JudgeLists(lists, by, tuple(judge.levels.tolist()), about)
