"""The scales on which log-worths are reported, and their intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy import special

from ..base.table import Field, Table, format_count
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..core.statistics import critical_values
from ..fitting.estimates import Estimates
from ..kernel.robust import LOST
from .contexts import Contexts
from .log_worths import LogWorths

Scale = Literal["probability", "log_worth", "log_odds", "odds_ratio", "elo"]

SCALES: dict[Scale, str] = {
    "probability": "worth π ∝ exp(2λ), summing to 1",
    "log_worth": "log-worth λ, relative to the reference",
    "log_odds": "log-odds 2λ against the reference",
    "odds_ratio": "odds exp(2λ) against the reference",
    "elo": "Elo, 400·log10 of the odds, relative to the reference",
}
PREFERRED: dict[Scale, str] = {  # names for graded judgments
    "log_odds": "log-odds of being preferred, given a decision",
    "odds_ratio": "odds of being preferred, given a decision",
    "elo": "Elo, 400·log10 of the odds of being preferred, given a decision",
    "probability": "probability of being preferred, given a decision",
}
OF_MEAN = ", against an object of mean log-worth"
FACTORS = {"log_worth": 1.0, "log_odds": 2.0, "odds_ratio": 2.0, "elo": 800 / np.log(10)}
DIFFERENCES: dict[Scale, str] = {
    "log_worth": "differences of log-worths, λᵢ − λⱼ",
    "log_odds": "log-odds of i over j, 2(λᵢ − λⱼ)",
    "odds_ratio": "odds of i over j, exp(2(λᵢ − λⱼ))",
    "probability": "probability that i beats j, given a decision",
    "elo": "differences of Elo, 400·log10 of the odds of i over j, given a decision",
}
LEVELS: dict[Scale, str] = {
    "log_worth": "log-worth λ",
    "log_odds": "log-odds 2λ",
    "odds_ratio": "odds exp(2λ)",
    "elo": "Elo, 400·log10 of the odds",
    "probability": SCALES["probability"],
}
CONTRASTS: dict[Scale, str] = {
    "log_worth": "log-worths, Σwλ",
    "log_odds": "log-odds, 2Σwλ",
    "odds_ratio": "odds, exp(2Σwλ)",
    "probability": "probability of a win given a decision, at odds exp(2Σwλ)",
    "elo": "Elo, 400·log10 of the odds exp(2Σwλ) of a win given a decision",
}


_TYPESET: dict[Scale, str] = {  # headings in LaTeX
    "log_worth": r"$\hat\lambda$",
    "log_odds": r"$2\hat\lambda$",
    "odds_ratio": r"$\exp(2\hat\lambda)$",
    "elo": "Elo",
    "probability": r"$\hat\pi$",
}


def typeset(scale: Scale, graded: bool) -> str:
    """Return the LaTeX heading of an object's estimate; for graded judgments it is no function of λ alone."""
    return "" if graded and scale != "log_worth" else _TYPESET[scale]


def scale_text(scale: Scale, names: dict[Scale, str], graded: bool, against: str = "") -> str:
    """Return the meaning of a scale: its name for three outcomes, or its zero for graded judgments."""
    return PREFERRED[scale] + against if graded and scale != "log_worth" else names[scale]


