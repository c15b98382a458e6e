"""The lines of a table that effects of judges enter: comparisons by judge, and by groupings crossed with judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..core.response import Response
from ..formulas.brackets import Bracket
from ..formulas.design import Design
from ..kernel.crossed import Bearing, Crossed, crossed
from ..kernel.effect_groups import Entry, Grouped, grouped
from ..kernel.indexed_rows import Gathered
from ..kernel.likelihood import Problem
from .clusters import Way
from .effect_levels import codes_of_levels, entered
from .merged_rows import distinct
from .plain_estimates import PlainEstimates


@dataclass(frozen=True, eq=False)
class EffectLines:
    """Lines of counts with the levels of each grouping.

    Attributes
    ----------
    brackets : tuple of Bracket
    entries : tuple of Entry
        How the effects of each bracket enter the distinct comparisons.
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
    entries: tuple[Entry, ...]
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
        keys = [*c.pairs.T, *codes_of_levels(brackets, c)]
        problem, first, merged = distinct(without.design, without.problem(), keys)
        values = slope_values(without.design, without.design.signed_rows().take(first), brackets)
        where = [entered(bracket, c) for bracket in brackets]
        entries = tuple(
            replace(entry, where=None if some is None else some[first])
            for entry, some in zip(entries_of(brackets, c.response, values), where, strict=True)
        )
        lines = ways[0].clusters
        names, codes = tuple(way.name for way in ways), tuple(way.clusters.codes for way in ways)
        pairs, rows = c.pairs[first], merged[lines.rows]
        return cls(tuple(brackets), entries, problem, pairs, rows, lines.counts, names, codes)

    def take(self, some: IntArray) -> EffectLines:
        """Return some of the lines, with their counts in the problem."""
        codes = tuple(one[some] for one in self.codes)
        counts = np.zeros(self.problem.counts.shape)
        np.add.at(counts, self.rows[some], self.counts[some])
        problem = replace(self.problem, counts=counts)
        return replace(self, problem=problem, rows=self.rows[some], counts=self.counts[some], codes=codes)

    def crossed(self) -> Crossed:
        """Return the lines with the effects that enter each line."""
        bearings = [
            Bearing(grouping, self.codes[grouping], entry)
            for bracket, entry in zip(self.brackets, self.entries, strict=True)
            for grouping in [self.groupings.index(bracket.grouping)]
        ]
        return crossed(self.rows, self.counts, self.pairs, bearings)

    def grouped(self) -> Grouped:
        """Return the lines by levels of the first grouping; effects of objects have one group with all judgments."""
        codes = np.unique(self.codes[0], return_inverse=True)[1].ravel()
        width = self.problem.response.width
        return grouped(self.rows, codes, self.counts, self.pairs, self.entries, width)


def entries_of(
    brackets: Sequence[Bracket], response: Response, values: Sequence[FloatArray | None]
) -> tuple[Entry, ...]:
    """Return how effects enter comparisons with these factors of each bracket."""
    return tuple(
        Entry(bracket.effect in ("object", "1"), bracket.predictors(response), value)
        for bracket, value in zip(brackets, values, strict=True)
    )


def slope_columns(design: Design, bracket: Bracket) -> list[int]:
    """Return the parameters of the average slope, one for a numeric covariate."""
    blocks = zip(design.terms, design.blocks, strict=True)
    return [k for k, (term, block) in enumerate(blocks) if block == "worth" and term == bracket.term]


def slope_values(design: Design, signed: Gathered, brackets: Sequence[Bracket]) -> list[FloatArray | None]:
    """Return the covariate of each slope in rows of the signed predictor, (S,), in its unit; None for other brackets.

    The unit makes σ of the effects about as large as other σ, whether a length is counted in characters or pages.
    """
    units = slope_units(design, brackets)
    return [
        _covariate(design, signed, bracket) / unit if bracket.is_slope else None
        for bracket, unit in zip(brackets, units.tolist(), strict=True)
    ]


def slope_units(design: Design, brackets: Sequence[Bracket]) -> FloatArray:
    """Return the unit of each bracket, (E,): the root mean square of a slope's covariate in the design, 1 for others.

    Effects and their σ are for this unit. Divided by it, they are for a difference of 1 in the column of the table.
    """
    signed = design.signed_rows()
    squares = [np.mean(_covariate(design, signed, bracket) ** 2) if bracket.is_slope else 1.0 for bracket in brackets]
    units = np.sqrt(np.array(squares, dtype=np.float64))
    return np.where(units > 0, units, 1.0)


def _covariate(design: Design, signed: Gathered, bracket: Bracket) -> FloatArray:
    return signed.columns(np.array(slope_columns(design, bracket))).toarray().ravel()
