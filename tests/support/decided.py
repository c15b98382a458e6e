"""Scores of systems on segments, and decisions of humans by the size of a difference."""

import numpy as np
from scipy import special


def scores(seed, systems=5, segments=60, spread=0.3, decimals=6):
    rng = np.random.default_rng(seed)
    return np.round(spread * rng.normal(size=(systems, 1)) + rng.normal(size=(systems, segments)), decimals)


def ragged(seed, systems=5, spread=0.3, decimals=6):
    rng = np.random.default_rng(seed)
    return [np.round(spread * rng.normal() + rng.normal(size=rng.integers(20, 60)), decimals) for _ in range(systems)]


def drawn(seed, n=300, intercept=0.2, slope=0.8, scale=1.0):
    rng = np.random.default_rng(seed)
    d = rng.exponential(2, size=n) * rng.choice([-1, 1], size=n)
    return scale * d, rng.random(n) < special.expit(intercept + slope * np.abs(d))
