"""The estimates of a fit, under statsmodels' names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.links import AnyResponse, linked
from ..core.response import Response
from ..formulas.design import Design
from ..kernel.likelihood import Problem
from ..kernel.robust import Covariance
from . import attributes, wald
from .object_effects import ObjectEffects
from .specification import Specification, make_problem
from .unsupported_questions import no_profile
from .wald import Estimated, others_of


class Solution(Protocol):
    """The estimates that a search has found."""

    @property
    def params(self) -> FloatArray:
        """The estimates of the free parameters, shape (m,)."""

    @property
    def cov(self) -> FloatArray:
        """The model's covariance of the estimates, shape (m, m)."""


@dataclass(frozen=True, eq=False)
class Solved:
    """Estimates of the free parameters (m,) with their covariance (m, m), and nothing else."""

    params: FloatArray
    cov: FloatArray


@dataclass(frozen=True, repr=False, eq=False)
class Estimates:
    """Estimates of worths, ties and order for a table, with their covariance, but without counts or a likelihood.

    Attributes
    ----------
    specification : Specification
    comparisons : Comparisons
    design : Design
    free : ndarray of int
        Which of the p parameters were estimated.
    solution : Solution
    covariance : Covariance
        The covariance of the estimates.
    object_effects : ObjectEffects or None
        The predicted effects ``(1 | object)`` on the log-worths.
    """

    specification: Specification
    comparisons: Comparisons
    design: Design
    free: IntArray
    solution: Solution
    covariance: Covariance
    object_effects: ObjectEffects | None = None

    aliased = wald.aliased
    bse = wald.bse
    tvalues = wald.tvalues
    pvalues = wald.pvalues
    df_inference = wald.df_inference
    cov_params = wald.Methods.cov_params
    conf_int = wald.Methods.conf_int
    to_frame = wald.Methods.to_frame
    formula = attributes.formula
    objects = attributes.objects
    reference = attributes.reference

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p parameters."""
        return self.design.names

    @property
    def estimated(self) -> Estimated:
        """The estimates with their covariance, for tests of linear combinations."""
        names = self.design.names
        values = np.full(len(names), np.nan)
        values[self.free] = self.solution.params
        held = tuple(names.index(name) for name in self.fixed)
        values[list(held)] = list(self.fixed.values())
        return Estimated(names, values, self.free, self.covariance, held, others_of(self.design))

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters held at a value, with these values."""
        return dict(self.specification.fixed)

    @property
    def params(self) -> pd.Series[float]:
        """Estimates (log-worth λ, γ, δ), shape (p,); NaN where aliased.

        The reference has no parameter: if it is D, there is no ``params["object[D]"]``. Its λ is 0; ``llbt.worth(res,
        scale="log_worth")`` lists it with the others.
        """
        return pd.Series(self.estimated.values, index=list(self.names), name="estimate", dtype=float)

    def df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of t for linear combinations (k, p) of the parameters, shape (k,).

        They are `df_inference`, but fewer for combinations that few of the clusters inform.
        """
        return self.estimated.df_of(rows)

    @property
    def worth_df_inference(self) -> float:
        """`df_inference` for log-worths: infinite if objects have effects, as in `worth_df_of`."""
        return self.df_inference if self.object_effects is None else np.inf

    def worth_df_of(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of freedom of log-worths, as combinations (k, p) of the parameters, shape (k,).

        They are `df_of`, but infinite if objects have effects: log-worths are then predictions with errors based on σ.
        """
        return np.full(len(rows), np.inf) if self.object_effects is not None else self.df_of(rows)

    def combined_cov(self, rows: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations (k, p) of the parameters, shape (k, k).

        Aliased and held parameters add nothing. Combinations that only one cluster informs have NaN.
        """
        return self.estimated.combined(rows)

    answers = attributes.answers
    counts = attributes.counts

    @property
    def n_params(self) -> int:
        """Number of estimated parameters of worths, ties, both bad, grades and order, without held and aliased ones."""
        return len(self.free)

    @property
    def log_linear(self) -> bool:
        """Whether the model is a Poisson GLM: the link is ``"adjacent"``, or logistic for two outcomes."""
        return isinstance(self.response, Response)

    @property
    def response(self) -> AnyResponse:
        """The outcomes, and how predictors give their probabilities."""
        return linked(self.comparisons.response, self.specification.link)

    def problem(self) -> Problem:
        """Return the arrays that were fitted; see `llbt.kernel.solvers`."""
        return make_problem(self.design, self.comparisons, self.free, self.fixed, self.specification.link)

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Refuse profile intervals: estimates alone have no likelihood."""
        raise no_profile(type(self))
