"""Measure how well a model predicts unseen judgments: log-loss, Brier score and calibration over folds."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..base.arguments import JUDGED_INSIDE, Jobs, Rng, checked, whole
from ..base.table import Field, Record, Table, counted, format_number
from ..core.columns import FloatArray, IntArray
from ..errors import DesignError, OptionError
from ..fitting.clusters import own_unit
from ..fitting.fitted import AnyFit, AnyTree, ClassSource, OneSource, plain_of
from ..fitting.folds import Fold, folds_of
from ..fitting.plain_estimates import PlainEstimates
from ..kernel.likelihood import probabilities, rows_of
from ..kernel.threads import few_threads
from ..resampling import Resampler
from .pair_units import PlainCounts
from .unit_losses import held_out_units, names_of

Folds = Annotated[int, whole(2)]

_BINS = 10


@dataclass(frozen=True, repr=False)
class HeldOut(Record):
    """The accuracy of models' predictions of held-out judgments. Made by `held_out`.

    Attributes
    ----------
    rows : Table
        One row per model.
    bins : Table or None
        Predicted and observed shares (see `calibration`); None for whole lists.
    """

    _made_by: ClassVar[str] = "llbt.held_out(…)"

    rows: Table
    bins: Table | None

    def table(self) -> Table:
        """Return one row per model: log-loss and Brier score with their errors."""
        return self.rows

    def calibration(self) -> Table:
        """Return model, outcome (``"preferred"`` or ``"tie"``), predicted, observed, std_error and judgments by bin."""
        if self.bins is None:
            raise OptionError(
                "a list is predicted as a whole, so there are no shares of outcomes to compare with probabilities",
                "Test whether the model fits: llbt.goodness_of_fit(res).",
            )
        return self.bins


@checked
def held_out(
    results: Annotated[
        AnyFit | OneSource | ClassSource | AnyTree | Sequence[AnyFit | OneSource | ClassSource | AnyTree], JUDGED_INSIDE
    ],
    *,
    by: str | None = None,
    folds: Folds = 10,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> HeldOut:
    """Predict held-out judgments: each fold of the table is predicted by a fit to the other folds.

    Parameters
    ----------
    results : a fit, or a sequence of fits
        One fit, or several of one table, with any formulas, links and kinds; all predict the same folds. For fits with
        effects, latent classes and trees whole levels are held out, for rankings and patterns whole answers. They, and
        fits compared with them, have a log-loss but no Brier score. For calibrated worths labels are held out, and
        predicted from the other labels and the verdicts on all units.
    by : str, optional
        The unit of the folds: ``"judgment"`` (for rankings ``"list"``, for patterns ``"pattern"``), or a cluster or
        covariate of the table such as ``"judge"`` or ``"prompt"``, whose levels stay together. With ``"judge"``
        judgments of new judges are predicted, with ``"prompt"`` those on new prompts. By default the clusters of the
        fits, or the judges if judges have effects; else judgments. A fit with effects of both judges and prompts needs
        this argument.
    folds : int
        The number of folds.
    rng : numpy.random.Generator or int, optional
        Used to draw the folds; the same seed gives the same folds.
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core.

    Returns
    -------
    HeldOut
        A row per model. log_loss is −Σ log p / N of the observed outcomes (nats), with std_error. brier is the mean
        squared distance of the probabilities from the observed outcomes, with brier_error. With several models,
        delta_log_loss and delta_error compare with the first model, paired by judgment (or level). prior_folds is the
        number of folds predicted with a prior. Standard errors are those of a mean over the judgments, or over the
        levels of `by`. They ignore that fits to different folds share judgments. ``calibration()`` compares predicted
        probabilities with observed frequencies.

    Raises
    ------
    DesignError
        For fits of different tables, and for fractional counts if judgments are held out.
    OptionError
        For anything but fits; for fits with different clusters, or with effects of two groupings, without `by`; for
        levels that the table does not have; and for more folds than judgments or levels.

    Notes
    -----
    If a refit without a fold lacks an object or has an infinite estimate, the fold is predicted with a prior of one
    judgment per pair (``prior=1``), and a note counts these folds. The same prior is used when a model has separate
    parameters for the levels of the fold, such as ``object * judge`` for a new judge. Fits with effects of judges,
    discriminations or patterns have no prior, so these folds raise an error.

    A fit with effects predicts all judgments of a level at once. The score is log Z(known and level) − log Z(known),
    where Z is the likelihood with effects integrated out, at its maximum without the fold. If only judges have effects,
    a new judge's score is the log-probability of their judgments, integrated over the effects; a new prompt's score
    uses the same judges' judgments of other prompts. Divided by the number of judgments, the score is on the scale of
    models without effects. With two crossed groupings, Z comes from expectation propagation; for 4 judges × 3 prompts,
    scores were too low by .0002 per judgment at σ .35, and by .001 at σ .7. Latent classes have log Σ π_k P(judgments
    of the judge | class k) instead. A tree of judges is grown again without the fold, and the covariates of each
    judge, known or new, determine their leaf. In a fit with discriminations, a new judge has the discrimination of one
    of the known judges, each with the same probability.

    References
    ----------
    Gneiting, T. & Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and estimation. Journal of the
    American Statistical Association 102(477), 359-378.

    Stone, M. (1974). Cross-validatory choice and assessment of statistical predictions. Journal of the Royal
    Statistical Society B 36(2), 111-147.

    Examples
    --------
    >>> import llbt
    >>> table = llbt.load_dataset("dras_table1")
    >>> links = [llbt.fit("object * judge + tie", table, link=link) for link in ("adjacent", "cumulative")]
    >>> scores = llbt.held_out(links, rng=1).to_frame()
    >>> scores[["log_loss", "brier"]].round(2).values.tolist()
    [[0.42, 0.18], [0.42, 0.19]]
    """
    given = list(results) if isinstance(results, Sequence) else [results]
    fits = [fit for fit in map(plain_of, given) if fit is not None]
    if len(fits) < len(given):
        return HeldOut(held_out_units(given, by, folds, Resampler.of("held_out", rng, n_jobs, progress)), None)
    _check(fits)
    c = fits[0].comparisons
    by = by or own_unit(list(dict.fromkeys(name for fit in fits for name in fit.specification.groups)), "by")
    draw = Resampler.of("held_out", rng, n_jobs, progress)
    parts = folds_of(c, by, folds, draw.rng)
    models = tuple(PlainCounts.of(fit) for fit in fits)
    by_fold = draw.each([functools.partial(_predicted, models, part) for part in parts])
    lines = _Lines(np.concatenate([part.counts for part in parts]), _codes(parts))
    chances = [np.concatenate([fold[m][0] for fold in by_fold]) for m in range(len(fits))]
    shrunk = [sum(fold[m][1] for fold in by_fold) for m in range(len(fits))]
    names = names_of(fits)
    return HeldOut(_scores(names, lines, chances, shrunk, by, len(parts)), _calibrations(names, fits, lines, chances))


# -- folds -----------------------------------------------------------------------------------------------------------


def _codes(parts: Sequence[Fold]) -> IntArray | None:
    codes = [part.codes for part in parts if part.codes is not None]
    return np.concatenate(codes) if codes else None


# -- fits without a fold ---------------------------------------------------------------------------------------------


def _predicted(
    models: Sequence[PlainCounts], part: Fold, rng: np.random.Generator
) -> list[tuple[FloatArray, bool]]:  # the folds are drawn beforehand, so the generator is not used
    """Return outcome probabilities on the lines of a fold, (R, K), by each model, and whether a prior was needed."""
    predictions = []
    for model in models:
        held = part.held(model.problem.counts.shape)
        with few_threads(len(model.estimates)):
            params, shrunk = _without(model, held)
        predictions.append((probabilities(rows_of(model.problem, part.rows), params), shrunk))
    return predictions


def _without(model: PlainCounts, held: FloatArray) -> tuple[FloatArray, bool]:
    """Return the estimates without some counts (S, K), and whether they needed a prior."""
    rest = model.problem.counts - held
    params = model.estimated(rest)
    if params is not None:
        return params, False
    params = model.shrunk(rest)
    if params is None:
        raise DesignError("a fold has no estimates, even with a prior of one judgment per pair", "Use more folds=.")
    return params, True


# -- scores ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Lines:
    """All held-out counts (L, K), and the level of each line (L,) if levels were held out."""

    counts: FloatArray
    codes: IntArray | None

    def mean(self, values: FloatArray) -> tuple[float, float]:
        """Return the mean of values of outcomes (L, K) over the judgments, and its standard error."""
        n = float(self.counts.sum())
        mean = float((self.counts * values).sum() / n)
        away = self.counts * (values - mean)
        if self.codes is None:
            return mean, float(np.sqrt((away * (values - mean)).sum() / (n - 1) / n)) if n > 1 else np.nan
        sums = np.bincount(self.codes, away.sum(axis=1))
        return mean, float(np.sqrt(len(sums) / (len(sums) - 1) * (sums @ sums)) / n)


def _scores(
    names: Sequence[str], lines: _Lines, chances: Sequence[FloatArray], shrunk: Sequence[int], by: str, folds: int
) -> Table:
    losses = [-np.log(np.where(lines.counts > 0, p, 1.0)) for p in chances]
    briers = [(p**2).sum(axis=1, keepdims=True) - 2 * p + 1 for p in chances]
    loss, brier = (np.array([lines.mean(x) for x in of]) for of in (losses, briers))
    delta = np.array([lines.mean(x - losses[0]) for x in losses])
    delta[0] = np.nan
    outcomes = chances[0].shape[1]
    notes = [
        f"log-loss: −Σ log p / N of {counted(lines.counts.sum(), 'judgment')}; Brier: mean squared distance.",
        f"At equal probabilities: log-loss {format_number(np.log(outcomes), 4)}, "
        f"Brier {format_number(1 - 1 / outcomes, 4)}.",
    ]
    if lines.codes is not None:
        notes.append(f"standard errors: over {counted(int(lines.codes.max()) + 1, 'level')} of {by}, each in one fold")
    else:
        notes.append("Standard errors take judgments as independent; by= holds out levels of a cluster.")
    notes += [
        f"{name}: {counted(number, 'fold')} of {folds} with prior=1: missing objects or infinite estimates"
        for name, number in zip(names, shrunk, strict=True)
        if number
    ]
    several = len(names) > 1
    return Table(
        (
            Field("model", "", list(names)),
            Field("log_loss", "log-loss", loss[:, 0], "estimate"),
            Field("std_error", "Std. Error", loss[:, 1], "estimate"),
            Field("brier", "Brier", brier[:, 0], "estimate"),
            Field("brier_error", "Std. Error", brier[:, 1], "estimate"),
            *((Field("delta_log_loss", "Delta log-loss", delta[:, 0], "estimate"),
               Field("delta_error", "Std. Error", delta[:, 1], "estimate")) if several else ()),
            Field("prior_folds", "folds by prior", list(shrunk), "count"),
        ),
        title=f"Held-out judgments: {folds} folds by {by}",
        notes=tuple(notes),
    )  # fmt: skip


def _calibrations(
    names: Sequence[str], fits: Sequence[PlainEstimates], lines: _Lines, chances: Sequence[FloatArray]
) -> Table:
    """Return predicted and observed shares in bins of equal width: of being preferred (either object), and of ties."""
    parts = [
        (name, kind, *row)
        for name, fit, p in zip(names, fits, chances, strict=True)
        for kind, row in _bins(fit.response.tally(p), fit.response.tally(lines.counts), fit.response.has_ties)
    ]
    columns = list(zip(*parts, strict=True))
    predicted, observed, n = (np.array(column, dtype=np.float64) for column in columns[2:])
    return Table(
        (
            Field("model", "", list(columns[0])),
            Field("outcome", "outcome", list(columns[1])),
            Field("predicted", "predicted", predicted, "estimate", 3),
            Field("observed", "observed", observed, "estimate", 3),
            Field("std_error", "Std. Error", np.sqrt(predicted * (1 - predicted) / n), "estimate", 3),
            Field("judgments", "judgments", n, "count"),
        ),
        title="Calibration: shares of held-out judgments by predicted probability",
        notes=("preferred: either object of a judgment; Std. Error: of observed shares, if predictions are right",),
    )


def _bins(p: FloatArray, y: FloatArray, has_ties: bool) -> list[tuple[str, tuple[float, float, float]]]:
    """Return mean prediction, observed share and judgments of each bin, from predictions and counts (L, 3)."""
    n = y.sum(axis=1)
    kinds = {"preferred": (np.concatenate([p[:, 0], p[:, 2]]), np.concatenate([y[:, 0], y[:, 2]]), np.tile(n, 2))}
    kinds |= {"tie": (p[:, 1], y[:, 1], n)} if has_ties else {}
    bins = []
    for kind, (chance, happened, judged) in kinds.items():
        place = np.minimum((chance * _BINS).astype(np.int64), _BINS - 1)
        total, seen, hoped = (np.bincount(place, x, _BINS) for x in (judged, happened, judged * chance))
        bins += [(kind, (hoped[k] / total[k], seen[k] / total[k], total[k])) for k in np.flatnonzero(total)]
    return bins


def _check(fits: Sequence[PlainEstimates]) -> None:
    """Raise for fits of different tables."""
    if not fits:
        raise OptionError("no fit in results", expected="a fit, or several of one table")
    for k, fit in enumerate(fits[1:], start=1):
        if not fit.comparisons.same_counts(fits[0].comparisons):
            why = fits[0].basis.difference(fit.basis) or "one table splits its judgments by more columns than the other"
            raise DesignError(
                f"m{k} was fitted to another table than m0, so the fits cannot hold out the same judgments: {why}",
                "Fit both to one table.",
            )
