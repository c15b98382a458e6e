"""The options of a fit, and the arrays that follow from the options, a design and a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np

from ..base.arguments import Kind, is_real
from ..core.columns import MOST_COUNTED, FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.links import Link, linked
from ..formulas.coding import Reference
from ..formulas.design import Design
from ..kernel import likelihood
from ..kernel.likelihood import Problem
from ..kernel.penalties import Penalize, firth, judgments_added, ridge
from .ridge import Ridge

Method = Literal["auto", "glm", "eliminate"]
Approximate = Literal["laplace", "ep"] | None
CovType = Literal["nonrobust", "quasi", "HC0", "cluster", "CR1", "cautious"]
IntervalMethod = Literal["wald", "profile"]
Prior = Annotated[
    float | Literal["jeffreys"] | None,
    Kind(
        lambda prior: (
            prior is None or prior == "jeffreys"
            if isinstance(prior, str | None)
            else is_real(prior) and 0 < prior < MOST_COUNTED
        ),
        "a positive number of judgments for each pair, below 2**53, or 'jeffreys' (Firth's bias reduction), or None",
        plain=lambda prior: prior if isinstance(prior, str | None) else float(prior),
    ),
]


@dataclass(frozen=True)
class Specification:
    """Everything that defines a fit: together with the comparisons it gives the same fit again.

    Attributes
    ----------
    formula : str
    reference : label, mapping or None
        As given; None means the last object.
    method : str
    fixed : mapping of str to float
        Parameters held at a value.
    cov_type : str
        Never ``"cautious"`` for a fit, but the type that was chosen.
    groups : tuple of str
        Clusters or covariates of the cluster-robust covariance, for ``"cluster"`` and ``"CR1"``.
    prior : float, "jeffreys", Ridge or None
        A `Ridge` stands for the option ``penalty``.
    link : str
    discrimination : str or None
        The covariate whose levels have a discrimination each.
    approximation : "laplace", "ep" or None
        The approximation of the integrals over effects of judges.

    Notes
    -----
    The fields have the names of the arguments of `llbt.fit`:
    ``LLBT.from_formula(s.formula, c, reference=s.reference).solved(s)`` repeats the fit, if it has no brackets and no
    discriminations.
    """

    formula: str
    reference: Reference = None
    method: Method = "auto"
    fixed: Mapping[str, float] = field(default_factory=dict)
    cov_type: CovType = "nonrobust"
    groups: tuple[str, ...] = ()
    prior: Prior | Ridge = None
    link: Link = "adjacent"
    discrimination: str | None = None
    approximation: Approximate = None

    @property
    def reduces_bias(self) -> bool:
        """Whether the prior is Jeffreys', which is Firth's bias reduction."""
        return self.prior == "jeffreys"

    @property
    def adds_judgments(self) -> bool:
        """Whether the prior is a number of judgments, which a GLM can have too."""
        return is_real(self.prior)


def make_problem(
    design: Design, c: Comparisons, free: IntArray, fixed: Mapping[str, float], link: Link = "adjacent"
) -> Problem:
    """Return the arrays of a fit: the free columns, and offsets from held parameters."""
    predictors = design.predictors(c.response)
    offsets = np.broadcast_to(0.0, (len(predictors), len(c)))
    if fixed:
        held = np.zeros(len(design.names))
        for name, value in fixed.items():
            held[design.names.index(name)] = value
        offsets = np.stack([rows @ held for rows in predictors])
    some = tuple(rows.columns(free) for rows in predictors)
    return Problem(some, c.outcome_counts, offsets, linked(c.response, link))


def prior_counts(problem: Problem, c: Comparisons, spec: Specification) -> FloatArray | float:
    """Return the counts that a numeric prior adds, shape (S, K); 0 without a numeric prior."""
    if spec.prior is None or isinstance(spec.prior, str | Ridge):
        return 0.0
    return likelihood.pseudo_counts(c.pairs, problem.totals, problem.counts.shape[1], spec.prior)


def penalty_of(
    problem: Problem, c: Comparisons, spec: Specification, design: Design, free: IntArray
) -> Penalize | None:
    """Return the penalty of a problem whose columns are the free parameters; None if there is none."""
    if spec.reduces_bias:
        return firth(problem)
    if isinstance(spec.prior, Ridge):
        return ridge(spec.prior.matrix(design, c, free))
    counts = prior_counts(problem, c, spec)
    return judgments_added(problem, counts) if isinstance(counts, np.ndarray) else None
