"""Bootstrap a fit: resample the counts and refit all resamples at once."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arguments import Count, Jobs, Rng, checked
from ..base.budgets import refuse_draws
from ..core.columns import FloatArray
from ..errors import DesignError, OptionError, listed
from ..fitting.clusters import own_unit
from ..fitting.fitted import ClassSource, ClassWorthSource, OneSource, WithWorths, plain_of
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.protocols import has_effects
from ..kernel.batch import params_of_many
from ..kernel.threads import few_threads
from ..resampling import Resampler
from .bootstrap_record import Bootstrap, share_alone
from .mixed_bootstrap import judge_unit, parameters_of
from .simulated_counts import draw_clusters, draw_judgments, draw_parametric, in_blocks, with_counts
from .unit_bootstrap import bootstrapped_units
from .unit_influences import Statistic, statistic_of, values_at

_REFITS = 20  # tables drawn at once if each is refitted by itself, so that the progress bar moves


@checked
def bootstrap(
    res: WithWorths | OneSource | ClassSource,
    statistic: Statistic | None = None,
    *,
    resample: str | None = None,
    n: Count = 1000,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    progress: bool = False,
) -> Bootstrap:
    """Resample the table of a fit, refit, and return the distribution of a statistic.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults, RankingResults, PatternResults, LatentClasses or Calibration
    statistic : callable, optional
        A function of a fit that returns a number, a Series, a mapping or an array. By default all parameters, including
        σ and other parameters that are not worths.
    resample : str, optional
        The unit that is resampled. By default the clusters of the fit, or judgments if it has none.
        ``"judgment"``: judgments within comparisons. ``"parametric"``: new judgments from the fitted model. The name of
        a cluster or covariate of the table: its levels are resampled whole. For a fit with effects of judges: the name
        of the judges (the default) or ``"parametric"``. Judges are resampled whole, with each copy as a separate judge;
        parametric resamples have new judges with effects drawn from their distribution. ``"parametric"`` is the default
        if the effects belong to several groupings, to objects, or to a covariate of the formula. Each resample is
        fitted by itself. For a fit of lists: ``"list"``, single lists, the default without clusters; ``"parametric"``,
        new lists from the fitted model; or the name of a cluster or covariate of the lists. For a fit of patterns:
        ``"pattern"``, the answers of single judges, or a covariate. Judges with discriminations cannot be resampled.
        For latent classes: the judges (the default), a column with one level for each judge, or ``"parametric"``. Each
        resample is fitted from the estimates with the same prior, so its classes correspond to the classes of the fit.
        For calibrated worths: units, with their labels and verdicts, or the groups of units that depend on each other.
    n : int
        The number of resamples.
    rng : numpy.random.Generator or int, optional
    n_jobs : int
        The number of processes, −1 for one per core. The result depends only on `rng`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Bootstrap

    Raises
    ------
    DesignError
        For fractional counts unless parametric, for a table in which no comparison has two judgments, for fits with a
        `prior` (except latent classes), and for resampled judges that are also covariates of the worths.
    OptionError
        For unknown clusters, for judgments as units of a fit with effects of judges, for a fit with two-way clustering
        without `resample`, and for a statistic that raises an error or has more or fewer values in a resample.

    References
    ----------
    Efron, B. & Tibshirani, R. J. (1993). An introduction to the bootstrap. Chapman & Hall.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> boot = llbt.bootstrap(res, n=200, rng=1)
    >>> boot.conf_int().shape, boot.degenerate
    ((4, 2), 0)
    """
    if getattr(res.specification, "prior", None) is not None and not isinstance(res, ClassWorthSource):
        raise DesignError("resamples are fitted by maximum likelihood", "Fit without prior=.")
    draw = Resampler.of("bootstrap", rng, n_jobs, progress)
    if has_effects(res):
        return bootstrapped_units(res, statistic, judge_unit(res, resample), n, draw, default=parameters_of)
    plain = plain_of(res)
    if plain is None:
        return bootstrapped_units(res, statistic, resample, n, draw)
    return _of_table(plain, statistic, resample, n, draw)


def _of_table(
    res: PlainEstimates, statistic: Statistic | None, resample: str | None, n: int, draw: Resampler
) -> Bootstrap:
    """Return the bootstrap of a fit by the counts of its table; all resamples are refitted at once."""
    resample = resample or own_unit(res.specification.groups, "resample")
    columns = (*(column.name for column in res.comparisons.columns), *res.comparisons.clusters)
    if resample not in ("judgment", "parametric", *columns):
        raise OptionError(
            f"resample={resample!r}",
            f"Keep it when the table is made: from_judgments(…, clusters={resample!r}).",
            expected=f"'judgment', 'parametric', or a cluster or covariate of the table ({listed(columns) or 'none'})",
        )
    if resample == "judgment" and share_alone(res.comparisons) == 1:
        raise DesignError(
            "no comparison has more than one judgment, so judgments resampled within comparisons are always the same",
            "Pass resample='parametric', or a cluster of the table.",
        )
    if statistic is None:
        return _of_parameters(res, n, resample, draw)
    return _of_statistic(res, statistic, n, resample, draw)


def _drawn(res: PlainEstimates, resample: str, n: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    if resample == "judgment":
        return draw_judgments(res, n, rng)
    if resample == "parametric":
        return draw_parametric(res.solution.means, n, rng)
    return draw_clusters(res, resample, n, rng)


def _of_parameters(res: PlainEstimates, n: int, resample: str, draw: Resampler) -> Bootstrap:
    estimate = np.asarray(res.params, dtype=np.float64)
    refuse_draws("the table of estimates of {n} resamples", n, 2.0 * len(estimate))
    replicates = np.repeat(estimate[None, :], n, axis=0)
    replicates[:, res.free] = np.concatenate(
        in_blocks(functools.partial(_refitted, res, resample), n, res.counts, draw)
    )
    return Bootstrap(res, res.names, estimate, replicates, resample)


def _refitted(res: PlainEstimates, resample: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Return the free parameters of n resamples, shape (n, p)."""
    counts = _drawn(res, resample, n, rng)
    with few_threads(len(res.free)):
        return params_of_many(res.problem(), counts, res.solution.params)


def _of_statistic(res: PlainEstimates, statistic: Statistic, n: int, resample: str, draw: Resampler) -> Bootstrap:
    names, estimate = values_at(res, statistic)
    task = functools.partial(_statistics_of, res, statistic, names, resample)
    replicates = np.concatenate(draw.blocks(task, n, res.counts.size, _REFITS))
    return Bootstrap(res, names, estimate, replicates, resample, statistic)


def _statistics_of(
    res: PlainEstimates, statistic: Statistic, names: tuple[str, ...], resample: str, n: int, rng: np.random.Generator
) -> FloatArray:
    """Return the statistic in n resamples, shape (n, k); NaN in degenerate resamples."""
    replicates = np.full((n, len(names)), np.nan)
    for b, table in enumerate(_drawn(res, resample, n, rng)):
        values = statistic_of(res, statistic, names, with_counts(res.comparisons, table), "a resample")
        if values is not None:
            replicates[b] = values
    return replicates
