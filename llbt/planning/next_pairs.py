"""The pairs to ask for next: those that would reduce uncertainty most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..base.arguments import Count, checked, is_real
from ..base.budgets import refuse_large
from ..base.table import Field, Record, Table, counted, format_number
from ..core.columns import FloatArray, IntArray, Label
from ..errors import DesignError, OptionError, listed
from ..fitting.estimates import Estimates
from ..fitting.fitted import DiscriminationsFit, PlainFit, RankingsFit, average_of
from ..fitting.prediction import chances_of, check_place, pairs_at, undetermined_comparisons
from ..fitting.protocols import has_discriminations, has_lists
from ..formulas.grid import At
from .criteria import CRITERIA, Asked, Candidates, Criterion, Goal, SparseRows, asked

_OBJECTS = ("object_i", "object_j")


@dataclass(frozen=True, repr=False, eq=False)
class NextPairs(Record):
    """The n judgments to ask for next, chosen from R candidate pairs.

    Made by `next_pairs`.

    Attributes
    ----------
    pairs : dict of str to list, each of length R
        object_i (shown first, where the formula has `order`), object_j and covariates of the candidates.
    cost : ndarray, shape (R,)
        Cost of one judgment of each candidate.
    sequence : ndarray of int, shape (n,)
        The candidate of each judgment, in the order in which to ask.
    gain : ndarray, shape (n,)
        The fall of the criterion by each judgment, after the earlier ones.
    before, after : float
        The criterion now, and after the n judgments.
    criterion : str
    goal : str
        The goal, in words.
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.planning.next_pairs(…)"

    pairs: Mapping[str, Sequence[Any]]
    cost: FloatArray
    sequence: IntArray
    gain: FloatArray
    before: float
    after: float
    criterion: Criterion
    goal: str
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return one row per requested pair, in the order of first requests."""
        chosen, first, row = np.unique(self.sequence, return_index=True, return_inverse=True)
        order = np.argsort(first)
        n, gain = np.bincount(row)[order], np.bincount(row, weights=self.gain)[order]
        which = chosen[order]
        priced = not (self.cost == 1).all()
        return Table(
            (
                *(Field(name, name, [values[r] for r in which]) for name, values in self.pairs.items()),
                Field("n", "Judgments", n, "count"),
                Field("gain", "Gain", gain, "number"),
                *([Field("cost", "Cost", n * self.cost[which], "number")] if priced else []),
            ),
            title=f"Ask for {counted(len(self.sequence), 'judgment')}, the most useful first",
            head=(
                f"Goal: {self.goal}. {CRITERIA[self.criterion].capitalize()}: {format_number(self.before, 4)} now, "
                f"{format_number(self.after, 4)} expected after these judgments",
            ),
            notes=self.notes,
        ).first()


@checked
def next_pairs(
    res: PlainFit | DiscriminationsFit | RankingsFit,
    n: Count = 1,
    *,
    goal: Goal = "all",
    k: Count | None = None,
    criterion: Criterion = "a",
    at: At = None,
    costs: Mapping[tuple[Any, Any], float] | None = None,
) -> NextPairs:
    """Return the pairs that would reduce uncertainty most.

    Parameters
    ----------
    res : LLBTResults, DiscriminationResults or RankingResults
        A fit of the judgments so far. With few judgments, use a fit with ``prior="jeffreys"``. With discriminations,
        the judgments are by a judge of discrimination 1. For rankings without ties, each pair is a ranking of two
        objects.
    n : int
        The number of judgments before the next fit. They are chosen one by one, and each choice allows for the expected
        information from the earlier ones.
    goal : {"all", "top"} or mapping
        The goal: the differences between all objects; the differences of the `k` best from the others; or one contrast,
        with the weights of the objects as in `contrasts`: ``{"A": 1, "B": -1}``.
    k : int, optional
        With ``goal="top"``: the number of objects at the top, by the estimates.
    criterion : {"a", "d", "order"}
        The criterion to lower. ``"a"``: the mean variance of the differences (log-worth²), or the variance of the
        contrast. ``"d"``: the log determinant of the covariance of all contrasts, which is minus the log determinant of
        the information on them. ``"order"``: the expected number of pairs in the wrong order, so judgments go to pairs
        with similar worths.
    at : mapping, optional
        If the formula has covariates: the values at which judgments can be made, as in `predict`: ``{"judge": ["J1",
        "J2"]}``. Covariates with labels that are not named take all their levels.
    costs : mapping, optional
        The cost of a judgment of each pair, ``{("A", "B"): 2.5}``, in either order. It is 1 for pairs that are not
        named; use ``math.inf`` for pairs that cannot be judged. With `costs`, pairs are chosen by the gain per cost.

    Returns
    -------
    NextPairs
        ``to_frame()``: object_i, object_j, covariates, n (judgments), gain (by which they lower the criterion) and,
        with `costs`, cost; the first pair to judge is in the first row. With `order` in the formula object_i is shown
        first.

    Raises
    ------
    OptionError
        For invalid goals, `k`, criteria, values of `at`, and costs.
    DesignError
        For a table that does not determine all differences, for too many pairs for the memory, and for fits of rankings
        with ties or of best-worst sets.

    Notes
    -----
    A judgment is expected to add its information Dᵀ W D at the estimates, with D its rows of the predictors (the signed
    one, the tie, larger grades) and W = Lᵀ diag(p) L − p̄ p̄ᵀ. Covariances are updated by Woodbury's identity: V − V
    Dᵀ K D V with K = W (I + D V Dᵀ W)⁻¹. Ties and order effects are estimated, too: information on them counts as far
    as it helps with the contrasts. Judgments are chosen one by one, the best at each step.

    ``"order"`` sums P(wrong) = 2 T(d/√(v + v'), √(v'/v)) over the pairs. T is Owen's function, d and v are the
    difference and its variance now, and v' is its variance after the judgments. Gains are to first order.

    Replays of WMT10's judgments of 15 systems (Spanish to English) in batches of 100: 94 % of all pairs are in the
    right order after about 1,400 judgments with ``"order"``, after 1,900 with equal numbers for all pairs, and after
    2,300 with random pairs. With ``goal="top", k=3``, these three designs find nine tenths of the best three after 630,
    1,400 and 1,150 judgments. ``"a"`` saves nothing: equal numbers for all pairs are nearly the best design for all
    differences.

    Judgments are taken as independent, even if the standard errors of `res` are clustered. Choosing pairs by earlier
    judgments does not change the likelihood, so intervals are valid in large samples. They are not valid if you look
    repeatedly until something is significant.

    References
    ----------
    Atkinson, A. C., Donev, A. N. & Tobias, R. D. (2007). Optimum experimental designs, with SAS. Oxford University
    Press.

    Graßhoff, U. & Schwabe, R. (2008). Optimal design for the Bradley-Terry paired comparison model. Statistical Methods
    and Applications 17(3), 275-289.

    Owen, D. B. (1956). Tables for computing bivariate normal probabilities. Annals of Mathematical Statistics 27(4),
    1075-1090.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> next_pairs = llbt.planning.next_pairs(res, 10, goal="top", k=1, criterion="order")
    >>> next_pairs.to_frame()[["object_i", "object_j", "n"]].values.tolist()
    [['A', 'D', 10]]
    """
    check_place(None, at)
    if has_lists(res) and (len(res.lists.orders) or res.rankings.kind != "ranking"):
        raise DesignError(
            "next pairs cannot be chosen from a fit of rankings with ties or of best-worst sets",
            "Use a fit of rankings without ties: llbt.fit('object', rankings).",
        )
    whom = (f"pairs are chosen for a {res.judging.name} of discrimination 1",) if has_discriminations(res) else ()
    worths = average_of(res)
    wanted = asked(worths, goal, k, criterion)
    place = pairs_at(worths, at if isinstance(at, Mapping) else {}).unmixed("next pairs")
    problem, shown, notes = place.problem, place.shown, place.notes
    cost = _costs(costs, shown, worths.comparisons.objects)
    unknown = undetermined_comparisons(worths, problem)
    available = np.flatnonzero(~unknown & np.isfinite(cost))
    if not len(available):
        raise DesignError("no pair can be asked for", "Give some pair a finite cost.")
    size = len(worths.free)
    refuse_large(
        f"the design of {counted(len(available), 'pair')}",
        8.0 * size**2 + 8.0 * len(available) * problem.response.width**2,
        "Take fewer objects: res.comparisons.select(objects=[…]).",
    )
    chances = chances_of(worths, problem)[available]
    predictors = tuple(SparseRows.of(rows.take(available).columns(worths.free).tocsr()) for rows in problem.predictors)
    weights = np.moveaxis(problem.response.weight(chances.T, np.ones(len(available))), -1, 0)
    candidates = Candidates(predictors, weights)
    sequence, gain, cov = _greedy(candidates, wanted, cost[available], n)
    left_out = [f"{counted(unknown.sum(), 'pair')} left out: the table does not determine the outcome"]
    return NextPairs(
        shown,
        cost,
        available[sequence],
        gain,
        wanted.value(wanted.cov),
        wanted.value(cov),
        criterion,
        wanted.words,
        (*notes, *whom, *wanted.notes, *(left_out if unknown.any() else []), *_reservations(worths)),
    )


def _greedy(candidates: Candidates, wanted: Asked, cost: FloatArray, n: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the pairs of the next n judgments as candidates, their gains, each (n,), and the covariance after them."""
    cov, sequence, gain = wanted.cov, np.empty(n, dtype=np.int64), np.empty(n)
    for place in range(n):
        gains = candidates.gains(cov, wanted)
        sequence[place] = np.argmax(gains / cost)
        gain[place] = gains[sequence[place]]
        cov = candidates.updated(cov, int(sequence[place]))
    return sequence, gain, cov


