"""Test whether a graded scale is linear: free scores of the grades, or two grades merged."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize
from scipy.sparse import csr_array, hstack

from ..base.arguments import checked
from ..base.table import Field, Table
from ..core.columns import FloatArray, IntArray
from ..core.response import Response
from ..core.statistics import chi2_p_value
from ..errors import DesignError
from ..fitting.clusters import clustered
from ..fitting.fitted import PlainFit
from ..fitting.plain_estimates import PlainEstimates
from ..kernel.cluster_tests import FlipTest, flip_test
from ..kernel.deviances import deviance
from ..kernel.indexed_rows import Gathered
from ..kernel.likelihood import Problem, log_likelihood
from ..kernel.solvers import Fit, eliminate
from ..resampling import steps_shown

_SLOPE = 1e-10  # slope of the log-likelihood of one judgment at which scores have converged
_STEEP = 1e-6  # slope above which they have not converged


@checked
def grade_tests(res: PlainFit, *, progress: bool = False) -> Table:
    """Test whether the grades of a scale are equally spaced, and whether neighbouring grades differ at all.

    Parameters
    ----------
    res : LLBTResults
        For graded judgments, with worths and the term `grade`.
    progress : bool
        Show a bar that counts the steps of the fits; their number is not known beforehand.

    Returns
    -------
    Table
        A row for each model: ``free`` (the scores of all grades except the first are parameters), ``as fitted`` (the
        scores of the scale, 1, 2, 3, … with a middle), and one for each two neighbours with the same score, such as ``i
        = i+``. Columns are model, the score of each grade, df, deviance, and statistic and p_value of the test against
        ``free``. The test is the likelihood ratio; for a clustered fit it is Rao's score with sign flips of the
        clusters' scores, as in `anova`.

    Raises
    ------
    DesignError
        For judgments without grades, for a formula without worths or `grade`, for fits with a prior, and for two-way
        clustering.

    Notes
    -----
    log m = μ + sₕ(λᵢ − λⱼ + δ) + γₕ, with s₋ₕ = −sₕ, γ₋ₕ = γₕ and s₁ as in the scale. If sₕ = sₕ₊₁, the grades differ
    only in frequency, γ, and have the same information on the objects, so they can be merged. Scores can be estimated
    only if log-worths differ. The likelihood is maximized over the scores, and at given scores over the other
    parameters. Rao's score for the scores h ≥ 2 is Σ uₛ(y − m) over the comparisons, with the signed predictor u, and
    with y the counts of h minus the counts of −h. It is the score of parameters that are added to the restricted model,
    so clusters' scores are flipped as for any other parameter.

    In small tables the likelihood ratio rejects a true merger too often: with five objects at level 5 %, in 7.8 % of
    tables with 20 judgments for each pair, and in 6 % with 60. Equal distances are rejected in 5.2 % and 3 % (600
    tables, ``tests/simulations/grade_tests_size.json``).

    References
    ----------
    Anderson, J. A. (1984). Regression and ordered categorical variables. Journal of the Royal Statistical Society B
    46(1), 1-30. Hemerik, J., Goeman, J. J. & Finos, L. (2020). Robust testing in generalized linear models by sign
    flipping score contributions. Journal of the Royal Statistical Society B 82(3), 841-864.

    Examples
    --------
    >>> import llbt
    >>> rows = [("A", "B", 30, 25, 20, 10, 5), ("A", "C", 40, 22, 18, 9, 2), ("B", "C", 22, 24, 20, 16, 8)]
    >>> names = ("object_i", "object_j", "++", "+", "=", "-", "--")
    >>> records = [dict(zip(names, row)) for row in rows]
    >>> c = llbt.from_counts(records, grades=("++", "+", "=", "-", "--"))
    >>> tests = llbt.grade_tests(llbt.fit("object + tie + grade", c)).to_frame()
    >>> tests[["model", "score i+", "p_value"]].round(3).values.tolist()
    [['free', 2.689, nan], ['as fitted', 2.0, 0.302], ['i = i+', 1.0, 0.0]]
    """
    response = _checked(res)
    with steps_shown("grade_tests", progress):
        return _tested(res, response)


def _tested(res: PlainEstimates, response: Response) -> Table:
    """Return the scores and tests of all models; see `grade_tests`."""
    problem = res.problem()
    names = _grades(response)
    given = response.loadings[names, 0]
    size = len(names)
    outcomes = [response.outcomes[k] for k in names]
    together = {" = ".join(pair): k for k, pair in enumerate(itertools.pairwise(outcomes))}
    models = {"free": np.arange(size), **{name: _merged(size, k) for name, k in together.items()}}
    fits = {name: _fitted(problem, response, res.solution, names, given, group) for name, group in models.items()}
    fits["as fitted"] = (given, res.solution)
    order = ["free", "as fitted", *together]
    scores = {name: score for name, (score, _) in fits.items()}
    value = {name: deviance(problem.counts, fit.means) for name, (_, fit) in fits.items()}
    apart = {"as fitted": np.eye(size - 1), **{name: _difference(size, k) for name, k in together.items()}}
    flips = {name: _flips(res, names, *fits[name], contrasts) for name, contrasts in apart.items()}
    tests = [_Test.of(flips[name], value[name] - value["free"], len(apart[name])) for name in order[1:]]
    by_clusters = bool(res.specification.groups)
    return Table(
        (
            Field("model", "", order),
            *(
                Field(f"score {outcome}", outcome, [scores[name][k] for name in order], "number")
                for k, outcome in enumerate(outcomes)
            ),
            Field("df", "Df", [np.nan, *(test.df for test in tests)], "count"),
            Field("deviance", "Deviance", [value[name] for name in order], "statistic"),
            Field(
                "statistic",
                "Rao score" if by_clusters else "LRT",
                [np.nan, *(test.statistic for test in tests)],
                "statistic",
            ),
            Field(
                "p_value",
                "Pr(flips)" if by_clusters else "Pr(>χ²)",
                [np.nan, *(test.p_value for test in tests)],
                "p_value",
            ),
        ),
        title=f"Scores of the grades, and {'score' if by_clusters else 'likelihood-ratio'} tests against free scores",
        head=(f"Model: {res.specification.formula}",),
        notes=("scores are those of the first and higher grades", *_notes(res, flips)),
    )


@dataclass(frozen=True)
class _Test:
    """A test of a model against free scores."""

    df: int
    statistic: float
    p_value: float

    @classmethod
    def of(cls, flips: FlipTest | None, ratio: float, df: int) -> _Test:
        """Return the test by sign flips of clusters' scores if there are clusters, else by the likelihood ratio."""
        if flips is not None:
            return cls(df, flips.statistic, flips.p_value)
        ratio = max(0.0, ratio)
        return cls(df, ratio, chi2_p_value(ratio, df))


