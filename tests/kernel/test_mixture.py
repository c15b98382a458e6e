"""Mixtures of classes against their own likelihood, written out judge by judge."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special

import llbt
from llbt.judges.class_fit import ByJudge
from llbt.kernel.mixture import curvature, mixture

WORTHS = np.array([[0.0, 0.5, 1.0, 1.5], [1.2, 0.6, 0.2, -0.5]])


def drawn(judges: int = 60, each: int = 12, worths: np.ndarray = WORTHS, seed: int = 3) -> pd.DataFrame:
    """Judgments with ties of judges of two classes; a third of them belong to the second."""
    rng = np.random.default_rng(seed)
    judge = np.repeat(np.arange(judges), each)
    i = rng.integers(worths.shape[1], size=len(judge))
    j = (i + rng.integers(1, worths.shape[1], size=len(judge))) % worths.shape[1]
    group = (judge % 3 == 0).astype(int)
    apart = worths[group, i] - worths[group, j]
    weights = np.exp(np.stack([apart, np.full(len(judge), -0.3), -apart]))
    said = (rng.random(len(judge)) > np.cumsum(weights / weights.sum(axis=0), axis=0)).sum(axis=0)
    return pd.DataFrame(
        {"judge": judge, "object_i": i, "object_j": j, "outcome": np.array(["i", "tie", "j"])[said]}
    ).astype({"object_i": str, "object_j": str})


def log_likelihood(by_judge: ByJudge, shares: np.ndarray, params: np.ndarray) -> float:
    """Σ log Σ π Π p over all judges, one after the other."""
    problem = by_judge.answers.problem
    table = by_judge.answers.table.toarray()[by_judge.answers.index]
    logs = []
    for own in params:
        signed, tie = (rows.toarray() @ own for rows in problem.predictors)
        weights = np.stack([signed, tie, -signed], axis=1)
        logs.append(table @ (weights - special.logsumexp(weights, axis=1, keepdims=True)).ravel())
    return float(special.logsumexp(np.stack(logs, axis=1) + np.log(shares), axis=1).sum())


@pytest.mark.parametrize("common", [[], ["tie"]])
@pytest.mark.slow
def test_two_classes_are_the_maximum_that_scipy_finds(common: list[str]) -> None:
    c = llbt.from_judgments(drawn(), clusters="judge")
    found = llbt.judges.classes("object + tie", c, k=2, starts=10, common=common, rng=1)[2]
    assert found.mixture.converged
    spread = curvature(found.by_judge.answers, found.mixture.shares, found.mixture.params).spread
    assert spread.shape[1] == found.n_params

    def lost(at: np.ndarray) -> float:
        whole = spread @ at
        return -log_likelihood(found.by_judge, special.softmax([0.0, whole[8]]), whole[:8].reshape(2, 4))

    log_ratio = np.log(found.mixture.shares[1] / found.mixture.shares[0])
    here = np.linalg.lstsq(spread, np.append(found.mixture.params, log_ratio), rcond=None)[0]
    assert -lost(here) == pytest.approx(found.llf, abs=1e-9)
    best = optimize.minimize(lost, here + 0.05, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(best.x, here, atol=2e-6)
    if not common:  # as many parameters as (K, p) and the log ratio, in their order: the errors by second differences
        np.testing.assert_allclose(found.bse, _errors(lost, here)[:8].reshape(2, 4), rtol=1e-4)


def _errors(lost: object, here: np.ndarray, step: float = 1e-4) -> np.ndarray:
    assert callable(lost)
    moves = np.eye(len(here)) * step
    second = [
        [lost(here + a + b) - lost(here + a - b) - lost(here - a + b) + lost(here - a - b) for a in moves]
        for b in moves
    ]
    return np.sqrt(np.diag(np.linalg.inv(np.array(second) / (4 * step**2))))


@pytest.mark.parametrize("k", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_starts_that_end_early_come_to_the_same_maximum(k: int) -> None:
    found = llbt.judges.classes("object + tie", llbt.from_judgments(drawn(), clusters="judge"), k=k, starts=10, rng=1)[
        k
    ]
    answers, pooled = found.by_judge.answers, found.pooled.solution.params
    early = mixture(answers, k, pooled, 10, np.random.default_rng(2), gain=1e-2)
    assert early.log_likelihood == pytest.approx(found.llf, abs=1e-6)
    np.testing.assert_allclose(early.params, found.mixture.params, atol=1e-4)
    assert early.starts == (1 if k == 1 else 10)
