"""Soft pairwise accuracy: agreement of a metric's and humans' p-values for pairs of systems."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from ..base.arguments import Count, Jobs, Rng, checked
from ..base.table import Field, Record, Table, counted, format_number
from ..core.columns import FloatArray
from ..errors import JudgmentError
from ..resampling import Resampler
from .segment_tests import sign_flips
from .system_scores import all_pairs, numbers, read_segments


@dataclass(frozen=True, repr=False, eq=False)
class SoftPairwiseAccuracy(Record):
    """Soft pairwise accuracy of a metric; made by `soft_pairwise_accuracy`. P pairs of systems.

    Attributes
    ----------
    estimate : float
        1 − mean |p_human − p_metric| over pairs; NaN without a pair.
    object_i, object_j : tuple of label, length P
    human_p, metric_p : ndarray, shape (P,)
        One-sided p-values, small where i is better than j; NaN where i and j have no segment in common.
    draws : int
        Number of permutations.
    notes : tuple of str
    """

    estimate: float
    object_i: tuple[Hashable, ...]
    object_j: tuple[Hashable, ...]
    human_p: FloatArray
    metric_p: FloatArray
    draws: int
    notes: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of pairs that are counted."""
        return int((~np.isnan(self.human_p)).sum())

    def table(self) -> Table:
        """Return object_i, object_j, human_p, metric_p, agreement = 1 − |human_p − metric_p|; one row per pair."""
        return Table(
            (
                Field("object_i", "object_i", self.object_i),
                Field("object_j", "object_j", self.object_j),
                Field("human_p", "p humans", self.human_p, "p_value"),
                Field("metric_p", "p metric", self.metric_p, "p_value"),
                Field("agreement", "1 − |Δp|", 1 - np.abs(self.human_p - self.metric_p), "estimate"),
            ),
            title=f"Soft pairwise accuracy: {format_number(self.estimate, 4)}",
            head=(f"Mean over {counted(self.n, 'pair')}; {counted(self.draws, 'permutation')} for each p-value",),
            notes=("one-sided p-values that i is better than j", *self.notes),
        ).first()


@checked
def soft_pairwise_accuracy(
    metric: object,
    human: object,
    *,
    n: Count = 1000,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> SoftPairwiseAccuracy:
    """Return the soft pairwise accuracy of a metric: the mean of 1 − |p_human − p_metric| over pairs of systems.

    Parameters
    ----------
    metric : array or DataFrame, shape (N, M)
        Scores of N systems on M segments, higher is better.
    human : array or DataFrame, shape (N, K)
        Human scores, rows as in `metric`, columns of any number of segments. NaN for missing scores: a pair of systems
        is compared on the segments that both have.
    n : int
        Permutations for each p-value; the accuracy of one pair has an error of about 1/√n.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    SoftPairwiseAccuracy

    Raises
    ------
    JudgmentError
        For scores that are not a matrix of numbers, a metric that lacks scores, a system without human scores.
    OptionError
        For invalid options.

    Notes
    -----
    SPA = mean over i < j of 1 − |p_ij^h − p_ij^m| [1]_, with p-values of paired permutation tests of the mean
    difference: the two scores of a segment are exchanged at random, in the same way for all pairs and for metric and
    humans. They are mid-p-values: permuted differences equal to the observed one count half, and the observed one is
    included. So p_ij + p_ji = 1 even with ties, SPA does not depend on the order of systems, and systems with equal
    scores have p = 1/2. Without ties, a p-value is within 1/(2n) of the share of permuted differences that are at least
    as large.

    References
    ----------
    .. [1] Thompson, B., Mathur, N., Deutsch, D. & Khayrallah, H. (2024). Improving statistical significance in human
       evaluation of automatic metrics via soft pairwise accuracy. WMT, 1222-1234.

    Examples
    --------
    >>> import llbt
    >>> import numpy as np
    >>> scores = np.random.default_rng(1).normal(size=(4, 50)) + np.arange(4)[:, None] / 5
    >>> llbt.metrics.soft_pairwise_accuracy(scores, 100 * scores, rng=1).estimate
    1.0
    """
    draw = Resampler.of("metrics.soft_pairwise_accuracy", rng, n_jobs, progress)
    numbers("human", human, ndim=2, missing=True)  # lists of different lengths are not paired segments
    systems, x, z = read_segments(metric, human)
    if not len(x):
        raise JudgmentError("metric= and human= have no rows", expected="one row of scores for each system")
    i, j = all_pairs(len(systems))
    seed = draw.rng.integers(2**63)  # the same exchanges for both: equal scores agree exactly, others with less noise
    both = (replace(draw, rng=np.random.default_rng(seed)) for _ in range(2))
    human_p, metric_p = (sign_flips(scores, i, j, n, one) for scores, one in zip((z, x), both, strict=True))
    apart = int(np.isnan(human_p).sum())
    notes = [f"left out: {counted(apart, 'pair')} without a common human-scored segment"] if apart else []
    if len(human_p) == apart:
        notes.append("no pair of systems counts, so the accuracy is NaN")
    gaps = np.abs(human_p - metric_p)[~np.isnan(human_p)]
    estimate = 1 - float(gaps.mean()) if len(gaps) else np.nan
    names = [tuple(systems[k] for k in side) for side in (i, j)]
    return SoftPairwiseAccuracy(estimate, names[0], names[1], human_p, metric_p, n, tuple(notes))
