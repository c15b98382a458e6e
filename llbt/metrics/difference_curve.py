"""The probability that humans agree with a metric, by the size of its difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from ..base.arguments import Confidence, Count, Share, checked
from ..base.table import Field, Record, Table, counted, format_number, interval_fields
from ..core.columns import FloatArray, IntArray
from ..errors import JudgmentError, OptionError
from ..kernel.robust import effective_clusters
from .agreement_regression import AgreementRegression, agreement_regression
from .system_scores import numbers


@dataclass(frozen=True, eq=False)
class DifferenceBins:
    """Pairs in K bins of |metric difference|; all shape (K,).

    Attributes
    ----------
    low, high, mean : ndarray
        Edges of each bin and the mean |difference| in it.
    n, agreements : ndarray of int
    estimate, conf_low, conf_high : ndarray
        Share of agreement with Wilson's interval.
    """

    low: FloatArray
    high: FloatArray
    mean: FloatArray
    n: IntArray
    agreements: IntArray
    estimate: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray


@dataclass(frozen=True, repr=False, eq=False)
class DifferenceCurve(Record):
    """The probability that humans agree with a metric, by the size of its difference, from P pairs of systems.

    Made by `difference_curve`.

    Attributes
    ----------
    difference : ndarray, shape (P,)
        |Metric difference|.
    agree : ndarray of bool, shape (P,)
    params : ndarray, shape (2,)
        Intercept and slope of the log-odds of agreement; NaN where they are not finite.
    cov : ndarray, shape (2, 2)
        NaN if leaving out one of the groups makes the estimates infinite.
    bins : DifferenceBins
    target : float
        The requested probability of agreement.
    needed, needed_low, needed_high : float
        The |difference| at which the curve reaches the target, and its interval.
    confidence : float
    notes : tuple of str
    shares : ndarray, shape (G, 2, 2)
        The contribution of each group of pairs to the covariance for independent pairs; empty without groups.
    """

    _made_by: ClassVar[str] = "llbt.metrics.difference_curve(…)"

    difference: FloatArray
    agree: npt.NDArray[np.bool_]
    params: FloatArray
    cov: FloatArray
    bins: DifferenceBins
    target: float
    needed: float
    needed_low: float
    needed_high: float
    confidence: float
    notes: tuple[str, ...]
    shares: FloatArray

    @checked
    def predict(self, difference: object) -> pd.DataFrame:
        """Return the probability of agreement at given differences: difference, estimate, conf_low, conf_high.

        Parameters
        ----------
        difference : array, shape (m,)
            Differences of any sign; only their size counts.
        """
        size = np.abs(numbers("difference", difference))
        rows = np.column_stack([np.ones(len(size)), size])
        curve = AgreementRegression(self.params, self.cov, self.shares)
        log_odds, half = rows @ self.params, curve.critical(rows, self.confidence) * curve.errors(rows)
        probability = special.expit(np.column_stack([log_odds, log_odds - half, log_odds + half]))
        return pd.DataFrame(
            {"difference": size, **dict(zip(("estimate", "conf_low", "conf_high"), probability.T, strict=True))}
        )

    def table(self) -> Table:
        """Return low, high, n, agreements, estimate, conf_low, conf_high of each bin, below lines on the curve."""
        bins, level = self.bins, f"{100 * self.confidence:.4g} %"
        lines = [
            f"{counted(len(self.agree), 'pair')}, {int(self.agree.sum()):,} agree",
            f"log-odds of agreement = {format_number(self.params[0])} + {format_number(self.params[1])} · |difference|",
            f"|difference| for P(agree) = {self.target:g}: {format_number(self.needed)} "
            f"({level} {format_number(self.needed_low)} to {format_number(self.needed_high)})",
        ]
        return Table(
            (
                Field("low", "|Δ metric| from", bins.low, "number"),
                Field("high", "to", bins.high, "number"),
                Field("n", "Pairs", bins.n, "count"),
                Field("agreements", "Agree", bins.agreements, "count"),
                Field("estimate", "Share", bins.estimate, "estimate"),
                *interval_fields(bins.conf_low, bins.conf_high, self.confidence),
            ),
            title="Agreement of humans by size of the metric's difference",
            head=tuple(lines),
            notes=self.notes,
        )


@checked
def difference_curve(
    metric_difference: object,
    agree: object,
    *,
    groups: Sequence[object] | None = None,
    target: Share = 0.8,
    bins: Count = 5,
    confidence: Confidence = 0.95,
) -> DifferenceCurve:
    """Return the probability that humans agree with a metric, by the size of its difference between two systems.

    Parameters
    ----------
    metric_difference : array, shape (P,)
        Difference of each pair of systems; its sign does not count.
    agree : array of bool or of 0 and 1, shape (P,)
        Whether humans prefer the same system. Pairs with NaN are left out, and a note states their number.
        `pairwise_accuracy` returns differences and agreements.
    groups : sequence, length P, optional
        Clusters of pairs, such as language pairs; at least two. Standard errors then allow for dependence within groups
        (CR3: each group is left out in turn), with t on G* − 1 df. By default pairs are taken as independent.
    target : float
        The probability of agreement for which to find the difference.
    bins : int
        Number of bins; each has about the same number of pairs.
    confidence : float

    Returns
    -------
    DifferenceCurve
        ``needed`` is the difference for the target, ``predict`` the curve; `plot.difference_curve` draws it.

    Raises
    ------
    JudgmentError
        For differences that are not finite and agreements that are not 0 or 1.
    OptionError
        For invalid options.

    Notes
    -----
    Logistic regression: logit P(agree) = a + b·|d|; its band is a + b·|d| ± c·se on the scale of probabilities. The
    needed difference is (logit(target) − a)/b, its standard error by the delta method, its interval cut off at 0. It is
    NaN if the curve does not rise, and 0 if the curve is above the target everywhere. If size separates the pairs that
    agree from the others (or all agree), the maximum likelihood estimate is infinite, and the curve NaN. Bins have
    Wilson's intervals, without a model. Pairs that share a system are not independent, so intervals without `groups`
    are too short.

    c is the normal quantile; with `groups` it is the quantile of t on G* − 1 df: G* = (Σv)²/Σv², where v = rᵀV H_g V r
    is the contribution of group g to the variance rᵀV r of the estimate under the model. Intervals are NaN if leaving
    out some group makes the curve infinite, or if G* is below 2.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997. The paper asks how large a difference must be for humans
       to see it.
    .. [2] Kocmi, T., Zouhar, V., Federmann, C. & Post, M. (2024). Navigating the metrics maze: reconciling score
       magnitudes and accuracies. ACL, 1999-2014.

    Examples
    --------
    >>> import llbt
    >>> agree = [0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1]
    >>> curve = llbt.metrics.difference_curve([0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4], agree, bins=3)
    >>> round(curve.needed, 2), curve.bins.agreements.tolist()
    (1.65, [2, 2, 4])
    """
    size, agreed, clusters, notes = _read(metric_difference, agree, groups)
    curve = agreement_regression(size, agreed, clusters)
    needed, why = _needed(curve, target, confidence)
    if clusters is not None and len(size):
        why = [*why, _by_groups(clusters)]
    reasons = [curve.reason] if np.isnan(curve.params).any() else [*([curve.reason] if curve.reason else []), *why]
    if clusters is None and len(size):
        reasons = [*reasons, "pairs are taken as independent; groups= allows for dependence within groups"]
    return DifferenceCurve(
        size,
        agreed,
        curve.params,
        curve.cov,
        _binned(size, agreed, int(bins), confidence),
        float(target),
        *needed,
        confidence,
        (*notes, *reasons),
        curve.shares,
    )


def _by_groups(clusters: IntArray) -> str:
    number, effective = effective_clusters(np.bincount(clusters).astype(np.float64))
    return f"standard errors: CR3 by {counted(number, 'group')} (G* = {format_number(effective, 3)})"


def _read(
    metric_difference: object, agree: object, groups: Sequence[object] | None
) -> tuple[FloatArray, npt.NDArray[np.bool_], IntArray | None, list[str]]:
    """Return |difference|, agreement and cluster of the pairs that are counted."""
    size = np.abs(numbers("metric_difference", metric_difference))
    agreement = numbers("agree", agree, missing=True)
    if len(agreement) != len(size):
        raise JudgmentError(f"{len(size)} differences and {len(agreement)} agreements", expected="one each per pair")
    defined = ~np.isnan(agreement)
    wrong = defined & (agreement != 0) & (agreement != 1)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise JudgmentError(
            f"agree= has {int(wrong.sum()):,} values that are not 0 or 1 (first {agreement[at]} at pair {at})",
            "Use pairwise_accuracy(…, ties='strict') or ties='drop'.",
        )
    notes = [] if defined.all() else [f"left out: {counted(int((~defined).sum()), 'pair')} without an agreement"]
    return size[defined], agreement[defined] == 1, _clusters(groups, defined), notes


def _clusters(groups: Sequence[object] | None, defined: npt.NDArray[np.bool_]) -> IntArray | None:
    if groups is None:
        return None
    if len(groups) != len(defined):
        raise OptionError(f"groups= has {len(groups)} labels for {len(defined)} pairs", expected="one per pair")
    codes, levels = pd.factorize(pd.Series(list(groups), dtype=object))
    if (codes < 0).any() or len(np.unique(codes[defined])) < 2:
        raise OptionError(
            f"groups= has {len(levels)} groups and {int((codes < 0).sum())} missing labels",
            "Leave groups= out for independent pairs.",
            expected="a label for each pair, and at least two groups",
        )
    return np.asarray(codes[defined], dtype=np.int64)


def _needed(
    curve: AgreementRegression, target: float, confidence: float
) -> tuple[tuple[float, float, float], list[str]]:
    """Return the difference at which the curve reaches the target, its interval, and notes that qualify it."""
    intercept, slope = curve.params
    if not slope > 0:
        reason = "agreement does not rise with the difference, so no difference is large enough: NaN"
        return (math.nan, math.nan, math.nan), [reason]
    estimate = float((special.logit(target) - intercept) / slope)
    rows = np.array([[1.0, estimate], [0.0, 1.0]])
    reach = curve.critical(rows, confidence) * curve.errors(rows)
    half, of_slope = float(reach[0] / slope), float(reach[1])
    notes = []
    if estimate < 0:
        notes.append(f"P(agree) is above {target:g} at any difference, so the needed difference is 0")
    if slope < of_slope:
        notes.append("the slope is not clearly above 0: the interval of the needed difference is rough")
    if math.isnan(half) and not curve.reason:
        notes.append("the needed difference rests on fewer than two groups (G*), so it has no interval")
    low, middle, high = np.maximum(0.0, [estimate - half, estimate, estimate + half]).tolist()  # NaN stays NaN
    return (middle, low, high), notes


def _binned(size: FloatArray, agree: npt.NDArray[np.bool_], bins: int, confidence: float) -> DifferenceBins:
    """Return shares of agreement in bins of about equal numbers of pairs; equal differences stay together."""
    from statsmodels.stats.proportion import proportion_confint

    if not len(size):
        none, zero = np.empty(0), np.empty(0, dtype=np.int64)
        return DifferenceBins(none, none, none, zero, zero, none, none, none)
    edges = np.unique(np.quantile(size, np.arange(bins + 1) / bins))
    where = np.clip(np.searchsorted(edges, size, side="right") - 1, 0, max(len(edges) - 2, 0))
    used_bins, where = np.unique(where, return_inverse=True)
    n = np.bincount(where)
    agreements = np.bincount(where, weights=agree).astype(np.int64)
    low, high = proportion_confint(agreements, n, alpha=1 - confidence, method="wilson")
    upper = edges[np.minimum(used_bins + 1, len(edges) - 1)]
    mean = np.bincount(where, weights=size) / n
    return DifferenceBins(
        edges[used_bins], upper, mean, n, agreements, agreements / n, np.asarray(low), np.asarray(high)
    )
