"""
Which metric is better?
=======================

For each pair of metrics: whether one agrees with people significantly better than the other (Deutsch et al. 2021).
"""

import numpy as np

import llbt

rng = np.random.default_rng(1)
human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 50))  # 12 systems, 50 segments
metrics = {f"noise {sd}": human + sd * rng.normal(size=(12, 50)) for sd in (0.5, 1, 2, 8)}
scores = llbt.metrics.MetricScores.from_matrices(metrics, human)
llbt.plot.significance(llbt.metrics.compare_all(scores, n=500, rng=1))

# %%
# Twenty metrics.

many = {f"metric {k:02}": human + (1 + k / 4) * rng.normal(size=(12, 50)) for k in range(20)}
scores = llbt.metrics.MetricScores.from_matrices(many, human)
llbt.plot.significance(llbt.metrics.compare_all(scores, n=200, rng=1))
