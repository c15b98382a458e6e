"""Scores that several tests of metrics ask."""

import numpy as np
import pytest

from llbt.metrics.metric_scores import MetricScores


@pytest.fixture(scope="module")
def many():
    """Four metrics, of which the first is nearest to the humans, on 12 systems and 30 inputs."""
    rng = np.random.default_rng(1)
    human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 30))
    metrics = {f"sd {sd}": human + sd * rng.normal(size=human.shape) for sd in (0.3, 1, 2, 8)}
    return MetricScores.from_matrices(metrics, human)
