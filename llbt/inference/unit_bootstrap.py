"""The bootstrap of a fit by its units, for any kind of fit: resampled units, or new data from the fit."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..base.budgets import refuse_draws
from ..core.columns import FloatArray
from ..errors import DesignError, OptionError
from ..fitting.fitted import ClassSource, ClassWorthSource, OneSource, WithWorths, WorthSource, average_of
from ..resampling import Resampler, drawn_weights
from .bootstrap_record import Bootstrap
from .kinds import estimates_of, refit_data, unit_model
from .simulation import simulate
from .unit_influences import Statistic, statistic_in, values_at
from .unit_models import UnitModel

Bootstrapped = WithWorths | OneSource | ClassSource
MODEL = "parametric"
_AT_ONCE = 20  # resamples in a block; each is fitted by itself, so that the progress bar moves


def bootstrapped_units(
    res: Bootstrapped,
    statistic: Statistic | None,
    resample: str | None,
    n: int,
    draw: Resampler,
    default: Statistic | None = None,
) -> Bootstrap:
    """Return the bootstrap of a fit; see `bootstrap`. By default it covers all estimates, not only worths.

    Kinds of fit whose estimates do not maximize the likelihood of the units have another `default`.
    """
    asked = statistic or default
    model = None if resample == MODEL else unit_model(res, resample, "resample")
    if model is not None and np.any(model.counts % 1 > 0):
        raise DesignError(
            f"some counts of {model.unit}s are not whole numbers", "Pass resample= with a cluster to resample."
        )
    if asked is not None:
        names, estimate = values_at(res, asked)
    else:
        names, estimate = _estimates(res, model or unit_model(res, None, "resample"))
    refuse_draws("the table of estimates of {n} resamples", n, 2.0 * len(estimate))
    task = (
        partial(_of_model, _with_model(res), asked, names)
        if model is None
        else partial(_of_units, res, model, asked, names)
    )
    size = len(res.comparisons) if model is None else len(model.counts)
    replicates = np.concatenate(draw.blocks(task, n, max(size, len(estimate)), _AT_ONCE))
    return Bootstrap(res, tuple(names), estimate, replicates, MODEL if model is None else model.unit, statistic)


def _with_model(res: Bootstrapped) -> WithWorths | ClassSource:
    """Return a fit; raise for calibrated worths, which have no likelihood to draw new judgments from."""
    if isinstance(res, WorthSource):
        raise OptionError(
            "resample='parametric' draws from a likelihood, and calibrated worths have none",
            "Leave out resample=, to resample units.",
        )
    return res


def _estimates(res: Bootstrapped, model: UnitModel) -> tuple[tuple[str, ...], FloatArray]:
    """Return all parameters, including aliased and held ones, then those that are not in the design."""
    if isinstance(res, ClassWorthSource):
        return model.names, model.estimates
    average = average_of(res)
    beside = len(average.free)
    return (*average.names, *model.names[beside:]), _placed(res, model.estimates)


def _placed(res: Bootstrapped, estimates: FloatArray) -> FloatArray:
    """Return estimates (…, p) in their places among all parameters."""
    if isinstance(res, ClassWorthSource):  # a class has no aliased or held parameters
        return estimates
    average = average_of(res)
    beside = len(average.free)
    held = average.params.to_numpy(dtype=np.float64)
    own = np.broadcast_to(held, (*estimates.shape[:-1], len(held))).copy()
    own[..., average.free] = estimates[..., :beside]
    return np.concatenate([own, estimates[..., beside:]], axis=-1)


def _of_units(
    res: Bootstrapped,
    model: UnitModel,
    statistic: Statistic | None,
    names: tuple[str, ...],
    n: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the values in n resamples of units, shape (n, k); NaN if there is no finite estimate."""
    replicates = np.full((n, len(model.estimates if statistic is None else names)), np.nan)
    for row, counts in zip(replicates, drawn_units(model, n, rng), strict=True):
        try:
            if statistic is None:
                row[:] = model.estimated(counts)
                continue
            values = statistic_in(model.refitted(counts), statistic, names, "a resample")
        except DesignError:
            continue
        if values is not None:
            row[:] = values
    return _placed(res, replicates) if statistic is None else replicates


def drawn_units(model: UnitModel, n: int, rng: np.random.Generator) -> FloatArray:
    """Return how often each unit is in n resamples with as many units as the data, shape (n, U)."""
    if model.labels is not None:
        return drawn_weights(len(model.counts), n, rng)
    total = int(model.counts.sum())
    return rng.multinomial(total, model.counts / model.counts.sum(), size=n).astype(np.float64)


def _of_model(
    res: WithWorths | ClassSource, statistic: Statistic | None, names: tuple[str, ...], n: int, rng: np.random.Generator
) -> FloatArray:
    """Return the values in n tables drawn from a fit, shape (n, k); NaN if there is no finite estimate."""
    replicates = np.full((n, len(names)), np.nan)
    for row, data in zip(replicates, simulate(res, n, rng=rng), strict=True):
        try:
            if statistic is None:
                row[:] = _placed(res, estimates_of(res, data))
                continue
            values = statistic_in(refit_data(res, data), statistic, names, "a resample")
        except DesignError:
            continue
        if values is not None:
            row[:] = values
    return replicates
