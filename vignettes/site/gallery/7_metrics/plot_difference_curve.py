"""
How large must a difference be?
===============================

The probability that people agree with a metric, over the size of the metric's difference (Mathur et al. 2020).
"""

import numpy as np

import llbt

rng = np.random.default_rng(2)
differences = rng.exponential(2, 300)  # of BLEU, between two systems
agree = rng.random(300) < 1 / (1 + np.exp(-0.8 * differences))  # do people prefer the same one?
llbt.plot.difference_curve(llbt.metrics.difference_curve(differences, agree), unit="BLEU")
