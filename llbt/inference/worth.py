"""The worths of the objects, on any scale, wherever they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from ..columns import FloatArray, groups
from ..errors import DesignError
from ..formulas.coding import Codings, column_values
from ..formulas.grid import At, covariate_grid, rows_at
from ..prediction import codings_of, undetermined
from ..results import LLBTResults
from ..table import Field, Table

Scale = Literal["probability", "log_worth", "log_odds", "odds_ratio", "elo"]

SCALES: dict[Scale, str] = {
    "probability": "worth π ∝ exp(2λ), summing to 1",
    "log_worth": "log-worth λ, less the reference's",
    "log_odds": "log-odds 2λ against the reference",
    "odds_ratio": "odds exp(2λ) against the reference",
    "elo": "Elo, 400·log10 of the odds, less the reference's",
}
_FACTORS = {"log_worth": 1.0, "log_odds": 2.0, "odds_ratio": 2.0, "elo": 800 / np.log(10)}


def worth(res: LLBTResults, at: At = None, scale: Scale = "probability", *, confidence: float = 0.95) -> Table:
    """Return the worth of every object with its standard error and interval.

    Parameters
    ----------
    res : LLBTResults
    at : mapping or "average", optional
        Covariate values, such as ``{"judge": "J3", "age": [20, 40]}``; by default every class of the labels that the
        worth uses, and numbers at their mean. ``"average"`` averages the log-worths over the judgments of the table.
    scale : {"probability", "log_worth", "log_odds", "odds_ratio", "elo"}
        Worths π that sum to 1 in each class; or log-worth, log-odds, odds and Elo against the reference object.
    confidence : float

    Returns
    -------
    Table
        Covariates, object, estimate, std_error, conf_low, conf_high; one row per class and object, the best first.
        Standard errors by the delta method; intervals are Wald's on the logit scale for probabilities and on the log
        scale for odds, so that they stay in range. NaN where the table does not determine the worth.

    Raises
    ------
    DesignError
        For an unknown scale, a formula without worths, and names in `at` that are not in the worth.

    References
    ----------
    Hatzinger, R. & Dittrich, R. (2012). prefmod: an R package for modeling preferences based on paired comparisons,
    rankings, or ratings. Journal of Statistical Software 48(10).

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> llbt.worth(res).to_frame()[["object", "estimate"]].round(3).values.tolist()
    [['A', 0.658], ['D', 0.295], ['B', 0.033], ['C', 0.013]]
    """
    if scale not in get_args(Scale):
        raise DesignError(f"worth: scale={scale!r} is not known; it may be {', '.join(map(repr, get_args(Scale)))}.")
    if "worth" not in res.design.blocks:
        raise DesignError(f"worth: the formula {res.specification.formula!r} has no term for the worths; add object.")
    classes, shown, notes = _classes(res, at)
    blocks = [_on_scale(res, rows, scale, confidence) for rows in classes]
    order = [np.argsort(-np.where(np.isnan(b[0]), -np.inf, b[0]), kind="stable") for b in blocks]
    labels = res.comparisons.objects
    fields = [Field(name, name, [v for v in column for _ in labels]) for name, column in shown.items()]
    estimate, error, low, high = (
        np.concatenate([b[k][o] for b, o in zip(blocks, order, strict=True)]) for k in range(4)
    )
    return Table(
        (
            *fields,
            Field("object", "object", [labels[k] for o in order for k in o]),
            Field("estimate", "estimate", estimate, "estimate"),
            Field("std_error", "std_error", error, "estimate"),
            Field("conf_low", "conf_low", low, "estimate"),
            Field("conf_high", "conf_high", high, "estimate"),
        ),
        title=f"Worths: {SCALES[scale]}",
        notes=(*notes, f"{100 * confidence:.4g} % intervals; reference {res.design.reference}"),
    )


def _classes(res: LLBTResults, at: At) -> tuple[list[FloatArray], dict[str, list[Any]], tuple[str, ...]]:
    """Return the rows of all objects (J × p) in each class, the covariates of each class, and notes."""
    codings = codings_of(res)
    size = len(res.comparisons.objects)
    every = np.arange(size)
    if isinstance(at, str) and at != "average":
        raise DesignError(f"worth: at={at!r}; it is 'average' or a mapping such as {{'judge': 'J3'}}.")
    if at == "average":
        values, weights = _judged_values(codings)
        rows = sum(
            w * rows_at(codings, "worth", every, {name: np.repeat(v[k], size) for name, v in values.items()}).toarray()
            for k, w in enumerate(weights)
        )
        note = ("log-worths averaged over the judgments of the table",) if values else ()
        return [np.asarray(rows)], {}, note
    grid = covariate_grid(codings, ("worth",), at if isinstance(at, Mapping) else None)
    classes = [
        rows_at(codings, "worth", every, {name: np.repeat(v[k], size) for name, v in grid.values.items()}).toarray()
        for k in range(grid.size)
    ]
    return classes, grid.shown, grid.notes


def _judged_values(codings: Codings) -> tuple[dict[str, npt.NDArray[Any]], FloatArray]:
    """Return the distinct covariate values of the worth and the share of the judgments made at each."""
    table = codings.table
    names = [
        name
        for name in codings.blocks["worth"].variables
        if table.variables[name].role in ("covariate", "side covariate")
    ]
    if not names:
        return {}, np.ones(1)
    codes = {name: np.concatenate([table.codes(name, 0), table.codes(name, 1)]) for name in names}
    first, group = groups(list(codes.values()))
    weights = np.bincount(group, weights=np.tile(table.comparisons.totals, 2))
    values = {name: column_values(table.columns[name], codes[name][first]) for name in names}
    return values, weights / weights.sum()


def _on_scale(
    res: LLBTResults, rows: FloatArray, scale: Scale, confidence: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return estimate, standard error and interval of the J objects of one class."""
    from scipy.sparse import csr_array

    against = rows - rows[res.comparisons.objects.index(res.design.reference)]
    log_worth = against @ np.asarray(res.params.fillna(0.0), dtype=float)
    cov = against @ np.asarray(res.cov_params().fillna(0.0), dtype=float) @ against.T
    unknown = undetermined(res, csr_array(against))
    log_worth[unknown] = np.nan
    z = float(stats.norm.isf((1 - confidence) / 2))
    if scale == "probability":
        found = _shares(log_worth, cov, z)
    else:
        center, error = _FACTORS[scale] * log_worth, _FACTORS[scale] * np.sqrt(np.diag(cov))
        found = (center, error, center - z * error, center + z * error)
        if scale == "odds_ratio":
            found = (np.exp(center), np.exp(center) * error, np.exp(found[2]), np.exp(found[3]))
    return tuple(np.where(unknown, np.nan, part) for part in found)  # type: ignore[return-value]


def _shares(log_worth: FloatArray, cov: FloatArray, z: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return worths π = softmax(2λ) with delta-method errors and logit intervals."""
    share = special.softmax(np.where(np.isnan(log_worth), -np.inf, 2 * log_worth))
    spread = cov @ share
    variance = np.diag(cov) - 2 * spread + share @ spread
    relative = 2 * np.sqrt(np.maximum(variance, 0))  # standard error of log π
    with np.errstate(divide="ignore", invalid="ignore"):
        logit = special.logit(share)
        half = z * relative / (1 - share)
    return share, share * relative, special.expit(logit - half), special.expit(logit + half)
