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

    Usually made by `from_patterns`. Equal patterns with equal covariates are stored once and counted. If judges answer
    at T times, a pattern has the answers at all times, one time after another; without times T is 1.

    Attributes
    ----------
    objects : tuple
        The J objects, in the order of the pairs.
    answers : ndarray of int8, shape (N, T · P)
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
    times : Coded or None, (T,)
        The times at which each judge answers, in their order; None if judges answer once.
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
    times: Coded | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = (*self.covariates, *self.object_covariates, *((self.times.name,) if self.times else ()))
        taken = tuple(name for name in names if name in RESERVED | {"count", "pattern", "dependence", "persistence"})
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
    def distinct_pairs(self) -> IntArray:
        """The two objects of each pair, 12, 13, 23, 14, …, shape (P, 2)."""
        return pairs_of(len(self.objects))

    @property
    def n_times(self) -> int:
        """The number of times T at which each judge answers."""
        return 1 if self.times is None else len(self.times.codes)

    @property
    def pairs(self) -> IntArray:
        """The two objects of each answer, 12, 13, 23, 14, … at each time, shape (T · P, 2)."""
        return np.tile(self.distinct_pairs, (self.n_times, 1))

    @property
    def time_of(self) -> IntArray:
        """The time of each answer, from 0 to T − 1, shape (T · P,)."""
        return np.repeat(np.arange(self.n_times), len(self.distinct_pairs))

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
        """Return the comparisons in the patterns, as if their judgments were independent; times are a covariate."""
        pattern, pair = np.nonzero(self.answers != MISSING)
        outcome = 1 - self.answers[pattern, pair].astype(np.int64)
        i, j = self.pairs[pair].T
        beside = [replace(c, codes=c.codes[pattern]) for c in self.columns]
        beside += [replace(self.times, codes=self.times.codes[self.time_of[pair]])] if self.times else []
        codes, counts = tallied([i, j, *(c.codes for c in beside)], outcome, self.counts[pattern])
        columns = tuple(replace(c, codes=code) for c, code in zip(beside, codes[2:], strict=True))
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
        names = self.answer_names()
        signs = pd.DataFrame(self.answers, columns=names).astype("Int8").mask(self.answers == MISSING)
        whole = np.all(self.counts == np.floor(self.counts))
        beside: dict[str, Any] = {c.name: inferable(c.values) for c in self.columns}
        beside["count"] = self.counts.astype(np.int64) if whole else self.counts
        return pd.concat([signs, pd.DataFrame(beside)], axis=1)

    def answer_names(self) -> list[str]:
        """Return the name of each answer: ``A:B``, or ``A:B (week 2)`` if judges answer at several times."""
        names = [f"{self.objects[i]}:{self.objects[j]}" for i, j in self.pairs]
        if self.times is None:
            return names
        at = self.times.values[self.time_of].tolist()
        return [f"{name} ({self.times.name} {time})" for name, time in zip(names, at, strict=True)]

    def table(self) -> Table:
        """Return the patterns in their printed form, the most frequent first."""
        order = np.argsort(-self.counts, kind="stable")[:20]
        fields = (
            Field("pattern", "pattern", [pattern_text(self.answers[k], self.n_times) for k in order]),
            *(Field(c.name, c.name, c.values[order].tolist()) for c in self.columns),
            Field("count", "count", self.counts[order], "count"),
        )
        more = len(self) - len(order)
        pairs = [f"{self.objects[i]}:{self.objects[j]}" for i, j in self.distinct_pairs]
        notes = (*self.notes, *([f"{format_count(more)} more patterns"] if more else []))
        legend = f"{_SIGNS[1]} first, {_SIGNS[-1]} second preferred, 0 undecided, . no answer"
        return Table(
            fields,
            title=f"Patterns: {', '.join(self.size_texts())}",
            head=(
                f"Pairs: {', '.join(pairs[:15])}{', …' if len(pairs) > 15 else ''} ({legend})",
                *([f"Times: {self.times.name} {listed(self.times.values.tolist())}, split by |"] if self.times else []),
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
            *([f"{self.n_times} times ({self.times.name})"] if self.times else []),
        ]
        missing = float(self.counts[(self.answers == MISSING).any(axis=1)].sum())
        return [*sizes, *([f"{format_count(missing)} judges without some answer"] if missing else [])]


def pattern_text(answers: Signs, times: int = 1) -> str:
    """Return a pattern (T · P,) as signs: + or − for the first or second, 0 undecided, . no answer, | by time."""
    return "|".join("".join(_SIGNS[int(y)] for y in part) for part in np.split(answers, times))


def gathered_patterns(
    objects: tuple[Label, ...],
    answers: Signs,
    kind: PatternKind,
    *,
    levels: int = 0,
    columns: tuple[Coded, ...] = (),
    object_columns: tuple[Coded, ...] = (),
    times: Coded | None = None,
    counts: FloatArray | None = None,
    notes: tuple[str, ...] = (),
) -> Patterns:
    """Return judges' answers (R, T · P) as distinct patterns. Notes state what has no answer and is left out.

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
    every = pairs_of(len(objects))
    seen = (answers[answered] != MISSING).any(axis=0).reshape(-1, len(every))  # (T, P)
    answered_objects, at = np.unique(every[seen.any(axis=0)]), np.flatnonzero(seen.any(axis=1))
    unseen = [label for k, label in enumerate(objects) if k not in answered_objects]
    lost = f"left out: {counted(len(unseen), 'object')} without any answer ({listed(unseen)})"
    unseen_note: tuple[str, ...] = (lost,) if unseen else ()
    without = [] if times is None else times.values[~seen.any(axis=1)].tolist()
    unseen_note += (
        (f"left out: {counted(len(without), 'time')} without any answer ({listed(without)})",) if without else ()
    )
    columns_kept = np.zeros(seen.shape, dtype=bool)
    columns_kept[np.ix_(at, np.isin(every, answered_objects).all(axis=1))] = True
    given = answers[np.ix_(answered, columns_kept.ravel())]
    keys = [*(given.T.astype(np.int64) + 1), *(column.codes[answered] for column in columns)]
    first, group = groups(keys)
    return Patterns(
        objects=tuple(objects[k] for k in answered_objects),
        answers=given[first],
        counts=np.bincount(group, n[answered], len(first)).astype(np.float64),
        kind=kind,
        levels=levels,
        columns=tuple(column.take(answered[first]) for column in columns),
        object_columns=tuple(column.take(answered_objects) for column in object_columns),
        times=times.take(at) if times else None,
        notes=(*notes, *gone_note, *unseen_note),
    )


def pairs_of(objects: int) -> IntArray:
    """Return the pairs of `objects` objects, 12, 13, 23, 14, 24, 34, …, shape (P, 2)."""
    return np.array([(i, j) for j in range(1, objects) for i in range(j)], dtype=np.int64).reshape(-1, 2)
