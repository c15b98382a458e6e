"""Worths of several classes of judges: pairs adjusted over all classes, and probabilities of the mixture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg, special

from ..base.arguments import as_generator
from ..base.table import Field, Table, interval_fields
from ..core.columns import FloatArray
from ..core.statistics import adjust_p, ratio, two_sided_p
from ..errors import OptionError
from ..fitting.class_worths import ClassWorths
from .log_worths import LogWorths
from .margins import Adjust
from .pairwise_record import ADJUSTED
from .scales import DIFFERENCES, Scale, on_scale
from .simultaneous import largest, pair_errors


def mixture_worths(of: ClassWorths, log_worths: Sequence[LogWorths]) -> LogWorths:
    """Return half the log-odds of each object's mixture probability against an object of log-worth 0 in every class.

    Parameters
    ----------
    of : ClassWorths
    log_worths : sequence of LogWorths, length K
        The log-worths of each class, measured from the mean or an anchor.
    """
    chances = special.expit(2 * np.stack([one.estimate for one in log_worths]))  # (K, J)
    share = of.shares @ chances
    slopes = [2 * pi * (p * (1 - p))[:, None] * one.rows[:, res.free]
              for pi, p, one, res in zip(of.shares, chances, log_worths, of.each, strict=True)]  # fmt: skip
    slopes.append((of.share_slopes.T @ chances).T)
    gradient = np.hstack(slopes) / (2 * share * (1 - share))[:, None]
    none = np.zeros_like(log_worths[0].rows)
    return LogWorths(none, special.logit(share) / 2, gradient @ of.covariance @ gradient.T, log_worths[0].lost * 0.0)


def class_pairs(
    of: ClassWorths,
    log_worths: Sequence[LogWorths],
    tables: Table,
    scale: Scale,
    adjust: Adjust | None,
    confidence: float,
    rng: int | np.random.Generator | None,
) -> Table:
    """Return every pair of objects in every class, adjusted within the class and over all classes.

    Parameters
    ----------
    tables : Table
        The answers of the classes, one below another; their columns up to `p_adjusted` are kept.
    """
    if log_worths[0].beside is not None and scale != "log_worth":
        raise OptionError(
            f"scale={scale!r}, but the judgments of these classes do not have three outcomes",
            "Use log-worths: llbt.pairwise(classes, scale='log_worth').",
        )
    if log_worths[0].contexts is not None and scale == "probability":
        raise OptionError(
            f"scale='probability' over {log_worths[0].contexts.text}: latent classes have no mean probability here",
            "Use scale='log_odds', or predicted probabilities: classes.predict(at=…).",
        )
    size = len(log_worths[0].estimate)
    joint = _joint(of, log_worths)
    i, j = np.triu_indices(size, 1)
    pairs = np.concatenate([np.column_stack([i, j]) + k * size for k in range(len(log_worths))]).astype(np.int64)
    error = pair_errors(joint, pairs)
    apart = joint.estimate[pairs[:, 0]] - joint.estimate[pairs[:, 1]]
    z = ratio(apart, error)
    several = largest(joint, pairs, error, np.inf, as_generator(rng))
    p_value = two_sided_p(z, np.inf)
    over = several.p_value(z) if adjust == "single-step" else p_value if adjust is None else adjust_p(p_value, adjust)
    if adjust == "single-step":  # far in the tail the joint distribution is too inexact to be used alone
        over = np.fmax(over, next(f for f in tables.fields if f.name == "p_adjusted").values)
    reach = several.quantile(confidence)
    _, _, low, high = on_scale(scale, apart, error, reach)
    fields = [f for f in tables.fields if f.name not in ("conf_low", "conf_high")]
    return Table(
        (
            *fields,
            Field("p_over_classes", "all classes", over, "p_value"),
            *interval_fields(low, high, confidence),
        ),
        title=f"Pairwise comparisons: {DIFFERENCES[scale]}, by class of {of.judges}",
        notes=(
            *tables.notes,
            f"p-values: {ADJUSTED[adjust]}; adjusted over the pairs of the class, or of all classes",
            f"{100 * confidence:.4g} % intervals are simultaneous over all classes, |z| up to {reach:.4g}",
        ),
    )


def _joint(of: ClassWorths, log_worths: Sequence[LogWorths]) -> LogWorths:
    """Return the log-worths of all classes, one class after another, with their joint covariance."""
    rows = linalg.block_diag(*(one.rows[:, res.free] for one, res in zip(log_worths, of.each, strict=True)))
    cov = of.covariance[: rows.shape[1], : rows.shape[1]]
    lost: FloatArray = np.concatenate([one.lost for one in log_worths])
    with np.errstate(invalid="ignore"):
        cov = rows @ np.where(np.isnan(cov), 0.0, cov) @ rows.T
    unknown = [np.full(len(one.estimate), np.isnan(one.cov).all()) for one in log_worths]
    estimate = np.where(np.concatenate(unknown), np.nan, np.concatenate([one.estimate for one in log_worths]))
    return LogWorths(rows, estimate, cov, lost)
