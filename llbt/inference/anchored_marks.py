"""Convert worths to an external scale on which some objects have known marks, with prediction intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arguments import is_real
from ..base.table import Qualifying, counted
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.statistics import critical_value
from ..errors import DesignError, OptionError, listed, near, safe_repr
from .log_worths import LogWorths


@dataclass(frozen=True, eq=False)
class AnchoredMarks:
    """Marks of J objects on the scale of the anchors' external marks. All arrays have shape (J,).

    Attributes
    ----------
    external : ndarray
        The external marks given in `anchors`; NaN for other objects.
    estimate : ndarray
        The mark of each object on the line through the anchors.
    low, high : ndarray
        Prediction interval of the mark that the external marker would give; NaN for anchors, because their mark is
        known.
    slope : float
        The change in marks for one log-worth.
    correlation : float
        The correlation of the anchors' marks with their log-worths; NaN for two anchors.
    notes : tuple of str
    """

    external: FloatArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    slope: float
    correlation: float
    notes: tuple[str, ...]


def check_anchors(anchors: Mapping[Any, Any], c: Comparisons) -> FloatArray:
    """Return each object's external mark, shape (J,), NaN if it has none; raise if the anchors determine no line."""
    marks = np.full(len(c.objects), np.nan)
    for label, mark in anchors.items():
        if label not in c.objects:
            raise OptionError(
                f"anchors: no object {safe_repr(label)}{near(str(label), c.objects)}",
                expected=f"among {listed(c.objects)}",
            )
        if not is_real(mark) or not math.isfinite(float(mark)):
            raise OptionError(
                f"anchors: the mark of {safe_repr(label)} is {safe_repr(mark)}", expected="a finite number"
            )
        marks[c.objects.index(label)] = float(mark)
    first = dict(zip(c.objects[:2], (10, 20), strict=True))
    named = int((~np.isnan(marks)).sum())
    if named < 2:
        raise OptionError(
            f"anchors has {counted(named, 'object')}", f"Name two or more: anchors={first!r}.",
            expected="two or more, for a line through them",
        )  # fmt: skip
    if np.nanmin(marks) == np.nanmax(marks):
        raise OptionError(f"all anchors have the mark {np.nanmax(marks):g}", expected="marks that differ, for a line")
    return marks


def anchored_marks(marks: FloatArray, log_worths: LogWorths, confidence: float) -> AnchoredMarks:
    """Return the marks of all objects on the line of the anchors' marks against their log-worths.

    Parameters
    ----------
    marks : ndarray, shape (J,)
        External marks; NaN for objects without one.
    log_worths : LogWorths
    confidence : float

    Notes
    -----
    With three or more anchors, the line is fitted by least squares, and intervals are t intervals of a new observation
    at the object's log-worth. The residual variance includes the errors of the anchors' log-worths. If the object's
    error variance is larger than the mean of the anchors' error variances, the difference is added. With two anchors,
    the line goes through both, and intervals come from the delta method on the log-worths alone.
    """
    anchors = np.flatnonzero(~np.isnan(marks))
    x, y = log_worths.estimate, marks[anchors]
    if np.isnan(x[anchors]).any() or np.ptp(x[anchors]) == 0:
        raise DesignError(
            "anchors: their worths are equal or unknown, so there is no line through their marks", "Name other anchors."
        )
    slope, correlation = _line(x[anchors], y)
    estimate = y.mean() + slope * (x - x[anchors].mean())
    half, notes = (_by_worths if len(anchors) == 2 else _by_residuals)(x, y, slope, log_worths, anchors, confidence)
    half[anchors] = np.nan
    if slope < 0:
        notes = (
            Qualifying("The line falls: better objects have lower marks. Check the direction of the marks."),
            *notes,
        )
    return AnchoredMarks(marks, estimate, estimate - half, estimate + half, slope, correlation, notes)


def _line(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    away = x - x.mean()
    slope = float(away @ (y - y.mean()) / (away @ away))
    return slope, float(np.corrcoef(x, y)[0, 1]) if len(x) > 2 else math.nan


def _by_residuals(
    x: FloatArray, y: FloatArray, slope: float, log_worths: LogWorths, anchors: IntArray, confidence: float
) -> tuple[FloatArray, tuple[str, ...]]:
    df = len(anchors) - 2
    away = x - x[anchors].mean()
    residual = y - y.mean() - slope * away[anchors]
    variance = float(residual @ residual) / df
    error = np.diag(log_worths.cov)
    more = slope**2 * np.maximum(error - error[anchors].mean(), 0.0)
    spread = variance * (1 + 1 / len(anchors) + away**2 / (away[anchors] @ away[anchors])) + more
    note = f"Marks: least-squares line through {len(anchors)} anchors; t({df}) intervals predict a new mark."
    return critical_value(confidence, df) * np.sqrt(spread), (note,)


def _by_worths(
    x: FloatArray, y: FloatArray, slope: float, log_worths: LogWorths, anchors: IntArray, confidence: float
) -> tuple[FloatArray, tuple[str, ...]]:
    first, second = anchors
    share = (x - x[first]) / (x[second] - x[first])  # share of the way from the first anchor to the second
    weights = np.eye(len(x))  # mark = y1 + slope·(λ − λ1), and slope depends on λ1 and λ2
    weights[:, first] -= 1 - share
    weights[:, second] -= share
    spread = slope**2 * np.einsum("ij,jk,ik->i", np.nan_to_num(weights), log_worths.cov, np.nan_to_num(weights))
    note = Qualifying(
        "Two anchors: their marks are taken as exact, so intervals reflect only the errors of the worths. "
        "Name three or more anchors for prediction intervals."
    )
    return critical_value(confidence, np.inf) * np.sqrt(np.maximum(spread, 0.0)), (note,)
