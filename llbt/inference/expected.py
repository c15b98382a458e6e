"""The expected counts of the comparisons of a fit's table, averaged over judges."""

from __future__ import annotations

import numpy as np

from ..core.columns import FloatArray
from ..errors import OptionError
from ..fitting.population_predictions import Population
from ..fitting.protocols import FitLike, has_cells, has_effects


def expected_counts(res: FitLike) -> FloatArray:
    """Return the expected counts of the outcomes, shape (S, C); effects are averaged over their distribution."""
    if has_cells(res):
        return res.cells.means
    if has_effects(res):
        problem = res.average.problem()
        eta = np.stack(problem.at(res.average.solution.params))
        return problem.totals[:, None] * Population.of(res, ordered=True).averaged(eta).probability.T
    raise OptionError(f"a {type(res).__name__} has no expected counts of comparisons", expected="a fit of comparisons")
