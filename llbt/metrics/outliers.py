"""Systems whose human scores lie far from the others, and why a correlation is undefined."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Positive, checked
from ..core.columns import FloatArray
from ..errors import LLBTWarning, warn_user
from .kernels import LEAST
from .system_scores import numbers

_NORMAL = 1.4826  # 1/Φ⁻¹(3/4): MAD times this estimates the standard deviation of a normal distribution
NO_SPREAD = "the median absolute deviation is 0 (at least half of the human scores are equal): no system is an outlier"


@checked
def outliers(z: object, cutoff: Positive = 2.5) -> npt.NDArray[np.bool_] | pd.Series[bool]:
    """Return for each system whether its human score is an outlier: far from the median in units of the MAD.

    Parameters
    ----------
    z : array or Series, shape (N,)
        Human scores of N systems.
    cutoff : float
        The distance from which a score is an outlier, in standard deviations estimated from the MAD.

    Returns
    -------
    ndarray or Series of bool, shape (N,)
        As `z`: a Series keeps its labels.

    Raises
    ------
    JudgmentError
        For scores that are not finite numbers.
    OptionError
        For a cutoff that is not positive.

    Warns
    -----
    LLBTWarning
        Where the MAD is 0; then no system is an outlier.

    Notes
    -----
    |z − median(z)| > cutoff · 1.4826 · MAD with MAD = median |z − median(z)|, on both sides. The search is not repeated
    without the outliers [1]_. The cutoff of 2.5 is from [1]_, after [2]_.

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
    scores = numbers("z", z)
    is_far, spread = far_systems(scores, float(cutoff))
    if len(scores) > 1 and not spread:
        warn_user(f"outliers: {NO_SPREAD}", LLBTWarning)
    return pd.Series(is_far, index=z.index, name=z.name) if isinstance(z, pd.Series) else is_far


def why_undefined(metric: FloatArray, human: FloatArray) -> str:
    """Return why a correlation of these scores is NaN; empty if it is defined."""
    if len(metric) < LEAST:
        return f"the correlation of fewer than {LEAST} systems is NaN"
    for name, values in (("metric", metric), ("human", human)):
        if np.ptp(values) == 0:
            return f"all {name} scores are equal, so the correlation is NaN"
    return ""


def far_systems(scores: FloatArray, cutoff: float) -> tuple[npt.NDArray[np.bool_], float]:
    """Return which scores lie far from the median, and the MAD; no score does if the MAD is 0."""
    if not len(scores):
        return np.zeros(0, dtype=bool), 0.0
    distance = np.abs(scores - np.median(scores))
    spread = float(np.median(distance))
    return (distance > cutoff * _NORMAL * spread) & (spread > 0), spread
