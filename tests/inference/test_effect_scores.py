"""Scores of tables at the estimates of a fit with effects: differences of the likelihood, mean 0, tests by refits."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import llbt
from llbt.inference.effect_scores import effect_scores
from llbt.inference.mixed_tables import drawn_table
from llbt.inference.unit_models import estimates_of, own_estimates

STEP = 1e-4


BOTH = "object + (object | judge) + (object | prompt)"


@cache
def fit(formula: str = BOTH, approximation: str | None = None) -> llbt.MixedResults:
    rng, size = np.random.default_rng(3), 240
    i = rng.integers(4, size=size)
    j = (i + rng.integers(1, 4, size=size)) % 4
    judge, prompt = np.arange(size) % 12, rng.integers(20, size=size)
    own = 0.5 * rng.standard_normal((12, 4))[judge] + 0.5 * rng.standard_normal((20, 4))[prompt]
    row = np.arange(size)
    wins = (rng.random(size) < special.expit(2 * (own[row, i] - own[row, j]))).astype(int)
    frame = pd.DataFrame({"object_i": i, "object_j": j, "judge": judge, "prompt": prompt, "wins_i": wins})
    c = llbt.from_counts(frame.assign(wins_j=1 - wins), clusters=("judge", "prompt"))
    res = llbt.fit(formula, c, approximation=approximation)
    assert isinstance(res, llbt.MixedResults)
    return res


@pytest.mark.parametrize(
    ("formula", "approximation"), [(BOTH, None), (BOTH, "laplace"), ("object + (object | judge)", None)]
)
def test_scores_are_differences_of_the_log_likelihood(formula: str, approximation: str | None) -> None:
    res = fit(formula, approximation)
    at, likelihood = np.concatenate([res.params, np.log(res.solution.scales)]), res.judges.likelihood()
    at = at[np.flatnonzero(at != 0)]  # without the reference
    rule = res.maximum.rule

    def value(step: np.ndarray) -> float:
        assert rule is not None
        return likelihood(at + step, tuple(range(len(res.scales))), rule, None).value

    slopes = [(value(one) - value(-one)) / (2 * STEP) for one in STEP * np.eye(len(at))]
    np.testing.assert_allclose(effect_scores(res, res.comparisons), slopes, atol=1e-3)


def test_scores_of_drawn_tables_have_mean_zero() -> None:
    res, rng = fit(), np.random.default_rng(1)
    scores = np.array([effect_scores(res, drawn_table(res, rng)) for _ in range(40)])
    assert np.abs(scores.mean(axis=0) / scores.std(axis=0) * np.sqrt(40)).max() < 3


@pytest.mark.slow
@pytest.mark.parametrize("formula", [BOTH, "object + (object | judge)"])
def test_goodness_of_fit_is_that_of_refitted_tables(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    res = fit(formula)
    by_scores = llbt.goodness_of_fit(res, n=40, rng=1)
    monkeypatch.setattr("llbt.inference.simulated_pairs.summary_of", estimates_of)
    monkeypatch.setattr("llbt.inference.simulated_pairs.own_summary", own_estimates)
    refitted = llbt.goodness_of_fit(res, n=40, rng=1)
    assert by_scores.test.statistic == pytest.approx(refitted.test.statistic, rel=0.1)
    assert by_scores.test.p_value == pytest.approx(refitted.test.p_value, abs=0.15)
    key = ["object_i", "object_j", "outcome"]
    z = [one.to_frame().set_index(key)["z"] for one in (by_scores, refitted)]
    assert (z[0] - z[1]).abs().max() < 0.4
