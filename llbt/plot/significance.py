"""Pictures of comparisons of metrics, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from ..base.arguments import Kind, Share, checked
from ..metrics.compare_all import MetricComparisons
from .style import BLUE, BODY, axes_of, finish, row_size, short_names, thinned, without_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHADES = ("#FFFFFF", "#9CC9E3", BLUE)  # not significant, before adjustment, after: Okabe and Ito's blue
_SIZE, _SMALL, _MANY = 0.26, 0.1, 60  # inches a metric; of more than so many
_FEW = 6  # metrics up to which their names are slanted; more stand upright, so that they do not touch
_GREY, _DASH = "#BBBBBB", "#666666"
_ADJUSTED = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr_bh": "Benjamini–Hochberg"}
Compared = Annotated[
    MetricComparisons,
    Kind(
        lambda value: isinstance(value, MetricComparisons),
        "MetricComparisons, what llbt.metrics.compare_all(…) returns; for a fit, "
        "llbt.plot.intervals(res) shows which objects differ",
    ),
]


@checked
def significance(comparisons: Compared, *, alpha: Share = 0.05, ax: Axes | None = None) -> Axes:
    """Plot as a matrix which metrics are significantly better than which others.

    Parameters
    ----------
    comparisons : MetricComparisons
        The result of `metrics.compare_all`.
    alpha : float
        Level of the tests.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A row and a column per metric. A cell is dark if its row's metric is better than its column's after adjustment,
        and light if only before adjustment. A dot marks dark cells in print; a dash means that a test is undefined.

    Raises
    ------
    OptionError
        For anything other than a `MetricComparisons`, and a level that is not between 0 and 1. For a fit, `intervals`
        shows which objects differ.

    References
    ----------
    Deutsch, D., Dror, R. & Roth, D. (2021). A statistical analysis of summarization evaluation metrics using resampling
    methods. Transactions of the ACL 9, 1132-1146 (Figure 5).

    Examples
    --------
    >>> import llbt
    >>> import matplotlib, numpy as np
    >>> matplotlib.use("Agg")
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 50))
    >>> metrics = {f"noise {sd}": human + sd * rng.normal(size=(12, 50)) for sd in (0.5, 1, 8)}
    >>> comparison = llbt.metrics.compare_all(llbt.metrics.MetricScores.from_matrices(metrics, human), n=500, rng=1)
    >>> ax = llbt.plot.significance(comparison)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['noise 0.5', 'noise 1', 'noise 8']
    """
    from matplotlib.colors import ListedColormap

    size = len(comparisons.metrics)
    side = max(BODY, (_SIZE if size <= _MANY else _SMALL) * size)
    ax = axes_of(ax, side + 1.3, side + 1.3)
    shades = _shades(comparisons, alpha)
    ax.imshow(shades, cmap=ListedColormap(list(_SHADES)), vmin=0, vmax=2)
    _mark(ax, comparisons, shades)
    _draw_grid(ax, size)
    _name_metrics(ax, short_names(comparisons.metrics))
    _name_shades(ax, comparisons, alpha)
    return finish(ax, side, side)


def _shades(comparisons: MetricComparisons, alpha: float) -> npt.NDArray[np.int64]:
    """Return 0, 1, 2 for not significant, significant before adjustment, and after it; shape (K, K)."""
    before, after = (comparisons.better(alpha, adjusted=adjusted) for adjusted in (False, True))
    return before.astype(np.int64) + after


def _mark(ax: Axes, comparisons: MetricComparisons, shades: npt.NDArray[np.int64]) -> None:
    i, j = np.nonzero(shades == 2)
    ax.plot(j, i, linestyle="", marker="o", markersize=2.5, color="white", label="_better")
    i, j = np.nonzero(_undefined(comparisons))
    ax.plot(j, i, linestyle="", marker="_", markersize=5, color=_DASH, label="_undefined")


def _undefined(comparisons: MetricComparisons) -> npt.NDArray[np.bool_]:
    """Return which pairs of metrics have no test, shape (K, K)."""
    return np.isnan(comparisons.p_value) & ~np.eye(len(comparisons.metrics), dtype=np.bool_)


def _draw_grid(ax: Axes, size: int) -> None:
    edges = np.arange(size + 1) - 0.5
    ax.hlines(edges, -0.5, size - 0.5, color=_GREY, linewidth=0.6)
    ax.vlines(edges, -0.5, size - 0.5, color=_GREY, linewidth=0.6)
    ax.plot([-0.5, size - 0.5], [-0.5, size - 0.5], label="_diagonal", color=_GREY, linewidth=0.6)
    ax.set_xlim(-0.5, size - 0.5)
    ax.set_ylim(size - 0.5, -0.5)
    without_frame(ax)


def _name_metrics(ax: Axes, metrics: list[str]) -> None:
    ticks = thinned(ax, len(metrics))
    size = row_size(ax, len(ticks))
    ax.set_xticks(ticks, [metrics[k] for k in ticks], fontsize=size)
    ax.set_yticks(ticks, [metrics[k] for k in ticks], fontsize=size)
    ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    if len(metrics) <= _FEW:
        ax.tick_params(axis="x", labelrotation=45)
        for label in ax.get_xticklabels():
            label.set(ha="left", rotation_mode="anchor")
    else:
        ax.tick_params(axis="x", labelrotation=90)


def _name_shades(ax: Axes, comparisons: MetricComparisons, alpha: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    family = "row" if comparisons.family == "row" else "table"
    names = {1: f"row better than column, p ≤ {alpha:g}"}
    if comparisons.adjust is None:
        names = {2: names[1]}
    else:
        names[2] = f"and after {_ADJUSTED[comparisons.adjust]} by {family}"
    marks: list[Any] = [Patch(facecolor=_SHADES[k], label=name) for k, name in names.items()]
    if _undefined(comparisons).any():
        marks.append(Line2D([], [], linestyle="", marker="_", markersize=5, color=_DASH, label="no test"))
    ax.legend(
        handles=marks,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.02),
        frameon=False,
        fontsize="small",
        handlelength=1,
    )
