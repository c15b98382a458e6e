"""The picture of cost beside score, with the frontier that no system beats, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import checked
from ..base.table import format_share
from ..scores.cost_frontier import CostFrontier
from .style import BLUE, COLUMN, GREY, axes_of, finish, legend_above, name_ends, set_log_axis, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 10  # largest cost over the smallest one, from which on the axis of costs is logarithmic
_HEIGHT, _NAME = 2.4, 0.14  # inches: of the axes, and of a name beside them


@checked
def frontier(costs: CostFrontier, *, ax: Axes | None = None) -> Axes:
    """Plot the mean score of each system against its mean cost, and the frontier of unbeaten systems.

    Parameters
    ----------
    costs : CostFrontier
        The result of ``board.frontier()``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The systems on the frontier are blue and named at the right, with the share of resamples in which they are on
        it; the line is the best score at each cost. All others are grey. The axis of costs is logarithmic if costs
        range over more than a factor of ten. Systems without a score or a cost are left out.

    Raises
    ------
    OptionError
        For anything other than a `CostFrontier`.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> rows = [{"system": s, "item": k, "score": float(k % 9 < right), "usd": usd}
    ...         for s, right, usd in (("a", 7, 3.0), ("b", 4, 1.0), ("c", 4, 2.0)) for k in range(45)]
    >>> board = llbt.scores.read_board(rows, system="system", item="item", score="score", cost="usd")
    >>> ax = llbt.plot.frontier(board.frontier())
    >>> [text.get_text() for text in ax.texts]
    ['b (1.000)', 'a (1.000)']
    """
    ax = axes_of(ax, COLUMN, _HEIGHT + 0.6)
    known = costs.cost[~(np.isnan(costs.cost) | np.isnan(costs.score))]
    if len(known) and known.min() > 0 and known.max() > _WIDE * known.min():
        set_log_axis(ax, "x")
    for mask, colour, label in (
        (~costs.on_frontier, GREY, "beaten"),
        (costs.on_frontier, BLUE, "frontier (share of resamples)"),
    ):
        if not mask.any():
            continue
        ax.scatter(costs.cost[mask], costs.score[mask], s=16, color=colour, label=label, linewidths=0.5, zorder=2)
    order = np.flatnonzero(costs.on_frontier)
    ax.step(costs.cost[order], costs.score[order], where="post", color=BLUE, linewidth=0.8, zorder=1)
    ax.set_xlabel(f"mean cost ({costs.cost_unit})" if costs.cost_unit else "mean cost")
    ax.set_ylabel("mean score")
    legend_above(ax)
    names = short_names([costs.systems[k] for k in order])
    ends = [
        (float(costs.score[k]), f"{name} ({format_share(costs.share[k])})", BLUE)
        for k, name in zip(order, names, strict=True)
    ]
    name_ends(ax, ends, max(_HEIGHT, _NAME * len(ends)))
    return finish(ax)
