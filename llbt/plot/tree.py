"""The picture of a tree of judges: its splits above, the worths of each leaf below, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import Confidence, checked
from ..base.table import format_p
from ..core.statistics import critical_values
from ..errors import DesignError
from ..fitting.fitted import average_of
from ..inference.log_worths import centred
from ..inference.worth import worth
from ..judges.tree import JudgeTree
from ..judges.tree_growth import Node
from .style import (
    BLUE,
    COLUMN,
    GREY,
    axes_of,
    bands,
    finish,
    ink,
    label_scale,
    name_rows,
    points,
    rows_height,
    short_names,
    without_frame,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVEL = 3.0  # rows from a node to its children
_WIDE = 1.6  # inches for a leaf
_HALF = 0.42  # of the room between leaves that worths take on either side
_RULE = 26  # letters of a rule


@checked
def tree(judge_tree: JudgeTree, *, confidence: Confidence = 0.95, ax: Axes | None = None) -> Axes:
    """Plot a tree of judges: the splits, and below each leaf the log-worths of the objects with their intervals.

    Parameters
    ----------
    judge_tree : JudgeTree
        The result of ``llbt.judges.tree(formula, c)``.
    confidence : float
        Level of the intervals. If the tree is not honest, they are conditional on the tree.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A row for each object, in the order of their log-worths among all judges, and a column for each leaf. All leaves
        have the same scale; the line in each is the mean of the objects.

    Raises
    ------
    DesignError
        If worths depend on covariates, so that a leaf has several sets of worths.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> import pandas as pd
    >>> import llbt
    >>> matplotlib.use("Agg")
    >>> judge = np.repeat(np.arange(40), 6)
    >>> says = np.where(np.random.default_rng(1).random(240) < np.where(judge < 20, 0.8, 0.3), "i", "j")
    >>> frame = pd.DataFrame({"judge": judge, "age": 20 + judge, "object_i": "A", "object_j": "B", "outcome": says})
    >>> c = llbt.from_judgments(frame, clusters="judge", covariates="age", numeric="age")
    >>> ax = llbt.plot.tree(llbt.judges.tree("object", c))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A', 'B']
    """
    if not judge_tree.nodes[0].results.design.plain:
        raise DesignError(
            f"the worths of {judge_tree.growth.formula!r} depend on covariates, so a leaf has several sets of worths",
            "Grow a tree whose worths have no covariates, such as 'object + tie'.",
        )
    root = worth(judge_tree.results(1), scale="log_worth").to_frame()
    objects = root.sort_values("estimate", ascending=False, kind="stable")["object"].tolist()
    depth = max(node.depth for node in judge_tree.nodes)
    leaves = judge_tree.leaves
    ax = axes_of(ax, max(COLUMN, 1.2 + _WIDE * len(leaves)), rows_height(len(objects) + int(_LEVEL * depth) + 2))
    bands(ax, len(objects))
    name_rows(ax, short_names(objects))
    place = _places(judge_tree)
    top = -1.5
    for node in judge_tree.nodes:
        _draw_node(ax, judge_tree, node, place, top - _LEVEL * (depth - node.depth), top)
    _draw_worths(ax, judge_tree, objects, place, confidence)
    ax.set_xlim(-0.5, len(leaves) - 0.5)
    ax.set_ylim(len(objects) - 0.5, top - _LEVEL * depth - 1.0)
    ax.set_xticks([])
    without_frame(ax)
    return finish(ax)


def _places(grown: JudgeTree) -> dict[int, float]:
    """Return the place of each node: leaves side by side, other nodes above the middle of their children."""
    place = {node.number: float(k) for k, node in enumerate(grown.leaves)}
    for node in reversed(grown.nodes):
        if node.children:
            place[node.number] = float(np.mean([place[child] for child in node.children]))
    return place


def _draw_node(ax: Axes, grown: JudgeTree, node: Node, place: dict[int, float], y: float, bottom: float) -> None:
    x = place[node.number]
    if node.split is None:
        ax.plot([x, x], [y, bottom], color=GREY, linewidth=0.8, zorder=0)
        text = f"{node.number}: n = {len(node.judges)}"
        y = bottom
    else:
        p = format_p(float(node.tests["p_adjusted"].min()))
        text = f"{node.split.covariate}\np {'' if p.startswith('<') else '= '}{p}"
        below = y + _LEVEL
        for child in node.children:
            ax.plot([x, place[child]], [y, below], color=GREY, linewidth=0.8, zorder=0)
            rule = grown.nodes[child - 1].rule.removeprefix(f"{node.split.covariate}").lstrip(": ")
            middle = (x + 2 * place[child]) / 3
            _write(ax, middle, y + _LEVEL * 0.6, short_names([rule], _RULE)[0])
    _write(ax, x, y, text)


def _write(ax: Axes, x: float, y: float, text: str) -> None:
    around = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.0}
    ax.text(x, y, text, ha="center", va="center", fontsize="small", color=ink(ax), bbox=around)


def _draw_worths(ax: Axes, grown: JudgeTree, objects: list[object], place: dict[int, float], confidence: float) -> None:
    """Draw centred log-worths, scaled so that the furthest end of an interval fits the room at a leaf."""
    half = float(critical_values(confidence, np.array([np.inf]))[0])
    frames = []
    for leaf in grown.leaves:
        res = grown.results(leaf.number)
        own, _ = centred(average_of(res), None)
        place_of: dict[object, int] = {label: k for k, label in enumerate(res.comparisons.objects)}
        at = [place_of.get(label, -1) for label in objects]  # a leaf may lack objects
        estimate = np.append(own.estimate, np.nan)[at]
        error = np.append(np.sqrt(np.maximum(np.diag(own.cov), 0.0)), np.nan)[at]
        frames.append((leaf, estimate, half * error))
    furthest = max(float(np.nanmax(np.abs(estimate) + error)) for _, estimate, error in frames)
    rows = np.arange(len(objects))
    for leaf, estimate, error in frames:
        x = place[leaf.number]
        ax.plot([x, x], [-0.5, len(objects) - 0.5], color=ink(ax), linewidth=0.8, zorder=0)
        middle, width = x + _HALF * estimate / furthest, _HALF * error / furthest
        seen = np.isfinite(middle)
        points(ax, middle[seen], rows[seen], np.column_stack([middle - width, middle + width])[seen], (BLUE, "o"))
    label_scale(ax, f"log-worth (mean 0),\nup to ±{furthest:.2g}")
