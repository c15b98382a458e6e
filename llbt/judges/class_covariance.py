"""The covariance of the parameters of latent classes and of their shares, for classes with finite estimates."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray
from ..kernel.mixture import FAR, Answers, Mixture, curvature

_NO_DIRECTION = 1e-8  # of the scaled information, below which a direction is not known


def infinite_classes(answers: Answers, mixture: Mixture) -> tuple[int, ...]:
    """Return the classes without finite estimates, 1 … K."""
    moved = [np.abs(rows.tocsr() @ mixture.params.T).max(axis=0) for rows in answers.problem.predictors]
    reach = np.max(moved, axis=0)
    return tuple(int(k) + 1 for k in np.flatnonzero(reach > FAR))


def joint_covariance(answers: Answers, mixture: Mixture, infinite: tuple[int, ...]) -> FloatArray:
    """Return the covariance of K·p parameters and of K − 1 log ratios of shares, NaN for infinite classes."""
    information = curvature(answers, mixture.shares, mixture.params)
    spread = information.spread
    size = mixture.params.shape[1]
    gone = np.zeros(len(spread), dtype=np.bool_)
    for label in infinite:
        gone[(label - 1) * size : label * size] = ~answers.common
    known = spread[~gone].any(axis=0)
    inverse = _inverse(information.information[np.ix_(known, known)])
    cov = spread[:, known] @ inverse @ spread[:, known].T
    cov[gone] = np.nan
    cov[:, gone] = np.nan
    return np.asarray(cov)


def _inverse(information: FloatArray) -> FloatArray:
    """Return the inverse of the information at a maximum; NaN elsewhere."""
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = linalg.eigh(information * np.outer(scale, scale))
    if len(values) and values[0] < _NO_DIRECTION:
        return np.full(information.shape, np.nan)
    return np.asarray((vectors / values) @ vectors.T * np.outer(scale, scale))
