"""What a door keeps beside wins and ties: covariates, clusters, side covariates and the object table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..core.columns import Coded, IntArray, Label, arranged, as_objects, code
from ..core.comparisons import RESERVED
from ..errors import JudgmentError, OptionError, listed
from ..table import counted
from .files import open_source
from .frames import Factor, as_number, is_number, read_covariate, read_covariate_pair, read_factor, read_labels
from .rows import Frame, Rows
from .sources import Roles, Source, as_names, as_two_names

Names = str | Sequence[str]

_TABLE = "the frame of object_covariates="


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the caller asks to keep, by name.

    Attributes
    ----------
    covariates, clusters : tuple of str
        Columns of the frame.
    numeric : tuple of str
        Covariates of any kind that are numbers whatever their type.
    sides : mapping
        Side covariate → its two columns.
    table : narwhals frame or None
        The object table; `key` is the column that names the objects.
    units : tuple of str
        Columns to keep as clusters, too, those of them that are there and have a label in every row.
    """

    covariates: tuple[str, ...]
    clusters: tuple[str, ...]
    numeric: tuple[str, ...]
    sides: Mapping[str, tuple[str, str]]
    table: Frame | None
    key: str
    units: tuple[str, ...] = ()

    def where_there(self, taken: Roles, source: Source) -> Wanted:
        """Return the same with units that are columns of labels without another role."""
        asked = replace(self, units=())
        roles = {name for names in (*taken.values(), *asked.roles().values()) for name in names}
        return replace(
            self, units=tuple(n for n in dict.fromkeys(self.units) if n not in roles and source.has_labels(n))
        )

    def labelled(self, rows: Rows) -> tuple[Wanted, list[str]]:
        """Return the same with units that have a label in every row, and notes on those that lack some."""
        lacking = {name: read_factor(rows.frame, name).codes < 0 for name in self.units}
        notes = [
            f"{name} is not kept as clusters: {counted(rows.count(missing), 'row')} without a label"
            for name, missing in lacking.items()
            if missing.any() and not missing.all()
        ]
        kept = tuple(name for name, missing in lacking.items() if not missing.any())
        return replace(self, clusters=(*self.clusters, *kept), units=()), notes

    def roles(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of the frame by the parameter that names them."""
        elsewhere = {*self.covariates, *self.sides, *(self.table.columns if self.table is not None else ())}
        return {
            "covariates": self.covariates,
            "numeric": tuple(name for name in self.numeric if name not in elsewhere),
            "clusters": (*self.clusters, *self.units),
            "side_covariates": tuple(column for two in self.sides.values() for column in two),
        }

    def read(self, rows: Rows) -> tuple[tuple[Coded, ...], tuple[Coded, ...], tuple[Coded, ...]]:
        """Return covariates (U,), side covariates (U, 2) and clusters (U,)."""
        roles = self.roles()
        columns = (*roles["covariates"], *roles["numeric"])
        return (
            tuple(read_covariate(rows, name, numeric=name in self.numeric) for name in columns),
            tuple(
                read_covariate_pair(rows, name, two, numeric=name in self.numeric) for name, two in self.sides.items()
            ),
            tuple(read_labels(rows, name) for name in self.clusters),
        )


def wanted(
    covariates: Names,
    clusters: Names,
    numeric: Names,
    object_covariates: object,
    side_covariates: Mapping[str, Sequence[str]] | None,
    units: Names = (),
) -> Wanted:
    """Return what a door is asked to keep, with names checked as far as they can be without the frame."""
    if side_covariates is not None and not isinstance(side_covariates, Mapping):
        raise OptionError(
            f"side_covariates={side_covariates!r}",
            expected="a mapping from the name of a covariate to its two columns, such as {'length': ('length_a', "
            "'length_b')}",
        )
    sides = {name: as_two_names(two, f"side_covariates[{name!r}]") for name, two in (side_covariates or {}).items()}
    table, key = (None, "") if object_covariates is None else _open_table(object_covariates)
    asked = Wanted(
        as_names(covariates, "covariates"),
        as_names(clusters, "clusters"),
        as_names(numeric, "numeric"),
        sides,
        table,
        key,
        as_names(units, "units"),
    )
    _refuse_reserved(asked)
    return asked


def _refuse_reserved(asked: Wanted) -> None:
    objects = tuple(name for name in (asked.table.columns if asked.table is not None else ()) if name != asked.key)
    sides = (*asked.sides, *(f"{name}_{side}" for name in asked.sides for side in "ij"))
    named = {**asked.roles(), "side_covariates": sides, "object_covariates": objects}
    for parameter, names in named.items():
        taken = [name for name in names if name in RESERVED]
        if taken:
            raise JudgmentError(
                f"column {taken[0]!r} ({parameter}=) has a name that llbt uses itself, as it does "
                f"{listed(tuple(sorted(RESERVED)), 20)}",
                f"Rename it, for instance to '{taken[0]}_'.",
            )


def _open_table(frame: object) -> tuple[Frame, str]:
    """Return the object table and the column that names the objects."""
    if isinstance(frame, pd.DataFrame) and "object" not in frame.columns and _names_objects(frame.index):
        frame = frame.rename_axis("object").reset_index()
    source = replace(open_source(frame, what=_TABLE), what=_TABLE)
    if len(source.names) < 2:
        raise JudgmentError(
            f"{_TABLE} has the columns {listed(source.names)}",
            expected="a column 'object' and one for each object covariate",
        )
    key = "object" if "object" in source.names else source.names[0]
    written = replace(source, labels="text") if source.is_text else source  # the objects say what they are
    others = tuple(name for name in source.names if name != key)
    return written.pick({"objects": (key,), "object_covariates": others}).frame.select(source.names), key


def _names_objects(index: Any) -> bool:
    """Whether a pandas index names objects rather than counting rows."""
    return index.name == "object" or not pd.api.types.is_numeric_dtype(index.dtype)


def read_object_table(asked: Wanted, objects: Sequence[Label]) -> tuple[tuple[Coded, ...], tuple[str, ...]]:
    """Return the object covariates in the order of the objects, shape (J,), and notes.

    Raises
    ------
    JudgmentError
        For objects that the table lacks or has twice.
    """
    if asked.table is None:
        return (), ()
    table, key = asked.table, asked.key
    named = read_factor(table, key)
    where = _rows_of(named, objects)
    missing = tuple(label for label in objects if not where[label])
    if missing:
        raise JudgmentError(
            f"{_TABLE} has no row for {counted(len(missing), 'object')}: {listed(missing)}",
            expected=f"one row per object, named in column {key!r}",
        )
    repeated = tuple(label for label in objects if len(where[label]) > 1)
    if repeated:
        raise JudgmentError(f"{_TABLE} has several rows for {listed(repeated)}", expected="one row per object")
    rows = np.array([where[label][0] for label in objects], dtype=np.int64)
    compared = set(named.codes[rows])
    others = tuple(label for k, label in enumerate(named.labels) if k not in compared)
    note = f"{counted(len(others), 'object')} of the object table not compared: {listed(others)}"
    columns = [name for name in table.columns if name != key]
    read = tuple(_object_column(asked, table, name, rows, objects) for name in columns)
    return read, (note,) if others else ()


def _rows_of(named: Factor, objects: Sequence[Label]) -> dict[Label, list[int]]:
    """Return the rows that name each object, as it is or as it is written."""
    where: dict[Label, list[int]] = {label: [] for label in objects}
    spelled: dict[object, Label] = {as_number(label): label for label in objects if not isinstance(label, str)}
    spelled |= {str(label): label for label in objects}
    called = [
        label if label in where else spelled.get(str(label), spelled.get(as_number(label))) for label in named.labels
    ]
    for row, k in enumerate(named.codes):
        if k >= 0 and called[k] is not None:
            where[called[k]].append(row)
    return where


def _object_column(asked: Wanted, table: Frame, name: str, rows: IntArray, objects: Sequence[Label]) -> Coded:
    """Return one object covariate, by the rule of all covariates: floats and `numeric` are numbers."""
    factor = read_factor(table, name)
    codes = factor.codes[rows]
    missing = tuple(as_objects(objects)[codes < 0])
    if missing:
        raise JudgmentError(
            f"{_TABLE}, column {name!r}: {counted(len(missing), 'missing value')}, for {listed(missing)}",
            expected="a value for every object",
        )
    if not (name in asked.numeric or is_number(table, name)):
        return arranged(name, as_objects(factor.labels), factor.codes).take(rows)
    values = [as_number(factor.labels[k]) for k in codes]
    wrong = [k for k, value in enumerate(values) if value is None or not math.isfinite(value)]
    if wrong:
        raise JudgmentError(
            f"{_TABLE}, column {name!r}: {counted(len(wrong), 'value')} not a finite number, the first "
            f"{factor.labels[codes[wrong[0]]]!r} of {objects[wrong[0]]!r}",
            expected="numbers",
        )
    return code(name, np.array(values, dtype=np.float64), numeric=True)
