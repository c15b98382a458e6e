"""The picture of systems' scores by a metric against their scores by humans, with outliers marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Positive, checked
from ..base.table import format_number
from ..metrics.correlate import correlate, score_matrices, system_means
from .style import BLUE, COLUMN, ORANGE, axes_of, finish, legend_above, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = 20  # most letters of a name beside its point
_MOST_NAMED = 4  # outliers; names of more would lie upon each other


@checked
def scatter(metric: npt.ArrayLike, human: npt.ArrayLike, *, cutoff: Positive = 2.5, ax: Axes | None = None) -> Axes:
    """Plot the mean scores of systems by a metric against their scores by humans, and mark the outliers.

    Parameters
    ----------
    metric, human : array_like or DataFrame, shape (N, M) or (N,)
        As in `llbt.metrics.correlate` at system level.
    cutoff : float
        The cutoff for outliers among human scores, as in `llbt.metrics.outliers`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The legend has Pearson's r of all systems, and without outliers. Up to four outliers are named.

    Raises
    ------
    JudgmentError
        For scores that are infinite or not numbers, and for shapes that do not match.

    References
    ----------
    Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic machine
    translation evaluation metrics. ACL, 4984-4997, Figure 3.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.scatter([30, 28, 29, 27, 10], [0.2, 0.1, 0.0, -0.1, -1.4])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['others: r = 0.800', 'outliers; all: r = 0.995']
    """
    (x,), z = score_matrices((metric,), human, "system")
    ones = [np.ones((1, side.shape[1])) for side in (x, z)]
    (of_x, with_x), (of_z, with_z) = (system_means(side, one) for side, one in zip((x, z), ones, strict=True))
    whole = correlate(metric, human)
    without = correlate(metric, human, outliers="drop", cutoff=cutoff)
    named = next((side for side in (metric, human) if isinstance(side, pd.DataFrame | pd.Series)), None)
    labels = list(range(len(x))) if named is None else named.index.tolist()
    far = np.array([label in set(without.left_out) for label in labels])
    there = with_x[0] & with_z[0]
    ax = axes_of(ax, COLUMN, 2.8)
    r = f"r = {format_number(without.estimate, 3)}"
    looks = [(there & ~far, BLUE, "o", f"others: {r}" if far.any() else r)]
    if far.any():
        looks.append((there & far, ORANGE, "s", f"outliers; all: r = {format_number(whole.estimate, 3)}"))
    for mask, colour, marker, label in looks:
        ax.scatter(of_z[0, mask], of_x[0, mask], s=16, color=colour, marker=marker, label=label, linewidths=0.5)
    names = short_names(labels, _LETTERS)  # of all systems, so that names differ from those of other systems, too
    _name_outliers(ax, [(names[k], of_z[0, k], of_x[0, k]) for k in np.flatnonzero(there & far)])
    ax.set_xlabel("Human score")
    ax.set_ylabel("Metric score")
    legend_above(ax)
    return finish(ax)


def _name_outliers(ax: Axes, outliers: list[tuple[str, float, float]]) -> None:
    if len(outliers) > _MOST_NAMED:
        return
    middle = float(np.mean(ax.get_xlim()))
    for name, x, y in outliers:
        left = x < middle
        ax.annotate(
            name,
            xy=(x, y),
            xytext=(4 if left else -4, 0),
            textcoords="offset points",
            ha="left" if left else "right",
            va="center",
            fontsize="small",
        )
