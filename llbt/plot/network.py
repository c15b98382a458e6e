"""The network of compared objects with the numbers of judgments, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..base.arguments import checked
from ..base.table import counted
from ..core.columns import FloatArray
from ..fitting.fitted import PlainFit
from ..formulas.grid import At
from ..inference.log_worths import centred
from ..inference.residuals import residuals
from .style import (
    BODY,
    COLUMN,
    GREY,
    axes_of,
    bands,
    colour_bar,
    diverging,
    finish,
    ink,
    literally,
    make_room,
    name_rows,
    row_size,
    short_names,
    thinned,
    without_frame,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEYOND = 3.0  # residuals further out have the colour of this one
_ROOM = 9.0  # points around the circle for each name
_LARGEST = 7.0  # inches of the circle
_LEAST = 6.5  # points
_UPRIGHT = 12  # objects up to which names stand upright
_CIRCLE = 15  # objects up to which pairs are lines; more are a matrix
_CELL = 0.13  # inches of a cell of the matrix


@checked
def network(res: PlainFit, *, at: At = "average", ax: Axes | None = None) -> Axes:
    """Plot the compared pairs: the width of a line shows the number of judgments, its colour the model's residual.

    Parameters
    ----------
    res : LLBTResults
    at : mapping or "average"
        The covariate values for the worths that order the objects, if worths differ by covariates.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Objects on a circle, the best at the top and then clockwise. Lines are blue where the better object of the pair
        won more often than the model expects, orange where it won less often (standardized residuals of the pair over
        all covariates; grey where the pair is fitted exactly). Beyond 15 objects, pairs are squares of a matrix with
        the better object in the row; the size shows the number of judgments. The figure has further axes for the
        colours.

    Raises
    ------
    OptionError
        For arguments that are not fits.
    DesignError
        For a fit without worths.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.network(llbt.fit("object + tie", llbt.load_dataset("dras_table1")))
    >>> [text.get_text() for text in ax.texts], len(ax.collections[0].get_segments())
    (['A', 'D', 'B', 'C'], 6)
    """
    estimate = np.nan_to_num(centred(res, at)[0].estimate, nan=-np.inf)
    order = np.argsort(-estimate, kind="stable")
    rank = np.argsort(order)
    places = _on_circle(rank)
    frame = _better_first(residuals(res, of="pairs").to_frame(), res.comparisons.objects, rank)
    names = short_names([res.comparisons.objects[k] for k in order], 14)
    if len(names) > _CIRCLE:
        return _draw_matrix(ax, names, frame.assign(i=rank[frame["i"]], j=rank[frame["j"]]))
    circle = float(np.clip(_ROOM * len(rank) / np.pi / 72, BODY, _LARGEST))
    ax = axes_of(ax, max(COLUMN, circle), max(COLUMN, circle) + 0.4)
    lines = _draw_lines(ax, places, frame, _widest(ax, len(rank)))
    ax.scatter(places[:, 0], places[:, 1], s=_node_size(len(rank)), color=ink(ax), zorder=3)
    _name_nodes(ax, places[order], names, circle)
    ax.set_aspect("equal")
    ax.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), xticks=[], yticks=[])
    without_frame(ax)
    make_room(ax, circle, circle + 0.6)  # of the latter the colours below
    colour_bar(ax, lines, _text_below(frame, "widest line"), extend="both")
    return ax


def _text_below(frame: pd.DataFrame, largest: str) -> str:
    most = counted(float(frame["judgments"].max()), "judgment")
    return f"standardized residual:\nthe better object won less | more often\nthan expected; {largest}: {most}"


def _draw_matrix(ax: Axes | None, names: list[str], frame: pd.DataFrame) -> Axes:
    """Draw a square per pair in the row of the better object; the objects i, j of the frame are ranks from 0."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    size = len(names)
    side = max(COLUMN, _CELL * size)
    ax = axes_of(ax, side + 1.0, side + 1.6)
    share = (frame["judgments"] / frame["judgments"].max()).to_numpy(dtype=float)
    edge = np.sqrt(share)  # areas are proportional to judgments
    corners = frame[["j", "i"]].to_numpy() - edge[:, None] / 2
    squares = [Rectangle((x, y), width, width) for (x, y), width in zip(corners, edge, strict=True)]
    colours = diverging("#C8C8C8").with_extremes(bad=GREY)
    drawn = PatchCollection(squares, cmap=colours, linewidths=0)
    drawn.set_array(np.ma.masked_invalid(frame["residual"].to_numpy()))
    drawn.set_clim(-_BEYOND, _BEYOND)
    ax.add_collection(drawn)
    ax.set_aspect("equal")
    bands(ax, size)
    name_rows(ax, names)
    ax.set_xlim(-0.5, size - 0.5)
    ticks = thinned(ax, size, "x")
    ax.set_xticks(ticks, [names[k] for k in ticks], rotation=90, fontsize=row_size(ax, len(ticks)))
    ax.xaxis.tick_top()
    ax.tick_params(axis="x", length=0)
    without_frame(ax)
    make_room(ax, side, side + 0.6)
    colour_bar(ax, drawn, _text_below(frame, "largest square"), extend="both")
    return finish(ax, side)


