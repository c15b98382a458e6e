"""Counts and fitted counts of a table: deviances, residuals and the Poisson likelihood, for fits that have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
from scipy import special

from ..core import basis
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..core.links import Link
from ..errors import DesignError
from ..kernel import deviances
from .attributes import Attribute


@dataclass(frozen=True, eq=False)
class Cells:
    """The counts and fitted counts of a table. S comparisons, C outcomes, n = S · C cells.

    Attributes
    ----------
    comparisons : Comparisons
    means : ndarray, shape (S, C)
        Fitted counts.
    n_params : int
        The number of estimated parameters, without the one for each comparison.
    link : str
    log_linear : bool
        Whether the counts follow a Poisson model with the logarithm as link.
    """

    comparisons: Comparisons
    means: FloatArray
    n_params: int
    link: Link = "adjacent"
    log_linear: bool = True

    @property
    def counts(self) -> FloatArray:
        """The counts, shape (S, C)."""
        return self.comparisons.outcome_counts

    def by_cell(self, values: FloatArray, name: str) -> pd.Series[float]:
        """Return values (S, C) by comparison and outcome, shape (n,)."""
        frame = self.comparisons.to_frame().drop(columns=list(self.comparisons.count_columns))
        outcomes = self.comparisons.response.outcomes
        repeated = frame.loc[np.repeat(frame.index, len(outcomes))].assign(outcome=list(outcomes) * len(frame))
        return pd.Series(values.ravel(), index=pd.MultiIndex.from_frame(repeated), name=name)


class WithCells(Protocol):
    """A fit with fitted counts."""

    @property
    def cells(self) -> Cells:
        """Counts and fitted counts."""

    @property
    def effective_params(self) -> float:
        """The parameters that information criteria count."""


@Attribute
def df_null(fit: WithCells) -> int:
    """Number of cells − number of comparisons."""
    return int(fit.cells.counts.size) - len(fit.cells.counts)


@Attribute
def df_resid(fit: WithCells) -> int:
    """Number of cells − number of comparisons − number of estimated parameters."""
    return int(fit.cells.counts.size) - len(fit.cells.counts) - fit.cells.n_params


@Attribute
def deviance(fit: WithCells) -> float:
    """The residual deviance of the Poisson model."""
    return deviances.deviance(fit.cells.counts, fit.cells.means)


@Attribute
def null_deviance(fit: WithCells) -> float:
    """The deviance with nuisance parameters alone: λ = γ = δ = 0."""
    counts = fit.cells.counts
    return deviances.deviance(counts, np.broadcast_to(counts.mean(axis=1, keepdims=True), counts.shape))


@Attribute
def pearson_chi2(fit: WithCells) -> float:
    """Pearson's X²."""
    return deviances.pearson_chi2(fit.cells.counts, fit.cells.means)


@Attribute
def llf(fit: WithCells) -> float:
    """Log-likelihood of the single judgments, Σ n log p, for any link; a prior is not part of it."""
    y = fit.cells.counts
    return float(np.sum(special.xlogy(y, fit.cells.means / y.sum(axis=1, keepdims=True))))


@Attribute
def llf_poisson(fit: WithCells) -> float:
    """Log-likelihood of the Poisson counts, as in R's `glm`; it depends on how the table is split.

    Raises
    ------
    DesignError
        For a link that is not log-linear; also for `aic_poisson`, `bic_poisson` and `llf_multinomial`.
    """
    if not fit.cells.log_linear:
        raise DesignError(
            f"link={fit.cells.link!r} is not log-linear, so there is no Poisson likelihood",
            "Use llf, aic and bic, which are those of the judgments.",
        )
    y, m = fit.cells.counts, fit.cells.means
    return float(np.sum(special.xlogy(y, m) - m - special.gammaln(y + 1)))


@Attribute
def llf_multinomial(fit: WithCells) -> float:
    """Multinomial log-likelihood given the totals: `llf` plus a constant of the table."""
    n = fit.cells.counts.sum(axis=1)
    return llf_poisson.function(fit) - float(np.sum(special.xlogy(n, n) - n - special.gammaln(n + 1)))


@Attribute
def aic_poisson(fit: WithCells) -> float:
    """−2 `llf_poisson` + 2 (comparisons + estimated parameters), R's AIC of the full model."""
    return basis.aic(llf_poisson.function(fit), len(fit.cells.counts) + fit.effective_params)


@Attribute
def bic_poisson(fit: WithCells) -> float:
    """−2 `llf_poisson` + log(cells) (comparisons + estimated parameters), R's BIC of the full model.

    The difference of two models' BIC changes with covariates that split the table, even if no model uses them.
    """
    counts = fit.cells.counts
    return basis.bic(llf_poisson.function(fit), len(counts) + fit.effective_params, counts.size)


@Attribute
def fittedvalues(fit: WithCells) -> pd.Series[float]:
    """Fitted counts by cell, shape (n,), indexed by comparison and outcome."""
    return fit.cells.by_cell(fit.cells.means, "fitted")


@Attribute
def resid_response(fit: WithCells) -> pd.Series[float]:
    """Counts − fitted counts, shape (n,)."""
    return fit.cells.by_cell(fit.cells.counts - fit.cells.means, "resid_response")


@Attribute
def resid_pearson(fit: WithCells) -> pd.Series[float]:
    """(Count − fitted) / √fitted, shape (n,)."""
    means = fit.cells.means
    return fit.cells.by_cell((fit.cells.counts - means) / np.sqrt(means), "resid_pearson")


@Attribute
def resid_deviance(fit: WithCells) -> pd.Series[float]:
    """Signed square roots of each cell's part of the deviance, shape (n,)."""
    y, m = fit.cells.counts, fit.cells.means
    parts = np.sqrt(np.maximum(deviances.cell_deviances(y, m), 0))
    return fit.cells.by_cell(np.sign(y - m) * parts, "resid_deviance")
