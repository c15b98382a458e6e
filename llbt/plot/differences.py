"""Pictures of scores of systems on the same instances, with matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import checked
from ..base.table import format_number, format_percent
from ..core.columns import FloatArray, IntArray, Label, is_among
from ..data.system_scores import TIE, as_scores
from ..errors import JudgmentError, OptionError, listed
from .style import BLUE, COLUMN, GREY, ORANGE, axes_of, finish, label_scale, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# of Okabe & Ito (2008), as in `plot.worth`
_I, _J, _TIE = BLUE, ORANGE, GREY
_BRIEF = 14  # letters of a name inside the axes
_WIDE = 36  # letters of a title that fit above a small picture
_LARGEST = 1e300  # score; sums of larger ones are no floats
_DASHED = (0, (3, 2))


@dataclass(frozen=True, eq=False)
class _Two:
    """Scores of two systems on the n instances that have both, and 1 where i wins, 0 for ties, −1 where j wins."""

    i: FloatArray
    j: FloatArray
    side: IntArray
    higher_is_better: bool

    @property
    def shares(self) -> tuple[str, str, str]:
        """Share of the instances that i wins, that are ties, and that j wins."""
        wins_i, ties, wins_j = (format_percent(float(np.mean(self.side == k))) for k in (1, 0, -1))
        return wins_i, ties, wins_j


@checked
def paired(
    frame: object,
    i: Label,
    j: Label,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot the scores of two systems on the same instances against each other, with both distributions.

    Parameters
    ----------
    frame : frame, path, list of records or SystemScores
        Scores, wide or long, as `scores.pairwise` reads them.
    i, j : label
        The systems; i on the horizontal axis.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One point per instance; i wins the instances in the shaded triangle. There are lines at the mean (solid) and the
        median (dashed) of each system, and histograms of the scores above and on the right.

    Raises
    ------
    OptionError
        For an unknown system.
    JudgmentError
        For two systems without a common instance.

    References
    ----------
    Peyrard, M., Zhao, W., Eger, S. & West, R. (2021). Better than average: paired evaluation of NLP systems. ACL,
    2301-2315, figure 2.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib, pandas as pd
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.paired(pd.DataFrame({"A": [9.0, 1, 2, 3], "B": [1.0, 2, 3, 4]}), "A", "B")
    >>> [text.get_text() for text in ax.texts]
    ['A wins 25 %', 'B wins 75 %']
    """
    two = _two_systems(frame, (i, j))
    ax = axes_of(ax, COLUMN, COLUMN)
    of_i, of_j = short_names((i, j))
    both = np.concatenate([two.i, two.j])
    edge = 0.06 * (np.ptp(both) or abs(both[0]) or 1.0)
    low, high = float(both.min() - edge), float(both.max() + edge)
    won = (high, low) if two.higher_is_better else (low, high)  # the corner of the triangle
    ax.fill([low, won[0], high], [low, won[1], high], color=_I, alpha=0.1, linewidth=0, zorder=0)
    ax.plot([low, high], [low, high], color="black", linewidth=0.8, zorder=1)
    size = float(np.clip(600 / len(two.i), 2, 14))
    ax.scatter(two.i, two.j, s=size, color="black", alpha=0.45, linewidths=0, zorder=3)
    ax.set(xlim=(low, high), ylim=(low, high), xlabel=f"Score of {of_i}", ylabel=f"Score of {of_j}")
    ax.set_box_aspect(1)
    _mark_centres(ax, two)
    _name_sides(ax, two, short_names((i, j), _BRIEF))
    _add_margins(ax, two)
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.19), ncols=2)
    return finish(ax)


def _mark_centres(ax: Axes, two: _Two) -> None:
    """Draw the mean and the median of either system: vertical lines for i, horizontal lines for j."""
    for value, style, name in ((np.mean, "-", "mean"), (np.median, _DASHED, "median")):
        ax.axvline(float(value(two.i)), color=_I, linestyle=style, linewidth=1.2, zorder=2)
        ax.axhline(float(value(two.j)), color=_J, linestyle=style, linewidth=1.2, zorder=2)
        ax.plot([], [], color="black", linestyle=style, linewidth=1.2, label=name)


def _name_sides(ax: Axes, two: _Two, names: list[str]) -> None:
    """Write the share of wins of each system into the corner of its triangle."""
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.8}
    wins_i, _, wins_j = two.shares
    corners = [((0.97, 0.03), ("right", "bottom")), ((0.03, 0.97), ("left", "top"))]
    texts = [(f"{names[0]} wins {wins_i}", _I), (f"{names[1]} wins {wins_j}", _J)]
    order = 1 if two.higher_is_better else -1
    for (place, side), (text, colour) in zip(corners[::order], texts, strict=True):
        ax.text(
            *place,
            text,
            transform=ax.transAxes,
            ha=side[0],
            va=side[1],
            color=colour,
            fontsize="small",
            bbox=box,
            zorder=4,
        )


