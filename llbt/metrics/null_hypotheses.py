"""The null hypothesis of a test of two metrics, as a line of text, and the smallest possible p-value of the test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.table import Qualifying, counted, format_number
from ..classical.sign_rules import Alternative
from ..core.columns import FloatArray
from .metric_tests import TestMethod

_SCOPE: dict[TestMethod, str] = {
    "perm-systems": "for systems like these",
    "boot": "for systems and inputs like these",
    "williams": "for systems like these",
}


def null_hypothesis(method: TestMethod, systems: Sequence[int]) -> str:
    """Return the null hypothesis of a test in words.

    Parameters
    ----------
    method : str
    systems : sequence of int
        Number of systems in each task.
    """
    scope = _SCOPE.get(method)
    if scope is None:
        scope = f"for these {counted(systems[0], 'system')}" if len(systems) == 1 else "for the systems of these tasks"
        scope += ", not for others"
    return f"Null hypothesis: both metrics agree with humans equally well {scope}"


def smallest_p(method: TestMethod, shapes: Sequence[tuple[int, int]], n: int, alternative: Alternative) -> FloatArray:
    """Return the smallest possible p-values of a test by n resamples: for means over T tasks, then for each; (1 + T,).

    The smallest p-value is 1/(n + 1), or twice this for the two-sided bootstrap. Scores of N systems can be swapped in
    2ᴺ ways. One way swaps no system and gives the observed difference; swapping all systems gives its negative, which
    a two-sided test counts too. So with few systems more resamples do not help.

    Parameters
    ----------
    method : str
    shapes : sequence of (N, M)
        Systems and inputs of each task.
    n : int
    alternative : str
    """
    two = 2.0 if alternative == "two-sided" else 1.0
    if method == "williams":
        return np.zeros(1 + len(shapes))
    if method == "boot":
        return np.full(1 + len(shapes), two / (n + 1))
    swapped = {"perm-systems": (1, 0), "perm-inputs": (0, 1)}.get(method)
    units = [np.inf if swapped is None else swapped[0] * size[0] + swapped[1] * size[1] for size in shapes]
    return np.asarray(np.maximum(1 / (n + 1), two * 0.5 ** np.array([sum(units), *units])))


def floor_note(smallest: float, n: int, alpha: float = 0.05) -> str:
    """Describe the smallest possible p-value of a test by n resamples, and a remedy if it is too large."""
    note = f"no p-value can be below {format_number(smallest, 3)}"
    if smallest < alpha:
        return f"{note}."
    cure = "with so few systems or inputs to swap" if smallest > (2 + 1e-9) / (n + 1) else f"raise n={n}"
    return Qualifying(f"{note}, so nothing can be significant at {alpha:g}: {cure}.")
