"""Ranks and quantiles of weighted draws, against numpy and repetition of the draws."""

import numpy as np
import pytest
from scipy import stats

from llbt.inference.drawn_worths import drawn_ranks, weighted_quantiles

RNG = np.random.default_rng(2)


def test_ranks_are_those_of_scipy() -> None:
    values = RNG.normal(size=(30, 5))
    assert np.array_equal(drawn_ranks(values), stats.rankdata(-values, axis=1).astype(int))


def test_quantiles_are_those_of_draws_that_are_repeated() -> None:
    values, counts = RNG.normal(size=(40, 3)), RNG.integers(1, 9, 40)
    shares = (0.025, 0.1, 0.5, 0.975)
    expected = np.quantile(np.repeat(values, counts, axis=0), shares, axis=0, method="inverted_cdf")
    assert weighted_quantiles(values, counts / counts.sum(), shares) == pytest.approx(expected)


def test_draws_without_weight_say_nothing() -> None:
    values = np.array([[-100.0], [1.0], [2.0], [100.0]])
    assert weighted_quantiles(values, np.array([0, 0.5, 0.5, 0]), (0.025, 0.975)).ravel().tolist() == [1.0, 2.0]
