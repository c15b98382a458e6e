"""Notes on fractional counts: sums of weights, or ties that were split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.table import Qualifying
from ..core.columns import FloatArray

FRACTIONAL = Qualifying("Counts are fractional: AIC and BIC depend on the scale of the weights.")
_ROUNDING = 1e-9  # rounding of sums of whole and half judgments


def are_weights(counts: FloatArray) -> bool:
    """Whether counts are sums of weights, not of judgments and half ties."""
    halves = 2 * counts
    return bool((np.abs(halves - np.round(halves)) > _ROUNDING).any())


def fractional_notes(counts: FloatArray, groups: Sequence[str], clusters: Sequence[str]) -> tuple[str, ...]:
    """Return notes on how fractional counts change information criteria and, without clusters, standard errors.

    Parameters
    ----------
    counts : ndarray
    groups : sequence of str
        The clusters of the standard errors.
    clusters : sequence of str
        The clusters of the table.
    """
    if not np.any(counts % 1 > 0):
        return ()
    if groups or not are_weights(counts):
        return (FRACTIONAL,)
    unit = clusters[0] if clusters else "judge"
    reading = "" if clusters else f"from_judgments(…, weights=…, clusters={unit!r}), then "
    return (
        FRACTIONAL,
        Qualifying(
            "These standard errors take the weights as numbers of judgments. If they are sampling weights, cluster: "
            f"{reading}fit(…, cov_type='cluster', groups={unit!r})."
        ),
    )


def effect_notes(counts: FloatArray, grouping: str) -> tuple[str, ...]:
    """Return notes on how weights change a fit with effects of a grouping's levels."""
    if not are_weights(counts):
        return ()
    return (
        Qualifying(
            "Effects take fractional counts as numbers of judgments. If they are sampling weights, σ is wrong: leave "
            f"the effects out, and cluster: cov_type='cluster', groups={grouping!r}."
        ),
    )
