"""
Wins, ties and losses
=====================

The counts before any model is fitted: a bar for each object (or pair), split into wins, ties and losses.
"""

import numpy as np
import pandas as pd

import llbt

c = llbt.load_dataset("puddings")  # six brands of chocolate pudding
llbt.plot.outcomes(c, rows="object")

# %%
# Sixty models.

rng = np.random.default_rng(1)
names = np.array([f"model {k:02}" for k in range(1, 61)])
i, j = np.triu_indices(60, 1)
odds = np.exp(2 * (np.linspace(1, -1, 60)[i] - np.linspace(1, -1, 60)[j]))
wins = rng.binomial(6, odds / (1 + odds))
frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 6 - wins})
llbt.plot.outcomes(llbt.from_counts(frame), rows="object", most=60)