def _costs(costs: object, shown: Mapping[str, Sequence[Any]], objects: Sequence[Label]) -> FloatArray:
    """Return the cost of a judgment of each candidate, shape (R,)."""
    if costs is None:
        return np.ones(len(shown[_OBJECTS[0]]))
    if not isinstance(costs, Mapping):
        raise OptionError(f"costs={costs!r}", expected="a mapping of pairs to numbers: {('A', 'B'): 2.5}")
    priced: dict[frozenset[Any], float] = {}
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or any(label not in objects for label in pair):
            raise OptionError(f"costs= names {pair!r}", expected=f"pairs of two of the objects {listed(objects, 20)}")
        if pair[0] == pair[1] or frozenset(pair) in priced:
            raise OptionError(f"costs= names {pair!r}", expected="two objects, and each pair once")
        if not is_real(cost) or math.isnan(cost) or cost <= 0:
            raise OptionError(f"costs= gives {pair!r} {cost!r}", expected="a number above 0, or math.inf")
        priced[frozenset(pair)] = float(cost)
    both = zip(shown[_OBJECTS[0]], shown[_OBJECTS[1]], strict=True)
    return np.array([priced.get(frozenset(pair), 1.0) for pair in both])


def _reservations(res: Estimates) -> list[str]:
    return ["judgments are assumed independent; clusters are ignored"] if res.specification.groups else []
