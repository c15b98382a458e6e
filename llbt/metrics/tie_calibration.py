"""Pairwise accuracy with ties, at the best threshold below which differences of a metric count as ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..base.arguments import NotNegative, checked
from ..base.table import Field, Qualifying, Record, Table, counted, format_number
from ..core.columns import FloatArray
from ..errors import DesignError, JudgmentError
from .kernels import apart, settled
from .system_scores import all_pairs, numbers, refuse_other_labels

Grouping = Literal["input", "system"]

_MOST_PAIRS = 50_000_000  # 2 GB with what the search needs of each


@dataclass(frozen=True, repr=False, eq=False)
class TieCalibration(Record):
    """Accuracy with ties of a metric; made by `tie_calibrated_accuracy`.

    Attributes
    ----------
    estimate : float
        Accuracy if differences of the metric up to `epsilon` are ties; NaN without a pair.
    epsilon : float
        The tie threshold, on the metric's scale.
    uncalibrated : float
        Accuracy if only equal scores are ties, ε = 0.
    n : int
        Number of pairs.
    human_ties, metric_ties : int
        Numbers of pairs that humans tie, and that the metric ties at `epsilon`.
    calibrated : bool
        Whether `epsilon` was chosen on these pairs.
    notes : tuple of str
    """

    estimate: float
    epsilon: float
    uncalibrated: float
    n: int
    human_ties: int
    metric_ties: int
    calibrated: bool
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return term, epsilon, metric_ties …: one row at ε = 0, one at the ε chosen or given."""
        return Table(
            (
                Field("term", "", ["only equal scores tie", "calibrated" if self.calibrated else "given ε"]),
                Field("epsilon", "ε", [0.0, self.epsilon], "number"),
                Field("estimate", "acc_eq", [self.uncalibrated, self.estimate], "estimate"),
            ),
            title="Accuracy with ties",
            head=(
                f"{counted(self.n, 'pair')}; tied by humans: {self.human_ties:,}; tied by the metric at "
                f"ε = {format_number(self.epsilon)}: {self.metric_ties:,}",
            ),
            notes=self.notes,
        )


@dataclass(frozen=True, eq=False)
class ComparedPairs:
    """P pairs: |difference of the metric|, whether its sign agrees with humans, whether humans tie, and weight."""

    size: FloatArray
    same: FloatArray
    tied: FloatArray
    weight: FloatArray

    def results(self, epsilon: float) -> FloatArray:
        """Return 1 for pairs that are right where differences up to ε are ties, and 0 for the others, shape (P,)."""
        return np.where(self.size <= epsilon, self.tied, self.same)

    def right(self, epsilon: float) -> float:
        """Return the weighted share of pairs that are right where differences up to ε are ties."""
        return float(self.weight @ self.results(epsilon) / self.weight.sum())


@checked
def tie_calibrated_accuracy(
    metric: object, human: object, *, grouping: Grouping = "input", epsilon: NotNegative | None = None
) -> TieCalibration:
    """Return the share of pairs that a metric orders or ties as humans do, at the best threshold ε for its ties.

    Parameters
    ----------
    metric, human : array or DataFrame, shape (N, M) or (N,)
        Scores of N systems on M inputs, higher is better, in the same order; human scores may be missing (NaN); the
        metric's scores there do not matter. Vectors: one score per system, all pairs in one group.
    grouping : {"input", "system"}
        Which pairs of a matrix count: systems on the same input, or inputs of the same system. All groups have equal
        weight, however many pairs with human scores they have.
    epsilon : float, optional
        The threshold, for example chosen on other data; by default the best threshold on these pairs.

    Returns
    -------
    TieCalibration

    Raises
    ------
    JudgmentError
        For scores that are not numbers, and a metric without a score where there is a human one.
    OptionError
        For invalid options.
    DesignError
        For more pairs than memory holds.

    Notes
    -----
    acc_eq = (C + T_hm)/(C + D + T_h + T_m + T_hm): pairs in the same order or tied by both, over all pairs. A metric
    ties where |difference| ≤ ε. Its accuracy changes only at the differences that occur, so an exact search tries 0 and
    every |difference|: after sorting, cumulative sums give the accuracy at each ε, in O(P log P) for P pairs [1]_. If
    several ε are best, the smallest is taken. An ε chosen on the same pairs makes the accuracy optimistic, most of all
    with few pairs.

    References
    ----------
    .. [1] Deutsch, D., Foster, G. & Freitag, M. (2023). Ties matter: meta-evaluating modern metrics with pairwise
       accuracy and tie calibration. EMNLP, 12914-12929.

    Examples
    --------
    >>> import llbt
    >>> calibrated = llbt.metrics.tie_calibrated_accuracy([0.9, 0.8, 0.75, 0.3], [3, 2, 2, 1])
    >>> round(calibrated.uncalibrated, 3), round(calibrated.epsilon, 3), calibrated.estimate
    (0.833, 0.05, 1.0)
    """
    x, z = _read(metric, human, grouping)
    pairs = compared_pairs(x, z)
    notes = _notes(z, epsilon is None)
    if not len(pairs.size):
        reason = (*notes, "no pair has two human scores, so the accuracy is NaN")
        return TieCalibration(np.nan, np.nan, np.nan, 0, 0, 0, epsilon is None, reason)
    chosen = best_threshold(pairs) if epsilon is None else float(epsilon)
    return TieCalibration(
        estimate=pairs.right(chosen),
        epsilon=chosen,
        uncalibrated=pairs.right(0.0),
        n=len(pairs.size),
        human_ties=int(pairs.tied.sum()),
        metric_ties=int((pairs.size <= chosen).sum()),
        calibrated=epsilon is None,
        notes=notes,
    )


