"""The picture of how often each system wins against each other system, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..base.arguments import checked
from ..base.table import stars
from ..core.columns import FloatArray
from ..scores.pairwise_records import Mechanism, PairwiseScores, ScoreTest
from .style import (
    BODY,
    axes_of,
    colour_bar,
    contrasting,
    diverging,
    finish,
    lay_out,
    make_room,
    row_size,
    scale_around_half,
    short_names,
    thinned,
    without_frame,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 30  # systems up to which cells hold numbers
_MANY = 100  # systems from which on their cells are smaller
_LETTER = 0.62  # width of a letter in heights
_LEAST = 6.5  # points: smaller letters are left out
_LEVEL = 0.05
_STARS, _DOTS = "adjusted p: * < .05, ** < .01, *** < .001", "dot: adjusted p < .05"
_CHANCES: dict[Mechanism, str] = {
    "wins": "Share of instances that the row wins",
    "bt": "P(row > column), Bradley-Terry",
    "mean": "Mean: row over column",
    "median": "Median: row over column",
}


@checked
def win_probabilities(
    pairs: PairwiseScores, *, test: ScoreTest = "sign", mechanism: Mechanism = "wins", ax: Axes | None = None
) -> Axes:
    """Plot P(row > column) for each pair of systems as a heat map, with stars for significant differences.

    Parameters
    ----------
    pairs : PairwiseScores
        The result of `scores.pairwise`.
    test : {"sign", "t", "median", "wilcoxon"}
        The test whose adjusted p-values the stars show: one below .05, two below .01, three below .001.
    mechanism : {"wins", "bt", "mean", "median"}
        The probabilities, as in ``PairwiseScores.probabilities``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that grows with the number of systems.

    Returns
    -------
    matplotlib.axes.Axes
        The system with the largest mean probability first. The colour scale covers the largest distance from ½.
        Cells have numbers (percent) if they fit, otherwise only stars, otherwise a dot if p < .05.

    Raises
    ------
    OptionError
        For anything other than `PairwiseScores`, and unknown options.

    References
    ----------
    Peyrard, M., Zhao, W., Eger, S. & West, R. (2021). Better than average: paired evaluation of NLP systems. ACL,
    2301-2315, figure 5.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib, pandas as pd
    >>> matplotlib.use("Agg")
    >>> frame = pd.DataFrame({"A": [9.0, 1, 2, 3], "B": [1.0, 2, 3, 4], "C": [2.0, 3, 4, 5]})
    >>> ax = llbt.plot.win_probabilities(llbt.scores.pairwise(frame))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['C', 'B', 'A']
    """
    chances, p_values = _best_first(pairs, test, mechanism)
    size = len(chances)
    side = max(BODY, 0.2 * size if size <= _FEW else 0.13 * size if size <= _MANY else 0.06 * size)
    ax = axes_of(ax, side + 0.6, side + 1.1)
    colours = diverging("#F7F7F7")
    low, high = scale_around_half(chances.to_numpy())
    image = ax.imshow(chances.to_numpy(), cmap=colours, vmin=low, vmax=high, aspect="equal")
    _name_sides(ax, short_names(chances.index))
    make_room(ax, side, side + 0.6)
    legend = f"\n{_STARS}" if (p_values < _LEVEL).any() else ""
    bar = colour_bar(ax, image, _CHANCES[mechanism] + legend)
    with_stars = _write_cells(ax, chances.to_numpy(), p_values, _cell_height(ax, size), image)
    bar.ax.xaxis.label.set_text(bar.ax.get_xlabel() if with_stars else bar.ax.get_xlabel().replace(_STARS, _DOTS))
    return finish(ax)


def _name_sides(ax: Axes, names: list[str]) -> None:
    """Name rows and columns; only every second, third, … if rows are lower than letters."""
    ticks = thinned(ax, len(names))
    font = row_size(ax, len(ticks))
    ax.set_xticks(ticks, [names[k] for k in ticks], rotation=90, fontsize=font)
    ax.set_yticks(ticks, [names[k] for k in ticks], fontsize=font)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    without_frame(ax)


def _best_first(pairs: PairwiseScores, test: ScoreTest, mechanism: Mechanism) -> tuple[pd.DataFrame, FloatArray]:
    """Return P(row > column) and p-values, both systems × systems, the best system first."""
    chances = pairs.probabilities(mechanism)
    p_values = np.full(chances.shape, np.nan)
    i, j = pairs.pairs.T
    p_values[i, j] = p_values[j, i] = pairs.p_adjusted[test]
    order = np.argsort(-chances.mean(axis=1).fillna(-1.0).to_numpy(), kind="stable")
    return chances.iloc[order, order], p_values[np.ix_(order, order)]


def _cell_height(ax: Axes, size: int) -> float:
    """Return the height of a cell in points, once the axes are laid out."""
    lay_out(ax)
    box = ax.get_window_extent()
    return float(min(box.width, box.height) / size / ax.figure.dpi * 72)


def _write_cells(ax: Axes, chances: FloatArray, p_values: FloatArray, cell: float, image: Any) -> bool:
    """Write numbers and stars if they can be read, else stars, else draw dots; return whether there are stars."""
    for_numbers, for_stars = min(0.9 * cell / (2 * _LETTER), cell / 2.4), 0.7 * cell / 1.5  # three stars, half as wide
    if for_stars < _LEAST:
        rows, columns = np.nonzero(p_values < _LEVEL)
        colours = [contrasting(image.to_rgba(chance)) for chance in chances[rows, columns]]
        ax.scatter(columns, rows, s=max(0.25 * cell, 0.8) ** 2, c=colours, linewidths=0)
        return False
    numbers = for_numbers >= _LEAST
    font = min(for_numbers if numbers else for_stars, 10.0)
    for row, column in np.argwhere(~np.isnan(chances)).tolist():
        chance, mark = float(chances[row, column]), stars(float(p_values[row, column])).rstrip(".")
        lines = [f"{100 * chance:.0f}"] * numbers + [mark] * bool(mark)
        if lines:
            text = "\n".join(lines)
            on = contrasting(image.to_rgba(chance))
            ax.text(column, row, text, ha="center", va="center", fontsize=font, color=on, linespacing=0.9)
    return True
