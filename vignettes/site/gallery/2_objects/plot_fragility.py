"""
How few judgments change a ranking
==================================

For each two neighbours in the ranking: how many judgments must be left out before the lower object overtakes the
higher one. A filled point is the minimum, an open point an upper bound.
"""

import numpy as np
import pandas as pd

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
llbt.plot.fragility(llbt.fragility(res, change="adjacent"))

# %%
# Sixty models.

rng = np.random.default_rng(1)
names = np.array([f"model {k:02}" for k in range(1, 61)])
i, j = np.triu_indices(60, 1)
odds = np.exp(2 * (np.linspace(1, -1, 60)[i] - np.linspace(1, -1, 60)[j]))
wins = rng.binomial(6, odds / (1 + odds))
frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 6 - wins})
llbt.plot.fragility(llbt.fragility(llbt.fit("object", llbt.from_counts(frame)), change="adjacent"))
