"""How well a model of lists predicts lists that it has not seen: the log-loss over folds of lists or of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray, IntArray
from ..core.rankings import Rankings
from ..errors import DesignError, OptionError, listed
from ..fitting.ranking_lists import Ghost, without_column
from ..fitting.ranking_results import RankingResults
from ..kernel.list_fit import Unbounded, fit_lists
from ..resampling import Resampler
from ..table import Field, Table, counted
from .answers_anova import same_answers
from .list_tables import LISTS, levels_of_lists

_WEAK = 1.0  # wins and losses of each object against one that nobody judged


def held_out_lists(fits: Sequence[RankingResults], by: str | None, folds: int, draw: Resampler) -> Table:
    """Return the scores of models of lists, a row each; see `held_out`."""
    _check(fits)
    r = fits[0].rankings
    clusters = list(dict.fromkeys(fit.specification.groups for fit in fits if fit.specification.groups))
    if by is None and len(clusters) > 1:
        raise OptionError(f"the fits are clustered by {listed(clusters)}", "Say which: by=.")
    unit = by or (clusters[0] if clusters else LISTS)
    codes = None if unit == LISTS else levels_of_lists(r, unit, "by")
    parts = _parts(r, codes, folds, draw.rng)
    found = draw.each([partial(_predicted, fits, part) for part in parts])
    held = np.concatenate(parts)
    losses = [-np.concatenate([fold[m][0] for fold in found]) for m in range(len(fits))]
    shrunk = [sum(fold[m][1] for fold in found) for m in range(len(fits))]
    levels = None if codes is None else np.tile(codes, len(parts))
    return _scores(fits, held, losses, shrunk, levels, unit, len(parts))


def _check(fits: Sequence[RankingResults]) -> None:
    for k, fit in enumerate(fits):
        if not same_answers(fits[0], fit):
            raise DesignError(f"m0 and m{k} are fits of different lists", "Fit both to the same ones.")
        if fit.specification.prior == "jeffreys":
            raise OptionError("a fit by Firth's bias reduction", "Fit without prior='jeffreys'.")


def _parts(r: Rankings, codes: IntArray | None, folds: int, rng: np.random.Generator) -> list[FloatArray]:
    """Return the counts of the lists (L,) in each fold: folds of equal size, of lists or of the levels of a cluster."""
    size = int(r.counts.sum()) if codes is None else int(codes.max()) + 1
    if folds > size:
        what = "list" if codes is None else "level"
        raise OptionError(f"folds={folds} of {counted(size, what)}", f"Ask for folds={size} or fewer.")
    if codes is not None:
        fold = (rng.permutation(size) % folds)[codes]
        return [np.where(fold == k, r.counts, 0.0) for k in range(folds)]
    if np.any(r.counts % 1 > 0):
        raise DesignError("the counts of the lists are not whole", "Hold out levels of a cluster: by=.")
    each = np.repeat(np.arange(len(r)), r.counts.astype(np.int64))
    fold = rng.permutation(size) % folds
    return [np.bincount(each[fold == k], minlength=len(r)).astype(np.float64) for k in range(folds)]


def _predicted(
    fits: Sequence[RankingResults], held: FloatArray, rng: np.random.Generator
) -> list[tuple[FloatArray, bool]]:  # the generator is nobody's: folds are drawn before
    """Return log P of each list (L,) by each model, fitted without those of a fold; whether that needed a prior."""
    found = []
    for fit in fits:
        params, shrunk = _without(fit, fit.rankings.counts - held)
        found.append((fit.lists.each(params)[0], shrunk))
    return found


def _without(fit: RankingResults, counts: FloatArray) -> tuple[FloatArray, bool]:
    """Return the estimates of the lists with other counts, and whether they needed a prior that the fit has not."""
    lists, own = replace(fit.lists, counts=counts), fit.specification.prior
    if isinstance(own, (int, float)):
        return _by_prior(fit, counts, float(own)), False
    try:
        again = fit_lists(lists, fit.solution.params)
        if again.converged:
            return again.params, False
    except (Unbounded, linalg.LinAlgError):
        pass
    return _by_prior(fit, counts, _WEAK), True


def _by_prior(fit: RankingResults, counts: FloatArray, judgments: float) -> FloatArray:
    """Return the estimates with so many wins and losses of each object against one that nobody judged."""
    joined = Ghost(judgments).joined(replace(fit.lists, counts=counts))
    try:
        return without_column(fit_lists(joined).params, fit.lists.matrix.shape[1])
    except (Unbounded, linalg.LinAlgError):  # a prior of worths says nothing of ties
        raise DesignError("a fold has no finite estimate of ties, even with a prior", "Ask for more folds.") from None


def _scores(
    fits: Sequence[RankingResults],
    held: FloatArray,
    losses: Sequence[FloatArray],
    shrunk: Sequence[int],
    levels: IntArray | None,
    unit: str,
    folds: int,
) -> Table:
    loss = np.array([_mean(held, values, levels) for values in losses])
    delta = np.array([_mean(held, values - losses[0], levels) for values in losses])
    delta[0] = np.nan
    plain = [fit.specification.formula for fit in fits]
    names = [name if plain.count(name) == 1 else f"m{k}: {name}" for k, name in enumerate(plain)]
    notes = [f"log-loss: −Σ log p / N of {counted(float(held.sum()), 'list')}, each predicted whole"]
    notes.append(
        "errors: of single lists, taken as independent; by= holds out levels of a cluster"
        if levels is None
        else f"errors: of {counted(int(levels.max()) + 1, 'level')} of {unit}, which stay together"
    )
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
        title=f"Held-out lists: {folds} folds by {unit}",
        notes=tuple(notes),
    )


def _mean(held: FloatArray, values: FloatArray, levels: IntArray | None) -> tuple[float, float]:
    """Return the mean of values of lists over those held out, and its standard error."""
    n = float(held.sum())
    mean = float(held @ np.where(held > 0, values, 0.0) / n)
    away = np.where(held > 0, held * (values - mean), 0.0)
    if levels is None:
        return mean, float(np.sqrt(away @ np.where(held > 0, values - mean, 0.0) / (n - 1) / n))
    sums = np.bincount(levels, away)
    return mean, float(np.sqrt(len(sums) / (len(sums) - 1) * (sums @ sums)) / n)
