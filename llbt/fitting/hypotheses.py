"""Linear hypotheses about the parameters of a fit: estimated and tested."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats
from scipy.sparse import csr_array

from ..core.columns import FloatArray
from ..core.statistics import TestResult, chi2_p_value, critical_values
from ..errors import DesignError, OptionError, listed
from ..formulas.constraints import Hypothesis, read_hypothesis
from ..kernel.cluster_tests import directions, flip_test, hotelling_p
from ..kernel.gathered import Gathered
from ..kernel.likelihood import information, score
from ..kernel.solvers import Fit, eliminate
from ..table import Table, interval_fields
from .clusters import clustered
from .estimates import Estimates
from .specification import penalty_of
from .summary import coefficient_fields


@dataclass(frozen=True, eq=False)
class Linear:
    """Hypotheses ``matrix @ params = right`` with their estimates.

    Attributes
    ----------
    labels : list of str, length k
    matrix : ndarray, shape (k, p)
    estimate : ndarray, shape (k,)
        Left − right side.
    cov : ndarray, shape (k, k)
    """

    labels: list[str]
    matrix: FloatArray
    estimate: FloatArray
    cov: FloatArray


def z_tests(res: Estimates, hypothesis: Hypothesis, confidence: float) -> Table:
    """Return estimate, test and interval of each hypothesis; see `LLBTResults.t_test`."""
    found = estimated(res, hypothesis)
    error = np.sqrt(np.maximum(np.diag(found.cov), 0))
    df = res.df_of(found.matrix)
    half = critical_values(confidence, df) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, found.estimate / error, np.nan)
    p_value = 2 * stats.t.sf(np.abs(z), df)
    return Table(
        (
            *coefficient_fields(found.labels, found.estimate, error, z, p_value, res.df_inference),
            *interval_fields(found.estimate - half, found.estimate + half, confidence),
        ),
        title="Linear hypotheses",
        notes=res.covariance.missing_notes(found.estimate, error),
    )


def wald_test(res: Estimates, hypothesis: Hypothesis) -> TestResult:
    """Return the joint test of some hypotheses; see `LLBTResults.wald_test`."""
    found = estimated(res, hypothesis)
    q = len(found.labels)
    rank = int(np.linalg.matrix_rank(found.matrix[:, res.free] * np.sqrt(np.diag(res.solution.cov))))
    if rank < q:
        raise OptionError(
            f"the {q} hypotheses have rank {rank}, so some say the same or nothing about the parameters",
            "Leave them out.",
        )
    flips = q > 1 and len(res.specification.groups) == 1 and not np.isnan(found.cov).any()
    return _flipped(res, found) if flips else _wald(res, found)


def _wald(res: Estimates, found: Linear) -> TestResult:
    q, null = len(found.labels), ", ".join(found.labels)
    if np.isnan(found.cov).any():
        notes = res.covariance.missing_notes(found.estimate, np.diag(found.cov))
        return TestResult("Wald test", null, math.nan, q, math.nan, "none", notes)
    few = int(np.linalg.matrix_rank(found.cov)) < q
    statistic = math.nan if few else float(found.estimate @ np.linalg.solve(found.cov, found.estimate))
    if math.isinf(res.df_inference):
        return TestResult("Wald test", null, statistic, q, chi2_p_value(statistic, q), "chi2")
    if not res.specification.groups and res.covariance.independent is None:  # clusters of lists have the second
        p_value = float(stats.f.sf(statistic / q, q, res.df_inference))
        return TestResult("Wald test", null, statistic / q, q, p_value, f"F with {res.df_inference:g} denominator df")
    df = float(res.df_of(found.matrix)[0]) if q == 1 else res.df_inference
    value, df_denom, p_value = hotelling_p(statistic, q, df)
    if math.isnan(p_value):
        raise few_for_hotelling(q, res)
    return TestResult("Wald test", null, value, q, p_value, f"F with {df_denom:.4g} denominator df")


def few_for_hotelling(df: int, res: Estimates) -> DesignError:
    """Return why Wald's test of so many parameters has no answer with the clusters of a fit."""
    groups = res.specification.groups
    of = f" of {' and '.join(groups)}" if groups else ""
    return DesignError(
        f"{df} parameters are tested at once, with clusters{of} that are worth "
        f"{res.df_inference + 1:.3g} of equal size",
        "Test fewer at once" + (", or take anova(…, test='cluster')." if len(groups) == 1 else "."),
        expected="more clusters than parameters, for Hotelling's form of Wald's test",
    )


def score_test(res: Estimates, hypothesis: Hypothesis) -> TestResult:
    """Return Rao's test of some hypotheses, the judgments independent of each other."""
    found = estimated(res, hypothesis)
    problem, free = res.problem(), found.matrix[:, res.free]
    probability = _restricted(res, found).means / problem.totals[:, None]
    own, _ = directions(information(problem, probability, problem.totals), free)
    statistic, q = float(np.sum((score(problem, probability) @ own) ** 2)), len(free)
    return TestResult("Score test", ", ".join(found.labels), statistic, q, chi2_p_value(statistic, q), "chi2")


def _flipped(res: Estimates, found: Linear) -> TestResult:
    """Return the test of several hypotheses by flips of clusters' scores."""
    (name,) = res.specification.groups
    clusters = clustered(res.comparisons, name, (name,))
    test = flip_test(res.problem(), _restricted(res, found), clusters, found.matrix[:, res.free])
    said, null = f"flips of {test.clusters} clusters' scores", ", ".join(found.labels)
    return TestResult("Score test", null, test.statistic, test.df, test.p_value, said, (test.said(name),))


def _restricted(res: Estimates, found: Linear) -> Fit:
    """Return the fit that keeps to some hypotheses, its means those of the judgments."""
    free = found.matrix[:, res.free]
    unit = np.sqrt(np.diag(res.solution.cov))  # parameters in standard errors, whatever their scale
    basis = np.linalg.qr((free * unit).T, mode="complete")[0][:, len(free) :]
    start = res.solution.params - unit * np.linalg.lstsq(free * unit, found.estimate)[0]
    problem = res.problem()
    inside = replace(
        problem,
        predictors=tuple(Gathered.of(csr_array(rows.tocsr() @ (unit[:, None] * basis))) for rows in problem.predictors),
        offsets=np.stack(problem.at(start)),
    )
    return eliminate(inside, penalty=penalty_of(inside, res.comparisons, res.specification))


def estimated(res: Estimates, hypothesis: Hypothesis) -> Linear:
    """Return hypotheses with their estimates and covariance; aliased parameters are refused."""
    others = dict.fromkeys(res.design.references, ()) | {name: columns for _, name, columns in res.design.sums}
    labels, matrix, right = read_hypothesis(hypothesis, res.names, others)
    missing = [name for name in res.aliased if matrix[:, res.names.index(name)].any()]
    if missing:
        raise DesignError(f"hypothesis: {listed(missing)} is aliased (NA), so nothing is known about it.")
    params = np.asarray(res.params.fillna(0.0), dtype=float)
    return Linear(labels, matrix, matrix @ params - right, res.combined_cov(matrix))
