"""Judgments ready to be counted whose outcomes may be grades: in a column beside them, in their labels, or signed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..core.response import Response
from .formats import Labels
from .frames import as_number, read_factor, read_sizes
from .grades import cut_sizes, graded_outcomes, refuse_sizes, refuse_unsigned, side
from .judgments import Countable
from .outcomes import checked_outcomes
from .readings import LEFT_OUT, TIE, by_label
from .rows import Rows

_MEANINGS = LEFT_OUT + 1  # of a row: either wins, a tie, left out


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgments ready to be counted, and how much is preferred where the caller asks: a column, or sizes of labels."""

    found: Countable
    strength: str | None
    sizes: Mapping[Any, float]
    cuts: tuple[float, ...] = ()

    @property
    def field(self) -> str:
        """The column of the outcomes; that of the strength where there is none, and none was named."""
        field = self.found.labels.field
        absent = field == "outcome" and field not in self.found.source.names
        return self.strength if self.strength is not None and absent else field

    @property
    def beside(self) -> dict[str, tuple[str, ...]]:
        """The column of sizes beside the outcome, by parameter, if there is one."""
        if self.strength is None or self.strength == self.field:
            return {}
        named = self.strength == "strength" and self.found.labels.strengths  # the sizes of a format's labels
        return {} if named and "strength" not in self.found.source.names else {"strength": (self.strength,)}

    def labels(self, rows: Rows) -> Labels:
        """Return what the labels of the outcomes mean, numbers as grades where they are."""
        labels = replace(self.found.labels, field=self.field)
        if self.strength != self.field or self.sizes:
            return labels
        mapping = checked_outcomes(labels.outcomes)
        numbers = {label: as_number(label) for label in read_factor(rows.frame, self.field).labels}
        said = {label: number for label, number in numbers.items() if number is not None and label not in mapping}
        refuse_unsigned(said, f"column {self.field!r}", fractions=bool(self.cuts))
        sides = {label: side(number) for label, number in said.items()}
        return replace(labels, outcomes={**mapping, **sides}, strengths={k: abs(n) for k, n in said.items()})

    def graded(
        self, rows: Rows, labels: Labels, said: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], Response | None, list[str]]:
        """Return the outcome of each row, graded if the caller asks; the scale if it is one, and notes."""
        if self.strength is None and not self.sizes:
            return said, None, []
        column = next(iter(self.beside.get("strength", ())), None)
        if column is None:
            factor = read_factor(rows.frame, labels.field)
            codes, found = factor.codes, np.array(by_label(factor.labels, labels.strengths, np.nan), dtype=np.float64)
        else:
            codes, found = pd.factorize(read_sizes(rows, column))
        cell = np.where(codes < 0, len(found), codes) * _MEANINGS + said
        there = np.bincount(cell) > 0  # few of many rows are different
        number, group = np.flatnonzero(there), (np.cumsum(there) - 1)[cell]
        wins, sizes = TIE - number % _MEANINGS, np.append(found, np.nan)[number // _MEANINGS]
        if self.cuts:
            sizes = np.where(wins == 0, 0.0, cut_sizes(sizes, self.cuts))
        refuse_sizes(rows, wins, sizes, group, f"column {column or labels.field!r}")
        places, response, notes = graded_outcomes(wins, sizes, (*self.sizes.values(), *range(1, len(self.cuts) + 2)))
        return places.astype(np.int8)[group], response, notes
