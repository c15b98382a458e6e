"""Comparisons: validated counts of wins and ties for each comparison, with the counts of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..base.arguments import checked
from ..base.budgets import refuse_square
from ..base.table import Field, Qualifying, Record, Table, counted, format_count, format_percent, named
from ..errors import JudgmentError, OptionError, listed
from .columns import (
    ClusterCounts,
    Coded,
    FloatArray,
    IntArray,
    Label,
    Lines,
    as_objects,
    dense,
    groups,
    inferable,
    known,
    matching,
    same_clusters,
    same_columns,
    summed,
)
from .counts import check_alike, check_counts, check_names, count_columns, counts_of_outcomes, whole
from .graphs import components_of, ordered_components
from .response import THREE, TWO, Response


@dataclass(frozen=True, repr=False, eq=False)
class Comparisons(Record):
    """Counts of wins and ties, one row per comparison: the table that a model is fitted to.

    Usually made by `from_counts`, `from_judgments`, `from_matrix` or `load_dataset`. A comparison is one pair of
    objects under one combination of covariates. J objects, S comparisons.

    Attributes
    ----------
    objects : tuple
        The J objects, sorted unless the judgments have their own order.
    pairs : ndarray of int, shape (S, 2)
        Objects i and j of each comparison; if `keeps_order`, i was shown first.
    counts : ndarray, shape (S, 3)
        Wins of i, ties, wins of j; finite and not negative, whole or fractional. A response with more outcomes has one
        column for each, shape (S, K).
    response : Response
        The outcomes that a judgment can have: three, or two in a table without a tie category.
    keeps_order : bool
        Whether object i is the one shown first.
    columns, sides, object_columns : tuple of Coded
        Covariates (S,), side covariates (S, 2) and object covariates (J,).
    cluster_counts : ClusterCounts or None
    notes : tuple of str
        Notes on data that were merged, left out or changed.
    unkept : tuple of str
        Columns of the user's frame that were not kept.
    called : mapping of str to str
        The names of judge and prompt in the judgments, if they differ: ``{"judge": "worker"}``.

    Raises
    ------
    JudgmentError
        For fewer than two objects, no comparison, an object compared with itself, counts that are negative or not
        finite, and names that are reserved or used twice.

    Examples
    --------
    >>> import llbt
    >>> c = llbt.load_dataset("dras_modpref")
    >>> c.objects, c.n_judgments, c.n_ties
    (('+', '-'), 120, 24)
    """

    _made_by: ClassVar[str] = "llbt.from_counts(…) or llbt.from_judgments(…)"

    objects: tuple[Label, ...]
    pairs: IntArray
    counts: FloatArray
    response: Response
    keeps_order: bool = False
    columns: tuple[Coded, ...] = ()
    sides: tuple[Coded, ...] = ()
    object_columns: tuple[Coded, ...] = ()
    cluster_counts: ClusterCounts | None = None
    notes: tuple[str, ...] = ()
    unkept: tuple[str, ...] = ()
    called: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = (*self.covariates, *self.clusters, *self.object_covariates)
        check_names(columns, [column.name for column in self.sides], self.count_columns)
        check_counts(self.counts, self.response)
        if len(self.objects) < 2:
            raise JudgmentError(f"{len(self.objects)} object ({listed(self.objects)})", expected="two or more")
        if len(self.pairs) == 0:
            raise JudgmentError("the table is empty: it has no comparisons.")
        same = np.flatnonzero(self.pairs[:, 0] == self.pairs[:, 1])
        if same.size:
            label = self.objects[self.pairs[same[0], 0]]
            raise JudgmentError(
                f"{same.size} comparisons of an object with itself, the first of {label!r}", "Leave them out."
            )
        check_alike("object", self.objects)
        for column in (*self.columns, *self.sides, *self.object_columns):
            if not column.numeric:
                check_alike(f"{column.name!r}", tuple(column.levels.tolist()))
        self.pairs.flags.writeable = False
        self.counts.flags.writeable = False

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates that split the table, side covariates last."""
        return tuple(c.name for c in (*self.columns, *self.sides))

    @property
    def clusters(self) -> tuple[str, ...]:
        """Names of the clusters whose counts the table has."""
        return tuple(c.name for c in self.cluster_counts.columns) if self.cluster_counts else ()

    def named(self, name: str) -> str:
        """Return the table's name for the column of judges or prompts, given ``"judge"`` or ``"prompt"``."""
        own = self.called.get(name, name)
        return own if own in (*self.covariates, *self.clusters) else name

    @property
    def object_covariates(self) -> tuple[str, ...]:
        """Names of the columns of the object table."""
        return tuple(c.name for c in self.object_columns)

    @property
    def has_ties(self) -> bool:
        """Whether the table has a tie category: three outcomes, not two."""
        return self.response.has_ties

    @property
    def outcome_counts(self) -> FloatArray:
        """Counts of the response's outcomes only, shape (S, K), so without ties if the response has none."""
        return counts_of_outcomes(self.counts, self.response)

    @property
    def wins_i(self) -> FloatArray:
        """Judgments for object i, of any grade, shape (S,)."""
        return self.response.tally(self.outcome_counts)[:, 0]

    @property
    def ties(self) -> FloatArray:
        """Ties of each comparison, shape (S,); 0 without a tie category."""
        return self._counted("tie")

    @property
    def bad(self) -> FloatArray:
        """The number of "both bad" judgments of each comparison, shape (S,); 0 if this outcome is not possible."""
        return self._counted("bad")

    def _counted(self, outcome: str) -> FloatArray:
        outcomes = self.response.outcomes
        return self.outcome_counts[:, outcomes.index(outcome)] if outcome in outcomes else np.zeros(len(self))

    @property
    def wins_j(self) -> FloatArray:
        """Judgments for object j, of any grade, shape (S,)."""
        return self.response.tally(self.outcome_counts)[:, 2]

    @property
    def count_columns(self) -> tuple[str, ...]:
        """The names that the columns of `counts` have in a frame."""
        return count_columns(self.response)

    @property
    def totals(self) -> FloatArray:
        """Judgments per comparison, shape (S,)."""
        return np.asarray(sum(self.counts.T[1:], self.counts[:, 0]))

    @property
    def n_judgments(self) -> float:
        """Number of judgments (an int if it is whole)."""
        return whole(float(self.counts.sum()))

    @property
    def n_ties(self) -> float:
        """Number of ties (an int if it is whole)."""
        return whole(float(self.ties.sum()))

    @property
    def n_bad(self) -> float:
        """Number of "both bad" judgments (an int if it is whole)."""
        return whole(float(self.bad.sum()))

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other: object) -> bool:
        """Whether two tables are equal, apart from notes and the names of columns that were not kept."""
        if not isinstance(other, Comparisons):
            return NotImplemented
        return (
            self.same_counts(other)
            and same_columns(self.object_columns, other.object_columns)
            and same_clusters(self.cluster_counts, other.cluster_counts)
        )

    def same_counts(self, other: Comparisons) -> bool:
        """Whether the comparisons and their counts are equal, so that deviances can be compared."""
        return (
            (self.objects, self.response, self.keeps_order) == (other.objects, other.response, other.keeps_order)
            and np.array_equal(self.pairs, other.pairs)
            and np.allclose(self.counts, other.counts, rtol=1e-12, atol=0)
            and same_columns(self.columns, other.columns)
            and same_columns(self.sides, other.sides)
        )

    __hash__ = None  # type: ignore[assignment]  # tables are compared, not used as keys

    @checked
    def to_frame(self, *, clusters: bool = False) -> pd.DataFrame:  # type: ignore[override]  # of data, which broom does not have
        """Return the table as a frame that `from_counts` reads back.

        Graded tables are read back with ``grades=c.response.outcomes``, tables with "both bad" with
        ``ties_column={"ties": "tie", "bad": "bad"}``.

        Parameters
        ----------
        clusters : bool
            One row per comparison and cluster, with the clusters as columns, instead of one per comparison.

        Returns
        -------
        pandas.DataFrame
            ``object_i, object_j, <covariates…>, wins_i, ties, wins_j``; a side covariate ``x`` has the
            columns ``x_i`` and ``x_j``. A graded table has a column for each grade, ``i+, i, tie, j, j+``; a table with
            "both bad" has a column ``bad`` after the ties.
        """
        cluster_table = self.cluster_counts if clusters else None
        rows = np.arange(len(self)) if cluster_table is None else cluster_table.rows
        counts = self.counts if cluster_table is None else cluster_table.counts
        labels = as_objects(self.objects)
        data: dict[str, Any] = {f"object_{side}": labels[self.pairs[rows, k]] for k, side in enumerate("ij")}
        data |= {c.name: c.values[rows] for c in self.columns}
        data |= {f"{c.name}_{side}": c.values[rows, k] for c in self.sides for k, side in enumerate("ij")}
        data |= {c.name: c.values for c in (cluster_table.columns if cluster_table else ())}
        whole = np.all(counts == np.floor(counts))
        printed = counts.astype(np.int64) if whole else counts
        data |= {name: printed[:, k] for k, name in enumerate(self.count_columns)}
        return pd.DataFrame({name: inferable(values) for name, values in data.items()})

    def win_matrix(self) -> pd.DataFrame:
        """Return the wins of the row's object over the column's, summed over all covariates (J × J, labelled)."""
        refuse_square("the matrix of wins", len(self.objects), JudgmentError)
        wins = np.zeros((len(self.objects), len(self.objects)))
        i, j = self.pairs.T
        np.add.at(wins, (i, j), self.wins_i)
        np.add.at(wins, (j, i), self.wins_j)
        return pd.DataFrame(wins, index=list(self.objects), columns=list(self.objects))

    def components(self) -> tuple[tuple[Label, ...], ...]:
        """Return the groups of objects that judgments connect, the group of the first object first.

        Objects of different groups were never compared, not even through other objects, so their worths have no common
        scale. Fit each group separately, with ``c.select(objects=group)``.
        """
        judged = self.totals > 0
        i, j = (self.pairs if judged.all() else self.pairs[judged]).T
        size = len(self.objects)
        met = np.zeros(size, dtype=np.bool_)
        met[j[i == 0]] = met[i[j == 0]] = met[0] = True
        if met.all():  # true for most large tables: the first object has met all others
            return (self.objects,)
        number, group = components_of(size, self.pairs[judged])
        members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group, minlength=number))[:-1])
        return tuple(tuple(self.objects[k] for k in places) for places in members)

    def largest_component(self) -> Comparisons:
        """Return the table of the largest group of objects with finite maximum likelihood estimates.

        In a group with finite estimates, a chain of wins and ties leads from each object to each other object. If a
        table has several groups, some objects won or lost all comparisons with other groups, so their estimates are
        infinite without a prior. This is common with many objects and few judgments of each. A note names the objects
        that were left out.

        Returns
        -------
        Comparisons
            The table itself if all objects are in one group. If two groups are equally large, the first one.

        Raises
        ------
        JudgmentError
            If every group is a single object.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> counts = pd.DataFrame({"object_i": list("ABC"), "object_j": list("BCD"), "wins_i": 3, "wins_j": [1, 1, 0]})
        >>> c = llbt.from_counts(counts).largest_component()
        >>> c.objects
        ('A', 'B', 'C')
        >>> c.notes[-1]
        '1 object left out (largest_component): D'
        """
        group = ordered_components(len(self.objects), self.pairs, self.response.tally(self.outcome_counts))
        is_largest = group == np.bincount(group).argmax()
        if is_largest.all():
            return self
        lines = lines_of(self)
        inside = is_largest[lines.pairs].all(axis=1)
        if not inside.any():
            raise JudgmentError(
                "no two objects are connected by wins and ties both ways",
                "Fit with a prior: fit(…, prior='jeffreys') has finite estimates wherever objects are connected.",
            )
        component = tabulate(lines.take(inside), replace(self, notes=()))
        out = np.flatnonzero(~is_largest)
        gone = counted(len(out), "object")
        note = f"{gone} left out (largest_component): {named([self.objects[k] for k in out])}"
        return replace(component, notes=(*self.notes, note))

    @checked
    def pool(self, *names: str | Sequence[str]) -> Comparisons:
        """Return the table summed over covariates: over all, or over the named ones, given singly or as a list.

        Pooling keeps clusters, except a cluster that is named.
        """
        named = [name for part in names for name in ([part] if isinstance(part, str) else part)]
        if names and not named:
            return self
        gone = [self.named(name) for name in named] or self.covariates
        unknown = tuple(name for name in gone if name not in (*self.covariates, *self.clusters))
        if unknown:
            has = listed((*self.covariates, *self.clusters)) or "none"
            raise OptionError(f"no covariate {listed(unknown)}", expected=f"some of {has}")
        rows = lines_of(self)
        return tabulate(
            replace(
                rows,
                columns=tuple(c for c in rows.columns if c.name not in gone),
                sides=tuple(c for c in rows.sides if c.name not in gone),
                clusters=tuple(c for c in rows.clusters if c.name not in gone),
            ),
            self,
        )

    @checked
    def select(
        self,
        *,
        objects: Sequence[Label] | None = None,
        where: Mapping[str, Sequence[Label] | Label] | None = None,
    ) -> Comparisons:
        """Return the part of the table with some objects, and with some values of covariates or clusters.

        Parameters
        ----------
        objects : sequence of labels, optional
            Keep comparisons between these objects.
        where : mapping, optional
            Covariate or cluster → the value or values to keep.

        Notes
        -----
        Objects without remaining comparisons are dropped; the notes of the result name them.
        """
        rows = lines_of(self)
        keep = np.ones(len(rows.counts), dtype=bool)
        if objects is not None:
            wanted = set(known(objects, self.objects, "objects"))
            chosen = np.array([o in wanted for o in self.objects])
            keep &= chosen[rows.pairs].all(axis=1)
        for name, values in (where or {}).items():
            keep &= matching(self.named(name), values, (*rows.columns, *rows.clusters))
        if not keep.any():
            raise JudgmentError("no comparison is left: objects= or where= excludes every row.")
        return tabulate(rows.take(keep), self)

    def drop_empty(self) -> Comparisons:
        """Return the table without comparisons that have no judgments; the notes count them."""
        empty = int((self.totals == 0).sum())
        if not empty:
            return self
        lines = lines_of(self)
        table = tabulate(lines.take(lines.counts.sum(axis=1) > 0), self)
        return replace(table, notes=(*table.notes, f"left out: {counted(empty, 'comparison')} without a judgment"))

    @checked
    def drop_ties(self) -> Comparisons:
        """Return the table without ties and without a tie category; a note counts the ties that were dropped."""
        if not self.has_ties:
            return self
        return self._without_ties(0.0, f"{_ties(self)} were dropped (drop_ties)")

    @checked
    def split_ties(self) -> Comparisons:
        """Return the table with each tie as half a win for each side, without a tie category.

        Standard errors of a fit to this table are conservative, because half wins vary less than the likelihood
        assumes. A note in every summary says so.
        """
        if not self.has_ties:
            return self
        note = Qualifying(
            f"{_ties(self)} count as half a win for each side (split_ties): standard errors are conservative."
        )
        return self._without_ties(0.5, note)

    def collapse(self) -> Comparisons:
        """Return the table with the outcomes win, tie and loss only; the notes name the outcomes that were merged.

        All grades of a win count as a win, and "both bad" counts as a tie. A scale without a middle gives a table
        without a tie category.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> counts = {"object_i": ["A"], "object_j": ["B"], "i+": [4], "i": [3], "tie": [2], "j": [5], "j+": [1]}
        >>> llbt.from_counts(pd.DataFrame(counts), grades=("i+", "i", "tie", "j", "j+")).collapse().to_frame()
          object_i object_j  wins_i  ties  wins_j
        0        A        B       7     2       6
        """
        if self.response in (TWO, THREE):
            return self
        sign = np.sign(self.response.loadings[:, 0])
        outcomes = np.array(self.response.outcomes)
        parts = [listed(tuple(outcomes[sign == k].tolist())) for k in (1, 0, -1) if (sign == k).any()]
        merge = (sign[:, None] == [1, 0, -1]).astype(np.float64)
        by_cluster = self.cluster_counts
        what = "grades were" if self.response.grades else "undecided outcomes were"
        return replace(
            self,
            counts=self.counts @ merge,
            response=THREE if (sign == 0).any() else TWO,
            cluster_counts=by_cluster and replace(by_cluster, counts=by_cluster.counts @ merge),
            notes=(*self.notes, f"{what} merged (collapse): {' | '.join(parts)}"),
        )

    def _without_ties(self, share: float, note: str) -> Comparisons:
        check_three(self)

        def moved(counts: FloatArray) -> FloatArray:
            half = share * counts[:, 1]
            return np.column_stack([counts[:, 0] + half, np.zeros(len(counts)), counts[:, 2] + half])

        by_cluster = self.cluster_counts
        return replace(
            self,
            counts=moved(self.counts),
            response=TWO,
            cluster_counts=by_cluster and replace(by_cluster, counts=moved(by_cluster.counts)),
            notes=(*self.notes, note),
        )

    def table(self) -> Table:
        """Return the table in its printed form: sizes, then the first rows."""
        frame = self.to_frame()
        return Table(
            fields=tuple(
                Field(name, name, list(frame[name]), "count" if name in self.count_columns else "text")
                for name in frame.columns
            ),
            title=f"Comparisons: {', '.join(self.sizes())}",
            head=tuple(_head_lines(self)),
            notes=self.notes,
        ).first(20)

    def sizes(self) -> list[str]:
        """Return the numbers of objects, comparisons, judgments and ties as phrases, for a printout's first line."""
        ties = f"{_share_of_ties(self)} ties" if self.has_ties else "no tie category"
        ties += f", {format_percent(self.n_bad / self.n_judgments)} both bad" if self.response.has_bad else ""
        return [
            f"{format_count(len(self.objects))} objects",
            counted(len(self), "comparison"),
            f"{counted(self.n_judgments, 'judgment')} ({ties})",
        ]


