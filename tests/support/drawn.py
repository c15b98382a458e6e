"""Every picture on few, many and very many objects with long names, and what is wrong with the places of its texts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

import llbt
from llbt.judges.class_fit import LatentClasses

SIZES = (4, 60, 200)
LEAST_LETTERS = 4.9  # points
LEAST_AXES = 0.9  # inches
_TOUCH = 1.0  # points by which boxes of letters, which hold more than ink, may run into each other


def names(size: int) -> list[str]:
    """Long names that differ at their ends and in the middle."""
    makers = ("anthracite-labs", "north-river", "meadow-ai", "quartz")
    return [f"{makers[k % 4]}/language-model-{k:03d}b-instruct-preview" for k in range(size)]


@cache
def counts(size: int, judges: int = 1, seed: int = 3) -> llbt.Comparisons:
    """Judgments of pairs that are dense where objects are few, by judges who see worths and ties differently."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 0.5, (judges, size)) * 0.3 + rng.normal(0, 0.5, size)
    i, j = np.array(list(itertools.combinations(range(size), 2))).T
    met = (rng.random(len(i)) < 24 / size) | (j == i + 1)
    parts = []
    for judge in range(judges):
        n = rng.poisson(30 + 12, met.sum())
        lead = worth[judge][i[met]] - worth[judge][j[met]]
        weight = np.exp(np.column_stack([lead + 0.1, np.full(len(lead), -0.4 + 0.05 * judge), -lead - 0.1]))
        drawn = rng.multinomial(n, weight / weight.sum(axis=1, keepdims=True))
        one = pd.DataFrame(drawn, columns=["wins_i", "ties", "wins_j"])
        label = np.array(names(size))
        parts.append(one.assign(object_i=label[i[met]], object_j=label[j[met]], judge=f"annotator-number-{judge:02d}"))
    return llbt.from_counts(pd.concat(parts, ignore_index=True), covariates="judge", order=True)


@cache
def pooled(size: int) -> llbt.LLBTResults:
    found = llbt.fit("object + tie + order", counts(size))
    assert isinstance(found, llbt.LLBTResults)
    return found


@cache
def by_judge(size: int, judges: int) -> llbt.LLBTResults:
    found = llbt.fit("object * judge + tie * judge", counts(size, judges))
    assert isinstance(found, llbt.LLBTResults)
    return found


def _judges_of(size: int) -> int:
    return {4: 12, 60: 6}.get(size, 2)


def _graded(size: int) -> llbt.Comparisons:
    rng = np.random.default_rng(1)
    label = names(size)
    grades = ("much better", "better", "slightly better", "=", "slightly worse", "worse", "much worse")
    rows = [(label[k], label[(k + d) % size], *rng.poisson(9, 7)) for k in range(size) for d in (1,)]
    return llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", *grades]), grades=grades)


def _judge_effects(size: int) -> Axes:
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"object_i": "A", "object_j": "B", "judge": names(size), "wins_i": rng.integers(0, 9, size)})
    c = llbt.from_counts(rows.assign(wins_j=9 - rows["wins_i"]), clusters="judge")
    res = llbt.fit("object + (object | judge)", c)
    assert isinstance(res, llbt.MixedResults)
    return llbt.plot.judge_effects(llbt.judge_effects(res))


def _discrimination(size: int) -> Axes:
    rng = np.random.default_rng(12)
    pairs = np.array(list(itertools.combinations("ABCD", 2)))
    rows = pd.DataFrame(np.tile(pairs, (size, 1)), columns=["object_i", "object_j"])
    rows = rows.assign(judge=np.repeat(names(size), len(pairs)), wins_i=rng.integers(5, 16, len(rows)))
    c = llbt.from_counts(rows.assign(wins_j=20 - rows["wins_i"]), covariates="judge")
    return llbt.plot.discrimination(llbt.fit("object", c, discrimination="judge"))


@cache
def scores(size: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(rng.normal(size=(40, size)) + rng.normal(size=size), columns=names(size))


def scatter(size: int) -> Axes:
    rng = np.random.default_rng(7)
    human = pd.Series(rng.normal(size=size), index=names(size))
    human.iloc[0] = -9
    return llbt.plot.scatter(human + 0.5 * rng.normal(size=size), human)


@cache
def metrics(size: int) -> Any:
    rng = np.random.default_rng(6)
    human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 30))
    found = {name: human + (0.3 + k) * rng.normal(size=(12, 30)) for k, name in enumerate(names(size))}
    return llbt.metrics.compare_all(llbt.metrics.MetricScores.from_matrices(found, human), n=50, rng=1)


