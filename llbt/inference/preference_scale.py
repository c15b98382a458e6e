"""P(i preferred | decided) for models where the odds are not exp(2(λᵢ − λⱼ)).

This is the case for graded judgments, for a link with cuts, and for a judge drawn from a population.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, special
from scipy.sparse import csr_array, eye_array, kron

from ..core.columns import FloatArray
from ..fitting.estimates import Estimates
from ..fitting.population_predictions import Population
from ..fitting.prediction import undetermined
from ..formulas.coding import Codings
from ..formulas.design import Rows
from ..formulas.grid import rows_at
from ..formulas.variables import Block, column_values, is_summed

Preference = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Beside:
    """The G quantities besides log-worths on which P(i preferred | decided) depends in one class.

    They are γ of larger grades, or a link's first cut; for a judge drawn from a population, every γ, and log σ of the
    effects.

    Attributes
    ----------
    preference : callable
        Like `Response.preference`: (differences, levels) → log-odds of being preferred, with slopes in both.
    estimate : ndarray, shape (G,)
    cov : ndarray, shape (G, G)
    cross : ndarray, shape (J, G)
        Covariances with the log-worths.
    """

    preference: Preference
    estimate: FloatArray
    cov: FloatArray
    cross: FloatArray

    def combined(self, weights: FloatArray) -> Beside:
        """Return the levels for linear combinations (…, J) of the log-worths."""
        return replace(self, cross=weights @ self.cross)

    def log_odds(self, difference: FloatArray, error: FloatArray, cross: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return half the log-odds of i preferred against j preferred, with delta-method errors, each (m,).

        They are halved so that they can replace the difference of log-worths with three outcomes.

        Parameters
        ----------
        difference, error : ndarray, shape (m,)
            The difference λᵢ − λⱼ and its standard error.
        cross : ndarray, shape (m, G)
            The covariances of the difference with the levels.
        """
        odds, slope, slopes = self.preference(difference, self.estimate)
        variance = slope**2 * error**2 + 2 * slope * (slopes * cross).sum(axis=1)
        # NaN in the covariance is put back below, if a slope depends on it
        variance += np.einsum("mg,gh,mh->m", slopes, np.nan_to_num(self.cov), slopes)
        variance[slopes.any(axis=1) & np.isnan(self.cov).any()] = np.nan
        return odds / 2, np.sqrt(np.maximum(variance, 0)) / 2


def beside_at(
    res: Estimates,
    codings: Codings,
    rows: FloatArray,
    values: Mapping[str, Any],
    weights: FloatArray,
    population: Population | None = None,
    of_objects: FloatArray | None = None,
) -> Beside | None:
    """Return the levels for the log-worths of rows (J, p) of one class; None if exp(2(λᵢ − λⱼ)) are the odds.

    The class is the mean of n combinations of covariate `values`, each (n,), with weights (n,).

    `of_objects` (J, J) are the effects of objects that are added to the rows. Covariates of the levels that the grid
    does not name are averaged over the judgments of the table.
    """
    if population is None and res.response.plain_odds:
        return None
    blocks = _levels(res, population)
    each = _level_rows(res, codings, blocks, values, len(weights))
    matrix = np.array([weights @ level for level in each]).reshape(-1, len(res.names))
    estimate = matrix @ np.asarray(res.params.fillna(0.0), dtype=np.float64)
    estimate[undetermined(res, csr_array(matrix))] = np.nan
    if population is None:
        preference, unknown = res.response.preference, res.covariance.unknown(matrix[:, res.free])
    else:
        preference, unknown = population.preference, np.zeros(len(matrix) + len(population.scales), dtype=np.bool_)
        estimate = np.concatenate([estimate, np.log(population.scales)])
    worths, levels, cov = _jointly(res, population, rows[:, res.free], matrix[:, res.free], of_objects)
    own = levels @ cov @ levels.T
    own[unknown] = np.nan
    return Beside(preference, estimate, own, worths @ cov @ levels.T)


