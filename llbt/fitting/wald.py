"""Estimates with their covariance, for fits of all kinds: standard errors, intervals, frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pandas as pd
from scipy import stats

from ..base.arguments import Share, checked
from ..base.budgets import refuse_parameters
from ..base.frame_styles import FrameStyle, in_style
from ..core.columns import FloatArray, IntArray
from ..formulas.design import Design
from ..kernel.robust import Covariance
from .attributes import Attribute
from .specification import IntervalMethod


class Wald(Protocol):
    """Estimates of p parameters, and the errors of their linear combinations."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, length p."""

    @property
    def values(self) -> FloatArray:
        """The estimates, shape (p,); NaN where aliased."""

    @property
    def errors(self) -> FloatArray:
        """Standard errors, shape (p,); NaN where aliased, held or unknown."""

    @property
    def matrix(self) -> FloatArray:
        """The covariance, shape (p, p); NaN where aliased or unknown, 0 where held."""

    @property
    def df(self) -> float:
        """Degrees of freedom of t; infinite for the normal."""

    @property
    def df_each(self) -> FloatArray:
        """Degrees of freedom of each parameter, shape (p,)."""

    @property
    def aliased(self) -> tuple[str, ...]:
        """The parameters without an estimate."""

    @property
    def others(self) -> Mapping[str, Sequence[int]]:
        """Names without a parameter, and the parameters whose negative sum each is; a reference has none and is 0."""

    @property
    def clustered(self) -> bool:
        """Whether the covariance is by clusters."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of every test of combinations."""

    def df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of linear combinations (k, p), shape (k,)."""

    def combined(self, rows: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations (k, p), shape (k, k); NaN for unknown ones."""

    def rank(self, rows: FloatArray) -> int:
        """Return the number of linear combinations (k, p) that are independent of each other."""

    def missing_notes(self, estimate: FloatArray, error: FloatArray) -> tuple[str, ...]:
        """Return why combinations that have an estimate have no standard error."""