def _by_method(size: int) -> Axes:
    rng = np.random.default_rng(7)
    methods = ["mean", "median", "Bradley-Terry", "Elo (400, base 10)", "TrueSkill"]
    return llbt.plot.ranks_by_method(pd.DataFrame(rng.normal(size=(size, 5)), index=names(size), columns=methods))


def _subsets(size: int) -> Axes:
    rng = np.random.default_rng(8)
    human = rng.normal(size=size)
    found = {
        f"{name}-of-a-long-name": llbt.metrics.subset_correlations(human + rng.normal(size=size), human)
        for name in ("first", "second", "third")
    }
    return llbt.plot.subset_correlations(found)


def _decisions(size: int) -> Axes:
    rng = np.random.default_rng(9)
    pairs = size * (size - 1) // 2
    metric, human = rng.normal(size=pairs), rng.normal(size=pairs)
    return llbt.plot.decisions(
        llbt.metrics.decisions_from_tests(metric, rng.random(pairs) ** 3, human, rng.random(pairs) ** 3)
    )


def _curve(size: int) -> Axes:
    rng = np.random.default_rng(10)
    difference = rng.exponential(2, 40 * size)
    agree = rng.random(len(difference)) < 1 / (1 + np.exp(-difference))
    return llbt.plot.difference_curve(llbt.metrics.difference_curve(difference, agree), unit="BLEU")


def _fragility(size: int) -> Axes:
    label, rng = names(size), np.random.default_rng(13)
    changes = [
        {"change": f"rank {k + 1}", "object": label[k], "overtaken_by": label[k + 1], "removed": n, "share": n / 900}
        for k, n in enumerate(rng.integers(1, 300, size - 1).astype(float))
    ]
    changes[0] = {"change": "rank 1", "object": None, "overtaken_by": None, "removed": np.nan, "share": np.nan}
    rows = [{**row, "exact": row["removed"] < 20} for row in changes]
    removals = pd.DataFrame(columns=["change", "object", "overtaken_by", "what", "removed"])
    return llbt.plot.fragility(type(llbt.fragility(pooled(4)))("judgment", 900.0, rows, removals, ()))


def _forest(size: int) -> Axes:
    first, *others = names(size)
    named: dict[str, dict[str, float]] = {f"{first} less {other}": {first: 1, other: -1} for other in others}
    return llbt.plot.forest(llbt.contrasts(pooled(size), named))


@cache
def _mixture(size: int) -> LatentClasses:
    """Two classes of 30 judges each, who order the objects one way and the other."""
    rng = np.random.default_rng(4)
    judge = np.repeat(np.arange(60), 2 * size)
    first = np.tile(np.arange(size), 120)
    second = (first + rng.integers(1, size, len(first))) % size
    apart = 2 * (first - second) / size * np.where(judge < 35, 1.0, -1.0)
    outcome = np.where(rng.random(len(judge)) < 1 / (1 + np.exp(-apart)), "i", "j")
    label = np.array(names(size))
    columns = {"object_i": label[first], "object_j": label[second], "outcome": outcome}
    c = llbt.from_judgments(pd.DataFrame({"judge": judge, **columns}), clusters="judge")
    return llbt.judges.classes("object", c, k=2, starts=3, prior=0.5, rng=1)[2]


def _tree(size: int) -> Axes:
    """Two leaves of 40 judges each, who order the objects one way and the other."""
    rng = np.random.default_rng(2)
    label = names(size)
    judge = np.repeat(np.arange(80), 2 * size)
    first = np.tile(np.arange(size), 160)
    second = (first + rng.integers(1, size, len(first))) % size
    apart = (first - second) / size * np.where(judge < 40, 1.0, -1.0)
    outcome = np.where(rng.random(len(judge)) < 1 / (1 + np.exp(-apart)), "i", "j")
    columns = {"object_i": np.array(label)[first], "object_j": np.array(label)[second], "outcome": outcome}
    frame = pd.DataFrame({"judge": judge, "years of experience": judge, **columns})
    name = "years of experience"
    c = llbt.from_judgments(frame, clusters="judge", covariates=name, numeric=name)
    return llbt.plot.tree(llbt.judges.tree("object", c, max_depth=1))


def _power(size: int) -> Axes:
    scenarios = [llbt.Scenario(tie_share=share, odds=2.0) for share in (0.1, 0.2, 0.3, 0.4)[: min(size, 4)]]
    return llbt.plot.power(llbt.power(scenarios, judgments=[20, 50, 100, 200, 400], n=100, rng=1))


