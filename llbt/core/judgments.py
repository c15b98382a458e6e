"""Single judgments: the record that every reader of judgments returns, and from which tables are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import Field, Record, Table, counted, format_count
from ..errors import JudgmentError, listed
from .columns import Coded, FloatArray, IntArray, Label, Lines, as_objects, code, dense, groups, inferred, tally
from .comparisons import Comparisons, tabulate
from .counts import OUTCOMES, whole
from .response import THREE, TWO, Response

OBJECTS = ("object_i", "object_j")
STANDARD = (*OBJECTS, "outcome", "judge", "prompt", "tie_kind", "strength", "weight", "block", "record")
MADE = ("tie_kind", "strength", "weight", "block", "record")  # columns that a reader makes
_OPTIONAL = ("weight", "record")  # columns that only some formats have
_SHOWN = 10  # most rows of a printout
_WIDTH = 40  # most characters of a text in a printout


@dataclass(frozen=True, eq=False, repr=False)
class Judgments(Record):
    """Judgments of pairs among J objects, in R rows. A row is one judgment, or several equal ones.

    Usually made by `read_judgments`.

    Attributes
    ----------
    objects : tuple of labels, length J
    pairs : ndarray of int, shape (R, 2)
        Positions of objects i and j; if `shown`, i was shown first.
    outcomes : ndarray of int, shape (R,)
        The outcome: 0 if i was preferred, 1 for a tie, 2 if j was preferred.
    columns : dict of str to Series, each (R,)
        The other columns of the judgments: judge, prompt and so on. Empty if `query` has them.
    weights : ndarray of shape (R,), or None
        The number of judgments in each row; None means one.
    called : mapping of str to str
        The source's own names of the columns of judges and prompts: ``{"judge": "worker"}``. Arguments that take a
        column accept both names.
    query : DuckDB relation or None
        For large files, the single judgments, which stay in DuckDB. The rows here are then the distinct pairs and
        outcomes, and `weights` has their counts.
    shown : bool
        Whether the source tells which object was shown first.
    dropped : int
        The number of judgments that were left out because their outcome is unknown.
    notes : tuple of str
        Notes on the data that were read or left out.

    Examples
    --------
    >>> import llbt
    >>> judgments = llbt.read_judgments(
    ...     [{"model_a": "y", "model_b": "x", "winner": "model_a"}, {"model_a": "x", "model_b": "y", "winner": "tie"}])
    >>> judgments.objects, judgments.n_judgments
    (('x', 'y'), 2)
    >>> judgments.tabulate(order=True).to_frame()
      object_i object_j  wins_i  ties  wins_j
    0        x        y       0     1       0
    1        y        x       1     0       0
    >>> judgments.turned().to_frame()[["object_i", "object_j", "outcome"]]
      object_i object_j outcome
    0        x        y       j
    1        y        x     tie
    """

    objects: tuple[Label, ...]
    pairs: IntArray
    outcomes: IntArray
    columns: Mapping[str, pd.Series[Any]] = field(default_factory=dict)
    weights: FloatArray | None = None
    shown: bool = True
    dropped: int = 0
    notes: tuple[str, ...] = ()
    query: Any = None
    called: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_counts(
        cls, objects: tuple[Label, ...], pairs: IntArray, counts: FloatArray, shown: bool, notes: tuple[str, ...] = ()
    ) -> Judgments:
        """Return counts (S, 3) of pairs (S, 2) as judgments, one row for each outcome that a pair has."""
        row, outcome = np.nonzero(counts)
        return cls(objects, pairs[row], outcome, weights=counts[row, outcome], shown=shown, notes=notes)

    @property
    def times(self) -> FloatArray:
        """The number of judgments in each row, shape (R,)."""
        return np.ones(len(self.outcomes)) if self.weights is None else self.weights

    @property
    def n_judgments(self) -> float:
        """Number of judgments (an int if it is whole)."""
        return whole(float(self.times.sum()))

    @property
    def held(self) -> Any:
        """The single judgments: a frame whose labels are categories (already coded), or the query."""
        if self.query is not None:
            return self.query
        objects, outcomes = (pd.CategoricalDtype(pd.Index(list(x), dtype=object)) for x in (self.objects, OUTCOMES))
        coded = {name: (self.pairs[:, k], objects) for k, name in enumerate(OBJECTS)} | {
            "outcome": (self.outcomes, outcomes)
        }
        columns = {name: pd.Categorical.from_codes(codes, dtype=labels) for name, (codes, labels) in coded.items()}
        return pd.DataFrame({name: columns[name] if name in columns else self.values(name) for name in self.names})

    def empty(self) -> frozenset[str]:
        """Return which of the columns judge and prompt have no values; empty for a query, which is not run."""
        here = [] if self.query is not None else [name for name in ("judge", "prompt") if name in self.columns]
        return frozenset(name for name in here if self.columns[name].isna().all())

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the frame of these judgments."""
        if self.query is not None:
            return tuple(self.query.columns)
        weight = () if self.weights is None else ("weight",)
        beside = (*self.columns, *weight)
        standard = (name for name in STANDARD if name in (*OBJECTS, "outcome") or name in beside)
        return (*standard, *(name for name in beside if name not in STANDARD))

    def standing_for(self, name: str) -> str:
        """Return the column of these judgments that has this name in the source."""
        if name in self.names:
            return name
        return next((role for role, own in self.called.items() if own == name), name)

    def values(self, name: str) -> pd.Series[Any]:
        """Return one column of the frame of these judgments, named in `names`."""
        self._refuse_query()
        if name in OBJECTS:
            return inferred(pd.Series(as_objects(self.objects)[self.pairs[:, OBJECTS.index(name)]]))
        if name == "outcome":
            return inferred(pd.Series(as_objects(OUTCOMES)[self.outcomes]))
        if name == "weight" and self.weights is not None:
            return pd.Series(self.weights)
        return self.columns[name]

    def to_frame(self) -> pd.DataFrame:  # type: ignore[override]  # of data, which broom does not have
        """Return the single judgments with standard columns, as `read_judgments` describes them."""
        if self.query is not None:
            return pd.DataFrame(self.query.df())
        return pd.DataFrame({name: self.values(name) for name in self.names})

    def table(self) -> Table:
        """Return the judgments in their printed form: sizes, then the first rows."""
        some = self.query.limit(_SHOWN).df() if self.query is not None else self.take(slice(_SHOWN)).to_frame()
        there = [name for name in STANDARD if name in some and some[name].notna().any()]
        beside = [name for name in self.names if name not in STANDARD]
        rest = self.n_judgments - len(some) if self.query is not None else len(self.outcomes) - len(some)
        return Table(
            fields=tuple(
                Field(name, self.called.get(name, name), [_brief(value) for value in some[name]]) for name in there
            ),
            title=f"Judgments: {counted(self.n_judgments, 'judgment')} of {counted(len(self.objects), 'object')}",
            head=(f"other columns: {listed(beside, 20)}",) if beside else (),
            notes=self.notes,
            more=f"… {format_count(rest)} more rows: .to_frame()" if rest else "",
        )

    def take(self, rows: npt.NDArray[Any] | slice) -> Judgments:
        """Return some of the judgments, by number or by condition (R,); all objects are kept.

        Raises
        ------
        JudgmentError
            If the judgments stay in a database engine.
        """
        self._refuse_query()
        at = np.arange(len(self.outcomes))[rows]
        columns = {name: values.iloc[at].reset_index(drop=True) for name, values in self.columns.items()}
        weights = None if self.weights is None else self.weights[at]
        return replace(self, pairs=self.pairs[at], outcomes=self.outcomes[at], columns=columns, weights=weights)

    def among_judged(self) -> Judgments:
        """Return the judgments without objects that no judgment names."""
        pairs, used = dense(self.pairs, len(self.objects))
        return replace(self, objects=tuple(self.objects[k] for k in used), pairs=pairs)

    def _refuse_query(self) -> None:
        if self.query is not None:
            raise JudgmentError(
                f"{counted(self.n_judgments, 'judgment')} stay in a database engine, counted by pair and outcome",
                "Bring them into memory: read_judgments(judgments.to_frame()).",
                expected="single judgments in memory",
            )

    def turned(self, rows: npt.NDArray[np.bool_] | None = None) -> Judgments:
        """Return the judgments with objects i and j exchanged: all, or those that satisfy a condition (R,)."""
        self._refuse_query()
        rows = np.ones(len(self.outcomes), dtype=np.bool_) if rows is None else rows
        pairs = np.where(rows[:, None], self.pairs[:, ::-1], self.pairs)
        return replace(self, pairs=pairs, outcomes=np.where(rows, len(OUTCOMES) - 1 - self.outcomes, self.outcomes))

    def oriented(self) -> Judgments:
        """Return the judgments with the object that comes first in `objects` as i, whichever object was shown first."""
        return self.turned(self.pairs[:, 0] > self.pairs[:, 1])

    def tally(self, by: IntArray, size: int | None = None) -> FloatArray:
        """Return wins of i, ties and wins of j by group, shape (size, 3).

        Parameters
        ----------
        by : ndarray of int, shape (R,)
            The group of each judgment; judgments with a negative group are not counted.
        size : int, optional
            The number of groups.
        """
        return tally(by, self.outcomes, self.weights, size, len(OUTCOMES))

    def tabulate(self, *, order: bool = False, response: Response | None = None) -> Comparisons:
        """Return the judgments as a table of counts.

        Parameters
        ----------
        order : bool
            Whether the table keeps which object was shown first.
        response : Response, optional
            The outcomes that judgments can have; by default with ties if any judgment is a tie.
        """
        first, group = groups([*self.pairs.T])
        counts = self.tally(group, len(first))
        response = response or (THREE if counts[:, 1].any() else TWO)
        like = Comparisons(self.objects, self.pairs[first], counts, response, keeps_order=order, notes=self.notes)
        return tabulate(Lines(like.pairs, like.counts), like)

    def column(self, name: str, parameter: str) -> Coded:
        """Return a column as codes into its sorted labels.

        Raises
        ------
        JudgmentError
            If there is no such column, or it has no value in some row.
        """
        here = self.standing_for(name)
        if here not in self.names:
            has = listed([self.called.get(known, known) for known in self.names])
            raise JudgmentError(f"the judgments have no column {name!r} ({parameter}=)", expected=f"one of {has}")
        values = self.values(here)
        missing = values.isna().to_numpy()
        if missing.all() and len(missing):
            others = [f"{parameter}={str(x)!r}" for x in self.names if x not in STANDARD and x != name]
            instead = f"Name another column: {', '.join(others[:5])}." if others else "The judgments do not record it."
            raise JudgmentError(
                f"column {name!r} ({parameter}=) has no value in any of {len(values):,} rows",
                instead,
                expected="one for each judgment",
            )
        if missing.any():
            raise JudgmentError(
                f"column {name!r} ({parameter}=) has no value in {missing.sum():,} of {len(values):,} rows, "
                f"first at row {int(missing.argmax())}",
                "Leave these rows out, or name another column.",
                expected="one for each judgment",
            )
        return code(name, values.to_numpy(dtype=object))

    def grouped(self, names: Sequence[str], parameter: str) -> tuple[IntArray, pd.DataFrame]:
        """Return each row's combination of the values of some columns, as a number, and a frame of the combinations."""
        columns = [self.column(name, parameter) for name in names]
        if not columns:
            return np.zeros(len(self.outcomes), dtype=np.int64), pd.DataFrame(index=range(1))
        first, group = groups([np.asarray(column.codes, dtype=np.int64) for column in columns])
        return group, pd.DataFrame({column.name: column.values[first] for column in columns})

    def once(self) -> tuple[Judgments, IntArray, tuple[str, ...]]:
        """Return one judgment of each record that was split into several pairs, its row, and a note.

        The judgment of the smallest pair is kept, which is the same pair for all judges of the same outputs.
        """
        if "record" not in self.columns:
            return self, np.arange(len(self.outcomes)), ()
        low, high = np.sort(self.pairs, axis=1).T
        record, _ = pd.factorize(self.columns["record"])
        order = np.lexsort((high, low, record))
        order = order[record[order] >= 0]
        first = np.sort(order[np.diff(record[order], prepend=-1) > 0])
        more = len(self.outcomes) - len(first)
        note = f"{counted(more, 'judgment')} not counted: a record of identical outputs (a+b) counts as one judgment"
        return self.take(first), first, (note,) if more else ()


def has_standard_columns(names: Iterable[str]) -> bool:
    """Whether a frame with these columns was made from `Judgments`."""
    return set(STANDARD) - set(_OPTIONAL) <= set(names)


def _brief(value: Any) -> str:
    """Return a value in its printed form: on one line, shortened if it is long."""
    text = "" if value is None or value is pd.NA or value != value else " ".join(str(value).split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