def _notes(res: PlainEstimates, flips: Mapping[str, FlipTest | None]) -> tuple[str, ...]:
    flip_tests = [test for test in flips.values() if test is not None]
    if not flip_tests:
        return ("the tests assume independent judgments",)
    return (flip_tests[0].note(res.specification.groups[0], most=max(test.clusters for test in flip_tests)),)


def _difference(size: int, k: int) -> FloatArray:
    """Return the contrast, (1, H − 1), of all scores but the first; it is 0 if grades k and k + 1 have one score."""
    steps = np.diff(np.eye(size), axis=0)[:, 1:]  # the first score is fixed
    return np.asarray(steps[[k]])


def _flips(
    res: PlainEstimates, names: list[int], scores: FloatArray, fit: Fit, contrasts: FloatArray
) -> FlipTest | None:
    """Return the test of scores by sign flips of clusters' scores; None for independent judgments.

    Parameters
    ----------
    res : LLBTResults
    names : list of int
        The outcomes in favour of i, the smallest grade first.
    scores : ndarray, shape (H,)
        The scores of the restricted model.
    fit : Fit
        The fit of the restricted model.
    contrasts : ndarray, shape (q, H − 1)
        The contrasts of the scores, without the first, that are 0 in the restricted model.
    """
    if not res.specification.groups:
        return None
    (name,) = res.specification.groups
    problem = _with_free_scores(_scored(res.problem(), _checked(res), names, scores), names, fit)
    whole = np.hstack([np.zeros((len(contrasts), len(fit.params))), contrasts])
    return flip_test(problem, fit, clustered(res.comparisons, name, (name,)), whole)


