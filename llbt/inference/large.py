"""Worths, ranks and pairs of very many objects; covariances are computed only where they are needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from ..base.table import Field, Table
from ..core.columns import FloatArray, IntArray
from ..core.max_z import max_z
from ..core.statistics import adjust_p, ratio
from ..errors import OptionError
from ..fitting.protocols import WithManyWorths
from ..formulas.grid import At
from .margins import Adjust, together_against
from .pairwise_record import Pairwise
from .scales import LEVELS, Scale, measured_from, on_scale, typeset

_SAME = 1e-9  # log-worths closer than this count as equal


@dataclass(frozen=True, eq=False)
class Measured:
    """J objects on a scale.

    Attributes
    ----------
    estimate, error, low, high : ndarray, shape (J,)
    order : ndarray of int, shape (J,)
        Positions of the objects, the best first.
    notes : tuple of str
    """

    estimate: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray
    order: IntArray
    notes: tuple[str, ...]


def check_plain(at: At, population: bool) -> None:
    """Raise for classes and populations, because the log-worths of very many objects have no classes."""
    if at is not None and at != "average":
        raise OptionError(f"at={at!r}, but the log-worths do not differ by covariates", "Leave it out.")
    if population:
        raise OptionError(
            "population=True, but this fit has no judges drawn from a population",
            "Leave it out; effects of judges are fitted with up to 10,000 objects.",
        )


def large_measured(res: WithManyWorths, scale: Scale, confidence: float, anchor: int | None = None) -> Measured:
    """Return the objects on a scale with an interval for each, measured from the mean or from an object."""
    z = float(stats.norm.isf((1 - confidence) / 2))
    worths, variance = res.worths, res.variances.values
    order = np.argsort(-np.round(worths / _SAME), kind="stable")
    if scale == "probability":
        return Measured(*_shares(res, z), order, (res.error_note,))
    if anchor is not None:
        along = res.covariances(np.array([anchor]))[: len(worths), 0]
        variance = np.maximum(variance + along[anchor] - 2 * along, 0.0)
        variance[anchor] = 0.0
        worths = worths - worths[anchor]
    return Measured(*on_scale(scale, worths, np.sqrt(variance), z), order, (res.error_note,))


def _shares(res: WithManyWorths, z: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return worths π = softmax(2λ) with delta-method errors and logit intervals."""
    share = special.softmax(2 * res.worths)
    right = np.zeros((len(res.names), 1))
    right[: len(share), 0] = share - 1 / len(share)
    spread = res.information.solve(right, tolerance=1e-8).values[: len(share), 0]
    variance = res.variances.values - 2 * spread + share @ spread
    relative = 2 * np.sqrt(np.maximum(variance, 0))  # standard error of log π
    logit, half = special.logit(share), z * relative / (1 - share)
    return share, share * relative, special.expit(logit - half), special.expit(logit + half)


def large_worths(res: WithManyWorths, scale: Scale, confidence: float) -> Table:
    """Return the worth of every object, the best first; see `worth`."""
    measured = large_measured(res, scale, confidence)
    columns = {"std_error": measured.error, "conf_low": measured.low, "conf_high": measured.high}
    return Table(
        (
            Field("object", "object", [res.comparisons.objects[k] for k in measured.order]),
            Field("estimate", "estimate", measured.estimate[measured.order], "estimate", typeset=typeset(scale, False)),
            *(Field(name, name, column[measured.order], "estimate") for name, column in columns.items()),
        ),
        title=f"Worths: {LEVELS[scale]}{measured_from(scale, False)}",
        notes=(*measured.notes, f"{100 * confidence:.4g} % intervals"),
    ).first()


def rank_fields(res: WithManyWorths, confidence: float, order: IntArray) -> tuple[Field, ...]:
    """Return rank, rank_low and rank_high of the objects in a given order."""
    worths, size = res.worths, len(res.worths)
    reach = simultaneous(size, confidence) * np.sqrt(res.variances.values)
    low, high = np.sort(worths - reach), np.sort(worths + reach)
    rounded = np.round(worths / _SAME)
    columns = {
        "rank": 1 + size - np.searchsorted(np.sort(rounded), rounded, side="right"),
        "rank_low": 1 + size - np.searchsorted(low, worths + reach, side="right"),
        "rank_high": size - np.searchsorted(high, worths - reach, side="left"),
    }
    return tuple(Field(name, name, column[order], "count") for name, column in columns.items())


def simultaneous(size: int, confidence: float) -> float:
    """Return a bound for the half width, in standard errors, of simultaneous intervals of normal estimates.

    This is Šidák's bound (1967): whatever the correlation of the estimates, all intervals cover at least as often as
    with independent estimates.
    """
    return float(stats.norm.isf(-np.expm1(np.log(confidence) / size) / 2))


def large_pairs(
    res: WithManyWorths,
    objects: IntArray,
    rng: np.random.Generator,
    scale: Scale,
    adjust: Adjust | None,
    margin: float | None,
    confidence: float,
) -> Pairwise:
    """Return the comparisons of all pairs of some objects, from their exact covariance."""
    parts = [objects[k : k + 8] for k in range(0, len(objects), 8)]
    cov = np.concatenate([res.covariances(part)[objects] for part in parts], axis=1)
    cov = (cov + cov.T) / 2
    i, j = np.triu_indices(len(objects), 1)
    error = np.sqrt(np.maximum(cov[i, i] + cov[j, j] - 2 * cov[i, j], 0))
    worths = res.worths[objects]
    apart, normal = worths[i] - worths[j], np.full(len(i), np.inf)
    statistic = ratio(apart, error)
    p_value = 2 * stats.norm.sf(np.abs(statistic))
    errors = np.full(cov.shape, np.inf)
    errors[i, j] = errors[j, i] = error
    largest = max_z(errors, cov, np.inf, rng)
    if adjust is None:
        adjusted = p_value
    else:
        adjusted = largest.p_value(statistic) if adjust == "single-step" else adjust_p(p_value, adjust)
    critical = largest.quantile(confidence)
    labels, against = res.comparisons.objects, None
    if margin is not None:
        against = together_against(margin, scale, apart, error, normal, confidence, largest, adjust)
    return Pairwise(
        tuple(labels[k] for k in objects),
        np.column_stack([i, j]).astype(np.int64),
        worths,
        error,
        p_value,
        adjusted,
        critical,
        np.full(len(i), critical),
        np.inf,
        scale,
        adjust,
        confidence,
        ("log-worths are measured from the mean of all objects of the fit; standard errors are exact",),
        margin=against,
    )
