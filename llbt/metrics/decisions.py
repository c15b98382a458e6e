"""Errors of type I and II of a metric's decisions on pairs of systems, compared with humans' decisions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..base.arguments import Count, Jobs, Rng, Share, checked
from ..base.table import about, counted
from ..core.columns import FloatArray
from ..errors import JudgmentError, within
from ..resampling import Resampler
from .decision_records import DecisionTable
from .null_hypotheses import floor_note
from .segment_tests import bootstrap, paired_t, rank_sum
from .system_scores import all_pairs, group_names, numbers, read_segments

MetricTest = Literal["paired-t", "bootstrap"]


@checked
def decisions(
    metric: object,
    human: object,
    *,
    metric_test: MetricTest = "paired-t",
    alpha: Share = 0.05,
    n: Count = 1000,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> DecisionTable:
    """Return the decisions of a metric and of humans on each pair of systems, and the errors of the metric.

    Parameters
    ----------
    metric : array or DataFrame, shape (N, M), or mapping of group to either
        Scores of N systems on M segments, higher is better. Mappings have the same keys, such as language pairs; only
        systems of one group are paired.
    human : array or DataFrame, shape (N, K), or sequence of N arrays, or mapping of group to either
        Human scores. The number of segments may differ between systems: use NaN for missing scores, or arrays of
        different lengths.
    metric_test : {"paired-t", "bootstrap"}
        The test of the metric's differences: the paired t-test over segments, or resampling of segments.
    alpha : float
        Level of both tests, two-sided.
    n : int
        Number of resamples of the bootstrap.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    DecisionTable
        ``by_difference(bins=5)`` counts errors by the size of the metric's difference, ``pairs()`` has a row for each
        pair. `metrics.error_agreement` and `plot.decisions` take the table.

    Raises
    ------
    JudgmentError
        For scores that are not a matrix of numbers, a metric that lacks scores, a system without human scores.
    OptionError
        For invalid options.

    Notes
    -----
    Humans are tested by Wilcoxon's rank-sum test, with the corrections for ties and continuity. Type I: the metric's
    difference is significant, but humans' difference is not, or has the opposite direction. Type II: humans' difference
    is significant, but the metric's is not. These are the names of the introduction of [1]_; its section 5 and Figure 4
    exchange them. The score of a system is the mean over its segments. For other metrics, such as corpus BLEU, and for
    your own tests, see `decisions_from_tests`.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997, figure 4.
    .. [2] Koehn, P. (2004). Statistical significance tests for machine translation evaluation. EMNLP, 388-395.

    Examples
    --------
    >>> import llbt
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> quality = np.arange(6)[:, None] / 10
    >>> metric, human = quality + rng.normal(size=(6, 400)), quality + rng.normal(size=(6, 300))
    >>> decisions = llbt.metrics.decisions(metric, human)
    >>> decisions.by_difference([0.2]).to_frame()[["n", "both", "type_1", "type_2", "neither"]].values.tolist()
    [[6, 1, 1, 0, 4], [9, 7, 2, 0, 0], [15, 8, 3, 0, 4]]
    """
    draw = Resampler.of("metrics.decisions", rng, n_jobs, progress)
    tested = [_tested(part, metric_test, n, draw) for part in _segments(metric, human)]
    table = decisions_from_tests(
        *(np.concatenate([part.numbers[k] for part in tested]) for k in range(4)),
        object_i=tuple(label for part in tested for label in part.object_i),
        object_j=tuple(label for part in tested for label in part.object_j),
        group=tuple(part.group for part in tested for _ in part.object_i),
        alpha=alpha,
    )
    if metric_test == "paired-t":
        return table
    floor = about(f"p-values of the metric by {counted(n, 'resample')}", floor_note(2 / (n + 1), n, alpha))
    return replace(table, notes=(*table.notes, floor))


@dataclass(frozen=True, eq=False)
class _Segments:
    """Scores of one group: the metric's (N, M) and human ones (N, K)."""

    group: Hashable
    systems: tuple[Hashable, ...]
    metric: FloatArray
    human: FloatArray


@dataclass(frozen=True, eq=False)
class _Tested:
    """The pairs of one group: differences and p-values of metric and humans (4, P)."""

    group: Hashable
    object_i: tuple[Hashable, ...]
    object_j: tuple[Hashable, ...]
    numbers: FloatArray


