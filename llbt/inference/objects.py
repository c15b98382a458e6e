"""The log-worths of the objects with their covariance, in every class or in the one that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ..columns import FloatArray, groups
from ..errors import DesignError, listed
from ..formulas.coding import Codings, column_values
from ..formulas.grid import At, covariate_grid, rows_at
from ..prediction import codings_of, undetermined
from ..results import LLBTResults
from ..table import format_number

KNOWN = 1e-12  # a variance below this share of the largest is rounding: nothing was estimated


@dataclass(frozen=True, eq=False)
class LogWorths:
    """Log-worths of the J objects in one class, less the reference's.

    Attributes
    ----------
    rows : ndarray, shape (J, p)
        The linear combinations of the parameters that they are.
    estimate : ndarray, shape (J,)
        Log-worth λ; NaN where the table does not determine it.
    cov : ndarray, shape (J, J)
    """

    rows: FloatArray
    estimate: FloatArray
    cov: FloatArray


def log_worths(res: LLBTResults, rows: FloatArray) -> LogWorths:
    """Return the log-worths for the objects' rows (J, p) of one class."""
    against = rows - rows[res.comparisons.objects.index(res.design.reference)]
    estimate = against @ np.asarray(res.params.fillna(0.0), dtype=float)
    estimate[undetermined(res, csr_array(against))] = np.nan
    cov = against @ np.asarray(res.cov_params().fillna(0.0), dtype=float) @ against.T
    return LogWorths(against, estimate, cov)


def worth_classes(res: LLBTResults, at: At) -> tuple[list[LogWorths], dict[str, list[Any]], tuple[str, ...]]:
    """Return the log-worths in each class that is asked for, the covariates of each class, and notes.

    Raises
    ------
    DesignError
        For a formula without worths, and names or values in `at` that the worth does not have.
    """
    if "worth" not in res.design.blocks:
        raise DesignError(f"the formula {res.specification.formula!r} has no term for the worths; add object.")
    if isinstance(at, str) and at != "average":
        raise DesignError(f"at={at!r}; it is 'average' or a mapping such as {{'judge': 'J3'}}.")
    codings = codings_of(res)
    size = len(res.comparisons.objects)

    def rows(values: Mapping[str, npt.NDArray[Any]], k: int) -> FloatArray:
        spread = {name: np.repeat(v[k], size) for name, v in values.items()}
        return np.asarray(rows_at(codings, "worth", np.arange(size), spread).toarray())

    if at == "average":
        values, weights = _judged_values(codings)
        mean = np.sum([w * rows(values, k) for k, w in enumerate(weights)], axis=0)
        return [log_worths(res, mean)], {}, ("log-worths averaged over the judgments of the table",) if values else ()
    grid = covariate_grid(codings, ("worth",), at if isinstance(at, Mapping) else None)
    return [log_worths(res, rows(grid.values, k)) for k in range(grid.size)], grid.shown, grid.notes


def log_worths_at(res: LLBTResults, at: At, asker: str) -> tuple[LogWorths, tuple[str, ...]]:
    """Return the log-worths of the one class that `at` names, and notes that say which.

    Raises
    ------
    DesignError
        Where the worths differ between classes and `at` leaves more than one; the levels are listed.
    """
    found, shown, notes = worth_classes(res, at)
    if len(found) > 1:
        open_ = {
            name: sorted(set(map(str, values))) for name, values in shown.items() if len(set(map(str, values))) > 1
        }
        levels = "; ".join(f"{name}: {', '.join(values[:12])}" for name, values in open_.items())
        first = {name: values[0] for name, values in shown.items() if name in open_}
        raise DesignError(
            f"{asker}: the worths differ by {', '.join(open_)} ({levels}); say where: at={first!r}, or at='average'."
        )
    where = ", ".join(f"{name} {_said(values[0])}" for name, values in shown.items())
    return found[0], (*notes, *([f"at {where}"] if where else []))


def _said(value: Any) -> str:
    return format_number(value, 5) if isinstance(value, float) else str(value)


def centred(res: LLBTResults, at: At, asker: str) -> tuple[LogWorths, tuple[str, ...]]:
    """Return the log-worths of one class less their mean, and notes.

    Only objects whose differences the table determines take part: the largest such group. The log-worths of the
    others are NaN, and a note names them.
    """
    found, notes = log_worths_at(res, at, asker)
    inside = _comparable(res, found.rows)
    out = [label for label, kept in zip(res.comparisons.objects, inside, strict=True) if not kept]
    if out:
        notes = (*notes, f"NA: the table does not compare {listed(out)} with the others here")
    center = inside[:, None] * (np.eye(len(inside)) - inside / inside.sum())
    rows = center @ found.rows
    estimate = rows @ np.asarray(res.params.fillna(0.0), dtype=float)
    return LogWorths(rows, np.where(inside, estimate, np.nan), center @ found.cov @ center.T), notes


def _comparable(res: LLBTResults, rows: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which objects are in the largest group whose differences the table determines, shape (J,)."""
    group = np.full(len(rows), -1)
    while (group < 0).any():
        first = int(np.argmax(group < 0))
        group[(group < 0) & ~undetermined(res, csr_array(rows - rows[first]))] = first
    return np.asarray(group == np.bincount(group).argmax())


def _judged_values(codings: Codings) -> tuple[dict[str, npt.NDArray[Any]], FloatArray]:
    """Return the distinct covariate values of the worth and the share of the judgments made at each."""
    table = codings.table
    covariates = ("covariate", "side covariate")
    names = [name for name in codings.blocks["worth"].variables if table.variables[name].role in covariates]
    if not names:
        return {}, np.ones(1)
    codes = {name: np.concatenate([table.codes(name, 0), table.codes(name, 1)]) for name in names}
    first, group = groups(list(codes.values()))
    weights = np.bincount(group, weights=np.tile(table.comparisons.totals, 2))
    values = {name: column_values(table.columns[name], codes[name][first]) for name in names}
    return values, weights / weights.sum()
