"""
Correlation among the best
==========================

A metric's correlation with people over the best systems only. Without the outliers at the bottom, the correlation is
often lower.
"""

import numpy as np

import llbt

rng = np.random.default_rng(5)
human = np.r_[rng.normal(0, 0.3, 12), -4]  # twelve systems that are close, and one that is bad
metric = 30 + 2 * human + rng.normal(0, 0.8, 13)
llbt.plot.subset_correlations(llbt.metrics.subset_correlations(metric, human))
