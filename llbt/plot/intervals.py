"""Pictures of estimates and ranks with their intervals, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, Confidence, Kind, checked, record_kind
from ..base.table import Table, format_share
from ..errors import DesignError, OptionError, kind_of, listed, safe_repr
from ..fitting.asked_groups import By, Group
from ..fitting.estimates import Estimates
from ..fitting.fit_part import FitPart
from ..fitting.fitted import WITH_WORTHS, AnyFit, WithWorths, average_of, is_fit
from ..formulas.grid import At
from ..inference.groups import groups_of
from ..inference.pairwise import pairwise
from ..inference.pairwise_record import Pairwise, takes_many_letters
from ..inference.quasi_variances import quasi_variances
from ..inference.ranks import leaderboard
from ..inference.scales import FACTORS, OF_MEAN, Scale, scale_text
from ..inference.unit_losses import names_of
from ..scores.leaderboard_result import ScoreLeaderboard
from .side_by_side import side_by_side
from .style import (
    BLUE,
    COLUMN,
    axes_of,
    colour_bar,
    contrasting,
    finish,
    label_scale,
    make_room,
    mark_ranks,
    name_rows,
    note_beside,
    points,
    row_size,
    rows_height,
    rows_of,
    set_log_axis,
    short_names,
    zero_line,
)
from .tiers import BOARD, ROW, draw_breaks, score_intervals, write_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bars = Literal["confidence", "quasi"]
_ONE = WITH_WORTHS | record_kind(FitPart)
Several = Annotated[
    Sequence[WithWorths | FitPart] | Mapping[str, WithWorths | FitPart],
    Kind(lambda several: _are_fits(several), "a list of fits, or a dict of names to fits"),
]

Tiers = Annotated[ScoreLeaderboard, BOARD]

_LEAST_SHARE = 0.1  # of the colour scale
_MOST_BESIDE = 8  # estimates of an object that are told apart in a row: a marker each
_CELLS = 10  # objects up to which shares are written into the cells
_LEVELS: dict[Scale, str] = {
    "log_odds": "log-odds 2λ",
    "log_worth": "log-worth λ",
    "odds_ratio": "odds exp(2λ)",
    "elo": "Elo",
    "probability": "worth π ∝ exp(2λ)",
}


@checked
def intervals(
    res: WithWorths | FitPart | Several | Tiers,
    *,
    at: At = None,
    by: By | None = None,
    scale: Scale = "log_odds",
    bars: Bars = "confidence",
    confidence: Confidence = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Plot the objects with their intervals, the best at the top, and mark objects that do not differ significantly.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults or RankingResults
        A fit with effects of judges is shown for the average judge. Several fits of the same objects are drawn side by
        side: pass a list, named by formulas, or a mapping of names to fits. A board of scores, from
        ``board.leaderboard()`` or `scores.leaderboard`, is drawn with its mean scores; it takes only the options
        `confidence` and `ax`.
    at : mapping or "average", optional
        The covariate values, if log-worths differ by covariates: ``{"judge": "J3"}``.
    by : str or sequence of str, optional
        Covariates that split the answer, as in `leaderboard`; the groups are drawn side by side.
    scale : {"log_odds", "elo", "log_worth", "odds_ratio", "probability"}
        Worths and odds have a logarithmic axis, on which equal distances are equal odds.
    bars : {"confidence", "quasi"}
        Confidence intervals of each estimate against the mean of all, as in `leaderboard`; or comparison intervals from
        quasi standard errors, against the reference, as in `quasi_variances`. Comparison intervals are for comparing
        objects with each other, on the scales ``"log_odds"``, ``"log_worth"`` and ``"elo"``.
    confidence : float
        The confidence of each interval, and of all letters and significance clusters together.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One point with its bar per object. Objects that share a letter at the right do not differ significantly, as in
        ``pairwise(res).letters()``; if more than nine letters are needed, and in a fit with effects of objects, the
        rank ranges of ``pairwise(res).ranks()`` are printed instead. Dashed lines are the breaks of
        ``pairwise(res).clusters()``. The lines below the axis explain this.

        With several fits or groups, each row has a point with its bar for each of them, named in the legend. The object
        with the best mean over the fits is at the top. Letters, ranks and breaks belong to one fit and are left out.

        For a board of scores, rank ranges or letters are at the right, and dashed lines are the breaks between
        significance clusters.

    Raises
    ------
    OptionError
        For options that a board of scores does not have, log-worths that differ between classes without `at` or `by`,
        fits of different objects, more than eight fits or groups, and unknown options.
    DesignError
        For fits whose estimates have different meanings on this scale, such as graded judgments and other judgments.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.intervals(llbt.fit("object + tie", llbt.load_dataset("cems").pool()))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['LO', 'PA', 'SG', 'MI', 'BA', 'ST']
    >>> by_judge = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
    >>> ax = llbt.plot.intervals(by_judge, by="judge")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['J1', 'J2', 'J3', 'J4']
    """
    if isinstance(res, ScoreLeaderboard):
        _refuse_options(at=at is not None, by=by is not None, scale=scale != "log_odds", bars=bars != "confidence")
        return score_intervals(res, confidence, ax)
    if by is not None or isinstance(res, Sequence | Mapping):
        return _plot_several(_series(res, at, by), by, scale, bars, confidence, ax)
    worths = average_of(res)
    frame, against = _intervals(worths, at, scale, bars, confidence)
    pairs = pairwise(worths, at=at, confidence=confidence)
    ax = rows_of(ax, short_names(frame["object"]))
    if scale in ("probability", "odds_ratio"):
        set_log_axis(ax, "x")
    middle = _middle(scale)
    if middle is not None:
        zero_line(ax, middle)
    points(ax, frame["estimate"], range(len(frame)), frame[["conf_low", "conf_high"]], (BLUE, "o"))
    note = _draw_groups(ax, pairs, frame["object"].tolist())
    label_scale(ax, _scale_label(worths, scale, against) + note)
    return finish(ax, height=ROW * len(frame))


