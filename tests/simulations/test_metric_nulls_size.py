"""How often `metrics.compare` finds a difference, at level 5 %, under either of two null hypotheses, by simulation.

Humans score 8 systems on 40 inputs, N(0, .3²) of the system + N(0, 1) of the input + N(0, 1) of both, with an error of
N(0, 1). Each metric has the same without the humans' error, and errors of N(0, 1) that correlate with the other's by
one half. Metrics that are equally good for these systems have nothing else; those that are only so for systems like
these favour each system by N(0, .4²) of their own.
"""

import json

import numpy as np
import pytest
from joblib import Parallel, delayed
from support.folders import SIMULATIONS

import llbt
from llbt.metrics.metric_tests import Statistic, TestMethod

RECORD = SIMULATIONS / "metric_nulls_size.json"
SHAPE = (8, 40)
STATISTICS: tuple[Statistic, ...] = (
    "correlation",
    "pairwise_accuracy",
    "soft_pairwise_accuracy",
    "tie_calibrated_accuracy",
)
METHODS: tuple[TestMethod, ...] = ("perm-systems", "perm-both")
FAVOURS = {"these systems": 0.0, "systems like these": 0.4}
SETTINGS = [(statistic, method, null) for statistic in STATISTICS for method in METHODS for null in FAVOURS]


def drawn(favour: float, rng: np.random.Generator) -> list[np.ndarray]:
    """Scores of two metrics and of humans."""
    quality = 0.3 * rng.normal(size=(SHAPE[0], 1)) + rng.normal(size=(1, SHAPE[1])) + rng.normal(size=SHAPE)
    shared = rng.normal(size=SHAPE)
    metrics = [
        quality + favour * rng.normal(size=(SHAPE[0], 1)) + np.sqrt(0.5) * (shared + rng.normal(size=SHAPE))
        for _ in range(2)
    ]
    return [*metrics, quality + rng.normal(size=SHAPE)]


def p_value(statistic: Statistic, method: TestMethod, null: str, seed: list[int]) -> float:
    rng = np.random.default_rng(seed)
    x, y, z = drawn(FAVOURS[null], rng)
    return llbt.metrics.compare(x, y, z, statistic=statistic, method=method, n=199, draws=200, rng=rng).p_value


def rejected(setting: tuple[Statistic, TestMethod, str], trials: int, seed: int, n_jobs: int = 1) -> float:
    """The share of trials with p ≤ .05."""
    found = Parallel(n_jobs=n_jobs)(delayed(p_value)(*setting, [seed, trial]) for trial in range(trials))
    return round(float(np.mean(np.array(found) <= 0.05)), 4)


def recorded() -> dict:
    return json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("setting", SETTINGS)
def test_recorded_size(setting: tuple[Statistic, TestMethod, str]) -> None:
    """400 trials: .05 + 4 standard errors, .094; by cell far more where metrics favour systems of their own."""
    share = recorded()["found"][", ".join(setting)]
    if setting[1:] == ("perm-both", "systems like these") and setting[0] != "tie_calibrated_accuracy":
        assert share > 0.2
    elif setting[1] == "perm-systems" or setting[2] == "these systems":
        assert share < 0.094


@pytest.mark.slow
@pytest.mark.parametrize("null", FAVOURS)
def test_the_default_holds_under_either_null(null: str) -> None:
    """Pairwise accuracy, the first 100 trials of the record."""
    share = recorded()["found"][f"pairwise_accuracy, perm-systems, {null}"]
    found = rejected(("pairwise_accuracy", "perm-systems", null), 100, recorded()["seed"])
    assert found == pytest.approx(share, abs=4 * np.sqrt(0.05 * 0.95 / 100))


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", SETTINGS)
def test_size_again(setting: tuple[Statistic, TestMethod, str]) -> None:
    record = recorded()
    share = record["found"][", ".join(setting)]
    assert rejected(setting, record["trials"], record["seed"], -1) == pytest.approx(share, abs=2e-3)
