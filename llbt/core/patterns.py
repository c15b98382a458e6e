"""Response patterns: the answers of each judge to every pair of objects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import Field, Record, Table, counted, format_count
from ..errors import JudgmentError, listed
from .columns import MOST_COUNTED, Coded, FloatArray, IntArray, Label, Lines, groups, inferable, tallied
from .comparisons import Comparisons, tabulate
from .counts import RESERVED
from .response import THREE, TWO

PatternKind = Literal["comparisons", "rankings", "ratings"]
Signs = npt.NDArray[np.int8]

MISSING = 2  # the code of a missing answer, beside −1, 0 and 1
_SIGNS = {1: "+", 0: "0", -1: "−", MISSING: "."}


@dataclass(frozen=True, repr=False, eq=False)
class Patterns(Record):
    """Response patterns: the answers of judges to all P = J(J − 1)/2 pairs of J objects, as N distinct patterns.

    Usually made by `from_patterns`. Equal patterns with equal covariates are stored once and counted.

    Attributes
    ----------
    objects : tuple
        The J objects, in the order of the pairs.
    answers : ndarray of int8, shape (N, P)
        For the pairs 12, 13, 23, 14, 24, 34, …: 1 if the first object was preferred, −1 if the second was, 0 if neither
        was, 2 if the pair has no answer.
    counts : ndarray, shape (N,)
        The number of judges with each pattern.
    kind : {"comparisons", "rankings", "ratings"}
        Which patterns are possible: all patterns; those of rankings without ties; those of rankings with ties.
    levels : int
        The number of levels of ratings; 0 for other kinds.
    columns : tuple of Coded, each (N,)
        Covariates of the judges.
    object_columns : tuple of Coded, each (J,)
        Covariates of the objects.
    notes : tuple of str

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> ranks = pd.DataFrame({"A": [1, 2, 1, 1], "B": [2, 1, 3, 2], "C": [3, 3, 2, 3]})
    >>> p = llbt.from_patterns(ranks, "rankings", objects=["A", "B", "C"])
    >>> len(p), p.n_judges, p.answers[0].tolist()
    (3, 4, [-1, 1, 1])
    """

    _made_by: ClassVar[str] = "llbt.from_patterns(…)"

    objects: tuple[Label, ...]
    answers: Signs
    counts: FloatArray
    kind: PatternKind
    levels: int = 0
    columns: tuple[Coded, ...] = ()
    object_columns: tuple[Coded, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = (*self.covariates, *self.object_covariates)
        taken = tuple(name for name in names if name in RESERVED | {"count", "pattern", "dependence"})
        if taken:
            raise JudgmentError(f"{listed(taken)} is a word that llbt uses itself", "Rename the column.")
        if len(set(names)) < len(names):
            raise JudgmentError(f"a covariate is named twice: {listed(names)}", expected="each once")
        total = float(self.counts.sum())
        if not (np.all(self.counts > 0) and 0 < total < MOST_COUNTED):
            raise JudgmentError(
                f"the counts of the patterns add up to {total:g}, or some are not positive",
                expected="positive and finite counts, below 2**53 in all",
            )
        self.answers.flags.writeable = False
        self.counts.flags.writeable = False

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def pairs(self) -> IntArray:
        """The two objects of each pair, 12, 13, 23, 14, …, shape (P, 2)."""
        return pairs_of(len(self.objects))

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates of the judges."""
        return tuple(column.name for column in self.columns)

    @property
    def object_covariates(self) -> tuple[str, ...]:
        """Names of the covariates of the objects."""
        return tuple(column.name for column in self.object_columns)

    @property
    def n_judges(self) -> float:
        """Number of judges (an int if it is whole)."""
        total = float(self.counts.sum())
        return int(total) if total.is_integer() else total

    @property
    def has_ties(self) -> bool:
        """Whether an answer can be undecided."""
        return self.kind == "ratings" or bool((self.answers == 0).any())

    @property
    def complete(self) -> bool:
        """Whether every judge answered every pair."""
        return not bool((self.answers == MISSING).any())

    def to_comparisons(self) -> Comparisons:
        """Return the comparisons in the patterns, as if their judgments were independent."""
        pattern, pair = np.nonzero(self.answers != MISSING)
        outcome = 1 - self.answers[pattern, pair].astype(np.int64)
        i, j = self.pairs[pair].T
        codes, counts = tallied([i, j, *(c.codes[pattern] for c in self.columns)], outcome, self.counts[pattern])
        columns = tuple(replace(c, codes=code) for c, code in zip(self.columns, codes[2:], strict=True))
        lines = Lines(np.column_stack(codes[:2]), counts, columns)
        note = f"{counted(float(counts.sum()), 'judgment')} of {counted(self.n_judges, 'judge')}, taken as independent"
        like = Comparisons(
            self.objects,
            lines.pairs,
            lines.counts,
            response=THREE if counts[:, 1].any() else TWO,
            object_columns=self.object_columns,
            notes=(*self.notes, note),
        )
        return tabulate(lines, like)

    def to_frame(self) -> pd.DataFrame:  # type: ignore[override]  # of data, which broom does not have
        """Return one row per pattern: pairs, covariates, count; a missing answer is NA."""
        names = [f"{self.objects[i]}:{self.objects[j]}" for i, j in self.pairs]
        signs = pd.DataFrame(self.answers, columns=names).astype("Int8").mask(self.answers == MISSING)
        whole = np.all(self.counts == np.floor(self.counts))
        beside: dict[str, Any] = {c.name: inferable(c.values) for c in self.columns}
        beside["count"] = self.counts.astype(np.int64) if whole else self.counts
        return pd.concat([signs, pd.DataFrame(beside)], axis=1)

    def table(self) -> Table:
        """Return the patterns in their printed form, the most frequent first."""
        order = np.argsort(-self.counts, kind="stable")[:20]
        fields = (
            Field("pattern", "pattern", [pattern_text(self.answers[k]) for k in order]),
            *(Field(c.name, c.name, c.values[order].tolist()) for c in self.columns),
            Field("count", "count", self.counts[order], "count"),
        )
        more = len(self) - len(order)
        pairs = [f"{self.objects[i]}:{self.objects[j]}" for i, j in self.pairs]
        notes = (*self.notes, *([f"{format_count(more)} more patterns"] if more else []))
        legend = f"{_SIGNS[1]} first, {_SIGNS[-1]} second preferred, 0 undecided, . no answer"
        return Table(
            fields,
            title=f"Patterns: {', '.join(self.size_texts())}",
            head=(
                f"Pairs: {', '.join(pairs[:15])}{', …' if len(pairs) > 15 else ''} ({legend})",
                *([f"object covariates: {', '.join(self.object_covariates)}"] if self.object_columns else []),
            ),
            notes=notes,
        )

    def size_texts(self) -> list[str]:
        """Return the numbers of objects, judges and patterns as phrases, for the first line of a printout."""
        sizes = [
            f"{format_count(len(self.objects))} objects",
            f"{self.kind} of {counted(self.n_judges, 'judge')}",
            counted(len(self), "pattern"),
        ]
        missing = float(self.counts[(self.answers == MISSING).any(axis=1)].sum())
        return [*sizes, *([f"{format_count(missing)} judges without some answer"] if missing else [])]