def _add_margins(ax: Axes, two: _Two) -> None:
    """Draw the histograms of both systems on common bins above and on the right."""
    bins = np.linspace(*ax.get_xlim(), _n_bins(len(two.i)) + 1)
    top, right = ax.inset_axes((0, 1.02, 1, 0.18), sharex=ax), ax.inset_axes((1.02, 0, 0.18, 1), sharey=ax)
    top.hist(two.i, bins=bins.tolist(), color=_I, alpha=0.6)
    right.hist(two.j, bins=bins.tolist(), color=_J, alpha=0.6, orientation="horizontal")
    for margin in (top, right):
        margin.set_axis_off()
    top.set_ylim(0, 1.06 * top.get_ylim()[1])


@checked
def differences(
    frame: object,
    i: Label,
    j: Label,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot the distribution of the differences of two systems' scores on the same instances.

    Parameters
    ----------
    frame : frame, path, list of records or SystemScores
        Scores, wide or long, as `scores.pairwise` reads them.
    i, j : label
        The systems; differences are i − j.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A histogram in the colours of the winning systems, with an edge at 0 and with ties in grey at the right of this
        edge. There are lines at 0, the mean and the median of the differences, and the shares of wins in the title.

    Raises
    ------
    OptionError
        For an unknown system.
    JudgmentError
        For two systems without a common instance.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib, pandas as pd
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.differences(pd.DataFrame({"A": [9.0, 1, 2, 3], "B": [1.0, 2, 3, 4]}), "A", "B")
    >>> ax.get_title()
    'A wins 25 %, B wins 75 %'
    """
    two = _two_systems(frame, (i, j))
    ax = axes_of(ax, COLUMN, 2.8)
    of_i, of_j = short_names((i, j))
    difference, side = two.i - two.j, two.side
    groups = [difference[side == -1], np.zeros(int(np.sum(side == 0))), difference[side == 1]]
    edges = _edges_at_zero(difference).tolist()
    ax.hist(groups, bins=edges, stacked=True, color=[_J, _TIE, _I], alpha=0.6, edgecolor="white", linewidth=0.4)
    ax.axvline(0, color="black", linewidth=0.8)
    mean, median = float(difference.mean()), float(np.median(difference))
    ax.axvline(mean, color="black", linewidth=1.4, label=f"mean {_number(mean)}")
    ax.axvline(median, color="black", linewidth=1.4, linestyle=_DASHED, label=f"median {_number(median)}")
    label_scale(ax, f"Score of {of_i} − score of {of_j}")
    ax.set_ylabel("Instances")
    wins_i, ties, wins_j = two.shares
    says = [f"{of_i} wins {wins_i}", *([f"ties {ties}"] if (side == 0).any() else []), f"{of_j} wins {wins_j}"]
    ax.set_title((", " if sum(map(len, says)) <= _WIDE else "\n").join(says), fontsize="medium")
    ax.set_ylim(0, 1.3 * ax.get_ylim()[1])  # room for the legend above the bars
    ax.legend(frameon=False, fontsize="small", loc="best", handlelength=1.8)
    return finish(ax)


def _number(value: float) -> str:
    return format_number(value, 3).replace("-", "−")


def _edges_at_zero(difference: FloatArray) -> FloatArray:
    """Return equal bins with an edge at 0."""
    low, high = min(float(difference.min()), 0.0), max(float(difference.max()), 0.0)
    width = ((high - low) or 1.0) / _n_bins(len(difference))
    return np.arange(np.floor(low / width), np.floor(high / width) + 2) * width


def _n_bins(n: int) -> int:
    return int(np.clip(2 * n ** (1 / 3), 10, 40))  # Rice's rule, and no fewer than ten


def _two_systems(frame: object, names: tuple[Label, Label]) -> _Two:
    scores = as_scores(frame)
    gone = [name for name in names if not is_among(name, set(scores.systems))]
    if gone:
        raise OptionError(f"no system {listed(gone)}", expected=f"two of {listed(list(scores.systems), 20)}")
    row_i, row_j = (scores.systems.index(name) for name in names)
    side = TIE - scores.rule.outcomes(scores.better[row_i], scores.better[row_j]).astype(np.int64)
    i, j = scores.values[row_i], scores.values[row_j]
    both = ~(np.isnan(i) | np.isnan(j))
    if not both.any():
        raise JudgmentError(
            f"{names[0]!r} and {names[1]!r} have no instance in common",
            "Choose systems that were scored on the same inputs.",
            expected="scores of both on the same instances",
        )
    largest = float(np.abs([i[both], j[both]]).max())
    if largest > _LARGEST:
        raise JudgmentError(
            f"a score of ±{largest:g}", "Divide all scores by one number.", expected=f"scores of at most ±{_LARGEST:g}"
        )
    return _Two(i[both], j[both], side[both], scores.higher_is_better)
