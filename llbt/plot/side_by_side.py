"""Several estimates of each object, with their intervals, side by side in its row, with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.columns import FloatArray, Label
from .style import (
    COLUMN,
    PALE,
    axes_of,
    finish,
    label_scale,
    legend_above,
    look_of,
    name_rows,
    points,
    rows_height,
    set_log_axis,
    short_names,
    zero_line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BESIDE = 0.7  # of a row that the estimates share
_MOST_TICKS = 6


def side_by_side(
    objects: Sequence[Label],
    estimates: FloatArray,
    ends: FloatArray,
    names: Sequence[str],
    label: str,
    *,
    zero: float | None = 0.0,
    logs: bool = False,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw K estimates (K, J) of J objects in the rows of the objects, with the ends of their intervals (K, J, 2).

    Parameters
    ----------
    objects, names : sequence
        Names of the rows, and names of the K estimates for the legend, which has the title `title`.
    label : str
        The name of the scale.
    zero : float, optional
        The value at which a line marks the middle.
    logs : bool
        Whether the scale is logarithmic.
    """
    several = len(names)
    ax = axes_of(ax, COLUMN, rows_height(len(objects), 0.14 + 0.09 * several) + 0.1 * ((several + 1) // 2))
    if logs:
        set_log_axis(ax, "x")
    if zero is not None:
        zero_line(ax, zero)
    for k, name in enumerate(short_names(names)):
        rows = np.arange(len(objects)) + _BESIDE * ((k + 0.5) / several - 0.5)
        points(ax, estimates[k], rows, ends[k], look_of(k), label=name)
    if not logs:
        ax.locator_params(axis="x", nbins=_MOST_TICKS)
    name_rows(ax, short_names(objects))
    for between in range(1, len(objects)):
        ax.axhline(between - 0.5, color=PALE, linewidth=0.5, zorder=-1)
    label_scale(ax, label)
    legend_above(ax, columns=3, title=title)
    return finish(ax)
