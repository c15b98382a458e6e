"""The result of a bootstrap: the values in resamples, with intervals and the ranks of objects."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ..base.arguments import Confidence, checked
from ..base.table import (
    Field,
    Qualifying,
    Record,
    Table,
    format_count,
    format_percent,
    format_share,
    interval_fields,
    named,
)
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError
from ..fitting.clusters import clustered
from ..fitting.fit_part import FitPart
from ..fitting.fitted import ClassSource, ClassWorthSource, OneSource, WithWorths, average_of, plain_of
from ..fitting.protocols import has_lists
from ..formulas.grid import At
from ..kernel.jackknife import left_out
from ..kernel.robust import LOST
from ..resampling import percentile, percentiles
from .log_worths import log_worths_at
from .unit_influences import Statistic, bca_tails, resampled_scores, statistic_influences

Interval = Literal["percentile", "basic", "bca"]

_NAMED = 3  # most objects named as first in resamples
_LEAST_FIRST = 0.0005  # share of resamples from which an object is named
_MOST_RANKED = 500  # most objects that are ranked only to be named
_ROUNDING = 1e-9  # rounding of a sum of shares
_MANY_ALONE = 0.02  # from this share of judgments that cannot vary, a note mentions it


@dataclass(frozen=True, repr=False, eq=False)
class Bootstrap(Record):
    """The bootstrap distribution of a statistic. B resamples, k values.

    Attributes
    ----------
    results : a fit, latent classes or a calibration
        The fit that was resampled.
    names : tuple of str, length k
    estimate : ndarray, shape (k,)
        The statistic of the fit itself.
    replicates : ndarray, shape (B, k)
        NaN in degenerate resamples.
    resample : str
        The resampled unit.
    statistic : callable or None
        The statistic, for BCa intervals, which leave out each judgment or cluster in turn; None for the parameters
        of the fit. A pickle does not keep it, since few functions can be pickled.

    Notes
    -----
    A resample is degenerate if its maximum likelihood estimate is not finite. Degenerate resamples are counted. They
    count as −∞ for lower bounds and as +∞ for upper bounds, which widens intervals. A bound is infinite if degenerate
    resamples fill its tail. Standard errors and means use the other resamples.
    """

    _made_by: ClassVar[str] = "llbt.bootstrap(res)"

    results: WithWorths | OneSource | ClassSource
    names: tuple[str, ...]
    estimate: FloatArray
    replicates: FloatArray
    resample: str
    statistic: Statistic | None = None

    @property
    def degenerate(self) -> int:
        """Number of degenerate resamples."""
        return int((~self._usable).sum())

    @property
    def unsupported(self) -> npt.NDArray[np.bool_]:
        """Which values have no standard error and no interval, because only one cluster informs them, shape (k,).

        If most resamples are degenerate for this reason, no value has an interval: the remaining resamples are the few
        that contain all of the informative clusters.
        """
        lost = self._lost
        if not len(lost):
            return np.zeros(len(self.names), dtype=np.bool_)
        if 2 * self.degenerate > len(self.replicates):
            return np.ones(len(self.names), dtype=np.bool_)
        moved = (np.abs(lost) > LOST).any(axis=0)
        res = plain_of(self.results)
        return np.isin(self.names, [res.names[k] for k in res.free[moved]] if res is not None else [])

    @functools.cached_property
    def _lost(self) -> FloatArray:
        """The directions of the free parameters that only one resampled cluster informs, shape (d, p)."""
        res = plain_of(self.results)
        if res is None or self.resample in ("judgment", "parametric"):
            return np.empty((0, 0))
        lines = clustered(res.comparisons, self.resample, (self.resample,))
        return left_out(res.problem(), res.solution, lines).lost

    @property
    def _usable(self) -> npt.NDArray[np.bool_]:
        """Which resamples have all estimates that the fit itself has, shape (B,)."""
        defined = ~np.isnan(self.estimate)
        return np.asarray(~np.isnan(self.replicates[:, defined]).any(axis=1))

    @checked
    def conf_int(self, confidence: Confidence = 0.95, method: Interval = "percentile") -> pd.DataFrame:
        """Return intervals: columns conf_low, conf_high; one row per value.

        Parameters
        ----------
        confidence : float
        method : {"percentile", "basic", "bca"}
            "percentile": quantiles of the replicates; "basic": quantiles reflected at the estimate; "bca": quantiles
            corrected for bias and acceleration.

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
        """The influence of each judgment or cluster on each value, (n, k), and the number of its judgments, (n,)."""
        res = plain_of(self.results)
        if res is None:
            raise OptionError(
                "method='bca' leaves out each judgment in turn, which a fit of whole judges or lists does not allow",
                "Use method='percentile' or method='basic'.",
            )
        if self.statistic is not None:
            return statistic_influences(res, self.statistic, self.names, self.estimate, self.resample)
        if self.names != res.names:
            raise OptionError(
                "method='bca' needs the statistic, to leave out each judgment or cluster in turn, but a pickle "
                "does not keep it",
                "Call conf_int(method='bca') before pickling, or bootstrap again.",
            )
        scores, weights = resampled_scores(res, self.resample)
        influences: FloatArray = np.zeros((len(scores), len(self.names)))
        influences[:, res.free] = scores @ res.solution.cov
        return influences, weights

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "statistic": None}

    def _bca(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return quantiles at probabilities corrected for bias and acceleration, (k,) each."""
        influences, weights = self._moved
        quantiles = []
        for values, estimate, moved in zip(self.replicates.T, self.estimate, influences.T, strict=True):
            tails = bca_tails(values, estimate, moved, weights, (1 - confidence) / 2)
            quantiles.append([percentile(values, tails[0], -math.inf), percentile(values, tails[1], math.inf)])
        low, high = np.array(quantiles).reshape(-1, 2).T
        return low, high

    def table(self) -> Table:
        """Return estimate, bias, std_error and the 95 % percentile interval of each value."""
        bounds = self.conf_int()
        replicates = self.replicates[self._usable]
        enough = len(replicates) > 1
        error = replicates.std(axis=0, ddof=1) if enough else np.full(len(self.names), np.nan)
        bias = replicates.mean(axis=0) - self.estimate if enough else np.full(len(self.names), np.nan)
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
            head=(self._drawn, *self._first_places()),
            notes=(*self._notes(), *_unsupported_note(self.resample, list(np.array(self.names)[out]))),
        )

    def _first_places(self) -> tuple[str, ...]:
        """Return which objects are first in the resamples, if worths are defined for all and differ by object alone."""
        if self.statistic is not None or isinstance(self.results, ClassWorthSource):
            return ()
        res = average_of(self.results)
        few = len(res.comparisons.objects) <= _MOST_RANKED
        if not few or res.aliased or res.object_effects is not None or list(res.design.worth.units) != ["object"]:
            return ()
        ranks = self.ranks().printed
        if ranks is None:
            return ()
        shares = {f.name: list(f.values) for f in ranks.fields}
        first = [(o, p) for o, p in zip(shares["object"], shares["p_first"], strict=True) if p >= _LEAST_FIRST]
        first.sort(key=lambda one: -one[1])
        places = ", ".join(f"{o} {format_share(p)}" for o, p in first[:_NAMED])
        return (f"First place, share of resamples: {places}. All ranks: .ranks()",) if places else ()

    @checked
    def ranks(self, *, at: At = None) -> Table:
        """Return how often each object has each rank in the resamples.

        Parameters
        ----------
        at : mapping or "average", optional
            Covariate values at which objects are ranked, if worths differ by covariates.

        Returns
        -------
        Table
            object, rank, estimate (share of the resamples that are not degenerate; NaN for objects that the table does
            not compare with the others at `at`); one row per object and rank. For latent classes there are rows for
            every class, with the columns class and share in front. The printout has P(first), the median rank and the
            95 % range of the ranks of each object.

        Examples
        --------
        >>> import llbt
        >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
        >>> ranks = llbt.bootstrap(res, n=200, rng=1).ranks().to_frame()
        >>> ranks[ranks["rank"] == 1].set_index("object")["estimate"].to_dict()
        {'A': 1.0, 'B': 0.0, 'C': 0.0, 'D': 0.0}
        """
        if self.statistic is not None:
            raise _no_ranks()
        if isinstance(self.results, ClassWorthSource):
            of = self.results.class_worths()
            size = len(of.each[0].names)
            starts = iter(range(0, size * len(of.each), size))

            def own(one: FitPart) -> Table:
                start = next(starts)
                return self._ranked(one, slice(start, start + size), at)

            return of.stacked(own)
        return self._ranked(self.results, slice(0, len(average_of(self.results).names)), at)

    def _ranked(self, of: WithWorths | FitPart | OneSource, columns: slice, at: At) -> Table:
        """Return the ranks by the parameters of a fit or a class; these are some columns of the replicates."""
        res = average_of(of)
        if not isinstance(self.results, ClassWorthSource) and self.names[columns] != res.names:
            raise _no_ranks()
        if res.object_effects is not None:
            raise DesignError(
                "resamples have the covariates' parameters and σ, but ranks also need the effects of objects",
                "Use predicted rank ranges: llbt.pairwise(res).ranks().",
            )
        log_worths, notes = log_worths_at(res, at)
        own = self.replicates[:, columns]
        finite = own[~np.isnan(own[:, res.free]).any(axis=1)]
        defined = ~np.isnan(self.estimate[columns])  # aliased parameters do not enter the log-worths
        worth = finite[:, defined] @ log_worths.rows[:, defined].T
        objects, compared = res.comparisons.objects, ~np.isnan(log_worths.estimate)
        ranks = stats.rankdata(-worth[:, compared], method="min", axis=1).astype(np.int64)
        share = np.full((len(objects), len(objects)), np.nan)
        share[compared] = np.array([(ranks == k + 1).mean(axis=0) for k in range(len(objects))]).T
        whole = Table(
            (
                Field("object", "object", [o for o in objects for _ in objects]),
                Field("rank", "rank", list(range(1, len(objects) + 1)) * len(objects), "count"),
                Field("estimate", self._share, share.ravel(), "number", 3),
            ),
            title="Ranks in the resamples",
            head=(self._drawn,),
            notes=(*notes, *self._notes()),
        )
        return replace(whole, printed=_ranks_by_object(whole, objects, share))

    @property
    def _share(self) -> str:
        """The name of a share of the resamples, for tables and plots."""
        if self.resample == "parametric":
            return "share of the parametric resamples"
        return "share of the resamples" + (f" by {self.resample}" if self.resample != "judgment" else "")

    @property
    def _drawn(self) -> str:
        return f"{format_count(len(self.replicates))} resamples ({self.resample})"

    def _notes(self) -> tuple[str, ...]:
        notes = [*self._independence()]
        # judgments are drawn within comparisons
        within = plain_of(self.results) is not None and self.resample == "judgment"
        alone = share_alone(self.results.comparisons) if within else 0.0
        if alone >= _MANY_ALONE:
            notes.append(
                Qualifying(
                    f"{format_percent(alone)} of the judgments are the only judgment of their comparison. They are the "
                    "same in all resamples, so standard errors are too small. resample='parametric' draws them, too."
                )
            )
        if self.degenerate:
            notes.append(
                Qualifying(
                    f"{format_count(self.degenerate)} resamples had no finite estimate. They count as −∞ in lower and "
                    "as +∞ in upper bounds; bias and standard error ignore them. To leave out objects or levels with "
                    "too few judgments: Comparisons.select."
                )
            )
        return tuple(notes)

    def _independence(self) -> tuple[str, ...]:
        """Return a note if judgments were drawn as independent although the fit or its table has clusters."""
        if has_lists(self.results):
            clusters = [c.name for c in self.results.rankings.cluster_columns]
            note = (
                f"Lists were drawn as independent; resample={clusters[0]!r} draws whole clusters." if clusters else ""
            )
            return (Qualifying(note),) if note and self.resample == "list" else ()
        res = plain_of(self.results)
        if res is None or self.resample not in ("judgment", "parametric"):
            return ()
        spec = res.specification
        notes = (
            [f"resamples do not include the dispersion of the fit ({spec.cov_type})"]
            if spec.cov_type == "quasi"
            else []
        )
        name = next(iter((*spec.groups, *res.comparisons.clusters)), None)
        if name is not None:
            assumed = ", as the fit's standard errors do" if name in spec.groups else ", which the table keeps"
            note = f"Judgments were drawn as independent; resample={name!r} draws whole clusters{assumed}."
            notes.append(Qualifying(note))
        return tuple(notes)


def _ranks_by_object(whole: Table, objects: Sequence[Label], share: FloatArray) -> Table:
    """Return P(first), the median rank and the 95 % range of the ranks of each object, the best object first."""
    below = np.cumsum(share, axis=1)
    known = ~np.isnan(share).any(axis=1)
    median, low, high = (
        np.where(known, 1.0 + (below < at - _ROUNDING).sum(axis=1), np.nan) for at in (0.5, 0.025, 0.975)
    )
    order = np.lexsort((-np.nan_to_num(share[:, 0]), np.where(known, median, np.inf)))
    return replace(
        whole,
        fields=(
            Field("object", "object", [objects[k] for k in order]),
            Field("p_first", "P(first)", share[order, 0], "number", 3),
            Field("median_rank", "Median rank", median[order], "count"),
            Field("rank_low", "95 % range: low", low[order], "count"),
            Field("rank_high", "high", high[order], "count"),
        ),
    )


def _no_ranks() -> DesignError:
    return DesignError(
        "this bootstrap was made with statistic=, but ranks need the parameters",
        "Leave out statistic=: llbt.bootstrap(res).ranks().",
    )


def _unsupported_note(resample: str, names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (
        Qualifying(
            f"NA: {named(names)} depend on a single {resample}, so resamples without it have no estimate. Leave these "
            "parameters out of the formula, merge levels (Comparisons.pool), or use resample='judgment', whose "
            f"intervals hold only for these {resample}s."
        ),
    )


def share_alone(c: Comparisons) -> float:
    """Return the share of judgments that are the only judgment of their comparison."""
    return float(c.totals[c.totals <= 1].sum() / c.totals.sum())
