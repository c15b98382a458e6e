"""The picture of the worths by class, with matplotlib."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..core.columns import Label
from ..fitting.fitted import Fitted, average_of
from ..formulas.grid import At
from ..inference.scales import SCALES, Scale, said_of
from ..inference.worth import worth as worth_table
from .look import (
    COLUMN,
    axes_of,
    darker,
    lay_out,
    literally,
    look_of,
    make_room,
    points,
    row_size,
    set_log_axis,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 10  # letters of a class that fit between two
_HEIGHT = 2.4  # inches of the axes
_MANY = 100  # objects from which on their names stand closer


@checked
def worth(res: Fitted, *, at: At = None, scale: Scale = "probability", ax: Axes | None = None) -> Axes:
    """Plot the worths of the objects by class, as the papers that use prefmod do.

    Parameters
    ----------
    res : LLBTResults, MixedResults or DiscriminationResults
        Of a fit with effects of judges, it is of the average judge.
    at : mapping or "average", optional
        Classes, as in `worth`.
    scale : str
        As in `worth`; probabilities and odds have a logarithmic axis, on which equal distances are equal odds.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One line per object over the classes, with 95 % intervals and the name at its end; of one class, points from
        the best to the last.

    Examples
    --------
    >>> import llbt, matplotlib
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
    >>> ax = llbt.plot.worth(res)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['J1', 'J2', 'J3', 'J4']
    """
    res = average_of(res)
    frame = worth_table(res, at, scale).to_frame()
    classes = list(frame.columns[: list(frame.columns).index("object")])
    labels = _class_labels(frame, classes, len(res.comparisons.objects))
    objects = res.comparisons.objects
    names = short_names(objects)
    ax = axes_of(
        ax, max(COLUMN, 1.6 + 0.8 * len(labels)), max(3.0, (0.16 if len(names) <= _MANY else 0.1) * len(names))
    )
    places = _places(frame.set_index("object")["estimate"], objects, len(labels))
    ends: list[tuple[float, str, str]] = []
    for k, (label, name) in enumerate(zip(objects, names, strict=True)):
        rows = frame[frame["object"] == label]
        _draw_object(ax, rows, places[k], look_of(k))
        known = rows["estimate"].dropna()
        ends += [(float(known.iloc[-1]), name, look_of(k)[0])] if len(known) else []
    if scale in ("probability", "odds_ratio"):
        set_log_axis(ax, "y")
    _name_classes(ax, labels if classes else [])
    ax.set_xlim(-0.5, len(labels) - 0.5)
    ax.set_xlabel(", ".join(classes) if classes else "the best object first")
    said = said_of(scale, SCALES, not res.response.plain_odds, ", against the reference")
    ax.set_ylabel(textwrap.fill(said, 36))  # as long as the axis is high
    _name_ends(ax, ends)
    return ax


def _places(estimate: Any, objects: tuple[Label, ...], classes: int) -> Any:
    """Return where the objects stand over the classes: side by side, so that intervals do not hide each other.

    Of one class the best stands first.
    """
    every = np.arange(len(objects))
    if classes == 1:
        order = np.argsort(-estimate.reindex(objects).fillna(-np.inf).to_numpy(), kind="stable")
        place, apart = np.argsort(order), 0.9 / len(every)
    else:
        place, apart = every, 0.06 * min(1.0, 6 / len(every))
    return np.arange(classes) + apart * (place[:, None] - (len(every) - 1) / 2)


def _name_classes(ax: Axes, labels: list[str]) -> None:
    """Write the classes below the axis, upright where they are too long to stand beside each other."""
    names = short_names(labels)
    ax.set_xticks(range(len(names)), names, rotation=90 if max(map(len, names), default=0) > _WIDE else 0)
    literally(ax.get_xticklabels())


def _draw_object(ax: Axes, rows: Any, x: Any, look: tuple[str, str]) -> None:
    label = str(rows["object"].iloc[0])
    drawn = points(ax, x, rows["estimate"], rows[["conf_low", "conf_high"]], look, label=label, across=False)
    drawn.lines[0].set(linestyle="-", linewidth=1.2)


def _class_labels(frame: Any, classes: list[str], objects: int) -> list[str]:
    if not classes:
        return [""]
    first = frame[classes].iloc[::objects]
    return [", ".join(str(v) for v in row) for row in first.to_numpy().tolist()]


def _name_ends(ax: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Write each object's name at the height of its last point, in its colour, moved apart where points are close."""
    make_room(ax, height=_HEIGHT)
    lay_out(ax)
    to_axes = ax.transData + ax.transAxes.inverted()
    known = sorted((float(to_axes.transform((0, y))[1]), name, colour) for y, name, colour in ends)
    size = row_size(ax, len(known))
    line = 1.15 * size / 72 * ax.figure.dpi / ax.get_window_extent().height
    places = _apart([height for height, _, _ in known], min(line, 1 / max(1, len(known))))
    for (_, name, colour), place in zip(known, places, strict=True):
        ax.annotate(
            name,
            (1.02, place),
            xycoords="axes fraction",
            color=darker(colour),
            va="center",
            fontsize=size,
            annotation_clip=False,
        )
    literally(ax.texts)
    make_room(ax)


def _apart(heights: list[float], gap: float) -> list[float]:
    """Return rising heights at least so far apart, at most 1."""
    places = list(heights)
    for k in range(1, len(places)):  # up from the lowest, then down from the top of the axes
        places[k] = max(places[k], places[k - 1] + gap)
    for k in range(len(places) - 1, -1, -1):
        places[k] = min(places[k], 1.0 if k == len(places) - 1 else places[k + 1] - gap)
    return places
