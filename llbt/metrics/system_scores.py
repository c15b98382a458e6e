"""Scores of systems by a metric and by humans, checked once: vectors, matrices of segments, and groups of either."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..core.columns import FloatArray, IntArray, unmasked
from ..errors import JudgmentError, OptionError, kind_of, listed, within
from .kernels import settled

KEEP = "Leave these out of both: keep = metric.notna() & human.notna()"


@dataclass(frozen=True, eq=False)
class JointScores:
    """Scores of N systems, by a metric and by humans.

    Attributes
    ----------
    systems : tuple of label, length N
    metric, human : ndarray, shape (N,)
        Finite, higher is better, on the scales of the caller; scores that differ by rounding alone are equal.
    """

    systems: tuple[Hashable, ...]
    metric: FloatArray
    human: FloatArray

    def take(self, rows: IntArray) -> JointScores:
        """Return the scores of chosen systems."""
        return JointScores(tuple(self.systems[row] for row in rows), self.metric[rows], self.human[rows])


def numbers(name: str, values: object, *, ndim: int = 1, missing: bool = False) -> FloatArray:
    """Return values as an array of floats that are finite, or NaN where `missing` allows that.

    Raises
    ------
    JudgmentError
        For anything that is not an array of numbers with this number of axes, and for values that are not finite.
    """
    array: npt.NDArray[Any] = np.empty(0)
    try:
        array = unmasked(values)
        floats = array.astype(np.float64) if not np.iscomplexobj(array) else None
    except (OverflowError, TypeError, ValueError):
        floats = None
    if floats is None or floats.ndim != ndim or array.dtype.kind in "USM":
        shape = "one number per system" if ndim == 1 else "a matrix, one row per system and one column per segment"
        advice = f"Average the segments: {name}.mean(axis=1)" if np.ndim(array) > ndim == 1 else ""
        was = f"shape {floats.shape}" if floats is not None else kind_of(values)
        raise JudgmentError(f"{name}= is {was} of dtype {_dtype(values)}", advice, expected=f"numbers: {shape}")
    wrong = np.isinf(floats) if missing else ~np.isfinite(floats)
    if wrong.any():
        where = np.argwhere(wrong)[0].tolist()
        at = f"row {where[0]}" if ndim == 1 else f"row {where[0]}, column {where[1]}"
        raise JudgmentError(
            f"{name}= has {int(wrong.sum()):,} values that are not finite (first {floats[tuple(where)]} at {at})",
            f"{KEEP}.",
            expected="finite numbers",
        )
    return floats


def score_matrix(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return scores as a matrix (N, M), NaN where one is missing; a vector becomes a matrix of one column.

    Raises
    ------
    JudgmentError
        For anything that is not a matrix of numbers, and for infinite scores.
    """
    try:
        array = unmasked(values)
        if array.dtype.kind in "USMmc":
            raise TypeError
        matrix: FloatArray = array.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        raise JudgmentError(
            f"{name} is not a matrix of numbers", expected="shape (systems, inputs), NaN where a score is missing"
        ) from None
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.ndim != 2 or matrix.size == 0:
        raise JudgmentError(f"{name} has shape {matrix.shape}", expected="(systems, inputs), or one score each")
    if np.isinf(matrix).any():
        row, column = np.argwhere(np.isinf(matrix))[0]
        raise JudgmentError(
            f"{name} has {counted(int(np.isinf(matrix).sum()), 'infinite score')}, first in row {row}, column {column}",
            expected="finite numbers, NaN where a score is missing",
        )
    return matrix


def refuse_other_labels(names: tuple[str, str], given: tuple[object, object], inputs: bool) -> None:
    """Raise if two labelled frames differ in their systems or in their order; with `inputs`, also in inputs."""
    first, other = given
    if not isinstance(first, pd.DataFrame | pd.Series) or not isinstance(other, pd.DataFrame | pd.Series):
        return
    same = first.index.equals(other.index)
    if inputs and isinstance(first, pd.DataFrame) and isinstance(other, pd.DataFrame):
        same = same and first.columns.equals(other.columns)
    if not same:
        raise JudgmentError(
            f"{names[0]} and {names[1]} are frames whose labels differ or are in a different order",
            f"Align them first: {names[1]}.reindex_like({names[0]})",
            expected="the same systems in rows, the same inputs in columns",
        )


def _dtype(values: object) -> str:
    return str(np.asarray(values, dtype=None if hasattr(values, "__array__") else object).dtype)


def read_systems(metric: object, human: object) -> JointScores:
    """Return the scores of both as vectors; labelled ones (pandas Series) are matched by label.

    Raises
    ------
    JudgmentError
        For scores that are not finite, different numbers of systems, or labels that do not match.
    """
    if isinstance(metric, pd.Series) and isinstance(human, pd.Series):
        human = _matched(metric, human)
    x, z = numbers("metric", metric), numbers("human", human)
    if len(x) != len(z):
        raise JudgmentError(
            f"{len(x)} metric scores and {len(z)} human scores", expected="one of each per system, in the same order"
        )
    named = next((scores for scores in (metric, human) if isinstance(scores, pd.Series)), None)
    systems = tuple(range(len(x))) if named is None else tuple(named.index.tolist())
    return JointScores(systems, settled(x), settled(z))


