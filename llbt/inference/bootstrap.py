"""Bootstrap of a fit: resampled counts, refitted all at once."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ..arguments import Confidence, Count, Jobs, Rng, checked
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError, listed
from ..fitting.clusters import clustered
from ..fitting.results import LLBTResults
from ..formulas.grid import At
from ..kernel.batch import params_of_many
from ..kernel.jackknife import left_out
from ..kernel.robust import LOST, cluster_scores
from ..kernel.solvers import few_threads
from ..resampling import Resampler, percentile, percentiles
from ..table import Field, Record, Table, format_count, format_percent, interval_fields
from .objects import log_worths_at
from .refit import refit_table
from .simulation import draw_clusters, draw_judgments, draw_parametric, in_blocks, with_counts

Interval = Literal["percentile", "basic", "bca"]
Statistic = Callable[[LLBTResults], Any]

_MANY_ALONE = 0.02  # share of judgments that do not vary from which it is said
_REFITS = 20  # tables drawn at once where each is refitted by itself: the bar moves
_MOST_LEFT_OUT = 5000  # refits that the acceleration of a statistic of one's own may cost


@dataclass(frozen=True, repr=False, eq=False)
class Bootstrap(Record):
    """The bootstrap distribution of a statistic. B resamples, k values.

    Attributes
    ----------
    results : LLBTResults
        The fit that was resampled.
    names : tuple of str, length k
    estimate : ndarray, shape (k,)
        The statistic of the fit itself.
    replicates : ndarray, shape (B, k)
        NaN in degenerate resamples.
    resample : str
        What was resampled.
    statistic : callable or None
        What was asked for, for BCa intervals, which leave out each judgment or cluster in turn; None for the parameters
        of the fit. A pickle does not keep it, since few functions can be pickled.

    Notes
    -----
    A resample is degenerate where its maximum likelihood estimate is not finite. Degenerate resamples are counted and
    stand at −∞ for lower bounds and at +∞ for upper bounds: they widen intervals, and make a bound infinite where
    they are more than its tail. Standard errors and means are those of the others.
    """

    _made_by: ClassVar[str] = "llbt.bootstrap(res)"

    results: LLBTResults
    names: tuple[str, ...]
    estimate: FloatArray
    replicates: FloatArray
    resample: str
    statistic: Statistic | None = None

    @property
    def degenerate(self) -> int:
        """Number of degenerate resamples."""
        return int((~self._kept).sum())

    @property
    def unsupported(self) -> npt.NDArray[np.bool_]:
        """Which values have neither error nor interval, shape (k,): resamples without some cluster cannot have one.

        Parameters of which a single cluster says all that is known; and where most resamples are degenerate for that,
        everything: the others are the few that hold all such clusters.
        """
        lost = self._lost
        if not len(lost):
            return np.zeros(len(self.names), dtype=np.bool_)
        if 2 * self.degenerate > len(self.replicates):
            return np.ones(len(self.names), dtype=np.bool_)
        moved = (np.abs(lost) > LOST).any(axis=0)
        return np.isin(self.names, [self.results.names[k] for k in self.results.free[moved]])

    @functools.cached_property
    def _lost(self) -> FloatArray:
        """The directions of the free parameters of which one resampled cluster says all, shape (d, p)."""
        if self.resample in ("judgment", "parametric"):
            return np.empty((0, len(self.results.free)))
        lines = clustered(self.results.comparisons, self.resample, (self.resample,))
        return left_out(self.results.problem(), self.results.solution, lines).lost

    @property
    def _kept(self) -> npt.NDArray[np.bool_]:
        """Which resamples have an estimate, shape (B,); values that the fit itself lacks do not count."""
        defined = ~np.isnan(self.estimate)
        return np.asarray(~np.isnan(self.replicates[:, defined]).any(axis=1))

    @checked
    def conf_int(self, confidence: Confidence = 0.95, method: Interval = "percentile") -> pd.DataFrame:
        """Return intervals: columns conf_low, conf_high, a row per value.

        Parameters
        ----------
        confidence : float
        method : {"percentile", "basic", "bca"}
            Quantiles of the replicates; reflected at the estimate; or corrected for bias and acceleration.

        References
        ----------
        Efron, B. & Tibshirani, R. J. (1993). An introduction to the bootstrap, chapters 13 and 14.
        """
        if method == "bca":
            low, high = self._bca(confidence)
        else:
            low, high = percentiles(self.replicates, confidence, self.estimate)
        if method == "basic":
            low, high = 2 * self.estimate - high, 2 * self.estimate - low
        bounds = np.column_stack([low, high])
        bounds[self.unsupported] = np.nan
        return pd.DataFrame(bounds, index=list(self.names), columns=["conf_low", "conf_high"])

    @functools.cached_property
    def _moved(self) -> tuple[FloatArray, FloatArray]:
        """How much each judgment or cluster moves each value, (n, k), and how many judgments it stands for, (n,)."""
        if self.statistic is not None:
            return _influences(self.results, self.statistic, self.names, self.estimate, self.resample)
        if self.names != self.results.names:
            raise OptionError(
                "method='bca' leaves out each judgment or cluster in turn and needs the statistic, which a pickle "
                "does not keep",
                "Ask for these intervals once before it, or bootstrap again.",
            )
        scores, weights = _scores(self.results, self.resample)
        influences: FloatArray = np.zeros((len(scores), len(self.names)))
        influences[:, self.results.free] = scores @ self.results.solution.cov
        return influences, weights

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "statistic": None}

    def _bca(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return percentiles at shares corrected for bias and acceleration, (k,) each."""
        influences, weights = self._moved
        found = []
        for values, estimate, moved in zip(self.replicates.T, self.estimate, influences.T, strict=True):
            tails = _bca_tails(values, estimate, moved, weights, (1 - confidence) / 2)
            found.append([percentile(values, tails[0], -math.inf), percentile(values, tails[1], math.inf)])
        low, high = np.array(found).reshape(-1, 2).T
        return low, high

    def table(self) -> Table:
        """Return estimate, bias, std_error and the 95 % percentile interval of each value."""
        bounds = self.conf_int()
        found = self.replicates[self._kept]
        enough = len(found) > 1
        error = found.std(axis=0, ddof=1) if enough else np.full(len(self.names), np.nan)
        bias = found.mean(axis=0) - self.estimate if enough else np.full(len(self.names), np.nan)
        out = self.unsupported
        error, bias = np.where(out, np.nan, error), np.where(out, np.nan, bias)
        return Table(
            (
                Field("term", "", list(self.names)),
                Field("estimate", "Estimate", self.estimate, "estimate"),
                Field("bias", "Bias", bias, "estimate"),
                Field("std_error", "Std. Error", error, "estimate"),
                *interval_fields(bounds["conf_low"].to_numpy(), bounds["conf_high"].to_numpy()),
            ),
            title=f"Bootstrap of {self.results.specification.formula}",
            head=(f"{format_count(len(self.replicates))} resamples ({self.resample})",),
            notes=(*self._notes(), *_unsupported_note(self.resample, list(np.array(self.names)[out]))),
        )

    @checked
    def ranks(self, *, at: At = None) -> Table:
        """Return how often each object has each rank in the resamples.

        Parameters
        ----------
        at : mapping or "average", optional
            Where, for worths that differ by covariates.

        Returns
        -------
        Table
            object, rank, estimate (share of the resamples that are not degenerate; NaN for objects that the
            table does not compare with the others at `at`); long, by object and rank.

        Examples
        --------
        >>> import llbt
        >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
        >>> ranks = llbt.bootstrap(res, n=200, rng=1).ranks().to_frame()
        >>> ranks[ranks["rank"] == 1].set_index("object")["estimate"].to_dict()
        {'A': 1.0, 'B': 0.0, 'C': 0.0, 'D': 0.0}
        """
        if self.names != self.results.names:
            raise DesignError(
                "this is a bootstrap of a statistic, and ranks are made of the parameters",
                "Ask llbt.bootstrap(res) without statistic=.",
            )
        found, notes = log_worths_at(self.results, at)
        kept = self.replicates[~np.isnan(self.replicates[:, self.results.free]).any(axis=1)]
        defined = ~np.isnan(self.estimate)  # aliased parameters stand for nothing in the log-worths
        worth = kept[:, defined] @ found.rows[:, defined].T
        objects, compared = self.results.comparisons.objects, ~np.isnan(found.estimate)
        ranks = stats.rankdata(-worth[:, compared], method="min", axis=1).astype(np.int64)
        share = np.full((len(objects), len(objects)), np.nan)
        share[compared] = np.array([(ranks == k + 1).mean(axis=0) for k in range(len(objects))]).T
        return Table(
            (
                Field("object", "object", [o for o in objects for _ in objects]),
                Field("rank", "rank", list(range(1, len(objects) + 1)) * len(objects), "count"),
                Field("estimate", "estimate", share.ravel(), "number", 3),
            ),
            title="Ranks in the resamples",
            notes=notes,
        )

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if self.resample in ("judgment", "parametric") and self.results.specification.groups:
            name = self.results.specification.groups[0]
            notes.append(
                f"judgments were drawn as independent; resample={name!r} draws whole clusters, as the errors assume"
            )
        alone = _alone(self.results.comparisons) if self.resample == "judgment" else 0.0
        if alone >= _MANY_ALONE:
            notes.append(
                f"{format_percent(alone)} of the judgments are the only one of their comparison and the same in all "
                "resamples, so standard errors are too small; resample='parametric' draws them too"
            )
        if self.degenerate:
            notes.append(
                f"{format_count(self.degenerate)} resamples were degenerate (no finite estimate): they stand at −∞ for "
                "lower and at +∞ for upper bounds, and are not in bias and standard error; Comparisons.select leaves "
                "out objects or levels with too few judgments"
            )
        return tuple(notes)


