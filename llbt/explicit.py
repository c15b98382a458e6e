"""The literal model: a Poisson GLM with one dummy per comparison, through statsmodels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from .errors import DesignError
from .gathered import FloatArray
from .likelihood import Problem, log_likelihood, probabilities, score
from .solvers import Fit

MAX_EXPLICIT_ENTRIES = 5e7
_MAX_ITERATIONS = 100


def explicit_entries(problem: Problem) -> float:
    """Return the number of entries of the explicit model matrix: cells × (p + S)."""
    size, p = problem.signed.shape
    return float(problem.counts.size * (p + size))


def explicit_matrix(problem: Problem) -> FloatArray:
    """Return the explicit model matrix, shape (S·C, p + S): parameters, then one nuisance dummy per comparison."""
    size, p = problem.signed.shape
    cells = problem.counts.shape[1]
    matrix = np.zeros((size, cells, p + size))
    signed = problem.signed.toarray()
    matrix[:, 0, :p] = signed
    matrix[:, -1, :p] = -signed
    if problem.has_ties:
        matrix[:, 1, :p] = problem.tie.toarray()
    matrix[np.arange(size), :, p + np.arange(size)] = 1
    return matrix.reshape(size * cells, p + size)


def explicit_glm(problem: Problem, names: tuple[str, ...]) -> Any:
    """Return statsmodels' fitted `GLMResults` of the explicit Poisson model.

    Raises
    ------
    DesignError
        Where the explicit matrix would have more than 5·10⁷ entries.
    """
    entries = explicit_entries(problem)
    if entries > MAX_EXPLICIT_ENTRIES:
        raise DesignError(
            f"the explicit GLM needs a matrix of {problem.counts.size:,} cells × {sum(problem.signed.shape):,} columns "
            f"({entries * 8 / 2**30:.1f} GiB), more than {MAX_EXPLICIT_ENTRIES:.0e} entries. Use method='eliminate', "
            "which gives the same estimates, standard errors and deviance."
        )
    from statsmodels.genmod.families import Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    size = len(problem.counts)
    columns = [*names, *(f"mu[{s}]" for s in range(size))]
    zero = np.zeros(size)
    middle = [problem.tie_offset] if problem.has_ties else []
    offset = np.column_stack([problem.signed_offset + zero, *middle, -problem.signed_offset]).ravel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters of them is in the record: convergence, saturation
        model = GLM(
            pd.Series(problem.counts.ravel(), name="count"),
            pd.DataFrame(explicit_matrix(problem), columns=columns),
            family=Poisson(),
            offset=offset,
        )
        return model.fit(maxiter=_MAX_ITERATIONS, tol=1e-10, tol_criterion="params")


def glm(problem: Problem, names: tuple[str, ...]) -> Fit:
    """Fit the literal model: a Poisson GLM with one dummy per comparison, through statsmodels."""
    results = explicit_glm(problem, names)
    p = problem.signed.shape[1]
    params = np.asarray(results.params)[:p]
    found = probabilities(problem, params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cov = np.asarray(results.cov_params())[:p, :p]
    return Fit(
        params=params,
        cov=cov,
        means=problem.totals[:, None] * found,
        converged=bool(results.converged),
        n_iter=int(results.fit_history["iteration"]),
        gradient=score(problem, found),
        objective=log_likelihood(problem, found),
        solver="glm",
    )
