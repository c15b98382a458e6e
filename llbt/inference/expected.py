"""The expected counts of the comparisons of a fit's table, averaged over judges."""

from __future__ import annotations

import numpy as np

from ..core.columns import FloatArray
from ..errors import OptionError
from ..fitting.effect_levels import entered
from ..fitting.effect_lines import slope_values
from ..fitting.population_predictions import Population
from ..fitting.protocols import FitLike, has_cells, has_effects


def expected_counts(res: FitLike) -> FloatArray:
    """Return the expected counts of the outcomes, shape (S, C); effects are averaged over their distribution."""
    if has_cells(res):
        return res.cells.means
    if has_effects(res):
        problem = res.average.problem()
        eta, population = np.stack(problem.at(res.average.solution.params)), Population.of(res, ordered=True)
        brackets = [res.brackets[e] for e in population.place]
        where = [entered(bracket, res.comparisons) for bracket in brackets]
        chances = population.averaged(eta, slope_values(res.design, problem.signed, brackets), where)
        return problem.totals[:, None] * chances.probability.T
    raise OptionError(f"a {type(res).__name__} has no expected counts of comparisons", expected="a fit of comparisons")
