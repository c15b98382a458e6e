"""Is a graded scale linear? Scores of the grades left free, or two grades taken as one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from scipy import optimize

from ..arguments import checked
from ..core.columns import FloatArray, IntArray
from ..core.response import Response
from ..core.statistics import chi2_p_value
from ..errors import DesignError
from ..fitting.results import LLBTResults
from ..kernel.deviances import deviance
from ..kernel.likelihood import Problem, log_likelihood
from ..kernel.solvers import Fit, eliminate
from ..table import Field, Table

_SLOPE = 1e-10  # of the log-likelihood of one judgment, at which scores are settled
_STEEP = 1e-6  # and above which they are not


@checked
def grade_tests(res: LLBTResults) -> Table:
    """Test whether the grades of a scale are equally far apart, and whether two of them are told apart at all.

    Parameters
    ----------
    res : LLBTResults
        Of graded judgments, with worths and the term `grade`.

    Returns
    -------
    Table
        A row for each model: ``free`` (the scores of all grades but the first are parameters), ``as fitted`` (they are
        what the scale says, 1, 2, 3, … with a middle), and one for each two neighbours with one score, such as
        ``i = i+``: model, the score of each grade, df, statistic and p_value of the likelihood-ratio test against
        ``free``, and deviance.

    Raises
    ------
    DesignError
        For judgments without grades, a formula without worths or `grade`, and fits with a prior.

    Notes
    -----
    log m = μ + sₕ(λᵢ − λⱼ + δ) + γₕ with s₋ₕ = −sₕ, γ₋ₕ = γₕ and s₁ as it is in the scale. Where sₕ = sₕ₊₁ the grades
    differ in how often they are used, γ, but say the same of the objects: they can be merged. Scores mean something
    only where log-worths differ. The likelihood is maximized over the scores, at each of which the other parameters
    are at their maximum. The tests take judgments as independent.

    References
    ----------
    Anderson, J. A. (1984). Regression and ordered categorical variables. Journal of the Royal Statistical Society B
    46(1), 1-30.

    Examples
    --------
    >>> import llbt
    >>> rows = [("A", "B", 30, 25, 20, 10, 5), ("A", "C", 40, 22, 18, 9, 2), ("B", "C", 22, 24, 20, 16, 8)]
    >>> names = ("object_i", "object_j", "++", "+", "=", "-", "--")
    >>> records = [dict(zip(names, row)) for row in rows]
    >>> c = llbt.from_counts(records, grades=("++", "+", "=", "-", "--"))
    >>> found = llbt.grade_tests(llbt.fit("object + tie + grade", c)).to_frame()
    >>> found[["model", "score i+", "p_value"]].round(3).values.tolist()
    [['free', 2.689, nan], ['as fitted', 2.0, 0.302], ['i = i+', 1.0, 0.0]]
    """
    response, problem = _checked(res), res.problem()
    names = _grades(response)
    given = response.loadings[names, 0]
    size = len(names)
    outcomes = [response.outcomes[k] for k in names]
    together = {" = ".join(pair): k for k, pair in enumerate(itertools.pairwise(outcomes))}
    models = {"free": np.arange(size), **{name: _merged(size, k) for name, k in together.items()}}
    found = {name: _fitted(problem, response, res.solution, names, given, group) for name, group in models.items()}
    scores = {name: score for name, (score, _) in found.items()} | {"as fitted": given}
    value = {name: value for name, (_, value) in found.items()} | {"as fitted": res.deviance}
    order = ["free", "as fitted", *together]
    df = [np.nan, size - 1, *(1 for _ in together)]
    lr = [np.nan, *(max(0.0, value[name] - value["free"]) for name in order[1:])]
    return Table(
        (
            Field("model", "", order),
            *(
                Field(f"score {outcome}", outcome, [scores[name][k] for name in order], "number")
                for k, outcome in enumerate(outcomes)
            ),
            Field("df", "Df", df, "count"),
            Field("deviance", "Deviance", [value[name] for name in order], "statistic"),
            Field("statistic", "LRT", lr, "statistic"),
            Field("p_value", "Pr(>χ²)", [chi2_p_value(x, d) for x, d in zip(lr, df, strict=True)], "p_value"),
        ),
        title="Scores of the grades, and likelihood-ratio tests against free ones",
        head=(f"Model: {res.specification.formula}",),
        notes=("scores are those of the first grade and more; the tests take the judgments as independent",),
    )


def _checked(res: LLBTResults) -> Response:
    """Return the response of a fit whose scores can be tested."""
    blocks, spec = res.design.blocks, res.specification
    if not res.comparisons.response.grades:
        raise DesignError(
            "the judgments of the table have no grades beyond the first, so there are no scores to test",
            expected="a table with grades=, as from_judgments and from_counts read it",
        )
    missing = [word for word, block in (("object", "worth"), ("grade", "grade")) if block not in blocks]
    if missing:
        raise DesignError(
            f"the formula {spec.formula!r} has no {missing[0]}, beside which scores are tested", f"Add {missing[0]}."
        )
    if spec.prior is not None:
        raise DesignError("likelihood-ratio tests are of maximum likelihood", "Fit without prior=.")
    if not isinstance(res.response, Response):
        raise DesignError(
            f"scores are those of adjacent grades, and link={spec.link!r} has cuts", "Fit link='adjacent'."
        )
    return res.response


def _grades(response: Response) -> list[int]:
    """Return the outcomes in favour of i, the smallest grade first."""
    wins = np.flatnonzero(response.loadings[:, 0] > 0)
    return [int(k) for k in wins[np.argsort(response.loadings[wins, 0])]]


def _merged(size: int, k: int) -> IntArray:
    """Return the groups of grades with one score where k and its neighbour share theirs."""
    return np.arange(size) - (np.arange(size) > k)


def _fitted(
    problem: Problem, response: Response, solution: Fit, names: list[int], given: FloatArray, group: IntArray
) -> tuple[FloatArray, float]:
    """Return the scores (H,) at the maximum and the deviance there; grades of one group share a score.

    The first group has the score of the first grade.
    """
    start, total = np.array([given[group == g].mean() for g in range(1, group[-1] + 1)]), problem.totals.sum()
    begin = [solution.params]

    def at(free: FloatArray) -> tuple[FloatArray, Problem, Fit]:
        scores = np.append(given[0], free)[group]
        fit = eliminate(scored := _scored(problem, response, names, scores), start=begin[0])
        return scores, scored, fit

    def loss(free: FloatArray) -> tuple[float, FloatArray]:
        _, scored, fit = at(free)
        begin[0] = fit.params
        left, signed = problem.counts - fit.means, scored.at(fit.params)[0]
        slopes = np.array([signed @ (left[:, k] - left[:, response.flip[k]]) for k in names])
        slope = np.bincount(group, slopes)[1:]
        value = log_likelihood(scored, fit.means / problem.totals[:, None])
        return -value / total, -slope / total

    if len(start):
        found = optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": _SLOPE})
        if not np.abs(found.jac).max() < _STEEP:
            raise DesignError("the scores of the grades have no maximum likelihood estimate here", "Merge grades.")
        start = found.x
    scores, _, fit = at(start)
    return scores, deviance(problem.counts, fit.means)


def _scored(problem: Problem, response: Response, names: list[int], scores: FloatArray) -> Problem:
    """Return the problem with other scores of the grades."""
    loadings = response.loadings.copy()
    for k, score in zip(names, scores, strict=True):
        loadings[k, 0], loadings[response.flip[k], 0] = score, -score
    return replace(problem, response=Response(response.outcomes, loadings, response.flip))
