"""
Metric and people: who decides what?
====================================

The differences of human scores against the differences of a metric, pair by pair. Errors of both types are marked
(Mathur et al. 2020).
"""

import numpy as np

import llbt

rng = np.random.default_rng(4)
human = rng.normal(size=(10, 1)) / 2 + rng.normal(size=(10, 60))
metric = 20 + 3 * (human + 1.5 * rng.normal(size=(10, 60)))
llbt.plot.decisions(llbt.metrics.decisions(metric, human, rng=1))
