"""Correlations of many pairs of short vectors at once: arrays in, arrays out."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy import stats

from ...columns import FloatArray

Coefficient = Literal["pearson", "spearman", "kendall"]

COEFFICIENTS: tuple[str, ...] = get_args(Coefficient)
SYMBOLS: dict[str, str] = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "kendall": "Kendall's τ-b"}
LEAST = 3  # of two systems every coefficient is ±1, whatever the metric


def row_correlations(x: FloatArray, y: FloatArray, coefficient: Coefficient) -> FloatArray:
    """Return the correlation of each row of x with the same row of y, shape (B,).

    Parameters
    ----------
    x, y : ndarray, shape (B, n)
    coefficient : {"pearson", "spearman", "kendall"}
        Kendall's is τ-b.

    Returns
    -------
    ndarray, shape (B,)
        NaN for rows that are constant in x or y, and where n < 3.
    """
    if x.shape[1] < LEAST:
        return np.full(len(x), np.nan)
    constant = (np.ptp(x, axis=1) == 0) | (np.ptp(y, axis=1) == 0)
    if coefficient == "kendall":
        i, j = np.triu_indices(x.shape[1], 1)
        x, y = np.sign(x[:, i] - x[:, j]), np.sign(y[:, i] - y[:, j])
    else:
        if coefficient == "spearman":
            x, y = stats.rankdata(x, axis=1), stats.rankdata(y, axis=1)
        x, y = (_centred(values) for values in (x, y))
    scale = np.sqrt((x**2).sum(axis=1)) * np.sqrt((y**2).sum(axis=1))
    r = (x * y).sum(axis=1) / np.where(constant | (scale == 0), np.nan, scale)
    return np.asarray(np.clip(r, -1.0, 1.0))


def _centred(values: FloatArray) -> FloatArray:
    """Return rows with mean 0 and largest absolute value 1, so that squares neither overflow nor vanish."""
    centred = values - values.mean(axis=1, keepdims=True)
    largest = np.abs(centred).max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(centred / np.where(largest > 0, largest, 1.0))
