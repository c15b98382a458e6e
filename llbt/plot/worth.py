"""The picture of the worths by class, with matplotlib."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arguments import Count, checked
from ..core.columns import FloatArray
from ..fitting.fit_part import FitPart
from ..fitting.fitted import WithWorths, average_of
from ..formulas.grid import At
from ..inference.scales import SCALES, Scale, said_of
from ..inference.worth import worth as worth_table
from .style import (
    COLUMN,
    GREY,
    axes_of,
    literally,
    look_beside_grey,
    look_of,
    name_ends,
    points,
    set_log_axis,
    short_names,
    standing_out,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 10  # letters of a class that fit between two
_HEIGHT = 2.4  # inches of the axes
_WIDE_GREY, _TALL_GREY = 5.0, 4.2  # inches of a figure with grey lines
_MANY = 100  # objects from which on their names stand closer


@checked
def worth(
    res: WithWorths | FitPart, *, at: At = None, scale: Scale = "probability", most: Count = 10, ax: Axes | None = None
) -> Axes:
    """Plot the worths of the objects by class, as the papers that use prefmod do.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults or RankingResults
        Of a fit with effects of judges, it is of the average judge.
    at : mapping or "average", optional
        Classes, as in `worth`.
    scale : str
        As in `worth`; probabilities and odds have a logarithmic axis, on which equal distances are equal odds.
    most : int
        Objects that are coloured and named: those whose worth changes most over the classes, of one class the best.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One line per object over the classes, with 95 % intervals and the name at its end; of one class, points from
        the best to the last. Beyond `most` objects the others are grey, without intervals and names; `intervals`, with
        the same scales, has a row for each.

    Raises
    ------
    OptionError
        For an unknown scale and a `most` below 1.

    Examples
    --------
    >>> import llbt, matplotlib
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
    >>> ax = llbt.plot.worth(res)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['J1', 'J2', 'J3', 'J4']
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
    ax.set_xlabel(_said_below(classes, len(labels), len(coloured) if rest else 0))
    said = said_of(scale, SCALES, not worths.response.plain_odds, ", against the reference")
    ax.set_ylabel(textwrap.fill(said, 36))  # as long as the axis is high
    name_ends(ax, ends, _HEIGHT)
    return ax


def _in_colour(estimates: FloatArray, logs: bool, most: int) -> list[int]:
    """Return which objects are coloured; worths and odds change by their ratio, against the mean of each class."""
    if len(estimates) <= most:
        return list(range(len(estimates)))
    with np.errstate(divide="ignore"):
        values = np.log(estimates) if logs else estimates
    known = np.isfinite(values)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
    return list(standing_out(values - mean, most).tolist())


def _places(estimates: FloatArray, coloured: list[int]) -> FloatArray:
    """Return where the objects stand over the classes: side by side, so that intervals do not hide each other.

    Of one class the best stands first; of several, grey ones stand in the middle.
    """
    size, classes = estimates.shape
    if classes == 1:
        order = np.argsort(-np.nan_to_num(estimates[:, 0], nan=-np.inf), kind="stable")
        offset = 0.9 / size * (np.argsort(order) - (size - 1) / 2)
    else:
        offset, most = np.zeros(size), len(coloured)
        offset[coloured] = 0.06 * min(1.0, 6 / most) * (np.arange(most) - (most - 1) / 2)
    return np.asarray(np.arange(classes) + offset[:, None], dtype=np.float64)


def _said_below(classes: list[str], points: int, coloured: int) -> str:
    """Return what the classes are, and which objects are coloured where the others (0: none) are grey."""
    said = ", ".join(classes) if classes else "the best object first"
    which = f"the best {coloured}" if points == 1 else f"the {coloured} that change most"
    return f"{said}\n(in colour: {which})" if coloured else said


def _name_classes(ax: Axes, labels: list[str]) -> None:
    """Write the classes below the axis, upright where they are too long to stand beside each other."""
    names = short_names(labels)
    ax.set_xticks(range(len(names)), names, rotation=90 if max(map(len, names), default=0) > _WIDE else 0)
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