def best_threshold(pairs: ComparedPairs) -> float:
    """Return the smallest ε with the largest accuracy among 0 and all |differences|."""
    order = np.argsort(pairs.size, kind="stable")
    size = pairs.size[order]
    gain = np.cumsum((pairs.weight * (pairs.tied - pairs.same))[order])  # over ε < every |difference|
    last = last_of_size(size)  # equal differences become ties together
    candidates, gains = size[last], gain[last]
    if candidates[0] > 0:
        candidates, gains = np.append(0.0, candidates), np.append(0.0, gains)
    best = gains >= gains.max() - 1e-12 * pairs.weight.sum()  # sums of equal value differ in their last digits
    return float(candidates[np.argmax(best)])


def last_of_size(size: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether each sorted difference is the last of those equal to it, up to rounding; shape (P,)."""
    return np.append(apart(np.append(0.0, size))[1:], True)


def _read(metric: object, human: object, grouping: Grouping) -> tuple[FloatArray, FloatArray]:
    """Return scores as matrices with one column per group; missing human scores are NaN."""
    ndim = 1 if np.asarray(metric, dtype=object).ndim == 1 else 2
    x = numbers("metric", metric, ndim=ndim, missing=True)
    z = numbers("human", human, ndim=ndim, missing=True)
    refuse_other_labels(("metric", "human"), (metric, human), inputs=ndim == 2)
    if x.shape != z.shape:
        raise JudgmentError(f"metric= has shape {x.shape} and human= {z.shape}", expected="the same")
    gone = np.isnan(x) & ~np.isnan(z)
    if gone.any():
        where = tuple(np.argwhere(gone)[0].tolist())
        raise JudgmentError(
            f"metric= has no score for {int(gone.sum()):,} human scores (first at {where})",
            "Leave these out of both: human = np.where(np.isnan(metric), np.nan, human).",
            expected="one for each",
        )
    x, z = settled(x), settled(z)
    if ndim == 1:
        return x[:, None], z[:, None]
    return (x, z) if grouping == "input" else (x.T, z.T)


def compared_pairs(x: FloatArray, z: FloatArray) -> ComparedPairs:
    """Return all pairs of rows within each column (n, G) that have two human scores."""
    size = len(x) * (len(x) - 1) // 2 * x.shape[1]
    if size > _MOST_PAIRS:
        raise DesignError(
            f"{size:,} pairs", "Take fewer inputs, for example a random sample.", expected=f"up to {_MOST_PAIRS:,}"
        )
    i, j = all_pairs(len(x))
    d, h = x[i] - x[j], z[i] - z[j]
    there = ~np.isnan(h)
    each = there.sum(axis=0)
    weight = np.broadcast_to(1 / np.maximum(each, 1), there.shape)[there]
    d, h = d[there], h[there]
    tied = (h == 0).astype(np.float64)
    same = ((np.sign(d) == np.sign(h)) & (h != 0)).astype(np.float64)
    return ComparedPairs(np.abs(d), same, tied, weight)


def _notes(z: FloatArray, calibrated: bool) -> tuple[str, ...]:
    """Return notes on pairs left out, and on an ε that was chosen on the same pairs."""
    missing = int(np.isnan(z).sum())
    notes = [f"{counted(missing, 'missing human score')}: pairs with a missing score are left out"] if missing else []
    if calibrated:
        notes.append(
            Qualifying("ε was chosen on these pairs, so the accuracy is optimistic. Pass epsilon= from other data.")
        )
    return tuple(notes)