def _over_time(size: int, text: bool = False, facets: Literal["object"] | None = None) -> Axes:
    rng = np.random.default_rng(5)
    rows = [
        one.to_frame().assign(day=f"2026-01-{day:02d}" if text else day)
        for day in range(1, 9)
        for one in llbt.simulate(pooled(size), rng=rng)
    ]
    c = llbt.from_counts(pd.concat(rows, ignore_index=True), clusters="day", order=True)
    return llbt.plot.over_time(llbt.drift(llbt.fit("object + tie + order", c), time="day", sigma=0.2), facets=facets)


def _elo_over_time(size: int) -> Axes:
    rng = np.random.default_rng(6)
    first = rng.integers(0, size, 4000)
    second = (first + rng.integers(1, size, 4000)) % size
    label = np.array(names(size))
    said = np.where(rng.random(4000) < 0.5 + (first - second) / (2 * size), "i", "j")
    frame = pd.DataFrame({"object_i": label[first], "object_j": label[second], "outcome": said})
    return llbt.plot.over_time(llbt.scores.elo_history(frame))


def _frontier(size: int) -> Axes:
    rng = np.random.default_rng(8)
    skill = rng.normal(size=size)
    rows = [
        {"system": name, "item": k, "score": score, "usd": np.exp(2 * one + noise)}
        for name, one, noise in zip(names(size), skill, rng.normal(0, 0.4, size), strict=True)
        for k, score in enumerate(one + rng.normal(size=12))
    ]
    board = llbt.scores.read_board(rows, system="system", item="item", score="score", cost="usd")
    return llbt.plot.frontier(board.frontier(n=100))


# by name of the function, and what is asked of it; each draws by default, in a new figure
PICTURES: dict[str, Callable[[int], Axes]] = {
    "anova": lambda size: llbt.plot.anova(llbt.anova(by_judge(size, 2))),
    "calibration": lambda size: llbt.plot.calibration(llbt.held_out(pooled(size), folds=3, rng=1)),
    "changes": lambda size: llbt.plot.changes(llbt.compare(counts(size), counts(size))),
    "classes": lambda size: llbt.plot.classes(_mixture(size)),
    "decisions": _decisions,
    "difference_curve": _curve,
    "differences": lambda size: llbt.plot.differences(scores(size), *names(size)[:2]),
    "discrimination": _discrimination,
    "forest": _forest,
    "fragility": _fragility,
    "frontier": _frontier,
    "intervals": lambda size: llbt.plot.intervals(pooled(size)),
    "intervals: scores": lambda size: llbt.plot.intervals(llbt.scores.leaderboard(scores(size), test="t")),
    "intervals: Elo": lambda size: llbt.plot.intervals(pooled(size), scale="elo"),
    "intervals: worth": lambda size: llbt.plot.intervals(pooled(size), scale="probability"),
    "intervals: by judge": lambda size: llbt.plot.intervals(by_judge(size, 2), by="judge"),
    "intervals: fits": lambda size: llbt.plot.intervals(
        [pooled(size), llbt.fit("object + tie", counts(size))], scale="probability"
    ),
    "intervals: quasi": lambda size: llbt.plot.intervals(pooled(size), bars="quasi"),
    "judge_effects": _judge_effects,
    "judges": lambda size: llbt.plot.judges(by_judge(size, _judges_of(size))),
    "judges: two": lambda size: llbt.plot.judges(by_judge(size, 2)),
    "network": lambda size: llbt.plot.network(pooled(size)),
    "outcomes": lambda size: llbt.plot.outcomes(counts(size)),
    "outcomes: objects": lambda size: llbt.plot.outcomes(counts(size), rows="object", most=size),
    "outcomes: graded": lambda size: llbt.plot.outcomes(_graded(size), most=size),
    "over_time": _over_time,
    "over_time: text": lambda size: _over_time(size, text=True),
    "over_time: panels": lambda size: _over_time(size, text=True, facets="object"),
    "over_time: Elo": _elo_over_time,
    "paired": lambda size: llbt.plot.paired(scores(size), *names(size)[:2]),
    "posteriors": lambda size: llbt.plot.posteriors(_mixture(size)),
    "power": _power,
    "probabilities": lambda size: llbt.plot.probabilities(pooled(size)),
    "ranks": lambda size: llbt.plot.ranks(llbt.leaderboard(pooled(size))),
    "ranks: shares": lambda size: llbt.plot.ranks(llbt.bootstrap(pooled(size), n=100, rng=1).ranks()),
    "ranks_by_method": _by_method,
    "residuals": lambda size: llbt.plot.residuals(pooled(size)),
    "residuals: by judge": lambda size: llbt.plot.residuals(by_judge(size, 2), most=size),
    "scatter": lambda size: scatter(size),
    "significance": lambda size: llbt.plot.significance(metrics(size)),
    "subset_correlations": _subsets,
    "ties": lambda size: llbt.plot.ties(by_judge(size, _judges_of(size))),
    "tree": _tree,
    "win_probabilities": lambda size: llbt.plot.win_probabilities(llbt.scores.pairwise(scores(size))),
    "worth": lambda size: llbt.plot.worth(pooled(size)),
    "worth: panels": lambda size: llbt.plot.worth(by_judge(size, _judges_of(size)), facets="object"),
    "worth: panels of classes": lambda size: llbt.plot.worth(by_judge(size, _judges_of(size)), facets="class"),
    "worth: by judge": lambda size: llbt.plot.worth(by_judge(size, _judges_of(size))),
}


