"""Scores of two metrics and of humans for the same systems on the same inputs."""

import numpy as np
from support.correlations import scores


def three(ties=False, missing=0.0, shape=(6, 5), seed=1):
    """Two metrics, of which the first is nearer to the humans, and the humans."""
    x, z = scores(ties, missing, shape, seed)
    y = x + 2 * np.random.default_rng(seed + 1).normal(size=shape)
    return x, np.round(y) if ties else y, z


X, Y, Z = three()
