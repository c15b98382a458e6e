"""Scores of units: against sums over judgments one by one, and against explicit models with parameters of a unit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from llbt.auditing.evidence import Evidence
from llbt.core.judgments import Judgments
from llbt.core.response import THREE
from llbt.data.frames import Factor
from llbt.kernel.robust import cluster_sandwich, error_ratios
from llbt.kernel.score_components import Components, of_most
from llbt.kernel.unit_scores import dependence

J = 5


def evidence(rng: np.random.Generator, n: int = 400, spread: float = 0.0, units: int = 40) -> Evidence:
    """Judgments of five objects, i shown first; log-worths of each unit deviate by `spread`."""
    i = rng.integers(0, J, n)
    j = (i + rng.integers(1, J, n)) % J
    unit = rng.integers(0, units, n)
    worth = np.linspace(-0.5, 0.5, J) + spread * rng.normal(size=(units, J))
    u = worth[unit, i] - worth[unit, j] + 0.1
    weights = np.exp(np.column_stack([u, np.full(n, -0.7), -u]))
    edges = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    said = (rng.random(n)[:, None] > edges).sum(axis=1)
    objects = tuple("abcde")
    judge = Factor(list(range(units)), unit)
    pairs = np.column_stack([i, j])
    judgments = Judgments(objects, pairs, said)
    return Evidence(judgments, THREE, said, judge, None, ("judge", "prompt"), "", True, {})


def one_by_one(e: Evidence) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return d (N, J), residuals and their variances (N,): y_i − y_j less its mean, object i +1 and object j −1."""
    x = e.expected
    p = x.probability[x.rows]
    lead = p[:, 0] - p[:, 2]
    d = np.zeros((len(p), J))
    d[np.arange(len(p)), e.judgments.pairs[:, 0]] = 1.0
    d[np.arange(len(p)), e.judgments.pairs[:, 1]] = -1.0
    return d, (1.0 - e.judgments.outcomes) - lead, p[:, 0] + p[:, 2] - lead**2


def test_dependence_equals_the_sum_over_pairs_of_judgments() -> None:
    e = evidence(np.random.default_rng(4))
    assert e.judge is not None
    d, residual, variance = one_by_one(e)
    info = (d**2 * variance[:, None]).sum(axis=0)
    value, spread = 0.0, 0.0
    for k, m in itertools.permutations(range(len(residual)), 2):
        if e.judge.codes[k] == e.judge.codes[m]:
            c = (d[k] * d[m] / info).sum()
            value += residual[k] * residual[m] * c
            spread += 2 * variance[k] * variance[m] * c**2
    x = e.expected
    z, p = dependence(x.pairs, J, x.problem.response, x.probability, x.units(e.judge.codes))
    assert z == pytest.approx((value + spread / 2) / np.sqrt(spread), rel=1e-9)
    assert 0 < p < 1


def test_dependence_sees_units_with_worths_of_their_own() -> None:
    rng = np.random.default_rng(7)
    p_values = []
    for spread in (0.0, 0.6):
        e = evidence(rng, 2000, spread)
        assert e.judge is not None
        x = e.expected
        p_values.append(dependence(x.pairs, J, x.problem.response, x.probability, x.units(e.judge.codes))[1])
    assert p_values[0] > 0.01
    assert p_values[1] < 1e-6


@pytest.mark.slow
def test_dependence_of_independent_judgments_keeps_its_level() -> None:
    """200 boards at .05: between .01 and .09, more than two standard errors either way."""
    rng = np.random.default_rng(11)
    rejected = []
    for units in (8, 150):
        for _ in range(100):
            e = evidence(rng, 300, units=units)
            assert e.judge is not None
            x = e.expected
            rejected.append(dependence(x.pairs, J, x.problem.response, x.probability, x.units(e.judge.codes))[1] < 0.05)
    assert 0.01 <= np.mean(rejected) <= 0.09