@checked
def ranks(
    ranks: Annotated[Table | AnyFit | ScoreLeaderboard, JUDGED_INSIDE], *, at: At = None, ax: Axes | None = None
) -> Axes:
    """Plot the uncertainty of ranks: how often each object has each rank, or the confidence set of its rank.

    Parameters
    ----------
    ranks : Table, ScoreLeaderboard or a fit
        The result of ``bootstrap(res).ranks()``: shares are drawn as shades. For the result of
        ``pairwise(res).ranks()`` or `leaderboard`, a board of scores, or a fit, ranks are drawn as points with their
        confidence sets.
    at : mapping or "average", optional
        For a fit, the covariate values, if log-worths differ by covariates: ``{"judge": "J3"}``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One row per object, the best at the top.

    Raises
    ------
    OptionError
        For other arguments, `at` with a table, and log-worths that differ between classes without `at`.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object + tie", llbt.load_dataset("cems").pool())
    >>> ax = llbt.plot.ranks(llbt.bootstrap(res, n=200, rng=1).ranks())
    >>> ax.get_xlabel()
    'rank (share of the resamples)'
    >>> llbt.plot.ranks(res).get_xlabel()
    'rank (simultaneous confidence sets)'
    """
    if isinstance(ranks, Table | ScoreLeaderboard) and at is not None:
        raise OptionError(f"at={safe_repr(at)} given with a table", "Leave out at=, or pass the fit.")
    if isinstance(ranks, ScoreLeaderboard):
        table: object = ranks.table()
    else:
        table = leaderboard(ranks, at=at) if is_fit(ranks) else ranks
    frame, fields = (table.to_frame(), table.fields) if isinstance(table, Table) else (pd.DataFrame(), ())
    if {"object", "rank", "rank_low", "rank_high"} <= set(frame):
        drawn = any("prediction" in field.heading for field in fields)
        return _plot_rank_sets(frame, "prediction intervals" if drawn else "simultaneous confidence sets", ax)
    if list(frame) == ["object", "rank", "estimate"]:
        return _plot_rank_shares(frame, fields[2].heading, ax)
    what = f"a table of {listed(list(frame))}" if isinstance(table, Table) else kind_of(table)
    raise OptionError(
        f"found {what}",
        expected="a fit, or what llbt.bootstrap(res).ranks(), llbt.pairwise(res).ranks() or llbt.leaderboard(res) "
        "returns",
    )


def _refuse_options(**given: bool) -> None:
    """Raise for options that apply to fits, but not to a board of scores."""
    names = [f"{name}=" for name, is_given in given.items() if is_given]
    if names:
        raise OptionError(
            f"{listed(names)} given with a board of scores, whose means have one scale and no covariates",
            f"Leave {'it' if len(names) == 1 else 'them'} out.",
        )


# -- estimates ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Series:
    """One estimate of each object, with its name in the legend, its fit and its group."""

    name: str
    worths: Estimates
    group: Group


