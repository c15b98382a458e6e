"""The picture of how few units can be removed to change a ranking, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..base.arguments import checked
from ..base.table import format_count
from ..fitting.fitted import WithWorths
from ..inference.fragility import Fragility
from ..inference.fragility import fragility as fragility_of
from .style import BLUE, GREY, finish, label_scale, legend_above, points, rows_of, set_log_axis, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 14  # letters of each of two objects beside the axis


@checked
def fragility(removals: Fragility | WithWorths, *, ax: Axes | None = None) -> Axes:
    """Plot how many units have to be left out for each change of a ranking.

    Parameters
    ----------
    removals : Fragility or a fit
        The result of `llbt.fragility`. For a fit, the changes of neighbours: ``llbt.fragility(res,
        change="adjacent")``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One row per change, named by an object and the object that overtakes it. The point is at the number of units
        left out, on a logarithmic scale: filled if this is the minimum, open if it is an upper bound. Rankings that did
        not change are grey, at the right end. The legend explains every mark in the picture.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> ax = llbt.plot.fragility(res)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A < D', 'D < B', 'B < C']
    """
    removals = removals if isinstance(removals, Fragility) else fragility_of(removals, change="adjacent")
    table = removals.to_frame()
    pairs = table[["object", "overtaken_by"]].to_numpy()
    labels = pd.unique(pairs.ravel())
    short = dict(zip(labels, short_names(labels, _NAME), strict=True))  # all at once: no two objects with one name
    removed = table["removed"].to_numpy(dtype=float)
    named = [
        str(change) if np.isnan(n) else " < ".join(short[label] for label in pair)
        for change, pair, n in zip(table["change"], pairs, removed, strict=True)
    ]
    ax = rows_of(ax, named, more=0.25)
    set_log_axis(ax, "x")
    rows, exact = np.arange(len(named)), (table["exact"] == "yes").to_numpy()
    for chosen, face, label in ((exact, BLUE, "minimum"), (~exact & ~np.isnan(removed), "none", "upper bound")):
        if chosen.any():
            place = removed[chosen]
            drawn = points(ax, place, rows[chosen], np.column_stack([place] * 2), (BLUE, "o"), label=label)
            drawn.lines[0].set_markerfacecolor(face)
    gone = np.isnan(removed)
    end = removals.total if not gone.all() else max(removals.total, 2.0)
    if gone.any():
        points(
            ax, np.full(gone.sum(), end), rows[gone], np.full((gone.sum(), 2), end), (GREY, ">"), label="not changed"
        )
    ax.set_xlim(0.7, 1.4 * max(end if gone.any() else np.nanmax(removed), 2.0))
    legend_above(ax, columns=3)
    label_scale(ax, f"{removals.unit}s left out, of {format_count(removals.total)}")
    return finish(ax)
