"""The picture of contrasts with their intervals, one below the other, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, checked
from ..base.table import Table
from ..errors import OptionError, kind_of, listed
from .style import BLUE, finish, label_scale, points, rows_of, set_log_axis, short_names, zero_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEEDED = ["term", "estimate", "conf_low", "conf_high"]


@checked
def forest(contrasts: Annotated[Table, JUDGED_INSIDE], *, ax: Axes | None = None) -> Axes:
    """Plot contrasts with their intervals, in the order of the table.

    Parameters
    ----------
    contrasts : Table
        The result of `contrasts`, on any scale; with ``by=`` each contrast is followed by the names of the groups.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One row per contrast with its estimate and interval, and a line at no difference: at 0, for odds at 1, for
        probabilities at ½. Odds have a logarithmic axis.

    Raises
    ------
    OptionError
        For anything other than the table of `contrasts`.

    Examples
    --------
    >>> import matplotlib
    >>> import llbt
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> ax = llbt.plot.forest(llbt.contrasts(res, {"A vs B": {"A": 1, "B": -1}, "A vs D": {"A": 1, "D": -1}}))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A vs B', 'A vs D']
    """
    frame = contrasts.to_frame() if isinstance(contrasts, Table) else pd.DataFrame()
    if not {*_NEEDED} <= set(frame) or not contrasts.title.startswith("Contrasts: "):
        what = f"a table of {listed(list(frame))}" if isinstance(contrasts, Table) else kind_of(contrasts)
        raise OptionError(
            f"found {what}",
            "Draw the worths of a fit with llbt.plot.intervals(res).",
            expected="what llbt.contrasts(res, {…}) returns",
        )
    scale = contrasts.title.removeprefix("Contrasts: ")
    groups = list(frame.columns[: list(frame.columns).index("term")])
    names = [", ".join(map(str, row)) for row in frame[["term", *groups]].to_numpy().tolist()]
    ax = rows_of(ax, short_names(names, 32))
    odds = scale.startswith("odds,")
    if odds:
        set_log_axis(ax, "x")
    zero_line(ax, 1.0 if odds else 0.5 if scale.startswith("probability") else 0.0)
    points(ax, frame["estimate"], np.arange(len(frame)), frame[["conf_low", "conf_high"]], (BLUE, "o"))
    low = next(field for field in contrasts.fields if field.name == "conf_low")
    label_scale(ax, f"{scale}\n({low.heading.removesuffix(' low')} intervals)")
    return finish(ax)
