"""Generators that draw what a public function draws from the same seed."""

import numpy as np

from llbt.resampling import Resampler


def first_block(seed: int) -> np.random.Generator:
    """The generator of the first block of resamples: seeded by a draw, so that blocks may run in any process."""
    return np.random.default_rng(int(np.random.default_rng(seed).integers(2**63, size=1)[0]))


def draw(seed: int) -> Resampler:
    """A resampler of one process, without a bar."""
    return Resampler("", np.random.default_rng(seed))
