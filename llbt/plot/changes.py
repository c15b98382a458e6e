"""Picture of how objects changed between two tables, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import checked
from ..errors import DesignError
from ..inference.changes_record import SCALES, Changes
from ..inference.scales import FACTORS
from .style import BLUE, GREY, ORANGE, finish, label_scale, legend_above, points, rows_of, short_names, zero_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {"worse": ORANGE, "better": BLUE, "": GREY}


@checked
def changes(res: Changes, *, ax: Axes | None = None) -> Axes:
    """Plot the change of each object from one table to the other, the largest loss at the top.

    Parameters
    ----------
    res : Changes
        The result of `llbt.compare`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A row per object: the change with its simultaneous interval, orange where worse, blue where better.

    Raises
    ------
    DesignError
        If the comparison has no verdict on objects, so that changes have no direction.

    Examples
    --------
    >>> import matplotlib
    >>> import llbt
    >>> matplotlib.use("Agg")
    >>> c = llbt.load_dataset("dras_table1")
    >>> changes = llbt.compare(*(c.select(where={"judge": judge}).pool() for judge in ("J1", "J2")))
    >>> llbt.plot.changes(changes).get_xlabel()
    'change of log-worth λ'
    """
    if res.no_verdict:
        raise DesignError(f"no verdict: {res.no_verdict}", "Print .pairs(), or name anchor=[…] in llbt.compare.")
    order = np.argsort(res.changes.estimate, kind="stable")
    verdicts, factor = np.array(res.verdicts)[order], FACTORS[res.scale]
    ax = rows_of(ax, short_names([res.objects[k] for k in order]))
    for word, colour in _COLOURS.items():
        rows = np.flatnonzero(verdicts == word)
        if len(rows):
            some, of = order[rows], res.changes
            bounds = factor * np.column_stack([of.conf_low, of.conf_high])[some]
            points(ax, factor * of.estimate[some], rows, bounds, (colour, "o"), label=word or "no change shown")
    zero_line(ax)
    label_scale(ax, f"change of {SCALES[res.scale]}")
    legend_above(ax, columns=3, title=f"{res.names[0]} → {res.names[1]}, {100 * res.confidence:.4g} % simultaneous")
    return finish(ax)
