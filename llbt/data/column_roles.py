"""Columns kept beside wins and ties: covariates, clusters, side covariates, tables of objects and judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from ..base.arguments import NAMES, is_list
from ..base.table import counted
from ..core.columns import Coded, Label
from ..core.counts import RESERVED
from ..errors import JudgmentError, OptionError, listed, safe_repr
from .distinct_rows import Rows
from .frames import read_covariate, read_covariate_pair, read_factor, read_labels
from .side_tables import Described, described
from .sources import Roles, Source, as_names, as_two_names

Names = Annotated[str | Sequence[str], NAMES]


@dataclass(frozen=True, eq=False)
class Wanted:
    """The columns that the caller asks to keep, by name.

    Attributes
    ----------
    covariates, clusters : tuple of str
        Columns of the frame.
    numeric : tuple of str
        Covariates of any kind that are numbers whatever their type.
    sides : mapping
        Side covariate → its two columns.
    objects, judges : Described or None
        The tables of objects and judges. The covariates of judges split the table as `covariates` do.
    units : tuple of str
        Further columns to keep as clusters; those that are missing or have a gap in some row are left out.
    """

    covariates: tuple[str, ...]
    clusters: tuple[str, ...]
    numeric: tuple[str, ...]
    sides: Mapping[str, tuple[str, str]]
    objects: Described | None
    units: tuple[str, ...] = ()
    judges: Described | None = None

    def under_names_of(self, names: Sequence[str], called: Mapping[str, str]) -> Wanted:
        """Return the same roles, with units and judges renamed to the columns of the judgments."""
        asked = {*self.covariates, *self.clusters, *self.numeric}
        own = {role: name for role, name in called.items() if role not in asked and role not in names}
        judge = called.get("judge", "judge")
        return replace(
            self,
            units=tuple(own.get(name, name) for name in self.units),
            judges=self.judges and self.judges.keyed(names, judge, "judge" if "judge" in asked else judge),
        )

    def of_blocks(self, names: Sequence[str], judge: Sequence[str]) -> Wanted:
        """Return the same roles; the table of judges is joined by the block's column of judges, if there is one."""
        if self.judges is None or len(judge) != 1:
            return self
        return replace(self, judges=self.judges.keyed(names, judge[0], judge[0]))

    def where_there(self, taken: Roles, source: Source) -> Wanted:
        """Return the same roles with only those units that are columns of labels without another role."""
        asked = replace(self, units=())
        named = {k: names for k, names in asked.roles().items() if k != "judge_covariates"}  # judges may be a unit, too
        roles = {name for names in (*taken.values(), *named.values()) for name in names}
        return replace(
            self, units=tuple(n for n in dict.fromkeys(self.units) if n not in roles and source.has_labels(n))
        )

    def labelled(self, rows: Rows) -> tuple[Wanted, list[str]]:
        """Return the same roles with only units that have a label in every row, and notes on other units and judges."""
        lacking = {name: read_factor(rows.frame, name).codes < 0 for name in self.units}
        notes = [
            f"{name} is not kept as clusters: {counted(rows.count(missing), 'row')} without a label"
            for name, missing in lacking.items()
            if missing.any() and not missing.all()
        ]
        complete = tuple(name for name, missing in lacking.items() if not missing.any())
        notes += self._judged(rows)[1] if self.judges is not None else ()
        return replace(self, clusters=(*self.clusters, *complete), units=()), notes

    def roles(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of the frame by the parameter that names them."""
        beside = {name for table in (self.objects, self.judges) if table is not None for name in table.names}
        elsewhere = {*self.covariates, *self.sides, *beside}
        roles = {
            "covariates": self.covariates,
            "numeric": tuple(name for name in self.numeric if name not in elsewhere),
            "clusters": (*self.clusters, *self.units),
            "side_covariates": tuple(column for two in self.sides.values() for column in two),
        }
        if self.judges is not None and not any(self.judges.key in names for names in roles.values()):
            roles["judge_covariates"] = (self.judges.key,)
        return roles

    def read(self, rows: Rows) -> tuple[tuple[Coded, ...], tuple[Coded, ...], tuple[Coded, ...]]:
        """Return covariates (U,), side covariates (U, 2) and clusters (U,)."""
        roles = self.roles()
        columns = (*roles["covariates"], *roles["numeric"])
        return (
            (
                *(read_covariate(rows, name, numeric=name in self.numeric) for name in columns),
                *(self._judged(rows)[0] if self.judges is not None else ()),
            ),
            self._sides(rows),
            tuple(read_labels(rows, name) for name in self.clusters),
        )

    def _sides(self, rows: Rows) -> tuple[Coded, ...]:
        """Return side covariates (U, 2), in which no two different labels are equal as numbers."""
        sides: list[Coded] = []
        for name, two in self.sides.items():
            distinct = any(column.numeric and len(column.levels) == column.codes.size for column in sides)
            sides.append(read_covariate_pair(rows, name, two, numeric=name in self.numeric, apart=distinct))
        return tuple(sides)

    def _judged(self, rows: Rows) -> tuple[tuple[Coded, ...], tuple[str, ...]]:
        """Return the covariates of each row's judge, shape (U,), and notes."""
        assert self.judges is not None
        judge = read_labels(rows, self.judges.key)
        joined, notes = self.judges.joined(judge.levels.tolist(), self.numeric)
        return tuple(replace(column, codes=column.codes[judge.codes]) for column in joined), notes


def wanted(
    covariates: Names,
    clusters: Names,
    numeric: Names,
    object_covariates: object,
    side_covariates: Mapping[str, Sequence[str]] | Sequence[str] | None,
    units: Names = (),
    judge_covariates: object = None,
) -> Wanted:
    """Return the columns to keep; names are checked as far as possible without the frame."""
    sides = _sides(side_covariates)
    asked_clusters = as_names(clusters, "clusters")
    asked = Wanted(
        as_names(covariates, "covariates"),
        asked_clusters,
        as_names(numeric, "numeric"),
        sides,
        described(object_covariates, "object"),
        as_names(units, "units"),
        _judges(judge_covariates, asked_clusters),
    )
    _refuse_reserved(asked)
    _refuse_twice(asked)
    return asked


def _sides(asked: Mapping[str, Sequence[str]] | Sequence[str] | None) -> dict[str, tuple[str, str]]:
    """Return the two columns of each side covariate; a name alone stands for columns that end in ``_a`` and ``_b``."""
    if asked is None:
        return {}
    if isinstance(asked, Mapping):
        return {name: as_two_names(two, f"side_covariates[{name!r}]") for name, two in asked.items()}
    if not is_list(asked) or not all(isinstance(name, str) for name in asked):
        raise OptionError(
            f"side_covariates={safe_repr(asked)}",
            expected="a mapping from the name of a covariate to its two columns, such as {'length': ('length_a', "
            "'length_b')}, or names such as ['length'] for columns length_a and length_b",
        )
    return {str(name): (f"{name}_a", f"{name}_b") for name in asked}


def _judges(frame: object, clusters: Sequence[str]) -> Described | None:
    """Return the table of judges; without a column ``judge``, a column that is kept as a cluster names them."""
    table = described(frame, "judge")
    named = [] if table is None else [name for name in table.names if name in clusters]
    if table is None or len(named) != 1 or table.key in ("judge", *clusters):
        return table
    return replace(table, key=named[0])


def _refuse_reserved(asked: Wanted) -> None:
    sides = (*asked.sides, *(f"{name}_{side}" for name in asked.sides for side in "ij"))
    named = {**asked.roles(), "side_covariates": sides, **_described(asked)}
    for parameter, names in named.items():
        taken = [name for name in names if name in RESERVED]
        if taken:
            raise JudgmentError(
                f"column {taken[0]!r} ({parameter}=) has a name that llbt uses itself; reserved names are "
                f"{listed(tuple(sorted(RESERVED)), 20)}",
                f"Rename it, for instance to '{taken[0]}_'.",
            )


def _described(asked: Wanted) -> dict[str, tuple[str, ...]]:
    """Return the covariates of the tables of objects and judges, by parameter."""
    tables = {"object_covariates": asked.objects, "judge_covariates": asked.judges}
    return {parameter: table.names for parameter, table in tables.items() if table is not None}


def _refuse_twice(asked: Wanted) -> None:
    """Raise for covariates of judges that are covariates of the judgments or objects, too."""
    mine = () if asked.judges is None else asked.judges.names
    objects = () if asked.objects is None else asked.objects.names
    named = {**asked.roles(), "side_covariates": tuple(asked.sides), "object_covariates": objects}
    for parameter, names in named.items():
        twice = [name for name in names if name in mine and parameter != "judge_covariates"]
        if twice:
            raise OptionError(
                f"{twice[0]!r} is a column of judge_covariates= and named in {parameter}=, too",
                "Rename one of the two, or leave one out.",
            )


def read_object_table(asked: Wanted, objects: Sequence[Label]) -> tuple[tuple[Coded, ...], tuple[str, ...]]:
    """Return the object covariates in the order of the objects, shape (J,), and notes.

    Raises
    ------
    JudgmentError
        For objects that the table lacks or has twice.
    """
    return ((), ()) if asked.objects is None else asked.objects.joined(objects, asked.numeric)
