"""Small multiples inside one Axes: panels on the same scales, each with one object in colour and the others in grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.columns import FloatArray
from .style import GREY, axes_of, finish, ink, lay_out, legend_above, literally, without_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Facet = Literal["auto", "object"]
MOST_LINES = 6  # objects whose lines can be told apart in one panel

_MOST_COLUMNS = 5  # panels side by side
_WIDTH, _HEIGHT = 1.5, 1.1  # inches of a panel with its title
_TITLE, _GAP = 0.22, 0.12  # inches above and right of a panel
_LETTER = 0.065  # inches of a letter of a title
_SIZE = 7.0  # points of a title


@dataclass(frozen=True, eq=False)
class Panels:
    """The Axes that a picture returns, with a panel for each title, and the size in inches that the panels need."""

    ax: Axes
    each: Sequence[Axes]
    columns: int
    width: float
    height: float


def panels_of(
    ax: Axes | None, titles: Sequence[str], height: float = _HEIGHT, most_columns: int = _MOST_COLUMNS
) -> Panels:
    """Return axes with a panel for each title, from left to right and from top to bottom.

    Every picture draws in one Axes, given or new, and returns it, so callers can place pictures in a figure. Panels are
    insets of this Axes (``ax.child_axes``), which has no scale of its own and has the labels for all panels. A single
    Axes divided into strips would show false numbers, and several Axes of a figure could not be placed as one.
    """
    columns = min(most_columns, int(np.ceil(np.sqrt(1.5 * len(titles)))))
    rows = -(-len(titles) // columns)
    columns = -(-len(titles) // rows)
    width = max(_WIDTH, _LETTER * max(map(len, titles)) + _GAP)
    ax = axes_of(ax, width * columns + 0.7, height * rows + 0.9)
    ax.set(xticks=[], yticks=[])
    without_frame(ax)
    each: list[Axes] = []
    for k, title in enumerate(titles):
        row, column = divmod(k, columns)
        place = (column / columns, 1 - (row + 1) / rows, (1 - _GAP / width) / columns, (1 - _TITLE / height) / rows)
        panel = ax.inset_axes(place)
        _dress(panel, ax, title)
        panel.tick_params(labelleft=column == 0, labelbottom=k + columns >= len(titles))
        each.append(panel)
    return Panels(ax, each, columns, width * columns, height * rows)


def _dress(panel: Axes, ax: Axes, title: str) -> None:
    """Give a panel its title and the colours of the axes around it, in every style of matplotlib."""
    panel.set_facecolor("none")
    panel.tick_params(colors=ink(ax), which="both", labelsize="x-small", length=2)
    for side, spine in panel.spines.items():
        spine.set_edgecolor(ink(ax))
        spine.set_visible(side in ("left", "bottom"))
    panel.grid(visible=False)
    literally([panel.set_title(title, fontsize=_SIZE, loc="left", pad=2, color=ink(ax))])


def draw_others(panel: Axes, curves: Sequence[Any]) -> None:
    """Draw curves, each (n, 2), thin and grey, as one artist: one artist per curve and panel would make thousands."""
    from matplotlib.collections import LineCollection

    panel.add_collection(LineCollection(list(curves), colors=GREY, linewidths=0.4, alpha=0.4, zorder=1))


def few_ticks(axis: Axis, values: FloatArray, logs: bool = False) -> None:
    """Write about three numbers at an axis of a panel: on a long logarithmic axis, powers of ten alone."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    if logs:
        known = values[np.isfinite(values) & (values > 0)]
        short = len(known) == 0 or known.max() < 10 * known.min()
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,), numticks=4))
    else:
        axis.set_major_locator(MaxNLocator(3))


def finish_panels(panels: Panels, x: str, y: str, handles: Sequence[Any]) -> Axes:
    """Write the names of the scales beside the panels and the legend above them, and return the axes."""
    ax = panels.ax
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    literally([ax.xaxis.label, ax.yaxis.label])
    if handles:
        legend_above(ax, handles, columns=3)
    _give_same_limits(panels.each)
    lay_out(ax)
    own = ax.get_window_extent()
    around = [box for panel in panels.each if (box := panel.get_tightbbox()) is not None]
    points = 72 / ax.figure.dpi
    ax.xaxis.labelpad = max(0.0, (own.y0 - min(box.y0 for box in around)) * points) + 2
    ax.yaxis.labelpad = max(0.0, (own.x0 - min(box.x0 for box in around)) * points) + 2
    return finish(ax, panels.width, panels.height)


def _give_same_limits(panels: Sequence[Axes]) -> None:
    """Give all panels the widest limits; shared axes of matplotlib would be slow with 60 panels."""
    x, y = (np.array([panel.get_xlim() for panel in panels]), np.array([panel.get_ylim() for panel in panels]))
    for panel in panels:
        panel.set_xlim(x[:, 0].min(), x[:, 1].max())
        panel.set_ylim(*((y[:, 0].min(), y[:, 1].max()) if y[0, 0] < y[0, 1] else (y[:, 0].max(), y[:, 1].min())))


def marks(own: str, others: str, colour: str) -> list[Any]:
    """Return the legend's entries for the line of a panel and for the grey lines."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], color=colour, label=own), Line2D([], [], color=GREY, linewidth=0.8, label=others)]