def _are_fits(several: object) -> bool:
    fits = several.values() if isinstance(several, Mapping) else several if isinstance(several, list | tuple) else ()
    return bool(fits) and all(map(_ONE.holds, fits))


def _series(res: WithWorths | FitPart | Several, at: At, by: By | None) -> list[_Series]:
    """Return the estimates of each fit in each group."""
    series = [
        _Series(", ".join([*([name] if name else []), *map(str, group.shown.values())]), average_of(fit), group)
        for name, fit in _named(res).items()
        for group in groups_of(fit, at, by, None, None)
    ]
    if len(series) > _MOST_BESIDE:
        shown = [one.group.shown for one in series]
        some = {name: list(dict.fromkeys(group[name] for group in shown))[:2] for name in shown[0]}
        raise OptionError(
            f"{len(series)} fits or groups side by side",
            f"Name some groups: at={safe_repr(some)}." if some else "Pass fewer fits.",
            expected=f"at most {_MOST_BESIDE}",
        )
    return series


def _named(res: WithWorths | FitPart | Several) -> Mapping[str, WithWorths | FitPart]:
    """Return fits by name; a single fit has an empty name."""
    if isinstance(res, Mapping):
        return res
    return dict(zip(names_of(res), res, strict=True)) if isinstance(res, Sequence) else {"": res}


def _plot_several(
    series: Sequence[_Series], by: By | None, scale: Scale, bars: Bars, confidence: float, ax: Axes | None
) -> Axes:
    """Draw the estimates of several fits or groups in the rows of their objects."""
    objects = list(series[0].worths.comparisons.objects)
    for one in series:
        other = set(one.worths.comparisons.objects) ^ set(objects)
        if other:
            raise OptionError(
                f"{one.name} and {series[0].name} do not both have {listed(sorted(other, key=str), 3)}",
                "Fit tables of the same objects: c.select(objects=[…]).",
            )
    drawn = [_intervals(one.worths, one.group.at, scale, bars, confidence) for one in series]
    labels = {_scale_label(one.worths, scale, against) for one, (_, against) in zip(series, drawn, strict=True)}
    if len(labels) > 1:
        raise DesignError(f"the estimates do not mean the same: {listed(sorted(labels))}", "Choose scale='log_worth'.")
    frames = [frame.set_index("object").reindex(objects) for frame, _ in drawn]
    estimates = np.array([frame["estimate"].to_numpy(dtype=float) for frame in frames])
    ends = np.array([frame[["conf_low", "conf_high"]].to_numpy(dtype=float) for frame in frames])
    logs = scale in ("probability", "odds_ratio")
    values = np.log(estimates) if logs else estimates
    known = np.isfinite(values)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
    order = np.argsort(-np.where(known.any(axis=0), mean, -np.inf), kind="stable")
    return side_by_side(
        [objects[k] for k in order],
        estimates[:, order],
        ends[:, order],
        [one.name for one in series],
        labels.pop(),
        zero=_middle(scale),
        logs=logs,
        title="" if by is None else by if isinstance(by, str) else ", ".join(by),
        ax=ax,
    )


def _scale_label(res: Estimates, scale: Scale, against: str) -> str:
    return scale_text(scale, _LEVELS, not res.response.plain_odds) + against


def _middle(scale: Scale) -> float | None:
    """Return the value of an average object on the scale; None for worths, which have no such value."""
    return None if scale == "probability" else 1.0 if scale == "odds_ratio" else 0.0


def _intervals(res: Estimates, at: At, scale: Scale, bars: Bars, confidence: float) -> tuple[pd.DataFrame, str]:
    """Return object, estimate, conf_low, conf_high, the best first, and the text on the zero of the scale."""
    if bars == "confidence":
        board = leaderboard(res, scale=scale, at=at, confidence=confidence)
        if not res.response.plain_odds and scale != "log_worth":
            return board.to_frame(), f"{OF_MEAN}\n({100 * confidence:.4g} % intervals)"
        against = {"probability": "", "odds_ratio": ", geometric mean 1"}.get(scale, ", mean 0")
        return board.to_frame(), f"{against}\n({100 * confidence:.4g} % intervals)"
    if scale in ("probability", "odds_ratio"):
        raise OptionError(
            f"bars='quasi' has no scale={scale!r}",
            expected="scale='log_odds', 'log_worth' or 'elo': quasi standard errors are for differences",
        )
    if not res.response.plain_odds and scale != "log_worth":
        raise OptionError(
            f"bars='quasi' has no scale={scale!r} where odds of being preferred are not differences of log-worths",
            "Choose scale='log_worth'.",
        )
    frame = quasi_variances(res, at=at, confidence=confidence).to_frame()
    numbers = ["estimate", "conf_low", "conf_high"]
    frame[numbers] = FACTORS[scale] * frame[numbers]
    best_first = frame.sort_values("estimate", ascending=False, kind="stable").reset_index(drop=True)
    level = f"{100 * confidence:.4g} % by quasi standard errors"
    objects = list(res.comparisons.objects)
    reference = short_names(objects, 14)[objects.index(res.design.reference)]
    return best_first, f" against {reference}\n({level})"


