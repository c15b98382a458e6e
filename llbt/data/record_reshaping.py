"""Records of a file as records of one judgment or comparison each: split, paired, left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..core.columns import IntArray, as_objects
from ..errors import JudgmentError, listed
from .formats import JudgmentFormat, fields_of
from .paths import place_of
from .verdicts import Records, label_codes


def judged(records: Records, known: JudgmentFormat) -> tuple[Records, list[str]]:
    """Return the records that are judgments, split and paired, and notes on the others."""
    notes: list[str] = []
    for each in (known.each,) if isinstance(known.each, str) else known.each:
        records, empty = _each(records, each, known) if each else (records, [])
        notes += empty
    for path, values in known.only.items():
        if not records.has(path):
            continue
        codes, labels = label_codes(records.values(path))
        is_judgment = np.array([*(label in values for label in labels), None in values])[codes]
        if not is_judgment.all():
            out = counted(int((~is_judgment).sum()), "record")
            notes.append(f"{out} left out: {path!r} is none of {listed([v for v in values if v is not None])}")
        records = records.take(is_judgment)
    if known.every_two is not None:
        records, alone = _paired(records, known.every_two)
        notes += alone
    frame = records.frame.reset_index(drop=True)
    return Records(frame, records.number, np.arange(len(frame)), records.what), notes


def _each(records: Records, each: str, known: JudgmentFormat) -> tuple[Records, list[str]]:
    """Return a record for each element of lists inside the records, with the fields beside the lists."""
    fields = each.split("+")
    if not all(records.has(field) for field in fields):
        raise gap(records, [field for field in fields if not records.has(field)], known)
    read = [path for game in known.games for path in fields_of(game)]
    parts = [_elements(records, field, bare=field in read) for field in fields]
    sizes = np.array([part[0] for part in parts]).sum(axis=0)
    at = np.concatenate([np.repeat(np.arange(len(sizes)), part[0]) for part in parts])
    order = np.argsort(at, kind="stable")
    elements = pd.DataFrame([element for part in parts for element in part[1]], dtype=object)
    if len(fields) > 1:
        elements["list"] = np.repeat(as_objects(fields), [part[0].sum() for part in parts])
    elements = elements.take(order).reset_index(drop=True)
    at = at[order]
    beside = records.frame.drop(columns=[field.split(".")[0] for field in fields]).iloc[at].reset_index(drop=True)
    elements = elements.rename(columns={name: f"{fields[0]}.{name}" for name in elements if name in beside})
    empty = int((sizes == 0).sum())
    notes = [f"{counted(empty, 'record')} left out: no judgment in {each!r}"] if empty else []
    return Records(pd.concat([beside, elements], axis=1), records.number[at], at, records.what), notes


def _elements(records: Records, field: str, *, bare: bool) -> tuple[IntArray, list[dict[str, Any]]]:
    """Return the lengths of the lists in a field, shape (n,), and their elements; `bare` values under its name."""
    lists = records.values(field)
    values = [value if isinstance(value, (list, tuple, np.ndarray)) else (value,) if bare else () for value in lists]
    inner = [{field: element} if bare else element for value in values for element in value]
    odd = [element for element in inner if not isinstance(element, dict)]
    if odd:
        fault = f"{field!r} holds {odd[0]!r:.60}"
        raise JudgmentError(fault, where=records.what, expected="a list of records")
    return np.array([len(value) for value in values], dtype=np.int64), inner


def _paired(records: Records, alike: str) -> tuple[Records, list[str]]:
    """Return one record for each pair of records with one value of a field; the second one's fields are ``other_…``."""
    label = joined_values(records, alike) if alike else as_objects(records.number)
    group, _ = pd.factorize(label)
    order = np.argsort(group, kind="stable")[int((group < 0).sum()) :]
    sorted_groups = group[order]
    widest = int(np.bincount(sorted_groups).max(initial=0))
    starts = [np.flatnonzero(sorted_groups[:-k] == sorted_groups[k:]) for k in range(1, widest)]
    first = np.concatenate([np.zeros(0, dtype=np.int64), *starts])
    second = np.concatenate([np.zeros(0, dtype=np.int64), *(start + k for k, start in enumerate(starts, 1))])
    by_record = np.lexsort((second, first))
    i, j = order[first[by_record]], order[second[by_record]]
    frame = records.frame.assign(block=label) if "block" not in records.frame else records.frame
    other = records.frame.iloc[j].add_prefix("other_").reset_index(drop=True)
    alone = len(label) - len(np.union1d(i, j))
    notes = [f"{counted(alone, 'record')} left out: no other record to compare it with"] if alone else []
    both = pd.concat([frame.iloc[i].reset_index(drop=True), other], axis=1)
    return Records(both, records.number[i], np.arange(len(i)), records.what), notes


def gap(records: Records, gone: Sequence[str], known: JudgmentFormat) -> JudgmentError:
    """Return the error for required fields of a format that the records lack."""
    advice = known.advice or f"If it is the same in all records, pass defaults= and the value of {gone[0]!r}."
    has = listed(tuple(map(str, records.frame)), 20)
    fields = "field" if len(gone) == 1 else "fields"
    return JudgmentError(
        f"format {known.name!r} needs the {fields} {listed(gone)}; there are {has}",
        advice,
        where=place_of(records.what),
    )


def field_of(candidates: Sequence[str], records: Any) -> str | None:
    """Return the first field that a file has; of several joined by ``+`` it must have all."""
    has = records.says if isinstance(records, Records) else records.__contains__
    return next((path for path in candidates if has(path) or all(map(has, path.split("+")))), None)


def joined_values(records: Records, path: str | None) -> npt.NDArray[Any]:
    """Return a field as labels, shape (n,); several fields are joined by ``:``."""
    if path is None:
        return as_objects([None] * len(records.row))
    parts = [path] if records.says(path) else path.split("+")
    columns = []
    for part in parts:
        codes, labels = label_codes(records.values(part))
        columns.append(as_objects([*labels, None])[codes])
    if len(columns) == 1:
        return columns[0]
    return as_objects(None if None in row else ":".join(map(str, row)) for row in zip(*columns, strict=True))
