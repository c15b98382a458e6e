"""
P(row > column) of scores
=========================

The probability that one system's score on an instance is above another's. Stars mark pairs that differ significantly.
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(1)
difficulty = rng.normal(size=80)  # of the instances
scores = pd.DataFrame(
    {
        "large": 30 + 5 * difficulty + rng.normal(2.0, 4, 80),
        "tuned": 30 + 5 * difficulty + rng.normal(2.5, 2, 80),
        "small": 30 + 5 * difficulty + rng.normal(0.0, 2, 80),
    }
)
llbt.plot.win_probabilities(llbt.scores.pairwise(scores))

# %%
# Forty systems.

difficulty = rng.normal(size=80)
quality = np.linspace(3, -3, 40)
many = pd.DataFrame({f"system {k:02}": difficulty + quality[k] + rng.normal(0, 3, 80) for k in range(40)})
llbt.plot.win_probabilities(llbt.scores.pairwise(many))
