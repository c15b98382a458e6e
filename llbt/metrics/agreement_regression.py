"""The logistic regression of agreement on the size of a difference, and its errors by groups of pairs. Arrays only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from ..core.columns import FloatArray, IntArray
from ..core.statistics import critical_values

_FEWEST = 2.0  # groups of equal weight below which nothing is known of how groups differ
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class AgreementRegression:
    """logit P(agree) = a + b·|difference|.

    Attributes
    ----------
    params : ndarray, shape (2,)
        a and b; NaN where they are not finite.
    cov : ndarray, shape (2, 2)
    shares : ndarray, shape (G, 2, 2)
        V H_g V, what each group of pairs contributes to the covariance of independent pairs; none without groups.
    reason : str
        Why estimates or errors are NaN; empty where they are not.
    """

    params: FloatArray
    cov: FloatArray
    shares: FloatArray
    reason: str = ""

    def errors(self, rows: FloatArray) -> FloatArray:
        """Return standard errors of linear combinations (m, 2), shape (m,)."""
        return np.asarray(np.sqrt(np.einsum("mi,ij,mj->m", rows, self.cov, rows)))

    def critical(self, rows: FloatArray, confidence: float) -> FloatArray:
        """Return how many standard errors the intervals of linear combinations (m, 2) reach, shape (m,).

        Quantiles of t on G* − 1 df, G* = (Σv)²/Σv² the effective number of groups with v = rᵀV H_g V r; of the normal
        distribution without groups. NaN below two groups of equal weight.
        """
        if not len(self.shares):
            return critical_values(confidence, np.full(len(rows), np.inf))
        v = np.einsum("mi,gij,mj->mg", rows, self.shares, rows)
        effective = v.sum(axis=1) ** 2 / (v**2).sum(axis=1)
        few = ~(effective >= _FEWEST - _ROUNDING)
        return np.where(few, np.nan, critical_values(confidence, np.maximum(effective, _FEWEST) - 1))


def agreement_regression(
    size: FloatArray, agree: npt.NDArray[np.bool_], groups: IntArray | None
) -> AgreementRegression:
    """Return the maximum likelihood fit to P pairs, with errors by leaving out each group where there are groups.

    Parameters
    ----------
    size : ndarray, shape (P,)
        |Difference|.
    agree : ndarray of bool, shape (P,)
    groups : ndarray of int, shape (P,), or None
        For independent pairs.
    """
    reason = _not_finite(size, agree)
    if reason:
        return AgreementRegression(np.full(2, np.nan), np.full((2, 2), np.nan), np.empty((0, 2, 2)), reason)
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    scale = size.max()  # a metric may be on any scale
    rows = np.column_stack([np.ones(len(size)), size / scale])
    res = GLM(agree.astype(float), rows, family=Binomial()).fit(tol=1e-12, maxiter=200)
    params, cov = np.asarray(res.params), np.asarray(res.cov_params())
    unit = np.array([1.0, 1 / scale])
    if groups is None:
        return AgreementRegression(params * unit, cov * np.outer(unit, unit), np.empty((0, 2, 2)))
    probability = special.expit(rows @ params)
    labels = np.unique(groups)
    inside = [groups == label for label in labels]
    scores = np.array([rows[k].T @ (agree - probability)[k] for k in inside])
    weight = (probability * (1 - probability))[:, None]
    information = np.array([rows[k].T @ (weight * rows)[k] for k in inside])
    shares = (cov @ information @ cov) * np.outer(unit, unit)
    if any(_not_finite(size[~k], agree[~k]) for k in inside):
        reason = "the curve is finite because of one group only, so it has no standard errors by groups"
        return AgreementRegression(params * unit, np.full((2, 2), np.nan), shares, reason)
    return AgreementRegression(params * unit, _left_out(scores, information, cov) * np.outer(unit, unit), shares)


def _left_out(scores: FloatArray, information: FloatArray, cov: FloatArray) -> FloatArray:
    """Return CR3 from scores (G, 2) and information (G, 2, 2): (G − 1)/G · V Σ u uᵀ V, (I − H_g V) u_g = s_g."""
    adjusted = np.linalg.solve(np.eye(2) - information @ cov, scores[:, :, None])[:, :, 0]
    moved = adjusted @ cov
    return np.asarray((len(scores) - 1) / len(scores) * moved.T @ moved)


def _not_finite(size: FloatArray, agree: npt.NDArray[np.bool_]) -> str:
    """Return why there is no finite estimate, or an empty text."""
    if not len(size):
        return "no pairs, so the curve is NaN"
    if agree.all() or not agree.any():
        return f"{'all' if agree.all() else 'no'} pairs agree, so the curve has no finite estimate"
    yes, no = size[agree], size[~agree]
    if np.ptp(size) == 0:
        return "all differences are of the same size, so the curve is undefined"
    if no.max() <= yes.min() or yes.max() <= no.min():
        return "agreement is separated by the size of the difference, so the curve has no finite estimate"
    return ""
