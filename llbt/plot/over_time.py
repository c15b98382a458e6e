"""The picture of how good objects were over time, by drifting worths or by Elo ratings, with matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arguments import Count, checked
from ..core.columns import FloatArray, Label
from ..errors import OptionError
from ..fitting.fitted import PlainFit
from ..inference.drift import drift
from ..inference.drift_record import Drift
from ..scores.elo_history import EloHistory
from .panels import MOST_LINES, Facet, draw_others, few_ticks, finish_panels, marks, panels_of
from .style import (
    BLUE,
    GREY,
    axes_of,
    literally,
    look_beside_grey,
    look_of,
    name_ends,
    short_names,
    standing_out,
    thinned,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT = 5.0, 2.6  # inches
_LETTERS = 30  # of all periods that stand below the axis side by side
_FEW_POINTS = 50  # of a grey curve in a panel, about
_POINTS = 1000  # of a curve, about: more of them than a figure has places are not seen


@checked
def over_time(
    answer: Drift | EloHistory | PlainFit,
    *,
    time: str | None = None,
    most: Count = 10,
    facets: Facet | None = "auto",
    ax: Axes | None = None,
) -> Axes:
    """Plot worths over time: drifting worths with their bands, or Elo ratings in order of play.

    Parameters
    ----------
    answer : Drift, EloHistory or LLBTResults
        The result of `drift` or `scores.elo_history`. For a fit, ``llbt.drift(res, time=time)``.
    time : str, optional
        For a fit, the column of the time; other results already have their times.
    most : int
        The number of objects to colour and name, or to give a panel: those that change most.
    facets : {"auto", "object"} or None
        ``"object"``: a panel for each object, with its curve and the grey curves of all others. The object with the
        highest last value comes first. None: all curves in one panel. ``"auto"``: panels if there are more than 6
        objects and no `ax`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A curve for each object with its name at the end, and a band for the interval of worths in each period. Beyond
        `most` objects, curves are grey, without bands and names. Elo ratings are drawn over time if times are numbers
        or dates, otherwise over the judgments; very long curves are thinned. Panels are ``ax.child_axes``.

    Raises
    ------
    OptionError
        For other arguments, a fit without `time`, a result that already has its times with `time`, and a `most` below
        1.

    Examples
    --------
    >>> import matplotlib
    >>> import pandas as pd
    >>> import llbt
    >>> matplotlib.use("Agg")
    >>> counts = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": [30, 26, 24, 15, 14, 8], "day": range(6)})
    >>> c = llbt.from_counts(counts.assign(wins_j=40 - counts["wins_i"]), clusters="day")
    >>> ax = llbt.plot.over_time(llbt.fit("object", c), time="day")
    >>> ax.get_xlabel(), [line.get_label() for line in ax.lines]
    ('day', ['A', 'B'])
    >>> len(llbt.plot.over_time(llbt.fit("object", c), time="day", facets="object").child_axes)
    2
    """
    answer = _answered(answer, time)
    curves = _of_drift(answer) if isinstance(answer, Drift) else _of_history(answer)
    coloured = standing_out(np.array([[curve.y.min(), curve.y.max()] for curve in curves]), most).tolist()
    rest = len(coloured) < len(curves)
    if facets == "object" or (facets == "auto" and ax is None and len(curves) > MOST_LINES):
        return _draw_panels(answer, curves, sorted(coloured, key=lambda k: -curves[k].y[-1]), ax)
    ax = axes_of(ax, _WIDTH, max(_HEIGHT, 0.16 * len(coloured)) + 0.6)
    for k in sorted(set(range(len(curves))) - set(coloured)):
        _draw(ax, curves[k], GREY, 0.5)
    names, ends = short_names([curve.label for curve in curves]), []
    for n, k in enumerate(coloured):
        colour = (look_beside_grey if rest else look_of)(n)[0]
        _draw(ax, curves[k], colour, 1.2)
        _draw_band(ax, curves[k], colour)
        ends.append((float(curves[k].y[-1]), names[k], colour))
    ax.margins(x=0)
    if isinstance(answer, Drift):
        _name_periods(ax, answer)
    ax.set_xlabel(_text_below(answer, len(coloured) if rest else 0))
    ax.set_ylabel(_text_beside(answer))
    literally([ax.xaxis.label, ax.yaxis.label])
    name_ends(ax, ends, _HEIGHT)
    return ax


@dataclass(frozen=True, eq=False)
class _Curve:
    """The curve of an object: times and values (n,), bounds of its band (n, 2), and whether it is a step function."""

    label: Label
    x: Any
    y: FloatArray
    bounds: FloatArray | None = None
    steps: bool = False


def _answered(answer: Drift | EloHistory | PlainFit, time: str | None) -> Drift | EloHistory:
    """Return a result unchanged, and for a fit the result of `drift`."""
    if isinstance(answer, Drift | EloHistory):
        if time is not None:
            raise OptionError(
                f"time={time!r} given with a result that has its own times", "Leave out time=, or pass the fit."
            )
        return answer
    if time is None:
        raise OptionError("a fit without time=", "Name the column of the time: llbt.plot.over_time(res, time='day').")
    return drift(answer, time=time)


def _of_drift(drift: Drift) -> list[_Curve]:
    x = np.array(drift.levels, dtype=np.float64) if drift.numbers else np.arange(float(len(drift.levels)))
    bounds = drift.bounds()
    return [
        _Curve(label, x, drift.estimate[:, j], bounds[:, j]) for j, label in enumerate(drift.res.comparisons.objects)
    ]


def _of_history(history: EloHistory) -> list[_Curve]:
    """Return the ratings of each object from the first judgment to the last, with a step at each of its judgments."""
    x = _when(history)
    curves = []
    for k, label in enumerate(history.objects):
        row, side = np.nonzero(history.pairs == k)
        every = -(-len(row) // _POINTS) or 1
        steps = np.arange(len(row))[::-every][::-1]  # the last among them
        place = row[steps]
        ratings = np.concatenate([[history.start[k]], history.after[place, side[steps]], [history.estimate[k]]])
        curves.append(_Curve(label, x[np.concatenate([[0], place + 1, [len(x) - 1]])], ratings, steps=True))
    return curves


def _when(history: EloHistory) -> Any:
    """Return the positions of the start and of each judgment on the axis, (R + 1,)."""
    if not _is_measured(history):
        return np.arange(len(history.pairs) + 1.0)
    assert history.times is not None
    times = history.times.to_numpy()
    return np.concatenate([times[:1], times])


def _is_measured(history: EloHistory) -> bool:
    return history.times is not None and history.times.dtype.kind in "iufM"


def _text_below(answer: Drift | EloHistory, coloured: int) -> str:
    label = str(answer.time) if isinstance(answer, Drift) or _is_measured(answer) else "judgments"
    return f"{label}\n(in colour: the {coloured} that change most)" if coloured else label


def _text_beside(answer: Drift | EloHistory) -> str:
    if isinstance(answer, Drift):
        return f"log-worth λ, less the mean\n({100 * answer.confidence:.4g} % intervals)"
    return "Elo rating"


def _draw_panels(answer: Drift | EloHistory, curves: list[_Curve], shown: list[int], ax: Axes | None) -> Axes:
    """Draw a panel for each shown curve, with the other curves in grey behind it."""
    names = short_names([curves[k].label for k in shown])
    panels = panels_of(ax, names)
    for panel, k in zip(panels.each, shown, strict=True):
        _draw(panel, curves[k], BLUE, 1.4)
        _draw_band(panel, curves[k], BLUE)
        draw_others(panel, [_path(panel, curve) for n, curve in enumerate(curves) if n != k])
        panel.margins(x=0)
        panel.autoscale_view()
        if isinstance(answer, Drift):
            _name_periods(panel, answer)
        few_ticks(panel.yaxis, curves[k].y)
        _thin_dates(panel)
    band = ", its intervals" if isinstance(answer, Drift) else ""
    handles = marks(f"the object of the panel{band}", "the others", BLUE)
    heading = _text_below(answer, 0) + (f" (the {len(shown)} that change most)" if len(shown) < len(curves) else "")
    return finish_panels(panels, heading, _text_beside(answer), handles)


def _path(ax: Axes, curve: _Curve) -> Any:
    """Return a grey curve for a small panel, (n, 2), thinned to few points."""
    every = -(-len(curve.y) // _FEW_POINTS)
    x = np.asarray(ax.convert_xunits(curve.x))[::-every][::-1]  # type: ignore[no-untyped-call]
    y = curve.y[::-every][::-1]
    return np.column_stack([np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]] if curve.steps else [x, y])


def _thin_dates(ax: Axes) -> None:
    """Write few numbers or dates below a small panel; dates are upright."""
    from matplotlib.dates import AutoDateLocator
    from matplotlib.ticker import AutoLocator, MaxNLocator

    if isinstance(ax.xaxis.get_major_locator(), AutoDateLocator):
        ax.xaxis.set_major_locator(AutoDateLocator(minticks=2, maxticks=4))  # type: ignore[no-untyped-call]
        ax.tick_params(axis="x", labelrotation=90)
    elif isinstance(ax.xaxis.get_major_locator(), AutoLocator):
        ax.xaxis.set_major_locator(MaxNLocator(4, prune="upper"))  # the last would touch the first of the next panel


def _draw_band(ax: Axes, curve: _Curve, colour: str) -> None:
    if curve.bounds is not None:
        low, high = curve.bounds.T
        ax.fill_between(curve.x, low, high, color=colour, alpha=0.15, linewidth=0)


def _draw(ax: Axes, curve: _Curve, colour: str, width: float) -> None:
    style = "steps-post" if curve.steps else "default"
    alpha = 0.4 if colour == GREY else 1.0
    ax.plot(curve.x, curve.y, color=colour, linewidth=width, alpha=alpha, drawstyle=style, label=str(curve.label))


def _name_periods(ax: Axes, labels: Drift) -> None:
    """Write labels below the axis: a selection of many, and upright if they are too long."""
    if labels.numbers:
        return
    names = short_names(labels.levels)
    ticks = thinned(ax, len(names), "x")
    upright = max(len(name) for name in names) * len(ticks) > _LETTERS
    ax.set_xticks(list(ticks), [names[k] for k in ticks], rotation=90 if upright else 0)
    literally(ax.get_xticklabels())
