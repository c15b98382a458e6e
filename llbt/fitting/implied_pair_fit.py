"""The worths of a model of whole answers, as estimates on the comparisons that the answers imply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.columns import IntArray
from ..core.comparisons import Comparisons
from ..formulas.coding import Reference
from ..formulas.design import Design
from ..kernel.likelihood import probabilities
from ..kernel.list_fit import ListFit
from ..kernel.robust import Covariance
from ..kernel.solvers import Fit, independent_columns
from .results import LLBTResults
from .specification import Specification, make_problem


def worths_on_pairs(
    text: str,
    reference: Reference,
    pairs: Comparisons,
    designed: tuple[Design, IntArray],
    found: ListFit,
    cov: Covariance,
    stands_for: type,
) -> LLBTResults:
    """Return the estimates as questions about worths take them: beside the comparisons that the answers imply.

    `designed` are the design and which of its parameters were estimated; those of `found` beyond them go.
    They stand for the kind of fit that they are a part of.
    """
    design, free = designed
    p = len(free)
    problem = make_problem(design, pairs, free, {})
    params = found.params[:p]
    solution = Fit(
        params=params,
        inverse=np.asarray(cov.matrix[:p, :p]),
        means=problem.totals[:, None] * probabilities(problem, params),
        converged=found.converged,
        n_iter=found.n_iter,
        gradient=found.gradient[:p],
        objective=found.log_likelihood,
        solver="eliminate",
    )
    plain = None if cov.independent is None else cov.independent[:p, :p]
    lost = cov.lost[:, :p] if len(cov.lost) else cov.lost
    worths = replace(cov, source=solution.inverse, lost=lost, independent=plain)
    return LLBTResults(Specification(text, reference), pairs, design, free, solution, worths, stands_for)


def independent_in(design: Design, pairs: Comparisons) -> IntArray:
    """Return which parameters of a design a table of comparisons determines."""
    every = np.arange(len(design.names))
    return every[independent_columns(make_problem(design, pairs, every, {}))]
