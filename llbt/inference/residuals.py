"""Residuals of cells and of pairs, standardized, the largest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..base.arguments import Count, Jobs, Rng, checked
from ..base.table import Field, Table, format_count, format_percent
from ..core.columns import FloatArray, IntArray
from ..core.response import TWO, Response
from ..errors import OptionError
from ..fitting.clusters import independence_note
from ..fitting.fitted import AnyFit, plain_of
from ..fitting.large_summary import chance_errors
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.protocols import WithManyWorths, has_many_worths
from ..resampling import Resampler
from .pair_residuals import EXACTLY, exactly_note, pair_residuals, pair_residuals_of_many, simulated_pair_residuals

Of = Literal["cells", "pairs"]
Residual = Literal["pearson", "deviance"]

_EXACT = 1e-8  # a cell with a leverage this close to 1 is fitted exactly
_BEYOND = 2.0


@checked
def residuals(
    res: AnyFit,
    *,
    of: Of | None = None,
    kind: Residual = "pearson",
    most: Count = 20,
    n: Count = 199,
    rng: Rng = 0,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> Table:
    """Return standardized residuals, the largest in absolute size first: who beats whom more often than expected.

    Parameters
    ----------
    res : a fit
    of : {"cells", "pairs"}, optional
        "cells" is every outcome of every comparison, the default of `LLBTResults` and `LargeResults`. "pairs" is every
        pair of objects, summed over covariates and both orders, the only choice for other fits.
    kind : {"pearson", "deviance"}
        For cells: Pearson residuals, whose squares are score tests of single cells; or deviance residuals, the default
        of R's `rstandard`.
    most : int
        The number of printed rows; ``to_frame()`` has all.
    n : int
        For fits other than `LLBTResults`: the number of tables that are drawn from the fit.
    rng : int or numpy.random.Generator
        Used to draw these tables; the default seed makes printouts repeatable.
    progress : bool
        Show a bar that counts these tables.
    n_jobs : int
        The number of processes, −1 for one per core. The result depends only on `rng`.

    Returns
    -------
    Table
        For cells: object_i, object_j, covariates, outcome (``"i"``, ``"tie"``, ``"bad"``, ``"j"``; for graded judgments
        ``"i+"`` and so on), count, fitted, residual; printed with the residual in words. Without a tie category the two
        cells of a comparison mirror each other, and only the cell with more judgments than fitted is printed. For
        judged pairs: object_i, object_j, judgments, estimate (wins of i minus wins of j; for graded judgments, scores),
        fitted (its expectation under the model), residual.

    Raises
    ------
    OptionError
        For anything but a fit, for unknown options, and for deviance residuals of pairs.

    Notes
    -----
    Residuals are about standard normal if the model holds and fitted counts are not small. Cells that are fitted
    exactly, as in a saturated model, have no residual: they are NaN and come last.

    The residual of a cell is resid / √(1 − h), with h the leverage of the cell in the full Poisson GLM. Let d be the
    difference of wins, summed over the comparisons of a pair. The pair's residual is (d − fitted d) / √v, where v = Σ
    [m_i + m_j − (m_i − m_j)²/n] − gᵀVg is the multinomial variance minus the part from estimation, g is the gradient of
    the fitted d, and V is the likelihood's covariance of the estimates. For a pair with one comparison and no ties it
    is the Pearson residual of the cell.

    For very many objects, errors are exact for the 100 comparisons or pairs with the largest residuals. Other errors
    ignore the part from estimation, so their residuals are a little too small.

    Judgments of one judge with effects, of one list or of one pattern depend on each other. For such fits, fitted wins
    are the mean over tables drawn from the fit. The residual is the difference divided by its standard deviation in
    these tables, without the part that their own estimates explain; see `goodness_of_fit`.

    References
    ----------
    Agresti, A. (2002). Categorical Data Analysis, 2nd ed., section 4.5.5 (standardized residuals). Wiley.

    Examples
    --------
    >>> import llbt
    >>> cells = llbt.residuals(llbt.fit("object + tie", llbt.load_dataset("cems").pool())).to_frame()
    >>> cells.iloc[0][["object_i", "object_j", "outcome"]].tolist()
    ['BA', 'ST', 'i']
    >>> pairs = llbt.residuals(llbt.fit("object", llbt.load_dataset("citations").pool()), of="pairs").to_frame()
    >>> pairs.loc[0, ["object_i", "object_j"]].tolist(), pairs["residual"].round(2).tolist()[:2]
    (['Comm Statist', 'JRSS-B'], [1.87, -1.17])
    """
    plain = plain_of(res)
    if of != "pairs" and plain is not None:
        return _of_cells(_Cells(plain, standardized_residuals(plain, kind)), kind, most)
    if of != "pairs" and has_many_worths(res):
        return _of_cells(_of_many(res, kind), kind, most)
    if kind != "pearson":
        raise OptionError(f"kind={kind!r} is for cells", "Residuals of pairs are Pearson's: leave kind= out.")
    if plain is not None:
        return pair_residuals(plain, most)
    if has_many_worths(res):
        return pair_residuals_of_many(res, most)
    if of == "cells":
        raise OptionError(
            f"of='cells' of a {type(res).__name__}: judgments in its cells depend on each other",
            "Leave out of=, for pairs: llbt.residuals(res).",
        )
    return simulated_pair_residuals(res, most, n, Resampler.of("residuals", rng, n_jobs, progress))


@dataclass(frozen=True, eq=False)
class _Cells:
    """Residuals of the n cells of a fit, in the order of its table, and the kind of the residuals."""

    fit: PlainEstimates | WithManyWorths
    residual: FloatArray
    notes: tuple[str, ...] = ()


def _of_many(res: WithManyWorths, kind: Residual) -> _Cells:
    """Return residuals whose errors ignore estimation, except for the largest residuals."""
    plain = np.asarray(res.resid_pearson if kind == "pearson" else res.resid_deviance)
    p = res.cells.means / res.comparisons.totals[:, None]
    resid = plain.reshape(p.shape)
    residuals = resid / np.sqrt(1 - p)
    some = np.sort(np.argsort(-np.abs(residuals).max(axis=1), kind="stable")[:EXACTLY])
    taken = res.cells.means[some] * (chance_errors(res, some) / p[some]) ** 2
    free = 1 - p[some] - taken
    residuals[some] = resid[some] / np.sqrt(np.where(free > _EXACT, free, np.nan))
    return _Cells(res, residuals.ravel(), exactly_note(len(some), len(p), "comparisons"))


def _of_cells(of: _Cells, kind: Residual, most: int) -> Table:
    res, residual = of.fit, of.residual
    size = np.abs(residual).round(9)  # cells that are equal up to rounding stay in the order of the table
    order = np.argsort(-np.where(np.isnan(residual), -np.inf, size), kind="stable")
    residual = residual[order]
    fitted = res.fittedvalues
    cells = fitted.index.to_frame(index=False).iloc[order]
    candidates = _informative(residual, order, res.comparisons.response)
    rest = max(len(candidates) - most, 0)
    return Table(
        (
            *(Field(str(name), str(name), cells[name].tolist()) for name in cells),
            Field("count", "count", res.counts.ravel()[order], "count"),
            Field("fitted", "fitted", fitted.to_numpy()[order], "number", 3),
            Field("residual", "residual", residual, "statistic"),
            Field("", "than the model expects", _in_words(cells.to_dict("list"), residual)),
        ),
        title=f"Standardized {'Pearson' if kind == 'pearson' else kind} residuals",
        foot=_foot(residual),
        notes=(*of.notes, *_notes(of)),
        shown=tuple(candidates[:most].tolist()),
        more=f"… {format_count(rest)} smaller ones: .to_frame(), or most=" if rest else "",
        asked=True,
    )


def standardized_residuals(res: PlainEstimates, kind: Residual = "pearson") -> FloatArray:
    """Return resid / √(1 − h) of the n cells in the order of ``res.fittedvalues``; NaN if h = 1."""
    plain = res.resid_pearson if kind == "pearson" else res.resid_deviance
    free = 1 - res.hat_diag.to_numpy()
    return np.asarray(plain.to_numpy() / np.sqrt(np.where(free > _EXACT, free, np.nan)))


def _informative(residual: FloatArray, order: IntArray, response: Response) -> IntArray:
    """Return the rows to print: all, or from two mirrored cells the cell with more judgments than fitted."""
    if response != TWO:
        return np.arange(len(residual))
    unsorted = np.empty(len(residual))
    unsorted[order] = np.where(np.isnan(residual), 0.0, residual)  # both cells of a pair that is fitted exactly
    chosen = np.zeros((len(residual) // 2, 2), dtype=bool)
    chosen[np.arange(len(chosen)), unsorted.reshape(-1, 2).argmax(axis=1)] = True
    return np.flatnonzero(chosen.ravel()[order])


def _in_words(cells: dict[Any, list[Any]], residual: FloatArray) -> list[str]:
    rows = zip(cells["object_i"], cells["object_j"], cells["outcome"], residual.tolist(), strict=True)
    return [_sentence(i, j, outcome, value) for i, j, outcome, value in rows]


def _sentence(i: Any, j: Any, outcome: str, residual: float) -> str:
    if np.isnan(residual):
        return "fitted exactly"
    often = "more often" if residual > 0 else "less often"
    if outcome in ("tie", "bad"):
        return f"{i} and {j} {'tie' if outcome == 'tie' else 'are both bad'} {often}"
    winner, loser = (i, j) if outcome[0] == "i" else (j, i)
    grade = f" by {outcome[1:]}" if outcome[1:] else ""
    return f"{winner} beats {loser}{grade} {often}"


def _foot(residual: FloatArray) -> tuple[str, ...]:
    size = int((~np.isnan(residual)).sum())
    if not size:
        return ("every cell is fitted exactly: there are no residuals",)
    beyond = int((np.abs(residual) > _BEYOND).sum())
    return (
        f"{format_count(beyond)} of {format_count(size)} residuals ({format_percent(beyond / size)}) beyond ±2; about "
        "5 % where the model holds",
    )


def _notes(of: _Cells) -> tuple[str, ...]:
    res, residual, notes = of.fit, of.residual, []
    exact = int(np.isnan(residual).sum())
    if 0 < exact < len(residual):
        notes.append(f"{format_count(exact)} cells are fitted exactly (leverage 1) and have no residual")
    if res.comparisons.keeps_order:
        notes.append("object_i was shown first")
    if res.comparisons.response == TWO:
        notes.append("of each comparison the cell above its fitted count is printed, not its mirror image")
    return (*notes, *independence_note(res.specification.groups, "residuals take"))
