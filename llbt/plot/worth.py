"""The picture of the worths by class, with matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..base.arguments import Count, checked
from ..core.columns import FloatArray
from ..errors import DesignError
from ..fitting.fit_part import FitPart
from ..fitting.fitted import WithWorths, average_of
from ..formulas.grid import At
from ..inference.scales import SCALES, Scale, scale_text
from ..inference.worth import worth as worth_table
from .panels import MOST_LINES, draw_others, few_ticks, finish_panels, marks, panels_of
from .style import (
    BLUE,
    COLUMN,
    GREY,
    axes_of,
    bands,
    lay_out,
    literally,
    look_beside_grey,
    look_of,
    name_ends,
    name_rows,
    points,
    rows_height,
    set_log_axis,
    short_names,
    standing_out,
    thinned,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Facets = Literal["auto", "object", "class"]

_WIDE_PANEL = 18  # letters of all classes that fit below a panel
_WIDE = 10  # letters of a class that fit between two
_HEIGHT = 2.4  # inches of the axes
_WIDE_GREY, _TALL_GREY = 5.0, 4.2  # inches of a figure with grey lines
_MANY = 100  # objects from which on their names stand closer


@checked
def worth(
    res: WithWorths | FitPart,
    *,
    at: At = None,
    scale: Scale = "probability",
    most: Count = 10,
    facets: Facets | None = "auto",
    ax: Axes | None = None,
) -> Axes:
    """Plot the worths of the objects by class, as the papers that use prefmod do.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults or RankingResults
        A fit with effects of judges is shown for the average judge.
    at : mapping or "average", optional
        The classes to draw, as in `worth`.
    scale : str
        As in `worth`; probabilities and odds have a logarithmic axis, on which equal distances are equal odds.
    most : int
        The number of objects to colour and name, or to give a panel: those whose worth changes most over the classes;
        with one class the best. Panels of classes have a row for every object.
    facets : {"auto", "object", "class"} or None
        ``"object"``: a panel for each object, the best first, with its line over the classes and the grey lines of all
        others. ``"class"``: a panel for each class, with a row for each object. None: all lines in one panel.
        ``"auto"``: panels of objects if there are more than 6 objects, several classes, and no `ax`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One line per object over the classes, with 95 % intervals and the name at its end; for one class, points from
        the best object to the worst. Beyond `most` objects, lines are grey, without intervals and names; `intervals`,
        with the same scales, has a row for each object. Panels are ``ax.child_axes``.

    Raises
    ------
    OptionError
        For an unknown scale and a `most` below 1.
    DesignError
        For panels, if the worths have only one class.

    Examples
    --------
    >>> import llbt, matplotlib
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
    >>> ax = llbt.plot.worth(res)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['J1', 'J2', 'J3', 'J4']
    >>> [panel.get_title(loc="left") for panel in llbt.plot.worth(res, facets="object").child_axes]
    ['A', 'D', 'B', 'C']
    """
    worths = average_of(res)
    frame = worth_table(worths, at, scale).to_frame()
    classes = list(frame.columns[: list(frame.columns).index("object")])
    labels = _class_labels(frame, classes, len(worths.comparisons.objects))
    objects = worths.comparisons.objects
    logs = scale in ("probability", "odds_ratio")
    by_object = dict(iter(frame.groupby("object", sort=False, observed=True)))
    estimates = np.array([by_object[label]["estimate"].to_numpy(dtype=float) for label in objects])
    coloured = _in_colour(estimates, logs, most)
    axis_label = scale_text(scale, SCALES, not worths.response.plain_odds, ", against the reference")
    if facets == "auto":
        facets = "object" if ax is None and len(objects) > MOST_LINES and len(labels) > 1 else None
    if facets is not None:
        if len(labels) < 2:
            raise DesignError("the worths have one class, so there is one panel", "Draw llbt.plot.intervals(res).")
        numbers = np.array([by_object[label][["estimate", "conf_low", "conf_high"]] for label in objects], dtype=float)
        drawn = _Worths(short_names(objects), labels, numbers, logs)
        if facets == "class":
            return _draw_class_panels(drawn, axis_label, ax)
        most_said = f" (the {len(coloured)} that change most)" if len(coloured) < len(objects) else ""
        return _draw_object_panels(drawn, coloured, ", ".join(classes) + most_said, axis_label, ax)
    rest = len(coloured) < len(objects)
    row = 0.16 if len(coloured) <= _MANY else 0.1
    least = (_WIDE_GREY, _TALL_GREY) if rest else (COLUMN, 3.0)
    ax = axes_of(ax, max(least[0], 1.6 + 0.8 * len(labels)), max(least[1], row * len(coloured)))
    places, names = _places(estimates, coloured), short_names(objects)
    for k in sorted(set(range(len(objects))) - set(coloured)):
        _draw_grey(ax, by_object[objects[k]], places[k])
    ends: list[tuple[float, str, str]] = []
    for n, k in enumerate(coloured):
        rows, look = by_object[objects[k]], look_beside_grey(n) if rest else look_of(n)
        _draw_object(ax, rows, places[k], look)
        known = rows["estimate"].dropna()
        ends += [(float(known.iloc[-1]), names[k], look[0])] if len(known) else []
    if logs:
        set_log_axis(ax, "y")
    _name_classes(ax, labels if classes else [])
    ax.set_xlim(-0.5, len(labels) - 0.5)
    ax.set_xlabel(_text_below(classes, len(labels), len(coloured) if rest else 0))
    ax.set_ylabel(textwrap.fill(axis_label, 36))  # as long as the axis is high
    name_ends(ax, ends, _HEIGHT)
    return ax


def _in_colour(estimates: FloatArray, logs: bool, most: int) -> list[int]:
    """Return which objects are coloured; changes of worths and odds are ratios to the geometric mean of each class."""
    if len(estimates) <= most:
        return list(range(len(estimates)))
    with np.errstate(divide="ignore"):
        values = np.log(estimates) if logs else estimates
    known = np.isfinite(values)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
    return list(standing_out(values - mean, most).tolist())


@dataclass(frozen=True, eq=False)
class _Worths:
    """J objects and K classes by name, worths with their intervals (J, K, 3), and whether their scale is of odds."""

    names: list[str]
    classes: list[str]
    numbers: FloatArray
    logs: bool

    def best_first(self, some: Sequence[int]) -> list[int]:
        """Return some objects in the order of their means over the classes (geometric means for odds)."""
        with np.errstate(divide="ignore"):
            values = np.log(self.numbers[some, :, 0]) if self.logs else self.numbers[some, :, 0]
        known = np.isfinite(values)
        mean = np.where(known, values, 0.0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
        return [some[k] for k in np.argsort(-np.where(known.any(axis=1), mean, -np.inf), kind="stable")]


def _draw_object_panels(worths: _Worths, coloured: Sequence[int], x: str, y: str, ax: Axes | None) -> Axes:
    """Draw a panel for each of some objects, with its line over the classes and the grey lines of the others."""
    shown, at = worths.best_first(coloured), np.arange(len(worths.classes))
    panels = panels_of(ax, [worths.names[k] for k in shown])
    for panel, k in zip(panels.each, shown, strict=True):
        if worths.logs:
            set_log_axis(panel, "y")
        estimate, bounds = worths.numbers[k, :, 0], worths.numbers[k, :, 1:]
        points(panel, at, estimate, bounds, (BLUE, "o"), across=False).lines[0].set(linestyle="-", linewidth=1.2)
        others = np.delete(worths.numbers[:, :, 0], k, axis=0)
        draw_others(panel, [np.column_stack([at, other]) for other in others])
        panel.autoscale_view()
        panel.set_xlim(-0.4, len(at) - 0.6)
        few_ticks(panel.yaxis, worths.numbers[:, :, 0], worths.logs)
        _name_classes(panel, worths.classes, _WIDE_PANEL // len(at))
    handles = marks("the object of the panel, 95 % intervals", "the others", BLUE)
    return finish_panels(panels, x, textwrap.fill(y, 36), handles)


def _draw_class_panels(worths: _Worths, label: str, ax: Axes | None) -> Axes:
    """Draw a panel for each class, with a row for each object; all panels have the same order."""
    order = worths.best_first(range(len(worths.names)))
    panels = panels_of(ax, short_names(worths.classes), rows_height(len(order), 0.17) - 0.4)
    lay_out(panels.ax)  # how high rows are decides which are named
    for c, panel in enumerate(panels.each):
        if worths.logs:
            set_log_axis(panel, "x")
        bands(panel, len(order))
        points(panel, worths.numbers[order, c, 0], range(len(order)), worths.numbers[order, c, 1:], (BLUE, "o"))
        few_ticks(panel.xaxis, worths.numbers[:, :, 0], worths.logs)
        name_rows(panel, [worths.names[k] for k in order])
    return finish_panels(panels, f"{textwrap.fill(label, 40)}\n(95 % intervals)", "", [])


def _places(estimates: FloatArray, coloured: list[int]) -> FloatArray:
    """Return the positions of the objects over the classes: side by side, so that intervals do not hide each other.

    With one class the best object comes first; with several, grey objects are in the middle.
    """
    size, classes = estimates.shape
    if classes == 1:
        order = np.argsort(-np.nan_to_num(estimates[:, 0], nan=-np.inf), kind="stable")
        offset = 0.9 / size * (np.argsort(order) - (size - 1) / 2)
    else:
        offset, most = np.zeros(size), len(coloured)
        offset[coloured] = 0.06 * min(1.0, 6 / most) * (np.arange(most) - (most - 1) / 2)
    return np.asarray(np.arange(classes) + offset[:, None], dtype=np.float64)


def _text_below(classes: list[str], points: int, coloured: int) -> str:
    """Return the description of the classes and, if some objects are grey, of the coloured objects."""
    label = ", ".join(classes) if classes else "the best object first"
    which = f"the best {coloured}" if points == 1 else f"the {coloured} that change most"
    return f"{label}\n(in colour: {which})" if coloured else label


def _name_classes(ax: Axes, labels: list[str], wide: int = _WIDE) -> None:
    """Write the classes below the axis, upright where they are too long to stand beside each other."""
    names = short_names(labels)
    ticks = thinned(ax, len(names), "x")
    upright = max(map(len, names), default=0) > wide
    ax.set_xticks(list(ticks), [names[k] for k in ticks], rotation=90 if upright else 0)
    literally(ax.get_xticklabels())


def _draw_object(ax: Axes, rows: Any, x: Any, look: tuple[str, str]) -> None:
    label = str(rows["object"].iloc[0])
    drawn = points(ax, x, rows["estimate"], rows[["conf_low", "conf_high"]], look, label=label, across=False)
    drawn.lines[0].set(linestyle="-", linewidth=1.2)


def _draw_grey(ax: Axes, rows: Any, x: Any) -> None:
    label = str(rows["object"].iloc[0])
    ax.plot(x, rows["estimate"], color=GREY, marker="o", markersize=2, linewidth=0.5, alpha=0.4, zorder=1, label=label)


def _class_labels(frame: Any, classes: list[str], objects: int) -> list[str]:
    if not classes:
        return [""]
    first = frame[classes].iloc[::objects]
    return [", ".join(str(v) for v in row) for row in first.to_numpy().tolist()]
