"""The explicit model, fitted by statsmodels: a Poisson GLM with one dummy per comparison."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import linalg

from ..core.response import Response
from ..errors import DesignError, OptionError
from .indexed_rows import FloatArray
from .likelihood import Problem, information, log_likelihood, probabilities, score
from .robust import Covariance
from .solvers import Fit, Maximum, eliminate

MAX_EXPLICIT_ENTRIES = 5e7
_MAX_ITERATIONS = 100
_FARTHEST = 1e-6  # most standard errors between the estimates and the maximum


def explicit_entries(problem: Problem) -> float:
    """Return the number of entries of the explicit model matrix: cells × (p + S)."""
    size, p = problem.signed.shape
    return float(problem.counts.size * (p + size))


def explicit_matrix(problem: Problem) -> FloatArray:
    """Return the explicit model matrix, shape (S·K, p + S): parameters, then one nuisance dummy per comparison."""
    size, p = problem.signed.shape
    matrix = np.zeros((*problem.counts.shape, p + size))
    rows = _log_linear(problem).log_weights([rows.toarray() for rows in problem.predictors])
    matrix[:, :, :p] = np.stack(rows, axis=1)
    matrix[np.arange(size), :, p + np.arange(size)] = 1
    return matrix.reshape(-1, p + size)


def explicit_glm(problem: Problem, names: tuple[str, ...]) -> Any:
    """Return statsmodels' fitted `GLMResults` of the explicit Poisson model.

    Raises
    ------
    DesignError
        Where the explicit matrix would have more than 5·10⁷ entries.
    OptionError
        For a response that is not log-linear.
    """
    _log_linear(problem)
    _refuse_too_large(problem)
    return _fitted(problem, names, eliminate(problem))


def with_covariance(results: Any, problem: Problem, cov: Covariance, cov_type: str, dispersion: float) -> Any:
    """Return statsmodels' fit with another covariance of its parameters; tests use t if that has a df, else z.

    The nuisance parameters are μ = log n − log norm(θ), so their covariance follows from the covariance of θ by the
    delta method: with p̄ the mean rows of the comparisons (S, p), [[V, −V p̄ᵀ], [−p̄ V, p̄ V p̄ᵀ + dispersion ·
    diag(1/n)]]. If V is the covariance of independent judgments, the result is statsmodels' own covariance.
    """
    given, wrapper = results._results, type(results)
    p, size = len(cov.matrix), len(problem.counts)
    chance = probabilities(problem, given.params[:p])
    rows = explicit_matrix(problem)[:, :p].reshape(size, -1, p)
    moved = np.vstack([np.eye(p), -np.einsum("sk,skp->sp", chance, rows)])
    matrix = moved @ cov.matrix @ moved.T
    matrix[range(p, p + size), range(p, p + size)] += dispersion / problem.totals
    gone = (moved[:, cov.unknown_each(p)] != 0).any(axis=1)
    matrix[gone], matrix[:, gone] = np.nan, np.nan
    copied = copy.copy(given)
    copied._cache = {}
    copied.cov_params_default, copied.cov_type = matrix, cov_type
    copied.cov_kwds = {"description": "; ".join(cov.notes)}
    copied.use_t = bool(np.isfinite(cov.df))
    copied.df_resid_inference = cov.df if copied.use_t else None
    return wrapper(copied)


def glm(problem: Problem, names: tuple[str, ...], added: FloatArray | float = 0.0) -> Fit:
    """Fit the explicit model with statsmodels, from statsmodels' own start.

    `added` are the counts of a prior, (S, K). These are not judgments, and they have no fitted counts.
    """
    _refuse_too_large(problem)
    fitted, results = _literal(problem, names, added, None)
    with_prior = replace(problem, counts=problem.counts + added)
    chances = probabilities(problem, fitted.params)
    # statsmodels answers by a pseudoinverse if columns are nearly collinear; this raises an error, as elimination does
    linalg.cholesky(information(problem, chances, with_prior.totals))
    return replace(fitted, n_iter=int(results.fit_history["iteration"]), solver="glm")


def checked_by_glm(
    problem: Problem, names: tuple[str, ...], start: Maximum | None = None, added: FloatArray | float = 0.0
) -> Fit:
    """Fit by elimination; statsmodels' GLM then goes on from these estimates, or from `start` if it is given."""
    with_prior = replace(problem, counts=problem.counts + added)
    other = eliminate(with_prior) if start is None else start.fit(with_prior)
    fitted, _ = _literal(problem, names, added, other)
    return replace(fitted, n_iter=other.n_iter, solver="eliminate, glm")


