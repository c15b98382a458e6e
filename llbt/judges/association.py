"""Which judges are in which class: class membership by covariates of the judges, in three steps.

Step one fits the classes without the covariate. Step two puts each judge into the most probable class. A table of these
classes is attenuated, because some judges are in the wrong class. The posteriors show how often this happens: D_ts =
P(put to s | belongs to t). Step three maximizes Σ_g log Σ_t P(t | z_g) D_t,s(g) over the P(t | z), which is consistent
(Vermunt 2010, Political Analysis 18(4), 450-469, the ML method).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy import linalg, optimize, special

from ..base.arguments import Confidence, checked
from ..base.notes import Qualifying
from ..base.table import Field, Record, Table, counted, format_number, format_p, format_percent, interval_fields
from ..core.columns import Coded, FloatArray, IntArray, Label
from ..core.comparisons import Comparisons
from ..core.statistics import chi2_p_value, critical_value
from ..errors import DesignError, OptionError
from ..kernel.mixture import FAR
from .judge_table import judge_covariate

_ALIKE = 1e-4  # smallest singular value of D, below which classes cannot be told apart
_NONE = 1e-4  # a share, below which it is at the bound: no standard error
_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, repr=False, eq=False)
class Association(Record):
    """Shares of the classes by a covariate of the judges, corrected for judges in the wrong class.

    Made by ``llbt.judges.classes(formula, c)[k].association(covariate)``.

    Attributes
    ----------
    covariate : str
    by : str
        The column whose levels are the judges.
    values : tuple, length V
        Levels of the covariate; for a numeric covariate, its quartiles.
    judges : ndarray of int, shape (V,)
        The number of judges with the level; for a numeric covariate, the number of all judges.
    shares : ndarray, shape (V, K)
        The probability of each class at each value.
    std_errors : ndarray, shape (V, K)
        NaN where a share is 0 or 1.
    coefficients : DataFrame
        class, term, estimate, std_error: log-odds of each class against class 1, a row per class and term; std_error is
        NaN if the log-odds are infinite.
    errors : ndarray, shape (K, K)
        D: the probability that a judge of the row's class is put into the column's class.
    statistic : float
        Twice the difference of the log-likelihoods with and without the covariate.
    df : int
    """

    _made_by: ClassVar[str] = "llbt.judges.classes(formula, c)[k].association(covariate)"

    covariate: str
    by: str
    values: tuple[Label, ...]
    judges: IntArray
    shares: FloatArray
    std_errors: FloatArray
    coefficients: pd.DataFrame
    errors: FloatArray
    statistic: float
    df: int

    @property
    def p_value(self) -> float:
        """The p-value of `statistic`, by χ² with `df` degrees of freedom."""
        return chi2_p_value(self.statistic, self.df)

    @checked
    def summary(self, *, confidence: Confidence = 0.95) -> Table:
        """Return value, n_judges, class, share, std_error, conf_low, conf_high; a row per value and class.

        Intervals are computed for the log-odds of the share.
        """
        classes = self.shares.shape[1]
        share, error = self.shares.ravel(), self.std_errors.ravel()
        known = np.isfinite(error)
        half = np.full(share.shape, np.nan)
        half[known] = critical_value(confidence, np.inf) * error[known] / (share[known] * (1 - share[known]))
        middle = special.logit(np.where(known, share, 0.5))
        fields = (
            Field("value", self.covariate, [value for value in self.values for _ in range(classes)]),
            Field("n_judges", "judges", np.repeat(self.judges, classes), "count"),
            Field("class", "class", np.tile(np.arange(1, classes + 1), len(self.values)), "count"),
            Field("share", "share", share, "estimate", 3),
            Field("std_error", "Std. Error", error, "estimate", 3),
            *interval_fields(special.expit(middle - half), special.expit(middle + half), confidence),
        )
        ratio_text = f"Likelihood ratio: {format_number(self.statistic, 4)} on {self.df} df, p {format_p(self.p_value)}"
        return Table(
            fields, title=f"Latent classes of {self.by} by {self.covariate}", foot=(ratio_text,), notes=self._notes()
        )

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()

    def _notes(self) -> tuple[str, ...]:
        right = np.diag(self.errors)
        low, high = (f"{format_percent(right[k])} (class {k + 1})" for k in (right.argmin(), right.argmax()))
        notes = [
            f"Judges placed in the right class: {low} to {high}.",
            "Shares are corrected for misplaced judges (Vermunt 2010).",
            "Standard errors take these percentages as known, and are too small if one is low.",
            f"{self.covariate} is assumed independent of the answers, given the class.",
        ]
        if np.isnan(self.std_errors).any():
            notes.append(Qualifying("A share of 0 or 1 has no standard error, and the p-value is approximate."))
        return tuple(notes)


def association(c: Comparisons, posterior: pd.DataFrame, shares: FloatArray, covariate: str) -> Association:
    """Return the association of the classes with one covariate of the judges (step three).

    Parameters
    ----------
    c : Comparisons
    posterior : DataFrame, shape (G, K)
        The probability of each class for each judge; the index is named after the column of judges.
    shares : ndarray, shape (K,)
    covariate : str
    """
    classes, by, levels = len(shares), str(posterior.index.name), posterior.index.tolist()
    if classes == 1:
        raise OptionError(
            "one class holds all judges", "Use a fit with more classes: models[2].", expected="at least 2 classes"
        )
    column = judge_covariate(c, by, covariate, levels)
    seen = np.unique(column.codes)
    if len(seen) < 2:
        (only,) = column.levels[seen].tolist()
        raise DesignError(
            f"{covariate!r} is {only!r} for all {counted(len(levels), 'judge')}",
            expected="a covariate in which judges differ",
        )
    probable = posterior.to_numpy()
    placed = probable.argmax(axis=1)
    errors = probable.T @ np.eye(classes)[placed] / probable.sum(axis=0)[:, None]
    if linalg.svdvals(errors)[-1] < _ALIKE:
        raise DesignError(
            f"the most probable classes of the judges do not separate the {classes} classes",
            "Take fewer classes.",
            expected="each class the most probable one for some judges",
        )
    values, names, z, at = _design(column, seen)
    likelihood = errors[:, placed].T
    null, _ = _fitted(z[:, :1], likelihood, shares)
    maximum, params = _fitted(z, likelihood, shares)
    cov = _covariance(z, likelihood, params)
    found_shares, share_errors = _shares(at, params, cov)
    every = np.full(len(values), len(z))
    judges = every if column.numeric else np.bincount(column.codes, minlength=len(column.levels))[seen]
    return Association(
        covariate, by, values, judges, found_shares, share_errors, _coefficients(z, params, cov, names), errors,
        max(0.0, 2 * (maximum - null)), (classes - 1) * (z.shape[1] - 1),
    )  # fmt: skip


def _design(column: Coded, seen: IntArray) -> tuple[tuple[Label, ...], list[str], FloatArray, FloatArray]:
    """Return the values to print, the names of the terms, and the design rows of judges (G, q) and values (V, q)."""
    if column.numeric:
        number = np.asarray(column.levels, dtype=np.float64)[column.codes]
        quartiles = np.unique(np.quantile(number, _QUARTILES))
        z, at = (np.column_stack([np.ones(len(part)), part]) for part in (number, quartiles))
        return tuple(quartiles.tolist()), ["Intercept", column.name], z, at
    levels = [column.levels[code] for code in seen.tolist()]
    at = np.eye(len(seen))
    at[:, 0] = 1.0
    names = ["Intercept", *(f"{column.name}[{level}]" for level in levels[1:])]
    return tuple(levels), names, at[np.searchsorted(seen, column.codes)], at


def _membership(z: FloatArray, params: FloatArray) -> FloatArray:
    """Return P(t | z), shape (G, K), of log-odds (K − 1, q) against the first class."""
    logits = np.column_stack([np.zeros(len(z)), z @ params.T])
    return np.asarray(special.softmax(logits, axis=1))


def _fitted(z: FloatArray, likelihood: FloatArray, shares: FloatArray) -> tuple[float, FloatArray]:
    """Return the maximum of Σ_g log Σ_t P(t | z_g) L_gt, and the coefficients at the maximum, (K − 1, q)."""
    scale = np.r_[1.0, np.abs(z[:, 1:]).max(axis=0)]
    scaled = z / scale
    shape = (likelihood.shape[1] - 1, z.shape[1])

    def value(point: FloatArray) -> tuple[float, FloatArray]:
        p = _membership(scaled, point.reshape(shape))
        joint = p * likelihood
        norm = joint.sum(axis=1)
        score = (joint / norm[:, None] - p)[:, 1:].T @ scaled
        return -float(np.log(norm).sum()), -score.ravel()

    start = np.zeros(shape)
    start[:, 0] = np.log(shares[1:] / shares[0])
    search = optimize.minimize(
        value, start.ravel(), jac=True, method="trust-exact", options={"gtol": 1e-7, "maxiter": 500},
        hess=lambda point: _information(scaled, likelihood, point.reshape(shape)),
    )  # fmt: skip
    return -float(search.fun), search.x.reshape(shape) / scale


def _information(z: FloatArray, likelihood: FloatArray, params: FloatArray) -> FloatArray:
    """Return the observed information, (K − 1)q by (K − 1)q."""
    p = _membership(z, params)
    joint = p * likelihood
    r = (joint / joint.sum(axis=1, keepdims=True))[:, 1:]
    p = p[:, 1:]
    size, q = params.shape
    information = np.empty((size, q, size, q))
    for s in range(size):
        for t in range(size):
            weight = r[:, s] * r[:, t] - p[:, s] * p[:, t] + (s == t) * (p[:, s] - r[:, s])
            information[s, :, t, :] = z.T @ (weight[:, None] * z)
    return information.reshape(size * q, size * q)


def _covariance(z: FloatArray, likelihood: FloatArray, params: FloatArray) -> FloatArray:
    """Return the inverse information without infinite directions; the shares do not depend on these directions."""
    information = _information(z, likelihood, params)
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = linalg.eigh(information * np.outer(scale, scale))
    inverse = np.where(values > 1e-10, 1 / np.maximum(values, 1e-10), 0.0)
    return np.asarray((vectors * inverse) @ vectors.T * np.outer(scale, scale))


def _shares(at: FloatArray, params: FloatArray, cov: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the shares at each value, (V, K), and their standard errors by the delta method."""
    shares = _membership(at, params)
    errors = np.empty_like(shares)
    for v, (row, share) in enumerate(zip(at, shares, strict=True)):
        slope = np.kron((np.diag(share) - np.outer(share, share))[:, 1:], row)
        errors[v] = np.sqrt(np.maximum(np.einsum("ka,ab,kb->k", slope, cov, slope), 0.0))
    errors[(shares < _NONE) | (shares > 1 - _NONE)] = np.nan
    return shares, errors


def _coefficients(z: FloatArray, params: FloatArray, cov: FloatArray, names: list[str]) -> pd.DataFrame:
    size = len(params)
    errors = np.sqrt(np.diag(cov))
    errors[(np.abs(params) * np.abs(z).max(axis=0) > FAR).ravel()] = np.nan
    return pd.DataFrame(
        {
            "class": np.repeat(np.arange(2, size + 2), len(names)),
            "term": names * size,
            "estimate": params.ravel(),
            "std_error": errors,
        }
    )
