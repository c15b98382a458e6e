"""Chains: draws of a normal distribution, R̂ and effective numbers against what is known of autoregressions."""

import numpy as np
import pytest

from llbt.kernel.hamiltonian import effective_draws, hamiltonian, r_hat


def test_draws_have_the_moments_of_a_normal_distribution() -> None:
    mean, sd = np.array([0.3, -1.0, 0.0]), np.array([1.0, 1.4, 0.7])

    def slopes(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -0.5 * (((at - mean) / sd) ** 2).sum(axis=1), -(at - mean) / sd**2

    rng = np.random.default_rng(1)
    found = hamiltonian(slopes, rng.standard_normal((8, 3)), 500, rng, lambda steps: steps)
    flat = found.draws.reshape(-1, 3)
    assert found.draws.shape == (8, 500, 3)
    assert flat.mean(axis=0) == pytest.approx(mean, abs=0.07)
    assert flat.std(axis=0) == pytest.approx(sd, rel=0.06)
    assert 0.6 < found.accepted < 0.95
    assert r_hat(found.draws).max() < 1.02


def test_effective_numbers_of_an_autoregression() -> None:
    """Of an autoregression with coefficient ρ it is n (1 − ρ)/(1 + ρ)."""
    rng = np.random.default_rng(2)
    for rho in (0.0, 0.5, 0.8):
        at = np.empty((8, 4000, 1))
        at[:, 0] = rng.standard_normal((8, 1)) / np.sqrt(1 - rho**2)
        for k in range(1, 4000):
            at[:, k] = rho * at[:, k - 1] + rng.standard_normal((8, 1))
        assert effective_draws(at)[0] == pytest.approx(32_000 * (1 - rho) / (1 + rho), rel=0.15)


def test_r_hat_sees_chains_that_disagree_and_drift() -> None:
    same = np.random.default_rng(3).standard_normal((8, 200, 1))
    assert r_hat(same)[0] == pytest.approx(1, abs=0.01)
    assert r_hat(same + np.arange(8)[:, None, None])[0] > 1.5
    assert r_hat(same + np.linspace(0, 4, 200)[None, :, None])[0] > 1.2
