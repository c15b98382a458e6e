"""Correlations of a metric with human scores over subsets of systems: the best, neighbours in quality, random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from ..base.arguments import Confidence, Count, Jobs, Rng, checked, is_whole
from ..base.table import Field, Record, Table, counted, interval_fields
from ..core.columns import FloatArray, IntArray
from ..errors import JudgmentError, OptionError
from ..resampling import Resampler, percentiles
from .kernels import LEAST, NAMES, Coefficient, plain_correlations
from .outliers import why_undefined
from .system_scores import JointScores, read_systems

Subsets = Literal["top", "rolling", "sampled"]

_SMALLEST = 4  # as in Mathur et al.: of fewer systems a correlation says nothing
_TITLES: dict[Subsets, str] = {
    "top": "Correlations over the best systems",
    "rolling": "Correlations over systems of similar quality",
    "sampled": "Correlations over random systems",
}


@dataclass(frozen=True, repr=False, eq=False)
class SubsetCorrelations(Record):
    """Correlations of a metric with human scores over K kinds of sets of systems; made by `subset_correlations`.

    Attributes
    ----------
    subsets : {"top", "rolling", "sampled"}
    first : ndarray of int, shape (K,), or None
        Rank of the best system of each set by human score, 1 for the best of all; None for random sets.
    n : ndarray of int, shape (K,)
        Number of systems in a set.
    replicates : ndarray, shape (K, B)
        Correlation of each set; NaN where undefined. B draws of random sets of each size, otherwise one set each.
    coefficient : {"pearson", "spearman", "kendall"}
    confidence : float
    notes : tuple of str
    """

    subsets: Subsets
    first: IntArray | None
    n: IntArray
    replicates: FloatArray
    coefficient: Coefficient
    confidence: float
    notes: tuple[str, ...]

    @property
    def estimate(self) -> FloatArray:
        """Correlation of each set; for random sets the median by size, shape (K,); NaN where undefined."""
        defined = [row[~np.isnan(row)] for row in self.replicates]
        return np.array([np.median(row) if len(row) else np.nan for row in defined])

    @property
    def defined(self) -> IntArray:
        """Number of sets that have a correlation, shape (K,)."""
        return np.asarray((~np.isnan(self.replicates)).sum(axis=1), dtype=np.int64)

    def conf_int(self) -> FloatArray:
        """Return the bounds of the central `confidence` share of the drawn correlations, shape (K, 2).

        Sets without a correlation count as −∞ for lower and as +∞ for upper bounds.
        """
        return np.column_stack(percentiles(self.replicates.T, self.confidence, self.estimate))

    def table(self) -> Table:
        """Return first, n, estimate; for random sets n, draws (with a correlation), estimate, conf_low, conf_high."""
        n, name = Field("n", "Systems", self.n, "count"), NAMES[self.coefficient]
        if self.first is not None:
            first = Field("first", "Best rank", self.first, "count")
            fields: tuple[Field, ...] = (first, n, Field("estimate", name, self.estimate, "estimate"))
        else:
            draws = Field("draws", "Draws", self.defined, "count")
            median = Field("estimate", f"Median {name}", self.estimate, "estimate")
            low, high = self.conf_int().T
            fields = (n, draws, median, *interval_fields(low, high, self.confidence))
        return Table(fields, title=_TITLES[self.subsets], notes=self.notes)


@checked
def subset_correlations(
    metric: object,
    human: object,
    *,
    subsets: Subsets = "top",
    sizes: int | Sequence[int] | None = None,
    coefficient: Coefficient = "pearson",
    n: Count = 1000,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    progress: bool = False,
) -> SubsetCorrelations:
    """Return the correlations of a metric with human scores over the best, neighbouring or random systems.

    Parameters
    ----------
    metric, human : array or Series, shape (N,)
        Scores of N systems; two Series are matched by label.
    subsets : {"top", "rolling", "sampled"}
        Sets of the best systems; of neighbours in human score, from the best down; or of random systems.
    sizes : int or sequence of int
        Numbers of systems in a set; by default N, N − 1, …, 4, and 4 for neighbours.
    coefficient : {"pearson", "spearman", "kendall"}
    n : int
        Number of random sets of each size, drawn without replacement.
    confidence : float
        Share of the drawn correlations between conf_low and conf_high.
    rng, n_jobs, progress
        As in `bootstrap`, for random sets.

    Returns
    -------
    SubsetCorrelations
        One row per set, in the order of `sizes`; for random sets one row per size, with the median and the spread.
        Systems with equal human scores keep the order given; a note says if this affects a set.

    Raises
    ------
    JudgmentError
        For scores that are not finite numbers or do not match, and for fewer than three systems.
    OptionError
        For unknown options, and sets of more systems than there are.

    Notes
    -----
    The best systems are few and close to each other. Both lower a correlation, whatever the metric. Sets of neighbours
    are equally small, and their systems are about as close. Random sets are equally small, but their systems are less
    similar, so they are not a fair comparison. With 15 normal systems and a metric with normal noise (r about .63), the
    best six are below the 95 % bounds of random sets of six in about 20 % of the cases. These bounds show how much a
    correlation depends on the choice of systems. They are not a confidence interval for other systems.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997, figures 1 and 2.

    Examples
    --------
    >>> import llbt
    >>> metric, human = [31, 28, 30, 27, 10], [0.3, 0.2, 0.1, 0.0, -1.4]
    >>> llbt.metrics.subset_correlations(metric, human).to_frame().round(3).values.tolist()
    [[1.0, 5.0, 0.991], [1.0, 4.0, 0.707]]
    >>> llbt.metrics.subset_correlations(metric, human, subsets="rolling").estimate.round(3).tolist()
    [0.707, 0.99]
    """
    draw = Resampler.of("metrics.subset_correlations", rng, n_jobs, progress)
    scores = _ranked(metric, human)
    total = len(scores.systems)
    chosen = _sizes(sizes, total, [4] if subsets == "rolling" else range(total, min(_SMALLEST, total) - 1, -1))
    if subsets != "sampled":
        ranges = [(k, k + size) for size in chosen for k in range(total - size + 1 if subsets == "rolling" else 1)]
        notes = _tied(scores.human, subsets, chosen)
        return _correlated(scores, subsets, ranges, coefficient, confidence, notes)
    correlations = np.concatenate(draw.blocks(partial(_sampled, scores, chosen, coefficient), n, total * total), axis=1)
    lost = {size: int(count) for size, count in zip(chosen, np.isnan(correlations).sum(axis=1), strict=True) if count}
    notes = [
        f"{counted(count, 'set')} of {size} systems with equal scores: no correlation" for size, count in lost.items()
    ]
    return SubsetCorrelations(subsets, None, np.array(chosen), correlations, coefficient, confidence, tuple(notes))


def _tied(human: FloatArray, subsets: Subsets, sizes: list[int]) -> list[str]:
    """Return a note if equal human scores leave open which systems belong to a set."""
    total = len(human)
    if subsets == "rolling":
        open_ = min(sizes) < total and (np.diff(human) == 0).any()
        return ["some human scores tie: tied systems keep the order given"] if open_ else []
    cut = [n for n in sizes if n < total and human[n - 1] == human[n]]
    note = f"human scores tie at the cut of the best {_joined(cut)}: tied systems are taken in the order given"
    return [note] if cut else []


def _sampled(
    scores: JointScores, sizes: list[int], coefficient: Coefficient, size: int, rng: np.random.Generator
) -> FloatArray:
    """Return the correlations over random sets of systems, for each number of them, shape (K, size)."""
    correlations = np.empty((len(sizes), size))
    for k, number in enumerate(sizes):
        drawn = np.argsort(rng.random((size, len(scores.systems))), axis=1)[:, :number]
        correlations[k] = plain_correlations(scores.metric[drawn], scores.human[drawn], coefficient)
    return correlations


def _ranked(metric: object, human: object) -> JointScores:
    """Return the scores with the best system by human score first."""
    scores = read_systems(metric, human)
    if len(scores.systems) < LEAST:
        raise JudgmentError(counted(len(scores.systems), "system"), expected=f"at least {LEAST} for correlations")
    return scores.take(np.argsort(-scores.human, kind="stable"))


def _sizes(sizes: object, total: int, default: Sequence[int]) -> list[int]:
    """Return the checked sizes of sets."""
    if sizes is None:
        return list(default)
    listed = isinstance(sizes, (Sequence, np.ndarray)) and not isinstance(sizes, str)
    given: list[Any] = list(sizes) if listed else [sizes]  # type: ignore[call-overload]
    if not given or not all(is_whole(size) and LEAST <= size <= total for size in given):
        raise OptionError(f"sizes={sizes!r}", expected=f"whole numbers of systems, from {LEAST} to {total}")
    return [int(size) for size in given]


def _joined(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes))


def _correlated(
    scores: JointScores,
    subsets: Subsets,
    ranges: list[tuple[int, int]],
    coefficient: Coefficient,
    confidence: float,
    notes: list[str],
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
    reasons_text = [f"{word} {_joined(places)}: {reason}" for reason, places in reasons.items()]
    return SubsetCorrelations(
        subsets, first, n, np.array(estimate)[:, None], coefficient, confidence, (*notes, *reasons_text)
    )
