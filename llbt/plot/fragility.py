"""The picture of how few units can be removed to change a ranking, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..arguments import checked
from ..inference.fragility import Fragility
from ..table import format_count
from .style import BLUE, GREY, finish, label_scale, points, rows_of, set_log_axis, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 14  # letters of each of two objects beside the axis


@checked
def fragility(found: Fragility, *, ax: Axes | None = None) -> Axes:
    """Plot how many units have to be left out for each change of a ranking.

    Parameters
    ----------
    found : Fragility
        What ``llbt.fragility(res, change="adjacent")`` returns, a row for each rank; or of one change.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A row per change, the object and the one that overtakes it, over the units left out on a logarithmic scale:
        filled where no smaller choice does it, open where another might need fewer. At the right end, grey, what was
        not changed.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> ax = llbt.plot.fragility(llbt.fragility(res, change="adjacent"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A < D', 'D < B', 'B < C']
    """
    table = found.to_frame()
    pairs = table[["object", "overtaken_by"]].to_numpy()
    labels = pd.unique(pairs.ravel())
    short = dict(zip(labels, short_names(labels, _NAME), strict=True))  # all at once: no two objects with one name
    removed = table["removed"].to_numpy(dtype=float)
    named = [
        str(change) if np.isnan(n) else " < ".join(short[label] for label in pair)
        for change, pair, n in zip(table["change"], pairs, removed, strict=True)
    ]
    ax = rows_of(ax, named)
    set_log_axis(ax, "x")
    rows, exact = np.arange(len(named)), (table["exact"] == "yes").to_numpy()
    for kept, face in ((exact, BLUE), (~exact & ~np.isnan(removed), "none")):
        if kept.any():
            drawn = points(ax, removed[kept], rows[kept], np.column_stack([removed[kept]] * 2), (BLUE, "o"))
            drawn.lines[0].set_markerfacecolor(face)
    gone = np.isnan(removed)
    end = found.total if not gone.all() else max(found.total, 2.0)
    if gone.any():
        points(ax, np.full(gone.sum(), end), rows[gone], np.full((gone.sum(), 2), end), (GREY, ">"))
    ax.set_xlim(0.7, 1.4 * max(end if gone.any() else np.nanmax(removed), 2.0))
    label_scale(ax, f"{found.unit}s left out, of {format_count(found.total)}")
    return finish(ax)
