"""Elo ratings in the order of the judgments, with earlier ratings as a start, and their history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from ..base.arguments import JUDGED_INSIDE, Positive, checked, is_real
from ..base.table import Field, Record, Table, counted, format_number
from ..core.columns import FloatArray, IntArray, Label, as_objects
from ..core.judgments import Judgments
from ..data.judge_columns import read_judged
from ..errors import DesignError, OptionError, kind_of, listed

Start = Annotated[float | Mapping[Label, float], JUDGED_INSIDE]

_MOST_ROWS = 60
_PASTED = 3  # objects without a rating that a remedy names


@dataclass(frozen=True, repr=False, eq=False)
class EloHistory(Record):
    """Elo ratings of N objects after R judgments in their order.

    Attributes
    ----------
    objects : tuple, length N
        All objects with judgments or an earlier rating.
    start, estimate : ndarray, shape (N,)
        Ratings before the first judgment and after the last.
    judgments : ndarray, shape (N,)
        Number of judgments of each object.
    pairs : ndarray of int, shape (R, 2)
        Positions of objects i and j of each judgment, in the order of play.
    after : ndarray, shape (R, 2)
        The ratings of both objects after the judgment.
    times : Series of length R, or None
        When each judgment was made.
    time : str or None
        The column with the times.
    k, points : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.scores.elo_history(…)"

    objects: tuple[Label, ...]
    start: FloatArray
    estimate: FloatArray
    judgments: IntArray
    pairs: IntArray
    after: FloatArray
    times: pd.Series[Any] | None
    time: str | None
    k: float
    points: float
    notes: tuple[str, ...] = ()

    @property
    def ratings(self) -> dict[Label, float]:
        """The last rating of each object. ``start=history.ratings`` continues from it."""
        return dict(zip(self.objects, self.estimate.tolist(), strict=True))

    def table(self) -> Table:
        """Return object, estimate, rank, start and judgments, the best first."""
        order = np.argsort(-self.estimate, kind="stable")
        in_order = f", in the order of {self.time}" if self.time is not None else ", in the order of the rows"
        return Table(
            (
                Field("object", "Object", [self.objects[k] for k in order]),
                Field("estimate", "Rating", self.estimate[order], "estimate", 6),
                Field("rank", "Rank", rankdata(-self.estimate, method="min")[order], "count"),
                Field("start", "Start", self.start[order], "estimate", 6),
                Field("judgments", "Judgments", self.judgments[order], "count"),
            ),
            title="Elo ratings in order of play",
            head=(
                f"{counted(len(self.pairs), 'judgment')}{in_order}; k {self.k:g}, "
                f"{self.points:g} points are odds of ten to one",
            ),
            notes=self.notes,
        )

    def path(self) -> Table:
        """Return the ratings of both objects after each judgment: two rows per judgment, in the order of the judgments.

        Columns judgment (1 is the first), the column of `time` if there is one, object, estimate.
        """
        labels = as_objects(self.objects)[self.pairs.ravel()]
        when = [] if self.times is None else [Field(str(self.time), str(self.time), np.repeat(self.times.array, 2))]
        return Table(
            (
                Field("judgment", "Judgment", np.repeat(np.arange(1, len(self.pairs) + 1), 2), "count"),
                *when,
                Field("object", "Object", labels),
                Field("estimate", "Rating", self.after.ravel(), "estimate", 6),
            ),
            title="Elo ratings after each judgment",
        ).first(_MOST_ROWS)