def check_three(c: Comparisons) -> None:
    """Raise for a table with grades or other outcomes, if a function understands only wins, ties and losses."""
    if c.response not in (TWO, THREE):
        problem = f"the outcomes of a judgment are {listed(c.response.outcomes)}"
        merge = f"c.collapse() {'merges the grades' if c.response.grades else 'counts both bad as a tie'}"
        raise JudgmentError(problem, expected=f"a table of wins, ties and losses; {merge}")


def tabulate(lines: Lines, like: Comparisons) -> Comparisons:
    """Sum lines to a table in standard order, with all other fields from `like`.

    In each pair the smaller object comes first, unless the order is kept. Rows are sorted by objects, then covariates.
    Objects of `like` that no line mentions are dropped, and a note names them.
    """
    lines = lines if like.keeps_order else lines.oriented(like.response)
    pairs, used = dense(lines.pairs, len(like.objects))
    lines = replace(lines, pairs=pairs)
    first, group = groups(lines.keys())
    rows = slice(None) if np.array_equal(first, np.arange(len(group))) else first  # usually lines are in order already
    gone = [like.objects[k] for k in np.setdiff1d(np.arange(len(like.objects)), used)]
    note = (f"{counted(len(gone), 'object')} left without comparisons: {listed(gone)}",) if gone else ()
    return replace(
        like,
        objects=tuple(like.objects[k] for k in used),
        pairs=lines.pairs[rows],
        counts=lines.counts[rows] if len(first) == len(group) else summed(lines.counts, group, len(first)),
        columns=tuple(c.take(rows) for c in lines.columns),
        sides=tuple(c.take(rows) for c in lines.sides),
        object_columns=tuple(c.take(used) for c in like.object_columns),
        cluster_counts=_cluster_counts(lines, group),
        notes=(*like.notes, *note),
    )


