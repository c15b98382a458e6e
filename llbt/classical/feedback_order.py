"""The order of systems that contradicts the least weight of pairwise majorities."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ..base.arguments import checked, is_real
from ..base.table import Field, Record, Table, format_count, format_percent
from ..core.columns import FloatArray, IntArray, Label, as_objects
from ..errors import OptionError
from .pair_counts import Objects, pair_counts

_WHOLE = 1e-6  # how far from 0 or 1, and beyond a constraint, a solution of the solver may be


@dataclass(frozen=True, repr=False, eq=False)
class FeedbackOrder(Record):
    """An order of J systems, the best first.

    Attributes
    ----------
    objects : tuple, length J
    wins : ndarray, shape (J, J)
        Wins of the row over the column, in this order.
    violated : float
        Weight of the majorities that the order contradicts.
    bound : float
        A lower bound: no order contradicts less weight.
    optimal : bool
        Whether `violated` is certified as the minimum: the solver closed the gap to `bound`.
    notes : tuple of str
    """

    objects: tuple[Label, ...]
    wins: FloatArray
    violated: float
    bound: float
    optimal: bool
    notes: tuple[str, ...]

    @property
    def weights(self) -> FloatArray:
        """Majority of the row over the column, max(0, w_ij − w_ji), shape (J, J)."""
        return majorities(self.wins)

    def table(self) -> Table:
        """Return rank, object, violated (weight of the contradicted majorities of each object); the best first."""
        against = np.tril(self.weights)
        return Table(
            (
                Field("rank", "rank", list(range(1, len(self.objects) + 1)), "count"),
                Field("object", "object", list(self.objects)),
                Field("violated", "violated", against.sum(axis=0) + against.sum(axis=1), "count"),
            ),
            title="Minimum feedback order",
            head=(self._certificate(),),
            notes=(
                *self.notes,
                "Weight of a majority: wins minus losses. Violated: weight contradicted.",
                "Other orders may be equally good.",
            ),
        )

    def violations(self) -> Table:
        """Return the majorities that the order contradicts: object_i (ranked above), object_j (preferred), weight.

        The table also has wins_i and wins_j. The heaviest majorities come first.
        """
        below, above = np.nonzero(np.tril(self.weights))
        weight = self.weights[below, above]
        order = np.argsort(-weight, kind="stable")
        below, above, labels = below[order], above[order], as_objects(self.objects)
        return Table(
            (
                Field("object_i", "ranked above", labels[above].tolist()),
                Field("object_j", "preferred", labels[below].tolist()),
                Field("wins_i", "wins_i", self.wins[above, below], "count"),
                Field("wins_j", "wins_j", self.wins[below, above], "count"),
                Field("weight", "weight", weight[order], "count"),
            ),
            title="Majorities that the order contradicts",
        )

    def _certificate(self) -> str:
        total, number = self.weights.sum(), int((self.weights > 0).sum())
        share = f" ({format_percent(self.violated / total)})" if total else ""
        contradicted = int((np.tril(self.weights) > 0).sum())
        text = (
            f"Contradicted weight {format_count(self.violated)} of {format_count(total)}{share}, in "
            f"{format_count(contradicted)} of the {format_count(number)} pairwise majorities"
        )
        if self.optimal:
            return f"{text}: certified minimum (gap 0)"
        return f"{text}: not certified, no order is below {format_count(self.bound)}"


@checked
def feedback_order(data: object, *, exclude: Objects = (), time_limit: float = 60.0) -> FeedbackOrder:
    """Return an order of the objects that contradicts the least weight of pairwise majorities.

    Parameters
    ----------
    data : Comparisons, frame, path or list of records
        A table of counts, or judgments in any form that `read_judgments` reads. Counts are summed over covariates.
    exclude : label or sequence of labels
        Objects to leave out.
    time_limit : float
        Seconds after which the best order so far is returned, with a lower bound of the weight instead of a
        certificate.

    Returns
    -------
    FeedbackOrder
        rank, object, violated; the best first. ``violated``, ``bound`` and ``optimal`` show how good the order is;
        ``violations()`` has the majorities that it contradicts. The same data give the same order; another order may be
        equally good.

    Raises
    ------
    OptionError
        For a time limit that is not a positive number, and unknown objects in `exclude`.
    JudgmentError
        If no judgment is left.

    Notes
    -----
    The majority of i over j has the weight max(0, w_ij − w_ji); ties do not count (Lopez 2012). The order is a minimum
    feedback arc set of the graph of majorities. These orders also contradict the fewest judgments: in every order the
    two sums differ by Σ min(w_ij, w_ji).

    This is the linear ordering problem: x_ij = 1 where i stands before j, x_ij + x_ji = 1, 0 ≤ x_ij + x_jk − x_ik ≤ 1.
    Violated triangle inequalities are added, first to the linear relaxation, whose solution is often integer, then to
    the integer program (scipy's HiGHS, gap 0).

    References
    ----------
    Lopez, A. (2012). Putting human assessments of machine translation systems in order. WMT, 1-9. Grötschel, M.,
    Jünger, M. & Reinelt, G. (1984). A cutting plane algorithm for the linear ordering problem. Operations Research
    32(6), 1195-1220.

    Examples
    --------
    >>> import llbt
    >>> table = llbt.from_matrix([[0, 5, 1], [1, 0, 4], [3, 0, 0]], names=["A", "B", "C"])
    >>> order = llbt.classical.feedback_order(table)
    >>> order.objects, order.violated, order.optimal
    (('A', 'B', 'C'), 2.0, True)
    """
    if not is_real(time_limit) or not float(time_limit) > 0:
        raise OptionError(f"time_limit={time_limit!r}", expected="a number of seconds above 0")
    counts = pair_counts(data, exclude=exclude)
    order, bound = least_feedback(counts.wins, float(time_limit))
    wins = counts.wins[np.ix_(order, order)]
    violated = float(np.tril(majorities(wins)).sum())
    optimal = violated - bound <= _WHOLE * max(1.0, violated)
    notes = (
        counts.notes
        if majorities(wins).any()
        else (*counts.notes, "no pair has a majority, so no order can be preferred")
    )
    return FeedbackOrder(
        tuple(counts.objects[k] for k in order), wins, violated, violated if optimal else bound, optimal, notes
    )


def majorities(wins: FloatArray) -> FloatArray:
    """Return the weight of the majority of the row over the column, shape (J, J)."""
    return np.asarray(np.maximum(wins - wins.T, 0.0))


def least_feedback(wins: FloatArray, time_limit: float) -> tuple[IntArray, float]:
    """Return an order of least violated weight, best first (J,), and a lower bound of that weight.

    Parameters
    ----------
    wins : ndarray, shape (J, J)
        Wins of the row over the column.
    time_limit : float
        In seconds. If the solver finishes in time, the bound is the least weight itself.
    """
    size = len(wins)
    i, j = np.triu_indices(size, 1)
    cost = (wins.T - wins)[i, j]  # of i before j rather than j before i
    least = float(majorities(wins)[i, j].sum())  # what it costs to have every j before i
    until = time.monotonic() + time_limit
    triangles = np.empty((0, 3), dtype=np.int64)
    whole, bound, x = False, 0.0, (cost < 0).astype(np.float64)
    while True:
        broken = _broken(x, size, triangles)
        if not len(broken) and (whole or np.abs(x - np.round(x)).max(initial=0.0) < _WHOLE):
            break
        whole |= not len(broken)
        triangles = np.concatenate([triangles, broken])
        solved = _solved(cost, triangles, size, whole, until - time.monotonic())
        if solved is None:
            break
        x, value, finished = solved
        bound = max(bound, least + value)
        if not finished:
            break
    return _ordered(x, wins), bound


def _solved(
    cost: FloatArray, triangles: IntArray, size: int, whole: bool, seconds: float
) -> tuple[FloatArray, float, bool] | None:
    """Return the solution under some triangle inequalities, a bound of its cost, and whether it is optimal."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if seconds <= 0:
        return None
    solution = milp(
        cost,
        integrality=np.full(len(cost), int(whole)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(_triangle_rows(triangles, size), 0, 1) if len(triangles) else None,
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if solution.x is None:
        return None
    value = solution.fun if solution.status == 0 else solution.mip_dual_bound
    return solution.x, float(-math.inf if value is None else value), solution.status == 0


def _places(first: IntArray, second: IntArray, size: int) -> IntArray:
    """Return the places of pairs (first < second) among the pairs in the order of `numpy.triu_indices`."""
    return np.asarray(first * (2 * size - first - 1) // 2 + second - first - 1)


def _triangle_rows(triangles: IntArray, size: int) -> csr_array:
    """Return x_ij + x_jk − x_ik for triples i < j < k, shape (T, pairs)."""
    i, j, k = triangles.T
    rows = np.arange(len(triangles))
    columns = np.concatenate([_places(i, j, size), _places(j, k, size), _places(i, k, size)])
    values = np.repeat([1.0, 1.0, -1.0], len(triangles))
    return csr_array((values, (np.tile(rows, 3), columns)), shape=(len(triangles), math.comb(size, 2)))


def _broken(x: FloatArray, size: int, known: IntArray) -> IntArray:
    """Return the triples i < j < k whose inequality the solution breaks, shape (T, 3)."""
    before = np.zeros((size, size))
    before[np.triu_indices(size, 1)] = x
    triples = [_broken_from(before, first) for first in range(size - 2)]
    broken = np.concatenate([np.empty((0, 3), dtype=np.int64), *triples])
    seen = {tuple(row) for row in known.tolist()}
    fresh = [row for row in broken.tolist() if tuple(row) not in seen]  # the solver's tolerance is not ours
    return np.array(fresh, dtype=np.int64).reshape(-1, 3)


def _broken_from(before: FloatArray, i: int) -> IntArray:
    """Return the broken triples whose first object is i."""
    later = np.arange(i + 1, len(before))
    around = before[i, later][:, None] + before[np.ix_(later, later)] - before[i, later][None, :]
    j, k = np.nonzero(np.triu((around > 1 + _WHOLE) | (around < -_WHOLE), 1))
    return np.column_stack([np.full(len(j), i), later[j], later[k]]).astype(np.int64)


def _ordered(x: FloatArray, wins: FloatArray) -> IntArray:
    """Return the order of a solution; for an unfinished solution the better of two orders near it."""
    size = len(wins)
    before = np.zeros((size, size))
    i, j = np.triu_indices(size, 1)
    before[i, j], before[j, i] = np.round(x, 6), 1 - np.round(x, 6)
    keys = (before.sum(axis=1), wins.sum(axis=1) - wins.sum(axis=0))
    candidates = [np.argsort(-key, kind="stable") for key in keys]
    violated = [np.tril(majorities(wins[np.ix_(order, order)])).sum() for order in candidates]
    return np.asarray(candidates[int(np.argmin(violated))], dtype=np.int64)
