"""Groups of covariate values, weighted averages over them, and differences between groups (`by`, `weights`, …)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from ..base.arguments import JUDGED_INSIDE, NAMES
from ..base.table import Field, Table, format_number, stacked_field
from ..data.frames import read_covariate
from ..data.sources import open_frame
from ..errors import OptionError, listed
from ..formulas.coding import Codings
from ..formulas.grid import SUM_OFF, At, Difference, Judged, check_at, is_average
from .class_worths import MOST_ROWS

By = Annotated[str | Sequence[str], NAMES]
Weights = Annotated[Any, JUDGED_INSIDE]
GroupHypothesis = Literal["pairwise"]

DIFFERENCES = "differences between groups: the first minus the second"


@dataclass(frozen=True, eq=False)
class Group:
    """One group: the covariate values at which an answer is computed.

    Attributes
    ----------
    shown : dict of str to value
        The group's values of the covariates in `by`; for a difference, text such as "de − en".
    at : At
        The covariate values at which the group's answers are computed.
    """

    shown: dict[str, Any]
    at: At


def asked_groups(
    codings: Codings, at: At, by: By | None, weights: Any, hypothesis: GroupHypothesis | None
) -> list[Group]:
    """Return the groups that `by` asks for; without `by`, a single group without a name.

    Raises
    ------
    OptionError
        For names that are not covariates of the formula, numeric covariates without values in `at`, `weights` that name
        a covariate of `at` or `by`, and differences without groups or with one group.
    """
    check_at(at)
    place = at if weights is None else _with_weights(at, weights)
    if by is None:
        if hypothesis is not None:
            raise OptionError("hypothesis='pairwise' without groups", "Name the column of the groups: by='language'.")
        return [Group({}, place)]
    fixed = dict(place) if isinstance(place, Mapping) else {}
    where: Callable[[dict[str, Any]], Any] = Judged if is_average(place) else lambda group: {**fixed, **group}
    levels = _levels(codings, by, fixed)
    groups = [dict(zip(levels, values, strict=True)) for values in itertools.product(*levels.values())]
    if hypothesis is None:
        return [Group(group, where(group)) for group in groups]
    if len(groups) < 2:
        raise OptionError(f"hypothesis='pairwise' with a single group, {groups[0]}", expected="two groups or more")
    return [
        Group(
            {name: value if value == other[name] else f"{value} − {other[name]}" for name, value in one.items()},
            Difference(where(one), where(other)),
        )
        for one, other in itertools.combinations(groups, 2)
    ]


def stack_groups(groups: Sequence[Group], answer: Callable[[At], Table]) -> Table:
    """Return the groups' answers one below another, with the values of the groups in front."""
    tables = [answer(group.at) for group in groups]
    if not groups[0].shown:
        return tables[0]
    sizes = [len(table.fields[0].values) for table in tables]
    names = list(groups[0].shown)
    columns = [{field.name: field for field in table.fields} for table in tables]
    shared = [field for field in tables[0].fields if field.name not in names and all(field.name in c for c in columns)]
    fields = (
        *(Field(name, name, [group.shown[name] for group, n in zip(groups, sizes, strict=True) for _ in range(n)])
          for name in names),
        *(stacked_field([c[field.name] for c in columns]) for field in shared),
    )  # fmt: skip
    notes = [note for note in dict.fromkeys(n for table in tables for n in table.notes) if not note.startswith("at ")]
    if isinstance(groups[0].at, Difference):
        notes.insert(0, DIFFERENCES)
    title = f"{tables[0].title}, by {', '.join(names)}"
    return Table(fields, title=title, notes=tuple(notes)).first(MOST_ROWS)


def split_place(codings: Codings, at: At, by: By | None, weights: Any) -> At:
    """Return `at` including the weighted average of `weights` and every value of the covariates in `by`."""
    place = at if weights is None else _with_weights(at, weights)
    if by is not None and is_average(place):
        return Judged(_levels(codings, by, {}))
    fixed = dict(place) if isinstance(place, Mapping) else {}
    return {**fixed, **_levels(codings, by, fixed)} if by is not None else place


def _levels(codings: Codings, by: By, fixed: Mapping[Any, Any]) -> dict[str, list[Any]]:
    """Return the values of each covariate in `by`."""
    names = [by] if isinstance(by, str) else list(dict.fromkeys(by))
    return {name: _levels_of(codings, name, fixed) for name in names}


def _levels_of(codings: Codings, name: str, fixed: Mapping[Any, Any]) -> list[Any]:
    """Return the values of a covariate in `by`: all levels, or those that `at` lists."""
    used = {name for coding in codings.blocks.values() for name in coding.variables}
    known = sorted(n for n in used if codings.table.variables[n].role in ("covariate", "side covariate"))
    if name not in known:
        has = f"it has {listed(known)}" if known else "it has no covariates"
        raise OptionError(f"by={name!r} is not a covariate of the formula {codings.formula.text!r}; {has}.")
    if any(isinstance(key, tuple) and name in key for key in fixed) or isinstance(fixed.get(name), Mapping):
        raise OptionError(
            f"by={name!r}, but at= or weights= averages over {name!r}",
            f"Leave {name!r} out of by=, or out of at= and weights=.",
        )
    column = codings.table.columns[name]
    if name in fixed:
        wanted = fixed[name]
        return list(wanted) if isinstance(wanted, (list, tuple, set, range, np.ndarray)) else [wanted]
    if column.numeric:
        raise OptionError(
            f"by={name!r} is a column of numbers", f"Name its values: at={{{name!r}: [0, 1]}}, by={name!r}."
        )
    return list(column.levels.tolist())


def _with_weights(at: At, weights: Any) -> At:
    """Return `at` including a weighted mean: a frame has the covariate values, and their weights in `weight`."""
    if at == "average":
        raise OptionError("weights= together with at='average'", expected="only one of them: both define the averaging")
    source = open_frame(weights, "weights")
    names = tuple(name for name in source.names if name != "weight")
    if "weight" not in source.names or not names:
        raise OptionError(
            f"weights has the columns {listed(source.names)}",
            expected="columns of covariates and a column weight, numbers that sum to 1",
        )
    twice = [name for name in names if isinstance(at, Mapping) and name in at]
    if twice:
        raise OptionError(f"{listed(twice)} is in weights= and in at=", expected="each column in one of the two")
    picked = source.pick({"covariates": names, "weight": ("weight",)})
    rows = zip(*(read_covariate(picked, name).values.tolist() for name in names), strict=True)
    mix: dict[Any, Any] = {}
    for row, weight in zip(rows, read_covariate(picked, "weight", numeric=True).values.tolist(), strict=True):
        mix[row] = mix.get(row, 0.0) + weight
    total = sum(mix.values())
    if abs(total - 1) > SUM_OFF and min(mix.values(), default=0.0) >= 0 < total < np.inf:
        raise OptionError(
            f"the weights in weights= sum to {format_number(total, 8)}",
            "Divide them by their sum: weights=frame.assign(weight=frame['weight'] / frame['weight'].sum()).",
            expected="a sum of 1",
        )
    return {**(at if isinstance(at, Mapping) else {}), names: mix}
