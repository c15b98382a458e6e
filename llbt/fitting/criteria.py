"""Information criteria of fits of all kinds: from log-likelihood, number of parameters and number of judgments."""

from __future__ import annotations

from typing import Protocol

from ..base.arguments import checked
from ..base.table import Field, Table, format_count
from ..core import basis
from ..core.comparisons import Comparisons
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from .attributes import Attribute

_OF_JUDGMENTS = {"llf": "Log-likelihood", "aic": "AIC", "bic": "BIC", "n_judgments": "Judgments"}
_OF_CELLS = {
    "deviance": "Residual deviance",
    "df_resid": "Residual df",
    "null_deviance": "Null deviance",
    "df_null": "Null df",
}
_OF_POISSON = {
    "llf_poisson": "Log-likelihood of the counts (Poisson)",
    "aic_poisson": "AIC of the counts",
    "bic_poisson": "BIC of the counts",
    "n_cells": "Cells",
}
_ONLY_IN_FRAMES = ("null_deviance", "df_null", *_OF_POISSON)  # twelve columns do not fit a page in LaTeX


class WithLikelihood(Protocol):
    """A fit that maximizes the likelihood of its `answers`: judgments, rankings or patterns."""

    @property
    def llf(self) -> float:
        """Log-likelihood."""

    @property
    def n_params(self) -> int:
        """The number of estimated parameters."""

    @property
    def effective_params(self) -> float:
        """The parameters that information criteria count."""

    @property
    def n_judgments(self) -> float:
        """The number of judgments, rankings or patterns."""

    @property
    def answers(self) -> Comparisons | Rankings | Patterns:
        """The fitted data."""


@Attribute
def aic(fit: WithLikelihood) -> float:
    """−2 `llf` + 2 · `effective_params`."""
    return basis.aic(fit.llf, fit.effective_params)


@Attribute
def bic(fit: WithLikelihood) -> float:
    """−2 `llf` + log(`n_judgments`) · `effective_params`.

    References
    ----------
    Schwarz, G. (1978). Estimating the dimension of a model. Annals of Statistics 6(2), 461-464.
    """
    return basis.bic(fit.llf, fit.effective_params, fit.n_judgments)


@Attribute
def effective_params(fit: WithLikelihood) -> float:
    """The parameters that `aic` and `bic` count: all estimated ones."""
    return float(fit.n_params)


@Attribute
def nobs(fit: WithLikelihood) -> float:
    """Number of judgments, rankings or patterns, the sum of their weights: `n_judgments`."""
    return fit.n_judgments


class WithParameters(Protocol):
    """A fit with its number of estimated parameters."""

    @property
    def n_params(self) -> int:
        """Number of estimated parameters."""


@Attribute
def df_model(fit: WithParameters) -> int:
    """Number of estimated parameters: `n_params`."""
    return fit.n_params


class Methods:
    """Methods of fits of all kinds that have a likelihood."""

    @checked
    def bic_of(self: WithLikelihood, unit: str) -> float:
        """Return BIC with another number of observations: the levels of a cluster or covariate, such as ``"judge"``.

        Raises
        ------
        OptionError
            If the data do not have this unit.
        """
        return basis.bic(self.llf, self.effective_params, basis.number_of(self.answers, unit))

    def fit_statistics(self: WithLikelihood) -> Table:
        """Return the statistics of the fit in one row, as `glance` of R's package broom does.

        Returns
        -------
        Table
            llf, aic, bic and n_judgments describe the judgments. A model of counts also has deviance, df_resid and the
            figures of the Poisson model: llf_poisson, aic_poisson, bic_poisson and n_cells. With
            ``to_frame(style="broom")``, logLik, AIC, BIC and nobs are the Poisson figures if the model has them, else
            the figures of the judgments.
        """
        headings = {name: text for name, text in (_OF_JUDGMENTS | _OF_CELLS).items() if hasattr(self, name)}
        if hasattr(self, "cells") and self.cells.log_linear:
            headings |= _OF_POISSON
        values = {name: getattr(self, name) for name in headings}
        texts = [format_count(value) if float(value).is_integer() else f"{value:.2f}" for value in values.values()]
        printed = Field("statistic", "Statistic", [*headings.values()]), Field("value", "Value", texts, "composed")
        one_row = tuple(
            Field(name, headings[name], [value], "number", frame_only=name in _ONLY_IN_FRAMES)
            for name, value in values.items()
        )
        return Table(one_row, title="Fit statistics", printed=Table(printed, title="Fit statistics"))
