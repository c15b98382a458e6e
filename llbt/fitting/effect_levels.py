"""Brackets with a σ for each level of a covariate of judges: the levels, and the judges and comparisons of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.table import Qualifying, counted, format_count, format_number
from ..core.columns import Coded, FloatArray, IntArray, Label
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError, listed, near
from ..formulas.brackets import Bracket, written_formula
from ..kernel.likelihood import information, probabilities
from ..kernel.robust import effective_clusters
from .clusters import Way, kept_way
from .plain_estimates import PlainEstimates

LEAST = 3  # fewest judges
FEW = 10  # with fewer judges (of equal size) a note says that estimates rest on few


def with_levels(brackets: Sequence[Bracket], c: Comparisons, formula: str) -> tuple[Bracket, ...]:
    """Return brackets where those with `by` are replaced by one for each level that the table has.

    Brackets that have a level already are returned as they are.

    Parameters
    ----------
    brackets : sequence of Bracket
    c : Comparisons
    formula : str
        The formula without brackets.

    Raises
    ------
    DesignError
        For columns that are no labels of judges, and for levels of too few judges.
    """
    several: list[Bracket] = []
    for bracket in brackets:
        equal = [replace(one, by="", level=None) if one == bracket else one for one in brackets]
        several += _levels(bracket, c, f"llbt.fit({written_formula(formula, equal)!r}, c)")
    return tuple(several)


def _levels(bracket: Bracket, c: Comparisons, equal: str) -> list[Bracket]:
    """Return a bracket for each level; `equal` is the call that fits one σ."""
    if not bracket.by or bracket.level is not None:
        return [bracket]
    if bracket.by == bracket.grouping:
        raise DesignError(
            f"{bracket}: {bracket.by!r} is the grouping itself",
            f"Fit one σ: {equal}.",
            expected=f"a covariate that several levels of {bracket.grouping!r} share",
        )
    column = _column(bracket, c)
    way = kept_way(c, bracket.grouping, (bracket.grouping,))
    codes = _levels_of_groups(bracket, column, way, equal)
    labels = column.levels.tolist()
    several = [(replace(bracket, level=labels[k]), codes == k) for k in np.unique(codes).tolist()]
    if len(several) < 2:
        raise DesignError(
            f"{bracket}: {bracket.by!r} has one level, {several[0][0].level!r}",
            f"Fit one σ: {equal}.",
            expected="at least two levels",
        )
    for one, mine in several:
        _check_level(one, way.clusters.judgments[mine], equal)
    return [one for one, _ in several]


def _column(bracket: Bracket, c: Comparisons) -> Coded:
    """Return the covariate of a bracket's `by`; raise if it is not a column of labels."""
    columns = {column.name: column for column in c.columns}
    name = c.named(bracket.by)
    if name not in columns:
        names = tuple(columns)
        kind = "a cluster" if name in c.clusters else "not a covariate"
        raise DesignError(
            f"{bracket}: {name!r}{near(name, names)} is {kind} of this table (covariates: {listed(names) or 'none'})",
            f"Keep the column when you make the table: from_judgments(…, covariates={name!r}).",
        )
    if columns[name].numeric:
        raise DesignError(
            f"{bracket}: {name!r} holds numbers",
            "Make a column of groups, such as 'young' and 'old', and name it in the formula.",
            expected="a column of labels",
        )
    return columns[name]


def _levels_of_groups(bracket: Bracket, column: Coded, way: Way, equal: str) -> IntArray:
    """Return the level of each judge, (G,); raise if a judge has several."""
    judges, codes = way.clusters.codes, column.codes[way.clusters.rows]
    level = np.zeros(len(way.levels), dtype=np.int64)
    level[judges] = codes
    other = np.flatnonzero(level[judges] != codes)
    if len(other):
        judge = int(judges[other[0]])
        own = column.levels[np.unique(codes[judges == judge])].tolist()
        raise DesignError(
            f"{bracket}: {bracket.grouping} {way.levels[judge]!r} has {listed(own)} of {bracket.by!r}",
            f"Name a column with one value for each {bracket.grouping}. Or fit one σ: {equal}.",
            expected=f"one level for each {bracket.grouping}",
        )
    return level


def _check_level(bracket: Bracket, judgments: FloatArray, equal: str) -> None:
    """Raise if a level has too few judges to estimate its σ, or if they made one judgment each."""
    grouping, instead = bracket.grouping, f"Join levels of {bracket.by!r}, or fit one σ: {equal}."
    if len(judgments) < LEAST:
        raise DesignError(
            f"{bracket.written}: {grouping!r} has {counted(len(judgments), 'level')} with {bracket.condition}, too few "
            "to estimate a standard deviation",
            instead,
            expected=f"at least {LEAST} for each level of {bracket.by!r}",
        )
    if (judgments <= 1).all():
        raise DesignError(
            f"{bracket.written}: every level of {grouping!r} with {bracket.condition} made one judgment, so "
            "differences between judges cannot be separated from differences between judgments of one judge",
            instead,
        )


