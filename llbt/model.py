"""Formula + comparisons → solver → results."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np

from . import solvers
from .columns import Label
from .comparisons import Comparisons
from .errors import ConvergenceWarning, DesignError, FormulaWarning, TiesWarning, listed
from .existence import check_connected, check_existence
from .formulas.design import Design, build_design
from .formulas.grammar import compares_objects, parse, vocabulary
from .results import LLBTResults, Method, Specification, make_problem
from .solvers import Fit, Problem
from .table import format_percent

_AUTO_ENTRIES = 1e5  # up to here the literal GLM of statsmodels answers at once


@dataclass(frozen=True, eq=False)
class LLBT:
    """A log-linear Bradley-Terry model that is not fitted yet.

    Attributes
    ----------
    formula : str
    comparisons : Comparisons
        The table, without comparisons that have no judgment.
    reference : label or None
    design : Design

    Examples
    --------
    >>> import llbt
    >>> model = llbt.LLBT.from_formula("object + tie", llbt.load_dataset("dras_modpref"))
    >>> model.design.names
    ('object[+]', 'tie')
    >>> round(model.fit().deviance, 6)
    0.0
    """

    formula: str
    comparisons: Comparisons
    reference: Label | None
    design: Design

    @classmethod
    def from_formula(cls, formula: str, data: Comparisons, *, reference: Label | None = None) -> LLBT:
        """Return the model that a formula describes on a table.

        Parameters
        ----------
        formula : str
            Right-hand side over ``object``, ``tie``, ``order``, ``pair`` and the table's covariates.
        data : Comparisons
        reference : label, optional
            The object with λ = 0; by default the last.

        Raises
        ------
        FormulaError
            For a formula that cannot be read, or names something that the table does not have.
        DesignError
            For objects that are not connected by judgments, unknown references, constant covariates.
        """
        if not isinstance(data, Comparisons):
            raise DesignError(
                f"data is a {type(data).__name__}, but a model is fitted to Comparisons: make them with "
                "llbt.from_counts(frame, …) or llbt.from_judgments(frame, …)."
            )
        if compares_objects(parse(formula, vocabulary(data))):
            check_connected(data)
        judged = data.drop_empty()
        return cls(formula, judged, reference, build_design(formula, judged, reference=reference))

    def fit(self, *, method: Method = "auto", fixed: Mapping[str, float] | None = None) -> LLBTResults:
        """Fit by maximum likelihood; see `llbt.fit` for the parameters and errors."""
        held = _held(fixed, self.design)
        self._warn(held)
        free = np.array([k for k, name in enumerate(self.design.names) if name not in held], dtype=np.int64)
        problem = make_problem(self.design, self.comparisons, free, held)
        free = free[solvers.independent_columns(problem)]
        problem = make_problem(self.design, self.comparisons, free, held)
        check_existence(self.design, free, problem, self.comparisons)
        solution = _solve(problem, tuple(self.design.names[k] for k in free), method)
        specification = Specification(self.formula, self.reference, tuple(held.items()), method)
        return LLBTResults(specification, self.comparisons, self.design, free, solution)

    def _warn(self, held: Mapping[str, float]) -> None:
        for remark in self.design.remarks:
            warnings.warn(remark, FormulaWarning, stacklevel=4)
        if self.comparisons.has_ties and "tie" not in self.design.blocks:
            share = format_percent(self.comparisons.n_ties / self.comparisons.n_judgments)
            warnings.warn(
                f"{share} of the judgments are ties and the formula has no tie term: this is the model with γ = 0, in "
                "which equal objects tie in a third of their judgments. Add + tie; or take the ties out of the table, "
                "with c.drop_ties() or c.split_ties().",
                TiesWarning,
                stacklevel=4,
            )


def fit(
    formula: str,
    data: Comparisons,
    *,
    reference: Label | None = None,
    method: Method = "auto",
    fixed: Mapping[str, float] | None = None,
) -> LLBTResults:
    """Fit a log-linear Bradley-Terry model by maximum likelihood.

    Parameters
    ----------
    formula : str
        Right-hand side over ``object`` (log-worths λ), ``tie`` (γ), ``order`` (δ), ``pair`` and the table's
        covariates, such as ``"object + tie"`` or ``"object * judge + tie"``.
    data : Comparisons
        J objects, S comparisons.
    reference : label, optional
        The object with λ = 0; by default the last.
    method : {"auto", "glm", "eliminate"}
        ``"glm"``: statsmodels' Poisson GLM with one dummy per comparison. ``"eliminate"``: Fisher scoring with these
        nuisance parameters profiled out. The results agree; ``"auto"`` takes the GLM while its matrix is small.
    fixed : mapping of str to float, optional
        Parameters to hold at a value, by name: ``{"tie": -0.5}``.

    Returns
    -------
    LLBTResults

    Raises
    ------
    FormulaError
        For a formula that cannot be read, or names something that the table does not have.
    DesignError
        For objects that are not connected by judgments, constant covariates, unknown names in `reference` or
        `fixed`, and a GLM beyond 5·10⁷ matrix entries.
    SeparationError
        Where some estimate is infinite; the objects, levels or parameters are named.

    Warns
    -----
    TiesWarning
        Where the table has ties and the formula has no term for them.
    FormulaWarning
        For terms that cancel.

    Notes
    -----
    The counts of comparison s between i and j are Poisson with log means μ + λᵢ − λⱼ + δ, μ + γ and
    μ − λᵢ + λⱼ − δ: Dras (2015), equations (1) and (2). The odds of i over j are exp(2(λᵢ − λⱼ)).

    References
    ----------
    Dras, M. (2015). Evaluating human pairwise preference judgments. Computational Linguistics 41(2), 337-345.

    Dittrich, R., Hatzinger, R. & Katzenbeisser, W. (1998). Modelling the effect of subject-specific covariates in
    paired comparison studies with an application to university rankings. Applied Statistics 47(4), 511-525.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> round(res.deviance, 4), res.df_resid
    (30.4554, 8)
    """
    return LLBT.from_formula(formula, data, reference=reference).fit(method=method, fixed=fixed)


def _held(fixed: Mapping[str, float] | None, design: Design) -> dict[str, float]:
    held = dict(fixed or {})
    unknown = [name for name in held if name not in design.names]
    if unknown:
        raise DesignError(f"fixed: no parameter {listed(unknown)}; the model has {listed(design.names, 12)}.")
    bad = [name for name, value in held.items() if not isinstance(value, (int, float)) or not math.isfinite(value)]
    if bad:
        raise DesignError(f"fixed: {bad[0]!r} is held at {held[bad[0]]!r}; a parameter is held at a finite number.")
    return {name: float(held[name]) for name in design.names if name in held}


def _solve(problem: Problem, names: tuple[str, ...], method: Method) -> Fit:
    if method not in get_args(Method):
        raise DesignError(f"method={method!r} is not known; it may be {', '.join(map(repr, get_args(Method)))}.")
    small = solvers.explicit_entries(problem) <= _AUTO_ENTRIES
    if method == "glm" or (method == "auto" and small):
        solution = solvers.glm(problem, names)
    else:
        solution = solvers.eliminate(problem)
    if not solution.converged:
        warnings.warn(
            f"the {solution.solver} solver stopped after {solution.n_iter} iterations with a gradient of norm "
            f"{solution.gradient_norm:.2g}; the estimates may be off.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return solution
