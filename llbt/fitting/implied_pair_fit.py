"""The worths of a model of rankings or patterns, as estimates for the comparisons that the answers imply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.columns import IntArray
from ..core.comparisons import Comparisons
from ..formulas.coding import Reference
from ..formulas.design import Design
from ..kernel.list_fit import ListFit
from ..kernel.robust import Covariance
from ..kernel.solvers import independent_columns
from .estimates import Solved
from .fit_part import FitPart
from .specification import Specification, make_problem


def worths_on_pairs(
    text: str,
    reference: Reference,
    pairs: Comparisons,
    designed: tuple[Design, IntArray],
    maximum: ListFit,
    cov: Covariance,
    whole: type,
) -> FitPart:
    """Return the worths as `llbt.worth` and `llbt.pairwise` use them, for the comparisons that the answers imply.

    `designed` has the design and which of its parameters were estimated. Other parameters of `maximum` are dropped.
    """
    design, free = designed
    p = len(free)
    plain = None if cov.independent is None else cov.independent[:p, :p]
    lost = cov.lost[:, :p] if len(cov.lost) else cov.lost
    worths = replace(cov, source=np.asarray(cov.matrix[:p, :p]), lost=lost, independent=plain)
    solution = Solved(maximum.params[:p], worths.matrix)
    return FitPart(Specification(text, reference), pairs, design, free, solution, worths, whole=whole)


def independent_in(design: Design, pairs: Comparisons) -> IntArray:
    """Return the parameters of a design that a table of comparisons determines."""
    every = np.arange(len(design.names))
    return every[independent_columns(make_problem(design, pairs, every, {}))]
