"""Merge comparisons with the same linear predictors and add up their counts: the likelihood stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..core.columns import FloatArray, IntArray, groups
from ..formulas.design import Design
from ..kernel.likelihood import Problem, rows_of


def distinct(design: Design, problem: Problem, more: Sequence[IntArray] = ()) -> tuple[Problem, IntArray, IntArray]:
    """Return the distinct comparisons by their predictors, with summed counts.

    Parameters
    ----------
    design : Design
    problem : Problem
        The problem of S comparisons.
    more : sequence of ndarray of int, each (S,)
        Codes that keep comparisons apart even if their predictors are equal.

    Returns
    -------
    problem : Problem
        The problem of S' merged comparisons.
    first : ndarray of int, shape (S',)
        A comparison of the table for each merged comparison.
    group : ndarray of int, shape (S,)
        The merged row of each comparison of the table.
    """
    keys = [*more, *design.worth.index.T, design.order.index]
    keys += [key for rows in design.shared.values() for key in np.atleast_2d(rows.index.T)]
    first, group = groups(keys)
    if len(first) == len(group):
        every = np.arange(len(first))
        return problem, every, every
    counts: FloatArray = np.column_stack([np.bincount(group, column, len(first)) for column in problem.counts.T])
    return replace(rows_of(problem, first), counts=counts), first, group