def _on_circle(rank: Any) -> FloatArray:
    """Return the positions of objects of these ranks, shape (J, 2): the first at the top, the others clockwise."""
    angle = np.pi / 2 - 2 * np.pi * rank / len(rank)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _better_first(frame: pd.DataFrame, objects: tuple[Any, ...], rank: Any) -> pd.DataFrame:
    """Return for each pair the objects' positions i, j (the better one first), judgments, and i's residual."""
    position = {label: k for k, label in enumerate(objects)}
    i, j = (frame[side].map(position).to_numpy() for side in ("object_i", "object_j"))
    turned = rank[i] > rank[j]
    residual = np.where(turned, -1.0, 1.0) * frame["residual"].to_numpy(dtype=float)
    better, worse = np.where(turned, j, i), np.where(turned, i, j)
    return pd.DataFrame({"i": better, "j": worse, "judgments": frame["judgments"], "residual": residual})


def _draw_lines(ax: Axes, places: FloatArray, frame: pd.DataFrame, widest: float) -> Any:
    """Draw a line per pair, those with the largest residuals on top."""
    from matplotlib.collections import LineCollection

    frame = frame.iloc[np.argsort(frame["residual"].abs().fillna(-1.0).to_numpy(), kind="stable")]
    segments = places[frame[["i", "j"]].to_numpy()]
    width = np.maximum(0.3, widest * frame["judgments"] / frame["judgments"].max())
    colours = diverging("#C8C8C8").with_extremes(bad=GREY)
    lines = LineCollection(list(segments), linewidths=width.to_numpy(), cmap=colours, zorder=1, capstyle="round")
    lines.set_array(np.ma.masked_invalid(frame["residual"].to_numpy()))
    lines.set_clim(-_BEYOND, _BEYOND)
    ax.add_collection(lines)
    return lines


def _widest(ax: Axes, objects: int) -> float:
    """Return the width in points of the line with the most judgments: narrower if there are many objects."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    return float(np.clip(14 * inches / objects, 0.8, 7.0))


def _node_size(objects: int) -> float:
    return float(np.clip(400 / objects, 8, 40))


def _name_nodes(ax: Axes, places: FloatArray, names: list[str], circle: float) -> None:
    """Write names outside the circle: upright where they are few, as rays where they are many."""
    rays = len(names) > _UPRIGHT
    extent = ax.get_window_extent()
    around = 72 * np.pi * min(circle, extent.width / ax.figure.dpi, extent.height / ax.figure.dpi)
    size = float(np.clip(0.62 * around / len(names), _LEAST, 8.0))
    for (x, y), name in zip(places, names, strict=True):
        angle = np.degrees(np.arctan2(y, x))
        left = x < -1e-9
        side = "right" if left else "left"
        ax.text(
            1.07 * x,
            1.07 * y,
            name,
            ha=side if rays or abs(x) > 0.2 else "center",
            va="center" if rays or abs(x) > 0.2 else ("bottom" if y > 0 else "top"),
            rotation=(angle + 180 if left else angle) if rays else 0.0,
            rotation_mode="anchor",
            fontsize=size,
            color=ink(ax),
        )
    literally(ax.texts)
