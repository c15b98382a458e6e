"""Which covariance a fit asks for: of independent, overdispersed or clustered judgments."""

from __future__ import annotations

import numpy as np

from .clusters import clustered
from .comparisons import Comparisons
from .errors import DesignError
from .likelihood import Problem
from .results import pearson_chi2
from .robust import Covariance, judgment_sandwich, make_covariance
from .solvers import Fit
from .specification import Specification
from .table import format_number

FEW_CLUSTERS = 30


def covariance_of(spec: Specification, c: Comparisons, problem: Problem, solution: Fit) -> Covariance:
    """Return the covariance that `cov_type`, `groups` and `scale` ask for."""
    if spec.cov_type == "cluster":
        return make_covariance(
            problem, solution, [clustered(c, name, spec.groups) for name in spec.groups], spec.groups
        )
    if spec.cov_type == "HC0":
        note = "standard errors by the sandwich of single judgments (HC0)"
        return Covariance(judgment_sandwich(problem, solution), notes=(note,))
    if spec.scale == "X2":
        return _dispersed(problem, solution)
    return Covariance(solution.cov)


def few_clusters(spec: Specification, c: Comparisons) -> str:
    """Return a warning where there are too few clusters for the sandwich to be relied on, else nothing.

    Raises
    ------
    DesignError
        As `clustered`.
    """
    if spec.cov_type != "cluster":
        return ""
    sizes = {name: clustered(c, name, spec.groups).size for name in spec.groups}
    few = [f"{size} clusters of {name}" for name, size in sizes.items() if size < FEW_CLUSTERS]
    if not few:
        return ""
    first = min(sizes, key=lambda name: sizes[name])
    return (
        f"{' and '.join(few)}: with fewer than {FEW_CLUSTERS} the cluster-robust standard errors are too small more "
        f"often than not. Ways out: model the differences (object * {first}, with {first} as a covariate), resample "
        f"clusters (llbt.bootstrap(res, resample={first!r})), or leave out each in turn "
        f"(llbt.influence(res, by={first!r}))."
    )


def _dispersed(problem: Problem, solution: Fit) -> Covariance:
    df = problem.counts.size - len(problem.counts) - len(solution.params)
    if df == 0:
        raise DesignError("scale='X2': the model is saturated, so there is no dispersion to estimate.")
    scale = pearson_chi2(problem.counts, solution.means) / df
    note = f"standard errors times √{format_number(scale, 4)}, the dispersion X²/df; t with {df} df"
    return Covariance(solution.cov * scale, df, (note,))


def check_options(spec: Specification) -> None:
    """Raise where the options of a fit contradict each other."""
    if spec.cov_type not in ("nonrobust", "HC0", "cluster"):
        raise DesignError(f"cov_type={spec.cov_type!r} is not known; it may be 'nonrobust', 'HC0' or 'cluster'.")
    if len(set(spec.groups)) < len(spec.groups) or not all(isinstance(name, str) for name in spec.groups):
        raise DesignError(f"groups={spec.groups!r}; it is the name of one cluster or covariate, or of two.")
    if (spec.cov_type == "cluster") != bool(spec.groups) or len(spec.groups) > 2:
        raise DesignError("cov_type='cluster' and groups= go together: groups='judge', or two names.")
    if spec.scale not in (1.0, "X2"):
        raise DesignError(f"scale={spec.scale!r} is not known; it is 1 or 'X2' (standard errors times √(X²/df)).")
    if spec.scale == "X2" and spec.cov_type != "nonrobust":
        raise DesignError("scale='X2' and a robust cov_type are two answers to one question; choose one.")
    number = isinstance(spec.prior, (int, float)) and not isinstance(spec.prior, bool)
    if spec.prior is not None and not (number and 0 < spec.prior < np.inf):
        raise DesignError(f"prior={spec.prior!r}; it is the positive number of judgments that each pair is given.")
    if spec.bias_reduction and (spec.prior is not None or spec.method == "glm"):
        raise DesignError("bias_reduction=True goes with neither prior= nor method='glm'; use method='eliminate'.")
