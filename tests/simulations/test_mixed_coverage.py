"""Effects of judges by simulation: what intervals of λ and σ cover, the size of the test of σ = 0, and the bias of σ.

Three objects, judges with effects of sd .7 (or 0) on every log-worth, so many judgments of random pairs each, no ties.
Intervals are Wald's of λ and by the profile of σ; an estimate of 0 is taken as one that covers 0 alone. Shares are of
tables whose σ has a finite estimate.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats
from support.folders import SIMULATIONS

import llbt
from llbt.kernel.grouped import grouped
from llbt.kernel.likelihood import Problem
from llbt.kernel.mixed import maximize
from llbt.kernel.mixed_profile import profile_scale
from llbt.kernel.solvers import eliminate

PAIRS = np.array([(0, 1), (0, 2), (1, 2)])
WORTH = np.array([0.5, 0.2, 0.0])
SIGMA = 0.7
DROP = float(stats.chi2.isf(0.05, 1)) / 2
Z = float(stats.norm.isf(0.025))


@cache
def design() -> Problem:
    frame = pd.DataFrame(np.array(list("ABC"))[PAIRS], columns=["object_i", "object_j"]).assign(wins_i=5, wins_j=5)
    return llbt.fit("object", llbt.from_counts(frame)).problem()


def table(judges: int, judgments: int, sigma: float, rng: np.random.Generator) -> np.ndarray:
    """Return counts by judge, pair and outcome."""
    worth = WORTH + sigma * rng.normal(size=(judges, 3))
    share = 1 / (1 + np.exp(-2 * (worth[:, PAIRS[:, 0]] - worth[:, PAIRS[:, 1]])))
    total = rng.multinomial(judgments, np.full(3, 1 / 3), size=judges)
    wins = rng.binomial(total, share)
    return np.stack([wins, total - wins], axis=2).astype(float)


def fitted(counts: np.ndarray) -> tuple[float, ...]:
    """Return the estimate and error of λ_A − λ_C, σ, the bounds of σ, and twice the gain in log-likelihood."""
    base = design()
    problem = Problem(base.predictors, counts.sum(axis=0), base.offsets, base.response)
    start = eliminate(problem)
    judge, pair = np.nonzero(counts.sum(axis=2))
    groups = grouped(pair, judge, counts[judge, pair], PAIRS, ("object",), (1, None))
    found = maximize(problem, groups.bundles, start.params, np.array([0.8]))
    if found.infinite:
        return (np.nan,) * 6
    sigma, cov = float(found.scales[0]), found.covariance if found.rule is not None else start.cov
    low, high = (0.0, np.inf) if sigma == 0 else profile_scale(problem, groups.bundles, found, 0, DROP)
    gain = 2 * (found.value - start.objective)
    return float(found.params[0]), float(np.sqrt(cov[0, 0])), sigma, low, high, max(gain, 0.0)


def simulated(judges: int, judgments: int, sigma: float, tables: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(tables):
        try:
            rows.append(fitted(table(judges, judgments, sigma, rng)))
        except linalg.LinAlgError:
            rows.append((np.nan,) * 6)
    found = np.array(rows)
    finite = found[~np.isnan(found[:, 0])]
    estimate, error, size, low, high, gain = finite.T
    return {
        "no finite estimate": round(1 - len(finite) / tables, 4),
        "lambda": round(float(np.mean(np.abs(estimate - WORTH[0]) < Z * error)), 4),
        "sigma": round(float(np.mean(np.where(size == 0, sigma == 0, (low <= sigma) & (sigma <= high)))), 4),
        "median of sigma": round(float(np.median(size)), 4),
        "sigma = 0": round(float(np.mean(size == 0)), 4),
        "rejected": round(float(np.mean(gain > stats.chi2.isf(0.1, 1))), 4),
    }


CASES = [(12, 5, SIGMA), (12, 20, SIGMA), (30, 5, SIGMA), (30, 20, SIGMA), (12, 5, 0.0), (30, 5, 0.0)]


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "mixed_coverage.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_intervals_cover_and_the_test_keeps_its_level(case: tuple[int, int, float]) -> None:
    """Within three standard errors of a share of so many tables, on either side of what is promised."""
    record, (_, _, sigma) = recorded(), case
    found = record["found"][", ".join(map(str, case))]
    error = 3 * np.sqrt(0.05 * 0.95 / record["tables"])
    assert 0.93 - error < found["lambda"] < 0.97 + error
    if sigma == 0:
        assert found["rejected"] < 0.05 + error
    else:
        assert found["sigma"] > 0.92 - error


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_found_again(case: tuple[int, int, float]) -> None:
    record = recorded()
    found = simulated(*case, record["tables"], record["seed"])
    assert found == pytest.approx(record["found"][", ".join(map(str, case))], abs=0.011)