def pattern_text(answers: Signs) -> str:
    """Return a pattern (P,) as signs: + or − for the preferred object, 0 for undecided, . for no answer."""
    return "".join(_SIGNS[int(y)] for y in answers)


def gathered_patterns(
    objects: tuple[Label, ...],
    answers: Signs,
    kind: PatternKind,
    *,
    levels: int = 0,
    columns: tuple[Coded, ...] = (),
    object_columns: tuple[Coded, ...] = (),
    counts: FloatArray | None = None,
    notes: tuple[str, ...] = (),
) -> Patterns:
    """Return judges' answers (R, P) as distinct patterns. Notes count the judges and name the objects without answers.

    Raises
    ------
    JudgmentError
        If nobody gave any answer.
    """
    n = np.ones(len(answers)) if counts is None else np.asarray(counts, dtype=np.float64)
    silent = (answers == MISSING).all(axis=1)
    answered = np.flatnonzero(~silent & (n > 0))
    if not len(answered):
        raise JudgmentError("no judge has an answer", expected="answers to some of the pairs")
    gone = float(n[silent].sum())
    gone_note = (f"left out: {counted(gone, 'judge')} without any answer",) if gone else ()
    kept = _answered_objects(answers[answered], len(objects))
    unseen = [label for k, label in enumerate(objects) if k not in kept]
    lost = f"left out: {counted(len(unseen), 'object')} without any answer ({listed(unseen)})"
    unseen_note = (lost,) if unseen else ()
    given = answers[np.ix_(answered, np.isin(pairs_of(len(objects)), kept).all(axis=1))]
    keys = [*(given.T.astype(np.int64) + 1), *(column.codes[answered] for column in columns)]
    first, group = groups(keys)
    return Patterns(
        objects=tuple(objects[k] for k in kept),
        answers=given[first],
        counts=np.bincount(group, n[answered], len(first)).astype(np.float64),
        kind=kind,
        levels=levels,
        columns=tuple(column.take(answered[first]) for column in columns),
        object_columns=tuple(column.take(kept) for column in object_columns),
        notes=(*notes, *gone_note, *unseen_note),
    )


def _answered_objects(answers: Signs, objects: int) -> IntArray:
    """Return the objects with an answer (R, P) to some of their pairs."""
    return np.unique(pairs_of(objects)[(answers != MISSING).any(axis=0)])


def pairs_of(objects: int) -> IntArray:
    """Return the pairs of `objects` objects, 12, 13, 23, 14, 24, 34, …, shape (P, 2)."""
    return np.array([(i, j) for j in range(1, objects) for i in range(j)], dtype=np.int64).reshape(-1, 2)
