"""Linear hypotheses about the parameters of a fit: read, estimated, tested."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import patsy
from patsy.constraint import parse_constraint
from scipy import stats

from .columns import FloatArray
from .errors import DesignError, listed
from .statistics import TestResult, chi2_p_value, critical_value
from .summary import coefficient_fields
from .table import Field, Table

if TYPE_CHECKING:
    from .results import LLBTResults

Hypothesis = str | Sequence[str] | npt.ArrayLike

_MOST_CHARACTERS = 30_000
_MOST_NESTED = 200  # operators within operators: patsy goes through them by recursion


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


def z_tests(res: LLBTResults, hypothesis: Hypothesis, confidence: float) -> Table:
    """Return estimate, test and interval of each hypothesis; see `LLBTResults.t_test`."""
    found = estimated(res, hypothesis)
    error = np.sqrt(np.maximum(np.diag(found.cov), 0))
    half = critical_value("t_test", confidence, res.df_inference) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, found.estimate / error, np.nan)
    p_value = 2 * stats.t.sf(np.abs(z), res.df_inference)
    return Table(
        (
            *coefficient_fields(found.labels, found.estimate, error, z, p_value, res.df_inference),
            Field("conf_low", f"{100 * confidence:.4g} % low", found.estimate - half, "estimate"),
            Field("conf_high", "high", found.estimate + half, "estimate"),
        ),
        title="Linear hypotheses",
    )


def wald_test(res: LLBTResults, hypothesis: Hypothesis) -> TestResult:
    """Return the joint χ² test of some hypotheses; see `LLBTResults.wald_test`."""
    found = estimated(res, hypothesis)
    df = int(np.linalg.matrix_rank(found.cov))
    if df < len(found.labels) == int(np.linalg.matrix_rank(found.matrix)) and res.specification.cov_type == "cluster":
        raise DesignError(
            f"wald_test: the covariance of so few clusters has rank {df} in the {len(found.labels)} hypotheses; test "
            "fewer at once, or fit without cov_type='cluster'."
        )
    if df < len(found.labels):
        raise DesignError(
            f"wald_test: the {len(found.labels)} hypotheses have rank {df}, so some say the same or nothing about the "
            "parameters; leave them out."
        )
    statistic = float(found.estimate @ np.linalg.solve(found.cov, found.estimate))
    null = ", ".join(found.labels)
    if np.isinf(res.df_inference):
        return TestResult("Wald test", null, statistic, df, chi2_p_value(statistic, df), "chi2")
    p_value = float(stats.f.sf(statistic / df, df, res.df_inference))
    return TestResult("Wald test", null, statistic / df, df, p_value, f"F with {res.df_inference:g} denominator df")


def estimated(res: LLBTResults, hypothesis: Hypothesis) -> Linear:
    """Return hypotheses with their estimates and covariance; aliased parameters are refused."""
    labels, matrix, right = _read(res, hypothesis)
    missing = [name for name in res.aliased if matrix[:, res.names.index(name)].any()]
    if missing:
        raise DesignError(f"hypothesis: {listed(missing)} is aliased (NA), so nothing is known about it.")
    params = np.asarray(res.params.fillna(0.0), dtype=float)
    cov = np.asarray(res.cov_params().fillna(0.0), dtype=float)
    return Linear(labels, matrix, matrix @ params - right, matrix @ cov @ matrix.T)


def _read(res: LLBTResults, hypothesis: Any) -> tuple[list[str], FloatArray, FloatArray]:
    """Return labels, coefficients (k, p) and right-hand sides (k,)."""
    if isinstance(hypothesis, str):
        return _read_text(res, [hypothesis])
    if isinstance(hypothesis, Sequence) and hypothesis and all(isinstance(h, str) for h in hypothesis):
        return _read_text(res, hypothesis)
    matrix = np.atleast_2d(np.asarray(hypothesis, dtype=float))
    p = len(res.names)
    if matrix.ndim != 2 or matrix.shape[1] != p:
        raise DesignError(
            f"hypothesis is an array of shape {matrix.shape}; expected (k, {p}): coefficients of {listed(res.names)}."
        )
    return [f"hypothesis {k}" for k in range(len(matrix))], matrix, np.zeros(len(matrix))


def _read_text(res: LLBTResults, texts: Sequence[str]) -> tuple[list[str], FloatArray, FloatArray]:
    """Read hypotheses with patsy; references of treatment coding may be named and count as 0."""
    names = [*res.names, *res.design.references]
    if not all(text.strip() for text in texts):
        raise DesignError(f"hypothesis: the text is empty; write one such as '{names[0]} = 0'.")
    try:
        for text in texts:
            _check_size(text, names)
        with np.errstate(all="ignore"):  # what is not finite is refused below
            found = [patsy.DesignInfo(names).linear_constraint(text) for text in texts]
    except patsy.PatsyError as error:
        raise DesignError(f"hypothesis: {error}\n  It may name {listed(names, 12)}.") from None
    matrix = np.vstack([constraint.coefs for constraint in found])[:, : len(res.names)]
    right = np.concatenate([constraint.constants.ravel() for constraint in found])
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        raise DesignError(
            f"hypothesis: {listed(texts)}: a coefficient or constant is not finite; write finite numbers."
        )
    labels = [label for text, c in zip(texts, found, strict=True) for label in _labels(text, len(c.coefs))]
    return labels, matrix, right


def _check_size(text: str, names: list[str]) -> None:
    """Refuse a hypothesis that patsy cannot go through; reading it into a tree needs no recursion."""
    if len(text) > _MOST_CHARACTERS:
        raise DesignError(
            f"hypothesis: a text of {len(text):,} characters; at most {_MOST_CHARACTERS:,} are read. Pass an array of "
            f"coefficients, shape (k, {len(names)}) less the references."
        )
    level = [parse_constraint(text, names)]
    for _ in range(_MOST_NESTED):
        level = [part for node in level for part in node.args]
        if not level:
            return
    raise DesignError(
        f"hypothesis: {text[:60]!r}… has more than {_MOST_NESTED} operators within operators. Pass several texts, or "
        "an array of coefficients."
    )


def _labels(text: str, size: int) -> list[str]:
    """Name the hypotheses of one text: commas separate them, or equals signs in a chain, unless part of a name."""
    if size == 1:
        return [text.strip()]
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == size:
        return parts
    chain = [part.strip() for part in text.split("=")]
    if len(chain) == size + 1:
        return [f"{left} = {right}" for left, right in itertools.pairwise(chain)]
    return [f"{text.strip()} [{k}]" for k in range(size)]
