"""Graded preferences: the outcome for each size of preference, and the cuts between grades."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arguments import is_real
from ..errors import OptionError, listed, safe_repr
from .columns import FloatArray, IntArray
from .counts import n_columns
from .response import Response, graded


def rising(cuts: Sequence[float], above: float, what: str) -> tuple[float, ...]:
    """Return cuts as floats; raise unless they increase and the first is larger than `above`."""
    values = tuple(cuts) if isinstance(cuts, (list, tuple, np.ndarray)) else (None,)
    if not all(map(is_real, values)) or not all(a < b < np.inf for a, b in pairwise((above, *values))):
        raise OptionError(
            f"cuts={safe_repr(cuts)}",
            expected=f"rising numbers such as (1, 2.5), the first larger than {what}={above:g}",
        )
    return tuple(map(float, values))


def graded_outcomes(
    wins: IntArray, sizes: FloatArray, declared: Collection[float] = ()
) -> tuple[npt.NDArray[Any], Response, list[str]]:
    """Return the graded outcome of each row, the scale, and notes on unused grades.

    Parameters
    ----------
    wins : ndarray of int, shape (R,)
        1 if object i is preferred, −1 if object j is, 0 for a tie; rows with other values are left out.
    sizes : ndarray, shape (R,)
        The grade of the preference: 1, 2, …; ignored for ties.
    declared : collection of float
        Sizes of grades that the scale has even if nobody uses them; 0 stands for a middle.
    """
    decided, tied = np.abs(wins) == 1, wins == 0
    steps = int(max([1, *declared, sizes[decided].max(initial=1)]))
    response = graded(steps, middle=bool(tied.any()) or 0 in declared)
    grade = np.where(decided, wins * sizes, 0).astype(np.int64)
    # without a middle there is no place between 1 and −1
    down = steps - grade - ((grade < 0) & (n_columns(response) % 2 == 0))
    outcome = np.where(decided | tied, down, n_columns(response))
    unused = sorted(set(range(1, steps + 1)) - set(np.abs(grade[decided]).tolist()))
    return outcome, response, [f"no judgment has the grade {listed(tuple(unused))} on either side"] if unused else []
