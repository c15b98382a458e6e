"""
Pairs compared
==============

A line for each pair. Its width shows the number of judgments, its colour the residual of the model.
"""

import numpy as np
import pandas as pd

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("cems").pool())
llbt.plot.network(res)

# %%
# Sixty models.

rng = np.random.default_rng(1)
names = np.array([f"model {k:02}" for k in range(1, 61)])
i, j = np.triu_indices(60, 1)
odds = np.exp(2 * (np.linspace(1, -1, 60)[i] - np.linspace(1, -1, 60)[j]))
wins = rng.binomial(6, odds / (1 + odds))
frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 6 - wins})
llbt.plot.network(llbt.fit("object", llbt.from_counts(frame)))
