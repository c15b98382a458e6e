"""Weights of draws: Pareto's k against maximum likelihood and the truth, the density of t against scipy's."""

import numpy as np
import pytest
from scipy import stats

from llbt.kernel.importance import effective_number, normalized, pareto_k, pareto_shape, t_draws


@pytest.mark.parametrize("shape", [-0.3, 0.2, 0.6, 1.1])
def test_the_shape_is_that_of_maximum_likelihood(shape: float) -> None:
    """The second route is scipy's generalized Pareto distribution; both are near the shape that was drawn from."""
    drawn = np.sort(stats.genpareto.rvs(shape, scale=2.0, size=4000, random_state=1))
    found = pareto_shape(drawn)
    assert found == pytest.approx(stats.genpareto.fit(drawn, floc=0)[0], abs=0.02)
    assert found == pytest.approx(shape, abs=0.06)


def test_k_of_weights_is_known_where_the_proposal_is_too_narrow() -> None:
    """A normal target of sd s from a standard normal proposal has k = 1 − 1/s² (Vehtari et al. 2024, by its tails)."""
    drawn = np.random.default_rng(2).standard_normal(300_000)
    for sd in (1.2, 1.6):
        log_weights = stats.norm.logpdf(drawn, scale=sd) - stats.norm.logpdf(drawn)
        assert pareto_k(log_weights) == pytest.approx(1 - 1 / sd**2, abs=0.1)
    assert pareto_k(np.zeros(4000)) == -np.inf


def test_the_density_is_that_of_t() -> None:
    for df in (5.0, np.inf):
        drawn, density = t_draws(50, 3, df, np.random.default_rng(1))
        expected = stats.multivariate_t(np.zeros(3), np.eye(3), df=df).logpdf(drawn)
        assert np.diff(density) == pytest.approx(np.diff(expected))


def test_equal_weights_are_all_effective() -> None:
    assert effective_number(normalized(np.full(40, 3.0))) == pytest.approx(40)
    assert effective_number(normalized(np.log([1.0, 1.0, 2.0]))) == pytest.approx(16 / 6)
