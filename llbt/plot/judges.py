"""Pictures of judges and other classes: their worths, their ties and order effects, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..base.arguments import Confidence, checked
from ..core.columns import FloatArray
from ..core.statistics import critical_value
from ..errors import DesignError, OptionError
from ..fitting.estimates import Estimates
from ..fitting.fitted import PlainFit
from ..fitting.hypotheses import Methods
from ..fitting.prediction import codings_of
from ..formulas.coding import Codings
from ..formulas.grid import At, check_at, covariate_grid, rows_at
from ..formulas.variables import Block, is_summed
from ..inference.log_worths import LogWorths, centred, worth_classes
from ..inference.scales import OF_MEAN, Scale, scale_text, worths_on_scale
from .style import (
    BLUE,
    COLUMN,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    axes_of,
    finish,
    ink,
    label_scale,
    lay_out,
    legend_above,
    look_of,
    name_rows,
    points,
    rows_height,
    rows_of,
    set_log_axis,
    short_names,
    zero_line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCALES: dict[Scale, str] = {
    "log_odds": "log-odds 2λ, mean 0",
    "log_worth": "log-worth λ, mean 0",
    "odds_ratio": "odds exp(2λ), geometric mean 1",
    "elo": "Elo, mean 0",
    "probability": "worth π ∝ exp(2λ)",
}
_MOST_CLASSES = 8  # more are drawn as dots of one colour
_FAR, _MOST_FAR = 3.5, 12  # robust standard deviations from the median from which dots are named, and how many
_NAME_SIZE = np.array([60.0, 9.0])  # points: width and height of a name of 14 letters
_EFFECTS: dict[Block, tuple[str, str, str]] = {
    "tie": ("tie effect γ", BLUE, "o"),
    "bad": ("both bad γ", GREEN, "s"),
    "order": ("order effect δ", ORANGE, "D"),
}


@checked
def judges(
    res: PlainFit,
    pooled: PlainFit | None = None,
    *,
    at: At = None,
    scale: Scale = "log_worth",
    confidence: Confidence = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Plot the log-worths of the objects by judge, compared with the pooled model.

    Parameters
    ----------
    res : LLBTResults
        A fit whose worths differ by judge (or another covariate), such as ``object * judge``.
    pooled : LLBTResults, optional
        The fit without these differences, such as ``object``; by default the average of `res` over the judgments.
    at : mapping, optional
        The classes to draw, as in `worth`; by default all.
    scale : {"log_worth", "log_odds", "odds_ratio", "elo", "probability"}
        Each class has mean 0, so no reference object is singled out.
    confidence : float
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One row per object, the best of the pooled model at the top: a stroke with its interval as a band for the pooled
        model, a point with its interval for each judge; for more than eight judges only points. Judges far from the
        median (3.5 robust standard deviations, at most twelve) are orange, and named if there is room.

    Raises
    ------
    DesignError
        If the worths do not differ by covariates.
    OptionError
        For a `pooled` fit whose worths differ by covariates, or that has other objects.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> table = llbt.load_dataset("dras_table1")
    >>> ax = llbt.plot.judges(llbt.fit("object * judge + tie", table), llbt.fit("object + tie", table))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['object + tie', 'J1', 'J2', 'J3', 'J4']
    """
    z = critical_value(confidence, res.worth_df_inference)
    classes = _classes(res, at)
    center, name = _pooled_worths(res, pooled)
    objects = res.comparisons.objects
    shared = worths_on_scale(center, scale, z)
    order = np.argsort(-np.nan_to_num(shared[0], nan=-np.inf), kind="stable")
    few = len(classes) <= _MOST_CLASSES
    row = 0.2 + 0.05 * len(classes) if few else 0.25  # inches
    ax = axes_of(ax, COLUMN, rows_height(len(objects), row) + 0.25 + 0.1 * (len(classes) // 4 if few else 0))
    if scale in ("probability", "odds_ratio"):
        set_log_axis(ax, "x")
    _draw_pooled(ax, [part[order] for part in shared], name)
    for k, (label, log_worths) in enumerate(classes.items()):
        parts = [part[order] for part in worths_on_scale(log_worths, scale, z)]
        _draw_class(ax, parts, label, k, len(classes))
    name_rows(ax, short_names([objects[k] for k in order]))
    if not few:
        _name_far(
            ax,
            list(classes),
            np.array([worths_on_scale(log_worths, scale, z)[0][order] for log_worths in classes.values()]),
        )
    for edge in range(1, len(objects)):
        ax.axhline(edge - 0.5, color=PALE, linewidth=0.5, zorder=-1)
    what = scale_text(scale, _SCALES, not res.response.plain_odds, OF_MEAN)
    label_scale(ax, what + (f"\n({100 * confidence:.4g} % intervals)" if few else ""))
    legend_above(ax, columns=3 if few else 2)
    return finish(ax)


@checked
def ties(res: PlainFit, *, at: At = None, confidence: Confidence = 0.95, ax: Axes | None = None) -> Axes:
    """Plot the effects of ties, grades, both bad and order, by judge or by other covariates of these terms.

    Parameters
    ----------
    res : LLBTResults
        A fit with ``tie``, ``grade``, ``bad`` or ``order``, such as ``object + tie * judge + order * judge``.
    at : mapping, optional
        Covariate values to draw, such as ``{"judge": ["J1", "J3"]}``; by default all labels, and the mean of numbers.
    confidence : float
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        γ (with a cumulative link the cut θ₁) and δ with Wald intervals, one row per class. exp(γ) is the odds of a tie
        against a win of either of two equal objects, without an order effect; exp(2δ) multiplies the odds of the object
        shown first. The γ of a grade is its log-odds against the smallest grade between equal objects (with a
        cumulative link, its cut minus the cut before). With ``tie:object`` or ``bad:object``, γ is for each object
        against an average object.

    Raises
    ------
    DesignError
        For a formula without any of these.
    OptionError
        For a name in `at` that is not a covariate of these effects.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = llbt.plot.ties(llbt.fit("object + tie * judge", llbt.load_dataset("dras_table1")))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['J1', 'J2', 'J3', 'J4']
    """
    looks = _looks(res)
    if not looks:
        raise DesignError(
            f"the formula {res.specification.formula!r} has neither tie, grade, bad nor order",
            f"Add one, such as '{res.specification.formula} + tie'.",
        )
    check_at(at, average=False)
    covariate_grid(codings_of(res), tuple(looks), at if isinstance(at, Mapping) else None)  # refuses what none has
    effects = {block: _effects(res, block, at, confidence) for block in looks}
    labels = list(dict.fromkeys(label for frame in effects.values() for label in frame["label"]))
    ax = rows_of(ax, short_names(labels), 0.22, more=0.25)
    zero_line(ax)
    step = min(0.3, 0.8 / len(effects))
    for k, (block, frame) in enumerate(effects.items()):
        y = np.array([labels.index(label) for label in frame["label"]]) + step * (k - (len(effects) - 1) / 2)
        name, colour, marker = looks[block]
        points(ax, frame["estimate"], y, frame[["conf_low", "conf_high"]], (colour, marker), label=name)
    undecided = "γ" if res.log_linear else "cut θ₁" if set(looks) <= {"tie", "order"} else "cuts"
    what = " and ".join(dict.fromkeys("δ" if block == "order" else undecided for block in looks))
    scale = "log scale" if res.log_linear else "on the link's scale"
    label_scale(ax, f"{what}, {scale} ({100 * confidence:.4g} % intervals)")
    legend_above(ax)
    return finish(ax)


# -- worths ---------------------------------------------------------------------------------------------------


def _classes(res: Estimates, at: At) -> dict[str, LogWorths]:
    """Return the centred log-worths of each class."""
    classes, shown, _ = worth_classes(res, at)
    rows = list(zip(*shown.values(), strict=True))
    if len(rows) < 2:
        raise DesignError(
            f"the model {res.specification.formula!r} has no judge effects or other interactions",
            "Fit object * judge, or use plot.intervals(res).",
        )
    return {", ".join(map(str, row)): one.centred() for row, one in zip(rows, classes, strict=True)}


def _pooled_worths(res: Estimates, pooled: Estimates | None) -> tuple[LogWorths, str]:
    if pooled is None:
        return centred(res, "average")[0], "average"
    if pooled.comparisons.objects != res.comparisons.objects:
        raise OptionError("the pooled fit has other objects", "Fit both to the same judgments.")
    return centred(pooled, None)[0], pooled.specification.formula


def _draw_pooled(ax: Axes, parts: list[FloatArray], name: str) -> None:
    estimate, _, low, high = parts
    rows = np.arange(len(estimate))
    ax.barh(rows, high - low, left=low, height=0.84, color=GREY, alpha=0.35, linewidth=0, zorder=0)
    ax.vlines(estimate, rows - 0.42, rows + 0.42, color=ink(ax), linewidth=1.5, label=name, zorder=1)


def _draw_class(ax: Axes, parts: list[FloatArray], label: str, k: int, classes: int) -> None:
    estimate, _, low, high = parts
    y = _heights(len(estimate), k, classes)
    if classes > _MOST_CLASSES:
        name = "one dot per class" if k == 0 else f"_{label}"
        ax.plot(estimate, y, "o", color=BLUE, alpha=0.8, markersize=2.5, markeredgewidth=0, label=name)
        return
    points(ax, estimate, y, np.column_stack([low, high]), look_of(k), label=short_names([label])[0])


def _heights(objects: int, k: int, classes: int) -> FloatArray:
    """Return the heights of the k-th class within the rows of the objects."""
    return np.asarray(np.arange(objects) + 0.72 * ((k + 0.5) / classes - 0.5), dtype=np.float64)


def _name_far(ax: Axes, labels: list[str], estimates: FloatArray) -> None:
    """Name the dots (K, J) that are far from the median of their object, the furthest first."""
    logs = np.log(estimates) if ax.get_xscale() == "log" else estimates
    away = np.abs(logs - np.nanmedian(logs, axis=0))
    spread = 1.4826 * np.nanmedian(away, axis=0)  # of normal estimates their standard deviation
    far = np.nan_to_num(away / np.where(spread > 0, spread, np.inf))
    names = short_names(labels, 14)
    furthest = [at for at in np.argsort(-far, axis=None)[:_MOST_FAR].tolist() if far.flat[at] > _FAR]
    lay_out(ax)
    taken: list[FloatArray] = []  # where names stand, in points
    for n, at in enumerate(furthest):
        k, j = divmod(at, estimates.shape[1])
        x, y = estimates[k, j], _heights(estimates.shape[1], k, len(labels))[j]
        ax.plot(x, y, "o", color=ORANGE, markersize=4, label="far from the others" if n == 0 else f"_far {n}")
        place = 72 * np.asarray(ax.transData.transform((x, y))) / ax.figure.dpi
        if all((np.abs(place - other) > _NAME_SIZE).any() for other in taken):  # no name upon another
            taken.append(place)
            ax.annotate(
                names[k], (x, y), (4, 0), textcoords="offset points", va="center", fontsize="x-small", color=ink(ax)
            )


# -- ties and order -------------------------------------------------------------------------------------------


def _effects(res: Estimates, block: Block, at: At, confidence: float) -> pd.DataFrame:
    """Return label, estimate, conf_low and conf_high of an effect in each class; NaN where it is aliased."""
    labels, rows = _effect_rows(res, block, at)
    known = ~rows[:, [res.names.index(name) for name in res.aliased]].any(axis=1)
    numbers = ["estimate", "conf_low", "conf_high"]
    frame = pd.DataFrame(np.nan, index=range(len(labels)), columns=numbers)
    if known.any():
        frame.loc[known, numbers] = (
            Methods.t_test(res, rows[known], confidence=confidence).to_frame()[numbers].to_numpy()
        )
    return frame.assign(label=labels)


def _looks(res: Estimates) -> dict[Block, tuple[str, str, str]]:
    """Return the name and style of each effect of a formula: the tie, the grades from the smallest, then the others."""
    grades = {f"grade[{level}]": level for level in res.comparisons.response.grades}
    smallest_first = sorted(grades, key=lambda block: len(grades[block]))
    kind = "γ" if res.log_linear else "step"
    called = {block: (f"grade {grades[block]} {kind}", *look_of(k + 3)) for k, block in enumerate(smallest_first)}
    every = {"tie": _EFFECTS["tie"], **(called if "grade" in res.design.blocks else {}), **_EFFECTS}
    return {block: look for block, look in every.items() if block in called or block in res.design.blocks}


def _effect_rows(res: Estimates, block: Block, at: At) -> tuple[list[str], FloatArray]:
    """Return the classes between which an effect differs, and the effect in each as a combination of the parameters."""
    codings = codings_of(res)
    used = codings.blocks[block].variables
    asked = {name: value for name, value in at.items() if name in used} if isinstance(at, Mapping) else None
    grid = covariate_grid(codings, (block,), asked)
    pairs, units = _units(codings, res, block)
    size = len(units)
    values = {name: np.repeat(v, size) for name, v in grid.values.items()}
    if "pair" in used:
        values["pair"] = np.tile(codings.table.pair_codes(pairs), grid.size)
    rows = rows_at(codings, block, np.tile(pairs[:, 0], grid.size), values).toarray()
    if is_summed(block, used):  # beside an object of which nothing is known but that it is average
        each = rows.reshape(grid.size, size, -1)
        rows = (each + each.mean(axis=1, keepdims=True)).reshape(rows.shape)
    rows = grid.spread(size) @ rows
    classes = [", ".join(map(str, row)) for row in zip(*grid.shown.values(), strict=True)] or ["all"]
    return [_joined(label, unit) for label in classes for unit in units], np.asarray(rows)


def _units(codings: Codings, res: Estimates, block: Block) -> tuple[Any, list[str]]:
    """Return the pairs (or each object paired with itself) between which an effect differs, and their names."""
    c = res.comparisons
    used = codings.blocks[block].variables
    if "pair" in used:
        pairs = np.unique(np.sort(c.pairs, axis=1), axis=0)
        return pairs, [f"{c.objects[i]} – {c.objects[j]}" for i, j in pairs]
    if any(codings.table.variables[name].role in ("object", "object covariate") for name in used):
        every = np.arange(len(c.objects))
        return np.column_stack([every, every]), [str(label) for label in c.objects]
    return np.zeros((1, 2), dtype=np.int64), [""]


def _joined(label: str, unit: str) -> str:
    if not unit:
        return label
    return unit if label == "all" else f"{label}, {unit}"
