"""Test whether ties get rarer as objects differ more, as the model assumes: the generalized Davidson model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array, hstack

from ..base.arguments import checked
from ..base.table import Field, Table
from ..core.columns import FloatArray, IntArray
from ..core.response import THREE
from ..core.statistics import chi2_p_value
from ..errors import DesignError
from ..fitting.clusters import clustered
from ..fitting.fitted import PlainFit
from ..fitting.plain_estimates import PlainEstimates
from ..kernel.cluster_tests import FlipTest, flip_test
from ..kernel.indexed_rows import Gathered
from ..kernel.likelihood import Problem
from ..kernel.newton import SLOW, InParameters, moving, newton
from .grade_tests import check_of_one_term

_STEPS = 200
_FLAT = 1e-8  # below this share of a judgment's information, σ is not informed
_FARTHEST = 50.0  # largest σ; ties then vanish as soon as objects differ


@checked
def tie_tests(res: PlainFit) -> Table:
    """Test whether ties get rarer as objects differ more, and whether they do so as Davidson's model assumes.

    Parameters
    ----------
    res : LLBTResults
        For judgments with ties, with worths and the term `tie`.

    Returns
    -------
    Table
        A row for each model: ``free`` (σ is a parameter), ``as fitted`` (σ = 1, Davidson's model: ties are rarer, the
        more the objects differ) and ``constant`` (σ = 0: the probability of a tie is the same for all pairs): model,
        sigma, std_error, df, deviance, and statistic and p_value of the likelihood-ratio test against ``free``. If the
        fit is clustered, ``as fitted`` is tested by Rao's score with sign flips of the clusters' scores, as in `anova`;
        ``constant`` and the standard error are then NaN.

    Raises
    ------
    DesignError
        For judgments without ties, with grades or "both bad"; for formulas without worths or `tie`, other links, fits
        with a prior, and two-way clustering; and if σ has no finite estimate.

    Notes
    -----
    With u = λᵢ − λⱼ (+ order), wins of i and j have the log weights u and −u, and ties γ + (1 − σ) log cosh u. So the
    log-odds of a tie against a decision are γ − log 2 − σ log cosh u. This is the generalized Davidson model of
    Hamilton, Tawn and Firth with π = ½; γ is the tie effect of equal objects, whatever σ. The likelihood is maximized
    by Fisher's scoring over all parameters.

    References
    ----------
    Davidson, R. R. (1970). On extending the Bradley-Terry model to accommodate ties in paired comparison experiments.
    Journal of the American Statistical Association 65(329), 317-328. Hamilton, I., Tawn, N. & Firth, D. (2023). The
    many routes to the ubiquitous Bradley-Terry model. arXiv:2312.13619. Hemerik, J., Goeman, J. J. & Finos, L. (2020).
    Robust testing in generalized linear models by sign flipping score contributions. Journal of the Royal Statistical
    Society B 82(3), 841-864.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> llbt.tie_tests(res).to_frame()[["model", "sigma", "p_value"]].round(2).values.tolist()
    [['free', 0.41, nan], ['as fitted', 1.0, 0.11], ['constant', 0.0, 0.24]]
    """
    problem = _checked(res)
    free = _maximum(problem, res.solution.params)
    constant = _maximum(problem, free.params[:-1], sigma=0.0)
    fitted = _Model.at(problem, np.append(res.solution.params, 1.0))
    flips = _flips(res, problem)
    models = (free, fitted, constant)
    ratio = [np.nan, *(max(0.0, 2 * (free.value - one.value)) for one in models[1:])]
    p_value = [chi2_p_value(value, 1) for value in ratio]
    if flips is not None:
        ratio, p_value = [np.nan, flips.statistic, np.nan], [np.nan, flips.p_value, np.nan]
    saturated = _saturated(problem)
    error = np.nan if flips is not None else free.std_error
    return Table(
        (
            Field("model", "", ["free", "as fitted", "constant"]),
            Field("sigma", "σ", [one.sigma for one in models], "number"),
            Field("std_error", "Std. Error", [error, np.nan, np.nan], "number"),
            Field("df", "Df", [np.nan, 1, 1], "count"),
            Field("deviance", "Deviance", [2 * (saturated - one.value) for one in models], "statistic"),
            Field("statistic", "Rao score" if flips is not None else "LRT", ratio, "statistic"),
            Field("p_value", "Pr(flips)" if flips is not None else "Pr(>χ²)", p_value, "p_value"),
        ),
        title=f"Ties and strength: {'score' if flips is not None else 'likelihood-ratio'} tests against a free σ",
        head=(f"Model: {res.specification.formula}",),
        notes=(
            "σ = 1: ties get rarer as objects differ more (Davidson); σ = 0: equally frequent for all pairs",
            *(("the tests assume independent judgments",) if flips is None else _of_clusters(res, flips)),
        ),
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """The generalized Davidson model at some parameters.

    Attributes
    ----------
    params : ndarray, shape (p + 1,)
        The parameters of the fit, then σ.
    value : float
        Σ n log p.
    gradient : ndarray, shape (p + 1,)
    information : ndarray, shape (p + 1, p + 1)
        The expected information.
    """

    params: FloatArray
    value: float
    gradient: FloatArray
    information: FloatArray

    @classmethod
    def at(cls, problem: Problem, params: FloatArray) -> _Model:
        (u, tie), sigma = problem.at(params[:-1]), params[-1]
        cosh = np.logaddexp(u, -u) - np.log(2.0)  # log cosh u
        logs = np.stack([u, tie + (1 - sigma) * cosh, -u])
        logs -= np.logaddexp.reduce(logs, axis=0)
        p, n = np.exp(logs), problem.counts.T
        moved = np.zeros((3, 3, len(u)))  # derivatives of each outcome's log weight in u, the tie effect and σ
        moved[0, 0], moved[2, 0] = 1.0, -1.0
        moved[1] = (1 - sigma) * np.tanh(u), np.ones(len(u)), -cosh
        mean = np.einsum("ks,kas->as", p, moved)
        score = np.einsum("ks,kas->as", n - n.sum(axis=0) * p, moved)
        weight = n.sum(axis=0) * (np.einsum("ks,kas,kbs->abs", p, moved, moved) - mean[:, None] * mean)
        rows = [predictor.toarray() for predictor in problem.predictors]
        slope = np.append(sum(x.T @ s for x, s in zip(rows, score[:2], strict=True)), score[2].sum())
        size = len(params) - 1
        information = np.empty((size + 1, size + 1))
        information[:size, :size] = sum(
            rows[a].T @ (weight[a, b][:, None] * rows[b]) for a in range(2) for b in range(2)
        )
        information[:size, size] = information[size, :size] = sum(rows[a].T @ weight[a, 2] for a in range(2))
        information[size, size] = weight[2, 2].sum()
        return cls(params, float((n * logs).sum()), slope, information)

    @property
    def sigma(self) -> float:
        """The parameter of the generalized model; 1 for Davidson's."""
        return float(self.params[-1])

    @property
    def std_error(self) -> float:
        """The standard error of σ, if it is estimated."""
        return float(np.sqrt(1 / self.left))

    @property
    def left(self) -> float:
        """The information on σ with the other parameters profiled out."""
        size = len(self.params) - 1
        along = self.information[:size, size]
        solved = linalg.solve(self.information[:size, :size], along, assume_a="pos")
        return float(self.information[size, size] - along @ solved)


