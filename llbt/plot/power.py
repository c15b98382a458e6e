"""The picture of a simulated power curve, with matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..arguments import checked
from ..core.columns import FloatArray
from ..planning.power import Power
from ..table import format_count
from .look import (
    BLUE,
    COLUMN,
    DASHED,
    GREEN,
    ORANGE,
    PURPLE,
    axes_of,
    ink,
    legend_above,
    points,
    set_log_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# a test keeps its own whichever others are drawn
_LOOKS = {
    "llbt": ("LLBT", BLUE, "o"),
    "sign": ("sign, ties dropped", ORANGE, "s"),
    "sign_split": ("sign, ties split", GREEN, "D"),
    "llbt_cluster": ("LLBT, clustered", PURPLE, "^"),
}
_WIDE = 20  # from this ratio of largest to smallest number of judgments the axis is logarithmic


@checked
def power(power: Power, *, ax: Axes | None = None) -> Axes:
    """Plot simulated power over the number of judgments per pair, and mark the numbers that the target needs.

    Parameters
    ----------
    power : Power
        What `power` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One curve per test with the intervals of the simulation, the target as a dashed line, and below where a curve
        crosses it the required number of judgments.

    Raises
    ------
    DesignError
        For anything else than a `Power`.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.power(llbt.power(judgments=[50, 100, 200, 400], test=("llbt", "sign"), n=200, rng=1))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Judgments per pair', 'Power')
    """
    ax = axes_of(ax, COLUMN, 2.8)
    if power.judgments[-1] >= _WIDE * power.judgments[0]:
        set_log_axis(ax, "x")
    ax.axhline(power.target, color=ink(ax), linewidth=0.8, linestyle=DASHED, zorder=1)
    bounds = power.conf_int()
    for k, test in enumerate(power.tests):
        _draw_curve(ax, power, k, bounds[k], _LOOKS[test])
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("Judgments per pair")
    ax.set_ylabel("Power")
    _name_target(ax, power)
    _mark_required(ax, power)
    if len(power.tests) > 1:
        legend_above(ax)
    return ax


def _draw_curve(ax: Axes, power: Power, k: int, bounds: FloatArray, look: tuple[str, str, str]) -> None:
    drawn = points(ax, power.judgments, power.estimate[k], bounds, look[1:], label=look[0], across=False)
    drawn.lines[0].set(linestyle="-", linewidth=1.2)


def _name_target(ax: Axes, power: Power) -> None:
    """Write the target over its line where the curves are still below it."""
    ax.annotate(
        f"target {power.target:g}",
        xy=(0, power.target),
        xycoords=ax.get_yaxis_transform(),
        xytext=(3, 2),
        textcoords="offset points",
        fontsize="small",
        color=ink(ax),
    )


def _mark_required(ax: Axes, power: Power) -> None:
    """Draw a line down from where each curve reaches the target, with the number of judgments at its foot."""
    needed = {test: x for test, x in power.required.items() if not math.isnan(x)}
    for rank, test in enumerate(sorted(needed, key=lambda test: needed[test])):
        colour, x = _LOOKS[test][1], needed[test]
        ax.vlines(x, 0, power.target, color=colour, linewidth=0.8, linestyle=":", zorder=1)
        ax.annotate(
            format_count(math.ceil(x)),
            xy=(x, 0.03 + 0.07 * max(0, rank - 1)),  # the first stands left of its line, the others climb on the right
            xytext=(-3 if rank == 0 else 3, 0),
            textcoords="offset points",
            ha="right" if rank == 0 else "left",
            color=colour,
            fontsize="small",
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},  # so that no line strikes it out
        )
