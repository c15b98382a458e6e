"""The picture of how often each system wins against each other one, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..arguments import checked
from ..core.columns import FloatArray
from ..scores.pairwise_records import Mechanism, PairwiseScores, ScoreTest
from ..table import stars
from .look import COLUMN, axes_of, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAP = "PuOr"  # of Brewer: colour-blind readers tell its ends apart
_LETTER = 0.62  # width of a letter in heights
_LEAST = 5.0  # points: smaller letters are left out
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
    """Plot P(row > column) of every two systems as a heat map, with stars where they differ significantly.

    Parameters
    ----------
    pairs : PairwiseScores
        What `scores.pairwise` returns.
    test : {"sign", "t", "median", "wilcoxon"}
        Whose adjusted p-values the stars show: one below .05, two below .01, three below .001.
    mechanism : {"wins", "bt", "mean", "median"}
        The probabilities, as in ``PairwiseScores.probabilities``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that grows with the number of systems.

    Returns
    -------
    matplotlib.axes.Axes
        The system with the largest mean probability first. Numbers (percent) where they fit, else stars alone, else a
        dot where p < .05.

    Raises
    ------
    OptionError
        For anything else than `PairwiseScores`, and unknown options.

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
    ax = axes_of(ax, max(COLUMN, 0.13 * size + 0.6), max(3.9, 0.13 * size + 1.1))
    image = ax.imshow(chances.to_numpy(), cmap=_MAP, vmin=0, vmax=1, aspect="equal")
    bar = ax.figure.colorbar(image, ax=ax, location="top", shrink=0.8, aspect=30, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.set_label(_CHANCES[mechanism], fontsize="small")
    bar.ax.tick_params(labelsize="small")
    ax.set(xlabel="Column", ylabel="Row")
    ax.set_xticks(range(size), list(map(str, chances.columns)), rotation=90)
    ax.set_yticks(range(size), list(map(str, chances.index)))
    cell = _cell_height(ax, size)
    _thin_names(ax, list(map(str, chances.index)), cell)
    _write_cells(ax, chances.to_numpy(), p_values, _cell_height(ax, size))
    return finish(ax)


def _thin_names(ax: Axes, names: list[str], cell: float) -> None:
    """Name every system, or every second, third, …, where rows are lower than letters."""
    step = int(np.ceil(_LEAST / cell))
    font = float(np.clip(0.85 * cell * step, _LEAST, 9.0))
    kept = range(0, len(names), step)
    ax.set_xticks(kept, [names[k] for k in kept], rotation=90, fontsize=font)
    ax.set_yticks(kept, [names[k] for k in kept], fontsize=font)


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
    ax.figure.canvas.draw()
    box = ax.get_window_extent()
    return float(min(box.width, box.height) / size / ax.figure.dpi * 72)


def _write_cells(ax: Axes, chances: FloatArray, p_values: FloatArray, cell: float) -> None:
    """Write numbers and stars where letters of a readable size fit, else stars, else draw dots."""
    for_numbers, for_stars = min(0.9 * cell / (2 * _LETTER), cell / 2.4), 0.88 * cell / 1.5  # three stars, half as wide
    if for_stars < _LEAST:
        rows, columns = np.nonzero(p_values < 0.05)
        colours = [_on(chance) for chance in chances[rows, columns]]
        ax.scatter(columns, rows, s=max(0.25 * cell, 0.8) ** 2, c=colours, linewidths=0)
        return
    numbers = for_numbers >= _LEAST
    font = min(for_numbers if numbers else for_stars, 10.0)
    for row, column in np.argwhere(~np.isnan(chances)).tolist():
        chance, mark = float(chances[row, column]), stars(float(p_values[row, column])).rstrip(".")
        lines = [f"{100 * chance:.0f}"] * numbers + [mark] * bool(mark)
        if lines:
            text = "\n".join(lines)
            ax.text(column, row, text, ha="center", va="center", fontsize=font, color=_on(chance), linespacing=0.9)


def _on(chance: float) -> str:
    """Return the colour of letters that contrasts most with a cell's, by its relative luminance (WCAG 2)."""
    from matplotlib import colormaps

    luminance = np.array(colormaps[_MAP](chance)[:3]) ** 2.2 @ np.array([0.2126, 0.7152, 0.0722])
    return "white" if luminance < 0.18 else "black"
