"""How well fits of any kind predict unseen units: the log-loss over folds of units."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base.table import Field, Table, counted
from ..core.columns import FloatArray
from ..errors import DesignError, OptionError, listed
from ..fitting.fitted import ClassWorthSource, TreeSource, WorthSource
from ..resampling import Resampler
from .kinds import units_to_predict
from .pair_units import JUDGMENT
from .unit_models import DependentUnits, IndependentUnits, folds_of

_Units = IndependentUnits | DependentUnits


def held_out_units(fits: Sequence[Any], by: str | None, folds: int, draw: Resampler) -> Table:
    """Return the scores of fits of one table, one row each; see `held_out`."""
    models = _models(fits, by)
    parts = folds_of(models[0], folds, draw.rng)
    by_fold = draw.each([partial(_predicted, models, part) for part in parts])
    held = np.stack(parts)  # (folds, U)
    losses = [-np.stack([fold[m][0] for fold in by_fold]) for m in range(len(fits))]
    shrunk = [sum(fold[m][1] for fold in by_fold) for m in range(len(fits))]
    return _scores(fits, models, held, losses, shrunk)


def _models(fits: Sequence[Any], by: str | None) -> list[_Units]:
    """Return the fits as models of the same units."""
    models = [units_to_predict(fit, by) for fit in fits]
    for k, fit in enumerate(fits):
        why = _difference(fits[0], fit)
        if why:
            raise DesignError(f"m0 and m{k} are fits of different data: {why}", "Fit both to the same data.")
        if getattr(fit.specification, "prior", None) == "jeffreys":
            raise OptionError("a fit by Firth's bias reduction", "Fit without prior='jeffreys'.")
    units = [unit for unit in dict.fromkeys(model.unit for model in models) if unit != JUDGMENT]
    if len(units) > 1:
        raise OptionError(f"the fits are of different units ({listed(units)})", f"Name the unit: by={units[0]!r}.")
    # a unit that is a single judgment for one fit must be so for all
    if units and any(model.unit == JUDGMENT for model in models):
        models = [units_to_predict(fit, units[0]) for fit in fits]
    first = models[0]
    for k, model in enumerate(models):
        same = model.labels == first.labels and np.array_equal(model.counts, first.counts)
        if not same or not np.allclose(model.sizes, first.sizes):
            raise DesignError(f"m0 and m{k} are fits of tables split in different ways", "Fit both to the same table.")
    return models


def _difference(first: Any, second: Any) -> str | None:
    """Return why the log-probabilities of two fits cannot be compared; calibrations need the same units."""
    calibrated = [isinstance(fit, WorthSource) for fit in (first, second)]
    if all(calibrated):
        return None
    if any(calibrated):
        return "calibrated worths predict labels, other fits predict judgments"
    why: str | None = first.basis.difference(second.basis)
    return why


def _predicted(
    models: Sequence[_Units], held: FloatArray, rng: np.random.Generator
) -> list[tuple[FloatArray, bool]]:  # the folds are drawn beforehand, so the generator is not used
    """Return log P of each unit (U,) by each model, fitted without a fold, and whether a prior was needed."""
    scores = []
    for model in models:
        rest = model.counts - held
        try:
            params, shrunk = model.estimated(rest), False
        except DesignError:
            params, shrunk = model.shrunk(rest), True
        if isinstance(model, DependentUnits):
            scores.append((model.log_scores_given(params, rest), shrunk))
        else:
            scores.append((model.log_scores(params), shrunk))
    return scores


def _scores(
    fits: Sequence[Any], models: Sequence[_Units], held: FloatArray, losses: Sequence[FloatArray], shrunk: Sequence[int]
) -> Table:
    model = models[0]
    loss = np.array([_mean(held, values, model.sizes) for values in losses])
    delta = np.array([_mean(held, values - losses[0], model.sizes) for values in losses])
    delta[0] = np.nan
    names = names_of(fits)
    what, folds, whole = model.each, len(held), model.labels is not None
    total = float((held * model.sizes).sum())
    notes = [
        f"log-loss: −Σ log p / N of {counted(total, what)}"
        + ("" if what in ("judgment", "label") else ", each predicted whole")
    ]
    notes.append(
        f"standard errors: over {counted(len(model.counts), 'level')} of {model.unit}, each in one fold"
        if whole
        else f"standard errors take {what}s as independent; by= holds out levels of a cluster"
    )
    if any(isinstance(one, DependentUnits) for one in models):
        notes.append("fits with effects or classes also use other judgments by a level's judges or on its prompts")
    notes += [
        f"{name}: {counted(number, 'fold')} of {folds} without finite estimates: predicted with prior=1"
        for name, number in zip(names, shrunk, strict=True)
        if number
    ]
    several = [
        Field("delta_log_loss", "Delta log-loss", delta[:, 0], "estimate"),
        Field("delta_error", "Std. Error", delta[:, 1], "estimate"),
    ]
    return Table(
        (
            Field("model", "", names),
            Field("log_loss", "log-loss", loss[:, 0], "estimate"),
            Field("std_error", "Std. Error", loss[:, 1], "estimate"),
            *(several if len(fits) > 1 else ()),
            Field("prior_folds", "folds by prior", list(shrunk), "count"),
        ),
        title=f"Held-out {what}s: {folds} folds by {model.unit}",
        notes=tuple(notes),
    )


def _mean(held: FloatArray, values: FloatArray, sizes: FloatArray) -> tuple[float, float]:
    """Return the mean of units' values (folds, U) over all observations, and its standard error."""
    there = held > 0
    n, units = float((held * sizes).sum()), float(held.sum())
    mean = float((held * np.where(there, values, 0.0)).sum() / n)
    away = np.where(there, values - sizes * mean, 0.0)
    return mean, float(np.sqrt(units / (units - 1) * (held * away**2).sum()) / n)


def names_of(fits: Sequence[Any]) -> list[str]:
    """Return the formulas with links, discriminations and numbers of classes; equal ones are numbered."""
    specs = [fit.specification for fit in fits]
    links = [getattr(spec, "link", "") for spec in specs]
    judged = [getattr(spec, "discrimination", None) for spec in specs]
    classes = [fit.class_worths().shares if isinstance(fit, ClassWorthSource) else () for fit in fits]
    trees = [isinstance(fit, TreeSource) for fit in fits]
    plain = [
        spec.formula
        + (f" ({link})" if len(set(links)) > 1 and link else "")
        + (f" (discrimination of each {judge})" if judge else "")
        + (f" ({counted(len(shares), 'class').replace('classs', 'classes')})" if len(shares) else "")
        + (" (tree)" if tree else "")
        for spec, link, judge, shares, tree in zip(specs, links, judged, classes, trees, strict=True)
    ]
    return [name if plain.count(name) == 1 else f"m{k}: {name}" for k, name in enumerate(plain)]