def faults(ax: Axes) -> list[str]:
    """What is wrong in the figure of these axes: texts upon each other, too small or cut off, axes too small."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    return [*_beyond(figure), *_too_small(figure, ax), *_upon_each_other(figure)]


def _beyond(figure: Figure) -> list[str]:
    box, size = figure.get_tightbbox(), figure.get_size_inches()
    out = {"left": -box.x0, "below": -box.y0, "right": box.x1 - size[0], "above": box.y1 - size[1]}
    return [f"leaves the canvas {side} by {by:.2f} in" for side, by in out.items() if by > 0.02]


def _too_small(figure: Figure, ax: Axes) -> list[str]:
    extent = ax.get_window_extent()
    sides = np.array([extent.width, extent.height]) / figure.dpi
    found = [f"axes of {sides.round(2)} in"] if sides.min() < min(LEAST_AXES, 0.2 * figure.get_size_inches()[1]) else []
    small = [text for text in _texts(figure) if text.get_fontsize() < LEAST_LETTERS]
    return found + (
        [f"{len(small)} texts of {small[0].get_fontsize():.1f} pt: {small[0].get_text()!r}"] if small else []
    )


def _texts(figure: Figure) -> list[Text]:
    """The texts that are drawn: labels of ticks outside of the axes' limits are not."""
    hidden: set[int] = set()
    for axes in figure.findobj(Axes):
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            slack = 1e-9 * (high - low)
            shown = axes.axison and axes.get_visible()
            for tick in ticks:
                if not shown or not low - slack <= tick.get_loc() <= high + slack:
                    hidden |= {id(tick.label1), id(tick.label2)}
    texts = [text for text in figure.findobj(Text) if id(text) not in hidden and text.get_text().strip()]
    return [text for text in texts if text.get_visible() and not _in_hidden_axes(text)]


def _in_hidden_axes(text: Text) -> bool:
    axes = text.axes
    return axes is not None and not (axes.get_visible() and (axes.axison or text in axes.texts))


def _upon_each_other(figure: Figure) -> list[str]:
    """Pairs of texts whose boxes, turned as they are, share some area: no side of either separates them."""
    texts = _texts(figure)
    touch = _TOUCH * figure.dpi / 72
    boxes = [_box(text, touch) for text in texts]
    around = np.array([[*box.min(axis=0), *box.max(axis=0)] for box in boxes]).reshape(-1, 4)
    low, high = around[:, None, :2], around[:, None, 2:]
    near = np.triu(((low < high.swapaxes(0, 1)) & (low.swapaxes(0, 1) < high)).all(axis=2), 1)
    found = [(a, b) for a, b in np.argwhere(near) if not _apart(boxes[a], boxes[b])]
    return [f"{texts[a].get_text()!r} upon {texts[b].get_text()!r} ({len(found)} such)" for a, b in found[:3]]


def _box(text: Text, touch: float) -> np.ndarray:
    """The four corners of a text's box, less what boxes may run into each other."""
    angle = text.get_rotation()
    extent = text.get_window_extent()
    centre = np.array([extent.x0 + extent.x1, extent.y0 + extent.y1]) / 2
    text.set_rotation(0)
    flat = text.get_window_extent()
    text.set_rotation(angle)
    half = np.maximum(np.array([flat.width, flat.height]) / 2 - touch / 2, 0.1)
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * half
    return np.asarray(centre + corners @ np.array([[cos, sin], [-sin, cos]]))


def _apart(a: np.ndarray, b: np.ndarray) -> bool:
    for box in (a, b):
        for side in (box[0] - box[1], box[1] - box[2]):
            one, two = a @ side, b @ side
            if one.max() <= two.min() or two.max() <= one.min():
                return True
    return False
