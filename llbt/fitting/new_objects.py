"""Objects that are not in the table: the covariates that their predictions need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.columns import Coded, Label
from ..data.side_tables import described
from ..errors import DesignError, OptionError, listed
from ..formulas.coding import Codings
from ..formulas.grid import codes_of
from .estimates import Estimates


@dataclass(frozen=True, eq=False)
class NewObjects:
    """New objects, after the objects of a table.

    Attributes
    ----------
    labels : tuple
        The labels of the N new objects.
    values : mapping of str to ndarray, each (J + N,)
        Covariates of the table's objects and of the new ones, in the form that `Codings.rows` takes.
    """

    labels: tuple[Label, ...]
    values: Mapping[str, npt.NDArray[Any]]


def new_objects(res: Estimates, codings: Codings, asked: Sequence[Label], frame: object) -> NewObjects:
    """Return the requested objects that are not in the fit's table, with covariates from a frame.

    Raises
    ------
    DesignError
        If the formula has a parameter for each object; new objects have none.
    OptionError
        For covariates that are not in the frame, and for levels that the table's objects do not have.
    JudgmentError
        For a frame that cannot be read, and for objects that are not in it.
    """
    there, table = set(res.comparisons.objects), described(frame, "object")
    labels = tuple(dict.fromkeys(label for label in asked if label not in there))
    if table is None or not labels:
        return NewObjects((), {})
    variables, columns = codings.table.variables, codings.table.columns
    used = dict.fromkeys(name for coding in codings.blocks.values() for name in coding.variables)
    if any(variables[name].role in ("object", "pair") for name in used):
        raise DesignError(
            f"{listed(labels)} is not in the table, and {res.specification.formula!r} has a parameter for each object",
            "Predict objects of the table, or fit covariates of the objects: price + (1 | object).",
        )
    names = [name for name in used if variables[name].role == "object covariate"]
    missing = [name for name in names if name not in table.names]
    if missing:
        raise OptionError(
            f"object_covariates= has no column {listed(missing)}", expected=f"a column for each of {listed(names)}"
        )
    by_name = {column.name: column for column in table.joined(labels, [n for n in names if columns[n].numeric])[0]}
    return NewObjects(labels, {name: _values(columns[name], by_name[name]) for name in names})


def _values(known: Coded, new: Coded) -> npt.NDArray[Any]:
    """Return a covariate of the table's and of new objects, in the form that `Codings.rows` takes, (J + N,)."""
    if known.numeric:
        return np.concatenate([known.values, new.values]).astype(np.float64)
    codes = codes_of(known.levels.tolist(), new.values.tolist(), f"object covariate {known.name!r}")
    return np.concatenate([known.codes, codes])
