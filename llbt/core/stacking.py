"""Stack several tables of comparisons into one, with a covariate for the table of each comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import JudgmentError, OptionError, listed
from .columns import Coded, IntArray, Label, Lines, as_objects, sort_key
from .comparisons import Comparisons, lines_of, tabulate


def stacked(tables: Mapping[str, Comparisons], name: str) -> Comparisons:
    """Return one table of all comparisons, with the covariate `name` whose levels are the names of the tables.

    Levels of covariates and clusters with the same label are one level: a prompt in both tables is one prompt. Clusters
    and object covariates that only some tables have are dropped, and a note names them.

    Raises
    ------
    OptionError
        If a table already has a column `name`.
    JudgmentError
        For different outcomes, covariates or orders of presentation.
    """
    for label, table in tables.items():
        if name in (*table.covariates, *table.clusters, *table.object_covariates):
            raise OptionError(f"table {label!r} has a column {name!r} already", "Rename that column.")
    _check_alike(tables)
    each = list(tables.values())
    objects = tuple(sorted({label for table in each for label in table.objects}, key=sort_key))
    if all(table.objects == each[0].objects for table in each):
        objects = each[0].objects  # the objects have their own order
    lines = [lines_of(table) for table in each]
    shared = [c.name for c in lines[0].clusters if all(c.name in table.clusters for table in each)]
    source = Coded(name, as_objects(tables), np.repeat(np.arange(len(each)), [len(part.pairs) for part in lines]))
    merged = Lines(
        np.concatenate([_places(table, objects)[part.pairs] for table, part in zip(each, lines, strict=True)]),
        np.concatenate([part.counts for part in lines]),
        (*_joined([part.columns for part in lines]), source),
        _joined([part.sides for part in lines]),
        _joined([[c for c in part.clusters if c.name in shared] for part in lines]),
    )
    of_objects, lost = _of_objects(each, objects)
    lost += [c for table in each for c in table.clusters if c not in shared]
    notes = [f"only some of the tables have {listed(sorted(set(lost)))}: not kept"] if lost else []
    like = replace(
        each[0],
        objects=objects,
        columns=(),
        sides=(),
        object_columns=of_objects,
        cluster_counts=None,
        notes=(*dict.fromkeys(note for table in each for note in table.notes), *notes),
        unkept=tuple(dict.fromkeys(column for table in each for column in table.unkept)),
    )
    return tabulate(merged, like)


def _check_alike(tables: Mapping[str, Comparisons]) -> None:
    """Raise for tables that differ in outcomes, covariates or order of presentation."""
    (first, one), *others = tables.items()
    for label, other in others:
        if other.response != one.response:
            raise JudgmentError(
                f"the outcomes are {listed(one.response.outcomes)} in {first!r}, {listed(other.response.outcomes)} "
                f"in {label!r}",
                expected="the same outcomes in both; .drop_ties() leaves out ties, .collapse() merges grades",
            )
        if other.keeps_order != one.keeps_order:
            ordered = first if one.keeps_order else label
            raise JudgmentError(
                f"only {ordered!r} keeps which object was shown first", "Read both with order=True, or both without."
            )
        only = [c for c in one.covariates if c not in other.covariates]
        more = [c for c in other.covariates if c not in one.covariates]
        if only or more:
            owner, names = (first, only) if only else (label, more)
            raise JudgmentError(
                f"only {owner!r} has the covariate {listed(names)}",
                f"Sum over it with .pool({', '.join(map(repr, names))}), or keep it in both.",
            )


def _places(table: Comparisons, objects: Sequence[Label]) -> IntArray:
    """Return the place of each of a table's objects among all objects, shape (J,)."""
    at = {label: k for k, label in enumerate(objects)}
    return np.array([at[label] for label in table.objects])


def _joined(parts: Sequence[Sequence[Coded]]) -> tuple[Coded, ...]:
    """Return the tables' columns one below another; columns of one name become one column with all their levels."""
    return tuple(_one([next(c for c in part if c.name == first.name) for part in parts]) for first in parts[0])


def _one(columns: Sequence[Coded]) -> Coded:
    first = columns[0]
    if any(c.numeric != first.numeric for c in columns):
        raise JudgmentError(
            f"{first.name!r} is numbers in one table and labels in another",
            expected="numbers in all tables, or labels in all",
        )
    if first.numeric:
        levels, codes = np.unique(np.concatenate([c.levels for c in columns]), return_inverse=True)
    else:
        labels = sorted({label for c in columns for label in c.levels.tolist()}, key=sort_key)
        at = {label: k for k, label in enumerate(labels)}
        levels, codes = as_objects(labels), np.array([at[label] for c in columns for label in c.levels.tolist()])
    starts = np.cumsum([0, *(len(c.levels) for c in columns)])
    joined = np.concatenate([codes[start + c.codes] for start, c in zip(starts, columns, strict=False)])
    return replace(first, levels=levels, codes=joined, integers=len(levels) if first.integers else 0)


def _of_objects(each: Sequence[Comparisons], objects: Sequence[Label]) -> tuple[tuple[Coded, ...], list[str]]:
    """Return the object covariates that all tables have with the same values, and the names of the others."""
    shared, lost = [], []
    for name in dict.fromkeys(name for table in each for name in table.object_covariates):
        columns = [next((c for c in table.object_columns if c.name == name), None) for table in each]
        there = [c for c in columns if c is not None]
        if len(there) < len(each) or len({c.numeric for c in there}) > 1:
            lost.append(name)
            continue
        values: dict[Label, set[object]] = {label: set() for label in objects}
        for table, column in zip(each, there, strict=True):
            for label, value in zip(table.objects, column.values.tolist(), strict=True):
                values[label].add(value)
        if any(len(distinct) > 1 for distinct in values.values()):
            lost.append(name)
            continue
        joined = _one(there)
        of = {label: next(iter(distinct)) for label, distinct in values.items()}
        at = {value: k for k, value in enumerate(joined.levels.tolist())}
        shared.append(replace(joined, codes=np.array([at[of[label]] for label in objects])))
    return tuple(shared), lost
