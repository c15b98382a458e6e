"""Logistic regressions of agreement on pairs of systems, with standard errors by groups of pairs. Arrays only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from ..core.columns import FloatArray, IntArray
from ..core.statistics import critical_values

_FEWEST = 2.0  # groups of equal weight below which nothing is known of how groups differ
_ROUNDING = 1e-9

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AgreementRegression:
    """A logistic regression of agreement: logit P(agree) = xᵀb, for example a + b·|difference|.

    Attributes
    ----------
    params : ndarray, shape (p,)
        NaN where an estimate is not finite.
    cov : ndarray, shape (p, p)
    shares : ndarray, shape (G, p, p)
        V H_g V, the contribution of each group g to V: V is the covariance for independent pairs, H_g the information
        of the group. Empty without groups.
    reason : str
        Why estimates or standard errors are NaN; empty if none is.
    """

    params: FloatArray
    cov: FloatArray
    shares: FloatArray
    reason: str = ""

    def errors(self, rows: FloatArray) -> FloatArray:
        """Return standard errors of linear combinations (m, p), shape (m,)."""
        return np.asarray(np.sqrt(np.einsum("mi,ij,mj->m", rows, self.cov, rows)))

    def effective(self, rows: FloatArray) -> FloatArray:
        """Return G* = (Σv)²/Σv², the effective number of groups with v = rᵀV H_g V r, shape (m,); ∞ without groups."""
        if not len(self.shares):
            return np.full(len(rows), np.inf)
        v = np.einsum("mi,gij,mj->mg", rows, self.shares, rows)
        return np.asarray(v.sum(axis=1) ** 2 / (v**2).sum(axis=1))

    def critical(self, rows: FloatArray, confidence: float) -> FloatArray:
        """Return the critical values for intervals of linear combinations (m, p), shape (m,).

        Quantiles of t on G* − 1 df; of the normal distribution without groups. NaN below two groups of equal weight.
        """
        effective = self.effective(rows)
        few = ~(effective >= _FEWEST - _ROUNDING)
        return np.where(few, np.nan, critical_values(confidence, np.maximum(effective, _FEWEST) - 1))

    def p_values(self, rows: FloatArray) -> FloatArray:
        """Return two-sided p-values of linear combinations (m, p) being 0, shape (m,), with t as in `critical`."""
        effective = self.effective(rows)
        few = ~(effective >= _FEWEST - _ROUNDING)
        p = 2 * stats.t.sf(np.abs(rows @ self.params / self.errors(rows)), np.maximum(effective, _FEWEST) - 1)
        return np.where(few, np.nan, p)


def agreement_regression(size: FloatArray, agree: Mask, groups: IntArray | None) -> AgreementRegression:
    """Return the regression of agreement on |difference|; standard errors leave out each group, if any, in turn.

    Parameters
    ----------
    size : ndarray, shape (P,)
        |Difference|.
    agree : ndarray of bool, shape (P,)
    groups : ndarray of int, shape (P,), or None
        None for independent pairs.
    """
    reason = _not_finite(size, agree)
    if reason:
        return AgreementRegression(np.full(2, np.nan), np.full((2, 2), np.nan), np.empty((0, 2, 2)), reason)
    inside = [] if groups is None else [groups == label for label in np.unique(groups)]
    regression = logistic_regression(np.column_stack([np.ones(len(size)), size]), agree, inside)
    if any(_not_finite(size[~k], agree[~k]) for k in inside):
        reason = "the curve is infinite if one of the groups is left out, so it has no standard errors by groups"
        return AgreementRegression(regression.params, np.full((2, 2), np.nan), regression.shares, reason)
    return regression


def logistic_regression(rows: FloatArray, agree: Mask, groups: Sequence[Mask]) -> AgreementRegression:
    """Return the maximum likelihood fit; standard errors leave out each group in turn, or take rows as independent.

    Parameters
    ----------
    rows : ndarray, shape (R, p)
        Columns of full rank, for which the estimate is finite.
    agree : ndarray of bool, shape (R,)
    groups : sequence of ndarray of bool, each (R,)
        The rows of each group. Groups may overlap, as pairs of systems do if a group is the pairs of one system.
    """
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    unit = 1 / np.abs(rows).max(axis=0)  # a metric may be on any scale
    x = rows * unit
    res = GLM(agree.astype(float), x, family=Binomial()).fit(tol=1e-12, maxiter=200)
    params, cov = np.asarray(res.params), np.asarray(res.cov_params())
    size = len(params)
    if not len(groups):
        return AgreementRegression(params * unit, cov * np.outer(unit, unit), np.empty((0, size, size)))
    probability = special.expit(x @ params)
    weight, left = (probability * (1 - probability))[:, None], agree - probability
    scores = np.array([x[k].T @ left[k] for k in groups])
    information = np.array([x[k].T @ (weight[k] * x[k]) for k in groups])
    shares = (cov @ information @ cov) * np.outer(unit, unit)
    return AgreementRegression(params * unit, _left_out(scores, information, cov) * np.outer(unit, unit), shares)


def _left_out(scores: FloatArray, information: FloatArray, cov: FloatArray) -> FloatArray:
    """Return CR3 from scores (G, p) and information (G, p, p): (G − 1)/G · V Σ u uᵀ V, (I − H_g V) u_g = s_g.

    V u_g is how far one step of Newton's method moves the estimate if group g is left out. If one group alone
    determines a linear combination, this step does not exist, and the standard error of the combination means nothing.
    Other combinations keep valid standard errors.
    """
    root = np.linalg.cholesky(cov)
    values, vectors = np.linalg.eigh(np.eye(len(cov)) - root.T @ information @ root)
    inverse = np.where(values > _ROUNDING, 1 / np.maximum(values, _ROUNDING), 0.0)
    steps = inverse * np.einsum("gkj,gk->gj", vectors, scores @ root)
    moved = np.einsum("gij,gj->gi", vectors, steps) @ root.T
    return np.asarray((len(scores) - 1) / len(scores) * moved.T @ moved)


def _not_finite(size: FloatArray, agree: Mask) -> str:
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
