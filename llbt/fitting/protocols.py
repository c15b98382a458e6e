"""Protocols: the attributes of fits that functions use, of all kinds of fits and of some kinds."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

import pandas as pd

from ..base.table import Table
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..core.statistics import TestResult
from ..formulas.brackets import Bracket
from ..formulas.design import Design
from ..kernel.conjugate import Complement
from ..kernel.discrimination import DiscriminationFit
from ..kernel.graph_variances import Variances
from ..kernel.list_fit import ListFit
from ..kernel.list_likelihood import Lists
from ..kernel.mixed import MixedFit
from .discrimination_estimates import Judging, Neighbour
from .estimates import Estimates
from .fitted_counts import Cells
from .mixed_estimates import JudgeTable
from .pattern_dependence import Dependence
from .pattern_likelihood import PatternLikelihood
from .pattern_missingness import Missingness
from .plain_estimates import PlainEstimates
from .specification import IntervalMethod
from .wald import Wald


class FitLike(Protocol):
    """A fit of any kind: parameters of worths, ties and order for comparisons, given or implied by answers."""

    @property
    def comparisons(self) -> Comparisons:
        """The table, or the comparisons that the answers imply."""

    @property
    def specification(self) -> Any:
        """The specification of the fit."""

    @property
    def design(self) -> Design:
        """The design of the parameters."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""

    @property
    def params(self) -> pd.Series[float]:
        """The estimates."""

    @property
    def n_params(self) -> int:
        """Number of estimated parameters."""

    @property
    def answers(self) -> Comparisons | Rankings | Patterns:
        """The fitted data."""


class WithEffects(FitLike, Protocol):
    """A fit of pairs with normal effects of judges, of prompts or of objects."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The clusters of the covariance."""

    @property
    def brackets(self) -> tuple[Bracket, ...]:
        """The terms in brackets; each has a σ."""

    @property
    def judges(self) -> JudgeTable:
        """The judges, and the judgments of each."""

    @property
    def has_judges(self) -> bool:
        """Whether judges have effects, not only objects."""

    @property
    def average(self) -> Estimates:
        """The worths of the average judge."""

    @property
    def without(self) -> PlainEstimates:
        """The fit without effects."""

    @property
    def solution(self) -> MixedFit:
        """The estimates, at the restricted likelihood's σ."""

    @property
    def maximum(self) -> MixedFit:
        """The maximum of the likelihood."""

    @property
    def scales(self) -> pd.Series[float]:
        """σ of each bracket."""

    @property
    def scale_errors(self) -> pd.Series[float]:
        """Standard errors of σ."""

    @property
    def units(self) -> FloatArray:
        """The unit of each σ in `solution` and `maximum`, (E,)."""

    @property
    def share_between(self) -> float:
        """Share of the variance of a pair's latent log-odds that is between judges."""

    @property
    def shares_between(self) -> dict[tuple[str, str], float]:
        """`share_between` by grouping and by the level of a covariate that σ depends on."""

    def boundary_test(self, of: str | None = None) -> TestResult:
        """Test one σ against 0."""


class WithDiscriminations(FitLike, Protocol):
    """A fit of pairs with a discrimination of each judge, which multiplies the worths."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The clusters of the covariance."""

    @property
    def deviance(self) -> float:
        """Residual deviance of the counts."""

    @property
    def judging(self) -> Judging:
        """The judges, and the comparisons of each."""

    @property
    def average(self) -> Estimates:
        """The worths of a judge of discrimination 1."""

    @property
    def without(self) -> PlainEstimates:
        """The fit with discriminations of 1."""

    @property
    def wider(self) -> Neighbour:
        """The fit with separate worths for each judge."""

    @property
    def solution(self) -> DiscriminationFit:
        """The estimates."""

    def equality_test(self) -> TestResult:
        """Return the test that all discriminations are 1."""

    def proportionality_test(self) -> TestResult:
        """Return the test of this model against separate worths for each judge."""

    def by_judge(self, *, confidence: float = 0.95, method: IntervalMethod = "wald") -> Table:
        """Return the discrimination of each judge."""

    def readings(self, *, confidence: float = 0.95) -> pd.Series[str]:
        """Return what the interval of each discrimination shows."""