def _draw_groups(ax: Axes, pairs: Pairwise, objects: list[Any]) -> str:
    """Draw letters, lines or ranks beside the rows, and breaks between significance clusters; return their meaning."""
    if pairs.rank_ranges is not None:
        return "\n" + _draw_ranks(ax, pairs, objects)
    cluster = pairs.clusters().to_frame().set_index("object")["significance_cluster"].reindex(objects)
    breaks = draw_breaks(ax, cluster)
    return "\n" + _draw_alike(ax, pairs, objects) + breaks


def _draw_alike(ax: Axes, pairs: Pairwise, objects: list[Any]) -> str:
    """Write letters or rank ranges next to the rows; return their meaning."""
    if not takes_many_letters(pairs):
        letters = pairs.letters().to_frame().set_index("object")["group"].reindex(objects).fillna("").tolist()
        note_beside(ax, letters)
        return "same letter: no significant difference"
    return _draw_ranks(ax, pairs, objects)


def _draw_ranks(ax: Axes, pairs: Pairwise, objects: list[Any]) -> str:
    """Write the ranks that each object may have beside its row; return what they mean."""
    ranks = pairs.ranks().to_frame().set_index("object").reindex(objects)
    write_ranks(ax, *ranks[["rank_low", "rank_high"]].to_numpy(dtype=float).T)
    level = f"{100 * pairs.confidence:.4g} %"
    return (
        f"ranks: {level} prediction range of each object"
        if pairs.rank_ranges is not None
        else f"ranks: simultaneous {level} confidence sets"
    )


# -- ranks ----------------------------------------------------------------------------------------------------


def _plot_rank_sets(frame: pd.DataFrame, ranges: str, ax: Axes | None) -> Axes:
    ax = rows_of(ax, short_names(frame["object"]))
    points(ax, frame["rank"], range(len(frame)), frame[["rank_low", "rank_high"]], (BLUE, "o"))
    _mark_ranks(ax, len(frame))
    label_scale(ax, f"rank ({ranges})")
    return finish(ax)


def _plot_rank_shares(frame: pd.DataFrame, note: str, ax: Axes | None) -> Axes:
    share = frame.pivot(index="object", columns="rank", values="estimate")
    mean = (share * share.columns.to_numpy()).sum(axis=1)
    share = share.loc[mean.sort_values(kind="stable").index]
    size = len(share)
    ax = axes_of(ax, max(COLUMN, 1.2 + 0.095 * size), rows_height(size) + 0.5)
    colours = _shades()
    values = share.to_numpy()
    largest = max(float(np.nanmax(values)), _LEAST_SHARE)
    image = ax.imshow(
        values, cmap=colours, vmin=0, vmax=largest, aspect="auto", extent=(0.5, size + 0.5, size - 0.5, -0.5)
    )
    name_rows(ax, short_names(share.index))
    if size <= _CELLS:
        _write_shares(ax, values, image)
    _mark_ranks(ax, size)
    label_scale(ax, f"rank ({note})")
    make_room(ax)
    colour_bar(ax, image, "share")
    return finish(ax)


def _shades() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("llbt", ["#F7F7F7", BLUE])


def _write_shares(ax: Axes, values: Any, image: Any) -> None:
    size = min(7.0, row_size(ax, len(values)))
    for row, column in np.argwhere(values >= 0.005):
        share = values[row, column]
        text = format_share(share)[:3] if share < 0.995 else "1"
        colour = contrasting(image.to_rgba(share))
        ax.text(column + 1, row, text, ha="center", va="center", fontsize=size, color=colour)


def _mark_ranks(ax: Axes, size: int) -> None:
    ax.set_xlim(0.5, size + 0.5)
    mark_ranks(ax.xaxis, size)
