"""Human and machine judgments of the same units, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..core.columns import Coded, FloatArray, IntArray, Label, as_objects, code
from ..core.comparisons import Comparisons
from ..core.counts import counts_of_cells
from ..core.judgments import Judgments
from ..core.response import TWO
from ..data.judge_columns import read_judged
from ..data.sources import as_names
from ..errors import JudgmentError, listed

UNIT = "unit"


@dataclass(frozen=True, eq=False)
class Source:
    """The judgments of people, or of one machine, that are used. R judgments.

    Attributes
    ----------
    name : label
    comparison, outcomes : ndarray of int, shape (R,)
        The comparison of the table, and the outcome of its response.
    unit : ndarray of int, shape (R,)
    share : ndarray, shape (R,)
        One divided by the number of the source's judgments of the unit.
    """

    name: Label
    comparison: IntArray
    outcomes: IntArray
    unit: IntArray
    share: FloatArray

    def by_unit(self, scores: FloatArray, units: int) -> FloatArray:
        """Return the mean of the judgments' scores (R, p) in each unit, shape (units, p)."""
        sums = np.zeros((units, scores.shape[1]))
        np.add.at(sums, self.unit, self.share[:, None] * scores)
        return sums

    def taken(self, units: IntArray, chosen: npt.NDArray[np.bool_]) -> Source:
        """Return the judgments of some units (U',), which may repeat or have no judgments."""
        order, size = np.argsort(self.unit, kind="stable"), np.bincount(self.unit, minlength=int(units.max()) + 1)
        many = size[units] * chosen
        rows = order[_ranges((np.cumsum(size) - size)[units], many)]
        of = np.repeat(np.arange(len(units)), many)
        return Source(self.name, self.comparison[rows], self.outcomes[rows], of, self.share[rows])

    def counts(self, weights: FloatArray, shape: tuple[int, int]) -> FloatArray:
        """Return the counts of each outcome of each comparison, weighted by unit, shape (S, K)."""
        cells = self.comparison * shape[1] + self.outcomes
        counts = np.bincount(cells, self.share * weights[self.unit], shape[0] * shape[1])
        return counts.astype(np.float64).reshape(shape)


@dataclass(frozen=True, eq=False)
class Units:
    """U units that all machines judged, n of them labelled by people.

    Attributes
    ----------
    table : Comparisons
        All judgments that are used.
    human : Source
    machines : tuple of Source
    labelled : ndarray of bool, shape (U,)
    pair : ndarray of int, shape (U,)
        The pair of objects of each unit.
    pairs : list of str
        The P pairs.
    cluster : ndarray of int, shape (U,)
    kind : str
        The clusters: ``"unit"``, or the column whose values units share.
    names : tuple of label
        The labels of the G clusters.
    notes : tuple of str
    """

    table: Comparisons
    human: Source
    machines: tuple[Source, ...]
    labelled: npt.NDArray[np.bool_]
    pair: IntArray
    pairs: list[str]
    cluster: IntArray
    kind: str
    names: tuple[Label, ...]
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of units U."""
        return len(self.pair)

    def again(self, times: IntArray, labelled: npt.NDArray[np.bool_]) -> Units:
        """Return each cluster as often as `times` (G,) states, each copy as a separate cluster.

        Clusters that are not `labelled` (G,) lose their labels.
        """
        order = np.argsort(self.cluster, kind="stable")
        size = np.bincount(self.cluster, minlength=len(self.names))
        drawn = np.repeat(np.arange(len(self.names)), times)
        units = order[_ranges(np.cumsum(size)[drawn] - size[drawn], size[drawn])]
        labelled_again = self.labelled[units] & labelled[self.cluster[units]]
        human = self.human.taken(units, labelled_again)
        machines = tuple(machine.taken(units, np.ones(len(units), dtype=np.bool_)) for machine in self.machines)
        shape = (len(self.table), len(self.table.response.outcomes))
        counts = np.zeros(shape)
        for source in (human, *machines):
            np.add.at(counts, (source.comparison, source.outcomes), 1.0)
        return replace(
            self,
            table=replace(self.table, counts=counts_of_cells(counts, self.table.response)),
            human=human,
            machines=machines,
            labelled=labelled_again,
            pair=self.pair[units],
            cluster=np.repeat(np.arange(len(drawn)), size[drawn]),
            names=tuple(self.names[k] for k in drawn.tolist()),
        )


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return the ranges starts[k], starts[k] + 1, … of the given lengths, one after another."""
    before = np.cumsum(sizes) - sizes
    return np.asarray(np.repeat(starts - before, sizes) + np.arange(int(sizes.sum())))


