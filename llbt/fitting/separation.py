"""Messages about infinite estimates: which objects are separated, and which parameters are infinite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.table import format_count
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.links import AnyResponse, Cumulative
from ..core.response import Response
from ..errors import braced, listed
from ..formulas.design import Design, Rows
from ..kernel.likelihood import Problem
from ..kernel.recession import TOLERANCE

BELOW = "would fall below 0, which puts cuts out of order"
_REMEDY = (
    "Leave out or merge objects or levels (Comparisons.select, Comparisons.pool), or use a formula without the terms "
    "that separate."
)
_UNUSED = (
    "Make the table without the outcome that never occurred (grades= of from_counts, outcomes= of from_judgments), "
    "or merge its grades: c.collapse()."
)


@dataclass(frozen=True, eq=False)
class Separation:
    """A direction of recession, and its description in terms of the table.

    Attributes
    ----------
    direction : ndarray, shape (p,)
        The direction in all parameters of the design; its largest entry is 1.
    infinite : list of str
        Parameters without a finite estimate.
    design : Design
    problem : Problem
        The comparisons with equal linear predictors summed, S' rows.
    rows : ndarray of int, shape (S',)
        A comparison of the table for each row of the problem.
    comparisons : Comparisons
    """

    direction: FloatArray
    infinite: list[str]
    design: Design
    problem: Problem
    rows: IntArray
    comparisons: Comparisons

    def classes(self, units: dict[str, IntArray]) -> list[str]:
        """Return which of a block's variables are the same on both sides of a comparison."""
        same = (*(column.name for column in self.comparisons.columns), "pair")
        return [name for name in units if name in same]

    def class_at(self, names: list[str], row: int) -> str:
        """Return the class of a row of the problem, such as ``judge 'J7', sex 'f'``."""
        return class_of(self.comparisons, names, int(self.rows[row]))

    @property
    def verdict(self) -> str:
        """The infinite parameters in words; a single one with its direction."""
        if len(self.infinite) == 1:
            name = self.infinite[0]
            if isinstance(self.problem.response, Cumulative) and self._narrows(name):
                return f"so {name} {BELOW}"
            return f"so {name} is {'−∞' if self.direction[self.design.names.index(name)] < 0 else '+∞'}"
        return f"so {listed(self.infinite)} have no finite estimate"

    def _narrows(self, name: str) -> bool:
        """Whether the likelihood rises as cuts come closer together."""
        k = self.design.names.index(name)
        return self.design.blocks[k] in ("tie", "grade") and self.direction[k] < 0


def class_of(c: Comparisons, names: list[str], s: int) -> str:
    """Return the class of a comparison of a table, such as ``judge 'J7', sex 'f'``."""
    values = {column.name: column.levels[column.codes[[s]]].tolist()[0] for column in c.columns}
    values["pair"] = ":".join(str(c.objects[k]) for k in np.sort(c.pairs[s]))
    return ", ".join(f"{name} {values[name]!r}" for name in names if name in values)


def describe(separation: Separation) -> tuple[str, str]:
    """Return the cause of the separation (ties, the order of presentation, or objects), and the remedy."""
    worth = separation.design.worth.matrix @ separation.direction
    index = separation.design.worth.index[separation.rows]
    shift = worth[index[:, 0]] - worth[index[:, 1]]
    order = (separation.design.order.matrix @ separation.direction)[separation.design.order.index[separation.rows]]
    if np.any(np.abs(shift) > TOLERANCE):
        return _worths(separation, worth, shift)
    if np.any(np.abs(order) > TOLERANCE):
        return _order(separation, order)
    return _levels(separation)


def describe_groups(
    c: Comparisons, design: Design, problem: Problem, whole: IntArray, strong: IntArray
) -> tuple[str, str]:
    """Return which objects won everything, and the remedy, if rows of the worth connect in one direction only.

    The text describes the first class of judgments, such as a judge with separate worths, and names the other classes.

    Parameters
    ----------
    whole, strong : ndarray of int, shape (U,)
        The connected group of each row of the worth, and its strong component.
    """
    pairs, counts = design.worth.index, problem.response.tally(problem.counts)
    sides = strong[pairs]
    across = np.flatnonzero(sides[:, 0] != sides[:, 1])
    members = whole[pairs[:, 0]] == whole[pairs[across[0], 0]]
    loser = sides[across, np.where(counts[across, 0] > 0, 1, 0)]
    # the smallest group is named; among equal ones that of the first object
    tops = np.setdiff1d(sides[members], loser).tolist()
    top = min(tops, key=lambda group: (np.count_nonzero(strong == group), np.argmax(strong == group)))
    upper = sides == top
    above, below = ([c.objects[k] for k in np.unique(c.pairs[members][side[members]])] for side in (upper, ~upper))
    number = len(np.unique(sides[members]))
    more = f". In all there are {number} such groups" if number > 2 else ""
    names = [column.name for column in c.columns if column.name in design.worth.units]
    _, first = np.unique(whole[pairs[across, 0]], return_index=True)
    classes = list(dict.fromkeys(class_of(c, names, int(s)) for s in across[np.sort(first)]))
    under = f" under {classes[0]}" if names else ""
    more += f"; the same holds under {'; '.join(classes[1:9])}" if len(classes) > 1 else ""
    more += f" and {len(classes) - 9} more" if len(classes) > 9 else ""
    cause = (
        f"{braced(above)} won all {format_count(_tally(problem, upper, members)[0])} judgments against {braced(below)}"
        f"{under}, so their log-worths differ by ∞ and have no finite estimate{more}"
    )
    return cause, _without_interactions(names)


def describe_no_ties(judgments: float, end: str = "is −∞") -> tuple[str, str]:
    """Return the message that a table with a tie category has no ties, and the remedy."""
    cause = (
        f"there are no ties among {format_count(judgments)} judgments, though the table has a tie category, so tie "
        f"{end}"
    )
    return cause, "Leave tie out after c.drop_ties(), which removes the empty category."


def _levels(separation: Separation) -> tuple[str, str]:
    """Name the classes that never have a tie or a grade, or that have nothing else."""
    levels = separation.design.shared
    blamed = {b: _blamed(separation, b, rows) for b, rows in levels.items()}
    moved = [b for b, (classes, _) in blamed.items() if len(classes)]
    b = next((b for b in moved if blamed[b][1]), moved[0])  # the predictor to blame; others only move against it
    rows, classes = levels[b], blamed[b][0]
    names, unit = separation.classes(rows.units), rows.index[separation.rows].reshape(len(separation.rows), -1)
    phrases = []
    for k in classes[:3]:
        inside = (unit == k).any(axis=1)
        who = separation.class_at(names, int(np.flatnonzero(inside)[0]))
        if rows.added:
            who = f"object {separation.comparisons.objects[rows.units['object'][k]]!r}" + (f" ({who})" if who else "")
        what, judgments = _described(separation, b, inside), separation.problem.totals[inside].sum()
        phrases.append(f"{who or 'the table'} has {what} among {format_count(judgments)} judgments")
    more = f" and {len(classes) - 3} more" if len(classes) > 3 else ""
    word = next(block for block, of in separation.comparisons.response.shared.items() if of == b)
    if rows.added:
        effects = [f"{word}:object[{separation.comparisons.objects[rows.units['object'][k]]}]" for k in classes]
        below = (rows.matrix @ separation.direction)[classes] < 0
        infinite = [f"{effect} is {'−∞' if down else '+∞'}" for effect, down in zip(effects[:3], below, strict=False)]
        remedy = f"Leave {word}:object out, or the objects (Comparisons.select)."
        return f"{'; '.join(phrases)}{more}, so {', '.join(infinite)}", remedy
    effect = {"tie": "tie effect (tie)", "bad": "effect of both bad (bad)"}.get(word, "effect of each grade (grade)")
    alone = _UNUSED if separation.comparisons.response.grades else _REMEDY
    remedy = f"Use one {effect}, or merge the levels of {listed(names)}." if names else alone
    return f"{'; '.join(phrases)}{more}, {separation.verdict}", remedy


def _blamed(separation: Separation, b: int, rows: Rows) -> tuple[IntArray, bool]:
    """Return the classes without a level's outcomes or without the first grade; if none, all classes that move."""
    moved = np.abs(rows.matrix @ separation.direction) > TOLERANCE
    used, first = used_levels(separation.problem, b, rows, rows.index[separation.rows])
    pure = moved & ((used == 0) | (first == 0))
    return np.flatnonzero(pure if pure.any() else moved), bool(pure.any())


def used_levels(problem: Problem, b: int, rows: Rows, index: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of judgments of each class with a level, and without it, shape (U,) each.

    `index` is the class of each row of the problem, or the classes of both sides if effects are added up.
    """
    units = index.reshape(len(index), -1).T
    used, first = (
        sum(np.bincount(unit, problem.counts[:, outcomes].sum(axis=1), rows.matrix.shape[0]) for unit in units)
        for outcomes in _of_level(problem.response, b)
    )
    return np.asarray(used), np.asarray(first)


def _of_level(response: AnyResponse, b: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the outcomes of a level, and the outcomes that it is compared with, (K,) each.

    A level is compared with the first grade. With a cumulative link a level is a cut, and it is compared with the
    outcomes on the other side of the cut.
    """
    loadings = response.loadings
    own = np.asarray(loadings[:, b] != 0)
    if isinstance(response, Response):
        return own, np.asarray(~loadings[:, 1:].any(axis=1))
    if b == response.tie:
        return own, ~own
    size = np.abs(loadings[:, 0])
    smallest = float(size[own].min())
    return np.asarray(size >= smallest), np.asarray(size == float(size[size < smallest].max()))


def _described(separation: Separation, b: int, inside: npt.NDArray[np.bool_]) -> str:
    """Return in words how often a level's outcomes occur in some comparisons, or that the first grade does not."""
    response, counts = separation.problem.response, separation.problem.counts[inside].sum(axis=0)
    of_level, first = _of_level(response, b)
    if 0 < counts[of_level].sum() < counts.sum() and not counts[first].any():
        of_level = first
    names = [outcome for outcome, chosen in zip(response.outcomes, of_level, strict=True) if chosen]
    words = {"tie": "ties", "bad": "judgments of both bad"}
    what, number = words.get(names[0], " or ".join(names)), counts[of_level].sum()
    return f"{format_count(number) if number else 'no'} {what}"


def _order(separation: Separation, order: FloatArray) -> tuple[str, str]:
    moved = np.abs(order) > TOLERANCE
    names = separation.classes(separation.design.order.units)
    where = separation.class_at(names, int(np.flatnonzero(moved)[0]))
    first = bool(order[moved][0] > 0)
    members = moved & ((order > 0) == first)
    won = separation.problem.response.tally(separation.problem.counts)[members, 0 if first else 2].sum()
    side = "first" if first else "second"
    cause = (
        f"the object shown {side} won all {format_count(won)} decided judgments{' of ' + where if where else ''}, "
        f"{separation.verdict}"
    )
    return cause, f"Leave {'the interactions of order' if names else 'order'} out."


def _worths(separation: Separation, worth: FloatArray, shift: FloatArray) -> tuple[str, str]:
    """Name the objects that won everything against others, in the class where the direction moves most."""
    c, problem = separation.comparisons, separation.problem
    row = int(np.argmax(np.abs(shift)))
    names = separation.classes(separation.design.worth.units)
    numbers = [column.name for column in c.columns if column.numeric and column.name in names]
    if numbers:
        return _by_numbers(separation, shift, numbers)
    where = separation.class_at(names, row)
    members = np.array([separation.class_at(names, k) == where for k in range(len(separation.rows))])
    index = separation.design.worth.index[separation.rows]
    upper = worth[index] > worth[index[row]].mean()
    counts = _tally(problem, upper, members)
    pairs = c.pairs[separation.rows][members]
    above = [c.objects[k] for k in np.unique(pairs[upper[members]])]
    below = [c.objects[k] for k in np.unique(pairs[~upper[members]])]
    ties = f", tied {format_count(counts[1])}" if counts[1] else ""
    setting = f" (under {where})" if where else ""
    cause = (
        f"{braced(above)} won {format_count(counts[0])}{ties} and lost {format_count(counts[-1])} of the judgments "
        f"against {braced(below)}{setting}, {separation.verdict}"
    )
    return cause, _without_interactions(names if where else [])


def _without_interactions(names: Sequence[str]) -> str:
    """Return the remedy: a worth without interactions with these covariates, or fewer objects or levels."""
    if not names:
        return _REMEDY
    return f"Leave the interactions with {', '.join(names)} out of the worth. Or l{_REMEDY[1:]}"


def _by_numbers(separation: Separation, shift: FloatArray, numbers: list[str]) -> tuple[str, str]:
    """Name objects that won or lost at all values of the numeric covariates; else name these covariates."""
    c, first = separation.comparisons, shift > 0
    moved = np.abs(shift) > TOLERANCE
    pairs = c.pairs[separation.rows]
    above, below = (np.unique(np.where(first == up, *pairs.T)[moved]) for up in (True, False))
    remedy = _without_interactions(numbers)
    for some, word in ((np.setdiff1d(above, below), "won"), (np.setdiff1d(below, above), "lost")):
        if not len(some):
            continue
        members = moved & np.isin(pairs, some).any(axis=1)
        upper = np.column_stack([first, ~first])
        wins, ties, losses = _tally(separation.problem, upper, members)
        tied = f", tied {format_count(ties)}" if ties else ""
        never = "lost" if word == "won" else "won"
        others = np.setdiff1d(pairs[members], some)
        cause = (
            f"at all values of {', '.join(numbers)}, {braced([c.objects[k] for k in some])} {word} "
            f"{format_count(wins)}{tied} and {never} {format_count(losses)} of the judgments against "
            f"{braced([c.objects[k] for k in others])}, {separation.verdict}"
        )
        return cause, remedy
    judgments = format_count(separation.problem.totals[moved].sum())
    cause = f"the values of {', '.join(numbers)} predict without exception which object won {judgments} judgments"
    return f"{cause}, {separation.verdict}", remedy


def _tally(problem: Problem, upper: npt.NDArray[np.bool_], members: npt.NDArray[np.bool_]) -> FloatArray:
    """Return wins, ties and losses of the upper objects against the others, shape (3,)."""
    across = members & (upper[:, 0] != upper[:, 1])
    counts = problem.response.tally(problem.counts)
    return np.asarray(np.where(upper[:, :1], counts, counts[:, ::-1])[across].sum(axis=0))