def _literal(problem: Problem, names: tuple[str, ...], added: FloatArray | float, other: Fit | None) -> tuple[Fit, Any]:
    """Return statsmodels' fit of the explicit model, as a `Fit` and as statsmodels' own results."""
    totals, problem = problem.totals, replace(problem, counts=problem.counts + added)
    results = _fitted(problem, names, other)
    p = problem.signed.shape[1]
    bare = results._results  # without labels, which would cost as much as a step
    params = bare.params[:p]
    probability = probabilities(problem, params)
    with np.errstate(all="ignore"):
        cov = bare.cov_params()[:p, :p]
        cov = (cov + cov.T) / 2  # statsmodels' inverse is symmetric only up to rounding
    fit = Fit(
        params=params,
        inverse=cov,
        means=totals[:, None] * probability,
        converged=bool(results.converged),
        n_iter=0,
        gradient=score(problem, probability),
        objective=log_likelihood(problem, probability),
        solver="glm",
        explicit=None if np.any(added) else results,
    )
    return fit, results


def _log_linear(problem: Problem) -> Response:
    """Return the response; raise if it is not log-linear, because no GLM of the counts then fits it."""
    if isinstance(problem.response, Response):
        return problem.response
    raise OptionError(
        f"link={problem.response.link!r} is not a log-linear model, so no Poisson GLM of the counts gives its "
        "estimates",
        "Pass link='adjacent', which has a GLM.",
    )


def _refuse_too_large(problem: Problem) -> None:
    refuse_explicit(problem.counts.size, sum(problem.signed.shape))


def refuse_explicit(cells: int, columns: int) -> None:
    """Raise where the explicit model matrix would be too large."""
    entries = float(cells) * columns
    if entries > MAX_EXPLICIT_ENTRIES:
        raise DesignError(
            f"the explicit GLM needs a matrix of {cells:,} cells × {columns:,} columns "
            f"({entries * 8 / 2**30:.1f} GiB), more than {MAX_EXPLICIT_ENTRIES:.0e} entries",
            "Use method='eliminate', which gives the same estimates, standard errors and deviance.",
        )


def _fitted(problem: Problem, names: tuple[str, ...], other: Fit | None) -> Any:
    """Return statsmodels' fit by Newton's method (here Fisher scoring), from another fit or from its own start.

    statsmodels' default, iteratively reweighted least squares, takes the same steps, but it warns of a perfect fit.
    That warning could be hidden only by a filter of the whole process. statsmodels' own start is the first of these
    steps.
    """
    from statsmodels.genmod.families import Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    size = len(problem.counts)
    columns = [*names, *(f"mu[{s}]" for s in range(size))]
    offset = np.column_stack(_log_linear(problem).log_weights(problem.offsets)).ravel()
    with np.errstate(all="ignore"):  # the record holds what matters of the warnings: convergence, saturation
        model = GLM(
            pd.Series(problem.counts.ravel(), name="count"),
            pd.DataFrame(explicit_matrix(problem), columns=columns),
            family=Poisson(),
            offset=offset,
            hasconst=True,  # the dummies sum to 1; statsmodels would compute two ranks to see that
        )
        start = _own_start(model, offset) if other is None else _explicit_params(problem, other.params)
        results = model.fit(
            start_params=start, method="newton", maxiter=_MAX_ITERATIONS, disp=0, warn_convergence=False
        )
    results.fit_history["iteration"] += other is None
    if (other is None or other.converged) and not _is_maximum(problem, results._results):
        fault = "finds no maximum from its own start" if other is None else "leaves the estimates and finds no others"
        # for example if parameters are held far from the judgments: fitted counts are 0 up to rounding
        raise DesignError(
            f"statsmodels' GLM {fault}", "Use method='eliminate', or hold parameters nearer to their estimates."
        )
    results._results.converged = bool(results.mle_retvals["converged"])  # the attribute that statsmodels' default sets
    return results


def _own_start(model: Any, offset: FloatArray) -> FloatArray:
    """Return statsmodels' start: the first step of reweighted least squares, from counts averaged with their mean."""
    mean = model.family.starting_mu(model.endog)
    weighted = model.exog * mean[:, None]
    response = np.log(mean) + model.endog / mean - 1 - offset
    return np.asarray(np.linalg.solve(model.exog.T @ weighted, weighted.T @ response))


def _is_maximum(problem: Problem, results: Any) -> bool:
    """Whether the score is 0, in units of standard errors (nuisance parameters: as a share of fitted totals)."""
    p = problem.signed.shape[1]
    gradient = score(problem, probabilities(problem, results.params[:p]))
    with np.errstate(all="ignore"):
        fitted = results.fittedvalues.reshape(problem.counts.shape).sum(axis=1)
        small = gradient @ results.cov_params()[:p, :p] @ gradient <= _FARTHEST**2
        return bool(small and np.all(np.abs(fitted - problem.totals) <= _FARTHEST * problem.totals))


def _explicit_params(problem: Problem, estimate: FloatArray) -> FloatArray:
    """Return the estimates followed by the nuisance parameters that they imply, shape (p + S,)."""
    _, norm = problem.response.probabilities(problem.at(estimate))
    return np.concatenate([estimate, np.log(problem.totals) - norm])
