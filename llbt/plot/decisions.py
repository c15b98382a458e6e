"""Pictures of a metric's agreement with humans: over subsets of systems, by pair, and by the size of differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ..base.arguments import JUDGED_INSIDE, checked
from ..base.table import format_number
from ..errors import OptionError, listed, printable
from ..metrics.decision_records import DecisionTable
from ..metrics.difference_curve import DifferenceCurve
from ..metrics.kernels import NAMES
from ..metrics.subsets import SubsetCorrelations
from .style import (
    BLUE,
    COLUMN,
    DASHED,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    axes_of,
    finish,
    legend_above,
    look_of,
    points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW_PAIRS = 400  # whose points are of full size
_FEW_SUBSETS = 60  # with a marker each
_LOOKS = {
    "both": ("both", BLUE, "o"),
    "metric_only": ("metric only", ORANGE, "s"),
    "opposite": ("opposite", PURPLE, "X"),
    "humans_only": ("humans only", GREEN, "^"),
    "neither": ("neither", GREY, "."),
}
_XLABELS = {"top": "Best systems taken", "rolling": "Rank of the best system", "sampled": "Systems"}


@checked
def subset_correlations(
    subsets: Annotated[SubsetCorrelations | Mapping[str, SubsetCorrelations], JUDGED_INSIDE], *, ax: Axes | None = None
) -> Axes:
    """Plot correlations with human scores over the best systems, over neighbours in quality, or over random systems.

    Parameters
    ----------
    subsets : SubsetCorrelations, or mapping of names to SubsetCorrelations
        The result of `subset_correlations`; several results for several metrics, or to compare the best with random
        systems. Rolling subsets need an axis of their own, so they cannot be drawn with others.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One line for each result, broken where a correlation is undefined. Random systems have their median, with a band
        that contains the share `confidence` of the draws. The axis runs to fewer and better systems.

    Raises
    ------
    OptionError
        For other arguments, and for results that do not fit on the same axes.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> subsets = llbt.metrics.subset_correlations([31, 28, 30, 27, 10], [0.3, 0.2, 0.1, 0.0, -1.4])
    >>> ax = llbt.plot.subset_correlations(subsets)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Best systems taken', "Pearson's r")
    """
    drawn = _checked_subsets(subsets)
    ax = axes_of(ax, COLUMN, 2.8)
    from matplotlib.ticker import MaxNLocator

    ax.axhline(0, color="black", linewidth=0.6, zorder=0)
    for k, (name, one) in enumerate(drawn.items()):
        _draw_subset(ax, name, one, k)
    first = next(iter(drawn.values()))
    ax.set_xlabel(_XLABELS[first.subsets])
    ax.set_ylabel(NAMES[first.coefficient])
    ax.set_ylim(-1.05, 1.05)
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, np.ceil(low) - 0.5), max(high, np.floor(high) + 0.5))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if first.subsets != "rolling":
        ax.invert_xaxis()
    if len(drawn) > 1:
        legend_above(ax)
    return finish(ax)


def _checked_subsets(subsets: object) -> dict[str, SubsetCorrelations]:
    """Return the results to draw by name; raise unless they fit on the same axes."""
    given = dict(subsets) if isinstance(subsets, Mapping) else {"": subsets}
    drawn = {str(name): one for name, one in given.items() if isinstance(one, SubsetCorrelations)}
    if not drawn or len(drawn) < len(given):
        raise OptionError(
            f"found {listed([type(one).__name__ for one in given.values()]) or 'nothing'}",
            expected="what llbt.metrics.subset_correlations returns, or a mapping of names to such results",
        )
    if len({(one.subsets == "rolling", one.coefficient) for one in drawn.values()}) > 1:
        raise OptionError(
            "one plot cannot show rolling and other subsets, or several coefficients",
            "Draw them in separate plots with ax=.",
        )
    return drawn


def _draw_subset(ax: Axes, name: str, one: SubsetCorrelations, k: int) -> None:
    x = one.first if one.first is not None and one.subsets == "rolling" else one.n
    order = np.argsort(x)
    colour, marker = look_of(k)
    if one.subsets == "sampled":
        low, high = one.conf_int()[order].T
        ax.fill_between(x[order], low, high, color=colour, alpha=0.2, linewidth=0)
    size = 4 if len(x) <= _FEW_SUBSETS else 0  # of many the line shows each
    ax.plot(x[order], one.estimate[order], color=colour, marker=marker, markersize=size, linewidth=1.2, label=name)


@checked
def decisions(decisions: DecisionTable, *, ax: Axes | None = None) -> Axes:
    """Plot differences of human scores against differences of a metric, by pair, and mark errors of both types.

    Parameters
    ----------
    decisions : DecisionTable
        The result of `metrics.decisions`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One mark per pair. The metric prefers the first system of each pair; below 0, humans prefer the other. The
        legend has the number of each outcome: both significant in the same direction; the metric only, or both in
        opposite directions (type I); humans only (type II); neither.

    Raises
    ------
    OptionError
        For anything other than a `DecisionTable`.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> metric, human = ([2.1, -0.3, 1.0], [0.001, 0.4, 0.03]), ([0.2, -0.1, 0.0], [0.01, 0.02, 0.9])
    >>> decisions = llbt.metrics.decisions_from_tests(*metric, *human)
    >>> [text.get_text() for text in llbt.plot.decisions(decisions).get_legend().get_texts()]
    ['both: 1', 'metric only: 1', 'humans only: 1']
    """
    ax = axes_of(ax, COLUMN, 3.5)
    turn = np.where(decisions.metric_difference < 0, -1.0, 1.0)
    x, y, outcome = turn * decisions.metric_difference, turn * decisions.human_difference, decisions.outcome
    ax.axhline(0, color="black", linewidth=0.6, zorder=0)
    area = float(np.clip(16 * _FEW_PAIRS / max(1, len(x)), 1.5, 16))  # points²
    edge = 0.5 if len(x) <= _FEW_PAIRS else 0.0
    for zorder, name in enumerate(["neither", "both", "humans_only", "metric_only", "opposite"], start=1):
        mask = outcome == name
        if mask.any():
            label, colour, marker = _LOOKS[name]
            text = f"{label}: {int(mask.sum()):,}"
            ax.scatter(
                x[mask], y[mask], s=area, color=colour, marker=marker, label=text, linewidths=edge, zorder=zorder
            )
    ax.set_xlabel("Metric difference")
    ax.set_ylabel("Human difference")
    handles = {label.split(":")[0]: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if handles:
        legend_above(ax, [handles[label] for label, _, _ in _LOOKS.values() if label in handles])
        for handle in ax.get_legend().legend_handles:  # type: ignore[union-attr]
            handle.set_sizes([16])  # type: ignore[union-attr]
    return finish(ax)


@checked
def difference_curve(curve: DifferenceCurve, *, unit: str = "", ax: Axes | None = None) -> Axes:
    """Plot the probability that humans agree against the size of a metric's difference, and mark the needed difference.

    Parameters
    ----------
    curve : DifferenceCurve
        The result of `difference_curve`.
    unit : str
        The metric, for the axis: ``"BLEU"``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The curve with its band, the bins with Wilson's intervals at their mean differences, the target as a dashed
        line, and the needed difference where the curve reaches it, if it is within the observed range. The axis ends
        after the bins, so a few huge differences do not compress the rest.

    Raises
    ------
    OptionError
        For anything other than a `DifferenceCurve`.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> agree = [0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1]
    >>> curve = llbt.metrics.difference_curve([0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4], agree, bins=3)
    >>> llbt.plot.difference_curve(curve, unit="BLEU").get_xlabel()
    'Difference of BLEU'
    """
    ax = axes_of(ax, COLUMN, 2.8)
    largest = _reach(curve)
    at = np.linspace(0, largest, 201)
    probability = curve.predict(at)
    ax.fill_between(at, probability["conf_low"], probability["conf_high"], color=BLUE, alpha=0.2, linewidth=0)
    ax.plot(at, probability["estimate"], color=BLUE, linewidth=1.4)
    bins = curve.bins
    points(ax, bins.mean, bins.estimate, np.column_stack([bins.conf_low, bins.conf_high]), (ORANGE, "o"), across=False)
    _mark_target(ax, curve, largest)
    ax.set_xlim(0, largest * 1.02)
    ax.set_ylim(min(0.45, *bins.conf_low - 0.05) if len(bins.n) else 0, 1.02)
    ax.set_xlabel(f"Difference of {printable(unit)}" if unit else "Metric difference")
    ax.set_ylabel("P(humans agree)")
    return finish(ax)


def _reach(curve: DifferenceCurve) -> float:
    """Return the end of the axis: past the bins and the needed difference, but not at a single huge difference."""
    largest = float(curve.difference.max(initial=0.0)) or 1.0
    needed = 0.0 if math.isnan(curve.needed) else curve.needed
    return min(largest, 1.2 * max(float(curve.bins.mean.max(initial=0.0)), needed) or largest)


def _mark_target(ax: Axes, curve: DifferenceCurve, largest: float) -> None:
    """Draw the target, and a line from the point where the curve reaches it down to the needed difference."""
    ax.axhline(curve.target, color="black", linewidth=0.8, linestyle=DASHED, zorder=1)
    if math.isnan(curve.needed) or curve.needed > largest:
        return
    ax.vlines(curve.needed, 0, curve.target, color=BLUE, linewidth=0.9, linestyle=":", zorder=1)
    right = curve.needed > 0.7 * largest
    ax.annotate(
        format_number(curve.needed, 3),
        xy=(curve.needed, 0.03),
        xycoords=ax.get_xaxis_transform(),
        xytext=(-3 if right else 3, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        color=BLUE,
        fontsize="small",
    )
