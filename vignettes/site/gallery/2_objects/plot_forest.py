"""
Contrasts
=========

Estimates and intervals of contrasts, in the order in which they were named. The line marks no difference.
"""

import numpy as np
import pandas as pd

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
named = {"A less D": {"A": 1, "D": -1}, "A less the others": {"A": 3, "B": -1, "C": -1, "D": -1}}
llbt.plot.forest(llbt.contrasts(res, named))

# %%
# Sixty models against the first.

rng = np.random.default_rng(1)
names = [f"model {k:02}" for k in range(1, 61)]
i, j = np.triu_indices(60, 1)
odds = np.exp(2 * (np.linspace(1, -1, 60)[i] - np.linspace(1, -1, 60)[j]))
wins = rng.binomial(6, odds / (1 + odds))
frame = pd.DataFrame({"object_i": np.array(names)[i], "object_j": np.array(names)[j], "wins_i": wins})
res = llbt.fit("object", llbt.from_counts(frame.assign(wins_j=6 - wins)))
llbt.plot.forest(llbt.contrasts(res, {f"{name} less {names[0]}": {name: 1, names[0]: -1} for name in names[1:]}))
