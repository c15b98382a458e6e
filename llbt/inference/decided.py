"""Who is preferred, whatever the grade, given that anybody is: where the odds of that are not exp(2(λᵢ − λⱼ))."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.sparse import csr_array, eye_array, kron

from ..core.columns import FloatArray
from ..core.links import AnyResponse
from ..fitting.prediction import undetermined
from ..fitting.results import LLBTResults
from ..formulas.coding import Block, Codings, column_values
from ..formulas.design import Rows
from ..formulas.grid import rows_at


@dataclass(frozen=True, eq=False)
class Grades:
    """The G levels (γ of larger grades, or a link's first cut) in one class, beside the log-worths of J objects.

    Attributes
    ----------
    response : Response
    estimate : ndarray, shape (G,)
    cov : ndarray, shape (G, G)
    cross : ndarray, shape (J, G)
        Covariances with the log-worths.
    """

    response: AnyResponse
    estimate: FloatArray
    cov: FloatArray
    cross: FloatArray

    def combined(self, weights: FloatArray) -> Grades:
        """Return them beside linear combinations (…, J) of the log-worths."""
        return replace(self, cross=weights @ self.cross)

    def log_odds(self, difference: FloatArray, error: FloatArray, cross: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return half the log-odds of i preferred against j preferred, with delta-method errors, each (m,).

        Half, so that they stand where the difference of log-worths stands for three outcomes.

        Parameters
        ----------
        difference, error : ndarray, shape (m,)
            λᵢ − λⱼ and its standard error.
        cross : ndarray, shape (m, G)
            Its covariances with the grades.
        """
        found, slope, slopes = self.response.preference(difference, self.estimate)
        variance = slope**2 * error**2 + 2 * slope * (slopes * cross).sum(axis=1)
        # NaN in the covariance is put back below, where a slope leads to it
        variance += np.einsum("mg,gh,mh->m", slopes, np.nan_to_num(self.cov), slopes)
        variance[slopes.any(axis=1) & np.isnan(self.cov).any()] = np.nan
        return found / 2, np.sqrt(np.maximum(variance, 0)) / 2


def grades_at(res: LLBTResults, codings: Codings, rows: FloatArray, values: Mapping[str, Any], k: int) -> Grades | None:
    """Return the grades of class k of a grid beside the log-worths of rows (J, p); None where there are none.

    Covariates of the grades that the grid does not name are averaged over the judgments of the table.
    """
    if res.response.plain_odds:
        return None
    chosen = {name: column[[k]] for name, column in values.items()}
    matrix = np.concatenate([np.empty((0, len(res.names))), *_level_rows(res, codings, chosen, 1)])
    free, cov = matrix[:, res.free], res.covariance.matrix
    own = free @ cov @ free.T
    own[res.covariance.unknown(free)] = np.nan
    estimate = matrix @ np.asarray(res.params.fillna(0.0), dtype=np.float64)
    estimate[undetermined(res, csr_array(matrix))] = np.nan
    return Grades(res.response, estimate, own, rows[:, res.free] @ cov @ free.T)


def averaging_notes(res: LLBTResults, codings: Codings, known: Collection[str]) -> tuple[str, ...]:
    """Say which covariates of the grades a class leaves open, over which they are averaged."""
    blocks = _levels(res)
    used = {name for block in blocks for name in codings.blocks[block].variables}
    names = ", ".join(sorted(used - set(known)))
    what = "ties" if "tie" in blocks else "grades"
    return (f"{what} differ by {names}: averaged over the judgments for odds, probabilities and Elo",) if names else ()


def preferred_at(
    res: LLBTResults, codings: Codings, difference: FloatArray, values: Mapping[str, npt.NDArray[Any]]
) -> FloatArray:
    """Return P(i preferred | decided) for differences of log-worths in each of K classes, shape (K,)."""
    if res.response.plain_odds:
        return np.asarray(special.expit(2 * difference))
    params = np.asarray(res.params.fillna(0.0), dtype=np.float64)
    none = np.empty((len(difference), 0))
    rows = _level_rows(res, codings, values, len(difference))
    levels = np.column_stack([none, *(found @ params for found in rows)])
    return np.asarray(special.expit(res.response.preference(difference, levels)[0]))


def _levels(res: LLBTResults) -> dict[Block, Rows]:
    """Return the blocks that P(i preferred | decided) depends on beside the worths; none where odds are plain."""
    if res.response.plain_odds:
        return {}
    levels, design = res.response.levels, res.design
    return {block: design.shared[b] for block, b in levels.items()}


def _level_rows(
    res: LLBTResults, codings: Codings, values: Mapping[str, npt.NDArray[Any]], classes: int
) -> Iterator[FloatArray]:
    """Yield the rows of each level in each of K classes, (K, p): averaged over what the classes leave open."""
    c = res.comparisons
    for block, units in _levels(res).items():
        names = codings.blocks[block].variables
        open_ = [name for name in names if name not in values]
        weights = np.bincount(units.index, c.totals) if open_ else np.ones(1)
        data = {name: np.repeat(values[name], len(weights)) for name in names if name in values}
        for name in open_:
            data[name] = np.tile(column_values(codings.table.columns[name], units.units[name]), classes)
        found = rows_at(codings, block, np.zeros(classes * len(weights), dtype=np.int64), data)
        yield np.asarray((kron(eye_array(classes), weights[None, :] / weights.sum()) @ found).toarray())
