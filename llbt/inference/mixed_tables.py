"""New tables from a fit with effects of judges: new judgments by new or the same judges, or resampled judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from ..core.columns import Coded, FloatArray, IntArray, as_objects
from ..core.comparisons import Comparisons, lines_of, tabulate
from ..core.response import TWO
from ..errors import DesignError
from ..fitting.class_worths import ClassWorths
from ..fitting.effect_levels import entered
from ..fitting.effect_lines import slope_values
from ..fitting.fitted import average_of
from ..fitting.protocols import FitLike, WithEffects, has_effects
from ..formulas.brackets import Bracket
from .judge_effects import judge_effects
from .simulated_counts import draw_parametric

Judges = Literal["new", "same"]


def drawn_table(res: FitLike, rng: np.random.Generator, *, times: float = 1.0, judges: Judges = "new") -> Comparisons:
    """Return a table drawn from a fit, with as many judgments by each judge as in the data.

    Without effects the clusters are kept too. Effects of ``"new"`` judges are drawn from their distribution; effects of
    the ``"same"`` judges are the most probable ones.
    """
    c = res.comparisons
    clusters, average = c.cluster_counts, average_of(res)
    rows = np.arange(len(c)) if clusters is None else clusters.rows
    totals = times * (c.counts if clusters is None else clusters.counts).sum(axis=1)
    problem = average.problem()
    eta = np.stack(problem.at(average.solution.params))[:, rows]
    if has_effects(res):
        for predictor, added in _added(res, rows, judges, rng):
            eta[predictor] += added
    p, _ = problem.response.probabilities(eta)
    return _drawn_lines(c, rows, totals, p.T, rng)


def drawn_of_classes(of: ClassWorths, rng: np.random.Generator, times: float) -> Comparisons:
    """Return a table with as many judgments by each judge as in the data; each judge's class is drawn by the shares.

    The clusters of the table are kept.
    """
    c = of.pooled.comparisons
    codes = _grouping_codes(c, of.judges)
    problem = of.pooled.problem()
    chances = np.stack(
        [problem.response.probabilities(problem.at(one.solution.params))[0].T for one in of.each]
    )  # (K, S, C)
    classes = rng.choice(len(of.shares), size=int(codes.max()) + 1, p=of.shares)
    clusters = c.cluster_counts
    rows = np.arange(len(c)) if clusters is None else clusters.rows
    totals = times * (c.counts if clusters is None else clusters.counts).sum(axis=1)
    return _drawn_lines(c, rows, totals, chances[classes[codes], rows], rng)


def _drawn_lines(
    c: Comparisons, rows: IntArray, totals: FloatArray, chances: FloatArray, rng: np.random.Generator
) -> Comparisons:
    """Return a table with other judgments on its lines, given comparisons (R,), totals (R,), probabilities (R, C)."""
    clusters = c.cluster_counts
    judged = np.flatnonzero(totals > 0)
    counts: FloatArray = np.zeros(chances.shape)
    counts[judged] = draw_parametric(totals[judged, None] * chances[judged], 1, rng)[0]
    if c.response == TWO:
        counts = np.insert(counts, 1, 0.0, axis=1)
    summed = np.zeros((len(c), counts.shape[1]))
    np.add.at(summed, rows, counts)
    return replace(c, counts=summed, cluster_counts=clusters and replace(clusters, counts=counts))


def _added(
    res: WithEffects, rows: IntArray, judges: Judges, rng: np.random.Generator
) -> Iterator[tuple[int, FloatArray]]:
    """Yield each bracket's contribution to a predictor of each line: the number of the predictor, and values (R,)."""
    response, pairs = res.comparisons.response, res.comparisons.pairs[rows]
    slopes = slope_values(res.design, res.design.signed_rows(), res.brackets)
    for bracket, sigma, values, unit in zip(res.brackets, res.scales, slopes, res.units.tolist(), strict=True):
        if bracket.effect == "1":
            own = rng.normal(0.0, sigma, len(res.comparisons.objects)) if judges == "new" else _of_objects(res, bracket)
            yield 0, own[pairs[:, 0]] - own[pairs[:, 1]]
            continue
        codes = _grouping(res.comparisons, bracket).codes
        some = entered(bracket, res.comparisons)
        has = 1.0 if some is None else some[rows]
        size, things = int(codes.max()) + 1, bracket.things(response)
        if bracket.of_objects:
            shape = (size, len(res.comparisons.objects))
            effects = rng.normal(0.0, sigma, shape) if judges == "new" else _known(res, bracket)
            yield 0, has * (effects[codes, pairs[:, 0]] - effects[codes, pairs[:, 1]])
            continue
        others = rng.normal(0.0, sigma, (size, len(things))) if judges == "new" else _known(res, bracket)
        for k, predictor in enumerate(bracket.predictors(response)):
            yield predictor, has * others[codes, k] * (1.0 if values is None else unit * values[rows])


def _of_objects(res: WithEffects, bracket: Bracket) -> FloatArray:
    """Return the most probable effects of ``(1 | object)``, (J,)."""
    effects = judge_effects(res, by=bracket.grouping)
    return effects.others[:, [term for term, _ in effects.columns].index(str(bracket))]


def _known(res: WithEffects, bracket: Bracket) -> FloatArray:
    """Return a bracket's most probable effects, one row per level of its column, and one column per object or effect.

    Levels without judgments have 0.
    """
    predicted = judge_effects(res, by=bracket.grouping)
    mine = [k for k, (term, _) in enumerate(predicted.columns) if term == str(bracket)]
    effects = predicted.effects if bracket.of_objects else predicted.others[:, mine]
    levels = _grouping(res.comparisons, bracket).levels.tolist()
    by_level = np.zeros((len(levels), effects.shape[1]))
    by_level[[levels.index(level) for level in res.judges.groupings[bracket.grouping]]] = effects
    return by_level


def _grouping(c: Comparisons, bracket: Bracket) -> Coded:
    """Return the column of a grouping, by lines of the table."""
    return next(column for column in _columns(c) if column.name == bracket.grouping)


def _columns(c: Comparisons) -> list[Coded]:
    lines = lines_of(c)
    return [*lines.columns, *lines.clusters]


def judges_again(c: Comparisons, name: str, drawn: IntArray) -> Comparisons:
    """Return the table of drawn judges, given by their positions; each draw is a separate, numbered judge.

    Raises
    ------
    DesignError
        If none of the drawn judges judged some object.
    """
    lines, codes = lines_of(c), _grouping_codes(c, name)
    size = np.unique(codes, return_counts=True)[1]
    order, first = np.argsort(codes, kind="stable"), np.concatenate([[0], np.cumsum(size)])
    some = np.concatenate([order[first[k] : first[k + 1]] for k in drawn.tolist()])
    column = Coded(name, as_objects(range(len(drawn))), np.repeat(np.arange(len(drawn)), size[drawn]))

    def renamed(columns: tuple[Coded, ...]) -> tuple[Coded, ...]:
        return tuple(column if one.name == name else one for one in columns)

    taken = lines.take(some)
    counts = tabulate(replace(taken, columns=renamed(taken.columns), clusters=renamed(taken.clusters)), c)
    if len(counts.objects) < len(c.objects):
        raise DesignError("an object is judged by none of the judges that were drawn", "Draw others.")
    return counts


def _grouping_codes(c: Comparisons, name: str) -> IntArray:
    """Return the judge of each line of the table."""
    return next(column for column in _columns(c) if column.name == name).codes