def _maximum(problem: Problem, start: FloatArray, sigma: float | None = None) -> _Model:
    """Return the model at the maximum of the likelihood, for a given σ, or also over σ, starting at 1."""
    held = np.arange(len(start) + 1) == (len(start) if sigma is not None else -1)
    here = _Model.at(problem, np.append(start, 1.0 if sigma is None else sigma))
    if sigma is None and not here.left > _FLAT * problem.totals.sum():
        raise DesignError(
            "the table does not separate σ from the tie effect, because all pairs of objects differ equally",
            "Keep the fit, which has σ = 1.",
        )
    ascent = InParameters(lambda params: _Model.at(problem, params), _solved, moving(len(held), held))
    search = newton(ascent, here, exact=SLOW, most=_STEPS, ends=lambda one, step, n_iter: abs(one.sigma) > _FARTHEST)
    if not search.converged:
        raise DesignError(
            f"σ has no finite estimate: it is at {search.point.sigma:.3g} and still changes",
            "Keep the fit, which has σ = 1: the table does not show how ties depend on the difference of worths.",
        )
    return search.point


def _solved(here: _Model, free: IntArray) -> FloatArray:
    """Return Fisher's step in the free parameters."""
    return np.asarray(linalg.solve(here.information[np.ix_(free, free)], here.gradient[free], assume_a="pos"))


def _saturated(problem: Problem) -> float:
    """Return Σ n log(n/N), the log-likelihood of a model with a parameter for each count."""
    n, total = problem.counts, problem.totals[:, None]
    share = np.divide(n, total, out=np.ones_like(n), where=n > 0)
    return float((n * np.log(share)).sum())


def _flips(res: PlainEstimates, problem: Problem) -> FlipTest | None:
    """Return the test of σ = 1 by sign flips of clusters' scores; None for independent judgments.

    The score of σ at 1 equals the score of a covariate −log cosh u in the tie effect, with u as fitted.
    """
    if not res.specification.groups:
        return None
    (name,) = res.specification.groups
    u, size = problem.at(res.solution.params)[0], len(res.solution.params)
    cosh = (np.logaddexp(u, -u) - np.log(2.0))[:, None]
    columns = (csr_array((len(u), 1)), csr_array(cosh))
    wider = [hstack([rows.tocsr(), column]) for rows, column in zip(problem.predictors, columns, strict=True)]
    whole = replace(problem, predictors=tuple(Gathered.of(csr_array(rows)) for rows in wider))
    contrast = np.append(np.zeros(size), 1.0)[None, :]
    return flip_test(whole, res.solution, clustered(res.comparisons, name, (name,)), contrast)


def _of_clusters(res: PlainEstimates, flips: FlipTest) -> tuple[str, ...]:
    note = flips.note(res.specification.groups[0], most=flips.clusters)
    return (note, "the test of σ = 0 and the standard error need independent judgments: fit without groups=")


def _checked(res: PlainEstimates) -> Problem:
    """Return the arrays of a fit whose ties can be tested."""
    if res.comparisons.response != THREE:
        raise DesignError(
            "the judgments have no ties, or have outcomes other than win, tie and loss",
            "Use wins, ties and losses: llbt.tie_tests(llbt.fit('object + tie', c.collapse())).",
        )
    check_of_one_term(res, "tie", "ties")
    if (link := res.specification.link) != "adjacent":
        raise DesignError(
            f"Davidson's model needs link='adjacent', and the fit has link={link!r}", "Fit link='adjacent'."
        )
    return res.problem()
