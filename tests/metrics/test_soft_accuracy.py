"""Soft pairwise accuracy: p-values of all exchanges, scipy, and what it is at its extremes."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from support.accuracies import rounded
from support.draws import draw

from llbt.metrics.segment_tests import sign_flips
from llbt.metrics.soft_accuracy import soft_pairwise_accuracy
from llbt.resampling import Resampler


def enumerated(x, y):
    """Return the mid-p-value that x is better than y over all exchanges of their scores, exactly."""
    d = x - y
    moved = np.array([np.dot(signs, d) for signs in itertools.product((1, -1), repeat=len(d))])
    return float((moved > d.sum() + 1e-9).mean() + (np.abs(moved - d.sum()) <= 1e-9).mean() / 2)


@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_p_values_are_those_of_all_exchanges(decimals):
    x = rounded(9, (3, 9), decimals)
    i, j = np.triu_indices(3, 1)
    found = sign_flips(x, i, j, 40_000, draw(1))
    expected = [enumerated(x[a], x[b]) for a, b in zip(i, j, strict=True)]
    np.testing.assert_allclose(found, expected, atol=4 * 0.5 / math.sqrt(40_000))


def test_p_values_are_scipys_less_half_of_the_one_seen():
    """Without equal differences the exact p-value of scipy counts the one seen whole, the mid-p-value by half."""
    x, y = np.random.default_rng(10).normal(size=(2, 10)) + np.array([[0.4], [0]])
    test = stats.permutation_test(
        (x, y), lambda a, b: np.mean(a - b), permutation_type="samples", alternative="greater", n_resamples=np.inf
    )
    assert enumerated(x, y) == pytest.approx(test.pvalue - 0.5 / 2**10, abs=1e-12)


def test_a_p_value_and_its_reverse_add_up_to_one_and_neither_is_zero():
    x = np.vstack([rounded(11, (3, 20)), np.zeros((2, 20)), np.full((1, 20), 50.0)])
    i, j = np.triu_indices(6, 1)
    forth, back = (sign_flips(x, *pair, 99, draw(1)) for pair in ((i, j), (j, i)))
    np.testing.assert_allclose(forth + back, 1, rtol=1e-12)
    assert min(forth.min(), back.min()) > 0
    assert back.min() == pytest.approx(0.5 / 100)
    assert forth[(i == 3) & (j == 4)] == pytest.approx(0.5)


def test_soft_accuracy_is_one_minus_the_mean_gap():
    metric, human = np.random.default_rng(12).normal(size=(2, 5, 30)) + np.arange(5)[:, None] / 4
    found = soft_pairwise_accuracy(metric, human, n=20_000, rng=1)
    assert found.estimate == pytest.approx(1 - np.mean(np.abs(found.human_p - found.metric_p)), rel=1e-12)
    t = [
        [stats.ttest_rel(x[a], x[b], alternative="greater").pvalue for a, b in itertools.combinations(range(5), 2)]
        for x in (human, metric)
    ]
    assert found.estimate == pytest.approx(1 - np.mean(np.abs(np.subtract(*t))), abs=0.01)  # t is close at M = 30
    frame = found.to_frame()
    assert len(frame) == found.n == 10
    np.testing.assert_allclose(frame["agreement"], 1 - np.abs(frame["human_p"] - frame["metric_p"]))


def test_the_order_of_systems_does_not_matter():
    metric, human = rounded(13, (2, 6, 15))
    order = np.array([3, 0, 5, 1, 4, 2])
    one, other = (
        soft_pairwise_accuracy(metric[rows], human[rows], n=200, rng=3).estimate for rows in (np.arange(6), order)
    )
    assert one == pytest.approx(other, rel=1e-12)


def test_extremes_of_soft_accuracy():
    scores = np.arange(4)[:, None] * 10.0 + rounded(14, (4, 40), 3)
    assert soft_pairwise_accuracy(scores, 7 * scores, rng=1).estimate == 1.0
    assert soft_pairwise_accuracy(scores, -scores, n=999, rng=1).estimate == pytest.approx(0.001)  # p never 0 or 1
    assert soft_pairwise_accuracy(np.ones((3, 5)), scores[:3], n=999, rng=1).estimate == pytest.approx(0.5, abs=1e-3)


def test_pairs_are_compared_on_the_segments_that_both_have():
    rng = np.random.default_rng(15)
    human = rng.normal(size=(3, 9))
    human[0, :3] = human[1, 5:] = np.nan
    human[2, 3:] = np.nan
    i, j = np.triu_indices(3, 1)
    found = sign_flips(human, i, j, 40_000, Resampler("", rng))
    both = ~np.isnan(human[0] + human[1])
    assert both.sum() == 2
    assert found[0] == pytest.approx(enumerated(human[0, both], human[1, both]), abs=0.01)
    assert math.isnan(found[1])
    soft = soft_pairwise_accuracy(rng.normal(size=(3, 9)), human, n=50, rng=1)
    assert soft.n == 2
    assert "1 pair without a common human-scored segment" in soft.notes[0]
    assert not math.isnan(soft.estimate)


def test_one_system_has_no_soft_accuracy():
    found = soft_pairwise_accuracy(np.ones((1, 4)), np.ones((1, 4)), n=9, rng=1)
    assert math.isnan(found.estimate)
    assert "no pair of systems counts" in found.notes[-1]


@pytest.mark.slow
def test_one_sided_p_values_are_uniform_where_nothing_differs():
    """Share of mid-p-values below .05 and .5 in 2,000 pairs of equal systems, within four standard errors."""
    x = np.random.default_rng(16).normal(size=(4000, 25))
    p = sign_flips(x, np.arange(0, 4000, 2), np.arange(1, 4000, 2), 999, draw(1))
    for level in (0.05, 0.5):
        assert np.mean(p <= level) == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 2000))