def _matched(metric: pd.Series[Any], human: pd.Series[Any]) -> pd.Series[Any]:
    """Return the human scores in the order of the metric's labels."""
    if metric.index.equals(human.index):
        return human
    for name, index in (("metric", metric.index), ("human", human.index)):
        if not index.is_unique:
            twice = index[index.duplicated()].unique().tolist()
            raise JudgmentError(
                f"the labels of {name}= are not distinct: {listed(twice)}, so they cannot be matched",
                "Pass arrays in one order: metric.to_numpy(), human.to_numpy().",
            )
    apart = metric.index.symmetric_difference(human.index).tolist()
    if apart:
        raise JudgmentError(
            f"{len(apart)} systems have a score in one of metric= and human= only: {listed(apart)}",
            "Keep those in both: both = metric.index.intersection(human.index).",
        )
    return human.reindex(metric.index)


def grouped_systems(metric: object, human: object, by: object | None) -> tuple[tuple[Hashable, ...], list[JointScores]]:
    """Return the names of groups and the scores of each; without groups, one with an empty name.

    Parameters
    ----------
    metric, human : array, Series, or mapping of group to either
    by : sequence, optional
        The group of each system.
    """
    if isinstance(metric, Mapping) or isinstance(human, Mapping):
        if by is not None:
            raise OptionError("by= with mappings, whose keys are the groups already", "Leave by= out.")
        names, groups = group_names(metric, human), []
        for name in names:
            with within(f"group {name!r}"):
                groups.append(read_systems(metric[name], human[name]))  # type: ignore[index]
        return names, groups
    scores = read_systems(metric, human)
    if by is None:
        return ("",), [scores]
    codes, levels = labelled_groups("by", by, len(scores.systems), "system")
    return levels, [scores.take(np.flatnonzero(codes == k)) for k in range(len(levels))]


def labelled_groups(name: str, given: object, size: int, unit: str) -> tuple[IntArray, tuple[Hashable, ...]]:
    """Return the group of each unit as integer codes, and the groups in order of appearance."""
    labels = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if len(labels) != size:
        raise OptionError(f"{name}= has {len(labels)} labels for {size} {unit}s", expected=f"one per {unit}")
    unhashable = next((label for label in labels if not isinstance(label, Hashable)), None)
    if unhashable is not None:
        raise OptionError(f"{name}= has the label {unhashable!r:.80}", expected="labels: text or numbers")
    codes, levels = pd.factorize(pd.Series(labels, dtype=object))
    if (codes < 0).any():
        raise OptionError(
            f"{name}= has {int((codes < 0).sum())} missing labels (first at row {int(np.argmax(codes < 0))})",
            expected=f"a label for each {unit}",
        )
    return codes.astype(np.int64), tuple(levels.tolist())


def group_names(metric: object, human: object) -> tuple[Hashable, ...]:
    """Return the keys of two mappings, which must have the same keys."""
    if not (isinstance(metric, Mapping) and isinstance(human, Mapping)):
        raise JudgmentError(
            "one of metric= and human= maps groups to scores, the other does not", expected="two mappings, or none"
        )
    apart = [name for name in [*metric, *human] if name not in metric or name not in human]
    if apart or not metric:
        fault = f"groups in one of metric= and human= only: {listed(apart)}"
        raise JudgmentError(
            fault if apart else "metric= and human= hold no group", expected="the same groups in both, at least one"
        )
    return tuple(metric)


def read_segments(metric: object, human: object) -> tuple[tuple[Hashable, ...], FloatArray, FloatArray]:
    """Return the systems, the metric's scores (N, M), and the human scores (N, K), NaN for missing ones.

    Parameters
    ----------
    metric : array or DataFrame, shape (N, M)
    human : array or DataFrame, shape (N, K), or sequence of N arrays
        Arrays may have any lengths, and scores may be NaN: humans need not score every segment of every system.
    """
    x = numbers("metric", metric, ndim=2)
    if isinstance(metric, pd.DataFrame) and isinstance(human, pd.DataFrame) and not metric.index.equals(human.index):
        raise JudgmentError(
            "the rows of metric= and human= are labelled differently",
            "Align them first: human = human.loc[metric.index].",
            expected="the same systems in the same order",
        )
    z = numbers("human", _padded(human), ndim=2, missing=True)
    if len(x) != len(z):
        raise JudgmentError(f"metric= has {len(x)} systems and human= {len(z)}", expected="one row for each")
    empty = np.flatnonzero(np.isnan(z).all(axis=1)).tolist()
    if empty:
        raise JudgmentError(
            f"no human score for the systems in rows {listed(empty)}", "Leave these systems out of both."
        )
    if len(x) and not x.shape[1]:
        raise JudgmentError("metric= has no segment", expected="scores of at least one segment")
    named = next((scores for scores in (metric, human) if isinstance(scores, pd.DataFrame)), None)
    return tuple(range(len(x))) if named is None else tuple(named.index.tolist()), x, z


def _padded(human: object) -> object:
    """Return a list of arrays of different lengths as one matrix, filled up with NaN."""
    if not isinstance(human, Sequence) or isinstance(human, str):
        return human
    rows = []
    for k, row in enumerate(human):
        with within(f"system {k}"):
            rows.append(numbers("human", row, missing=True))
    filled = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for row, scores in zip(filled, rows, strict=True):
        row[: len(scores)] = scores
    return filled


def all_pairs(n: int) -> tuple[IntArray, IntArray]:
    """Return the indices i < j of all pairs of n systems, each (n(n − 1)/2,)."""
    i, j = np.triu_indices(n, 1)
    return i.astype(np.int64), j.astype(np.int64)
