"""Pictures of pairs of objects: probabilities, counts of outcomes, with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ..base.arguments import Count, checked
from ..base.budgets import refuse_large
from ..base.table import counted, format_count, format_share
from ..core.columns import FloatArray, IntArray, groups
from ..core.comparisons import Comparisons
from ..core.response import THREE, TWO, Response
from ..fitting.fit_part import FitPart
from ..fitting.fitted import WithWorths
from ..formulas.grid import At, labels_at
from ..inference.pairwise import pairwise
from .style import (
    BLUE,
    COLUMN,
    GREY,
    ORANGE,
    PALE,
    axes_of,
    colour_bar,
    contrasting,
    diverging,
    finish,
    label_scale,
    lay_out,
    left_to_right,
    legend_above,
    literally,
    make_room,
    name_rows,
    note_beside,
    row_size,
    rows_height,
    scale_around_half,
    short_names,
    thinned,
    without_frame,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows = Literal["pair", "object"]

_OF_A_DOT = 16  # numbers that a dot takes while it is drawn
_PAGE = 20  # objects up to which cells hold numbers
_MANY = 100  # objects up to which each has its name
_LEAST_CELL = 21.0  # points: the width of a cell in which a probability is written
_ONE_LINE = 5  # outcomes in one line of a legend
_TWO_LINES = 25.0  # and of one with the count below it
_OUTCOMES = {"pair": ("left wins", "tie", "right wins"), "object": ("wins", "ties", "losses")}
_GRADED = {"pair": ("left", "tie", "right"), "object": ("win", "tie", "loss")}
_LIGHTEST = 0.4  # share of the full colour in that of the smallest grade


@checked
def probabilities(res: WithWorths | FitPart, *, at: At = None, ax: Axes | None = None) -> Axes:
    r"""Plot the probability that one object beats another, as a heat map with the numbers of wins.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults or RankingResults
        If judges differ in the fit, the probability is for the average judge.
    at : mapping or "average", optional
        The covariate values, if log-worths differ by covariates: ``{"judge": "J3"}``. Wins are counted at these labels.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        P(row beats column) given a decision, without the order effect, as in `pairwise`; the best object first. If
        cells are large enough, they have the probability and, below it, the number of wins of the row. The colour scale
        reaches as far from ½ as the probabilities do; the figure has further axes for it.

    Raises
    ------
    OptionError
        For log-worths that differ between classes without `at`, and for patterns whose answers depend on each other.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.probabilities(llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool()))
    >>> [text.get_text() for text in ax.texts][:2]
    ['.690\n113', '.952\n145']
    """
    pairs = pairwise(res, scale="probability", at=at)
    order = pairs.ranking
    objects = [pairs.objects[k] for k in order]
    square = _square(pairs.to_frame(), objects)
    wins = _wins_at(res.comparisons, at).reindex(index=objects, columns=objects, fill_value=0.0).to_numpy()
    return probability_map(objects, square, wins, ax)


def probability_map(objects: Sequence[Any], probability: FloatArray, wins: FloatArray | None, ax: Axes | None) -> Axes:
    """Draw the probability that the object of the row is preferred to the object of the column, shape (J, J).

    Below each probability is the number of wins (J, J), if there are counts.
    """
    names, size = short_names(objects), len(objects)
    row = 0.31 if size <= _PAGE else 0.13 if size <= _MANY else 0.06
    side = max(COLUMN if size <= _PAGE else 7.2, 1.4 + row * size)
    ax = axes_of(ax, side, side + 0.5)
    dots = np.prod(ax.get_window_extent().size)
    refuse_large(
        f"the picture of {size:,} × {size:,} objects",
        _OF_A_DOT * float(dots),
        "Draw fewer objects: fit Comparisons.select(objects=[…]).",
    )
    colours = diverging("#F7F7F7")
    low, high = scale_around_half(probability)
    image = ax.imshow(probability, cmap=colours, vmin=low, vmax=high)
    name_rows(ax, names)
    ticks = thinned(ax, size)
    upright = size * max(map(len, names)) > 24
    ax.set_xticks(ticks, [names[k] for k in ticks], rotation=90 if upright else 0)
    ax.xaxis.tick_top()
    ax.tick_params(axis="x", length=0, labelsize=row_size(ax, len(ticks)))
    literally(ax.get_xticklabels())
    without_frame(ax)
    make_room(ax, side - 1.2, side - 1.2)
    colour_bar(ax, image, "P(row beats column), given a decision")
    _write_cells(ax, probability, wins, image)
    return finish(ax)


@checked
def outcomes(c: Comparisons, *, rows: Rows = "pair", most: Count = 30, ax: Axes | None = None) -> Axes:
    """Plot wins, ties and losses as bars, by pair or by object; grades of preference as shades.

    Parameters
    ----------
    c : Comparisons
    rows : {"pair", "object"}
        One bar per pair of objects, with the object that has more wins on the left; or one bar per object.
    most : int
        The number of rows to draw: the pairs or objects with the most judgments.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Shares of the judgments, summed over covariates and both orders, with counts in the bars and the number of
        judgments at the right. Rows are sorted by the share of wins plus half the ties. Larger grades of preference are
        darker.

    Raises
    ------
    OptionError
        For data other than `Comparisons`, an unknown `rows`, and a `most` below 1.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.outcomes(llbt.load_dataset("puddings"), rows="object")
    >>> [bar.get_label() for bar in ax.containers]
    ['wins', 'ties', 'losses']
    """
    response = THREE if c.response == TWO else c.response
    ends, counts = _outcomes_by_pair(c, response) if rows == "pair" else _outcomes_by_object(c, response)
    every = len(ends)
    chosen = _most_judged(response.tally(counts), most)
    ends, counts = ends[chosen], counts[chosen]
    share = counts / counts.sum(axis=1, keepdims=True)
    names = short_names(c.objects, 14 if rows == "pair" else 24)
    ax = axes_of(ax, COLUMN, rows_height(len(counts)) + 0.2)
    drawn = [k for k in range(len(response.outcomes)) if response.outcomes[k] != "tie" or c.has_ties]
    labels, colours = _labels(response, rows), _shades(response)
    _draw_shares(ax, share[:, drawn], [labels[k] for k in drawn], [colours[k] for k in drawn])
    name_rows(ax, [names[k] for k in ends[:, 0]])
    totals = [format_count(n) for n in counts.sum(axis=1)]
    beside = (
        [left_to_right(f"{names[k]} ({n})") for k, n in zip(ends[:, -1], totals, strict=True)]
        if rows == "pair"
        else totals
    )
    note_beside(ax, beside)
    ax.set_xlim(0, 1)
    gone = len(chosen) < every
    label_scale(
        ax, "share of the judgments" + (f"\n(the {counted(len(chosen), rows)} with the most judgments)" if gone else "")
    )
    legend_above(ax, columns=len(drawn) if len(drawn) <= _ONE_LINE else -(-len(drawn) // 2))
    make_room(ax)
    _write_counts(ax, counts, share, colours)
    return finish(ax)


# -- probabilities --------------------------------------------------------------------------------------------


def _square(frame: pd.DataFrame, objects: list[Any]) -> FloatArray:
    """Return P(row beats column) of objects, shape (J, J), NaN on the diagonal."""
    other = frame.rename(columns={"object_i": "object_j", "object_j": "object_i"})
    both = pd.concat([frame, other.assign(estimate=1 - other["estimate"])])
    square = both.pivot(index="object_i", columns="object_j", values="estimate")
    return square.reindex(index=objects, columns=objects).to_numpy(dtype=float)


def _wins_at(c: Comparisons, at: At) -> pd.DataFrame:
    labels = {column.name for column in c.columns if not column.numeric}
    where = {name: value for name, value in labels_at(at).items() if name in labels}
    return c.select(where=where).win_matrix() if where else c.win_matrix()


def _write_cells(ax: Axes, probability: FloatArray, wins: FloatArray | None, image: Any) -> None:
    """Write probabilities, and counts below them, where the cells of the finished layout have room."""
    lay_out(ax)
    cell = 72 * ax.get_window_extent().width / ax.figure.dpi / len(probability)
    if cell < _LEAST_CELL:
        return
    for row, column in np.argwhere(~np.isnan(probability)):
        p = float(probability[row, column])
        counted_too = wins is not None and cell >= _TWO_LINES
        text = format_share(p) + (f"\n{format_count(wins[row, column])}" if counted_too and wins is not None else "")
        colour = contrasting(image.to_rgba(p))
        size = min(8.5, 0.31 * cell)
        ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=size, linespacing=1.1)


# -- outcomes -------------------------------------------------------------------------------------------------


def _outcomes_by_pair(c: Comparisons, response: Response) -> tuple[IntArray, FloatArray]:
    """Return the two objects of each pair (R, 2), the one with more wins first, and counts of the outcomes (R, K)."""
    flip = np.asarray(response.flip)
    down = (c.pairs[:, 0] > c.pairs[:, 1])[:, None]
    first, group = groups([*np.where(down, c.pairs[:, ::-1], c.pairs).T])
    counts = _summed(np.where(down, c.counts[:, flip], c.counts), group, len(first))
    wins = response.tally(counts)
    turned = (wins[:, 2] > wins[:, 0])[:, None]
    pairs = np.sort(c.pairs[first], axis=1)
    return np.where(turned, pairs[:, ::-1], pairs), np.where(turned, counts[:, flip], counts)


def _outcomes_by_object(c: Comparisons, response: Response) -> tuple[IntArray, FloatArray]:
    """Return the objects (R, 1) and the counts of their outcomes (R, K)."""
    sides = (c.counts, c.counts[:, np.asarray(response.flip)])
    every = np.arange(len(c.objects))
    i, j = (_summed(n, side, len(every)) for n, side in zip(sides, c.pairs.T, strict=True))
    return every[:, None], i + j


def _summed(counts: FloatArray, group: IntArray, size: int) -> FloatArray:
    sums = np.zeros((size, counts.shape[1]))
    np.add.at(sums, group, counts)
    return sums


def _labels(response: Response, rows: Rows) -> list[str]:
    """Return the names of the outcomes, with a plus for each grade above the smallest."""
    won, tied, lost = (_GRADED if response.grades else _OUTCOMES)[rows]
    called = {"i": won, "j": lost, "tie": tied, "bad": "both bad"}
    return [f"{called[name.rstrip('+')]} {name.lstrip('ijtebad')}".rstrip() for name in response.outcomes]


def _shades(response: Response) -> list[Any]:
    """Return the colours of the outcomes, lighter for smaller grades."""
    from matplotlib.colors import to_rgb

    signed = response.loadings[:, 0]
    grades = np.unique(np.abs(signed[signed != 0]))
    full = np.linspace(_LIGHTEST, 1, len(grades)) if len(grades) > 1 else np.ones(1)
    shade = dict(zip(grades.tolist(), full.tolist(), strict=True))
    own = {0.0: PALE, 1.0: BLUE, -1.0: ORANGE}
    undecided = {"bad": GREY}
    colours = []
    for name, score in zip(response.outcomes, signed, strict=True):
        base = np.array(to_rgb(undecided.get(name, own[float(np.sign(score))])))
        share = shade.get(abs(float(score)), 1.0)
        colours.append(tuple((share * base + (1 - share)).tolist()))
    return colours


def _most_judged(counts: FloatArray, most: int) -> Any:
    """Return the rows with the most judgments, by falling share of wins and half the ties; counts (R, 3)."""
    totals = counts.sum(axis=1)
    rows = np.argsort(-totals, kind="stable")[:most]
    rows = np.sort(rows[totals[rows] > 0])
    return rows[np.argsort(-(counts[rows, 0] + counts[rows, 1] / 2) / totals[rows], kind="stable")]


def _draw_shares(ax: Axes, share: FloatArray, labels: list[str], colours: list[Any]) -> None:
    left = np.zeros(len(share))
    for part, label, colour in zip(share.T, labels, colours, strict=True):
        ax.barh(np.arange(len(share)), part, left=left, height=0.8, color=colour, label=label)
        left = left + part


def _write_counts(ax: Axes, counts: FloatArray, share: FloatArray, colours: list[Any]) -> None:
    """Write each count into its bar where the finished layout has room for it."""
    lay_out(ax)
    width, size = 72 * ax.get_window_extent().width / ax.figure.dpi, min(7.5, row_size(ax, len(counts)))
    middle = np.cumsum(share, axis=1) - share / 2
    for row, k in np.ndindex(*counts.shape):
        text = format_count(float(counts[row, k]))
        if share[row, k] * width > 0.65 * size * len(text) + 2:
            colour = contrasting(colours[k])
            ax.text(float(middle[row, k]), row, text, ha="center", va="center", fontsize=size, color=colour)
