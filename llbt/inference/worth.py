"""The worths of the objects, on any scale, wherever they are asked for."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy import special, stats

from ..columns import FloatArray
from ..errors import DesignError
from ..formulas.grid import At
from ..results import LLBTResults
from ..table import Field, Table
from .objects import LogWorths, worth_classes

Scale = Literal["probability", "log_worth", "log_odds", "odds_ratio", "elo"]

SCALES: dict[Scale, str] = {
    "probability": "worth π ∝ exp(2λ), summing to 1",
    "log_worth": "log-worth λ, less the reference's",
    "log_odds": "log-odds 2λ against the reference",
    "odds_ratio": "odds exp(2λ) against the reference",
    "elo": "Elo, 400·log10 of the odds, less the reference's",
}
FACTORS = {"log_worth": 1.0, "log_odds": 2.0, "odds_ratio": 2.0, "elo": 800 / np.log(10)}


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
    classes, shown, notes = worth_classes(res, at)
    z = float(stats.t.isf((1 - confidence) / 2, res.df_inference))
    blocks = [_on_scale(found, scale, z) for found in classes]
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


def _on_scale(found: LogWorths, scale: Scale, z: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return estimate, standard error and interval of the J objects of one class."""
    unknown = np.isnan(found.estimate)
    if scale == "probability":
        parts = _shares(found.estimate, found.cov, z)
    else:
        center, error = FACTORS[scale] * found.estimate, FACTORS[scale] * np.sqrt(np.diag(found.cov))
        parts = (center, error, center - z * error, center + z * error)
        if scale == "odds_ratio":
            parts = (np.exp(center), np.exp(center) * error, np.exp(parts[2]), np.exp(parts[3]))
    estimate, error, low, high = (np.where(unknown, np.nan, part) for part in parts)
    return estimate, error, low, high


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
