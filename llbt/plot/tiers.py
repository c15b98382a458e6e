"""Breaks between significance clusters, and rank ranges, beside rows of intervals, and pictures of boards of scores."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import record_kind
from ..core.statistics import critical_value
from ..scores.leaderboard_result import ScoreLeaderboard
from .style import BLUE, DASHED, finish, ink, label_scale, note_beside, points, rows_of, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOARD = record_kind(ScoreLeaderboard)
ROW = 0.12  # inches a row at least
_BREAKS = "\ndashed: all above beat all below"


def draw_breaks(ax: Axes, clusters: Iterable[float]) -> str:
    """Draw a line between rows of different significance clusters; return its meaning, or an empty text without one."""
    breaks = [row for row, (above, below) in enumerate(itertools.pairwise(clusters)) if below > above]
    for row in breaks:
        ax.axhline(row + 0.5, color=ink(ax), linewidth=0.7, linestyle=DASHED, zorder=1)
    return _BREAKS if breaks else ""


def write_ranks(ax: Axes, low: Iterable[float], high: Iterable[float]) -> None:
    """Write the rank range of each row beside it; nothing if it is not known."""
    note_beside(ax, [_from_to(*ends) for ends in zip(low, high, strict=True)], "ranks")


def _from_to(low: float, high: float) -> str:
    if np.isnan(low):
        return ""
    return f"{low:.0f}" if low == high else f"{low:.0f}–{high:.0f}"


def score_intervals(board: ScoreLeaderboard, confidence: float, ax: Axes | None) -> Axes:
    """Draw the mean scores of systems with their intervals, and rank ranges or letters beside them."""
    frame = board.to_frame()
    ax = rows_of(ax, short_names(frame["object"]))
    half = critical_value(confidence, board.df) * board.std_error
    points(
        ax,
        board.estimate,
        range(len(frame)),
        np.column_stack([board.estimate - half, board.estimate + half]),
        (BLUE, "o"),
    )
    together = "simultaneous " if board.adjust in ("holm", "bonferroni") else ""
    note = f"ranks: {together}{100 * board.confidence:.4g} % confidence sets"
    if board.groups == "letters":
        note_beside(ax, frame["group"].tolist())
        note = "same letter: no significant difference"
    else:
        write_ranks(ax, board.rank_low, board.rank_high)
    if board.groups == "clusters":
        note += draw_breaks(ax, frame["significance_cluster"])
    better = "" if board.higher_is_better else ", lower is better"
    known = "" if np.isnan(half).all() else f"\n({100 * confidence:.4g} % intervals)"
    label_scale(ax, f"mean score{better}{known}\n{note}")
    return finish(ax, height=ROW * len(frame))
