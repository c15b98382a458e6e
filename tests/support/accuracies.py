"""Rounded scores of a metric and of humans, and the sign of a difference."""

import numpy as np


def sign(x):
    return int(x > 0) - int(x < 0)


def rounded(seed, shape, decimals=0):
    return np.round(np.random.default_rng(seed).normal(size=shape), decimals)
