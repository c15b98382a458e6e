"""Pictures of fits, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..formulas.grid import At
from ..inference.scales import SCALES, Scale
from ..inference.worth import worth
from ..results import LLBTResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito (2008): eight colours that colour-blind readers tell apart; black stays for the text
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
_MARKERS = "osD^vP*X"


def plot_worth(res: LLBTResults, *, at: At = None, scale: Scale = "probability", ax: Axes | None = None) -> Axes:
    """Plot the worths of the objects by class, as the papers that use prefmod do.

    Parameters
    ----------
    res : LLBTResults
    at : mapping or "average", optional
        Classes, as in `worth`.
    scale : str
        As in `worth`; probabilities and odds have a logarithmic axis, on which equal distances are equal odds.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One line per object over the classes, with 95 % intervals and the name at its end.

    Examples
    --------
    >>> import llbt, matplotlib
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
    >>> ax = llbt.plot_worth(res)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['J1', 'J2', 'J3', 'J4']
    """
    import matplotlib.pyplot as plt

    frame = worth(res, at, scale).to_frame()
    classes = list(frame.columns[: list(frame.columns).index("object")])
    labels = _class_labels(frame, classes, len(res.comparisons.objects))
    if ax is None:
        size = (max(3.4, 1.6 + 0.8 * len(labels)), max(3.6, 0.16 * len(res.comparisons.objects)))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ends: dict[str, tuple[float, str]] = {}
    for k, label in enumerate(res.comparisons.objects):
        rows = frame[frame["object"] == label]
        colour = _COLOURS[k % len(_COLOURS)]
        _draw_object(
            ax, rows, _positions(k, len(res.comparisons.objects), len(labels)), colour, _MARKERS[k % len(_MARKERS)]
        )
        ends[str(label)] = (float(rows["estimate"].iloc[-1]), colour)
    if scale in ("probability", "odds_ratio"):
        _set_log_axis(ax)
    ax.set_xticks(range(len(labels)), labels) if classes else ax.set_xticks([])
    ax.set_xlim(-0.5, len(labels) - 0.5)
    ax.set_xlabel(", ".join(classes))
    ax.set_ylabel(SCALES[scale])
    _name_ends(ax, ends)
    return ax


def _positions(k: int, objects: int, classes: int) -> Any:
    """Return where object k stands over the classes: side by side, so that intervals do not hide each other."""
    apart = 0.06 * min(1.0, 6 / objects) if classes > 1 else 0.5 / objects
    return np.arange(classes) + apart * (k - (objects - 1) / 2)


def _draw_object(ax: Axes, rows: Any, x: Any, colour: str, marker: str) -> None:
    y = rows["estimate"].to_numpy(dtype=float)
    spread = np.abs(rows[["conf_low", "conf_high"]].to_numpy(dtype=float).T - y)
    label = str(rows["object"].iloc[0])
    ax.errorbar(x, y, spread, color=colour, marker=marker, markersize=5, linewidth=1.2, elinewidth=0.8, label=label)


def _set_log_axis(ax: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _class_labels(frame: Any, classes: list[str], objects: int) -> list[str]:
    if not classes:
        return [""]
    first = frame[classes].iloc[::objects]
    return [", ".join(str(v) for v in row) for row in first.to_numpy().tolist()]


def _name_ends(ax: Axes, ends: dict[str, tuple[float, str]]) -> None:
    """Write each object's name right of its last point, in its colour, moved apart where points are close."""
    ax.figure.canvas.draw()  # the limits are known once it is laid out
    to_axes = ax.transData + ax.transAxes.inverted()
    height = {label: float(to_axes.transform((0, y))[1]) for label, (y, _) in ends.items() if np.isfinite(y)}
    names = sorted(height, key=lambda name: height[name])
    gap, places = min(0.055, 1 / max(1, len(names))), [height[name] for name in names]
    for k in range(1, len(places)):  # up from the lowest, then down from the top of the axes
        places[k] = max(places[k], places[k - 1] + gap)
    for k in range(len(places) - 1, -1, -1):
        places[k] = min(places[k], 1.0 if k == len(places) - 1 else places[k + 1] - gap)
    for label, place in zip(names, places, strict=True):
        ax.annotate(
            label,
            xy=(1.02, place),
            xycoords="axes fraction",
            color=ends[label][1],
            va="center",
            fontsize="small",
            annotation_clip=False,
        )
