"""
Each judge against all
======================

The log-worths of each judge, compared with the pooled model. Judges far from the others are orange.
"""

import numpy as np
import pandas as pd

import llbt

c = llbt.load_dataset("dras_table1")
llbt.plot.judges(llbt.fit("object * judge + tie", c), llbt.fit("object + tie", c))

# %%
# Thirty judges, one of whom prefers the reverse.

rng = np.random.default_rng(1)
judge = np.repeat(np.arange(30), 6)
i, j = (np.tile(side, 30) for side in np.triu_indices(4, 1))
log_worth = np.array([0.6, 0.3, -0.2, -0.7]) + rng.normal(0, 0.2, (30, 4))
log_worth[7] *= -1
odds = np.exp(2 * (log_worth[judge, i] - log_worth[judge, j]))
wins = rng.binomial(40, odds / (1 + odds))
names, judges = np.array(["A", "B", "C", "D"]), [f"judge {k:02}" for k in judge]
frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 40 - wins, "judge": judges})
llbt.plot.judges(llbt.fit("object * judge", llbt.from_counts(frame, covariates="judge"), prior=0.5))