def codes_of_levels(brackets: Sequence[Bracket], c: Comparisons) -> list[IntArray]:
    """Return the columns of `by` as codes of the table's comparisons, each (S,)."""
    names = dict.fromkeys(bracket.by for bracket in brackets if bracket.by)
    return [_column(next(b for b in brackets if b.by == name), c).codes for name in names]


def entered(bracket: Bracket, c: Comparisons) -> npt.NDArray[np.bool_] | None:
    """Return which comparisons of the table a bracket's effects enter, (S,); None for all."""
    return None if bracket.level is None else np.asarray(_column(bracket, c).values == bracket.level, dtype=np.bool_)


def members(bracket: Bracket, c: Comparisons, labels: Sequence[Label]) -> npt.NDArray[np.bool_]:
    """Return which of the judges with these labels have a bracket's effects, (G,)."""
    if bracket.level is None:
        return np.ones(len(labels), dtype=np.bool_)
    way, column = kept_way(c, bracket.grouping, (bracket.grouping,)), _column(bracket, c)
    codes = _levels_of_groups(bracket, column, way, "llbt.fit(…)")
    level = dict(zip(way.levels, column.levels[codes].tolist(), strict=True))
    return np.array([level[label] == bracket.level for label in labels], dtype=np.bool_)


def few_of_level(without: PlainEstimates, brackets: Sequence[Bracket], ways: Sequence[Way]) -> list[str]:
    """Return notes that σ of some levels rests on few judges, where all judges together are enough."""
    by_name = {way.name: way for way in ways if way.effective >= FEW}
    notes: list[str] = []
    for bracket in brackets:
        way = by_name.get(bracket.grouping)
        if way is None or not bracket.by:
            continue
        judgments = way.clusters.judgments[members(bracket, without.comparisons, way.levels)]
        effective = effective_clusters(judgments)[1]
        if effective < FEW:
            size = f"{format_count(len(judgments))}, effective number {format_number(effective, 3)}"
            notes.append(Qualifying(f"σ of {bracket} rests on few {way.name}s ({size})."))
    return notes


def information_shares(without: PlainEstimates, brackets: Sequence[Bracket], worths: IntArray) -> FloatArray:
    """Return the share of the worths' information that the judges of each bracket have, (E, w, w).

    It is J⁻¹J_e of the information without effects; the identity for effects of all judges.
    """
    shares = np.tile(np.eye(len(worths)), (len(brackets), 1, 1))
    problem = without.problem()
    chances, block = probabilities(problem, without.solution.params), np.ix_(worths, worths)
    for share, bracket in zip(shares, brackets, strict=True):
        mine = entered(bracket, without.comparisons)
        if mine is not None and len(worths):
            whole, own = (information(problem, chances, problem.totals * some)[block] for some in (1, mine))
            share[:] = np.linalg.solve(whole, own)
    return shares


def of_own_level(
    brackets: Sequence[Bracket], c: Comparisons, shown: Mapping[str, Sequence[Any]], named: Collection[str]
) -> IntArray:
    """Return the rows whose judges have the levels of `Bracket.by` that the rows have.

    Parameters
    ----------
    brackets : sequence of Bracket
    c : Comparisons
        The table of the judges.
    shown : mapping of str to sequence
        The columns of the rows.
    named : collection of str
        The columns whose values were asked for; rows of other levels are then not left out.

    Raises
    ------
    OptionError
        If a judge has another level in the table than a row that was asked for.
    """
    right = np.ones(len(next(iter(shown.values()))), dtype=np.bool_)
    for bracket in brackets:
        if bracket.level is None or bracket.grouping not in shown or bracket.by not in shown:
            continue
        judges, levels = shown[bracket.grouping], shown[bracket.by]
        labels = list(dict.fromkeys(judges))
        mine = dict(zip(labels, members(bracket, c, labels), strict=True))
        against = np.flatnonzero([mine[g] and level != bracket.level for g, level in zip(judges, levels, strict=True)])
        if len(against) and bracket.by in named:
            row = int(against[0])
            raise OptionError(
                f"{bracket.grouping} {judges[row]!r} has {bracket.condition} in the table, not {levels[row]!r}",
                "Name the level that the table has, or ask for a new judge: population=True.",
            )
        right[against] = False
    return np.flatnonzero(right)
