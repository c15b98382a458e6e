"""Correlations of a metric with human scores over subsets of systems: the best, neighbours in quality, random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ..arguments import check_count, check_option, is_whole
from ..core.columns import FloatArray, IntArray
from ..core.statistics import critical_value
from ..errors import DesignError, JudgmentError
from ..resampling import Resampler, percentiles
from ..table import Field, Record, Table, counted, interval_fields
from .kernels import COEFFICIENTS, LEAST, NAMES, Coefficient, plain_correlations
from .outliers import why_undefined
from .system_scores import SystemScores, read_systems

Subsets = Literal["top", "rolling"]

_SMALLEST = 4  # as in Mathur et al.: of fewer systems a correlation says nothing
_TITLES = {"top": "Correlations over the best systems", "rolling": "Correlations over systems of similar quality"}


@dataclass(frozen=True, repr=False, eq=False)
class SubsetCorrelations(Record):
    """Correlations of a metric with human scores over K sets of systems; made by `top_correlations` and others.

    Attributes
    ----------
    subsets : {"top", "rolling"}
    first : ndarray of int, shape (K,)
        Rank of the best system of each set by human score, 1 for the best of all.
    n : ndarray of int, shape (K,)
        Number of systems in each set.
    estimate : ndarray, shape (K,)
        Correlation; NaN where undefined.
    coefficient : {"pearson", "spearman", "kendall"}
    notes : tuple of str
    """

    subsets: Subsets
    first: IntArray
    n: IntArray
    estimate: FloatArray
    coefficient: Coefficient
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return first, n, estimate."""
        return Table(
            (
                Field("first", "Best rank", self.first, "count"),
                Field("n", "Systems", self.n, "count"),
                Field("estimate", NAMES[self.coefficient], self.estimate, "estimate"),
            ),
            title=_TITLES[self.subsets],
            notes=self.notes,
        )


@dataclass(frozen=True, repr=False, eq=False)
class SampledCorrelations(Record):
    """Correlations of a metric with human scores over random sets of systems of K sizes; by `sampled_correlations`.

    Attributes
    ----------
    n : ndarray of int, shape (K,)
        Number of systems in a set.
    replicates : ndarray, shape (K, B)
        Correlation of each set; NaN where undefined.
    coefficient : {"pearson", "spearman", "kendall"}
    confidence : float
    notes : tuple of str
    """

    n: IntArray
    replicates: FloatArray
    coefficient: Coefficient
    confidence: float
    notes: tuple[str, ...]

    @property
    def estimate(self) -> FloatArray:
        """Median correlation for each size, shape (K,)."""
        kept = [row[~np.isnan(row)] for row in self.replicates]
        return np.array([np.median(row) if len(row) else np.nan for row in kept])

    @property
    def defined(self) -> IntArray:
        """Number of sets that have a correlation, for each size, shape (K,)."""
        return np.asarray((~np.isnan(self.replicates)).sum(axis=1), dtype=np.int64)

    def conf_int(self) -> FloatArray:
        """Return the bounds that hold the middle of the drawn correlations, shape (K, 2).

        Sets without a correlation stand at −∞ for lower and at +∞ for upper bounds.
        """
        return np.column_stack(percentiles(self.replicates.T, self.confidence, self.estimate))

    def table(self) -> Table:
        """Return n, draws (those with a correlation), estimate (the median), conf_low, conf_high."""
        low, high = self.conf_int().T
        return Table(
            (
                Field("n", "Systems", self.n, "count"),
                Field("draws", "Draws", self.defined, "count"),
                Field("estimate", f"Median {NAMES[self.coefficient]}", self.estimate, "estimate"),
                *interval_fields(low, high, self.confidence),
            ),
            title="Correlations over random systems",
            notes=self.notes,
        )


