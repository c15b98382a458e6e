"""Rankings and best-worst sets: objects that were shown together, completely or partly ordered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, NotNegative, checked
from ..base.budgets import refuse_large
from ..base.table import Field, Qualifying, Record, Table, counted, format_count
from ..errors import JudgmentError, OptionError, listed
from .columns import (
    MOST_COUNTED,
    Coded,
    FloatArray,
    IntArray,
    Label,
    Lines,
    as_objects,
    dense,
    groups,
    inferable,
    tallied,
)
from .comparisons import Comparisons, tabulate
from .counts import check_names, n_columns
from .grades import rising
from .implied_pairs import implied_pairs, outcomes_of_pairs
from .response import THREE, TWO

Kind = Literal["ranking", "best_worst"]

_COLUMNS = 12  # numbers in memory for each pair of a list until it is counted
_ENTRIES = 4_000_000  # pairs of objects of lists that are made at once
_TOLD = {
    "ranking": "higher beats lower, shared places are ties",
    "best_worst": "the best beats all, all beat the worst",
}


@dataclass(frozen=True, repr=False, eq=False)
class Rankings(Record):
    """Rankings or best-worst sets, each an ordered list of objects. L lists with N entries of J objects.

    Usually made by `from_rankings`, `from_ratings` or `from_choices`. Equal lists with equal covariates are stored once
    and counted.

    Attributes
    ----------
    objects : tuple
        The J objects, sorted.
    items : ndarray of int, shape (N,)
        The objects of the lists, one list after another. Within a list, objects stand in order of their places, and
        objects without a place come last.
    places : ndarray of int, shape (N,)
        1 for the best, 2 for the next, …, equal for tied objects; 0 for objects that were shown and not ranked, which
        are below all others. In best-worst sets the best has 1, the worst 2, and all others 0.
    starts : ndarray of int, shape (L + 1,)
        Where each list begins, and where the last one ends.
    counts : ndarray, shape (L,)
        The number of times each list was given.
    kind : {"ranking", "best_worst"}
    columns, cluster_columns : tuple of Coded, each (L,)
        Covariates and clusters of the lists.
    object_columns : tuple of Coded, each (J,)
    notes : tuple of str
        Notes on data that were left out.
    ratings : ndarray, shape (N,), or None
        The ratings that the places come from; None if objects were ranked or chosen.
    unkept : tuple of str
        Columns of the user's frame that were not kept.
    unit : str
        The column to keep as a cluster if pairs of lists are fitted: the judge, the column that identifies lists, or
        ``block``; empty if lists have no columns.

    Raises
    ------
    JudgmentError
        For an object twice in a list, counts that are not positive, ratings that are not finite, ratings together with
        unranked objects, and names that are reserved or used twice.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> wide = pd.DataFrame({"A": [1, 2, 1], "B": [2, 1, 1], "C": [3, 3, 2]})
    >>> r = llbt.from_rankings(wide, objects=["A", "B", "C"])
    >>> len(r), r.n_judgments, r.largest_tie
    (3, 3, 2)
    """

    _made_by: ClassVar[str] = "llbt.from_rankings(…), llbt.from_ratings(…) or llbt.from_choices(…)"
    _pairs: ClassVar[type] = Comparisons  # the type that to_comparisons() returns
    _unanswered: ClassVar[Mapping[str, tuple[str, str]]] = {
        "judges.classes": (
            "data are rankings, but latent classes need comparisons",
            "Fit the rankings without classes, llbt.fit(formula, rankings), or split the judges by covariates, "
            "llbt.judges.tree(formula, rankings, by='judge').",
        )
    }

    objects: tuple[Label, ...]
    items: IntArray
    places: IntArray
    starts: IntArray
    counts: FloatArray
    kind: Kind = "ranking"
    columns: tuple[Coded, ...] = ()
    cluster_columns: tuple[Coded, ...] = ()
    object_columns: tuple[Coded, ...] = ()
    notes: tuple[str, ...] = ()
    ratings: FloatArray | None = None
    unkept: tuple[str, ...] = ()
    unit: str = ""

    def __post_init__(self) -> None:
        names = (*self.covariates, *self.clusters, *self.object_covariates)
        rated = set() if self.ratings is None else {"rating", "ratings"}
        check_names(names, (), {"list", "place", "count", "ranking"} | rated)
        total = float(self.counts.sum())
        if not (np.all(self.counts > 0) and 0 < total < MOST_COUNTED):
            raise JudgmentError(
                f"the counts of the lists add up to {total:g}, or some are not positive",
                expected="positive and finite counts, below 2**53 in all",
            )
        first, _ = groups([self.lists, self.items])
        if len(first) < len(self.items):
            twice = np.setdiff1d(np.arange(len(self.items)), first)[0]
            raise JudgmentError(
                f"{self.objects[self.items[twice]]!r} occurs twice in list {self.lists[twice]}",
                expected="each object once in a list",
            )
        if self.ratings is not None and not (np.isfinite(self.ratings).all() and (self.places > 0).all()):
            raise JudgmentError(
                "some ratings are not finite, or a rated object has no place",
                expected="a finite rating, and a place, for each object",
            )
        for array in (self.items, self.places, self.starts, self.counts, self.ratings):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def sizes(self) -> IntArray:
        """Objects shown in each list, shape (L,)."""
        return np.diff(self.starts)

    @property
    def lists(self) -> IntArray:
        """The list of each entry, shape (N,)."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.starts))

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates of the lists."""
        return tuple(column.name for column in self.columns)

    @property
    def clusters(self) -> tuple[str, ...]:
        """Names of the clusters of the lists."""
        return tuple(column.name for column in self.cluster_columns)

    @property
    def object_covariates(self) -> tuple[str, ...]:
        """Names of the columns of the object table."""
        return tuple(column.name for column in self.object_columns)

    @property
    def n_judgments(self) -> float:
        """Number of lists, counting repeated ones (an int if it is whole)."""
        total = float(self.counts.sum())
        return int(total) if total.is_integer() else total

    @property
    def tied(self) -> IntArray:
        """The number of objects in each place that is taken, shape (number of places,)."""
        if self.kind == "best_worst":
            return np.ones(2 * len(self), dtype=np.int64)
        ranked = self.places > 0
        _, place = groups([self.lists[ranked], self.places[ranked]])
        return np.bincount(place)

    @property
    def tied_share(self) -> float:
        """Share of the places that hold several tied objects; repeated lists are counted each time."""
        if self.kind == "best_worst":
            return 0.0
        ranked = np.flatnonzero(self.places > 0)
        of = self.lists[ranked]
        first, place = groups([of, self.places[ranked]])
        return float(np.average(np.bincount(place) > 1, weights=self.counts[of[first]]))

    @property
    def largest_tie(self) -> int:
        """The largest number of objects in one place; 1 without ties."""
        return int(self.tied.max(initial=1))

    def of_size(self) -> Iterator[tuple[int, IntArray]]:
        """Yield each size of lists, and the lists of that size."""
        for size in np.unique(self.sizes):
            yield int(size), np.flatnonzero(self.sizes == size)

    def entries_of(self, some: IntArray, size: int) -> IntArray:
        """Return the entries of some lists of one size, shape (Q, size)."""
        return np.asarray(self.starts[some][:, None] + np.arange(size))

    @checked
    def to_comparisons(
        self, *, tie_threshold: NotNegative = 0.0, cuts: Annotated[Sequence[float], JUDGED_INSIDE] = ()
    ) -> Comparisons:
        """Return the comparisons that the lists imply: each object of a list against each other object.

        Two objects of a list that both have no place are not compared.

        Parameters
        ----------
        tie_threshold : float
            For ratings: two objects are tied if their ratings differ by at most this. A relative difference of 1e-12
            counts as rounding, so 0.8 and 0.7 are tied at 0.1.
        cuts : sequence of float
            For ratings: differences beyond which a preference has the next grade. They have to increase, and to be
            larger than `tie_threshold`. With ``(2,)`` a difference of more than 2 is a strong preference, a smaller one
            a slight one. Without cuts there is one grade.

        Returns
        -------
        Comparisons
            With the covariates, clusters and object covariates of the lists.

        Raises
        ------
        OptionError
            For a threshold or cuts if objects were not rated, and for cuts that do not increase from the threshold.
        JudgmentError
            If no list compares two objects.

        Notes
        -----
        A ranking of k objects counts as k(k − 1)/2 judgments, but these are not independent: with k objects of equal
        worth, ranked without ties, the wins of one have (k + 1)/3 times the variance of independent judgments (the
        variance of a rank, (k² − 1)/12, over (k − 1)/4). Estimates are consistent; standard errors and tests of a plain
        fit are too optimistic. Fit the lists themselves with `fit`; or keep the block (or the judge) in `clusters`, and
        fit the comparisons with ``cov_type="cluster"``.

        With a threshold, ties are not transitive: of the ratings 1, 2 and 3, only 1 and 3 differ by more than 1. The
        model takes one pair at a time and needs no transitivity. Grades made by `cuts` are differences of one judge's
        ratings, so they depend on each other, and a note always says so.

        References
        ----------
        .. [1] Dittrich, R., Katzenbeisser, W. and Reisinger, H. (2000). The analysis of rank ordered preference data
           based on Bradley-Terry type models. OR Spektrum 22, 117-134.
        .. [2] Dittrich, R., Francis, B., Hatzinger, R. and Katzenbeisser, W. (2007). A paired comparison approach for
           the analysis of sets of Likert-scale responses. Statistical Modelling 7, 3-28.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> wide = pd.DataFrame({"A": [1, 2, 1], "B": [2, 1, 1], "C": [3, 3, 2]})
        >>> llbt.from_rankings(wide, objects=["A", "B", "C"]).to_comparisons().to_frame()
          object_i object_j  wins_i  ties  wins_j
        0        A        B       1     1       1
        1        A        C       3     0       0
        2        B        C       3     0       0
        >>> ratings = pd.DataFrame({"A": [5, 2], "B": [4, 4], "C": [1, 5]})
        >>> llbt.from_ratings(ratings, objects=["A", "B", "C"]).to_comparisons(cuts=(2,)).to_frame()
          object_i object_j  i+  i  j  j+
        0        A        B   0  1  1   0
        1        A        C   1  0  0   1
        2        B        C   1  0  1   0
        """
        bounds = self._bounds(tie_threshold, cuts)
        refuse_large(
            f"making all pairs of lists of up to {int(self.sizes.max()):,} objects",
            _COLUMNS * float((self.sizes * (self.sizes - 1.0) / 2).sum()),
            "Take lists of fewer objects: from_rankings(…, objects=[…]).",
            JudgmentError,
        )
        implied = [_implied(self, some, size, bounds) for size, some in _in_parts(self)]
        i, j, wins, sizes, of = (np.concatenate(parts) for parts in zip(*implied, strict=True))
        if not len(i):
            raise JudgmentError("no list compares two objects", expected="a list in which two objects have places")
        outcome, response, unused = outcomes_of_pairs(wins, sizes, bounds)
        columns = (*self.columns, *self.cluster_columns)
        codes, counts = tallied([i, j, *(c.codes[of] for c in columns)], outcome, self.counts[of], n_columns(response))
        rest = [replace(c, codes=code) for c, code in zip(columns, codes[2:], strict=True)]
        own_columns = len(self.columns)
        lines = Lines(np.column_stack(codes[:2]), counts, tuple(rest[:own_columns]), (), tuple(rest[own_columns:]))
        like = Comparisons(
            self.objects,
            lines.pairs,
            lines.counts,
            response=TWO if response == THREE and not counts[:, 1].any() else response,
            object_columns=self.object_columns,
            notes=(*self.notes, *self._notes_on_pairs(float(counts.sum()), graded=len(bounds) > 1), *unused),
            unkept=self.unkept,
        )
        return tabulate(lines, like)

    def _bounds(self, tie_threshold: float, cuts: Sequence[float]) -> tuple[float, ...]:
        """Return the differences of ratings beyond which a preference has the next grade, the smallest first.

        Empty if only the order of the objects counts.
        """
        given = [f"tie_threshold={tie_threshold:g}"] if tie_threshold else []
        grades = rising(cuts, tie_threshold, "tie_threshold")
        given += [f"cuts={grades}"] if grades else []
        if given and self.ratings is None:
            raise OptionError(
                f"{given[0]} needs ratings, and the lists have none",
                "Leave it out: rankings.to_comparisons(); ratings are read by llbt.from_ratings(…).",
            )
        return (tie_threshold, *grades) if given else ()

    def _notes_on_pairs(self, n: float, *, graded: bool) -> list[str]:
        """Return notes on the implied comparisons and their dependence."""
        pairs_text = "each object against each other one" if self.ratings is not None else _TOLD[self.kind]
        notes = [f"{counted(n, 'judgment')} implied by {counted(self.n_judgments, 'list')}: {pairs_text}"]
        if graded or self.sizes.max() > 2:
            what = "Differences of one judge's ratings" if graded else "Judgments implied by one list"
            notes.append(
                Qualifying(
                    f"{what} are not independent: standard errors and tests of a plain fit are too optimistic. Fit "
                    f"the lists, llbt.fit(formula, rankings){self._clustering()}."
                )
            )
        return notes

    def _clustering(self) -> str:
        """Return how to fit the comparisons with clusters, to end a note; empty if no column identifies clusters."""
        columns = (*self.clusters, *(name for name in self.covariates if name == self.unit))
        if not columns and not self.unit:
            return ""
        group = columns[0] if columns else self.unit
        keeping = "" if columns else f"pass clusters={group!r} when you read the lists, and "
        return f"; or {keeping}fit the comparisons with cov_type='cluster', groups={group!r}"

    def to_frame(self) -> pd.DataFrame:  # type: ignore[override]  # of data, which broom does not have
        """Return one row per entry: list, object, place (NA for unranked objects), count, covariates.

        If objects were rated, their ratings stand next to the places.
        """
        of = self.lists
        place = pd.array(self.places, dtype="Int64")
        place[self.places == 0] = pd.NA
        whole = np.all(self.counts == np.floor(self.counts))
        counts = self.counts.astype(np.int64) if whole else self.counts
        data: dict[str, Any] = {
            "list": of,
            "object": inferable(as_objects(self.objects)[self.items]),
            "place": place,
            **({} if self.ratings is None else {"rating": self.ratings}),
            "count": counts[of],
        }
        data |= {c.name: inferable(c.values[of]) for c in (*self.columns, *self.cluster_columns)}
        return pd.DataFrame(data)

    def table(self) -> Table:
        """Return the lists in their printed form: sizes, then the first lists, with ties joined by ``=``."""
        columns = (*self.columns, *self.cluster_columns)
        some = range(min(len(self), 20))
        fields = [
            Field("ranking", "ranking", [list_text(self, k) for k in some]),
            *([] if self.ratings is None else [Field("ratings", "ratings", [_ratings_text(self, k) for k in some])]),
            Field("count", "count", self.counts[: len(some)], "count"),
            *(Field(c.name, c.name, c.values[: len(some)].tolist()) for c in columns),
        ]
        more = len(self) - len(some)
        notes = (*self.notes, *([f"{format_count(more)} more lists"] if more else []))
        return Table(tuple(fields), title=f"Rankings: {', '.join(self.size_texts())}", notes=notes)

    def size_texts(self) -> list[str]:
        """Return the numbers of objects and lists, and the lists' lengths, as phrases for a printout's first line."""
        low, high = int(self.sizes.min()), int(self.sizes.max())
        tie = self.largest_tie
        what = "sets with a best and a worst" if self.kind == "best_worst" else "lists"
        ties = f"up to {tie} tied in a place" if tie > 1 else "no ties"
        return [
            f"{format_count(len(self.objects))} objects",
            f"{format_count(self.n_judgments)} {what} of {low if low == high else f'{low} to {high}'}",
            *([ties] if self.kind == "ranking" else []),
        ]


def list_text(r: Rankings, k: int) -> str:
    """Return a list as text, such as ``A > B = C > (D, E)``."""
    inside = slice(r.starts[k], r.starts[k + 1])
    labels, places = [str(r.objects[o]) for o in r.items[inside]], r.places[inside]
    if r.kind == "best_worst":
        return f"{labels[0]} > ({', '.join(labels[2:])}) > {labels[1]}" if len(labels) > 2 else " > ".join(labels)
    in_order = [
        " = ".join(label for label, at in zip(labels, places, strict=True) if at == place)
        for place in range(1, int(places.max()) + 1)
    ]
    rest = [label for label, at in zip(labels, places, strict=True) if at == 0]
    return " > ".join([*in_order, *([f"({', '.join(rest)})"] if rest else [])])


def _ratings_text(r: Rankings, k: int) -> str:
    """Return the ratings of a list from the best object to the worst, such as ``5, 4, 4``."""
    assert r.ratings is not None
    return ", ".join(f"{rating:g}" for rating in r.ratings[r.starts[k] : r.starts[k + 1]])


def gathered_rankings(
    objects: tuple[Label, ...],
    lists: IntArray,
    items: IntArray,
    places: IntArray,
    *,
    kind: Kind = "ranking",
    columns: tuple[Coded, ...] = (),
    cluster_columns: tuple[Coded, ...] = (),
    object_columns: tuple[Coded, ...] = (),
    counts: FloatArray | None = None,
    notes: tuple[str, ...] = (),
    ratings: FloatArray | None = None,
    unkept: tuple[str, ...] = (),
    unit: str = "",
) -> Rankings:
    """Return lists made from entries in any order; uninformative lists are left out, and equal lists are counted.

    Parameters
    ----------
    lists, items, places : ndarray of int, each (N,)
        List, object and place of each entry. Places may have gaps; 0 means no place.
    columns, cluster_columns : tuple of Coded, each (number of lists,)
    counts : ndarray, shape (number of lists,), optional
        The number of times each list was given; by default once.
    ratings : ndarray, shape (N,), optional
        The ratings that the places come from.
    unkept, unit
        As in `Rankings`.

    Raises
    ------
    JudgmentError
        If no list is informative.
    """
    size = int(lists.max(initial=-1)) + 1
    n = np.ones(size) if counts is None else counts
    shown, ranked = np.bincount(lists, minlength=size), np.bincount(lists, places > 0, minlength=size)
    silent = (shown < 2) | (ranked < 1)
    informative = ~silent[lists]
    if not informative.any():
        raise JudgmentError(
            f"no list compares two objects: {counted(size, 'list')}", expected="a list of two objects, one with a place"
        )
    alone, unplaced = int(n[(shown == 1)].sum()), int(n[(shown > 1) & (ranked < 1)].sum())
    omitted = [f"left out: {counted(alone, 'list')} of a single object"] if alone else []
    omitted += [f"left out: {counted(unplaced, 'list')} without any place"] if unplaced else []
    items, used = dense(items[informative], len(objects))
    gone = [objects[k] for k in np.setdiff1d(np.arange(len(objects)), used)]
    omitted += [f"{counted(len(gone), 'object')} left without lists: {listed(gone)}"] if gone else []
    lists, _ = dense(lists[informative], size)
    of = np.flatnonzero(~silent & (shown > 0))
    places = places[informative]
    order = np.lexsort((items, np.where(places == 0, np.iinfo(np.int64).max, places), lists))
    values = None if ratings is None else ratings[informative][order]
    lists, items, places = lists[order], items[order], _stepped(lists[order], places[order])
    every = tuple(c.take(of) for c in (*columns, *cluster_columns))
    first, group = _distinct(lists, [items, places, *_numbered(values)], every)
    entries = np.isin(lists, first)
    starts = np.concatenate([[0], np.cumsum(np.bincount(lists, minlength=len(of))[first])])
    return Rankings(
        objects=tuple(objects[k] for k in used),
        items=items[entries],
        places=places[entries],
        starts=starts,
        counts=np.bincount(group, n[of], minlength=len(first)).astype(np.float64),
        kind=kind,
        columns=tuple(c.take(first) for c in every[: len(columns)]),
        cluster_columns=tuple(c.take(first) for c in every[len(columns) :]),
        object_columns=tuple(c.take(used) for c in object_columns),
        notes=(*notes, *omitted),
        ratings=None if values is None else values[entries],
        unkept=unkept,
        unit=unit,
    )


def _numbered(ratings: FloatArray | None) -> list[IntArray]:
    """Return ratings as a list with one array of codes, equal for equal ratings; an empty list without ratings."""
    return [] if ratings is None else [np.unique(ratings, return_inverse=True)[1]]


def _stepped(lists: IntArray, places: IntArray) -> IntArray:
    """Return the places of sorted entries without gaps; 0 stays 0."""
    new = np.append(True, (lists[1:] != lists[:-1]) | (places[1:] != places[:-1]))
    begin = np.append(True, lists[1:] != lists[:-1])
    steps = np.cumsum(new)
    stepped = steps - (steps[begin] - 1)[np.cumsum(begin) - 1]
    return np.where(places == 0, 0, stepped)


def _distinct(lists: IntArray, entries: Sequence[IntArray], columns: tuple[Coded, ...]) -> tuple[IntArray, IntArray]:
    """Return the first of each group of equal lists, in the order of the lists, and each list's group.

    Parameters
    ----------
    lists : ndarray of int, shape (N,)
    entries : sequence of ndarray of int, each (N,)
        Values that lists must share entry by entry.
    columns : tuple of Coded, each (L,)
    """
    sizes = np.bincount(lists)
    starts = np.cumsum(sizes) - sizes
    group, number = np.empty(len(sizes), dtype=np.int64), 0
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        at = starts[some][:, None] + np.arange(size)
        keys = [*(column for codes in entries for column in codes[at].T), *(c.codes[some] for c in columns)]
        first, same = groups(keys)
        group[some] = number + same
        number += len(first)
    _, first = np.unique(group, return_index=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[group]


def _in_parts(r: Rankings) -> Iterator[tuple[int, IntArray]]:
    """Yield parts of the lists of one size, small enough for their pairs to fit into memory."""
    for size, some in r.of_size():
        most = max(1, _ENTRIES // (size * size))
        for begin in range(0, len(some), most):
            yield size, some[begin : begin + most]


def _implied(
    r: Rankings, some: IntArray, size: int, bounds: tuple[float, ...]
) -> tuple[IntArray, IntArray, npt.NDArray[np.int8], FloatArray, IntArray]:
    """Return the pairs that some lists of one size imply, in the form of `implied_pairs`, and the list of each."""
    entries = r.entries_of(some, size)
    ratings = None if r.ratings is None else r.ratings[entries]
    places = r.places[entries]
    ranks = ranks_in_lists(places, r.kind)
    i, j, wins, sizes, row = implied_pairs(r.items[entries], ranks, places > 0, ratings, bounds)
    return i, j, wins, sizes, some[row]


def ranks_in_lists(places: IntArray, kind: Kind) -> IntArray:
    """Return the values that order the objects of a list, the lowest being the best."""
    if kind == "best_worst":
        return np.asarray(np.where(places == 0, 2, np.where(places == 2, 3, 1)))
    return np.asarray(np.where(places == 0, np.iinfo(np.int64).max, places))
