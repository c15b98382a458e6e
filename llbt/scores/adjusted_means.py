"""Means of systems with missing scores, adjusted to the same instances by the two-way model; arrays only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..core.columns import FloatArray
from .grouped_tests import Means, Units, means, over_domains
from .paired_tests import cleaned, lengths


def adjusted_means(values: FloatArray, units: Units, scale: FloatArray) -> tuple[Means, FloatArray] | None:
    """Return means of systems adjusted for their missing instances; None if no comparison is possible.

    The second array holds the contribution of each group, shape (N, G): products of its rows are the covariances of the
    means.

    Scores are x_si = a_s + b_i + error, by least squares over the available cells. The adjusted mean of a system is a_s
    plus the mean of b over all instances: its expectation on all instances. If no cell is missing, it is the plain
    mean. With G groups the variance is (G − 1)/G Σ_g (ψ_sg/(1 − h_sg))², ψ_sg the sum of the group's influences on the
    adjusted mean and h_sg its share of the system's instances: if no cell is missing, it is CR3 of the plain mean.
    Degrees of freedom are those of the plain mean.

    Parameters
    ----------
    values : ndarray, shape (N, M)
        NaN where there is no score; every system has one.
    units : Units
    scale : ndarray, shape (N,)
        The magnitude of the scores; values below their rounding error count as 0.

    Notes
    -----
    Systems cannot be adjusted to each other if no chain of shared instances connects them.
    """
    if units.parts:
        by_part = [adjusted_means(values[:, inside], part, scale) for inside, part in units.parts]
        known = [part for part in by_part if part is not None]
        if len(known) < len(by_part):
            return None
        root = np.concatenate([root for _, root in known], axis=1) / len(known)
        return over_domains([part for part, _ in known]), root
    plain = means(values, units, scale)
    there = ~np.isnan(values)
    shared = np.asarray(there.any(axis=0))
    cells = there.astype(np.float64)
    if _components(cells) > 1:
        return None
    number = np.maximum(cells.sum(axis=0), 1.0)
    scores = np.nan_to_num(values)
    # equations of the systems, the instances eliminated; a constant of all systems belongs to the instances
    left = np.diag(cells.sum(axis=1)) - (cells / number) @ cells.T
    right = (scores - cells * (scores.sum(axis=0) / number)).sum(axis=1)
    size = len(values)
    inverse = np.linalg.inv(left + cells.sum() / size**2) - 1 / cells.sum()
    system = inverse @ right
    instance = (scores.sum(axis=0) - system @ cells) / number
    level = instance[shared].mean()
    residual = np.where(there, scores - system[:, None] - instance, 0.0)
    # a change of the systems changes the level by minus the mean of what each has of the instances
    mixed = (cells / number)[:, shared].mean(axis=1)
    influence = (inverse - mixed @ inverse) @ residual + np.where(shared, (instance - level) / shared.sum(), 0.0)
    rest = 1 - units.sums(cells) / cells.sum(axis=1, keepdims=True)
    sums = units.sums(influence) / np.where(np.isnan(plain.df)[:, None] | (rest <= 0), np.nan, rest)
    groups = np.count_nonzero(units.sums(shared[None, :].astype(np.float64)))
    root = np.sqrt((groups - 1) / groups) * sums
    spread = cleaned(lengths(root) * np.sqrt(cells.sum(axis=1)), scale) / np.sqrt(cells.sum(axis=1))
    error = np.where(np.isnan(plain.df), np.nan, spread)
    return Means(cleaned(system + level, scale), error, plain.effective), root


def _components(cells: npt.NDArray[np.float64]) -> int:
    """Return the number of groups of systems (rows) that share no instance, directly or through other systems."""
    return int(connected_components(csr_array(cells @ cells.T), directed=False)[0])