def _jointly(
    res: Estimates,
    population: Population | None,
    worths: FloatArray,
    levels: FloatArray,
    of_objects: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log-worths, levels and a population's log σ as combinations of estimates with one covariance."""
    effects = res.object_effects
    if effects is not None and of_objects is not None:
        worths, levels = (
            effects.rows(worths, of_objects),
            effects.rows(levels, np.zeros((len(levels), len(of_objects)))),
        )
        if population is not None:
            levels = np.concatenate([levels, effects.log_scales(population.place)])
        return worths, levels, effects.covariance
    if population is None:
        return worths, levels, res.covariance.matrix
    scales = np.eye(len(population.scales))
    return np.pad(worths, ((0, 0), (0, len(scales)))), linalg.block_diag(levels, scales), population.covariance


def averaging_notes(
    res: Estimates, codings: Codings, known: Collection[str], population: Population | None = None
) -> tuple[str, ...]:
    """Return a note on the covariates of the levels that a class does not fix: the levels are averaged over them."""
    blocks = _levels(res, population)
    used = {name for block in blocks for name in codings.blocks[block].variables}
    names = ", ".join(sorted(used - set(known)))
    what = "grades" if blocks and not {"tie", "bad"} & set(blocks) else "ties"
    return (f"{what} differ by {names}: averaged over the judgments for odds, probabilities and Elo",) if names else ()


def preferred_at(
    res: Estimates, codings: Codings, difference: FloatArray, values: Mapping[str, npt.NDArray[Any]]
) -> FloatArray:
    """Return P(i preferred | decided) for differences of log-worths in each of K classes, shape (K,)."""
    if res.response.plain_odds:
        return np.asarray(special.expit(2 * difference))
    params = np.asarray(res.params.fillna(0.0), dtype=np.float64)
    none = np.empty((len(difference), 0))
    rows = _level_rows(res, codings, _levels(res), values, len(difference))
    levels = np.column_stack([none, *(level @ params for level in rows)])
    return np.asarray(special.expit(res.response.preference(difference, levels)[0]))


def _levels(res: Estimates, population: Population | None = None) -> dict[Block, Rows]:
    """Return the blocks on which P(i preferred | decided) depends besides worths; for a new judge, all blocks."""
    response, shared = res.comparisons.response, res.design.shared
    if population is not None:
        return {block: shared[b] for block, b in sorted(response.shared.items(), key=lambda entry: entry[1])}
    return {} if res.response.plain_odds else {block: shared[b] for block, b in res.response.levels.items()}


def _level_rows(
    res: Estimates,
    codings: Codings,
    blocks: Mapping[Block, Rows],
    values: Mapping[str, npt.NDArray[Any]],
    classes: int,
) -> Iterator[FloatArray]:
    """Yield the rows of each level in each of K classes, (K, p), averaged over what the classes do not fix.

    If a level has effects of each object, the level returned is the mean over pairs.
    """
    c = res.comparisons
    for block, units in blocks.items():
        summed = is_summed(block, codings.blocks[block].variables)
        names = [name for name in codings.blocks[block].variables if codings.table.variables[name].role != "object"]
        open_ = [name for name in names if name not in values]
        weights = (
            np.bincount(units.index.ravel(), np.repeat(c.totals, units.index.size // len(c))) if open_ else np.ones(1)
        )
        data = {name: np.repeat(values[name], len(weights)) for name in names if name in values}
        for name in open_:
            data[name] = np.tile(column_values(codings.table.columns[name], units.units[name]), classes)
        objects = range(len(c.objects)) if summed else range(1)
        total = sum(rows_at(codings, block, np.full(classes * len(weights), o), data) for o in objects)
        total = total * (2 / len(objects)) if summed else total
        yield np.asarray((kron(eye_array(classes), weights[None, :] / weights.sum()) @ total).toarray())
