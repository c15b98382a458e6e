"""Judgments summed by pair, without judgments of excluded objects."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.budgets import refuse_square
from ..base.table import counted
from ..core.columns import FloatArray, IntArray, Label, groups
from ..core.comparisons import Comparisons, check_three
from ..core.judgments import Judgments
from ..data.judge_columns import read_judged, refuse_lists
from ..errors import JudgmentError, OptionError, listed

Objects = Sequence[Label] | Label


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of J objects and P pairs, summed over covariates and the order of presentation.

    Attributes
    ----------
    objects : tuple, length J
        Sorted; each was judged at least once.
    pairs : ndarray of int, shape (P, 2)
        Positions of i and j, i before j.
    counts : ndarray, shape (P, 3)
        Wins of i, ties, wins of j; each pair has judgments.
    judgments : Judgments
        The R judgments themselves, or the counts of a table, of the same objects.
    cells : ndarray of int, shape (R,)
        The place of each judgment in ``counts.ravel()``.
    notes : tuple of str
    """

    objects: tuple[Label, ...]
    pairs: IntArray
    counts: FloatArray
    judgments: Judgments
    cells: IntArray
    notes: tuple[str, ...]

    @property
    def sides(self) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
        """The labels of i and of j, each of length P."""
        i, j = (tuple(self.objects[k] for k in column) for column in self.pairs.T)
        return i, j

    @property
    def wins(self) -> FloatArray:
        """Wins of the row over the column, shape (J, J)."""
        refuse_square("the matrix of wins", len(self.objects))
        made = np.zeros((len(self.objects), len(self.objects)))
        i, j = self.pairs.T
        made[i, j], made[j, i] = self.counts[:, 0], self.counts[:, 2]
        return made

    @property
    def totals(self) -> FloatArray:
        """Judgments of the row against the column, shape (J, J); symmetric."""
        refuse_square("the matrix of judgments", len(self.objects))
        made = np.zeros((len(self.objects), len(self.objects)))
        i, j = self.pairs.T
        made[i, j] = made[j, i] = self.counts.sum(axis=1)
        return made


def pair_counts(data: object, *, exclude: Objects = (), beside: str | None = None) -> PairCounts:
    """Return the judgments summed by pair, without the judgments of excluded objects.

    Parameters
    ----------
    data : Comparisons, or what `read_judged` reads
    exclude : label or sequence of labels
        Objects whose judgments are left out.
    beside : str, optional
        A cluster or covariate of a table of counts to keep with its judgments, if the table has it.

    Raises
    ------
    OptionError
        For unknown objects in `exclude`.
    JudgmentError
        If no judgment is left.
    """
    refuse_lists(data)
    judgments = _of_table(data, beside) if isinstance(data, Comparisons) else read_judged(data)
    keep, notes = _counted(judgments, exclude)
    left = judgments.take(keep).among_judged()
    oriented = left.oriented()
    first, group = groups([*oriented.pairs.T])
    return PairCounts(
        left.objects,
        oriented.pairs[first],
        oriented.tally(group, len(first)),
        left,
        3 * group + oriented.outcomes,
        (*judgments.notes, *notes, *_gone(judgments.objects, left.objects, exclude)),
    )


def _of_table(c: Comparisons, beside: str | None) -> Judgments:
    check_three(c)
    pairs, counts, columns, by_cluster = c.pairs, c.counts, c.columns, c.cluster_counts
    if by_cluster is not None and beside in c.clusters:
        pairs, counts, columns = c.pairs[by_cluster.rows], by_cluster.counts, by_cluster.columns
    made = Judgments.of_counts(c.objects, pairs, counts, c.keeps_order, (*c.notes, *_summed_over(c)))
    rows = np.nonzero(counts)[0]
    known = {column.name: pd.Series(column.values[rows]) for column in columns if column.name == beside}
    return replace(made, columns=known)


def _summed_over(c: Comparisons) -> list[str]:
    notes = [f"summed over {', '.join(c.covariates)}"] if c.covariates else []
    return notes + (["summed over both orders of display"] if c.keeps_order else [])


def as_whole(values: FloatArray) -> npt.NDArray[Any]:
    """Return counts and ranks as integers where all are whole."""
    return values.astype(np.int64) if np.all(np.isfinite(values) & (values == np.floor(values))) else values


def _counted(judgments: Judgments, exclude: Objects) -> tuple[npt.NDArray[np.bool_], tuple[str, ...]]:
    """Return which rows (R,) have judgments of no excluded object, and a note on the others."""
    out = excluded(judgments.objects, exclude)
    touched = np.asarray(out[judgments.pairs].any(axis=1))
    keep, totals = ~touched, judgments.times
    if not keep.any():
        raise JudgmentError(
            f"no judgment is left: each of the {counted(float(totals.sum()), 'judgment')} has an object of "
            f"exclude={list(named(exclude))!r}",
            "Exclude fewer objects.",
            expected="some between two others",
        )
    if not out.any():
        return keep, ()
    return keep, (f"{counted(float(totals[touched].sum()), 'judgment')} of {listed(named(exclude))} left out",)


def _gone(objects: tuple[Label, ...], judged: tuple[Label, ...], exclude: Objects) -> tuple[str, ...]:
    """Return a note on objects that have no judgment and were not excluded."""
    known = {*judged, *named(exclude)}
    gone = [label for label in objects if label not in known]
    return (f"left out: {counted(len(gone), 'object')} without a judgment ({listed(gone)})",) if gone else ()


def named(exclude: Objects) -> tuple[Label, ...]:
    """Return one label or several as a tuple, each once."""
    if isinstance(exclude, (str, numbers.Real)):
        return (exclude,)
    labels = list(exclude) if isinstance(exclude, Iterable) else []
    nested = any(isinstance(label, Iterable) and not isinstance(label, str) for label in labels)
    if nested or not isinstance(exclude, Iterable):
        raise OptionError(f"exclude={exclude!r}", expected="one object or several")
    return tuple(dict.fromkeys(labels))


def excluded(objects: tuple[Label, ...], exclude: Objects) -> npt.NDArray[np.bool_]:
    """Return whether each object is excluded, shape (J,).

    Raises
    ------
    OptionError
        For unknown objects in `exclude`.
    """
    unknown = [label for label in named(exclude) if label not in objects]
    if unknown:
        raise OptionError(
            f"exclude names {listed(unknown)}, which the judgments do not have",
            f"The objects are {listed(objects, 20)}.",
        )
    return np.isin(np.arange(len(objects)), [objects.index(label) for label in named(exclude)])
