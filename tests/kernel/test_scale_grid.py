"""Draws of parameters and σ, against integration over a fine grid of both."""

import numpy as np
import pytest
from scipy import stats

from llbt.kernel.posterior import NormalPrior, PointByPoint
from llbt.kernel.scale_grid import ScaledDensity

LEVELS = [0.025, 0.25, 0.5, 0.75, 0.975]
Y = np.array([0.9, -0.4, 0.3, 1.2, -0.2, 0.6])  # Yₖ = θ + effect of variance σ² + error of variance v
VARIANCE = {"large": 0.04, "about 0": 0.9}


def normal(log_scales: np.ndarray, v: float) -> PointByPoint:
    total = float(np.exp(2 * log_scales).sum()) + v

    def at(params: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        away = Y - params[0]
        value = -0.5 * (away**2).sum() / total - len(Y) / 2 * np.log(total)
        return float(value), np.array([away.sum() / total]), np.array([[len(Y) / total]])

    return PointByPoint(at)


@pytest.mark.parametrize("size", list(VARIANCE))
@pytest.mark.parametrize("n_scales", [1, 2])
def test_quantiles_of_scales_are_those_of_integration(size: str, n_scales: int) -> None:
    v = VARIANCE[size]
    density = ScaledDensity(lambda s: normal(s, v), n_scales, NormalPrior(np.zeros(1), np.eye(1)))
    drawn = density.draws(np.zeros(1), 4000, np.random.default_rng(1), lambda steps: steps)
    assert drawn.trusted
    assert drawn.ess > 2000

    theta, sigma = np.linspace(-3, 3, 41), 0.02 * (np.arange(160) + 0.5)
    other = sigma if n_scales == 2 else np.zeros(1)
    total = (sigma[:, None] ** 2 + other**2 + v)[..., None]
    squares = ((Y[:, None] - theta) ** 2).sum(axis=0)
    logs = -0.5 * squares / total - len(Y) / 2 * np.log(total) + stats.norm.logpdf(theta)
    logs = logs + stats.norm.logpdf(sigma)[:, None, None] + stats.norm.logpdf(other)[:, None]
    mass = np.exp(logs - logs.max()).sum(axis=(1, 2)).cumsum()
    expected = np.interp(LEVELS, mass / mass[-1], sigma + 0.01)
    below = drawn.weights @ (drawn.params[:, [1]] <= expected)
    assert below == pytest.approx(LEVELS, abs=0.03)  # the standard error is .011 at the median
    assert drawn.weights @ drawn.params[:, 0] == pytest.approx(_mean(logs, theta), abs=0.02)


def _mean(logs: np.ndarray, theta: np.ndarray) -> float:
    of_theta = np.exp(logs - logs.max()).sum(axis=(0, 1))
    return float(of_theta @ theta / of_theta.sum())
