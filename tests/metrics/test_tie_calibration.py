"""Tie-calibrated accuracy against a search over all thresholds, and small cases by hand."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from support.accuracies import rounded, sign

from llbt.metrics.accuracy import pairwise_accuracy
from llbt.metrics.tie_calibration import tie_calibrated_accuracy


def acc_eq(metric, human, epsilon):
    """Return acc_eq of columns, averaged over those with a pair, by a plain loop; 0.3 − 0.2 is 0.2 − 0.1."""
    columns = []
    for x, z in zip(metric.T, human.T, strict=True):
        right = []
        for i, j in itertools.combinations(range(len(x)), 2):
            h = z[i] - z[j]
            if not math.isnan(h):
                d = x[i] - x[j]
                right.append((0 if abs(d) <= epsilon + 1e-12 else sign(d)) == sign(h))
        columns += [np.mean(right)] if right else []
    return float(np.mean(columns))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("grouping", ["input", "system"])
@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_the_best_epsilon_is_that_of_a_search_over_all(decimals, grouping, missing):
    rng = np.random.default_rng(5)
    truth = rng.normal(size=(6, 8))
    metric = np.round(truth + 0.5 * rng.normal(size=(6, 8)), decimals)
    human = np.round(truth)
    human[rng.random((6, 8)) < missing] = np.nan
    found = tie_calibrated_accuracy(metric, human, grouping=grouping)
    x, z = (metric, human) if grouping == "input" else (metric.T, human.T)
    pairs = list(itertools.combinations(range(len(x)), 2))
    candidates = sorted({0.0, *(round(abs(a[i] - a[j]), 9) for a in x.T for i, j in pairs)})
    values = [acc_eq(x, z, epsilon) for epsilon in candidates]
    assert found.estimate == pytest.approx(max(values), abs=1e-12)
    first = next(e for e, v in zip(candidates, values, strict=True) if v > max(values) - 1e-12)
    assert found.epsilon == pytest.approx(first, abs=1e-12)
    assert found.uncalibrated == pytest.approx(values[0], abs=1e-12)
    assert found.n == sum(not math.isnan(b[i] - b[j]) for b in z.T for i, j in pairs)
    assert found.human_ties == sum(b[i] == b[j] for b in z.T for i, j in pairs)
    assert found.estimate >= found.uncalibrated


def test_differences_that_differ_by_rounding_alone_become_ties_together():
    """0.3 − 0.2 < 0.2 − 0.1 as floating point numbers: a threshold between the two would be right on both pairs."""
    metric = np.array([[0.3, 0.2], [0.2, 0.1]])
    assert abs(metric[0, 0] - metric[1, 0]) < abs(metric[0, 1] - metric[1, 1])
    found = tie_calibrated_accuracy(metric, np.array([[1.0, 2], [1, 1]]))
    assert found.estimate == 0.5


def test_a_given_epsilon_is_used_as_it_is():
    metric, human = rounded(6, (2, 9), 1)
    for epsilon in (0, 0.15, 0.8, 99.0):
        found = tie_calibrated_accuracy(metric, human, epsilon=epsilon)
        assert found.estimate == pytest.approx(acc_eq(metric[:, None], human[:, None], epsilon))
        assert (found.epsilon, found.calibrated) == (epsilon, False)
        assert not found.notes


def test_at_epsilon_zero_a_vector_has_its_strict_pairwise_accuracy():
    metric, human = rounded(7, (2, 14))
    found = tie_calibrated_accuracy(metric, human)
    assert found.uncalibrated == pytest.approx(pairwise_accuracy(metric, human).estimate, rel=1e-12)


def test_the_scale_of_the_metric_scales_epsilon():
    metric, human = rounded(8, (2, 10, 5), 3)
    one, other = tie_calibrated_accuracy(metric, human), tie_calibrated_accuracy(1024 * metric, human)
    assert (other.estimate, other.epsilon) == pytest.approx((one.estimate, 1024 * one.epsilon))


@pytest.mark.parametrize(
    ("metric", "human", "expected"),
    [
        ([1.0, 2.0], [5.0, 5.0], (1.0, 1.0, 0.0)),  # a tie of humans: the difference becomes a tie
        ([1.0, 1.0], [5.0, 6.0], (0.0, 0.0, 0.0)),  # no ε makes a tie an order
        ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], (1.0, 0.0, 1.0)),  # all equal
    ],
    ids=["human-tie", "metric-tie", "all-equal"],
)
def test_small_cases_by_hand(metric, human, expected):
    found = tie_calibrated_accuracy(metric, human)
    assert (found.estimate, found.epsilon, found.uncalibrated) == expected


@pytest.mark.parametrize("human", [[1.0], [math.nan, 1.0], [math.nan, math.nan]])
def test_calibration_without_pairs_is_nan_with_a_note(human):
    found = tie_calibrated_accuracy(np.arange(len(human), dtype=float), human)
    assert math.isnan(found.estimate)
    assert math.isnan(found.epsilon)
    assert "no pair has two human scores" in found.notes[-1]


def test_the_metric_may_lack_what_humans_lack():
    metric = np.array([[1.0, math.nan], [2.0, 3.0], [4.0, 1.0]])
    human = np.array([[1.0, math.nan], [2.0, 2.0], [3.0, 1.0]])
    assert tie_calibrated_accuracy(metric, human).estimate == 1.0
    assert tie_calibrated_accuracy(pd.DataFrame(metric), pd.DataFrame(human)).n == 4