def read_units_of(
    human: object, machine: object, unit: str | Sequence[str], groups: str | None, *, order: bool
) -> Units:
    """Return the judgments of people and machines on the same units; see `calibrate`.

    Raises
    ------
    JudgmentError
        For missing columns, and if no unit has both kinds of judgments.
    """
    names = as_names(unit, "unit")
    by_kind = {kind: read_judged(source) for kind, source in (("human", human), ("machine", machine))}
    frame = pd.concat(
        [_framed(judgments, names, groups).assign(kind=kind) for kind, judgments in by_kind.items()], ignore_index=True
    )
    machines = _machines(by_kind["machine"])
    frame["source"] = np.concatenate([np.full(len(by_kind["human"].outcomes), -1), machines.codes])
    objects = code("object", as_objects([*frame["one"], *frame["two"]]))
    i, j = np.split(objects.codes, 2)
    low, high = np.minimum(i, j), np.maximum(i, j)
    key = pd.MultiIndex.from_frame(frame[list(range(len(names)))].assign(low=low, high=high))
    unit_of, kept_keys = pd.factorize(key)
    number = len(machines.levels)
    judged = np.zeros((len(kept_keys), number + 1), dtype=bool)
    judged[unit_of, frame["source"]] = True  # people in the last column
    whole = np.asarray(judged[:, :number].all(axis=1))
    notes = _notes(judged, whole, number)
    labelled = whole & judged[:, number]
    if not labelled.any():
        if number > 1 and not whole.any():
            raise JudgmentError(
                f"column 'judge' of the machine table makes {number:,} machines ({listed(machines.levels.tolist())}), "
                "and no unit has a verdict of every machine",
                "If they are one, give them one name: machine.assign(judge='machine').",
                expected="every machine's verdict on every unit",
            )
        raise JudgmentError(
            "no unit has both a human judgment and a machine judgment",
            f"unit={list(names)!r} and the two objects make a unit. Name columns that both tables share.",
        )
    if groups is not None:
        _check_groups(frame, unit_of, groups, names)
    place = np.cumsum(whole) - 1
    rows = np.flatnonzero(whole[unit_of])
    there = frame["said"].to_numpy()[rows]
    table, comparison, outcome = _table(objects.levels.tolist(), i[rows], j[rows], there, order)
    unit_rows = place[unit_of[rows]]
    sources = [
        _source(label, k, frame["source"].to_numpy()[rows], comparison, outcome, unit_rows)
        for k, label in [(-1, "human"), *enumerate(machines.levels.tolist())]
    ]
    first = np.full(int(whole.sum()), -1)
    first[unit_rows[::-1]] = rows[::-1]
    pair, named = pd.factorize(pd.MultiIndex.from_arrays([low[first], high[first]]), sort=True)
    labels = objects.levels.tolist()
    if groups is None:
        cluster = np.arange(len(first))
        called = tuple(_called(row, labels) for row in kept_keys[whole].tolist())
    else:
        cluster, levels = pd.factorize(frame["group"].to_numpy()[first])
        called = tuple(levels.tolist())
    return Units(
        table,
        sources[0],
        tuple(sources[1:]),
        labelled[whole],
        pair,
        [f"{labels[a]}:{labels[b]}" for a, b in named],
        cluster,
        groups or UNIT,
        called,
        (*by_kind["human"].notes, *by_kind["machine"].notes, *notes),
    )


