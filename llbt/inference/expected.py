"""Expected counts of the comparisons of a table under a fit."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ..core.columns import FloatArray
from ..errors import OptionError
from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.estimates import Estimates
from ..fitting.large_results import LargeResults
from ..fitting.mixed_results import MixedResults
from ..fitting.population_predictions import Population


@singledispatch
def expected_counts(res: Any) -> FloatArray:
    """Return the expected counts of the outcomes, shape (S, C); with effects averaged over their distribution."""
    raise OptionError(
        f"a {type(res).__name__}, which expects no counts of comparisons", expected="a fit of comparisons"
    )


@expected_counts.register
def _(res: Estimates) -> FloatArray:
    return res.solution.means


@expected_counts.register
def _(res: LargeResults) -> FloatArray:
    return res.cells.means


@expected_counts.register
def _(res: DiscriminationResults) -> FloatArray:
    return res.means


@expected_counts.register
def _(res: MixedResults) -> FloatArray:
    problem = res.average.problem()
    eta = np.stack(problem.at(res.average.solution.params))
    return problem.totals[:, None] * Population.of(res, ordered=True).averaged(eta).probability.T
