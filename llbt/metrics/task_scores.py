"""Scores by task (for example by language pair): matrices of metrics and of humans."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.table import about, counted
from ..core.columns import FloatArray, Label
from ..errors import JudgmentError, OptionError, listed, within
from .correlate import Level, score_matrices
from .kernels import comparable
from .metric_scores import MetricScores
from .metric_tests import check_same_inputs
from .system_scores import labelled_groups

_EXPECTED = (
    "MetricScores from MetricScores.from_frame(…) or MetricScores.from_matrices(…), or a mapping of task to "
    "MetricScores"
)

Scores = npt.ArrayLike | Mapping[Hashable, npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class TaskScores:
    """Scores of K metrics and of humans for the N systems on the M inputs of a task.

    Attributes
    ----------
    name : label
        ``""`` without tasks.
    values : ndarray, shape (K, N, M)
    human : ndarray, shape (N, M)
        Scores after `comparable`; NaN where one is missing.
    """

    name: Hashable
    values: FloatArray
    human: FloatArray


@contextmanager
def within_task(name: Hashable) -> Iterator[None]:
    """Add the name of the task to every error raised inside, if there are tasks."""
    if name == "":
        yield
        return
    with within(f"task {name!r}"):
        yield


def compared_scores(
    metric: Scores, other: Scores, human: Scores, level: Level, tasks: Sequence[Hashable] | None
) -> list[TaskScores]:
    """Return the scores of two metrics in each task.

    Parameters
    ----------
    metric, other, human : array_like, shape (N, M), or mapping of task to matrices
    level : str
        The level of the correlation; it decides whether mappings may have different inputs.
    tasks : sequence of label, length M, or None
        The task of each input.
    """
    given = {"metric": metric, "other": other, "human": human}
    mapped = {name: side for name, side in given.items() if isinstance(side, Mapping)}
    if not mapped:
        return _split("", *_matrices(metric, other, human, level), tasks)
    if tasks is not None:
        raise OptionError("tasks= with mappings, whose keys are the tasks already", "Leave tasks= out.")
    if len(mapped) < len(given):
        raise JudgmentError(
            f"{listed([name for name in mapped])} maps tasks to scores, "
            f"{listed([name for name in given if name not in mapped])} does not",
            expected="matrices, or mappings of the same tasks, for all three",
        )
    names = _same_tasks(mapped)
    matched = []
    for name in names:
        with within_task(name):
            values, z = _matrices(mapped["metric"][name], mapped["other"][name], mapped["human"][name], level)
            matched.append(TaskScores(name, values, z))
    return matched


def _same_tasks(mapped: Mapping[str, Mapping[Hashable, object]]) -> tuple[Hashable, ...]:
    """Return the keys of mappings, which must have the same keys."""
    every = list(dict.fromkeys(key for side in mapped.values() for key in side))
    lacking = {name: [key for key in every if key not in side] for name, side in mapped.items()}
    for name, keys in lacking.items():
        if keys:
            raise JudgmentError(f"{name} has no scores of task {listed(keys)}", expected="the same tasks in all")
    if not every:
        raise JudgmentError("mappings without a task", expected="at least one")
    return tuple(every)


def _matrices(metric: object, other: object, human: object, level: Level) -> tuple[FloatArray, FloatArray]:
    """Return the scores of both metrics (2, N, M), and of humans (N, M)."""
    sides, z = score_matrices((metric, other), human, level)  # type: ignore[arg-type]
    check_same_inputs(sides[0], z)
    return np.stack(sides), z


def metric_tasks(
    scores: MetricScores | Mapping[Hashable, MetricScores], tasks: Sequence[Hashable] | Mapping[Label, Hashable] | None
) -> tuple[tuple[str, ...], list[TaskScores], tuple[str, ...]]:
    """Return the names of metrics, their scores in each task, and notes on the scores.

    Parameters
    ----------
    scores : MetricScores, or mapping of task to MetricScores
    tasks : sequence of label, length M, or mapping of input to label, or None
    """
    if isinstance(scores, MetricScores):
        values = np.stack([comparable(x) for x in scores.values])
        labels = _of_inputs(tasks, scores) if isinstance(tasks, Mapping) else tasks
        return scores.metrics, _split("", values, comparable(scores.human), labels), scores.notes
    if tasks is not None:
        raise OptionError("tasks= with a mapping, whose keys are the tasks already", "Leave tasks= out.")
    if not isinstance(scores, Mapping):
        raise OptionError(f"scores is of type {type(scores).__name__}", expected=_EXPECTED)
    for one in scores.values():
        if not isinstance(one, MetricScores):
            raise OptionError(f"scores is a mapping to {type(one).__name__}", expected=_EXPECTED)
    if not scores:
        raise JudgmentError("a mapping without a task", expected="at least one")
    return _aligned(scores)


def _aligned(
    scores: Mapping[Hashable, MetricScores],
) -> tuple[tuple[str, ...], list[TaskScores], tuple[str, ...]]:
    """Return the scores of each task with metrics in one order."""
    every = tuple(dict.fromkeys(metric for one in scores.values() for metric in one.metrics))
    for name, one in scores.items():
        gone = [metric for metric in every if metric not in one.metrics]
        if gone:
            raise JudgmentError(
                f"task {name!r} has no scores of {listed(gone)}",
                "Leave metrics out that were not run on every task.",
                expected="the same metrics in all tasks",
            )
    matched = [
        TaskScores(
            name,
            np.stack([comparable(one.values[one.metrics.index(metric)]) for metric in every]),
            comparable(one.human),
        )
        for name, one in scores.items()
    ]
    return every, matched, tuple(about(name, note) for name, one in scores.items() for note in one.notes)


def _of_inputs(tasks: Mapping[Label, Hashable], scores: MetricScores) -> list[Hashable]:
    gone = [name for name in scores.inputs if name not in tasks]
    if gone:
        raise OptionError(
            f"tasks= has no task of {counted(len(gone), 'input')}: {listed(gone)}", expected="a task for each input"
        )
    return [tasks[name] for name in scores.inputs]


def _split(name: Hashable, values: FloatArray, human: FloatArray, tasks: Sequence[Hashable] | None) -> list[TaskScores]:
    """Return the columns of each task, without the systems that have no score in it."""
    if tasks is None:
        return [TaskScores(name, values, human)]
    codes, levels = labelled_groups("tasks", tasks, human.shape[1], "input")
    by_task = []
    for k, level in enumerate(levels):
        part, z = values[:, :, codes == k], human[:, codes == k]
        there = ~np.isnan(part).all(axis=(0, 2)) | ~np.isnan(z).all(axis=1)
        if there.sum() < 2:
            raise JudgmentError(
                f"task {level!r} has scores of {counted(int(there.sum()), 'system')}",
                "Leave its inputs out.",
                expected="at least 2",
            )
        by_task.append(TaskScores(level, part[:, there], z[there]))
    return by_task
