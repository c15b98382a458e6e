"""Columns of a frame of rankings or ratings: those that identify a block, hold values, or are kept by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..errors import JudgmentError, OptionError, listed, repeated
from .blocks import Blocks, factorized, refuse_infinite, refuse_several
from .column_roles import Names, Wanted
from .sources import as_names

Roles = Mapping[str, tuple[str, ...]]  # parameter → the columns that it names

_KEPT = ("covariates", "numeric", "clusters", "judge_covariates")


def roles_beside(asked: Wanted, names: Sequence[str], makers: Sequence[str]) -> Roles:
    """Return the columns of a frame to keep, by parameter; a cluster ``block`` may be made here."""
    roles = asked.roles()
    if "block" in asked.clusters and "block" not in makers:
        if "block" in names:
            raise JudgmentError(
                "clusters='block' keeps the block as a cluster, but the frame has another column 'block'",
                "Rename the column, or pass block='block'.",
                expected="one meaning",
            )
        roles["clusters"] = tuple(name for name in asked.clusters if name != "block")
    return roles


def columns_of_rows(columns: Mapping[str, str]) -> Roles:
    """Return the columns of the long form, by parameter."""
    for parameter, name in columns.items():
        if not isinstance(name, str):
            raise OptionError(f"{parameter}={name!r}", expected="the name of one column")
    return {parameter: (name,) for parameter, name in columns.items()}


def columns_of_objects(objects: Sequence[str]) -> Roles:
    """Return the columns of the wide form, each named after its object."""
    names = as_names(objects, "objects")
    if len(names) < 2:
        raise OptionError(f"objects={objects!r}", expected="at least two columns, each named after its object")
    return {"objects": names}


def flat(roles: Roles) -> tuple[str, ...]:
    """Return all columns that have a role, once each."""
    return tuple(dict.fromkeys(name for names in roles.values() for name in names))


def block_makers(makers: Mapping[str, Names | None], *, wide: bool) -> Roles:
    """Return the columns that identify a block, by parameter."""
    given = {parameter: as_names(names, parameter) for parameter, names in makers.items() if names is not None}
    parameters = " and ".join(f"{parameter}=" for parameter in given)
    if wide and given:
        raise OptionError(
            f"{parameters} beside objects=: in the wide form every row is a block",
            "Keep columns with clusters= or covariates=, or pass the long form with object=.",
        )
    if "block" in given and len(given) > 1:
        raise OptionError(f"{parameters}: block= replaces judge= and prompt=", "Pass either.")
    if not wide and not any(given.values()):
        raise OptionError(
            "no column says which rows belong together",
            "Pass judge= and prompt= (objects that one judge compared on one prompt), or block= (any columns); or "
            "objects= for a frame with one column per object.",
        )
    return given


def check_roles(names: Sequence[str], roles: Roles) -> None:
    """Raise for missing columns, and for columns of values that also have another role."""
    played: dict[str, str] = {}
    there = set(names)
    for parameter, asked in roles.items():
        gone = tuple(name for name in asked if name not in there)
        if gone:
            raise JudgmentError(
                f"the frame has no column {listed(gone)} ({parameter}=); it has {listed(names)}",
                f"Pass {parameter}= and the name of its column.",
            )
        several = set(repeated(asked))
        for name in asked:
            first = played.setdefault(name, parameter)
            twice = name in several
            # What makes a block may also be kept; what is kept is checked where it is read.
            kept_too = parameter in _KEPT and first in ("judge", "prompt", "block", *_KEPT)
            if twice or (first != parameter and not kept_too):
                where = f"{parameter}=, twice" if twice else f"{first}= and {parameter}="
                raise OptionError(f"column {name!r} is named in {where}", expected="one role for each column")


def kept_columns(table: pd.DataFrame, made: Blocks, roles: Roles, asked: Wanted) -> pd.DataFrame:
    """Return the columns to keep, one row per block."""
    columns: dict[str, Any] = {}
    for parameter in _KEPT:
        for name in roles.get(parameter, ()):
            codes, _ = factorized(table, name)
            refuse_infinite(table, name, numeric=name in asked.numeric)
            if made.makers:
                refuse_several(codes, table, name, parameter, made)
            columns[name] = table[name].to_numpy()[made.first]
    if "block" in asked.clusters:
        columns["block"] = made.names(table)
    return pd.DataFrame(columns)
