"""Judgments ready to be counted, with grades (in a column beside, in labels, or signed) or with both bad."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..core.columns import FloatArray
from ..core.grades import graded_outcomes
from ..core.response import Response, both_bad
from ..errors import OptionError
from .countable import Countable
from .distinct_rows import Rows
from .formats import Labels
from .frames import as_number, read_factor, read_sizes
from .grades import cut_sizes, merged_note, refuse_sizes, refuse_unsigned, side
from .outcome_codings import BAD, BOTH_BAD, TIE, WIN_I, WIN_J, Meaning, by_label
from .outcomes import checked_outcomes

_MEANINGS = BAD + 1  # of a row: either wins, a tie, left out, both bad


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgments ready to be counted, and the caller's options besides the outcome.

    A column of strengths, or the `sizes` of labels, grades the preferences. Or the outcome "both bad" is counted apart
    from ties: `bad` holds the labels or the kinds of ties that mean it.
    """

    countable: Countable
    strength: str | None
    sizes: Mapping[Any, float]
    cuts: tuple[float, ...] = ()
    bad: Collection[Any] = ()

    def __post_init__(self) -> None:
        if self.bad and (self.strength is not None or self.cuts):
            raise OptionError(
                "strength= and cuts= grade preferences, outcomes= counts 'both bad' apart", "Pass either."
            )

    @property
    def field(self) -> str:
        """The column of the outcomes; if there is none and none was named, the column of the strength."""
        field = self.countable.labels.field
        absent = field == "outcome" and field not in self.countable.source.names
        return self.strength if self.strength is not None and absent else field

    @property
    def beside(self) -> dict[str, tuple[str, ...]]:
        """The columns of sizes, or of kinds of ties, besides the outcome, by parameter, if there are any."""
        if self.bad and self.countable.is_standard:
            return {"tie_kind": ("tie_kind",)}
        if self.strength is None or self.strength == self.field:
            return {}
        named = self.strength == "strength" and self.countable.labels.strengths  # the sizes of a format's labels
        return {} if named and "strength" not in self.countable.source.names else {"strength": (self.strength,)}

    def unasked(self, roles: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the unused column of strengths of judgments that were read before, if it has no role.

        Parameters
        ----------
        roles : iterable of str
            The columns that have a role already.
        """
        graded = self.strength is not None or self.sizes
        there = self.countable.is_standard and self.countable.source.has_labels("strength")
        return {} if graded or not there or "strength" in roles else {"strength": ("strength",)}

    @property
    def written(self) -> dict[Any, Meaning | int]:
        """The outcomes that labels stand for, with grades."""
        meanings: dict[Any, Meaning | int] = {**checked_outcomes(self.countable.labels.outcomes)}
        signs: dict[Any, int] = {"i": 1, "tie": 0, "j": -1}
        return meanings | {
            k: int(size) * signs[meanings[k]] for k, size in self.sizes.items() if meanings.get(k) in signs
        }

    def labels(self, rows: Rows) -> Labels:
        """Return the meaning of the outcome labels, with grades as numbers."""
        labels = replace(self.countable.labels, field=self.field)
        if self.strength != self.field or self.sizes:
            return labels
        mapping = checked_outcomes(labels.outcomes)
        numbers = {label: as_number(label) for label in read_factor(rows.frame, self.field).labels}
        numbers_of = {label: number for label, number in numbers.items() if number is not None and label not in mapping}
        refuse_unsigned(numbers_of, f"column {self.field!r}", fractions=bool(self.cuts))
        sides = {label: side(number) for label, number in numbers_of.items()}
        return replace(labels, outcomes={**mapping, **sides}, strengths={k: abs(n) for k, n in numbers_of.items()})

    def coded(
        self, rows: Rows, labels: Labels, outcomes: npt.NDArray[Any], weights: FloatArray | None
    ) -> tuple[npt.NDArray[Any], Response | None, list[str]]:
        """Return the outcome of each row, the response if there are more than three outcomes, and notes."""
        if self.strength is not None or self.sizes:
            return self._graded(rows, labels, outcomes)
        merged = self._merged(rows, labels, outcomes, weights)
        if not self.bad:
            return outcomes, None, merged
        places, response, notes = self._apart(rows, outcomes, np.ones(len(outcomes)) if weights is None else weights)
        return places, response, [*notes, *merged]

    def _merged(self, rows: Rows, labels: Labels, outcomes: npt.NDArray[Any], weights: FloatArray | None) -> list[str]:
        """Return a note if preferences of several strengths count equally."""
        by_column = "strength" in rows.frame.columns and self.countable.is_standard
        if not by_column and len(set(labels.strengths.values())) < 2:  # as a rule: nothing is counted for it
            return []
        factor = read_factor(rows.frame, "strength" if by_column else labels.field)
        sizes = list(factor.labels) if by_column else by_label(factor.labels, labels.strengths, None)
        decided = np.where((outcomes == WIN_I) | (outcomes == WIN_J), 1.0 if weights is None else weights, 0.0)
        n = np.bincount(factor.codes + 1, weights=decided, minlength=len(sizes) + 1)[1:]
        return merged_note([(size, k) for size, k in zip(sizes, n, strict=True) if size is not None and k > 0])

    def _apart(
        self, rows: Rows, outcomes: npt.NDArray[Any], times: FloatArray
    ) -> tuple[npt.NDArray[Any], Response, list[str]]:
        """Return the outcomes with both bad apart from ties; in judgments read before, it is a kind of ties."""
        if "tie_kind" in self.beside:
            factor = read_factor(rows.frame, "tie_kind")
            chosen = [k for k, kind in enumerate(factor.labels) if kind == BOTH_BAD or kind in self.bad]
            outcomes = np.where((outcomes == TIE) & np.isin(factor.codes, chosen), BAD, outcomes)
        response = both_bad(ties=bool((outcomes == TIE).any()))
        places = np.full(_MEANINGS, len(response.outcomes), dtype=np.int8)
        for meaning, outcome in ((WIN_I, "i"), (TIE, "tie"), (BAD, "bad"), (WIN_J, "j")):
            if outcome in response.outcomes:
                places[meaning] = response.outcomes.index(outcome)
        n = float(times[outcomes == BAD].sum())
        note = f"{counted(n, 'judgment')} counted as both bad, apart from ties" if n else "no judgment is both bad"
        return places[outcomes], response, [note]

    def _graded(
        self, rows: Rows, labels: Labels, outcomes: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], Response, list[str]]:
        """Return the graded outcome of each row, the scale and notes."""
        column = next(iter(self.beside.get("strength", ())), None)
        if column is None:
            factor = read_factor(rows.frame, labels.field)
            codes, strengths = (
                factor.codes,
                np.array(by_label(factor.labels, labels.strengths, np.nan), dtype=np.float64),
            )
        else:
            codes, strengths = pd.factorize(read_sizes(rows, column))
        cell = np.where(codes < 0, len(strengths), codes) * _MEANINGS + outcomes
        there = np.bincount(cell) > 0  # few of many rows are different
        number, group = np.flatnonzero(there), (np.cumsum(there) - 1)[cell]
        wins, sizes = TIE - number % _MEANINGS, np.append(strengths, np.nan)[number // _MEANINGS]
        if self.cuts:
            sizes = np.where(wins == 0, 0.0, cut_sizes(sizes, self.cuts))
        refuse_sizes(rows, wins, sizes, group, f"column {column or labels.field!r}")
        places, response, notes = graded_outcomes(wins, sizes, (*self.sizes.values(), *range(1, len(self.cuts) + 2)))
        return places.astype(np.int8)[group], response, [*notes, *self._middle(response)]

    def _middle(self, response: Response) -> list[str]:
        """Return a note if strengths make a scale without a middle because no judgment is a tie."""
        steps = len(response.outcomes) // 2
        if self.sizes or steps < 2 or len(response.outcomes) % 2:
            return []
        signed = self.strength == self.field and not self.cuts
        grades = ", ".join(f"{grade}: {grade}" for grade in range(steps, -steps - 1, -1))
        remedy = f"; outcomes={{{grades}}} gives them one" if signed else ""
        return [f"no judgment is a tie: the grades have no middle{remedy}"]
