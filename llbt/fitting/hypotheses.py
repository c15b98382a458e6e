"""Estimate and test linear hypotheses about the parameters of a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from scipy.sparse import csr_array

from ..base.arguments import Confidence, checked
from ..base.table import Table, interval_fields
from ..core.columns import FloatArray
from ..core.statistics import TestResult, chi2_p_value, critical_values
from ..errors import DesignError, OptionError, listed
from ..formulas.constraints import Hypothesis, read_hypothesis
from ..kernel.cluster_tests import directions, flip_test, hotelling_p
from ..kernel.indexed_rows import Gathered
from ..kernel.likelihood import information, score
from ..kernel.solvers import Fit, eliminate
from .clusters import clustered
from .estimates import Estimates
from .plain_estimates import PlainEstimates
from .ridge import Ridge
from .specification import penalty_of
from .summary import coefficient_fields
from .wald import Wald, WithEstimates

_SAME_DF = 1e-6  # degrees of freedom that differ by less are the same
_MANY = 10_000  # with more names a hypothesis is read with only the names that it mentions


@dataclass(frozen=True, eq=False)
class Linear:
    """Hypotheses ``matrix @ params = right`` with their estimates.

    Attributes
    ----------
    labels : list of str, length k
    matrix : ndarray, shape (k, p)
    estimate : ndarray, shape (k,)
        Left side − right side.
    cov : ndarray, shape (k, k)
    """

    labels: list[str]
    matrix: FloatArray
    estimate: FloatArray
    cov: FloatArray


class Methods:
    """Tests of linear hypotheses, for fits of all kinds with a covariance."""

    @checked
    def t_test(self: WithEstimates, hypothesis: Hypothesis, *, confidence: Confidence = 0.95) -> Table:
        """Estimate linear combinations of the parameters, and test each.

        Parameters
        ----------
        hypothesis : str, list of str, or array of shape (k, p)
            For example ``"object[A] = object[B]"`` or ``"object[A] - 2 * tie = 1"``; separate several by commas. The
            reference may be named and counts as 0. An array has coefficients of the parameters, in the order of
            `names`.
        confidence : float
            The level of the intervals.

        Returns
        -------
        Table
            term, estimate (left − right side), std_error, statistic (z or t), p_value, conf_low, conf_high.

        Raises
        ------
        OptionError
            For unknown names.
        DesignError
            For combinations of aliased parameters.
        """
        return _each(self.estimated, estimated(self, hypothesis), confidence)

    @checked
    def wald_test(self: WithEstimates, hypothesis: Hypothesis) -> TestResult:
        """Test linear hypotheses jointly; they are written as in `t_test`.

        Returns
        -------
        TestResult
            Wald's χ², its degrees of freedom (the number of hypotheses) and its p-value. If the fit has finite degrees
            of freedom, the statistic is F; with clusters, F in Hotelling's form.

        Raises
        ------
        DesignError
            As in `t_test`, and if there are too few clusters for Hotelling's form with so many hypotheses.
        OptionError
            As in `t_test`, and for redundant hypotheses.
        """
        return _jointly(self.estimated, estimated(self, hypothesis))


def wald_test(res: Estimates, hypothesis: Hypothesis) -> TestResult:
    """Return the joint test of hypotheses, by sign flips of clusters' scores or Wald's; see `LLBTResults.wald_test`."""
    hypotheses = estimated(res, hypothesis)
    several = len(hypotheses.labels) > 1 and len(res.specification.groups) == 1 and not np.isnan(hypotheses.cov).any()
    if not several or not isinstance(res, PlainEstimates):
        return _jointly(res.estimated, hypotheses, res.specification.groups)
    _check_rank(res.estimated, hypotheses)
    return _flipped(res, hypotheses)


def _each(of: Wald, hypotheses: Linear, confidence: float) -> Table:
    """Return the estimate, test and interval of each hypothesis."""
    error = np.sqrt(np.maximum(np.diag(hypotheses.cov), 0))
    df = of.df_of(hypotheses.matrix)
    half = critical_values(confidence, df) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, hypotheses.estimate / error, np.nan)
    p_value = 2 * stats.t.sf(np.abs(z), df)
    return Table(
        (
            *coefficient_fields(hypotheses.labels, hypotheses.estimate, error, z, p_value, of.df),
            *interval_fields(hypotheses.estimate - half, hypotheses.estimate + half, confidence),
        ),
        title="Linear hypotheses",
        notes=(*of.notes, *of.missing_notes(hypotheses.estimate, error)),
    )


def _check_rank(of: Wald, hypotheses: Linear) -> None:
    q, rank = len(hypotheses.labels), of.rank(hypotheses.matrix)
    if rank < q:
        raise OptionError(
            f"the {q} hypotheses have rank {rank}, so some are redundant or say nothing about the parameters",
            "Leave these hypotheses out.",
        )


def _jointly(of: Wald, hypotheses: Linear, groups: Sequence[str] = ()) -> TestResult:
    """Return Wald's test of some hypotheses."""
    _check_rank(of, hypotheses)
    q, null = len(hypotheses.labels), ", ".join(hypotheses.labels)
    if np.isnan(hypotheses.cov).any():
        notes = of.missing_notes(hypotheses.estimate, np.diag(hypotheses.cov))
        return TestResult("Wald test", null, math.nan, q, math.nan, "none", notes)
    few = int(np.linalg.matrix_rank(hypotheses.cov)) < q
    statistic = math.nan if few else float(hypotheses.estimate @ np.linalg.solve(hypotheses.cov, hypotheses.estimate))
    df = of.df if of.clustered and q > 1 else _joint_df(of, hypotheses)
    if math.isinf(df):
        return TestResult("Wald test", null, statistic, q, chi2_p_value(statistic, q), "chi2")
    if not of.clustered:
        p_value = float(stats.f.sf(statistic / q, q, df))
        return TestResult("Wald test", null, statistic / q, q, p_value, f"F with {df:.4g} denominator df")
    value, df_denom, p_value = hotelling_p(statistic, q, df)
    if math.isnan(p_value):
        raise few_for_hotelling(q, df + 1, groups)
    return TestResult("Wald test", null, value, q, p_value, f"F with {df_denom:.4g} denominator df")