def lines_of(c: Comparisons) -> Lines:
    """Return the most detailed lines of a table: by cluster, if it has clusters."""
    by_cluster = c.cluster_counts
    if by_cluster is None:
        return Lines(c.pairs, c.counts, c.columns, c.sides)
    spread = Lines(c.pairs, c.counts, c.columns, c.sides).take(by_cluster.rows)
    return replace(spread, counts=by_cluster.counts, clusters=by_cluster.columns)


def _cluster_counts(lines: Lines, group: IntArray) -> ClusterCounts | None:
    if not lines.clusters:
        return None
    first, line = groups([group, *(c.codes for c in lines.clusters)])
    columns = tuple(c.take(first) for c in lines.clusters)
    return ClusterCounts(group[first], columns, summed(lines.counts, line, len(first)))


def _ties(c: Comparisons) -> str:
    return f"{format_count(c.n_ties)} ties ({_share_of_ties(c)} of the judgments)"


def _share_of_ties(c: Comparisons) -> str:
    return format_percent(c.n_ties / c.n_judgments)


def _head_lines(c: Comparisons) -> list[str]:
    lines = ["object_i was shown first"] if c.keeps_order else []
    lines += [f"clusters beside the counts: {', '.join(c.clusters)}"] if c.clusters else []
    lines += [f"object covariates: {', '.join(c.object_covariates)}"] if c.object_covariates else []
    return lines
