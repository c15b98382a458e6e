"""The lines of a table that effects of judges enter: comparisons by judge, and by groupings crossed with judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..core.response import Response
from ..formulas.brackets import Bracket, entered
from ..kernel.crossed import Bearing, Crossed, crossed
from ..kernel.effect_groups import Grouped, grouped
from ..kernel.likelihood import Problem
from .clusters import Way
from .merged_rows import distinct
from .plain_estimates import PlainEstimates


@dataclass(frozen=True, eq=False)
class EffectLines:
    """Lines of counts with the levels of each grouping.

    Attributes
    ----------
    brackets : tuple of Bracket
    response : Response
        The response of the table.
    problem : Problem
        Distinct comparisons; its counts are those of the whole table.
    pairs : ndarray of int, shape (S, 2)
        The objects of each distinct comparison.
    rows : ndarray of int, shape (L,)
        The comparison of each line.
    counts : ndarray, shape (L, K)
    groupings : tuple of str
    codes : tuple of ndarray of int, each (L,)
        The level of each line in each grouping.
    """

    brackets: tuple[Bracket, ...]
    response: Response
    problem: Problem
    pairs: IntArray
    rows: IntArray
    counts: FloatArray
    groupings: tuple[str, ...]
    codes: tuple[IntArray, ...]

    @classmethod
    def of(cls, without: PlainEstimates, brackets: Sequence[Bracket], ways: Sequence[Way]) -> EffectLines:
        """Return the lines of a fit without its brackets, given clusterings on common lines."""
        c = without.comparisons
        problem, _, merged = distinct(without.design, without.problem(), list(c.pairs.T))
        pairs = np.empty((int(merged.max()) + 1, 2), dtype=np.int64)
        pairs[merged] = c.pairs
        lines = ways[0].clusters
        names, codes = tuple(way.name for way in ways), tuple(way.clusters.codes for way in ways)
        return cls(tuple(brackets), c.response, problem, pairs, merged[lines.rows], lines.counts, names, codes)

    def take(self, some: IntArray) -> EffectLines:
        """Return some of the lines, with their counts in the problem."""
        codes = tuple(one[some] for one in self.codes)
        counts = np.zeros(self.problem.counts.shape)
        np.add.at(counts, self.rows[some], self.counts[some])
        problem = replace(self.problem, counts=counts)
        return replace(self, problem=problem, rows=self.rows[some], counts=self.counts[some], codes=codes)

    def crossed(self) -> Crossed:
        """Return the lines with the effects that enter each."""
        bearings = [self._bearing(bracket) for bracket in self.brackets]
        return crossed(self.rows, self.counts, self.pairs, bearings)

    def grouped(self) -> Grouped:
        """Return the lines by levels of the first grouping; effects of objects have one group with all judgments."""
        effects = ["object" if bracket.effect == "1" else bracket.effect for bracket in self.brackets]
        codes = np.unique(self.codes[0], return_inverse=True)[1].ravel()
        width = self.problem.response.width
        return grouped(self.rows, codes, self.counts, self.pairs, effects, width, entered(self.response))

    def _bearing(self, bracket: Bracket) -> Bearing:
        grouping = self.groupings.index(bracket.grouping)
        objects = bracket.effect in ("object", "1")
        return Bearing(grouping, self.codes[grouping], objects, entered(self.response)[bracket.effect])
