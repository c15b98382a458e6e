"""The coefficients of a formula's parameters in the sign and the tie of each pair, for each class of judges."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.columns import FloatArray, IntArray
from ..core.patterns import Patterns
from ..errors import DesignError, listed
from ..formulas.coding import Codings
from ..formulas.design import Design
from ..formulas.grid import codes_of, rows_at, shared_rows_at
from ..formulas.variables import column_values

_SAME = 1e-8  # larger differences of coefficients are not rounding


def pair_predictors(
    p: Patterns, design: Design, codings: Codings, free: IntArray, first: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of the estimated parameters in the sign and the tie of every pair, (G, P, p) each.

    Parameters
    ----------
    p : Patterns
    design : Design
        The design of the comparisons in the patterns.
    codings : Codings
        The codings of this design.
    free : ndarray of int, shape (p,)
        The parameters that are estimated.
    first : ndarray of int, shape (G,)
        A pattern of each class of judges.

    Raises
    ------
    DesignError
        For an object without any answer, and for a class of judges whose answers do not determine a pair.
    """
    pairs = np.tile(_places(p, codings)[p.pairs], (len(first), 1))
    values = _values(p, codings, pairs, first)
    signed = rows_at(codings, "worth", pairs[:, 0], values) - rows_at(codings, "worth", pairs[:, 1], values)
    eta = signed.toarray()
    shared = codings.table.comparisons.response.shared
    gamma = sum((shared_rows_at(codings, block, pairs, values).toarray() for block in shared), np.zeros_like(eta))
    shape = (len(first), len(p.pairs), len(design.names))
    eta, gamma = eta.reshape(shape), gamma.reshape(shape)
    _refuse_undetermined(p, design, free, first, eta)
    return eta[:, :, free], gamma[:, :, free]


def _places(p: Patterns, codings: Codings) -> IntArray:
    """Return the position of each object in the table of comparisons, shape (J,)."""
    compared = codings.table.comparisons.objects
    silent = [label for label in p.objects if label not in set(compared)]
    if silent:
        raise DesignError(
            f"nobody answered a pair with {listed(silent)}, so possible answers to these pairs cannot be summed over",
            "Read the patterns without these objects.",
        )
    return codes_of(compared, p.objects, "object")


def _values(p: Patterns, codings: Codings, pairs: IntArray, first: IntArray) -> dict[str, npt.NDArray[Any]]:
    """Return the values of the formula's variables for the pairs (R, 2) of each class at each time."""
    table, values = codings.table, {}
    used = {name for coding in codings.blocks.values() for name in coding.variables}
    given = {column.name: (column, np.repeat(column.codes[first], len(p.pairs))) for column in p.columns}
    if p.times is not None:
        given[p.times.name] = p.times, np.tile(p.times.codes[p.time_of], len(first))
    for name in used & set(given):
        column, rows = given[name]
        known = table.columns[name]  # labels may stand in another order here
        codes = codes_of(known.levels.tolist(), column.levels.tolist(), f"covariate {name!r}")
        values[name] = column_values(known, codes[rows])
    return values | ({"pair": table.pair_codes(pairs)} if "pair" in used else {})


def _refuse_undetermined(p: Patterns, design: Design, free: IntArray, first: IntArray, eta: FloatArray) -> None:
    """Raise for pairs whose worths would depend on parameters that the comparisons do not determine.

    A parameter that is not estimated is a combination of those that are, in every comparison. A pair without an answer
    has the same combination if the answers to other pairs determine it.
    """
    others = np.setdiff1d(np.arange(len(design.names)), free)
    if not len(others):
        return
    compared = design.signed_rows().toarray()
    combination = np.linalg.lstsq(compared[:, free], compared[:, others], rcond=None)[0]
    wrong = np.abs(eta[:, :, others] - eta[:, :, free] @ combination).max(axis=2) > _SAME
    if wrong.any():
        g, k = np.argwhere(wrong)[0]
        i, j = (p.objects[one] for one in p.pairs[k])
        where = ", ".join(
            [f"{c.name} {c.values[first[g]]!r}" for c in p.columns]
            + ([f"{p.times.name} {p.times.values[p.time_of[k]]!r}"] if p.times is not None else [])
        )
        raise DesignError(
            f"the answers do not determine whether {i!r} is preferred to {j!r}{f' under {where}' if where else ''}",
            "Use a formula with fewer terms, or leave out the object or the judges without answers.",
        )