def _called(key: Sequence[Any], objects: Sequence[Label]) -> str:
    """Return what a unit is called: the values of its columns, and its objects."""
    *values, low, high = key
    return ", ".join([*map(str, values), f"{objects[low]}–{objects[high]}"])


def _framed(judgments: Judgments, names: Sequence[str], groups: str | None) -> pd.DataFrame:
    """Return the columns that make units, by number, with the objects, the outcome, and the cluster."""
    columns: dict[Any, Any] = {k: judgments.column(name, "unit").values for k, name in enumerate(names)}
    objects = as_objects(judgments.objects)
    columns |= {
        "one": objects[judgments.pairs[:, 0]],
        "two": objects[judgments.pairs[:, 1]],
        "said": judgments.outcomes,
    }
    if groups is not None:
        columns["group"] = judgments.column(groups, "groups").values
    return pd.DataFrame(columns)


def _check_groups(frame: pd.DataFrame, unit_of: IntArray, groups: str, names: Sequence[str]) -> None:
    """Raise where judgments of one unit name different groups."""
    several = frame.groupby(unit_of)["group"].nunique(dropna=False)
    if (several <= 1).all():
        return
    rows = np.flatnonzero(unit_of == int(several[several > 1].index[0]))
    unit = listed([frame[k].to_numpy()[rows[0]] for k in range(len(names))])
    labels = listed(list(dict.fromkeys(frame["group"].to_numpy()[rows].tolist())))
    raise JudgmentError(
        f"groups={groups!r}: unit {unit} has {labels}, and {int((several > 1).sum())} of {len(several)} units have "
        "more than one",
        f"Give each unit one value of {groups!r} in both tables, or leave groups= out.",
        expected="the same group in all judgments of a unit, by people and machines",
    )


def _machines(judgments: Judgments) -> Coded:
    """Return which machine made each judgment; a single machine if no judge is recorded."""
    if "judge" in judgments.names and judgments.values("judge").notna().any():
        return judgments.column("judge", "machine")  # which refuses those that are missing
    return code("judge", as_objects(["machine"] * len(judgments.outcomes)))


def _notes(judged: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_], number: int) -> list[str]:
    alone = int((~whole & judged[:, number]).sum())
    partly = int((~whole & judged[:, :number].any(axis=1) & ~judged[:, number]).sum())
    reasons = [
        (alone, "with human labels left out: no machine verdict"),
        (partly, "left out: some machine did not judge them"),
    ]
    return [f"{counted(n, 'unit')} {what}" for n, what in reasons if n]


def _table(
    labels: list[Label], i: IntArray, j: IntArray, outcomes: IntArray, order: bool
) -> tuple[Comparisons, IntArray, IntArray]:
    """Return the table of all judgments, and the comparison and outcome of each."""
    swap = (i > j) & (not order)
    i, j, outcomes = np.where(swap, j, i), np.where(swap, i, j), np.where(swap, 2 - outcomes, outcomes)
    judgments = Judgments(tuple(labels), np.column_stack([i, j]), outcomes)
    table = judgments.tabulate(order=order)
    used = {label: k for k, label in enumerate(table.objects)}
    again = np.array([used.get(label, -1) for label in labels])
    size = len(table.objects)
    keys = table.pairs[:, 0] * size + table.pairs[:, 1]
    comparison = np.argsort(keys)[np.searchsorted(np.sort(keys), again[i] * size + again[j])]
    return table, comparison, outcomes // 2 if table.response == TWO else outcomes


def _source(label: Label, k: int, source: IntArray, comparison: IntArray, outcomes: IntArray, unit: IntArray) -> Source:
    mine = source == k
    of = unit[mine]
    return Source(label, comparison[mine], outcomes[mine], of, 1.0 / np.bincount(of)[of])