def on_scale(
    scale: Scale, difference: FloatArray, error: FloatArray, z: float | FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return estimate, standard error and interval ± z of differences of log-worths, shape (m,) each."""
    factor = FACTORS.get(scale, 2.0)
    center, spread = factor * difference, factor * error
    low, high = center - z * spread, center + z * spread
    with np.errstate(over="ignore"):
        if scale == "odds_ratio":
            return np.exp(center), np.exp(center) * spread, np.exp(low), np.exp(high)
        if scale == "probability":
            share = special.expit(center)
            return share, share * special.expit(-center) * spread, special.expit(low), special.expit(high)
    return center, spread, low, high


def measured_from(scale: Scale, graded: bool, label: Label | None = None, value: float | None = None) -> str:
    """Return the zero of log-worths, odds or Elo in words: their mean, or an object with a given value."""
    if graded and scale != "log_worth" and label is None:
        return OF_MEAN
    if not graded and scale == "probability":
        return ""
    if label is None:
        return ", geometric mean 1" if scale == "odds_ratio" else ", mean 0"
    if value is not None:
        return f", {label} = {format_count(value)}"
    return f", against {label}" if graded and scale != "log_worth" else f" against {label}"


def elo_notes(c: Comparisons, scale: Scale, graded: bool) -> tuple[str, ...]:
    """Return a note on Elo's odds if there are ties; ratings updated game by game count a tie as half a win."""
    if scale != "elo" or graded or not c.has_ties or not c.n_ties:
        return ()
    return (
        "Elo of decided judgments: odds of a win against a loss, ties aside",
        "With ties as half wins, differences are smaller: fit c.split_ties() without tie",
    )


def in_points(board: Table, confidence: float) -> Table:
    """Return an Elo board that prints whole points, and ± for symmetric intervals; frames keep all digits."""
    bounds = ("conf_low", "conf_high")
    fields = tuple(replace(f, decimals=0) if f.name in ("estimate", *bounds) else f for f in board.fields)
    whole = replace(board, fields=fields)
    estimate, low, high = (np.asarray(board.to_frame()[name], dtype=float) for name in ("estimate", *bounds))
    if not np.allclose(high - estimate, estimate - low, rtol=1e-6, atol=1e-6, equal_nan=True):
        return whole
    half = Field("", f"± ({100 * confidence:.4g} %)", (high - low) / 2, "estimate", decimals=0)
    shown = tuple(half if f.name == bounds[0] else f for f in fields if f.name != bounds[1])
    return replace(whole, printed=replace(whole, fields=shown))


def level_on_scale(scale: Scale, log_worth: FloatArray) -> FloatArray:
    """Return the J objects on a scale, (J,); worths sum to 1 over the objects with a log-worth."""
    if scale != "probability":
        center = FACTORS[scale] * log_worth
        return np.asarray(np.exp(center) if scale == "odds_ratio" else center)
    unknown = np.isnan(log_worth)
    if np.sum(~unknown) < 2:  # an object that is compared with no other object has no share
        return np.full(len(log_worth), np.nan)
    return np.where(unknown, np.nan, special.softmax(np.where(unknown, -np.inf, 2 * log_worth)))


def critical_for(res: Estimates, log_worths: LogWorths, scale: Scale, confidence: float) -> FloatArray:
    """Return the half width, in standard errors, of the intervals of log-worths or worths, shape (J,)."""
    rows = log_worths.rows
    if scale == "probability" and log_worths.beside is None:
        rows = rows - special.softmax(np.where(np.isnan(log_worths.estimate), -np.inf, 2 * log_worths.estimate)) @ rows
    return critical_values(confidence, res.worth_df_of(rows))


def worths_on_scale(
    log_worths: LogWorths, scale: Scale, z: float | FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return estimate, standard error and interval ± z of the J objects of one class, each (J,).

    For graded judgments these describe being preferred to an object with log-worth 0, given a decision. Values are NaN
    if the table does not determine a log-worth; worths sum to 1 over the other objects. Errors and intervals are NaN if
    only one cluster informs an object; for worths, if this is true for any object.
    """
    unknown, open_ = np.isnan(log_worths.estimate), log_worths.unknown | np.isnan(z)
    if log_worths.beside is not None and scale != "log_worth":
        error = np.sqrt(np.maximum(np.diag(log_worths.cov), 0))
        parts = on_scale(scale, *log_worths.beside.log_odds(log_worths.estimate, error, log_worths.beside.cross), z)
    elif scale == "probability":
        if np.sum(~unknown) < 2:  # an object that is compared with no other object has no share
            unknown = np.ones_like(unknown)
        parts = (
            _shares(log_worths.estimate, log_worths.cov, z)
            if log_worths.contexts is None
            else _mean_shares(log_worths.contexts, z)
        )
        open_ = np.isnan(z) | bool(np.any(np.ptp(log_worths.lost[~unknown], axis=0) > LOST))
    else:
        center, error = (
            FACTORS[scale] * log_worths.estimate,
            FACTORS[scale] * np.sqrt(np.maximum(np.diag(log_worths.cov), 0)),
        )
        parts = (center, error, center - z * error, center + z * error)
        if scale == "odds_ratio":
            parts = (np.exp(center), np.exp(center) * error, np.exp(parts[2]), np.exp(parts[3]))
    estimate = np.where(unknown, np.nan, parts[0])
    error, low, high = (np.where(unknown | open_, np.nan, part) for part in parts[1:])
    return estimate, error, low, high


def _mean_shares(contexts: Contexts, z: float | FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return worths averaged over contexts with delta-method errors and logit intervals."""
    share, error = contexts.worths()
    with np.errstate(divide="ignore", invalid="ignore"):
        logit = special.logit(share)
        half = z * error / (share * (1 - share))
    return share, error, special.expit(logit - half), special.expit(logit + half)


def _shares(
    log_worth: FloatArray, cov: FloatArray, z: float | FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return worths π = softmax(2λ) with delta-method errors and logit intervals."""
    share = special.softmax(np.where(np.isnan(log_worth), -np.inf, 2 * log_worth))
    spread = cov @ share
    variance = np.diag(cov) - 2 * spread + share @ spread
    relative = 2 * np.sqrt(np.maximum(variance, 0))  # standard error of log π
    with np.errstate(divide="ignore", invalid="ignore"):
        logit = special.logit(share)
        half = z * relative / (1 - share)
    return share, share * relative, special.expit(logit - half), special.expit(logit + half)
