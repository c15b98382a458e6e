"""The picture of how ranks change with the method, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy import stats

from ..arguments import checked
from ..core.columns import FloatArray
from ..errors import JudgmentError, kind_of, listed
from .look import COLOURS, COLUMN, GREY, axes_of, finish, lay_out, mark_ranks, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values = Literal["scores", "ranks"]

# of Okabe & Ito (2008), as in `plot.worth`
_COLOURS = (*COLOURS[:-1], "#000000")
_REST = GREY
_SAME = 1e-9  # relative to the range of a method's scores: closer ones share a rank
_WIDE = 9  # letters of a method's name that fit between two methods
_LEAST = 5.0  # points: smaller names are left out
_ROUNDING = 1e-12  # relative to its largest one


@checked
def ranks_by_method(frame: pd.DataFrame, *, values: Values = "scores", ax: Axes | None = None) -> Axes:
    """Plot the ranks that systems have under several methods: one line per system, crossing where methods disagree.

    Parameters
    ----------
    frame : DataFrame, systems × methods
        Scores (higher is better) or ranks (1 is best); NaN where a method does not rate a system.
    values : {"scores", "ranks"}
        What it holds.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that grows with both.

    Returns
    -------
    matplotlib.axes.Axes
        The best on top. Systems that a method puts level share the mean of their ranks, with their names below each
        other beside it. Up to seven systems have a colour each; of more, the seven whose rank changes most, and
        names that do not fit are left out.

    Raises
    ------
    JudgmentError
        For anything but a DataFrame of numbers with two or more systems and methods, and systems or methods that stand
        there twice.
    OptionError
        For unknown options.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib, pandas as pd
    >>> matplotlib.use("Agg")
    >>> scores = pd.DataFrame({"mean": [3.8, 2.5, 2.5], "bt": [0.2, 0.3, 0.5]}, index=["A", "B", "C"])
    >>> ax = llbt.plot.ranks_by_method(scores)
    >>> {line.get_label(): line.get_ydata().tolist() for line in ax.lines}
    {'A': [1.0, 3.0], 'B': [2.5, 2.0], 'C': [2.5, 1.0]}
    """
    ranks = _ranks(_checked(frame), values)
    size, methods = ranks.shape
    ax = axes_of(ax, max(COLUMN, 1.4 + 0.7 * methods), max(2.4, 0.13 * size + 0.7))
    colours = _colours(ranks)
    for row, label in zip(ranks, frame.index, strict=True):
        colour = colours[len(ax.lines) % size]
        ax.plot(
            range(methods),
            row,
            color=colour,
            label=str(label),
            marker="o",
            markersize=float(np.clip(120 / size, 2, 5)),
            linewidth=0.8 if colour == _REST else 1.6,
            zorder=2 if colour == _REST else 3,
        )
    _name_methods(ax, short_names(frame.columns))
    ax.set(xlim=(-0.15, methods - 0.85), ylim=(size + 0.6, 0.4), ylabel="Rank")
    _frame_axes(ax, size)
    _name_systems(ax, ranks, short_names(frame.index), colours)
    return finish(ax, 0.7 * methods)


def _checked(frame: object) -> FloatArray:
    """Return the values of a frame of systems × methods."""
    if not isinstance(frame, pd.DataFrame):
        raise JudgmentError(f"found {kind_of(frame)}", expected="a DataFrame of systems × methods")
    if min(frame.shape) < 2:
        raise JudgmentError(
            f"{frame.shape[0]} systems and {frame.shape[1]} methods",
            "Systems are the rows, methods the columns: frame.T exchanges them.",
            expected="two or more of each",
        )
    for labels, what in ((frame.index, "system"), (frame.columns, "method")):
        if labels.has_duplicates:
            raise JudgmentError(f"{what} {labels[labels.duplicated()][0]!r} stands there twice", expected="once")
    odd = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    if odd:
        raise JudgmentError(f"column {listed(odd)} holds no numbers", expected="scores or ranks in every column")
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _ranks(values: FloatArray, kind: Values) -> FloatArray:
    """Return ranks from 1 (the best), level ones averaged; NaN where there is no value."""
    downwards = -values if kind == "scores" else values
    finite = np.where(np.isfinite(values), values, np.nan)
    spread = np.fmax.reduce(finite, axis=0) - np.fmin.reduce(finite, axis=0)
    largest = np.fmax.reduce(np.abs(finite), axis=0)
    step = np.nan_to_num(np.fmax(_SAME * spread, _ROUNDING * largest))  # 0: all are 0
    rounded = np.round(downwards / np.where(step > 0, step, 1.0))
    return np.asarray(stats.rankdata(rounded, axis=0, nan_policy="omit"), dtype=np.float64)


def _colours(ranks: FloatArray) -> list[str]:
    """Return a colour per system; grey for all but those whose rank changes most, where there are too many."""
    change = np.fmax.reduce(ranks, axis=1) - np.fmin.reduce(ranks, axis=1)
    order = np.argsort(-np.nan_to_num(change), kind="stable")[: len(_COLOURS)]
    chosen = order if len(ranks) <= len(_COLOURS) else order[change[order] > 0]
    found = [_REST] * len(ranks)
    for colour, k in zip(_COLOURS, sorted(chosen.tolist()), strict=False):
        found[k] = colour
    return found


def _name_methods(ax: Axes, names: list[str]) -> None:
    """Write the names of the methods below them, slanted where they are long."""
    ax.set_xticks(range(len(names)), names, fontsize="small")
    if max(map(len, names)) > _WIDE:
        for label in ax.get_xticklabels():
            label.set(rotation=45, ha="right", rotation_mode="anchor")


def _frame_axes(ax: Axes, size: int) -> None:
    mark_ranks(ax.yaxis, size, 20)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(axis="x", length=0)


def _name_systems(ax: Axes, ranks: FloatArray, labels: list[str], colours: list[str]) -> None:
    """Write names right of the last method that rates a system, level ones below each other; grey ones where they fit.

    Level systems stand in the order of the methods before.
    """
    lay_out(ax)
    row = ax.get_window_extent().height / (len(ranks) + 0.2) / ax.figure.dpi * 72
    font = float(np.clip(0.85 * row, _LEAST, 9.0))
    rated = ~np.isnan(ranks)
    end = ranks.shape[1] - 1 - np.argmax(rated[:, ::-1], axis=1)
    height = ranks[np.arange(len(ranks)), end]
    order = np.lexsort(ranks.T)  # by the last method, then those before
    height[order] = np.where(rated[order, -1], np.arange(1, len(ranks) + 1), height[order])
    named: list[int] = []
    for k in sorted(np.flatnonzero(rated.any(axis=1)).tolist(), key=lambda k: colours[k] == _REST):
        if all(end[k] != end[m] or abs(height[k] - height[m]) * row >= 0.999 * font for m in named):
            named.append(k)
            ax.annotate(
                labels[k],
                xy=(end[k], height[k]),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=font,
                color="#555555" if colours[k] == _REST else colours[k],
                annotation_clip=False,
            )
