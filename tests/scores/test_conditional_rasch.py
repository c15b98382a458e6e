"""The conditional likelihood of the Rasch model by listing all sets of systems, and by finite differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from statsmodels.discrete.conditional_models import ConditionalLogit

from llbt.scores.conditional_rasch import (
    conditional_likelihood,
    fit_conditionally,
    inverse_of_contrasts,
    item_difficulties,
    kinds_of_items,
)

STEP = 1e-4


def scores(systems: int = 5, items: int = 40) -> np.ndarray:
    rng = np.random.default_rng(3)
    values = (rng.random((systems, items)) < 0.5).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    return values[:, (values == 1).any(axis=0) & (values == 0).any(axis=0)]


def by_listing(values: np.ndarray, effects: np.ndarray) -> float:
    total = 0.0
    for column in values.T:
        inside = np.flatnonzero(~np.isnan(column))
        sets = combinations(effects[inside], int(column[inside].sum()))
        total += float(column[inside] @ effects[inside] - np.log(sum(np.exp(sum(chosen)) for chosen in sets)))
    return total


def test_likelihood_and_its_derivatives_by_listing_sets() -> None:
    values = scores()
    kinds, _ = kinds_of_items(values)
    effects = np.random.default_rng(1).normal(size=5)
    point = conditional_likelihood(effects, np.nansum(values, axis=1), kinds)
    assert point.value == pytest.approx(by_listing(values, effects), rel=1e-13)
    steps = STEP * np.eye(5)
    slopes = [(by_listing(values, effects + d) - by_listing(values, effects - d)) / (2 * STEP) for d in steps]
    np.testing.assert_allclose(point.gradient, slopes, atol=1e-6)
    up, down = (
        np.array([conditional_likelihood(effects + d, np.nansum(values, axis=1), kinds).gradient for d in side])
        for side in (steps, -steps)
    )
    np.testing.assert_allclose(point.information, -(up - down) / (2 * STEP), atol=1e-6)


def test_spread_of_squares_by_listing_sets() -> None:
    """Variance of Σ(x − e)² of an item of which two of five systems solved it."""
    effects = np.array([1.0, -0.5, 0.3, 2.0, -1.0])
    values = np.array([[1.0], [0.0], [1.0], [0.0], [0.0]])
    point = conditional_likelihood(effects, values[:, 0], kinds_of_items(values)[0])
    sets = np.array([[k in chosen for k in range(5)] for chosen in combinations(range(5), 2)], dtype=float)
    chance = np.exp(sets @ effects) / np.exp(sets @ effects).sum()
    np.testing.assert_allclose(point.probability[:, 0], chance @ sets)
    squares = ((sets - chance @ sets) ** 2).sum(axis=1)
    assert point.spread[0] == pytest.approx(chance @ squares**2 - (chance @ squares) ** 2)


def test_maximum_is_that_of_statsmodels() -> None:
    values = scores()
    found = fit_conditionally(values, kinds_of_items(values)[0])
    assert found.converged
    system, item = np.nonzero(~np.isnan(values))
    dummies = np.eye(5)[system][:, 1:]
    model = ConditionalLogit(values[system, item], dummies, groups=item)
    effects = found.point.params[1:] - found.point.params[0]
    np.testing.assert_allclose(model.score(effects), 0.0, atol=1e-8)
    assert model.loglike(effects) == pytest.approx(found.point.value)
    cov = inverse_of_contrasts(found.point.information)
    variance = np.diag(cov)[1:] + cov[0, 0] - 2 * cov[0, 1:]
    other = model.fit(method="bfgs", disp=0, start_params=effects)
    np.testing.assert_allclose(np.sqrt(variance), other.bse, rtol=1e-5)


def test_inverse_of_contrasts_is_the_pseudoinverse() -> None:
    root = np.random.default_rng(5).normal(size=(6, 9))
    matrix = (root - root.mean(axis=0)) @ (root - root.mean(axis=0)).T
    np.testing.assert_allclose(inverse_of_contrasts(matrix), np.linalg.pinv(matrix, rcond=1e-10), atol=1e-12)


def test_far_effects_stay_exact() -> None:
    """Three hundred systems far apart: the expected scores of an item sum to its total, no sum cancels."""
    effects = np.linspace(-15, 15, 300)
    values = np.zeros((300, 3))
    for k, total in enumerate((1, 150, 299)):
        values[-total:, k] = 1.0
    kinds, _ = kinds_of_items(values)
    point = conditional_likelihood(effects, values.sum(axis=1), kinds)
    np.testing.assert_allclose(point.probability.sum(axis=0), kinds.totals, rtol=1e-12)
    np.testing.assert_allclose(point.information.sum(axis=0), 0.0, atol=1e-10)
    few = np.exp(effects) / np.exp(effects).sum()  # of an item that one system solved: a multinomial logit
    np.testing.assert_allclose(point.probability[:, kinds.totals == 1][:, 0], few, rtol=1e-7, atol=1e-13)


def test_difficulty_makes_the_total_the_expected_one() -> None:
    effects = np.array([-1.0, 0.5, 2.0])
    there = np.array([[True, True], [True, False], [True, True]])
    hard = item_difficulties(effects, there, np.array([1, 1]))
    expected = (there / (1 + np.exp(hard - effects[:, None]))).sum(axis=0)
    np.testing.assert_allclose(expected, 1.0, rtol=1e-12)
