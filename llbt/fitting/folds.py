"""Folds of judgments, or of the clusters that judgments belong to: the parts of a table that are held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.table import counted, format_count
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError
from .clusters import clustered

_MOST_MARGINAL = 1e9  # up to so many judgments numpy can draw some without replacement


@dataclass(frozen=True, eq=False)
class Fold:
    """R lines of held-out counts (R, K), the comparison of each (R,), and the level of `by` (R,), if any."""

    rows: IntArray
    counts: FloatArray
    codes: IntArray | None

    def held(self, shape: tuple[int, ...]) -> FloatArray:
        """Return the held-out counts of all comparisons, (S, K)."""
        held = np.zeros(shape)
        np.add.at(held, self.rows, self.counts)
        return held


def folds_of(c: Comparisons, by: str, folds: int, rng: np.random.Generator) -> list[Fold]:
    """Return folds of single judgments for ``"judgment"``, or of the levels of a cluster or covariate."""
    return _of_judgments(c, folds, rng) if by == "judgment" else _of_levels(c, by, folds, rng)


def _of_judgments(c: Comparisons, folds: int, rng: np.random.Generator) -> list[Fold]:
    """Split the judgments into folds of equal size, each drawn without replacement from the remaining ones."""
    counts = c.outcome_counts
    if not np.all(counts == np.floor(counts)):
        raise DesignError(
            "the table has fractional counts, and parts of judgments cannot be held out",
            "Hold out the levels of a column: by='judge'.",
        )
    left = counts.ravel().astype(np.int64)
    if folds > left.sum():
        raise OptionError(
            f"folds={folds} of {counted(int(left.sum()), 'judgment')}", expected="at most as many folds as judgments"
        )
    parts = []
    for k in range(folds, 0, -1):
        size = int(left.sum()) // k
        if left.sum() < _MOST_MARGINAL:
            drawn = rng.multivariate_hypergeometric(left, size, method="marginals")
        else:
            drawn = rng.binomial(left, 1 / k)
        left = left - drawn
        held = drawn.reshape(counts.shape).astype(np.float64)
        rows = np.flatnonzero(held.any(axis=1))
        parts.append(Fold(rows, held[rows], None))
    return parts


def _of_levels(c: Comparisons, by: str, folds: int, rng: np.random.Generator) -> list[Fold]:
    lines = clustered(c, by, (by,))
    if folds > lines.size:
        raise OptionError(
            f"folds={folds} of {format_count(lines.size)} levels of {by}", f"Ask for folds={lines.size} or fewer."
        )
    fold = (rng.permutation(lines.size) % folds)[lines.codes]
    return [Fold(lines.rows[some], lines.counts[some], lines.codes[some]) for some in
            (np.flatnonzero(fold == k) for k in range(folds))]  # fmt: skip