def _unsupported_note(resample: str, names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (
        f"NA: {listed(names)}: resamples without some {resample} have no estimate of what that {resample} alone says. "
        "Ways out: a formula without these parameters, levels merged (Comparisons.pool), or resample='judgment', for "
        f"these {resample}s alone",
    )


@checked
def bootstrap(
    res: LLBTResults,
    statistic: Statistic | None = None,
    *,
    resample: str = "judgment",
    n: Count = 1000,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    progress: bool = False,
) -> Bootstrap:
    """Resample the table of a fit, refit, and return the distribution of a statistic.

    Parameters
    ----------
    res : LLBTResults
    statistic : callable, optional
        A function of a fit that returns a number, a Series, a mapping or an array; by default the parameters.
    resample : str
        ``"judgment"``: judgments within comparisons; ``"parametric"``: new judgments from the fitted model; or the name
        of a kept cluster or covariate, whose levels are resampled whole.
    n : int
        Number of resamples.
    rng : numpy.random.Generator or int, optional
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Bootstrap

    Raises
    ------
    DesignError
        For fractional counts unless parametric, a table without a comparison that has two judgments, and fits with a
        `prior`.
    OptionError
        For unknown clusters, and a statistic that raises, or has more or fewer values, in a resample.

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
    if res.specification.prior is not None:
        raise DesignError("resamples are fitted by maximum likelihood", "Fit without prior=.")
    draw = Resampler.of("bootstrap", rng, n_jobs, progress)
    kept = (*(column.name for column in res.comparisons.columns), *res.comparisons.clusters)
    if resample not in ("judgment", "parametric", *kept):
        raise OptionError(
            f"resample={resample!r}",
            f"Keep it where the table is made: from_judgments(…, clusters={resample!r}).",
            expected=f"'judgment', 'parametric', or a cluster or covariate of the table ({listed(kept) or 'none'})",
        )
    if resample == "judgment" and _alone(res.comparisons) == 1:
        raise DesignError(
            "no comparison has more than one judgment, so judgments resampled within comparisons are always the same",
            "Pass resample='parametric', or a cluster of the table.",
        )
    if statistic is None:
        return _of_parameters(res, n, resample, draw)
    return _of_statistic(res, statistic, n, resample, draw)


def _alone(c: Comparisons) -> float:
    """Return the share of judgments that are the only one of their comparison."""
    return float(c.totals[c.totals <= 1].sum() / c.totals.sum())


def _drawn(res: LLBTResults, resample: str, n: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    if resample == "judgment":
        return draw_judgments(res, n, rng)
    if resample == "parametric":
        return draw_parametric(res.solution.means, n, rng)
    return draw_clusters(res, resample, n, rng)


def _of_parameters(res: LLBTResults, n: int, resample: str, draw: Resampler) -> Bootstrap:
    estimate = np.asarray(res.params, dtype=np.float64)
    replicates = np.repeat(estimate[None, :], n, axis=0)
    replicates[:, res.free] = np.concatenate(
        in_blocks(functools.partial(_refitted, res, resample), n, res.counts, draw)
    )
    return Bootstrap(res, res.names, estimate, replicates, resample)


def _refitted(res: LLBTResults, resample: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Return the free parameters of n resamples, shape (n, p)."""
    counts = _drawn(res, resample, n, rng)
    with few_threads(len(res.free)):
        return params_of_many(res.problem(), counts, res.solution.params)


def _scores(res: LLBTResults, resample: str) -> tuple[FloatArray, FloatArray]:
    """Return the score of each unit that is resampled, (n, p), and how often it is there, (n,)."""
    problem = res.problem()
    if resample not in ("judgment", "parametric"):
        lines = clustered(res.comparisons, resample, (resample,))
        return cluster_scores(problem, res.solution, lines), np.ones(lines.size)
    p = res.solution.means / problem.totals[:, None]
    parts = [part.toarray() for part in problem.predictors]
    slopes = problem.response.slopes(p.T)
    rows = [sum(slope[:, None] * part for slope, part in zip(by, parts, strict=True)) for by in slopes]
    return np.stack(rows, axis=1).reshape(-1, len(res.free)), problem.counts.ravel()


def _of_statistic(res: LLBTResults, statistic: Statistic, n: int, resample: str, draw: Resampler) -> Bootstrap:
    names, estimate = _values(statistic(res))
    task = functools.partial(_statistics_of, res, statistic, names, resample)
    replicates = np.concatenate(draw.blocks(task, n, res.counts.size, _REFITS))
    return Bootstrap(res, names, estimate, replicates, resample, statistic)


def _influences(
    res: LLBTResults, statistic: Statistic, names: tuple[str, ...], estimate: FloatArray, resample: str
) -> tuple[FloatArray, FloatArray]:
    """Return how far leaving out each unit moves a statistic, (n, k), and how often the unit is there, (n,)."""
    left_out, weights = _left_out(res, resample)
    influences = np.zeros((len(left_out), len(names)))
    for k, table in enumerate(left_out):
        found = _statistic_of(res, statistic, names, with_counts(res.comparisons, table), f"leave-one-out table {k}")
        influences[k] = estimate - found if found is not None else 0.0
    return influences, weights


def _statistics_of(
    res: LLBTResults, statistic: Statistic, names: tuple[str, ...], resample: str, n: int, rng: np.random.Generator
) -> FloatArray:
    """Return the values of n resamples, shape (n, k); NaN in degenerate ones."""
    replicates = np.full((n, len(names)), np.nan)
    for b, table in enumerate(_drawn(res, resample, n, rng)):
        found = _statistic_of(res, statistic, names, with_counts(res.comparisons, table), "a resample")
        if found is not None:
            replicates[b] = found
    return replicates


def _left_out(res: LLBTResults, resample: str) -> tuple[list[FloatArray], FloatArray]:
    """Return the tables less one judgment of each kind, or less one cluster, and how often each is there."""
    counts = res.counts
    if resample not in ("judgment", "parametric"):
        lines = clustered(res.comparisons, resample, (resample,))
        tables = []
        for g in range(lines.size):
            less = counts.copy()
            np.subtract.at(less, lines.rows[lines.codes == g], lines.counts[lines.codes == g])
            tables.append(np.maximum(less, 0.0))
        return tables, np.ones(lines.size)
    cells = np.argwhere(counts >= 1)
    if len(cells) > _MOST_LEFT_OUT:
        cells = cells[:0]  # no acceleration: BCa then corrects for bias alone
    tables = []
    for s, cell in cells:
        less = counts.copy()
        less[s, cell] -= 1
        tables.append(less)
    return tables, np.array([counts[s, cell] for s, cell in cells])


def _statistic_of(
    res: LLBTResults, statistic: Statistic, names: tuple[str, ...], table: Comparisons, where: str
) -> FloatArray | None:
    """Return the named values of a resampled table; None where it has no finite estimate, or lacks one of them."""
    try:
        fitted = refit_table(res, table)
    except DesignError:
        return None
    try:
        given, values = _values(statistic(fitted))
    except Exception as error:
        raise OptionError(f"the statistic raised {type(error).__name__} in {where}: {error}") from error
    if given == names:
        return values
    place = {name: k for k, name in enumerate(given)}
    if not any(name in place for name in names) or any(name.startswith("statistic") for name in given):
        raise OptionError(
            f"the statistic has {len(given)} values in {where}", expected=f"{len(names)}, as in the fit itself"
        )
    return None if any(name not in place for name in names) else values[[place[name] for name in names]]


def _values(found: Any) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names and numbers of what a statistic returned."""
    if isinstance(found, dict):
        found = pd.Series(found)
    if isinstance(found, pd.Series):
        return tuple(map(str, found.index)), found.to_numpy(dtype=np.float64)
    values = np.atleast_1d(np.asarray(found, dtype=np.float64)).ravel()
    return tuple(f"statistic[{k}]" for k in range(len(values))) if len(values) > 1 else ("statistic",), values


def _bca_tails(
    values: FloatArray, estimate: float, influences: FloatArray, weights: FloatArray, tail: float
) -> tuple[float, float]:
    """Return the probabilities at which BCa reads its quantiles (Efron & Tibshirani 1993, equation 14.10)."""
    finite = values[~np.isnan(values)]
    same = np.isclose(finite, estimate, rtol=1e-9, atol=1e-9)
    below = (np.sum((finite < estimate) & ~same) + np.sum(same) / 2) / max(1, len(finite))
    bias = float(stats.norm.ppf(np.clip(below, 0.5 / (len(values) + 1), 1 - 0.5 / (len(values) + 1))))
    away = influences - np.average(influences, weights=weights) if weights.sum() > 0 else influences
    squares = float(np.sum(weights * away**2))
    acceleration = float(np.sum(weights * away**3)) / (6 * squares**1.5) if squares > 0 else 0.0

    def shifted(z: float) -> float:
        return float(stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))))

    z = float(stats.norm.ppf(tail))
    return shifted(z), shifted(-z)