def _segments(metric: object, human: object) -> list[_Segments]:
    if not isinstance(metric, Mapping) and not isinstance(human, Mapping):
        return [_Segments("", *read_segments(metric, human))]
    segments = []
    for name in group_names(metric, human):
        with within(f"group {name!r}"):
            segments.append(_Segments(name, *read_segments(metric[name], human[name])))  # type: ignore[index]
    return segments


def _tested(part: _Segments, metric_test: MetricTest, n: int, draw: Resampler) -> _Tested:
    i, j = all_pairs(len(part.systems))
    x, z = part.metric, part.human
    means = x.mean(axis=1), np.nanmean(z, axis=1)
    metric_p = bootstrap(x, i, j, n, draw) if metric_test == "bootstrap" else paired_t(x, i, j)
    numbers = np.vstack([means[0][i] - means[0][j], metric_p, means[1][i] - means[1][j], rank_sum(z, i, j)])
    object_i, object_j = (tuple(part.systems[k] for k in side) for side in (i, j))
    return _Tested(part.group, object_i, object_j, numbers)


@checked
def decisions_from_tests(
    metric_difference: object,
    metric_p: object,
    human_difference: object,
    human_p: object,
    *,
    object_i: Sequence[Hashable] | None = None,
    object_j: Sequence[Hashable] | None = None,
    group: Sequence[Hashable] | None = None,
    alpha: Share = 0.05,
) -> DecisionTable:
    """Return the decision table of P pairs of systems from your own tests.

    Parameters
    ----------
    metric_difference, human_difference : array, shape (P,)
        Score of i minus score of j; higher scores are better.
    metric_p, human_p : array, shape (P,)
        Two-sided p-values, NaN where a test is undefined. Pairs with NaN do not count; a note states their number.
    object_i, object_j, group : sequence, length P, optional
        The systems and the group of each pair. By default the systems are called ``i0`` and ``j0``, ``i1`` and ``j1``,
        …
    alpha : float
        Level of both tests.

    Returns
    -------
    DecisionTable

    Raises
    ------
    JudgmentError
        For differences that are not finite, p-values outside 0 to 1, and arrays of different lengths.
    OptionError
        For invalid options.

    Examples
    --------
    >>> import llbt
    >>> metric, human = ([2.1, -0.3, 1.0], [0.001, 0.4, 0.03]), ([0.2, -0.1, 0.0], [0.01, 0.02, 0.9])
    >>> decisions = llbt.metrics.decisions_from_tests(*metric, *human)
    >>> decisions.outcome.tolist()
    ['both', 'humans_only', 'metric_only']
    """
    level = float(alpha)
    d, h = numbers("metric_difference", metric_difference), numbers("human_difference", human_difference)
    p, q = (numbers(name, values, missing=True) for name, values in (("metric_p", metric_p), ("human_p", human_p)))
    labels = [_labels(object_i, "i", len(d)), _labels(object_j, "j", len(d)), _labels(group, "", len(d))]
    lengths = sorted({*map(len, (d, h, p, q)), *map(len, labels)})
    if len(lengths) > 1:
        raise JudgmentError(f"arrays of lengths {lengths}", expected="one value per pair in each")
    for name, values in (("metric_p", p), ("human_p", q)):
        wrong = (values < 0) | (values > 1)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise JudgmentError(f"{name}={values[at]} at pair {at}", expected="p-values, from 0 to 1")
    names = tuple(dict.fromkeys(labels[2])) or ("",)
    place = {name: k for k, name in enumerate(names)}
    codes = np.array([place[name] for name in labels[2]], dtype=np.int64)
    return DecisionTable(names, codes, labels[0], labels[1], d, h, p, q, level, _undefined(p, q))


def _labels(given: Sequence[Hashable] | None, word: str, size: int) -> tuple[Hashable, ...]:
    if given is not None:
        return tuple(given)
    return tuple(f"{word}{k}" if word else "" for k in range(size))


def _undefined(p: FloatArray, q: FloatArray) -> tuple[str, ...]:
    gone = int((np.isnan(p) | np.isnan(q)).sum())
    if not len(p):
        return ("no pair of systems",)
    return (
        (f"left out: {counted(gone, 'pair')} of {len(p):,} without a p-value (constant differences)",) if gone else ()
    )
