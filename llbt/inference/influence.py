"""What a fit depends on: cells, and judges or other levels left out in turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..arguments import checked
from ..errors import LLBTError, OptionError
from ..fitting.results import LLBTResults
from ..formulas.grid import At, check_at
from ..resampling import shown
from ..table import Field, Record, Table
from .level_tests import dependence_note, levels_of, tests_of
from .objects import log_worths_at
from .refit import refit_table
from .residuals import standardized_residuals

_MOST_LEVELS = 30  # levels that are printed


@dataclass(frozen=True, repr=False)
class Influence(Record):
    """What a fit depends on. Made by `influence`.

    Attributes
    ----------
    rows : Table
        One row per cell, or per level and object: what ``to_frame()`` gives.
    levels : Table or None
        One row per level, what is printed: its judgments, the object whose log-worth moves most without it (or has
        none then), estimate, without and change of that object. None for cells.
    """

    rows: Table
    levels: Table | None = None

    def table(self) -> Table:
        """Return the levels, or the cells."""
        return self.rows if self.levels is None else self.levels

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell, or per level and object."""
        return self.rows.to_frame()


@checked
def influence(res: LLBTResults, *, by: str | None = None, at: At = "average", progress: bool = False) -> Influence:
    """Return the influence of single cells, or of each level of a covariate or cluster.

    Parameters
    ----------
    res : LLBTResults
    by : str, optional
        A covariate or cluster, ``"judge"``: each of its levels is left out in turn and the model fitted again. By
        default the cells.
    at : mapping or "average"
        Where worths are compared, for formulas whose worth has covariates.
    progress : bool
        Show a progress bar of the levels.

    Returns
    -------
    Influence
        ``to_frame()`` by cell: the comparison, outcome, count, fitted, hat, residual (standardized Pearson) and
        cooks_distance, those of the explicit Poisson GLM, largest first. By level: the level, its judgments, object,
        estimate (log-worth of the whole table), without (log-worth without the level), change, largest (change of the
        level) and p_adjusted (the level against the rest, by Holm's method: see `level_tests`), the level with the
        largest change first; NaN where nothing can be fitted without it. Printed is one row per level, with the object
        that moves most.

    Raises
    ------
    OptionError
        For a `by` that the table does not keep, and an `at` that names it.

    References
    ----------
    Cook, R. D. (1977). Detection of influential observation in linear regression. Technometrics 19(1), 15-18.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"))
    >>> llbt.influence(res, by="judge").to_frame()["judge"].iloc[0]
    'J3'
    """
    check_at(at)
    return Influence(_by_cell(res)) if by is None else _by_level(res, by, at, progress)


def _by_cell(res: LLBTResults) -> Table:
    fitted = res.fittedvalues
    frame = fitted.index.to_frame(index=False)
    h, residual = res.hat_diag.to_numpy(dtype=float), standardized_residuals(res)
    with np.errstate(divide="ignore"):  # a cell with leverage 1 is fitted exactly: no residual, and so no distance
        distance = residual**2 * h / (1 - h) / (len(res.comparisons) + res.n_params)
    order = np.argsort(-distance, kind="stable")  # those come last
    fields = [Field(str(name), str(name), frame[name].to_numpy()[order]) for name in frame.columns]
    return Table(
        (
            *fields,
            Field("count", "count", res.counts.ravel()[order], "count"),
            Field("fitted", "fitted", fitted.to_numpy(dtype=float)[order], "number"),
            Field("hat", "hat", h[order], "number", 3),
            Field("residual", "residual", residual[order], "statistic"),
            Field("cooks_distance", "Cook's distance", distance[order], "number", 3),
        ),
        title="Influence of cells",
        answer="influence",
    ).first(20)


def _by_level(res: LLBTResults, by: str, at: At, progress: bool) -> Influence:
    c = res.comparisons
    levels = levels_of(c, by)
    if isinstance(at, Mapping) and by in at:
        raise OptionError(f"at= names {by!r}, whose levels are left out", "Ask at='average' or at others.")
    objects = c.objects
    found = log_worths_at(res, at)[0]
    whole, reference = found.estimate, found.reference
    without = np.array([_without(res, by, level, levels, at) for level in shown("influence", levels, progress)])
    without -= without[:, [objects.index(reference)]]  # without a level another may be the reference
    moved = np.abs(without - whole)
    moved[np.isnan(moved)] = np.inf  # nothing to fit without it: the largest of all
    moved[:, np.isnan(whole)] = 0.0  # nor with it
    largest = moved.max(axis=1)
    order = np.argsort(-largest, kind="stable")
    judgments = [c.select(where={by: [levels[k]]}).n_judgments for k in order]
    p_adjusted = tests_of(res, by).p_adjusted if len(levels) > 1 else np.full(1, np.nan)
    size, names = len(objects), [levels[k] for k in order]
    notes = (
        f"log-worths λ against {reference}; NA: no finite estimate without this {by}",
        *dependence_note(res, by),
    )
    rows = Table(
        (
            Field(by, by, [name for name in names for _ in objects]),
            Field("judgments", "judgments", np.repeat(judgments, size), "count"),
            Field("object", "object", list(objects) * len(levels)),
            Field("estimate", "estimate", np.tile(whole, len(levels)), "estimate"),
            Field("without", "without", without[order].ravel(), "estimate"),
            Field("change", "change", (without - whole)[order].ravel(), "estimate"),
            Field("largest", "largest", np.repeat(largest[order], size), "estimate"),
            Field("p_adjusted", "p (Holm)", np.repeat(p_adjusted[order], size), "p_value"),
        ),
        title=f"Influence of each {by}: log-worths without it",
        notes=notes,
    )
    most = moved[order].argmax(axis=1)
    there = without[order, most]
    printed = Table(
        (
            Field(by, by, names),
            Field("judgments", "judgments", judgments, "count"),
            Field("object", "moves most", [objects[k] for k in most]),
            Field("estimate", "estimate", whole[most], "estimate"),
            Field("without", "without", there, "estimate"),
            Field("change", "change", there - whole[most], "estimate"),
            Field("p_adjusted", "p (Holm)", p_adjusted[order], "p_value"),
        ),
        title=f"Influence of each {by}: the log-worth that moves most without it",
        notes=(*notes, "every object: .to_frame()"),
    ).first(_MOST_LEVELS, how=".levels.to_frame()")
    return Influence(rows, printed)


def _without(res: LLBTResults, by: str, level: Any, levels: list[Any], at: At) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the log-worths without a level, in the order of the table's objects; NaN where there are none."""
    c = res.comparisons
    found = np.full(len(c.objects), np.nan)
    try:
        rest = c.select(where={by: [other for other in levels if other != level]})
        fitted = refit_table(res, rest)
        values = log_worths_at(fitted, at)[0].estimate
    except LLBTError:  # nothing left, disconnected, separated, or the covariate has one level left
        return found
    position = {o: k for k, o in enumerate(c.objects)}
    found[[position[o] for o in fitted.comparisons.objects]] = values
    return found
