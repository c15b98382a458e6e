"""Pictures of the fit of models: residuals of one model, deviances of several, with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, Count, checked
from ..base.table import Table, format_count, format_p, short_fractions
from ..core.columns import Label
from ..errors import DesignError, OptionError, listed
from ..fitting.fitted import PlainFit
from ..fitting.protocols import FitLike
from ..inference.anova import anova as anova_of
from ..inference.residuals import Residual
from ..inference.residuals import residuals as residuals_of
from .style import (
    BLUE,
    COLUMN,
    GREY,
    ORANGE,
    axes_of,
    finish,
    ink,
    label_scale,
    left_to_right,
    legend_above,
    literally,
    name_rows,
    row_size,
    rows_height,
    short_names,
    zero_line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL = 20  # most letters of a covariate's value
_ANOVA = {"df_resid", "deviance", "df", "statistic", "p_value"}


@checked
def residuals(res: PlainFit, *, kind: Residual = "pearson", most: Count = 20, ax: Axes | None = None) -> Axes:
    """Plot the largest standardized residuals: outcomes more or less frequent than the model expects.

    Parameters
    ----------
    res : LLBTResults
    kind : {"pearson", "deviance"}
        As in `llbt.residuals`.
    most : int
        The number of cells to draw, the largest residuals first.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One row per cell with its residual. If the model holds, about 95 % of all cells lie in the shaded band.

    Raises
    ------
    DesignError
        For a saturated model, which has no residuals.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.residuals(llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool()), most=3)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A beats C', 'C beats A', 'B beats D']
    """
    table = residuals_of(res, kind=kind, most=most)
    frame = table.to_frame().iloc[list(table.shown or ())].dropna(subset="residual")
    if frame.empty:
        raise DesignError(
            f"{res.specification.formula!r} fits every cell exactly, so there are no residuals", "Fit a smaller model."
        )
    residual, rows = frame["residual"].to_numpy(), np.arange(len(frame))
    ax = axes_of(ax, COLUMN, rows_height(len(frame)) + 0.15)
    ax.axvspan(-2, 2, color=GREY, alpha=0.2, linewidth=0, zorder=-1)
    zero_line(ax)
    for sign, colour, marker in ((1, BLUE, "o"), (-1, ORANGE, "D")):
        chosen = rows[np.sign(residual) == sign]
        ax.hlines(chosen, 0, residual[chosen], color=colour, linewidth=1.2)
        ax.plot(residual[chosen], chosen, marker, color=colour, markersize=4)
    name_rows(ax, _cell_names(frame, res.comparisons.objects))
    what = "Pearson" if kind == "pearson" else "deviance"
    label_scale(ax, f"standardized {what} residual\nless often ← expected → more often")
    return finish(ax)


@checked
def anova(analysis: Annotated[Table | FitLike, JUDGED_INSIDE], *, ax: Axes | None = None) -> Axes:
    """Plot the residual deviances of nested models beside their residual degrees of freedom.

    Parameters
    ----------
    analysis : Table or LLBTResults
        The result of `anova`, for several fits or for the terms of one; for a fit, ``llbt.anova(res)``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One bar per model, as long as its residual deviance. Above the bar are the name of the model and its test
        against the previous model. A stroke marks the residual df, which is the expected deviance if the model holds
        and counts are not small.

    Raises
    ------
    OptionError
        For anything other than a fit or the table of `anova`.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.anova(llbt.anova(llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))))
    >>> len(ax.patches), ax.get_xlabel()
    (4, 'residual deviance')
    """
    frame = (analysis if isinstance(analysis, Table) else anova_of(analysis)).to_frame()
    if not set(frame) >= _ANOVA or not set(frame) & {"model", "term"}:
        raise OptionError(
            f"found a table of {listed(list(frame))}", expected="what llbt.anova(m0, m1) or llbt.anova(res) returns"
        )
    rows = np.arange(len(frame))
    ax = axes_of(ax, COLUMN, rows_height(len(frame), 0.42))
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    ax.barh(rows + 0.2, frame["deviance"], height=0.42, color=BLUE)
    strokes = ax.vlines(
        frame["df_resid"].to_numpy(dtype=float),
        rows - 0.06,
        rows + 0.46,
        color=ORANGE,
        linewidth=2,
        label="residual df",
    )
    strokes.set_zorder(3)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(frame) - 0.4, -0.6)
    ax.set_xlim(0, max(1.0, 1.02 * float(np.nanmax(frame[["deviance", "df_resid"]].to_numpy(dtype=float)))))
    _write_models(ax, frame)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    ax.set_xlabel("residual deviance")
    legend_above(ax)
    return finish(ax)


def _cell_names(frame: pd.DataFrame, objects: Sequence[Label]) -> list[str]:
    """Return the description of each cell: ``A beats B, J3``. Shortened names of different objects stay different."""
    known = ["object_i", "object_j", "outcome", "count", "fitted", "residual"]
    short = dict(zip(objects, short_names(objects, 12), strict=True))
    covariates = [short_names(short_fractions(frame[name].tolist()), _LABEL) for name in frame if name not in known]
    cells = zip(frame.to_dict("records"), *covariates, strict=True)
    return [left_to_right(", ".join([_label(row, short), *values])) for row, *values in cells]


def _label(row: dict[Any, Any], short: dict[Any, str]) -> str:
    i, j = short[row["object_i"]], short[row["object_j"]]
    if row["outcome"] == "tie":
        return f"{i} ties {j}"
    winner, loser = (i, j) if row["outcome"][0] == "i" else (j, i)
    return f"{winner} beats {loser}" + (f" by {row['outcome'][1:]}" if row["outcome"][1:] else "")


def _write_models(ax: Axes, frame: pd.DataFrame) -> None:
    """Write the name of each model above its bar, and its test against the previous model."""
    size = min(7.5, row_size(ax, 2 * len(frame)) * 1.3)
    names = frame["model" if "model" in frame else "term"].tolist()
    added = "" if "model" in frame else "+ "
    where = ax.get_yaxis_transform()
    for row, (name, test) in enumerate(zip(short_names(names, 34), _tests(frame), strict=True)):
        text = name if row == 0 else added + name
        ax.text(0.01, row - 0.05, text, transform=where, va="bottom", fontsize=size, color=ink(ax))
        ax.text(1.0, row - 0.05, test, transform=where, va="bottom", ha="right", fontsize=size, color=ink(ax))
    literally(ax.texts)


def _tests(frame: pd.DataFrame) -> list[str]:
    tests = []
    for df, p in zip(frame["df"], frame["p_value"], strict=True):
        if math.isnan(df) or math.isnan(p):
            tests.append("")
        else:
            text = format_p(p)
            tests.append(f"{format_count(df)} df, p {text if text.startswith('<') else '= ' + text}")
    return tests