@dataclass(frozen=True, eq=False)
class Estimated:
    """Estimates with a covariance matrix; see `Wald`. m of the p parameters were estimated.

    Attributes
    ----------
    names : tuple of str, length p
    values : ndarray, shape (p,)
    places : ndarray of int, shape (m,)
        Which of the parameters were estimated.
    covariance : Covariance
        The covariance of the m estimates, (m, m).
    held : tuple of int
        Which of the other parameters were held at their values.
    others : mapping of str to sequence of int
    notes : tuple of str
    """

    names: tuple[str, ...]
    values: FloatArray
    places: IntArray
    covariance: Covariance
    held: tuple[int, ...] = ()
    others: Mapping[str, Sequence[int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def aliased(self) -> tuple[str, ...]:
        """The parameters without an estimate."""
        return tuple(name for name, value in zip(self.names, self.values, strict=True) if np.isnan(value))

    @property
    def errors(self) -> FloatArray:
        """Standard errors, shape (p,)."""
        errors = np.full(len(self.names), np.nan)
        known = ~self.covariance.unknown_each(len(self.places))
        errors[self.places[known]] = np.sqrt(self.covariance.diagonal[known])
        return errors

    @property
    def matrix(self) -> FloatArray:
        """The covariance, shape (p, p)."""
        matrix = np.full((len(self.names), len(self.names)), np.nan)
        known = ~self.covariance.unknown_each(len(self.places))
        matrix[np.ix_(self.places[known], self.places[known])] = self.covariance.matrix[np.ix_(known, known)]
        for k in self.held:
            estimated = np.append(self.places, self.held)
            matrix[k, estimated] = matrix[estimated, k] = 0.0
        return matrix

    @property
    def df(self) -> float:
        """Degrees of freedom of t; infinite for the normal."""
        return self.covariance.df

    @property
    def df_each(self) -> FloatArray:
        """Degrees of freedom of each parameter, shape (p,)."""
        return self.covariance.df_each(self.places, len(self.names))

    @property
    def clustered(self) -> bool:
        """Whether the covariance is by clusters."""
        return self.covariance.independent is not None

    def df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of linear combinations (k, p), shape (k,)."""
        if not self.covariance.differs:
            return np.full(len(rows), self.covariance.df)
        return self.covariance.df_of(rows[:, self.places])

    def combined(self, rows: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations (k, p), shape (k, k).

        Parameters that are aliased or held add nothing.
        """
        some = rows[:, self.places]
        covariance = self.covariance.combined(some)
        unknown = self.covariance.unknown(some) | rows[:, self._unknown].any(axis=1)
        covariance[unknown], covariance[:, unknown] = np.nan, np.nan
        return covariance

    @property
    def _unknown(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which parameters have an estimate but no covariance, and are not held either, shape (p,)."""
        has_estimate = ~np.isnan(self.values)
        has_estimate[self.places], has_estimate[list(self.held)] = False, False
        return has_estimate

    def rank(self, rows: FloatArray) -> int:
        """Return the rank of linear combinations (k, p), in units of standard errors of independent observations."""
        independent = self.covariance.independent
        unit = self._unknown.astype(np.float64)
        unit[self.places] = np.sqrt(self.covariance.diagonal if independent is None else np.diag(independent))
        return int(np.linalg.matrix_rank(rows * unit))

    def missing_notes(self, estimate: FloatArray, error: FloatArray) -> tuple[str, ...]:
        """Return why combinations that have an estimate have no standard error."""
        return self.covariance.missing_notes(estimate, error)


def others_of(design: Design) -> dict[str, Sequence[int]]:
    """Return the names without a parameter that a hypothesis may mention; see `Wald`."""
    references: dict[str, Sequence[int]] = dict.fromkeys(design.references, ())
    return references | {name: columns for _, name, columns in design.sums}


# -- attributes --------------------------------------------------------------------------------------------------------


class WithEstimates(Protocol):
    """A fit whose estimates have a covariance."""

    @property
    def estimated(self) -> Wald:
        """The estimates with their covariance."""


@Attribute
def aliased(fit: WithEstimates) -> tuple[str, ...]:
    """Parameters that the data do not determine given the earlier ones; NA, as in R."""
    return fit.estimated.aliased


@Attribute
def params(fit: WithEstimates) -> pd.Series[float]:
    """Estimates, shape (p,); NaN where aliased."""
    return _series(fit, fit.estimated.values, "estimate")


@Attribute
def bse(fit: WithEstimates) -> pd.Series[float]:
    """Standard errors, shape (p,); NaN for parameters that are aliased, held, or informed by a single cluster."""
    return _series(fit, fit.estimated.errors, "std_error")


@Attribute
def tvalues(fit: WithEstimates) -> pd.Series[float]:
    """Estimates over standard errors (z values, or t where `df_inference` is finite), shape (p,)."""
    return _series(fit, fit.estimated.values / fit.estimated.errors, "statistic")


@Attribute
def pvalues(fit: WithEstimates) -> pd.Series[float]:
    """Two-sided p-values of `tvalues`, shape (p,)."""
    of = fit.estimated
    return _series(fit, 2 * stats.t.sf(np.abs(of.values / of.errors), of.df_each), "p_value")


@Attribute
def df_inference(fit: WithEstimates) -> float:
    """Degrees of freedom of the t distribution behind tests and intervals; infinite for the normal."""
    return fit.estimated.df


class WithIntervals(WithEstimates, Protocol):
    """A fit whose estimates have profile likelihood intervals, or which states why they have none."""

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Return where the profile likelihood of each parameter has fallen by `drop`, shape (p, 2)."""


class Methods:
    """Methods for fits of all kinds whose estimates have a covariance."""

    @checked
    def conf_int(self: WithIntervals, alpha: Share = 0.05, method: IntervalMethod = "wald") -> pd.DataFrame:
        """Return confidence intervals of level 1 − alpha on the scale of the estimates.

        Parameters
        ----------
        alpha : float
        method : {"wald", "profile"}
            "wald" is estimate ± z (or t) · standard error. "profile" ends where the profile likelihood, penalized if
            there is a prior, has fallen by half the χ²(1) quantile; it takes judgments as independent.

        Returns
        -------
        pandas.DataFrame
            Columns conf_low, conf_high; a row per parameter.

        Raises
        ------
        OptionError
            For ``"profile"`` if the fit has clusters or an estimated dispersion, for a part of a fit, and for kinds of
            fit without a profile.
        """
        of = self.estimated
        if method == "profile":
            return _interval_frame(of, self._profile_bounds(float(stats.chi2.isf(alpha, 1)) / 2))
        half = stats.t.isf(alpha / 2, of.df_each) * of.errors
        return _interval_frame(of, np.column_stack([of.values - half, of.values + half]))

    def cov_params(self: WithEstimates) -> pd.DataFrame:
        """Return the covariance matrix of the estimates (p × p): NaN where aliased or unknown, 0 where held.

        Raises
        ------
        DesignError
            If the matrix does not fit into memory; `bse` and tests need less.
        """
        names = list(self.estimated.names)
        refuse_parameters(len(names))
        return pd.DataFrame(self.estimated.matrix, index=names, columns=names)

    @checked
    def to_frame(self: WithIntervals, style: FrameStyle = "llbt") -> pd.DataFrame:
        """Return term, estimate, std_error, statistic, p_value, conf_low, conf_high; a row per parameter.

        Parameters
        ----------
        style : {"llbt", "broom"}
            The names of the columns: llbt's names, or the names of `tidy` in R's package broom: ``std.error``,
            ``p.value``, ….
        """
        columns = [attribute.function(self) for attribute in (params, bse, tvalues, pvalues)]
        frame = pd.concat(columns, axis=1).join(Methods.conf_int(self))
        return in_style(frame.rename_axis("term").reset_index(), style)


def _interval_frame(of: Wald, bounds: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(bounds, index=list(of.names), columns=["conf_low", "conf_high"])


def _series(fit: WithEstimates, values: FloatArray, name: str) -> pd.Series[float]:
    return pd.Series(values, index=list(fit.estimated.names), name=name, dtype=float)
