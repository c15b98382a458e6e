"""Systems whose human scores lie far from the others, and what a correlation owes to them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..arguments import check_option, is_real
from ..core.columns import FloatArray
from ..errors import DesignError, LLBTWarning, listed, warn_user
from ..table import Field, Record, Table
from .kernels import COEFFICIENTS, LEAST, NAMES, Coefficient, plain_correlations
from .system_scores import numbers, read_systems

_NORMAL = 1.4826  # 1/Φ⁻¹(3/4): MAD times this estimates the standard deviation of a normal distribution
_NO_SPREAD = "the median absolute deviation is 0 (at least half of the human scores are equal): no system is an outlier"


@dataclass(frozen=True, repr=False, eq=False)
class OutlierCorrelation(Record):
    """A correlation of a metric with human scores, with and without outlying systems.

    Attributes
    ----------
    estimate, estimate_without : float
        Of all systems, and of those that are no outliers; NaN where undefined.
    n, n_without : int
        Number of systems.
    left_out : tuple of label
        The outliers.
    coefficient : {"pearson", "spearman", "kendall"}
    cutoff : float
    notes : tuple of str
    """

    estimate: float
    estimate_without: float
    n: int
    n_without: int
    left_out: tuple[Hashable, ...]
    coefficient: Coefficient
    cutoff: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return term, n, estimate: one row with all systems, one without outliers."""
        return Table(
            (
                Field("term", "", ["all systems", "without outliers"]),
                Field("n", "Systems", [self.n, self.n_without], "count"),
                Field("estimate", NAMES[self.coefficient], [self.estimate, self.estimate_without], "estimate"),
            ),
            title="Correlation with human scores",
            head=(f"Outliers: human scores more than {self.cutoff:g} · 1.4826 MAD from their median",),
            notes=(f"left out: {listed(self.left_out, 20)}" if self.left_out else "no outliers", *self.notes),
        )


def outliers(z: object, cutoff: float = 2.5) -> npt.NDArray[np.bool_] | pd.Series[bool]:
    """Return for each system whether its human score is an outlier: far from the median in units of the MAD.

    Parameters
    ----------
    z : array or Series, shape (N,)
        Human scores of N systems.
    cutoff : float
        How far, in standard deviations as estimated from the MAD.

    Returns
    -------
    ndarray or Series of bool, shape (N,)
        As `z`: a Series keeps its labels.

    Raises
    ------
    JudgmentError
        For scores that are not finite numbers.
    DesignError
        For a cutoff that is not positive.

    Warns
    -----
    LLBTWarning
        Where the MAD is 0; then no system is an outlier.

    Notes
    -----
    |z − median(z)| > cutoff · 1.4826 · MAD with MAD = median |z − median(z)|, on both sides, and once: what remains
    is not searched again [1]_. The cutoff of 2.5 is that of [1]_, after [2]_.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997.
    .. [2] Leys, C., Ley, C., Klein, O., Bernard, P. & Licata, L. (2013). Detecting outliers: do not use standard
       deviation around the mean, use absolute deviation around the median. Journal of Experimental Social Psychology
       49(4), 764-766.

    Examples
    --------
    >>> import llbt
    >>> llbt.metrics.outliers([0.2, 0.1, 0.0, -0.1, -1.4]).tolist()
    [False, False, False, False, True]
    """
    scores = numbers("outliers", "z", z)
    found, spread = _far(scores, _checked_cutoff("outliers", cutoff))
    if len(scores) > 1 and not spread:
        warn_user(f"outliers: {_NO_SPREAD}", LLBTWarning)
    return pd.Series(found, index=z.index, name=z.name) if isinstance(z, pd.Series) else found


def correlation_without_outliers(
    metric: object, human: object, *, coefficient: Coefficient = "pearson", cutoff: float = 2.5
) -> OutlierCorrelation:
    """Return the correlation of a metric with human scores of all systems, and of those that are no outliers.

    Parameters
    ----------
    metric, human : array or Series, shape (N,)
        Scores of N systems; two Series are matched by label.
    coefficient : {"pearson", "spearman", "kendall"}
    cutoff : float
        As in `outliers`, which are found in the human scores.

    Returns
    -------
    OutlierCorrelation

    Raises
    ------
    JudgmentError
        For scores that are not finite numbers or do not match.
    DesignError
        For unknown options.

    Notes
    -----
    A correlation of fewer than three systems, or of constant scores, is NaN.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997.

    Examples
    --------
    >>> import llbt
    >>> found = llbt.metrics.correlation_without_outliers([30, 28, 29, 27, 10], [0.2, 0.1, 0.0, -0.1, -1.4])
    >>> round(found.estimate, 3), round(found.estimate_without, 3), found.left_out
    (0.995, 0.8, (4,))
    """
    asker = "correlation_without_outliers"
    check_option(asker, "coefficient", coefficient, COEFFICIENTS)
    scores = read_systems(asker, metric, human)
    far, spread = _far(scores.human, _checked_cutoff(asker, cutoff))
    kept = scores.take(np.flatnonzero(~far))
    every, without = (
        float(plain_correlations(part.metric[None], part.human[None], coefficient)[0]) for part in (scores, kept)
    )
    notes = [_NO_SPREAD] if len(far) > 1 and not spread else []
    notes += [
        f"{term}: {reason}"
        for term, part in (("all systems", scores), ("without outliers", kept))
        if (reason := why_undefined(part.metric, part.human))
    ]
    left_out = tuple(system for system, is_far in zip(scores.systems, far, strict=True) if is_far)
    return OutlierCorrelation(every, without, len(far), len(kept.systems), left_out, coefficient, cutoff, tuple(notes))


def why_undefined(metric: FloatArray, human: FloatArray) -> str:
    """Return why a correlation of these scores is NaN; empty where it is not."""
    if len(metric) < LEAST:
        return f"the correlation of fewer than {LEAST} systems is NaN"
    for name, values in (("metric", metric), ("human", human)):
        if np.ptp(values) == 0:
            return f"all {name} scores are equal, so the correlation is NaN"
    return ""


def _far(scores: FloatArray, cutoff: float) -> tuple[npt.NDArray[np.bool_], float]:
    """Return which scores lie far from the median, and the MAD; none where that is 0."""
    if not len(scores):
        return np.zeros(0, dtype=bool), 0.0
    distance = np.abs(scores - np.median(scores))
    spread = float(np.median(distance))
    return (distance > cutoff * _NORMAL * spread) & (spread > 0), spread


def _checked_cutoff(asker: str, cutoff: object) -> float:
    if not is_real(cutoff) or not 0 < float(cutoff) < np.inf:
        raise DesignError(f"{asker}: cutoff={cutoff!r}; it is a positive number of standard deviations, 2.5 say.")
    return float(cutoff)