def _with_free_scores(problem: Problem, names: list[int], fit: Fit) -> Problem:
    """Return the problem with a parameter for each score except the first, linearized at a fit.

    A score multiplies the signed predictor of its outcome; its negative multiplies the predictor of the opposite
    outcome.
    """
    response, signed = problem.response, problem.at(fit.params)[0]
    assert isinstance(response, Response)  # `_checked` has excluded other responses
    size, p, more = len(signed), len(fit.params), len(names) - 1
    loadings = np.zeros((len(response.outcomes), more))
    for column, k in enumerate(names[1:]):
        loadings[k, column], loadings[response.flip[k], column] = 1.0, -1.0
    wider = [csr_array(hstack([rows.tocsr(), csr_array((size, more))])) for rows in problem.predictors]
    wider += [csr_array((signed, (range(size), [p + k] * size)), shape=(size, p + more)) for k in range(more)]
    return replace(
        problem,
        predictors=tuple(map(Gathered.of, wider)),
        offsets=np.zeros((len(wider), size)),
        response=Response(response.outcomes, np.hstack([response.loadings, loadings]), response.flip),
    )


def _checked(res: PlainEstimates) -> Response:
    """Return the response of a fit whose scores can be tested."""
    if not res.comparisons.response.grades:
        raise DesignError(
            "the judgments have no grades beyond the first, so there are no scores to test",
            expected="graded judgments: from_judgments(…, strength=…) or from_counts(…, grades=…)",
        )
    check_of_one_term(res, "grade", "scores")
    if not isinstance(res.response, Response):
        raise DesignError(
            f"scores belong to the adjacent-categories link, and link={res.specification.link!r} has cuts",
            "Fit link='adjacent'.",
        )
    return res.response


def _grades(response: Response) -> list[int]:
    """Return the outcomes in favour of i, the smallest grade first."""
    wins = np.flatnonzero(response.loadings[:, 0] > 0)
    return [int(k) for k in wins[np.argsort(response.loadings[wins, 0])]]


def _merged(size: int, k: int) -> IntArray:
    """Return the groups of grades with equal scores if grade k and its neighbour share a score."""
    return np.arange(size) - (np.arange(size) > k)


def _fitted(
    problem: Problem, response: Response, solution: Fit, names: list[int], given: FloatArray, group: IntArray
) -> tuple[FloatArray, Fit]:
    """Return the scores (H,) at the maximum, and the fit with them; grades of one group share a score.

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
        search = optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": _SLOPE})
        if not np.abs(search.jac).max() < _STEEP:
            raise DesignError("the scores of the grades have no maximum likelihood estimate here", "Merge grades.")
        start = search.x
    scores, _, fit = at(start)
    return scores, fit


def _scored(problem: Problem, response: Response, names: list[int], scores: FloatArray) -> Problem:
    """Return the problem with other scores of the grades."""
    loadings = response.loadings.copy()
    for k, score in zip(names, scores, strict=True):
        loadings[k, 0], loadings[response.flip[k], 0] = score, -score
    return replace(problem, response=Response(response.outcomes, loadings, response.flip))


def check_of_one_term(res: PlainEstimates, term: str, what: str) -> None:
    """Raise if likelihood ratios or sign flips cannot test parameters of a term in a model with worths."""
    blocks, spec = res.design.blocks, res.specification
    missing = [word for word, block in (("object", "worth"), (term, term)) if block not in blocks]
    if missing:
        raise DesignError(
            f"the formula {spec.formula!r} has no {missing[0]}, and tests of {what} need it", f"Add {missing[0]}."
        )
    if spec.prior is not None:
        raise DesignError("likelihood-ratio tests need maximum likelihood estimates", "Fit without prior=.")
    if len(spec.groups) > 1:
        raise DesignError(
            f"the fit is clustered by {' and '.join(spec.groups)}, but sign flips allow one way of clustering",
            f"Fit groups={spec.groups[0]!r}.",
        )