def test_no_two_judgments_of_a_unit_leave_nothing_to_test() -> None:
    e = evidence(np.random.default_rng(2))
    x = e.expected
    assert np.isnan(dependence(x.pairs, J, x.problem.response, x.probability, x.units(np.arange(400)))[1])


def test_the_ratio_of_standard_errors_equals_that_of_explicit_covariances() -> None:
    e = evidence(np.random.default_rng(5), 2000, 0.6)
    assert e.judge is not None
    x = e.expected
    problem = x.problem
    signed, tie = (rows.toarray() for rows in problem.predictors)
    z = [signed, tie, -signed]
    mean = sum(p[:, None] * row for p, row in zip(x.probability.T, z, strict=True))
    scores = np.zeros((40, len(x.fit.params)))
    for line, (row, said) in enumerate(zip(x.rows, e.judgments.outcomes, strict=True)):
        scores[e.judge.codes[line]] += z[said][row] - mean[row]
    robust = 40 / 39 * x.fit.cov @ scores.T @ scores @ x.fit.cov
    pairs = x.worths[[i for i, j in itertools.combinations(range(J), 2)]]
    pairs = pairs - x.worths[[j for i, j in itertools.combinations(range(J), 2)]]
    wide, narrow = (np.einsum("cp,pq,cq->c", pairs, cov, pairs) for cov in (robust, x.fit.cov))
    found, each = error_ratios(cluster_sandwich(problem, x.fit, x.units(e.judge.codes)), x.fit.cov, csr_array(x.worths))
    assert found == pytest.approx(np.sqrt(wide.sum() / narrow.sum()), rel=1e-9)
    first = slice(0, J - 1)  # the pairs of the first object
    assert each[0] == pytest.approx(np.sqrt(wide[first].sum() / narrow[first].sum()), rel=1e-9)
    assert found > 1.3


# -- what dependence adds ------------------------------------------------------------------------------------------


def test_components_are_those_of_products_of_judgments_one_by_one() -> None:
    """Two crossed ways: expected products of different lines, in a loop, solved for both variances."""
    rng = np.random.default_rng(3)
    ways = [rng.integers(0, 6, 60), rng.integers(0, 9, 60)]
    v = rng.uniform(0.3, 1.0, 60)
    effects = [rng.normal(0, 1.5, 6), rng.normal(0, 1.0, 9)]
    score = v * (effects[0][ways[0]] + effects[1][ways[1]]) + rng.normal(size=60) * np.sqrt(v)
    found = Components.of(ways, score, score**2, np.ones(60), v)
    seen, expected = np.zeros(2), np.zeros((2, 2))
    unit = rng.integers(0, 4, 60)
    beyond = np.zeros((2, 4))
    for k, m in itertools.permutations(range(60), 2):
        same = np.array([way[k] == way[m] for way in ways], dtype=float)
        seen += same * score[k] * score[m]
        expected += np.outer(same, same) * v[k] * v[m]
        if unit[k] == unit[m]:
            beyond[:, unit[k]] += same * v[k] * v[m]
    assert found.variance == pytest.approx(np.linalg.solve(expected, seen), rel=1e-9)
    assert (found.variance > 0).all()
    assert found.beyond(unit, 4).variance == pytest.approx(found.variance @ beyond, rel=1e-9)


def test_one_unit_does_not_hide_itself_and_all_that_differ_are_no_outliers() -> None:
    rng = np.random.default_rng(1)
    unit, v = np.arange(40), np.full(40, 25.0)
    alike, differing = rng.normal(0, 5, 40), rng.normal(0, 25, 40)
    alone = alike.copy()
    alone[:3] = 60.0
    nothing = np.zeros(40)
    assert of_most(alike, v, nothing, unit, 40).variance.max() < 10
    assert of_most(alone, v, nothing, unit, 40).variance.max() < 10
    assert of_most(differing, v, nothing, unit, 40).variance.mean() == pytest.approx(600, rel=0.4)