def top_correlations(
    metric: object,
    human: object,
    *,
    sizes: Sequence[int] | None = None,
    coefficient: Coefficient = "pearson",
) -> SubsetCorrelations:
    """Return the correlation of a metric with human scores over the best n systems, for several n.

    Parameters
    ----------
    metric, human : array or Series, shape (N,)
        Scores of N systems; two Series are matched by label.
    sizes : sequence of int, optional
        Numbers of systems; by default N, N − 1, …, 4.
    coefficient : {"pearson", "spearman", "kendall"}

    Returns
    -------
    SubsetCorrelations
        In the order of `sizes`. Of systems with equal human scores those that stand first are taken first; a note
        says where that decides.

    Raises
    ------
    JudgmentError
        For scores that are not finite numbers or do not match, and for fewer than three systems.
    DesignError
        For unknown options.

    Notes
    -----
    The best systems are few and close to each other, and either lowers a correlation, whatever the metric. Windows of
    as many neighbours in quality (`rolling_correlations`) are as few and about as close; random sets are as few, but
    not as close.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997, figure 1.

    Examples
    --------
    >>> import llbt
    >>> found = llbt.top_correlations([31, 28, 30, 27, 10], [0.3, 0.2, 0.1, 0.0, -1.4])
    >>> found.to_frame().round(3).values.tolist()
    [[1.0, 5.0, 0.991], [1.0, 4.0, 0.707]]
    """
    asker = "top_correlations"
    scores = _ranked(asker, metric, human, coefficient)
    total = len(scores.systems)
    chosen = _sizes(asker, sizes, total, range(total, min(_SMALLEST, total) - 1, -1))
    tied = [n for n in chosen if n < total and scores.human[n - 1] == scores.human[n]]
    cut = f"human scores tie at the cut of the best {_joined(tied)}: of these systems those that stand first are taken"
    return _correlated(scores, "top", [(0, n) for n in chosen], coefficient, [cut] if tied else [])


def rolling_correlations(
    metric: object, human: object, *, window: int = 4, coefficient: Coefficient = "pearson"
) -> SubsetCorrelations:
    """Return the correlation of a metric with human scores over neighbours in human score, from the best down.

    Parameters
    ----------
    metric, human : array or Series, shape (N,)
        Scores of N systems; two Series are matched by label.
    window : int
        Number of systems in a set; 4 and 8 in [1]_.
    coefficient : {"pearson", "spearman", "kendall"}

    Returns
    -------
    SubsetCorrelations
        N − window + 1 sets; `first` is the rank of the best system of each.

    Raises
    ------
    JudgmentError
        For scores that are not finite numbers or do not match, and for fewer than three systems.
    DesignError
        For unknown options, and a window of more systems than there are.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997, figure 1.

    Examples
    --------
    >>> import llbt
    >>> llbt.rolling_correlations([31, 28, 30, 27, 10], [0.3, 0.2, 0.1, 0.0, -1.4]).estimate.round(3).tolist()
    [0.707, 0.99]
    """
    asker = "rolling_correlations"
    scores = _ranked(asker, metric, human, coefficient)
    total = len(scores.systems)
    (size,) = _sizes(asker, [window], total, (), "window")
    ties = bool(total - size and (np.diff(scores.human) == 0).any())
    tied = ["some human scores tie: these systems are in the order in which they stand"] if ties else []
    return _correlated(scores, "rolling", [(k, k + size) for k in range(total - size + 1)], coefficient, tied)


