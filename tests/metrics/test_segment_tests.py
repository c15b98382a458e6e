"""Tests of pairs of systems on scores of segments against scipy, formulas and loops."""

import math

import numpy as np
import pytest
from scipy import stats
from support.decided import ragged, scores
from support.draws import draw, first_block

from llbt.metrics.segment_tests import bootstrap, paired_t, rank_sum

PAIRS = np.triu_indices(5, 1)


def test_the_paired_t_test_is_scipys():
    x = scores(1)
    expected = [stats.ttest_rel(x[a], x[b]).pvalue for a, b in zip(*PAIRS, strict=True)]
    np.testing.assert_allclose(paired_t(x, *PAIRS), expected, rtol=1e-9)


@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_the_rank_sum_test_is_the_formula(decimals):
    """z = (|W − E W| − 1/2)/sd with the correction of the variance for ties, of pooled ranks."""
    samples = ragged(2, decimals=decimals)
    padded = np.full((5, 60), np.nan)
    for row, sample in zip(padded, samples, strict=True):
        row[: len(sample)] = sample
    found = rank_sum(padded, *PAIRS)
    for p, a, b in zip(found, *PAIRS, strict=True):
        m, n = len(samples[a]), len(samples[b])
        ranks = stats.rankdata(np.concatenate([samples[a], samples[b]]))
        _, ties = np.unique(ranks, return_counts=True)
        variance = m * n / 12 * (m + n + 1 - np.sum(ties**3 - ties) / ((m + n) * (m + n - 1)))
        z = max(0.0, abs(ranks[:m].sum() - m * (m + n + 1) / 2) - 0.5) / math.sqrt(variance)
        assert p == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)


@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_the_bootstrap_is_a_loop_over_resamples(decimals):
    x = scores(3, segments=25, decimals=decimals)
    resamples = first_block(4).integers(0, 25, size=(199, 25))
    expected = []
    for a, b in zip(*PAIRS, strict=True):
        moved = [sum(x[a, k] - x[b, k] for k in row) for row in resamples]
        below, above = sum(m <= 1e-9 for m in moved), sum(m >= -1e-9 for m in moved)
        expected.append(min(1.0, 2 * (1 + min(below, above)) / 200))
    np.testing.assert_allclose(bootstrap(x, *PAIRS, 199, draw(4)), expected, rtol=1e-12)


def test_the_bootstrap_is_near_the_t_test_for_many_segments():
    x = scores(5, segments=800, spread=0.05)
    np.testing.assert_allclose(bootstrap(x, *PAIRS, 20_000, draw(1)), paired_t(x, *PAIRS), atol=0.02)


def test_no_p_value_is_zero_and_equal_systems_have_one():
    x = np.vstack([np.zeros(4000), np.zeros(4000), 100 + np.random.default_rng(6).normal(size=(1, 4000))])
    pairs = np.triu_indices(3, 1)
    for p in (paired_t(x, *pairs), rank_sum(x, *pairs), bootstrap(x, *pairs, 99, draw(1))):
        assert p[0] == 1.0
        assert 0 < p[1] < 0.05
        assert 0 < p[2] < 0.05


def test_t_tests_of_constant_differences_or_one_segment_are_undefined():
    x = np.random.default_rng(7).integers(0, 9, size=6).astype(float)
    assert np.isnan(paired_t(np.vstack([x + 3, x]), np.array([0]), np.array([1]))).all()
    assert np.isnan(paired_t(np.array([[1.0], [2.0]]), np.array([0]), np.array([1]))).all()


@pytest.mark.slow
@pytest.mark.parametrize("test", ["paired-t", "bootstrap"])
def test_tests_of_the_metric_have_their_size(test):
    """Share of p < .05 in 2,000 pairs of equal systems with 50 segments; the bootstrap is a little too eager."""
    x = np.random.default_rng(8).normal(size=(4000, 50))
    i, j = np.arange(0, 4000, 2), np.arange(1, 4000, 2)
    p = paired_t(x, i, j) if test == "paired-t" else bootstrap(x, i, j, 499, draw(1))
    slack = 4 * math.sqrt(0.05 * 0.95 / 2000)
    assert 0.05 - slack < np.mean(p < 0.05) < 0.05 + slack + (0.012 if test == "bootstrap" else 0)
