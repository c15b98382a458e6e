"""Scores of systems on instances, read from wide or long frames into one matrix, and the rule for ties."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Count, NotNegative, Rng, as_generator, checked, whole
from ..base.table import Field, Record, Table, counted
from ..core.columns import FloatArray, Label
from ..errors import JudgmentError, OptionError, listed
from .column_roles import Names
from .score_columns import refuse_gone, refuse_twice
from .score_layouts import NamedColumns, wide_layout
from .score_tables import ScoreMatrix, item_label, read_matrix, score_table, wide_matrix, with_items
from .sources import as_names
from .tables import unused_note

OutcomeCodes = npt.NDArray[np.int8]

FIRST, TIE, SECOND, NO_GAME = 0, 1, 2, -1
ROUNDING = 1e-12  # relative, as for ratings: 0.8 − 0.7 is off by some 1e-16
_ENTRIES = 2**21  # scores compared at a time: 16 MB


@dataclass(frozen=True)
class TieRule:
    """The rule for ties: two scores tie if they differ by at most a threshold, within 1e-12 of the larger.

    Attributes
    ----------
    threshold : float
        On the scale of the scores, or a share of the larger of the two by absolute value.
    relative : bool
        Whether the threshold is a share.
    """

    threshold: float = 0.0
    relative: bool = False

    def margin(self, larger: FloatArray) -> FloatArray:
        """Return how far apart two scores may be and still tie, given the larger of their absolute values."""
        if self.relative:
            return np.asarray((self.threshold + ROUNDING) * larger)
        return np.asarray(self.threshold + ROUNDING * larger)

    def outcomes(self, one: FloatArray, other: FloatArray) -> OutcomeCodes:
        """Return for each pair of scores 0: the first is higher, 1: a tie, 2: the second is, −1: one is missing."""
        with np.errstate(over="ignore"):  # 1e308 − (−1e308)
            lead = one - other
            margin = self.margin(np.maximum(np.abs(one), np.abs(other)))
        outcomes = TIE - (lead > margin).astype(np.int8) + (lead < -margin)
        outcomes[np.isnan(lead)] = NO_GAME
        return np.asarray(outcomes, dtype=np.int8)

    def outcomes_by_pair(self, scores: FloatArray) -> Iterator[OutcomeCodes]:
        """Return the outcomes implied by scores (N, M) for all N(N − 1)/2 pairs, in the order of `numpy.triu_indices`.

        Yields blocks of pairs, shape (K, M).
        """
        step = max(1, _ENTRIES // max(1, scores.shape[1]))
        for i in range(len(scores) - 1):
            for low in range(i + 1, len(scores), step):
                yield self.outcomes(scores[i], scores[low : low + step])


@dataclass(frozen=True, repr=False, eq=False)
class SystemScores(Record):
    """Scores of N systems on M instances, and the rule that says which of two scores is better.

    Made by ``SystemScores.from_frame(…)``, ``from_wide(…)`` and ``from_long(…)``, and accepted wherever scores are.

    Attributes
    ----------
    systems : tuple of label, length N
        Sorted, so that no result depends on the order of columns.
    instances : tuple of label, length M
        In the order of the frame.
    values : ndarray, shape (N, M)
        As in the frame; NaN where there is no score.
    instance : str
        The name of the column of the instances.
    columns : DataFrame, R rows
        The columns of the frame that hold no scores.
    place : ndarray of int, shape (R,)
        The instance of each row.
    unused : tuple of str
        Columns that are neither read nor left out by the caller.
    notes : tuple of str
    rater : str
        The column of raters, if each instance is an item scored by one rater; otherwise empty.
    items : tuple of str
        The columns that name items together.
    higher_is_better : bool
    rule : TieRule
        When two scores are tied.
    """

    _made_by: ClassVar[str] = "SystemScores.from_frame(…), SystemScores.from_wide(…) or SystemScores.from_long(…)"

    systems: tuple[Label, ...]
    instances: tuple[Label, ...]
    values: FloatArray
    instance: str
    columns: pd.DataFrame
    place: npt.NDArray[np.intp]
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rater: str = ""
    items: tuple[str, ...] = ()
    higher_is_better: bool = True
    rule: TieRule = field(default_factory=TieRule)

    @classmethod
    @checked
    def from_frame(
        cls,
        frame: object,
        *,
        system: str | None = None,
        item: Names = (),
        score: Names = (),
        rater: str | None = None,
        ignore: Names = (),
        others: Names = (),
        higher_is_better: bool = True,
        tie_threshold: NotNegative = 0.0,
        relative: bool = False,
    ) -> SystemScores:
        """Return the scores of a frame in any layout, by the roles of its columns.

        A frame has a row for each system and item, a column for each system, or a row for each system and a column for
        each item. The layout and the meaning of each column are found by the names of columns, then by their values;
        notes state them. Ambiguous frames are refused; the error names the arguments that resolve the ambiguity.

        Parameters
        ----------
        frame : frame, path or list of records
        system : str, optional
            The column of systems.
        item : str or sequence of str, optional
            The columns that together identify the scored item (question, document, segment).
        score : str or sequence of str, optional
            The column of scores; for a frame with a column for each system, or each item, these columns.
        rater : str, optional
            The column of raters: each instance is then an item scored by one rater, and standard errors are clustered
            by rater. Scores are averaged over columns with usual names of raters that are not named here.
        ignore : str or sequence of str, optional
            Columns to leave out.
        others : str or sequence of str, optional
            Columns that are kept beside the scores: for ``by=``, covariates or clusters.
        higher_is_better, tie_threshold, relative
            As in `from_wide`.

        Returns
        -------
        SystemScores

        Raises
        ------
        JudgmentError
            For judgments, counts and fits; a file without a header; columns that are missing, have two roles or are
            ambiguous; fewer than two systems; cells that are not finite numbers; and a system that is scored twice on
            an item, unless by raters or in runs (``seed``, ``epoch``, ``run``), which are averaged.

        Examples
        --------
        >>> import llbt
        >>> rows = [{"model": m, "question_id": q, "score": m == "a"} for m in "ab" for q in (1, 2)]
        >>> frame = [{**row, "score": float(row["score"])} for row in rows]
        >>> scores = llbt.scores.SystemScores.from_frame(frame)
        >>> scores.systems, scores.notes
        (('a', 'b'), ("systems by column 'model', items by 'question_id', scores by 'score'",))
        """
        asked = _asked(system, item, score, rater, ignore, others)
        scores = _of(read_matrix(score_table(frame), asked))
        return replace(scores, higher_is_better=higher_is_better, rule=TieRule(float(tie_threshold), relative))

    @classmethod
    @checked
    def from_wide(
        cls,
        frame: object,
        systems: str | Sequence[str] | None = None,
        *,
        instance: str | None = None,
        others: str | Sequence[str] = (),
        higher_is_better: bool = True,
        tie_threshold: NotNegative = 0.0,
        relative: bool = False,
    ) -> SystemScores:
        """Return the scores of a frame with one row per instance and one column per system.

        Parameters
        ----------
        frame : frame, path or list of records
        systems : sequence of str, optional
            The columns of scores; by default all columns of numbers, except `instance`, `others`, row counters, and
            columns with usual names of items, runs, raters, lengths or times (``id``, ``seed``, ``latency_s``). If the
            values of these look like scores, they are refused.
        instance : str, optional
            The column with the instance; by default ``instance`` if there is one, else the number of the row.
        others : str or sequence of str
            Columns of numbers that are not systems.
        higher_is_better : bool
            Whether the higher score wins, or the lower.
        tie_threshold : float
            Two scores are tied if they differ by at most this, within 1e-12 of the larger one.
        relative : bool
            Whether the threshold is a share of the larger of the two (by absolute value) rather than on the scale of
            the scores.

        Returns
        -------
        SystemScores

        Raises
        ------
        JudgmentError
            For columns that are not there or have two roles, fewer than two systems, scores that are not finite
            numbers, and an instance that occurs twice.

        Examples
        --------
        >>> import llbt
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"A": [1.0, 2.0, 3.0], "B": [2.0, 3.0, 1.0], "length": [10, 20, 30]})
        >>> llbt.scores.SystemScores.from_wide(frame, others="length").systems
        ('A', 'B')
        """
        names = None if systems is None else as_names(systems, "systems")
        with _in_terms_of_wide():
            table, other_columns = score_table(frame), as_names(others, "others")
            if names is not None:
                _refuse_chosen(table, names, instance, other_columns)
            asked = NamedColumns(item=() if instance is None else (instance,), score=names or (), others=other_columns)
            scores = _of(wide_matrix(table, wide_layout(table, asked), asked))
        return replace(scores, higher_is_better=higher_is_better, rule=TieRule(float(tie_threshold), relative))

    @classmethod
    @checked
    def from_long(
        cls,
        frame: object,
        *,
        system: str = "system",
        instance: str = "instance",
        score: str = "score",
        higher_is_better: bool = True,
        tie_threshold: NotNegative = 0.0,
        relative: bool = False,
    ) -> SystemScores:
        """Return the scores of a frame with one row per system and instance.

        Parameters
        ----------
        frame : frame, path or list of records
        system, instance, score : str
            The columns with the system, the instance and the score.
        higher_is_better, tie_threshold, relative
            As in `from_wide`.

        Returns
        -------
        SystemScores

        Raises
        ------
        JudgmentError
            For columns that are not there or have two roles, fewer than two systems, scores that are not finite
            numbers, and a system that is scored twice on an instance.

        Examples
        --------
        >>> import llbt
        >>> frame = [{"model": "a", "item": 1, "bleu": 31.0}, {"model": "b", "item": 1, "bleu": 28.0}]
        >>> scores = llbt.scores.SystemScores.from_long(frame, system="model", instance="item", score="bleu")
        >>> scores.systems, scores.values.tolist()
        (('a', 'b'), [[31.0], [28.0]])
        """
        table = score_table(frame)
        _refuse_without_instance(table, system, instance, score)
        scores = _of(read_matrix(table, NamedColumns(system, (instance,), (score,))))
        return replace(scores, higher_is_better=higher_is_better, rule=TieRule(float(tie_threshold), relative))

    @property
    def better(self) -> FloatArray:
        """Scores with the higher one better, shape (N, M)."""
        return self.values if self.higher_is_better else -self.values

    @checked
    def sample(
        self, *, systems: Annotated[int, whole(2)] | None = None, instances: Count | None = None, rng: Rng = None
    ) -> SystemScores:
        """Return the scores of randomly chosen systems and instances, each at most once.

        Parameters
        ----------
        systems, instances : int, optional
            How many are chosen; by default all.
        rng : numpy.random.Generator or int, optional

        Returns
        -------
        SystemScores

        Raises
        ------
        OptionError
            For more systems or instances than there are.

        Examples
        --------
        >>> import llbt
        >>> import pandas as pd
        >>> scores = llbt.scores.SystemScores.from_wide(pd.DataFrame({"A": [1.0, 2, 4], "B": [2.0, 2, 3]}))
        >>> scores.sample(instances=2, rng=1).values.tolist()
        [[1.0, 2.0], [2.0, 2.0]]
        """
        generator = as_generator(rng)
        some = _chosen(len(self.systems), systems, "systems", generator)
        items = _chosen(len(self.instances), instances, "instances", generator)
        of = np.full(len(self.instances), -1)
        of[items] = np.arange(len(items))
        rows = np.flatnonzero(of[self.place] >= 0)
        return replace(
            self,
            systems=tuple(self.systems[k] for k in some),
            instances=tuple(self.instances[k] for k in items),
            values=self.values[np.ix_(some, items)],
            columns=self.columns.iloc[rows].reset_index(drop=True),
            place=of[self.place[rows]],
        )

    def table(self) -> Table:
        """Return mean, median, standard deviation and number of scores of each system."""
        scores = pd.DataFrame(self.values.T)
        return Table(
            (
                Field("object", "System", list(self.systems)),
                Field("mean", "Mean", scores.mean().to_numpy(), "number"),
                Field("median", "Median", scores.median().to_numpy(), "number"),
                Field("sd", "SD", scores.std().to_numpy(), "number"),
                Field("n", "Scores", scores.count().to_numpy(), "count"),
                Field("missing", "Missing", scores.isna().sum().to_numpy(), "count"),
            ),
            title="Scores of systems",
            head=(f"{counted(len(self.systems), 'system')}, {counted(len(self.instances), 'instance')}",),
            notes=self.notes_beside(),
        )

    def notes_beside(self, used: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the notes on the frame if some columns are used besides the scores."""
        unused = [name for name in self.unused if name not in used]
        return (*unused_note(unused), *self.notes)


