"""The influence of cells, and of judges or other levels, on a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special
from scipy.linalg import block_diag
from scipy.sparse import csr_array, eye_array

from ..base.arguments import checked
from ..base.budgets import refuse_large
from ..base.frame_styles import FrameStyle
from ..base.notes import Qualifying
from ..base.table import Field, Record, Table, format_count
from ..base.table import Kind as CellKind
from ..core.columns import FloatArray, Label
from ..errors import DesignError, LLBTError, OptionError
from ..fitting.fitted import (
    AnyFit,
    ClassSource,
    ClassWorthSource,
    OneSource,
    WithWorths,
    WorthSource,
    average_of,
    plain_of,
)
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.protocols import WithManyWorths, has_many_worths
from ..formulas.grid import At, check_at
from ..resampling import shown
from .kinds import unit_model
from .large import check_plain
from .level_tests import dependence_note, levels_of, tests_of
from .log_worths import log_worths_at
from .refit import refit_table
from .residuals import standardized_residuals

_MOST_LEVELS = 30  # most levels that are printed
_MOST_REFITS = 5_000  # most units that are left out in turn
_MANY, _MOST_LARGE = 10_000, 1_000  # with more than so many objects, fewer units are left out
_COPIES = 5  # copies of the changes of all estimates without each unit
_MOVED = 100  # with so many objects, the rows of each unit: the objects that move most


@dataclass(frozen=True, repr=False)
class Influence(Record):
    """The influence of each unit on a fit. Made by `influence`.

    Attributes
    ----------
    rows : Table
        One row per cell, or per level and object; ``to_frame()`` returns these rows.
    levels : Table or None
        The printed table: one row per level, with its judgments and the object whose log-worth changes most without the
        level, or that has no estimate then. Columns are estimate, without and change. None for cells.
    """

    rows: Table
    levels: Table | None = None

    def table(self) -> Table:
        """Return the levels or the cells."""
        return self.rows if self.levels is None else self.levels

    @checked
    def to_frame(self, style: FrameStyle = "llbt") -> pd.DataFrame:
        """Return one row per cell, or per level and object.

        Parameters
        ----------
        style : {"llbt", "broom"}
            The names of the columns: llbt's names, or those of R's package broom.
        """
        return self.rows.to_frame(style)


@checked
def influence(
    res: AnyFit | OneSource | ClassSource,
    *,
    by: str | None = None,
    at: At = "average",
    progress: bool = False,
) -> Influence:
    """Return the influence of single cells, or of each level of a covariate or cluster.

    Parameters
    ----------
    res : a fit, latent classes or a calibration
    by : str, optional
        A covariate or cluster, such as ``"judge"``: each of its levels is left out in turn, and the model is fitted
        again. By default the cells. For a fit with effects or classes of judges, the default is the judges; for
        rankings each list; for patterns each pattern; with discriminations each judgment.
    at : mapping or "average"
        Covariate values at which worths are compared, if the formula's worth has covariates.
    progress : bool
        Show a progress bar of the levels.

    Returns
    -------
    Influence
        By cell, ``to_frame()`` has the comparison, outcome, count, fitted, hat, residual (standardized Pearson) and
        cooks_distance of the explicit Poisson GLM, largest first. By level, it has the level, its judgments, object,
        estimate (log-worth from the whole table), without (log-worth without the level), change, largest (the level's
        largest change) and p_adjusted (the level against the rest, by Holm's method; see `level_tests`). The level with
        the largest change comes first. Values are NaN if nothing can be fitted without the level. The printout has one
        row per level, with the object that changes most. For latent classes there are rows for each class, with the
        columns class, share (of judges in the class) and share_without. With more than 10,000 objects, up to 1,000
        levels are left out, and each has rows for the 100 objects that change most.

    Raises
    ------
    OptionError
        For a `by` that the table does not have, and for an `at` that names `by`.

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
    plain = plain_of(res)
    if plain is None:
        return _by_unit(res, by, at, progress)
    return Influence(_by_cell(plain)) if by is None else _by_level(plain, by, at, progress)


def _by_cell(res: PlainEstimates) -> Table:
    fitted = res.fittedvalues
    frame = fitted.index.to_frame(index=False)
    h, residual = res.hat_diag.to_numpy(dtype=float), standardized_residuals(res)
    # a cell with leverage 1 is fitted exactly, so it has no residual and no distance
    with np.errstate(divide="ignore"):
        distance = residual**2 * h / (1 - h) / (len(res.comparisons) + res.n_params)
    order = np.argsort(-distance, kind="stable")  # cells without a distance come last
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


def _by_level(res: PlainEstimates, by: str, at: At, progress: bool) -> Influence:
    c = res.comparisons
    levels = levels_of(c, by)
    if isinstance(at, Mapping) and by in at:
        raise OptionError(
            f"at= names {by!r}, whose levels are left out", "Use at='average', or name other covariates in at=."
        )
    objects = c.objects
    log_worths = log_worths_at(res, at)[0]
    whole, reference = log_worths.estimate, log_worths.reference
    without = np.array([_without(res, by, level, levels, at) for level in shown("influence", levels, progress)])
    without -= without[:, [objects.index(reference)]]  # without a level another object may be the reference
    judgments = np.array([c.select(where={by: [level]}).n_judgments for level in levels], dtype=np.float64)
    p_adjusted = tests_of(res, by).p_adjusted if len(levels) > 1 else np.full(1, np.nan)
    notes = (
        f"Log-worths λ against {reference}.",
        Qualifying(f"NA: no finite estimate without this {by}."),
        *dependence_note(res, by),
    )
    return _influences(by, levels, (judgments, "judgments"), objects, whole, without, p_adjusted, notes)


def _by_unit(res: AnyFit | OneSource | ClassSource, by: str | None, at: At, progress: bool) -> Influence:
    """Return the influence of each unit (judge, list, pattern or judgment), for fits other than `LLBTResults`."""
    model = unit_model(res, by, "by")
    units = np.arange(len(model.counts))
    many = len(res.comparisons.objects) > _MANY
    most = _MOST_REFITS if not many else _MOST_LARGE
    if len(units) > most:
        raise OptionError(
            f"{format_count(len(units))} {model.unit}s to leave out in turn",
            "Name a cluster or covariate: by=.",
            expected=f"at most {format_count(most)}",
        )
    if isinstance(res, ClassWorthSource):
        worths = _class_worths(res, at)
    else:
        worths = _many_worths(res, at) if has_many_worths(res) else _worths_of(res, at)
    numbers = _COPIES * len(units) * float(len(model.estimates))
    refuse_large(
        f"the changes without each of {len(units):,} {model.unit}s", numbers, "Name a column of fewer levels: by=."
    )
    moved = np.full((len(units), len(model.estimates)), np.nan)
    for k in shown("influence", units.tolist(), progress):
        counts = model.counts.copy()
        counts[k] -= 1
        try:
            moved[k] = model.estimated(counts) - model.estimates
        except DesignError:
            continue
    notes = (
        f"Log-worths λ {worths.measured}.",
        Qualifying(
            f"NA: no finite estimate without this {model.unit}"
            + (f"; {worths.remedy}" if worths.remedy and np.isnan(moved).any() else "")
        ),
        *(() if model.labels is not None else (f"one copy of a repeated {model.unit} is left out",)),
    )
    without = worths.estimate + moved[:, : worths.rows.shape[1]] @ worths.rows.T
    beside = worths.beside(model.estimates, moved)
    sized = model.sizes, f"{model.each}s"
    return _influences(model.unit, model.titles(), sized, worths.objects, worths.estimate, without, None, notes, beside)


# an additional column: name, heading, values for each unit and log-worth (U, M), and their kind
_Column = tuple[str, str, npt.NDArray[Any], CellKind]


@dataclass(frozen=True, eq=False)
class _Worths:
    """M log-worths as linear combinations (M, q) of the first q parameters of a model of units."""

    objects: Sequence[Label]
    estimate: FloatArray
    rows: FloatArray | csr_array
    reference: Label | None
    shares: int = 0  # for K classes of judges; each class has M/K of the log-worths
    remedy: str = ""  # what to do to get estimates without a unit

    @property
    def measured(self) -> str:
        """The reference of the log-worths, in words."""
        return "from the mean of all objects" if self.reference is None else f"against {self.reference}"

    def beside(self, estimates: FloatArray, moved: FloatArray) -> list[_Column]:
        """Return the class of each log-worth, with its share with and without each unit; empty without classes."""
        if not self.shares:
            return []
        size, number = len(self.objects) // self.shares, len(moved)
        ratios = np.vstack([np.zeros(self.shares - 1), moved[:, len(estimates) + 1 - self.shares :]])
        ratios = np.column_stack([np.zeros(len(ratios)), ratios + estimates[len(estimates) + 1 - self.shares :]])
        shares = np.repeat(special.softmax(ratios, axis=1), size, axis=1)
        labels = np.tile(np.repeat(np.arange(1, self.shares + 1), size), (number, 1))
        return [
            ("class", "class", labels, "count"),
            ("share", "share", np.tile(shares[0], (number, 1)), "estimate"),
            ("share_without", "share without", shares[1:], "estimate"),
        ]


def _worths_of(res: WithWorths | WorthSource, at: At) -> _Worths:
    average = average_of(res)
    log_worths = log_worths_at(average, at)[0]
    return _Worths(
        average.comparisons.objects, log_worths.estimate, log_worths.rows[:, average.free], log_worths.reference
    )


def _many_worths(res: WithManyWorths, at: At) -> _Worths:
    check_plain(at, population=False)
    return _Worths(
        res.comparisons.objects,
        res.worths,
        eye_array(len(res.worths), format="csr"),
        None,
        remedy="fit(…, prior=0.1) gives one",
    )


def _class_worths(res: ClassWorthSource, at: At) -> _Worths:
    """Return the log-worths of all classes, one class after another."""
    each = res.class_worths().each
    classes = [log_worths_at(one, at)[0] for one in each]
    rows = block_diag(*(one.rows[:, of.free] for one, of in zip(classes, each, strict=True)))
    estimate = np.concatenate([one.estimate for one in classes])
    objects = [label for one in each for label in one.comparisons.objects]
    return _Worths(objects, estimate, rows, classes[0].reference, len(each))


def _influences(
    by: str,
    levels: Sequence[Any],
    sized: tuple[FloatArray, str],
    objects: Sequence[Any],
    whole: FloatArray,
    without: FloatArray,
    p_adjusted: FloatArray | None,
    notes: tuple[str, ...],
    beside: Sequence[_Column] = (),
) -> Influence:
    """Return the change of each log-worth without each level, given `whole` (J,) and `without` (levels, J)."""
    moved = np.abs(without - whole)
    moved[np.isnan(moved)] = np.inf  # without the level nothing can be fitted: the largest change of all
    moved[:, np.isnan(whole)] = 0.0  # nor with the level
    largest = moved.max(axis=1)
    order = np.argsort(-largest, kind="stable")
    names, (sizes, what) = [levels[k] for k in order], sized
    if len(objects) > _MANY:
        columns = np.argsort(-moved[order], axis=1, kind="stable")[:, :_MOVED]
        more = f"the {_MOVED} objects that change most: .to_frame()"
    else:
        columns = np.tile(np.arange(len(objects)), (len(levels), 1))
        more = "every object: .to_frame()"
    here, size = (order[:, None], columns), columns.shape[1]
    tested = [] if p_adjusted is None else [p_adjusted[order]]
    rows = Table(
        (
            Field(by, by, [name for name in names for _ in range(size)]),
            Field(what, what, np.repeat(sizes[order], size), "count"),
            *(Field(name, heading, values[here].ravel(), kind) for name, heading, values, kind in beside),
            Field("object", "object", [objects[k] for k in columns.ravel().tolist()]),
            Field("estimate", "estimate", whole[columns].ravel(), "estimate"),
            Field("without", "without", without[here].ravel(), "estimate"),
            Field("change", "change", (without - whole)[here].ravel(), "estimate"),
            Field("largest", "largest", np.repeat(largest[order], size), "estimate"),
            *(Field("p_adjusted", "p (Holm)", np.repeat(p, size), "p_value") for p in tested),
        ),
        title=f"Influence of each {by}: log-worths without it",
        notes=notes,
    )
    most = moved[order].argmax(axis=1)
    there = without[order, most]
    printed = Table(
        (
            Field(by, by, names),
            Field(what, what, sizes[order], "count"),
            *(Field(name, heading, values[order, most], kind) for name, heading, values, kind in beside),
            Field("object", "moves most", [objects[k] for k in most]),
            Field("estimate", "estimate", whole[most], "estimate"),
            Field("without", "without", there, "estimate"),
            Field("change", "change", there - whole[most], "estimate"),
            *(Field("p_adjusted", "p (Holm)", p, "p_value") for p in tested),
        ),
        title=f"Influence of each {by}: the log-worth that moves most without it",
        notes=(*notes, more),
    ).first(_MOST_LEVELS, how=".levels.to_frame()")
    return Influence(rows, printed)


def _without(
    res: PlainEstimates, by: str, level: Any, levels: list[Any], at: At
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the log-worths without a level, in the order of the table's objects; NaN where there are none."""
    c = res.comparisons
    log_worths = np.full(len(c.objects), np.nan)
    try:
        rest = c.select(where={by: [other for other in levels if other != level]})
        fitted = refit_table(res, rest)
        values = log_worths_at(fitted, at)[0].estimate
    except LLBTError:  # no judgments left, disconnected, separated, or the covariate has one level left
        return log_worths
    position = {o: k for k, o in enumerate(c.objects)}
    log_worths[[position[o] for o in fitted.comparisons.objects]] = values
    return log_worths