def _joint_df(of: Wald, hypotheses: Linear) -> float:
    """Return the denominator degrees of freedom of an F test of hypotheses.

    Each uncorrelated combination of the hypotheses has a t² with its own degrees of freedom. F gets the degrees of
    freedom with which its mean equals the mean of these t² (Fai & Cornelius 1996, Journal of Statistical Computation
    and Simulation 54, 363-378).
    """
    _, vectors = np.linalg.eigh(hypotheses.cov)
    each = of.df_of(vectors.T @ hypotheses.matrix)
    least, most = float(each.min()), float(each.max())
    if math.isinf(least) or most - least < _SAME_DF:
        return least
    if least <= 2:
        return 2.0
    mean = sum(1.0 if math.isinf(df) else df / (df - 2) for df in each.tolist())
    return 2 * mean / (mean - len(each)) if mean > len(each) else math.inf


def few_for_hotelling(df: int, clusters: float, groups: Sequence[str]) -> DesignError:
    """Return the error for a Wald test of more parameters than this effective number of clusters allows."""
    of = f" of {' and '.join(groups)}" if groups else ""
    return DesignError(
        f"{df} parameters are tested at once, but the effective number of clusters{of} is {clusters:.3g}",
        "Test fewer parameters at once" + (", or use anova(…, test='cluster')." if len(groups) == 1 else "."),
        expected="more clusters than parameters, for Hotelling's form of Wald's test",
    )


def score_test(res: PlainEstimates, hypothesis: Hypothesis) -> TestResult:
    """Return Rao's score test of some hypotheses for independent judgments."""
    hypotheses = estimated(res, hypothesis)
    problem, free = res.problem(), hypotheses.matrix[:, res.free]
    probability = _restricted(res, hypotheses).means / problem.totals[:, None]
    own, _ = directions(information(problem, probability, problem.totals), free)
    statistic, q = float(np.sum((score(problem, probability) @ own) ** 2)), len(free)
    return TestResult("Score test", ", ".join(hypotheses.labels), statistic, q, chi2_p_value(statistic, q), "chi2")


def _flipped(res: PlainEstimates, hypotheses: Linear) -> TestResult:
    """Return the test of several hypotheses by sign flips of clusters' scores."""
    (name,) = res.specification.groups
    clusters = clustered(res.comparisons, name, (name,))
    test = flip_test(res.problem(), _restricted(res, hypotheses), clusters, hypotheses.matrix[:, res.free])
    method, null = f"flips of {test.clusters} clusters' scores", ", ".join(hypotheses.labels)
    return TestResult("Score test", null, test.statistic, test.df, test.p_value, method, (test.note(name),))


def _restricted(res: PlainEstimates, hypotheses: Linear) -> Fit:
    """Return the fit that satisfies some hypotheses, with its fitted counts."""
    free = hypotheses.matrix[:, res.free]
    unit = np.sqrt(np.diag(res.solution.cov))  # scales parameters to units of their standard errors
    basis = np.linalg.qr((free * unit).T, mode="complete")[0][:, len(free) :]
    start = res.solution.params - unit * np.linalg.lstsq(free * unit, hypotheses.estimate)[0]
    problem = res.problem()
    inside = replace(
        problem,
        predictors=tuple(Gathered.of(csr_array(rows.tocsr() @ (unit[:, None] * basis))) for rows in problem.predictors),
        offsets=np.stack(problem.at(start)),
    )
    if isinstance(res.specification.prior, Ridge):
        raise OptionError(
            "the fit has a penalty and clusters, so several hypotheses cannot be tested jointly",
            "Test them one by one: res.t_test(…).",
        )
    return eliminate(inside, penalty=penalty_of(inside, res.comparisons, res.specification, res.design, res.free))


def estimated(fit: WithEstimates, hypothesis: Hypothesis) -> Linear:
    """Return hypotheses with their estimates and covariance; refuse aliased parameters."""
    of = fit.estimated
    labels, matrix, right = _read(hypothesis, of)
    missing = [name for name in of.aliased if matrix[:, of.names.index(name)].any()]
    if missing:
        raise DesignError(f"hypothesis: {listed(missing)} is aliased (NA), so nothing is known about it.")
    return Linear(labels, matrix, matrix @ np.nan_to_num(of.values) - right, of.combined(matrix))


def _read(hypothesis: Hypothesis, of: Wald) -> tuple[list[str], FloatArray, FloatArray]:
    """Return labels, coefficients (k, p) and right sides (k,); if names are very many, only those in the text count."""
    words: Any = [hypothesis] if isinstance(hypothesis, str) else hypothesis
    in_words = isinstance(words, Sequence) and all(isinstance(word, str) for word in words)
    if len(of.names) <= _MANY or not in_words:
        return read_hypothesis(hypothesis, of.names, of.others)
    text = "\n".join(words)
    named = [k for k, name in enumerate(of.names) if name in text] or [0]
    labels, some, right = read_hypothesis(words, [of.names[k] for k in named], {})
    matrix = np.zeros((len(labels), len(of.names)))
    matrix[:, named] = some
    return labels, matrix, right