def sampled_correlations(
    metric: object,
    human: object,
    *,
    sizes: Sequence[int] | None = None,
    n: int = 1000,
    coefficient: Coefficient = "pearson",
    confidence: float = 0.95,
    rng: np.random.Generator | int | None = None,
    progress: bool = False,
    n_jobs: int = 1,
) -> SampledCorrelations:
    """Return the correlations of a metric with human scores over random sets of systems, for several sizes.

    Parameters
    ----------
    metric, human : array or Series, shape (N,)
        Scores of N systems; two Series are matched by label.
    sizes : sequence of int, optional
        Numbers of systems in a set; by default N, N − 1, …, 4.
    n : int
        Sets to draw of each size, each without replacement.
    coefficient : {"pearson", "spearman", "kendall"}
    confidence : float
        Share of the drawn correlations between conf_low and conf_high.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    SampledCorrelations
        Median correlation and its spread for each size. The bounds say how much a correlation depends on which
        systems take part; they are no confidence interval for systems beyond these.

    Raises
    ------
    JudgmentError
        For scores that are not finite numbers or do not match, and for fewer than three systems.
    DesignError
        For unknown options.

    Notes
    -----
    No yardstick for the best systems, which are closer to each other: with 15 normal systems and a metric that has
    normal noise at all of them (r about .63), the best six are below the 95 % bounds of random sets of six in about
    20 % of the cases. `rolling_correlations` compares like with like.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997, figure 2.

    Examples
    --------
    >>> import llbt
    >>> found = llbt.sampled_correlations([31, 28, 30, 27, 10], [0.3, 0.2, 0.1, 0.0, -1.4], sizes=[5, 4], n=50, rng=1)
    >>> found.estimate.round(3).tolist(), found.conf_int()[0].round(3).tolist()
    ([0.991, 0.991], [0.991, 0.991])
    """
    asker = "sampled_correlations"
    critical_value(asker, confidence, np.inf)
    check_count(asker, "n", n, least=1)
    draw = Resampler.of(asker, rng, n_jobs, progress)
    scores = _ranked(asker, metric, human, coefficient)
    total = len(scores.systems)
    chosen = _sizes(asker, sizes, total, range(total, min(_SMALLEST, total) - 1, -1))
    task = partial(_sampled, scores, chosen, coefficient)
    found = np.concatenate(draw.blocks(task, n, total * total), axis=1)
    lost = {size: int(count) for size, count in zip(chosen, np.isnan(found).sum(axis=1), strict=True) if count}
    notes = [
        f"{counted(count, 'set')} of {size} systems with equal scores: no correlation" for size, count in lost.items()
    ]
    return SampledCorrelations(np.array(chosen), found, coefficient, confidence, tuple(notes))


def _sampled(
    scores: SystemScores, sizes: list[int], coefficient: Coefficient, size: int, rng: np.random.Generator
) -> FloatArray:
    """Return the correlations over random sets of systems, for each number of them, shape (K, size)."""
    found = np.empty((len(sizes), size))
    for k, number in enumerate(sizes):
        drawn = np.argsort(rng.random((size, len(scores.systems))), axis=1)[:, :number]
        found[k] = plain_correlations(scores.metric[drawn], scores.human[drawn], coefficient)
    return found


def _ranked(asker: str, metric: object, human: object, coefficient: object) -> SystemScores:
    """Return the scores with the best system by human score first."""
    check_option(asker, "coefficient", coefficient, COEFFICIENTS)
    scores = read_systems(asker, metric, human)
    if len(scores.systems) < LEAST:
        raise JudgmentError(f"{asker}: {counted(len(scores.systems), 'system')}; correlations need at least {LEAST}.")
    return scores.take(np.argsort(-scores.human, kind="stable"))


def _sizes(asker: str, sizes: object, total: int, default: Sequence[int], name: str = "sizes") -> list[int]:
    """Return numbers of systems, checked."""
    if sizes is None:
        return list(default)
    given = list(sizes) if isinstance(sizes, (Sequence, np.ndarray)) and not isinstance(sizes, str) else []
    whole = [is_whole(size) for size in given]
    if not given or not all(whole) or not all(LEAST <= size <= total for size in given):
        value = given[0] if name == "window" else sizes
        raise DesignError(f"{asker}: {name}={value!r}; expected whole numbers of systems, from {LEAST} to {total}.")
    return [int(size) for size in given]


def _joined(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes))


def _correlated(
    scores: SystemScores, subsets: Subsets, ranges: list[tuple[int, int]], coefficient: Coefficient, notes: list[str]
) -> SubsetCorrelations:
    """Return the correlation over each range of ranked systems."""
    parts = [(scores.metric[low:high], scores.human[low:high]) for low, high in ranges]
    estimate = [float(plain_correlations(x[None], z[None], coefficient)[0]) for x, z in parts]
    first, n = np.array([(low + 1, high - low) for low, high in ranges]).T
    reasons: dict[str, list[int]] = {}
    for part, (low, high) in zip(parts, ranges, strict=True):
        if reason := why_undefined(*part):
            reasons.setdefault(reason, []).append(high if subsets == "top" else low + 1)
    word = "best" if subsets == "top" else "sets from rank"
    said = [f"{word} {_joined(places)}: {reason}" for reason, places in reasons.items()]
    return SubsetCorrelations(subsets, first, n, np.array(estimate), coefficient, (*notes, *said))
