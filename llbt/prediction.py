"""Probabilities of outcomes under a fit: of its own comparisons, of new ones, of all pairs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.sparse import csr_array

from .columns import Coded, FloatArray, IntArray
from .comparisons import OUTCOMES
from .data.frames import open_frame, read_covariate, read_covariate_pair, read_label_pair
from .errors import DesignError
from .formulas.coding import Block, Codings, code_formula
from .formulas.grid import At, codes_of, covariate_grid, rows_at
from .solvers import Problem, information, probabilities
from .table import Field, Table

if TYPE_CHECKING:
    from .results import LLBTResults

BLOCKS: tuple[Block, ...] = ("worth", "tie", "order")
Values = Mapping[str, npt.NDArray[Any]]


def codings_of(res: LLBTResults) -> Codings:
    """Return the fit's formula coded on its table, to evaluate rows for other values."""
    spec = res.specification
    return code_formula(spec.formula, res.comparisons, reference=spec.reference)


def predicted(res: LLBTResults, frame: Any, at: At) -> Table:
    """Return the probability of each outcome as a long table; see `LLBTResults.predict`."""
    if frame is not None and at is not None:
        raise DesignError("predict: give a frame or at=, not both.")
    if at == "average":
        raise DesignError("predict: at='average' averages worths, not probabilities; name values: at={'judge': 'J1'}.")
    if frame is not None:
        return _predicted_frame(res, frame)
    if at is not None:
        return _predicted_pairs(res, at)
    probability = res.solution.means / res.counts.sum(axis=1, keepdims=True)
    table = res.comparisons.to_frame().drop(columns=["wins_i", "ties", "wins_j"])
    return _long(res, {str(name): table[name].tolist() for name in table}, probability, ())


def undetermined(res: LLBTResults, rows: csr_array) -> npt.NDArray[np.bool_]:
    """Return which rows, linear combinations of the parameters, the table does not determine; shape (R,).

    A row is determined when its entries for aliased parameters are what the other entries imply, as for every
    row of the table itself.
    """
    aliased = np.array([res.names.index(name) for name in res.aliased], dtype=np.int64)
    if not len(aliased):
        return np.zeros(rows.shape[0], dtype=np.bool_)
    signed, tie = res.design.signed_rows(), res.design.tie_rows()
    size, cells = res.counts.shape
    zero = np.zeros(size)
    whole = Problem(signed, tie, res.counts, zero, zero)
    gram = information(whole, np.full((size, cells), 1 / cells), np.ones(size))
    implied = linalg.lstsq(gram[np.ix_(res.free, res.free)], gram[np.ix_(res.free, aliased)])[0]
    dense = rows.toarray()
    return np.asarray((np.abs(dense[:, aliased] - dense[:, res.free] @ implied) > 1e-8).any(axis=1))


def _probabilities(res: LLBTResults, codings: Codings, pairs: IntArray, values: tuple[Values, Values]) -> FloatArray:
    """Return outcome probabilities, shape (R, C), of pairs (R, 2) with the covariate values of either side."""
    i, j = pairs.T
    signed = rows_at(codings, "worth", i, values[0]) - rows_at(codings, "worth", j, values[1])
    signed = csr_array(signed + rows_at(codings, "order", i, values[0]))
    tie = rows_at(codings, "tie", i, values[0])
    zero = np.zeros(len(pairs))
    problem = Problem(signed, tie, np.zeros((len(pairs), res.counts.shape[1])), zero, zero)
    found = probabilities(problem, np.asarray(res.params.fillna(0.0), dtype=float))
    found[undetermined(res, signed) | undetermined(res, tie)] = np.nan
    return found


def _predicted_pairs(res: LLBTResults, at: Any) -> Table:
    """Predict all pairs, and both presentations of each where there is an order effect."""
    codings = codings_of(res)
    grid = covariate_grid(codings, BLOCKS, at)
    size = len(res.comparisons.objects)
    choose = itertools.permutations if "order" in res.design.blocks else itertools.combinations
    pairs = np.array(list(choose(range(size), 2)), dtype=np.int64)
    every = np.tile(pairs, (grid.size, 1))
    repeated = {name: np.repeat(values, len(pairs)) for name, values in grid.values.items()}
    values = {**repeated, **_pair_codes(codings, every)}
    labels = res.comparisons.objects
    shown: dict[str, list[Any]] = {f"object_{side}": [labels[k] for k in every[:, n]] for n, side in enumerate("ij")}
    for name, column in grid.shown.items():
        shown[name] = [value for value in column for _ in range(len(pairs))]
    return _long(res, shown, _probabilities(res, codings, every, (values, values)), grid.notes)


def _predicted_frame(res: LLBTResults, frame: Any) -> Table:
    codings = codings_of(res)
    table = codings.table
    used = sorted({name for block in BLOCKS for name in codings.blocks[block].variables})
    covariates = [name for name in used if table.variables[name].role == "covariate"]
    sides = {name: (f"{name}_i", f"{name}_j") for name in used if table.variables[name].role == "side covariate"}
    roles: dict[str, tuple[str, ...]] = {"objects": ("object_i", "object_j"), "covariates": tuple(covariates), **sides}
    picked = open_frame(frame).pick(roles)
    objects = read_label_pair(picked, "objects", ("object_i", "object_j"))
    pairs = codes_of(res.comparisons.objects, objects.values.ravel().tolist(), "object").reshape(-1, 2)
    values: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    shown: dict[str, list[Any]] = {"object_i": objects.values[:, 0].tolist(), "object_j": objects.values[:, 1].tolist()}
    for name in covariates:
        column = read_covariate(picked, name, numeric=table.columns[name].numeric)
        shown[name] = column.values.tolist()
        values[0][name] = values[1][name] = _matched(table.columns[name], column.values)
    for name, columns in sides.items():
        sided = read_covariate_pair(picked, name, columns, numeric=table.columns[name].numeric)
        for k in (0, 1):
            shown[columns[k]] = sided.values[:, k].tolist()
            values[k][name] = _matched(table.columns[name], sided.values[:, k])
    for k in (0, 1):
        values[k].update(_pair_codes(codings, pairs))
    return _long(res, shown, _probabilities(res, codings, pairs, values), ())


def _matched(known: Coded, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values as `Codings.rows` takes them: labels as codes of the table's levels."""
    if known.numeric:
        return values.astype(np.float64)
    return codes_of(known.levels.tolist(), values.tolist(), f"covariate {known.name!r}")


def _pair_codes(codings: Codings, pairs: IntArray) -> dict[str, IntArray]:
    if not any("pair" in coding.variables for coding in codings.blocks.values()):
        return {}
    c, known = codings.table.comparisons, codings.table.columns["pair"]
    names = [f"{c.objects[low]}:{c.objects[high]}" for low, high in np.sort(pairs, axis=1)]
    return {"pair": codes_of(known.levels.tolist(), names, "pair")}


def _long(res: LLBTResults, shown: dict[str, list[Any]], probability: FloatArray, notes: tuple[str, ...]) -> Table:
    outcomes = OUTCOMES if res.comparisons.has_ties else ("i", "j")
    fields = [Field(name, name, [v for v in column for _ in outcomes]) for name, column in shown.items()]
    size = len(probability)
    return Table(
        (
            *fields,
            Field("outcome", "outcome", list(outcomes) * size),
            Field("estimate", "estimate", probability.ravel(), "number", 3),
        ),
        title="Outcome probabilities",
        notes=notes,
    )
