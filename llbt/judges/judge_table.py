"""Judgments by judge, with the covariates of the judges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..core.columns import Coded, IntArray, Label, is_among
from ..core.comparisons import Comparisons, lines_of, tabulate
from ..errors import DesignError, OptionError, listed
from ..formulas.grammar import MOST_LEVELS

AboutJudges = dict[str, Coded]

_MADE = "from_judgments(…, clusters='judge', judge_covariates=frame)"


@dataclass(frozen=True, eq=False)
class JudgeData:
    """A table that keeps the judges as its first cluster, with the covariates of the judges.

    Attributes
    ----------
    comparisons : Comparisons
        With the covariates that a formula needs.
    by : str
        The column whose levels are the judges.
    levels : tuple of G labels
    about : mapping of str to Coded, each (G,)
        Covariates of each judge.
    """

    comparisons: Comparisons
    by: str
    levels: tuple[Label, ...]
    about: AboutJudges

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on data that were left out."""
        return self.comparisons.notes

    @property
    def size(self) -> int:
        """The number of comparisons, from which the memory of trees is estimated."""
        return len(self.comparisons)

    def of(self, judges: IntArray) -> JudgeData:
        """Return the judgments of some judges."""
        levels = tuple(self.levels[g] for g in judges.tolist())
        some = self.comparisons.select(where={self.by: levels})
        notes = self.comparisons.notes  # objects that these judges did not judge are no news
        return JudgeData(
            replace(some, notes=notes),
            self.by,
            levels,
            {name: taken(column, judges) for name, column in self.about.items()},
        )

    def where(self, name: str, labels: Sequence[Label]) -> JudgeData:
        """Return the judgments with some levels of a cluster, and the judges who made them."""
        some = self.comparisons.select(where={name: labels})
        lines = lines_of(some)
        judge = next(column for column in lines.clusters if column.name == self.by)
        here = set(judge.values.tolist())
        judges = np.array([g for g, level in enumerate(self.levels) if level in here], dtype=np.int64)
        return replace(self, comparisons=replace(some, notes=self.comparisons.notes)).of(judges)


def judge_data(c: Comparisons, by: str, split: Sequence[str] | None, covariates: Sequence[str]) -> JudgeData:
    """Return the judgments by judge.

    Parameters
    ----------
    c : Comparisons
    by : str
        A cluster or covariate, whose levels are the judges.
    split : sequence of str or None
        Covariates of the judges; None: all covariates that are constant within each judge.
    covariates : sequence of str
        Covariates that the formula needs.

    Raises
    ------
    OptionError
        For columns that the table does not have.
    DesignError
        For covariates that differ between judgments of a judge, and if no covariate remains.
    """
    lines, by = lines_of(c), c.named(by)
    judge, about, within = about_judges((*lines.columns, *lines.clusters), by, split, covariates, _MADE)
    notes = within_judges(within, lines.columns, by)
    columns = tuple(column for column in lines.columns if column.name in covariates)
    others = tuple(column for column in lines.clusters if column.name != by)
    table = tabulate(replace(lines, columns=columns, clusters=(judge, *others)), c)
    return JudgeData(replace(table, notes=(*table.notes, *notes)), by, tuple(judge.levels.tolist()), about)


def about_judges(
    columns: Sequence[Coded], by: str, split: Sequence[str] | None, covariates: Sequence[str], made: str
) -> tuple[Coded, AboutJudges, tuple[str, ...]]:
    """Return the judges by line, their covariates, and the columns that differ within a judge; see `judge_data`.

    `made` is the call that keeps the columns, to be quoted in errors.
    """
    named = _columns(columns, [by, *(() if split is None else split)], made)
    judge = named[by].take(slice(None))
    names = [name for name in named if name != by and name not in covariates] if split is None else list(split)
    about, within = {}, []
    for name in names:
        own = _by_judge(named[name], judge)
        if own is not None:
            about[name] = own
        elif split is not None:
            raise DesignError(
                f"{name!r} is not the same in all judgments of a judge",
                "Leave it out of split=, because a tree splits judges, or let worths depend on it in the formula.",
                expected="a covariate of the judges",
            )
        else:
            within.append(name)
    for own in about.values():
        _refuse_undecided(own, 2)
    if not about:
        raise DesignError("no covariate of the judges to split by", f"Keep some: {made}.")
    return judge, about, tuple(within)


def within_judges(names: Sequence[str], columns: Sequence[Coded], by: str) -> tuple[str, ...]:
    """Return a note that names the covariates that differ within a judge, but not other clusters."""
    named = [column.name for column in columns if column.name in names]
    differ = "differs" if len(named) == 1 else "differ"
    return (f"{listed(named)} {differ} between judgments of one {by}, and cannot split judges",) if named else ()


def _refuse_undecided(column: Coded, most: int) -> None:
    """Raise for a column of many different integers: as labels they give other results than as numbers."""
    if column.undecided > most:
        name = json.dumps(column.name, ensure_ascii=False)
        raise DesignError(
            f"{column.name!r} has {column.undecided} whole numbers",
            f"To use their order, pass numeric={name} when the table is made. To use them as labels, make them text: "
            f"frame.astype({{{name}: str}}).",
        )


def judge_covariate(c: Comparisons, by: str, name: str, levels: Sequence[Label]) -> Coded:
    """Return a covariate of these judges, in their order.

    Raises
    ------
    OptionError
        For a column that the table does not have.
    DesignError
        For a column that differs between judgments of a judge.
    """
    lines, by = lines_of(c), c.named(by)
    columns = _columns((*lines.columns, *lines.clusters), [by, name], _MADE)
    own = _by_judge(columns[name], columns[by])
    if own is None:
        raise DesignError(
            f"{name!r} is not the same in all judgments of a judge",
            f"Let worths depend on {name!r} in the formula.",
            expected="a covariate of the judges",
        )
    _refuse_undecided(own, MOST_LEVELS)
    at = {level: k for k, level in enumerate(columns[by].levels.tolist())}
    return taken(own, np.array([at[level] for level in levels], dtype=np.int64))


def _columns(by_cluster: Sequence[Coded], asked: Sequence[str], made: str) -> dict[str, Coded]:
    """Return all covariates and clusters, by name."""
    columns = {column.name: column for column in by_cluster}
    unknown = [name for name in asked if not is_among(name, columns)]
    if unknown:
        raise OptionError(
            f"no covariate or cluster {listed(unknown)}",
            f"Keep it when the table is made: {made}.",
            expected=f"columns that the table keeps: {listed(list(columns)) or 'none'}",
        )
    return columns


def _by_judge(column: Coded, judge: Coded) -> Coded | None:
    """Return the value of each judge; None where a judge has several."""
    codes = np.zeros(len(judge.levels), dtype=np.int64)
    codes[judge.codes] = column.codes
    if not np.array_equal(codes[judge.codes], column.codes):
        return None
    return replace(column, codes=codes)


def taken(column: Coded, judges: npt.NDArray[np.int64]) -> Coded:
    """Return the values of some judges, with all levels."""
    return replace(column, codes=column.codes[judges])
