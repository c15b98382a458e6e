"""Features of both sides of a comparison: ``sides(…)``, where x_i and x_j are a side covariate's two values.

The value of a term for object j is subtracted from its value for object i. So an antisymmetric feature f(x_i, x_j) is
divided: one half is the value for object i, and the other half, with the sides swapped, the value for object j.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

_ROUNDING = 1e-9  # rounding that swapping the sides may leave, as a share of the largest value


def side_names(name: str) -> tuple[str, str]:
    """Return the names of the object's own value and the opponent's value within ``sides(…)``."""
    return f"{name}_i", f"{name}_j"


def side_of(name: str) -> tuple[str, int]:
    """Return the side covariate of a name within ``sides(…)``, and 0 for the object itself, 1 for the opponent."""
    return name[:-2], "ij".index(name[-1])


def is_both(tree: ast.expr) -> bool:
    """Whether an expression is ``sides(…)``."""
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "sides"


def check_sides(tree: ast.expr, used: Mapping[str, str], fail: Callable[[str], NoReturn]) -> None:
    """Call `fail` if ``sides(…)`` is only part of a factor or lacks a side, or if another factor uses a side's value.

    `used` are the names in the expression with their roles.
    """
    named = [name for name, role in used.items() if role == "one side"]
    if any(is_both(node) for node in ast.walk(tree) if isinstance(node, ast.expr) and node is not tree):
        fail("sides(…) must be a whole factor, as in sides(x_i - x_j):judge; transform the values inside it")
    if not is_both(tree):
        if named:
            fail(f"{named[0]!r} is the value of one side; write it within sides(…), as in sides({_example(named[0])})")
        return
    lacking = [name for name in named if not set(side_names(side_of(name)[0])) <= set(named)]
    if lacking or not named:
        fail(
            "sides(…) needs the two values of a side covariate, x_i and x_j, and must change its sign when they are "
            f"swapped, as in sides({_example(lacking[0] if lacking else 'length_i')})"
        )
    other = [name for name, role in used.items() if role not in ("one side", "covariate")]
    if other:
        fail(f"sides(…) may only use values of the sides and numbers of the comparison, not {other[0]!r}")


def _example(name: str) -> str:
    own, opponent = side_names(side_of(name)[0])
    return f"({own} - {opponent}) / ({own} + {opponent})"


def check_antisymmetric(
    code: str, evaluate: Callable[[Mapping[str, Any]], Any], data: Mapping[str, Any], names: Iterable[str]
) -> str:
    """Return what is wrong with a feature that does not change its sign with the sides; empty if nothing is wrong.

    Parameters
    ----------
    code : str
        The factor, for the message.
    evaluate : callable
        A function that returns the factor's values for data.
    data : mapping
        The variables' values in each row.
    names : iterable of str
        The side covariates in the factor.
    """
    pairs = [side_names(name) for name in names]
    swapped = {**data, **{a: data[b] for a, b in pairs}, **{b: data[a] for a, b in pairs}}
    with np.errstate(all="ignore"):  # values that are not finite are refused where the rows are made
        here, there = (
            2 * np.asarray(evaluate(rows), dtype=float).reshape(len(data[pairs[0][0]]), -1) for rows in (data, swapped)
        )
        gap = np.abs(here + there).max(axis=1)
        known = np.isfinite(gap)
    if not known.any() or gap[known].max() <= _ROUNDING * np.abs(here[known]).max():
        return ""
    k = int(np.flatnonzero(known)[gap[known].argmax()])
    where = ", ".join(f"{name} = {data[name][k]:.6g}" for pair in pairs for name in pair)
    return (
        f"{code} is {here[k, 0]:.6g} at {where}, and {there[k, 0]:.6g} with the sides swapped; it must be "
        f"antisymmetric, f(i, j) = -f(j, i), so {-here[k, 0]:.6g} was expected"
    )
