"""Comparisons of groups of judges, classes or leaves of a tree: which groups order the objects differently."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..base.arguments import Confidence, Rng, as_generator, checked
from ..base.budgets import refuse_large
from ..base.notes import Qualifying
from ..base.table import Field, Record, Table, counted, interval_fields
from ..core.columns import FloatArray, IntArray, Label
from ..core.max_z import MaxZ, max_z
from ..core.statistics import ratio, two_sided_p
from ..errors import OptionError
from ..fitting.fitted import average_of
from ..formulas.grid import At
from ..inference.log_worths import LogWorths, centred
from .class_protocol import Classes, ClassesLike
from .tree import JudgeTree

_MOST_ROWS = 60


@dataclass(frozen=True, repr=False, eq=False)
class GroupComparison(Record):
    """Pairs of groups of judges, and the difference of each pair of objects in both groups.

    Made by `compare_groups`. A row for each of the R pairs of groups and pairs of objects.

    Attributes
    ----------
    name : str
        The kind of the groups: ``"class"`` or ``"node"``.
    groups : ndarray of int, shape (R, 2)
        The numbers of both groups.
    objects : tuple of R pairs of labels
    estimate, std_error, statistic, p_value, p_adjusted, conf_low, conf_high : ndarray, shape (R,)
        The difference λ_i − λ_j in the first group minus the same difference in the second (log-worth).
    is_reversed : ndarray of bool, shape (R,)
        Whether i is significantly better in one group, and j in the other.
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.judges.compare_groups(groups)"

    name: str
    groups: IntArray
    objects: tuple[tuple[Label, Label], ...]
    estimate: FloatArray
    std_error: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    is_reversed: npt.NDArray[np.bool_]
    confidence: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return group_a, group_b, object_i, object_j, estimate, …, p_adjusted, conf_low, conf_high, is_reversed."""
        low, high = interval_fields(self.conf_low, self.conf_high, self.confidence)
        fields = (
            Field("group_a", f"{self.name} a", self.groups[:, 0], "count"),
            Field("group_b", f"{self.name} b", self.groups[:, 1], "count"),
            Field("object_i", "i", [i for i, _ in self.objects]),
            Field("object_j", "j", [j for _, j in self.objects]),
            Field("estimate", "difference", self.estimate, "estimate"),
            Field("std_error", "Std. Error", self.std_error, "estimate"),
            Field("statistic", "z", self.statistic, "statistic"),
            Field("p_value", "p", self.p_value, "p_value"),
            Field("p_adjusted", "p adjusted", self.p_adjusted, "p_value"),
            low,
            high,
            Field("is_reversed", "reversed", self.is_reversed.tolist()),
        )
        return Table(
            fields,
            title=f"Differences of λ_i − λ_j between {'classes' if self.name == 'class' else 'leaves'}",
            head=self._head(),
            notes=self.notes,
        ).first(_MOST_ROWS)

    def _head(self) -> tuple[str, ...]:
        lines = []
        for a, b in np.unique(self.groups, axis=0).tolist():
            own = (self.groups == [a, b]).all(axis=1)
            sure = int((self.p_adjusted[own] <= 1 - self.confidence).sum())
            turned = int(self.is_reversed[own].sum())
            pairs_text = counted(int(own.sum()), "pair of objects").replace("pair of objectss", "pairs of objects")
            lines.append(
                f"{self.name} {a} and {b}: of {pairs_text} {sure} judged differently, {turned} in opposite order"
            )
        return tuple(lines)


@checked
def compare_groups(
    groups: Classes | JudgeTree, *, at: At = None, confidence: Confidence = 0.95, rng: Rng = 0
) -> GroupComparison:
    """Compare groups of judges: find the objects that two groups judge differently, or rank in opposite order.

    Parameters
    ----------
    groups : LatentClasses or JudgeTree
        The result of `classes` or `tree`.
    at : mapping or "average", optional
        Covariate values, as in `llbt.pairwise`.
    confidence : float
        Joint confidence of all intervals, and of all statements on opposite order.
    rng : int or numpy.random.Generator
        For the simulated distributions of max |z|, as in `llbt.pairwise`.

    Returns
    -------
    GroupComparison
        group_a, group_b, object_i, object_j, estimate, std_error, statistic, p_value, p_adjusted, conf_low, conf_high,
        is_reversed; a row per pair of groups and of objects. The estimate is λ_i − λ_j in group a minus λ_i − λ_j in
        group b, in units of log-worth. Errors and tests are NaN for a class with infinite estimates. They are also NaN
        if the same judges were used to grow the tree and to estimate its leaves: the tree searched for differences, so
        the differences are too large.

    Raises
    ------
    OptionError
        For one class, and a tree of one leaf.
    DesignError
        For more groups and objects than fit into memory.

    Notes
    -----
    Intervals and adjusted p-values come from the distribution of the largest |z| over all pairs of groups and of
    objects (Hothorn, Bretz & Westfall 2008, Biometrical Journal 50(3), 346-363). Classes have the joint covariance of
    the mixture. Leaves have different judges, so they are independent. Two groups have opposite orders of i and j if
    the intervals of λ_i − λ_j, simultaneous over all groups and pairs of objects, lie on different sides of 0. With
    probability `confidence` no order is wrongly called opposite.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    >>> orders = ["ABC", "ABC", "ACB", "CBA", "CBA", "CAB", "BAC", "BCA"] * 12
    >>> rows = [
    ...     (f"judge{k}", i, j, "i" if order.index(i) < order.index(j) else "j")
    ...     for k, order in enumerate(orders)
    ...     for i, j in pairs
    ... ]
    >>> frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
    >>> c = llbt.from_judgments(frame, clusters="judge")
    >>> groups = llbt.judges.compare_groups(llbt.judges.classes("object", c, k=2, prior=1, rng=1)[2])
    >>> groups.to_frame()[["object_i", "object_j", "is_reversed"]].values.tolist()
    [['A', 'B', True], ['A', 'C', True], ['B', 'C', True]]
    """
    numbers = [leaf.number for leaf in groups.leaves] if isinstance(groups, JudgeTree) else list(groups.labels)
    if len(numbers) < 2:
        raise OptionError("a single group of judges", expected="at least two classes or leaves")
    fits = [groups.results(number) for number in numbers]
    objects = fits[0].comparisons.objects
    size, pairs = len(objects), list(itertools.combinations(range(len(numbers)), 2))
    most = max(len(pairs), len(numbers)) * size
    refuse_large(f"comparing {len(numbers)} groups on {counted(size, 'object')}", 4.0 * most**2, "Take fewer objects.")
    worths = [centred(average_of(fit), at)[0] for fit in fits]
    estimate = np.concatenate([one.estimate for one in worths])
    cov, notes = _covariance(groups, worths, [fit.free for fit in fits])
    generator = as_generator(rng)
    apart = np.zeros((len(pairs), len(numbers)))
    for k, (a, b) in enumerate(pairs):
        apart[k, a], apart[k, b] = 1.0, -1.0
    weights = np.kron(apart, np.eye(size))
    between = _tested(weights @ estimate, weights @ cov @ weights.T, size, confidence, generator)
    within = _tested(estimate, cov, size, confidence, generator)
    sure = np.where(np.abs(within.statistic) > within.critical, np.sign(within.estimate), 0.0).reshape(len(numbers), -1)
    opposite = [sure[a] * sure[b] < 0 for a, b in pairs]
    named = [(objects[i], objects[j]) for i, j in zip(*np.triu_indices(size, 1), strict=True)]
    half = between.critical * between.error
    return GroupComparison(
        "node" if isinstance(groups, JudgeTree) else "class",
        np.repeat(np.array([(numbers[a], numbers[b]) for a, b in pairs]), len(named), axis=0),
        tuple(named * len(pairs)),
        between.estimate,
        between.error,
        between.statistic,
        two_sided_p(between.statistic, np.inf),
        between.tests.p_value(between.statistic),
        between.estimate - half,
        between.estimate + half,
        np.concatenate(opposite),
        confidence,
        notes,
    )


def _covariance(
    groups: ClassesLike | JudgeTree, worths: Sequence[LogWorths], free: Sequence[IntArray]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the covariance (K·J, K·J) of the groups' log-worths, NaN where there is none, and its notes."""
    size = len(worths[0].estimate)
    covariance = np.zeros((len(worths) * size, len(worths) * size))
    if not isinstance(groups, JudgeTree):
        p = len(free[0])
        joint = groups.covariance[: len(worths) * p, : len(worths) * p]
        rows = np.zeros((len(covariance), len(joint)))
        for k, (one, own) in enumerate(zip(worths, free, strict=True)):
            rows[k * size : (k + 1) * size, k * p : (k + 1) * p] = one.rows[:, own]
        gone = [bool(np.isnan(np.diag(joint)[k * p : (k + 1) * p]).any()) for k in range(len(worths))]
        covariance = rows @ np.nan_to_num(joint) @ rows.T
        infinite = np.repeat(gone, size)
        covariance[infinite] = np.nan
        covariance[:, infinite] = np.nan
        which = [str(label) for label, out in zip(groups.labels, gone, strict=True) if out]
        notes = (Qualifying(f"No finite estimates and no errors in class {' and '.join(which)}."),) if which else ()
        return covariance, notes
    if not groups.honest:
        note = Qualifying(
            "The same judges were used to grow the tree and to estimate its leaves, so there are no tests. "
            "Grow it with honest=True."
        )
        return np.full(covariance.shape, np.nan), (note,)
    for k, one in enumerate(worths):
        at = slice(k * size, (k + 1) * size)
        covariance[at, at] = one.cov
    return covariance, ()


@dataclass(frozen=True, eq=False)
class _Tested:
    """Differences of objects within each of several blocks of J estimates, and the distribution of their max |z|."""

    estimate: FloatArray
    error: FloatArray
    statistic: FloatArray
    tests: MaxZ
    critical: float


def _tested(estimate: FloatArray, cov: FloatArray, size: int, confidence: float, rng: np.random.Generator) -> _Tested:
    blocks = len(estimate) // size
    i, j = np.triu_indices(size, 1)
    first = (np.arange(blocks)[:, None] * size + i).ravel()
    second = (np.arange(blocks)[:, None] * size + j).ravel()
    variance = cov[first, first] + cov[second, second] - 2 * cov[first, second]
    apart = estimate[first] - estimate[second]
    error = np.sqrt(np.where(np.isnan(apart), np.nan, np.maximum(variance, 0.0)))
    scales = np.full(cov.shape, np.inf)
    known = error > 0
    scales[first[known], second[known]] = scales[second[known], first[known]] = error[known]
    tests = max_z(scales, np.nan_to_num(cov), np.inf, rng)
    return _Tested(apart, error, ratio(apart, error), tests, tests.quantile(confidence))