class WithRankings(FitLike, Protocol):
    """A fit of rankings or best-worst sets."""

    @property
    def rankings(self) -> Rankings:
        """The lists."""


class WithLists(WithRankings, Protocol):
    """A fit of rankings or best-worst sets by the likelihood of lists."""

    @property
    def average(self) -> Estimates:
        """The worths on the pairs that the lists imply."""

    @property
    def aliased(self) -> tuple[str, ...]:
        """The parameters without an estimate."""

    @property
    def lists(self) -> Lists:
        """The lists as choices, with their likelihood."""

    @property
    def free(self) -> IntArray:
        """Which of the parameters of the design were estimated."""

    @property
    def places(self) -> IntArray:
        """The places of the estimates among all parameters."""

    @property
    def names_beside(self) -> tuple[str, ...]:
        """Names of the parameters of ties."""

    @property
    def solution(self) -> ListFit:
        """The estimates."""


class WithPatterns(FitLike, Protocol):
    """A fit of response patterns."""

    @property
    def average(self) -> Estimates:
        """The worths on the pairs that the patterns imply."""

    @property
    def dependent(self) -> bool:
        """Whether answers of a judge depend on each other."""

    @property
    def dependence(self) -> Dependence:
        """Which answers of a judge depend on each other."""

    @property
    def patterns(self) -> Patterns:
        """The patterns."""

    @property
    def places(self) -> IntArray:
        """The places of the estimates among all parameters."""

    @property
    def missingness(self) -> Missingness | None:
        """The model of missing answers."""

    @property
    def whole_likelihood(self) -> PatternLikelihood:
        """The likelihood of the patterns."""

    @property
    def solution(self) -> ListFit:
        """The estimates."""


class WithCells(FitLike, Protocol):
    """A fit with fitted counts of the cells of its table."""

    @property
    def cells(self) -> Cells:
        """The counts with the fitted counts."""


class WithManyWorths(WithCells, Protocol):
    """A fit of very many objects, whose covariances are computed on request."""

    @property
    def worths(self) -> FloatArray:
        """Log-worths, measured from their mean, shape (J,)."""

    @property
    def deviance(self) -> float:
        """Residual deviance of the counts."""

    @property
    def estimates(self) -> FloatArray:
        """Log-worths and the other parameters, shape (J + q,)."""

    @property
    def estimated(self) -> Wald:
        """The estimates; covariances are computed on request."""

    @property
    def beside(self) -> Estimates:
        """The parameters that are not worths."""

    @property
    def counts(self) -> FloatArray:
        """The counts of the table, shape (S, K)."""

    @property
    def information(self) -> Complement:
        """The information on the log-worths."""

    @property
    def variances(self) -> Variances:
        """Variances of all log-worths."""

    @property
    def error_note(self) -> str:
        """The accuracy of the standard errors, in words."""

    @property
    def resid_pearson(self) -> pd.Series[float]:
        """Pearson residuals of the cells."""

    @property
    def resid_deviance(self) -> pd.Series[float]:
        """Deviance residuals of the cells."""

    @property
    def fittedvalues(self) -> pd.Series[float]:
        """Fitted counts of the cells."""

    def covariances(self, objects: IntArray) -> FloatArray:
        """Return the covariances of all parameters with the log-worths of some objects."""


def has_effects(res: object) -> TypeGuard[WithEffects]:
    """Whether a fit of pairs has normal effects."""
    return bool(getattr(res, "brackets", ()))


def has_discriminations(res: object) -> TypeGuard[WithDiscriminations]:
    """Whether a fit has a discrimination of each judge."""
    return hasattr(res, "judging")


def has_cells(res: object) -> TypeGuard[WithCells]:
    """Whether a fit has fitted counts."""
    return hasattr(res, "cells")


def has_many_worths(res: object) -> TypeGuard[WithManyWorths]:
    """Whether a fit has so many objects that covariances are computed on request."""
    return hasattr(type(res), "covariances")


def has_lists(res: object) -> TypeGuard[WithLists]:
    """Whether a fit has the likelihood of lists."""
    return hasattr(res, "lists")