def _chosen(size: int, number: int | None, what: str, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the positions of a random choice, in order; all by default."""
    if number is None:
        return np.arange(size)
    if number > size:
        raise OptionError(f"{what}={number}", expected=f"at most {size:,}, the number of {what}")
    return np.sort(rng.choice(size, number, replace=False))


def as_scores(
    data: object,
    others: Sequence[str] = (),
    *,
    system: str | None = None,
    item: Names = (),
    score: Names = (),
    rater: str | None = None,
    ignore: Names = (),
    by_rater: bool = False,
) -> SystemScores:
    """Return scores unchanged, or those of a frame by the roles of its columns.

    Parameters
    ----------
    data : SystemScores, frame, path or list of records
    others : sequence of str
        Columns of a frame that are neither systems nor scores.
    system, item, score, rater, ignore
        As in `SystemScores.from_frame`.
    by_rater : bool
        Whether items stay apart by rater, where raters are named; else scores are averaged within items.
    """
    asked = _asked(system, item, score, rater, ignore, others)
    if not isinstance(data, SystemScores):
        scores = _of(read_matrix(score_table(data), asked))
        return scores if by_rater else _within_items(scores)
    if asked != NamedColumns(others=asked.others):
        raise OptionError(
            "columns are named beside SystemScores, which are read already",
            "Name them where it is made: llbt.scores.SystemScores.from_frame(frame, …).",
        )
    return data if by_rater else _within_items(data)


def instance_columns(scores: SystemScores, names: Sequence[str]) -> pd.DataFrame:
    """Return columns of the frame with one row for each of the M instances, which have one value each."""
    _refuse_roles([str(label) for label in scores.systems], names)
    refuse_gone(scores.columns, names)
    first = np.empty(len(scores.instances), dtype=np.intp)
    first[scores.place[::-1]] = np.arange(len(scores.place))[::-1]
    for name in names:
        codes, _ = pd.factorize(scores.columns[name])
        odd = codes != codes[first][scores.place]
        if odd.any():
            row = int(odd.argmax())
            column = scores.columns[name]
            raise JudgmentError(
                f"covariate {name!r} is {column.iloc[row]!r} in row {row} and "
                f"{column.iloc[first[scores.place[row]]]!r} before for the same instance",
                expected="one value for each",
            )
    return scores.columns[list(names)].iloc[first].reset_index(drop=True)


def _asked(
    system: str | None, item: Names, score: Names, rater: str | None, ignore: Names, others: Names
) -> NamedColumns:
    columns = {"item": item, "score": score, "ignore": ignore, "others": others}
    named = {name: as_names(given, name) for name, given in columns.items()}
    return NamedColumns(system, named["item"], named["score"], rater, named["ignore"], named["others"])


@contextlib.contextmanager
def _in_terms_of_wide() -> Iterator[None]:
    """Propose arguments of `SystemScores.from_wide` where a message proposes arguments of `SystemScores.from_frame`."""
    try:
        yield
    except JudgmentError as error:
        error.remedy = error.remedy.replace("ignore=[", "others=[").replace("score=[", "systems=[")
        raise


def _of(read: ScoreMatrix) -> SystemScores:
    return SystemScores(**{field.name: getattr(read, field.name) for field in fields(ScoreMatrix)})


def _within_items(scores: SystemScores) -> SystemScores:
    """Return scores by rater averaged within items."""
    if not scores.rater:
        return scores
    columns = instance_columns(scores, [*scores.items])
    codes = pd.MultiIndex.from_frame(columns).factorize()[0]
    first = np.flatnonzero(~pd.Series(codes).duplicated().to_numpy())
    values = pd.DataFrame(scores.values.T).groupby(codes, sort=True).mean().to_numpy().T
    labels = [item_label(columns.iloc[row].tolist()) for row in first]
    note = f"scores of raters (column {scores.rater!r}) averaged within system and item"
    return replace(
        scores,
        instances=tuple(labels),
        values=values,
        instance=" / ".join(scores.items),
        columns=with_items(scores.columns, scores.items),
        place=codes[scores.place],
        notes=(*scores.notes, note),
        rater="",
    )


def _refuse_chosen(table: pd.DataFrame, systems: Sequence[str], instance: str | None, columns: Sequence[str]) -> None:
    refuse_gone(table, [*systems, *columns, *([instance] if instance else [])])
    _refuse_roles(systems, (instance or "instance", *columns))
    refuse_twice(systems, "systems=")
    if len(systems) < 2:
        raise JudgmentError(
            f"{counted(len(systems), 'column')} of scores among {listed(list(table.columns), 20)}",
            expected="a column of numbers per system, or a long frame with the columns system and score",
        )


def _refuse_without_instance(table: pd.DataFrame, system: str, instance: str, score: str) -> None:
    refuse_gone(table, (system, score))
    _refuse_roles((system, score), (instance,))
    if instance not in table:
        raise JudgmentError(
            f"a long frame needs a column that says which instance a score belongs to; it has "
            f"{listed(list(table.columns), 20)}",
            "Name it: llbt.scores.SystemScores.from_long(…, instance='…')",
        )


def _refuse_roles(scores: Sequence[str], others: Sequence[str]) -> None:
    several = [name for name in scores if name in others]
    if several:
        raise JudgmentError(
            f"column {several[0]!r} holds scores or systems and is also named as instance or with "
            "others=, covariates= or clusters=",
            expected="one role for each column",
        )