@checked
def elo_history(
    data: object, *, start: Start = 1500.0, time: str | None = None, k: Positive = 20.0, points: Positive = 400.0
) -> EloHistory:
    """Return Elo ratings in order of play, updated after each judgment.

    Use it for a leaderboard that is updated day by day. The ratings depend on the order of the judgments;
    ``scores.aggregate(…, method="elo")`` averages over random orders.

    Parameters
    ----------
    data : Judgments, frame, path or list of records
        Judgments in any form that `read_judgments` reads.
    start : float or mapping
        The rating with which all objects begin; or a mapping from objects to ratings, such as ``history.ratings`` of
        earlier judgments. It must have all judged objects; other objects keep their ratings.
    time : str, optional
        A column to sort by. Judgments of the same time stay in the order of their rows. By default, the order of the
        rows.
    k : float
        The largest number of points by which one judgment can change a rating.
    points : float
        The difference in points at which the odds are ten to one.

    Returns
    -------
    EloHistory
        object, estimate, rank, start, judgments. ``path()`` has both ratings after each judgment, ``ratings`` the last
        ratings as a mapping.

    Raises
    ------
    JudgmentError
        For a table of counts, which has no order, and for weights other than 1. Also if `time` is not a column, or
        lacks a value in some row.
    OptionError
        For a start that is not a number, or that lacks some of the judged objects.
    DesignError
        If ratings leave the range of numbers.

    Notes
    -----
    r_i ← r_i + k(s − 1/(1 + 10^((r_j − r_i)/points))) with s = 1 if i was preferred, ½ for a tie and for "both bad",
    and 0 if j was preferred; r_j loses what r_i gains.

    References
    ----------
    Elo, A. E. (1978). The rating of chessplayers, past and present. Arco.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> days = pd.DataFrame({"object_i": ["A", "B", "A"], "object_j": ["B", "C", "C"], "outcome": ["i", "tie", "j"]})
    >>> history = llbt.scores.elo_history(days)
    >>> {label: round(rating, 3) for label, rating in history.ratings.items()}
    {'A': 1499.704, 'B': 1490.288, 'C': 1510.008}
    >>> history.path().to_frame().round(3)
       judgment object  estimate
    0         1      A  1510.000
    1         1      B  1490.000
    2         2      B  1490.288
    3         2      C  1499.712
    4         3      A  1499.704
    5         3      C  1510.008
    >>> next_day = llbt.scores.elo_history(days.head(1), start=history.ratings)
    >>> round(next_day.ratings["A"], 3), round(next_day.ratings["C"], 3)
    (1509.433, 1510.008)
    """
    judged = read_judged(data)
    order = None if time is None else _order(judged, time)
    judged = judged if order is None else judged.take(order)
    objects, first = _starting(judged, start)
    after, last = _played(judged.pairs, judged.outcomes, first, float(k), float(points))
    return EloHistory(
        objects=objects,
        start=first,
        estimate=last,
        judgments=np.bincount(judged.pairs.ravel(), minlength=len(objects)),
        pairs=judged.pairs,
        after=after,
        times=None if time is None else judged.values(time),
        time=time,
        k=float(k),
        points=float(points),
        notes=judged.notes,
    )


def _order(judged: Judgments, time: str) -> IntArray:
    """Return the rows sorted by time; rows of the same time keep their order."""
    values = judged.values(time) if time in judged.columns else None
    if values is not None and not values.isna().any():
        if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
            return np.argsort(values.cat.codes.to_numpy(), kind="stable")
        if values.dtype.kind in "iufMm":
            return np.argsort(values.to_numpy(), kind="stable")
    return np.argsort(judged.column(time, "time").codes, kind="stable")


def _starting(judged: Judgments, start: Start) -> tuple[tuple[Label, ...], FloatArray]:
    """Return all objects that have a rating, with the judged objects first, and their ratings at the start."""
    if is_real(start):
        _check_rating(start, "start")
        return judged.objects, np.full(len(judged.objects), float(start))
    if not isinstance(start, Mapping):
        raise OptionError(f"start is {kind_of(start)}", expected="a number, or a mapping from objects to ratings")
    lacking = [label for label in judged.objects if label not in start]
    if lacking:
        some = ", ".join(f"{label!r}: 1500" for label in lacking[:_PASTED])
        more = ", …" if len(lacking) > _PASTED else ""
        raise OptionError(
            f"start has no rating of {listed(lacking)}",
            f"Add ratings of new objects: start={{**start, {some}{more}}}.",
            expected="a rating of each judged object",
        )
    for label, rating in start.items():
        _check_rating(rating, f"start of {label!r}")
    objects = (*judged.objects, *(label for label in start if label not in set(judged.objects)))
    return objects, np.array([float(start[label]) for label in objects])


def _check_rating(rating: object, what: str) -> None:
    if not is_real(rating) or not np.isfinite(float(rating)):
        raise OptionError(f"{what} is {rating!r}", expected="a finite number")


def _played(
    pairs: IntArray, outcomes: IntArray, start: FloatArray, k: float, points: float
) -> tuple[FloatArray, FloatArray]:
    """Return both ratings after each judgment, (R, 2), and all ratings after the last, (N,).

    Judgments are processed one by one, because each depends on the ones before. Lists are used, because they are five
    times as fast here as arrays.
    """
    ratings = start.tolist()
    after = []
    try:
        for i, j, outcome in zip(*pairs.T.tolist(), outcomes.tolist(), strict=True):
            expected = 1 / (1 + 10 ** ((ratings[j] - ratings[i]) / points))
            gained = k * (1 - outcome / 2 - expected)
            ratings[i] += gained
            ratings[j] -= gained
            after.append((ratings[i], ratings[j]))
    except OverflowError:
        raise DesignError(
            f"ratings of {format_number(max(map(abs, ratings)), 3)} left the range of numbers",
            "Pass a smaller k=, or more points=.",
            expected="rating differences of at most a few hundred times points=",
        ) from None
    return np.array(after), np.array(ratings)
