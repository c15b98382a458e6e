"""The picture of a simulated power curve, with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import Share, checked
from ..base.table import format_count
from ..core.columns import FloatArray, IntArray
from ..planning.scenarios import varied
from ..planning.simulated_power import Power, required_judgments
from .style import (
    BLUE,
    COLUMN,
    DASHED,
    GREEN,
    ORANGE,
    PURPLE,
    axes_of,
    finish,
    ink,
    legend_above,
    look_of,
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
def power(power: Power, *, target: Share = 0.8, ax: Axes | None = None) -> Axes:
    """Plot simulated power against the number of judgments per pair, and mark the numbers for the target power.

    Parameters
    ----------
    power : Power
        The result of `power`.
    target : float
        The target power.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One curve per scenario and test with the 95 % intervals of the simulation, the target as a dashed line, and the
        required number of judgments where a curve crosses it.

    Raises
    ------
    OptionError
        For anything other than a `Power`.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> power = llbt.power(llbt.Scenario(), judgments=[50, 100, 200, 400], test=("llbt", "sign"), n=200, rng=1)
    >>> ax = llbt.plot.power(power)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Judgments per pair', 'Power')
    """
    ax = axes_of(ax, COLUMN, 2.8)
    if power.judgments[-1] >= _WIDE * power.judgments[0]:
        set_log_axis(ax, "x")
    ax.axhline(target, color=ink(ax), linewidth=0.8, linestyle=DASHED, zorder=1)
    curves = _curves(power)
    for curve in curves:
        _draw(ax, power.judgments, curve)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("Judgments per pair")
    ax.set_ylabel("Power")
    _name_target(ax, target)
    needed = [required_judgments(power.judgments, curve.estimate, target, power.n) for curve in curves]
    known = [(x, curve.colour) for x, curve in zip(needed, curves, strict=True) if not math.isnan(x)]
    _mark_needed(ax, target, sorted(known))
    if len(curves) > 1:
        legend_above(ax)
    return finish(ax)


@dataclass(frozen=True, eq=False)
class _Curve:
    """The power of a test in a scenario: its name, its style, the power (M,) and its bounds (M, 2)."""

    label: str
    colour: str
    marker: str
    estimate: FloatArray
    bounds: FloatArray


def _curves(power: Power) -> list[_Curve]:
    estimate, bounds = power.estimate, power.conf_int()
    curves: list[_Curve] = []
    for g, t in np.ndindex(len(power.scenarios), len(power.tests)):
        name, *look = _LOOKS[power.tests[t]]
        if len(power.scenarios) > 1:
            words = [
                f"{word.replace('_', ' ')} {getattr(power.scenarios[g], word)}" for word in varied(power.scenarios)
            ]
            name = ", ".join([*words, *([name] if len(power.tests) > 1 else [])])
            look = list(look_of(len(curves)))
        curves.append(_Curve(name, look[0], look[1], estimate[g, t], bounds[g, t]))
    return curves


def _draw(ax: Axes, judgments: IntArray, curve: _Curve) -> None:
    look = (curve.colour, curve.marker)
    drawn = points(ax, judgments, curve.estimate, curve.bounds, look, label=curve.label, across=False)
    drawn.lines[0].set(linestyle="-", linewidth=1.2)


def _name_target(ax: Axes, target: float) -> None:
    """Write the target over its line where the curves are still below it."""
    ax.annotate(
        f"target {target:g}",
        xy=(0, target),
        xycoords=ax.get_yaxis_transform(),
        xytext=(3, 2),
        textcoords="offset points",
        fontsize="small",
        color=ink(ax),
    )


def _mark_needed(ax: Axes, target: float, needed: Sequence[tuple[float, str]]) -> None:
    """Draw a line from the point where each curve reaches the target down to the number of judgments."""
    for rank, (x, colour) in enumerate(needed):
        ax.vlines(x, 0, target, color=colour, linewidth=0.8, linestyle=":", zorder=1)
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
