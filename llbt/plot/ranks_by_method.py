"""The picture of how ranks change with the method, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import pandas as pd
from scipy import stats

from ..base.arguments import JUDGED_INSIDE, Count, checked
from ..core.columns import FloatArray
from ..errors import JudgmentError, kind_of, listed
from .style import (
    COLUMN,
    GREY,
    axes_of,
    darker,
    finish,
    lay_out,
    look_beside_grey,
    make_room,
    mark_ranks,
    moved_apart,
    row_size,
    short_names,
    standing_out,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values = Literal["scores", "ranks"]

_SAME = 1e-9  # relative to the range of a method's scores: closer ones share a rank
_WIDE = 9  # letters of a method's name that fit between two methods
_TALL = 4.2  # inches of a figure with grey lines
_ROUNDING = 1e-12  # relative to its largest one


@checked
def ranks_by_method(
    frame: Annotated[pd.DataFrame, JUDGED_INSIDE],
    *,
    values: Values = "scores",
    most: Count = 10,
    ax: Axes | None = None,
) -> Axes:
    """Plot the ranks of systems by several methods, one line per system; lines cross where methods disagree.

    Parameters
    ----------
    frame : DataFrame, systems × methods
        Scores (higher is better) or ranks (1 is best); NaN where a method does not rate a system.
    values : {"scores", "ranks"}
        The content: scores or ranks.
    most : int
        The number of systems to colour and name: those whose rank changes most.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that grows with the numbers of systems and methods.

    Returns
    -------
    matplotlib.axes.Axes
        The best system is at the top. Systems tied by a method share their mean rank, with their names below each
        other. Beyond `most` systems, lines are grey and without names.

    Raises
    ------
    JudgmentError
        For arguments that are not a DataFrame of numbers with two or more systems and methods, and for repeated systems
        or methods.
    OptionError
        For unknown options and a `most` below 1.

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
    coloured = standing_out(-ranks, most).tolist()
    ax = axes_of(
        ax, max(COLUMN, 1.4 + 0.7 * methods), max(2.4, 0.13 * len(coloured) + 0.7, min(_TALL, 0.13 * size + 0.7))
    )
    looks = {k: look_beside_grey(n) for n, k in enumerate(coloured)}
    for k, label in enumerate(frame.index):
        _draw_system(ax, ranks[k], str(label), looks.get(k))
    _name_methods(ax, short_names(frame.columns))
    ax.set(xlim=(-0.15, methods - 0.85), ylim=(size + 0.6, 0.4), ylabel="Rank")
    if len(coloured) < size:
        ax.set_xlabel(f"(in colour: the {len(coloured)} that change most)")
    _frame_axes(ax, size)
    names = short_names(frame.index)
    _name_systems(ax, ranks[coloured], [names[k] for k in coloured], [looks[k][0] for k in coloured])
    return finish(ax, 0.7 * methods)


def _draw_system(ax: Axes, ranks: FloatArray, label: str, look: tuple[str, str] | None) -> None:
    """Draw the line of a system, grey and thin if it has no style of its own."""
    colour, marker = look or (GREY, "o")
    line = ax.plot(range(len(ranks)), ranks, color=colour, marker=marker, label=label)[0]
    if look is None:
        line.set(linewidth=0.5, markersize=2, alpha=0.4)
    else:
        line.set(linewidth=1.6, markersize=5, zorder=3)


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
            raise JudgmentError(f"{what} {labels[labels.duplicated()][0]!r} occurs twice", expected="once")
    odd = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    if odd:
        raise JudgmentError(f"column {listed(odd)} holds no numbers", expected="scores or ranks in every column")
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _ranks(values: FloatArray, kind: Values) -> FloatArray:
    """Return ranks from 1 (the best), with the mean rank for ties; NaN where there is no value."""
    downwards = -values if kind == "scores" else values
    finite = np.where(np.isfinite(values), values, np.nan)
    spread = np.fmax.reduce(finite, axis=0) - np.fmin.reduce(finite, axis=0)
    largest = np.fmax.reduce(np.abs(finite), axis=0)
    step = np.nan_to_num(np.fmax(_SAME * spread, _ROUNDING * largest))  # 0: all are 0
    rounded = np.round(downwards / np.where(step > 0, step, 1.0))
    return np.asarray(stats.rankdata(rounded, axis=0, nan_policy="omit"), dtype=np.float64)


def _name_methods(ax: Axes, names: list[str]) -> None:
    """Write the names of the methods on the horizontal axis, slanted if one is long."""
    ax.set_xticks(range(len(names)), names, fontsize="small")
    if max(map(len, names)) > _WIDE:
        for label in ax.get_xticklabels():
            label.set(rotation=45, ha="right", rotation_mode="anchor")


def _frame_axes(ax: Axes, size: int) -> None:
    mark_ranks(ax.yaxis, size, 20)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(axis="x", length=0)


def _name_systems(ax: Axes, ranks: FloatArray, labels: list[str], colours: list[str]) -> None:
    """Write names right of the last method that rates a system, moved apart where ranks are close.

    Tied systems are in the order of the previous methods.
    """
    make_room(ax, height=0.13 * len(labels))
    lay_out(ax)
    low, high = sorted(ax.get_ylim())
    font = row_size(ax, len(labels))
    gap = min(
        1.05 * font / 72 * ax.figure.dpi / ax.get_window_extent().height * (high - low), (high - low) / len(labels)
    )
    rated = ~np.isnan(ranks)
    end = ranks.shape[1] - 1 - np.argmax(rated[:, ::-1], axis=1)
    for column in np.unique(end[rated.any(axis=1)]).tolist():
        ending = np.flatnonzero((end == column) & rated[:, column])
        ending = ending[np.lexsort(ranks[ending, : column + 1].T)]  # by this method, then those before
        heights = moved_apart(_spread(ranks[ending, column], max(1.0, gap)), gap, high - gap / 2)
        for k, height in zip(ending.tolist(), heights, strict=True):
            ax.annotate(
                labels[k],
                xy=(column, height),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=font,
                color=darker(colours[k]),
                annotation_clip=False,
            )


def _spread(ranks: FloatArray, step: float) -> list[float]:
    """Return heights around ascending ranks, with a distance `step` between tied systems."""
    _, first, number = np.unique(ranks, return_index=True, return_counts=True)
    middle = np.repeat(first + (number - 1) / 2, number)
    return list((ranks + step * (np.arange(len(ranks)) - middle)).tolist())
