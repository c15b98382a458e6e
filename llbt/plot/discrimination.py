"""The picture of the discriminations of judges, one below the other, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import Confidence, checked
from ..fitting.fitted import DiscriminationsFit
from ..fitting.specification import IntervalMethod
from .style import (
    BLUE,
    DASHED,
    GREY,
    ORANGE,
    finish,
    ink,
    label_scale,
    legend_above,
    points,
    rows_of,
    short_names,
    zero_line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS = {
    "inverted": ("inverted", (ORANGE, "s")),
    "guessing or inverted": ("guessing", (GREY, "D")),
    "guessing": ("guessing", (GREY, "D")),
}


@checked
def discrimination(
    res: DiscriminationsFit,
    *,
    confidence: Confidence = 0.95,
    method: IntervalMethod = "wald",
    ax: Axes | None = None,
) -> Axes:
    """Plot the discriminations of all judges in order of size; judges who guess or are inverted are in colour.

    Parameters
    ----------
    res : DiscriminationResults
        A fit with discriminations, ``llbt.fit("object + tie", c, discrimination="judge")``.
    confidence : float
        Level of the intervals, which decide whether judges are marked as guessing.
    method : {"wald", "profile"}
        The method of the intervals, as in `DiscriminationResults.discrimination_intervals`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One row for each judge with σ and its interval; lines at 0, where a judge guesses, and at 1, where the judge's
        worths are the common ones.

    Examples
    --------
    >>> import matplotlib
    >>> import llbt
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"), discrimination="judge")
    >>> ax = llbt.plot.discrimination(res)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['J2', 'J1', 'J4', 'J3']
    """
    frame = res.by_judge(confidence=confidence, method=method).to_frame()
    frame = frame.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)
    ax = rows_of(ax, short_names(frame.iloc[:, 0].astype(str)))
    zero_line(ax)
    ax.axvline(1.0, color=ink(ax), linewidth=0.8, linestyle=DASHED, zorder=0)
    looks = [_LOOKS.get(reading, ("", (BLUE, "o"))) for reading in frame["reading"]]
    named = dict.fromkeys(looks)
    for label, look in named:
        rows = np.array([k for k, other in enumerate(looks) if other == (label, look)])
        some = frame.iloc[rows]
        points(ax, some["estimate"], rows, some[["conf_low", "conf_high"]], look, label=label or "others")
    if len(named) > 1:
        legend_above(ax, columns=3)
    name = res.judging.name
    label_scale(ax, f"discrimination σ of each {name} ({100 * confidence:.4g} % intervals)")
    return finish(ax)
